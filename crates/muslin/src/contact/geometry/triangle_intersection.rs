//! Triangle intersection: pairs of triangles that cut each other, as a diagnostic of the end of a frame, on which nothing else depends.
//!
//! # What counts
//!
//! Two triangles *cut* where they have a segment in common and each has corners on both sides of the other's plane:
//! some edge of one then passes through the other. On the line in which the two planes meet, each triangle covers an
//! interval, and the triangles cut where the intervals overlap.
//!
//! ```text
//!          p₁                       p₁ is alone on its side of the plane of p₂q₂r₂, and p₂ on its side of the other
//!         ╱  ╲      p₂
//!        ╱    ╲    ╱  ╲             [i, j]: from p₁q₁ to p₁r₁      [k, l]: from p₂q₂ to p₂r₂
//!   ────i──────k──j────l────
//!      ╱      ╱    ╲    ╲           they overlap where k < j and i < l, which two determinants decide
//!    q₁     q₂      r₁   r₂
//! ```
//!
//! That is the test of [Guigue, Devillers 2003, *Fast and robust triangle-triangle overlap test using orientation
//! predicates*], with strict inequalities. It follows that
//!
//! - triangles with one corner in common cut where the edge opposite to it, in either, passes through the other: both
//!   intervals begin at that corner, and overlap where they run the same way;
//! - triangles with an edge in common never count, however far they fold: in space they have only that edge in common,
//!   unless they fall into one plane;
//! - triangles in one plane never count, even on top of each other, and no more does touching in a point;
//! - collapsed triangles have no plane and count nothing.
//!
//! Corners in the same place are the same corner: along a seam two pieces of cloth touch, and do not cut. (Sheets that
//! cross exactly along edges which they both have look no different, pair by pair, and do not count either.)
//!
//! # On the plane
//!
//! Sheets are their own mirror images to the last bit, so corners that lie exactly on another triangle's plane are
//! common. If those belonged to neither side, a sheet could pass through another along a row of its vertices and not
//! one pair would count. So a corner on the plane counts as above it (the side to which the normal points), much as a
//! rasteriser gives a shared edge to one of its two triangles: of the two triangles at an edge that lies in the plane,
//! one counts. The price is that an edge which *rests* exactly on a triangle, coming from below, counts too.
//!
//! # Rounding
//!
//! All decisions are signs of D = (d − a)·((b − a) × (c − a)). Let P be the same sum with all its terms made positive,
//! and u = 2⁻⁵³. Each of the six products in D passes through at most eight roundings (three differences, two
//! multiplications, one subtraction, two sums), so D computed in f64 is off by at most 8u P and terms in u². Beyond
//! 16u P, which leaves room for those and for the rounding of P itself, the sign is certain.
//!
//! Below that, D is computed once more with numbers of two f64 each (unit u²): differences are exact, a product adds at
//! most 7u² and a sum 3u² [Joldes, Muller, Popescu 2017], 23u² P along the longest path; beyond 64u² P = 2⁻¹⁰⁰ P the
//! sign is certain, and what is left counts as on the plane.
//!
//! What does that leave undecided? Where the coordinates along each axis are multiples of one unit, with differences
//! below 2ˣ, 2ʸ and 2ᶻ units, D is an integer and P < 6·2ˣ⁺ʸ⁺ᶻ: for x + y + z ≤ 97 every sign is right, and "on the
//! plane" means exactly that. Positions computed in f32 have 24 bits, and their differences 25: that leaves 22 to spare
//! for the finer units of coordinates near zero.
//!
//! Positions of full f64 precision are undecided within some 10⁻²⁹ of the
//! size of the triangles, 10¹³ times finer than their own rounding. The first filter alone would not do: it takes 10⁻¹⁵
//! above for on the plane, and a flat but tilted sheet, whose rounding is of that size, would seem to cut itself.
//!
//! A translation that keeps the differences of coordinates exact cannot change the count.
//!
//! # Limits
//!
//! Time is proportional to n log n and to the number of pairs whose boxes overlap: for a cloth, a few per triangle; for
//! an exploded one, in which every triangle spans the room, all of them. Memory stays proportional to n.

use std::cmp::Ordering;

use crate::contact::geometry::bvh::{Aabb, Bvh};
use crate::math::Vec3;

