//! `checkpoint.bin`: the exact state at a frame, from which a run goes on as if it had never stopped.
//!
//! ```text
//! offset  bytes   little-endian
//!      0      8   MUSLINCP
//!      8      4   version of this layout, 3
//!     12      8   fingerprint of the scene
//!     20      8   frame
//!     28      8   time [s]
//!     36      8   number of vertices n
//!     44      8   number of vectors of the solver's memory k
//!     52     32   work of pins, bodies, wind and a program so far [J]
//!     84   24 n   positions as f64
//!      …   24 n   velocities as f64
//!      …   24 k   memory as f64
//!      …      8   FNV-1a of all of the above
//! ```
//!
//! The result files hold single precision and no velocities, so they cannot serve for this.

use muslin::math::Vec3;
use muslin::state::{SolverMemory, State, Work, fnv1a};

const MAGIC: &[u8; 8] = b"MUSLINCP";
const VERSION: u32 = 3;
const HEADER_BYTES: usize = 84;

/// A state, and of which run it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checkpoint {
    /// Of the scene, see [`fingerprint`](super::fingerprint).
    pub(crate) fingerprint: u64,
    pub(crate) frame: usize,
    pub(crate) state: State,
}

/// Why bytes are not a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CheckpointError {
    #[error("it is not a checkpoint of muslin")]
    Foreign,
    #[error("it is of layout {0}, but this version of muslin reads {VERSION}")]
    Version(u32),
    #[error("it is damaged: it has {found} bytes, but should have {expected}")]
    Length { found: usize, expected: usize },
    #[error("it is damaged: its checksum does not match")]
    Checksum,
}

impl Checkpoint {
    /// The bytes of a checkpoint.
    pub(crate) fn encode(fingerprint: u64, frame: usize, state: &State) -> Vec<u8> {
        let memory = state.memory.to_vectors();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + 48 * state.positions.len() + 24 * memory.len() + 8);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&fingerprint.to_le_bytes());
        bytes.extend_from_slice(&(frame as u64).to_le_bytes());
        bytes.extend_from_slice(&state.time.to_le_bytes());
        bytes.extend_from_slice(&(state.positions.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(memory.len() as u64).to_le_bytes());
        for number in state.work.to_array() {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for vector in state.positions.iter().chain(&state.velocities).chain(&memory) {
            for number in vector.to_array() {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&checksum(&bytes));
        bytes
    }

    /// Reads a checkpoint back, to the bit.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let mut reader = Reader { bytes };
        if reader.take::<8>() != Some(*MAGIC) {
            return Err(CheckpointError::Foreign);
        }
        let damaged = |expected| CheckpointError::Length { found: bytes.len(), expected };
        let version = reader.take().map(u32::from_le_bytes).ok_or(damaged(HEADER_BYTES))?;
        if version != VERSION {
            return Err(CheckpointError::Version(version));
        }
        let [fingerprint, frame, time, count, remembered] = reader.words().ok_or(damaged(HEADER_BYTES))?;
        let vectors = count.checked_mul(2).and_then(|count| count.checked_add(remembered));
        let expected = vectors
            .and_then(|vectors| usize::try_from(vectors).ok()?.checked_mul(24)?.checked_add(HEADER_BYTES + 8))
            .unwrap_or(usize::MAX);
        if bytes.len() != expected {
            return Err(damaged(expected));
        }
        let (content, sum) = bytes.split_at(expected - 8);
        if checksum(content) != *sum {
            return Err(CheckpointError::Checksum);
        }
        let work = Work::from_array(reader.words::<4>().ok_or(damaged(HEADER_BYTES))?.map(f64::from_bits));
        let mut vectors = |count: u64| (0..count).filter_map(|_| reader.vector()).collect();
        let (positions, velocities) = (vectors(count), vectors(count));
        let remembered: Vec<Vec3<f64>> = vectors(remembered);
        let memory = SolverMemory::from_vectors(&remembered, positions.len());
        let state = State { positions, velocities, memory, work, time: f64::from_bits(time) };
        Ok(Self { fingerprint, frame: frame as usize, state })
    }
}

fn checksum(content: &[u8]) -> [u8; 8] {
    fnv1a(content.iter().copied()).to_le_bytes()
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(taken)
    }

    fn words<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut words = [0; N];
        for word in &mut words {
            *word = u64::from_le_bytes(self.take()?);
        }
        Some(words)
    }

    fn vector(&mut self) -> Option<Vec3<f64>> {
        Some(self.words::<3>()?.map(f64::from_bits).into())
    }
}

#[cfg(test)]
mod tests {
    use muslin::state::StepBefore;

    use super::*;

    fn sample() -> State {
        State {
            positions: vec![Vec3::new(0.1, -0.0, f64::MIN_POSITIVE / 8.0), Vec3::new(1e300, -2.0, 3.0)],
            velocities: vec![Vec3::new(0.1 + 0.2, 5.0, 6.0), Vec3::ZERO],
            time: 1.0 / 3.0,
            memory: SolverMemory::StepBefore(StepBefore {
                positions: vec![Vec3::new(7.0, 8.0, 9.0); 2],
                velocities: vec![Vec3::new(f64::INFINITY, 0.0, 0.0); 2],
            }),
            work: Work { pins: 0.25, bodies: -1.5, wind: 1e-300, program: f64::MIN_POSITIVE },
        }
    }

    #[test]
    fn every_bit_comes_back() {
        let state = sample();
        let back = Checkpoint::decode(&Checkpoint::encode(7, 41, &state)).unwrap();
        assert_eq!((back.fingerprint, back.frame), (7, 41));
        assert_eq!((back.state.hash(), back.state.work), (state.hash(), state.work));
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = Checkpoint::encode(7, 41, &sample());
        for length in 0..bytes.len() {
            assert!(Checkpoint::decode(&bytes[..length]).is_err(), "cut off after {length} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Checkpoint::decode(&damaged).is_err(), "byte {at} changed");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Checkpoint::decode(&longer).is_err(), "longer");
    }
}
