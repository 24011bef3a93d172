//! Sweeps over the elements of a batch, colour by colour, several elements at a time.

use crate::energy::{Batch, Energy, Multiplier, WideRest};
use crate::math::{Real, Scalar, Vec3, array};
use crate::parallel::{Gathered, Shared, Worker};
use crate::solver::position_based::particle::{Bundle, Bundled, Particle};

/// Bundles whose corrections are found before the first of them is added.
///
/// From the load of a vertex over a root and a division to its store is a long way, and a processor looks ahead by some hundred instructions only: with the stores in
/// a loop of their own, more bundles are under way at a time. Elements of a colour share no vertex, so none has to see what another has moved.
pub(crate) const BLOCK: usize = 8;

/// What a sweep over a term works on.
///
/// Single precision resolves a tenth of a micrometre at a metre from the origin; divided by a substep of half a
/// millisecond, that is a velocity that one sees. So vertices are kept as displacements since the start of the frame,
/// which are small, and elements as rest offsets: vectors from their first vertex to the others at the start of the frame,
/// taken in double precision. Only sums of the two enter a formula, which does not care where the element is.
#[derive(Clone, Copy)]
pub(crate) struct Sweep<'a, R: Real> {
    /// The displacements of the vertices since the start of the frame, in m.
    pub(crate) particles: Shared<'a, Particle<R>>,
    /// The same at the start of the substep.
    pub(crate) previous: Shared<'a, Particle<R>>,
    /// Where the vertices were at the start of the frame, in m.
    pub(crate) origins: &'a [Vec3<f64>],
    /// Rest offsets of the full bundles of all terms: x of all lanes of one, then y, then z.
    pub(crate) rest_offsets: &'a [R],
    /// Where those of this term begin.
    pub(crate) first_rest_offset: usize,
    /// λ of all elements, where they are kept.
    pub(crate) multipliers: Option<Shared<'a, R>>,
    /// Where those of this term begin.
    pub(crate) first_multiplier: usize,
    /// Whether λ is still zero.
    pub(crate) first: bool,
    /// h, in s.
    pub(crate) step: f64,
    /// Iterations in a substep.
    pub(crate) iterations: u32,
}

/// The vertices of elements.
pub(crate) type ElementParticles<'a, R, const N: usize> = Gathered<'a, 'a, [f32; 4], Particle<R>, N>;

/// One element, or as many as `S` has lanes.
pub(crate) struct Element<'a, R: Real, S: Scalar, const N: usize> {
    /// Index of the first.
    pub(crate) index: usize,
    /// Vertices of each.
    vertices: ElementParticles<'a, R, N>,
    /// Of all elements of the batch, at the start of the substep.
    previous: ElementParticles<'a, R, N>,
    /// Inverse masses, in 1/kg.
    pub(crate) w: [S; N],
}

impl<R: Real, S: Scalar, const N: usize> Element<'_, R, S, N> {
    /// x − xⁿ of the vertices.
    #[inline(always)]
    pub(crate) fn moved(&self) -> [Vec3<S>; N]
    where
        S: Bundle<R>,
    {
        let previous = self.previous.slice(self.index..self.index + S::LANES);
        let vector = |all: &ElementParticles<'_, R, N>, i: usize| S::load(|lane| all.get(lane, i)).0;
        array(
            #[inline(always)]
            |i| vector(&self.vertices, i) - vector(&previous, i),
        )
    }

    /// The longest of the moves, in m, that are given for a vertex and its inverse mass.
    #[inline(always)]
    pub(crate) fn largest_move(&self, shift: impl Fn(usize, S) -> Vec3<S>) -> S {
        let mut largest = S::ZERO;
        for i in 0..N {
            let length = shift(i, self.w[i]).norm();
            largest = S::select(length.greater(largest), length, largest);
        }
        largest
    }

    /// The moves of all vertices, in m, that are given for a vertex and its inverse mass.
    #[inline(always)]
    pub(crate) fn moves(&self, shift: impl Fn(usize, S) -> Vec3<S>) -> [Vec3<S>; N] {
        let mut moves = [Vec3::ZERO; N];
        for i in 0..N {
            moves[i] = shift(i, self.w[i]);
        }
        moves
    }
}

/// Rest offsets of a batch, in the precision `R`.
pub(crate) trait Place<R: Real> {
    /// How many numbers they take; `is_wide` says whether they are for the widest registers.
    fn rest_offset_count(&self, is_wide: bool) -> usize;
    /// Measures them at the start of a frame; those of this term begin at `first` of `rest_offsets`.
    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, R>, first: usize);
}

impl<E: Energy<N>, R: Bundled, const N: usize> Place<R> for Batch<E, N> {
    fn rest_offset_count(&self, is_wide: bool) -> usize {
        let lanes = R::lanes(is_wide);
        self.colors().iter().map(|color| color.len() / lanes * lanes * 3 * (N - 1)).sum()
    }

    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, R>, first: usize) {
        let lanes = R::lanes(worker.is_wide());
        let mut at = first;
        for color in self.colors() {
            let bundles = color.len() / lanes;
            for bundle in worker.share(0..bundles) {
                let stencils = &self.stencils()[color.start + bundle * lanes..][..lanes];
                place_bundle(stencils.iter().copied(), origins, rest_offsets, at + bundle * lanes * 3 * (N - 1));
            }
            at += bundles * lanes * 3 * (N - 1);
        }
    }
}

