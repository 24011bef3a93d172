//! Materials of cloth.

pub mod fabric;
