//! Bending as a distance between the two vertices opposite a shared edge.
//!
//! ```text
//!         c
//!       ╱   ╲
//!      a ─── b        C = ‖x_d − x_c‖ − ℓ,   ψ = C²/2α
//!       ╲   ╱
//!         d
//! ```
//!
//! The cheapest bending there is; it also resists stretch across the edge. At a flat
//! rest shape the distance shrinks with the *square* of the angle, so ψ ∝ κ⁴: its linear stiffness is zero and no
//! value of α means a bending rigidity B. It therefore takes the raw forms `compliance` and `k` only.
//!
//! [Müller et al. 2007, §4.1 mentions it as the alternative to the angle], [Bender et al. 2014, §4.1].

use crate::energy::stiffness::{DAMPING, K, compliance};
use crate::energy::stretch::spring;
use crate::energy::stretch::spring::Spring;
use crate::energy::{Batch, Corner, Energy, EnergyKind, Forms, PairRow, Sink, Site, Stiffness};
use crate::math::{Scalar, Vec3};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One distance per hinge.
///
/// ```
/// use muslin::energy::Stiffness;
/// use muslin::energy::bend::distance::Distance;
/// use muslin::{Cloth, Simulation};
///
/// let model = Distance { stiffness: Some(Stiffness::Compliance(1e-3)), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "distance"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// A compliance or a projection, which has to be given: this model has no physical stiffness.
    pub stiffness: Option<Stiffness>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `distance`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Distance::NAME,
        summary: "a distance between the vertices opposite each inner edge; no linear stiffness at a flat rest shape",
        source: "Bender, Müller, Macklin 2014, A Survey on Position-Based Simulation Methods, §4.1",
        parameters: &[compliance("m/N"), K, DAMPING],
        one_of: &["compliance", "k"],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(Distance: BendSettings, KIND, { stiffness, damping });

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let elements = site.hinges().map(|hinge| {
        let ([_, _, c, d], [.., x, y]) = (hinge.vertices, site.hinge(hinge));
        (site.stencil([c, d]), spring::Rest { length: (y - x).norm(), compliance: stiffness.compliance(0.0) })
    });
    sink.add(Batch::<Distance, 2>::new(site, settings, elements.collect()));
}

impl Energy<2> for Distance {
    const NAME: &'static str = "distance";
    type Rest<S: Scalar> = spring::Rest<S>;
    type Row<S: Scalar> = PairRow<S>;

    fn cast<S: Scalar>(rest: &[spring::Rest<f64>]) -> spring::Rest<S> {
        Spring::cast(rest)
    }
    #[inline(always)]
    fn value<S: Scalar>(rest: &spring::Rest<S>, x: &[Vec3<S>; 2]) -> S {
        Spring::value(rest, x)
    }
    #[inline(always)]
    fn gradient<S: Scalar>(rest: &spring::Rest<S>, x: &[Vec3<S>; 2]) -> [Vec3<S>; 2] {
        Spring::gradient(rest, x)
    }
    #[inline(always)]
    fn row<S: Scalar>(rest: &spring::Rest<S>, x: &[Vec3<S>; 2]) -> PairRow<S> {
        Spring::row(rest, x)
    }
    #[inline(always)]
    fn corner<S: Scalar>(rest: &spring::Rest<S>, x: &[Vec3<S>; 2], vertex: usize) -> Corner<S> {
        Spring::corner(rest, x, vertex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    #[test]
    fn conforms() {
        let rest = spring::Rest { length: 0.8, compliance: 0.3 };
        conformance::check::<Distance, 2>(&rest, &conformance::random_stencils());
    }

    /// What it is not: at a flat rest shape the energy of a small fold grows with the fourth power of the angle.
    #[test]
    fn a_flat_hinge_has_no_linear_stiffness() {
        let height = 0.5;
        let rest = spring::Rest { length: 2.0 * height, compliance: 1.0 };
        let folded = |angle: f64| {
            let half = 0.5 * angle;
            let (y, z) = (height * libm::sin(half), height * libm::cos(half));
            Distance::value(&rest, &[Vec3::new(0.0, y, z), Vec3::new(0.0, y, -z)])
        };
        let slope = libm::log(folded(0.02) / folded(0.01)) / libm::log(2.0);
        assert!((slope - 4.0).abs() < 1e-3, "slope {slope}");
    }
}
