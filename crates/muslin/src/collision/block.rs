//! The pairs of two patches, or of one with itself, that are near each other.
//!
//! They are looked for in single precision, several at a time: what is kept is only who may be near and how far apart a
//! pair is *at least*, its gap (see [`points`](super::points)). Boxes tell most apart; those that share a vertex, most of the others, are left out by a
//! bit for each (see [`Boxes`]).
//!
//! # What a pair needs not be looked at for
//!
//! ρ is that of two patches, and a pair moves by much less: points p and q of it are means of its vertices, so p − q changes by no more than
//! the two of its vertices, one on either side, that move most against each other, v = max ‖uᵢ − uⱼ‖. A pair of which the gap is measured in a step is left out if
//!
//! ```text
//! gap − v > distance
//! ```
//!
//! Then it is farther apart than the distance all along, and so it is along the direction of its closest points at the start: what looks
//! closer, in double precision, finds neither a contact nor a violation. So a result does not depend on which of the two sums has left a pair out.
//!
//! After that step it is gap − v apart, less what the vertices stray from where they were to go, where Σρ has grown by ρ and as much of straying. So it is apart as
//! long as Σρ stays below
//!
//! ```text
//! Σρ before the step + ρ + gap − v        instead of        Σρ before the step + gap
//! ```
//!
//! and what is between one and two steps away is measured every other step and not in every one. Should the same step be looked at with another end, of
//! which v says nothing, ρ is taken from all of them again.

use wide::f32x4;

use super::bvh::{round_down, round_up};
use super::candidates::Candidates;
use super::drift::up;
use super::patches::{MEMBERS, PATCH, Patches};
use super::points::{Points, SIDE, SLACK, Work};
use super::side::{Boxes, Side, Span};
use crate::math::Register;

/// Pairs of one kind.
#[derive(Debug, Default)]
struct List {
    pairs: Vec<[u32; 4]>,
    /// For each the Σρ below which it is apart, in m: its gap and what Σρ was when that was measured.
    until: Vec<f32>,
}

/// The list of two patches, or of one with itself.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) patches: [u32; 2],
    /// R, in m.
    pub(super) radius: f64,
    /// Σρ, in m.
    pub(super) used: f64,
    /// ρ of the step at hand, in m.
    pub(super) step: f64,
    /// Questions to the tree since the larger boxes last overlapped.
    pub(super) idle: u32,
    /// Whether the boxes overlap in the step at hand.
    pub(super) is_near: bool,
    vertex_triangle: List,
    edge_edge: List,
    /// The least Σρ at which a pair may touch, in m.
    least: f32,
    /// ρ that was given to pairs of which v is known, in m.
    given: f64,
    /// The vertices that both patches have: where in the one and in the other.
    twins: Vec<[u8; 2]>,
}

impl Block {
    /// Begins a list of which nothing is known yet.
    pub(super) fn begin(&mut self, patches: [u32; 2], all: &Patches) {
        (self.patches, self.radius, self.used, self.step, self.idle, self.is_near) = (patches, 0.0, 0.0, 0.0, 0, false);
        self.vertex_triangle.clear();
        self.edge_edge.clear();
        (self.least, self.given) = (f32::INFINITY, 0.0);
        self.twins.clear();
        if patches[0] != patches[1] {
            let [p, q] = patches.map(|patch| all.members_of(patch));
            let mut others = q.iter().enumerate().peekable();
            for (of_p, v) in p.iter().enumerate() {
                while others.next_if(|other| other.1 < v).is_some() {}
                if let Some((of_q, _)) = others.next_if(|other| other.1 == v) {
                    self.twins.push([of_p as u8, of_q as u8]);
                }
            }
        }
    }

    /// The last step is over, and vertices have strayed from it by so much, in m.
    pub(super) fn pass(&mut self, strayed: f64) {
        self.used = up(self.used + self.step + strayed);
        self.given = 0.0;
    }

    /// How far pairs may have come together by the end of the step, in m.
    pub(super) fn approach(&self) -> f64 {
        up(self.used + self.step)
    }

