//! `auto`: [`xpbd`](crate::solver::xpbd) or [`explicit`](crate::solver::explicit) with the settings that a quality needs, found from the scene and kept right while it runs.
//!
//! ```text
//! quality.max_strain    no edge is left with more strain at the end of a frame, where the settings can hold it there
//! quality.motion        e/L ≤ motion,  L the size of the largest cloth,
//!                       e the distance (root mean square over vertices) to the converged motion that half a second leaves
//! ```
//!
//! `controller.rs` is the control law: how many substeps a scene begins with, and how their number follows from the motion error and the strain. This file is the plant:
//! the cloth, the comparison cloth with half the substeps (the *twin*), and the frames that are computed again.
//!
//! The *plain* way (`plain.rs`) has no strain limit and no long-range constraints, for scenes in which these would be wrong: `xpbd` with as many substeps as energy and strain ask for (`solver/adaptive.rs`), or
//! `explicit` where those would be as many as it needs. It does not estimate the motion error.
//!
//! | where | why |
//! |---|---|
//! | there are colliders | limits push against what contact holds, and make energy |
//! | a frame with limits made up energy, 0.1 % where cloth touches and 5 % elsewhere; it is computed again, and all after it are plain too | in wind, and at a single pinned vertex, cloth whips against the limits |
//! | cloth touches cloth in a frame whose energy is not known | pins that move do unknown work beside long-range constraints |
//! | a cloth that its weight alone stretches beyond the limit | a limit would make another material of it |
//!
//! `residual` in the report: as for the solver that computed the frame. `iterations`: those of all that was computed for a frame.

mod controller;
mod plain;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::math::Vec3;
use crate::model::Model;
use crate::model::edge_strain;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::typed;
use crate::solver::adaptive::{Adaptive, EnergySum, GAIN, Paced};
use crate::solver::auto::controller::{Attempt, InitialSettings};
use crate::solver::auto::plain::Plain;
use crate::solver::position_based::PositionBased;
use crate::solver::position_based::settings::LoopSettings;
use crate::solver::position_based::xpbd::XpbdLaw;
use crate::solver::{Context, Need, Quality, Solver, SolverKind, StageTimes, StepError, StepReport};
use crate::state::{AutoMemory, Controller, SolverMemory, State, StepBefore};

/// The scene's `auto`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "auto",
        summary: "xpbd or explicit, with the cheapest settings that hold a strain and a motion, which it measures as it goes",
        source: "Kim, Chentanez, Müller 2012, Long Range Attachments; Provot 1995 for the limit of strain; Richardson 1911",
        parameters: &[STRAIN, MOTION],
        one_of: &[],
    },
    build: |settings| Box::new(AutoSolver::new(settings)),
    reads_k: false,
    reads_damping: true,
    needs: Need::Constraints,
};

/// Settings of the scene's `auto`.
///
/// ```
/// use muslin::solver::Auto;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Auto { max_strain: 0.02, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// Strain, either way, that edges are left with at most.
    pub max_strain: f64,
    /// Distance to the converged motion after half a second, as a part of the cloth's size.
    pub motion: f64,
}

typed!(Auto: SolverSettings, KIND, { max_strain = "quality.max_strain", motion = "quality.motion" });

/// Energy from nowhere in a frame in which nothing touches, as a part of the energy scale, beyond which the limits are given up. A jerk makes less, and without limits it would cost several times as much.
const JERK: f64 = 0.05;

/// The part of weight times size that counts as an energy scale where nothing touches.
const PART_OF_WEIGHT: f64 = 0.1;

/// Both, where a scene says nothing; of other solvers that choose their substeps, the strain beyond which they try more of them.
pub(crate) const QUALITY: f64 = 0.01;

const STRAIN: Parameter = Parameter {
    name: "quality.max_strain",
    unit: "",
    kind: Kind::Number { min: 1e-4, max: 1.0 },
    default: Some(Setting::Number(QUALITY)),
    meaning: "strain, either way, that edges are left with at most, where substeps can hold it there",
};

const MOTION: Parameter = Parameter {
    name: "quality.motion",
    unit: "",
    kind: Kind::Number { min: 1e-4, max: 0.5 },
    default: Some(Setting::Number(QUALITY)),
    meaning: "distance to the converged motion after half a second, as a part of the cloth's size",
};

struct AutoSolver {
    max_strain: f64,
    motion: f64,
    /// Made for the first frame without contact.
    engines: Option<Engines>,
    /// Made for the first frame without limits.
    plain: Option<Adaptive>,
    facts: Option<Facts>,
    watch: EnergyWatch,
}

/// Two solvers of the same settings, and what was found out about the model.
struct Engines {
    main: PositionBased<f32, XpbdLaw>,
    twin: PositionBased<f32, XpbdLaw>,
    twin_state: State,
    /// Where the frame began, and the best that was made of it.
    before: State,
    good: State,
    start: InitialSettings,
}

