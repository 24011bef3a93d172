//! The limit of time of a frame, and Ctrl-C inside of one.
//!
//! The simulation asks at every barrier whether to go on, and must not look at a clock each time. So a thread looks at it, and raises a flag.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::interrupt::Interrupt;
use crate::clock;

/// How often the thread looks.
const TICK: Duration = Duration::from_millis(50);

/// Ends a frame that takes too long, or that nobody wants any more.
#[derive(Clone, Debug)]
pub(crate) struct FrameWatch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    interrupt: Interrupt,
    /// In s.
    limit: f64,
    /// When the frame began, in s of our clock, as bits; not a number between two frames.
    began: AtomicU64,
    /// The same of the last frame that took too long.
    over: AtomicU64,
}

impl Watched {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) == self.began.load(Ordering::Relaxed)
    }
}

impl FrameWatch {
    /// For frames of at most `limit` seconds each.
    pub(crate) fn new(interrupt: &Interrupt, limit: f64) -> Self {
        let watched = Watched {
            interrupt: interrupt.clone(),
            limit,
            began: AtomicU64::new(f64::NAN.to_bits()),
            over: AtomicU64::new(u64::MAX),
        };
        let watch = Self(Arc::new(watched));
        let watched = Arc::downgrade(&watch.0);
        thread::spawn(move || look(&watched));
        watch
    }

    /// What the simulation asks: whether to stop.
    pub(crate) fn asks(&self) -> impl Fn() -> bool + Send + Sync + use<> {
        let watched = Arc::clone(&self.0);
        move || watched.is_over() || watched.interrupt.is_raised()
    }

    /// Does the work of a frame, which has its time from now on.
    pub(crate) fn over<T>(&self, frame: impl FnOnce() -> T) -> T {
        self.0.began.store(clock::seconds().to_bits(), Ordering::Relaxed);
        let done = frame();
        self.0.began.store(f64::NAN.to_bits(), Ordering::Relaxed);
        done
    }

    /// Whether somebody wants the run to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.0.interrupt.is_raised()
    }

    /// What to say of a frame that took too long.
    pub(crate) fn too_long(&self) -> String {
        format!(
            "it takes longer than the {} s of --frame-limit; use fewer substeps, a coarser cloth, or a contact.thickness below the edges \
             of the cloth, or raise --frame-limit",
            self.0.limit
        )
    }
}

/// Looks at the clock until nobody watches any more.
fn look(watched: &Weak<Watched>) {
    while let Some(watched) = watched.upgrade() {
        let began = watched.began.load(Ordering::Relaxed);
        // Not a number is not more.
        if clock::seconds() - f64::from_bits(began) > watched.limit {
            watched.over.store(began, Ordering::Relaxed);
        }
        drop(watched);
        thread::sleep(TICK);
    }
}
