//! Scenes as a program finds them: the built-in ones, the mesh files they name, and lists of all that a scene can name.
//!
//! The library opens no file. The command line and a live simulation read scenes and meshes here.

pub mod builtin;
pub mod dressing;
pub mod figure;
pub mod listing;
pub mod memory;
pub mod mesh_files;
pub mod patterns;
