//! Tethers: vertices stay near pins; `long_range.rs` has the reason.
//!
//! ```text
//! ‖xᵢ − xₐ‖ ≤ d          a pinned vertex a, which does not move for it
//! ```
//!
//! The length of a rest offset b after a displacement u differs from ‖b‖ by (2b·u + u²)/(‖b + u‖ + ‖b‖), which single precision knows to the last digits of u.
//!
//! Several vertices stand side by side, with as many tethers each; a last bundle that is not full repeats its first vertex.

use std::ops::Range;

use crate::energy::ParticleSpots;
use crate::math::{Real, Scalar, Vec3};
use crate::motion::Pose;
use crate::parallel::{Shared, Worker};
use crate::solver::position_based::particle::{Bundle, Bundled, Particle};

/// A vertex that stays near a pin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tether {
    pub(crate) vertex: u32,
    pub(crate) anchor: u32,
    /// Of the anchor, an index into [`Model::pins`](crate::model::Model::pins).
    pub(crate) pin: u32,
    /// d, in m.
    pub(crate) length: f64,
}

/// Many of them.
pub(crate) struct Tethers<R: Real> {
    lanes: usize,
    /// Without those that fill the last bundles.
    count: usize,
    /// For each bundle of vertices the rows of its tethers; those of a vertex are pulled in their order.
    bundles: Vec<Range<u32>>,
    /// The vertices of the bundles, lane by lane.
    vertices: ParticleSpots<1>,
    /// Of each row, lane by lane: the anchors, their pins, and d, in m.
    anchors: ParticleSpots<1>,
    pins: Vec<u32>,
    lengths: Vec<f64>,
    precision: std::marker::PhantomData<R>,
}

/// Numbers of a lane of a row: b, in m; ‖b‖, in m; ‖b‖ − d, in m.
const NUMBERS: usize = 5;

