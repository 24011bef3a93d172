//! Integration tests of the library, in the order of its modules.

mod attacks;
mod common;
mod contact;
mod energy;
mod examples;
mod model;
mod program;
mod scene;
mod settings;
mod simulation;
mod solver;
