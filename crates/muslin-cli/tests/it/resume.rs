//! Runs that are stopped, killed, continued and extended end with the bits of one that never stopped.

use std::process::Child;

use serde_json::{Value, json};

use crate::muslin::{Place, npy, said, signal};

/// Long enough to be stopped several times on the way: about two seconds.
const LONG: &str = "run tiny.toml --quiet --formats npy --preview none --threads 1 --frames 1000 --out out \
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

/// The results of the long run, undisturbed.
fn undisturbed(place: &Place) -> (Value, Vec<u8>) {
    let words = LONG.replace("--out out", "--out undisturbed");
    place.succeed(&words);
    (timeless(&place.json("undisturbed/report.json")), place.read("undisturbed/sheet.npy"))
}

fn assert_same_results(place: &Place, (report, cache): &(Value, Vec<u8>)) {
    assert_eq!(timeless(&place.json("out/report.json")), *report, "the same report");
    assert!(place.read("out/sheet.npy") == *cache, "the same frames to the bit");
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
    let expected = undisturbed(&place);

    // An interrupt finishes the frame, keeps it, and says how to go on.
    let (code, err) = stop(place.start(LONG, "out/sheet.npy", 50), "INT");
    assert_eq!(code, Some(1), "{err}");
    let frames = check_interrupted(&place, &err, LONG);
    assert!(frames >= 49, "{frames}");

    // So does SIGTERM, on the way from there; then the power goes, and the caches are ahead of the checkpoint.
    let resumed = format!("{LONG} --resume");
    let (code, err) = stop(place.start(&resumed, "out/sheet.npy", frames + 50), "TERM");
    assert_eq!(code, Some(1), "{err}");
    let frames = check_interrupted(&place, &err, LONG);
    let (code, err) = stop(place.start(&resumed, "out/sheet.npy", frames + 50), "KILL");
    assert_eq!((code, err.as_str()), (None, ""), "it had no time to say anything");

    place.succeed(&format!("{LONG} --resume --threads 2").replace("--threads 1 ", ""));
    assert_same_results(&place, &expected);
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
    let endless = LONG.replace("--frames 1000", "--frames 100000");
    let mut child = place.start(&endless, "out/sheet.npy", 1);
    let saved = |place: &Place| place.json("out/report.json")["frames"].as_array().map_or(0, Vec::len);
    while saved(&place) == 0 {
        assert_eq!(child.try_wait().expect("a child"), None, "it runs for minutes");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (code, _) = stop(child, "KILL");
    assert_eq!(code, None);
    let frames = saved(&place) + 10;
    let words = LONG.replace("--frames 1000", &format!("--frames {frames}"));
    place.succeed(&format!("{words} --resume"));
    place.succeed(&words.replace("--out out", "--out undisturbed"));
    assert_eq!(timeless(&place.json("out/report.json")), timeless(&place.json("undisturbed/report.json")));
    assert!(place.read("out/sheet.npy") == place.read("undisturbed/sheet.npy"), "the same frames to the bit");
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
    // Nearly massless cloth, held until 0.1 s: its inverse mass is beyond single precision when it is let go.
    let massless = "--set cloth.0.material.density=1e-300 --set cloth.0.pins=[{select=\"all\",until=0.1}]";
    let said =
        place.run(&format!("run tiny.toml --quiet --preview none --formats npy --out out --frames 100 {massless}"));
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

    let report = place.text("out/report.json");
    std::fs::remove_file(place.path("out/report.json")).expect("removed");
    refuse("", 1, &corrupt("report.json: it is missing"));
    place.write("out/report.json", &report);
    std::fs::remove_file(place.path("out/sheet.npy")).expect("removed");
    refuse("", 1, "cannot resume out/sheet.npy: no such file or directory");
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
