//! atan2 in single precision, of one number or of several at once: the same bits in both.
//!
//! With l the lesser of |x| and |y| and g the greater,
//!
//! ```text
//! t = l/g                 up to tan(π/8)         atan(l/g) = atan t
//! t = (l − g)/(l + g)     beyond it              atan(l/g) = π/4 + atan t
//! atan t = t + t z (a₀ + a₁z + a₂z² + a₃z³),  z = t²          |t| ≤ tan(π/8)
//! ```
//!
//! so there is one division, and choices of numbers in the place of jumps. π/2 less that is the angle of what is steeper than a half right angle, and π less that of what points
//! to the left: in all b + s atan t, with b a multiple of π/4 and s = ±1. The result is off by less than four units in its last place, where `libm`'s is by one, which needs five
//! ranges and two divisions for it. Where both numbers are infinite it is not a number.
//!
//! [Moshier 1989, Methods and Programs for Mathematical Functions, `atanf`] for the series.

use crate::math::{F32x4, Scalar, each, inlined};

/// Single-precision numbers, alone or in a register, bit by bit.
pub(crate) trait Narrow: Scalar {
    /// |x|.
    fn magnitude(self) -> Self;
    /// The same number with the sign of another; this one must not be negative.
    fn with_sign_of(self, other: Self) -> Self;
}

impl Narrow for f32 {
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        self.copysign(other)
    }
}

/// Single-precision numbers in a register.
pub(crate) trait Register: Narrow {
    /// Where one of two masks holds.
    fn either(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    /// A bit for each lane, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;
    /// The first numbers of a slice, as many as there are lanes.
    fn load(numbers: &[f32]) -> Self;
    /// The reverse.
    fn store(self, numbers: &mut [f32]);
    /// Rows of four numbers, one for each lane, as columns.
    fn columns(row: impl Fn(usize) -> F32x4) -> [Self; 4];
}

/// tan(π/8).
const HALF_OPEN: f64 = std::f64::consts::SQRT_2 - 1.0;

/// a, about −1/3, 1/5, −1/7 and 1/12.
const SERIES: [f64; 4] = [-3.333_294_915_39e-1, 1.997_771_064_78e-1, -1.387_768_560_32e-1, 8.053_744_495_38e-2];

/// The angle of (x, y), in [−π, π].
#[inline(always)]
pub(super) fn atan2<S: Narrow>(y: S, x: S) -> S {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let number = inlined(
        #[inline(always)]
        |value: f64| S::from_f64(value),
    );
    let (width, height) = (x.magnitude(), y.magnitude());
    let is_steep = height.greater(width);
    // What is not a number stays in one of the two.
    let (lesser, greater) = (S::select(is_steep, width, height), S::select(is_steep, height, width));
    let is_open = lesser.greater(number(HALF_OPEN) * greater);
    let above = S::select(is_open, lesser - greater, lesser);
    let below = S::select(is_open, lesser + greater, greater);
    // (0, 0) has the angle 0.
    let least = number(f64::from(f32::MIN_POSITIVE));
    let t = above / S::select(least.greater(below), least, below);
    // b and s, of which a division takes longer to arrive.
    let base = S::select(is_open, number(FRAC_PI_4), S::ZERO);
    let base = S::select(is_steep, number(FRAC_PI_2) - base, base);
    let sign = S::select(is_steep, -S::ONE, S::ONE);
    let is_left = S::ZERO.greater(x);
    let (base, sign) = (S::select(is_left, number(PI) - base, base), S::select(is_left, -sign, sign));
    let (t, z) = (t * sign, t * t);
    let [a0, a1, a2, a3] = each(SERIES, number);
    // In an order in which few operations wait for each other.
    let series = (a0 + z * a1) + (z * z) * (a2 + z * a3);
    let angle = base + (t + (t * z) * series);
    angle.with_sign_of(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every size of a number with some thousand of its fractions, and where choices change.
    fn numbers() -> impl Iterator<Item = f32> {
        let around = [HALF_OPEN as f32, 1.0, 1.0 / HALF_OPEN as f32, f32::MIN_POSITIVE, f32::MAX].map(f32::to_bits);
        let near = around.into_iter().flat_map(|bits| (0..65).map(move |i| bits.saturating_add(i).saturating_sub(32)));
        (0..0x7f80_0000).step_by(4603).chain(near.filter(|bits| *bits < 0x7f80_0000)).map(f32::from_bits)
    }

    const SIGNS: [[f32; 2]; 4] = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];

    #[test]
    fn the_angle_is_right_to_some_units_of_its_last_place() {
        let mut worst = 0.0_f64;
        // The smallest normal number and less is taken for a larger one below the line of a division.
        for x in [1.0_f32, 0.7, 3.0e-12, 2.5e20] {
            for size in numbers() {
                for [up, along] in SIGNS {
                    let (y, x) = (up * size, along * x);
                    let (found, exact) = (f64::from(atan2(y, x)), libm::atan2(f64::from(y), f64::from(x)));
                    // Units of results that are not normal numbers are larger than ε of them.
                    let unit = f64::from(f32::EPSILON) * 0.5 * exact.abs() + 1.5e-45;
                    worst = worst.max((found - exact).abs() / unit);
                }
            }
        }
        assert!(worst < 4.0, "{worst} units");
    }

    #[test]
    fn ends_are_as_they_should_be() {
        assert_eq!(atan2(0.0_f32, 0.0), 0.0);
        assert_eq!(atan2(0.0_f32, 1.0), 0.0);
        assert_eq!(atan2(-0.0_f32, 1.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(atan2(0.0_f32, -2.0), std::f32::consts::PI);
        assert_eq!(atan2(-3.0_f32, 0.0), -std::f32::consts::FRAC_PI_2);
        assert_eq!(atan2(f32::INFINITY, 5.0), std::f32::consts::FRAC_PI_2);
        for (y, x) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, 0.0), (0.0, f32::NAN), (f32::NAN, f32::NAN)] {
            assert!(atan2(y, x).is_nan(), "{y} {x}");
        }
    }

    fn check<const N: usize>(several: impl Fn([f32; N], [f32; N]) -> [f32; N]) {
        let all: Vec<f32> = numbers().chain([f32::INFINITY, f32::NAN]).collect();
        for x in [1.0, 0.7, 3.0e-12, 2.5e20, 1e-40, 0.0, f32::INFINITY, f32::NAN] {
            for lanes in all.chunks_exact(N) {
                for [up, along] in SIGNS {
                    let y: [f32; N] = std::array::from_fn(|lane| up * lanes[lane]);
                    let x = [along * x; N];
                    for (lane, found) in several(y, x).into_iter().enumerate() {
                        let alone = atan2(y[lane], x[lane]);
                        let is_same = found.to_bits() == alone.to_bits() || (found.is_nan() && alone.is_nan());
                        assert!(is_same, "atan2 {:e} {:e}: {found:e} and {alone:e}", y[lane], x[lane]);
                    }
                }
            }
        }
    }

    #[test]
    fn several_at_once_have_the_bits_of_one() {
        check(|y, x| atan2(F32x4::new(y), F32x4::new(x)).to_array());
        #[cfg(target_arch = "x86_64")]
        if crate::parallel::Team::solo().is_wide() {
            use crate::math::F32x8;
            check(|y, x| atan2(F32x8::new(y), F32x8::new(x)).to_array());
        }
    }
}
