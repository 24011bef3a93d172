//! Projective dynamics: local projections, and one global system that never changes.
//!
//! ```text
//! y = xⁿ + h v + h² M⁻¹f                      start of the iterations: x = y
//! local     p = the point that costs nothing, nearest to K x        of every element, with ψ = ½ s ‖K x − p‖²
//! global    x ← x − A⁻¹ ∇Φ(x),   ∇Φ = M (x − y)/h² + Σ s Kᵀ(K x − p),   A = M/h² + Σ (1 + τ/h) s KᵀK
//! v = (x − xⁿ)/h
//! ```
//!
//! which is the solution of A x = M y/h² + Σ s Kᵀp of the paper, written as a correction: then rounding and the accuracy of the factor
//! do not matter to where it ends, held vertices are rows whose correction is zero, and Σ s Kᵀ(K x − p) is the gradient of the energy (p is the
//! nearest point, so its own change costs nothing), which `Elastic` has already. A is one number per pair of
//! vertices, shared by x, y and z, and factorised once; again only when a pin lets go or the step changes.
//!
//! **It never goes up.** Φ is bounded above by its value with the p of the last local step, which touches it there and of which the global
//! step is the minimum. Internal damping D = τ/(2hα)‖∇C(xⁿ)·(x − xⁿ)‖² fits in: ∇C∇Cᵀ ≼ `KᵀK` for these models, so τ/h more of the same
//! stiffness in A bounds it too. What it converges to is the implicit Euler step, damping included.
//!
//! **How fast.** Near the solution an error is multiplied in each iteration by I − A⁻¹H, H the true Hessian of Φ. Along an edge A is H; across an
//! unstretched one H has nothing while A has the whole stiffness. A wave of wavenumber q across a sheet of stiffness Y and density ρ thus keeps
//!
//! ```text
//! r = (3/2) Y q² / (ρ/h² + (3/2) Y q²)        of its error in each iteration
//! ```
//!
//! (Σ kₑℓₑ² cos² over the edges is 3/2 Y per area; tested). With Y = 1000 N/m, ρ = 0.2 kg/m², h = 1/60 s and waves of a metre,
//! r is 0.988: ten iterations remove a tenth of the error, and the cloth moves as if it were stiff across.
//!
//! **So stiff cloth in large steps swings and falls too slowly**, as in every solver that stops early; it does not blow up, and it looks calm, which hides it.
//! The remedy is a smaller step rather than more iterations: 1 − r grows as 1/h² (0.45 of the error stays at h = 1/600 s).
//! Chebyshev's acceleration [Wang 2015] is not offered: it needs r, which contact and slack change, and gives up that Φ never goes up.
//!
//! Strong damping makes r worse, with (1 + τ/h) Y in the place of Y, and what is left of it stays as strain for the time τ: with τ = 1000 s a sheet that swings
//! is stretched by 23 % with 4 substeps a frame and 3 % with 40 (`newton`: 2 %). The scene warns from τ = 1 s on.
//!
//! **Contact.** A vertex that a global step leaves inside a body is moved out, and the move is added to its y: an impulse, without which the next
//! global step would pull the vertex and its neighbours back in. In each iteration the impulse is found anew from where the vertex would be
//! without it, so it shrinks and vanishes when the vertex leaves, and friction is bounded by all of the normal impulse (the projected multiplier method,
//! with the inertia m/h² for the step of the multiplier: the largest that is safe for cloth that moves as a whole). The distance is kept exactly; the force
//! that keeps it converges with the iterations.
//!
//! For `spring`, for `shape_matching`, whose regions bring unknowns of their own into A (`crates/muslin/src/energy/stretch/shape_matching.rs`), and for the bending models
//! `projective` and, with a stiffness B, `isometric`. `residual` in the report: the largest move of a vertex in the last iteration, in m.
//!
//! [Bouaziz et al. 2014], [Liu, Bouaziz, Kavan 2017] for the view as a descent.

use crate::contact::response::collider_projection;
use crate::energy::stretch::cluster::Fit;
use crate::energy::stretch::shape_matching::Matching;
use crate::energy::{Batch, Energy};
use crate::math::Vec3;
use crate::model::Model;
use crate::parallel::{Shared, Worker};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;
use crate::solver::linear::ScalarCholesky;
use crate::solver::substep_loop::{Motion, Outcome, PairSearch, Scheme, Substep, SubstepLoop};
use crate::solver::{Context, Instant, Need, SUBSTEPS, SolverKind, StepError, count, iterations, paced};
use crate::state::State;

