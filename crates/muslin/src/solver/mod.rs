//! Solvers: time integration by family, one line per solver in [`SOLVERS`].
//!
//! All of them solve one problem by different means:
//!
//! ```text
//! x⁺ = argmin ½‖x − y‖²_M/h² + E(x)        y = x + h v + h² M⁻¹ f        subject to: nothing passes through anything
//! ```
//!
//! x positions, v velocities, M masses, f gravity and wind, h the substep, E the sum of the energies. A substep goes through the stages of [`Stage`]: predict y, solve for x,
//! collide, update v. A frame is some substeps; [`Solver::advance`] computes one frame.
//!
//! | family | solvers | how it makes the sum small | the loop over substeps |
//! |---|---|---|---|
//! | `position_based/` | [`xpbd`], [`pbd`] | sweeps over constraints, Gauss–Seidel | `position_based/mod.rs` |
//! | [`explicit`] | `explicit` | a step along the forces | `explicit/symplectic.rs` in f32, `substep_loop.rs` in f64 |
//! | [`auto`] | `auto` | `xpbd` under a controller of strain and motion error, or `explicit` | `position_based/mod.rs`, `explicit/symplectic.rs` |
//! | [`vbd`] | `vbd` | Newton's method vertex by vertex | `substep_loop.rs` |
//! | one file each | [`newton`], [`projective`], [`shape_matching`] | sparse linear systems; rigid fits of regions | `substep_loop.rs` |
//!
//! | place | content |
//! |---|---|
//! | `registry.rs` | [`SOLVERS`], [`SolverKind`], parameters that solvers share |
//! | `stage.rs` | [`Stage`], times of stages |
//! | `error.rs` | [`StepError`], in words |
//! | `vertex_stages.rs` | predict, collide and contact resolution over vertices, once for single and double precision |
//! | `term.rs` | [`Term`], the elements of a model behind the sweeps of all solvers |
//! | `adaptive.rs` | substeps chosen from stability, speeds and the energy error |
//! | `sewing.rs` | what brings cloth into a rest shape that is far from its start |
//! | `ledger.rs` | work of pins, moving colliders and wind |
//! | `elastic.rs`, `linear/` | sums over elements; sparse systems |

pub(crate) mod adaptive;
pub(crate) mod elastic;
pub(crate) mod ledger;
pub(crate) mod linear;
pub(crate) mod position_based;
pub(crate) mod sewing;
pub(crate) mod substep_loop;
pub(crate) mod vertex_stages;

mod error;
mod registry;
mod stage;
mod term;

pub mod auto;
pub mod explicit;
pub mod newton;
pub mod projective;
pub mod shape_matching;
pub mod vbd;

pub use auto::Auto;
pub(crate) use elastic::{Elastic, Instant};
pub use error::{StepError, milliseconds, over_the_limit};
pub(crate) use explicit::force_buffers::BufferedForces;
pub use explicit::{Explicit, Stepping};
pub use newton::{Indefiniteness, Integrator, LineSearch, LinearSolver, Newton};
pub use pbd::Pbd;
#[cfg(test)]
pub(crate) use position_based::particle::Bundle;
pub(crate) use position_based::particle::Particle;
pub(crate) use position_based::sweep::Place;
pub use position_based::{pbd, xpbd};
pub use projective::Projective;
pub(crate) use registry::{MOST_SUBSTEPS, PRECISION, SUBSTEPS, count, iterations, paced};
pub use registry::{Need, Precision, SOLVERS, SolverKind, find};
pub use shape_matching::ShapeMatching;
pub(crate) use stage::Stopwatch;
pub use stage::{Stage, StageTimes};
pub use term::{Term, elastic_energy};
pub use vbd::Vbd;
pub use xpbd::Xpbd;

use crate::contact::ContactStats;
use crate::contact::context::ContactContext;
use crate::model::Model;
use crate::parallel::Team;
use crate::state::{State, Work};

