//! Integration tests of the library.

mod bad_scenes;
mod bending_models;
mod certificate;
mod common;
mod cross_solver;
mod determinism;
mod dynamics;
mod errors;
mod exact_motion;
mod explicit;
mod fixtures;
mod friction;
mod fuzz_scenes;
mod guard;
mod nets;
mod newton;
mod order;
mod pins;
mod projective;
mod scene_reference;
mod shape_matching;
mod shape_model;
mod statics;
mod stiffness;
mod stretch_models;
mod vbd;