/// The scene's `projective`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "projective",
        summary: "projective dynamics: one matrix, factorised once; robust in large steps, slow across stiff cloth",
        source: "Bouaziz et al. 2014, Projective Dynamics; Liu, Bouaziz, Kavan 2017, Quasi-Newton Methods",
        parameters: &[SUBSTEPS, iterations(10)],
        one_of: &[],
    },
    build: |settings| {
        paced(settings, true, |substeps| Box::new(SubstepLoop::new(ProjectiveScheme::new(settings), substeps)))
    },
    reads_k: false,
    reads_damping: true,
    needs: Need::Projections,
};

/// Settings of the scene's `projective`.
///
/// ```
/// use muslin::energy::bend::isometric::Isometric;
/// use muslin::solver::Projective;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Projective { substeps: 4, ..Default::default() };
/// let cloth = Cloth::grid([1.0, 1.0], [2, 2]).bend(Isometric::default());
/// let mut simulation = Simulation::builder().solver(solver).cloth(cloth).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projective {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// Local and global steps of a substep.
    pub iterations: u32,
}

typed!(Projective: SolverSettings, KIND, { substeps, iterations });

/// Substeps of a frame at least, where the solver chooses them.
const FEWEST: u32 = 4;

/// Is told the vertices of an element, its weights and its stiffness.
pub(crate) type Visit<'a> = dyn FnMut(&[u32], &[f64], f64) + 'a;

/// What projective dynamics asks of every term.
///
/// The local step is [`Elastic::add_gradient`](crate::solver::Elastic::add_gradient): s Kᵀ(K x − p) is the gradient, as the conformance suite checks.
pub(crate) trait LocalStep {
    /// Whether every element is a distance to a projection.
    fn is_projective(&self) -> bool;
    /// The vertices of every element, its weights K and its stiffness in A, (1 + τ/h) s, for a step of h seconds.
    fn each_pull(&self, step: f64, visit: &mut Visit<'_>);
}

impl<E: Energy<N>, const N: usize> LocalStep for Batch<E, N> {
    fn is_projective(&self) -> bool {
        self.rest().iter().all(|rest| E::pull(rest).is_some())
    }

    fn each_pull(&self, step: f64, visit: &mut Visit<'_>) {
        let stiffer = 1.0 + self.damping() / step;
        for (stencil, rest) in self.stencils().iter().zip(self.rest()) {
            if let Some(pull) = E::pull(rest) {
                visit(stencil, &pull.weights, stiffer * pull.stiffness);
            }
        }
    }
}

/// The scheme.
struct ProjectiveScheme {
    iterations: u32,
    system: Option<System>,
    /// −∇Φ before a global step, in N, and the correction after it, in m: of the vertices, then of the unknowns of regions.
    correction: Vec<Vec3<f64>>,
    /// Where the regions are.
    fits: Vec<Fit>,
    /// How far contact has moved each y, in m.
    pushes: Vec<Vec3<f64>>,
    /// What moving bodies do on each vertex by that in a substep, in J.
    works: Vec<f64>,
    /// xⁿ as contact has lifted it, in m.
    lifted: Vec<Vec3<f64>>,
}

/// A with what it was factorised for.
struct System {
    matrix: ScalarCholesky,
    step: f64,
    held: Vec<bool>,
}

impl System {
    /// The pattern of A, without numbers yet.
    fn new(context: &Context<'_>) -> Option<Self> {
        let model = context.model;
        let mut pairs = Vec::new();
        for term in context.terms {
            term.each_pull(1.0, &mut |stencil, _, _| {
                for (a, &i) in stencil.iter().enumerate() {
                    pairs.extend(stencil[..a].iter().map(|&j| [i, j]));
                }
            });
        }
        each_region_entry(model, |i, j, _| {
            if i != j {
                pairs.push([i, j]);
            }
        });
        let matrix = ScalarCholesky::new(unknown_count(model), pairs)?;
        Some(Self { matrix, step: f64::NAN, held: vec![false; model.masses.len()] })
    }

