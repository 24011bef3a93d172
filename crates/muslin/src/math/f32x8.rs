//! Eight single-precision numbers side by side, in one register of AVX.
//!
//! Not every x86 processor has such registers, so whether to use them is decided at run time
//! ([`Team`](crate::parallel::Team)), and the code around them is compiled twice. A lane has the bits of a lone number, as in
//! [`F32x4`]: no operation is fused or approximate, so the choice changes no result.
//!
//! An operation is one instruction once it is inlined into a function with `#[target_feature(enable = "avx2")]`, and
//! a call of a function elsewhere: right, and slow.
#![allow(unsafe_code, reason = "instructions that not every processor has")]

use core::arch::x86_64::{
    __m128, __m256, _CMP_GT_OQ, _mm256_add_ps, _mm256_and_ps, _mm256_andnot_ps, _mm256_blendv_ps,
    _mm256_castps128_ps256, _mm256_castps256_ps128, _mm256_cmp_ps, _mm256_div_ps, _mm256_extractf128_ps,
    _mm256_insertf128_ps, _mm256_movemask_ps, _mm256_mul_ps, _mm256_or_ps, _mm256_permute2f128_ps, _mm256_set1_ps,
    _mm256_shuffle_ps, _mm256_sqrt_ps, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps, _mm256_xor_ps,
};
use core::mem::transmute;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::math::angle::{Narrow, Register};
use crate::math::operators::assignments;
use crate::math::{F32x4, Scalar, angle};

/// Eight numbers, each with the arithmetic of an `f32`.
///
/// Its operations may only be used on a processor that has AVX2; see [`Worker::is_wide`](crate::parallel::Worker::is_wide).
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct F32x8(__m256);

/// An expression of instructions, and of registers as arrays.
macro_rules! avx {
    ($operation:expr) => {
        // SAFETY: the processor has the instruction, since whoever computes with this type has asked `Worker::is_wide` first, which is
        // true on no other. Registers and arrays of as many numbers have the same size, and every pattern of bits is a number.
        unsafe { $operation }
    };
}

impl F32x8 {
    /// From an array.
    #[inline(always)]
    pub(crate) const fn new(numbers: [f32; 8]) -> Self {
        Self(avx!(transmute::<[f32; 8], __m256>(numbers)))
    }

    /// To an array.
    #[inline(always)]
    pub(crate) const fn to_array(self) -> [f32; 8] {
        avx!(transmute::<__m256, [f32; 8]>(self.0))
    }

    /// A function of each lane.
    #[inline(always)]
    fn map(self, function: impl Fn(f32) -> f32) -> Self {
        Self::new(self.to_array().map(function))
    }

    /// Two registers of four, the second in the upper lanes.
    #[inline(always)]
    fn join(lower: F32x4, upper: F32x4) -> Self {
        avx!({
            let [lower, upper] = [lower, upper].map(|half| transmute::<[f32; 4], __m128>(half.to_array()));
            Self(_mm256_insertf128_ps::<1>(_mm256_castps128_ps256(lower), upper))
        })
    }

    /// The reverse.
    #[inline(always)]
    fn split(self) -> [F32x4; 2] {
        avx!({
            let halves = [_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0)];
            halves.map(|half| F32x4::new(transmute::<__m128, [f32; 4]>(half)))
        })
    }

    /// Both halves of four registers as matrices, rows to columns.
    #[inline(always)]
    fn transpose_halves([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        avx!({
            let (low_ab, high_ab) = (_mm256_unpacklo_ps(a.0, b.0), _mm256_unpackhi_ps(a.0, b.0));
            let (low_cd, high_cd) = (_mm256_unpacklo_ps(c.0, d.0), _mm256_unpackhi_ps(c.0, d.0));
            [
                Self(_mm256_shuffle_ps::<0x44>(low_ab, low_cd)),
                Self(_mm256_shuffle_ps::<0xEE>(low_ab, low_cd)),
                Self(_mm256_shuffle_ps::<0x44>(high_ab, high_cd)),
                Self(_mm256_shuffle_ps::<0xEE>(high_ab, high_cd)),
            ]
        })
    }

    /// Eight rows of four as four columns.
    #[inline(always)]
    pub(crate) fn from_rows(row: impl Fn(usize) -> F32x4) -> [Self; 4] {
        // A register takes row l and row l + 4: the upper one comes from memory as it is put there, and what is left is as many
        // instructions as four rows take.
        Self::transpose_halves([
            Self::join(row(0), row(4)),
            Self::join(row(1), row(5)),
            Self::join(row(2), row(6)),
            Self::join(row(3), row(7)),
        ])
    }

    /// Eight rows of eight as eight columns.
    #[inline(always)]
    pub(crate) fn from_long_rows(row: impl Fn(usize) -> Self) -> [Self; 8] {
        let [a, b, c, d] = Self::transpose_halves([row(0), row(1), row(2), row(3)]);
        let [e, f, g, h] = Self::transpose_halves([row(4), row(5), row(6), row(7)]);
        let lower = |a: Self, b: Self| Self(avx!(_mm256_permute2f128_ps::<0x20>(a.0, b.0)));
        let upper = |a: Self, b: Self| Self(avx!(_mm256_permute2f128_ps::<0x31>(a.0, b.0)));
        [lower(a, e), lower(b, f), lower(c, g), lower(d, h), upper(a, e), upper(b, f), upper(c, g), upper(d, h)]
    }

    /// The reverse.
    #[inline(always)]
    pub(crate) fn to_rows(columns: [Self; 4], mut set: impl FnMut(usize, F32x4)) {
        let [a, b, c, d] = Self::transpose_halves(columns);
        for (lane, rows) in [a, b, c, d].into_iter().enumerate() {
            let [lower, upper] = rows.split();
            set(lane, lower);
            set(lane + 4, upper);
        }
    }
}

