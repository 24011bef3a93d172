//! Bending as beams that buckle at once under compression.
//!
//! ```text
//!      ●─────●─────●        a beam from end to end of two cells, of rest length L; d = ‖x₁ − x₀‖
//!        ╲_______╱          shorter than L it is an arc of that length: d = L sinc(κL/2)
//!
//! ψ = ½ k_b κ² L   for d < L,   0 beyond        f_b = dψ/dd = k_b κ² / (cos(κL/2) − sinc(κL/2))
//! ```
//!
//! With w = (κL/2)² everything is a power series that converges for all w, without a difference of near numbers:
//!
//! ```text
//! d/L = r(w) = Σ (−w)ᵏ/(2k + 1)!        ψ = 2 (k_b/L) w,   f_b = 2 (k_b/L²)/r′(w),   df_b/dd = −2 (k_b/L³) r″(w)/r′(w)³
//! ```
//!
//! w is found from d by Newton's method; 0 ≤ w ≤ π².
//!
//! `f_b` starts at −12 `k_b`/L² for the smallest compression (a beam of Euler's would need π²; the arc is an assumption). A jump of the force
//! has no Hessian, so over the first ten-thousandth of compression the force rises from 0 in proportion, as the paper does with
//! its constant `c_b`. From there on `f_b` is exact, and ψ is less by the half of 12 · 10⁻⁴ `k_b`/L that the rise saves.
//!
//! The rigidity. On a grid of cells the beams run over two cells along both axes, one through each vertex; a row of width h
//! has `k_b` = B h/2, since two beams overlap everywhere. On other triangles a beam joins the two vertices opposite each inner edge, with
//! `k_b` = (8/9) B (A₀ + A₁)/L. A cylinder of curvature κ then has the energy ½Bκ² per area times
//!
//! | mesh | along the axes | in between |
//! |---|---|---|
//! | cells of any cut | 1 | ½ at 45° |
//! | crossed cells | ½ | 1 at 45° |
//! | equilateral triangles | 1 | 1 |
//!
//! (cells: cos⁴ + sin⁴ of the direction; 9/8 is the sum of cos⁴ over three directions at 60°). That is for curvatures above
//! κL ≈ 0.05; flatter, the rise of the force makes the cloth softer. A cell at the end of a row is bent by one beam, not two,
//! so a strip of N cells lacks 1/N of its rigidity. Where one side of a beam is wholly clamped, only the other can bend, and `k_b` is doubled.
//!
//! Nothing resists tension or an arc that straightens: a curved rest shape keeps its chord as L, and bends further against the beam but opens
//! freely. `f_b` is negative, so the Hessian across the beam is negative too (`f_b`/d): `clamped` and `square` drop it.
//!
//! [Choi, Ko 2002, "Stable but Responsive Cloth", §4.2].

use crate::energy::stiffness::{DAMPING, physical};
use crate::energy::stretch::network;
use crate::energy::{Batch, Blocks, Energy, EnergyKind, Forms, Row, Sink, Site};
use crate::math::{Mat3, Scalar, Vec3};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One beam over two cells or across an inner edge.
///
/// ```
/// use muslin::energy::bend::buckling::Buckling;
/// use muslin::{Cloth, Simulation};
///
/// let model = Buckling { stiffness: Some(1e-4), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "buckling"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buckling {
    /// Bending rigidity B, in N·m; `None` = as the fabric, or 10⁻⁵.
    pub stiffness: Option<f64>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `buckling`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Buckling::NAME,
        summary: "beams over two cells that buckle at once under compression; nothing in tension",
        source: "Choi, Ko 2002, Stable but Responsive Cloth",
        parameters: &[physical("N·m", 1e-5, "bending rigidity B along the rows of a grid: ½Bκ² per area"), DAMPING],
        one_of: &[],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(Buckling: BendSettings, KIND, { stiffness, damping });

