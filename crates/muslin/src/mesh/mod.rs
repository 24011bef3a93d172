//! Rest geometry: what the user hands in.
//!
//! A [`Mesh`] is plain data with public fields, because meshes come from files, from generators and from other
//! programs, and because nothing about it changes once it is checked. [`check`] says everything that is wrong with
//! one, [`repair`] mends what can be mended; the rest of the library expects a mesh in which [`check`] finds no error.
//!
//! Vertices keep their numbers from the file to the results: pins, paths and the `.npy` output all refer to them.

mod grid;
mod half_edge;
mod repair;
mod survey;
mod validate;
mod weld;

pub use grid::{Diagonals, GridError, MAX_GRID_VERTICES};
pub(crate) use half_edge::{EdgeTable, EdgeUses, directed};
pub use repair::{Repaired, repair};
pub use validate::{Finding, FindingKind, MAX_COORDINATE, Severity, ZERO_AREA_RATIO, check};
pub use weld::{Welded, weld};

use crate::math::Vec3;

/// A triangle mesh in its rest shape.
///
/// ```
/// use muslin::mesh::Mesh;
///
/// let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let triangle = Mesh { positions, triangles: vec![[0, 2, 1]], ..Default::default() };
/// assert_eq!(triangle.total_area(), 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Rest positions, in m.
    pub positions: Vec<[f64; 3]>,
    /// Vertex triples, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, where the mesh has them.
    pub uv: Option<Uv>,
    /// Named sets of triangles; they may overlap and need not cover the mesh.
    pub groups: Vec<Group>,
    /// The rest shape of each triangle, laid flat, in m: cloth that was cut and sewn has none as a whole. `None`: `positions` are the rest shape.
    pub flat: Option<Vec<[[f64; 2]; 3]>>,
    /// What was sewn together.
    pub seams: Vec<Seam>,
}

/// Two sides that were sewn together.
///
/// ```
/// use muslin::mesh::Seam;
///
/// let seam = Seam { name: "side".to_owned(), sides: [vec![0, 1, 2], vec![0, 1, 2]] };
/// assert_eq!(seam.sides[0].len(), seam.sides[1].len());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seam {
    /// Its name in the file.
    pub name: String,
    /// The vertices of both sides in order, as many on each; where they have been made one, the same.
    pub sides: [Vec<u32>; 2],
}

/// Texture coordinates, indexed per corner.
///
/// A vertex on a seam has one position and several texture coordinates, so the two are indexed apart: merging them
/// would either cut the cloth along its seams or lose the seams.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh, Uv};
///
/// let mut mesh = Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward)?;
/// let coordinates = mesh.positions.iter().map(|p| [p[0] + 0.5, p[2] + 0.5]).collect();
/// mesh.uv = Some(Uv { coordinates, triangles: mesh.triangles.clone() });
/// assert!(muslin::mesh::check(&mesh).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uv {
    /// The coordinates, without a unit.
    pub coordinates: Vec<[f64; 2]>,
    /// For each triangle of the mesh, the indices into `coordinates` of its three corners.
    pub triangles: Vec<[u32; 3]>,
}

/// A named set of triangles.
///
/// ```
/// use muslin::mesh::{Diagonals, Group, Mesh};
///
/// let mut mesh = Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward)?;
/// mesh.groups.push(Group { name: "hem".to_owned(), triangles: vec![0] });
/// assert!(muslin::mesh::check(&mesh).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its name in the file.
    pub name: String,
    /// Indices into [`Mesh::triangles`].
    pub triangles: Vec<u32>,
}

/// The smallest box along the axes that holds a mesh.
///
/// ```
/// use muslin::mesh::{Bounds, Diagonals, Mesh};
///
/// let mesh = Mesh::grid([2.0, 1.0], [2, 1], Diagonals::Forward)?;
/// assert_eq!(mesh.bounds(), Some(Bounds { min: [-1.0, 0.0, -0.5], max: [1.0, 0.0, 0.5] }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Its lowest corner, in m.
    pub min: [f64; 3],
    /// Its highest corner, in m.
    pub max: [f64; 3],
}

impl Bounds {
    /// Of some points, in m; `None` where there are none.
    pub(crate) fn of(points: &[[f64; 3]]) -> Option<Self> {
        let &first = points.first()?;
        let start = Self { min: first, max: first };
        Some(points.iter().fold(start, |bounds, p| Self {
            min: std::array::from_fn(|axis| bounds.min[axis].min(p[axis])),
            max: std::array::from_fn(|axis| bounds.max[axis].max(p[axis])),
        }))
    }
}

impl Mesh {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// How many parts it has that share no vertex.
    pub(crate) fn part_count(&self) -> usize {
        let mut joined = weld::Joined::new(self.vertex_count());
        let exists = |v: &u32| (*v as usize) < self.vertex_count();
        let sound = self.triangles.iter().filter(|triangle| triangle.iter().all(exists));
        let mut is_used = vec![false; self.vertex_count()];
        for &[a, b, c] in sound {
            joined.join(a, b);
            joined.join(a, c);
            [a, b, c].iter().for_each(|&v| is_used[v as usize] = true);
        }
        (0..self.vertex_count() as u32).filter(|&v| is_used[v as usize] && joined.first(v) == v).count()
    }

    /// The rest positions of a triangle's corners, in m; in a plane of its own where the mesh is [`flat`](Self::flat).
    ///
    /// # Panics
    ///
    /// If there is no such triangle, or if it uses a vertex that does not exist ([`check`] reports that).
    pub fn triangle(&self, triangle: usize) -> [Vec3<f64>; 3] {
        match self.flat.as_ref().and_then(|flat| flat.get(triangle)) {
            Some(corners) => corners.map(|[x, y]| Vec3::new(x, y, 0.0)),
            None => self.triangles[triangle].map(|vertex| self.positions[vertex as usize].into()),
        }
    }

    /// The rest area of a triangle, in m².
    ///
    /// # Panics
    ///
    /// As [`Mesh::triangle`].
    pub fn area(&self, triangle: usize) -> f64 {
        let [a, b, c] = self.triangle(triangle);
        0.5 * (b - a).cross(c - a).norm()
    }

    /// The rest area of the whole mesh, in m².
    pub fn total_area(&self) -> f64 {
        (0..self.triangle_count()).map(|triangle| self.area(triangle)).sum()
    }

    /// The longest side of the box around all triangles where they are, in m.
    pub fn extent(&self) -> f64 {
        let sides = (0..3).map(|axis| {
            let along = self.triangles.iter().flatten().map(|&v| self.positions[v as usize][axis]);
            let (low, high) =
                along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            high - low
        });
        sides.fold(0.0, f64::max)
    }

    /// The box around all vertices; `None` where there are none.
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::of(&self.positions)
    }

    /// The mass of every vertex, in kg, for cloth of `density` kg/m²: a third of the mass of each triangle around it.
    ///
    /// Their sum is density × area. A vertex of no triangle gets zero.
    pub fn lumped_masses(&self, density: f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.vertex_count()];
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let third = density * self.area(triangle) / 3.0;
            for &vertex in corners {
                masses[vertex as usize] += third;
            }
        }
        masses
    }
}

#[cfg(test)]
mod tests;
