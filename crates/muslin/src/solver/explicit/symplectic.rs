//! Symplectic Euler in single precision: forces on the frame of the position-based solvers, several elements at a time.
//!
//! ```text
//! v⁺ = vⁿ + h w (f_ext − ∂E/∂x(xⁿ)),   x⁺ = xⁿ + h v⁺
//! ```
//!
//! Two passes make a substep: over the elements, which write what they do to each of their vertices into a place of its own, and over the
//! vertices, which add up what is written for them and move. Nothing is coloured, two barriers are enough, and each vertex is
//! moved once.
//!
//! The stretch of a stiff cloth sets the step, h < 2/ω, and its bending is slower by orders of magnitude. So a quadratic term
//! (`isometric`), whose fastest frequency ω′ is the same in every state, acts only in every n-th substep of a frame and in its last, with the force of all since, while n h ω′ stays below 1/16: impulses, as in
//! molecular dynamics [Grubmüller et al. 1991; Tuckerman, Berne, Martyna 1992], which keep the scheme symplectic. What they leave
//! is a ripple of the velocity of n h w f.
//!
//! This is `explicit` with `scheme = "symplectic"` and `precision = "f32"`, its defaults.

use std::ops::Range;
use std::sync::Mutex;

use crate::contact::kinematics::Kinematics;
use crate::math::{F32x4, Scalar};
use crate::model::Cloth;
use crate::parallel::{Shared, Worker};
use crate::solver::adaptive::Paced;
use crate::solver::explicit::force_buffers;
use crate::solver::explicit::force_buffers::{ForceBuffer, Rows, Vertices};
use crate::solver::explicit::stability::Stability;
use crate::solver::explicit::{diverged, hold_at, stable_substeps};
use crate::solver::position_based::particle::{Moving, Particle};
use crate::solver::position_based::substep::{Arrays, join, part};
use crate::solver::position_based::vertices::Frame;
use crate::solver::substep_loop::Motion;
use crate::solver::vertex_stages::{VertexStages, VertexStore};
use crate::solver::{Context, Solver, Stage, StageTimes, StepError, StepReport, Stopwatch};
use crate::state::State;

/// The largest n h ω′ of a term that does not act in every substep.
const SLOW: f64 = 1.0 / 16.0;

/// The solver and its memory.
pub(crate) struct Symplectic {
    frame: Frame<f32>,
    substeps: u32,
    pulls: Vec<Pull>,
    /// The forces of the terms on the vertices, in N, where their rows say.
    forces: Vec<Particle<f32>>,
    /// The vertices as the elements see them: a copy of what the frame keeps apart.
    moving: Vec<Moving>,
    spectrum: Stability,
    /// Positions and inverse masses at the start of a frame, for the spectrum.
    motion: Motion,
}

/// Forces of one term.
struct Pull {
    buffer: Box<dyn ForceBuffer>,
    /// Which of its forces each vertex feels.
    rows: Rows,
    /// It acts in every `stride`-th substep.
    stride: u32,
}

impl Pull {
    /// For how many substeps it acts at the end of the `done`-th of a frame: those since it last did, at each stride and at the end.
    fn weight(&self, done: usize, substeps: usize) -> u32 {
        let since = (done % self.stride as usize) as u32;
        if since == 0 {
            self.stride
        } else if done == substeps {
            since
        } else {
            0
        }
    }
}

impl Symplectic {
    /// With so many substeps in a frame.
    pub(crate) fn new(substeps: u32) -> Self {
        Self {
            frame: Frame::default(),
            substeps,
            pulls: Vec::new(),
            forces: Vec::new(),
            moving: Vec::new(),
            spectrum: Stability::default(),
            motion: Motion::default(),
        }
    }

