//! The compiled side of a simulation: a scene as batches of elements, masses, pins and bodies. Only a hand changes it, between frames.

mod bodies;
pub(crate) mod selection;

use std::fmt;
use std::ops::Range;

use crate::contact::collider::Collider;
use crate::contact::collider::mesh as collider_mesh;
use crate::contact::geometry::axis_gaps::is_beyond;
use crate::contact::geometry::closest_points::Closest;
use crate::contact::geometry::surface::Surface;
use crate::contact::pair::Pair;
use crate::contact::untangle::initial;
use crate::description;
use crate::description::{Choice, Problems, Scene, Selection, Shape};
use crate::energy;
use crate::energy::bend::{buckling, dihedral};
use crate::energy::stretch::neo_hookean;
use crate::energy::stretch::shape_matching;
use crate::energy::stretch::shape_matching::Matching;
use crate::energy::{Site, Term};
use crate::force::Wind;
use crate::math::{Mat3, Vec3};
use crate::mesh;
use crate::mesh::Mesh;
use crate::model::selection::{is_meant_for_all, select};
use crate::motion::{Motion, Pose};
use crate::solver;
use crate::solver::position_based::xpbd;
use crate::solver::{Need, auto, projective, vbd};
use crate::state::State;
use crate::topology::{Adjacency, Ordering, Topology, color, locality_order};

pub use crate::contact::collider::mesh::Body;
pub use crate::contact::untangle::initial::BadStart;
pub use crate::description::{LoadFrames, LoadMesh, Problem};

/// Everything that does not change from step to step.
///
/// Vertices of all cloths stand one cloth after the other, each cloth in an order chosen for cache locality.
pub struct Model {
    /// The cloths, in the order of the scene.
    pub cloths: Vec<Cloth>,
    /// Terms of the potential, in the order they are swept.
    pub terms: Vec<Box<dyn Term>>,
    /// The regions of the cloths that are matched to their shape: terms too, but of elements of any size.
    pub matchings: Vec<Matching>,
    /// m, in kg.
    pub masses: Vec<f64>,
    /// 1/m, in 1/kg; zero for a vertex of no triangle. Pins are not in here: they come and go.
    pub inverse_masses: Vec<f64>,
    /// Where every vertex is at time zero, in m.
    pub initial_positions: Vec<Vec3<f64>>,
    /// Held and led vertices.
    pub pins: Vec<Pin>,
    /// The vertices of the pins, rising, each once.
    pub pinned: Vec<Pinned>,
    /// All triangles.
    pub triangles: Vec<[u32; 3]>,
    /// The triangles around each vertex.
    pub vertex_triangles: Adjacency,
    /// All edges with their rest lengths, in m.
    pub edges: Vec<([u32; 2], f64)>,
    /// Bodies with a shape that has a formula.
    pub colliders: Vec<Collider>,
    /// Bodies that are meshes.
    pub bodies: Vec<Body>,
    /// Edges that are tested against bodies too fine for vertices alone to notice; empty if there are none such.
    pub contact_edges: ContactEdges,
    /// Whether cloth is kept from cloth and from itself, and how.
    pub self_contact: Option<SelfContact>,
    /// g, in m/s².
    pub gravity: Vec3<f64>,
    /// Air, if it moves or resists.
    pub wind: Option<Wind<f64>>,
    /// Distance kept from bodies, in m.
    pub thickness: f64,
    /// The triangles of all cloths, then those of all bodies that are meshes.
    pub(crate) surface: Surface,
    /// Whether something cuts or touches at the start that is to be untangled.
    pub is_tangled: bool,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cloths: Vec<&str> = self.cloths.iter().map(|cloth| cloth.name.as_str()).collect();
        let terms: Vec<&str> = self.terms.iter().map(|term| term.name()).collect();
        let mut debug = f.debug_struct("Model");
        debug.field("cloths", &cloths).field("terms", &terms).field("vertices", &self.masses.len());
        debug.finish_non_exhaustive()
    }
}

