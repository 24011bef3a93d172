//! Bending of projective dynamics: the length of the curvature vector of a hinge is pulled to its length at rest.
//!
//! ```text
//! s = K x,   r = ‖K x₀‖ = 2 ℓ sin(|θ₀|/2)        K of `isometric`, from the rest triangles
//! ψ = ½ ‖s − p‖²/α,   p = r s/‖s‖,   α = (A₀ + A₁)/B
//! ```
//!
//! p is the nearest vector of the length at rest, so ψ = ½(‖s‖ − r)²/α: a distance to a projection, whose matrix is
//! constant. With a flat rest shape r = 0 and it is `isometric`, bit for bit the same energy.
//!
//! **It cannot tell a hill from a valley.** ψ knows ‖s‖, which is the same for θ₀ and −θ₀; a curved shape that is
//! pushed through to its mirror image stays there, and on the way, at θ = 0, ψ = ½ B ℓ²(2 sin(θ₀/2))²/(A₀+A₁) and s
//! has no direction, so there is no force either. A sign would need the normals of now, and p would no longer be a
//! function of s alone, which is what keeps the matrix constant. The paper has the same ambiguity. Where it
//! matters, take `dihedral`, `hinge_force`, `cubic_shell` or `shell`.
//!
//! The paper takes the vector of mean curvature at a vertex, a sum over its ring; here it is that of one edge, so
//! that an element has four vertices and B means what it means in the other models. About a curved rest shape a
//! fold is softer than B by cos²(θ₀/2), since d‖s‖/dθ = ℓ cos(θ/2).
//!
//! ```text
//! ∂²ψ/∂xᵢ∂xⱼ = Kᵢ Kⱼ/α ( ŝŝᵀ + (1 − r/‖s‖)(I − ŝŝᵀ) )
//! ```
//!
//! [Bouaziz, Martin, Liu, Kavan, Pauly 2014, §5.3].

use crate::energy::bend::isometric::{cast_weights, cotangent_weights, weighted_sum};
use crate::energy::stiffness::{DAMPING, K, RIGIDITY, compliance};
use crate::energy::{Batch, Blocks, Energy, EnergyKind, Forms, Pull, Row, Sink, Site, Stiffness, energy_of, force_of};
use crate::math::{Mat3, Scalar, Vec3, each};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One length per hinge.
///
/// ```
/// use muslin::energy::bend::projective::ProjectiveBend;
/// use muslin::solver::Projective;
/// use muslin::{Cloth, Simulation};
///
/// let cloth = Cloth::grid([1.0, 1.0], [4, 4]).bend(ProjectiveBend { damping: 0.0, ..Default::default() });
/// let simulation = Simulation::builder().solver(Projective::default()).cloth(cloth).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "projective"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectiveBend {
    /// How stiff it is; `None` = as the fabric, or 10⁻⁵ N·m.
    pub stiffness: Option<Stiffness>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `projective`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: ProjectiveBend::NAME,
        summary: "quadratic bending that keeps the size of a curve, but not whether it is a hill or a valley",
        source: "Bouaziz et al. 2014, Projective Dynamics: Fusing Constraint Projections for Fast Simulation, §5.3",
        parameters: &[RIGIDITY, compliance("m²/J"), K, DAMPING],
        one_of: &["stiffness", "compliance", "k"],
    },
    flat_only: false,
    forms: Forms::ALL,
};

typed!(ProjectiveBend: BendSettings, KIND, { stiffness, damping });

/// Rest data of one hinge.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::isometric::cotangent_weights;
/// use muslin::energy::bend::projective::{ProjectiveBend, Rest};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let rest = Rest { weights: cotangent_weights(&flat), length: 0.0, compliance: 0.1 };
/// assert!(ProjectiveBend::value(&rest, &flat).abs() < 1e-20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// K.
    pub weights: [S; 4],
    /// r, in m.
    pub length: S,
    /// α, in m²/(N·m).
    pub compliance: S,
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let elements = site.hinges().map(|hinge| {
        let x = site.hinge(hinge);
        let weights = cotangent_weights(&x);
        let length = weighted_sum(&weights, &x).norm();
        let compliance = stiffness.compliance(site.hinge_area(hinge));
        (site.stencil(hinge.vertices), Rest { weights, length, compliance })
    });
    sink.add(Batch::<ProjectiveBend, 4>::new(site, settings, elements.collect()));
}

