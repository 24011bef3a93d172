//! Scalars and small vectors.
//!
//! Formulas are written once over [`Scalar`] and run as `f64` (reference), `f32` alone and four or eight at a time ([`Lanes`] and,
//! where the processor has such registers, `Eight`: the fast sweeps), four `f64` at a time (`Doubles`: contact) and [`Dual`] numbers (exact derivatives in tests).

mod angle;
mod doubles;
mod dual;
mod each;
#[cfg(target_arch = "x86_64")]
mod eight;
mod four;
mod lanes;
mod mat3;
mod operators;
mod polar;
mod scalar;
mod sym3;
mod symmetric;
mod vec3;

pub(crate) use angle::Register;
pub(crate) use doubles::Doubles;
pub use dual::Dual;
pub use each::{array, each, inlined};
#[cfg(target_arch = "x86_64")]
pub(crate) use eight::Eight;
pub use four::Four;
pub use lanes::Lanes;
pub use mat3::Mat3;
pub use polar::polar_rotation;
pub use scalar::{Real, Scalar};
pub use sym3::Sym3;
pub use symmetric::{SMALL, Small};
pub use vec3::Vec3;
