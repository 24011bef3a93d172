//! Implicit Euler (or BDF2) as an optimisation, solved by Newton-Raphson.
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
//! BDF2 looks two steps back and damps far less (an oscillation of ωh ≪ 1 loses (ωh)⁴/4·… instead of (ωh)² of its energy a step):
//!
//! ```text
//! η = 2h/3,   y = 4/3 xⁿ − 1/3 xⁿ⁻¹ + 8/9 h vⁿ − 2/9 h vⁿ⁻¹ + 4/9 h² w f,   v = (x⁺ − 4/3 xⁿ + 1/3 xⁿ⁻¹)/η
//! ```
//!
//! Its first step is implicit Euler.
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
//! preconditioner; `auto` takes the first up to a number of vertices where memory and time cross.
//!
//! Contact is a stiff potential while the iterations run ([`contact::Cushion`]); what depth is left is projected at the end.
//!
//! `residual` in the report: the largest distance (in m) that the unbalanced force would move a vertex in one step, w η²‖∇φ‖.
//!
//! [Baraff, Witkin 1998], [Choi, Ko 2002], [Martin et al. 2011] for the optimisation, [Nocedal, Wright 2006, ch. 3].
#![allow(unsafe_code, reason = "opens the vectors of a sweep to the team")]

use super::elastic::Instant;
use super::linear::{BlockMatrix, Cholesky, ConjugateGradients, FactorError};
use super::stepped::{Motion, Outcome, Scheme, Stepped, Substep};
use super::{Context, Need, SolverKind, StepError, iterations, substeps};
use crate::energy::Treatment;
use crate::energy::contact::{self, Cushion};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::parallel::Shared;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};

/// The scene's `newton`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "newton",
        summary: "implicit Euler or BDF2 by Newton's method: the reference, stiff cloth at large steps",
        source: "Baraff, Witkin 1998, Large Steps in Cloth Simulation; Choi, Ko 2002, Stable but Responsive Cloth",
        parameters: &[
            substeps(2),
            iterations(10),
            Parameter {
                name: "tolerance",
                unit: "m",
                kind: Kind::Number { min: 0.0, max: f64::INFINITY },
                default: Some(Setting::Number(1e-5)),
                meaning: "iterations stop once one of them moves no vertex farther than this",
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
        let substeps = settings.integer("substeps").and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
        Box::new(Stepped::new(Newton::new(settings), substeps))
    },
    reads_k: false,
    reads_damping: true,
    needs: Need::Potentials,
};

/// Above this many vertices `auto` takes conjugate gradients: the factor of a sheet grows as n log n, its time as n^1.5.
const CHOLESKY_LIMIT: usize = 40_000;

/// Conjugate gradients that have not converged after this many iterations are taken as they are.
const CG_LIMIT: u32 = 5_000;

/// The part of the expected descent that a step must reach.
const ARMIJO: f64 = 1e-4;

/// An iteration that moves no vertex farther than this, in m, is taken to be near the minimum.
const NEAR: f64 = 1e-3;

/// Halvings after which a line search gives up: the step is then below rounding.
const HALVINGS: u32 = 40;

/// Stiffness of contact as a multiple of m/η²: a vertex at rest sinks in by g η²/100, a fraction of a usual thickness.
const CONTACT_STIFFNESS: f64 = 100.0;

/// Speed below which friction counts as sticking, in m/s.
const STICKING_SPEED: f64 = 1e-4;

/// How the systems are solved.
enum Linear {
    Direct(Box<Cholesky>),
    Iterative(ConjugateGradients),
}

/// Newton's method and its memory.
struct Newton {
    iterations: u32,
    tolerance: f64,
    two_steps: bool,
    treatment: Treatment,
    searches: bool,
    linear_choice: &'static str,
    cg_tolerance: f64,
    linear: Option<Linear>,
    matrix: BlockMatrix,
    /// For each term, the blocks of each element.
    slots: Vec<Vec<u32>>,
    gradient: Vec<Vec3<f64>>,
    direction: Vec<Vec3<f64>>,
    trial: Vec<Vec3<f64>>,
    /// Energies of all terms in pieces, and where each term begins.
    pieces: Vec<f64>,
    first_pieces: Vec<usize>,
    /// Per vertex and body: the normal force of the last iteration, in N.
    normal_forces: Vec<f64>,
    next_forces: Vec<f64>,
    /// xⁿ⁻¹ and vⁿ⁻¹, one after the other; empty before the second step.
    history: Vec<Vec3<f64>>,
}

