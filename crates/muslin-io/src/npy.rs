//! NumPy `.npy`: the frame cache that a run writes as it goes, and every export reads.
//!
//! ```text
//! offset  bytes
//!      0      8   \x93NUMPY, version 1.0
//!      8      2   118, the length of what follows up to the data, little-endian
//!     10    118   {'descr': '<f4', 'fortran_order': False, 'shape': (frames, vertices, 3), }, spaces, \n
//!    128      …   float32, little-endian: frame after frame, vertex after vertex, x y z
//! ```
//!
//! The header has room for any count, and the data begin at a multiple of 64 as NumPy wants them. A frame is appended
//! by writing its data behind the last, and then the new count into the header; readers ignore data behind
//! the count. A process that is stopped at any point so leaves a cache that is good up to its last frame.
//!
//! Limits: the reader takes what is written here, or the same array saved by NumPy, and nothing else. NaN is kept.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::bytes::{extend_f32, read_positions};
use crate::error::{Cause, InputError, IoError};
use crate::export::{Exported, Format, Job};
use crate::frames::FrameSource;
use crate::partial::write_file;

pub(crate) const FORMAT: Format = Format {
    name: "npy",
    extension: "npy",
    description: "NumPy array of all positions, float32, shape (frames + 1, vertices, 3)",
    limits: "positions only: the topology is in the .obj beside it",
    written_by_run: true,
    write: export,
};

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";
const PREAMBLE_BYTES: usize = MAGIC.len() + 2;
const HEADER_BYTES: usize = 128;
const DICTIONARY_START: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
const DICTIONARY_END: &str = ", 3), }";

/// A file that is not a frame cache as written here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NpyError {
    /// The file does not begin as a `.npy` file of version 1.0 does.
    #[error("it is not a .npy file of version 1.0")]
    NotNpy,
    /// The array is of another type or shape.
    #[error("its array is {header}, but float32 in C order of shape (frames, vertices, 3) is expected")]
    Layout {
        /// The header found.
        header: String,
    },
    /// The file is shorter than its header says.
    #[error(
        "it has {found} bytes, but its {frame_count} frames need {expected}; it is cut off or was not copied whole"
    )]
    Truncated {
        /// Number of frames in the header.
        frame_count: usize,
        /// Bytes they need with the header.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The cache belongs to another cloth.
    #[error("it holds {found} vertices a frame, but the cloth has {expected}; resume with the scene that began it")]
    VertexCount {
        /// Vertices in the cache.
        found: usize,
        /// Vertices of the cloth.
        expected: usize,
    },
    /// The cache ends too early to be resumed there.
    #[error("it holds {found} frames, but {expected} are to be kept; resume from an earlier frame")]
    TooFewFrames {
        /// Frames in the cache.
        found: usize,
        /// Frames that were to be kept.
        expected: usize,
    },
    /// The header leaves no room for counts to grow.
    #[error(
        "its header has {found} bytes instead of 128; it was not written by muslin, so start again without resuming"
    )]
    ForeignHeader {
        /// Bytes before the data.
        found: u64,
    },
    /// The frames have more bytes than a file can.
    #[error("{frame_count} frames of {vertex_count} vertices are more than a file can hold")]
    TooLarge {
        /// Number of frames.
        frame_count: usize,
        /// Number of vertices.
        vertex_count: usize,
    },
}

/// Where the frames of a cache lie.
#[derive(Debug, Clone, Copy)]
struct Layout {
    data_start: u64,
    frame_count: usize,
    vertex_count: usize,
}

impl Layout {
    /// Reads a header and checks that the frames it promises are there.
    fn read(file: &mut File) -> Result<Self, Cause> {
        let mut start = vec![0; PREAMBLE_BYTES];
        read_fully(file, &mut start)?;
        let length = usize::from(u16::from_le_bytes([start[PREAMBLE_BYTES - 2], start[PREAMBLE_BYTES - 1]]));
        if start.starts_with(MAGIC) {
            start.resize(PREAMBLE_BYTES + length, 0);
            read_fully(file, &mut start[PREAMBLE_BYTES..])?;
        }
        let layout = Self::single(&start)?;
        let (frame_count, found) = (layout.frame_count, file.metadata()?.len());
        let expected = layout.offset(frame_count)?;
        if found < expected {
            return Err(NpyError::Truncated { frame_count, expected, found }.into());
        }
        Ok(layout)
    }

