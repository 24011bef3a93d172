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
mod encode;
mod finding;
mod node;
mod overrides;
mod words;

pub use crate::description::{
    BodyFrames, BodyMesh, Choice, Cloth, ClothShape, Collider, ColliderShape, Contact, CustomShape, Ease, GivenBody,
    Material, Path, Pin, RestShape, Scene, Select, Selection, Start, View, Waypoint, Wind,
};
pub use crate::mesh::Severity;
pub use crate::validate::limits::{MAX_DURATION, MAX_FRAMES};
pub use finding::{Finding, Findings, Origin, Place};
pub use overrides::Override;

use finding::Report;
use node::Node;
use overrides::parse_path;

/// The outcome of reading a scene's text.
///
/// ```
/// use muslin::scene::parse;
///
/// let outcome = parse("[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]);
/// assert!(outcome.scene.is_some() && outcome.findings.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Outcome {
    /// The scene, if nothing is wrong enough to prevent it.
    pub scene: Option<Scene>,
    /// Everything that is wrong, in the order of the text, what is not in the text last.
    pub findings: Vec<Finding>,
    /// The text as it was read, to say where a key was written.
    text: String,
    root: Option<Node>,
}

impl Outcome {
    /// The scene, or everything that is wrong with it. Warnings are dropped if there is a scene.
    pub fn into_result(self) -> Result<Scene, Findings> {
        self.scene.ok_or(Findings(self.findings))
    }

    /// Where a key (`cloth[0].pins[1].vertices`) was written, or else the nearest table that it would be in.
    ///
    /// For what is found later, with the meshes at hand: [`compile`](crate::setup::compile) names keys.
    pub fn origin(&self, path: &str) -> Origin {
        match (&self.root, parse_path(path)) {
            (Some(root), Ok(segments)) => root.mark_at(&segments).locate(&self.text),
            _ => Origin::Scene,
        }
    }
}

/// Reads a scene, with `overrides` put in the place of what the text says, the last one winning.
///
/// The scene is there exactly if no finding is an error.
pub fn parse(text: &str, overrides: &[Override]) -> Outcome {
    let mut report = Report::default();
    let mut root = Node::parse_document(text, &mut report);
    let scene = root.as_mut().and_then(|root| {
        for change in overrides {
            change.apply(root, &mut report);
        }
        decode::decode(root, &mut report)
    });
    let findings = report.into_findings(text);
    let is_sound = !findings.iter().any(Finding::is_error);
    Outcome { scene: scene.filter(|_| is_sound), findings, text: text.to_owned(), root }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = 'é'\n[[cloth]]\npins = [{ select = 'all' }, { vertices = [7] }]\n";

    fn file(line: usize, column: usize, width: usize) -> Origin {
        Origin::File { line, column, width }
    }

    #[test]
    fn keys_are_found_where_they_are_written_or_would_be() {
        let outcome = parse(TEXT, &[]);
        for (path, origin) in [
            ("name", file(1, 8, 3)),
            ("cloth[0].pins[1].vertices", file(3, 42, 3)),
            ("cloth.0.pins.1.vertices", file(3, 42, 3)),
            ("cloth[0].pins[0].vertices", file(3, 9, 18)),
            ("cloth[0].material.bend.model", file(2, 1, 9)),
            ("cloth[0].pins.first", file(3, 8, 40)),
            ("name.first", file(1, 8, 3)),
            ("fps", Origin::Scene),
            ("", Origin::Scene),
            ("no path", Origin::Scene),
        ] {
            assert_eq!(outcome.origin(path), origin, "{path}");
        }
        assert_eq!(parse("not TOML", &[]).origin("name"), Origin::Scene);
    }

    #[test]
    fn keys_are_found_in_the_override_that_set_them() {
        for (set, is_set) in [
            ("cloth.0.pins.1.vertices=[7]", true),
            ("cloth[0].pins[1].vertices = [7]", true),
            ("cloth.0.pins=[{ select = 'all' }, { vertices = [8] }]", true),
            ("cloth.0.pins.0.vertices=[7]", false),
            ("cloth.0.pins.1.vertices.0=7", false),
        ] {
            let origin = parse(TEXT, &[Override::parse(set).unwrap()]).origin("cloth[0].pins[1].vertices");
            assert_eq!(origin, if is_set { Origin::Set(set.to_owned()) } else { file(3, 42, 3) }, "{set}");
        }
    }

    #[test]
    fn a_result_has_the_scene_or_everything_that_is_wrong() {
        let sound = "contact.self_contact = true\n[[cloth]]\nmesh = 'a.obj'\n";
        assert_eq!(parse(sound, &[]).findings, []);
        assert_eq!(parse(sound, &[]).into_result().unwrap().cloths.len(), 1);
        let findings = parse("fps = 0\nfsp = 1\n", &[]).into_result().unwrap_err();
        assert_eq!(
            findings.to_string(),
            "scene:1:7: fps: must be a number from 1 to 1000, got 0\n\
             scene:2:1: fsp: unknown key; did you mean `fps`?\n\
             scene: a scene needs at least one [[cloth]]"
        );
    }
}
