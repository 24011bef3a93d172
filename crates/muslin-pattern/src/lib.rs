//! Sewing patterns: read, checked, meshed, laid out and drawn.
//!
//! A pattern is a set of panels, flat pieces of cloth, and of stitches, which say what edges are sewn together. This crate reads the JSON that pattern
//! generators write ([`Pattern::from_json`]). It sews nothing and simulates nothing.

mod assemble;
mod built_in;
mod curve;
mod finding;
mod json;
mod layout;
mod mesh;
mod outline;
mod pattern;
mod read;
mod svg;

pub use assemble::{Garment, LabelledEdge, PanelGroup};
pub use built_in::{BUILT_IN, BuiltIn};
pub use curve::{Curve, Point};
pub use finding::{Finding, MAX_FINDINGS, PatternError, Place, Problem, Severity};
pub use layout::Layout;
pub use mesh::{EDGE_LENGTHS, MAX_VERTICES, MeshError, PanelMesh, PatternMesh, Quality, Seam};
pub use pattern::{Edge, EdgeRef, Panel, Pattern, Placement, Stitch};
pub use read::{Limits, MAX_BYTES, MAX_EDGES, MAX_PANELS, Reading};
