//! Scalars and small vectors.
//!
//! Formulas are written once over [`Scalar`] and run as `f64` (reference), `f32` alone and four or eight at a time (`F32x4` and,
//! where the processor has such registers, `F32x8`: the fast sweeps), four `f64` at a time (`F64x4`: contact) and [`Dual`] numbers (exact derivatives in tests).

mod angle;
mod dual;
mod each;
mod f32x4;
#[cfg(target_arch = "x86_64")]
mod f32x8;
mod f64x4;
mod four;
mod mat3;
mod operators;
mod polar;
mod scalar;
mod sym3;
mod symmetric;
mod vec3;

pub(crate) use angle::Register;
pub use dual::Dual;
pub use each::{array, each, inlined};
pub(crate) use f32x4::F32x4;
#[cfg(target_arch = "x86_64")]
pub(crate) use f32x8::F32x8;
pub(crate) use f64x4::F64x4;
pub(crate) use four::Four;
pub use mat3::Mat3;
pub use polar::polar_rotation;
pub(crate) use scalar::Real;
pub use scalar::Scalar;
pub use sym3::Sym3;
pub use symmetric::{SMALL, Small};
pub use vec3::Vec3;
