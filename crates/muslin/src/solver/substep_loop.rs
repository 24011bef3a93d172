//! The frame of the solvers that work with forces, in double precision; they differ in how they step.
//!
//! ```text
//! for each substep
//!     predict    damping, wind and gravity; then y, where every vertex would go alone; pins where their paths lead
//!     solve      the scheme: from xⁿ and y to x and v
//!     collide    vertices out of the colliders, with friction
//! ```
//!
//! Prediction and collision of large cloths are shared among the threads, each of which has vertices of its own. What copies positions from frame to frame is not.
#![allow(unsafe_code, reason = "opens the vertices to the team")]

use crate::contact::kinematics::{ColliderOverSubstep, Kinematics};
use crate::contact::resolve::ContactResolution;
use crate::contact::response::penalty;
use crate::contact::response::penalty_contacts::PenaltyContacts;
use crate::force::Push;
use crate::math::Vec3;
use crate::model::Model;
use crate::motion::Pose;
use crate::parallel::{Shared, sharing};
use crate::solver::{Context, Solver, Stages, StepError, StepReport, Stopwatch};
use crate::state::State;

/// How a solver makes one substep.
pub(crate) trait Scheme: Send + Sync {
    /// Gets ready for a frame: the place to allocate, which the second frame finds done.
    fn prepare(&mut self, context: &Context<'_>, motion: &Motion, step: f64) -> Result<(), StepError>;

    /// Looks at xⁿ and vⁿ before damping, wind and gravity have changed the velocities.
    fn begin(&mut self, _motion: &Motion) {}

    /// Moves [`Motion::positions`] and [`Motion::velocities`] over one substep.
    fn step(&mut self, substep: &Substep<'_>, motion: &mut Motion) -> Result<Outcome, StepError>;

    /// Looks at the end of a substep, after contact has moved positions and lifted [`Motion::previous`].
    fn end(&mut self, _motion: &Motion) {}

    /// What the next frame needs besides positions and velocities, for the state to carry.
    fn remember(&self, _history: &mut Vec<Vec3<f64>>) {}

    /// The reverse, at the start of a frame; empty at the start of a run.
    fn recall(&mut self, _history: &[Vec3<f64>]) {}
}

/// How a substep went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Iterations of the scheme.
    pub(crate) iterations: u32,
    /// How far from solved it was left; each solver says in which measure.
    pub(crate) residual: f64,
    /// The longest step with which the scheme would be stable, in s, where there is one.
    pub(crate) stable_step: Option<f64>,
    /// [`Solver::unsolved`] of the substep, in m.
    pub(crate) unsolved: Option<f64>,
}

/// What a substep works with and does not change.
pub(crate) struct Substep<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) model: &'a Model,
    /// The bodies.
    pub(crate) obstacles: &'a [ColliderOverSubstep],
    /// h, in s.
    pub(crate) step: f64,
    /// Simulated time at the start, in s.
    pub(crate) time: f64,
}

impl<'a> Substep<'a> {
    /// Contact with the bodies, for a solver with a line search or without: one that moves a vertex at a time, each only downhill, has none.
    pub(crate) fn penalty_contacts(&self, is_searched: bool) -> PenaltyContacts<'a> {
        PenaltyContacts::new(self.obstacles, self.model.thickness, self.step, is_searched)
    }
}

/// The moving things of a substep.
#[derive(Default)]
pub(crate) struct Motion {
    /// x, in m: xⁿ before the scheme, where held vertices are already at their targets; x after it.
    pub(crate) positions: Vec<Vec3<f64>>,
    /// v, in m/s: with damping, wind and gravity before the scheme, of the whole substep after it.
    pub(crate) velocities: Vec<Vec3<f64>>,
    /// vⁿ, in m/s: at the start of the substep, before anything acted.
    pub(crate) start_velocities: Vec<Vec3<f64>>,
    /// xⁿ, in m.
    pub(crate) previous: Vec<Vec3<f64>>,
    /// y = xⁿ + h v, in m; the target of a held vertex.
    pub(crate) predicted: Vec<Vec3<f64>>,
    /// 1/m, in 1/kg; zero for a held vertex.
    pub(crate) inverse_masses: Vec<f64>,
    pushes: Vec<Push<f64>>,
}

impl Motion {
    /// v = (x − xⁿ)/h of every vertex: what most schemes end with.
    pub(crate) fn set_velocities(&mut self, step: f64) {
        for ((v, x), previous) in self.velocities.iter_mut().zip(&self.positions).zip(&self.previous) {
            *v = (*x - *previous) * (1.0 / step);
        }
    }

