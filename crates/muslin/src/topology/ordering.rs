//! Vertex orders that keep neighbours close in memory.
//!
//! Solvers gather positions along edges. A mesh from a modelling program is numbered in the order in which it was
//! drawn, and where neighbours lie far apart each gather waits for memory.
//!
//! [`locality_order`] numbers the vertices breadth first from an outermost one, each one's neighbours by rising degree
//! [Cuthill 1969]: a band sweeps over the cloth, and the neighbours of a vertex lie in the part of the band
//! still in the cache. (Its better-known reverse has the same locality; the reversal serves factorisations.)
//!
//! The rival is a Hilbert curve through the rest positions. It was tried and touches fewer lines of a tiny cache, yet
//! sweeps run slower along it: they jump, where a band streams and is prefetched. Milliseconds for one sweep of
//! distance projections in colour order, and for one gather of all neighbours, one thread:
//!
//! | million vertices, shuffled | input | band | Hilbert |
//! |---|---|---|---|
//! | sheet, 1000 × 1000 | 16.2, 17.9 | 10.8, 4.4 | 11.5, 5.3 |
//! | tube, 1024 × 1024 | 18.1, 17.9 | 8.8, 4.6 | 12.0, 5.9 |
//! | sheet, row by row | 8.0, 4.3 | 8.1, 4.3 | 9.4, 4.5 |
//!
//! The last row is why an order that is good already is kept, as those of generated meshes are.

use std::ops::Range;

use crate::mesh::{Mesh, Seam};
use crate::topology::Adjacency;

/// A renumbering of vertices.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh};
/// use muslin::topology::{Topology, locality_order};
///
/// let topology = Topology::build(&Mesh::grid([1.0, 1.0], [2, 2], Diagonals::Alternating)?);
/// let ordering = locality_order(&topology.vertex_neighbors);
/// let names: Vec<_> = (0..9).collect();
/// assert_eq!(ordering.restored(&ordering.reordered(&names)), names);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ordering {
    /// The new number of each old vertex.
    pub new_from_old: Vec<u32>,
    /// The old number of each new vertex.
    pub old_from_new: Vec<u32>,
}

/// Vertices in a cache line of 64 bytes: a position takes 16.
const VERTICES_PER_LINE: usize = 4;

/// Lines of the cache that an order is judged by: 256 KiB, a small second-level cache.
///
/// A first-level cache would be the wrong judge: it prefers the Hilbert curve, which is slower.
const CACHE_LINES: usize = 4096;

/// How many times the lines of the band an order may fetch and still count as good.
///
/// Lines that are fetched again by streaming come for nothing: a crossed sheet (2.0 times) and one with its rows
/// shuffled (3.0) sweep as fast as a band. With runs of 64 vertices shuffled (3.2) gathers take 1.7 times as long, with
/// runs of 16 (4.0) 3.9 times.
const TOLERATED_FETCHES: usize = 3;

/// Searches for an outermost vertex; two or three suffice on any mesh seen, the limit keeps the time linear.
const MAX_SEARCHES: usize = 8;

impl Ordering {
    /// Leaves every vertex its number.
    pub fn identity(vertex_count: usize) -> Self {
        let numbers: Vec<u32> = (0..vertex_count as u32).collect();
        Self { new_from_old: numbers.clone(), old_from_new: numbers }
    }

    /// Whether every vertex keeps its number.
    pub fn is_identity(&self) -> bool {
        (0_u32..).zip(&self.new_from_old).all(|(old, &new)| old == new)
    }

    /// The mesh with its vertices renumbered. Triangles keep their order, to which results refer, and so do uv and groups.
    ///
    /// # Panics
    ///
    /// If the ordering is of another number of vertices.
    pub fn apply(&self, mesh: &Mesh) -> Mesh {
        Mesh {
            positions: self.reordered(&mesh.positions),
            triangles: mesh
                .triangles
                .iter()
                .map(|corners| corners.map(|old| self.new_from_old[old as usize]))
                .collect(),
            uv: mesh.uv.clone(),
            groups: mesh.groups.clone(),
            flat: mesh.flat.clone(),
            seams: mesh
                .seams
                .iter()
                .map(|seam| Seam {
                    name: seam.name.clone(),
                    sides: seam
                        .sides
                        .clone()
                        .map(|side| side.iter().map(|&old| self.new_from_old[old as usize]).collect()),
                })
                .collect(),
        }
    }

