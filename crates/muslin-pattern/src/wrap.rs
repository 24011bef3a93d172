//! Panels curved around a body, so that they stand clear of it and their seams come near each other.
//!
//! A panel is rolled, not stretched: its plane goes onto a cylinder that touches it along a line parallel to the limb, so that every way along the cloth
//! keeps its length. Seen along that line, with t across the panel from the limb's axis, m outwards, and the plane at m = 0:
//!
//! A panel of an arm or a leg is first turned about where the limb begins, until it is parallel to it.
//!
//! ```text
//!     m
//!     │ ________ δ: pushed out        t′ = ρ sin(t/ρ)
//!   ──┼─────────────── panel  t       m′ = δ − ρ (1 − cos(t/ρ))
//!     │  ╲  body
//!     D   axis of the limb
//! ```
//!
//! A point of the body at depth q below the pushed plane, less the clearance, is inside of the cylinder of radius r = ρ − clearance if (r − q)² + t² ≤ r²,
//! which is r ≥ (q² + t²) / 2q. The ends stay on their side of the axis: ρ (1 − cos(b/ρ)) ≤ D + δ − clearance with b the
//! half width. So panels in front and behind do not meet. The smallest ρ that keeps both is taken.

use std::f64::consts::FRAC_PI_2;

use crate::assemble::Garment;
use crate::pattern::{Panel, Pattern};

type Vec3 = [f64; 3];

/// A body as a triangle mesh, with the axes that panels curve around.
///
/// ```
/// use muslin_pattern::{Body, Limb};
///
/// let positions = [[0.1, 0.8, 0.0], [-0.1, 0.8, 0.0], [0.0, 1.4, 0.1]];
/// let limbs = [Limb { label: "body".to_owned(), axis: [[0.0, 0.8, 0.0], [0.0, 1.4, 0.0]] }];
/// let body = Body { positions: &positions, triangles: &[[0, 1, 2]], limbs: &limbs };
/// assert_eq!(body.limbs.len(), 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body<'a> {
    /// Vertices, in m.
    pub positions: &'a [[f64; 3]],
    /// Vertex triples.
    pub triangles: &'a [[u32; 3]],
    /// Its parts that are long in one direction.
    pub limbs: &'a [Limb],
}

/// A part of a body that is long in one direction.
///
/// ```
/// use muslin_pattern::Limb;
///
/// let arm = Limb { label: "arm_left".to_owned(), axis: [[0.2, 1.4, 0.0], [0.6, 1.0, 0.0]] };
/// assert!(arm.label.starts_with("arm"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Limb {
    /// `body`, `arm_left`, `leg_right`: a panel with the label `arm` goes around the nearest limb whose label begins so, or `body`.
    pub label: String,
    /// The two ends of its axis, in m.
    pub axis: [[f64; 3]; 2],
}

/// How a panel was curved.
///
/// ```
/// use muslin_pattern::Bend;
///
/// let flat = Bend { curvature: 0.0, pushed: 0.0, turned: 0.0 };
/// assert_eq!(flat, Bend::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bend {
    /// One over the radius of its cylinder, in 1/m; 0 is flat.
    pub curvature: f64,
    /// How far it was moved outwards, in m.
    pub pushed: f64,
    /// The angle between the axis of its limb and its plane, by which it was turned to follow the limb, in rad.
    pub turned: f64,
}

/// How many clearances a panel is moved farther out, for the sake of a curve.
const STEPS: u32 = 3;
/// From this radius on a panel is flat, in m.
const FLAT: f64 = 100.0;
/// The label of panels that have none.
const BODY: &str = "body";
/// Panels across a limb are not curved: beyond this cosine of the angle between axis and normal.
const ACROSS: f64 = 0.5;

impl Pattern {
    /// Curves the panels of a garment of this pattern around a body, so that they stand clear of it by `clearance` m. Says how, for each panel.
    ///
    /// Panels of limbs are curved first, and panels of the body around them too. A panel whose plane lies across its limb, or goes through its axis, stays flat. Without limbs nothing changes.
    ///
    /// # Panics
    ///
    /// If the garment is of another pattern.
    pub fn wrap(&self, garment: &mut Garment, body: &Body<'_>, clearance: f64) -> Vec<Bend> {
        let clearance = clearance.max(0.0);
        let mut bends = vec![Bend::default(); self.panels.len()];
        // Sleeves and legs come first, and what goes around the body goes around them.
        let mut order: Vec<usize> = (0..self.panels.len()).collect();
        order.sort_by_key(|&index| self.panels[index].label.as_deref().unwrap_or(BODY) == BODY);
        let mut wrapped: Vec<usize> = Vec::new();
        for index in order {
            let group = &garment.panels[index];
            let (vertices, panel) = (group.vertices.start as usize..group.vertices.end as usize, &self.panels[index]);
            let positions = &garment.positions[vertices.clone()];
            let Some(limb) = nearest_limb(panel, positions, body.limbs) else { continue };
            let frame = Frame::new(panel, &body.limbs[limb], positions);
            let mut obstacles = frame.obstacles(body.positions, body.triangles, clearance);
            // Panels with one label stand beside each other, as those of two legs.
            for &other in wrapped.iter().filter(|&&other| self.panels[other].label != panel.label) {
                let triangles = &garment.panels[other].triangles;
                let triangles = &garment.triangles[triangles.start as usize..triangles.end as usize];
                let found = frame.obstacles(&garment.positions, triangles, clearance);
                // What is in front of this panel stays in front of it.
                obstacles.extend(found.into_iter().filter(|point| point[2] < 0.0));
            }
            let bend = frame.bend(&obstacles, clearance);
            garment.positions[vertices].iter_mut().for_each(|position| *position = frame.apply(*position, bend));
            bends[index] = bend;
            wrapped.push(index);
        }
        bends
    }
}

