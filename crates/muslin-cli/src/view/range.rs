//! `Range: bytes=…` [RFC 9110, section 14]: one range; several at once are answered with the whole, which is allowed.

use std::ops::Range;

/// What of a file is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Bytes(Range<u64>),
    /// Nothing of it is there.
    Nothing,
}

impl Part {
    /// What a header means for something of `length` bytes; one that makes no sense is ignored, as it has to be.
    pub(super) fn new(header: Option<&str>, length: u64) -> Self {
        header.and_then(|header| Self::parse(header, length)).unwrap_or(Self::Whole)
    }

    fn parse(header: &str, length: u64) -> Option<Self> {
        let (first, last) = header.strip_prefix("bytes=")?.trim().split_once('-')?;
        let range = match (number(first)?, number(last)?) {
            (None, None) => return None,
            (Some(first), Some(last)) if last < first => return None,
            (Some(first), last) => first..last.map_or(length, |last| last.saturating_add(1).min(length)),
            (None, Some(count)) => length.saturating_sub(count)..length,
        };
        Some(if range.is_empty() { Self::Nothing } else { Self::Bytes(range) })
    }
}

/// Digits, or nothing; the outer `None` is anything else.
fn number(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    // What no file has is beyond the end of all of them.
    digits.then(|| Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    #[test]
    fn one_range_is_honoured() {
        for (header, expected) in [
            ("bytes=0-0", 0..1),
            ("bytes=2-5", 2..6),
            ("bytes=7-", 7..10),
            ("bytes=9-99", 9..10),
            ("bytes=-3", 7..10),
            ("bytes=-99", 0..10),
            ("bytes=0-99999999999999999999", 0..10),
        ] {
            assert_eq!(Part::new(Some(header), 10), Part::Bytes(expected), "{header}");
        }
        for header in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999-"] {
            assert_eq!(Part::new(Some(header), 10), Part::Nothing, "{header}");
        }
        assert_eq!(Part::new(Some("bytes=-5"), 0), Part::Nothing);
        for header in ["bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,3-4", "bytes=a-b", "bytes=+1-2", "lines=0-1", ""] {
            assert_eq!(Part::new(Some(header), 10), Part::Whole, "{header}");
        }
        assert_eq!(Part::new(None, 10), Part::Whole);
    }

    proptest! {
        #[test]
        fn no_range_leaves_the_file(header in "(bytes=)?[0-9,-]{0,30}|.{0,20}", length in any::<u64>()) {
            if let Part::Bytes(range) = Part::new(Some(&header), length) {
                assert!(range.start < range.end && range.end <= length, "{header}: {range:?} of {length}");
            }
        }
    }
}
