//! Inspection of a state: pairs that are near and triangles that cut each other, both at once, for the report of every frame.
//!
//! It finds what [`Surface::for_each_near`] and [`for_each_intersection`](crate::contact::for_each_intersection) find, each distance with the same bits: triangles are
//! sorted as there, so that of two edges the same one comes first. It looks at less:
//!
//! - There is one tree for both. Its boxes are within half of the reach of the triangles, so those that cut overlap too.
//! - The reach may become shorter while one looks. Who asks for the nearest pair says so with every pair that is found.
//! - Most of what boxes cannot tell apart are neighbours, which a plane does. Let n be the difference of the centres of two triangles. If all corners of the one
//!   are higher along n than those of the other, by more than the reach, they neither cut nor have a pair that is near. With one corner v in common, vab and vcd, heights are seen
//!   from v: all pairs are of ab and vcd, or of cd and vab, so it is enough that a and b are below v by more than the reach and c and d above it.
//!   Triangles with an edge in common do not cut.
//! - The boxes of the edges of a triangle are compared four at a time, and what is left is measured in single precision, eight at a time (`distance_bound.rs`).
//!   Double precision is for what that cannot tell apart.
//!
//! A height is a sum of three products, of which some 10⁻¹⁶ is rounding. It has to be more than is asked for by 10⁻¹² of them.

use crate::contact::broad_phase::distance_bound::{Near, Points, SIDE};
use crate::contact::geometry::bvh::{Aabb, Boxes, Bvh, round_up};
use crate::contact::geometry::closest_points::{point_triangle, segment_segment};
use crate::contact::geometry::surface::{Surface, is_whole};
use crate::contact::geometry::triangle_intersection::cut;
use crate::contact::pair::Pair;
use crate::math::Vec3;
use crate::parallel::Team;

/// Into how many pieces the work is cut.
pub(crate) const PIECES: usize = 64;

/// A state that is looked at.
pub(crate) struct Inspection<'a> {
    positions: &'a [Vec3<f64>],
    points: Points,
    /// Around each vertex.
    spots: Vec<Aabb>,
    faces: Vec<Face>,
    tree: Bvh,
    /// More than sums of coordinates are rounded in single precision, in m.
    slack: f32,
}

/// A triangle.
struct Face {
    number: usize,
    /// The first two once more at the end.
    vertices: [u32; 5],
    /// As in [`Surface`].
    owned: u8,
    /// Whether it has an area: nothing else cuts.
    is_solid: bool,
    /// Of the three edges, and of the whole.
    boxes: Boxes,
}

/// The bit of the whole in [`Face::boxes`].
const WHOLE: u32 = 0b1000;

impl Face {
    fn edge(&self, k: usize) -> [u32; 2] {
        [self.vertices[k], self.vertices[k + 1]]
    }

    fn triangle(&self) -> [u32; 3] {
        [self.vertices[0], self.vertices[1], self.vertices[2]]
    }

    fn has(&self, vertex: u32) -> bool {
        let [a, b, c] = self.triangle();
        (vertex == a) | (vertex == b) | (vertex == c)
    }

    fn corners(&self, x: &[Vec3<f64>]) -> [Vec3<f64>; 3] {
        let [a, b, c] = self.triangle();
        [x[a as usize], x[b as usize], x[c as usize]]
    }

    fn whole(&self) -> &Aabb {
        &self.boxes.each[3]
    }

    /// Which corners are common with another triangle: bit 3 k + l for the corner k of this one that is l of the other.
    fn common(&self, o: &Self) -> u32 {
        let mut bits = 0;
        for k in 0..3 {
            for l in 0..3 {
                bits |= u32::from(self.vertices[k] == o.vertices[l]) << (3 * k + l);
            }
        }
        bits
    }
}

/// How far a point is above the origin along n, times the length of n, and less by more than rounding.
#[inline(always)]
fn height(n: Vec3<f64>, p: Vec3<f64>) -> f64 {
    /// Of the terms of a sum.
    const CERTAIN: f64 = 1e-12;
    let (x, y, z) = (n.x * p.x, n.y * p.y, n.z * p.z);
    (x + y + z) - CERTAIN * (x.abs() + y.abs() + z.abs())
}

