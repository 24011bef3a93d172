//! Incident elements of vertices, several vertices side by side in single precision: what vertex block descent sweeps over.
//!
//! Vertices of a colour stand side by side, one in each lane. An element has a place for each of its corners, in the lane of the vertex that is there; the
//! places of a bundle of vertices are sorted by corner, so that all lanes compute the same formula:
//!
//! ```text
//!            lane 0   lane 1   …
//! corner 0   e₃       e₇             the elements in which the vertex is the first,
//!            e₄       –              one after the other; a lane that has run out of them adds nothing
//! corner 1   e₁       e₅             … in which it is the second
//! ```
//!
//! As in the sweeps over elements ([`Sweep`](crate::solver::position_based::sweep::Sweep)), vertices are displacements, and elements have rest offsets, measured in double precision; but since the start of
//! the substep, so that inertia, m/h² (x − y), is a difference of small numbers. They are kept for each place in the order in which a sweep asks for them: that is more memory and less waiting.
//!
//! What a lane computes does not depend on its neighbours, so neither the width of registers nor the number of threads changes a bit.

use std::cell::Cell;
use std::ops::Range;

use crate::energy::{Batch, Constraint, Corner, Energy, Multiplier, ParticleSpots};
#[cfg(target_arch = "x86_64")]
use crate::math::F32x8;
use crate::math::{F32x4, Scalar, Sym3, Vec3};
use crate::parallel::{Shared, Worker};
use crate::solver::position_based::particle::{Bundle, Particle};
use crate::solver::position_based::sweep::{ElementParticles, place_bundle, rest_offset_of_bundle};
use crate::topology::{Adjacency, Coloring};

/// Which vertices stand side by side.
pub(crate) struct Plan {
    lanes: usize,
    /// The vertices of all bundles. A last bundle that is not full repeats its first vertex.
    vertices: Vec<u32>,
    /// How many different vertices each bundle has.
    filled: Vec<u8>,
    /// The bundles of each colour.
    colors: Vec<Range<usize>>,
    vertex_count: usize,
}

impl Plan {
    /// `lanes` vertices of a colour side by side. `signature` tells what vertices are alike in: alike ones stand together.
    pub(crate) fn new<K: Ord>(
        coloring: &Coloring,
        lanes: usize,
        vertex_count: usize,
        signature: impl Fn(u32) -> K,
    ) -> Self {
        let mut plan = Self { lanes, vertices: Vec::new(), filled: Vec::new(), colors: Vec::new(), vertex_count };
        for range in &coloring.ranges {
            let mut order = coloring.order[range.clone()].to_vec();
            order.sort_by_cached_key(|&vertex| signature(vertex));
            let first = plan.filled.len();
            for bundle in order.chunks(lanes) {
                plan.vertices.extend((0..lanes).map(|lane| bundle.get(lane).copied().unwrap_or(bundle[0])));
                plan.filled.push(bundle.len() as u8);
            }
            plan.colors.push(first..plan.filled.len());
        }
        plan
    }

    /// The bundles of each colour.
    pub(crate) fn colors(&self) -> &[Range<usize>] {
        &self.colors
    }

    /// Number of bundles.
    pub(crate) fn len(&self) -> usize {
        self.filled.len()
    }

    /// The vertices of a bundle, each once.
    pub(crate) fn bundle(&self, bundle: usize) -> &[u32] {
        &self.vertices[bundle * self.lanes..][..usize::from(self.filled[bundle])]
    }

    /// The vertices of a bundle, one in each lane.
    pub(crate) fn lanes_of(&self, bundle: usize) -> &[u32] {
        &self.vertices[bundle * self.lanes..][..self.lanes]
    }

    /// The same, each lane by itself.
    fn lane_by_lane(&self) -> Self {
        let vertices = self.vertices.clone();
        let filled = vec![1; vertices.len()];
        Self { lanes: 1, vertices, filled, colors: Vec::new(), vertex_count: self.vertex_count }
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.vertex_count
    }
}

/// Where vertices are, side by side.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// x as displacements since the start of the substep, in m.
    pub(crate) particles: Shared<'a, Particle<f32>>,
    /// xⁿ, likewise.
    pub(crate) previous: Shared<'a, Particle<f32>>,
    /// The rest offsets of all terms.
    pub(crate) rest_offsets: &'a [f32],
    /// Where those of this term begin.
    pub(crate) first_rest_offset: usize,
    /// h, in s.
    pub(crate) step: f64,
}

