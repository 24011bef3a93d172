//! One line of the report: what was measured, against what, and the verdict.

use std::fmt;

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within its tolerance.
    Pass,
    /// Outside of it.
    Fail,
    /// The method cannot reach the exact answer, and obeys the law or the recorded value that it must obey.
    ByNature,
    /// A number without a tolerance.
    Measured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "**FAIL**",
            Self::ByNature => "by nature",
            Self::Measured => "measured",
        })
    }
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// The exact or recorded answer, as it is printed.
    pub reference: String,
    /// What came out, as it is printed.
    pub measured: String,
    /// The distance of the two, as it is printed.
    pub error: String,
    /// What it may be, as it is printed.
    pub tolerance: String,
    /// The judgement.
    pub verdict: Verdict,
    /// How it was run, or why it is as it is.
    pub note: String,
}

impl Row {
    fn judged(what: impl Into<String>, holds: bool) -> Self {
        Self {
            what: what.into(),
            reference: String::new(),
            measured: String::new(),
            error: String::new(),
            tolerance: String::new(),
            verdict: if holds { Verdict::Pass } else { Verdict::Fail },
            note: String::new(),
        }
    }

    /// Compared relative to the reference.
    pub fn relative(what: impl Into<String>, reference: f64, measured: f64, tolerance: f64) -> Self {
        let error = measured / reference - 1.0;
        Self {
            reference: number(reference),
            measured: number(measured),
            error: percent(error),
            tolerance: percent(tolerance),
            ..Self::judged(what, error.abs() <= tolerance)
        }
    }

    /// Compared by difference.
    pub fn absolute(what: impl Into<String>, reference: f64, measured: f64, tolerance: f64) -> Self {
        let error = measured - reference;
        Self {
            reference: number(reference),
            measured: number(measured),
            error: number(error),
            tolerance: number(tolerance),
            ..Self::judged(what, error.abs() <= tolerance)
        }
    }

    /// An error that must not exceed a bound.
    pub fn bound(what: impl Into<String>, error: f64, tolerance: f64) -> Self {
        Self {
            error: number(error),
            tolerance: number(tolerance),
            ..Self::judged(what, error.is_finite() && error <= tolerance)
        }
    }

    /// A statement that must hold.
    pub fn holds(what: impl Into<String>, expected: &str, got: impl Into<String>, holds: bool) -> Self {
        Self { reference: expected.to_owned(), measured: got.into(), ..Self::judged(what, holds) }
    }

    /// A number that is only reported.
    pub fn measured(what: impl Into<String>, reference: Option<f64>, measured: f64) -> Self {
        Self {
            reference: reference.map_or(String::new(), number),
            measured: number(measured),
            error: reference.map_or(String::new(), |r| percent(measured / r - 1.0)),
            verdict: Verdict::Measured,
            ..Self::judged(what, true)
        }
    }

    /// A thing that cannot be measured, with the reason.
    pub fn impossible(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { verdict: Verdict::ByNature, note: why.into(), ..Self::judged(what, true) }
    }

    /// The reference is a law of the method, not the exact answer: a row that holds says so.
    #[must_use]
    pub fn by_nature(mut self, why: impl Into<String>) -> Self {
        if self.verdict == Verdict::Pass {
            self.verdict = Verdict::ByNature;
        }
        self.note = why.into();
        self
    }

    /// Says how it was run.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Whether it fails.
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::Fail
    }
}

/// Six digits, without an exponent where it reads well.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        if size < 1e-7 { format!("{x:.1e}") } else { format!("{x:.4e}") }
    } else {
        let digits = (6 - libm::ceil(libm::log10(size)) as i32).clamp(0, 8) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

/// A relative error: in percent where that reads well.
pub fn percent(x: f64) -> String {
    if x.abs() >= 1e-4 { format!("{} %", number((x * 1e6).round() / 1e4)) } else { number((x * 1e16).round() / 1e16) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        assert_eq!(number(1.066_806_3), "1.06681");
        assert_eq!(number(0.05), "0.05");
        assert_eq!(number(190.0), "190");
        assert_eq!(number(1e-12), "1.0e-12");
        assert_eq!(percent(0.0028), "0.28 %");
    }

    #[test]
    fn a_row_is_judged_by_its_tolerance() {
        assert_eq!(Row::relative("", 2.0, 2.02, 0.011).verdict, Verdict::Pass);
        assert_eq!(Row::relative("", 2.0, 2.03, 0.011).verdict, Verdict::Fail);
        assert_eq!(Row::absolute("", 0.0, f64::NAN, 1.0).verdict, Verdict::Fail);
        assert_eq!(Row::bound("", f64::INFINITY, 1.0).verdict, Verdict::Fail);
        assert!(Row::bound("", 2.0, 1.0).by_nature("it obeys a law, but not this one").fails(), "a broken law fails");
    }
}
