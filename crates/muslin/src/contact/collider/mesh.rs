//! Bodies that are meshes: surfaces of triangles, touched from both sides, that go where their path and their frames say.
//!
//! ```text
//! x(t) = P(t) (R s p(t) + d)        P path, R rotation, s scale, d displacement; p(t) the mesh, or linear between two frames
//! ```
//!
//! In the arrays of contact their vertices stand behind those of all cloths, as kinematic vertices that nothing can push.

use std::ops::Range;

use crate::description::{BodyMesh, ColliderShape, LoadFrames, LoadMesh, Problems, Scene};
use crate::math::{Mat3, Vec3};
use crate::mesh;
use crate::mesh::{FindingKind, MAX_COORDINATE, Mesh};
use crate::motion::Motion;

/// A body that is a mesh.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh};
/// use muslin::scene::parse;
/// use muslin::setup::compile;
///
/// let scene = parse(
///     "cloth = [{ grid = { size = [1, 1], cells = [2, 2] } }]\ncollider = [{ mesh = { file = \"table.obj\", translate = [0, -0.5, 0] } }]",
///     &[],
/// );
/// let table = Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward)?;
/// let compiled = compile(&scene.into_result()?, &mut |_| Ok(table.clone())).map_err(|problems| problems[0].to_string())?;
/// let mut positions = Vec::new();
/// compiled.model.bodies[0].extend_positions(0.0, &mut positions);
/// assert_eq!((positions.len(), positions[0].y), (4, -0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name in the scene.
    pub name: String,
    /// Its place among the colliders of the scene.
    pub index: usize,
    /// Its vertices in the arrays of contact, behind those of all cloths.
    pub vertices: Range<usize>,
    /// Its triangles, and where it is placed at time zero before its path moves it.
    pub mesh: Mesh,
    /// Coulomb's μ against cloth.
    pub friction: f64,
    /// Whether it moves at all.
    pub moves: bool,
    pub(crate) motion: Motion,
    frames: Option<Frames>,
}

/// What a body deforms along.
#[derive(Clone, Debug)]
struct Frames {
    fps: f64,
    /// As they were read.
    positions: Vec<Vec<[f32; 3]>>,
    placement: Placement,
}

/// x ↦ R s x + d.
#[derive(Clone, Copy, Debug)]
struct Placement {
    rotation: Mat3,
    scale: f64,
    shift: Vec3<f64>,
}

impl Placement {
    fn new(shape: &BodyMesh) -> Self {
        Self { rotation: Mat3::from_degrees_xyz(shape.rotate), scale: shape.scale, shift: shape.translate.into() }
    }

    #[inline]
    fn apply(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.rotation.apply(p * self.scale) + self.shift
    }
}

impl Body {
    /// Appends where its vertices are at `time`, in s: in m, numbered as in its file.
    pub fn extend_positions(&self, time: f64, out: &mut Vec<Vec3<f64>>) {
        let pose = self.motion.pose(time);
        match &self.frames {
            None => out.extend(self.mesh.positions.iter().map(|&p| pose.apply(p.into()))),
            Some(Frames { fps, positions, placement }) => {
                let last = positions.len() - 1;
                let at = (time * fps).clamp(0.0, last as f64);
                let first = at.floor() as usize;
                let (part, next) = (at - first as f64, (first + 1).min(last));
                let vector = |p: &[f32; 3]| Vec3::from(p.map(f64::from));
                out.extend(positions[first].iter().zip(&positions[next]).map(|(a, b)| {
                    let (a, b) = (vector(a), vector(b));
                    pose.apply(placement.apply(a + (b - a) * part))
                }));
            }
        }
    }
}

