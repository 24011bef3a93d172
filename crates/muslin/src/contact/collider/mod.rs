//! Analytic bodies: plane, sphere, capsule and box, each with an exact signed distance.

pub(crate) mod mesh;

use crate::description;
use crate::description::ColliderShape;
use crate::math::{Mat3, Vec3};
use crate::motion::{Motion, Pose};

/// A body in the model: a shape that moves along a path.
#[derive(Clone, Debug)]
pub struct Collider {
    /// The shape in the initial state.
    pub solid: Solid,
    /// How it moves.
    pub motion: Motion,
    /// Whether it moves at all.
    pub moves: bool,
    /// Coulomb's μ against cloth.
    pub friction: f64,
    /// Its place among the colliders of the scene.
    pub index: usize,
    /// Whether it bends so sharply that it could pass between two vertices; the model, which knows the cloth, says so.
    pub is_fine: bool,
}

/// A shape with a signed distance.
#[derive(Clone, Copy, Debug)]
pub enum Solid {
    /// The half space below a plane.
    Plane {
        /// A point of the plane, in m.
        point: Vec3<f64>,
        /// Unit normal, out of the body.
        normal: Vec3<f64>,
    },
    /// A ball.
    Sphere {
        /// Centre, in m.
        center: Vec3<f64>,
        /// Radius, in m.
        radius: f64,
    },
    /// All points within a distance of a segment.
    Capsule {
        /// One end, in m.
        a: Vec3<f64>,
        /// From that end to the other, in m.
        axis: Vec3<f64>,
        /// Radius, in m.
        radius: f64,
    },
    /// A box.
    Box {
        /// Centre, in m.
        center: Vec3<f64>,
        /// Its own axes, as unit vectors.
        axes: [Vec3<f64>; 3],
        /// Half the extent along each axis, in m.
        half: Vec3<f64>,
    },
}

/// What a solid is like at a point.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Distance to the surface, in m, negative inside.
    pub distance: f64,
    /// The way out: unit gradient of the distance.
    pub normal: Vec3<f64>,
}

impl Collider {
    /// From the scene's description; `None` for a mesh, which is no solid but a [`Body`](crate::model::Body).
    pub fn new(index: usize, collider: &description::Collider) -> Option<Self> {
        let solid = Solid::new(&collider.shape)?;
        Some(Self {
            solid,
            motion: Motion::new(&collider.path, solid.center()),
            moves: !collider.path.is_still(),
            friction: collider.friction,
            index,
            is_fine: false,
        })
    }
}

impl Solid {
    /// From the scene's description; `None` for a mesh.
    pub fn new(shape: &ColliderShape) -> Option<Self> {
        Some(match *shape {
            ColliderShape::Plane { point, normal } => {
                Self::Plane { point: point.into(), normal: Vec3::from(normal).normalized_or_zero() }
            }
            ColliderShape::Sphere { center, radius } => Self::Sphere { center: center.into(), radius },
            ColliderShape::Capsule { a, b, radius } => {
                Self::Capsule { a: a.into(), axis: Vec3::from(b) - Vec3::from(a), radius }
            }
            ColliderShape::Box { center, size, rotate } => Self::Box {
                center: center.into(),
                axes: Mat3::from_degrees_xyz(rotate).transposed().0.map(Vec3::from),
                half: Vec3::from(size) * 0.5,
            },
            ColliderShape::Mesh(_) => return None,
        })
    }

    /// The point that a turn goes about when the scene names none.
    fn center(&self) -> Vec3<f64> {
        match *self {
            Self::Plane { point, .. } => point,
            Self::Sphere { center, .. } | Self::Box { center, .. } => center,
            Self::Capsule { a, axis, .. } => a + axis * 0.5,
        }
    }

    /// The smallest radius of curvature of the surface, in m: zero for a box, which has edges.
    pub fn finest_radius(&self) -> f64 {
        match *self {
            Self::Plane { .. } => f64::INFINITY,
            Self::Sphere { radius, .. } | Self::Capsule { radius, .. } => radius,
            Self::Box { .. } => 0.0,
        }
    }

    /// The shape where a pose puts it.
    pub fn posed(&self, pose: &Pose) -> Self {
        match *self {
            Self::Plane { point, normal } => Self::Plane { point: pose.apply(point), normal: pose.turn(normal) },
            Self::Sphere { center, radius } => Self::Sphere { center: pose.apply(center), radius },
            Self::Capsule { a, axis, radius } => Self::Capsule { a: pose.apply(a), axis: pose.turn(axis), radius },
            Self::Box { center, axes, half } => {
                Self::Box { center: pose.apply(center), axes: axes.map(|axis| pose.turn(axis)), half }
            }
        }
    }
}

