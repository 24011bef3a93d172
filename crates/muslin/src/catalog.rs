//! Everything a scene can name: models, solvers and fabrics, each described by an [`Entry`].

use crate::material::fabric::{FABRICS, Fabric};
use crate::parameter::Entry;

/// Every stretch model, in the order they are listed to a person.
pub fn stretch_models() -> impl Iterator<Item = &'static Entry> {
    crate::energy::STRETCH.iter().map(|m| &m.entry)
}

/// Every bend model.
pub fn bend_models() -> impl Iterator<Item = &'static Entry> {
    crate::energy::BEND.iter().map(|m| &m.entry)
}

/// Every solver.
pub fn solvers() -> impl Iterator<Item = &'static Entry> {
    crate::solver::SOLVERS.iter().map(|s| &s.entry)
}

/// Every fabric preset.
pub fn fabrics() -> impl Iterator<Item = &'static Fabric> {
    FABRICS.iter()
}
