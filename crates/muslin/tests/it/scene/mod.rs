//! Scene files: what is read, and what is said of what is wrong.

mod bad_scenes;
mod fuzz_scenes;
mod scene_reference;
