//! `muslin lab`: a fabric in the laboratory, simulated values beside measured ones.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use muslin_lab::{Progress, Sample};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::args::{LabArguments, LabTest};
use crate::console::say;
use crate::failure::Failure;
use crate::lab::{self, Done, Finding};
use crate::session::{Folder, Interrupt, time_in_words};
use crate::words::count;

const JSON: &str = "lab.json";
const PNG: &str = "picture.png";
const SVG: &str = "plot.svg";
/// Marks of the bar.
const MARKS: f64 = 1000.0;

pub(super) fn lab(arguments: &LabArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let is_silent = arguments.quiet || arguments.json;
    let interrupt = Interrupt::listen()?;
    let raised = interrupt.clone();
    let sample = Sample {
        solver: arguments.solver.clone(),
        stretch: arguments.stretch.clone(),
        bend: arguments.bend.clone(),
        edge_length: arguments.edge_length,
        threads: usize::from(arguments.threads),
        stop: Some(Arc::new(move || raised.is_raised())),
        ..Sample::new(&arguments.fabric).map_err(lab::failure)?
    };
    sample.check().map_err(lab::failure)?;
    let test = name(arguments.test);
    let folder = folder(arguments, test)?;

    let bar = bar(is_silent);
    let mut told = |progress: Progress| {
        bar.set_position((MARKS * progress.share) as u64);
        bar.set_message(progress.words);
    };
    let done = Done::of(arguments.test, &sample, &mut told);
    bar.finish_and_clear();
    let done = done?;
    let seconds = started.elapsed().as_secs_f64();

    let finding = Finding::of(&done, &sample);
    let (picture, plot) = done.draw().map_err(|error| Failure::Failed(format!("cannot draw {PNG}: {error}")))?;
    let files: Vec<&str> = [JSON, PNG].into_iter().chain(plot.is_some().then_some(SVG)).collect();
    let record = record(&sample, test, &finding, seconds, &files);
    folder.create()?;
    // First: it says whose the others are.
    folder.write(JSON, format!("{record:#}\n").as_bytes())?;
    picture.write_png(folder.join(PNG)).map_err(|error| Failure::Failed(error.to_string()))?;
    match plot {
        Some(svg) => folder.write(SVG, svg.as_bytes())?,
        None => folder.remove(SVG)?,
    }
    match arguments {
        LabArguments { json: true, .. } => {
            let mut answer = record;
            answer["out"] = json!(folder.path);
            say(format_args!("{answer:#}"))
        }
        LabArguments { quiet: true, .. } => Ok(()),
        _ => print(&sample, test, &finding, seconds, &folder),
    }
}

/// As it is typed.
fn name(test: LabTest) -> &'static str {
    match test {
        LabTest::Cantilever => "cantilever",
        LabTest::Cusick => "cusick",
        LabTest::Tensile => "tensile",
        LabTest::Shear => "shear",
    }
}

/// The folder of the results, if they overwrite nothing but results of a test.
fn folder(arguments: &LabArguments, test: &str) -> Result<Folder, Failure> {
    /// What tells a result of ours from another file of that name.
    #[derive(Deserialize)]
    struct Listing {
        files: Vec<String>,
        #[serde(rename = "version")]
        _version: IgnoredAny,
        #[serde(rename = "test")]
        _test: IgnoredAny,
    }
    let usual = || Path::new("out").join("lab").join(format!("{test}-{}", arguments.fabric));
    let folder = Folder::new(arguments.out.clone().unwrap_or_else(usual));
    let listing = || serde_json::from_slice::<Listing>(&folder.read(JSON).ok()??).ok();
    let made = listing().map_or(Vec::new(), |listing| listing.files);
    folder.guard(&[JSON, PNG, SVG].map(str::to_owned), &made)?;
    Ok(folder)
}

fn record(sample: &Sample, test: &str, finding: &Finding, seconds: f64, files: &[&str]) -> Value {
    let fabric = sample.fabric;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "test": test,
        "fabric": { "name": fabric.name, "density": fabric.density, "bend": fabric.bend, "stretch": fabric.stretch, "source": fabric.source },
        "solver": sample.solver,
        "stretch": sample.stretch,
        "bend": sample.bend,
        "edge_length": finding.edge_length,
        "vertices": finding.vertices,
        "threads": sample.threads,
        "wall_seconds": seconds,
        "rest": finding.rest_json(),
        "simulated": finding.simulated,
        "measured": finding.measured,
        "material": finding.material,
        "files": files,
    })
}

fn print(sample: &Sample, test: &str, finding: &Finding, seconds: f64, folder: &Folder) -> Result<(), Failure> {
    say(format_args!(
        "{test} of {}: {}, edges of {:.1} mm, {}, {} and {}, in {}\n",
        sample.fabric.name,
        count(finding.vertices, "vertex"),
        1e3 * finding.edge_length,
        sample.solver,
        sample.stretch,
        sample.bend,
        time_in_words(seconds)
    ))?;
    say(&finding.table)?;
    say("")?;
    for note in &finding.notes {
        say(format_args!("  {note}"))?;
    }
    say(format_args!("  {}", finding.rest_in_words()))?;
    let path = folder.path.display();
    say(format_args!("\n  results     {path}\n  open        {path}/{PNG}"))
}

/// The test and where it is, on a terminal; nothing elsewhere.
fn bar(is_silent: bool) -> ProgressBar {
    let style = ProgressStyle::with_template("  {bar:24} {wide_msg}").unwrap_or(ProgressStyle::default_bar());
    if is_silent { ProgressBar::hidden() } else { ProgressBar::new(MARKS as u64).with_style(style) }
}