    /// From the first bytes of a file, with the bytes of one number: 4 or 8.
    fn parse(start: &[u8]) -> Result<(Self, usize), NpyError> {
        let rest = start.strip_prefix(MAGIC).ok_or(NpyError::NotNpy)?;
        let (length, rest) = rest.split_at_checked(2).ok_or(NpyError::NotNpy)?;
        let length = u16::from_le_bytes([length[0], length[1]]);
        let header = rest.get(..usize::from(length)).ok_or(NpyError::NotNpy)?;
        let header = String::from_utf8_lossy(header).trim_end().to_owned();
        let double = DICTIONARY_START.replace("<f4", "<f8");
        let number_bytes = if header.starts_with(&double) { 8 } else { 4 };
        let counts = header
            .strip_prefix(DICTIONARY_START)
            .or_else(|| header.strip_prefix(&double))
            .and_then(|rest| rest.strip_suffix(DICTIONARY_END))
            .and_then(|counts| counts.split_once(", "))
            .and_then(|(frames, vertices)| Some((frames.parse().ok()?, vertices.parse().ok()?)));
        let Some((frame_count, vertex_count)) = counts else { return Err(NpyError::Layout { header }) };
        let data_start = PREAMBLE_BYTES as u64 + u64::from(length);
        Ok((Self { data_start, frame_count, vertex_count }, number_bytes))
    }

    /// The same for a cache, whose numbers are of single precision.
    fn single(start: &[u8]) -> Result<Self, NpyError> {
        match Self::parse(start)? {
            (layout, 4) => Ok(layout),
            (layout, _) => {
                let header = String::from_utf8_lossy(&start[PREAMBLE_BYTES..layout.data_start as usize]);
                Err(NpyError::Layout { header: header.trim_end().to_owned() })
            }
        }
    }

    fn frame_bytes(self) -> Option<u64> {
        (self.vertex_count as u64).checked_mul(12)
    }

    /// Where a frame begins.
    fn offset(self, frame: usize) -> Result<u64, NpyError> {
        self.frame_bytes()
            .and_then(|bytes| bytes.checked_mul(frame as u64))
            .and_then(|bytes| bytes.checked_add(self.data_start))
            .ok_or(NpyError::TooLarge { frame_count: frame, vertex_count: self.vertex_count })
    }

    fn header(self) -> [u8; HEADER_BYTES] {
        let mut header = [b' '; HEADER_BYTES];
        let dictionary = format!("{DICTIONARY_START}{}, {}{DICTIONARY_END}", self.frame_count, self.vertex_count);
        let length = (HEADER_BYTES - PREAMBLE_BYTES) as u16;
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        header[MAGIC.len()..PREAMBLE_BYTES].copy_from_slice(&length.to_le_bytes());
        // At most 100 bytes, with both counts of 20 digits.
        header[PREAMBLE_BYTES..PREAMBLE_BYTES + dictionary.len()].copy_from_slice(dictionary.as_bytes());
        header[HEADER_BYTES - 1] = b'\n';
        header
    }
}

/// Fills the buffer from a file that is not ours if it is shorter.
fn read_fully(file: &mut File, buffer: &mut [u8]) -> Result<(), Cause> {
    file.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => NpyError::NotNpy.into(),
        _ => error.into(),
    })
}

/// Appends frames to a cache, which can be read after each.
#[derive(Debug)]
pub struct NpyWriter {
    path: PathBuf,
    file: File,
    layout: Layout,
    bytes: Vec<u8>,
}

impl NpyWriter {
    /// Begins a cache without frames, in place of any earlier file.
    pub fn create(path: impl AsRef<Path>, vertex_count: usize) -> Result<Self, IoError> {
        let path = path.as_ref().to_owned();
        let layout = Layout { data_start: HEADER_BYTES as u64, frame_count: 0, vertex_count };
        let begun = File::create(&path).and_then(|mut file| {
            file.write_all(&layout.header())?;
            Ok(file)
        });
        let file = begun.map_err(|error| IoError::write(&path, error))?;
        Ok(Self { path, file, layout, bytes: Vec::new() })
    }