    /// Factorises A for a step and a set of held vertices, if that is not what it is for already.
    fn fit(&mut self, context: &Context<'_>, inverse_masses: &[f64], step: f64) -> Result<(), StepError> {
        let model = context.model;
        let is_held = |w: &f64| *w == 0.0;
        if self.step == step && self.held.iter().copied().eq(inverse_masses.iter().map(is_held)) {
            return Ok(());
        }
        self.held.iter_mut().zip(inverse_masses).for_each(|(held, w)| *held = is_held(w));
        self.matrix.clear();
        let (matrix, held) = (&mut self.matrix, &self.held);
        for (i, &m) in (0_u32..).zip(&model.masses) {
            // A vertex without mass is held, and has a row of its own whatever number is in it.
            matrix.add(i, i, if m > 0.0 { m / (step * step) } else { 1.0 });
        }
        for term in context.terms {
            term.each_pull(step, &mut |stencil, weights, stiffness| {
                for (a, &i) in stencil.iter().enumerate() {
                    matrix.add(i, i, stiffness * weights[a] * weights[a]);
                    for (b, &j) in stencil.iter().enumerate().take(a) {
                        if !held[i as usize] && !held[j as usize] {
                            matrix.add(i, j, stiffness * weights[a] * weights[b]);
                        }
                    }
                }
            });
        }
        each_region_entry(model, |i, j, number| {
            let is_held = |i: u32| held.get(i as usize).is_some_and(|held| *held);
            if i == j || !(is_held(i) || is_held(j)) {
                matrix.add(i, j, number);
            }
        });
        // Not valid until the factor is.
        self.step = f64::NAN;
        if !self.matrix.factorize() {
            return Err(StepError::NotDefinite);
        }
        self.step = step;
        Ok(())
    }
}

/// Adds the pull of every region to its vertices; `fits` is scratch, one for each.
fn add_pulls(worker: &Worker<'_>, model: &Model, x: &[Vec3<f64>], fits: &Shared<'_, Fit>, sum: &Shared<'_, Vec3<f64>>) {
    let mut first = 0;
    for matching in &model.matchings {
        for cluster in worker.share_pieces(matching.len()) {
            fits.set(first + cluster, matching.fit(cluster, x));
        }
        worker.barrier();
        for i in worker.share(matching.vertices()) {
            let pull = matching.gradient(i, x[i], |cluster| fits.get(first + cluster));
            sum.set(i, sum.get(i) + pull);
        }
        worker.barrier();
        first += matching.len();
    }
}

/// Vertices, and the unknowns of regions.
fn unknown_count(model: &Model) -> usize {
    model.masses.len() + model.matchings.iter().map(Matching::unknown_count).sum::<usize>()
}

/// What the regions add to A: row, column, number.
fn each_region_entry(model: &Model, mut visit: impl FnMut(u32, u32, f64)) {
    let mut first = model.masses.len();
    for matching in &model.matchings {
        matching.each_entry(first as u32, &mut visit);
        first += matching.unknown_count();
    }
}

impl ProjectiveScheme {
    fn new(settings: &Settings) -> Self {
        Self {
            iterations: count(settings, "iterations"),
            system: None,
            correction: Vec::new(),
            fits: Vec::new(),
            pushes: Vec::new(),
            works: Vec::new(),
            lifted: Vec::new(),
        }
    }

    /// −∇Φ at x, zero for held vertices.
    fn descend(&mut self, context: &Context<'_>, motion: &Motion, step: f64) {
        let model = context.model;
        let at = Instant { positions: &motion.positions, previous: &motion.previous, step };
        let sum = Shared::open(context.team, &mut self.correction);
        // Each fit is set by the worker that has its region, and got after a barrier.
        let fits = Shared::open(context.team, &mut self.fits);
        let pushes = &self.pushes;
        context.team.run(context.threads, |worker| {
            let all = 0..model.masses.len();
            for i in worker.share(all.clone()) {
                let inertia = model.masses[i] / (step * step);
                sum.set(i, (motion.positions[i] - motion.predicted[i] - pushes[i]) * inertia);
            }
            worker.barrier();
            for term in context.terms {
                term.add_gradient(worker, at, &sum);
            }
            add_pulls(worker, model, at.positions, &fits, &sum);
            for i in worker.share(all.clone()) {
                let is_held = motion.inverse_masses[i] == 0.0;
                sum.set(i, if is_held { Vec3::ZERO } else { -sum.get(i) });
            }
            // The unknowns of regions are the best for x already.
            for i in worker.share(all.end..sum.len()) {
                sum.set(i, Vec3::ZERO);
            }
        });
    }

