//! The edges of a flat mesh strung into lines, as straight as they go.
//!
//! At a vertex two edges follow each other in a line if each is the straightest way on from the other, and the way turns by less than 30°. So every edge is
//! in exactly one line. On a grid these are its rows, its columns and its diagonals; on other meshes they wander.
//!
//! Of use are the lines along the shorter sides of triangles that have a longest one, as those of a grid, where the border runs along such sides too. `docs/decisions/017-long-range-constraints.md` has
//! what they gain.

use crate::topology::{Chart, NONE};

/// The cosine of the largest turn.
const STRAIGHT: f64 = 0.866;
/// A side of a triangle counts as its longest if its square is more than this part of the sum of the other squares, besides being longer than each: 1 across from a right angle, whatever
/// the others are, and ½ in an equilateral triangle.
const LONGER: f64 = 0.6;
/// Part of the edges that has to be a longest side at least; on a grid it is a third.
const FEWEST_LONGEST: f64 = 0.15;

impl Chart<'_> {
    /// The vertices of each line, one after the other, without the lines inside along the longest sides of triangles, such as the diagonals of a grid;
    /// none at all where lines are of no use.
    pub(crate) fn lines(&self) -> Vec<Vec<u32>> {
        let edges = &self.topology.edges;
        let is_longest: Vec<bool> = (0..edges.len()).map(|e| self.is_longest(e)).collect();
        let border = &self.topology.boundary_edges;
        let longest_border = border.iter().filter(|e| is_longest[**e as usize]).count();
        let longest = is_longest.iter().filter(|is| **is).count();
        if 2 * longest_border > border.len() || (longest as f64) < FEWEST_LONGEST * edges.len() as f64 {
            return Vec::new();
        }
        let place = |[a, b]: [u32; 2]| edges.binary_search(&[a.min(b), a.max(b)]);
        let mut is_strung = vec![false; edges.len()];
        let mut lines = Vec::new();
        for (e, &[a, b]) in edges.iter().enumerate() {
            if is_strung[e] {
                continue;
            }
            is_strung[e] = true;
            let (mut count, mut longest) = (1, usize::from(is_longest[e]));
            let mut walk = |mut at: [u32; 2]| {
                let mut vertices = Vec::new();
                while let Some(next) = self.next(at) {
                    let Ok(place) = place(next) else { break };
                    // A line that turns little by little may come back to where it began.
                    if std::mem::replace(&mut is_strung[place], true) {
                        break;
                    }
                    count += 1;
                    longest += usize::from(is_longest[place]);
                    vertices.push(next[1]);
                    at = next;
                }
                vertices
            };
            let (forward, mut line) = (walk([a, b]), walk([b, a]));
            if 2 * longest > count {
                continue;
            }
            line.reverse();
            line.extend([a, b]);
            line.extend(forward);
            lines.push(line);
        }
        lines
    }

    /// The edge that follows another one in its line, both in the sense of the walk.
    fn next(&self, [a, b]: [u32; 2]) -> Option<[u32; 2]> {
        let c = self.straightest(a, b)?;
        (self.straightest(c, b) == Some(a)).then_some([b, c])
    }

    /// The vertex that a way from `a` to `b` goes straightest on to.
    fn straightest(&self, a: u32, b: u32) -> Option<u32> {
        let ways = self.topology.vertex_neighbors.of(b).iter().filter(|c| **c != a).map(|&c| (self.turn(a, b, c), c));
        let best = ways.max_by(|p, q| p.0.total_cmp(&q.0).then(q.1.cmp(&p.1)));
        best.filter(|(turn, _)| *turn > STRAIGHT).map(|(_, c)| c)
    }

    /// The cosine of the angle by which a way over three vertices turns.
    fn turn(&self, a: u32, b: u32, c: u32) -> f64 {
        let [[p, q], [r, s]] = [self.line(a, b), self.line(b, c)];
        (p * r + q * s) / (libm::hypot(p, q) * libm::hypot(r, s))
    }

    /// Whether an edge is the longest side of all its triangles.
    fn is_longest(&self, edge: usize) -> bool {
        let [a, b] = self.topology.edges[edge];
        let length = self.straight(a, b);
        let around = self.topology.edge_triangles[edge].into_iter().filter(|t| *t != NONE);
        around.flat_map(|t| self.triangles[t as usize]).filter(|v| *v != a && *v != b).all(|v| {
            let [p, q] = [self.straight(a, v), self.straight(b, v)];
            length > p.max(q) && length * length > LONGER * (p * p + q * q)
        })
    }
}

#[cfg(test)]
mod tests {
    use muslin_testing::Random;

    use super::*;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;

    fn lines(mesh: &Mesh) -> Vec<Vec<u32>> {
        let topology = Topology::build(mesh);
        Chart::new(mesh, &topology).expect("it is flat").lines()
    }

    #[test]
    fn on_a_grid_they_are_its_rows_and_columns() {
        // With cells that are nearly square, and ten times as long as wide.
        for (diagonals, width) in [(Diagonals::Alternating, 0.8), (Diagonals::Forward, 0.8), (Diagonals::Forward, 0.08)]
        {
            let mut found = lines(&Mesh::grid([1.0, width], [5, 4], diagonals).expect("a grid"));
            found.sort();
            let rows = (0..5).map(|j| (0..6).map(|i| 6 * j + i).collect::<Vec<u32>>());
            let columns = (0..6).map(|i| (0..5).map(|j| 6 * j + i).collect::<Vec<u32>>());
            let mut expected: Vec<Vec<u32>> = rows.chain(columns).collect();
            expected.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn no_edge_is_in_two_lines_and_few_are_in_none() {
        let mut mesh = Mesh::grid([1.0, 1.0], [12, 12], Diagonals::default()).expect("a grid");
        // Moved by up to a fifth of a cell.
        let mut random = Random::<[f64; 3]>::new(7);
        for p in &mut mesh.positions {
            p[0] += 0.2 / 12.0 * random.signed();
            p[2] += 0.2 / 12.0 * random.signed();
        }
        let topology = Topology::build(&mesh);
        let mut uses = vec![0; topology.edges.len()];
        for line in lines(&mesh) {
            for pair in line.windows(2) {
                let edge = [pair[0].min(pair[1]), pair[0].max(pair[1])];
                uses[topology.edges.binary_search(&edge).expect("an edge of the mesh")] += 1;
            }
        }
        assert!(uses.iter().all(|n| *n <= 1));
        let used = uses.iter().filter(|n| **n == 1).count();
        assert!(2 * used > uses.len(), "{used} of {}", uses.len());
    }

    #[test]
    fn meshes_that_they_do_not_suit_get_none() {
        for diagonals in [Diagonals::Isotropic, Diagonals::Crossed] {
            assert_eq!(lines(&Mesh::grid([1.0, 1.0], [10, 10], diagonals).expect("a grid")), Vec::<Vec<u32>>::new());
        }
    }
}
