//! Integration tests of the library.

mod bad_scenes;
mod fuzz_scenes;
