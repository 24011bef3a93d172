//! Shape matching as a solver: no forces, no system, only clusters that pull their vertices into shape.
//!
//! ```text
//! y = xⁿ + h v + h² M⁻¹f
//! g, R       goals and rotations of the clusters at y;  g⁰, R⁰ those at xⁿ
//! e = y − g,  d = R R⁰ᵀ(xⁿ − g⁰)            the deviation at the end of free flight, and at its start turned along
//! x = y − (1 − E) e + s E d                  s = h/τ,  E = exp(−s)
//! v ← v + (E ((1 − s)(e − d) − s² d) − (e − d))/h
//! ```
//!
//! That is the exact solution over one step of a critically damped oscillator of each vertex about its goal,
//!
//! ```text
//! d̈ + 2ḋ/τ + d/τ² = 0        d(t) = (d₀ + (ḋ₀ + d₀/τ) t) exp(−t/τ)
//! ```
//!
//! so the *relaxation time* τ means the same for every step, and any step is stable; τ = 0 is rigid. (The stiffness α ∈ [0, 1] of the paper pulls by
//! a share per step, and makes cloth the stiffer the smaller the step.) Pulls of overlapping regions are averaged by the shares of
//! [`Clusters`], which keeps momentum to rounding. Angular momentum is kept by the pulls but not by the straight flight to y: a sheet that spins by ω loses
//! (hω)²/2 of it in a step, as in implicit Euler.
//!
//! It is fast and cannot fail, and it is not mechanics: the stiffness of a cloth is its `region` and its τ, not Y and B, and models of the scene are not
//! used. A region is a plate, so cloth bends no sharper than `region`, and stretch that grows slowly from region to region is not resisted as much.
//!
//! `residual` in the report: the largest deviation from a goal that was left, in m.
//!
//! [Müller et al. 2005, Meshless Deformations Based on Shape Matching], [Rivers, James 2007].

use crate::energy::stretch::cluster::{BETA, Clusters, MODE, Mode, Patch, REGION};
use crate::math::Vec3;
use crate::model::Model;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::typed;
use crate::solver::substep_loop::{Motion, Outcome, PairSearch, Scheme, Substep, SubstepLoop};
use crate::solver::{Context, Need, SUBSTEPS, SolverKind, StepError, paced};
use crate::state::State;

/// The scene's `shape_matching`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "shape_matching",
        summary: "clusters that pull their vertices back into shape: fast, not mechanics",
        source: "Müller et al. 2005, Meshless Deformations Based on Shape Matching; Rivers, James 2007, FastLSM",
        parameters: &[SUBSTEPS, REGION, MODE, BETA, RELAXATION],
        one_of: &[],
    },
    build: |settings| paced(settings, false, |substeps| Box::new(SubstepLoop::new(Matching::new(settings), substeps))),
    reads_k: false,
    reads_damping: false,
    needs: Need::Nothing,
};

/// Settings of the scene's `shape_matching`.
///
/// ```
/// use muslin::solver::ShapeMatching;
/// use muslin::{Cloth, Simulation};
///
/// let solver = ShapeMatching { region: 0.6, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeMatching {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// Radius of the regions that keep their shape, in m; 0 = the whole cloth is one.
    pub region: f64,
    /// The freedom of a region.
    pub mode: Mode,
    /// Time constant of the return into shape, in s; 0 = rigid.
    pub relaxation: f64,
}

typed!(ShapeMatching: SolverSettings, KIND, { substeps, region, mode, relaxation });

/// Substeps of a frame at least, where the solver chooses them.
const FEWEST: u32 = 4;

const RELAXATION: Parameter = Parameter {
    name: "relaxation",
    unit: "s",
    kind: Kind::Number { min: 0.0, max: f64::INFINITY },
    default: Some(Setting::Number(0.01)),
    meaning: "time constant of the return into shape, critically damped; 0 = rigid",
};

/// The scheme.
struct Matching {
    mode: Mode,
    radius: f64,
    /// τ, in s.
    relaxation: f64,
    clusters: Option<Clusters>,
    /// Masses and pins that the clusters were weighed for.
    held: Vec<bool>,
    /// By which to move each vertex, in m, and to change its velocity, in m/s.
    moves: Vec<[Vec3<f64>; 2]>,
}

