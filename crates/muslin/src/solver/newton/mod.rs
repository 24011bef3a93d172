//! Implicit Euler (or BDF2) as an optimisation, solved by Newton's method.
//!
//! ```text
//! x⁺ = argmin φ(x),   φ(x) = ½ Σ m‖x − y‖²/η² + E(x) + D(x)        η = h, y = xⁿ + h v + h² w f   (implicit Euler)
//!
//! iterate    (M/η² + H) Δ = −∇φ(x),   x ← x + s Δ,   s = 1, ½, ¼, … until φ falls enough (Armijo)
//! update     v = (x⁺ − xⁿ)/h
//! ```
//!
//! The first iterate is xⁿ, so one iteration without a line search is the linearised step of Baraff and Witkin.
//!
//! BDF2 looks two steps back and damps far less: an oscillation of z = ωh ≪ 1 loses z⁴/2 of its energy a step instead of
//! z². (Implicit Euler multiplies amplitudes by λ = 1/(1 − iz), |λ|² = 1/(1 + z²); BDF2 by the larger root of
//! (3 − 2iz) λ² − 4λ + 1 = 0, ln λ = iz + iz³/3 − z⁴/4 + ….)
//!
//! ```text
//! η = 2h/3,   y = 4/3 xⁿ − 1/3 xⁿ⁻¹ + 8/9 h vⁿ − 2/9 h vⁿ⁻¹ + 4/9 h² w f,   v = (x⁺ − 4/3 xⁿ + 1/3 xⁿ⁻¹)/η
//! ```
//!
//! That takes a smooth motion. So a vertex makes a step of implicit Euler, with η = h, where there is none to look back on: in
//! the first step, after it was held by a pin, and after it touched a body; and the velocity of a vertex that touches
//! is (x⁺ − xⁿ)/h, for BDF2 would throw it back at up to half of the speed of an impact. Both kinds of damping are taken at
//! the first order, as everywhere.
//!
//! **Indefiniteness.** H = k [n nᵀ + (1 − ℓ₀/ℓ)(I − n nᵀ)] of a spring has negative eigenvalues under compression, and
//! M/η² + H may then be indefinite: Δ need not go downhill, and Cholesky fails. `indefiniteness` chooses what to do:
//!
//! - `clamp`: the negative eigenvalues of each element become zero (the default), except near the minimum, where the exact
//!   matrix is tried first: it is positive definite there unless the cloth is about to buckle, and converges quadratically;
//! - `drop`: only ∇C∇Cᵀ/α of each element, without the turning of ∇C;
//! - `choi_ko`: a compressed spring counts as one that has buckled;
//! - `plain`: nothing, and the run stops with a message where the matrix is not positive definite.
//!
//! All but the last make every Δ a direction of descent, so the step always ends; they agree where it converges.
//!
//! **Linear systems.** Sparse Cholesky with a symbolic analysis made once, or conjugate gradients with a block-diagonal
//! preconditioner. Which is faster depends on the stiffness (at 128 × 128 vertices and 1 kN/m they are level, stiffer cloth is
//! for Cholesky), so `auto` takes the first as long as its memory is modest.
//!
//! **Contact** is a stiff potential while the iterations run, with colliders (`collider_penalties.rs`) and with cloth and meshes (`pair_penalties.rs`); what depth is left is projected at the end.
//! Iterations start from xⁿ, where a vertex at rest only just touches: contact and its friction take some four of them, ten for free vertices
//! that fall on a sphere, and one alone is not enough where there are bodies.
//!
//! Friction needs the normal force of the end from the beginning: with one that is
//! a hundred times too large (that of the depth which a first step without contact reaches) vertices are thrown from one side of where they stick to the other,
//! and a step that ends on the way may have more energy than it began with. So the force is first guessed from y, and then
//! corrected by how far each vertex is from balance.
//!
//! The pairs, their normals and weights are found anew after every iteration, for where it ended. Between two iterations they are fixed, so each line search has one function to
//! lower; over all iterations there is none. Where cloth slaps on cloth the pairs may change to the last iteration: `residual` is then large, and the certificate holds what is left.
//!
//! **Rounding.** Near the minimum φ falls by less than rounding does to it. Within that, the line search looks at the slope
//! instead: the conditions are the same for a parabola [Hager, Zhang 2005, §2].
//!
//! `residual` in the report: the largest distance (in m) that the unbalanced force would move a vertex in one step, w η²‖∇φ‖.
//!
//! [Baraff, Witkin 1998], [Choi, Ko 2002], [Martin et al. 2011] for the optimisation, [Nocedal, Wright 2006, ch. 3].

