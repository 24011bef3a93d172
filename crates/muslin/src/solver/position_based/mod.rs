//! The step that PBD and XPBD share; they differ in the law of one projection.
//!
//! ```text
//! for each substep
//!     predict    forces, then every vertex where it would go alone; pins where their paths lead
//!     solve      iterations × terms × colours of projections; long-range constraints before them and tethers after them, where they are asked for (`long_range.rs`)
//!     collide    vertices, and the middles of edges, out of the colliders, with friction (after each iteration)
//!     update     velocities from positions
//! ```
//!
//! With a limit of strain, edges beyond it are projected back to it: after the last substep as often as it takes, or as often as `DistanceLimits::hold` allows, and in every substep
//! where it limits the material and not the solver. What is moved then has its velocity already: so many corrections, divided by a substep, would be
//! speeds that nothing has given it, and with few substeps the sheet explodes. Only where cloth is kept from cloth, which has the last word, they come before.
//!
//! The whole frame is one run of the team ([`Team::run`](crate::parallel::Team::run)), with a barrier after every stage,
//! after every colour of the sweeps, and between the two passes of the wind.
#![allow(unsafe_code, reason = "opens the multipliers to the team")]

pub(crate) mod distance_limits;
pub(crate) mod long_range;
pub(crate) mod particle;
pub mod pbd;
pub(crate) mod substep;
pub(crate) mod sweep;
pub(crate) mod tethers;
pub(crate) mod vertices;
pub mod xpbd;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::math::Real;
use crate::model::Model;
use crate::parallel::{Shared, Worker};
use crate::parameter::{Kind, Parameter, Setting, Settings};
use crate::solver::position_based::distance_limits::{DistanceLimit, DistanceLimits, Ends};
use crate::solver::position_based::long_range::LongRange;
use crate::solver::position_based::particle::Bundled;
use crate::solver::position_based::sweep::{Place, Sweep};
use crate::solver::position_based::vertices::Frame;
use crate::solver::{Context, Solver, Stages, StepError, StepReport, Stopwatch, Term, count};
use crate::state::State;

/// How a frame is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) substeps: u32,
    pub(crate) iterations: u32,
}

impl Plan {
    /// From a solver's settings, whose ranges the scene has checked.
    fn read(settings: &Settings) -> Self {
        Self { substeps: count(settings, "substeps"), iterations: count(settings, "iterations") }
    }
}

/// What a solver does beyond sweeps over the terms of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Help {
    /// Long-range constraints and tethers.
    pub(crate) long_range: bool,
    /// How much longer than the cloth they are, as a part, because it stretches.
    pub(crate) give: f64,
    /// The strain, either way, that no edge is left with.
    pub(crate) max_strain: Option<f64>,
}

impl Help {
    /// From a solver's settings.
    pub(crate) fn read(settings: &Settings) -> Self {
        Self {
            long_range: settings.choice(LONG_RANGE.name) == Some("on"),
            give: 0.0,
            max_strain: settings.number(MAX_STRAIN.name),
        }
    }
}

pub(crate) const LONG_RANGE: Parameter = Parameter {
    name: "long_range",
    unit: "",
    kind: Kind::Choice(&["off", "on"]),
    default: Some(Setting::Choice("off")),
    meaning: "on: hold flat-cut cloth together over long ways too, by ropes and tethers; for cloth that hardly stretches",
};

pub(crate) const MAX_STRAIN: Parameter = Parameter {
    name: "max_strain",
    unit: "",
    kind: Kind::Positive,
    default: None,
    meaning: "strain, either way, that edges are pushed back to, whatever the material; default: no limit",
};

/// What is aimed at is a little below what was asked for.
const LIMIT_SHARE: f64 = 0.95;
/// After fewer rounds than these, a limit is held with ease.
const EASY_ROUNDS: usize = 6;
/// Of the sweeps that hold the limit, where they do not change velocities; see ARCHITECTURE.md for what others cost.
const LIMIT_RELAXATION: f64 = 1.95;

/// What follows from a [`Help`] and the model.
struct Helpers<R: Real> {
    reach: Option<LongRange<R>>,
    limit: Option<Limit<R>>,
}

/// Every edge, within the limit.
struct Limit<R: Real> {
    edges: DistanceLimits<R>,
    /// Whether it is a part of the material, and holds in every substep.
    is_material: bool,
    /// What an edge may be left beyond it, in m.
    tolerance: f64,
}

