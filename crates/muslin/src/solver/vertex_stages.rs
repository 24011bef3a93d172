//! Predict, collide and contact resolution over the vertices: written once, for both ways in which solvers store them.
//!
//! | storage | positions | solvers |
//! |---|---|---|
//! | [`Arrays`](crate::solver::position_based::substep::Arrays) | displacements since the start of the frame, f32 or f64, beside inverse masses | `xpbd`, `pbd`, `auto`, `explicit` in f32 |
//! | [`MotionArrays`](crate::solver::substep_loop::MotionArrays) | positions in f64; xⁿ, y and x apart | all others |
//!
//! Both implement the trait [`VertexStore`], and [`VertexStages`] has the stages for any such store. Contact takes positions in f64 from both, because a gap is a small difference of large coordinates.
//!
//! A stage runs on every worker over its share of the vertices.

use std::ops::Range;

use crate::contact::kinematics::ColliderOverSubstep;
use crate::contact::resolve::ContactResolution;
use crate::contact::response::collider_projection;
use crate::contact::response::touch::Touch;
use crate::force::{Push, Wind};
use crate::math::{Real, Vec3};
use crate::model::{Cloth, Model, Pinned};
use crate::motion::Pose;
use crate::parallel::{Shared, Worker};
use crate::solver::ledger::Books;
use crate::solver::sewing::Pull;
use crate::solver::{Context, Particle, StepError};

/// How often a point is moved out of colliders that it enters again and again.
const RESPONSES: usize = 4;

/// Vertices that a team shares during a substep, however they are stored.
pub(crate) trait VertexStore<R: Real>: Copy {
    /// Position and velocity before the prediction, in m and m/s; the position is relative to a point of the storage's choice.
    fn start(&self, vertex: usize) -> [R::Four; 2];

    /// Keeps xⁿ, and takes over y and v.
    fn set_predicted(&self, vertex: usize, start: R::Four, predicted: [R::Four; 2]);

    /// Puts a vertex where a pin leads it, in m, after the prediction; `inverse_step` is 1/h, in 1/s.
    fn hold(&self, vertex: usize, target: Vec3<f64>, inverse_step: R);

    /// Lets a pinned vertex go.
    fn release(&self, vertex: usize, inverse_mass: f64);

    /// In 1/kg; zero for a held vertex.
    fn inverse_mass(&self, vertex: usize) -> R;

    /// In m/s.
    fn velocity(&self, vertex: usize) -> Vec3<R>;

    fn set_velocity(&self, vertex: usize, velocity: Vec3<R>);

    /// The corners of a triangle, in m, relative to a point near it or to the origin.
    fn corners(&self, triangle: [usize; 3]) -> [Vec3<R>; 3];

    /// The push of the air on every triangle; none without wind.
    fn pushes(&self) -> Shared<'_, Push<R>>;

    /// x, in m.
    fn position(&self, vertex: usize) -> Vec3<f64>;

    /// xⁿ, in m.
    fn previous(&self, vertex: usize) -> Vec3<f64>;

    /// Whether a vertex is too far from one of so many colliders to touch it in this frame.
    fn is_clear(&self, vertex: usize, collider: usize, colliders: usize) -> bool;

    /// Moves x and xⁿ of a vertex: only the difference of the two moves changes its velocity.
    fn displace(&self, vertex: usize, by: &ContactMove);

    /// Where work is booked.
    fn books(&self) -> &Books<'_>;
}

/// How contact with a collider moves a point; all in m.
pub(crate) struct ContactMove {
    /// x before and after.
    pub(crate) x: [Vec3<f64>; 2],
    /// xⁿ before and after: out of what the point began in.
    pub(crate) previous: [Vec3<f64>; 2],
    /// How far the surface went in the substep.
    pub(crate) surface_step: Vec3<f64>,
}

impl ContactMove {
    /// By how much it changes the way of the point in the substep, in m.
    pub(crate) fn change(&self) -> Vec3<f64> {
        (self.x[1] - self.x[0]) - (self.previous[1] - self.previous[0])
    }
}

/// The stages, and what is the same in every substep of a frame.
pub(crate) struct VertexStages<'a, R: Real> {
    pub(crate) model: &'a Model,
    /// h, in s, and 1/h, in 1/s.
    step: R,
    inverse_step: R,
    /// h, 1/h and h g in all lanes that move.
    pub(crate) steps: R::Four,
    pub(crate) inverse_steps: R::Four,
    gravity_step: R::Four,
    wind: Option<Wind<R>>,
    thickness: f64,
    /// Only while cloth is sewn.
    pull: Option<Pull>,
}

