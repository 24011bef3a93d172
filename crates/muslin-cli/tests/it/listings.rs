//! `scenes`, `models`, `check` and the help.

use serde_json::{Value, json};

use crate::muslin::{Place, TINY};

#[test]
fn scenes_are_listed_and_written() {
    let place = Place::empty();
    let list = place.succeed("scenes").out;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        [
            "drape", "hanging", "flag", "curtain", "box_edge", "twist", "swing", "sleeve", "twirl", "tower", "ring",
            "spike", "bar", "press", "walk", "tunic"
        ]
    );
    assert_eq!(
        place.succeed("scenes --write hanging").out,
        "wrote hanging.toml; run it with: muslin run hanging.toml\n"
    );
    assert!(place.text("hanging.toml").starts_with("# "));
    place.succeed("scenes --write flag --out mine.toml");
    place.succeed("check mine.toml");
    place.succeed("scenes --write tunic");
    place.succeed("check tunic.toml");
    let again = place.run("scenes --write hanging");
    let expected = "error: hanging.toml exists already; give another file with --out\n";
    assert_eq!((again.code, again.err.as_str()), (Some(1), expected), "nobody's work is overwritten");
}

#[test]
fn a_built_in_scene_with_meshes_runs_from_the_program_alone() {
    let place = Place::empty();
    place.succeed("run tunic --frames 2 --preview none --formats npy --out out");
    let report: Value = serde_json::from_str(&place.text("out/report.json")).expect("a report");
    assert_eq!(report["frames"][1]["intersections"], 0);
    // What it wrote runs again.
    place.succeed("check out/scene.toml");
}

#[test]
fn models_are_listed() {
    let place = Place::empty();
    let text = place.succeed("models").out;
    for word in ["spring", "isometric", "xpbd", "capsule", "cotton", "N/m", "required", "doi 10.4188/jte.61.69"] {
        assert!(text.contains(word), "{word}");
    }
    let models: Value = serde_json::from_str(&place.succeed("models --json").out).expect("one JSON object");
    for family in ["stretch", "bend", "solver", "collider", "fabric"] {
        let entries = models[family].as_array().expect("a list");
        assert!(!entries.is_empty(), "{family}");
        for entry in entries {
            assert!(entry["name"].is_string() && entry["summary"].is_string(), "{entry}");
        }
    }
    let pairs = models["defined"].as_array().expect("a list");
    let size = |family: &str| models[family].as_array().map_or(0, Vec::len);
    assert_eq!(pairs.len(), (size("stretch") + size("bend")) * size("solver"), "every model with every solver");
    for pair in pairs {
        assert_eq!(pair["defined"] == true, pair["why_not"].is_null(), "{pair}");
    }
    let spring = pairs.iter().find(|pair| pair["model"] == "spring" && pair["solver"] == "xpbd").expect("a pair");
    assert_eq!(spring["defined"], true);
    assert!(text.contains("\n  stretch  spring "), "a table too");
    let stiffness = &models["stretch"][0]["parameters"][0];
    assert_eq!(json!(["name", "unit", "default"].map(|key| &stiffness[key])), json!(["stiffness", "N/m", 1000.0]));
}

#[test]
fn a_sound_scene_is_summed_up() {
    let place = Place::new();
    let said = place.succeed("check tiny.toml");
    assert!(said.out.starts_with("tiny.toml: the scene is sound\n"), "{}", said.out);
    assert!(
        said.out.contains("cloth \"sheet\": 25 vertices, 32 triangles, 56 edges, 40 hinges, 0.2000 kg"),
        "{}",
        said.out
    );
    let lines = [
        "\n    pins: 1 of 25 vertices\n",
        "\n  spring: 56 elements in ",
        "\n  10 frames of 0.0100 s with xpbd, 1 collider, about ",
        " of memory, 4 kB of .npy on disk\n",
    ];
    for line in lines {
        assert!(said.out.contains(line), "{line} in {}", said.out);
    }
    assert_eq!(place.succeed("check tiny.toml --quiet").out, "");
    let answer: Value = serde_json::from_str(&place.succeed("check tiny.toml --json --frames 7").out).expect("JSON");
    assert_eq!([&answer["sound"], &answer["summary"]["frames"]], [&json!(true), &json!(7)]);
    assert!(!place.path("out").exists(), "nothing is simulated");
}

