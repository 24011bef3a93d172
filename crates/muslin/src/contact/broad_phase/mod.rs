//! Broad phase: the pairs that may come to touch in a step, kept from step to step patch by patch.
//!
//! A list of pairs found with a radius is good as long as nothing has moved by much; but cloth that flies or turns moves by many edges
//! in a frame, and a list for all of it does not last. Only motion *against each other* matters. So triangles are grouped
//! into [`Patches`], and there is a list (a Verlet list with a skin), a [`PairList`], for each two patches that are near, and for each patch with itself. In
//! a step the distances between two patches shrink by no more than their ρ: see [`MotionBound`].
//!
//! A list found with radius R holds every pair within R − Σρ after some steps, Σρ over these steps. It is found anew once that does
//! not reach for the step at hand. Layers that move together keep theirs; what rubs or bends does not.
//!
//! ρ bounds the motion to the `end` that [`BroadPhase::look`] was given. Contact and the solver may move vertices elsewhere after that. So the next step begins by
//! measuring s, how far a vertex of a patch starts at most from where the last step was to end, and adds the s of both patches to Σρ.
//!
//! Patches without a list are apart: the boxes around all their vertices, at the start and the end of the step, are farther apart
//! than the distance that is asked for; the list that they may have had says nothing any more, and is found anew should they come together. A tree over the patches finds those that are not apart. It is of larger boxes, which hold those of
//! several steps, and asked again once a patch has left its larger box.
//!
//! # The argument
//!
//! Every pair of a step is of two patches, or of one. If their boxes are apart, so is the pair, all along: boxes are convex. Else there is a
//! list. If the pair is not in it, it was farther than R apart when the list was found, so it is farther than R − Σρ apart now,
//! and by less than ρ nearer at every time of the step: still more than the distance asked for. If it is in the
//! list, with its gap when it was last measured, it is dismissed by the same sum since, or by its own motion (`pair_list.rs`), or it is [*active*](BroadPhase::active): looked at.
//!
//! # Pairs that may come nearer
//!
//! Where the edges of a cloth are shorter than the distance asked for, neighbours are nearer than that at rest already, and would fill every list.
//! [`Asked::leave`] gives such a pair a length l, in m, and the pair is found once it may come nearer than the distance less l. The lists do this by adding l to the gap of
//! the pair wherever they store a gap or compare it.
//!
//! # Rounding
//!
//! Lengths and sums are rounded up by far more than their rounding, [`up`], and in single precision as `motion_bound.rs` says. Boxes are rounded outwards. Gaps are rounded down.

pub(crate) mod distance_bound;
pub(crate) mod motion_bound;
pub(crate) mod pair_list;
pub(crate) mod patch;
pub(crate) mod patch_view;

use std::sync::{Mutex, PoisonError};

use crate::contact::broad_phase::distance_bound::Points;
use crate::contact::broad_phase::motion_bound::{MotionBound, up};
use crate::contact::broad_phase::pair_list::{PairList, Workbench};
use crate::contact::broad_phase::patch::Patches;
use crate::contact::geometry::bvh::{Aabb, Bvh};
use crate::contact::pair::Candidates;
use crate::contact::pair::Pair;
use crate::math::Vec3;
use crate::parallel::{Team, Worker};

/// Steps that a new list should last, if things go on as they do, and what it reaches beyond the step at hand at most, in edges. Patches apart from each other have lists that
/// are full or not needed for long; those side by side, and patches with themselves, have empty ones as long as they reach no neighbours.
const APART: (f64, f64) = (32.0, 0.3);
const SIDE_BY_SIDE: (f64, f64) = (96.0, 0.4);

/// What a list reaches beyond the step at hand at least, in edges: slow things do not have to be looked for.
const LEAST_SPARE: f64 = 0.05;

/// Steps that the larger boxes should hold, if things go on as they do, and what they are larger by at least, in edges.
const BOXES_LAST: f64 = 16.0;
const BOXES_SPARE: f64 = 0.3;

