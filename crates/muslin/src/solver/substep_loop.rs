//! Substep loop of the solvers that work with forces, in double precision; they differ in their [`Scheme`].
//!
//! ```text
//! for each substep
//!     predict    damping, wind and gravity; then y, where every vertex would go alone; pins where their paths lead
//!     solve      the scheme: from xⁿ and y to x and v
//!     collide    vertices out of the colliders, with friction; cloth out of cloth
//!     update     no stage of its own: the scheme gives v with x, and whatever moves x afterwards changes v by that move over h
//! ```
//!
//! Threads share the prediction and collision of large cloths, each with vertices of its own. One thread copies positions from frame to frame.

use crate::contact::kinematics::{ColliderOverSubstep, Kinematics};
use crate::contact::resolve::ContactResolution;
use crate::contact::response::collider_penalties::ColliderPenalties;
use crate::contact::response::pair_penalties::PairPenalties;
use crate::force::Push;
use crate::math::{Real, Vec3};
use crate::model::Model;
use crate::motion::Pose;
use crate::parallel::Shared;
use crate::solver::adaptive::Paced;
use crate::solver::ledger::{Books, Ledger};
use crate::solver::vertex_stages::{ContactMove, ResolvedVertices, VertexStages, VertexStore, resolve_contact};
use crate::solver::{Context, Particle, Solver, Stage, StepError, StepReport, Stopwatch};
use crate::state::{SolverMemory, State};

/// How a solver makes one substep.
pub(crate) trait Scheme: Send + Sync {
    /// Gets ready for a frame: the place to allocate, which the second frame finds done.
    fn prepare(&mut self, context: &Context<'_>, motion: &Motion, step: f64) -> Result<(), StepError>;

    /// Substeps that it wants for a frame of `dt` seconds from a state, whose positions are in `motion`, where they are not given.
    fn wanted_substeps(&mut self, context: &Context<'_>, motion: &mut Motion, state: &State, dt: f64) -> u32;

    /// [`Paced::leaves_true_strain`].
    fn leaves_true_strain(&self) -> bool {
        false
    }

    /// Is told the substeps of a frame.
    fn set_substeps(&mut self, _substeps: u32) {}

    /// Looks at xⁿ and vⁿ before damping, wind and gravity have changed the velocities.
    fn begin(&mut self, _motion: &Motion) {}

    /// Moves [`Motion::positions`] and [`Motion::velocities`] over one substep; a scheme whose objective has contact of pairs gets them from `search`.
    fn step(
        &mut self,
        substep: &Substep<'_>,
        motion: &mut Motion,
        search: &mut PairSearch<'_>,
    ) -> Result<Outcome, StepError>;

    /// Looks at the end of a substep, after contact has moved positions and lifted [`Motion::previous`].
    fn end(&mut self, _motion: &Motion) {}

    /// The work of pins and of mesh colliders through contact of pairs while the scheme solved, in J.
    fn pair_work(&self, _motion: &Motion) -> [f64; 2] {
        [0.0; 2]
    }

    /// Tells, after a step, of each vertex that a moving collider has pushed at while the scheme solved, and the work, in J.
    fn each_body_work(&self, _substep: &Substep<'_>, _motion: &Motion, _visit: &mut dyn FnMut(usize, f64)) {}

    /// What the next frame needs besides positions and velocities, for the state to carry.
    fn remember(&self, memory: &mut SolverMemory) {
        *memory = SolverMemory::Nothing;
    }

    /// The reverse, at the start of a frame.
    fn recall(&mut self, _memory: &SolverMemory) {}
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
    pub(crate) colliders: &'a [ColliderOverSubstep],
    /// h, in s.
    pub(crate) step: f64,
    /// Simulated time at the start, in s.
    pub(crate) time: f64,
}

impl<'a> Substep<'a> {
    /// Contact with the bodies, for a solver with a line search or without: one that moves a vertex at a time, each only downhill, has none.
    pub(crate) fn collider_penalties(&self, is_searched: bool) -> ColliderPenalties<'a> {
        ColliderPenalties::new(self.colliders, self.model.thickness, self.step, is_searched)
    }
}

/// Where a scheme finds the pairs that are near.
pub(crate) struct PairSearch<'a>(Option<&'a mut ContactResolution>);

impl PairSearch<'_> {
    /// Replaces `pairs` by those that are, or come, too near on the way to `ends`, in m. Returns by how much a depth has changed at most, in m.
    pub(crate) fn replace(
        &mut self,
        pairs: &mut PairPenalties,
        substep: &Substep<'_>,
        (ends, inverse_masses): (&[Vec3<f64>], &[f64]),
    ) -> f64 {
        let Some(resolution) = &mut self.0 else { return 0.0 };
        let context = substep.context.contact();
        pairs.replace(resolution.find_penalties(&context, (ends, inverse_masses), substep.step), ends)
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
    ledger: Ledger,
}

impl Motion {
    /// v = (x − xⁿ)/h of every vertex: what most schemes end with.
    pub(crate) fn set_velocities(&mut self, step: f64) {
        for ((v, x), previous) in self.velocities.iter_mut().zip(&self.positions).zip(&self.previous) {
            *v = (*x - *previous) * (1.0 / step);
        }
    }

