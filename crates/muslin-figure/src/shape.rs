//! The form of the figure: tables of cross sections, and their smooth union as one field.
//!
//! ```text
//!        head          Each part is a table of squircles along its axis (`part.rs`). Parts join by a minimum that is
//!        neck          rounded within a radius [Quilez 2013]: wide where a shoulder flows into an arm, narrow between
//!  arm ─ torso ─ arm   the thighs, so that nothing webs across a gap.
//!      leg   leg
//!     foot   foot      The field is even in x: only the left half (+x) is ever looked at.
//! ```
//!
//! The tables are drawn for a height of 1.75 m. A girth asked for is met by a factor on the torso's half-widths, found by
//! measuring the field.

use crate::measures::Measures;
use crate::part::{Part, Station, smooth_min};
use crate::vector::{Vec3, cross, distance, dot, scale, smooth_step, sub, unit};

/// The height that the tables are drawn for, in m.
const DRAWN_HEIGHT: f64 = 1.75;

/// Levels of chest, waist and hips at that height, in m.
pub(crate) const LEVELS: [f64; 3] = [1.275, 1.08, 0.90];

/// Where the arm begins and where the wrist is, at that height and the default chest.
const SHOULDER: Vec3 = [0.178, 1.387, -0.005];
const WRIST: Vec3 = [0.60, 1.038, -0.005];

/// `[y, centre x, centre z, half-width, front, back, squareness]`.
#[rustfmt::skip]
const TORSO: [Station; 13] = [
    [0.935, 0.000, 0.000, 0.169, 0.105, 0.120, 0.42],
    [0.980, 0.000, 0.001, 0.159, 0.104, 0.110, 0.45],
    [1.030, 0.000, 0.003, 0.138, 0.103, 0.094, 0.45],
    [1.080, 0.000, 0.004, 0.123, 0.100, 0.088, 0.45],
    [1.140, 0.000, 0.003, 0.130, 0.105, 0.094, 0.45],
    [1.210, 0.000, -0.002, 0.149, 0.119, 0.106, 0.50],
    [1.275, 0.000, -0.006, 0.162, 0.130, 0.111, 0.52],
    [1.335, 0.000, -0.012, 0.167, 0.119, 0.108, 0.55],
    [1.385, 0.000, -0.018, 0.166, 0.096, 0.095, 0.50],
    [1.420, 0.000, -0.022, 0.154, 0.078, 0.082, 0.40],
    [1.445, 0.000, -0.024, 0.130, 0.066, 0.072, 0.30],
    [1.470, 0.000, -0.024, 0.094, 0.056, 0.062, 0.10],
    [1.495, 0.000, -0.022, 0.062, 0.050, 0.054, 0.00],
];

/// Along an axis that leans forward: `[s, centre x, centre z, half-width, front, back, squareness]`.
#[rustfmt::skip]
const NECK: [Station; 4] = [
    [0.000, 0.000, 0.000, 0.066, 0.058, 0.062, 0.00],
    [0.050, 0.000, 0.000, 0.053, 0.052, 0.055, 0.00],
    [0.090, 0.000, 0.000, 0.051, 0.051, 0.054, 0.00],
    [0.140, 0.000, 0.000, 0.046, 0.046, 0.052, 0.00],
];

/// An egg: the ends do it. Its axis brings the chin to the front.
#[rustfmt::skip]
const HEAD: [Station; 2] = [
    [-0.004, 0.000, 0.000, 0.075, 0.090, 0.096, 0.00],
    [0.004, 0.000, 0.000, 0.075, 0.090, 0.096, 0.00],
];

