//! What a person can do to a simulation, over the requests that the page sends.

mod finished;
mod hashes;
mod live;
