//! Description of a scene: plain values in SI units, with every default filled in.
//!
//! Nothing here refers to a file's text any more: whoever builds a model reads these fields and asks no questions
//! about what was or was not given. An `Option` is left only where absence means something of its own.

mod problem;

use std::sync::Arc;

pub(crate) use problem::Problems;
pub use problem::{LoadFrames, LoadMesh, Problem};

use crate::material::fabric::Fabric;
use crate::mesh::{Diagonals, Mesh};
use crate::parameter::{Entry, Settings};
use crate::shape::Shape;

/// A whole scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Names the results; usable as a folder name.
    pub name: String,
    /// Simulated time, in s.
    pub duration: f64,
    /// Frames a second.
    pub fps: f64,
    /// Acceleration of free fall, in m/s².
    pub gravity: [f64; 3],
    /// Speed, in m/s, below which every vertex must stay for half a second to end the run early.
    pub stop_at_rest: Option<f64>,
    /// Moving air.
    pub wind: Wind,
    /// Which solver, and its settings.
    pub solver: Choice,
    /// How surfaces touch.
    pub contact: Contact,
    /// At least one, with distinct names.
    pub cloths: Vec<Cloth>,
    /// Bodies that the cloth touches and that feel nothing of it.
    pub colliders: Vec<Collider>,
    /// Where the previews look from.
    pub view: View,
}

impl Scene {
    /// Frames of the whole run, not counting the initial state: at least one.
    pub fn frame_count(&self) -> usize {
        // Rounded, because 0.1 s at 30 frames a second is 3.0000000000000004 frames. The decoder bounds the product.
        (self.duration * self.fps).round().max(1.0) as usize
    }

    /// Length of one frame, in s.
    pub fn frame_time(&self) -> f64 {
        self.fps.recip()
    }
}

/// Air that moves, and how much of it a cloth catches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wind {
    /// Velocity of the air, in m/s.
    pub velocity: [f64; 3],
    /// Drag coefficient.
    pub drag: f64,
    /// Lift coefficient.
    pub lift: f64,
    /// Density of the air, in kg/m³.
    pub air_density: f64,
}

/// Air at rest that nothing feels: drag and lift are 0.
impl Default for Wind {
    fn default() -> Self {
        // Of dry air at 15 °C and 101 325 Pa (International Standard Atmosphere).
        Self { velocity: [0.0; 3], drag: 0.0, lift: 0.0, air_density: 1.225 }
    }
}

/// An entry of the catalogue with the settings a scene gives it.
///
/// Of the entry's `one_of` parameters exactly one is among the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What was chosen.
    pub entry: &'static Entry,
    /// Its settings, in the order of the entry's parameters.
    pub settings: Settings,
}

/// How surfaces touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Whether cloth touches cloth.
    pub self_contact: bool,
    /// Distance that is kept between surfaces, in m.
    pub thickness: f64,
    /// Coulomb coefficient where nothing more specific is given.
    pub friction: f64,
    /// What is done about a start in which something cuts or touches.
    pub start: Start,
}

/// Colliders are touched, cloth is not: 1 mm apart, friction 0.3.
impl Default for Contact {
    fn default() -> Self {
        Self { self_contact: false, thickness: 1e-3, friction: 0.3, start: Start::Error }
    }
}

/// What is done about a start in which something cuts or touches, so that contact can promise nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It is refused.
    Error,
    /// It is pulled apart over the first frames.
    Untangle,
}

/// One piece of cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloth {
    /// Names its result files; distinct from every other cloth's, also when case is ignored.
    pub name: String,
    /// Its rest shape.
    pub shape: ClothShape,
    /// Whether defects of the mesh are repaired rather than refused.
    pub repair: bool,
    /// Displacement after scaling and rotating, in m.
    pub translate: [f64; 3],
    /// Degrees about x, then y, then z.
    pub rotate: [f64; 3],
    /// Factor on the rest shape, applied first.
    pub scale: f64,
    /// Initial velocity of every vertex, in m/s.
    pub velocity: [f64; 3],
    /// What it is made of.
    pub material: Material,
    /// Vertices that are held or led.
    pub pins: Vec<Pin>,
    /// Colour in previews: red, green, blue from 0 to 1.
    pub color: Option<[f64; 3]>,
}

