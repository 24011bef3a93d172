//! What a person can do to a simulation, over the requests that the page sends.

mod hashes;
mod live;
