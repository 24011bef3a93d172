//! The compiled side of a simulation: a scene as masses, pins and bodies, beside which stand the batches of its elements. Only an interaction changes it, between frames.

mod bodies;
pub(crate) mod build;
pub(crate) mod selection;
pub(crate) mod warnings;

use std::fmt;
use std::ops::Range;

use crate::contact::collider::Collider;
use crate::contact::geometry::axis_gaps::is_beyond;
use crate::contact::geometry::closest_points::Closest;
use crate::contact::geometry::surface::Surface;
use crate::contact::pair::Pair;
use crate::energy::stretch::shape_matching::Matching;
use crate::force::Wind;
use crate::math::Vec3;
use crate::mesh::Mesh;
use crate::motion::{Motion, Pose};
use crate::parallel::ColoredStencils;
use crate::state::{SolverMemory, State, Work};
use crate::topology::{Adjacency, Ordering};

pub use crate::contact::collider::mesh::Body;
pub use crate::description::{LoadFrames, LoadMesh, Problem};
pub use warnings::StartInside;

/// Everything that does not change from step to step.
///
/// Vertices of all cloths stand one cloth after the other, each cloth in an order chosen for cache locality.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).density(0.2)).build()?;
/// let model = simulation.model();
/// assert!((model.masses.iter().sum::<f64>() - 0.2).abs() < 1e-12, "0.2 kg/m² on a square metre");
/// assert_eq!(model.user_vertex(model.state_vertex(0, 7)?), ("cloth0", 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Model {
    /// The cloths, in the order of the scene.
    pub cloths: Vec<Cloth>,
    /// The regions of the cloths that are matched to their shape: terms of the potential too, but of elements of any size.
    pub matchings: Vec<Matching>,
    /// m, in kg.
    pub masses: Vec<f64>,
    /// 1/m, in 1/kg; zero for a vertex of no triangle. Pins are not in here: they come and go.
    pub inverse_masses: Vec<f64>,
    /// Where every vertex is at time zero, in m.
    pub initial_positions: Vec<Vec3<f64>>,
    /// Held and led vertices.
    pub(crate) pins: Vec<Pin>,
    /// The vertices of the pins, rising, each once.
    pub pinned: Vec<Pinned>,
    /// All triangles.
    pub triangles: Vec<[u32; 3]>,
    /// The triangles around each vertex.
    pub(crate) vertex_triangles: Adjacency,
    /// All edges with their rest lengths, in m.
    pub edges: Vec<([u32; 2], f64)>,
    /// Bodies with a shape that has a formula.
    pub colliders: Vec<Collider>,
    /// Bodies that are meshes.
    pub bodies: Vec<Body>,
    /// Edges that are tested against bodies too fine for vertices alone to notice; empty if there are none such.
    pub(crate) contact_edges: ContactEdges,
    /// Whether cloth is kept from cloth and from itself, and how.
    pub(crate) self_contact: Option<SelfContact>,
    /// g, in m/s².
    pub gravity: Vec3<f64>,
    /// Forces of a program on the vertices in the next frame, in N; empty for none.
    pub(crate) forces: Vec<Vec3<f64>>,
    /// Air, if it moves or resists.
    pub(crate) wind: Option<Wind<f64>>,
    /// Contact thickness: the distance that cloth keeps from bodies, from other cloth and from itself, in m.
    pub thickness: f64,
    /// The triangles of all cloths, then those of all bodies that are meshes.
    pub(crate) surface: Surface,
    /// Whether something cuts or touches at the start that is to be untangled.
    pub is_tangled: bool,
    /// Time until which cloth is sewn, in s; 0 where none is.
    pub sewn_by: f64,
    /// Time until which cloth that was sewn is let down, in s; not before `sewn_by`.
    pub settled_by: f64,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cloths: Vec<&str> = self.cloths.iter().map(|cloth| cloth.name.as_str()).collect();
        let mut debug = f.debug_struct("Model");
        debug.field("cloths", &cloths).field("vertices", &self.masses.len());
        debug.finish_non_exhaustive()
    }
}

