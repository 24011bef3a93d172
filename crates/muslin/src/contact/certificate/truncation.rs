//! Truncation: a step is cut back until it is certified, by the planes of [`certificate`](crate::contact::certificate), whose comment has the argument.
//!
//! | function | threads | purpose |
//! |---|---|---|
//! | [`Truncation::are_clear`] | several, each with a share of the pairs | whether all pairs pass the test, as they nearly always do |
//! | [`Truncation::test_all`] | one | the pairs that fail it |
//! | [`Truncation::cut_back`] | one | cuts the step back for these, few as they are, in a fixed order: so the result does not depend on the number of threads |

use std::ops::Range;

use crate::contact::certificate::{Breach, Held, Stencil, Verdict, check_finite, room_of};
use crate::contact::pair::{Candidates, pair_of};
use crate::math::Vec3;

/// Part of a gap that a step leaves at least.
const KEEP: f64 = 0.1;

/// The same where kinematic vertices push free ones: these can come along.
const KEEP_PUSHED: f64 = 0.5;

/// Rounds of planes and projections before the vertices of a pair that is still in violation go back to where they were.
const ROUNDS: u32 = 12;

/// Passes of projection in a round. Vertices between several planes need some; going back along the path is always left.
const PASSES: usize = 4;

/// Rounds in which kinematic vertices push free ones, and these others: layers that can be pushed ahead.
const PUSHES: u32 = 256;

/// Cuts steps back; keeps its memory.
#[derive(Debug, Default)]
#[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
pub struct Truncation {
    violations: Vec<Violation>,
    planes: Vec<SeparatingPlane>,
    /// Where each vertex wanted to end.
    wanted: Vec<Vec3<f64>>,
    /// The round in which a vertex was last moved; 0 if it was not.
    moved_in: Vec<u32>,
    /// The part of its motion that each vertex may make.
    parts: Vec<f64>,
    /// The round of pushing in which a vertex was first pushed: 0 for kinematic ones, the greatest number for none.
    ranks: Vec<u32>,
    round: u32,
    held: Held,
}

/// A pair that is not certified.
#[derive(Clone, Copy, Debug)]
struct Violation {
    vertices: [u32; 4],
    first_count: usize,
    normal: Vec3<f64>,
}

/// Two planes across one normal, a little apart. Heights are measured from `origin`.
#[derive(Clone, Copy, Debug)]
struct SeparatingPlane {
    vertices: [u32; 4],
    first_count: usize,
    normal: Vec3<f64>,
    origin: Vec3<f64>,
    /// The first primitive is to end above this height,
    above: f64,
    /// the second below this one.
    below: f64,
    /// Heights of the vertices at the beginning.
    heights: [f64; 4],
    /// Vertices that it does not move.
    fixed: [bool; 4],
    /// Whether kinematic vertices have put it where the beginning of the step violates it.
    is_pushed: bool,
}

