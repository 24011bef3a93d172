//! Runs that are stopped, killed, continued and extended end with the bits of one that never stopped.

use std::process::Child;

use serde_json::{Value, json};

use crate::muslin::{Place, npy, said, signal, wait_until};

/// Longer than anybody waits: whoever starts it stops it, however slow the machine is at that.
const ENDLESS: &str = "run tiny.toml --quiet --formats npy --preview none --threads 1 --frames 1000000 --out out \
                       --set cloth.0.grid.cells=[30,30]";

/// The report without what depends on the clock.
fn timeless(report: &Value) -> Value {
    let mut report = report.clone();
    for key in ["wall_seconds", "stages_ms", "threads"] {
        report[key] = Value::Null;
    }
    for frame in report["frames"].as_array_mut().expect("frames") {
        frame["wall_ms"] = Value::Null;
    }
    report
}

/// Continues the endless run a little beyond what is saved, with the bits of a run that was never stopped.
fn assert_continues_to_the_same_bits(place: &Place, threads: usize) {
    let frames = place.frames_in_report("out/report.json") + 10;
    let words = ENDLESS.replace("--frames 1000000", &format!("--frames {frames}"));
    place.succeed(&format!("{words} --resume").replace("--threads 1", &format!("--threads {threads}")));
    place.succeed(&words.replace("--out out", "--out undisturbed"));
    let [report, expected] = ["out", "undisturbed"].map(|out| timeless(&place.json(&format!("{out}/report.json"))));
    assert_eq!(report, expected, "the same report");
    assert!(place.read("out/sheet.npy") == place.read("undisturbed/sheet.npy"), "the same frames to the bit");
}

/// Stops a run by a signal and gives what it said.
fn stop(child: Child, name: &str) -> (Option<i32>, String) {
    signal(&child, name);
    let said = said(child.wait_with_output().expect("an end"));
    assert_eq!(said.out, "", "no summary");
    (said.code, said.err)
}

#[test]
fn a_run_survives_signals_and_a_kill() {
    let place = Place::new();

    // An interrupt finishes the frame, keeps it, and says how to go on.
    let (code, err) = stop(place.start(ENDLESS, "out/sheet.npy", 20), "INT");
    assert_eq!(code, Some(1), "{err}");
    let frames = check_interrupted(&place, &err, ENDLESS);
    assert!(frames >= 19, "{frames}");

    // So does SIGTERM, on the way from there; then the power goes, and the caches are ahead of the checkpoint.
    let resumed = format!("{ENDLESS} --resume");
    let (code, err) = stop(place.start(&resumed, "out/sheet.npy", frames + 20), "TERM");
    assert_eq!(code, Some(1), "{err}");
    let frames = check_interrupted(&place, &err, ENDLESS);
    let (code, err) = stop(place.start(&resumed, "out/sheet.npy", frames + 20), "KILL");
    assert_eq!((code, err.as_str()), (None, ""), "it had no time to say anything");

    assert_continues_to_the_same_bits(&place, 2);
}

/// What an interrupt says, and that it is so.
fn check_interrupted(place: &Place, err: &str, words: &str) -> usize {
    let report = place.json("out/report.json");
    let frames = report["frames"].as_array().expect("frames").len();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.replace("cloth.0.grid.cells=[30,30]", "'cloth.0.grid.cells=[30,30]'"); // as a shell wants it
    let expected =
        format!("error: interrupted; frames 0 to {frames} are kept in out; continue with: muslin {words} --resume\n");
    assert_eq!(err, expected, "what is kept and how to go on");
    assert_eq!([&report["outcome"], &report["completed"]], [&json!("interrupted"), &json!(false)], "outcome");
    assert_eq!(npy(&place.read("out/sheet.npy")).0, [frames + 1, 961, 3], "the frames that are kept");
    frames
}

#[test]
fn a_long_run_saves_on_the_way() {
    let place = Place::new();
    let mut child = place.start(ENDLESS, "out/sheet.npy", 1);
    wait_until(&mut child, || place.frames_in_report("out/report.json") > 0);
    let (code, _) = stop(child, "KILL");
    assert_eq!(code, None);
    assert_continues_to_the_same_bits(&place, 1);
}

