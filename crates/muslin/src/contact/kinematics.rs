//! Kinematics: where pins and colliders are in each substep of a frame.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::contact::advancement::{EntryPoint, RelativePath};
use crate::contact::collider::{Collider, Solid};
use crate::contact::response::touch::Touch;
use crate::math::Vec3;
use crate::model::Model;
use crate::motion::{Motion, Pose, Travel};
use crate::shape::Probe;

/// How fast cloth that begins inside a body leaves it, in m/s: slow enough to look like being pushed.
pub(crate) const LIFT_SPEED: f64 = 0.5;

/// The paths of a frame, asked once for all its substeps.
#[derive(Default)]
pub(crate) struct Kinematics {
    /// Per substep and pin: where it leads, or `None` once released.
    pin_poses: Vec<Option<Pose>>,
    /// Per substep and collider.
    colliders: Vec<ColliderOverSubstep>,
    pin_count: usize,
    collider_count: usize,
    /// Per collider: how far one point of it gets at most from where it is at the start of the frame, in m.
    largest_displacements: Vec<f64>,
    /// Per substep: when it ends, in s.
    ends: Vec<f64>,
}

impl Kinematics {
    /// Asks all paths where they lead in a frame of `dt` from `time` on.
    pub(crate) fn load(&mut self, model: &Model, time: f64, dt: f64, substeps: u32) {
        let at = |substep: u32| time + dt * f64::from(substep) / f64::from(substeps);
        (self.pin_count, self.collider_count) = (model.pins.len(), model.colliders.len());
        self.pin_poses.clear();
        self.colliders.clear();
        self.ends.clear();
        for substep in 0..substeps {
            let (from, to) = (at(substep), at(substep + 1));
            self.ends.push(to);
            self.pin_poses.extend(model.pins.iter().map(|pin| pin.pose(to)));
            let over_substep = |collider: &Collider| ColliderOverSubstep::new(collider, from, to);
            self.colliders.extend(model.colliders.iter().map(over_substep));
        }
        self.largest_displacements.clear();
        for (index, collider) in model.colliders.iter().enumerate() {
            let all = || self.colliders.iter().skip(index).step_by(self.collider_count);
            let farthest = |first: &ColliderOverSubstep| {
                all()
                    .map(|o| first.before.largest_displacement(&o.after) + o.bulge(&collider.solid))
                    .fold(0.0, f64::max)
            };
            self.largest_displacements.push(all().next().map_or(0.0, farthest));
        }
    }

    /// For each body how far a point that is at `x` at the start of the frame has to go until it can touch it, in m; zero or less if it may touch it at once.
    pub(crate) fn clearances(&self, x: Vec3<f64>, thickness: f64) -> impl Iterator<Item = f64> {
        let bodies = if self.ends.is_empty() { &[] } else { self.colliders(0) };
        bodies.iter().zip(&self.largest_displacements).map(move |(body, largest_displacement)| {
            let distance = body.before.probe(x).distance;
            // Distances are rounded by some units of the largest number.
            distance - largest_displacement - thickness - 1e-12 * (x.norm() + distance.abs() + largest_displacement)
        })
    }

    /// Whether a collider with a formula moves in the frame.
    pub(crate) fn moves_colliders(&self) -> bool {
        self.colliders.iter().any(ColliderOverSubstep::moves)
    }

    /// Where each pin leads at the end of a substep.
    pub(crate) fn pin_poses(&self, substep: usize) -> &[Option<Pose>] {
        &self.pin_poses[substep * self.pin_count..(substep + 1) * self.pin_count]
    }

    /// When a substep ends, in s.
    pub(crate) fn time_after(&self, substep: usize) -> f64 {
        self.ends[substep]
    }

    /// The colliders over a substep.
    pub(crate) fn colliders(&self, substep: usize) -> &[ColliderOverSubstep] {
        &self.colliders[substep * self.collider_count..(substep + 1) * self.collider_count]
    }
}

/// A collider during one substep.
#[derive(Clone)]
pub(crate) struct ColliderOverSubstep {
    before: Solid,
    pub(crate) after: Solid,
    /// Where it moves.
    motion: Option<MotionOverSubstep>,
    friction: f64,
    pub(crate) is_fine: bool,
}

/// How a collider moves in a substep.
#[derive(Clone, Copy)]
struct MotionOverSubstep {
    before: Pose,
    after: Pose,
    /// From the one to the other.
    travel: Travel,
}

impl MotionOverSubstep {
    fn new(motion: &Motion, from: f64, to: f64) -> Self {
        Self { before: motion.pose(from), after: motion.pose(to), travel: motion.travel(from, to) }
    }
}

