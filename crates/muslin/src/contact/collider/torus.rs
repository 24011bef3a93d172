//! A ring with a round cross section.
//!
//! ```text
//!    ╭───╮           ╭───╮
//!    │ ∙ │ r    c    │ ∙ │        q = c + R x⊥/‖x⊥‖     the nearest point of the circle in the middle of the tube
//!    ╰───╯     R ────→───╯        d = ‖x − q‖ − r
//! ```
//!
//! Exact inside and outside while r ≤ R. With more the tube would cut itself, and the formula would not be a distance: that is refused. On the
//! axis every point of the circle is as near as another.

use crate::contact::collider::{BuiltIn, Posed, ShapeFlaw, from_core};
use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::shape::{Probe, ProfilePoint, Shape, Tessellation, perpendicular};

/// A ring with a round cross section.
///
/// ```
/// use muslin::contact::Torus;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let body = Torus { center: [0.0; 3], axis: [0.0, 1.0, 0.0], major_radius: 1.0, minor_radius: 0.25 };
/// assert_eq!(body.probe(Vec3::new(2.0, 0.0, 0.0)).distance, 0.75);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    /// Centre, in m.
    pub center: [f64; 3],
    /// Axis of the ring: not zero, of any length.
    pub axis: [f64; 3],
    /// From the centre to the middle of the tube, in m.
    pub major_radius: f64,
    /// Radius of the tube, in m: at most the major one.
    pub minor_radius: f64,
}

/// A [`Torus`] in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedTorus {
    center: Vec3<f64>,
    /// A unit vector.
    axis: Vec3<f64>,
    major_radius: f64,
    minor_radius: f64,
}

impl BuiltIn for Torus {
    type Posed = PosedTorus;

    const ENTRY: Entry = Entry {
        name: "torus",
        summary: "a ring with a round cross section",
        source: "",
        parameters: &[
            Parameter { name: "center", unit: "m", kind: Kind::Point, default: None, meaning: "its middle" },
            Parameter {
                name: "axis",
                unit: "",
                kind: Kind::Direction,
                default: Some(Setting::Vector([0.0, 1.0, 0.0])),
                meaning: "across the ring, of any length",
            },
            Parameter {
                name: "major_radius",
                unit: "m",
                kind: Kind::EXTENT,
                default: None,
                meaning: "from its middle to the middle of the tube",
            },
            Parameter {
                name: "minor_radius",
                unit: "m",
                kind: Kind::EXTENT,
                default: None,
                meaning: "radius of the tube, at most the major one",
            },
        ],
        one_of: &[],
    };

    const EXAMPLE: Self =
        Self { center: [0.0, 0.5, 0.0], axis: [0.0, 1.0, 0.0], major_radius: 0.25, minor_radius: 0.1 };

    fn read(settings: &Settings) -> Option<Self> {
        Some(Self {
            center: settings.vector("center")?,
            axis: settings.vector("axis")?,
            major_radius: settings.number("major_radius")?,
            minor_radius: settings.number("minor_radius")?,
        })
    }

    fn settings(&self) -> Settings {
        Settings::from_iter([
            ("center", self.center.into()),
            ("axis", self.axis.into()),
            ("major_radius", self.major_radius.into()),
            ("minor_radius", self.minor_radius.into()),
        ])
    }

    fn check(&self) -> Result<(), ShapeFlaw> {
        let Self { major_radius, minor_radius, .. } = *self;
        if minor_radius <= major_radius {
            return Ok(());
        }
        let message = format!(
            "must be at most `major_radius`, {major_radius:?} m, or the tube cuts itself, got {minor_radius:?}; \
             make it smaller, or use a sphere"
        );
        Err(ShapeFlaw { key: "minor_radius", message })
    }

    fn placed(&self) -> PosedTorus {
        PosedTorus {
            center: self.center.into(),
            axis: Vec3::from(self.axis).normalized_or_zero(),
            major_radius: self.major_radius,
            minor_radius: self.minor_radius,
        }
    }
}