    /// Damping, wind and gravity, then y; pins where their paths lead.
    fn predict(&mut self, context: &Context<'_>, step: f64, pin_poses: &[Option<Pose>]) {
        let model = context.model;
        // SAFETY: a worker gets and sets those of its share of the vertices, and sets the pushes of its share of the triangles. Only these are got of others, after a
        // barrier, and positions and velocities for them, before it.
        let pushes = unsafe { Shared::new(&mut self.pushes) };
        // SAFETY: as above.
        let [positions, velocities, start_velocities, previous, predicted] = unsafe {
            [
                Shared::new(&mut self.positions),
                Shared::new(&mut self.velocities),
                Shared::new(&mut self.start_velocities),
                Shared::new(&mut self.previous),
                Shared::new(&mut self.predicted),
            ]
        };
        // SAFETY: as above.
        let inverse_masses = unsafe { Shared::new(&mut self.inverse_masses) };
        context.team.run(sharing(context.threads, positions.len()), |worker| {
            if let Some(wind) = &model.wind {
                for t in worker.share(0..pushes.len()) {
                    let corners = model.triangles[t].map(|v| v as usize);
                    pushes.set(t, wind.push(corners.map(|v| positions.get(v)), corners.map(|v| velocities.get(v))));
                }
                worker.barrier();
            }
            for cloth in &model.cloths {
                let decay = libm::exp(-cloth.damping * step);
                let share = worker.share(cloth.vertices.clone());
                for i in share.clone() {
                    let (x, start) = (positions.get(i), velocities.get(i));
                    let mut v = start;
                    if model.wind.is_some() {
                        let around = model.vertex_triangles.of(i as u32).iter();
                        let push = around.fold(Push::default(), |sum, &t| sum.plus(pushes.get(t as usize)));
                        v += push.velocity_step(inverse_masses.get(i), step);
                    }
                    v = v * decay + model.gravity * step;
                    start_velocities.set(i, start);
                    previous.set(i, x);
                    velocities.set(i, v);
                    predicted.set(i, x + v * step);
                }
                for pinned in model.pinned_in(share) {
                    let i = pinned.vertex as usize;
                    if let Some(pose) = &pin_poses[pinned.pin as usize] {
                        let target = pose.apply(model.initial_positions[i]);
                        velocities.set(i, (target - positions.get(i)) * (1.0 / step));
                        positions.set(i, target);
                        predicted.set(i, target);
                        inverse_masses.set(i, 0.0);
                    } else {
                        inverse_masses.set(i, model.inverse_masses[i]);
                    }
                }
            }
        });
    }

    /// Vertices out of the bodies: the velocity changes by what the position does.
    fn collide(&mut self, context: &Context<'_>, obstacles: &[ColliderOverSubstep], step: f64) {
        if obstacles.is_empty() {
            return;
        }
        let (thickness, inverse_masses) = (context.model.thickness, &self.inverse_masses);
        // SAFETY: a worker gets and sets those of its share of the vertices.
        let [positions, velocities, previous] = unsafe {
            [Shared::new(&mut self.positions), Shared::new(&mut self.velocities), Shared::new(&mut self.previous)]
        };
        context.team.run(sharing(context.threads, positions.len()), |worker| {
            for i in worker.share(0..positions.len()).filter(|&i| inverse_masses[i] != 0.0) {
                for obstacle in obstacles {
                    let (x, before) = (positions.get(i), previous.get(i));
                    if let Some(touch) = obstacle.touch(x, || before, thickness, step) {
                        let (moved, lifted) = penalty::project(&touch, x, before);
                        velocities.set(i, velocities.get(i) + ((moved - x) - (lifted - before)) * (1.0 / step));
                        positions.set(i, moved);
                        previous.set(i, lifted);
                    }
                }
            }
        });
    }
}

impl Motion {
    /// Cloth out of cloth: the velocity changes by what the position does.
    fn separate(
        &mut self,
        resolution: &mut ContactResolution,
        context: &Context<'_>,
        (obstacles, time): (&[ColliderOverSubstep], f64),
        step: f64,
    ) -> Result<(), StepError> {
        resolution.lead(context.model, time);
        resolution.end.clone_from(&self.positions);
        resolution.inverse_masses.clone_from(&self.inverse_masses);
        resolution.push(&context.contact(), obstacles, step);
        // Bodies stand behind the cloths.
        for ((previous, v), lift) in self.previous.iter_mut().zip(&mut self.velocities).zip(&resolution.lifts) {
            *previous += *lift;
            *v -= *lift * (1.0 / step);
        }
        self.take(resolution, step);
        self.collide(context, obstacles, step);
        resolution.end.clone_from(&self.positions);
        resolution.hold(&context.contact()).map_err(|error| StepError::contact(context.model, error))?;
        self.take(resolution, step);
        resolution.start[..self.positions.len()].copy_from_slice(&self.positions);
        resolution.settle(context.model, time).map_err(|error| StepError::contact(context.model, error))
    }