impl ColliderOverSubstep {
    /// From one time to another, in s.
    fn new(collider: &Collider, from: f64, to: f64) -> Self {
        let motion = MotionOverSubstep::new(&collider.motion, from, to);
        Self {
            before: collider.solid.posed(&motion.before),
            after: collider.solid.posed(&motion.after),
            motion: collider.moves.then_some(motion),
            friction: collider.friction,
            is_fine: collider.is_fine,
        }
    }

    /// How far a point of the body gets at most in the substep from the chord of its way, in m; `solid` is the body in its initial place.
    ///
    /// On an arc of an angle θ up to a quarter of a turn that is tan(θ/4)/2 of the chord, and on any arc no more than the diameter.
    fn bulge(&self, solid: &Solid) -> f64 {
        let Some(MotionOverSubstep { before, travel, .. }) = &self.motion else { return 0.0 };
        let turn = travel.turn().abs();
        if turn == 0.0 {
            return 0.0;
        }
        let chord = |turn: f64| solid.posed(before).largest_displacement(&solid.posed(&travel.turned(before, turn)));
        if turn <= FRAC_PI_2 { 0.5 * libm::tan(0.25 * turn) * chord(turn) } else { chord(PI) }
    }

    /// What a point that came from `previous` touches, if it does, in a substep of `step` seconds.
    ///
    /// That is the surface which is nearest at the end, unless the way there has entered the body through another one.
    #[inline]
    pub(crate) fn touch(
        &self,
        x: Vec3<f64>,
        previous: impl Fn() -> Vec3<f64>,
        thickness: f64,
        step: f64,
    ) -> Option<Touch> {
        let previous = previous();
        let path = self.path(previous, x);
        // Nothing farther than the way is long can have been passed.
        let is_short = path.longest_squared <= thickness * thickness;
        let probe = self.after.probe_within(x, if is_short { thickness } else { path.longest() })?;
        let previous_distance = self.before.probe(previous).distance;
        if !path.is_too_short(previous_distance, probe.distance)
            && let Some(entry) = self.entry(&path, (previous_distance, &probe), thickness)
        {
            return Some(self.touch_at(&entry, x, previous_distance, thickness, step));
        }
        let gap = probe.distance - thickness;
        (gap < 0.0).then(|| Touch {
            gap,
            previous_gap: previous_distance - thickness,
            normal: probe.normal,
            surface_step: self.surface_step(x),
            friction: self.friction,
            lift_limit: LIFT_SPEED * step,
            is_entry: false,
        })
    }

    /// What a point that came from `previous` has passed through, if it has: a [`touch`](Self::touch) that the end alone would not show.
    #[inline]
    pub(crate) fn crossing(&self, x: Vec3<f64>, previous: Vec3<f64>, thickness: f64, step: f64) -> Option<Touch> {
        let path = self.path(previous, x);
        let probe = self.after.probe_within(x, path.longest())?;
        let previous_distance = self.before.probe(previous).distance;
        if path.is_too_short(previous_distance, probe.distance) {
            return None;
        }
        let entry = self.entry(&path, (previous_distance, &probe), thickness)?;
        Some(self.touch_at(&entry, x, previous_distance, thickness, step))
    }

    /// Where a point stops that goes from `previous` to `x` and feels nothing of the body until it enters, in m; `None` if it does not.
    pub(crate) fn stop(&self, x: Vec3<f64>, previous: Vec3<f64>, thickness: f64) -> Option<Vec3<f64>> {
        let path = self.path(previous, x);
        let distances = (self.before.probe(previous).distance, &self.after.probe(x));
        let entry = self.entry(&path, distances, thickness)?;
        let surface = self.motion.map_or(entry.surface, |motion| motion.after.apply(motion.before.undo(entry.surface)));
        Some(surface + self.normal_after(&entry) * thickness)
    }

    /// How far a point goes at most in the substep, as the body sees it, in m; its square.
    #[inline]
    pub(crate) fn longest_squared(&self, x: Vec3<f64>, previous: Vec3<f64>) -> f64 {
        self.path(previous, x).longest_squared
    }

    /// The body where the substep begins.
    #[cfg(test)]
    pub(crate) fn start(&self) -> &Solid {
        &self.before
    }

