//! Edge springs, and the distance constraint of position-based dynamics.
//!
//! ```text
//! C = ‖x₁ − x₀‖ − ℓ        ψ = C²/2α        ℓ rest length [m], α compliance [m/N]
//! ```
//!
//! A stiffness Y, in N/m (Young's modulus × thickness) is spread over the edges by area,
//!
//! ```text
//! kₑ = Y (A₀ + A₁) / ℓ²,   α = 1/kₑ        A₀, A₁ rest areas of the edge's triangles [m²]
//! ```
//!
//! which does not depend on the size of the triangles. On equilateral triangles it is exactly a sheet of Young's
//! modulus Y and Poisson's ratio 1/3; on other meshes springs are a model of their own.
//!
//! Use it for any cloth; it resists compression as it does stretch, so a mesh of nearly rigid springs cannot bend
//! along arbitrary lines (it locks).
//!
//! [Müller et al. 2007, §3.2], [Macklin, Müller, Chentanez 2016, eq. 18], [Van Gelder 1998] for the constant.

use super::stiffness::{DAMPING, K, compliance, physical};
use super::{Batch, Blocks, Energy, EnergyKind, Forms, PairRow, Pull, Site, Stiffness, Term, energy_of, force_of};
use crate::math::{Mat3, Scalar, Vec3};
use crate::parameter::{Entry, Settings};
use crate::topology::NONE;

/// One spring per edge.
pub struct Spring;

/// The scene's `spring`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Spring::NAME,
        summary: "a spring on every edge; the distance constraint of PBD and XPBD",
        source: "Müller et al. 2007, Position Based Dynamics; Macklin et al. 2016, XPBD; constants: Van Gelder 1998",
        parameters: &[
            physical("N/m", 1000.0, "in-plane stiffness Y: Young's modulus × thickness"),
            compliance("m/N"),
            K,
            DAMPING,
        ],
        one_of: &["stiffness", "compliance", "k"],
    },
    assemble,
    flat_only: false,
    forms: Forms::ALL,
};

/// Rest data of one spring.
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// ℓ, in m.
    pub length: S,
    /// α, in m/N.
    pub compliance: S,
}

fn assemble(settings: &Settings, site: &Site<'_>) -> Vec<Box<dyn Term>> {
    let Some(stiffness) = Stiffness::read(settings) else { return Vec::new() };
    let elements = site.topology.edges.iter().zip(&site.topology.edge_triangles).map(|(&[a, b], triangles)| {
        let length = site.distance(a, b);
        let area: f64 = triangles.iter().filter(|&&t| t != NONE).map(|&t| site.mesh.area(t as usize)).sum();
        let compliance = stiffness.compliance(length * length / area);
        (site.stencil([a, b]), Rest { length, compliance })
    });
    vec![Box::new(Batch::<Spring, 2>::new(site, settings, elements.collect()))]
}

impl Energy<2> for Spring {
    const NAME: &'static str = "spring";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = PairRow<S>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest { length: S::gather(rest, |r| r.length), compliance: S::gather(rest, |r| r.compliance) }
    }

    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> S {
        let c = (x[1] - x[0]).norm() - rest.length;
        energy_of(c * c, rest.compliance)
    }

    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> [Vec3<S>; 2] {
        let row = Self::row(rest, x);
        let force = row.direction * force_of(row.value, rest.compliance);
        [-force, force]
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> PairRow<S> {
        let d = x[1] - x[0];
        let length = d.norm();
        let inverse = S::select(length.greater(S::ZERO), S::ONE / length, S::ZERO);
        PairRow { value: length - rest.length, direction: d * inverse, compliance: rest.compliance }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        let block = Self::block(rest, x, 0);
        [[block, -block], [-block, block]]
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 2], _vertex: usize) -> Mat3 {
        block(rest, x, |transverse| transverse)
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        let block = block(rest, x, |transverse| transverse.max(0.0));
        [[block, -block], [-block, block]]
    }

    fn pull(rest: &Rest<f64>) -> Option<Pull<2>> {
        Some(Pull { weights: [-1.0, 1.0], stiffness: 1.0 / rest.compliance })
    }

    fn target(rest: &Rest<f64>, sum: Vec3<f64>) -> Vec3<f64> {
        sum.normalized_or_zero() * rest.length
    }
}

/// k (n nᵀ + t (I − n nᵀ)), t = `treat`(1 − ℓ/‖x₁ − x₀‖) the share of the transverse stiffness.
#[inline(always)]
fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 2], treat: impl Fn(f64) -> f64) -> Mat3 {
    let row = Spring::row(rest, x);
    let stiffness = force_of(1.0, rest.compliance);
    let length = row.value + rest.length;
    // Two points in one place have no direction and, like their force, no stiffness.
    if length == 0.0 {
        return Mat3::ZERO;
    }
    let transverse = stiffness * treat(row.value / length);
    Mat3::outer(row.direction, row.direction) * (stiffness - transverse) + Mat3::scalar(transverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    #[test]
    fn conforms() {
        conformance::check::<Spring, 2>(&Rest { length: 1.0, compliance: 0.01 }, &conformance::random_stencils());
    }

    #[test]
    fn twice_the_stretch_is_four_times_the_energy() {
        let rest = Rest { length: 1.0, compliance: 1.0 / 7.0 };
        let at = |l: f64| Spring::value(&rest, &[Vec3::ZERO, Vec3::new(l, 0.0, 0.0)]);
        assert!((at(1.2) - 4.0 * at(1.1)).abs() < 1e-14, "{} {}", at(1.2), at(1.1));
    }
}
