//! A row of the table of a sweep, `samples.csv` [RFC 4180].

use serde_json::Value;

use super::vary::Vary;
use crate::session::report::Frame;

/// What is told of the last frame: the keys of a frame in `report.json`, but for its wall time, which the row has for the whole sample.
const FRAME: [&str; 25] = [
    "frame",
    "time",
    "substeps",
    "iterations",
    "kinetic_energy",
    "elastic_energy",
    "gravity_energy",
    "energy_error",
    "work.pins",
    "work.bodies",
    "work.wind",
    "max_strain",
    "mean_strain",
    "max_speed",
    "residual",
    "stable_step",
    "unsolved",
    "contacts",
    "min_gap",
    "intersections",
    "cut_vertices",
    "held_vertices",
    "motion",
    "long_range",
    "strained_by_load",
];

/// One sample in the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) sample: u64,
    /// Of the keys that are varied, in TOML.
    pub(crate) values: Vec<String>,
    /// Of the last good frame; `None` where there is none.
    pub(crate) end: Option<(u64, Frame)>,
    pub(crate) wall_seconds: f64,
    /// Why it ended before its end.
    pub(crate) error: Option<String>,
}

/// The first line of the table.
pub(crate) fn heading(vary: &[Vary]) -> String {
    let keys = vary.iter().map(|vary| quoted(&vary.key));
    let frame = FRAME.iter().map(|column| column.replace('.', "_"));
    let own = |name: &str| std::iter::once(name.to_owned());
    let columns = own("sample").chain(keys).chain(own("state_hash")).chain(frame);
    let columns: Vec<String> = columns.chain(own("wall_seconds")).chain(own("error")).collect();
    columns.join(",")
}

impl Row {
    /// One line, without its end.
    pub(crate) fn to_line(&self) -> String {
        let values = self.values.iter().map(|value| quoted(&plain(value)));
        let hash = self.end.as_ref().map_or(String::new(), |(hash, _)| format!("{hash:016x}"));
        let frame = self.end.as_ref().and_then(|(_, frame)| serde_json::to_value(frame).ok()).unwrap_or(Value::Null);
        let cells = FRAME.iter().map(|column| cell(frame.pointer(&format!("/{}", column.replace('.', "/")))));
        let error = self.error.as_deref().map_or(String::new(), |error| format!("\"{}\"", one_line(error)));
        let columns = std::iter::once(self.sample.to_string()).chain(values).chain([hash]).chain(cells);
        let columns: Vec<String> = columns.chain([format!("{:.6}", self.wall_seconds), error]).collect();
        columns.join(",")
    }
}

/// Whether a line of the table is that of a sample that failed: an error is always in quotes, and last.
pub(crate) fn has_failed(line: &str) -> bool {
    line.ends_with('"')
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    }
}

/// A TOML value as a table shows it: a string without its quotes.
fn plain(value: &str) -> String {
    let string = value.parse::<toml::Value>().ok().and_then(|value| value.as_str().map(str::to_owned));
    string.unwrap_or_else(|| value.to_owned())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", one_line(text)) } else { text.to_owned() }
}

/// The inside of a quoted cell. A row stays one line, so that the lines of a table can be counted.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("; ").replace('"', "\"\"")
}

#[cfg(test)]
mod tests {
    use muslin::output::Diagnostics;
    use muslin::solver::StepReport;
    use muslin::{Cloth, Simulation};

    use super::*;

    fn frame() -> Frame {
        let cloth = Cloth::grid([1.0, 1.0], [2, 2]);
        let mut simulation = Simulation::builder().cloth(cloth).build().expect("a sheet");
        let step: StepReport = simulation.advance().expect("it falls");
        let state: Diagnostics = simulation.diagnose();
        Frame::new((1, 0.5), 3.0, &step, None, &state)
    }

    #[test]
    fn every_key_of_a_frame_has_a_column() {
        let Value::Object(mut frame) = serde_json::to_value(frame()).expect("JSON") else { unreachable!("an object") };
        let Some(Value::Object(work)) = frame.remove("work") else { unreachable!("work has parts") };
        frame.remove("wall_ms");
        let parts = work.keys().map(|part| format!("work.{part}"));
        let missing: Vec<String> =
            frame.keys().cloned().chain(parts).filter(|key| !FRAME.contains(&key.as_str())).collect();
        assert!(missing.is_empty(), "no column for {missing:?}");
    }

    #[test]
    fn a_row_is_one_line_with_as_many_cells_as_the_heading() {
        let vary = [Vary::parse("fps=1:2").expect("a range"), Vary::parse("scale=1:2").expect("a range")];
        let cells = |line: &str| line.matches(',').count();
        let row = |error: Option<&str>, end| Row {
            sample: 7,
            values: vec!["1.5".to_owned(), "'a'".to_owned()],
            end,
            wall_seconds: 0.25,
            error: error.map(str::to_owned),
        };
        let good = row(None, Some((15, frame()))).to_line();
        assert_eq!(cells(&good), cells(&heading(&vary)));
        assert!(good.starts_with("7,1.5,a,000000000000000f,1,0.5,") && good.ends_with(",0.250000,"), "{good}");
        assert!(!has_failed(&good), "{good}");
        let bad = row(Some("first \"line\"\n  second"), None).to_line();
        assert_eq!(cells(&bad), cells(&heading(&vary)));
        assert!(bad.ends_with(",0.250000,\"first \"\"line\"\"; second\"") && has_failed(&bad), "{bad}");
    }
}
