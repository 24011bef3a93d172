//! The step that PBD and XPBD share; they differ in the law of one projection.
//!
//! ```text
//! for each substep
//!     predict    forces, then every vertex where it would go alone; pins where their paths lead
//!     solve      iterations × terms × colours of projections
//!     collide    vertices, and the middles of edges, out of the colliders, with friction (after each iteration)
//!     update     velocities from positions
//! ```
//!
//! The whole frame is one run of the team ([`Team::run`](crate::parallel::Team::run)), with a barrier after every stage,
//! after every colour of the sweeps, and between the two passes of the wind.
#![allow(unsafe_code, reason = "opens the multipliers to the team")]

use std::ops::Range;
use std::sync::Mutex;

use super::frame::Frame;
use super::sweep::{Place, Sweep};
use super::{Context, Solver, Stages, StepError, StepReport, Stopwatch, count};
use crate::energy::Term;
use crate::math::Real;
use crate::model::Model;
use crate::parallel::{Shared, Worker};
use crate::parameter::Settings;
use crate::state::State;

/// How a frame is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) substeps: u32,
    pub(super) iterations: u32,
}

impl Plan {
    /// From a solver's settings, whose ranges the scene has checked.
    fn read(settings: &Settings) -> Self {
        Self { substeps: count(settings, "substeps"), iterations: count(settings, "iterations") }
    }
}

/// What a solver does with a term: plain functions, so that a sweep is one virtual call.
#[derive(Clone, Copy)]
pub(super) struct Sweeps<R: Real> {
    /// Numbers that the multiplier of one element takes to store.
    pub(super) parts: fn(&(dyn Term + 'static)) -> usize,
    /// One sweep over the elements.
    pub(super) project: fn(&(dyn Term + 'static), &Worker<'_>, &Sweep<'_, R>),
    /// The largest move that another sweep would make.
    pub(super) residual: fn(&(dyn Term + 'static), &Worker<'_>, &Sweep<'_, R>) -> f64,
}

/// A position-based solver: its law, its settings and its memory.
pub(super) struct PositionBased<R: Real> {
    sweeps: Sweeps<R>,
    plan: Plan,
    frame: Frame<R>,
    /// λ of all terms, one after the other, and where each begins.
    multipliers: Vec<R>,
    first_multipliers: Vec<usize>,
}

/// A solver with its sweeps, in the precision that the settings ask for.
pub(super) fn build(settings: &Settings, single: Sweeps<f32>, double: Sweeps<f64>) -> Box<dyn Solver> {
    let plan = Plan::read(settings);
    match settings.choice("precision") {
        Some("f64") => Box::new(PositionBased::new(double, plan)),
        _ => Box::new(PositionBased::new(single, plan)),
    }
}

impl<R: Real> Solver for PositionBased<R>
where
    dyn Term: Place<R>,
{
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let start = context.clock.seconds();
        self.load(context.model, state, dt, context.team.is_wide());
        let loaded = context.clock.seconds();
        let (mut stages, residual) = self.run(context, dt)?;
        let solved = context.clock.seconds();
        if let Some(vertex) = self.frame.non_finite() {
            return Err(StepError::non_finite(context.model, vertex));
        }
        self.frame.store(state, dt);
        stages.update += (loaded - start) + (context.clock.seconds() - solved);
        let Plan { substeps, iterations } = self.plan;
        Ok(StepReport {
            substeps,
            iterations: substeps.saturating_mul(iterations),
            residual,
            contacts: self.frame.contacts(),
            restraint: self.frame.restraint(),
            stages,
            stable_step: None,
        })
    }
}

impl<R: Real> PositionBased<R>
where
    dyn Term: Place<R>,
{
    pub(super) fn new(sweeps: Sweeps<R>, plan: Plan) -> Self {
        Self { sweeps, plan, frame: Frame::default(), multipliers: Vec::new(), first_multipliers: Vec::new() }
    }

    fn load(&mut self, model: &Model, state: &State, dt: f64, is_wide: bool) {
        let arm_counts = model.terms.iter().map(|term| Place::<R>::arm_count(&**term, is_wide));
        self.frame.load(model, state, (dt, self.plan.substeps), arm_counts);
        self.first_multipliers.clear();
        let mut multipliers = 0;
        for term in &model.terms {
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
        let (substep, arrays, script, first_arms) = self.frame.open(model, step);
        let first_multipliers = &self.first_multipliers;
        // SAFETY: a sweep gets and sets those of its own elements; shares of elements are the same in every sweep of a term.
        let multipliers = unsafe { Shared::new(&mut self.multipliers) };
        let outcome = Mutex::new((Stages::default(), 0.0_f64));

        context.team.run(context.threads, |worker| {
            let mut stages = Stages::default();
            let mut watch = Stopwatch::new(context.clock, worker.leads());
            let sweep = |term: usize, iteration: u32, keep: bool| Sweep {
                particles: arrays.particles,
                previous: arrays.previous,
                origins: substep.origins,
                arms: arrays.arms,
                first_arm: first_arms[term],
                multipliers: keep.then_some(multipliers),
                first_multiplier: first_multipliers[term],
                first: iteration == 0,
                step,
                iterations,
            };
            if is_first {
                for (term, &first) in model.terms.iter().zip(first_arms) {
                    Place::<R>::place(&**term, worker, substep.origins, &arrays.arms, first);
                }
                worker.barrier();
                watch.lap(&mut stages.update);
            }
            for s in range.clone() {
                let (pin_poses, obstacles) = (script.pin_poses(s), script.obstacles(s));
                // Multipliers are needed by later iterations, and by the residual at the end of the frame.
                let keep = iterations > 1 || s + 1 == substeps as usize;

                substep.predict(worker, &arrays, pin_poses);
                worker.barrier();
                watch.lap(&mut stages.predict);
                for iteration in 0..iterations {
                    for (t, term) in model.terms.iter().enumerate() {
                        (sweeps.project)(&**term, worker, &sweep(t, iteration, keep));
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
            let terms = if is_last { &model.terms[..] } else { &[] };
            let residual = (terms.iter().enumerate())
                .map(|(t, term)| (sweeps.residual)(&**term, worker, &sweep(t, iterations, true)))
                .fold(0.0, f64::max);
            watch.lap(&mut stages.solve);
            if let Ok(mut outcome) = outcome.lock() {
                // A maximum does not depend on the order in which the threads come.
                outcome.1 = outcome.1.max(residual);
                if worker.leads() {
                    outcome.0 = stages;
                }
            }
        });
        outcome.into_inner().unwrap_or_default()
    }
}
