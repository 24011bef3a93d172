//! Moving air: drag and lift on every triangle.
//!
//! ```text
//! u = wind − v (air seen from the triangle),  n = unit normal turned so that n·u ≥ 0
//! F = ½ ρ A (u·n) [ (C_D − C_L) u + C_L ‖u‖ n ]
//! ```
//!
//! ρ density of the air, in kg/m³, A area now, in m², `C_D` and `C_L` drag and lift coefficients. A triangle across the wind
//! feels `½ρA C_D ‖u‖²` along it, one along the wind feels nothing, one at an angle is pushed along its normal by the
//! lift part. Each corner takes a third.
//!
//! A light cloth in a coarse step would overshoot the air's velocity and blow up, so the step takes drag half implicitly:
//! with the rate r ≥ ‖F‖/‖u‖ of a vertex the velocity changes by `h w F / (1 + h w r)`, never by more than `u`.
//!
//! [Keckeisen et al. 2004], [Wilson et al. 2014].

use crate::description;
use crate::math::{Real, Vec3};

/// Air and how cloth feels it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wind<S> {
    /// Velocity of the air, in m/s.
    pub velocity: Vec3<S>,
    /// Drag coefficient.
    pub drag: S,
    /// Lift coefficient.
    pub lift: S,
    /// ½ρ, in kg/m³.
    pub half_density: S,
}

impl Wind<f64> {
    /// From the scene's description; `None` if it exerts no force.
    pub(crate) fn new(wind: &description::Wind) -> Option<Self> {
        let acts = wind.air_density > 0.0 && (wind.drag > 0.0 || wind.lift > 0.0);
        acts.then(|| Self {
            velocity: wind.velocity.into(),
            drag: wind.drag,
            lift: wind.lift,
            half_density: 0.5 * wind.air_density,
        })
    }

    /// In another precision.
    pub(crate) fn cast<T: Real>(&self) -> Wind<T> {
        Wind {
            velocity: self.velocity.cast(),
            drag: T::from_f64(self.drag),
            lift: T::from_f64(self.lift),
            half_density: T::from_f64(self.half_density),
        }
    }
}

impl<S: Real> Wind<S> {
    /// Force on each corner of a triangle, from its corners and their velocities.
    #[inline]
    pub(crate) fn push(&self, x: [Vec3<S>; 3], v: [Vec3<S>; 3]) -> Push<S> {
        let third = S::from_f64(1.0 / 3.0);
        let u = self.velocity - (v[0] + v[1] + v[2]) * third;
        let doubled = (x[1] - x[0]).cross(x[2] - x[0]);
        let area = doubled.norm() * S::from_f64(0.5);
        let normal = doubled.normalized_or_zero();
        let contact_normal = normal.dot(u);
        let (normal, contact_normal) =
            if contact_normal < S::ZERO { (-normal, -contact_normal) } else { (normal, contact_normal) };
        let scale = self.half_density * area * contact_normal * third;
        let along = self.drag - self.lift;
        Push { force: (u * along + normal * (self.lift * u.norm())) * scale, rate: (along.abs() + self.lift) * scale }
    }
}

/// The push of the air on a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Push<S> {
    /// F, in N.
    pub force: Vec3<S>,
    /// r, in N·s/m: no less than ‖F‖ over the velocity of the air.
    pub rate: S,
}

impl<S: Real> Push<S> {
    /// Both pushes together.
    #[inline]
    pub(crate) fn plus(self, o: Self) -> Self {
        Self { force: self.force + o.force, rate: self.rate + o.rate }
    }

    /// The change of velocity, in m/s, of a vertex of inverse mass `w` in a step `h`.
    #[inline]
    pub(crate) fn velocity_step(self, w: S, h: S) -> Vec3<S> {
        let hw = h * w;
        self.force * (hw / (S::ONE + hw * self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

    fn force(velocity: [f64; 3], drag: f64, lift: f64) -> Vec3<f64> {
        let wind = Wind { velocity: velocity.into(), drag, lift, half_density: 0.6 };
        wind.push(CORNERS.map(Vec3::from), [Vec3::ZERO; 3]).force * 3.0
    }

    #[test]
    fn a_triangle_across_the_wind_feels_its_drag_from_either_side() {
        let expected = 0.6 * 0.5 * 1.3 * 4.0;
        assert!((force([0.0, 0.0, 2.0], 1.3, 0.4) - Vec3::new(0.0, 0.0, expected)).norm() < 1e-14, "front");
        assert!((force([0.0, 0.0, -2.0], 1.3, 0.4) - Vec3::new(0.0, 0.0, -expected)).norm() < 1e-14, "back");
    }

    #[test]
    fn a_triangle_along_the_wind_feels_nothing() {
        assert!(force([3.0, 0.0, 0.0], 1.3, 0.4).norm() < 1e-15, "it should slip through");
    }

    #[test]
    fn lift_alone_pushes_along_the_normal_at_a_slant() {
        let f = force([1.0, 0.0, 1.0], 0.5, 0.5);
        assert!(f.x.abs() < 1e-15 && f.z > 0.0, "{f:?}");
    }

    #[test]
    fn cloth_that_moves_with_the_air_feels_nothing() {
        let v = Vec3::new(1.0, -2.0, 3.0);
        let wind = Wind { velocity: v, drag: 1.0, lift: 1.0, half_density: 0.6 };
        assert_eq!(wind.push(CORNERS.map(Vec3::from), [v; 3]).force, Vec3::ZERO);
    }

    #[test]
    fn cloth_is_never_blown_faster_than_the_air() {
        for (drag, lift) in [(1.0, 0.0), (0.2, 0.9), (1e6, 3.0), (0.0, 1e6)] {
            let wind = Wind { velocity: Vec3::new(1.0, 2.0, 8.0), drag, lift, half_density: 0.6 };
            for w in [1e-3, 1.0, 1e9] {
                let step = wind.push(CORNERS.map(Vec3::from), [Vec3::ZERO; 3]).velocity_step(w, 0.1);
                assert!(step.norm() <= wind.velocity.norm() * (1.0 + 1e-12), "{drag} {lift} {w}: {step:?}");
            }
        }
    }
}