/// Reads the bodies of a scene that are meshes; those that are broken are missing, and reported.
pub(crate) fn load(
    scene: &Scene,
    load: &mut LoadMesh<'_>,
    load_frames: &mut LoadFrames<'_>,
    problems: &mut Problems,
) -> Vec<Body> {
    let mut bodies = Vec::new();
    for (index, collider) in scene.colliders.iter().enumerate() {
        let ColliderShape::Mesh(shape) = &collider.shape else { continue };
        let placement = Placement::new(shape);
        let Some(mut mesh) = load_body_mesh(shape, index, load, problems) else { continue };
        let frames = match &shape.frames {
            None => None,
            Some(frames) => {
                let place = format!("collider[{index}].mesh.frames");
                let read = match &shape.given {
                    Some(given) => Ok(given.frames.clone()),
                    None => load_frames(&frames.file),
                };
                let read = read.and_then(|frames| checked_frames(frames, mesh.vertex_count()));
                let read = read.map_err(|message| problems.error(&place, message)).ok();
                let Some(positions) = read else { continue };
                mesh.positions = positions[0].iter().map(|p| p.map(f64::from)).collect();
                Some(Frames { fps: frames.fps, positions, placement })
            }
        };
        for p in &mut mesh.positions {
            *p = placement.apply((*p).into()).to_array();
        }
        if let Some(vertex) = mesh.positions.iter().position(|p| p.iter().any(|x| x.abs() > MAX_COORDINATE)) {
            let message =
                format!("vertex {vertex} is placed farther than {MAX_COORDINATE:e} m from the origin along an axis");
            problems.error(format!("collider[{index}].mesh"), message);
            continue;
        }
        let middle = mesh.bounds().map_or(Vec3::ZERO, |b| (Vec3::from(b.min) + Vec3::from(b.max)) * 0.5);
        bodies.push(Body {
            name: collider.name.clone(),
            index,
            vertices: 0..0,
            friction: collider.friction,
            moves: !collider.path.is_still() || frames.is_some(),
            motion: Motion::new(&collider.path, middle),
            frames,
            mesh,
        });
    }
    bodies
}

/// The mesh of a file or of a program, if it can be a body.
fn load_body_mesh(shape: &BodyMesh, index: usize, load: &mut LoadMesh<'_>, problems: &mut Problems) -> Option<Mesh> {
    let (place, mesh) = match &shape.given {
        Some(given) => (format!("collider[{index}].mesh"), Ok(given.mesh.clone())),
        None => (format!("collider[{index}].mesh.file"), load(&shape.file)),
    };
    let mesh = mesh.map_err(|message| problems.error(&place, message)).ok()?;
    // What a body has to be is less than a cloth: contact has no use for an order of corners, nor for neighbours.
    let matters = |kind: &FindingKind| {
        matches!(
            kind,
            FindingKind::NoVertices
                | FindingKind::NoTriangles
                | FindingKind::TooManyTriangles { .. }
                | FindingKind::NonFinitePosition { .. }
                | FindingKind::PositionTooLarge { .. }
                | FindingKind::IndexOutOfRange { .. }
        )
    };
    let findings = mesh::check(&mesh);
    let mut is_sound = true;
    for finding in findings.iter().filter(|finding| matters(&finding.kind)) {
        problems.error(&place, finding.kind.to_string());
        is_sound = false;
    }
    let is_whole = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    if is_sound && !mesh.triangles.iter().any(is_whole) {
        problems.error(&place, FindingKind::NoUsableTriangles.to_string());
        is_sound = false;
    }
    is_sound.then_some(mesh)
}

/// Frames that fit the mesh, or what is wrong with them.
fn checked_frames(frames: Vec<Vec<[f32; 3]>>, vertex_count: usize) -> Result<Vec<Vec<[f32; 3]>>, String> {
    if frames.is_empty() {
        return Err("it has no frames".to_owned());
    }
    for (i, frame) in frames.iter().enumerate() {
        let found = frame.len();
        if found != vertex_count {
            return Err(format!(
                "frame {i} has {found} vertices, but the mesh has {vertex_count}; export both from the same model"
            ));
        }
        // NaN compares as false.
        let is_near = |p: &[f32; 3]| p.iter().all(|x| f64::from(x.abs()) <= MAX_COORDINATE);
        if let Some(vertex) = frame.iter().position(|p| !is_near(p)) {
            return Err(format!(
                "vertex {vertex} of frame {i} is at {:?}, but coordinates are finite and at most {MAX_COORDINATE:e}",
                frame[vertex]
            ));
        }
    }
    Ok(frames)
}

/// Vertices are numbered with 32 bits, those of cloths and bodies together.
pub(crate) fn refuse_too_many(bodies: &[Body], cloth_vertices: usize, problems: &mut Problems) {
    let count = cloth_vertices + bodies.iter().map(|body| body.mesh.vertex_count()).sum::<usize>();
    if !bodies.is_empty() && u32::try_from(count).is_err() {
        problems.error("collider", format!("cloths and meshes have {count} vertices together; the limit is 2³² − 1"));
    }
}
