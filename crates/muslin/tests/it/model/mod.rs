//! The compiled model: what a scene becomes.

mod errors;
pub(crate) mod nets;
mod order;
mod pins;
mod rest;
mod sewing;
