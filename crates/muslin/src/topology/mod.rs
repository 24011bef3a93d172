//! Connectivity, derived once from a [`Mesh`]: edges, hinges, neighbours, colours, orders.
//!
//! Everything here is found by sorting and counting, never by hashing: the result depends on the mesh alone, and a
//! million vertices take a fraction of a second.
//!
//! A hinge is two triangles that share an edge. Its four vertices `[a, b, c, d]` follow one convention everywhere:
//!
//! ```text
//!            c
//!           ╱ ╲             A = (a, b, c)    n_A = (b − a) × (c − a)
//!          ╱ A ╲            B = (a, d, b)    n_B = (d − a) × (b − a)
//!         a ───→ b
//!          ╲ B ╱            θ = atan2(ê · (n̂_A × n̂_B), n̂_A · n̂_B),   ê = (b − a)/‖b − a‖
//!           ╲ ╱
//!            d              flat: θ = 0; an edge of a cube with its normals outwards: θ = +π/2
//! ```

mod adjacency;
mod chart;
mod coloring;
mod hierarchy;
mod lines;
mod ordering;

pub use adjacency::Adjacency;
pub(crate) use chart::{Chart, is_flat};
pub(crate) use coloring::color_vertices;
pub use coloring::{Coloring, color};
pub(crate) use hierarchy::coarsen;
pub use ordering::{Ordering, locality_order};

use crate::mesh::{EdgeTable, EdgeUses, Mesh, directed};

/// No triangle: the far side of a boundary edge.
pub const NONE: u32 = u32::MAX;

/// Two triangles that share an edge.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh};
/// use muslin::topology::Topology;
///
/// let topology = Topology::build(&Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward)?);
/// let hinge = topology.hinges[0];
/// assert_eq!((hinge.triangles, topology.edges[hinge.edge as usize]), ([0, 1], [0, 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hinge {
    /// `[a, b, c, d]`: the shared edge a→b as triangle A runs along it, then the vertices opposite it in A and in B.
    ///
    /// Either of a and b may be the lower.
    pub vertices: [u32; 4],
    /// A, which is the one of the lower number, and B.
    pub triangles: [u32; 2],
    /// The shared edge, as an index into [`Topology::edges`].
    pub edge: u32,
}

/// The connectivity of a mesh, each part in an order that depends on the mesh alone.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh};
/// use muslin::topology::Topology;
///
/// let topology = Topology::build(&Mesh::grid([1.0, 1.0], [2, 2], Diagonals::Alternating)?);
/// assert_eq!((topology.edges.len(), topology.boundary_edges.len(), topology.hinges.len()), (16, 8, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Every edge once: `[a, b]` with a < b, sorted.
    pub edges: Vec<[u32; 2]>,
    /// The triangles of each edge, the lower number first; [`NONE`] for the second on a boundary.
    pub edge_triangles: Vec<[u32; 2]>,
    /// Indices of the edges of one triangle only.
    pub boundary_edges: Vec<u32>,
    /// One for each edge of two triangles, in the order of the edges.
    pub hinges: Vec<Hinge>,
    /// The triangles around each vertex, rising.
    pub vertex_triangles: Adjacency,
    /// The vertices at the other end of the edges of each vertex, rising.
    pub vertex_neighbors: Adjacency,
}

impl Topology {
    /// Derives the connectivity of a mesh in which [`check`](crate::mesh::check) finds no error.
    ///
    /// An edge of three or more triangles, which is such an error, gets the first two and no hinge.
    ///
    /// # Panics
    ///
    /// If a triangle uses a vertex that does not exist, which is such an error too.
    pub fn build(mesh: &Mesh) -> Self {
        let vertex_count = mesh.vertex_count();
        let table = EdgeTable::build(vertex_count, &mesh.triangles, |_| true);
        let mut topology = Self::default();
        // A closed mesh has 1.5 edges a triangle, an open one a few more.
        let expected = table.half_edge_count() / 2 + table.half_edge_count() / 16;
        topology.edges.reserve(expected);
        topology.edge_triangles.reserve(expected);
        topology.hinges.reserve(expected);
        for edge in table.edges() {
            topology.push(&mesh.triangles, edge);
        }
        topology.vertex_triangles = Adjacency::of_stencils(vertex_count, &mesh.triangles);
        topology.vertex_neighbors = Adjacency::of_edges(vertex_count, &topology.edges);
        topology
    }

    fn push(&mut self, triangles: &[[u32; 3]], uses: EdgeUses<'_>) {
        let edge = self.edges.len() as u32;
        self.edges.push(uses.vertices);
        let mut triangles_here = uses.half_edges().map(|half_edge| half_edge / 3);
        let pair = std::array::from_fn(|_| triangles_here.next().unwrap_or(NONE));
        self.edge_triangles.push(pair);
        if let Some([first, second]) = uses.pair() {
            let [a, b, c] = directed(triangles, first);
            let [_, _, d] = directed(triangles, second);
            self.hinges.push(Hinge { vertices: [a, b, c, d], triangles: pair, edge });
        } else if uses.len() == 1 {
            self.boundary_edges.push(edge);
        }
    }
}

#[cfg(test)]
mod tests;
