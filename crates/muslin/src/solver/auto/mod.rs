//! `xpbd` with the settings that a quality needs, found from the scene and kept right while it runs.
//!
//! ```text
//! quality.max_strain    no edge is left with more strain at the end of a frame
//! quality.motion        e/L ≤ motion,  L the size of the largest cloth,
//!                       e the distance (root mean square over vertices) to the converged motion that half a second leaves
//! ```
//!
//! **What it chooses at the start.** Cloth that hardly stretches is held together over long ways by long-range constraints and tethers (`long_range.rs`); then the number
//! of substeps depends neither on the mesh nor on the stiffness, only on how far a free fall bends a motion in a step:
//!
//! ```text
//! h = motion / (SLOWNESS √(g/L))             SLOWNESS from sheets of 64² and 128² vertices hung by two corners
//! ```
//!
//! Long-range constraints do not stretch, so they are as long as the cloth where the material would hardly stretch either: where the weight of a cloth over its stiffness, m g/Y,
//! is a length of at most a quarter of `motion`. Of softer cloth they are longer by `max_strain`, and the steps are at most three times the longest stable one
//! of an explicit scheme: beyond that one sweep leaves more than the material would give. Cloth whose rest shape is not flat is swept in such steps without long-range constraints.
//!
//! **What it finds out as it goes.** In some windows of half a second a second cloth, the twin, runs along from the same state with half the substeps. The error
//! of a step is about proportional to its length, so their distance at the end of a frame estimates that of the run to the converged motion; the largest of a
//! window decides how many substeps the next ones get. Where more substeps have not brought the two closer, the motion depends on more than the step (as that
//! of a flag does), and the number stays.
//!
//! A frame that leaves an edge beyond the limit of strain, as the jerk at the end of a fall may, is computed again with twice the substeps, up to eight times as
//! many, while that helps; the next frame begins with what this one needed, or with half of it where the limit was held with ease or not at all. If most frames are computed again, the number grows for all.
//!
//! What is known is carried in `State::history`, so that a resumed run has the same bits.
//!
//! `residual` in the report: as for `xpbd`. `iterations`: those of all that was computed for a frame.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::math::Vec3;
use crate::model::edge_strain;
use crate::parallel::sharing;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::solver::position_based::xpbd;
use crate::solver::position_based::{Help, Plan, PositionBased};
use crate::solver::{
    Context, MOST_SUBSTEPS, Need, Quality, Solver, SolverKind, Stages, StepError, StepReport, explicit,
};
use crate::state::State;
use crate::topology::is_flat;

/// The scene's `auto`.
pub const KIND: SolverKind = SolverKind {
    entry: Entry {
        name: "auto",
        summary: "the cheapest settings of xpbd that hold a strain and a motion, which it measures as it goes",
        source: "Kim, Chentanez, Müller 2012, Long Range Attachments; Provot 1995 for the limit of strain; Richardson 1911",
        parameters: &[STRAIN, MOTION],
        one_of: &[],
    },
    build: |settings| Box::new(Auto::new(settings)),
    reads_k: false,
    reads_damping: true,
    needs: Need::Constraints,
};

/// Both, where a scene says nothing.
const QUALITY: f64 = 0.01;

const STRAIN: Parameter = Parameter {
    name: "quality.max_strain",
    unit: "",
    kind: Kind::Number { min: 1e-4, max: 1.0 },
    default: Some(Setting::Number(QUALITY)),
    meaning: "strain, either way, that edges are left with at most, whatever the material",
};

const MOTION: Parameter = Parameter {
    name: "quality.motion",
    unit: "",
    kind: Kind::Number { min: 1e-4, max: 0.5 },
    default: Some(Setting::Number(QUALITY)),
    meaning: "distance to the converged motion after half a second, as a part of the cloth's size",
};

