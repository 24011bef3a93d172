//! What self-contact asks of the start: no triangles cut each other, and nothing touches.
//!
//! The guarantee of [`Guard`](crate::collision::Guard) is one of steps: what is apart stays apart. So a cloth that cuts itself or another at
//! the start would do so for ever, held in place by the same rule that keeps others from it. And what touches is on neither side
//! of the other: nothing says on which it should stay.

use crate::collision::{Neighborhood, find_intersections, point_triangle, segment_segment};
use crate::math::Vec3;
use crate::model::Model;
use crate::parallel::Team;

/// So many are named; the rest is counted.
const NAMED: usize = 4;

/// Nearer than this part of the largest coordinate, two places may be one when they are written in single precision: four of its units.
const TOUCHING: f64 = 4.0 * f32::EPSILON as f64;

/// Why a start cannot be one of self-contact, where it cannot: the scene key, and what is wrong and what to do.
pub(crate) fn refusal(model: &Model) -> Option<(String, String)> {
    model.self_contact.as_ref()?;
    let start = Start { model };
    start.cuts().or_else(|| start.touches())
}

struct Start<'a> {
    model: &'a Model,
}

impl Start<'_> {
    fn cuts(&self) -> Option<(String, String)> {
        let (pairs, count) = find_intersections(&self.model.triangles, &self.model.initial_positions, NAMED);
        let first = pairs.first()?;
        let named: Vec<String> = pairs.iter().map(|pair| self.name_triangles(*pair)).collect();
        let (cut, rest) = (if count == 1 { "pair" } else { "pairs" }, count - named.len());
        let rest = if rest == 0 { String::new() } else { format!("; and {rest} more") };
        let message = format!(
            "{count} {cut} of triangles cut each other at the start, and contact.self_contact keeps apart only what is apart: {}{rest}; \
             move the cloths, mend the mesh, or set contact.self_contact = false",
            named.join("; ")
        );
        Some((format!("cloth[{}]", self.cloth_of_triangle(first[1])), message))
    }

    fn touches(&self) -> Option<(String, String)> {
        let x = &self.model.initial_positions;
        let size = x.iter().map(|x| x.x.abs().max(x.y.abs()).max(x.z.abs())).fold(0.0, f64::max);
        let radius = TOUCHING * size;
        let mut neighborhood = Neighborhood::new(x, &self.model.triangles, |v| self.model.cloth_of(v), |_| true);
        neighborhood.look(&Team::solo(), 1, (x, x), radius);
        let near = neighborhood.active();
        let at = |pair: &[u32; 4]| pair.map(|v| x[v as usize]);
        let distance_to_triangle = |pair: &[u32; 4]| {
            let [a, rest @ ..]: [Vec3<f64>; 4] = at(pair);
            point_triangle(a, rest).distance
        };
        let distance_of_edges = |pair: &[u32; 4]| {
            let [a, b, c, d] = at(pair);
            segment_segment([a, b], [c, d]).distance
        };
        let faces = near.vertex_triangle.iter().filter(|pair| distance_to_triangle(pair) <= radius);
        let edges = near.edge_edge.iter().filter(|pair| distance_of_edges(pair) <= radius);
        let count = faces.clone().count() + edges.clone().count();
        let faces = faces.map(|&[a, b, c, d]| {
            (
                a,
                b,
                format!("{} and the triangle of vertices {}", self.name_vertices(&[a]), self.name_vertices(&[b, c, d])),
            )
        });
        let edges = edges.map(|&[a, b, c, d]| {
            (a, c, format!("the edges of vertices {} and {}", self.name_vertices(&[a, b]), self.name_vertices(&[c, d])))
        });
        let named: Vec<_> = faces.chain(edges).take(NAMED).collect();
        let (first, second, _) = named.first()?;
        let cloth = self.model.cloth_of(*first.max(second));
        let rest = if count == named.len() { String::new() } else { format!("; and {} more", count - named.len()) };
        let named: Vec<&str> = named.iter().map(|(_, _, name)| name.as_str()).collect();
        let message = format!(
            "{count} {} at the start (nearer than {radius:.1e} m), and contact.self_contact keeps apart only what is apart: {}{rest}; \
             move the cloths apart, join the vertices of a seam in the mesh, or set contact.self_contact = false",
            if count == 1 { "pair touches" } else { "pairs touch" },
            named.join("; ")
        );
        Some((format!("cloth[{cloth}]"), message))
    }

    fn cloth_of_triangle(&self, triangle: u32) -> usize {
        self.model.cloth_of(self.model.triangles[triangle as usize][0])
    }

    /// Triangles as the user numbers them: cloths keep the order of theirs.
    fn name_triangles(&self, pair: [u32; 2]) -> String {
        let [first, second] = pair.map(|triangle| {
            let cloth = self.cloth_of_triangle(triangle);
            let before: usize = self.model.cloths[..cloth].iter().map(|cloth| cloth.mesh.triangles.len()).sum();
            (cloth, triangle as usize - before)
        });
        let name = |cloth: usize| &self.model.cloths[cloth].name;
        if first.0 == second.0 {
            format!("triangles {} and {} of cloth {:?}", first.1, second.1, name(first.0))
        } else {
            format!("triangle {} of cloth {:?} and {} of {:?}", first.1, name(first.0), second.1, name(second.0))
        }
    }

    fn name_vertices(&self, vertices: &[u32]) -> String {
        let numbers: Vec<String> = vertices.iter().map(|&v| self.model.user_vertex(v as usize).1.to_string()).collect();
        let cloth = vertices.first().map_or("", |&v| self.model.user_vertex(v as usize).0);
        let word = if numbers.len() == 1 { "vertex " } else { "" };
        format!("{word}{} of cloth {cloth:?}", numbers.join(", "))
    }
}
