//! A mannequin made by code alone: its surface, its skeleton, and ways to move.
//!
//! A cloth simulator needs somebody to dress. [`Figure::new`] makes a smooth human figure of 1.75 m, a closed mesh of about 14,000 nearly
//! equilateral triangles, in half a second and the same to the bit everywhere; [`Figure::to_measure`] makes it to other
//! [`Measures`]. [`Motion`] moves it. The crate reads no file, and depends on no other crate of the project.
//!
//! ```text
//! tables of cross sections ─ smooth union ─→ field ─ surface net, remeshed ─→ mesh ─ skin ─→ Figure ─ Motion ─→ frames
//! ```
//!
//! Lengths are in m and angles in rad, +y is up. The figure stands at the origin on y = 0 and faces +z, so its left is at +x.
//!
//! ```
//! use muslin_figure::{Figure, Motion, girth};
//!
//! let figure = Figure::new();
//! let chest = [0.0, figure.landmarks().chest, 0.0];
//! let around = girth(figure.rest_positions(), figure.triangles(), chest, [0.0, 1.0, 0.0]);
//! assert!((around.unwrap() - 0.94).abs() < 0.01);
//!
//! let frames = Motion::TURN.frames(&figure, 4.0, 30.0);
//! assert_eq!(frames.len(), 121);
//! ```

mod figure;
mod gait;
mod girth;
mod measures;
mod motion;
mod net;
mod part;
mod pose;
mod shape;
mod skeleton;
mod skin;
mod surface;
mod vector;

pub use figure::Figure;
pub use girth::girth;
pub use measures::{MeasureError, Measures};
pub use motion::Motion;
pub use pose::{Pose, Rotation};
pub use skeleton::{Joint, Landmarks, Limb};
pub use skin::Skin;