/// See above; a sheet of 1 m with 24 substeps a frame of 1/60 s is 1 cm off.
const SLOWNESS: f64 = 4.7;
/// Of the time that a window has, in s.
const WINDOW: f64 = 0.5;
/// Frames of a window at most.
const MOST_FRAMES: u32 = 1000;
/// Windows with a twin: the first so many, and then one of so many.
const FIRST_WINDOWS: u32 = 2;
const WINDOW_EVERY: u32 = 8;
/// Without long-range constraints: steps over the longest stable one.
const BEYOND_STABLE: f64 = 3.0;
/// Substeps of a frame at least; what a collision between two of them may be off by grows with their length.
const FEWEST: u32 = 8;
/// Where nothing is known about the stability of the cloth: it has rigid parts.
const RIGID_SUBSTEPS: u32 = 160;
/// Over what it begins with at most.
const MOST_GROWTH: u32 = 8;
/// Part of the motion that is aimed at, so that noise does not make it pass the limit.
const AIM: f64 = 0.7;
/// More substeps have to bring the estimate below this part of what it was.
const GAIN: f64 = 0.85;
/// Frames of a window, as a part, that may be computed again.
const MOST_STRAINED: f64 = 0.5;
/// Substeps of a frame that is computed again, over those of the others, at most.
const MOST_REPEATED: u32 = 8;
/// Computing a frame again has to bring the strain below this part of what it was.
const STRAIN_GAIN: f64 = 0.75;
/// Frames in which none is computed again after that was in vain.
const PATIENCE: u32 = 6;
/// Numbers that are carried, as vectors.
const HEADER: usize = 4;

struct Auto {
    max_strain: f64,
    motion: f64,
    /// Made for the first frame.
    engines: Option<Engines>,
}

/// Two solvers of the same settings, and what was found out about the model.
struct Engines {
    main: PositionBased<f32>,
    twin: PositionBased<f32>,
    twin_state: State,
    /// Where the frame began, and the best that was made of it.
    before: State,
    good: State,
    start: Start,
}

/// What the scene alone says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    long_range: bool,
    /// How much longer than the cloth long-range constraints and tethers are, as a part.
    give: f64,
    substeps: u32,
    /// L, in m.
    size: f64,
}

/// What is carried from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Memory {
    substeps: u32,
    /// Windows that are over, and frames of this one.
    window: u32,
    frame: u32,
    /// Frames of this window that were computed again.
    strained: u32,
    /// Frames to come in which none is.
    patience: u32,
    /// What the substeps of the next frame are multiplied with.
    factor: u32,
    /// Whether a twin runs along.
    is_measured: bool,
    /// The largest distance to it in this window, in m.
    distance: f64,
    /// The last estimate, in m, and with how many substeps it was made; zero before the first.
    estimate: f64,
    estimated_with: u32,
    /// Whether more substeps did not help.
    is_settled: bool,
    /// Whether the window before asked for more, so that this one shows what they do.
    is_probing: bool,
}

impl Memory {
    fn new(start: Start) -> Self {
        Self {
            substeps: start.substeps,
            window: 0,
            frame: 0,
            strained: 0,
            patience: 0,
            factor: 1,
            is_measured: false,
            distance: 0.0,
            estimate: 0.0,
            estimated_with: 0,
            is_settled: false,
            is_probing: false,
        }
    }

    /// From the first vectors of the history of `count` vertices; `None` if it is not one of this solver.
    fn read(history: &[Vec3<f64>], count: usize) -> Option<Self> {
        let [a, b, c, d, ..] = history else { return None };
        let is_count = |x: &f64| *x >= 0.0 && *x <= f64::from(u32::MAX / 2) && *x == x.trunc();
        let counts = [a.x, a.y, a.z, b.x, c.y, d.x, d.y];
        let is_ours = (history.len() == HEADER || history.len() == HEADER + 2 * count)
            && counts.iter().all(is_count)
            && (f64::from(FEWEST)..=MOST_SUBSTEPS as f64).contains(&a.x)
            && (1.0..=f64::from(MOST_REPEATED)).contains(&d.y)
            && b.z.is_finite()
            && c.x.is_finite();
        is_ours.then_some(Self {
            substeps: a.x as u32,
            window: a.y as u32,
            frame: a.z as u32,
            strained: b.x as u32,
            is_measured: b.y != 0.0,
            distance: b.z,
            estimate: c.x,
            estimated_with: c.y as u32,
            is_settled: c.z != 0.0,
            patience: d.x as u32,
            factor: d.y as u32,
            is_probing: d.z != 0.0,
        })
    }

