//! Four double-precision numbers side by side.

use wide::f64x4;

use crate::math::operators::{assignments, operators};
use crate::math::{Scalar, Vec3};

/// Four numbers, each with the arithmetic of an `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub(crate) struct F64x4(f64x4);

impl F64x4 {
    /// From an array.
    #[inline(always)]
    pub(crate) fn new(numbers: [f64; 4]) -> Self {
        Self(f64x4::new(numbers))
    }

    /// To an array.
    #[inline(always)]
    pub(crate) fn to_array(self) -> [f64; 4] {
        self.0.to_array()
    }

    /// Four vectors side by side.
    #[inline(always)]
    pub(crate) fn vectors([a, b, c, d]: [Vec3<f64>; 4]) -> Vec3<Self> {
        Vec3::new(Self::new([a.x, b.x, c.x, d.x]), Self::new([a.y, b.y, c.y, d.y]), Self::new([a.z, b.z, c.z, d.z]))
    }
}

operators!(F64x4);
assignments!(F64x4);

impl Scalar for F64x4 {
    const ZERO: Self = Self(f64x4::ZERO);
    const ONE: Self = Self(f64x4::ONE);
    const EPSILON: f64 = f64::EPSILON;
    const LANES: usize = 4;
    /// All bits of a lane set, or none.
    type Mask = f64x4;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(f64x4::splat(value))
    }
    #[inline(always)]
    fn gather<T>(items: &[T], number: impl Fn(&T) -> f64) -> Self {
        Self::new(std::array::from_fn(|lane| number(&items[lane])))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        let (y, x) = (self.to_array(), other.to_array());
        Self::new(std::array::from_fn(|lane| libm::atan2(y[lane], x[lane])))
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        Self::new(self.to_array().map(libm::log1p))
    }
    #[inline(always)]
    fn greater(self, other: Self) -> f64x4 {
        self.0.simd_gt(other.0)
    }
    #[inline(always)]
    fn select(mask: f64x4, yes: Self, no: Self) -> Self {
        Self(mask.bitselect(yes.0, no.0))
    }
    #[inline(always)]
    fn and(one: f64x4, other: f64x4) -> f64x4 {
        one & other
    }
    #[inline(always)]
    fn is_any(mask: f64x4) -> bool {
        mask.any()
    }
    #[inline(always)]
    fn is_all(mask: f64x4) -> bool {
        mask.all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_the_bits_of_a_lone_number() {
        let (a, b) = ([1.1, -3.7, -0.0, 1e-320], [0.3, 2.9, 7.0, 1e300]);
        let (wide_a, wide_b) = (F64x4::new(a), F64x4::new(b));
        let check = |name: &str, wide: F64x4, lone: fn(f64, f64) -> f64| {
            for (lane, bits) in wide.to_array().map(f64::to_bits).into_iter().enumerate() {
                assert_eq!(bits, lone(a[lane], b[lane]).to_bits(), "{name} in lane {lane}");
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
        check("select", F64x4::select(wide_a.greater(wide_b), wide_a, wide_b), |a, b| if a > b { a } else { b });
    }

    #[test]
    fn masks_hold_in_some_lanes_or_in_all() {
        let (a, b) = (F64x4::new([1.0, 2.0, 3.0, f64::NAN]), F64x4::new([0.0, 3.0, 2.0, 0.0]));
        let mask = a.greater(b);
        assert!(F64x4::is_any(mask) && !F64x4::is_all(mask));
        assert!(F64x4::is_all(F64x4::ONE.greater(F64x4::ZERO)));
        assert!(!F64x4::is_any(F64x4::and(mask, b.greater(a))));
    }
}
