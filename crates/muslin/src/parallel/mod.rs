//! A team of threads that walk through the stages of a step together.
//!
//! A frame is hundreds of short sweeps (substeps × colours), each a few tens of microseconds: too short to hand out
//! as tasks. So every thread runs the *same* function once per frame, takes its fixed share of every sweep and waits
//! for the others at a [`Worker::barrier`]. Shares depend on lengths and the team's size alone, and no result depends on
//! how a sweep was shared, so the bits are the same for every team.
//!
//! Unsafe code of the library lives here and where a [`Shared`] is made; the argument is at [`Shared::new`].
#![allow(unsafe_code, reason = "disjoint access through a colouring is beyond the borrow checker")]

mod barrier;
pub(crate) mod thread_tuner;
mod workers;

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use barrier::{Barrier, ReleaseOnPanic};
use workers::{Led, Workers};

/// Why a team could not be formed.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {threads} threads: {reason}; ask for fewer")]
pub struct TeamError {
    threads: usize,
    reason: String,
}

/// Threads that step together.
#[derive(Debug)]
pub struct Team {
    /// `None` for a team of one, which runs on the caller's thread (and on targets without threads).
    pool: Option<rayon::ThreadPool>,
    size: usize,
    /// Only where the processor has AVX2.
    is_wide: bool,
    /// Where somebody asks what it does.
    meter: Option<Meter>,
    /// Threads that wait for work, while there are some.
    workers: Mutex<Option<Led>>,
}

/// What a team has done so far, for whoever wants to know how much of a step is shared among threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Inside of [`Team::run`], in s.
    pub seconds: f64,
    /// Calls of [`Team::run`].
    pub runs: u64,
    /// Barriers of the leading thread, whether or not there is another one to wait for.
    pub barriers: u64,
}

/// Counts what a team does.
struct Meter {
    clock: Box<dyn Fn() -> f64 + Send + Sync>,
    /// Without the barriers.
    tally: Mutex<Tally>,
    barriers: AtomicU64,
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("tally", &self.tally).finish_non_exhaustive()
    }
}

impl Team {
    /// A team of `threads` (at least one).
    pub fn new(threads: usize) -> Result<Self, TeamError> {
        Self::of(threads, |builder| builder.thread_name(|index| format!("muslin-{index}")).build())
    }

    /// A team of `threads` (at least one) on threads that are there already: `start` hands what one of them has to run to one that is free, now or soon: they have to be
    /// there when the team runs for the first time.
    pub fn on_threads(threads: usize, mut start: impl FnMut(Box<dyn FnOnce() + Send>)) -> Result<Self, TeamError> {
        Self::of(threads, |builder| {
            let start = |thread: rayon::ThreadBuilder| {
                start(Box::new(|| thread.run()));
                Ok(())
            };
            builder.spawn_handler(start).build()
        })
    }

    fn of(
        threads: usize,
        build: impl FnOnce(rayon::ThreadPoolBuilder) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError>,
    ) -> Result<Self, TeamError> {
        let size = threads.max(1);
        if size == 1 {
            return Ok(Self::solo());
        }
        let pool = build(rayon::ThreadPoolBuilder::new().num_threads(size))
            .map_err(|e| TeamError { threads: size, reason: e.to_string() })?;
        Ok(Self { pool: Some(pool), size, ..Self::solo() })
    }

    /// A team of one.
    pub fn solo() -> Self {
        Self { pool: None, size: 1, is_wide: has_wide_registers(), meter: None, workers: Mutex::new(None) }
    }

    /// The same, with registers of four numbers even where there are wider ones. No result depends on it.
    #[must_use]
    pub fn narrow(self) -> Self {
        Self { is_wide: false, ..self }
    }

    /// The same, counting what it does with a clock that tells seconds; see [`tally`](Self::tally).
    #[must_use]
    pub fn metered(self, clock: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        let meter = Meter { clock: Box::new(clock), tally: Mutex::default(), barriers: AtomicU64::new(0) };
        Self { meter: Some(meter), ..self }
    }

