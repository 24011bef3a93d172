//! Colliders: what cloth touches and what feels nothing of it.
//!
//! A collider is a [`Shape`] with an exact signed distance, a file each here, or a [mesh]. Contact asks a shape where its path has put it, in the
//! coordinates of the world: a [`Solid`], computed once for each substep.

mod r#box;
mod capsule;
#[cfg(test)]
mod conformance;
mod custom;
mod cylinder;
pub(crate) mod mesh;
mod plane;
mod sphere;
mod torus;

use std::fmt;
use std::sync::Arc;

use crate::description;
use crate::description::ColliderShape;
use crate::math::Vec3;
use crate::motion::{Motion, Pose};
use crate::parameter::{Entry, Settings};
use crate::shape::{Probe, Shape};

use custom::PosedCustom;

/// The shapes of scene files, in the order in which they are listed to a person: file and type of each.
///
/// Everything else follows from here: scene key, errors, `muslin models`, pictures, the page, and a case of [`Solid`].
macro_rules! shapes {
    ($($module:ident::$Shape:ident,)*) => {
        $(pub use $module::$Shape;)*

        /// Every shape of scene files.
        pub const SHAPES: &[ShapeKind] = &[$(ShapeKind {
            entry: <$Shape as BuiltIn>::ENTRY,
            example: || <$Shape as BuiltIn>::EXAMPLE.settings(),
            check: |settings| <$Shape as BuiltIn>::read(settings).map_or(Ok(()), |shape| shape.check()),
            build: |settings| {
                let shape = <$Shape as BuiltIn>::read(settings)?;
                Some((Arc::new(shape), Solid::$Shape(shape.placed())))
            },
        }),*];

        /// A shape where a pose has put it.
        #[derive(Clone, Debug)]
        pub(crate) enum Solid {
            $($Shape(<$Shape as BuiltIn>::Posed),)*
            Custom(PosedCustom),
        }

        impl Solid {
            /// The shape where a pose puts it, this one being where it is initially.
            pub(crate) fn posed(&self, pose: &Pose) -> Self {
                match self {
                    $(Self::$Shape(shape) => Self::$Shape(shape.posed(pose)),)*
                    Self::Custom(shape) => Self::Custom(shape.posed(pose)),
                }
            }

            /// How far one point of it is at most from where it is in another pose, in m.
            pub(crate) fn largest_displacement(&self, other: &Self) -> f64 {
                match (self, other) {
                    $((Self::$Shape(shape), Self::$Shape(other)) => shape.largest_displacement(other),)*
                    (Self::Custom(shape), Self::Custom(other)) => shape.largest_displacement(other),
                    _ => f64::INFINITY,
                }
            }

            /// Distance and way out at a point, or `None` at less cost where the surface is farther than `reach`.
            #[inline]
            pub(crate) fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
                match self {
                    $(Self::$Shape(shape) => shape.probe_within(p, reach),)*
                    Self::Custom(shape) => shape.probe_within(p, reach),
                }
            }
        }
    };
}

shapes! {
    plane::Plane,
    sphere::Sphere,
    capsule::Capsule,
    r#box::Cuboid,
    cylinder::Cylinder,
    torus::Torus,
}

/// A shape that scene files can name.
///
/// ```
/// use muslin::contact::ShapeKind;
///
/// let kind = ShapeKind::find("sphere").ok_or("there is a sphere")?;
/// assert!(kind.flaws(&(kind.example)()).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ShapeKind {
    /// Its key, what it is and what it is told. A parameter without a default must be given.
    pub entry: Entry,
    /// The settings of an example.
    pub example: fn() -> Settings,
    check: fn(&Settings) -> Result<(), ShapeFlaw>,
    build: fn(&Settings) -> Option<Built>,
}

/// A shape as it was described, and as contact asks it.
type Built = (Arc<dyn Shape>, Solid);

