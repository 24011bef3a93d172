//! Barrier: the threads of a team wait here until all have arrived.

use std::panic::resume_unwind;
use std::sync::PoisonError;
use std::thread;

#[cfg(all(loom, test))]
use loom::{
    hint,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::{Condvar, Mutex},
};
#[cfg(not(all(loom, test)))]
use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::{Condvar, Mutex},
};

/// The message of a thread that panics because of another.
pub(super) const BROKEN: &str = "another thread of the team panicked";

/// A barrier that spins first and sleeps then.
///
/// The waits between colours are shorter than a trip through the kernel. But a thread that has to wait longer waits for
/// one that is not running, and must not take the core that the other needs.
pub(super) struct Barrier {
    pub(super) size: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Barrier {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits until all are here; the last to come does some work before any is let go.
    pub(super) fn wait(&self, last: impl FnOnce()) {
        /// Some tens of microseconds, about as long as a thread sleeps at least.
        const SPINS: u32 = if cfg!(loom) { 1 } else { 2000 };
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            last();
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::SeqCst);
            keep_order();
            // Whoever is not seen here has not looked at the generation yet, and will find it changed.
            if self.sleepers.load(Ordering::SeqCst) > 0 {
                self.wake();
            }
            return;
        }
        for _ in 0..SPINS {
            if self.is_over(generation) {
                return;
            }
            hint::spin_loop();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        keep_order();
        let mut asleep = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_over(generation) {
            asleep = self.bell.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn is_over(&self, generation: usize) -> bool {
        if self.broken.load(Ordering::SeqCst) {
            // Not a panic of its own, of which a hook would tell.
            resume_unwind(Box::new(BROKEN));
        }
        self.generation.load(Ordering::SeqCst) != generation
    }

    fn wake(&self) {
        // Taking the lock waits for a sleeper that has looked and not yet lain down.
        drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_all();
    }
}

/// Says to loom what two sequentially consistent accesses say to the processor: loom takes them for acquire and release.
#[inline(always)]
fn keep_order() {
    #[cfg(all(loom, test))]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Lets the others out of the barrier when a thread panics, so that a bug is a message and not a hang.
pub(super) struct ReleaseOnPanic<'a>(pub(super) &'a Barrier);

impl Drop for ReleaseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake();
        }
    }
}
