//! Bending of nearly inextensible shells with a curved rest shape: a cubic polynomial of the positions.
//!
//! On hinges that do not stretch, cos θ is quadratic and sin θ cubic in the positions:
//!
//! ```text
//! 1 − cos θ = ‖K x‖²/2ℓ²        sin θ = −ℓ det(x_b − x_a, x_c − x_a, x_d − x_a)/(4 A₀ A₁)        K of `isometric`
//!
//! ψ = (1 − cos(θ − θ₀))/α = (1 − cos θ₀ cos θ − sin θ₀ sin θ)/α,        α = (A₀ + A₁)/(B ℓ²)
//! ```
//!
//! With a flat rest shape it is `isometric`, and for small angles `dihedral`: B means the same.
//!
//! Off the isometric states the polynomials go on, but no longer mean an angle: a bent rest shape would feel
//! in-plane forces where it should rest, of the size B θ₀/ℓ per hinge. Terms that vanish on every isometric state
//! are free, so those forces are taken away:
//!
//! ```text
//! ψ ← ψ − Σ γₖ (‖eₖ‖² − ℓₖ²)/2        over the five edges of the hinge
//! ```
//!
//! The six distances of four points determine a hinge, and the gradient of ψ along the sixth, the fold, is zero at
//! rest; so the five γ that make the whole gradient zero exist, wherever both triangles have area. They are found
//! once, from the rest shape.
//!
//! A cubic has no lowest value: it must be used with a stretch model that keeps the cloth nearly inextensible. As a
//! constraint it is C = √2ψα where stretch has not made ψ negative, and nothing where it has; C is a root of a
//! difference of numbers of the size 1, so single precision does not see angles below some 1e-3 rad. It is at home
//! in solvers that work with forces.
//!
//! [Garg, Grinspun, Wardetzky, Zorin 2007]; the terms with γ are from here.

use crate::energy::bend::dihedral::{angle, angle_gradient};
use crate::energy::bend::isometric::{cast_weights, cotangent_weights, weighted_sum};
use crate::energy::stiffness::{DAMPING, RIGIDITY};
use crate::energy::{Batch, Blocks, Energy, EnergyKind, Forms, Row, Sink, Site, Stiffness};
use crate::math::{Mat3, Scalar, Small, Vec3, array, each};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One cubic per hinge.
///
/// ```
/// use muslin::energy::bend::cubic_shell::CubicShell;
/// use muslin::{Cloth, Simulation};
///
/// let model = CubicShell { stiffness: Some(1e-4), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "cubic_shell"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicShell {
    /// Bending rigidity B, in N·m; `None` = as the fabric, or 10⁻⁵.
    pub stiffness: Option<f64>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `cubic_shell`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: CubicShell::NAME,
        summary: "cubic bending for nearly inextensible shells; keeps a curved rest shape",
        source: "Garg, Grinspun, Wardetzky, Zorin 2007, Cubic Shells",
        parameters: &[RIGIDITY, DAMPING],
        one_of: &["stiffness"],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(CubicShell: BendSettings, KIND, { stiffness, damping });

/// The five edges of a hinge `[a, b, c, d]`.
const EDGES: [[usize; 2]; 5] = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3]];

/// Rest data of one hinge. The polynomial is ψα = constant + quadratic ‖K x‖² + cubic det − Σ γₖ ‖eₖ‖²/2.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::cubic_shell::{CubicShell, Rest};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let rest = Rest::new(&flat, 1e-3);
/// assert!(CubicShell::value(&rest, &flat).abs() < 1e-20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// K.
    pub weights: [S; 4],
    /// 1 − cos θ₀ + Σ γₖ ℓₖ²/2.
    pub constant: S,
    /// cos θ₀/2ℓ², in 1/m².
    pub quadratic: S,
    /// sin θ₀ ℓ/(4 A₀ A₁), in 1/m³.
    pub cubic: S,
    /// γ, in 1/m².
    pub tensions: [S; 5],
    /// α, in 1/(N·m).
    pub compliance: S,
}

