//! Projection of a vertex out of a collider: a rigid one-sided constraint with Coulomb friction.
//!
//! ```text
//! C = d(x) − t ≥ 0        d signed distance, t thickness [m]
//! ```
//!
//! The projection moves the vertex by the depth −C along the normal. That move stands for the normal impulse
//! (depth·m/h), so Coulomb's law bounds the tangential move by μ times it:
//!
//! ```text
//! Δx_n = −C n,    Δx_t = −s · min(1, μ|C|/‖s‖)        s = the tangential step relative to the surface
//! ```
//!
//! Below the bound the vertex sticks exactly; above it, it slows down by μ g cos β on a slope of angle β: the law of
//! a sliding block, for any step.
//!
//! A vertex that was already inside when the substep began is lifted together with its previous position, so that
//! the old depth leaves without becoming velocity (depth/h would be a shot), and not by more than a little at a time:
//! neighbours that are lifted by different depths would be torn apart and shoot after all.
//!
//! [Bender et al. 2014, §5.1], [Macklin et al. 2014, §6.1].

use super::touch::{Depths, Touch};
use crate::math::Vec3;

/// Position and previous position after contact, in m.
#[inline]
pub(crate) fn project(touch: &Touch, x: Vec3<f64>, previous: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let Depths { new, lift } = Depths::of(touch);
    let previous = previous + touch.normal * lift;
    let x = x + touch.normal * (new + lift);
    let step = x - previous - touch.surface_step;
    let slip = step - touch.normal * step.dot(touch.normal);
    let limit = touch.friction * new;
    let length = slip.norm();
    let part = if length > limit { limit / length } else { 1.0 };
    (x - slip * part, previous)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_stops_a_small_slip_and_slows_a_large_one() {
        let previous = Vec3::ZERO;
        let (x, _) = project(&Touch::on_ground(-0.1, 0.5), Vec3::new(0.04, -0.1, 0.0), previous);
        assert_eq!(x, Vec3::ZERO);
        let (x, _) = project(&Touch::on_ground(-0.1, 0.5), Vec3::new(0.2, -0.1, 0.0), previous);
        assert!((x - Vec3::new(0.15, 0.0, 0.0)).norm() < 1e-15, "{x:?}");
    }

    #[test]
    fn a_moving_surface_carries_what_sticks_to_it() {
        let touch = Touch { surface_step: Vec3::new(0.02, 0.0, 0.0), ..Touch::on_ground(-0.1, 0.5) };
        let (x, _) = project(&touch, Vec3::new(0.0, -0.1, 0.0), Vec3::ZERO);
        assert!((x - Vec3::new(0.02, 0.0, 0.0)).norm() < 1e-15, "{x:?}");
    }

    #[test]
    fn an_old_depth_does_not_become_velocity() {
        let touch = Touch { previous_gap: -0.1, ..Touch::on_ground(-0.1, 0.5) };
        let start = Vec3::new(0.0, -0.1, 0.0);
        let (x, previous) = project(&touch, start, start);
        assert_eq!(x - previous, Vec3::ZERO);
        assert_eq!(x, Vec3::ZERO);
        let slow = Touch { lift_limit: 0.02, ..touch };
        let (x, previous) = project(&slow, start, start);
        assert!((x - Vec3::new(0.0, -0.08, 0.0)).norm() < 1e-15 && (x - previous).norm() < 1e-15, "{x:?}");
    }
}
