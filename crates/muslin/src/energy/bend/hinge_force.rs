//! Bending forces with the sine of half the angle.
//!
//! The published forces, with |N| twice the area of a triangle and θ as in `dihedral`:
//!
//! ```text
//! fᵢ = k_e ‖E‖²/(|N₁| + |N₂|) (sin(θ/2) − sin(θ₀/2)) uᵢ,        uᵢ = −∂θ/∂xᵢ
//! ```
//!
//! The modes uᵢ neither move nor turn nor stretch the hinge: they are the gradient of θ, which the paper finds
//! without naming it. So along a path on which ‖E‖²/(|N₁|+|N₂|) does not change the forces have a potential, a
//! function of θ alone:
//!
//! ```text
//! C² = 4 ∫ (sin(t/2) − sin(θ₀/2)) dt,  t = θ₀ … θ        ψ = C²/2α,   α = (A₀ + A₁)/(B ℓ²),   k_e = 4B
//!    = 8 ( cos b (1 − cos x) − sin b (x − sin x) ),  b = θ₀/2,  x = (θ − θ₀)/2
//! ```
//!
//! and ℓ²/2(A₀+A₁) of the rest shape is the factor here. C has the sign of θ − θ₀, so it is smooth, and C ≈ θ for
//! small angles about a flat rest shape: B means what it means in the other models. About a curved one a fold is
//! softer than B by cos(θ₀/2), which is the paper's law and not a slip here. sin(θ/2) does not come back at θ = ±π:
//! a hinge that is folded through itself is pushed the other way, as in the paper.
//!
//! **The difference to the paper** is the factor, which there is that of the current shape. Stretched by ε along
//! the edge it grows to 1 + ε, stretched across to 1/(1 + ε), stretched evenly not at all: at 1 % of strain the
//! forces differ by at most 1 %. With it the forces have no potential: bending a stretched hinge and straightening
//! it after it was let go gains ε ψ in every round. A sheared cloth that flutters at 5 % strain would gain 5 % of
//! its bending energy per cycle, so the factor is frozen. The paper's damping, by ‖E‖ along the same modes, is
//! `damping` here: time constant × stiffness × rate.
//!
//! [Bridson, Marino, Fedkiw 2003, §4].

use crate::energy::bend::dihedral::{OfAngle, angle, angle_gradient, scaled_sine_cosine};
use crate::energy::stiffness::{DAMPING, K, compliance, physical};
use crate::energy::{Batch, Blocks, Energy, EnergyKind, Forms, Row, Sink, Site, Stiffness, energy_of, force_of};
use crate::math::{Mat3, Scalar, Vec3, each};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One force of a hinge.
///
/// ```
/// use muslin::energy::Stiffness;
/// use muslin::energy::bend::hinge_force::HingeForce;
/// use muslin::{Cloth, Simulation};
///
/// let model = HingeForce { stiffness: Some(Stiffness::Physical(1e-4)), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "hinge_force"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeForce {
    /// How stiff it is; `None` = as the fabric, or 10⁻⁵ N·m.
    pub stiffness: Option<Stiffness>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `hinge_force`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: HingeForce::NAME,
        summary: "forces with the sine of half the angle, weaker than dihedral at sharp folds; keeps a curved rest shape",
        source: "Bridson, Marino, Fedkiw 2003, Simulation of Clothing with Folds and Wrinkles, §4",
        parameters: &[
            physical("N·m", 1e-5, "bending rigidity B: ½Bκ² per area of a cylinder; the paper's k_e is 4B"),
            compliance("1/(N·m)"),
            K,
            DAMPING,
        ],
        one_of: &["stiffness", "compliance", "k"],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(HingeForce: BendSettings, KIND, { stiffness, damping });

/// Rest data of one hinge.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::hinge_force::{HingeForce, Rest};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let rest = Rest::new(0.0, 0.1);
/// assert!(HingeForce::value(&rest, &flat).abs() < 1e-20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// sin(θ₀/2).
    pub sine: S,
    /// cos(θ₀/2), not negative.
    pub cosine: S,
    /// α, in 1/(N·m).
    pub compliance: S,
}

