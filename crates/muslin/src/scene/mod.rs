//! Scene files: from text to a [`Scene`] with every default filled in, and back.
//!
//! ```text
//! text ─ node ─ overrides ─ decode ─→ Scene ─ encode ─→ text
//!                  └──── findings ────┘
//! ```
//!
//! [`parse`] says everything that is wrong with a scene at once, each thing with its place. It reads no files: a mesh
//! is kept as the path that the scene gives. What a model, a solver or a fabric can be told is the catalogue's
//! business, and nothing here changes when one is added.
//!
//! ```
//! let text = "
//!     duration = 1.0
//!     [[cloth]]
//!     grid = { size = [1, 1], cells = [16, 16] }
//!     material = { fabric = \"cotton\", density = -0.2 }
//! ";
//! let outcome = muslin::scene::parse(text, &[]);
//! assert!(outcome.scene.is_none());
//! assert_eq!(
//!     outcome.findings[0].display("drape.toml").to_string(),
//!     "drape.toml:5:47: cloth[0].material.density: must be a finite number greater than 0, got -0.2"
//! );
//! ```

mod cursor;
mod decode;
mod description;
mod encode;
mod finding;
mod node;
mod overrides;
mod suggest;
mod words;

pub use description::{
    Choice, Cloth, Collider, ColliderShape, Contact, Ease, Material, Path, Pin, Scene, Select, Selection, Shape, View,
    Waypoint, Wind,
};
pub use finding::{Finding, Origin, Place, Severity};
pub use overrides::Override;

use finding::Report;
use node::Node;

/// What became of a scene's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The scene, if nothing is wrong enough to prevent it.
    pub scene: Option<Scene>,
    /// Everything that is wrong, in the order of the text, what is not in the text last.
    pub findings: Vec<Finding>,
}

/// Reads a scene, with `overrides` put in the place of what the text says, the last one winning.
///
/// The scene is there exactly if no finding is an error.
pub fn parse(text: &str, overrides: &[Override]) -> Outcome {
    let mut report = Report::default();
    let scene = Node::parse_document(text, &mut report).and_then(|mut root| {
        for change in overrides {
            change.apply(&mut root, &mut report);
        }
        decode::decode(&root, &mut report)
    });
    let findings = report.into_findings(text);
    let is_sound = !findings.iter().any(Finding::is_error);
    Outcome { scene: scene.filter(|_| is_sound), findings }
}
