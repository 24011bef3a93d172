//! Intersection contours: where surfaces cut, and which way leads out of it.
//!
//! Two surfaces cut along a *contour*. One corner of it is where an edge along the unit vector E crosses a triangle with unit normal N, at p.
//! From there the contour goes on through each triangle at that edge, along the unit vectors R₁ and R₂ (one alone at a border), R = R₁ + R₂.
//! Let the edge move by d against the triangle. The point of the edge that is in the plane is then
//!
//! ```text
//! p' = p + d − E (N·d)/(N·E)        so the contour gets longer by    −R·(p' − p) = −G·d,    G = R − N (R·E)/(N·E)
//! ```
//!
//! and along G it shrinks fastest [Volino, Magnenat-Thalmann 2006, *Resolving surface collisions through intersection contour minimization*].
//! (That N and R turn when the vertices of an edge move differently is left out.)
//!
//! # One way for all of a contour
//!
//! Each corner for itself does not lead out where sheets pass through each other from border to border: the contour is straight but for
//! the facets of the cloth, and every corner follows its own. So corners are joined to whole contours: two corners are neighbours if a pair of
//! triangles that cut has both. The two surfaces at a contour are its *sides*, 0 and 1, which may well be of one cloth.
//! All corners of a contour go the same way: side 0 along W, side 1 along −W.
//!
//! 1. Where the contour splits a side in two, the smaller region (in vertices) has passed through and goes back. Each edge of that side that
//!    crosses asks for the normal of its triangle, toward the end that has not passed; W is the mean. If both sides are split and ask for
//!    opposite ways, the smaller of the two regions prevails. As it gets smaller, what was chosen once stays so.
//! 2. Where it splits neither (border across border), W is along the sum of G: the way in which its length shrinks fastest.
//! 3. Where these cancel out, or a side runs into the other, each corner goes along its own G.

use crate::math::Vec3;
use crate::topology::Adjacency;

/// Gradients below this are followed more slowly.
const SOFT: f64 = 0.1;

/// The sine of an edge and a triangle below which the triangle's normal is the direction, whatever the contour does.
const GRAZING: f64 = 0.05;

/// What the corners of a contour ask for cancels out if its mean is shorter than this.
const CANCELLED: f64 = 0.2;

/// An edge through a triangle, or a vertex on one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// The ends of the edge, and the corners of the triangle.
    vertices: [u32; 5],
    /// Where they cross: those of the edge sum to 1, those of the triangle to −1.
    weights: [f64; 5],
    /// The unit vector along which the edge is moved against the triangle.
    direction: Vec3<f64>,
    /// How far to move, as a part of the pace.
    pub(crate) share: f64,
}

impl Crossing {
    /// A vertex on a triangle, all of them at `x`: moved along its normal, or against it.
    pub(crate) fn of_touch(x: &[Vec3<f64>], [v, a, b, c]: [u32; 4], is_above: bool) -> Self {
        let [p, q, r] = [a, b, c].map(|v| x[v as usize]);
        let normal = (q - p).cross(r - p).normalized_or_zero();
        let inside = barycentric(x[v as usize], [p, q, r]);
        Self {
            vertices: [v, v, a, b, c],
            weights: [1.0, 0.0, -inside[0], -inside[1], -inside[2]],
            direction: if is_above { normal } else { -normal },
            share: 1.0,
        }
    }

    /// How far the one has moved against the other.
    pub(crate) fn along(&self, vectors: &[Vec3<f64>]) -> f64 {
        let sum =
            self.vertices.iter().zip(&self.weights).fold(Vec3::ZERO, |sum, (&v, &b)| sum + vectors[v as usize] * b);
        self.direction.dot(sum)
    }

    /// Moves the one against the other by `length`, in m.
    pub(crate) fn pull(&self, w: &[f64], vectors: &mut [Vec3<f64>], length: f64) {
        let inertia: f64 = self.vertices.iter().zip(&self.weights).map(|(&v, &b)| w[v as usize] * b * b).sum();
        if inertia > 0.0 {
            let impulse = self.direction * (length / inertia);
            for (&v, &b) in self.vertices.iter().zip(&self.weights) {
                vectors[v as usize] += impulse * (w[v as usize] * b);
            }
        }
    }
}

/// Finds contours, and the ways out.
#[derive(Default)]
pub(crate) struct Contours {
    corners: Vec<Corner>,
    joints: Joints,
    crossed: Vec<Crossed>,
    regions: Regions,
}

