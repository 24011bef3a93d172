//! Closest points of a point and a triangle, and of two segments.
//!
//! The distance of two such primitives is taken either inside both, where a line through them is perpendicular to
//! both, or with an end of one on the other. So:
//!
//! - **inside**: with n = e × f, the point p of the plane a + u e + v f has u = ((p − a) × f)·n/n² and
//!   v = (e × (p − a))·n/n²; the lines a + s e and c + t f are closest at s = ((c − a) × f)·n/n² and
//!   t = ((c − a) × e)·n/n². Where these lie inside the primitives, and n is not mostly rounding, that is the answer,
//!   and n its direction.
//! - **else** it is the nearest of the three (four) pairs of a point and a segment, which cannot go wrong: a segment
//!   without length is a point, and parallel segments are closest at an end too (among others).
//!
//! Where n is mostly rounding (a needle, nearly parallel edges) both are tried and the nearer taken, by the distance of
//! the points themselves. So whatever the rounding, what is returned are points of the primitives, and at most by
//! rounding farther apart than the closest.
//!
//! The direction is better than that of the difference of the points, which is a small difference of large numbers:
//! inside, it is n; from a point to a segment, the difference is made perpendicular to the segment once more. So
//! primitives of size L are told apart along it down to distances of some rounding units of L, not of √ of them.

use crate::math::{F64x4, Scalar, Vec3, inlined};

/// The closest points of a primitive A and a primitive B of four vertices together; of several such pairs, if S has lanes.
///
/// ```
/// use muslin::contact::point_triangle;
/// use muslin::math::Vec3;
///
/// let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from);
/// let closest = point_triangle(Vec3::new(0.25, 0.5, 0.25), triangle);
/// assert_eq!((closest.distance, closest.normal), (0.5, Vec3::new(0.0, 1.0, 0.0)));
/// assert_eq!(closest.weights, [1.0, -0.5, -0.25, -0.25]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest<S = f64> {
    /// w with Σ wᵢ xᵢ = (point of A) − (point of B): those of A are positive and sum to 1, those of B negative and
    /// sum to −1. The gradient of the distance is wᵢ n.
    pub weights: [S; 4],
    /// Distance, in m.
    pub distance: S,
    /// Direction from B to A; zero where they touch.
    pub normal: Vec3<S>,
}

/// Below this sine² of the angle between its sides, the normal of a triangle or of two edges is not relied upon alone.
const FLAT: f64 = 1e-10;

/// The closest points of a point `p` (weight 0) and a triangle (weights 1 to 3).
#[inline]
pub fn point_triangle<S: Scalar>(p: Vec3<S>, [a, b, c]: [Vec3<S>; 3]) -> Closest<S> {
    let (zero, one) = (S::ZERO, S::ONE);
    let (e, f, d) = (b - a, c - a, p - a);
    let n = e.cross(f);
    let (nn, scale) = (n.norm_squared(), e.norm_squared() * f.norm_squared());
    let (u, v) = (d.cross(f).dot(n) / nn, e.cross(d).dot(n) / nn);
    let is_within = S::and(S::and(u.greater(zero), v.greater(zero)), one.greater(u + v));
    let is_inside = S::and(nn.greater(zero), is_within);
    let is_sure = S::and(is_inside, nn.greater(S::from_f64(FLAT) * scale));
    let inside = inlined(
        #[inline(always)]
        || Closest::perpendicular([one, -(one - u - v), -u, -v], n, d, d - e * u - f * v),
    );
    if S::is_all(is_sure) {
        return inside();
    }
    let nearest = Nearest::of([squared_distance(p, a, b), squared_distance(p, b, c), squared_distance(p, c, a)]);
    let ([from, to], mut outside) = point_segment(p, nearest.point([a, b, c]), nearest.point([b, c, a]));
    let weight = |sides: [S; 3]| nearest.number(sides);
    outside.weights = [one, weight([from, zero, to]), weight([to, from, zero]), weight([zero, to, from])];
    outside.or_inside(is_inside, is_sure, inside)
}

