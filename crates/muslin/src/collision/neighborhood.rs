//! The pairs that may come to touch in a step, kept from step to step patch by patch.
//!
//! A list of pairs found with a radius is good as long as nothing has moved by much; but cloth that flies or turns moves by many edges in a frame, and a list for all of it does not last. What matters is how things move *against each other*. So
//! triangles are grouped into patches of some [`PATCH`], and there is a list for each two patches that are near, and for each patch
//! with itself. Let m be the mean displacement of the vertices of a patch in a step, and e how far one of them is from
//! that, at most. Two vertices of patches P and Q come together by no more than
//!
//! ```text
//! ρ = e_P + e_Q + ‖m_P − m_Q‖        and within a patch  ρ = 2 e_P
//! ```
//!
//! A list found with radius R holds every pair within R − Σρ after some steps, Σρ over these steps. It is found anew once that does
//! not reach for the step at hand. Layers that fly together keep theirs; what rubs does not.
//!
//! Patches without a list are apart: the boxes around all their vertices, at the start and the end of the step, are farther apart
//! than the distance that is asked for. A tree over the patches finds those that are not. It is of larger boxes, which hold those of
//! several steps, and asked again once a patch has left its larger box.
//!
//! # The argument
//!
//! Every pair of a step is of two patches, or of one. If their boxes are apart, so is the pair, all along: boxes are convex. Else there is a
//! list. If the pair is not in it, it was farther than R apart when the list was found, so it is farther than R − Σρ apart now,
//! and by less than ρ nearer at every time of the step: still more than the distance asked for. If it is in the
//! list, with its gap at that time, it is dismissed by the same sum, or it is [*active*](Neighborhood::active): looked at.
//!
//! # Rounding
//!
//! m may be any vector: its rounding does no harm. Lengths and sums are rounded up by far more than their rounding, [`up`]. Boxes are
//! rounded outwards. Gaps are rounded down.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::bvh::{Aabb, Bvh};
use super::candidates::{Candidates, gap_within};
use crate::math::Vec3;
use crate::parallel::{Team, Worker};

/// Triangles in a patch, at most.
const PATCH: usize = 32;

/// Steps that a new list should last, if things go on as they do.
const LASTS: f64 = 16.0;

/// What a list reaches beyond the step at hand, in edges: at least, so that slow things do not have to be looked for, and at most, or
/// every list would hold the neighbours of all vertices.
const SPARE: Range<f64> = 0.05..0.5;

/// Questions to the tree after which a list that nobody asks for is given up.
const FORGET: u32 = 8;

/// Work is handed out in this many parts, whatever the team.
const PARTS: usize = 32;

/// Triangles side by side, with the edges and vertices that they do not share with an earlier patch.
#[derive(Debug)]
struct Patch {
    triangles: Range<usize>,
    edges: Range<usize>,
    vertices: Range<usize>,
    /// Every vertex of these, in [`Neighborhood::members`].
    members: Range<usize>,
    /// A usual edge, in m.
    edge: f64,
    /// Whether it may be free to move at some time: two patches of which neither is are never looked at.
    is_cloth: bool,
}

/// How a patch moves in a step.
#[derive(Clone, Copy, Debug)]
struct Drift {
    mean: Vec3<f64>,
    /// How far the displacement of a vertex is from the mean, at most, in m.
    spread: f64,
    /// Around the start and the end of all vertices, and half the distance that is asked for.
    around: Aabb,
    /// From the start of the last step to that of this one.
    last_mean: Vec3<f64>,
    last_spread: f64,
}

impl Drift {
    const NONE: Self = Self {
        mean: Vec3::ZERO,
        spread: f64::INFINITY,
        around: Aabb::EMPTY,
        last_mean: Vec3::ZERO,
        last_spread: f64::INFINITY,
    };
}

