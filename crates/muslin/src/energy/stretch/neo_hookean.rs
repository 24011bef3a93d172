//! Neo-Hookean membrane: a sheet that resists being squeezed to nothing.
//!
//! ```text
//! ψ = A ( ½ μ (tr FᵀF − 2 − 2 ln J) + ½ λ (ln J)² )       J = √det(FᵀF), the area ratio; μ, λ: see the module `membrane`
//! S = μ (I − (FᵀF)⁻¹) + λ ln J (FᵀF)⁻¹
//! ```
//!
//! Young's modulus Y and Poisson's ratio ν hold at small strains. ln J has no end at J = 0; below J = 0.1 it goes on as its
//! expansion of second order in q = J² about q₀ = 0.01,
//!
//! ```text
//! ln J → ½ ( ln q₀ + t − ½ t² ),   t = q/q₀ − 1
//! ```
//!
//! so a collapsed triangle has a large but finite energy, and forces and Hessian are continuous on the way. In space a triangle
//! cannot be inside out, only turned over; what passes through J = 0 comes out on the other side as an ordinary triangle.
//!
//! As three squares, with σ₁, σ₂ the singular values of F, T = tr `FᵀF` + 2J = (σ₁ + σ₂)² and j = J − 1,
//!
//! ```text
//! tr FᵀF − 2 − 2 ln J = (σ₁ − σ₂)² + 2 (j − ln(1 + j)),   (σ₁ − σ₂)² T = 4 ((E_uu − E_vv)² + 4 E_uv²)
//! C = ( j √(A(2μ e + λ l²)),   2 √(Aμ/T) (E_uu − E_vv),   4 √(Aμ/T) E_uv ),   ψ = ½‖C‖²
//! e = (j − ln(1 + j))/j²,   l = ln(1 + j)/j            ½ and 1 at rest
//! ```
//!
//! and with q − 1 = 2 tr E + 4 det E nothing small is a difference of large numbers, in single precision too. Below q₀ the first
//! number is √2ψ and the others are zero.
//!
//! Use it where cloth is strongly stretched or squeezed in its plane.
//!
//! [Bonet, Wood 2008, §6.4.3], for a sheet: [Sifakis, Barbič 2012, §3.4] in two dimensions.

use crate::energy::stiffness::{DAMPING, POISSON, physical};
use crate::energy::stretch::membrane::{Condition, Law, Membrane, Modes, Moduli, Symmetric, Tangent};
use crate::energy::{EnergyKind, Forms, Sink, Site};
use crate::math::{Mat3, Scalar, Sym3, Vec3, inlined};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// The law.
///
/// ```
/// use muslin::energy::stretch::neo_hookean::NeoHookean;
/// use muslin::{Cloth, Simulation};
///
/// let model = NeoHookean { poisson: 0.3, ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).stretch(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "neo_hookean"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookean {
    /// In-plane stiffness Y, in N/m; `None` = as the fabric, or 1000.
    pub stiffness: Option<f64>,
    /// Poisson's ratio ν.
    pub poisson: f64,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `neo_hookean`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: NeoHookean::NAME,
        summary: "neo-Hookean triangles: a sheet for large strains, which resists being squeezed to nothing",
        source: "Bonet, Wood 2008, Nonlinear Continuum Mechanics; Sifakis, Barbič 2012, FEM Simulation of 3D Deformable Solids",
        parameters: &[
            physical("N/m", 1000.0, "in-plane stiffness Y at small strains: Young's modulus × thickness"),
            POISSON,
            DAMPING,
        ],
        one_of: &[],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(NeoHookean: StretchSettings, KIND, { stiffness, poisson, damping });

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    Membrane::<NeoHookean>::assemble(settings, site, sink);
}