/// How cloth is kept from cloth.
#[derive(Debug)]
pub struct SelfContact {
    /// Coulomb's μ of cloth on cloth.
    pub friction: f64,
    /// The rest shapes, each cloth where it is, in m.
    pub rest: Vec<Vec3<f64>>,
}

impl SelfContact {
    /// How far a vertex and a triangle, or two edges, are apart in the rest shape, in m: infinite for different cloths.
    pub fn distance<const FIRST: usize>(&self, model: &Model, pair: [u32; 4]) -> f64 {
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
pub struct ContactEdges {
    /// The vertices of each.
    pub stencils: Vec<[u32; 2]>,
    /// Runs of edges that may be moved together.
    pub colors: Vec<Range<usize>>,
    /// Farther from a body than this, in m, an end of an edge cannot have the middle inside: the longest rest length,
    /// twice what an unstretched edge would need.
    pub reach: f64,
}

/// A body is fine if it bends more sharply than this many edges: then its surface leaves a chord between two vertices
/// by more than a sixteenth of the edge (chord²/8r).
const FINE: f64 = 2.0;

/// One cloth of a model.
#[derive(Debug)]
pub struct Cloth {
    /// Its name in the scene.
    pub name: String,
    /// Its vertices in the state.
    pub vertices: Range<usize>,
    /// Its terms, those of stretch first; a model may have several or none.
    pub terms: Range<usize>,
    /// Between the user's numbering and the model's.
    pub ordering: Ordering,
    /// The rest shape, scaled, as the user numbers it.
    pub mesh: Mesh,
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
}

/// Vertices led along one path.
#[derive(Debug)]
pub struct Pin {
    pub(crate) motion: Motion,
    pub(crate) until: Option<f64>,
}

impl Pin {
    /// Where the pinned vertices are led at `time`, in s; `None` once they are released.
    pub fn pose(&self, time: f64) -> Option<Pose> {
        /// Far above the rounding of a time, far below the shortest substep: one that ends at the very time of release
        /// still holds.
        const SAME_TIME: f64 = 1e-9;
        self.until.is_none_or(|until| time <= until + SAME_TIME).then(|| self.motion.pose(time))
    }
}

/// A vertex of a pin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinned {
    /// The vertex, in the state.
    pub vertex: u32,
    /// Index into [`Model::pins`].
    pub pin: u32,
}

/// A compiled scene: the model, its initial state, and warnings.
#[derive(Debug)]
pub struct Compiled {
    /// The immutable part.
    pub model: Model,
    /// The state at time zero.
    pub state: State,
    /// What the user should know.
    pub warnings: Vec<Problem>,
}

impl Model {
    /// How far a vertex and a triangle, or two edges, are kept apart, in m: the thickness, but within a cloth no more than a half of what
    /// its rest shape leaves.
    pub fn pair_thickness<const FIRST: usize>(&self, pair: [u32; 4]) -> f64 {
        const REST_SHARE: f64 = 0.5;
        let Some(rules) = &self.self_contact else { return self.thickness };
        // Most are far apart at rest: that is seen at once.
        if rules.is_farther::<FIRST>(pair, self.thickness / REST_SHARE) {
            return self.thickness;
        }
        self.thickness.min(REST_SHARE * rules.distance::<FIRST>(self, pair))
    }

    /// The same for either kind of pair.
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
    pub fn object_of(&self, vertex: u32) -> usize {
        let bodies = self.bodies.partition_point(|body| body.vertices.end <= vertex as usize);
        if (vertex as usize) < self.masses.len() { self.cloth_of(vertex) } else { self.cloths.len() + bodies }
    }

    /// Compiles a scene without animated meshes; `load` is asked for each mesh file. On failure, everything that is wrong.
    pub fn compile(scene: &Scene, load: &mut LoadMesh<'_>) -> Result<Compiled, Vec<Problem>> {
        let mut no_frames = |file: &str| Err(format!("cannot read {file}: animated meshes are not loaded here"));
        Self::compile_with(scene, load, &mut no_frames)
    }

