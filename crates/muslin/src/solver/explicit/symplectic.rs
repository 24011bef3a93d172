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

use crate::math::{F32x4, Scalar};
use crate::model::Cloth;
use crate::parallel::Shared;
use crate::solver::explicit::diverged;
use crate::solver::explicit::force_buffers;
use crate::solver::explicit::force_buffers::{Forces, Rows, Vertices};
use crate::solver::explicit::stability::Stability;
use crate::solver::position_based::particle::{Moving, Particle};
use crate::solver::position_based::substep::{join, part};
use crate::solver::position_based::vertices::Frame;
use crate::solver::substep_loop::Motion;
use crate::solver::vertex_stages::VertexStore;
use crate::solver::{Context, Solver, Stage, StageTimes, StepError, StepReport, Stopwatch};
use crate::state::State;

/// The largest n h ω′ of a term that does not act in every substep.
const SLOW: f64 = 1.0 / 16.0;

/// The solver and its memory.
pub(crate) struct Symplectic {
    frame: Frame<f32>,
    substeps: u32,
    pulls: Vec<Pull>,
    /// What the terms do to the vertices, in N, where their rows say.
    forces: Vec<Particle<f32>>,
    /// The vertices as the elements see them: a copy of what the frame keeps apart.
    moving: Vec<Moving>,
    spectrum: Stability,
    /// Positions and inverse masses at the start of a frame, for the spectrum.
    motion: Motion,
}

/// What one term does.
struct Pull {
    stream: Box<dyn Forces>,
    /// Which of its forces each vertex feels.
    rows: Rows,
    /// It acts in every so manieth substep.
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
            let (stream, rows) = term.stream(first, context.team.is_wide());
            first = rows.end();
            let stride = if term.is_quadratic() { self.stride(context, t, step) } else { 1 };
            self.pulls.push(Pull { stream, rows, stride });
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
        let Motion { positions, inverse_masses, .. } = &mut self.motion;
        positions.clone_from(&state.positions);
        inverse_masses.clone_from(&context.model.inverse_masses);
        for pinned in &context.model.pinned {
            if context.model.pins[pinned.pin as usize].pose(state.time).is_some() {
                inverse_masses[pinned.vertex as usize] = 0.0;
            }
        }
        self.spectrum.measure(context, &self.motion, step).symplectic_limit()
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
        let rest_offset_counts = self.pulls.iter().map(|pull| pull.stream.arm_count());
        self.frame.load(context, state, (dt, self.substeps), rest_offset_counts);
        self.moving.resize(state.positions.len(), Moving::default());
        let (origins, rest_offsets, first_rest_offsets) = self.frame.open_rest_offsets(context.team);
        context.team.run(context.threads, |worker| {
            for (pull, &first) in self.pulls.iter().zip(first_rest_offsets) {
                pull.stream.place(worker, origins, &rest_offsets, first);
            }
        });
        let loaded = context.clock.seconds();
        let mut stages = self.run(context, step)?;
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
    /// Runs all substeps; returns the profile.
    fn run(&mut self, context: &Context<'_>, step: f64) -> Result<StageTimes, StepError> {
        let substeps = self.substeps as usize;
        if !self.frame.resolves_contact() {
            return Ok(self.run_some(context, step, 0..substeps));
        }
        let mut sum = StageTimes::default();
        for s in 0..substeps {
            sum += self.run_some(context, step, s..s + 1);
            let start = context.clock.seconds();
            self.frame.resolve_contact(context, step, s)?;
            sum[Stage::Collide] += context.clock.seconds() - start;
        }
        Ok(sum)
    }