#[test]
fn a_folder_is_for_one_run_at_a_time() {
    let place = Place::new();
    let lock = place.path("out/.muslin.lock");
    let child = place.start(ENDLESS, "out/sheet.npy", 2); // with the second frame there is a checkpoint to resume
    let taken = format!(
        "error: another run (process {}) is writing to out; wait for it or stop it, or choose another folder with --out\n",
        child.id()
    );
    let second = "run tiny.toml --quiet --preview none --formats npy --out out";
    for words in [second.to_owned(), format!("{ENDLESS} --resume")] {
        let said = place.run(&words);
        assert_eq!((said.code, said.err.as_str()), (Some(1), taken.as_str()), "{words}");
    }
    assert!(lock.exists(), "the first run still has it");
    stop(child, "INT");
    assert!(!lock.exists(), "removed after an interrupt");

    // A killed run leaves the file behind, which is in nobody's way.
    let frames = place.frames_in_report("out/report.json");
    stop(place.start(&format!("{ENDLESS} --resume"), "out/sheet.npy", frames + 2), "KILL");
    assert!(lock.exists(), "there was no time to remove it");
    place.succeed(second);
    assert!(!lock.exists(), "removed at the end");

    // Nor does a failure leave it: here the results have a folder where a file should be.
    std::fs::create_dir(place.path("out/scene.toml.partial")).expect("a folder");
    assert_eq!(place.run(second).code, Some(1));
    assert!(!lock.exists(), "removed after a failure");
    // And where there is nothing to resume, none is made.
    assert_eq!(place.run("run tiny.toml --quiet --resume --out nowhere").code, Some(2));
    assert!(!place.path("nowhere").exists(), "nothing is written");
}

#[test]
fn a_finished_run_can_be_extended() {
    let place = Place::new();
    let whole = place.report("--frames 25 --threads 1");
    let cache = place.read("out/sheet.npy");
    place.report("--frames 10 --threads 2");
    let extended = place.report("--frames 25 --threads 1 --resume --set view.size=[32,32]");
    assert_eq!(timeless(&extended), timeless(&whole));
    assert_eq!(place.read("out/sheet.npy"), cache);
    // Nothing left to do is no failure, and makes what was not asked for before.
    place.succeed("run tiny.toml --quiet --frames 25 --resume --out out --set view.size=[32,32]");
    assert!(place.path("out/preview.mp4").exists());
    place.succeed("run tiny.toml --quiet --frames 25 --resume --out out --preview none --formats npy");
    let files = place.json("out/report.json")["files"].clone();
    assert!(files.as_array().is_some_and(|files| files.contains(&json!("preview.mp4"))), "still good: {files}");
    // Also from the scene among the results; what shows the shorter motion goes.
    place.succeed("run out/scene.toml --quiet --frames 30 --resume --out out --preview none --formats npy");
    assert_eq!(npy(&place.read("out/sheet.npy")).0[0], 31);
    assert!(!place.path("out/preview.mp4").exists() && !place.path("out/sheet.glb").exists());
}

#[test]
fn a_motion_that_explodes_keeps_every_frame_before() {
    let place = Place::new();
    // Steps of an explicit solver beyond its limit, once the cloth is let go at 0.1 s.
    let unstable = "--set solver={} --set solver.kind=explicit --set solver.substeps=1 --set cloth.0.pins=[{select=\"all\",until=0.1}]";
    let said =
        place.run(&format!("run tiny.toml --quiet --preview none --formats npy --out out --frames 100 {unstable}"));
    let report = place.json("out/report.json");
    let last = report["frames"].as_array().expect("frames").len();
    assert!((1..100).contains(&last), "it explodes after {last} frames");
    assert_eq!(said.code, Some(1));
    assert!(said.err.starts_with(&format!("error: frame {}, after ", last + 1)), "{}", said.err);
    assert!(said.err.ends_with(&format!("; frames 0 to {last} are kept in out\n")), "{}", said.err);
    assert_eq!(said.err, format!("error: {}\n", report["error"].as_str().expect("the same words")));
    assert_eq!([&report["outcome"], &report["completed"]], [&json!("failed"), &json!(false)]);
    let (shape, numbers) = npy(&place.read("out/sheet.npy"));
    assert_eq!(shape, [last + 1, 25, 3]);
    assert!(numbers.iter().all(|x| x.is_finite()), "all of them are good");
}

