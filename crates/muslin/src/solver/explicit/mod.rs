//! Explicit time steps: forces where the cloth is, no equation to solve.
//!
//! ```text
//! a(x, v) = −w ( ∇E(x) + τ/α ∇C (∇C·v) )           elastic and internal damping forces
//!
//! symplectic    v⁺ = v* + h a(xⁿ, vⁿ),              x⁺ = xⁿ + h v⁺
//! forward       v⁺ = v* + h a(xⁿ, vⁿ),              x⁺ = xⁿ + h vⁿ
//! verlet        v⁺ = v* + h a(xⁿ + ½h vⁿ, vⁿ),      x⁺ = xⁿ + ½h (vⁿ + v⁺)
//! ```
//!
//! h substep (in s), w = 1/m, v* = vⁿ after the damping of the material, wind and gravity of one substep. Internal damping is taken
//! at vⁿ itself, the velocity before all of these.
//!
//! `symplectic` (semi-implicit Euler) is of the first order, `verlet` (leapfrog: half a drift, a kick, half a drift) of the second
//! for one evaluation of the forces too, but for wind and damping, which stay at the first. Both keep the energy of an
//! undamped motion within bounds while h < 2/ω, ω the fastest frequency of the mesh.
//!
//! `forward` (explicit Euler) is what textbooks warn of: each step multiplies the amplitude by √(1 + h²ω²), so without damping it overshoots at every h.
//! There is no scheme of a higher order: Runge and Kutta's of the fourth takes four evaluations for a limit of 2.83/ω, so
//! a stiff cloth, whose step the limit dictates, would pay nearly three times as much.
//!
//! With damping the limit is smaller, h²ω² + 2hc < 4 (`stability.rs`). It is measured at the start of each frame and
//! stands in the report; the resistance of the air is not in it. A run that is over it ends as soon as an edge changes by `LEAP`
//! times its length in one substep, which no sound motion does; by twice its length where contact is resolved, which cuts what is longer.
//!
//! `residual` in the report: zero, since nothing is left unsolved.
//!
//! [Hairer, Lubich, Wanner 2006, Geometric Numerical Integration, I.1 and VI.3], [Provot 1995] for cloth.

pub(crate) mod force_buffers;
pub(crate) mod stability;
pub(crate) mod stiffness_matrix;
pub(crate) mod symplectic;

use crate::math::Vec3;
use crate::model::Model;
use crate::parallel::{Shared, Team};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::{typed, word};
use crate::solver::explicit::stability::{Mode, Stability};
use crate::solver::explicit::symplectic::Symplectic;
use crate::solver::substep_loop::{Motion, Outcome, PairSearch, Scheme, Substep, SubstepLoop};
use crate::solver::{
    Context, Instant, MOST_SUBSTEPS, Need, NoClock, Precision, SUBSTEPS, SolverKind, StepError, Term, paced,
};
use crate::state::State;

/// The scene's `explicit`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "explicit",
        summary: "forces and no equations: simple, exact for small steps, and unstable beyond h = 2/ω, which it reports",
        source: "Hairer, Lubich, Wanner 2006, Geometric Numerical Integration; Provot 1995 for cloth",
        parameters: &[SUBSTEPS, SCHEME, PRECISION],
        one_of: &[],
    },
    build: |settings| match (settings.choice("scheme"), settings.choice("precision")) {
        (Some("symplectic"), Some("f32")) => paced(settings, true, |substeps| Box::new(Symplectic::new(substeps))),
        _ => paced(settings, true, |substeps| {
            Box::new(SubstepLoop::new(ExplicitScheme::new(settings, substeps), substeps))
        }),
    },
    reads_k: false,
    reads_damping: true,
    needs: Need::Potentials,
};

/// Settings of the scene's `explicit`.
///
/// ```
/// use muslin::solver::Explicit;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Explicit { substeps: 200, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let limit = simulation.advance()?.stable_step.ok_or("springs have a limit")?;
/// assert!(limit > 1.0 / 60.0 / 200.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explicit {
    /// Time steps in a frame; 0 lets the solver choose them.
    pub substeps: u32,
    /// The formula of a step.
    pub scheme: Stepping,
    /// Numbers of `Symplectic`; the other schemes are always double.
    pub precision: Precision,
}

typed!(Explicit: SolverSettings, KIND, { substeps, scheme, precision });

/// The formula of a step of [`Explicit`].
///
/// ```
/// use muslin::solver::{Explicit, Stepping};
///
/// let solver = Explicit { scheme: Stepping::Verlet, ..Default::default() };
/// assert_eq!(Explicit::default().scheme, Stepping::Symplectic);
/// # let _ = solver;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepping {
    /// Symplectic Euler.
    Symplectic,
    /// Forward Euler, which overshoots.
    Forward,
    /// Leapfrog, of the second order.
    Verlet,
}