impl<'a> Inspection<'a> {
    /// Looks for pairs within `reach` of each other, in m, of triangles that are sorted with boxes for pairs within `sorted`; `matters` is as for
    /// [`Surface::for_each_near`].
    pub(crate) fn new(
        surface: &Surface,
        positions: &'a [Vec3<f64>],
        (sorted, reach): (f64, f64),
        matters: impl Fn(usize, usize) -> bool,
        team: &Team,
    ) -> Self {
        let spots: Vec<Aabb> = positions.iter().map(|x| Aabb::at(*x)).collect();
        let mut faces = Vec::with_capacity(surface.triangles().len());
        for (number, (&vertices, &owned)) in surface.triangles().iter().zip(&surface.owned).enumerate() {
            if is_whole(&vertices, positions.len()) && vertices.iter().all(|&v| positions[v as usize].is_finite()) {
                let [a, b, c] = vertices;
                let (p, q, r) = (&spots[a as usize], &spots[b as usize], &spots[c as usize]);
                let side = p.union(q);
                let boxes = Boxes::new([side, q.union(r), r.union(p), side.union(r)]);
                let at = |v: u32| positions[v as usize];
                let is_solid = (at(b) - at(a)).cross(at(c) - at(a)) != Vec3::ZERO;
                faces.push(Face { number, vertices: [a, b, c, a, b], owned, is_solid, boxes });
            }
        }
        let boxes: Vec<Aabb> =
            faces.iter().map(|face| Aabb::around_all(face.corners(positions).into_iter(), 0.5 * sorted)).collect();
        let mut tree = Bvh::default();
        tree.sort(faces.len(), |item| boxes[item as usize]);
        // Not infinite, which would have every box overlap every other.
        let slack = 4.0 * f32::EPSILON * round_up((crate::contact::extent(positions) + reach).min(f64::from(f32::MAX)));
        let half = f64::from(round_up(0.5 * reach) + slack);
        tree.refit(|item| {
            let face: &Face = &faces[item as usize];
            (face.whole().inflated(half), matters(face.number, face.number))
        });
        Self { positions, points: Points::at_rest(positions, team), spots, faces, tree, slack }
    }

    /// Looks at one of [`PIECES`] pieces of all pairs of triangles that `matters` says to look at. Calls `visit` with every pair nearer than `reach`, in m, and how near
    /// it is; from then on only those matter that are nearer than what it returns, but nothing is promised of others. Returns how many triangles cut each other, if
    /// it `counts_cuts`.
    pub(crate) fn look(
        &self,
        piece: usize,
        matters: impl Fn(usize, usize) -> bool,
        counts_cuts: bool,
        reach: f64,
        visit: impl FnMut(Pair, f64) -> f64,
    ) -> usize {
        let mut cuts = 0;
        let mut found = Found { x: self, reach, around: 0.0, visit, faces: Queue::default(), edges: Queue::default() };
        found.set_reach(reach);
        self.tree.for_each_overlap_in(piece, PIECES, |i, j| {
            // Boxes beyond the range of numbers overlap the empty ones, which are nobody's.
            let (Some(first), Some(second)) = (self.faces.get(i as usize), self.faces.get(j as usize)) else { return };
            if !matters(first.number, second.number) {
                return;
            }
            let common = first.common(second);
            let have_edge = common & common.wrapping_sub(1) != 0;
            if !have_edge {
                if self.are_apart(first, second, common, found.reach) {
                    return;
                }
                cuts += usize::from(counts_cuts && self.cut(first, second));
            }
            found.look(first, second);
        });
        found.measure_faces();
        found.measure_edges();
        cuts
    }

    /// Whether two triangles cut each other.
    fn cut(&self, first: &Face, second: &Face) -> bool {
        let may_cut = first.is_solid && second.is_solid && first.whole().overlaps(second.whole());
        may_cut && cut(&first.corners(self.positions), &second.corners(self.positions))
    }

