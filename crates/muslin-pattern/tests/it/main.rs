//! Tests of patterns from outside the crate.

mod bad_patterns;
mod fuzz;

/// A front and a back, two squares of 40 cm that are sewn at sides and shoulders.
const SQUARES: &str = include_str!("squares.json");
