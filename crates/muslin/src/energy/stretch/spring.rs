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
//! Use it for any cloth. It resists compression as it does stretch, so a mesh of nearly rigid springs cannot bend along
//! arbitrary lines (it locks). Two keys help against that, and change nothing at their defaults:
//!
//! ```text
//! c = ‖x₁ − x₀‖ − ℓ,   m = slack · ℓ            slack: free for |‖x₁ − x₀‖/ℓ − 1| < slack
//! C = c − m for c > m,   0 in between,   √r (c + m) for c < −m        r = compression
//! ```
//!
//! so that the force is continuous, and under compression r times as stiff. A rigid spring (`compliance = 0`) and PBD's `k` have no
//! stiffness to reduce: there, under compression, the part r of each correction is made.
//!
//! `network = "full"` adds to the edges of the mesh what the mass-spring literature has: both diagonals of every cell, and
//! springs over two cells. The module `network` gives their constants in terms of Y, `shear` and `flexion`. Flexion springs do not mean a bending
//! rigidity: at a flat rest shape their energy grows with κ⁴ (see `distance`), F κ² h⁴/36 in the place of B on cells of size h.
//! Give them little, and bend with a bend model.
//!
//! [Müller et al. 2007, §3.2], [Macklin, Müller, Chentanez 2016, eq. 18], [Van Gelder 1998] for the constant, [Provot 1995] for
//! the network.

use crate::energy::stiffness::{DAMPING, K, YOUNG, compliance, modulus};
use crate::energy::stretch::network;
use crate::energy::stretch::network::{Member, Sheet};
use crate::energy::{
    Batch, Blocks, Corner, Energy, EnergyKind, Forms, PairRow, Pull, Requirement, Row, Sink, Site, Stiffness,
    energy_of, force_of,
};
use crate::math::{Mat3, Scalar, Sym3, Vec3, each};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::{typed, word};

/// One spring per edge.
///
/// ```
/// use muslin::energy::stretch::spring::Spring;
/// use muslin::{Cloth, Simulation};
///
/// let model = Spring { damping: 0.01, ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).stretch(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "spring"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// How stiff it is; `None` = as the fabric, or 1000 N/m.
    pub stiffness: Option<Stiffness>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
    /// Stiffness under compression over that under tension.
    pub compression: f64,
    /// Strain, either way, up to which a spring is free.
    pub slack: f64,
    /// Where springs are.
    pub network: Network,
    /// Shear stiffness of a full network, in N/m; `None` = ⅜ of the stiffness.
    pub shear: Option<f64>,
    /// Stiffness that springs over two cells carry in a full network, in N/m; `None` = a tenth.
    pub flexion: Option<f64>,
}

/// Where the springs of a cloth are.
///
/// ```
/// use muslin::energy::stretch::spring::{Network, Spring};
///
/// let mesh = Spring { network: Network::Full, shear: Some(300.0), ..Default::default() };
/// assert_eq!(Spring::default().network, Network::Edges);
/// # let _ = mesh;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// On the edges of the mesh.
    Edges,
    /// Also on both diagonals of each cell and over two cells.
    Full,
}

word!(Network { Edges = "edges", Full = "full" });

/// The same with slack, or weaker under compression.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::spring::{SlackRest, SlackSpring};
/// use muslin::math::Vec3;
///
/// let rest = SlackRest::new(1.0, 0.01, 0.05, 1.0);
/// let x = |length: f64| [Vec3::ZERO, Vec3::new(length, 0.0, 0.0)];
/// assert!(SlackSpring::value(&rest, &x(1.2)) > SlackSpring::value(&rest, &x(1.05)));
/// ```
pub struct SlackSpring;

/// The scene's `spring`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Spring::NAME,
        summary: "a spring on every edge; the distance constraint of PBD and XPBD",
        source: "Müller et al. 2007, Position Based Dynamics; Macklin et al. 2016, XPBD; constants: Van Gelder 1998",
        parameters: &[
            YOUNG,
            compliance("m/N"),
            K,
            DAMPING,
            COMPRESSION,
            SLACK,
            NETWORK,
            modulus(
                "shear",
                "shear stiffness G of a full network on cells; default: ⅜ of stiffness, which is isotropic",
            ),
            modulus(
                "flexion",
                "part of stiffness that springs over two cells carry, in a full network; default: a tenth",
            ),
        ],
        one_of: &["stiffness", "compliance", "k"],
    },
    flat_only: false,
    forms: Forms::ALL,
};

typed!(Spring: StretchSettings, KIND, { stiffness, damping, compression, slack, network, shear, flexion });

const COMPRESSION: Parameter = Parameter {
    name: "compression",
    unit: "",
    kind: Kind::Number { min: 0.0, max: 1.0 },
    default: Some(Setting::Number(1.0)),
    meaning: "stiffness under compression over that under tension",
};

