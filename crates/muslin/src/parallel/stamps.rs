//! Who touched what between two barriers: a check for builds with debug assertions.
//!
//! A team counts *epochs*: one ends whenever all threads have met. Each access to an item of a [`Shared`](crate::parallel::Shared) array leaves a stamp with the
//! epoch and the thread. Two threads race if they touch one item in the same epoch and one of them sets it, whichever came first; so a race is found by what the code does, and
//! not by how the threads happened to run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// Stamps are kept in so many maps, so that threads seldom wait for each other.
const MAPS: usize = 64;

/// The stamps of a team.
#[derive(Debug)]
pub(crate) struct Stamps {
    epoch: AtomicU64,
    /// By the address of the item.
    maps: [Mutex<HashMap<usize, Stamp>>; MAPS],
}

impl Default for Stamps {
    fn default() -> Self {
        Self { epoch: AtomicU64::new(0), maps: std::array::from_fn(|_| Mutex::default()) }
    }
}

/// Who touched an item last.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    epoch: u64,
    /// Who set it.
    writer: Option<ThreadId>,
    /// Who got it; only the first two count.
    readers: [Option<ThreadId>; 2],
}

/// An access to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read.
    Get,
    /// It is written, or may be.
    Set,
}

impl Stamps {
    /// All threads have met.
    pub(crate) fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes note of an access.
    ///
    /// # Panics
    /// If it races with one of another thread.
    pub(crate) fn note<T>(&self, item: *const T, access: Access) {
        let (address, thread) = (item.addr(), thread::current().id());
        let epoch = self.epoch.load(Ordering::SeqCst);
        let map = &self.maps[(address / size_of::<T>().max(1)) % MAPS];
        let other = {
            let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = Stamp { epoch, writer: None, readers: [None; 2] };
            let stamp = map.entry(address).or_insert(fresh);
            if stamp.epoch != epoch {
                *stamp = fresh;
            }
            stamp.add(thread, access)
        };
        if let Some((other, before)) = other {
            let name = std::any::type_name::<T>();
            unreachable!(
                "a race at {address:#x} ({name}) in epoch {epoch}: {other:?} {before:?}, {thread:?} {access:?}; \
                 put a barrier between the two, or let one thread do both"
            );
        }
    }
}

impl Stamp {
    /// Adds an access; the one of another thread that it races with, if any.
    fn add(&mut self, thread: ThreadId, access: Access) -> Option<(ThreadId, Access)> {
        let is_other = |who: &ThreadId| *who != thread;
        let writer = self.writer.filter(is_other).map(|who| (who, Access::Set));
        match access {
            Access::Get => {
                if self.readers[0].is_none_or(|first| first == thread) {
                    self.readers[0] = Some(thread);
                } else {
                    self.readers[1] = Some(thread);
                }
                writer
            }
            Access::Set => {
                self.writer = Some(thread);
                writer.or_else(|| self.readers.into_iter().flatten().find(is_other).map(|who| (who, Access::Get)))
            }
        }
    }
}