    /// Compiles a scene; `load` is asked for each mesh file and `load_frames` for the frames of each animated mesh. On
    /// failure, everything that is wrong.
    pub fn compile_with(
        scene: &Scene,
        load: &mut LoadMesh<'_>,
        load_frames: &mut LoadFrames<'_>,
    ) -> Result<Compiled, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(mut model) = Self::build(scene, load, load_frames, &mut problems) else {
            return Err(problems.into_list());
        };
        initial::check(&mut model, scene.contact.start, &mut problems);
        warn_of_idle_wind(scene, &mut problems);
        warn_of_unused_models(scene, &mut problems);
        warn_of_weak_sheets(scene, &mut problems);
        warn_of_strong_damping(scene, &mut problems);
        if problems.any_error() {
            return Err(problems.into_list());
        }
        let state = model.initial_state();
        Ok(Compiled { model, state, warnings: problems.into_list() })
    }

    /// Compiles a scene without a look at what cuts or touches at the start; `None` where nothing can be made of it.
    pub(crate) fn build(
        scene: &Scene,
        load: &mut LoadMesh<'_>,
        load_frames: &mut LoadFrames<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let meshes: Vec<Option<Mesh>> = scene
            .cloths
            .iter()
            .enumerate()
            .map(|(i, cloth)| rest_mesh(cloth, &format!("cloth[{i}]"), load, problems))
            .collect();
        let bodies = collider_mesh::load(scene, load, load_frames, problems);
        let sizes = meshes.iter().map(|m| m.as_ref().map_or(0, Mesh::vertex_count));
        let vertex_count = sizes.sum::<usize>();
        if u32::try_from(vertex_count).is_err() {
            problems.error("cloth", format!("the cloths have {vertex_count} vertices together; the limit is 2³² − 1"));
        }
        collider_mesh::refuse_too_many(&bodies, vertex_count, problems);
        if problems.any_error() {
            // Pins of the cloths that did load are still checked, so that one look shows everything.
            for (i, (cloth, mesh)) in scene.cloths.iter().zip(&meshes).enumerate() {
                if let Some(mesh) = mesh {
                    select_pins(cloth, mesh, &place_mesh(cloth, mesh), i, problems);
                }
            }
            return None;
        }

        let mut model = Self::empty(scene);
        for (i, (cloth, mesh)) in scene.cloths.iter().zip(meshes.into_iter().flatten()).enumerate() {
            let first_term = model.terms.len();
            model.add_cloth(i, cloth, mesh, vertex_count, problems);
            refuse_other_forms(scene, i, &model.terms[first_term..], problems);
        }
        model.add_bodies(bodies);
        model.find_contact_edges();
        model.warn_of_starts_inside(problems);
        Some(model)
    }

    fn empty(scene: &Scene) -> Self {
        Self {
            cloths: Vec::new(),
            terms: Vec::new(),
            matchings: Vec::new(),
            masses: Vec::new(),
            inverse_masses: Vec::new(),
            initial_positions: Vec::new(),
            pins: Vec::new(),
            pinned: Vec::new(),
            triangles: Vec::new(),
            vertex_triangles: Adjacency::default(),
            edges: Vec::new(),
            colliders: scene.colliders.iter().enumerate().filter_map(|(i, c)| Collider::new(i, c)).collect(),
            bodies: Vec::new(),
            contact_edges: ContactEdges::default(),
            self_contact: scene
                .contact
                .self_contact
                .then(|| SelfContact { friction: scene.contact.friction, rest: Vec::new() }),
            gravity: scene.gravity.into(),
            wind: Wind::new(&scene.wind),
            thickness: scene.contact.thickness,
            surface: Surface::default(),
            is_tangled: false,
        }
    }