/// Number of pairs of triangles that cut each other.
///
/// Triangles with a corner that is not finite, or that does not exist, are left out.
pub fn count_intersections(triangles: &[[u32; 3]], positions: &[Vec3<f64>]) -> usize {
    let mut count = 0;
    for_each_intersection(triangles, positions, |_, _| true, |_, _| count += 1);
    count
}

/// The first `limit` pairs of triangles that cut each other, by their numbers, and how many there are.
///
/// What is left out is as for [`count_intersections`].
pub fn find_intersections(triangles: &[[u32; 3]], positions: &[Vec3<f64>], limit: usize) -> (Vec<[u32; 2]>, usize) {
    let (mut first, mut count) = (Vec::new(), 0);
    for_each_intersection(
        triangles,
        positions,
        |_, _| true,
        |i, j| {
            count += 1;
            keep_least(&mut first, [i.min(j) as u32, i.max(j) as u32], limit);
        },
    );
    (first, count)
}

/// Adds a pair to a sorted list of the least `limit`.
fn keep_least(list: &mut Vec<[u32; 2]>, pair: [u32; 2], limit: usize) {
    let place = list.partition_point(|other| *other < pair);
    if place < limit {
        list.insert(place, pair);
        list.truncate(limit);
    }
}

/// Calls `found` with the numbers of every pair of triangles that cut each other, of those pairs that `matters` says to look at.
///
/// Triangles are left out as in [`count_intersections`]. The order is that of a tree over them.
pub fn for_each_intersection(
    triangles: &[[u32; 3]],
    positions: &[Vec3<f64>],
    matters: impl Fn(usize, usize) -> bool,
    mut found: impl FnMut(usize, usize),
) {
    let numbered = triangles.iter().enumerate();
    let solid: Vec<(usize, TriangleCorners)> =
        numbered.filter_map(|(number, t)| Some((number, solid_corners(t, positions)?))).collect();
    let bvh = Bvh::build(&solid.iter().map(|(_, corners)| Aabb::around(corners)).collect::<Vec<_>>());
    bvh.for_each_overlap(|i, j| {
        let ((first, a), (second, b)) = (&solid[i as usize], &solid[j as usize]);
        if matters(*first, *second) && cut(a, b) {
            found(*first, *second);
        }
    });
}

/// The corners of a triangle.
pub(crate) type TriangleCorners = [Vec3<f64>; 3];

/// The corners of a triangle that can cut something.
///
/// Leaving out what has no area is not only quicker: a cloth collapsed into one point is n²/2 overlapping boxes.
fn solid_corners(triangle: &[u32; 3], positions: &[Vec3<f64>]) -> Option<TriangleCorners> {
    let [a, b, c] = triangle.map(|vertex| positions.get(vertex as usize).copied());
    let (a, b, c) = (a?, b?, c?);
    let is_finite = a.is_finite() && b.is_finite() && c.is_finite();
    let has_area = (b - a).cross(c - a) != Vec3::ZERO;
    (is_finite && has_area).then_some([a, b, c])
}

/// Whether two triangles cut each other.
pub(crate) fn cut(first: &TriangleCorners, second: &TriangleCorners) -> bool {
    if have_edge_in_common(first, second) {
        return false;
    }
    let Some(lone1) = Lone::find(&TrianglePlane::through(second), first) else { return false };
    let Some(lone2) = Lone::find(&TrianglePlane::through(first), second) else { return false };
    // The order of the corners that makes [i, j] and [k, l] run the same way: both lone corners above.
    let [p1, q1, r1] = lone1.first_of(first, lone2.is_above);
    let [p2, q2, r2] = lone2.first_of(second, lone1.is_above);
    let k_before_j = TrianglePlane::through(&[p1, q1, p2]).side(q2) == Ordering::Less;
    let i_before_l = TrianglePlane::through(&[p1, r1, r2]).side(p2) == Ordering::Less;
    k_before_j && i_before_l
}

/// Whether two corners of one triangle are where corners of the other are.
fn have_edge_in_common(first: &TriangleCorners, second: &TriangleCorners) -> bool {
    first.iter().filter(|corner| second.contains(corner)).count() >= 2
}

/// The corner of a triangle that is alone on its side of a plane.
struct Lone {
    index: usize,
    is_above: bool,
}