    /// **Predict.** Damping, wind and gravity, then y; pins where their paths lead.
    fn predict(&mut self, context: &Context<'_>, step: f64, pin_poses: &[Option<Pose>]) {
        let (stages, arrays) = self.open(context, step);
        let threads = context.team.sharing(context.threads, arrays.positions.len());
        context.team.run(threads, |worker| {
            for cloth in &context.model.cloths {
                for i in worker.share(cloth.vertices.clone()) {
                    arrays.start_velocities.set(i, arrays.velocities.get(i));
                }
            }
            stages.predict(worker, &arrays, pin_poses);
        });
    }

    /// **Collide.** Vertices out of the colliders: the velocity changes by what the position does.
    fn collide(&mut self, context: &Context<'_>, colliders: &[ColliderOverSubstep], step: f64) {
        if colliders.is_empty() {
            return;
        }
        let (stages, arrays) = self.open(context, step);
        let threads = context.team.sharing(context.threads, arrays.positions.len());
        context.team.run(threads, |worker| {
            let share = worker.share(0..arrays.positions.len());
            share.for_each(|vertex| stages.collide_vertex(vertex, &arrays, colliders));
        });
    }

    /// Opens the arrays to the team, beside the stages.
    fn open<'a>(&'a mut self, context: &Context<'a>, step: f64) -> (VertexStages<'a, f64>, MotionArrays<'a>) {
        // A worker gets and sets those of its share of the vertices, and sets the pushes of its share of the triangles. Only these are got of others, after a
        // barrier, and positions and velocities for them, before it. The start velocities are set from velocities of the same share as the prediction's.
        let team = context.team;
        let arrays = MotionArrays {
            positions: Shared::open(team, &mut self.positions),
            velocities: Shared::open(team, &mut self.velocities),
            start_velocities: Shared::open(team, &mut self.start_velocities),
            previous: Shared::open(team, &mut self.previous),
            predicted: Shared::open(team, &mut self.predicted),
            inverse_masses: Shared::open(team, &mut self.inverse_masses),
            pushes: Shared::open(team, &mut self.pushes),
            books: self.ledger.open(context, step),
            inverse_step: 1.0 / step,
        };
        (VertexStages::new(context.model, step), arrays)
    }

    /// Books the work of the substep, at its end.
    fn book(&mut self, context: &Context<'_>, step: f64, pin_poses: &[Option<Pose>]) {
        let (stages, arrays) = self.open(context, step);
        if arrays.books.are_open() {
            let threads = context.team.sharing(context.threads, arrays.positions.len());
            context.team.run(threads, |worker| stages.book(worker, &arrays, pin_poses));
        }
    }

    /// Takes over the positions of a contact resolution.
    fn take(&mut self, resolution: &ContactResolution, step: f64) {
        for ((x, v), y) in self.positions.iter_mut().zip(&mut self.velocities).zip(&resolution.end) {
            *v += (*y - *x) * (1.0 / step);
            *x = *y;
        }
    }
}

/// The arrays of a [`Motion`], open to the team.
#[derive(Clone, Copy)]
pub(crate) struct MotionArrays<'a> {
    positions: Shared<'a, Vec3<f64>>,
    velocities: Shared<'a, Vec3<f64>>,
    start_velocities: Shared<'a, Vec3<f64>>,
    previous: Shared<'a, Vec3<f64>>,
    predicted: Shared<'a, Vec3<f64>>,
    inverse_masses: Shared<'a, f64>,
    pushes: Shared<'a, Push<f64>>,
    books: Books<'a>,
    /// 1/h, in 1/s.
    inverse_step: f64,
}

