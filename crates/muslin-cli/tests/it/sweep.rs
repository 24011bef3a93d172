//! Sweeps: the same table for any number of jobs, after an interrupt and after a kill; and what is refused.

use std::process::Stdio;

use serde_json::Value;

use crate::muslin::{Place, npy, said, signal, wait_until};

const SWEEP: &str =
    "sweep tiny.toml --seed 7 --vary solver.substeps=2:6 --vary cloth.0.material.stretch.stiffness=10:1e4:log";

/// The table without the column of wall seconds, which is the last but one; no cell before it has a comma.
fn rows(place: &Place, out: &str) -> Vec<String> {
    let table = place.text(&format!("{out}/samples.csv"));
    let seconds = table.lines().next().expect("a heading").split(',').count() - 2;
    let timeless = |line: &str| {
        let cells: Vec<&str> = line.splitn(seconds + 2, ',').collect();
        [&cells[..seconds], &cells[seconds + 1..]].concat().join(",")
    };
    table.lines().map(timeless).collect()
}

#[test]
fn the_table_does_not_depend_on_the_jobs_and_a_row_is_a_run() {
    let place = Place::new();
    place.succeed(&format!("{SWEEP} --samples 30 --out one --jobs 1 --quiet"));
    let said = place.succeed(&format!("{SWEEP} --samples 30 --out three --jobs 3 --json"));
    let summary: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((&summary["samples"], &summary["failed"]), (&30.into(), &0.into()), "{summary}");
    let table = rows(&place, "one");
    assert_eq!(table.len(), 31, "a heading and 30 rows");
    assert_eq!(table, rows(&place, "three"));
    assert!(place.read("one/final.npy") == place.read("three/final.npy"), "the same positions");

    let cells: Vec<&str> = table[18].split(',').collect();
    let sets = format!("--set solver.substeps={} --set cloth.0.material.stretch.stiffness={}", cells[1], cells[2]);
    let report = place.report(&sets);
    assert_eq!((cells[0], cells[3]), ("17", report["state_hash"].as_str().expect("a hash")));
    let (shape, positions) = npy(&place.read("one/final.npy"));
    let (run, frames) = npy(&place.read("out/sheet.npy"));
    assert_eq!((shape, run), ([30, 25, 3], [11, 25, 3]));
    assert_eq!(positions[17 * 75..18 * 75], frames[10 * 75..], "the last frame of that run");
}

/// More samples than anybody waits for, so that it is stopped on the way; what it has is then that of a smaller sweep.
#[test]
fn a_sweep_goes_on_after_an_interrupt_and_after_a_kill() {
    let place = Place::new();
    let endless = format!("{SWEEP} --samples 1000000 --quiet --jobs 2 --out stopped");
    let lines = || std::fs::read_to_string(place.path("stopped/samples.csv")).unwrap_or_default().matches('\n').count();
    for (name, code) in [("INT", Some(1)), ("KILL", None), ("INT", Some(1))] {
        let before = lines();
        let resume = if before > 0 { " --resume" } else { "" };
        let mut command = place.command(&format!("{endless}{resume}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        wait_until(&mut child, || lines() > before + 20);
        signal(&child, name);
        let said = said(child.wait_with_output().expect("an end"));
        assert_eq!(said.code, code, "{name}: {}", said.err);
        let tells = ["samples are kept in stopped; continue with: muslin sweep", "--resume"];
        assert_eq!(tells.iter().all(|words| said.err.contains(words)), name == "INT", "{name}: {}", said.err);
    }
    let (table, count) = (rows(&place, "stopped"), lines() - 1);
    place.succeed(&format!("{SWEEP} --samples {count} --quiet --out whole"));
    assert_eq!(table, rows(&place, "whole"));
    let (shape, positions) = npy(&place.read("stopped/final.npy"));
    assert_eq!((shape, positions), npy(&place.read("whole/final.npy")), "the same positions");
}

#[test]
fn samples_that_fail_are_rows_and_what_makes_no_sense_is_refused() {
    let place = Place::new();
    let base = "sweep tiny.toml --samples 12 --out out --quiet";
    place.succeed(&format!("{base} --vary cloth.0.material.density=-0.2:0.2"));
    let failed = rows(&place, "out").iter().filter(|row| row.contains("greater than 0, got -")).count();
    assert!((1..12).contains(&failed), "{failed} of 12");
    let (_, positions) = npy(&place.read("out/final.npy"));
    assert_eq!(positions.iter().filter(|x| x.is_nan()).count(), 75 * failed, "NaN where there are no positions");

    let unstable = "--set solver={kind=\"explicit\",substeps=1} --set contact.self_contact=false --vary cloth.0.material.stretch.stiffness=1e8:1e9";
    let said = place.run(&format!("{base} {unstable}"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("every sample failed; out/samples.csv says why"), "{}", said.err);
    for (words, why) in [
        ("--vary cloth.0.scael=1:2", "cloth[0].scael: unknown key; did you mean `scale`?"),
        ("--vary cloth.0.scale=2:1", "2:1 is not a range"),
        ("--vary cloth.0.scale=1", "has no two numbers"),
        ("--vary cloth.0.scale=1:2 --vary cloth.0.scale=1:2", "cloth.0.scale is varied twice"),
        ("--vary cloth.0.scale=1:2 --resume", "cannot be resumed, because it was another one: fingerprint was"),
    ] {
        let said = place.run(&format!("{base} {words}"));
        assert_eq!(said.code, Some(2), "{words}: {}", said.err);
        assert!(said.err.contains(why), "{words}: {}", said.err);
    }
}
