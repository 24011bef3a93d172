//! Distance bound: how far apart a pair is at least, in single precision.
//!
//! The least distance along any direction n is a bound of the distance:
//!
//! ```text
//! ‖a − b‖ ≥ n·(a − b)/‖n‖ ≥ min over the vertices of n·(aᵢ − bⱼ)/‖n‖
//! ```
//!
//! n leads from the one of the closest points to the other, as in [`closest_points`](crate::contact::geometry::closest_points): then both sides are equal, but for the
//! rounding of n, which does no harm.
//!
//! # Rounding
//!
//! With ε the unit of single precision and s the largest coordinate, each is off by εs/2 after the conversion, differences by as much
//! again, and a bound by some 4ε of the differences, which are below 2√3 s. So distances are off by less than 16εs; twice that is taken
//! from the bounds. A direction is taken as exact, whatever it is, unless the square of its length is lost
//! below the range of numbers. What is not a number tells nothing apart. For motions the same holds, with their largest component for s.
//!
//! # Width
//!
//! Pairs are measured [`SIDE`] at a time, in registers of four or eight numbers. A lane has the bits of a lone number, so the width decides nothing.

use wide::f32x4;

#[cfg(target_arch = "x86_64")]
use crate::math::F32x8;
use crate::math::{F32x4, Register, Scalar, Vec3, inlined};
use crate::parallel::{Avx2, Team};

/// Pairs that are measured at once.
pub(crate) const SIDE: usize = 8;

/// What rounding may do to a distance, in largest coordinates.
pub(crate) const SLACK: f32 = 32.0 * f32::EPSILON;

/// Positions in single precision, from a place near by, and how they move.
#[derive(Debug, Default)]
pub(crate) struct Points {
    /// Seen from the origin; the last number is zero.
    places: Vec<f32x4>,
    /// The last number is at least the square of how far from where it was to go a vertex is now, in m².
    moves: Vec<f32x4>,
    origin: Vec3<f64>,
    /// What places seen from the last origin are to be moved by, in m.
    shift: Vec3<f32>,
    /// Where registers of eight numbers are to be used.
    avx2: Option<Avx2>,
}

/// Work for registers of any width.
pub(crate) trait Work {
    type Outcome;
    /// What to do; inlined, all of it, or it is slow.
    fn run<S: Register>(self) -> Self::Outcome;
}

impl Points {
    /// Makes room for so many, for the registers that a team may use.
    pub(crate) fn resize(&mut self, count: usize, team: &Team) {
        self.places.resize(count, f32x4::ZERO);
        self.moves.resize(count, f32x4::ZERO);
        self.avx2 = team.avx2();
    }

    /// Of vertices that do not move.
    pub(crate) fn at_rest(x: &[Vec3<f64>], team: &Team) -> Self {
        let mut points = Self { avx2: team.avx2(), ..Self::default() };
        let origin = points.move_origin(x);
        points.places.extend(x.iter().map(|x| narrow(*x - origin, 0.0)));
        points
    }

    /// Those of a step by itself.
    #[cfg(test)]
    pub(crate) fn of(start: &[Vec3<f64>], end: &[Vec3<f64>], team: &Team) -> Self {
        let mut points = Self::default();
        points.resize(start.len(), team);
        let origin = points.move_origin(start);
        points.chunks_mut(start.len()).for_each(|points| points.set(origin, (start, end), start, false));
        points
    }

    /// Takes a place near by as the origin: some of the vertices are enough.
    pub(crate) fn move_origin(&mut self, x: &[Vec3<f64>]) -> Vec3<f64> {
        const STRIDE: usize = 32;
        let sum = x.iter().step_by(STRIDE).fold(Vec3::ZERO, |sum, x| sum + *x);
        let origin = sum * (1.0 / x.len().div_ceil(STRIDE).max(1) as f64);
        self.shift = (self.origin - origin).cast();
        self.origin = origin;
        origin
    }

    pub(crate) fn origin(&self) -> Vec3<f64> {
        self.origin
    }

    /// Whether the places are these.
    pub(crate) fn are_at(&self, x: &[Vec3<f64>]) -> bool {
        self.places.iter().zip(x).all(|(place, x)| *place == narrow(*x - self.origin, 0.0))
    }

    /// What places seen from the origin before the last are to be moved by, in m, about.
    pub(crate) fn shift(&self) -> Vec3<f32> {
        self.shift
    }