/// Whether a triangle that is squeezed to nothing has an energy that is not negative.
///
/// With λ < 0 the square of ln J wins in the end: ψ/A at J = 0 is μ (−1 − l) + ½ λ l², l = ½ (ln q₀ − 3/2), which takes λ/μ = 2ν/(1 − ν) ≥ −0.44.
pub(crate) fn withstands_collapse(poisson: f64) -> bool {
    let log = 0.5 * (LN_LEAST - 1.5);
    -1.0 - log + poisson / (1.0 - poisson) * log * log >= 0.0
}

/// q₀ = J² below which ln J is continued, and its logarithm.
const LEAST: f64 = 0.01;
const LN_LEAST: f64 = -2.0 * std::f64::consts::LN_10;

/// e and l of j, without cancellation for small j; `log` is ln(1 + j).
#[inline(always)]
fn area_terms<S: Scalar>(j: S, log: impl Fn() -> S) -> [S; 2] {
    // ln(1 + j) = 2 (s + s³/3 + s⁵/5 + …) with s = p j, p = 1/(2 + j), and j − 2s = j s.
    let p = S::ONE / (S::from_f64(2.0) + j);
    let square = p * j * (p * j);
    let mut series = S::ZERO;
    for odd in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series * square + S::from_f64(1.0 / odd);
    }
    let is_far = square.greater(S::from_f64(0.01));
    let double = p + p;
    let near = [p - double * p * p * j * series, double * (S::ONE + square * series)];
    if !S::is_any(is_far) {
        return near;
    }
    let log = log();
    [S::select(is_far, (j - log) / (j * j), near[0]), S::select(is_far, log / j, near[1])]
}

/// ∂W/∂q and ∂²W/∂q², in J.
fn slopes(moduli: &Moduli<f64>, q: f64) -> [f64; 2] {
    let Moduli { mu, lambda } = *moduli;
    let (log, first, second) = if q > LEAST {
        (0.5 * libm::log1p(q - 1.0), 0.5 / q, -0.5 / (q * q))
    } else {
        let t = q / LEAST - 1.0;
        (0.5 * (LN_LEAST + t - 0.5 * t * t), 0.5 * (1.0 - t) / LEAST, -0.5 / (LEAST * LEAST))
    };
    [(lambda * log - mu) * first, lambda * first * first + (lambda * log - mu) * second]
}

impl Law for NeoHookean {
    const NAME: &'static str = "neo_hookean";

    #[inline(always)]
    fn conditions<S: Scalar>(moduli: &Moduli<S>, e: &Symmetric<S>) -> [Condition<S>; 3] {
        let (half, two) = (S::from_f64(0.5), S::from_f64(2.0));
        let trace = two * e.trace();
        let change = trace + S::from_f64(4.0) * e.determinant();
        let is_sound = change.greater(S::from_f64(LEAST - 1.0));
        // ½ ∂q/∂E.
        let cofactor = Symmetric { uu: S::ONE + two * e.vv, vv: S::ONE + two * e.uu, uv: -(two * e.uv) };

        // What a lane does not take must not reach logarithm and roots as a number below −1.
        let sound_change = S::select(is_sound, change, S::ZERO);
        let ratio = (S::ONE + sound_change).sqrt();
        let j = sound_change / (ratio + S::ONE);
        let [excess, slope] = area_terms(
            j,
            #[inline(always)]
            || half * sound_change.ln_1p(),
        );
        let root = (two * moduli.mu * excess + moduli.lambda * slope * slope).sqrt();
        // ∂J/∂E = ½ ∂q/∂E / J, and J ∂W/∂J = (μ + λ l) j.
        let area = (moduli.mu + moduli.lambda * slope) / (root * ratio * ratio);
        let sum = two + trace + two * ratio;
        let shear = (moduli.mu / sum).sqrt() * two;
        // ∂T/∂E = 2 (I + ½ ∂q/∂E / J), of which a half over T is the relative change of √T.
        let falling = inlined(
            #[inline(always)]
            |cofactor: S, identity: S| (identity + cofactor / ratio) / sum,
        );
        let fall = Symmetric {
            uu: falling(cofactor.uu, S::ONE),
            vv: falling(cofactor.vv, S::ONE),
            uv: falling(cofactor.uv, S::ZERO),
        };
        let [difference, mixed] = [shear * (e.uu - e.vv), shear * (e.uv + e.uv)];

        let t = (change + S::from_f64(1.0 - LEAST)) * S::from_f64(1.0 / LEAST);
        let log = half * (S::from_f64(LN_LEAST) + t - half * t * t);
        let energy = half * (moduli.mu * (trace - two * log) + moduli.lambda * log * log);
        let whole = (two * S::select(is_sound, S::ONE, energy)).sqrt();
        let continued = (moduli.lambda * log - moduli.mu) * (S::ONE - t) * S::from_f64(1.0 / LEAST);

        let choose = inlined(
            #[inline(always)]
            |sound: S, collapsed: S| S::select(is_sound, sound, collapsed),
        );
        let first = inlined(
            #[inline(always)]
            |cofactor: S, identity: S| choose(area * cofactor, (moduli.mu * identity + continued * cofactor) / whole),
        );
        let other = inlined(
            #[inline(always)]
            |value: S, uu: S, vv: S, uv: S| Condition {
                value: choose(value, S::ZERO),
                slope: Symmetric {
                    uu: choose(uu - value * fall.uu, S::ZERO),
                    vv: choose(vv - value * fall.vv, S::ZERO),
                    uv: choose(uv - value * fall.uv, S::ZERO),
                },
            },
        );
        let slope = Symmetric {
            uu: first(cofactor.uu, S::ONE),
            vv: first(cofactor.vv, S::ONE),
            uv: first(cofactor.uv, S::ZERO),
        };
        [
            Condition { value: choose(j * root, whole), slope },
            other(difference, shear, -shear, S::ZERO),
            other(mixed, S::ZERO, S::ZERO, shear),
        ]
    }

