//! Integration tests of the library, in the order of its modules.

mod common;
mod contact;
mod energy;
mod model;
mod scene;
mod solver;
