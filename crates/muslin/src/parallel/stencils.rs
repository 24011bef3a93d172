//! Indices that were checked once, so that sweeps need not check them again.
#![allow(unsafe_code, reason = "skips bounds checks that a constructor made once; they cost a tenth of a sweep")]

use std::marker::PhantomData;
use std::ops::Range;

use crate::parallel::Shared;

/// The vertices of elements, sorted by colour: two elements of a colour have no vertex in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColoredStencils<const N: usize> {
    stencils: Vec<[u32; N]>,
    colors: Vec<Range<usize>>,
    /// Above all vertices.
    bound: usize,
}

impl<const N: usize> ColoredStencils<N> {
    /// Takes stencils in the order of their colours, which have to follow each other, of indices below `bound`.
    ///
    /// The sweeps rely on this for memory safety, so it is checked, not assumed.
    ///
    /// # Panics
    /// If a vertex is beyond the bound, or in two elements of a colour.
    pub(crate) fn new(stencils: Vec<[u32; N]>, colors: Vec<Range<usize>>, bound: usize) -> Self {
        // For each vertex the element after the last one that it was in.
        let mut last = vec![0; bound];
        let mut end = 0;
        for color in &colors {
            assert!(color.start == end && color.start <= color.end, "colours that do not follow each other");
            end = color.end;
            for element in color.clone() {
                for &vertex in &stencils[element] {
                    let last = &mut last[vertex as usize];
                    assert!(
                        *last <= color.start || *last == element + 1,
                        "two elements of a colour share vertex {vertex}"
                    );
                    *last = element + 1;
                }
            }
        }
        assert!(end == stencils.len(), "elements without a colour");
        Self { stencils, colors, bound }
    }

    /// Vertices of each element.
    pub(crate) fn all(&self) -> &[[u32; N]] {
        &self.stencils
    }

    /// Runs of elements that may be moved together.
    pub(crate) fn colors(&self) -> &[Range<usize>] {
        &self.colors
    }

    /// Above all vertices.
    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    /// Visits some elements of one colour, which are this worker's.
    #[inline(always)]
    pub(super) fn each_of(&self, elements: Range<usize>, visit: &mut impl FnMut(&OwnElement<'_, N>)) {
        for (index, stencil) in elements.clone().zip(&self.stencils[elements]) {
            visit(&OwnElement { index, stencil, bound: self.bound });
        }
    }
}

/// An element whose vertices are one worker's until the next barrier.
#[derive(Debug)]
pub(crate) struct OwnElement<'a, const N: usize> {
    index: usize,
    stencil: &'a [u32; N],
    bound: usize,
}

impl<const N: usize> OwnElement<'_, N> {
    /// Which it is.
    #[inline(always)]
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Its vertices.
    #[inline(always)]
    pub(crate) fn stencil(&self) -> &[u32; N] {
        self.stencil
    }

    /// Its items of an array over the vertices.
    ///
    /// # Panics
    /// If the array is shorter than the stencils want.
    #[inline(always)]
    pub(crate) fn of<'s, 'a, T: Copy>(&'s self, items: &Shared<'a, T>) -> OwnItems<'s, 'a, T, N> {
        assert!(items.len() >= self.bound, "a state smaller than its model");
        OwnItems { items: *items, stencil: self.stencil }
    }
}

/// The items of an element.
pub(crate) struct OwnItems<'s, 'a, T, const N: usize> {
    items: Shared<'a, T>,
    stencil: &'s [u32; N],
}

impl<T: Copy, const N: usize> OwnItems<'_, '_, T, N> {
    /// The item of the `i`-th vertex.
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> T {
        // SAFETY: the stencils are below their bound, and `of` has compared that with the length.
        unsafe { self.items.get_at_byte(self.stencil[i] as usize * size_of::<T>()) }
    }

    /// Sets it.
    #[inline(always)]
    pub(crate) fn set(&self, i: usize, item: T) {
        // SAFETY: as above.
        unsafe { self.items.set_at_byte(self.stencil[i] as usize * size_of::<T>(), item) };
    }
}

/// How many bytes a processor can multiply an index by, at no cost.
const UNIT: usize = 8;

/// An index of a slice of `T`, multiplied already: that saves an instruction wherever it is followed, in loops that do little else.
struct Spot<T> {
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

