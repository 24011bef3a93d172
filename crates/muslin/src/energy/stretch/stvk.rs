//! St Venant–Kirchhoff membrane: a linear law between Green's strain and stress.
//!
//! ```text
//! ψ = A ( μ E:E + ½ λ (tr E)² )       S = 2μ E + λ tr(E) I        E, μ, λ: see the module `membrane`
//! ```
//!
//! As three squares, E:E and tr E being sums of `E_uu` + `E_vv`, `E_uu` − `E_vv` and `E_uv`,
//!
//! ```text
//! C = ( √(A(λ + μ)) tr E,   √(Aμ) (E_uu − E_vv),   2 √(Aμ) E_uv ),   ψ = ½‖C‖²
//! ```
//!
//! ψ is a polynomial of the positions, smooth at every shape, collapsed ones included. In uniaxial stretch it has Young's
//! modulus Y and Poisson's ratio ν on every mesh.
//!
//! Use it for moderate strains. Under compression it softens: below 1/√3 of its length the force falls, and a triangle squeezed
//! to nothing costs only a finite energy; use `neo_hookean` where that matters.
//!
//! [Bonet, Wood 2008, "Nonlinear Continuum Mechanics for Finite Element Analysis"], [Volino, Magnenat-Thalmann, Faure 2009] for cloth.

use crate::energy::stiffness::{DAMPING, POISSON, YOUNG};
use crate::energy::stretch::membrane::{Condition, Law, Membrane, Modes, Moduli, Symmetric, Tangent};
use crate::energy::{EnergyKind, Forms, Sink, Site};
use crate::math::{Mat3, Scalar, Sym3, Vec3};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// The law.
///
/// ```
/// use muslin::energy::stretch::stvk::Stvk;
/// use muslin::{Cloth, Simulation};
///
/// let model = Stvk { poisson: 0.3, ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).stretch(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "stvk"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stvk {
    /// In-plane stiffness Y, in N/m; `None` = as the fabric, or 1000.
    pub stiffness: Option<f64>,
    /// Poisson's ratio ν.
    pub poisson: f64,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `stvk`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Stvk::NAME,
        summary: "St Venant-Kirchhoff triangles: a sheet of Young's modulus and Poisson's ratio on any mesh",
        source: "Bonet, Wood 2008, Nonlinear Continuum Mechanics; Volino, Magnenat-Thalmann, Faure 2009",
        parameters: &[YOUNG, POISSON, DAMPING],
        one_of: &[],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(Stvk: StretchSettings, KIND, { stiffness, poisson, damping });

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    Membrane::<Stvk>::assemble(settings, site, sink);
}

impl Law for Stvk {
    const NAME: &'static str = "stvk";

    #[inline(always)]
    fn conditions<S: Scalar>(moduli: &Moduli<S>, e: &Symmetric<S>) -> [Condition<S>; 3] {
        let (bulk, shear) = ((moduli.mu + moduli.lambda).sqrt(), moduli.mu.sqrt());
        let condition = |value, uu, vv, uv| Condition { value, slope: Symmetric { uu, vv, uv } };
        [
            condition(bulk * e.trace(), bulk, bulk, S::ZERO),
            condition(shear * (e.uu - e.vv), shear, -shear, S::ZERO),
            condition(shear * (e.uv + e.uv), S::ZERO, S::ZERO, shear),
        ]
    }

    /// With p = Σ `w_a f_a`: (λ + μ) p pᵀ + μ w² (`f_u f_uᵀ + f_v f_vᵀ`).
    #[inline(always)]
    fn along<S: Scalar>(
        moduli: &Moduli<S>,
        e: &Symmetric<S>,
        [u, v]: [Vec3<S>; 2],
        w: [S; 2],
    ) -> (Symmetric<S>, Sym3<S>) {
        let Moduli { mu, lambda } = *moduli;
        let (pressure, double) = (lambda * e.trace(), mu + mu);
        let stress = Symmetric { uu: pressure + double * e.uu, vv: pressure + double * e.vv, uv: double * e.uv };
        let all = mu * (w[0] * w[0] + w[1] * w[1]);
        let mut block = Sym3::outer(u * w[0] + v * w[1], lambda + mu);
        block += Sym3::outer(u, all);
        block += Sym3::outer(v, all);
        (stress, block)
    }

    /// `𝒞_acbd = λ δ_ac δ_bd + μ (δ_ab δ_cd + δ_ad δ_cb)`.
    fn material(moduli: &Moduli<f64>, _strain: &Symmetric<f64>, [u, v]: [Vec3<f64>; 2]) -> Tangent {
        let Moduli { mu, lambda } = *moduli;
        let (uu, vv, uv) = (Mat3::outer(u, u), Mat3::outer(v, v), Mat3::outer(u, v));
        let both = (uu + vv) * mu;
        let mixed = uv * lambda + uv.transposed() * mu;
        [[uu * (lambda + mu) + both, mixed], [mixed.transposed(), vv * (lambda + mu) + both]]
    }

    fn modes(moduli: &Moduli<f64>, [a, b]: [f64; 2]) -> Modes {
        let Moduli { mu, lambda } = *moduli;
        let stress = 0.5 * lambda * (a * a + b * b - 2.0) - mu;
        Modes {
            scaling: Symmetric {
                uu: stress + (lambda + 3.0 * mu) * a * a,
                vv: stress + (lambda + 3.0 * mu) * b * b,
                uv: lambda * a * b,
            },
            flip: stress + mu * (a * a + a * b + b * b),
            twist: stress + mu * (a * a - a * b + b * b),
            normal: [stress + mu * a * a, stress + mu * b * b],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;
    use crate::energy::stretch::membrane::tests::{TENSE, check_clamping, check_finite, patch, rest_of};

    #[test]
    fn conforms() {
        for poisson in [0.0, 0.3, 0.9] {
            conformance::check::<Membrane<Stvk>, 3>(&rest_of(100.0, poisson), &conformance::random_stencils());
        }
    }

    #[test]
    fn a_corner_under_tension_is_exact() {
        conformance::corners_are_exact::<Membrane<Stvk>, 3>(&rest_of(100.0, 0.3), &TENSE.map(Vec3::from));
    }

    #[test]
    fn the_closed_clamp_is_that_of_jacobi() {
        check_clamping::<Stvk>(&rest_of(100.0, 0.3));
    }

    #[test]
    fn every_shape_is_finite() {
        check_finite::<Stvk>(&rest_of(100.0, 0.3));
    }

    /// Uniaxial: with the sides free, `S_vv` = 0, so `S_uu` = Y `E_uu` and the nominal stress is a Y (a² − 1)/2.
    #[test]
    fn a_strip_has_the_young_and_poisson_of_the_scene() {
        let (young, poisson) = (350.0, 0.3);
        for a in [0.9, 1.02, 1.3] {
            let strain = 0.5 * (a * a - 1.0);
            let b = (1.0 - 2.0 * poisson * strain).sqrt();
            let elements = |site: &Site<'_>| Membrane::<Stvk>::elements(site, young, poisson);
            let (energy, [[along, _], [_, across]]) = patch::<Membrane<Stvk>>(elements, [a, b, 0.0]);
            let exact = young * strain;
            assert!((along - a * exact).abs() < 1e-10 * exact.abs(), "{along} {}", a * exact);
            assert!(across.abs() < 1e-10 * exact.abs(), "{across}");
            assert!((energy - 0.5 * exact * strain).abs() < 1e-10 * exact * strain, "{energy}");
        }
    }
}
