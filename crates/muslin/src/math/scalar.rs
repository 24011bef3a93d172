//! The number types a formula runs on.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A number, or several side by side: what the formulas of energies are written over.
///
/// There is no comparison, since lanes may disagree: a formula chooses with [`greater`](Self::greater) and
/// [`select`](Self::select), and what it computes for the other choice may be NaN without harm.
/// Every operation is one that IEEE 754 rounds correctly, is made of such, or comes from `libm`: an element has the same bits alone, in a
/// lane, and on every platform.
///
/// ```
/// use muslin::math::Scalar;
///
/// /// max(0, x)², without a branch.
/// fn ramp<S: Scalar>(x: S) -> S {
///     let y = S::select(x.greater(S::ZERO), x, S::ZERO);
///     y * y
/// }
/// assert_eq!((ramp(-1.0_f64), ramp(2.0_f32)), (0.0, 4.0));
/// ```
pub trait Scalar:
    Copy
    + Debug
    + Default
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
    /// How many numbers stand side by side.
    const LANES: usize;
    /// A truth value for each lane.
    type Mask: Copy;

    /// The same constant in every lane.
    fn from_f64(value: f64) -> Self;
    /// One number from each of [`LANES`](Self::LANES) items.
    fn gather<T>(items: &[T], number: impl Fn(&T) -> f64) -> Self;
    /// √x.
    fn sqrt(self) -> Self;
    /// The angle of (x, y) = (`other`, `self`), in [−π, π].
    fn atan2(self, other: Self) -> Self;
    /// ln(1 + x), exact to rounding for small x too.
    fn ln_1p(self) -> Self;
    /// Whether `self > other`; false for NaN.
    fn greater(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Where both masks hold.
    fn and(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    /// Whether the mask holds in some lane: what no lane wants need not be computed.
    fn is_any(mask: Self::Mask) -> bool;
    /// Whether the mask holds in all lanes.
    fn is_all(mask: Self::Mask) -> bool;
}

/// A single real number: `f32`, `f64`, or a dual number over one of them.
pub(crate) trait Real: Scalar<Mask = bool> + PartialOrd {
    /// The same numbers side by side, as many as the fast sweeps take at once.
    type Wide: Scalar;
    /// Four numbers that are loaded, computed with and stored as one.
    type Four: Copy
        + Debug
        + Default
        + Send
        + Sync
        + From<[Self; 4]>
        + Into<[Self; 4]>
        + Add<Output = Self::Four>
        + Sub<Output = Self::Four>
        + Mul<Output = Self::Four>;

    /// The value without its derivative.
    fn to_f64(self) -> f64;

    /// |x|.
    #[inline(always)]
    fn abs(self) -> Self {
        if self < Self::ZERO { -self } else { self }
    }
    /// The larger of the two; `other` if `self` is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

macro_rules! float_scalar {
    ($float:ty, $wide:ty, $four:ty, $atan2:path, $ln_1p:path) => {
        #[allow(trivial_numeric_casts, reason = "the macro serves both widths")]
        impl Scalar for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: f64 = <$float>::EPSILON as f64;
            const LANES: usize = 1;
            type Mask = bool;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn gather<T>(items: &[T], number: impl Fn(&T) -> f64) -> Self {
                number(&items[0]) as Self
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
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            #[inline(always)]
            fn greater(self, other: Self) -> bool {
                self > other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn and(one: bool, other: bool) -> bool {
                one & other
            }
            #[inline(always)]
            fn is_any(mask: bool) -> bool {
                mask
            }
            #[inline(always)]
            fn is_all(mask: bool) -> bool {
                mask
            }
        }

        impl Real for $float {
            type Wide = $wide;
            type Four = $four;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

float_scalar!(f32, crate::math::F32x4, crate::math::F32x4, crate::math::angle::atan2, libm::log1pf);
float_scalar!(f64, f64, crate::math::Four<Self>, libm::atan2, libm::log1p);
