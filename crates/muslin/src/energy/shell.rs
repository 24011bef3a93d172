//! A plate on any triangle mesh: the shape operator of each triangle from the slopes at the middles of its edges.
//!
//! ```text
//! ψ = A B/2 ( (1 − ν) S:S + ν (tr S)² )        A rest area, B rigidity [N·m], ν Poisson's ratio
//! S = Σ ℓₑ sym(νₑ ⊗ gₑ)/A                     over the edges e of the triangle: νₑ outward normal in its plane,
//!                                             gₑ the derivative of the positions at the middle of the edge
//! ```
//!
//! Along the edge, gₑ is the edge itself. Across it, it is a weighted sum Σ wᵢxᵢ of the vertices around the edge, the
//! turn of the mid-edge normal. Everything rests on these weights. Two conditions make the energy that of
//! the plate in the limit, on any mesh:
//!
//! 1. *Exact for quadratic surfaces*, or the energy of a smooth surface is wrong.
//! 2. *One value for both triangles of an edge.* Then Σ A S is a boundary term, so that a surface of constant curvature is in equilibrium. If not, vertices
//!    move out of the smooth surface by O(h²) to lower the energy, by a part that does not vanish with h.
//!
//! The usual mean of the two triangles' slopes has the second only: a cylinder costs 1.09 to 1.10 on unstructured meshes.
//! It is mended by no other weights of the two triangles: a quadratic has six coefficients, and they have four vertices.
//! A quadratic through the six vertices of a triangle and its neighbours has the first only, and is worse: with free
//! vertices a cylinder on alternating diagonals relaxes to 0.46 of its energy, on unstructured meshes to 0.94.
//! So the patch is that of the *edge*: its two triangles and the four beyond them, eight vertices,
//!
//! ```text
//! w = w₀ + least correction that makes w exact for quadratics,    w₀ = (h_B s_A + h_A s_B)/(h_A + h_B)
//! ```
//!
//! s_A, s_B the slopes of the two triangles and h_A, h_B their heights, so that w₀ is exact for curvature across the edge. The correction is orthogonal to linear functions,
//! and leaves out the combinations of quadratics that the patch hardly sees (singular values below [`RESOLVED`] of the
//! largest: eight vertices near a conic). On meshes of congruent triangles with one diagonal it is zero. With both
//! conditions a cylinder costs 1.0000 on all five meshes of the tests, before and after vertices relax.
//!
//! **Free edges.** Nobody knows the slope there, and no moment acts: the energy is minimised over it, which takes a
//! direction out of the 3 × 3 form of S, exactly as in Morley's plate element.
//!
//! **Clamps.** A wholly held triangle has no energy. At its edge to a free one the slope is *its* slope, not a mean;
//! the patches of other edges end there too, and take that slope as a datum. This is the rule of half the tributary length:
//! a heavy strip on right triangles, 40 cells, sags to 0.1 % of the elastica's height over width. A ragged
//! clamp or border makes its own error, of the first order in h.
//!
//! **Large rotations.** S is a linear map of the positions with values in space; on a surface that does not stretch it is the second fundamental form times
//! the normal. Its length is taken, not its component along the normal of the triangle, which would fall again at
//! folds sharper than a right angle. A flat rest shape makes the energy quadratic, with a constant Hessian. A curved one is
//!
//! ```text
//! C = Σ wᵢxᵢ − b n,   ψ = ‖C‖²/2α        one of up to three for each triangle; n its normal now, b = Σ wᵢxᵢ·n at rest
//! ```
//!
//! with what Σ wᵢxᵢ has in the plane of the triangle at rest taken into the weights, so that C = 0 there. Patches of a curved shape are unfolded around
//! their edge. The form of S is split into squares by Cholesky's factors, one element for each: a constraint with α = 1/AB.
//! B is the rigidity of the plate: a strip that is narrow and free at its sides bends with B(1 − ν²).
//!
//! The Hessian of a curved element is Jᵀ J/α and a part with the second derivatives of n, small as C; `clamped` is the
//! former.
//!
//! [Grinspun, Gingold, Reisman, Zorin 2006] for shape operators from mid-edge normals; [Morley 1968]; [Flores, Oñate 2005] for elements of a patch. The weights are from here.

