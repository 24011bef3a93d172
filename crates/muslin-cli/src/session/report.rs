//! `report.json`: what was run, what it cost, and how good every frame is.
//!
//! The frames of an interrupted run are read back when it is resumed, so everything here goes both ways.

use std::collections::BTreeMap;

use muslin::model;
use muslin::output::Diagnostics;
use muslin::simulation::Phase;
use muslin::solver::{Stage, StageTimes, StepReport};
use muslin::state::Work;
use muslin_io::{IoError, file_stem};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fit::PanelFit;
use super::folder::{Folder, REPORT};
use crate::failure::cannot_write;

/// The whole report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// Every frame but the initial state.
    pub(crate) frames: Vec<Frame>,
}

/// The report without its frames.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) version: String,
    pub(crate) scene: String,
    pub(crate) solver: String,
    pub(crate) backend: String,
    pub(crate) threads: usize,
    /// From the start of the command to this report, summed over the parts of a resumed run.
    pub(crate) wall_seconds: f64,
    pub(crate) simulated_seconds: f64,
    /// Of the last frame, [`State::hash`](muslin::state::State::hash) in hex.
    pub(crate) state_hash: String,
    /// Whether every frame that was asked for is there, or the cloth came to rest before.
    pub(crate) completed: bool,
    pub(crate) outcome: Outcome,
    /// What went wrong.
    pub(crate) error: Option<String>,
    pub(crate) warnings: Vec<String>,
    /// What is worth knowing and no defect.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    pub(crate) formats: Vec<String>,
    /// Every file of this run, by name in its folder: what a later run in the same folder may replace.
    pub(crate) files: Vec<String>,
    pub(crate) cloths: Vec<Cloth>,
    /// The first frame from which on nothing cuts or touches, in a scene whose start may be untangled; none before, and in other scenes.
    #[serde(default)]
    pub(crate) untangled_at_frame: Option<usize>,
    /// Whether nothing has moved in the last half second: see [`AT_REST`].
    #[serde(default)]
    pub(crate) at_rest: bool,
    /// The seams of all cloths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) seams: Vec<SeamRecord>,
    /// How the panels of garments sit at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fit: Vec<PanelFit>,
    pub(crate) stages_ms: StagesMs,
}

/// Slower than this is at rest, in m/s, unless a scene says otherwise.
pub(crate) const AT_REST: f64 = 5e-3;

/// A seam at the end of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SeamRecord {
    pub(crate) cloth: String,
    pub(crate) name: String,
    /// The largest distance of its two sides, in m.
    pub(crate) gap: f64,
    /// The largest strain of the edges that meet it: large while the cloth is still on its way to it.
    pub(crate) max_strain: f64,
}

/// How a run ended, or that it has not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Not yet; or the process was killed, and `--resume` goes on from here.
    Running,
    /// All frames.
    Done,
    /// Early, because nothing moved any more.
    AtRest,
    /// By a signal.
    Interrupted,
    /// By an error.
    Failed,
}

/// One cloth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cloth {
    pub(crate) name: String,
    /// Stem of its files.
    pub(crate) file_stem: String,
    pub(crate) vertices: usize,
    pub(crate) triangles: usize,
    pub(crate) edges: usize,
    pub(crate) hinges: usize,
    /// In kg.
    pub(crate) mass: f64,
}

impl From<&model::Cloth> for Cloth {
    fn from(cloth: &model::Cloth) -> Self {
        Self {
            name: cloth.name.clone(),
            file_stem: file_stem(&cloth.name),
            vertices: cloth.mesh.vertex_count(),
            triangles: cloth.mesh.triangle_count(),
            edges: cloth.edge_count,
            hinges: cloth.hinge_count,
            mass: cloth.mass,
        }
    }
}

/// Milliseconds in each stage, over the whole run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StagesMs {
    /// Those of the solver, by their keys.
    #[serde(flatten, serialize_with = "by_key", deserialize_with = "from_keys")]
    solver: StageTimes,
    /// Caches, checkpoints and reports.
    pub(crate) write: f64,
    /// Measuring every frame for this report.
    pub(crate) diagnose: f64,
    /// The formats besides npy.
    pub(crate) export: f64,
    /// Pictures.
    pub(crate) preview: f64,
}

