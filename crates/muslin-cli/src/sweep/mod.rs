//! A sweep: one scene with many values, each simulated to its end, as fast as the cores can.
//!
//! ```text
//! Sweep (scene, keys, seed) ─→ a thread a world: sample 0, 1, 2, …  ─→ in order ─→ Sink: a folder, or memory
//! ```
//!
//! A world has one thread and no clock, is not measured before its end, and starts no process: a sample costs what its simulation costs. Rows reach
//! the sink in the order of the samples; a thread waits where it is too far ahead of them, so that memory stays as it is.

pub(crate) mod folder;
pub(crate) mod row;
pub(crate) mod vary;

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use muslin::parallel::Team;
use muslin::scene::{Finding, Outcome, Override, parse};
use muslin::simulation::Phase;
use muslin::solver::StepReport;
use muslin::{SetupError, Simulation};

use crate::args::SceneChanges;
use crate::failure::Failure;
use crate::scene_file::SceneFile;
use crate::session::report::Frame;
use crate::session::{Interrupt, RestWatch, fingerprint};

use row::Row;
use vary::{Range, Values, Vary};

/// Finished samples that may wait for an earlier one, for each thread.
const AHEAD: u64 = 8;

/// One scene with many values.
#[derive(Debug)]
pub(crate) struct Sweep {
    file: SceneFile,
    changes: SceneChanges,
    pub(crate) vary: Vec<Vary>,
    pub(crate) samples: u64,
    pub(crate) seed: u64,
    /// The scene's name.
    pub(crate) scene: String,
    pub(crate) frame_count: usize,
    /// Of the scene without any values.
    pub(crate) fingerprint: u64,
    /// The cloths of the scene with their numbers of vertices.
    pub(crate) cloths: Vec<(String, usize)>,
    pub(crate) warnings: Vec<Finding>,
}

/// A sample that is done.
pub(crate) struct Sample {
    pub(crate) row: Row,
    /// The last positions of each cloth, in m, as the user numbers them; none of a sample that failed.
    pub(crate) positions: Vec<Vec<[f32; 3]>>,
}

/// Takes the samples, in their order.
pub(crate) trait Sink {
    fn take(&mut self, sample: Sample) -> Result<(), Failure>;
}

impl Sweep {
    /// Checks the scene and what is varied in it.
    pub(crate) fn new(
        file: SceneFile,
        changes: SceneChanges,
        mut vary: Vec<Vary>,
        samples: u64,
        seed: u64,
    ) -> Result<Self, Failure> {
        for (i, one) in vary.iter().enumerate() {
            if vary[..i].iter().any(|other| other.key == one.key) {
                return Err(Failure::Usage(format!("{} is varied twice; give each key once", one.key)));
            }
            if let Values::Given(values) = &one.values
                && values.len() as u64 != samples
            {
                let count = values.len();
                let words = format!("{}: {count} values for {samples} samples; give one value a sample", one.key);
                return Err(Failure::Usage(words));
            }
        }
        let parsed = file.parse(&changes)?;
        file.check_memory(&parsed)?;
        let mut meshes = file.mesh_files();
        let compiled = meshes.compile(&parsed.scene).map_err(|problems| file.failure(parsed.locate(&problems)))?;
        let mut warnings = parsed.warnings.clone();
        warnings.extend(parsed.locate(&compiled.warnings));
        for one in &mut vary {
            if let Values::Range(range) = &mut one.values {
                range.whole = wants_whole_numbers(&file, &changes, &one.key, *range)?;
            }
        }
        let cloths = compiled.model.cloths.iter().map(|cloth| (cloth.name.clone(), cloth.mesh.vertex_count()));
        Ok(Self {
            cloths: cloths.collect(),
            fingerprint: fingerprint(&parsed.scene, &meshes),
            scene: parsed.scene.name.clone(),
            frame_count: parsed.scene.frame_count(),
            warnings,
            file,
            changes,
            vary,
            samples,
            seed,
        })
    }