    /// Rows of the terms, and in which substeps each acts. From the initial state, so that a run that goes on has the same.
    fn prepare(&mut self, context: &Context<'_>, step: f64) {
        let model = context.model;
        self.motion.positions.clone_from(&model.initial_positions);
        self.motion.inverse_masses.clone_from(&model.inverse_masses);
        let mut first = force_buffers::NONE + 1;
        for (t, term) in context.terms.iter().enumerate() {
            let (buffer, rows) = term.force_buffer(first, context.team.is_wide());
            first = rows.end();
            let stride = if term.is_quadratic() { self.stride(context, t, step) } else { 1 };
            self.pulls.push(Pull { buffer, rows, stride });
        }
        self.forces.resize(first as usize, Particle::default());
    }

    /// For how many substeps a quadratic term can act at once.
    fn stride(&self, context: &Context<'_>, term: usize, step: f64) -> u32 {
        // 2/ω′ is the limit of the term alone.
        let limit = Stability::of_term(term).measure(context, &self.motion, step).symplectic_limit();
        (0.5 * SLOW * limit / step).min(f64::from(self.substeps)).max(1.0) as u32
    }

    /// The longest stable step, in s, around the state.
    fn limit(&mut self, context: &Context<'_>, state: &State, step: f64) -> f64 {
        hold_at(&mut self.motion, context.model, state);
        self.spectrum.measure(context, &self.motion, step).symplectic_limit()
    }
}

impl Paced for Symplectic {
    fn set_substeps(&mut self, substeps: u32) {
        if substeps != self.substeps {
            self.substeps = substeps;
            // In which substeps a term acts follows from their length.
            self.pulls.clear();
        }
    }

    fn wanted_substeps(&mut self, context: &Context<'_>, state: &State, dt: f64) -> u32 {
        stable_substeps(dt, self.limit(context, state, dt))
    }

    fn leaves_true_strain(&self) -> bool {
        true
    }
}

impl Solver for Symplectic {
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let start = context.clock.seconds();
        let step = dt / f64::from(self.substeps);
        if self.pulls.len() != context.terms.len() {
            self.prepare(context, step);
        }
        let limit = self.limit(context, state, step);
        let rest_offset_counts = self.pulls.iter().map(|pull| pull.buffer.rest_offset_count());
        self.frame.load(context, state, (dt, self.substeps), rest_offset_counts);
        self.moving.resize(state.positions.len(), Moving::default());
        let (origins, rest_offsets, first_rest_offsets) = self.frame.open_rest_offsets(context.team);
        context.team.run(context.threads, |worker| {
            for (pull, &first) in self.pulls.iter().zip(first_rest_offsets) {
                pull.buffer.place(worker, origins, &rest_offsets, first);
            }
        });
        let loaded = context.clock.seconds();
        let mut stages = self.run(context, step, limit)?;
        let solved = context.clock.seconds();
        if step > limit {
            let leaps = diverged(context.model, |vertex| self.frame.velocity(vertex), step);
            if let Some(vertex) = leaps.or_else(|| self.frame.non_finite(0..state.positions.len())) {
                return Err(StepError::unstable(context.model, vertex, step, limit, self.substeps));
            }
        }
        self.frame.store(context, state, dt)?;
        stages[Stage::Update] += (loaded - start) + (context.clock.seconds() - solved);
        Ok(StepReport {
            substeps: self.substeps,
            iterations: self.substeps,
            residual: 0.0,
            contacts: self.frame.contacts(),
            contact_stats: self.frame.contact_stats(),
            stages,
            stable_step: limit.is_finite().then_some(limit),
            quality: None,
            work: self.frame.work(),
        })
    }
}

impl Symplectic {
    /// Runs all substeps, whose stability has a limit in s; returns the profile.
    fn run(&mut self, context: &Context<'_>, step: f64, limit: f64) -> Result<StageTimes, StepError> {
        let substeps = self.substeps as usize;
        if !self.frame.resolves_contact() {
            return Ok(self.run_substeps(context, step, 0..substeps));
        }
        let mut sum = StageTimes::default();
        for s in 0..substeps {
            sum += self.run_substeps(context, step, s..s + 1);
            // Contact would cut what leaps, and hide it.
            if step > limit
                && let Some(vertex) = diverged(context.model, |vertex| self.frame.velocity(vertex), step)
            {
                return Err(StepError::unstable(context.model, vertex, step, limit, self.substeps));
            }
            let start = context.clock.seconds();
            self.frame.resolve_contact(context, step, s)?;
            sum[Stage::Collide] += context.clock.seconds() - start;
        }
        Ok(sum)
    }

