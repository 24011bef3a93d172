//! `muslin garment`, and scenes with sewing patterns.

use crate::muslin::Place;

#[test]
fn a_garment_is_sewn_and_comes_to_rest_and_its_scene_gives_the_same_bits() {
    let place = Place::empty();
    let said = place.succeed("garment tunic --resolution 0.05 --preview png --out out");
    assert!(said.err.contains("read as m with y up"), "{}", said.err);
    assert!(said.out.contains("front"), "the fit of each panel: {}", said.out);
    let report = place.json("out/report.json");
    assert_eq!(report["at_rest"], true);
    let seams = report["seams"].as_array().expect("seams");
    assert_eq!(seams.len(), 8);
    for seam in seams {
        let (gap, strain) = (seam["gap"].as_f64().expect("a gap"), seam["max_strain"].as_f64().expect("a strain"));
        assert!(gap < 1e-3 && strain < 0.3, "{seam}: closed, and the cloth beside it has arrived");
    }
    let frames = report["frames"].as_array().expect("frames");
    assert!(frames.iter().all(|frame| frame["intersections"] == 0), "nothing cuts in any frame");
    assert!(frames[0]["max_strain"].as_f64() > Some(1.0), "it begins far apart");
    assert_eq!((&frames[0]["phase"], &frames[70]["phase"]), (&"sewing".into(), &"settling".into()));
    let fit = report["fit"].as_array().expect("the fit");
    let panels: Vec<&str> = fit.iter().filter_map(|panel| panel["panel"].as_str()).collect();
    assert_eq!(panels, ["front", "back"]);
    assert!(fit.iter().all(|panel| panel["mean_strain"].as_f64() < Some(0.02)), "a wide tunic: {fit:?}");
    for file in ["views.png", "fit.png", "preview.png", "tunic.svg", "tunic.glb", "inputs/tunic.json"] {
        assert!(!place.read(&format!("out/{file}")).is_empty(), "{file}");
    }
    let mesh = place.text("out/tunic.obj");
    assert!(mesh.contains("\nvt ") && mesh.contains("g front") && mesh.contains("g back"), "uv and panels");
    place.succeed("run out/scene.toml --quiet --preview none --threads 3 --out again");
    assert_eq!(place.json("again/report.json")["state_hash"], report["state_hash"]);
}

#[test]
fn a_run_that_sews_goes_on_to_the_same_bits() {
    let place = Place::empty();
    place.write(
        "a.toml",
        "stop_at_rest = 0.005\n[[cloth]]\nname = \"tunic\"\npattern = \"tunic\"\nresolution = 0.08\nsettle_by = 9.0\n\
         [[collider]]\nname = \"body\"\nmesh = { file = \"figure\", frames = \"figure_walk\", fps = 30 }\n",
    );
    place.succeed("run a.toml --quiet --preview none --frames 90 --out whole");
    place.succeed("run a.toml --quiet --preview none --frames 40 --out part");
    place.succeed("run a.toml --quiet --preview none --frames 75 --out part --resume");
    place.succeed("run a.toml --quiet --preview none --frames 90 --out part --resume");
    let [whole, part] = ["whole", "part"].map(|folder| place.json(&format!("{folder}/report.json")));
    assert_eq!(whole["state_hash"], part["state_hash"]);
    let travels = |report: &serde_json::Value| -> Vec<serde_json::Value> {
        report["frames"].as_array().into_iter().flatten().map(|frame| frame["travel"].clone()).collect()
    };
    assert_eq!(travels(&whole), travels(&part), "rest is judged alike");
}

#[test]
fn wrong_patterns_and_bodies_are_refused_with_what_to_do() {
    let place = Place::empty();
    place.write("stool.obj", "v 0 0 0\nv 0.3 0 0\nv 0 0.4 0\nf 1 2 3\n");
    place.write("open.json", r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0],
        "vertices": [[0, 0], [9, 0], [0, 9]], "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}]}}, "stitches": []}}"#);
    for (command, words) in [
        ("garment coat", "give a sewing pattern, or one of circle_skirt, tunic, shirt, trousers"),
        ("garment open.json", "panel \"p\""),
        ("garment tunic --body stool.obj", "the body is 0.4 units high"),
        ("garment tunic --body none.obj", "none.obj"),
        ("garment tunic --resolution 0.5", "edges of 0.5 m"),
        ("garment tunic --resolution 0.08 --fabric tweed", "tweed"),
    ] {
        let said = place.run(&format!("{command} --quiet --out out"));
        assert_eq!(said.code, Some(2), "{command}: {}", said.err);
        assert!(said.err.contains(words), "{command}: {}", said.err);
        assert!(!place.path("out/report.json").exists(), "{command} writes nothing");
    }
    place.write("scene.toml", "[[cloth]]\npattern = \"open.json\"\n");
    let said = place.run("check scene.toml");
    assert!(said.err.contains("cloth[0].pattern") && said.err.contains("panel \"p\""), "{}", said.err);
}
