//! Controller of [`auto`](super): the number of substeps, from the scene and from what a run shows.
//!
//! **Feed-forward.** Cloth that hardly stretches is held together by long-range constraints and tethers (`position_based/long_range.rs`). Then the number of
//! substeps depends neither on the mesh nor on the stiffness, only on how far a free fall bends a motion in a step:
//!
//! ```text
//! h = motion / (SLOWNESS √(g/L))             SLOWNESS from sheets of 64² and 128² vertices hung by two corners
//! ```
//!
//! | cloth | long-range constraints | steps at most |
//! |---|---|---|
//! | flat at rest, m g/Y ≤ ¼ motion · L | as long as the cloth | h |
//! | flat at rest, softer | longer by `max_strain` | h, and three times the stable step of an explicit scheme: beyond that one sweep leaves more than the material would give |
//! | not flat at rest | none | the same |
//!
//! **Feedback on motion.** In some windows of half a second a second cloth, the twin, runs along from the same state with half the substeps n. The error of a step is about
//! proportional to its length, so their distance d at the end of a frame estimates that of the run to the converged motion. The largest of a window decides:
//!
//! ```text
//! r = d / (AIM · motion · L)        n ← n            if 0.6 ≤ r ≤ 1
//!                                   n ← n · clamp(r, ¾, 1½)   otherwise
//! ```
//!
//! A window after n has grown is measured too. If d has not fallen below GAIN of what it was, the motion depends on more than the step, as that of a flag does: n goes back
//! and stays, until a later window tries again.
//!
//! **Feedback on strain.** A frame that leaves an edge beyond the limit, as the jerk at the end of a fall may, is computed again with twice the substeps, up to eight
//! times as many, while that helps. The next frame begins with what this one needed, or with half of it where the limit was held with ease or not at all. If most frames of a
//! window are computed again, n grows by a quarter.
//!
//! The state of the controller is carried in the state's memory, so that a resumed run has the same bits.

use crate::solver::position_based::settings::LongRangeSettings;
use crate::solver::{Context, MOST_SUBSTEPS, explicit};
use crate::state::{AutoMemory, Controller, SolverMemory};
use crate::topology::is_flat;

/// See above: a sheet of 1 m with 24 substeps a frame of 1/60 s is 1 cm off.
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

/// Settings that follow from the scene alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InitialSettings {
    /// Long-range constraints, where the cloth is flat at rest.
    pub(crate) long_range: Option<LongRangeSettings>,
    pub(crate) substeps: u32,
    /// L, in m.
    pub(crate) size: f64,
}

impl InitialSettings {
    /// Finds them for frames of `dt` seconds.
    pub(crate) fn find(context: &Context<'_>, (max_strain, motion): (f64, f64), dt: f64) -> Self {
        let model = context.model;
        let size = model.cloths.iter().map(|cloth| cloth.mesh.extent()).fold(0.0, f64::max);
        let gravity = model.gravity.norm().max(1.0);
        let allowed = motion * size;
        // Where a grab or the wind pulls, the weight is a measure of that too.
        let is_stiff = model.cloths.iter().all(|cloth| cloth.mass * gravity <= 0.25 * allowed * cloth.stiffness);
        let is_taut = model.cloths.iter().all(|cloth| cloth.slack == 0.0);
        let is_flat = model.cloths.iter().all(|cloth| is_flat(&cloth.mesh));
        let step = motion / (SLOWNESS * (gravity / size.max(1e-9)).sqrt());
        let with_long_range = substeps_of(dt, step);
        let is_rigid = model.cloths.iter().any(|cloth| cloth.stiffness.is_infinite());
        let without_long_range = || {
            // A rigid or a slack spring has no force at rest.
            let stable = explicit::undamped_step(model, context.terms, dt).filter(|_| is_taut && !is_rigid);
            stable.map_or(RIGID_SUBSTEPS, |stable| substeps_of(dt, BEYOND_STABLE * stable))
        };
        let elongation = if is_stiff && is_taut { 0.0 } else { max_strain };
        let substeps =
            if is_flat && elongation == 0.0 { with_long_range } else { without_long_range().max(with_long_range) };
        Self { long_range: is_flat.then_some(LongRangeSettings { elongation }), substeps, size }
    }

    /// The most substeps that the controller may ask for.
    pub(crate) fn most(&self) -> u32 {
        self.substeps.saturating_mul(MOST_GROWTH).min(MOST_SUBSTEPS as u32)
    }
}

fn substeps_of(dt: f64, step: f64) -> u32 {
    // A cast of a float stays within the range.
    ((dt / step).ceil() as u32).clamp(FEWEST, MOST_SUBSTEPS as u32)
}