    fn add_cloth(
        &mut self,
        index: usize,
        cloth: &description::Cloth,
        mesh: Mesh,
        vertex_count: usize,
        problems: &mut Problems,
    ) {
        let placed = place_mesh(cloth, &mesh);
        let pins = select_pins(cloth, &mesh, &placed, index, problems);
        let topology = Topology::build(&mesh);
        let ordering = locality_order(&topology.vertex_neighbors);
        let (ordered, topology) = if ordering.is_identity() {
            (mesh.clone(), topology)
        } else {
            let ordered = ordering.apply(&mesh);
            let topology = Topology::build(&ordered);
            (ordered, topology)
        };
        let first = self.masses.len();

        let masses = ordered.lumped_masses(cloth.material.density);
        let mass = masses.iter().sum();
        self.inverse_masses.extend(masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }));
        self.masses.extend(masses);
        self.initial_positions.extend(ordering.reordered(&placed));
        if let Some(contact) = &mut self.self_contact {
            contact.rest.extend(ordered.positions.iter().map(|x| Vec3::from(*x)));
        }

        warn_of_shared_vertices(index, &pins, mesh.vertex_count(), problems);
        let clamped = self.add_pins(cloth, pins, &placed, &ordering);
        let site =
            Site { mesh: &ordered, topology: &topology, clamped: &clamped, first_vertex: first as u32, vertex_count };
        warn_if_flattened(index, cloth, &site, problems);
        let first_term = self.terms.len();
        self.terms.extend(assemble(energy::STRETCH, &cloth.material.stretch, &site));
        self.terms.extend(assemble(energy::BEND, &cloth.material.bend, &site));
        if cloth.material.stretch.entry.name == shape_matching::NAME {
            self.matchings.push(Matching::new(&cloth.material.stretch.settings, &site));
        }
        self.vertex_triangles.append(&topology.vertex_triangles, self.triangles.len() as u32);
        self.triangles.extend(ordered.triangles.iter().map(|&t| site.stencil(t)));
        self.edges.extend(topology.edges.iter().map(|&[a, b]| (site.stencil([a, b]), site.distance(a, b))));
        self.cloths.push(Cloth {
            name: cloth.name.clone(),
            vertices: first..first + mesh.vertex_count(),
            terms: first_term..self.terms.len(),
            edge_count: topology.edges.len(),
            hinge_count: topology.hinges.len(),
            mass,
            damping: cloth.material.damping,
            velocity: cloth.velocity.into(),
            stiffness: least_stiffness(&cloth.material.stretch),
            slack: cloth.material.stretch.settings.number("slack").unwrap_or(0.0),
            ordering,
            mesh,
        });
    }

    /// Adds the pins of the cloth that was added last; `selected` are their vertices, as the user numbers them.
    /// Returns, for each vertex of the cloth, whether it is held for the whole run.
    fn add_pins(
        &mut self,
        cloth: &description::Cloth,
        selected: Vec<Vec<u32>>,
        placed: &[Vec3<f64>],
        ordering: &Ordering,
    ) -> Vec<bool> {
        let first = self.masses.len() - placed.len();
        let mut clamped = vec![false; placed.len()];
        let mut pin_of_vertex = vec![None; placed.len()];
        for (pin, selected) in cloth.pins.iter().zip(selected) {
            let center = centroid(selected.iter().map(|&v| placed[v as usize]));
            for v in selected {
                let new = ordering.new_from_old[v as usize] as usize;
                // The first pin that names a vertex keeps it.
                if pin_of_vertex[new].is_none() {
                    pin_of_vertex[new] = Some(self.pins.len() as u32);
                    clamped[new] = pin.until.is_none();
                }
            }
            self.pins.push(Pin { motion: Motion::new(&pin.path, center), until: pin.until });
        }
        // A vertex of no triangle has no mass, so nothing could move it: it stays.
        if self.masses[first..].contains(&0.0) {
            let still = self.pins.len() as u32;
            self.pins.push(Pin { motion: Motion::new(&description::Path::still(), Vec3::ZERO), until: None });
            let massless = self.masses[first..].iter().zip(&mut pin_of_vertex).filter(|(mass, _)| **mass == 0.0);
            massless.for_each(|(_, pin)| *pin = Some(still));
        }
        let held = |(pin, vertex): (&Option<u32>, u32)| pin.map(|pin| Pinned { vertex, pin });
        self.pinned.extend(pin_of_vertex.iter().zip(first as u32..).filter_map(held));
        clamped
    }

    /// Marks the bodies that are fine compared with the cloth, and lists its edges if there are any.
    fn find_contact_edges(&mut self) {
        let longest = self.edges.iter().map(|&(_, rest)| rest).fold(0.0, f64::max);
        for collider in &mut self.colliders {
            collider.is_fine = collider.solid.finest_radius() < FINE * longest;
        }
        if self.colliders.iter().any(|collider| collider.is_fine) {
            let stencils: Vec<[u32; 2]> = self.edges.iter().map(|&(stencil, _)| stencil).collect();
            let coloring = color(&stencils, self.masses.len());
            // As for batches, memory safety rests on it.
            if let Err(conflict) = coloring.verify(&stencils, self.masses.len()) {
                unreachable!("contact edges: {conflict}");
            }
            self.contact_edges = ContactEdges {
                stencils: coloring.order.iter().map(|&e| stencils[e as usize]).collect(),
                colors: coloring.ranges,
                reach: longest,
            };
        }
    }

    /// Cloth that begins inside a body is pushed out at once, which is seldom what was meant.
    fn warn_of_starts_inside(&self, problems: &mut Problems) {
        for (c, cloth) in self.cloths.iter().enumerate() {
            for collider in &self.colliders {
                let b = collider.index;
                let solid = collider.solid.posed(&collider.motion.pose(0.0));
                let start = &self.initial_positions[cloth.vertices.clone()];
                let count = start.iter().filter(|x| solid.probe(**x).distance < 0.0).count();
                if count > 0 {
                    problems.warning(
                        format!("cloth[{c}]"),
                        format!(
                            "{count} of {} vertices start inside collider[{b}] and are pushed out at once; move one of them",
                            start.len()
                        ),
                    );
                }
            }
        }
    }

    /// The elastic energy with the vertices at x, in J.
    pub fn elastic_energy(&self, x: &[Vec3<f64>]) -> f64 {
        let terms: f64 = self.terms.iter().map(|term| term.value(x)).sum();
        terms + self.matchings.iter().map(|matching| matching.value(x)).sum::<f64>()
    }

    /// The state at time zero.
    pub fn initial_state(&self) -> State {
        let velocities = self.cloths.iter().flat_map(|cloth| cloth.vertices.clone().map(|_| cloth.velocity));
        State {
            positions: self.initial_positions.clone(),
            velocities: velocities.collect(),
            time: 0.0,
            history: Vec::new(),
        }
    }

    /// The vertices of each pin of a cloth, as the user numbers them, with their centre at the start, in m; `cloth` describes the one at `index`.
    pub fn pin_vertices(&self, index: usize, cloth: &description::Cloth) -> Vec<(Vec<u32>, [f64; 3])> {
        let mesh = &self.cloths[index].mesh;
        let placed = place_mesh(cloth, mesh);
        let center = |pin: &Vec<u32>| centroid(pin.iter().map(|&v| placed[v as usize])).to_array();
        let pins = select_pins(cloth, mesh, &placed, index, &mut Problems::default());
        pins.into_iter()
            .map(|pin| {
                let center = center(&pin);
                (pin, center)
            })
            .collect()
    }

    /// Those of [`pinned`](Self::pinned) in a range of vertices.
    pub(crate) fn pinned_in(&self, range: Range<usize>) -> impl Iterator<Item = &Pinned> {
        let first = self.pinned.partition_point(|p| (p.vertex as usize) < range.start);
        self.pinned[first..].iter().take_while(move |p| (p.vertex as usize) < range.end)
    }

    /// The cloth of a vertex of the state, and the vertex as the user numbers it.
    pub fn user_vertex(&self, vertex: usize) -> (&str, usize) {
        let cloth = self.cloths.iter().find(|c| c.vertices.contains(&vertex));
        cloth.map_or(("", vertex), |c| (c.name.as_str(), c.ordering.old_from_new[vertex - c.vertices.start] as usize))
    }
}

