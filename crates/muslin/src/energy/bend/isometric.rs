//! Quadratic bending of nearly inextensible cloth with a flat rest shape.
//!
//! ```text
//!           c
//!         ╱   ╲          K = ( cot b_A + cot b_B,  cot a_A + cot a_B,
//!        ╱  A  ╲               −cot a_A − cot b_A, −cot a_B − cot b_B )
//!       a ───── b        a_A: angle of triangle A at a, in the rest shape
//!        ╲  B  ╱
//!         ╲   ╱          Q = 3/(A₀ + A₁) KᵀK
//!           d
//! ```
//!
//! With physical stiffness, the constraint is the *vector* K x (three components that do not interact):
//!
//! ```text
//! C = Σ Kᵢ xᵢ,   ψ = ‖C‖²/2α,   α = (A₀ + A₁)/B        B bending rigidity [N·m]
//! ```
//!
//! Derivation: for an isometric fold by θ, ‖K x‖ = 2 ℓ sin(θ/2), so ψ → ½ B ℓ²θ²/(A₀+A₁): the `dihedral` energy at
//! small angles. Bergou's `k_b` in `ψ = ½ k_b xᵀQx` is B/3. ψ is quadratic in x: the gradient is linear, the Hessian constant.
//!
//! The literature of position-based dynamics uses the *scalar* constraint C = ½ Σ Qᵢⱼ xᵢ·xⱼ instead. Its energy C²/2α
//! is of the fourth order in the deflection: another material, which no α makes equal to B. It is what the raw
//! `compliance` and `k` mean here, so that published numbers can be reproduced.
//!
//! Use it for flat-cut cloth that hardly stretches. Not for curved rest shapes: it would flatten them.
//!
//! [Bergou et al. 2006], [Bender et al. 2014, §4.3].

use crate::energy::stiffness::{DAMPING, K, RIGIDITY, compliance};
use crate::energy::{
    Batch, Blocks, Energy, EnergyKind, Forms, LinearRow, Pull, Row, Sink, Site, Stiffness, energy_of, force_of,
};
use crate::math::{Mat3, Scalar, Vec3, each};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One vector constraint per hinge; physical stiffness.
///
/// ```
/// use muslin::energy::Stiffness;
/// use muslin::energy::bend::isometric::Isometric;
/// use muslin::{Cloth, Simulation};
///
/// let model = Isometric { stiffness: Some(Stiffness::Physical(1e-4)), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "isometric"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Isometric {
    /// How stiff it is; `None` = as the fabric, or 10⁻⁵ N·m.
    pub stiffness: Option<Stiffness>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// One scalar constraint per hinge; the raw forms.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::isometric::{IsometricScalar, ScalarRest, cotangent_weights};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let rest = ScalarRest { weights: cotangent_weights(&flat), scale: 1.0, compliance: 0.1 };
/// assert!(IsometricScalar::value(&rest, &flat).abs() < 1e-20);
/// ```
pub struct IsometricScalar;

/// The scene's `isometric`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Isometric::NAME,
        summary: "quadratic bending for flat-cut, nearly inextensible cloth",
        source: "Bergou et al. 2006, A Quadratic Bending Model for Inextensible Surfaces; raw forms: Bender et al. 2014",
        parameters: &[RIGIDITY, compliance("1/J"), K, DAMPING],
        one_of: &["stiffness", "compliance", "k"],
    },
    flat_only: true,
    forms: Forms::ALL,
};

typed!(Isometric: BendSettings, KIND, { stiffness, damping });

/// Rest data of one hinge.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::isometric::{Isometric, Rest, cotangent_weights};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let rest = Rest { weights: cotangent_weights(&flat), compliance: 0.1 };
/// assert!(Isometric::value(&rest, &flat).abs() < 1e-20, "K x = 0 where it is flat");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// K.
    pub weights: [S; 4],
    /// α: of the vector constraint, in m²/(N·m).
    pub compliance: S,
}

/// Rest data of one hinge for the scalar constraint.
///
/// ```
/// use muslin::energy::bend::isometric::{ScalarRest, cotangent_weights};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let rest = ScalarRest { weights: cotangent_weights(&flat), scale: 1.0, compliance: 0.1 };
/// assert!(rest.weights.iter().sum::<f64>().abs() < 1e-12, "a translation costs nothing");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ScalarRest<S> {
    /// K.
    pub weights: [S; 4],
    /// 3/(A₀ + A₁), in 1/m².
    pub scale: S,
    /// α: of the scalar constraint, in 1/J.
    pub compliance: S,
}

/// K of a rest stencil: edge a–b, apexes c and d.
pub fn cotangent_weights(x: &[Vec3<f64>; 4]) -> [f64; 4] {
    let cot = |u: Vec3<f64>, v: Vec3<f64>| u.dot(v) / u.cross(v).norm();
    let e = x[1] - x[0];
    let at_a = [cot(e, x[2] - x[0]), cot(e, x[3] - x[0])];
    let at_b = [cot(-e, x[2] - x[1]), cot(-e, x[3] - x[1])];
    [at_b[0] + at_b[1], at_a[0] + at_a[1], -at_a[0] - at_b[0], -at_a[1] - at_b[1]]
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let hinges = site.hinges().map(|hinge| {
        let weights = cotangent_weights(&site.hinge(hinge));
        (site.stencil(hinge.vertices), weights, site.hinge_area(hinge))
    });
    match stiffness {
        Stiffness::Physical(_) => {
            let elements = hinges
                .map(|(stencil, weights, area)| (stencil, Rest { weights, compliance: stiffness.compliance(area) }));
            sink.add(Batch::<Isometric, 4>::new(site, settings, elements.collect()));
        }
        Stiffness::Compliance(_) | Stiffness::Projection(_) => {
            let elements = hinges.map(|(stencil, weights, area)| {
                (stencil, ScalarRest { weights, scale: 3.0 / area, compliance: stiffness.compliance(0.0) })
            });
            sink.add(Batch::<IsometricScalar, 4>::new(site, settings, elements.collect()));
        }
    }
}

