//! The number type a formula runs on.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A real number: `f32`, `f64`, or a dual number over one of them.
///
/// Transcendental functions come from `libm`, whose bits are the same on every platform.
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Send
    + Sync
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The gap between 1 and the next number.
    const EPSILON: f64;

    /// Rounds a constant or a rest value to this type.
    fn from_f64(value: f64) -> Self;
    /// The value without its derivative.
    fn to_f64(self) -> f64;
    /// √x.
    fn sqrt(self) -> Self;
    /// The angle of (x, y) = (`other`, `self`), in (−π, π].
    fn atan2(self, other: Self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The larger of the two; `other` if `self` is NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller of the two; `other` if `self` is NaN.
    fn min(self, other: Self) -> Self;
}

macro_rules! float_scalar {
    ($float:ty, $atan2:path) => {
        #[allow(trivial_numeric_casts, reason = "the macro serves both widths")]
        impl Scalar for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: f64 = <$float>::EPSILON as f64;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn atan2(self, other: Self) -> Self {
                $atan2(self, other)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
        }
    };
}

float_scalar!(f32, libm::atan2f);
float_scalar!(f64, libm::atan2);