    /// The way of a point, as the body sees it.
    #[inline]
    pub(crate) fn path(&self, previous: Vec3<f64>, x: Vec3<f64>) -> RelativePath<'_> {
        RelativePath::new(previous, x, self.motion.as_ref().map(|motion| &motion.travel))
    }

    /// Where a way has entered the body, unless its end shows that as well; with the distance at its start, and the end.
    fn entry(&self, path: &RelativePath<'_>, (start, end): (f64, &Probe), thickness: f64) -> Option<EntryPoint> {
        let entry = path.entry(&self.before, thickness)?;
        (!entry.is_shown_by(end, self.normal_after(&entry), start)).then_some(entry)
    }

    fn touch_at(&self, entry: &EntryPoint, x: Vec3<f64>, previous_distance: f64, thickness: f64, step: f64) -> Touch {
        let normal = self.normal_after(entry);
        Touch {
            gap: entry.distance - thickness,
            previous_gap: previous_distance - thickness,
            normal,
            // Where the point will be, which may be far from where it is.
            surface_step: self.surface_step(x - normal * (entry.distance - thickness)),
            friction: self.friction,
            lift_limit: LIFT_SPEED * step,
            is_entry: true,
        }
    }

    /// The normal of an entry at the end of the substep.
    fn normal_after(&self, entry: &EntryPoint) -> Vec3<f64> {
        self.motion.map_or(entry.normal, |motion| motion.after.turn(motion.before.turn_back(entry.normal)))
    }

    /// The body beside a point as a touch of no depth, wherever the point is.
    pub(crate) fn graze(&self, x: Vec3<f64>, step: f64) -> Touch {
        Touch {
            gap: 0.0,
            previous_gap: 0.0,
            normal: self.after.probe(x).normal,
            surface_step: self.surface_step(x),
            friction: self.friction,
            lift_limit: LIFT_SPEED * step,
            is_entry: false,
        }
    }

    /// Whether it moves.
    pub(crate) fn moves(&self) -> bool {
        self.motion.is_some()
    }

    /// How far the body's point at `x` came in the substep.
    pub(crate) fn surface_step(&self, x: Vec3<f64>) -> Vec3<f64> {
        self.motion.map_or(Vec3::ZERO, |MotionOverSubstep { before, after, .. }| x - before.apply(after.undo(x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;
    use crate::scene::parse;

    /// Bodies that fly, turn and stand still, and a point that goes as far as its clearance, in any direction: it touches none in any substep. With twice the
    /// clearance some do.
    #[test]
    fn a_point_touches_nothing_within_its_clearance() {
        let text = "[[cloth]]\n\
                    grid = { size = [1, 1], cells = [2, 2] }\n\
                    [[collider]]\n\
                    sphere = { center = [0.1, 0, 0], radius = 0.2 }\n\
                    path = [{ time = 0 }, { time = 0.1, offset = [0.3, 0.2, 0], turn = 50 }]\n\
                    [[collider]]\n\
                    capsule = { a = [-0.4, 0, 0], b = [0.4, 0.1, 0], radius = 0.1 }\n\
                    path = [{ time = 0 }, { time = 0.1, offset = [0, 0.2, 0], turn = 20 }]\n\
                    [[collider]]\n\
                    box = { center = [0, 0.3, 0], size = [0.3, 0.2, 0.4] }\n\
                    path = [{ time = 0 }, { time = 0.1, offset = [0, -0.1, 0.1], turn = 70 }]\n\
                    [[collider]]\n\
                    plane = { point = [0, -0.5, 0], normal = [0, 1, 0.2] }\n\
                    [[collider]]\n\
                    plane = { point = [0, -0.9, 0], normal = [0, 1, 0.2] }\n\
                    path = [{ time = 0 }, { time = 0.1, turn = 5 }]\n";
        let outcome = parse(text, &[]);
        let scene = outcome.scene.unwrap_or_else(|| panic!("{:?}", outcome.findings));
        let model = crate::setup::compile(&scene, &mut |_| Err(String::new())).unwrap().model;
        let (mut kinematics, mut random) = (Kinematics::default(), Random::new(5));
        let thickness = model.thickness;
        let mut touched = [[0; 2]; 5];
        for frame in 0..6 {
            kinematics.load(&model, f64::from(frame) / 60.0, 1.0 / 60.0, 7);
            for _ in 0..2000 {
                let (x, way) = (random.vector(), random.vector().normalized_or_zero());
                for (body, clearance) in kinematics.clearances(x, thickness).enumerate() {
                    assert!(clearance < 2.0, "clearances are of the size of the scene");
                    for (k, part) in [0.999, 2.0].into_iter().enumerate().filter(|_| clearance > 0.0) {
                        let there = x + way * (clearance * part);
                        let touches = |substep| kinematics.colliders(substep)[body].touch(there, || x, thickness, 1e-3);
                        touched[body][k] += usize::from((0..7).any(|substep| touches(substep).is_some()));
                    }
                }
            }
        }
        assert!(touched.iter().all(|[near, _]| *near == 0), "{touched:?}");
        assert!(touched[..4].iter().all(|[_, far]| *far > 0), "{touched:?}");
        assert_eq!(touched[4], [0; 2], "a plane that turns leaves no clearance");
    }
}