impl Newton {
    fn new(settings: &Settings) -> Self {
        Self {
            iterations: settings.integer("iterations").and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1),
            tolerance: settings.number("tolerance").unwrap_or(0.0),
            two_steps: settings.choice("integrator") == Some("bdf2"),
            treatment: match settings.choice("indefiniteness") {
                Some("drop") => Treatment::Drop,
                Some("choi_ko") => Treatment::ChoiKo,
                Some("plain") => Treatment::Plain,
                _ => Treatment::Clamp,
            },
            searches: settings.choice("line_search") != Some("none"),
            linear_choice: settings.choice("linear").unwrap_or("auto"),
            cg_tolerance: settings.number("cg_tolerance").unwrap_or(1e-4),
            linear: None,
            matrix: BlockMatrix::default(),
            slots: Vec::new(),
            gradient: Vec::new(),
            direction: Vec::new(),
            trial: Vec::new(),
            pieces: Vec::new(),
            first_pieces: Vec::new(),
            normal_forces: Vec::new(),
            next_forces: Vec::new(),
            history: Vec::new(),
        }
    }

    /// Pattern, slots and memory for a model, made once.
    fn set_up(&mut self, model: &Model, vertices: usize) -> Result<(), StepError> {
        self.matrix = BlockMatrix::new(vertices, |visit| model.terms.iter().for_each(|term| term.each_stencil(visit)));
        let matrix = &self.matrix;
        self.slots.clear();
        self.first_pieces.clear();
        let mut pieces = 0;
        for term in &model.terms {
            let mut slots = Vec::new();
            term.each_stencil(&mut |stencil| {
                let pairs = stencil.iter().flat_map(|&i| stencil.iter().map(move |&j| (i, j)));
                slots.extend(pairs.map(|(i, j)| matrix.slot(i, j).unwrap_or(u32::MAX)));
            });
            self.slots.push(slots);
            self.first_pieces.push(pieces);
            pieces += term.piece_count();
        }
        self.pieces = vec![0.0; pieces];
        self.gradient = vec![Vec3::ZERO; vertices];
        self.direction = vec![Vec3::ZERO; vertices];
        self.trial = vec![Vec3::ZERO; vertices];
        let direct = match self.linear_choice {
            "cholesky" => true,
            "cg" => false,
            _ => vertices <= CHOLESKY_LIMIT,
        };
        self.linear = Some(if direct {
            let cholesky = Cholesky::new(&self.matrix).map_err(|_| StepError::Memory { vertices })?;
            Linear::Direct(Box::new(cholesky))
        } else {
            Linear::Iterative(ConjugateGradients::default())
        });
        Ok(())
    }
}

/// The objective of one substep.
struct Objective<'a> {
    substep: &'a Substep<'a>,
    predicted: &'a [Vec3<f64>],
    previous: &'a [Vec3<f64>],
    inverse_masses: &'a [f64],
    /// η, in s.
    inertia_step: f64,
}

