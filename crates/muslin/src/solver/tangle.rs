//! Untangles a start in which things cut or touch each other, after which the guarantee of [`separation`](super::separation) holds.
//!
//! # Who may pass through whom
//!
//! At the start of a substep let V be the vertices of all triangles that cut another and of all pairs that touch, and those within
//! [`RINGS`] triangles of them. V falls into *parts*, joined by edges. A pair is *exempt*, neither pushed nor held, if all its
//! vertices are in V and the parts of its two primitives have a cut or a touch between them. **All other pairs are held as ever.**
//!
//! So whatever cuts or touches at the end of the substep is of two triangles with a vertex in V: of any others no pair is exempt, and by the
//! argument of [`Guard`](crate::collision::Guard) they stay apart. Only those are looked at again. The first state in which nothing cuts, as it is and as it is written in
//! single precision, and every pair can be told apart, is *free*: from there on nothing is exempt. What is free stays so, so a run that goes on
//! from a snapshot need not be told whether it was.
//!
//! # What pulls them apart
//!
//! Surfaces cut in a contour, which gets shorter [Volino, Magnenat-Thalmann 2006, *Resolving surface collisions through intersection contour
//! minimization*]. One corner of it is where an edge along the unit vector E crosses a triangle with unit normal N, at p. From there the
//! contour goes on through each triangle at that edge, along the unit vectors R₁ and R₂ (one alone at a border), R = R₁ + R₂.
//! Let the edge move by d against the triangle. The point of the edge that is in the plane is then
//!
//! ```text
//! p' = p + d − E (N·d)/(N·E)        so the contour gets longer by    −R·(p' − p) = −G·d,    G = R − N (R·E)/(N·E)
//! ```
//!
//! and along G it shrinks fastest. (That N and R turn when the vertices of an edge move differently is left out.) Where the contour runs
//! straight through, R = 0, and where it ends at a border or bends, it does not: a corner that pokes through is drawn back, a bulge flattened.
//!
//! The edge is moved against the triangle along G/‖G‖ by [`PACE`]·‖G‖/√(‖G‖² + [`SOFT`]²) at most, split by the inverse masses as contact is, so
//! that momentum is kept. It is moved together with where it was: untangling makes no velocity. What would go the other way in the substep is
//! stopped, as at a wall.
//!
//! A vertex that touches a triangle is moved along its normal: that of the later of two cloths or bodies up, of the earlier down.
//!
//! All of this is serial, and takes memory anew in every substep; both end with the tangle.

use super::StepError;
use crate::collision::{Candidates, Pair, Surface, extent, for_each_intersection, is_certified};
use crate::math::Vec3;
use crate::model::Model;

/// Triangles around what cuts that are exempt too: farther than a substep leads.
const RINGS: usize = 2;

/// How far an edge is moved against a triangle in a substep, in edges: at most, and in a second.
const PACE: f64 = 0.25;
const PACE_A_SECOND: f64 = 30.0;

/// Gradients below this are followed more slowly.
const SOFT: f64 = 0.1;

/// The sine of an edge and a triangle below which the triangle's normal is the direction, whatever the contour does.
const GRAZING: f64 = 0.05;

/// Passes over the crossings in a substep.
const PASSES: usize = 3;

/// What is not free after so many seconds will not be.
pub(super) const PATIENCE: f64 = 2.0;

/// So many pairs are named.
const NAMED: usize = 3;

const NONE: u32 = u32::MAX;

/// Untangles over the substeps of a run.
#[derive(Default)]
pub(super) struct Tangle {
    /// Whether the state at hand was looked at.
    is_known: bool,
    is_free: bool,
    /// For each vertex the part of V that it is in, or [`NONE`].
    parts: Vec<u32>,
    /// Parts between which pairs are exempt, the lesser first, sorted.
    exempt: Vec<[u32; 2]>,
    /// Triangles that cut each other, the lesser first, sorted.
    cuts: Vec<[u32; 2]>,
    touches: Vec<Pair>,
    /// Triangles with a vertex in V.
    suspects: Vec<u32>,
    crossings: Vec<Crossing>,
    corners: Vec<Corner>,
    /// The pairs that are not exempt.
    held: Candidates,
    rounded: Vec<Vec3<f64>>,
    few: Vec<[u32; 3]>,
}

