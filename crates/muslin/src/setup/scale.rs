//! Lengths of a scene that do not go together: thickness, edges, sizes, distances at the start and from the origin, and radii of colliders.

use crate::contact::{Pair, extent};
use crate::description::{Problem, Problems, Scene};
use crate::mesh::Severity;
use crate::model::{Model, middle};

/// A thickness of more edges than the first is warned of, of more than the second is refused.
const MANY_EDGES: f64 = 2.0;
const MOST_EDGES: f64 = 32.0;

/// A thickness of more than this part of a cloth is refused.
const PART_OF_CLOTH: f64 = 0.5;

/// Single precision has to resolve this part of the thickness, where cloth is kept apart, and this part of an edge everywhere.
const OF_THICKNESS: f64 = 1.0 / 8.0;
const OF_EDGE: f64 = 1.0 / 16.0;

/// The edge in the middle of those of each cloth, in m.
fn usual_edges(model: &Model) -> Vec<Option<f64>> {
    let mut rest = &model.edges[..];
    let mut usual = |count: usize| {
        let (own, others) = rest.split_at(count.min(rest.len()));
        rest = others;
        middle(own.iter().map(|(_, length)| *length))
    };
    model.cloths.iter().map(|cloth| usual(cloth.edge_count)).collect()
}

/// A thickness far above the edges of a cloth: each vertex then has all others of its neighbourhood within reach.
pub(crate) fn check_thickness(model: &Model, problems: &mut Problems) {
    let thickness = model.thickness;
    if model.self_contact.is_none() || thickness == 0.0 {
        return;
    }
    for (cloth, edge) in model.cloths.iter().zip(usual_edges(model)) {
        let Some(edge) = edge else { continue };
        let (name, size, edges) = (&cloth.name, cloth.mesh.extent(), thickness / edge);
        let cure = format!(
            "lower it to {:.2e} m or less, or take a cloth with edges of {:.2e} m or more",
            MANY_EDGES * edge,
            thickness / MANY_EDGES
        );
        if thickness > PART_OF_CLOTH * size {
            let message = format!(
                "{thickness} m is more than half of cloth {name:?}, which is {size:.3} m long: nothing of it could be kept so far apart; {cure}"
            );
            problems.error("contact.thickness", message);
        } else if edges > MOST_EDGES {
            let message = format!(
                "{thickness} m is {edges:.0} times the usual edge of cloth {name:?} ({edge:.2e} m), and the limit is {MOST_EDGES}: each vertex would have some {:.0} triangles within reach; {cure}",
                triangles_within(edges)
            );
            problems.error("contact.thickness", message);
        } else if edges > MANY_EDGES {
            let message = format!(
                "{thickness} m is {edges:.1} times the usual edge of cloth {name:?} ({edge:.2e} m): each vertex has some {:.0} triangles within reach, and frames take many times as long; {cure}",
                triangles_within(edges)
            );
            problems.warning("contact.thickness", message);
        }
    }
}

/// Triangles of a flat sheet within so many edges of a vertex: π k² over the area of an equilateral one.
fn triangles_within(edges: f64) -> f64 {
    edges * edges * std::f64::consts::PI / (0.25 * 3.0_f64.sqrt())
}

