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
//! `gltf-json` reads the structure; the container, the data and the motion are read here.
//!
//! Limits: triangles only, data in the file's own binary chunk, positions and samples in float32. Refused by name: skins, sparse accessors, cubic splines, external or
//! text buffers, and any extension that the file says is required (Draco, meshopt and quantised positions among them).

use std::sync::Arc;

use gltf_json::accessor::{ComponentType, GenericComponentType, Type};
use gltf_json::animation::{Channel, Interpolation, Property};
use gltf_json::mesh::{Mode, Primitive, Semantic};
use gltf_json::validation::Checked::{Invalid, Valid};
use gltf_json::validation::USize64;
use gltf_json::{Accessor, Index, Node, Root};
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
/// The most nodes of a scene, counted wherever they hang: shared branches may double at every level.
const MOST_NODES: usize = 1 << 16;
/// A moment that is this part of a frame late is that of the frame: times are in float32.
const LATE: f64 = 1e-3;

/// A mesh that may move.
#[derive(Clone, Debug)]
pub struct GlbMesh {
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of the vertices, v upwards, if all of them have some.
    pub uv: Option<Vec<[f32; 2]>>,
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
    nodes: Vec<Arc<Place>>,
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
    let root = parse(json)?;
    File { root: &root, binary }.mesh()
}

/// The structure of a file. An error names the entry, as `nodes[0].translation`.
fn parse(json: &[u8]) -> Result<Root, GlbError> {
    let parsed: Result<Root, _> = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(json));
    parsed.or_else(|error| {
        let (path, reason) = (error.path().to_string(), error.inner().to_string());
        if !error.inner().is_data() {
            return broken(reason);
        }
        // JSON of one long line: the entry says more than the column.
        let reason = reason.split(" at line ").next().unwrap_or_default();
        broken(if path == "." { reason.to_owned() } else { format!("{path}: {reason}") })
    })
}

/// The parts of a file.
struct File<'a> {
    root: &'a Root,
    binary: &'a [u8],
}