impl Solid {
    /// How far one point of it is at most from where it is in another pose, in m; infinite for a plane that turns.
    pub fn largest_displacement(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Plane { point, normal }, Self::Plane { point: to, normal: turned }) if normal == turned => {
                (*to - *point).norm()
            }
            (Self::Sphere { center, .. }, Self::Sphere { center: to, .. }) => (*to - *center).norm(),
            (Self::Capsule { a, axis, .. }, Self::Capsule { a: to, axis: turned, .. }) => {
                let ends = [*to - *a, *to + *turned - (*a + *axis)];
                ends[0].norm().max(ends[1].norm())
            }
            (Self::Box { center, axes, half }, Self::Box { center: to, axes: turned, .. }) => {
                let turns = axes.iter().zip(turned).zip(half.to_array()).map(|((a, b), half)| (*b - *a).norm() * half);
                (*to - *center).norm() + turns.sum::<f64>()
            }
            _ => f64::INFINITY,
        }
    }

    /// Distance and way out at a point.
    pub fn probe(&self, p: Vec3<f64>) -> Probe {
        // Every point is within an infinite reach, unless it is NaN: then the answer is too, and the way out is up.
        let lost = Probe { distance: f64::NAN, normal: Vec3::new(0.0, 1.0, 0.0) };
        self.probe_within(p, f64::INFINITY).unwrap_or(lost)
    }

    /// The same, or `None` at less cost where the surface is farther than `reach`.
    #[inline]
    pub fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        match self {
            Self::Plane { point, normal } => {
                let distance = normal.dot(p - *point);
                (distance <= reach).then_some(Probe { distance, normal: *normal })
            }
            Self::Sphere { center, radius } => from_core(p - *center, *radius, reach),
            Self::Capsule { a, axis, radius } => {
                let along = (p - *a).dot(*axis) / axis.norm_squared().max(f64::MIN_POSITIVE);
                from_core(p - *a - *axis * along.clamp(0.0, 1.0), *radius, reach)
            }
            Self::Box { center, axes, half } => probe_box(p - *center, axes, half.to_array(), reach),
        }
    }
}

/// A ball around the nearest point of a core; `d` leads from that point to the probe.
#[inline]
fn from_core(d: Vec3<f64>, radius: f64, reach: f64) -> Option<Probe> {
    let limit = radius + reach;
    let squared = d.norm_squared();
    if squared > limit * limit {
        return None;
    }
    let norm = squared.sqrt();
    // In the very core every way out is as good: up.
    let normal = if norm > 0.0 { d * (1.0 / norm) } else { Vec3::new(0.0, 1.0, 0.0) };
    let distance = norm - radius;
    (distance <= reach).then_some(Probe { distance, normal })
}