    /// In runs of so many.
    pub(crate) fn chunks_mut(&mut self, length: usize) -> impl Iterator<Item = PointsMut<'_>> {
        let runs = self.places.chunks_mut(length).zip(self.moves.chunks_mut(length));
        runs.map(|(places, moves)| PointsMut { places, moves })
    }

    #[inline(always)]
    pub(crate) fn at(&self, vertex: u32) -> f32x4 {
        self.places[vertex as usize]
    }

    /// How a vertex moves; the last number is of its straying.
    #[inline(always)]
    pub(crate) fn motion(&self, vertex: u32) -> f32x4 {
        self.moves[vertex as usize]
    }

    /// Does some work in the widest registers.
    #[inline]
    pub(crate) fn run<W: Work>(&self, work: W) -> W::Outcome {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.avx2 {
            return avx2.run(
                #[inline(always)]
                || work.run::<F32x8>(),
            );
        }
        let _ = self.avx2;
        work.run::<F32x4>()
    }

    /// Measures some pairs, of gaps that count for so much more than they are, in m.
    #[inline]
    pub(crate) fn measure<const FIRST: usize>(
        &self,
        pairs: &[[u32; 4]; SIDE],
        leaves: &[f32; SIDE],
        near: &Near,
    ) -> Measured {
        self.run(Measure::<FIRST> { x: self, pairs, leaves, near })
    }
}

/// What is asked of the pairs of a list.
pub(crate) struct Near {
    /// Σρ before the step, or less, in m.
    pub(crate) used: f32,
    /// Σρ after it, or less, in m; none if it does not matter how little the vertices of a pair move against each other.
    pub(crate) after: Option<f32>,
    /// Pairs that are apart beyond this Σρ do not matter, in m.
    pub(crate) nearer: f32,
    /// How near a pair has to come, in m.
    pub(crate) distance: f32,
}

/// What there is to say of some pairs.
pub(crate) struct Measured {
    /// The Σρ below which each is apart, in m.
    pub(crate) until: [f32; SIDE],
    /// A bit for each that has to be looked at.
    pub(crate) is_active: u32,
}

struct Measure<'a, const FIRST: usize> {
    x: &'a Points,
    pairs: &'a [[u32; 4]; SIDE],
    leaves: &'a [f32; SIDE],
    near: &'a Near,
}

impl<const FIRST: usize> Work for Measure<'_, FIRST> {
    type Outcome = Measured;

    #[inline(always)]
    fn run<S: Register>(self) -> Measured {
        let Self { x, pairs, leaves, near } = self;
        let number = inlined(
            #[inline(always)]
            |number: f32| S::from_f64(f64::from(number)),
        );
        // Less than a sum of two numbers that are not negative, whatever its rounding.
        let less = number(1.0 - 4.0 * f32::EPSILON);
        let mut measured = Measured { until: [0.0; SIDE], is_active: 0 };
        for from in (0..SIDE).step_by(S::LANES) {
            let gaps = least_distance::<FIRST, S>(&corners::<S>(&x.places, &pairs[from..]));
            let gaps = with_leave(gaps, S::load(&leaves[from..]));
            let mut until = (gaps + number(near.used)) * less;
            let mut is_out = until.greater(number(near.nearer));
            if let Some(after) = near.after {
                let left = gaps - own_approach::<FIRST, S>(&corners::<S>(&x.moves, &pairs[from..]));
                is_out = S::either(is_out, left.greater(number(near.distance)));
                let later = (left + number(after)) * less;
                // Not where nothing is left, or what is left is not a number.
                until = S::select(left.greater(S::ZERO), greater_of(later, until), until);
            }
            until.store(&mut measured.until[from..]);
            measured.is_active |= (!S::bits(is_out) & ((1 << S::LANES) - 1)) << from;
        }
        measured
    }
}

/// What a gap counts for that may be narrower by so much: never more, whatever the rounding.
#[inline(always)]
pub(crate) fn with_leave<S: Scalar>(gap: S, leave: S) -> S {
    let sum = (gap + leave) * S::from_f64(1.0 - f64::from(4.0 * f32::EPSILON));
    S::select(leave.greater(S::ZERO), sum, gap)
}

/// A bound of the distances of some pairs, in m.
#[inline(always)]
pub(crate) fn least_distance<const FIRST: usize, S: Register>(x: &[Vec3<S>; 4]) -> S {
    let left = gap::<FIRST, _>(*x) - largest(x) * S::from_f64(f64::from(SLACK));
    // Also where there is no number.
    S::select(left.greater(S::ZERO), left, S::ZERO)
}

/// How far points of some pairs come together in the step at most, in m: no farther than two of their vertices move against each other.
#[inline(always)]
fn own_approach<const FIRST: usize, S: Register>(u: &[Vec3<S>; 4]) -> S {
    let mut squared = S::ZERO;
    for a in &u[..FIRST] {
        for b in &u[FIRST..] {
            squared = greater_of(squared, (*a - *b).norm_squared());
        }
    }
    // Far more than the rounding of differences, and of what is lost below the range of numbers. Where a square is no number, the
    // largest component is infinite.
    squared.sqrt() * S::from_f64(1.0 + 1e-5) + largest(u) * S::from_f64(f64::from(SLACK)) + S::from_f64(1e-18)
}