/// Rest data of one beam.
///
/// ```
/// use muslin::energy::bend::buckling::{Rest, force};
///
/// let rest = Rest { length: 0.1, scale: 1e-3 };
/// assert_eq!(force(&rest, 0.1), 0.0, "straight");
/// assert!(force(&rest, 0.09) != 0.0, "pressed together");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// L, in m.
    pub length: S,
    /// `k_b`/L, in J.
    pub scale: S,
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(rigidity) = settings.number("stiffness") else { return };
    let elements = elements(site, rigidity);
    sink.add(Batch::<Buckling, 2>::new(site, settings, elements));
}

/// The beams of a cloth of rigidity B, in N·m.
fn elements(site: &Site<'_>, rigidity: f64) -> Vec<([u32; 2], Rest<f64>)> {
    let beam = |span: &network::Span| {
        let share = if span.is_row { 1.0 } else { 8.0 / 9.0 };
        let stiffness = share * span.grip * rigidity * span.area / span.length;
        (site.stencil(span.vertices), Rest { length: span.length, scale: stiffness / span.length })
    };
    network::spans(site).iter().map(beam).collect()
}

/// Compression over which the force rises from zero.
const RISE: f64 = 1e-4;
/// `f_b` in `k_b`/L², and w, at the end of the rise.
const RISE_FORCE: f64 = -12.000_720_049_374_995;
const RISE_W: f64 = 6.000_180_008_229_017e-4;

/// Terms of the series of r: the sixteenth is below 10⁻¹⁹ at w = π².
const TERMS: usize = 16;

/// 1/(2k + 1)! with alternating sign.
const SERIES: [f64; TERMS] = {
    let mut series = [1.0; TERMS];
    let mut k = 1;
    while k < TERMS {
        series[k] = -series[k - 1] / ((2 * k) as f64 * (2 * k + 1) as f64);
        k += 1;
    }
    series
};

/// r, r′ and r″ at w.
#[inline(always)]
fn chord<S: Scalar>(w: S) -> [S; 3] {
    let (mut value, mut first, mut half_second) = (S::ZERO, S::ZERO, S::ZERO);
    for &coefficient in SERIES.iter().rev() {
        half_second = half_second * w + first;
        first = first * w + value;
        value = value * w + S::from_f64(coefficient);
    }
    [value, first, half_second + half_second]
}

/// w at d/L = `ratio`, in [0, 1].
#[inline(always)]
fn bend<S: Scalar>(ratio: S) -> S {
    // r is convex and falls; the start is right to 0.2 everywhere, and each step squares the error times 0.1.
    let x = S::ONE - ratio;
    let x2 = x * x;
    let mut w = x * (S::from_f64(6.0) + S::from_f64(1.8) * x + S::from_f64(0.82) * x2 + S::from_f64(1.25) * x2 * x2);
    for _ in 0..5 {
        let [value, first, _] = chord(w);
        w -= (value - ratio) / first;
    }
    w
}

/// What a beam does at d/L = r: ψ, `f_b` and `df_b/dd` over `k_b`/L, `k_b`/L² and `k_b`/L³.
struct Arc<S> {
    energy: S,
    force: S,
    slope: S,
}

#[inline(always)]
fn arc<S: Scalar>(ratio: S) -> Arc<S> {
    let compression = S::ONE - ratio;
    let is_compressed = compression.greater(S::ZERO);
    let is_arc = compression.greater(S::from_f64(RISE));
    let rise = S::from_f64(-RISE_FORCE / RISE);
    // In the other lanes a ratio for which Newton's method is sure to stay finite.
    let w = bend(S::select(is_arc, ratio, S::from_f64(0.5)));
    let [_, first, second] = chord(w);
    let two = S::from_f64(2.0);
    // ψ is continuous: at the end of the rise it is half of force times compression.
    let offset = S::from_f64(-0.5 * RISE_FORCE * RISE - 2.0 * RISE_W);
    let of_rise = |value: S| S::select(is_compressed, value, S::ZERO);
    let half = S::from_f64(0.5);
    Arc {
        energy: S::select(is_arc, two * w + offset, of_rise(half * rise * compression * compression)),
        force: S::select(is_arc, two / first, of_rise(-(rise * compression))),
        slope: S::select(is_arc, -(two * second) / (first * first * first), of_rise(rise)),
    }
}