    /// What it has done so far; `None` if it does not count.
    pub fn tally(&self) -> Option<Tally> {
        let meter = self.meter.as_ref()?;
        let tally = *meter.tally.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Tally { barriers: meter.barriers.load(Ordering::Relaxed), ..tally })
    }

    /// Whether sweeps in single precision use registers of eight numbers.
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// Number of threads.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Does some work that runs the team with `active` threads again and again on one of them, while the others wait for that: so none has to be woken each time.
    ///
    /// `work` may not host the same team, and a run in it has no more threads than this.
    pub fn host<T: Send>(&self, active: usize, work: impl FnOnce() -> T + Send) -> T {
        let active = active.clamp(1, self.size);
        let Some(pool) = self.pool.as_ref().filter(|_| active > 1) else { return work() };
        let workers = Workers::new(active);
        let (work, outcome) = (Mutex::new(Some(work)), Mutex::new(None));
        pool.broadcast(|context| match context.index() {
            0 => {
                let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
                let done = work.map(|work| workers.lead(self, work));
                *outcome.lock().unwrap_or_else(PoisonError::into_inner) = done;
            }
            index if index < active => workers.follow(index),
            _ => {}
        });
        let Some(outcome) = outcome.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            unreachable!("the first thread of a pool has done the work");
        };
        outcome
    }

    /// The workers that this thread leads.
    fn led_by_this_thread(&self) -> Option<&Workers> {
        let led = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let led = led.as_ref().filter(|led| led.by == thread::current().id())?;
        // SAFETY: workers are there as long as they are led, and whoever leads them does not end that before what it calls here.
        Some(unsafe { &*led.workers })
    }

    /// Runs `stages` once on each of `active` threads, at most the whole team.
    ///
    /// Every thread must come to the same barriers, and `stages` must not run the same team again: either would wait
    /// for ever. A panic of one thread ends the others at their next barrier and comes out here.
    pub fn run(&self, active: usize, stages: impl Fn(&Worker<'_>) + Sync) {
        let workers = self.led_by_this_thread();
        let active = active.clamp(1, workers.map_or(self.size, |workers| workers.size));
        let barrier = Barrier::new(active);
        let start = self.meter.as_ref().map(|meter| (meter.clock)());
        let work = |index: usize| {
            let _guard = ReleaseOnPanic(&barrier);
            stages(&Worker {
                index,
                barrier: &barrier,
                is_wide: self.is_wide,
                count: self.meter.as_ref().filter(|_| index == 0).map(|meter| &meter.barriers),
            });
        };
        match (&self.pool, workers) {
            (Some(_), Some(workers)) if active > 1 => workers.run(active, &work),
            (Some(pool), None) if active > 1 => {
                pool.broadcast(|context| {
                    if context.index() < active {
                        work(context.index());
                    }
                });
            }
            _ => work(0),
        }
        if let (Some(meter), Some(start)) = (&self.meter, start) {
            let seconds = (meter.clock)() - start;
            let mut tally = meter.tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.seconds += seconds;
            tally.runs += 1;
        }
    }
}

/// Whether the processor has AVX2. Every thread of a process has the same instructions.
fn has_wide_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// One thread of a running team.
pub struct Worker<'a> {
    index: usize,
    barrier: &'a Barrier,
    is_wide: bool,
    /// Where barriers are counted.
    count: Option<&'a AtomicU64>,
}

/// Runs what is inlined into it with the instructions of AVX2; a closure is, if it has the attribute `#[inline(always)]`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(crate) fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Runs what is inlined into it, with the instructions of AVX2 if `is_wide`, which a team says.
#[inline(always)]
fn compiled<T>(is_wide: bool, work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if is_wide {
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(work) };
    }
    let _ = is_wide;
    work()
}

/// Below this many items a sweep is not worth sharing: a barrier costs about as much.
const SHARE_MIN: usize = 64;

