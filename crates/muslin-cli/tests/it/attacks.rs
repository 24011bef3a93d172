//! What broke the program once, each under the name of what it was.

use muslin_io::npy_bytes;
use serde_json::{Value, json};

use crate::muslin::{Place, SQUARE, said, signal};

/// A frame that takes longer than anybody waits: ten thousand substeps of ten thousand sweeps over a sheet of 60 × 60 cells.
const FOREVER: &str = "run tiny.toml --formats npy --preview none --out out --set cloth.0.grid.cells=[60,60] --set solver.substeps=10000 \
                       --set solver.iterations=10000";

/// A sheet below an animated plate, and what is wrong with the frames of the plate.
const PLATE: &str = "frames = 2\n[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }\ntranslate = [0, 1, 0]\n\
                     [[collider]]\nmesh = { file = \"square.obj\", frames = \"frames.npy\" }\n";

#[test]
fn a_frame_without_a_limit_of_time_ran_for_ever() {
    let place = Place::new();
    let words = FOREVER.replace("substeps=10000", "substeps=4").replace("iterations=10000", "iterations=1");
    place.succeed(&format!("{words} --frames 3 --quiet"));
    let said = place.run(&format!("{FOREVER} --quiet --frame-limit 0.5"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.err.starts_with("error: frame 1, after 0.0000 s: it takes longer than the 0.5 s of --frame-limit; use fewer substeps, a coarser cloth")
            && said.err.ends_with("or raise --frame-limit; frame 0 is kept in out\n"),
        "{}",
        said.err
    );
    let report = place.json("out/report.json");
    assert_eq!([&report["outcome"], &report["frames"]], [&json!("failed"), &json!([])]);

    let said = place.run("compare tiny.toml --solvers xpbd,slow=xpbd:substeps=10000:iterations=10000 --reference xpbd --out cmp --quiet --frame-limit 0.5 \
                          --frames 2 --set cloth.0.grid.cells=[60,60]");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "one of them is enough");
    let solvers = place.json("cmp/compare.json")["solvers"].clone();
    let slow = solvers.as_array().and_then(|rows| rows.iter().find(|row| row["label"] == "slow")).expect("it is there");
    assert!(
        slow["error"].as_str().is_some_and(|error| error.contains("longer than the 0.5 s of --frame-limit")),
        "{slow}"
    );
    for wrong in ["0", "-1", "nan", "inf", "soon"] {
        let said = place.run(&format!("run tiny.toml --frame-limit={wrong}"));
        assert_eq!(said.code, Some(2), "{wrong}");
        assert!(said.err.contains("must be a number of seconds greater than 0"), "{}", said.err);
    }
}

#[test]
fn ctrl_c_waited_for_the_end_of_a_frame() {
    let place = Place::new();
    // Its first frame would never end.
    let child = place.start(&format!("{FOREVER} --quiet"), "out/sheet.npy", 1);
    signal(&child, "INT");
    let said = said(child.wait_with_output().expect("an end"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.err.starts_with("error: interrupted; frame 0 is kept in out; continue with: muslin run tiny.toml"),
        "{}",
        said.err
    );
    let report = place.json("out/report.json");
    assert_eq!([&report["outcome"], &report["frames"]], [&json!("interrupted"), &json!([])]);
    // The frame that was stopped has left no trace: the run goes on with as few steps as one likes only elsewhere, so with the same.
    assert_eq!(report["simulated_seconds"], json!(0.0));
}

#[test]
fn an_npy_of_no_frames_panicked() {
    let place = Place::empty();
    place.write("square.obj", SQUARE);
    place.write("plate.toml", PLATE.replace("frames = 2\n", ""));
    place.write("frames.npy", npy_bytes(&[]));
    for words in ["check plate.toml", "run plate.toml --quiet --preview none --formats npy"] {
        let said = place.run(words);
        assert_eq!(said.code, Some(2), "{words}: {}", said.err);
        assert!(said.err.contains("frames"), "{}", said.err);
    }
    // Shape (0, 4, 3): of four vertices, but no frames.
    let mut bytes = npy_bytes(&[vec![[0.0; 3]; 4]]);
    let header = String::from_utf8_lossy(&bytes[10..128]).replacen("(1, 4, 3)", "(0, 4, 3)", 1);
    bytes.truncate(128);
    bytes[10..128].copy_from_slice(header.as_bytes());
    place.write("frames.npy", &bytes);
    let said = place.run("check plate.toml");
    assert_eq!(said.code, Some(2), "{}", said.err);
}

/// A GLB whose nodes form a ladder: each has the next for a child several times.
#[test]
fn check_of_nodes_that_form_a_ladder_hung() {
    let place = Place::empty();
    let rungs = 64;
    let nodes: Vec<Value> =
        (0..rungs).map(|k| json!({ "children": vec![k + 1; 7] })).chain([json!({ "mesh": 0 })]).collect();
    let json = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": nodes, "meshes": [{ "primitives": [] }] });
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((20 + text.len() as u32).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(text);
    place.write("ladder.glb", bytes);
    place.write("ladder.toml", "[[cloth]]\nmesh = \"ladder.glb\"\n");
    let said = place.run("check ladder.toml");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("it has more than 65536 nodes in its scene, which is not supported"), "{}", said.err);
}

#[test]
fn a_run_that_blew_up_ended_with_exit_code_0() {
    let place = Place::new();
    let words = "run tiny.toml --quiet --formats npy --preview none --out out --set solver.kind=\"auto\" --set cloth.0.grid.cells=[16,16] \
                 --set cloth.0.pins=[{vertices=[0],until=0}] --set cloth.0.velocity=[0,-300,0]";
    let words = words.replace("--set solver.kind", "--set solver={kind=\"auto\"} --set solver.kind");
    let said = place.run(&words);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("no cloth is that any more") && said.err.ends_with("kept in out\n"), "{}", said.err);
    let report = place.json("out/report.json");
    assert_eq!((&report["outcome"], &report["completed"]), (&json!("failed"), &json!(false)));
}

