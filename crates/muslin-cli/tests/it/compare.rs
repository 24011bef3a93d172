//! `compare`: what it writes, what the numbers are, and what a solver that fails does to the others.

use serde_json::{Value, json};

use crate::muslin::Place;

/// The lists of a run.
const SERIES: [&str; 11] = [
    "time",
    "wall_ms",
    "kinetic_energy",
    "elastic_energy",
    "gravity_energy",
    "total_energy",
    "max_strain",
    "mean_strain",
    "residual",
    "distance_rms",
    "distance_max",
];

fn row<'a>(record: &'a Value, label: &str) -> &'a Value {
    let rows = record["solvers"].as_array().expect("rows");
    rows.iter().find(|row| row["label"] == label).unwrap_or_else(|| panic!("{label} in {rows:?}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Gravity at which one step a frame cannot hold a cloth: it stretches to hundreds of times its length.
const VIOLENT: &str = "--set gravity=[0,-1e3,0] --set cloth.0.material.stretch.stiffness=1e5";

#[test]
fn a_comparison_writes_what_it_promises() {
    let place = Place::new();
    let said = place.succeed("compare tiny.toml --solvers pbd,xpbd,fine=xpbd:substeps=40:iterations=2 --threads 1");
    for words in [
        "tiny: 10 frames of 0.0100 s, 25 vertices, 1 thread\n",
        "reference: newton,",
        "\n  fine ",
        "\n  open        out/compare-tiny/compare.png\n",
    ] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let record = place.json("out/compare-tiny/compare.json");
    assert_eq!(json!([record["scene"], record["frames"], record["vertices"]]), json!(["tiny", 10, 25]));
    assert_eq!(record["solvers"].as_array().map(Vec::len), Some(4), "three, and the reference");
    let settings = &row(&record, "fine")["settings"];
    assert_eq!(*settings, json!({ "iterations": 2, "long_range": "off", "precision": "f32", "substeps": 40 }));
    assert_eq!(row(&record, "xpbd")["settings"]["substeps"], 4, "as the scene has it");
    for row in record["solvers"].as_array().expect("rows") {
        assert_eq!(json!([row["outcome"], row["error"]]), json!(["done", null]), "{row}");
        for name in SERIES {
            assert_eq!(row["series"][name].as_array().map(Vec::len), Some(11), "{name}: frames and the initial state");
        }
        assert_eq!(row["series"]["wall_ms"][0], Value::Null, "the initial state takes no time");
        assert_eq!(row["summary"]["distance_max_end"], row["series"]["distance_max"][10], "the end");
    }
    let png = place.read("out/compare-tiny/compare.png");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[16..20], 1600_u32.to_be_bytes(), "pixels across");
    let svg = place.text("out/compare-tiny/compare.svg");
    for words in
        ["<svg", "Energy beyond what it began with", "time [s]", "strain [%]", "fine", "median time of a frame [ms]"]
    {
        assert!(svg.contains(words), "{words}");
    }
    // Again, over its own results; but over nobody else's.
    place.succeed("compare tiny.toml --solvers pbd --quiet --frames 1");
    place.write("mine/compare.png", "a picture of mine");
    let said = place.run("compare tiny.toml --solvers pbd --out mine");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("would overwrite mine/compare.png"), "{}", said.err);
}

#[test]
fn runs_and_distances_are_those_of_run() {
    let place = Place::new();
    let single = place.report("--set solver.substeps=8");
    place
        .succeed("compare tiny.toml --solvers a=xpbd:substeps=8,b=xpbd:substeps=8:precision=f64 --reference a --quiet");
    let record = place.json("out/compare-tiny/compare.json");
    let a = row(&record, "a");
    assert_eq!(a["state_hash"], single["state_hash"], "the same bits");
    assert_eq!(a["is_reference"], true);
    assert_eq!(record["solvers"].as_array().map(Vec::len), Some(2), "the reference is one of them");
    for frame in 1..=10 {
        for key in ["kinetic_energy", "elastic_energy", "gravity_energy", "max_strain", "mean_strain"] {
            assert_eq!(a["series"][key][frame], single["frames"][frame - 1][key], "{key} in frame {frame}");
        }
    }
    assert_eq!(json!([a["summary"]["distance_max_run"], a["summary"]["distance_rms_end"]]), json!([0.0, 0.0]));
    let b = number(&row(&record, "b")["summary"]["distance_max_run"]);
    assert!(b > 0.0 && b < 1e-4, "single and double precision are near each other, but not the same: {b} m");
}