    fn new(index: u32) -> Self {
        const { assert!(size_of::<T>().is_multiple_of(UNIT), "items of whole units") };
        // A hundred million vertices are beyond every memory.
        let units =
            (index as usize * Self::UNITS).try_into().unwrap_or_else(|_| unreachable!("an index beyond memory"));
        Self { units, of: PhantomData }
    }

    fn index(self) -> u32 {
        self.units / Self::UNITS as u32
    }

    /// How many bytes from the first an item is in a slice of `U`, which may be larger.
    #[inline(always)]
    fn bytes<U>(self) -> usize {
        const { assert!(size_of::<U>().is_multiple_of(size_of::<T>()), "items as large, or a multiple") };
        self.units as usize * (size_of::<U>() / size_of::<T>()) * UNIT
    }
}

/// Groups of N indices below a bound, for slices of `T`, or of a type of a multiple of its size.
pub(crate) struct Spots<T, const N: usize> {
    spots: Vec<[Spot<T>; N]>,
    /// Above all indices.
    bound: usize,
}

impl<T, const N: usize> Spots<T, N> {
    /// Checks the indices, once.
    ///
    /// # Panics
    /// If one is not below `bound`.
    pub(crate) fn new(groups: impl IntoIterator<Item = [u32; N]>, bound: usize) -> Self {
        let checked = |index: u32| {
            assert!((index as usize) < bound, "a vertex that is not there");
            Spot::new(index)
        };
        Self { spots: groups.into_iter().map(|group| group.map(checked)).collect(), bound }
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.spots.len()
    }

    /// The indices of a group.
    pub(crate) fn indices(&self, group: usize) -> [u32; N] {
        self.spots[group].map(Spot::index)
    }

    /// The items at the indices.
    ///
    /// # Panics
    /// If there are fewer items than the bound.
    #[inline(always)]
    pub(crate) fn over<'s, 'a, U: Copy>(&'s self, items: &Shared<'a, U>) -> Gathered<'s, 'a, T, U, N> {
        assert!(items.len() >= self.bound, "a state smaller than its model");
        Gathered { spots: &self.spots, items: *items }
    }
}

/// Items of a slice of `U` at groups of indices that are known to be in it.
pub(crate) struct Gathered<'s, 'a, T, U, const N: usize> {
    spots: &'s [[Spot<T>; N]],
    items: Shared<'a, U>,
}

impl<T, U, const N: usize> Clone for Gathered<'_, '_, T, U, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, U, const N: usize> Copy for Gathered<'_, '_, T, U, N> {}

impl<'s, 'a, T, U: Copy, const N: usize> Gathered<'s, 'a, T, U, N> {
    /// How many groups there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.spots.len()
    }

    /// Some of the groups.
    #[inline(always)]
    pub(crate) fn slice(&self, groups: Range<usize>) -> Self {
        Self { spots: &self.spots[groups], items: self.items }
    }

    /// So many groups at a time; the last are fewer.
    #[inline(always)]
    pub(crate) fn chunks(&self, size: usize) -> impl Iterator<Item = Self> + use<'s, 'a, T, U, N> {
        let items = self.items;
        self.spots.chunks(size).map(
            #[inline(always)]
            move |spots| Self { spots, items },
        )
    }

    /// So many groups at a time; those that are left over are left out.
    #[inline(always)]
    pub(crate) fn chunks_exact(&self, size: usize) -> impl Iterator<Item = Self> + use<'s, 'a, T, U, N> {
        let items = self.items;
        self.spots.chunks_exact(size).map(
            #[inline(always)]
            move |spots| Self { spots, items },
        )
    }

    /// The item at the `i`-th index of a group.
    #[inline(always)]
    pub(crate) fn get(&self, group: usize, i: usize) -> U {
        // SAFETY: indices are below the bound of their `Spots`, and `over` has compared that with the length.
        unsafe { self.items.get_at_byte(self.spots[group][i].bytes::<U>()) }
    }

    /// Sets it.
    #[inline(always)]
    pub(crate) fn set(&self, group: usize, i: usize, item: U) {
        // SAFETY: as above.
        unsafe { self.items.set_at_byte(self.spots[group][i].bytes::<U>(), item) };
    }
}

