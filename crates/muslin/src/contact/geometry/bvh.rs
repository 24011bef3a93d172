//! Bounding volume hierarchy of boxes, built once and refitted as its items move.
//!
//! Items lie in Morton order, cut into leaves of [`LEAF_SIZE`], two leaves to a node, and so on up. The shape depends on
//! the number of items alone: the nodes lie in an array like those of a heap (node n has children 2n and 2n + 1, the
//! root is 1), filled up with empty boxes to a power of two, and need no links.
//!
//! Refitting is one pass over the items and one over the nodes. Cloth keeps its neighbours, so the order of the day it
//! was built stays good for long; when the boxes of the nodes have grown against those of the items
//! ([`Bvh::has_decayed`]) the items are sorted anew. Which pairs are found does not depend on the order.

use wide::f32x4;

use crate::math::Vec3;

/// A box along the axes. In f32, rounded outwards: half the memory to walk through, and no overlap is lost.
///
/// The fourth numbers are −∞ and ∞: they decide nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aabb {
    min: f32x4,
    max: f32x4,
}

impl Aabb {
    /// Contains nothing, overlaps nothing.
    pub(crate) const EMPTY: Self = {
        let (below, above) = (f32::NEG_INFINITY, f32::INFINITY);
        Self { min: f32x4::new([above, above, above, below]), max: f32x4::new([below, below, below, above]) }
    };

    fn new([x, y, z]: [f32; 3], [u, v, w]: [f32; 3]) -> Self {
        Self { min: f32x4::new([x, y, z, f32::NEG_INFINITY]), max: f32x4::new([u, v, w, f32::INFINITY]) }
    }

    /// Around the corners of a triangle.
    pub(crate) fn around(corners: &[Vec3<f64>; 3]) -> Self {
        let [a, b, c] = corners.map(Vec3::to_array);
        Self::new(
            [0, 1, 2].map(|axis| round_down(a[axis].min(b[axis]).min(c[axis]))),
            [0, 1, 2].map(|axis| round_up(a[axis].max(b[axis]).max(c[axis]))),
        )
    }

    /// Around a point.
    pub(crate) fn at(point: Vec3<f64>) -> Self {
        let Vec3 { x, y, z } = point;
        Self::new([round_down(x), round_down(y), round_down(z)], [round_up(x), round_up(y), round_up(z)])
    }

    /// Around all points within `radius` of some points along the axes, which have to be finite.
    pub(crate) fn around_all(points: impl Iterator<Item = Vec3<f64>>, radius: f64) -> Self {
        let (mut low, mut high) = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
        for p in points {
            low = Vec3::new(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z));
            high = Vec3::new(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z));
        }
        let (low, high) = (low - Vec3::splat(radius), high + Vec3::splat(radius));
        // Far more than the sums and the conversion round, and quicker than to look at each.
        let outwards = |x: f64, sign: f32| {
            let x = x.clamp(-f64::from(f32::MAX), f64::from(f32::MAX)) as f32;
            x + sign * (x.abs() * f32::EPSILON + f32::MIN_POSITIVE)
        };
        Self::new(
            [outwards(low.x, -1.0), outwards(low.y, -1.0), outwards(low.z, -1.0)],
            [outwards(high.x, 1.0), outwards(high.y, 1.0), outwards(high.z, 1.0)],
        )
    }

    /// The same box elsewhere: only nearly, for boxes that need not be rounded outwards.
    pub(crate) fn moved(&self, by: Vec3<f64>) -> Self {
        let by = f32x4::new([by.x as f32, by.y as f32, by.z as f32, 0.0]);
        Self { min: self.min + by, max: self.max + by }
    }

    /// A larger box: only nearly, as before.
    pub(crate) fn inflated(&self, by: f64) -> Self {
        let by = f32x4::new([by as f32, by as f32, by as f32, 0.0]);
        Self { min: self.min - by, max: self.max + by }
    }

    /// Whether another box is within this one.
    pub(crate) fn contains(&self, o: &Self) -> bool {
        (self.min.simd_le(o.min) & self.max.simd_ge(o.max)).all()
    }

    #[inline]
    pub(crate) fn union(&self, o: &Self) -> Self {
        // `fast`: there is no NaN to think about.
        Self { min: self.min.fast_min(o.min), max: self.max.fast_max(o.max) }
    }

    /// Whether the boxes have a point in common; flat boxes have points too.
    #[inline]
    pub(crate) fn overlaps(&self, o: &Self) -> bool {
        (self.min.simd_le(o.max) & o.min.simd_le(self.max)).to_bitmask() == 0b1111
    }

    fn centre(&self) -> [f64; 3] {
        let (min, max) = (self.min.as_array(), self.max.as_array());
        [0, 1, 2].map(|axis| 0.5 * (f64::from(min[axis]) + f64::from(max[axis])))
    }

    /// Sum of the three sides; none for an empty box.
    fn girth(&self) -> f64 {
        let [x, y, z, _] = (self.max - self.min).to_array();
        f64::from(x + y + z).max(0.0)
    }
}