#[test]
fn terms_name_their_cloth_where_there_are_several() {
    let place = Place::empty();
    let cloth = |name: &str, bend: &str| {
        format!(
            "[[cloth]]\nname = \"{name}\"\ngrid = {{ size = [1, 1], cells = [2, 2] }}\n\
             material.bend = {{ model = \"{bend}\" }}\n"
        )
    };
    let cloths = [cloth("upper", "none"), cloth("lower", "isometric")].concat();
    place.write("two.toml", format!("contact.self_contact = false\n{cloths}"));
    let out = place.succeed("check two.toml").out;
    let whose: Vec<&str> = out.lines().filter(|line| line.contains(" elements in ")).collect();
    let start = |line: &&str| line.split(':').next().unwrap_or_default().trim().to_owned();
    let whose: Vec<String> = whose.iter().map(start).collect();
    assert_eq!(whose, ["spring of \"upper\"", "spring of \"lower\"", "isometric of \"lower\""], "{out}");
}

#[test]
fn check_tells_everything_at_once() {
    let place = Place::empty();
    let text =
        TINY.replace("substeps = 4", "substeps = 0").replace("radius = 0.25", "radius = -1").replace("fps", "fsp");
    place.write("bad.toml", text);
    let said = place.run("check bad.toml");
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let places: Vec<&str> = said.err.lines().filter(|line| line.starts_with("bad.toml:")).collect();
    assert_eq!(places.len(), 3, "{}", said.err);
    assert!(said.err.contains("\n3 | fsp = 100\n  | ^^^\n"), "a line with carets: {}", said.err);

    let json = place.run("check bad.toml --json");
    assert_eq!((json.code, json.err.as_str()), (Some(2), ""));
    let answer: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(answer["sound"], false);
    assert_eq!(answer["findings"].as_array().map(Vec::len), Some(3));
    assert_eq!(json!([answer["findings"][0]["line"], answer["findings"][0]["column"]]), json!([3, 1]));
}

#[test]
fn builtin_scenes_are_sound() {
    let place = Place::empty();
    for line in place.succeed("scenes").out.lines() {
        let name = line.split_whitespace().next().expect("a name");
        place.succeed(&format!("check {name}"));
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let help = Place::empty().succeed("--help").out;
    for word in ["run", "check", "scenes", "models", "compare", "bench", "Exit codes"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let place = Place::empty();
    let binary = env!("CARGO_BIN_EXE_muslin");
    let script = format!("{{ '{binary}' models; echo $? >&2; }} | head -n 1");
    let output =
        std::process::Command::new("sh").arg("-c").arg(script).current_dir(place.path("")).output().expect("sh");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "0\n");
}

#[test]
fn a_bench_measures_and_writes_its_table() {
    let place = Place::empty();
    let said = place.succeed("bench --quick --threads 1,2 --json --csv results/here.csv");
    let answer: Value = serde_json::from_str(&said.out).expect("one object");
    assert_eq!(answer["machine"]["version"], env!("CARGO_PKG_VERSION"));
    let rows = answer["rows"].as_array().expect("rows");
    for subject in
        ["setup", "distance", "isometric", "dihedral", "xpbd", "auto", "explicit", "vbd", "xpbd, self-contact"]
    {
        assert!(rows.iter().any(|row| row["subject"] == subject), "{subject}");
    }
    let solvers_of = |subject: &str| rows.iter().filter(|row| row["subject"] == subject).count();
    if cfg!(target_os = "linux") {
        let solvers = muslin::solver::SOLVERS.len() + 1;
        assert_eq!([solvers_of("memory"), solvers_of("memory, peak")], [solvers, solvers], "and self-contact");
    }
    assert!(rows.iter().all(|row| row["best"].as_f64().is_some_and(|best| best >= 0.0)), "{rows:?}");
    let csv = place.text("results/here.csv");
    assert_eq!(csv.lines().count(), rows.len() + 1);
}

#[test]
fn a_bench_of_contact_measures_folds() {
    let place = Place::empty();
    let said = place.succeed("bench contact --scenes twirl --sizes 20 --frames 2 --json --csv contact.csv");
    let answer: Value = serde_json::from_str(&said.out).expect("one object");
    let rows = answer["contact"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| row["scene"].as_str()).collect::<Vec<_>>(), [Some("twirl")]);
    for row in rows {
        for key in ["frame_ms", "without_ms", "contacts"] {
            assert!(row[key].as_f64().is_some_and(|number| number > 0.0), "{key}: {row}");
        }
        // A difference of two times, which a busy machine may turn around.
        assert!(row["contact_us"].is_number(), "{row}");
        assert_eq!((&row["frames"], &row["intersections"]), (&json!(2), &json!(0)), "{row}");
    }
    assert!(place.text("contact.csv").contains(",twirl,"), "the same as a table");
}
