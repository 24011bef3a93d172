//! Extended position-based dynamics with small steps.
//!
//! ```text
//! predict   v ← (v + h (g + f/m)) e^(−dh),  x ← x + h v
//! project   Δλ = (−C − α̃λ − γ ∇C·(x − xⁿ)) / ((1 + γ) Σ w‖∇C‖² + α̃),   x ← x + w ∇C Δλ,   λ ← λ + Δλ
//! update    v ← (x − xⁿ)/h
//! ```
//!
//! h substep [s], α̃ = α/h², λ the multiplier (force × h²), xⁿ the start of the substep; γ = τ/h with the time constant τ
//! [s] of internal damping (the paper's γ = α̃β̃/h = αβ/h with β = τ/α: damping proportional to stiffness).
//!
//! λ starts at zero in every substep and is accumulated over its iterations; without that the stiffness would grow with
//! the number of iterations. Many substeps of one iteration converge faster than one step of many iterations.
//!
//! The sweep is Gauss-Seidel, colour by colour. It converges to something near the implicit Euler step, not to it, once
//! gradients rotate within a step.
//!
//! `residual` in the report: the largest distance [m] that one more projection would move a vertex.
//!
//! [Macklin, Müller, Chentanez 2016, eq. 18 and 26], [Macklin et al. 2019, "Small Steps in Physics Simulation"].

use super::position_based::{Law, Plan, PositionBased, Sweep};
use super::{Context, PRECISION, Solver, SolverKind, StepError, StepReport, iterations, substeps};
use crate::energy::{Batch, Constraint, Energy, Multiplier, Term};
use crate::math::{Scalar, Vec3};
use crate::parallel::Worker;
use crate::parameter::Entry;
use crate::state::State;

/// The scene's `xpbd`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "xpbd",
        summary: "extended position-based dynamics with small steps: fast, stable, stiffness with a meaning",
        source: "Macklin, Müller, Chentanez 2016, XPBD; Macklin et al. 2019, Small Steps in Physics Simulation",
        parameters: &[substeps(20), iterations(1), PRECISION],
        one_of: &[],
    },
    build: |settings| match settings.choice("precision") {
        Some("f64") => Box::new(Xpbd::<f64>(PositionBased::new(Plan::read(settings)))),
        _ => Box::new(Xpbd::<f32>(PositionBased::new(Plan::read(settings)))),
    },
};

/// The solver, sweeping in the precision `S`.
struct Xpbd<S: Scalar>(PositionBased<S>);

impl<S: Scalar> Solver for Xpbd<S>
where
    dyn Term: Project<S>,
{
    fn name(&self) -> &'static str {
        KIND.entry.name
    }

    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        self.0.advance(context, state, dt, &Law {
            lanes: |term| Project::<S>::lanes(term),
            project: |term, worker, sweep| Project::<S>::project(term, worker, sweep),
            residual: |term, worker, sweep| Project::<S>::residual(term, worker, sweep),
        })
    }
}

/// The sweep XPBD asks of every term.
pub trait Project<S: Scalar> {
    /// Moves the particles towards satisfying each element, colour by colour; ends with the team at a barrier.
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, S>);
    /// The largest move [m] that another projection of an element of this worker's share would make.
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, S>) -> f64;
    /// Numbers that the multipliers of one element take.
    fn lanes(&self) -> usize;
}

/// The two numbers of a substep that a projection needs.
#[derive(Clone, Copy, Debug)]
pub struct Compliant<S> {
    /// 1/h² [1/s²].
    pub inverse_step_squared: S,
    /// γ = τ/h.
    pub damping: S,
}

