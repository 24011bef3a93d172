//! Pictures and clips of cloth, without a GPU and without a window.
//!
//! A [`Scene`] is plain data: meshes and the surfaces of colliders as slices. A [`Renderer`] turns it into a [`Picture`], and a
//! [`video::VideoWriter`] turns pictures into a clip.
//!
//! ```
//! use muslin_render::{Cloth, Renderer, Scene, Solid};
//!
//! let positions = [[-0.5, 0.6, -0.5], [0.5, 0.6, -0.5], [0.5, 0.6, 0.5], [-0.5, 0.6, 0.5]];
//! let triangles = [[0, 2, 1], [0, 3, 2]];
//! let scene = Scene {
//!     cloths: vec![Cloth::new(&positions, &triangles)],
//!     solids: vec![Solid::Plane { point: [0.0, 0.3, 0.0], normal: [0.2, 1.0, 0.0] }],
//!     ground: Some(0.0),
//!     ..Scene::default()
//! };
//! let mut renderer = Renderer::new(160, 90, 2)?;
//! let picture = renderer.render(&scene)?;
//! assert_eq!(picture.pixels.len(), 160 * 90);
//! # Ok::<(), muslin_render::RenderError>(())
//! ```
//!
//! Modules in the order in which a picture is made: the scene is flattened (`stage`), lit by a key light
//! (`depth_map`, `shadow`) and by the sky (`ambient`), rasterised (`raster`, `visibility`) and shaded (`shade`). The
//! result is the same for every number of threads.

mod ambient;
mod backdrop;
mod camera;
mod canvas;
mod color;
mod depth_map;
mod error;
mod math;
mod partial;
mod picture;
mod raster;
mod renderer;
mod scene;
mod shade;
mod shadow;
mod stage;
pub mod video;
mod visibility;

pub use camera::{Bounds, Camera};
pub use color::{CLOTH_COLORS, SOLID_COLOR, cloth_color};
pub use error::RenderError;
pub use picture::Picture;
pub use renderer::{MAX_SIDE, Renderer};
pub use scene::{Cloth, Light, Scene, Solid};