impl SeparatingPlane {
    /// The planes of a pair, where vertices for which `fixed` holds go where they go. If they are `static`, they stand in
    /// the gap of the beginning; else in the middle of what there is at the end.
    fn between(violation: &Violation, stencil: &Stencil, fixed: [bool; 4], margin: f64, is_static: bool) -> Self {
        let &Violation { vertices, first_count, normal } = violation;
        let origin = stencil.x[3];
        let offsets = stencil.x.map(|x| x - origin);
        let heights = offsets.map(|offset| normal.dot(offset));
        let ends = stencil.y.map(|y| normal.dot(y - origin));
        let size = offsets.iter().chain(&stencil.y.map(|y| y - origin)).map(|offset| offset.norm()).fold(0.0, f64::max);
        let least = |heights: &[f64]| heights.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = |heights: &[f64]| heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let of = |is_first: bool, is_fixed: bool| {
            let all = (0..4).filter(move |&k| (k < first_count) == is_first && fixed[k] == is_fixed);
            all.map(|k| ends[k])
        };
        let (low, high) = (greatest(&heights[first_count..]), least(&heights[..first_count]));
        let gap = high - low;
        let comes_down = (high - of(true, false).fold(high, f64::min)).max(0.0);
        let comes_up = (of(false, false).fold(low, f64::max) - low).max(0.0);
        let share = if comes_up + comes_down > 0.0 { comes_up / (comes_up + comes_down) } else { 0.5 };
        let place = |kept: f64| {
            // More than is asked for at the end, so that rounding does not undo it: certified are 2 margins and some 4 units.
            let clearance = (8.0 * margin + 64.0 * f64::EPSILON * size).max(kept * gap);
            let middle = if !is_static {
                0.5 * (greatest(&ends[first_count..]) + least(&ends[..first_count]))
            } else if gap > clearance {
                (low + gap * share).clamp(low + 0.5 * clearance, high - 0.5 * clearance)
            } else {
                0.5 * (low + high)
            };
            let pushed = of(false, true).map(|end| end + 0.5 * clearance).fold(middle, f64::max);
            let pushed = of(true, true).map(|end| end - 0.5 * clearance).fold(pushed, f64::min);
            (pushed, clearance, pushed != middle || !is_static)
        };
        let (mut middle, mut clearance, is_pushed) = place(KEEP);
        if is_pushed {
            (middle, clearance, _) = place(KEEP_PUSHED);
        }
        Self {
            vertices,
            first_count,
            normal,
            origin,
            above: middle + 0.5 * clearance,
            below: middle - 0.5 * clearance,
            heights,
            fixed,
            is_pushed,
        }
    }

    /// The planes of a pair among what is pushed: those pushed later give way to those pushed before, as long as these do
    /// not stand in each other's way.
    fn pushed(violation: &Violation, stencil: &Stencil, ranks: [u32; 4], margin: f64) -> Self {
        let mut levels = ranks;
        levels.sort_unstable();
        let of_level = |level: u32| {
            let plane = Self::between(violation, stencil, ranks.map(|rank| rank == 0 || rank < level), margin, false);
            let is_clear = (0..4).filter(|&k| ranks[k] < level).all(|k| plane.correction(k, stencil.y[k]) == 0.0);
            (plane, is_clear)
        };
        let mut candidates = levels.into_iter().rev().map(of_level);
        candidates.find(|(_, is_clear)| *is_clear).map_or_else(|| of_level(1).0, |(plane, _)| plane)
    }

    /// What planes are sorted by.
    fn key(&self) -> (usize, [u32; 4]) {
        (self.first_count, self.vertices)
    }

    /// How far along the normal vertex `k` has to go from `position` to be on its side: none, or up for the first
    /// primitive and down for the second.
    #[inline]
    fn correction(&self, k: usize, position: Vec3<f64>) -> f64 {
        let height = self.normal.dot(position - self.origin);
        if k < self.first_count { (self.above - height).max(0.0) } else { (self.below - height).min(0.0) }
    }

    /// The part of its way to `position` after which vertex `k` leaves its side.
    fn allowed_part(&self, k: usize, position: Vec3<f64>) -> f64 {
        let clearance = self.above - self.below;
        if self.correction(k, position).abs() <= 0.01 * clearance {
            return 1.0;
        }
        let (from, to) = (self.heights[k], self.normal.dot(position - self.origin));
        let limit = if k < self.first_count { self.above } else { self.below };
        let starts_beyond = if k < self.first_count { from <= limit } else { from >= limit };
        if !starts_beyond {
            return ((limit - from) / (to - from)).clamp(0.0, 1.0);
        }
        let gets_worse = if k < self.first_count { to < from } else { to > from };
        // No part of the way helps against what pushes; else, the gap is hardly there, and must not shrink.
        if self.is_pushed || !gets_worse { 1.0 } else { 0.0 }
    }
}

/// The step at hand.
struct Step<'a, F> {
    start: &'a [Vec3<f64>],
    end: &'a mut [Vec3<f64>],
    movable: F,
    candidates: &'a Candidates,
    margin: f64,
}

