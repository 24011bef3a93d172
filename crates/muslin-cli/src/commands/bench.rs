//! `muslin bench`: measures this build on this machine.
//!
//! ```text
//! memory   bytes a vertex, solver by solver
//! setup    each step from a mesh to elements in colours, and reading as many vertices from a file
//! sheets   distance bending at every size, the other models at the smallest
//! threads  what of a frame is parallel and what is serial, and the bound for 64 threads
//! ```
//!
//! `memory` and `threads` can be asked for alone. `--quality` and `contact` measure something else instead.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::args::{BenchArguments, BenchSubject};
use crate::bench::{self, Bend, ContactPlan, ContactRow, Machine, QualityPlan, Row, SheetPlan, ThreadsPlan, Trial};
use crate::console::{note, say};
use crate::failure::{Failure, cannot_write};
use crate::session::all_cores;
use crate::table::Table;

/// Vertices along a side of the sheet whose setup is measured: a million in all.
const SETUP_SIDE: u32 = 1024;
const QUICK_SIDE: u32 = 128;
/// Vertices along a side of the sheets where none are named.
const SIDES: &[u32] = &[128, 512, 1024];
const CONTACT_SIDES: &[u32] = &[100, 200, 400];
const QUICK_CONTACT_SIDE: u32 = 48;
/// Of the sheets whose memory is measured, and whose threads are counted: a factorisation of more takes long, and so does an explicit frame.
const MEMORY_SIDE: u32 = 256;
const THREADS_SIDE: u32 = 256;
const QUICK_THREADS_SIDE: u32 = 64;
const FOLDED_SIDE: u32 = 100;
const QUICK_FOLDED_SIDE: u32 = 24;

pub(super) fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    if let Some(solver) = &arguments.memory_of {
        let side = arguments.sizes.first().copied().unwrap_or(QUICK_SIDE);
        return say(json!(bench::measure_memory_here(solver, side)?));
    }
    let machine = Machine::this();
    let progress = |words: &str| {
        if !arguments.json {
            note(format_args!("measuring {words} …"));
        }
    };
    if !arguments.json {
        say(&machine)?;
    }
    if arguments.what == Some(BenchSubject::Contact) {
        return contact(arguments, &machine, progress);
    }
    if arguments.quality {
        return quality(arguments, &machine, progress);
    }
    let rows = measure(&Scope::new(arguments), progress)?;
    if let Some(path) = &arguments.csv {
        write_csv(path, &machine, &rows)?;
    }
    if arguments.json {
        return say(format_args!("{:#}", json!({ "machine": machine, "rows": rows })));
    }
    if rows.iter().any(is_early) {
        print_setup(&rows)?;
    }
    if rows.iter().any(|row| row.quantity == "projections") {
        print_sheets(&rows)?;
    }
    if rows.iter().any(|row| row.quantity == SERIAL) {
        print_threads(&rows)?;
    }
    Ok(())
}

/// What every sheet whose threads are counted has.
const SERIAL: &str = "serial part";

/// Whether it is about what comes before the first step.
fn is_early(row: &Row) -> bool {
    matches!(row.subject, "setup" | "memory" | "memory, peak")
}

/// The cheapest setting of each solver that is good enough.
fn quality(arguments: &BenchArguments, machine: &Machine, progress: impl Fn(&str)) -> Result<(), Failure> {
    let threads = arguments.threads.first().copied().map_or_else(all_cores, usize::from);
    let mut trials = Vec::new();
    for side in sides(arguments, SIDES) {
        progress(&format!("the converged motion of {side} × {side}"));
        let converged = bench::converge(side, threads)?;
        let report = |trial: &Trial| progress(&format!("{side} × {side}: {} done", trial.solver));
        let plan = QualityPlan { side, threads, budget: f64::from(arguments.budget), solvers: &arguments.solvers };
        trials.extend(bench::measure_quality(&plan, &converged, report)?);
    }
    if arguments.json {
        return say(format_args!("{:#}", json!({ "machine": machine, "trials": trials })));
    }
    let heading = ["sheet", "solver", "ms/frame", "motion rms", "farthest", "strain", "", "settings"];
    let mut table = Table::new(heading, &[2, 3, 4, 5]);
    for trial in &trials {
        table.row([
            format!("{} × {}", trial.side, trial.side),
            trial.solver.to_owned(),
            format!("{:.1}", trial.frame_ms),
            format!("{:.1} cm", 100.0 * trial.distance),
            format!("{:.1} cm", 100.0 * trial.farthest),
            trial.strain.map_or_else(|| "–".to_owned(), |strain| format!("{:.2} %", 100.0 * strain)),
            if trial.passes { "passes".to_owned() } else { trial.note.clone() },
            trial.settings.clone(),
        ]);
    }
    say(format_args!(
        "\n{table}\n\n  hung by two corners, 1 m × 1 m, 0.2 kg/m², 25 kN/m, {threads} threads; the cheapest setting of each solver \
         that stays\n  within 2 cm (rms) of the converged motion for half a second and ends below 1 % strain after five; or the \
         nearest to it"
    ))
}