impl File<'_> {
    fn mesh(&self) -> Result<GlbMesh, GlbError> {
        if let Some(name) = self.root.extensions_required.first() {
            return unsupported(format!("the extension {name}"));
        }
        let mut mesh = GlbMesh { triangles: Vec::new(), uv: Some(Vec::new()), pieces: Vec::new(), end: 0.0 };
        let mut node_count = 0;
        for root in self.roots() {
            self.add_node(root, &[], &mut node_count, &mut mesh)?;
        }
        if mesh.triangles.is_empty() {
            return broken("it has no triangles");
        }
        let tracks = mesh.pieces.iter().flat_map(|piece| {
            let parts = piece.nodes.iter().flat_map(|node| match &**node {
                Place::Matrix(_) => Vec::new(),
                Place::Parts { translation, rotation, scale } => vec![translation, rotation, scale],
            });
            parts.chain([&piece.weights])
        });
        mesh.end = tracks.filter_map(|track| track.times.last().copied()).fold(0.0, f64::max);
        Ok(mesh)
    }

    /// The nodes of the scene; of a file without scenes, every node that is in no other.
    fn roots(&self) -> Vec<Index<Node>> {
        let scene = self.root.scene.map_or(0, |scene| scene.value());
        if let Some(scene) = self.root.scenes.get(scene) {
            return scene.nodes.clone();
        }
        let mut is_below = vec![false; self.root.nodes.len()];
        for child in self.root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
            if let Some(mark) = is_below.get_mut(child.value()) {
                *mark = true;
            }
        }
        (0..).zip(is_below).filter(|(_, is_below)| !is_below).map(|(node, _)| Index::new(node)).collect()
    }

    fn add_node(
        &self,
        index: Index<Node>,
        above: &[Arc<Place>],
        node_count: &mut usize,
        mesh: &mut GlbMesh,
    ) -> Result<(), GlbError> {
        let node = entry("nodes", &self.root.nodes, index)?;
        if above.len() > DEEPEST {
            return broken("its nodes are nested in a circle");
        }
        *node_count += 1;
        if *node_count > MOST_NODES {
            return unsupported(format!("more than {MOST_NODES} nodes in its scene"));
        }
        let mut nodes = vec![Arc::new(self.place(node, index)?)];
        nodes.extend_from_slice(above);
        if let Some(described) = node.mesh {
            if node.skin.is_some() {
                return unsupported("a skin");
            }
            let described = entry("meshes", &self.root.meshes, described)?;
            let weights = node.weights.as_ref().or(described.weights.as_ref()).map_or(&[][..], Vec::as_slice);
            for primitive in &described.primitives {
                self.add_primitive(primitive, weights, index, &nodes, mesh)?;
            }
        }
        node.children.iter().flatten().try_for_each(|&child| self.add_node(child, &nodes, node_count, mesh))
    }

    fn add_primitive(
        &self,
        primitive: &Primitive,
        weights: &[f32],
        node: Index<Node>,
        nodes: &[Arc<Place>],
        mesh: &mut GlbMesh,
    ) -> Result<(), GlbError> {
        if primitive.mode != Valid(Mode::Triangles) {
            return unsupported("a primitive that is not of triangles");
        }
        let Some(&positions) = primitive.attributes.get(&Valid(Semantic::Positions)) else {
            return broken("a primitive has no POSITION");
        };
        let positions = self.vectors::<3>(positions)?;
        let targets = self.targets(primitive, positions.len())?;
        let mut still: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
        still.resize(targets.len(), 0.0);
        let weights = self.track(node, Property::MorphTargetWeights, targets.len())?.unwrap_or(Track::still(still));
        let first = mesh.vertex_count();
        if 3 * (first + positions.len()) > MOST_NUMBERS {
            return unsupported(format!("more than {} vertices", MOST_NUMBERS / 3));
        }
        let first = first as u32;
        let corners = match primitive.indices {
            None => (0..positions.len() as u32).collect(),
            Some(index) => self.corners(index)?,
        };
        if corners.iter().any(|&corner| corner as usize >= positions.len()) {
            return broken("a triangle has a vertex that does not exist");
        }
        let uv = match primitive.attributes.get(&Valid(Semantic::TexCoords(0))) {
            Some(&index) => Some(self.texture_coordinates(index)?),
            None => None,
        };
        if uv.as_ref().is_some_and(|uv| uv.len() != positions.len()) {
            return broken("a primitive has another number of texture coordinates than vertices");
        }
        mesh.uv = mesh.uv.take().zip(uv).map(|(mut all, own)| {
            all.extend(own);
            all
        });
        mesh.triangles.extend(corners.chunks_exact(3).map(|c| [first + c[0], first + c[1], first + c[2]]));
        mesh.pieces.push(Piece { positions, targets, weights, nodes: nodes.to_vec() });
        Ok(())
    }

    /// The first texture coordinates of the vertices of a primitive; in a file v points down.
    fn texture_coordinates(&self, index: Index<Accessor>) -> Result<Vec<[f32; 2]>, GlbError> {
        let accessor = entry("accessors", &self.root.accessors, index)?;
        let read: fn(&[u8]) -> [f32; 2] = match accessor.component_type {
            Valid(GenericComponentType(ComponentType::U8)) => |b| [0, 1].map(|k| f32::from(b[k]) / 255.0),
            Valid(GenericComponentType(ComponentType::U16)) => {
                |b| [0, 2].map(|k| f32::from(u16::from_le_bytes([b[k], b[k + 1]])) / 65535.0)
            }
            _ => |b| [0, 4].map(|k| f32::from_le_bytes([b[k], b[k + 1], b[k + 2], b[k + 3]])),
        };
        let size = match accessor.component_type {
            Valid(GenericComponentType(kind @ (ComponentType::U8 | ComponentType::U16 | ComponentType::F32))) => {
                2 * kind.size()
            }
            _ => return broken("texture coordinates are neither float32 nor whole numbers of 8 or 16 bits"),
        };
        if accessor.type_ != Valid(Type::Vec2) {
            return broken("an accessor is of another type than its use");
        }
        Ok(self.elements(accessor, size, read)?.into_iter().map(|[u, v]| [u, 1.0 - v]).collect())
    }

    /// What each morph target adds to the positions.
    fn targets(&self, primitive: &Primitive, vertex_count: usize) -> Result<Vec<Vec<[f32; 3]>>, GlbError> {
        let mut targets = Vec::new();
        for target in primitive.targets.iter().flatten() {
            let moved = match target.positions {
                None => vec![[0.0; 3]; vertex_count],
                Some(index) => self.vectors::<3>(index)?,
            };
            if moved.len() != vertex_count {
                return broken("a morph target has another number of vertices than its mesh");
            }
            targets.push(moved);
        }
        Ok(targets)
    }

    /// Where a node is.
    fn place(&self, node: &Node, index: Index<Node>) -> Result<Place, GlbError> {
        if let Some(matrix) = node.matrix {
            return Ok(Place::Matrix(matrix.map(f64::from)));
        }
        let part = |path: Property, given: &[f32]| -> Result<Track, GlbError> {
            let still = || Track::still(given.iter().map(|&number| f64::from(number)).collect());
            Ok(self.track(index, path, given.len())?.unwrap_or_else(still))
        };
        Ok(Place::Parts {
            translation: part(Property::Translation, &node.translation.unwrap_or_default())?,
            rotation: part(Property::Rotation, &node.rotation.unwrap_or_default().0)?,
            scale: part(Property::Scale, &node.scale.unwrap_or([1.0; 3]))?,
        })
    }

    /// What the first animation does to a node, if anything; rows of `width` numbers.
    fn track(&self, node: Index<Node>, path: Property, width: usize) -> Result<Option<Track>, GlbError> {
        let Some(animation) = self.root.animations.first() else { return Ok(None) };
        let is_ours = |channel: &&Channel| channel.target.node == node && channel.target.path == Valid(path);
        let Some(channel) = animation.channels.iter().find(is_ours) else { return Ok(None) };
        let sampler = entry("animations[0].samplers", &animation.samplers, channel.sampler)?;
        let steps = match sampler.interpolation {
            Valid(Interpolation::Linear) => false,
            Valid(Interpolation::Step) => true,
            Valid(Interpolation::CubicSpline) => return unsupported("CUBICSPLINE interpolation"),
            Invalid => return broken("an interpolation of its animation is not one of glTF"),
        };
        let times: Vec<f64> = self.vectors::<1>(sampler.input)?.iter().map(|t| f64::from(t[0])).collect();
        if times.is_empty() || !times.iter().all(|t| t.is_finite()) || !times.is_sorted_by(|a, b| a < b) {
            return broken("the times of its animation do not increase");
        }
        let (name, numbers) = match path {
            Property::MorphTargetWeights => ("weights", self.vectors::<1>(sampler.output)?.into_flattened()),
            Property::Rotation => ("rotations", self.vectors::<4>(sampler.output)?.into_flattened()),
            Property::Translation => ("translations", self.vectors::<3>(sampler.output)?.into_flattened()),
            Property::Scale => ("scales", self.vectors::<3>(sampler.output)?.into_flattened()),
        };
        if numbers.len() != times.len() * width {
            return broken(format!("the {name} of its animation are not one for each time"));
        }
        if width == 0 {
            return Ok(None);
        }
        let rows = numbers.chunks_exact(width).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
        Ok(Some(Track { times, rows, steps }))
    }

    /// Vectors of N float32 each.
    fn vectors<const N: usize>(&self, index: Index<Accessor>) -> Result<Vec<[f32; N]>, GlbError> {
        let accessor = entry("accessors", &self.root.accessors, index)?;
        if !matches!(accessor.component_type, Valid(GenericComponentType(ComponentType::F32))) {
            return unsupported("positions or samples that are not float32");
        }
        if accessor.type_ != Valid([Type::Scalar, Type::Vec2, Type::Vec3, Type::Vec4][N - 1]) {
            return broken("an accessor is of another type than its use");
        }
        let read =
            |bytes: &[u8]| std::array::from_fn(|k| f32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * k + byte])));
        self.elements(accessor, 4 * N, read)
    }

    /// The corners of triangles.
    fn corners(&self, index: Index<Accessor>) -> Result<Vec<u32>, GlbError> {
        let accessor = entry("accessors", &self.root.accessors, index)?;
        let size = match accessor.component_type {
            Valid(GenericComponentType(kind @ (ComponentType::U8 | ComponentType::U16 | ComponentType::U32))) => {
                kind.size()
            }
            _ => return broken("the indices of its triangles are not whole numbers"),
        };
        let read = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        self.elements(accessor, size, read)
    }

    /// What `read` makes of each element, of `size` bytes.
    fn elements<T>(&self, accessor: &Accessor, size: usize, read: impl Fn(&[u8]) -> T) -> Result<Vec<T>, GlbError> {
        if accessor.sparse.is_some() {
            return unsupported("a sparse accessor");
        }
        let Some(view) = accessor.buffer_view else { return unsupported("an accessor without data") };
        let view = entry("bufferViews", &self.root.buffer_views, view)?;
        if view.buffer.value() != 0 || entry("buffers", &self.root.buffers, view.buffer)?.uri.is_some() {
            return unsupported("a buffer outside of the file's own");
        }
        let stride = view.byte_stride.filter(|stride| stride.0 != 0).map_or(size, |stride| stride.0);
        let data = || {
            let start = whole(view.byte_offset.unwrap_or_default())?;
            let data = self.binary.get(start..start.checked_add(whole(view.byte_length)?)?)?;
            let data = data.get(whole(accessor.byte_offset.unwrap_or_default())?..)?;
            let count = whole(accessor.count)?;
            let needed = count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(size))?;
            (needed <= data.len()).then(|| (0..count).map(|k| read(&data[k * stride..k * stride + size])).collect())
        };
        data().map_or_else(|| broken("its data are cut off"), Ok)
    }
}

fn entry<'a, T>(name: &str, list: &'a [T], index: Index<T>) -> Result<&'a T, GlbError> {
    list.get(index.value()).map_or_else(|| broken(format!("there is no {name}[{}]", index.value())), Ok)
}

fn whole(number: USize64) -> Option<usize> {
    usize::try_from(number.0).ok()
}