mod system;

use crate::contact::kinematics::ColliderOverSubstep;
use crate::contact::response::collider_penalties::ColliderPenalties;
use crate::contact::response::pair_penalties::PairPenalties;
use crate::contact::response::penalty_potential::PenaltyForce;
use crate::energy::Treatment;
use crate::math::{Mat3, Vec3};
use crate::parallel::Shared;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::{typed, word};
use crate::solver::elastic::Instant;
use crate::solver::linear::BlockMatrix;
use crate::solver::newton::system::{LinearChoice, LinearSystem, LinearSystems};
use crate::solver::substep_loop::{Motion, Outcome, PairSearch, Scheme, Substep, SubstepLoop};
use crate::solver::{Context, Need, SUBSTEPS, SolverKind, StepError, count, iterations, paced};
use crate::state::{SolverMemory, State, StepBefore};

/// The scene's `newton`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "newton",
        summary: "implicit Euler or BDF2 by Newton's method: the reference, stiff cloth at large steps",
        source: "Baraff, Witkin 1998, Large Steps in Cloth Simulation; Choi, Ko 2002, Stable but Responsive Cloth",
        parameters: &[
            SUBSTEPS,
            iterations(10),
            Parameter {
                name: "tolerance",
                unit: "m",
                kind: Kind::Number { min: 0.0, max: f64::INFINITY },
                default: Some(Setting::Number(1e-6)),
                meaning: "iterations stop once one of them moves no vertex farther than this, or than a thousandth of its fall from rest in a substep",
            },
            Parameter {
                name: "integrator",
                unit: "",
                kind: Kind::Choice(&["implicit_euler", "bdf2"]),
                default: Some(Setting::Choice("implicit_euler")),
                meaning: "integration in time: of the first order and damping, or of the second with less",
            },
            Parameter {
                name: "indefiniteness",
                unit: "",
                kind: Kind::Choice(&["clamp", "drop", "choi_ko", "plain"]),
                default: Some(Setting::Choice("clamp")),
                meaning: "what is done about negative eigenvalues of an element's Hessian",
            },
            Parameter {
                name: "line_search",
                unit: "",
                kind: Kind::Choice(&["backtracking", "none"]),
                default: Some(Setting::Choice("backtracking")),
                meaning: "whether a step that raises the objective is halved; \"none\" with one iteration is Baraff and Witkin",
            },
            Parameter {
                name: "linear",
                unit: "",
                kind: Kind::Choice(&["auto", "cholesky", "cg"]),
                default: Some(Setting::Choice("auto")),
                meaning: "linear systems: sparse Cholesky, conjugate gradients, or the one that suits the size",
            },
            Parameter {
                name: "cg_tolerance",
                unit: "",
                kind: Kind::Number { min: 1e-12, max: 0.5 },
                default: Some(Setting::Number(1e-4)),
                meaning: "relative residual at which conjugate gradients stop",
            },
        ],
        one_of: &[],
    },
    build: |settings| {
        paced(settings, true, |substeps| Box::new(SubstepLoop::new(NewtonScheme::new(settings), substeps)))
    },
    reads_k: false,
    reads_damping: true,
    needs: Need::Potentials,
};

/// Settings of the scene's `newton`.
///
/// ```
/// use muslin::solver::Newton;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Newton { substeps: 2, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// Most iterations of a substep.
    pub iterations: u32,
    /// Iterations stop once one of them moves no vertex farther than this, in m, or than a thousandth of its fall from rest in a substep.
    pub tolerance: f64,
    /// Integration in time.
    pub integrator: Integrator,
    /// What is done about negative eigenvalues of an element's Hessian.
    pub indefiniteness: Indefiniteness,
    /// Whether a step that raises the objective is halved.
    pub line_search: LineSearch,
    /// How linear systems are solved.
    pub linear: LinearSolver,
    /// Relative residual at which conjugate gradients stop.
    pub cg_tolerance: f64,
}