use std::collections::BTreeMap;

use super::isometric::{cast_weights, weighted_sum};
use super::stiffness::{DAMPING, physical};
use super::{Batch, Blocks, Energy, EnergyKind, Forms, LinearRow, Row, Site, Stiffness, Term, energy_of, force_of};
use crate::math::{Mat3, Scalar, Small, Vec3};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::topology::Hinge;

/// An element with a flat rest shape.
pub struct Shell;

/// An element with a curved rest shape.
pub struct CurvedShell;

/// The scene's `shell`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: "shell",
        summary: "a plate with a Poisson ratio that is right on every mesh; keeps a curved rest shape",
        source: "Grinspun et al. 2006, Computing Discrete Shape Operators on General Meshes; weights of its own",
        parameters: &[
            physical("N·m", 1e-5, "bending rigidity B: ½Bκ² per area of a cylinder"),
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
    assemble,
    flat_only: false,
    forms: Forms::USUAL,
};

/// Singular values of a patch below this part of the largest count as zero.
const RESOLVED: f64 = 0.05;

/// The most vertices an element can have: a triangle, three across its edges, six beyond those.
const MOST: usize = 12;

/// Rest data of an element.
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

    fn value<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> S {
        energy_of(weighted_sum(&rest.weights, x).norm_squared(), rest.compliance)
    }

    fn gradient<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> [Vec3<S>; N] {
        let c = weighted_sum(&rest.weights, x);
        rest.weights.map(|w| c * force_of(w, rest.compliance))
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
    let [g1, g2] = [-e2, e1].map(|edge| normal.cross(edge) * inverse);
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

    fn value<S: Scalar>(rest: &Rest<S, N>, x: &[Vec3<S>; N]) -> S {
        energy_of(bent(rest, x).0.norm_squared(), rest.compliance)
    }

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
    let mut pulls = rest.weights.map(|w| multiplier * w);
    for i in 0..3 {
        pulls[i] += normal * (rest.curvature * hats[i].dot(multiplier));
    }
    pulls
}