impl StagesMs {
    /// Adds what a step spent.
    pub(crate) fn add(&mut self, stages: &StageTimes) {
        stages.iter().for_each(|(stage, seconds)| self.solver[stage] += 1e3 * seconds);
    }
}

fn by_key<S: Serializer>(times: &StageTimes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(times.iter().map(|(stage, ms)| (stage.key(), ms)))
}

fn from_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StageTimes, D::Error> {
    let numbers = BTreeMap::<String, f64>::deserialize(deserializer)?;
    let mut times = StageTimes::default();
    for stage in Stage::ALL {
        times[stage] = *numbers.get(stage.key()).ok_or_else(|| D::Error::missing_field(stage.key()))?;
    }
    Ok(times)
}

/// A part of the energy scale: more energy than this from nowhere is worth a word.
pub(crate) const ENERGY_ERROR: f64 = 0.01;

/// One frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frame {
    pub(crate) frame: usize,
    /// In s.
    pub(crate) time: f64,
    /// Of the step alone, without measuring and writing.
    pub(crate) wall_ms: f64,
    pub(crate) substeps: u32,
    pub(crate) iterations: u32,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) kinetic_energy: f64,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) elastic_energy: f64,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) gravity_energy: f64,
    /// How far the sum of these stands above its start and the work done since, in J; `None` where the work of a pin is not known.
    #[serde(default)]
    pub(crate) energy_error: Option<f64>,
    /// What was done on the cloth since the start, in J.
    #[serde(default)]
    pub(crate) work: WorkRecord,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) max_strain: f64,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) mean_strain: f64,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) max_speed: f64,
    /// Of cloth that was sewn: how far a vertex has gone in the last half second at most, over that, in m/s; known eight times a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) travel: Option<f64>,
    /// What was done with cloth that is sewn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<FramePhase>,
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) residual: f64,
    /// The longest step with which an explicit solver is stable, in s.
    #[serde(default)]
    pub(crate) stable_step: Option<f64>,
    /// How far the last iteration of a substep still moved a vertex, in m, where the solver stopped short of its tolerance.
    #[serde(default)]
    pub(crate) unsolved: Option<f64>,
    pub(crate) contacts: usize,
    pub(crate) min_gap: Option<f64>,
    pub(crate) intersections: Option<usize>,
    /// Vertices whose motion was too long to be followed in some substep, and was cut.
    #[serde(default)]
    pub(crate) cut_vertices: usize,
    /// Vertices that were held back in some substep, so that nothing passes through anything.
    #[serde(default)]
    pub(crate) held_vertices: usize,
    /// Of a solver that holds a quality: the estimated distance to the converged motion after half a second, as a part of the cloth's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) motion: Option<f64>,
    /// Of such a solver: long-range constraints and tethers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) long_range: Option<u64>,
    /// Of such a solver: the strain is beyond what was asked for, and that of the load: more substeps would not change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strained_by_load: bool,
    /// Where most is wrong, if the energy error is beyond what is worth a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) energy_place: Option<String>,
}

/// [`Phase`] in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FramePhase {
    Sewing,
    Settling,
}

impl From<Phase> for FramePhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Sewing => Self::Sewing,
            Phase::Settling => Self::Settling,
        }
    }
}

/// JSON has no infinity: a motion about to explode has such energies, they are written as null, and come back as NaN.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl Frame {
    /// What a step did and where it led.
    pub(crate) fn new(
        (frame, time): (usize, f64),
        wall_ms: f64,
        step: &StepReport,
        unsolved: Option<f64>,
        state: &Diagnostics,
    ) -> Self {
        Self {
            frame,
            time,
            wall_ms,
            substeps: step.substeps,
            iterations: step.iterations,
            kinetic_energy: state.kinetic_energy,
            elastic_energy: state.elastic_energy,
            gravity_energy: state.gravity_energy,
            energy_error: state.energy_error,
            work: WorkRecord(state.work),
            max_strain: state.max_strain,
            mean_strain: state.mean_strain,
            max_speed: state.max_speed,
            travel: None,
            phase: None,
            residual: step.residual,
            stable_step: step.stable_step,
            unsolved,
            contacts: state.contacts,
            min_gap: state.min_gap,
            intersections: state.intersections,
            cut_vertices: step.contact_stats.cut,
            held_vertices: step.contact_stats.held,
            motion: step.quality.and_then(|quality| quality.motion),
            long_range: step.quality.map(|quality| quality.long_range),
            strained_by_load: step.quality.is_some_and(|quality| quality.strained_by_load),
            energy_place: None,
        }
    }

    /// Energy in motion or in strain, or done on the cloth, in J.
    fn turnover(&self, start: f64) -> f64 {
        self.kinetic_energy + self.elastic_energy.abs() + (self.gravity_energy - start).abs() + self.work.0.size()
    }
}

