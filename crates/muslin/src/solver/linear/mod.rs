//! Linear systems with a sparse, symmetric, positive definite matrix.

mod block_matrix;
mod cholesky;
mod conjugate_gradients;
mod factor;
mod scalar_cholesky;

pub(crate) use block_matrix::BlockMatrix;
pub(crate) use cholesky::Cholesky;
pub(crate) use conjugate_gradients::ConjugateGradients;
#[cfg(test)]
use conjugate_gradients::Solved;
pub(super) use scalar_cholesky::ScalarCholesky;

#[cfg(test)]
mod tests;
