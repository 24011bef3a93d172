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
///
/// ```
/// use muslin::scene::parse;
///
/// let scene = parse("duration = 3\nfps = 30\n[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }", &[]).into_result()?;
/// assert_eq!((scene.frame_count(), scene.cloths.len()), (90, 1));
/// assert_eq!(scene.contact.thickness, 1e-3, "every default is filled in");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use muslin::Wind;
///
/// let breeze = Wind { velocity: [3.0, 0.0, 0.0], drag: 1.0, lift: 0.5, ..Default::default() };
/// assert_eq!(breeze.air_density, 1.225);
/// ```
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
///
/// ```
/// use muslin::scene::parse;
///
/// let text = "solver = { kind = \"xpbd\", substeps = 40 }\n[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }";
/// let solver = parse(text, &[]).into_result()?.solver;
/// assert_eq!((solver.entry.name, solver.settings.integer("substeps")), ("xpbd", Some(40)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The entry that was chosen.
    pub entry: &'static Entry,
    /// Its settings, in the order of the entry's parameters.
    pub settings: Settings,
}

/// How surfaces touch.
///
/// ```
/// use muslin::Contact;
///
/// let contact = Contact { friction: 0.2, ..Default::default() };
/// assert!(contact.self_contact);
/// assert_eq!(contact.thickness, 1e-3, "1 mm");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Whether cloth touches cloth.
    pub self_contact: bool,
    /// Distance that is kept between surfaces, in m.
    pub thickness: f64,
    /// Coulomb coefficient where nothing more specific is given.
    pub friction: f64,
    /// The answer to a start in which something cuts or touches.
    pub start: Start,
}

/// Colliders and cloth are touched: 1 mm apart, friction 0.3.
impl Default for Contact {
    fn default() -> Self {
        Self { self_contact: true, thickness: 1e-3, friction: 0.3, start: Start::Error }
    }
}

/// The answer to a start in which something cuts or touches, so that contact can promise nothing of it.
///
/// ```
/// use muslin::Contact;
/// use muslin::description::Start;
///
/// let contact = Contact { start: Start::Untangle, ..Default::default() };
/// assert_ne!(contact.start, Contact::default().start);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It is refused.
    Error,
    /// It is pulled apart over the first frames.
    Untangle,
}

/// One piece of cloth.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// // A program describes one through a builder.
/// let builder = Simulation::builder().cloth(Cloth::tube(0.1, 0.4, [12, 8]).name("sleeve").density(0.15));
/// let cloth: Cloth = builder.scene()?.cloths.remove(0);
/// assert_eq!((cloth.name.as_str(), cloth.material.density), ("sleeve", 0.15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cloth {
    /// Names its result files; distinct from every other cloth's, also when case is ignored.
    pub name: String,
    /// Where its vertices are at the start, before it is scaled and placed.
    pub shape: ClothShape,
    /// Its shape when nothing pulls at it.
    pub rest: RestShape,
    /// Time until which it is sewn, in s: brought from a start that is far from its rest shape into that, without weight and wind, by all that its material pulls with. `None`: it is let go at once.
    pub close_by: Option<f64>,
    /// Time until which it is let down after that, in s: with its weight, and so damped that it does not swing. `None`: it is let go when it is sewn.
    pub settle_by: Option<f64>,
    /// Vertices of a mesh that are not farther apart than this become one, in m. `None`: those at one place, in a file that has to repeat them (`.glb`).
    pub weld: Option<f64>,
    /// Whether defects of the mesh are repaired rather than refused.
    pub repair: bool,
    /// Displacement after scaling and rotating, in m.
    pub translate: [f64; 3],
    /// Degrees about x, then y, then z.
    pub rotate: [f64; 3],
    /// Factor on the shape, applied first; on a rest shape of vertices too.
    pub scale: f64,
    /// Initial velocity of every vertex, in m/s.
    pub velocity: [f64; 3],
    /// Its fabric, density and models.
    pub material: Material,
    /// Vertices that are held or led.
    pub pins: Vec<Pin>,
    /// Colour in previews: red, green, blue from 0 to 1.
    pub color: Option<[f64; 3]>,
}

/// What a cloth is when nothing pulls at it.
///
/// ```
/// use muslin::description::RestShape;
/// use muslin::{Cloth, Simulation};
///
/// let scene = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).rest_uv(0.9)).scene()?;
/// assert_eq!(scene.cloths[0].rest, RestShape::Uv { scale: 0.9 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RestShape {
    /// The shape in which it starts.
    #[default]
    Mesh,
    /// Its texture coordinates: each triangle is flat, and cloth with seams of its texture is cut and sewn there.
    Uv {
        /// m for each unit of the coordinates.
        scale: f64,
    },
    /// A mesh file with the same triangles.
    File(String),
    /// Positions of the vertices, in m. A scene file has no word for it: the text of a scene names the file in which they would be.
    Given(Arc<Vec<[f64; 3]>>),
}

/// The shape of a cloth at the start.
///
/// ```
/// use muslin::description::ClothShape;
/// use muslin::mesh::Diagonals;
/// use muslin::{Cloth, Simulation};
///
/// let scene = Simulation::builder().cloth(Cloth::grid([1.0, 2.0], [4, 8])).scene()?;
/// let grid = ClothShape::Grid { size: [1.0, 2.0], cells: [4, 8], diagonals: Diagonals::Alternating };
/// assert_eq!(scene.cloths[0].shape, grid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// A sewing pattern. Whoever reads files makes one cloth of its panels: placed in space, vertices that are sewn together made one, flat pieces side by side as texture coordinates in m.
    Pattern {
        /// Path as the scene gives it.
        file: String,
        /// Length of edges, in m.
        resolution: f64,
    },
    /// A mesh in memory. A scene file has no word for it: the text of a scene names the file in which it would be.
    Given(Arc<Mesh>),
}