/// The limb that a panel goes around: of those with its label, and the body, the one whose axis, as a line without ends, is the nearest.
///
/// A skirt has the label of the legs and goes around both, which is around the body.
fn nearest_limb(panel: &Panel, positions: &[Vec3], limbs: &[Limb]) -> Option<usize> {
    let label = panel.label.as_deref().unwrap_or(BODY);
    let is_meant = |limb: &Limb| {
        let has_label =
            |label: &str| limb.label.strip_prefix(label).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        has_label(label) || has_label(BODY)
    };
    let count = positions.len().max(1) as f64;
    let center = [0, 1, 2].map(|k| positions.iter().map(|position| position[k]).sum::<f64>() / count);
    let distance = |limb: &Limb| {
        let [a, b] = limb.axis;
        let along = sub(b, a);
        let t = dot(sub(center, a), along) / dot(along, along).max(1e-12);
        let off = sub(center, [0, 1, 2].map(|k| a[k] + t * along[k]));
        dot(off, off)
    };
    let order = |&a: &usize, &b: &usize| distance(&limbs[a]).total_cmp(&distance(&limbs[b]));
    let meant = (0..limbs.len()).filter(|&limb| is_meant(&limbs[limb])).min_by(order);
    meant.or_else(|| (0..limbs.len()).min_by(order))
}

/// An origin with three axes: across a panel, along its limb, and outwards.
#[derive(Clone, Copy)]
struct Axes {
    origin: Vec3,
    axes: [Vec3; 3],
}

impl Axes {
    fn local(&self, position: Vec3) -> Vec3 {
        self.axes.map(|axis| dot(sub(position, self.origin), axis))
    }

    fn point(&self, [t, y, m]: Vec3) -> Vec3 {
        let [across, along, out] = self.axes;
        [0, 1, 2].map(|k| self.origin[k] + t * across[k] + y * along[k] + m * out[k])
    }
}

/// Where a panel lies, and where it is curved.
struct Frame {
    /// The plane of the panel, with the axis of the limb at t = 0.
    flat: Axes,
    /// The same, parallel to the limb.
    turned: Axes,
    angle: f64,
    /// How far the axis of the limb is behind the turned plane at the least; not above 0 where it meets the panel.
    depth: f64,
    /// The box around the panel: across and along.
    low: [f64; 2],
    high: [f64; 2],
}

impl Frame {
    fn new(panel: &Panel, limb: &Limb, positions: &[Vec3]) -> Self {
        let [from, to] = limb.axis;
        let direction = sub(to, from);
        let direction = direction.map(|x| x / dot(direction, direction).sqrt().max(1e-12));
        let mut normal = panel.placement.normal();
        // Outwards is away from the limb, wherever the panel faces.
        let middle = [0, 1, 2].map(|k| 0.5 * (from[k] + to[k]));
        let point = positions.first().copied().unwrap_or(panel.placement.translation);
        if dot(sub(point, middle), normal) < 0.0 {
            normal = normal.map(|x| -x);
        }
        let out = dot(direction, normal);
        let along = [0, 1, 2].map(|k| direction[k] - out * normal[k]);
        let length = dot(along, along).sqrt().max(1e-12);
        let along = along.map(|x| x / length);
        let across = cross(along, normal);
        let height = dot(sub(point, middle), normal);
        let flat = Axes { origin: [0, 1, 2].map(|k| middle[k] + height * normal[k]), axes: [across, along, normal] };
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for &position in positions {
            let [t, y, _] = flat.local(position);
            low = [low[0].min(t), low[1].min(y)];
            high = [high[0].max(t), high[1].max(y)];
        }
        let mut frame = Self { flat, turned: flat, angle: 0.0, depth: 0.0, low, high };
        if out.abs() > ACROSS {
            return frame;
        }
        if limb.label == BODY {
            // The axis rises towards the plane where it is not parallel to it.
            frame.depth = [low[1], high[1]].iter().map(|y| height - out / length * y).fold(f64::INFINITY, f64::min);
            return frame;
        }
        // A sleeve follows its arm: it is turned about where the limb begins.
        let [_, y, m] = flat.local(from);
        if m < 0.0 {
            let pivot = flat.point([0.0, y, 0.0]);
            let origin = [0, 1, 2].map(|k| pivot[k] - y * direction[k]);
            frame.turned = Axes { origin, axes: [across, direction, cross(across, direction)] };
            frame.angle = libm::asin(out);
            frame.depth = -frame.turned.local(from)[2];
        }
        frame
    }

