//! The words of a scene file for the enumerations of its description: one table for reading and for writing.

use crate::description::{Ease, Select, Start};
use crate::mesh::Diagonals;

/// An enumeration that a scene writes as a word.
pub(super) trait Word: Sized + Copy {
    /// Every word, in the order in which a person is told of them.
    const WORDS: &'static [&'static str];

    /// The value of a word.
    fn from_word(word: &str) -> Option<Self>;

    /// The word of a value.
    fn word(self) -> &'static str;
}

/// A variant without a word does not compile.
macro_rules! words {
    ($enumeration:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl Word for $enumeration {
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

words!(Diagonals {
    Forward = "forward",
    Backward = "backward",
    Alternating = "alternating",
    Crossed = "crossed",
    Isotropic = "isotropic",
});

words!(Select {
    XMin = "x_min",
    XMax = "x_max",
    YMin = "y_min",
    YMax = "y_max",
    ZMin = "z_min",
    ZMax = "z_max",
    Corners = "corners",
    All = "all",
});

words!(Ease { Linear = "linear", Smooth = "smooth" });

words!(Start { Error = "error", Untangle = "untangle" });