/// The length in the middle of some, in m.
pub(crate) fn middle(lengths: impl Iterator<Item = f64>) -> Option<f64> {
    let mut lengths: Vec<f64> = lengths.collect();
    let middle = lengths.len() / 2;
    (!lengths.is_empty()).then(|| *lengths.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// How cloth is kept from cloth.
#[derive(Debug)]
pub(crate) struct SelfContact {
    /// Coulomb's μ of cloth on cloth.
    pub friction: f64,
    /// The shapes in which the cloths start, before they are placed, in m.
    pub rest: Vec<Vec3<f64>>,
}

impl SelfContact {
    /// How far a vertex and a triangle, or two edges, are apart in the shape in which the cloth starts, in m: infinite for different cloths.
    pub(crate) fn distance<const FIRST: usize>(&self, model: &Model, pair: [u32; 4]) -> f64 {
        if model.cloth_of(pair[0]) != model.cloth_of(pair[3]) {
            return f64::INFINITY;
        }
        Closest::of::<FIRST>(pair.map(|v| self.rest[v as usize])).distance
    }

    /// Whether it is seen along an axis that a pair of cloth is farther apart in the rest shape than `distance`, in m.
    fn is_farther<const FIRST: usize>(&self, pair: [u32; 4], distance: f64) -> bool {
        // Vertices of bodies have no rest shape.
        let corners = pair.map(|v| self.rest.get(v as usize).copied());
        let [Some(a), Some(b), Some(c), Some(d)] = corners else { return true };
        is_beyond::<FIRST>(&[a, b, c, d], distance)
    }
}

/// Edges sorted by colour: edges of a colour share no vertex.
#[derive(Debug, Default)]
pub(crate) struct ContactEdges {
    /// The vertices of each.
    pub stencils: ColoredStencils<2>,
    /// Farther from a body than this, in m, an end of an edge cannot have the middle inside: the longest rest length,
    /// twice what an unstretched edge would need.
    pub reach: f64,
}

/// One cloth of a model.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let sheet = || Cloth::grid([1.0, 1.0], [2, 2]);
/// let simulation = Simulation::builder().cloth(sheet()).cloth(sheet().translate([0.0, 1.0, 0.0])).build()?;
/// let second = &simulation.model().cloths[1];
/// assert_eq!((second.vertices.clone(), second.edge_count), (9..18, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cloth {
    /// Its name in the scene.
    pub name: String,
    /// Its vertices in the state.
    pub vertices: Range<usize>,
    /// Its terms among those of all cloths, those of stretch first; a model may have several or none.
    pub terms: Range<usize>,
    /// Between the user's numbering and the model's.
    pub ordering: Ordering,
    /// The rest shape, scaled, as the user numbers it.
    pub mesh: Mesh,
    /// Where the vertices are at the start before they are placed, in m, as the user numbers them.
    pub start: Vec<[f64; 3]>,
    /// Number of unique edges.
    pub edge_count: usize,
    /// Number of inner edges.
    pub hinge_count: usize,
    /// Total mass, in kg.
    pub mass: f64,
    /// Decay of velocities, in 1/s.
    pub damping: f64,
    /// Velocity of every vertex at time zero, in m/s.
    pub velocity: Vec3<f64>,
    /// The least of the stiffnesses against stretch and shear that its material is given with, in N/m; infinite if it is rigid.
    pub stiffness: f64,
    /// Strain up to which it is free.
    pub slack: f64,
    /// Its pins, in the order of the scene.
    pub(crate) pins: Range<usize>,
    /// Whether a vertex is held for the whole run, in the model's order.
    clamped: Vec<bool>,
}

/// Vertices led along one path.
#[derive(Debug)]
pub(crate) struct Pin {
    pub(crate) motion: Motion,
    pub(crate) until: Option<f64>,
}

impl Pin {
    /// Where the pinned vertices are led at `time`, in s; `None` once they are released.
    pub(crate) fn pose(&self, time: f64) -> Option<Pose> {
        /// Far above the rounding of a time, far below the shortest substep: one that ends at the very time of release
        /// still holds.
        const SAME_TIME: f64 = 1e-9;
        self.until.is_none_or(|until| time <= until + SAME_TIME).then(|| self.motion.pose(time))
    }
}

/// A vertex of a pin.
///
/// ```
/// use muslin::{Cloth, Pin, Simulation};
///
/// let cloth = Cloth::grid([1.0, 1.0], [2, 2]).pin(Pin::vertices([0])).pin(Pin::vertices([2]));
/// let simulation = Simulation::builder().cloth(cloth).build()?;
/// assert_eq!(simulation.model().pinned.iter().map(|pinned| pinned.pin).sum::<u32>(), 1, "pins 0 and 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinned {
    /// The vertex, in the state.
    pub vertex: u32,
    /// The pin that has it, in the order of the scene.
    pub pin: u32,
}