/// Boxes side by side, to be compared at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boxes {
    min: [f32x4; 3],
    max: [f32x4; 3],
    /// One by one.
    pub(crate) each: [Aabb; LEAF_SIZE],
}

impl Boxes {
    const EMPTY: Self = Self {
        min: [f32x4::new([f32::INFINITY; 4]); 3],
        max: [f32x4::new([f32::NEG_INFINITY; 4]); 3],
        each: [Aabb::EMPTY; LEAF_SIZE],
    };

    pub(crate) fn new(each: [Aabb; LEAF_SIZE]) -> Self {
        let [a, b, c, d] = &each;
        let [x, y, z, _] = f32x4::transpose([a.min, b.min, c.min, d.min]);
        let [u, v, w, _] = f32x4::transpose([a.max, b.max, c.max, d.max]);
        Self { min: [x, y, z], max: [u, v, w], each }
    }

    /// Which boxes overlap another: a bit for each.
    #[inline(always)]
    pub(crate) fn overlaps(&self, o: &Aabb) -> u32 {
        let (min, max) = (o.min.as_array(), o.max.as_array());
        let along = |axis: usize| {
            self.min[axis].simd_le(f32x4::splat(max[axis])) & f32x4::splat(min[axis]).simd_le(self.max[axis])
        };
        (along(0) & along(1) & along(2)).to_bitmask()
    }
}

/// The boxes of a leaf, and whose they are; empty ones where there are fewer.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    boxes: Boxes,
    items: [u32; LEAF_SIZE],
}

impl Leaf {
    const EMPTY: Self = Self { boxes: Boxes::EMPTY, items: [u32::MAX; LEAF_SIZE] };

    /// Calls `visit` with an item and each of this leaf's items whose bits are set.
    ///
    /// An infinite box overlaps the empty boxes of slots without an item too: these are left out.
    #[inline(always)]
    fn visit(&self, item: u32, mut bits: u32, visit: &mut impl FnMut(u32, u32)) {
        while bits != 0 {
            let other = self.items[bits.trailing_zeros() as usize];
            if item != u32::MAX && other != u32::MAX {
                visit(item, other);
            }
            bits &= bits - 1;
        }
    }
}

/// The greatest f32 that is not above `x`.
pub(crate) fn round_down(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) > x { nearest.next_down() } else { nearest }
}

/// The least f32 that is not below `x`.
pub(crate) fn round_up(x: f64) -> f32 {
    -round_down(-x)
}

/// A binary tree of boxes. See the module's comment.
#[derive(Debug, Default)]
pub(crate) struct Bvh {
    /// Items in Morton order.
    leaves: Vec<Leaf>,
    item_count: usize,
    nodes: Vec<Aabb>,
    /// Whether anything below a node can be moved: pairs of nodes without are left out.
    movable: Vec<bool>,
    /// Girth of all nodes over that of all items: now, and when the order was made.
    looseness: [f64; 2],
    keys: Vec<(u64, u32)>,
}