typed!(Newton: SolverSettings, KIND, { substeps, iterations, tolerance, integrator, indefiniteness, line_search, linear, cg_tolerance });

/// Substeps of a frame at least, where the solver chooses them.
const FEWEST: u32 = 2;

/// How [`Newton`] integrates in time.
///
/// ```
/// use muslin::solver::{Integrator, Newton};
///
/// let solver = Newton { integrator: Integrator::Bdf2, ..Default::default() };
/// assert_ne!(solver.integrator, Newton::default().integrator);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Of the first order, and damping.
    ImplicitEuler,
    /// Of the second order, with less damping.
    Bdf2,
}

word!(Integrator { ImplicitEuler = "implicit_euler", Bdf2 = "bdf2" });

/// What [`Newton`] does about negative eigenvalues of an element's Hessian.
///
/// ```
/// use muslin::solver::{Indefiniteness, Newton};
///
/// let solver = Newton { indefiniteness: Indefiniteness::ChoiKo, ..Default::default() };
/// assert_eq!(Newton::default().indefiniteness, Indefiniteness::Clamp);
/// # let _ = solver;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indefiniteness {
    /// Sets them to zero.
    Clamp,
    /// Keeps the part that is a square.
    Drop,
    /// Lets compressed springs buckle, after Choi and Ko 2002.
    ChoiKo,
    /// Nothing.
    Plain,
}

word!(Indefiniteness { Clamp = "clamp", Drop = "drop", ChoiKo = "choi_ko", Plain = "plain" });

/// Whether [`Newton`] halves a step that raises the objective.
///
/// ```
/// use muslin::solver::{LineSearch, Newton};
///
/// let solver = Newton { line_search: LineSearch::None, ..Default::default() };
/// assert_eq!(Newton::default().line_search, LineSearch::Backtracking);
/// # let _ = solver;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSearch {
    /// It does.
    Backtracking,
    /// It does not; with one iteration this is Baraff and Witkin.
    None,
}

word!(LineSearch { Backtracking = "backtracking", None = "none" });

/// How [`Newton`] solves linear systems.
///
/// ```
/// use muslin::solver::{LinearSolver, Newton};
///
/// let solver = Newton { linear: LinearSolver::Cg, ..Default::default() };
/// assert_eq!(Newton::default().linear, LinearSolver::Auto);
/// # let _ = solver;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearSolver {
    /// As suits the size.
    Auto,
    /// Sparse Cholesky.
    Cholesky,
    /// Conjugate gradients.
    Cg,
}

word!(LinearSolver { Auto = "auto", Cholesky = "cholesky", Cg = "cg" });

/// The part of the expected descent that a step must reach.
const ARMIJO: f64 = 1e-4;

/// An iteration that moves no vertex farther than this, in m, is taken to be near the minimum.
const NEAR: f64 = 1e-3;

/// Part of g h² that an iteration may still move a vertex by where it stops.
const LEAST_PART: f64 = 1e-3;

/// Halvings after which a line search gives up: the step is then below rounding.
const HALVINGS: u32 = 40;

/// What rounding may do to φ, of itself: its terms are none negative, but a spring's is the square of a difference of lengths.
const BLUR: f64 = 1e-12;

/// Vertices whose energies are summed into one number.
const PIECE: usize = 512;

/// Newton's method and its memory.
struct NewtonScheme {
    iterations: u32,
    tolerance: f64,
    two_steps: bool,
    treatment: Treatment,
    searches: bool,
    systems: LinearSystems,
    gradient: Vec<Vec3<f64>>,
    direction: Vec<Vec3<f64>>,
    trial: Vec<Vec3<f64>>,
    /// m/η² of each vertex, in N/m; zero for a held one.
    inertias: Vec<f64>,
    /// Energies of all terms in pieces, and where each term begins; then those of the vertices.
    pieces: Vec<f64>,
    first_pieces: Vec<usize>,
    contact: ContactState,
    /// The normal forces that will be those of the colliders, in N.
    next_forces: Vec<Vec3<f64>>,
    /// All xⁿ⁻¹, then all vⁿ⁻¹; empty before the second step, and for implicit Euler.
    before: StepBefore,
    /// The vertices that make a step of implicit Euler next.
    restarts: Vec<bool>,
}

