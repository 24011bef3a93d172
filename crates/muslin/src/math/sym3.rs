//! Symmetric matrices of three by three over any [`Scalar`]: the block of one vertex in a Hessian, several side by side.

use std::ops::{AddAssign, Mul};

use crate::math::{Scalar, Vec3, inlined};

/// A symmetric 3 × 3 matrix.
///
/// ```
/// use muslin::math::{Sym3, Vec3};
///
/// let stiffness = Sym3::scalar(4.0);
/// assert_eq!(stiffness.solve(Vec3::new(8.0, 0.0, 4.0), 0.0), Vec3::new(2.0, 0.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sym3<S> {
    /// xx, yy, zz.
    pub diagonal: Vec3<S>,
    /// yz, xz, xy.
    pub across: Vec3<S>,
}

impl<S: Scalar> Sym3<S> {
    /// Every number zero.
    pub const ZERO: Self = Self { diagonal: Vec3::ZERO, across: Vec3::ZERO };

    /// s I.
    #[inline(always)]
    pub fn scalar(s: S) -> Self {
        Self { diagonal: Vec3::splat(s), across: Vec3::ZERO }
    }

    /// s v vᵀ.
    #[inline(always)]
    pub fn outer(v: Vec3<S>, s: S) -> Self {
        let w = v * s;
        Self {
            diagonal: Vec3::new(v.x * w.x, v.y * w.y, v.z * w.z),
            across: Vec3::new(v.y * w.z, v.x * w.z, v.x * w.y),
        }
    }

    /// `yes` where the mask holds, `no` elsewhere.
    #[inline(always)]
    pub fn select(mask: S::Mask, yes: Self, no: Self) -> Self {
        Self {
            diagonal: Vec3::select(mask, yes.diagonal, no.diagonal),
            across: Vec3::select(mask, yes.across, no.across),
        }
    }

    /// H⁻¹ g by L D Lᵀ, for H without an eigenvalue below `floor`: rounding may not take a number of D below it either.
    #[inline(always)]
    pub fn solve(&self, g: Vec3<S>, floor: S) -> Vec3<S> {
        let inverse = inlined(
            #[inline(always)]
            |pivot: S| S::ONE / S::select(pivot.greater(floor), pivot, floor),
        );
        let Self { diagonal, across } = *self;
        let first = inverse(diagonal.x);
        let (yx, zx) = (across.z * first, across.y * first);
        let second = inverse(diagonal.y - yx * across.z);
        let left = across.x - zx * across.z;
        let zy = left * second;
        let third = inverse(diagonal.z - zx * across.y - zy * left);
        let y = g.y - yx * g.x;
        let z = (g.z - zx * g.x - zy * y) * third;
        let y = y * second - zy * z;
        Vec3::new(g.x * first - yx * y - zx * z, y, z)
    }
}

impl<S: Scalar> Mul<S> for Sym3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: S) -> Self {
        Self { diagonal: self.diagonal * s, across: self.across * s }
    }
}

impl<S: Scalar> AddAssign for Sym3<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.diagonal += o.diagonal;
        self.across += o.across;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_squares_is_inverted() {
        let vectors = [Vec3::new(1.0, 2.0, -3.0), Vec3::new(0.5, -1.0, 4.0), Vec3::new(-2.0, 0.3, 0.1)];
        let (mut h, floor) = (Sym3::scalar(0.25), 0.25);
        vectors.iter().for_each(|&v| h += Sym3::outer(v, 3.0));
        let x = Vec3::new(0.7, -1.1, 0.4);
        let g = vectors.iter().fold(x * floor, |sum, v| sum + *v * (3.0 * v.dot(x)));
        assert!((h.solve(g, floor) - x).norm() < 1e-13, "{:?}", h.solve(g, floor));
    }

    /// Stiff in two directions by 10⁸ times more than in the third, which is more than single precision can tell.
    #[test]
    fn a_block_that_rounding_spoilt_is_still_solved_downhill() {
        let across = Vec3::new(0.6_f32, -0.48, 0.64);
        let mut h = Sym3::scalar(1.0_f32);
        h += Sym3::outer(Vec3::new(0.8, 0.36, -0.48), 1e8);
        h += Sym3::outer(Vec3::new(0.0, 0.8, 0.6), 1e8);
        let d = h.solve(across, 1.0);
        assert!(d.is_finite() && d.dot(across) > 0.0, "{d:?}");
    }
}
