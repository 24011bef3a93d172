//! USD, as text (`.usda`), with the points of each frame as time samples.
//!
//! ```text
//! #usda 1.0
//! ( defaultPrim, upAxis = "Y", metersPerUnit = 1, timeCodesPerSecond = fps, startTimeCode = 0, endTimeCode )
//! def Xform "<cloth>"
//!   def Mesh "mesh"
//!     faceVertexCounts, faceVertexIndices, primvars:st       topology, once
//!     points, normals, extent                                .timeSamples = { frame: [ … ], … }
//! ```
//!
//! A time code is a frame. Points have the shortest digits that read back to the bit; normals, which are there because
//! viewers shade a mesh without subdivision flat, have four decimals. Texture coordinates are face-varying, so
//! seams need no split vertices.
//!
//! Limits: text, about 60 bytes per vertex and frame: `usdcat -o sheet.usdc sheet.usda` packs it. The frames are read
//! three times, as USD keeps the samples of an attribute together. At most 2³¹ − 1 vertices. Prim names have ASCII
//! letters, digits and `_` only; the cloth's own name is the prim's `displayName`.

use std::io::{self, Write};

use crate::error::{Cause, InputError, IoError};
use crate::export::{Exported, Format, Job};
use crate::mesh::{RestMesh, vertex_normals};
use crate::partial::write_file;
use crate::text::write_f32;

pub(crate) const FORMAT: Format = Format {
    name: "usd",
    extension: "usda",
    description: "OpenUSD as text, points as time samples: usdview, Houdini, Blender, Omniverse",
    limits: "large, about 60 bytes per vertex and frame; at most 2147483647 vertices",
    written_by_run: false,
    write: export,
};

fn export(job: &mut Job<'_>) -> Result<Exported, IoError> {
    let path = job.file(FORMAT.extension);
    write_file(&path, |out| {
        let (found, limit) = (job.rest.positions.len(), i32::MAX as usize);
        if found > limit {
            return Err(InputError::FormatLimit { format: FORMAT.name, what: "vertices", found, limit }.into());
        }
        write_stage(out, job.rest.name, job.frames.frame_count(), job.clip.fps)?;
        write_topology(out, job.rest)?;
        let mut normals = Vec::new();
        write_samples(out, job, "float3[] extent", write_extent)?;
        write_samples(out, job, "point3f[] points", write_tuples)?;
        let triangles = job.rest.triangles;
        write_samples(out, job, "normal3f[] normals", |out, positions| {
            vertex_normals(positions, triangles, &mut normals);
            for value in normals.as_flattened_mut() {
                *value = (*value * 1e4).round() / 1e4;
            }
            write_tuples(out, &normals)
        })?;
        Ok(out.write_all(b"    }\n}\n")?)
    })?;
    Ok(Exported { path, notes: Vec::new() })
}

fn write_stage(out: &mut impl Write, name: &str, frame_count: usize, fps: f64) -> io::Result<()> {
    let (prim, display_name, last) = (prim_name(name), quoted(name), frame_count.saturating_sub(1));
    write!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"{prim}\"\n    endTimeCode = {last}\n    framesPerSecond = {fps}\n    \
         metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = {fps}\n    upAxis = \"Y\"\n)\n\n\
         def Xform \"{prim}\" (\n    displayName = {display_name}\n    kind = \"component\"\n)\n{{\n    \
         def Mesh \"mesh\"\n    {{\n"
    )
}

fn write_topology(out: &mut impl Write, mesh: &RestMesh<'_>) -> io::Result<()> {
    // A linen blue, in USD's linear colours.
    out.write_all(
        b"        uniform bool doubleSided = 1\n        uniform token subdivisionScheme = \"none\"\n        \
          color3f[] primvars:displayColor = [(0.16, 0.27, 0.46)]\n",
    )?;
    write_list(out, "int[] faceVertexCounts", mesh.triangles, |out, _| write!(out, "3"))?;
    write_list(out, "int[] faceVertexIndices", mesh.triangles.as_flattened(), |out, vertex| write!(out, "{vertex}"))?;
    if let Some(uv) = mesh.uv {
        write_list(out, "texCoord2f[] primvars:st", uv.coordinates, |out, coordinate| write_tuple(out, coordinate))?;
        out.write_all(b"        texCoord2f[] primvars:st (\n            interpolation = \"faceVarying\"\n        )\n")?;
        write_list(out, "int[] primvars:st:indices", uv.triangles.as_flattened(), |out, index| write!(out, "{index}"))?;
    }
    out.write_all(b"        normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n")
}