impl Worker<'_> {
    /// Whether this is the thread that keeps the books.
    pub fn leads(&self) -> bool {
        self.index == 0
    }

    /// Whether to use registers of eight numbers: only if the processor has AVX2.
    #[inline(always)]
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// Runs what is inlined into it, with the instructions for such registers where they are to be used.
    #[inline(always)]
    pub(crate) fn compiled<T>(&self, work: impl FnOnce() -> T) -> T {
        compiled(self.is_wide, work)
    }

    /// This thread's part of `items`: contiguous, disjoint from the others', together the whole.
    #[inline]
    pub fn share(&self, items: Range<usize>) -> Range<usize> {
        self.share_from(SHARE_MIN, items)
    }

    /// The same of items that are worth to be shared from so many on.
    #[inline]
    pub fn share_from(&self, least: usize, items: Range<usize>) -> Range<usize> {
        let (length, size) = (items.len(), self.barrier.size);
        if length < least {
            return if self.index == 0 { items } else { items.end..items.end };
        }
        let cut = |k: usize| items.start + length * k / size;
        cut(self.index)..cut(self.index + 1)
    }

    /// This thread's part of `count` pieces that are large enough to be shared however few they are.
    pub fn share_pieces(&self, count: usize) -> Range<usize> {
        let cut = |k: usize| count * k / self.barrier.size;
        cut(self.index)..cut(self.index + 1)
    }

    /// Waits until every thread of the team is here.
    #[inline]
    pub fn barrier(&self) {
        if let Some(count) = self.count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if self.barrier.size > 1 {
            self.barrier.wait();
        }
    }
}

/// A slice that a team reads and writes in disjoint parts.
pub struct Shared<'a, T> {
    items: *const UnsafeCell<T>,
    length: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The promise of [`Shared::new`] is about workers, so a second handle adds nothing to what a second reference could do. A sweep that
/// keeps a copy of its own spares a load in each round: a store through one handle could change another that stands in memory.
impl<T> Copy for Shared<'_, T> {}

// SAFETY: access is coordinated by the promise of `Shared::new`; items move between threads, hence `T: Send + Sync`.
unsafe impl<T: Send + Sync> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Shared<'_, T> {}

impl<'a, T: Copy> Shared<'a, T> {
    /// Opens a slice to a team.
    ///
    /// # Safety
    /// Between two barriers, an item that one worker sets must not be got or set by another. Every sweep of this
    /// library keeps this in one of two ways: it goes over [`Worker::share`]s of item indices, which are disjoint;
    /// or over shares of one colour of a [`Batch`](crate::energy::Batch), whose elements have no vertex in common
    /// (its constructor verifies the colouring it stores).
    pub unsafe fn new(items: &'a mut [T]) -> Self {
        // `UnsafeCell<T>` has the layout of `T`.
        Self { items: items.as_mut_ptr().cast_const().cast(), length: items.len(), borrow: PhantomData }
    }