fn assemble(models: &[energy::EnergyKind], choice: &Choice, site: &Site<'_>) -> Vec<Box<dyn Term>> {
    let model = models.iter().find(|m| m.entry.name == choice.entry.name);
    model.map_or_else(Vec::new, |model| (model.assemble)(&choice.settings, site))
}

/// A vertex obeys the first pin that names it.
fn warn_of_shared_vertices(index: usize, pins: &[Vec<u32>], vertex_count: usize, problems: &mut Problems) {
    let mut pin_of_vertex = vec![None; vertex_count];
    for (p, selected) in pins.iter().enumerate() {
        let taken = selected.iter().filter(|&&v| pin_of_vertex[v as usize].is_some_and(|first| first != p)).count();
        if taken > 0 {
            let message = format!("{taken} of its vertices belong to an earlier pin, which keeps them");
            problems.warning(format!("cloth[{index}].pins[{p}]"), message);
        }
        selected.iter().for_each(|&v| pin_of_vertex[v as usize] = pin_of_vertex[v as usize].or(Some(p)));
    }
}

/// Air that moves and does nothing.
fn warn_of_idle_wind(scene: &Scene, problems: &mut Problems) {
    if scene.wind.velocity != [0.0; 3] && Wind::new(&scene.wind).is_none() {
        problems.warning("wind.velocity", "has no effect while drag and lift are 0; try drag = 1.0");
    }
}