/// Items of a leaf: as many as are compared at once.
const LEAF_SIZE: usize = 4;

impl Bvh {
    /// A tree of `boxes`, all of them movable.
    pub(crate) fn build(boxes: &[Aabb]) -> Self {
        let mut tree = Self::default();
        tree.sort(boxes.len(), |item| boxes[item as usize]);
        tree.refit(|item| (boxes[item as usize], true));
        tree
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.item_count
    }

    /// Puts `count` items into the order in which the Morton curve passes the centres of their boxes. Refit next.
    pub(crate) fn sort(&mut self, count: usize, box_of: impl Fn(u32) -> Aabb) {
        /// Cells along each axis: three times 21 bits fill a u64. With fewer, one vertex far off would put the rest of
        /// the cloth into a single cell.
        const CELLS: f64 = (1_u32 << 21) as f64;
        let items = 0..u32::try_from(count).unwrap_or(u32::MAX);
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for centre in items.clone().map(|item| box_of(item).centre()) {
            low = [0, 1, 2].map(|axis| low[axis].min(centre[axis]));
            high = [0, 1, 2].map(|axis| high[axis].max(centre[axis]));
        }
        // Cubic cells: a thin cloth must not be sorted by its thickness.
        let extent = (high[0] - low[0]).max(high[1] - low[1]).max(high[2] - low[2]);
        // Conversion to u64 saturates and takes NaN to 0: without an extent, or with an infinite one, all codes are equal.
        let cell = |x: f64, low: f64| (((x - low) / extent * CELLS) as u64).min(CELLS as u64 - 1);
        let code =
            |[x, y, z]: [f64; 3]| spread(cell(x, low[0])) | spread(cell(y, low[1])) << 1 | spread(cell(z, low[2])) << 2;
        self.keys.clear();
        self.keys.extend(items.map(|item| (code(box_of(item).centre()), item)));
        self.keys.sort_unstable(); // the index makes them distinct
        self.item_count = self.keys.len();
        self.leaves.clear();
        self.leaves.extend(self.keys.chunks(LEAF_SIZE).map(|keys| {
            let mut leaf = Leaf::EMPTY;
            leaf.items.iter_mut().zip(keys).for_each(|(item, key)| *item = key.1);
            leaf
        }));
        self.looseness[1] = 0.0;
    }

    /// Takes the boxes of the items as they are now, and whether each can be moved.
    pub(crate) fn refit(&mut self, box_of: impl Fn(u32) -> (Aabb, bool)) {
        let leaf_count = self.leaves.len().next_power_of_two();
        self.nodes.resize(2 * leaf_count, Aabb::EMPTY);
        self.movable.resize(2 * leaf_count, false);
        let (mut item_girth, mut node_girth) = (0.0, 0.0);
        for (index, leaf) in self.leaves.iter_mut().enumerate() {
            let (mut all, mut can_move) = (Aabb::EMPTY, false);
            let boxes = leaf.items.map(|item| {
                if item == u32::MAX {
                    return Aabb::EMPTY;
                }
                let (aabb, item_can_move) = box_of(item);
                item_girth += aabb.girth();
                all = all.union(&aabb);
                can_move |= item_can_move;
                aabb
            });
            leaf.boxes = Boxes::new(boxes);
            node_girth += all.girth();
            self.nodes[leaf_count + index] = all;
            self.movable[leaf_count + index] = can_move;
        }
        for n in (1..leaf_count).rev() {
            self.nodes[n] = self.nodes[2 * n].union(&self.nodes[2 * n + 1]);
            self.movable[n] = self.movable[2 * n] | self.movable[2 * n + 1];
            node_girth += self.nodes[n].girth();
        }
        self.looseness[0] = node_girth / item_girth;
        if self.looseness[1] == 0.0 {
            self.looseness[1] = self.looseness[0];
        }
    }

    /// Whether the boxes of the nodes have grown so much against those of the items that sorting anew pays.
    ///
    /// The time of a query grows about as the girth does; sorting takes about as long as one query.
    pub(crate) fn has_decayed(&self) -> bool {
        self.looseness[0] > 1.5 * self.looseness[1]
    }

