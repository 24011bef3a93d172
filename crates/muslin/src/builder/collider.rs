//! Colliders in code.

use crate::description::{Collider, ColliderShape, Path};
use crate::shape::Shape;

/// A collider as a program says it; [`Collide`] makes one of a shape.
#[derive(Clone, Debug)]
#[must_use = "a collider does nothing until it is handed to a builder"]
pub struct ColliderBuilder {
    name: Option<String>,
    shape: ColliderShape,
    friction: Option<f64>,
    path: Path,
}

/// What a shape is as a collider: a method here makes a [`ColliderBuilder`] of any [`Shape`].
///
/// ```
/// use muslin::contact::Capsule;
/// use muslin::{Collide, Path};
///
/// let arm = Capsule { a: [0.0, 1.0, 0.0], b: [0.4, 1.0, 0.0], radius: 0.05 };
/// let collider = arm.friction(0.5).name("arm").path(Path::through([(0.0, [0.0; 3]), (1.0, [0.0, 0.3, 0.0])]));
/// ```
pub trait Collide: Shape + Sized + 'static {
    /// With Coulomb's coefficient against cloth, where that of the contact is not meant.
    fn friction(self, friction: f64) -> ColliderBuilder {
        ColliderBuilder::from(self).friction(friction)
    }

    /// With a name, by which [`Simulation::collider`](crate::Simulation::collider) finds it.
    fn named(self, name: impl Into<String>) -> ColliderBuilder {
        ColliderBuilder::from(self).name(name)
    }

    /// Along a path.
    fn along(self, path: Path) -> ColliderBuilder {
        ColliderBuilder::from(self).path(path)
    }
}

impl<S: Shape + 'static> Collide for S {}

impl<S: Shape + 'static> From<S> for ColliderBuilder {
    fn from(shape: S) -> Self {
        Self { name: None, shape: ColliderShape::new(shape), friction: None, path: Path::still() }
    }
}

impl ColliderBuilder {
    /// Coulomb's coefficient against cloth; that of the contact unless it is said.
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = Some(friction);
        self
    }

    /// Names it: `collider0` and so on unless it is said.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How it moves.
    pub fn path(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    /// The collider with every default filled in.
    pub(super) fn describe(&self, index: usize, friction: f64) -> Collider {
        Collider {
            name: self.name.clone().unwrap_or_else(|| format!("collider{index}")),
            shape: self.shape.clone(),
            friction: self.friction.unwrap_or(friction),
            path: self.path.clone(),
        }
    }
}
