//! PLY (Stanford), a folder with a file for each frame.
//!
//! A text header, then binary, little-endian: for each vertex x y z (and s t) as float32, for each triangle the byte 3
//! and three int32.
//!
//! ```text
//! ply
//! format binary_little_endian 1.0
//! comment muslin: metres, +y up
//! element vertex 4225
//! property float x                  … y, z; s and t with a texture map
//! element face 8192
//! property list uchar int vertex_indices
//! end_header
//! ```
//!
//! Limits: at most 2³¹ − 1 vertices. A vertex has one texture coordinate, so a texture map with seams is left out, with
//! a note: splitting the vertices would break their correspondence with the cache.

use std::io::Write;

use crate::bytes::{extend_f32, extend_u32};
use crate::error::{InputError, IoError};
use crate::export::{Exported, Format, Job};
use crate::mesh::{RestMesh, SplitMesh};
use crate::names::file_stem;
use crate::partial::write_sequence;

pub(crate) const FORMAT: Format = Format {
    name: "ply",
    extension: "ply",
    description: "Stanford PLY, a folder with a binary file for each frame",
    limits: "no frame rate; no uv where the map has seams; at most 2147483647 vertices",
    written_by_run: false,
    write: export,
};

fn export(job: &mut Job<'_>) -> Result<Exported, IoError> {
    let path = job.folder(FORMAT.extension);
    let stem = file_stem(job.rest.name);
    let mut notes = Vec::new();
    let split = SplitMesh::new(job.rest);
    if split.has_seams() {
        notes.push(format!(
            "{} has no texture coordinates: the map has seams, and ply has one coordinate per vertex",
            path.display()
        ));
    }
    let uv = if split.has_seams() { &[][..] } else { &split.uv[..] };
    check_count(job.rest.positions.len()).map_err(|error| IoError::write(&path, error))?;
    let header = header(job.rest, !uv.is_empty());
    let faces = faces(job.rest.triangles);
    let (mut positions, mut bytes) = (Vec::new(), Vec::new());
    write_sequence(
        &path,
        |frame| format!("{stem}_{frame:04}.ply"),
        job.frames.frame_count(),
        |frame, out| {
            job.read_finite(frame, &mut positions)?;
            bytes.clear();
            vertices(&mut bytes, &positions, uv);
            out.write_all(header.as_bytes())?;
            out.write_all(&bytes)?;
            Ok(out.write_all(&faces)?)
        },
    )?;
    Ok(Exported { path, notes })
}

fn check_count(found: usize) -> Result<(), InputError> {
    let limit = i32::MAX as usize;
    if found <= limit {
        return Ok(());
    }
    Err(InputError::FormatLimit { format: FORMAT.name, what: "vertices", found, limit })
}

fn header(mesh: &RestMesh<'_>, has_uv: bool) -> String {
    let uv = if has_uv { "property float s\nproperty float t\n" } else { "" };
    let (vertex_count, triangle_count) = (mesh.positions.len(), mesh.triangles.len());
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment muslin: metres, +y up\n\
         element vertex {vertex_count}\nproperty float x\nproperty float y\nproperty float z\n{uv}\
         element face {triangle_count}\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

fn vertices(bytes: &mut Vec<u8>, positions: &[[f32; 3]], uv: &[[f32; 2]]) {
    if uv.is_empty() {
        return extend_f32(bytes, positions.as_flattened());
    }
    for (position, coordinate) in positions.iter().zip(uv) {
        extend_f32(bytes, position);
        extend_f32(bytes, coordinate);
    }
}

fn faces(triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(13 * triangles.len());
    for triangle in triangles {
        bytes.push(3);
        extend_u32(&mut bytes, triangle);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_to_the_byte() {
        let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
        let mesh = RestMesh { name: "t", positions: &positions, triangles: &[[0, 1, 2]], uv: None, groups: &[] };
        let words = "ply\nformat binary_little_endian 1.0\ncomment muslin: metres, +y up\nelement vertex 3\n\
            property float x\nproperty float y\nproperty float z\nproperty float s\nproperty float t\n\
            element face 1\nproperty list uchar int vertex_indices\nend_header\n";
        assert_eq!(header(&mesh, true), words, "header");
        assert_eq!(faces(mesh.triangles), b"\x03\0\0\0\0\x01\0\0\0\x02\0\0\0", "faces");
        let mut bytes = Vec::new();
        vertices(&mut bytes, &positions[1..2], &[[0.5, 2.0]]);
        assert_eq!(bytes, b"\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\x3f\0\0\0\x40", "vertex with texture coordinate");
    }
}
