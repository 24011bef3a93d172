//! Mechanics with a known answer, and how close Muslin comes to it.
//!
//! [`TESTS`] lists the tests; each gives a [`Section`] of rows (reference, measured, error, tolerance, verdict) and
//! plots. `cargo xtask validate` runs them and writes `validation/README.md`. Everything goes through the public interface
//! of the library: scenes as text, or the formulas of the energies where a test is algebra.

pub mod contact_scenes;
pub mod fixtures;
pub mod plot;
pub mod report;
pub mod row;
pub mod stage;

mod algebra;
mod bending;
mod buckling;
mod contact;
mod dynamics;
mod integrators;
mod matching;
mod meshes;
mod modes;
mod sheets;
mod statics;
mod strips;
mod tension;

use report::{Done, Section};

/// A result, or what went wrong.
pub type Try<T> = Result<T, String>;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Only what fits into a minute.
    pub quick: bool,
}

/// One test.
pub struct Test {
    /// Its number.
    pub number: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Runs it.
    pub run: fn(Scope) -> Try<Section>,
}

/// Every test, in order.
pub const TESTS: &[&[Test]] = &[
    algebra::TESTS,
    statics::TESTS,
    strips::TESTS,
    meshes::TESTS,
    bending::TESTS,
    buckling::TESTS,
    tension::TESTS,
    integrators::TESTS,
    modes::TESTS,
    sheets::TESTS,
    dynamics::TESTS,
    matching::TESTS,
    contact::TESTS,
];

/// All tests of a list of numbers, or all; `report` hears of each when it is done.
pub fn run(only: &[String], scope: Scope, mut report: impl FnMut(&Done)) -> Try<Vec<Done>> {
    let all = || TESTS.iter().flat_map(|group| group.iter());
    if let Some(wrong) = only.iter().find(|name| !all().any(|test| test.number == name.as_str())) {
        let names: Vec<&str> = all().map(|test| test.number).collect();
        return Err(format!("there is no test {wrong}; there are {}", names.join(", ")));
    }
    let mut done = Vec::new();
    for test in all().filter(|test| only.is_empty() || only.iter().any(|name| name == test.number)) {
        let section = (test.run)(scope).unwrap_or_else(|error| broken(&error));
        let outcome = Done { number: test.number, title: test.title, section };
        report(&outcome);
        done.push(outcome);
    }
    done.sort_by_key(|d| key(d.number));
    Ok(done)
}

/// A test that could not be run has failed.
fn broken(error: &str) -> Section {
    let mut section = Section::new("The test could not be run.");
    let note = error.lines().next().unwrap_or_default().to_owned();
    section.push(row::Row::holds("runs", "yes", "no", false).note(note));
    section
}

/// "1.12" comes after "1.9".
fn key(number: &str) -> (u32, u32) {
    let (group, rest) = number.split_once('.').unwrap_or((number, "0"));
    (group.parse().unwrap_or(0), rest.parse().unwrap_or(0))
}
