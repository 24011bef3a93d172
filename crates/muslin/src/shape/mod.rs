//! Shapes with a signed distance: bodies that cloth touches.
//!
//! A collider is a [`Shape`] that stands still or moves along a path. The shapes that scene files name are in
//! [`contact`](crate::contact): [`Sphere`](crate::contact::Sphere), [`Capsule`](crate::contact::Capsule) and others, a file each. A program can bring
//! its own: the distance with its way out, and a box around it, are enough.
//!
//! ```
//! use muslin::math::Vec3;
//! use muslin::mesh::Bounds;
//! use muslin::shape::{Probe, Shape};
//!
//! /// A ball around the origin.
//! #[derive(Debug)]
//! struct Ball {
//!     radius: f64,
//! }
//!
//! impl Shape for Ball {
//!     fn probe(&self, p: Vec3<f64>) -> Probe {
//!         let out = p.normalized_or_zero();
//!         // In the very middle every way out is as good.
//!         let normal = if out == Vec3::ZERO { Vec3::new(0.0, 1.0, 0.0) } else { out };
//!         Probe { distance: p.norm() - self.radius, normal }
//!     }
//!
//!     fn bounds(&self) -> Bounds {
//!         Bounds { min: [-self.radius; 3], max: [self.radius; 3] }
//!     }
//! }
//!
//! let ball = Ball { radius: 0.5 };
//! assert_eq!(ball.probe(Vec3::new(0.0, 2.0, 0.0)).distance, 1.5);
//! // Pictures draw the triangles that are found from the distance.
//! let drawn = ball.tessellation();
//! assert!(drawn.positions.iter().all(|p| (Vec3::from(*p).norm() - 0.5).abs() < 1e-9));
//! ```

mod tessellation;

use std::fmt;

use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::parameter::{Entry, Settings};

pub(crate) use tessellation::perpendicular;
pub use tessellation::{ProfilePoint, Tessellation};

/// A solid that cloth touches, in its own initial place: the path of its collider moves it.
///
/// The distance must be *no more* than the true one to the surface, and must not change faster than the point moves
/// (‖∇d‖ ≤ 1): vertices that are farther away than they can go in a frame are not looked at, and the way of one that goes far is followed in steps as long
/// as the distance. Near the surface, where cloth rests, it should be exact.
///
/// ```
/// use muslin::contact::Torus;
/// use muslin::shape::Shape;
///
/// let ring = Torus { center: [0.0; 3], axis: [0.0, 1.0, 0.0], major_radius: 1.0, minor_radius: 0.25 };
/// let bodies: [&dyn Shape; 1] = [&ring];
/// assert_eq!((bodies[0].bounds().max[0], bodies[0].smallest_radius()), (1.25, 0.25));
/// ```
pub trait Shape: fmt::Debug + Send + Sync {
    /// Signed distance and way out at a point.
    fn probe(&self, p: Vec3<f64>) -> Probe;

    /// The smallest box along the axes that holds it; infinite where it has no end.
    fn bounds(&self) -> Bounds;

    /// The probe, or `None` where the surface is farther than `reach`, in m. A shape that can tell so at less cost says it here.
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        Some(self.probe(p)).filter(|probe| probe.distance <= reach)
    }

    /// The point that a turn goes about where its path names none: the middle of the bounds.
    fn center(&self) -> Vec3<f64> {
        let Bounds { min, max } = self.bounds();
        let middle = (Vec3::from(min) + Vec3::from(max)) * 0.5;
        if middle.is_finite() { middle } else { Vec3::ZERO }
    }

    /// The smallest radius of curvature of the surface, in m: 0 where it has edges or corners, which is what is assumed of a shape that does not say.
    ///
    /// Where it is small beside the edges of a cloth, the middles of those edges are kept out too.
    fn smallest_radius(&self) -> f64 {
        0.0
    }

    /// Triangles on the surface, for pictures: found from the distance unless the shape knows better.
    fn tessellation(&self) -> Tessellation {
        Tessellation::from_distance(&|p| self.probe(p), &self.bounds())
    }

    /// The plane that bounds it, of a shape that is a half space. It has no triangles, and is drawn as a ground or a wall.
    fn half_space(&self) -> Option<HalfSpace> {
        None
    }

    /// How a scene file says it: its entry of the catalogue and its settings; `None` for a shape from outside the library.
    fn described(&self) -> Option<(&'static Entry, Settings)> {
        None
    }
}

/// A shape as seen from a point.
///
/// ```
/// use muslin::contact::Sphere;
/// use muslin::math::Vec3;
/// use muslin::shape::{Probe, Shape};
///
/// let Probe { distance, normal } = Sphere { center: [0.0; 3], radius: 0.5 }.probe(Vec3::new(0.0, 0.25, 0.0));
/// assert_eq!((distance, normal), (-0.25, Vec3::new(0.0, 1.0, 0.0)), "inside; the way out is up");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Distance to the surface, in m, negative inside.
    pub distance: f64,
    /// The way out: unit gradient of the distance.
    pub normal: Vec3<f64>,
}

/// Everything on one side of a plane.
///
/// ```
/// use muslin::contact::Plane;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let ground = Plane { point: [0.0; 3], normal: [0.0, 2.0, 0.0] };
/// assert_eq!(ground.half_space().map(|half| half.normal), Some(Vec3::new(0.0, 1.0, 0.0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// A point of the plane, in m.
    pub point: Vec3<f64>,
    /// Unit normal, out of the body.
    pub normal: Vec3<f64>,
}