/// Questions to the tree after which a list that nobody asks for is given up.
const FORGET: u32 = 8;

/// Work is handed out in this many parts, whatever the team.
const PARTS: usize = 32;

/// What is asked of all pairs.
#[derive(Clone, Copy)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub struct Asked<'a> {
    /// How near a pair has to come to be found, in m.
    pub distance: f64,
    /// By how much nearer than that a pair may come, in m; the same at all times. None: not at all.
    pub leave: Option<&'a Leave<'a>>,
}

/// By how much nearer than others a pair may come, in m.
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub type Leave<'a> = dyn Fn(Pair) -> f64 + Sync + 'a;

impl Asked<'_> {
    /// The same distance for all.
    pub fn of_all(distance: f64) -> Self {
        Self { distance, leave: None }
    }
}

/// All lists. See the module's comment.
#[derive(Debug)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub struct BroadPhase {
    patches: Patches,
    cloth_with_cloth: bool,
    /// Of the step at hand.
    motion_bounds: Vec<MotionBound>,
    /// The larger boxes.
    larger: Vec<Aabb>,
    tree: Bvh,
    /// Sorted by their patches.
    lists: Vec<PairList>,
    spare: Vec<PairList>,
    overlaps: Vec<[u32; 2]>,
    missing: Vec<[u32; 2]>,
    /// Where the step at hand was to end.
    end: Vec<Vec3<f64>>,
    /// The step in single precision.
    points: Points,
    parts: [Mutex<Part>; PARTS],
    active: Candidates,
}

/// What a part of the work has found.
#[derive(Debug, Default)]
struct Part {
    active: Candidates,
    /// Lists found anew.
    renewed: usize,
    /// Not within: there are many parts, and it is large for a stack.
    bench: Box<Workbench>,
}

impl BroadPhase {
    /// For triangles of things that move on their own; `object` is the number of the thing that a vertex belongs to, `is_cloth` whether that
    /// is cloth and not a body, and `positions` tell what is side by side. Triangles with a vertex that does not exist, or twice the
    /// same, are left out.
    pub fn new(
        positions: &[Vec3<f64>],
        triangles: &[[u32; 3]],
        object: impl Fn(u32) -> usize,
        is_cloth: impl Fn(usize) -> bool,
    ) -> Self {
        let patches = Patches::new(positions, triangles, object, is_cloth);
        Self {
            motion_bounds: vec![MotionBound::NONE; patches.len()],
            patches,
            cloth_with_cloth: true,
            larger: Vec::new(),
            tree: Bvh::default(),
            lists: Vec::new(),
            spare: Vec::new(),
            overlaps: Vec::new(),
            missing: Vec::new(),
            end: Vec::new(),
            points: Points::default(),
            parts: std::array::from_fn(|_| Mutex::default()),
            active: Candidates::default(),
        }
    }

    /// From now on, looks for pairs of cloth and bodies alone.
    pub fn leave_out_cloth_with_cloth(&mut self) {
        self.cloth_with_cloth = false;
    }

    /// The pairs that [`look`](Self::look) has found, which reach as far as one likes: all others stay apart.
    pub fn active(&self) -> &Candidates {
        &self.active
    }

    /// Where the step that was last looked at ends.
    pub fn end(&self) -> &[Vec3<f64>] {
        &self.end
    }

    /// Finds every pair that may come as near as is asked while vertices move from `start` to `end`, which have to be finite.
    pub fn look(&mut self, team: &Team, threads: usize, step: (&[Vec3<f64>], &[Vec3<f64>]), asked: &Asked<'_>) {
        self.look_at(team, threads, step, asked, false);
    }

    /// The same for a step that begins where the last one did, with another end: pairs that were found for that are kept.
    pub fn look_again(&mut self, team: &Team, threads: usize, step: (&[Vec3<f64>], &[Vec3<f64>]), asked: &Asked<'_>) {
        self.look_at(team, threads, step, asked, true);
    }

