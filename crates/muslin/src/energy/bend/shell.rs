//! A plate on any triangle mesh: the shape operator of each triangle from the slopes at the middles of its edges.
//!
//! ```text
//! ψ = A B/2 ( (1 − ν) S:S + ν (tr S)² )        A rest area, B rigidity [N·m], ν Poisson's ratio
//! S = Σ ℓₑ sym(νₑ ⊗ gₑ)/A                     over the edges e of the triangle: νₑ outward normal in its plane,
//!                                             gₑ the derivative of the positions at the middle of the edge
//! ```
//!
//! Along the edge, gₑ is the edge itself. Across it, it is a weighted sum Σ wᵢxᵢ of the vertices around the edge,
//! the turn of the mid-edge normal. Everything rests on these weights. Two conditions make the energy that of the
//! plate in the limit, on any mesh:
//!
//! 1. *Exact for quadratic surfaces*, or the energy of a smooth surface is wrong.
//! 2. *One value for both triangles of an edge.* Then Σ A S is a boundary term, so that a surface of constant
//!    curvature is in equilibrium. If not, vertices move out of the smooth surface by O(h²) to lower the energy, by
//!    a part that does not vanish with h.
//!
//! The usual mean of the two triangles' slopes has the second only: a cylinder costs 1.09 to 1.10 on unstructured
//! meshes. It is mended by no other weights of the two triangles: a quadratic has six coefficients, and they have
//! four vertices. A quadratic through the six vertices of a triangle and its neighbours has the first only, and is
//! worse: with free vertices a cylinder on alternating diagonals relaxes to 0.46 of its energy, on unstructured
//! meshes to 0.94. So the patch is that of the *edge*: its two triangles and the four beyond them, eight vertices,
//!
//! ```text
//! w = w₀ + least correction that makes w exact for quadratics,    w₀ = (h_B s_A + h_A s_B)/(h_A + h_B)
//! ```
//!
//! with the slopes s and the heights h of the two triangles A and B, so that w₀ is exact for curvature across
//! the edge. The correction is orthogonal to linear functions, and leaves out the combinations of quadratics that
//! the patch hardly sees (singular values below 0.05 of the largest: eight vertices near a conic). On
//! meshes of congruent triangles with one diagonal it is zero. With both conditions a cylinder costs 1.0000 on all
//! five meshes of the tests, before and after vertices relax.
//!
//! **Free edges.** Nobody knows the slope there, and no moment acts: the energy is minimised over it, which takes a
//! direction out of the 3 × 3 form of S, exactly as in Morley's plate element.
//!
//! **Clamps.** A wholly held triangle has no energy. At its edge to a free one the slope is *its* slope, not a
//! mean; the patches of other edges end there too, and take that slope as a datum. This is the rule of half the
//! tributary length: a heavy strip on right triangles, 40 cells, sags to 0.1 % of the elastica's height over width.
//! A ragged clamp or border makes its own error, of the first order in h.
//!
//! **Large rotations.** S is a linear map of the positions with values in space; on a surface that does not stretch
//! it is the second fundamental form times the normal. Its length is taken, not its component along the normal of
//! the triangle, which would fall again at folds sharper than a right angle. A flat rest shape makes the energy
//! quadratic, with a constant Hessian. A curved one is
//!
//! ```text
//! C = Σ wᵢxᵢ − b n,   ψ = ‖C‖²/2α        one of up to three for each triangle; n its normal now, b = Σ wᵢxᵢ·n at rest
//! ```
//!
//! with what Σ wᵢxᵢ has in the plane of the triangle at rest taken into the weights, so that C = 0 there. Patches
//! of a curved shape are unfolded around their edge. The form of S is split into squares by Cholesky's factors, one
//! element for each: a constraint with α = 1/AB. B is the rigidity of the plate: a strip that is narrow and free at
//! its sides bends with B(1 − ν²).
//!
//! The Hessian of a curved element is Jᵀ J/α and a part with the second derivatives of n, small as C; `clamped` is
//! the former.
//!
//! [Grinspun, Gingold, Reisman, Zorin 2006] for shape operators from mid-edge normals; [Morley 1968]; [Flores,
//! Oñate 2005] for elements of a patch. The weights are from here.

