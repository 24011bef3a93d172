//! One thread of a team that runs: its share of what is to be done, and where it meets the others.
#![allow(unsafe_code, reason = "disjoint shares of a slice are beyond the borrow checker")]

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::parallel::barrier::Barrier;
#[cfg(debug_assertions)]
use crate::parallel::stamps::Stamps;
use crate::parallel::stop::Stop;
use crate::parallel::{Avx2, ColoredStencils, OwnElement, Shared};

/// One thread of a running team.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use muslin::parallel::Team;
///
/// let team = Team::new(2)?;
/// let items = AtomicUsize::new(0);
/// team.run(2, |worker| {
///     items.fetch_add(worker.share(0..100_000).len(), Ordering::Relaxed);
///     worker.barrier();
///     assert_eq!(items.load(Ordering::Relaxed), 100_000, "shares cover all items");
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Worker<'a> {
    pub(super) index: usize,
    pub(super) barrier: &'a Barrier,
    pub(super) avx2: Option<Avx2>,
    /// Where barriers are counted.
    pub(super) count: Option<&'a AtomicU64>,
    /// Whom the leading thread asks whether to go on.
    pub(super) stop: Option<&'a Stop>,
    /// Where somebody asks whether the team races.
    #[cfg(debug_assertions)]
    pub(super) stamps: Option<&'a Stamps>,
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
        self.avx2.is_some()
    }

    /// Runs what is inlined into it, with the instructions for such registers where they are to be used.
    #[inline(always)]
    pub(crate) fn compiled<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.avx2 {
            Some(avx2) => avx2.run(work),
            None => work(),
        }
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
        if length < least && !self.is_stamped() {
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
    ///
    /// Where a step was asked to [stop](crate::Simulation::with_stop), this unwinds instead.
    #[inline]
    pub fn barrier(&self) {
        if let Some(stop) = self.stop {
            stop.obey();
        }
        if let Some(count) = self.count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if self.barrier.size > 1 {
            self.barrier.wait(|| self.next_epoch());
        }
    }

    /// Whether everything is to be shared that can be.
    #[inline(always)]
    fn is_stamped(&self) -> bool {
        #[cfg(debug_assertions)]
        return self.stamps.is_some();
        #[cfg(not(debug_assertions))]
        return false;
    }

    /// All have come to a barrier, and none has left it yet.
    fn next_epoch(&self) {
        #[cfg(debug_assertions)]
        if let Some(stamps) = self.stamps {
            stamps.next_epoch();
        }
    }

    /// This worker's part of an array that is cut into pieces, to be got and set as it likes.
    ///
    /// Workers that ask for the same pieces have different parts. The pieces that it is of must be the same for all of them until the next barrier,
    /// and nobody else may touch them: a [stamped](crate::parallel::Team::stamped) team checks this.
    #[inline]
    pub(crate) fn part<'s, T: Copy>(&self, items: &'s Shared<'_, T>, pieces: &Pieces) -> (Range<usize>, &'s [Cell<T>]) {
        let share = match pieces.least {
            0 => self.share_pieces(pieces.count),
            least => self.share_from(least, 0..pieces.count),
        };
        let range = pieces.first + share.start * pieces.size..pieces.first + share.end * pieces.size;
        // SAFETY: shares are disjoint, so no other worker has these items if it has asked for the same pieces.
        (share, unsafe { items.cells(range) })
    }

    /// Visits this worker's share of the elements of every colour, with a barrier after each.
    ///
    /// An element has its vertices to itself: the others of its colour have none of them.
    #[inline]
    pub(crate) fn for_each_color<const N: usize>(
        &self,
        stencils: &ColoredStencils<N>,
        mut visit: impl FnMut(&OwnElement<'_, N>),
    ) {
        for color in stencils.colors() {
            stencils.each_of(self.share(color.clone()), &mut visit);
            self.barrier();
        }
    }
}

/// Pieces of an array, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    /// Where the first begins.
    pub(crate) first: usize,
    /// Items of each.
    pub(crate) size: usize,
    /// How many there are.
    pub(crate) count: usize,
    /// How many are worth to be shared; 0 for pieces that are large enough however few they are.
    pub(crate) least: usize,
}

impl Pieces {
    /// Pieces of one or a few items.
    pub(crate) fn small(first: usize, size: usize, count: usize) -> Self {
        Self { first, size, count, least: SHARE_MIN }
    }