impl<F: Fn(usize) -> bool> Step<'_, F> {
    fn stencil(&self, vertices: &[u32; 4], first_count: usize) -> Stencil {
        Stencil::gather(vertices, first_count, self.start, self.end)
    }
}

impl Truncation {
    /// With no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tests all pairs, of positions that are known to be finite; whether the step is certain as it is. `normals` are the directions of the
    /// closest points at the start, pair by pair, as far as somebody knows them: not numbers where not.
    pub(crate) fn test_all(
        &mut self,
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        candidates: &Candidates,
        margin: f64,
        normals: &[Vec3<f64>],
    ) -> Result<bool, Breach> {
        self.held = Held::default();
        self.round = 0;
        self.violations.clear();
        let mut known = normals.iter();
        for (list, first_count) in candidates.lists() {
            for vertices in list {
                let normal = known.next().copied().filter(|normal| normal.is_finite());
                self.test(&Stencil::gather(vertices, first_count, start, end), margin, vertices, normal)?;
            }
        }
        Ok(self.violations.is_empty())
    }

    /// Whether all of some pairs pass the test of [`test_all`](Self::test_all).
    pub(crate) fn are_clear(
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        candidates: &Candidates,
        range: Range<usize>,
        margin: f64,
        normals: &[Vec3<f64>],
    ) -> bool {
        let faces = candidates.vertex_triangle.len();
        range.into_iter().all(|pair| {
            let (vertices, first_count) = if pair < faces {
                (&candidates.vertex_triangle[pair], 1)
            } else {
                (&candidates.edge_edge[pair - faces], 2)
            };
            let normal = normals.get(pair).copied().filter(|normal| normal.is_finite());
            let stencil = Stencil::gather(vertices, first_count, start, end);
            matches!(stencil.test(room_of(margin), normal), Verdict::Clear)
        })
    }

    /// Changes `end` so that no pair of `candidates` touches between `start` and `end`, in m, after [`test_all`](Self::test_all) has found pairs that may.
    ///
    /// Vertices that are not `movable` stay where `end` has them. If afterwards no vertex is moved by more than `margin`, and none that ends where
    /// it began, [`certify`](crate::contact::certify) holds. What is changed may come near what is not in the list: look again. On an
    /// error `end` is as it was.
    pub(crate) fn cut_back(
        &mut self,
        start: &[Vec3<f64>],
        end: &mut [Vec3<f64>],
        movable: impl Fn(usize) -> bool,
        candidates: &Candidates,
        margin: f64,
    ) -> Result<Held, Breach> {
        let mut step = Step { start, end, movable, candidates, margin };
        self.wanted.clear();
        self.wanted.extend_from_slice(step.end);
        self.change(&mut step).inspect_err(|_| step.end.copy_from_slice(&self.wanted))?;
        self.sum_up(&step);
        Ok(self.held)
    }

    /// The entry of integration tests: [`test_all`](Self::test_all) of positions that need not be finite, and [`cut_back`](Self::cut_back) where it finds something.
    #[doc(hidden)] // integration tests drive the broad phase and the truncation by themselves
    pub fn hold(
        &mut self,
        start: &[Vec3<f64>],
        end: &mut [Vec3<f64>],
        movable: impl Fn(usize) -> bool,
        candidates: &Candidates,
        margin: f64,
    ) -> Result<Held, Breach> {
        check_finite(start, end)?;
        // Most steps are certain as they are.
        if self.test_all((start, end), candidates, margin, &[])? {
            return Ok(self.held);
        }
        self.cut_back(start, end, movable, candidates, margin)
    }

