//! Vertex block descent: implicit Euler by moving one vertex at a time to where its own energy is lowest.
//!
//! ```text
//! G(x)  = Σ mᵢ/2h² ‖xᵢ − yᵢ‖² + Σ (ψ + D)                      what implicit Euler minimises
//! for each vertex i
//!     gᵢ = mᵢ/h² (xᵢ − yᵢ) + Σ ∂(ψ + D)/∂xᵢ                    over the elements that contain it
//!     Hᵢ = mᵢ/h² I + Σ ∂²(ψ + D)/∂xᵢ²                          a 3 × 3 block
//!     xᵢ ← xᵢ − t Hᵢ⁻¹ gᵢ
//! ```
//!
//! h substep (in s), y where every vertex would go alone, D the potential of internal damping (`Elastic`).
//! Vertices of a colour share no element, so all of them move at once, and the bits do not depend on the number of threads.
//!
//! Hᵢ is the exact block. Where it is not positive definite (cloth under compression), its eigenvalues are replaced by
//! their absolute values, at least mᵢ/h². t is 1, or halved until the energy of the vertex falls by Armijo's rule, so that no
//! move ever raises G. To look at the energy once more costs about 60 % of the time of a sweep (springs and isometric bending).
//!
//! All that is `precision = "f64"`. With `"f32"`, the default, several vertices are moved side by side in single precision, with blocks that have no negative
//! eigenvalues and without the search for t (`sweep_f32.rs`), in a twentieth to a fortieth of the time. Then a sweep may raise G, but a substep may not: where it did, it is swept again in double precision.
//!
//! `acceleration` ρ extrapolates the sweeps by Chebyshev's polynomials, with ω₁ = 1, ω₂ = 2/(2 − ρ²), ωₖ₊₁ = 4/(4 − ρ²ωₖ):
//!
//! ```text
//! x⁽ᵏ⁾ ← ωₖ (x⁽ᵏ⁾ − x⁽ᵏ⁻²⁾) + x⁽ᵏ⁻²⁾
//! ```
//!
//! which may raise G on the way. The default of 0.8 is measured: on a sheet of 40 × 40 cells hung by two corners (20 substeps of 10
//! sweeps, against explicit steps far below their limit) it brings the excess of the largest strain from 0.9 to 0.2 percentage
//! points, and halves the residual; 0.9 gets as near and leaves more residual, and with five sweeps both leave more than none does.
//!
//! **Contact** is a stiff potential while the sweeps run (`collider_penalties.rs`), in the block of each vertex; what depth is left is projected at the
//! end. Friction takes the normal force at the end of the last sweep, fixed during a sweep, so that each sweep lowers one
//! function. A vertex that a body presses on is not extrapolated: it would be thrown in or out.
//!
//! **Where the sweeps begin.** At y, and where y is inside a body at the minimum of inertia and contact alone; or at xⁿ, if G is lower
//! there. The first matters: a sweep moves vertices one at
//! a time, so a sheet that friction should hold as a whole, and that began with the slip of y, would be held back by its own
//! stretch stiffness for many sweeps (measured: ten of them lost a quarter of the friction).
//!
//! The second makes it stable: at y strong damping or
//! stiffness has a G of any size, and ten sweeps do not take it away; but G(x) ≤ G(xⁿ) bounds the energy, whatever the stiffness, the damping, the
//! step and the number of sweeps. Where the extrapolation has spoilt this, the substep is swept again from xⁿ without it. (G(xⁿ) has no contact in it: no slip and no new depth.)
//!
//! Sweeps end early once one moves no vertex by more than `STILL` of the shortest edge; in single precision, by more than its rounding.
//!
//! `residual` in the report: the largest distance (in m) that the last sweep moved a vertex.
//!
//! [Chen, Liu, Yang, Yuksel 2024, Vertex Block Descent], [Wang 2015] for the acceleration.

pub(crate) mod incident;
pub(crate) mod sweep_f32;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::contact::response::penalty_potential::PenaltyForce;
use crate::energy::{Batch, Constraint, Energy};
use crate::math::{Mat3, Small, Vec3};
use crate::parallel::{Shared, Worker};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::typed;
use crate::solver::elastic::drag_value;
use crate::solver::substep_loop::{Motion, Outcome, PairSearch, Scheme, Substep, SubstepLoop};
use crate::solver::vbd::incident::{IncidentElements, Plan};
use crate::solver::vbd::sweep_f32::{PIECE, Single, Surroundings, extrapolation};
use crate::solver::{
    Context, Instant, Need, PRECISION, Precision, SUBSTEPS, SolverKind, StepError, Term, count, iterations, paced,
};
use crate::state::State;
use crate::topology::{Adjacency, Coloring, color_vertices};

