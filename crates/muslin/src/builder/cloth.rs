//! Cloth and pins in code.

use std::sync::Arc;

use crate::description::{
    Choice, Cloth, ClothShape, Ease, Material, Path, Pin, Problems, RestShape, Select, Selection, Waypoint,
};
use crate::energy::bend::isometric::Isometric;
use crate::energy::stretch::spring::Spring;
use crate::mesh::{Diagonals, Mesh};
use crate::parameter::Entry;
use crate::settings::{BendSettings, StretchSettings};
use crate::validate;
use crate::validate::choice::{Family, Said};

/// A cloth as a program says it; [`Cloth::grid`], [`Cloth::tube`] and [`Cloth::mesh`] make one.
///
/// ```
/// use muslin::mesh::Diagonals;
/// use muslin::{Cloth, Pin, Simulation};
///
/// let flag = Cloth::grid([0.6, 0.4], [6, 4])
///     .name("flag")
///     .diagonals(Diagonals::Crossed)
///     .rotate([90.0, 0.0, 0.0])
///     .fabric("cotton")
///     .pin(Pin::vertices([0]));
/// let simulation = Simulation::builder().cloth(flag).build()?;
/// assert_eq!(simulation.cloth("flag"), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a cloth does nothing until it is handed to a builder"]
pub struct ClothBuilder {
    name: Option<String>,
    shape: ClothShape,
    rest: RestShape,
    close_by: Option<f64>,
    settle_by: Option<f64>,
    weld: Option<f64>,
    repair: bool,
    translate: [f64; 3],
    rotate: [f64; 3],
    scale: f64,
    velocity: [f64; 3],
    fabric: Option<String>,
    density: Option<f64>,
    damping: f64,
    stretch: Said,
    bend: Said,
    pins: Vec<Pin>,
}

impl Cloth {
    /// A rectangle in the xz plane, centred on the origin: its extent in m and its cells, along x and z.
    ///
    /// Vertex (i, j) is number j (`cells[0]` + 1) + i.
    pub fn grid(size: [f64; 2], cells: [u32; 2]) -> ClothBuilder {
        ClothBuilder::new(ClothShape::Grid { size, cells, diagonals: Diagonals::Alternating })
    }

    /// An open cylinder about the y axis, centred on the origin: radius and height in m, and its cells around and along.
    pub fn tube(radius: f64, height: f64, cells: [u32; 2]) -> ClothBuilder {
        ClothBuilder::new(ClothShape::Tube { radius, height, cells })
    }

    /// A mesh in memory: rest positions in m, and triangles that wind counter-clockwise seen from outside.
    pub fn mesh(positions: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> ClothBuilder {
        Self::of(Mesh { positions, triangles, ..Mesh::default() })
    }

    /// The same with texture coordinates and groups.
    pub fn of(mesh: Mesh) -> ClothBuilder {
        ClothBuilder::new(ClothShape::Given(Arc::new(mesh)))
    }
}

impl ClothBuilder {
    fn new(shape: ClothShape) -> Self {
        Self {
            name: None,
            shape,
            rest: RestShape::Mesh,
            close_by: None,
            settle_by: None,
            weld: None,
            repair: false,
            translate: [0.0; 3],
            rotate: [0.0; 3],
            scale: 1.0,
            velocity: [0.0; 3],
            fabric: None,
            density: None,
            damping: 0.0,
            stretch: Said::new(&Spring::default()),
            bend: Said::new(&Isometric::default()),
            pins: Vec::new(),
        }
    }

    /// Names it: `cloth0` and so on unless it is said.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How the quads of a grid are cut; it has no effect on other shapes.
    pub fn diagonals(mut self, cut: Diagonals) -> Self {
        if let ClothShape::Grid { diagonals, .. } = &mut self.shape {
            *diagonals = cut;
        }
        self
    }

    /// Takes the texture coordinates for the rest shape, one unit of them so many metres. Cloth is flat then, and sewn where the texture has seams.
    pub fn rest_uv(mut self, scale: f64) -> Self {
        self.rest = RestShape::Uv { scale };
        self
    }

    /// A rest shape other than where the vertices are at the start: a position for each of them, in m.
    pub fn rest(mut self, positions: Vec<[f64; 3]>) -> Self {
        self.rest = RestShape::Given(Arc::new(positions));
        self
    }

    /// Brings it into its rest shape by this time, in s, without weight and wind: for cloth that starts far from it.
    pub fn close_by(mut self, time: f64) -> Self {
        self.close_by = Some(time);
        self
    }

    /// Lets it down until this time, in s, after it was brought into its rest shape: with its weight, so damped that it does not swing.
    pub fn settle_by(mut self, time: f64) -> Self {
        self.settle_by = Some(time);
        self
    }

    /// Makes one vertex of those that are not farther apart than this, in m; results are numbered as the welded mesh is.
    pub fn weld(mut self, distance: f64) -> Self {
        self.weld = Some(distance);
        self
    }

    /// Mends defects of the mesh rather than refusing it.
    pub fn repair(mut self) -> Self {
        self.repair = true;
        self
    }

    /// Displacement after scaling and rotating, in m.
    pub fn translate(mut self, translate: [f64; 3]) -> Self {
        self.translate = translate;
        self
    }