const SLACK: Parameter = Parameter {
    name: "slack",
    unit: "",
    kind: Kind::Number { min: 0.0, max: 0.5 },
    default: Some(Setting::Number(0.0)),
    meaning: "strain, either way, up to which a spring is free",
};

const FULL: &str = "full";

const NETWORK: Parameter = Parameter {
    name: "network",
    unit: "",
    kind: Kind::Choice(&["edges", FULL]),
    default: Some(Setting::Choice("edges")),
    meaning: "springs on the edges of the mesh, or full: also on both diagonals of each cell and over two cells",
};

/// The constants of a full network mean nothing without one, nor beside a raw stiffness.
pub(crate) const REQUIREMENTS: [Requirement; 2] = [needs_network("shear"), needs_network("flexion")];

const fn needs_network(key: &'static str) -> Requirement {
    Requirement {
        model: Spring::NAME,
        key,
        holds: |settings| {
            settings.choice(NETWORK.name) == Some(FULL)
                && matches!(Stiffness::read(settings), Some(Stiffness::Physical(_)))
        },
        message: "belongs to network = \"full\" with a `stiffness`; give those, or leave this out",
    }
}

/// Rest data of one spring.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::math::Vec3;
///
/// let rest = Rest { length: 1.0, compliance: 0.01 };
/// assert_eq!(Spring::value(&rest, &[Vec3::ZERO, Vec3::new(0.0, 1.0, 0.0)]), 0.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// ℓ, in m.
    pub length: S,
    /// α, in m/N.
    pub compliance: S,
}

/// Rest data of one spring with slack.
///
/// ```
/// use muslin::energy::stretch::spring::SlackRest;
///
/// let rest = SlackRest::new(1.0, 0.01, 0.05, 1.0);
/// assert_eq!((rest.length, rest.compliance), (1.0, 0.01));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SlackRest<S> {
    /// ℓ, in m.
    pub length: S,
    /// α, in m/N.
    pub compliance: S,
    /// m, in m.
    pub slack: S,
    /// Under compression, the factor on C.
    pub value_share: S,
    /// Under compression, the factor on ∇C.
    pub gradient_share: S,
}

impl SlackRest<f64> {
    /// From the keys of a scene: `slack` relative to the length, `compression` r.
    pub fn new(length: f64, compliance: f64, slack: f64, compression: f64) -> Self {
        // A rigid spring has no stiffness, so r reduces its correction, C/‖∇C‖², instead.
        let is_rigid = compliance == 0.0;
        let value_share = if is_rigid { compression } else { compression.sqrt() };
        let gradient_share = if is_rigid && compression > 0.0 { 1.0 } else { value_share };
        Self { length, compliance, slack: slack * length, value_share, gradient_share }
    }
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let young = if let Stiffness::Physical(young) = stiffness { young } else { 1.0 };
    let members = match settings.choice(NETWORK.name) {
        Some(FULL) => {
            let or = |name, share: f64| settings.number(name).unwrap_or(share * young);
            network::full(site, Sheet { young, shear: or("shear", 0.375), flexion: or("flexion", 0.1) })
        }
        _ => network::edges(site, young),
    };
    let spring = |member: Member| {
        let [a, b] = member.vertices;
        let compliance = match stiffness {
            Stiffness::Physical(_) => member.compliance,
            raw => raw.compliance(0.0),
        };
        (site.stencil([a, b]), Rest { length: member.length, compliance })
    };
    let springs = members.into_iter().map(spring);
    let number = |parameter: &Parameter, default| settings.number(parameter.name).unwrap_or(default);
    let (compression, slack) = (number(&COMPRESSION, 1.0), number(&SLACK, 0.0));
    // Plain springs are most of all work: they have a batch without the choices that slack needs.
    if compression == 1.0 && slack == 0.0 {
        return sink.add(Batch::<Spring, 2>::new(site, settings, springs.collect()));
    }
    let slacken = |(stencil, rest): ([u32; 2], Rest<f64>)| {
        (stencil, SlackRest::new(rest.length, rest.compliance, slack, compression))
    };
    sink.add(Batch::<SlackSpring, 2>::new(site, settings, springs.map(slacken).collect()));
}

impl Energy<2> for Spring {
    const NAME: &'static str = "spring";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = PairRow<S>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest { length: S::gather(rest, |r| r.length), compliance: S::gather(rest, |r| r.compliance) }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> S {
        let c = (x[1] - x[0]).norm() - rest.length;
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
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

