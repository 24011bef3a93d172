//! Rotations of scene objects.

use super::Vec3;

/// A 3 × 3 matrix, by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3(pub [[f64; 3]; 3]);

impl Mat3 {
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
    pub fn times(&self, o: &Self) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| self.0[i][k] * o.0[k][j]).sum())))
    }

    /// Matrix times vector.
    pub fn apply(&self, v: Vec3<f64>) -> Vec3<f64> {
        let row = |r: [f64; 3]| Vec3::from(r).dot(v);
        Vec3::new(row(self.0[0]), row(self.0[1]), row(self.0[2]))
    }

    /// The inverse of a rotation.
    pub fn transposed(&self) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| self.0[j][i])))
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
}
