//! Cloth from files of other programs: open along the seams of its texture, and with a rest shape of its own.

use crate::muslin::Place;

const TUBE: &str =
    "duration = 0.1\nfps = 20\n[[cloth]]\nname = \"tube\"\ntube = { radius = 0.1, height = 0.2, cells = [12, 4] }\n";

#[test]
fn cloth_of_a_glb_is_sewn_along_the_seams_of_its_texture_and_runs_again() {
    let place = Place::empty();
    place.write("a.toml", TUBE);
    place.succeed("run a.toml --quiet --preview none --formats glb --out first");
    place.write("b.toml", "duration = 0.1\nfps = 20\n[[cloth]]\nname = \"worn\"\nmesh = \"first/tube.glb\"\n");
    place.succeed("run b.toml --quiet --preview none --out second");
    let report = place.json("second/report.json");
    assert_eq!(report["cloths"][0]["vertices"], 60, "12 around and 5 up, the seam once");
    place.succeed("run second/scene.toml --quiet --preview none --out third");
    assert_eq!(place.json("third/report.json")["state_hash"], report["state_hash"]);
    // Its texture came along.
    place.write("c.toml", "[[cloth]]\nmesh = \"first/tube.glb\"\nrest = \"uv\"\nuv_scale = 0.4\n");
    let said = place.run("check c.toml");
    assert!(!said.err.contains("needs texture") && !said.err.contains("error"), "{}", said.err);
}

#[test]
fn the_rest_shape_is_among_the_results_and_decides_about_the_motion() {
    let place = Place::empty();
    let square = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 4 3\nf 1 3 2\n";
    place.write("small.obj", square);
    place.write("large.obj", square.replace('1', "1.5").replace("f 1.5 4 3\nf 1.5 3 2", "f 1 4 3\nf 1 3 2"));
    let scene = "duration = 0.1\nfps = 20\n[[cloth]]\nname = \"sheet\"\nmesh = \"small.obj\"\nrest = \"large.obj\"\n";
    place.write("a.toml", scene);
    place.succeed("run a.toml --quiet --preview none --out out");
    let report = place.json("out/report.json");
    assert!(place.text("out/inputs/sheet+rest.obj").contains("v 1.5 0 1.5"), "a copy of the rest shape");
    let mass = report["cloths"][0]["mass"].as_f64().expect("a mass");
    assert!((mass - 0.2 * 1.5 * 1.5).abs() < 1e-12, "{mass} kg: of the rest shape");
    let (_, positions) = crate::muslin::npy(&place.read("out/sheet.npy"));
    let last = &positions[positions.len() - 12..];
    let side = ((last[3] - last[0]).powi(2) + (last[4] - last[1]).powi(2) + (last[5] - last[2]).powi(2)).sqrt();
    assert!(side > 1.3, "{side} m: it has grown to its rest shape");
    place.succeed("run out/scene.toml --quiet --preview none --out again");
    assert_eq!(place.json("again/report.json")["state_hash"], report["state_hash"]);
    // Another rest shape is another run.
    place.write("large.obj", square);
    let said = place.run("run a.toml --quiet --preview none --out out --resume");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("a mesh has changed"), "{}", said.err);
    let missing = place.run("check a.toml --set cloth.0.rest=none.obj");
    assert!(missing.err.contains("cloth[0].rest") && missing.err.contains("none.obj"), "{}", missing.err);
}
