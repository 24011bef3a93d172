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
//! h substep (in s), y where every vertex would go alone, D the potential of internal damping ([`Elastic`](super::Elastic)).
//! Vertices of a colour share no element, so all of them move at once, and the bits do not depend on the number of threads.
//!
//! Hᵢ is the exact block. Where it is not positive definite (cloth under compression), its eigenvalues are replaced by
//! their absolute values, at least mᵢ/h². t is 1, or halved until the energy of the vertex falls by Armijo's rule, so that no
//! move ever raises G. To look at the energy once more costs about 60 % of the time of a sweep (springs and isometric bending).
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
//! The sweeps begin at y. Bodies act at the end of the substep, as in the other solvers that work with forces: one move along the
//! normal and one application of Coulomb's law to the whole of it. (To project after each sweep would apply friction once a
//! sweep, since each sweep pulls the vertices back towards y.)
//!
//! `residual` in the report: the largest distance (in m) that the last sweep moved a vertex.
//!
//! [Chen, Liu, Yang, Yuksel 2024, Vertex Block Descent], [Wang 2015] for the acceleration.

#![allow(unsafe_code, reason = "opens the positions to the team; see `Descent::sweep`")]

use std::sync::Mutex;

use super::elastic::drag_value;
use super::stepped::{Motion, Outcome, Scheme, Stepped, Substep};
use super::{Context, Need, SolverKind, StepError, iterations, substeps};
use crate::energy::{Batch, Constraint, Energy, Term};
use crate::math::{Mat3, Small, Vec3};
use crate::model::Model;
use crate::parallel::{Shared, Worker};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::topology::{Adjacency, Coloring, color_vertices};

/// The scene's `vbd`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "vbd",
        summary: "vertex block descent: implicit Euler, one vertex at a time; never unstable, cheap to stop early",
        source: "Chen, Liu, Yang, Yuksel 2024, Vertex Block Descent; Wang 2015 for the acceleration",
        parameters: &[substeps(20), iterations(10), ACCELERATION],
        one_of: &[],
    },
    build: |settings| {
        let count = |name| settings.integer(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
        Box::new(Stepped::new(Descent::new(settings, count("iterations")), count("substeps")))
    },
    reads_k: false,
    reads_damping: true,
    needs: Need::Potentials,
};

const ACCELERATION: Parameter = Parameter {
    name: "acceleration",
    unit: "",
    kind: Kind::Number { min: 0.0, max: 0.999_999 },
    default: Some(Setting::Number(0.8)),
    meaning: "ρ of the Chebyshev extrapolation of the sweeps, below 1; 0 = none",
};

/// What the descent asks of a term: sums over the elements of one vertex.
pub trait VertexBlocks {
    /// Vertices of an element.
    fn width(&self) -> usize;
    /// Number of elements.
    fn length(&self) -> usize;
    /// The vertices of one element.
    fn stencil(&self, element: usize) -> &[u32];
    /// Adds value, gradient and Hessian of Σ(ψ + D) in the position of one vertex, over the elements and their corners that
    /// `places` lists, as element × width + corner.
    fn add_block(&self, places: &[u32], around: &Around<'_>, sum: &mut Block);
    /// Σ(ψ + D), in J, over the same elements, with the vertex at `x`.
    fn value_at(&self, places: &[u32], around: &Around<'_>, x: Vec3<f64>) -> f64;
}

/// Where a vertex and its neighbours are.
pub struct Around<'a> {
    /// x, in m.
    pub positions: &'a Shared<'a, Vec3<f64>>,
    /// xⁿ, in m.
    pub previous: &'a [Vec3<f64>],
    /// h, in s.
    pub step: f64,
}

/// The energy of one vertex, to the second order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
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
    fn width(&self) -> usize {
        N
    }

    fn length(&self) -> usize {
        self.stencils().len()
    }

    fn stencil(&self, element: usize) -> &[u32] {
        &self.stencils()[element]
    }

    fn add_block(&self, places: &[u32], around: &Around<'_>, sum: &mut Block) {
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
}

/// Halvings of a move before it is given up.
const HALVINGS: u32 = 12;
/// The share of the fall of the linear model that a move must reach.
const ARMIJO: f64 = 1e-4;
/// A fall of the energy below this share of it is lost in its rounding, and cannot be asked for.
const ROUNDING: f64 = 1e-13;

struct Descent {
    iterations: u32,
    acceleration: f64,
    /// For each term the elements and corners of each vertex, as element × width + corner.
    places: Vec<Adjacency>,
    coloring: Coloring,
    color_of: Vec<u32>,
    /// x⁽ᵏ⁻¹⁾ and x⁽ᵏ⁻²⁾, in m, for the extrapolation.
    last: Vec<Vec3<f64>>,
    before_last: Vec<Vec3<f64>>,
}

impl Descent {
    fn new(settings: &Settings, iterations: u32) -> Self {
        Self {
            iterations,
            acceleration: settings.number("acceleration").unwrap_or(0.0),
            places: Vec::new(),
            coloring: Coloring::default(),
            color_of: Vec::new(),
            last: Vec::new(),
            before_last: Vec::new(),
        }
    }

