//! Whether cloth that was sewn has come to rest: whether it goes anywhere.
//!
//! Where cloth is pressed on a body or on itself, contact moves single vertices to and fro by some tenths of a millimetre between two frames, and their speed says nothing. So positions are compared
//! with those an eighth, a quarter, three eighths and half of a second before: what swings is not where it was at all of these times.

use std::collections::VecDeque;

use muslin::Simulation;
use muslin_io::IoError;

use super::caches;
use super::folder::Folder;

/// Marks in half a second.
const MARKS: usize = 4;

/// Positions of the last half second.
#[derive(Debug)]
pub(crate) struct RestWatch {
    /// Frames between two marks.
    apart: usize,
    /// Of all cloths, in m, the oldest first.
    marks: VecDeque<Vec<[f32; 3]>>,
    /// Distance from the farthest of the marks over half a second, in m/s.
    travel: Option<f64>,
}

impl RestWatch {
    /// Of so many frames a second.
    pub(crate) fn new(fps: f64) -> Self {
        let apart = (0.5 * fps / MARKS as f64).ceil().max(1.0) as usize;
        Self { apart, marks: VecDeque::new(), travel: None }
    }

    /// That of a run which goes on after a frame, from the frames in its folder.
    pub(super) fn resume(fps: f64, folder: &Folder, simulation: &Simulation) -> Result<Self, IoError> {
        let mut watch = Self::new(fps);
        let (frame, apart) = (simulation.frame(), watch.apart);
        let first = (frame / apart).saturating_sub(MARKS);
        for mark in first..=frame / apart {
            let mut all = Vec::new();
            for cloth in &simulation.model().cloths {
                let mut positions = Vec::new();
                caches::read(folder, &cloth.name)?.read(mark * apart, &mut positions)?;
                all.extend(positions);
            }
            watch.mark(all);
        }
        Ok(watch)
    }

    /// Takes a frame; the first is 0.
    pub(crate) fn see(&mut self, simulation: &Simulation) {
        self.travel = None;
        if simulation.frame().is_multiple_of(self.apart) {
            let mut all = Vec::new();
            for cloth in 0..simulation.cloth_count() {
                let mut positions = Vec::new();
                simulation.positions(cloth, &mut positions);
                all.extend(positions);
            }
            self.mark(all);
        }
    }

    fn mark(&mut self, positions: Vec<[f32; 3]>) {
        if self.marks.len() == MARKS {
            let way = |mark: &Vec<[f32; 3]>| {
                let ways = mark
                    .iter()
                    .zip(&positions)
                    .map(|(a, b)| (0..3).map(|k| f64::from(b[k] - a[k])).map(|x| x * x).sum::<f64>());
                ways.fold(0.0, f64::max).sqrt()
            };
            self.travel = Some(self.marks.iter().map(way).fold(0.0, f64::max) / 0.5);
            self.marks.pop_front();
        }
        self.marks.push_back(positions);
    }

    /// How far a vertex has gone in the last half second at most, over that, in m/s; `None` between two marks.
    pub(crate) fn travel(&self) -> Option<f64> {
        self.travel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_swings_goes_somewhere_and_what_jitters_does_not() {
        let travel = |at: &dyn Fn(f64) -> f64| {
            let mut watch = RestWatch::new(60.0);
            (0..5).for_each(|mark| watch.mark(vec![[at(f64::from(mark) * 0.125) as f32, 0.0, 0.0]]));
            watch.travel().unwrap()
        };
        for period in [0.3, 0.5, 1.0, 2.0] {
            assert!(travel(&|t| 0.01 * libm::sin(std::f64::consts::TAU * t / period)) > 5e-3, "{period} s");
        }
        assert!(travel(&|t| 3e-4 * (1e3 * t % 1.0)) < 5e-3);
        assert!((travel(&|t| 0.02 * t) - 0.02).abs() < 1e-6, "at a speed");
    }
}
