//! Sparse symmetric matrix by its numbers, and its Cholesky factor A = L Lᵀ.
//!
//! The pattern is analysed once, with unknowns ordered by approximate minimum degree; new numbers in it are factorised and
//! systems are solved in memory that is there already. After each factorisation a system is solved and its residual looked
//! at; a factor that leaves one is refused.
//!
//! The work is done by `faer`, on one thread: a second one gains little at these sizes, and would change bits. The dense kernels
//! use the vector instructions of the machine, fused ones included, so bits may differ between kinds of processors, not between
//! runs.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

/// A matrix, its factor and as many right-hand sides as are solved at once.
pub(super) struct Factor {
    /// The lower triangle by columns, rows rising: where each column starts, the row of each number, the number.
    pub(super) starts: Vec<u32>,
    pub(super) rows: Vec<u32>,
    pub(super) numbers: Vec<f64>,
    /// The right-hand sides one after the other; after a solve, the solutions.
    pub(super) sides: Vec<f64>,
    side_count: usize,
    symbolic: SymbolicCholesky<u32>,
    factor: Vec<f64>,
    memory: MemBuffer,
    /// Of the system that tests a factor.
    residual: Vec<f64>,
}

impl Factor {
    /// Analyses a pattern; `None` if there is no memory for it.
    pub(super) fn new(starts: Vec<u32>, rows: Vec<u32>, side_count: usize) -> Option<Self> {
        let size = starts.len() - 1;
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &starts, None, &rows);
        let params = CholeskySymbolicParams::default();
        let symbolic = factorize_symbolic_cholesky(pattern, Side::Lower, SymmetricOrdering::Amd, params).ok()?;
        let factoring = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(side_count, Par::Seq);
        let mut factor = Vec::new();
        factor.try_reserve_exact(symbolic.len_val()).ok()?;
        factor.resize(symbolic.len_val(), 0.0);
        Some(Self {
            numbers: vec![0.0; rows.len()],
            sides: vec![0.0; side_count * size],
            memory: MemBuffer::try_new(StackReq::any_of(&[factoring, solving])).ok()?,
            residual: vec![0.0; size],
            starts,
            rows,
            side_count,
            symbolic,
            factor,
        })
    }

    /// Factorises the matrix as it is now; `false` if it is not positive definite or not finite.
    #[must_use]
    pub(super) fn factorize(&mut self) -> bool {
        let size = self.residual.len();
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &self.starts, None, &self.rows);
        let none = LltRegularization { dynamic_regularization_delta: 0.0, dynamic_regularization_epsilon: 0.0 };
        let done = self.symbolic.factorize_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(pattern, &self.numbers),
            Side::Lower,
            none,
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        );
        done.is_ok() && self.is_sound()
    }

    /// Whether the factor solves a system: ‖b − A x̂‖ against ‖A‖‖x̂‖.
    ///
    /// Cholesky is backward stable: the quotient is some n ε at most, in practice a few ε; a broken factor leaves about one.
    fn is_sound(&mut self) -> bool {
        const TOLERANCE: f64 = 1e-11;
        let known = |i: usize| if i.is_multiple_of(3) { -1.0 } else { 0.5 + 0.25 * (i % 7) as f64 };
        let size = self.residual.len();
        self.residual.fill(0.0);
        let residual = &mut self.residual;
        for_each_number(&self.starts, &self.rows, &self.numbers, |i, j, a| residual[i] += a * known(j));
        self.sides[..size].copy_from_slice(residual);
        self.sides[size..].fill(0.0);
        self.solve();
        let (residual, x) = (&mut self.residual, &self.sides);
        for_each_number(&self.starts, &self.rows, &self.numbers, |i, j, a| residual[i] -= a * x[j]);
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let sum: f64 = residual.iter().sum();
        sum.is_finite() && largest(residual) <= TOLERANCE * largest(&self.numbers) * largest(&x[..size])
    }

    /// Replaces each of the right-hand sides b by A⁻¹ b.
    pub(super) fn solve(&mut self) {
        let sides = MatMut::from_column_major_slice_mut(&mut self.sides, self.residual.len(), self.side_count);
        let stack = MemStack::new(&mut self.memory);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(Conj::No, sides, Par::Seq, stack);
    }
}

/// Visits every number of the whole symmetric matrix: row, column, number.
fn for_each_number(starts: &[u32], rows: &[u32], numbers: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
    for (column, ends) in starts.windows(2).enumerate() {
        for place in ends[0] as usize..ends[1] as usize {
            let row = rows[place] as usize;
            visit(row, column, numbers[place]);
            if row != column {
                visit(column, row, numbers[place]);
            }
        }
    }
}