/// `f_b` at d, in N: negative, it pushes the ends apart.
pub fn force(rest: &Rest<f64>, distance: f64) -> f64 {
    arc(distance / rest.length).force * rest.scale / rest.length
}

/// `df_b/dd`, in N/m.
pub fn force_slope(rest: &Rest<f64>, distance: f64) -> f64 {
    arc(distance / rest.length).slope * rest.scale / (rest.length * rest.length)
}

/// s n nᵀ + t (I − n nᵀ), `treat` applied to both s = `df_b/dd` and t = `f_b`/d.
fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 2], treat: impl Fn(f64) -> f64) -> Mat3 {
    let d = x[1] - x[0];
    let distance = d.norm();
    if distance == 0.0 {
        return Mat3::ZERO;
    }
    let n = d * (1.0 / distance);
    let (axial, transverse) = (treat(force_slope(rest, distance)), treat(force(rest, distance) / distance));
    Mat3::outer(n, n) * (axial - transverse) + Mat3::scalar(transverse)
}

impl Energy<2> for Buckling {
    const NAME: &'static str = "buckling";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 2>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest { length: S::gather(rest, |r| r.length), scale: S::gather(rest, |r| r.scale) }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> S {
        arc((x[1] - x[0]).norm() / rest.length).energy * rest.scale
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> [Vec3<S>; 2] {
        let d = x[1] - x[0];
        let force = arc(d.norm() / rest.length).force * rest.scale / rest.length;
        let pull = d.normalized_or_zero() * force;
        [-pull, pull]
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 2]) -> Row<S, 2> {
        let d = x[1] - x[0];
        let arc = arc(d.norm() / rest.length);
        let pull = d.normalized_or_zero() * (arc.force * rest.scale / rest.length);
        Row::of_energy(arc.energy * rest.scale, [-pull, pull])
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        let block = block(rest, x, |stiffness| stiffness);
        [[block, -block], [-block, block]]
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 2], _vertex: usize) -> Mat3 {
        block(rest, x, |stiffness| stiffness)
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        // The axial part is never negative, the transverse part never positive.
        let block = block(rest, x, |stiffness| stiffness.max(0.0));
        [[block, -block], [-block, block]]
    }

    fn square(rest: &Rest<f64>, x: &[Vec3<f64>; 2]) -> Blocks<2> {
        Self::clamped(rest, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;

    #[test]
    fn conforms() {
        for length in [0.7, 1.5, 4.0] {
            let rest = Rest { length, scale: 3.0 };
            conformance::check::<Buckling, 2>(&rest, &conformance::random_stencils());
        }
    }

    #[test]
    fn the_series_are_those_of_sine_and_cosine() {
        for w in [1e-3, 0.3, 2.0, 7.0, 9.8] {
            let u = f64::sqrt(w);
            let (s, c) = (libm::sin(u), libm::cos(u));
            let [value, first, _] = chord(w);
            assert!((value - s / u).abs() < 1e-15, "{w}: {value}");
            assert!((first - (c - s / u) / (2.0 * w)).abs() < 1e-13, "{w}: {first}");
        }
        for ratio in [0.0_f64, 1e-3, 0.2, 0.5, 0.9, 0.9999] {
            let [value, ..] = chord(bend(ratio));
            assert!((value - ratio).abs() < 1e-15, "{ratio}: {value}");
        }
        // 1 − 10⁻⁴ is rounded to 10⁻¹⁶, which is 6 · 10⁻¹⁶ of w.
        let w = bend(1.0 - RISE);
        let [_, first, _] = chord(w);
        assert!((2.0 / first - RISE_FORCE).abs() < 1e-13 && (w - RISE_W).abs() < 1e-15, "{:e} {w:e}", 2.0 / first);
    }

    #[test]
    fn energy_and_force_are_continuous() {
        for at in [1.0, 1.0 - RISE] {
            let (below, above) = (arc(at - 1e-12), arc(at + 1e-12));
            assert!((below.force - above.force).abs() < 1e-6, "{} {}", below.force, above.force);
            assert!((below.energy - above.energy).abs() < 1e-10, "{} {}", below.energy, above.energy);
        }
        let free = arc(1.5);
        assert_eq!([free.energy, free.force, free.slope], [0.0; 3], "nothing in tension");
    }

    /// The energy of a sheet rolled to curvature κ about an axis at an angle, per area over ½Bκ²: the beams whose middle is
    /// in a window of whole periods, less the energy that the rise of the force saves.
    fn rigidity(mesh: &Mesh, degrees: f64, kappa: f64, window: [f64; 2]) -> f64 {
        let topology = Topology::build(mesh);
        let clamped = vec![false; mesh.vertex_count()];
        let vertex_count = mesh.vertex_count();
        let site = Site { mesh, topology: &topology, clamped: &clamped, first_vertex: 0, vertex_count };
        let (s, c) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
        let rolled = |v: u32| {
            let p = mesh.positions[v as usize];
            let (along, across) = (c * p[0] + s * p[2], c * p[2] - s * p[0]);
            let angle = kappa * along;
            Vec3::new(libm::sin(angle) / kappa, (1.0 - libm::cos(angle)) / kappa, across)
        };
        let mut energy = 0.0;
        for (stencil, rest) in elements(&site, 1.0) {
            let middle: [f64; 2] =
                [0, 2].map(|axis| 0.5 * stencil.iter().map(|&v| mesh.positions[v as usize][axis]).sum::<f64>());
            let share = |x: f64, half: f64| {
                if (x.abs() - half).abs() < 1e-9 { 0.5 } else { f64::from(u8::from(x.abs() < half)) }
            };
            let psi = Buckling::value(&rest, &stencil.map(rolled));
            let saved = if psi > 0.0 { -0.5 * RISE_FORCE * RISE * rest.scale } else { 0.0 };
            energy += share(middle[0], window[0]) * share(middle[1], window[1]) * (psi + saved);
        }
        energy / (4.0 * window[0] * window[1]) / (0.5 * kappa * kappa)
    }

    #[test]
    fn a_cylinder_has_the_rigidity_of_the_header() {
        let kappa = 4.0;
        for diagonals in [Diagonals::Forward, Diagonals::Alternating] {
            let mesh = Mesh::grid([1.6, 1.6], [16, 16], diagonals).unwrap();
            for (degrees, expected) in [(0.0, 1.0), (90.0, 1.0), (45.0, 0.5)] {
                let got = rigidity(&mesh, degrees, kappa, [0.4, 0.4]);
                assert!((got - expected).abs() < 1e-2 * expected, "{diagonals:?} at {degrees}: {got}");
            }
        }
        let mesh = Mesh::grid([1.6, 1.6], [16, 16], Diagonals::Crossed).unwrap();
        for (degrees, expected) in [(0.0, 0.5), (45.0, 1.0)] {
            let got = rigidity(&mesh, degrees, kappa, [0.4, 0.4]);
            assert!((got - expected).abs() < 1e-2 * expected, "crossed at {degrees}: {got}");
        }
        let height = 24.0 * 0.75_f64.sqrt() / 24.0;
        let mesh = Mesh::grid([1.0, height], [24, 1], Diagonals::Isotropic).unwrap();
        for degrees in [0.0, 17.0, 45.0, 90.0] {
            let got = rigidity(&mesh, degrees, kappa, [0.25, 0.25 * height]);
            assert!((got - 1.0).abs() < 1e-2, "equilateral at {degrees}: {got}");
        }
    }
}
