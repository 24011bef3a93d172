//! Memory of a compiled sheet, as the system counts it. Linux only; elsewhere nothing is reported.

use std::fs;

use super::Row;
use super::sheet::{Bend, simulation};
use crate::failure::Failure;

/// Bytes a vertex of a sheet of `side`² vertices that has made a step.
///
/// To be measured before anything else: memory that was freed is not always given back.
pub(crate) fn measure(side: u32) -> Result<Vec<Row>, Failure> {
    let before = status("VmRSS");
    let mut simulation = simulation(side, Bend::Distance, 1)?;
    simulation.advance().map_err(|error| Failure::Failed(error.to_string()))?;
    let vertices = simulation.state().positions.len();
    let row = |quantity, bytes: f64| {
        let bytes = bytes / vertices as f64;
        Row {
            subject: "memory",
            vertices,
            threads: 1,
            quantity,
            unit: "B/vertex",
            best: bytes,
            median: bytes,
            count: 1,
        }
    };
    let (Some(before), Some(after), Some(peak)) = (before, status("VmRSS"), status("VmHWM")) else {
        return Ok(Vec::new());
    };
    Ok(vec![row("resident", after - before), row("peak", peak - before)])
}

/// Bytes of a line of `/proc/self/status`, which counts in KiB.
pub(super) fn status(key: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(1024.0 * line.split_whitespace().next()?.parse::<f64>().ok()?)
}