/// The closest points of a segment `ab` (weights 0 and 1) and another `cd` (weights 2 and 3).
#[inline]
pub fn segment_segment<S: Scalar>([a, b]: [Vec3<S>; 2], [c, d]: [Vec3<S>; 2]) -> Closest<S> {
    let (zero, one) = (S::ZERO, S::ONE);
    let (e, f, g) = (b - a, d - c, c - a);
    let n = e.cross(f);
    let (nn, scale) = (n.norm_squared(), e.norm_squared() * f.norm_squared());
    let (s, t) = (g.cross(f).dot(n) / nn, g.cross(e).dot(n) / nn);
    let is_part = |part: S| S::and(part.greater(zero), one.greater(part));
    let is_inside = S::and(nn.greater(zero), S::and(is_part(s), is_part(t)));
    let is_sure = S::and(is_inside, nn.greater(S::from_f64(FLAT) * scale));
    let inside = inlined(
        #[inline(always)]
        || Closest::perpendicular([one - s, s, -(one - t), -t], n, -g, e * s - f * t - g),
    );
    if S::is_all(is_sure) {
        return inside();
    }
    // The ends of the first on the second, and those of the second on the first.
    let nearest = Nearest::of([
        squared_distance(a, c, d),
        squared_distance(b, c, d),
        squared_distance(c, a, b),
        squared_distance(d, a, b),
    ]);
    let is_second = nearest.number([zero, zero, one, one]).greater(zero);
    let (from, to) = (Vec3::select(is_second, a, c), Vec3::select(is_second, b, d));
    let ([from, to], mut outside) = point_segment(nearest.point([a, b, c, d]), from, to);
    // 0 − w, not −w: no negative zeros.
    let (other_from, other_to) = (zero - from, zero - to);
    outside.weights = [
        nearest.number([one, zero, other_from, other_from]),
        nearest.number([zero, one, other_to, other_to]),
        nearest.number([from, from, -one, zero]),
        nearest.number([to, to, zero, -one]),
    ];
    outside.normal = Vec3::select(is_second, -outside.normal, outside.normal);
    outside.or_inside(is_inside, is_sure, inside)
}

impl Closest {
    /// Of four pairs; each has the bits of [`of`](Self::of).
    pub(crate) fn of_each<const FIRST: usize>(pairs: [[Vec3<f64>; 4]; 4]) -> [Self; 4] {
        let points = std::array::from_fn(|k| F64x4::vectors(pairs.map(|pair| pair[k])));
        let Closest { weights, distance, normal } = Closest::of::<FIRST>(points);
        let (weights, distance) = (weights.map(F64x4::to_array), distance.to_array());
        let (x, y, z) = (normal.x.to_array(), normal.y.to_array(), normal.z.to_array());
        std::array::from_fn(|lane| Self {
            weights: weights.map(|weight| weight[lane]),
            distance: distance[lane],
            normal: Vec3::new(x[lane], y[lane], z[lane]),
        })
    }
}

impl<S: Scalar> Closest<S> {
    /// Of the first `FIRST` of four vertices and the others: a point and a triangle for one, two segments for two.
    #[inline]
    pub fn of<const FIRST: usize>([a, b, c, d]: [Vec3<S>; 4]) -> Self {
        const { assert!(FIRST == 1 || FIRST == 2, "a vertex or an edge") }
        if FIRST == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) }
    }

    /// With a normal known to be along ±n: `arm` is any vector from B's plane to A's, `difference` that of the points.
    #[inline]
    fn perpendicular(weights: [S; 4], n: Vec3<S>, arm: Vec3<S>, difference: Vec3<S>) -> Self {
        let zero = S::ZERO;
        let direction = n.normalized_or_zero();
        let (height, distance) = (direction.dot(arm), difference.norm());
        let magnitude = |x: S| S::select(x.greater(zero), x, zero - x);
        let below = Vec3::select(zero.greater(height), -direction, Vec3::ZERO);
        let normal = Vec3::select(height.greater(zero), direction, below);
        let along = Self { weights, distance: magnitude(height), normal };
        // Where n is mostly rounding, the points are right and it is not.
        let is_farther = distance.greater(S::from_f64(1.001) * along.distance);
        let is_aslant = (S::from_f64(0.999) * distance).greater(magnitude(direction.dot(difference)));
        let is_rounding = S::and(is_farther, is_aslant);
        if !S::is_any(is_rounding) {
            return along;
        }
        Self::select(is_rounding, Self { weights, distance, normal: difference.normalized_or_zero() }, along)
    }

    #[inline]
    fn select(mask: S::Mask, yes: Self, no: Self) -> Self {
        Self {
            weights: std::array::from_fn(|k| S::select(mask, yes.weights[k], no.weights[k])),
            distance: S::select(mask, yes.distance, no.distance),
            normal: Vec3::select(mask, yes.normal, no.normal),
        }
    }

    /// What is inside both, where that is for sure, or where it is and is nearer.
    #[inline]
    fn or_inside(self, is_inside: S::Mask, is_sure: S::Mask, inside: impl Fn() -> Self) -> Self {
        if !S::is_any(is_inside) {
            return self;
        }
        let inside = inside();
        let is_nearer = S::and(is_inside, self.distance.greater(inside.distance));
        Self::select(is_sure, inside, Self::select(is_nearer, inside, self))
    }
}