/// The scene's `vbd`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "vbd",
        summary: "vertex block descent: implicit Euler, one vertex at a time; no matrix, and it may be stopped early",
        source: "Chen, Liu, Yang, Yuksel 2024, Vertex Block Descent; Wang 2015 for the acceleration",
        parameters: &[SUBSTEPS, iterations(10), ACCELERATION, PRECISION],
        one_of: &[],
    },
    build: |settings| paced(settings, true, |substeps| Box::new(SubstepLoop::new(Descent::new(settings), substeps))),
    reads_k: false,
    reads_damping: true,
    needs: Need::Potentials,
};

/// Settings of the scene's `vbd`.
///
/// ```
/// use muslin::solver::Vbd;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Vbd { iterations: 5, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vbd {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// Sweeps over the vertices in a substep.
    pub iterations: u32,
    /// ρ of the Chebyshev extrapolation of the sweeps; 0 = none.
    pub acceleration: f64,
    /// Numbers of the sweeps.
    pub precision: Precision,
}

typed!(Vbd: SolverSettings, KIND, { substeps, iterations, acceleration, precision });

/// Substeps of a frame at least, where the solver chooses them.
const FEWEST: u32 = 20;

const ACCELERATION: Parameter = Parameter {
    name: "acceleration",
    unit: "",
    kind: Kind::Number { min: 0.0, max: 0.999_999 },
    default: Some(Setting::Number(0.8)),
    meaning: "ρ of the Chebyshev extrapolation of the sweeps, below 1; 0 = none",
};

/// What the descent asks of a term: sums over the elements of one vertex.
pub(crate) trait VertexBlocks {
    /// Adds value, gradient and Hessian of Σ(ψ + D) in the position of one vertex, over the elements and their corners that
    /// `places` lists, as element × width + corner.
    fn add_block(&self, places: &[u32], around: &Around<'_>, sum: &mut VertexBlock);
    /// Σ(ψ + D), in J, over the same elements, with the vertex at `x`.
    fn value_at(&self, places: &[u32], around: &Around<'_>, x: Vec3<f64>) -> f64;
    /// The same sums for several vertices side by side, in single precision; `places` lists the elements and corners of each vertex.
    fn corners(&self, plan: &Plan, places: &Adjacency) -> Box<dyn IncidentElements>;
}

/// Where a vertex and its neighbours are.
pub(crate) struct Around<'a> {
    /// x, in m.
    pub positions: &'a Shared<'a, Vec3<f64>>,
    /// xⁿ, in m.
    pub previous: &'a [Vec3<f64>],
    /// h, in s.
    pub step: f64,
}

/// The energy of one vertex, to the second order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VertexBlock {
    /// In J.
    pub value: f64,
    /// In N.
    pub gradient: Vec3<f64>,
    /// In N/m.
    pub hessian: Mat3,
}

impl<E: Energy<N>, const N: usize> Batch<E, N> {
    /// The positions of an element's vertices.
    #[inline(always)]
    fn gather(&self, e: usize, around: &Around<'_>) -> [Vec3<f64>; N] {
        self.stencils()[e].map(|v| around.positions.get(v as usize))
    }

    /// How far the vertices of an element at `x` have come in the substep.
    #[inline(always)]
    fn moved(&self, e: usize, x: &[Vec3<f64>; N], around: &Around<'_>) -> [Vec3<f64>; N] {
        let stencil = &self.stencils()[e];
        std::array::from_fn(|i| x[i] - around.previous[stencil[i] as usize])
    }
}

impl<E: Energy<N>, const N: usize> VertexBlocks for Batch<E, N> {
    fn add_block(&self, places: &[u32], around: &Around<'_>, sum: &mut VertexBlock) {
        let rate = self.damping() / around.step;
        for &place in places {
            let (e, i) = (place as usize / N, place as usize % N);
            let (rest, x) = (&self.rest()[e], self.gather(e, around));
            sum.value += E::value(rest, &x);
            sum.gradient += E::gradient(rest, &x)[i];
            sum.hessian += E::block(rest, &x, i);
            if rate > 0.0
                && let Some((row, pull)) = self.resistance(e, around.previous, &self.moved(e, &x, around), rate)
            {
                sum.value += drag_value(&row, pull, rate);
                sum.gradient += row.pull(i, pull);
                let before = self.stencils()[e].map(|v| around.previous[v as usize]);
                sum.hessian += E::square(rest, &before)[i][i] * rate;
            }
        }
    }