/// A model may be a distance to a projection in one form and not in another, which shows only in its elements.
fn refuse_other_forms(scene: &Scene, index: usize, terms: &[Box<dyn Term>], problems: &mut Problems) {
    let solver = scene.solver.entry.name;
    if solver::find(solver).is_none_or(|kind| kind.needs != Need::Projections) {
        return;
    }
    let material = &scene.cloths[index].material;
    for term in terms.iter().filter(|term| !term.is_projective()) {
        let is_stretch = term.name() == material.stretch.entry.name;
        let (key, choice) = if is_stretch { ("stretch", &material.stretch) } else { ("bend", &material.bend) };
        let raw = choice.settings.get("compliance").map_or("", |_| ".compliance");
        problems.error(
            format!("cloth[{index}].material.{key}{raw}"),
            format!(
                "solver {solver:?} needs a model that is a distance to a projection, and {:?} is none in this form; \
                 give `stiffness`, and no key that makes it another energy",
                term.name()
            ),
        );
    }
}

/// A solver with a stiffness of its own leaves the scene's models alone, and a user should not wonder why.
fn warn_of_unused_models(scene: &Scene, problems: &mut Problems) {
    let name = scene.solver.entry.name;
    if solver::find(name).is_some_and(|kind| kind.needs == Need::Nothing) {
        let message =
            format!("solver {name:?} has a stiffness of its own: material.stretch and material.bend are not used");
        problems.warning("solver.kind", message);
    }
}

/// A sheet of which a squeezed triangle gains energy by being squeezed more: the numbers of a run may end there.
fn warn_of_weak_sheets(scene: &Scene, problems: &mut Problems) {
    for (index, cloth) in scene.cloths.iter().enumerate() {
        let choice = &cloth.material.stretch;
        let poisson = choice.settings.number("poisson").filter(|_| choice.entry.name == neo_hookean::KIND.entry.name);
        if poisson.is_some_and(|poisson| !neo_hookean::withstands_collapse(poisson)) {
            let message = "with a ratio below -0.28 \"neo_hookean\" does not withstand strong compression, and a run in which a triangle is \
                           squeezed to a fraction of its area ends with an error; use \"stvk\", or a larger ratio";
            problems.warning(format!("cloth[{index}].material.stretch.poisson"), message);
        }
    }
}

