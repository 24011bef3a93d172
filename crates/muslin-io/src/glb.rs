//! GLB: binary glTF 2.0, moved by morph targets.
//!
//! ```text
//! glTF, 2, length            12 bytes
//! length, JSON, …            asset, scene, node, mesh, material, animation, accessors
//! length, BIN\0, …           indices, base (positions, normals, uv), targets (deltas of both), times, weights
//! ```
//!
//! Frame 0 is the base mesh; every other frame that is kept is a target that holds its difference from frame 0. The
//! animation blends linearly from the weights of one frame, all 0 but its own, to those of the next. Vertices keep
//! their numbers; those on a seam of the texture map are repeated at the end, once for each further coordinate.
//! glTF's texture origin is at the top left, so v becomes 1 − v.
//!
//! Limits: the data grow with frames × vertices and the weights with frames², so at most 240 targets (WebGL 2
//! promises 256 texture layers, one of which three.js uses per target) and 64 MB are written. A longer clip keeps
//! evenly spaced frames, the first and the last among them, each at its own time, and a note says how many. Two frames
//! are kept even where they alone exceed 64 MB, up to the 4 GiB that the format can address.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::bytes::{extend_f32, extend_u32};
use crate::error::{Cause, InputError, IoError};
use crate::export::{Exported, Format, Job};
use crate::frames::{Clip, FrameSource};
use crate::mesh::{RestMesh, SplitMesh, first_not_finite, vertex_normals};
use crate::partial::write_file;

pub(crate) const FORMAT: Format = Format {
    name: "glb",
    extension: "glb",
    description: "binary glTF 2.0 with morph targets: plays in browsers, three.js, Blender",
    limits: "keeps at most 241 frames and about 64 MB, evenly spaced, and blends between them",
    written_by_run: false,
    write: export,
};

const MOST_TARGETS: usize = 240;
const BUDGET_BYTES: usize = 64_000_000;
/// What a target adds to the JSON, generously: two accessors with bounds, two buffer views, names and numbers.
const TARGET_JSON_BYTES: usize = 640;
/// The JSON without targets, generously.
const BASE_JSON_BYTES: usize = 4096;

/// A linen blue, in the linear colours of glTF.
const COLOR: [f32; 4] = [0.16, 0.27, 0.46, 1.0];

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

fn export(job: &mut Job<'_>) -> Result<Exported, IoError> {
    let path = job.file(FORMAT.extension);
    let split = SplitMesh::new(job.rest);
    let plan =
        Plan::new(job.frames.frame_count(), job.rest.positions.len() + split.copies.len(), split.triangles.len());
    write_file(&path, |out| {
        plan.check()?;
        let (json, binary) = build(job, &split, &plan)?;
        let json = json.to_string().into_bytes();
        Ok(write_chunks(out, json, binary)?)
    })?;
    let notes = plan.notes().iter().map(|note| format!("{} {note}", path.display())).collect();
    Ok(Exported { path, notes })
}

/// The motion of a cloth as the bytes of a GLB file.
pub fn glb_bytes(rest: &RestMesh<'_>, frames: &mut dyn FrameSource, clip: Clip) -> Result<Vec<u8>, IoError> {
    let mut job = Job { dir: Path::new(""), rest, frames, clip };
    let path = job.file(FORMAT.extension);
    let bytes = job.check().map_err(Cause::from).and_then(|()| {
        let split = SplitMesh::new(rest);
        let vertices = rest.positions.len() + split.copies.len();
        let plan = Plan::new(job.frames.frame_count(), vertices, split.triangles.len());
        plan.check()?;
        let (json, binary) = build(&mut job, &split, &plan)?;
        let mut out = Vec::new();
        write_chunks(&mut out, json.to_string().into_bytes(), binary)?;
        Ok(out)
    });
    bytes.map_err(|cause| IoError::write(&path, cause))
}