    fn write(self) -> [Vec3<f64>; HEADER] {
        let yes = |is: bool| f64::from(u8::from(is));
        [
            Vec3::new(f64::from(self.substeps), f64::from(self.window), f64::from(self.frame)),
            Vec3::new(f64::from(self.strained), yes(self.is_measured), self.distance),
            Vec3::new(self.estimate, f64::from(self.estimated_with), yes(self.is_settled)),
            Vec3::new(f64::from(self.patience), f64::from(self.factor), yes(self.is_probing)),
        ]
    }

    /// The last estimate, or what this window has shown so far if that is more, in m.
    fn known_distance(&self) -> Option<f64> {
        let is_known = self.estimated_with > 0 || self.is_measured;
        is_known.then(|| self.distance.max(self.estimate))
    }

    /// Whether a twin runs along in the window that begins.
    fn wants_twin(&self) -> bool {
        self.window < FIRST_WINDOWS || self.window.is_multiple_of(WINDOW_EVERY) || self.is_probing
    }

    /// What a window of `frames` frames has shown; `least` and `most` substeps are allowed.
    fn conclude(&mut self, frames: u32, aim: f64, (least, most): (u32, u32)) {
        let before = self.substeps;
        if self.is_measured {
            // What did not help once may help later.
            self.is_settled &= !self.window.is_multiple_of(WINDOW_EVERY);
            if self.is_probing && self.distance > GAIN * self.estimate {
                self.is_settled = true;
                self.substeps = self.estimated_with;
            } else {
                (self.estimate, self.estimated_with) = (self.distance, self.substeps);
                let ratio = self.distance / aim;
                // A little below the aim is where it should be.
                let is_near = (0.6..=1.0).contains(&ratio);
                if !(is_near || self.is_settled && ratio > 1.0) {
                    // The estimate is too large where substeps are very few, so growth is limited.
                    self.substeps = (f64::from(self.substeps) * ratio.clamp(0.75, 1.5)).ceil() as u32;
                }
            }
        }
        self.is_probing = self.is_measured && self.substeps > before;
        if f64::from(self.strained) > MOST_STRAINED * f64::from(frames) {
            self.substeps += self.substeps.div_ceil(4);
        }
        self.substeps = self.substeps.clamp(least, most);
        (self.frame, self.strained, self.is_measured, self.distance) = (0, 0, false, 0.0);
        self.window += 1;
    }
}

impl Start {
    fn find(context: &Context<'_>, (max_strain, motion): (f64, f64), dt: f64) -> Self {
        let model = context.model;
        let size = model.cloths.iter().map(|cloth| cloth.mesh.extent()).fold(0.0, f64::max);
        let gravity = model.gravity.norm().max(1.0);
        let allowed = motion * size;
        // Where a hand or the wind pulls, the weight is a measure of that too.
        let is_stiff = model.cloths.iter().all(|cloth| cloth.mass * gravity <= 0.25 * allowed * cloth.stiffness);
        let is_taut = model.cloths.iter().all(|cloth| cloth.slack == 0.0);
        let is_flat = model.cloths.iter().all(|cloth| is_flat(&cloth.mesh));
        let step = motion / (SLOWNESS * (gravity / size.max(1e-9)).sqrt());
        let with_ropes = substeps_of(dt, step);
        let is_rigid = model.cloths.iter().any(|cloth| cloth.stiffness.is_infinite());
        let without = || {
            // A rigid or a slack spring has no force at rest.
            let stable = explicit::undamped_step(model, context.terms, dt).filter(|_| is_taut && !is_rigid);
            stable.map_or(RIGID_SUBSTEPS, |stable| substeps_of(dt, BEYOND_STABLE * stable))
        };
        let give = if is_stiff && is_taut { 0.0 } else { max_strain };
        let substeps = if is_flat && give == 0.0 { with_ropes } else { without().max(with_ropes) };
        Self { long_range: is_flat, give, substeps, size }
    }

    fn most(&self) -> u32 {
        self.substeps.saturating_mul(MOST_GROWTH).min(MOST_SUBSTEPS as u32)
    }
}

fn substeps_of(dt: f64, step: f64) -> u32 {
    // A cast of a float stays within the range.
    ((dt / step).ceil() as u32).clamp(FEWEST, MOST_SUBSTEPS as u32)
}