use crate::energy::bend::isometric::{cast_weights, weighted_sum};
use crate::energy::bend::patch::{Element, MOST, Patches, Sum};
use crate::energy::stiffness::{DAMPING, RIGIDITY};
use crate::energy::{
    Batch, Blocks, Energy, EnergyKind, Forms, LinearRow, Row, Sink, Site, Stiffness, energy_of, force_of,
};
use crate::math::{Mat3, Scalar, Vec3, each};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::typed;

/// An element with a flat rest shape.
///
/// ```
/// use muslin::energy::bend::shell::Shell;
/// use muslin::{Cloth, Simulation};
///
/// let model = Shell { poisson: 0.2, ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "shell"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// Bending rigidity B, in N·m; `None` = as the fabric, or 10⁻⁵.
    pub stiffness: Option<f64>,
    /// Poisson's ratio ν of bending.
    pub poisson: f64,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// An element with a curved rest shape.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::shell::{CurvedShell, Rest};
/// use muslin::math::Vec3;
///
/// let rest = Rest { weights: [0.0_f64; 3], curvature: 0.5, compliance: 0.1 };
/// let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]].map(Vec3::from);
/// assert_eq!(CurvedShell::value(&rest, &flat), 0.5 * 0.5 * 0.5 / 0.1, "curved at rest");
/// ```
pub struct CurvedShell;

/// The scene's `shell`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: "shell",
        summary: "a plate with a Poisson ratio that is right on every mesh; keeps a curved rest shape",
        source: "Grinspun et al. 2006, Computing Discrete Shape Operators on General Meshes; weights of its own",
        parameters: &[
            RIGIDITY,
            Parameter {
                name: "poisson",
                unit: "",
                kind: Kind::Number { min: -0.9, max: 0.9 },
                default: Some(Setting::Number(0.3)),
                meaning: "Poisson's ratio ν of bending: a sphere costs 2(1 + ν) times a cylinder, a saddle 2(1 − ν)",
            },
            DAMPING,
        ],
        one_of: &["stiffness"],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(Shell: BendSettings, KIND, { stiffness, poisson, damping });

/// Rest data of an element.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::shell::{Rest, Shell};
/// use muslin::math::Vec3;
///
/// let rest = Rest { weights: [1.0, -2.0, 1.0], curvature: 0.0, compliance: 0.1 };
/// let straight = [0.0, 1.0, 2.0].map(|x| Vec3::new(x, 0.0, 0.0));
/// assert_eq!(Shell::value(&rest, &straight), 0.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S, const N: usize> {
    /// w, in 1/m².
    pub weights: [S; N],
    /// b, in 1/m; zero in a [`Shell`].
    pub curvature: S,
    /// α, in m²/(N·m)/m².
    pub compliance: S,
}

impl<const N: usize> Rest<f64, N> {
    fn cast<S: Scalar>(rest: &[Self]) -> Rest<S, N> {
        Rest {
            weights: cast_weights(rest, |r| &r.weights),
            curvature: S::gather(rest, |r| r.curvature),
            compliance: S::gather(rest, |r| r.compliance),
        }
    }
}

impl<const N: usize> Energy<N> for Shell {
    const NAME: &'static str = "shell";
    type Rest<S: Scalar> = Rest<S, N>;
    type Row<S: Scalar> = LinearRow<S, N>;