impl Matching {
    fn new(settings: &Settings) -> Self {
        let number = |name| settings.number(name).unwrap_or(0.0);
        Self {
            mode: Mode::read(settings),
            radius: number(REGION.name),
            relaxation: number(RELAXATION.name),
            clusters: None,
            held: Vec::new(),
            moves: Vec::new(),
        }
    }
}

/// The clusters of all cloths.
fn clusters_of(model: &Model, mode: Mode, radius: f64) -> Clusters {
    let mut clusters = Clusters::new(mode);
    for cloth in &model.cloths {
        let first = cloth.vertices.start as u32;
        let user: Vec<Vec3<f64>> = cloth.mesh.positions.iter().map(|&p| p.into()).collect();
        let edges = model.edges.iter().filter(|(edge, _)| cloth.vertices.contains(&(edge[0] as usize)));
        let edges: Vec<[u32; 2]> = edges.map(|(edge, _)| edge.map(|v| v - first)).collect();
        clusters.add(&Patch { rest: &cloth.ordering.reordered(&user), edges: &edges, first_vertex: first }, radius);
    }
    clusters
}

impl Scheme for Matching {
    fn wanted_substeps(&mut self, _: &Context<'_>, _: &mut Motion, _: &State, _: f64) -> u32 {
        FEWEST
    }

    fn prepare(&mut self, context: &Context<'_>, _motion: &Motion, _step: f64) -> Result<(), StepError> {
        let model = context.model;
        if self.clusters.is_none() {
            self.clusters = Some(clusters_of(model, self.mode, self.radius));
            self.held.clear();
        }
        self.moves.resize(model.masses.len(), [Vec3::ZERO; 2]);
        Ok(())
    }

    fn step(
        &mut self,
        substep: &Substep<'_>,
        motion: &mut Motion,
        _: &mut PairSearch<'_>,
    ) -> Result<Outcome, StepError> {
        let Some(clusters) = &mut self.clusters else { return Ok(Outcome::default()) };
        let is_held = |v: usize| motion.inverse_masses[v] == 0.0;
        let held = motion.inverse_masses.iter().map(|w| *w == 0.0);
        if !self.held.iter().copied().eq(held.clone()) {
            self.held.clear();
            self.held.extend(held);
            clusters.weigh(&substep.model.masses, is_held);
        }
        let h = substep.step;
        let (decay, linear, square) = decays(h, self.relaxation);
        self.moves.fill([Vec3::ZERO; 2]);
        let mut largest: f64 = 0.0;
        for (cluster, members) in clusters.iter() {
            let (before, after) = (clusters.fit(cluster, &motion.previous), clusters.fit(cluster, &motion.predicted));
            let turn = after.rotation.times(&before.rotation.transposed());
            for member in members {
                let v = member.vertex as usize;
                let e = motion.predicted[v] - after.goal(member);
                let d = turn.apply(motion.previous[v] - before.goal(member));
                let flown = e - d;
                let [shift, kick] = &mut self.moves[v];
                *shift += (e * (decay - 1.0) + d * linear) * member.share;
                *kick += (flown * (decay - linear - 1.0) - d * square) * (member.share / h);
                largest = largest.max((e * decay + d * linear).norm_squared());
            }
        }
        for (v, [shift, kick]) in self.moves.iter().enumerate() {
            if !is_held(v) {
                motion.positions[v] = motion.predicted[v] + *shift;
                motion.velocities[v] += *kick;
            }
        }
        Ok(Outcome { iterations: 1, residual: largest.sqrt(), ..Outcome::default() })
    }
}

/// E, s E and s² E; all zero for a relaxation in no time.
fn decays(step: f64, relaxation: f64) -> (f64, f64, f64) {
    let s = step / relaxation;
    // Beyond this E is zero in double precision, and s may be infinite.
    if s > 1000.0 || s.is_nan() {
        return (0.0, 0.0, 0.0);
    }
    let decay = libm::exp(-s);
    (decay, s * decay, s * s * decay)
}
