//! What cloth is made of.

pub mod fabric;