/// Contact with normal forces that are fixed while an iteration runs.
#[derive(Default)]
struct ContactState {
    /// Per vertex and collider: the normal force of the last iteration, in N.
    of_colliders: Vec<Vec3<f64>>,
    pairs: PairPenalties,
}

impl NewtonScheme {
    fn new(settings: &Settings) -> Self {
        Self {
            iterations: count(settings, "iterations"),
            tolerance: settings.number("tolerance").unwrap_or(0.0),
            two_steps: settings.choice("integrator") == Some("bdf2"),
            treatment: match settings.choice("indefiniteness") {
                Some("drop") => Treatment::Drop,
                Some("choi_ko") => Treatment::ChoiKo,
                Some("plain") => Treatment::Plain,
                _ => Treatment::Clamp,
            },
            searches: settings.choice("line_search") != Some("none"),
            systems: LinearSystems::new(
                match settings.choice("linear") {
                    Some("cholesky") => LinearChoice::Direct,
                    Some("cg") => LinearChoice::Iterative,
                    _ => LinearChoice::BySize,
                },
                settings.number("cg_tolerance").unwrap_or(1e-4),
            ),
            gradient: Vec::new(),
            direction: Vec::new(),
            trial: Vec::new(),
            inertias: Vec::new(),
            pieces: Vec::new(),
            first_pieces: Vec::new(),
            contact: ContactState::default(),
            next_forces: Vec::new(),
            before: StepBefore::default(),
            restarts: Vec::new(),
        }
    }

    /// Memory for a model, made once.
    fn set_up(&mut self, context: &Context<'_>, vertices: usize) {
        self.first_pieces.clear();
        let mut pieces = 0;
        for term in context.terms {
            self.first_pieces.push(pieces);
            pieces += term.piece_count();
        }
        self.first_pieces.push(pieces);
        self.pieces = vec![0.0; pieces + vertices.div_ceil(PIECE)];
        self.gradient = vec![Vec3::ZERO; vertices];
        self.direction = vec![Vec3::ZERO; vertices];
        self.trial = vec![Vec3::ZERO; vertices];
    }
}

/// The objective of one substep.
struct Objective<'a> {
    substep: &'a Substep<'a>,
    predicted: &'a [Vec3<f64>],
    previous: &'a [Vec3<f64>],
    inertias: &'a [f64],
    is_searched: bool,
}

