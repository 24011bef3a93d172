//! Findings: mistakes in a scene, and their places.
//!
//! A person mends a scene faster when all of it is said at once, so everything that reads a scene adds to a
//! [`Report`] and goes on, and nothing returns at the first mistake.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::mesh::Severity;

/// Where a value came from.
///
/// ```
/// use muslin::scene::{Origin, parse};
///
/// let outcome = parse("fps = 30\n[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]);
/// assert!(matches!(outcome.origin("fps"), Origin::File { line: 1, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The scene file; lines and columns count from 1, columns in characters.
    File {
        /// Line.
        line: usize,
        /// Column of the first character.
        column: usize,
        /// Characters on that line: at least 1.
        width: usize,
    },
    /// An override, as it was written: `PATH=VALUE`.
    Set(String),
    /// The scene as a whole, as when something is missing from it.
    Scene,
}

impl Origin {
    /// Bytes of a scene's text, which may lie in any way to it; what spans several lines is marked on its first.
    pub fn in_text(text: &str, bytes: Range<usize>) -> Self {
        let start = text.floor_char_boundary(bytes.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = text.floor_char_boundary(bytes.end.min(line_end)).max(start);
        Self::File {
            line: 1 + text[..line_start].matches('\n').count(),
            column: 1 + text[line_start..start].trim_start_matches(BYTE_ORDER_MARK).chars().count(),
            width: text[start..end].trim_end().chars().count().max(1),
        }
    }
}

/// The place of a [`Finding`].
///
/// ```
/// use muslin::scene::parse;
///
/// let finding = &parse("fps = -1\n[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]).findings[0];
/// assert_eq!(finding.place.path, "fps");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is written.
    pub origin: Origin,
    /// Which key: `cloth[1].material.bend.stiffness`; empty for the scene as a whole.
    pub path: String,
}

/// One thing that is wrong with a scene.
///
/// ```
/// use muslin::scene::parse;
///
/// let findings = parse("fsp = 30\n[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }", &[]).findings;
/// assert!(findings[0].is_error() && findings[0].message.contains("fps"), "it knows what was meant");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// The mistake, the limit, and the remedy.
    pub message: String,
}

impl Finding {
    /// Whether the scene cannot be run because of this.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// One line: `drape.toml:14:9: cloth[0].material.density: must be a finite number greater than 0, got -0.2`.
    pub fn display<'a>(&'a self, file_name: &'a str) -> impl fmt::Display + 'a {
        Line { finding: self, file_name }
    }

    /// The line of the scene file with carets under what is wrong; `None` for what is not in the file.
    pub fn snippet(&self, source_text: &str) -> Option<String> {
        let Origin::File { line, column, width } = self.place.origin else {
            return None;
        };
        let text = source_text.split('\n').nth(line.checked_sub(1)?)?.trim_end_matches('\r');
        let skipped = column.saturating_sub(1 + SNIPPET_LEAD);
        let shown: String = text
            .trim_start_matches(BYTE_ORDER_MARK)
            .chars()
            .skip(skipped)
            .take(SNIPPET_WIDTH)
            .map(|c| if c.is_control() { ' ' } else { c }) // they would move the carets, or speak to the terminal
            .collect();
        let indent = column.saturating_sub(1 + skipped);
        let carets = width.min((SNIPPET_WIDTH - indent).max(1));
        let gutter = line.to_string().len();
        Some(format!(
            "{blank:gutter$} |\n{line} | {shown}\n{blank:gutter$} | {blank:indent$}{mark:^<carets$}",
            blank = "",
            mark = "^",
        ))
    }
}

/// Everything that is wrong with a scene, as an error to be returned.
///
/// ```
/// use muslin::scene::parse;
///
/// let findings = parse("fps = 0", &[]).into_result().expect_err("0 frames a second, and no cloth");
/// assert_eq!(findings.0.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings(pub Vec<Finding>);

/// One line each, with `scene` for the name of the file; [`Finding::display`] takes the real one.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.0.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { "\n" }, finding.display("scene"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}

/// Characters of a line that a snippet shows, and of those how many may stand before what is wrong.
const SNIPPET_WIDTH: usize = 120;
const SNIPPET_LEAD: usize = 80;
const BYTE_ORDER_MARK: char = '\u{feff}';

