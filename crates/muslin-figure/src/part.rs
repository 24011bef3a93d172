//! A part of the figure: cross sections along an axis, as a field that is nearly a distance.
//!
//! A station has a place s along the axis, the centre of its cross section, and the half-widths of a squircle around it:
//! one across, one to the front and one to the back. Between stations all of them follow cubic splines. With X and Z the
//! coordinates in half-widths and q the squareness, the section is the level set k = 1 of
//!
//! ```text
//! k² = (R + √(R² − 4 q² X² Z²)) / 2,     R = X² + Z²                       [Fernández-Guasti 1992]
//! ```
//!
//! an ellipse for q = 0. Beyond the first and the last station, k² grows by the square of the way beyond them in lengths of a
//! cap, which makes an ellipsoidal end. The field is (k − 1)/‖∇k‖, a distance to first order [Taubin 1994].

use crate::vector::{Vec3, dot, sub};

/// `[s, centre u, centre v, half-width, front, back, squareness]`, in m.
pub(crate) type Station = [f64; 7];

/// Numbers of a station that vary along the axis.
const CHANNELS: usize = 6;

/// Stations along an axis.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    origin: Vec3,
    /// Across, along, and to the front: orthonormal.
    axes: [Vec3; 3],
    stations: Vec<Station>,
    slopes: Vec<[f64; CHANNELS]>,
    /// Lengths of the ends before the first and beyond the last station.
    caps: [f64; 2],
    /// A box around it along its axes.
    bounds: [Vec3; 2],
}

/// Farther from its bounds than this, in m, a part is not looked at: it is wider than every rounding.
const REACH: f64 = 0.1;

impl Part {
    pub(crate) fn new(origin: Vec3, axes: [Vec3; 3], stations: Vec<Station>, caps: [f64; 2]) -> Self {
        let slopes = slopes(&stations);
        let wide = |k: usize| stations.iter().map(|station| station[k].abs()).fold(0.0, f64::max);
        let across = 1.1 * (wide(1) + wide(3));
        let deep = 1.1 * (wide(2) + wide(4).max(wide(5)));
        let bounds =
            [[-across, stations[0][0] - caps[0], -deep], [across, stations[stations.len() - 1][0] + caps[1], deep]];
        Self { origin, axes, stations, slopes, caps, bounds }
    }

    /// About its signed distance, positive outside.
    pub(crate) fn field(&self, point: Vec3) -> f64 {
        let from = sub(point, self.origin);
        let local = self.axes.map(|axis| dot(axis, from));
        let beyond = |k: usize| (self.bounds[0][k] - local[k]).max(local[k] - self.bounds[1][k]);
        let off = beyond(0).max(beyond(1)).max(beyond(2));
        if off > REACH {
            return off;
        }
        let [u, along, v] = local;
        let (first, last) = (self.stations[0][0], self.stations[self.stations.len() - 1][0]);
        let s = along.clamp(first, last);
        let (value, slope) = self.section(s);
        let [center_u, center_v, half, front, back, squareness] = value;
        let (off_u, off_v) = (u - center_u, v - center_v);
        let (depth, depth_slope) = if off_v > 0.0 { (front, slope[3]) } else { (back, slope[4]) };
        let (x, z) = (off_u / half, off_v / depth);
        let sum = x * x + z * z;
        let square = 4.0 * squareness * squareness;
        let root = (sum * sum - square * x * x * z * z).max(1e-24).sqrt();
        let across = (0.5 * (sum + root)).max(1e-12).sqrt();
        // ∂k/∂X and ∂k/∂Z of the section alone.
        let by_x = (2.0 * x + (2.0 * sum * x - square * x * z * z) / root) / (4.0 * across);
        let by_z = (2.0 * z + (2.0 * sum * z - square * x * x * z) / root) / (4.0 * across);
        let mut gradient = [by_x / half, 0.0, by_z / depth];
        let mut k = across;
        if along == s {
            gradient[1] = -by_x * (slope[0] + x * slope[2]) / half - by_z * (slope[1] + z * depth_slope) / depth;
        } else {
            let cap = self.caps[usize::from(along > last)];
            let beyond = (along - s) / cap;
            k = (across * across + beyond * beyond).sqrt();
            let share = across / k;
            gradient = [gradient[0] * share, beyond / (k * cap), gradient[2] * share];
        }
        (k - 1.0) / dot(gradient, gradient).sqrt().max(1.0)
    }

    fn section(&self, s: f64) -> ([f64; CHANNELS], [f64; CHANNELS]) {
        let upper = self.stations.partition_point(|station| station[0] < s).clamp(1, self.stations.len() - 1);
        let (a, b) = (&self.stations[upper - 1], &self.stations[upper]);
        let (slope_a, slope_b) = (&self.slopes[upper - 1], &self.slopes[upper]);
        let wide = b[0] - a[0];
        let t = (s - a[0]) / wide;
        let (mut value, mut slope) = ([0.0; CHANNELS], [0.0; CHANNELS]);
        for k in 0..CHANNELS {
            let (p, q) = (a[k + 1], b[k + 1]);
            let (m, n) = (wide * slope_a[k], wide * slope_b[k]);
            let (square, cube) = (3.0 * (q - p) - 2.0 * m - n, 2.0 * (p - q) + m + n);
            value[k] = p + t * (m + t * (square + t * cube));
            slope[k] = (m + t * (2.0 * square + t * 3.0 * cube)) / wide;
        }
        (value, slope)
    }
}

/// Slopes of the cubic spline through the stations: the second derivative is continuous, or light would show every station. At the
/// ends the slope is zero, as it is where the caps begin.
fn slopes(stations: &[Station]) -> Vec<[f64; CHANNELS]> {
    let last = stations.len() - 1;
    let wide: Vec<f64> = stations.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
    let secant = |at: usize, k: usize| (stations[at + 1][k + 1] - stations[at][k + 1]) / wide[at];
    let mut slopes = vec![[0.0; CHANNELS]; last + 1];
    for k in 0..CHANNELS {
        // Thomas' algorithm on  m₋/w₋ + 2 m (1/w₋ + 1/w) + m₊/w = 3 (secant₋/w₋ + secant/w).
        let (mut share, mut right) = (vec![0.0; last + 1], vec![0.0; last + 1]);
        right[0] = 0.0;
        for at in 1..last {
            let (before, after) = (1.0 / wide[at - 1], 1.0 / wide[at]);
            let pivot = 2.0 * (before + after) - before * share[at - 1];
            share[at] = after / pivot;
            right[at] = (3.0 * (secant(at - 1, k) * before + secant(at, k) * after) - before * right[at - 1]) / pivot;
        }
        for at in (0..last).rev() {
            slopes[at][k] = right[at] - share[at] * slopes[at + 1][k];
        }
    }
    slopes
}

/// The smaller of two fields, rounded where they differ by less than `radius`.
pub(crate) fn smooth_min(a: f64, b: f64, radius: f64) -> f64 {
    let overlap = (radius - (a - b).abs()).max(0.0) / radius;
    a.min(b) - overlap * overlap * radius * 0.25
}