    /// With p = E adj C, C = `FᵀF`: S = (2μ p + λ ln J adj C)/q, in which nothing small is a difference of large numbers. Over one direction, with
    /// m = Σ `w_a m_a` and r = `w_u f_v − w_v f_u`, the law's part of the Hessian is 4 W″ m mᵀ − 2 W′ r rᵀ.
    #[inline(always)]
    fn along<S: Scalar>(
        moduli: &Moduli<S>,
        e: &Symmetric<S>,
        [u, v]: [Vec3<S>; 2],
        w: [S; 2],
    ) -> (Symmetric<S>, Sym3<S>) {
        let (half, two) = (S::from_f64(0.5), S::from_f64(2.0));
        let determinant = two * e.determinant();
        let change = two * (e.trace() + determinant);
        let cofactor = Symmetric { uu: S::ONE + two * e.vv, vv: S::ONE + two * e.uu, uv: -(two * e.uv) };
        let q = S::ONE + change;
        let is_sound = change.greater(S::from_f64(LEAST - 1.0));

        let sound_change = S::select(is_sound, change, S::ZERO);
        // ln q of a small change is its series, as in `area_terms`.
        let p = sound_change / (two + sound_change);
        let square = p * p;
        let mut series = S::ZERO;
        for odd in [9.0, 7.0, 5.0, 3.0] {
            series = series * square + S::from_f64(1.0 / odd);
        }
        let near = p + p * square * series;
        let is_far = square.greater(S::from_f64(0.01));
        let log = if S::is_any(is_far) { S::select(is_far, half * sound_change.ln_1p(), near) } else { near };
        let inverse = S::ONE / q;
        let pressure = moduli.lambda * log * inverse;
        let shear = two * moduli.mu * inverse;
        let sound = Symmetric {
            uu: shear * (e.uu + determinant) + pressure * cofactor.uu,
            vv: shear * (e.vv + determinant) + pressure * cofactor.vv,
            uv: shear * e.uv + pressure * cofactor.uv,
        };
        let slope = half * inverse * (moduli.lambda * log - moduli.mu);
        let second = inverse * (S::from_f64(0.25) * moduli.lambda * inverse - slope);

        let (stress, slope, second) = if S::is_any(S::select(is_sound, S::ZERO, S::ONE).greater(S::ZERO)) {
            let t = (change + S::from_f64(1.0 - LEAST)) * S::from_f64(1.0 / LEAST);
            let log = half * (S::from_f64(LN_LEAST) + t - half * t * t);
            let first = half * (S::ONE - t) * S::from_f64(1.0 / LEAST);
            let gap = moduli.lambda * log - moduli.mu;
            let continued = two * gap * first;
            let collapsed = Symmetric {
                uu: moduli.mu + continued * cofactor.uu,
                vv: moduli.mu + continued * cofactor.vv,
                uv: continued * cofactor.uv,
            };
            let curvature = moduli.lambda * first * first - gap * S::from_f64(0.5 / (LEAST * LEAST));
            let stress = Symmetric {
                uu: S::select(is_sound, sound.uu, collapsed.uu),
                vv: S::select(is_sound, sound.vv, collapsed.vv),
                uv: S::select(is_sound, sound.uv, collapsed.uv),
            };
            (stress, S::select(is_sound, slope, gap * first), S::select(is_sound, second, curvature))
        } else {
            (sound, slope, second)
        };
        let m = u * (w[0] * cofactor.uu + w[1] * cofactor.uv) + v * (w[0] * cofactor.uv + w[1] * cofactor.vv);
        let r = v * w[0] - u * w[1];
        let positive = inlined(
            #[inline(always)]
            |s: S| S::select(s.greater(S::ZERO), s, S::ZERO),
        );
        let mut block = Sym3::outer(m, positive(S::from_f64(4.0) * second));
        block += Sym3::outer(r, positive(-(two * slope)));
        (stress, block)
    }

