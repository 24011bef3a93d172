//! Animated PNG: the clip of builds without a C++ compiler. Lossless, much larger than H.264, and played by every
//! browser.
//!
//! The number of frames stands in the animation control chunk (acTL) at the start of the file, before it is known: it
//! is put there, with its checksum, at the end. Only the rectangle that changed since the frame before is written.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;

use super::Failure;
use crate::picture::Picture;

/// Where the type of the control chunk stands: after the signature (8 bytes), the header chunk (25) and its own length
/// (4).
const CONTROL_CHUNK: u64 = 37;

pub(super) struct Encoder {
    writer: png::Writer<BufWriter<File>>,
    /// The same file, for the number of frames.
    file: File,
    frame_count: u32,
    last: Picture,
    changed: Vec<u8>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("frame_count", &self.frame_count).finish_non_exhaustive()
    }
}

impl Encoder {
    pub(super) const EXTENSION: &'static str = "apng";

    pub(super) fn new(file: File, width: usize, height: usize, fps: f64) -> Result<Self, Failure> {
        let again = file.try_clone()?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        encoder.set_animated(u32::MAX, 0).map_err(std::io::Error::from)?;
        // A delay is a fraction of 16-bit numbers: in units of a tenth of a millisecond, or exact where the rate is a
        // whole number.
        let (numerator, denominator) =
            if fps.fract() == 0.0 { (1, fps as u16) } else { ((1e4 / fps).round() as u16, 10_000) };
        encoder.set_frame_delay(numerator, denominator).map_err(std::io::Error::from)?;
        let writer = encoder.write_header().map_err(std::io::Error::from)?;
        Ok(Self { writer, file: again, frame_count: 0, last: Picture::default(), changed: Vec::new() })
    }

    pub(super) fn push(&mut self, picture: &Picture) -> Result<(), Failure> {
        // The first frame must fill the picture.
        let (columns, rows) = if self.frame_count == 0 {
            (0..picture.width, 0..picture.height)
        } else {
            changed_rectangle(&self.last, picture)
        };
        self.changed.clear();
        for row in rows.clone() {
            let start = row * picture.width;
            self.changed.extend_from_slice(picture.pixels[start + columns.start..start + columns.end].as_flattened());
        }
        self.write(&columns, &rows).map_err(std::io::Error::from)?;
        self.last.clone_from(picture);
        self.frame_count += 1;
        Ok(())
    }

    fn write(&mut self, columns: &Range<usize>, rows: &Range<usize>) -> Result<(), png::EncodingError> {
        self.writer.reset_frame_position()?;
        self.writer.set_frame_dimension(columns.len() as u32, rows.len() as u32)?;
        self.writer.set_frame_position(columns.start as u32, rows.start as u32)?;
        self.writer.write_image_data(&self.changed)
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        let Self { writer, mut file, frame_count, .. } = self;
        writer.finish().map_err(std::io::Error::from)?;
        let mut chunk = *b"acTL\0\0\0\0\0\0\0\0"; // the type, the number of frames, and 0: for ever
        chunk[4..8].copy_from_slice(&frame_count.to_be_bytes());
        file.seek(SeekFrom::Start(CONTROL_CHUNK))?;
        file.write_all(&chunk)?;
        file.write_all(&crc(&chunk).to_be_bytes())?;
        Ok(file.flush()?)
    }
}

/// Columns and rows around all pixels that differ; a single pixel if none does, for a frame must have some.
fn changed_rectangle(last: &Picture, picture: &Picture) -> (Range<usize>, Range<usize>) {
    let (mut columns, mut rows) = (last.width..0, last.height..0);
    let pairs = last.pixels.chunks_exact(last.width).zip(picture.pixels.chunks_exact(picture.width));
    for (row, (old, new)) in pairs.enumerate() {
        let differs = |(a, b): (&[u8; 3], &[u8; 3])| a != b;
        if let Some(first) = old.iter().zip(new).position(differs) {
            let end = old.iter().zip(new).rposition(differs).unwrap_or(first) + 1;
            columns = columns.start.min(first)..columns.end.max(end);
            rows = rows.start.min(row)..row + 1;
        }
    }
    if columns.is_empty() { (0..1, 0..1) } else { (columns, rows) }
}

/// The checksum of PNG chunks [ISO/IEC 15948, annex D], bit by bit: it is needed once a clip.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc(b"IEND"), 0xae42_6082, "every PNG file ends with it");
    }

    #[test]
    fn only_what_changed_is_written() {
        let before = Picture::new(8, 6);
        let mut after = before.clone();
        assert_eq!(changed_rectangle(&before, &after), (0..1, 0..1));
        after.pixels[2 * 8 + 3] = [1; 3];
        after.pixels[4 * 8 + 1] = [2; 3];
        assert_eq!(changed_rectangle(&before, &after), (1..4, 2..5));
    }
}
