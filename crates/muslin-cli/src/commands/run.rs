//! `muslin run`: simulates a scene and writes its results.

use std::collections::BTreeMap;
use std::time::Instant;

use muslin::Simulation;
use serde_json::json;

use crate::args::{Preview, RunArguments};
use crate::console::{note, say};
use crate::failure::Failure;
use crate::memory;
use crate::session::report::{Outcome, Report};
use crate::session::{FrameWatch, Interrupt, Plan, Progress, Session, plan, time_in_words};
use crate::words::{count, percent};

/// Frames that take more bytes than this are mentioned before they are written.
const MANY_BYTES: usize = 10_000_000_000;

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let planned = plan(arguments)?;
    run_plan(planned, arguments, started).map(drop)
}

/// Simulates a scene that was read and compiled, and writes its results.
pub(super) fn run_plan(
    (plan, simulation): (Plan, Simulation),
    arguments: &RunArguments,
    started: Instant,
) -> Result<Report, Failure> {
    let is_silent = arguments.quiet || arguments.json;
    if !is_silent && !plan.warnings.list.is_empty() {
        note(&plan.warnings);
    }
    let frame_bytes = memory::frame_bytes(simulation.model(), &plan.scene);
    if !is_silent && frame_bytes > MANY_BYTES {
        let (name, size, place) = (&plan.scene.name, memory::in_words(frame_bytes), plan.folder.path.display());
        note(format_args!("{name}: the frames will take {size} in {place}"));
    }
    let interrupt = Interrupt::listen()?;
    let watch = FrameWatch::new(&interrupt, arguments.frame_limit);
    let simulation = simulation.with_stop(watch.asks());
    let mut session = match arguments.resume {
        true => Session::resume(plan, simulation, started)?,
        false => Session::begin(plan, simulation, started)?,
    };
    let frame_count = session.plan.scene.frame_count();
    let mut progress = Progress::new(&session.plan.scene.name, session.frame(), frame_count, is_silent);
    let done = session.simulate(&watch, &mut progress).and_then(|()| session.finish(&interrupt, &mut progress));
    progress.finish();
    done?;
    match arguments {
        RunArguments { json: true, .. } => print_json(&session)?,
        RunArguments { quiet: true, .. } => {}
        _ => print_summary(&session)?,
    }
    Ok(session.report)
}

/// The report without its frames, and where the results are.
fn print_json(session: &Session) -> Result<(), Failure> {
    let report = &session.report;
    let extra = BTreeMap::from([
        ("out", json!(session.plan.folder.path)),
        ("frame_count", json!(report.last_frame())),
        ("max_strain", json!(report.worst_strain().map(|(strain, _)| strain))),
        ("mean_wall_ms", json!(report.mean_wall_ms())),
        ("last_frame", json!(report.frames.last())),
    ]);
    let object = report.summary.with(extra).map_err(|error| Failure::Failed(error.to_string()))?;
    say(format_args!("{object:#}"))
}

fn print_summary(session: &Session) -> Result<(), Failure> {
    let (report, folder) = (&session.report, session.plan.folder.path.display());
    let summary = &report.summary;
    let at_rest = if summary.outcome == Outcome::AtRest { ", then at rest" } else { "" };
    let drawn = match session.plan.preview {
        Preview::None => String::new(),
        _ => format!(", drawn in {}", time_in_words(1e-3 * summary.stages_ms.preview)),
    };
    say(format_args!(
        "{}: {} ({:.2} s{at_rest}) simulated in {} ({:.1} ms a frame){drawn}",
        summary.scene,
        count(report.last_frame(), "frame"),
        summary.simulated_seconds,
        time_in_words(report.step_seconds()),
        report.mean_wall_ms()
    ))?;
    if let (Some((worst, frame)), Some(last)) = (report.worst_strain(), report.frames.last()) {
        let [worst, end] = [worst, last.max_strain].map(|strain| percent(strain, 2));
        say(format_args!("  strain      at most {worst} (frame {frame}), {end} at the end"))?;
    }
    let strain = session.strain_warning();
    if let Some(warning) = &strain {
        say(format_args!("              {warning}"))?;
    }
    if let Some(frame) = summary.untangled_at_frame {
        say(format_args!("  untangled   from frame {frame} on nothing cuts or touches"))?;
    }
    say(format_args!("  state hash  {}", summary.state_hash))?;
    say(format_args!("  results     {folder}"))?;
    let shown = |name: &&String| name.starts_with("preview.") || name.ends_with(".glb");
    let open: Vec<String> = summary.files.iter().filter(shown).map(|name| format!("{folder}/{name}")).collect();
    if !open.is_empty() {
        say(format_args!("  open        {}", open.join(", ")))?;
    }
    let warnings = summary.warnings.iter().skip(session.plan.warnings.list.len());
    for warning in warnings.filter(|warning| strain.as_ref() != Some(warning)) {
        say(format_args!("  warning     {warning}"))?;
    }
    for note in &summary.notes {
        say(format_args!("  note        {note}"))?;
    }
    Ok(())
}
