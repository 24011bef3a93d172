//! Sweeps over the elements of a batch, colour by colour, several elements at a time.
#![allow(unsafe_code, reason = "skips bounds checks that the batch made once; they cost a tenth of a sweep")]

use super::particle::{Bundle, Particle};
use crate::energy::{Batch, Energy, Multiplier, WideRest};
use crate::math::{Real, Scalar, Vec3};
use crate::parallel::{Shared, Worker};

/// What a sweep over a term works on.
///
/// Single precision resolves a tenth of a micrometre at a metre from the origin; divided by a substep of half a
/// millisecond, that is a velocity that one sees. So vertices are kept as displacements since the start of the frame,
/// which are small, and elements as arms: vectors from their first vertex to the others at the start of the frame,
/// taken in double precision. Only sums of the two enter a formula, which does not care where the element is.
pub struct Sweep<'a, R: Real> {
    /// The displacements of the vertices since the start of the frame, in m.
    pub(super) particles: &'a Shared<'a, Particle<R>>,
    /// The same at the start of the substep.
    pub(super) previous: &'a Shared<'a, Particle<R>>,
    /// Where the vertices were at the start of the frame, in m.
    pub(super) origins: &'a [Vec3<f64>],
    /// The arms of the full bundles of all terms.
    pub(super) arms: &'a Shared<'a, Vec3<R::Wide>>,
    /// Where those of this term begin.
    pub(super) first_arm: usize,
    /// λ of all elements, where they are kept.
    pub(super) multipliers: Option<&'a Shared<'a, R>>,
    /// Where those of this term begin.
    pub(super) first_multiplier: usize,
    /// Whether λ is still zero.
    pub(super) first: bool,
    /// h, in s.
    pub(super) step: f64,
    /// Iterations in a substep.
    pub(super) iterations: u32,
    /// What of each correction is made; only `xpbd` without damping and multipliers asks.
    pub(super) relaxation: f64,
}

/// One element, or as many as `S` has lanes.
pub(super) struct Element<'a, S: Scalar, const N: usize> {
    /// Index of the first.
    pub(super) index: usize,
    /// Vertices of each.
    pub(super) stencils: &'a [[u32; N]],
    /// Displacements of the vertices since the start of the frame, in m.
    pub(super) u: [Vec3<S>; N],
    /// Positions of the vertices, in m, from where the first was at the start of the frame.
    pub(super) x: [Vec3<S>; N],
    /// Inverse masses, in 1/kg.
    pub(super) w: [S; N],
}

impl<S: Scalar, const N: usize> Element<'_, S, N> {
    /// The longest of the moves wᵢ pᵢ, in m.
    #[inline(always)]
    pub(super) fn largest_move(&self, pull: impl Fn(usize) -> Vec3<S>) -> S {
        let mut largest = S::ZERO;
        for i in 0..N {
            let length = (pull(i) * self.w[i]).norm();
            largest = S::select(length.greater(largest), length, largest);
        }
        largest
    }

    /// Moves the vertices by wᵢ pᵢ.
    #[inline(always)]
    pub(super) fn pull(&mut self, pull: impl Fn(usize) -> Vec3<S>) {
        for i in 0..N {
            self.u[i] += pull(i) * self.w[i];
        }
    }
}

/// The arms of a batch, in the precision `R`.
pub trait Place<R: Real> {
    /// How many there are.
    fn arm_count(&self) -> usize;
    /// Measures them at the start of a frame; those of this term begin at `first` of `arms`.
    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], arms: &Shared<'_, Vec3<R::Wide>>, first: usize);
}

impl<E: Energy<N>, R: Real, const N: usize> Place<R> for Batch<E, N>
where
    R::Wide: Bundle<R>,
{
    fn arm_count(&self) -> usize {
        self.colors().iter().map(|color| color.len() / R::Wide::LANES * (N - 1)).sum()
    }

    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], arms: &Shared<'_, Vec3<R::Wide>>, first: usize) {
        let lanes = R::Wide::LANES;
        let mut at = first;
        for color in self.colors() {
            let bundles = color.len() / lanes;
            for bundle in worker.share(0..bundles) {
                let stencils = &self.stencils()[color.start + bundle * lanes..][..lanes];
                for i in 1..N {
                    let arm = |lane: usize| {
                        let [from, to] = [stencils[lane][0], stencils[lane][i]].map(|v| origins[v as usize]);
                        (to - from).cast::<R>()
                    };
                    arms.set(at + bundle * (N - 1) + i - 1, R::Wide::load_vector(arm));
                }
            }
            at += bundles * (N - 1);
        }
    }
}

