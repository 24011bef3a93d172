//! Whether two moving primitives touch, in exact arithmetic: what the certificate of the certificate is measured by.
//!
//! Coordinates become integers (multiples of the least unit among them), times are dyadic. An interval of time is *free* if
//! the cubic of coplanarity has Bernstein coefficients of one sign on it, or a direction separates the primitives at
//! both its ends. It has a *contact* if the cubic changes sign, and, seen along a fixed direction, the point is inside of
//! the triangle (the edges cross) at all times of the interval: then, at the root, they meet. Else it is halved. What is
//! neither after many halvings touches exactly or nearly so.

use muslin::contact::{point_triangle, segment_segment};
use muslin::math::Vec3;
use num_bigint::{BigInt, Sign};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Free,
    Contact,
    Undecided,
}

type Vector = [BigInt; 3];
type Points = [Vector; 4];

/// Of the four vertices of a point (1) and a triangle (3), or of two edges (2 and 2), at two times, after so many halvings.
pub(crate) fn decide(start: [Vec3<f64>; 4], end: [Vec3<f64>; 4], first_count: usize, halvings: usize) -> Truth {
    let all = || start.iter().chain(&end).flat_map(|point| point.to_array());
    let unit = all().filter(|&x| x != 0.0).map(|x| parts(x).1).min().unwrap_or(0);
    let integers = |points: [Vec3<f64>; 4]| points.map(|point| point.to_array().map(|x| integer(x, unit)));
    Motion { first_count, halvings }.decide(&integers(start), &integers(end), 0)
}

/// Mantissa and exponent.
fn parts(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, (bits & ((1 << 52) - 1)) as i64);
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    (if x < 0.0 { -mantissa } else { mantissa }, exponent)
}

fn integer(x: f64, unit: i32) -> BigInt {
    let (mantissa, exponent) = parts(x);
    if mantissa == 0 { BigInt::from(0) } else { BigInt::from(mantissa) << (exponent - unit) as usize }
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
}

fn plus(a: &Vector, b: &Vector) -> Vector {
    [&a[0] + &b[0], &a[1] + &b[1], &a[2] + &b[2]]
}

fn times(a: &Vector, s: &BigInt) -> Vector {
    [&a[0] * s, &a[1] * s, &a[2] * s]
}

fn dot(a: &Vector, b: &Vector) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [&a[1] * &b[2] - &a[2] * &b[1], &a[2] * &b[0] - &a[0] * &b[2], &a[0] * &b[1] - &a[1] * &b[0]]
}

fn det(a: &Vector, b: &Vector, c: &Vector) -> BigInt {
    dot(a, &cross(b, c))
}

/// A unit vector in units of 2⁻⁶¹.
fn whole(v: Vec3<f64>) -> Vector {
    v.to_array().map(|x| BigInt::from((x * (1_u64 << 61) as f64) as i64))
}

/// The sign that all have, if they have one.
fn common_sign<'a>(values: impl IntoIterator<Item = &'a BigInt>) -> Option<Sign> {
    let mut signs = values.into_iter().map(BigInt::sign);
    let first = signs.next()?;
    (first != Sign::NoSign && signs.all(|sign| sign == first)).then_some(first)
}

/// Vectors between the points that span the volume of the pair.
fn arms(points: &Points, first_count: usize) -> [Vector; 3] {
    let [a, b, c, d] = points;
    if first_count == 1 { [minus(b, a), minus(c, a), minus(d, a)] } else { [minus(b, a), minus(c, a), minus(d, c)] }
}

struct Motion {
    first_count: usize,
    halvings: usize,
}

impl Motion {
    fn decide(&self, from: &Points, to: &Points, depth: usize) -> Truth {
        let volume = self.volume(from, to);
        if common_sign(&volume).is_some() {
            return Truth::Free;
        }
        // Doubled, so that the middle is a sum; only directions and signs matter.
        let middle: Points = std::array::from_fn(|k| plus(&from[k], &to[k]));
        let rounded = [from, &middle, to].map(|points| self.rounded(points));
        let normals = rounded.each_ref().map(|x| self.rounded_normals(x));
        // Most directions need no exact look: rounding is far below 10⁻⁹.
        let may_separate = |n: &&Vec3<f64>| {
            let heights = [&rounded[0], &rounded[2]].map(|x| self.rounded_gap(**n, x));
            heights.iter().all(|gap| gap[0] > -1e-9) || heights.iter().all(|gap| gap[1] > -1e-9)
        };
        if normals.iter().flatten().filter(may_separate).any(|&n| self.separates(&whole(n), from, to)) {
            return Truth::Free;
        }
        let changes_sign = volume[0].sign() != Sign::NoSign && volume[0].sign() == -volume[3].sign();
        if changes_sign && normals.iter().flatten().any(|&n| self.meets_along(&whole(n), from, to)) {
            return Truth::Contact;
        }
        let has_exact = depth % 12 == 11;
        if has_exact
            && [from, &middle, to].into_iter().any(|at| self.normals(at).iter().any(|n| self.separates(n, from, to)))
        {
            return Truth::Free;
        }
        if depth == self.halvings {
            return Truth::Undecided;
        }
        let doubled = |points: &Points| points.clone().map(|point| point.map(|x| x * 2));
        match self.decide(&doubled(from), &middle, depth + 1) {
            Truth::Free => self.decide(&middle, &doubled(to), depth + 1),
            truth => truth,
        }
    }

    /// Bernstein coefficients of the cubic of coplanarity, up to positive factors.
    fn volume(&self, from: &Points, to: &Points) -> [BigInt; 4] {
        let ([a, b, c], [p, q, r]) = (arms(from, self.first_count), arms(to, self.first_count));
        let (bc, qr) = (cross(&b, &c), cross(&q, &r));
        let mixed = plus(&cross(&b, &r), &cross(&q, &c));
        [dot(&a, &bc), dot(&p, &bc) + dot(&a, &mixed), dot(&a, &qr) + dot(&p, &mixed), dot(&p, &qr)]
    }