impl<R: Bundled> Tethers<R> {
    /// Those of a vertex follow each other. Side by side for the widest registers, if `is_wide`.
    pub(crate) fn new(vertex_count: usize, tethers: &[Tether], is_wide: bool) -> Self {
        let lanes = R::lanes(is_wide);
        let mut groups: Vec<&[Tether]> = tethers.chunk_by(|a, b| a.vertex == b.vertex).collect();
        groups.sort_by_key(|group| group.len());
        let (mut bundles, mut vertices, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for alike in groups.chunk_by(|a, b| a.len() == b.len()) {
            for bundle in alike.chunks(lanes) {
                let of = |lane: usize| *bundle.get(lane).unwrap_or(&bundle[0]);
                let first = rows.len() / lanes;
                vertices.extend((0..lanes).map(|lane| [of(lane)[0].vertex]));
                for row in 0..bundle[0].len() {
                    rows.extend((0..lanes).map(|lane| of(lane)[row]));
                }
                bundles.push(first as u32..(rows.len() / lanes) as u32);
            }
        }
        // The sweep relies on this for memory safety: what one worker moves, no other one moves or is tied to.
        let mut is_moved = vec![false; vertex_count];
        let moved = groups.iter().map(|group| group[0].vertex as usize);
        moved.for_each(|v| assert!(!std::mem::replace(&mut is_moved[v], true), "tethers of a vertex in two places"));
        assert!(tethers.iter().all(|tether| !is_moved[tether.anchor as usize]), "an anchor that is tied itself");
        Self {
            lanes,
            count: tethers.len(),
            bundles,
            vertices: ParticleSpots::new(vertices, vertex_count),
            anchors: ParticleSpots::new(rows.iter().map(|tether| [tether.anchor]), vertex_count),
            pins: rows.iter().map(|tether| tether.pin).collect(),
            lengths: rows.iter().map(|tether| tether.length).collect(),
            precision: std::marker::PhantomData,
        }
    }

    /// Whether they are side by side as a team wants them.
    pub(crate) fn is_for(&self, is_wide: bool) -> bool {
        self.lanes == R::lanes(is_wide)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Numbers that [`place`](Self::place) sets.
    pub(crate) fn rest_offset_count(&self) -> usize {
        self.lengths.len() * NUMBERS
    }

    /// Measures them at the start of a frame.
    pub(crate) fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, R>) {
        for bundle in worker.share(0..self.bundles.len()) {
            for row in self.bundles[bundle].clone().map(|row| row as usize) {
                for lane in 0..self.lanes {
                    let slot = row * self.lanes + lane;
                    let ([vertex], [anchor]) =
                        (self.vertices.indices(bundle * self.lanes + lane), self.anchors.indices(slot));
                    let offset = origins[vertex as usize] - origins[anchor as usize];
                    let length = offset.norm();
                    let numbers = [offset.x, offset.y, offset.z, length, length - self.lengths[slot]];
                    for (part, number) in numbers.into_iter().enumerate() {
                        rest_offsets.set((row * NUMBERS + part) * self.lanes + lane, R::from_f64(number));
                    }
                }
            }
        }
    }

    /// Pulls every vertex back to where its tethers let it be; ends with the team at a barrier.
    pub(crate) fn pull(
        &self,
        worker: &Worker<'_>,
        particles: &Shared<'_, Particle<R>>,
        pin_poses: &[Option<Pose>],
        rest_offsets: &[R],
    ) {
        self.pull_some(worker.share(0..self.bundles.len()), particles, pin_poses, rest_offsets);
        worker.barrier();
    }

    #[inline(always)]
    fn pull_some(
        &self,
        bundles: Range<usize>,
        particles: &Shared<'_, Particle<R>>,
        pin_poses: &[Option<Pose>],
        rest_offsets: &[R],
    ) {
        #[cfg(target_arch = "x86_64")]
        if R::HAS_WIDER && self.lanes == R::Widest::LANES {
            return R::Widest::compiled(
                #[inline(always)]
                || self.pull_by::<R::Widest>(bundles, *particles, pin_poses, rest_offsets),
            );
        }
        self.pull_by::<R::Wide>(bundles, *particles, pin_poses, rest_offsets);
    }

    #[inline(always)]
    fn pull_by<S: Bundle<R>>(
        &self,
        bundles: Range<usize>,
        particles: Shared<'_, Particle<R>>,
        pin_poses: &[Option<Pose>],
        rest_offsets: &[R],
    ) {
        let is_all_pinned = pin_poses.iter().all(Option::is_some);
        let (all_vertices, all_anchors) = (self.vertices.over(&particles), self.anchors.over(&particles));
        for bundle in bundles {
            let vertices = all_vertices.slice(bundle * S::LANES..(bundle + 1) * S::LANES);
            let (start, w) = S::load(|lane| vertices.get(lane, 0));
            let (mut u, mut is_pulled) = (start, false);
            for row in self.bundles[bundle].clone().map(|row| row as usize) {
                let anchors = all_anchors.slice(row * S::LANES..(row + 1) * S::LANES);
                let (anchor, _) = S::load(|lane| anchors.get(lane, 0));
                let numbers = &rest_offsets[row * NUMBERS * S::LANES..][..NUMBERS * S::LANES];
                let part = |part: usize| S::read(&numbers[part * S::LANES..]);
                let tether =
                    RestOffset { offset: Vec3::new(part(0), part(1), part(2)), length: part(3), excess: part(4) };
                let Some(mut pull) = tether.pull(u - anchor) else { continue };
                if !is_all_pinned {
                    let pins = &self.pins[row * S::LANES..][..S::LANES];
                    let holds = |lane: usize| pin_poses.get(pins[lane] as usize).is_some_and(Option::is_some);
                    let holds = S::load_number(|lane| if holds(lane) { R::ONE } else { R::ZERO });
                    pull = Vec3::select(holds.greater(S::ZERO), pull, Vec3::ZERO);
                }
                u -= pull;
                is_pulled = true;
            }
            if is_pulled {
                let u = Vec3::select(w.greater(S::ZERO), u, start);
                S::store(u, w, |lane, particle| vertices.set(lane, 0, particle));
            }
        }
    }
}

/// A tether during a frame.
#[derive(Clone, Copy, Debug)]
struct RestOffset<S> {
    /// b, from the anchor to the vertex at the start of the frame, in m.
    offset: Vec3<S>,
    /// ‖b‖, in m.
    length: S,
    /// ‖b‖ − d, in m.
    excess: S,
}

impl<S: Scalar> RestOffset<S> {
    /// What has to be taken from a displacement `u` of the vertex from its anchor; `None` where it is nothing in any lane.
    #[inline(always)]
    fn pull(&self, u: Vec3<S>) -> Option<Vec3<S>> {
        let along = self.offset.dot(u);
        let change = along + along + u.norm_squared();
        // The new length is shorter than allowed where even its square to the first order is.
        let free = -(self.excess + self.excess) * self.length;
        if !S::is_any(change.greater(free)) {
            return None;
        }
        let line = self.offset + u;
        let length = line.norm();
        let excess = self.excess + change / (length + self.length);
        // What is not pulled keeps its bits, a minus before a zero too.
        Some(Vec3::select(excess.greater(S::ZERO), line * (excess / length), Vec3::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_that_is_too_far_is_pulled_to_its_length() {
        let b = Vec3::new(0.6, 0.0, 0.8);
        let tether = RestOffset { offset: b, length: 1.0, excess: 1.0 - 1.5 };
        assert!(tether.pull(b * 0.4).is_none(), "it is 1.4 away");
        let left = b * 2.0 - tether.pull(b).expect("it is 2 away");
        assert!((left.norm() - 1.5_f64).abs() < 1e-15, "{left:?}");
    }

    #[test]
    fn it_does_not_matter_how_many_stand_side_by_side() {
        let tether = |vertex, anchor, length| Tether { vertex, anchor, pin: anchor, length };
        let tethers: Vec<Tether> =
            (2..25).flat_map(|v| (0..2).map(move |a| tether(v, a, 0.5 + 0.01 * f64::from(v)))).collect();
        let start = |v: usize| Vec3::new((v * 7 % 11) as f32 * 0.1, (v * 5 % 13) as f32 * 0.1, 0.3);
        let after = |poses: &[Option<Pose>]| {
            [false, true].map(|is_wide| {
                let team = if is_wide { crate::parallel::Team::solo() } else { crate::parallel::Team::solo().narrow() };
                let all = Tethers::<f32>::new(25, &tethers, team.is_wide());
                let origins = vec![Vec3::ZERO; 25];
                let mut rest_offsets = vec![0.0_f32; all.rest_offset_count()];
                let mut particles: Vec<_> =
                    (0..25).map(|v| Particle::new(start(v), if v < 2 { 0.0 } else { 1.0 })).collect();
                let offsets = Shared::open(&team, &mut rest_offsets);
                team.run(1, |worker| all.place(worker, &origins, &offsets));
                let shared = Shared::open(&team, &mut particles);
                team.run(1, |worker| all.pull(worker, &shared, poses, &rest_offsets));
                particles.iter().map(|p| p.xyz().to_array().map(f32::to_bits)).collect::<Vec<_>>()
            })
        };
        let still = crate::motion::Motion::new(&crate::scene::Path::still(), Vec3::ZERO).pose(0.0);
        let [narrow, wide] = after(&[Some(still), Some(still)]);
        assert_eq!(narrow, wide);
        let [narrow, wide] = after(&[None, None]);
        assert_eq!(narrow, wide);
        assert!((0..25).all(|v| narrow[v] == start(v).to_array().map(f32::to_bits)), "released pins hold nothing");
    }
}
