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
//! # Rounding
//!
//! With ε the unit of single precision and s the largest coordinate, each is off by εs/2 after the conversion, differences by as much
//! again, and a bound by some 4ε of the differences, which are below 2√3 s. So distances are off by less than 16εs; twice that is taken
//! from the bounds and added to the radius. A direction is taken as exact, whatever it is, unless the square of its length is lost
//! below the range of numbers. What is not a number tells nothing apart. For v the same holds, with the largest component of u for s.

use wide::f32x4;

use super::bvh::{round_down, round_up};
use super::candidates::Candidates;
use super::drift::up;
use super::patches::{MEMBERS, PATCH, Patch, Patches};
use crate::math::{Lanes, Scalar, Vec3};

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
        self.vertex_triangle.clear();
        self.edge_edge.clear();
        self.least = f32::INFINITY;
        let is_self = self.patches[0] == self.patches[1];
        let mut p = Side::new(all, self.patches[0], x);
        // More than the conversion takes; finite, so that what is infinitely far (in single precision) has boxes too.
        let reach_of = |size: f32| ((radius * (1.0 + 1e-6)) as f32 + SLACK * size).min(f32::MAX);
        if is_self {
            self.collect(&p, &p, x, reach_of(p.size));
        } else {
            let mut q = Side::new(all, self.patches[1], x);
            let reach = reach_of(p.size.max(q.size));
            match Side::keep_near(&mut p, &mut q, reach) {
                None => self.collect(&p, &q, x, reach),
                // Then the list is empty farther than it was asked for.
                Some(apart) => self.radius = radius.max(f64::from(apart)),
            }
        }
    }

    /// Takes the pairs of two patches that are near each other.
    fn collect(&mut self, p: &Side<'_>, q: &Side<'_>, x: &Points, reach: f32) {
        let is_self = self.patches[0] == self.patches[1];
        let mut found = Found::<1>::new(&mut self.vertex_triangle, x, reach);
        found.add_faces(p, q);
        if !is_self {
            found.add_faces(q, p);
        }
        found.flush();
        let mut found = Found::<2>::new(&mut self.edge_edge, x, reach);
        found.add_edges(p, q, is_self);
        found.flush();
        self.least = f32::min(self.vertex_triangle.least(), self.edge_edge.least());
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
        let near = Near { used: self.used, nearer, distance: round_up(distance), by_own };
        let faces = self.vertex_triangle.take_active::<1>(x, &near, &mut active.vertex_triangle);
        let edges = self.edge_edge.take_active::<2>(x, &near, &mut active.edge_edge);
        self.least = f32::min(faces, edges);
    }
}

/// What is asked of the pairs of a list.
struct Near {
    /// Σρ before the step, in m.
    used: f64,
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
        let (mut waiting, mut count) = ([0; 4], 0);
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
                if count == 4 {
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

    #[inline]
    fn measure<const FIRST: usize>(
        &mut self,
        x: &Points,
        near: &Near,
        waiting: [usize; 4],
        count: usize,
        active: &mut Vec<[u32; 4]>,
    ) -> f32 {
        let [i, j, k, l] = waiting;
        let pairs = [self.pairs[i], self.pairs[j], self.pairs[k], self.pairs[l]];
        let gaps = x.gaps::<FIRST>(&pairs);
        let is_apart = if near.by_own {
            let left = gaps - x.own_approaches::<FIRST>(&pairs);
            left.greater(Lanes::new([near.distance; 4])).to_bitmask()
        } else {
            0
        };
        let mut least = f32::INFINITY;
        for (lane, gap) in gaps.to_array().into_iter().enumerate().take(count) {
            let until = round_down(near.used + f64::from(gap));
            self.until[waiting[lane]] = until;
            least = least.min(until);
            if until <= near.nearer && is_apart & (1 << lane) == 0 {
                active.push(pairs[lane]);
            }
        }
        least
    }
}

/// Pairs as they are found.
struct Found<'a, const FIRST: usize> {
    list: &'a mut List,
    x: &'a Points,
    /// How near a pair has to be, in m.
    reach: f32,
    waiting: [[u32; 4]; 4],
    count: usize,
}