/// Some of the [`Points`].
pub(crate) struct PointsMut<'a> {
    places: &'a mut [f32x4],
    moves: &'a mut [f32x4],
}

impl PointsMut<'_> {
    /// Takes over the first positions of a step, seen from `origin`, for vertices that were to go to `wanted`; where it `is_same`, only where it
    /// leads.
    pub(crate) fn set(
        self,
        origin: Vec3<f64>,
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        wanted: &[Vec3<f64>],
        is_same: bool,
    ) {
        if !is_same {
            self.places.iter_mut().zip(start).for_each(|(place, x)| *place = narrow(*x - origin, 0.0));
        }
        for ((u, wanted), (x, y)) in self.moves.iter_mut().zip(wanted).zip(start.iter().zip(end)) {
            let strayed = (*x - *wanted).norm_squared();
            // More than the conversion takes, and than is lost below the range of numbers.
            *u = narrow(*y - *x, (strayed * (1.0 + 1e-6)) as f32 + 1e-36);
        }
    }
}

/// In single precision.
#[inline(always)]
fn narrow(x: Vec3<f64>, last: f32) -> f32x4 {
    f32x4::new([x.x as f32, x.y as f32, x.z as f32, last])
}

/// The greater of two; the second if one is not a number.
#[inline(always)]
pub(crate) fn greater_of<S: Scalar>(one: S, other: S) -> S {
    S::select(one.greater(other), one, other)
}

/// The lesser of two; the first if one is not a number.
#[inline(always)]
pub(crate) fn lesser_of<S: Scalar>(one: S, other: S) -> S {
    S::select(one.greater(other), other, one)
}

/// The vertices of as many pairs as there are lanes, side by side.
#[inline(always)]
fn corners<S: Register>(all: &[f32x4], pairs: &[[u32; 4]]) -> [Vec3<S>; 4] {
    let mut corners = [Vec3::ZERO; 4];
    for (k, corner) in corners.iter_mut().enumerate() {
        let [x, y, z, _] = S::columns(
            #[inline(always)]
            |lane| all[pairs[lane][k] as usize].into(),
        );
        *corner = Vec3 { x, y, z };
    }
    corners
}

/// The largest coordinates of some pairs.
#[inline(always)]
fn largest<S: Register>(x: &[Vec3<S>; 4]) -> S {
    let mut all = S::ZERO;
    for v in x {
        all = greater_of(all, greater_of(v.x.magnitude(), greater_of(v.y.magnitude(), v.z.magnitude())));
    }
    all
}

/// From a side to a point.
#[inline(always)]
fn from_side<S: Scalar>(p: Vec3<S>, from: Vec3<S>, side: Vec3<S>) -> Vec3<S> {
    let arm = p - from;
    let t = arm.dot(side) / side.norm_squared();
    // Also where the side has no length, and t is not a number.
    let t = S::select(t.greater(S::ZERO), S::select(t.greater(S::ONE), S::ONE, t), S::ZERO);
    arm - side * t
}

/// The shorter of two.
#[inline(always)]
fn shorter<S: Scalar>(one: Vec3<S>, other: Vec3<S>) -> Vec3<S> {
    Vec3::select(one.norm_squared().greater(other.norm_squared()), other, one)
}

