//! The least MP4 file that players accept [ISO/IEC 14496-12, 14496-15]: one H.264 track of constant frame rate.
//!
//! ```text
//! ftyp                     which standards
//! moov                     the index; before the media, so that playing starts before all is loaded
//!   mvhd                   time scale, duration
//!   trak
//!     tkhd                 size of the picture
//!     mdia
//!       mdhd hdlr
//!       minf
//!         vmhd dinf/dref/url
//!         stbl             the table of frames:
//!           stsd/avc1      decoder: avcC (parameter sets), colr (BT.709), pasp (square pixels)
//!           stts           duration of a frame
//!           stss           which can be jumped to
//!           stsc stsz      one chunk; the size of each frame
//!           co64           where it starts
//! mdat                     the frames: NAL units, each after its length
//! ```
//!
//! How long the index is, is known at the end only. So frames are written to the start of the file as they come, and
//! moved back by the length of the index once, when the file is finished.

use std::io::{self, Read, Seek, SeekFrom, Write};

/// Ticks a second: divisible by every usual frame rate, those of 1000/1001 included.
const TIME_SCALE: u32 = 240_000;

/// NAL unit types of H.264 [ITU-T H.264, table 7-1].
const INTRA_SLICE: u8 = 5;
const SEQUENCE_PARAMETERS: u8 = 7;
const PICTURE_PARAMETERS: u8 = 8;

/// Writes an MP4 file frame by frame.
#[derive(Debug)]
pub(super) struct Muxer<W: Read + Write + Seek> {
    file: W,
    width: usize,
    height: usize,
    frame_ticks: u32,
    sequence_parameters: Vec<u8>,
    picture_parameters: Vec<u8>,
    /// Bytes of each frame.
    sizes: Vec<u32>,
    /// Frames that need no other, counted from 1.
    keys: Vec<u32>,
    media_bytes: u64,
    sample: Vec<u8>,
}

impl<W: Read + Write + Seek> Muxer<W> {
    pub(super) fn new(file: W, width: usize, height: usize, fps: f64) -> io::Result<Self> {
        Ok(Self {
            file,
            width,
            height,
            frame_ticks: (f64::from(TIME_SCALE) / fps).round() as u32,
            sequence_parameters: Vec::new(),
            picture_parameters: Vec::new(),
            sizes: Vec::new(),
            keys: Vec::new(),
            media_bytes: 0,
            sample: Vec::new(),
        })
    }

    /// Adds a frame, as the byte stream of an encoder: NAL units after start codes.
    pub(super) fn push(&mut self, stream: &[u8]) -> io::Result<()> {
        self.sample.clear();
        let mut key = false;
        for nal in nal_units(stream) {
            match nal.first().map(|header| header & 31) {
                Some(SEQUENCE_PARAMETERS) => self.sequence_parameters = nal.to_vec(),
                Some(PICTURE_PARAMETERS) => self.picture_parameters = nal.to_vec(),
                Some(kind) => {
                    key |= kind == INTRA_SLICE;
                    self.sample.extend_from_slice(&(nal.len() as u32).to_be_bytes());
                    self.sample.extend_from_slice(nal);
                }
                None => {}
            }
        }
        self.file.write_all(&self.sample)?;
        self.sizes.push(self.sample.len() as u32);
        self.media_bytes += self.sample.len() as u64;
        if key {
            self.keys.push(self.sizes.len() as u32);
        }
        Ok(())
    }

