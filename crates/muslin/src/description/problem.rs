//! Problems of the meshes that a scene refers to, and how those are asked for.

use std::fmt;

use crate::mesh;
use crate::mesh::Mesh;

/// Something wrong with what a scene refers to: its meshes, or vertices of them.
///
/// ```
/// use muslin::{Cloth, Pin, Simulation};
///
/// let builder = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2]).pin(Pin::vertices([99])));
/// let problems = builder.check();
/// assert_eq!(problems[0].place, "cloth[0].pins[0].vertices");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Whether the scene can be run all the same.
    pub severity: mesh::Severity,
    /// The scene key, for example `cloth[0].pins[1].vertices`.
    pub place: String,
    /// The mistake, and the remedy.
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
///
/// ```
/// use muslin::description::LoadMesh;
/// use muslin::mesh::{Diagonals, Mesh};
/// use muslin::{Simulation, scene};
///
/// let load: &mut LoadMesh<'_> = &mut |file| match file {
///     "towel.obj" => Mesh::grid([1.0, 0.5], [8, 4], Diagonals::Forward).map_err(|error| error.to_string()),
///     _ => Err(format!("there is no {file}")),
/// };
/// let scene = scene::parse("[[cloth]]\nmesh = \"towel.obj\"", &[]).into_result()?;
/// assert_eq!(Simulation::new(&scene, 1, load)?.model().masses.len(), 45);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LoadMesh<'a> = dyn FnMut(&str) -> Result<Mesh, String> + 'a;

/// Reads the frames of an animated mesh that a scene names: for each, the positions of all vertices, in m.
///
/// ```
/// use muslin::description::LoadFrames;
///
/// // Two frames of one vertex, which rises.
/// let load: &mut LoadFrames<'_> = &mut |_file| Ok(vec![vec![[0.0, 0.0, 0.0]], vec![[0.0, 0.1, 0.0]]]);
/// assert_eq!(load("rise.pc2").map(|frames| frames.len()), Ok(2));
/// ```
pub type LoadFrames<'a> = dyn FnMut(&str) -> Result<Vec<Vec<[f32; 3]>>, String> + 'a;