impl Lone {
    /// `None` where the plane has the triangle on one side, or touches it in a point.
    fn find(plane: &TrianglePlane<'_>, corners: &TriangleCorners) -> Option<Self> {
        let sides = corners.map(|corner| plane.side(corner));
        let above = sides.map(|side| side != Ordering::Less);
        let index = match above {
            [a, b, c] if b == c && a != b => 0,
            [a, b, c] if c == a && b != c => 1,
            [a, b, c] if a == b && c != a => 2,
            _ => return None,
        };
        // On the plane, with both others below: the interval is a point.
        (sides[index] != Ordering::Equal).then_some(Self { index, is_above: above[index] })
    }

    /// The corners from this one onwards, the way they turn or the other way.
    fn first_of(&self, corners: &TriangleCorners, keeps_turn: bool) -> TriangleCorners {
        let [p, q, r] = [0, 1, 2].map(|k| corners[(self.index + k) % 3]);
        if keeps_turn { [p, q, r] } else { [p, r, q] }
    }
}

/// The plane of a triangle.
struct TrianglePlane<'a> {
    corners: &'a TriangleCorners,
    /// (b − a) × (c − a)
    normal: Vec3<f64>,
    /// The same with every product made positive: what the error is relative to.
    magnitude: Vec3<f64>,
}

impl<'a> TrianglePlane<'a> {
    /// Bounds of the error of D relative to P, in f64 and in pairs of f64. See the module's comment.
    const ERROR: f64 = 8.0 * f64::EPSILON;
    const PAIR_ERROR: f64 = 16.0 * f64::EPSILON * f64::EPSILON;

    fn through(corners: &'a TriangleCorners) -> Self {
        let &[a, b, c] = corners;
        let (e, f) = (b - a, c - a);
        let magnitude = Vec3::new(
            (e.y * f.z).abs() + (e.z * f.y).abs(),
            (e.z * f.x).abs() + (e.x * f.z).abs(),
            (e.x * f.y).abs() + (e.y * f.x).abs(),
        );
        Self { corners, normal: e.cross(f), magnitude }
    }

    /// `Greater` above the plane, `Less` below, `Equal` on it, too near to tell or beyond the range of numbers.
    fn side(&self, point: Vec3<f64>) -> Ordering {
        let h = point - self.corners[0];
        let scale = self.magnitude.dot(Vec3::new(h.x.abs(), h.y.abs(), h.z.abs()));
        let side = certain_sign(self.normal.dot(h), Self::ERROR * scale);
        // Most of what is undecided needs no arithmetic: sheets along the axes, where all terms vanish, and neighbours.
        if side != Ordering::Equal || scale == 0.0 || self.corners.contains(&point) {
            return side;
        }
        certain_sign(self.height_in_pairs(point), Self::PAIR_ERROR * scale)
    }

    /// D in pairs, rounded once at the end.
    #[inline(never)] // rare: keeps the common case short
    fn height_in_pairs(&self, point: Vec3<f64>) -> f64 {
        let difference = |to: Vec3<f64>| {
            let (to, from) = (to.to_array(), self.corners[0].to_array());
            [0, 1, 2].map(|axis| Pair::sum_of(to[axis], -from[axis]))
        };
        let [e, f, h] = [self.corners[1], self.corners[2], point].map(difference);
        let normal = |x: usize, y: usize| e[x].times(f[y]).plus(e[y].times(f[x]).negated());
        let height = h[0].times(normal(1, 2)).plus(h[1].times(normal(2, 0))).plus(h[2].times(normal(0, 1)));
        height.high
    }
}