fn assemble(settings: &Settings, site: &Site<'_>) -> Vec<Box<dyn Term>> {
    let Some(stiffness) = Stiffness::read(settings) else { return Vec::new() };
    let poisson = settings.number("poisson").unwrap_or(0.0);
    let patches = Patches::new(site);
    let slopes: Vec<Sum> = site.topology.hinges.iter().map(|hinge| patches.slope(hinge)).collect();
    let mut elements = Vec::new();
    for triangle in (0..site.mesh.triangle_count() as u32).filter(|&t| !site.held(t)) {
        patches.add_elements(triangle, &slopes, poisson, &mut elements);
    }
    let mut terms = Vec::new();
    add_terms::<4>(settings, site, stiffness, &elements, &mut terms);
    add_terms::<5>(settings, site, stiffness, &elements, &mut terms);
    add_terms::<6>(settings, site, stiffness, &elements, &mut terms);
    add_terms::<9>(settings, site, stiffness, &elements, &mut terms);
    add_terms::<MOST>(settings, site, stiffness, &elements, &mut terms);
    terms
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
    terms: &mut Vec<Box<dyn Term>>,
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
        terms.push(Box::new(Batch::<Shell, N>::new(site, settings, flat)));
    }
    if !curved.is_empty() {
        terms.push(Box::new(Batch::<CurvedShell, N>::new(site, settings, curved)));
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

/// One square of the energy of a triangle, ψ = ½ A B ‖Σ wx − b n‖².
struct Element {
    /// The corners of the triangle first.
    vertices: Vec<u32>,
    weights: Vec<f64>,
    curvature: f64,
    area: f64,
}

/// Σ wᵢxᵢ: the weights of vertices, in a fixed order.
type Sum = BTreeMap<u32, f64>;

/// A vertex in a patch that is laid out in the plane.
#[derive(Clone, Copy)]
struct Point {
    vertex: u32,
    at: [f64; 2],
}

/// Something that is known of the surface in a patch: a value or a slope, as a sum over vertices.
struct Datum {
    /// Its values for 1, x, y, x²/2, xy, y²/2.
    moments: [f64; 6],
    sum: Vec<(u32, f64)>,
}

impl Datum {
    fn value(point: Point) -> Self {
        let [x, y] = point.at;
        Self { moments: [1.0, x, y, 0.5 * x * x, x * y, 0.5 * y * y], sum: vec![(point.vertex, 1.0)] }
    }

    /// The slope along n at `at`.
    fn slope(at: [f64; 2], [n, m]: [f64; 2], sum: Vec<(u32, f64)>) -> Self {
        let [x, y] = at;
        Self { moments: [0.0, n, m, n * x, n * y + m * x, m * y], sum }
    }
}

/// The slope along `direction` of the plane through three points.
fn slope_of(points: [Point; 3], direction: [f64; 2]) -> [(u32, f64); 3] {
    let side = |i: usize, j: usize| [points[j].at[0] - points[i].at[0], points[j].at[1] - points[i].at[1]];
    let (u, v) = (side(0, 1), side(0, 2));
    let doubled_area = u[0] * v[1] - u[1] * v[0];
    std::array::from_fn(|i| {
        let opposite = side((i + 1) % 3, (i + 2) % 3);
        let along = direction[1] * opposite[0] - direction[0] * opposite[1];
        (points[i].vertex, along / doubled_area)
    })
}

/// The triangles across the edges of each triangle.
struct Patches<'a> {
    site: &'a Site<'a>,
    /// For the edge from corner k to the next: the hinge there.
    hinges: Vec<[Option<usize>; 3]>,
    /// Whether patches end with the two triangles of an edge.
    narrow: bool,
}

impl<'a> Patches<'a> {
    fn new(site: &'a Site<'a>) -> Self {
        let mut hinges = vec![[None; 3]; site.mesh.triangle_count()];
        for (index, hinge) in site.topology.hinges.iter().enumerate() {
            // Triangle A runs along the edge from a, triangle B from b.
            for (triangle, start) in hinge.triangles.into_iter().zip(hinge.vertices) {
                let corners = &site.mesh.triangles[triangle as usize];
                if let Some(k) = corners.iter().position(|&v| v == start) {
                    hinges[triangle as usize][k] = Some(index);
                }
            }
        }
        // A handful of triangles has no room for elements of the largest size, nor a limit to converge to.
        Self { site, hinges, narrow: site.mesh.vertex_count() < MOST }
    }

    /// The apex of the next triangle: p → q runs along its winding.
    fn place(&self, p: Point, q: Point, apex: u32) -> Point {
        let origin = self.site.position(p.vertex);
        let (e, arm) = (self.site.position(q.vertex) - origin, self.site.position(apex) - origin);
        let length_squared = e.norm_squared();
        let (foot, height) = (arm.dot(e) / length_squared, e.cross(arm).norm() / length_squared);
        let d = [q.at[0] - p.at[0], q.at[1] - p.at[1]];
        let at = [p.at[0] + foot * d[0] + height * d[1], p.at[1] + foot * d[1] - height * d[0]];
        Point { vertex: apex, at }
    }

    /// The triangle across the edge of `triangle` that starts at p, and its apex.
    fn across(&self, triangle: u32, p: u32) -> Option<(u32, u32)> {
        let corners = &self.site.mesh.triangles[triangle as usize];
        let k = corners.iter().position(|&v| v == p)?;
        let hinge = &self.site.topology.hinges[self.hinges[triangle as usize][k]?];
        let [_, _, c, d] = hinge.vertices;
        let [a, b] = hinge.triangles;
        Some(if a == triangle { (b, d) } else { (a, c) })
    }

