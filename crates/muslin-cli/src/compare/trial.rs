//! One run of a comparison. Only the solver is timed; measurements are taken between its frames.

use std::time::Instant;

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::output::Diagnostics;
use muslin::parameter::Settings;
use muslin::scene::Scene;
use muslin::solver::StepError;
use serde::Serialize;

use crate::clock;
use crate::mesh_files::MeshFiles;
use crate::session::report::Frame;
use crate::session::{FrameWatch, Progress};
use crate::words::percent;

use super::entrants::Entrant;

/// An edge a hundred times as long as at rest is no cloth any more, and the numbers have not overflowed yet.
const DIVERGED: f64 = 100.0;

/// What was measured at every frame, the initial state included: all lists are of one length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Series {
    /// In s.
    pub(crate) time: Vec<f64>,
    /// What the frame took, in ms; nothing for the initial state.
    pub(crate) wall_ms: Vec<Option<f64>>,
    /// In J, as the other energies.
    pub(crate) kinetic_energy: Vec<f64>,
    pub(crate) elastic_energy: Vec<f64>,
    pub(crate) gravity_energy: Vec<f64>,
    pub(crate) total_energy: Vec<f64>,
    /// Energy from nowhere: above what the cloth began with and was given since; nothing where that is not known.
    pub(crate) energy_error: Vec<Option<f64>>,
    pub(crate) max_strain: Vec<f64>,
    pub(crate) mean_strain: Vec<f64>,
    /// The solver's own measure; nothing for the initial state.
    pub(crate) residual: Vec<Option<f64>>,
    /// Root of the mean square over the vertices, in m; nothing where the reference has no such frame.
    pub(crate) distance_rms: Vec<Option<f64>>,
    /// Of the vertex that is farthest off, in m.
    pub(crate) distance_max: Vec<Option<f64>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    Done,
    /// And why.
    Failed(String),
    /// Somebody stopped the whole comparison.
    Interrupted,
}

/// Positions of every frame, in the user's order.
pub(crate) type Track = Vec<Vec<Vec3<f64>>>;

/// A run that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) label: String,
    pub(crate) is_reference: bool,
    pub(crate) solver: String,
    pub(crate) settings: Settings,
    pub(crate) fate: Fate,
    pub(crate) series: Series,
    pub(crate) state_hash: Option<String>,
}

/// What a run starts from.
pub(crate) struct Start<'a> {
    pub(crate) threads: usize,
    pub(crate) meshes: &'a mut MeshFiles,
    pub(crate) watch: &'a FrameWatch,
    pub(crate) is_silent: bool,
}

impl Trial {
    /// Runs an entrant to its end, whatever that is. Distances are to `track`; the reference itself writes it.
    pub(crate) fn run(entrant: &Entrant, start: Start<'_>, track: &mut Track) -> Self {
        let mut trial = Self {
            label: entrant.label.clone(),
            is_reference: entrant.is_reference,
            solver: entrant.solver.clone(),
            settings: Settings::default(),
            fate: Fate::Done,
            series: Series::default(),
            state_hash: None,
        };
        trial.fate = match &entrant.scene {
            Err(reason) => Fate::Failed(reason.clone()),
            Ok(scene) => {
                trial.settings = scene.solver.settings.clone();
                trial.simulate(scene, start, track)
            }
        };
        trial
    }

