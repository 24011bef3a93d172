//! Distance limits: distances that are kept within bounds, whatever the forces. Long-range constraints and the strain limit are made of them.
//!
//! ```text
//! low ≤ ‖x₁ − x₀‖ ≤ high                 r = ‖x₁ − x₀‖,  n = (x₁ − x₀)/r,  c = r − (the bound that r is beyond)
//! x₀ += ω c w₀/(w₀ + w₁) n               x₁ −= ω c w₁/(w₀ + w₁) n
//! ```
//!
//! ω = 1 ends at the bound. Projections onto convex bounds in turn converge to a point within all of them, if there is one; where a wide region is beyond them, over-relaxed ones arrive far sooner
//! (ω = 2 mirrors a point at its bound) [Agmon 1954; Motzkin, Schoenberg 1954, "The relaxation method for linear inequalities"]. Lower bounds are not convex; they are met nearly at right angles, and it works with them too.
//!
//! **Holding.** Few of all distances are beyond their bounds, so [`DistanceLimits::hold`] sweeps over all of them once, and from then on over those alone that share a vertex with one that was moved
//! since they were last looked at. All others are as they were when they were found within bounds, or have both ends held. So when none in the list is beyond its bounds by more than a tolerance, none of all is.
//!
//! Several distances of a colour stand side by side, as many as the registers take. Lists are of groups of eight whatever the registers: what a sweep over a list does depends on what else is in
//! it, and the width of registers must not change a bit. A bundle that is not full repeats a distance, with bounds that nothing is beyond.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::energy::ParticleSpots;
use crate::math::{Real, Scalar, Vec3, inlined};
use crate::parallel::{Shared, Team, Worker};
use crate::solver::position_based::particle::{Bundle, Bundled, Particle};
use crate::solver::position_based::sweep::{BLOCK, ElementParticles, place_bundle, rest_offset_of_bundle, shift};
use crate::topology::{Adjacency, color};

/// Distances that are listed together.
const GROUP: usize = 8;
/// Groups of a list that are worth to be shared.
const FEW_GROUPS: usize = 16;
/// Sweeps in a round of [`DistanceLimits::hold`], and rounds at most.
const SWEEPS: usize = 4;
const ROUNDS: usize = 32;
/// Of these the last ones, with ω = 1.
const CALM_ROUNDS: usize = 4;

/// A distance with its bounds, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DistanceLimit {
    pub(crate) ends: [u32; 2],
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Many of them.
pub(crate) struct DistanceLimits<R: Real> {
    lanes: usize,
    /// Without those that fill the last groups.
    count: usize,
    /// The groups of each colour.
    colors: Vec<Range<usize>>,
    /// The ends, lane by lane.
    spots: ParticleSpots<2>,
    /// For each bundle the lower bounds of its lanes, then the upper ones.
    bounds: Vec<R>,
    /// ω.
    relaxation: R,
    vertex_count: usize,
}

/// Where the ends are.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a, R: Real> {
    /// Displacements since the start of the frame, in m.
    pub(crate) particles: Shared<'a, Particle<R>>,
    /// From first to second ends at the start of the frame.
    pub(crate) rest_offsets: &'a [R],
    /// Where those of these distance limits begin.
    pub(crate) first_rest_offset: usize,
}