impl<'a, R: Real> VertexStages<'a, R> {
    /// Of substeps of `step` seconds.
    pub(crate) fn new(model: &'a Model, step: f64) -> Self {
        let all = |number: f64| R::Four::from([R::from_f64(number); 4]);
        Self {
            model,
            step: R::from_f64(step),
            inverse_step: R::from_f64(1.0 / step),
            steps: all(step),
            inverse_steps: all(1.0 / step),
            gravity_step: Particle::<R>::vector((model.gravity * step).cast()).four(),
            wind: model.wind.as_ref().map(Wind::cast),
            thickness: model.thickness,
            pull: None,
        }
    }

    /// The stages of cloth that is sewn: without wind, and for a time without weight.
    pub(crate) fn sewing(self, pull: Option<Pull>) -> Self {
        let Some(Pull { has_weight, .. }) = pull else { return self };
        let none = R::Four::from([R::ZERO; 4]);
        let gravity_step = if has_weight { self.gravity_step } else { none };
        Self { gravity_step, wind: None, pull, ..self }
    }

    /// **Predict.** Forces from outside, then every vertex where it would go alone; pins where their paths lead.
    pub(crate) fn predict(&self, worker: &Worker<'_>, vertices: &impl VertexStore<R>, pin_poses: &[Option<Pose>]) {
        if self.wind.is_some() {
            self.measure_wind(worker, vertices);
            worker.barrier();
        }
        self.predict_with(worker, vertices, pin_poses, |_, _| |_, _, velocity| velocity);
    }

