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
//! With E instead of FᵀF, nothing small is a difference of large numbers, in single precision too:
//!
//! ```text
//! q − 1 = 2 tr E + 4 det E           tr FᵀF − 2 − 2 ln J = (σ₁ − σ₂)² + 2 (j − ln(1 + j)),   j = J − 1
//! (σ₁ − σ₂)² = 4 ((E_uu − E_vv)² + 4 E_uv²)/(tr FᵀF + 2J)
//! ```
//!
//! Use it where cloth is strongly stretched or squeezed in its plane.
//!
//! [Bonet, Wood 2008, §6.4.3], for a sheet: [Sifakis, Barbič 2012, §3.4] in two dimensions.

use super::membrane::{Law, Membrane, Modes, Moduli, Symmetric, Tangent};
use super::stiffness::{DAMPING, POISSON, physical};
use super::{Batch, EnergyKind, Forms, Site, Term};
use crate::math::{Mat3, Scalar, Vec3};
use crate::parameter::{Entry, Settings};

/// The law.
pub struct NeoHookean;

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
    assemble,
    flat_only: false,
    forms: Forms::USUAL,
};

fn assemble(settings: &Settings, site: &Site<'_>) -> Option<Box<dyn Term>> {
    let elements =
        Membrane::<NeoHookean>::elements(site, settings.number("stiffness")?, settings.number(POISSON.name)?);
    Some(Box::new(Batch::<Membrane<NeoHookean>, 3>::new(site, settings, elements)))
}

/// q₀ = J² below which ln J is continued, and its logarithm.
const LEAST: f64 = 0.01;
const LN_LEAST: f64 = -2.0 * std::f64::consts::LN_10;

/// The measures of a strain that the law is written in.
struct Area<S: Scalar> {
    /// Whether q > q₀.
    is_sound: S::Mask,
    /// q − 1.
    change: S,
    /// ln J, continued.
    log: S,
}

impl<S: Scalar> Area<S> {
    #[inline(always)]
    fn new(e: &Symmetric<S>) -> Self {
        let trace = e.trace();
        let double = |x: S| x + x;
        let change = double(trace + double(e.determinant()));
        let is_sound = change.greater(S::from_f64(LEAST - 1.0));
        let half = S::from_f64(0.5);
        let t = (change + S::from_f64(1.0 - LEAST)) * S::from_f64(1.0 / LEAST);
        let continued = half * (S::from_f64(LN_LEAST) + t - half * t * t);
        // What a lane does not take must not reach the logarithm as a number below −1: it is slow there.
        let log = half * S::select(is_sound, change, S::ZERO).ln_1p();
        Self { is_sound, change, log: S::select(is_sound, log, continued) }
    }
}