/// Which of N is the nearest, the first of equals.
struct Nearest<S: Scalar, const N: usize> {
    /// Whether one is nearer than all before it.
    is_nearer: [S::Mask; N],
}

impl<S: Scalar, const N: usize> Nearest<S, N> {
    #[inline]
    fn of(squared: [S; N]) -> Self {
        let mut least = squared[0];
        let mut is_nearer = [least.greater(least); N];
        for k in 1..N {
            is_nearer[k] = least.greater(squared[k]);
            least = S::select(is_nearer[k], squared[k], least);
        }
        Self { is_nearer }
    }

    /// That one's number.
    #[inline]
    fn number(&self, numbers: [S; N]) -> S {
        (1..N).fold(numbers[0], |number, k| S::select(self.is_nearer[k], numbers[k], number))
    }

    /// That one's point.
    #[inline]
    fn point(&self, points: [Vec3<S>; N]) -> Vec3<S> {
        (1..N).fold(points[0], |point, k| Vec3::select(self.is_nearer[k], points[k], point))
    }
}

/// The squared distance of a point and a segment: to choose by.
#[inline]
fn squared_distance<S: Scalar>(p: Vec3<S>, a: Vec3<S>, b: Vec3<S>) -> S {
    let (e, d) = (b - a, p - a);
    let t = d.dot(e) / e.norm_squared();
    let most = S::select(S::ONE.greater(t), t, S::ONE);
    // Zero also where the segment has no length, and t is NaN.
    let t = S::select(t.greater(S::ZERO), most, S::ZERO);
    (d - e * t).norm_squared()
}

