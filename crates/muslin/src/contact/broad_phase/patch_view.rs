//! Patch view: the points of a patch in one step and the boxes of its primitives, in which a [`PairList`](crate::contact::broad_phase::pair_list::PairList) looks for pairs.

use wide::f32x4;

use crate::contact::broad_phase::distance_bound::{Points, SIDE, SLACK};
use crate::contact::broad_phase::patch::{MEMBERS, Patches};
use crate::math::Register;

/// A power of two from [`MEMBERS`] on: an index taken modulo this needs no check.
pub(crate) const PLACES: usize = MEMBERS.next_power_of_two();

/// A place that no member has.
const NOBODY: u8 = PLACES as u8 - 1;

/// A patch and where it is.
#[derive(Debug)]
pub(crate) struct PatchView {
    pub(crate) patch: u32,
    count: usize,
    points: [f32x4; PLACES],
    /// Vertices that are too far from the other patch along the line of the centres.
    is_far: [bool; PLACES],
    /// Which member of the other patch the same vertex is, or nobody.
    twins: [u8; PLACES],
    /// Around the other patch and what is within reach of it.
    pub(crate) near: Span,
    span: Span,
    centre: f32x4,
    /// The largest coordinate.
    pub(crate) size: f32,
}

impl Default for PatchView {
    fn default() -> Self {
        Self {
            patch: 0,
            count: 0,
            points: [f32x4::ZERO; PLACES],
            is_far: [false; PLACES],
            twins: [NOBODY; PLACES],
            near: Span::ALL,
            span: Span::ALL,
            centre: f32x4::ZERO,
            size: 0.0,
        }
    }
}

impl PatchView {
    /// Takes over a patch, with everything near, that has itself for the other one if it `is_self`, or else one without a vertex of it.
    pub(crate) fn set(&mut self, all: &Patches, patch: u32, x: &Points, is_self: bool) {
        let vertices = all.members_of(patch);
        (self.patch, self.count, self.near) = (patch, vertices.len(), Span::ALL);
        let (mut span, mut sum) = (Span::NONE, f32x4::ZERO);
        for (place, &v) in vertices.iter().enumerate().take(PLACES) {
            let point = x.at(v);
            span = span.with(point);
            sum += point;
            self.points[place] = point;
            self.is_far[place] = false;
            self.twins[place] = if is_self { place as u8 } else { NOBODY };
        }
        self.span = span;
        self.centre = sum * f32x4::splat(1.0 / vertices.len().max(1) as f32);
        let size = span.low.abs().max(span.high.abs()).to_array();
        self.size = size[0].max(size[1]).max(size[2]);
    }

