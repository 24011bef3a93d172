//! Stages of a substep: the order of the algorithm, the keys of `stages_ms` in a report, and the headings of the documentation are one list.

use std::ops::{AddAssign, Index, IndexMut};

use crate::solver::Clock;

/// One stage of a substep.
///
/// ```
/// use muslin::solver::Stage;
///
/// assert_eq!(Stage::ALL.map(Stage::key), ["predict", "solve", "collide", "update"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// y = x + h v + h² M⁻¹ f: every vertex where damping, wind and gravity take it; pins where their paths lead.
    Predict,
    /// From y to x: the energies, by sweeps, forces or linear systems.
    Solve,
    /// Out of the colliders, and cloth out of cloth, with friction.
    Collide,
    /// v = (x − xⁿ)/h, and the copies into the solver and out of it.
    Update,
}

impl Stage {
    /// All of them, in the order of the algorithm.
    pub const ALL: [Self; 4] = [Self::Predict, Self::Solve, Self::Collide, Self::Update];

    /// The key in `stages_ms`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Predict => "predict",
            Self::Solve => "solve",
            Self::Collide => "collide",
            Self::Update => "update",
        }
    }

    /// The heading in the documentation.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Predict => "Predict",
            Self::Solve => "Solve",
            Self::Collide => "Collide",
            Self::Update => "Update",
        }
    }
}

/// Seconds in each stage.
///
/// ```
/// use muslin::solver::{Stage, StageTimes};
///
/// let mut times = StageTimes::default();
/// times[Stage::Solve] += 0.25;
/// let keys: Vec<_> = times.iter().map(|(stage, seconds)| (stage.key(), seconds)).collect();
/// assert_eq!(keys, [("predict", 0.0), ("solve", 0.25), ("collide", 0.0), ("update", 0.0)]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes([f64; Stage::ALL.len()]);

impl StageTimes {
    /// Stages with their times, in the order of the algorithm.
    pub fn iter(&self) -> impl Iterator<Item = (Stage, f64)> {
        Stage::ALL.into_iter().zip(self.0)
    }
}

impl Index<Stage> for StageTimes {
    type Output = f64;

    fn index(&self, stage: Stage) -> &f64 {
        &self.0[stage as usize]
    }
}

impl IndexMut<Stage> for StageTimes {
    fn index_mut(&mut self, stage: Stage) -> &mut f64 {
        &mut self.0[stage as usize]
    }
}

impl AddAssign for StageTimes {
    fn add_assign(&mut self, other: Self) {
        for (sum, time) in self.0.iter_mut().zip(other.0) {
            *sum += time;
        }
    }
}

/// Profile of one thread: adds up the time of its stages.
pub(crate) struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    runs: bool,
    last: f64,
    times: StageTimes,
}

impl<'a> Stopwatch<'a> {
    /// Counts from now on, or never if it does not run.
    pub(crate) fn new(clock: &'a dyn Clock, runs: bool) -> Self {
        Self { clock, runs, last: if runs { clock.seconds() } else { 0.0 }, times: StageTimes::default() }
    }

    /// Adds the time since the last lap to a stage.
    pub(crate) fn lap(&mut self, stage: Stage) {
        if self.runs {
            let now = self.clock.seconds();
            self.times[stage] += now - self.last;
            self.last = now;
        }
    }

    /// The time of each stage so far.
    pub(crate) fn times(&self) -> StageTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_stage_stands_at_its_place_and_is_called_by_its_heading() {
        for (place, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, place, "{stage:?}");
            assert_eq!(stage.heading(), format!("{stage:?}"));
            assert_eq!(stage.key(), stage.heading().to_lowercase());
        }
    }

    #[test]
    fn laps_add_up_on_the_thread_whose_watch_runs() {
        let ticks = AtomicU32::new(0);
        let clock = || f64::from(ticks.fetch_add(1, Ordering::Relaxed));
        let mut watch = Stopwatch::new(&clock, true);
        [Stage::Predict, Stage::Solve, Stage::Solve].into_iter().for_each(|stage| watch.lap(stage));
        assert_eq!(Stage::ALL.map(|stage| watch.times()[stage]), [1.0, 2.0, 0.0, 0.0]);
        let mut still = Stopwatch::new(&clock, false);
        still.lap(Stage::Solve);
        assert_eq!(still.times(), StageTimes::default());
        assert_eq!(ticks.into_inner(), 4, "a watch that stands still asks no clock");
    }
}