/// The sizes asked for, or else these.
fn sides(arguments: &BenchArguments, otherwise: &[u32]) -> BTreeSet<u32> {
    let given = &arguments.sizes;
    if given.is_empty() { otherwise } else { given }.iter().copied().collect()
}

/// What self-contact costs.
fn contact(arguments: &BenchArguments, machine: &Machine, progress: impl Fn(&str)) -> Result<(), Failure> {
    let sides = if arguments.quick { BTreeSet::from([QUICK_CONTACT_SIDE]) } else { sides(arguments, CONTACT_SIDES) };
    let threads: BTreeSet<u16> =
        if arguments.threads.is_empty() { BTreeSet::from([1]) } else { arguments.threads.iter().copied().collect() };
    let mut subjects = Vec::new();
    for &scene in &arguments.scenes {
        let sides =
            scene.only_side().filter(|_| !arguments.quick).map_or_else(|| sides.clone(), |side| BTreeSet::from([side]));
        subjects.extend(sides.into_iter().map(|side| (scene, side)));
    }
    let mut rows = Vec::new();
    for (subject, side) in subjects {
        for &threads in &threads {
            let frames = arguments.frames.map_or_else(|| subject.frames(arguments.quick), usize::from);
            let plan = ContactPlan { subject, side, threads: usize::from(threads), frames };
            rows.push(bench::measure_contact(&plan, &progress)?);
        }
    }
    if let Some(path) = &arguments.csv {
        write_csv(path, machine, &rows.iter().flat_map(ContactRow::rows).collect::<Vec<Row>>())?;
    }
    if arguments.json {
        return say(format_args!("{:#}", json!({ "machine": machine, "contact": rows })));
    }
    print_contact(&rows)
}