impl<R: Bundled> DistanceLimits<R> {
    /// Side by side for the widest registers, if `is_wide`.
    pub(crate) fn new(vertex_count: usize, distance_limits: &[DistanceLimit], relaxation: f64, is_wide: bool) -> Self {
        let lanes = R::lanes(is_wide);
        let stencils: Vec<[u32; 2]> = distance_limits.iter().map(|limit| limit.ends).collect();
        let coloring = color(&stencils, vertex_count);
        // The sweeps rely on this for memory safety, so it is checked, not assumed.
        if let Err(conflict) = coloring.verify(&stencils, vertex_count) {
            unreachable!("distance limits: {conflict}");
        }
        let (mut colors, mut stencils, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for range in &coloring.ranges {
            let first = stencils.len() / GROUP;
            for group in coloring.order[range.clone()].chunks(GROUP) {
                for start in (0..GROUP).step_by(lanes) {
                    let bundle: Vec<DistanceLimit> =
                        group.iter().skip(start).take(lanes).map(|&i| distance_limits[i as usize]).collect();
                    let nothing = DistanceLimit { low: 0.0, high: f64::INFINITY, ..distance_limits[group[0] as usize] };
                    let all = || (0..lanes).map(|lane| bundle.get(lane).copied().unwrap_or(nothing));
                    stencils.extend(all().map(|limit| limit.ends));
                    bounds.extend(all().map(|limit| R::from_f64(limit.low)));
                    bounds.extend(all().map(|limit| R::from_f64(limit.high)));
                }
            }
            colors.push(first..stencils.len() / GROUP);
        }
        let relaxation = R::from_f64(relaxation);
        let spots = ParticleSpots::new(stencils, vertex_count);
        Self { lanes, count: distance_limits.len(), colors, spots, bounds, relaxation, vertex_count }
    }

    /// Whether they are side by side as a team wants them.
    pub(crate) fn is_for(&self, is_wide: bool) -> bool {
        self.lanes == R::lanes(is_wide)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn group_count(&self) -> usize {
        self.spots.len() / GROUP
    }

    /// This thread's part of all groups: of each colour those that it sweeps over, so that threads keep to their part of the cloth.
    fn share<'a>(&'a self, worker: &'a Worker<'_>) -> impl Iterator<Item = usize> + 'a {
        self.colors.iter().flat_map(|color| worker.share(color.clone()))
    }

    /// The vertices of a group.
    fn vertices_of(&self, group: usize) -> impl Iterator<Item = u32> {
        (group * GROUP..(group + 1) * GROUP).flat_map(|place| self.spots.indices(place))
    }

    /// How many numbers the rest offsets take.
    pub(crate) fn rest_offset_count(&self) -> usize {
        self.spots.len() * 3
    }