impl Auto {
    fn new(settings: &Settings) -> Self {
        let number = |parameter: &Parameter| settings.number(parameter.name).unwrap_or(QUALITY);
        Self { max_strain: number(&STRAIN), motion: number(&MOTION), engines: None }
    }

    fn engines(&mut self, context: &Context<'_>, dt: f64) -> &mut Engines {
        let Self { max_strain, motion, engines } = self;
        engines.get_or_insert_with(|| {
            let start = Start::find(context, (*max_strain, *motion), dt);
            let help = Help { long_range: start.long_range, give: start.give, max_strain: Some(*max_strain) };
            let engine = || {
                let plan = Plan { substeps: start.substeps, iterations: 1 };
                PositionBased::new(xpbd::sweeps(), plan, help)
            };
            let twin_state = State { positions: Vec::new(), velocities: Vec::new(), time: 0.0, history: Vec::new() };
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

impl Solver for Auto {
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let (max_strain, motion) = (self.max_strain, self.motion);
        let engines = self.engines(context, dt);
        let start = engines.start;
        let count = state.positions.len();
        let mut memory = Memory::read(&state.history, count).unwrap_or_else(|| Memory::new(start));
        let frames = (WINDOW / dt).ceil().clamp(1.0, f64::from(MOST_FRAMES)) as u32;
        let is_twin_known = state.history.len() == HEADER + 2 * count;
        if memory.frame == 0 {
            memory.is_measured = memory.wants_twin();
        } else {
            memory.is_measured &= is_twin_known;
        }
        if memory.is_measured {
            engines.follow(state, memory.frame > 0);
        }
        let mut report = engines.advance_main(context, state, dt, max_strain, &mut memory)?;
        if memory.is_measured {
            let twin = engines.advance_twin(context, report.substeps, dt);
            memory.is_measured = twin.is_some();
            report.iterations += twin.unwrap_or(0);
        }
        if memory.is_measured {
            memory.distance = memory.distance.max(distance(&state.positions, &engines.twin_state.positions));
        }
        memory.frame += 1;
        report.quality = Some(Quality {
            long_range: u64::try_from(engines.main.long_range_count()).unwrap_or(u64::MAX),
            motion: memory.known_distance().map(|distance| distance / start.size.max(f64::MIN_POSITIVE)),
        });
        if memory.frame >= frames {
            memory.conclude(frames, AIM * motion * start.size, (start.substeps, start.most()));
        }
        state.history.clear();
        state.history.extend(memory.write());
        if memory.is_measured {
            state.history.extend(&engines.twin_state.positions);
            state.history.extend(&engines.twin_state.velocities);
        }
        Ok(report)
    }

    fn disturb(&self, history: &mut Vec<Vec3<f64>>) {
        // The twin would be thrown to where the hand is.
        history.truncate(HEADER);
        if let [_, counts, ..] = &mut history[..] {
            counts.y = 0.0;
        }
    }
}

impl Engines {
    /// Puts the twin where it was, as the history says, or else where the cloth is.
    fn follow(&mut self, state: &State, is_known: bool) {
        let count = state.positions.len();
        let (positions, velocities) = if is_known {
            state.history[HEADER..].split_at(count)
        } else {
            (&state.positions[..], &state.velocities[..])
        };
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
        memory: &mut Memory,
    ) -> Result<StepReport, StepError> {
        copy(state, &mut self.before);
        let (mut stages, mut strain_before, mut factor) = (Stages::default(), f64::INFINITY, memory.factor);
        let mut iterations = 0;
        let mut good: Option<StepReport> = None;
        loop {
            self.main.set_substeps(memory.substeps.saturating_mul(factor).min(MOST_SUBSTEPS as u32));
            let report = match (self.main.advance(context, state, dt), good) {
                (Ok(report), _) => report,
                (Err(error), None) => return Err(error),
                // What went wrong only with more substeps was good enough before.
                (Err(_), Some(report)) => {
                    copy(&self.good, state);
                    memory.patience = PATIENCE;
                    memory.factor = 1;
                    return Ok(StepReport { stages, iterations, ..report });
                }
            };
            stages.add(&report.stages);
            iterations += report.iterations;
            let strain = largest_strain(context, &state.positions);
            let is_in_vain = factor >= MOST_REPEATED || factor > 2 && strain > STRAIN_GAIN * strain_before;
            if strain <= max_strain || is_in_vain || memory.patience > 0 {
                let is_given_up = strain > max_strain && is_in_vain;
                memory.patience = if is_given_up { PATIENCE } else { memory.patience.saturating_sub(1) };
                memory.strained += u32::from(strain_before.is_finite());
                // What took many rounds to hold would be computed twice with half of it.
                let is_eased = strain > max_strain || self.main.is_at_ease();
                memory.factor = if is_eased { factor.div_ceil(2) } else { factor };
                return Ok(StepReport { stages, iterations, ..report });
            }
            copy(state, &mut self.good);
            copy(&self.before, state);
            good = Some(report);
            (strain_before, factor) = (strain, 2 * factor);
        }
    }

    /// Advances the twin with half of the substeps; how many sweeps that took, if it could.
    fn advance_twin(&mut self, context: &Context<'_>, substeps: u32, dt: f64) -> Option<u32> {
        self.twin.share(&self.main);
        self.twin.set_substeps(substeps.div_ceil(2));
        self.twin.advance(context, &mut self.twin_state, dt).ok().map(|report| report.iterations)
    }
}

/// Copies positions, velocities and time, and leaves the history.
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
fn largest_strain(context: &Context<'_>, positions: &[Vec3<f64>]) -> f64 {
    let edges = &context.model.edges;
    let largest = AtomicU64::new(0);
    context.team.run(sharing(context.threads, positions.len()), |worker| {
        let share = edges[worker.share(0..edges.len())].iter();
        let strain = share.map(|&(edge, rest)| edge_strain(positions, edge, rest)).fold(0.0, f64::max);
        // Numbers that are not negative have the order of their bits, and a maximum has no order at all.
        largest.fetch_max(strain.to_bits(), Ordering::Relaxed);
    });
    f64::from_bits(largest.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(substeps: u32) -> Memory {
        Memory::new(Start { long_range: true, give: 0.0, substeps, size: 1.0 })
    }

    #[test]
    fn what_is_carried_comes_back() {
        let kept = Memory { window: 3, frame: 7, strained: 2, is_measured: true, distance: 0.25, ..memory(31) };
        let kept = Memory {
            estimate: 0.5,
            estimated_with: 12,
            is_settled: true,
            patience: 9,
            factor: 4,
            is_probing: true,
            ..kept
        };
        assert_eq!(Memory::read(&kept.write(), 9), Some(kept));
        assert_eq!(Memory::read(&[], 9), None);
        assert_eq!(Memory::read(&[Vec3::new(0.3, 0.1, -0.2); 18], 9), None, "of another solver");
    }

    #[test]
    fn a_window_that_is_too_far_off_asks_for_more_and_a_good_one_for_less() {
        let far = |distance| {
            let mut memory = Memory { is_measured: true, distance, ..memory(40) };
            memory.conclude(30, 0.01, (10, 1000));
            memory.substeps
        };
        assert_eq!([far(0.1), far(0.012), far(0.008), far(0.001)], [60, 48, 40, 30]);
    }

    #[test]
    fn substeps_that_do_not_help_are_given_up() {
        let mut memory = Memory { is_measured: true, distance: 0.1, ..memory(40) };
        memory.conclude(30, 0.01, (10, 1000));
        (memory.is_measured, memory.distance) = (true, 0.095);
        memory.conclude(30, 0.01, (10, 1000));
        assert_eq!((memory.substeps, memory.is_settled), (40, true));
        (memory.is_measured, memory.distance) = (true, 0.2);
        memory.conclude(30, 0.01, (10, 1000));
        assert_eq!(memory.substeps, 40, "and not asked for again");
    }

    #[test]
    fn many_strained_frames_ask_for_more_too() {
        let mut memory = Memory { strained: 16, ..memory(40) };
        memory.conclude(30, 0.01, (10, 1000));
        assert_eq!(memory.substeps, 50);
        let mut memory = Memory { strained: 15, ..self::memory(40) };
        memory.conclude(30, 0.01, (10, 1000));
        assert_eq!(memory.substeps, 40);
    }
}