/// An edge through a triangle, as a part of a contour.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    contour: u32,
    /// The side of the contour that the edge is of.
    side: usize,
    corner: Corner,
    gradient: Vec3<f64>,
}

impl Contours {
    /// Where edges of `triangles` with vertices at `x` cross triangles, among the pairs `cuts`, and which way leads out there.
    pub(crate) fn find(
        &mut self,
        triangles: &[[u32; 3]],
        cuts: &[[u32; 2]],
        x: &[Vec3<f64>],
        crossings: &mut Vec<Crossing>,
    ) {
        self.corners.clear();
        for (cut, &[s, t]) in (0..).zip(cuts) {
            let [s, t] = [triangles[s as usize], triangles[t as usize]];
            for k in 0..3 {
                self.corners.extend(corner(x, s, k, t).map(|found| Corner { cut, is_first: true, ..found }));
                self.corners.extend(corner(x, t, k, s).map(|found| Corner { cut, is_first: false, ..found }));
            }
        }
        self.corners.sort_unstable_by_key(|corner| (corner.edge, corner.triangle, corner.cut));
        self.trace(x, cuts.len());
        let regions = &mut self.regions;
        regions.know(triangles, x.len());
        for contour in self.crossed.chunk_by(|a, b| a.contour == b.contour) {
            let way = if self.joints.is_twisted(contour[0].contour) { None } else { way_out(x, contour, regions) };
            crossings.extend(contour.iter().filter_map(|crossed| match way {
                Some(way) => Some(crossed.corner.crossing(if crossed.side == 0 { way } else { -way }, 1.0)),
                None => crossed.own_way(),
            }));
        }
    }

    /// Joins corners to contours.
    fn trace(&mut self, x: &[Vec3<f64>], cuts: usize) {
        let same = |a: &Corner, b: &Corner| a.edge == b.edge && a.triangle == b.triangle;
        self.joints.part(cuts);
        for group in self.corners.chunk_by(same) {
            for pair in group.windows(2) {
                self.joints.join(pair[0].cut, pair[1].cut, pair[0].is_first != pair[1].is_first);
            }
        }
        self.crossed.clear();
        for group in self.corners.chunk_by(same) {
            let onward = group.iter().fold(Vec3::ZERO, |sum, corner| sum + corner.onward);
            let (contour, is_turned) = self.joints.find(group[0].cut);
            let side = usize::from(group[0].is_first == is_turned);
            self.crossed.push(Crossed { contour, side, corner: group[0], gradient: group[0].gradient(x, onward) });
        }
        self.crossed.sort_by_key(|crossed| crossed.contour);
    }
}

impl Crossed {
    /// Along G, more slowly where that is hardly known.
    fn own_way(&self) -> Option<Crossing> {
        let length = self.gradient.norm();
        let share = length / (length * length + SOFT * SOFT).sqrt();
        (length > 0.0).then(|| self.corner.crossing(self.gradient * (1.0 / length), share))
    }
}

/// The way of side 0 of a contour, if all of it goes the same.
fn way_out(x: &[Vec3<f64>], contour: &[Crossed], regions: &mut Regions) -> Option<Vec3<f64>> {
    let asked = [0, 1].map(|side| {
        let of_side = || contour.iter().filter(|crossed| crossed.side == side).map(|crossed| &crossed.corner);
        let size = regions.split(of_side().map(|corner| corner.edge))?;
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for corner in of_side() {
            let [has_passed, other] = corner.edge.map(|v| regions.is_inside(v));
            if has_passed != other {
                let [a, b] = corner.edge.map(|v| x[v as usize]);
                let back = if has_passed { b - a } else { a - b };
                let normal = corner.normal(x);
                sum += if normal.dot(back) < 0.0 { -normal } else { normal };
                count += 1.0;
            }
        }
        (sum.norm() > CANCELLED * count).then(|| (if side == 0 { sum } else { -sum }, size))
    });
    let way = match asked {
        [Some((a, m)), Some((b, n))] if a.dot(b) < 0.0 => {
            if m <= n {
                a
            } else {
                b
            }
        }
        [Some((a, _)), Some((b, _))] => a + b,
        [Some((a, _)), None] | [None, Some((a, _))] => a,
        [None, None] => {
            let sum = contour.iter().fold(Vec3::ZERO, |sum, crossed| {
                if crossed.side == 0 { sum + crossed.gradient } else { sum - crossed.gradient }
            });
            if sum.norm() < CANCELLED {
                return None;
            }
            sum
        }
    };
    Some(way.normalized_or_zero())
}

