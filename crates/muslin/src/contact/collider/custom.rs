//! A shape from outside the library: probed in its own frame.
//!
//! ```text
//! d(x) = d₀(P⁻¹x),   n(x) = R n₀(P⁻¹x)        P = (R, t) the pose
//! ```

use std::sync::Arc;

use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::shape::{Probe, Shape};

/// A shape of any kind in the world.
#[derive(Clone, Debug)]
pub(crate) struct PosedCustom {
    shape: Arc<dyn Shape>,
    /// World from the shape's own frame.
    pose: Pose,
}

impl PosedCustom {
    /// A shape in its own frame.
    pub(crate) fn new(shape: Arc<dyn Shape>) -> Self {
        Self { shape, pose: Pose::IDENTITY }
    }

    /// The shape at a pose; unlike the others it counts from the initial place, wherever this one is.
    pub(crate) fn posed(&self, pose: &Pose) -> Self {
        Self { shape: Arc::clone(&self.shape), pose: *pose }
    }

    /// The farthest way of a corner of its bounds: no other point of them goes farther. Without bounds it must not turn.
    pub(crate) fn largest_displacement(&self, other: &Self) -> f64 {
        let Bounds { min, max } = self.shape.bounds();
        let way = |p: Vec3<f64>| (other.pose.apply(p) - self.pose.apply(p)).norm();
        if min.iter().chain(&max).all(|x| x.is_finite()) {
            let corner = |bits: u32| [0, 1, 2].map(|axis| if bits >> axis & 1 == 0 { min[axis] } else { max[axis] });
            (0..8).map(|bits| way(corner(bits).into())).fold(0.0, f64::max)
        } else if self.pose.turns_as(&other.pose) {
            way(Vec3::ZERO)
        } else {
            f64::INFINITY
        }
    }

    pub(crate) fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        let Probe { distance, normal } = self.shape.probe_within(self.pose.undo(p), reach)?;
        Some(Probe { distance, normal: self.pose.turn(normal) })
    }
}
