//! Output: the measurements of a run.

mod diagnostics;
pub mod fields;
pub mod memory;

pub use diagnostics::Diagnostics;
