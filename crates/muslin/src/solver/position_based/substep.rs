//! One substep over the vertices, whatever the law of the solver: predict, collide, update, each written once for `f32` and `f64`.
//!
//! A pass runs on every worker over its share of the vertices.
#![allow(unsafe_code, reason = "opens the particle arrays to the team; see `Arrays::open`")]

use std::ops::Range;

use crate::contact::Probe;
use crate::contact::kinematics::ColliderOverSubstep;
use crate::contact::response::penalty;
use crate::force::{Push, Wind};
use crate::math::{F32x4, Real, Vec3};
use crate::model::{Cloth, ContactEdges, Model, Pinned};
use crate::motion::Pose;
use crate::parallel::{Shared, Worker};
use crate::solver::Particle;
use crate::solver::position_based::particle::Moving;

/// The arrays of a frame, open to the team.
pub(crate) struct Arrays<'a, R: Real> {
    pub(crate) particles: Shared<'a, Particle<R>>,
    pub(crate) previous: Shared<'a, Particle<R>>,
    pub(crate) velocities: Shared<'a, Particle<R>>,
    pushes: Shared<'a, Push<R>>,
    pub(crate) contact_normals: Shared<'a, ContactNormal>,
    pub(crate) rest_offsets: Shared<'a, R>,
}

impl<'a, R: Real> Arrays<'a, R> {
    pub(crate) fn open(
        particles: &'a mut [Particle<R>],
        previous: &'a mut [Particle<R>],
        velocities: &'a mut [Particle<R>],
        pushes: &'a mut [Push<R>],
        contact_normals: &'a mut [ContactNormal],
        rest_offsets: &'a mut [R],
    ) -> Self {
        // SAFETY: what each pass gets and sets, with a barrier after each. "Own" is the worker's share of the vertices,
        // triangles or elements; shares differ from pass to pass, which the barriers make harmless.
        //
        //   arms           gets nothing                             sets own arms
        //   wind, first    gets all particles and velocities        sets own pushes
        //   wind, second   gets all pushes, own particles           sets own velocities
        //   predict, hold  gets own                                 sets own particles, previous, velocities
        //   one colour     gets those of own elements, their        sets those of own elements, which no other element
        //                  previous and arms                        of the colour has
        //   tethers        gets own, and anchors, which have no       sets own particles
        //                  tethers, so that nobody sets them then
        //   collide        gets own                                 sets own particles, previous, contact normals
        //   collide_edges  as one colour, for each of its colours   sets particles, previous, contact normals of own edges
        //   collide_again  gets own                                 sets own particles, previous
        //   update         gets own                                 sets own velocities
        //   forces         gets all particles, velocities, arms     sets nothing here
        //   move           as predict                               as predict
        //   residual       gets all particles, previous, arms       sets nothing
        //
        // (The second pass of the wind, predict and move have the same shares, so no barrier is needed between them.)
        unsafe {
            Self {
                particles: Shared::new(particles),
                previous: Shared::new(previous),
                velocities: Shared::new(velocities),
                pushes: Shared::new(pushes),
                contact_normals: Shared::new(contact_normals),
                rest_offsets: Shared::new(rest_offsets),
            }
        }
    }
}

/// What is the same in every substep of a frame.
pub(crate) struct Substep<'a, R: Real> {
    model: &'a Model,
    pub(crate) origins: &'a [Vec3<f64>],
    /// See [`Frame::clearances`].
    clearances: &'a [R],
    step: R,
    /// h, 1/h and h g in all lanes that move.
    steps: R::Four,
    inverse_steps: R::Four,
    gravity_step: R::Four,
    wind: Option<Wind<R>>,
    thickness: f64,
}

impl<'a, R: Real> Substep<'a, R> {
    pub(crate) fn new(model: &'a Model, origins: &'a [Vec3<f64>], clearances: &'a [R], step: f64) -> Self {
        let all = |number: f64| R::Four::from([R::from_f64(number); 4]);
        Self {
            model,
            origins,
            clearances,
            step: R::from_f64(step),
            steps: all(step),
            inverse_steps: all(1.0 / step),
            gravity_step: Particle::<R>::vector((model.gravity * step).cast()).four(),
            wind: model.wind.as_ref().map(Wind::cast),
            thickness: model.thickness,
        }
    }

