//! Untangling of a start in which things cut or touch each other; then the guarantee of [`resolve`](crate::contact::resolve) holds.
//!
//! # Who may pass through whom
//!
//! At the start of a substep let V be the vertices of all triangles that cut another and of all pairs that touch, and those within
//! [`RINGS`] triangles of them. V falls into *parts*, joined by edges. A pair is *exempt*, neither pushed nor held, if all its
//! vertices are in V and the parts of its two primitives have a cut or a touch between them. **All other pairs are held as ever.**
//!
//! So whatever cuts or touches at the end of the substep is of two triangles with a vertex in V: of any others no pair is exempt, and by the
//! argument of [`Truncation`](crate::contact::Truncation) they stay apart. Only those are looked at again. The first state in which nothing cuts, as it is and as it is written in
//! single precision, and every pair can be told apart, is *free*: from there on nothing is exempt. What is free stays so, so a run that goes on
//! from a snapshot need not be told whether it was.
//!
//! # What pulls them apart
//!
//! Surfaces cut in contours. Each is drawn out one way, with all of its corners: [`contour`] finds it. At a corner, where an edge
//! crosses a triangle, the edge is moved against the triangle by [`PACE`] at most, split by the inverse masses as contact is, so
//! that momentum is kept. It is moved together with where it was: untangling makes no velocity. What would go the other way in the substep is
//! stopped, as at a wall.
//!
//! A vertex that touches a triangle is moved along its normal: that of the later of two cloths or bodies up, of the earlier down.
//!
//! All of this is serial, and takes memory anew in every substep; both end with the tangle.

pub(crate) mod contour;
pub(crate) mod initial;

use crate::contact::context::ContactError;
use crate::contact::untangle::contour::{Contours, Crossing};
use crate::contact::{Candidates, Pair, Surface, extent, for_each_intersection, is_certified};
use crate::math::Vec3;
use crate::model::Model;

/// Triangles around what cuts that are exempt too: farther than a substep leads.
const RINGS: usize = 2;

/// How far an edge is moved against a triangle in a substep, in edges: at most, and in a second.
const PACE: f64 = 0.25;
const PACE_A_SECOND: f64 = 30.0;

/// Passes over the crossings in a substep.
const PASSES: usize = 3;

/// What is not free after so many seconds will not be.
pub(crate) const PATIENCE: f64 = 2.0;

/// So many pairs are named.
const NAMED: usize = 3;

const NONE: u32 = u32::MAX;

/// Untangles over the substeps of a run.
#[derive(Default)]
pub(crate) struct Untangle {
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
    contours: Contours,
    /// The pairs that are not exempt.
    held: Candidates,
    rounded: Vec<Vec3<f64>>,
    few: Vec<[u32; 3]>,
}

impl Untangle {
    /// Begins a frame with all vertices at `x`, in m; whether they are where the last frame left them.
    pub(crate) fn begin(&mut self, model: &Model, x: &[Vec3<f64>], is_continued: bool) {
        if !is_continued {
            (self.is_known, self.is_free) = (false, false);
        }
        if !self.is_free {
            self.look(model, x, false);
        }
    }

    /// Ends a substep at `time`, in s, with all vertices at `x`, in m.
    pub(crate) fn settle(&mut self, model: &Model, x: &[Vec3<f64>], time: f64) -> Result<(), ContactError> {
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
        Err(ContactError::Tangled { what, seconds: PATIENCE })
    }

    /// Whether nothing cuts or touches any more.
    pub(crate) fn is_free(&self) -> bool {
        self.is_free
    }

    /// The pairs of the last [`filter`](Self::filter).
    pub(crate) fn held(&self) -> &Candidates {
        &self.held
    }

    /// Leaves out the pairs that are exempt.
    pub(crate) fn filter(&mut self, all: &Candidates) {
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
    pub(crate) fn lift(&self, w: &[f64], lifts: &mut [Vec3<f64>], edge: f64, step: f64) {
        let advance = edge * PACE.min(PACE_A_SECOND * step);
        for _ in 0..PASSES {
            for crossing in &self.crossings {
                let missing = advance * crossing.share - crossing.along(lifts);
                if missing > 0.0 {
                    crossing.pull(w, lifts, missing);
                }
            }
        }
    }

    /// Stops what would cut more deeply: from `start` and its `lifts` to `end`.
    pub(crate) fn stop(&self, w: &[f64], start: &[Vec3<f64>], lifts: &[Vec3<f64>], end: &mut [Vec3<f64>]) {
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
            let matters = |i: usize, j: usize| model.may_touch(number(i), number(j));
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
            |i, j| model.may_touch(number(i), number(j)),
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
            self.contours.find(all, &self.cuts, x, &mut self.crossings);
            self.crossings.extend(self.touches.iter().filter_map(|pair| match *pair {
                Pair::VertexTriangle(vertices) => {
                    let [v, a, ..] = vertices;
                    Some(Crossing::of_touch(x, vertices, model.object_of(v) >= model.object_of(a)))
                }
                Pair::EdgeEdge(_) => None,
            }));
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