/// An edge through a triangle, or a vertex on one.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    /// The ends of the edge, and the corners of the triangle.
    vertices: [u32; 5],
    /// Where they cross: those of the edge sum to 1, those of the triangle to −1.
    weights: [f64; 5],
    /// G/‖G‖.
    direction: Vec3<f64>,
    /// How far to move, as a part of the pace.
    share: f64,
}

impl Crossing {
    fn along(&self, vectors: &[Vec3<f64>]) -> f64 {
        let sum =
            self.vertices.iter().zip(&self.weights).fold(Vec3::ZERO, |sum, (&v, &b)| sum + vectors[v as usize] * b);
        self.direction.dot(sum)
    }

    /// Moves the one against the other by `length`, in m.
    fn pull(&self, w: &[f64], vectors: &mut [Vec3<f64>], length: f64) {
        let inertia: f64 = self.vertices.iter().zip(&self.weights).map(|(&v, &b)| w[v as usize] * b * b).sum();
        if inertia > 0.0 {
            let impulse = self.direction * (length / inertia);
            for (&v, &b) in self.vertices.iter().zip(&self.weights) {
                vectors[v as usize] += impulse * (w[v as usize] * b);
            }
        }
    }
}

/// A corner of the contour, seen from one of the triangles at its edge.
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
}

impl Tangle {
    /// Begins a frame with all vertices at `x`, in m; whether they are where the last frame left them.
    pub(super) fn begin(&mut self, model: &Model, x: &[Vec3<f64>], is_continued: bool) {
        if !is_continued {
            (self.is_known, self.is_free) = (false, false);
        }
        if !self.is_free {
            self.look(model, x, false);
        }
    }

    /// Ends a substep at `time`, in s, with all vertices at `x`, in m.
    pub(super) fn settle(&mut self, model: &Model, x: &[Vec3<f64>], time: f64) -> Result<(), StepError> {
        if self.is_free {
            return Ok(());
        }
        self.look(model, x, true);
        if self.is_free || time < PATIENCE {
            return Ok(());
        }
        let count = self.cuts.len();
        let named: Vec<String> = self.cuts.iter().take(NAMED).map(|pair| model.name_triangles(*pair)).collect();
        let what = if count == 0 {
            "cloth still touches what it touched at the start".to_owned()
        } else {
            let more = if count > named.len() { format!(", and {} more", count - named.len()) } else { String::new() };
            format!("{count} of its pairs of triangles still cut each other ({}{more})", named.join("; "))
        };
        Err(StepError::Tangled { what, seconds: PATIENCE })
    }

    /// Whether nothing cuts or touches any more.
    pub(super) fn is_free(&self) -> bool {
        self.is_free
    }

    /// The pairs of the last [`filter`](Self::filter).
    pub(super) fn held(&self) -> &Candidates {
        &self.held
    }

    /// Leaves out the pairs that are exempt.
    pub(super) fn filter(&mut self, all: &Candidates) {
        let Self { parts, exempt, held, .. } = self;
        let part_of = |vertices: &[u32]| {
            let mut parts = vertices.iter().map(|&v| parts[v as usize]);
            let first = parts.next().unwrap_or(NONE);
            if parts.any(|part| part == NONE) { NONE } else { first }
        };
        let is_held = |pair: &&[u32; 4], first: usize| {
            let [p, q] = [part_of(&pair[..first]), part_of(&pair[first..])];
            p == NONE || q == NONE || exempt.binary_search(&[p.min(q), p.max(q)]).is_err()
        };
        held.vertex_triangle.clear();
        held.vertex_triangle.extend(all.vertex_triangle.iter().filter(|pair| is_held(pair, 1)));
        held.edge_edge.clear();
        held.edge_edge.extend(all.edge_edge.iter().filter(|pair| is_held(pair, 2)));
    }

    /// Moves apart what cuts, and where it was: `lifts` are the moves so far, in m, `edge` a usual one.
    pub(super) fn lift(&self, w: &[f64], lifts: &mut [Vec3<f64>], edge: f64, step: f64) {
        let pace = edge * PACE.min(PACE_A_SECOND * step);
        for _ in 0..PASSES {
            for crossing in &self.crossings {
                let missing = pace * crossing.share - crossing.along(lifts);
                if missing > 0.0 {
                    crossing.pull(w, lifts, missing);
                }
            }
        }
    }