    /// Vertices out of the bodies, and what that takes as a push of y.
    fn collide(&mut self, substep: &Substep<'_>, motion: &mut Motion) {
        let thickness = substep.model.thickness;
        for i in 0..motion.positions.len() {
            if motion.inverse_masses[i] == 0.0 {
                continue;
            }
            let (x, previous) = (motion.positions[i], motion.previous[i]);
            let free = x - self.pushes[i];
            let (mut pushed, mut lifted) = (free, previous);
            let (mut is_inside, mut work) = (false, 0.0);
            for collider in substep.colliders {
                if let Some(touch) = collider.touch(pushed, || previous, thickness, substep.step) {
                    let before = pushed;
                    (pushed, lifted) = collider_projection::project(&touch, pushed, previous);
                    let change = (pushed - before) - (lifted - previous);
                    work += substep.model.masses[i] * change.dot(touch.surface_step) / (substep.step * substep.step);
                    is_inside |= collider.touch(x, || previous, thickness, substep.step).is_some();
                }
            }
            self.pushes[i] = pushed - free;
            self.works[i] = work;
            self.lifted[i] = lifted;
            // Where the elastic forces alone keep a vertex out, they know better than the projection where it is.
            if is_inside {
                motion.positions[i] = pushed;
            }
        }
    }
}

impl Scheme for ProjectiveScheme {
    fn wanted_substeps(&mut self, _: &Context<'_>, _: &mut Motion, _: &State, _: f64) -> u32 {
        FEWEST
    }

    fn each_body_work(&self, _: &Substep<'_>, _: &Motion, visit: &mut dyn FnMut(usize, f64)) {
        self.works.iter().enumerate().for_each(|(i, work)| visit(i, *work));
    }

    fn prepare(&mut self, context: &Context<'_>, motion: &Motion, step: f64) -> Result<(), StepError> {
        let model = context.model;
        let count = model.masses.len();
        if self.system.is_none() {
            self.system = System::new(context);
        }
        self.correction.resize(unknown_count(model), Vec3::ZERO);
        self.fits.resize(model.matchings.iter().map(Matching::len).sum(), Fit::default());
        for vectors in [&mut self.pushes, &mut self.lifted] {
            vectors.resize(count, Vec3::ZERO);
        }
        self.works.resize(count, 0.0);
        let system = self.system.as_mut().ok_or(StepError::NotDefinite)?;
        system.fit(context, &motion.inverse_masses, step)
    }