    fn simulate(&mut self, scene: &Scene, start: Start<'_>, track: &mut Track) -> Fate {
        let Start { threads, meshes, watch, is_silent } = start;
        let mut simulation = match meshes.simulation(scene, threads) {
            Ok(simulation) => simulation.with_clock(clock::seconds).with_stop(watch.asks()),
            Err(error) => return Fate::Failed(error.to_string()),
        };
        let mut progress = Progress::new(&self.label, 0, scene.frame_count(), is_silent);
        self.record(&simulation, &simulation.diagnose(), None, track);
        let fate = loop {
            if simulation.frame() >= scene.frame_count() {
                break Fate::Done;
            }
            if watch.is_interrupted() {
                break Fate::Interrupted;
            }
            let began = Instant::now();
            let step = watch.over(|| simulation.advance());
            let wall_ms = 1e3 * began.elapsed().as_secs_f64();
            let (frame, time) = (simulation.frame() + usize::from(step.is_err()), simulation.state().time);
            let step = match step {
                Ok(step) => step,
                Err(StepError::Stopped) if watch.is_interrupted() => break Fate::Interrupted,
                Err(StepError::Stopped) => {
                    break Fate::Failed(format!("frame {frame}, after {time:.4} s: {}", watch.too_long()));
                }
                Err(error) => break Fate::Failed(format!("frame {frame}, after {time:.4} s: {error}")),
            };
            let diagnostics = simulation.diagnose();
            if let Some(reason) = diverged(&diagnostics) {
                break Fate::Failed(format!("frame {frame}, at {time:.4} s: {reason}"));
            }
            self.record(&simulation, &diagnostics, Some((wall_ms, step.residual)), track);
            progress.frame(&Frame::new((frame, time), wall_ms, &step, simulation.unsolved(), &diagnostics));
        };
        progress.finish();
        if fate == Fate::Done {
            self.state_hash = Some(format!("{:016x}", simulation.state().hash()));
        }
        fate
    }

    fn record(
        &mut self,
        simulation: &Simulation,
        diagnostics: &Diagnostics,
        step: Option<(f64, f64)>,
        track: &mut Track,
    ) {
        let Diagnostics { kinetic_energy, elastic_energy, gravity_energy, max_strain, mean_strain, .. } = *diagnostics;
        let cloths = 0..simulation.model().cloths.len();
        let all = &simulation.state().positions;
        let positions = cloths.flat_map(|cloth| simulation.in_user_order(cloth, all)).collect::<Vec<_>>();
        if self.is_reference {
            track.push(positions.clone());
        }
        let distance = track.get(simulation.frame()).map(|reference| distance(&positions, reference));
        let series = &mut self.series;
        series.time.push(simulation.state().time);
        series.wall_ms.push(step.map(|(wall_ms, _)| wall_ms));
        series.kinetic_energy.push(kinetic_energy);
        series.elastic_energy.push(elastic_energy);
        series.gravity_energy.push(gravity_energy);
        series.total_energy.push(kinetic_energy + elastic_energy + gravity_energy);
        series.energy_error.push(diagnostics.energy_error);
        series.max_strain.push(max_strain);
        series.mean_strain.push(mean_strain);
        series.residual.push(step.map(|(_, residual)| residual));
        series.distance_rms.push(distance.map(|(rms, _)| rms));
        series.distance_max.push(distance.map(|(_, max)| max));
    }
}

/// Why this is no cloth any more.
fn diverged(diagnostics: &Diagnostics) -> Option<String> {
    let energy = diagnostics.kinetic_energy + diagnostics.elastic_energy + diagnostics.gravity_energy;
    if !energy.is_finite() || !diagnostics.max_strain.is_finite() {
        return Some("the energy left the finite numbers: it diverged; use more substeps".to_owned());
    }
    let strain = percent(diagnostics.max_strain, 0);
    (diagnostics.max_strain > DIVERGED).then(|| format!("strain of {strain}: it diverged; use more substeps"))
}

/// Root of the mean square, and the largest, of the distances of the vertices of two states, in m.
fn distance(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> (f64, f64) {
    let squares = a.iter().zip(b).map(|(a, b)| (*a - *b).norm_squared());
    let (sum, max) = squares.fold((0.0, 0.0_f64), |(sum, max), square| (sum + square, max.max(square)));
    ((sum / a.len().max(1) as f64).sqrt(), max.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_over_vertices() {
        let a = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)];
        let b = [Vec3::new(0.0, 3.0, 4.0), Vec3::new(1.0, 0.0, 0.0)];
        assert_eq!(distance(&a, &b), (12.5_f64.sqrt(), 5.0));
        assert_eq!(distance(&a, &a), (0.0, 0.0));
        assert_eq!(distance(&[], &[]), (0.0, 0.0), "nothing is no distance apart");
    }
}