/// [`Work`] in a report: a part that is not known is `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WorkRecord(pub(crate) Work);

/// The same as JSON has it.
#[derive(Serialize, Deserialize)]
struct WorkParts {
    pins: Option<f64>,
    bodies: Option<f64>,
    wind: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<f64>,
}

impl Serialize for WorkRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [pins, bodies, wind, program] = self.0.to_array().map(|part| part.is_finite().then_some(part));
        WorkParts { pins, bodies, wind, program: program.filter(|part| *part != 0.0) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WorkRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WorkParts { pins, bodies, wind, program } = WorkParts::deserialize(deserializer)?;
        let known = |part: Option<f64>| part.unwrap_or(f64::NAN);
        Ok(Self(Work::from_array([known(pins), known(bodies), known(wind), program.unwrap_or(0.0)])))
    }
}

impl Report {
    /// The number of the last frame.
    pub(crate) fn last_frame(&self) -> usize {
        self.frames.len()
    }

    /// The text of `report.json`: one line a frame, so that a person can read it and `diff` compare it.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let summary = serde_json::to_string_pretty(&self.summary)?;
        let mut text = summary.strip_suffix("\n}").unwrap_or(&summary).to_owned();
        text.push_str(",\n  \"frames\": [");
        for (i, frame) in self.frames.iter().enumerate() {
            text.push_str(if i == 0 { "\n    " } else { ",\n    " });
            text.push_str(&serde_json::to_string(frame)?);
        }
        text.push_str(if self.frames.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        Ok(text)
    }

    /// Writes `report.json` and gives its size.
    pub(crate) fn write(&self, folder: &Folder) -> Result<usize, IoError> {
        let text = self.to_json().map_err(|error| cannot_write(&folder.join(REPORT), error.into()))?;
        folder.write(REPORT, text.as_bytes())?;
        Ok(text.len())
    }

    /// Whether no vertex was faster than `speed`, in m/s, in any frame of the last half second; or, of cloth that was sewn, whether none has gone that far in it.
    pub(crate) fn is_at_rest(&self, speed: f64, fps: f64) -> bool {
        let window = (0.5 * fps).ceil().max(1.0) as usize;
        let Some(last) = self.frames.len().checked_sub(window).map(|start| &self.frames[start..]) else { return false };
        let is_hung = last.iter().all(|frame| frame.phase != Some(FramePhase::Sewing));
        let has_arrived = last.last().and_then(|frame| frame.travel).is_some_and(|travel| travel < speed);
        is_hung && (has_arrived || last.iter().all(|frame| frame.max_speed < speed))
    }

    /// The frames in which cloth was let go, or the last where none was.
    pub(crate) fn worn(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        let last = self.frames.len();
        self.frames.iter().filter(move |frame| frame.phase.is_none() || frame.frame == last)
    }

    /// The largest strain of all frames in which nothing was sewn, and in which it was.
    pub(crate) fn worst_strain(&self) -> Option<(f64, usize)> {
        let worst = self.worn().max_by(|a, b| a.max_strain.total_cmp(&b.max_strain))?;
        Some((worst.max_strain, worst.frame))
    }

