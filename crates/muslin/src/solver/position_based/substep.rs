//! Vertices as displacements since the start of the frame: their storage for [`VertexStages`], edges against colliders, and the update of velocities.
//!
//! A pass runs on every worker over its share of the vertices.

use std::ops::Range;

use crate::contact::kinematics::ColliderOverSubstep;
use crate::force::Push;
use crate::math::{F32x4, Real, Vec3};
use crate::model::Cloth;
use crate::motion::Pose;
use crate::parallel::{OwnElement, OwnItems, Shared, Team, Worker};
use crate::shape::Probe;
use crate::solver::Particle;
use crate::solver::ledger::Books;
use crate::solver::position_based::particle::Moving;
use crate::solver::vertex_stages::{ContactMove, VertexStages, VertexStore, predicted};

/// The arrays of a frame, open to the team.
#[derive(Clone, Copy)]
pub(crate) struct Arrays<'a, R: Real> {
    /// Where the vertices are at the start of the frame, in m; the rest is relative to that.
    pub(crate) origins: &'a [Vec3<f64>],
    /// See [`Frame`](crate::solver::position_based::vertices::Frame).
    clearances: &'a [R],
    pub(crate) particles: Shared<'a, Particle<R>>,
    pub(crate) previous: Shared<'a, Particle<R>>,
    pub(crate) velocities: Shared<'a, Particle<R>>,
    pushes: Shared<'a, Push<R>>,
    pub(crate) contact_normals: Shared<'a, ContactNormal>,
    pub(crate) rest_offsets: &'a [R],
    books: Books<'a>,
}

impl<'a, R: Real> Arrays<'a, R> {
    pub(crate) fn open(
        team: &'a Team,
        (origins, clearances, rest_offsets, books): (&'a [Vec3<f64>], &'a [R], &'a [R], Books<'a>),
        particles: &'a mut [Particle<R>],
        previous: &'a mut [Particle<R>],
        velocities: &'a mut [Particle<R>],
        pushes: &'a mut [Push<R>],
        contact_normals: &'a mut [ContactNormal],
    ) -> Self {
        // What each pass gets and sets, with a barrier after each. "Own" is the worker's share of the vertices,
        // triangles or elements; shares differ from pass to pass, which the barriers make harmless.
        //
        //   wind, first    gets all particles and velocities        sets own pushes
        //   wind, second   gets all pushes, own particles           sets own velocities
        //   predict, hold  gets own                                 sets own particles, previous, velocities
        //   one colour     gets those of own elements, their        sets those of own elements, which no other element
        //                  previous                                 of the colour has
        //   tethers        gets own, and anchors, which have no       sets own particles
        //                  tethers, so that nobody sets them then
        //   limit_ways     gets own                                 sets own particles
        //   collide        gets own                                 sets own particles, previous, contact normals
        //   collide_edges  as one colour, for each of its colours   sets particles, previous, contact normals of own edges
        //   collide_again  gets own                                 sets own particles, previous
        //   update         gets own                                 sets own velocities
        //   forces         gets all particles, velocities           sets nothing here
        //   move           as predict                               as predict
        //   end_substep    gets all particles, previous, velocities  sets own books
        //   residual       gets all particles, previous             sets nothing
        //
        // (The second pass of the wind, predict and move have the same shares, so no barrier is needed between them.)
        Self {
            origins,
            clearances,
            particles: Shared::open(team, particles),
            previous: Shared::open(team, previous),
            velocities: Shared::open(team, velocities),
            pushes: Shared::open(team, pushes),
            contact_normals: Shared::open(team, contact_normals),
            rest_offsets,
            books,
        }
    }
}

impl<R: Real> Arrays<'_, R> {
    /// A position from its displacement, in m.
    #[inline(always)]
    fn position_of(&self, displacements: &Shared<'_, Particle<R>>, vertex: usize) -> Vec3<f64> {
        self.origins[vertex] + displacements.get(vertex).xyz().cast()
    }
}

