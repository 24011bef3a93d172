//! What a run says about itself.

mod diagnostics;
pub mod fields;
pub mod memory;

pub use diagnostics::Diagnostics;
