//! Symplectic Euler on the frame of the position-based solvers: forces instead of projections.
//!
//! ```text
//! x⁺ = xⁿ + h v + h² w (f_ext − ∂E/∂x(xⁿ)),   v = (x⁺ − xⁿ)/h
//! ```
//!
//! which is v ← v + h w f(xⁿ), x ← x + h v. All forces are those at xⁿ, so the order of the elements changes only the rounding of
//! their sums; they are added colour by colour, as a projection would move the vertices.
//!
//! A force that changes slowly need not be evaluated in every substep: a term whose own limit 2/ω is `n` times as long as the
//! others' acts in every n-th substep with n times the force, as an impulse [Grubmüller et al. 1991; Tuckerman et al. 1992].

use super::particle::Bundle;
use super::position_based::{self, Sweeps};
use super::sweep::{Element, Measure, Place, Sweep, Visit};
use super::Solver;
use crate::energy::{Batch, Energy, Term, WideRest};
use crate::math::{Real, Vec3};
use crate::parallel::Worker;
use crate::parameter::Settings;

/// The solver with these settings.
pub(super) fn build(settings: &Settings) -> Box<dyn Solver> {
    position_based::build(settings, sweeps(), sweeps())
}

fn sweeps<R: Real>() -> Sweeps<R>
where
    dyn Term: Push<R> + Place<R>,
{
    Sweeps {
        arm_count: |term| Place::<R>::arm_count(term),
        place: |term, worker, origins, arms, first| Place::<R>::place(term, worker, origins, arms, first),
        parts: |_| 0,
        project: |term, worker, sweep| Push::<R>::push(term, worker, sweep),
        residual: |_, _, _| 0.0,
    }
}

/// The sweep of forces.
pub trait Push<R: Real> {
    /// Moves the particles by h² w f, f at the start of the substep, colour by colour; ends with the team at a barrier.
    fn push(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>);
}

impl<E: Energy<N>, R: Real, const N: usize> Push<R> for Batch<E, N>
where
    R::Wide: Bundle<R>,
    Self: WideRest<R, E, N>,
{
    fn push(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) {
        sweep.visit_from_start(self, worker, &Force { square: -sweep.step * sweep.step });
    }
}

/// Newton's second law over one step.
struct Force {
    /// −h², in s².
    square: f64,
}

impl<E: Energy<N>, R: Real, const N: usize> Visit<E, R, N> for Force {
    #[inline(always)]
    fn visit<S: Bundle<R>>(&self, rest: &E::Rest<S>, element: &mut Element<'_, S, N>) {
        let gradient = E::gradient(rest, &element.x);
        let square = S::from_f64(self.square);
        element.pull(|i| gradient[i] * square);
    }
}