    /// Computes the samples from `first` up to `end`, with so many threads, and hands them on in their order. Says whether it came to the end.
    pub(crate) fn run(
        &self,
        (first, end): (u64, u64),
        jobs: usize,
        interrupt: &Interrupt,
        sink: &mut dyn Sink,
    ) -> Result<bool, Failure> {
        let jobs = jobs.clamp(1, usize::try_from(end.saturating_sub(first)).unwrap_or(usize::MAX).max(1));
        let pace = Pace::new(first, end, AHEAD * jobs as u64);
        let (sender, receiver) = mpsc::channel::<Sample>();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let (sender, pace) = (sender.clone(), &pace);
                scope.spawn(move || {
                    while let Some(index) = pace.next() {
                        let sent = self.sample(index, interrupt).map(|sample| sender.send(sample).is_ok());
                        if sent != Some(true) {
                            pace.stop();
                        }
                    }
                });
            }
            drop(sender);
            let (mut next, mut waiting) = (first, BTreeMap::new());
            for sample in receiver {
                waiting.insert(sample.row.sample, sample);
                while let Some(sample) = waiting.remove(&next) {
                    next += 1;
                    if let Err(failure) = sink.take(sample) {
                        pace.stop();
                        return Err(failure);
                    }
                }
                pace.done_before(next);
            }
            Ok(next == end)
        })
    }

    /// The values of a sample, in TOML.
    fn values(&self, sample: u64) -> Vec<String> {
        self.vary.iter().map(|vary| vary.value(self.seed, sample)).collect()
    }

    /// Simulates a sample; `None` if it was interrupted.
    fn sample(&self, index: u64, interrupt: &Interrupt) -> Option<Sample> {
        let started = Instant::now();
        let values = self.values(index);
        let (world, error) = match self.world(&values) {
            Err(error) => (None, Some(error)),
            Ok(mut world) => {
                let error = world.run(interrupt)?;
                (Some(world), error)
            }
        };
        let end = world.as_ref().map(World::end);
        let positions = world.filter(|_| error.is_none()).map_or_else(Vec::new, |world| world.positions());
        let wall_seconds = started.elapsed().as_secs_f64();
        Some(Sample { row: Row { sample: index, values, end, wall_seconds, error }, positions })
    }

    /// The scene with these values, or what is wrong with it.
    fn world(&self, values: &[String]) -> Result<World, String> {
        let mut changes = self.changes.clone();
        for (vary, value) in self.vary.iter().zip(values) {
            changes.sets.push(Override::parse(&format!("{}={value}", vary.key))?);
        }
        let in_words = |failure: Failure| match failure {
            Failure::Scene(findings) => errors_in_words(&findings.list),
            other => other.to_string(),
        };
        let parsed = self.file.parse(&changes).map_err(in_words)?;
        let mut meshes = self.file.mesh_files();
        let simulation = meshes.simulation_on(&parsed.scene, Team::solo()).map_err(|error| match error {
            SetupError::Scene(problems) => errors_in_words(&parsed.locate(&problems)),
            other => other.to_string(),
        })?;
        let rest = parsed.scene.stop_at_rest.map(|speed| {
            let window = (0.5 * parsed.scene.fps).ceil().max(1.0) as usize;
            let watch = (simulation.model().settled_by > 0.0).then(|| {
                let mut watch = RestWatch::new(parsed.scene.fps);
                watch.see(&simulation);
                watch
            });
            AtRest { speed, window, slow: 0, hung: 0, watch }
        });
        Ok(World { frame_count: parsed.scene.frame_count(), simulation, rest, step: StepReport::default() })
    }
}

/// Which of its numbers a key takes: whole ones, or any.
fn wants_whole_numbers(file: &SceneFile, changes: &SceneChanges, key: &str, range: Range) -> Result<bool, Failure> {
    let trial = |value: &str| -> Result<Outcome, Failure> {
        let set = Override::parse(&format!("{key}={value}")).map_err(Failure::Usage)?;
        let sets: Vec<Override> = changes.sets.iter().cloned().chain([set]).collect();
        Ok(parse(&file.text, &sets))
    };
    let mut refused = None;
    for whole in [false, true] {
        let range = Range { whole, ..range };
        for part in [0.0, 0.5, 1.0] {
            let outcome = trial(&range.at(part))?;
            if outcome.scene.is_some() {
                return Ok(whole);
            }
            refused.get_or_insert(outcome.findings);
        }
    }
    Err(file.failure(refused.unwrap_or_default()))
}

