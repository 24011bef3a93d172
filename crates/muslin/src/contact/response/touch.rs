//! Touch: a vertex that is too near to a collider. The projection and the penalty potential both begin from one.

use crate::math::Vec3;

/// A vertex that is too near, and where it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// d(x) − t now, in m; negative.
    pub(crate) gap: f64,
    /// d(x) − t at the start of the substep, in m.
    pub(crate) previous_gap: f64,
    /// Unit normal, out of the body.
    pub(crate) normal: Vec3<f64>,
    /// How far the surface at this point moved in the substep, in m.
    pub(crate) surface_step: Vec3<f64>,
    /// μ.
    pub(crate) friction: f64,
    /// The most that an old depth is lifted in this substep, in m.
    pub(crate) lift_limit: f64,
    /// Whether the gaps are those to the surface through which the vertex has entered, and not to the nearest one.
    pub(crate) is_entry: bool,
}

/// How much of the depth of a touch is new in this substep, and how much of the old is lifted, in m.
pub(super) struct Depths {
    pub(super) new: f64,
    pub(super) lift: f64,
}

impl Depths {
    #[inline]
    pub(super) fn of(touch: &Touch) -> Self {
        let depth = -touch.gap;
        let old = (-touch.previous_gap).max(0.0).min(depth);
        Self { new: depth - old, lift: old.min(touch.lift_limit) }
    }
}

#[cfg(test)]
impl Touch {
    /// Of ground that lies still, and that the vertex was just above at the start of the substep.
    pub(super) fn on_ground(gap: f64, friction: f64) -> Self {
        let normal = Vec3::new(0.0, 1.0, 0.0);
        Self { gap, previous_gap: 0.0, normal, surface_step: Vec3::ZERO, friction, lift_limit: 1.0, is_entry: false }
    }
}