    /// Pieces that are worth to be shared however few they are.
    pub(crate) fn large(first: usize, size: usize, count: usize) -> Self {
        Self { first, size, count, least: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Team;

    fn worker(index: usize, barrier: &Barrier) -> Worker<'_> {
        Worker {
            index,
            barrier,
            avx2: None,
            count: None,
            stop: None,
            #[cfg(debug_assertions)]
            stamps: None,
        }
    }

    #[test]
    fn shares_are_disjoint_and_complete() {
        for size in [1, 2, 3, 8] {
            let barrier = Barrier::new(size);
            for items in [0..0, 5..6, 7..300, 0..100_003] {
                let parts: Vec<_> = (0..size).map(|index| worker(index, &barrier).share(items.clone())).collect();
                let joined: Vec<usize> = parts.into_iter().flatten().collect();
                assert_eq!(joined, items.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn barriers_order_the_stages() {
        for size in [1, 2, 8] {
            let team = Team::new(size).unwrap();
            #[cfg(debug_assertions)]
            let team = team.stamped();
            let mut items = vec![0_u64; 4096];
            let shared = Shared::open(&team, &mut items);
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

    /// A race of two threads, whichever comes first.
    #[cfg(debug_assertions)]
    mod races {
        use std::panic::{AssertUnwindSafe, catch_unwind};

        use super::*;

        /// Whether a stamped team of two panics because of a race.
        fn is_found(stages: impl Fn(&Worker<'_>, &Shared<'_, u64>) + Sync) -> bool {
            let team = Team::new(2).unwrap().stamped();
            let mut items = vec![0_u64; 256];
            let shared = Shared::open(&team, &mut items);
            // Hosted, as a step is: then the words of the first panic come out.
            let run = || team.host(2, || team.run(2, |worker| stages(worker, &shared)));
            let Err(panic) = catch_unwind(AssertUnwindSafe(run)) else { return false };
            let words = panic.downcast_ref::<String>().map_or("", String::as_str);
            assert!(words.contains("a race at"), "{words}");
            true
        }

        #[test]
        fn two_that_set_one_item() {
            assert!(is_found(|_, items| items.set(7, 1)));
            assert!(!is_found(|worker, items| worker.share(0..256).for_each(|i| items.set(i, 1))));
        }

        #[test]
        fn one_that_gets_what_another_sets() {
            let mirrored = |has_barrier: bool| {
                move |worker: &Worker<'_>, items: &Shared<'_, u64>| {
                    worker.share(0..256).for_each(|i| items.set(i, 1));
                    if has_barrier {
                        worker.barrier();
                    }
                    let sum: u64 = worker.share(0..256).map(|i| items.get(255 - i)).sum();
                    assert!(sum == 128 || !has_barrier, "{sum} of 128 were set before the barrier");
                }
            };
            assert!(is_found(mirrored(false)));
            assert!(!is_found(mirrored(true)));
        }

        #[test]
        fn parts_of_different_pieces() {
            let fill = |worker: &Worker<'_>, items: &Shared<'_, u64>, size: usize| {
                worker.part(items, &Pieces::large(0, size, 2)).1.iter().for_each(|item| item.set(1));
            };
            assert!(!is_found(|worker, items| fill(worker, items, 128)));
            // The leader has 0..128 of pieces of 128, the other one 64..128 of pieces of 64.
            assert!(is_found(|worker, items| fill(worker, items, if worker.leads() { 128 } else { 64 })));
        }

        #[test]
        fn a_colour_is_no_race_and_two_at_once_are() {
            let chain = (0..250_u32).map(|i| [i, i + 1]);
            let (even, odd): (Vec<_>, Vec<_>) = chain.partition(|[i, _]| i % 2 == 0);
            let count = even.len();
            let stencils = ColoredStencils::new([even, odd].concat(), vec![0..count, count..250], 251);
            let add = |element: &OwnElement<'_, 2>, items: &Shared<'_, u64>| {
                let own = element.of(items);
                (0..2).for_each(|i| own.set(i, own.get(i) + 1));
            };
            assert!(!is_found(|worker, items| worker.for_each_color(&stencils, |element| add(element, items))));
            // Without the barrier between them.
            assert!(is_found(|worker, items| {
                for color in stencils.colors() {
                    stencils
                        .each_of(worker.share(color.clone()), &mut |element: &OwnElement<'_, 2>| add(element, items));
                }
            }));
        }
    }
}