/// What is wrong, each with its key and without its line: of what was varied there is none.
fn errors_in_words(findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|finding| finding.is_error());
    let words: Vec<String> = errors.map(|error| format!("{}: {}", error.place.path, error.message)).collect();
    words.join("; ")
}

/// One sample while it is simulated.
struct World {
    simulation: Simulation,
    frame_count: usize,
    rest: Option<AtRest>,
    step: StepReport,
}

/// When a world may stop early, as a run does.
struct AtRest {
    /// In m/s.
    speed: f64,
    /// Frames in which nothing may be faster.
    window: usize,
    /// Frames in a row in which nothing was.
    slow: usize,
    /// Frames in a row after it was sewn.
    hung: usize,
    /// Of cloth that is sewn.
    watch: Option<RestWatch>,
}

impl World {
    /// Simulates to the end. Gives the error of a step, if there was one, or `None` if it was interrupted.
    fn run(&mut self, interrupt: &Interrupt) -> Option<Option<String>> {
        while self.simulation.frame() < self.frame_count {
            if interrupt.is_raised() {
                return None;
            }
            match self.simulation.advance() {
                Ok(step) => self.step = step,
                Err(error) => {
                    let (frame, time) = (self.simulation.frame() + 1, self.simulation.state().time);
                    return Some(Some(format!("frame {frame}, after {time:.4} s: {error}")));
                }
            }
            if self.is_at_rest() {
                break;
            }
        }
        Some(None)
    }

    fn is_at_rest(&mut self) -> bool {
        let Some(rest) = &mut self.rest else { return false };
        let is_hung = self.simulation.phase() != Some(Phase::Sewing);
        let velocities = &self.simulation.state().velocities;
        let is_slow = is_hung && velocities.iter().all(|velocity| velocity.norm() < rest.speed);
        rest.hung = if is_hung { rest.hung + 1 } else { 0 };
        if let Some(watch) = &mut rest.watch {
            watch.see(&self.simulation);
            if rest.hung >= rest.window && watch.travel().is_some_and(|travel| travel < rest.speed) {
                return true;
            }
        }
        rest.slow = if is_slow { rest.slow + 1 } else { 0 };
        rest.slow >= rest.window
    }

    /// Hash and report of the last good frame.
    fn end(&self) -> (u64, Frame) {
        let simulation = &self.simulation;
        let (at, unsolved) = ((simulation.frame(), simulation.state().time), simulation.unsolved());
        (simulation.state().hash(), Frame::new(at, 0.0, &self.step, unsolved, &simulation.diagnose()))
    }

    fn positions(&self) -> Vec<Vec<[f32; 3]>> {
        let of_cloth = |cloth| {
            let mut positions = Vec::new();
            self.simulation.positions(cloth, &mut positions);
            positions
        };
        (0..self.simulation.cloth_count()).map(of_cloth).collect()
    }
}

/// Hands out the samples, and keeps the threads from running away from the slowest.
struct Pace {
    state: Mutex<Handed>,
    moved: Condvar,
    end: u64,
    ahead: u64,
}

struct Handed {
    /// The next to be handed out.
    next: u64,
    /// All before are done.
    done: u64,
    stopped: bool,
}

impl Pace {
    fn new(first: u64, end: u64, ahead: u64) -> Self {
        let state = Mutex::new(Handed { next: first, done: first, stopped: false });
        Self { state, moved: Condvar::new(), end, ahead }
    }

    /// The next sample; `None` if there is none.
    fn next(&self) -> Option<u64> {
        let handed = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let must_wait =
            |handed: &mut Handed| !handed.stopped && handed.next < self.end && handed.next >= handed.done + self.ahead;
        let mut handed = self.moved.wait_while(handed, must_wait).unwrap_or_else(PoisonError::into_inner);
        if handed.stopped || handed.next >= self.end {
            return None;
        }
        handed.next += 1;
        Some(handed.next - 1)
    }