    /// The slope across the edge of a hinge at its middle, from triangle A to triangle B, in 1/m.
    fn slope(&self, hinge: &Hinge) -> Sum {
        let [a, b, c, d] = hinge.vertices;
        // The edge is the unit of length, x runs along it and y from A to B.
        let (a, b) = (Point { vertex: a, at: [-0.5, 0.0] }, Point { vertex: b, at: [0.5, 0.0] });
        let (c, d) = (self.place(a, b, c), self.place(b, a, d));
        let slopes = [slope_of([a, b, c], [0.0, 1.0]), slope_of([b, a, d], [0.0, 1.0])];
        let scale = 1.0 / self.site.distance(a.vertex, b.vertex);
        let mut sum = Sum::new();
        let mut add = |part: f64, terms: &[(u32, f64)]| {
            terms.iter().for_each(|&(v, w)| *sum.entry(v).or_insert(0.0) += part * w * scale);
        };
        let held = hinge.triangles.map(|t| self.site.held(t));
        // At a clamp the slope is that of what is held.
        if let Some(clamp) = held.iter().position(|&held| held) {
            add(1.0, &slopes[clamp]);
            return sum;
        }
        let heights = [-c.at[1], d.at[1]];
        let whole = heights[0] + heights[1];
        let parts = [heights[1] / whole, heights[0] / whole];
        add(parts[0], &slopes[0]);
        add(parts[1], &slopes[1]);

        let mut data: Vec<Datum> = [a, b, c, d].map(Datum::value).into();
        if !self.narrow {
            let [first, second] = hinge.triangles;
            let edges = [(first, b, c), (first, c, a), (second, a, d), (second, d, b)];
            data.extend(edges.iter().filter_map(|&(triangle, p, q)| self.datum_beyond(triangle, p, q)));
        }
        // What the mean makes of the quadratics, and should be zero.
        let mut error = [0.0; 3];
        for (part, slope) in parts.into_iter().zip(&slopes) {
            for &(v, w) in slope {
                let point = data.iter().find(|datum| datum.sum[0].0 == v);
                (0..3).for_each(|i| error[i] += point.map_or(0.0, |datum| part * w * datum.moments[3 + i]));
            }
        }
        for (datum, w) in data.iter().zip(correction(&data, error)) {
            add(w, &datum.sum);
        }
        sum
    }

    /// What the triangle across the edge p → q of a triangle tells about the surface.
    fn datum_beyond(&self, triangle: u32, p: Point, q: Point) -> Option<Datum> {
        let (other, apex) = self.across(triangle, p.vertex)?;
        let apex = self.place(q, p, apex);
        if !self.site.held(other) {
            return Some(Datum::value(apex));
        }
        let (e, middle) = ([q.at[0] - p.at[0], q.at[1] - p.at[1]], [0, 1].map(|i| 0.5 * (p.at[i] + q.at[i])));
        let length = (e[0] * e[0] + e[1] * e[1]).sqrt();
        let normal = [e[1] / length, -e[0] / length];
        Some(Datum::slope(middle, normal, slope_of([q, p, apex], normal).into()))
    }

    /// Appends the squares that the energy of a triangle is made of.
    fn add_elements(&self, triangle: u32, slopes: &[Sum], poisson: f64, elements: &mut Vec<Element>) {
        let corners = self.site.mesh.triangles[triangle as usize];
        let area = self.site.mesh.area(triangle as usize);
        let Some((weights, form)) = self.shape_operator(triangle, slopes, poisson) else { return };
        for row in squares(&form) {
            let weight = |w: &[f64; 3]| row[0] * w[0] + row[1] * w[1] + row[2] * w[2];
            let largest = weights.values().map(|w| weight(w).abs()).fold(0.0, f64::max);
            let mut vertices = corners.to_vec();
            // Where the correction is zero but for rounding, an element is smaller.
            let matters = |v: &u32, w: &[f64; 3]| weight(w).abs() > 1e-10 * largest && !corners.contains(v);
            vertices.extend(weights.iter().filter(|(v, w)| matters(v, w)).map(|(v, _)| *v));
            let weights = vertices.iter().map(|v| weights.get(v).map_or(0.0, weight)).collect();
            elements.extend(self.at_rest(Element { vertices, weights, curvature: 0.0, area }));
        }
    }

