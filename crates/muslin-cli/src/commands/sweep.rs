//! `muslin sweep`: one scene with many values, into a table.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::args::SweepArguments;
use crate::console::{note, say};
use crate::failure::Failure;
use crate::scene_file::SceneFile;
use crate::session::{Folder, Interrupt, all_cores, time_in_words};
use crate::shell;
use crate::sweep::Sweep;
use crate::sweep::folder::SweepFolder;
use crate::words::count;

pub(super) fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let is_silent = arguments.quiet || arguments.json;
    let file = SceneFile::open(&arguments.scene)?;
    let label = file.findings(Vec::new());
    let sweep = Sweep::new(file, arguments.changes.clone(), arguments.vary.clone(), arguments.samples, arguments.seed)?;
    if !is_silent {
        sweep.warnings.iter().for_each(|warning| note(warning.display(&label.label)));
    }
    let interrupt = Interrupt::listen()?;
    let folder = Folder::new(arguments.out.clone());
    let bar = bar(is_silent, sweep.samples);
    let told = {
        let bar = bar.clone();
        Box::new(move |done: u64, failed: u64| {
            bar.set_position(done);
            if failed > 0 {
                bar.set_message(format!("{failed} failed"));
            }
        })
    };
    let mut folder = SweepFolder::open(folder, &sweep, arguments.resume, told)?;
    let first = folder.done;
    bar.set_position(first);
    bar.reset_eta();
    let jobs = arguments.jobs.map_or_else(all_cores, usize::from);
    let ended = sweep.run((first, sweep.samples), jobs, &interrupt, &mut folder);
    bar.finish_and_clear();
    let place = arguments.out.display();
    let (done, failed, seconds) = (folder.done, folder.failed, started.elapsed().as_secs_f64());
    if !ended? {
        let command = shell::typed_command_with("--resume");
        return Err(Failure::Failed(format!(
            "interrupted; {} of {} are kept in {place}; continue with: {command}",
            done,
            count(sweep.samples as usize, "sample")
        )));
    }
    if arguments.json {
        let object = json!({
            "out": arguments.out, "scene": sweep.scene, "samples": done, "failed": failed, "jobs": jobs, "wall_seconds": seconds
        });
        say(format_args!("{object:#}"))?;
    } else if !arguments.quiet {
        let now = done - first;
        let each = if now == 0 { String::new() } else { format!(" ({:.1} ms each)", 1e3 * seconds / now as f64) };
        let words = count(now as usize, "sample");
        say(format_args!("{}: {words} in {}{each}, {failed} of {done} failed", sweep.scene, time_in_words(seconds)))?;
        say(format_args!("  results  {place}"))?;
    }
    if done > 0 && failed == done {
        return Err(Failure::Failed(format!("every sample failed; {place}/samples.csv says why")));
    }
    Ok(())
}

/// Samples a second and the time left, on a terminal; nothing elsewhere.
fn bar(is_silent: bool, samples: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("  {bar:24} {pos}/{len}  {per_sec}, {eta} left  {msg}")
        .unwrap_or(ProgressStyle::default_bar());
    if is_silent { ProgressBar::hidden() } else { ProgressBar::new(samples).with_style(style) }
}
