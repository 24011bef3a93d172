//! The step that PBD and XPBD share; they differ in the law of one projection.
//!
//! ```text
//! for each substep
//!     predict    forces, then every vertex where it would go alone; pins where their paths lead
//!     solve      iterations × terms × colours of projections
//!     collide    vertices out of the colliders, with friction (after each iteration)
//!     update     velocities from positions
//! ```
//!
//! The whole frame is one run of the team ([`Team::run`](crate::parallel::Team::run)): a barrier between stages, none within.
#![allow(unsafe_code, reason = "opens the particle arrays to the team; see `Arrays::open`")]

use std::sync::Mutex;

use super::{Context, Particle, Stages, StepError, StepReport};
use crate::collision::Solid;
use crate::energy::contact::{self, Touch};
use crate::energy::{Multiplier, Term};
use crate::force::Wind;
use crate::math::{Scalar, Vec3};
use crate::model::{Model, NOT_PINNED};
use crate::motion::Pose;
use crate::parallel::{Shared, Worker};
use crate::parameter::Settings;
use crate::state::State;

/// How a frame is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    substeps: u32,
    iterations: u32,
}

impl Plan {
    /// From a solver's settings, whose ranges the scene has checked.
    pub(super) fn read(settings: &Settings) -> Self {
        let count = |name| settings.integer(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
        Self { substeps: count("substeps"), iterations: count("iterations") }
    }
}

/// What a solver does with a term: plain functions, so that a sweep is one virtual call.
pub(super) struct Law<S: Scalar> {
    /// Numbers of multiplier storage per element.
    pub(super) lanes: fn(&(dyn Term + 'static)) -> usize,
    /// One sweep over the elements.
    pub(super) project: fn(&(dyn Term + 'static), &Worker<'_>, &Sweep<'_, S>),
    /// The largest move that another sweep would make.
    pub(super) residual: fn(&(dyn Term + 'static), &Worker<'_>, &Sweep<'_, S>) -> f64,
}

/// What a sweep over a term works on.
pub struct Sweep<'a, S: Scalar> {
    /// The vertices.
    pub particles: &'a Shared<'a, Particle<S>>,
    /// Where they were at the start of the substep [m].
    pub previous: &'a Shared<'a, Vec3<S>>,
    /// λ of all elements, where they are kept.
    multipliers: Option<&'a Shared<'a, S>>,
    /// Where those of this term begin.
    first_multiplier: usize,
    /// Whether λ is still zero.
    first: bool,
    /// h [s].
    pub step: f64,
    /// Iterations in a substep.
    pub iterations: u32,
}

impl<S: Scalar> Sweep<'_, S> {
    /// λ of an element; `None` = zero.
    #[inline(always)]
    pub fn load_multiplier<M: Multiplier<S>>(&self, element: usize) -> Option<M> {
        match self.multipliers {
            Some(all) if !self.first => {
                Some(M::load(|lane| all.get(self.first_multiplier + element * M::LANES + lane)))
            },
            _ => None,
        }
    }

    /// Keeps λ of an element for the next iteration, if there is one.
    #[inline(always)]
    pub fn store_multiplier<M: Multiplier<S>>(&self, element: usize, multiplier: M) {
        if let Some(all) = self.multipliers {
            multiplier.store(|lane, value| all.set(self.first_multiplier + element * M::LANES + lane, value));
        }
    }

    /// x − xⁿ of the vertices of an element.
    #[inline(always)]
    pub fn moved<const N: usize>(&self, stencil: &[usize; N], particles: &[Particle<S>; N]) -> [Vec3<S>; N] {
        std::array::from_fn(|i| particles[i].position() - self.previous.get(stencil[i]))
    }
}

/// A collider during one substep.
#[derive(Clone, Copy)]
struct Obstacle<S> {
    before: Solid<S>,
    after: Solid<S>,
    /// Start and end pose, where it moves.
    motion: Option<(Pose<S>, Pose<S>)>,
    friction: S,
}

/// The solver's memory.
pub(super) struct PositionBased<S: Scalar> {
    plan: Plan,
    particles: Vec<Particle<S>>,
    previous: Vec<Vec3<S>>,
    velocities: Vec<Vec3<S>>,
    wind_forces: Vec<Vec3<S>>,
    /// λ of all terms, one after the other, and where each begins.
    multipliers: Vec<S>,
    first_multipliers: Vec<usize>,
    /// Per substep and pin: where it leads, or `None` once released.
    pin_poses: Vec<Option<Pose<f64>>>,
    /// Per substep and collider.
    obstacles: Vec<Obstacle<S>>,
}

impl<S: Scalar> PositionBased<S> {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            plan,
            particles: Vec::new(),
            previous: Vec::new(),
            velocities: Vec::new(),
            wind_forces: Vec::new(),
            multipliers: Vec::new(),
            first_multipliers: Vec::new(),
            pin_poses: Vec::new(),
            obstacles: Vec::new(),
        }
    }

    pub(super) fn advance(
        &mut self,
        context: &Context<'_>,
        state: &mut State,
        dt: f64,
        law: &Law<S>,
    ) -> Result<StepReport, StepError> {
        let start = context.clock.seconds();
        self.load(context.model, state, dt, law);
        let loaded = context.clock.seconds();
        let (mut stages, residual) = self.run(context, dt, law);
        let solved = context.clock.seconds();
        self.check(context.model)?;
        self.store(state, dt);
        stages.update += (loaded - start) + (context.clock.seconds() - solved);
        let Plan { substeps, iterations } = self.plan;
        Ok(StepReport { substeps, iterations: substeps.saturating_mul(iterations), residual, stages })
    }

    /// Copies the state into the solver's precision, and asks all paths where they lead in this frame.
    fn load(&mut self, model: &Model, state: &State, dt: f64, law: &Law<S>) {
        let masses = model.inverse_masses.iter();
        self.particles.clear();
        self.particles.extend(state.positions.iter().zip(masses).map(|(x, &w)| Particle::new(x.cast(), S::from_f64(w))));
        self.previous.clear();
        self.previous.extend(state.positions.iter().map(|x| x.cast::<S>()));
        self.velocities.clear();
        self.velocities.extend(state.velocities.iter().map(|v| v.cast::<S>()));
        self.wind_forces.resize(if model.wind.is_some() { model.triangles.len() } else { 0 }, Vec3::ZERO);
        self.first_multipliers.clear();
        let mut multipliers = 0;
        for term in &model.terms {
            self.first_multipliers.push(multipliers);
            multipliers += (law.lanes)(&**term) * term.element_count();
        }
        self.multipliers.resize(multipliers, S::ZERO);

        let substeps = self.plan.substeps;
        let time = |substep: u32| state.time + dt * f64::from(substep) / f64::from(substeps);
        self.pin_poses.clear();
        self.obstacles.clear();
        for substep in 0..substeps {
            let (from, to) = (time(substep), time(substep + 1));
            self.pin_poses.extend(model.pins.iter().map(|pin| pin.pose(to)));
            self.obstacles.extend(model.colliders.iter().map(|collider| {
                let (before, after) = (collider.motion.pose(from), collider.motion.pose(to));
                Obstacle {
                    before: collider.solid.posed(&before).cast(),
                    after: collider.solid.posed(&after).cast(),
                    motion: collider.moves.then(|| (before.cast(), after.cast())),
                    friction: S::from_f64(collider.friction),
                }
            }));
        }
    }

    /// Runs all substeps; returns the profile and the residual.
    fn run(&mut self, context: &Context<'_>, dt: f64, law: &Law<S>) -> (Stages, f64) {
        let model = context.model;
        let Plan { substeps, iterations } = self.plan;
        let step = dt / f64::from(substeps);
        let substep = Substep::new(model, step);
        let (pins, colliders) = (model.pins.len(), model.colliders.len());
        let arrays = Arrays::open(
            &mut self.particles,
            &mut self.previous,
            &mut self.velocities,
            &mut self.wind_forces,
            &mut self.multipliers,
        );
        let (pin_poses, obstacles, first_multipliers) = (&self.pin_poses, &self.obstacles, &self.first_multipliers);
        let outcome = Mutex::new((Stages::default(), 0.0_f64));

        context.team.run(|worker| {
            let mut stages = Stages::default();
            let mut watch = Stopwatch { clock: context.clock, leads: worker.leads(), last: 0.0 };
            watch.lap(&mut 0.0);
            let sweep = |term: usize, iteration: u32, keep: bool| Sweep {
                particles: &arrays.particles,
                previous: &arrays.previous,
                multipliers: keep.then_some(&arrays.multipliers),
                first_multiplier: first_multipliers[term],
                first: iteration == 0,
                step,
                iterations,
            };
            for s in 0..substeps as usize {
                let pin_poses = &pin_poses[s * pins..(s + 1) * pins];
                let obstacles = &obstacles[s * colliders..(s + 1) * colliders];
                // Multipliers are needed by later iterations, and by the residual at the end of the frame.
                let keep = iterations > 1 || s + 1 == substeps as usize;

                substep.predict(worker, &arrays, pin_poses);
                worker.barrier();
                watch.lap(&mut stages.predict);
                for iteration in 0..iterations {
                    for (t, term) in model.terms.iter().enumerate() {
                        (law.project)(&**term, worker, &sweep(t, iteration, keep));
                    }
                    watch.lap(&mut stages.solve);
                    if !obstacles.is_empty() {
                        substep.collide(worker, &arrays, obstacles);
                        worker.barrier();
                        watch.lap(&mut stages.collide);
                    }
                }
                substep.update(worker, &arrays);
                worker.barrier();
                watch.lap(&mut stages.update);
            }
            let residual = (model.terms.iter().enumerate())
                .map(|(t, term)| (law.residual)(&**term, worker, &sweep(t, iterations, true)))
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

    fn check(&self, model: &Model) -> Result<(), StepError> {
        let bad = |p: &Particle<S>| !p.position().is_finite();
        match self.particles.iter().position(bad) {
            None => Ok(()),
            Some(index) => {
                let (cloth, vertex) = model.user_vertex(index);
                Err(StepError::NonFinite { cloth: cloth.to_owned(), vertex })
            }
        }
    }

    fn store(&self, state: &mut State, dt: f64) {
        for (x, p) in state.positions.iter_mut().zip(&self.particles) {
            *x = p.position().cast();
        }
        for (v, w) in state.velocities.iter_mut().zip(&self.velocities) {
            *v = w.cast();
        }
        state.time += dt;
    }
}

/// The arrays of a frame, open to the team.
struct Arrays<'a, S: Scalar> {
    particles: Shared<'a, Particle<S>>,
    previous: Shared<'a, Vec3<S>>,
    velocities: Shared<'a, Vec3<S>>,
    wind_forces: Shared<'a, Vec3<S>>,
    multipliers: Shared<'a, S>,
}

impl<'a, S: Scalar> Arrays<'a, S> {
    fn open(
        particles: &'a mut [Particle<S>],
        previous: &'a mut [Vec3<S>],
        velocities: &'a mut [Vec3<S>],
        wind_forces: &'a mut [Vec3<S>],
        multipliers: &'a mut [S],
    ) -> Self {
        // SAFETY: predict, collide and update set only items of the worker's own share of the vertices, and read
        // others' (wind) only after a barrier that follows their last change; the wind pass sets its own share of
        // the triangles; projections set the particles of elements of one colour, which are disjoint, with a barrier
        // after each colour, and the multipliers of their own elements; the residual only reads.
        unsafe {
            Self {
                particles: Shared::new(particles),
                previous: Shared::new(previous),
                velocities: Shared::new(velocities),
                wind_forces: Shared::new(wind_forces),
                multipliers: Shared::new(multipliers),
            }
        }
    }
}

/// What is the same in every substep of a frame.
struct Substep<'a, S> {
    model: &'a Model,
    step: S,
    inverse_step: S,
    gravity_step: Vec3<S>,
    wind: Option<Wind<S>>,
    thickness: S,
}

impl<'a, S: Scalar> Substep<'a, S> {
    fn new(model: &'a Model, step: f64) -> Self {
        Self {
            model,
            step: S::from_f64(step),
            inverse_step: S::from_f64(1.0 / step),
            gravity_step: (model.gravity * step).cast(),
            wind: model.wind.as_ref().map(Wind::cast),
            thickness: S::from_f64(model.thickness),
        }
    }

    fn predict(&self, worker: &Worker<'_>, arrays: &Arrays<'_, S>, pin_poses: &[Option<Pose<f64>>]) {
        if let Some(wind) = &self.wind {
            for t in worker.share(0..self.model.triangles.len()) {
                let corners = self.model.triangles[t].map(|v| v as usize);
                let x = corners.map(|v| arrays.particles.get(v).position());
                arrays.wind_forces.set(t, wind.corner_force(x, corners.map(|v| arrays.velocities.get(v))));
            }
            worker.barrier();
        }
        for cloth in &self.model.cloths {
            let decay = S::from_f64(libm::exp(-cloth.damping * self.step.to_f64()));
            for i in worker.share(cloth.vertices.clone()) {
                let particle = arrays.particles.get(i);
                arrays.previous.set(i, particle.position());
                let pin = self.model.pin_of_vertex[i];
                if pin != NOT_PINNED
                    && let Some(pose) = &pin_poses[pin as usize]
                {
                    let target = pose.apply(self.model.initial_positions[i]);
                    arrays.particles.set(i, Particle::new(target.cast(), S::ZERO));
                    continue;
                }
                let inverse_mass = S::from_f64(self.model.inverse_masses[i]);
                if inverse_mass == S::ZERO {
                    continue; // a vertex of no triangle has no mass and stays
                }
                let mut velocity = arrays.velocities.get(i) + self.gravity_step;
                if self.wind.is_some() {
                    let force = self.model.vertex_triangles.of(i as u32).iter();
                    let force = force.fold(Vec3::ZERO, |sum, &t| sum + arrays.wind_forces.get(t as usize));
                    velocity += force * (inverse_mass * self.step);
                }
                let moved = particle.position() + velocity * (decay * self.step);
                arrays.particles.set(i, Particle::new(moved, inverse_mass));
            }
        }
    }

    fn collide(&self, worker: &Worker<'_>, arrays: &Arrays<'_, S>, obstacles: &[Obstacle<S>]) {
        for i in worker.share(0..arrays.particles.len()) {
            let particle = arrays.particles.get(i);
            if particle.inverse_mass == S::ZERO {
                continue;
            }
            for obstacle in obstacles {
                let x = arrays.particles.get(i).position();
                let probe = obstacle.after.probe(x);
                let gap = probe.distance - self.thickness;
                if gap >= S::ZERO {
                    continue;
                }
                let previous = arrays.previous.get(i);
                let touch = Touch {
                    gap,
                    previous_gap: obstacle.before.probe(previous).distance - self.thickness,
                    normal: probe.normal,
                    surface_step: obstacle.surface_step(x),
                    friction: obstacle.friction,
                };
                let (x, previous) = contact::project(&touch, x, previous);
                arrays.particles.set(i, Particle::new(x, particle.inverse_mass));
                arrays.previous.set(i, previous);
            }
        }
    }

    fn update(&self, worker: &Worker<'_>, arrays: &Arrays<'_, S>) {
        for i in worker.share(0..arrays.particles.len()) {
            let moved = arrays.particles.get(i).position() - arrays.previous.get(i);
            arrays.velocities.set(i, moved * self.inverse_step);
        }
    }
}

impl<S: Scalar> Obstacle<S> {
    /// How far the body's point at `x` came in the substep.
    fn surface_step(&self, x: Vec3<S>) -> Vec3<S> {
        self.motion.map_or(Vec3::ZERO, |(before, after)| x - before.apply(after.undo(x)))
    }
}

/// Adds up the time of stages on the leading thread.
struct Stopwatch<'a> {
    clock: &'a dyn super::Clock,
    leads: bool,
    last: f64,
}

impl Stopwatch<'_> {
    fn lap(&mut self, stage: &mut f64) {
        if self.leads {
            let now = self.clock.seconds();
            *stage += now - self.last;
            self.last = now;
        }
    }
}
