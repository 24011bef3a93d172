//! Penalty potential of a touch, for the solvers that minimise: a stiff spring along the normal, and friction with the normal force of the last iteration.
//!
//! ```text
//! ψ = ½ k d² + μ N f(‖s‖)        d new depth, N n = k d n of the last iteration, s the slip at right angles to that n
//! f(s) = s − ε/2, or s²/2ε where s < ε        ε = μ N/k
//! ```
//!
//! Size and direction of the normal force are both those of the last iteration, so ψ is one function of x whose gradient friction is, on
//! curved bodies too, and friction takes energy from every step, converged or not. (With the direction at x, a line search on a sphere
//! stops where no step lowers ψ and the forces are out of balance by N times the slip over the radius.)
//!
//! f is the slip made smooth over ε, so that sticking has a stiffness [Li et al. 2020, §5.4]. With this ε it is that of the
//! normal spring, and what slip it allows is at most μ d: just what [`project`](super::collider_projection::project) takes back when it removes the depth d
//! that is left. So sticking is exact in the end, and the friction of both together is μ times the normal force of both.
//!
//! An old depth is not pressed out, for a force would make it velocity: [`project`](super::collider_projection::project) lifts it, together with xⁿ.

use super::touch::{Depths, Touch};
use crate::math::{Mat3, Vec3};

/// What ψ depends on besides the touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PenaltyPotential {
    /// k, in N/m.
    pub(crate) stiffness: f64,
    /// N n, in N.
    pub(crate) normal_force: Vec3<f64>,
    /// Whether a line search follows. The Hessian of friction is then exact, and a step finds how far a slow slip goes at once, but
    /// may leap over the place where it sticks; and otherwise that of a parabola which is nowhere below f.
    pub(crate) is_searched: bool,
}

/// A potential at one vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PenaltyForce {
    /// ψ, in J.
    pub(crate) value: f64,
    /// ∂ψ/∂x, in N.
    pub(crate) gradient: Vec3<f64>,
    /// Not less than ∂²ψ/∂x², in N/m; it has no negative eigenvalue.
    pub(crate) hessian: Mat3,
    /// k d n, in N, for the next iteration.
    pub(crate) normal_force: Vec3<f64>,
    /// What the surface does on the vertex over the substep, in J: its force times its way.
    pub(crate) work: f64,
}

impl PenaltyPotential {
    /// The potential at a touch.
    pub(crate) fn press(&self, touch: &Touch, x: Vec3<f64>, previous: Vec3<f64>) -> PenaltyForce {
        let Depths { new, .. } = Depths::of(touch);
        let (k, normal) = (self.stiffness, touch.normal);
        let across = Mat3::outer(normal, normal);
        let mut press = PenaltyForce {
            value: 0.5 * k * new * new,
            gradient: normal * (-k * new),
            hessian: if new > 0.0 { across * k } else { Mat3::ZERO },
            normal_force: normal * (k * new),
            work: 0.0,
        };
        let normal_force = self.normal_force.norm();
        let limit = touch.friction * normal_force;
        if limit > 0.0 {
            let normal = self.normal_force * (1.0 / normal_force);
            let across = Mat3::outer(normal, normal);
            let step = x - previous - touch.surface_step;
            let slip = step - normal * step.dot(normal);
            let (length, smooth) = (slip.norm(), limit / k);
            let rate = limit / length.max(smooth);
            press.gradient += slip * rate;
            press.hessian += (Mat3::IDENTITY - across) * rate;
            if length < smooth {
                press.value += 0.5 * k * length * length;
            } else {
                press.value += limit * (length - 0.5 * smooth);
                if self.is_searched {
                    press.hessian += Mat3::outer(slip, slip) * (-rate / (length * length));
                }
            }
        }
        press.work = -press.gradient.dot(touch.surface_step);
        press
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::response::collider_projection::project;

    /// A sphere of radius 2 about the origin, thickness zero.
    fn on_sphere(x: Vec3<f64>, previous: Vec3<f64>, friction: f64, lift_limit: f64) -> Touch {
        let gap = x.norm() - 2.0;
        let normal = x.normalized_or_zero();
        let previous_gap = previous.norm() - 2.0;
        Touch { gap, previous_gap, normal, surface_step: Vec3::ZERO, friction, lift_limit, is_entry: false }
    }

    fn on_plane(x: Vec3<f64>, previous: Vec3<f64>, friction: f64, lift_limit: f64) -> Touch {
        let surface_step = Vec3::new(0.01, 0.0, -0.02);
        Touch { gap: x.y, previous_gap: previous.y, surface_step, friction, lift_limit, ..Touch::on_ground(0.0, 0.0) }
    }

    /// Previous positions (new and old depth), depths and slips: below and beyond ε = μN/k = 0.03.
    fn each_press(friction: f64, is_searched: bool, mut visit: impl FnMut(&PenaltyPotential, Vec3<f64>, Vec3<f64>)) {
        let normal_force = Vec3::new(0.0, 100.0, 0.0);
        let potential = PenaltyPotential { stiffness: 1000.0, normal_force, is_searched };
        for height in [0.05, -0.03, -0.2] {
            for depth in [0.01, 0.07, 0.15, 0.3] {
                for slip in [0.0, 0.005, 0.02, 0.1] {
                    assert_eq!(potential.normal_force.norm() * friction / potential.stiffness, 0.1 * friction);
                    let previous = Vec3::new(0.3, height, 0.1);
                    visit(&potential, Vec3::new(0.31 + slip, -depth, 0.08 + 0.5 * slip), previous);
                }
            }
        }
    }

    fn units() -> [Vec3<f64>; 3] {
        [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)]
    }