    /// Runs some of the substeps on the team; where contact is resolved, that is still to come.
    fn run_substeps(&mut self, context: &Context<'_>, step: f64, substeps: Range<usize>) -> StageTimes {
        let resolves_contact = self.frame.resolves_contact();
        let (stages, arrays, kinematics, first_rest_offsets) = self.frame.open(context, step);
        // While only pins act on the vertices beside the forces, nobody asks for displacements and velocities apart.
        let is_together = !resolves_contact
            && !arrays.books().are_open()
            && !stages.has_wind()
            && !stages.has_forces()
            && substeps.clone().all(|s| kinematics.colliders(s).is_empty());
        let frame = ForceLoop {
            context,
            step,
            substeps: self.substeps as usize,
            stages,
            arrays,
            kinematics,
            pulls: &self.pulls,
            first_rest_offsets,
            // In the pass over the elements a place is set by the worker that has its element; in that over the vertices, after
            // a barrier, places are only read.
            forces: Shared::open(context.team, &mut self.forces),
            // Each pass gets and sets those of its share of the vertices, but the one over the elements, which gets all and stands
            // between two barriers.
            motion: Shared::open(context.team, &mut self.moving),
            is_together,
            resolves_contact,
        };
        let outcome = Mutex::new(StageTimes::default());
        context.team.run(context.threads, |worker| {
            let times = frame.run(worker, substeps.clone());
            if worker.leads()
                && let Ok(mut outcome) = outcome.lock()
            {
                *outcome = times;
            }
        });
        outcome.into_inner().unwrap_or_default()
    }
}

/// Substeps of a frame, as the threads go through them together.
struct ForceLoop<'a> {
    context: &'a Context<'a>,
    /// h, in s.
    step: f64,
    /// Of the whole frame.
    substeps: usize,
    stages: VertexStages<'a, f32>,
    arrays: Arrays<'a, f32>,
    kinematics: &'a Kinematics,
    pulls: &'a [Pull],
    /// Where the rest offsets of each pull begin.
    first_rest_offsets: &'a [usize],
    forces: Shared<'a, Particle<f32>>,
    motion: Shared<'a, Moving>,
    /// Whether displacements and velocities stay together in `motion` from the first of the substeps to the last.
    is_together: bool,
    /// Whether contact is resolved after each substep, and its work is booked then.
    resolves_contact: bool,
}

impl<'a> ForceLoop<'a> {
    /// The loop of one thread: all of them go through the stages together. Returns its profile.
    fn run(&self, worker: &Worker<'_>, substeps: Range<usize>) -> StageTimes {
        let mut watch = Stopwatch::new(self.context.clock, worker.leads());
        self.join(worker, 0..self.motion.len());
        worker.barrier();
        for s in substeps {
            self.solve(worker, s);
            watch.lap(Stage::Solve);
            self.predict(worker, s);
            watch.lap(Stage::Predict);
            let colliders = self.kinematics.colliders(s);
            if !colliders.is_empty() {
                self.stages.collide(worker, &self.arrays, colliders);
                watch.lap(Stage::Collide);
                self.update(worker);
                watch.lap(Stage::Update);
            }
            if !self.resolves_contact {
                self.stages.book(worker, &self.arrays, self.kinematics.pin_poses(s));
            }
        }
        if self.is_together {
            worker.share(0..self.motion.len()).for_each(|vertex| part(&self.arrays, &self.motion, vertex));
        }
        watch.times()
    }

    /// Puts displacement and velocity together for this worker's share of some vertices.
    fn join(&self, worker: &Worker<'_>, vertices: Range<usize>) {
        worker.share(vertices).for_each(|vertex| join(&self.arrays, &self.motion, vertex));
    }

