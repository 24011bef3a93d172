//! Certificate of a step: separating planes prove that nothing passes through anything; a step without proof is truncated.
//!
//! # The certificate
//!
//! A pair is two primitives without a common vertex, a vertex and a triangle or two edges, with vertices A and B. Over a
//! step every vertex moves along a straight line at constant speed, a to a' and b to b'. Let n be any direction with
//!
//! ```text
//!     n·(a − b) > 0   and   n·(a' − b') > 0   for all a in A and b in B          (1)
//! ```
//!
//! Both are the ends of a linear function of time, so n·(a − b) > 0 at every time between: a plane across n separates
//! A from B and their convex hulls all along. **The pair never touches.** No root of a cubic is looked for, and no time
//! of impact: what (1) does not certify counts as a hit.
//!
//! If [`Candidates`] hold every pair that may come to touch in the step, as those of [`BroadPhase`](crate::contact::BroadPhase) do, (1) for these
//! certifies the step ([`certify`]).
//!
//! # Pairs exclude intersections
//!
//! Let no pair touch at any time, and no two triangles S, T have more in common at the beginning than common vertices
//! and edges. Then the same is true at every time.
//!
//! *Nothing in common.* The distance of disjoint triangles is that of one of their 6 pairs of vertex and triangle or 9 of
//! edges. At the first time when S and T touched, one of these would have distances going to 0 and so touch by then.
//!
//! *A common vertex*, S = vab and T = vcd. The distance of the edge ab and T, while disjoint, is that of a pair (a or b and
//! T, ab and an edge of T), all without common vertex; so, by the same argument, ab and T stay disjoint, and so do cd
//! and S. If S and T had a point q ≠ v in common, the ray from v through q would leave S through ab or T through cd,
//! whichever is first, in a point that is still in the other. (v is in T and so not on ab: the ray does leave through ab.)
//!
//! *A common edge*, S = vwa and T = vwb. If they have a point off the line vw in common, they lie in one plane, on the same
//! side of vw. Compare the angles of a and b at v and at w. Both larger for a: b is in S. Both smaller: a is in T. Else va
//! crosses wb or wa crosses vb. With equal angles one of these touches at its end; collapsed triangles have a in T or b in
//! S. Each is a pair without a common vertex, and does not touch.
//!
//! # Truncation
//!
//! A step that is not certified is cut back. The direction of a pair is that of its closest points at the beginning; along
//! it they are g > 0 apart. A pair that violates (1) gets a *static plane* across n, in the gap, dividing it in proportion
//! to how far each side wants to come; each movable vertex beyond its side is put back onto it along n, so that what it does
//! along the plane is kept.
//!
//! A plane concerns each vertex by itself, and the beginning of the step satisfies all
//! planes. So after some passes of projection, a vertex that still violates one goes back along its path until it does
//! not. Vertices that were moved may violate other pairs; these get planes, and so on. It ends: pairs are finite, and the
//! step back to the beginning is free. (It is made, bit for bit, by whoever has not found a place after some rounds.)
//!
//! A part of the gap is kept, so that no sequence of steps brings it to zero.
//!
//! *Kinematic* vertices, which are not movable, go where they go. A plane stands beyond where they end, and then staying is not
//! always enough: free vertices are pushed out along n. Those pushed lead others in turn. If that does not end, or the free
//! side has nowhere to go, the step is refused, with the pair: [`Breach`].
//!
//! # Rounding
//!
//! Let u = 2⁻⁵³. In (1), n is an f64 vector taken as exact (it need not be a unit vector, or good). With d = a − b rounded
//! componentwise, each of the three terms of n·d is off by a factor of at most (1 + u)², and the two sums by (1 + u)² again,
//! together less than 4.01u P with P = Σ|nₖ dₖ|, and by 2⁻¹⁰⁷⁴ for each product that underflows. [`gap_along`] takes away
//! 8u P and the least normal number: this is more, including the rounding of P and of the subtraction itself. So what it
//! calls positive is positive.
//!
//! Only differences come in: large coordinates do no harm beyond their own spacing, and a pair of
//! size L is told apart down to some 10⁻¹⁵ L. Comparing along an axis needs no bound: minima and maxima are exact, and the sign of
//! a rounded difference is that of the exact one.
//!
//! A solver may have to round what it is given (to displacements in f32, say). If it moves no vertex by more than `margin`
//! doing so, and leaves those that did not move where they were, the step is still certified: pairs end 2·margin apart
//! or have not moved.

