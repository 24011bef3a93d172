//! Time integration: one file per solver, one line per solver in [`SOLVERS`].
//!
//! All of them solve one problem, `x⁺ = argmin ½‖x − y‖²_M/h² + E(x)` with `y = x + h v + h² M⁻¹ f`, by different means.

pub(crate) mod elastic;
pub(crate) mod position_based;
pub(crate) mod substep_loop;
mod term;

pub mod auto;
pub mod explicit;
pub mod linear;
pub mod newton;
pub mod projective;
pub mod shape_matching;
pub mod vbd;

pub use elastic::{Elastic, Instant};
pub use explicit::force_buffers::{ForceFlow, Forces, Rows, Vertices};
#[cfg(test)]
pub(crate) use position_based::particle::Bundle;
pub use position_based::particle::Particle;
pub use position_based::sweep::{Place, Sweep};
pub use position_based::{pbd, xpbd};
pub use term::{Term, elastic_energy};
pub use vbd::incident::{IncidentElements, Plan, View};

use crate::contact::ContactStats;
use crate::contact::context::{ContactContext, ContactError};
use crate::energy::Forms;
use crate::math::Vec3;
use crate::model::Model;
use crate::parallel::Team;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::state::State;

/// Advances a [`State`]. Owns its scratch memory; allocates nothing in a substep.
pub trait Solver: Send + Sync {
    /// Advances by one frame of `dt` seconds, in as many substeps as the solver is set to.
    ///
    /// On an error `state` is as it was.
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError>;

    /// How far the last iteration of a substep still moved a vertex, in m, at the limit of iterations and beyond the solver's tolerance: the
    /// largest of the last frame. `None` where all of them were solved, and for solvers without a tolerance.
    fn unsolved(&self) -> Option<f64> {
        None
    }

    /// Forgets of [`State::history`] what does not hold once a hand has changed the model.
    fn disturb(&self, _history: &mut Vec<Vec3<f64>>) {}
}

/// What a solver works with and does not change.
pub struct Context<'a> {
    /// The compiled scene.
    pub model: &'a Model,
    /// The terms of its potential, in the order they are swept.
    pub terms: &'a [Box<dyn Term>],
    /// The threads there are.
    pub team: &'a Team,
    /// How many of them to use in this frame; the result does not depend on it.
    pub threads: usize,
    /// Tells the time, for the profile.
    pub clock: &'a dyn Clock,
}

impl<'a> Context<'a> {
    /// What contact takes of it.
    fn contact(&self) -> ContactContext<'a> {
        ContactContext { model: self.model, team: self.team, threads: self.threads }
    }
}

/// A clock that the library is handed, since it reads none itself.
pub trait Clock: Send + Sync {
    /// Seconds since some fixed moment.
    fn seconds(&self) -> f64;
}

impl<F: Fn() -> f64 + Send + Sync> Clock for F {
    fn seconds(&self) -> f64 {
        self()
    }
}

/// A clock that stands still: for callers that want no profile.
pub struct NoClock;

impl Clock for NoClock {
    fn seconds(&self) -> f64 {
        0.0
    }
}

/// What a frame cost and how well it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Substeps taken.
    pub substeps: u32,
    /// Sweeps over all constraints, summed over substeps.
    pub iterations: u32,
    /// How far from solved the last substep was left; each solver says in which measure.
    pub residual: f64,
    /// The longest step with which an explicit solver is stable, in s.
    pub stable_step: Option<f64>,
    /// Pairs of a vertex and a triangle or of two edges, of cloth and cloth or of cloth and a mesh, that were pushed apart, summed over substeps.
    pub contacts: u64,
    /// What contact with cloth and meshes took from the motion.
    pub contact_stats: ContactStats,
    /// Time spent in each stage.
    pub stages: Stages,
    /// What a solver that holds a quality knows about it.
    pub quality: Option<Quality>,
}

/// What [`auto`] knows about its own run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Long-range constraints and tethers, see `long_range.rs`; none where the cloth stretches, or is not flat at rest.
    pub long_range: u64,
    /// The estimated distance to the converged motion after half a second, as a part of the cloth's size, once there is an estimate.
    pub motion: Option<f64>,
}

/// Seconds in each stage of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stages {
    /// Forces, and the motion without constraints.
    pub predict: f64,
    /// Constraints.
    pub solve: f64,
    /// Contact with colliders.
    pub collide: f64,
    /// Velocities from positions; copies in and out of the solver.
    pub update: f64,
}