    /// Degrees about x, then y, then z.
    pub fn rotate(mut self, rotate: [f64; 3]) -> Self {
        self.rotate = rotate;
        self
    }

    /// Factor on the shape, applied first; on a rest shape of vertices too.
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Initial velocity of every vertex, in m/s.
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity = velocity;
        self
    }

    /// A fabric of the catalogue: its density and stiffness hold where nothing else is said.
    pub fn fabric(mut self, name: impl Into<String>) -> Self {
        self.fabric = Some(name.into());
        self
    }

    /// Areal density, in kg/m²; that of the fabric or 0.2 unless it is said.
    pub fn density(mut self, density: f64) -> Self {
        self.density = Some(density);
        self
    }

    /// Decay rate of velocities, in 1/s.
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }

    /// The stretch model, by its typed settings; [`Spring`] unless it is said.
    pub fn stretch(mut self, model: impl StretchSettings) -> Self {
        self.stretch = Said::new(&model);
        self
    }

    /// The bend model, by its typed settings; [`Isometric`] unless it is said.
    pub fn bend(mut self, model: impl BendSettings) -> Self {
        self.bend = Said::new(&model);
        self
    }

    /// Adds a pin: the pins of a cloth count from 0 in the order in which they are added.
    pub fn pin(mut self, pin: Pin) -> Self {
        self.pins.push(pin);
        self
    }

    /// The cloth with every default filled in; what is wrong with its material is reported.
    pub(super) fn describe(&self, index: usize, solver: Option<&'static Entry>, problems: &mut Problems) -> Cloth {
        let place = format!("cloth[{index}].material");
        let fabric = self.fabric.as_deref().and_then(|name| {
            let found = validate::fabric(name);
            found.map_err(|message| problems.error(format!("{place}.fabric"), message)).ok()
        });
        let stretch = Family::stretch_models(solver, fabric.and_then(|fabric| fabric.stretch));
        let bend = Family::bend_models(solver, fabric.map(|fabric| fabric.bend));
        let mut settle = |said: &Said, family: &Family, key: &str| {
            let choice = said.settle(family, &format!("{place}.{key}"), problems);
            choice.unwrap_or_else(|| Choice { entry: said.entry, settings: said.settings.clone() })
        };
        let (stretch, bend) = (settle(&self.stretch, &stretch, "stretch"), settle(&self.bend, &bend, "bend"));
        Cloth {
            name: self.name.clone().unwrap_or_else(|| format!("cloth{index}")),
            shape: self.shape.clone(),
            rest: self.rest.clone(),
            close_by: self.close_by,
            settle_by: self.settle_by,
            weld: self.weld,
            repair: self.repair,
            translate: self.translate,
            rotate: self.rotate,
            scale: self.scale,
            velocity: self.velocity,
            material: Material {
                fabric,
                density: self.density.or(fabric.map(|fabric| fabric.density)).unwrap_or(0.2),
                damping: self.damping,
                stretch,
                bend,
            },
            pins: self.pins.clone(),
            color: None,
        }
    }
}

/// Pins in code: they hold vertices in place for ever, unless [`released_at`](Pin::released_at) or [`along`](Pin::along) says otherwise.
///
/// ```
/// use muslin::{Path, Pin};
///
/// let corners = Pin::vertices([0, 16]);
/// let lifted = Pin::vertices([0]).along(Path::through([(0.0, [0.0; 3]), (1.0, [0.0, 0.5, 0.0])])).released_at(2.0);
/// assert_eq!((corners.until, lifted.until), (None, Some(2.0)));
/// ```
impl Pin {
    /// Vertices, as the mesh of the cloth numbers them.
    pub fn vertices(vertices: impl Into<Vec<u32>>) -> Self {
        Self::new(Selection::Vertices(vertices.into()))
    }

    /// Vertices by a word.
    pub fn select(select: Select) -> Self {
        Self::new(Selection::Named(select))
    }

    /// The vertices that are inside a sphere of the world at the start, in m.
    pub fn in_sphere(center: [f64; 3], radius: f64) -> Self {
        Self::new(Selection::Sphere { center, radius })
    }

    /// The vertices that are inside a box of the world at the start, in m.
    pub fn in_box(min: [f64; 3], max: [f64; 3]) -> Self {
        Self::new(Selection::Box { min, max })
    }

    fn new(selection: Selection) -> Self {
        Self { selection, until: None, path: Path::still() }
    }

    /// Releases the vertices at a time, in s.
    #[must_use]
    pub fn released_at(mut self, seconds: f64) -> Self {
        self.until = Some(seconds);
        self
    }

    /// Leads the vertices along a path.
    #[must_use]
    pub fn along(mut self, path: Path) -> Self {
        self.path = path;
        self
    }
}

impl Path {
    /// A path through offsets, in m from the initial state, at rising times, in s.
    pub fn through(waypoints: impl IntoIterator<Item = (f64, [f64; 3])>) -> Self {
        let waypoint = |(time, offset)| Waypoint { time, offset, turn: 0.0 };
        Self { waypoints: waypoints.into_iter().map(waypoint).collect(), ..Self::still() }
    }

    /// Starts and arrives at rest between two waypoints.
    #[must_use]
    pub fn smooth(mut self) -> Self {
        self.ease = Ease::Smooth;
        self
    }
}