pub(crate) mod truncation;

use crate::contact::geometry::axis_gaps::axis_gaps;
use crate::contact::geometry::closest_points::Closest;
use crate::contact::pair::{Candidates, Pair, pair_of};
use crate::math::Vec3;

/// Why a step cannot be certified.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub enum Breach {
    /// They cannot be told apart at the beginning.
    #[error("{0} touch at the beginning of the step")]
    Touching(Pair),
    /// They are not certainly apart over the whole step; all that may be done about it was.
    #[error("{0} would pass through each other")]
    Pair(Pair),
    /// A position is infinite or not a number.
    #[error("vertex {0} has no finite position")]
    NotFinite(u32),
}

/// What holding a step took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub struct Held {
    /// Pairs that had to be looked at.
    pub tested: usize,
    /// Pairs that got a plane.
    pub planes: usize,
    /// Vertices that do not end where they wanted to.
    pub truncated: usize,
    /// Vertices put back to where they were.
    pub frozen: usize,
    /// How far the farthest ends from where it wanted to, in m.
    pub longest_cut: f64,
    /// Rounds that it took.
    pub rounds: u32,
}

/// A lower bound of the least n·(a − b), where A is the first `first_count` of the vertices and B the others.
///
/// Never above the exact value; NaN where numbers overflow. See the module's comment.
#[inline]
pub(crate) fn gap_along(n: Vec3<f64>, x: &[Vec3<f64>; 4], first_count: usize) -> f64 {
    /// 8u.
    const ROUNDING: f64 = 4.0 * f64::EPSILON;
    let mut least = f64::INFINITY;
    for a in 0..first_count {
        for b in first_count..4 {
            let d = x[a] - x[b];
            let (p, q, r) = (n.x * d.x, n.y * d.y, n.z * d.z);
            let gap = (p + q + r) - ROUNDING * (p.abs() + q.abs() + r.abs());
            // Keeps NaN, which `f64::min` would drop.
            least = if gap < least {
                gap
            } else if gap >= least {
                least
            } else {
                f64::NAN
            };
        }
    }
    least - f64::MIN_POSITIVE
}

/// How far positions are from the origin along an axis, at most, in m.
pub(crate) fn extent(positions: &[Vec3<f64>]) -> f64 {
    positions.iter().map(|x| x.x.abs().max(x.y.abs()).max(x.z.abs())).fold(0.0, f64::max)
}

/// How far a vertex is moved at most when a position no larger than `size` is rounded to single precision, in m.
pub(crate) fn rounding(size: f64) -> f64 {
    // Half a unit along each axis, and as much again for a displacement that is rounded before it is added.
    size * f64::from(f32::EPSILON) * 2.0
}

/// The four vertices of a pair at the beginning and the end of a step.
pub(crate) struct Stencil {
    pub(crate) x: [Vec3<f64>; 4],
    pub(crate) y: [Vec3<f64>; 4],
    pub(crate) first_count: usize,
}

/// What a test says of a pair.
pub(crate) enum Verdict {
    Clear,
    /// Apart along this direction at the beginning, and not enough at the end.
    Violated(Vec3<f64>),
    Touching,
}

impl Stencil {
    #[inline]
    pub(crate) fn gather(vertices: &[u32; 4], first_count: usize, start: &[Vec3<f64>], end: &[Vec3<f64>]) -> Self {
        let [a, b, c, d] = [vertices[0] as usize, vertices[1] as usize, vertices[2] as usize, vertices[3] as usize];
        Self { x: [start[a], start[b], start[c], start[d]], y: [end[a], end[b], end[c], end[d]], first_count }
    }

    /// Whether an axis separates the pair at the beginning, and at the end with `clearance` between.
    #[inline]
    fn is_apart_along_axis(&self, clearance: f64) -> bool {
        let ((up, down), (up_end, down_end)) =
            (axis_gaps(&self.x, self.first_count), axis_gaps(&self.y, self.first_count));
        let holds = |gap: f64, end_gap: f64| (gap > 0.0) & (end_gap > clearance);
        let along = |gap: Vec3<f64>, end: Vec3<f64>| holds(gap.x, end.x) | holds(gap.y, end.y) | holds(gap.z, end.z);
        along(up, up_end) | along(down, down_end)
    }

