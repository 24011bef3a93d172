//! Systems of linear equations in three unknowns per vertex, as an implicit step makes them.

mod block_matrix;
mod cholesky;
mod conjugate_gradients;

pub use block_matrix::BlockMatrix;
pub use cholesky::{Cholesky, FactorError};
pub use conjugate_gradients::{ConjugateGradients, Solved};
