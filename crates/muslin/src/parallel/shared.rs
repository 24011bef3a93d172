//! Slices that are open to a team, and the accesses that everything else is made of.
#![allow(unsafe_code, reason = "items that threads have by turns are beyond the borrow checker")]

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::Range;

use crate::parallel::Team;
#[cfg(debug_assertions)]
use crate::parallel::stamps::{Access, Stamps};

/// A slice that a team reads and writes in disjoint parts.
///
/// Between two barriers, an item that one worker sets may not be got or set by another. [`Team::for_each_mut`], [`Worker::for_each_color`](crate::parallel::Worker::for_each_color) and
/// `Worker::part` keep this by what they hand out. [`get`](Self::get) and [`set`](Self::set) leave it to the sweep: a [stamped](Team::stamped) team checks it.
pub(crate) struct Shared<'a, T> {
    items: *const UnsafeCell<T>,
    length: usize,
    #[cfg(debug_assertions)]
    stamps: Option<&'a Stamps>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

/// What workers may do is between them, so a second handle adds nothing to what a second reference could do. A sweep that
/// keeps a copy of its own spares a load in each round: a store through one handle could change another that stands in memory.
impl<T> Copy for Shared<'_, T> {}

// SAFETY: no item is touched by two workers between barriers if one of them sets it, as above; items move between threads, hence `T: Send + Sync`.
unsafe impl<T: Send + Sync> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    /// Opens a slice to a team. Not for others than this library, since [`get`](Self::get) and [`set`](Self::set) of two threads could race.
    pub(crate) fn open(team: &'a Team, items: &'a mut [T]) -> Self {
        #[cfg(not(debug_assertions))]
        let _ = team;
        Self {
            #[cfg(debug_assertions)]
            stamps: team.stamps(),
            ..Self::unstamped(items)
        }
    }

    /// A slice that its users need not be watched at: they have what nobody else has.
    pub(super) fn unstamped(items: &'a mut [T]) -> Self {
        const { assert!(size_of::<T>() > 0, "items that take room") };
        Self {
            // `UnsafeCell<T>` has the layout of `T`.
            items: items.as_mut_ptr().cast_const().cast(),
            length: items.len(),
            #[cfg(debug_assertions)]
            stamps: None,
            borrow: PhantomData,
        }
    }

    /// Number of items.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no items.
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where an item is, so many bytes from the first.
    ///
    /// # Safety
    /// There must be an item.
    #[inline(always)]
    unsafe fn place(&self, bytes: usize) -> *mut T {
        debug_assert!(
            bytes / size_of::<T>() < self.length && bytes.is_multiple_of(size_of::<T>()),
            "item out of range"
        );
        // SAFETY: in range by the caller's promise.
        unsafe { UnsafeCell::raw_get(self.items.byte_add(bytes)) }
    }

    /// An item for one worker alone.
    ///
    /// # Safety
    /// `index` must be below [`len`](Self::len), and as long as the slice is borrowed nobody else may have the item, nor may it be given again.
    #[inline(always)]
    pub(super) unsafe fn item(&self, index: usize) -> &'a mut T {
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.place(index * size_of::<T>()) }
    }

    /// Items that follow each other, for one worker alone.
    ///
    /// # Safety
    /// As long as the slice is borrowed nobody else may have one of them, nor may they be given again.
    pub(super) unsafe fn part(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.length, "items out of range");
        let first = UnsafeCell::raw_get(self.items.wrapping_add(range.start));
        // SAFETY: in range; nobody else has them, by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(first, range.len()) }
    }

    /// Leaves a stamp at an item.
    #[cfg(debug_assertions)]
    #[inline(always)]
    fn note(&self, item: *const T, access: Access) {
        if let Some(stamps) = self.stamps {
            stamps.note(item, access);
        }
    }
}

impl<T: Copy> Shared<'_, T> {
    /// Reads the item so many bytes from the first.
    ///
    /// # Safety
    /// There must be an item.
    #[inline(always)]
    pub(super) unsafe fn get_at_byte(&self, bytes: usize) -> T {
        // SAFETY: by the caller's promise; no other worker sets it now.
        unsafe {
            let item = self.place(bytes);
            #[cfg(debug_assertions)]
            self.note(item, Access::Get);
            *item
        }
    }

    /// Writes the item so many bytes from the first.
    ///
    /// # Safety
    /// There must be an item.
    #[inline(always)]
    pub(super) unsafe fn set_at_byte(&self, bytes: usize, value: T) {
        // SAFETY: by the caller's promise; no other worker gets or sets it now.
        unsafe {
            let item = self.place(bytes);
            #[cfg(debug_assertions)]
            self.note(item, Access::Set);
            *item = value;
        }
    }

    /// Reads one item.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> T {
        assert!(index < self.length, "item out of range");
        // SAFETY: in range.
        unsafe { self.get_at_byte(index * size_of::<T>()) }
    }

    /// Writes one item.
    #[inline(always)]
    pub(crate) fn set(&self, index: usize, value: T) {
        assert!(index < self.length, "item out of range");
        // SAFETY: in range.
        unsafe { self.set_at_byte(index * size_of::<T>(), value) };
    }

    /// Items that follow each other, for one worker.
    ///
    /// # Safety
    /// Until the next barrier no other worker may get or set any of them.
    #[inline]
    pub(super) unsafe fn cells(&self, range: Range<usize>) -> &[Cell<T>] {
        assert!(range.start <= range.end && range.end <= self.length, "items out of range");
        #[cfg(debug_assertions)]
        range.clone().for_each(|index| self.note(self.items.wrapping_add(index).cast(), Access::Set));
        // SAFETY: in range; `Cell<T>` has the layout of `UnsafeCell<T>`; no other thread has them now, by the caller's promise.
        unsafe { std::slice::from_raw_parts(self.items.add(range.start).cast(), range.len()) }
    }
}