    fn value_at(&self, places: &[u32], around: &Around<'_>, at: Vec3<f64>) -> f64 {
        let rate = self.damping() / around.step;
        let mut value = 0.0;
        for &place in places {
            let (e, i) = (place as usize / N, place as usize % N);
            let mut x = self.gather(e, around);
            x[i] = at;
            value += E::value(&self.rest()[e], &x);
            if rate > 0.0
                && let Some((row, pull)) = self.resistance(e, around.previous, &self.moved(e, &x, around), rate)
            {
                value += drag_value(&row, pull, rate);
            }
        }
        value
    }

    fn corners(&self, plan: &Plan, places: &Adjacency) -> Box<dyn IncidentElements> {
        incident::corners(self, plan, places)
    }
}

/// Halvings of a move before it is given up.
const HALVINGS: u32 = 12;
/// The share of the fall of the linear model that a move must reach.
const ARMIJO: f64 = 1e-4;
/// A fall of the energy below this share of it is lost in its rounding, and cannot be asked for.
const ROUNDING: f64 = 1e-13;

/// The same of sums of numbers in single precision.
const SINGLE_ROUNDING: f64 = 1e-6;

/// Sweeps end once none of their moves is longer than this share of the shortest edge: as good as none. (Motions may be small: with 1e-10, a vibration of a
/// nanometre died of it.)
const STILL: f64 = 1e-15;

/// The same in single precision: the rounding of an edge, to which its force is known too.
const SINGLE_STILL: f64 = 6e-8;

struct Descent {
    iterations: u32,
    acceleration: f64,
    /// Whether to sweep in single precision first.
    is_single: bool,
    single: Option<Box<Single>>,
    /// For each term the elements and corners of each vertex, as element × width + corner.
    places: Vec<Adjacency>,
    coloring: Coloring,
    color_of: Vec<u32>,
    /// x⁽ᵏ⁻¹⁾ and x⁽ᵏ⁻²⁾, in m, for the extrapolation.
    last: Vec<Vec3<f64>>,
    before_last: Vec<Vec3<f64>>,
    /// Per vertex and body: the normal force at the end of the last sweep, in N.
    normal_forces: Vec<Vec3<f64>>,
    /// xⁿ, with held vertices at their targets, in m.
    start: Vec<Vec3<f64>>,
    /// Energies of all terms in pieces, then those of the vertices.
    pieces: Vec<f64>,
    /// The largest move of each sweep, in m, as bits: those of numbers that are not negative are in the order of the numbers.
    moves: Vec<AtomicU64>,
    /// Moves that end the sweeps, in m.
    still: f64,
}

impl Descent {
    fn new(settings: &Settings) -> Self {
        Self {
            iterations: count(settings, "iterations"),
            acceleration: settings.number("acceleration").unwrap_or(0.0),
            is_single: settings.choice("precision") == Some("f32"),
            single: None,
            places: Vec::new(),
            coloring: Coloring::default(),
            color_of: Vec::new(),
            last: Vec::new(),
            before_last: Vec::new(),
            normal_forces: Vec::new(),
            start: Vec::new(),
            pieces: Vec::new(),
            moves: Vec::new(),
            still: 0.0,
        }
    }

    /// Lists the elements of each vertex and colours the vertices.
    fn build(&mut self, context: &Context<'_>) {
        let count = context.model.masses.len();
        self.places = context.terms.iter().map(|term| places(&**term, count)).collect();
        let all = &self.places;
        self.coloring = color_vertices(count, |vertex, visit| {
            for (term, places) in context.terms.iter().zip(all) {
                for &place in places.of(vertex) {
                    term.stencil(place as usize / term.width()).iter().for_each(|&neighbor| visit(neighbor));
                }
            }
        });
        self.color_of = vec![u32::MAX; count];
        for color in 0..self.coloring.color_count() {
            for &vertex in self.coloring.elements(color) {
                self.color_of[vertex as usize] = color as u32;
            }
        }
    }