    #[test]
    fn on_a_plane_the_gradient_is_that_of_the_value_and_the_hessian_bounds_that_of_the_gradient() {
        let mut steps = 0;
        for (friction, is_searched) in [(0.0, false), (0.3, false), (0.3, true)] {
            each_press(friction, is_searched, |potential, x, previous| {
                let at = |x: Vec3<f64>| potential.press(&on_plane(x, previous, friction, 0.05), x, previous);
                let press = at(x);
                for (axis, unit) in units().into_iter().enumerate() {
                    let h = 1e-6;
                    let slope = (at(x + unit * h).value - at(x + unit * -h).value) / (2.0 * h);
                    let exact = press.gradient.to_array()[axis];
                    // Forces are up to 300 N; k h of the difference.
                    assert!((slope - exact).abs() < 2e-3, "{x:?} {previous:?}: {slope}, not {exact}");
                    let bend = (at(x + unit * h).gradient - at(x + unit * -h).gradient) * (0.5 / h);
                    let diagonal = press.hessian.0[axis][axis];
                    assert!(bend.to_array()[axis] <= diagonal + 1e-2, "{x:?} {previous:?}: {bend:?}, {diagonal}");
                    steps += 1;
                }
                let values = crate::math::Small::new(3, |i, j| press.hessian.0[i][j]).eigenvalues();
                assert!(values.iter().all(|value| (-1e-9..=1000.0 + 1e-9).contains(value)), "{values:?}");
            });
        }
        assert_eq!(steps, 3 * 48 * 3);
    }

    /// Its curvature makes the true Hessian smaller, for a body that is convex.
    #[test]
    fn on_a_sphere_the_hessian_without_friction_is_an_upper_bound() {
        let previous = Vec3::new(0.0, 2.1, 0.0);
        let potential = PenaltyPotential { stiffness: 1000.0, normal_force: Vec3::ZERO, is_searched: false };
        let at = |x: Vec3<f64>| potential.press(&on_sphere(x, previous, 0.0, 1.0), x, previous);
        for x in [Vec3::new(0.1, 1.9, 0.3), Vec3::new(1.0, 1.0, 1.0), Vec3::new(0.0, 1.5, 0.1)] {
            let press = at(x);
            let h = 1e-6;
            let columns = units().map(|unit| (at(x + unit * h).gradient - at(x + unit * -h).gradient) * (0.5 / h));
            for (axis, unit) in units().into_iter().enumerate() {
                let slope = (at(x + unit * h).value - at(x + unit * -h).value) / (2.0 * h);
                assert!((slope - press.gradient.to_array()[axis]).abs() < 1e-3, "{x:?}");
            }
            let [a, b, c] = columns;
            let excess = press.hessian + Mat3::from_columns(a, b, c) * -1.0;
            let values = crate::math::Small::new(3, |i, j| excess.0[i][j]).eigenvalues();
            assert!(values.iter().all(|value| *value >= -1e-3), "{x:?}: {values:?}");
        }
    }

    /// A vertex under a weight W with a pull T < μW along a plane: the penalty contact lets it sink and slip, the projection takes both
    /// back. With T > μW, both together brake by μW.
    #[test]
    fn a_penalty_and_the_projection_after_it_are_coulombs_law() {
        let (k, weight, inertia, friction) = (100.0, 2.0, 1.0, 0.5);
        for pull in [0.3, 0.9, 1.5, 4.0] {
            let (mut x, mut normal_force) = (Vec3::<f64>::ZERO, Vec3::ZERO);
            let y = Vec3::new(pull, -weight, 0.0);
            for _ in 0..200 {
                let touch = Touch::on_ground(x.y.min(-1e-300), friction);
                let press =
                    PenaltyPotential { stiffness: k, normal_force, is_searched: false }.press(&touch, x, Vec3::ZERO);
                let matrix = press.hessian + Mat3::scalar(inertia);
                x += matrix.inverse().unwrap().apply((y - x) * inertia - press.gradient);
                normal_force = PenaltyPotential { stiffness: k, normal_force, is_searched: false }
                    .press(&Touch::on_ground(x.y, friction), x, Vec3::ZERO)
                    .normal_force;
            }
            let (x, _) = project(&Touch::on_ground(x.y, friction), x, Vec3::ZERO);
            let expected = Vec3::new((pull - friction * weight).max(0.0), 0.0, 0.0);
            assert!((x - expected).norm() < 1e-12, "pull {pull}: {x:?}, expected {expected:?}");
        }
    }
}
