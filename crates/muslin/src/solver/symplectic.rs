//! Symplectic Euler in single precision: forces on the frame of the position-based solvers, several elements at a time.
//!
//! ```text
//! x⁺ = xⁿ + h v + h² w (f_ext − ∂E/∂x(xⁿ)),   v = (x⁺ − xⁿ)/h
//! ```
//!
//! which is v ← v + h w f(xⁿ), x ← x + h v. All forces are those at xⁿ, so the order of the elements changes only the rounding of
//! their sums; they are added colour by colour, as a projection would move the vertices.
//!
//! The stretch of a stiff cloth sets the step, h < 2/ω, and its bending is slower by orders of magnitude. So a quadratic term
//! (`isometric`), whose fastest frequency ω′ is the same in every state, acts only in every n-th substep, with n times the force, while n h ω′ stays below 1/16: impulses, as in
//! molecular dynamics [Grubmüller et al. 1991; Tuckerman, Berne, Martyna 1992], which keep the scheme symplectic. What they leave
//! is a ripple of the velocity of n h w f.
//!
//! This is `explicit` with `scheme = "symplectic"` and `precision = "f32"`, its defaults.

use super::explicit::diverged;
use super::particle::Bundle;
use super::position_based::{Plan, PositionBased, Sweeps};
use super::spectrum::Spectrum;
use super::stepped::Motion;
use super::sweep::{Element, Place, Sweep, Visit};
use super::{Context, Solver, StepError, StepReport};
use crate::energy::{Batch, Constraint, Energy, Term, WideRest};
use crate::math::{Real, Vec3};
use crate::parallel::Worker;
use crate::state::State;

/// The largest n h ω′ of a term that does not act in every substep.
const SLOW: f64 = 1.0 / 16.0;

/// The solver and its memory.
pub(super) struct Symplectic {
    steps: PositionBased<f32>,
    substeps: u32,
    spectrum: Spectrum,
    /// Positions and inverse masses at the start of a frame, for the spectrum.
    motion: Motion,
}

impl Symplectic {
    /// With so many substeps in a frame.
    pub(super) fn new(substeps: u32) -> Self {
        Self {
            steps: PositionBased::new(sweeps(), Plan { substeps, iterations: 1 }),
            substeps,
            spectrum: Spectrum::default(),
            motion: Motion::default(),
        }
    }

    /// In which substeps each term acts. From the initial state, so that a run that goes on has the same.
    fn set_strides(&mut self, context: &Context<'_>, step: f64) {
        let model = context.model;
        self.motion.positions.clone_from(&model.initial_positions);
        self.motion.inverse_masses.clone_from(&model.inverse_masses);
        for (t, term) in model.terms.iter().enumerate() {
            if !term.is_quadratic() {
                self.steps.strides.push(1);
                continue;
            }
            let limit = Spectrum::of_term(t).measure(context, &self.motion, step).symplectic_limit();
            // 2/ω′ is the limit of the term alone.
            let most = (0.5 * SLOW * limit / step).min(f64::from(self.substeps)).max(1.0) as u32;
            let stride = (1..=most).rev().find(|n| self.substeps.is_multiple_of(*n)).unwrap_or(1);
            self.steps.strides.push(stride);
        }
    }

    /// The longest stable step, in s, around the state.
    fn limit(&mut self, context: &Context<'_>, state: &State, step: f64) -> f64 {
        let Motion { positions, inverse_masses, .. } = &mut self.motion;
        positions.clone_from(&state.positions);
        inverse_masses.clone_from(&context.model.inverse_masses);
        for pinned in &context.model.pinned {
            if context.model.pins[pinned.pin as usize].pose(state.time).is_some() {
                inverse_masses[pinned.vertex as usize] = 0.0;
            }
        }
        self.spectrum.measure(context, &self.motion, step).symplectic_limit()
    }
}

impl Solver for Symplectic {
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let step = dt / f64::from(self.substeps);
        if self.steps.strides.len() != context.model.terms.len() {
            self.set_strides(context, step);
        }
        let limit = self.limit(context, state, step);
        // Only a run that is beyond its limit can diverge, and only it needs a way back.
        let before = (step > limit).then(|| state.clone());
        let mut report = match (self.steps.advance(context, state, dt), &before) {
            (Err(StepError::NonFinite { cloth, vertex }), Some(_)) => {
                return Err(StepError::Unstable { cloth, vertex, step, limit, substeps: self.substeps });
            }
            (outcome, _) => outcome?,
        };
        if let Some(before) = before
            && let Some(vertex) = diverged(context.model, &state.velocities, step)
        {
            *state = before;
            return Err(StepError::unstable(context.model, vertex, step, limit, self.substeps));
        }
        report.residual = 0.0;
        report.stable_step = limit.is_finite().then_some(limit);
        Ok(report)
    }
}

fn sweeps() -> Sweeps<f32> {
    Sweeps {
        arm_count: |term| Place::<f32>::arm_count(term),
        place: |term, worker, origins, arms, first| Place::<f32>::place(term, worker, origins, arms, first),
        parts: |_| 0,
        project: |term: &(dyn Term + 'static), worker, sweep| Push::<f32>::push(term, worker, sweep),
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
        let force = Force { square: -sweep.step * sweep.step * f64::from(sweep.stride) };
        if self.damping() > 0.0 {
            sweep.visit_from_start(self, worker, &DampedForce { force, sweep, damping: self.damping() });
        } else {
            sweep.visit_from_start(self, worker, &force);
        }
    }
}

/// Newton's second law over one step.
struct Force {
    /// −n h², in s².
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

/// The same with internal damping, τ/α ∇C (∇C·v).
struct DampedForce<'a, R: Real> {
    force: Force,
    sweep: &'a Sweep<'a, R>,
    /// τ, in s.
    damping: f64,
}

impl<E: Energy<N>, R: Real, const N: usize> Visit<E, R, N> for DampedForce<'_, R> {
    #[inline(always)]
    fn visit<S: Bundle<R>>(&self, rest: &E::Rest<S>, element: &mut Element<'_, S, N>) {
        let row = E::row(rest, &element.x);
        let gradient = E::gradient(rest, &element.x);
        let velocities: [Vec3<S>; N] = self.sweep.velocities(element);
        let compliance = row.compliance();
        let factor = S::select(compliance.greater(S::ZERO), S::from_f64(self.damping) / compliance, S::ZERO);
        let rate = row.along(&velocities) * factor;
        let square = S::from_f64(self.force.square);
        element.pull(|i| (gradient[i] + row.pull(i, rate)) * square);
    }
}
