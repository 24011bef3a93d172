//! Position-based dynamics (PBD): the law of one projection. The loop is in [`position_based`].
//!
//! ```text
//! predict   v ← (v + h f/m) e^(−dh) + h g,  x ← x + h v
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
//! `residual` in the report: the largest distance (in m) that one more projection would move a vertex. With k < 1 it does
//! not tend to zero in a loaded cloth: PBD has no equilibrium to converge to, only a number of iterations.
//!
//! [Müller et al. 2007, §3.3].

use crate::energy::{Batch, Constraint, Energy, WideRest};
use crate::math::{Real, Scalar, Vec3};
use crate::parallel::Worker;
use crate::parameter::Entry;
use crate::settings::typed;
use crate::solver::position_based;
use crate::solver::position_based::ProjectionLaw;
use crate::solver::position_based::particle::{Bundle, Bundled};
use crate::solver::position_based::sweep::{Element, Measure, Sweep, Visit};
use crate::solver::{Need, PRECISION, Precision, SUBSTEPS, SolverKind, Term, iterations};

/// The scene's `pbd`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "pbd",
        summary: "position-based dynamics: the classic, its stiffness k depends on the time step",
        source: "Müller, Heidelberger, Hennix, Ratcliff 2007, Position Based Dynamics",
        parameters: &[SUBSTEPS, iterations(2), PRECISION],
        one_of: &[],
    },
    build: position_based::build::<PbdLaw>,
    reads_k: true,
    reads_damping: false,
    needs: Need::Constraints,
};

/// Settings of the scene's `pbd`.
///
/// ```
/// use muslin::solver::Pbd;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Pbd { substeps: 4, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pbd {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// Sweeps over the constraints in a substep.
    pub iterations: u32,
    /// Numbers of the sweeps.
    pub precision: Precision,
}

typed!(Pbd: SolverSettings, KIND, { substeps, iterations, precision });

/// The law of PBD, which has no multipliers.
pub(crate) struct PbdLaw;

impl<R: Real> ProjectionLaw<R> for PbdLaw
where
    dyn Term: Project<R>,
{
    const FOLLOWS_ENERGIES: bool = false;
    const FEWEST: u32 = 10;

    fn multiplier_parts(_term: &(dyn Term + 'static)) -> usize {
        0
    }

    fn project(term: &(dyn Term + 'static), worker: &Worker<'_>, sweep: &Sweep<'_, R>) {
        Project::<R>::project(term, worker, sweep);
    }

    fn residual(term: &(dyn Term + 'static), worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64 {
        Project::<R>::residual(term, worker, sweep)
    }
}

/// The sweep PBD asks of every term.
pub(crate) trait Project<R: Real> {
    /// Moves the particles towards satisfying each element, colour by colour; ends with the team at a barrier.
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>);
    /// The largest move (in m) that another projection of an element of this worker's share would make.
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64;
}

/// k′ = 1 − (1 − k)^(1/n): applied n times, it removes the part k.
pub fn stiffness_per_iteration(k: f64, iterations: u32) -> f64 {
    if iterations == 1 { k } else { 1.0 - libm::pow(1.0 - k, 1.0 / f64::from(iterations)) }
}

/// The same for k of each lane: a root of a power of two, as is usual, by square roots, which are much faster.
#[inline(always)]
fn per_iteration<R: Real, S: Bundle<R>>(k: S, iterations: u32) -> S {
    if !iterations.is_power_of_two() {
        return k.map_lanes(|k| stiffness_per_iteration(k, iterations));
    }
    let mut left = S::ONE - k;
    for _ in 0..iterations.trailing_zeros() {
        left = left.sqrt();
    }
    S::ONE - left
}

/// The multiplier −k′ C / Σ w‖∇C‖² of one projection; `stiffness` gives k′ for Σ w‖∇C‖².
#[inline(always)]
pub fn correction<S: Scalar, C: Constraint<S, N>, const N: usize>(
    row: &C,
    w: &[S; N],
    stiffness: impl Fn(S) -> S,
) -> C::Multiplier {
    // Zero if every vertex is held, or where the constraint has no gradient: nothing to do then.
    row.resolve(
        w,
        row.value(),
        S::ONE,
        #[inline(always)]
        |inertia: S| S::select(inertia.greater(S::ZERO), stiffness(inertia) / inertia, S::ZERO),
    )
}

/// The projection of this solver.
#[derive(Clone, Copy)]
enum StiffnessProjection {
    /// The same k′ for all elements.
    Projection(f64),
    /// From each element's compliance.
    Compliant {
        /// 1/h², in 1/s².
        inverse_step_squared: f64,
        iterations: u32,
    },
}

impl StiffnessProjection {
    fn new<E: Energy<N>, R: Real, const N: usize>(batch: &Batch<E, N>, sweep: &Sweep<'_, R>) -> Self {
        match batch.projection() {
            Some(k) => Self::Projection(stiffness_per_iteration(k, sweep.iterations)),
            None => {
                Self::Compliant { inverse_step_squared: 1.0 / (sweep.step * sweep.step), iterations: sweep.iterations }
            }
        }
    }

    #[inline(always)]
    fn correction<R: Real, S: Bundle<R>, C: Constraint<S, N>, const N: usize>(
        self,
        row: &C,
        w: &[S; N],
    ) -> C::Multiplier {
        correction(
            row,
            w,
            #[inline(always)]
            |inertia: S| match self {
                Self::Projection(k) => S::from_f64(k),
                Self::Compliant { inverse_step_squared, iterations } => {
                    let k = inertia / (inertia + row.compliance() * S::from_f64(inverse_step_squared));
                    per_iteration::<R, S>(k, iterations)
                }
            },
        )
    }
}

impl<E: Energy<N>, R: Real, const N: usize> Visit<E, R, N> for StiffnessProjection {
    #[inline(always)]
    fn visit<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N] {
        let change = self.correction::<R, S, _, N>(row, &element.w);
        element.moves(
            #[inline(always)]
            |i, w| row.shift(i, change, w),
        )
    }
}

impl<E: Energy<N>, R: Real, const N: usize> Measure<E, R, N> for StiffnessProjection {
    #[inline(always)]
    fn measure<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> S {
        let change = self.correction::<R, S, _, N>(row, &element.w);
        element.largest_move(|i, w| row.shift(i, change, w))
    }
}

impl<E: Energy<N>, R: Bundled, const N: usize> Project<R> for Batch<E, N>
where
    Self: WideRest<R::Wide, E, N> + WideRest<R::Widest, E, N>,
{
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) {
        sweep.visit(self, worker, StiffnessProjection::new(self, sweep));
    }

    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64 {
        sweep.largest(self, worker, StiffnessProjection::new(self, sweep))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_a_root_agree() {
        for k in [0.0, 1e-6, 0.3, 1.0] {
            for n in [1, 2, 4, 16] {
                let (fast, general) = (per_iteration::<f64, f64>(k, n), stiffness_per_iteration(k, n));
                assert!((fast - general).abs() < 1e-15, "k = {k}, n = {n}: {fast} and {general}");
            }
        }
    }

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
