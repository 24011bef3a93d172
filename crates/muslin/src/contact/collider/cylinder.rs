//! A cylinder with flat ends.
//!
//! ```text
//!   rim │  cap  │ rim        r = ‖x⊥‖, h = |x·â| from the middle of the axis
//!   ────┼───────┼────        b = (r − R, h − L/2)      how far beyond the wall and the caps
//!  wall │inside │ wall       beyond one or none:  d = max b
//!   ────┼───────┼────        beyond both:         d = ‖b‖, to the rim
//! ```
//!
//! On the axis every way out through the wall is as good as another.

use crate::contact::collider::{BuiltIn, Posed, ShapeFlaw};
use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::parameter::{Entry, Kind, Parameter, Settings};
use crate::shape::{Probe, ProfilePoint, Shape, Tessellation, perpendicular};

/// The least length, in m: as of any extent.
const SHORTEST: f64 = 1e-6;

/// A cylinder with flat ends.
///
/// ```
/// use muslin::contact::Cylinder;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let body = Cylinder { a: [0.0; 3], b: [0.0, 1.0, 0.0], radius: 0.25 };
/// assert_eq!(body.probe(Vec3::new(0.0, 1.5, 0.0)).distance, 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// The middle of one end, in m.
    pub a: [f64; 3],
    /// The middle of the other end, in m.
    pub b: [f64; 3],
    /// Radius, in m.
    pub radius: f64,
}

/// A [`Cylinder`] in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedCylinder {
    /// The middle of its axis.
    middle: Vec3<f64>,
    /// The direction of its axis, a unit vector.
    axis: Vec3<f64>,
    /// Half its length.
    half: f64,
    radius: f64,
}

impl BuiltIn for Cylinder {
    type Posed = PosedCylinder;

    const ENTRY: Entry = Entry {
        name: "cylinder",
        summary: "a cylinder with flat ends",
        source: "",
        parameters: &[
            Parameter { name: "a", unit: "m", kind: Kind::Point, default: None, meaning: "the middle of one end" },
            Parameter {
                name: "b",
                unit: "m",
                kind: Kind::Point,
                default: None,
                meaning: "the middle of the other end",
            },
            Parameter { name: "radius", unit: "m", kind: Kind::EXTENT, default: None, meaning: "its radius" },
        ],
        one_of: &[],
    };

    const EXAMPLE: Self = Self { a: [0.0; 3], b: [0.0, 0.5, 0.0], radius: 0.25 };

    fn read(settings: &Settings) -> Option<Self> {
        Some(Self { a: settings.vector("a")?, b: settings.vector("b")?, radius: settings.number("radius")? })
    }

    fn settings(&self) -> Settings {
        Settings::from_iter([("a", self.a.into()), ("b", self.b.into()), ("radius", self.radius.into())])
    }

    fn check(&self) -> Result<(), ShapeFlaw> {
        if 2.0 * self.placed().half >= SHORTEST {
            return Ok(());
        }
        let message = format!(
            "must be at least {SHORTEST} m from `a`, got {:?} for both: without a length there is no axis; move one, or use a sphere",
            self.b
        );
        Err(ShapeFlaw { key: "b", message })
    }

    fn placed(&self) -> PosedCylinder {
        let (a, b) = (Vec3::from(self.a), Vec3::from(self.b));
        PosedCylinder {
            middle: (a + b) * 0.5,
            axis: (b - a).normalized_or_zero(),
            half: 0.5 * (b - a).norm(),
            radius: self.radius,
        }
    }
}

impl Shape for Cylinder {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.placed().probe(p)
    }

    fn bounds(&self) -> Bounds {
        let PosedCylinder { middle, axis, half, radius } = self.placed();
        // A disc across a unit axis reaches √(1 − a²) of its radius along a coordinate.
        let reach = |a: f64| half * a.abs() + radius * (1.0 - a * a).max(0.0).sqrt();
        let reach = Vec3::from(axis.to_array().map(reach));
        Bounds { min: (middle - reach).to_array(), max: (middle + reach).to_array() }
    }

    fn center(&self) -> Vec3<f64> {
        self.placed().middle
    }

    fn tessellation(&self) -> Tessellation {
        // Light varies from vertex to vertex, so caps and wall have some in their middles.
        const ROWS: usize = 8;
        let PosedCylinder { middle, axis, half, radius } = self.placed();
        let part = |row: usize| row as f64 / ROWS as f64;
        let row = |radius, along, normal_angle| ProfilePoint { radius, along, normal_angle };
        let down = -std::f64::consts::FRAC_PI_2;
        let mut surface = Tessellation::default();
        for profile in [
            (0..=ROWS).map(|i| row(radius * part(i), -half, down)).collect::<Vec<_>>(),
            (0..=ROWS).map(|i| row(radius, half * (2.0 * part(i) - 1.0), 0.0)).collect(),
            (0..=ROWS).map(|i| row(radius * part(ROWS - i), half, -down)).collect(),
        ] {
            surface.revolve(middle, axis, &profile);
        }
        surface
    }

    fn described(&self) -> Option<(&'static Entry, Settings)> {
        Some((&Self::ENTRY, self.settings()))
    }
}

