//! atan2 of several numbers at once, with the bits of `libm::atan2f`.
//!
//! The same operations in the same order, with choices of numbers in the place of jumps. With q = |y/x|,
//!
//! ```text
//! t = (q − c)/(1 + cq)        c = 0, ½, 1, 3/2, ∞ by the size of q, so that |t| < 7/16
//! atan q = atan c + t − t (a₀t² + a₁t⁴ + … + a₄t¹⁰)        atan c in two parts
//! atan2 = atan q for x > 0, π − atan q for x < 0, with the sign of y
//! ```
//!
//! Where q is no number below 2²⁵ (x = 0, infinities, NaN), `libm` is asked, one number after the other. Zero and tiny numbers need no case
//! of their own: π rounds to itself beside them.
//!
//! [FreeBSD msun, `e_atan2f.c` and `s_atanf.c`], which is what `libm` has.

use super::{Lanes, Scalar, each, inlined};

/// Single-precision numbers in a register, bit by bit.
pub(crate) trait Register: Scalar {
    /// |x|.
    fn magnitude(self) -> Self;
    /// The same number with the sign of another; this one must not be negative.
    fn with_sign_of(self, other: Self) -> Self;
    /// Whether the mask holds in every lane.
    fn is_all(mask: Self::Mask) -> bool;
    /// atan2 of each lane by itself.
    fn lone_atan2(self, other: Self) -> Self;
    /// Where one of two masks holds.
    fn either(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    /// A bit for each lane, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;
    /// The first numbers of a slice, as many as there are lanes.
    fn load(numbers: &[f32]) -> Self;
    /// The reverse.
    fn store(self, numbers: &mut [f32]);
    /// Rows of four numbers, one for each lane, as columns.
    fn columns(row: impl Fn(usize) -> Lanes) -> [Self; 4];
}

/// Up to which q each of the first four c is used.
const LIMITS: [f32; 4] = [0.4375, 0.6875, 1.1875, 2.4375];
/// Constants by their bits: that two of them are not the nearest to what they mean is part of the result.
const fn exactly<const N: usize>(bits: [u32; N]) -> [f32; N] {
    let mut numbers = [0.0; N];
    let mut i = 0;
    while i < N {
        numbers[i] = f32::from_bits(bits[i]);
        i += 1;
    }
    numbers
}

/// atan of the last four c, and what is left of it.
const HIGH: [f32; 4] = exactly([0x3eed_6338, 0x3f49_0fda, 0x3f7b_985e, 0x3fc9_0fda]);
const LOW: [f32; 4] = exactly([0x31ac_3769, 0x3322_2168, 0x3314_0fb4, 0x33a2_2168]);
/// a, about 1/3, −1/5, 1/7, −1/9 and 1/16.
const SERIES: [f32; 5] = exactly([0x3eaa_aaa9, 0xbe4c_ca98, 0x3e11_f50d, 0xbdda_1247, 0x3d7c_ac25]);
/// π in two parts.
const PI: [f32; 2] = exactly([0x4049_0fdb, 0xb3bb_bd2e]);
/// From here on `libm` is asked.
const FAR: f32 = 33_554_432.0;
/// Below this, atan q is q.
const NEAR: f32 = 1.0 / 4096.0;

/// The angle of (x, y), in (−π, π].
#[inline(always)]
pub(super) fn atan2<S: Register>(y: S, x: S) -> S {
    let number = inlined(
        #[inline(always)]
        |value: f32| S::from_f64(f64::from(value)),
    );
    let q = y.magnitude() / x.magnitude();
    if !S::is_all(number(FAR).greater(q)) {
        return y.lone_atan2(x);
    }
    let below = [
        number(LIMITS[0]).greater(q),
        number(LIMITS[1]).greater(q),
        number(LIMITS[2]).greater(q),
        number(LIMITS[3]).greater(q),
    ];
    let choose = inlined(
        #[inline(always)]
        |[a, b, c, d, e]: [S; 5]| {
            let last = S::select(below[3], d, e);
            S::select(below[0], a, S::select(below[1], b, S::select(below[2], c, last)))
        },
    );
    let (one, two, half) = (S::ONE, number(2.0), number(1.5));
    let upper = choose([q, two * q - one, q - one, q - half, -one]);
    let lower = choose([one, two + q, q + one, one + half * q, q]);
    let t = upper / lower;
    let z = t * t;
    let w = z * z;
    let [a0, a1, a2, a3, a4] = each(SERIES, number);
    let odd = z * (a0 + w * (a2 + w * a4));
    let even = w * (a1 + w * a3);
    let [[h1, h2, h3, h4], [l1, l2, l3, l4]] = [each(HIGH, number), each(LOW, number)];
    let (high, low) = (choose([S::ZERO, h1, h2, h3, h4]), choose([S::ZERO, l1, l2, l3, l4]));
    let far = high - ((t * (odd + even) - low) - t);
    let angle = S::select(number(NEAR).greater(q), q, far);
    let [pi, pi_rest] = each(PI, number);
    let angle = S::select(S::ZERO.greater(x), pi - (angle - pi_rest), angle);
    angle.with_sign_of(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Lanes;

    /// Every size of a number with some thousand of its fractions, and what has a case of its own.
    fn numbers() -> impl Iterator<Item = f32> {
        let special = [0.0, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN, 1.0, NEAR, FAR];
        let around = LIMITS.into_iter().chain(special).map(f32::to_bits);
        let near = around.flat_map(|bits| (0..65).map(move |i| bits.saturating_add(i).saturating_sub(32)));
        (0..0x7f80_0000).step_by(4603).chain(near).map(f32::from_bits)
    }

    fn check<const N: usize>(atan2: impl Fn([f32; N], [f32; N]) -> [f32; N]) {
        let all: Vec<f32> = numbers().collect();
        for x in [1.0, 0.7, 3.0e-12, 2.5e20, 1e-40, 0.0, f32::INFINITY, f32::NAN] {
            for lanes in all.chunks_exact(N) {
                for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
                    let y: [f32; N] = std::array::from_fn(|lane| signs[0] * lanes[lane]);
                    let x = [signs[1] * x; N];
                    for (lane, found) in atan2(y, x).into_iter().enumerate() {
                        let expected = libm::atan2f(y[lane], x[lane]);
                        let is_same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                        assert!(is_same, "atan2 {:e} {:e}: {found:e} and {expected:e}", y[lane], x[lane]);
                    }
                }
            }
        }
    }

    #[test]
    fn several_at_once_have_the_bits_of_libm() {
        check(|y, x| atan2(Lanes::new(y), Lanes::new(x)).to_array());
        #[cfg(target_arch = "x86_64")]
        if crate::parallel::Team::solo().is_wide() {
            use crate::math::Eight;
            check(|y, x| atan2(Eight::new(y), Eight::new(x)).to_array());
        }
    }
}