impl<R: Real> VertexStore<R> for Arrays<'_, R> {
    #[inline(always)]
    fn start(&self, vertex: usize) -> [R::Four; 2] {
        [self.particles.get(vertex).four(), self.velocities.get(vertex).four()]
    }

    #[inline(always)]
    fn set_predicted(&self, vertex: usize, start: R::Four, [particle, velocity]: [R::Four; 2]) {
        self.previous.set(vertex, Particle::from_four(start));
        self.velocities.set(vertex, Particle::from_four(velocity));
        self.particles.set(vertex, Particle::from_four(particle));
    }

    fn hold(&self, vertex: usize, target: Vec3<f64>, inverse_step: R) {
        self.particles.set(vertex, Particle::vector((target - self.origins[vertex]).cast()));
        // Both ends of the substep have the same fourth number, so that of the velocity stays zero.
        let previous = Particle::vector(self.previous.get(vertex).xyz());
        self.previous.set(vertex, previous);
        let velocity = (self.particles.get(vertex).four() - previous.four()) * R::Four::from([inverse_step; 4]);
        self.velocities.set(vertex, Particle::from_four(velocity));
    }

    fn release(&self, vertex: usize, inverse_mass: f64) {
        let inverse_mass = R::from_f64(inverse_mass);
        self.particles.set(vertex, Particle::new(self.particles.get(vertex).xyz(), inverse_mass));
        self.previous.set(vertex, Particle::new(self.previous.get(vertex).xyz(), inverse_mass));
    }

    #[inline(always)]
    fn inverse_mass(&self, vertex: usize) -> R {
        self.particles.get(vertex).inverse_mass()
    }

    #[inline(always)]
    fn velocity(&self, vertex: usize) -> Vec3<R> {
        self.velocities.get(vertex).xyz()
    }

    #[inline(always)]
    fn set_velocity(&self, vertex: usize, velocity: Vec3<R>) {
        self.velocities.set(vertex, Particle::vector(velocity));
    }

    #[inline(always)]
    fn corners(&self, triangle: [usize; 3]) -> [Vec3<R>; 3] {
        let first = self.origins[triangle[0]];
        triangle.map(|v| (self.origins[v] - first).cast::<R>() + self.particles.get(v).xyz())
    }

    #[inline(always)]
    fn pushes(&self) -> Shared<'_, Push<R>> {
        self.pushes
    }

    #[inline(always)]
    fn position(&self, vertex: usize) -> Vec3<f64> {
        self.position_of(&self.particles, vertex)
    }

    #[inline(always)]
    fn previous(&self, vertex: usize) -> Vec3<f64> {
        self.position_of(&self.previous, vertex)
    }

    #[inline(always)]
    fn is_clear(&self, vertex: usize, collider: usize, colliders: usize) -> bool {
        // What is not a number is looked at.
        self.particles.get(vertex).xyz().norm_squared() < self.clearances[vertex * colliders + collider]
    }

    #[inline(always)]
    fn displace(&self, vertex: usize, by: &ContactMove) {
        self.particles.set(vertex, shifted(self.particles.get(vertex), by.x[1] - by.x[0]));
        self.previous.set(vertex, shifted(self.previous.get(vertex), by.previous[1] - by.previous[0]));
    }

    #[inline(always)]
    fn books(&self) -> &Books<'_> {
        &self.books
    }
}

