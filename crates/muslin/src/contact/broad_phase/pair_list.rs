//! Pair list: the pairs of two patches, or of one with itself, that are near each other.
//!
//! They are looked for in single precision, several at a time: what is kept is only who may be near and how far apart a
//! pair is *at least*, its gap (see [`distance_bound`](crate::contact::broad_phase::distance_bound)). Boxes tell most apart; those that share a vertex, most of the others, are left out by a
//! bit for each (see [`Boxes`]).
//!
//! # When a pair is skipped
//!
//! ρ is that of two patches, and a pair moves by much less: points p and q of it are means of its vertices, so p − q changes by no more than
//! the two of its vertices, one on either side, that move most against each other, v = max ‖uᵢ − uⱼ‖. A pair of which the gap is measured in a step is left out if
//!
//! ```text
//! gap − v > distance
//! ```
//!
//! Then it is farther apart than the distance all along, and so it is along the direction of its closest points at the start: what looks
//! closer, in double precision, finds neither a contact nor a violation. So a result does not depend on which of the two sums has left a pair out, but for this: Σρ is about distances, with a turn of both sides taken out, and a step in which layers turn by more
//! than their gap over their edges may hold back a pair that is looked at and is not in danger. Whether such a pair is looked at depends on Σρ only within its rounding.
//!
//! After that step it is gap − v apart, less what the vertices stray from where they were to go, where Σρ has grown by ρ and as much of straying. So it is apart as
//! long as Σρ stays below
//!
//! ```text
//! Σρ before the step + ρ + gap − v        instead of        Σρ before the step + gap
//! ```
//!
//! and what is between one and two steps away is measured every other step and not in every one. Should the same step be looked at with another end, of
//! which v says nothing, ρ is taken from all of them again.

use crate::contact::broad_phase::Leave;
use crate::contact::broad_phase::distance_bound::{
    Near, Points, SIDE, SLACK, Work, least_distance, lesser_of, with_leave,
};
use crate::contact::broad_phase::motion_bound::up;
use crate::contact::broad_phase::patch::{MEMBERS, PATCH, Patches};
use crate::contact::broad_phase::patch_view::{Boxes, Overlaps, PatchView, Span};
use crate::contact::geometry::bvh::{round_down, round_up};
use crate::contact::pair::Candidates;
use crate::contact::pair::Pair;
use crate::math::{Register, Vec3};

/// Pairs of one kind.
#[derive(Debug, Default)]
struct List {
    pairs: Vec<[u32; 4]>,
    /// For each the Σρ below which it is apart, in m: its gap and what Σρ was when that was measured.
    until: Vec<f32>,
    /// What each gap counts for more than it is, in m; nothing if that is nothing for all.
    leaves: Vec<f32>,
}

/// The list of two patches, or of one with itself. Every step looks at every list and at few of the pairs, so these are elsewhere.
#[derive(Debug, Default)]
pub(crate) struct PairList {
    pub(crate) patches: [u32; 2],
    /// R, in m.
    pub(crate) radius: f64,
    /// Σρ, in m.
    pub(crate) used: f64,
    /// ρ of the step at hand, in m.
    pub(crate) step: f64,
    /// Questions to the tree since the larger boxes last overlapped.
    pub(crate) idle: u32,
    /// Whether the boxes overlap in the step at hand.
    pub(crate) is_near: bool,
    /// The least Σρ at which a pair may touch, in m.
    least: f32,
    /// ρ that was given to pairs of which v is known, in m.
    given: f64,
    lists: Box<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    vertex_triangle: List,
    edge_edge: List,
    /// The vertices that both patches have: where in the one and in the other.
    twins: Vec<[u8; 2]>,
}