impl Stages {
    /// Adds the times of another.
    fn add(&mut self, other: &Self) {
        self.predict += other.predict;
        self.solve += other.solve;
        self.collide += other.collide;
        self.update += other.update;
    }
}

/// Why a frame could not be finished.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The motion left the finite numbers.
    #[error(
        "vertex {vertex} of cloth \"{cloth}\" left the finite numbers; \
         look for an extreme number in the scene (density, stiffness, velocity), or use more substeps"
    )]
    NonFinite {
        /// Name of the cloth.
        cloth: String,
        /// The vertex, as the user numbers it.
        vertex: usize,
    },
    /// The Hessian of an implicit step has an eigenvalue that is not positive, and the solver was told to do nothing about it.
    #[error(
        "the Hessian of the step at {time:.4} s is not positive definite ({iterations} iterations into it), as compression makes it; \
         set solver.indefiniteness to \"clamp\", \"drop\" or \"choi_ko\", or use more substeps"
    )]
    Indefinite {
        /// Simulated time, in s.
        time: f64,
        /// Iterations of the step before.
        iterations: u32,
    },
    /// The factorisation of an implicit step needs more memory than there is.
    #[error("the factorisation of {vertices} vertices does not fit into memory; set solver.linear to \"cg\"")]
    Memory {
        /// How many there are.
        vertices: usize,
    },
    /// A linear system could not be solved.
    #[error(
        "the system of the solver could not be factorised; \
         look for an extreme number in the scene (density, stiffness, damping), or use more substeps"
    )]
    NotDefinite,
    /// Cloth would pass through cloth, and nothing that may be done about it helps.
    #[error(
        "{what}, and cannot be kept apart; use more substeps, slower pins or bodies, or a smaller contact.thickness"
    )]
    Contact {
        /// Which, as the user numbers them.
        what: String,
    },
    /// What cuts or touches at the start could not be pulled apart.
    #[error(
        "the start could not be untangled: {seconds} s after it {what}; move apart what cuts in the scene, or mend the mesh"
    )]
    Tangled {
        /// What still cuts, as the user numbers it.
        what: String,
        /// The time that it was given, in s.
        seconds: f64,
    },
    /// An explicit solver took steps beyond its stability limit.
    #[error(
        "vertex {vertex} of cloth \"{cloth}\" diverged: the step of {} is {}",
        milliseconds(*step),
        over_the_limit(*step, *limit, *substeps)
    )]
    Unstable {
        /// Name of the cloth.
        cloth: String,
        /// The vertex, as the user numbers it.
        vertex: usize,
        /// The step, in s.
        step: f64,
        /// The longest stable step, in s; zero where there is none.
        limit: f64,
        /// How many substeps there were.
        substeps: u32,
    },
}

/// How far a step is over its limit and what to do about it: the end of a sentence, for errors and warnings.
pub fn over_the_limit(step: f64, limit: f64, substeps: u32) -> String {
    if limit <= 0.0 {
        return "over the stability limit, as every step of this scheme is without damping; \
                use scheme = \"symplectic\" or another solver"
            .to_owned();
    }
    let (ratio, limit) = (step / limit, milliseconds(limit));
    let enough = (ratio * f64::from(substeps) / STABLE_SHARE).ceil();
    let remedy = if enough <= MOST_SUBSTEPS as f64 {
        format!("use substeps = {enough} or more")
    } else {
        format!("that would take {enough} substeps: use an implicit solver, a coarser mesh or a softer cloth")
    };
    format!("{ratio:.3} times the stability limit of {limit} of this cloth; {remedy}")
}

/// Seconds as milliseconds, with at least three digits that count.
pub fn milliseconds(seconds: f64) -> String {
    match 1e3 * seconds {
        ms if ms >= 0.1 || ms <= 0.0 => format!("{ms:.3} ms"),
        ms if ms >= 1e-3 => format!("{ms:.5} ms"),
        ms => format!("{ms:.2e} ms"),
    }
}

/// The share of the limit that advice aims at: a cloth stiffens when it stretches.
const STABLE_SHARE: f64 = 0.95;
/// The most substeps a scene may ask for.
const MOST_SUBSTEPS: i64 = 10_000;

impl StepError {
    fn unstable(model: &Model, index: usize, step: f64, limit: f64, substeps: u32) -> Self {
        let (cloth, vertex) = model.user_vertex(index);
        Self::Unstable { cloth: cloth.to_owned(), vertex, step, limit, substeps }
    }

