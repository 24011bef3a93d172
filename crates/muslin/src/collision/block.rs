//! The pairs of two patches, or of one with itself, that are near each other.
//!
//! They are looked for in single precision, four at a time: what is kept is only who may be near and how far apart a
//! pair is *at least*. Boxes tell most apart. For the others, the least distance along any direction n is a bound of the distance:
//!
//! ```text
//! ‖a − b‖ ≥ n·(a − b)/‖n‖ ≥ min over the vertices of n·(aᵢ − bⱼ)/‖n‖
//! ```
//!
//! n leads from the one of the closest points to the other, as in [`closest`](super::closest): then both sides are equal, but for the
//! rounding of n, which does no harm.
//!
//! # Rounding
//!
//! With ε the unit of single precision and s the largest coordinate, each is off by εs/2 after the conversion, differences by as much
//! again, and a bound by some 4ε of the differences, which are below 2√3 s. So distances are off by less than 16εs; twice that is taken
//! from the bounds and added to the radius. A direction is taken as exact, whatever it is, unless the square of its length is lost
//! below the range of numbers. What is not a number tells nothing apart.

use wide::f32x4;

use super::bvh::{round_down, round_up};
use super::candidates::Candidates;
use super::drift::up;
use super::patches::{MEMBERS, PATCH, Patch, Patches};
use crate::math::{Lanes, Scalar, Vec3};

/// Vertices of a pair, and the Σρ below which it is apart, in m: its gap and what Σρ was when that was measured.
pub(super) type Near = ([u32; 4], f32);

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
    pub(super) vertex_triangle: Vec<Near>,
    pub(super) edge_edge: Vec<Near>,
    /// The least Σρ at which a pair may touch, in m.
    least: f32,
}

impl Block {
    /// Begins a list of which nothing is known yet.
    pub(super) fn begin(&mut self, patches: [u32; 2]) {
        (self.patches, self.radius, self.used, self.step, self.idle, self.is_near) = (patches, 0.0, 0.0, 0.0, 0, false);
        self.vertex_triangle.clear();
        self.edge_edge.clear();
        self.least = f32::INFINITY;
    }

    /// How far pairs may have come together by the end of the step, in m.
    pub(super) fn approach(&self) -> f64 {
        up(self.used + self.step)
    }

    /// Finds all pairs within `radius`.
    pub(super) fn find(&mut self, all: &Patches, x: &Points, radius: f64) {
        (self.radius, self.used) = (radius, 0.0);
        let [p, q] = self.patches.map(|patch| Side::new(all, patch, x));
        // More than the conversion takes; finite, so that what is infinitely far (in single precision) has boxes too.
        let reach = ((radius * (1.0 + 1e-6)) as f32 + SLACK * p.size.max(q.size)).min(f32::MAX);
        let is_self = self.patches[0] == self.patches[1];
        let near = [&q, &p].map(|side| if is_self { Span::ALL } else { side.span.inflated(reach) });
        let mut found = Found::<1>::new(&mut self.vertex_triangle, x, reach);
        found.add_faces(&p, &near[0], &q, &near[1]);
        if !is_self {
            found.add_faces(&q, &near[1], &p, &near[0]);
        }
        found.flush();
        let mut found = Found::<2>::new(&mut self.edge_edge, x, reach);
        found.add_edges(&p, &near[0], &q, &near[1], is_self);
        found.flush();
        let gaps = self.vertex_triangle.iter().chain(&self.edge_edge).map(|pair| pair.1);
        self.least = gaps.fold(f32::INFINITY, f32::min);
    }

    /// Adds the pairs that may come within `distance` in the step at hand, which begins at `x`.
    ///
    /// Of a pair that Σρ says nothing of any more the gap is measured again.
    pub(super) fn take_active(&mut self, x: &Points, distance: f64, active: &mut Candidates) {
        let nearer = round_up(up(self.approach() + distance));
        if self.least > nearer {
            return;
        }
        self.least = f32::INFINITY;
        let used = self.used;
        let mut take = |list: &[Near], active: &mut Vec<[u32; 4]>| {
            for (vertices, until) in list {
                if *until <= nearer {
                    active.push(*vertices);
                }
                self.least = self.least.min(*until);
            }
        };
        measure::<1>(&mut self.vertex_triangle, x, used, nearer);
        take(&self.vertex_triangle, &mut active.vertex_triangle);
        measure::<2>(&mut self.edge_edge, x, used, nearer);
        take(&self.edge_edge, &mut active.edge_edge);
    }
}