/// How far the first `FIRST` of four vertices are from the others along the direction of the closest points, with rounding.
#[inline(always)]
fn gap<const FIRST: usize, S: Scalar>(x: [Vec3<S>; 4]) -> S {
    let [a, b, c, d] = x;
    let (side, other_side, arm) = if FIRST == 1 { (c - b, d - b, a - b) } else { (b - a, d - c, a - c) };
    let n = side.cross(other_side);
    let nn = n.norm_squared();
    // Where on the two sides the foot of the perpendicular is, times n².
    let (s, t, rest) = if FIRST == 1 {
        let (s, t) = (arm.cross(other_side).dot(n), side.cross(arm).dot(n));
        (s, t, nn - s - t)
    } else {
        let (s, t) = (other_side.cross(arm).dot(n), side.cross(arm).dot(n));
        (s, t, lesser_of(nn - s, nn - t))
    };
    let outside = if FIRST == 1 {
        shorter(shorter(from_side(a, b, side), from_side(a, b, other_side)), from_side(a, c, d - c))
    } else {
        let of_first = shorter(from_side(a, c, other_side), from_side(b, c, other_side));
        let of_second = shorter(from_side(c, a, side), from_side(d, a, side));
        shorter(of_first, -of_second)
    };
    let inside = Vec3::select(n.dot(arm).greater(S::ZERO), n, -n);
    let mut direction = Vec3::select(rest.greater(S::ZERO), inside, outside);
    direction = Vec3::select(t.greater(S::ZERO), direction, outside);
    direction = Vec3::select(s.greater(S::ZERO), direction, outside);
    let mut least = direction.dot(x[0] - x[3]);
    for a in &x[..FIRST] {
        for b in &x[FIRST..] {
            least = lesser_of(least, direction.dot(*a - *b));
        }
    }
    // Far above where squares lose digits.
    let squared = direction.norm_squared();
    S::select(squared.greater(S::from_f64(1e-30)), least / squared.sqrt(), S::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Closest;
    use crate::energy::conformance::Random;

    struct Gaps<'a, const FIRST: usize> {
        places: &'a [f32x4],
        pairs: &'a [[u32; 4]; SIDE],
    }

    impl<const FIRST: usize> Work for Gaps<'_, FIRST> {
        type Outcome = [f32; SIDE];

        #[inline(always)]
        fn run<S: Register>(self) -> [f32; SIDE] {
            let mut all = [0.0; SIDE];
            for from in (0..SIDE).step_by(S::LANES) {
                least_distance::<FIRST, S>(&corners::<S>(self.places, &self.pairs[from..])).store(&mut all[from..]);
            }
            all
        }
    }

    /// Bounds of the distances of some pairs, in m.
    fn gaps_of<const FIRST: usize>(points: &Points, pairs: &[[u32; 4]; SIDE]) -> [f32; SIDE] {
        points.run(Gaps::<FIRST> { places: &points.places, pairs })
    }

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

    fn check<const FIRST: usize>(team: &Team) {
        let mut largest: f64 = 0.0;
        for (round, x) in pairs().into_iter().enumerate() {
            let points = Points::of(&x, &x, team);
            let size = points.places.iter().flat_map(|p| p.to_array()).fold(0.0, |size: f32, p| size.max(p.abs()));
            let gap = f64::from(gaps_of::<FIRST>(&points, &[[0, 1, 2, 3]; SIDE])[2]);
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
    fn check_moving<const FIRST: usize>(team: &Team) {
        let (mut random, mut apart) = (Random::new(11), 0);
        for (round, x) in pairs().into_iter().enumerate() {
            let (motion_bound, stir) = (random.vector() * 3.0, [1e-3, 0.1, 1.0][round % 3]);
            let y = x.map(|x| x + motion_bound + random.vector() * stir);
            let points = Points::of(&x, &y, team);
            let pairs = [[0, 1, 2, 3]; SIDE];
            let gap = gaps_of::<FIRST>(&points, &pairs)[1];
            let left = gap - own_approach::<FIRST, F32x4>(&corners(&points.moves, &pairs)).to_array()[1];
            // With Σρ at 0 before the step and 1 after it: never more than is promised, and not much less.
            let near = Near { used: 0.0, after: Some(1.0), nearer: f32::INFINITY, distance: f32::INFINITY };
            let measured = points.measure::<FIRST>(&pairs, &[0.0; SIDE], &near);
            assert_eq!((measured.is_active, measured.until), (0xff, [measured.until[0]; SIDE]));
            let (until, left) = (f64::from(measured.until[1]), f64::from(left));
            let promised = if left > 0.0 { f64::from(gap).max(1.0 + left) } else { f64::from(gap) };
            assert!(until <= promised && until >= promised * (1.0 - 2e-6), "{until} and {promised}");
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
        for team in [Team::solo(), Team::solo().narrow()] {
            check_moving::<1>(&team);
            check_moving::<2>(&team);
        }
    }

    /// A width must decide nothing.
    #[test]
    fn both_widths_have_the_same_bits() {
        for (x, y) in pairs().into_iter().zip(pairs().into_iter().skip(1)).take(4000) {
            let near = Near { used: 0.01, after: Some(0.02), nearer: 0.5, distance: 0.1 };
            let of = |team: &Team| {
                let points = Points::of(&x, &x.map(|x| x + (y[0] - x) * 1e-2), team);
                let pairs = std::array::from_fn(|k| [[0, 1, 2, 3], [3, 1, 0, 2], [2, 0, 3, 1], [1, 2, 3, 0]][k % 4]);
                let (faces, edges) = (
                    points.measure::<1>(&pairs, &[0.0; SIDE], &near),
                    points.measure::<2>(&pairs, &[0.0; SIDE], &near),
                );
                [(faces.until.map(f32::to_bits), faces.is_active), (edges.until.map(f32::to_bits), edges.is_active)]
            };
            assert_eq!(of(&Team::solo()), of(&Team::solo().narrow()), "{x:?}");
        }
    }

    #[test]
    fn gaps_are_distances_and_never_too_long() {
        for team in [Team::solo(), Team::solo().narrow()] {
            check::<1>(&team);
            check::<2>(&team);
        }
    }
}
