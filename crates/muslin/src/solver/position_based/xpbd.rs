//! Extended position-based dynamics (XPBD) with small steps: the law of one projection. The loop is in [`position_based`].
//!
//! ```text
//! predict   v ← (v + h f/m) e^(−dh) + h g,  x ← x + h v
//! project   Δλ = (−C − α̃λ − γ ∇C·(x − xⁿ)) / ((1 + γ) Σ w‖∇C‖² + α̃),   x ← x + w ∇C Δλ,   λ ← λ + Δλ
//! update    v ← (x − xⁿ)/h
//! ```
//!
//! h substep (in s), α̃ = α/h², λ the multiplier (force × h²), xⁿ the start of the substep; γ = τ/h with the time constant τ
//! of internal damping (the paper's γ = α̃β̃/h = αβ/h with β = τ/α: damping proportional to stiffness).
//!
//! λ starts at zero in every substep and is accumulated over its iterations; without that the stiffness would grow with
//! the number of iterations. Many substeps of one iteration converge faster than one step of many iterations.
//!
//! The sweep is Gauss-Seidel, colour by colour. It converges to something near the implicit Euler step, not to it, once
//! gradients rotate within a step.
//!
//! **Strong damping** acts in a substep as a stiffness of (τ/h) k beside k, and one sweep solves neither exactly. Later substeps correct the elastic error. They do not
//! correct the error of damping: it has become strain, which damping then preserves for about the time τ. With τ = 1000 s a sheet that swings from one edge is stretched
//! by 80 % after a second of 40 substeps a frame (`newton`: 2 %). This is a limit of the method; the scene warns from τ = 1 s on.
//!
//! `residual` in the report: the largest distance (in m) that one more projection would move a vertex.
//!
//! [Macklin, Müller, Chentanez 2016, eq. 18 and 26], [Macklin et al. 2019, "Small Steps in Physics Simulation"].

use crate::energy::{Batch, Constraint, Energy, Multiplier, WideRest};
use crate::math::{Real, Scalar, Vec3};
use crate::parallel::Worker;
use crate::parameter::Entry;
use crate::settings::typed;
use crate::solver::position_based;
use crate::solver::position_based::ProjectionLaw;
use crate::solver::position_based::particle::{Bundle, Bundled};
use crate::solver::position_based::settings::{LONG_RANGE, MAX_STRAIN};
use crate::solver::position_based::sweep::{Element, Measure, Sweep, Visit};
use crate::solver::{Need, PRECISION, Precision, SUBSTEPS, SolverKind, Term, iterations};

/// The scene's `xpbd`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "xpbd",
        summary: "extended position-based dynamics with small steps: fast, stable, stiffness with a meaning",
        source: "Macklin, Müller, Chentanez 2016, XPBD; Macklin et al. 2019, Small Steps in Physics Simulation",
        parameters: &[SUBSTEPS, iterations(1), PRECISION, LONG_RANGE, MAX_STRAIN],
        one_of: &[],
    },
    build: position_based::build::<XpbdLaw>,
    reads_k: false,
    reads_damping: true,
    needs: Need::Constraints,
};

/// Settings of the scene's `xpbd`.
///
/// ```
/// use muslin::solver::Xpbd;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Xpbd { substeps: 30, long_range: true, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Xpbd {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// Sweeps over the constraints in a substep.
    pub iterations: u32,
    /// Numbers of the sweeps.
    pub precision: Precision,
    /// Whether long-range constraints and tethers hold distant vertices of flat-cut cloth together.
    pub long_range: bool,
    /// Strain, either way, that edges are pushed back to; `None` = no limit.
    pub max_strain: Option<f64>,
}

typed!(Xpbd: SolverSettings, KIND, { substeps, iterations, precision, long_range, max_strain });

/// The law of XPBD.
pub(crate) struct XpbdLaw;