/// Lists of groups of indices, one after the other.
pub(crate) struct SpotLists<T, const N: usize> {
    spots: Spots<T, N>,
    /// Where the groups of each list begin, and where the last end.
    starts: Vec<u32>,
}

impl<T, const N: usize> SpotLists<T, N> {
    /// Checks the indices and where lists begin, once.
    ///
    /// # Panics
    /// If an index is not below `bound`, or if the starts do not rise from 0 to the number of groups.
    pub(crate) fn new(groups: impl IntoIterator<Item = [u32; N]>, bound: usize, starts: Vec<u32>) -> Self {
        let spots = Spots::new(groups, bound);
        let ends_well = starts.last().is_some_and(|&end| end as usize == spots.len());
        assert!(starts.first() == Some(&0) && starts.is_sorted() && ends_well, "lists beyond what is in them");
        Self { spots, starts }
    }

    /// Where the groups of a list are among all.
    #[inline(always)]
    pub(crate) fn range(&self, list: usize) -> Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// The items at the indices.
    ///
    /// # Panics
    /// If there are fewer items than the bound.
    #[inline(always)]
    pub(crate) fn over<'s, 'a, U: Copy>(&'s self, items: &Shared<'a, U>) -> GatheredLists<'s, 'a, T, U, N> {
        GatheredLists { all: self.spots.over(items), starts: &self.starts }
    }
}

/// Lists of items.
pub(crate) struct GatheredLists<'s, 'a, T, U, const N: usize> {
    all: Gathered<'s, 'a, T, U, N>,
    starts: &'s [u32],
}

impl<T, U, const N: usize> Clone for GatheredLists<'_, '_, T, U, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, U, const N: usize> Copy for GatheredLists<'_, '_, T, U, N> {}

impl<'s, 'a, T, U: Copy, const N: usize> GatheredLists<'s, 'a, T, U, N> {
    /// The groups of a list.
    ///
    /// # Panics
    /// If there is no such list.
    #[inline(always)]
    pub(crate) fn list(&self, list: usize) -> Gathered<'s, 'a, T, U, N> {
        let Some(&[start, end]) = self.starts[list..].first_chunk() else { return self.all.slice(0..0) };
        // SAFETY: starts rise from 0 to the number of groups, by the constructor of `SpotLists`.
        let spots = unsafe { self.all.spots.get_unchecked(start as usize..end as usize) };
        Gathered { spots, items: self.all.items }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;
    use crate::parallel::Team;

    #[test]
    #[should_panic(expected = "two elements of a colour share vertex 1")]
    fn a_wrong_colouring_is_refused() {
        ColoredStencils::new(vec![[2, 3], [0, 1], [1, 2]], vec![0..1, 1..3], 4);
    }

    #[test]
    fn a_right_colouring_is_taken() {
        let stencils = ColoredStencils::new(vec![[0, 1], [2, 3], [1, 2], [4, 4]], vec![0..2, 2..4], 5);
        assert_eq!(stencils.colors().len(), 2);
    }

    #[test]
    fn colours_that_leave_elements_out_are_refused() {
        for colors in [vec![0..1, 1..1], vec![1..1, 1..2], vec![0..1, 0..2]] {
            assert!(catch_unwind(|| ColoredStencils::new(vec![[0, 1], [2, 3]], colors, 4)).is_err());
        }
    }

    #[test]
    #[should_panic(expected = "a vertex that is not there")]
    fn an_index_beyond_the_bound_is_refused() {
        Spots::<u64, 1>::new([[3]], 3);
    }

    #[test]
    #[should_panic(expected = "a state smaller than its model")]
    fn fewer_items_than_the_bound_are_refused() {
        let team = Team::solo();
        Spots::<u64, 1>::new([[2]], 3).over(&Shared::open(&team, &mut [0_u64; 2]));
    }

    #[test]
    fn items_are_found_by_indices_that_were_multiplied() {
        let team = Team::solo();
        let mut items: Vec<[u64; 2]> = (0..10).map(|i| [i, 100 + i]).collect();
        let spots = Spots::<u64, 2>::new([[3, 4], [9, 0]], 10);
        let gathered = spots.over(&Shared::open(&team, &mut items));
        gathered.set(0, 1, gathered.get(1, 0));
        assert_eq!((items[4], spots.indices(1)), ([9, 109], [9, 0]));
    }
}