fn print_contact(rows: &[ContactRow]) -> Result<(), Failure> {
    let heading = [
        "scene",
        "vertices",
        "threads",
        "substeps",
        "ms/frame",
        "without",
        "contact/rest",
        "contacts",
        "µs each",
        "B/vertex",
        "strain max",
        "mean",
        "cuts",
        "frames",
    ];
    let mut table = Table::new(heading, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for row in rows {
        table.row([
            row.scene.to_owned(),
            row.vertices.to_string(),
            row.threads.to_string(),
            row.substeps.to_string(),
            format!("{:.1}", row.frame_ms),
            format!("{:.1}", row.without_ms),
            format!("{:.2}", row.ratio),
            format!("{:.0}", row.contacts),
            format!("{:.2}", row.contact_us),
            row.peak_bytes.map_or_else(|| "–".to_owned(), |bytes| format!("{bytes:.0}")),
            format!("{:.1} %", 100.0 * row.max_strain),
            format!("{:.2} %", 100.0 * row.mean_strain),
            row.intersections.map_or_else(|| "–".to_owned(), |cuts| cuts.to_string()),
            format!("{} to {}", row.first_frame, row.first_frame + row.frames - 1),
        ]);
    }
    say(format_args!(
        "\n{table}\n\n  without: the same frames, from the same states, without self-contact; contact/rest: what contact adds to them\n  \
         contacts: pairs pushed apart in a substep; µs each: what contact adds, for one pair in one substep\n  \
         whole is the scene twirl from its first frame to its last; twirl is folded coarse, refined and settled\n  \
         thickness in proportion to the edges, substeps to their number along a side"
    ))
}

/// What is measured.
struct Scope {
    /// Only that.
    what: Option<BenchSubject>,
    setup_side: u32,
    memory_sides: BTreeSet<u32>,
    thread_plans: Vec<ThreadsPlan>,
    sides: BTreeSet<u32>,
    threads: Vec<usize>,
    is_quick: bool,
}

impl Scope {
    fn new(arguments: &BenchArguments) -> Self {
        let quick = arguments.quick;
        let given = arguments.threads.iter().copied().map(usize::from);
        let threads: BTreeSet<usize> =
            if arguments.threads.is_empty() { BTreeSet::from([1, all_cores()]) } else { given.collect() };
        let sizes = |otherwise: u32, own: BenchSubject| {
            if arguments.what == Some(own) { sides(arguments, &[otherwise]) } else { BTreeSet::from([otherwise]) }
        };
        let thread_side = if quick { QUICK_THREADS_SIDE } else { THREADS_SIDE };
        let plan = |side| ThreadsPlan {
            side,
            folded_side: if quick { QUICK_FOLDED_SIDE } else { FOLDED_SIDE },
            frames: if quick { 2 } else { 6 },
        };
        Self {
            what: arguments.what,
            memory_sides: sizes(if quick { QUICK_SIDE } else { MEMORY_SIDE }, BenchSubject::Memory),
            thread_plans: sizes(thread_side, BenchSubject::Threads).into_iter().map(plan).collect(),
            setup_side: if quick { QUICK_SIDE } else { SETUP_SIDE },
            sides: if quick { BTreeSet::from([QUICK_SIDE]) } else { sides(arguments, SIDES) },
            threads: threads.into_iter().collect(),
            is_quick: quick,
        }
    }

    /// Measured frames of a sheet: a second of the small ones, and a few of the large.
    fn frames(&self, side: u32) -> usize {
        match side {
            _ if self.is_quick => 10,
            0..=200 => 59,
            201..=600 => 11,
            _ => 5,
        }
    }
}

fn measure(scope: &Scope, progress: impl Fn(&str)) -> Result<Vec<Row>, Failure> {
    let wants = |subject| scope.what.is_none_or(|what| what == subject);
    let mut rows = Vec::new();
    if wants(BenchSubject::Memory) {
        for &side in &scope.memory_sides {
            progress(&format!("memory, {side} × {side}"));
            rows.extend(bench::measure_memory(side, &progress)?);
        }
    }
    if scope.what.is_none() {
        rows.extend(measure_speed(scope, &progress)?);
    }
    if wants(BenchSubject::Threads) {
        for plan in &scope.thread_plans {
            rows.extend(bench::measure_threads(plan, &progress)?);
        }
    }
    Ok(rows)
}

/// Setup and sheets.
fn measure_speed(scope: &Scope, progress: impl Fn(&str)) -> Result<Vec<Row>, Failure> {
    let smallest = scope.sides.first().copied().unwrap_or(QUICK_SIDE);
    progress("setup");
    let mut rows = bench::measure_setup(scope.setup_side)?;
    let others = [(smallest, Bend::Isometric), (smallest, Bend::Dihedral)];
    for (side, bend) in scope.sides.iter().map(|&side| (side, Bend::Distance)).chain(others) {
        progress(&format!("{side} × {side}"));
        let plan = SheetPlan { side, bend, threads: &scope.threads, frames: scope.frames(side) };
        rows.extend(bench::measure_sheet(&plan)?);
    }
    Ok(rows)
}

fn print_setup(rows: &[Row]) -> Result<(), Failure> {
    let mut table = Table::new(["before the first step", "vertices", "best", "median", ""], &[1, 2, 3]);
    for row in rows.iter().filter(|row| is_early(row)) {
        let number = |value: f64| if row.unit == "s" { format!("{value:.3}") } else { format!("{value:.0}") };
        let name =
            if row.subject == "setup" { row.quantity.to_owned() } else { format!("{}: {}", row.subject, row.quantity) };
        table.row([name, row.vertices.to_string(), number(row.best), number(row.median), row.unit.to_owned()]);
    }
    say(format_args!("\n{table}"))
}

/// One line a sheet and number of threads: its four rows side by side.
fn print_sheets(rows: &[Row]) -> Result<(), Failure> {
    let heading =
        ["bending", "vertices", "threads", "M proj/s", "median", "ms/frame", "median", "strain max", "mean", "after"];
    let mut table = Table::new(heading, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for four in rows.chunk_by(|a, b| (a.subject, a.vertices, a.threads) == (b.subject, b.vertices, b.threads)) {
        let [projections, frame, max, mean] = four else { continue };
        table.row([
            projections.subject.to_owned(),
            projections.vertices.to_string(),
            projections.threads.to_string(),
            format!("{:.1}", projections.best),
            format!("{:.1}", projections.median),
            format!("{:.2}", frame.best),
            format!("{:.2}", frame.median),
            format!("{:.1} %", 100.0 * max.best),
            format!("{:.2} %", 100.0 * mean.best),
            format!("{} frames", frame.count + 1),
        ]);
    }
    say(format_args!(
        "\n{table}\n\n  hung by two corners, xpbd, 20 substeps of one iteration, springs without compliance\n  \
         strain is what the speed bought: such a sheet is far from converged after so few sweeps, whoever computes \
         it,\n  and further the finer it is; compare speeds at equal strain"
    ))
}

/// One line a solver: its rows side by side.
fn print_threads(rows: &[Row]) -> Result<(), Failure> {
    let heading =
        ["one thread", "vertices", "parallel ms", "serial ms", "barriers", "runs", "64 threads: serial", "and meeting"];
    let mut table = Table::new(heading, &[1, 2, 3, 4, 5, 6, 7]);
    for all in rows.chunk_by(|a, b| (a.subject, a.vertices) == (b.subject, b.vertices)) {
        let value = |name: &str, decimals: usize| {
            let row = all.iter().find(|row| row.quantity == name);
            row.map_or_else(|| "–".to_owned(), |row| format!("{:.decimals$}", row.best))
        };
        if all.iter().any(|row| row.quantity == SERIAL) {
            table.row([
                all[0].subject.to_owned(),
                all[0].vertices.to_string(),
                value("parallel part", 2),
                value(SERIAL, 3),
                value("barriers", 0),
                value("runs", 0),
                value("bound of 64 threads, serial", 1),
                value("bound of 64 threads", 1),
            ]);
        }
    }
    let team = |name: &str| rows.iter().find(|row| (row.subject, row.quantity) == ("team", name));
    let meeting = match (team("barrier"), team("run")) {
        (Some(barrier), Some(run)) => format!(
            "with {} threads here a barrier takes {:.2} µs and a run {:.1} µs (best; median {:.2} and {:.1}), with 64 taken as {:.0} times that",
            barrier.threads,
            barrier.best,
            run.best,
            barrier.median,
            run.median,
            64.0 / barrier.threads as f64
        ),
        _ => "what meeting costs is not known on one core".to_owned(),
    };
    say(format_args!(
        "\n{table}\n\n  parallel, serial: a frame inside and outside of runs of the team, mean of up to {} frames; barriers and runs: a frame\n  \
         64 threads: (S + P)/(S + P/64), the bound by the serial part, and with what barriers and runs cost\n  {meeting}",
        rows.iter().filter(|row| row.quantity == SERIAL).map(|row| row.count).max().unwrap_or(0)
    ))
}

/// One row a quantity, so that the files of all machines can be put one below the other.
fn write_csv(path: &Path, machine: &Machine, rows: &[Row]) -> Result<(), Failure> {
    let mut text = "version,cpu,cores,os,subject,vertices,threads,quantity,unit,best,median,count\n".to_owned();
    let plain = |words: &str| words.replace([',', '"', '\n'], " ");
    for row in rows {
        // A string takes whatever is written to it.
        writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{:.6},{:.6},{}",
            machine.version,
            plain(&machine.cpu),
            machine.cores,
            plain(&machine.os),
            row.subject,
            row.vertices,
            row.threads,
            row.quantity,
            row.unit,
            row.best,
            row.median,
            row.count
        )
        .ok();
    }
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, text)).map_err(|error| cannot_write(path, error).into())
}