impl<R: Real> ProjectionLaw<R> for XpbdLaw
where
    dyn Term: Project<R>,
{
    const FOLLOWS_ENERGIES: bool = true;
    const FEWEST: u32 = 20;

    fn multiplier_parts(term: &(dyn Term + 'static)) -> usize {
        Project::<R>::multiplier_parts(term)
    }

    fn project(term: &(dyn Term + 'static), worker: &Worker<'_>, sweep: &Sweep<'_, R>) {
        Project::<R>::project(term, worker, sweep);
    }

    fn residual(term: &(dyn Term + 'static), worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64 {
        Project::<R>::residual(term, worker, sweep)
    }
}

/// The sweep XPBD asks of every term.
pub(crate) trait Project<R: Real> {
    /// Moves the particles towards satisfying each element, colour by colour; ends with the team at a barrier.
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>);
    /// The largest move (in m) that another projection of an element of this worker's share would make.
    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64;
    /// Numbers that the multiplier of one element takes to store.
    fn multiplier_parts(&self) -> usize;
}

/// What a projection needs of its substep.
///
/// ```
/// use muslin::energy::Row;
/// use muslin::math::Vec3;
/// use muslin::solver::xpbd::{Compliant, multiplier_step};
///
/// // One vertex of 1 kg, 0.1 m off, with α̃ = 1: Δλ = −C/(w + α̃).
/// let row = Row { value: 0.1, gradient: [Vec3::new(0.0, 1.0, 0.0)], compliance: 0.01 };
/// let step = Compliant { inverse_step_squared: 100.0, damping: 0.0 };
/// assert_eq!(multiplier_step(&row, &[1.0], None, step, || [Vec3::ZERO]), -0.05);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Compliant {
    /// 1/h², in 1/s².
    pub inverse_step_squared: f64,
    /// γ = τ/h.
    pub damping: f64,
}

/// Δλ of one constraint.
///
/// `w` inverse masses, `multiplier` λ so far, `moved` x − xⁿ of each vertex (looked at only where there is damping).
#[inline(always)]
pub fn multiplier_step<S: Scalar, C: Constraint<S, N>, const N: usize>(
    row: &C,
    w: &[S; N],
    multiplier: Option<C::Multiplier>,
    step: Compliant,
    moved: impl FnOnce() -> [Vec3<S>; N],
) -> C::Multiplier {
    let compliance = row.compliance() * S::from_f64(step.inverse_step_squared);
    let mut error = row.value();
    if let Some(multiplier) = multiplier {
        error = error + multiplier * compliance;
    }
    let damping = S::from_f64(step.damping);
    if step.damping > 0.0 {
        error = error + row.along(&moved()) * damping;
    }
    row.resolve(
        w,
        error,
        S::ONE + damping,
        #[inline(always)]
        |mut inertia: S| {
            if step.damping > 0.0 {
                inertia = inertia + inertia * damping;
            }
            let denominator = inertia + compliance;
            // Zero only if every vertex is held and the element rigid: nothing to move, and nothing may become NaN.
            S::select(denominator.greater(S::ZERO), S::ONE / denominator, S::ZERO)
        },
    )
}

impl<E: Energy<N>, R: Bundled, const N: usize> Project<R> for Batch<E, N>
where
    Self: WideRest<R::Wide, E, N> + WideRest<R::Widest, E, N>,
{
    fn project(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) {
        let projection = CompliantProjection::new(self, sweep);
        // Two loops, because the choice inside one costs a fifth of its speed.
        if projection.step.damping > 0.0 || sweep.keeps_multipliers() {
            sweep.visit(self, worker, projection);
        } else {
            sweep.visit(self, worker, PlainProjection { inverse_step_squared: projection.step.inverse_step_squared });
        }
    }

    fn residual(&self, worker: &Worker<'_>, sweep: &Sweep<'_, R>) -> f64 {
        sweep.largest(self, worker, CompliantProjection::new(self, sweep))
    }

    fn multiplier_parts(&self) -> usize {
        <E::Row<R> as Constraint<R, N>>::Multiplier::PARTS
    }
}

/// The projection of a first iteration without damping, whose λ nobody asks for: most of the work of small steps.
struct PlainProjection {
    /// 1/h², in 1/s².
    inverse_step_squared: f64,
}

impl<E: Energy<N>, R: Real, const N: usize> Visit<E, R, N> for PlainProjection {
    #[inline(always)]
    fn visit<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N] {
        let step = Compliant { inverse_step_squared: self.inverse_step_squared, damping: 0.0 };
        let change = multiplier_step(row, &element.w, None, step, || [Vec3::ZERO; N]);
        element.moves(
            #[inline(always)]
            |i, w| row.shift(i, change, w),
        )
    }
}

/// The projection of this solver.
struct CompliantProjection<'a, R: Real> {
    sweep: &'a Sweep<'a, R>,
    step: Compliant,
}

impl<'a, R: Real> CompliantProjection<'a, R> {
    fn new<E: Energy<N>, const N: usize>(batch: &Batch<E, N>, sweep: &'a Sweep<'a, R>) -> Self {
        let h = sweep.step;
        Self { sweep, step: Compliant { inverse_step_squared: 1.0 / (h * h), damping: batch.damping() / h } }
    }
}

impl<E: Energy<N>, R: Real, const N: usize> Visit<E, R, N> for CompliantProjection<'_, R> {
    #[inline(always)]
    fn visit<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> [Vec3<S>; N] {
        let multiplier = self.sweep.load_multiplier::<S, _>(element.index);
        let change = multiplier_step(row, &element.w, multiplier, self.step, || element.moved());
        self.sweep.store_multiplier(element.index, multiplier.map_or(change, |sum| sum + change));
        element.moves(
            #[inline(always)]
            |i, w| row.shift(i, change, w),
        )
    }
}

impl<E: Energy<N>, R: Real, const N: usize> Measure<E, R, N> for CompliantProjection<'_, R> {
    #[inline(always)]
    fn measure<S: Bundle<R>>(&self, row: &E::Row<S>, element: &Element<'_, R, S, N>) -> S {
        let multiplier = self.sweep.load_multiplier::<S, _>(element.index);
        let change = multiplier_step(row, &element.w, multiplier, self.step, || element.moved());
        element.largest_move(|i, w| row.shift(i, change, w))
    }
}
