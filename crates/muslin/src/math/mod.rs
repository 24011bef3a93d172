//! Scalars and small vectors.
//!
//! Formulas are written once over [`Scalar`] and run as `f64` (reference), `f32` (fast sweeps) and [`Dual`]
//! numbers (exact derivatives in tests).

mod dual;
mod mat3;
mod scalar;
mod vec3;

pub use dual::Dual;
pub use mat3::Mat3;
pub use scalar::Scalar;
pub use vec3::Vec3;
