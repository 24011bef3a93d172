//! A stop from outside: a step that takes too long ends in the middle, wherever it is.
//!
//! The leading thread asks at every barrier and at the start of every run, and unwinds with [`Stopped`] once it is told to stop. The others come out of
//! their barrier as they do where a thread panics, and whoever began the work catches it. So no loop of a solver has to know of it, and none can be forgotten.
//! Unwinding that nobody has panicked for calls no hook: nothing is printed.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a stop unwinds with.
#[derive(Debug)]
pub(crate) struct Stopped;

/// Somebody outside who may end the work of a team.
pub(super) struct Stop {
    asks: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether somebody catches what it unwinds.
    is_heard: AtomicBool,
}

impl Stop {
    pub(super) fn new(asks: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { asks: Box::new(asks), is_heard: AtomicBool::new(false) }
    }

    /// Unwinds with [`Stopped`] if it is heard, and told to stop.
    #[inline]
    pub(super) fn obey(&self) {
        // A build that aborts on panics cannot unwind, so that it cannot stop either.
        if cfg!(panic = "unwind") && self.is_heard.load(Ordering::Relaxed) && (self.asks)() {
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Hears it until what this gives is dropped.
    pub(super) fn hear(&self) -> Heard<'_> {
        self.is_heard.store(true, Ordering::Relaxed);
        Heard(self)
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("is_heard", &self.is_heard).finish_non_exhaustive()
    }
}

/// While it is there, a stop is heard.
pub(super) struct Heard<'a>(&'a Stop);

impl Drop for Heard<'_> {
    fn drop(&mut self) {
        self.0.is_heard.store(false, Ordering::Relaxed);
    }
}