impl<'a, const FIRST: usize> Found<'a, FIRST> {
    fn new(list: &'a mut List, x: &'a Points, reach: f32) -> Self {
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
        let gaps = self.x.gaps::<FIRST>(&self.waiting);
        if gaps.greater(Lanes::new([self.reach; 4])).to_bitmask() != 0b1111 {
            for (pair, gap) in self.waiting.into_iter().zip(gaps.to_array()).take(self.count) {
                if gap <= self.reach {
                    self.list.pairs.push(pair);
                    self.list.until.push(gap);
                }
            }
        }
        self.count = 0;
    }
}

impl Found<'_, 1> {
    /// Vertices of the first, triangles of the second.
    fn add_faces(&mut self, first: &Side<'_>, second: &Side<'_>) {
        let triangles = &second.all.triangles[second.patch.triangles.clone()];
        let boxes = Boxes::<PATCH>::of(triangles, second);
        if boxes.count == 0 {
            return;
        }
        for &place in &first.all.vertices[first.patch.vertices.clone()] {
            if first.is_far(place) {
                continue;
            }
            let own = Span::of([first.at(place)]);
            if first.near.overlaps(&own) {
                let v = first.vertices[place as usize];
                boxes.for_each_overlap(&own.inflated(self.reach), 0, |index| {
                    let [a, b, c] = triangles[index];
                    let [a, b, c] = [second.vertex(a), second.vertex(b), second.vertex(c)];
                    if v != a && v != b && v != c {
                        self.push([v, a, b, c]);
                    }
                });
            }
        }
    }
}

impl Found<'_, 2> {
    fn add_edges(&mut self, first: &Side<'_>, second: &Side<'_>, is_self: bool) {
        let edges = &second.all.edges[second.patch.edges.clone()];
        let boxes = Boxes::<MEMBERS>::of(edges, second);
        if boxes.count == 0 {
            return;
        }
        for (i, &[a, b]) in first.all.edges[first.patch.edges.clone()].iter().enumerate() {
            if first.is_far(a) & first.is_far(b) {
                continue;
            }
            let own = Span::of([first.at(a), first.at(b)]);
            if first.near.overlaps(&own) {
                let [a, b] = [first.vertex(a), first.vertex(b)];
                boxes.for_each_overlap(&own.inflated(self.reach), if is_self { i + 1 } else { 0 }, |index| {
                    let [c, d] = edges[index];
                    let [c, d] = [second.vertex(c), second.vertex(d)];
                    if a != c && a != d && b != c && b != d {
                        self.push([a, b, c, d]);
                    }
                });
            }
        }
    }
}

/// A power of two from [`MEMBERS`] on: an index taken modulo this needs no check.
const PLACES: usize = MEMBERS.next_power_of_two();

/// A patch and where it is.
struct Side<'a> {
    all: &'a Patches,
    patch: &'a Patch,
    vertices: &'a [u32],
    points: [f32x4; PLACES],
    /// Vertices that are too far from the other patch along the line of the centres.
    is_far: [bool; PLACES],
    /// Around the other patch and what is within reach of it.
    near: Span,
    span: Span,
    /// The largest coordinate.
    size: f32,
}

impl<'a> Side<'a> {
    /// With everything near.
    fn new(all: &'a Patches, patch: u32, x: &Points) -> Self {
        let vertices = all.members_of(patch);
        let mut points = [f32x4::ZERO; PLACES];
        for (point, &v) in points.iter_mut().zip(vertices) {
            *point = x.at(v);
        }
        let span = Span::of(points.iter().copied().take(vertices.len()));
        let size = span.low.abs().max(span.high.abs()).to_array();
        Self {
            all,
            patch: &all.patches[patch as usize],
            vertices,
            points,
            is_far: [false; PLACES],
            near: Span::ALL,
            span,
            size: size[0].max(size[1]).max(size[2]),
        }
    }

    #[inline]
    fn at(&self, place: u8) -> f32x4 {
        self.points[place as usize % PLACES]
    }

    #[inline]
    fn is_far(&self, place: u8) -> bool {
        self.is_far[place as usize % PLACES]
    }

    #[inline]
    fn vertex(&self, place: u8) -> u32 {
        self.vertices[place as usize]
    }

