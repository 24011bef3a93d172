//! Where the limbs of a body are: of a figure that stands upright, faces +z and spreads its arms a little.
//!
//! Heights and widths are parts of the height of the body, from the proportions of adults.

use std::ops::Range;

use crate::wrap::Limb;

type Vec3 = [f64; 3];

/// Beyond this distance from the middle there are only arms.
const ARMS: f64 = 0.14;
/// Where there are arms and no legs.
const ARM_HEIGHTS: Range<f64> = 0.42..0.9;
/// The trunk, from the hips to under the arms.
const TRUNK: Range<f64> = 0.52..0.75;
/// Where the waist is looked for.
const WAIST: Range<f64> = 0.56..0.72;
/// From the ankle to the thigh.
const LEG: Range<f64> = 0.05..0.42;
/// Half of the height of a slice.
const SLICE: f64 = 0.01;
/// Fewer points than these are no limb.
const FEWEST: usize = 8;

/// A body that stands upright, measured by its points.
///
/// ```
/// use muslin_pattern::Standing;
///
/// // A post of 1.7 m, narrowest at 1.1 m.
/// let ring = |y: f64, r: f64| (0..32).map(move |k| (y, r, f64::from(k) * std::f64::consts::TAU / 32.0));
/// let radius = |y: f64| 0.1 + 0.2 * (y - 1.1_f64).abs();
/// let points: Vec<[f64; 3]> = (0..=170).map(|k| f64::from(k) / 100.0)
///     .flat_map(|y| ring(y, radius(y))).map(|(y, r, a)| [r * a.cos(), y, r * a.sin()]).collect();
/// let body = Standing::of(&points).unwrap();
/// assert!((body.waist - 1.1).abs() < 0.03);
/// assert_eq!(body.limbs[0].label, "body");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Lowest and highest point, in m.
    pub heights: [f64; 2],
    /// Height of the narrowest part of the trunk, in m.
    pub waist: f64,
    /// The trunk, and the arms and legs that were found.
    pub limbs: Vec<Limb>,
}

impl Standing {
    /// Of the points of a body, in m; `None` where there is no trunk.
    pub fn of(points: &[Vec3]) -> Option<Self> {
        let low = points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p[1]).fold(f64::NEG_INFINITY, f64::max);
        let height = high - low;
        let part = |range: &Range<f64>| low + range.start * height..low + range.end * height;
        let trunk: Vec<Vec3> = points.iter().filter(|p| part(&TRUNK).contains(&p[1])).copied().collect();
        let middle = middle(&trunk)?;
        let inner: Vec<Vec3> = trunk.iter().filter(|p| (p[0] - middle[0]).abs() < ARMS * height).copied().collect();
        let slice = |points: &[Vec3], y: f64| -> Vec<Vec3> {
            points.iter().filter(|p| (p[1] - y).abs() <= SLICE * height).copied().collect()
        };
        let center = |y: f64| box_center(&slice(&inner, y)).unwrap_or(middle);
        let [from, to] = [TRUNK.start, TRUNK.end].map(|part| low + part * height);
        // The trunk leans a little; panels hang upright.
        let z = 0.5 * (center(from)[2] + center(to)[2]);
        let axis = [from, to].map(|y| [center(y)[0], y, z]);
        let mut limbs = vec![Limb { label: "body".to_owned(), axis }];
        let waist = (0..=32).map(|k| low + (WAIST.start + (WAIST.end - WAIST.start) * f64::from(k) / 32.0) * height);
        let waist = waist.min_by(|a, b| around(&slice(&inner, *a)).total_cmp(&around(&slice(&inner, *b))))?;
        for (name, side) in [("left", 1.0), ("right", -1.0)] {
            let is_arm = |p: &&Vec3| side * (p[0] - middle[0]) > ARMS * height && part(&ARM_HEIGHTS).contains(&p[1]);
            let arm: Vec<Vec3> = points.iter().filter(is_arm).copied().collect();
            limbs.extend(arm_axis(&arm, height).map(|axis| Limb { label: format!("arm_{name}"), axis }));
            let is_leg = |p: &&Vec3| side * (p[0] - middle[0]) > 0.0 && side * (p[0] - middle[0]) < ARMS * height;
            let leg: Vec<Vec3> = points.iter().filter(is_leg).copied().collect();
            let ends = [LEG.start, LEG.end].map(|part| {
                let y = low + part * height;
                box_center(&slice(&leg, y)).map(|center| [center[0], y, center[2]])
            });
            if let [Some(foot), Some(thigh)] = ends {
                limbs.push(Limb { label: format!("leg_{name}"), axis: [foot, thigh] });
            }
        }
        Some(Self { heights: [low, high], waist, limbs })
    }
}

/// From the shoulder to the wrist: between the middles of the points nearest to and farthest from the trunk, less the hand.
fn arm_axis(arm: &[Vec3], height: f64) -> Option<[Vec3; 2]> {
    /// Parts of the way out that an end is the middle of.
    const ENDS: [Range<f64>; 2] = [0.0..0.12, 0.62..0.74];
    let out = |p: &Vec3| p[0].abs();
    let near = arm.iter().map(out).fold(f64::INFINITY, f64::min);
    let far = arm.iter().map(out).fold(0.0, f64::max);
    // An arm that hangs down is beside the trunk, and no limb of its own to a pattern.
    if arm.len() < FEWEST || far - near < 0.05 * height {
        return None;
    }
    let [shoulder, wrist] = ENDS.map(|part| {
        let within = near + part.start * (far - near)..=near + part.end * (far - near);
        box_center(&arm.iter().filter(|p| within.contains(&out(p))).copied().collect::<Vec<_>>())
    });
    Some([shoulder?, wrist?])
}

fn middle(points: &[Vec3]) -> Option<Vec3> {
    let count = points.len() as f64;
    let sum = |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / count;
    (points.len() >= FEWEST).then(|| [sum(0), sum(1), sum(2)])
}

/// The middle of the box around points: of a part of the surface it does not matter how densely it is divided.
fn box_center(points: &[Vec3]) -> Option<Vec3> {
    let bound = |axis: usize, start: f64, pick: fn(f64, f64) -> f64| points.iter().map(|p| p[axis]).fold(start, pick);
    let center = |axis| 0.5 * (bound(axis, f64::INFINITY, f64::min) + bound(axis, f64::NEG_INFINITY, f64::max));
    (points.len() >= FEWEST).then(|| [center(0), center(1), center(2)])
}

/// The sum of width and depth, which the girth follows; infinite where there is nothing.
fn around(points: &[Vec3]) -> f64 {
    let extent = |axis: usize| {
        let low = points.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
        points.iter().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max) - low
    };
    if points.len() < FEWEST { f64::INFINITY } else { extent(0) + extent(2) }
}
