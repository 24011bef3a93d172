//! Vectors of three numbers.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use crate::math::{Real, Scalar};

/// A vector in space.
///
/// Not padded: where speed matters, vectors stand side by side in lanes (`Vec3<F32x4>`) or are packed with a fourth
/// number.
///
/// ```
/// use muslin::math::Vec3;
///
/// let (x, y) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0));
/// assert_eq!((x.cross(y), x.dot(y), (x + y).norm_squared()), (Vec3::new(0.0, 0.0, 1.0), 0.0, 2.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3<S> {
    /// First coordinate.
    pub x: S,
    /// Second coordinate: up.
    pub y: S,
    /// Third coordinate.
    pub z: S,
}

impl<S: Scalar> Vec3<S> {
    /// The origin.
    pub const ZERO: Self = Self { x: S::ZERO, y: S::ZERO, z: S::ZERO };

    /// From its coordinates.
    #[inline(always)]
    pub const fn new(x: S, y: S, z: S) -> Self {
        Self { x, y, z }
    }

    /// The same number in all three coordinates.
    #[inline(always)]
    pub fn splat(value: S) -> Self {
        Self::new(value, value, value)
    }

    /// As a plain array.
    #[inline(always)]
    pub fn to_array(self) -> [S; 3] {
        [self.x, self.y, self.z]
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> S {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        Self::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    /// ‖v‖².
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        self.dot(self)
    }

    /// ‖v‖.
    #[inline(always)]
    pub fn norm(self) -> S {
        self.norm_squared().sqrt()
    }

    /// v/‖v‖, or zero where v is zero: a collapsed element has no direction, and must not make NaN.
    #[inline(always)]
    pub fn normalized_or_zero(self) -> Self {
        let norm = self.norm();
        self * S::select(norm.greater(S::ZERO), S::ONE / norm, S::ZERO)
    }

    /// `yes` where the mask holds, `no` elsewhere.
    #[inline(always)]
    pub fn select(mask: S::Mask, yes: Self, no: Self) -> Self {
        let lane = |yes, no| S::select(mask, yes, no);
        Self { x: lane(yes.x, no.x), y: lane(yes.y, no.y), z: lane(yes.z, no.z) }
    }
}

#[allow(private_bounds, reason = "sealed: for f32, f64, and dual numbers over them")]
impl<S: Real> Vec3<S> {
    /// Whether all coordinates are finite.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.x.to_f64().is_finite() && self.y.to_f64().is_finite() && self.z.to_f64().is_finite()
    }

    /// In another precision.
    #[inline(always)]
    pub fn cast<T: Real>(self) -> Vec3<T> {
        Vec3::new(T::from_f64(self.x.to_f64()), T::from_f64(self.y.to_f64()), T::from_f64(self.z.to_f64()))
    }
}

impl<S: Scalar> From<[S; 3]> for Vec3<S> {
    #[inline(always)]
    fn from([x, y, z]: [S; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl<S: Scalar> Add for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}
impl<S: Scalar> Sub for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}
impl<S: Scalar> Mul<S> for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: S) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}
impl<S: Scalar> Neg for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}
impl<S: Scalar> AddAssign for Vec3<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<S: Scalar> SubAssign for Vec3<S> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_vector_has_no_direction() {
        assert_eq!(Vec3::<f64>::ZERO.normalized_or_zero(), Vec3::ZERO);
        assert_eq!(Vec3::new(0.0, 3.0, 0.0).normalized_or_zero(), Vec3::new(0.0, 1.0, 0.0));
    }

    #[test]
    fn the_product_of_x_and_y_is_z() {
        assert_eq!(Vec3::new(1.0, 0.0, 0.0).cross(Vec3::new(0.0, 1.0, 0.0)), Vec3::new(0.0, 0.0, 1.0));
    }
}
