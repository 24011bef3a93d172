//! FNV-1a, 64 bits: a fingerprint that is the same in every version and on every machine, which the standard
//! library's hashes do not promise. It finds accidents, not attacks.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A fingerprint that grows with what it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(OFFSET)
    }

    /// Of one piece.
    pub(crate) fn of(bytes: &[u8]) -> u64 {
        Self::new().with(bytes).0
    }

    /// Adds a piece.
    pub(crate) fn with(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_are_met() {
        // Fowler, Noll, Vo: test vectors of the reference implementation.
        assert_eq!(Fnv::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv::of(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(Fnv::new().with(b"foo").with(b"bar").value(), Fnv::of(b"foobar"));
    }
}