/// Measures the gaps of those pairs again that Σρ says nothing of.
fn measure<const FIRST: usize>(list: &mut [Near], x: &Points, used: f64, nearer: f32) {
    let (mut waiting, mut count) = ([0; 4], 0);
    let flush = |list: &mut [Near], waiting: [usize; 4], count: usize| {
        let gaps = x.gaps::<FIRST>(waiting.map(|index| list[index].0));
        for (index, gap) in waiting.into_iter().zip(gaps).take(count) {
            list[index].1 = round_down(used + f64::from(gap));
        }
    };
    for index in 0..list.len() {
        if list[index].1 <= nearer {
            waiting[count] = index;
            count += 1;
            if count == 4 {
                flush(list, waiting, count);
                count = 0;
            }
        }
    }
    if count > 0 {
        flush(list, waiting, count);
    }
}

/// Pairs as they are found.
struct Found<'a, const FIRST: usize> {
    list: &'a mut Vec<Near>,
    x: &'a Points,
    /// How near a pair has to be, in m.
    reach: f32,
    waiting: [[u32; 4]; 4],
    count: usize,
}

impl<'a, const FIRST: usize> Found<'a, FIRST> {
    fn new(list: &'a mut Vec<Near>, x: &'a Points, reach: f32) -> Self {
        list.clear();
        Self { list, x, reach, waiting: [[0; 4]; 4], count: 0 }
    }

    #[inline]
    fn push(&mut self, pair: [u32; 4]) {
        self.waiting[self.count] = pair;
        self.count += 1;
        if self.count == 4 {
            self.flush();
        }
    }

    /// Keeps those that wait if they are within reach.
    fn flush(&mut self) {
        let gaps = self.x.gaps::<FIRST>(self.waiting);
        for (pair, gap) in self.waiting.into_iter().zip(gaps).take(self.count) {
            if gap <= self.reach {
                self.list.push((pair, gap));
            }
        }
        self.count = 0;
    }
}

impl Found<'_, 1> {
    /// Vertices of the first, triangles of the second.
    fn add_faces(&mut self, first: &Side<'_>, near_first: &Span, second: &Side<'_>, near_second: &Span) {
        let triangles = &second.all.triangles[second.patch.triangles.clone()];
        let boxes = Boxes::<PATCH>::of(triangles, second, near_second, self.x);
        if boxes.count == 0 {
            return;
        }
        for &place in &first.all.vertices[first.patch.vertices.clone()] {
            let v = first.vertices[place as usize];
            let own = Span::of([self.x.at(v)]);
            if near_first.overlaps(&own) {
                boxes.for_each_overlap(&own.inflated(self.reach), 0, |index| {
                    let [a, b, c] = triangles[index].map(|place| second.vertices[place as usize]);
                    if v != a && v != b && v != c {
                        self.push([v, a, b, c]);
                    }
                });
            }
        }
    }
}

impl Found<'_, 2> {
    fn add_edges(&mut self, first: &Side<'_>, near_first: &Span, second: &Side<'_>, near_second: &Span, is_self: bool) {
        let edges = &second.all.edges[second.patch.edges.clone()];
        let boxes = Boxes::<MEMBERS>::of(edges, second, near_second, self.x);
        if boxes.count == 0 {
            return;
        }
        for (i, places) in first.all.edges[first.patch.edges.clone()].iter().enumerate() {
            let [a, b] = places.map(|place| first.vertices[place as usize]);
            let own = Span::of([self.x.at(a), self.x.at(b)]);
            if near_first.overlaps(&own) {
                boxes.for_each_overlap(&own.inflated(self.reach), if is_self { i + 1 } else { 0 }, |index| {
                    let [c, d] = edges[index].map(|place| second.vertices[place as usize]);
                    if a != c && a != d && b != c && b != d {
                        self.push([a, b, c, d]);
                    }
                });
            }
        }
    }
}

/// A patch and where it is.
struct Side<'a> {
    all: &'a Patches,
    patch: &'a Patch,
    vertices: &'a [u32],
    span: Span,
    /// The largest coordinate.
    size: f32,
}