    /// Number of items.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Reads one item without looking whether there is one.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, index: usize) -> T {
        debug_assert!(index < self.length, "item out of range");
        // SAFETY: in range by the caller's promise; no other worker sets it now, by the promise of `new`.
        unsafe { *(*self.items.add(index)).get() }
    }

    /// Writes one item without looking whether there is room.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn set_unchecked(&self, index: usize, item: T) {
        debug_assert!(index < self.length, "item out of range");
        // SAFETY: in range by the caller's promise; no other worker reads or sets it, by the promise of `new`.
        unsafe { *(*self.items.add(index)).get() = item }
    }

    /// Where the item of a spot is.
    ///
    /// # Safety
    /// As for [`get_at`](Self::get_at).
    #[inline(always)]
    unsafe fn at<U>(&self, spot: Spot<U>) -> *mut T {
        const { assert!(size_of::<T>().is_multiple_of(size_of::<U>()), "items as large, or a multiple") };
        let place = spot.units as usize * (size_of::<T>() / size_of::<U>());
        debug_assert!(place < self.length * Spot::<T>::UNITS, "item out of range");
        // SAFETY: in range by the caller's promise.
        unsafe { UnsafeCell::raw_get(self.items.cast::<[u8; UNIT]>().add(place).cast::<UnsafeCell<T>>()) }
    }

    /// Reads the item at a spot without looking whether there is one.
    ///
    /// # Safety
    /// `spot` must have been made of an index below [`len`](Self::len).
    #[inline(always)]
    pub(crate) unsafe fn get_at<U>(&self, spot: Spot<U>) -> T {
        // SAFETY: by the caller's promise; no other worker sets it now, by the promise of `new`.
        unsafe { *self.at(spot) }
    }

    /// Writes the item at a spot without looking whether there is room.
    ///
    /// # Safety
    /// As for [`get_at`](Self::get_at).
    #[inline(always)]
    pub(crate) unsafe fn set_at<U>(&self, spot: Spot<U>, item: T) {
        // SAFETY: by the caller's promise; no other worker reads or sets it, by the promise of `new`.
        unsafe { *self.at(spot) = item }
    }

    /// Items that follow each other, as a slice.
    ///
    /// # Safety
    /// Until the next barrier no other worker may get or set any of them, nor this one but through the slice.
    pub unsafe fn part(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.length, "items out of range");
        // SAFETY: in range; nobody else has them now, by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.items.add(range.start).cast::<T>().cast_mut(), range.len()) }
    }

    /// Reads several items that follow each other, without looking whether there are as many.
    ///
    /// # Safety
    /// `index + COUNT` must not be beyond [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn get_run<const COUNT: usize>(&self, index: usize) -> [T; COUNT] {
        debug_assert!(index + COUNT <= self.length, "items out of range");
        // SAFETY: in range by the caller's promise; no other worker sets them now, by the promise of `new`; an array has the
        // alignment of its items.
        unsafe { *self.items.add(index).cast::<[T; COUNT]>() }
    }

    /// Writes several items that follow each other, without looking whether there is room.
    ///
    /// # Safety
    /// `index + COUNT` must not be beyond [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn set_run<const COUNT: usize>(&self, index: usize, items: [T; COUNT]) {
        debug_assert!(index + COUNT <= self.length, "items out of range");
        // SAFETY: in range by the caller's promise; no other worker reads or sets them, by the promise of `new`; an array has the
        // alignment of its items.
        unsafe { *UnsafeCell::raw_get(self.items.add(index)).cast::<[T; COUNT]>() = items };
    }

    /// Reads one item.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        assert!(index < self.length, "item out of range");
        // SAFETY: in range; no other worker sets it now, by the promise of `new`.
        unsafe { *(*self.items.add(index)).get() }
    }

    /// Writes one item.
    #[inline(always)]
    pub fn set(&self, index: usize, item: T) {
        assert!(index < self.length, "item out of range");
        // SAFETY: in range; no other worker reads or sets it now, by the promise of `new`.
        unsafe { *(*self.items.add(index)).get() = item }
    }
}

/// How many bytes a processor can multiply an index by, at no cost.
const UNIT: usize = 8;

/// An index of a slice of `T`, multiplied already: that saves an instruction wherever it is followed, in loops that do little else.
pub(crate) struct Spot<T> {
    units: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Spot<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Spot<T> {}

impl<T> Spot<T> {
    const UNITS: usize = size_of::<T>() / UNIT;

    /// Of an index.
    pub(crate) fn new(index: u32) -> Self {
        const { assert!(size_of::<T>().is_multiple_of(UNIT), "items of whole units") };
        // A hundred million vertices are beyond every memory.
        let units =
            (index as usize * Self::UNITS).try_into().unwrap_or_else(|_| unreachable!("an index beyond memory"));
        Self { units, of: PhantomData }
    }

