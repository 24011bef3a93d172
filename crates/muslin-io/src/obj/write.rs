//! Writing OBJ: the rest mesh, and a file for each frame.

use std::io::{self, Write};
use std::path::Path;

use crate::error::IoError;
use crate::export::{Exported, Format, Job};
use crate::mesh::RestMesh;
use crate::names::file_stem;
use crate::partial::{write_file, write_sequence};
use crate::text::write_f32;

pub(crate) const FORMAT: Format = Format {
    name: "obj",
    extension: "obj",
    description: "Wavefront OBJ, a folder with a text file for each frame",
    limits: "large; no frame rate; white space in group names becomes _",
    written_by_run: false,
    write: export,
};

/// Writes the rest mesh: vertices with the shortest digits that read back to the bit, texture coordinates, triangles in
/// their order, and groups.
///
/// White space in the name of a group becomes `_`, as OBJ separates names by it.
pub fn write_obj(path: impl AsRef<Path>, mesh: &RestMesh<'_>) -> Result<(), IoError> {
    let path = path.as_ref();
    mesh.check().map_err(|error| IoError::write(path, error))?;
    write_file(path, |out| {
        write_positions(out, mesh.positions, mesh.triangles.len())?;
        Ok(write_topology(out, mesh)?)
    })
}

fn export(job: &mut Job<'_>) -> Result<Exported, IoError> {
    let path = job.folder(FORMAT.extension);
    let stem = file_stem(job.rest.name);
    let mut topology = Vec::new(); // the same in all frames
    write_topology(&mut topology, job.rest).map_err(|error| IoError::write(&path, error))?;
    let mut positions = Vec::new();
    write_sequence(
        &path,
        |frame| format!("{stem}_{frame:04}.obj"),
        job.frames.frame_count(),
        |frame, out| {
            job.read_finite(frame, &mut positions)?;
            write_positions(out, &positions, job.rest.triangles.len())?;
            Ok(out.write_all(&topology)?)
        },
    )?;
    Ok(Exported { path, notes: Vec::new() })
}

fn write_positions(out: &mut impl Write, positions: &[[f32; 3]], triangle_count: usize) -> io::Result<()> {
    writeln!(out, "# muslin: {} vertices, {triangle_count} triangles, metres, +y up", positions.len())?;
    for &[x, y, z] in positions {
        out.write_all(b"v ")?;
        write_f32(out, x)?;
        out.write_all(b" ")?;
        write_f32(out, y)?;
        out.write_all(b" ")?;
        write_f32(out, z)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_topology(out: &mut impl Write, mesh: &RestMesh<'_>) -> io::Result<()> {
    for &[u, v] in mesh.uv.map_or(&[][..], |uv| uv.coordinates) {
        out.write_all(b"vt ")?;
        write_f32(out, u)?;
        out.write_all(b" ")?;
        write_f32(out, v)?;
        out.write_all(b"\n")?;
    }
    let names: Vec<String> = mesh.groups.iter().map(|group| group_name(group.name)).collect();
    let mut memberships = memberships(mesh).into_iter().peekable();
    let (mut groups, mut groups_before) = (Vec::new(), Vec::new());
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        groups.clear();
        while let Some((_, group)) = memberships.next_if(|&(member, _)| member as usize == triangle) {
            groups.push(group);
        }
        if groups != groups_before {
            out.write_all(b"g")?;
            if groups.is_empty() {
                out.write_all(b" default")?;
            }
            for &group in &groups {
                write!(out, " {}", names[group])?;
            }
            out.write_all(b"\n")?;
            groups_before.clone_from(&groups);
        }
        let [a, b, c] = corners.map(from_one);
        match mesh.uv.map(|uv| uv.triangles[triangle].map(from_one)) {
            None => writeln!(out, "f {a} {b} {c}")?,
            Some([i, j, k]) => writeln!(out, "f {a}/{i} {b}/{j} {c}/{k}")?,
        }
    }
    Ok(())
}

/// The number of an index, as OBJ counts from 1.
fn from_one(index: u32) -> u64 {
    u64::from(index) + 1
}

/// Pairs of a triangle and the index of a group that holds it, by triangle.
fn memberships(mesh: &RestMesh<'_>) -> Vec<(u32, usize)> {
    let mut pairs = Vec::new();
    for (index, group) in mesh.groups.iter().enumerate() {
        pairs.extend(group.triangles.iter().map(|&triangle| (triangle, index)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The name as one word that neither starts a comment nor continues the line, nor means "no group".
fn group_name(name: &str) -> String {
    match name {
        "" => String::from("_"),
        "default" => String::from("default_"),
        _ => name
            .replace(|letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '#' | '\\'), "_"),
    }
}
