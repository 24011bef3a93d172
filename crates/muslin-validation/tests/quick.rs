//! The quick half of the validation, on every run of the tests.

use muslin_validation::report::markdown;
use muslin_validation::{Scope, run};

#[test]
fn validation_quick() {
    let done = run(&[], Scope { quick: true }, |_| {}).expect("all tests are known");
    let failed: Vec<String> = done
        .iter()
        .flat_map(|d| d.section.rows.iter().filter(|row| row.fails()).map(move |row| (d, row)))
        .map(|(d, r)| {
            format!("{} {}: {} for {}, error {} {}", d.number, r.what, r.measured, r.reference, r.error, r.note)
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let report = markdown("cargo xtask validate --quick", &done);
    assert!(done.iter().all(|d| report.contains(d.title)), "the report lacks a test");
}

#[test]
fn an_unknown_number_is_named() {
    let error = run(&["9.9".to_owned()], Scope { quick: true }, |_| {}).expect_err("no such test");
    assert!(error.starts_with("there is no test 9.9"), "{error}");
}
