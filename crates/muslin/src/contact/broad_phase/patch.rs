//! Patches: groups of triangles that lie side by side.

use std::ops::Range;

use crate::contact::geometry::surface::is_whole;
use crate::math::Vec3;

/// Triangles in a patch, at most.
pub(crate) const PATCH: usize = 40;

/// Vertices of a patch, at most: few enough for a byte.
pub(crate) const MEMBERS: usize = 3 * PATCH;

/// Triangles side by side, with the edges and vertices that they do not share with an earlier patch.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) triangles: Range<usize>,
    pub(crate) edges: Range<usize>,
    pub(crate) vertices: Range<usize>,
    /// Every vertex of these, in [`Patches::members`].
    pub(crate) members: Range<usize>,
    /// A usual edge, in m.
    pub(crate) edge: f64,
    /// Whether it may be free to move at some time: two patches of which neither is are never looked at.
    pub(crate) is_cloth: bool,
}

/// All patches. Triangles, edges and vertices are sorted by patch, and are indices of members of it.
#[derive(Debug, Default)]
pub(crate) struct Patches {
    pub(crate) patches: Vec<Patch>,
    pub(crate) triangles: Vec<[u8; 3]>,
    pub(crate) edges: Vec<[u8; 2]>,
    pub(crate) vertices: Vec<u8>,
    /// The vertices of the mesh.
    pub(crate) members: Vec<u32>,
}

impl Patches {
    /// Of triangles of things that move on their own; `object` is the number of the thing that a vertex belongs to, `is_cloth` whether that
    /// is cloth and not a body, and `positions` tell what is side by side. Triangles with a vertex that does not exist, or twice the
    /// same, are left out.
    pub(crate) fn new(
        positions: &[Vec3<f64>],
        triangles: &[[u32; 3]],
        object: impl Fn(u32) -> usize,
        is_cloth: impl Fn(usize) -> bool,
    ) -> Self {
        let mut sorted: Vec<[u32; 3]> =
            triangles.iter().copied().filter(|triangle| is_whole(triangle, positions.len())).collect();
        sorted.sort_by_key(|triangle| object(triangle[0]));
        let mut cuts = vec![0];
        for things in sorted.chunk_by_mut(|s, t| object(s[0]) == object(t[0])) {
            split(things, positions, &mut cuts);
        }
        let mut sides: Vec<([u32; 2], usize)> = Vec::new();
        for (patch, cut) in cuts.windows(2).enumerate() {
            for &[a, b, c] in &sorted[cut[0]..cut[1]] {
                sides.extend([[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], patch)));
            }
        }
        sides.sort_unstable();
        sides.dedup_by_key(|side| side.0);
        sides.sort_by_key(|side| side.1);

        let mut all = Self::default();
        let mut has_vertex = vec![false; positions.len()];
        for (patch, cut) in cuts.windows(2).enumerate() {
            let own = &sorted[cut[0]..cut[1]];
            let mut members: Vec<u32> = own.iter().flatten().copied().collect();
            members.sort_unstable();
            members.dedup();
            let place = |v: u32| members.partition_point(|&member| member < v) as u8;
            let (first_edge, first_vertex, first_member) = (all.edges.len(), all.vertices.len(), all.members.len());
            let sides =
                &sides[sides.partition_point(|side| side.1 < patch)..sides.partition_point(|side| side.1 <= patch)];
            all.triangles.extend(own.iter().map(|triangle| triangle.map(place)));
            all.edges.extend(sides.iter().map(|side| side.0.map(place)));
            let new = members.iter().filter(|&&v| !std::mem::replace(&mut has_vertex[v as usize], true));
            all.vertices.extend(new.map(|&v| place(v)));
            let lengths = own.iter().map(|&[a, b, _]| (positions[a as usize] - positions[b as usize]).norm());
            all.patches.push(Patch {
                triangles: cut[0]..cut[1],
                edges: first_edge..all.edges.len(),
                vertices: first_vertex..all.vertices.len(),
                members: first_member..first_member + members.len(),
                edge: lengths.sum::<f64>() / own.len().max(1) as f64,
                is_cloth: members.first().is_some_and(|&v| is_cloth(object(v))),
            });
            all.members.extend(members);
        }
        all
    }

    /// Number of patches.
    pub(crate) fn len(&self) -> usize {
        self.patches.len()
    }

    /// The vertices of a patch.
    pub(crate) fn members_of(&self, patch: u32) -> &[u32] {
        &self.members[self.patches[patch as usize].members.clone()]
    }
}

/// Sorts triangles so that those side by side stand together, and notes where a patch ends.
fn split(triangles: &mut [[u32; 3]], positions: &[Vec3<f64>], cuts: &mut Vec<usize>) {
    let count = triangles.len();
    if count <= PATCH {
        cuts.push(cuts.last().copied().unwrap_or(0) + count);
        return;
    }
    let centre = |t: &[u32; 3]| t.iter().fold(Vec3::ZERO, |sum, &v| sum + positions[v as usize]).to_array();
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for c in triangles.iter().map(centre) {
        low = [0, 1, 2].map(|axis| low[axis].min(c[axis]));
        high = [0, 1, 2].map(|axis| high[axis].max(c[axis]));
    }
    let axis = [0, 1, 2].into_iter().max_by(|&a, &b| (high[a] - low[a]).total_cmp(&(high[b] - low[b]))).unwrap_or(0);
    // The triangle itself makes the order whole where centres are alike.
    triangles.sort_unstable_by(|s, t| centre(s)[axis].total_cmp(&centre(t)[axis]).then_with(|| s.cmp(t)));
    // Halves of whole patches.
    let patches = count.div_ceil(PATCH);
    let middle = count * (patches / 2) / patches;
    let (first, second) = triangles.split_at_mut(middle);
    split(first, positions, cuts);
    split(second, positions, cuts);
}