impl Energy<4> for ProjectiveBend {
    const NAME: &'static str = "projective";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 4>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest {
            weights: cast_weights(rest, |r| &r.weights),
            length: S::gather(rest, |r| r.length),
            compliance: S::gather(rest, |r| r.compliance),
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
        let c = weighted_sum(&rest.weights, x).norm() - rest.length;
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        let row = Self::row(rest, x);
        each(
            row.gradient,
            #[inline(always)]
            |g| g * force_of(row.value, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> Row<S, 4> {
        let sum = weighted_sum(&rest.weights, x);
        let direction = sum.normalized_or_zero();
        Row {
            value: sum.norm() - rest.length,
            gradient: each(
                rest.weights,
                #[inline(always)]
                |k| direction * k,
            ),
            compliance: rest.compliance,
        }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let core = core(rest, x, |transverse| transverse);
        std::array::from_fn(|i| std::array::from_fn(|j| core * (rest.weights[i] * rest.weights[j])))
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 4], vertex: usize) -> Mat3 {
        core(rest, x, |transverse| transverse) * (rest.weights[vertex] * rest.weights[vertex])
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let core = core(rest, x, |transverse| transverse.max(0.0));
        std::array::from_fn(|i| std::array::from_fn(|j| core * (rest.weights[i] * rest.weights[j])))
    }

    fn pull(rest: &Rest<f64>) -> Option<Pull<4>> {
        Some(Pull { weights: rest.weights, stiffness: 1.0 / rest.compliance })
    }

    fn target(rest: &Rest<f64>, sum: Vec3<f64>) -> Vec3<f64> {
        sum.normalized_or_zero() * rest.length
    }
}

/// (ŝŝᵀ + t (I − ŝŝᵀ))/α, t = `treat`(1 − r/‖s‖).
fn core(rest: &Rest<f64>, x: &[Vec3<f64>; 4], treat: impl Fn(f64) -> f64) -> Mat3 {
    let sum = weighted_sum(&rest.weights, x);
    let (length, stiffness) = (sum.norm(), force_of(1.0, rest.compliance));
    if length == 0.0 {
        // Without a direction there is no force; at a flat rest shape the energy is quadratic even there.
        return if rest.length == 0.0 { Mat3::scalar(stiffness) } else { Mat3::ZERO };
    }
    let transverse = stiffness * treat(1.0 - rest.length / length);
    let direction = sum * (1.0 / length);
    Mat3::outer(direction, direction) * (stiffness - transverse) + Mat3::scalar(transverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::bend::isometric;
    use crate::energy::bend::isometric::Isometric;
    use crate::energy::conformance;

    const BENT: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.4, 0.3, -0.8], [0.5, 0.2, 1.1]];

    #[test]
    fn conforms() {
        let x = BENT.map(Vec3::from);
        let weights = cotangent_weights(&x);
        for length in [0.0, weighted_sum(&weights, &x).norm()] {
            conformance::check::<ProjectiveBend, 4>(
                &Rest { weights, length, compliance: 0.1 },
                &conformance::random_stencils(),
            );
        }
    }

    #[test]
    fn a_flat_rest_shape_makes_it_isometric_bending() {
        let weights = cotangent_weights(&BENT.map(Vec3::from));
        for x in conformance::random_stencils() {
            let got = ProjectiveBend::value(&Rest { weights, length: 0.0, compliance: 0.1 }, &x);
            let expected = Isometric::value(&isometric::Rest { weights, compliance: 0.1 }, &x);
            assert!((got - expected).abs() <= 1e-14 * expected, "{got} {expected}");
        }
    }

    #[test]
    fn a_hill_and_its_valley_are_the_same_to_it() {
        let x = BENT.map(Vec3::from);
        let weights = cotangent_weights(&x);
        let rest = Rest { weights, length: weighted_sum(&weights, &x).norm(), compliance: 0.1 };
        let mirrored = x.map(|p| Vec3::new(p.x, -p.y, p.z));
        for at in [x, mirrored] {
            assert!(ProjectiveBend::value(&rest, &at) < 1e-28, "{}", ProjectiveBend::value(&rest, &at));
        }
        let flat = x.map(|p| Vec3::new(p.x, 0.0, p.z));
        assert!(ProjectiveBend::value(&rest, &flat) > 0.1, "a flat hinge is a barrier between them");
    }
}