impl AutoSolver {
    fn new(settings: &Settings) -> Self {
        let number = |parameter: &Parameter| settings.number(parameter.name).unwrap_or(QUALITY);
        Self {
            max_strain: number(&STRAIN),
            motion: number(&MOTION),
            engines: None,
            plain: None,
            facts: None,
            watch: EnergyWatch::new(),
        }
    }

    fn engines(&mut self, context: &Context<'_>, dt: f64) -> &mut Engines {
        let Self { max_strain, motion, engines, .. } = self;
        engines.get_or_insert_with(|| {
            let start = InitialSettings::find(context, (*max_strain, *motion), dt);
            let engine = || {
                PositionBased::new(LoopSettings {
                    substeps: start.substeps,
                    iterations: 1,
                    long_range: start.long_range,
                    max_strain: Some(*max_strain),
                    pull: None,
                })
            };
            let twin_state = State::empty();
            Engines {
                main: engine(),
                twin: engine(),
                before: twin_state.clone(),
                good: twin_state.clone(),
                twin_state,
                start,
            }
        })
    }
}

impl Solver for AutoSolver {
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let model = context.model;
        let has_bodies = !model.colliders.is_empty() || !model.bodies.is_empty();
        let Facts { is_soft, weight } = *self.facts.get_or_insert_with(|| Facts::of(model, self.max_strain));
        if has_bodies || matches!(state.memory, SolverMemory::Pace(..)) || is_soft {
            return self.advance_plainly(context, state, dt);
        }
        self.watch.begin(context, state);
        let report = self.advance_freely(context, state, dt)?;
        let end = EnergySum::of(context, state);
        let touches = report.contacts > 0;
        let (least, most) = if touches { (0.0, GAIN) } else { (weight, JERK) };
        // What pins that move do is not known beside long-range constraints, which are good for them where nothing touches.
        if !self.watch.energy.made_up(&end, report.work, least).map_or(touches, |made_up| made_up > most) {
            self.watch.accept(state, end);
            return Ok(report);
        }
        copy(&self.watch.before, state);
        state.memory = SolverMemory::Nothing;
        self.advance_plainly(context, state, dt)
    }
}

/// What decides about the way of a scene.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Whether a cloth that hangs by its whole border stretches beyond the limit by its weight: ρ g L/Y at the top, L the size of the cloth.
    is_soft: bool,
    /// A part of what the cloths' weights do over their sizes, in J: an energy scale for frames in which little moves.
    weight: f64,
}

impl Facts {
    fn of(model: &Model, max_strain: f64) -> Self {
        let (gravity, mut facts) = (model.gravity.norm(), Self { is_soft: false, weight: 0.0 });
        for cloth in &model.cloths {
            let (area, size) = (cloth.mesh.total_area(), cloth.mesh.extent());
            facts.is_soft |= cloth.mass / area * gravity * size > max_strain * cloth.stiffness;
            facts.weight += PART_OF_WEIGHT * cloth.mass * gravity * size;
        }
        facts
    }
}

impl AutoSolver {
    /// `xpbd` or `explicit`, with as many substeps as energy and strain ask for.
    fn advance_plainly(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let max_strain = self.max_strain;
        let engine = self.plain.get_or_insert_with(|| Adaptive::within_strain(Box::new(Plain::new()), max_strain));
        let report = engine.advance(context, state, dt)?;
        let quality = Quality { strained_by_load: engine.is_strained_by_load(), ..Quality::default() };
        Ok(StepReport { quality: Some(quality), ..report })
    }

    /// `xpbd` with long-range constraints, a strain limit, and a twin that measures the motion.
    fn advance_freely(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let (max_strain, motion) = (self.max_strain, self.motion);
        let engines = self.engines(context, dt);
        let start = engines.start;
        let mut controller = Controller::recalled(&state.memory).unwrap_or_else(|| Controller::new(start));
        let known_twin = known_twin(state);
        controller.begin_frame(known_twin.is_some());
        if controller.is_measured {
            engines.follow(state, known_twin.filter(|_| controller.frame > 0));
        }
        let mut report = engines.advance_main(context, state, dt, max_strain, &mut controller)?;
        if controller.is_measured {
            let twin = engines.advance_twin(context, report.substeps, dt);
            controller.is_measured = twin.is_some();
            report.iterations += twin.unwrap_or(0);
        }
        if controller.is_measured {
            controller.observe(distance(&state.positions, &engines.twin_state.positions));
        }
        report.quality = Some(Quality {
            long_range: u64::try_from(engines.main.long_range_count()).unwrap_or(u64::MAX),
            motion: controller.known_distance().map(|distance| distance / start.size.max(f64::MIN_POSITIVE)),
            strained_by_load: false,
        });
        controller.end_frame(dt, motion, &start);
        state.memory.keep_auto(controller, controller.is_measured.then_some(&engines.twin_state));
        Ok(report)
    }
}

