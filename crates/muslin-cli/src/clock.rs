//! The clock that the library is handed.

use std::time::Instant;

use muslin::solver::Clock;

/// Seconds since it was made.
pub(crate) struct WallClock(Instant);

impl WallClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for WallClock {
    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
