//! Threads that wait for the next run of a frame.
#![allow(unsafe_code, reason = "a job that others run while its owner waits is beyond the borrow checker")]

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::parallel::Team;
use crate::parallel::barrier::{BROKEN, Barrier};

/// Work of a run, for the thread of an index. It is there until all have come to the end of the run.
type Job = *const (dyn Fn(usize) + Sync);

/// Threads that wait for the first of them to give them work.
pub(crate) struct Workers {
    pub(crate) size: usize,
    /// The leader sets it before all meet at `begin`, and nobody reads it after they have met at `end`; none sends the others home.
    job: UnsafeCell<Option<Job>>,
    /// How many of them work.
    active: AtomicUsize,
    begin: Barrier,
    end: Barrier,
    /// The message of the first thread to panic.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the job is written and read on either side of a barrier, as it says; what it points to may be shared.
unsafe impl Sync for Workers {}

impl Workers {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            job: UnsafeCell::new(None),
            active: AtomicUsize::new(0),
            begin: Barrier::new(size),
            end: Barrier::new(size),
            panic: Mutex::new(None),
        }
    }

    /// Does some work as the leader.
    pub(crate) fn lead<T>(&self, team: &Team, work: impl FnOnce() -> T) -> T {
        let led = Led { by: thread::current().id(), workers: self };
        *team.workers.lock().unwrap_or_else(PoisonError::into_inner) = Some(led);
        let _leadership = Leadership { workers: self, team };
        work()
    }

    /// Waits for work and does it until there is none.
    pub(crate) fn follow(&self, index: usize) {
        loop {
            self.begin.wait(|| ());
            // SAFETY: the leader has set it before this barrier, and sets it again only after the next one.
            let Some(job) = (unsafe { *self.job.get() }) else { return };
            if index < self.active.load(Ordering::Relaxed) {
                // SAFETY: the leader waits at the next barrier before what the job refers to ends.
                let work = AssertUnwindSafe(|| unsafe { (*job)(index) });
                self.note(catch_unwind(work));
            }
            self.end.wait(|| ());
        }
    }

    /// Runs some work on `active` of the threads; only for the leader.
    pub(crate) fn run(&self, active: usize, work: &(dyn Fn(usize) + Sync)) {
        self.active.store(active, Ordering::Relaxed);
        // SAFETY: only its lifetime is another; it is used until the second barrier, which is before the end of this function even if
        // the work panics.
        let job: Job = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) };
        self.begin_with(Some(job));
        self.note(catch_unwind(AssertUnwindSafe(|| work(0))));
        self.end.wait(|| ());
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Meets the others with a job, or with none; only for the leader.
    fn begin_with(&self, job: Option<Job>) {
        // SAFETY: the others wait at this barrier, and read it only after that.
        unsafe { *self.job.get() = job };
        self.begin.wait(|| ());
    }

    /// Keeps what a thread said that has panicked; rather the first than that it was not the first.
    fn note(&self, outcome: Result<(), Box<dyn Any + Send>>) {
        if let Err(panic) = outcome {
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|first| first.downcast_ref() == Some(&BROKEN)) {
                *first = Some(panic);
            }
        }
    }
}

/// Workers that a thread leads.
#[derive(Debug)]
pub(crate) struct Led {
    pub(crate) by: ThreadId,
    pub(crate) workers: *const Workers,
}

// SAFETY: workers may be shared between threads.
unsafe impl Send for Led {}

/// Sends the others home in the end, also if the work panics.
struct Leadership<'a> {
    workers: &'a Workers,
    team: &'a Team,
}

impl Drop for Leadership<'_> {
    fn drop(&mut self) {
        *self.team.workers.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.workers.begin_with(None);
    }
}