/// A corner of a contour, seen from one of the triangles at its edge.
#[derive(Clone, Copy, Debug)]
struct Corner {
    edge: [u32; 2],
    triangle: [u32; 3],
    /// Where on the edge, from the first end on.
    part: f64,
    /// Weights of the corners of the triangle.
    inside: [f64; 3],
    /// R₁ or R₂.
    onward: Vec3<f64>,
    /// The pair of triangles that cut here, and whether the edge is of the first of them.
    cut: u32,
    is_first: bool,
}

impl Corner {
    /// N.
    fn normal(&self, x: &[Vec3<f64>]) -> Vec3<f64> {
        let [p, q, r] = self.triangle.map(|v| x[v as usize]);
        (q - p).cross(r - p).normalized_or_zero()
    }

    /// G, if the contour goes on along `onward`, R.
    fn gradient(&self, x: &[Vec3<f64>], onward: Vec3<f64>) -> Vec3<f64> {
        let [a, b] = self.edge.map(|v| x[v as usize]);
        let (e, n) = ((b - a).normalized_or_zero(), self.normal(x));
        let sine = e.dot(n);
        let sine = if sine.abs() < GRAZING { GRAZING.copysign(sine) } else { sine };
        onward - n * (onward.dot(e) / sine)
    }

    fn crossing(&self, direction: Vec3<f64>, share: f64) -> Crossing {
        let ([c, d], [f, g, h], [u, v, w]) = (self.edge, self.triangle, self.inside);
        let weights = [1.0 - self.part, self.part, -u, -v, -w];
        Crossing { vertices: [c, d, f, g, h], weights, direction, share }
    }
}

/// Weights of the corners of a triangle that make a point of its plane.
fn barycentric(p: Vec3<f64>, [a, b, c]: [Vec3<f64>; 3]) -> [f64; 3] {
    let n = (b - a).cross(c - a);
    let of = |from: Vec3<f64>, to: Vec3<f64>| (to - from).cross(p - from).dot(n) / n.norm_squared();
    [of(b, c), of(c, a), of(a, b)]
}

/// The corner of the contour where edge `k` of triangle `s` passes through `t`, if it does.
fn corner(x: &[Vec3<f64>], s: [u32; 3], k: usize, t: [u32; 3]) -> Option<Corner> {
    let (mut edge, opposite) = ([s[k], s[(k + 1) % 3]], s[(k + 2) % 3]);
    edge.sort_unstable(); // it is found from both its triangles
    if edge.iter().any(|v| t.contains(v)) {
        return None;
    }
    let at = |v: u32| x[v as usize];
    let ([a, b], [p, q, r]) = (edge.map(at), t.map(at));
    let n = (q - p).cross(r - p);
    let (above, below) = (n.dot(a - p), n.dot(b - p));
    if (above >= 0.0) == (below >= 0.0) {
        return None;
    }
    let part = above / (above - below);
    let point = a + (b - a) * part;
    let inside = barycentric(point, [p, q, r]);
    // Rounding may put what is on a side of a triangle into neither of the two there.
    if inside.iter().any(|weight| *weight < -1e-9) {
        return None;
    }
    let e = (b - a).normalized_or_zero();
    let arm = at(opposite) - a;
    let inward = arm - e * e.dot(arm);
    let line = n.cross(e.cross(inward)).normalized_or_zero();
    let onward = if line.dot(inward) < 0.0 { -line } else { line };
    Some(Corner { edge, triangle: t, part, inside, onward, cut: 0, is_first: true })
}

/// Pairs of triangles that cut, joined to contours: a forest that knows for each whether its sides are those of its root.
#[derive(Default)]
struct Joints {
    /// The next on the way to the root, and whether the sides are exchanged on the way there.
    up: Vec<(u32, bool)>,
    /// Of roots: whether one side runs into the other.
    is_twisted: Vec<bool>,
}

impl Joints {
    /// Begins with `count` that are not joined.
    fn part(&mut self, count: usize) {
        self.up.clear();
        self.up.extend((0..count as u32).map(|cut| (cut, false)));
        self.is_twisted.clear();
        self.is_twisted.resize(count, false);
    }