    /// Forces from outside, then every vertex where it would go alone; pins where their paths lead.
    pub(crate) fn predict(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, pin_poses: &[Option<Pose>]) {
        if self.wind.is_some() {
            self.measure_wind(worker, arrays);
            worker.barrier();
        }
        self.go(worker, arrays, pin_poses, |_, _| |_, _, velocity| velocity);
    }

    /// Moves every vertex by its velocity, which wind, forces, damping and gravity change first; pins go where their paths lead.
    ///
    /// `forces` gets the vertices of a cloth that are this worker's, and gives a function that changes the velocity of one: of a vertex, what it is as a
    /// particle, and its velocity.
    #[inline(always)]
    pub(crate) fn go<Kick: Fn(usize, R::Four, R::Four) -> R::Four>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, R>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.go_on(worker, arrays, pin_poses, forces),
        );
    }

    #[inline(always)]
    fn go_on<Kick: Fn(usize, R::Four, R::Four) -> R::Four>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, R>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        for cloth in &self.model.cloths {
            let flight = self.flight(cloth);
            let share = worker.share(cloth.vertices.clone());
            if self.wind.is_some() {
                self.add_wind(share.clone(), arrays);
            }
            let kick = forces(cloth, share.clone());
            // Copies, which no store can change.
            let (particles, previous, velocities) = (arrays.particles, arrays.previous, arrays.velocities);
            for i in share.clone() {
                let particle = particles.get(i).four();
                previous.set(i, Particle::from_four(particle));
                let [particle, velocity] = flight.after(particle, kick(i, particle, velocities.get(i).four()));
                velocities.set(i, Particle::from_four(velocity));
                particles.set(i, Particle::from_four(particle));
            }
            self.hold(share, arrays, pin_poses);
        }
    }

    fn flight(&self, cloth: &Cloth) -> Flight<R> {
        let decay = R::Four::from([R::from_f64(self.decay(cloth)); 4]);
        Flight { decay, gravity_step: self.gravity_step, steps: self.steps }
    }

    /// Whether there is wind.
    pub(crate) fn has_wind(&self) -> bool {
        self.wind.is_some()
    }

    /// What damping leaves of a velocity after a substep.
    pub(crate) fn decay(&self, cloth: &Cloth) -> f64 {
        libm::exp(-cloth.damping * self.step.to_f64())
    }

    /// The push of the air on every triangle, where there is wind.
    pub(crate) fn measure_wind(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>) {
        let Some(wind) = &self.wind else { return };
        for t in worker.share(0..self.model.triangles.len()) {
            let corners = self.model.triangles[t].map(|v| v as usize);
            let first = self.origins[corners[0]];
            let x = corners.map(|v| (self.origins[v] - first).cast::<R>() + arrays.particles.get(v).xyz());
            arrays.pushes.set(t, wind.push(x, corners.map(|v| arrays.velocities.get(v).xyz())));
        }
    }

    /// Adds that push to the velocities of a share.
    fn add_wind(&self, share: Range<usize>, arrays: &Arrays<'_, R>) {
        for i in share {
            let around = self.model.vertex_triangles.of(i as u32).iter();
            let push = around.fold(Push::default(), |sum, &t| sum.plus(arrays.pushes.get(t as usize)));
            let change = push.velocity_step(arrays.particles.get(i).inverse_mass(), self.step);
            arrays.velocities.set(i, Particle::vector(arrays.velocities.get(i).xyz() + change));
        }
    }

    /// The pinned vertices of a share.
    pub(crate) fn pinned(&self, share: Range<usize>) -> impl Iterator<Item = &'a Pinned> {
        self.model.pinned_in(share)
    }

    /// Puts the pinned vertices of a share where their paths lead, and lets go of those that are released.
    fn hold(&self, share: Range<usize>, arrays: &Arrays<'_, R>, pin_poses: &[Option<Pose>]) {
        for p in self.pinned(share) {
            let i = p.vertex as usize;
            match &pin_poses[p.pin as usize] {
                Some(pose) => {
                    let target = pose.apply(self.model.initial_positions[i]) - self.origins[i];
                    arrays.particles.set(i, Particle::vector(target.cast()));
                    // Both ends of the substep have the same fourth number, so that of the velocity stays zero.
                    let previous = Particle::vector(arrays.previous.get(i).xyz());
                    arrays.previous.set(i, previous);
                    let velocity = (arrays.particles.get(i).four() - previous.four()) * self.inverse_steps;
                    arrays.velocities.set(i, Particle::from_four(velocity));
                }
                None => {
                    let inverse_mass = R::from_f64(self.model.inverse_masses[i]);
                    arrays.particles.set(i, Particle::new(arrays.particles.get(i).xyz(), inverse_mass));
                    arrays.previous.set(i, Particle::new(arrays.previous.get(i).xyz(), inverse_mass));
                }
            }
        }
    }

    /// All vertices, and the middles of edges, out of the bodies; ends with the team at a barrier.
    pub(crate) fn collide(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[ColliderOverSubstep]) {
        self.collide_vertices(worker, arrays, obstacles);
        worker.barrier();
        if !arrays.contact_normals.is_empty() {
            self.collide_edges(worker, arrays, obstacles);
            // What holds at the end of a substep holds for vertices.
            self.collide_again(worker, arrays, obstacles);
            worker.barrier();
        }
    }

    fn collide_vertices(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[ColliderOverSubstep]) {
        let reach = self.model.contact_edges.reach;
        for i in worker.share(0..arrays.particles.len()) {
            if !arrays.contact_normals.is_empty() {
                let x = self.position(&arrays.particles, i);
                arrays
                    .contact_normals
                    .set(i, ContactNormal { normal: way_out(x, obstacles, self.thickness + reach), pushed: false });
            }
            self.collide_vertex(i, arrays, obstacles);
        }
    }

    pub(crate) fn collide_vertex(&self, i: usize, arrays: &Arrays<'_, R>, obstacles: &[ColliderOverSubstep]) {
        if arrays.particles.get(i).inverse_mass() == R::ZERO {
            return;
        }
        let clearances = self.clearances[i * obstacles.len()..].iter();
        for (obstacle, &clearance) in obstacles.iter().zip(clearances) {
            // What is not a number is looked at.
            if arrays.particles.get(i).xyz().norm_squared() < clearance {
                continue;
            }
            let x = self.position(&arrays.particles, i);
            let previous = || self.position(&arrays.previous, i);
            if let Some(touch) = obstacle.touch(x, previous, self.thickness, self.step.to_f64()) {
                let (moved, lifted) = penalty::project(&touch, x, previous());
                shift(&arrays.particles, i, moved - x);
                shift(&arrays.previous, i, lifted - previous());
            }
        }
    }

    /// The vertices that an edge has pushed, once more.
    fn collide_again(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[ColliderOverSubstep]) {
        for i in worker.share(0..arrays.particles.len()) {
            if arrays.contact_normals.get(i).pushed {
                self.collide_vertex(i, arrays, obstacles);
            }
        }
    }

    /// The middles of the edges against bodies that could pass between two vertices; a barrier after each colour.
    ///
    /// Most edges need no look: those with an end that is far away, and those whose ends are outside the same plane of a
    /// convex body, since their middles are outside it then too.
    fn collide_edges(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[ColliderOverSubstep]) {
        /// The cosine of two ways out that count as one.
        const SAME: f64 = 1.0 - 1e-9;
        let ContactEdges { stencils, colors, .. } = &self.model.contact_edges;
        for color in colors {
            for e in worker.share(color.clone()) {
                let [a, b] = stencils[e].map(|v| arrays.contact_normals.get(v as usize).normal);
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
    fn collide_edge(&self, ends: [usize; 2], arrays: &Arrays<'_, R>, obstacle: &ColliderOverSubstep) {
        let middle = |of: &Shared<'_, Particle<R>>| (self.position(of, ends[0]) + self.position(of, ends[1])) * 0.5;
        let w = ends.map(|v| arrays.particles.get(v).inverse_mass().to_f64());
        if w[0] + w[1] == 0.0 {
            return;
        }
        let x = middle(&arrays.particles);
        let previous = || middle(&arrays.previous);
        let Some(touch) = obstacle.touch(x, previous, self.thickness, self.step.to_f64()) else { return };
        let (moved, lifted) = penalty::project(&touch, x, previous());
        let (push, lift) = (moved - x, lifted - previous());
        for (end, w_i) in ends.into_iter().zip(w) {
            let part = 2.0 * w_i / (w[0] + w[1]);
            shift(&arrays.particles, end, push * part);
            shift(&arrays.previous, end, lift * part);
            arrays.contact_normals.set(end, ContactNormal { pushed: true, ..arrays.contact_normals.get(end) });
        }
    }

    /// A position from its displacement, in m: in double precision, since a contact is a small difference of large numbers.
    #[inline(always)]
    fn position(&self, displacements: &Shared<'_, Particle<R>>, vertex: usize) -> Vec3<f64> {
        self.origins[vertex] + displacements.get(vertex).xyz().cast()
    }

    /// Velocities from positions.
    pub(crate) fn update(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>) {
        for i in worker.share(0..arrays.particles.len()) {
            // v = (x − xⁿ)/h, written as the predicted velocity plus the correction: the rounding of the position,
            // divided by a small h, would be a velocity of its own and let single precision drift.
            let velocity = arrays.velocities.get(i).four();
            let end = predicted::<R>(arrays.previous.get(i).four(), velocity, self.steps);
            let correction = arrays.particles.get(i).four() - end;
            arrays.velocities.set(i, Particle::from_four(velocity + correction * self.inverse_steps));
        }
    }
}

/// How the vertices of a cloth go.
struct Flight<R: Real> {
    decay: R::Four,
    gravity_step: R::Four,
    steps: R::Four,
}

impl<R: Real> Flight<R> {
    /// Displacement and velocity after a substep, from those before; forces have changed the velocity.
    #[inline(always)]
    fn after(&self, particle: R::Four, kicked: R::Four) -> [R::Four; 2] {
        // Damping slows what moves; it takes nothing from the weight.
        let velocity = kicked * self.decay + self.gravity_step;
        [predicted::<R>(particle, velocity, self.steps), velocity]
    }
}

impl Substep<'_, f32> {
    /// [`go`](Self::go) for vertices that are kept together, where there is no wind, and nothing but pins acts on them afterwards. It goes
    /// through half as much memory.
    #[inline(always)]
    pub(crate) fn go_together<Kick: Fn(usize, F32x4, F32x4) -> F32x4>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, f32>,
        motion: &Shared<'_, Moving>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.go_on_together(worker, arrays, motion, pin_poses, forces),
        );
    }

    #[inline(always)]
    fn go_on_together<Kick: Fn(usize, F32x4, F32x4) -> F32x4>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, f32>,
        motion: &Shared<'_, Moving>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        // A copy, which no store can change.
        let motion = *motion;
        for cloth in &self.model.cloths {
            let flight = self.flight(cloth);
            let share = worker.share(cloth.vertices.clone());
            let pinned = || self.pinned(share.clone()).map(|pinned| pinned.vertex as usize);
            for i in pinned() {
                arrays.previous.set(i, Particle::from_four(motion.get(i).particle()));
            }
            let kick = forces(cloth, share.clone());
            for i in share.clone() {
                let before = motion.get(i);
                let kicked = kick(i, before.particle(), before.velocity());
                let [particle, velocity] = flight.after(before.particle(), kicked);
                motion.set(i, Moving::new(particle, velocity));
            }
            for i in pinned() {
                part(arrays, &motion, i);
            }
            self.hold(share.clone(), arrays, pin_poses);
            for i in pinned() {
                join(arrays, &motion, i);
            }
        }
    }
}