impl Rest<f64> {
    /// Of a hinge at rest.
    pub fn new(x: &[Vec3<f64>; 4], compliance: f64) -> Self {
        let theta = angle(x);
        let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
        let e = x[1] - x[0];
        let area = |apex: Vec3<f64>| 0.5 * e.cross(apex - x[0]).norm();
        let mut rest = Self {
            weights: cotangent_weights(x),
            constant: 1.0 - cosine,
            quadratic: 0.5 * cosine / e.norm_squared(),
            cubic: sine * e.norm() / (4.0 * area(x[2]) * area(x[3])),
            tensions: [0.0; 5],
            compliance,
        };
        rest.tensions = tensions(x, &polynomial_gradient(&rest, x));
        let stored = EDGES.iter().zip(rest.tensions).map(|(&[i, j], t)| 0.5 * t * (x[j] - x[i]).norm_squared());
        rest.constant += stored.sum::<f64>();
        rest
    }
}

/// γ of the edges that balance a force: Σ γₖ (xⱼ − xᵢ) = gⱼ, by least squares with the edges scaled to unit length.
fn tensions(x: &[Vec3<f64>; 4], gradient: &[Vec3<f64>; 4]) -> [f64; 5] {
    let unit = EDGES.map(|[i, j]| (x[j] - x[i]).normalized_or_zero());
    let incidence = |k: usize, v: usize| {
        let [i, j] = EDGES[k];
        f64::from(u8::from(v == j)) - f64::from(u8::from(v == i))
    };
    let product =
        |k: usize, m: usize| (0..4).map(|v| incidence(k, v) * incidence(m, v)).sum::<f64>() * unit[k].dot(unit[m]);
    let load: [f64; 5] = std::array::from_fn(|k| (0..4).map(|v| incidence(k, v) * unit[k].dot(gradient[v])).sum());
    let inverse = Small::new(5, product).pseudo_inverse(1e-14);
    std::array::from_fn(|k| {
        let [i, j] = EDGES[k];
        let force: f64 = (0..5).map(|m| inverse.get(k, m) * load[m]).sum();
        force / (x[j] - x[i]).norm()
    })
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let elements = site.hinges().map(|hinge| {
        let x = site.hinge(hinge);
        let unit_compliance = site.hinge_area(hinge) / (x[1] - x[0]).norm_squared();
        (site.stencil(hinge.vertices), Rest::new(&x, stiffness.compliance(unit_compliance)))
    });
    sink.add(Batch::<CubicShell, 4>::new(site, settings, elements.collect()));
}

/// ψα.
#[inline(always)]
fn polynomial<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
    let [e, p, q] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let mut sum =
        rest.constant + rest.quadratic * weighted_sum(&rest.weights, x).norm_squared() + rest.cubic * e.dot(p.cross(q));
    for (&[i, j], tension) in EDGES.iter().zip(rest.tensions) {
        sum -= S::from_f64(0.5) * tension * (x[j] - x[i]).norm_squared();
    }
    sum
}

/// ∂(ψα)/∂xᵢ, in 1/m.
#[inline(always)]
fn polynomial_gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
    let [e, p, q] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let sum = weighted_sum(&rest.weights, x) * (rest.quadratic + rest.quadratic);
    let [at_b, at_c, at_d] = each(
        [p.cross(q), q.cross(e), e.cross(p)],
        #[inline(always)]
        |g| g * rest.cubic,
    );
    let cubic = [-(at_b + at_c + at_d), at_b, at_c, at_d];
    let mut gradient: [Vec3<S>; 4] = array(
        #[inline(always)]
        |i| sum * rest.weights[i] + cubic[i],
    );
    for (&[i, j], tension) in EDGES.iter().zip(rest.tensions) {
        let pull = (x[j] - x[i]) * tension;
        gradient[i] += pull;
        gradient[j] -= pull;
    }
    gradient
}