#[test]
fn what_cannot_be_resumed_is_refused_with_the_reason() {
    let place = Place::new();
    let run = "run tiny.toml --quiet --preview none --formats npy --out out";
    let refuse = |words: &str, code: i32, message: &str| {
        let said = place.run(&format!("{run} --resume {words}"));
        assert_eq!((said.code, said.err.as_str()), (Some(code), format!("error: {message}\n").as_str()), "{words}");
    };
    refuse("", 2, "there is nothing to resume in out: it has no checkpoint.bin; run without --resume");

    place.report("");
    let another = |what: &str| {
        format!(
            "the run in out cannot be resumed, because it was another one: {what}; \
             resume it with the scene that began it, or run without --resume"
        )
    };
    refuse("--set solver.substeps=5", 2, &another("solver.substeps was 4, and is 5 now"));
    refuse("--set cloth.0.material.density=0.3", 2, &another("cloth[0].material.density was 0.2, and is 0.3 now"));
    refuse("--set stop_at_rest=0.1", 2, &another("stop_at_rest is 0.1, and was not given"));
    let fewer = "the run in out has 10 frames already, and 5 were asked for; \
                 ask for more with --frames, or run without --resume";
    refuse("--frames 5", 2, fewer);

    let checkpoint = place.read("out/checkpoint.bin");
    let corrupt = |why: &str| format!("cannot resume from out/{why}; run without --resume to start again");
    place.write("out/checkpoint.bin", &checkpoint[..checkpoint.len() - 1]);
    let length = checkpoint.len();
    let damage = format!("checkpoint.bin: it is damaged: it has {} bytes, but should have {length}", length - 1);
    refuse("", 1, &corrupt(&damage));
    let mut flipped = checkpoint.clone();
    flipped[100] ^= 1;
    place.write("out/checkpoint.bin", &flipped);
    refuse("", 1, &corrupt("checkpoint.bin: it is damaged: its checksum does not match"));
    place.write("out/checkpoint.bin", "hello");
    refuse("", 1, &corrupt("checkpoint.bin: it is not a checkpoint of muslin"));
    place.write("out/checkpoint.bin", &checkpoint);

    let cache = place.read("out/sheet.npy");
    let report = place.text("out/report.json");
    std::fs::remove_file(place.path("out/report.json")).expect("removed");
    refuse("", 1, &corrupt("report.json: it is missing"));
    place.write("out/report.json", &report);
    std::fs::remove_file(place.path("out/sheet.npy")).expect("removed");
    refuse("", 1, &corrupt("sheet.npy: it is missing"));
    place.write("out/sheet.npy", "hello");
    let said = place.run(&format!("{run} --resume"));
    assert!(said.err.starts_with("error: cannot resume from out/sheet.npy: "), "{}", said.err);
    assert!(said.err.ends_with("; run without --resume to start again\n"), "{}", said.err);
    place.write("out/sheet.npy", &cache[..cache.len() / 2]);
    let said = place.run(&format!("{run} --resume"));
    assert!(said.err.ends_with("; run without --resume to start again\n"), "{}", said.err);
    assert_eq!(said.err.matches(';').count(), 1, "one remedy: {}", said.err);
    place.write("out/sheet.npy", &cache);
    place.succeed(&format!("{run} --resume"));
}

#[test]
fn a_resume_restores_what_can_be_made_again() {
    let place = Place::empty();
    place.write("square.obj", crate::muslin::SQUARE);
    place.write("a.toml", "duration = 0.05\n[[cloth]]\nname = \"a\"\nmesh = \"square.obj\"\n");
    place.succeed("run a.toml --quiet --preview none --out out");
    let before = ["out/a.obj", "out/inputs/a.obj"].map(|name| place.read(name));
    std::fs::remove_file(place.path("out/a.obj")).expect("removed");
    std::fs::remove_dir_all(place.path("out/inputs")).expect("removed");
    place.succeed("run a.toml --quiet --preview none --out out --resume --frames 9");
    assert_eq!(["out/a.obj", "out/inputs/a.obj"].map(|name| place.read(name)), before);
}

#[test]
fn a_changed_mesh_is_noticed() {
    let place = Place::empty();
    place.write("square.obj", crate::muslin::SQUARE);
    place.write("a.toml", "duration = 0.05\n[[cloth]]\nmesh = \"square.obj\"\n");
    place.succeed("run a.toml --quiet --preview none --out out");
    place.write("square.obj", crate::muslin::SQUARE.replace("1.1", "1.2"));
    let said = place.run("run a.toml --quiet --preview none --out out --resume --frames 9");
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("it was another one: a mesh has changed;"), "{}", said.err);
    // The copy among the results is the one that began it.
    place.succeed("run out/scene.toml --quiet --preview none --out out --resume --frames 9");
}