    /// `4 W″ m_a m_bᵀ + 2 W′ ∂m_a/∂f_b`, the latter without its multiples of I; `m_a = ½ ∂q/∂f_a`, primes are over q.
    fn material(moduli: &Moduli<f64>, e: &Symmetric<f64>, [u, v]: [Vec3<f64>; 2]) -> Tangent {
        let q = 1.0 + 2.0 * e.trace() + 4.0 * e.determinant();
        let [first, second] = slopes(moduli, q);
        let m = [u * (1.0 + 2.0 * e.vv) - v * (2.0 * e.uv), v * (1.0 + 2.0 * e.uu) - u * (2.0 * e.uv)];
        let outer = |a: Vec3<f64>, b: Vec3<f64>, s: f64| Mat3::outer(a, b * s);
        let mixed = outer(m[0], m[1], 4.0 * second) + outer(u, v, 4.0 * first) - outer(v, u, 2.0 * first);
        [
            [outer(m[0], m[0], 4.0 * second) - outer(v, v, 2.0 * first), mixed],
            [mixed.transposed(), outer(m[1], m[1], 4.0 * second) - outer(u, u, 2.0 * first)],
        ]
    }

    fn modes(moduli: &Moduli<f64>, [a, b]: [f64; 2]) -> Modes {
        let product = a * b;
        let [first, second] = slopes(moduli, product * product);
        let mu = moduli.mu;
        Modes {
            scaling: Symmetric {
                uu: mu + 2.0 * first * b * b + 4.0 * second * product * product * b * b,
                vv: mu + 2.0 * first * a * a + 4.0 * second * product * product * a * a,
                uv: 4.0 * first * product + 4.0 * second * product * product * product,
            },
            flip: mu - 2.0 * first * product,
            twist: mu + 2.0 * first * product,
            normal: [mu + 2.0 * first * b * b, mu + 2.0 * first * a * a],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::stretch::membrane::Rest;
    use crate::energy::stretch::membrane::tests::{TENSE, check_clamping, check_finite, patch, rest_of};
    use crate::energy::{Energy, conformance};

    #[test]
    fn conforms() {
        for poisson in [0.0, 0.3, 0.9] {
            conformance::check::<Membrane<NeoHookean>, 3>(&rest_of(100.0, poisson), &conformance::random_stencils());
        }
    }

    #[test]
    fn a_corner_under_tension_is_exact() {
        for size in [1.0, 1.3] {
            let x = TENSE.map(|x| Vec3::from(x) * size);
            conformance::corners_are_exact::<Membrane<NeoHookean>, 3>(&rest_of(100.0, 0.3), &x);
        }
    }

    #[test]
    fn the_closed_clamp_is_that_of_jacobi() {
        check_clamping::<NeoHookean>(&rest_of(100.0, 0.3));
    }

    #[test]
    fn every_shape_is_finite() {
        check_finite::<NeoHookean>(&rest_of(100.0, 0.3));
    }

    /// Energy, stress and stiffness are continuous where ln J is continued.
    #[test]
    fn the_continuation_is_smooth() {
        let moduli = Moduli { mu: 3.0, lambda: 2.0 };
        let at = |a: f64| {
            let [first, second] = slopes(&moduli, a * a);
            let rest = Rest { weights: [[1.0, 0.0], [0.0, 1.0]], moduli };
            let x = [Vec3::ZERO, Vec3::new(a, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
            let [_, u, v] = Membrane::<NeoHookean>::gradient(&rest, &x);
            [Membrane::<NeoHookean>::value(&rest, &x), u.x, v.y, first, second]
        };
        for (below, above) in at(0.1 - 1e-9).into_iter().zip(at(0.1 + 1e-9)) {
            assert!((below - above).abs() < 1e-6 * above.abs(), "{below} {above}");
        }
    }

    /// A small strain in single precision has the energy of the sheet, not of rounding.
    #[test]
    fn small_strains_keep_their_energy_in_single_precision() {
        let (mu, lambda) = (3.0, 2.0);
        let energy = |c: [f64; 3]| 0.5 * c.iter().map(|c| c * c).sum::<f64>();
        for strain in [1e-2_f64, 1e-3, 1e-4, 1e-6] {
            let e = Symmetric { uu: strain, vv: 0.3 * strain, uv: -0.2 * strain };
            let exact = energy(NeoHookean::conditions(&Moduli { mu, lambda }, &e).map(|c| c.value));
            let single = Symmetric { uu: e.uu as f32, vv: e.vv as f32, uv: e.uv as f32 };
            let moduli = Moduli { mu: mu as f32, lambda: lambda as f32 };
            let got = energy(NeoHookean::conditions(&moduli, &single).map(|c| f64::from(c.value)));
            assert!((got - exact).abs() < 1e-5 * exact, "{strain}: {got} {exact}");
            let small = mu * (1.0 + 0.09 + 0.08) * strain * strain + 0.5 * lambda * 1.69 * strain * strain;
            assert!((exact - small).abs() < 5.0 * strain * small, "{strain}: {exact} {small}");
        }
    }

    /// Uniaxial with free sides, ν = 0: `S_vv` = μ(1 − 1/b²) = 0 only at b = 1, and the nominal stress is μ(a − 1/a).
    #[test]
    fn a_collapsed_triangle_has_a_positive_energy_unless_poissons_ratio_is_far_below_zero() {
        for (poisson, withstands) in [(0.9, true), (0.0, true), (-0.28, true), (-0.29, false), (-0.9, false)] {
            assert_eq!(withstands_collapse(poisson), withstands, "{poisson}");
        }
    }

    #[test]
    fn a_strip_without_poisson_follows_the_closed_form() {
        let young = 350.0;
        for a in [0.7, 1.02, 1.5] {
            let elements = |site: &Site<'_>| Membrane::<NeoHookean>::elements(site, young, 0.0);
            let (_, [[along, _], [_, across]]) = patch::<Membrane<NeoHookean>>(elements, [a, 1.0, 0.0]);
            let exact = 0.5 * young * (a - 1.0 / a);
            assert!((along - exact).abs() < 1e-10 * exact.abs(), "{along} {exact}");
            assert!(across.abs() < 1e-10 * exact.abs(), "{across}");
        }
    }
}