/// Along the arm: `[s, centre up, centre z, half-thickness, front, back, squareness]`; the hand is flat, its palm faces the body.
#[rustfmt::skip]
const ARM: [Station; 15] = [
    [-0.030, 0.000, 0.000, 0.035, 0.040, 0.043, 0.10],
    [0.030, 0.000, 0.000, 0.046, 0.051, 0.054, 0.10],
    [0.080, 0.001, 0.000, 0.046, 0.050, 0.049, 0.00],
    [0.140, 0.001, 0.001, 0.044, 0.046, 0.045, 0.00],
    [0.220, 0.000, 0.001, 0.040, 0.042, 0.041, 0.00],
    [0.290, 0.000, 0.000, 0.037, 0.038, 0.039, 0.00],
    [0.350, 0.000, 0.002, 0.037, 0.041, 0.040, 0.10],
    [0.420, 0.000, 0.005, 0.034, 0.038, 0.036, 0.00],
    [0.500, 0.000, 0.008, 0.027, 0.031, 0.030, 0.00],
    [0.555, 0.000, 0.010, 0.024, 0.030, 0.030, 0.10],
    [0.600, 0.000, 0.012, 0.021, 0.036, 0.035, 0.20],
    [0.645, 0.000, 0.012, 0.019, 0.041, 0.039, 0.20],
    [0.690, -0.003, 0.011, 0.018, 0.039, 0.038, 0.20],
    [0.725, -0.007, 0.010, 0.015, 0.034, 0.034, 0.20],
    [0.745, -0.010, 0.009, 0.013, 0.028, 0.029, 0.20],
];

/// From the heel of the thumb to its tip.
#[rustfmt::skip]
const THUMB: [Station; 3] = [
    [0.000, 0.000, 0.000, 0.015, 0.016, 0.016, 0.00],
    [0.045, 0.000, 0.000, 0.013, 0.013, 0.013, 0.00],
    [0.080, 0.000, 0.000, 0.011, 0.011, 0.011, 0.00],
];

/// `[y, centre x, centre z, half-width, front, back, squareness]`.
#[rustfmt::skip]
const LEG: [Station; 14] = [
    [0.070, 0.096, -0.020, 0.036, 0.041, 0.041, 0.00],
    [0.110, 0.096, -0.020, 0.035, 0.040, 0.042, 0.00],
    [0.170, 0.097, -0.018, 0.040, 0.042, 0.048, 0.00],
    [0.250, 0.098, -0.015, 0.050, 0.047, 0.060, 0.00],
    [0.330, 0.098, -0.011, 0.055, 0.052, 0.065, 0.10],
    [0.410, 0.096, -0.004, 0.054, 0.057, 0.062, 0.10],
    [0.470, 0.094, 0.001, 0.056, 0.062, 0.061, 0.10],
    [0.540, 0.093, 0.003, 0.061, 0.069, 0.067, 0.10],
    [0.630, 0.093, 0.002, 0.071, 0.083, 0.079, 0.10],
    [0.720, 0.092, 0.000, 0.079, 0.095, 0.093, 0.10],
    [0.790, 0.091, -0.002, 0.080, 0.096, 0.103, 0.10],
    [0.850, 0.089, -0.003, 0.079, 0.088, 0.108, 0.10],
    [0.900, 0.087, -0.003, 0.077, 0.077, 0.105, 0.10],
    [0.960, 0.079, -0.003, 0.066, 0.054, 0.092, 0.10],
];

/// Along the foot from the heel: `[s, centre across, centre y, half-width, above, below, squareness]`; the floor cuts what is below.
#[rustfmt::skip]
const FOOT: [Station; 7] = [
    [-0.040, 0.000, 0.030, 0.028, 0.034, 0.040, 0.40],
    [0.000, 0.000, 0.032, 0.032, 0.050, 0.042, 0.40],
    [0.050, 0.000, 0.030, 0.034, 0.044, 0.040, 0.40],
    [0.100, 0.001, 0.027, 0.039, 0.034, 0.037, 0.45],
    [0.140, 0.001, 0.025, 0.042, 0.026, 0.035, 0.45],
    [0.175, -0.001, 0.022, 0.039, 0.020, 0.032, 0.40],
    [0.195, -0.003, 0.020, 0.032, 0.017, 0.028, 0.30],
];

/// What the skeleton takes from the form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// By how much all is larger than drawn.
    pub(crate) size: f64,
    /// Where the left arm begins, in m.
    pub(crate) shoulder: Vec3,
    /// The direction of the left arm.
    pub(crate) arm: Vec3,
    /// By how much the legs are farther apart than drawn.
    pub(crate) leg: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) frame: Frame,
    torso: Part,
    neck: Part,
    head: Part,
    arm: Part,
    thumb: Part,
    leg: Part,
    foot: Part,
}

