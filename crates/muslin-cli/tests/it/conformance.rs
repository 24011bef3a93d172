//! Results are what the contract says.

use muslin::solver::Stage;
use serde_json::{Value, json};

use crate::muslin::{Place, SQUARE, TINY, npy};

#[test]
fn a_run_writes_what_it_promises() {
    let place = Place::new();
    let said = place.succeed("run tiny.toml");
    assert!(said.out.starts_with("tiny: 10 frames (0.10 s) simulated in "), "{}", said.out);
    for words in [
        " ms a frame), drawn in ",
        "strain",
        "state hash",
        "results     out/tiny",
        "out/tiny/preview.mp4",
        "out/tiny/sheet.glb",
    ] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    // Nothing, unless the machine is so slow that there is progress to tell.
    assert!(said.err.lines().all(|line| line.starts_with("tiny: ")), "{}", said.err);

    let (shape, numbers) = npy(&place.read("out/tiny/sheet.npy"));
    assert_eq!(shape, [11, 25, 3]);
    assert_eq!(numbers[..6], [-0.5, 0.3, -0.5, -0.25, 0.3, -0.5], "frame 0 is the initial state, row by row");
    assert!(numbers.iter().all(|x| x.is_finite()), "finite");

    let obj = place.text("out/tiny/sheet.obj");
    let count = |start: &str| obj.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!([count("v "), count("vt "), count("f ")], [25, 25, 32]);

    assert_eq!(place.read("out/tiny/preview.png")[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(place.read("out/tiny/preview.mp4")[4..8], *b"ftyp");
    assert_eq!(place.read("out/tiny/sheet.glb")[..4], *b"glTF");
    check_report(&place.json("out/tiny/report.json"));
}

fn check_report(report: &Value) {
    let keys = [
        "version",
        "scene",
        "solver",
        "backend",
        "threads",
        "wall_seconds",
        "simulated_seconds",
        "state_hash",
        "cloths",
        "stages_ms",
        "frames",
        "completed",
        "formats",
        "warnings",
    ];
    for key in keys {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"), "version");
    assert_eq!([&report["scene"], &report["solver"], &report["backend"]], ["tiny", "xpbd", "cpu"], "what was run");
    assert!(report["state_hash"].as_str().is_some_and(|h| u64::from_str_radix(h, 16).is_ok()), "a hash in hex");
    assert!((report["simulated_seconds"].as_f64().expect("seconds") - 0.1).abs() < 1e-12, "simulated time");
    let cloth = &report["cloths"][0];
    let expected = json!(["sheet", 25, 32, 56, 40]);
    assert_eq!(
        json!(["name", "vertices", "triangles", "edges", "hinges"].map(|key| &cloth[key])),
        expected,
        "the cloth"
    );
    assert!((cloth["mass"].as_f64().expect("a mass") - 0.2).abs() < 1e-12, "0.2 kg/m² on 1 m²");
    let keys = Stage::ALL.map(Stage::key);
    assert_eq!(keys, ["predict", "solve", "collide", "update"], "the keys that users rely on");
    for stage in keys.into_iter().chain(["write"]) {
        assert!(report["stages_ms"][stage].as_f64().is_some_and(|ms| ms > 0.0), "{stage} took time");
    }
    let frames = report["frames"].as_array().expect("frames");
    assert_eq!(frames.len(), 10, "frames");
    for (i, frame) in frames.iter().enumerate() {
        assert_eq!(frame["frame"], i + 1, "numbers");
        assert!((frame["time"].as_f64().expect("a time") - 0.01 * (i + 1) as f64).abs() < 1e-12, "times");
        assert_eq!(json!(["substeps", "iterations"].map(|key| &frame[key])), json!([4, 4]), "work");
        let numbers = [
            "wall_ms",
            "kinetic_energy",
            "elastic_energy",
            "gravity_energy",
            "max_strain",
            "mean_strain",
            "max_speed",
            "residual",
            "contacts",
            "min_gap",
        ];
        for key in numbers {
            assert!(frame[key].is_number(), "{key}");
        }
        assert_eq!(frame["intersections"], 0, "self-contact is on");
        assert!(frame.get("stable_step").is_some_and(|step| step.is_null()), "xpbd has no limit");
    }
}

#[test]
fn the_scene_among_the_results_gives_the_same_bits() {
    let place = Place::new();
    let first = place.report("--set solver.substeps=7 --set cloth.0.rotate=[10,20,30] --frames 6");
    place.succeed("run out/scene.toml --quiet --out again --preview none");
    let second = place.json("again/report.json");
    assert_eq!(first["state_hash"], second["state_hash"]);
    assert_eq!(second["frames"].as_array().map(Vec::len), Some(6), "--frames is in the scene");
    assert_eq!(place.read("out/sheet.npy"), place.read("again/sheet.npy"));
    assert_eq!(place.read("out/scene.toml"), place.read("again/scene.toml"), "a fixed point");
    // In its own folder too.
    place.succeed("run out/scene.toml --quiet --out out --preview none");
    assert_eq!(place.json("out/report.json")["state_hash"], first["state_hash"]);
}

#[test]
fn results_run_again_after_their_mesh_is_gone() {
    let place = Place::empty();
    place.write("meshes/square.obj", SQUARE);
    place.write(
        "scenes/a.toml",
        "duration = 0.05\n[[cloth]]\nname = \"sheet\"\nmesh = \"../meshes/square.obj\"\nscale = 0.1\n",
    );
    place.succeed("run scenes/a.toml --quiet --out first --preview none");
    std::fs::remove_dir_all(place.path("meshes")).expect("removed");
    std::fs::rename(place.path("first"), place.path("moved")).expect("moved");
    place.succeed("run moved/scene.toml --quiet --out second --preview none");
    assert_eq!(place.read("moved/sheet.npy"), place.read("second/sheet.npy"));
    let hashes = ["moved/report.json", "second/report.json"].map(|name| place.json(name)["state_hash"].clone());
    assert_eq!(hashes[0], hashes[1]);
    assert!(place.text("second/sheet.obj").contains("g hem"), "groups are kept");
}

#[test]
fn threads_do_not_change_a_bit() {
    let place = Place::new();
    let hash = |threads: u32| {
        let sets = "--set cloth.0.grid.cells=[24,24] --set wind.velocity=[1,2,3] --set wind.drag=1";
        let report = place.report(&format!("--threads {threads} {sets}"));
        assert_eq!(report["threads"], threads);
        (report["state_hash"].clone(), place.read("out/sheet.npy"))
    };
    let one = hash(1);
    assert_eq!(one, hash(2));
    assert_eq!(one, hash(8));
}

#[test]
fn every_format_is_written_and_listed() {
    let place = Place::new();
    place.succeed("run tiny.toml --quiet --preview none --frames 3 --formats glb,usd,obj,ply,pc2,npy --out out");
    let report = place.json("out/report.json");
    assert_eq!(report["formats"], json!(["npy", "obj", "ply", "pc2", "glb", "usd"]));
    for file in report["files"].as_array().expect("files") {
        let name = file.as_str().expect("a name");
        assert!(place.path("out").join(name).exists(), "{name}");
    }
    assert!(!place.path("out/preview.png").exists(), "no pictures were asked for");
}

#[test]
fn several_cloths_have_files_of_their_own() {
    let place = Place::empty();
    let cloth = |name: &str, y: f64| {
        format!("[[cloth]]\nname = \"{name}\"\ngrid = {{ size = [1, 1], cells = [2, 2] }}\ntranslate = [0, {y}, 0]\n")
    };
    place.write("two.toml", format!("duration = 0.05\n{}{}", cloth("upper sheet", 1.0), cloth("lower", 0.0)));
    place.succeed("run two.toml --quiet --out out --set view.size=[64,48]");
    for name in ["upper sheet", "lower"] {
        let (shape, _) = npy(&place.read(&format!("out/{name}.npy")));
        assert_eq!(shape, [4, 9, 3]);
        assert!(place.path(format!("out/{name}.glb")).exists());
    }
    assert_eq!(place.json("out/report.json")["cloths"][1]["name"], "lower");
}

#[test]
fn a_cloth_at_rest_ends_the_run() {
    let place = Place::new();
    let sets = "--set cloth.0.pins.0.vertices=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24]";
    let report = place.report(&format!("--frames 200 --set stop_at_rest=1e-3 {sets}"));
    assert_eq!(report["frames"].as_array().map(Vec::len), Some(50), "half a second at 100 frames a second");
    assert_eq!([&report["outcome"], &report["completed"]], [&json!("at_rest"), &json!(true)]);
}

#[test]
fn a_later_run_replaces_the_files_of_the_earlier_one_and_no_others() {
    let place = Place::new();
    place.succeed("run tiny.toml --quiet --out out --set view.size=[64,48]");
    place.write("out/notes.txt", "mine");
    place.write("out/other.npy", "mine too");
    place.report("--frames 2");
    assert_eq!(npy(&place.read("out/sheet.npy")).0, [3, 25, 3]);
    for stale in ["sheet.glb", "preview.png", "preview.mp4"] {
        assert!(!place.path(format!("out/{stale}")).exists(), "{stale} showed the earlier run");
    }
    assert_eq!((place.text("out/notes.txt"), place.text("out/other.npy")), ("mine".into(), "mine too".into()));
}

#[test]
fn folders_of_earlier_exports_go_with_the_run_that_made_them() {
    let place = Place::new();
    place.succeed("run tiny.toml --quiet --preview none --frames 3 --formats obj,ply --out out");
    assert!(place.path("out/sheet_ply/sheet_0003.ply").exists());
    place.write("out/sheet_obj/notes.obj", "mine");
    place.report("--frames 2");
    assert!(!place.path("out/sheet_ply").exists(), "it showed the earlier run");
    assert!(!place.path("out/sheet_obj/sheet_0000.obj").exists(), "so did these");
    assert_eq!(place.text("out/sheet_obj/notes.obj"), "mine");
    place.succeed("run tiny.toml --quiet --preview none --frames 1 --formats obj --out out");
    assert!(place.path("out/sheet_obj/sheet_0001.obj").exists() && place.path("out/sheet_obj/notes.obj").exists());
}

#[test]
fn much_strain_is_told_with_what_to_do() {
    let place = Place::new();
    let softly = "--preview none --formats npy --out out --set cloth.0.material.stretch.stiffness=0.5 --frames 60";
    for (solver, why) in [("xpbd", "unless the cloth is meant to be that soft"), ("pbd", "no stiffness will change")] {
        let said = place.succeed(&format!("run tiny.toml {softly} --set solver.kind=\"{solver}\""));
        let warnings = place.json("out/report.json")["warnings"].clone();
        let warning = warnings[0].as_str().unwrap_or_else(|| panic!("{solver} stretches: {}", said.out));
        assert!(warning.starts_with("strain reaches ") && warning.contains(why), "{warning}");
        assert!(warning.ends_with("; raise solver.substeps (now 4)"), "{warning}");
        let lines: Vec<&str> = said.out.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| line.starts_with("strain  ")).expect("a line of strain");
        assert_eq!(lines[at + 1], warning, "right under it");
        assert_eq!(said.out.matches("strain reaches").count(), 1, "once: {}", said.out);
    }
    place.report("--frames 1");
    assert_eq!(place.json("out/report.json")["warnings"], json!([]), "nothing to tell");
}

#[test]
fn json_is_one_object_on_standard_output() {
    let place = Place::new();
    let said = place.succeed("run tiny.toml --json --out out --set view.size=[64,48]");
    let object: Value = serde_json::from_str(&said.out).expect("one object");
    assert!(object.get("frames").is_none(), "without the frames");
    assert_eq!([&object["out"], &object["frame_count"]], [&json!("out"), &json!(10)]);
    assert_eq!(object["state_hash"], place.json("out/report.json")["state_hash"]);
    assert_eq!(said.err, "");
}

#[test]
fn warnings_are_told_and_reported() {
    let place = Place::new();
    let said = place.succeed("run tiny.toml --frames 1 --preview none --formats npy --set wind.velocity=[1,0,0]");
    assert!(said.err.starts_with("--set wind.velocity=[1,0,0]: warning: wind.velocity: "), "{}", said.err);
    let warnings = place.json("out/tiny/report.json")["warnings"].clone();
    assert_eq!(warnings.as_array().map(Vec::len), Some(1));
    assert_eq!(place.succeed("run tiny.toml --quiet --set wind.velocity=[1,0,0] --preview none").err, "");
}

#[test]
fn scenes_of_any_frame_rate_make_a_film() {
    let place = Place::empty();
    for fps in ["1", "23.976", "999"] {
        place.write(
            "a.toml",
            TINY.replace("fps = 100", &format!("fps = {fps}")).replace("substeps = 4", "substeps = 200"),
        );
        place.succeed("run a.toml --quiet --frames 3 --out out --set view.size=[64,48]");
        assert_eq!(place.read("out/preview.mp4")[4..8], *b"ftyp", "{fps}");
    }
}

/// The warnings of a run.
fn warnings(place: &Place, words: &str) -> Vec<String> {
    place.succeed(&format!("run tiny.toml --quiet --preview none --out out {words}"));
    let list = place.json("out/report.json")["warnings"].clone();
    list.as_array().expect("a list").iter().map(|w| w.as_str().expect("words").to_owned()).collect()
}

#[test]
fn a_solver_that_stops_short_of_its_tolerance_says_so_once() {
    let place = Place::new();
    let hard = "--set solver={} --set solver.kind=newton --set cloth.0.material.stretch.stiffness=1e6 --set solver.tolerance=1e-8";
    let short = warnings(&place, &format!("{hard} --set solver.iterations=2"));
    let told: Vec<&String> = short.iter().filter(|w| w.contains("without a solution")).collect();
    assert_eq!(told.len(), 1, "{short:?}");
    assert!(told[0].starts_with("newton stopped after 2 iterations without a solution in "), "{}", told[0]);
    assert!(
        told[0].ends_with(" m, and the tolerance is 1e-8 m; raise solver.substeps or solver.iterations"),
        "{}",
        told[0]
    );
    let frames = place.json("out/report.json")["frames"].clone();
    assert!(frames[0]["unsolved"].as_f64().is_some_and(|moved| moved > 1e-7), "{}", frames[0]);
    assert_eq!(warnings(&place, &format!("{hard} --set solver.iterations=100")), Vec::<String>::new(), "solved");
    assert_eq!(warnings(&place, &format!("{hard} --set solver.iterations=1")), Vec::<String>::new(), "as asked for");
}

#[test]
fn strain_without_stretch_means_nothing() {
    let place = Place::new();
    let loose = "--set cloth.0.material.stretch={} --set cloth.0.material.stretch.model=none --frames 60";
    assert_eq!(warnings(&place, loose), Vec::<String>::new());
}

#[test]
fn an_explicit_step_beyond_its_limit_is_told_by_check_too() {
    let place = Place::new();
    let words =
        |sets: &str| place.succeed(&format!("check tiny.toml --set solver={{}} --set solver.kind=explicit {sets}")).err;
    let said = words("--set solver.substeps=1");
    assert!(
        said.contains("solver.substeps: the step of 10.000 ms is ") && said.contains("times the stability limit of"),
        "{said}"
    );
    assert!(said.contains("; use substeps = "), "{said}");
    assert!(!words("--set solver.substeps=2000").contains("solver.substeps"), "a step that is stable");
    let said = words("--set solver.scheme=forward --set solver.substeps=2000");
    assert!(said.contains("as every step of this scheme is without damping"), "{said}");
}

#[test]
fn shape_matching_has_no_energy_of_models_that_it_does_not_use() {
    let place = Place::new();
    warnings(&place, "--set solver={} --set solver.kind=shape_matching");
    let frames = place.json("out/report.json")["frames"].clone();
    for frame in frames.as_array().expect("frames") {
        assert_eq!(frame["elastic_energy"], 0.0, "{frame}");
    }
}