    fn step(
        &mut self,
        substep: &Substep<'_>,
        motion: &mut Motion,
        _: &mut PairSearch<'_>,
    ) -> Result<Outcome, StepError> {
        let system = self.system.as_mut().ok_or(StepError::NotDefinite)?;
        system.fit(substep.context, &motion.inverse_masses, substep.step)?;
        motion.positions.copy_from_slice(&motion.predicted);
        self.pushes.fill(Vec3::ZERO);
        self.works.fill(0.0);
        self.lifted.copy_from_slice(&motion.previous);
        let mut largest: f64 = 0.0;
        for _ in 0..self.iterations {
            self.descend(substep.context, motion, substep.step);
            let system = self.system.as_mut().ok_or(StepError::NotDefinite)?;
            system.matrix.solve(&mut self.correction);
            largest = 0.0;
            for (x, d) in motion.positions.iter_mut().zip(&self.correction) {
                *x += *d;
                largest = largest.max(d.norm_squared());
            }
            if !substep.colliders.is_empty() {
                self.collide(substep, motion);
            }
        }
        if !substep.colliders.is_empty() {
            motion.previous.copy_from_slice(&self.lifted);
        }
        motion.set_velocities(substep.step);
        Ok(Outcome { iterations: self.iterations, residual: largest.sqrt(), ..Outcome::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Team;
    use crate::scene::parse;
    use crate::setup;
    use crate::setup::Compiled;
    use crate::solver::NoClock;

    fn compiled(text: &str) -> Compiled {
        let scene = parse(text, &[]).scene.unwrap();
        setup::compile(&scene, &mut |_| Err(String::new())).unwrap()
    }

    /// The error of a wave across a flat sheet that is left by one iteration.
    fn left_by_one_iteration(cells: u32, wavelengths: f64, step: f64) -> f64 {
        let text = format!(
            "solver.kind = \"projective\"\n[[cloth]]\ngrid = {{ size = [1, 0.5], cells = [{cells}, {}] }}\n\
             material = {{ density = 0.2, stretch = {{ stiffness = 1000 }}, bend = {{ model = \"none\" }} }}",
            cells / 2
        );
        let Compiled { model, terms, .. } = compiled(&text);
        let flat = model.initial_positions.clone();
        let wave = |x: &Vec3<f64>| libm::cos(wavelengths * std::f64::consts::TAU * (x.x + 0.5));
        // Small enough for the square of the slope not to count.
        let amplitude = 1e-7;
        let mut motion = Motion::default();
        motion.positions = flat.iter().map(|x| *x + Vec3::new(0.0, amplitude * wave(x), 0.0)).collect();
        motion.previous.clone_from(&flat);
        motion.predicted.clone_from(&flat);
        motion.inverse_masses.clone_from(&model.inverse_masses);
        let context = Context { model: &model, terms: &terms, team: &Team::solo(), threads: 1, clock: &NoClock };
        let mut scheme = ProjectiveScheme::new(&Settings::default());
        scheme.prepare(&context, &motion, step).unwrap();
        scheme.descend(&context, &motion, step);
        scheme.system.as_mut().unwrap().matrix.solve(&mut scheme.correction);
        motion.positions.iter_mut().zip(&scheme.correction).for_each(|(x, d)| *x += *d);
        let along = |f: &dyn Fn(usize) -> f64| -> f64 {
            flat.iter().enumerate().map(|(i, x)| model.masses[i] * wave(x) * f(i)).sum()
        };
        along(&|i| motion.positions[i].y) / along(&|i| amplitude * wave(&flat[i]))
    }

    /// The over-stiffness across the cloth that the file's header warns of.
    #[test]
    fn a_wave_across_the_sheet_keeps_the_part_of_its_error_that_the_formula_says() {
        for (wavelengths, step) in [(1.0, 1.0 / 60.0), (1.0, 1.0 / 600.0), (2.0, 1.0 / 600.0), (0.5, 1.0 / 60.0)] {
            let q = wavelengths * std::f64::consts::TAU;
            let (stiff, inertia) = (1.5 * 1000.0 * q * q, 0.2 / (step * step));
            let expected = stiff / (inertia + stiff);
            let measured = left_by_one_iteration(64, wavelengths, step);
            // 1 − r, the part that is removed: a wave on 64 cells is off by (q/64)²/12, a thousandth, and a little by its ends.
            let error = ((1.0 - measured) / (1.0 - expected) - 1.0).abs();
            assert!(error < 0.01, "{wavelengths} waves, h = {step}: {measured}, expected {expected}");
        }
    }

    #[test]
    fn a_factor_is_kept_until_a_pin_or_the_step_changes() {
        let Compiled { model, terms, .. } =
            compiled("solver.kind = \"projective\"\n[[cloth]]\ngrid = { size = [1, 1], cells = [6, 6] }");
        let context = Context { model: &model, terms: &terms, team: &Team::solo(), threads: 1, clock: &NoClock };
        let mut system = System::new(&context).unwrap();
        let mut masses = model.inverse_masses.clone();
        system.fit(&context, &masses, 0.01).unwrap();
        // Spoilt, so that only a new factorisation can make it solve again.
        let solve = |system: &mut System| {
            let mut right = vec![Vec3::new(1.0, 2.0, 3.0); model.masses.len()];
            system.matrix.solve(&mut right);
            right
        };
        let (first, _) = (solve(&mut system), system.matrix.clear());
        system.fit(&context, &masses, 0.01).unwrap();
        assert_eq!(solve(&mut system), first, "the factor is still there");
        masses[3] = 0.0;
        system.fit(&context, &masses, 0.01).unwrap();
        let held = solve(&mut system);
        assert_ne!(held, first, "a vertex is held");
        masses[3] = model.inverse_masses[3];
        system.fit(&context, &masses, 0.01).unwrap();
        assert_eq!(solve(&mut system), first, "and let go");
        system.fit(&context, &masses, 0.02).unwrap();
        assert_ne!(solve(&mut system), first, "another step");
    }
}
