//! Arrays and closures as in `core`, inlined for certain.
//!
//! A formula over [`Scalar`](crate::math::Scalar) is compiled for registers that not every processor has only as far as it is inlined into the sweep that asks for
//! them. A closure that stays a function of its own, or one of `core` that calls it, is right and many times slower; so closures of
//! formulas stand in one of these, with `#[inline(always)]`.

/// A closure that is inlined wherever it is called, if it has the attribute: only an argument can.
#[inline(always)]
pub fn inlined<F>(closure: F) -> F {
    closure
}

/// An array from what its places have.
#[inline(always)]
pub fn array<T: Copy + Default, const N: usize>(item: impl Fn(usize) -> T) -> [T; N] {
    let mut items = [T::default(); N];
    for i in 0..N {
        items[i] = item(i);
    }
    items
}

/// A function of each item.
#[inline(always)]
pub fn each<T: Copy, U: Copy + Default, const N: usize>(items: [T; N], function: impl Fn(T) -> U) -> [U; N] {
    let mut results = [U::default(); N];
    for i in 0..N {
        results[i] = function(items[i]);
    }
    results
}