    /// The root, and whether the sides are exchanged. Ways are made shorter as they are walked: a contour may be long.
    fn find(&mut self, cut: u32) -> (u32, bool) {
        let (mut at, mut is_turned) = (cut, false);
        while self.up[at as usize].0 != at {
            let (next, turns) = self.up[at as usize];
            let (over, turns_again) = self.up[next as usize];
            self.up[at as usize] = (over, turns != turns_again);
            (at, is_turned) = (over, is_turned != (turns != turns_again));
        }
        (at, is_turned)
    }

    fn join(&mut self, a: u32, b: u32, turns: bool) {
        let ((p, p_turned), (q, q_turned)) = (self.find(a), self.find(b));
        let turns = turns != (p_turned != q_turned);
        if p == q {
            self.is_twisted[p as usize] |= turns;
        } else {
            // The lesser stays a root.
            let (root, leaf) = (p.min(q), p.max(q));
            self.up[leaf as usize] = (root, turns);
            self.is_twisted[root as usize] |= self.is_twisted[leaf as usize];
        }
    }

    fn is_twisted(&self, root: u32) -> bool {
        self.is_twisted[root as usize]
    }
}

/// The two sides of a line of edges.
#[derive(Default)]
struct Regions {
    neighbors: Adjacency,
    /// The edges of the line, sorted.
    line: Vec<[u32; 2]>,
    /// For each vertex when it was last reached, twice that, and one more from the second end.
    reached: Vec<u32>,
    now: u32,
    queues: [Vec<u32>; 2],
    /// Which end the lesser region was reached from.
    lesser: u32,
}