    pub(crate) fn non_finite(model: &Model, index: usize) -> Self {
        let (cloth, vertex) = model.user_vertex(index);
        Self::NonFinite { cloth: cloth.to_owned(), vertex }
    }

    /// What contact says, as an error of the step.
    fn contact(model: &Model, error: ContactError) -> Self {
        match error {
            ContactError::NonFinite(vertex) => Self::non_finite(model, vertex),
            ContactError::Unresolved(what) => Self::Contact { what },
            ContactError::Tangled { what, seconds } => Self::Tangled { what, seconds },
        }
    }
}

/// Adds up the time of stages on one thread.
struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    runs: bool,
    last: f64,
}

impl<'a> Stopwatch<'a> {
    /// One that counts from now on, or never if it does not run.
    fn new(clock: &'a dyn Clock, runs: bool) -> Self {
        Self { clock, runs, last: if runs { clock.seconds() } else { 0.0 } }
    }

    /// Adds the time since the last lap to a stage.
    fn lap(&mut self, stage: &mut f64) {
        if self.runs {
            let now = self.clock.seconds();
            *stage += now - self.last;
            self.last = now;
        }
    }
}

/// A solver as a scene can name it.
pub struct SolverKind {
    /// Key, parameters, source.
    pub entry: Entry,
    /// Makes one from its settings.
    pub build: fn(&Settings) -> Box<dyn Solver>,
    /// Whether it reads the stiffness `k` of a model.
    pub reads_k: bool,
    /// Whether it reads the internal `damping` of a model.
    pub reads_damping: bool,
    /// What it asks of a model.
    pub needs: Need,
}

/// The form in which a solver takes the energies of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Constraints, [`Forms::constraint`].
    Constraints,
    /// Potentials, [`Forms::potential`]: no rigid constraints.
    Potentials,
    /// Projections, [`Forms::projection`]: no rigid constraints.
    Projections,
    /// None: it has a stiffness of its own, and the energies of the scene do not matter to it.
    Nothing,
}

impl Need {
    /// Whether a model in these forms is enough.
    pub fn met_by(self, forms: Forms) -> bool {
        match self {
            Self::Constraints => forms.constraint,
            Self::Potentials => forms.potential,
            Self::Projections => forms.projection,
            Self::Nothing => true,
        }
    }

    /// The same for a person: what a model has to be given as.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Constraints => "a constraint C with a compliance",
            Self::Potentials => "a potential with forces and their derivatives",
            Self::Projections => "the distance to a projection, the nearest shape that costs nothing",
            Self::Nothing => "nothing: it has a stiffness of its own, and takes no notice of the model's",
        }
    }
}

/// The solver of a name.
pub fn find(name: &str) -> Option<&'static SolverKind> {
    SOLVERS.iter().find(|kind| kind.entry.name == name)
}

/// Every solver.
pub const SOLVERS: &[SolverKind] = &[
    xpbd::KIND,
    pbd::KIND,
    newton::KIND,
    vbd::KIND,
    projective::KIND,
    explicit::KIND,
    shape_matching::KIND,
    auto::KIND,
];

/// A whole number of at least one, whose range the scene has checked.
fn count(settings: &Settings, name: &str) -> u32 {
    settings.integer(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1)
}

const fn substeps(default: i64) -> Parameter {
    Parameter {
        name: "substeps",
        unit: "",
        kind: Kind::Integer { min: 1, max: MOST_SUBSTEPS },
        default: Some(Setting::Integer(default)),
        meaning: "time steps in a frame",
    }
}

const fn iterations(default: i64) -> Parameter {
    Parameter {
        name: "iterations",
        unit: "",
        kind: Kind::Integer { min: 1, max: 10_000 },
        default: Some(Setting::Integer(default)),
        meaning: "sweeps over the constraints in a substep",
    }
}

const PRECISION: Parameter = Parameter {
    name: "precision",
    unit: "",
    kind: Kind::Choice(&["f32", "f64"]),
    default: Some(Setting::Choice("f32")),
    meaning: "numbers of the sweeps: single is faster, double for small motions and stiff cloth",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_has_digits() {
        let words = [0.5, 1e-3, 2.5e-5, 3.21e-7, 0.0].map(milliseconds);
        assert_eq!(words, ["500.000 ms", "1.000 ms", "0.02500 ms", "3.21e-4 ms", "0.000 ms"]);
    }
}