    /// [`predict`](Self::predict) with forces of the solver, after [`measure_wind`](Self::measure_wind) and a barrier.
    ///
    /// `forces` gets the vertices of a cloth that are this worker's, and gives a function that changes the velocity of one: of a vertex, what it is as a
    /// particle, and its velocity.
    #[inline(always)]
    pub(crate) fn predict_with<Kick: Fn(usize, R::Four, R::Four) -> R::Four>(
        &self,
        worker: &Worker<'_>,
        vertices: &impl VertexStore<R>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.predict_cloths(worker, vertices, pin_poses, forces),
        );
    }

    #[inline(always)]
    fn predict_cloths<Kick: Fn(usize, R::Four, R::Four) -> R::Four>(
        &self,
        worker: &Worker<'_>,
        vertices: &impl VertexStore<R>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        // A copy, which no store can change.
        let vertices = *vertices;
        for cloth in &self.model.cloths {
            let free_motion = self.free_motion(cloth);
            let share = worker.share(cloth.vertices.clone());
            if self.wind.is_some() {
                self.add_wind(share.clone(), &vertices);
            }
            if self.has_forces() {
                self.add_forces(share.clone(), &vertices);
            }
            let kick = forces(cloth, share.clone());
            for i in share.clone() {
                let [start, velocity] = vertices.start(i);
                vertices.set_predicted(i, start, free_motion.after(start, kick(i, start, velocity)));
            }
            self.hold_pins(share, &vertices, pin_poses);
        }
    }

    /// How the vertices of a cloth move on their own.
    pub(crate) fn free_motion(&self, cloth: &Cloth) -> FreeMotion<R> {
        let decay = R::Four::from([R::from_f64(self.decay(cloth)); 4]);
        FreeMotion { decay, gravity_step: self.gravity_step, steps: self.steps }
    }

    /// What damping leaves of a velocity after a substep.
    pub(crate) fn decay(&self, cloth: &Cloth) -> f64 {
        let damping = self.pull.map_or(cloth.damping, |pull| pull.damping);
        libm::exp(-damping * self.step.to_f64())
    }

    /// Whether there is wind.
    pub(crate) fn has_wind(&self) -> bool {
        self.wind.is_some()
    }

    /// The push of the air on every triangle, where there is wind.
    pub(crate) fn measure_wind(&self, worker: &Worker<'_>, vertices: &impl VertexStore<R>) {
        let Some(wind) = &self.wind else { return };
        let pushes = vertices.pushes();
        for t in worker.share(0..self.model.triangles.len()) {
            let triangle = self.model.triangles[t].map(|v| v as usize);
            pushes.set(t, wind.push(vertices.corners(triangle), triangle.map(|v| vertices.velocity(v))));
        }
    }

    /// Adds that push to the velocities of a share.
    fn add_wind(&self, share: Range<usize>, vertices: &impl VertexStore<R>) {
        let pushes = vertices.pushes();
        for i in share {
            let around = self.model.vertex_triangles.of(i as u32).iter();
            let push = around.fold(Push::default(), |sum, &t| sum.plus(pushes.get(t as usize)));
            let change = push.velocity_step(vertices.inverse_mass(i), self.step);
            vertices.set_velocity(i, vertices.velocity(i) + change);
            vertices.books().kick(i, change.cast());
        }
    }

    /// Whether a program pushes at vertices.
    pub(crate) fn has_forces(&self) -> bool {
        !self.model.forces.is_empty()
    }

    /// Adds what a program pushes with to the velocities of a share.
    fn add_forces(&self, share: Range<usize>, vertices: &impl VertexStore<R>) {
        for i in share {
            let change = self.model.forces[i].cast::<R>() * (vertices.inverse_mass(i) * self.step);
            vertices.set_velocity(i, vertices.velocity(i) + change);
        }
    }

    /// The pinned vertices of a share.
    pub(crate) fn pinned(&self, share: Range<usize>) -> impl Iterator<Item = &'a Pinned> {
        self.model.pinned_in(share)
    }

    /// Puts the pinned vertices of a share where their paths lead, and lets go of those that are released.
    pub(crate) fn hold_pins(&self, share: Range<usize>, vertices: &impl VertexStore<R>, pin_poses: &[Option<Pose>]) {
        for pinned in self.pinned(share) {
            let i = pinned.vertex as usize;
            match &pin_poses[pinned.pin as usize] {
                Some(pose) => vertices.hold(i, pose.apply(self.model.initial_positions[i]), self.inverse_step),
                None => vertices.release(i, self.model.inverse_masses[i]),
            }
        }
    }

    /// **Collide**, one vertex: out of every collider that it touches, with friction.
    pub(crate) fn collide_vertex(
        &self,
        vertex: usize,
        vertices: &impl VertexStore<R>,
        colliders: &[ColliderOverSubstep],
    ) {
        if vertices.inverse_mass(vertex) == R::ZERO {
            return;
        }
        let mut has_moved = false;
        for (k, collider) in colliders.iter().enumerate() {
            if vertices.is_clear(vertex, k, colliders.len()) {
                continue;
            }
            let x = vertices.position(vertex);
            if let Some(by) = self.touch(x, || vertices.previous(vertex), collider) {
                vertices.displace(vertex, &by);
                vertices.books().add_body(vertex, by.change(), by.surface_step);
                has_moved = true;
            }
        }
        if has_moved && colliders.len() > 1 {
            self.keep_from_crossing(vertex, vertices, colliders);
        }
    }

    /// Takes back what one collider has pushed through another: a few times, for there may be no room.
    fn keep_from_crossing(&self, vertex: usize, vertices: &impl VertexStore<R>, colliders: &[ColliderOverSubstep]) {
        for _ in 0..RESPONSES {
            let mut has_moved = false;
            for (k, collider) in colliders.iter().enumerate() {
                if vertices.is_clear(vertex, k, colliders.len()) {
                    continue;
                }
                if let Some(by) = self.crossing(vertices.position(vertex), vertices.previous(vertex), collider) {
                    vertices.displace(vertex, &by);
                    vertices.books().add_body(vertex, by.change(), by.surface_step);
                    has_moved = true;
                }
            }
            if !has_moved {
                break;
            }
        }
    }

    /// How a collider moves a point from `x`, in m; `None` where it does not touch.
    pub(crate) fn touch(
        &self,
        x: Vec3<f64>,
        previous: impl Fn() -> Vec3<f64>,
        collider: &ColliderOverSubstep,
    ) -> Option<ContactMove> {
        let touch = collider.touch(x, &previous, self.thickness, self.step.to_f64())?;
        Some(self.respond(touch, x, previous(), collider))
    }

    /// The same where it has passed through the collider, and only there.
    pub(crate) fn crossing(
        &self,
        x: Vec3<f64>,
        previous: Vec3<f64>,
        collider: &ColliderOverSubstep,
    ) -> Option<ContactMove> {
        let touch = collider.crossing(x, previous, self.thickness, self.step.to_f64())?;
        Some(self.respond(touch, x, previous, collider))
    }

    /// The projection of a touch. Where a point has entered, its way along the surface may enter again, as in the hole of a torus; what does not come
    /// to an end stops where it entered.
    fn respond(&self, touch: Touch, x: Vec3<f64>, previous: Vec3<f64>, collider: &ColliderOverSubstep) -> ContactMove {
        let (mut moved, mut lifted) = collider_projection::project(&touch, x, previous);
        // A point that began inside is lifted, and stays inside for a while.
        let began_outside = touch.previous_gap > -self.thickness;
        let mut rest = if touch.is_entry && began_outside { RESPONSES } else { 0 };
        while rest > 0
            && let Some(touch) = collider.crossing(moved, previous, self.thickness, self.step.to_f64())
        {
            rest -= 1;
            (moved, lifted) = match collider.stop(moved, previous, self.thickness) {
                Some(stopped) if rest == 0 => (stopped, previous),
                _ => collider_projection::project(&touch, moved, previous),
            };
        }
        ContactMove { x: [x, moved], previous: [previous, lifted], surface_step: touch.surface_step }
    }

    /// Books the work of a substep at its end: after a barrier, where there is something to book, and before another one.
    pub(crate) fn book(&self, worker: &Worker<'_>, vertices: &impl VertexStore<R>, pin_poses: &[Option<Pose>]) {
        if vertices.books().are_open() {
            worker.barrier();
            vertices.books().end_substep(worker, vertices, pin_poses);
            worker.barrier();
        }
    }

    /// The distance that is kept from colliders, in m.
    pub(crate) fn thickness(&self) -> f64 {
        self.thickness
    }
}

