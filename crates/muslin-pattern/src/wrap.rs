//! Panels curved around a body, so that they stand clear of it and their seams come near each other.
//!
//! A panel is rolled, not stretched: its plane goes onto a cylinder that touches it along a line parallel to the limb, so that every way along the cloth
//! keeps its length. Seen along that line, with t across the panel from the limb's axis, m outwards, and the plane at m = 0:
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
/// let flat = Bend { curvature: 0.0, pushed: 0.0 };
/// assert_eq!(flat, Bend::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bend {
    /// One over the radius of its cylinder, in 1/m; 0 is flat.
    pub curvature: f64,
    /// How far it was moved outwards, in m.
    pub pushed: f64,
}

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
        let mut wrapped: Vec<(usize, usize)> = Vec::new();
        for index in order {
            let group = &garment.panels[index];
            let (vertices, panel) = (group.vertices.start as usize..group.vertices.end as usize, &self.panels[index]);
            let positions = &garment.positions[vertices.clone()];
            let Some(limb) = nearest_limb(panel, positions, body.limbs) else { continue };
            let frame = Frame::new(panel, &body.limbs[limb], positions);
            let mut obstacles = frame.obstacles(body.positions, body.triangles, clearance);
            for &(other, _) in wrapped.iter().filter(|&&(_, other)| other != limb) {
                let triangles = &garment.panels[other].triangles;
                let triangles = &garment.triangles[triangles.start as usize..triangles.end as usize];
                let found = frame.obstacles(&garment.positions, triangles, clearance);
                // What is in front of this panel stays in front of it.
                obstacles.extend(found.into_iter().filter(|point| point[2] < 0.0));
            }
            let bend = frame.bend(&obstacles, clearance);
            garment.positions[vertices].iter_mut().for_each(|position| *position = frame.apply(*position, bend));
            bends[index] = bend;
            wrapped.push((index, limb));
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

/// The axes in which a panel is curved: across, along the limb, and outwards.
struct Frame {
    origin: Vec3,
    axes: [Vec3; 3],
    /// How far the axis of the limb is behind the plane at the least; not above 0 where it meets the panel.
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
        let out = dot(direction, normal);
        let along = [0, 1, 2].map(|k| direction[k] - out * normal[k]);
        let length = dot(along, along).sqrt();
        let along = along.map(|x| x / length.max(1e-12));
        // Outwards is away from the limb, wherever the panel faces.
        let middle = [0, 1, 2].map(|k| 0.5 * (from[k] + to[k]));
        let point = positions.first().copied().unwrap_or(panel.placement.translation);
        if dot(sub(point, middle), normal) < 0.0 {
            normal = normal.map(|x| -x);
        }
        let across = cross(along, normal);
        // The axis is at t = 0, and the plane at m = 0.
        let height = dot(sub(point, middle), normal);
        let origin = [0, 1, 2].map(|k| middle[k] + height * normal[k]);
        let mut frame = Self {
            origin,
            axes: [across, along, normal],
            depth: 0.0,
            low: [f64::INFINITY; 2],
            high: [f64::NEG_INFINITY; 2],
        };
        for &position in positions {
            let [t, y, _] = frame.local(position);
            frame.low = [frame.low[0].min(t), frame.low[1].min(y)];
            frame.high = [frame.high[0].max(t), frame.high[1].max(y)];
        }
        // The axis rises towards the plane where it is not parallel to it.
        let slope = dot(direction, normal) / length.max(1e-12);
        let is_across = out.abs() > ACROSS;
        frame.depth = if is_across {
            0.0
        } else {
            [frame.low[1], frame.high[1]].iter().map(|y| height - slope * y).fold(f64::INFINITY, f64::min)
        };
        frame
    }

    fn local(&self, position: Vec3) -> Vec3 {
        self.axes.map(|axis| dot(sub(position, self.origin), axis))
    }

    fn bend(&self, points: &[Vec3], clearance: f64) -> Bend {
        if self.depth <= 0.0 {
            return Bend::default();
        }
        let pushed = points.iter().map(|[_, _, m]| m + clearance).fold(0.0, f64::max);
        // Rounding must not lift a point over the plane, where it would ask for nothing.
        let below = |m: f64| (pushed - clearance - m).max(0.0);
        let mut radius = 0.0_f64;
        for &[t, _, m] in points {
            let q = below(m);
            if q == 0.0 && t == 0.0 {
                continue; // where the cylinder touches the plane
            }
            radius = radius.max((q * q + t * t) / (2.0 * q) + clearance);
        }
        let half_width = self.low[0].abs().max(self.high[0].abs());
        match smallest_radius(half_width, self.depth + pushed - clearance) {
            Some(smallest) if radius.is_finite() => Bend { curvature: 1.0 / radius.max(smallest), pushed },
            _ => Bend { curvature: 0.0, pushed },
        }
    }

    /// Points of a surface that the panel may meet: the corners of what its triangles have in the box around the panel, on
    /// the panel's side of the axis.
    fn obstacles(&self, positions: &[Vec3], triangles: &[[u32; 3]], clearance: f64) -> Vec<Vec3> {
        let local: Vec<Vec3> = positions.iter().map(|&position| self.local(position)).collect();
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
        let [t, y, _] = self.local(position);
        // In terms that do not lose digits where it is nearly flat.
        let (sin, half_sin) = (libm::sin(t * bend.curvature), libm::sin(0.5 * t * bend.curvature));
        let (t, m) = if bend.curvature > 0.0 {
            (sin / bend.curvature, bend.pushed - 2.0 * half_sin * half_sin / bend.curvature)
        } else {
            (t, bend.pushed)
        };
        let [across, along, out] = self.axes;
        [0, 1, 2].map(|k| self.origin[k] + t * across[k] + y * along[k] + m * out[k])
    }
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