impl Objective<'_> {
    fn at<'a>(&'a self, positions: &'a [Vec3<f64>]) -> Instant<'a> {
        Instant { positions, previous: self.previous, step: self.substep.step }
    }

    /// The contact of a vertex with each body that it touches.
    fn each_press(
        &self,
        vertex: usize,
        x: Vec3<f64>,
        normal_forces: &[Vec3<f64>],
        mut visit: impl FnMut(usize, PenaltyForce),
    ) {
        let from = self.previous[vertex];
        let collider_penalties = self.substep.collider_penalties(self.is_searched);
        collider_penalties.each_press(vertex, self.inertias[vertex], (x, from), |slot| normal_forces[slot], &mut visit);
    }

    /// φ(x), in J.
    fn value(&self, x: &[Vec3<f64>], pieces: &mut [f64], first_pieces: &[usize], contact: &ContactState) -> f64 {
        let Substep { context, .. } = *self.substep;
        let shared = Shared::open(context.team, pieces);
        context.team.run(context.threads, |worker| {
            for (term, &first) in context.terms.iter().zip(first_pieces) {
                term.values(worker, self.at(x), &shared, first);
            }
            let first = first_pieces[context.terms.len()];
            for piece in worker.share_pieces(shared.len() - first) {
                let mut sum = 0.0;
                for i in piece * PIECE..x.len().min((piece + 1) * PIECE) {
                    if self.inertias[i] > 0.0 {
                        sum += 0.5 * self.inertias[i] * (x[i] - self.predicted[i]).norm_squared();
                        self.each_press(i, x[i], &contact.of_colliders, |_, press| sum += press.value);
                    }
                }
                shared.set(first + piece, sum);
            }
        });
        pieces.iter().sum::<f64>() + contact.pairs.value(x)
    }

    /// ∇φ(x), in N; zero for held vertices.
    fn gradient(&self, x: &[Vec3<f64>], out: &mut [Vec3<f64>], contact: &ContactState) {
        let Substep { context, .. } = *self.substep;
        out.fill(Vec3::ZERO);
        let shared = Shared::open(context.team, out);
        context.team.run(context.threads, |worker| {
            for term in context.terms {
                term.add_gradient(worker, self.at(x), &shared);
            }
            for i in worker.share(0..x.len()) {
                let mut sum = Vec3::ZERO;
                if self.inertias[i] > 0.0 {
                    sum = shared.get(i) + (x[i] - self.predicted[i]) * self.inertias[i];
                    self.each_press(i, x[i], &contact.of_colliders, |_, press| sum += press.gradient);
                }
                shared.set(i, sum);
            }
        });
        contact.pairs.add_gradient(x, out);
    }

    /// M/η² + H(x), in N/m.
    fn hessian(&self, x: &[Vec3<f64>], treatment: Treatment, system: &mut LinearSystem, contact: &ContactState) {
        let LinearSystem { matrix, slots, .. } = system;
        let Substep { context, .. } = *self.substep;
        let (blocks, diagonal) = matrix.parts_mut();
        blocks.fill(Mat3::ZERO);
        // Elements of a colour share no vertex, hence no block, and a barrier stands after each colour; then each worker sets the
        // diagonal of the vertices of its own share.
        let shared = Shared::open(context.team, blocks);
        context.team.run(context.threads, |worker| {
            for (term, slots) in context.terms.iter().zip(&*slots) {
                term.add_stiffness(worker, self.at(x), treatment, slots, &shared);
            }
            for i in worker.share(0..x.len()) {
                let slot = diagonal[i] as usize;
                let mut sum = shared.get(slot) + Mat3::scalar(self.inertias[i]);
                self.each_press(i, x[i], &contact.of_colliders, |_, press| sum += press.hessian);
                shared.set(slot, sum);
            }
        });
        // The system covers the pairs.
        contact.pairs.each_block(x, |i, j, block| matrix.add(i, j, block));
        for i in (0..x.len()).filter(|i| self.inertias[*i] == 0.0) {
            matrix.hold(i);
        }
    }

    /// The normal forces at x, for the friction of the next iteration: those with which each vertex will be in balance if its neighbours
    /// stay, N = k d + k/A n·∇φ.
    ///
    /// k d alone is wrong where the iterations have not yet balanced it: a vertex that comes to y in the first of them is there as deep as
    /// if there were no contact, and k d is then a hundred times what it will be. A is the stiffness of the vertex along n.
    fn update_forces(
        &self,
        x: &[Vec3<f64>],
        (gradient, matrix): (&[Vec3<f64>], &BlockMatrix),
        old: &[Vec3<f64>],
        out: &mut [Vec3<f64>],
    ) {
        out.fill(Vec3::ZERO);
        let context = self.substep.context;
        // The slots of a vertex are its own.
        let shared = Shared::open(context.team, out);
        context.team.run(context.threads, |worker| {
            for i in worker.share(0..x.len()).filter(|i| self.inertias[*i] > 0.0) {
                self.each_press(i, x[i], old, |slot, press| {
                    let force = press.normal_force.norm();
                    if force > 0.0 {
                        let normal = press.normal_force * (1.0 / force);
                        let stiffness = ColliderPenalties::stiffness(self.inertias[i]);
                        let along =
                            normal.dot(matrix.diagonal_block(i).apply(normal)).max(stiffness + self.inertias[i]);
                        let balanced = force + stiffness / along * normal.dot(gradient[i]);
                        shared.set(slot, normal * balanced.max(0.0));
                    }
                });
            }
        });
    }

    /// Raises forces to what bodies would press with on vertices that came to y alone: from where a step begins,
    /// contact is not yet to be seen.
    fn guess_forces(&self, forces: &mut [Vec3<f64>]) {
        let collider_penalties = self.substep.collider_penalties(self.is_searched);
        for i in (0..self.predicted.len()).filter(|i| !collider_penalties.is_empty() && self.inertias[*i] > 0.0) {
            let ends = (self.predicted[i], self.previous[i]);
            collider_penalties.each_guess(i, self.inertias[i], ends, |slot, force| {
                if force.norm_squared() > forces[slot].norm_squared() {
                    forces[slot] = force;
                }
            });
        }
    }

    /// How far the change of normal forces from one iteration to the next could move a vertex by friction, in m.
    fn unsettled(&self, new: &[Vec3<f64>], old: &[Vec3<f64>]) -> f64 {
        let bodies = self.substep.colliders.len();
        let moves = new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old);
        moves.map(|(slot, (new, old))| (*new - *old).norm() / self.inertias[slot / bodies]).fold(0.0, f64::max)
    }

    /// w η²‖∇φ‖, in m: the largest. An error where it is not finite.
    fn residual(&self, gradient: &[Vec3<f64>]) -> Result<f64, StepError> {
        let mut largest = 0.0_f64;
        for (i, (g, &inertia)) in gradient.iter().zip(self.inertias).enumerate() {
            if !g.is_finite() {
                return Err(StepError::non_finite(self.substep.model, i));
            }
            if inertia > 0.0 {
                largest = largest.max(g.norm() / inertia);
            }
        }
        Ok(largest)
    }
}

