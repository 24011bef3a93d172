//! Requests of the page: all that a person can do to a simulation.

mod finished;
mod hashes;
mod live;
