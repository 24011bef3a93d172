//! Settings that do not go together with the solver of a scene.

use crate::description::{Choice, Material, Problems, Scene};
use crate::energy;
use crate::mesh::Mesh;
use crate::solver;
use crate::solver::position_based::xpbd;
use crate::solver::{Need, Term, auto, projective, vbd};

/// A model may be a distance to a projection in one form and not in another, which shows only in its elements.
pub(crate) fn refuse_other_forms(scene: &Scene, index: usize, terms: &[Box<dyn Term>], problems: &mut Problems) {
    let solver = scene.solver.entry.name;
    if solver::find(solver).is_none_or(|kind| kind.needs != Need::Projections) {
        return;
    }
    let material = &scene.cloths[index].material;
    for term in terms.iter().filter(|term| !term.is_projective()) {
        let is_stretch = term.name() == material.stretch.entry.name;
        let (key, choice) = if is_stretch { ("stretch", &material.stretch) } else { ("bend", &material.bend) };
        let raw = choice.settings.get("compliance").map_or("", |_| ".compliance");
        problems.error(
            format!("cloth[{index}].material.{key}{raw}"),
            format!(
                "solver {solver:?} needs a model that is a distance to a projection, and {:?} is none in this form; \
                 give `stiffness`, and no key that makes it another energy",
                term.name()
            ),
        );
    }
}

/// Models that reach beyond a triangle and its neighbours need a rest shape as a whole, which cloth that was cut and sewn has not.
pub(crate) fn refuse_seams(scene: &Scene, index: usize, mesh: &Mesh, problems: &mut Problems) {
    if mesh.flat.is_none() {
        return;
    }
    let Material { stretch, bend, .. } = &scene.cloths[index].material;
    let network = (stretch.settings.choice("network") == Some("full")).then_some("material.stretch.network");
    let is = |choice: &Choice, name: &str| choice.entry.name == name;
    let matching = is(stretch, energy::stretch::shape_matching::NAME).then_some("material.stretch.model");
    let buckling = is(bend, energy::bend::buckling::KIND.entry.name).then_some("material.bend.model");
    for key in [network, matching, buckling].into_iter().flatten() {
        let message = "needs one rest shape for the whole cloth, and with rest = \"uv\" each triangle has its own; \
                       use another model, or the name of a mesh file as `rest`";
        problems.error(format!("cloth[{index}].{key}"), message);
    }
    if scene.solver.entry.name == solver::shape_matching::KIND.entry.name {
        let message = "solver \"shape_matching\" needs one rest shape for the whole cloth; use another solver, or the name of a mesh file as `rest`";
        problems.error(format!("cloth[{index}].rest"), message);
    }
}

/// A solver with a stiffness of its own leaves the scene's models alone, and a user should not wonder why.
pub(crate) fn warn_of_unused_models(scene: &Scene, problems: &mut Problems) {
    let name = scene.solver.entry.name;
    if solver::find(name).is_some_and(|kind| kind.needs == Need::Nothing) {
        let message =
            format!("solver {name:?} has a stiffness of its own: material.stretch and material.bend are not used");
        problems.warning("solver.kind", message);
    }
}

/// Internal damping that is stiffer than sweeps can solve. A step of h has the stiffness (1 + τ/h) k; what they leave of it stays as
/// strain for the time τ, or as motion that does not take place.
pub(crate) fn warn_of_strong_damping(scene: &Scene, problems: &mut Problems) {
    /// In s.
    const STRONG: f64 = 1.0;
    let name = scene.solver.entry.name;
    let sweeps = [xpbd::KIND, auto::KIND, projective::KIND, vbd::KIND];
    if !sweeps.iter().any(|kind| kind.entry.name == name) {
        return;
    }
    for (index, cloth) in scene.cloths.iter().enumerate() {
        for (key, choice) in [("stretch", &cloth.material.stretch), ("bend", &cloth.material.bend)] {
            if let Some(time) = choice.settings.number("damping").filter(|time| *time >= STRONG) {
                let message = format!(
                    "{time} s is more than the sweeps of {name:?} can solve: expect strain that stays, or motion that is too slow; \
                     use solver \"newton\", or a time below {STRONG} s"
                );
                problems.warning(format!("cloth[{index}].material.{key}.damping"), message);
            }
        }
    }
}