    /// Continues a cache behind its first `frames_to_keep` frames; later ones are cut off.
    pub fn resume(path: impl AsRef<Path>, vertex_count: usize, frames_to_keep: usize) -> Result<Self, IoError> {
        let path = path.as_ref().to_owned();
        let (file, layout) =
            reopen(&path, vertex_count, frames_to_keep).map_err(|cause| IoError::resume(&path, cause))?;
        Ok(Self { path, file, layout, bytes: Vec::new() })
    }

    /// Appends a frame. After a failure the frames before it are still good, and it may be tried again.
    pub fn append(&mut self, positions: &[[f32; 3]]) -> Result<(), IoError> {
        self.try_append(positions).map_err(|cause| IoError::write(&self.path, cause))
    }

    fn try_append(&mut self, positions: &[[f32; 3]]) -> Result<(), Cause> {
        let Layout { frame_count: frame, vertex_count: expected, .. } = self.layout;
        if positions.len() != expected {
            return Err(InputError::FrameVertexCount { frame, found: positions.len(), expected }.into());
        }
        let longer = Layout { frame_count: frame + 1, ..self.layout };
        let start = self.layout.offset(frame)?;
        longer.offset(frame + 1)?;
        self.bytes.clear();
        extend_f32(&mut self.bytes, positions.as_flattened());
        self.file.seek(SeekFrom::Start(start))?;
        if let Err(error) = self.file.write_all(&self.bytes) {
            // Gives the space of half a frame back; if that fails too, it is ignored by readers anyhow.
            self.file.set_len(start).ok();
            return Err(error.into());
        }
        write_header(&mut self.file, longer)?;
        self.layout = longer;
        Ok(())
    }

    /// Number of frames written.
    pub fn frame_count(&self) -> usize {
        self.layout.frame_count
    }
}

fn reopen(path: &Path, vertex_count: usize, frames_to_keep: usize) -> Result<(File, Layout), Cause> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let layout = Layout::read(&mut file)?;
    if layout.data_start != HEADER_BYTES as u64 {
        return Err(NpyError::ForeignHeader { found: layout.data_start }.into());
    }
    if layout.vertex_count != vertex_count {
        return Err(NpyError::VertexCount { found: layout.vertex_count, expected: vertex_count }.into());
    }
    if layout.frame_count < frames_to_keep {
        return Err(NpyError::TooFewFrames { found: layout.frame_count, expected: frames_to_keep }.into());
    }
    let kept = Layout { frame_count: frames_to_keep, ..layout };
    // The count first: the file is readable at every moment.
    write_header(&mut file, kept)?;
    file.set_len(kept.offset(frames_to_keep)?)?;
    Ok((file, kept))
}

fn write_header(file: &mut File, layout: Layout) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&layout.header())
}

/// Reads the frames of a cache, also of one that is still being written.
#[derive(Debug)]
pub struct NpyReader {
    path: PathBuf,
    file: File,
    layout: Layout,
    bytes: Vec<u8>,
}

impl NpyReader {
    /// Opens a cache. Frames that are appended later are seen by opening it again.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, IoError> {
        let path = path.as_ref().to_owned();
        let opened = File::open(&path).map_err(Cause::from).and_then(|mut file| {
            let layout = Layout::read(&mut file)?;
            Ok((file, layout))
        });
        let (file, layout) = opened.map_err(|cause| IoError::read(&path, cause))?;
        Ok(Self { path, file, layout, bytes: Vec::new() })
    }

    /// Number of frames, the initial state included.
    pub fn frame_count(&self) -> usize {
        self.layout.frame_count
    }

    /// Number of vertices of every frame.
    pub fn vertex_count(&self) -> usize {
        self.layout.vertex_count
    }

    /// Replaces `out` by the positions of a frame.
    pub fn read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), IoError> {
        self.try_read(frame, out).map_err(|cause| IoError::read(&self.path, cause))
    }

    fn try_read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), Cause> {
        let frame_count = self.layout.frame_count;
        if frame >= frame_count {
            return Err(InputError::FrameOutOfRange { frame, frame_count }.into());
        }
        let start = self.layout.offset(frame)?;
        self.bytes.resize(12 * self.layout.vertex_count, 0); // the file is at least this long
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut self.bytes)?;
        read_positions(&self.bytes, out);
        Ok(())
    }
}

