//! Bytes a vertex of a compiled sheet that has made a step, solver by solver, as the system counts them. Linux only; elsewhere nothing is reported.
//!
//! Memory that was freed is not always given back, and would be used again by whoever comes next. So every solver has a process of its own: this program calls itself
//! with `bench --memory-of SOLVER`, which answers with one line of JSON.
//!
//! ```text
//! resident   what is there after the step, less what the process had before the scene was read
//! peak       the most there was on the way, less the same
//! ```
//!
//! The sheet is that of `--quality`. A frame is a thousandth of a second, in one substep of one iteration where a solver has such: memory depends on neither, and every solver gets through so short a
//! step. It is flat, so with self-contact it is what contact needs without a fold; `bench contact` has the peak of folds. A frame that `auto` computes again needs one more state, 48 B a vertex.

use std::env;
use std::fs;
use std::process::Command;

use muslin::scene::Override;
use muslin::solver::SOLVERS;
use serde::{Deserialize, Serialize};

use super::Row;
use super::quality::sheet;
use super::sheet::simulation_of;
use crate::failure::Failure;

/// The sheet with self-contact, swept by `xpbd`.
const SELF_CONTACT: &str = "xpbd, self-contact";
const FPS: u32 = 1000;

/// What a process found of itself, in bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    vertices: usize,
    resident: f64,
    peak: f64,
}

/// Two rows for every solver that gets through a step of a sheet of `side`² vertices; says of the others why not.
pub(crate) fn measure(side: u32, note: impl Fn(&str)) -> Result<Vec<Row>, Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("cannot start another process: {error}"));
    let program = env::current_exe().map_err(failed)?;
    let mut rows = Vec::new();
    for subject in SOLVERS.iter().map(|kind| kind.entry.name).chain([SELF_CONTACT]) {
        let mut child = Command::new(&program);
        child.args(["bench", "--memory-of", subject, "--sizes", &side.to_string()]);
        let output = child.output().map_err(failed)?;
        let Ok(found) = serde_json::from_slice::<Option<Found>>(&output.stdout) else {
            note(&format!("no memory of {subject}: {}", String::from_utf8_lossy(&output.stderr).trim()));
            continue;
        };
        let Some(Found { vertices, resident, peak }) = found else { continue };
        let row = |quantity, bytes: f64| {
            let bytes = bytes / vertices as f64;
            Row {
                subject: quantity,
                vertices,
                threads: 1,
                quantity: subject,
                unit: "B/vertex",
                best: bytes,
                median: bytes,
                count: 1,
            }
        };
        rows.extend([row("memory", resident), row("memory, peak", peak)]);
    }
    Ok(rows)
}

/// The memory of this process for one solver; `None` where the system does not say.
pub(crate) fn measure_here(subject: &str, side: u32) -> Result<Option<Found>, Failure> {
    let before = status("VmRSS");
    let name = if subject == SELF_CONTACT { "xpbd" } else { subject };
    let parameters = muslin::solver::find(name).map_or(&[][..], |kind| kind.entry.parameters);
    let mut solver = format!("kind = {name:?}");
    for key in ["substeps", "iterations"] {
        if parameters.iter().any(|parameter| parameter.name == key) {
            // Beyond its longest stable step an explicit solver would fail.
            let value = if (name, key) == ("explicit", "substeps") { side.max(100) } else { 1 };
            solver += &format!(", {key} = {value}");
        }
    }
    let mut changes = vec![format!("fps={FPS}")];
    if subject == SELF_CONTACT {
        let thickness = 0.2 / f64::from(side);
        changes.push(format!("contact={{ self_contact = true, thickness = {thickness:?} }}"));
    }
    let changes: Result<Vec<Override>, String> = changes.iter().map(|change| Override::parse(change)).collect();
    let mut simulation = simulation_of(&sheet(side, &solver, 0.0), &changes.map_err(Failure::Failed)?, 1)?;
    simulation.advance().map_err(|error| Failure::Failed(error.to_string()))?;
    let vertices = simulation.state().positions.len();
    let (Some(before), Some(after), Some(peak)) = (before, status("VmRSS"), status("VmHWM")) else { return Ok(None) };
    Ok(Some(Found { vertices, resident: after - before, peak: peak - before }))
}

/// Bytes of a line of `/proc/self/status`, which counts in KiB.
pub(super) fn status(key: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(1024.0 * line.split_whitespace().next()?.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_solver_gets_through_the_sheet() {
        for subject in SOLVERS.iter().map(|kind| kind.entry.name).chain([SELF_CONTACT]) {
            let found = measure_here(subject, 24).unwrap_or_else(|failure| panic!("{subject}: {failure}"));
            assert!(
                found.is_none_or(|found| found.vertices == 576 && found.peak >= found.resident),
                "{subject}: {found:?}"
            );
        }
    }
}