    /// Finds all pairs within `radius`.
    pub(super) fn find(&mut self, all: &Patches, x: &Points, radius: f64, bench: &mut Workbench) {
        (self.radius, self.used, self.given) = (radius, 0.0, 0.0);
        self.vertex_triangle.clear();
        self.edge_edge.clear();
        self.least = f32::INFINITY;
        let is_self = self.patches[0] == self.patches[1];
        // More than the conversion takes; finite, so that what is infinitely far (in single precision) has boxes too.
        let reach_of = |size: f32| ((radius * (1.0 + 1e-6)) as f32 + SLACK * size).min(f32::MAX);
        let [p, q] = &mut bench.sides;
        p.set(all, self.patches[0], x, is_self);
        let mut reach = reach_of(p.size);
        if !is_self {
            q.set(all, self.patches[1], x, is_self);
            Side::share(p, q, &self.twins);
            reach = reach_of(p.size.max(q.size));
            if let Some(apart) = Side::keep_near(p, q, reach) {
                // Then the list is empty farther than it was asked for.
                self.radius = radius.max(f64::from(apart));
                return;
            }
        }
        self.collect(all, x, reach, bench);
    }

    /// Takes the pairs of two patches that are near each other.
    fn collect(&mut self, all: &Patches, x: &Points, reach: f32, bench: &mut Workbench) {
        let Workbench { sides: [p, q], triangles, edges } = bench;
        let is_self = self.patches[0] == self.patches[1];
        let q = if is_self { &*p } else { &*q };
        let mut found = Found::<1>::new(&mut self.vertex_triangle, x, reach);
        found.look(all, p, q, triangles);
        if !is_self {
            found.look(all, q, p, triangles);
        }
        found.flush();
        let mut found = Found::<2>::new(&mut self.edge_edge, x, reach);
        found.look(all, p, q, edges, is_self);
        found.flush();
        self.least = f32::min(self.vertex_triangle.least(), self.edge_edge.least());
    }

    /// Takes back what was given to pairs for how little they move on the way to an end that is none any more.
    pub(super) fn take_back(&mut self) {
        if self.given > 0.0 {
            let given = std::mem::take(&mut self.given);
            let less = |until: &mut f32| *until = round_down(f64::from(*until) - given);
            self.vertex_triangle.until.iter_mut().chain(&mut self.edge_edge.until).for_each(less);
            less(&mut self.least);
        }
    }

    /// Adds the pairs that may come within `distance` in the step at hand, which begins at `x`.
    ///
    /// Of a pair that Σρ says nothing of any more the gap is measured again. If `by_own`, those are left out too that are kept apart by how
    /// little their own vertices move against each other.
    pub(super) fn take_active(&mut self, x: &Points, distance: f64, by_own: bool, active: &mut Candidates) {
        let nearer = round_up(up(self.approach() + distance));
        if self.least > nearer {
            return;
        }
        let near = Near { used: self.used, step: self.step, nearer, distance: round_up(distance), by_own };
        if by_own {
            self.given = self.step;
        }
        let faces = self.vertex_triangle.take_active::<1>(x, &near, &mut active.vertex_triangle);
        let edges = self.edge_edge.take_active::<2>(x, &near, &mut active.edge_edge);
        self.least = f32::min(faces, edges);
    }
}

/// What is asked of the pairs of a list.
struct Near {
    /// Σρ before the step, in m.
    used: f64,
    /// ρ of the step, in m.
    step: f64,
    /// Pairs that are apart beyond this Σρ do not matter, in m.
    nearer: f32,
    /// How near a pair has to come, in m.
    distance: f32,
    by_own: bool,
}

impl List {
    fn clear(&mut self) {
        self.pairs.clear();
        self.until.clear();
    }

    fn least(&self) -> f32 {
        self.until.iter().copied().fold(f32::INFINITY, f32::min)
    }

    /// Measures the gaps of those pairs again that Σρ says nothing of, and takes those that are active; the least Σρ at which a pair may touch.
    fn take_active<const FIRST: usize>(&mut self, x: &Points, near: &Near, active: &mut Vec<[u32; 4]>) -> f32 {
        let (mut waiting, mut count) = ([0; SIDE], 0);
        let (mut least, mut others) = (f32::INFINITY, f32x4::splat(f32::INFINITY));
        let nearer = f32x4::splat(near.nearer);
        for chunk in 0..self.until.len().div_ceil(4) {
            // What is missing in the last four is never near.
            let until =
                self.until.as_chunks::<4>().0.get(chunk).map_or_else(|| self.last_until(), |all| f32x4::new(*all));
            let is_far = until.simd_gt(nearer);
            others = others.fast_min(is_far.bitselect(until, others));
            let mut bits = !is_far.to_bitmask() & 0b1111;
            while bits != 0 {
                waiting[count] = 4 * chunk + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                count += 1;
                if count == SIDE {
                    least = least.min(self.measure::<FIRST>(x, near, waiting, count, active));
                    count = 0;
                }
            }
        }
        least = others.to_array().into_iter().fold(least, f32::min);
        if count > 0 {
            least = least.min(self.measure::<FIRST>(x, near, waiting, count, active));
        }
        least
    }