impl Model {
    /// How far a vertex and a triangle, or two edges, are kept apart, in m: the thickness, but within a cloth no more than a half of what
    /// its rest shape leaves.
    pub(crate) fn pair_thickness<const FIRST: usize>(&self, pair: [u32; 4]) -> f64 {
        const REST_SHARE: f64 = 0.5;
        let Some(rules) = &self.self_contact else { return self.thickness };
        // Most are far apart at rest: that is seen at once.
        if rules.is_farther::<FIRST>(pair, self.thickness / REST_SHARE) {
            return self.thickness;
        }
        self.thickness.min(REST_SHARE * rules.distance::<FIRST>(self, pair))
    }

    /// The same for either kind of pair.
    #[doc(hidden)] // an integration test compares the report with it
    pub fn kept_apart(&self, pair: Pair) -> f64 {
        match pair {
            Pair::VertexTriangle(vertices) => self.pair_thickness::<1>(vertices),
            Pair::EdgeEdge(vertices) => self.pair_thickness::<2>(vertices),
        }
    }

    /// The cloth that a vertex belongs to.
    pub fn cloth_of(&self, vertex: u32) -> usize {
        self.cloths.partition_point(|cloth| cloth.vertices.end <= vertex as usize)
    }

    /// The cloth, or after all of them the body, that a vertex of the arrays of contact belongs to.
    pub(crate) fn object_of(&self, vertex: u32) -> usize {
        let bodies = self.bodies.partition_point(|body| body.vertices.end <= vertex as usize);
        if (vertex as usize) < self.masses.len() { self.cloth_of(vertex) } else { self.cloths.len() + bodies }
    }

    /// −Σ m g·x, in J.
    pub(crate) fn gravity_energy(&self, positions: &[Vec3<f64>]) -> f64 {
        positions.iter().zip(&self.masses).map(|(x, mass)| -mass * self.gravity.dot(*x)).sum()
    }

    /// The state at time zero.
    pub fn initial_state(&self) -> State {
        let velocities = self.cloths.iter().flat_map(|cloth| cloth.vertices.clone().map(|_| cloth.velocity));
        State {
            positions: self.initial_positions.clone(),
            velocities: velocities.collect(),
            time: 0.0,
            memory: SolverMemory::Nothing,
            work: Work::default(),
        }
    }

    /// Those of [`pinned`](Self::pinned) in a range of vertices.
    pub(crate) fn pinned_in(&self, range: Range<usize>) -> impl Iterator<Item = &Pinned> {
        let first = self.pinned.partition_point(|p| (p.vertex as usize) < range.start);
        self.pinned[first..].iter().take_while(move |p| (p.vertex as usize) < range.end)
    }

    /// The number in the state of a vertex of a cloth, as the user numbers it; or what to say of a number that is none.
    pub fn state_vertex(&self, cloth: usize, vertex: usize) -> Result<usize, String> {
        let last = self.cloths.len().saturating_sub(1);
        let piece = self.cloths.get(cloth).ok_or_else(|| format!("there is no cloth {cloth}; the last is {last}"))?;
        let new = piece.ordering.new_from_old.get(vertex).copied();
        let last = piece.vertices.len().saturating_sub(1);
        let out_of_range = || format!("vertex {vertex} is out of range: cloth {cloth} has vertices 0 to {last}");
        new.map(|new| piece.vertices.start + new as usize).ok_or_else(out_of_range)
    }

    /// The cloth of a vertex of the state, and the vertex as the user numbers it.
    pub fn user_vertex(&self, vertex: usize) -> (&str, usize) {
        let cloth = self.cloths.iter().find(|c| c.vertices.contains(&vertex));
        cloth.map_or(("", vertex), |c| (c.name.as_str(), c.ordering.old_from_new[vertex - c.vertices.start] as usize))
    }
}

/// |length / rest length − 1| of an edge.
pub fn edge_strain(x: &[Vec3<f64>], [a, b]: [u32; 2], rest: f64) -> f64 {
    ((x[b as usize] - x[a as usize]).norm() / rest - 1.0).abs()
}