    /// The frame with the most energy from nowhere, as a part of the energy scale, if that is more than [`ENERGY_ERROR`].
    ///
    /// The scale of a run is the most that any frame of it has in motion, in strain, in height since the first, and in work done on the cloth; but no less than `least`, in J: a cloth that lies or
    /// hangs still breathes by microjoules.
    pub(crate) fn energy_from_nowhere(&self, least: f64) -> Option<(&Frame, f64)> {
        let start = self.frames.first()?.gravity_energy;
        let scale = self.frames.iter().map(|frame| frame.turnover(start)).fold(least, f64::max);
        let shares = self.frames.iter().filter_map(|frame| {
            let share = frame.energy_error? / scale;
            (share > ENERGY_ERROR).then_some((frame, share))
        });
        shares.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The first frame whose steps, in s, were longer than is stable, with these steps and the longest that would have been.
    pub(crate) fn first_unstable(&self, fps: f64) -> Option<(&Frame, f64, f64)> {
        self.frames.iter().find_map(|frame| {
            let step = 1.0 / (fps * f64::from(frame.substeps));
            frame.stable_step.filter(|limit| step > *limit).map(|limit| (frame, step, limit))
        })
    }

    /// How many frames were left with moves beyond `limit`, in m, and the frame with the longest.
    pub(crate) fn unsolved(&self, limit: f64) -> Option<(usize, &Frame, f64)> {
        let far = |frame: &&Frame| frame.unsolved.is_some_and(|moved| moved > limit);
        let length = |frame: &Frame| frame.unsolved.unwrap_or(0.0);
        let worst = self.frames.iter().filter(far).max_by(|a, b| length(a).total_cmp(&length(b)))?;
        Some((self.frames.iter().filter(far).count(), worst, length(worst)))
    }

    /// In how many frames motions were cut, the first of them, and the most vertices of one.
    pub(crate) fn cut(&self) -> Option<(usize, usize, usize)> {
        let cut = || self.frames.iter().filter(|frame| frame.cut_vertices > 0);
        let most = cut().map(|frame| frame.cut_vertices).max()?;
        Some((cut().count(), cut().next()?.frame, most))
    }

    /// In how many frames the estimated distance to the converged motion was above `limit`, and what it is in the last, if it is above there
    /// too: a solver that holds a distance needs a while to find out how.
    pub(crate) fn astray(&self, limit: f64) -> Option<(usize, f64)> {
        let is_far = |motion: &f64| *motion > limit;
        let last = self.frames.last()?.motion.filter(is_far)?;
        Some((self.frames.iter().filter_map(|frame| frame.motion).filter(is_far).count(), last))
    }

    /// Seconds that all steps took together.
    pub(crate) fn step_seconds(&self) -> f64 {
        1e-3 * self.frames.iter().map(|frame| frame.wall_ms).sum::<f64>()
    }

    /// Milliseconds a step took on average.
    pub(crate) fn mean_wall_ms(&self) -> f64 {
        1e3 * self.step_seconds() / self.frames.len().max(1) as f64
    }
}

impl Summary {
    /// Lists a file, once.
    pub(crate) fn add_file(&mut self, name: String) {
        if !self.files.contains(&name) {
            self.files.push(name);
        }
    }

    /// The summary as one object, with `extra` keys.
    pub(crate) fn with(&self, extra: BTreeMap<&str, serde_json::Value>) -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(self)?;
        if let Some(object) = value.as_object_mut() {
            object.extend(extra.into_iter().map(|(key, value)| (key.to_owned(), value)));
        }
        Ok(value)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::session) fn sample(speeds: &[f64]) -> Report {
        let frame = |(i, &max_speed): (usize, &f64)| Frame {
            frame: i + 1,
            time: 0.1 * (i + 1) as f64,
            wall_ms: 0.1 + 0.2,
            substeps: 20,
            iterations: 20,
            kinetic_energy: f64::INFINITY,
            elastic_energy: 1e-300,
            gravity_energy: -1.0,
            max_strain: 0.3,
            mean_strain: 0.1,
            max_speed,
            travel: None,
            phase: None,
            residual: 1e-9,
            stable_step: None,
            unsolved: None,
            contacts: 3,
            min_gap: None,
            intersections: Some(0),
            cut_vertices: 0,
            held_vertices: 0,
            motion: None,
            long_range: None,
            energy_error: Some(-0.5),
            work: WorkRecord::default(),
            strained_by_load: false,
            energy_place: None,
        };
        Report {
            summary: Summary {
                version: "0.1.0".into(),
                scene: "drape".into(),
                solver: "xpbd".into(),
                backend: "cpu".into(),
                threads: 2,
                wall_seconds: 1.9,
                simulated_seconds: 3.0,
                state_hash: "00".into(),
                completed: false,
                outcome: Outcome::Running,
                error: None,
                warnings: vec!["a \"quoted\" warning".into()],
                notes: Vec::new(),
                formats: vec!["npy".into()],
                files: Vec::new(),
                cloths: Vec::new(),
                at_rest: false,
                seams: Vec::new(),
                fit: Vec::new(),
                untangled_at_frame: None,
                stages_ms: StagesMs::default(),
            },
            frames: speeds.iter().enumerate().map(frame).collect(),
        }
    }