    /// Measures them at the start of a frame; they begin at `first` of `rest_offsets`.
    pub(crate) fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, R>, first: usize) {
        for bundle in worker.share(0..self.spots.len() / self.lanes) {
            let stencils = (0..self.lanes).map(|lane| self.spots.indices(bundle * self.lanes + lane));
            place_bundle(stencils, origins, rest_offsets, first + bundle * self.lanes * 3);
        }
    }

    /// One sweep over all of them; ends with the team at a barrier.
    pub(crate) fn project(&self, worker: &Worker<'_>, ends: &Ends<'_, R>) {
        self.sweep(worker, ends, |_| {});
    }

    fn sweep(&self, worker: &Worker<'_>, ends: &Ends<'_, R>, moved: impl Fn(usize)) {
        for color in &self.colors {
            // A colour has no vertex twice, but for lanes that move nothing.
            self.move_some(worker.share(color.clone()), ends, self.relaxation, &moved);
            worker.barrier();
        }
    }

    /// Sweeps until none is beyond its bounds by more than `tolerance`, in m, or for so many rounds as there are; returns how many rounds were made.
    pub(crate) fn hold(
        &self,
        worker: &Worker<'_>,
        ends: &Ends<'_, R>,
        held: &SharedLimitLists<'_>,
        tolerance: f64,
    ) -> usize {
        held.check(self);
        let mark = |group: usize| held.moved.set(group, 1);
        // What a hold in vain has left would make the lists of this one longer, and its bits others.
        self.share(worker).for_each(|group| held.moved.set(group, 0));
        if worker.leads() {
            held.worst.iter().for_each(|worst| worst.store(0, Ordering::Relaxed));
        }
        worker.barrier();
        self.sweep(worker, ends, mark);
        for (round, worst) in held.worst.iter().enumerate() {
            self.find_changed(worker, held);
            let changed = |color: usize| {
                let first = if color == 0 { 0 } else { held.ends.get(color - 1) as usize };
                worker
                    .share_from(FEW_GROUPS, first..held.ends.get(color) as usize)
                    .map(|i| held.changed.get(i) as usize)
            };
            let beyond = self.beyond((0..self.colors.len()).flat_map(changed), ends);
            // Numbers that are not negative have the order of their bits, and a maximum has no order at all.
            worst.fetch_max(beyond.to_f64().to_bits(), Ordering::Relaxed);
            worker.barrier();
            if f64::from_bits(worst.load(Ordering::Relaxed)) <= tolerance {
                return round;
            }
            // Bounds that no point is within are left between them, and not thrown from one to the other.
            let relaxation = if round + CALM_ROUNDS >= ROUNDS { R::ONE } else { self.relaxation };
            for _ in 0..SWEEPS {
                for color in 0..self.colors.len() {
                    self.move_some(changed(color), ends, relaxation, mark);
                    worker.barrier();
                }
            }
        }
        ROUNDS
    }

    /// Lists all groups with a vertex that was moved since the last list, in their order; ends with the team at a barrier.
    fn find_changed(&self, worker: &Worker<'_>, held: &SharedLimitLists<'_>) {
        for group in self.share(worker) {
            if held.moved.get(group) != 0 {
                held.moved.set(group, 0);
                for &near in held.near.of(group as u32) {
                    // What is written again and again is taken from the other cores again and again.
                    let is_near = &held.is_near[near as usize];
                    if is_near.load(Ordering::Relaxed) == 0 {
                        is_near.store(1, Ordering::Relaxed);
                    }
                }
            }
        }
        worker.barrier();
        // A byte for eight distances: less work than sharing it would be.
        if worker.leads() {
            let mut count = 0;
            for (color, groups) in self.colors.iter().enumerate() {
                for group in groups.clone() {
                    if held.is_near[group].load(Ordering::Relaxed) != 0 {
                        held.is_near[group].store(0, Ordering::Relaxed);
                        held.changed.set(count, group as u32);
                        count += 1;
                    }
                }
                held.ends.set(color, count as u32);
            }
        }
        worker.barrier();
    }

    /// Projects some groups with such an ω, and names those that were moved.
    #[inline(always)]
    fn move_some(&self, groups: impl Iterator<Item = usize>, ends: &Ends<'_, R>, relaxation: R, moved: impl Fn(usize)) {
        #[cfg(target_arch = "x86_64")]
        if R::HAS_WIDER && self.lanes == R::Widest::LANES {
            return R::Widest::compiled(
                #[inline(always)]
                || self.move_by::<R::Widest>(groups, ends, relaxation, moved),
            );
        }
        self.move_by::<R::Wide>(groups, ends, relaxation, moved);
    }

    #[inline(always)]
    fn move_by<S: Bundle<R>>(
        &self,
        groups: impl Iterator<Item = usize>,
        ends: &Ends<'_, R>,
        relaxation: R,
        moved: impl Fn(usize),
    ) {
        let bundles = self.bundles(ends);
        let relaxation = S::load_number(|_| relaxation);
        let mut moves = [(0, [Vec3::ZERO; 2]); BLOCK];
        let mut count = 0;
        for bundle in groups.flat_map(bundles_of::<S>) {
            let (w, line, [low, high]) = bundles.load::<S>(bundle);
            let squared = line.norm_squared();
            let (is_long, is_short) = (squared.greater(high * high), (low * low).greater(squared));
            if !(S::is_any(is_long) || S::is_any(is_short)) {
                continue;
            }
            moved(bundle * S::LANES / GROUP);
            let length = squared.sqrt();
            let beyond = S::select(is_long, length - high, S::select(is_short, length - low, S::ZERO));
            let inertia = (w[0] + w[1]) * length;
            let part = S::select(inertia.greater(S::ZERO), relaxation * beyond / inertia, S::ZERO);
            // Lanes within bounds keep their bits, a minus before a zero too, as they do in a bundle that is passed over.
            let stay = Vec3::new(-S::ZERO, -S::ZERO, -S::ZERO);
            let choose = inlined(
                #[inline(always)]
                |by: Vec3<S>| Vec3::select(is_long, by, Vec3::select(is_short, by, stay)),
            );
            moves[count] = (bundle, [choose(line * (part * w[0])), choose(-(line * (part * w[1])))]);
            count += 1;
            if count == BLOCK {
                bundles.shift::<S>(&moves);
                count = 0;
            }
        }
        bundles.shift::<S>(&moves[..count]);
    }

    /// The most that one of some groups is beyond its bounds by and could be moved, in m.
    #[inline(always)]
    fn beyond(&self, groups: impl Iterator<Item = usize>, ends: &Ends<'_, R>) -> R {
        #[cfg(target_arch = "x86_64")]
        if R::HAS_WIDER && self.lanes == R::Widest::LANES {
            return R::Widest::compiled(
                #[inline(always)]
                || self.beyond_by::<R::Widest>(groups, ends),
            );
        }
        self.beyond_by::<R::Wide>(groups, ends)
    }

    #[inline(always)]
    fn beyond_by<S: Bundle<R>>(&self, groups: impl Iterator<Item = usize>, ends: &Ends<'_, R>) -> R {
        let bundles = self.bundles(ends);
        let mut most = S::ZERO;
        for bundle in groups.flat_map(bundles_of::<S>) {
            let (w, line, [low, high]) = bundles.load::<S>(bundle);
            let length = line.norm();
            let beyond = S::select(length.greater(high), length - high, low - length);
            let beyond = S::select(((w[0] + w[1]) * length).greater(S::ZERO), beyond, S::ZERO);
            most = S::select(beyond.greater(most), beyond, most);
        }
        most.largest()
    }

    /// The bundles, where their ends are.
    #[inline(always)]
    fn bundles<'a>(&'a self, ends: &Ends<'a, R>) -> LimitBundles<'a, R> {
        LimitBundles {
            vertices: self.spots.over(&ends.particles),
            rest_offsets: &ends.rest_offsets[ends.first_rest_offset..][..self.rest_offset_count()],
            bounds: &self.bounds,
        }
    }
}

