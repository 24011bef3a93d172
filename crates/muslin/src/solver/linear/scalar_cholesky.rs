//! One number per pair of vertices, three right-hand sides: a sparse Cholesky factorisation that is kept.
//!
//! The pattern is analysed once; new numbers in it are factorised and systems are solved in memory that is there already.
//! After each factorisation a system is solved and its residual looked at; a factor that leaves one is refused.
//!
//! On one thread: a second one gains little at these sizes, and would change bits. The dense kernels use the vector
//! instructions of the machine, fused ones included, so bits may differ between kinds of processors, not between runs.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use crate::math::Vec3;

/// Right-hand sides: x, y, z.
const SIDES: usize = 3;

/// A symmetric matrix and its factor.
pub(in crate::solver) struct ScalarCholesky {
    size: usize,
    /// The lower triangle by columns, rows rising: where each column starts, the row of each number, the number.
    starts: Vec<usize>,
    rows: Vec<usize>,
    numbers: Vec<f64>,
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    memory: MemBuffer,
    /// The three right-hand sides, one after the other.
    sides: Vec<f64>,
    /// Of the system that tests a factor.
    residual: Vec<f64>,
}

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
        let rows: Vec<usize> = pairs.iter().map(|&[_, row]| row as usize).collect();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &starts, None, &rows);
        let params = CholeskySymbolicParams::default();
        let symbolic = factorize_symbolic_cholesky(pattern, Side::Lower, SymmetricOrdering::Amd, params).ok()?;
        let factoring = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, faer::Spec::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(SIDES, Par::Seq);
        Some(Self {
            size,
            numbers: vec![0.0; rows.len()],
            factor: vec![0.0; symbolic.len_val()],
            memory: MemBuffer::try_new(StackReq::any_of(&[factoring, solving])).ok()?,
            sides: vec![0.0; SIDES * size],
            residual: vec![0.0; size],
            starts,
            rows,
            symbolic,
        })
    }

    /// Makes every number zero.
    pub(in crate::solver) fn clear(&mut self) {
        self.numbers.fill(0.0);
    }

    /// Adds to the numbers at (i, j) and (j, i), which must be in the pattern.
    pub(in crate::solver) fn add(&mut self, i: u32, j: u32, number: f64) {
        let (column, row) = (i.min(j) as usize, i.max(j) as usize);
        let first = self.starts[column];
        let place = self.rows[first..self.starts[column + 1]].binary_search(&row);
        debug_assert!(place.is_ok(), "({row}, {column}) is not in the pattern");
        if let Ok(place) = place {
            self.numbers[first + place] += number;
        }
    }

    /// Factorises the matrix as it is now; `false` if it is not positive definite or not finite.
    #[must_use]
    pub(in crate::solver) fn factorize(&mut self) -> bool {
        let pattern = SymbolicSparseColMatRef::new_checked(self.size, self.size, &self.starts, None, &self.rows);
        let matrix = SparseColMatRef::new(pattern, &self.numbers);
        let none = LltRegularization { dynamic_regularization_delta: 0.0, dynamic_regularization_epsilon: 0.0 };
        let stack = MemStack::new(&mut self.memory);
        let done = self.symbolic.factorize_numeric_llt(
            &mut self.factor,
            matrix,
            Side::Lower,
            none,
            Par::Seq,
            stack,
            faer::Spec::default(),
        );
        done.is_ok() && self.is_sound()
    }

    /// Whether the factor solves a system: ‖b − A x̂‖ against ‖A‖‖x̂‖.
    ///
    /// Cholesky is backward stable: the quotient is some n ε at most, in practice a few ε; a broken factor leaves about one.
    fn is_sound(&mut self) -> bool {
        const TOLERANCE: f64 = 1e-11;
        let known = |i: usize| if i.is_multiple_of(3) { -1.0 } else { 0.5 + 0.25 * (i % 7) as f64 };
        self.residual.fill(0.0);
        let residual = &mut self.residual;
        for_each_number(&self.starts, &self.rows, &self.numbers, |i, j, a| residual[i] += a * known(j));
        self.sides[..self.size].copy_from_slice(residual);
        self.sides[self.size..].fill(0.0);
        self.solve_sides();
        let (residual, x) = (&mut self.residual, &self.sides);
        for_each_number(&self.starts, &self.rows, &self.numbers, |i, j, a| residual[i] -= a * x[j]);
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let sum: f64 = residual.iter().sum();
        sum.is_finite() && largest(residual) <= TOLERANCE * largest(&self.numbers) * largest(&x[..self.size])
    }

    /// Replaces each of the three right-hand sides b in `right` by A⁻¹ b.
    pub(in crate::solver) fn solve(&mut self, right: &mut [Vec3<f64>]) {
        let n = self.size;
        for (i, b) in right.iter().enumerate() {
            (self.sides[i], self.sides[n + i], self.sides[2 * n + i]) = (b.x, b.y, b.z);
        }
        self.solve_sides();
        for (i, x) in right.iter_mut().enumerate() {
            *x = Vec3::new(self.sides[i], self.sides[n + i], self.sides[2 * n + i]);
        }
    }

    fn solve_sides(&mut self) {
        let sides = MatMut::from_column_major_slice_mut(&mut self.sides, self.size, SIDES);
        let stack = MemStack::new(&mut self.memory);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(Conj::No, sides, Par::Seq, stack);
    }
}

/// Visits every number of the whole symmetric matrix: row, column, number.
fn for_each_number(starts: &[usize], rows: &[usize], numbers: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
    for column in 0..starts.len() - 1 {
        for place in starts[column]..starts[column + 1] {
            visit(rows[place], column, numbers[place]);
            if rows[place] != column {
                visit(column, rows[place], numbers[place]);
            }
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