impl Shape {
    /// The girths of the torso come out as asked for: factors are corrected by what the field measures.
    pub(crate) fn new(measures: &Measures) -> Self {
        let size = measures.height / DRAWN_HEIGHT;
        let wanted = [measures.chest, measures.waist, measures.hip];
        let mut factors = [1.0; 3];
        let mut shape = Self::with_factors(size, factors);
        for _ in 0..5 {
            for k in 0..3 {
                factors[k] *= wanted[k] / shape.torso_girth(LEVELS[k] * size);
            }
            shape = Self::with_factors(size, factors);
        }
        shape
    }

    fn with_factors(size: f64, [chest, waist, hip]: [f64; 3]) -> Self {
        let part_of = |factor: f64, part: f64| 1.0 + part * (factor - 1.0);
        let width = |y: f64| {
            let knots = [
                (0.90, hip),
                (1.08, waist),
                (1.27, chest),
                (1.36, part_of(chest, 0.8)),
                (1.45, part_of(chest, 0.3)),
                (1.50, 1.0),
            ];
            let along = |a: f64, (at, b): (f64, f64), before: f64| a + (b - a) * smooth_step(before, at, y);
            knots.windows(2).fold(hip, |value, pair| along(value, pair[1], pair[0].0))
        };
        // Shoulders move out with half of what the chest gains, legs so that thighs keep their gap.
        let (shoulder_x, leg) = (part_of(chest, 0.5), part_of(hip, 0.6));
        let shoulder = [SHOULDER[0] * shoulder_x * size, SHOULDER[1] * size, SHOULDER[2] * size];
        let wrist = [shoulder[0] + (WRIST[0] - SHOULDER[0]) * size, WRIST[1] * size, WRIST[2] * size];
        let along = unit(sub(wrist, shoulder));
        let arm_axes = [cross(along, [0.0, 0.0, 1.0]).map(|x| -x), along, [0.0, 0.0, 1.0]];
        let arm_width = |s: f64| part_of(chest, 0.5 - 0.35 * smooth_step(0.0, 0.5, s));
        let upright = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let table = |stations: &[Station], width: &dyn Fn(f64) -> f64, apart: f64| -> Vec<Station> {
            let scaled = |&[s, u, v, a, front, back, q]: &Station| {
                let w = width(s) * size;
                [s * size, u * size * apart, v * size, a * w, front * w, back * w, q]
            };
            stations.iter().map(scaled).collect()
        };
        let cap = |low: f64, high: f64| [low * size, high * size];
        let at = |x: f64, y: f64, z: f64| [x * size, y * size, z * size];
        let lean = unit([0.0, 1.0, 0.22]);
        let neck_axes = [[1.0, 0.0, 0.0], lean, cross([1.0, 0.0, 0.0], lean)];
        let nod = unit([0.0, 1.0, -0.24]);
        let head_axes = [[1.0, 0.0, 0.0], nod, cross([1.0, 0.0, 0.0], nod)];
        let hand = |s: f64, up: f64, front: f64| -> Vec3 {
            std::array::from_fn(|k| shoulder[k] + size * (s * along[k] + up * arm_axes[0][k] + front * arm_axes[2][k]))
        };
        let thumb = [hand(0.585, -0.003, 0.026), hand(0.665, -0.012, 0.057)];
        let thumb_along = unit(sub(thumb[1], thumb[0]));
        let thumb_across = unit(cross(thumb_along, [0.0, 0.0, 1.0]));
        // Toes point a little outwards.
        let toes = unit([0.12, 0.0, 1.0]);
        Self {
            frame: Frame { size, shoulder, arm: along, leg },
            torso: Part::new([0.0; 3], upright, table(&TORSO, &width, 1.0), cap(0.115, 0.03)),
            neck: Part::new(at(0.0, 1.43, -0.018), neck_axes, table(&NECK, &|_| 1.0, 1.0), cap(0.03, 0.03)),
            head: Part::new(at(0.0, 1.664, 0.012), head_axes, table(&HEAD, &|_| 1.0, 1.0), cap(0.128, 0.0805)),
            arm: Part::new(shoulder, arm_axes, table(&ARM, &arm_width, 1.0), cap(0.045, 0.028)),
            thumb: Part::new(
                thumb[0],
                [thumb_across, thumb_along, cross(thumb_across, thumb_along)],
                table(&THUMB, &|_| 1.0, 1.0),
                cap(0.012, 0.010),
            ),
            leg: Part::new(
                [0.0; 3],
                upright,
                table(&LEG, &|y| part_of(leg, smooth_step(0.1, 0.7, y)), leg),
                cap(0.03, 0.05),
            ),
            foot: Part::new(
                at(0.099 * leg, 0.0, -0.025),
                [[toes[2], 0.0, -toes[0]], toes, [0.0, 1.0, 0.0]],
                table(&FOOT, &|_| 1.0, 1.0),
                cap(0.022, 0.022),
            ),
        }
    }

