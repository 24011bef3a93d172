//! Reads binary glTF 2.0: the triangles of a mesh, and where its vertices are over time.
//!
//! ```text
//! x(t) = M(t) (p + Σ wₖ(t) dₖ)        p positions, d the morph targets, w their weights, M the node's matrix and those above it
//! ```
//!
//! Weights, translations, rotations and scales follow the channels of the first animation, by steps or linearly (rotations along the shortest
//! arc); what has no channel stays as the file has it, and before the first key and after the last everything stands still. Vertices are those of all
//! primitives of all nodes of the scene, one after the other.
//!
//! Limits: triangles only, data in the file's own binary chunk, positions and samples in float32. Refused by name: skins, sparse accessors, cubic splines, external or
//! text buffers, and any extension that the file says is required (Draco, meshopt and quantised positions among them).

use serde_json::Value;
use thiserror::Error;

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GlbError {
    /// It is no such file.
    #[error("it is not a binary glTF 2.0 file (.glb)")]
    NotGlb,
    /// Its parts do not fit together.
    #[error("it is broken: {0}")]
    Broken(String),
    /// It has what is not read here.
    #[error("it has {0}, which is not supported; export the mesh with morph targets, or as .npy or OBJ files")]
    Unsupported(String),
}

fn broken<T>(what: impl Into<String>) -> Result<T, GlbError> {
    Err(GlbError::Broken(what.into()))
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, GlbError> {
    Err(GlbError::Unsupported(what.into()))
}

/// The most numbers of all frames together: 4 GiB.
const MOST_NUMBERS: usize = 1 << 30;
/// A file whose nodes are nested more deeply is not a tree.
const DEEPEST: usize = 256;
/// A moment that is this part of a frame late is that of the frame: times are in float32.
const LATE: f64 = 1e-3;

/// A mesh that may move.
#[derive(Clone, Debug)]
pub struct GlbMesh {
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    pieces: Vec<Piece>,
    /// In s.
    end: f64,
}

/// One primitive of one node.
#[derive(Clone, Debug)]
struct Piece {
    positions: Vec<[f32; 3]>,
    targets: Vec<Vec<[f32; 3]>>,
    weights: Track,
    /// From the node to the root.
    nodes: Vec<Place>,
}

/// Where a node is over its parent.
#[derive(Clone, Debug)]
enum Place {
    /// By columns.
    Matrix([f64; 16]),
    Parts {
        translation: Track,
        rotation: Track,
        scale: Track,
    },
}

/// Some numbers over time.
#[derive(Clone, Debug)]
struct Track {
    times: Vec<f64>,
    /// One row for each time; one alone for what stands still.
    rows: Vec<Vec<f64>>,
    steps: bool,
}

impl Track {
    fn still(row: Vec<f64>) -> Self {
        Self { times: vec![0.0], rows: vec![row], steps: true }
    }

    /// The keys before and after a time, and how far it is between them.
    fn between(&self, time: f64) -> (&[f64], &[f64], f64) {
        let next = self.times.partition_point(|key| *key <= time);
        if next == 0 || next == self.times.len() {
            let row = &self.rows[next.saturating_sub(1).min(self.rows.len() - 1)];
            return (row, row, 0.0);
        }
        let part =
            if self.steps { 0.0 } else { (time - self.times[next - 1]) / (self.times[next] - self.times[next - 1]) };
        (&self.rows[next - 1], &self.rows[next], part)
    }

    fn at(&self, time: f64) -> Vec<f64> {
        let (a, b, part) = self.between(time);
        a.iter().zip(b).map(|(a, b)| a + (b - a) * part).collect()
    }

    /// A rotation, along the shortest arc.
    fn rotation_at(&self, time: f64) -> [f64; 4] {
        let (a, b, part) = self.between(time);
        let (a, mut b) = (unit(a), unit(b));
        let mut cosine: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        if cosine < 0.0 {
            (b, cosine) = (b.map(|x| -x), -cosine);
        }
        let angle = libm::acos(cosine.min(1.0));
        let sine = libm::sin(angle);
        // Nearly the same: along the chord.
        let (p, q) = if sine < 1e-6 {
            (1.0 - part, part)
        } else {
            (libm::sin((1.0 - part) * angle) / sine, libm::sin(part * angle) / sine)
        };
        unit(&[0, 1, 2, 3].map(|k| p * a[k] + q * b[k]))
    }
}

fn unit(q: &[f64]) -> [f64; 4] {
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 { [0, 1, 2, 3].map(|k| q[k] / length) } else { [0.0, 0.0, 0.0, 1.0] }
}

impl Place {
    /// By columns.
    fn matrix(&self, time: f64) -> [f64; 16] {
        let (translation, rotation, scale) = match self {
            Self::Matrix(matrix) => return *matrix,
            Self::Parts { translation, rotation, scale } => {
                (translation.at(time), rotation.rotation_at(time), scale.at(time))
            }
        };
        let [x, y, z, w] = rotation;
        let columns = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
            [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
            [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
        ];
        let mut matrix = [0.0; 16];
        for (k, column) in columns.iter().enumerate() {
            for (row, value) in column.iter().enumerate() {
                matrix[4 * k + row] = value * scale[k];
            }
        }
        matrix[12..15].copy_from_slice(&translation);
        matrix[15] = 1.0;
        matrix
    }
}

fn product(a: &[f64; 16], b: &[f64; 16]) -> [f64; 16] {
    std::array::from_fn(|i| (0..4).map(|k| a[4 * k + i % 4] * b[4 * (i / 4) + k]).sum())
}

impl GlbMesh {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.pieces.iter().map(|piece| piece.positions.len()).sum()
    }

    /// The vertices at a time in s, in m.
    pub fn positions(&self, time: f64) -> Vec<[f32; 3]> {
        let mut all = Vec::with_capacity(self.vertex_count());
        for piece in &self.pieces {
            let mut x: Vec<[f64; 3]> = piece.positions.iter().map(|p| p.map(f64::from)).collect();
            for (target, weight) in piece.targets.iter().zip(piece.weights.at(time)) {
                if weight != 0.0 {
                    for (x, d) in x.iter_mut().zip(target) {
                        *x = [0, 1, 2].map(|axis| x[axis] + weight * f64::from(d[axis]));
                    }
                }
            }
            let matrices = piece.nodes.iter().map(|node| node.matrix(time));
            let m = matrices.reduce(|below, above| product(&above, &below));
            all.extend(x.iter().map(|x| match &m {
                Some(m) => [0, 1, 2].map(|k| (m[k] * x[0] + m[4 + k] * x[1] + m[8 + k] * x[2] + m[12 + k]) as f32),
                None => x.map(|x| x as f32),
            }));
        }
        all
    }

    /// The vertices in every frame from time 0 to the last key, `fps` frames a second; one frame of what stands still.
    pub fn frames(&self, fps: f64) -> Result<Vec<Vec<[f32; 3]>>, GlbError> {
        let last = (self.end * fps - LATE).ceil().max(0.0);
        if (last + 1.0) * self.vertex_count() as f64 * 3.0 > MOST_NUMBERS as f64 {
            return unsupported(format!("{:.1} s of {} vertices, too much for memory", self.end, self.vertex_count()));
        }
        Ok((0..=last as usize).map(|frame| self.positions(frame as f64 / fps)).collect())
    }

    /// Leaves out vertices at the end until there are `count`, if each of them is always where an earlier one is, as the copies along
    /// the seams of a texture are.
    pub fn drop_copies(frames: &mut [Vec<[f32; 3]>], count: usize) {
        let Some(first) = frames.first().filter(|first| first.len() > count) else { return };
        let mut originals: Vec<usize> = (0..count).collect();
        let key = |p: &[f32; 3]| p.map(f32::to_bits);
        originals.sort_unstable_by_key(|&v| key(&first[v]));
        let is_copy = |copy: usize| {
            let place = originals.partition_point(|&v| key(&first[v]) < key(&first[copy]));
            let same = originals[place..].iter().take_while(|&&v| key(&first[v]) == key(&first[copy]));
            same.into_iter().any(|&v| frames.iter().all(|frame| frame.get(v) == frame.get(copy)))
        };
        if (count..first.len()).all(is_copy) {
            frames.iter_mut().for_each(|frame| frame.truncate(count));
        }
    }
}

/// Reads the mesh of a `.glb` file.
pub fn read_glb(bytes: &[u8]) -> Result<GlbMesh, GlbError> {
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    if bytes.get(..4) != Some(b"glTF") || word(4) != Some(2) {
        return Err(GlbError::NotGlb);
    }
    let chunk = |at: usize, kind: &[u8; 4]| {
        let length = word(at)? as usize;
        (bytes.get(at + 4..at + 8)? == kind)
            .then(|| bytes.get(at + 8..at.checked_add(8)?.checked_add(length)?))
            .flatten()
    };
    let Some(json) = chunk(12, b"JSON") else { return broken("it has no JSON, or is cut off") };
    let binary = chunk(20 + json.len(), b"BIN\0").unwrap_or(&[]);
    let json: Value = serde_json::from_slice(json).map_err(|error| GlbError::Broken(error.to_string()))?;
    File { json: &json, binary }.mesh()
}

/// The parts of a file.
struct File<'a> {
    json: &'a Value,
    binary: &'a [u8],
}