/// Advances a [`State`]. Owns its scratch memory; allocates nothing in a substep, but for `newton` where pairs in contact change the pattern of its matrix.
///
/// Without a [`Simulation`](crate::Simulation), on a compiled scene:
///
/// ```
/// use muslin::parallel::Team;
/// use muslin::scene::parse;
/// use muslin::setup::compile;
/// use muslin::solver::{Context, NoClock, Xpbd, find};
/// use muslin::settings::Typed;
///
/// let scene = parse("[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]).into_result()?;
/// let compiled = compile(&scene, &mut |file| Err(format!("there is no {file}"))).map_err(|problems| problems[0].to_string())?;
/// let team = Team::solo();
/// let context = Context { model: &compiled.model, terms: &compiled.terms, team: &team, threads: 1, clock: &NoClock };
/// let kind = find("xpbd").ok_or("there is XPBD")?;
/// let mut solver = (kind.build)(&Xpbd { substeps: 4, ..Default::default() }.settings());
/// let mut state = compiled.state.clone();
/// let report = solver.advance(&context, &mut state, 1.0 / 60.0)?;
/// assert_eq!(report.substeps, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
}

/// The surroundings of a step, which a solver does not change.
///
/// ```
/// use muslin::parallel::Team;
/// use muslin::scene::parse;
/// use muslin::setup::compile;
/// use muslin::solver::{Context, NoClock};
///
/// let scene = parse("[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]).into_result()?;
/// let compiled = compile(&scene, &mut |file| Err(format!("there is no {file}"))).map_err(|problems| problems[0].to_string())?;
/// let team = Team::solo();
/// let context = Context { model: &compiled.model, terms: &compiled.terms, team: &team, threads: 1, clock: &NoClock };
/// assert_eq!(context.terms.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The part of it that contact takes.
    fn contact(&self) -> ContactContext<'a> {
        ContactContext { model: self.model, team: self.team, threads: self.threads }
    }
}

/// A clock that the library is handed, since it reads none itself.
///
/// ```
/// use std::time::Instant;
///
/// use muslin::solver::Clock;
/// use muslin::{Cloth, Simulation};
///
/// let start = Instant::now();
/// let clock = move || start.elapsed().as_secs_f64();
/// assert!(clock.seconds() >= 0.0, "any such function is a clock");
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?.with_clock(clock);
/// # let _ = simulation;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use muslin::solver::{Clock, NoClock};
///
/// assert_eq!(NoClock.seconds(), 0.0);
/// ```
pub struct NoClock;

impl Clock for NoClock {
    fn seconds(&self) -> f64 {
        0.0
    }
}

/// Report of a frame: its cost, and how well it went.
///
/// ```
/// use muslin::solver::Xpbd;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Xpbd { substeps: 5, iterations: 2, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let report = simulation.advance()?;
/// assert_eq!((report.substeps, report.iterations, report.contacts), (5, 10, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Motion that contact with cloth and meshes took away.
    pub contact_stats: ContactStats,
    /// Time spent in each stage.
    pub stages: StageTimes,
    /// The quality, of a solver that holds one.
    pub quality: Option<Quality>,
    /// What pins, moving colliders and wind have done on the cloth.
    pub work: Work,
}

/// The quality of a run of [`auto`], as far as it knows.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let quality = simulation.advance()?.quality.ok_or("`auto` holds a quality")?;
/// assert!(quality.motion.is_none_or(|distance| distance < 0.05), "near the converged motion");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Long-range constraints and tethers, see `long_range.rs`; none where the cloth stretches, or is not flat at rest.
    pub long_range: u64,
    /// The estimated distance to the converged motion after half a second, as a part of the cloth's size, once there is an estimate.
    pub motion: Option<f64>,
    /// Whether the frame was left beyond the limit of strain, as the load strains the cloth: more substeps would not change that.
    pub strained_by_load: bool,
}
