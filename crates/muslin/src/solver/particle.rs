//! Vertices as the sweeps see them, one at a time or several side by side.

use crate::math::{Lanes, Real, Scalar, Vec3};

/// Displacement and inverse mass together: one aligned load brings everything a projection needs of a vertex.
///
/// Velocities and earlier displacements are kept in the same form, so that the passes over vertices compute with whole
/// registers; the fourth number of a velocity is zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Particle<R: Real>(R::Four);

impl<R: Real> Particle<R> {
    /// A displacement; `inverse_mass` is w = 1/m, in 1/kg, zero for a vertex that is held.
    #[inline(always)]
    pub fn new(position: Vec3<R>, inverse_mass: R) -> Self {
        Self([position.x, position.y, position.z, inverse_mass].into())
    }

    /// A velocity or a displacement.
    #[inline(always)]
    pub fn vector(vector: Vec3<R>) -> Self {
        Self::new(vector, R::ZERO)
    }

    /// The vector.
    #[inline(always)]
    pub fn xyz(&self) -> Vec3<R> {
        let [x, y, z, _] = self.0.into();
        Vec3::new(x, y, z)
    }

    /// In 1/kg.
    #[inline(always)]
    pub fn inverse_mass(&self) -> R {
        let [.., w] = self.0.into();
        w
    }

    /// All four numbers.
    #[inline(always)]
    pub fn four(self) -> R::Four {
        self.0
    }

    /// From all four numbers.
    #[inline(always)]
    pub fn from_four(four: R::Four) -> Self {
        Self(four)
    }
}

/// Numbers of the type `R` side by side, gathered from arrays of them; `lane` runs over [`Scalar::LANES`].
pub(crate) trait Bundle<R: Real>: Scalar {
    /// Positions and inverse masses of one particle per lane.
    fn load(particle: impl Fn(usize) -> Particle<R>) -> (Vec3<Self>, Self);
    /// The reverse.
    fn store(position: Vec3<Self>, inverse_mass: Self, set: impl FnMut(usize, Particle<R>));
    /// One number per lane.
    fn load_number(number: impl Fn(usize) -> R) -> Self;
    /// The reverse.
    fn store_number(self, set: impl FnMut(usize, R));
    /// The largest lane.
    fn largest(self) -> R;
    /// A function of each lane.
    fn map_lanes(self, function: impl Fn(f64) -> f64) -> Self;

    /// One vector per lane.
    #[inline(always)]
    fn load_vector(vector: impl Fn(usize) -> Vec3<R>) -> Vec3<Self> {
        let part = |pick: fn(Vec3<R>) -> R| Self::load_number(|lane| pick(vector(lane)));
        Vec3::new(part(|v| v.x), part(|v| v.y), part(|v| v.z))
    }
}

impl<R: Real> Bundle<R> for R {
    #[inline(always)]
    fn load(particle: impl Fn(usize) -> Particle<R>) -> (Vec3<Self>, Self) {
        let particle = particle(0);
        (particle.xyz(), particle.inverse_mass())
    }
    #[inline(always)]
    fn store(position: Vec3<Self>, inverse_mass: Self, mut set: impl FnMut(usize, Particle<R>)) {
        set(0, Particle::new(position, inverse_mass));
    }
    #[inline(always)]
    fn load_number(number: impl Fn(usize) -> R) -> Self {
        number(0)
    }
    #[inline(always)]
    fn store_number(self, mut set: impl FnMut(usize, R)) {
        set(0, self);
    }
    #[inline(always)]
    fn largest(self) -> R {
        self
    }
    #[inline(always)]
    fn map_lanes(self, function: impl Fn(f64) -> f64) -> Self {
        Self::from_f64(function(self.to_f64()))
    }
}

impl Bundle<f32> for Lanes {
    #[inline(always)]
    fn load(particle: impl Fn(usize) -> Particle<f32>) -> (Vec3<Self>, Self) {
        // Four particles as rows become four coordinates.
        let [x, y, z, w] = Self::transpose(std::array::from_fn(|lane| particle(lane).0));
        (Vec3::new(x, y, z), w)
    }
    #[inline(always)]
    fn store(position: Vec3<Self>, inverse_mass: Self, mut set: impl FnMut(usize, Particle<f32>)) {
        let rows = Self::transpose([position.x, position.y, position.z, inverse_mass]);
        for (lane, row) in rows.into_iter().enumerate() {
            set(lane, Particle(row));
        }
    }
    #[inline(always)]
    fn load_number(number: impl Fn(usize) -> f32) -> Self {
        Self::new(std::array::from_fn(number))
    }
    #[inline(always)]
    fn store_number(self, mut set: impl FnMut(usize, f32)) {
        for (lane, number) in self.to_array().into_iter().enumerate() {
            set(lane, number);
        }
    }
    #[inline(always)]
    fn largest(self) -> f32 {
        self.to_array().into_iter().fold(f32::NEG_INFINITY, Real::max)
    }
    #[inline(always)]
    fn map_lanes(self, function: impl Fn(f64) -> f64) -> Self {
        Self::new(self.to_array().map(|x| function(f64::from(x)) as f32))
    }
}
