//! Linear systems with a sparse, symmetric, positive definite matrix.

mod block_matrix;
mod cholesky;
mod conjugate_gradients;
mod factor;
mod scalar_cholesky;

pub use block_matrix::BlockMatrix;
pub use cholesky::Cholesky;
pub use conjugate_gradients::{ConjugateGradients, Solved};
pub(super) use scalar_cholesky::ScalarCholesky;

#[cfg(test)]
mod tests;
