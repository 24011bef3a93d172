//! The shapes of an edge: lines, Bézier curves and arcs, measured and divided by their length.
//!
//! Lengths of Bézier curves are integrals of ‖c′(t)‖ by Gauss–Legendre quadrature with five points on each of 32 pieces.
//! Pieces are short enough that the error of a curve without cusps is that of rounding.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A point in the plane of a panel, in m.
pub type Point = [f64; 2];

/// The shape of an edge, from its start to its end, in m.
///
/// ```
/// use muslin_pattern::Curve;
///
/// let half_circle = Curve::arc([0.0, 0.0], [2.0, 0.0], 1.0, false, true).unwrap();
/// assert!((half_circle.length() - std::f64::consts::PI).abs() < 1e-12);
/// assert_eq!(half_circle.start(), [0.0, 0.0]);
/// assert!((half_circle.point(0.5)[1] + 1.0).abs() < 1e-12); // to the right of the way from start to end
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// A straight line.
    Line([Point; 2]),
    /// A Bézier curve with one control point.
    Quadratic([Point; 3]),
    /// A Bézier curve with two control points.
    Cubic([Point; 4]),
    /// A part of a circle.
    Arc {
        /// Its first point.
        start: Point,
        /// Its last point.
        end: Point,
        /// The centre of the circle.
        center: Point,
        /// The radius of the circle.
        radius: f64,
        /// The direction from the centre to the start, in rad.
        from: f64,
        /// The angle that it turns through, in rad; positive is counter-clockwise.
        sweep: f64,
    },
}

/// Pieces of the table of lengths.
const PIECES: usize = 32;