/// Internal damping that is stiffer than sweeps can solve. A step of h has the stiffness (1 + τ/h) k; what they leave of it stays as
/// strain for the time τ, or as motion that does not take place.
fn warn_of_strong_damping(scene: &Scene, problems: &mut Problems) {
    /// In s.
    const STRONG: f64 = 1.0;
    let name = scene.solver.entry.name;
    let sweeps = [xpbd::KIND, auto::KIND, projective::KIND, vbd::KIND];
    if !sweeps.iter().any(|kind| kind.entry.name == name) {
        return;
    }
    for (index, cloth) in scene.cloths.iter().enumerate() {
        for (key, choice) in [("stretch", &cloth.material.stretch), ("bend", &cloth.material.bend)] {
            if let Some(time) = choice.settings.number("damping").filter(|time| *time >= STRONG) {
                let message = format!(
                    "{time} s is more than the sweeps of {name:?} can solve: expect strain that stays, or motion that is too slow; \
                     use solver \"newton\", or a time below {STRONG} s"
                );
                problems.warning(format!("cloth[{index}].material.{key}.damping"), message);
            }
        }
    }
}

/// The bend models that keep a curved rest shape, in quotes.
fn bent_models() -> Vec<String> {
    // A distance keeps the size of a curve as little as its sign, a beam that buckles only one side of it, and "none" nothing.
    let keeps = |model: &&energy::EnergyKind| {
        let has_stiffness = model.entry.parameters.iter().any(|parameter| parameter.name == "stiffness");
        !model.flat_only && has_stiffness && model.entry.name != buckling::KIND.entry.name
    };
    energy::BEND.iter().filter(keeps).map(|model| format!("{:?}", model.entry.name)).collect()
}

/// A curved rest shape under a model that knows only flat ones.
fn warn_if_flattened(index: usize, cloth: &description::Cloth, site: &Site<'_>, problems: &mut Problems) {
    /// Below this a rest shape counts as flat: scanned and exported meshes are never exactly flat.
    const FLAT_DEGREES: f64 = 2.0;
    let name = cloth.material.bend.entry.name;
    if !energy::BEND.iter().any(|m| m.flat_only && m.entry.name == name) {
        return;
    }
    let angle = |hinge: &crate::topology::Hinge| dihedral::angle(&hinge.vertices.map(|v| site.position(v))).abs();
    let sharpest = site.topology.hinges.iter().map(angle).fold(0.0, f64::max).to_degrees();
    if sharpest > FLAT_DEGREES {
        problems.warning(
            format!("cloth[{index}].material.bend.model"),
            format!(
                "\"{name}\" is for flat rest shapes, but this one is bent by up to {sharpest:.0} degrees between \
                 triangles and will be pulled flat; use one of {} to keep its shape",
                bent_models().join(", ")
            ),
        );
    }
}

/// The rest shape of a cloth, scaled and checked.
fn rest_mesh(
    cloth: &description::Cloth,
    place: &str,
    load: &mut LoadMesh<'_>,
    problems: &mut Problems,
) -> Option<Mesh> {
    let (mesh, key) = match &cloth.shape {
        Shape::Grid { size, cells, diagonals } => {
            (Mesh::grid(*size, *cells, *diagonals).map_err(|e| e.to_string()), "grid")
        }
        Shape::Tube { radius, height, cells } => {
            (Mesh::tube(*radius, *height, *cells).map_err(|e| e.to_string()), "tube")
        }
        Shape::Mesh { file } => (load(file), "mesh"),
    };
    let place = format!("{place}.{key}");
    let mut mesh = mesh.map_err(|message| problems.error(&place, message)).ok()?;
    for p in &mut mesh.positions {
        *p = p.map(|x| x * cloth.scale);
    }
    if cloth.repair {
        match mesh::repair(&mesh) {
            Ok(repaired) => {
                for note in repaired.notes {
                    problems.warning(&place, note);
                }
                mesh = repaired.mesh;
            }
            Err(findings) => {
                report_findings(&place, &findings, problems);
                return None;
            }
        }
    }
    let findings = mesh::check(&mesh);
    report_findings(&place, &findings, problems);
    let broken = findings.iter().any(|f| f.severity == mesh::Severity::Error);
    (!broken).then_some(mesh)
}

