//! All points within a distance of a segment.
//!
//! ```text
//!      ╭───────────────╮
//!      │  a ─────── b  │ r        d = ‖x − q‖ − r,   q = a + s (b − a),   s = (x − a)·(b − a)/‖b − a‖² in [0, 1]
//!      ╰───────────────╯
//! ```
//!
//! With a = b it is a ball.

use crate::contact::collider::{BuiltIn, Posed, from_core};
use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::parameter::{Entry, Kind, Parameter, Settings};
use crate::shape::{Probe, ProfilePoint, Shape, Tessellation};

/// All points within a distance of a segment.
///
/// ```
/// use muslin::contact::Capsule;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let body = Capsule { a: [0.0; 3], b: [0.0, 1.0, 0.0], radius: 0.25 };
/// assert_eq!(body.probe(Vec3::new(1.0, 0.5, 0.0)).distance, 0.75);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// One end of the segment, in m.
    pub a: [f64; 3],
    /// The other end, in m.
    pub b: [f64; 3],
    /// The distance, in m.
    pub radius: f64,
}

/// A [`Capsule`] in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedCapsule {
    a: Vec3<f64>,
    /// From that end to the other.
    axis: Vec3<f64>,
    radius: f64,
}

impl BuiltIn for Capsule {
    type Posed = PosedCapsule;

    const ENTRY: Entry = Entry {
        name: "capsule",
        summary: "everything within a distance of a segment",
        source: "",
        parameters: &[
            Parameter { name: "a", unit: "m", kind: Kind::Point, default: None, meaning: "one end of the segment" },
            Parameter { name: "b", unit: "m", kind: Kind::Point, default: None, meaning: "the other end" },
            Parameter { name: "radius", unit: "m", kind: Kind::EXTENT, default: None, meaning: "the distance" },
        ],
        one_of: &[],
    };

    const EXAMPLE: Self = Self { a: [0.0; 3], b: [0.0, 1.0, 0.0], radius: 0.25 };

    fn read(settings: &Settings) -> Option<Self> {
        Some(Self { a: settings.vector("a")?, b: settings.vector("b")?, radius: settings.number("radius")? })
    }

    fn settings(&self) -> Settings {
        Settings::from_iter([("a", self.a.into()), ("b", self.b.into()), ("radius", self.radius.into())])
    }

    fn placed(&self) -> PosedCapsule {
        PosedCapsule { a: self.a.into(), axis: Vec3::from(self.b) - Vec3::from(self.a), radius: self.radius }
    }
}

impl Shape for Capsule {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.placed().probe(p)
    }

    fn bounds(&self) -> Bounds {
        let Self { a, b, radius } = *self;
        let along = |axis: usize, of: fn(f64, f64) -> f64, grow: f64| of(a[axis], b[axis]) + grow;
        Bounds {
            min: [0, 1, 2].map(|axis| along(axis, f64::min, -radius)),
            max: [0, 1, 2].map(|axis| along(axis, f64::max, radius)),
        }
    }

    fn center(&self) -> Vec3<f64> {
        let PosedCapsule { a, axis, .. } = self.placed();
        a + axis * 0.5
    }

    fn smallest_radius(&self) -> f64 {
        self.radius
    }

    fn tessellation(&self) -> Tessellation {
        let PosedCapsule { a, axis, radius } = self.placed();
        let length = axis.norm();
        if length <= 0.0 {
            return Tessellation::sphere(a, radius);
        }
        // Cells along the wall about as long as they are wide, within reason: light varies from vertex to vertex.
        let rows = (length * Tessellation::SEGMENTS as f64 / (12.0 * radius)).clamp(1.0, 48.0) as usize;
        let wall = (1..rows).map(|row| length * row as f64 / rows as f64);
        let wall = wall.map(|along| ProfilePoint { radius, along, normal_angle: 0.0 });
        let ends = [Tessellation::cap(radius, 0.0, false), Tessellation::cap(radius, length, true)];
        let [lower, upper] = ends;
        let profile: Vec<ProfilePoint> = lower.chain(wall).chain(upper).collect();
        let mut surface = Tessellation::default();
        surface.revolve(a, axis * (1.0 / length), &profile);
        surface
    }

    fn described(&self) -> Option<(&'static Entry, Settings)> {
        Some((&Self::ENTRY, self.settings()))
    }
}

impl Posed for PosedCapsule {
    fn posed(&self, pose: &Pose) -> Self {
        Self { a: pose.apply(self.a), axis: pose.turn(self.axis), radius: self.radius }
    }

    fn largest_displacement(&self, other: &Self) -> f64 {
        let ends = [other.a - self.a, other.a + other.axis - (self.a + self.axis)];
        ends[0].norm().max(ends[1].norm())
    }

    #[inline]
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        let along = (p - self.a).dot(self.axis) / self.axis.norm_squared().max(f64::MIN_POSITIVE);
        from_core(p - self.a - self.axis * along.clamp(0.0, 1.0), self.radius, reach)
    }
}
