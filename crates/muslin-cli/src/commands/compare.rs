//! `muslin compare`: one scene through several solvers and settings, side by side.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::args::CompareArguments;
use crate::compare::{self, Entrant, Fate, Field, Record, Reference, Row, Start, Track, Trial};
use crate::console::{note, say};
use crate::failure::{Failure, cannot_write};
use crate::memory;
use crate::mesh_files::MeshFiles;
use crate::scene_file::{Parsed, SceneFile};
use crate::session::{Folder, FrameWatch, Interrupt, all_cores};
use crate::table::Table;
use crate::words::{count, percent};

const JSON: &str = "compare.json";
const PNG: &str = "compare.png";
const SVG: &str = "compare.svg";

pub(super) fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let is_silent = arguments.quiet || arguments.json;
    let file = SceneFile::open(&arguments.scene)?;
    let parsed = file.parse(&arguments.changes)?;
    let field = compare::gather(arguments, &file, &parsed)?;
    let folder = folder(arguments, &parsed)?;
    let mut meshes = file.mesh_files();
    let vertices = vertices(&file, &parsed, &mut meshes)?;
    if !is_silent && !parsed.warnings.is_empty() {
        note(file.findings(parsed.warnings.clone()));
    }
    let threads = arguments.threads.map_or_else(all_cores, usize::from);
    let trials = race(&field, (threads, arguments.frame_limit), &mut meshes, is_silent)?;

    let turnover = Record::turnover(&trials);
    let rows: Vec<Row> = trials.into_iter().map(|trial| Row::new(trial, turnover)).collect();
    let label = rows.iter().find(|row| row.is_reference).map(|row| row.label.clone()).unwrap_or_default();
    let mut record = Record {
        version: env!("CARGO_PKG_VERSION"),
        scene: parsed.scene.name.clone(),
        frames: parsed.scene.frame_count(),
        frame_time: parsed.scene.frame_time(),
        vertices,
        threads,
        reference: Reference { label, choice: field.choice, turnover },
        solvers: rows,
        files: [JSON, PNG, SVG].map(str::to_owned).to_vec(),
    };
    write(&folder, &record)?;
    if arguments.json {
        record.solvers.iter_mut().for_each(|row| row.series = None);
        let mut answer = serde_json::to_value(&record).map_err(|error| Failure::Failed(error.to_string()))?;
        answer["out"] = json!(folder.path);
        say(format_args!("{answer:#}"))?;
    } else if !arguments.quiet {
        print(&record, &folder)?;
    }
    verdict(&record)
}

/// Compiles the scene as it is, so that what is wrong with its meshes is told once and not for every solver; gives its
/// number of vertices.
fn vertices(file: &SceneFile, parsed: &Parsed, meshes: &mut MeshFiles) -> Result<usize, Failure> {
    file.check_memory(parsed)?;
    let compiled = meshes.compile(&parsed.scene).map_err(|problems| file.failure(parsed.locate(&problems)))?;
    let vertices = compiled.model.masses.len();
    let frames = parsed.scene.frame_count() + 1;
    let bytes = vertices * frames * size_of::<[f64; 3]>();
    match memory::available() {
        Some(available) if bytes > available => Err(Failure::Usage(format!(
            "the reference has {} of {}, which take {} of memory, but {} are free; ask for fewer with --frames",
            count(frames, "frame"),
            count(vertices, "vertex"),
            memory::in_words(bytes),
            memory::in_words(available)
        ))),
        _ => Ok(vertices),
    }
}

/// The folder of the results, if they overwrite nothing but results of the same kind.
fn folder(arguments: &CompareArguments, parsed: &Parsed) -> Result<Folder, Failure> {
    /// What tells a comparison of ours from another file of that name.
    #[derive(Deserialize)]
    struct Listing {
        files: Vec<String>,
        #[serde(rename = "version")]
        _version: IgnoredAny,
        #[serde(rename = "reference")]
        _reference: IgnoredAny,
    }
    let name = || Path::new("out").join(format!("compare-{}", parsed.scene.name));
    let folder = Folder::new(arguments.out.clone().unwrap_or_else(name));
    let listing = || serde_json::from_slice::<Listing>(&folder.read(JSON).ok()??).ok();
    let made = listing().map_or(Vec::new(), |listing| listing.files);
    folder.guard(&[JSON, PNG, SVG].map(str::to_owned), &made)?;
    Ok(folder)
}