/// Something that is wrong with the settings of a shape.
///
/// ```
/// use muslin::contact::ShapeKind;
/// use muslin::parameter::Settings;
///
/// let kind = ShapeKind::find("sphere").ok_or("there is a sphere")?;
/// let flaws = kind.flaws(&Settings::default());
/// assert_eq!(flaws.iter().map(|flaw| flaw.key).collect::<Vec<_>>(), ["center", "radius"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeFlaw {
    /// The key whose value is to be changed.
    pub key: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
}

impl ShapeKind {
    /// The shape with some key in scene files.
    pub fn find(name: &str) -> Option<&'static Self> {
        SHAPES.iter().find(|kind| kind.entry.name == name)
    }

    /// What is wrong with settings each of which is allowed: how they go together.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), ShapeFlaw> {
        (self.check)(settings)
    }

    /// Everything that is wrong with some settings, as the reader of scene files would find it.
    pub fn flaws(&self, settings: &Settings) -> Vec<ShapeFlaw> {
        let flaw = |key: &'static str, message: String| ShapeFlaw { key, message };
        let mut flaws: Vec<ShapeFlaw> = Vec::new();
        for parameter in self.entry.parameters {
            match settings.get(parameter.name) {
                None => flaws.push(flaw(parameter.name, format!("is missing; it must be {}", parameter.kind))),
                Some(value) if !parameter.kind.allows(value) => {
                    flaws.push(flaw(parameter.name, format!("must be {}, got {value}", parameter.kind)));
                }
                Some(_) => {}
            }
        }
        if flaws.is_empty() {
            flaws.extend(self.check(settings).err());
        }
        flaws
    }
}

/// A shape of the library: one that scene files can name.
pub(crate) trait BuiltIn: Shape + Copy {
    /// What contact asks.
    type Posed: Posed;

    /// Its scene key, which is the stem of its file, and its parameters.
    const ENTRY: Entry;

    /// One of ordinary size, for messages, for the page and for tests.
    const EXAMPLE: Self;

    /// From settings that have all parameters.
    fn read(settings: &Settings) -> Option<Self>;

    /// All parameters, in the order of the entry.
    fn settings(&self) -> Settings;

    /// What is wrong although each setting is allowed.
    fn check(&self) -> Result<(), ShapeFlaw> {
        Ok(())
    }

    /// In the world, before its path moves it.
    fn placed(&self) -> Self::Posed;
}

/// A shape in the coordinates of the world: what contact asks of it, millions of times a second.
pub(crate) trait Posed: Copy + fmt::Debug {
    /// The shape where a pose puts it, this one being where it is initially.
    fn posed(&self, pose: &Pose) -> Self;

    /// How far one point of it is at most from where it is in another pose, in m.
    fn largest_displacement(&self, other: &Self) -> f64;

    /// Distance and way out at a point, or `None` at less cost where the surface is farther than `reach`.
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe>;

    /// Distance and way out at a point.
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.probe_within(p, f64::INFINITY).unwrap_or(LOST)
    }
}

/// Every point is within an infinite reach, unless it is NaN: then the answer is too, and the way out is up.
const LOST: Probe = Probe { distance: f64::NAN, normal: Vec3::new(0.0, 1.0, 0.0) };

impl Solid {
    /// From the scene's description, with the shape; `None` for a mesh.
    fn new(shape: &ColliderShape) -> Option<Built> {
        match shape {
            ColliderShape::Solid(choice) => (ShapeKind::find(choice.entry.name)?.build)(&choice.settings),
            ColliderShape::Custom(custom) => {
                let shape = Arc::clone(&custom.0);
                Some((Arc::clone(&shape), Self::Custom(PosedCustom::new(shape))))
            }
            ColliderShape::Mesh(_) => None,
        }
    }

    /// Distance and way out at a point.
    pub(crate) fn probe(&self, p: Vec3<f64>) -> Probe {
        self.probe_within(p, f64::INFINITY).unwrap_or(LOST)
    }
}

