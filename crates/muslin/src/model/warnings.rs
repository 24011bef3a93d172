//! Warnings about a model, whatever solves it.

use crate::description;
use crate::description::{Problems, Scene};
use crate::energy;
use crate::energy::Site;
use crate::energy::bend::{buckling, dihedral};
use crate::energy::stretch::neo_hookean;
use crate::force::Wind;
use crate::mesh::Bounds;
use crate::model::Model;
use crate::shape::Shape;
use crate::topology::Hinge;

/// Cloth that begins inside a collider with a formula.
///
/// ```
/// use muslin::contact::Sphere;
/// use muslin::model::StartInside;
/// use muslin::{Cloth, Collide, Simulation};
///
/// let ball = Sphere { center: [0.0, -0.25, 0.0], radius: 0.5 };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).collider(ball.friction(0.1)).build()?;
/// let [StartInside { cloth: 0, collider: 0, count: 1, depth }] = simulation.model().starts_inside()[..] else { return Err("one vertex".into()) };
/// assert!((depth - 0.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartInside {
    /// Which cloth.
    pub cloth: usize,
    /// Which of the scene's colliders.
    pub collider: usize,
    /// Vertices that are inside.
    pub count: usize,
    /// Of the deepest, in m.
    pub depth: f64,
}

impl Model {
    /// The cloths that begin inside a collider with a formula.
    pub fn starts_inside(&self) -> Vec<StartInside> {
        let mut inside = Vec::new();
        for (cloth, vertices) in self.cloths.iter().map(|cloth| cloth.vertices.clone()).enumerate() {
            for collider in &self.colliders {
                let solid = collider.solid.posed(&collider.motion.pose(0.0));
                let start = &self.initial_positions[vertices.clone()];
                let depths = start.iter().map(|x| -solid.probe(*x).distance).filter(|depth| *depth > 0.0);
                let (depth, count) = depths.fold((0.0, 0), |(deepest, n), depth| (f64::max(deepest, depth), n + 1));
                if count > 0 {
                    inside.push(StartInside { cloth, collider: collider.index, count, depth });
                }
            }
        }
        inside
    }

    /// Cloth that begins inside a body is pushed out at once, which is seldom what was meant.
    pub(crate) fn warn_of_starts_inside(&self, problems: &mut Problems) {
        for StartInside { cloth, collider, count, depth } in self.starts_inside() {
            problems.warning(
                format!("cloth[{cloth}]"),
                format!(
                    "{count} of {} vertices start inside collider[{collider}], up to {depth:.3} m deep, and are pushed out at once: \
                     that gives the cloth energy, and may leave it on both sides; move the cloth or the collider by as much",
                    self.cloths[cloth].vertices.len()
                ),
            );
        }
    }
}

/// A body of a smaller radius than this part of an edge passes between the vertices and the midpoints of the edges of a triangle: half the circumradius of an equilateral one.
const BETWEEN: f64 = 0.29;

impl Model {
    /// Cloth meets a body at its vertices and the midpoints of its edges: one that is thinner than they are apart can come through a triangle.
    pub(crate) fn warn_of_thin_colliders(&self, problems: &mut Problems) {
        let longest = self.edges.iter().map(|&(_, rest)| rest).fold(0.0, f64::max);
        for collider in &self.colliders {
            let radius = thinnest_radius(&*collider.shape);
            if radius < BETWEEN * longest {
                problems.warning(
                    format!("collider[{}]", collider.index),
                    format!(
                        "is thin, {radius:.3} m from its middle, beside a cloth whose edges are up to {longest:.3} m long: \
                         it can come through a triangle; use a finer cloth, or a mesh as collider"
                    ),
                );
            }
        }
    }
}

/// The radius of the thinnest part of a body, or of a bar that it is as thick as, in m.
fn thinnest_radius(shape: &dyn Shape) -> f64 {
    let radius = shape.smallest_radius();
    if radius > 0.0 {
        return radius;
    }
    let Bounds { min, max } = shape.bounds();
    let mut extents: [f64; 3] = std::array::from_fn(|axis| max[axis] - min[axis]);
    extents.sort_unstable_by(f64::total_cmp);
    0.5 * extents[1]
}

/// A vertex obeys the first pin that names it.
pub(crate) fn warn_of_shared_vertices(index: usize, pins: &[Vec<u32>], vertex_count: usize, problems: &mut Problems) {
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
pub(crate) fn warn_of_idle_wind(scene: &Scene, problems: &mut Problems) {
    if scene.wind.velocity != [0.0; 3] && Wind::new(&scene.wind).is_none() {
        problems.warning("wind.velocity", "has no effect while drag and lift are 0; try drag = 1.0");
    }
}

/// A sheet of which a squeezed triangle gains energy by being squeezed more: the numbers of a run may end there.
pub(crate) fn warn_of_weak_sheets(scene: &Scene, problems: &mut Problems) {
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
pub(crate) fn warn_if_flattened(index: usize, cloth: &description::Cloth, site: &Site<'_>, problems: &mut Problems) {
    /// Below this a rest shape counts as flat: scanned and exported meshes are never exactly flat.
    const FLAT_DEGREES: f64 = 2.0;
    let name = cloth.material.bend.entry.name;
    if !energy::BEND.iter().any(|m| m.flat_only && m.entry.name == name) {
        return;
    }
    let angle = |hinge: &Hinge| dihedral::angle(&site.hinge(hinge)).abs();
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
