//! Matrices of three by three: rotations, and blocks of a Hessian.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use crate::math::Vec3;

/// A 3 × 3 matrix, by rows.
///
/// ```
/// use muslin::math::{Mat3, Vec3};
///
/// let turn = Mat3::from_degrees_xyz([0.0, 90.0, 0.0]);
/// assert!((turn.apply(Vec3::new(1.0, 0.0, 0.0)) - Vec3::new(0.0, 0.0, -1.0)).norm() < 1e-15);
/// assert!((turn.determinant() - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mat3(pub [[f64; 3]; 3]);

impl Mat3 {
    /// Every number zero.
    pub const ZERO: Self = Self([[0.0; 3]; 3]);
    /// What changes no vector.
    pub const IDENTITY: Self = Self([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);

    /// a bᵀ.
    #[inline(always)]
    pub fn outer(a: Vec3<f64>, b: Vec3<f64>) -> Self {
        Self([(b * a.x).to_array(), (b * a.y).to_array(), (b * a.z).to_array()])
    }

    /// The matrix that turns v into a × v.
    #[inline(always)]
    pub fn cross(a: Vec3<f64>) -> Self {
        Self([[0.0, -a.z, a.y], [a.z, 0.0, -a.x], [-a.y, a.x, 0.0]])
    }

    /// s I.
    #[inline(always)]
    pub fn scalar(s: f64) -> Self {
        Self([[s, 0.0, 0.0], [0.0, s, 0.0], [0.0, 0.0, s]])
    }

    /// From its columns.
    #[inline(always)]
    pub fn from_columns(a: Vec3<f64>, b: Vec3<f64>, c: Vec3<f64>) -> Self {
        Self([[a.x, b.x, c.x], [a.y, b.y, c.y], [a.z, b.z, c.z]])
    }

    /// The sum of the diagonal.
    #[inline(always)]
    pub fn trace(&self) -> f64 {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// The determinant.
    #[inline(always)]
    pub fn determinant(&self) -> f64 {
        let [a, b, c] = self.0.map(Vec3::from);
        a.dot(b.cross(c))
    }

    /// The inverse; `None` if the determinant is zero or not finite.
    #[inline]
    pub fn inverse(&self) -> Option<Self> {
        let [a, b, c] = self.0.map(Vec3::from);
        let columns = [b.cross(c), c.cross(a), a.cross(b)];
        let inverse = 1.0 / a.dot(columns[0]);
        let sound = inverse.is_finite();
        sound.then(|| Self::from_columns(columns[0] * inverse, columns[1] * inverse, columns[2] * inverse))
    }

    /// Rotation by `angle`, in rad, about a unit axis (Rodrigues).
    pub fn about(axis: Vec3<f64>, angle: f64) -> Self {
        let (s, c) = (libm::sin(angle), libm::cos(angle));
        let [x, y, z] = axis.to_array();
        let t = 1.0 - c;
        Self([
            [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
        ])
    }

    /// Rotation by degrees about x, then y, then z, as scene files give it.
    pub fn from_degrees_xyz([x, y, z]: [f64; 3]) -> Self {
        let about = |axis: [f64; 3], degrees: f64| Self::about(axis.into(), degrees.to_radians());
        about([0.0, 0.0, 1.0], z).times(&about([0.0, 1.0, 0.0], y)).times(&about([1.0, 0.0, 0.0], x))
    }

    /// Matrix product.
    #[inline]
    pub fn times(&self, o: &Self) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| self.0[i][k] * o.0[k][j]).sum())))
    }

    /// Matrix times vector.
    #[inline(always)]
    pub fn apply(&self, v: Vec3<f64>) -> Vec3<f64> {
        let row = |r: [f64; 3]| Vec3::from(r).dot(v);
        Vec3::new(row(self.0[0]), row(self.0[1]), row(self.0[2]))
    }

    /// The transpose: the inverse of a rotation.
    #[inline(always)]
    pub fn transposed(&self) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| self.0[j][i])))
    }
}

impl Add for Mat3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| self.0[i][j] + o.0[i][j])))
    }
}
impl Sub for Mat3 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| self.0[i][j] - o.0[i][j])))
    }
}
impl Mul<f64> for Mat3 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: f64) -> Self {
        Self(self.0.map(|row| row.map(|x| x * s)))
    }
}
impl Neg for Mat3 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self * -1.0
    }
}
impl AddAssign for Mat3 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_go_about_x_first() {
        // +y turns to +z about x, then +z turns to +x about y.
        let turned = Mat3::from_degrees_xyz([90.0, 90.0, 0.0]).apply(Vec3::new(0.0, 1.0, 0.0));
        assert!((turned - Vec3::new(1.0, 0.0, 0.0)).norm() < 1e-15, "{turned:?}");
    }

    #[test]
    fn the_transpose_undoes_a_rotation() {
        let r = Mat3::from_degrees_xyz([10.0, 20.0, 30.0]);
        let v = Vec3::new(1.0, 2.0, 3.0);
        assert!((r.transposed().apply(r.apply(v)) - v).norm() < 1e-15, "not an inverse");
    }

    #[test]
    fn the_inverse_undoes_and_a_singular_matrix_has_none() {
        let m = Mat3([[2.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.0, 1.0, 4.0]]);
        let product = m.times(&m.inverse().unwrap());
        for i in 0..3 {
            for j in 0..3 {
                assert!((product.0[i][j] - Mat3::IDENTITY.0[i][j]).abs() < 1e-15, "{product:?}");
            }
        }
        assert_eq!(Mat3::outer(Vec3::splat(1.0), Vec3::splat(2.0)).inverse(), None);
    }

    #[test]
    fn the_cross_matrix_is_the_vector_product() {
        let (a, b) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-4.0, 0.5, 2.0));
        assert_eq!(Mat3::cross(a).apply(b), a.cross(b));
    }
}
