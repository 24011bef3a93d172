//! Position-based dynamics: the loop that [`xpbd`] and [`pbd`] share. They differ in the [law](ProjectionLaw) of one projection.
//!
//! ```text
//! for each substep
//!     predict    v ← (v + h f/m) e^(−dh) + h g, x ← x + h v; pins where their paths lead
//!     for each iteration
//!         solve      long-range constraints; terms × colours of projections; tethers; the strain limit of a material
//!         collide    vertices, and the midpoints of edges, out of the colliders, with friction
//!     collide    cloth out of cloth, where contact is resolved
//!     update     v ← (x − xⁿ)/h
//! after the last: hold the strain limit, measure the residual
//! ```
//!
//! [`ThreadLoop::run`] is this loop without the line *cloth out of cloth*, with one function a stage. A run of the team ([`Team::run`](crate::parallel::Team::run)) has a barrier after every
//! stage, after every colour of the sweeps, and between the two passes of the wind.
//!
//! | contact between pairs | a run of the team is | the last two lines of a substep |
//! |---|---|---|
//! | none | a frame | [`ThreadLoop::run`] updates velocities |
//! | resolved | a substep | `run_frame` calls [`Frame::resolve_contact`] after it, which pushes cloth out of cloth and then updates velocities |
//!
//! | place | content |
//! |---|---|
//! | `xpbd.rs`, `pbd.rs` | the laws: Δλ of one element |
//! | `sweep.rs` | a sweep over the elements of a batch, colour by colour |
//! | `vertices.rs` | [`Frame`]: the vertices of a frame in the precision of the solver; loads and stores them, resolves contact between pairs and updates velocities after that |
//! | `substep.rs` | [`Arrays`]: the same vertices, open to the team; edges against colliders; the formula of the update. `solver/vertex_stages.rs` predicts and collides |
//! | `long_range.rs`, `tethers.rs` | bounds between distant vertices, and between a vertex and pins |
//! | `distance_limits.rs`, `strain_limit.rs` | bounds of distances; edges within the strain limit |
#![allow(rustdoc::private_intra_doc_links, reason = "the laws lead readers of the code to the loop")]

pub(crate) mod distance_limits;
mod length_constraints;
pub(crate) mod long_range;
pub(crate) mod particle;
pub mod pbd;
pub(crate) mod settings;
mod strain_limit;
pub(crate) mod substep;
pub(crate) mod sweep;
pub(crate) mod tethers;
pub(crate) mod vertices;
pub mod xpbd;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::contact::kinematics::Kinematics;
use crate::math::Real;
use crate::parallel::{Shared, Worker};
use crate::parameter::Settings;
use crate::solver::adaptive::Paced;
use crate::solver::position_based::distance_limits::{DistanceLimits, Ends, LimitLists, SharedLimitLists};
use crate::solver::position_based::length_constraints::LengthConstraints;
use crate::solver::position_based::long_range::LongRange;
use crate::solver::position_based::particle::Bundled;
use crate::solver::position_based::settings::LoopSettings;
use crate::solver::position_based::strain_limit::EASY_ROUNDS;
use crate::solver::position_based::substep::Arrays;
use crate::solver::position_based::sweep::{Place, Sweep};
use crate::solver::position_based::vertices::Frame;
use crate::solver::sewing;
use crate::solver::sewing::{Pull, Sewing};
use crate::solver::vertex_stages::VertexStages;
use crate::solver::{
    Context, MOST_SUBSTEPS, Solver, Stage, StageTimes, StepError, StepReport, Stopwatch, Term, explicit, paced,
};
use crate::state::{State, Work};