impl<R: Real> VertexStages<'_, R> {
    /// **Collide.** All vertices, and the midpoints of edges, out of the colliders; ends with the team at a barrier.
    pub(crate) fn collide(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, colliders: &[ColliderOverSubstep]) {
        self.collide_vertices(worker, arrays, colliders);
        worker.barrier();
        if !arrays.contact_normals.is_empty() {
            self.collide_edges(worker, arrays, colliders);
            // What holds at the end of a substep holds for vertices.
            self.collide_again(worker, arrays, colliders);
            worker.barrier();
        }
    }

    /// Shortens the way of every free vertex in this substep to `longest`, in m.
    pub(crate) fn limit_ways(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, longest: f64) {
        let longest = R::from_f64(longest);
        for i in worker.share(0..arrays.particles.len()) {
            let (particle, previous) = (arrays.particles.get(i), arrays.previous.get(i));
            let way = particle.xyz() - previous.xyz();
            let length = way.norm();
            if particle.inverse_mass() > R::ZERO && length > longest {
                let kept = previous.xyz() + way * (longest / length);
                arrays.particles.set(i, Particle::new(kept, particle.inverse_mass()));
            }
        }
    }

    fn collide_vertices(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, colliders: &[ColliderOverSubstep]) {
        for i in worker.share(0..arrays.particles.len()) {
            if !arrays.contact_normals.is_empty() {
                arrays.contact_normals.set(i, self.contact_normal(arrays.position(i), arrays.previous(i), colliders));
            }
            self.collide_vertex(i, arrays, colliders);
        }
    }

    /// How a vertex that comes from `previous` is placed to fine colliders, in m.
    fn contact_normal(&self, x: Vec3<f64>, previous: Vec3<f64>, colliders: &[ColliderOverSubstep]) -> ContactNormal {
        let (thickness, edge) = (self.thickness(), self.model.contact_edges.reach);
        let fine = || colliders.iter().filter(|collider| collider.is_fine);
        let longest = fine().map(|collider| collider.longest_squared(x, previous)).fold(0.0, f64::max);
        let mut nearest = Probe { distance: thickness + edge, normal: Vec3::ZERO };
        for collider in fine() {
            nearest = collider.after.probe_within(x, nearest.distance).unwrap_or(nearest);
        }
        let is_fast = longest > thickness * thickness;
        let comes_near = is_fast && {
            let reach = longest.sqrt() + edge;
            fine().any(|collider| collider.after.probe_within(x, reach).is_some())
        };
        ContactNormal { normal: nearest.normal, is_fast, comes_near, pushed: false }
    }

    /// The vertices that an edge has pushed, once more.
    fn collide_again(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, colliders: &[ColliderOverSubstep]) {
        for i in worker.share(0..arrays.particles.len()) {
            if arrays.contact_normals.get(i).pushed {
                self.collide_vertex(i, arrays, colliders);
            }
        }
    }

    /// The midpoints of the edges against colliders that could pass between two vertices; a barrier after each colour.
    ///
    /// Most edges need no look: those with an end that is far away, and those whose ends are outside the same plane of a
    /// convex collider, since their midpoints are outside it then too. Where an end is fast, the midpoint may have passed through a collider on its way all the same, unless
    /// both are farther away than they have come: then it is, too.
    fn collide_edges(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, colliders: &[ColliderOverSubstep]) {
        /// The cosine of two normals that count as one.
        const SAME: f64 = 1.0 - 1e-9;
        worker.for_each_color(&self.model.contact_edges.stencils, |edge| {
            let normals = edge.of(&arrays.contact_normals);
            let ends = [0, 1].map(|end| normals.get(end));
            let [a, b] = ends.map(|end| end.normal);
            let touches = a != Vec3::ZERO && b != Vec3::ZERO && a.dot(b) <= SAME;
            let crosses = ends.iter().any(|end| end.is_fast)
                && ends.iter().any(|end| end.comes_near || !end.is_fast && end.normal != Vec3::ZERO);
            if !touches && !crosses {
                return;
            }
            for collider in colliders.iter().filter(|collider| collider.is_fine) {
                self.collide_edge(edge, arrays, collider, touches);
            }
        });
    }

    /// C = d((x₀ + x₁)/2) − t ≥ 0: the midpoint moves as a vertex would, and each end by 2wᵢ/(w₀ + w₁) of that. Unless it may touch, it only may have passed through.
    fn collide_edge(
        &self,
        edge: &OwnElement<'_, 2>,
        arrays: &Arrays<'_, R>,
        collider: &ColliderOverSubstep,
        may_touch: bool,
    ) {
        let (particles, previous) = (edge.of(&arrays.particles), edge.of(&arrays.previous));
        let origins = edge.stencil().map(|v| arrays.origins[v as usize]);
        let midpoint = |of: &OwnItems<'_, '_, Particle<R>, 2>| {
            let [a, b] = [0, 1].map(|end| origins[end] + of.get(end).xyz().cast());
            (a + b) * 0.5
        };
        let w = [0, 1].map(|end| particles.get(end).inverse_mass().to_f64());
        if w[0] + w[1] == 0.0 {
            return;
        }
        let (x, from) = (midpoint(&particles), || midpoint(&previous));
        let by = if may_touch { self.touch(x, from, collider) } else { self.crossing(x, from(), collider) };
        let Some(by) = by else { return };
        let (push, lift) = (by.x[1] - by.x[0], by.previous[1] - by.previous[0]);
        let normals = edge.of(&arrays.contact_normals);
        for end in 0..2 {
            let part = 2.0 * w[end] / (w[0] + w[1]);
            particles.set(end, shifted(particles.get(end), push * part));
            previous.set(end, shifted(previous.get(end), lift * part));
            if w[end] > 0.0 {
                arrays.books.add_body(edge.stencil()[end] as usize, by.change() * part, by.surface_step);
            }
            normals.set(end, ContactNormal { pushed: true, ..normals.get(end) });
        }
    }

    /// **Update.** Velocities from positions.
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

impl VertexStages<'_, f32> {
    /// [`predict_with`](Self::predict_with) for vertices that are kept together, where there is no wind, and nothing but pins acts on them afterwards. It goes
    /// through half as much memory.
    #[inline(always)]
    pub(crate) fn predict_together<Kick: Fn(usize, F32x4, F32x4) -> F32x4>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, f32>,
        motion: &Shared<'_, Moving>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.predict_cloths_together(worker, arrays, motion, pin_poses, forces),
        );
    }

    #[inline(always)]
    fn predict_cloths_together<Kick: Fn(usize, F32x4, F32x4) -> F32x4>(
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
            let free_motion = self.free_motion(cloth);
            let share = worker.share(cloth.vertices.clone());
            let pinned = || self.pinned(share.clone()).map(|pinned| pinned.vertex as usize);
            for i in pinned() {
                arrays.previous.set(i, Particle::from_four(motion.get(i).particle()));
            }
            let kick = forces(cloth, share.clone());
            for i in share.clone() {
                let before = motion.get(i);
                let kicked = kick(i, before.particle(), before.velocity());
                let [particle, velocity] = free_motion.after(before.particle(), kicked);
                motion.set(i, Moving::new(particle, velocity));
            }
            for i in pinned() {
                part(arrays, &motion, i);
            }
            self.hold_pins(share.clone(), arrays, pin_poses);
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

/// How a vertex is placed to fine colliders.
#[derive(Clone, Copy, Default)]
pub(crate) struct ContactNormal {
    /// Of the nearest; zero if all are far.
    normal: Vec3<f64>,
    /// Whether one of them may have moved past it by more than the thickness.
    is_fast: bool,
    /// If so, whether one is within an edge more than it has come.
    comes_near: bool,
    /// Whether an edge has pushed the vertex in this iteration.
    pushed: bool,
}

/// A displacement and something more.
#[inline(always)]
fn shifted<R: Real>(displacement: Particle<R>, by: Vec3<f64>) -> Particle<R> {
    Particle::new(displacement.xyz() + by.cast(), displacement.inverse_mass())
}