impl<R: Bundled> Helpers<R> {
    fn new(help: Help, model: &Model, is_wide: bool) -> Self {
        let reach = help.long_range.then(|| LongRange::new(model, help.give, is_wide));
        let limit = help.max_strain.map(|strain| {
            // Cloth that is held together over long ways hardly stretches, and what is beyond the limit is what the sweeps have left. Other cloth may
            // stretch as it likes, and the limit is a material: it has to act on velocities too, and over-relaxed it would feed them.
            let is_material = help.give > 0.0 || reach.as_ref().is_none_or(|reach| reach.len() == 0);
            // Where cloth is kept from cloth or from meshes, the limit comes before velocities too.
            let separates = model.self_contact.is_some() || !model.bodies.is_empty();
            let relaxation = if is_material || separates { 1.0 } else { LIMIT_RELAXATION };
            let aim = LIMIT_SHARE * strain;
            let band = |&(ends, length): &([u32; 2], f64)| DistanceLimit {
                ends,
                low: (1.0 - aim) * length,
                high: (1.0 + aim) * length,
            };
            let distance_limits: Vec<DistanceLimit> = model.edges.iter().map(band).collect();
            let shortest = model.edges.iter().map(|&(_, length)| length).fold(f64::INFINITY, f64::min);
            Limit {
                edges: DistanceLimits::new(model.masses.len(), &distance_limits, relaxation, is_wide),
                is_material,
                tolerance: (1.0 - LIMIT_SHARE) * strain * shortest,
            }
        });
        Self { reach, limit }
    }

    /// The long-range constraints, and after them the limit.
    fn distance_limits(&self) -> impl Iterator<Item = &DistanceLimits<R>> {
        let long_range_constraints = self.reach.iter().flat_map(|reach| reach.long_range_constraints.iter().flatten());
        long_range_constraints.chain(self.limit.iter().map(|limit| &limit.edges))
    }

    /// Whether all is side by side as a team wants it.
    fn is_for(&self, is_wide: bool) -> bool {
        self.distance_limits().all(|distance_limits| distance_limits.is_for(is_wide))
            && self.reach.as_ref().is_none_or(|reach| reach.tethers.is_for(is_wide))
    }
}

