//! Position-based dynamics.
//!
//! ```text
//! predict   v ← (v + h (g + f/m)) e^(−dh),  x ← x + h v
//! project   s = C / Σ w‖∇C‖²,   x ← x − k′ w ∇C s
//! update    v ← (x − xⁿ)/h
//! ```
//!
//! k ∈ [0, 1] is the part of the error that *one substep* removes, whatever the number n of iterations:
//! k′ = 1 − (1 − k)^(1/n). It still depends on the substep (more of them are stiffer), which is what XPBD mends.
//!
//! A scene may also give a physical stiffness or a compliance α. An isolated compliant constraint that starts at rest
//! keeps the part α̃/(Σ w‖∇C‖² + α̃) of its error in a substep, α̃ = α/h², so that
//!
//! ```text
//! k = Σ w‖∇C‖² / (Σ w‖∇C‖² + α/h²)
//! ```
//!
//! makes PBD agree with XPBD for one constraint; in a mesh, where constraints pull on each other, it is only near.
//!
//! `residual` in the report: the largest distance [m] that one more projection would move a vertex. With k < 1 it does
//! not tend to zero in a loaded cloth: PBD has no equilibrium to converge to, only a number of iterations.
//!
//! [Müller et al. 2007, §3.3].

use super::position_based::{Law, Plan, PositionBased, Sweep};
use super::{Context, PRECISION, Solver, SolverKind, StepError, StepReport, iterations, substeps};
use crate::energy::{Batch, Constraint, Energy, Term};
use crate::math::Scalar;
use crate::parallel::Worker;
use crate::parameter::Entry;
use crate::state::State;

/// The scene's `pbd`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "pbd",
        summary: "position-based dynamics: the classic, its stiffness k depends on the time step",
        source: "Müller, Heidelberger, Hennix, Ratcliff 2007, Position Based Dynamics",
        parameters: &[substeps(1), iterations(20), PRECISION],
        one_of: &[],
    },
    build: |settings| match settings.choice("precision") {
        Some("f64") => Box::new(Pbd::<f64>(PositionBased::new(Plan::read(settings)))),
        _ => Box::new(Pbd::<f32>(PositionBased::new(Plan::read(settings)))),
    },
};

/// The solver, sweeping in the precision `S`.
struct Pbd<S: Scalar>(PositionBased<S>);

impl<S: Scalar> Solver for Pbd<S>
where
    dyn Term: Project<S>,
{
    fn name(&self) -> &'static str {
        KIND.entry.name
    }

    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        self.0.advance(context, state, dt, &Law {
            lanes: |_| 0,
            project: |term, worker, sweep| Project::<S>::project(term, worker, sweep),
            residual: |term, worker, sweep| Project::<S>::residual(term, worker, sweep),
        })
    }
}

/// The sweep PBD asks of every term.
pub trait Project<S: Scalar> {
    /// Moves the particles towards satisfying each element, colour by colour; ends with the team at a barrier.
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, S>);
    /// The largest move [m] that another projection of an element of this worker's share would make.
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, S>) -> f64;
}

/// k′ = 1 − (1 − k)^(1/n): applied n times, it removes the part k.
pub fn stiffness_per_iteration(k: f64, iterations: u32) -> f64 {
    if iterations == 1 { k } else { 1.0 - libm::pow(1.0 - k, 1.0 / f64::from(iterations)) }
}

/// How stiff the elements of a batch are in one projection.
#[derive(Clone, Copy)]
enum Stiffness<S> {
    /// The same k′ for all.
    Projection(S),
    /// From each element's compliance: 1/h² and the number of iterations.
    Compliant(S, u32),
}

impl<S: Scalar> Stiffness<S> {
    fn new(projection: Option<f64>, sweep: &Sweep<'_, S>) -> Self {
        match projection {
            Some(k) => Self::Projection(S::from_f64(stiffness_per_iteration(k, sweep.iterations))),
            None => Self::Compliant(S::from_f64(1.0 / (sweep.step * sweep.step)), sweep.iterations),
        }
    }

    /// k′ of one element; `inertia` is its Σ w‖∇C‖² > 0.
    #[inline(always)]
    fn of(self, compliance: S, inertia: S) -> S {
        match self {
            Self::Projection(k) => k,
            Self::Compliant(inverse_step_squared, iterations) => {
                let k = inertia / (inertia + compliance * inverse_step_squared);
                if iterations == 1 || compliance == S::ZERO {
                    k
                } else {
                    S::from_f64(stiffness_per_iteration(k.to_f64(), iterations))
                }
            }
        }
    }
}

/// The multiplier −k′ C / Σ w‖∇C‖² of one projection.
#[inline(always)]
pub fn correction<S: Scalar, C: Constraint<S, N>, const N: usize>(
    row: &C,
    w: &[S; N],
    stiffness: impl FnOnce(S) -> S,
) -> C::Multiplier {
    let inertia = row.inverse_inertia(w);
    // Zero if every vertex is held, or where the constraint has no gradient: nothing to do then.
    if inertia > S::ZERO { -(row.value() * (stiffness(inertia) / inertia)) } else { row.value() * S::ZERO }
}

impl<E: Energy<N>, const N: usize> Project<f32> for Batch<E, N> {
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f32>) {
        project(self, self.rest_single(), worker, sweep);
    }
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f32>) -> f64 {
        residual(self, self.rest_single(), worker, sweep)
    }
}

impl<E: Energy<N>, const N: usize> Project<f64> for Batch<E, N> {
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f64>) {
        project(self, self.rest(), worker, sweep);
    }
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, f64>) -> f64 {
        residual(self, self.rest(), worker, sweep)
    }
}

fn project<E: Energy<N>, S: Scalar, const N: usize>(
    batch: &Batch<E, N>,
    rest: &[E::Rest<S>],
    worker: &Worker<'_>,
    sweep: &Sweep<'_, S>,
) {
    let stiffness = Stiffness::new(batch.projection(), sweep);
    for color in batch.colors() {
        for e in worker.share(color.clone()) {
            let stencil = batch.stencils()[e].map(|v| v as usize);
            let particles = stencil.map(|v| sweep.particles.get(v));
            let row = E::row(&rest[e], &particles.map(|p| p.position()));
            let w = particles.map(|p| p.inverse_mass);
            let change = correction(&row, &w, |inertia| stiffness.of(row.compliance(), inertia));
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
    let stiffness = Stiffness::new(batch.projection(), sweep);
    let mut largest = S::ZERO;
    for e in worker.share(0..rest.len()) {
        let particles = batch.stencils()[e].map(|v| sweep.particles.get(v as usize));
        let row = E::row(&rest[e], &particles.map(|p| p.position()));
        let w = particles.map(|p| p.inverse_mass);
        let change = correction(&row, &w, |inertia| stiffness.of(row.compliance(), inertia));
        for i in 0..N {
            largest = largest.max((row.pull(i, change) * w[i]).norm());
        }
    }
    largest.to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_does_not_depend_on_the_number_of_iterations() {
        for k in [0.0, 0.1, 0.9, 1.0] {
            for n in [1, 2, 5, 50] {
                let left = libm::pow(1.0 - stiffness_per_iteration(k, n), f64::from(n));
                assert!((left - (1.0 - k)).abs() < 1e-13, "k = {k}, n = {n}: {left} is left");
            }
        }
    }
}