impl FrameSource for NpyReader {
    fn frame_count(&self) -> usize {
        self.frame_count()
    }

    fn vertex_count(&self) -> usize {
        self.vertex_count()
    }

    fn read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), IoError> {
        self.read(frame, out)
    }
}

/// Where the frames of a `.npy` of positions lie, for those who read it in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NpyHeader {
    /// Where the first frame begins, in bytes from the start of the file.
    pub data_start: u64,
    /// Bytes of a frame: three numbers of single precision for each vertex.
    pub frame_bytes: u64,
    /// Number of frames, the initial state included.
    pub frame_count: usize,
    /// Number of vertices of every frame.
    pub vertex_count: usize,
}

impl NpyHeader {
    /// Reads the header from the first bytes of a file; 4096 of them are enough for any.
    pub fn read(start: &[u8]) -> Result<Self, NpyError> {
        let layout = Layout::single(start)?;
        let Layout { data_start, frame_count, vertex_count } = layout;
        layout.offset(frame_count)?;
        let frame_bytes = layout.frame_bytes().ok_or(NpyError::TooLarge { frame_count, vertex_count })?;
        Ok(Self { data_start, frame_bytes, frame_count, vertex_count })
    }

    /// Frames that a file of this many bytes holds whole: fewer than the header says where it is cut off.
    pub fn whole_frames(&self, file_bytes: u64) -> usize {
        let held = file_bytes.saturating_sub(self.data_start).checked_div(self.frame_bytes);
        held.map_or(self.frame_count, |held| {
            usize::try_from(held).map_or(self.frame_count, |held| held.min(self.frame_count))
        })
    }
}

/// The frames of a `.npy` in memory: an array of shape (frames, vertices, 3) of float32, or of float64, which is rounded.
pub fn read_npy(bytes: &[u8]) -> Result<Vec<Vec<[f32; 3]>>, NpyError> {
    let (Layout { data_start, frame_count, vertex_count }, number_bytes) = Layout::parse(bytes)?;
    let (is_double, data) = (number_bytes == 8, &bytes[data_start as usize..]);
    let too_large = NpyError::TooLarge { frame_count, vertex_count };
    let frame_bytes = vertex_count.checked_mul(3 * number_bytes);
    let needed = frame_bytes.and_then(|bytes| bytes.checked_mul(frame_count)).ok_or(too_large)?;
    if data.len() < needed {
        let before = (bytes.len() - data.len()) as u64;
        return Err(NpyError::Truncated { frame_count, expected: before + needed as u64, found: bytes.len() as u64 });
    }
    if frame_count == 0 {
        return Ok(Vec::new()); // of however many vertices
    }
    if vertex_count == 0 {
        return Ok(vec![Vec::new()]); // as empty as any number of them
    }
    let frame = |data: &[u8]| {
        let mut positions = Vec::new();
        if is_double {
            let number = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32;
            let of_vertex = data.chunks_exact(24).map(|p| [number(&p[..8]), number(&p[8..16]), number(&p[16..])]);
            positions.extend(of_vertex);
        } else {
            read_positions(data, &mut positions);
        }
        positions
    };
    Ok(data[..needed].chunks_exact(needed / frame_count).map(frame).collect())
}

/// Frames, all of as many vertices as the first, as the bytes of a `.npy` of float32.
pub fn npy_bytes(frames: &[Vec<[f32; 3]>]) -> Vec<u8> {
    let vertex_count = frames.first().map_or(0, Vec::len);
    let layout = Layout { data_start: HEADER_BYTES as u64, frame_count: frames.len(), vertex_count };
    let mut bytes = layout.header().to_vec();
    frames.iter().for_each(|frame| extend_f32(&mut bytes, frame.as_flattened()));
    bytes
}