impl VertexStore<f64> for MotionArrays<'_> {
    #[inline(always)]
    fn start(&self, vertex: usize) -> [<f64 as Real>::Four; 2] {
        [self.positions.get(vertex), self.velocities.get(vertex)].map(|vector| Particle::vector(vector).four())
    }

    #[inline(always)]
    fn set_predicted(&self, vertex: usize, start: <f64 as Real>::Four, predicted: [<f64 as Real>::Four; 2]) {
        let [start, predicted, velocity] =
            [start, predicted[0], predicted[1]].map(|four| Particle::from_four(four).xyz());
        self.previous.set(vertex, start);
        self.velocities.set(vertex, velocity);
        self.predicted.set(vertex, predicted);
    }

    fn hold(&self, vertex: usize, target: Vec3<f64>, inverse_step: f64) {
        self.velocities.set(vertex, (target - self.positions.get(vertex)) * inverse_step);
        self.positions.set(vertex, target);
        self.predicted.set(vertex, target);
        self.inverse_masses.set(vertex, 0.0);
    }

    fn release(&self, vertex: usize, inverse_mass: f64) {
        self.inverse_masses.set(vertex, inverse_mass);
    }

    #[inline(always)]
    fn inverse_mass(&self, vertex: usize) -> f64 {
        self.inverse_masses.get(vertex)
    }

    #[inline(always)]
    fn velocity(&self, vertex: usize) -> Vec3<f64> {
        self.velocities.get(vertex)
    }

    #[inline(always)]
    fn set_velocity(&self, vertex: usize, velocity: Vec3<f64>) {
        self.velocities.set(vertex, velocity);
    }

    #[inline(always)]
    fn corners(&self, triangle: [usize; 3]) -> [Vec3<f64>; 3] {
        triangle.map(|v| self.positions.get(v))
    }

    #[inline(always)]
    fn pushes(&self) -> Shared<'_, Push<f64>> {
        self.pushes
    }

    #[inline(always)]
    fn position(&self, vertex: usize) -> Vec3<f64> {
        self.positions.get(vertex)
    }

    #[inline(always)]
    fn previous(&self, vertex: usize) -> Vec3<f64> {
        self.previous.get(vertex)
    }

    /// Never: clearances are not measured.
    #[inline(always)]
    fn is_clear(&self, _vertex: usize, _collider: usize, _colliders: usize) -> bool {
        false
    }

    #[inline(always)]
    fn displace(&self, vertex: usize, by: &ContactMove) {
        let change = ((by.x[1] - by.x[0]) - (by.previous[1] - by.previous[0])) * self.inverse_step;
        self.velocities.set(vertex, self.velocities.get(vertex) + change);
        self.positions.set(vertex, by.x[1]);
        self.previous.set(vertex, by.previous[1]);
    }

    #[inline(always)]
    fn books(&self) -> &Books<'_> {
        &self.books
    }
}

/// A motion whose substep contact resolution ends: the velocity changes by what the position does.
struct MotionInContact<'a> {
    motion: &'a mut Motion,
    step: f64,
}