    /// The index.
    pub(crate) fn index(self) -> u32 {
        self.units / Self::UNITS as u32
    }
}

/// How many threads to use for a pass over so many items that is a run of its own: fewer are passed sooner than the others meet.
pub(crate) fn sharing(threads: usize, count: usize) -> usize {
    const FEW: usize = 4096;
    if count < FEW { 1 } else { threads }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn shares_are_disjoint_and_complete() {
        for size in [1, 2, 3, 8] {
            let barrier = Barrier::new(size);
            for items in [0..0, 5..6, 7..300, 0..100_003] {
                let parts: Vec<_> = (0..size)
                    .map(|index| Worker { index, barrier: &barrier, is_wide: false, count: None }.share(items.clone()))
                    .collect();
                let joined: Vec<usize> = parts.into_iter().flatten().collect();
                assert_eq!(joined, items.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_instead_of_hanging_the_others() {
        for size in [2, 8] {
            let team = Team::new(size).unwrap();
            let stages = |worker: &Worker<'_>| {
                // Late enough for the others to sleep.
                if worker.leads() {
                    thread::sleep(std::time::Duration::from_millis(20));
                    panic!("a bug");
                }
                worker.barrier();
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| team.run(size, stages)));
            assert!(outcome.is_err(), "team of {size}");
        }
    }

    #[test]
    fn a_hosted_team_runs_again_and_again() {
        let team = Team::new(3).unwrap();
        for hosted in 2..=3 {
            let calls = AtomicUsize::new(0);
            let sum = team.host(hosted, || {
                for round in 0..300 {
                    let active = round % 4;
                    let before = calls.load(Ordering::SeqCst);
                    team.run(active, |worker| {
                        calls.fetch_add(1, Ordering::SeqCst);
                        worker.barrier();
                        assert_eq!(calls.load(Ordering::SeqCst) - before, active.clamp(1, hosted), "all have met");
                        worker.barrier();
                    });
                }
                calls.load(Ordering::SeqCst)
            });
            assert_eq!(sum, (0..300).map(|round| (round % 4).clamp(1, hosted)).sum::<usize>());
        }
    }

    #[test]
    fn a_panic_of_a_hosted_team_comes_out_with_its_words() {
        let team = Team::new(3).unwrap();
        for culprit in 0..3 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                team.host(3, || {
                    team.run(3, |worker| {
                        assert!(worker.index != culprit, "a bug");
                        worker.barrier();
                    });
                });
            }));
            let panic = outcome.unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"), "culprit {culprit}");
            // And the team is none the worse for it.
            assert_eq!(team.host(2, || culprit), culprit);
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| team.host(2, || panic!("outside of a run"))));
        assert!(outcome.is_err());
    }

    #[test]
    fn a_team_works_on_threads_of_others() {
        let mut threads = Vec::new();
        let team = Team::on_threads(3, |work| threads.push(thread::spawn(work))).unwrap();
        let count = AtomicUsize::new(0);
        team.run(3, |worker| {
            count.fetch_add(1, Ordering::Relaxed);
            worker.barrier();
            assert_eq!(count.load(Ordering::Relaxed), 3);
        });
        drop(team);
        assert_eq!(threads.len(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn a_metered_team_counts() {
        for size in [1, 3] {
            // Every look at this clock is a second after the last.
            let looks = AtomicU64::new(0);
            let clock = move || looks.fetch_add(1, Ordering::Relaxed) as f64;
            let team = Team::new(size).unwrap().metered(clock);
            for barriers in [2, 5] {
                team.run(size, |worker| (0..barriers).for_each(|_| worker.barrier()));
            }
            assert_eq!(team.tally(), Some(Tally { seconds: 2.0, runs: 2, barriers: 7 }), "team of {size}");
        }
        assert_eq!(Team::solo().tally(), None);
    }

    #[test]
    fn barriers_order_the_stages() {
        for size in [1, 2, 8] {
            let team = Team::new(size).unwrap();
            let mut items = vec![0_u64; 4096];
            // SAFETY: each stage goes over shares of the items, and reads others' items only after a barrier.
            let shared = unsafe { Shared::new(&mut items) };
            team.run(size, |worker| {
                for round in 0..50_u64 {
                    for i in worker.share(0..4096) {
                        shared.set(i, shared.get(i) + round);
                    }
                    worker.barrier();
                    let mirrored: Vec<u64> = worker.share(0..4096).map(|i| shared.get(4095 - i)).collect();
                    worker.barrier();
                    for (i, m) in worker.share(0..4096).zip(mirrored) {
                        shared.set(i, m);
                    }
                    worker.barrier();
                }
            });
            assert_eq!(items, vec![50 * 49 / 2; 4096], "team of {size}");
        }
    }
}