/// The law of one projection: how a solver moves the vertices of an element. One virtual call a sweep, none an element.
pub(crate) trait ProjectionLaw<R: Real>: Send + Sync + 'static {
    /// Whether the stiffness of the scene decides how far it moves.
    const FOLLOWS_ENERGIES: bool;
    /// Substeps of a frame at least, where the solver chooses them.
    const FEWEST: u32;
    /// Numbers that the multiplier of one element takes to store.
    fn multiplier_parts(term: &(dyn Term + 'static)) -> usize;
    /// One sweep over the elements, colour by colour; ends with the team at a barrier.
    fn project(term: &(dyn Term + 'static), worker: &Worker<'_>, sweep: &Sweep<'_, R>);
    /// The largest move, in m, that another sweep would make.
    fn residual(term: &(dyn Term + 'static), worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64;
}

/// A position-based solver: its settings and its memory.
pub(crate) struct PositionBased<R: Real, L> {
    settings: LoopSettings,
    frame: Frame<R>,
    /// λ of all terms, one after the other, and where each begins.
    multipliers: Vec<R>,
    first_multipliers: Vec<usize>,
    /// Made for the first frame.
    length_constraints: Option<Arc<LengthConstraints<R>>>,
    tether_offsets: Vec<R>,
    limit_lists: LimitLists,
    /// Rounds that it took to hold the strain limit, at the end of the last frame.
    limit_rounds: usize,
    /// Where the solver chooses its substeps, once there was a frame.
    wanted_substeps: Option<u32>,
    law: PhantomData<L>,
}

/// A solver with a law, in the precision that the settings ask for.
pub(crate) fn build<L: ProjectionLaw<f32> + ProjectionLaw<f64>>(settings: &Settings) -> Box<dyn Solver> {
    paced(settings, <L as ProjectionLaw<f32>>::FOLLOWS_ENERGIES, |substeps| {
        let loop_settings = LoopSettings { substeps, ..LoopSettings::read(settings) };
        match settings.choice("precision") {
            Some("f64") => Box::new(PositionBased::<f64, L>::new(loop_settings)),
            _ => Box::new(PositionBased::<f32, L>::new(loop_settings)),
        }
    })
}

/// Over the longest step with which an explicit scheme is stable, at most, where the solver chooses: beyond that one sweep leaves more strain than the material would give.
const BEYOND_STABLE: f64 = 4.0;

impl<R: Bundled, L: ProjectionLaw<R>> Paced for PositionBased<R, L>
where
    dyn Term: Place<R>,
{
    fn set_substeps(&mut self, substeps: u32) {
        self.settings.substeps = substeps;
    }

    fn wanted_substeps(&mut self, context: &Context<'_>, _: &State, dt: f64) -> u32 {
        *self.wanted_substeps.get_or_insert_with(|| {
            let is_rigid = context.model.cloths.iter().any(|cloth| cloth.stiffness.is_infinite());
            let stable = explicit::undamped_step(context.model, context.terms, dt);
            let stable = stable.filter(|_| L::FOLLOWS_ENERGIES && !is_rigid);
            let needed = stable.map_or(0.0, |stable| (dt / (BEYOND_STABLE * stable)).ceil());
            (needed.min(MOST_SUBSTEPS as f64) as u32).max(L::FEWEST)
        })
    }
}

impl<R: Bundled, L: ProjectionLaw<R>> Sewing for PositionBased<R, L>
where
    dyn Term: Place<R>,
{
    fn weigh(&mut self, context: &Context<'_>, state: &State, dt: f64) {
        self.settings.substeps = self.wanted_substeps(context, state, dt).max(sewing::substeps(dt));
        self.settings.iterations = sewing::SWEEPS;
        self.settings.pull = Some(Pull::settling());
    }
}

impl<R: Bundled, L: ProjectionLaw<R>> Solver for PositionBased<R, L>
where
    dyn Term: Place<R>,
{
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let start = context.clock.seconds();
        self.load(context, state, dt);
        let loaded = context.clock.seconds();
        let (mut stages, residual) = self.run_frame(context, dt)?;
        let solved = context.clock.seconds();
        self.frame.store(context, state, dt)?;
        stages[Stage::Update] += (loaded - start) + (context.clock.seconds() - solved);
        let LoopSettings { substeps, iterations, .. } = self.settings;
        Ok(StepReport {
            substeps,
            iterations: substeps.saturating_mul(iterations),
            residual,
            contacts: self.frame.contacts(),
            contact_stats: self.frame.contact_stats(),
            stages,
            stable_step: None,
            quality: None,
            work: self.work(),
        })
    }
}

impl<R: Bundled, L: ProjectionLaw<R>> PositionBased<R, L>
where
    dyn Term: Place<R>,
{
    pub(crate) fn new(settings: LoopSettings) -> Self {
        Self {
            settings,
            frame: Frame::default(),
            multipliers: Vec::new(),
            first_multipliers: Vec::new(),
            length_constraints: None,
            tether_offsets: Vec::new(),
            limit_lists: LimitLists::default(),
            limit_rounds: 0,
            wanted_substeps: None,
            law: PhantomData,
        }
    }

    /// Takes over what another one of the same settings has made of the same model.
    pub(crate) fn share(&mut self, other: &Self) {
        self.length_constraints.clone_from(&other.length_constraints);
    }

    /// Number of long-range constraints and tethers, once there was a frame.
    pub(crate) fn long_range_count(&self) -> usize {
        let long_range = self.length_constraints.as_ref().and_then(|constraints| constraints.long_range.as_ref());
        long_range.map_or(0, LongRange::len)
    }

    /// Whether the strain limit was held with ease in the last frame.
    pub(crate) fn is_at_ease(&self) -> bool {
        self.limit_rounds < EASY_ROUNDS
    }

    /// Copies the state into the solver's precision, and makes room for the frame.
    fn load(&mut self, context: &Context<'_>, state: &State, dt: f64) {
        let (model, is_wide) = (context.model, context.team.is_wide());
        self.length_constraints.take_if(|constraints| !constraints.is_for(is_wide));
        let make = || Arc::new(LengthConstraints::new(&self.settings, model, is_wide));
        let constraints = self.length_constraints.get_or_insert_with(make);
        self.tether_offsets.resize(constraints.tether_offset_count(), R::ZERO);
        if let Some(limit) = &constraints.strain_limit {
            self.limit_lists.fit(&limit.edges);
        }
        let terms = context.terms.iter().map(|term| Place::<R>::rest_offset_count(&**term, is_wide));
        let rest_offset_counts = terms.chain(constraints.distance_limits().map(DistanceLimits::rest_offset_count));
        self.frame.load(context, state, (dt, self.settings.substeps), rest_offset_counts);
        self.first_multipliers.clear();
        let mut multipliers = 0;
        for term in context.terms {
            self.first_multipliers.push(multipliers);
            multipliers += L::multiplier_parts(&**term) * term.element_count();
        }
        self.multipliers.resize(multipliers, R::ZERO);
        self.place(context);
    }

    /// Measures the rest offsets of all constraints, once a frame.
    fn place(&mut self, context: &Context<'_>) {
        let Some(constraints) = &self.length_constraints else { return };
        let tether_offsets = Shared::open(context.team, &mut self.tether_offsets);
        let (origins, rest_offsets, first_rest_offsets) = self.frame.open_rest_offsets(context.team);
        let (of_terms, of_limits) = first_rest_offsets.split_at(context.terms.len());
        context.team.run(context.threads, |worker| {
            for (term, &first) in context.terms.iter().zip(of_terms) {
                Place::<R>::place(&**term, worker, origins, &rest_offsets, first);
            }
            for (limits, &first) in constraints.distance_limits().zip(of_limits) {
                limits.place(worker, origins, &rest_offsets, first);
            }
            if let Some(long_range) = &constraints.long_range {
                long_range.tethers.place(worker, origins, &tether_offsets);
            }
        });
    }

    /// What was done on the cloth in the frame. Long-range constraints, tethers and the strain limit pull at pins with forces that no energy knows.
    fn work(&self) -> Work {
        let work = self.frame.work();
        let pulls =
            |constraints: &LengthConstraints<R>| constraints.long_range.is_some() || constraints.strain_limit.is_some();
        let is_unknown = self.frame.leads_pins() && self.length_constraints.as_deref().is_some_and(pulls);
        if is_unknown { Work { pins: f64::NAN, ..work } } else { work }
    }

    /// Runs all substeps; returns the profile and the residual.
    fn run_frame(&mut self, context: &Context<'_>, dt: f64) -> Result<(StageTimes, f64), StepError> {
        let substeps = self.settings.substeps as usize;
        let step = dt / f64::from(self.settings.substeps);
        if !self.frame.resolves_contact() {
            return Ok(self.run_substeps(context, step, 0..substeps));
        }
        let (mut sum, mut residual) = (StageTimes::default(), 0.0);
        for s in 0..substeps {
            let stages;
            (stages, residual) = self.run_substeps(context, step, s..s + 1);
            sum += stages;
            let start = context.clock.seconds();
            self.frame.resolve_contact(context, step, s)?;
            sum[Stage::Collide] += context.clock.seconds() - start;
        }
        Ok((sum, residual))
    }

    /// Runs some of the substeps on the team; where contact is resolved, that and the velocities are still to come.
    fn run_substeps(&mut self, context: &Context<'_>, step: f64, substeps: Range<usize>) -> (StageTimes, f64) {
        let resolves_contact = self.frame.resolves_contact();
        let (stages, arrays, kinematics, first_rest_offsets) = self.frame.open(context, step);
        let stages = stages.sewing(self.settings.pull);
        let none = LengthConstraints { long_range: None, strain_limit: None };
        // A sweep gets and sets those of its own elements; shares of elements are the same in every sweep of a term.
        let multipliers = Shared::open(context.team, &mut self.multipliers);
        let frame = FrameLoop::<R, L> {
            context,
            settings: self.settings,
            step,
            resolves_contact,
            stages,
            arrays,
            kinematics,
            first_rest_offsets,
            multipliers,
            first_multipliers: &self.first_multipliers,
            length_constraints: self.length_constraints.as_deref().unwrap_or(&none),
            tether_offsets: &self.tether_offsets,
            limit_lists: self.limit_lists.open(context.team),
            law: PhantomData,
        };
        let outcome = Mutex::new(LoopOutcome::default());
        context.team.run(context.threads, |worker| {
            let of_thread = ThreadLoop::new(&frame, worker).run(substeps.clone());
            if let Ok(mut outcome) = outcome.lock() {
                outcome.add(of_thread, worker.leads());
            }
        });
        let LoopOutcome { stages, residual, limit_rounds } = outcome.into_inner().unwrap_or_default();
        self.limit_rounds = limit_rounds;
        (stages, residual)
    }
}

/// What the threads share during some substeps of a frame.
struct FrameLoop<'a, R: Real, L> {
    context: &'a Context<'a>,
    settings: LoopSettings,
    /// h, in s.
    step: f64,
    /// Whether cloth is kept from cloth after each substep, and velocities follow from that.
    resolves_contact: bool,
    stages: VertexStages<'a, R>,
    arrays: Arrays<'a, R>,
    kinematics: &'a Kinematics,
    /// Where the rest offsets of each term begin, and behind them those of each of the [`LengthConstraints::distance_limits`].
    first_rest_offsets: &'a [usize],
    multipliers: Shared<'a, R>,
    first_multipliers: &'a [usize],
    length_constraints: &'a LengthConstraints<R>,
    tether_offsets: &'a [R],
    limit_lists: SharedLimitLists<'a>,
    law: PhantomData<L>,
}

impl<R: Bundled, L> FrameLoop<'_, R, L> {
    /// The last substep of a frame.
    fn last(&self) -> usize {
        self.settings.substeps as usize - 1
    }

    /// What a sweep over a term works on; with λ, if it keeps it.
    fn sweep(&self, term: usize, iteration: u32, keeps_multipliers: bool) -> Sweep<'_, R> {
        Sweep {
            particles: self.arrays.particles,
            previous: self.arrays.previous,
            origins: self.arrays.origins,
            rest_offsets: self.arrays.rest_offsets,
            first_rest_offset: self.first_rest_offsets[term],
            multipliers: keeps_multipliers.then_some(self.multipliers),
            first_multiplier: self.first_multipliers[term],
            first: iteration == 0,
            step: self.step,
            iterations: self.settings.iterations,
        }
    }

    /// Where the rest offsets of the distance limits begin.
    fn first_limit_offsets(&self) -> &[usize] {
        &self.first_rest_offsets[self.context.terms.len()..]
    }

    /// What a sweep over distance limits works on.
    fn ends(&self, distance_limits: usize) -> Ends<'_, R> {
        Ends {
            particles: self.arrays.particles,
            rest_offsets: self.arrays.rest_offsets,
            first_rest_offset: self.first_limit_offsets()[distance_limits],
        }
    }
}

