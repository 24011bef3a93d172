//! Particles: vertices as the sweeps see them, one at a time or several side by side.

use std::cell::Cell;

#[cfg(target_arch = "x86_64")]
use crate::math::F32x8;
use crate::math::{F32x4, Real, Scalar, Vec3};
#[cfg(target_arch = "x86_64")]
use crate::parallel::Avx2;

/// Displacement and inverse mass together: one aligned load brings everything a projection needs of a vertex.
///
/// Velocities and earlier displacements are kept in the same form, so that the passes over vertices compute with whole
/// registers; the fourth number of a velocity is zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct Particle<R: Real>(R::Four);

impl<R: Real> Particle<R> {
    /// A displacement; `inverse_mass` is w = 1/m, in 1/kg, zero for a vertex that is held.
    #[inline(always)]
    pub(crate) fn new(position: Vec3<R>, inverse_mass: R) -> Self {
        Self([position.x, position.y, position.z, inverse_mass].into())
    }

    /// A velocity or a displacement.
    #[inline(always)]
    pub(crate) fn vector(vector: Vec3<R>) -> Self {
        Self::new(vector, R::ZERO)
    }

    /// The vector.
    #[inline(always)]
    pub(crate) fn xyz(&self) -> Vec3<R> {
        let [x, y, z, _] = self.0.into();
        Vec3::new(x, y, z)
    }

    /// In 1/kg.
    #[inline(always)]
    pub(crate) fn inverse_mass(&self) -> R {
        let [.., w] = self.0.into();
        w
    }

    /// All four numbers.
    #[inline(always)]
    pub(crate) fn four(self) -> R::Four {
        self.0
    }

    /// From all four numbers.
    #[inline(always)]
    pub(crate) fn from_four(four: R::Four) -> Self {
        Self(four)
    }
}

/// Displacement and velocity of a vertex together: forces want both.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Moving([f32; 8]);

impl Moving {
    /// From the two.
    #[inline(always)]
    pub(crate) fn new(particle: F32x4, velocity: F32x4) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (particle.to_array(), velocity.to_array());
        Self([a, b, c, d, e, f, g, h])
    }

    /// The displacement, and the inverse mass.
    #[inline(always)]
    pub(crate) fn particle(self) -> F32x4 {
        let [a, b, c, d, ..] = self.0;
        F32x4::new([a, b, c, d])
    }

    /// The velocity.
    #[inline(always)]
    pub(crate) fn velocity(self) -> F32x4 {
        let [.., e, f, g, h] = self.0;
        F32x4::new([e, f, g, h])
    }
}

/// Numbers in single precision side by side, as forces want them; `lane` runs over [`Scalar::LANES`].
pub(crate) trait Differences: Bundle<f32> {
    /// How far the second vertex of each lane is from the first, in displacement and in velocity.
    #[inline(always)]
    fn both(ends: impl Fn(usize) -> [Moving; 2]) -> [Vec3<Self>; 2] {
        let velocity = |lane| {
            let [start, end] = ends(lane).map(Moving::velocity);
            Particle(end - start)
        };
        [Self::displacement(&ends), Self::load(velocity).0]
    }

    /// The same of the displacement alone.
    #[inline(always)]
    fn displacement(ends: impl Fn(usize) -> [Moving; 2]) -> Vec3<Self> {
        let displacement = |lane| {
            let [start, end] = ends(lane).map(Moving::particle);
            Particle(end - start)
        };
        Self::load(displacement).0
    }
}

impl Differences for f32 {}
impl Differences for F32x4 {}

#[cfg(target_arch = "x86_64")]
impl Differences for F32x8 {
    #[inline(always)]
    fn both(ends: impl Fn(usize) -> [Moving; 2]) -> [Vec3<Self>; 2] {
        let difference = |lane| {
            let [start, end] = ends(lane);
            Self::new(end.0) - Self::new(start.0)
        };
        let [x, y, z, _, u, v, w, _] = Self::from_long_rows(difference);
        [Vec3::new(x, y, z), Vec3::new(u, v, w)]
    }
}