impl PairList {
    /// Begins a list of which nothing is known yet.
    pub(crate) fn begin(&mut self, patches: [u32; 2], all: &Patches) {
        (self.patches, self.radius, self.used, self.step, self.idle, self.is_near) = (patches, 0.0, 0.0, 0.0, 0, false);
        self.lists.vertex_triangle.clear();
        self.lists.edge_edge.clear();
        (self.least, self.given) = (f32::INFINITY, 0.0);
        self.lists.twins.clear();
        if patches[0] != patches[1] {
            let [p, q] = patches.map(|patch| all.members_of(patch));
            let mut others = q.iter().enumerate().peekable();
            for (of_p, v) in p.iter().enumerate() {
                while others.next_if(|other| other.1 < v).is_some() {}
                if let Some((of_q, _)) = others.next_if(|other| other.1 == v) {
                    self.lists.twins.push([of_p as u8, of_q as u8]);
                }
            }
        }
    }

    /// Whether the two patches have a vertex in common.
    pub(crate) fn has_twins(&self) -> bool {
        !self.lists.twins.is_empty()
    }

    /// The last step is over, and vertices have strayed from it by so much, in m.
    pub(crate) fn pass(&mut self, strayed: f64) {
        self.used = up(self.used + self.step + strayed);
        self.given = 0.0;
    }

    /// Nothing is known any more.
    pub(crate) fn lose(&mut self) {
        (self.radius, self.used, self.step, self.given, self.is_near) = (0.0, 0.0, 0.0, 0.0, false);
    }

    /// How far pairs may have come together by the end of the step, in m.
    pub(crate) fn approach(&self) -> f64 {
        up(self.used + self.step)
    }

