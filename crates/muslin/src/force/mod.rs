//! What acts on cloth without being a potential of its shape.

pub mod wind;

pub use wind::{Push, Wind};
