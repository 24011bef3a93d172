//! What is done to a cloth from outside in each substep of a frame: pins that lead it, bodies that move.

use crate::collision::Solid;
use crate::energy::contact::Touch;
use crate::math::Vec3;
use crate::model::Model;
use crate::motion::Pose;

/// How fast cloth that begins inside a body leaves it, in m/s: slow enough to look like being pushed.
pub(super) const LIFT_SPEED: f64 = 0.5;

/// The paths of a frame, asked once for all its substeps.
#[derive(Default)]
pub(super) struct Script {
    /// Per substep and pin: where it leads, or `None` once released.
    pin_poses: Vec<Option<Pose>>,
    /// Per substep and collider.
    obstacles: Vec<Obstacle>,
    pins: usize,
    colliders: usize,
    /// Per collider: how far one point of it gets at most from where it is at the start of the frame, in m.
    sways: Vec<f64>,
    /// Per substep: when it ends, in s.
    ends: Vec<f64>,
}

impl Script {
    /// Asks all paths where they lead in a frame of `dt` from `time` on.
    pub(super) fn load(&mut self, model: &Model, time: f64, dt: f64, substeps: u32) {
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
                Obstacle {
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
            let farthest = |first: &Obstacle| all().map(|o| first.before.sway(&o.after)).fold(0.0, f64::max);
            self.sways.push(all().next().map_or(0.0, farthest));
        }
    }

    /// For each body how far a point that is at `x` at the start of the frame has to go until it can touch it, in m; zero or less if it may touch it at once.
    pub(super) fn rooms(&self, x: Vec3<f64>, thickness: f64) -> impl Iterator<Item = f64> {
        let bodies = if self.ends.is_empty() { &[] } else { self.obstacles(0) };
        bodies.iter().zip(&self.sways).map(move |(body, sway)| {
            let distance = body.before.probe(x).distance;
            // Distances are rounded by some units of the largest number.
            distance - sway - thickness - 1e-12 * (x.norm() + distance.abs() + sway)
        })
    }

    /// Where each pin leads at the end of a substep.
    pub(super) fn pin_poses(&self, substep: usize) -> &[Option<Pose>] {
        &self.pin_poses[substep * self.pins..(substep + 1) * self.pins]
    }

    /// When a substep ends, in s.
    pub(super) fn time_after(&self, substep: usize) -> f64 {
        self.ends[substep]
    }

    /// The bodies during a substep.
    pub(super) fn obstacles(&self, substep: usize) -> &[Obstacle] {
        &self.obstacles[substep * self.colliders..(substep + 1) * self.colliders]
    }
}

/// A collider during one substep.
#[derive(Clone, Copy)]
pub(super) struct Obstacle {
    before: Solid,
    pub(super) after: Solid,
    /// Start and end pose, where it moves.
    motion: Option<(Pose, Pose)>,
    friction: f64,
    pub(super) is_fine: bool,
}

impl Obstacle {
    /// What a point that came from `previous` touches, if it does, in a substep of `step` seconds.
    #[inline]
    pub(super) fn touch(
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
    pub(super) fn graze(&self, x: Vec3<f64>, step: f64) -> Touch {
        Touch {
            gap: 0.0,
            previous_gap: 0.0,
            normal: self.after.probe(x).normal,
            surface_step: self.surface_step(x),
            friction: self.friction,
            lift_limit: LIFT_SPEED * step,
        }
    }

    /// How far the body's point at `x` came in the substep.
    fn surface_step(&self, x: Vec3<f64>) -> Vec3<f64> {
        self.motion.map_or(Vec3::ZERO, |(before, after)| x - before.apply(after.undo(x)))
    }
}