/// The list of two patches, or of one with itself.
#[derive(Debug, Default)]
struct Block {
    patches: [u32; 2],
    /// R, in m.
    radius: f64,
    /// Σρ, in m.
    used: f64,
    /// ρ of the step at hand, in m.
    step: f64,
    /// Questions to the tree since the larger boxes last overlapped.
    idle: u32,
    /// Whether the boxes overlap in the step at hand.
    is_near: bool,
    /// Whether nothing is known of it yet.
    is_new: bool,
    vertex_triangle: Vec<([u32; 4], f32)>,
    edge_edge: Vec<([u32; 4], f32)>,
    /// The least of the gaps, in m.
    least: f32,
}

/// All lists. See the module's comment.
#[derive(Debug)]
pub struct Neighborhood {
    /// All sorted by patch.
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    vertices: Vec<u32>,
    members: Vec<u32>,
    patches: Vec<Patch>,
    cloth_with_cloth: bool,
    drifts: Vec<Mutex<Drift>>,
    current: Vec<Drift>,
    /// The larger boxes.
    larger: Vec<Aabb>,
    tree: Bvh,
    /// Sorted by their patches.
    blocks: Vec<Mutex<Block>>,
    spare: Vec<Block>,
    overlaps: Vec<[u32; 2]>,
    missing: Vec<[u32; 2]>,
    stale: Vec<u32>,
    /// Where the last step began.
    last: Vec<Vec3<f64>>,
    active: Candidates,
}

/// A length that no rounding on its way can have made too short.
fn up(length: f64) -> f64 {
    length * (1.0 + 1e-12) + 1e-150
}

