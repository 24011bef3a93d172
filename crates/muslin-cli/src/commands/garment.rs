//! `muslin garment`: sews a pattern around a body and drapes it to rest.
//!
//! The command writes a scene, which it then runs as `muslin run` does:
//!
//! ```text
//! pattern, body ─→ Dressing (unit, axes, where the pattern hangs) ─→ scene: sewn, let down, let go until it is at rest
//! ```

use std::path::Path;
use std::time::Instant;

use muslin_io::file_stem;
use muslin_scenes::dressing::Dressing;
use muslin_scenes::{figure, patterns};

use super::run::run_plan;
use crate::args::{GarmentArguments, RunArguments};
use crate::console::{note, say};
use crate::failure::{Failure, cannot_read};
use crate::mesh_files::read_file;
use crate::scene_file::SceneFile;
use crate::session::plan_of;
use crate::session::report::{AT_REST, Report};
use crate::words::percent;

pub(super) fn garment(arguments: &GarmentArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let text = read_pattern(&arguments.pattern)?;
    let name = file_stem(&Path::new(&arguments.pattern).file_stem().unwrap_or_default().to_string_lossy());
    let body = arguments.body.as_ref().map_or(figure::NAME.into(), |path| path.to_string_lossy());
    let mut file = SceneFile::of_text(String::new(), format!("garment {name}"));
    file.given.insert(arguments.pattern.clone(), text.clone().into_bytes());
    let mesh = file.mesh_files().load(&body).map_err(Failure::Usage)?;
    let dressing = Dressing::of((&arguments.pattern, &text), (&body, &mesh)).map_err(Failure::Usage)?;
    let run = run_arguments(arguments);
    if !(run.quiet || run.json) {
        dressing.notes.iter().for_each(note);
    }
    file.text = scene(arguments, &name, &body, &dressing);
    let report = run_plan(plan_of(&file, &run)?, &run, started)?;
    if !(run.quiet || run.json) {
        print_fit(&report)?;
    }
    judge(&report)
}

fn read_pattern(name: &str) -> Result<String, Failure> {
    let path = Path::new(name);
    if let Some(text) = patterns::built_in(name).filter(|_| !path.is_file()) {
        return Ok(text.to_owned());
    }
    let bytes = read_file(path).map_err(|error| {
        let names: Vec<&str> = patterns::names().collect();
        Failure::Usage(format!("{}; give a sewing pattern, or one of {}", cannot_read(path, error), names.join(", ")))
    })?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("{name} is no sewing pattern: it is not UTF-8 text")))
}

/// Seconds in which it is sewn, and in which it is let down and comes to rest at most.
const CLOSE_BY: f64 = 1.0;
const DURATION: f64 = 12.0;

/// The scene as text. It ends while the cloth is let down: whoever goes on with it, for a walk, makes `settle_by` the time at which that begins.
fn scene(arguments: &GarmentArguments, name: &str, body: &str, dressing: &Dressing) -> String {
    let Dressing { scale, rotate, translate, pattern, .. } = dressing;
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        "name = {name}
duration = {DURATION:?}
stop_at_rest = {AT_REST:?}

[contact]
start = \"untangle\"

[view]
size = [720, 960]
direction = [-0.35, -0.1, -1.0]

[[cloth]]
name = {name}
pattern = {file}
resolution = {resolution:?}
close_by = {CLOSE_BY:?}
settle_by = {DURATION:?}
translate = {pattern:?}

[cloth.material]
fabric = {fabric}

[[collider]]
name = \"body\"
mesh = {{ file = {body}, scale = {scale:?}, rotate = {rotate:?}, translate = {translate:?} }}
",
        name = quoted(name),
        file = quoted(&arguments.pattern),
        resolution = arguments.resolution,
        fabric = quoted(&arguments.fabric),
        body = quoted(body),
    )
}

fn run_arguments(arguments: &GarmentArguments) -> RunArguments {
    RunArguments {
        scene: None,
        changes: arguments.changes.clone(),
        out: arguments.out.clone(),
        threads: arguments.threads,
        frame_limit: arguments.frame_limit,
        formats: arguments.formats.clone(),
        preview: arguments.preview,
        resume: arguments.resume,
        quiet: arguments.quiet,
        json: arguments.json,
    }
}

/// Beyond this mean strain a panel is not tight, but wrong.
const ABSURD: f64 = 0.05;

/// How tight each panel sits.
fn print_fit(report: &Report) -> Result<(), Failure> {
    say("  panel                  strain: mean, most      pressure: mean, most [kPa]   touching")?;
    for panel in &report.summary.fit {
        say(format_args!(
            "  {:<22} {:>10} {:>10} {:>15.2} {:>10.2} {:>12}",
            panel.panel,
            percent(panel.mean_strain, 1),
            percent(panel.max_strain, 1),
            panel.mean_pressure,
            panel.max_pressure,
            percent(panel.touching, 0)
        ))?;
    }
    for panel in report.summary.fit.iter().filter(|panel| panel.mean_strain > ABSURD) {
        say(format_args!(
            "  warning     panel {} is stretched by {} on the whole: it is far too small for this body, or sits where it should not",
            panel.panel,
            percent(panel.mean_strain, 0)
        ))?;
    }
    Ok(())
}

/// A garment that is no garment in the end is a failure, though its results are kept.
fn judge(report: &Report) -> Result<(), Failure> {
    let summary = &report.summary;
    let Some(last) = report.frames.last() else { return Ok(()) };
    if let Some(cuts) = last.intersections.filter(|cuts| *cuts > 0) {
        return Err(Failure::Failed(format!(
            "{cuts} pairs of triangles still cut each other: the start was too tangled; move the pattern with --set cloth.0.translate, or use a finer --resolution"
        )));
    }
    if !summary.fit.is_empty() && summary.fit.iter().all(|panel| panel.touching == 0.0) {
        return Err(Failure::Failed(
            "the garment has come off: no part of it touches the body in the end; where it began (frame 0) shows why: a seam that does not go around the body, \
             or a place that --set cloth.0.translate mends"
                .to_owned(),
        ));
    }
    if !summary.at_rest {
        let travel = report.frames.iter().rev().find_map(|frame| frame.travel).unwrap_or(f64::NAN);
        return Err(Failure::Failed(format!(
            "not at rest after {:.1} s: a vertex still goes {:.1} mm/s; give it longer with --set duration=30 --set cloth.0.settle_by=30",
            summary.simulated_seconds,
            1e3 * travel
        )));
    }
    Ok(())
}