impl Scheme for NewtonScheme {
    fn wanted_substeps(&mut self, _: &Context<'_>, _: &mut Motion, _: &State, _: f64) -> u32 {
        FEWEST
    }

    fn prepare(&mut self, context: &Context<'_>, motion: &Motion, _step: f64) -> Result<(), StepError> {
        let vertices = motion.positions.len();
        if self.gradient.len() != vertices || self.first_pieces.is_empty() {
            self.set_up(context, vertices);
        }
        self.systems.begin(context, vertices)?;
        for forces in [&mut self.contact.of_colliders, &mut self.next_forces] {
            forces.clear();
            forces.resize(vertices * context.model.colliders.len(), Vec3::ZERO);
        }
        Ok(())
    }

    fn step(
        &mut self,
        substep: &Substep<'_>,
        motion: &mut Motion,
        search: &mut PairSearch<'_>,
    ) -> Result<Outcome, StepError> {
        self.predict(&substep.model.masses, motion, substep.step);
        let inertias = std::mem::take(&mut self.inertias);
        let Motion { positions, previous, predicted, inverse_masses, .. } = motion;
        let objective = Objective { substep, predicted, previous, inertias: &inertias, is_searched: self.searches };
        self.contact.pairs.clear();
        search.replace(&mut self.contact.pairs, substep, (predicted, inverse_masses));
        self.contact.pairs.guess_forces(predicted);
        objective.guess_forces(&mut self.contact.of_colliders);
        let tolerance = self.tolerance_of(substep);
        let mut outcome = Outcome::default();
        let mut is_done = false;
        let mut tries_exact = self.treatment == Treatment::Clamp;
        let mut near = false;
        loop {
            objective.gradient(positions, &mut self.gradient, &self.contact);
            outcome.residual = objective.residual(&self.gradient)?;
            if outcome.iterations == self.iterations || is_done || outcome.residual == 0.0 {
                break;
            }
            tries_exact &= self.find_direction(&objective, positions, near && tries_exact, outcome.iterations)?;
            let reach = self.direction.iter().map(|d| d.norm()).fold(0.0, f64::max);
            let length = self.search(&objective, positions);
            outcome.iterations += 1;
            let moved = search.replace(&mut self.contact.pairs, substep, (positions, inverse_masses));
            let has_settled = self.update_forces(&objective, positions) <= tolerance && moved <= tolerance;
            // A step that had to be shortened says nothing about how near the minimum is; one of no length is below rounding.
            let is_solved = has_settled && length == 1.0 && reach <= tolerance;
            outcome.unsolved = (!is_solved && reach > self.tolerance).then_some(reach);
            is_done = is_solved || has_settled && length == 0.0;
            near = reach < NEAR;
        }
        self.inertias = inertias;
        self.set_velocities(substep, motion);
        Ok(outcome)
    }