word!(Stepping { Symplectic = "symplectic", Forward = "forward", Verlet = "verlet" });

const SCHEME: Parameter = Parameter {
    name: "scheme",
    unit: "",
    kind: Kind::Choice(&["symplectic", "forward", "verlet"]),
    default: Some(Setting::Choice("symplectic")),
    meaning: "symplectic Euler; forward Euler, which overshoots; or leapfrog, of the second order",
};

const PRECISION: Parameter = Parameter {
    name: "precision",
    unit: "",
    kind: Kind::Choice(&["f32", "f64"]),
    default: Some(Setting::Choice("f32")),
    meaning: "numbers of \"symplectic\": single is several times faster; the other schemes are always double",
};

/// An edge that changes by so many of its rest lengths in one substep, while the step is over its limit, has diverged.
const LEAP: f64 = 100.0;

/// The same where contact cuts motions that are longer than two edges, so that nothing ever leaps farther.
const LEAP_IN_CONTACT: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Symplectic,
    Forward,
    Verlet,
}

struct ExplicitScheme {
    order: Order,
    substeps: u32,
    spectrum: Stability,
    /// The longest stable step, in s, at the start of the frame.
    limit: f64,
    /// Whether a term without any damping swings; found at the first frame, for forward steps.
    is_free: Option<bool>,
    /// vⁿ, in m/s.
    velocities: Vec<Vec3<f64>>,
    /// Where the forces are taken, in m, if that is not where the vertices are.
    middles: Vec<Vec3<f64>>,
    /// ∂(E + D)/∂x, in N.
    gradient: Vec<Vec3<f64>>,
}

impl ExplicitScheme {
    fn new(settings: &Settings, substeps: u32) -> Self {
        Self {
            order: match settings.choice("scheme") {
                Some("forward") => Order::Forward,
                Some("verlet") => Order::Verlet,
                _ => Order::Symplectic,
            },
            substeps,
            spectrum: Stability::default(),
            limit: f64::INFINITY,
            is_free: None,
            velocities: Vec::new(),
            middles: Vec::new(),
            gradient: Vec::new(),
        }
    }

    /// Forces at `positions`, for the velocities that are kept.
    fn add_up(&mut self, context: &Context<'_>, positions: &[Vec3<f64>]) {
        self.gradient.clear();
        self.gradient.resize(positions.len(), Vec3::ZERO);
        let velocities = &self.velocities;
        let gradient = Shared::open(context.team, &mut self.gradient);
        context.team.run(context.threads, |worker| {
            // Without a step there is no damping in the gradient: that is added from the velocities.
            let at = Instant { positions, previous: positions, step: f64::INFINITY };
            for term in context.terms {
                term.add_gradient(worker, at, &gradient);
                term.add_drag(worker, positions, velocities, &gradient);
            }
        });
    }
}

/// Whether the fastest motion of some term alone is not damped at all.
fn swings_freely(context: &Context<'_>, motion: &Motion, step: f64) -> bool {
    (0..context.terms.len()).any(|term| {
        let mode = Stability::of_term(term).measure(context, motion, step);
        mode.stiffness > 0.0 && mode.damping <= 0.0
    })
}

/// The longest step, in s, with which a scene's solver of this kind is stable at the start, zero where none is, if there is a limit.
pub fn stable_step(model: &Model, terms: &[Box<dyn Term>], settings: &Settings, step: f64) -> Option<f64> {
    let mut scheme = ExplicitScheme::new(settings, 1);
    let limit = at_start(model, terms, |context, motion| {
        scheme.prepare(context, motion, step).ok()?;
        Some(scheme.limit)
    });
    limit.filter(|limit| limit.is_finite())
}

/// The same without damping.
pub(crate) fn undamped_step(model: &Model, terms: &[Box<dyn Term>], step: f64) -> Option<f64> {
    let limit = at_start(model, terms, |context, motion| {
        let mode = Stability::default().measure(context, motion, step);
        Mode { damping: 0.0, ..mode }.symplectic_limit()
    });
    limit.is_finite().then_some(limit)
}

/// Substeps of a frame at least, and the part of the longest stable step that one takes, where the solver chooses them: within a frame cloth may be strained and get stiffer.
const FEWEST: u32 = 8;
const PART_OF_STABLE: f64 = 0.7;

/// The substeps that a frame of `dt` seconds takes where steps are stable up to `limit`, in s.
///
/// A step of a ladder, an eighth apart: what follows from their number is not made anew in every frame.
pub(crate) fn stable_substeps(dt: f64, limit: f64) -> u32 {
    let needed = (dt / (PART_OF_STABLE * limit)).min(MOST_SUBSTEPS as f64);
    let mut substeps = FEWEST;
    while f64::from(substeps) < needed {
        substeps += substeps / 8;
    }
    substeps.min(MOST_SUBSTEPS as u32)
}

