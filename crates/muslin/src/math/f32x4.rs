//! Four single-precision numbers side by side.
//!
//! Every machine that runs this has registers of four (SSE2, NEON, SIMD128), so this is what sweeps use unless the
//! processor has wider ones (`F32x8`). The bits are the same everywhere.

use wide::f32x4;

use crate::math::angle::{Narrow, Register};
use crate::math::operators::{assignments, operators};
use crate::math::{Scalar, angle};

/// Four numbers, each with the arithmetic of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub(crate) struct F32x4(f32x4);

impl F32x4 {
    /// From an array.
    #[inline(always)]
    pub(crate) fn new(numbers: [f32; 4]) -> Self {
        Self(f32x4::new(numbers))
    }

    /// To an array.
    #[inline(always)]
    pub(crate) fn to_array(self) -> [f32; 4] {
        self.0.to_array()
    }

    /// The last number in every lane.
    #[inline(always)]
    pub(crate) fn last(self) -> Self {
        let [.., last] = Self::transpose([self; 4]);
        last
    }

    /// Rows to columns.
    #[inline(always)]
    pub(crate) fn transpose(rows: [Self; 4]) -> [Self; 4] {
        f32x4::transpose(rows.map(|row| row.0)).map(Self)
    }

    /// Four rows of four as four columns.
    #[inline(always)]
    pub(crate) fn from_rows(row: impl Fn(usize) -> Self) -> [Self; 4] {
        Self::transpose(std::array::from_fn(row))
    }

    /// The reverse.
    #[inline(always)]
    pub(crate) fn to_rows(columns: [Self; 4], mut set: impl FnMut(usize, Self)) {
        for (lane, row) in Self::transpose(columns).into_iter().enumerate() {
            set(lane, row);
        }
    }
}

impl From<[f32; 4]> for F32x4 {
    #[inline(always)]
    fn from(numbers: [f32; 4]) -> Self {
        Self::new(numbers)
    }
}

impl From<f32x4> for F32x4 {
    #[inline(always)]
    fn from(numbers: f32x4) -> Self {
        Self(numbers)
    }
}

impl From<F32x4> for f32x4 {
    #[inline(always)]
    fn from(lanes: F32x4) -> Self {
        lanes.0
    }
}

impl From<F32x4> for [f32; 4] {
    #[inline(always)]
    fn from(lanes: F32x4) -> Self {
        lanes.to_array()
    }
}

operators!(F32x4);
assignments!(F32x4);

impl Scalar for F32x4 {
    const ZERO: Self = Self(f32x4::ZERO);
    const ONE: Self = Self(f32x4::ONE);
    const EPSILON: f64 = <f32 as Scalar>::EPSILON;
    const LANES: usize = 4;
    /// All bits of a lane set, or none.
    type Mask = f32x4;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(f32x4::splat(value as f32))
    }
    #[inline(always)]
    fn gather<T>(items: &[T], number: impl Fn(&T) -> f64) -> Self {
        Self::new(std::array::from_fn(|lane| number(&items[lane]) as f32))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        angle::atan2(self, other)
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        Self::new(self.to_array().map(libm::log1pf))
    }
    #[inline(always)]
    fn greater(self, other: Self) -> f32x4 {
        self.0.simd_gt(other.0)
    }
    #[inline(always)]
    fn select(mask: f32x4, yes: Self, no: Self) -> Self {
        Self(mask.bitselect(yes.0, no.0))
    }
    #[inline(always)]
    fn and(one: f32x4, other: f32x4) -> f32x4 {
        one & other
    }
    #[inline(always)]
    fn is_any(mask: f32x4) -> bool {
        mask.any()
    }
    #[inline(always)]
    fn is_all(mask: f32x4) -> bool {
        mask.all()
    }
}

impl Narrow for F32x4 {
    #[inline(always)]
    fn magnitude(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        Self(self.0 | (other.0 & f32x4::splat(-0.0)))
    }
}

impl Register for F32x4 {
    #[inline(always)]
    fn either(one: f32x4, other: f32x4) -> f32x4 {
        one | other
    }
    #[inline(always)]
    fn bits(mask: f32x4) -> u32 {
        mask.to_bitmask()
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
    fn columns(row: impl Fn(usize) -> Self) -> [Self; 4] {
        Self::from_rows(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane must have the bits of a lone number: what is left over at the end of a colour is swept alone.
    #[test]
    fn a_lane_has_the_bits_of_a_lone_number() {
        let (a, b) = ([1.1_f32, -3.7, 0.0, 1e-20], [0.3_f32, 2.9, 7.0, 1e20]);
        let (wide_a, wide_b) = (F32x4::new(a), F32x4::new(b));
        let check = |name: &str, wide: F32x4, lone: fn(f32, f32) -> f32| {
            for (lane, bits) in wide.to_array().map(f32::to_bits).into_iter().enumerate() {
                assert_eq!(bits, lone(a[lane], b[lane]).to_bits(), "{name} in lane {lane}");
            }
        };
        assert_eq!(wide_a.last().to_array(), [a[3]; 4]);
        check("add", wide_a + wide_b, |a, b| a + b);
        check("sub", wide_a - wide_b, |a, b| a - b);
        check("mul", wide_a * wide_b, |a, b| a * b);
        check("div", wide_a / wide_b, |a, b| a / b);
        check("neg", -wide_a, |a, _| -a);
        check("sqrt", Scalar::sqrt(wide_b), |_, b| b.sqrt());
        check("atan2", wide_a.atan2(wide_b), Scalar::atan2);
        check("ln_1p", wide_b.ln_1p(), |_, b| Scalar::ln_1p(b));
        check("select", F32x4::select(wide_a.greater(wide_b), wide_a, wide_b), |a, b| if a > b { a } else { b });
    }
}
