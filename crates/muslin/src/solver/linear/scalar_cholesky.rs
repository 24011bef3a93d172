//! Sparse Cholesky factorisation with one number per pair of vertices and three right-hand sides, kept from step to step.

use crate::math::Vec3;
use crate::solver::linear::factor::Factor;

/// A symmetric matrix and its factor.
pub(in crate::solver) struct ScalarCholesky(Factor);

impl ScalarCholesky {
    /// Analyses the pattern of a matrix of `size` rows: its diagonal, and the `pairs` of rows, in any order and number.
    ///
    /// `None` if there is no memory for it.
    pub(in crate::solver) fn new(size: usize, mut pairs: Vec<[u32; 2]>) -> Option<Self> {
        pairs.extend((0..size as u32).map(|i| [i, i]));
        // By column (the lower of the two), then row.
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; size + 1];
        pairs.iter().for_each(|&[column, _]| starts[column as usize + 1] += 1);
        for column in 0..size {
            starts[column + 1] += starts[column];
        }
        Factor::new(starts, pairs.iter().map(|&[_, row]| row).collect(), 3).map(Self)
    }

    /// Makes every number zero.
    pub(in crate::solver) fn clear(&mut self) {
        self.0.numbers.fill(0.0);
    }

    /// Adds to the numbers at (i, j) and (j, i), which must be in the pattern.
    pub(in crate::solver) fn add(&mut self, i: u32, j: u32, number: f64) {
        let (column, row) = (i.min(j) as usize, i.max(j));
        let first = self.0.starts[column] as usize;
        let place = self.0.rows[first..self.0.starts[column + 1] as usize].binary_search(&row);
        debug_assert!(place.is_ok(), "({row}, {column}) is not in the pattern");
        if let Ok(place) = place {
            self.0.numbers[first + place] += number;
        }
    }

    /// Factorises the matrix as it is now; `false` if it is not positive definite or not finite.
    #[must_use]
    pub(in crate::solver) fn factorize(&mut self) -> bool {
        self.0.factorize()
    }

    /// Replaces each of the three right-hand sides b in `right` by A⁻¹ b.
    pub(in crate::solver) fn solve(&mut self, right: &mut [Vec3<f64>]) {
        let (n, sides) = (right.len(), &mut self.0.sides);
        for (i, b) in right.iter().enumerate() {
            (sides[i], sides[n + i], sides[2 * n + i]) = (b.x, b.y, b.z);
        }
        self.0.solve();
        let sides = &self.0.sides;
        for (i, x) in right.iter_mut().enumerate() {
            *x = Vec3::new(sides[i], sides[n + i], sides[2 * n + i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference of a chain of n with a mass on every vertex, and a loop from the first to the last.
    fn chain(n: u32, mass: f64) -> ScalarCholesky {
        let links = (0..n).map(|i| [(i + 1) % n, i]).collect::<Vec<_>>();
        let mut system = ScalarCholesky::new(n as usize, links.clone()).unwrap();
        fill(&mut system, &links, mass);
        system
    }

    fn fill(system: &mut ScalarCholesky, links: &[[u32; 2]], mass: f64) {
        system.clear();
        for &[i, j] in links {
            system.add(i, i, 1.0 + mass);
            system.add(j, j, 1.0);
            system.add(i, j, -1.0);
        }
    }

    #[test]
    fn three_sides_are_solved_and_new_numbers_are_factorised() {
        let n = 200;
        let links: Vec<[u32; 2]> = (0..n).map(|i| [(i + 1) % n, i]).collect();
        let mut system = chain(n, 0.5);
        for mass in [0.5, 3.0] {
            fill(&mut system, &links, mass);
            assert!(system.factorize(), "mass {mass}");
            // A wave of wavenumber q on the loop is an eigenvector: 2 − 2 cos q + mass.
            let wave = |k: u32, i: u32| libm::cos(f64::from(k * i) * std::f64::consts::TAU / f64::from(n));
            let value = |k: u32| 2.0 - 2.0 * wave(k, 1) + mass;
            let mut right: Vec<Vec3<f64>> = (0..n).map(|i| Vec3::new(wave(0, i), wave(3, i), wave(70, i))).collect();
            system.solve(&mut right);
            for (i, x) in (0..n).zip(right) {
                let exact = Vec3::new(1.0 / value(0), wave(3, i) / value(3), wave(70, i) / value(70));
                assert!((x - exact).norm() < 1e-13, "{i}: {x:?} {exact:?}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_or_not_finite_is_refused() {
        for mass in [-0.5, f64::NAN, f64::INFINITY] {
            assert!(!chain(50, mass).factorize(), "{mass}");
        }
    }
}
