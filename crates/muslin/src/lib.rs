//! Cloth simulation, to be read in pipeline order:
//!
//! ```text
//! mesh → topology → material → energy ┐
//!                      force ─────────┼→ model ┐
//!                      collision ─────┘        ├→ solver → state → output
//!                      scene ──────────────────┘
//! ```
//!
//! Units are SI throughout: m, kg, s, N, J. The frame is right-handed, +y is up.
//!
//! The library opens no file, reads no clock and prints nothing: it takes text, meshes and a clock, and gives states.
//!
//! ```
//! let text = "
//!     [[cloth]]
//!     grid = { size = [1, 1], cells = [8, 8] }
//!     pins = [{ select = \"x_min\" }]
//! ";
//! let scene = muslin::scene::parse(text, &[]).into_result()?;
//! let mut simulation = muslin::Simulation::new(&scene, 1, &mut |file| Err(format!("no mesh {file}")))?;
//! for _ in 0..10 {
//!     simulation.advance()?;
//! }
//! let mut positions = Vec::new();
//! simulation.positions(0, &mut positions);
//! assert_eq!(positions.len(), 81);
//! assert!(positions[8][1] < positions[0][1], "the free side falls");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod math;
pub mod parallel;
pub mod parameter;

pub mod mesh;
pub mod topology;

pub mod description;

pub mod contact;
pub mod energy;
pub mod force;
pub mod material;
pub mod motion;

pub mod model;
pub mod scene;
pub mod state;

pub mod output;
pub mod setup;
pub mod solver;

pub mod catalog;
mod interaction;
pub mod simulation;

pub use simulation::{RestoreError, SetupError, Simulation};
