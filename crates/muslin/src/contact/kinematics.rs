//! Kinematics: where pins and colliders are in each substep of a frame.

use crate::contact::collider::Solid;
use crate::contact::response::penalty::Touch;
use crate::math::Vec3;
use crate::model::Model;
use crate::motion::Pose;

/// How fast cloth that begins inside a body leaves it, in m/s: slow enough to look like being pushed.
pub(crate) const LIFT_SPEED: f64 = 0.5;

/// The paths of a frame, asked once for all its substeps.
#[derive(Default)]
pub(crate) struct Kinematics {
    /// Per substep and pin: where it leads, or `None` once released.
    pin_poses: Vec<Option<Pose>>,
    /// Per substep and collider.
    obstacles: Vec<ColliderOverSubstep>,
    pins: usize,
    colliders: usize,
    /// Per collider: how far one point of it gets at most from where it is at the start of the frame, in m.
    sways: Vec<f64>,
    /// Per substep: when it ends, in s.
    ends: Vec<f64>,
}

impl Kinematics {
    /// Asks all paths where they lead in a frame of `dt` from `time` on.
    pub(crate) fn load(&mut self, model: &Model, time: f64, dt: f64, substeps: u32) {
        let at = |substep: u32| time + dt * f64::from(substep) / f64::from(substeps);
        (self.pins, self.colliders) = (model.pins.len(), model.colliders.len());
        self.pin_poses.clear();
        self.obstacles.clear();
        self.ends.clear();
        for substep in 0..substeps {
            let (from, to) = (at(substep), at(substep + 1));
            self.ends.push(to);
            self.pin_poses.extend(model.pins.iter().map(|pin| pin.pose(to)));
            self.obstacles.extend(model.colliders.iter().map(|collider| {
                let (before, after) = (collider.motion.pose(from), collider.motion.pose(to));
                ColliderOverSubstep {
                    before: collider.solid.posed(&before),
                    after: collider.solid.posed(&after),
                    motion: collider.moves.then_some((before, after)),
                    friction: collider.friction,
                    is_fine: collider.is_fine,
                }
            }));
        }
        self.sways.clear();
        for collider in 0..self.colliders {
            let all = || self.obstacles.iter().skip(collider).step_by(self.colliders);
            let farthest = |first: &ColliderOverSubstep| {
                all().map(|o| first.before.largest_displacement(&o.after)).fold(0.0, f64::max)
            };
            self.sways.push(all().next().map_or(0.0, farthest));
        }
    }

    /// For each body how far a point that is at `x` at the start of the frame has to go until it can touch it, in m; zero or less if it may touch it at once.
    pub(crate) fn clearances(&self, x: Vec3<f64>, thickness: f64) -> impl Iterator<Item = f64> {
        let bodies = if self.ends.is_empty() { &[] } else { self.obstacles(0) };
        bodies.iter().zip(&self.sways).map(move |(body, largest_displacement)| {
            let distance = body.before.probe(x).distance;
            // Distances are rounded by some units of the largest number.
            distance - largest_displacement - thickness - 1e-12 * (x.norm() + distance.abs() + largest_displacement)
        })
    }

    /// Whether a collider with a formula moves in the frame.
    pub(crate) fn moves_colliders(&self) -> bool {
        self.obstacles.iter().any(ColliderOverSubstep::moves)
    }

    /// Where each pin leads at the end of a substep.
    pub(crate) fn pin_poses(&self, substep: usize) -> &[Option<Pose>] {
        &self.pin_poses[substep * self.pins..(substep + 1) * self.pins]
    }

    /// When a substep ends, in s.
    pub(crate) fn time_after(&self, substep: usize) -> f64 {
        self.ends[substep]
    }

    /// The bodies during a substep.
    pub(crate) fn obstacles(&self, substep: usize) -> &[ColliderOverSubstep] {
        &self.obstacles[substep * self.colliders..(substep + 1) * self.colliders]
    }
}

/// A collider during one substep.
#[derive(Clone)]
pub(crate) struct ColliderOverSubstep {
    before: Solid,
    pub(crate) after: Solid,
    /// Start and end pose, where it moves.
    motion: Option<(Pose, Pose)>,
    friction: f64,
    pub(crate) is_fine: bool,
}

impl ColliderOverSubstep {
    /// What a point that came from `previous` touches, if it does, in a substep of `step` seconds.
    #[inline]
    pub(crate) fn touch(
        &self,
        x: Vec3<f64>,
        previous: impl Fn() -> Vec3<f64>,
        thickness: f64,
        step: f64,
    ) -> Option<Touch> {
        let probe = self.after.probe_within(x, thickness)?;
        let gap = probe.distance - thickness;
        (gap < 0.0).then(|| Touch {
            gap,
            previous_gap: self.before.probe(previous()).distance - thickness,
            normal: probe.normal,
            surface_step: self.surface_step(x),
            friction: self.friction,
            lift_limit: LIFT_SPEED * step,
        })
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
        }
    }

    /// Whether it moves.
    pub(crate) fn moves(&self) -> bool {
        self.motion.is_some()
    }

    /// How far the body's point at `x` came in the substep.
    pub(crate) fn surface_step(&self, x: Vec3<f64>) -> Vec3<f64> {
        self.motion.map_or(Vec3::ZERO, |(before, after)| x - before.apply(after.undo(x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;
    use crate::scene::parse;

    /// Bodies that fly, turn and stand still, and a point that goes as far as it has room, in any direction: it touches none in any substep. With twice the
    /// room some do.
    #[test]
    fn a_point_touches_nothing_while_it_has_room() {
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
                    assert!(clearance < 2.0, "rooms are of the size of the scene");
                    for (k, part) in [0.999, 2.0].into_iter().enumerate().filter(|_| clearance > 0.0) {
                        let there = x + way * (clearance * part);
                        let touches = |substep| kinematics.obstacles(substep)[body].touch(there, || x, thickness, 1e-3);
                        touched[body][k] += usize::from((0..7).any(|substep| touches(substep).is_some()));
                    }
                }
            }
        }
        assert!(touched.iter().all(|[near, _]| *near == 0), "{touched:?}");
        assert!(touched[..4].iter().all(|[_, far]| *far > 0), "{touched:?}");
        assert_eq!(touched[4], [0; 2], "a plane that turns leaves no room");
    }
}