/// Distance limits side by side, and where their ends are.
struct LimitBundles<'a, R: Real> {
    vertices: ElementParticles<'a, R, 2>,
    rest_offsets: &'a [R],
    bounds: &'a [R],
}

impl<R: Bundled> LimitBundles<'_, R> {
    /// Moves the ends of some bundles.
    #[inline(always)]
    fn shift<S: Bundle<R>>(&self, moves: &[(usize, [Vec3<S>; 2])]) {
        for (bundle, moves) in moves {
            shift(&self.vertices.slice(bundle * S::LANES..(bundle + 1) * S::LANES), moves);
        }
    }

    /// Inverse masses and lines of a bundle, and its bounds.
    #[inline(always)]
    fn load<S: Bundle<R>>(&self, bundle: usize) -> ([S; 2], Vec3<S>, [S; 2]) {
        let vertices = self.vertices.slice(bundle * S::LANES..(bundle + 1) * S::LANES);
        let (mut u, mut w) = ([Vec3::ZERO; 2], [S::ZERO; 2]);
        for i in 0..2 {
            (u[i], w[i]) = S::load(|lane| vertices.get(lane, i));
        }
        let offset: Vec3<S> = rest_offset_of_bundle(&self.rest_offsets[bundle * S::LANES * 3..][..S::LANES * 3], 1);
        let bounds = &self.bounds[bundle * 2 * S::LANES..][..2 * S::LANES];
        let bound = |i: usize| S::load_number(|lane| bounds[i * S::LANES + lane]);
        (w, u[1] - u[0] + offset, [bound(0), bound(1)])
    }
}

/// The bundles of a group.
#[inline(always)]
fn bundles_of<S: Scalar>(group: usize) -> Range<usize> {
    let count = GROUP / S::LANES;
    group * count..(group + 1) * count
}

/// Lists of the distances that [`DistanceLimits::hold`] has to look at again.
#[derive(Default)]
pub(crate) struct LimitLists {
    vertex_count: usize,
    /// The groups that share a vertex with each group, and that group itself.
    near: Adjacency,
    /// For each group, whether it was moved since the last list, and whether it has a vertex of one that was.
    moved: Vec<u8>,
    is_near: Vec<AtomicU8>,
    /// The list, and where each colour ends in it.
    changed: Vec<u32>,
    ends: Vec<u32>,
}

/// The same, open to the team.
pub(crate) struct SharedLimitLists<'a> {
    vertex_count: usize,
    near: &'a Adjacency,
    moved: Shared<'a, u8>,
    is_near: &'a [AtomicU8],
    changed: Shared<'a, u32>,
    ends: Shared<'a, u32>,
    worst: [AtomicU64; ROUNDS],
}

