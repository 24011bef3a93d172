//! Solvers in contact: every solver through every scene of `validation/scenes/contact`, beside a converged reference.
//!
//! ```text
//! scene ─┬─ reference: `explicit` at half its stable step, which a run of `explicit` measures
//!        ├─ xpbd ─┐
//!        ├─ …     ├─ frames ──▶ the IPC Toolkit counts those with cuts ──▶ cell ──▶ contact.md, contact.csv
//!        └─ auto ─┘
//! ```
//!
//! Solvers run as a scene gets them that gives nothing but their name. Two cells run at a time, each on one thread.

mod cell;
mod judge;
mod referee;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use muslin::scene::{Override, Scene, parse};
use muslin::solver::{SOLVERS, SolverKind};

pub use cell::{End, Frame, Run};
pub use judge::{Cell, Fault, Nature, Verdict};
pub use report::{csv, markdown};

use crate::Try;
use cell::simulate;

/// Cells that run at a time.
const WORKERS: usize = 2;

/// Seconds for a cell. It stops after the frame in which they pass.
pub const LIMIT: f64 = 60.0;

/// The same for a reference: without it a whole row says nothing.
const REFERENCE_LIMIT: f64 = 2.0 * LIMIT;

/// The longest step of the reference, as a part of its longest stable one.
const REFERENCE_STEP: f64 = 0.5;

/// A reference is converged where half the step changes its largest strain by no more than this part: half of what the strain of a cell may be off.
const CONVERGED: f64 = 0.1;

/// How often the step is halved for that, at most.
const MOST_HALVINGS: u32 = 3;

/// What to run, and where things are.
pub struct Order {
    /// The folder of the scenes.
    pub scenes: PathBuf,
    /// Only these scenes; all where there are none.
    pub only_scenes: Vec<String>,
    /// Only these solvers; all where there are none.
    pub only_solvers: Vec<String>,
    /// Where the frames go.
    pub frames: PathBuf,
    /// A Python that has the IPC Toolkit.
    pub python: PathBuf,
    /// What it runs.
    pub script: PathBuf,
}

/// A scene with its cells.
pub struct Row {
    /// Its name.
    pub name: String,
    /// What it shows: the comment in its first line.
    pub summary: String,
    /// What every cell of the row is compared with.
    pub reference: Reference,
    /// One for each solver of the table.
    pub cells: Vec<Cell>,
}

/// The reference of a scene.
pub struct Reference {
    /// Its substeps, and the longest of its steps as a part of the longest that would have been stable.
    pub step: Option<(u32, f64)>,
    /// By which part its largest strain differs from that at twice the step.
    pub change: Option<f64>,
    /// As it went, judged by itself.
    pub cell: Cell,
}

/// The table.
pub struct Table {
    /// The solvers, in the order of the columns.
    pub solvers: Vec<&'static str>,
    /// The scenes.
    pub rows: Vec<Row>,
}

impl Table {
    /// How many cells fail.
    pub fn failures(&self) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| matches!(cell.verdict, Verdict::Fails(_))).count()
    }
}

/// A scene file, read once.
struct Source {
    name: String,
    path: PathBuf,
    text: String,
    scene: Scene,
}