    /// Whether lists and colours are those of this model. The parallel sweeps rely on it for memory safety, and a solver
    /// may be handed any model at any time, so it is checked at each frame: a fraction of one sweep.
    fn fits(&self, context: &Context<'_>) -> bool {
        let count = context.model.masses.len();
        let each_once = self.color_of.len() == count
            && self.coloring.order.len() == count
            && self.coloring.ranges.iter().enumerate().all(|(color, range)| {
                let own = |v: &u32| self.color_of.get(*v as usize) == Some(&(color as u32));
                self.coloring
                    .order
                    .get(range.clone())
                    .is_some_and(|list| list.is_sorted_by(|a, b| a < b) && list.iter().all(own))
            });
        let listed = |term: &dyn Term, places: &Adjacency| {
            let width = term.width();
            let is_own = |vertex: u32, place: u32| {
                let (e, i) = (place as usize / width, place as usize % width);
                e < term.element_count() && term.stencil(e)[i] == vertex
            };
            let apart = |e: usize| {
                let stencil = term.stencil(e);
                let color = |i: usize| self.color_of[stencil[i] as usize];
                (0..width).all(|i| (0..i).all(|j| stencil[i] == stencil[j] || color(i) != color(j)))
            };
            places.len() == count
                && places.items.len() == width * term.element_count()
                && (0..count as u32).all(|v| places.of(v).iter().all(|&place| is_own(v, place)))
                && (0..term.element_count()).all(apart)
        };
        each_once
            && self.places.len() == context.terms.len()
            && context.terms.iter().zip(&self.places).all(|(term, places)| listed(&**term, places))
    }

    /// Moves the vertices of all colours once; the largest move of this worker's share, in m.
    fn sweep(&self, worker: &Worker<'_>, local: &Local<'_>) -> f64 {
        let mut largest = 0.0_f64;
        for color in &self.coloring.ranges {
            for &vertex in &self.coloring.order[worker.share(color.clone())] {
                let i = vertex as usize;
                if local.besides.inverse_masses[i] > 0.0 {
                    let x = local.around.positions.get(i);
                    let moved = local.descend(vertex, x, &self.places);
                    local.around.positions.set(i, moved);
                    largest = largest.max((moved - x).norm());
                }
            }
            worker.barrier();
        }
        largest
    }
}

/// In how many pieces the energies of all terms and then those of the vertices are summed.
fn pieces_of(context: &Context<'_>) -> usize {
    let of_terms: usize = context.terms.iter().map(|term| term.piece_count()).sum();
    of_terms + context.model.masses.len().div_ceil(PIECE)
}

/// The elements and corners of each vertex.
fn places(term: &dyn Term, vertex_count: usize) -> Adjacency {
    let width = term.width();
    let pairs = || {
        (0..term.element_count()).flat_map(move |e| {
            let corners = term.stencil(e).iter().enumerate();
            corners.map(move |(i, &vertex)| (vertex, (e * width + i) as u32))
        })
    };
    Adjacency::of_pairs(vertex_count, pairs)
}

/// The problem of one substep.
struct Local<'a> {
    terms: &'a [Box<dyn Term>],
    around: Around<'a>,
    /// y, in m.
    predicted: &'a [Vec3<f64>],
    besides: Surroundings<'a>,
}

impl Local<'_> {
    /// [`Surroundings::settle`] where the vertex is.
    #[inline]
    fn settle(&self, vertex: usize) -> bool {
        self.besides.settle(vertex, self.around.positions.get(vertex))
    }

    /// Where a vertex at `x` has less energy.
    #[inline]
    fn descend(&self, vertex: u32, x: Vec3<f64>, places: &[Adjacency]) -> Vec3<f64> {
        let i = vertex as usize;
        let inertia = self.besides.inertia(i);
        let off = x - self.predicted[i];
        let mut block = VertexBlock {
            value: 0.5 * inertia * off.norm_squared(),
            gradient: off * inertia,
            hessian: Mat3::scalar(inertia),
        };
        let terms = || self.terms.iter().zip(places).map(|(term, places)| (term, places.of(vertex)));
        terms().for_each(|(term, places)| term.add_block(places, &self.around, &mut block));
        self.besides.each_press(i, x, |_, press| {
            block.value += press.value;
            block.gradient += press.gradient;
            block.hessian += press.hessian;
        });
        let whole = -solve(&block.hessian, block.gradient, inertia);
        let slope = whole.dot(block.gradient);
        // Also where the numbers have run out: the step then ends with an error.
        if slope.is_nan() || -slope <= ROUNDING * block.value {
            return x + whole;
        }
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let there = x + whole * share;
            let off = there - self.predicted[i];
            let mut value = 0.5 * inertia * off.norm_squared();
            terms().for_each(|(term, places)| value += term.value_at(places, &self.around, there));
            self.besides.each_press(i, there, |_, press| value += press.value);
            if value <= block.value + ARMIJO * share * slope {
                return there;
            }
            share *= 0.5;
        }
        x
    }
}

