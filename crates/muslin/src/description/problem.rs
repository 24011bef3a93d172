//! Problems of the meshes that a scene refers to, and how those are asked for.

use std::fmt;

use crate::mesh;
use crate::mesh::Mesh;

/// Something wrong with what a scene refers to: its meshes, or vertices of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Whether the scene can be run all the same.
    pub severity: mesh::Severity,
    /// The scene key, for example `cloth[0].pins[1].vertices`.
    pub place: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Collects problems so that a user sees all of them at once.
#[derive(Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub(crate) fn error(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.add(Problem { severity: mesh::Severity::Error, place: place.into(), message: message.into() });
    }

    pub(crate) fn warning(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.add(Problem { severity: mesh::Severity::Warning, place: place.into(), message: message.into() });
    }

    pub(crate) fn any_error(&self) -> bool {
        self.0.iter().any(|p| p.severity == mesh::Severity::Error)
    }

    pub(crate) fn into_list(self) -> Vec<Problem> {
        self.0
    }
}

/// Reads the mesh that a scene names; the library itself opens no file.
pub type LoadMesh<'a> = dyn FnMut(&str) -> Result<Mesh, String> + 'a;

/// Reads the frames of an animated mesh that a scene names: for each, the positions of all vertices, in m.
pub type LoadFrames<'a> = dyn FnMut(&str) -> Result<Vec<Vec<[f32; 3]>>, String> + 'a;
