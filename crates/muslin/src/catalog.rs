//! Everything a scene can name: models, solvers, shapes and fabrics, each described by an [`Entry`].

use crate::contact::{SHAPES, ShapeKind};
use crate::energy::{BEND, EnergyKind, STRETCH};
use crate::material::fabric::{FABRICS, Fabric};
use crate::parameter::Entry;
use crate::solver::{Need, SOLVERS};

/// Every stretch model, in the order they are listed to a person.
pub fn stretch_models() -> impl Iterator<Item = &'static Entry> {
    STRETCH.iter().map(|m| &m.entry)
}

/// Every bend model.
pub fn bend_models() -> impl Iterator<Item = &'static Entry> {
    BEND.iter().map(|m| &m.entry)
}

/// Every solver.
pub fn solvers() -> impl Iterator<Item = &'static Entry> {
    SOLVERS.iter().map(|s| &s.entry)
}

/// Every shape of a collider that is not a mesh. A parameter without a default must be given.
pub fn shapes() -> impl Iterator<Item = &'static ShapeKind> {
    SHAPES.iter()
}

/// Every fabric preset.
pub fn fabrics() -> impl Iterator<Item = &'static Fabric> {
    FABRICS.iter()
}

/// A model and a solver.
///
/// ```
/// use muslin::catalog;
///
/// let pairing = catalog::bend_pairings().find(|p| p.model.name == "dihedral" && p.solver.name == "projective");
/// assert!(pairing.is_some_and(|pairing| !pairing.is_defined), "a signed angle is no projection");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// The stretch or bend model.
    pub model: &'static Entry,
    /// The solver.
    pub solver: &'static Entry,
    /// Whether the solver is defined for the model.
    pub is_defined: bool,
    /// What the solver asks of any model.
    pub need: Need,
}

/// Every stretch model with every solver, model by model.
pub fn stretch_pairings() -> impl Iterator<Item = Pairing> {
    pairings(STRETCH)
}

/// Every bend model with every solver, model by model.
pub fn bend_pairings() -> impl Iterator<Item = Pairing> {
    pairings(BEND)
}

fn pairings(models: &'static [EnergyKind]) -> impl Iterator<Item = Pairing> {
    models.iter().flat_map(|model| {
        SOLVERS.iter().map(|solver| Pairing {
            model: &model.entry,
            solver: &solver.entry,
            is_defined: solver.needs.met_by(model.forms),
            need: solver.needs,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_meets_every_solver_once() {
        let count = |pairings: &mut dyn Iterator<Item = Pairing>| pairings.count();
        assert_eq!(count(&mut stretch_pairings()), stretch_models().count() * solvers().count());
        assert_eq!(count(&mut bend_pairings()), bend_models().count() * solvers().count());
    }

    /// The table must say what the scene reader does.
    #[test]
    fn a_scene_may_have_what_is_defined_and_nothing_else() {
        for (family, pairing) in stretch_pairings().map(|p| ("stretch", p)).chain(bend_pairings().map(|p| ("bend", p)))
        {
            let other = if family == "stretch" { "bend" } else { "stretch" };
            let (solver, model) = (pairing.solver.name, pairing.model.name);
            let form = if pairing.model.one_of.contains(&"compliance") { ", compliance = 1e-4" } else { "" };
            let text = format!(
                "solver.kind = \"{solver}\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [1, 1] }}\n\
                 material = {{ {family} = {{ model = \"{model}\"{form} }}, {other} = {{ model = \"none\" }} }}\n"
            );
            let outcome = crate::scene::parse(&text, &[]);
            assert_eq!(outcome.scene.is_some(), pairing.is_defined, "{text}{:?}", outcome.findings);
        }
    }
}