impl Objective<'_> {
    fn at<'a>(&'a self, positions: &'a [Vec3<f64>]) -> Instant<'a> {
        Instant { positions, previous: self.previous, step: self.substep.step }
    }

    /// m/η², in N/m; zero for a held vertex.
    fn inertia(&self, vertex: usize) -> f64 {
        if self.inverse_masses[vertex] == 0.0 {
            return 0.0;
        }
        self.substep.model.masses[vertex] / (self.inertia_step * self.inertia_step)
    }

    /// The contact of a vertex with each body that it touches.
    fn each_press(
        &self,
        vertex: usize,
        x: Vec3<f64>,
        normal_forces: &[f64],
        mut visit: impl FnMut(usize, contact::Press),
    ) {
        let Substep { obstacles, model, step, .. } = *self.substep;
        for (body, obstacle) in obstacles.iter().enumerate() {
            let previous = self.previous[vertex];
            if let Some(touch) = obstacle.touch(x, || previous, model.thickness, step) {
                let slot = vertex * obstacles.len() + body;
                let cushion = Cushion {
                    stiffness: CONTACT_STIFFNESS * self.inertia(vertex),
                    normal_force: normal_forces[slot],
                    smooth_slip: STICKING_SPEED * step,
                };
                visit(slot, cushion.press(&touch, x, previous));
            }
        }
    }

    /// φ(x), in J.
    fn value(&self, x: &[Vec3<f64>], pieces: &mut [f64], first_pieces: &[usize], normal_forces: &[f64]) -> f64 {
        let Substep { context, model, obstacles, .. } = *self.substep;
        // SAFETY: each worker sets only the pieces of its own share.
        let shared = unsafe { Shared::new(pieces) };
        context.team.run(context.threads, |worker| {
            for (term, &first) in model.terms.iter().zip(first_pieces) {
                term.values(worker, self.at(x), &shared, first);
            }
        });
        let elastic: f64 = pieces.iter().sum();
        let mut sum = elastic;
        for (i, (x, y)) in x.iter().zip(self.predicted).enumerate() {
            let inertia = self.inertia(i);
            if inertia > 0.0 {
                sum += 0.5 * inertia * (*x - *y).norm_squared();
                if !obstacles.is_empty() {
                    self.each_press(i, *x, normal_forces, |_, press| sum += press.value);
                }
            }
        }
        sum
    }

    /// ∇φ(x), in N; zero for held vertices.
    fn gradient(&self, x: &[Vec3<f64>], out: &mut [Vec3<f64>], normal_forces: &[f64]) {
        let Substep { context, model, obstacles, .. } = *self.substep;
        out.fill(Vec3::ZERO);
        // SAFETY: elements of a colour share no vertex, and a barrier stands after each colour.
        let shared = unsafe { Shared::new(out) };
        context.team.run(context.threads, |worker| {
            for term in &model.terms {
                term.add_gradient(worker, self.at(x), &shared);
            }
        });
        for (i, g) in out.iter_mut().enumerate() {
            let inertia = self.inertia(i);
            if inertia == 0.0 {
                *g = Vec3::ZERO;
                continue;
            }
            *g += (x[i] - self.predicted[i]) * inertia;
            if !obstacles.is_empty() {
                self.each_press(i, x[i], normal_forces, |_, press| *g += press.gradient);
            }
        }
    }

    /// M/η² + H(x), in N/m.
    fn hessian(
        &self,
        x: &[Vec3<f64>],
        treatment: Treatment,
        slots: &[Vec<u32>],
        matrix: &mut BlockMatrix,
        normal_forces: &[f64],
    ) {
        let Substep { context, model, obstacles, .. } = *self.substep;
        matrix.blocks_mut().fill(Mat3::ZERO);
        // SAFETY: elements of a colour share no vertex, hence no block, and a barrier stands after each colour.
        let shared = unsafe { Shared::new(matrix.blocks_mut()) };
        context.team.run(context.threads, |worker| {
            for (term, slots) in model.terms.iter().zip(slots) {
                term.add_stiffness(worker, self.at(x), treatment, slots, &shared);
            }
        });
        for (i, x) in x.iter().enumerate() {
            let inertia = self.inertia(i);
            if inertia == 0.0 {
                matrix.hold(i);
                continue;
            }
            let mut sum = Mat3::scalar(inertia);
            if !obstacles.is_empty() {
                self.each_press(i, *x, normal_forces, |_, press| sum += press.hessian);
            }
            let slot = matrix.diagonal_slot(i);
            matrix.blocks_mut()[slot] += sum;
        }
    }

    /// w η²‖∇φ‖, in m: the largest.
    fn residual(&self, gradient: &[Vec3<f64>]) -> f64 {
        let square = self.inertia_step * self.inertia_step;
        gradient.iter().zip(self.inverse_masses).map(|(g, w)| g.norm() * w * square).fold(0.0, f64::max)
    }
}

impl Scheme for Newton {
    fn prepare(&mut self, context: &Context<'_>, motion: &Motion, _step: f64) -> Result<(), StepError> {
        let vertices = motion.positions.len();
        if self.linear.is_none() || self.gradient.len() != vertices {
            self.set_up(context.model, vertices)?;
        }
        self.normal_forces.clear();
        self.normal_forces.resize(vertices * context.model.colliders.len(), 0.0);
        Ok(())
    }

    fn step(&mut self, substep: &Substep<'_>, motion: &mut Motion) -> Result<Outcome, StepError> {
        let step = substep.step;
        let inertia_step = self.predict(motion, step);
        let Motion { positions, velocities, start_velocities, previous, predicted, inverse_masses, .. } = motion;
        let objective = Objective { substep, predicted, previous, inverse_masses, inertia_step };
        let mut outcome = Outcome::default();
        let mut is_done = false;
        let mut tries_exact = self.treatment == Treatment::Clamp;
        let mut near = false;
        objective.gradient(positions, &mut self.gradient, &self.normal_forces);
        loop {
            outcome.residual = objective.residual(&self.gradient);
            if outcome.iterations == self.iterations || is_done || outcome.residual == 0.0 {
                break;
            }
            let exact = near && tries_exact;
            tries_exact &= self.find_direction(&objective, positions, exact, outcome.iterations)?;
            let moved = self.search(&objective, positions);
            outcome.iterations += 1;
            self.update_normal_forces(&objective, positions);
            objective.gradient(positions, &mut self.gradient, &self.normal_forces);
            is_done = moved <= self.tolerance;
            near = moved < NEAR;
        }
        let two_steps = self.two_steps && !self.history.is_empty();
        for i in 0..positions.len() {
            velocities[i] = if two_steps {
                (positions[i] - previous[i] * (4.0 / 3.0) + self.history[i] * (1.0 / 3.0)) * (1.0 / inertia_step)
            } else {
                (positions[i] - previous[i]) * (1.0 / step)
            };
        }
        if self.two_steps {
            self.history.clear();
            self.history.extend_from_slice(previous);
            self.history.extend_from_slice(start_velocities);
        }
        Ok(outcome)
    }