/// A batch seen from its vertices, with its model and its registers erased.
pub(crate) trait IncidentElements: Send + Sync {
    /// How many numbers the rest offsets take.
    fn rest_offset_count(&self) -> usize;
    /// Measures them at the start of a substep; those of this term begin at `first` of `rest_offsets`.
    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, f32>, first: usize);
    /// Adds what the elements do to the vertices of some bundles; `sums` has a `Sums` for each of these.
    fn add(&self, bundles: Range<usize>, view: &View<'_>, sums: &[Cell<f32>]);
    /// Adds Σ(ψ + D), in J, of the elements whose first vertices are in some bundles, to these vertices; `sums` has a number for each lane of each of these.
    fn add_values(&self, bundles: Range<usize>, view: &View<'_>, sums: &[Cell<f32>]);
}

/// The energy of the vertices of a bundle, to the second order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<S> {
    /// In N.
    pub(crate) gradient: Vec3<S>,
    /// In N/m.
    pub(crate) block: Sym3<S>,
}

impl<S: Bundle<f32>> Sums<S> {
    /// Numbers that it takes to store one.
    pub(crate) const SIZE: usize = 9 * S::LANES;

    /// The `bundle`-th of some, of so many lanes as `S` has.
    #[inline(always)]
    pub(crate) fn load(sums: &[Cell<f32>], bundle: usize) -> Self {
        Self::load_at(&sums[bundle * Self::SIZE..], S::LANES)
    }

    /// The first, with so many numbers from part to part.
    #[inline(always)]
    fn load_at(sums: &[Cell<f32>], stride: usize) -> Self {
        let part = |part: usize| S::read_part(&sums[part * stride..]);
        Self {
            gradient: Vec3::new(part(0), part(1), part(2)),
            block: Sym3 {
                diagonal: Vec3::new(part(3), part(4), part(5)),
                across: Vec3::new(part(6), part(7), part(8)),
            },
        }
    }

    /// The reverse of [`load`](Self::load).
    #[inline(always)]
    pub(crate) fn store(&self, sums: &[Cell<f32>], bundle: usize) {
        self.store_at(&sums[bundle * Self::SIZE..], S::LANES);
    }