/// What a solver does with an element. A trait and not a closure, because it is generic over the lanes.
pub(super) trait Visit<E: Energy<N>, R: Real, const N: usize> {
    /// Moves the vertices by [`Element::pull`].
    fn visit<S: Bundle<R>>(&self, rest: &E::Rest<S>, element: &mut Element<'_, S, N>);
}

/// What a solver reads off an element.
pub(super) trait Measure<E: Energy<N>, R: Real, const N: usize> {
    /// A number; the sweep returns the largest.
    fn measure<S: Bundle<R>>(&self, rest: &E::Rest<S>, element: &Element<'_, S, N>) -> S;
}

/// Which elements: the index of the first, and the vertices of each.
#[derive(Clone, Copy)]
struct Stencils<'a, const N: usize> {
    index: usize,
    stencils: &'a [[u32; N]],
}

/// What is done at an element, or as many as `S` has lanes.
trait Work<E: Energy<N>, R: Real, const N: usize> {
    /// Whether it moves vertices: then no worker begins a colour before all have ended the one before.
    const MOVES: bool;

    /// # Safety
    /// The sweep must have as many particles as the batch of the stencils has vertices.
    unsafe fn element<S: Bundle<R>>(
        &mut self,
        sweep: &Sweep<'_, R>,
        rest: &E::Rest<S>,
        place: Stencils<'_, N>,
        arm: impl Fn(usize) -> Vec3<S>,
    );
}

/// Moves the vertices from where they are.
struct Move<'a, V> {
    visitor: &'a V,
}

impl<E: Energy<N>, R: Real, V: Visit<E, R, N>, const N: usize> Work<E, R, N> for Move<'_, V> {
    const MOVES: bool = true;

    #[inline(always)]
    unsafe fn element<S: Bundle<R>>(
        &mut self,
        sweep: &Sweep<'_, R>,
        rest: &E::Rest<S>,
        place: Stencils<'_, N>,
        arm: impl Fn(usize) -> Vec3<S>,
    ) {
        // SAFETY: by the caller's promise.
        let mut element = unsafe { Sweep::load(sweep.particles, place, arm) };
        self.visitor.visit(rest, &mut element);
        // SAFETY: as before.
        unsafe { sweep.store(&element) };
    }
}

/// The largest number so far.
struct Largest<'a, M, R> {
    measure: &'a M,
    largest: R,
}

impl<E: Energy<N>, R: Real, M: Measure<E, R, N>, const N: usize> Work<E, R, N> for Largest<'_, M, R> {
    const MOVES: bool = false;

    #[inline(always)]
    unsafe fn element<S: Bundle<R>>(
        &mut self,
        sweep: &Sweep<'_, R>,
        rest: &E::Rest<S>,
        place: Stencils<'_, N>,
        arm: impl Fn(usize) -> Vec3<S>,
    ) {
        // SAFETY: by the caller's promise.
        let element = unsafe { Sweep::load(sweep.particles, place, arm) };
        self.largest = self.largest.max(self.measure.measure(rest, &element).largest());
    }
}