#[test]
fn cloth_that_starts_inside_a_collider_was_told_to_take_more_substeps() {
    let place = Place::new();
    let said = place.succeed("run tiny.toml --formats npy --preview none --out out --set cloth.0.grid.cells=[16,16] --set cloth.0.translate=[0,0.05,0] --frames 20 \
                              --set gravity=[0,0,0] --set cloth.0.material.stretch.stiffness=20000");
    assert!(said.err.contains("start inside collider[0], up to 0.200 m deep"), "{}", said.err);
    let warnings = place.json("out/report.json")["warnings"].to_string();
    assert!(!warnings.contains("raise solver.substeps"), "{warnings}");
    if warnings.contains("energy from nowhere") || warnings.contains("strain reaches") {
        assert!(
            warnings
                .contains("starts 0.200 m deep inside collider \\\"collider0\\\" and is pushed out: move one of them"),
            "{warnings}"
        );
    }
}

#[test]
fn a_ball_that_shows_through_a_coarse_sheet_was_never_mentioned() {
    let place = Place::new();
    let said = place.succeed("check tiny.toml");
    let expected = "a radius of 0.250 m shows through a cloth with edges of up to 0.354 m";
    assert!(said.err.contains(expected) && said.err.contains("take edges of "), "{}", said.err);
    let said = place.succeed("check tiny.toml --set cloth.0.grid.cells=[64,64]");
    assert_eq!(said.err, "", "2 cm on a ball of 25 cm");
}

/// A device that never ends filled the memory.
#[cfg(unix)]
#[test]
fn dev_zero_as_a_mesh_or_a_scene_was_read_until_memory_ended() {
    let place = Place::empty();
    place.write("zero.toml", "[[cloth]]\nmesh = \"/dev/zero\"\n");
    for words in ["check zero.toml", "check /dev/zero"] {
        let said = place.run(words);
        assert_ne!(said.code, Some(0), "{words}");
        assert!(
            said.err.contains("it is no file and does not end within 268 MB; give a file"),
            "{words}: {}",
            said.err
        );
    }
}

#[test]
fn findings_were_told_however_many_there_were() {
    let place = Place::empty();
    place.write("many.toml", "[[cloth]]\nmesh = \"nowhere.obj\"\n".repeat(300));
    let said = place.run("check many.toml");
    assert_eq!((said.code, said.err.matches(": cloth[").count()), (Some(2), 120), "{}", said.err);
    assert!(
        said.err.ends_with("and 180 more; mend these first, or ask `muslin check --json` for all\n"),
        "{}",
        said.err
    );
    let all: Value = serde_json::from_str(&place.run("check many.toml --json").out).expect("one object");
    assert_eq!(all["findings"].as_array().map(Vec::len), Some(300));
}

/// 400 × 400 cells of 2 mm with a thickness of 3 mm were estimated at 164 MB, and were aborted under 500 MB.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_a_thickness_above_the_edges_was_not_counted() {
    let place = Place::empty();
    place.write("fine.toml", "contact.thickness = 8e-3\n[[cloth]]\ngrid = { size = [0.4, 0.4], cells = [200, 200] }\n");
    let limited = |words: &str| {
        let program = env!("CARGO_BIN_EXE_muslin");
        let line = format!("ulimit -v 600000 && exec {program} {words}");
        let mut command = std::process::Command::new("sh");
        said(command.args(["-c", &line]).current_dir(place.path("")).output().expect("a shell"))
    };
    for words in ["check fine.toml", "run fine.toml --threads 1 --preview none --formats npy"] {
        let said = limited(words);
        assert_eq!(said.code, Some(2), "{words}: {}", said.err);
        assert!(
            said.err.contains("contact.thickness: what keeps cloth from cloth at 0.008 m takes about 65"),
            "{words}: {}",
            said.err
        );
    }
    assert_eq!(limited("check fine.toml --set contact.thickness=5e-4").code, Some(0), "a quarter of an edge");
}