impl Neighborhood {
    /// For triangles of things that move on their own; `object` is the number of the thing that a vertex belongs to, `is_cloth` whether that
    /// is cloth and not a body, and `positions` tell what is side by side. Triangles with a vertex that does not exist, or twice the
    /// same, are left out.
    pub fn new(
        positions: &[Vec3<f64>],
        triangles: &[[u32; 3]],
        object: impl Fn(u32) -> usize,
        is_cloth: impl Fn(usize) -> bool,
    ) -> Self {
        let is_whole = |&[a, b, c]: &[u32; 3]| {
            a != b && b != c && c != a && [a, b, c].iter().all(|&vertex| (vertex as usize) < positions.len())
        };
        let mut sorted: Vec<[u32; 3]> = triangles.iter().copied().filter(is_whole).collect();
        sorted.sort_by_key(|triangle| object(triangle[0]));
        let mut cuts = vec![0];
        for things in sorted.chunk_by_mut(|s, t| object(s[0]) == object(t[0])) {
            split(things, positions, &mut cuts);
        }
        let mut all = Self {
            triangles: sorted,
            edges: Vec::new(),
            vertices: Vec::new(),
            members: Vec::new(),
            patches: Vec::new(),
            cloth_with_cloth: true,
            drifts: Vec::new(),
            current: Vec::new(),
            larger: Vec::new(),
            tree: Bvh::default(),
            blocks: Vec::new(),
            spare: Vec::new(),
            overlaps: Vec::new(),
            missing: Vec::new(),
            stale: Vec::new(),
            last: Vec::new(),
            active: Candidates::default(),
        };
        let mut has_vertex = vec![false; positions.len()];
        let mut sides: Vec<([u32; 2], usize)> = Vec::new();
        for (patch, cut) in cuts.windows(2).enumerate() {
            for &[a, b, c] in &all.triangles[cut[0]..cut[1]] {
                sides.extend([[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], patch)));
            }
        }
        sides.sort_unstable();
        sides.dedup_by_key(|side| side.0);
        sides.sort_by_key(|side| side.1);
        for (patch, cut) in cuts.windows(2).enumerate() {
            let (first_edge, first_vertex, first_member) = (all.edges.len(), all.vertices.len(), all.members.len());
            let own = sides.partition_point(|side| side.1 < patch)..sides.partition_point(|side| side.1 <= patch);
            all.edges.extend(sides[own].iter().map(|side| side.0));
            let mut members: Vec<u32> = all.triangles[cut[0]..cut[1]].iter().flatten().copied().collect();
            members.sort_unstable();
            members.dedup();
            all.vertices.extend(members.iter().filter(|&&v| !std::mem::replace(&mut has_vertex[v as usize], true)));
            all.members.extend(&members);
            let lengths = all.triangles[cut[0]..cut[1]]
                .iter()
                .map(|&[a, b, _]| (positions[a as usize] - positions[b as usize]).norm());
            let edge = lengths.sum::<f64>() / (cut[1] - cut[0]).max(1) as f64;
            all.patches.push(Patch {
                triangles: cut[0]..cut[1],
                edges: first_edge..all.edges.len(),
                vertices: first_vertex..all.vertices.len(),
                members: first_member..all.members.len(),
                edge,
                is_cloth: members.first().is_some_and(|&v| is_cloth(object(v))),
            });
        }
        all.drifts = all.patches.iter().map(|_| Mutex::new(Drift::NONE)).collect();
        all.current = vec![Drift::NONE; all.patches.len()];
        all
    }

    /// From now on, looks for pairs of cloth and bodies alone.
    pub fn leave_out_cloth_with_cloth(&mut self) {
        self.cloth_with_cloth = false;
    }

    /// The pairs that [`look`](Self::look) has found, which reach as far as one likes: all others stay apart.
    pub fn active(&self) -> &Candidates {
        &self.active
    }

    /// Finds every pair that may come within `distance` while vertices move from `start` to `end`.
    ///
    /// `start` has to be the `end` of the last step, or that of the last call; positions have to be finite.
    pub fn look(&mut self, team: &Team, threads: usize, (start, end): (&[Vec3<f64>], &[Vec3<f64>]), distance: f64) {
        self.look_at(team, threads, (start, end), false, distance);
        self.gather(distance);
    }

    /// The same for another end of the same step: pairs that were found for the last one are kept.
    pub fn look_again(
        &mut self,
        team: &Team,
        threads: usize,
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        distance: f64,
    ) {
        self.look_at(team, threads, (start, end), true, distance);
        self.gather(distance);
    }

    fn look_at(
        &mut self,
        team: &Team,
        threads: usize,
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        is_again: bool,
        distance: f64,
    ) {
        if self.last.len() != start.len() {
            self.last.clear();
            self.last.extend_from_slice(start);
        }
        self.follow(team, threads, start, end, distance);
        if self.larger.is_empty()
            || self.current.iter().zip(&self.larger).any(|(drift, larger)| !larger.contains(&drift.around))
        {
            self.find_overlaps();
            self.update_blocks();
        }
        self.charge(is_again);
        self.find_stale(team, threads, start, distance);
    }

    /// How all patches move.
    fn follow(&mut self, team: &Team, threads: usize, start: &[Vec3<f64>], end: &[Vec3<f64>], distance: f64) {
        let this = &*self;
        let is_same = this.last == start;
        team.run(threads, |worker: &Worker<'_>| {
            for part in worker.share(0..this.patches.len()) {
                let members = &this.members[this.patches[part].members.clone()];
                let (mean, spread) = motion(members, start, end);
                let (last_mean, last_spread) =
                    if is_same { (Vec3::ZERO, 0.0) } else { motion(members, &this.last, start) };
                let around = members.iter().map(|&v| [start[v as usize], end[v as usize]]);
                let around = Aabb::around_all(around.flatten(), 0.5 * distance);
                let drift = Drift { mean, spread, around, last_mean, last_spread };
                *this.drifts[part].lock().unwrap_or_else(PoisonError::into_inner) = drift;
            }
        });
        for (current, drift) in self.current.iter_mut().zip(&mut self.drifts) {
            *current = *drift.get_mut().unwrap_or_else(PoisonError::into_inner);
        }
        self.last.clear();
        self.last.extend_from_slice(start);
    }

    /// Pairs of patches whose larger boxes overlap, sorted.
    fn find_overlaps(&mut self) {
        let Self { current, larger, patches, overlaps, tree, cloth_with_cloth, .. } = self;
        larger.clear();
        larger.extend(current.iter().zip(&*patches).map(|(drift, patch)| {
            let later = drift.around.moved(drift.mean * LASTS);
            drift.around.union(&later).inflated(SPARE.end * patch.edge + LASTS * drift.spread)
        }));
        let box_of = |item: u32| larger[item as usize];
        if tree.len() != larger.len() {
            tree.sort(larger.len(), box_of);
        }
        tree.refit(|item| (box_of(item), patches[item as usize].is_cloth));
        if tree.has_decayed() {
            tree.sort(larger.len(), box_of);
            tree.refit(|item| (box_of(item), patches[item as usize].is_cloth));
        }
        overlaps.clear();
        let (cloth_with_cloth, is_cloth) = (*cloth_with_cloth, |patch: u32| patches[patch as usize].is_cloth);
        let cloth = (0..larger.len() as u32).filter(|&patch| cloth_with_cloth && is_cloth(patch));
        overlaps.extend(cloth.map(|patch| [patch, patch]));
        tree.for_each_overlap(|p, q| {
            // The tree has left out most pairs of bodies, not all.
            if is_cloth(p) != is_cloth(q) || is_cloth(p) && cloth_with_cloth {
                overlaps.push([p.min(q), p.max(q)]);
            }
        });
        overlaps.sort_unstable();
    }

    /// Makes lists for new neighbours, and forgets old ones.
    fn update_blocks(&mut self) {
        let Self { blocks, overlaps, missing, spare, .. } = self;
        missing.clear();
        let mut wanted = overlaps.iter().copied().peekable();
        let mut has_old = false;
        for block in blocks.iter_mut().map(|block| block.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            while let Some(pair) = wanted.next_if(|pair| *pair < block.patches) {
                missing.push(pair);
            }
            block.idle = if wanted.next_if_eq(&block.patches).is_some() { 0 } else { block.idle + 1 };
            has_old |= block.idle > FORGET;
        }
        missing.extend(wanted);
        if has_old {
            for index in (0..blocks.len()).rev() {
                if blocks[index].get_mut().unwrap_or_else(PoisonError::into_inner).idle > FORGET {
                    spare.push(blocks.remove(index).into_inner().unwrap_or_else(PoisonError::into_inner));
                }
            }
        }
        if !missing.is_empty() {
            for pair in missing.drain(..) {
                let mut block = spare.pop().unwrap_or_default();
                (block.patches, block.radius, block.used, block.idle, block.is_new) = (pair, 0.0, 0.0, 0, true);
                blocks.push(Mutex::new(block));
            }
            blocks.sort_unstable_by_key(|block| block.lock().unwrap_or_else(PoisonError::into_inner).patches);
        }
    }

    /// Adds what the last step has used up of every list, and looks how much this one will.
    fn charge(&mut self, is_again: bool) {
        for block in self.blocks.iter_mut().map(|block| block.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            let [p, q] = block.patches.map(|patch| &self.current[patch as usize]);
            let is_self = block.patches[0] == block.patches[1];
            let together = |first: f64, second: f64, mean: Vec3<f64>| {
                if is_self { up(2.0 * first) } else { up(first + second + mean.norm()) }
            };
            block.used = up(block.used + together(p.last_spread, q.last_spread, p.last_mean - q.last_mean));
            let (step, is_near) =
                (together(p.spread, q.spread, p.mean - q.mean), is_self || p.around.overlaps(&q.around));
            let is_known = is_again && !block.is_new;
            (block.step, block.is_near) =
                if is_known { (block.step.max(step), block.is_near || is_near) } else { (step, is_near) };
            block.is_new = false;
        }
    }

    /// Finds those lists anew that do not reach far enough for this step.
    fn find_stale(&mut self, team: &Team, threads: usize, start: &[Vec3<f64>], distance: f64) {
        self.stale.clear();
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let block = block.get_mut().unwrap_or_else(PoisonError::into_inner);
            // Patches that are apart in this step need no list.
            let reaches = up(block.used + block.step + distance) < block.radius;
            if block.is_near && !reaches {
                self.stale.push(index as u32);
            }
        }
        if self.stale.is_empty() {
            return;
        }
        let this = &*self;
        team.run(threads, |worker| {
            for part in worker.share_pieces(PARTS) {
                for &index in this.stale.iter().skip(part).step_by(PARTS) {
                    let mut block = this.blocks[index as usize].lock().unwrap_or_else(PoisonError::into_inner);
                    this.find(&mut block, start, distance);
                }
            }
        });
    }

    /// The list of a block.
    fn find(&self, block: &mut Block, x: &[Vec3<f64>], distance: f64) {
        let [p, q] = block.patches.map(|patch| &self.patches[patch as usize]);
        let edge = 0.5 * (p.edge + q.edge);
        let spare = (LASTS * block.step).clamp(SPARE.start * edge, SPARE.end * edge);
        // Twice the step, so that it is not found again for the next one at once.
        block.radius = up(distance + 2.0 * block.step + spare);
        block.used = 0.0;
        block.vertex_triangle.clear();
        block.edge_edge.clear();
        let radius = block.radius;
        let corner = |v: u32| x[v as usize];
        let is_self = block.patches[0] == block.patches[1];
        let [near_p, near_q] = if is_self {
            [Near::of(self, p, x, radius, None); 2]
        } else {
            let boxes = [p, q].map(|patch| {
                let members = &self.members[patch.members.clone()];
                Aabb::around_all(members.iter().map(|&v| corner(v)), 0.5 * radius)
            });
            [Near::of(self, p, x, radius, Some(&boxes[1])), Near::of(self, q, x, radius, Some(&boxes[0]))]
        };
        let mut vertices_and_triangles = |first: &Near, second: &Near| {
            for &(i, small) in first.vertices.iter() {
                let v = self.vertices[i as usize];
                for &(t, _) in second.triangles.iter().filter(|(_, aabb)| aabb.overlaps(&small)) {
                    let [a, b, c] = self.triangles[t as usize];
                    if v == a || v == b || v == c {
                        continue;
                    }
                    if let Some(gap) = gap_within(radius, &[corner(v), corner(a), corner(b), corner(c)], 1) {
                        block.vertex_triangle.push(([v, a, b, c], gap));
                    }
                }
            }
        };
        vertices_and_triangles(&near_p, &near_q);
        if !is_self {
            vertices_and_triangles(&near_q, &near_p);
        }
        for (i, &(e, small)) in near_p.edges.iter().enumerate() {
            let [a, b] = self.edges[e as usize];
            let others = near_q.edges.iter().skip(if is_self { i + 1 } else { 0 });
            for &(f, _) in others.filter(|(_, aabb)| aabb.overlaps(&small)) {
                let [c, d] = self.edges[f as usize];
                if a == c || a == d || b == c || b == d {
                    continue;
                }
                if let Some(gap) = gap_within(radius, &[corner(a), corner(b), corner(c), corner(d)], 2) {
                    block.edge_edge.push(([a, b, c, d], gap));
                }
            }
        }
        let gaps = block.vertex_triangle.iter().chain(&block.edge_edge).map(|pair| pair.1);
        block.least = gaps.fold(f32::INFINITY, f32::min);
    }

    /// The pairs of all lists that cannot be dismissed.
    fn gather(&mut self, distance: f64) {
        let Self { blocks, active, .. } = self;
        active.clear();
        for block in blocks.iter_mut().map(|block| block.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            let nearer = up(block.used + block.step + distance);
            if !block.is_near || f64::from(block.least) > nearer {
                continue;
            }
            let is_active = |(_, gap): &&([u32; 4], f32)| f64::from(*gap) <= nearer;
            active.vertex_triangle.extend(block.vertex_triangle.iter().filter(is_active).map(|pair| pair.0));
            active.edge_edge.extend(block.edge_edge.iter().filter(is_active).map(|pair| pair.0));
        }
    }
}