    /// Finds all pairs within `radius`, of gaps that count for more where `leave` says so.
    pub(crate) fn find(
        &mut self,
        all: &Patches,
        x: &Points,
        (radius, leave): (f64, Option<&Leave<'_>>),
        bench: &mut Workbench,
    ) {
        (self.radius, self.used, self.given) = (radius, 0.0, 0.0);
        self.lists.vertex_triangle.clear();
        self.lists.edge_edge.clear();
        self.least = f32::INFINITY;
        let is_self = self.patches[0] == self.patches[1];
        // More than the conversion takes; finite, so that what is infinitely far (in single precision) has boxes too.
        let reach_of = |size: f32| ((radius * (1.0 + 1e-6)) as f32 + SLACK * size).min(f32::MAX);
        let [p, q] = &mut bench.sides;
        p.set(all, self.patches[0], x, is_self);
        let mut reach = reach_of(p.size);
        if !is_self {
            q.set(all, self.patches[1], x, is_self);
            PatchView::share(p, q, &self.lists.twins);
            reach = reach_of(p.size.max(q.size));
            if let Some(apart) = PatchView::keep_near(p, q, reach) {
                // Then the list is empty farther than it was asked for.
                self.radius = radius.max(f64::from(apart));
                return;
            }
        }
        self.collect(all, x, (reach, leave), bench);
    }

    /// Takes the pairs of two patches that are near each other.
    fn collect(&mut self, all: &Patches, x: &Points, reach: (f32, Option<&Leave<'_>>), bench: &mut Workbench) {
        let Workbench { sides: [p, q], triangles, edges, overlaps, .. } = bench;
        let is_self = self.patches[0] == self.patches[1];
        let q = if is_self { &*p } else { &*q };
        let mut found = Found::<1> { list: &mut self.lists.vertex_triangle, reach };
        found.look(all, x, (p, q), (triangles, overlaps));
        if !is_self {
            found.look(all, x, (q, p), (triangles, overlaps));
        }
        let mut found = Found::<2> { list: &mut self.lists.edge_edge, reach };
        found.look(all, x, (p, q), (edges, overlaps));
        self.least = f32::min(self.lists.vertex_triangle.least(), self.lists.edge_edge.least());
    }

    /// Takes back what was given to pairs for how little they move on the way to an end that is none any more.
    pub(crate) fn take_back(&mut self) {
        if self.given > 0.0 {
            let given = std::mem::take(&mut self.given);
            let less = |until: &mut f32| *until = round_down(f64::from(*until) - given);
            let Lists { vertex_triangle, edge_edge, .. } = &mut *self.lists;
            vertex_triangle.until.iter_mut().chain(&mut edge_edge.until).for_each(less);
            less(&mut self.least);
        }
    }

    /// Whether no pair may come within `distance` in the step at hand, as far as Σρ tells.
    #[inline(always)]
    pub(crate) fn is_apart(&self, distance: f64) -> bool {
        f64::from(self.least) > up(self.approach() + distance)
    }

    /// Adds the pairs that may come within `distance` in the step at hand, which begins at `x`.
    ///
    /// Of a pair that Σρ says nothing of any more the gap is measured again. If `by_own`, those are left out too that are kept apart by how
    /// little their own vertices move against each other.
    pub(crate) fn take_active(
        &mut self,
        x: &Points,
        distance: f64,
        by_own: bool,
        (bench, active): (&mut Workbench, &mut Candidates),
    ) {
        let nearer = round_up(up(self.approach() + distance));
        let near = Near {
            used: round_down(self.used),
            after: by_own.then(|| round_down(self.used + self.step)),
            nearer,
            distance: round_up(distance),
        };
        if by_own {
            self.given = self.step;
        }
        let faces =
            self.lists.vertex_triangle.take_active::<1>(x, &near, &mut bench.waiting, &mut active.vertex_triangle);
        let edges = self.lists.edge_edge.take_active::<2>(x, &near, &mut bench.waiting, &mut active.edge_edge);
        self.least = f32::min(faces, edges);
    }
}

impl List {
    fn clear(&mut self) {
        self.pairs.clear();
        self.until.clear();
        self.leaves.clear();
    }

    fn least(&self) -> f32 {
        self.until.iter().copied().fold(f32::INFINITY, f32::min)
    }

    /// Measures the gaps of those pairs again that Σρ says nothing of, and takes those that are active; the least Σρ at which a pair may touch.
    fn take_active<const FIRST: usize>(
        &mut self,
        x: &Points,
        near: &Near,
        waiting: &mut Vec<u32>,
        active: &mut Vec<[u32; 4]>,
    ) -> f32 {
        let clearance = self.until.len() + SIDE;
        if waiting.len() < clearance {
            waiting.resize(clearance, 0);
        }
        let (count, mut least) = x.run(Due { until: &self.until, nearer: near.nearer, waiting });
        for group in waiting[..count].chunks(SIDE) {
            let mut pairs = [[0; 4]; SIDE];
            pairs.iter_mut().zip(group).for_each(|(pair, &index)| *pair = self.pairs[index as usize]);
            let mut leaves = [0.0; SIDE];
            if !self.leaves.is_empty() {
                leaves.iter_mut().zip(group).for_each(|(leave, &index)| *leave = self.leaves[index as usize]);
            }
            let measured = x.measure::<FIRST>(&pairs, &leaves, near);
            for ((&index, pair), (lane, &until)) in group.iter().zip(pairs).zip(measured.until.iter().enumerate()) {
                self.until[index as usize] = until;
                least = least.min(until);
                if measured.is_active & (1 << lane) != 0 {
                    active.push(pair);
                }
            }
        }
        least
    }
}

/// Which pairs have to be measured again: how many, and the least Σρ of the others.
struct Due<'a> {
    until: &'a [f32],
    nearer: f32,
    /// Gets which, and has room for some more.
    waiting: &'a mut [u32],
}

impl Work for Due<'_> {
    type Outcome = (usize, f32);

