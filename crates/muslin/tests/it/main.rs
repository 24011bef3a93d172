//! Integration tests of the library.

mod common;
mod dynamics;
mod fixtures;
mod statics;