    /// Stops what would cut more deeply: from `start` and its `lifts` to `end`.
    pub(super) fn stop(&self, w: &[f64], start: &[Vec3<f64>], lifts: &[Vec3<f64>], end: &mut [Vec3<f64>]) {
        for crossing in &self.crossings {
            let onward = crossing.along(end) - crossing.along(start) - crossing.along(lifts);
            if onward < 0.0 {
                crossing.pull(w, end, -onward);
            }
        }
    }

    /// Finds what cuts and touches, among the suspects or everywhere.
    fn look(&mut self, model: &Model, x: &[Vec3<f64>], among_suspects: bool) {
        let all = model.surface_triangles();
        let among_suspects = among_suspects && self.is_known;
        self.is_known = true;
        let cloth = model.triangles.len();
        let counts = |i: usize, j: usize| match (i < cloth, j < cloth) {
            (true, true) => model.self_contact.is_some() || i == j,
            (a, b) => a != b,
        };
        self.few.clear();
        if among_suspects {
            self.few.extend(self.suspects.iter().map(|&t| all[t as usize]));
        } else {
            self.few.extend_from_slice(all);
        }
        let number = |i: usize| if among_suspects { self.suspects[i] as usize } else { i };
        self.cuts.clear();
        self.rounded.clear();
        // As in the guarantee, bodies are where they are: one that is far away or very large takes nothing from the accuracy.
        let (cloths, bodies) = x.split_at(model.masses.len());
        self.rounded.extend(cloths.iter().map(|x| x.cast::<f32>().cast::<f64>()));
        self.rounded.extend_from_slice(bodies);
        for positions in [x, &self.rounded] {
            let matters = |i: usize, j: usize| counts(number(i), number(j));
            for_each_intersection(&self.few, positions, matters, |i, j| {
                let [i, j] = [number(i) as u32, number(j) as u32];
                self.cuts.push([i.min(j), i.max(j)]);
            });
        }
        self.cuts.sort_unstable();
        self.cuts.dedup();

        self.touches.clear();
        let size = extent(cloths);
        let surface = Surface::new(std::mem::take(&mut self.few), x.len());
        // Beyond this, rounding cannot keep a pair from being told apart.
        let reach = size * f64::from(f32::EPSILON);
        surface.for_each_near(
            x,
            reach,
            |i, j| counts(number(i), number(j)),
            |pair, _| {
                let (is_face, vertices) = match pair {
                    Pair::VertexTriangle(vertices) => (true, vertices),
                    Pair::EdgeEdge(vertices) => (false, vertices),
                };
                let at = vertices.map(|v| x[v as usize]);
                if !is_certified(is_face, at, at) {
                    self.touches.push(pair);
                }
            },
        );
        self.is_free = self.cuts.is_empty() && self.touches.is_empty();
        self.crossings.clear();
        if !self.is_free {
            self.mark(model, x.len());
            self.find_crossings(model, x);
        }
    }

    /// Finds V, its parts, and between which of them pairs are exempt.
    fn mark(&mut self, model: &Model, vertex_count: usize) {
        let all = model.surface_triangles();
        let mut marks = vec![false; vertex_count];
        let cut = self.cuts.iter().flatten().flat_map(|&t| all[t as usize]);
        cut.chain(self.touches.iter().flat_map(|pair| vertices_of(*pair).0)).for_each(|v| marks[v as usize] = true);
        for _ in 0..RINGS {
            let before = marks.clone();
            for triangle in all.iter().filter(|triangle| triangle.iter().any(|&v| before[v as usize])) {
                triangle.iter().for_each(|&v| marks[v as usize] = true);
            }
        }
        // The least vertex of a part is its number.
        let parts = &mut self.parts;
        parts.clear();
        parts.extend((0..vertex_count as u32).map(|v| if marks[v as usize] { v } else { NONE }));
        for &[a, b, c] in all {
            for [a, b] in [[a, b], [b, c], [c, a]] {
                if marks[a as usize] && marks[b as usize] {
                    let [a, b] = [root(parts, a), root(parts, b)];
                    parts[a.max(b) as usize] = a.min(b);
                }
            }
        }
        for v in 0..vertex_count as u32 {
            if parts[v as usize] != NONE {
                parts[v as usize] = root(parts, v);
            }
        }
        let between = |a: u32, b: u32| {
            let [a, b] = [parts[a as usize], parts[b as usize]];
            [a.min(b), a.max(b)]
        };
        self.exempt.clear();
        self.exempt.extend(self.cuts.iter().map(|&[s, t]| between(all[s as usize][0], all[t as usize][0])));
        self.exempt.extend(self.touches.iter().map(|pair| {
            let (vertices, first) = vertices_of(*pair);
            between(vertices[0], vertices[first])
        }));
        self.exempt.sort_unstable();
        self.exempt.dedup();
        self.suspects.clear();
        let is_suspect = |t: &u32| all[*t as usize].iter().any(|&v| marks[v as usize]);
        self.suspects.extend((0..all.len() as u32).filter(is_suspect));
    }