    /// S of a triangle as weights of the vertices for xx, xy and yy, and the form of ψ/(½AB) in these three.
    fn shape_operator(&self, triangle: u32, slopes: &[Sum], poisson: f64) -> Option<(BTreeMap<u32, [f64; 3]>, Mat3)> {
        let corners = self.site.mesh.triangles[triangle as usize];
        let area = self.site.mesh.area(triangle as usize);
        if area.is_nan() || area <= 0.0 {
            return None;
        }
        let mut form = Mat3([[1.0, 0.0, poisson], [0.0, 2.0 * (1.0 - poisson), 0.0], [poisson, 0.0, 1.0]]);
        let mut weights: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
        let mut add = |vertex: u32, factor: f64, tensor: [f64; 3]| {
            let sum = weights.entry(vertex).or_insert([0.0; 3]);
            (0..3).for_each(|i| sum[i] += factor * tensor[i] / area);
        };
        // x along the first edge; laid out clockwise, as a patch is, so that the outward normal is (−y, x) of an edge.
        let first = Point { vertex: corners[0], at: [0.0, 0.0] };
        let second = Point { vertex: corners[1], at: [self.site.distance(corners[0], corners[1]), 0.0] };
        let points = [first, second, self.place(first, second, corners[2])];
        for k in 0..3 {
            let (p, q) = (points[k], points[(k + 1) % 3]);
            let e = [q.at[0] - p.at[0], q.at[1] - p.at[1]];
            let length = (e[0] * e[0] + e[1] * e[1]).sqrt();
            let t = [e[0] / length, e[1] / length];
            let n = [-t[1], t[0]];
            let mixed = [n[0] * t[0], 0.5 * (n[0] * t[1] + n[1] * t[0]), n[1] * t[1]];
            add(q.vertex, 1.0, mixed);
            add(p.vertex, -1.0, mixed);
            let normal = [n[0] * n[0], n[0] * n[1], n[1] * n[1]];
            match self.hinges[triangle as usize][k] {
                Some(hinge) => {
                    let outward = if self.site.topology.hinges[hinge].triangles[0] == triangle { 1.0 } else { -1.0 };
                    slopes[hinge].iter().for_each(|(&v, &w)| add(v, outward * length * w, normal));
                }
                None => form = released(&form, normal.into()),
            }
        }
        Some((weights, form))
    }

    /// The element with its curvature at rest; `None` for a triangle without a normal.
    fn at_rest(&self, mut element: Element) -> Option<Element> {
        let arms: Vec<Vec3<f64>> = {
            let origin = self.site.position(element.vertices[0]);
            element.vertices.iter().map(|&v| self.site.position(v) - origin).collect()
        };
        let sum = arms.iter().zip(&element.weights).fold(Vec3::ZERO, |sum, (arm, w)| sum + *arm * *w);
        let scale: f64 = arms.iter().zip(&element.weights).map(|(arm, w)| arm.norm() * w.abs()).sum();
        let normal = arms[1].cross(arms[2]).normalized_or_zero();
        let [along_1, along_2, curvature] =
            Mat3::from_columns(arms[1], arms[2], normal).inverse()?.apply(sum).to_array();
        // Rounding is no curve.
        if curvature.abs() > 1e-9 * scale {
            element.curvature = curvature;
            element.weights[1] -= along_1;
            element.weights[2] -= along_2;
        }
        element.weights[0] = -element.weights[1..].iter().sum::<f64>();
        Some(element)
    }
}