impl Default for F32x8 {
    #[inline(always)]
    fn default() -> Self {
        Self::ZERO
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $instruction:ident),+) => {$(
        impl $trait for F32x8 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self(avx!($instruction(self.0, o.0)))
            }
        }
    )+};
}
operators!(Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(avx!(_mm256_xor_ps(self.0, Self::new([-0.0; 8]).0)))
    }
}
assignments!(F32x8);

impl Scalar for F32x8 {
    const ZERO: Self = Self::new([0.0; 8]);
    const ONE: Self = Self::new([1.0; 8]);
    const EPSILON: f64 = <f32 as Scalar>::EPSILON;
    const LANES: usize = 8;
    /// All bits of a lane set, or none.
    type Mask = __m256;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(avx!(_mm256_set1_ps(value as f32)))
    }
    #[inline(always)]
    fn gather<T>(items: &[T], number: impl Fn(&T) -> f64) -> Self {
        Self::new(std::array::from_fn(|lane| number(&items[lane]) as f32))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(avx!(_mm256_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        angle::atan2(self, other)
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.map(libm::log1pf)
    }
    #[inline(always)]
    fn greater(self, other: Self) -> __m256 {
        avx!(_mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0))
    }
    #[inline(always)]
    fn select(mask: __m256, yes: Self, no: Self) -> Self {
        Self(avx!(_mm256_blendv_ps(no.0, yes.0, mask)))
    }
    #[inline(always)]
    fn and(one: __m256, other: __m256) -> __m256 {
        avx!(_mm256_and_ps(one, other))
    }
    #[inline(always)]
    fn is_any(mask: __m256) -> bool {
        avx!(_mm256_movemask_ps(mask) != 0)
    }
    #[inline(always)]
    fn is_all(mask: __m256) -> bool {
        avx!(_mm256_movemask_ps(mask) == 0xFF)
    }
}

impl Narrow for F32x8 {
    #[inline(always)]
    fn magnitude(self) -> Self {
        Self(avx!(_mm256_andnot_ps(Self::new([-0.0; 8]).0, self.0)))
    }
    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        Self(avx!(_mm256_or_ps(self.0, _mm256_and_ps(other.0, Self::new([-0.0; 8]).0))))
    }
}

impl Register for F32x8 {
    #[inline(always)]
    fn either(one: __m256, other: __m256) -> __m256 {
        avx!(_mm256_or_ps(one, other))
    }
    #[inline(always)]
    fn bits(mask: __m256) -> u32 {
        avx!(_mm256_movemask_ps(mask) as u32)
    }
    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        numbers.first_chunk().map_or(Self::ZERO, |numbers| Self::new(*numbers))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        if let Some(numbers) = numbers.first_chunk_mut() {
            *numbers = self.to_array();
        }
    }
    #[inline(always)]
    fn columns(row: impl Fn(usize) -> F32x4) -> [Self; 4] {
        Self::from_rows(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Team;

    /// What is left over at the end of a colour is swept alone, and other machines sweep by fours.
    #[test]
    fn a_lane_has_the_bits_of_a_lone_number() {
        if !Team::solo().is_wide() {
            return;
        }
        let a = [1.1_f32, -3.7, 0.0, 1e-20, 1e-40, -0.0, f32::INFINITY, 3.4e38];
        let b = [0.3_f32, 2.9, 7.0, 1e20, 3e-39, 0.0, 2.0, 1e-3];
        let (wide_a, wide_b) = (F32x8::new(a), F32x8::new(b));
        let check = |name: &str, wide: F32x8, lone: fn(f32, f32) -> f32| {
            for (lane, bits) in wide.to_array().map(f32::to_bits).into_iter().enumerate() {
                let alone = lone(a[lane], b[lane]);
                assert!(bits == alone.to_bits() || alone.is_nan(), "{name} in lane {lane}: {bits:x}, {alone}");
            }
        };
        check("add", wide_a + wide_b, |a, b| a + b);
        check("sub", wide_a - wide_b, |a, b| a - b);
        check("mul", wide_a * wide_b, |a, b| a * b);
        check("div", wide_a / wide_b, |a, b| a / b);
        check("neg", -wide_a, |a, _| -a);
        check("sqrt", Scalar::sqrt(wide_b), |_, b| b.sqrt());
        check("atan2", wide_a.atan2(wide_b), Scalar::atan2);
        check("ln_1p", wide_b.ln_1p(), |_, b| Scalar::ln_1p(b));
        check("select", F32x8::select(wide_a.greater(wide_b), wide_a, wide_b), |a, b| if a > b { a } else { b });
    }

    #[test]
    fn rows_come_back_from_columns() {
        if !Team::solo().is_wide() {
            return;
        }
        let number = |lane: usize, part: usize| (10 * lane + part) as f32;
        let columns = F32x8::from_rows(|lane| F32x4::new(std::array::from_fn(|part| number(lane, part))));
        for (part, column) in columns.iter().enumerate() {
            assert_eq!(column.to_array(), std::array::from_fn(|lane| number(lane, part)));
        }
        let long = F32x8::from_long_rows(|lane| F32x8::new(std::array::from_fn(|part| number(lane, part))));
        for (part, column) in long.iter().enumerate() {
            assert_eq!(column.to_array(), std::array::from_fn(|lane| number(lane, part)));
        }
        let mut rows = [[0.0; 4]; 8];
        F32x8::to_rows(columns, |lane, row| rows[lane] = row.to_array());
        assert_eq!(rows, std::array::from_fn(|lane| std::array::from_fn(|part| number(lane, part))));
    }
}