    /// Runs some of the substeps; where cloth is kept from cloth, that is still to come.
    fn run_some(&mut self, context: &Context<'_>, step: f64, range: Range<usize>) -> StageTimes {
        let (model, substeps) = (context.model, self.substeps as usize);
        let separates = self.frame.resolves_contact();
        let (stages, arrays, kinematics, first_rest_offsets) = self.frame.open(context, step);
        // In the pass over the elements a place is set by the worker that has its element; in that over the vertices, after
        // a barrier, places are only read.
        let forces = Shared::open(context.team, &mut self.forces);
        // Each pass gets and sets those of its share of the vertices, but the one over the elements, which gets all and stands
        // between two barriers.
        let motion = Shared::open(context.team, &mut self.moving);
        let pulls = &self.pulls;
        let own_terms = model.cloths.last().map_or(0, |cloth| cloth.terms.end);
        let vertices = Vertices { motion, origins: arrays.origins, rest_offsets: arrays.rest_offsets };
        // While only pins act on the vertices beside the forces, nobody asks for displacements and velocities apart.
        let is_together = !separates
            && !arrays.books().are_open()
            && !stages.has_wind()
            && !stages.has_forces()
            && range.clone().all(|s| kinematics.obstacles(s).is_empty());
        let outcome = Mutex::new(StageTimes::default());

        context.team.run(context.threads, |worker| {
            let mut watch = Stopwatch::new(context.clock, worker.leads());
            let all = worker.share(0..motion.len());
            all.clone().for_each(|vertex| join(&arrays, &motion, vertex));
            worker.barrier();
            for s in range.clone() {
                let (pin_poses, obstacles) = (kinematics.pin_poses(s), kinematics.obstacles(s));
                let weight = |pull: &Pull| pull.weight(s + 1, substeps);
                for (pull, &first) in pulls.iter().zip(first_rest_offsets).filter(|(pull, _)| weight(pull) > 0) {
                    pull.stream.write(worker, &vertices, first, &forces);
                }
                stages.measure_wind(worker, &arrays);
                worker.barrier();
                watch.lap(Stage::Solve);
                let forces_on = |cloth: &Cloth, share: Range<usize>| {
                    // v + w Δ ∂E/∂x; damping, which follows, takes nothing from a force.
                    let kick = |pull| {
                        let impulse = F32x4::from_f64(-step * f64::from(weight(pull)) / stages.decay(cloth));
                        let sums = pull.rows.over(&forces);
                        // The last number of a particle is its inverse mass.
                        move |vertex: usize, particle: F32x4, velocity: F32x4| {
                            velocity + sums.at(vertex) * (particle.last() * impulse)
                        }
                    };
                    // Terms behind those of the cloths are of a program, and may act on any vertex.
                    let of_cloth = pulls[cloth.terms.clone()].iter().chain(&pulls[own_terms..]);
                    let mut acting = of_cloth.filter(|pull| weight(pull) > 0).map(kick);
                    // The last two on the way of the vertices: for most cloths there are no more.
                    let last = acting.next_back();
                    let second_last = acting.next_back();
                    for kick in acting {
                        for i in share.clone() {
                            if is_together {
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
                };
                if is_together {
                    stages.predict_together(worker, &arrays, &motion, pin_poses, forces_on);
                } else {
                    stages.predict_with(worker, &arrays, pin_poses, forces_on);
                    for cloth in &model.cloths {
                        worker.share(cloth.vertices.clone()).for_each(|vertex| join(&arrays, &motion, vertex));
                    }
                }
                worker.barrier();
                watch.lap(Stage::Predict);
                if !obstacles.is_empty() {
                    stages.collide(worker, &arrays, obstacles);
                    watch.lap(Stage::Collide);
                    stages.update(worker, &arrays);
                    all.clone().for_each(|vertex| join(&arrays, &motion, vertex));
                    worker.barrier();
                    watch.lap(Stage::Update);
                }
                if !separates {
                    stages.book(worker, &arrays, pin_poses);
                }
            }
            if is_together {
                all.for_each(|vertex| part(&arrays, &motion, vertex));
            }
            if worker.leads()
                && let Ok(mut outcome) = outcome.lock()
            {
                *outcome = watch.times();
            }
        });
        outcome.into_inner().unwrap_or_default()
    }
}
