//! Four numbers of any kind side by side, for the types that have no register of four.

use std::ops::{Add, Mul, Sub};

/// Four numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Four<S>([S; 4]);

impl<S> From<[S; 4]> for Four<S> {
    #[inline(always)]
    fn from(numbers: [S; 4]) -> Self {
        Self(numbers)
    }
}

impl<S> From<Four<S>> for [S; 4] {
    #[inline(always)]
    fn from(four: Four<S>) -> Self {
        four.0
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),+) => {$(
        impl<S: Copy + $trait<Output = S>> $trait for Four<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i].$method(o.0[i])))
            }
        }
    )+};
}
operators!(Add add, Sub sub, Mul mul);