impl Rest<f64> {
    /// Of a hinge with the rest angle θ₀, in rad.
    pub fn new(angle: f64, compliance: f64) -> Self {
        Self { sine: libm::sin(0.5 * angle), cosine: libm::cos(0.5 * angle), compliance }
    }
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let elements = site.hinges().map(|hinge| {
        let x = site.hinge(hinge);
        let unit_compliance = site.hinge_area(hinge) / (x[1] - x[0]).norm_squared();
        (site.stencil(hinge.vertices), Rest::new(angle(&x), stiffness.compliance(unit_compliance)))
    });
    sink.add(Batch::<HingeForce, 4>::new(site, settings, elements.collect()));
}

/// sin(θ/2) and cos(θ/2), without losing digits at either end.
#[inline(always)]
fn half_angle<S: Scalar>(x: &[Vec3<S>; 4]) -> [S; 2] {
    let [y, x] = scaled_sine_cosine(x);
    let scale = (x * x + y * y).sqrt();
    let defined = scale.greater(S::ZERO);
    let (sine, cosine) = (S::select(defined, y / scale, S::ZERO), S::select(defined, x / scale, S::ONE));
    let half = S::from_f64(0.5);
    // The larger of the two halves is a root of at least a half, the other follows from sin θ = 2 sin cos.
    let open = (S::ONE + cosine).greater(S::ONE);
    let root = (half + half * S::select(open, cosine, -cosine)).sqrt();
    let other = half * sine / root;
    let sharp = S::select((-sine).greater(S::ZERO), -root, root);
    [S::select(open, other, sharp), S::select(open, root, S::select((-other).greater(S::ZERO), -other, other))]
}

/// C, dC/dθ and C dC/dθ.
#[inline(always)]
fn law<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [S; 3] {
    let [sine, cosine] = half_angle(x);
    let two = S::from_f64(2.0);
    // x = (θ − θ₀)/2, by its sine and cosine.
    let (sin_x, cos_x) = (sine * rest.cosine - cosine * rest.sine, cosine * rest.cosine + sine * rest.sine);
    let angle = sin_x.atan2(cos_x);
    let versine = S::select(cos_x.greater(S::ZERO), sin_x * sin_x / (S::ONE + cos_x), S::ONE - cos_x);
    let squared = S::from_f64(8.0) * (rest.cosine * versine - rest.sine * (angle - sin_x));
    let moment = two * (sine - rest.sine);
    // Near the rest angle C = 2x √cos b to the first order, and the quotient below is 0/0.
    let near = S::from_f64(64.0 * S::EPSILON).greater(angle * angle);
    let slope = rest.cosine.sqrt();
    let root = S::select(near, S::ONE, squared).sqrt();
    let c = S::select(near, two * angle * slope, S::select((-angle).greater(S::ZERO), -root, root));
    [c, S::select(near, slope, moment / c), S::select(near, c * slope, moment)]
}

impl Energy<4> for HingeForce {
    const NAME: &'static str = "hinge_force";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 4>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest {
            sine: S::gather(rest, |r| r.sine),
            cosine: S::gather(rest, |r| r.cosine),
            compliance: S::gather(rest, |r| r.compliance),
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
        let [c, _, _] = law(rest, x);
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        let [_, _, moment] = law(rest, x);
        each(
            angle_gradient(x),
            #[inline(always)]
            |g| g * force_of(moment, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> Row<S, 4> {
        let [value, slope, _] = law(rest, x);
        Row {
            value,
            gradient: each(
                angle_gradient(x),
                #[inline(always)]
                |g| g * slope,
            ),
            compliance: rest.compliance,
        }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        of_angle(rest, x).hessian(x)
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 4], vertex: usize) -> Mat3 {
        of_angle(rest, x).block(x, vertex)
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        of_angle(rest, x).clamped(x)
    }
}

fn of_angle(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> OfAngle {
    let [_, _, moment] = law(rest, x);
    // d/dθ of 2 (sin(θ/2) − sin b).
    let [_, cosine] = half_angle(x);
    OfAngle { moment: force_of(moment, rest.compliance), stiffness: force_of(cosine, rest.compliance) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    #[test]
    fn conforms() {
        for angle in [0.0, -0.7, 2.5] {
            conformance::check::<HingeForce, 4>(&Rest::new(angle, 0.01), &conformance::random_stencils());
        }
    }

    #[test]
    fn half_of_an_angle_is_half_of_it() {
        for x in conformance::random_stencils() {
            let half = 0.5 * angle(&x);
            let [sine, cosine] = half_angle(&x);
            assert!((sine - libm::sin(half)).abs() < 1e-14, "{sine} at {half}");
            assert!((cosine - libm::cos(half)).abs() < 1e-14, "{cosine} at {half}");
        }
    }
}