    /// Those that do not fill a group of four.
    fn last_until(&self) -> f32x4 {
        let mut last = [f32::INFINITY; 4];
        let rest = self.until.as_chunks::<4>().1;
        last[..rest.len()].copy_from_slice(rest);
        f32x4::new(last)
    }

    fn measure<const FIRST: usize>(
        &mut self,
        x: &Points,
        near: &Near,
        waiting: [usize; SIDE],
        count: usize,
        active: &mut Vec<[u32; 4]>,
    ) -> f32 {
        let mut pairs = [[0; 4]; SIDE];
        pairs.iter_mut().zip(waiting).for_each(|(pair, index)| *pair = self.pairs[index]);
        let gaps = x.gaps::<FIRST>(&pairs);
        let own = if near.by_own { x.own_approaches::<FIRST>(&pairs) } else { [f32::INFINITY; SIDE] };
        let mut least = f32::INFINITY;
        for lane in 0..count.min(SIDE) {
            let (until, left) = (near.used + f64::from(gaps[lane]), gaps[lane] - own[lane]);
            let is_apart = left > near.distance;
            if round_down(until) <= near.nearer && !is_apart {
                active.push(pairs[lane]);
            }
            // What is left is no number, or less than nothing, where it says nothing.
            let until = round_down(until.max(near.used + near.step + f64::from(left)));
            self.until[waiting[lane]] = until;
            least = least.min(until);
        }
        least
    }
}

/// What pairs are looked for with; kept, since it is large.
#[derive(Debug, Default)]
pub(super) struct Workbench {
    sides: [Side; 2],
    triangles: Boxes<PATCH>,
    edges: Boxes<MEMBERS>,
}

/// Pairs as they are found.
struct Found<'a, const FIRST: usize> {
    list: &'a mut List,
    x: &'a Points,
    /// How near a pair has to be, in m.
    reach: f32,
    waiting: [[u32; 4]; SIDE],
    count: usize,
}

impl<'a, const FIRST: usize> Found<'a, FIRST> {
    fn new(list: &'a mut List, x: &'a Points, reach: f32) -> Self {
        Self { list, x, reach, waiting: [[0; 4]; SIDE], count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, pair: [u32; 4]) {
        self.waiting[self.count % SIDE] = pair;
        self.count += 1;
        if self.count == SIDE {
            self.flush();
        }
    }

    /// Keeps those that wait if they are within reach.
    #[inline(never)]
    fn flush(&mut self) {
        let gaps = self.x.gaps::<FIRST>(&self.waiting);
        for (pair, gap) in self.waiting.into_iter().zip(gaps).take(self.count) {
            if gap <= self.reach {
                self.list.pairs.push(pair);
                self.list.until.push(gap);
            }
        }
        self.count = 0;
    }
}

impl Found<'_, 1> {
    /// Vertices of the first, triangles of the second.
    fn look(&mut self, all: &Patches, first: &Side, second: &Side, boxes: &mut Boxes<PATCH>) {
        let triangles = &all.triangles[all.patches[second.patch as usize].triangles.clone()];
        boxes.set(triangles, second);
        if !boxes.is_empty() {
            let x = self.x;
            x.run(Faces { found: self, all, first, second, triangles, boxes });
        }
    }
}

impl Found<'_, 2> {
    /// Edges of both.
    fn look(&mut self, all: &Patches, first: &Side, second: &Side, boxes: &mut Boxes<MEMBERS>, is_self: bool) {
        let edges = &all.edges[all.patches[second.patch as usize].edges.clone()];
        boxes.set(edges, second);
        if !boxes.is_empty() {
            let x = self.x;
            x.run(Edges { found: self, all, first, second, edges, boxes, is_self });
        }
    }
}

/// The look for vertices and triangles.
struct Faces<'a, 'b> {
    found: &'a mut Found<'b, 1>,
    all: &'a Patches,
    first: &'a Side,
    second: &'a Side,
    triangles: &'a [[u8; 3]],
    boxes: &'a Boxes<PATCH>,
}