impl Engines {
    /// Puts the twin where it was, as the memory says, or else where the cloth is.
    fn follow(&mut self, state: &State, known: Option<&StepBefore>) {
        let start = (&state.positions, &state.velocities);
        let (positions, velocities) = known.map_or(start, |twin| (&twin.positions, &twin.velocities));
        let twin = &mut self.twin_state;
        twin.positions.clear();
        twin.positions.extend_from_slice(positions);
        twin.velocities.clear();
        twin.velocities.extend_from_slice(velocities);
        twin.time = state.time;
    }

    /// Advances the cloth, again with more substeps where an edge is left beyond the limit. On an error `state` is as it was.
    fn advance_main(
        &mut self,
        context: &Context<'_>,
        state: &mut State,
        dt: f64,
        max_strain: f64,
        controller: &mut Controller,
    ) -> Result<StepReport, StepError> {
        copy(state, &mut self.before);
        let (mut stages, mut iterations) = (StageTimes::default(), 0);
        let mut attempt = Attempt::first(controller);
        let mut good: Option<StepReport> = None;
        loop {
            self.main.set_substeps(attempt.substeps(controller));
            let report = match (self.main.advance(context, state, dt), good) {
                (Ok(report), _) => report,
                (Err(error), None) => return Err(error),
                // What went wrong only with more substeps was good enough before.
                (Err(_), Some(report)) => {
                    copy(&self.good, state);
                    controller.stop_attempts();
                    return Ok(StepReport { stages, iterations, ..report });
                }
            };
            stages += report.stages;
            iterations += report.iterations;
            let strain = largest_strain(context, &state.positions);
            if controller.accepts(&attempt, (strain, max_strain), self.main.is_at_ease()) {
                return Ok(StepReport { stages, iterations, ..report });
            }
            copy(state, &mut self.good);
            copy(&self.before, state);
            good = Some(report);
            attempt = attempt.next(strain);
        }
    }

    /// Advances the twin with half of the substeps; how many sweeps that took, if it could.
    fn advance_twin(&mut self, context: &Context<'_>, substeps: u32, dt: f64) -> Option<u32> {
        self.twin.share(&self.main);
        self.twin.set_substeps(substeps.div_ceil(2));
        self.twin.advance(context, &mut self.twin_state, dt).ok().map(|report| report.iterations)
    }
}

/// Looks for energy from nowhere in the frames of one way.
struct EnergyWatch {
    /// Where the frame began; between two frames, where the last one ended.
    before: State,
    /// Of that.
    energy: EnergySum,
}

impl EnergyWatch {
    fn new() -> Self {
        Self { before: State::empty(), energy: EnergySum::default() }
    }

    fn begin(&mut self, context: &Context<'_>, state: &State) {
        let before = &self.before;
        if before.positions != state.positions || before.velocities != state.velocities {
            copy(state, &mut self.before);
            self.energy = EnergySum::of(context, state);
        }
        self.before.time = state.time;
    }

    fn accept(&mut self, state: &State, energy: EnergySum) {
        copy(state, &mut self.before);
        self.energy = energy;
    }
}

/// Where the twin of a state is, if one runs along.
fn known_twin(state: &State) -> Option<&StepBefore> {
    let SolverMemory::Auto(AutoMemory { twin: Some(twin), .. }) = &state.memory else { return None };
    let count = state.positions.len();
    (twin.positions.len() == count && twin.velocities.len() == count).then_some(twin)
}

/// Copies positions, velocities and time, and leaves the memory.
fn copy(from: &State, to: &mut State) {
    to.positions.clone_from(&from.positions);
    to.velocities.clone_from(&from.velocities);
    to.time = from.time;
}

/// Root mean square, in m.
fn distance(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (*a - *b).norm_squared()).sum();
    (sum / a.len().max(1) as f64).sqrt()
}

/// Of all edges, either way.
pub(crate) fn largest_strain(context: &Context<'_>, positions: &[Vec3<f64>]) -> f64 {
    let edges = &context.model.edges;
    let largest = AtomicU64::new(0);
    let threads = context.team.sharing(context.threads, positions.len());
    context.team.run(threads, |worker| {
        let share = edges[worker.share(0..edges.len())].iter();
        let strain = share.map(|&(edge, rest)| edge_strain(positions, edge, rest)).fold(0.0, f64::max);
        // Numbers that are not negative have the order of their bits, and a maximum has no order at all.
        largest.fetch_max(strain.to_bits(), Ordering::Relaxed);
    });
    f64::from_bits(largest.into_inner())
}