/// A few things with their boxes.
#[derive(Clone, Copy)]
struct Few<const N: usize> {
    items: [(u32, Aabb); N],
    count: usize,
}

impl<const N: usize> Few<N> {
    /// Those of `range` whose boxes overlap another.
    fn of(range: &Range<usize>, other: Option<&Aabb>, box_of: impl Fn(usize) -> Aabb) -> Self {
        let mut few = Self { items: [(0, Aabb::EMPTY); N], count: 0 };
        for item in range.clone().take(N) {
            let aabb = box_of(item);
            if other.is_none_or(|other| aabb.overlaps(other)) {
                few.items[few.count] = (item as u32, aabb);
                few.count += 1;
            }
        }
        few
    }

    fn iter(&self) -> std::slice::Iter<'_, (u32, Aabb)> {
        self.items[..self.count].iter()
    }
}

/// What of a patch is near a box.
#[derive(Clone, Copy)]
struct Near {
    vertices: Few<{ 3 * PATCH }>,
    edges: Few<{ 3 * PATCH }>,
    triangles: Few<PATCH>,
}

impl Near {
    fn of(all: &Neighborhood, patch: &Patch, x: &[Vec3<f64>], radius: f64, other: Option<&Aabb>) -> Self {
        let about = |vertices: &[u32]| Aabb::around_all(vertices.iter().map(|&v| x[v as usize]), 0.5 * radius);
        Self {
            vertices: Few::of(&patch.vertices, other, |i| about(&[all.vertices[i]])),
            edges: Few::of(&patch.edges, other, |i| about(&all.edges[i])),
            triangles: Few::of(&patch.triangles, other, |i| about(&all.triangles[i])),
        }
    }
}