    /// Takes over the positions of a contact resolution.
    fn take(&mut self, resolution: &ContactResolution, step: f64) {
        for ((x, v), y) in self.positions.iter_mut().zip(&mut self.velocities).zip(&resolution.end) {
            *v += (*y - *x) * (1.0 / step);
            *x = *y;
        }
    }
}

/// A solver made of a scheme.
pub(crate) struct SubstepLoop<S> {
    scheme: S,
    substeps: u32,
    motion: Motion,
    kinematics: Kinematics,
    /// Where cloth is kept from cloth.
    resolution: Option<Box<ContactResolution>>,
    unsolved: Option<f64>,
}

impl<S: Scheme> SubstepLoop<S> {
    /// With so many substeps in a frame.
    pub(crate) fn new(scheme: S, substeps: u32) -> Self {
        let (motion, kinematics) = (Motion::default(), Kinematics::default());
        Self { scheme, substeps, motion, kinematics, resolution: None, unsolved: None }
    }

    fn load(&mut self, model: &Model, state: &State, dt: f64) {
        let motion = &mut self.motion;
        motion.positions.clone_from(&state.positions);
        motion.velocities.clone_from(&state.velocities);
        motion.previous.clone_from(&state.positions);
        motion.start_velocities.clone_from(&state.velocities);
        motion.predicted.clone_from(&state.positions);
        motion.inverse_masses.clone_from(&model.inverse_masses);
        motion.pushes.resize(if model.wind.is_some() { model.triangles.len() } else { 0 }, Push::default());
        self.kinematics.load(model, state.time, dt, self.substeps);
        if self.resolution.is_none() {
            self.resolution = ContactResolution::new(model).map(Box::new);
        }
        if let Some(resolution) = &mut self.resolution {
            resolution.begin(model, &state.positions, state.time);
        }
        for (pinned, poses) in model.pinned.iter().map(|pinned| (pinned, self.kinematics.pin_poses(0))) {
            if poses[pinned.pin as usize].is_some() {
                motion.inverse_masses[pinned.vertex as usize] = 0.0;
            }
        }
    }
}

impl<S: Scheme> Solver for SubstepLoop<S> {
    fn unsolved(&self) -> Option<f64> {
        self.unsolved
    }

    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let mut watch = Stopwatch::new(context.clock, true);
        let mut report = StepReport { substeps: self.substeps, ..StepReport::default() };
        let mut stages = Stages::default();
        let model = context.model;
        let step = dt / f64::from(self.substeps);
        self.unsolved = None;
        self.load(model, state, dt);
        self.scheme.recall(&state.history);
        self.scheme.prepare(context, &self.motion, step)?;
        watch.lap(&mut stages.update);
        for s in 0..self.substeps {
            let obstacles = self.kinematics.obstacles(s as usize);
            self.scheme.begin(&self.motion);
            self.motion.predict(context, step, self.kinematics.pin_poses(s as usize));
            watch.lap(&mut stages.predict);
            let substep = Substep { context, model, obstacles, step, time: state.time + step * f64::from(s) };
            let outcome = self.scheme.step(&substep, &mut self.motion)?;
            watch.lap(&mut stages.solve);
            self.motion.collide(context, obstacles, step);
            if let Some(resolution) = &mut self.resolution {
                self.motion.separate(resolution, context, (obstacles, self.kinematics.time_after(s as usize)), step)?;
            }
            self.scheme.end(&self.motion);
            watch.lap(&mut stages.collide);
            report.iterations = report.iterations.saturating_add(outcome.iterations);
            report.residual = outcome.residual;
            if let Some(moved) = outcome.unsolved {
                self.unsolved = Some(self.unsolved.map_or(moved, |worst| worst.max(moved)));
            }
            report.stable_step = match (report.stable_step, outcome.stable_step) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        let bad = |(x, v): (&Vec3<f64>, &Vec3<f64>)| !x.is_finite() || !v.is_finite();
        if let Some(index) = self.motion.positions.iter().zip(&self.motion.velocities).position(bad) {
            return Err(StepError::non_finite(model, index));
        }
        state.positions.clone_from(&self.motion.positions);
        state.velocities.clone_from(&self.motion.velocities);
        state.history.clear();
        self.scheme.remember(&mut state.history);
        state.time += dt;
        if let Some(resolution) = &self.resolution {
            report.contacts = resolution.pushed();
            report.contact_stats = resolution.contact_stats();
        }
        watch.lap(&mut stages.update);
        Ok(StepReport { stages, ..report })
    }
}