    fn bend(&self, points: &[Vec3], clearance: f64) -> Bend {
        if self.depth <= 0.0 {
            return Bend::default();
        }
        let least = points.iter().map(|[_, _, m]| m + clearance).fold(0.0, f64::max);
        let half_width = self.low[0].abs().max(self.high[0].abs());
        // A point that touches the plane beside the axis would keep it flat: a little farther out it curves.
        let tried = (0..=STEPS).map(|step| {
            let pushed = least + f64::from(step) * clearance.max(0.001);
            let smallest = smallest_radius(half_width, self.depth + pushed - clearance).unwrap_or(f64::INFINITY);
            (pushed, clear_radius(points, pushed, clearance).max(smallest))
        });
        let tried: Vec<(f64, f64)> = tried.collect();
        let (pushed, radius) = tried.iter().copied().find(|&(_, radius)| radius < 2.0 * half_width).unwrap_or(tried[0]);
        let curvature = if radius < FLAT { 1.0 / radius } else { 0.0 };
        Bend { curvature, pushed, turned: self.angle }
    }

    /// Points of a surface that the panel may meet: the corners of what its triangles have in the box around the panel, on
    /// the panel's side of the axis.
    fn obstacles(&self, positions: &[Vec3], triangles: &[[u32; 3]], clearance: f64) -> Vec<Vec3> {
        let local: Vec<Vec3> = positions.iter().map(|&position| self.turned.local(position)).collect();
        let mut found = Vec::new();
        for triangle in triangles {
            let Some(corners) = corners(&local, triangle) else { continue };
            let mut part = corners.to_vec();
            for k in 0..2 {
                part = above(&part, k, self.low[k] - clearance, 1.0);
                part = above(&part, k, -self.high[k] - clearance, -1.0);
            }
            found.extend(above(&part, 2, -self.depth, 1.0));
        }
        found
    }

    fn apply(&self, position: Vec3, bend: Bend) -> Vec3 {
        let [t, y, _] = self.flat.local(position);
        // In terms that do not lose digits where it is nearly flat.
        let (sin, half_sin) = (libm::sin(t * bend.curvature), libm::sin(0.5 * t * bend.curvature));
        let (t, m) = if bend.curvature > 0.0 {
            (sin / bend.curvature, bend.pushed - 2.0 * half_sin * half_sin / bend.curvature)
        } else {
            (t, bend.pushed)
        };
        self.turned.point([t, y, m])
    }
}

/// The smallest radius of a cylinder that has all points inside of it, with the clearance, when its panel is pushed so far.
fn clear_radius(points: &[Vec3], pushed: f64, clearance: f64) -> f64 {
    points.iter().fold(0.0_f64, |radius, &[t, _, m]| {
        // Rounding must not lift a point over the plane, where it would ask for nothing.
        let q = (pushed - clearance - m).max(0.0);
        let touches = q == 0.0 && t == 0.0; // where every cylinder touches the plane
        if touches { radius } else { radius.max((q * q + t * t) / (2.0 * q) + clearance) }
    })
}

/// The smallest radius at which a half width, rolled, comes no deeper than `depth` and goes round a quarter at most; nothing where it would have to be
/// flat.
fn smallest_radius(half_width: f64, depth: f64) -> Option<f64> {
    let comes = |radius: f64| radius * (1.0 - libm::cos(half_width / radius));
    let (mut low, mut high) = (half_width / FRAC_PI_2, 1e4 * half_width);
    if half_width <= 0.0 || depth <= comes(high) {
        return None;
    }
    if comes(low) <= depth {
        return Some(low);
    }
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        *(if comes(middle) <= depth { &mut high } else { &mut low }) = middle;
    }
    Some(high)
}

/// The part of a convex polygon whose coordinate along an axis, times the sign, is not below a bound [Sutherland, Hodgman 1974].
fn above(polygon: &[Vec3], axis: usize, bound: f64, sign: f64) -> Vec<Vec3> {
    let height = |point: &Vec3| sign * point[axis] - bound;
    let mut part = Vec::with_capacity(polygon.len() + 1);
    for (index, point) in polygon.iter().enumerate() {
        let next = &polygon[(index + 1) % polygon.len()];
        let (here, there) = (height(point), height(next));
        if here >= 0.0 {
            part.push(*point);
        }
        if (here < 0.0) != (there < 0.0) {
            let t = here / (here - there);
            part.push([0, 1, 2].map(|k| point[k] + t * (next[k] - point[k])));
        }
    }
    part
}

fn corners(points: &[Vec3], triangle: &[u32; 3]) -> Option<[Vec3; 3]> {
    let [a, b, c] = triangle.map(|vertex| points.get(vertex as usize).copied());
    Some([a?, b?, c?])
}

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