    fn remember(&self, history: &mut Vec<Vec3<f64>>) {
        history.extend_from_slice(&self.history);
    }

    fn recall(&mut self, history: &[Vec3<f64>]) {
        self.history.clear();
        self.history.extend_from_slice(history);
    }
}

impl Newton {
    /// Replaces y by that of BDF2 where there are two steps to look back on. Returns η.
    fn predict(&self, motion: &mut Motion, step: f64) -> f64 {
        let count = motion.positions.len();
        if !self.two_steps || self.history.len() != 2 * count {
            return step;
        }
        let (older, older_velocities) = self.history.split_at(count);
        for i in 0..count {
            if motion.inverse_masses[i] == 0.0 {
                continue;
            }
            let (v, pushed) = (motion.start_velocities[i], motion.velocities[i] - motion.start_velocities[i]);
            motion.predicted[i] = motion.previous[i] * (4.0 / 3.0) - older[i] * (1.0 / 3.0) + v * (8.0 / 9.0 * step)
                - older_velocities[i] * (2.0 / 9.0 * step)
                + pushed * (4.0 / 9.0 * step);
        }
        step * 2.0 / 3.0
    }

    /// The normal forces of this iteration, for the friction of the next.
    fn update_normal_forces(&mut self, objective: &Objective<'_>, positions: &[Vec3<f64>]) {
        self.next_forces.clear();
        self.next_forces.resize(self.normal_forces.len(), 0.0);
        if !self.normal_forces.is_empty() {
            let Self { normal_forces, next_forces, .. } = self;
            for (i, x) in positions.iter().enumerate() {
                objective.each_press(i, *x, normal_forces, |slot, press| next_forces[slot] = press.normal_force);
            }
        }
        std::mem::swap(&mut self.normal_forces, &mut self.next_forces);
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
        for &treatment in treatments {
            objective.hessian(positions, treatment, &self.slots, &mut self.matrix, &self.normal_forces);
            for (d, g) in self.direction.iter_mut().zip(&self.gradient) {
                *d = -*g;
            }
            match self.solve(objective.substep, iterations) {
                Err(StepError::Indefinite { .. }) if exact && treatment == Treatment::Plain => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(!exact || treatment == Treatment::Plain),
            }
        }
        Ok(false)
    }

    /// Replaces the direction d by A⁻¹d.
    fn solve(&mut self, substep: &Substep<'_>, iterations: u32) -> Result<(), StepError> {
        let indefinite = StepError::Indefinite { time: substep.time, iterations };
        match &mut self.linear {
            Some(Linear::Direct(cholesky)) => {
                cholesky.factor(&self.matrix).map_err(|error| match error {
                    FactorError::Indefinite => indefinite,
                    FactorError::Memory => StepError::Memory { vertices: self.direction.len() },
                })?;
                cholesky.solve(&mut self.direction);
            }
            Some(Linear::Iterative(cg)) => {
                let team = (substep.context.team, substep.context.threads);
                let solved = cg.solve(team, &self.matrix, &mut self.direction, self.cg_tolerance, CG_LIMIT);
                if solved.indefinite {
                    return Err(indefinite);
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Moves along the direction as far as the objective falls. Returns the farthest that a vertex moved, in m.
    fn search(&mut self, objective: &Objective<'_>, positions: &mut [Vec3<f64>]) -> f64 {
        let reach = self.direction.iter().map(|d| d.norm()).fold(0.0, f64::max);
        let slope: f64 = self.gradient.iter().zip(&self.direction).map(|(g, d)| g.dot(*d)).sum();
        let Self { trial, direction, pieces, first_pieces, normal_forces, .. } = self;
        let mut length = 1.0;
        if !self.searches {
            for (x, d) in positions.iter_mut().zip(direction) {
                *x += *d;
            }
            return reach;
        }
        let start = objective.value(positions, pieces, first_pieces, normal_forces);
        // What rounding does to a sum of this size: a fall below that cannot be seen.
        let blur = 1e-14 * start.abs();
        for _ in 0..HALVINGS {
            for ((t, x), d) in trial.iter_mut().zip(&*positions).zip(&*direction) {
                *t = *x + *d * length;
            }
            let value = objective.value(trial, pieces, first_pieces, normal_forces);
            if value <= start + ARMIJO * length * slope + blur {
                positions.copy_from_slice(trial);
                return reach * length;
            }
            length *= 0.5;
        }
        0.0
    }
}
