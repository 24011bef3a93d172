//! Cloth simulation, to be read from the bottom up.
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
//!
//! ## Layers
//!
//! A module imports only from layers below its own; `cargo xtask tidy` checks it. Lowest first:
//!
//! 1. `parallel`, `math`, `parameter`: threads, numbers, settings
//! 2. `mesh`, `material`: triangles, fabrics
//! 3. `shape`: what cloth touches, by a signed distance
//! 4. `topology`, `description`: edges, hinges and colours; a scene as plain values, whoever wrote them
//! 5. `motion`, `force`, `state`: paths, wind, what changes in time
//! 6. `contact::pair`: two primitives that may touch
//! 7. `contact::geometry`: closest points, intersections, the tree that finds them
//! 8. `contact::collider`: bodies, with a formula or of triangles
//! 9. `energy`: formulas over a few vertices, and batches of elements
//! 10. `model`: what does not change in time
//! 11. `contact`: finds pairs, responds, certifies, untangles
//! 12. `solver`: ways to make the sum of the energies small; terms are batches with the solvers' sweeps
//! 13. `setup`: from a description to a model, its terms and its first state
//! 14. `output`, `interaction`, `catalog`: measurements, hands, what a scene can name
//! 15. `simulation`: the handle of a user
//! 16. `scene`: TOML to a description and back

pub mod math;
pub mod parallel;
pub mod parameter;

pub mod mesh;
pub mod shape;
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