/// Surfaces that begin nearer to each other than they are kept: the first frame drives them apart.
pub(crate) fn warn_of_near_starts(model: &Model, problems: &mut Problems) {
    // Fine cloth has a warning of its own, and more pairs than are worth counting.
    let is_fine = usual_edges(model).into_iter().flatten().any(|edge| model.thickness > MANY_EDGES * edge);
    if model.thickness == 0.0 || model.self_contact.is_none() && model.bodies.is_empty() || is_fine || model.is_tangled
    {
        return;
    }
    let (mut count, mut nearest) = (0_usize, (f64::INFINITY, 0));
    model.for_each_near((&model.initial_positions, 0.0), model.thickness, |pair, distance| {
        // What is kept apart by its rest shape alone is rounded.
        if distance < model.kept_apart(pair) * (1.0 - 1e-6) {
            count += 1;
            let (Pair::VertexTriangle(vertices) | Pair::EdgeEdge(vertices)) = pair;
            let of_cloth = vertices.into_iter().filter(|&v| (v as usize) < model.masses.len()).max();
            if distance < nearest.0 {
                nearest = (distance, of_cloth.unwrap_or(0));
            }
        }
    });
    if count > 0 {
        let (distance, vertex) = nearest;
        let (cloth, vertex) = model.user_vertex(vertex as usize);
        problems.warning(
            "contact.thickness",
            format!(
                "{count} pairs of surfaces begin nearer to each other than {} m, the nearest {distance:.2e} m at vertex {vertex} of cloth {cloth:?}: they are driven apart from the first frame on; \
                 lower the thickness to {distance:.2e} m or less, or move them apart",
                model.thickness
            ),
        );
    }
}

/// Cloth so far from the origin that single precision does not resolve what matters.
pub(crate) fn refuse_far_starts(model: &Model, problems: &mut Problems) {
    let keeps_apart = model.thickness > 0.0 && (model.self_contact.is_some() || !model.bodies.is_empty());
    for (index, (cloth, edge)) in model.cloths.iter().zip(usual_edges(model)).enumerate() {
        let Some(edge) = edge else { continue };
        let far = extent(&model.initial_positions[cloth.vertices.clone()]);
        let of_contact = if keeps_apart { OF_THICKNESS * model.thickness } else { f64::INFINITY };
        let (needed, what) = if of_contact < OF_EDGE * edge {
            (of_contact, format!("an eighth of contact.thickness ({} m)", model.thickness))
        } else {
            (OF_EDGE * edge, format!("a sixteenth of an edge ({edge:.2e} m)"))
        };
        let (resolved, limit) = (far * f64::from(f32::EPSILON), needed / f64::from(f32::EPSILON));
        if resolved > needed {
            let cure = if of_contact < OF_EDGE * edge { ", or raise contact.thickness" } else { "" };
            problems.error(
                format!("cloth[{index}]"),
                format!(
                    "begins {far:.0} m from the origin, where numbers of single precision are {resolved:.1e} m apart, more than {what}: the limit of this scene is {limit:.0} m; \
                     move all of the scene to the origin{cure}"
                ),
            );
        }
    }
}

/// Colliders that a coarse cloth lets through: between two vertices on a surface of the radius r, the middle of an edge e is e²/8r below it.
///
/// Where edges of the cloth are met at their middles too, the halves count.
pub fn show_through(scene: &Scene, model: &Model) -> Vec<Problem> {
    let meets_middles = |is_fine: bool| is_fine && ["xpbd", "pbd", "auto"].contains(&scene.solver.entry.name);
    let longest = model.edges.iter().map(|(_, rest)| *rest).fold(0.0, f64::max);
    let shown = model.colliders.iter().filter_map(|collider| {
        let radius = collider.shape.smallest_radius();
        let met = if meets_middles(collider.is_fine) { 0.5 * longest } else { longest };
        let below = met * met / (8.0 * radius);
        let is_round = radius.is_finite() && radius > 0.0;
        (is_round && below > model.thickness).then(|| {
            let enough = (8.0 * radius * model.thickness.max(f64::MIN_POSITIVE)).sqrt() * (longest / met);
            Problem {
                severity: Severity::Warning,
                place: format!("collider[{}]", collider.index),
                message: format!(
                    "a radius of {radius:.3} m shows through a cloth with edges of up to {longest:.3} m: between two points that lie on it an edge is {below:.2e} m below the surface, and contact.thickness is \
                     {} m; take edges of {enough:.3} m or less, or a thickness of {below:.2e} m",
                    model.thickness
                ),
            }
        })
    });
    shown.collect()
}