    /// Where edges cross triangles, and which way the contour shrinks there.
    fn find_crossings(&mut self, model: &Model, x: &[Vec3<f64>]) {
        let all = model.surface_triangles();
        self.corners.clear();
        for &[s, t] in &self.cuts {
            let [s, t] = [all[s as usize], all[t as usize]];
            self.corners.extend((0..3).filter_map(|k| corner(x, s, k, t)));
            self.corners.extend((0..3).filter_map(|k| corner(x, t, k, s)));
        }
        self.corners.sort_unstable_by_key(|corner| (corner.edge, corner.triangle));
        let same = |a: &Corner, b: &Corner| a.edge == b.edge && a.triangle == b.triangle;
        for group in self.corners.chunk_by(same) {
            let onward = group.iter().fold(Vec3::ZERO, |sum, corner| sum + corner.onward);
            self.crossings.extend(crossing(x, &group[0], onward));
        }
        for pair in &self.touches {
            if let Pair::VertexTriangle([v, a, b, c]) = *pair {
                let [p, q, r] = [a, b, c].map(|v| x[v as usize]);
                let normal = (q - p).cross(r - p).normalized_or_zero();
                let sign = if model.object_of(v) < model.object_of(a) { -1.0 } else { 1.0 };
                let inside = barycentric(x[v as usize], [p, q, r]);
                let weights = [1.0, 0.0, -inside[0], -inside[1], -inside[2]];
                let direction = normal * sign;
                self.crossings.push(Crossing { vertices: [v, v, a, b, c], weights, direction, share: 1.0 });
            }
        }
    }
}

/// The vertices of a pair, and how many are the first's.
fn vertices_of(pair: Pair) -> ([u32; 4], usize) {
    match pair {
        Pair::VertexTriangle(vertices) => (vertices, 1),
        Pair::EdgeEdge(vertices) => (vertices, 2),
    }
}

/// The number of the part that a vertex is in so far.
fn root(parts: &[u32], mut vertex: u32) -> u32 {
    while parts[vertex as usize] != vertex {
        vertex = parts[vertex as usize];
    }
    vertex
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
    Some(Corner { edge, triangle: t, part, inside, onward })
}

/// The way in which the contour shrinks at a corner of it, if that is known.
fn crossing(x: &[Vec3<f64>], corner: &Corner, onward: Vec3<f64>) -> Option<Crossing> {
    let at = |v: u32| x[v as usize];
    let ([a, b], [p, q, r]) = (corner.edge.map(at), corner.triangle.map(at));
    let (e, n) = ((b - a).normalized_or_zero(), (q - p).cross(r - p).normalized_or_zero());
    let sine = e.dot(n);
    let sine = if sine.abs() < GRAZING { GRAZING.copysign(sine) } else { sine };
    let gradient = onward - n * (onward.dot(e) / sine);
    let length = gradient.norm();
    let share = length / (length * length + SOFT * SOFT).sqrt();
    let [c, d] = corner.edge;
    let [f, g, h] = corner.triangle;
    let [u, v, w] = corner.inside;
    (length > 0.0).then(|| Crossing {
        vertices: [c, d, f, g, h],
        weights: [1.0 - corner.part, corner.part, -u, -v, -w],
        direction: gradient * (1.0 / length),
        share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = crossing(&x, end, end.onward).expect("a gradient");
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
        let crossing = crossing(&x, &corner, corner.onward).expect("a gradient");
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
            let crossings: Vec<_> = ends.iter().filter_map(|c| crossing(&x, c, c.onward)).collect();
            crossings.iter().for_each(|c| c.pull(&w, &mut x, 0.02 * c.share));
        }
        panic!("still there, {last} m long");
    }
}