    /// Puts the index in front of the frames.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.sequence_parameters.len() < 4 || self.picture_parameters.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the stream has no parameter sets"));
        }
        let mut head = Boxes::default();
        head.open(b"ftyp").bytes(b"isom").u32(0x200).bytes(b"isomiso2avc1mp41").close();
        // The length of the index does not depend on the offset it holds.
        let head_bytes = head.bytes.len() + self.index(0).len() + MEDIA_HEADER;
        head.bytes(&self.index(head_bytes as u64));
        // A length of 64 bits follows the type where the 32 bits before it are 1.
        head.u32(1).bytes(b"mdat").u64(self.media_bytes + MEDIA_HEADER as u64);
        self.shift(head.bytes.len())?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&head.bytes)?;
        self.file.flush()
    }

    /// Moves the frames back by `distance` bytes, the last ones first.
    fn shift(&mut self, distance: usize) -> io::Result<()> {
        const PIECE: u64 = 1 << 20;
        let mut piece = vec![0; PIECE as usize];
        let mut end = self.media_bytes;
        while end > 0 {
            let start = end.saturating_sub(PIECE);
            let piece = &mut piece[..(end - start) as usize];
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(piece)?;
            self.file.seek(SeekFrom::Start(start + distance as u64))?;
            self.file.write_all(piece)?;
            end = start;
        }
        Ok(())
    }

    /// The `moov` box, for frames that start at `offset`.
    fn index(&self, offset: u64) -> Vec<u8> {
        let duration = self.sizes.len() as u64 * u64::from(self.frame_ticks);
        let (width, height) = (self.width as u32, self.height as u32);
        let mut b = Boxes::default();
        b.open(b"moov");
        // Version 1 has times of 64 bits; created and changed at no particular time, so that equal clips are equal
        // files.
        b.open(b"mvhd").u32(1 << 24).u64(0).u64(0).u32(TIME_SCALE).u64(duration);
        b.u32(0x1_0000).u16(0x100).zeros(10).matrix().zeros(24).u32(2).close();
        b.open(b"trak");
        b.open(b"tkhd").u32(1 << 24 | 3).u64(0).u64(0).u32(1).u32(0).u64(duration);
        b.zeros(16).matrix().u32(width << 16).u32(height << 16).close();
        b.open(b"mdia");
        b.open(b"mdhd").u32(1 << 24).u64(0).u64(0).u32(TIME_SCALE).u64(duration);
        b.u16(0x55c4).u16(0).close(); // no language
        b.open(b"hdlr").u32(0).u32(0).bytes(b"vide").zeros(12).bytes(b"Muslin\0").close();
        b.open(b"minf");
        b.open(b"vmhd").u32(1).zeros(8).close();
        b.open(b"dinf").open(b"dref").u32(0).u32(1);
        b.open(b"url ").u32(1).close().close().close(); // in this file
        b.open(b"stbl");
        self.decoder(&mut b);
        b.open(b"stts").u32(0).u32(1).u32(self.sizes.len() as u32).u32(self.frame_ticks).close();
        b.open(b"stss").u32(0).list(&self.keys).close();
        b.open(b"stsc").u32(0).u32(1).u32(1).u32(self.sizes.len() as u32).u32(1).close();
        b.open(b"stsz").u32(0).u32(0).list(&self.sizes).close();
        b.open(b"co64").u32(0).u32(1).u64(offset).close();
        b.close().close().close().close().close();
        b.bytes
    }

    /// What a decoder must know before the first frame.
    fn decoder(&self, b: &mut Boxes) {
        let (sps, pps) = (&self.sequence_parameters, &self.picture_parameters);
        b.open(b"stsd").u32(0).u32(1);
        b.open(b"avc1").zeros(6).u16(1).zeros(16).u16(self.width as u16).u16(self.height as u16);
        b.u32(72 << 16).u32(72 << 16).u32(0).u16(1).zeros(32).u16(24).u16(0xffff);
        // Profile, its flags and the level stand in the sequence parameters. Lengths have 4 bytes; one set of each
        // kind.
        b.open(b"avcC").bytes(&[1, sps[1], sps[2], sps[3], 0xff, 0xe1]);
        b.u16(sps.len() as u16).bytes(sps).bytes(&[1]).u16(pps.len() as u16).bytes(pps);
        // From the high profile on, the pixel format is repeated here: 4:2:0 in 8 bits.
        if sps[1] >= 100 {
            b.bytes(&[0xfd, 0xf8, 0xf8, 0]);
        }
        b.close();
        b.open(b"colr").bytes(b"nclx").u16(1).u16(1).u16(1).bytes(&[0]).close();
        b.open(b"pasp").u32(1).u32(1).close();
        b.close().close();
    }
}