    /// Calls `visit` once for each pair of items whose boxes overlap, in an order that depends on the boxes alone.
    pub(crate) fn for_each_overlap(&self, mut visit: impl FnMut(u32, u32)) {
        self.overlaps_within(1, &mut visit);
    }

    /// The same for one of `piece_count` pieces of the pairs: together they are all, each once. In a pair, the item that the order has first is first.
    pub(crate) fn for_each_overlap_in(&self, piece: usize, piece_count: usize, mut visit: impl FnMut(u32, u32)) {
        /// Nodes of the level at which the tree is cut, if it has as many: some hundred pairs of them, of which many do not overlap.
        const NODES: usize = 32;
        let level = NODES.min(self.nodes.len() / 2);
        let pairs = (level..2 * level).flat_map(|m| (m..2 * level).map(move |n| (m, n)));
        for (m, n) in pairs.skip(piece).step_by(piece_count) {
            if m == n {
                self.overlaps_within(m, &mut visit);
            } else {
                self.overlaps_with(m, self, n, &mut visit);
            }
        }
    }

    fn overlaps_within(&self, n: usize, visit: &mut impl FnMut(u32, u32)) {
        if !self.movable[n] {
            return;
        }
        if let Some(leaf) = self.leaf(n) {
            for (i, (first, &item)) in leaf.boxes.each.iter().zip(&leaf.items).enumerate() {
                leaf.visit(item, leaf.boxes.overlaps(first) & (0b1110 << i), visit);
            }
            return;
        }
        self.overlaps_within(2 * n, visit);
        self.overlaps_within(2 * n + 1, visit);
        // Two nodes of one level: going down in both at once keeps it so.
        self.overlaps_with(2 * n, self, 2 * n + 1, visit);
    }

    fn overlaps_with(&self, m: usize, o: &Self, n: usize, visit: &mut impl FnMut(u32, u32)) {
        if (self.movable[m] | o.movable[n]) && self.nodes[m].overlaps(&o.nodes[n]) {
            self.overlaps_below(m, o, n, visit);
        }
    }

    /// For two nodes that overlap.
    fn overlaps_below(&self, m: usize, o: &Self, n: usize, visit: &mut impl FnMut(u32, u32)) {
        match (self.leaf(m), o.leaf(n)) {
            (Some(first_leaf), Some(second_leaf)) => {
                for (first, &item) in first_leaf.boxes.each.iter().zip(&first_leaf.items) {
                    let bits = second_leaf.boxes.overlaps(first);
                    if bits != 0 {
                        second_leaf.visit(item, bits, visit);
                    }
                }
            }
            (None, None) => {
                // Looked at here, not at the beginning of a call: most do not overlap.
                for m in [2 * m, 2 * m + 1] {
                    let (first, can_move) = (self.nodes[m], self.movable[m]);
                    for n in [2 * n, 2 * n + 1] {
                        if first.overlaps(&o.nodes[n]) && (can_move | o.movable[n]) {
                            self.overlaps_below(m, o, n, visit);
                        }
                    }
                }
            }
            (Some(_), None) => [2 * n, 2 * n + 1].into_iter().for_each(|n| self.overlaps_with(m, o, n, visit)),
            (None, Some(_)) => [2 * m, 2 * m + 1].into_iter().for_each(|m| self.overlaps_with(m, o, n, visit)),
        }
    }

    /// Node `n`, if it is a leaf. Those that fill up the tree are empty.
    #[inline]
    fn leaf(&self, n: usize) -> Option<&Leaf> {
        let index = n.checked_sub(self.nodes.len() / 2)?;
        Some(self.leaves.get(index).unwrap_or(&Leaf::EMPTY))
    }
}