    /// Finds out which vertices of two patches are far from the other one; if all are, how far the patches are apart at least, in m.
    ///
    /// Boxes along the axes tell two patches badly apart that lie side by side across them. Along n, the line of their centres, all of
    /// q is above its lowest vertex: what of p is farther below than the reach has no pair, and the other way round.
    fn keep_near(p: &mut Self, q: &mut Self, reach: f32) -> Option<f32> {
        (p.near, q.near) = (q.span.inflated(reach), p.span.inflated(reach));
        let n = q.centre() - p.centre();
        // Heights and the length of n are rounded by some units of the largest coordinate: as for gaps.
        let (length, slack) = ((n * n).reduce_add().sqrt() * (1.0 + 1e-5), SLACK * p.size.max(q.size));
        let beyond = (reach + slack) * length;
        let (of_p, of_q) = (p.heights(n), q.heights(n));
        let (of_p, of_q) = (&of_p[..p.vertices.len()], &of_q[..q.vertices.len()]);
        let least = of_q.iter().copied().fold(f32::INFINITY, f32::min);
        let greatest = of_p.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if least - greatest > beyond {
            return Some((least - greatest) / length - slack).filter(|apart| apart.is_finite());
        }
        // What is not a number is near.
        p.is_far.iter_mut().zip(of_p).for_each(|(is_far, height)| *is_far = *height < least - beyond);
        q.is_far.iter_mut().zip(of_q).for_each(|(is_far, height)| *is_far = *height > greatest + beyond);
        None
    }

    fn centre(&self) -> f32x4 {
        let sum = self.points[..self.vertices.len()].iter().fold(f32x4::ZERO, |sum, x| sum + *x);
        sum * f32x4::splat(1.0 / self.vertices.len().max(1) as f32)
    }

    /// n·x of all vertices.
    fn heights(&self, n: f32x4) -> [f32; PLACES] {
        let [x, y, z, _] = n.to_array().map(f32x4::splat);
        let mut heights = [0.0; PLACES];
        let used = self.vertices.len().div_ceil(4);
        for (heights, points) in
            heights.as_chunks_mut::<4>().0.iter_mut().zip(self.points.as_chunks::<4>().0).take(used)
        {
            let [p, q, r, _] = f32x4::transpose(*points);
            *heights = (p * x + q * y + r * z).to_array();
        }
        heights
    }
}

/// What rounding may do to a distance, in largest coordinates.
const SLACK: f32 = 32.0 * f32::EPSILON;

/// Positions in single precision, from a place near by, and how they move.
#[derive(Debug, Default)]
pub(super) struct Points {
    places: Vec<f32x4>,
    moves: Vec<f32x4>,
}

impl Points {
    /// Makes room for so many.
    pub(super) fn resize(&mut self, count: usize) {
        self.places.resize(count, f32x4::ZERO);
        self.moves.resize(count, f32x4::ZERO);
    }

    /// A place near by: some of the vertices are enough.
    pub(super) fn origin(&self, x: &[Vec3<f64>]) -> Vec3<f64> {
        const STRIDE: usize = 32;
        let sum = x.iter().step_by(STRIDE).fold(Vec3::ZERO, |sum, x| sum + *x);
        sum * (1.0 / x.len().div_ceil(STRIDE).max(1) as f64)
    }

    /// In runs of so many.
    pub(super) fn chunks_mut(&mut self, length: usize) -> impl Iterator<Item = PointsMut<'_>> {
        let runs = self.places.chunks_mut(length).zip(self.moves.chunks_mut(length));
        runs.map(|(places, moves)| PointsMut { places, moves })
    }

    #[inline]
    fn at(&self, vertex: u32) -> f32x4 {
        self.places[vertex as usize]
    }

    /// Bounds of the distances of four pairs, in m.
    #[inline]
    fn gaps<const FIRST: usize>(&self, pairs: &[[u32; 4]; 4]) -> Lanes {
        let x = corners(&self.places, pairs);
        let gaps = gap::<FIRST, _>(x);
        let left = gaps - largest(&x) * Lanes::new([SLACK; 4]);
        // Also where there is no number.
        Lanes::select(left.greater(Lanes::ZERO), left, Lanes::ZERO)
    }

    /// How far points of four pairs come together in the step at most, in m: no farther than two of their vertices move against each other.
    #[inline]
    fn own_approaches<const FIRST: usize>(&self, pairs: &[[u32; 4]; 4]) -> Lanes {
        let u = corners(&self.moves, pairs);
        let mut squared = Lanes::ZERO;
        for a in &u[..FIRST] {
            for b in &u[FIRST..] {
                let other = (*a - *b).norm_squared();
                // What is not a number has to stay.
                squared = Lanes::select(squared.greater(other), squared, other);
            }
        }
        // Far more than the rounding of differences, and of what is lost below the range of numbers.
        squared.sqrt() * Lanes::new([1.0 + 1e-5; 4]) + largest(&u) * Lanes::new([SLACK; 4]) + Lanes::new([1e-18; 4])
    }
}