/// Bytes in front of the frames in their box.
const MEDIA_HEADER: usize = 16;

/// NAL units of a byte stream: what stands between start codes, 00 00 01 or 00 00 00 01 [ITU-T H.264, annex B].
fn nal_units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts: Vec<usize> = stream.windows(3).enumerate().filter(|(_, w)| *w == [0, 0, 1]).map(|(i, _)| i).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([stream.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| {
        let nal = &stream[start + 3..end];
        // Zeros at the end belong to the next start code: a NAL unit never ends with one.
        let length = nal.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        &nal[..length]
    })
}

/// Nested boxes: a length of 32 bits, a type of four letters, content.
#[derive(Debug, Default)]
struct Boxes {
    bytes: Vec<u8>,
    open: Vec<usize>,
}

impl Boxes {
    fn open(&mut self, kind: &[u8; 4]) -> &mut Self {
        self.open.push(self.bytes.len());
        self.u32(0).bytes(kind)
    }

    fn close(&mut self) -> &mut Self {
        if let Some(start) = self.open.pop() {
            let length = (self.bytes.len() - start) as u32;
            self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn zeros(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    /// A count and as many values.
    fn list(&mut self, values: &[u32]) -> &mut Self {
        self.u32(values.len() as u32);
        for &value in values {
            self.u32(value);
        }
        self
    }

    /// The identity, in the mixed fixed point of the standard.
    fn matrix(&mut self) -> &mut Self {
        for value in [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000] {
            self.u32(value);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn nal_units_are_found_after_short_and_long_start_codes() {
        let stream = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4, 0, 0, 3, 5];
        let units: Vec<&[u8]> = nal_units(&stream).collect();
        assert_eq!(units, [&[0x67, 1, 2][..], &[0x68, 3], &[0x65, 4, 0, 0, 3, 5]]);
        assert_eq!(nal_units(&[]).count(), 0);
    }

    #[test]
    fn frames_stand_where_the_index_says() {
        let mut buffer = Cursor::new(Vec::new());
        let mut muxer = Muxer::new(&mut buffer, 64, 32, 29.97).expect("memory can be written");
        let parameters = [0, 0, 0, 1, 0x67, 66, 0, 30, 9, 0, 0, 0, 1, 0x68, 7];
        muxer.push(&[&parameters[..], &[0, 0, 1, 0x65, 0xaa, 0xbb]].concat()).expect("memory can be written");
        muxer.push(&[0, 0, 1, 0x41, 0xcc]).expect("memory can be written");
        muxer.finish().expect("memory can be written");
        let file = buffer.into_inner();
        let find = |kind: &[u8; 4]| file.windows(4).position(|w| w == kind).expect("the box is there");
        assert!(find(b"moov") < find(b"mdat"), "the index comes first");
        let co64 = find(b"co64") + 12;
        let offset = u64::from_be_bytes(file[co64..co64 + 8].try_into().expect("eight bytes")) as usize;
        assert_eq!(offset, find(b"mdat") + 12);
        assert_eq!(file[offset..], [0, 0, 0, 3, 0x65, 0xaa, 0xbb, 0, 0, 0, 2, 0x41, 0xcc]);
        let stts = find(b"stts") + 12;
        assert_eq!(file[stts..stts + 8], [0, 0, 0, 2, 0, 0, 0x1f, 0x48], "two frames of 240000 · 1001 / 30000 ticks");
    }

    #[test]
    fn a_stream_without_parameters_is_an_error() {
        let mut muxer = Muxer::new(Cursor::new(Vec::new()), 64, 32, 30.0).expect("memory can be written");
        muxer.push(&[0, 0, 1, 0x65, 1]).expect("memory can be written");
        assert!(muxer.finish().is_err());
    }
}
