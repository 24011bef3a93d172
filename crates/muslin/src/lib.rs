//! Muslin simulates cloth: triangle meshes with stiffness, gravity, wind, pins, colliders and self-contact, moved by one of eight solvers.
//!
//! Units are SI throughout: m, kg, s, N, J. The frame is right-handed, +y is up. Vertices, triangles and cloths count from 0, as in the user's mesh.
//! The library opens no file, reads no clock and prints nothing. The same input gives the same bits, on any number of threads.
//!
//! ```
//! use muslin::contact::Sphere;
//! use muslin::{Cloth, Collide, Pin, Simulation};
//!
//! let mut simulation = Simulation::builder()
//!     .cloth(Cloth::grid([1.0, 1.0], [8, 8]).fabric("cotton").pin(Pin::vertices([0, 8])))
//!     .collider(Sphere { center: [0.0, -0.5, 0.0], radius: 0.2 }.friction(0.4))
//!     .build()?;
//! for _ in 0..10 {
//!     simulation.advance()?;
//! }
//! let mut positions = Vec::new();
//! simulation.positions(0, &mut positions);
//! assert!(positions[80][1] < positions[0][1], "the free side falls");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## A tour
//!
//! | you want to | look at |
//! |---|---|
//! | put a simulation together | [`Simulation::builder`], [`Cloth::grid`], [`Cloth::mesh`], [`Pin`], [`Collide`], [`MeshCollider`] |
//! | choose a solver | [`solver`]: [`Xpbd`](solver::Xpbd), [`Auto`](solver::Auto), [`Newton`](solver::Newton) and five more, each a struct of settings |
//! | choose a material | a fabric by name, or a model of [`energy::stretch`] and [`energy::bend`], each a struct of settings |
//! | step it and read it | [`Simulation::advance`], [`positions`](Simulation::positions), [`normals`](Simulation::normals), [`contacts`](Simulation::contacts), [`raycast`](Simulation::raycast) |
//! | act on it | [`add_force`](Simulation::add_force), [`move_collider`](Simulation::move_collider), [`move_pin`](Simulation::move_pin), [`set_stretch`](Simulation::set_stretch), [`grab`](Simulation::grab) |
//! | save and go on | [`State`](state::State), [`Simulation::restore`] |
//! | bring an energy | [`energy::Energy`], [`Elements`] |
//! | bring a collider | [`shape::Shape`] |
//! | read a scene file | [`scene::parse`], then [`Simulation::new`] |
//! | know what is wrong | [`SimulationBuilder::check`], [`validate`]: code and files are told the same |
//!
//! The folder `examples` of the crate has five short programs: hello, an energy and a shape of one's own, a character's capsule, a game loop.
//!
//! ## Layers
//!
//! A module imports only from layers below its own; `cargo xtask tidy` checks it. Lowest first:
//!
//! 1. `parallel`, `math`, `parameter`: threads, numbers, settings
//! 2. `mesh`, `material`, `settings`: triangles, fabrics, typed settings
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
//! 14. `output`, `interaction`, `catalog`: measurements, grabs, what a scene can name
//! 15. `validate`: limits of a description, whoever wrote it
//! 16. `simulation`: the handle of a user
//! 17. `builder`, `scene`: from code and from TOML to a description

pub mod math;
pub mod parallel;
pub mod parameter;
pub mod settings;

pub mod mesh;
pub mod shape;
pub mod topology;

pub mod description;

pub mod contact;
pub mod energy;
pub(crate) mod force;
pub mod material;
pub mod motion;

pub mod model;
pub mod scene;
pub mod state;

pub mod output;
pub mod setup;
pub mod solver;

pub mod builder;
pub mod catalog;
mod interaction;
pub mod simulation;
pub mod validate;

pub use builder::{ClothBuilder, Collide, ColliderBuilder, Elements, MeshCollider, SimulationBuilder};
pub use description::{Cloth, Contact, Ease, Path, Pin, Select, Wind};
pub use interaction::Interaction;
pub use simulation::{RestoreError, SetupError, Simulation};