impl Shape for Torus {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.placed().probe(p)
    }

    fn bounds(&self) -> Bounds {
        let PosedTorus { center, axis, major_radius, minor_radius } = self.placed();
        // A circle across a unit axis reaches √(1 − a²) of its radius along a coordinate.
        let reach = |a: f64| major_radius * (1.0 - a * a).max(0.0).sqrt() + minor_radius;
        let reach = Vec3::from(axis.to_array().map(reach));
        Bounds { min: (center - reach).to_array(), max: (center + reach).to_array() }
    }

    fn center(&self) -> Vec3<f64> {
        self.center.into()
    }

    fn smallest_radius(&self) -> f64 {
        self.minor_radius
    }

    fn tessellation(&self) -> Tessellation {
        const ROWS: usize = 32;
        let PosedTorus { center, axis, major_radius, minor_radius } = self.placed();
        let point = |row: usize| {
            // The last row is the first, to the bit.
            let angle = std::f64::consts::TAU * (row % ROWS) as f64 / ROWS as f64;
            ProfilePoint {
                radius: major_radius + minor_radius * libm::cos(angle),
                along: minor_radius * libm::sin(angle),
                normal_angle: angle,
            }
        };
        let mut surface = Tessellation::default();
        surface.revolve(center, axis, &(0..=ROWS).map(point).collect::<Vec<_>>());
        surface
    }

    fn described(&self) -> Option<(&'static Entry, Settings)> {
        Some((&Self::ENTRY, self.settings()))
    }
}

impl Posed for PosedTorus {
    fn posed(&self, pose: &Pose) -> Self {
        Self { center: pose.apply(self.center), axis: pose.turn(self.axis), ..*self }
    }

    /// The turn that takes one axis to the other moves the circle in the tube by ‖a′ − a‖ R, at most.
    fn largest_displacement(&self, other: &Self) -> f64 {
        (other.center - self.center).norm() + (other.axis - self.axis).norm() * self.major_radius
    }

    #[inline]
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        let d = p - self.center;
        let aside = d - self.axis * d.dot(self.axis);
        let around = aside.norm();
        let out = if around > 0.0 { aside * (1.0 / around) } else { perpendicular(self.axis)[0] };
        from_core(d - out * self.major_radius, self.minor_radius, reach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::collider::conformance;
    use crate::description::ColliderShape;

    const SLANTED: Torus =
        Torus { center: [0.1, -0.1, 0.2], axis: [1.0, 2.0, -0.5], major_radius: 0.5, minor_radius: 0.2 };

    #[test]
    fn rings_of_any_proportion_conform() {
        let wire = Torus { minor_radius: 0.02, ..SLANTED };
        let without_a_hole = Torus { minor_radius: 0.49, ..SLANTED };
        for torus in [SLANTED, wire, without_a_hole] {
            conformance::check(&ColliderShape::new(torus));
        }
    }

    #[test]
    fn tube_hole_and_inside_are_as_far_as_they_are() {
        let torus = Torus { center: [0.0; 3], axis: [0.0, 3.0, 0.0], major_radius: 2.0, minor_radius: 0.5 };
        for (p, distance, normal) in [
            ([3.5, 0.0, 0.0], 1.0, [1.0, 0.0, 0.0]),
            ([0.0, 0.0, 1.0], 0.5, [0.0, 0.0, -1.0]),
            ([2.0, 1.0, 0.0], 0.5, [0.0, 1.0, 0.0]),
            ([-2.0, -0.1, 0.0], -0.4, [0.0, -1.0, 0.0]),
        ] {
            let probe = torus.probe(p.into());
            assert!((probe.distance - distance).abs() < 1e-15, "{p:?}: {probe:?}");
            assert!((probe.normal - normal.into()).norm() < 1e-15, "{p:?}: {probe:?}");
        }
        // From the middle of the hole the way out leads away from some point of the ring.
        let middle = torus.probe(Vec3::ZERO);
        assert!(middle.distance == 1.5 && middle.normal.y == 0.0, "{middle:?}");
    }

    #[test]
    fn a_tube_that_cuts_itself_is_refused() {
        assert_eq!(Torus { minor_radius: SLANTED.major_radius, ..SLANTED }.check(), Ok(()));
        let flaw = Torus { minor_radius: 0.6, ..SLANTED }.check().unwrap_err();
        assert_eq!(flaw.key, "minor_radius");
        assert!(flaw.message.contains("at most `major_radius`, 0.5 m"), "{}", flaw.message);
    }
}
