//! Integration tests of the library.

mod bad_scenes;
mod bending_models;
mod common;
mod contact_energy;
mod cross_solver;
mod determinism;
mod dynamics;
mod errors;
mod explicit;
mod fixtures;
mod friction;
mod fuzz_scenes;
mod nets;
mod newton;
mod order;
mod pins;
mod projective;
mod scene_reference;
mod shape_matching;
mod statics;
mod stiffness;
mod stretch_models;
mod vbd;
