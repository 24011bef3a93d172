//! `compare.json`. docs/compare.md describes it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use muslin::parameter::Settings;
use muslin_scenes::listing::setting_to_json;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::summary::{Summary, turnover};
use super::trial::{Fate, Series, Trial};

/// A whole comparison.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) version: &'static str,
    pub(crate) scene: String,
    pub(crate) frames: usize,
    pub(crate) frame_time: f64,
    pub(crate) vertices: usize,
    pub(crate) threads: usize,
    pub(crate) reference: Reference,
    pub(crate) solvers: Vec<Row>,
    /// What is in the folder.
    pub(crate) files: Vec<String>,
}

/// What all runs are measured against.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reference {
    pub(crate) label: String,
    /// Where it comes from.
    pub(crate) choice: &'static str,
    /// The energy that it turned over, in J, of which drifts are shares.
    pub(crate) turnover: Option<f64>,
}

/// One solver with its settings.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) is_reference: bool,
    pub(crate) solver: String,
    pub(crate) settings: BTreeMap<&'static str, Value>,
    /// `"done"` or `"failed"`.
    pub(crate) outcome: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) state_hash: Option<String>,
    pub(crate) summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) series: Option<Series>,
}

impl Row {
    pub(crate) fn new(trial: Trial, turnover: Option<f64>) -> Self {
        let summary = Summary::of(&trial, turnover);
        let error = match trial.fate {
            Fate::Done => None,
            Fate::Failed(reason) => Some(reason),
            Fate::Interrupted => Some("interrupted".to_owned()),
        };
        Self {
            label: trial.label,
            is_reference: trial.is_reference,
            solver: trial.solver,
            settings: settings(&trial.settings),
            outcome: if error.is_none() { "done" } else { "failed" },
            error,
            state_hash: trial.state_hash,
            summary,
            series: Some(trial.series),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.error.is_none()
    }

    /// `xpbd, iterations 1, precision f64, substeps 100`.
    pub(crate) fn in_words(&self) -> String {
        let settings = self.settings.iter().map(|(key, value)| match value {
            Value::String(word) => format!(", {key} {word}"),
            number => format!(", {key} {number}"),
        });
        format!("{}{}", self.solver, settings.collect::<String>())
    }
}

fn settings(settings: &Settings) -> BTreeMap<&'static str, Value> {
    settings.iter().map(|(key, setting)| (key, setting_to_json(setting))).collect()
}

impl Record {
    /// The turnover of the reference, if it was simulated at all.
    pub(crate) fn turnover(trials: &[Trial]) -> Option<f64> {
        trials.iter().find(|trial| trial.is_reference).and_then(|trial| turnover(&trial.series))
    }

    pub(crate) fn reference(&self) -> Option<&Row> {
        self.solvers.iter().find(|row| row.is_reference)
    }

    /// As text: every object a line for each key, every list of numbers one line.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let mut bytes = Vec::new();
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Lines::default()))?;
        bytes.push(b'\n');
        Ok(String::from_utf8(bytes).unwrap_or_default()) // JSON is text
    }
}

/// Objects as a person likes them, and lists in one line.
#[derive(Default)]
struct Lines {
    objects: PrettyFormatter<'static>,
    lists: CompactFormatter,
}

impl Formatter for Lines {
    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.lists.begin_array_value(writer, first)?;
        if first { Ok(()) } else { writer.write_all(b" ") }
    }
    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.objects.begin_object(writer)
    }
    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.objects.end_object(writer)
    }
    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.objects.begin_object_key(writer, first)
    }
    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.objects.begin_object_value(writer)
    }
    fn end_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.objects.end_object_value(writer)
    }
}