    /// Lists the elements of each vertex and colours the vertices.
    fn build(&mut self, model: &Model) {
        let count = model.masses.len();
        self.places = model.terms.iter().map(|term| places(&**term, count)).collect();
        let all = &self.places;
        self.coloring = color_vertices(count, |vertex, visit| {
            for (term, places) in model.terms.iter().zip(all) {
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
    fn fits(&self, model: &Model) -> bool {
        let count = model.masses.len();
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
                e < term.length() && term.stencil(e)[i] == vertex
            };
            let apart = |e: usize| {
                let stencil = term.stencil(e);
                let color = |i: usize| self.color_of[stencil[i] as usize];
                (0..width).all(|i| (0..i).all(|j| stencil[i] == stencil[j] || color(i) != color(j)))
            };
            places.len() == count
                && places.items.len() == width * term.length()
                && (0..count as u32).all(|v| places.of(v).iter().all(|&place| is_own(v, place)))
                && (0..term.length()).all(apart)
        };
        each_once
            && self.places.len() == model.terms.len()
            && model.terms.iter().zip(&self.places).all(|(term, places)| listed(&**term, places))
    }

    /// Moves the vertices of all colours once; the largest move of this worker's share, in m.
    fn sweep(&self, worker: &Worker<'_>, local: &Local<'_>) -> f64 {
        let mut largest = 0.0_f64;
        for color in &self.coloring.ranges {
            for &vertex in &self.coloring.order[worker.share(color.clone())] {
                let i = vertex as usize;
                if local.inverse_masses[i] > 0.0 {
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

/// The elements and corners of each vertex.
fn places(term: &dyn Term, vertex_count: usize) -> Adjacency {
    let width = term.width();
    let pairs = || {
        (0..term.length()).flat_map(move |e| {
            let corners = term.stencil(e).iter().enumerate();
            corners.map(move |(i, &vertex)| (vertex, (e * width + i) as u32))
        })
    };
    Adjacency::of_pairs(vertex_count, pairs)
}

/// The problem of one substep.
struct Local<'a> {
    model: &'a Model,
    around: Around<'a>,
    /// y, in m.
    predicted: &'a [Vec3<f64>],
    inverse_masses: &'a [f64],
}

impl Local<'_> {
    /// Where a vertex at `x` has less energy.
    #[inline]
    fn descend(&self, vertex: u32, x: Vec3<f64>, places: &[Adjacency]) -> Vec3<f64> {
        let i = vertex as usize;
        let inertia = self.model.masses[i] / (self.around.step * self.around.step);
        let off = x - self.predicted[i];
        let mut block = Block {
            value: 0.5 * inertia * off.norm_squared(),
            gradient: off * inertia,
            hessian: Mat3::scalar(inertia),
        };
        let terms = || self.model.terms.iter().zip(places).map(|(term, places)| (term, places.of(vertex)));
        terms().for_each(|(term, places)| term.add_block(places, &self.around, &mut block));
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
    fn prepare(&mut self, context: &Context<'_>, _motion: &Motion, _step: f64) -> Result<(), StepError> {
        if !self.fits(context.model) {
            self.build(context.model);
            assert!(self.fits(context.model), "neighbours of one colour");
        }
        Ok(())
    }

    fn step(&mut self, substep: &Substep<'_>, motion: &mut Motion) -> Result<Outcome, StepError> {
        let context = substep.context;
        motion.positions.clone_from(&motion.predicted);
        let is_accelerated = self.acceleration > 0.0;
        let mut last = std::mem::take(&mut self.last);
        let mut before_last = std::mem::take(&mut self.before_last);
        if is_accelerated {
            last.clone_from(&motion.positions);
            before_last.clone_from(&motion.positions);
        }
        let largest = Mutex::new(0.0_f64);
        {
            let Motion { positions, previous, predicted, inverse_masses, .. } = &mut *motion;
            // SAFETY: a sweep sets the vertices of one colour, each by one worker, and gets these and their neighbours,
            // which have other colours (checked in `fits`); the extrapolation gets and sets its share of the vertices.
            // There is a barrier after each.
            let (shared, last, before_last) =
                unsafe { (Shared::new(positions), Shared::new(&mut last), Shared::new(&mut before_last)) };
            let local = Local {
                model: substep.model,
                around: Around { positions: &shared, previous, step: substep.step },
                predicted,
                inverse_masses,
            };
            context.team.run(context.threads, |worker| {
                let mut omega = 1.0;
                for iteration in 0..self.iterations {
                    let moved = self.sweep(worker, &local);
                    if is_accelerated {
                        omega = match iteration {
                            0 => 1.0,
                            1 => 2.0 / (2.0 - self.acceleration * self.acceleration),
                            _ => 4.0 / (4.0 - self.acceleration * self.acceleration * omega),
                        };
                        for i in worker.share(0..shared.len()) {
                            let base = before_last.get(i);
                            let x = (shared.get(i) - base) * omega + base;
                            before_last.set(i, last.get(i));
                            last.set(i, x);
                            shared.set(i, x);
                        }
                        worker.barrier();
                    }
                    if iteration + 1 == self.iterations
                        && let Ok(mut largest) = largest.lock()
                    {
                        // A maximum does not depend on the order in which the threads come.
                        *largest = largest.max(moved);
                    }
                }
            });
        }
        self.last = last;
        self.before_last = before_last;
        motion.set_velocities(substep.step);
        let residual = largest.into_inner().unwrap_or_default();
        Ok(Outcome { iterations: self.iterations, residual, stable_step: None })
    }
}