impl<'a> Side<'a> {
    fn new(all: &'a Patches, patch: u32, x: &Points) -> Self {
        let vertices = all.members_of(patch);
        let span = Span::of(vertices.iter().map(|&v| x.at(v)));
        let size = span.low.abs().max(span.high.abs()).to_array();
        Self { all, patch: &all.patches[patch as usize], vertices, span, size: size[0].max(size[1]).max(size[2]) }
    }
}

/// What rounding may do to a distance, in largest coordinates.
const SLACK: f32 = 32.0 * f32::EPSILON;

/// Positions in single precision, from a place near by.
#[derive(Debug, Default)]
pub(super) struct Points(Vec<f32x4>);

impl Points {
    /// Takes over positions, seen from their middle.
    pub(super) fn set(&mut self, x: &[Vec3<f64>]) {
        let sum = x.iter().fold(Vec3::ZERO, |sum, x| sum + *x);
        let origin = sum * (1.0 / x.len().max(1) as f64);
        self.0.clear();
        self.0.extend(x.iter().map(|x| {
            let Vec3 { x, y, z } = (*x - origin).cast::<f32>();
            f32x4::new([x, y, z, 0.0])
        }));
    }

    #[inline]
    fn at(&self, vertex: u32) -> f32x4 {
        self.0[vertex as usize]
    }

    /// Bounds of the distances of four pairs, in m.
    #[inline]
    fn gaps<const FIRST: usize>(&self, pairs: [[u32; 4]; 4]) -> [f32; 4] {
        let corner = |k: usize| {
            let [x, y, z, _] = Lanes::transpose(pairs.map(|pair| Lanes::new(self.at(pair[k]).to_array())));
            Vec3 { x, y, z }
        };
        let gaps = gap::<FIRST, _>([corner(0), corner(1), corner(2), corner(3)]).to_array();
        std::array::from_fn(|lane| {
            let sizes = pairs[lane].map(|v| self.at(v).abs());
            let [x, y, z, _] = sizes[0].fast_max(sizes[1]).fast_max(sizes[2].fast_max(sizes[3])).to_array();
            // `max` takes 0 where there is no number.
            (gaps[lane] - SLACK * x.max(y).max(z)).max(0.0)
        })
    }
}

/// How far the first `FIRST` of four vertices are from the others along the direction of the closest points, with rounding.
#[inline]
fn gap<const FIRST: usize, S: Scalar>(x: [Vec3<S>; 4]) -> S {
    let [a, b, c, d] = x;
    let from_side = |p: Vec3<S>, from: Vec3<S>, side: Vec3<S>| {
        let arm = p - from;
        let t = arm.dot(side) / side.norm_squared();
        // Also where the side has no length, and t is not a number.
        let t = S::select(t.greater(S::ZERO), S::select(t.greater(S::ONE), S::ONE, t), S::ZERO);
        arm - side * t
    };
    let nearer =
        |one: Vec3<S>, other: Vec3<S>| Vec3::select(one.norm_squared().greater(other.norm_squared()), other, one);
    let (side, other_side, arm) = if FIRST == 1 { (c - b, d - b, a - b) } else { (b - a, d - c, a - c) };
    let n = side.cross(other_side);
    let nn = n.norm_squared();
    // Where on the two sides the foot of the perpendicular is, times n².
    let (s, t, rest) = if FIRST == 1 {
        let (s, t) = (arm.cross(other_side).dot(n), side.cross(arm).dot(n));
        (s, t, nn - s - t)
    } else {
        let (s, t) = (other_side.cross(arm).dot(n), side.cross(arm).dot(n));
        let least = |p: S, q: S| S::select(p.greater(q), q, p);
        (s, t, least(nn - s, nn - t))
    };
    let outside = if FIRST == 1 {
        nearer(nearer(from_side(a, b, side), from_side(a, b, other_side)), from_side(a, c, d - c))
    } else {
        let of_first = nearer(from_side(a, c, other_side), from_side(b, c, other_side));
        let of_second = nearer(from_side(c, a, side), from_side(d, a, side));
        nearer(of_first, -of_second)
    };
    let inside = Vec3::select(n.dot(arm).greater(S::ZERO), n, -n);
    let or_outside = |number: S, yes: Vec3<S>| Vec3::select(number.greater(S::ZERO), yes, outside);
    let direction = or_outside(s, or_outside(t, or_outside(rest, inside)));
    let mut least = direction.dot(x[0] - x[3]);
    for a in &x[..FIRST] {
        for b in &x[FIRST..] {
            let height = direction.dot(*a - *b);
            least = S::select(least.greater(height), height, least);
        }
    }
    // Far above where squares lose digits.
    let squared = direction.norm_squared();
    S::select(squared.greater(S::from_f64(1e-30)), least / squared.sqrt(), S::ZERO)
}