    fn pair_work(&self, motion: &Motion) -> [f64; 2] {
        self.contact.pairs.work(&motion.positions)
    }

    fn end(&mut self, motion: &Motion) {
        if self.two_steps {
            self.before.positions.clone_from(&motion.previous);
            let velocity = |(v, &restarts): (&Vec3<f64>, &bool)| if restarts { StepBefore::NO_VELOCITY } else { *v };
            self.before.velocities.clear();
            self.before.velocities.extend(motion.start_velocities.iter().zip(&self.restarts).map(velocity));
        }
    }

    fn each_body_work(&self, substep: &Substep<'_>, motion: &Motion, visit: &mut dyn FnMut(usize, f64)) {
        let collider_penalties = substep.collider_penalties(self.searches);
        for (i, inertia) in self.inertias.iter().enumerate().filter(|(_, inertia)| **inertia > 0.0) {
            let ends = (motion.positions[i], motion.previous[i]);
            let normal_force = |slot: usize| self.contact.of_colliders[slot];
            collider_penalties.each_press(i, *inertia, ends, normal_force, |_, press| visit(i, press.work));
        }
    }

    fn remember(&self, memory: &mut SolverMemory) {
        if self.two_steps {
            memory.keep_step(&self.before);
        } else {
            *memory = SolverMemory::Nothing;
        }
    }

    fn recall(&mut self, memory: &SolverMemory) {
        match memory {
            SolverMemory::StepBefore(before) => self.before.clone_from(before),
            _ => self.before = StepBefore::default(),
        }
    }
}

impl NewtonScheme {
    /// xⁿ⁻¹ and vⁿ⁻¹ of a vertex, where there is a step to look back on.
    fn older(&self, vertex: usize, count: usize) -> Option<(Vec3<f64>, Vec3<f64>)> {
        let StepBefore { positions, velocities } = &self.before;
        if !self.two_steps || positions.len() != count || velocities.len() != count {
            return None;
        }
        let velocity = velocities[vertex];
        velocity.is_finite().then(|| (positions[vertex], velocity))
    }

    /// m/η² of every vertex; and y of BDF2 in the place of that of implicit Euler where there is a step to look back on.
    fn predict(&mut self, masses: &[f64], motion: &mut Motion, step: f64) {
        let count = masses.len();
        self.inertias.resize(count, 0.0);
        for i in 0..count {
            let older = self.older(i, count);
            let eta = if older.is_some() { step * (2.0 / 3.0) } else { step };
            let is_held = motion.inverse_masses[i] == 0.0;
            self.inertias[i] = if is_held { 0.0 } else { masses[i] / (eta * eta) };
            if let (Some((older, older_velocity)), false) = (older, is_held) {
                let (x, v) = (motion.previous[i], motion.start_velocities[i]);
                let pushed = motion.velocities[i] - v;
                // As a difference from xⁿ, which rounds less.
                motion.predicted[i] =
                    x + (x - older) * (1.0 / 3.0) + (v * 8.0 - older_velocity * 2.0 + pushed * 4.0) * (step / 9.0);
            }
        }
    }

    /// v of every vertex from its x, and which ones make a step of implicit Euler next.
    fn set_velocities(&mut self, substep: &Substep<'_>, motion: &mut Motion) {
        motion.set_velocities(substep.step);
        if !self.two_steps {
            return;
        }
        let count = motion.positions.len();
        let Self { restarts, contact, .. } = self;
        restarts.clear();
        restarts.resize(count, false);
        contact.pairs.each_pressed(&motion.positions, |vertex| restarts[vertex] = true);
        for i in 0..count {
            let (x, previous) = (motion.positions[i], motion.previous[i]);
            let touches = |collider: &ColliderOverSubstep| {
                collider.touch(x, || previous, substep.model.thickness, substep.step).is_some()
            };
            self.restarts[i] |= motion.inverse_masses[i] == 0.0 || substep.colliders.iter().any(touches);
            if let (Some((older, _)), false) = (self.older(i, count), self.restarts[i]) {
                motion.velocities[i] = ((x - previous) * 3.0 - (previous - older)) * (0.5 / substep.step);
            }
        }
    }