impl Regions {
    fn know(&mut self, triangles: &[[u32; 3]], vertex_count: usize) {
        if self.neighbors.len() != vertex_count {
            let of_triangle = |&[a, b, c]: &[u32; 3]| [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)];
            self.neighbors = Adjacency::of_pairs(vertex_count, || triangles.iter().flat_map(of_triangle));
            self.reached = vec![0; vertex_count];
        }
    }

    /// The size of the lesser of two regions that the line through these edges parts, if it parts any.
    ///
    /// It is looked for from both ends of an edge at once, so that it takes no longer than the lesser region is large.
    fn split(&mut self, edges: impl Iterator<Item = [u32; 2]>) -> Option<usize> {
        let Self { neighbors, line, reached, now, queues, lesser } = self;
        line.clear();
        line.extend(edges);
        line.sort_unstable();
        // An edge that is crossed twice ends where it began.
        let once = |group: &[[u32; 2]]| (group.len() % 2 == 1).then(|| group[0]);
        *line = line.chunk_by(PartialEq::eq).filter_map(once).collect();
        let ends = *line.first()?;
        *now += 1;
        for (k, end) in (0..).zip(ends) {
            queues[k as usize].clear();
            queues[k as usize].push(end);
            reached[end as usize] = 2 * *now + k;
        }
        for step in 0.. {
            for k in 0..2 {
                let Some(&vertex) = queues[k as usize].get(step) else {
                    *lesser = 2 * *now + k;
                    return Some(step);
                };
                for &next in neighbors.of(vertex) {
                    let is_crossed = line.binary_search(&[vertex.min(next), vertex.max(next)]).is_ok();
                    if is_crossed || reached[next as usize] == 2 * *now + k {
                        continue;
                    }
                    if reached[next as usize] == 2 * *now + 1 - k {
                        return None;
                    }
                    reached[next as usize] = 2 * *now + k;
                    queues[k as usize].push(next);
                }
            }
        }
        None
    }

    /// Whether a vertex is in the lesser region of the last [`split`](Self::split).
    fn is_inside(&self, vertex: u32) -> bool {
        self.reached[vertex as usize] == self.lesser
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossing(x: &[Vec3<f64>], corner: &Corner) -> Option<Crossing> {
        let gradient = corner.gradient(x, corner.onward);
        Crossed { contour: 0, side: 0, corner: *corner, gradient }.own_way()
    }

    /// A triangle that dips through a large one with its corner 0: the contour between the two edges there.
    const DIPPED: [[u32; 3]; 2] = [[0, 1, 2], [3, 4, 5]];

    fn dipped(depth: f64) -> Vec<Vec3<f64>> {
        let v = Vec3::new;
        vec![
            v(0.1, -depth, 0.02),
            v(0.6, 1.0, 0.1),
            v(-0.5, 0.9, 0.2),
            v(-3.0, 0.0, -2.0),
            v(0.0, 0.0, 4.0),
            v(3.0, 0.0, -2.0),
        ]
    }

    fn contour(x: &[Vec3<f64>]) -> f64 {
        let [s, t] = DIPPED;
        let points: Vec<_> = (0..3).filter_map(|k| corner(x, s, k, t)).map(|c| at_edge(x, &c)).collect();
        assert_eq!(points.len(), 2, "the contour has two ends");
        (points[1] - points[0]).norm()
    }

    fn at_edge(x: &[Vec3<f64>], corner: &Corner) -> Vec3<f64> {
        let [a, b] = corner.edge.map(|v| x[v as usize]);
        a + (b - a) * corner.part
    }

    /// G of one end against the length after a move of the whole edge, by differences. The other end stays where it is on its edge, so only the
    /// far corner of the moved edge is moved along.
    #[test]
    fn the_gradient_is_that_of_the_length() {
        let x = dipped(0.2);
        let [s, t] = DIPPED;
        let ends: Vec<Corner> = (0..3).filter_map(|k| corner(&x, s, k, t)).collect();
        let (end, fixed) = (&ends[0], at_edge(&x, &ends[1]));
        let found = crossing(&x, end).expect("a gradient");
        let length = |d: Vec3<f64>| {
            let mut moved = x.clone();
            end.edge.iter().for_each(|&v| moved[v as usize] += d);
            let k = (0..3).find(|&k| corner(&moved, s, k, t).is_some_and(|c| c.edge == end.edge));
            let c = corner(&moved, s, k.expect("it still crosses"), t).expect("it still crosses");
            (at_edge(&moved, &c) - fixed).norm()
        };
        let h = 1e-6;
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let slope = axes.map(|axis| (length(axis * h) - length(axis * -h)) / (2.0 * h));
        let slope = Vec3::from(slope);
        let gradient = found.direction * (-slope.norm());
        assert!((slope - gradient).norm() < 1e-8, "{slope:?} is not along {gradient:?}");
        assert!(found.share > 0.9, "a border counts in full: {}", found.share);
    }

    #[test]
    fn momentum_is_kept_and_held_vertices_stay() {
        let x = dipped(0.2);
        let [s, t] = DIPPED;
        let corner = (0..3).find_map(|k| corner(&x, s, k, t)).expect("it crosses");
        let crossing = crossing(&x, &corner).expect("a gradient");
        let w = [1.0, 2.0, 3.0, 0.0, 0.5, 4.0];
        let mut moves = vec![Vec3::ZERO; 6];
        crossing.pull(&w, &mut moves, 0.01);
        assert!((crossing.along(&moves) - 0.01).abs() < 1e-15, "the move that was asked for");
        assert_eq!(moves[3], Vec3::ZERO, "held");
        // Σ m Δx of those that move, the held one taking the rest.
        let free: f64 = (0..6).filter(|&v| w[v] > 0.0).map(|v| crossing.direction.dot(moves[v]) / w[v]).sum();
        let held: f64 =
            crossing.vertices.iter().zip(&crossing.weights).filter(|(v, _)| **v == 3).map(|(_, b)| *b).sum();
        let impulse: f64 =
            0.01 / crossing.vertices.iter().zip(&crossing.weights).map(|(v, b)| w[*v as usize] * b * b).sum::<f64>();
        assert!((free + held * impulse).abs() < 1e-12, "{free} {held}");
    }

    /// Following G frees the dipped corner, however deep it is.
    #[test]
    fn the_contour_shrinks_until_it_is_gone() {
        let [s, t] = DIPPED;
        let mut x = dipped(0.2);
        let w = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        let mut last = contour(&x);
        for step in 0..100 {
            let ends: Vec<Corner> = (0..3).filter_map(|k| corner(&x, s, k, t)).collect();
            if ends.is_empty() {
                assert!(step > 5, "gone after {step} steps");
                return;
            }
            assert!(contour(&x) <= last, "step {step}");
            last = contour(&x);
            let crossings: Vec<_> = ends.iter().filter_map(|c| crossing(&x, c)).collect();
            crossings.iter().for_each(|c| c.pull(&w, &mut x, 0.02 * c.share));
        }
        panic!("still there, {last} m long");
    }

    /// A grid of `cells`, with corner (0, 0) at `origin`.
    fn sheet(cells: [u32; 2], origin: Vec3<f64>, along: [Vec3<f64>; 2], first: u32) -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
        let [m, n] = cells;
        let at = |i: u32, j: u32| first + i * (n + 1) + j;
        let places = (0..=m).flat_map(|i| (0..=n).map(move |j| (i, j)));
        let x = places.map(|(i, j)| origin + along[0] * f64::from(i) + along[1] * f64::from(j)).collect();
        let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        let of_cell = |(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        };
        (x, cells.flat_map(of_cell).collect())
    }

    /// All pairs of the first `count` triangles with the others that cut.
    fn cuts(triangles: &[[u32; 3]], count: usize, x: &[Vec3<f64>]) -> Vec<[u32; 2]> {
        let mut cuts = Vec::new();
        crate::contact::for_each_intersection(
            triangles,
            x,
            |i, j| (i < count) != (j < count),
            |i, j| cuts.push([i.min(j) as u32, i.max(j) as u32]),
        );
        cuts.sort_unstable();
        cuts
    }

    /// A level sheet, and an upright one of which two of eight rows are below: narrower, wider, and half off the level one.
    #[test]
    fn the_part_that_passed_through_goes_back() {
        let v = Vec3::new;
        let (up, back, off) = (v(0.0, 1.0, 0.0), v(0.0, 0.0, 1.0), v(0.7, 0.7, 0.0));
        // The wider one splits the level sheet, whose lesser part it goes to. Where neither is split, aside is as good as up.
        for (width, aside, toward) in [(6, 0.0, up), (30, 0.0, back), (10, 5.3, off)] {
            let (mut x, mut triangles) = sheet([12, 12], v(-6.0, 0.0, -6.0), [v(1.0, 0.0, 0.0), v(0.02, 0.0, 1.0)], 0);
            let corner = v(aside - 0.5 * f64::from(width), -1.9, 0.317);
            let upright = sheet([width, 8], corner, [v(1.0, 0.0, 0.031), v(0.05, 1.0, 0.1)], x.len() as u32);
            let (count, first) = (triangles.len(), x.len() as u32);
            x.extend(upright.0);
            triangles.extend(upright.1);
            let cuts = cuts(&triangles, count, &x);
            let mut crossings = Vec::new();
            Contours::default().find(&triangles, &cuts, &x, &mut crossings);
            assert!(crossings.len() > 10, "{width}: {}", crossings.len());
            for crossing in &crossings {
                let way = if crossing.vertices[0] >= first { crossing.direction } else { -crossing.direction };
                assert!(way.dot(toward) > 0.6, "{width} wide: {way:?} is not toward {toward:?}");
                assert_eq!(crossing.share, 1.0);
            }
        }
    }

    /// A line of edges through a grid parts it; one that ends within it does not.
    #[test]
    fn regions_are_those_of_a_flood() {
        let (x, triangles) = sheet([9, 5], Vec3::ZERO, [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0)], 0);
        let mut regions = Regions::default();
        regions.know(&triangles, x.len());
        // Between the rows of the vertices 6 i + j with i = 2 and 3: straight edges, and the diagonals.
        let across = |j: u32| [[12 + j, 18 + j], [12 + j, 19 + j]];
        let line = |count: u32| (0..count).flat_map(across).filter(|[_, b]| *b < 24);
        assert_eq!(regions.split(line(6)), Some(18), "three rows of six");
        assert!((0..18).all(|vertex| regions.is_inside(vertex)) && !(18..60).any(|vertex| regions.is_inside(vertex)));
        assert_eq!(regions.split(line(5)), None, "around the end");
        assert_eq!(regions.split(line(6).chain(line(6))), None, "there and back again");
        assert_eq!(regions.split(std::iter::empty()), None);
    }

    #[test]
    fn sides_are_told_apart_along_a_contour_unless_it_is_twisted() {
        let mut joints = Joints::default();
        joints.part(5);
        joints.join(3, 1, true);
        joints.join(4, 3, false);
        joints.join(0, 4, true);
        assert_eq!([0, 1, 3, 4].map(|cut| joints.find(cut)), [(0, false), (0, false), (0, true), (0, true)]);
        assert_eq!(joints.find(2), (2, false));
        joints.join(1, 0, false);
        assert!(!joints.is_twisted(0));
        joints.join(1, 0, true);
        assert!(joints.is_twisted(0) && !joints.is_twisted(2));
    }
}