/// Measures the rest offsets of one bundle.
#[inline(always)]
pub(crate) fn place_bundle<R: Real, const N: usize>(
    stencils: impl ExactSizeIterator<Item = [u32; N]>,
    origins: &[Vec3<f64>],
    rest_offsets: &Shared<'_, R>,
    first: usize,
) {
    let lanes = stencils.len();
    for (lane, stencil) in stencils.enumerate() {
        for i in 1..N {
            for (part, number) in rest_offset::<R, N>(origins, &stencil, i).to_array().into_iter().enumerate() {
                rest_offsets.set(first + ((i - 1) * 3 + part) * lanes + lane, number);
            }
        }
    }
}

/// From the first vertex of an element to another at the start of the frame, in m.
#[inline(always)]
pub(crate) fn rest_offset<R: Real, const N: usize>(origins: &[Vec3<f64>], stencil: &[u32; N], i: usize) -> Vec3<R> {
    (origins[stencil[i] as usize] - origins[stencil[0] as usize]).cast()
}

/// The rest offset of the `i`-th vertex of a bundle, from those of the bundle.
#[inline(always)]
pub(crate) fn rest_offset_of_bundle<R: Real, S: Bundle<R>>(rest_offsets: &[R], i: usize) -> Vec3<S> {
    let part = |part: usize| S::read(&rest_offsets[((i - 1) * 3 + part) * S::LANES..]);
    Vec3::new(part(0), part(1), part(2))
}

/// What a solver does with an element. A trait and not a closure, because it is generic over the lanes.
pub(crate) trait Visit<E: Energy<N>, R: Real, const N: usize> {
    /// How far each vertex is to go, in m.
    fn visit<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N];
}

/// What a solver reads off an element.
pub(crate) trait Measure<E: Energy<N>, R: Real, const N: usize> {
    /// A number; the sweep returns the largest.
    fn measure<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> S;
}

/// What is done at an element, or as many as `S` has lanes.
trait Work<E: Energy<N>, R: Real, const N: usize> {
    /// Whether it moves vertices: then no worker begins a colour before all have ended the one before.
    const MOVES: bool;

    /// How far the vertices are to go, in m, if it moves them.
    fn element<S: Bundle<R>>(&mut self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N];
}

/// Moves the vertices from where they are.
struct Move<V> {
    visitor: V,
}

impl<E: Energy<N>, R: Real, V: Visit<E, R, N>, const N: usize> Work<E, R, N> for Move<V> {
    const MOVES: bool = true;

    #[inline(always)]
    fn element<S: Bundle<R>>(&mut self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N] {
        self.visitor.visit(row, element)
    }
}

/// The largest number so far.
struct Largest<M, R> {
    measure: M,
    largest: R,
}

impl<E: Energy<N>, R: Real, M: Measure<E, R, N>, const N: usize> Work<E, R, N> for Largest<M, R> {
    const MOVES: bool = false;

    #[inline(always)]
    fn element<S: Bundle<R>>(&mut self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N] {
        self.largest = self.largest.max(self.measure.measure(row, element).largest());
        [Vec3::ZERO; N]
    }
}