#[test]
fn more_substeps_come_closer_to_the_reference() {
    let place = Place::new();
    place.succeed("compare tiny.toml --solvers coarse=xpbd:substeps=2,fine=xpbd:substeps=40 --quiet --frames 5");
    let record = place.json("out/compare-tiny/compare.json");
    let [coarse, fine] = ["coarse", "fine"].map(|label| number(&row(&record, label)["summary"]["distance_rms_run"]));
    assert!(fine < 0.5 * coarse, "{fine} m against {coarse} m");
}

#[test]
fn a_solver_that_diverges_is_a_row_and_stops_nobody() {
    let place = Place::new();
    let said =
        place.succeed(&format!("compare tiny.toml --solvers bad=xpbd:substeps=1,good=xpbd:substeps=200 {VIOLENT}"));
    assert!(said.out.contains("failed, see below"), "{}", said.out);
    assert!(said.out.contains("\n  bad failed: frame ") && said.out.contains("blown up"), "{}", said.out);
    let record = place.json("out/compare-tiny/compare.json");
    let (bad, good) = (row(&record, "bad"), row(&record, "good"));
    assert_eq!(json!([bad["outcome"], good["outcome"]]), json!(["failed", "done"]));
    assert_eq!(bad["summary"]["distance_rms_end"], Value::Null, "it has no end");
    let frames = bad["series"]["time"].as_array().map_or(0, Vec::len);
    assert!((2..11).contains(&frames), "what was good is kept: {frames}");

    let said =
        place.run(&format!("compare tiny.toml --solvers good=xpbd:substeps=200 --reference xpbd:substeps=1 {VIOLENT}"));
    assert_eq!(said.code, Some(1), "the reference failed");
    assert!(said.err.contains("error: the reference failed"), "{}", said.err);
    assert!(said.out.contains("\n  good "), "the others are shown all the same: {}", said.out);
    let said = place
        .run(&format!("compare tiny.toml --solvers xpbd:substeps=1 --reference explicit:substeps=1 --json {VIOLENT}"));
    assert_eq!(said.code, Some(1), "all failed");
    let error: Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!(json!([error["error"]["kind"], error["error"]["exit_code"]]), json!(["failed", 1]));
}

#[test]
fn a_solver_that_is_not_defined_for_the_scene_is_a_row() {
    let place = Place::new();
    let said = place.succeed(
        "compare tiny.toml --solvers pbd,xpbd --set solver={} --set solver.kind=pbd --set cloth.0.material.stretch.k=0.5",
    );
    assert!(said.out.contains("reference: pbd, iterations"), "{}", said.out);
    assert!(said.out.contains("xpbd failed: cloth[0].material.stretch.k: k is the stiffness"), "{}", said.out);
}

#[test]
fn a_comparison_answers_in_json() {
    let place = Place::new();
    let said = place.succeed("compare tiny.toml --solvers pbd --json --frames 3 --out here");
    let answer: Value = serde_json::from_str(&said.out).expect("one object");
    assert_eq!(
        json!([answer["out"], answer["frames"], answer["reference"]["label"]]),
        json!(["here", 3, "newton:substeps=50"])
    );
    assert_eq!(row(&answer, "pbd").get("series"), None, "they are in the file");
    assert!(row(&place.json("here/compare.json"), "pbd")["series"].is_object(), "here they are");
    assert_eq!(said.err, "", "nothing else is said");
}

#[test]
fn what_does_not_move_can_be_compared_and_drawn() {
    let place = Place::new();
    place
        .succeed("compare tiny.toml --solvers pbd,xpbd --quiet --set gravity=[0,0,0] --set cloth.0.pins=[] --frames 2");
    let record = place.json("out/compare-tiny/compare.json");
    assert_eq!(record["reference"]["turnover"], Value::Null);
    assert_eq!(row(&record, "pbd")["summary"]["energy_drift"], Value::Null, "a share of nothing");
    assert!(place.text("out/compare-tiny/compare.svg").contains("nothing but zeros"), "zero has no logarithm");
}

#[test]
fn the_hint_for_two_of_one_label_has_one_label() {
    let said = Place::new().run("compare tiny.toml --solvers a=xpbd,a=vbd:substeps=3");
    assert!(said.err.contains("or give it a label: other=vbd:substeps=3\n"), "{}", said.err);
}
