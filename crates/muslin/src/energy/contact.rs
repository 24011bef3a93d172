//! Contact of a vertex with a body: a rigid one-sided constraint with Coulomb friction.
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

use crate::math::{Mat3, Vec3};

/// A vertex that is too near, and where it was.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// d(x) − t now, in m; negative.
    pub gap: f64,
    /// d(x) − t at the start of the substep, in m.
    pub previous_gap: f64,
    /// Unit normal, out of the body.
    pub normal: Vec3<f64>,
    /// How far the surface at this point moved in the substep, in m.
    pub surface_step: Vec3<f64>,
    /// μ.
    pub friction: f64,
    /// The most that an old depth is lifted in this substep, in m.
    pub lift_limit: f64,
}

/// Position and previous position after contact, in m.
#[inline]
pub fn project(touch: &Touch, x: Vec3<f64>, previous: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let depth = -touch.gap;
    let old_depth = (-touch.previous_gap).max(0.0).min(depth);
    let new_depth = depth - old_depth;
    let lift = old_depth.min(touch.lift_limit);
    let previous = previous + touch.normal * lift;
    let x = x + touch.normal * (new_depth + lift);
    let step = x - previous - touch.surface_step;
    let slip = step - touch.normal * step.dot(touch.normal);
    let limit = touch.friction * new_depth;
    let length = slip.norm();
    let part = if length > limit { limit / length } else { 1.0 };
    (x - slip * part, previous)
}

/// Contact as a potential, for the solvers that work with forces: a stiff spring along the normal, and friction with the
/// normal force of the last iteration.
///
/// ```text
/// ψ = ½ k d² + μ N f(‖s‖)        d depth, N = k d of the last iteration, s tangential slip
/// f(s) = s, or s²/2ε + ε/2 where s < ε
/// ```
///
/// f is the slip made smooth over ε, so that sticking has a stiffness, μN/ε [Li et al. 2020, §5.4]. An old depth counts no
/// more than `lift_limit`, as in [`project`].
#[derive(Clone, Copy, Debug)]
pub struct Cushion {
    /// k, in N/m.
    pub stiffness: f64,
    /// N, in N.
    pub normal_force: f64,
    /// ε, in m.
    pub smooth_slip: f64,
}

/// A potential at one vertex.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press {
    /// ψ, in J.
    pub value: f64,
    /// ∂ψ/∂x, in N.
    pub gradient: Vec3<f64>,
    /// Not less than ∂²ψ/∂x², in N/m; it has no negative eigenvalue.
    pub hessian: Mat3,
    /// k d, in N, for the next iteration.
    pub normal_force: f64,
}

impl Cushion {
    /// The potential at a touch.
    pub fn press(&self, touch: &Touch, x: Vec3<f64>, previous: Vec3<f64>) -> Press {
        let depth = -touch.gap;
        let old_depth = (-touch.previous_gap).max(0.0).min(depth);
        let depth = depth - old_depth + old_depth.min(touch.lift_limit);
        let normal = touch.normal;
        let mut press = Press {
            value: 0.5 * self.stiffness * depth * depth,
            gradient: normal * (-self.stiffness * depth),
            hessian: Mat3::outer(normal, normal) * self.stiffness,
            normal_force: self.stiffness * depth,
        };
        let limit = touch.friction * self.normal_force;
        if limit > 0.0 {
            let step = x - previous - touch.surface_step;
            let slip = step - normal * step.dot(normal);
            let (length, smooth) = (slip.norm(), self.smooth_slip);
            let sticks = length < smooth;
            press.value += limit * if sticks { 0.5 * (length * length / smooth + smooth) } else { length };
            let rate = limit / length.max(smooth);
            press.gradient += slip * rate;
            press.hessian += (Mat3::IDENTITY - Mat3::outer(normal, normal)) * rate;
        }
        press
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_ground(gap: f64, friction: f64) -> Touch {
        let normal = Vec3::new(0.0, 1.0, 0.0);
        Touch { gap, previous_gap: 0.0, normal, surface_step: Vec3::ZERO, friction, lift_limit: 1.0 }
    }

    #[test]
    fn friction_stops_a_small_slip_and_slows_a_large_one() {
        let previous = Vec3::ZERO;
        let (x, _) = project(&on_ground(-0.1, 0.5), Vec3::new(0.04, -0.1, 0.0), previous);
        assert_eq!(x, Vec3::ZERO);
        let (x, _) = project(&on_ground(-0.1, 0.5), Vec3::new(0.2, -0.1, 0.0), previous);
        assert!((x - Vec3::new(0.15, 0.0, 0.0)).norm() < 1e-15, "{x:?}");
    }

    #[test]
    fn a_moving_surface_carries_what_sticks_to_it() {
        let touch = Touch { surface_step: Vec3::new(0.02, 0.0, 0.0), ..on_ground(-0.1, 0.5) };
        let (x, _) = project(&touch, Vec3::new(0.0, -0.1, 0.0), Vec3::ZERO);
        assert!((x - Vec3::new(0.02, 0.0, 0.0)).norm() < 1e-15, "{x:?}");
    }

    #[test]
    fn an_old_depth_does_not_become_velocity() {
        let touch = Touch { previous_gap: -0.1, ..on_ground(-0.1, 0.5) };
        let start = Vec3::new(0.0, -0.1, 0.0);
        let (x, previous) = project(&touch, start, start);
        assert_eq!(x - previous, Vec3::ZERO);
        assert_eq!(x, Vec3::ZERO);
        let slow = Touch { lift_limit: 0.02, ..touch };
        let (x, previous) = project(&slow, start, start);
        assert!((x - Vec3::new(0.0, -0.08, 0.0)).norm() < 1e-15 && (x - previous).norm() < 1e-15, "{x:?}");
    }
}