impl Controller {
    pub(crate) fn new(start: InitialSettings) -> Self {
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

    /// What a state remembers, if it is of this solver and can be.
    pub(crate) fn recalled(memory: &SolverMemory) -> Option<Self> {
        let SolverMemory::Auto(AutoMemory { controller, .. }) = memory else { return None };
        let is_sound = (FEWEST..=MOST_SUBSTEPS as u32).contains(&controller.substeps)
            && (1..=MOST_REPEATED).contains(&controller.factor)
            && controller.distance.is_finite()
            && controller.estimate.is_finite();
        is_sound.then_some(*controller)
    }

    /// The last estimate, or what this window has shown so far if that is more, in m.
    pub(crate) fn known_distance(&self) -> Option<f64> {
        let is_known = self.estimated_with > 0 || self.is_measured;
        is_known.then(|| self.distance.max(self.estimate))
    }

    /// Begins a frame; whether the memory knows where the twin is decides if one still runs along.
    pub(crate) fn begin_frame(&mut self, is_twin_known: bool) {
        if self.frame == 0 {
            self.is_measured = self.wants_twin();
        } else {
            self.is_measured &= is_twin_known;
        }
    }

    /// Notes how far the twin is at the end of a frame, in m.
    pub(crate) fn observe(&mut self, distance: f64) {
        self.distance = self.distance.max(distance);
    }

    /// Ends a frame of `dt` seconds, and with it perhaps a window.
    pub(crate) fn end_frame(&mut self, dt: f64, motion: f64, start: &InitialSettings) {
        let frames = (WINDOW / dt).ceil().clamp(1.0, f64::from(MOST_FRAMES)) as u32;
        self.frame += 1;
        if self.frame >= frames {
            self.conclude(frames, AIM * motion * start.size, (start.substeps, start.most()));
        }
    }

    /// Whether a frame is good enough, or computing it again is in vain: its strain against the limit, and whether that was held with ease.
    pub(crate) fn accepts(&mut self, attempt: &Attempt, (strain, limit): (f64, f64), is_at_ease: bool) -> bool {
        let Attempt { factor, strain_before } = *attempt;
        let is_in_vain = factor >= MOST_REPEATED || factor > 2 && strain > STRAIN_GAIN * strain_before;
        if !(strain <= limit || is_in_vain || self.patience > 0) {
            return false;
        }
        let is_given_up = strain > limit && is_in_vain;
        self.patience = if is_given_up { PATIENCE } else { self.patience.saturating_sub(1) };
        self.strained += u32::from(strain_before.is_finite());
        // What took many rounds to hold would be computed twice with half of it.
        let is_eased = strain > limit || is_at_ease;
        self.factor = if is_eased { factor.div_ceil(2) } else { factor };
        true
    }

    /// More substeps were in vain: the next frames are computed once.
    pub(crate) fn stop_attempts(&mut self) {
        (self.patience, self.factor) = (PATIENCE, 1);
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

/// One computation of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// Its substeps over those of the controller.
    factor: u32,
    /// The strain that the attempt before has left; infinite for the first.
    strain_before: f64,
}

impl Attempt {
    /// With what the frame before needed.
    pub(crate) fn first(controller: &Controller) -> Self {
        Self { factor: controller.factor, strain_before: f64::INFINITY }
    }

    /// With twice the substeps, after this one has left so much strain.
    pub(crate) fn next(self, strain: f64) -> Self {
        Self { factor: 2 * self.factor, strain_before: strain }
    }

    /// How many substeps it takes.
    pub(crate) fn substeps(&self, controller: &Controller) -> u32 {
        controller.substeps.saturating_mul(self.factor).min(MOST_SUBSTEPS as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::state::{AutoMemory, SolverMemory};

    fn controller(substeps: u32) -> Controller {
        Controller::new(InitialSettings { long_range: None, substeps, size: 1.0 })
    }

    #[test]
    fn what_is_carried_comes_back() {
        let kept = Controller { window: 3, frame: 7, strained: 2, is_measured: true, distance: 0.25, ..controller(31) };
        let kept = Controller {
            estimate: 0.5,
            estimated_with: 12,
            is_settled: true,
            patience: 9,
            factor: 4,
            is_probing: true,
            ..kept
        };
        let memory = SolverMemory::Auto(AutoMemory { controller: kept, twin: None });
        assert_eq!(SolverMemory::from_vectors(&memory.to_vectors(), 9), memory);
        assert_eq!(SolverMemory::from_vectors(&[], 9), SolverMemory::Nothing);
        let of_another = SolverMemory::from_vectors(&[Vec3::new(0.3, 0.1, -0.2); 18], 9);
        assert!(matches!(of_another, SolverMemory::StepBefore(_)), "{of_another:?}");
    }

    #[test]
    fn a_window_that_is_too_far_off_asks_for_more_and_a_good_one_for_less() {
        let far = |distance| {
            let mut controller = Controller { is_measured: true, distance, ..controller(40) };
            controller.conclude(30, 0.01, (10, 1000));
            controller.substeps
        };
        assert_eq!([far(0.1), far(0.012), far(0.008), far(0.001)], [60, 48, 40, 30]);
    }

    #[test]
    fn substeps_that_do_not_help_are_given_up() {
        let mut controller = Controller { is_measured: true, distance: 0.1, ..controller(40) };
        controller.conclude(30, 0.01, (10, 1000));
        (controller.is_measured, controller.distance) = (true, 0.095);
        controller.conclude(30, 0.01, (10, 1000));
        assert_eq!((controller.substeps, controller.is_settled), (40, true));
        (controller.is_measured, controller.distance) = (true, 0.2);
        controller.conclude(30, 0.01, (10, 1000));
        assert_eq!(controller.substeps, 40, "and not asked for again");
    }

    #[test]
    fn many_strained_frames_ask_for_more_too() {
        let mut controller = Controller { strained: 16, ..controller(40) };
        controller.conclude(30, 0.01, (10, 1000));
        assert_eq!(controller.substeps, 50);
        let mut controller = Controller { strained: 15, ..self::controller(40) };
        controller.conclude(30, 0.01, (10, 1000));
        assert_eq!(controller.substeps, 40);
    }
}
