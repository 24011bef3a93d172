//! Integration tests of the library.

mod common;
mod fixtures;
mod invariants;
