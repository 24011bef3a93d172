//! Sparse Cholesky factorisation A = L Lᵀ with a symbolic analysis that is kept.
//!
//! The work is done by `faer`, sequentially: its parallel mode gains nothing on a few cores and would make the bits depend on
//! the number of threads. Unknowns are ordered by approximate minimum degree, once.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::BlockMatrix;
use crate::math::Vec3;

/// Why there is no factorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactorError {
    /// The matrix has an eigenvalue that is not positive.
    #[error("the matrix is not positive definite")]
    Indefinite,
    /// The factor does not fit into memory.
    #[error("the factor does not fit into memory")]
    Memory,
}

/// A factorised matrix.
pub struct Cholesky {
    symbolic: SymbolicCholesky<u32>,
    /// The lower triangle by columns, as single numbers.
    starts: Vec<u32>,
    rows: Vec<u32>,
    numbers: Vec<f64>,
    factor: Vec<f64>,
    memory: MemBuffer,
    right_side: Vec<f64>,
}

impl Cholesky {
    /// Analyses the pattern of a matrix; its numbers do not matter.
    pub fn new(matrix: &BlockMatrix) -> Result<Self, FactorError> {
        let (starts, rows) = lower_pattern(matrix);
        let size = 3 * matrix.row_count();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &starts, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|_| FactorError::Memory)?;
        let factoring = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let memory = MemBuffer::try_new(factoring.or(solving)).map_err(|_| FactorError::Memory)?;
        Ok(Self {
            numbers: vec![0.0; rows.len()],
            factor: vec![0.0; symbolic.len_val()],
            right_side: vec![0.0; size],
            starts,
            rows,
            memory,
            symbolic,
        })
    }

    /// Factorises a matrix of the pattern that was analysed.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<(), FactorError> {
        let mut at = 0;
        for column in 0..matrix.row_count() {
            for axis in 0..3 {
                for (row, block) in matrix.row(column).filter(|(row, _)| *row as usize >= column) {
                    let first = if row as usize == column { axis } else { 0 };
                    for i in first..3 {
                        // The block of (column, row) is the transpose of that of (row, column).
                        self.numbers[at] = block.0[axis][i];
                        at += 1;
                    }
                }
            }
        }
        let size = 3 * matrix.row_count();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &self.starts, None, &self.rows);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                SparseColMatRef::new(pattern, &self.numbers),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Spec::default(),
            )
            .map(|_| ())
            .map_err(|_| FactorError::Indefinite)
    }

    /// Solves A x = b in place.
    pub fn solve(&mut self, x: &mut [Vec3<f64>]) {
        for (numbers, x) in self.right_side.chunks_exact_mut(3).zip(&*x) {
            numbers.copy_from_slice(&x.to_array());
        }
        let size = self.right_side.len();
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.right_side, size, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
        for (numbers, x) in self.right_side.chunks_exact(3).zip(x) {
            *x = Vec3::new(numbers[0], numbers[1], numbers[2]);
        }
    }

    /// Numbers in the factor.
    pub fn factor_size(&self) -> usize {
        self.factor.len()
    }
}

/// The lower triangle of a matrix by columns: where each begins, and the rows.
fn lower_pattern(matrix: &BlockMatrix) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    let mut rows = Vec::new();
    for column in 0..matrix.row_count() {
        for axis in 0..3 {
            for (row, _) in matrix.row(column).filter(|(row, _)| *row as usize >= column) {
                let first = if row as usize == column { axis } else { 0 };
                rows.extend((first..3).map(|i| 3 * row + i as u32));
            }
            starts.push(rows.len() as u32);
        }
    }
    (starts, rows)
}
