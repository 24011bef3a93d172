//! The barrier under every order of threads that the memory model allows, found by loom.
//!
//! ```text
//! LOOM_MAX_PREEMPTIONS=3 RUSTFLAGS="--cfg loom" cargo test -p muslin --test barrier_loom --target-dir target/loom
//! ```
#![cfg(loom)]

#[path = "../src/parallel/barrier.rs"]
mod barrier;

use std::panic::{AssertUnwindSafe, catch_unwind};

use barrier::{BROKEN, Barrier, ReleaseOnPanic};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

/// Two threads set one number each, meet, and get the other's; then once more. Relaxed, so that only the barrier orders them.
#[test]
fn what_was_set_before_a_barrier_is_seen_after_it() {
    loom::model(|| {
        let shared = Arc::new((Barrier::new(2), [AtomicU32::new(0), AtomicU32::new(0)]));
        let work = |own: usize, shared: &(Barrier, [AtomicU32; 2])| {
            for round in 1..=2 {
                shared.1[own].store(round, Ordering::Relaxed);
                shared.0.wait(|| ());
                assert_eq!(shared.1[1 - own].load(Ordering::Relaxed), round);
                shared.0.wait(|| ());
            }
        };
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || work(1, &shared)
        });
        work(0, &shared);
        other.join().expect("it ends");
    });
}

/// One thread panics before the barrier: the other one comes out of it.
#[test]
fn a_panic_lets_the_other_out() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = thread::spawn({
            let barrier = Arc::clone(&barrier);
            move || {
                let fail = || {
                    let _guard = ReleaseOnPanic(&barrier);
                    std::panic::panic_any("a bug");
                };
                assert!(catch_unwind(AssertUnwindSafe(fail)).is_err());
            }
        });
        let panic = catch_unwind(AssertUnwindSafe(|| barrier.wait(|| ()))).expect_err("nobody else comes");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&BROKEN));
        other.join().expect("it ends");
    });
}
