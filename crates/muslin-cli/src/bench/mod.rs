//! Measurements of this build on this machine.
//!
//! Throughput alone misleads: a sweep that is twice as fast and leaves twice the strain has won nothing. So every sheet
//! is reported with the strain it was left with.

mod contact;
mod machine;
mod memory;
mod quality;
mod setup;
mod sheet;
mod threads;

pub(crate) use contact::{ContactRow, Plan as ContactPlan, Subject, measure as measure_contact};
pub(crate) use machine::Machine;
pub(crate) use memory::{measure as measure_memory, measure_here as measure_memory_here};
pub(crate) use quality::{Plan as QualityPlan, Trial, converge, measure as measure_quality};
pub(crate) use setup::measure as measure_setup;
pub(crate) use sheet::{Bend, Plan as SheetPlan, measure as measure_sheet};
pub(crate) use threads::{Plan as ThreadsPlan, measure as measure_threads};

use std::time::Instant;

use serde::Serialize;

/// One quantity that was measured: a row of the table of all machines.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// `setup`, `memory` and its peak, the bending model of a sheet, the scene of a measurement of contact, `team`, or a solver whose threads are counted.
    pub(crate) subject: &'static str,
    pub(crate) vertices: usize,
    pub(crate) threads: usize,
    pub(crate) quantity: &'static str,
    pub(crate) unit: &'static str,
    /// The best of all repetitions: what the machine can do when nothing else disturbs it.
    pub(crate) best: f64,
    pub(crate) median: f64,
    /// How often it was measured.
    pub(crate) count: usize,
}

/// Seconds of repeated measurements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Measures some work, once more.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.push(start.elapsed().as_secs_f64());
        result
    }

    /// Takes over a measurement in seconds.
    pub(crate) fn push(&mut self, seconds: f64) {
        self.0.push(seconds);
    }

    pub(crate) fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summed_up() {
        let samples = Samples(vec![3.0, 1.0, 2.0]);
        assert_eq!([samples.best(), samples.median()], [1.0, 2.0]);
        assert_eq!(Samples(vec![1.0, 2.0]).median(), 2.0, "the upper of two");
    }
}
