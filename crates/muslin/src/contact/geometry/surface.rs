//! Surface of triangles: finds every pair that is near in a state, each once.
//!
//! A tree over the triangles finds those whose boxes come within the distance. A vertex or an edge is of several triangles; one of
//! them, the first, *owns* it. The pair of a vertex and a triangle T is looked at where the owner of the vertex meets T, and that of
//! two edges where their owners meet. The box of an owner holds what it owns, so no pair within the distance is missed, and none
//! is looked at twice. (A triangle never meets itself: its own vertices and edges make no pair.)

use crate::contact::geometry::bvh::{Aabb, Bvh};
use crate::contact::geometry::closest_points::{point_triangle, segment_segment};
use crate::contact::pair::Pair;
use crate::math::Vec3;

/// Triangles, and which of them owns a vertex or an edge.
///
/// ```
/// use muslin::contact::Surface;
///
/// let surface = Surface::new(vec![[0, 1, 2], [2, 1, 3]], 4);
/// assert_eq!(surface.triangles().len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Surface {
    triangles: Vec<[u32; 3]>,
    /// Bit k: corner k; bit 3 + k: the edge from corner k to the next.
    pub(crate) owned: Vec<u8>,
}

impl Surface {
    /// Of triangles whose vertices are below `vertex_count`; those with other vertices, or with one twice, stay and own nothing.
    pub fn new(triangles: Vec<[u32; 3]>, vertex_count: usize) -> Self {
        let mut owned = vec![0; triangles.len()];
        let mut has_owner = vec![false; vertex_count];
        let mut sides: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(3 * triangles.len());
        for (number, triangle) in triangles.iter().enumerate().filter(|(_, triangle)| is_whole(triangle, vertex_count))
        {
            for k in 0..3 {
                let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
                if !std::mem::replace(&mut has_owner[a as usize], true) {
                    owned[number] |= 1 << k;
                }
                sides.push(([a.min(b), a.max(b)], number as u32, k as u8));
            }
        }
        sides.sort_unstable();
        sides.dedup_by_key(|side| side.0);
        for (_, number, k) in sides {
            owned[number as usize] |= 8 << k;
        }
        Self { triangles, owned }
    }

    /// All of them, as they were given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Calls `visit` with every pair nearer than `distance`, in m, of those triangles that `matters` says to look at, and how near it is;
    /// the order is that of a tree. Triangles that `matters` refuses for themselves (`matters(i, i)`) are not looked at among each other.
    pub fn for_each_near(
        &self,
        positions: &[Vec3<f64>],
        distance: f64,
        matters: impl Fn(usize, usize) -> bool,
        mut visit: impl FnMut(Pair, f64),
    ) {
        let is_here = |number: &usize| {
            let triangle = &self.triangles[*number];
            is_whole(triangle, positions.len()) && triangle.iter().all(|&v| positions[v as usize].is_finite())
        };
        let numbers: Vec<usize> = (0..self.triangles.len()).filter(is_here).collect();
        let box_of = |item: u32| {
            let corners = self.triangles[numbers[item as usize]].iter().map(|&v| positions[v as usize]);
            Aabb::around_all(corners, 0.5 * distance)
        };
        let mut tree = Bvh::default();
        tree.sort(numbers.len(), box_of);
        tree.refit(|item| (box_of(item), matters(numbers[item as usize], numbers[item as usize])));
        tree.for_each_overlap(|i, j| {
            let [i, j] = [numbers[i as usize], numbers[j as usize]];
            if matters(i, j) {
                self.look(positions, distance, [i, j], &mut visit);
            }
        });
    }