/// j − ln(1 + j), without cancellation for small j; `log` is ln(1 + j).
#[inline(always)]
fn excess<S: Scalar>(j: S, log: S) -> S {
    // ln(1 + j) = 2 (s + s³/3 + s⁵/5 + …) with s = j/(2 + j), and j − 2s = j s.
    let s = j / (S::from_f64(2.0) + j);
    let square = s * s;
    let mut series = S::ZERO;
    for odd in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series * square + S::from_f64(1.0 / odd);
    }
    let near = j * s - (square + square) * s * series;
    S::select(square.greater(S::from_f64(0.01)), j - log, near)
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
    fn energy<S: Scalar>(moduli: &Moduli<S>, e: &Symmetric<S>) -> S {
        let area = Area::new(e);
        let (half, two) = (S::from_f64(0.5), S::from_f64(2.0));
        let trace = two * e.trace();
        let ratio = (S::ONE + S::select(area.is_sound, area.change, S::ZERO)).sqrt();
        let difference = e.uu - e.vv;
        let spread = S::from_f64(4.0) * (difference * difference + S::from_f64(4.0) * e.uv * e.uv);
        let near = spread / (two + trace + two * ratio) + two * excess(area.change / (ratio + S::ONE), area.log);
        let shape = S::select(area.is_sound, near, trace - two * area.log);
        half * (moduli.mu * shape + moduli.lambda * area.log * area.log)
    }

    #[inline(always)]
    fn stress<S: Scalar>(moduli: &Moduli<S>, e: &Symmetric<S>) -> Symmetric<S> {
        let area = Area::new(e);
        let two = S::from_f64(2.0);
        let q = S::ONE + area.change;
        let cofactor = Symmetric { uu: S::ONE + two * e.vv, vv: S::ONE + two * e.uu, uv: -(two * e.uv) };
        // I − (FᵀF)⁻¹ = (2E + 4 det E I)/q; beyond the end of ln J the derivative of its continuation instead.
        let inverse = S::ONE / q;
        let determinant = S::from_f64(4.0) * e.determinant();
        let deviation = moduli.mu * inverse;
        let pressure = moduli.lambda * area.log * inverse;
        let t = (area.change + S::from_f64(1.0 - LEAST)) * S::from_f64(1.0 / LEAST);
        let continued = (moduli.lambda * area.log - moduli.mu) * (S::ONE - t) * S::from_f64(1.0 / LEAST);
        let normal = |strain: S, cofactor: S| {
            let sound = deviation * (two * strain + determinant) + pressure * cofactor;
            S::select(area.is_sound, sound, moduli.mu + continued * cofactor)
        };
        let shear = deviation * (two * e.uv) + pressure * cofactor.uv;
        Symmetric {
            uu: normal(e.uu, cofactor.uu),
            vv: normal(e.vv, cofactor.vv),
            uv: S::select(area.is_sound, shear, continued * cofactor.uv),
        }
    }

    /// With m_a = ½ ∂q/∂f_a: 4 W″ m_a m_bᵀ + 2 W′ (∂m_a/∂f_b without its multiples of I); primes are over q.
    fn material(moduli: &Moduli<f64>, e: &Symmetric<f64>, [u, v]: [Vec3<f64>; 2]) -> (Tangent, bool) {
        let q = 1.0 + Area::new(e).change;
        let [first, second] = slopes(moduli, q);
        let m = [u * (1.0 + 2.0 * e.vv) - v * (2.0 * e.uv), v * (1.0 + 2.0 * e.uu) - u * (2.0 * e.uv)];
        let outer = |a: Vec3<f64>, b: Vec3<f64>, s: f64| Mat3::outer(a, b * s);
        let mixed = outer(m[0], m[1], 4.0 * second) + outer(u, v, 4.0 * first) - outer(v, u, 2.0 * first);
        let tangent = [
            [outer(m[0], m[0], 4.0 * second) - outer(v, v, 2.0 * first), mixed],
            [mixed.transposed(), outer(m[1], m[1], 4.0 * second) - outer(u, u, 2.0 * first)],
        ];
        (tangent, first <= 0.0 && 2.0 * q * second + first >= 0.0)
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
    use crate::energy::conformance;
    use crate::energy::membrane::tests::{check_clamping, check_finite, patch, rest_of};

    #[test]
    fn conforms() {
        for poisson in [0.0, 0.3, 0.9] {
            conformance::check::<Membrane<NeoHookean>, 3>(&rest_of(100.0, poisson), &conformance::random_stencils());
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
            let e = Symmetric { uu: 0.5 * (a * a - 1.0), vv: 0.0, uv: 0.0 };
            let stress = NeoHookean::stress(&moduli, &e);
            let [first, second] = slopes(&moduli, a * a);
            [NeoHookean::energy(&moduli, &e), stress.uu, stress.vv, first, second]
        };
        for (below, above) in at(0.1 - 1e-9).into_iter().zip(at(0.1 + 1e-9)) {
            assert!((below - above).abs() < 1e-6 * above.abs(), "{below} {above}");
        }
    }

    /// A small strain in single precision has the energy of the sheet, not of rounding.
    #[test]
    fn small_strains_keep_their_energy_in_single_precision() {
        let (mu, lambda) = (3.0, 2.0);
        for strain in [1e-2_f64, 1e-3, 1e-4, 1e-6] {
            let e = Symmetric { uu: strain, vv: 0.3 * strain, uv: -0.2 * strain };
            let exact = NeoHookean::energy(&Moduli { mu, lambda }, &e);
            let single = Symmetric { uu: e.uu as f32, vv: e.vv as f32, uv: e.uv as f32 };
            let got = NeoHookean::energy(&Moduli { mu: mu as f32, lambda: lambda as f32 }, &single);
            assert!((f64::from(got) - exact).abs() < 1e-5 * exact, "{strain}: {got} {exact}");
            let small = mu * (1.0 + 0.09 + 0.08) * strain * strain + 0.5 * lambda * 1.69 * strain * strain;
            assert!((exact - small).abs() < 5.0 * strain * small, "{strain}: {exact} {small}");
        }
    }

    /// Uniaxial with free sides, ν = 0: S_vv = μ(1 − 1/b²) = 0 only at b = 1, and the nominal stress is μ(a − 1/a).
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
