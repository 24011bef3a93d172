//! Resume: the files of an earlier run to go on from. Everything is checked before anything is changed.

use std::io;

use muslin::Simulation;
use muslin_io::{Cause, IoError, NpyError};

use super::checkpoint::Checkpoint;
use super::fingerprint::difference;
use super::folder::{CHECKPOINT, Folder, REPORT, SCENE};
use super::plan::Plan;
use super::report::Report;
use crate::failure::Failure;

/// Refuses a folder in which no run has left anything to go on from, before anything is made in it.
pub(super) fn check_that_there_is_one(folder: &Folder) -> Result<(), Failure> {
    match folder.join(CHECKPOINT).try_exists() {
        Ok(false) => Err(nothing(folder)),
        _ => Ok(()), // what stands in the way of reading it is told when it is read
    }
}

/// Puts the simulation where the checkpoint is and gives the report so far.
pub(super) fn earlier(plan: &Plan, simulation: &mut Simulation) -> Result<Report, Failure> {
    let folder = &plan.folder;
    let place = folder.path.display();
    let bytes = folder.read(CHECKPOINT)?.ok_or_else(|| nothing(folder))?;
    let checkpoint = Checkpoint::decode(&bytes).map_err(|error| unusable(folder, CHECKPOINT, &error.to_string()))?;
    let report = folder.read(REPORT)?.ok_or_else(|| unusable(folder, REPORT, "it is missing"))?;
    let report: Report =
        serde_json::from_slice(&report).map_err(|error| unusable(folder, REPORT, &error.to_string()))?;
    if checkpoint.fingerprint != plan.fingerprint {
        return Err(Failure::Usage(format!(
            "the run in {place} cannot be resumed, because it was another one: {}; \
             resume it with the scene that began it, or run without --resume",
            what_differs(plan, &report)
        )));
    }
    let (frame, wanted) = (checkpoint.frame, plan.scene.frame_count());
    if frame > wanted {
        return Err(Failure::Usage(format!(
            "the run in {place} has {frame} frames already, and {wanted} were asked for; \
             ask for more with --frames, or run without --resume"
        )));
    }
    if report.last_frame() < frame {
        let why = format!("it ends with frame {}, but the checkpoint is at {frame}", report.last_frame());
        return Err(unusable(folder, REPORT, &why));
    }
    simulation.restore(checkpoint.state, frame).map_err(|e| unusable(folder, CHECKPOINT, &e.to_string()))?;
    Ok(report)
}

fn nothing(folder: &Folder) -> Failure {
    let place = folder.path.display();
    Failure::Usage(format!("there is nothing to resume in {place}: it has no {CHECKPOINT}; run without --resume"))
}

fn unusable(folder: &Folder, name: &str, why: &str) -> Failure {
    let path = folder.join(name);
    Failure::Failed(format!("cannot resume from {}: {why}; run without --resume to start again", path.display()))
}

/// A cache that cannot be continued, with what to do. The scene is the one that began it, so it is the file's fault.
pub(super) fn unusable_cache(error: &IoError) -> Failure {
    let why = match &error.cause {
        Cause::Npy(NpyError::VertexCount { found, expected }) => {
            format!("it has {found} vertices a frame, but the cloth has {expected}")
        }
        Cause::Npy(NpyError::TooFewFrames { found, expected }) => {
            format!("it has {found} frames, but the checkpoint is behind {expected}")
        }
        Cause::Npy(NpyError::Truncated { frame_count, expected, found }) => {
            format!("it is cut off: it has {found} bytes, but its {frame_count} frames need {expected}")
        }
        Cause::Npy(NpyError::ForeignHeader { .. }) => "it was not written by muslin".to_owned(),
        Cause::System(system) if system.kind() == io::ErrorKind::NotFound => "it is missing".to_owned(),
        cause => cause.to_string(),
    };
    let path = error.path.display();
    Failure::Failed(format!("cannot resume from {path}: {why}; run without --resume to start again"))
}

/// In what the earlier run was another one.
fn what_differs(plan: &Plan, report: &Report) -> String {
    let version = env!("CARGO_PKG_VERSION");
    if report.summary.version != version {
        return format!("it was made by muslin {}, and this is {version}", report.summary.version);
    }
    let earlier = plan.folder.read(SCENE).ok().flatten().and_then(|text| String::from_utf8(text).ok());
    earlier
        .and_then(|earlier| difference(&earlier, &plan.scene.to_toml()))
        .unwrap_or_else(|| "a mesh has changed".to_owned())
}