/// H⁻¹ g, with H made positive definite; `floor` is the least eigenvalue it then has.
#[inline]
fn solve(hessian: &Mat3, gradient: Vec3<f64>, floor: f64) -> Vec3<f64> {
    let h = &hessian.0;
    // Sylvester: the leading minors of a positive definite matrix are positive.
    let minor = h[0][0] * h[1][1] - h[0][1] * h[1][0];
    if h[0][0] > 0.0
        && minor > 0.0
        && hessian.determinant() > 0.0
        && let Some(inverse) = hessian.inverse()
    {
        return inverse.apply(gradient);
    }
    let definite = Small::new(3, |i, j| h[i][j])
        .mapped(|values| values.iter_mut().for_each(|value| *value = 1.0 / value.abs().max(floor)));
    Mat3(std::array::from_fn(|i| std::array::from_fn(|j| definite.get(i, j)))).apply(gradient)
}

impl Scheme for Descent {
    fn wanted_substeps(&mut self, _: &Context<'_>, _: &mut Motion, _: &State, _: f64) -> u32 {
        FEWEST
    }

    fn each_body_work(&self, substep: &Substep<'_>, motion: &Motion, visit: &mut dyn FnMut(usize, f64)) {
        let collider_penalties = substep.collider_penalties(false);
        for i in (0..motion.positions.len()).filter(|i| motion.inverse_masses[*i] > 0.0) {
            let inertia = substep.model.masses[i] / (substep.step * substep.step);
            let ends = (motion.positions[i], motion.previous[i]);
            let normal_force = |slot: usize| self.normal_forces[slot];
            collider_penalties.each_press(i, inertia, ends, normal_force, |_, press| visit(i, press.work));
        }
    }

    fn prepare(&mut self, context: &Context<'_>, _motion: &Motion, _step: f64) -> Result<(), StepError> {
        let model = context.model;
        if self.is_single {
            if !self.single.as_ref().is_some_and(|single| single.fits(context)) {
                self.build(context);
                assert!(self.fits(context), "neighbours of one colour");
                self.single = Some(Box::new(Single::new(context, &self.places, &self.coloring)));
            }
        } else if !self.fits(context) {
            self.build(context);
            assert!(self.fits(context), "neighbours of one colour");
        }
        // Each substep finds them anew; a run that is resumed must not see those of the last frame.
        self.normal_forces.clear();
        self.normal_forces.resize(context.model.masses.len() * context.model.colliders.len(), Vec3::ZERO);
        self.moves.resize_with(self.iterations as usize, AtomicU64::default);
        // Single precision may ask for double in any frame.
        let count = model.masses.len();
        for scratch in [&mut self.start, &mut self.last, &mut self.before_last] {
            scratch.resize(count, Vec3::ZERO);
        }
        self.pieces.resize(pieces_of(context), 0.0);
        let shortest = context.model.edges.iter().map(|(_, rest)| *rest).fold(f64::INFINITY, f64::min);
        let still = if self.is_single { SINGLE_STILL } else { STILL };
        self.still = if shortest.is_finite() { still * shortest } else { 0.0 };
        Ok(())
    }