    /// Takes over which vertices two patches share: their places in both.
    pub(crate) fn share(p: &mut Self, q: &mut Self, twins: &[[u8; 2]]) {
        for &[of_p, of_q] in twins {
            p.twins[of_p as usize % PLACES] = of_q;
            q.twins[of_q as usize % PLACES] = of_p;
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, place: u8) -> f32x4 {
        self.points[place as usize % PLACES]
    }

    #[inline(always)]
    pub(crate) fn is_far(&self, place: u8) -> bool {
        self.is_far[place as usize % PLACES]
    }

    /// The place of the same vertex in the other patch, or one that nobody has.
    #[inline(always)]
    pub(crate) fn twin(&self, place: u8) -> u8 {
        self.twins[place as usize % PLACES]
    }

    /// Finds out which vertices of two patches are far from the other one; if all are, how far the patches are apart at least, in m.
    ///
    /// Boxes along the axes tell two patches badly apart that lie side by side across them. Along n, the line of their centres, all of
    /// q is above its lowest vertex: what of p is farther below than the reach has no pair, and the other way round.
    pub(crate) fn keep_near(p: &mut Self, q: &mut Self, reach: f32) -> Option<f32> {
        (p.near, q.near) = (q.span.inflated(reach), p.span.inflated(reach));
        let n = q.centre - p.centre;
        // Heights and the length of n are rounded by some units of the largest coordinate: as for gaps.
        let (length, slack) = ((n * n).reduce_add().sqrt() * (1.0 + 1e-5), SLACK * p.size.max(q.size));
        let beyond = (reach + slack) * length;
        let (of_p, of_q) = (p.heights(n), q.heights(n));
        let (of_p, of_q) = (&of_p[..p.count], &of_q[..q.count]);
        let least = of_q.iter().copied().fold(f32::INFINITY, f32::min);
        let greatest = of_p.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if least - greatest > beyond {
            return Some((least - greatest) / length - slack).filter(|apart| apart.is_finite());
        }
        // What is not a number is near.
        p.is_far.iter_mut().zip(of_p).for_each(|(is_far, height)| *is_far = *height < least - beyond);
        q.is_far.iter_mut().zip(of_q).for_each(|(is_far, height)| *is_far = *height > greatest + beyond);
        None
    }

    /// n·x of all vertices.
    fn heights(&self, n: f32x4) -> [f32; PLACES] {
        let [x, y, z, _] = n.to_array().map(f32x4::splat);
        let mut heights = [0.0; PLACES];
        let used = self.count.div_ceil(4);
        for (heights, points) in
            heights.as_chunks_mut::<4>().0.iter_mut().zip(self.points.as_chunks::<4>().0).take(used)
        {
            let [p, q, r, _] = f32x4::transpose(*points);
            *heights = (p * x + q * y + r * z).to_array();
        }
        heights
    }
}

/// A box along the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) low: f32x4,
    pub(crate) high: f32x4,
}

impl Span {
    pub(crate) const ALL: Self = Self { low: f32x4::new([f32::NEG_INFINITY; 4]), high: f32x4::new([f32::INFINITY; 4]) };
    const NONE: Self = Self { low: f32x4::new([f32::INFINITY; 4]), high: f32x4::new([f32::NEG_INFINITY; 4]) };

    #[inline(always)]
    pub(crate) fn of<const K: usize>(side: &PatchView, places: [u8; K]) -> Self {
        let first = side.at(places[0]);
        let mut span = Self { low: first, high: first };
        for &place in &places[1..] {
            span = span.with(side.at(place));
        }
        span
    }

    #[inline(always)]
    fn with(self, point: f32x4) -> Self {
        Self { low: self.low.fast_min(point), high: self.high.fast_max(point) }
    }

    #[inline(always)]
    pub(crate) fn inflated(self, by: f32) -> Self {
        Self { low: self.low - f32x4::splat(by), high: self.high + f32x4::splat(by) }
    }

    /// Whether they have a point in common.
    #[inline(always)]
    pub(crate) fn overlaps(&self, o: &Self) -> bool {
        (self.low.simd_le(o.high) & o.low.simd_le(self.high)).to_bitmask() == 0b1111
    }
}

/// Boxes side by side, [`SIDE`] to be compared at once.
#[derive(Debug)]
pub(crate) struct Boxes<const N: usize> {
    low: [[f32; N]; 3],
    high: [[f32; N]; 3],
    /// Which of the patch's each is, in ascending order.
    items: [u8; N],
    count: usize,
    /// For each member of the patch, a bit for each of these boxes that it is a corner of; none at the place that nobody has.
    corners: [u128; PLACES],
}

impl<const N: usize> Default for Boxes<N> {
    fn default() -> Self {
        const { assert!(N.is_multiple_of(SIDE) && N < 128, "whole registers, and a bit for each") }
        Self {
            low: [[f32::INFINITY; N]; 3],
            high: [[f32::NEG_INFINITY; N]; 3],
            items: [0; N],
            count: 0,
            corners: [0; PLACES],
        }
    }
}