    #[inline(always)]
    fn run<S: Register>(self) -> (usize, f32) {
        let Self { until, nearer, waiting } = self;
        let (mut count, mut least) = (0, S::from_f64(f64::INFINITY));
        let limit = S::from_f64(f64::from(nearer));
        let whole = until.len() / S::LANES * S::LANES;
        for first in (0..whole).step_by(S::LANES) {
            let these = S::load(&until[first..]);
            let is_far = these.greater(limit);
            least = lesser_of(least, S::select(is_far, these, least));
            let bits = S::bits(is_far);
            if bits != (1 << S::LANES) - 1 {
                // Every one is put down, and stays if it is one: no guess of a branch goes wrong.
                let clearance = &mut waiting[count..count + S::LANES];
                let mut more = 0;
                for lane in 0..S::LANES {
                    clearance[more] = (first + lane) as u32;
                    more += usize::from(bits & (1 << lane) == 0);
                }
                count += more;
            }
        }
        let mut all = [f32::INFINITY; SIDE];
        least.store(&mut all);
        let mut least = all.into_iter().fold(f32::INFINITY, f32::min);
        for (index, &until) in until.iter().enumerate().skip(whole) {
            if until > nearer {
                least = least.min(until);
            } else {
                waiting[count] = index as u32;
                count += 1;
            }
        }
        (count, least)
    }
}

/// What pairs are looked for with; kept, since it is large.
#[derive(Debug, Default)]
pub(crate) struct Workbench {
    sides: [PatchView; 2],
    triangles: Boxes<PATCH>,
    edges: Boxes<MEMBERS>,
    overlaps: Overlaps,
    /// Pairs of a list that have to be measured again.
    waiting: Vec<u32>,
}

/// Pairs as they are found.
struct Found<'a, const FIRST: usize> {
    list: &'a mut List,
    /// How near a pair has to be, in m, and what gaps count for more.
    reach: (f32, Option<&'a Leave<'a>>),
}

impl<const FIRST: usize> Found<'_, FIRST> {
    /// Keeps those that overlap and are within reach; `places` are those of an item and of a box, among the members of the two patches.
    #[inline(always)]
    fn keep<S: Register>(
        &mut self,
        all: &Patches,
        (first, second): (&PatchView, &PatchView),
        overlaps: &Overlaps,
        places: impl Fn(u8, u8) -> [u8; 4],
    ) {
        let sides: [&PatchView; 4] = std::array::from_fn(|k| if k < FIRST { first } else { second });
        let reach = S::from_f64(f64::from(self.reach.0));
        for from in (0..overlaps.count()).step_by(S::LANES) {
            let (items, boxes) = overlaps.group(from);
            let mut pairs = [[0; 4]; SIDE];
            for lane in 0..S::LANES {
                pairs[lane] = places(items[lane], boxes[lane]);
            }
            let mut corners = [Vec3::ZERO; 4];
            for k in 0..4 {
                let [x, y, z, _] = S::columns(
                    #[inline(always)]
                    |lane| sides[k].at(pairs[lane][k]).into(),
                );
                corners[k] = Vec3 { x, y, z };
            }
            let gaps = least_distance::<FIRST, S>(&corners);
            let count = S::LANES.min(overlaps.count() - from);
            let mut bits = !S::bits(gaps.greater(reach)) & ((1 << count) - 1);
            if bits != 0 {
                let mut each = [0.0; SIDE];
                gaps.store(&mut each);
                while bits != 0 {
                    let lane = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let member = |k: usize| all.members_of(sides[k].patch)[pairs[lane][k] as usize];
                    self.push([member(0), member(1), member(2), member(3)], each[lane]);
                }
            }
        }
    }

    fn push(&mut self, pair: [u32; 4], gap: f32) {
        let mut counted = gap;
        if let Some(leave) = self.reach.1 {
            let leave = round_down(leave(if FIRST == 1 { Pair::VertexTriangle(pair) } else { Pair::EdgeEdge(pair) }));
            counted = with_leave(gap, leave);
            if counted > self.reach.0 {
                return;
            }
            self.list.leaves.push(leave);
        }
        self.list.pairs.push(pair);
        self.list.until.push(counted);
    }
}