    #[test]
    fn the_stages_of_the_solver_stand_before_those_of_the_command_line() {
        let mut stages = StagesMs { write: 4.5, ..StagesMs::default() };
        let mut times = StageTimes::default();
        times[Stage::Collide] = 0.25;
        stages.add(&times);
        let text = serde_json::to_string(&stages).unwrap();
        let expected = r#"{"predict":0.0,"solve":0.0,"collide":250.0,"update":0.0,"write":4.5,"diagnose":0.0,"export":0.0,"preview":0.0}"#;
        assert_eq!(text, expected);
        let back: StagesMs = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        let error = serde_json::from_str::<StagesMs>(&text.replace("collide", "other")).unwrap_err();
        assert!(error.to_string().contains("collide"), "{error}");
    }

    #[test]
    fn a_report_reads_back_as_it_was() {
        for speeds in [&[][..], &[1.0], &[1.0, 0.1 + 0.2]] {
            let report = sample(speeds);
            let text = report.to_json().unwrap();
            let back: Report = serde_json::from_str(&text).unwrap();
            assert_eq!(back.to_json().unwrap(), text);
            assert_eq!(back.frames.len(), speeds.len());
            assert!(back.frames.iter().all(|frame| frame.kinetic_energy.is_nan()), "infinity becomes null");
        }
    }

    #[test]
    fn a_step_over_its_limit_is_found() {
        let mut report = sample(&[1.0, 1.0, 1.0]);
        assert_eq!(report.first_unstable(10.0), None, "a solver without a limit");
        let steps = [0.006, 0.004, 0.003];
        for (frame, limit) in report.frames.iter_mut().zip(steps) {
            frame.stable_step = Some(limit);
        }
        let found = report.first_unstable(10.0).map(|(frame, step, limit)| (frame.frame, step, limit));
        assert_eq!(found, Some((2, 0.005, 0.004)));
    }

    #[test]
    fn motions_that_were_cut_are_counted() {
        let mut report = sample(&[1.0; 4]);
        assert_eq!(report.cut(), None, "none");
        (report.frames[1].cut_vertices, report.frames[3].cut_vertices) = (7, 2);
        assert_eq!(report.cut(), Some((2, 2, 7)), "frames, the first, the most");
    }

    #[test]
    fn a_motion_is_astray_if_it_ends_so() {
        let mut report = sample(&[1.0; 4]);
        assert_eq!(report.astray(0.01), None, "a solver that knows nothing about it");
        let mut astray = |motions: [Option<f64>; 4]| {
            report.frames.iter_mut().zip(motions).for_each(|(frame, motion)| frame.motion = motion);
            report.astray(0.01)
        };
        assert_eq!(astray([None, Some(0.03), Some(0.02), Some(0.01)]), None, "found the way");
        assert_eq!(astray([None, Some(0.01), Some(0.03), Some(0.02)]), Some((2, 0.02)));
    }

    #[test]
    fn rest_is_half_a_second_below_the_limit() {
        let fps = 10.0; // half a second is five frames
        assert!(sample(&[9.0, 0.1, 0.1, 0.1, 0.1, 0.1]).is_at_rest(0.2, fps), "long enough");
        assert!(!sample(&[0.1, 0.1, 0.1, 0.1]).is_at_rest(0.2, fps), "not yet");
        assert!(!sample(&[0.1, 0.1, 0.3, 0.1, 0.1, 0.1]).is_at_rest(0.2, fps), "interrupted");
        assert!(!sample(&[0.2; 9]).is_at_rest(0.2, fps), "at the limit");
        assert!(!sample(&[f64::NAN; 9]).is_at_rest(0.2, fps), "unknown");
    }
}
