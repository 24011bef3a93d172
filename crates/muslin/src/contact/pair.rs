//! Candidate pairs, which may come to touch: a vertex and a triangle, or two edges, without a vertex in common.
//!
//! All cloths and bodies are one array of vertices. [`BroadPhase`](crate::contact::BroadPhase) finds the pairs.

/// Pairs that may come to touch. See the module's comment.
#[derive(Clone, Debug, Default)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
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

    pub(crate) fn clear(&mut self) {
        self.vertex_triangle.clear();
        self.edge_edge.clear();
    }

    /// The lists of both kinds, and how many of the four vertices are the first primitive's.
    pub(crate) fn lists(&self) -> [(&[[u32; 4]], usize); 2] {
        [(&self.vertex_triangle, 1), (&self.edge_edge, 2)]
    }
}

/// Two primitives without a common vertex: the vertices of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub enum Pair {
    /// A vertex and a triangle.
    VertexTriangle([u32; 4]),
    /// An edge and an edge.
    EdgeEdge([u32; 4]),
}

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::VertexTriangle([a, b, c, d]) => write!(f, "vertex {a} and the triangle of vertices {b}, {c}, {d}"),
            Self::EdgeEdge([a, b, c, d]) => write!(f, "the edges of vertices {a}, {b} and {c}, {d}"),
        }
    }
}

pub(crate) fn pair_of(vertices: [u32; 4], first_count: usize) -> Pair {
    if first_count == 1 { Pair::VertexTriangle(vertices) } else { Pair::EdgeEdge(vertices) }
}