impl File<'_> {
    fn mesh(&self) -> Result<GlbMesh, GlbError> {
        if let Some(name) = self.list("extensionsRequired").first() {
            return unsupported(format!("the extension {}", name.as_str().unwrap_or("?")));
        }
        let scene = self.json["scene"].as_u64().unwrap_or(0) as usize;
        let mut mesh = GlbMesh { triangles: Vec::new(), pieces: Vec::new(), end: 0.0 };
        let roots = match self.list("scenes").get(scene) {
            Some(scene) => indices(&scene["nodes"]),
            // A file without scenes: every node that is in no other.
            None => {
                let below: Vec<usize> = self.list("nodes").iter().flat_map(|node| indices(&node["children"])).collect();
                (0..self.list("nodes").len()).filter(|node| !below.contains(node)).collect()
            }
        };
        for root in roots {
            self.add_node(root, &[], &mut mesh)?;
        }
        if mesh.triangles.is_empty() {
            return broken("it has no triangles");
        }
        let tracks = mesh.pieces.iter().flat_map(|piece| {
            let parts = piece.nodes.iter().flat_map(|node| match node {
                Place::Matrix(_) => Vec::new(),
                Place::Parts { translation, rotation, scale } => vec![translation, rotation, scale],
            });
            parts.chain([&piece.weights])
        });
        mesh.end = tracks.filter_map(|track| track.times.last().copied()).fold(0.0, f64::max);
        Ok(mesh)
    }

    fn list(&self, key: &str) -> &[Value] {
        self.json[key].as_array().map_or(&[], Vec::as_slice)
    }

    fn entry(&self, list: &str, index: usize) -> Result<&Value, GlbError> {
        self.list(list).get(index).map_or_else(|| broken(format!("there is no {list}[{index}]")), Ok)
    }

    fn add_node(&self, index: usize, above: &[Place], mesh: &mut GlbMesh) -> Result<(), GlbError> {
        let node = self.entry("nodes", index)?;
        if above.len() > DEEPEST {
            return broken("its nodes are nested in a circle");
        }
        let mut nodes = vec![self.place(node, index)?];
        nodes.extend_from_slice(above);
        if !node["mesh"].is_null() {
            if !node["skin"].is_null() {
                return unsupported("a skin");
            }
            self.add_mesh(node, index, &nodes, mesh)?;
        }
        indices(&node["children"]).into_iter().try_for_each(|child| self.add_node(child, &nodes, mesh))
    }

    fn add_mesh(&self, node: &Value, index: usize, nodes: &[Place], mesh: &mut GlbMesh) -> Result<(), GlbError> {
        let described = self.entry("meshes", number(&node["mesh"])?)?;
        for primitive in described["primitives"].as_array().map_or(&[][..], Vec::as_slice) {
            if primitive["mode"].as_u64().unwrap_or(4) != 4 {
                return unsupported("a primitive that is not of triangles");
            }
            let positions = self.vectors::<3>(&primitive["attributes"]["POSITION"])?;
            let mut targets = Vec::new();
            for target in primitive["targets"].as_array().map_or(&[][..], Vec::as_slice) {
                let moved = match &target["POSITION"] {
                    Value::Null => vec![[0.0; 3]; positions.len()],
                    index => self.vectors::<3>(index)?,
                };
                if moved.len() != positions.len() {
                    return broken("a morph target has another number of vertices than its mesh");
                }
                targets.push(moved);
            }
            let weights = [&node["weights"], &described["weights"]].into_iter().find_map(Value::as_array);
            let mut still: Vec<f64> = weights.into_iter().flatten().filter_map(Value::as_f64).collect();
            still.resize(targets.len(), 0.0);
            let weights = self.track(index, "weights", targets.len())?.unwrap_or(Track::still(still));
            let first = mesh.vertex_count() as u32;
            let corners = match &primitive["indices"] {
                Value::Null => (0..positions.len() as u32).collect(),
                index => self.corners(index)?,
            };
            if corners.iter().any(|&corner| corner as usize >= positions.len()) {
                return broken("a triangle has a vertex that does not exist");
            }
            mesh.triangles.extend(corners.chunks_exact(3).map(|c| [first + c[0], first + c[1], first + c[2]]));
            mesh.pieces.push(Piece { positions, targets, weights, nodes: nodes.to_vec() });
        }
        Ok(())
    }

    /// Where a node is.
    fn place(&self, node: &Value, index: usize) -> Result<Place, GlbError> {
        let part = |path: &str, still: &[f64]| {
            let given: Option<Vec<f64>> =
                node[path].as_array().map(|list| list.iter().filter_map(Value::as_f64).collect());
            let given = given.unwrap_or_else(|| still.to_vec());
            if given.len() != still.len() {
                return broken(format!("the {path} of nodes[{index}] is not of {} numbers", still.len()));
            }
            Ok(self.track(index, path, still.len())?.unwrap_or(Track::still(given)))
        };
        if let Some(matrix) = node["matrix"].as_array() {
            let matrix: Vec<f64> = matrix.iter().filter_map(Value::as_f64).collect();
            return match <[f64; 16]>::try_from(matrix) {
                Ok(matrix) => Ok(Place::Matrix(matrix)),
                Err(_) => broken(format!("the matrix of nodes[{index}] is not of 16 numbers")),
            };
        }
        Ok(Place::Parts {
            translation: part("translation", &[0.0; 3])?,
            rotation: part("rotation", &[0.0, 0.0, 0.0, 1.0])?,
            scale: part("scale", &[1.0; 3])?,
        })
    }

    /// What the first animation does to a node, if anything; rows of `width` numbers.
    fn track(&self, node: usize, path: &str, width: usize) -> Result<Option<Track>, GlbError> {
        let Some(animation) = self.list("animations").first() else { return Ok(None) };
        let channels = animation["channels"].as_array().map_or(&[][..], Vec::as_slice);
        let is_ours = |channel: &&Value| {
            channel["target"]["node"].as_u64() == Some(node as u64) && channel["target"]["path"] == path
        };
        let Some(channel) = channels.iter().find(is_ours) else { return Ok(None) };
        let sampler = &animation["samplers"][number(&channel["sampler"])?];
        let steps = match sampler["interpolation"].as_str().unwrap_or("LINEAR") {
            "LINEAR" => false,
            "STEP" => true,
            other => return unsupported(format!("{other} interpolation")),
        };
        let times: Vec<f64> = self.vectors::<1>(&sampler["input"])?.iter().map(|t| f64::from(t[0])).collect();
        if times.is_empty() || !times.iter().all(|t| t.is_finite()) || !times.is_sorted_by(|a, b| a < b) {
            return broken("the times of its animation do not increase");
        }
        let output = &sampler["output"];
        let numbers: Vec<f64> = match path {
            "weights" => self.vectors::<1>(output)?.as_flattened().iter().map(|x| f64::from(*x)).collect(),
            "rotation" => self.vectors::<4>(output)?.as_flattened().iter().map(|x| f64::from(*x)).collect(),
            _ => self.vectors::<3>(output)?.as_flattened().iter().map(|x| f64::from(*x)).collect(),
        };
        if numbers.len() != times.len() * width {
            return broken(format!("the {path} of its animation are not one for each time"));
        }
        if width == 0 {
            return Ok(None);
        }
        let rows = numbers.chunks_exact(width).map(<[f64]>::to_vec).collect();
        Ok(Some(Track { times, rows, steps }))
    }

    /// Vectors of N float32 each.
    fn vectors<const N: usize>(&self, index: &Value) -> Result<Vec<[f32; N]>, GlbError> {
        let accessor = self.entry("accessors", number(index)?)?;
        if accessor["componentType"] != 5126 {
            return unsupported("positions or samples that are not float32");
        }
        if accessor["type"] != ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1] {
            return broken("an accessor is of another type than its use");
        }
        let read =
            |bytes: &[u8]| std::array::from_fn(|k| f32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * k + byte])));
        self.elements(accessor, 4 * N, read)
    }

    /// The corners of triangles.
    fn corners(&self, index: &Value) -> Result<Vec<u32>, GlbError> {
        let accessor = self.entry("accessors", number(index)?)?;
        let size = match accessor["componentType"].as_u64() {
            Some(5121) => 1,
            Some(5123) => 2,
            Some(5125) => 4,
            _ => return broken("the indices of its triangles are not whole numbers"),
        };
        let read = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        self.elements(accessor, size, read)
    }

    /// What `read` makes of each element, of `size` bytes.
    fn elements<T>(&self, accessor: &Value, size: usize, read: impl Fn(&[u8]) -> T) -> Result<Vec<T>, GlbError> {
        if !accessor["sparse"].is_null() {
            return unsupported("a sparse accessor");
        }
        let count = number(&accessor["count"])?;
        if accessor["bufferView"].is_null() {
            return unsupported("an accessor without data");
        }
        let view = self.entry("bufferViews", number(&accessor["bufferView"])?)?;
        let buffer = number(&view["buffer"])?;
        if buffer != 0 || !self.entry("buffers", 0)?["uri"].is_null() {
            return unsupported("a buffer outside of the file's own");
        }
        let offset = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let (start, length) = (offset(&view["byteOffset"]), number(&view["byteLength"])?);
        let stride = match offset(&view["byteStride"]) {
            0 => size,
            stride => stride,
        };
        let end = start.checked_add(length);
        let data = end
            .and_then(|end| self.binary.get(start..end))
            .and_then(|data| data.get(offset(&accessor["byteOffset"])..));
        let needed = count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(size));
        match (data, needed) {
            (Some(data), Some(needed)) if needed <= data.len() => {
                Ok((0..count).map(|k| read(&data[k * stride..k * stride + size])).collect())
            }
            _ => broken("its data are cut off"),
        }
    }
}

/// An index or a count.
fn number(value: &Value) -> Result<usize, GlbError> {
    match value.as_u64().and_then(|number| usize::try_from(number).ok()) {
        Some(number) => Ok(number),
        None => broken("an index is missing, or is not a whole number"),
    }
}

fn indices(list: &Value) -> Vec<usize> {
    list.as_array().into_iter().flatten().filter_map(|index| usize::try_from(index.as_u64()?).ok()).collect()
}
