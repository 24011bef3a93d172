//! Lists of neighbours, packed end to end.

/// For each vertex a list of indices, in compressed rows: two arrays instead of a million small ones.
///
/// ```
/// use muslin::topology::Adjacency;
///
/// let triangles = Adjacency::of_stencils(4, &[[0, 1, 2], [2, 1, 3]]);
/// assert_eq!((triangles.of(1), triangles.of(3)), (&[0, 1][..], &[1][..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// `offsets[v]..offsets[v + 1]` is the place of the list of vertex v; one more than there are vertices.
    pub offsets: Vec<u32>,
    /// All lists, one after the other.
    pub items: Vec<u32>,
}

impl Default for Adjacency {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl Adjacency {
    /// For each vertex the stencils that contain it, rising.
    ///
    /// # Panics
    ///
    /// If a stencil uses a vertex from `vertex_count` up.
    pub fn of_stencils<const N: usize>(vertex_count: usize, stencils: &[[u32; N]]) -> Self {
        let pairs = || (0_u32..).zip(stencils).flat_map(|(index, stencil)| stencil.map(|vertex| (vertex, index)));
        Self::of_pairs(vertex_count, pairs)
    }

    /// For each vertex the vertices it shares an edge with, rising where the edges are sorted.
    ///
    /// # Panics
    ///
    /// If an edge uses a vertex from `vertex_count` up.
    pub fn of_edges(vertex_count: usize, edges: &[[u32; 2]]) -> Self {
        // Sorted edges [a, b], a < b, name the lower neighbours of a vertex before its higher ones.
        Self::of_pairs(vertex_count, || edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]))
    }

    /// Adds the vertices of another after these; its items are counted from `first_item`.
    pub fn append(&mut self, other: &Self, first_item: u32) {
        let first = self.items.len() as u32;
        self.offsets.extend(other.offsets[1..].iter().map(|offset| first + offset));
        self.items.extend(other.items.iter().map(|item| first_item + item));
    }

    /// The list of a vertex.
    pub fn of(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.items[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// Number of vertices, that is, of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A counting sort of (vertex, item), which keeps the order of the items of a vertex.
    pub(crate) fn of_pairs<I: Iterator<Item = (u32, u32)>>(vertex_count: usize, pairs: impl Fn() -> I) -> Self {
        let mut offsets = vec![0_u32; vertex_count + 2];
        for (vertex, _) in pairs() {
            offsets[vertex as usize + 2] += 1;
        }
        for vertex in 2..offsets.len() {
            offsets[vertex] += offsets[vertex - 1];
        }
        // offsets[v + 1] is now where list v starts; filling the list moves it to where list v ends.
        let mut items = vec![0; offsets[vertex_count + 1] as usize];
        for (vertex, item) in pairs() {
            let slot = &mut offsets[vertex as usize + 1];
            items[*slot as usize] = item;
            *slot += 1;
        }
        offsets.pop();
        Self { offsets, items }
    }
}