/// The closest points of a point and a segment: the weights of `a` and `b`, and what is to be given its weights.
#[inline]
fn point_segment<S: Scalar>(p: Vec3<S>, a: Vec3<S>, b: Vec3<S>) -> ([S; 2], Closest<S>) {
    let (zero, one) = (S::ZERO, S::ONE);
    let (e, from_a, from_b) = (b - a, p - a, p - b);
    let ee = e.norm_squared();
    let t = from_a.dot(e) / ee;
    // Neither holds where the segment has no length, and t is NaN.
    let is_beyond_a = t.greater(zero);
    let is_between = S::and(is_beyond_a, one.greater(t));
    // From the nearer end: less to cancel.
    let arm = Vec3::select(t.greater(S::from_f64(0.5)), from_b, from_a);
    let across = arm - e * (arm.dot(e) / ee);
    let across = across - e * (across.dot(e) / ee);
    let difference = Vec3::select(is_between, across, Vec3::select(is_beyond_a, from_b, from_a));
    let weight_a = S::select(is_between, -(one - t), S::select(is_beyond_a, zero, -one));
    let weight_b = S::select(is_between, -t, S::select(is_beyond_a, -one, zero));
    let distance = difference.norm();
    let normal = Vec3::select(distance.greater(zero), difference * (one / distance), Vec3::ZERO);
    ([weight_a, weight_b], Closest { weights: [zero; 4], distance, normal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;

    type Lattice = [i128; 3];

    fn lattice_point(random: &mut Random, half_size: i128) -> Lattice {
        [0; 3].map(|_: i32| i128::from(random.bits() >> 20) % (2 * half_size + 1) - half_size)
    }

    /// The least value of a convex function on [0, 1].
    fn least(value: impl Fn(f64) -> f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..120 {
            let (x, y) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if value(x) < value(y) { high = y } else { low = x }
        }
        value(0.5 * (low + high)).min(value(0.0)).min(value(1.0))
    }

    fn mix(a: Vec3<f64>, b: Vec3<f64>, t: f64) -> Vec3<f64> {
        a * (1.0 - t) + b * t
    }

    fn combine(weights: [f64; 4], x: [Vec3<f64>; 4]) -> Vec3<f64> {
        (0..4).fold(Vec3::ZERO, |sum, i| sum + x[i] * weights[i])
    }

    fn of(x: [Vec3<f64>; 4], first_count: usize) -> Closest {
        let [a, b, c, d] = x;
        if first_count == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) }
    }

    /// What must hold of any answer: points of the primitives, at the distance, along the normal.
    fn check_parts(x: [Vec3<f64>; 4], first_count: usize) -> Closest {
        let size = (0..4).map(|i| (x[i] - x[3]).norm()).fold(0.0, f64::max);
        let closest = of(x, first_count);
        let w = closest.weights;
        let (first, second): (f64, f64) = (w[..first_count].iter().sum(), w[first_count..].iter().sum());
        assert!((first - 1.0).abs() < 1e-15 && (second + 1.0).abs() < 1e-15, "{w:?}");
        let (positive, negative) = w.split_at(first_count);
        assert!(positive.iter().all(|&w| w >= 0.0) && negative.iter().all(|&w| w <= 0.0), "{w:?}");
        let centred = x.map(|point| point - x[3]);
        let off = (combine(w, centred) - closest.normal * closest.distance).norm();
        assert!(off <= 1e-9 * size, "{off:e} of {size:e} off: {closest:?} {x:?}");
        let length = closest.normal.norm();
        assert!(closest.distance == 0.0 || (length - 1.0).abs() < 1e-15, "{closest:?}");
        closest
    }

    #[test]
    fn distances_agree_with_brute_force_minimisation() {
        let mut random = Random::new(1);
        for round in 0..1000 {
            let scale = [1.0, 1e-9, 1e6, 0.3][round % 4];
            let mut x = [0; 4].map(|_: i32| random.vector() * scale);
            match round / 4 % 5 {
                1 => x[3] = x[2] + (x[1] - x[0]) * 0.7, // parallel edges
                2 => x[2] = x[1],                       // an edge collapsed, or a triangle into a segment
                3 => x[3] = mix(x[1], x[2], 0.3),       // a needle
                4 => x = x.map(|p| Vec3::new(p.x, 0.0, p.z)),
                _ => {}
            }
            let [a, b, c, d] = x;
            let to_segment = |p: Vec3<f64>, a: Vec3<f64>, b: Vec3<f64>| least(|t| (p - mix(a, b, t)).norm());
            let edges = least(|s| to_segment(mix(a, b, s), c, d));
            let found = check_parts(x, 2).distance;
            assert!((found - edges).abs() < 1e-7 * scale, "{found} and not {edges} of edges {x:?}");
            let triangle = least(|u| to_segment(a, mix(b, c, u), mix(b, d, u)));
            let found = check_parts(x, 1).distance;
            assert!((found - triangle).abs() < 1e-7 * scale, "{found} and not {triangle} of a triangle {x:?}");
        }
    }

    fn minus(a: Lattice, b: Lattice) -> Lattice {
        [0, 1, 2].map(|k| a[k] - b[k])
    }

    fn dot(a: Lattice, b: Lattice) -> i128 {
        (0..3).map(|k| a[k] * b[k]).sum()
    }

    fn cross(a: Lattice, b: Lattice) -> Lattice {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    /// A squared distance as a fraction; only ever compared.
    type Fraction = (i128, i128);

    fn nearer(x: Fraction, y: Fraction) -> Fraction {
        if x.0 * y.1 < y.0 * x.1 { x } else { y }
    }

    fn exact_point_segment(p: Lattice, a: Lattice, b: Lattice) -> Fraction {
        let (e, d) = (minus(b, a), minus(p, a));
        let (along, ee) = (dot(d, e), dot(e, e));
        if along <= 0 {
            (dot(d, d), 1)
        } else if along >= ee {
            (dot(minus(p, b), minus(p, b)), 1)
        } else {
            (dot(d, d) * ee - along * along, ee)
        }
    }

    fn exact(x: [Lattice; 4], first_count: usize) -> Fraction {
        let [a, b, c, d] = x;
        let (ends, n, arm, is_inside) = if first_count == 1 {
            let n = cross(minus(c, b), minus(d, b));
            let side = |from: Lattice, to: Lattice| dot(cross(minus(to, from), minus(a, from)), n) > 0;
            (vec![(a, b, c), (a, c, d), (a, d, b)], n, minus(a, b), side(b, c) && side(c, d) && side(d, b))
        } else {
            let (e, f, g) = (minus(b, a), minus(d, c), minus(c, a));
            let n = cross(e, f);
            let (s, t, nn) = (dot(cross(g, f), n), dot(cross(g, e), n), dot(n, n));
            let is_inside = s > 0 && s < nn && t > 0 && t < nn;
            (vec![(a, c, d), (b, c, d), (c, a, b), (d, a, b)], n, g, is_inside)
        };
        let least = ends.into_iter().map(|(p, a, b)| exact_point_segment(p, a, b)).reduce(nearer).unwrap();
        let height = dot(n, arm);
        if is_inside { nearer((height * height, dot(n, n)), least) } else { least }
    }

    #[test]
    fn distances_agree_with_exact_arithmetic_where_everything_degenerates() {
        let mut random = Random::new(2);
        let mut touching = 0;
        for round in 0..60_000 {
            let half_size = [1, 2, 3, 10, 1000][round % 5];
            let mut x = [0; 4].map(|_: i32| lattice_point(&mut random, half_size));
            if round % 7 == 0 {
                // Needles: one unit beside a line.
                let line = lattice_point(&mut random, half_size);
                x = [0, 1, 2, 3].map(|k: i128| {
                    let beside = lattice_point(&mut random, 1);
                    [0, 1, 2].map(|axis| line[axis] * (k * k - 3) * 5 + beside[axis])
                });
            }
            let points = x.map(|p| Vec3::from(p.map(|v| v as f64 * 0.125)));
            let size = (0..4).map(|i| (points[i] - points[3]).norm()).fold(0.0, f64::max);
            for first_count in [1, 2] {
                let (over, under) = exact(x, first_count);
                let expected = (over as f64 / under as f64).sqrt() * 0.125;
                let found = check_parts(points, first_count);
                // 64 units: a dozen operations, and the products of a needle's sides.
                let bound = 64.0 * f64::EPSILON * size;
                assert!((found.distance - expected).abs() <= bound, "{found:?}, not {expected}: {x:?}");
                touching += usize::from(over == 0);
            }
        }
        assert!(touching > 1000, "only {touching} touch");
    }

    #[test]
    fn the_normal_tells_apart_what_nearly_touches() {
        let mut random = Random::new(3);
        for round in 0..20_000 {
            // Points 10⁻¹⁴ to 1 above the middle of the other primitive, an edge of it, or a corner.
            let gap = libm::pow(10.0, -14.0 + 14.0 * (round % 100) as f64 / 100.0);
            let up = random.vector().normalized_or_zero();
            let across = up.cross(random.vector()).normalized_or_zero();
            let along = up.cross(across);
            let (first_count, flat) = if round % 2 == 0 {
                (1, [along, across, along * -0.7 - across * 0.6])
            } else {
                (2, [along * -0.4, across * 0.9, across * -0.5])
            };
            let lift = [Vec3::ZERO, along * 0.6, along * 0.9 + across * 0.2][round / 2 % 3] + up * gap;
            let [p, q, r] = flat;
            let x = if first_count == 1 { [lift, p, q, r] } else { [lift - p, lift + p, q, r] };
            let closest = check_parts(x, first_count);
            let heights = x.map(|point| closest.normal.dot(point - x[3]));
            let (first, second) = heights.split_at(first_count);
            let low = first.iter().copied().fold(f64::INFINITY, f64::min);
            let high = second.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let off = (low - high - closest.distance).abs();
            assert!(off < 16.0 * f64::EPSILON, "{off:e} at a distance of {:e}: {x:?}", closest.distance);
        }
    }

    #[test]
    fn a_pair_among_four_has_the_bits_of_a_lone_one() {
        let mut random = Random::new(77);
        let bits = |closest: Closest| {
            let Vec3 { x, y, z } = closest.normal;
            (closest.weights.map(f64::to_bits), [closest.distance, x, y, z].map(f64::to_bits))
        };
        for round in 0..50_000 {
            // On a lattice all that can degenerate does; beside it, lengths of all sizes.
            let size = [1, 2, 3, 1000][round % 4];
            let scale = [1.0, 0.3, 1e-9, 1e150, 1e-170][round % 5];
            let pairs = [0; 4].map(|_: i32| {
                let lattice =
                    [0; 4].map(|_: i32| Vec3::from(lattice_point(&mut random, size).map(|x| x as f64)) * scale);
                if random.bits().is_multiple_of(3) {
                    lattice.map(|x| x + random.vector() * (1e-3 * scale))
                } else {
                    lattice
                }
            });
            let (faces, edges) = (Closest::of_each::<1>(pairs), Closest::of_each::<2>(pairs));
            for lane in 0..4 {
                assert_eq!(bits(faces[lane]), bits(Closest::of::<1>(pairs[lane])), "{:?}", pairs[lane]);
                assert_eq!(bits(edges[lane]), bits(Closest::of::<2>(pairs[lane])), "{:?}", pairs[lane]);
            }
        }
    }

    #[test]
    fn nothing_makes_nan() {
        for x in [[Vec3::ZERO; 4], [Vec3::splat(1e-200); 4], [Vec3::splat(1e160), Vec3::ZERO, Vec3::ZERO, Vec3::ZERO]] {
            for closest in [of(x, 1), of(x, 2)] {
                assert!(!closest.distance.is_nan() && closest.weights.iter().all(|w| w.is_finite()), "{closest:?}");
            }
        }
    }
}
