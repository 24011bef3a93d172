//! Pairs that may come to touch: a vertex and a triangle, or two edges, without a vertex in common.
//!
//! All cloths and bodies are one array of vertices. [`Neighborhood`](super::Neighborhood) finds the pairs.

use super::bvh::round_down;
use super::closest::{point_triangle, segment_segment};
use super::guard::gap_along;
use crate::math::Vec3;

/// Pairs that may come to touch. See the module's comment.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// A vertex and the corners of a triangle.
    pub vertex_triangle: Vec<[u32; 4]>,
    /// The ends of an edge and those of another.
    pub edge_edge: Vec<[u32; 4]>,
}

impl Candidates {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.vertex_triangle.len() + self.edge_edge.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn clear(&mut self) {
        self.vertex_triangle.clear();
        self.edge_edge.clear();
    }

    /// The lists of both kinds, and how many of the four vertices are the first primitive's.
    pub(super) fn lists(&self) -> [(&[[u32; 4]], usize); 2] {
        [(&self.vertex_triangle, 1), (&self.edge_edge, 2)]
    }
}

/// How far apart a pair is at least, unless that is certainly more than the radius.
pub(super) fn gap_within(radius: f64, x: &[Vec3<f64>; 4], first_count: usize) -> Option<f32> {
    let [a, b, c, d] = *x;
    // Most pairs whose boxes overlap are told apart along the line of their centres.
    let centres = if first_count == 1 { a - (b + c + d) * (1.0 / 3.0) } else { (a + b - c - d) * 0.5 };
    let gap = gap_along(centres, x, first_count);
    if gap > 0.0 && gap * gap * (1.0 - 16.0 * f64::EPSILON) > radius * radius * centres.norm_squared() {
        return None;
    }
    let closest = if first_count == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) };
    // The normal has length 1 up to some 4 units of rounding.
    let gap = gap_along(closest.normal, x, first_count) * (1.0 - 4.0 * f64::EPSILON);
    if gap > radius { None } else { Some(round_down(gap).max(0.0)) }
}
