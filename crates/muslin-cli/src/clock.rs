//! The clock that the library is handed.

use std::sync::OnceLock;
use std::time::Instant;

/// Seconds since it was first asked.
pub(crate) fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