/// Motion of the vertices of a cloth on their own: v ← v e^(−dh) + h g, x ← x + h v.
pub(crate) struct FreeMotion<R: Real> {
    decay: R::Four,
    gravity_step: R::Four,
    steps: R::Four,
}

impl<R: Real> FreeMotion<R> {
    /// Position and velocity after a substep, from those before; forces have changed the velocity.
    #[inline(always)]
    pub(crate) fn after(&self, start: R::Four, kicked: R::Four) -> [R::Four; 2] {
        // Damping slows what moves; it takes nothing from the weight.
        let velocity = kicked * self.decay + self.gravity_step;
        [predicted::<R>(start, velocity, self.steps), velocity]
    }
}

/// Where a vertex would be at the end of the substep on its own, in m.
#[inline(always)]
pub(crate) fn predicted<R: Real>(start: R::Four, velocity: R::Four, steps: R::Four) -> R::Four {
    start + velocity * steps
}

/// Vertices that contact resolution moves at the end of a substep.
pub(crate) trait ResolvedVertices {
    /// Tells where the vertices end, and their inverse masses.
    fn set_ends(&self, resolution: &mut ContactResolution, context: &Context<'_>);

    /// Takes over what was pushed and lifted, moves that out of the colliders once more, and tells where it ends now.
    fn take_push(
        &mut self,
        resolution: &mut ContactResolution,
        context: &Context<'_>,
        colliders: &[ColliderOverSubstep],
        step: f64,
    );

    /// Takes over the step that was certified, which differs from what was told if it `is_changed`; it ends where the next one starts.
    fn take_certified(&mut self, resolution: &mut ContactResolution, is_changed: bool);
}

/// **Collide**, cloth with cloth and with meshes, at the end of a substep that was [led](ContactResolution::lead): push apart what is too near, then certify the step.
pub(crate) fn resolve_contact(
    vertices: &mut impl ResolvedVertices,
    resolution: &mut ContactResolution,
    context: &Context<'_>,
    colliders: &[ColliderOverSubstep],
    step: f64,
) -> Result<(), StepError> {
    vertices.set_ends(resolution, context);
    resolution.push(&context.contact(), colliders, step);
    vertices.take_push(resolution, context, colliders, step);
    let contact_error = |error| StepError::contact(context.model, error);
    let is_changed = resolution.hold_touched(&context.contact()).map_err(contact_error)?;
    vertices.take_certified(resolution, is_changed);
    resolution.settle(context.model).map_err(contact_error)
}
