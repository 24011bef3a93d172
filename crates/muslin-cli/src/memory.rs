//! How much memory a scene takes.

use muslin::model::Model;

/// Bytes of a vertex: state, initial state, masses, ordering, triangles around it, and what a solver keeps.
const VERTEX_BYTES: usize = 600;
/// Bytes of an element: stencil, rest data in both precisions, multiplier.
const ELEMENT_BYTES: usize = 100;

/// An estimate of the memory of a run, in bytes.
pub(crate) fn estimate(model: &Model) -> usize {
    let elements: usize = model.terms.iter().map(|term| term.element_count()).sum();
    VERTEX_BYTES * model.masses.len() + ELEMENT_BYTES * elements
}

/// `120 MB`.
pub(crate) fn in_words(bytes: usize) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..10_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{} GB", bytes.div_ceil(1_000_000_000)),
    }
}
