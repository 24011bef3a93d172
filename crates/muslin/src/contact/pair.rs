//! Pairs that may come to touch: a vertex and a triangle, or two edges, without a vertex in common.
//!
//! All cloths and bodies are one array of vertices. [`BroadPhase`](crate::contact::Neighborhood) finds the pairs.

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

    pub(crate) fn clear(&mut self) {
        self.vertex_triangle.clear();
        self.edge_edge.clear();
    }

    /// The lists of both kinds, and how many of the four vertices are the first primitive's.
    pub(crate) fn lists(&self) -> [(&[[u32; 4]], usize); 2] {
        [(&self.vertex_triangle, 1), (&self.edge_edge, 2)]
    }
}