/// Runs everybody, the reference first, and gives the runs in the order of the field.
fn race(
    field: &Field,
    (threads, frame_limit): (usize, f64),
    meshes: &mut MeshFiles,
    is_silent: bool,
) -> Result<Vec<Trial>, Failure> {
    let interrupt = Interrupt::listen()?;
    let watch = FrameWatch::new(&interrupt, frame_limit);
    let mut order: Vec<(usize, &Entrant)> = field.entrants.iter().enumerate().collect();
    order.sort_by_key(|(_, entrant)| !entrant.is_reference);
    let mut track = Track::new();
    let mut trials = Vec::new();
    for (i, (place, entrant)) in order.into_iter().enumerate() {
        if !is_silent {
            let role = if entrant.is_reference { ", the reference" } else { "" };
            note(format_args!("{} of {}: {}{role} …", i + 1, field.entrants.len(), entrant.label));
        }
        let start = Start { threads, meshes, watch: &watch, is_silent };
        let trial = Trial::run(entrant, start, &mut track);
        if trial.fate == Fate::Interrupted {
            return Err(Failure::Failed("interrupted; no results were written".to_owned()));
        }
        trials.push((place, trial));
    }
    trials.sort_by_key(|(place, _)| *place);
    Ok(trials.into_iter().map(|(_, trial)| trial).collect())
}

fn write(folder: &Folder, record: &Record) -> Result<(), Failure> {
    folder.create()?;
    let text = record.to_json().map_err(|error| cannot_write(&folder.join(JSON), error.into()))?;
    // First: it says whose the others are.
    folder.write(JSON, text.as_bytes())?;
    let drawn = compare::draw(record).map_err(|error| Failure::Failed(format!("cannot draw {PNG}: {error}")))?;
    folder.write(SVG, drawn.svg.as_bytes())?;
    drawn.picture.write_png(folder.join(PNG)).map_err(|error| Failure::Failed(error.to_string()))
}

fn print(record: &Record, folder: &Folder) -> Result<(), Failure> {
    say(format_args!(
        "{}: {} of {:.4} s, {}, {}",
        record.scene,
        count(record.frames, "frame"),
        record.frame_time,
        count(record.vertices, "vertex"),
        count(record.threads, "thread")
    ))?;
    let settings = record.reference().map(|row| format!(": {}", row.in_words())).unwrap_or_default();
    say(format_args!("reference{settings} ({})\n", record.reference.choice))?;
    say(table(record))?;
    say("\n  ms/frame: mean and median of the simulation alone; strain: of the edges, largest and mean at the end, \
         largest ever\n  energy: change of the total, as a share of what the reference turned over (wind, pins, \
         friction and damping change it too)\n  residual: each solver's own measure, not to be compared; \
         distance to the reference in mm: rms and\n  largest at the end, rms over the whole run, largest ever")?;
    let mut settings = Table::new(["solver", "settings"], &[]);
    for row in record.solvers.iter().filter(|row| !row.settings.is_empty()) {
        settings.row([row.label.clone(), row.in_words()]);
    }
    say(format_args!("\n{settings}"))?;
    for row in &record.solvers {
        if let Some(error) = &row.error {
            say(format_args!("\n  {} failed: {error}", row.label))?;
        }
    }
    let path = folder.path.display();
    say(format_args!("\n  results     {path}\n  open        {path}/{PNG}"))
}

fn table(record: &Record) -> Table {
    let heading = [
        "solver", "ms/frame", "median", "strain", "mean", "ever", "energy", "residual", "off: rms", "max", "run rms",
        "ever", "",
    ];
    let mut table = Table::new(heading, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let show = |value: Option<f64>, words: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), words);
    let percent: fn(f64) -> String = |x| percent(x, 2);
    let ms: fn(f64) -> String = |x| if x < 9.995 { format!("{x:.2}") } else { format!("{x:.1}") };
    let mm: fn(f64) -> String = |x| match 1e3 * x {
        0.0 => "0".to_owned(),
        x if x < 0.01 => format!("{x:.0e}"),
        x => format!("{x:.2}"),
    };
    for row in &record.solvers {
        let s = &row.summary;
        table.row([
            row.label.clone(),
            show(s.mean_wall_ms, ms),
            show(s.median_wall_ms, ms),
            show(s.max_strain_end, percent),
            show(s.mean_strain_end, percent),
            show(s.max_strain_run, percent),
            show(s.energy_drift, |x| format!("{:+.1} %", 100.0 * x)),
            show(s.residual_end, |x| format!("{x:.1e}")),
            show(s.distance_rms_end, mm),
            show(s.distance_max_end, mm),
            show(s.distance_rms_run, mm),
            show(s.distance_max_run, mm),
            match (row.is_done(), row.is_reference) {
                (false, _) => "failed, see below".to_owned(),
                (true, true) => "reference".to_owned(),
                (true, false) => String::new(),
            },
        ]);
    }
    table
}

/// A comparison is worth something while there is a reference and somebody to compare with it.
fn verdict(record: &Record) -> Result<(), Failure> {
    let error = |row: &Row| format!("{}: {}", row.label, row.error.as_deref().unwrap_or_default());
    if !record.solvers.iter().any(Row::is_done) {
        let errors: Vec<String> = record.solvers.iter().map(error).collect();
        return Err(Failure::Failed(format!("every solver failed: {}", errors.join("; "))));
    }
    match record.reference().filter(|row| !row.is_done()) {
        Some(row) => Err(Failure::Failed(format!(
            "the reference failed, so there are no distances to it at the end; choose another with --reference: {}",
            error(row)
        ))),
        None => Ok(()),
    }
}