/// Puts displacement and velocity of a vertex together.
#[inline(always)]
pub(crate) fn join(arrays: &Arrays<'_, f32>, motion: &Shared<'_, Moving>, vertex: usize) {
    motion.set(vertex, Moving::new(arrays.particles.get(vertex).four(), arrays.velocities.get(vertex).four()));
}

/// The reverse.
#[inline(always)]
pub(crate) fn part(arrays: &Arrays<'_, f32>, motion: &Shared<'_, Moving>, vertex: usize) {
    let moving = motion.get(vertex);
    arrays.particles.set(vertex, Particle::from_four(moving.particle()));
    arrays.velocities.set(vertex, Particle::from_four(moving.velocity()));
}

/// Where a vertex would be at the end of the substep on its own, in m.
#[inline(always)]
fn predicted<R: Real>(start: R::Four, velocity: R::Four, steps: R::Four) -> R::Four {
    start + velocity * steps
}

/// How a vertex is placed to fine bodies.
#[derive(Clone, Copy, Default)]
pub(crate) struct ContactNormal {
    /// The way out of the nearest; zero if all are far.
    normal: Vec3<f64>,
    /// Whether an edge has pushed the vertex in this iteration.
    pushed: bool,
}

/// The way out of the nearest fine body within reach; zero if there is none.
fn way_out(x: Vec3<f64>, obstacles: &[ColliderOverSubstep], reach: f64) -> Vec3<f64> {
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
