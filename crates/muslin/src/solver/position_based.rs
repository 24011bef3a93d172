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
#![allow(unsafe_code, reason = "opens the particle arrays to the team; see `Arrays::open`")]

use std::ops::Range;
use std::sync::Mutex;

use super::script::{Obstacle, Script};
use super::sweep::Sweep;
use super::{Context, Particle, Solver, Stages, StepError, StepReport, Stopwatch, count};
use crate::collision::Probe;
use crate::energy::Term;
use crate::energy::contact;
use crate::force::{Push, Wind};
use crate::math::{Real, Vec3};
use crate::model::{ContactEdges, Model};
use crate::motion::Pose;
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

/// A function that measures the arms of a term.
type PlaceArms<R> = fn(&(dyn Term + 'static), &Worker<'_>, &[Vec3<f64>], &Shared<'_, Vec3<<R as Real>::Wide>>, usize);

/// What a solver does with a term: plain functions, so that a sweep is one virtual call.
#[derive(Clone, Copy)]
pub(super) struct Sweeps<R: Real> {
    /// Number of arms.
    pub(super) arm_count: fn(&(dyn Term + 'static)) -> usize,
    /// Measures the arms at the start of a frame.
    pub(super) place: PlaceArms<R>,
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
    /// For each term: it acts in every so manieth substep; empty = every one in all.
    pub(super) strides: Vec<u32>,
    /// Where the vertices are at the start of the frame, in m; the rest is relative to that.
    origins: Vec<Vec3<f64>>,
    particles: Vec<Particle<R>>,
    previous: Vec<Particle<R>>,
    velocities: Vec<Particle<R>>,
    pushes: Vec<Push<R>>,
    /// For each vertex; empty without fine bodies.
    facings: Vec<Facing>,
    /// λ of all terms, one after the other, and where each begins.
    multipliers: Vec<R>,
    first_multipliers: Vec<usize>,
    /// The arms of all terms, one after the other, and where each begins.
    arms: Vec<Vec3<R::Wide>>,
    first_arms: Vec<usize>,
    script: Script,
}

/// A solver with its sweeps, in the precision that the settings ask for.
pub(super) fn build(settings: &Settings, single: Sweeps<f32>, double: Sweeps<f64>) -> Box<dyn Solver> {
    let plan = Plan::read(settings);
    match settings.choice("precision") {
        Some("f64") => Box::new(PositionBased::new(double, plan)),
        _ => Box::new(PositionBased::new(single, plan)),
    }
}

impl<R: Real> Solver for PositionBased<R> {
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let start = context.clock.seconds();
        self.load(context.model, state, dt);
        let loaded = context.clock.seconds();
        let (mut stages, residual) = self.run(context, dt);
        let solved = context.clock.seconds();
        self.check(context.model)?;
        self.store(state, dt);
        stages.update += (loaded - start) + (context.clock.seconds() - solved);
        let Plan { substeps, iterations } = self.plan;
        Ok(StepReport {
            substeps,
            iterations: substeps.saturating_mul(iterations),
            residual,
            stages,
            stable_step: None,
        })
    }
}

impl<R: Real> PositionBased<R> {
    pub(super) fn new(sweeps: Sweeps<R>, plan: Plan) -> Self {
        Self {
            sweeps,
            plan,
            strides: Vec::new(),
            origins: Vec::new(),
            particles: Vec::new(),
            previous: Vec::new(),
            velocities: Vec::new(),
            pushes: Vec::new(),
            facings: Vec::new(),
            multipliers: Vec::new(),
            first_multipliers: Vec::new(),
            arms: Vec::new(),
            first_arms: Vec::new(),
            script: Script::default(),
        }
    }

    /// Copies the state into the solver's precision, and asks all paths where they lead in this frame.
    fn load(&mut self, model: &Model, state: &State, dt: f64) {
        self.origins.clone_from(&state.positions);
        self.particles.clear();
        self.particles.extend(model.inverse_masses.iter().map(|&w| Particle::new(Vec3::ZERO, R::from_f64(w))));
        self.previous.clone_from(&self.particles);
        self.velocities.clear();
        self.velocities.extend(state.velocities.iter().map(|v| Particle::vector(v.cast())));
        self.pushes.resize(if model.wind.is_some() { model.triangles.len() } else { 0 }, Push::default());
        let has_fine_bodies = !model.contact_edges.stencils.is_empty();
        self.facings.resize(if has_fine_bodies { state.positions.len() } else { 0 }, Facing::default());
        self.first_multipliers.clear();
        self.first_arms.clear();
        let (mut multipliers, mut arms) = (0, 0);
        for term in &model.terms {
            self.first_multipliers.push(multipliers);
            multipliers += (self.sweeps.parts)(&**term) * term.element_count();
            self.first_arms.push(arms);
            arms += (self.sweeps.arm_count)(&**term);
        }
        self.multipliers.resize(multipliers, R::ZERO);
        self.arms.resize(arms, Vec3::ZERO);

        self.script.load(model, state.time, dt, self.plan.substeps);
    }

    /// Runs all substeps; returns the profile and the residual.
    fn run(&mut self, context: &Context<'_>, dt: f64) -> (Stages, f64) {
        let (model, sweeps) = (context.model, self.sweeps);
        let Plan { substeps, iterations } = self.plan;
        let step = dt / f64::from(substeps);
        let substep = Substep::new(model, &self.origins, step);
        let arrays = Arrays::open(
            &mut self.particles,
            &mut self.previous,
            &mut self.velocities,
            &mut self.pushes,
            &mut self.facings,
            &mut self.multipliers,
            &mut self.arms,
        );
        let (script, strides) = (&self.script, &self.strides);
        let (first_multipliers, first_arms) = (&self.first_multipliers, &self.first_arms);
        let outcome = Mutex::new((Stages::default(), 0.0_f64));

        context.team.run(context.threads, |worker| {
            let mut stages = Stages::default();
            let mut watch = Stopwatch::new(context.clock, worker.leads());
            let sweep = |term: usize, iteration: u32, keep: bool| Sweep {
                particles: &arrays.particles,
                previous: &arrays.previous,
                velocities: &arrays.velocities,
                origins: substep.origins,
                arms: &arrays.arms,
                first_arm: first_arms[term],
                multipliers: keep.then_some(&arrays.multipliers),
                first_multiplier: first_multipliers[term],
                first: iteration == 0,
                step,
                iterations,
                stride: strides.get(term).copied().unwrap_or(1),
            };
            for (term, &first) in model.terms.iter().zip(first_arms) {
                (sweeps.place)(&**term, worker, substep.origins, &arrays.arms, first);
            }
            worker.barrier();
            watch.lap(&mut stages.update);
            for s in 0..substeps as usize {
                let (pin_poses, obstacles) = (script.pin_poses(s), script.obstacles(s));
                // Multipliers are needed by later iterations, and by the residual at the end of the frame.
                let keep = iterations > 1 || s + 1 == substeps as usize;

                substep.predict(worker, &arrays, pin_poses);
                worker.barrier();
                watch.lap(&mut stages.predict);
                for iteration in 0..iterations {
                    for (t, term) in model.terms.iter().enumerate() {
                        let sweep = sweep(t, iteration, keep);
                        if (s + 1) % sweep.stride as usize == 0 {
                            (sweeps.project)(&**term, worker, &sweep);
                        }
                    }
                    watch.lap(&mut stages.solve);
                    if !obstacles.is_empty() {
                        substep.collide(worker, &arrays, obstacles);
                        worker.barrier();
                        if !arrays.facings.is_empty() {
                            substep.collide_edges(worker, &arrays, obstacles);
                            // What holds at the end of a substep holds for vertices.
                            substep.collide_again(worker, &arrays, obstacles);
                            worker.barrier();
                        }
                        watch.lap(&mut stages.collide);
                    }
                }
                substep.update(worker, &arrays);
                worker.barrier();
                watch.lap(&mut stages.update);
            }
            let residual = (model.terms.iter().enumerate())
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

    fn check(&self, model: &Model) -> Result<(), StepError> {
        let bad = |(x, v): (&Particle<R>, &Particle<R>)| !x.xyz().is_finite() || !v.xyz().is_finite();
        match self.particles.iter().zip(&self.velocities).position(bad) {
            None => Ok(()),
            Some(index) => Err(StepError::non_finite(model, index)),
        }
    }

    fn store(&self, state: &mut State, dt: f64) {
        for ((x, origin), p) in state.positions.iter_mut().zip(&self.origins).zip(&self.particles) {
            *x = *origin + p.xyz().cast();
        }
        for (v, w) in state.velocities.iter_mut().zip(&self.velocities) {
            *v = w.xyz().cast();
        }
        state.time += dt;
    }
}

/// The arrays of a frame, open to the team.
struct Arrays<'a, R: Real> {
    particles: Shared<'a, Particle<R>>,
    previous: Shared<'a, Particle<R>>,
    velocities: Shared<'a, Particle<R>>,
    pushes: Shared<'a, Push<R>>,
    facings: Shared<'a, Facing>,
    multipliers: Shared<'a, R>,
    arms: Shared<'a, Vec3<R::Wide>>,
}

impl<'a, R: Real> Arrays<'a, R> {
    fn open(
        particles: &'a mut [Particle<R>],
        previous: &'a mut [Particle<R>],
        velocities: &'a mut [Particle<R>],
        pushes: &'a mut [Push<R>],
        facings: &'a mut [Facing],
        multipliers: &'a mut [R],
        arms: &'a mut [Vec3<R::Wide>],
    ) -> Self {
        // SAFETY: what each pass gets and sets, with a barrier after each. "Own" is the worker's share of the vertices,
        // triangles or elements; shares differ from pass to pass, which the barriers make harmless.
        //
        //   arms           gets nothing                             sets own arms
        //   wind, first    gets all particles and velocities        sets own pushes
        //   wind, second   gets all pushes, own particles           sets own velocities
        //   predict, hold  gets own                                 sets own particles, previous, velocities
        //   one colour     gets those of own elements, their        sets those of own elements, which no other element
        //                  previous and arms                        of the colour has; own multipliers
        //   collide        gets own                                 sets own particles, previous, facings
        //   collide_edges  as one colour, for each of its colours   sets particles, previous, facings of own edges
        //   collide_again  gets own                                 sets own particles, previous
        //   update         gets own                                 sets own velocities
        //   one colour     (forces) gets previous, velocities and    sets particles of own elements
        //                  particles of own elements
        //   residual       gets all particles, previous,            sets nothing
        //                  multipliers, arms
        //
        // (The second pass of the wind and predict have the same shares, so no barrier is needed between them.)
        unsafe {
            Self {
                particles: Shared::new(particles),
                previous: Shared::new(previous),
                velocities: Shared::new(velocities),
                pushes: Shared::new(pushes),
                facings: Shared::new(facings),
                multipliers: Shared::new(multipliers),
                arms: Shared::new(arms),
            }
        }
    }
}

/// What is the same in every substep of a frame.
struct Substep<'a, R: Real> {
    model: &'a Model,
    origins: &'a [Vec3<f64>],
    step: R,
    /// h, 1/h and h g in all lanes that move.
    steps: R::Four,
    inverse_steps: R::Four,
    gravity_step: R::Four,
    wind: Option<Wind<R>>,
    thickness: f64,
}

impl<'a, R: Real> Substep<'a, R> {
    fn new(model: &'a Model, origins: &'a [Vec3<f64>], step: f64) -> Self {
        let all = |number: f64| R::Four::from([R::from_f64(number); 4]);
        Self {
            model,
            origins,
            step: R::from_f64(step),
            steps: all(step),
            inverse_steps: all(1.0 / step),
            gravity_step: Particle::<R>::vector((model.gravity * step).cast()).four(),
            wind: model.wind.as_ref().map(Wind::cast),
            thickness: model.thickness,
        }
    }

    fn predict(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, pin_poses: &[Option<Pose>]) {
        if let Some(wind) = &self.wind {
            self.blow(wind, worker, arrays);
        }
        for cloth in &self.model.cloths {
            let decay = R::Four::from([R::from_f64(libm::exp(-cloth.damping * self.step.to_f64())); 4]);
            let share = worker.share(cloth.vertices.clone());
            for i in share.clone() {
                let particle = arrays.particles.get(i).four();
                arrays.previous.set(i, Particle::from_four(particle));
                // Damping slows what moves; it takes nothing from the weight.
                let velocity = arrays.velocities.get(i).four() * decay + self.gravity_step;
                arrays.velocities.set(i, Particle::from_four(velocity));
                arrays.particles.set(i, Particle::from_four(self.predicted(particle, velocity)));
            }
            self.hold(share, arrays, pin_poses);
        }
    }

    /// Adds the push of the air to the velocities.
    fn blow(&self, wind: &Wind<R>, worker: &Worker<'_>, arrays: &Arrays<'_, R>) {
        for t in worker.share(0..self.model.triangles.len()) {
            let corners = self.model.triangles[t].map(|v| v as usize);
            let first = self.origins[corners[0]];
            let x = corners.map(|v| (self.origins[v] - first).cast::<R>() + arrays.particles.get(v).xyz());
            arrays.pushes.set(t, wind.push(x, corners.map(|v| arrays.velocities.get(v).xyz())));
        }
        worker.barrier();
        for cloth in &self.model.cloths {
            for i in worker.share(cloth.vertices.clone()) {
                let around = self.model.vertex_triangles.of(i as u32).iter();
                let push = around.fold(Push::default(), |sum, &t| sum.plus(arrays.pushes.get(t as usize)));
                let change = push.velocity_step(arrays.particles.get(i).inverse_mass(), self.step);
                arrays.velocities.set(i, Particle::vector(arrays.velocities.get(i).xyz() + change));
            }
        }
    }

    /// Puts the pinned vertices of a share where their paths lead, and lets go of those that are released.
    fn hold(&self, share: Range<usize>, arrays: &Arrays<'_, R>, pin_poses: &[Option<Pose>]) {
        let pinned = &self.model.pinned;
        let first = pinned.partition_point(|p| (p.vertex as usize) < share.start);
        for p in pinned[first..].iter().take_while(|p| (p.vertex as usize) < share.end) {
            let i = p.vertex as usize;
            match &pin_poses[p.pin as usize] {
                Some(pose) => {
                    let target = pose.apply(self.model.initial_positions[i]) - self.origins[i];
                    arrays.particles.set(i, Particle::vector(target.cast()));
                    // Both ends of the substep have the same fourth number, so that of the velocity stays zero.
                    arrays.previous.set(i, Particle::vector(arrays.previous.get(i).xyz()));
                    arrays.velocities.set(i, Particle::default());
                }
                None => {
                    let inverse_mass = R::from_f64(self.model.inverse_masses[i]);
                    arrays.particles.set(i, Particle::new(arrays.particles.get(i).xyz(), inverse_mass));
                    arrays.previous.set(i, Particle::new(arrays.previous.get(i).xyz(), inverse_mass));
                }
            }
        }
    }

    /// Where a vertex would be at the end of the substep on its own, in m.
    #[inline(always)]
    fn predicted(&self, start: R::Four, velocity: R::Four) -> R::Four {
        start + velocity * self.steps
    }

    fn collide(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        let reach = self.model.contact_edges.reach;
        for i in worker.share(0..arrays.particles.len()) {
            if !arrays.facings.is_empty() {
                let x = self.position(&arrays.particles, i);
                arrays.facings.set(i, Facing { normal: way_out(x, obstacles, self.thickness + reach), pushed: false });
            }
            self.collide_vertex(i, arrays, obstacles);
        }
    }

    fn collide_vertex(&self, i: usize, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        if arrays.particles.get(i).inverse_mass() == R::ZERO {
            return;
        }
        for obstacle in obstacles {
            let x = self.position(&arrays.particles, i);
            let previous = || self.position(&arrays.previous, i);
            if let Some(touch) = obstacle.touch(x, previous, self.thickness, self.step.to_f64()) {
                let (moved, lifted) = contact::project(&touch, x, previous());
                shift(&arrays.particles, i, moved - x);
                shift(&arrays.previous, i, lifted - previous());
            }
        }
    }

    /// The vertices that an edge has pushed, once more.
    fn collide_again(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        for i in worker.share(0..arrays.particles.len()) {
            if arrays.facings.get(i).pushed {
                self.collide_vertex(i, arrays, obstacles);
            }
        }
    }

    /// The middles of the edges against bodies that could pass between two vertices; a barrier after each colour.
    ///
    /// Most edges need no look: those with an end that is far away, and those whose ends are outside the same plane of a
    /// convex body, since their middles are outside it then too.
    fn collide_edges(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        /// The cosine of two ways out that count as one.
        const SAME: f64 = 1.0 - 1e-9;
        let ContactEdges { stencils, colors, .. } = &self.model.contact_edges;
        for color in colors {
            for e in worker.share(color.clone()) {
                let [a, b] = stencils[e].map(|v| arrays.facings.get(v as usize).normal);
                if a == Vec3::ZERO || b == Vec3::ZERO || a.dot(b) > SAME {
                    continue;
                }
                for obstacle in obstacles.iter().filter(|obstacle| obstacle.is_fine) {
                    self.collide_edge(stencils[e].map(|v| v as usize), arrays, obstacle);
                }
            }
            worker.barrier();
        }
    }

    /// C = d((x₀ + x₁)/2) − t ≥ 0: the middle moves as a vertex would, and each end by 2wᵢ/(w₀ + w₁) of that.
    fn collide_edge(&self, ends: [usize; 2], arrays: &Arrays<'_, R>, obstacle: &Obstacle) {
        let middle = |of: &Shared<'_, Particle<R>>| (self.position(of, ends[0]) + self.position(of, ends[1])) * 0.5;
        let w = ends.map(|v| arrays.particles.get(v).inverse_mass().to_f64());
        if w[0] + w[1] == 0.0 {
            return;
        }
        let x = middle(&arrays.particles);
        let previous = || middle(&arrays.previous);
        let Some(touch) = obstacle.touch(x, previous, self.thickness, self.step.to_f64()) else { return };
        let (moved, lifted) = contact::project(&touch, x, previous());
        let (push, lift) = (moved - x, lifted - previous());
        for (end, w_i) in ends.into_iter().zip(w) {
            let part = 2.0 * w_i / (w[0] + w[1]);
            shift(&arrays.particles, end, push * part);
            shift(&arrays.previous, end, lift * part);
            arrays.facings.set(end, Facing { pushed: true, ..arrays.facings.get(end) });
        }
    }

    /// A position from its displacement, in m: in double precision, since a contact is a small difference of large numbers.
    #[inline(always)]
    fn position(&self, displacements: &Shared<'_, Particle<R>>, vertex: usize) -> Vec3<f64> {
        self.origins[vertex] + displacements.get(vertex).xyz().cast()
    }

    fn update(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>) {
        for i in worker.share(0..arrays.particles.len()) {
            // v = (x − xⁿ)/h, written as the predicted velocity plus the correction: the rounding of the position,
            // divided by a small h, would be a velocity of its own and let single precision drift.
            let velocity = arrays.velocities.get(i).four();
            let predicted = self.predicted(arrays.previous.get(i).four(), velocity);
            let correction = arrays.particles.get(i).four() - predicted;
            arrays.velocities.set(i, Particle::from_four(velocity + correction * self.inverse_steps));
        }
    }
}

/// How a vertex is placed to fine bodies.
#[derive(Clone, Copy, Default)]
struct Facing {
    /// The way out of the nearest; zero if all are far.
    normal: Vec3<f64>,
    /// Whether an edge has pushed the vertex in this iteration.
    pushed: bool,
}

/// The way out of the nearest fine body within reach; zero if there is none.
fn way_out(x: Vec3<f64>, obstacles: &[Obstacle], reach: f64) -> Vec3<f64> {
    let mut nearest = Probe { distance: reach, normal: Vec3::ZERO };
    for obstacle in obstacles.iter().filter(|obstacle| obstacle.is_fine) {
        nearest = obstacle.after.probe_within(x, nearest.distance).unwrap_or(nearest);
    }
    nearest.normal
}

/// Adds to a displacement.
#[inline(always)]
fn shift<R: Real>(displacements: &Shared<'_, Particle<R>>, vertex: usize, by: Vec3<f64>) {
    let particle = displacements.get(vertex);
    displacements.set(vertex, Particle::new(particle.xyz() + by.cast(), particle.inverse_mass()));
}