    /// Whether all of A is beyond all of B along n at both times.
    fn separates(&self, n: &Vector, from: &Points, to: &Points) -> bool {
        let heights = [from, to].map(|points| points.each_ref().map(|point| dot(n, point)));
        let is_above = |h: &[BigInt; 4]| {
            let (first, second) = h.split_at(self.first_count);
            first.iter().min() > second.iter().max()
        };
        let is_below = |h: &[BigInt; 4]| {
            let (first, second) = h.split_at(self.first_count);
            first.iter().max() < second.iter().min()
        };
        heights.iter().all(is_above) || heights.iter().all(is_below)
    }

    /// Whether, seen along n, the point is inside the triangle or the edges cross at all times between.
    fn meets_along(&self, n: &Vector, from: &Points, to: &Points) -> bool {
        let turn = |i: usize, j: usize, k: usize| {
            let at = |points: &Points| [minus(&points[j], &points[i]), minus(&points[k], &points[i])];
            let ([u, v], [p, q]) = (at(from), at(to));
            common_sign(&[det(n, &u, &v), det(n, &u, &q) + det(n, &p, &v), det(n, &p, &q)])
        };
        let opposite = |x: Option<Sign>, y: Option<Sign>| x.is_some() && x == y.map(|sign| -sign);
        if self.first_count == 1 {
            let turns = [turn(1, 2, 0), turn(2, 3, 0), turn(3, 1, 0)];
            turns[0].is_some() && turns[0] == turns[1] && turns[1] == turns[2]
        } else {
            opposite(turn(0, 1, 2), turn(0, 1, 3)) && opposite(turn(2, 3, 0), turn(2, 3, 1))
        }
    }

    /// The points in some unit, from the first one, rounded.
    fn rounded(&self, points: &Points) -> [Vec3<f64>; 4] {
        let near: Points = std::array::from_fn(|k| minus(&points[k], &points[0]));
        let bits = near.iter().flatten().map(BigInt::bits).max().unwrap_or(0);
        let shift = bits.saturating_sub(53) as usize;
        let float = |x: &BigInt| i64::try_from(x >> shift).unwrap_or(0) as f64 / (1_u64 << 53) as f64;
        near.each_ref().map(|point| Vec3::from(point.each_ref().map(float)))
    }

    /// How far A is above B, and B above A, along n.
    fn rounded_gap(&self, n: Vec3<f64>, x: &[Vec3<f64>; 4]) -> [f64; 2] {
        let heights = x.map(|point| n.dot(point));
        let (first, second) = heights.split_at(self.first_count);
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [least(first) - greatest(second), least(second) - greatest(first)]
    }

    /// Directions that may separate; checked exactly by who uses them.
    fn rounded_normals(&self, x: &[Vec3<f64>; 4]) -> [Vec3<f64>; 2] {
        let [a, b, c, d] = *x;
        if self.first_count == 1 {
            [point_triangle(a, [b, c, d]).normal, (c - b).cross(d - b).normalized_or_zero()]
        } else {
            [segment_segment([a, b], [c, d]).normal, (b - a).cross(d - c).normalized_or_zero()]
        }
    }

    /// The directions of the closest points, exactly, whatever the closest features are.
    fn normals(&self, points: &Points) -> Vec<Vector> {
        let [a, b, c, d] = points;
        let off_segment = |p: &Vector, a: &Vector, b: &Vector| {
            let (e, d) = (minus(b, a), minus(p, a));
            minus(&times(&d, &dot(&e, &e)), &times(&e, &dot(&d, &e)))
        };
        if self.first_count == 1 {
            vec![
                cross(&minus(c, b), &minus(d, b)),
                off_segment(a, b, c),
                off_segment(a, c, d),
                off_segment(a, d, b),
                minus(a, b),
                minus(a, c),
                minus(a, d),
            ]
        } else {
            vec![
                cross(&minus(b, a), &minus(d, c)),
                off_segment(a, c, d),
                off_segment(b, c, d),
                off_segment(c, a, b),
                off_segment(d, a, b),
                minus(a, c),
                minus(a, d),
                minus(b, c),
                minus(b, d),
            ]
        }
    }
}

#[test]
fn plain_cases_are_decided() {
    let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from);
    let [a, b, c] = triangle;
    let of = |from: [f64; 3], to: [f64; 3]| decide([from.into(), a, b, c], [to.into(), a, b, c], 1, 60);
    assert_eq!(of([0.2, 1.0, 0.2], [0.2, -1.0, 0.2]), Truth::Contact);
    assert_eq!(of([0.2, 1.0, 0.2], [0.2, 1e-12, 0.2]), Truth::Free);
    assert_eq!(of([0.2, 1.0, 0.2], [0.2, 0.0, 0.2]), Truth::Undecided, "touches exactly at the end");
    assert_eq!(of([0.51, 1.0, 0.51], [0.51, -1.0, 0.51]), Truth::Free);
    assert_eq!(of([2.0, 0.0, 0.5], [0.6, 0.0, 0.5]), Truth::Free, "in the plane");
    let edges = |end: f64| {
        let floor = [Vec3::new(-1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)];
        let at = |y: f64| [Vec3::new(0.1, y, -1.0), Vec3::new(0.1, y, 1.0), floor[0], floor[1]];
        decide(at(1.0), at(end), 2, 60)
    };
    assert_eq!(edges(-0.5), Truth::Contact);
    assert_eq!(edges(0.5), Truth::Free);
}