    fn cast<S: Scalar>(rest: &[Rest<f64, N>]) -> Rest<S, N> {
        Rest::cast(rest)
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> S {
        energy_of(weighted_sum(&rest.weights, x).norm_squared(), rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> [Vec3<S>; N] {
        let c = weighted_sum(&rest.weights, x);
        each(
            rest.weights,
            #[inline(always)]
            |w| c * force_of(w, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> LinearRow<S, N> {
        LinearRow { value: weighted_sum(&rest.weights, x), weights: rest.weights, compliance: rest.compliance }
    }

    fn hessian(rest: &Rest<f64, N>, _x: &[Vec3<f64>; N]) -> Blocks<N> {
        let w = &rest.weights;
        std::array::from_fn(|i| std::array::from_fn(|j| Mat3::scalar(force_of(w[i] * w[j], rest.compliance))))
    }

    fn block(rest: &Rest<f64, N>, _x: &[Vec3<f64>; N], vertex: usize) -> Mat3 {
        Mat3::scalar(force_of(rest.weights[vertex] * rest.weights[vertex], rest.compliance))
    }

    fn clamped(rest: &Rest<f64, N>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        <Self as Energy<N>>::hessian(rest, x)
    }

    fn square(rest: &Rest<f64, N>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        <Self as Energy<N>>::hessian(rest, x)
    }
}

/// The normal of a triangle and, for each corner, g with ∂n = −g (n·∂x): the gradient of its hat function, in 1/m.
///
/// All zero for a collapsed triangle, which has no normal.
#[inline(always)]
fn turning<S: Scalar>([x0, x1, x2]: [Vec3<S>; 3]) -> (Vec3<S>, [Vec3<S>; 3]) {
    let (e1, e2) = (x1 - x0, x2 - x0);
    let normal = e1.cross(e2);
    let squared = normal.norm_squared();
    let resolution = S::from_f64(16.0 * S::EPSILON * S::EPSILON);
    let sound = squared.greater(resolution * e1.norm_squared() * e2.norm_squared());
    let inverse = S::select(sound, S::ONE / squared.sqrt(), S::ZERO);
    let normal = normal * inverse;
    let [g1, g2] = each(
        [-e2, e1],
        #[inline(always)]
        |edge| normal.cross(edge) * inverse,
    );
    (Vec3::select(sound, normal, Vec3::ZERO), [-(g1 + g2), g1, g2])
}

/// C of a curved element, its n and g.
#[inline(always)]
fn bent<S: Scalar, const N: usize>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> (Vec3<S>, Vec3<S>, [Vec3<S>; 3]) {
    let (normal, hats) = turning([x[0], x[1], x[2]]);
    (weighted_sum(&rest.weights, x) - normal * rest.curvature, normal, hats)
}

impl<const N: usize> Energy<N> for CurvedShell {
    const NAME: &'static str = "shell";
    type Rest<S: Scalar> = Rest<S, N>;
    type Row<S: Scalar> = Row<S, N>;

    fn cast<S: Scalar>(rest: &[Rest<f64, N>]) -> Rest<S, N> {
        Rest::cast(rest)
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> S {
        energy_of(bent(rest, x).0.norm_squared(), rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> [Vec3<S>; N] {
        let (c, normal, hats) = bent(rest, x);
        pulled(rest, normal, hats, c * force_of(S::ONE, rest.compliance))
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> Row<S, N> {
        let (c, normal, hats) = bent(rest, x);
        let gradient = pulled(rest, normal, hats, c.normalized_or_zero());
        Row { value: c.norm(), gradient, compliance: rest.compliance }
    }

    fn clamped(rest: &Rest<f64, N>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        <Self as Energy<N>>::square(rest, x)
    }

    /// All three directions of C.
    fn square(rest: &Rest<f64, N>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        let (_, normal, hats) = bent(rest, x);
        // ∂C/∂xᵢ = wᵢ I + b g nᵀ.
        let jacobian: [Mat3; N] = std::array::from_fn(|i| {
            let turn = if i < 3 { Mat3::outer(hats[i], normal) * rest.curvature } else { Mat3::ZERO };
            turn + Mat3::scalar(rest.weights[i])
        });
        let stiffness = force_of(1.0, rest.compliance);
        let mut blocks = [[Mat3::ZERO; N]; N];
        for i in 0..N {
            let transposed = jacobian[i].transposed() * stiffness;
            for j in 0..=i {
                let block = transposed.times(&jacobian[j]);
                // A block of the diagonal is symmetric but for rounding.
                blocks[i][j] = if i == j { (block + block.transposed()) * 0.5 } else { block };
                blocks[j][i] = blocks[i][j].transposed();
            }
        }
        blocks
    }
}

/// (∂C/∂xᵢ)ᵀ λ.
#[inline(always)]
fn pulled<S: Scalar, const N: usize>(
    rest: &Rest<S, N>,
    normal: Vec3<S>,
    hats: [Vec3<S>; 3],
    multiplier: Vec3<S>,
) -> [Vec3<S>; N] {
    let mut pulls = each(
        rest.weights,
        #[inline(always)]
        |w| multiplier * w,
    );
    for i in 0..3 {
        pulls[i] += normal * (rest.curvature * hats[i].dot(multiplier));
    }
    pulls
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let poisson = settings.number("poisson").unwrap_or(0.0);
    let patches = Patches::new(site);
    let slopes: Vec<Sum> = site.topology.hinges.iter().map(|hinge| patches.slope(hinge)).collect();
    let mut elements = Vec::new();
    for triangle in (0..site.mesh.triangle_count() as u32).filter(|&t| !site.held(t)) {
        patches.add_elements(triangle, &slopes, poisson, &mut elements);
    }
    add_terms::<4>(settings, site, stiffness, &elements, sink);
    add_terms::<5>(settings, site, stiffness, &elements, sink);
    add_terms::<6>(settings, site, stiffness, &elements, sink);
    add_terms::<9>(settings, site, stiffness, &elements, sink);
    add_terms::<MOST>(settings, site, stiffness, &elements, sink);
}

/// The sizes for which there are batches: the others are filled up with neighbours of no weight.
fn batch_size(vertex_count: usize) -> usize {
    match vertex_count {
        0..=4 => 4,
        5 => 5,
        6 => 6,
        7..=9 => 9,
        _ => MOST,
    }
}

/// The batches of the elements of one size.
fn add_terms<const N: usize>(
    settings: &Settings,
    site: &Site<'_>,
    stiffness: Stiffness,
    elements: &[Element],
    sink: &mut impl Sink,
) {
    let (mut flat, mut curved) = (Vec::new(), Vec::new());
    for element in elements.iter().filter(|element| batch_size(element.vertices.len()) == N) {
        let vertices = filled::<N>(site, &element.vertices);
        let weights = std::array::from_fn(|i| element.weights.get(i).copied().unwrap_or(0.0));
        let compliance = stiffness.compliance(1.0 / element.area);
        let rest = Rest { weights, curvature: element.curvature, compliance };
        let batch = if element.curvature == 0.0 { &mut flat } else { &mut curved };
        batch.push((site.stencil(vertices), rest));
    }
    if !flat.is_empty() {
        sink.add(Batch::<Shell, N>::new(site, settings, flat));
    }
    if !curved.is_empty() {
        sink.add(Batch::<CurvedShell, N>::new(site, settings, curved));
    }
}

/// The vertices and as many more as N needs: those next to them first, since a solver couples them already.
fn filled<const N: usize>(site: &Site<'_>, vertices: &[u32]) -> [u32; N] {
    let mut all = vertices.to_vec();
    let near = vertices.iter().flat_map(|&v| site.topology.vertex_neighbors.of(v).iter().copied());
    for v in near.chain(0..site.mesh.vertex_count() as u32) {
        if all.len() >= N {
            break;
        }
        if !all.contains(&v) {
            all.push(v);
        }
    }
    std::array::from_fn(|i| all[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    fn rest<const N: usize>(curvature: f64) -> Rest<f64, N> {
        let mut weights = std::array::from_fn(|i| 0.3 * i as f64 - 0.8 + 0.1 * (i * i % 5) as f64);
        weights[0] = -weights[1..].iter().sum::<f64>();
        Rest { weights, curvature, compliance: 0.1 }
    }

    #[test]
    fn conforms() {
        conformance::check::<Shell, 4>(&rest(0.0), &conformance::random_stencils());
        conformance::check::<Shell, 12>(&rest(0.0), &conformance::random_stencils());
        conformance::check::<CurvedShell, 4>(&rest(0.7), &conformance::random_stencils());
        conformance::check::<CurvedShell, 12>(&rest(-0.7), &conformance::random_stencils());
    }
}