/// Which frames are kept, and what that costs.
struct Plan {
    frame_count: usize,
    target_count: usize,
    /// Estimate of the whole file, from above.
    bytes: usize,
}

impl Plan {
    fn new(frame_count: usize, vertex_count: usize, triangle_count: usize) -> Self {
        let base = BASE_JSON_BYTES + 32 * vertex_count + 12 * triangle_count; // position, normal, uv
        let cost = |targets: usize| {
            base + targets * (24 * vertex_count + TARGET_JSON_BYTES) + 4 * (targets + 1) * (targets + 1)
        };
        let most = MOST_TARGETS.min(frame_count.saturating_sub(1));
        let target_count = (1..=most).rev().find(|&targets| cost(targets) <= BUDGET_BYTES).unwrap_or(most.min(1));
        Self { frame_count, target_count, bytes: cost(target_count) }
    }

    /// The frame that is kept as number `index`; 0 is the base.
    fn frame(&self, index: usize) -> usize {
        match self.target_count {
            0 => 0,
            targets => (2 * index * (self.frame_count - 1) + targets) / (2 * targets), // rounded to the nearest
        }
    }

    fn check(&self) -> Result<(), InputError> {
        let limit = u32::MAX as usize;
        if self.bytes <= limit {
            return Ok(());
        }
        Err(InputError::FormatLimit { format: FORMAT.name, what: "bytes", found: self.bytes, limit })
    }

    fn notes(&self) -> Vec<String> {
        let (kept, all) = (self.target_count + 1, self.frame_count);
        let megabytes = |bytes: usize| bytes.div_ceil(1_000_000);
        let mut notes = Vec::new();
        if kept < all {
            notes.push(format!(
                "keeps {kept} of {all} frames, evenly spaced with the first and the last, and blends between them: \
                 a glb gets at most {MOST_TARGETS} morph targets and {} MB",
                megabytes(BUDGET_BYTES)
            ));
        }
        if self.bytes > BUDGET_BYTES {
            notes.push(format!(
                "has about {} MB, which many browsers refuse: the mesh is too fine for a glb",
                megabytes(self.bytes)
            ));
        }
        notes
    }
}