    fn step(
        &mut self,
        substep: &Substep<'_>,
        motion: &mut Motion,
        _: &mut PairSearch<'_>,
    ) -> Result<Outcome, StepError> {
        self.start.clone_from(&motion.positions);
        self.normal_forces.fill(Vec3::ZERO);
        let mut in_vain = 0;
        if let Some(mut single) = self.single.take() {
            let outcome = self.step_in_single(&mut single, substep, motion);
            self.single = Some(single);
            match outcome {
                Ok(outcome) => return Ok(outcome),
                Err(sweeps) => in_vain = sweeps,
            }
            motion.positions.copy_from_slice(&self.start);
            self.normal_forces.fill(Vec3::ZERO);
            // The sweeps rely on it for memory safety.
            if !self.fits(substep.context) {
                self.build(substep.context);
                assert!(self.fits(substep.context), "neighbours of one colour");
            }
        }
        let bound = self.objective(substep, motion);
        self.guess(substep, motion);
        // Not a number if the guess is beyond all bounds.
        let is_better = self.objective(substep, motion) <= bound;
        if !is_better {
            motion.positions.copy_from_slice(&self.start);
        }
        let (mut iterations, mut residual) = self.descend(substep, motion, self.acceleration);
        if self.acceleration > 0.0 && self.objective(substep, motion) > bound * (1.0 + ROUNDING) {
            motion.positions.copy_from_slice(&self.start);
            let (more, last) = self.descend(substep, motion, 0.0);
            (iterations, residual) = (iterations + more, last);
        }
        motion.set_velocities(substep.step);
        Ok(Outcome { iterations: in_vain + iterations, residual, ..Outcome::default() })
    }
}

impl Descent {
    /// A substep in single precision; if it could not keep G from rising, the number of its sweeps.
    ///
    /// Where there are bodies, G has their friction in it, with the normal forces of the end, on both sides of the comparison.
    fn step_in_single(
        &mut self,
        single: &mut Single,
        substep: &Substep<'_>,
        motion: &mut Motion,
    ) -> Result<Outcome, u32> {
        let context = substep.context;
        single.load(context, motion);
        self.guess(substep, motion);
        let mut normal_forces = std::mem::take(&mut self.normal_forces);
        let around = Surroundings {
            masses: &substep.model.masses,
            inverse_masses: &motion.inverse_masses,
            previous: &motion.previous,
            step: substep.step,
            collider_penalties: substep.collider_penalties(false),
            normal_forces: Shared::open(context.team, &mut normal_forces),
        };
        single.place(&motion.positions);
        let mut bound = single.objective_at_start(context, &around) * (1.0 + SINGLE_ROUNDING);
        // Not a number if the guess is beyond all bounds.
        let is_better = single.objective(context, &around) <= bound;
        if !is_better {
            single.return_to_start();
        }
        let (mut iterations, mut residual, mut holds) = (0, 0.0, false);
        for acceleration in [self.acceleration, 0.0] {
            self.moves.iter_mut().for_each(|largest| *largest.get_mut() = 0);
            single.descend(context, &around, acceleration, (&self.moves, self.still));
            let (more, last) = self.ended();
            (iterations, residual) = (iterations + more, last);
            if !around.collider_penalties.is_empty() {
                bound = single.objective_at_start(context, &around) * (1.0 + SINGLE_ROUNDING);
            }
            // What has come no farther than that has gained nothing either: there G is nothing but its rounding.
            holds = single.objective(context, &around) <= bound || single.is_at_start(self.still);
            if holds || acceleration == 0.0 {
                break;
            }
            single.return_to_start();
        }
        self.normal_forces = normal_forces;
        if !holds {
            return Err(iterations);
        }
        single.store(&mut motion.positions);
        motion.set_velocities(substep.step);
        Ok(Outcome { iterations, residual, ..Outcome::default() })
    }

    /// How many sweeps there were, and the largest move of the last, in m.
    fn ended(&self) -> (u32, f64) {
        let moves = || self.moves.iter().map(|largest| f64::from_bits(largest.load(Ordering::Relaxed)));
        let ended = moves().position(|largest| largest <= self.still).map_or(self.iterations, |i| i as u32 + 1);
        (ended, moves().nth(ended as usize - 1).unwrap_or_default())
    }

    /// From xⁿ to y, or to where contact alone would have it, with the normal forces there.
    fn guess(&mut self, substep: &Substep<'_>, motion: &mut Motion) {
        let Motion { positions, previous, predicted, inverse_masses, .. } = motion;
        positions.copy_from_slice(predicted);
        let collider_penalties = substep.collider_penalties(false);
        if collider_penalties.is_empty() {
            return;
        }
        for (i, x) in positions.iter_mut().enumerate().filter(|(i, _)| inverse_masses[*i] > 0.0) {
            *x = collider_penalties.rest(*x, previous[i]);
            let inertia = substep.model.masses[i] / (substep.step * substep.step);
            let normal_forces = &mut self.normal_forces;
            let take = |slot: usize, press: PenaltyForce| normal_forces[slot] = press.normal_force;
            collider_penalties.each_press(i, inertia, (*x, previous[i]), |_| Vec3::ZERO, take);
        }
    }