/// The rest shape of a cloth.
#[derive(Clone, Debug, PartialEq)]
pub enum ClothShape {
    /// A rectangle in the xz plane, centred on the origin, its normal along +y.
    Grid {
        /// Extent along x and z, in m.
        size: [f64; 2],
        /// Quads along x and z.
        cells: [u32; 2],
        /// How the quads are cut.
        diagonals: Diagonals,
    },
    /// An open cylinder about the y axis, centred on the origin.
    Tube {
        /// Radius, in m.
        radius: f64,
        /// Extent along y, in m.
        height: f64,
        /// Quads around and along.
        cells: [u32; 2],
    },
    /// A mesh file.
    Mesh {
        /// Path as the scene gives it; whoever reads files resolves it.
        file: String,
    },
    /// A mesh in memory. A scene file has no word for it: the text of a scene names the file in which it would be.
    Given(Arc<Mesh>),
}

/// What a cloth is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The preset the values came from, where the scene did not give its own.
    pub fabric: Option<&'static Fabric>,
    /// Areal density, in kg/m².
    pub density: f64,
    /// Decay rate of velocities, in 1/s.
    pub damping: f64,
    /// In-plane model.
    pub stretch: Choice,
    /// Bending model.
    pub bend: Choice,
}

/// Vertices that are held in place or led along a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Which vertices.
    pub selection: Selection,
    /// Time of release, in s; `None` = never.
    pub until: Option<f64>,
    /// How they move; a still path holds them.
    pub path: Path,
}

/// Which vertices of a cloth.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// By index; not checked against the mesh, which a scene does not know.
    Vertices(Vec<u32>),
    /// By a word.
    Named(Select),
    /// Inside a sphere of the world, in the initial state.
    Sphere {
        /// Centre, in m.
        center: [f64; 3],
        /// Radius, in m.
        radius: f64,
    },
    /// Inside an axis-aligned box of the world, in the initial state.
    Box {
        /// Smallest corner, in m.
        min: [f64; 3],
        /// Largest corner, in m.
        max: [f64; 3],
    },
}

/// Named vertices, by the cloth's own coordinates: before it is scaled, rotated and translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// Smallest x.
    XMin,
    /// Largest x.
    XMax,
    /// Smallest y.
    YMin,
    /// Largest y.
    YMax,
    /// Smallest z.
    ZMin,
    /// Largest z.
    ZMax,
    /// The four corners.
    Corners,
    /// Every vertex.
    All,
}

/// A motion in time: an offset, and a turn about an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// At strictly increasing times; empty = no motion.
    pub waypoints: Vec<Waypoint>,
    /// Axis of the turns: not zero, not necessarily of unit length.
    pub axis: [f64; 3],
    /// Point that the axis goes through, in m; `None` = the centre of what moves, in the initial state.
    pub center: Option<[f64; 3]>,
    /// How the way between two waypoints is timed.
    pub ease: Ease,
}

impl Path {
    /// The path of what does not move.
    pub fn still() -> Self {
        Self { waypoints: Vec::new(), axis: [0.0, 1.0, 0.0], center: None, ease: Ease::Linear }
    }

    /// Whether nothing moves.
    pub fn is_still(&self) -> bool {
        self.waypoints.is_empty()
    }
}

/// Where a [`Path`] is at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Time, in s.
    pub time: f64,
    /// Displacement from the initial state, in m.
    pub offset: [f64; 3],
    /// Turn from the initial state, in degrees.
    pub turn: f64,
}