impl<R: Real> Sweep<'_, R> {
    /// Whether λ is wanted after this sweep or known from earlier ones.
    pub(super) fn keeps_multipliers(&self) -> bool {
        self.multipliers.is_some()
    }

    /// λ of an element; `None` = zero.
    #[inline(always)]
    pub(super) fn load_multiplier<S: Bundle<R>, M: Multiplier<S>>(&self, element: usize) -> Option<M> {
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
    pub(super) fn store_multiplier<S: Bundle<R>, M: Multiplier<S>>(&self, element: usize, multiplier: M) {
        if let Some(all) = self.multipliers {
            let at = self.first_multiplier + element * M::PARTS;
            multiplier.store(|part, value| value.store_number(|lane, v| all.set(at + lane * M::PARTS + part, v)));
        }
    }

    /// x − xⁿ of the vertices of an element.
    #[inline(always)]
    pub(super) fn moved<S: Bundle<R>, const N: usize>(&self, element: &Element<'_, S, N>) -> [Vec3<S>; N] {
        std::array::from_fn(|i| element.u[i] - S::load(|lane| self.previous.get(element.stencils[lane][i] as usize)).0)
    }

    /// Visits every element of a batch and writes back what it moved. Elements of a colour share no vertex, so the
    /// result does not depend on how many are visited at once or by whom; a barrier stands after each colour.
    #[inline(always)]
    pub(super) fn visit<E: Energy<N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        visitor: &impl Visit<E, R, N>,
    ) where
        R::Wide: Bundle<R>,
        Batch<E, N>: WideRest<R, E, N>,
    {
        self.walk(batch, worker, &mut Move { visitor });
    }

    /// The largest of a number over the elements of this worker's share.
    #[inline(always)]
    pub(super) fn largest<E: Energy<N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        measure: &impl Measure<E, R, N>,
    ) -> f64
    where
        R::Wide: Bundle<R>,
        Batch<E, N>: WideRest<R, E, N>,
    {
        let mut largest = Largest { measure, largest: R::ZERO };
        self.walk(batch, worker, &mut largest);
        largest.largest.to_f64()
    }

    /// Goes over this worker's share of every colour: full bundles first, and the leader over what is left of it; a barrier stands
    /// after each colour if the work moves vertices.
    #[inline(always)]
    fn walk<E: Energy<N>, W: Work<E, R, N>, const N: usize>(
        &self,
        batch: &Batch<E, N>,
        worker: &Worker<'_>,
        work: &mut W,
    ) where
        R::Wide: Bundle<R>,
        Batch<E, N>: WideRest<R, E, N>,
    {
        assert!(self.particles.len() >= batch.vertex_count(), "a state smaller than its model");
        let lanes = R::Wide::LANES;
        let mut first_bundle = 0;
        for color in batch.colors() {
            let bundles = color.len() / lanes;
            let wide = &batch.wide_rest()[first_bundle..first_bundle + bundles];
            for bundle in worker.share(0..bundles) {
                let arms = self.first_arm + (first_bundle + bundle) * (N - 1);
                let stencils = &batch.stencils()[color.start + bundle * lanes..][..lanes];
                let place = Stencils { index: color.start + bundle * lanes, stencils };
                // SAFETY: the lengths are checked above.
                unsafe { work.element(self, &wide[bundle], place, |i| self.arms.get(arms + i - 1)) };
            }
            if worker.leads() {
                for e in color.start + bundles * lanes..color.end {
                    let rest = E::cast::<R>(&batch.rest()[e..=e]);
                    let place = Stencils { index: e, stencils: &batch.stencils()[e..=e] };
                    // SAFETY: the lengths are checked above.
                    unsafe { work.element(self, &rest, place, |i| self.arm(&batch.stencils()[e], i)) };
                }
            }
            first_bundle += bundles;
            if W::MOVES {
                worker.barrier();
            }
        }
    }

    /// The arm of a single element.
    fn arm<const N: usize>(&self, stencil: &[u32; N], i: usize) -> Vec3<R> {
        (self.origins[stencil[i] as usize] - self.origins[stencil[0] as usize]).cast()
    }

    /// Reads the vertices of as many elements as `S` has lanes from the displacements of some time; `arm` gives the arm of
    /// their vertex `i`, from 1 up.
    ///
    /// # Safety
    /// There must be as many displacements as the batch of the stencils has vertices; the batch has verified that its
    /// stencils stay below that.
    #[inline(always)]
    unsafe fn load<'a, S: Bundle<R>, const N: usize>(
        displacements: &Shared<'_, Particle<R>>,
        place: Stencils<'a, N>,
        arm: impl Fn(usize) -> Vec3<S>,
    ) -> Element<'a, S, N> {
        let Stencils { index, stencils } = place;
        let mut element = Element { index, stencils, u: [Vec3::ZERO; N], x: [Vec3::ZERO; N], w: [S::ZERO; N] };
        for i in 0..N {
            // SAFETY: by the caller's promise.
            (element.u[i], element.w[i]) =
                S::load(|lane| unsafe { displacements.get_unchecked(stencils[lane][i] as usize) });
            element.x[i] = if i == 0 { element.u[i] } else { element.u[i] + arm(i) };
        }
        element
    }

    /// Writes the vertices of elements back.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    unsafe fn store<S: Bundle<R>, const N: usize>(&self, element: &Element<'_, S, N>) {
        for i in 0..N {
            S::store(element.u[i], element.w[i], |lane, particle| {
                // SAFETY: by the caller's promise.
                unsafe { self.particles.set_unchecked(element.stencils[lane][i] as usize, particle) };
            });
        }
    }
}