    /// G at the positions, in J, with the normal forces as they are.
    fn objective(&mut self, substep: &Substep<'_>, motion: &Motion) -> f64 {
        let Substep { context, model, step, .. } = *substep;
        let (x, normal_forces) = (&motion.positions, &self.normal_forces);
        self.pieces.resize(pieces_of(context), 0.0);
        let of_terms = self.pieces.len() - x.len().div_ceil(PIECE);
        let collider_penalties = substep.collider_penalties(false);
        let shared = Shared::open(context.team, &mut self.pieces);
        context.team.run(context.threads, |worker| {
            let at = Instant { positions: x, previous: &motion.previous, step };
            let mut first = 0;
            for term in context.terms {
                term.values(worker, at, &shared, first);
                first += term.piece_count();
            }
            for piece in worker.share_pieces(x.len().div_ceil(PIECE)) {
                let mut sum = 0.0;
                for i in (piece * PIECE..x.len().min((piece + 1) * PIECE)).filter(|i| motion.inverse_masses[*i] > 0.0) {
                    let inertia = model.masses[i] / (step * step);
                    sum += 0.5 * inertia * (x[i] - motion.predicted[i]).norm_squared();
                    let ends = (x[i], motion.previous[i]);
                    collider_penalties.each_press(
                        i,
                        inertia,
                        ends,
                        |slot| normal_forces[slot],
                        |_, press| sum += press.value,
                    );
                }
                shared.set(of_terms + piece, sum);
            }
        });
        self.pieces.iter().sum()
    }