impl Source {
    fn read(path: PathBuf) -> Try<Self> {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let scene = parse(&text, &[]).into_result().map_err(|findings| format!("{}: {findings}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path, text, scene })
    }

    fn summary(&self) -> String {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned()
    }

    /// The scene with a solver that has its defaults, but for what is given.
    fn with(&self, solver: &str, settings: &[String]) -> Try<Scene> {
        let words = [format!("solver.kind={solver}")].into_iter().chain(settings.iter().cloned());
        let overrides = words.map(|word| Override::parse(&word)).collect::<Result<Vec<_>, _>>()?;
        parse(&self.text, &overrides).into_result().map_err(|findings| findings.to_string())
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// What one worker does in one go. The reference waits for `explicit`, which measures its step.
#[derive(Clone, Copy)]
enum Job {
    ExplicitAndReference,
    Solver(&'static SolverKind),
}

/// What came out of a run, before it is compared with anything.
struct Done {
    scene: usize,
    /// `None` for the reference.
    solver: Option<&'static str>,
    run: Run,
    /// Of a reference, [`Reference::change`].
    change: Option<f64>,
}

/// Runs everything and judges it; `say` hears of each run when it is done.
pub fn run(order: &Order, say: &(dyn Fn(&str) + Sync)) -> Try<Table> {
    let sources = sources(order)?;
    let solvers = solvers(order)?;
    let mut jobs: Vec<(usize, Job)> = Vec::new();
    for (scene, source) in sources.iter().enumerate() {
        jobs.push((scene, Job::ExplicitAndReference));
        let others = solvers.iter().filter(|kind| kind.entry.name != EXPLICIT);
        let defined = others.filter(|kind| !matches!(Nature::of(kind, &source.scene), Nature::Undefined(_)));
        jobs.extend(defined.map(|kind| (scene, Job::Solver(kind))));
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Try<()> {
        while let Some((scene, job)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let finished = carry_out(order, &sources[*scene], *scene, *job, say)?;
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(finished);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?);
        ends.collect::<Try<Vec<()>>>()
    })?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rows = sources
        .iter()
        .enumerate()
        .map(|(scene, source)| row(source, &solvers, done.iter().filter(|d| d.scene == scene)));
    Ok(Table { solvers: solvers.iter().map(|kind| kind.entry.name).collect(), rows: rows.collect::<Try<_>>()? })
}

const EXPLICIT: &str = "explicit";

/// What the folder of frames and the messages call it.
const REFERENCE: &str = "reference";

fn carry_out(order: &Order, source: &Source, scene: usize, job: Job, say: &(dyn Fn(&str) + Sync)) -> Try<Vec<Done>> {
    let one = |solver: Option<&'static str>, settings: &[String], limit: f64| -> Try<Done> {
        let name = solver.unwrap_or(REFERENCE);
        let folder = order.frames.join(&source.name).join(name);
        let mut run = match source.with(solver.unwrap_or(EXPLICIT), settings) {
            Ok(scene) => simulate(&scene, source.folder(), limit, &folder)?,
            Err(findings) => Run::refused(&source.scene, findings),
        };
        if !run.frames.is_empty() {
            run.cuts = Some(referee::count(&order.python, &order.script, &folder)?);
        }
        say(&format!("{:<14} {name:<15} {run}", source.name));
        Ok(Done { scene, solver, run, change: None })
    };
    match job {
        Job::Solver(kind) => Ok(vec![one(Some(kind.entry.name), &[], LIMIT)?]),
        Job::ExplicitAndReference => {
            let probe = one(Some(EXPLICIT), &[], LIMIT)?;
            let at = |substeps: Option<u32>| {
                let settings: Vec<String> = substeps.map(|n| format!("solver.substeps={n}")).into_iter().collect();
                one(None, &settings, REFERENCE_LIMIT)
            };
            let mut substeps = reference_substeps(&probe.run, source.scene.frame_time());
            let mut reference = at(substeps)?;
            for _ in 0..MOST_HALVINGS {
                substeps = substeps.map(|n| 2 * n);
                let finer = at(substeps)?;
                let change = finer.run.change_of_strain(&reference.run);
                // What did not come to its end is no better reference.
                if finer.run.end != End::Whole {
                    break;
                }
                reference = Done { change, ..finer };
                if change.is_some_and(|part| part <= CONVERGED) {
                    break;
                }
            }
            Ok(vec![probe, reference])
        }
    }
}

/// Substeps of which each is a part of the longest stable step of any frame.
fn reference_substeps(probe: &Run, frame_time: f64) -> Option<u32> {
    Some((frame_time / (REFERENCE_STEP * probe.stable_step()?)).ceil() as u32)
}

fn row<'a>(source: &Source, solvers: &[&'static SolverKind], done: impl Iterator<Item = &'a Done>) -> Try<Row> {
    let done: Vec<&Done> = done.collect();
    let find = |solver: Option<&str>| done.iter().find(|d| d.solver == solver);
    let of = |solver: Option<&str>| find(solver).map(|d| &d.run);
    let reference = of(None).ok_or("a reference is missing")?;
    let change = find(None).and_then(|d| d.change);
    let cells = solvers.iter().map(|kind| {
        Cell::judged(kind.entry.name, &Nature::of(kind, &source.scene), of(Some(kind.entry.name)), Some(reference))
    });
    let longest = reference.frames.first().map(|frame| frame.substeps).zip(reference.stable_step());
    let step = longest.map(|(n, stable)| (n, source.scene.frame_time() / f64::from(n) / stable));
    Ok(Row {
        name: source.name.clone(),
        summary: source.summary(),
        cells: cells.collect(),
        reference: Reference { step, change, cell: Cell::judged(REFERENCE, &Nature::Physical, Some(reference), None) },
    })
}

fn sources(order: &Order) -> Try<Vec<Source>> {
    let folder = &order.scenes;
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let sources: Vec<Source> = paths.into_iter().map(Source::read).collect::<Try<_>>()?;
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    check(&order.only_scenes, &names, "scene")?;
    let is_wanted = |source: &Source| order.only_scenes.is_empty() || order.only_scenes.contains(&source.name);
    Ok(sources.into_iter().filter(is_wanted).collect())
}

fn solvers(order: &Order) -> Try<Vec<&'static SolverKind>> {
    let names: Vec<&str> = SOLVERS.iter().map(|kind| kind.entry.name).collect();
    check(&order.only_solvers, &names, "solver")?;
    let is_wanted = |name: &str| order.only_solvers.is_empty() || order.only_solvers.iter().any(|only| only == name);
    Ok(SOLVERS.iter().filter(|kind| is_wanted(kind.entry.name)).collect())
}

/// Whether there is all that is asked for.
fn check(wanted: &[String], there: &[&str], noun: &str) -> Try<()> {
    match wanted.iter().find(|name| !there.contains(&name.as_str())) {
        Some(wrong) => Err(format!("there is no {noun} {wrong}; there are {}", there.join(", "))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Source> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/scenes/contact");
        let order = Order {
            scenes: folder,
            only_scenes: Vec::new(),
            only_solvers: Vec::new(),
            frames: PathBuf::new(),
            python: PathBuf::new(),
            script: PathBuf::new(),
        };
        sources(&order).expect("scenes")
    }

    #[test]
    fn every_scene_is_named_after_its_file_and_leaves_the_substeps_to_the_solver() {
        let sources = all();
        assert!(sources.len() >= 12, "{}", sources.len());
        for source in sources {
            assert_eq!(source.scene.name, source.name);
            assert!(source.scene.contact.self_contact, "{}", source.name);
            assert_eq!(source.scene.solver.settings.integer("substeps"), None, "{}", source.name);
            assert!((0.5..=1.5).contains(&source.scene.duration), "{}: {} s", source.name, source.scene.duration);
            assert!(source.summary().ends_with('.'), "{}: its first line says what it shows", source.name);
        }
    }

    #[test]
    fn every_solver_that_is_defined_for_a_scene_takes_it() {
        for source in all() {
            for kind in SOLVERS {
                let is_defined = !matches!(Nature::of(kind, &source.scene), Nature::Undefined(_));
                let taken = source.with(kind.entry.name, &[]);
                assert_eq!(taken.is_ok(), is_defined, "{} in {}: {:?}", kind.entry.name, source.name, taken.err());
            }
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let said = check(&["ringg".to_owned()], &["ring", "bar"], "scene").expect_err("no such scene");
        assert_eq!(said, "there is no scene ringg; there are ring, bar");
    }
}