impl<R: Real> Sweep<'_, R> {
    /// Whether λ is wanted after this sweep or known from earlier ones.
    pub(crate) fn keeps_multipliers(&self) -> bool {
        self.multipliers.is_some()
    }

    /// λ of an element; `None` = zero.
    #[inline(always)]
    pub(crate) fn load_multiplier<S: Bundle<R>, M: Multiplier<S>>(&self, element: usize) -> Option<M> {
        match self.multipliers {
            Some(all) if !self.first => {
                let at = self.first_multiplier + element * M::PARTS;
                Some(M::load(|part| S::load_number(|lane| all.get(at + lane * M::PARTS + part))))
            }
            _ => None,
        }
    }

    /// Keeps λ of an element for the next iteration, if there is one.
    #[inline(always)]
    pub(crate) fn store_multiplier<S: Bundle<R>, M: Multiplier<S>>(&self, element: usize, multiplier: M) {
        if let Some(all) = self.multipliers {
            let at = self.first_multiplier + element * M::PARTS;
            multiplier.store(|part, value| value.store_number(|lane, v| all.set(at + lane * M::PARTS + part, v)));
        }
    }

    /// Visits every element of a batch and writes back what it moved. Elements of a colour share no vertex, so the
    /// result does not depend on how many are visited at once or by whom; a barrier stands after each colour.
    #[inline(always)]
    pub(crate) fn visit<E: Energy<N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        visitor: impl Visit<E, R, N>,
    ) where
        R: Bundled,
        Batch<E, N>: WideRest<R::Wide, E, N> + WideRest<R::Widest, E, N>,
    {
        self.walk(batch, worker, Move { visitor });
    }

    /// The largest of a number over the elements of this worker's share.
    #[inline(always)]
    pub(crate) fn largest<E: Energy<N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        measure: impl Measure<E, R, N>,
    ) -> f64
    where
        R: Bundled,
        Batch<E, N>: WideRest<R::Wide, E, N> + WideRest<R::Widest, E, N>,
    {
        self.walk(batch, worker, Largest { measure, largest: R::ZERO }).largest.to_f64()
    }

    /// Goes over this worker's share of every colour, in the registers that the worker may use.
    #[inline(always)]
    fn walk<E: Energy<N>, W: Work<E, R, N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        work: W,
    ) -> W
    where
        R: Bundled,
        Batch<E, N>: WideRest<R::Wide, E, N> + WideRest<R::Widest, E, N>,
    {
        #[cfg(target_arch = "x86_64")]
        if R::HAS_WIDER && worker.is_wide() {
            return R::Widest::compiled(
                #[inline(always)]
                || self.walk_by::<R::Widest, E, W, N>(batch, worker, work),
            );
        }
        self.walk_by::<R::Wide, E, W, N>(batch, worker, work)
    }

    /// Full bundles first, and the leader over what is left of a colour; a barrier stands after each if the work moves vertices.
    #[inline(always)]
    fn walk_by<S: Bundle<R>, E: Energy<N>, W: Work<E, R, N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        work: W,
    ) -> W
    where
        Batch<E, N>: WideRest<S, E, N>,
    {
        let numbers = S::LANES * 3 * (N - 1);
        let all_offsets = &self.rest_offsets[self.first_rest_offset..][..batch.wide_rest().len() * numbers];
        // Copies, which no store can change.
        let (sweep, mut work) = (*self, work);
        let (particles, previous) = (batch.spots().over(&sweep.particles), batch.spots().over(&sweep.previous));
        let mut moves = [[Vec3::<S>::ZERO; N]; BLOCK];
        let mut first_bundle = 0;
        for color in batch.colors() {
            let bundles = color.len() / S::LANES;
            let wide = &batch.wide_rest()[first_bundle..first_bundle + bundles];
            let share = worker.share(0..bundles);
            let mut index = color.start + share.start * S::LANES;
            let offsets = &all_offsets[(first_bundle + share.start) * numbers..(first_bundle + share.end) * numbers];
            let own = particles.slice(index..color.start + share.end * S::LANES);
            let blocks = own.chunks(BLOCK * S::LANES).zip(offsets.chunks(BLOCK * numbers));
            for (rests, (own, offsets)) in wide[share].chunks(BLOCK).zip(blocks) {
                let bundles = own.chunks_exact(S::LANES).zip(offsets.chunks_exact(numbers));
                for ((rest, (vertices, offsets)), moves) in rests.iter().zip(bundles).zip(&mut moves) {
                    let (x, w) = load(&vertices, |i| rest_offset_of_bundle(offsets, i));
                    *moves = work.element(&E::row(rest, &x), &Element { index, vertices, previous, w });
                    index += S::LANES;
                }
                if W::MOVES {
                    for (vertices, moves) in own.chunks_exact(S::LANES).zip(&moves) {
                        shift(&vertices, moves);
                    }
                }
            }
            if worker.leads() {
                for index in color.start + bundles * S::LANES..color.end {
                    let (rest, vertices) =
                        (E::cast::<R>(&batch.rest()[index..=index]), particles.slice(index..index + 1));
                    let (x, w) = load(&vertices, |i| rest_offset(sweep.origins, &batch.stencils()[index], i));
                    let moves = work.element(&E::row(&rest, &x), &Element { index, vertices, previous, w });
                    if W::MOVES {
                        shift(&vertices, &moves);
                    }
                }
            }
            first_bundle += bundles;
            if W::MOVES {
                worker.barrier();
            }
        }
        work
    }
}

/// Positions of the vertices of as many elements as `S` has lanes, in m, from where the first of each was at the start of the frame, and their inverse masses;
/// `offset` gives the rest offset of vertex `i`, from 1 up.
#[inline(always)]
fn load<R: Real, S: Bundle<R>, const N: usize>(
    vertices: &ElementParticles<'_, R, N>,
    offset: impl Fn(usize) -> Vec3<S>,
) -> ([Vec3<S>; N], [S; N]) {
    let (mut x, mut w) = ([Vec3::ZERO; N], [S::ZERO; N]);
    for i in 0..N {
        (x[i], w[i]) = S::load(|lane| vertices.get(lane, i));
        if i > 0 {
            x[i] += offset(i);
        }
    }
    (x, w)
}

/// Moves the vertices of as many elements as `S` has lanes.
#[inline(always)]
pub(crate) fn shift<R: Real, S: Bundle<R>, const N: usize>(
    vertices: &ElementParticles<'_, R, N>,
    moves: &[Vec3<S>; N],
) {
    for i in 0..N {
        S::store(moves[i], S::ZERO, |lane, by| {
            let old = vertices.get(lane, i);
            vertices.set(lane, i, Particle::from_four(old.four() + by.four()));
        });
    }
}