    #[inline(always)]
    fn corner<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2], vertex: usize) -> Corner<S> {
        let row = Self::row(rest, x);
        corner(row.direction, row.value + rest.length, row.value, force_of(S::ONE, rest.compliance), vertex)
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

    fn buckled(rest: &Rest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        if Self::row(rest, x).value < 0.0 { [[Mat3::ZERO; 2]; 2] } else { Self::hessian(rest, x) }
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

/// A spring of the stiffness k that is longer by `excess` than it wants to be, seen from one end: k (n nᵀ + t (I − n nᵀ)), t as in [`block`], not below zero.
#[inline(always)]
pub(crate) fn corner<S: Scalar>(direction: Vec3<S>, length: S, excess: S, stiffness: S, vertex: usize) -> Corner<S> {
    let pull = if vertex == 0 { -stiffness } else { stiffness };
    let is_long = excess.greater(S::ZERO);
    let transverse = S::select(is_long, stiffness * excess / length, S::ZERO);
    let mut block = Sym3::outer(direction, stiffness - transverse);
    block += Sym3::scalar(transverse);
    Corner { gradient: direction * (pull * excess), block }
}

/// c beyond the slack with its sign, and √r or its kin: what C is made of.
#[inline(always)]
fn beyond<S: Scalar>(rest: &SlackRest<S>, length: S) -> (S, S::Mask) {
    let change = length - rest.length;
    let is_long = change.greater(rest.slack);
    let is_short = (-rest.slack).greater(change);
    let short = S::select(is_short, change + rest.slack, S::ZERO);
    (S::select(is_long, change - rest.slack, short), is_short)
}

/// The spring that a slack spring is at the moment, as far as its Hessian goes; `None` where it is free.
fn effective(rest: &SlackRest<f64>, x: &[Vec3<f64>; 2]) -> Option<Rest<f64>> {
    let (excess, is_short) = beyond(rest, (x[1] - x[0]).norm());
    let share = if is_short { rest.value_share * rest.gradient_share } else { 1.0 };
    let length = if is_short { rest.length - rest.slack } else { rest.length + rest.slack };
    (excess != 0.0 && share > 0.0).then(|| Rest { length, compliance: rest.compliance / share })
}

impl Energy<2> for SlackSpring {
    const NAME: &'static str = Spring::NAME;
    type Rest<S: Scalar> = SlackRest<S>;
    type Row<S: Scalar> = Row<S, 2>;

    fn cast<S: Scalar>(rest: &[SlackRest<f64>]) -> SlackRest<S> {
        SlackRest {
            length: S::gather(rest, |r| r.length),
            compliance: S::gather(rest, |r| r.compliance),
            slack: S::gather(rest, |r| r.slack),
            value_share: S::gather(rest, |r| r.value_share),
            gradient_share: S::gather(rest, |r| r.gradient_share),
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &SlackRest<S>, x: &[Vec3<S>; 2]) -> S {
        let c = Self::row(rest, x).value;
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &SlackRest<S>, x: &[Vec3<S>; 2]) -> [Vec3<S>; 2] {
        let row = Self::row(rest, x);
        each(
            row.gradient,
            #[inline(always)]
            |g| g * force_of(row.value, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &SlackRest<S>, x: &[Vec3<S>; 2]) -> Row<S, 2> {
        let d = x[1] - x[0];
        let length = d.norm();
        let (excess, is_short) = beyond(rest, length);
        let inverse = S::select(length.greater(S::ZERO), S::ONE / length, S::ZERO);
        let is_long = excess.greater(S::ZERO);
        let pull = S::select(is_short, rest.gradient_share, S::select(is_long, S::ONE, S::ZERO));
        let gradient = d * (inverse * pull);
        let value = S::select(is_short, rest.value_share, S::ONE) * excess;
        Row { value, gradient: [-gradient, gradient], compliance: rest.compliance }
    }

    #[inline(always)]
    fn corner<S: Scalar>(rest: &SlackRest<S>, x: &[Vec3<S>; 2], vertex: usize) -> Corner<S> {
        let d = x[1] - x[0];
        let length = d.norm();
        let (excess, is_short) = beyond(rest, length);
        let inverse = S::select(length.greater(S::ZERO), S::ONE / length, S::ZERO);
        let is_long = excess.greater(S::ZERO);
        let share = S::select(is_short, rest.value_share * rest.gradient_share, S::select(is_long, S::ONE, S::ZERO));
        corner(d * inverse, length, excess, force_of(share, rest.compliance), vertex)
    }

    fn hessian(rest: &SlackRest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        effective(rest, x).map_or([[Mat3::ZERO; 2]; 2], |spring| Spring::hessian(&spring, x))
    }

    fn block(rest: &SlackRest<f64>, x: &[Vec3<f64>; 2], vertex: usize) -> Mat3 {
        effective(rest, x).map_or(Mat3::ZERO, |spring| Spring::block(&spring, x, vertex))
    }

    fn clamped(rest: &SlackRest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        effective(rest, x).map_or([[Mat3::ZERO; 2]; 2], |spring| Spring::clamped(&spring, x))
    }

    fn buckled(rest: &SlackRest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        effective(rest, x).map_or([[Mat3::ZERO; 2]; 2], |spring| Spring::buckled(&spring, x))
    }

    fn pull(rest: &SlackRest<f64>) -> Option<Pull<2>> {
        Some(Pull { weights: [-1.0, 1.0], stiffness: 1.0 / rest.compliance })
    }

    /// With 0 < r < 1 this is not a projection, but what pulls with the force of the energy.
    fn target(rest: &SlackRest<f64>, sum: Vec3<f64>) -> Vec3<f64> {
        let length = sum.norm();
        let (excess, is_short) = beyond(rest, length);
        let share = if is_short { rest.value_share * rest.gradient_share } else { 1.0 };
        sum.normalized_or_zero() * (length - share * excess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    #[test]
    fn conforms() {
        conformance::check::<Spring, 2>(&Rest { length: 1.0, compliance: 0.01 }, &conformance::random_stencils());
        for (slack, compression) in [(0.0, 0.3), (0.2, 1.0), (0.05, 0.0), (0.1, 0.5)] {
            let rest = SlackRest::new(1.0, 0.01, slack, compression);
            conformance::check::<SlackSpring, 2>(&rest, &conformance::random_stencils());
        }
    }

    #[test]
    fn a_corner_under_tension_is_exact() {
        let x = [Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.9, 0.9, 1.1)];
        conformance::corners_are_exact::<Spring, 2>(&Rest { length: 1.0, compliance: 0.01 }, &x);
        conformance::corners_are_exact::<SlackSpring, 2>(&SlackRest::new(1.0, 0.01, 0.1, 0.5), &x);
    }

    #[test]
    fn twice_the_stretch_is_four_times_the_energy() {
        let rest = Rest { length: 1.0, compliance: 1.0 / 7.0 };
        let at = |l: f64| Spring::value(&rest, &[Vec3::ZERO, Vec3::new(l, 0.0, 0.0)]);
        assert!((at(1.2) - 4.0 * at(1.1)).abs() < 1e-14, "{} {}", at(1.2), at(1.1));
    }

    /// The force along a spring of rest length 2 and stiffness 50.
    fn tension(slack: f64, compression: f64, length: f64) -> f64 {
        let rest = SlackRest::new(2.0, 1.0 / 50.0, slack, compression);
        SlackSpring::gradient(&rest, &[Vec3::ZERO, Vec3::new(length, 0.0, 0.0)])[1].x
    }

    #[test]
    fn slack_and_compression_are_what_they_say() {
        for (length, expected) in
            [(2.3, 50.0 * 0.26), (2.04, 0.0), (2.03, 0.0), (1.97, 0.0), (1.5, -50.0 * 0.25 * 0.46)]
        {
            let got = tension(0.02, 0.25, length);
            assert!((got - expected).abs() < 1e-12, "{length}: {got}, expected {expected}");
        }
        assert!((tension(0.02, 0.25, 1.96 - 1e-9)).abs() < 1e-6, "the force is continuous");
        assert_eq!(tension(0.0, 0.0, 1.0), 0.0, "no compression at all");
    }

    #[test]
    fn without_slack_it_is_the_plain_spring() {
        for x in conformance::random_stencils() {
            let plain = Spring::gradient(&Rest { length: 1.0, compliance: 0.1 }, &x);
            let slack = SlackSpring::gradient(&SlackRest::new(1.0, 0.1, 0.0, 1.0), &x);
            assert!((plain[1] - slack[1]).norm() < 1e-14 * plain[1].norm(), "{plain:?} {slack:?}");
        }
    }

    /// A rigid spring under compression is corrected by the part r.
    #[test]
    fn a_rigid_spring_makes_part_of_the_correction() {
        for (compression, left) in [(1.0, 0.0), (0.25, 0.75), (0.0, 1.0)] {
            let rest = SlackRest::new(2.0, 0.0, 0.0, compression);
            let row = SlackSpring::row(&rest, &[Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0)]);
            let change = crate::solver::position_based::pbd::correction(&row, &[1.0, 1.0], |_| 1.0);
            let length = 1.0 + 2.0 * change * row.gradient[1].x;
            assert!((2.0 - length - left).abs() < 1e-15, "{compression}: {length}");
        }
    }

    #[test]
    fn a_compressed_spring_has_buckled() {
        let rest = Rest { length: 1.0, compliance: 0.1 };
        let at = |l: f64| [Vec3::ZERO, Vec3::new(l, 0.0, 0.0)];
        assert_eq!(Spring::buckled(&rest, &at(0.9)), [[Mat3::ZERO; 2]; 2]);
        assert_eq!(Spring::buckled(&rest, &at(1.1)), Spring::hessian(&rest, &at(1.1)));
    }
}