    /// Whether it is seen that two triangles with at most one corner in common, which `common` says, neither cut nor have a pair nearer than `reach`, in m.
    fn are_apart(&self, first: &Face, second: &Face, common: u32, reach: f64) -> bool {
        let corner = |face: &Face, k: u32| self.positions[face.vertices[k as usize] as usize];
        let (k, l) = if common == 0 { (0, 0) } else { (common.trailing_zeros() / 3, common.trailing_zeros() % 3) };
        let origin = corner(first, k);
        let (a, b) = (corner(first, k + 1) - origin, corner(first, k + 2) - origin);
        let (c, d) = (corner(second, l + 1) - origin, corner(second, l + 2) - origin);
        // The origin itself, where there is a common corner.
        let e = corner(second, l) - origin;
        let n = (c + d + e) - (a + b);
        let squared = reach * reach * n.norm_squared();
        // One by one: a minimum could lose what is not a number. Squares that leave the range of numbers tell nothing.
        let is_far = |gap: f64| (gap > 0.0) & (squared > f64::MIN_POSITIVE) & (gap * gap > squared);
        let (a, b, c, d) = (height(n, -a), height(n, -b), height(n, c), height(n, d));
        if common != 0 {
            return is_far(a) & is_far(b) & is_far(c) & is_far(d);
        }
        let e = height(n, e);
        let all = |up: f64| is_far(up) & is_far(up + a) & is_far(up + b);
        all(c) & all(d) & all(e)
    }
}

/// Pairs that wait to be measured together.
#[derive(Default)]
struct Queue {
    pairs: [[u32; 4]; SIDE],
    count: usize,
}

impl Queue {
    /// Returns whether it is full.
    #[inline]
    fn add(&mut self, pair: [u32; 4]) -> bool {
        self.pairs[self.count] = pair;
        self.count += 1;
        self.count == SIDE
    }

    /// Those that may be nearer than `reach`, in m; then it is empty.
    fn take<const FIRST: usize>(&mut self, points: &Points, reach: f64) -> impl Iterator<Item = [u32; 4]> + use<FIRST> {
        let near = Near { used: 0.0, after: None, nearer: round_up(reach), distance: 0.0 };
        let (pairs, is_there) = (self.pairs, (1 << self.count) - 1);
        // Without a pair there need not be a vertex.
        let measured = (is_there != 0).then(|| points.measure::<FIRST>(&pairs, &[0.0; SIDE], &near));
        let mut bits = measured.map_or(0, |measured| measured.is_active) & is_there;
        self.count = 0;
        std::iter::from_fn(move || {
            let next = (bits != 0).then(|| pairs[bits.trailing_zeros() as usize])?;
            bits &= bits - 1;
            Some(next)
        })
    }
}

/// What is found, and who is told.
struct Found<'a, V> {
    x: &'a Inspection<'a>,
    reach: f64,
    /// The reach, and more than boxes are rounded.
    around: f64,
    visit: V,
    faces: Queue,
    edges: Queue,
}