impl Work for Faces<'_, '_> {
    type Outcome = ();

    #[inline(always)]
    fn run<S: Register>(self) {
        let Self { found, all, first, second, triangles, boxes } = self;
        let [of_first, of_second] = [first, second].map(|side| all.members_of(side.patch));
        for &place in &all.vertices[all.patches[first.patch as usize].vertices.clone()] {
            if first.is_far(place) {
                continue;
            }
            let own = Span::of(first, [place]);
            if first.near.overlaps(&own) {
                let strangers = boxes.strangers_to([first.twin(place)], 0);
                boxes.for_each_overlap::<S>(
                    &own.inflated(found.reach),
                    &strangers,
                    #[inline(always)]
                    |index| {
                        let [a, b, c] = triangles[index];
                        let corners = [of_second[a as usize], of_second[b as usize], of_second[c as usize]];
                        found.push([of_first[place as usize], corners[0], corners[1], corners[2]]);
                    },
                );
            }
        }
    }
}

/// The look for edges.
struct Edges<'a, 'b> {
    found: &'a mut Found<'b, 2>,
    all: &'a Patches,
    first: &'a Side,
    second: &'a Side,
    edges: &'a [[u8; 2]],
    boxes: &'a Boxes<MEMBERS>,
    is_self: bool,
}

impl Work for Edges<'_, '_> {
    type Outcome = ();

