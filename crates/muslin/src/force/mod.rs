//! Forces on cloth that are no potential of its shape.

pub(crate) mod wind;

pub(crate) use wind::{Push, Wind};
