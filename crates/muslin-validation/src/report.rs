//! The report: a summary, then every test with its rows and plots.

use std::fmt::Write as _;

use crate::plot::Plot;
use crate::row::{Row, Verdict};

/// The outcome of one test.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// How it is set up and measured, in Markdown.
    pub method: String,
    /// Its measurements.
    pub rows: Vec<Row>,
    /// Its plots.
    pub plots: Vec<Plot>,
}

impl Section {
    /// One that says how it measures.
    pub fn new(method: impl Into<String>) -> Self {
        Self { method: method.into(), ..Self::default() }
    }

    /// Adds a measurement.
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

/// A test with its outcome.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its number.
    pub number: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What came out.
    pub section: Section,
}

impl Done {
    /// The verdict of the whole: one word where it holds for all rows, and else how many pass.
    pub fn verdict(&self) -> String {
        let (rows, passed) = (self.section.rows.len(), self.section.count(Verdict::Pass));
        if self.section.rows.iter().any(Row::fails) {
            format!("**FAIL**, {passed} of {rows} pass")
        } else if passed == rows {
            String::from("pass")
        } else if self.section.count(Verdict::ByNature) == rows {
            String::from("by nature")
        } else if self.section.count(Verdict::Measured) == rows {
            String::from("measured")
        } else {
            format!("{passed} of {rows} pass")
        }
    }
}

/// The whole report in Markdown.
pub fn markdown(command: &str, done: &[Done]) -> String {
    let mut out = format!(
        "# Validation\n\n\
         Mechanics with a known answer, measured. Muslin {}; this file and the plots beside it are written by\n\n\
         ```\n{command}\n```\n\n\
         **pass**: within the tolerance. **by nature**: the model or the method cannot give the exact answer; the row compares it with \
         the law or the recorded value of the discrete problem that it must give instead, and would fail otherwise. \
         **measured**: a number without a tolerance. Tolerances are what a correct and converged code reaches.\n\n\
         Static shapes are solved by `newton`, loaded in ten steps and stopped when no vertex has a force of more than a millionth \
         of its weight left, or, where rounding keeps it from that (narrow strips of 40 and 80 cells), when the force no longer falls: \
         at most 4e-5 of a weight, noted in the row as the residual. `solve_static` of `crates/muslin-validation/src/stage.rs` does it.\n\n\
         [contact.md](contact.md) has every solver in every contact scene: energy, cuts, strain and cost beside a converged reference.\n\n\
         Not here: the bend and twist of curved rods (1.13; there are no rods, and ribbons of `shell` have not been compared with a theory of their own), \
         and the drape of measured fabrics.\n\n\
         Contact and friction (3.x) run every solver with its defaults, substeps of its own choice among them, since that is what a scene gets. A solver that misses a \
         tolerance so fails; a row whose solver has settings behind its name was run with these.\n\n\
         ## Summary\n\n| test | what | rows | pass | by nature | fail | verdict |\n|---|---|---|---|---|---|---|\n",
        env!("CARGO_PKG_VERSION")
    );
    for d in done {
        let s = &d.section;
        let _ = writeln!(
            out,
            "| [{0}](#{1}) | {2} | {3} | {4} | {5} | {6} | {7} |",
            d.number,
            anchor(d),
            d.title,
            s.rows.len(),
            s.count(Verdict::Pass),
            s.count(Verdict::ByNature),
            s.count(Verdict::Fail),
            d.verdict()
        );
    }
    for d in done {
        let _ = write!(out, "\n## {} {}\n\n{}\n\n", d.number, d.title, d.section.method.trim());
        for plot in &d.section.plots {
            let _ = writeln!(out, "![{}]({})\n", plot.title, plot.file());
        }
        out += "| what | reference | measured | error | tolerance | verdict | note |\n|---|---|---|---|---|---|---|\n";
        for r in &d.section.rows {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} |",
                r.what, r.reference, r.measured, r.error, r.tolerance, r.verdict, r.note
            );
        }
    }
    out
}

/// The anchor that a heading gets on the usual sites.
fn anchor(done: &Done) -> String {
    let heading = format!("{} {}", done.number, done.title).to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(rows: &[Verdict]) -> String {
        let row = |verdict: &Verdict| Row { verdict: *verdict, ..Row::relative("", 1.0, 1.0, 0.0) };
        let section = Section { rows: rows.iter().map(row).collect(), ..Section::default() };
        Done { number: "", title: "", section }.verdict()
    }

    #[test]
    fn a_test_passes_only_if_every_row_does() {
        use Verdict::{ByNature, Fail, Measured, Pass};
        assert_eq!(verdict(&[Pass, Pass]), "pass");
        assert_eq!(verdict(&[Pass, ByNature, Measured]), "1 of 3 pass");
        assert_eq!(verdict(&[ByNature, Measured]), "0 of 2 pass");
        assert_eq!(verdict(&[Pass, Fail]), "**FAIL**, 1 of 2 pass");
        assert_eq!([verdict(&[ByNature]), verdict(&[Measured])], ["by nature", "measured"]);
    }
}
