//! What a run says about itself.

mod diagnostics;

pub use diagnostics::Diagnostics;
