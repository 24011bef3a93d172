//! Tests of patterns from outside the crate.

mod bad_patterns;
mod built_in;
mod fuzz;
mod mesh;
mod read;
mod sewn;
mod svg;
mod wrap;

/// A front and a back, two squares of 40 cm that are sewn at sides and shoulders.
const SQUARES: &str = include_str!("squares.json");