impl<const N: usize> Boxes<N> {
    /// Of those items that are near the other patch.
    pub(crate) fn set<const K: usize>(&mut self, items: &[[u8; K]], side: &PatchView) {
        self.count = 0;
        self.corners[..side.count.min(PLACES)].fill(0);
        for (index, &places) in items.iter().enumerate().take(N) {
            if places.iter().fold(true, |all, &place| all & side.is_far(place)) {
                continue;
            }
            let span = Span::of(side, places);
            if side.near.overlaps(&span) {
                let (low, high, at) = (span.low.to_array(), span.high.to_array(), self.count);
                for axis in 0..3 {
                    (self.low[axis][at], self.high[axis][at]) = (low[axis], high[axis]);
                }
                for place in places {
                    self.corners[place as usize % PLACES] |= 1 << at;
                }
                self.items[at] = index as u8;
                self.count += 1;
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A bit for each box that is not to be looked at by what has these corners, seen from the other patch, and the first of which is `from`.
    #[inline(always)]
    pub(crate) fn strangers_to<const K: usize>(&self, twins: [u8; K], from: usize) -> Strangers {
        let mut known = !0 << self.count | ((1 << from) - 1);
        for twin in twins {
            known |= self.corners[twin as usize % PLACES];
        }
        Strangers { known: known.to_le_bytes(), from }
    }

    /// Adds every box that is a stranger and overlaps that of `item`.
    #[inline(always)]
    pub(crate) fn add_overlaps<S: Register>(&self, item: u8, own: &Span, who: &Strangers, overlaps: &mut Overlaps) {
        let (low, high) = (own.low.to_array(), own.high.to_array());
        let (low_x, low_y, low_z) = (splat::<S>(low[0]), splat::<S>(low[1]), splat::<S>(low[2]));
        let (high_x, high_y, high_z) = (splat::<S>(high[0]), splat::<S>(high[1]), splat::<S>(high[2]));
        for chunk in who.from / S::LANES..self.count.div_ceil(S::LANES) {
            let first = chunk * S::LANES;
            // What is not a number tells nothing apart.
            let x = S::either(
                S::load(&self.low[0][first..]).greater(high_x),
                low_x.greater(S::load(&self.high[0][first..])),
            );
            let y = S::either(
                S::load(&self.low[1][first..]).greater(high_y),
                low_y.greater(S::load(&self.high[1][first..])),
            );
            let z = S::either(
                S::load(&self.low[2][first..]).greater(high_z),
                low_z.greater(S::load(&self.high[2][first..])),
            );
            let is_out = S::bits(S::either(x, S::either(y, z))) | u32::from(who.known[first / 8] >> (first % 8));
            overlaps.add(item, first, !is_out & ((1 << S::LANES) - 1));
        }
    }

    /// Which of the patch's a box is of.
    #[inline(always)]
    pub(crate) fn item(&self, at: u8) -> usize {
        self.items[at as usize % N] as usize
    }
}

/// Items and boxes that overlap them.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    /// Longer than there are some.
    items: Vec<u8>,
    boxes: Vec<u8>,
    count: usize,
}

/// The lanes of a register of eight whose bits are set, in ascending order, a byte each, and how many they are.
static LANES_OF: [([u8; SIDE], u8); 1 << SIDE] = {
    let mut all = [([0; SIDE], 0); 1 << SIDE];
    let mut bits = 0;
    while bits < all.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < SIDE {
            if bits & (1 << lane) != 0 {
                all[bits].0[count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        all[bits].1 = count as u8;
        bits += 1;
    }
    all
};

impl Overlaps {
    /// None, with room for so many items and boxes.
    pub(crate) fn begin(&mut self, items: usize, boxes: usize) {
        self.count = 0;
        let clearance = items * boxes + SIDE;
        if self.items.len() < clearance {
            self.items.resize(clearance, 0);
            self.boxes.resize(clearance, 0);
        }
    }

    /// Adds those boxes from `first` on whose bits are set. Eight are put down, and those stay that are some: no guess of a branch goes wrong.
    #[inline(always)]
    fn add(&mut self, item: u8, first: usize, bits: u32) {
        let (lanes, count) = LANES_OF[bits as usize % LANES_OF.len()];
        let clearance = self.count..self.count + SIDE;
        let boxes = u64::from_le_bytes(lanes).wrapping_add(first as u64 * 0x0101_0101_0101_0101);
        self.items[clearance.clone()].fill(item);
        self.boxes[clearance].copy_from_slice(&boxes.to_le_bytes());
        self.count += usize::from(count);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The items and boxes from `from` on, [`SIDE`] of them; those beyond the last are any.
    #[inline(always)]
    pub(crate) fn group(&self, from: usize) -> ([u8; SIDE], [u8; SIDE]) {
        let of = |list: &[u8]| list[from..].first_chunk().copied().unwrap_or_default();
        (of(&self.items), of(&self.boxes))
    }

    /// Puts the first item and the first box behind the last, so that every group is whole.
    pub(crate) fn end(&mut self) {
        self.items[self.count..][..SIDE].fill(0);
        self.boxes[self.count..][..SIDE].fill(0);
    }
}

/// Which boxes to look at.
pub(crate) struct Strangers {
    /// A bit for each that is not.
    known: [u8; 16],
    from: usize,
}

#[inline(always)]
fn splat<S: Register>(number: f32) -> S {
    S::from_f64(f64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Closest;
    use crate::energy::conformance::Random;
    use crate::parallel::Team;

    /// Two patches side by side in any direction: what is called far is far, and patches are as far apart as is said.
    #[test]
    fn what_is_far_along_the_line_of_centres_has_no_pair() {
        let mut random = Random::new(3);
        let (mut lists, mut apart, mut far) = (0, 0, 0);
        for round in 0..300 {
            let (e, f, n) = (random.vector(), random.vector(), random.vector() * 0.2);
            let shift = e * (5.5 + 0.01 * f64::from(round));
            let place = |i: u32| e * f64::from(i % 5) + f * f64::from(i / 5);
            let mut x: Vec<_> = (0..25).map(place).collect();
            x.extend((0..25).map(|i| place(i) + shift));
            x.iter_mut().for_each(|x| *x += n * random.vector().x);
            let cells =
                (0..16_u32).map(|i| i % 4 + 5 * (i / 4)).flat_map(|a| [[a, a + 1, a + 5], [a + 1, a + 6, a + 5]]);
            let cells: Vec<[u32; 3]> = cells.collect();
            let both: Vec<_> = cells.iter().copied().chain(cells.iter().map(|t| t.map(|v| v + 25))).collect();
            let all = Patches::new(&x, &both, |v| usize::from(v > 24), |_| true);
            let points = Points::of(&x, &x, &Team::solo());
            let [mut p, mut q] = [PatchView::default(), PatchView::default()];
            p.set(&all, 0, &points, false);
            q.set(&all, 1, &points, false);
            let reach = 0.5_f32;
            let outcome = PatchView::keep_near(&mut p, &mut q, reach);
            let distance = |v: u32, [a, b, c]: [u32; 3]| {
                Closest::of::<1>([x[v as usize], x[a as usize], x[b as usize], x[c as usize]]).distance
            };
            let least = |v: u32, triangles: &[[u32; 3]]| {
                triangles.iter().map(|&t| distance(v, t)).fold(f64::INFINITY, f64::min)
            };
            for v in 0..50_u32 {
                let other = if v < 25 { &both[32..] } else { &both[..32] };
                let side = if v < 25 { &p } else { &q };
                let is_far =
                    side.is_far(all.members_of(side.patch).iter().position(|&member| member == v).unwrap() as u8);
                let distance = least(v, other);
                assert!(!is_far || distance > f64::from(reach), "vertex {v} is {distance} away");
                assert!(outcome.is_none_or(|apart| f64::from(apart) <= distance), "{outcome:?} and {distance}");
                far += usize::from(is_far);
            }
            apart += usize::from(outcome.is_some());
            lists += usize::from(outcome.is_none());
        }
        assert!(lists > 20 && apart > 20 && far > 200, "{lists} lists, {apart} apart, {far} vertices far");
    }
}
