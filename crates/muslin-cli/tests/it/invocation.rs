//! How scenes are found, and what stands in the way of results.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::muslin::{Place, TINY, npy, said};

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
    let expected = "error: cannot write full/sheet.npy: no space left on device\n";
    assert_eq!((said.code, said.err.as_str()), (Some(1), expected));
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

    place.write("shirt.obj", crate::muslin::SQUARE);
    place.write("a.toml", "duration = 0.05\n[[cloth]]\nname = \"shirt\"\nmesh = \"shirt.obj\"\n");
    let said = place.run("run a.toml --out .");
    let expected = "error: results in . would overwrite the mesh ./shirt.obj; choose another folder with --out\n";
    assert_eq!((said.code, said.err.replace(" shirt.obj", " ./shirt.obj").as_str()), (Some(2), expected));
    assert_eq!(place.text("shirt.obj"), crate::muslin::SQUARE);
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    let place = Place::new();
    let said = place.run("run tiny.toml --json --set solver.substeps=0");
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let error: serde_json::Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!(error["error"]["kind"], "scene");
    assert_eq!(error["error"]["findings"][0]["path"], "solver.substeps");
    assert_eq!(error["error"]["findings"][0]["set"], "solver.substeps=0");
    let said = place.run("run nope --json");
    let error: serde_json::Value = serde_json::from_str(&said.err).expect("one object");
    assert_eq!((said.code, &error["error"]["exit_code"]), (Some(2), &serde_json::json!(2)));
}