    fn done_before(&self, next: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).done = next;
        self.moved.notify_all();
    }

    fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const TEXT: &str = "\
duration = 0.1
fps = 100
[solver]
kind = \"xpbd\"
substeps = 4
[[cloth]]
name = \"sheet\"
grid = { size = [1.0, 1.0], cells = [4, 4] }
pins = [{ vertices = [0] }]
";

    fn sweep(vary: &[&str], samples: u64) -> Result<Sweep, Failure> {
        let file = SceneFile::of_text(TEXT.to_owned(), "scene".to_owned());
        let vary = vary.iter().map(|text| Vary::parse(text).expect(text)).collect();
        Sweep::new(file, SceneChanges::default(), vary, samples, 1)
    }

    #[derive(Default)]
    struct Lines(Vec<String>);

    impl Sink for Lines {
        fn take(&mut self, sample: Sample) -> Result<(), Failure> {
            self.0.push(Row { wall_seconds: 0.0, ..sample.row }.to_line());
            Ok(())
        }
    }

    fn lines(sweep: &Sweep, range: (u64, u64), jobs: usize) -> Vec<String> {
        let mut lines = Lines::default();
        assert!(
            sweep.run(range, jobs, &Interrupt::by(Arc::default()), &mut lines).expect("no failure"),
            "it was not stopped"
        );
        lines.0
    }

    #[test]
    fn the_rows_do_not_depend_on_the_jobs_or_on_where_a_sweep_was_taken_up() {
        // More samples than may wait, so that the threads do wait.
        let sweep =
            sweep(&["cloth.0.material.stretch.stiffness=10:1e4:log", "solver.substeps=1:6"], 40).expect("sound");
        let all = lines(&sweep, (0, 40), 1);
        assert_eq!(all.len(), 40);
        assert_eq!(lines(&sweep, (0, 40), 3), all, "three jobs");
        assert_eq!(lines(&sweep, (17, 40), 2), all[17..], "from the middle");
        let hashes: std::collections::BTreeSet<&str> = all.iter().filter_map(|line| line.split(',').nth(3)).collect();
        assert_eq!(hashes.len(), 40, "every sample is another");
    }

    #[test]
    fn a_key_of_whole_numbers_gets_such() {
        let sweep = sweep(&["solver.substeps=1:6", "cloth.0.scale=1:6"], 1).expect("sound");
        let whole = sweep.vary.iter().map(|vary| matches!(vary.values, Values::Range(Range { whole: true, .. })));
        assert_eq!(whole.collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_cannot_be_varied_is_refused_and_a_sample_that_fails_is_a_row() {
        let said = |vary: &[&str]| sweep(vary, 2).expect_err("refused").to_string();
        assert!(said(&["cloth.0.scael=1:2"]).contains("cloth[0].scael: unknown key"), "a slip");
        assert!(
            said(&["cloth.0.material.density=-2:-1"]).contains("must be a finite number greater than 0"),
            "all of it"
        );
        assert!(said(&["fps=10:20", "fps=10:20"]).contains("is varied twice"), "twice");
        let lines = lines(&sweep(&["cloth.0.material.density=-1:1"], 8).expect("a part is sound"), (0, 8), 2);
        let failed = lines.iter().filter(|line| row::has_failed(line)).count();
        assert!(failed > 0 && failed < 8, "{lines:?}");
        let wrong = lines.iter().find(|line| row::has_failed(line)).expect("one");
        assert!(wrong.contains("cloth[0].material.density: must be a finite number greater than 0, got -"), "{wrong}");
    }

    #[test]
    fn a_sink_that_fails_stops_the_sweep() {
        struct Full;
        impl Sink for Full {
            fn take(&mut self, _: Sample) -> Result<(), Failure> {
                Err(Failure::Failed("the disk is full".to_owned()))
            }
        }
        let sweep = sweep(&["fps=100:200"], 100).expect("sound");
        let failure = sweep.run((0, 100), 2, &Interrupt::by(Arc::default()), &mut Full).expect_err("it failed");
        assert_eq!(failure.to_string(), "the disk is full");
    }
}