    /// Where iterations stop, in m. In short steps weight itself moves a vertex by less than the setting, and what begins to slip would never be seen to.
    fn tolerance_of(&self, substep: &Substep<'_>) -> f64 {
        let fallen = substep.model.gravity.norm() * substep.step * substep.step;
        if fallen > 0.0 { self.tolerance.min(LEAST_PART * fallen) } else { self.tolerance }
    }

    /// The forces for the next iteration. Returns how far the change could move a vertex by friction, in m.
    fn update_forces(&mut self, objective: &Objective<'_>, positions: &[Vec3<f64>]) -> f64 {
        let Self { gradient, systems, contact, next_forces, .. } = self;
        let Some(matrix) = systems.last_matrix() else { return 0.0 };
        if objective.substep.colliders.is_empty() && contact.pairs.is_empty() {
            return 0.0;
        }
        objective.gradient(positions, gradient, contact);
        objective.update_forces(positions, (gradient, matrix), &contact.of_colliders, next_forces);
        std::mem::swap(&mut contact.of_colliders, next_forces);
        let change = objective.unsettled(&contact.of_colliders, next_forces);
        change.max(contact.pairs.update_forces(positions, gradient, |i| matrix.diagonal_block(i)))
    }

    /// The direction of the next iteration, from the exact Hessian if that is asked for and positive definite, and otherwise
    /// from the treated one. Returns whether the exact one may be tried again.
    fn find_direction(
        &mut self,
        objective: &Objective<'_>,
        positions: &[Vec3<f64>],
        exact: bool,
        iterations: u32,
    ) -> Result<bool, StepError> {
        let treatments = if exact { &[Treatment::Plain, self.treatment][..] } else { &[self.treatment] };
        let context = objective.substep.context;
        let system = self.systems.covering(context, &self.contact.pairs)?;
        for &treatment in treatments {
            objective.hessian(positions, treatment, system, &self.contact);
            for (d, g) in self.direction.iter_mut().zip(&self.gradient) {
                *d = -*g;
            }
            if system.solve(context, &mut self.direction) {
                return Ok(!exact || treatment == Treatment::Plain);
            }
        }
        Err(match self.treatment {
            Treatment::Plain => StepError::Indefinite { time: objective.substep.time, iterations },
            // Positive definite in exact numbers: these are too large or too far apart.
            _ => StepError::NotDefinite,
        })
    }

    /// Moves along the direction as far as the objective falls. Returns the part of it that was gone; zero if it falls nowhere.
    ///
    /// The gradient is lost.
    fn search(&mut self, objective: &Objective<'_>, positions: &mut [Vec3<f64>]) -> f64 {
        let Self { trial, direction, gradient, pieces, first_pieces, contact, .. } = self;
        if !self.searches {
            positions.iter_mut().zip(direction).for_each(|(x, d)| *x += *d);
            return 1.0;
        }
        let along = |gradient: &[Vec3<f64>]| gradient.iter().zip(&*direction).map(|(g, d)| g.dot(*d)).sum::<f64>();
        let slope = along(gradient);
        let start = objective.value(positions, pieces, first_pieces, contact);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            for ((t, x), d) in trial.iter_mut().zip(&*positions).zip(&*direction) {
                *t = *x + *d * length;
            }
            let value = objective.value(trial, pieces, first_pieces, contact);
            let mut falls = value <= start + ARMIJO * length * slope;
            if !falls && value <= start + BLUR * start.abs() {
                objective.gradient(trial, gradient, contact);
                falls = along(gradient) <= (2.0 * ARMIJO - 1.0) * slope;
            }
            if falls {
                positions.copy_from_slice(trial);
                return length;
            }
            length *= 0.5;
        }
        0.0
    }
}