/// A body in the model: a shape that moves along a path.
///
/// ```
/// use muslin::contact::Sphere;
/// use muslin::math::Vec3;
/// use muslin::{Cloth, Collide, Simulation};
///
/// let ball = Sphere { center: [0.0, -1.0, 0.0], radius: 0.5 };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).collider(ball.friction(0.1)).build()?;
/// let collider = &simulation.model().colliders[0];
/// assert_eq!((collider.friction, collider.shape.probe(Vec3::ZERO).distance), (0.1, 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collider {
    /// The shape in the initial state.
    pub shape: Arc<dyn Shape>,
    /// The same for contact.
    pub(crate) solid: Solid,
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

impl Collider {
    /// From the scene's description; `None` for a mesh, which is no solid but a [`Body`](crate::model::Body).
    pub fn new(index: usize, collider: &description::Collider) -> Option<Self> {
        let (shape, solid) = Solid::new(&collider.shape)?;
        Some(Self {
            solid,
            motion: Motion::new(&collider.path, shape.center()),
            moves: !collider.path.is_still(),
            friction: collider.friction,
            index,
            is_fine: false,
            shape,
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::{Path, Waypoint};

    #[test]
    fn every_shape_conforms() {
        for kind in SHAPES {
            conformance::check(&ColliderShape::Solid(description::Choice {
                entry: &kind.entry,
                settings: (kind.example)(),
            }));
        }
    }

    #[test]
    fn settings_lead_back_to_the_shape() {
        for kind in SHAPES {
            let example = (kind.example)();
            assert_eq!(kind.flaws(&example), [], "{}", kind.entry.name);
            let (shape, _) = (kind.build)(&example).unwrap();
            let (entry, settings) = shape.described().unwrap();
            assert_eq!((*entry, settings), (kind.entry, example));
        }
    }

    #[test]
    fn settings_that_no_file_may_have_are_found() {
        let flaws = |shape: &dyn Shape| {
            let (entry, settings) = shape.described().unwrap();
            ShapeKind::find(entry.name).unwrap().flaws(&settings)
        };
        let found = flaws(&Sphere { center: [0.0, f64::NAN, 0.0], radius: 0.0 });
        let keys: Vec<&str> = found.iter().map(|flaw| flaw.key).collect();
        assert_eq!(keys, ["center", "radius"]);
        assert_eq!(found[1].message, "must be a number from 0.000001 to 1000000, got 0.0");
        let found = flaws(&Plane { point: [0.0; 3], normal: [0.0; 3] });
        assert_eq!(found[0].message, "must be a direction, at least 0.000001 long, got [0.0, 0.0, 0.0]");
    }

    /// A ball from outside the library.
    #[derive(Debug)]
    struct Pebble(Sphere);

    impl Shape for Pebble {
        fn probe(&self, p: Vec3<f64>) -> Probe {
            self.0.probe(p)
        }

        fn bounds(&self) -> crate::mesh::Bounds {
            self.0.bounds()
        }
    }

    #[test]
    fn a_shape_from_outside_conforms_and_goes_where_one_of_the_library_goes() {
        let sphere = Sphere { center: [0.2, -0.1, 0.3], radius: 0.4 };
        let custom = ColliderShape::new(Pebble(sphere));
        assert!(matches!(custom, ColliderShape::Custom(_)));
        conformance::check(&custom);
        let waypoint = |time, turn| Waypoint { time, offset: [0.1, 0.2, time], turn };
        let path = Path { waypoints: vec![waypoint(0.0, 0.0), waypoint(1.0, 70.0)], ..Path::still() };
        let collider = |shape| {
            let described = description::Collider { name: String::new(), shape, friction: 0.0, path: path.clone() };
            Collider::new(0, &described).unwrap()
        };
        let [own, other] = [collider(ColliderShape::new(sphere)), collider(custom)];
        let pose = own.motion.pose(0.6);
        let p = Vec3::new(0.4, 0.5, -0.2);
        let [own, other] = [own, other].map(|collider| collider.solid.posed(&pose).probe(p));
        assert!((own.distance - other.distance).abs() < 1e-14 && (own.normal - other.normal).norm() < 1e-14);
    }
}
