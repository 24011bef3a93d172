//! Everything that is wrong with a scene, ready to be shown: each with its place, and the line with carets under it.

use std::fmt;

use muslin::scene::{Finding, Origin};
use serde_json::{Value, json};

/// So many are shown to a person, who mends some and asks again.
const SHOWN: usize = 120;

/// Findings of one scene file.
#[derive(Debug)]
pub(crate) struct Findings {
    /// What the file is called in messages.
    pub(crate) label: String,
    /// Its text, for the snippets.
    pub(crate) text: String,
    pub(crate) list: Vec<Finding>,
}

impl Findings {
    pub(crate) fn to_json(&self) -> Value {
        self.list.iter().map(|finding| finding_to_json(&self.label, finding)).collect()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.list.iter().take(SHOWN).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", finding.display(&self.label))?;
            if let Some(snippet) = finding.snippet(&self.text) {
                write!(f, "\n{snippet}")?;
            }
        }
        match self.list.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more; mend these first, or ask `muslin check --json` for all"),
        }
    }
}

fn finding_to_json(label: &str, finding: &Finding) -> Value {
    let severity = if finding.is_error() { "error" } else { "warning" };
    let (line, column, set) = match &finding.place.origin {
        Origin::File { line, column, .. } => (Some(line), Some(column), None),
        Origin::Set(text) => (None, None, Some(text)),
        Origin::Scene => (None, None, None),
    };
    json!({
        "severity": severity,
        "file": label,
        "line": line,
        "column": column,
        "set": set,
        "path": finding.place.path,
        "message": finding.message,
    })
}
