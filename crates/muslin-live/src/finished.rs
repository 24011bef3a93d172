//! The files of a finished run, read for whoever shows it: the page has no reader of its own.
//!
//! A page that shows a run asks for the header of each `.npy` and reads the frames itself, piece by piece, since a file may be larger than
//! memory; it asks for each `.obj` whole.

use muslin_io::{NpyHeader, read_obj};
use muslin_scenes::mesh_files::{from_obj, uv_by_vertex};
use serde_json::{Value, json};

use crate::buffer::Numbers;
use crate::live::Sections;
use crate::reply::Refusal;

/// Where the frames of a `.npy` are, from its first bytes and the length of the whole.
pub(crate) fn npy(name: &str, start: &[u8], file_bytes: u64) -> Result<Value, Refusal> {
    let header = NpyHeader::read(start).map_err(|error| Refusal::new(format!("cannot read {name}: {error}")))?;
    Ok(json!({
        "start": header.data_start,
        "frame_bytes": header.frame_bytes,
        "vertices": header.vertex_count,
        "frames": header.frame_count,
        "whole": header.whole_frames(file_bytes),
    }))
}

/// The mesh of an `.obj`.
pub(crate) fn obj(name: &str, bytes: &[u8]) -> Result<Sections, Refusal> {
    let mesh = read_obj(bytes)
        .map_err(|error| Refusal::new(format!("cannot read {name}: line {}: {}", error.line, error.problem)))?;
    let mesh = from_obj(mesh);
    let positions = mesh.positions.iter().flatten().map(|&x| x as f32).collect();
    let uv = uv_by_vertex(&mesh);
    let mut sections = vec![
        ("positions", Numbers::Floats(positions)),
        ("triangles", Numbers::Indices(mesh.triangles.into_flattened())),
    ];
    sections.extend(uv.map(|uv| ("uv", Numbers::Floats(uv.into_flattened()))));
    Ok(sections)
}
