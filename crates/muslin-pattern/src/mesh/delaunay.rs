//! Constrained Delaunay triangulation of a polygon and points within, by `spade`.

use std::collections::VecDeque;

use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::curve::Point;

/// The triangles within an outline, counter-clockwise, in an order that depends on the points alone.
///
/// The first `outline_count` points are the outline, counter-clockwise. Nothing is returned where two points are one, or where the outline crosses itself.
pub(super) fn triangulate(points: &[Point], outline_count: usize) -> Option<Vec<[u32; 3]>> {
    // Spade refuses numbers below 1e-43 that are not 0: it could not compute with their products.
    let exact = |value: f64| if value.abs() < 1e-30 { 0.0 } else { value };
    let vertices: Vec<_> = points.iter().map(|&[x, y]| Point2::new(exact(x), exact(y))).collect();
    let next = |index: usize| (index + 1) % outline_count;
    let sides = (0..outline_count).map(|index| [index, next(index)]).collect();
    let mut conflicts = 0;
    let cdt =
        ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(vertices, sides, |_| conflicts += 1).ok()?;
    if conflicts > 0 || cdt.num_vertices() != points.len() {
        return None;
    }
    // Faces to the left of the outline are within, and so are those that no side of it parts from them.
    let mut is_within = vec![false; cdt.num_all_faces()];
    let mut waiting = VecDeque::new();
    for index in 0..outline_count {
        let [from, to] = [index, next(index)].map(FixedVertexHandle::from_index);
        let face = cdt.get_edge_from_neighbors(from, to)?.face().as_inner()?.fix();
        if !std::mem::replace(&mut is_within[face.index()], true) {
            waiting.push_back(face);
        }
    }
    let mut triangles = Vec::with_capacity(2 * points.len());
    while let Some(face) = waiting.pop_front() {
        let face = cdt.face(face);
        for edge in face.adjacent_edges() {
            if edge.is_constraint_edge() {
                continue;
            }
            let other = edge.rev().face().as_inner()?.fix();
            if !std::mem::replace(&mut is_within[other.index()], true) {
                waiting.push_back(other);
            }
        }
        let corners = face.vertices().map(|vertex| vertex.fix().index() as u32);
        let first = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
        triangles.push([0, 1, 2].map(|k| corners[(first + k) % 3]));
    }
    triangles.sort_unstable();
    Some(triangles)
}