/// Some of the [`Points`].
pub(super) struct PointsMut<'a> {
    places: &'a mut [f32x4],
    moves: &'a mut [f32x4],
}

impl PointsMut<'_> {
    /// Takes over the first positions of a step, seen from `origin`; where it `is_same`, only where it leads.
    pub(super) fn set(self, origin: Vec3<f64>, start: &[Vec3<f64>], end: &[Vec3<f64>], is_same: bool) {
        if !is_same {
            self.places.iter_mut().zip(start).for_each(|(place, x)| *place = narrow(*x - origin));
        }
        self.moves.iter_mut().zip(start.iter().zip(end)).for_each(|(u, (x, y))| *u = narrow(*y - *x));
    }
}

/// In single precision.
fn narrow(x: Vec3<f64>) -> f32x4 {
    f32x4::new([x.x as f32, x.y as f32, x.z as f32, 0.0])
}

/// The vertices of four pairs, side by side.
#[inline(always)]
fn corners(all: &[f32x4], pairs: &[[u32; 4]; 4]) -> [Vec3<Lanes>; 4] {
    let corner = |k: usize| {
        let at = |lane: usize| all[pairs[lane][k] as usize];
        let [x, y, z, _] = f32x4::transpose([at(0), at(1), at(2), at(3)]);
        Vec3 { x: x.into(), y: y.into(), z: z.into() }
    };
    [corner(0), corner(1), corner(2), corner(3)]
}

/// The largest coordinates of four pairs.
#[inline(always)]
fn largest(x: &[Vec3<Lanes>; 4]) -> Lanes {
    let of = |v: &Vec3<Lanes>| {
        let [x, y, z] = [f32x4::from(v.x), v.y.into(), v.z.into()];
        x.abs().fast_max(y.abs()).fast_max(z.abs())
    };
    of(&x[0]).fast_max(of(&x[1])).fast_max(of(&x[2]).fast_max(of(&x[3]))).into()
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
    /// Of those items that are near the other patch.
    fn of<const K: usize>(items: &[[u8; K]], side: &Side<'_>) -> Self {
        // Empty boxes overlap nothing.
        let mut boxes =
            Self { low: [[f32::INFINITY; N]; 3], high: [[f32::NEG_INFINITY; N]; 3], items: [0; N], count: 0 };
        for (index, places) in items.iter().enumerate() {
            if places.iter().fold(true, |all, &place| all & side.is_far(place)) {
                continue;
            }
            let span = Span::of(places.iter().map(|&place| side.at(place)));
            if side.near.overlaps(&span) {
                let (low, high, at) = (span.low.to_array(), span.high.to_array(), boxes.count);
                for axis in 0..3 {
                    (boxes.low[axis][at], boxes.high[axis][at]) = (low[axis], high[axis]);
                }
                boxes.items[at] = index as u8;
                boxes.count += 1;
            }
        }
        boxes
    }

    /// Calls `visit` with each item from `from` on whose box overlaps another.
    #[inline]
    fn for_each_overlap(&self, other: &Span, from: usize, mut visit: impl FnMut(usize)) {
        let (low, high) = (other.low.to_array(), other.high.to_array());
        let (other_low, other_high) =
            ([splat(low[0]), splat(low[1]), splat(low[2])], [splat(high[0]), splat(high[1]), splat(high[2])]);
        let low = [self.low[0].as_chunks::<4>().0, self.low[1].as_chunks::<4>().0, self.low[2].as_chunks::<4>().0];
        let high = [self.high[0].as_chunks::<4>().0, self.high[1].as_chunks::<4>().0, self.high[2].as_chunks::<4>().0];
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

#[inline(always)]
fn splat(number: f32) -> f32x4 {
    f32x4::splat(number)
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
