//! The team: who runs what, and on how many threads.
#![allow(unsafe_code, reason = "workers that wait as long as they are led are beyond the borrow checker")]

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::parallel::barrier::{Barrier, ReleaseOnPanic};
#[cfg(debug_assertions)]
use crate::parallel::stamps::Stamps;
use crate::parallel::stop::Stop;
use crate::parallel::workers::{Led, Workers};
use crate::parallel::{Avx2, Worker};

/// Why a team could not be formed.
///
/// ```
/// use muslin::parallel::{Team, TeamError};
///
/// let team: Result<Team, TeamError> = Team::new(2);
/// assert!(team.is_ok_and(|team| team.size() == 2));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot start {threads} threads: {reason}; ask for fewer")]
pub struct TeamError {
    threads: usize,
    reason: String,
}

/// Threads that step together.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use muslin::parallel::Team;
///
/// let team = Team::new(2)?;
/// let calls = AtomicU32::new(0);
/// team.run(2, |_worker| {
///     calls.fetch_add(1, Ordering::Relaxed);
/// });
/// assert_eq!(calls.into_inner(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Team {
    /// `None` for a team of one, which runs on the caller's thread (and on targets without threads).
    pool: Option<rayon::ThreadPool>,
    size: usize,
    /// Where registers of eight numbers are to be used.
    avx2: Option<Avx2>,
    /// Where somebody asks what it does.
    meter: Option<Meter>,
    /// Where somebody may end what it does.
    stop: Option<Stop>,
    /// Threads that wait for work, while there are some.
    pub(super) workers: Mutex<Option<Led>>,
    /// Where somebody asks whether it races.
    #[cfg(debug_assertions)]
    stamps: Option<Box<Stamps>>,
}

/// Work that a team has done so far, for whoever wants to know how much of a step is shared among threads.
///
/// ```
/// use muslin::parallel::{Tally, Team};
///
/// let team = Team::solo().metered(|| 0.0);
/// team.run(1, |_| ());
/// assert_eq!(team.tally(), Some(Tally { seconds: 0.0, runs: 1, barriers: 0 }));
/// ```
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
        Self {
            pool: None,
            size: 1,
            avx2: Avx2::detect(),
            meter: None,
            stop: None,
            workers: Mutex::new(None),
            #[cfg(debug_assertions)]
            stamps: None,
        }
    }

    /// The same, with registers of four numbers even where there are wider ones. No result depends on it.
    #[must_use]
    pub fn narrow(self) -> Self {
        Self { avx2: None, ..self }
    }

    /// The same, counting what it does with a clock that tells seconds; see [`tally`](Self::tally).
    #[must_use]
    pub fn metered(self, clock: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        let meter = Meter { clock: Box::new(clock), tally: Mutex::default(), barriers: AtomicU64::new(0) };
        Self { meter: Some(meter), ..self }
    }

    /// The same, looking for races: whenever two of its threads touch one item of a shared array between two barriers and one of them
    /// sets it, the second panics. It shares every pass, however few items there are. Each access takes some hundred times as long. Only in builds with debug assertions.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn stamped(self) -> Self {
        Self { stamps: Some(Box::default()), ..self }
    }

    /// From now on, asks whether to go on while it does [stoppable](Self::stoppable) work.
    pub(crate) fn set_stop(&mut self, asks: impl Fn() -> bool + Send + Sync + 'static) {
        self.stop = Some(Stop::new(asks));
    }

    /// Does some work that unwinds with [`Stopped`](crate::parallel::Stopped) where it is to stop, which the caller has to catch.
    pub(crate) fn stoppable<T>(&self, work: impl FnOnce() -> T) -> T {
        let _heard = self.stop.as_ref().map(Stop::hear);
        work()
    }

    /// Whether so many items are worth to be shared, if `few` are not. A [stamped](Self::stamped) team shares whatever can be.
    pub(crate) fn shares(&self, count: usize, few: usize) -> bool {
        #[cfg(debug_assertions)]
        if self.stamps.is_some() {
            return true;
        }
        count >= few
    }

    /// How many threads to use for a pass over so many items that is a run of its own: fewer are passed sooner than the others meet.
    pub(crate) fn sharing(&self, threads: usize, count: usize) -> usize {
        const FEW: usize = 4096;
        if self.shares(count, FEW) { threads } else { 1 }
    }

    /// Who touched what, if somebody asks.
    #[cfg(debug_assertions)]
    pub(super) fn stamps(&self) -> Option<&Stamps> {
        self.stamps.as_deref()
    }

    /// The work that it has done so far; `None` if it does not count.
    pub fn tally(&self) -> Option<Tally> {
        let meter = self.meter.as_ref()?;
        let tally = *meter.tally.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Tally { barriers: meter.barriers.load(Ordering::Relaxed), ..tally })
    }

    /// Whether sweeps in single precision use registers of eight numbers.
    pub fn is_wide(&self) -> bool {
        self.avx2.is_some()
    }

    /// The instructions for these registers, where they are to be used.
    pub(crate) fn avx2(&self) -> Option<Avx2> {
        self.avx2
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
        if let Some(stop) = &self.stop {
            stop.obey();
        }
        self.next_epoch();
        let start = self.meter.as_ref().map(|meter| (meter.clock)());
        let work = |index: usize| {
            let _guard = ReleaseOnPanic(&barrier);
            stages(&Worker {
                index,
                barrier: &barrier,
                avx2: self.avx2,
                count: self.meter.as_ref().filter(|_| index == 0).map(|meter| &meter.barriers),
                stop: self.stop.as_ref().filter(|_| index == 0),
                #[cfg(debug_assertions)]
                stamps: self.stamps(),
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
        self.next_epoch();
        if let (Some(meter), Some(start)) = (&self.meter, start) {
            let seconds = (meter.clock)() - start;
            let mut tally = meter.tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.seconds += seconds;
            tally.runs += 1;
        }
    }

    /// What was touched before is no race with what is touched from now on: a run begins or ends, and no thread is in it.
    fn next_epoch(&self) {
        #[cfg(debug_assertions)]
        if let Some(stamps) = self.stamps() {
            stamps.next_epoch();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::parallel::Stopped;
    use crate::parallel::barrier::BROKEN;

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
    fn a_stop_ends_all_threads_wherever_they_are_and_only_while_it_is_heard() {
        for size in [1, 2, 8] {
            for (most, hosts) in [(0, false), (1, true), (7, false), (7, true)] {
                let asked = Arc::new(AtomicUsize::new(0));
                let mut team = Team::new(size).unwrap();
                let count = Arc::clone(&asked);
                team.set_stop(move || count.fetch_add(1, Ordering::Relaxed) >= most);
                let rounds = || team.run(size, |worker| (0..1000).for_each(|_| worker.barrier()));
                rounds();
                assert_eq!(asked.load(Ordering::Relaxed), 0, "nobody would hear it");
                let work = || if hosts { team.host(size, rounds) } else { rounds() };
                let panic = catch_unwind(AssertUnwindSafe(|| team.stoppable(work))).unwrap_err();
                let is_ours = panic.is::<Stopped>() || !hosts && panic.downcast_ref() == Some(&BROKEN);
                assert!(is_ours, "team of {size}, {most} rounds");
                assert_eq!(asked.load(Ordering::Relaxed), most + 1, "it is asked at every barrier, and not any more");
                rounds();
                assert_eq!(asked.load(Ordering::Relaxed), most + 1);
            }
        }
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
}
