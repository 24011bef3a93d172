//! Sewing patterns: read, checked, meshed, put together, curved around a body and drawn.
//!
//! A pattern is a set of panels, flat pieces of cloth, and of stitches, which say what edges are sewn together. Pattern generators write it as JSON. This
//! crate turns it into one cloth for a simulator. It sews nothing and simulates nothing, does no input or output, and
//! depends on no other crate of the project.
//!
//! ```text
//! JSON ─ Pattern::from_json ─→ Pattern ─ mesh ─→ PatternMesh ─ assemble ─→ Garment
//!           every mistake        └ to_svg, layout   panels, flat             in space, uv, groups, seams
//! ```
//!
//! Lengths are in m, angles in rad, +y is up. A panel lies in the xy plane of its own axes: y is the grain, +z the outer
//! side, from which its loop runs counter-clockwise.
//!
//! ```
//! use muslin_pattern::{BUILT_IN, Limits, Pattern};
//!
//! let reading = Pattern::from_json(BUILT_IN[1].json, &Limits::default())?;
//! let mesh = reading.pattern.mesh(0.02)?;
//! let garment = reading.pattern.assemble(&mesh);
//! assert_eq!(garment.panels[0].name, "front");
//! assert_eq!(garment.seams[0].chains[0].len(), garment.seams[0].chains[1].len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assemble;
mod built_in;
mod clear;
mod curve;
mod finding;
mod json;
mod layout;
mod mesh;
mod outline;
mod pattern;
mod read;
mod sewn;
mod standing;
mod svg;
mod wrap;

pub use assemble::{Garment, LabelledEdge, PanelGroup};
pub use built_in::{BUILT_IN, BuiltIn};
pub use curve::{Curve, Point};
pub use finding::{Finding, MAX_FINDINGS, PatternError, Place, Problem, Severity};
pub use layout::Layout;
pub use mesh::{EDGE_LENGTHS, MAX_VERTICES, MeshError, PanelMesh, PatternMesh, Quality, Seam};
pub use pattern::{Edge, EdgeRef, Panel, Pattern, Placement, Stitch};
pub use read::{Limits, MAX_BYTES, MAX_EDGES, MAX_PANELS, Reading};
pub use sewn::Sewn;
pub use standing::Standing;
pub use wrap::{Bend, Body, Limb};