/// The loop of one thread: all of them go through the stages together.
struct ThreadLoop<'a, R: Real, L> {
    frame: &'a FrameLoop<'a, R, L>,
    worker: &'a Worker<'a>,
    watch: Stopwatch<'a>,
    limit_rounds: usize,
}

impl<'a, R: Bundled, L: ProjectionLaw<R>> ThreadLoop<'a, R, L>
where
    dyn Term: Place<R>,
{
    fn new(frame: &'a FrameLoop<'a, R, L>, worker: &'a Worker<'a>) -> Self {
        let watch = Stopwatch::new(frame.context.clock, worker.leads());
        Self { frame, worker, watch, limit_rounds: 0 }
    }

    /// The loop.
    fn run(mut self, substeps: Range<usize>) -> LoopOutcome {
        let is_last = substeps.end == self.frame.last() + 1;
        for s in substeps {
            self.predict(s);
            for iteration in 0..self.frame.settings.iterations {
                self.solve(s, iteration);
                self.limit_ways();
                self.collide(s);
            }
            self.update(s);
        }
        let residual = if is_last { self.end_frame() } else { 0.0 };
        LoopOutcome { stages: self.watch.times(), residual, limit_rounds: self.limit_rounds }
    }

    /// **Predict.** Every vertex where it would go alone; pins where their paths lead.
    fn predict(&mut self, substep: usize) {
        let frame = self.frame;
        frame.stages.predict(self.worker, &frame.arrays, frame.kinematics.pin_poses(substep));
        self.worker.barrier();
        self.watch.lap(Stage::Predict);
    }

    /// **Solve.** One iteration: a sweep over the constraints of each kind.
    fn solve(&mut self, substep: usize, iteration: u32) {
        let (frame, worker) = (self.frame, self.worker);
        // The two sets of long-range constraints take turns.
        for (index, constraints) in frame.length_constraints.long_range_set(substep % 2) {
            constraints.project(worker, &frame.ends(index));
        }
        // Multipliers are needed by later iterations, and by the residual at the end of the frame.
        let keeps_multipliers = frame.settings.iterations > 1 || substep == frame.last();
        for (t, term) in frame.context.terms.iter().enumerate() {
            L::project(&**term, worker, &frame.sweep(t, iteration, keeps_multipliers));
        }
        if let Some(long_range) = &frame.length_constraints.long_range {
            let pin_poses = frame.kinematics.pin_poses(substep);
            long_range.tethers.pull(worker, &frame.arrays.particles, pin_poses, frame.tether_offsets);
        }
        self.limit_strain(substep == frame.last() && iteration + 1 == frame.settings.iterations);
        self.watch.lap(Stage::Solve);
    }

    /// Projects edges to the strain limit, where it is a part of the material; holds it before contact is resolved for the last time.
    fn limit_strain(&mut self, is_last: bool) {
        let Some(limit) = &self.frame.length_constraints.strain_limit else { return };
        if is_last && self.frame.resolves_contact {
            self.hold_strain_limit();
        } else if limit.is_material {
            let index = self.frame.length_constraints.strain_limit_index();
            limit.edges.project(self.worker, &self.frame.ends(index));
        }
    }

    /// Brings all edges within the strain limit.
    fn hold_strain_limit(&mut self) {
        let (frame, constraints) = (self.frame, self.frame.length_constraints);
        if let Some(limit) = &constraints.strain_limit {
            let ends = frame.ends(constraints.strain_limit_index());
            self.limit_rounds = limit.hold(self.worker, &ends, &frame.limit_lists);
        }
    }

    /// While cloth is sewn: no vertex goes farther in a substep than at the speed of the pull.
    fn limit_ways(&mut self) {
        let frame = self.frame;
        if let Some(pull) = frame.settings.pull.filter(|pull| pull.speed.is_finite()) {
            frame.stages.limit_ways(self.worker, &frame.arrays, pull.speed * frame.step);
        }
    }

    /// **Collide.** Vertices and midpoints of edges out of the colliders.
    fn collide(&mut self, substep: usize) {
        let frame = self.frame;
        let colliders = frame.kinematics.colliders(substep);
        if !colliders.is_empty() {
            frame.stages.collide(self.worker, &frame.arrays, colliders);
            self.watch.lap(Stage::Collide);
        }
    }

    /// **Update.** Velocities from positions, unless contact is still to be resolved.
    fn update(&mut self, substep: usize) {
        let frame = self.frame;
        if !frame.resolves_contact {
            frame.stages.update(self.worker, &frame.arrays);
            frame.stages.book(self.worker, &frame.arrays, frame.kinematics.pin_poses(substep));
            self.worker.barrier();
            self.watch.lap(Stage::Update);
        }
    }

    /// After the last substep: holds the strain limit, which changes no velocity then, and measures the residual.
    fn end_frame(&mut self) -> f64 {
        let frame = self.frame;
        if frame.length_constraints.strain_limit.is_some() && !frame.resolves_contact {
            self.hold_strain_limit();
            self.watch.lap(Stage::Solve);
            self.collide(frame.last());
        }
        let mut residual: f64 = 0.0;
        for (t, term) in frame.context.terms.iter().enumerate() {
            let sweep = frame.sweep(t, frame.settings.iterations, true);
            residual = residual.max(L::residual(&**term, self.worker, &sweep));
        }
        self.watch.lap(Stage::Solve);
        residual
    }
}

/// What the threads say of some substeps.
#[derive(Clone, Copy, Debug, Default)]
struct LoopOutcome {
    stages: StageTimes,
    residual: f64,
    limit_rounds: usize,
}

impl LoopOutcome {
    /// Joins what one thread says; the profile is the leader's.
    fn add(&mut self, of_thread: Self, leads: bool) {
        // A maximum does not depend on the order in which the threads come.
        self.residual = self.residual.max(of_thread.residual);
        if leads {
            (self.stages, self.limit_rounds) = (of_thread.stages, of_thread.limit_rounds);
        }
    }
}
