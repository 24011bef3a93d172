//! The half space below a plane.
//!
//! ```text
//! d = n·(x − p)        n out of the body, of unit length
//! ```

use crate::contact::collider::{BuiltIn, Posed};
use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::parameter::{Entry, Kind, Parameter, Settings};
use crate::shape::{HalfSpace, Probe, Shape};

/// The half space below a plane.
///
/// ```
/// use muslin::contact::Plane;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let body = Plane { point: [0.0, -1.0, 0.0], normal: [0.0, 1.0, 0.0] };
/// assert_eq!(body.probe(Vec3::new(3.0, 1.0, 0.0)).distance, 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the plane, in m.
    pub point: [f64; 3],
    /// Points out of the body: not zero, of any length.
    pub normal: [f64; 3],
}

/// A [`Plane`] in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedPlane {
    point: Vec3<f64>,
    normal: Vec3<f64>,
}

impl BuiltIn for Plane {
    type Posed = PosedPlane;

    const ENTRY: Entry = Entry {
        name: "plane",
        summary: "the half space below a plane",
        source: "",
        parameters: &[
            Parameter { name: "point", unit: "m", kind: Kind::Point, default: None, meaning: "a point of the plane" },
            Parameter {
                name: "normal",
                unit: "",
                kind: Kind::Direction,
                default: None,
                meaning: "out of the body, of any length",
            },
        ],
        one_of: &[],
    };

    const EXAMPLE: Self = Self { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };

    fn read(settings: &Settings) -> Option<Self> {
        Some(Self { point: settings.vector("point")?, normal: settings.vector("normal")? })
    }

    fn settings(&self) -> Settings {
        Settings::from_iter([("point", self.point.into()), ("normal", self.normal.into())])
    }

    fn placed(&self) -> PosedPlane {
        PosedPlane { point: self.point.into(), normal: Vec3::from(self.normal).normalized_or_zero() }
    }
}

impl Shape for Plane {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.placed().probe(p)
    }

    fn bounds(&self) -> Bounds {
        Bounds { min: [f64::NEG_INFINITY; 3], max: [f64::INFINITY; 3] }
    }

    fn center(&self) -> Vec3<f64> {
        self.point.into()
    }

    fn smallest_radius(&self) -> f64 {
        f64::INFINITY
    }

    fn half_space(&self) -> Option<HalfSpace> {
        let PosedPlane { point, normal } = self.placed();
        Some(HalfSpace { point, normal })
    }

    fn described(&self) -> Option<(&'static Entry, Settings)> {
        Some((&Self::ENTRY, self.settings()))
    }
}

impl Posed for PosedPlane {
    fn posed(&self, pose: &Pose) -> Self {
        Self { point: pose.apply(self.point), normal: pose.turn(self.normal) }
    }

    /// Infinite for a plane that turns.
    fn largest_displacement(&self, other: &Self) -> f64 {
        if self.normal == other.normal { (other.point - self.point).norm() } else { f64::INFINITY }
    }

    #[inline]
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        let distance = self.normal.dot(p - self.point);
        (distance <= reach).then_some(Probe { distance, normal: self.normal })
    }
}