impl<V: FnMut(Pair, f64) -> f64> Found<'_, V> {
    fn set_reach(&mut self, reach: f64) {
        self.reach = reach;
        self.around = f64::from(round_up(reach) + self.x.slack);
    }

    /// The pairs of two triangles that are looked at there: those that one of them owns, as in [`Surface`].
    fn look(&mut self, first: &Face, second: &Face) {
        let near = second.boxes.overlaps(&first.whole().inflated(self.around));
        if near & WHOLE == 0 {
            return;
        }
        for (vertices, triangle) in [(first, second), (second, first)] {
            for k in (0..3).filter(|k| vertices.owned & (1 << k) != 0) {
                let v = vertices.vertices[k];
                let spot = self.x.spots[v as usize].inflated(self.around);
                if !triangle.has(v) && spot.overlaps(triangle.whole()) {
                    let [a, b, c] = triangle.triangle();
                    if self.faces.add([v, a, b, c]) {
                        self.measure_faces();
                    }
                }
            }
        }
        let owned = near & u32::from(second.owned >> 3);
        for k in (0..3).filter(|k| owned != 0 && first.owned & (8 << k) != 0) {
            let [a, b] = first.edge(k);
            let mut bits = second.boxes.overlaps(&first.boxes.each[k].inflated(self.around)) & owned;
            while bits != 0 {
                let [c, d] = second.edge(bits.trailing_zeros() as usize);
                bits &= bits - 1;
                if (a != c) & (a != d) & (b != c) & (b != d) && self.edges.add([a, b, c, d]) {
                    self.measure_edges();
                }
            }
        }
    }

    fn measure_faces(&mut self) {
        for [v, a, b, c] in self.faces.take::<1>(&self.x.points, self.reach) {
            let at = |v: u32| self.x.positions[v as usize];
            let distance = point_triangle(at(v), [at(a), at(b), at(c)]).distance;
            if distance < self.reach {
                let reach = (self.visit)(Pair::VertexTriangle([v, a, b, c]), distance);
                self.set_reach(reach);
            }
        }
    }

    fn measure_edges(&mut self) {
        for [a, b, c, d] in self.edges.take::<2>(&self.x.points, self.reach) {
            let at = |v: u32| self.x.positions[v as usize];
            let distance = segment_segment([at(a), at(b)], [at(c), at(d)]).distance;
            if distance < self.reach {
                let reach = (self.visit)(Pair::EdgeEdge([a, b, c, d]), distance);
                self.set_reach(reach);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{count_intersections, for_each_intersection};
    use crate::energy::conformance::Random;

    /// Triangles and where their vertices are.
    type State = (Vec<[u32; 3]>, Vec<Vec3<f64>>);

    /// Triangles over any three of some points, which coincide on a lattice: corners, edges and planes do too.
    fn crowd(random: &mut Random, count: usize, vertex_count: usize, lattice: Option<f64>) -> State {
        let round = |x: f64| lattice.map_or(x, |cells| libm::round(x * cells) / cells);
        let positions = (0..vertex_count).map(|_| random.vector().to_array().map(round).into()).collect();
        let mut pick = || ((random.vector().x * 0.5 + 0.5) * vertex_count as f64) as u32;
        ((0..count).map(|_| [pick(), pick(), pick()]).collect(), positions)
    }

    /// A sheet of `cells`² quads over [−1, 1]², put where `place` says.
    fn sheet(cells: u32, place: impl Fn(f64, f64) -> [f64; 3]) -> State {
        let unit = |i: u32| 2.0 * f64::from(i) / f64::from(cells) - 1.0;
        let row = cells + 1;
        let positions = (0..row * row).map(|n| place(unit(n % row), unit(n / row)).into()).collect();
        let quads = (0..cells * cells).map(|n| n / cells * row + n % cells);
        (quads.flat_map(|a| [[a, a + row, a + row + 1], [a, a + row + 1, a + 1]]).collect(), positions)
    }

    fn states() -> Vec<State> {
        let mut random = Random::new(3);
        let mut states = Vec::new();
        for round in 0..200 {
            let lattice = [None, Some(1.0), Some(2.0), Some(4.0), Some(64.0)][round % 5];
            states.push(crowd(&mut random, 30 + round % 40, 24 + round % 9, lattice));
        }
        states.push((Vec::new(), Vec::new()));
        states.push(sheet(12, |u, v| [u, 0.0, v]));
        states.push(sheet(12, |u, v| [0.6 * u - 0.8 * v, 0.1 * u, 0.7 * u + 0.3 * v]));
        states.push(sheet(12, |u, v| [u.abs(), 0.02 * u, v]));
        states.push(sheet(16, |u, v| [u * u - 0.5, u * (u * u - 0.5), v + 0.13 * u]));
        states.push(sheet(16, |u, v| [u * v, libm::sin(9.0 * u * v), libm::cos(5.0 * (u + v))]));
        states.push(sheet(9, |u, _| [u, 2.0 * u, 0.0]));
        states.push(sheet(5, |_, _| [0.1; 3]));
        for strange in [f64::NAN, f64::INFINITY, f64::MAX, 1e300, 1e160, -1e40, 1e-310] {
            let (triangles, mut positions) = sheet(10, |u, v| [u * u, 0.3 * u * v, v]);
            positions.iter_mut().skip(5).step_by(17).for_each(|x| x.y = strange);
            states.push((triangles, positions));
        }
        for scale in [1e-9, 1e6, 1e100, 1e-150] {
            let (triangles, positions) = sheet(10, |u, v| [u.abs(), 0.05 * u * v, v]);
            states.push((triangles, positions.into_iter().map(|x| x * scale).collect()));
        }
        states
    }

    type Distances = Vec<([u32; 4], bool, u64)>;

    fn note(list: &mut Distances, pair: Pair, distance: f64) {
        list.push(match pair {
            Pair::VertexTriangle(pair) => (pair, true, distance.to_bits()),
            Pair::EdgeEdge(pair) => (pair, false, distance.to_bits()),
        });
    }

    /// What the two searches of old find, each with a tree of its own.
    fn by_two_searches(
        surface: &Surface,
        x: &[Vec3<f64>],
        reach: f64,
        matters: impl Fn(usize, usize) -> bool + Copy,
    ) -> (Distances, usize) {
        let (mut list, mut cuts) = (Vec::new(), 0);
        surface.for_each_near(x, reach, matters, |pair, distance| note(&mut list, pair, distance));
        for_each_intersection(surface.triangles(), x, matters, |_, _| cuts += 1);
        list.sort_unstable();
        (list, cuts)
    }

    fn by_inspection(
        surface: &Surface,
        x: &[Vec3<f64>],
        reaches: (f64, f64),
        matters: impl Fn(usize, usize) -> bool + Copy,
        team: &Team,
    ) -> (Distances, usize) {
        let (mut list, mut cuts) = (Vec::new(), 0);
        let inspection = Inspection::new(surface, x, reaches, matters, team);
        for piece in 0..PIECES {
            cuts += inspection.look(piece, matters, true, reaches.1, |pair, distance| {
                note(&mut list, pair, distance);
                reaches.1
            });
        }
        list.sort_unstable();
        (list, cuts)
    }

    #[test]
    fn all_is_found_that_two_searches_find_with_the_same_bits() {
        let (mut pairs, mut all_cuts) = (0, 0);
        for (triangles, x) in states() {
            let surface = Surface::new(triangles, x.len());
            for (reach, team) in [(0.02, Team::solo()), (0.15, Team::solo().narrow()), (0.4, Team::solo())] {
                let expected = by_two_searches(&surface, &x, reach, |_, _| true);
                let found = by_inspection(&surface, &x, (reach, reach), |_, _| true, &team);
                assert_eq!(found, expected, "{reach} m: {x:?}");
                assert_eq!(found.1, count_intersections(surface.triangles(), &x));
                // Sorted for one reach and asked for another: the same edge comes first.
                let nearer = by_inspection(&surface, &x, (reach, 0.5 * reach), |_, _| true, &team);
                let expected_nearer =
                    expected.0.iter().copied().filter(|(_, _, bits)| f64::from_bits(*bits) < 0.5 * reach);
                assert_eq!(nearer, (expected_nearer.collect(), expected.1), "{reach} m: {x:?}");
                pairs += expected.0.len();
                all_cuts += expected.1;
            }
        }
        assert!(pairs > 100_000 && all_cuts > 10_000, "few pairs: {pairs} near and {all_cuts} that cut");
    }

    #[test]
    fn pairs_that_do_not_matter_are_left_out() {
        for (triangles, x) in states() {
            let cloth = triangles.len() / 2;
            let surface = Surface::new(triangles, x.len());
            let of_both = |i: usize, j: usize| if i == j { i < cloth } else { (i < cloth) != (j < cloth) };
            let expected = by_two_searches(&surface, &x, 0.2, of_both);
            assert_eq!(by_inspection(&surface, &x, (0.2, 0.2), of_both, &Team::solo()), expected, "{x:?}");
        }
    }

    #[test]
    fn a_reach_that_becomes_shorter_keeps_the_nearest() {
        for (triangles, x) in states() {
            let surface = Surface::new(triangles, x.len());
            let (expected, cuts) = by_two_searches(&surface, &x, 0.3, |_, _| true);
            let expected = expected.iter().map(|(_, _, bits)| f64::from_bits(*bits)).fold(f64::INFINITY, f64::min);
            let (mut least, mut found_cuts) = (f64::INFINITY, 0);
            let inspection = Inspection::new(&surface, &x, (0.3, 0.3), |_, _| true, &Team::solo());
            for piece in 0..PIECES {
                found_cuts += inspection.look(
                    piece,
                    |_, _| true,
                    true,
                    0.3,
                    |_, distance| {
                        least = least.min(distance);
                        distance + 1e-3
                    },
                );
            }
            assert_eq!((least.to_bits(), found_cuts), (expected.to_bits(), cuts), "{x:?}");
        }
    }
}