/// Numbers of the type `R` side by side, gathered from arrays of them; `lane` runs over [`Scalar::LANES`].
pub(crate) trait Bundle<R: Real>: Scalar {
    /// Positions and inverse masses of one particle per lane.
    fn load(particle: impl Fn(usize) -> Particle<R>) -> (Vec3<Self>, Self);
    /// The reverse.
    fn store(position: Vec3<Self>, inverse_mass: Self, set: impl FnMut(usize, Particle<R>));
    /// The first of some numbers, as many as there are lanes.
    ///
    /// # Panics
    /// If there are fewer.
    fn read(numbers: &[R]) -> Self;
    /// The same of a worker's part.
    fn read_part(numbers: &[Cell<R>]) -> Self;
    /// One number per lane.
    fn load_number(number: impl Fn(usize) -> R) -> Self;
    /// The reverse.
    fn store_number(self, set: impl FnMut(usize, R));
    /// The largest lane.
    fn largest(self) -> R;
    /// A function of each lane.
    fn map_lanes(self, function: impl Fn(f64) -> f64) -> Self;
    /// The reverse of [`read_part`](Self::read_part).
    fn write_part(self, numbers: &[Cell<R>]);
    /// Runs what is inlined into it with the instructions of these registers.
    #[inline(always)]
    fn compiled<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
}

/// A precision with the bundles that sweeps take at once.
pub(crate) trait Bundled: Real<Wide: Bundle<Self>> {
    /// In the widest registers that a processor may have.
    type Widest: Bundle<Self>;
    /// Whether these are wider than those that every processor has.
    #[cfg(target_arch = "x86_64")]
    const HAS_WIDER: bool = Self::Widest::LANES > Self::Wide::LANES;

    /// How many elements are swept at once.
    fn lanes(is_wide: bool) -> usize {
        if is_wide { Self::Widest::LANES } else { Self::Wide::LANES }
    }
}

impl Bundled for f32 {
    #[cfg(target_arch = "x86_64")]
    type Widest = F32x8;
    #[cfg(not(target_arch = "x86_64"))]
    type Widest = F32x4;
}

impl Bundled for f64 {
    type Widest = Self;
}

impl<R: Real> Bundle<R> for R {
    #[inline(always)]
    fn read(numbers: &[R]) -> Self {
        numbers[0]
    }
    #[inline(always)]
    fn read_part(numbers: &[Cell<R>]) -> Self {
        numbers[0].get()
    }
    #[inline(always)]
    fn write_part(self, numbers: &[Cell<R>]) {
        numbers[0].set(self);
    }
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

/// What registers of several numbers have in common.
macro_rules! bundle_of_registers {
    ($registers:ty $(, $compiled:item)?) => {
        impl Bundle<f32> for $registers {
            #[inline(always)]
            fn read(numbers: &[f32]) -> Self {
                Self::new(*numbers.first_chunk().expect("as many numbers as lanes"))
            }
            #[inline(always)]
            fn read_part(numbers: &[Cell<f32>]) -> Self {
                let numbers: &[Cell<f32>; Self::LANES] = numbers.first_chunk().expect("as many numbers as lanes");
                Self::new(numbers.each_ref().map(Cell::get))
            }
            #[inline(always)]
            fn write_part(self, numbers: &[Cell<f32>]) {
                let numbers: &[Cell<f32>; Self::LANES] = numbers.first_chunk().expect("as many numbers as lanes");
                numbers.iter().zip(self.to_array()).for_each(|(place, number)| place.set(number));
            }
            #[inline(always)]
            fn load(particle: impl Fn(usize) -> Particle<f32>) -> (Vec3<Self>, Self) {
                let [x, y, z, w] = Self::from_rows(|lane| particle(lane).0);
                (Vec3::new(x, y, z), w)
            }
            #[inline(always)]
            fn store(position: Vec3<Self>, inverse_mass: Self, mut set: impl FnMut(usize, Particle<f32>)) {
                Self::to_rows([position.x, position.y, position.z, inverse_mass], |lane, row| set(lane, Particle(row)));
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
            $($compiled)?
        }
    };
}

bundle_of_registers!(F32x4);
#[cfg(target_arch = "x86_64")]
bundle_of_registers!(
    F32x8,
    #[inline(always)]
    fn compiled<T>(work: impl FnOnce() -> T) -> T {
        Avx2::detect().expect("registers that the processor has").run(work)
    }
);