/// K in another precision, with a sum of exactly zero: rounding must not turn bending into a pull on the whole.
pub(crate) fn cast_weights<S: Scalar, R, const N: usize>(rest: &[R], weights: impl Fn(&R) -> &[f64; N]) -> [S; N] {
    let mut cast: [S; N] = std::array::from_fn(|i| S::gather(rest, |r| weights(r)[i]));
    let mut sum = cast[1];
    for &weight in &cast[2..] {
        sum += weight;
    }
    cast[0] = -sum;
    cast
}

/// K x, from differences: exact under translation, however far from the origin.
#[inline(always)]
pub(crate) fn weighted_sum<S: Scalar, const N: usize>(weights: &[S; N], x: &[Vec3<S>; N]) -> Vec3<S> {
    let mut sum = (x[1] - x[0]) * weights[1];
    for i in 2..N {
        sum += (x[i] - x[0]) * weights[i];
    }
    sum
}

impl Energy<4> for Isometric {
    const NAME: &'static str = "isometric";
    const IS_QUADRATIC: bool = true;
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = LinearRow<S, 4>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest { weights: cast_weights(rest, |r| &r.weights), compliance: S::gather(rest, |r| r.compliance) }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
        energy_of(weighted_sum(&rest.weights, x).norm_squared(), rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        let c = weighted_sum(&rest.weights, x);
        each(
            rest.weights,
            #[inline(always)]
            |k| c * force_of(k, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> LinearRow<S, 4> {
        LinearRow { value: weighted_sum(&rest.weights, x), weights: rest.weights, compliance: rest.compliance }
    }

    fn hessian(rest: &Rest<f64>, _x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let k = &rest.weights;
        std::array::from_fn(|i| std::array::from_fn(|j| Mat3::scalar(force_of(k[i] * k[j], rest.compliance))))
    }

    fn block(rest: &Rest<f64>, _x: &[Vec3<f64>; 4], vertex: usize) -> Mat3 {
        Mat3::scalar(force_of(rest.weights[vertex] * rest.weights[vertex], rest.compliance))
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        Self::hessian(rest, x)
    }

    fn square(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        Self::hessian(rest, x)
    }

    fn pull(rest: &Rest<f64>) -> Option<Pull<4>> {
        Some(Pull { weights: rest.weights, stiffness: 1.0 / rest.compliance })
    }

    fn target(_rest: &Rest<f64>, _sum: Vec3<f64>) -> Vec3<f64> {
        Vec3::ZERO
    }
}

impl Energy<4> for IsometricScalar {
    const NAME: &'static str = Isometric::NAME;
    type Rest<S: Scalar> = ScalarRest<S>;
    type Row<S: Scalar> = Row<S, 4>;

    fn cast<S: Scalar>(rest: &[ScalarRest<f64>]) -> ScalarRest<S> {
        ScalarRest {
            weights: cast_weights(rest, |r| &r.weights),
            scale: S::gather(rest, |r| r.scale),
            compliance: S::gather(rest, |r| r.compliance),
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &ScalarRest<S>, x: &[Vec3<S>; 4]) -> S {
        let c = Self::row(rest, x).value;
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &ScalarRest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        let row = Self::row(rest, x);
        each(
            row.gradient,
            #[inline(always)]
            |g| g * force_of(row.value, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &ScalarRest<S>, x: &[Vec3<S>; 4]) -> Row<S, 4> {
        let sum = weighted_sum(&rest.weights, x);
        Row {
            value: S::from_f64(0.5) * rest.scale * sum.norm_squared(),
            gradient: each(
                rest.weights,
                #[inline(always)]
                |k| sum * (rest.scale * k),
            ),
            compliance: rest.compliance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    const FLAT: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.4, 0.0, -0.8], [0.5, 0.0, 1.1]];

    #[test]
    fn conforms() {
        let weights = cotangent_weights(&FLAT.map(Vec3::from));
        conformance::check::<Isometric, 4>(&Rest { weights, compliance: 0.1 }, &conformance::random_stencils());
        let rest = ScalarRest { weights, scale: 3.0, compliance: 0.1 };
        conformance::check::<IsometricScalar, 4>(&rest, &conformance::random_stencils());
    }

    #[test]
    fn flat_cloth_has_no_energy_however_it_is_stretched() {
        let x = FLAT.map(Vec3::from);
        let rest = Rest { weights: cotangent_weights(&x), compliance: 1.0 };
        let sheared = x.map(|p| Vec3::new(1.3 * p.x + 0.2 * p.z, 0.4 * p.x, 0.9 * p.z) + Vec3::new(5.0, 6.0, 7.0));
        assert!(Isometric::value(&rest, &sheared) < 1e-28, "{}", Isometric::value(&rest, &sheared));
    }
}