/// Δλ of one constraint.
///
/// `w` inverse masses, `multiplier` λ so far, `moved` x − xⁿ of each vertex (looked at only where there is damping).
#[inline(always)]
pub fn multiplier_step<S: Scalar, C: Constraint<S, N>, const N: usize>(
    row: &C,
    w: &[S; N],
    multiplier: Option<C::Multiplier>,
    step: Compliant<S>,
    moved: impl FnOnce() -> [Vec3<S>; N],
) -> C::Multiplier {
    let compliance = row.compliance() * step.inverse_step_squared;
    let mut error = row.value();
    if let Some(multiplier) = multiplier {
        error = error + multiplier * compliance;
    }
    let mut inertia = row.inverse_inertia(w);
    if step.damping > S::ZERO {
        error = error + row.along(&moved()) * step.damping;
        inertia = inertia + inertia * step.damping;
    }
    let denominator = inertia + compliance;
    // Zero only if every vertex is held and the element rigid: nothing to move, and nothing may become NaN.
    let inverse = if denominator > S::ZERO { S::ONE / denominator } else { S::ZERO };
    -(error * inverse)
}

impl<E: Energy<N>, const N: usize> Project<f32> for Batch<E, N> {
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f32>) {
        project(self, self.rest_single(), worker, sweep);
    }
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f32>) -> f64 {
        residual(self, self.rest_single(), worker, sweep)
    }
    fn lanes(&self) -> usize {
        <E::Row<f32> as Constraint<f32, N>>::Multiplier::LANES
    }
}

impl<E: Energy<N>, const N: usize> Project<f64> for Batch<E, N> {
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f64>) {
        project(self, self.rest(), worker, sweep);
    }
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f64>) -> f64 {
        residual(self, self.rest(), worker, sweep)
    }
    fn lanes(&self) -> usize {
        <E::Row<f64> as Constraint<f64, N>>::Multiplier::LANES
    }
}

fn compliant<S: Scalar>(damping: f64, sweep: &Sweep<'_, S>) -> Compliant<S> {
    let h = sweep.step;
    Compliant { inverse_step_squared: S::from_f64(1.0 / (h * h)), damping: S::from_f64(damping / h) }
}

fn project<E: Energy<N>, S: Scalar, const N: usize>(
    batch: &Batch<E, N>,
    rest: &[E::Rest<S>],
    worker: &Worker<'_>,
    sweep: &Sweep<'_, S>,
) {
    let step = compliant(batch.damping(), sweep);
    for color in batch.colors() {
        for e in worker.share(color.clone()) {
            let stencil = batch.stencils()[e].map(|v| v as usize);
            let particles = stencil.map(|v| sweep.particles.get(v));
            let row = E::row(&rest[e], &particles.map(|p| p.position()));
            let w = particles.map(|p| p.inverse_mass);
            let moved = || sweep.moved(&stencil, &particles);
            let multiplier = sweep.load_multiplier(e);
            let change = multiplier_step(&row, &w, multiplier, step, moved);
            sweep.store_multiplier(e, multiplier.map_or(change, |sum| sum + change));
            for i in 0..N {
                sweep.particles.set(stencil[i], particles[i].moved(row.pull(i, change) * w[i]));
            }
        }
        worker.barrier();
    }
}

fn residual<E: Energy<N>, S: Scalar, const N: usize>(
    batch: &Batch<E, N>,
    rest: &[E::Rest<S>],
    worker: &Worker<'_>,
    sweep: &Sweep<'_, S>,
) -> f64 {
    let step = compliant(batch.damping(), sweep);
    let mut largest = S::ZERO;
    for e in worker.share(0..rest.len()) {
        let stencil = batch.stencils()[e].map(|v| v as usize);
        let particles = stencil.map(|v| sweep.particles.get(v));
        let row = E::row(&rest[e], &particles.map(|p| p.position()));
        let w = particles.map(|p| p.inverse_mass);
        let change = multiplier_step(&row, &w, sweep.load_multiplier(e), step, || sweep.moved(&stencil, &particles));
        for i in 0..N {
            largest = largest.max((row.pull(i, change) * w[i]).norm());
        }
    }
    largest.to_f64()
}
