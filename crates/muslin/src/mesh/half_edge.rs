//! The edges of a triangle list, found by sorting.
//!
//! A triangle `(p, q, r)` has the half-edges p→q, q→r and r→p, numbered `3·triangle + corner` by the corner they
//! start from. Those over the same pair of vertices lie side by side once sorted by (lower vertex, higher vertex).
//!
//! The sort is a bucket per lower vertex (a counting sort) followed by a small sort in each bucket: a vertex has few
//! edges, so the whole is about linear, and its worst case, one vertex in every triangle, is still n log n. No hashing:
//! the order depends on nothing but the mesh.

/// No half-edge: the far side of a boundary.
pub(super) const NONE: u32 = u32::MAX;

/// The half-edges of a mesh, grouped by edge.
pub(crate) struct EdgeTable {
    /// `offsets[v]..offsets[v + 1]` are the items whose lower vertex is v.
    offsets: Vec<u32>,
    /// (higher vertex, half-edge), packed so that one integer comparison sorts them.
    items: Vec<u64>,
}

/// One edge and the half-edges that run along it, in the order of their triangles.
#[derive(Clone, Copy)]
pub(crate) struct EdgeUses<'a> {
    /// The two vertices, the lower first.
    pub(crate) vertices: [u32; 2],
    items: &'a [u64],
}

impl EdgeTable {
    /// Sorts the half-edges of the triangles that `keep` accepts.
    ///
    /// Those must have three different vertices below `vertex_count`, and there must be fewer than 2³²/3 of them.
    pub(crate) fn build(vertex_count: usize, triangles: &[[u32; 3]], keep: impl Fn(usize) -> bool) -> Self {
        let kept = || triangles.iter().enumerate().filter(|&(triangle, _)| keep(triangle));
        let mut offsets = vec![0_u32; vertex_count + 2];
        for (_, &corners) in kept() {
            for (from, to) in directed_edges(corners) {
                offsets[from.min(to) as usize + 2] += 1;
            }
        }
        for vertex in 2..offsets.len() {
            offsets[vertex] += offsets[vertex - 1];
        }
        // offsets[v + 1] is now where bucket v starts; filling the bucket moves it to where bucket v ends.
        let mut items = vec![0_u64; offsets[vertex_count + 1] as usize];
        for (triangle, &corners) in kept() {
            for (corner, (from, to)) in directed_edges(corners).into_iter().enumerate() {
                let slot = &mut offsets[from.min(to) as usize + 1];
                items[*slot as usize] = pack(from.max(to), (3 * triangle + corner) as u32);
                *slot += 1;
            }
        }
        offsets.pop();
        for vertex in 0..vertex_count {
            items[offsets[vertex] as usize..offsets[vertex + 1] as usize].sort_unstable();
        }
        Self { offsets, items }
    }

    /// Number of half-edges.
    pub(crate) fn half_edge_count(&self) -> usize {
        self.items.len()
    }

    /// Every edge once, sorted by its lower and then its higher vertex.
    pub(crate) fn edges(&self) -> impl Iterator<Item = EdgeUses<'_>> {
        self.offsets.windows(2).enumerate().flat_map(|(low, range)| {
            let bucket = &self.items[range[0] as usize..range[1] as usize];
            bucket
                .chunk_by(|&a, &b| high_vertex(a) == high_vertex(b))
                .map(move |items| EdgeUses { vertices: [low as u32, high_vertex(items[0])], items })
        })
    }

    /// For each half-edge the one on the other side of its edge; [`NONE`] on a boundary, in a triangle that was left
    /// out, and on an edge of more than two triangles.
    pub(crate) fn opposites(&self, triangle_count: usize) -> Vec<u32> {
        let mut opposites = vec![NONE; 3 * triangle_count];
        for edge in self.edges() {
            if let Some([first, second]) = edge.pair() {
                opposites[first as usize] = second;
                opposites[second as usize] = first;
            }
        }
        opposites
    }
}

impl EdgeUses<'_> {
    /// Number of triangles at this edge.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Its half-edges where there are two.
    pub(crate) fn pair(&self) -> Option<[u32; 2]> {
        if let &[first, second] = self.items { Some([half_edge(first), half_edge(second)]) } else { None }
    }

    /// Its half-edges, by rising triangle.
    pub(crate) fn half_edges(&self) -> impl Iterator<Item = u32> {
        self.items.iter().map(|&item| half_edge(item))
    }
}

/// The start and the end of a half-edge, and the vertex of its triangle that faces it.
pub(crate) fn directed(triangles: &[[u32; 3]], half_edge: u32) -> [u32; 3] {
    let corners = triangles[half_edge as usize / 3];
    let corner = half_edge as usize % 3;
    [corners[corner], corners[(corner + 1) % 3], corners[(corner + 2) % 3]]
}

fn directed_edges([p, q, r]: [u32; 3]) -> [(u32, u32); 3] {
    [(p, q), (q, r), (r, p)]
}

fn pack(high_vertex: u32, half_edge: u32) -> u64 {
    u64::from(high_vertex) << 32 | u64::from(half_edge)
}

fn high_vertex(item: u64) -> u32 {
    (item >> 32) as u32
}

fn half_edge(item: u64) -> u32 {
    item as u32
}