    fn look_at(
        &mut self,
        team: &Team,
        threads: usize,
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        asked: &Asked<'_>,
        is_same: bool,
    ) {
        let is_same = is_same && self.end.len() == start.len();
        self.take_over(team, threads, start, end, is_same);
        self.follow(team, threads, asked.distance);
        let has_left = |(motion_bound, larger): (&MotionBound, &Aabb)| !larger.contains(&motion_bound.around);
        if self.larger.is_empty() || self.motion_bounds.iter().zip(&self.larger).any(has_left) {
            self.find_overlaps();
            self.update_lists();
        }
        self.gather(team, threads, is_same, asked);
    }

    /// Takes over the step at hand; what a vertex has strayed from the last one is kept.
    fn take_over(&mut self, team: &Team, threads: usize, start: &[Vec3<f64>], end: &[Vec3<f64>], is_same: bool) {
        if self.end.len() != start.len() {
            // The first step, or other things: there is nothing to pay for.
            self.end.clear();
            self.end.extend_from_slice(start);
        }
        self.points.resize(start.len(), team);
        let length = start.len().div_ceil(PARTS).max(1);
        debug_assert!(!is_same || self.points.are_at(start), "the same start");
        let origin = if is_same { self.points.origin() } else { self.points.move_origin(start) };
        let ends = hand_out(self.end.chunks_mut(length));
        let points = hand_out(self.points.chunks_mut(length));
        team.run(threads, |worker: &Worker<'_>| {
            for part in worker.share_pieces(PARTS) {
                let from = (part * length).min(start.len());
                let (start, end) = (&start[from..], &end[from..]);
                let Some(own_end) = take(&ends[part]) else { continue };
                if let Some(points) = take(&points[part]) {
                    points.set(origin, (start, end), own_end, is_same);
                }
                own_end.copy_from_slice(&end[..own_end.len()]);
            }
        });
    }

    /// How all patches move.
    fn follow(&mut self, team: &Team, threads: usize, distance: f64) {
        let Self { patches, motion_bounds, points, .. } = self;
        // A part is a run of patches.
        let length = motion_bounds.len().div_ceil(PARTS).max(1);
        let runs = hand_out(motion_bounds.chunks_mut(length));
        team.run(threads, |worker: &Worker<'_>| {
            for part in worker.share_pieces(PARTS) {
                for (i, motion_bound) in take(&runs[part]).into_iter().flatten().enumerate() {
                    let members = patches.members_of((part * length + i) as u32);
                    *motion_bound = MotionBound::after(motion_bound, members, points, distance);
                }
            }
        });
    }

    /// Pairs of patches whose larger boxes overlap, sorted.
    fn find_overlaps(&mut self) {
        let Self { motion_bounds, larger, patches, overlaps, tree, cloth_with_cloth, .. } = self;
        let patches = &patches.patches;
        larger.clear();
        larger.extend(motion_bounds.iter().zip(patches).map(|(motion_bound, patch)| {
            let later = motion_bound.around.moved(motion_bound.mean.cast() * BOXES_LAST);
            motion_bound.around.union(&later).inflated(BOXES_SPARE * patch.edge + BOXES_LAST * motion_bound.stir())
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
        overlaps.sort_unstable_by_key(|&pair| in_order(pair));
    }

    /// Makes lists for new neighbours, and forgets old ones.
    fn update_lists(&mut self) {
        let Self { patches, lists, overlaps, missing, spare, .. } = self;
        missing.clear();
        let mut wanted = overlaps.iter().copied().peekable();
        for list in &mut *lists {
            while let Some(pair) = wanted.next_if(|pair| *pair < list.patches) {
                missing.push(pair);
            }
            list.idle = if wanted.next_if_eq(&list.patches).is_some() { 0 } else { list.idle + 1 };
        }
        missing.extend(wanted);
        spare.extend(lists.extract_if(.., |list| list.idle > FORGET));
        if !missing.is_empty() {
            lists.extend(missing.drain(..).map(|pair| {
                let mut list = spare.pop().unwrap_or_default();
                list.begin(pair, patches);
                list
            }));
            // Two sorted runs: sorting them is to merge them.
            lists.sort_by_key(|list| in_order(list.patches));
        }
    }

    /// Looks how much of every list this step uses, finds those anew that do not reach, and takes the pairs of all that cannot be dismissed.
    fn gather(&mut self, team: &Team, threads: usize, is_same: bool, asked: &Asked<'_>) {
        let Self { patches, motion_bounds, lists, points, parts, active, .. } = self;
        let step = CurrentStep { patches, motion_bounds, points, is_same, asked };
        let length = lists.len().div_ceil(PARTS).max(1);
        let runs = hand_out(lists.chunks_mut(length));
        team.run(threads, |worker| {
            for part in worker.share_pieces(PARTS) {
                let mut found = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
                found.active.clear();
                found.renewed = 0;
                for list in take(&runs[part]).into_iter().flatten() {
                    found.take(list, &step);
                }
            }
        });
        active.clear();
        for part in parts {
            let part = &part.get_mut().unwrap_or_else(PoisonError::into_inner).active;
            active.vertex_triangle.extend_from_slice(&part.vertex_triangle);
            active.edge_edge.extend_from_slice(&part.edge_edge);
        }
    }
}

/// Pairs in the order of this number are in that of their first, then of their second; it takes one comparison.
fn in_order([p, q]: [u32; 2]) -> u64 {
    u64::from(p) << 32 | u64::from(q)
}

/// What every list is held against.
struct CurrentStep<'a> {
    patches: &'a Patches,
    motion_bounds: &'a [MotionBound],
    points: &'a Points,
    is_same: bool,
    asked: &'a Asked<'a>,
}

impl Part {
    fn take(&mut self, list: &mut PairList, at_hand: &CurrentStep<'_>) {
        let &CurrentStep { patches, motion_bounds, points, is_same, asked } = at_hand;
        let distance = asked.distance;
        let [p, q] = list.patches.map(|patch| &motion_bounds[patch as usize]);
        let is_self = list.patches[0] == list.patches[1];
        let is_near = is_self || p.around.overlaps(&q.around) || is_same && list.is_near;
        // Patches that are apart in this step need no list.
        if !is_near {
            list.lose();
            return;
        }
        let step = if is_self { p.approach_within() } else { p.approach(q) };
        if is_same {
            list.take_back();
            list.step = list.step.max(step);
        } else {
            list.pass(p.stray() + q.stray());
            list.step = step;
        }
        list.is_near = true;
        if up(list.approach() + distance) >= list.radius {
            let edge = list.patches.map(|patch| patches.patches[patch as usize].edge).iter().sum::<f64>() * 0.5;
            let (lasts, most) = if is_self || list.has_twins() { SIDE_BY_SIDE } else { APART };
            let spare = (lasts * list.step).clamp(LEAST_SPARE * edge, most * edge);
            // Twice the step, so that it is not found again for the next one at once.
            let radius = up(distance + 2.0 * list.step + spare);
            list.find(patches, points, (radius, asked.leave), &mut self.bench);
            self.renewed += 1;
        }
        if !list.is_apart(distance) {
            list.take_active(points, distance, !is_same, (&mut self.bench, &mut self.active));
        }
    }
}

/// Runs of work, each for whoever takes it.
fn hand_out<T>(mut runs: impl Iterator<Item = T>) -> [Mutex<Option<T>>; PARTS] {
    std::array::from_fn(|_| Mutex::new(runs.next()))
}

/// A run of work, for the first who asks.
fn take<T>(run: &Mutex<Option<T>>) -> Option<T> {
    run.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::broad_phase::patch::PATCH;
    use crate::contact::{point_triangle, segment_segment};
    use crate::energy::conformance::Random;

    /// A sheet of `n` × `n` vertices, 1 apart, from a corner on.
    fn sheet(n: u32, corner: Vec3<f64>, first: u32) -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
        let points = (0..n * n).map(|i| corner + Vec3::new(f64::from(i % n), 0.0, f64::from(i / n)));
        let cells = (0..(n - 1) * (n - 1)).map(move |i| first + i % (n - 1) + n * (i / (n - 1)));
        (points.collect(), cells.flat_map(|a| [[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]).collect())
    }

    /// All vertices, edges and triangles, by the vertices of the mesh.
    fn primitives(all: &BroadPhase) -> (Vec<u32>, Vec<[u32; 2]>, Vec<[u32; 3]>) {
        let all = &all.patches;
        let (mut vertices, mut edges, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for (patch, own) in all.patches.iter().enumerate() {
            let vertex = |place: u8| all.members_of(patch as u32)[place as usize];
            vertices.extend(all.vertices[own.vertices.clone()].iter().map(|&place| vertex(place)));
            edges.extend(all.edges[own.edges.clone()].iter().map(|edge| edge.map(vertex)));
            triangles.extend(all.triangles[own.triangles.clone()].iter().map(|triangle| triangle.map(vertex)));
        }
        (vertices, edges, triangles)
    }

    /// Every pair that is within its `distance` at the start, the end or a time between.
    fn by_brute_force(
        all: &BroadPhase,
        start: &[Vec3<f64>],
        end: &[Vec3<f64>],
        distance: impl Fn([u32; 4]) -> f64,
        mut visit: impl FnMut(bool, [u32; 4]),
    ) {
        let at = |v: u32, t: f64| start[v as usize] * (1.0 - t) + end[v as usize] * t;
        let times = [0.0, 0.3, 0.7, 1.0];
        let (vertices, edges, triangles) = primitives(all);
        for v in vertices {
            for &[a, b, c] in triangles.iter().filter(|t| !t.contains(&v)) {
                let within = distance([v, a, b, c]);
                let near = |&t: &f64| point_triangle(at(v, t), [at(a, t), at(b, t), at(c, t)]).distance < within;
                if times.iter().any(near) {
                    visit(true, [v, a, b, c]);
                }
            }
        }
        for (i, &[a, b]) in edges.iter().enumerate() {
            for &[c, d] in edges[i + 1..].iter().filter(|e| !e.contains(&a) && !e.contains(&b)) {
                let within = distance([a, b, c, d]);
                let near = |&t: &f64| segment_segment([at(a, t), at(b, t)], [at(c, t), at(d, t)]).distance < within;
                if times.iter().any(near) {
                    visit(false, [a, b, c, d]);
                }
            }
        }
    }

    #[test]
    fn every_vertex_edge_and_triangle_is_in_one_patch() {
        let (points, triangles) = sheet(12, Vec3::ZERO, 0);
        let all = BroadPhase::new(&points, &triangles, |_| 0, |_| true);
        let (mut vertices, mut edges, mut found) = primitives(&all);
        vertices.sort_unstable();
        assert_eq!(vertices, (0..144).collect::<Vec<_>>());
        edges.sort_unstable();
        edges.dedup();
        assert_eq!(edges.len(), 11 * 12 * 2 + 121);
        found.sort_unstable();
        let mut wanted = triangles.clone();
        wanted.iter_mut().chain(&mut found).for_each(|triangle| triangle.sort_unstable());
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted);
        assert!(all.patches.len() > 6 && all.patches.patches.iter().all(|patch| patch.triangles.len() <= PATCH));
    }

    /// Two sheets that fly, turn, ripple and pass by each other: lists grow old, and nothing is missed. Nor where a step does not begin
    /// where the last one was to end, and is looked at with two ends.
    #[test]
    fn no_pair_is_missed_however_old_the_lists_are() {
        for stray in [0.0, 0.003, 0.03] {
            check_that_no_pair_is_missed(stray, 0.0);
        }
    }

    /// The same if the distance is longer than the edges, and pairs of one sheet may come nearer than that: none is missed, and the sheet is not full of pairs.
    #[test]
    fn no_pair_is_missed_that_may_come_nearer_than_others() {
        for stray in [0.0, 0.003, 0.03] {
            check_that_no_pair_is_missed(stray, 1.0);
        }
    }

    /// Pairs of one sheet come as near as 0.2, those of two that and `leave`.
    fn check_that_no_pair_is_missed(stray: f64, leave: f64) {
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
        let mut all = BroadPhase::new(&rest, &triangles, |v| usize::from(v >= 81), |_| true);
        let (distance, mut seen, mut finds) = (0.2 + leave, 0, 0);
        let is_within = |pair: [u32; 4]| (pair[0] < 81) == (pair[3] < 81);
        let distance_of = |pair: [u32; 4]| if is_within(pair) { 0.2 } else { distance };
        let leave_of = |(Pair::VertexTriangle(pair) | Pair::EdgeEdge(pair))| if is_within(pair) { leave } else { 0.0 };
        let asked = Asked { distance, leave: (leave > 0.0).then_some(&leave_of) };
        let mut within = 0;
        let strayed = |step: usize, end: usize| -> Vec<Vec3<f64>> {
            let mut random = Random::new((6 * step + 2 * end) as u64);
            place(step).into_iter().map(|x| x + random.vector() * stray).collect()
        };
        // Where a step was looked at with one end, it may be with another one.
        let ends = if stray > 0.0 { vec![1, 2] } else { vec![1] };
        for (step, which) in (0..60).flat_map(|step| ends.iter().map(move |which| (step, *which))) {
            let (start, end) = (strayed(step, 0), strayed(step + 1, which));
            if which == 1 {
                all.look(&team, 2, (&start, &end), &asked);
            } else {
                all.look_again(&team, 2, (&start, &end), &asked);
            }
            finds += all.parts.iter_mut().map(|part| part.get_mut().unwrap().renewed).sum::<usize>();
            let mut active: Vec<(bool, [u32; 4])> =
                all.active.vertex_triangle.iter().map(|pair| (true, *pair)).collect();
            active.extend(all.active.edge_edge.iter().map(|pair| (false, sorted_edges(*pair))));
            active.sort_unstable();
            within = active.iter().filter(|(_, pair)| is_within(*pair)).count().max(within);
            by_brute_force(&all, &start, &end, distance_of, |is_face, pair| {
                let pair = if is_face { pair } else { sorted_edges(pair) };
                assert!(active.binary_search(&(is_face, pair)).is_ok(), "step {step}, {which}: {pair:?}");
                seen += 1;
            });
        }
        assert!(seen > 1000, "{seen} pairs came near");
        assert!(within < 20, "{within} pairs of one sheet");
        if stray == 0.0 {
            let most = 60 * all.lists.len();
            assert!(finds < most / 3, "lists last: {finds} of {most} were found anew");
        }
    }

    fn sorted_edges([a, b, c, d]: [u32; 4]) -> [u32; 4] {
        if [a, b] < [c, d] { [a, b, c, d] } else { [c, d, a, b] }
    }

    #[test]
    fn bodies_are_not_looked_at_among_themselves_nor_cloth_with_cloth_if_it_is_left_out() {
        let (points, triangles) = sheet(4, Vec3::ZERO, 0);
        let near: Vec<_> = points.iter().map(|x| *x * 0.3).collect();
        let found = |is_cloth: bool, across: bool| {
            let mut all = BroadPhase::new(&points, &triangles, |_| 0, |_| is_cloth);
            if across {
                all.leave_out_cloth_with_cloth();
            }
            all.look(&Team::solo(), 1, (&near, &near), &Asked::of_all(0.5));
            all.active().len()
        };
        assert!(found(true, false) > 0);
        assert_eq!([found(false, false), found(true, true)], [0, 0]);
    }
}