struct Line<'a> {
    finding: &'a Finding,
    file_name: &'a str,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { origin, path } = &self.finding.place;
        match origin {
            Origin::File { line, column, .. } => write!(f, "{}:{line}:{column}: ", self.file_name)?,
            // An override may be an array over several lines; a finding is one.
            Origin::Set(text) => write!(f, "--set {}: ", text.replace(char::is_control, " "))?,
            Origin::Scene => write!(f, "{}: ", self.file_name)?,
        }
        if self.finding.severity == Severity::Warning {
            write!(f, "warning: ")?;
        }
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "{}", self.finding.message)
    }
}

/// Where a part of a scene was written, before it is known which line that is.
///
/// Counting lines and columns for every value of a file would be quadratic in the length of a line; only what is
/// wrong needs them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// Bytes of the scene file.
    Text { start: usize, end: usize },
    /// An override.
    Set(Arc<str>),
    /// Nowhere: a default.
    Nowhere,
}

impl Mark {
    pub(super) fn locate(&self, text: &str) -> Origin {
        match self {
            Self::Text { start, end } => Origin::in_text(text, *start..*end),
            Self::Set(text) => Origin::Set(text.to_string()),
            Self::Nowhere => Origin::Scene,
        }
    }
}

/// Collects findings.
#[derive(Default)]
pub(super) struct Report {
    notes: Vec<Note>,
    unshown: usize,
}

/// A [`Finding`] that has not been located yet.
struct Note {
    severity: Severity,
    mark: Mark,
    path: String,
    message: String,
}

impl Report {
    /// Beyond this many a person reads no further, and a broken file of a million keys would fill the memory.
    const MOST: usize = 100;

    pub(super) fn error(&mut self, mark: &Mark, path: impl Into<String>, message: impl Into<String>) {
        self.note(Severity::Error, mark, path.into(), message.into());
    }

    fn note(&mut self, severity: Severity, mark: &Mark, path: String, message: String) {
        if self.notes.len() < Self::MOST {
            self.notes.push(Note { severity, mark: mark.clone(), path, message });
        } else {
            self.unshown += 1;
        }
    }

    /// The findings in the order of the file's lines; what is not in the file comes last.
    pub(super) fn into_findings(self, text: &str) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self
            .notes
            .into_iter()
            .map(|Note { severity, mark, path, message }| Finding {
                severity,
                place: Place { origin: mark.locate(text), path },
                message,
            })
            .collect();
        findings.sort_by_key(|finding| match finding.place.origin {
            Origin::File { line, column, .. } => (line, column),
            Origin::Set(_) | Origin::Scene => (usize::MAX, 0),
        });
        if self.unshown > 0 {
            findings.push(Finding {
                severity: Severity::Error,
                place: Place { origin: Origin::Scene, path: String::new() },
                message: format!("{} more problems are not shown; mend these first", self.unshown),
            });
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str, start: usize, end: usize) -> Finding {
        let mut report = Report::default();
        report.error(&Mark::Text { start, end }, "a.b", "is wrong");
        report.into_findings(text).remove(0)
    }

    #[test]
    fn places_count_characters_from_one() {
        let text = "a = 1\r\n\"é\" = -0.2 # x\n";
        let at = text.find("-0.2").unwrap();
        let finding = finding(text, at, at + 4);
        assert_eq!(finding.display("f.toml").to_string(), "f.toml:2:7: a.b: is wrong");
        assert_eq!(finding.snippet(text).unwrap(), "  |\n2 | \"é\" = -0.2 # x\n  |       ^^^^");
    }

    #[test]
    fn snippets_of_long_lines_are_cut() {
        let text = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let snippet = finding(&text, 1000, 1001).snippet(&text).unwrap();
        let lines: Vec<&str> = snippet.lines().collect();
        assert_eq!(lines[1].len(), 4 + SNIPPET_WIDTH, "the line is cut");
        assert_eq!(lines[1].find('X'), lines[2].find('^'), "the caret is under the mistake");
    }

    #[test]
    fn ranges_outside_the_text_are_harmless() {
        for (start, end) in [(0, 0), (1, 9), (9, 9), (9, 1), (2, 3)] {
            let text = "é\n";
            assert!(finding(text, start, end).snippet(text).is_some(), "{start}..{end}");
        }
        assert!(finding("", 0, 0).snippet("").is_some(), "an empty text has one empty line");
    }

    #[test]
    fn a_flood_is_counted_not_kept() {
        let mut report = Report::default();
        for _ in 0..1000 {
            report.error(&Mark::Nowhere, "", "again");
        }
        let findings = report.into_findings("");
        assert_eq!(findings.len(), Report::MOST + 1);
        assert_eq!(findings[Report::MOST].message, "900 more problems are not shown; mend these first");
    }
}
