//! Dual numbers: a value with one exact derivative.
//!
//! ```text
//! (a + a′ε)(b + b′ε) = ab + (a′b + ab′)ε,   ε² = 0
//! ```
//!
//! Seeding one coordinate with ε = 1 and evaluating a formula gives its exact partial derivative, without a
//! step size. `Dual<Dual<f64>>` gives second derivatives.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::math::{Four, Real, Scalar};

/// `value + derivative ε`.
///
/// ```
/// use muslin::math::Dual;
///
/// let x = Dual::variable(3.0);
/// let y = x * x + Dual::constant(1.0);
/// assert_eq!((y.value, y.derivative), (10.0, 6.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Dual<S> {
    /// The number.
    pub value: S,
    /// Its derivative.
    pub derivative: S,
}

#[allow(private_bounds, reason = "sealed: for f32, f64, and dual numbers over them")]
impl<S: Real> Dual<S> {
    /// A number that does not depend on the variable.
    pub fn constant(value: S) -> Self {
        Self { value, derivative: S::ZERO }
    }

    /// The variable itself.
    pub fn variable(value: S) -> Self {
        Self { value, derivative: S::ONE }
    }

    fn new(value: S, derivative: S) -> Self {
        Self { value, derivative }
    }
}

impl<S: Real> PartialEq for Dual<S> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<S: Real> PartialOrd for Dual<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<S: Real> Add for Dual<S> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.value + o.value, self.derivative + o.derivative)
    }
}
impl<S: Real> Sub for Dual<S> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.value - o.value, self.derivative - o.derivative)
    }
}
impl<S: Real> Mul for Dual<S> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.value * o.value, self.derivative * o.value + self.value * o.derivative)
    }
}
impl<S: Real> Div for Dual<S> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let quotient = self.value / o.value;
        Self::new(quotient, (self.derivative - quotient * o.derivative) / o.value)
    }
}
impl<S: Real> Neg for Dual<S> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.value, -self.derivative)
    }
}
impl<S: Real> AddAssign for Dual<S> {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<S: Real> SubAssign for Dual<S> {
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<S: Real> Scalar for Dual<S> {
    const ZERO: Self = Self { value: S::ZERO, derivative: S::ZERO };
    const ONE: Self = Self { value: S::ONE, derivative: S::ZERO };
    const EPSILON: f64 = S::EPSILON;
    const LANES: usize = 1;
    type Mask = bool;

    fn from_f64(value: f64) -> Self {
        Self::constant(S::from_f64(value))
    }
    fn gather<T>(items: &[T], number: impl Fn(&T) -> f64) -> Self {
        Self::from_f64(number(&items[0]))
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self::new(root, self.derivative / (root + root))
    }
    fn atan2(self, other: Self) -> Self {
        let (y, x) = (self.value, other.value);
        // d atan2(y, x) = (x dy − y dx) / (x² + y²)
        Self::new(y.atan2(x), (x * self.derivative - y * other.derivative) / (x * x + y * y))
    }
    fn ln_1p(self) -> Self {
        Self::new(self.value.ln_1p(), self.derivative / (S::ONE + self.value))
    }
    fn greater(self, other: Self) -> bool {
        self > other
    }
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    fn and(one: bool, other: bool) -> bool {
        one & other
    }
    fn is_any(mask: bool) -> bool {
        mask
    }
    fn is_all(mask: bool) -> bool {
        mask
    }
}

impl<S: Real> Real for Dual<S> {
    type Wide = Self;
    type Four = Four<Self>;

    fn to_f64(self) -> f64 {
        self.value.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-14, "{a} is not {b}");
    }

    #[test]
    fn first_derivatives_are_exact() {
        let x = Dual::variable(0.7_f64);
        close((x * x * x).derivative, 3.0 * 0.49);
        close((Dual::ONE / x).derivative, -1.0 / 0.49);
        close(x.sqrt().derivative, 0.5 / 0.7_f64.sqrt());
        close(x.atan2(Dual::constant(2.0)).derivative, 2.0 / (4.0 + 0.49));
        close(Real::abs(-x).derivative, 1.0);
        close(x.ln_1p().derivative, 1.0 / 1.7);
    }

    #[test]
    fn nested_duals_give_second_derivatives() {
        let x = Dual { value: Dual::variable(0.7_f64), derivative: Dual::constant(1.0) };
        close((x * x * x).derivative.derivative, 6.0 * 0.7);
        close(x.sqrt().derivative.derivative, -0.25 * libm::pow(0.7, -1.5));
    }
}