/// The material of a cloth.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let scene = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).fabric("cotton")).scene()?;
/// let material = &scene.cloths[0].material;
/// assert_eq!(material.fabric.map(|fabric| fabric.name), Some("cotton"));
/// assert_eq!((material.stretch.entry.name, material.bend.entry.name), ("spring", "isometric"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use muslin::{Path, Pin, Select};
///
/// let hem = Pin::select(Select::ZMax);
/// assert_eq!((hem.until, hem.path), (None, Path::still()));
/// ```
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
///
/// ```
/// use muslin::Pin;
/// use muslin::description::Selection;
///
/// let pin = Pin::in_sphere([0.0, 1.0, 0.0], 0.1);
/// assert_eq!(pin.selection, Selection::Sphere { center: [0.0, 1.0, 0.0], radius: 0.1 });
/// ```
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
///
/// ```
/// use muslin::{Cloth, Pin, Select, Simulation};
///
/// let curtain = Cloth::grid([1.0, 1.0], [4, 4]).pin(Pin::select(Select::Corners));
/// let simulation = Simulation::builder().cloth(curtain).build()?;
/// assert_eq!(simulation.model().pinned.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use muslin::{Ease, Path};
///
/// let path = Path::through([(0.0, [0.0; 3]), (1.0, [0.0, 0.5, 0.0])]).smooth();
/// assert_eq!((path.waypoints.len(), path.ease), (2, Ease::Smooth));
/// assert!(Path::still().is_still());
/// ```
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
///
/// ```
/// use muslin::Path;
/// use muslin::description::Waypoint;
///
/// // A quarter turn in two seconds.
/// let at = |time, turn| Waypoint { time, offset: [0.0; 3], turn };
/// let path = Path { waypoints: vec![at(0.0, 0.0), at(2.0, 90.0)], ..Path::still() };
/// assert!(!path.is_still());
/// ```
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
///
/// ```
/// use muslin::{Ease, Path};
///
/// assert_eq!(Path::still().ease, Ease::Linear);
/// assert_eq!(Path::still().smooth().ease, Ease::Smooth);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ease {
    /// At constant speed.
    Linear,
    /// Starting and arriving at rest.
    Smooth,
}

/// A body that the cloth touches.
///
/// ```
/// use muslin::contact::Plane;
/// use muslin::{Cloth, Collide, Simulation};
///
/// let ground = Plane { point: [0.0, -1.0, 0.0], normal: [0.0, 1.0, 0.0] };
/// let scene = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4])).collider(ground.named("ground")).scene()?;
/// assert_eq!((scene.colliders[0].name.as_str(), scene.colliders[0].friction), ("ground", scene.contact.friction));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use muslin::contact::Sphere;
/// use muslin::description::ColliderShape;
///
/// let ColliderShape::Solid(choice) = ColliderShape::new(Sphere { center: [0.0; 3], radius: 0.5 }) else {
///     return Err("a sphere is a shape of the library".into());
/// };
/// assert_eq!(choice.settings.number("radius"), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use std::sync::Arc;
///
/// use muslin::contact::Sphere;
/// use muslin::description::CustomShape;
/// use muslin::shape::Shape;
///
/// let ball: Arc<dyn Shape> = Arc::new(Sphere { center: [0.0; 3], radius: 0.5 });
/// assert_eq!(CustomShape(Arc::clone(&ball)), CustomShape(ball));
/// ```
#[derive(Clone, Debug)]
pub struct CustomShape(pub Arc<dyn Shape>);

impl PartialEq for CustomShape {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A mesh as the shape of a collider.
///
/// ```
/// use muslin::description::{BodyMesh, ColliderShape};
/// use muslin::scene::parse;
///
/// let text = "cloth = [{ grid = { size = [1, 1], cells = [2, 2] } }]\ncollider = [{ mesh = { file = \"chair.obj\", scale = 2 } }]";
/// let scene = parse(text, &[]).into_result()?;
/// let ColliderShape::Mesh(BodyMesh { file, scale, .. }) = &scene.colliders[0].shape else { return Err("a mesh".into()) };
/// assert_eq!((file.as_str(), *scale), ("chair.obj", 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
}

/// An animated mesh: positions of all vertices, frame after frame from time zero on.
///
/// ```
/// use muslin::description::BodyFrames;
///
/// let frames = BodyFrames { file: "walk.pc2".to_owned(), fps: 24.0 };
/// assert_eq!(frames.fps.recip(), 1.0 / 24.0, "seconds between two frames");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFrames {
    /// Path as the scene gives it.
    pub file: String,
    /// Frames a second; between two frames vertices move in straight lines.
    pub fps: f64,
}

/// Where the previews look from.
///
/// ```
/// use muslin::description::View;
///
/// let view = View { size: [640, 360], direction: Some([-1.0, -0.5, -1.0]), ..Default::default() };
/// assert_eq!((view.eye, view.target), (None, None), "far enough to see everything, towards its middle");
/// ```
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
