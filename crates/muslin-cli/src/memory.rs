//! How much memory a scene takes.

use muslin::model::Model;

/// Bytes of a vertex at the peak, while the scene is compiled: mesh, connectivity, state, and what a solver keeps.
///
/// Measured on a sheet of a million vertices without energies; with them, an element of `spring` added 56 bytes, of
/// `dihedral` 57 and of `isometric` 110.
const VERTEX_BYTES: usize = 540;
const ELEMENT_BYTES: usize = 80;

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