impl Posed for PosedCylinder {
    fn posed(&self, pose: &Pose) -> Self {
        Self { middle: pose.apply(self.middle), axis: pose.turn(self.axis), ..*self }
    }

    /// The turn that takes one axis to the other moves a point by ‖a′ − a‖ times its distance from the middle, at most.
    fn largest_displacement(&self, other: &Self) -> f64 {
        let farthest = (self.half * self.half + self.radius * self.radius).sqrt();
        (other.middle - self.middle).norm() + (other.axis - self.axis).norm() * farthest
    }

    #[inline]
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        let d = p - self.middle;
        let along = d.dot(self.axis);
        let aside = d - self.axis * along;
        let around = aside.norm();
        let [beyond_wall, beyond_cap] = [around - self.radius, along.abs() - self.half];
        if beyond_wall.max(beyond_cap) > reach {
            return None;
        }
        let through_cap = if along < 0.0 { -self.axis } else { self.axis };
        let through_wall = || if around > 0.0 { aside * (1.0 / around) } else { perpendicular(self.axis)[0] };
        if beyond_wall > 0.0 && beyond_cap > 0.0 {
            let outside = through_wall() * beyond_wall + through_cap * beyond_cap;
            let distance = outside.norm();
            return (distance <= reach).then(|| Probe { distance, normal: outside * (1.0 / distance) });
        }
        Some(if beyond_wall > beyond_cap {
            Probe { distance: beyond_wall, normal: through_wall() }
        } else {
            Probe { distance: beyond_cap, normal: through_cap }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::collider::conformance;
    use crate::description::ColliderShape;

    const SLANTED: Cylinder = Cylinder { a: [-0.3, 0.0, 0.1], b: [0.3, 0.4, -0.2], radius: 0.3 };

    #[test]
    fn cylinders_of_any_proportion_conform() {
        let disc = Cylinder { b: [-0.28, 0.01, 0.1], ..SLANTED };
        let needle = Cylinder { radius: 0.05, ..SLANTED };
        for cylinder in [SLANTED, disc, needle] {
            conformance::check(&ColliderShape::new(cylinder));
        }
    }

    #[test]
    fn wall_cap_and_rim_are_as_far_as_they_are() {
        let cylinder = Cylinder { a: [0.0; 3], b: [0.0, 2.0, 0.0], radius: 0.5 };
        for (p, distance, normal) in [
            ([1.5, 1.0, 0.0], 1.0, [1.0, 0.0, 0.0]),
            ([0.1, 3.0, 0.0], 1.0, [0.0, 1.0, 0.0]),
            ([0.2, -0.5, 0.1], 0.5, [0.0, -1.0, 0.0]),
            ([0.0, 2.4, 0.8], 0.5, [0.0, 0.8, 0.6]),
            ([0.4, 1.0, 0.0], -0.1, [1.0, 0.0, 0.0]),
            ([0.1, 1.8, 0.0], -0.2, [0.0, 1.0, 0.0]),
        ] {
            let probe = cylinder.probe(p.into());
            assert!((probe.distance - distance).abs() < 1e-15, "{p:?}: {probe:?}");
            assert!((probe.normal - normal.into()).norm() < 1e-15, "{p:?}: {probe:?}");
        }
        let axis = cylinder.probe(Vec3::new(0.0, 1.0, 0.0));
        assert!(axis.distance == -0.5 && axis.normal.y == 0.0, "out of the axis through the wall: {axis:?}");
    }

    #[test]
    fn one_without_a_length_is_refused() {
        let flaw = Cylinder { b: SLANTED.a, ..SLANTED }.check().unwrap_err();
        assert_eq!(flaw.key, "b");
        assert!(flaw.message.ends_with("use a sphere"), "{}", flaw.message);
    }
}