impl LimitLists {
    /// For some distance limits, unless it is already.
    pub(crate) fn fit<R: Bundled>(&mut self, distance_limits: &DistanceLimits<R>) {
        let count = distance_limits.group_count();
        if self.moved.len() == count && self.vertex_count == distance_limits.vertex_count {
            return;
        }
        let of_group = |group: usize| distance_limits.vertices_of(group).map(move |vertex| (vertex, group as u32));
        let groups = Adjacency::of_pairs(distance_limits.vertex_count, || (0..count).flat_map(of_group));
        let (mut near, mut some) = (Adjacency::default(), Vec::new());
        for group in 0..count {
            some.clear();
            some.extend(distance_limits.vertices_of(group).flat_map(|vertex| groups.of(vertex)));
            some.sort_unstable();
            some.dedup();
            near.items.extend_from_slice(&some);
            near.offsets.push(near.items.len() as u32);
        }
        near.items.shrink_to_fit();
        self.near = near;
        self.vertex_count = distance_limits.vertex_count;
        self.moved = vec![0; count];
        self.is_near = (0..count).map(|_| AtomicU8::new(0)).collect();
        self.changed = vec![0; count];
        self.ends = vec![0; distance_limits.colors.len()];
    }

    /// Opens it to a team.
    pub(crate) fn open<'a>(&'a mut self, team: &'a Team) -> SharedLimitLists<'a> {
        let Self { vertex_count, near, moved, is_near, changed, ends } = self;
        // A sweep sets the marks of own groups. To list them, a worker gets and sets those of its share, and then one worker alone sets the list, which all get;
        // there is a barrier after each.
        let (moved, changed) = (Shared::open(team, moved), Shared::open(team, changed));
        let ends = Shared::open(team, ends);
        let worst = std::array::from_fn(|_| AtomicU64::new(0));
        SharedLimitLists { vertex_count: *vertex_count, near, moved, is_near, changed, ends, worst }
    }
}