/// How the way between two waypoints is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ease {
    /// At constant speed.
    Linear,
    /// Starting and arriving at rest.
    Smooth,
}

/// A body that the cloth touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Names the result files of a mesh; distinct from every cloth's and every other collider's, also when case is ignored.
    pub name: String,
    /// Its shape in the initial state.
    pub shape: ColliderShape,
    /// Coulomb coefficient against cloth.
    pub friction: f64,
    /// How it moves.
    pub path: Path,
}

/// The shape of a [`Collider`].
#[derive(Clone, Debug, PartialEq)]
pub enum ColliderShape {
    /// A shape of the library, with all its settings.
    Solid(Choice),
    /// A shape from outside the library; scene files cannot say it.
    Custom(CustomShape),
    /// The triangles of a mesh, from a file or a program: a surface that is touched from both sides, closed or not.
    Mesh(BodyMesh),
}

impl ColliderShape {
    /// Any shape: one of the library by its settings, another as it is.
    pub fn new(shape: impl Shape + 'static) -> Self {
        match shape.described() {
            Some((entry, settings)) => Self::Solid(Choice { entry, settings }),
            None => Self::Custom(CustomShape(Arc::new(shape))),
        }
    }
}

/// A shape from outside the library. Two are equal if they are the same one.
#[derive(Clone, Debug)]
pub struct CustomShape(pub Arc<dyn Shape>);

impl PartialEq for CustomShape {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A mesh as the shape of a collider.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyMesh {
    /// Path as the scene gives it; whoever reads files resolves it.
    pub file: String,
    /// Where its vertices are in time, where it deforms.
    pub frames: Option<BodyFrames>,
    /// Displacement after scaling and rotating, in m.
    pub translate: [f64; 3],
    /// Degrees about x, then y, then z.
    pub rotate: [f64; 3],
    /// Factor on the mesh, applied first.
    pub scale: f64,
}

/// An animated mesh: positions of all vertices, frame after frame from time zero on.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFrames {
    /// Path as the scene gives it.
    pub file: String,
    /// Frames a second; between two frames vertices move in straight lines.
    pub fps: f64,
}

/// Where the previews look from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Width and height of the picture: even numbers, as video wants them.
    pub size: [u32; 2],
    /// Position of the camera, in m; `None` = far enough to see everything.
    pub eye: Option<[f64; 3]>,
    /// Point it looks at, in m; `None` = the middle of what there is to see.
    pub target: Option<[f64; 3]>,
    /// Direction it looks along, where `eye` is not given: not zero, not necessarily of unit length.
    pub direction: Option<[f64; 3]>,
    /// Vertical field of view, in degrees.
    pub fov: f64,
    /// Whether a ground is drawn.
    pub ground: bool,
    /// Height of the ground, in m; `None` = below everything.
    pub ground_height: Option<f64>,
}

/// As the previews choose it.
impl Default for View {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            eye: None,
            target: None,
            direction: None,
            fov: 35.0,
            ground: true,
            ground_height: None,
        }
    }
}
    /// The mesh and its frames where they are in memory: then no file is read, and the names are those that the text of a scene would give.
    pub given: Option<Arc<GivenBody>>,
}

/// A mesh in memory as the shape of a collider; [`MeshCollider`](crate::MeshCollider) makes one.
///
/// ```
/// use muslin::description::GivenBody;
/// use muslin::mesh::{Diagonals, Mesh};
///
/// let tray = Mesh::grid([0.4, 0.3], [4, 3], Diagonals::Forward)?;
/// let body = GivenBody { mesh: tray, frames: Vec::new() };
/// assert_eq!(body.mesh.vertex_count(), 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GivenBody {
    /// Its triangles, and its vertices where it does not deform.
    pub mesh: Mesh,
    /// Where it deforms: for each frame the positions of all vertices, in m.
    pub frames: Vec<Vec<[f32; 3]>>,
