//! Memory that a scene takes.

use crate::energy::stretch::shape_matching::Matching;
use crate::model::Model;
use crate::solver::Term;

/// Bytes of a vertex at the peak, while the scene is compiled: mesh, connectivity, state, and what a solver keeps.
///
/// Measured on a sheet of a million vertices without energies; with them, an element of `spring` added 56 bytes, of
/// `dihedral` 57 and of `isometric` 110.
pub const VERTEX_BYTES: usize = 540;
/// Bytes of an element of an energy, generously.
pub const ELEMENT_BYTES: usize = 80;

/// An estimate of the memory of a run, in bytes.
pub fn estimate(model: &Model, terms: &[Box<dyn Term>]) -> usize {
    let elements: usize = terms.iter().map(|term| term.element_count()).sum();
    let members: usize = model.matchings.iter().map(Matching::member_count).sum();
    let bodies: usize = model.bodies.iter().map(|body| body.mesh.vertex_count()).sum();
    VERTEX_BYTES * (model.masses.len() + bodies) + ELEMENT_BYTES * (elements + members)
}
