//! Cholesky factor of a matrix of 3 × 3 blocks: every number of it is one of the factor's.

use crate::math::Vec3;
use crate::solver::linear::BlockMatrix;
use crate::solver::linear::factor::Factor;

/// A factorised matrix.
pub(crate) struct Cholesky(Factor);

impl Cholesky {
    /// Analyses the pattern of a matrix; its numbers do not matter. `None` if there is no memory for the factor.
    pub(crate) fn new(matrix: &BlockMatrix) -> Option<Self> {
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for column in 0..3 * matrix.row_count() {
            rows.extend(lower(matrix, column).map(|(row, _)| row as u32));
            starts.push(u32::try_from(rows.len()).ok()?);
        }
        Factor::new(starts, rows, 1).map(Self)
    }

    /// Factorises a matrix of the pattern that was analysed; `false` if it is not positive definite or not finite.
    #[must_use]
    pub(crate) fn factor(&mut self, matrix: &BlockMatrix) -> bool {
        let numbers = (0..3 * matrix.row_count()).flat_map(|column| lower(matrix, column));
        for (place, (_, number)) in self.0.numbers.iter_mut().zip(numbers) {
            *place = number;
        }
        self.0.factorize()
    }

    /// Solves A x = b in place.
    pub(crate) fn solve(&mut self, x: &mut [Vec3<f64>]) {
        for (numbers, x) in self.0.sides.chunks_exact_mut(3).zip(&*x) {
            numbers.copy_from_slice(&x.to_array());
        }
        self.0.solve();
        for (numbers, x) in self.0.sides.chunks_exact(3).zip(x) {
            *x = Vec3::new(numbers[0], numbers[1], numbers[2]);
        }
    }
}

/// Row and number, from the diagonal down, of a column of numbers.
fn lower(matrix: &BlockMatrix, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
    // The block of (column, row) is the transpose of that of (row, column).
    let numbers = move |(row, block): (u32, &crate::math::Mat3)| {
        let line = block.0[column % 3];
        (0..3).map(move |i| (3 * row as usize + i, line[i]))
    };
    matrix.row(column / 3).flat_map(numbers).filter(move |(row, _)| *row >= column)
}