    fn change<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) -> Result<(), Breach> {
        let count = step.start.len();
        self.planes.clear();
        self.moved_in.clear();
        self.moved_in.resize(count, 0);
        self.parts.clear();
        self.parts.resize(count, 1.0);
        self.ranks.clear();
        self.ranks.extend((0..count).map(|vertex| if (step.movable)(vertex) { u32::MAX } else { 0 }));
        self.truncate(step)?;
        self.put_back(step)?;
        self.push(step)
    }

    /// Tests all pairs of vertices that were moved in this round, and keeps those violations that it did not touch.
    fn test_moved<F: Fn(usize) -> bool>(&mut self, step: &Step<'_, F>) -> Result<(), Breach> {
        let (moved_in, round) = (std::mem::take(&mut self.moved_in), self.round);
        let is_moved = |vertices: &[u32; 4]| vertices.iter().any(|&vertex| moved_in[vertex as usize] == round);
        self.violations.retain(|violation| !is_moved(&violation.vertices));
        let mut outcome = Ok(());
        for (list, first_count) in step.candidates.lists() {
            for vertices in list.iter().filter(|vertices| is_moved(vertices)) {
                let stencil = step.stencil(vertices, first_count);
                outcome = outcome.and_then(|()| self.test(&stencil, step.margin, vertices, None));
            }
        }
        self.moved_in = moved_in;
        outcome
    }

    fn test(
        &mut self,
        stencil: &Stencil,
        margin: f64,
        vertices: &[u32; 4],
        normal: Option<Vec3<f64>>,
    ) -> Result<(), Breach> {
        self.held.tested += 1;
        let first_count = stencil.first_count;
        match stencil.test(room_of(margin), normal) {
            Verdict::Clear => {}
            Verdict::Touching => return Err(Breach::Touching(pair_of(*vertices, first_count))),
            Verdict::Violated(normal) => self.violations.push(Violation { vertices: *vertices, first_count, normal }),
        }
        Ok(())
    }

    /// Planes between what would touch, projections onto them, and going back along the path.
    fn truncate<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) -> Result<(), Breach> {
        for _ in 0..ROUNDS {
            if self.violations.is_empty() {
                break;
            }
            self.round += 1;
            let old_count = self.planes.len();
            for violation in &self.violations {
                let key = (violation.first_count, violation.vertices);
                let is_old = self.planes[..old_count].binary_search_by_key(&key, SeparatingPlane::key).is_ok();
                if !is_old {
                    let stencil = step.stencil(&violation.vertices, violation.first_count);
                    let fixed = violation.vertices.map(|vertex| !(step.movable)(vertex as usize));
                    self.planes.push(SeparatingPlane::between(violation, &stencil, fixed, step.margin, true));
                }
            }
            self.planes.sort_unstable_by_key(SeparatingPlane::key);
            for _ in 0..PASSES {
                if !self.project(step) {
                    break;
                }
            }
            self.shorten(step);
            self.test_moved(step)?;
        }
        self.held.planes = self.planes.len();
        Ok(())
    }

    /// Puts vertices onto their sides of the planes. Whether any had to be moved.
    fn project<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) -> bool {
        let mut any = false;
        for plane in &self.planes {
            for (k, vertex) in plane.vertices.map(|vertex| vertex as usize).into_iter().enumerate() {
                let correction = plane.correction(k, step.end[vertex]);
                if correction != 0.0 && !plane.fixed[k] {
                    step.end[vertex] += plane.normal * correction;
                    self.moved_in[vertex] = self.round;
                    any = true;
                }
            }
        }
        any
    }

    /// Takes vertices that are still on the wrong side of a plane back along their paths.
    fn shorten<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) {
        for plane in &self.planes {
            for (k, vertex) in plane.vertices.map(|vertex| vertex as usize).into_iter().enumerate() {
                self.parts[vertex] = self.parts[vertex].min(plane.allowed_part(k, step.end[vertex]));
            }
        }
        for vertex in self.planes.iter().flat_map(|plane| plane.vertices).map(|vertex| vertex as usize) {
            let part = std::mem::replace(&mut self.parts[vertex], 1.0);
            if !(step.movable)(vertex) {
                continue;
            }
            let start = step.start[vertex];
            let end = match part {
                1.0 => step.end[vertex],
                0.0 => start,
                _ => start + (step.end[vertex] - start) * part,
            };
            if end != step.end[vertex] {
                step.end[vertex] = end;
                self.moved_in[vertex] = self.round;
            }
        }
    }

    /// Puts the vertices of pairs in violation back to where they were, until only kinematic ones make trouble.
    fn put_back<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) -> Result<(), Breach> {
        loop {
            self.round += 1;
            let mut any = false;
            for vertex in self.violations.iter().flat_map(|violation| violation.vertices) {
                let vertex = vertex as usize;
                if (step.movable)(vertex) && step.end[vertex] != step.start[vertex] {
                    step.end[vertex] = step.start[vertex];
                    self.moved_in[vertex] = self.round;
                    any = true;
                }
            }
            if !any {
                return Ok(());
            }
            self.test_moved(step)?;
        }
    }

    /// Pushes free vertices out of the way of kinematic ones, and others out of theirs.
    fn push<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) -> Result<(), Breach> {
        for _ in 0..PUSHES {
            if self.violations.is_empty() {
                return Ok(());
            }
            self.round += 1;
            self.planes.clear();
            self.bring_along(step);
            for violation in &self.violations {
                let stencil = step.stencil(&violation.vertices, violation.first_count);
                let ranks = violation.vertices.map(|vertex| self.ranks[vertex as usize]);
                self.planes.push(SeparatingPlane::pushed(violation, &stencil, ranks, step.margin));
            }
            self.held.planes += self.planes.len();
            for _ in 0..PASSES {
                if !self.project(step) {
                    break;
                }
            }
            let rank = self.round;
            for vertex in self.planes.iter().flat_map(|plane| plane.vertices).map(|vertex| vertex as usize) {
                if self.moved_in[vertex] == rank {
                    self.ranks[vertex] = self.ranks[vertex].min(rank);
                }
            }
            self.test_moved(step)?;
        }
        match self.violations.first() {
            None => Ok(()),
            Some(violation) => Err(Breach::Pair(pair_of(violation.vertices, violation.first_count))),
        }
    }

    /// Gives vertices that are about to be pushed for the first time what those that push have of motion along the normal:
    /// then gaps stay as they are.
    fn bring_along<F: Fn(usize) -> bool>(&mut self, step: &mut Step<'_, F>) {
        for violation in &self.violations {
            let vertices = violation.vertices.map(|vertex| vertex as usize);
            let first = vertices.iter().map(|&vertex| self.ranks[vertex]).min().unwrap_or(u32::MAX);
            let motions = vertices.iter().filter(|&&vertex| self.ranks[vertex] == first);
            let motions = motions.map(|&vertex| violation.normal.dot(step.end[vertex] - step.start[vertex]));
            let (count, sum) = motions.fold((0.0, 0.0), |(count, sum), motion| (count + 1.0, sum + motion));
            for (k, vertex) in vertices.into_iter().enumerate().filter(|_| first < u32::MAX) {
                let lag = sum / count - violation.normal.dot(step.end[vertex] - step.start[vertex]);
                let lag = if k < violation.first_count { lag.max(0.0) } else { lag.min(0.0) };
                if lag != 0.0 && self.ranks[vertex] == u32::MAX {
                    step.end[vertex] += violation.normal * lag;
                    self.moved_in[vertex] = self.round;
                }
            }
        }
    }

    fn sum_up<F: Fn(usize) -> bool>(&mut self, step: &Step<'_, F>) {
        self.held.rounds = self.round;
        for (vertex, (&wanted, &end)) in self.wanted.iter().zip(&*step.end).enumerate() {
            if wanted != end {
                self.held.truncated += 1;
                self.held.frozen += usize::from(end == step.start[vertex]);
                self.held.longest_cut = self.held.longest_cut.max((wanted - end).norm());
            }
        }
    }
}
