//! Bending by the angle between two triangles.
//!
//! ```text
//!           c
//!         ╱   ╲          A = (a, b, c), B = (a, d, b): both wound the same way
//!        ╱  A  ╲         e  = x_b − x_a,           ℓ = ‖e‖
//!       a ───── b        n_A = e × (x_c − x_a),    n_B = (x_d − x_a) × e
//!        ╲  B  ╱         θ  = atan2( ê·(n̂_A × n̂_B), n̂_A·n̂_B )
//!         ╲   ╱
//!           d            C = θ − θ₀,   ψ = C²/2α,   α = (A₀ + A₁)/(B ℓ²)
//! ```
//!
//! θ is signed (0 = flat, positive = the flaps fall away from the normals), so it knows a hill from a valley and its
//! derivatives are finite everywhere but on collapsed triangles; `arccos(n₁·n₂)` loses the sign and divides by zero
//! at 0 and π. With PBD's angle φ of two normals, φ = π − |θ|.
//!
//! ```text
//! ∂θ/∂x_c = −ℓ n_A/‖n_A‖²                 s_A = (x_c − x_a)·e/ℓ²   (foot of the apex on the edge)
//! ∂θ/∂x_d = −ℓ n_B/‖n_B‖²                 s_B = (x_d − x_a)·e/ℓ²
//! ∂θ/∂x_b = −s_A ∂θ/∂x_c − s_B ∂θ/∂x_d
//! ∂θ/∂x_a = −(1−s_A) ∂θ/∂x_c − (1−s_B) ∂θ/∂x_d
//! ```
//!
//! B (in N·m) is the flexural rigidity: ½ B κ² per area of a cylinder. Rest angles come from the rest shape, so curved
//! shapes keep their curve. Like every hinge model it depends on the pattern of the mesh: exact on equilateral
//! triangles, up to 1.5 times too stiff on alternating diagonals, 0.75 to 3 times on parallel ones.
//!
//! [Müller et al. 2007, §4.1 and appendix], [Grinspun et al. 2003], [Tamstorf, Grinspun 2013] for the gradients.

use super::stiffness::{DAMPING, K, compliance, physical};
use super::{Batch, Energy, EnergyKind, Forms, Row, Site, Stiffness, Term, energy_of, force_of};
use crate::math::{Scalar, Vec3};
use crate::parameter::{Entry, Settings};

/// One angle per hinge.
pub struct Dihedral;

/// The scene's `dihedral`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Dihedral::NAME,
        summary: "the signed angle between neighbouring triangles; keeps a curved rest shape",
        source: "Müller et al. 2007, Position Based Dynamics, §4.1; Grinspun et al. 2003, Discrete Shells",
        parameters: &[
            physical("N·m", 1e-5, "bending rigidity B: ½Bκ² per area of a cylinder"),
            compliance("1/(N·m)"),
            K,
            DAMPING,
        ],
        one_of: &["stiffness", "compliance", "k"],
    },
    assemble,
    flat_only: false,
    forms: Forms::USUAL,
};

/// Rest data of one hinge.
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// θ₀, in rad.
    pub angle: S,
    /// α, in 1/(N·m).
    pub compliance: S,
}

fn assemble(settings: &Settings, site: &Site<'_>) -> Option<Box<dyn Term>> {
    let stiffness = Stiffness::read(settings)?;
    let elements = site.hinges().map(|hinge| {
        let x = hinge.vertices.map(|v| site.position(v));
        let unit_compliance = site.hinge_area(hinge) / (x[1] - x[0]).norm_squared();
        let rest = Rest { angle: angle(&x), compliance: stiffness.compliance(unit_compliance) };
        (site.stencil(hinge.vertices), rest)
    });
    Some(Box::new(Batch::<Dihedral, 4>::new(site, settings, elements.collect())))
}

/// Edge and normals of a hinge: `e`, `n_A`, `n_B`.
#[inline(always)]
fn frame<S: Scalar>(x: &[Vec3<S>; 4]) -> [Vec3<S>; 3] {
    let e = x[1] - x[0];
    [e, e.cross(x[2] - x[0]), (x[3] - x[0]).cross(e)]
}