    /// For how many substeps a term acts at the end of one.
    fn weight(&self, pull: &Pull, s: usize) -> u32 {
        pull.weight(s + 1, self.substeps)
    }

    /// **Solve.** The forces at xⁿ: of the elements into their buffers, and of the wind.
    fn solve(&self, worker: &Worker<'_>, s: usize) {
        let (origins, rest_offsets) = (self.arrays.origins, self.arrays.rest_offsets);
        let vertices = Vertices { motion: self.motion, origins, rest_offsets };
        for (pull, &first) in self.pulls.iter().zip(self.first_rest_offsets) {
            if self.weight(pull, s) > 0 {
                pull.buffer.write(worker, &vertices, first, &self.forces);
            }
        }
        self.stages.measure_wind(worker, &self.arrays);
        worker.barrier();
    }

    /// **Predict.** Every vertex where its velocity, with the impulse of the forces, takes it; pins where their paths lead.
    fn predict(&self, worker: &Worker<'_>, s: usize) {
        let pin_poses = self.kinematics.pin_poses(s);
        let forces = |cloth: &Cloth, share: Range<usize>| self.kick(cloth, share, s);
        if self.is_together {
            self.stages.predict_together(worker, &self.arrays, &self.motion, pin_poses, forces);
        } else {
            self.stages.predict_with(worker, &self.arrays, pin_poses, forces);
            for cloth in &self.context.model.cloths {
                self.join(worker, cloth.vertices.clone());
            }
        }
        worker.barrier();
    }

    /// v + w Δ ∂E/∂x for the vertices of a cloth that are a worker's, from what they are as particles and their velocities; damping, which follows, takes
    /// nothing from a force.
    #[inline(always)]
    fn kick<'s>(
        &'s self,
        cloth: &Cloth,
        share: Range<usize>,
        s: usize,
    ) -> impl Fn(usize, F32x4, F32x4) -> F32x4 + use<'a, 's> {
        let (arrays, motion) = (self.arrays, self.motion);
        let kick = |pull: &'s Pull| {
            let impulse = F32x4::from_f64(-self.step * f64::from(self.weight(pull, s)) / self.stages.decay(cloth));
            let sums = pull.rows.over(&self.forces);
            // The last number of a particle is its inverse mass.
            move |vertex: usize, particle: F32x4, velocity: F32x4| {
                velocity + sums.at(vertex) * (particle.last() * impulse)
            }
        };
        let own_terms = self.context.model.cloths.last().map_or(0, |cloth| cloth.terms.end);
        // Terms behind those of the cloths are of a program, and may act on any vertex.
        let of_cloth = self.pulls[cloth.terms.clone()].iter().chain(&self.pulls[own_terms..]);
        let mut acting = of_cloth.filter(|pull| self.weight(pull, s) > 0).map(kick);
        // The last two on the way of the vertices: for most cloths there are no more.
        let last = acting.next_back();
        let second_last = acting.next_back();
        for kick in acting {
            for i in share.clone() {
                if self.is_together {
                    let moving = motion.get(i);
                    let velocity = kick(i, moving.particle(), moving.velocity());
                    motion.set(i, Moving::new(moving.particle(), velocity));
                } else {
                    let velocity = kick(i, arrays.particles.get(i).four(), arrays.velocities.get(i).four());
                    arrays.velocities.set(i, Particle::from_four(velocity));
                }
            }
        }
        move |vertex: usize, particle: F32x4, mut velocity: F32x4| {
            if let Some(kick) = &second_last {
                velocity = kick(vertex, particle, velocity);
            }
            if let Some(kick) = &last {
                velocity = kick(vertex, particle, velocity);
            }
            velocity
        }
    }

    /// **Update.** Velocities from positions, after contact.
    fn update(&self, worker: &Worker<'_>) {
        self.stages.update(worker, &self.arrays);
        self.join(worker, 0..self.motion.len());
        worker.barrier();
    }
}
