//! How scenes are found, and what stands in the way of results.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::muslin::{Place, SQUARE, Said, TINY, npy, said};

#[test]
fn scenes_are_found_by_name_and_by_path() {
    let place = Place::new();
    let run = |scene: &str| {
        place.succeed(&format!("run {scene} --quiet --frames 1 --preview none --formats npy --out out"));
        place.json("out/report.json")["scene"].clone()
    };
    assert_eq!(run("hanging"), "hanging", "a built-in scene");
    place.write("plain", TINY);
    assert_eq!(run("plain"), "tiny", "a file without an extension");
    place.write("hanging", TINY);
    assert_eq!(run("hanging"), "hanging", "the built-in scene comes first");
    assert_eq!(run("./hanging"), "tiny", "unless it looks like a path");
}

#[test]
fn without_a_command_the_default_scene_is_run() {
    // Only that it begins: all of it takes a while in a debug build.
    let place = Place::empty();
    place.write("out", "in the way");
    let said = place.run("");
    assert_eq!(said.code, Some(1));
    assert!(said.err.starts_with("error: cannot write to out/drape: it is, or lies under, a file;"), "{}", said.err);
}

#[test]
fn a_full_disk_is_told_and_keeps_what_there_is() {
    let place = Place::new();
    std::fs::create_dir(place.path("full")).expect("a folder");
    symlink("/dev/full", place.path("full/sheet.npy")).expect("a link");
    let said = place.run("run tiny.toml --quiet --preview none --out full");
    let expected = "error: cannot write full/sheet.npy: no space left on device; no frame is kept in full\n";
    assert_eq!((said.code, said.err.as_str()), (Some(1), expected));
    let report = place.json("full/report.json");
    assert_eq!([&report["outcome"], &report["completed"]], [&json!("failed"), &json!(false)], "the report says so");
    assert_eq!(said.err, format!("error: {}\n", report["error"].as_str().expect("the same words")));
}

/// Runs a scene into `out`, a file system of `kilobytes` of its own, and gives what it said and its report there;
/// nothing where this user may not mount one.
fn run_on_a_small_disk(kilobytes: usize, words: &str) -> Option<(Said, Value)> {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).expect("a folder");
    let binary = env!("CARGO_BIN_EXE_muslin");
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k tmpfs out 2>/dev/null || exit 99
         '{binary}' run tiny.toml --quiet --out out {words}; code=$?; cp out/report.json . ; ls -A out >list; exit $code"
    );
    let mut command = Command::new("unshare");
    let output = command.args(["-rm", "sh", "-c", &script]).current_dir(place.path("")).output().ok()?;
    if output.status.code() == Some(99) || !place.path("list").exists() {
        return None;
    }
    let list = place.text("list");
    assert!(!list.contains(".muslin.reserve") && !list.contains(".muslin.lock"), "{list}");
    Some((said(output), place.json("report.json")))
}

#[test]
fn a_report_is_written_even_if_the_disk_is_full() {
    // First the frames fill it, then the export.
    let frames = "--preview none --formats npy --frames 100000";
    let export = "--preview none --formats usd --frames 100 --set cloth.0.grid.cells=[20,20]";
    for (kilobytes, words, file) in [(700, frames, "out/"), (1200, export, "out/sheet.usda")] {
        let Some((said, report)) = run_on_a_small_disk(kilobytes, words) else {
            // A person's machine may not allow it; where every change is judged, it must not pass unseen.
            assert!(std::env::var_os("CI").is_none(), "no small disk could be mounted (unshare -rm)");
            return;
        };
        let kept = report["frames"].as_array().expect("frames").len();
        assert!(kept > 50, "{kept}");
        assert_eq!(said.code, Some(1), "{words}");
        assert!(said.err.starts_with(&format!("error: cannot write {file}")), "{}", said.err);
        let end = format!(": no space left on device; frames 0 to {kept} are kept in out\n");
        assert!(said.err.ends_with(&end), "{}", said.err);
        assert_eq!([&report["outcome"], &report["completed"]], [&json!("failed"), &json!(false)], "{words}");
        assert_eq!(said.err, format!("error: {}\n", report["error"].as_str().expect("the same words")));
        let files = report["files"].as_array().expect("files");
        assert!(!files.contains(&json!("sheet.usda")), "what is not there is not listed");
    }
}

#[test]
fn a_scene_that_does_not_fit_into_memory_is_refused() {
    let place = Place::new();
    let binary = env!("CARGO_BIN_EXE_muslin");
    for command in ["check", "run"] {
        let script =
            format!("ulimit -v 2000000; exec '{binary}' {command} tiny.toml --set cloth.0.grid.cells=[2000,2000]");
        let output = Command::new("sh").arg("-c").arg(script).current_dir(place.path("")).output().expect("sh");
        let said = said(output);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        let start = "tiny.toml:9:8: cloth[0].grid: it has about 4.0 million vertices, which take about ";
        assert!(said.err.starts_with(start), "{}", said.err);
        assert!(said.err.contains(" are free; use fewer cells, or a machine with more memory\n"), "{}", said.err);
    }
    assert!(!place.path("out").exists(), "nothing is written");
}