/// The sign of a value that is off by at most `bound`, or `Equal`; so too when overflow made either infinite or NaN.
fn certain_sign(value: f64, bound: f64) -> Ordering {
    if value > bound {
        Ordering::Greater
    } else if value < -bound {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

/// A number of some 106 bits: the unevaluated sum of two f64 [Dekker 1971; Joldes, Muller, Popescu 2017].
#[derive(Clone, Copy)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    /// a + b, exactly [Knuth, *Seminumerical Algorithms*, 4.2.2].
    fn sum_of(a: f64, b: f64) -> Self {
        let high = a + b;
        let b_rounded = high - a;
        Self { high, low: (a - (high - b_rounded)) + (b - b_rounded) }
    }

    /// a + b, exactly, where |a| ≥ |b| or a is zero [Dekker 1971].
    fn ordered_sum_of(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    /// a b, exactly, unless it leaves the range [Dekker 1971]. Not by `mul_add`, which is a slow call on some targets.
    fn product_of(a: f64, b: f64) -> Self {
        let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
        let high = a * b;
        Self { high, low: a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low) }
    }

    fn plus(self, o: Self) -> Self {
        let (high, low) = (Self::sum_of(self.high, o.high), Self::sum_of(self.low, o.low));
        let sum = Self::ordered_sum_of(high.high, high.low + low.high);
        Self::ordered_sum_of(sum.high, sum.low + low.low)
    }

    fn times(self, o: Self) -> Self {
        let product = Self::product_of(self.high, o.high);
        Self::ordered_sum_of(product.high, product.low + (self.high * o.low + self.low * o.high))
    }

    fn negated(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

/// A number as the sum of two of at most 26 bits, whose products are exact [Dekker 1971, after Veltkamp].
fn halves(x: f64) -> (f64, f64) {
    const SPLITTER: f64 = ((1_u32 << 27) + 1) as f64;
    let shifted = SPLITTER * x;
    let high = shifted - (shifted - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;

    /// Meshes of the tests lie on a lattice of this spacing, in m: exact in f64 for the code, integers for the oracles.
    const SPACING: f64 = 1.0 / 1024.0;

    type Lattice = [i128; 3];

    struct LatticeMesh {
        triangles: Vec<[u32; 3]>,
        vertices: Vec<Lattice>,
    }

    impl LatticeMesh {
        /// `cells`² quads over [−1, 1]², each vertex put where `place` says, in m.
        fn sheet(cells: u32, place: impl Fn(f64, f64) -> [f64; 3]) -> Self {
            let unit = |i: u32| 2.0 * f64::from(i) / f64::from(cells) - 1.0;
            let row = cells + 1;
            let vertices = (0..row * row)
                .map(|n| place(unit(n % row), unit(n / row)).map(|x| (x / SPACING).round() as i128))
                .collect();
            let quads = (0..cells * cells).map(|n| n / cells * row + n % cells);
            let triangles = quads.flat_map(|a| [[a, a + row, a + row + 1], [a, a + row + 1, a + 1]]).collect();
            Self { triangles, vertices }
        }

        /// Triangles over any three of `vertex_count` lattice points in a cube: corners, planes and places coincide.
        fn random(random: &mut Random, triangle_count: usize, vertex_count: u32, half_size: u32) -> Self {
            let mut coordinate = || i128::from(random.below(2 * half_size + 1)) - i128::from(half_size);
            let vertices = (0..vertex_count).map(|_| [coordinate(), coordinate(), coordinate()]).collect();
            let triangles = (0..triangle_count).map(|_| [0; 3].map(|_: u32| random.below(vertex_count))).collect();
            Self { triangles, vertices }
        }

        fn joined(mut self, o: &Self) -> Self {
            let first = self.vertices.len() as u32;
            self.vertices.extend(&o.vertices);
            self.triangles.extend(o.triangles.iter().map(|t| t.map(|vertex| vertex + first)));
            self
        }

        fn reversed(mut self) -> Self {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            self
        }

        fn positions(&self) -> Vec<Vec3<f64>> {
            self.vertices.iter().map(|v| Vec3::from(v.map(|x| x as f64 * SPACING))).collect()
        }

        fn count(&self) -> usize {
            count_intersections(&self.triangles, &self.positions())
        }

        fn brute_force(&self, cut: impl Fn(&[Lattice; 3], &[Lattice; 3]) -> bool) -> usize {
            let corners: Vec<_> = self.triangles.iter().map(|t| t.map(|v| self.vertices[v as usize])).collect();
            let pairs = corners.iter().enumerate().flat_map(|(i, first)| corners[..i].iter().map(move |o| (o, first)));
            pairs.filter(|(first, second)| cut(first, second)).count()
        }
    }

    fn minus(a: Lattice, b: Lattice) -> Lattice {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }

    fn cross(a: Lattice, b: Lattice) -> Lattice {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    fn dot(a: Lattice, b: Lattice) -> i128 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    fn normal([a, b, c]: &[Lattice; 3]) -> Lattice {
        cross(minus(*b, *a), minus(*c, *a))
    }

    fn shared(first: &[Lattice; 3], second: &[Lattice; 3]) -> usize {
        first.iter().filter(|corner| second.contains(corner)).count()
    }

    /// The plain words, exactly: an edge of one passes through the inside of the other. Says nothing about corners on
    /// planes and edges that meet edges; for meshes without them.
    fn edge_passes_through(first: &[Lattice; 3], second: &[Lattice; 3]) -> bool {
        let passes = |[p, q]: [Lattice; 2], triangle: &[Lattice; 3]| {
            let n = normal(triangle);
            let ends_on_both_sides = dot(n, minus(p, triangle[0])).signum() * dot(n, minus(q, triangle[0])).signum();
            let turns = [0, 1, 2]
                .map(|k| dot(minus(q, p), cross(minus(triangle[k], p), minus(triangle[(k + 1) % 3], p))).signum());
            ends_on_both_sides < 0 && turns[0] != 0 && turns[0] == turns[1] && turns[1] == turns[2]
        };
        let any_edge = |from: &[Lattice; 3], through: &[Lattice; 3]| {
            (0..3)
                .map(|k| [from[k], from[(k + 1) % 3]])
                .filter(|edge| !edge.iter().any(|end| through.contains(end)))
                .any(|edge| passes(edge, through))
        };
        let have_area = normal(first) != [0; 3] && normal(second) != [0; 3];
        have_area && shared(first, second) < 2 && (any_edge(first, second) || any_edge(second, first))
    }

    /// The definition of the module's comment by another way, exactly: intervals on the common line as fractions.
    fn intervals_overlap(first: &[Lattice; 3], second: &[Lattice; 3]) -> bool {
        let line = cross(normal(first), normal(second));
        let interval = |of: &[Lattice; 3], at: &[Lattice; 3]| {
            let n = normal(at);
            let heights = of.map(|corner| dot(n, minus(corner, at[0])));
            let ends = (0..3).map(|k| (k, (k + 1) % 3)).filter(|&(k, l)| (heights[k] < 0) != (heights[l] < 0));
            let mut ends: Vec<[i128; 2]> = ends
                .map(|(k, l)| {
                    let (x, y) = (dot(line, of[k]), dot(line, of[l]));
                    let (a, b) = (heights[k].abs(), heights[l].abs());
                    [x * b + y * a, a + b]
                })
                .collect();
            ends.sort_by(|x, y| (x[0] * y[1]).cmp(&(y[0] * x[1])));
            <[_; 2]>::try_from(ends).ok()
        };
        let less = |x: [i128; 2], y: [i128; 2]| x[0] * y[1] < y[0] * x[1];
        let (Some([i, j]), Some([k, l])) = (interval(first, second), interval(second, first)) else { return false };
        less(i, j) && less(k, l) && less(k, j) && less(i, l) && shared(first, second) < 2
    }

    #[test]
    fn triangles_in_general_position_agree_with_the_plain_words() {
        let mut random = Random::new(1);
        let mut total = 0;
        for _ in 0..300 {
            let mesh = LatticeMesh::random(&mut random, 40, 60, 1000);
            assert_eq!(mesh.count(), mesh.brute_force(edge_passes_through), "{:?}", mesh.vertices);
            total += mesh.count();
        }
        assert!(total > 10_000, "{total} cuts are too few to tell");
    }

    #[test]
    fn degenerate_triangles_agree_with_exact_intervals() {
        let mut random = Random::new(2);
        let mut total = 0;
        for round in 0..3000 {
            let mesh = LatticeMesh::random(&mut random, 30, 25, 1 + round % 5);
            assert_eq!(mesh.count(), mesh.brute_force(intervals_overlap), "{:?}", mesh.vertices);
            total += mesh.count();
        }
        assert!(total > 10_000, "{total} cuts are too few to tell");
    }

    #[test]
    fn every_sign_is_right_on_coordinates_of_32_bits() {
        let mut random = Random::new(4);
        let mut undecided_in_f64 = 0;
        for _ in 0..20_000 {
            // Needles along one line, a unit or two beside it: D is up to 2⁶⁰ times smaller than P.
            let mut near = |along: i128, line: Lattice| line.map(|x| x * along / 8 + i128::from(random.below(5)) - 2);
            let line = near(0, [0; 3]).map(|x| x + (1 << 29));
            let line = [line[0] * 3 / 2, line[1] - 12_345, line[2] / 3];
            let points = [near(-8, line), near(8, line), near(1, line), near(5, line)];
            let exact = dot(normal(&[points[0], points[1], points[2]]), minus(points[3], points[0]));
            let [a, b, c, d] = points.map(|point| Vec3::from(point.map(|x| x as f64)));
            let corners = [a, b, c];
            let plane = TrianglePlane::through(&corners);
            assert_eq!(plane.side(d), exact.cmp(&0), "{points:?}");
            let scale = plane.magnitude.dot((d - a).to_array().map(f64::abs).into());
            undecided_in_f64 += usize::from(exact != 0 && (exact as f64).abs() < TrianglePlane::ERROR * scale);
        }
        assert!(undecided_in_f64 > 10_000, "only {undecided_in_f64} needed pairs");
    }

    #[test]
    fn a_flat_sheet_does_not_cut_itself() {
        assert_eq!(LatticeMesh::sheet(32, |u, v| [u, 0.0, v]).count(), 0);
        assert_eq!(LatticeMesh::sheet(32, |u, v| [u, u + 0.5 * v, v]).count(), 0);
        let tilted: Vec<_> = LatticeMesh::sheet(32, |u, v| [u, 0.0, v])
            .positions()
            .iter()
            .map(|p| Vec3::new(0.6 * p.x - 0.8 * p.z, 0.1 * p.x, 0.7 * p.x + 0.3 * p.z))
            .collect();
        let rounded_off_its_plane = LatticeMesh::sheet(32, |_, _| [0.0; 3]).triangles;
        assert_eq!(count_intersections(&rounded_off_its_plane, &tilted), 0);
    }

    #[test]
    fn a_sheet_on_top_of_itself_does_not_cut() {
        let sheet = LatticeMesh::sheet(8, |u, v| [u, 0.0, v]);
        let shifted = LatticeMesh::sheet(8, |u, v| [u + 0.1, 0.0, v + 0.2]);
        assert_eq!(sheet.joined(&shifted).count(), 0);
    }

    #[test]
    fn a_sheet_folded_through_itself_agrees_with_brute_force() {
        // A nodal cubic: x = u² − 1, y = u (u² − 1) passes through the origin at u = ±1.
        let loop_of = |u: f64| [u * u - 1.0, u * (u * u - 1.0)];
        let mesh = LatticeMesh::sheet(20, |u, v| {
            let [x, y] = loop_of(1.3 * u);
            [x, y, v + 0.13 * u]
        });
        assert!(mesh.count() > 40, "{} cuts along 20 cells", mesh.count());
        assert_eq!(mesh.count(), mesh.brute_force(edge_passes_through));
        assert_eq!(mesh.count(), mesh.brute_force(intervals_overlap));
    }

    #[test]
    fn crossing_sheets_count_each_piece_of_the_line_once() {
        // Four cells along the line; the floor's diagonals halve each, the wall has a row of vertices on it.
        let floor = || LatticeMesh::sheet(4, |u, v| [u + 0.25, 0.0, v]);
        let wall = || LatticeMesh::sheet(4, |u, v| [0.0, u, v]);
        assert_eq!(floor().joined(&wall()).count(), 8);
        assert_eq!(floor().reversed().joined(&wall()).count(), 8);
        assert_eq!(floor().joined(&wall().reversed()).count(), 8);
        // The wall a quarter of a cell up: its diagonals cut the line once more, and not where the floor's do.
        let raised = LatticeMesh::sheet(4, |u, v| [0.0, u + 0.125, v]);
        assert_eq!(floor().joined(&raised).count(), 12);
    }

    fn count_two(first: [[f64; 3]; 3], second: [[f64; 3]; 3]) -> usize {
        let positions: Vec<_> = first.into_iter().chain(second).map(Vec3::from).collect();
        count_intersections(&[[0, 1, 2], [3, 4, 5]], &positions)
    }

    const FLOOR: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [2.0, 0.0, 0.0]];

    #[test]
    fn a_common_corner_is_no_cut_but_the_edge_opposite_may_make_one() {
        let corner = FLOOR[0];
        assert_eq!(count_two(FLOOR, [corner, [0.5, 1.0, 0.5], [0.5, -1.0, 0.5]]), 1, "ends inside");
        assert_eq!(count_two(FLOOR, [corner, [5.0, 1.0, 5.0], [5.0, -1.0, 5.0]]), 1, "reaches beyond");
        assert_eq!(count_two(FLOOR, [corner, [1.0, 1.0, 1.0], [1.0, -1.0, 1.0]]), 1, "edges meet");
        assert_eq!(count_two(FLOOR, [corner, [-0.5, 1.0, -0.5], [-0.5, -1.0, -0.5]]), 0, "the other way");
        assert_eq!(count_two(FLOOR, [corner, [-0.5, 1.0, 0.5], [-0.5, -1.0, 0.5]]), 0, "beside");
        assert_eq!(count_two(FLOOR, [corner, [0.5, 1.0, 0.5], [0.6, 0.5, 0.5]]), 0, "above");
    }

    #[test]
    fn a_common_edge_is_no_cut() {
        for height in [1.0, 1e-3, 0.0, -1e-3, -1.0] {
            for folded_back in [0.3, -0.3] {
                assert_eq!(count_two(FLOOR, [FLOOR[0], FLOOR[1], [folded_back, height, 0.7]]), 0);
                assert_eq!(count_two(FLOOR, [FLOOR[1], FLOOR[0], [folded_back, height, 0.7]]), 0);
            }
        }
    }

    #[test]
    fn touching_in_a_point_is_no_cut() {
        for up in [1.0, -1.0] {
            assert_eq!(count_two(FLOOR, [[0.5, 0.0, 0.5], [0.3, up, 0.5], [0.7, up, 0.5]]), 0, "on its corner");
            assert_eq!(count_two(FLOOR, [[0.0, up, 0.5], [0.0, -up, 0.5], [-1.0, 0.0, 0.5]]), 0, "edge on edge");
        }
    }

    #[test]
    fn an_edge_that_rests_on_a_triangle_counts_from_below_only() {
        let wall = |up: f64| [[0.3, 0.0, 0.5], [0.7, 0.0, 0.5], [0.5, up, 0.5]];
        assert_eq!(count_two(FLOOR, wall(1.0)), 0);
        assert_eq!(count_two(FLOOR, wall(-1.0)), 1);
    }

    #[test]
    fn a_translation_keeps_the_count() {
        let mesh = LatticeMesh::sheet(16, |u, v| [u * v, libm::sin(9.0 * u * v), libm::cos(5.0 * (u + v))]);
        let moved: Vec<_> = mesh.positions().iter().map(|&p| p + Vec3::splat(10.0)).collect();
        assert!(mesh.count() > 0, "the sheet is meant to cut itself");
        assert_eq!(count_intersections(&mesh.triangles, &moved), mesh.count());
    }

    #[test]
    fn one_huge_triangle_finds_what_it_cuts() {
        let sheet = LatticeMesh::sheet(16, |u, v| [u, 0.1 * u * v, v]);
        let huge = LatticeMesh {
            triangles: vec![[0, 1, 2]],
            vertices: vec![[-30_000, -900, 7], [30_000, -511, 1], [3, 9000, 40]],
        };
        let both = sheet.joined(&huge);
        assert!(both.count() > 0, "the triangle is meant to cut the sheet");
        assert_eq!(both.count(), both.brute_force(edge_passes_through));
    }

    #[test]
    fn what_is_not_a_triangle_counts_nothing() {
        let mesh = LatticeMesh::sheet(8, |u, v| [u, 0.0, v]).joined(&LatticeMesh::sheet(8, |u, v| [0.05, u, v]));
        let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 1e300, 1e-310, -0.0];
        for (k, &value) in strange.iter().enumerate() {
            let mut positions = mesh.positions();
            for (n, position) in positions.iter_mut().enumerate().skip(k).step_by(7) {
                *[&mut position.x, &mut position.y, &mut position.z][n % 3] = value;
            }
            let count = count_intersections(&mesh.triangles, &positions);
            assert!(count < mesh.triangles.len().pow(2), "{value}");
        }
        assert_eq!(count_intersections(&mesh.triangles, &vec![Vec3::splat(f64::NAN); 200]), 0);
        assert_eq!(count_intersections(&[[0, 1, 7], [0, 1, u32::MAX]], &[Vec3::ZERO; 3]), 0);
        assert_eq!(count_intersections(&[], &[]), 0);
    }

    #[test]
    fn a_collapsed_cloth_counts_nothing_and_soon() {
        let mesh = LatticeMesh::sheet(300, |u, _| [u, 2.0 * u, 0.0]);
        assert_eq!(mesh.count(), 0);
        assert_eq!(count_intersections(&mesh.triangles, &vec![Vec3::splat(0.1); mesh.vertices.len()]), 0);
    }
}
