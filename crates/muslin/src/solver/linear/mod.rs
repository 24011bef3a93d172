//! Systems of linear equations with a sparse, symmetric, positive definite matrix.

mod scalar_cholesky;

pub(super) use scalar_cholesky::ScalarCholesky;