impl Found<'_, 1> {
    /// Vertices of the first, triangles of the second.
    fn look(
        &mut self,
        all: &Patches,
        x: &Points,
        sides: (&PatchView, &PatchView),
        (boxes, overlaps): (&mut Boxes<PATCH>, &mut Overlaps),
    ) {
        let [first, second] = [sides.0, sides.1].map(|side| &all.patches[side.patch as usize]);
        let triangles = &all.triangles[second.triangles.clone()];
        boxes.set(triangles, sides.1);
        if !boxes.is_empty() {
            let vertices = &all.vertices[first.vertices.clone()];
            x.run(Faces { found: self, all, sides, vertices, triangles, boxes, overlaps });
        }
    }
}

impl Found<'_, 2> {
    /// Edges of both.
    fn look(
        &mut self,
        all: &Patches,
        x: &Points,
        sides: (&PatchView, &PatchView),
        (boxes, overlaps): (&mut Boxes<MEMBERS>, &mut Overlaps),
    ) {
        let [of_first, of_second] =
            [sides.0, sides.1].map(|side| &all.edges[all.patches[side.patch as usize].edges.clone()]);
        boxes.set(of_second, sides.1);
        if !boxes.is_empty() {
            x.run(Edges { found: self, all, sides, of_first, of_second, boxes, overlaps });
        }
    }
}

/// The look for vertices and triangles.
struct Faces<'a, 'b> {
    found: &'a mut Found<'b, 1>,
    all: &'a Patches,
    sides: (&'a PatchView, &'a PatchView),
    vertices: &'a [u8],
    triangles: &'a [[u8; 3]],
    boxes: &'a Boxes<PATCH>,
    overlaps: &'a mut Overlaps,
}

impl Work for Faces<'_, '_> {
    type Outcome = ();

    #[inline(always)]
    fn run<S: Register>(self) {
        let Self { found, all, sides, vertices, triangles, boxes, overlaps } = self;
        let first = sides.0;
        overlaps.begin(vertices.len(), PATCH);
        for (i, &place) in vertices.iter().enumerate() {
            if first.is_far(place) {
                continue;
            }
            let own = Span::of(first, [place]);
            if first.near.overlaps(&own) {
                let strangers = boxes.strangers_to([first.twin(place)], 0);
                boxes.add_overlaps::<S>(i as u8, &own.inflated(found.reach.0), &strangers, overlaps);
            }
        }
        overlaps.end();
        found.keep::<S>(
            all,
            sides,
            overlaps,
            #[inline(always)]
            |item, at| {
                let [a, b, c] = triangles[boxes.item(at)];
                [vertices[item as usize], a, b, c]
            },
        );
    }
}

/// The look for edges.
struct Edges<'a, 'b> {
    found: &'a mut Found<'b, 2>,
    all: &'a Patches,
    sides: (&'a PatchView, &'a PatchView),
    of_first: &'a [[u8; 2]],
    of_second: &'a [[u8; 2]],
    boxes: &'a Boxes<MEMBERS>,
    overlaps: &'a mut Overlaps,
}

impl Work for Edges<'_, '_> {
    type Outcome = ();

    #[inline(always)]
    fn run<S: Register>(self) {
        let Self { found, all, sides, of_first, of_second, boxes, overlaps } = self;
        let first = sides.0;
        let is_self = first.patch == sides.1.patch;
        overlaps.begin(of_first.len(), MEMBERS);
        for (i, &[a, b]) in of_first.iter().enumerate() {
            if first.is_far(a) & first.is_far(b) {
                continue;
            }
            let own = Span::of(first, [a, b]);
            if first.near.overlaps(&own) {
                // Of a patch with itself all edges are near, so the boxes are in the order of the edges.
                let strangers = boxes.strangers_to([first.twin(a), first.twin(b)], if is_self { i + 1 } else { 0 });
                boxes.add_overlaps::<S>(i as u8, &own.inflated(found.reach.0), &strangers, overlaps);
            }
        }
        overlaps.end();
        found.keep::<S>(
            all,
            sides,
            overlaps,
            #[inline(always)]
            |item, at| {
                let ([a, b], [c, d]) = (of_first[item as usize], of_second[boxes.item(at)]);
                [a, b, c, d]
            },
        );
    }
}