    fn normal(&self, points: &[Vec3<f64>; 4]) -> Vec3<f64> {
        if self.first_count == 1 { Closest::of::<1>(*points).normal } else { Closest::of::<2>(*points).normal }
    }

    /// A direction that certainly separates the pair at the beginning; that of the closest points, if `known`.
    fn separating_normal(&self, known: Option<Vec3<f64>>) -> Option<Vec3<f64>> {
        let separates = |n: &Vec3<f64>| gap_along(*n, &self.x, self.first_count) > 0.0;
        Some(known.unwrap_or_else(|| self.normal(&self.x))).filter(separates).or_else(|| {
            // Rounding has spoilt the direction of closest points; a plain one may do.
            let [a, b, c, d] = self.x;
            let plane = if self.first_count == 1 { (c - b).cross(d - b) } else { (b - a).cross(d - c) };
            let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
            let plain = [plane.normalized_or_zero(), axes[0], axes[1], axes[2]];
            plain.into_iter().flat_map(|n| [n, -n]).find(separates)
        })
    }

    /// Whether the direction of the closest points at the end separates the pair at the beginning, and at the end with `clearance` between.
    ///
    /// What slides over an edge between two triangles is beside the second of them at first, and above it in the end.
    fn is_apart_along_end(&self, clearance: f64) -> bool {
        let end = self.normal(&self.y);
        gap_along(end, &self.x, self.first_count) > 0.0 && gap_along(end, &self.y, self.first_count) > clearance
    }

    /// Whether the pair is certainly apart all along, and at the end by `clearance`, or has not moved. The direction of the closest points at the
    /// beginning need not be found again if it is `known`; it is tried, not trusted.
    #[inline]
    pub(crate) fn test(&self, clearance: f64, known: Option<Vec3<f64>>) -> Verdict {
        if self.is_apart_along_axis(clearance) {
            return Verdict::Clear;
        }
        let Some(n) = self.separating_normal(known) else { return Verdict::Touching };
        if gap_along(n, &self.y, self.first_count) > clearance || self.x == self.y || self.is_apart_along_end(clearance)
        {
            return Verdict::Clear;
        }
        Verdict::Violated(n)
    }
}

/// The least distance between two vertices' room at the end: margins of both, and the rounding of a normal's length.
pub(crate) fn room_of(margin: f64) -> f64 {
    2.0 * margin * (1.0 + 16.0 * f64::EPSILON)
}

/// Checks a step as it is stored: no pair of `candidates` touches between `start` and `end`.
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub fn certify(start: &[Vec3<f64>], end: &[Vec3<f64>], candidates: &Candidates) -> Result<(), Breach> {
    check_finite(start, end)?;
    for (list, first_count) in candidates.lists() {
        for vertices in list {
            certify_pair(&Stencil::gather(vertices, first_count, start, end)).map_err(|verdict| {
                let pair = pair_of(*vertices, first_count);
                if matches!(verdict, Verdict::Touching) { Breach::Touching(pair) } else { Breach::Pair(pair) }
            })?;
        }
    }
    Ok(())
}

fn certify_pair(stencil: &Stencil) -> Result<(), Verdict> {
    match stencil.test(0.0, None) {
        Verdict::Clear => Ok(()),
        verdict => Err(verdict),
    }
}

/// Whether one pair certainly does not touch while its vertices move from `start` to `end` in straight lines.
///
/// The vertices are those of a [`Pair`], in its order.
pub fn is_certified(is_vertex_triangle: bool, start: [Vec3<f64>; 4], end: [Vec3<f64>; 4]) -> bool {
    let first_count = if is_vertex_triangle { 1 } else { 2 };
    let is_finite = start.iter().chain(&end).all(|point| point.is_finite());
    is_finite && certify_pair(&Stencil { x: start, y: end, first_count }).is_ok()
}

pub(crate) fn check_finite(start: &[Vec3<f64>], end: &[Vec3<f64>]) -> Result<(), Breach> {
    let strange = start.iter().zip(end).position(|(&x, &y)| !(y - x).norm_squared().is_finite());
    strange.map_or(Ok(()), |vertex| Err(Breach::NotFinite(vertex as u32)))
}