    /// All sweeps of a substep. Returns their number and the largest move of the last, in m.
    fn descend(&mut self, substep: &Substep<'_>, motion: &mut Motion, acceleration: f64) -> (u32, f64) {
        let context = substep.context;
        let collider_penalties = substep.collider_penalties(false);
        let is_accelerated = acceleration > 0.0;
        let mut last = std::mem::take(&mut self.last);
        let mut before_last = std::mem::take(&mut self.before_last);
        let mut normal_forces = std::mem::take(&mut self.normal_forces);
        if is_accelerated {
            last.clone_from(&motion.positions);
            before_last.clone_from(&motion.positions);
        }
        self.moves.iter_mut().for_each(|largest| *largest.get_mut() = 0);
        {
            let Motion { positions, previous, predicted, inverse_masses, .. } = &mut *motion;
            // A sweep sets the vertices of one colour, each by one worker, and gets these and their neighbours,
            // which have other colours (checked in `fits`); the extrapolation gets and sets its share of the vertices.
            // There is a barrier after each. The normal forces of a vertex are got and set by the worker that has the vertex.
            let team = context.team;
            let (shared, last) = (Shared::open(team, positions), Shared::open(team, &mut last));
            let before_last = Shared::open(team, &mut before_last);
            let normal_forces = Shared::open(team, &mut normal_forces);
            let local = Local {
                terms: substep.context.terms,
                around: Around { positions: &shared, previous, step: substep.step },
                predicted,
                besides: Surroundings {
                    masses: &substep.model.masses,
                    inverse_masses,
                    previous,
                    step: substep.step,
                    collider_penalties,
                    normal_forces,
                },
            };
            let is_free = collider_penalties.is_empty();
            context.team.run(context.threads, |worker| {
                if !is_free {
                    worker.share(0..shared.len()).for_each(|i| {
                        local.settle(i);
                    });
                    worker.barrier();
                }
                let mut omega = 1.0;
                for (iteration, largest) in self.moves.iter().enumerate() {
                    let moved = self.sweep(worker, &local);
                    // A maximum does not depend on the order in which the threads come.
                    largest.fetch_max(moved.to_bits(), Ordering::Relaxed);
                    worker.barrier();
                    // Before the extrapolation, which would lead away from where there is nothing left to do.
                    if f64::from_bits(largest.load(Ordering::Relaxed)) <= self.still {
                        break;
                    }
                    omega = extrapolation(iteration, acceleration, omega);
                    if is_accelerated || !is_free {
                        for i in worker.share(0..shared.len()) {
                            let is_pressed = !is_free && local.settle(i);
                            if is_accelerated {
                                let (x, base) = (shared.get(i), before_last.get(i));
                                let x = if is_pressed { x } else { (x - base) * omega + base };
                                before_last.set(i, last.get(i));
                                last.set(i, x);
                                shared.set(i, x);
                            }
                        }
                    }
                    worker.barrier();
                }
            });
        }
        self.last = last;
        self.before_last = before_last;
        self.normal_forces = normal_forces;
        self.ended()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::kinematics::Kinematics;
    use crate::parallel::Team;
    use crate::scene::parse;
    use crate::setup;
    use crate::setup::Compiled;
    use crate::solver::NoClock;

    /// Σ m/2h² ‖x − y‖² + Σ (ψ + D) + contact, in J, with the normal forces as they are.
    fn objective(local: &Local<'_>, positions: &[Vec3<f64>]) -> f64 {
        let at = Instant { positions, previous: local.around.previous, step: local.around.step };
        let mut sum: f64 = local.terms.iter().map(|term| term.value(at.positions)).sum();
        for (i, x) in positions.iter().enumerate() {
            sum += 0.5 * local.besides.inertia(i) * (*x - local.predicted[i]).norm_squared();
            local.besides.each_press(i, *x, |_, press| sum += press.value);
        }
        sum
    }

    /// A sheet that flies into a sphere and a plane, from outside and from inside them, with friction and without.
    #[test]
    fn no_sweep_raises_the_objective_in_contact() {
        let mut most_pressed = 0;
        for (height, speed, friction) in [(0.2, -3.0, 0.0), (0.2, -3.0, 0.5), (0.15, -1.0, 0.5), (0.08, 0.5, 0.9)] {
            let text = format!(
                "solver.kind = \"vbd\"\ncontact = {{ thickness = 5e-3, friction = {friction:?} }}\n\
                 [[cloth]]\ngrid = {{ size = [0.6, 0.6], cells = [12, 12] }}\ntranslate = [0, {height:?}, 0]\n\
                 velocity = [1, {speed:?}, 0.3]\n\
                 [[collider]]\nsphere = {{ center = [0, 0, 0], radius = 0.19 }}\n\
                 path = [{{ time = 0 }}, {{ time = 1, offset = [0.5, 0.3, 0], turn = 90 }}]\n\
                 [[collider]]\nplane = {{ point = [0, 0.07, 0], normal = [0, 1, 0] }}"
            );
            let scene = parse(&text, &[]).scene.unwrap();
            let Compiled { model, terms, .. } = setup::compile(&scene, &mut |_| Err(String::new())).unwrap();
            let (step, state) = (1.0 / 300.0, model.initial_state());
            let mut kinematics = Kinematics::default();
            kinematics.load(&model, 0.0, step, 1);
            let team = Team::solo();
            let context = Context { model: &model, terms: &terms, team: &team, threads: 1, clock: &NoClock };
            let substep =
                Substep { context: &context, model: &model, colliders: kinematics.colliders(0), step, time: 0.0 };
            let predicted: Vec<_> =
                state.positions.iter().zip(&state.velocities).map(|(x, v)| *x + *v * step).collect();
            let mut descent = Descent::new(&Settings::default());
            descent.prepare(&context, &Motion::default(), step).unwrap();
            let mut forces = vec![Vec3::ZERO; model.masses.len() * model.colliders.len()];
            let mut positions = predicted.clone();
            let mut seen = positions.clone();
            let (shared, normal_forces) = (Shared::open(&team, &mut positions), Shared::open(&team, &mut forces));
            let local = Local {
                terms: &terms,
                around: Around { positions: &shared, previous: &state.positions, step },
                predicted: &predicted,
                besides: Surroundings {
                    masses: &model.masses,
                    inverse_masses: &model.inverse_masses,
                    previous: &state.positions,
                    step,
                    collider_penalties: substep.collider_penalties(false),
                    normal_forces,
                },
            };
            for sweep in 0..60 {
                let before = objective(&local, &seen);
                team.run(1, |worker| {
                    descent.sweep(worker, &local);
                });
                seen = (0..shared.len()).map(|i| shared.get(i)).collect();
                let after = objective(&local, &seen);
                assert!(
                    after <= before * (1.0 + 1e-12),
                    "from {height} m, μ = {friction}: {before} to {after} J in sweep {sweep}"
                );
                // Where no sweep moves anything any more there is nothing to see.
                assert!(sweep > 3 || after < before, "from {height} m, μ = {friction}: sweep {sweep} did nothing");
                let pressed = (0..shared.len()).filter(|&i| local.settle(i)).count();
                most_pressed = most_pressed.max(pressed);
            }
        }
        assert!(most_pressed > 20, "{most_pressed} vertices touched a body");
    }
}