/// Mean of the displacements of some vertices, and how far one is from it, at most.
fn motion(members: &[u32], from: &[Vec3<f64>], to: &[Vec3<f64>]) -> (Vec3<f64>, f64) {
    let move_of = |v: u32| to[v as usize] - from[v as usize];
    let sum = members.iter().fold(Vec3::ZERO, |sum, &v| sum + move_of(v));
    let mean = sum * (1.0 / members.len().max(1) as f64);
    let mut largest = 0.0;
    let mut size: f64 = 0.0;
    for &v in members {
        let (x, y) = (from[v as usize], to[v as usize]);
        let squared = ((y - x) - mean).norm_squared();
        largest = if squared > largest { squared } else { largest };
        size = size.max(x.norm_squared());
    }
    // The difference of two positions is rounded by a unit of the larger at most.
    (mean, up(largest.sqrt() + 4.0 * f64::EPSILON * size.sqrt()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::{point_triangle, segment_segment};

    /// A sheet of `n` × `n` vertices, 1 apart, from a corner on.
    fn sheet(n: u32, corner: Vec3<f64>, first: u32) -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
        let points = (0..n * n).map(|i| corner + Vec3::new(f64::from(i % n), 0.0, f64::from(i / n)));
        let cells = (0..(n - 1) * (n - 1)).map(move |i| first + i % (n - 1) + n * (i / (n - 1)));
        (points.collect(), cells.flat_map(|a| [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]).collect())
    }

    /// Every pair that is within `distance` at the start, the end or a time between.
    fn by_brute_force(
        all: &Neighborhood,
        start: &[Vec3<f64>],
        end: &[Vec3<f64>],
        distance: f64,
        mut visit: impl FnMut(bool, [u32; 4]),
    ) {
        let at = |v: u32, t: f64| start[v as usize] * (1.0 - t) + end[v as usize] * t;
        let times = [0.0, 0.3, 0.7, 1.0];
        for &v in &all.vertices {
            for &[a, b, c] in all.triangles.iter().filter(|t| !t.contains(&v)) {
                let near = |&t: &f64| point_triangle(at(v, t), [at(a, t), at(b, t), at(c, t)]).distance < distance;
                if times.iter().any(near) {
                    visit(true, [v, a, b, c]);
                }
            }
        }
        for (i, &[a, b]) in all.edges.iter().enumerate() {
            for &[c, d] in all.edges[i + 1..].iter().filter(|e| !e.contains(&a) && !e.contains(&b)) {
                let near = |&t: &f64| segment_segment([at(a, t), at(b, t)], [at(c, t), at(d, t)]).distance < distance;
                if times.iter().any(near) {
                    visit(false, [a, b, c, d]);
                }
            }
        }
    }

    #[test]
    fn every_vertex_edge_and_triangle_is_in_one_patch() {
        let (points, triangles) = sheet(12, Vec3::ZERO, 0);
        let all = Neighborhood::new(&points, &triangles, |_| 0, |_| true);
        assert_eq!([all.vertices.len(), all.edges.len(), all.triangles.len()], [144, 11 * 12 * 2 + 121, 242]);
        assert!(all.patches.len() > 6 && all.patches.iter().all(|patch| patch.triangles.len() <= PATCH));
        let covered: usize = all.patches.iter().map(|patch| patch.triangles.len()).sum();
        assert_eq!(covered, 242);
    }

    /// Two sheets that fly, turn, ripple and pass by each other: lists grow old, and nothing is missed.
    #[test]
    fn no_pair_is_missed_however_old_the_lists_are() {
        let team = Team::new(2).unwrap();
        let (first, mut triangles) = sheet(9, Vec3::ZERO, 0);
        let (second, more) = sheet(9, Vec3::new(1.3, 0.9, 0.6), 81);
        triangles.extend(more);
        let rest: Vec<_> = first.into_iter().chain(second).collect();
        let place = |step: usize| -> Vec<Vec3<f64>> {
            let t = step as f64 * 0.04;
            let pose = |(i, x): (usize, &Vec3<f64>)| {
                let ripple = 0.1 * libm::sin(1.7 * x.x + 3.0 * t) * libm::cos(1.1 * x.z - 2.0 * t);
                let side = if i < 81 { 1.0 } else { -1.0 };
                // Both fly fast; one turns.
                let (sin, cos) = if i < 81 { (libm::sin(0.3 * t), libm::cos(0.3 * t)) } else { (0.0, 1.0) };
                let turned = Vec3::new(x.x * cos - x.z * sin, x.y + ripple, x.x * sin + x.z * cos);
                turned + Vec3::new(20.0 * t, 0.4 * side * t, side * 0.5 * t)
            };
            rest.iter().enumerate().map(pose).collect()
        };
        let mut all = Neighborhood::new(&rest, &triangles, |v| usize::from(v >= 81), |_| true);
        let (distance, mut seen, mut finds) = (0.2, 0, 0);
        for step in 0..60 {
            let (start, end) = (place(step), place(step + 1));
            all.look(&team, 2, (&start, &end), distance);
            finds += all.stale.len();
            let mut active: Vec<(bool, [u32; 4])> =
                all.active.vertex_triangle.iter().map(|pair| (true, *pair)).collect();
            active.extend(all.active.edge_edge.iter().map(|pair| (false, sorted_edges(*pair))));
            active.sort_unstable();
            by_brute_force(&all, &start, &end, distance, |is_face, pair| {
                let pair = if is_face { pair } else { sorted_edges(pair) };
                assert!(active.binary_search(&(is_face, pair)).is_ok(), "step {step}: {pair:?}");
                seen += 1;
            });
        }
        assert!(seen > 1000, "{seen} pairs came near");
        assert!(finds < 60 * all.blocks.len() / 3, "lists last: {finds} of {} were found anew", 120 * all.blocks.len());
    }

    fn sorted_edges([a, b, c, d]: [u32; 4]) -> [u32; 4] {
        if [a, b] < [c, d] { [a, b, c, d] } else { [c, d, a, b] }
    }

    #[test]
    fn bodies_are_not_looked_at_among_themselves_nor_cloth_with_cloth_if_it_is_left_out() {
        let (points, triangles) = sheet(4, Vec3::ZERO, 0);
        let near: Vec<_> = points.iter().map(|x| *x * 0.3).collect();
        let found = |is_cloth: bool, across: bool| {
            let mut all = Neighborhood::new(&points, &triangles, |_| 0, |_| is_cloth);
            if across {
                all.leave_out_cloth_with_cloth();
            }
            all.look(&Team::solo(), 1, (&near, &near), 0.5);
            all.active().len()
        };
        assert!(found(true, false) > 0);
        assert_eq!([found(false, false), found(true, true)], [0, 0]);
    }
}