    /// Values of the vertices in their old order, put into the new one.
    ///
    /// # Panics
    ///
    /// If there is not one value for each vertex.
    pub fn reordered<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.old_from_new.iter().map(|&old| values[old as usize]).collect()
    }

    /// Values of the vertices in their new order, put back into the old one.
    ///
    /// # Panics
    ///
    /// If there is not one value for each vertex.
    pub fn restored<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.new_from_old.iter().map(|&new| values[new as usize]).collect()
    }

    fn from_old_from_new(old_from_new: Vec<u32>) -> Self {
        let mut new_from_old = vec![0; old_from_new.len()];
        for (new, &old) in (0_u32..).zip(&old_from_new) {
            new_from_old[old as usize] = new;
        }
        Self { new_from_old, old_from_new }
    }

    /// Lines fetched by a sweep over the vertices that touches each one's neighbours.
    ///
    /// The model is a cache that drops the line fetched longest ago: a line is in it if fewer than its size were fetched
    /// since. Real caches differ, but not in what they think of an order.
    fn fetches(&self, neighbors: &Adjacency) -> usize {
        let mut fetched_at = vec![0; neighbors.len().div_ceil(VERTICES_PER_LINE)];
        let mut clock = CACHE_LINES;
        for &old in &self.old_from_new {
            for &vertex in std::iter::once(&old).chain(neighbors.of(old)) {
                let line = self.new_from_old[vertex as usize] as usize / VERTICES_PER_LINE;
                if clock - fetched_at[line] >= CACHE_LINES {
                    clock += 1;
                    fetched_at[line] = clock;
                }
            }
        }
        clock - CACHE_LINES
    }
}

/// An order in which neighbours are close; the identity where the given order is about as good.
///
/// `neighbors` are those of [`Topology::vertex_neighbors`](crate::topology::Topology::vertex_neighbors).
pub fn locality_order(neighbors: &Adjacency) -> Ordering {
    let given = Ordering::identity(neighbors.len());
    let banded = Ordering::from_old_from_new(cuthill_mckee(neighbors));
    if given.fetches(neighbors) <= TOLERATED_FETCHES * banded.fetches(neighbors) { given } else { banded }
}

fn cuthill_mckee(neighbors: &Adjacency) -> Vec<u32> {
    let degree = |vertex: u32| neighbors.of(vertex).len();
    let mut search = Search { neighbors, reached: vec![0; neighbors.len()], round: 0, queue: Vec::new() };
    let mut is_placed = vec![false; neighbors.len()];
    let mut order: Vec<u32> = Vec::with_capacity(neighbors.len());
    for seed in 0..neighbors.len() as u32 {
        if is_placed[seed as usize] {
            continue;
        }
        let mut next = order.len();
        let start = search.outermost(seed);
        is_placed[start as usize] = true;
        order.push(start);
        while let Some(&vertex) = order.get(next) {
            next += 1;
            let first_new = order.len();
            for &neighbor in neighbors.of(vertex) {
                if !is_placed[neighbor as usize] {
                    is_placed[neighbor as usize] = true;
                    order.push(neighbor);
                }
            }
            order[first_new..].sort_unstable_by_key(|&neighbor| (degree(neighbor), neighbor));
        }
    }
    order
}

/// A breadth-first search that can be repeated without clearing its marks.
struct Search<'a> {
    neighbors: &'a Adjacency,
    /// The round in which each vertex was last reached.
    reached: Vec<u32>,
    round: u32,
    queue: Vec<u32>,
}