/// θ, in rad, in (−π, π].
#[inline(always)]
pub fn angle<S: Scalar>(x: &[Vec3<S>; 4]) -> S {
    let [e, normal_a, normal_b] = frame(x);
    // Both arguments are scaled by ‖n_A‖‖n_B‖ > 0, which atan2 does not see, and multiplied by ℓ instead of
    // dividing by it, which would not be finite on a collapsed edge.
    e.dot(normal_a.cross(normal_b)).atan2(normal_a.dot(normal_b) * e.norm())
}

/// ∂θ/∂xᵢ, in 1/m.
#[inline(always)]
pub fn angle_gradient<S: Scalar>(x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
    let [e, normal_a, normal_b] = frame(x);
    let length_squared = e.norm_squared();
    let length = length_squared.sqrt();
    // ‖∂θ/∂x‖ is 1/height of the apex over the edge, which has no limit on a collapsed triangle: such a flap gets none.
    let resolution = S::from_f64(16.0 * S::EPSILON * S::EPSILON);
    let apex = |normal: Vec3<S>, side: Vec3<S>| {
        let n2 = normal.norm_squared();
        let sound = n2.greater(resolution * length_squared * side.norm_squared());
        let gradient = Vec3::select(sound, normal * (-length / n2), Vec3::ZERO);
        (gradient, S::select(sound, side.dot(e) / length_squared, S::ZERO))
    };
    let (at_c, foot_a) = apex(normal_a, x[2] - x[0]);
    let (at_d, foot_b) = apex(normal_b, x[3] - x[0]);
    let at_b = -(at_c * foot_a + at_d * foot_b);
    [-(at_c + at_d) - at_b, at_b, at_c, at_d]
}

/// θ − θ₀, the short way round.
#[inline(always)]
fn bend<S: Scalar>(theta: S, rest: S) -> S {
    let pi = S::from_f64(std::f64::consts::PI);
    let turn = S::from_f64(std::f64::consts::TAU);
    let difference = theta - rest;
    let lowered = S::select(difference.greater(pi), difference - turn, difference);
    S::select((-pi).greater(difference), difference + turn, lowered)
}

impl Energy<4> for Dihedral {
    const NAME: &'static str = "dihedral";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 4>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest { angle: S::gather(rest, |r| r.angle), compliance: S::gather(rest, |r| r.compliance) }
    }

    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
        let c = bend(angle(x), rest.angle);
        energy_of(c * c, rest.compliance)
    }

    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        let row = Self::row(rest, x);
        row.gradient.map(|g| g * force_of(row.value, rest.compliance))
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> Row<S, 4> {
        Row { value: bend(angle(x), rest.angle), gradient: angle_gradient(x), compliance: rest.compliance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    /// A hinge of unit triangles folded by `theta` about the x axis.
    fn folded(theta: f64) -> [Vec3<f64>; 4] {
        let (s, c) = (libm::sin(theta), libm::cos(theta));
        [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.5, 0.0, -1.0), Vec3::new(0.5, -s, c)]
    }

    #[test]
    fn conforms() {
        for angle in [0.0, -0.7, 2.5] {
            conformance::check::<Dihedral, 4>(&Rest { angle, compliance: 0.01 }, &conformance::random_stencils());
        }
    }

    #[test]
    fn the_angle_is_signed_and_reaches_both_ends() {
        for theta in [0.0, 1e-8, -1e-8, 0.5, -0.5, 3.0, -3.0, std::f64::consts::PI - 1e-9] {
            assert!((angle(&folded(theta)) - theta).abs() < 1e-14, "{theta}: {}", angle(&folded(theta)));
        }
    }

    #[test]
    fn gradients_are_finite_when_flat_and_when_folded_over() {
        for theta in [0.0, std::f64::consts::PI, -std::f64::consts::PI] {
            let g = angle_gradient(&folded(theta));
            assert!(g.iter().all(|g| g.is_finite() && g.norm() < 3.0), "{theta}: {g:?}");
        }
    }

    #[test]
    fn a_fold_past_half_a_turn_goes_on_the_short_way() {
        let rest = Rest { angle: 3.0, compliance: 1.0 };
        let row = Dihedral::row(&rest, &folded(-3.0));
        assert!((row.value - (2.0 * std::f64::consts::PI - 6.0)).abs() < 1e-14, "{}", row.value);
    }
}