/// Puts a motion where a state is, with what pins hold there.
pub(crate) fn hold_at(motion: &mut Motion, model: &Model, state: &State) {
    let Motion { positions, inverse_masses, .. } = motion;
    positions.clone_from(&state.positions);
    inverse_masses.clone_from(&model.inverse_masses);
    for pinned in &model.pinned {
        if model.pins[pinned.pin as usize].pose(state.time).is_some() {
            inverse_masses[pinned.vertex as usize] = 0.0;
        }
    }
}

/// Looks at a model where it starts.
fn at_start<T>(model: &Model, terms: &[Box<dyn Term>], look: impl FnOnce(&Context<'_>, &Motion) -> T) -> T {
    let mut motion = Motion::default();
    motion.positions.clone_from(&model.initial_positions);
    motion.inverse_masses.clone_from(&model.inverse_masses);
    for pinned in &model.pinned {
        if model.pins[pinned.pin as usize].pose(0.0).is_some() {
            motion.inverse_masses[pinned.vertex as usize] = 0.0;
        }
    }
    let context = Context { model, terms, team: &Team::solo(), threads: 1, clock: &NoClock };
    look(&context, &motion)
}

/// The first vertex of an edge that leaps, or that is nowhere.
pub(crate) fn diverged(model: &Model, velocity: impl Fn(usize) -> Vec3<f64>, step: f64) -> Option<usize> {
    let is_cut = model.self_contact.is_some() || !model.bodies.is_empty();
    let leap = if is_cut { LEAP_IN_CONTACT } else { LEAP };
    let leaps = |&([a, b], rest): &([u32; 2], f64)| {
        let change = (velocity(b as usize) - velocity(a as usize)) * (step / (leap * rest));
        let is_sound = change.norm_squared() <= 1.0;
        (!is_sound).then_some(a as usize)
    };
    model.edges.iter().find_map(leaps)
}

impl Scheme for ExplicitScheme {
    fn wanted_substeps(&mut self, context: &Context<'_>, motion: &mut Motion, state: &State, dt: f64) -> u32 {
        hold_at(motion, context.model, state);
        let mode = self.spectrum.measure(context, motion, dt);
        let limit = if self.order == Order::Forward { mode.forward_limit() } else { mode.symplectic_limit() };
        stable_substeps(dt, limit)
    }

    fn leaves_true_strain(&self) -> bool {
        true
    }

    fn set_substeps(&mut self, substeps: u32) {
        self.substeps = substeps;
    }

    fn prepare(&mut self, context: &Context<'_>, motion: &Motion, step: f64) -> Result<(), StepError> {
        let mode: Mode = self.spectrum.measure(context, motion, step);
        self.limit = match self.order {
            Order::Symplectic | Order::Verlet => mode.symplectic_limit(),
            // The fastest mode may be damped and another not, and that one overshoots at every step.
            Order::Forward if *self.is_free.get_or_insert_with(|| swings_freely(context, motion, step)) => 0.0,
            Order::Forward => mode.forward_limit(),
        };
        Ok(())
    }

    fn begin(&mut self, motion: &Motion) {
        self.velocities.clone_from(&motion.velocities);
    }

    fn step(
        &mut self,
        substep: &Substep<'_>,
        motion: &mut Motion,
        _: &mut PairSearch<'_>,
    ) -> Result<Outcome, StepError> {
        let h = substep.step;
        for (i, w) in motion.inverse_masses.iter().enumerate() {
            // A held vertex is led: its velocity is that of its path in this substep.
            if *w == 0.0 {
                self.velocities[i] = motion.velocities[i];
            }
        }
        if self.order == Order::Verlet {
            let mut middles = std::mem::take(&mut self.middles);
            middles.clear();
            middles.extend(motion.previous.iter().zip(&self.velocities).map(|(x, v)| *x + *v * (0.5 * h)));
            self.add_up(substep.context, &middles);
            self.middles = middles;
        } else {
            // Not `positions`: pins are at the end of the substep there, and their springs would pull from a place that no step has.
            self.add_up(substep.context, &motion.previous);
        }
        for (i, w) in motion.inverse_masses.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let before = self.velocities[i];
            let after = motion.velocities[i] - self.gradient[i] * (h * w);
            let mean = match self.order {
                Order::Symplectic => after,
                Order::Forward => before,
                Order::Verlet => (before + after) * 0.5,
            };
            motion.velocities[i] = after;
            motion.positions[i] += mean * h;
        }
        if h > self.limit
            && let Some(vertex) = diverged(substep.model, |vertex| motion.velocities[vertex], h)
        {
            return Err(StepError::unstable(substep.model, vertex, h, self.limit, self.substeps));
        }
        let stable_step = self.limit.is_finite().then_some(self.limit);
        Ok(Outcome { iterations: 1, stable_step, ..Outcome::default() })
    }
}