fn build(job: &mut Job<'_>, split: &SplitMesh, plan: &Plan) -> Result<(Value, Vec<u8>), Cause> {
    let mut parts = Parts { binary: Vec::with_capacity(plan.bytes), ..Parts::default() };
    let mut base = Frame::default();
    base.read(job, split, 0)?;
    let indices = parts.indices(&split.triangles);
    let mut attributes =
        json!({ "POSITION": parts.bounded(&base.positions), "NORMAL": parts.attribute(&base.normals) });
    if !split.uv.is_empty() {
        let flipped: Vec<[f32; 2]> = split.uv.iter().map(|&[u, v]| [u, 1.0 - v]).collect();
        attributes["TEXCOORD_0"] = json!(parts.attribute(&flipped));
    }

    let mut targets = Vec::with_capacity(plan.target_count);
    let mut frame = Frame::default();
    for index in 1..=plan.target_count {
        frame.read(job, split, plan.frame(index))?;
        frame.subtract(&base);
        // Two finite positions can be too far apart for their difference.
        if let Some(vertex) = first_not_finite(&frame.positions) {
            return Err(InputError::FrameNotFinite { frame: plan.frame(index), vertex }.into());
        }
        targets.push(json!({ "POSITION": parts.bounded(&frame.positions), "NORMAL": parts.attribute(&frame.normals) }));
    }

    let name = job.rest.name;
    let mut primitive = json!({ "attributes": attributes, "indices": indices, "material": 0, "mode": 4 });
    let mut mesh = json!({ "name": name });
    let mut animations = Vec::new();
    if plan.target_count > 0 {
        let names: Vec<String> = (1..=plan.target_count).map(|index| format!("frame {}", plan.frame(index))).collect();
        primitive["targets"] = Value::from(targets);
        mesh["weights"] = json!(vec![0; plan.target_count]);
        mesh["extras"] = json!({ "targetNames": names }); // a convention: three.js and Blender show them
        animations.push(animation(&mut parts, plan, job.clip.fps));
    }
    mesh["primitives"] = json!([primitive]);

    let mut json = json!({
        "asset": { "version": "2.0", "generator": concat!("muslin ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "name": name, "mesh": 0 }],
        "meshes": [mesh],
        "materials": [{
            "name": "cloth",
            "doubleSided": true,
            "pbrMetallicRoughness": { "baseColorFactor": COLOR, "metallicFactor": 0.0, "roughnessFactor": 0.85 },
        }],
        "buffers": [{ "byteLength": parts.binary.len() }],
        "bufferViews": parts.views,
        "accessors": parts.accessors,
    });
    if !animations.is_empty() {
        json["animations"] = Value::from(animations); // glTF has no empty lists
    }
    Ok((json, parts.binary))
}

fn animation(parts: &mut Parts, plan: &Plan, fps: f64) -> Value {
    let keys = plan.target_count + 1;
    let times: Vec<[f32; 1]> = (0..keys).map(|key| [(plan.frame(key) as f64 / fps) as f32]).collect();
    let mut weights = vec![[0.0_f32]; keys * plan.target_count];
    for key in 1..keys {
        weights[key * plan.target_count + key - 1] = [1.0];
    }
    let (times, weights) = (parts.samples(&times, true), parts.samples(&weights, false));
    json!({
        "name": "simulation",
        "samplers": [{ "input": times, "output": weights, "interpolation": "LINEAR" }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
    })
}

/// A frame with its normals, and with the copies at seams.
#[derive(Default)]
struct Frame {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
}

impl Frame {
    fn read(&mut self, job: &mut Job<'_>, split: &SplitMesh, frame: usize) -> Result<(), Cause> {
        job.read_finite(frame, &mut self.positions)?;
        // From the triangles before splitting: shading does not show the seams of the texture.
        vertex_normals(&self.positions, job.rest.triangles, &mut self.normals);
        split.append_copies(&mut self.positions);
        split.append_copies(&mut self.normals);
        Ok(())
    }

    fn subtract(&mut self, base: &Self) {
        for (values, base) in [(&mut self.positions, &base.positions), (&mut self.normals, &base.normals)] {
            for (value, base) in values.as_flattened_mut().iter_mut().zip(base.as_flattened()) {
                *value -= base;
            }
        }
    }
}

/// The binary part as it grows, with the entries that describe it. Everything has 4 bytes, so all is aligned.
#[derive(Default)]
struct Parts {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Parts {
    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let view = self.view(Some(ELEMENT_ARRAY_BUFFER), 12 * triangles.len());
        extend_u32(&mut self.binary, triangles.as_flattened());
        self.accessor(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "count": 3 * triangles.len(), "type": "SCALAR",
        }))
    }

    /// Values per vertex.
    fn attribute<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        self.floats(values, Some(ARRAY_BUFFER), false)
    }

    /// Values per vertex with their bounds, which glTF requires of positions.
    fn bounded(&mut self, values: &[[f32; 3]]) -> usize {
        self.floats(values, Some(ARRAY_BUFFER), true)
    }

    /// Values of an animation.
    fn samples(&mut self, values: &[[f32; 1]], bounds: bool) -> usize {
        self.floats(values, None, bounds)
    }

    fn floats<const N: usize>(&mut self, values: &[[f32; N]], target: Option<u32>, bounds: bool) -> usize {
        let view = self.view(target, 4 * N * values.len());
        extend_f32(&mut self.binary, values.as_flattened());
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        let mut accessor = json!({ "bufferView": view, "componentType": FLOAT, "count": values.len(), "type": kind });
        if bounds {
            let bound = |pick: fn(f32, f32) -> f32, start: f32| {
                values
                    .iter()
                    .fold([start; N], |bound, value| std::array::from_fn(|axis| pick(bound[axis], value[axis])))
            };
            accessor["min"] = json!(bound(f32::min, f32::INFINITY).as_slice());
            accessor["max"] = json!(bound(f32::max, f32::NEG_INFINITY).as_slice());
        }
        self.accessor(accessor)
    }

    /// A view of what is appended next.
    fn view(&mut self, target: Option<u32>, bytes: usize) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

/// Writes header and chunks. [`Plan::check`] has made sure that the lengths fit.
fn write_chunks(out: &mut impl Write, mut json: Vec<u8>, binary: Vec<u8>) -> std::io::Result<()> {
    json.resize(json.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + json.len() + 8 + binary.len();
    out.write_all(b"glTF")?;
    out.write_all(&2_u32.to_le_bytes())?;
    out.write_all(&(total as u32).to_le_bytes())?;
    for (kind, content) in [(b"JSON", &json), (b"BIN\0", &binary)] {
        out.write_all(&(content.len() as u32).to_le_bytes())?;
        out.write_all(kind)?;
        out.write_all(content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_to_the_byte() {
        let mut out = Vec::new();
        write_chunks(&mut out, b"{\"a\":1}".to_vec(), vec![1, 2, 3, 4]).unwrap();
        let expected = b"glTF\x02\0\0\0\x28\0\0\0\x08\0\0\0JSON{\"a\":1} \x04\0\0\0BIN\0\x01\x02\x03\x04";
        assert_eq!(out, expected, "container");
    }

    #[test]
    fn a_short_clip_keeps_every_frame() {
        let plan = Plan::new(181, 4225, 8192);
        assert_eq!(
            (0..=plan.target_count).map(|i| plan.frame(i)).collect::<Vec<_>>(),
            (0..181).collect::<Vec<_>>(),
            "all"
        );
        assert_eq!(plan.notes(), [""; 0], "nothing to say");
        let still = Plan::new(1, 4225, 8192);
        assert_eq!(
            (still.target_count, still.frame(0), still.notes().len()),
            (0, 0, 0),
            "a single frame does not move"
        );
    }

    #[test]
    fn a_long_clip_is_resampled_from_the_first_to_the_last_frame() {
        for (frame_count, vertex_count) in [(242, 100), (1001, 4225), (600, 16641), (60, 263_169), (7, 1_050_625)] {
            let plan = Plan::new(frame_count, vertex_count, 2 * vertex_count);
            let kept: Vec<usize> = (0..=plan.target_count).map(|i| plan.frame(i)).collect();
            assert!(plan.target_count <= MOST_TARGETS, "{} targets", plan.target_count);
            assert_eq!((kept[0], kept[plan.target_count]), (0, frame_count - 1), "both ends are kept");
            assert!(kept.is_sorted_by(|a, b| a < b), "frames are in order and distinct: {kept:?}");
            assert!(plan.bytes <= BUDGET_BYTES || plan.target_count == 1, "{} bytes", plan.bytes);
            assert!(plan.notes()[0].contains("evenly spaced"), "and this is said");
        }
        let words = "keeps 241 of 1001 frames, evenly spaced with the first and the last, and blends between them: \
            a glb gets at most 240 morph targets and 64 MB";
        assert_eq!(Plan::new(1001, 100, 200).notes(), [words], "wording");
        let words = "has about 81 MB, which many browsers refuse: the mesh is too fine for a glb";
        assert_eq!(Plan::new(2, 1_000_000, 2_000_000).notes(), [words], "wording of a file beyond the budget");
    }

    #[test]
    fn what_four_gigabytes_cannot_hold_is_refused() {
        let error = Plan::new(2, 100_000_000, 200_000_000).check().unwrap_err();
        let words = "8000004752 bytes are too many, glb holds at most 4294967295; use npy or a coarser mesh";
        assert_eq!(error.to_string(), words, "wording");
    }
}
