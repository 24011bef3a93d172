//! Scalars and small vectors.
//!
//! Formulas are written once over [`Scalar`] and run as `f64` (reference), `f32` alone and four at a time ([`Lanes`],
//! the fast sweeps) and [`Dual`] numbers (exact derivatives in tests).

mod dual;
mod four;
mod lanes;
mod mat3;
mod polar;
mod scalar;
mod symmetric;
mod vec3;

pub use dual::Dual;
pub use four::Four;
pub use lanes::Lanes;
pub use mat3::Mat3;
pub use polar::polar_rotation;
pub use scalar::{Real, Scalar};
pub use symmetric::{SMALL, Small};
pub use vec3::Vec3;