    /// About the signed distance to the surface, positive outside.
    pub(crate) fn field(&self, [x, y, z]: Vec3) -> f64 {
        let size = self.frame.size;
        let point = [x.abs(), y, z];
        let trunk = smooth_min(self.torso.field(point), self.neck.field(point), 0.035 * size);
        let trunk = smooth_min(trunk, self.head.field(point), 0.030 * size);
        let arm = smooth_min(self.arm.field(point), self.thumb.field(point), 0.022 * size);
        let legs = smooth_min(self.leg_field(point), self.leg_field([-point[0], y, z]), 0.012 * size);
        smooth_min(smooth_min(trunk, arm, 0.055 * size), legs, 0.050 * size)
    }

    fn leg_field(&self, point: Vec3) -> f64 {
        let size = self.frame.size;
        // The floor cuts the sole: the larger of two fields, rounded.
        let foot = -smooth_min(-self.foot.field(point), point[1], 0.012 * size);
        smooth_min(self.leg.field(point), foot, 0.030 * size)
    }

    /// How long edges may be there: 1 almost everywhere, less in hands and feet.
    pub(crate) fn fineness(&self, [x, y, _]: Vec3) -> f64 {
        let size = self.frame.size;
        let hand = smooth_step(0.50 * size, 0.62 * size, x.abs());
        let foot = 1.0 - smooth_step(0.02 * size, 0.16 * size, y);
        1.0 - 0.42 * hand - 0.25 * foot
    }

    /// Whether a place is nearer to the surface of an arm than to any other.
    pub(crate) fn is_arm(&self, [x, y, z]: Vec3) -> bool {
        let point = [x.abs(), y, z];
        self.arm.field(point).min(self.thumb.field(point)) < self.torso.field(point).min(self.leg_field(point))
    }

    /// A point moved onto the surface by a step of Newton's method, with a gradient from forward differences.
    pub(crate) fn project(&self, point: Vec3) -> Vec3 {
        let step = 1e-5;
        let value = self.field(point);
        let gradient: Vec3 = std::array::from_fn(|k| {
            let mut moved = point;
            moved[k] += step;
            (self.field(moved) - value) / step
        });
        sub(point, scale(gradient, value / dot(gradient, gradient).max(0.04)))
    }

    /// The girth of the torso at a level: a polygon of rays from the middle.
    fn torso_girth(&self, y: f64) -> f64 {
        const RAYS: usize = 96;
        let corner = |ray: usize| -> Vec3 {
            let angle = std::f64::consts::TAU * ray as f64 / RAYS as f64;
            let (sin, cos) = (libm::sin(angle), libm::cos(angle));
            // The first way out: farther on there may be an arm.
            let mut outside = 0.0;
            while self.field([outside * sin, y, outside * cos]) < 0.0 {
                outside += 0.01;
            }
            let mut inside = outside - 0.01;
            for _ in 0..30 {
                let middle = 0.5 * (inside + outside);
                if self.field([middle * sin, y, middle * cos]) < 0.0 {
                    inside = middle;
                } else {
                    outside = middle;
                }
            }
            [inside * sin, y, inside * cos]
        };
        (0..RAYS).map(|ray| distance(corner(ray), corner((ray + 1) % RAYS))).sum()
    }
}