    #[inline(always)]
    fn run<S: Register>(self) {
        let Self { found, all, first, second, edges, boxes, is_self } = self;
        let [of_first, of_second] = [first, second].map(|side| all.members_of(side.patch));
        for (i, &[a, b]) in all.edges[all.patches[first.patch as usize].edges.clone()].iter().enumerate() {
            if first.is_far(a) & first.is_far(b) {
                continue;
            }
            let own = Span::of(first, [a, b]);
            if first.near.overlaps(&own) {
                let [from, to] = [of_first[a as usize], of_first[b as usize]];
                // Of a patch with itself all edges are near, so the boxes are in the order of the edges.
                let strangers = boxes.strangers_to([first.twin(a), first.twin(b)], if is_self { i + 1 } else { 0 });
                boxes.for_each_overlap::<S>(
                    &own.inflated(found.reach),
                    &strangers,
                    #[inline(always)]
                    |index| {
                        let [c, d] = edges[index];
                        found.push([from, to, of_second[c as usize], of_second[d as usize]]);
                    },
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::Closest;
    use crate::energy::conformance::Random;

    /// Pairs of all kinds: far, near, flat, along a line, collapsed, tiny, and with one vertex far off.
    fn pairs() -> Vec<[Vec3<f64>; 4]> {
        let mut random = Random::new(5);
        let mut all = Vec::new();
        for round in 0..20_000 {
            let mut x: [Vec3<f64>; 4] = std::array::from_fn(|_| random.vector());
            match round % 8 {
                0 => x[0] = (x[1] + x[2] + x[3]) * (1.0 / 3.0) + x[0] * 1e-3,
                1 => x.iter_mut().for_each(|x| x.y = 0.0),
                2 => (1..4).for_each(|k| x[k] = x[0] + (x[1] - x[0]) * (k as f64 * 0.7)),
                3 => x[3] = x[2],
                4 => x.iter_mut().for_each(|x| *x = *x * 1e-6),
                5 => x[2] = x[2] * 1e5,
                6 => (2..4).for_each(|k| x[k] = x[k - 2] + x[k] * 1e-4),
                _ => {}
            }
            all.push(x);
        }
        all
    }

    fn check<const FIRST: usize>() {
        let mut largest: f64 = 0.0;
        for (round, x) in pairs().into_iter().enumerate() {
            let mut points = Points::default();
            points.resize(4);
            let origin = points.origin(&x);
            points.chunks_mut(4).for_each(|points| points.set(origin, &x, &x, false));
            let size = points.places.iter().flat_map(|p| p.to_array()).fold(0.0, |size: f32, p| size.max(p.abs()));
            let gap = f64::from(points.gaps::<FIRST>(&[[0, 1, 2, 3]; 4]).to_array()[2]);
            let distance = Closest::of::<FIRST>(x).distance;
            assert!(gap <= distance, "{gap} and {distance} of {x:?}");
            // The normal of what is collapsed is mostly rounding.
            if distance > 1e-2 * f64::from(size) && round % 8 != 2 && round % 8 != 3 {
                largest = largest.max((distance - gap) / distance);
            }
        }
        assert!(largest < 2e-3, "the bound is the distance, but for rounding: {largest}");
    }

    /// Pairs that move: what is promised for the step holds at every time of it.
    fn check_moving<const FIRST: usize>() {
        let (mut random, mut apart) = (Random::new(11), 0);
        for (round, x) in pairs().into_iter().enumerate() {
            let (drift, stir) = (random.vector() * 3.0, [1e-3, 0.1, 1.0][round % 3]);
            let y = x.map(|x| x + drift + random.vector() * stir);
            let mut points = Points::default();
            points.resize(4);
            let origin = points.origin(&x);
            points.chunks_mut(4).for_each(|points| points.set(origin, &x, &y, false));
            let pairs = [[0, 1, 2, 3]; 4];
            let left = f64::from((points.gaps::<FIRST>(&pairs) - points.own_approaches::<FIRST>(&pairs)).to_array()[1]);
            for t in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let at: [Vec3<f64>; 4] = std::array::from_fn(|k| x[k] * (1.0 - t) + y[k] * t);
                assert!(left <= Closest::of::<FIRST>(at).distance, "{left} at {t} of {x:?} to {y:?}");
            }
            apart += usize::from(left > 0.0);
        }
        assert!(apart > 3000, "{apart} pairs are told apart");
    }

    #[test]
    fn a_pair_comes_no_nearer_than_its_own_vertices_let_it() {
        check_moving::<1>();
        check_moving::<2>();
    }

    /// Two patches side by side in any direction: what is called far is far, and patches are as far apart as is said.
    #[test]
    fn what_is_far_along_the_line_of_centres_has_no_pair() {
        let mut random = Random::new(3);
        let (mut lists, mut apart, mut far) = (0, 0, 0);
        for round in 0..300 {
            let (e, f, n) = (random.vector(), random.vector(), random.vector() * 0.2);
            let shift = e * (5.5 + 0.01 * f64::from(round));
            let place = |i: u32| e * f64::from(i % 5) + f * f64::from(i / 5);
            let mut x: Vec<_> = (0..25).map(place).collect();
            x.extend((0..25).map(|i| place(i) + shift));
            x.iter_mut().for_each(|x| *x += n * random.vector().x);
            let cells =
                (0..16_u32).map(|i| i % 4 + 5 * (i / 4)).flat_map(|a| [[a, a + 1, a + 5], [a + 1, a + 6, a + 5]]);
            let cells: Vec<[u32; 3]> = cells.collect();
            let both: Vec<_> = cells.iter().copied().chain(cells.iter().map(|t| t.map(|v| v + 25))).collect();
            let all = Patches::new(&x, &both, |v| usize::from(v > 24), |_| true);
            let mut points = Points::default();
            points.resize(50);
            let origin = points.origin(&x);
            points.chunks_mut(50).for_each(|points| points.set(origin, &x, &x, false));
            let [mut p, mut q] = [0, 1].map(|patch| Side::new(&all, patch, &points));
            let reach = 0.5_f32;
            let outcome = Side::keep_near(&mut p, &mut q, reach);
            let distance = |v: u32, [a, b, c]: [u32; 3]| {
                Closest::of::<1>([x[v as usize], x[a as usize], x[b as usize], x[c as usize]]).distance
            };
            let least = |v: u32, triangles: &[[u32; 3]]| {
                triangles.iter().map(|&t| distance(v, t)).fold(f64::INFINITY, f64::min)
            };
            for v in 0..50_u32 {
                let other = if v < 25 { &both[32..] } else { &both[..32] };
                let side = if v < 25 { &p } else { &q };
                let is_far = side.is_far(side.vertices.iter().position(|&member| member == v).unwrap() as u8);
                let distance = least(v, other);
                assert!(!is_far || distance > f64::from(reach), "vertex {v} is {distance} away");
                assert!(outcome.is_none_or(|apart| f64::from(apart) <= distance), "{outcome:?} and {distance}");
                far += usize::from(is_far);
            }
            apart += usize::from(outcome.is_some());
            lists += usize::from(outcome.is_none());
        }
        assert!(lists > 20 && apart > 20 && far > 200, "{lists} lists, {apart} apart, {far} vertices far");
    }

    #[test]
    fn gaps_are_distances_and_never_too_long() {
        check::<1>();
        check::<2>();
    }
}