/// A box along the axes.
#[derive(Clone, Copy)]
struct Span {
    low: f32x4,
    high: f32x4,
}

impl Span {
    const ALL: Self = Self { low: f32x4::new([f32::NEG_INFINITY; 4]), high: f32x4::new([f32::INFINITY; 4]) };

    #[inline]
    fn of(points: impl IntoIterator<Item = f32x4>) -> Self {
        let (mut low, mut high) = (f32x4::splat(f32::INFINITY), f32x4::splat(f32::NEG_INFINITY));
        for p in points {
            (low, high) = (low.fast_min(p), high.fast_max(p));
        }
        Self { low, high }
    }

    #[inline]
    fn inflated(self, by: f32) -> Self {
        Self { low: self.low - f32x4::splat(by), high: self.high + f32x4::splat(by) }
    }

    /// Whether they have a point in common.
    #[inline]
    fn overlaps(&self, o: &Self) -> bool {
        (self.low.simd_le(o.high) & o.low.simd_le(self.high)).to_bitmask() == 0b1111
    }
}

/// Boxes side by side, four to be compared at once.
struct Boxes<const N: usize> {
    low: [[f32; N]; 3],
    high: [[f32; N]; 3],
    /// Which of the patch's each is, in ascending order.
    items: [u8; N],
    count: usize,
}

impl<const N: usize> Boxes<N> {
    /// Of those items that overlap `near`.
    fn of<const K: usize>(items: &[[u8; K]], side: &Side<'_>, near: &Span, x: &Points) -> Self {
        // Empty boxes overlap nothing.
        let mut boxes =
            Self { low: [[f32::INFINITY; N]; 3], high: [[f32::NEG_INFINITY; N]; 3], items: [0; N], count: 0 };
        for (index, places) in items.iter().enumerate() {
            let span = Span::of(places.map(|place| x.at(side.vertices[place as usize])));
            if near.overlaps(&span) {
                let (low, high) = (span.low.to_array(), span.high.to_array());
                for axis in 0..3 {
                    (boxes.low[axis][boxes.count], boxes.high[axis][boxes.count]) = (low[axis], high[axis]);
                }
                boxes.items[boxes.count] = index as u8;
                boxes.count += 1;
            }
        }
        boxes
    }

    /// Calls `visit` with each item from `from` on whose box overlaps another.
    #[inline]
    fn for_each_overlap(&self, other: &Span, from: usize, mut visit: impl FnMut(usize)) {
        let splat = |numbers: f32x4| numbers.to_array().map(f32x4::splat);
        let (other_low, other_high) = (splat(other.low), splat(other.high));
        let low = self.low.each_ref().map(|row| row.as_chunks::<4>().0);
        let high = self.high.each_ref().map(|row| row.as_chunks::<4>().0);
        for chunk in from / 4..self.count.div_ceil(4) {
            let along = |axis: usize| {
                f32x4::new(low[axis][chunk]).simd_le(other_high[axis])
                    & other_low[axis].simd_le(f32x4::new(high[axis][chunk]))
            };
            let mut bits = (along(0) & along(1) & along(2)).to_bitmask();
            while bits != 0 {
                let index = 4 * chunk + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if index >= from {
                    visit(self.items[index] as usize);
                }
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
            points.set(&x);
            let size = points.0.iter().flat_map(|p| p.to_array()).fold(0.0, |size: f32, p| size.max(p.abs()));
            let gap = f64::from(points.gaps::<FIRST>([[0, 1, 2, 3]; 4])[2]);
            let distance = Closest::of::<FIRST>(x).distance;
            assert!(gap <= distance, "{gap} and {distance} of {x:?}");
            // The normal of what is collapsed is mostly rounding.
            if distance > 1e-2 * f64::from(size) && round % 8 != 2 && round % 8 != 3 {
                largest = largest.max((distance - gap) / distance);
            }
        }
        assert!(largest < 2e-3, "the bound is the distance, but for rounding: {largest}");
    }

    #[test]
    fn gaps_are_distances_and_never_too_long() {
        check::<1>();
        check::<2>();
    }
}
