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

/// Bytes of a vertex where cloth is kept from cloth, and of its pairs, times the square of the thickness in edges.
///
/// Measured on a sheet of 200 × 200 cells of 2 mm, bytes a vertex beyond the rest: 1.4 kB with a thickness of a tenth or a half of a mean edge, 2.1 kB with 1.3 edges, 6.7 kB with 1.8 and
/// 15.6 kB with 3.5.
const CONTACT_BYTES: f64 = 1400.0;
const PAIR_BYTES: f64 = 1200.0;

/// An estimate of what keeps cloth from cloth, in bytes.
pub fn contact(model: &Model) -> usize {
    if model.self_contact.is_none() {
        return 0;
    }
    let mut edges = &model.edges[..];
    let bytes = model.cloths.iter().map(|cloth| {
        let (own, others) = edges.split_at(cloth.edge_count.min(edges.len()));
        edges = others;
        let mean = own.iter().map(|(_, length)| length).sum::<f64>() / own.len().max(1) as f64;
        let count = cloth.vertices.len() as f64;
        // No more pairs than all with all.
        let reach = if mean > 0.0 { model.thickness / mean } else { 0.0 };
        count * (CONTACT_BYTES + PAIR_BYTES * (reach * reach).min(count))
    });
    bytes.sum::<f64>() as usize
}

/// An estimate of the memory of a run, in bytes.
pub fn estimate(model: &Model, terms: &[Box<dyn Term>]) -> usize {
    let elements: usize = terms.iter().map(|term| term.element_count()).sum();
    let members: usize = model.matchings.iter().map(Matching::member_count).sum();
    let bodies: usize = model.bodies.iter().map(|body| body.mesh.vertex_count()).sum();
    VERTEX_BYTES * (model.masses.len() + bodies) + ELEMENT_BYTES * (elements + members) + contact(model)
}
