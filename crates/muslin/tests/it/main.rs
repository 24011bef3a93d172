//! Integration tests of the library.

mod bad_scenes;
mod bending_models;
mod common;
mod determinism;
mod dynamics;
mod errors;
mod fixtures;
mod friction;
mod fuzz_scenes;
mod order;
mod pins;
mod scene_reference;
mod statics;
mod stiffness;
