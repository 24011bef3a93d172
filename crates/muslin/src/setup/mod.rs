//! From the description of a scene to what a solver starts from: the model, the terms of its potential, the first state.
//!
//! Here stands what needs both a model and the solvers: the form in which their sweeps take the elements, and what does not go together.

mod bad_start;
mod scale;
mod warnings;

pub use bad_start::BadStart;
pub use scale::show_through;

use crate::contact::untangle::initial;
use crate::description::{LoadFrames, LoadMesh, Problem, Problems, Scene};
use crate::math::Vec3;
use crate::model::Model;
use crate::model::build::load_meshes;
use crate::model::warnings::{warn_of_idle_wind, warn_of_weak_sheets};
use crate::setup::scale::{check_thickness, refuse_far_starts, warn_of_near_starts};
use crate::setup::warnings::{refuse_other_forms, refuse_seams, warn_of_strong_damping, warn_of_unused_models};
use crate::solver::{Term, elastic_energy};
use crate::state::State;

/// A compiled scene: the model, the terms of its potential, its initial state, and warnings.
///
/// ```
/// use muslin::scene::parse;
/// use muslin::setup::compile;
///
/// let scene = parse("[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]).into_result()?;
/// let compiled = compile(&scene, &mut |file| Err(format!("there is no {file}"))).map_err(|problems| problems[0].to_string())?;
/// assert_eq!((compiled.terms.len(), compiled.state.positions.len()), (2, 9), "springs and hinges over nine vertices");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Compiled {
    /// The immutable part.
    pub model: Model,
    /// The terms of the potential, in the order they are swept.
    pub terms: Vec<Box<dyn Term>>,
    /// The state at time zero.
    pub state: State,
    /// Warnings for the user.
    pub warnings: Vec<Problem>,
}

impl Compiled {
    /// The elastic energy with the vertices at x, in J.
    pub fn elastic_energy(&self, x: &[Vec3<f64>]) -> f64 {
        elastic_energy(&self.model, &self.terms, x)
    }
}

/// Compiles a scene without animated meshes; `load` is asked for each mesh file. On failure, everything that is wrong.
pub fn compile(scene: &Scene, load: &mut LoadMesh<'_>) -> Result<Compiled, Vec<Problem>> {
    let mut no_frames = |file: &str| Err(format!("cannot read {file}: animated meshes are not loaded here"));
    compile_with(scene, load, &mut no_frames)
}

/// Compiles a scene; `load` is asked for each mesh file and `load_frames` for the frames of each animated mesh. On
/// failure, everything that is wrong.
pub fn compile_with(
    scene: &Scene,
    load: &mut LoadMesh<'_>,
    load_frames: &mut LoadFrames<'_>,
) -> Result<Compiled, Vec<Problem>> {
    let mut problems = Problems::default();
    let Some((mut model, terms)) = build(scene, load, load_frames, &mut problems) else {
        return Err(problems.into_list());
    };
    check_thickness(&model, &mut problems);
    refuse_far_starts(&model, &mut problems);
    // What else there is to say of the start takes long in such a scene, or follows from it.
    if problems.any_error() {
        return Err(problems.into_list());
    }
    initial::check(&mut model, scene.contact.start, &mut problems);
    if !problems.any_error() {
        warn_of_near_starts(&model, &mut problems);
    }
    warn_of_idle_wind(scene, &mut problems);
    warn_of_unused_models(scene, &mut problems);
    warn_of_weak_sheets(scene, &mut problems);
    warn_of_strong_damping(scene, &mut problems);
    if problems.any_error() {
        return Err(problems.into_list());
    }
    let state = model.initial_state();
    Ok(Compiled { model, terms, state, warnings: problems.into_list() })
}

/// Compiles a scene without a look at what cuts or touches at the start; `None` where nothing can be made of it.
fn build(
    scene: &Scene,
    load: &mut LoadMesh<'_>,
    load_frames: &mut LoadFrames<'_>,
    problems: &mut Problems,
) -> Option<(Model, Vec<Box<dyn Term>>)> {
    let (meshes, bodies) = load_meshes(scene, load, load_frames, problems)?;
    let vertex_count = meshes.iter().map(|cloth| cloth.mesh.vertex_count()).sum();
    let (mut model, mut terms) = (Model::empty(scene), Vec::new());
    for (i, (cloth, mesh)) in scene.cloths.iter().zip(meshes).enumerate() {
        let first_term = terms.len();
        model.add_cloth((i, cloth), mesh, vertex_count, &mut terms, problems);
        refuse_other_forms(scene, i, &terms[first_term..], problems);
        refuse_seams(scene, i, &model.cloths[i].mesh, problems);
    }
    model.add_bodies(bodies);
    model.find_contact_edges();
    model.warn_of_starts_inside(problems);
    model.warn_of_thin_colliders(problems);
    Some((model, terms))
}
