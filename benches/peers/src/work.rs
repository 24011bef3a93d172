//! Workloads as their files give them, and NumPy's arrays.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Outcome;

/// The keys of WORK.json; `common.py` says what they mean. Arrays are paths.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Work {
    pub(crate) workload: String,
    /// Vertices along a side.
    pub(crate) side: u32,
    pub(crate) fps: f64,
    pub(crate) frames: usize,
    /// Not in what is prepared: the runner adds it.
    #[serde(default)]
    pub(crate) budget_s: f64,
    pub(crate) threads: usize,
    pub(crate) gravity: [f64; 3],
    pub(crate) vertices: String,
    pub(crate) triangles: String,
    pub(crate) masses: String,
    pub(crate) edges: String,
    pub(crate) edge_stiffness: String,
    pub(crate) hinges: Option<String>,
    pub(crate) youngs: f64,
    pub(crate) bend: f64,
    pub(crate) density: f64,
    pub(crate) damping: f64,
    pub(crate) thickness: f64,
    pub(crate) friction: f64,
    pub(crate) pins: Vec<u32>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) wind: Option<[f64; 3]>,
    pub(crate) drag: f64,
    pub(crate) lift: f64,
    pub(crate) air_density: f64,
    pub(crate) self_contact: bool,
    /// The longest stable step of an explicit integrator, in s.
    pub(crate) stable_step: f64,
    /// Where it is given, a run that is more than 2 cm off the converged motion at its end is not worth more frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    #[serde(default)]
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) settings: Value,
}

/// A body that the cloth touches.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Body {
    Sphere { center: [f64; 3], radius: f64, friction: f64, spin: Option<Spin> },
    Plane { point: [f64; 3], normal: [f64; 3], friction: f64 },
}

/// A turn about an axis through the centre, at rest before the start and after the end, eased between.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Spin {
    pub(crate) axis: [f64; 3],
    /// In s.
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) degrees: f64,
}

impl Spin {
    /// The angle at a time in s, in radians.
    pub(crate) fn angle(&self, time: f64) -> f64 {
        let part = ((time - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        part * part * (3.0 - 2.0 * part) * self.degrees.to_radians()
    }
}

impl Work {
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    /// Start of all vertices, in m.
    pub(crate) fn positions(&self) -> Outcome<Vec<[f64; 3]>> {
        let bytes = fs::read(&self.vertices)?;
        // As `save` writes it: a header, then doubles.
        let numbers: Vec<f64> = bytes[HEADER..]
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
            .collect();
        Ok(numbers.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect())
    }

    /// Whether this is the last frame of the reference, and the positions are more than 2 cm off it.
    pub(crate) fn is_off(&self, frame: usize, positions: &[[f32; 3]]) -> Outcome<bool> {
        const LIMIT: f64 = 0.02;
        let Some(path) = self.reference.as_ref().filter(|_| frame == REFERENCE_FRAMES) else { return Ok(false) };
        let bytes = fs::read(path)?;
        let start = HEADER + 12 * positions.len() * frame;
        let last = bytes.get(start..).ok_or("the reference is too short")?.chunks_exact(4);
        let numbers = last.map(|bytes| f32::from_le_bytes(std::array::from_fn(|i| bytes[i])));
        let squares = numbers.zip(positions.iter().flatten()).map(|(a, b)| f64::from(a - b) * f64::from(a - b));
        Ok((squares.sum::<f64>() / positions.len() as f64).sqrt() > LIMIT)
    }
}

const HEADER: usize = 128;

/// Half a second.
pub(crate) const REFERENCE_FRAMES: usize = 30;

/// The header of a file of NumPy, version 1.0.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({},), }}", shape.join(", "));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((HEADER as u16 - 10).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = HEADER - 11).into_bytes());
    bytes
}

/// Writes an array; `kind` is NumPy's name of the number.
pub(crate) fn save(path: &Path, kind: &str, shape: &[usize], numbers: impl IntoIterator<Item = u8>) -> Outcome<()> {
    let mut bytes = header(kind, shape);
    bytes.extend(numbers);
    Ok(fs::write(path, bytes)?)
}

/// `positions.npy`, written frame by frame: a long run of a fine sheet does not fit into memory.
pub(crate) struct Frames {
    file: BufWriter<File>,
    count: usize,
    vertices: usize,
}

impl Frames {
    pub(crate) fn create(path: &Path) -> Outcome<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&[0; HEADER])?;
        Ok(Self { file, count: 0, vertices: 0 })
    }

    pub(crate) fn push(&mut self, positions: &[[f32; 3]]) -> Outcome<()> {
        for number in positions.iter().flatten() {
            self.file.write_all(&number.to_le_bytes())?;
        }
        self.count += 1;
        self.vertices = positions.len();
        Ok(())
    }

    pub(crate) fn close(mut self) -> Outcome<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header("<f4", &[self.count, self.vertices, 3]))?;
        Ok(self.file.flush()?)
    }
}
