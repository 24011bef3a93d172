//! Slices whose items a team takes one by one: [`Team::for_each_mut`].
#![allow(unsafe_code, reason = "disjoint shares of slices are beyond the borrow checker")]

use std::ops::Range;

use crate::parallel::{Shared, Team};

/// Several slices of the same length: `(&mut [A], &mut [B], …)`.
pub(crate) trait Slices: Sized {
    /// The items that are handed out: `(&mut A, &mut B, …)`.
    type Item;
    /// The slices, open to a team.
    type Opened: Sync;

    /// Opens them; how many items each of them has.
    ///
    /// # Panics
    /// If they are not of one length.
    fn open(self) -> (Self::Opened, usize);

    /// The items of an index.
    ///
    /// # Safety
    /// There must be such items, and they may be given once.
    unsafe fn item(opened: &Self::Opened, index: usize) -> Self::Item;
}

macro_rules! tuples_of_slices {
    ($($name:ident $place:tt),+) => {
        impl<'a, $($name: Send + Sync),+> Slices for ($(&'a mut [$name],)+) {
            type Item = ($(&'a mut $name,)+);
            type Opened = ($(Shared<'a, $name>,)+);

            fn open(self) -> (Self::Opened, usize) {
                let count = self.0.len();
                $(assert!(self.$place.len() == count, "slices of different lengths");)+
                (($(Shared::unstamped(self.$place),)+), count)
            }

            #[inline(always)]
            unsafe fn item(opened: &Self::Opened, index: usize) -> Self::Item {
                // SAFETY: by the caller's promise.
                unsafe { ($(opened.$place.item(index),)+) }
            }
        }
    };
}
tuples_of_slices!(A 0, B 1);
tuples_of_slices!(A 0, B 1, C 2);
tuples_of_slices!(A 0, B 1, C 2, D 3);

impl Team {
    /// Calls `work` for every index of some slices with the items there, on at most `threads` threads, each of which has its share of the indices.
    ///
    /// # Panics
    /// If the slices are not of one length.
    pub(crate) fn for_each_mut<S: Slices>(&self, threads: usize, slices: S, work: impl Fn(usize, S::Item) + Sync) {
        let (opened, count) = slices.open();
        self.run(threads, |worker| {
            let share = worker.share(0..count);
            worker.compiled(
                #[inline(always)]
                || {
                    for index in share {
                        // SAFETY: shares are disjoint and below the count, and each worker comes here once. So every item is given once, while
                        // its slice is borrowed.
                        work(index, unsafe { S::item(&opened, index) });
                    }
                },
            );
        });
    }

    /// Calls `work` once on each of at most `threads` threads, with its share of so many pieces and the items of these, which begin where `place` says; the last end
    /// where the place after it is.
    ///
    /// # Panics
    /// If the places do not rise, or are beyond the slice.
    pub(crate) fn for_each_part<T: Send + Sync>(
        &self,
        threads: usize,
        slice: &mut [T],
        pieces: usize,
        place: impl Fn(usize) -> usize + Sync,
        work: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) {
        let opened = Shared::unstamped(slice);
        self.run(threads, |worker| {
            let share = worker.share_pieces(pieces);
            let items = place(share.start)..place(share.end);
            // SAFETY: a share ends where the next begins, and its items rise, which `part` asserts; so those of different workers are disjoint if
            // `place` says the same to all. Each comes here once, while the slice is borrowed.
            work(share, unsafe { opened.part(items) });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_handed_out_once() {
        for threads in [1, 3] {
            let team = Team::new(threads).unwrap();
            let (mut a, mut b) = (vec![0_usize; 1000], vec![1.0_f64; 1000]);
            team.for_each_mut(threads, (&mut a[..], &mut b[..]), |i, (a, b)| {
                *a += i;
                *b *= i as f64;
            });
            assert!(a.iter().zip(&b).enumerate().all(|(i, (a, b))| *a == i && *b == i as f64));
        }
    }

    #[test]
    #[should_panic(expected = "different lengths")]
    fn slices_of_different_lengths_are_refused() {
        Team::solo().for_each_mut(1, (&mut [0; 3][..], &mut [0; 4][..]), |_, _: (&mut i32, &mut i32)| {});
    }
}