    /// The reverse of [`load_at`](Self::load_at).
    #[inline(always)]
    fn store_at(&self, sums: &[Cell<f32>], stride: usize) {
        for (i, vector) in [self.gradient, self.block.diagonal, self.block.across].into_iter().enumerate() {
            for (j, part) in vector.to_array().into_iter().enumerate() {
                part.write_part(&sums[(3 * i + j) * stride..]);
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, corner: &Corner<S>) {
        self.gradient += corner.gradient;
        self.block += corner.block;
    }
}

/// The places of a batch.
struct Places<E: Energy<N>, S: Scalar, const N: usize> {
    /// Where the places of each corner of each bundle begin, and where the last end.
    starts: Vec<u32>,
    /// The vertices of the elements of each place, lane by lane.
    spots: ParticleSpots<N>,
    rest: Vec<E::Rest<S>>,
    /// Which lanes of a place have an element, bit by bit.
    present: Vec<u8>,
    /// The vertices of each bundle, lane by lane.
    own: ParticleSpots<1>,
    /// Lanes of the bundles that sums are kept for.
    stride: usize,
    /// τ, in s.
    damping: f64,
}

impl<E: Energy<N>, S: Bundle<f32>, const N: usize> Places<E, S, N> {
    /// `corners` lists the elements and corners of each vertex, as element × N + corner.
    fn new(batch: &Batch<E, N>, plan: &Plan, stride: usize, corners: &Adjacency) -> Self {
        let bundles = plan.len();
        let (mut starts, mut stencils, mut rests, mut presents) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        let with_corner = |vertex: u32, corner: usize| {
            let places = corners.of(vertex).iter().map(|&place| place as usize);
            places.filter(|place| place % N == corner).map(|place| place / N).collect::<Vec<_>>()
        };
        for bundle in 0..bundles {
            for corner in 0..N {
                let lists: Vec<_> = plan.lanes_of(bundle).iter().map(|&v| with_corner(v, corner)).collect();
                for k in 0.. {
                    let elements: Vec<Option<usize>> = lists.iter().map(|list| list.get(k).copied()).collect();
                    // What stands in for an element that is not there is computed and thrown away.
                    let Some(other) = elements.iter().flatten().next().copied() else { break };
                    let bit = |(lane, element): (usize, &Option<usize>)| u8::from(element.is_some()) << lane;
                    presents.push(elements.iter().enumerate().map(bit).sum());
                    let elements = elements.into_iter().map(|element| element.unwrap_or(other));
                    stencils.extend(elements.clone().map(|e| batch.stencils()[e]));
                    let rest: Vec<_> = elements.map(|e| batch.rest()[e]).collect();
                    rests.push(E::cast(&rest));
                }
                starts.push(rests.len() as u32);
            }
        }
        Self {
            starts,
            spots: ParticleSpots::new(stencils, plan.vertex_count),
            rest: rests,
            present: presents,
            own: ParticleSpots::new(plan.vertices.iter().map(|&v| [v]), plan.vertex_count),
            stride,
            damping: batch.damping(),
        }
    }

    /// Lanes that a place has all of.
    const ALL: u8 = ((1_u16 << S::LANES) - 1) as u8;
    /// Numbers of the rest offsets of a place.
    const REST_OFFSETS: usize = 3 * (N - 1) * S::LANES;

    /// Bundles of a plan as those here: the same, or their lanes.
    fn own_bundles(&self, bundles: Range<usize>) -> Range<usize> {
        let each = self.stride / S::LANES;
        bundles.start * each..bundles.end * each
    }

    /// What is seen at the places of this batch.
    #[inline(always)]
    fn seen<'a>(&'a self, view: &View<'a>) -> Seen<'a, N> {
        Seen {
            elements: [view.particles, view.previous].map(|particles| self.spots.over(&particles)),
            own: [view.particles, view.previous].map(|particles| self.own.over(&particles)),
            rest_offsets: &view.rest_offsets[view.first_rest_offset..][..self.rest.len() * Self::REST_OFFSETS],
            step: view.step,
        }
    }

    /// The places of one corner of a bundle.
    #[inline(always)]
    fn range(&self, bundle: usize, corner: usize) -> Range<usize> {
        self.starts[bundle * N + corner] as usize..self.starts[bundle * N + corner + 1] as usize
    }

    /// The displacements of the vertices of a bundle.
    #[inline(always)]
    fn own(all: &ElementParticles<'_, f32, 1>, bundle: usize) -> Vec3<S> {
        let own = all.slice(bundle * S::LANES..(bundle + 1) * S::LANES);
        S::load(|lane| own.get(lane, 0)).0
    }

    /// The elements of a place: how far their vertices have come, with the vertex `corner` known to be at `own`, and where they are from
    /// where the first was.
    #[inline(always)]
    fn elements(
        place: usize,
        (corner, own): (usize, Vec3<S>),
        all: &ElementParticles<'_, f32, N>,
        seen: &Seen<'_, N>,
    ) -> [[Vec3<S>; N]; 2] {
        let vertices = all.slice(place * S::LANES..(place + 1) * S::LANES);
        let rest_offsets = &seen.rest_offsets[place * Self::REST_OFFSETS..][..Self::REST_OFFSETS];
        let (mut u, mut x) = ([own; N], [own; N]);
        for i in 0..N {
            if i != corner {
                u[i] = S::load(|lane| vertices.get(lane, i)).0;
            }
            x[i] = u[i];
            if i > 0 {
                x[i] += rest_offset_of_bundle(rest_offsets, i);
            }
        }
        [u, x]
    }

    /// Numbers of the lanes that a place has, zero in the others.
    #[inline(always)]
    fn of_present(&self, place: usize, corner: Corner<S>) -> Corner<S> {
        let present = self.present[place];
        if present == Self::ALL {
            return corner;
        }
        let mask = S::load_number(|lane| f32::from(present >> lane & 1)).greater(S::ZERO);
        Corner {
            gradient: Vec3::select(mask, corner.gradient, Vec3::ZERO),
            block: Sym3::select(mask, corner.block, Sym3::ZERO),
        }
    }

    /// Adds the places of one corner of a bundle.
    #[inline(always)]
    fn add_corner(&self, i: usize, bundle: usize, own: Vec3<S>, seen: &Seen<'_, N>, sums: &mut Sums<S>) {
        for place in self.range(bundle, i) {
            let [_, x] = Self::elements(place, (i, own), &seen.elements[0], seen);
            let corner = E::corner(&self.rest[place], &x, i);
            sums.add(&self.of_present(place, corner));
        }
    }

    /// Adds the damping of a bundle.
    #[inline(always)]
    fn add_drag(&self, bundle: usize, own: Vec3<S>, seen: &Seen<'_, N>, sums: &mut Sums<S>) {
        let before = Self::own(&seen.own[1], bundle);
        for i in 0..N {
            for place in self.range(bundle, i) {
                let (drag, _) = self.drag(place, (i, [own, before]), seen);
                sums.add(&self.of_present(place, drag));
            }
        }
    }

    /// D = ‖∇C(xⁿ)·(x − xⁿ)‖² τ/2hα at a corner, with the vertex there at `own` now and before, and its value in J; see [`Elastic`](crate::solver::Elastic).
    #[inline(always)]
    fn drag(&self, place: usize, (corner, own): (usize, [Vec3<S>; 2]), seen: &Seen<'_, N>) -> (Corner<S>, S) {
        let [u, _] = Self::elements(place, (corner, own[0]), &seen.elements[0], seen);
        let [before, at] = Self::elements(place, (corner, own[1]), &seen.elements[1], seen);
        let row = E::row(&self.rest[place], &at);
        let mut moved = u;
        for i in 0..N {
            moved[i] = u[i] - before[i];
        }
        let compliance = row.compliance();
        let rate = S::from_f64(self.damping / seen.step) / compliance;
        let rate = S::select(compliance.greater(S::ZERO), rate, S::ZERO);
        let change = row.along(&moved);
        let drag = Corner { gradient: row.pull(corner, change * rate), block: row.square(corner, rate) };
        (drag, S::from_f64(0.5) * change.norm_squared() * rate)
    }

    #[inline(always)]
    fn add_all(&self, bundles: Range<usize>, view: &View<'_>, sums: &[Cell<f32>]) {
        let (seen, stride) = (self.seen(view), self.stride);
        let first = bundles.start * S::LANES;
        for bundle in bundles {
            let slot = bundle * S::LANES - first;
            let sums = &sums[slot / stride * 9 * stride + slot % stride..];
            let own = Self::own(&seen.own[0], bundle);
            let mut sum = Sums::load_at(sums, stride);
            if const { N <= 4 } {
                // A formula with a corner that the compiler knows computes nothing for the others.
                self.add_corner(0, bundle, own, &seen, &mut sum);
                self.add_corner(1, bundle, own, &seen, &mut sum);
                if N > 2 {
                    self.add_corner(2, bundle, own, &seen, &mut sum);
                }
                if N > 3 {
                    self.add_corner(3, bundle, own, &seen, &mut sum);
                }
            } else {
                for corner in 0..N {
                    self.add_corner(corner, bundle, own, &seen, &mut sum);
                }
            }
            if self.damping > 0.0 {
                self.add_drag(bundle, own, &seen, &mut sum);
            }
            sum.store_at(sums, stride);
        }
    }

    #[inline(always)]
    fn add_all_values(&self, bundles: Range<usize>, view: &View<'_>, sums: &[Cell<f32>]) {
        let seen = self.seen(view);
        for (bundle, sums) in bundles.zip(sums.chunks_exact(S::LANES)) {
            let own = [0, 1].map(|time| Self::own(&seen.own[time], bundle));
            let mut sum = S::read_part(sums);
            for place in self.range(bundle, 0) {
                let [_, x] = Self::elements(place, (0, own[0]), &seen.elements[0], &seen);
                let mut value = E::value(&self.rest[place], &x);
                if self.damping > 0.0 {
                    value += self.drag(place, (0, own), &seen).1;
                }
                let present = S::load_number(|lane| f32::from(self.present[place] >> lane & 1));
                sum += S::select(present.greater(S::ZERO), value, S::ZERO);
            }
            sum.write_part(sums);
        }
    }
}

/// A view through the places of a batch.
#[derive(Clone, Copy)]
struct Seen<'a, const N: usize> {
    /// The vertices of elements, now and at the start of the substep.
    elements: [ElementParticles<'a, f32, N>; 2],
    /// Those of bundles, likewise.
    own: [ElementParticles<'a, f32, 1>; 2],
    rest_offsets: &'a [f32],
    /// h, in s.
    step: f64,
}

impl<E: Energy<N>, S: Bundle<f32>, const N: usize> IncidentElements for Places<E, S, N> {
    fn rest_offset_count(&self) -> usize {
        self.rest.len() * Self::REST_OFFSETS
    }

    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, f32>, first: usize) {
        for place in worker.share(0..self.rest.len()) {
            let stencils = (0..S::LANES).map(|lane| self.spots.indices(place * S::LANES + lane));
            place_bundle(stencils, origins, rest_offsets, first + place * Self::REST_OFFSETS);
        }
    }

    fn add(&self, bundles: Range<usize>, view: &View<'_>, sums: &[Cell<f32>]) {
        S::compiled(
            #[inline(always)]
            || self.add_all(self.own_bundles(bundles), view, sums),
        );
    }

    fn add_values(&self, bundles: Range<usize>, view: &View<'_>, sums: &[Cell<f32>]) {
        S::compiled(
            #[inline(always)]
            || self.add_all_values(self.own_bundles(bundles), view, sums),
        );
    }
}

/// The places of a batch, for the registers of a plan.
pub(crate) fn corners<E: Energy<N>, const N: usize>(
    batch: &Batch<E, N>,
    plan: &Plan,
    corners: &Adjacency,
) -> Box<dyn IncidentElements> {
    let stride = plan.lanes;
    // Wide elements are few, and their code is long: it is compiled once.
    if const { N > 4 } {
        return Box::new(Places::<E, f32, N>::new(batch, &plan.lane_by_lane(), stride, corners));
    }
    #[cfg(target_arch = "x86_64")]
    if stride == F32x8::LANES {
        return Box::new(Places::<E, F32x8, N>::new(batch, plan, stride, corners));
    }
    Box::new(Places::<E, F32x4, N>::new(batch, plan, stride, corners))
}