fn write_list<T, W: Write>(
    out: &mut W,
    attribute: &str,
    values: &[T],
    mut write_value: impl FnMut(&mut W, &T) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, "        {attribute} = [")?;
    write_separated(out, values, &mut write_value)?;
    out.write_all(b"]\n")
}

fn write_samples<W: Write>(
    out: &mut W,
    job: &mut Job<'_>,
    attribute: &str,
    mut write_value: impl FnMut(&mut W, &[[f32; 3]]) -> io::Result<()>,
) -> Result<(), Cause> {
    writeln!(out, "        {attribute}.timeSamples = {{")?;
    let mut positions = Vec::new();
    for frame in 0..job.frames.frame_count() {
        job.read_finite(frame, &mut positions)?;
        write!(out, "            {frame}: ")?;
        write_value(out, &positions)?;
        out.write_all(b",\n")?;
    }
    Ok(out.write_all(b"        }\n")?)
}

fn write_extent(out: &mut impl Write, positions: &[[f32; 3]]) -> io::Result<()> {
    let mut extent = [positions.first().copied().unwrap_or_default(); 2];
    for position in positions {
        for (axis, &value) in position.iter().enumerate() {
            extent[0][axis] = extent[0][axis].min(value);
            extent[1][axis] = extent[1][axis].max(value);
        }
    }
    write_tuples(out, &extent)
}

fn write_tuples(out: &mut impl Write, values: &[[f32; 3]]) -> io::Result<()> {
    out.write_all(b"[")?;
    write_separated(out, values, &mut |out, value| write_tuple(out, value))?;
    out.write_all(b"]")
}

fn write_tuple(out: &mut impl Write, values: &[f32]) -> io::Result<()> {
    out.write_all(b"(")?;
    write_separated(out, values, &mut |out, &value| write_f32(out, value))?;
    out.write_all(b")")
}

fn write_separated<T, W: Write>(
    out: &mut W,
    values: &[T],
    write_value: &mut impl FnMut(&mut W, &T) -> io::Result<()>,
) -> io::Result<()> {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.write_all(b", ")?;
        }
        write_value(out, value)?;
    }
    Ok(())
}

/// An identifier for the cloth: ASCII, since readers before USD 24.03 refuse others.
fn prim_name(name: &str) -> String {
    let mut identifier: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if !identifier.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        identifier.insert_str(0, "cloth_");
    }
    identifier
}

/// A string literal on one line.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            _ if letter.is_control() => literal.push(' '),
            _ => literal.push(letter),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_literals() {
        for (name, identifier, literal) in [
            ("sheet", "sheet", "\"sheet\""),
            ("sheet \"A\"/2", "sheet__A__2", "\"sheet \\\"A\\\"/2\""),
            ("2nd", "cloth_2nd", "\"2nd\""),
            ("", "cloth_", "\"\""),
            ("布\n\\", "cloth____", "\"布 \\\\\""),
        ] {
            assert_eq!((prim_name(name).as_str(), quoted(name).as_str()), (identifier, literal), "names of {name:?}");
        }
    }

    #[test]
    fn tuples_are_separated() {
        let mut out = Vec::new();
        write_tuples(&mut out, &[[0.0, -0.5, 1e-7], [1.0, 2.0, 3.0]]).unwrap();
        assert_eq!(out, b"[(0, -0.5, 1e-7), (1, 2, 3)]", "list of points");
        out.clear();
        write_extent(&mut out, &[[0.0, 5.0, -1.0], [1.0, 2.0, 3.0]]).unwrap();
        assert_eq!(out, b"[(0, 2, -1), (1, 5, 3)]", "bounds");
    }
}