    /// The pairs of two triangles that are looked at there.
    fn look(&self, x: &[Vec3<f64>], distance: f64, [i, j]: [usize; 2], visit: &mut impl FnMut(Pair, f64)) {
        let at = |v: u32| x[v as usize];
        let around = |vertices: &[u32]| Aabb::around_all(vertices.iter().map(|&v| at(v)), 0.5 * distance);
        for (first, second) in [(i, j), (j, i)] {
            if self.owned[first] & 7 == 0 {
                continue;
            }
            let [a, b, c] = self.triangles[second];
            let whole = around(&[a, b, c]);
            for k in (0..3).filter(|k| self.owned[first] & (1 << k) != 0) {
                let v = self.triangles[first][k];
                if v != a && v != b && v != c && around(&[v]).overlaps(&whole) {
                    let found = point_triangle(at(v), [at(a), at(b), at(c)]).distance;
                    if found < distance {
                        visit(Pair::VertexTriangle([v, a, b, c]), found);
                    }
                }
            }
        }
        let edges = |t: usize| {
            let own = (0..3).filter(move |k| self.owned[t] & (8 << k) != 0);
            own.map(move |k| [self.triangles[t][k], self.triangles[t][(k + 1) % 3]])
        };
        for [a, b] in edges(i) {
            let first = around(&[a, b]);
            for [c, d] in edges(j) {
                let is_pair = a != c && a != d && b != c && b != d;
                if is_pair && first.overlaps(&around(&[c, d])) {
                    let found = segment_segment([at(a), at(b)], [at(c), at(d)]).distance;
                    if found < distance {
                        visit(Pair::EdgeEdge([a, b, c, d]), found);
                    }
                }
            }
        }
    }
}

/// Whether a triangle has three vertices that exist.
pub(crate) fn is_whole(&[a, b, c]: &[u32; 3], vertex_count: usize) -> bool {
    a != b && b != c && c != a && [a, b, c].iter().all(|&v| (v as usize) < vertex_count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;

    /// Triangles that share many vertices and edges, in a crowd.
    #[test]
    fn every_near_pair_is_found_once_and_no_other() {
        let mut random = Random::new(1);
        let count = 24_u32;
        let positions: Vec<_> = (0..count).map(|_| Vec3::new(random.unit(), random.unit(), random.unit())).collect();
        let pick = |random: &mut Random| random.below(count);
        let triangles: Vec<[u32; 3]> =
            (0..30).map(|_| [pick(&mut random), pick(&mut random), pick(&mut random)]).collect();
        let whole: Vec<_> = triangles.iter().copied().filter(|t| is_whole(t, positions.len())).collect();
        let mut edges: Vec<[u32; 2]> =
            whole.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut vertices: Vec<u32> = whole.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let (at, distance) = (|v: u32| positions[v as usize], 0.2);
        let mut expected = Vec::new();
        for &v in &vertices {
            for &[a, b, c] in whole.iter().filter(|t| !t.contains(&v)) {
                if point_triangle(at(v), [at(a), at(b), at(c)]).distance < distance {
                    expected.push([v, a, b, c]);
                }
            }
        }
        let faces = expected.len();
        for (i, &[a, b]) in edges.iter().enumerate() {
            for &[c, d] in edges[i + 1..].iter().filter(|e| !e.contains(&a) && !e.contains(&b)) {
                if segment_segment([at(a), at(b)], [at(c), at(d)]).distance < distance {
                    expected.push([a, b, c, d]);
                }
            }
        }
        let mut found = Vec::new();
        let surface = Surface::new(triangles, positions.len());
        surface.for_each_near(
            &positions,
            distance,
            |_, _| true,
            |pair, _| {
                found.push(match pair {
                    Pair::VertexTriangle(pair) => pair,
                    Pair::EdgeEdge([a, b, c, d]) => {
                        let (e, f) = ([a.min(b), a.max(b)], [c.min(d), c.max(d)]);
                        let [e, f] = [e.min(f), e.max(f)];
                        [e[0], e[1], f[0], f[1]]
                    }
                });
            },
        );
        assert!(faces > 50 && expected.len() > faces + 50, "few pairs: {faces} of {}", expected.len());
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}