#[inline]
fn probe_box(d: Vec3<f64>, axes: &[Vec3<f64>; 3], half: [f64; 3], reach: f64) -> Option<Probe> {
    let local = [axes[0].dot(d), axes[1].dot(d), axes[2].dot(d)];
    // Beyond each face; negative = inside of it.
    let beyond: [f64; 3] = std::array::from_fn(|i| local[i].abs() - half[i]);
    let mut farthest = if beyond[1] > beyond[0] { 1 } else { 0 };
    farthest = if beyond[2] > beyond[farthest] { 2 } else { farthest };
    if beyond[farthest] > reach {
        return None;
    }
    let out = |i: usize| if local[i] < 0.0 { -axes[i] } else { axes[i] };
    let faces_beyond = beyond.iter().filter(|b| **b > 0.0).count();
    if faces_beyond <= 1 {
        // Inside, or over the middle of a face.
        return Some(Probe { distance: beyond[farthest], normal: out(farthest) });
    }
    let outside = (0..3).fold(Vec3::ZERO, |sum, i| sum + out(i) * beyond[i].max(0.0));
    let distance = outside.norm();
    (distance <= reach).then(|| Probe { distance, normal: outside * (1.0 / distance) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;

    fn solids() -> Vec<Solid> {
        [
            ColliderShape::Plane { point: [0.1, 0.2, 0.3], normal: [1.0, 2.0, -1.0] },
            ColliderShape::Sphere { center: [0.1, 0.2, 0.3], radius: 0.4 },
            ColliderShape::Capsule { a: [-0.3, 0.0, 0.1], b: [0.4, 0.2, 0.0], radius: 0.2 },
            ColliderShape::Capsule { a: [0.1; 3], b: [0.1; 3], radius: 0.2 },
            ColliderShape::Box { center: [0.1, 0.0, 0.0], size: [0.5, 0.7, 0.9], rotate: [10.0, 20.0, 30.0] },
        ]
        .iter()
        .filter_map(Solid::new)
        .collect()
    }

    #[test]
    fn going_out_by_the_distance_reaches_the_surface() {
        let mut random = Random::new(3);
        for solid in solids() {
            for _ in 0..200 {
                let p = random.vector();
                let probe = solid.probe(p);
                assert!((probe.normal.norm() - 1.0).abs() < 1e-12, "{solid:?}: normal {:?}", probe.normal);
                let surface = solid.probe(p - probe.normal * probe.distance);
                assert!(surface.distance.abs() < 1e-12, "{solid:?} at {p:?}: {}", surface.distance);
            }
        }
    }

    #[test]
    fn the_normal_is_the_gradient_of_the_distance() {
        let mut random = Random::new(5);
        let h = 1e-6;
        for solid in solids() {
            for _ in 0..100 {
                let p = random.vector();
                let distance = |d: Vec3<f64>| solid.probe(p + d).distance;
                let slope = |axis: Vec3<f64>| (distance(axis * h) - distance(axis * -h)) / (2.0 * h);
                let gradient = Vec3::new(
                    slope(Vec3::new(1.0, 0.0, 0.0)),
                    slope(Vec3::new(0.0, 1.0, 0.0)),
                    slope(Vec3::new(0.0, 0.0, 1.0)),
                );
                // Not differentiable where two faces are equally near: there the slopes have no unit length.
                if (gradient.norm() - 1.0).abs() < 1e-6 {
                    assert!((gradient - solid.probe(p).normal).norm() < 1e-5, "{solid:?} at {p:?}");
                }
            }
        }
    }

    #[test]
    fn a_probe_within_reach_is_the_probe() {
        let mut random = Random::new(9);
        for solid in solids() {
            for _ in 0..300 {
                let (p, reach) = (random.vector(), 0.2 * random.signed().abs());
                let (all, near) = (solid.probe(p), solid.probe_within(p, reach));
                let expected = (all.distance <= reach).then_some((all.distance, all.normal));
                assert_eq!(near.map(|probe| (probe.distance, probe.normal)), expected, "{solid:?} at {p:?}");
            }
        }
    }

    /// What a pose changes of a distance is no more than the largest displacement.
    #[test]
    fn no_point_goes_farther_than_the_sway() {
        let mut random = Random::new(11);
        for (solid, turn) in solids().into_iter().flat_map(|solid| [0.0, 0.3, 40.0].map(|turn| (solid, turn))) {
            let waypoint = |time: f64, offset: [f64; 3], turn: f64| description::Waypoint { time, offset, turn };
            let waypoints = vec![waypoint(0.0, [0.0; 3], 0.0), waypoint(1.0, [0.03, -0.02, 0.05], turn)];
            let path = description::Path { waypoints, axis: [0.3, 1.0, 0.2], ..description::Path::still() };
            let pose = Motion::new(&path, solid.center()).pose(1.0);
            let moved = solid.posed(&pose);
            let largest_displacement = solid.largest_displacement(&moved);
            assert_eq!(
                largest_displacement.is_infinite(),
                matches!(solid, Solid::Plane { .. }) && turn > 0.0,
                "{solid:?}, {turn}"
            );
            let mut most = 0.0_f64;
            for p in (0..300).map(|_| random.vector() * 1.5) {
                let (before, after) = (solid.probe(p).distance, moved.probe(p).distance);
                most = most.max((after - before).abs());
            }
            assert!(
                most <= largest_displacement * (1.0 + 1e-12),
                "{solid:?}, {turn}: {most} and {largest_displacement}"
            );
            assert!(
                largest_displacement.is_infinite() || largest_displacement < 20.0 * most,
                "{solid:?}, {turn}: {most} and {largest_displacement}"
            );
        }
    }

    #[test]
    fn the_core_has_a_way_out() {
        for solid in solids() {
            let probe = solid.probe(solid.center());
            assert!(probe.normal.is_finite() && probe.distance <= 0.0, "{solid:?}: {probe:?}");
        }
    }
}
