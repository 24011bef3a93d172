//! Welding: vertices at one place become one vertex.
//!
//! Files for pictures have a vertex for each texture coordinate, so a garment in them is open along every seam of its texture. Texture coordinates of a [`Mesh`] are those of
//! corners, so they survive.

use std::collections::BTreeMap;

use crate::mesh::Mesh;

/// What [`weld`] has made of a mesh.
///
/// ```
/// use muslin::mesh::{Mesh, weld};
///
/// let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
/// let soup = Mesh { positions, triangles: vec![[0, 1, 2], [3, 4, 5]], ..Default::default() };
/// let welded = weld(&soup, 1e-6);
/// assert_eq!(welded.mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
/// assert_eq!(welded.new_from_old, [0, 1, 2, 2, 1, 3]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Welded {
    /// The mesh; its vertices are in the order in which they first were.
    pub mesh: Mesh,
    /// The new number of each old vertex.
    pub new_from_old: Vec<u32>,
}

/// Makes one vertex of those that are not farther apart than `distance`, in m, and of chains of such: where the first of them is.
///
/// The triangles stay, also those that lose their area; [`check`](crate::mesh::check) finds these.
pub fn weld(mesh: &Mesh, distance: f64) -> Welded {
    let count = mesh.vertex_count();
    let mut joined = Joined::new(count);
    near(&mesh.positions, distance).into_iter().for_each(|[a, b]| joined.join(a, b));
    let (mut new_from_old, mut positions) = (vec![0; count], Vec::new());
    for old in 0..count {
        let first = joined.first(old as u32) as usize;
        if first == old {
            new_from_old[old] = positions.len() as u32;
            positions.push(mesh.positions[old]);
        } else {
            new_from_old[old] = new_from_old[first];
        }
    }
    let renumbered = |triangle: &[u32; 3]| triangle.map(|old| new_from_old.get(old as usize).copied().unwrap_or(old));
    let triangles = mesh.triangles.iter().map(renumbered).collect();
    let mut seams = mesh.seams.clone();
    for v in seams.iter_mut().flat_map(|seam| seam.sides.iter_mut().flatten()) {
        *v = new_from_old.get(*v as usize).copied().unwrap_or(*v);
    }
    let mesh = Mesh { positions, triangles, seams, ..mesh.clone() };
    Welded { mesh, new_from_old }
}

/// Vertices in groups that grow together: a forest [Tarjan 1975] whose roots are the first of each group.
pub(super) struct Joined(Vec<u32>);

impl Joined {
    /// Each by itself.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// Makes one group of those of two vertices.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// The first of the group of a vertex.
    pub(super) fn first(&mut self, vertex: u32) -> u32 {
        let mut at = vertex as usize;
        while self.0[at] as usize != at {
            self.0[at] = self.0[self.0[at] as usize];
            at = self.0[at] as usize;
        }
        at as u32
    }
}

/// Pairs of points that are not farther apart than `distance`, enough of them to join all that are.
///
/// Points lie in cubes as wide as the distance, so a pair is in one cube or in two that touch.
fn near(points: &[[f64; 3]], distance: f64) -> Vec<[u32; 2]> {
    let is_near = |a: u32, b: u32| {
        let [a, b] = [a, b].map(|v| points[v as usize]);
        (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum::<f64>() <= distance * distance
    };
    let mut pairs = Vec::new();
    if distance <= 0.0 {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        // Zero has two signs.
        let key = |v: u32| points[v as usize].map(|x| (x + 0.0).to_bits());
        order.sort_by_key(|&v| (key(v), v));
        pairs.extend(order.windows(2).filter(|ends| key(ends[0]) == key(ends[1])).map(|ends| [ends[0], ends[1]]));
        return pairs;
    }
    // A cast of a float stays within the range, and one that is not a number is in a cube of its own and near nothing.
    let cube = |v: u32| points[v as usize].map(|x| (x / distance).floor() as i64);
    let mut cubes: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    (0..points.len() as u32).for_each(|v| cubes.entry(cube(v)).or_default().push(v));
    // Each two cubes once: those behind in the order of their numbers.
    let steps = (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| [x, y, z])));
    let behind: Vec<[i64; 3]> = steps.filter(|step| *step > [0, 0, 0]).collect();
    for (at, members) in &cubes {
        for (k, &a) in members.iter().enumerate() {
            pairs.extend(members[..k].iter().filter(|&&b| is_near(a, b)).map(|&b| [b, a]));
        }
        for step in &behind {
            let next = std::array::from_fn(|axis| at[axis].saturating_add(step[axis]));
            let others = cubes.get(&next).filter(|_| next != *at).into_iter().flatten();
            pairs.extend(others.flat_map(|&b| members.iter().filter(move |&&a| is_near(a, b)).map(move |&a| [a, b])));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;
    use crate::mesh::{Diagonals, check};

    /// A grid whose triangles have all their corners for themselves, each moved a little.
    fn soup(jitter: f64) -> (Mesh, Mesh) {
        let grid = Mesh::grid([1.0, 1.0], [6, 5], Diagonals::Alternating).expect("a grid");
        let mut random = Random::new(5);
        let mut moved = |v: &u32| grid.positions[*v as usize].map(|x| x + jitter * random.signed());
        let positions = grid.triangles.as_flattened().iter().map(&mut moved).collect();
        let triangles = (0..grid.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        (Mesh { positions, triangles, ..Mesh::default() }, grid)
    }

    #[test]
    fn a_soup_of_triangles_becomes_the_sheet_that_it_was() {
        for (jitter, distance) in [(0.0, 0.0), (0.0, 1e-5), (1e-6, 1e-5), (0.01, 0.05)] {
            let (soup, grid) = soup(jitter);
            let Welded { mesh, new_from_old } = weld(&soup, distance);
            assert_eq!(mesh.positions.len(), grid.positions.len(), "jitter {jitter}");
            assert!(check(&mesh).is_empty(), "{:?}", check(&mesh));
            for (corner, &old) in grid.triangles.as_flattened().iter().enumerate() {
                let new = new_from_old[corner] as usize;
                let far = (0..3).map(|axis| (mesh.positions[new][axis] - grid.positions[old as usize][axis]).abs());
                assert!(far.fold(0.0, f64::max) <= jitter + 1e-12, "it is where it was");
            }
        }
    }

    #[test]
    fn only_what_is_near_is_joined_and_signs_of_zero_are_one_place() {
        let points = vec![
            [0.0, 0.0, 0.0],
            [-0.0, 0.0, -0.0],
            [0.9e-3, 0.0, 0.0],
            [1.8e-3, 0.0, 0.0],
            [5e-3, 0.0, 0.0],
            [f64::NAN; 3],
        ];
        let mesh = Mesh { positions: points, ..Mesh::default() };
        assert_eq!(weld(&mesh, 0.0).new_from_old, [0, 0, 1, 2, 3, 4]);
        assert_eq!(weld(&mesh, 1e-3).new_from_old, [0, 0, 0, 0, 1, 2], "by a chain");
    }
}