/// Copies the frames: for those that do not come from a cache.
fn export(job: &mut Job<'_>) -> Result<Exported, IoError> {
    let path = job.file(FORMAT.extension);
    let (frame_count, vertex_count) = (job.frames.frame_count(), job.rest.positions.len());
    write_file(&path, |out| {
        out.write_all(&Layout { data_start: HEADER_BYTES as u64, frame_count, vertex_count }.header())?;
        let (mut positions, mut bytes) = (Vec::new(), Vec::new());
        for frame in 0..frame_count {
            job.read(frame, &mut positions)?;
            bytes.clear();
            extend_f32(&mut bytes, positions.as_flattened());
            out.write_all(&bytes)?;
        }
        Ok(())
    })?;
    Ok(Exported { path, notes: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_what_numpy_expects() {
        let header = Layout { data_start: 128, frame_count: 7, vertex_count: 4225 }.header();
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00", "magic, version and length");
        let text = std::str::from_utf8(&header[10..]).unwrap();
        let dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (7, 4225, 3), }";
        assert_eq!(text.trim_end(), dictionary, "dictionary");
        assert!(text.ends_with(" \n"), "padding");
    }

    #[test]
    fn frames_in_memory_read_back() {
        let frames = vec![vec![[1.0, -2.0, 0.25], [3.0, 4.0, 5.0]], vec![[f32::MIN, 0.0, 1e-30], [7.0, 8.0, 9.0]]];
        let bytes = npy_bytes(&frames);
        assert_eq!(read_npy(&bytes).unwrap(), frames);
        let mut double = bytes[..HEADER_BYTES].to_vec();
        let at = double.windows(3).position(|w| w == b"<f4").unwrap();
        double[at..at + 3].copy_from_slice(b"<f8");
        frames.iter().flatten().flatten().for_each(|x| double.extend(f64::from(*x).to_le_bytes()));
        assert_eq!(read_npy(&double).unwrap(), frames);
    }

    #[test]
    fn broken_bytes_are_told_apart() {
        let bytes = npy_bytes(&[vec![[1.0, 2.0, 3.0]; 2]]);
        assert_eq!(read_npy(b"solid"), Err(NpyError::NotNpy));
        assert_eq!(read_npy(&bytes[..60]), Err(NpyError::NotNpy));
        assert!(matches!(read_npy(&bytes[..bytes.len() - 1]), Err(NpyError::Truncated { .. })));
        let flat = String::from_utf8_lossy(&bytes).replace("(1, 2, 3)", "(1, 6)   ").into_bytes();
        assert!(read_npy(&flat).is_err(), "another shape");
        let mut integers = bytes.clone();
        let at = integers.windows(3).position(|w| w == b"<f4").unwrap();
        integers[at + 1] = b'i';
        assert!(matches!(read_npy(&integers), Err(NpyError::Layout { .. })));
        assert_eq!(read_npy(&npy_bytes(&[])).unwrap().len(), 0, "no frames");
        let none = Layout { data_start: HEADER_BYTES as u64, frame_count: 0, vertex_count: 5 }.header();
        assert_eq!(read_npy(&none).unwrap().len(), 0, "no frames of five vertices");
    }

    #[test]
    fn a_header_says_where_the_frames_are() {
        let bytes = npy_bytes(&vec![vec![[1.0, 2.0, 3.0]; 5]; 4]);
        let header = NpyHeader::read(&bytes[..HEADER_BYTES]).unwrap();
        assert_eq!(header, NpyHeader { data_start: 128, frame_bytes: 60, frame_count: 4, vertex_count: 5 });
        for (bytes, frames) in
            [(0, 0), (128, 0), (128 + 59, 0), (128 + 60, 1), (128 + 239, 3), (128 + 240, 4), (u64::MAX, 4)]
        {
            assert_eq!(header.whole_frames(bytes), frames, "{bytes} bytes");
        }
        assert_eq!(NpyHeader::read(&bytes[..100]), Err(NpyError::NotNpy), "cut off within the header");
        let double = String::from_utf8_lossy(&bytes[10..128]).replace("<f4", "<f8");
        let double = [&bytes[..10], double.as_bytes()].concat();
        assert!(matches!(NpyHeader::read(&double), Err(NpyError::Layout { header }) if header.contains("<f8")));
        let empty = NpyHeader { frame_bytes: 0, vertex_count: 0, ..header };
        assert_eq!(empty.whole_frames(128), 4, "frames without vertices take no room");
    }

    #[test]
    fn the_largest_counts_fit_the_header() {
        let largest = Layout { data_start: 128, frame_count: usize::MAX, vertex_count: usize::MAX };
        assert!(largest.header().ends_with(b", 3), }                 \n"), "with room to spare");
        let error = largest.offset(usize::MAX).unwrap_err();
        assert!(matches!(error, NpyError::TooLarge { .. }), "but not a file: {error}");
    }
}
