//! Writes a small run folder in all formats, without a simulator: `cargo run --example sample_run -- OUT_DIR`.
//!
//! `xtask/python/readers/check_formats.py` reads it with other people's readers. A waving sheet of 9 × 7 vertices, and
//! a tube with a seam in its texture map and a name that is hard on file names, identifiers and quotes.

use std::error::Error;
use std::f64::consts::TAU;
use std::path::Path;
use std::{env, fs};

use muslin_io::{Clip, FORMATS, Group, NpyReader, NpyWriter, RestMesh, Uv, export, file_stem, write_obj};
use serde_json::{Value, json};

const FRAME_COUNT: usize = 12;
const CLIP: Clip = Clip { fps: 24.0 };

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::args().nth(1).ok_or("give the folder to write to")?;
    let out = Path::new(&out);
    fs::create_dir_all(out)?;
    let cloths = [sheet().write(out)?, tube().write(out)?];
    let frames: Vec<Value> =
        (1..FRAME_COUNT).map(|frame| json!({ "frame": frame, "time": frame as f64 / CLIP.fps })).collect();
    let report = json!({ "version": "0.1.0", "scene": "sample", "cloths": cloths, "frames": frames });
    fs::write(out.join("report.json"), serde_json::to_string_pretty(&report)?)?;
    Ok(())
}

/// A grid of `columns` × `rows` vertices, bent by `shape` into a moving surface.
struct Cloth {
    name: &'static str,
    columns: u32,
    rows: u32,
    /// Whether the last column is joined to the first.
    closed: bool,
    /// Position at (u, v) in the unit square and a time in seconds.
    shape: fn(f64, f64, f64) -> [f64; 3],
}

fn sheet() -> Cloth {
    let shape = |u, v, time| [u, 0.1 * libm::sin(TAU * (u + time)) * libm::cos(TAU * (v - time)), 0.75 * v];
    Cloth { name: "sheet", columns: 9, rows: 7, closed: false, shape }
}

fn tube() -> Cloth {
    let shape = |u: f64, v: f64, time: f64| {
        let radius = 0.2 + 0.05 * libm::sin(TAU * (v + time));
        [radius * libm::cos(TAU * u), v, -radius * libm::sin(TAU * u)]
    };
    Cloth { name: "sheet \"A\"/2", columns: 8, rows: 5, closed: true, shape }
}

impl Cloth {
    fn write(&self, out: &Path) -> Result<Value, Box<dyn Error>> {
        let cells = if self.closed { self.columns } else { self.columns - 1 };
        let coordinates: Vec<[f32; 2]> = (0..self.rows)
            .flat_map(|row| (0..=cells).map(move |column| (row, column)))
            .map(|(row, column)| [column as f32 / cells as f32, row as f32 / (self.rows - 1) as f32])
            .collect();
        let uv_triangles = triangles(cells, self.rows, cells + 1, cells + 1);
        let vertex_triangles = triangles(cells, self.rows, self.columns, self.columns);
        let lower: Vec<u32> = (0..vertex_triangles.len() as u32 / 2).collect();
        let rest = RestMesh {
            name: self.name,
            positions: &self.frame(0.0),
            triangles: &vertex_triangles,
            uv: Some(Uv { coordinates: &coordinates, triangles: &uv_triangles }),
            groups: &[Group { name: "lower half", triangles: &lower }],
        };

        let stem = file_stem(self.name);
        write_obj(out.join(format!("{stem}.obj")), &rest)?;
        let cache = out.join(format!("{stem}.npy"));
        let mut writer = NpyWriter::create(&cache, rest.positions.len())?;
        for frame in 0..FRAME_COUNT {
            writer.append(&self.frame(frame as f64 / CLIP.fps))?;
        }
        for format in FORMATS.iter().filter(|format| !format.written_by_run) {
            export(format, out, &rest, &mut NpyReader::open(&cache)?, CLIP)?;
        }
        let (vertices, triangles) = (rest.positions.len(), rest.triangles.len());
        Ok(json!({ "name": self.name, "file_stem": stem, "vertices": vertices, "triangles": triangles }))
    }

    fn frame(&self, time: f64) -> Vec<[f32; 3]> {
        let cells = if self.closed { self.columns } else { self.columns - 1 };
        (0..self.rows)
            .flat_map(|row| (0..self.columns).map(move |column| (row, column)))
            .map(|(row, column)| {
                let (u, v) = (f64::from(column) / f64::from(cells), f64::from(row) / f64::from(self.rows - 1));
                (self.shape)(u, v, time).map(|value| value as f32)
            })
            .collect()
    }
}

/// The triangles of a grid of which each row has `stride` vertices, and column `wrap` is column 0.
fn triangles(cells: u32, rows: u32, stride: u32, wrap: u32) -> Vec<[u32; 3]> {
    let vertex = |row: u32, column: u32| row * stride + column % wrap;
    (0..rows - 1)
        .flat_map(|row| (0..cells).map(move |column| (row, column)))
        .flat_map(|(row, column)| {
            let [a, b] = [vertex(row, column), vertex(row, column + 1)];
            let [c, d] = [vertex(row + 1, column + 1), vertex(row + 1, column)];
            [[a, c, b], [a, d, c]]
        })
        .collect()
}