/// What a solver does with a term: plain functions, so that a sweep is one virtual call.
#[derive(Clone, Copy)]
pub(crate) struct Sweeps<R: Real> {
    /// Numbers that the multiplier of one element takes to store.
    pub(crate) parts: fn(&(dyn Term + 'static)) -> usize,
    /// One sweep over the elements.
    pub(crate) project: fn(&(dyn Term + 'static), &Worker<'_>, &Sweep<'_, R>),
    /// The largest move that another sweep would make.
    pub(crate) residual: fn(&(dyn Term + 'static), &Worker<'_>, &Sweep<'_, R>) -> f64,
}

/// A position-based solver: its law, its settings and its memory.
pub(crate) struct PositionBased<R: Real> {
    sweeps: Sweeps<R>,
    plan: Plan,
    frame: Frame<R>,
    /// λ of all terms, one after the other, and where each begins.
    multipliers: Vec<R>,
    first_multipliers: Vec<usize>,
    help: Help,
    /// Made for the first frame.
    helpers: Option<Arc<Helpers<R>>>,
    tether_arms: Vec<R>,
    holding: distance_limits::Memory,
    /// Rounds that it took to hold the limit, at the end of the last frame.
    limit_rounds: usize,
}

/// A solver with its sweeps, in the precision that the settings ask for.
pub(crate) fn build(settings: &Settings, single: Sweeps<f32>, double: Sweeps<f64>) -> Box<dyn Solver> {
    let (plan, help) = (Plan::read(settings), Help::read(settings));
    match settings.choice("precision") {
        Some("f64") => Box::new(PositionBased::new(double, plan, help)),
        _ => Box::new(PositionBased::new(single, plan, help)),
    }
}

impl<R: Real> Solver for PositionBased<R>
where
    R: Bundled,
    dyn Term: Place<R>,
{
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let start = context.clock.seconds();
        self.load(context, state, dt);
        let loaded = context.clock.seconds();
        let (mut stages, residual) = self.run(context, dt)?;
        let solved = context.clock.seconds();
        self.frame.store(context, state, dt)?;
        stages.update += (loaded - start) + (context.clock.seconds() - solved);
        let Plan { substeps, iterations } = self.plan;
        Ok(StepReport {
            substeps,
            iterations: substeps.saturating_mul(iterations),
            residual,
            contacts: self.frame.contacts(),
            contact_stats: self.frame.contact_stats(),
            stages,
            stable_step: None,
            quality: None,
        })
    }
}

impl<R: Real> PositionBased<R>
where
    R: Bundled,
    dyn Term: Place<R>,
{
    pub(crate) fn new(sweeps: Sweeps<R>, plan: Plan, help: Help) -> Self {
        Self {
            sweeps,
            plan,
            frame: Frame::default(),
            multipliers: Vec::new(),
            first_multipliers: Vec::new(),
            help,
            helpers: None,
            tether_arms: Vec::new(),
            holding: distance_limits::Memory::default(),
            limit_rounds: 0,
        }
    }

    /// Changes how many substeps the next frame has.
    pub(crate) fn set_substeps(&mut self, substeps: u32) {
        self.plan.substeps = substeps;
    }

    /// Takes over what another one of the same settings has made of the same model.
    pub(crate) fn share(&mut self, other: &Self) {
        self.helpers.clone_from(&other.helpers);
    }

    /// Number of long-range constraints and tethers, once there was a frame.
    pub(crate) fn long_range_count(&self) -> usize {
        let reach = self.helpers.as_ref().and_then(|helpers| helpers.reach.as_ref());
        reach.map_or(0, LongRange::len)
    }

    /// Whether the limit of strain was held with ease in the last frame.
    pub(crate) fn is_at_ease(&self) -> bool {
        self.limit_rounds < EASY_ROUNDS
    }

    fn load(&mut self, context: &Context<'_>, state: &State, dt: f64) {
        let (model, is_wide) = (context.model, context.team.is_wide());
        self.helpers.take_if(|helpers| !helpers.is_for(is_wide));
        let helpers = self.helpers.get_or_insert_with(|| Arc::new(Helpers::new(self.help, model, is_wide)));
        self.tether_arms.resize(helpers.reach.as_ref().map_or(0, |reach| reach.tethers.arm_count()), R::ZERO);
        if let Some(limit) = &helpers.limit {
            self.holding.fit(&limit.edges);
        }
        let terms = context.terms.iter().map(|term| Place::<R>::arm_count(&**term, is_wide));
        let rest_offset_counts = terms.chain(helpers.distance_limits().map(DistanceLimits::arm_count));
        self.frame.load(context, state, (dt, self.plan.substeps), rest_offset_counts);
        self.first_multipliers.clear();
        let mut multipliers = 0;
        for term in context.terms {
            self.first_multipliers.push(multipliers);
            multipliers += (self.sweeps.parts)(&**term) * term.element_count();
        }
        self.multipliers.resize(multipliers, R::ZERO);
    }

    /// Runs all substeps; returns the profile and the residual.
    fn run(&mut self, context: &Context<'_>, dt: f64) -> Result<(Stages, f64), StepError> {
        let substeps = self.plan.substeps as usize;
        let step = dt / f64::from(self.plan.substeps);
        if !self.frame.separates() {
            return Ok(self.run_some(context, step, 0..substeps));
        }
        let (mut sum, mut residual) = (Stages::default(), 0.0);
        for s in 0..substeps {
            let stages;
            (stages, residual) = self.run_some(context, step, s..s + 1);
            sum.add(&stages);
            let start = context.clock.seconds();
            self.frame.separate(context, step, s)?;
            sum.collide += context.clock.seconds() - start;
        }
        Ok((sum, residual))
    }

    /// Runs some of the substeps; where cloth is kept from cloth, that and the velocities are still to come.
    fn run_some(&mut self, context: &Context<'_>, step: f64, range: Range<usize>) -> (Stages, f64) {
        let (model, sweeps) = (context.model, self.sweeps);
        let Plan { substeps, iterations } = self.plan;
        let (is_first, is_last) = (range.start == 0, range.end == substeps as usize);
        let separates = self.frame.separates();
        let (substep, arrays, kinematics, first_rest_offsets) = self.frame.open(model, step);
        let first_multipliers = &self.first_multipliers;
        // SAFETY: a sweep gets and sets those of its own elements; shares of elements are the same in every sweep of a term.
        let multipliers = unsafe { Shared::new(&mut self.multipliers) };
        // SAFETY: set at the start of a frame, got after a barrier.
        let tether_arms = unsafe { Shared::new(&mut self.tether_arms) };
        let none = Helpers { reach: None, limit: None };
        let helpers = self.helpers.as_deref().unwrap_or(&none);
        let held = self.holding.open();
        let help_arms = &first_rest_offsets[context.terms.len()..];
        let rope_counts =
            helpers.reach.as_ref().map_or([0; 2], |reach| [0, 1].map(|set| reach.long_range_constraints[set].len()));
        let rope_count = rope_counts[0] + rope_counts[1];
        let outcome = Mutex::new(Outcome::default());

        context.team.run(context.threads, |worker| {
            let mut stages = Stages::default();
            let mut watch = Stopwatch::new(context.clock, worker.leads());
            let help = |distance_limits: usize| Ends {
                particles: arrays.particles,
                rest_offsets: arrays.rest_offsets,
                first_arm: help_arms[distance_limits],
            };
            let sweep = |term: usize, iteration: u32, keep: bool| Sweep {
                particles: arrays.particles,
                previous: arrays.previous,
                origins: substep.origins,
                rest_offsets: arrays.rest_offsets,
                first_arm: first_rest_offsets[term],
                multipliers: keep.then_some(multipliers),
                first_multiplier: first_multipliers[term],
                first: iteration == 0,
                step,
                iterations,
            };
            let mut limit_rounds = 0;
            let hold = |limit: &Limit<R>| limit.edges.hold(worker, &help(rope_count), &held, limit.tolerance);
            if is_first {
                for (term, &first) in context.terms.iter().zip(first_rest_offsets) {
                    Place::<R>::place(&**term, worker, substep.origins, &arrays.rest_offsets, first);
                }
                for (distance_limits, &first) in helpers.distance_limits().zip(help_arms) {
                    distance_limits.place(worker, substep.origins, &arrays.rest_offsets, first);
                }
                if let Some(reach) = &helpers.reach {
                    reach.tethers.place(worker, substep.origins, &tether_arms);
                }
                worker.barrier();
                watch.lap(&mut stages.update);
            }
            for s in range.clone() {
                let (pin_poses, obstacles) = (kinematics.pin_poses(s), kinematics.obstacles(s));
                // Multipliers are needed by later iterations, and by the residual at the end of the frame.
                let keep = iterations > 1 || s + 1 == substeps as usize;

                substep.predict(worker, &arrays, pin_poses);
                worker.barrier();
                watch.lap(&mut stages.predict);
                for iteration in 0..iterations {
                    let set = s % 2;
                    let long_range_constraints =
                        helpers.reach.iter().flat_map(|reach| &reach.long_range_constraints[set]);
                    for (t, long_range_constraint) in (set * rope_counts[0]..).zip(long_range_constraints) {
                        long_range_constraint.project(worker, &help(t));
                    }
                    for (t, term) in context.terms.iter().enumerate() {
                        (sweeps.project)(&**term, worker, &sweep(t, iteration, keep));
                    }
                    if let Some(reach) = &helpers.reach {
                        reach.tethers.pull(worker, &arrays.particles, pin_poses, &tether_arms);
                    }
                    if let Some(limit) = &helpers.limit {
                        if s + 1 == substeps as usize && iteration + 1 == iterations && separates {
                            limit_rounds = hold(limit);
                        } else if limit.is_material {
                            limit.edges.project(worker, &help(rope_count));
                        }
                    }
                    watch.lap(&mut stages.solve);
                    if !obstacles.is_empty() {
                        substep.collide(worker, &arrays, obstacles);
                        watch.lap(&mut stages.collide);
                    }
                }
                if !separates {
                    substep.update(worker, &arrays);
                    worker.barrier();
                    watch.lap(&mut stages.update);
                }
            }
            if let Some(limit) = &helpers.limit
                && is_last
                && !separates
            {
                limit_rounds = hold(limit);
                watch.lap(&mut stages.solve);
                let obstacles = kinematics.obstacles(substeps as usize - 1);
                if !obstacles.is_empty() {
                    substep.collide(worker, &arrays, obstacles);
                    watch.lap(&mut stages.collide);
                }
            }
            let terms = if is_last { context.terms } else { &[] };
            let residual = (terms.iter().enumerate())
                .map(|(t, term)| (sweeps.residual)(&**term, worker, &sweep(t, iterations, true)))
                .fold(0.0, f64::max);
            watch.lap(&mut stages.solve);
            if let Ok(mut outcome) = outcome.lock() {
                // A maximum does not depend on the order in which the threads come.
                outcome.residual = outcome.residual.max(residual);
                if worker.leads() {
                    (outcome.stages, outcome.limit_rounds) = (stages, limit_rounds);
                }
            }
        });
        let Outcome { stages, residual, limit_rounds } = outcome.into_inner().unwrap_or_default();
        self.limit_rounds = limit_rounds;
        (stages, residual)
    }
}

/// What the threads say of some substeps.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    stages: Stages,
    residual: f64,
    limit_rounds: usize,
}