impl ResolvedVertices for MotionInContact<'_> {
    fn set_ends(&self, resolution: &mut ContactResolution, _context: &Context<'_>) {
        resolution.end.clone_from(&self.motion.positions);
        resolution.inverse_masses.clone_from(&self.motion.inverse_masses);
    }

    fn take_push(
        &mut self,
        resolution: &mut ContactResolution,
        context: &Context<'_>,
        colliders: &[ColliderOverSubstep],
        step: f64,
    ) {
        let motion = &mut *self.motion;
        // Mesh colliders stand behind the cloths.
        for ((previous, v), lift) in motion.previous.iter_mut().zip(&mut motion.velocities).zip(&resolution.lifts) {
            *previous += *lift;
            *v -= *lift * (1.0 / step);
        }
        motion.take(resolution, step);
        motion.collide(context, colliders, step);
        resolution.end_anywhere(|i| motion.positions[i]);
    }

    fn take_certified(&mut self, resolution: &mut ContactResolution, _is_changed: bool) {
        self.motion.take(resolution, self.step);
        resolution.start[..self.motion.positions.len()].copy_from_slice(&self.motion.positions);
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

    fn load(&mut self, context: &Context<'_>, state: &State, dt: f64) {
        let (model, motion) = (context.model, &mut self.motion);
        motion.positions.clone_from(&state.positions);
        motion.velocities.clone_from(&state.velocities);
        motion.previous.clone_from(&state.positions);
        motion.start_velocities.clone_from(&state.velocities);
        motion.predicted.clone_from(&state.positions);
        motion.inverse_masses.clone_from(&model.inverse_masses);
        motion.pushes.resize(if model.wind.is_some() { model.triangles.len() } else { 0 }, Push::default());
        self.kinematics.load(model, state.time, dt, self.substeps);
        motion.ledger.begin(context, state, &self.kinematics, (self.substeps, dt / f64::from(self.substeps)));
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

    /// Copies the vertices back into the state, if all of them are finite.
    fn store(&self, model: &Model, state: &mut State, dt: f64) -> Result<(), StepError> {
        let bad = |(x, v): (&Vec3<f64>, &Vec3<f64>)| !x.is_finite() || !v.is_finite();
        if let Some(index) = self.motion.positions.iter().zip(&self.motion.velocities).position(bad) {
            return Err(StepError::non_finite(model, index));
        }
        state.positions.clone_from(&self.motion.positions);
        state.velocities.clone_from(&self.motion.velocities);
        self.scheme.remember(&mut state.memory);
        state.time += dt;
        Ok(())
    }
}

impl<S: Scheme> Paced for SubstepLoop<S> {
    fn set_substeps(&mut self, substeps: u32) {
        self.substeps = substeps;
        self.scheme.set_substeps(substeps);
    }

    fn wanted_substeps(&mut self, context: &Context<'_>, state: &State, dt: f64) -> u32 {
        self.scheme.wanted_substeps(context, &mut self.motion, state, dt)
    }

    fn leaves_true_strain(&self) -> bool {
        self.scheme.leaves_true_strain()
    }
}

impl<S: Scheme> Solver for SubstepLoop<S> {
    fn unsolved(&self) -> Option<f64> {
        self.unsolved
    }

    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let mut watch = Stopwatch::new(context.clock, true);
        let mut report = StepReport { substeps: self.substeps, ..StepReport::default() };
        let model = context.model;
        let step = dt / f64::from(self.substeps);
        self.unsolved = None;
        self.load(context, state, dt);
        self.scheme.recall(&state.memory);
        self.scheme.prepare(context, &self.motion, step)?;
        watch.lap(Stage::Update);
        for s in 0..self.substeps {
            let colliders = self.kinematics.colliders(s as usize);
            self.scheme.begin(&self.motion);
            self.motion.predict(context, step, self.kinematics.pin_poses(s as usize));
            watch.lap(Stage::Predict);
            let substep = Substep { context, model, colliders, step, time: state.time + step * f64::from(s) };
            if let Some(resolution) = &mut self.resolution {
                resolution.lead(model, self.kinematics.time_after(s as usize));
            }
            let mut search = PairSearch(self.resolution.as_deref_mut());
            let outcome = self.scheme.step(&substep, &mut self.motion, &mut search)?;
            self.motion.ledger.add_pairs(self.scheme.pair_work(&self.motion));
            if self.kinematics.moves_colliders() {
                let mut works = std::mem::take(&mut self.motion.ledger);
                self.scheme.each_body_work(&substep, &self.motion, &mut |vertex, work| works.add_body(vertex, work));
                self.motion.ledger = works;
            }
            watch.lap(Stage::Solve);
            self.motion.collide(context, colliders, step);
            if let Some(resolution) = &mut self.resolution {
                let mut motion = MotionInContact { motion: &mut self.motion, step };
                resolve_contact(&mut motion, resolution, context, colliders, step)?;
                self.motion.ledger.add_pairs(resolution.take_work());
            }
            self.motion.book(context, step, self.kinematics.pin_poses(s as usize));
            self.scheme.end(&self.motion);
            watch.lap(Stage::Collide);
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
        self.store(model, state, dt)?;
        report.work = self.motion.ledger.close();
        if let Some(resolution) = &self.resolution {
            report.contacts = resolution.pushed();
            report.contact_stats = resolution.contact_stats();
        }
        watch.lap(Stage::Update);
        Ok(StepReport { stages: watch.times(), ..report })
    }
}