impl SharedLimitLists<'_> {
    fn check<R: Bundled>(&self, distance_limits: &DistanceLimits<R>) {
        let count = distance_limits.group_count();
        assert!(
            self.moved.len() == count && self.is_near.len() == count && self.changed.len() == count,
            "other distance limits"
        );
        assert!(
            self.ends.len() == distance_limits.colors.len() && self.vertex_count == distance_limits.vertex_count,
            "other distance limits"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of links between `origins` that follow each other.
    struct Chain {
        origins: Vec<Vec3<f64>>,
        links: DistanceLimits<f32>,
        particles: Vec<Particle<f32>>,
        rest_offsets: Vec<f32>,
        memory: LimitLists,
    }

    impl Chain {
        fn new(
            origins: Vec<Vec3<f64>>,
            bounds: impl Fn(usize) -> (f64, f64),
            is_held: impl Fn(usize) -> bool,
            team: &Team,
        ) -> Self {
            let link = |i: usize| DistanceLimit { ends: [i as u32, i as u32 + 1], low: bounds(i).0, high: bounds(i).1 };
            let distance_limits: Vec<DistanceLimit> = (0..origins.len() - 1).map(link).collect();
            let links = DistanceLimits::new(origins.len(), &distance_limits, 1.95, team.is_wide());
            assert_eq!(links.len(), distance_limits.len());
            let particle = |i: usize| Particle::new(Vec3::ZERO, if is_held(i) { 0.0 } else { 2.0 });
            let particles = (0..origins.len()).map(particle).collect();
            let mut memory = LimitLists::default();
            memory.fit(&links);
            Self { rest_offsets: vec![0.0; links.rest_offset_count()], origins, links, particles, memory }
        }

        /// Forty crooked links, the first vertex held.
        fn crooked(bounds: impl Fn(usize) -> (f64, f64), team: &Team) -> Self {
            let place = |i: u32| [0.01 * f64::from(i), 0.004 * f64::from(i * i % 7), 0.003 * f64::from(i * 5 % 11)];
            Self::new((0..41).map(|i| Vec3::from(place(i))).collect(), bounds, |i| i == 0, team)
        }

        /// How many rounds it took.
        fn hold(&mut self, tolerance: f64, team: &Team) -> usize {
            let Self { origins, links, particles, rest_offsets, memory } = self;
            let offsets = Shared::open(team, rest_offsets);
            team.run(team.size(), |worker| links.place(worker, origins, &offsets, 0));
            let (held, particles) = (memory.open(team), Shared::open(team, particles));
            let ends = Ends { particles, rest_offsets, first_rest_offset: 0 };
            let rounds = AtomicU64::new(0);
            team.run(team.size(), |worker| {
                rounds.store(links.hold(worker, &ends, &held, tolerance) as u64, Ordering::Relaxed);
            });
            rounds.into_inner() as usize
        }

        fn positions(&self) -> Vec<Vec3<f32>> {
            self.particles.iter().zip(&self.origins).map(|(u, origin)| origin.cast() + u.xyz()).collect()
        }

        fn lengths(&self) -> Vec<f64> {
            self.positions().windows(2).map(|ends| f64::from((ends[1] - ends[0]).norm())).collect()
        }
    }

    #[test]
    fn what_is_held_is_within_its_bounds() {
        let bounds = |i: usize| (0.0098, if i.is_multiple_of(3) { 0.0102 } else { 0.02 });
        let mut chain = Chain::crooked(bounds, &Team::solo());
        assert!(chain.hold(1e-6, &Team::solo()) < ROUNDS);
        for (i, length) in chain.lengths().into_iter().enumerate() {
            let (low, high) = bounds(i);
            assert!(length > low - 2e-6 && length < high + 2e-6, "{i}: {length}");
        }
        assert_eq!(chain.positions()[0], Vec3::ZERO, "it is held");
    }

    /// Both ends of the chain are held, farther from each other than it is long.
    #[test]
    fn what_cannot_be_within_bounds_is_shared() {
        const HIGH: f64 = 0.0102;
        let mut chain = Chain::crooked(|_| (0.0098, HIGH), &Team::solo());
        chain.particles[40] = Particle::new(Vec3::new(0.1, 0.0, 0.0), 0.0);
        assert_eq!(chain.hold(1e-6, &Team::solo()), ROUNDS);
        let (positions, lengths) = (chain.positions(), chain.lengths());
        // A link that is projected with ω = 1 ends at its bound, and what its neighbours do then makes it longer; mirrored links would be shorter. What is left is rounding.
        let least = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least > HIGH - 2e-7, "{least}");
        // Neighbours are of two colours, and those of the last are at their bound: if all is shared, the others have twice their share. A tenth of that may still be on its way; the last link began with 38 shares.
        let share = f64::from((positions[40] - positions[0]).norm()) / 40.0 - HIGH;
        let most = lengths.iter().copied().fold(0.0, f64::max);
        assert!(most < HIGH + 2.2 * share, "{most}");
    }

    /// So many links that every one of three threads has some of each colour, most of them taut and a few beyond their bounds, so that lists grow from round to round.
    #[test]
    fn neither_registers_nor_threads_nor_what_was_before_change_a_bit() {
        let bounds = |i: usize| (0.005, if i % 97 == 5 { 0.009 } else { 0.0101 });
        let origins: Vec<Vec3<f64>> = (0..4002).map(|i| Vec3::new(0.01 * f64::from(i), 0.0, 0.0)).collect();
        let after = |team: &Team, is_tired: bool| {
            let mut chain = Chain::new(origins.clone(), bounds, |i| i.is_multiple_of(500), team);
            let start = chain.particles.clone();
            if is_tired {
                assert_eq!(chain.hold(-1.0, team), ROUNDS, "no tolerance is below zero");
                chain.particles = start;
            }
            assert!(chain.hold(2e-6, team) < ROUNDS);
            chain.particles.iter().map(|u| u.xyz().to_array().map(f32::to_bits)).collect::<Vec<_>>()
        };
        let one = after(&Team::solo(), false);
        assert!(one.iter().filter(|u| u[0] != 0).count() > 100, "something was moved");
        assert!(after(&Team::solo().narrow(), false) == one, "registers");
        assert!(after(&Team::new(3).expect("three threads"), false) == one, "threads");
        assert!(after(&Team::solo(), true) == one, "what was before");
    }

    #[test]
    fn what_is_within_bounds_stays_to_the_last_bit() {
        let mut chain = Chain::crooked(|_| (0.0, 1.0), &Team::solo());
        assert_eq!(chain.hold(0.0, &Team::solo()), 0);
        assert!(chain.particles.iter().all(|u| u.xyz() == Vec3::ZERO));
    }
}