/// Spaces the lowest 21 bits three apart.
fn spread(bits: u64) -> u64 {
    let x = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;

    fn boxes_of(random: &mut Random, count: u32) -> Vec<Aabb> {
        let mut one = || {
            let min = [0; 3].map(|_: u32| random.below(20) as f32);
            let size = [0; 3].map(|_: u32| random.below(8) as f32);
            Aabb::new(min, [0, 1, 2].map(|axis| min[axis] + size[axis]))
        };
        (0..count).map(|_| one()).collect()
    }

    fn within(tree: &Bvh) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        tree.for_each_overlap(|i, j| found.push((i.min(j), i.max(j))));
        found.sort_unstable();
        found
    }

    fn by_brute_force(boxes: &[Aabb], counts: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
        let count = boxes.len() as u32;
        let all = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j)));
        all.filter(|&(i, j)| counts(i, j) && boxes[i as usize].overlaps(&boxes[j as usize])).collect()
    }

    #[test]
    fn the_tree_finds_the_pairs_of_boxes_that_brute_force_finds() {
        let mut random = Random::new(3);
        for count in 0..70 {
            let boxes = boxes_of(&mut random, count);
            assert_eq!(within(&Bvh::build(&boxes)), by_brute_force(&boxes, |_, _| true));
        }
    }

    #[test]
    fn boxes_without_an_end_overlap_every_item_and_no_empty_slot() {
        let endless = Aabb::new([f32::NEG_INFINITY; 3], [f32::INFINITY; 3]);
        for count in 1..30 {
            let mut boxes = boxes_of(&mut Random::new(5), count);
            boxes[count as usize / 2] = endless;
            assert_eq!(within(&Bvh::build(&boxes)), by_brute_force(&boxes, |_, _| true), "{count} boxes");
        }
    }

    #[test]
    fn a_refitted_tree_finds_all_and_leaves_out_what_cannot_move() {
        let mut random = Random::new(7);
        let mut tree = Bvh::build(&boxes_of(&mut random, 100));
        for _ in 0..20 {
            let boxes = boxes_of(&mut random, 100);
            tree.refit(|item| (boxes[item as usize], true));
            assert_eq!(within(&tree), by_brute_force(&boxes, |_, _| true));
            tree.refit(|item| (boxes[item as usize], item < 30));
            let found = within(&tree);
            let can_move = |i: u32, j: u32| i < 30 || j < 30;
            let needed = by_brute_force(&boxes, can_move);
            // A leaf may hold both kinds, so that more than the needed may be found.
            assert!(needed.iter().all(|pair| found.binary_search(pair).is_ok()), "a pair is missing");
        }
    }

    #[test]
    fn a_tree_decays_when_nothing_is_where_it_was_and_sorting_helps() {
        let mut random = Random::new(11);
        let mut scattered = || -> Vec<Aabb> {
            let place = |random: &mut Random| [0; 3].map(|_: u32| random.below(1000) as f32);
            (0..500).map(|_| place(&mut random)).map(|min| Aabb::new(min, min.map(|x| x + 1.0))).collect()
        };
        let mut tree = Bvh::build(&scattered());
        assert!(!tree.has_decayed());
        let boxes = scattered();
        tree.refit(|item| (boxes[item as usize], true));
        assert!(tree.has_decayed());
        tree.sort(boxes.len(), |item| boxes[item as usize]);
        tree.refit(|item| (boxes[item as usize], true));
        assert!(!tree.has_decayed());
        assert_eq!(within(&tree), by_brute_force(&boxes, |_, _| true));
    }

    #[test]
    fn boxes_are_rounded_outwards() {
        for x in [0.1, -0.1, 1.0, 0.0, 1e300, -1e300, 1e-320, f64::MAX] {
            assert!(f64::from(round_down(x)) <= x && x <= f64::from(round_up(x)), "{x}");
            let around = Aabb::around_all([Vec3::splat(x)].into_iter(), 0.25);
            assert!(
                f64::from(around.min.as_array()[0]) <= x - 0.25 && x + 0.25 <= f64::from(around.max.as_array()[0]),
                "{x}"
            );
        }
        assert_eq!((round_down(0.5), round_up(0.5)), (0.5, 0.5));
    }
}
