//! A vertex as the sweeps see it.

use crate::math::{Scalar, Vec3};

/// Position and inverse mass together: one aligned load brings everything a projection needs of a vertex.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub struct Particle<S> {
    x: S,
    y: S,
    z: S,
    /// w = 1/m [1/kg]; zero = held.
    pub inverse_mass: S,
}

impl<S: Scalar> Particle<S> {
    /// At a place.
    #[inline(always)]
    pub fn new(position: Vec3<S>, inverse_mass: S) -> Self {
        Self { x: position.x, y: position.y, z: position.z, inverse_mass }
    }

    /// [m].
    #[inline(always)]
    pub fn position(&self) -> Vec3<S> {
        Vec3::new(self.x, self.y, self.z)
    }

    /// The same vertex, moved by `d` [m].
    #[inline(always)]
    pub fn moved(self, d: Vec3<S>) -> Self {
        Self::new(self.position() + d, self.inverse_mass)
    }
}
