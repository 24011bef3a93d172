//! A ball.
//!
//! ```text
//! d = ‖x − c‖ − r
//! ```

use crate::contact::collider::{BuiltIn, Posed, from_core};
use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::parameter::{Entry, Kind, Parameter, Settings};
use crate::shape::{Probe, Shape, Tessellation};

/// A ball.
///
/// ```
/// use muslin::contact::Sphere;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let body = Sphere { center: [0.0; 3], radius: 0.5 };
/// assert_eq!(body.probe(Vec3::new(0.0, 2.0, 0.0)).distance, 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre, in m.
    pub center: [f64; 3],
    /// Radius, in m.
    pub radius: f64,
}

/// A [`Sphere`] in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedSphere {
    center: Vec3<f64>,
    radius: f64,
}

impl BuiltIn for Sphere {
    type Posed = PosedSphere;

    const ENTRY: Entry = Entry {
        name: "sphere",
        summary: "a ball",
        source: "",
        parameters: &[
            Parameter { name: "center", unit: "m", kind: Kind::Point, default: None, meaning: "its middle" },
            Parameter { name: "radius", unit: "m", kind: Kind::EXTENT, default: None, meaning: "its radius" },
        ],
        one_of: &[],
    };

    const EXAMPLE: Self = Self { center: [0.0, 0.5, 0.0], radius: 0.25 };

    fn read(settings: &Settings) -> Option<Self> {
        Some(Self { center: settings.vector("center")?, radius: settings.number("radius")? })
    }

    fn settings(&self) -> Settings {
        Settings::from_iter([("center", self.center.into()), ("radius", self.radius.into())])
    }

    fn placed(&self) -> PosedSphere {
        PosedSphere { center: self.center.into(), radius: self.radius }
    }
}

impl Shape for Sphere {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.placed().probe(p)
    }

    fn bounds(&self) -> Bounds {
        let Self { center, radius } = *self;
        Bounds { min: center.map(|x| x - radius), max: center.map(|x| x + radius) }
    }

    fn center(&self) -> Vec3<f64> {
        self.center.into()
    }

    fn smallest_radius(&self) -> f64 {
        self.radius
    }

    fn tessellation(&self) -> Tessellation {
        Tessellation::sphere(self.center.into(), self.radius)
    }

    fn described(&self) -> Option<(&'static Entry, Settings)> {
        Some((&Self::ENTRY, self.settings()))
    }
}

impl Posed for PosedSphere {
    fn posed(&self, pose: &Pose) -> Self {
        Self { center: pose.apply(self.center), radius: self.radius }
    }

    fn largest_displacement(&self, other: &Self) -> f64 {
        (other.center - self.center).norm()
    }

    #[inline]
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        from_core(p - self.center, self.radius, reach)
    }
}