impl Search<'_> {
    /// A vertex about as far out as any in the part of the mesh around `seed` [George, Liu 1979].
    ///
    /// From the far end of a search the next one starts, as long as that finds a greater depth.
    fn outermost(&mut self, seed: u32) -> u32 {
        let mut start = seed;
        let mut greatest_depth = 0;
        for _ in 0..MAX_SEARCHES {
            let (depth, last_level) = self.levels(start);
            if depth <= greatest_depth {
                break;
            }
            greatest_depth = depth;
            let far_end = self.queue[last_level].iter().copied();
            start = far_end.min_by_key(|&vertex| (self.neighbors.of(vertex).len(), vertex)).unwrap_or(start);
        }
        start
    }

    /// Searches from `start`. Returns the depth reached, and the place in the queue of the vertices at that depth.
    fn levels(&mut self, start: u32) -> (usize, Range<usize>) {
        self.round += 1;
        self.queue.clear();
        self.queue.push(start);
        self.reached[start as usize] = self.round;
        let (mut depth, mut level) = (0, 0..1);
        loop {
            for place in level.clone() {
                for &neighbor in self.neighbors.of(self.queue[place]) {
                    if self.reached[neighbor as usize] != self.round {
                        self.reached[neighbor as usize] = self.round;
                        self.queue.push(neighbor);
                    }
                }
            }
            if self.queue.len() == level.end {
                return (depth, level);
            }
            level = level.end..self.queue.len();
            depth += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Diagonals, Group};
    use crate::topology::Topology;
    use proptest::prelude::*;

    /// The same mesh with its vertices dealt out in a stride that visits each once.
    fn scattered(mesh: &Mesh) -> Mesh {
        let count = mesh.vertex_count() as u32;
        let dealt = (0..count).map(|vertex| (u64::from(vertex) * 7919 % u64::from(count)) as u32).collect();
        Ordering::from_old_from_new(dealt).apply(mesh)
    }

    fn grid(cells: u32, diagonals: Diagonals) -> Mesh {
        Mesh::grid([1.0, 1.0], [cells, cells], diagonals).unwrap()
    }

    fn assert_permutation(ordering: &Ordering, count: usize) {
        let mut sorted = ordering.old_from_new.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, Ordering::identity(count).old_from_new, "not a permutation");
        for (new, &old) in (0_u32..).zip(&ordering.old_from_new) {
            assert_eq!(ordering.new_from_old[old as usize], new, "the two directions differ");
        }
    }

    #[test]
    fn generated_meshes_keep_their_order() {
        let tube = Mesh::tube(0.2, 1.0, [60, 80]).unwrap();
        let grids = [Diagonals::Forward, Diagonals::Alternating, Diagonals::Crossed, Diagonals::Isotropic]
            .map(|d| grid(300, d));
        for mesh in grids.iter().chain([&tube]) {
            assert!(locality_order(&Topology::build(mesh).vertex_neighbors).is_identity(), "renumbered");
        }
    }

    #[test]
    fn a_scattered_mesh_becomes_a_band() {
        let mesh = scattered(&grid(300, Diagonals::Alternating));
        let topology = Topology::build(&mesh);
        let ordering = locality_order(&topology.vertex_neighbors);
        assert_permutation(&ordering, mesh.vertex_count());
        let reordered = Topology::build(&ordering.apply(&mesh));
        let bandwidth = reordered.edges.iter().map(|[a, b]| b - a).max().unwrap();
        assert!(bandwidth <= 2 * 301 + 2, "bandwidth {bandwidth} on a grid of 301 columns");
        let lines = mesh.vertex_count().div_ceil(VERTICES_PER_LINE);
        assert_eq!(ordering.fetches(&topology.vertex_neighbors), lines, "some lines were fetched twice");
    }

    #[test]
    fn reordering_renames_vertices_and_nothing_else() {
        let mut mesh = scattered(&grid(20, Diagonals::Crossed));
        mesh.groups.push(Group { name: "hem".to_owned(), triangles: vec![3, 5] });
        let count = mesh.vertex_count();
        let ordering = Ordering::from_old_from_new((0..count as u32).rev().collect());
        let reordered = ordering.apply(&mesh);
        for triangle in 0..mesh.triangle_count() {
            assert_eq!(reordered.triangle(triangle), mesh.triangle(triangle), "triangle {triangle} moved");
        }
        assert_eq!((&reordered.uv, &reordered.groups), (&mesh.uv, &mesh.groups));
        assert_eq!(ordering.restored(&reordered.positions), mesh.positions);
    }

    #[test]
    fn a_path_is_numbered_from_an_end() {
        // 3 – 0 – 2 – 1 – 4, entered in the middle.
        let neighbors = Adjacency::of_edges(5, &[[0, 2], [0, 3], [1, 2], [1, 4]]);
        assert_eq!(cuthill_mckee(&neighbors), [3, 0, 2, 1, 4]);
    }

    #[test]
    fn no_vertices_have_an_order_too() {
        assert_eq!(locality_order(&Adjacency::default()), Ordering::identity(0));
    }

    proptest! {
        #[test]
        fn orders_are_permutations(count in 1_u32..40, pairs in prop::collection::vec([0_u32..40, 0_u32..40], 0..80)) {
            let mut edges: Vec<[u32; 2]> = pairs.into_iter().map(|[a, b]| [a.min(b) % count, a.max(b) % count]).collect();
            edges.sort_unstable();
            let neighbors = Adjacency::of_edges(count as usize, &edges);
            assert_permutation(&Ordering::from_old_from_new(cuthill_mckee(&neighbors)), count as usize);
            assert_permutation(&locality_order(&neighbors), count as usize);
        }
    }
}
