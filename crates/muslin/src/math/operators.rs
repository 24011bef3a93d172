//! The operators of numbers side by side.

/// Those of a register of `wide` in a type of its own.
macro_rules! operators {
    ($lanes:ident) => {
        operators!($lanes: Add add, Sub sub, Mul mul, Div div);

        impl std::ops::Neg for $lanes {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
    };
    ($lanes:ident: $($trait:ident $method:ident),+) => {$(
        impl std::ops::$trait for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self(std::ops::$trait::$method(self.0, o.0))
            }
        }
    )+};
}
pub(super) use operators;

/// Those that change a number in place.
macro_rules! assignments {
    ($lanes:ident) => {
        impl std::ops::AddAssign for $lanes {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl std::ops::SubAssign for $lanes {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
    };
}
pub(super) use assignments;