/// The least weights on the data that take away an error in the quadratics and change no linear function.
fn correction(data: &[Datum], error: [f64; 3]) -> Vec<f64> {
    // Lengths of the size of the patch, so that 1, x and x² weigh the same.
    let points = data.iter().filter(|datum| datum.moments[0] == 1.0);
    let squared: f64 = points.clone().map(|d| d.moments[1] * d.moments[1] + d.moments[2] * d.moments[2]).sum();
    let mean_squared = squared / points.count() as f64;
    let scale = [1.0, mean_squared.sqrt(), mean_squared];
    let moment = |datum: &Datum, i: usize| datum.moments[i] / scale[[0, 1, 1, 2, 2, 2][i]];
    let sum = |f: &dyn Fn(&Datum) -> f64| data.iter().map(f).sum::<f64>();
    let matrix = |first: usize, second: usize| {
        Mat3(std::array::from_fn(|i| {
            std::array::from_fn(|j| sum(&|datum| moment(datum, first + i) * moment(datum, second + j)))
        }))
    };
    let Some(inverse) = matrix(0, 0).inverse() else { return vec![0.0; data.len()] };
    let shared = inverse.times(&matrix(0, 3));
    // The quadratics less their linear part in the data.
    let left = |datum: &Datum| -> [f64; 3] {
        std::array::from_fn(|j| {
            moment(datum, 3 + j) - (0..3).map(|i| moment(datum, i) * shared.0[i][j]).sum::<f64>()
        })
    };
    let left: Vec<[f64; 3]> = data.iter().map(left).collect();
    let gram = Small::new(3, |i, j| left.iter().map(|row| row[i] * row[j]).sum());
    let inverse = gram.pseudo_inverse(RESOLVED * RESOLVED);
    let multiplier: [f64; 3] =
        std::array::from_fn(|i| -(0..3).map(|j| inverse.get(i, j) * error[j] / mean_squared).sum::<f64>());
    left.iter().map(|row| (0..3).map(|i| row[i] * multiplier[i]).sum()).collect()
}

/// A quadratic form minimised over the multiples of a direction: none of its moment is left.
fn released(form: &Mat3, direction: Vec3<f64>) -> Mat3 {
    let moment = form.apply(direction);
    let stiffness = moment.dot(direction);
    // Three free edges leave nothing; what is left then is rounding.
    if stiffness > 1e-12 { *form - Mat3::outer(moment, moment) * (1.0 / stiffness) } else { *form }
}

/// Rows whose squares add up to a form without negative eigenvalues: Cholesky's factors.
fn squares(form: &Mat3) -> Vec<[f64; 3]> {
    let mut left = *form;
    let mut rows = Vec::new();
    for k in 0..3 {
        let pivot = left.0[k][k];
        if pivot > 1e-12 {
            let row = left.0[k].map(|x| x / pivot.sqrt());
            left = left - Mat3::outer(row.into(), row.into());
            rows.push(row);
        }
    }
    rows
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

    #[test]
    fn the_squares_of_a_form_add_up_to_it() {
        let form = Mat3([[1.0, 0.0, 0.3], [0.0, 1.4, 0.0], [0.3, 0.0, 1.0]]);
        let one = released(&form, Vec3::new(1.0, 0.0, 0.0));
        let two = released(&one, Vec3::new(0.36, 0.48, 0.64));
        for (form, count) in [(form, 3), (one, 2), (two, 1)] {
            let rows = squares(&form);
            assert_eq!(rows.len(), count, "{form:?}");
            let sum = rows.iter().fold(form, |left, row| left - Mat3::outer((*row).into(), (*row).into()));
            assert!(sum.0.iter().flatten().all(|x| x.abs() < 1e-15), "{sum:?}");
        }
    }

    #[test]
    fn a_form_without_a_moment_across_is_that_of_a_bar() {
        // Free to curl across, a plate of ν has the rigidity 1 − ν² along.
        let form = Mat3([[1.0, 0.0, 0.3], [0.0, 1.4, 0.0], [0.3, 0.0, 1.0]]);
        let bar = released(&form, Vec3::new(0.0, 0.0, 1.0));
        assert!((bar.0[0][0] - 0.91).abs() < 1e-15, "{bar:?}");
    }
}
