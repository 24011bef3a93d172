//! Numbers as text, for the formats that people can read.

use std::io::{self, Write};

/// Writes the shortest decimal that reads back as the same `f32`.
///
/// Exponents are used where plain digits would be mostly zeros; every reader of OBJ and USD takes them.
pub(crate) fn write_f32(out: &mut impl Write, value: f32) -> io::Result<()> {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) { write!(out, "{value:e}") } else { write!(out, "{value}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_to_the_bit() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.1, "-0.1"),
            (1e-7, "1e-7"),
            (f32::MAX, "3.4028235e38"),
            (f32::MIN_POSITIVE, "1.1754944e-38"),
            (0.000_123_4, "0.0001234"),
        ] {
            let mut out = Vec::new();
            write_f32(&mut out, value).unwrap();
            assert_eq!(out, text.as_bytes(), "text of {value}");
            let back: f32 = text.parse().unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "value of {text}");
        }
    }
}
