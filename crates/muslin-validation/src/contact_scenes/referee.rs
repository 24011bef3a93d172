//! The referee: the IPC Toolkit, which other people wrote, counts the frames with cuts.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Try;

/// In how many frames of a folder an edge passes through a triangle.
pub(super) fn count(python: &Path, script: &Path, folder: &Path) -> Try<usize> {
    let mut command = Command::new(python);
    command.arg(script).arg(folder).arg("count").stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot start {}: {error}", python.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match frames_with_cuts(&said).filter(|_| output.status.success()) {
        Some(count) => Ok(count),
        None => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(format!("the referee says nothing of {}: {}{}", folder.display(), said.trim(), complaint.trim()))
        }
    }
}

fn frames_with_cuts(said: &str) -> Option<usize> {
    let answer: Value = serde_json::from_str(said).ok()?;
    Some(answer.get("cut")?.as_array()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_read_and_silence_is_no_answer() {
        assert_eq!(frames_with_cuts("{\"frames\": 91, \"cut\": [3, 4]}\n"), Some(2));
        assert_eq!(frames_with_cuts("{\"frames\": 91, \"cut\": []}"), Some(0));
        assert_eq!(frames_with_cuts(""), None);
    }
}