fn report_findings(place: &str, findings: &[mesh::Finding], problems: &mut Problems) {
    for finding in findings {
        let remedy = if finding.repairable { "; set repair = true on this cloth to mend it" } else { "" };
        let message = format!("{}{remedy}", finding.kind);
        problems.add(Problem { severity: finding.severity, place: place.to_owned(), message });
    }
}

/// Initial positions: scaled (already), rotated, translated.
fn place_mesh(cloth: &description::Cloth, mesh: &Mesh) -> Vec<Vec3<f64>> {
    let rotation = Mat3::from_degrees_xyz(cloth.rotate);
    let shift = Vec3::from(cloth.translate);
    mesh.positions.iter().map(|&p| rotation.apply(p.into()) + shift).collect()
}

fn centroid(points: impl Iterator<Item = Vec3<f64>>) -> Vec3<f64> {
    let (sum, count) = points.fold((Vec3::ZERO, 0.0), |(sum, n), p| (sum + p, n + 1.0));
    if count > 0.0 { sum * (1.0 / count) } else { sum }
}

/// The vertices of each pin, as the user numbers them.
fn select_pins(
    cloth: &description::Cloth,
    mesh: &Mesh,
    placed: &[Vec3<f64>],
    index: usize,
    problems: &mut Problems,
) -> Vec<Vec<u32>> {
    let select = |(p, pin): (usize, &description::Pin)| {
        let selected = select(&pin.selection, mesh, placed);
        let key = match &pin.selection {
            Selection::Vertices(_) => "vertices",
            Selection::Named(_) => "select",
            Selection::Sphere { .. } | Selection::Box { .. } => "within",
        };
        let place = format!("cloth[{index}].pins[{p}].{key}");
        let count = mesh.vertex_count();
        match selected.iter().find(|&&v| v as usize >= count) {
            Some(v) => {
                let last = count.saturating_sub(1);
                problems.error(place, format!("vertex {v} is out of range: the cloth has vertices 0 to {last}"));
                return Vec::new();
            }
            None if selected.is_empty() => {
                problems.error(place, "selects no vertex of this cloth; move or enlarge the region");
            }
            None if selected.len() == count && !is_meant_for_all(&pin.selection) => {
                let message = "selects every vertex: the mesh is flat that way before it is rotated; \
                               say \"all\" if this is meant";
                problems.warning(place, message);
            }
            None => {}
        }
        selected
    };
    cloth.pins.iter().enumerate().map(select).collect()
}

/// The least of the stiffnesses of a stretch model, in N/m; zero for none. Flexion stands beside the others, not behind them.
fn least_stiffness(stretch: &Choice) -> f64 {
    let settings = &stretch.settings;
    if stretch.entry.parameters.is_empty() {
        return 0.0;
    }
    let has = |name: &str| settings.number(name).is_some();
    let is_replaced = has("warp") && has("weft") && has("shear");
    let counts = |name: &str| name != "flexion" && !(name == "stiffness" && is_replaced);
    let given = stretch.entry.parameters.iter().filter_map(|parameter| {
        let value = settings.number(parameter.name).filter(|_| counts(parameter.name))?;
        match parameter.unit {
            "N/m" => Some(value),
            "m/N" if value > 0.0 => Some(value.recip()),
            _ => None,
        }
    });
    given.fold(f64::INFINITY, f64::min)
}

/// |length / rest length − 1| of an edge.
pub(crate) fn edge_strain(x: &[Vec3<f64>], [a, b]: [u32; 2], rest: f64) -> f64 {
    ((x[b as usize] - x[a as usize]).norm() / rest - 1.0).abs()
}