#[test]
fn a_disk_that_fills_up_keeps_every_frame_before() {
    let place = Place::new();
    // Files may have 8 blocks of 512 bytes; a frame has 300 bytes, so that the cache fills first.
    let binary = env!("CARGO_BIN_EXE_muslin");
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{binary}' run tiny.toml --quiet --frames 100 --preview none --formats npy --out out"
    );
    let output = Command::new("sh").arg("-c").arg(script).current_dir(place.path("")).output().expect("sh");
    let said = said(output);
    let expected = "error: cannot write out/sheet.npy: file too large; frames 0 to 12 are kept in out\n";
    assert_eq!((said.code, said.err.as_str()), (Some(1), expected));
    assert_eq!(npy(&place.read("out/sheet.npy")).0, [13, 25, 3]);
}

#[test]
fn sources_are_never_overwritten() {
    let place = Place::empty();
    place.write("scene.toml", TINY);
    let said = place.run("run scene.toml --out .");
    let expected = "error: results in . would overwrite the scene scene.toml; choose another folder with --out\n";
    assert_eq!((said.code, said.err.as_str()), (Some(2), expected));
    assert_eq!(place.text("scene.toml"), TINY);

    place.write("shirt.obj", SQUARE);
    place.write("a.toml", "duration = 0.05\n[[cloth]]\nname = \"shirt\"\nmesh = \"shirt.obj\"\n");
    let said = place.run("run a.toml --out .");
    let expected = "error: results in . would overwrite the mesh ./shirt.obj; choose another folder with --out\n";
    assert_eq!((said.code, said.err.replace(" shirt.obj", " ./shirt.obj").as_str()), (Some(2), expected));
    assert_eq!(place.text("shirt.obj"), SQUARE);
}

#[test]
fn sources_among_the_results_are_never_overwritten() {
    let place = Place::empty();
    place.write("a.toml", "duration = 0.05\n[[cloth]]\nname = \"a\"\nmesh = \"a.obj\"\n");
    place.write("a.obj", SQUARE);
    place.succeed("run a.toml --quiet --preview none --formats obj --out out");
    let copy = place.read("out/inputs/a.obj");
    let refuse = |mesh: &str| {
        let said = place.run(&format!("run a.toml --out out --set cloth.0.name=\"b\" --set cloth.0.mesh=\"{mesh}\""));
        let expected =
            format!("error: results in out would overwrite the mesh {mesh}; choose another folder with --out\n");
        assert_eq!((said.code, said.err), (Some(2), expected));
    };
    refuse("out/inputs/a.obj");
    refuse("out/a_obj/a_0001.obj");
    refuse("out/a.obj");
    // The copy of the cloth itself is written as it is.
    place.succeed("run out/scene.toml --quiet --preview none --out out");
    assert_eq!(place.read("out/inputs/a.obj"), copy);
    // A scene without that mesh leaves no copy of it.
    place.write("tiny.toml", TINY);
    place.report("--frames 1");
    assert!(!place.path("out/inputs/a.obj").exists());
    place.succeed("run a.toml --quiet --preview none --out out");
}

#[test]
fn files_of_the_user_are_never_overwritten() {
    for name in ["scene.toml", "report.json", "checkpoint.bin", "sheet.npy", "sheet.obj", "sheet.glb", "preview.mp4"] {
        let place = Place::new();
        place.write(&format!("mine/{name}"), "{\"files\": []}");
        let said = place.run("run tiny.toml --out mine");
        let expected = format!(
            "error: results in mine would overwrite mine/{name}, which is not of an earlier run; \
             choose another folder with --out, or move it away\n"
        );
        assert_eq!((said.code, said.err), (Some(2), expected));
        assert_eq!(place.text(&format!("mine/{name}")), "{\"files\": []}");
        assert_eq!(std::fs::read_dir(place.path("mine")).expect("a folder").count(), 1, "nothing else is written");
    }
    let place = Place::new();
    place.write("a.toml", "duration = 0.05\n[[cloth]]\nname = \"a\"\nmesh = \"square.obj\"\n");
    place.write("square.obj", SQUARE);
    place.write("mine/inputs/a.obj", "mine");
    let said = place.run("run a.toml --out mine");
    assert!(said.err.contains("would overwrite mine/inputs/a.obj, which is not of"), "{}", said.err);
    // Nor by a run that is resumed and now makes more than before.
    place.report("--frames 2");
    place.write("out/sheet.glb", "mine");
    let said = place.run("run tiny.toml --quiet --frames 4 --resume --out out --preview none");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert_eq!(place.text("out/sheet.glb"), "mine");
    assert_eq!(npy(&place.read("out/sheet.npy")).0[0], 3, "nothing was done");
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    let place = Place::new();
    let said = place.run("run tiny.toml --json --set solver.substeps=0");
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let error: Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!(error["error"]["kind"], "scene");
    assert_eq!(error["error"]["findings"][0]["path"], "solver.substeps");
    assert_eq!(error["error"]["findings"][0]["set"], "solver.substeps=0");
    let said = place.run("run nope --json");
    let error: Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!((said.code, &error["error"]["exit_code"]), (Some(2), &json!(2)));
}