impl Energy<4> for CubicShell {
    const NAME: &'static str = "cubic_shell";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 4>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest {
            weights: cast_weights(rest, |r| &r.weights),
            constant: S::gather(rest, |r| r.constant),
            quadratic: S::gather(rest, |r| r.quadratic),
            cubic: S::gather(rest, |r| r.cubic),
            tensions: std::array::from_fn(|k| S::gather(rest, |r| r.tensions[k])),
            compliance: S::gather(rest, |r| r.compliance),
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
        polynomial(rest, x) / rest.compliance
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        each(
            polynomial_gradient(rest, x),
            #[inline(always)]
            |g| g * (S::ONE / rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> Row<S, 4> {
        let squared = polynomial(rest, x) * S::from_f64(2.0);
        let real = squared.greater(S::ZERO);
        let value = S::select(real, squared, S::ZERO).sqrt();
        let inverse = S::select(real, S::ONE / value, S::ZERO);
        Row {
            value,
            gradient: each(
                polynomial_gradient(rest, x),
                #[inline(always)]
                |g| g * inverse,
            ),
            compliance: rest.compliance,
        }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let stiffness = 1.0 / rest.compliance;
        let k = &rest.weights;
        let mut blocks: Blocks<4> = std::array::from_fn(|i| {
            std::array::from_fn(|j| Mat3::scalar(2.0 * rest.quadratic * stiffness * (k[i] * k[j])))
        });
        for (&[i, j], tension) in EDGES.iter().zip(rest.tensions) {
            let pull = Mat3::scalar(tension * stiffness);
            blocks[i][i] = blocks[i][i] - pull;
            blocks[j][j] = blocks[j][j] - pull;
            blocks[i][j] += pull;
            blocks[j][i] += pull;
        }
        // det(x_b − x_a, x_c − x_a, x_d − x_a): the block of two vertices is the cross product with the edge of the other two.
        for (i, j, from, to) in [(1, 2, 0, 3), (2, 3, 0, 1), (3, 1, 0, 2), (0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2)] {
            let block = Mat3::cross(x[to] - x[from]) * (rest.cubic * stiffness);
            blocks[i][j] = blocks[i][j] - block;
            blocks[j][i] += block;
        }
        blocks
    }

    /// What is left at rest: a spring of the angle.
    fn square(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let gradient = angle_gradient(x);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| Mat3::outer(gradient[i], gradient[j]) * (1.0 / rest.compliance))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::bend::isometric;
    use crate::energy::bend::isometric::Isometric;
    use crate::energy::conformance;

    const FLAT: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.4, 0.0, -0.8], [0.5, 0.0, 1.1]];

    /// The flap d turned about the edge.
    fn folded(theta: f64) -> [Vec3<f64>; 4] {
        let mut x = FLAT.map(Vec3::from);
        let turn = Mat3::about((x[1] - x[0]).normalized_or_zero(), theta);
        x[3] = turn.apply(x[3]);
        assert!((angle(&x) - theta).abs() < 1e-14, "{}", angle(&x));
        x
    }

    /// Random hinges, where the polynomial is positive and so has a row.
    fn positive(rest: &Rest<f64>) -> Vec<[Vec3<f64>; 4]> {
        let all: Vec<[Vec3<f64>; 4]> = conformance::random_stencils();
        // Near zero the terms of the polynomial cancel, and with them the digits of C.
        let kept: Vec<_> = all.into_iter().filter(|x| CubicShell::value(rest, x) * rest.compliance > 0.1).collect();
        assert!(kept.len() > 20, "{} of 100 are left", kept.len());
        kept
    }

    #[test]
    fn conforms() {
        for theta in [0.0, -0.7, 1.2] {
            let rest = Rest::new(&folded(theta), 0.01);
            conformance::check::<CubicShell, 4>(&rest, &positive(&rest));
        }
    }

    #[test]
    fn a_bent_hinge_rests_in_every_direction() {
        for theta in [0.0, 0.3, -1.0, 2.5] {
            let x = folded(theta);
            let rest = Rest::new(&x, 1.0);
            assert!(CubicShell::value(&rest, &x).abs() < 1e-14, "{theta}: ψ = {}", CubicShell::value(&rest, &x));
            for g in CubicShell::gradient(&rest, &x) {
                assert!(g.norm() < 1e-13, "{theta}: {g:?}");
            }
        }
    }

    #[test]
    fn an_isometric_fold_has_one_minus_the_cosine() {
        for rest_angle in [0.0, 0.4, -1.3] {
            let rest = Rest::new(&folded(rest_angle), 0.5);
            for theta in [0.0, 0.1, 1.5, -2.9] {
                let (got, expected) =
                    (CubicShell::value(&rest, &folded(theta)), 2.0 * (1.0 - libm::cos(theta - rest_angle)));
                assert!((got - expected).abs() < 1e-13, "{theta} from {rest_angle}: {got}, expected {expected}");
            }
        }
    }

    #[test]
    fn a_flat_rest_shape_makes_it_isometric_bending() {
        let x = FLAT.map(Vec3::from);
        let (rest, length_squared) = (Rest::new(&x, 0.1), (x[1] - x[0]).norm_squared());
        let flat = isometric::Rest { weights: rest.weights, compliance: 0.1 * length_squared };
        for x in conformance::random_stencils() {
            let (got, expected) = (CubicShell::value(&rest, &x), Isometric::value(&flat, &x));
            assert!((got - expected).abs() <= 1e-12 * expected, "{got} {expected}");
        }
    }
}