/// Gauss–Legendre on [−1, 1] with five points: place and weight of those that are not negative.
const GAUSS: [(f64, f64); 3] = [
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

impl Curve {
    /// The part of a circle that an SVG path calls `A`: radius, the larger of the two parts or not, and counter-clockwise (y up) or not.
    ///
    /// Nothing where the circle is too small for the distance of start and end by more than 1 %. Below that it is enlarged to a half circle, as in SVG.
    pub fn arc(start: Point, end: Point, radius: f64, is_large: bool, is_counter_clockwise: bool) -> Option<Self> {
        let chord = distance(start, end);
        let half = 0.5 * chord;
        if !(radius >= 0.99 * half && radius.is_finite() && half > 0.0) {
            return None;
        }
        let radius = radius.max(half);
        // The centre lies to the left of the chord for the smaller counter-clockwise part: rise is its distance from the chord.
        let rise = ((radius - half) * (radius + half)).sqrt();
        let side = if is_large == is_counter_clockwise { -1.0 } else { 1.0 };
        let left = [-(end[1] - start[1]) / chord, (end[0] - start[0]) / chord];
        let center = [0, 1].map(|k| 0.5 * (start[k] + end[k]) + side * rise * left[k]);
        let from = libm::atan2(start[1] - center[1], start[0] - center[0]);
        let small = 2.0 * libm::asin((half / radius).min(1.0));
        let angle = if is_large { TAU - small } else { small };
        Some(Self::Arc { start, end, center, radius, from, sweep: if is_counter_clockwise { angle } else { -angle } })
    }

    /// Its first point.
    pub fn start(&self) -> Point {
        match *self {
            Self::Line([start, ..])
            | Self::Quadratic([start, ..])
            | Self::Cubic([start, ..])
            | Self::Arc { start, .. } => start,
        }
    }

    /// Its last point.
    pub fn end(&self) -> Point {
        match *self {
            Self::Line([.., end]) | Self::Quadratic([.., end]) | Self::Cubic([.., end]) | Self::Arc { end, .. } => end,
        }
    }

    /// The point at a parameter from 0 to 1, which is a share of the length for lines and arcs only.
    pub fn point(&self, t: f64) -> Point {
        if t <= 0.0 {
            return self.start();
        }
        if t >= 1.0 {
            return self.end();
        }
        let s = 1.0 - t;
        match *self {
            Self::Line([a, b]) => [0, 1].map(|k| s * a[k] + t * b[k]),
            Self::Quadratic([a, b, c]) => [0, 1].map(|k| s * s * a[k] + 2.0 * s * t * b[k] + t * t * c[k]),
            Self::Cubic([a, b, c, d]) => {
                [0, 1].map(|k| s * s * s * a[k] + 3.0 * s * s * t * b[k] + 3.0 * s * t * t * c[k] + t * t * t * d[k])
            }
            Self::Arc { center, radius, from, sweep, .. } => {
                let angle = from + t * sweep;
                [center[0] + radius * libm::cos(angle), center[1] + radius * libm::sin(angle)]
            }
        }
    }

    /// ‖c′(t)‖.
    fn speed(&self, t: f64) -> f64 {
        let s = 1.0 - t;
        match *self {
            Self::Line([a, b]) => distance(a, b),
            Self::Quadratic([a, b, c]) => norm([0, 1].map(|k| 2.0 * (s * (b[k] - a[k]) + t * (c[k] - b[k])))),
            Self::Cubic([a, b, c, d]) => norm(
                [0, 1].map(|k| 3.0 * (s * s * (b[k] - a[k]) + 2.0 * s * t * (c[k] - b[k]) + t * t * (d[k] - c[k]))),
            ),
            Self::Arc { radius, sweep, .. } => radius * sweep.abs(),
        }
    }

    /// The length between two parameters, by quadrature.
    fn length_between(&self, from: f64, to: f64) -> f64 {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let [(_, w), pairs @ ..] = GAUSS;
        let sum = pairs.iter().fold(w * self.speed(middle), |sum, &(x, w)| {
            sum + w * (self.speed(middle - half * x) + self.speed(middle + half * x))
        });
        half * sum
    }

    /// Its length.
    pub fn length(&self) -> f64 {
        match self {
            Self::Line([a, b]) => distance(*a, *b),
            Self::Arc { radius, sweep, .. } => radius * sweep.abs(),
            _ => self.lengths()[PIECES],
        }
    }

    /// The length up to the end of each piece.
    fn lengths(&self) -> [f64; PIECES + 1] {
        let mut lengths = [0.0; PIECES + 1];
        for piece in 0..PIECES {
            let [from, to] = [piece, piece + 1].map(|end| end as f64 / PIECES as f64);
            lengths[piece + 1] = lengths[piece] + self.length_between(from, to);
        }
        lengths
    }

    /// The angle that it turns through at most, in rad: that of the polygon of its control points.
    pub(crate) fn turning(&self) -> f64 {
        let polygon: &[Point] = match self {
            Self::Line(_) => return 0.0,
            Self::Arc { sweep, .. } => return sweep.abs(),
            Self::Quadratic(polygon) => polygon,
            Self::Cubic(polygon) => polygon,
        };
        polygon.windows(3).map(|corner| turn(corner[0], corner[1], corner[2]).abs()).sum()
    }

    /// Points that divide it into parts of equal length, ends included.
    pub fn divide(&self, parts: usize) -> Vec<Point> {
        let parts = parts.max(1);
        let is_even = matches!(self, Self::Line(_) | Self::Arc { .. });
        let lengths = if is_even { [0.0; PIECES + 1] } else { self.lengths() };
        let mut piece = 0;
        let mut points = Vec::with_capacity(parts + 1);
        for part in 0..=parts {
            let share = part as f64 / parts as f64;
            if is_even || part == 0 || part == parts {
                points.push(self.point(share));
                continue;
            }
            let length = share * lengths[PIECES];
            while piece + 1 < PIECES && lengths[piece + 1] < length {
                piece += 1;
            }
            points.push(self.point(self.parameter(piece, length - lengths[piece])));
        }
        points
    }

    /// Where in a piece a length is used up. Bisection is slow and cannot fail, cusps included.
    fn parameter(&self, piece: usize, length: f64) -> f64 {
        let from = piece as f64 / PIECES as f64;
        let (mut low, mut high) = (from, (piece + 1) as f64 / PIECES as f64);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.length_between(from, middle) < length {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Points close enough together that the lines between them stand for the curve, ends included.
    pub(crate) fn flat(&self) -> Vec<Point> {
        let parts = match self {
            Self::Line(_) => 1,
            // 8 pieces for each quarter turn: a chord is off by 1 − cos(π/32), half a percent of the radius.
            _ => (self.turning() / FRAC_PI_2 * 8.0).ceil().clamp(4.0, 64.0) as usize,
        };
        (0..=parts).map(|part| self.point(part as f64 / parts as f64)).collect()
    }

    /// The same curve seen from behind: x negated.
    pub(crate) fn mirrored(&self) -> Self {
        let flip = |[x, y]: Point| [-x, y];
        match *self {
            Self::Line(points) => Self::Line(points.map(flip)),
            Self::Quadratic(points) => Self::Quadratic(points.map(flip)),
            Self::Cubic(points) => Self::Cubic(points.map(flip)),
            Self::Arc { start, end, center, radius, from, sweep } => Self::Arc {
                start: flip(start),
                end: flip(end),
                center: flip(center),
                radius,
                from: PI - from,
                sweep: -sweep,
            },
        }
    }
}

pub(crate) fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

pub(crate) fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(crate) fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn distance(a: Point, b: Point) -> f64 {
    norm(sub(a, b))
}

/// The angle from a → b to b → c, counter-clockwise.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    let (first, second) = (sub(b, a), sub(c, b));
    libm::atan2(cross(first, second), dot(first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_close_to_a_quarter_circle_has_its_length() {
        // The usual k = 4/3 tan(π/8): the length is off by 1.4e-4 of π/2.
        let k = 0.552_284_749_830_793_4;
        let quarter = Curve::Cubic([[1.0, 0.0], [1.0, k], [k, 1.0], [0.0, 1.0]]);
        assert!((quarter.length() - FRAC_PI_2).abs() < 3e-4, "{}", quarter.length());
    }

    #[test]
    fn a_quadratic_has_the_length_of_its_parabola() {
        // y = x² from 0 to 1: √5/2 + asinh(2)/4.
        let parabola = Curve::Quadratic([[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]]);
        let exact = 0.5 * 5f64.sqrt() + 0.25 * libm::asinh(2.0);
        assert!((parabola.length() - exact).abs() < 1e-13, "{}", parabola.length() - exact);
    }

    #[test]
    fn parts_are_equally_long() {
        let curve = Curve::Cubic([[0.0, 0.0], [1.0, 0.0], [0.2, 0.1], [0.3, 1.0]]);
        let points = curve.divide(500);
        let parts: Vec<f64> = points.windows(2).map(|part| distance(part[0], part[1])).collect();
        let mean = curve.length() / 500.0;
        let worst = parts.iter().map(|part| (part / mean - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 2e-3, "chords differ by {worst}");
        assert_eq!([points[0], points[500]], [curve.start(), curve.end()]);
    }

    #[test]
    fn arcs_follow_the_flags_of_svg() {
        let (start, end) = ([0.0, 0.0], [1.0, 0.0]);
        for (is_large, is_ccw, y) in [
            (false, true, -0.133_974_596),
            (true, true, -1.866_025_404),
            (false, false, 0.133_974_596),
            (true, false, 1.866_025_404),
        ] {
            let arc = Curve::arc(start, end, 1.0, is_large, is_ccw).unwrap();
            let middle = arc.point(0.5);
            assert!((middle[0] - 0.5).abs() < 1e-12 && (middle[1] - y).abs() < 1e-9, "{is_large} {is_ccw}: {middle:?}");
            let near_end = arc.point(1.0 - 1e-9);
            assert!(distance(near_end, end) < 1e-8, "{near_end:?}");
        }
        assert!(Curve::arc(start, end, 0.4, false, true).is_none(), "too small a circle");
        assert!(Curve::arc(start, end, 0.4999, false, true).is_some(), "a half circle, but for rounding");
    }

    #[test]
    fn a_mirrored_curve_is_the_mirror_of_its_points() {
        let arc = Curve::arc([0.1, 0.2], [0.5, -0.3], 0.5, true, false).unwrap();
        for curve in [arc, Curve::Quadratic([[0.0, 0.0], [0.3, 0.4], [1.0, 0.1]])] {
            for t in [0.0, 0.3, 1.0] {
                let (a, b) = (curve.point(t), curve.mirrored().point(t));
                assert!((a[0] + b[0]).abs() < 1e-14 && (a[1] - b[1]).abs() < 1e-14, "{a:?} {b:?}");
            }
        }
    }
}
