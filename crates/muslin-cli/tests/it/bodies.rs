//! Meshes as colliders: their files among the results, copies that run again, resuming, and what is said of broken ones.

use crate::muslin::{Place, npy};

/// A plate of two triangles, 2 m wide.
const PLATE: &str = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 4 3\nf 1 3 2\n";

const SCENE: &str = "duration = 0.2\nfps = 30\n\
    [[cloth]]\nname = \"sheet\"\ngrid = { size = [0.5, 0.5], cells = [6, 6] }\ntranslate = [0, 0.02, 0]\n\
    [[collider]]\nname = \"plate\"\nmesh = { file = \"../meshes/plate.obj\", frames = \"../meshes/up_*.obj\", fps = 10 }\n\
    [[collider]]\nmesh = { file = \"../meshes/plate.obj\", translate = [0, -0.5, 0], scale = 0.5 }\n";

/// The plate at three heights.
fn place() -> Place {
    let place = Place::empty();
    place.write("meshes/plate.obj", PLATE);
    for (number, height) in [(8, "0"), (9, "0.01"), (10, "0.03")] {
        let raised = PLATE.lines().map(|line| line.replacen(" 0 ", &format!(" {height} "), 1) + "\n");
        place.write(&format!("meshes/up_{number}.obj"), raised.collect::<String>());
    }
    place.write("scenes/a.toml", SCENE);
    place
}

const RUN: &str = "run scenes/a.toml --quiet --preview none --formats npy --out first";

#[test]
fn the_meshes_of_colliders_are_among_the_results() {
    let place = place();
    place.succeed(RUN);
    let (shape, plate) = npy(&place.read("first/plate.npy"));
    assert_eq!(shape, [7, 4, 3]);
    // Heights at 30 frames a second of three frames at 10: straight from one to the next, and then held.
    for (frame, expected) in
        [0.0, 0.01 / 3.0, 0.02 / 3.0, 0.01, 0.01 + 0.02 / 3.0, 0.01 + 0.04 / 3.0, 0.03].iter().enumerate()
    {
        for vertex in 0..4 {
            let height = plate[3 * (4 * frame + vertex) + 1];
            assert!((height - expected).abs() < 1e-7, "frame {frame}: {height}, not {expected}");
        }
    }
    assert!(place.text("first/plate.obj").lines().filter(|line| line.starts_with("f ")).count() == 2);
    assert!(place.text("first/collider1.obj").contains("v -0.5 -0.5 -0.5"), "placed");
    assert!(!place.path("first/collider1.npy").exists(), "what stands still has no frames");
    let report = place.json("first/report.json");
    for frame in report["frames"].as_array().expect("frames") {
        assert_eq!(frame["intersections"], 0, "{frame}");
    }
    for name in
        ["plate.obj", "plate.npy", "collider1.obj", "inputs/plate.obj", "inputs/plate.npy", "inputs/collider1.obj"]
    {
        let files = report["files"].as_array().expect("files");
        assert!(files.iter().any(|file| file == name), "{name} is not listed: {files:?}");
    }
}

#[test]
fn results_with_meshes_run_again_and_resume() {
    let place = place();
    place.succeed(RUN);
    place.succeed(&format!("{RUN} --frames 2").replace("--out first", "--out stopped"));
    place.succeed(&format!("{RUN} --resume").replace("--out first", "--out stopped"));
    std::fs::remove_dir_all(place.path("meshes")).expect("removed");
    place.succeed("run first/scene.toml --quiet --preview none --formats npy --out second");
    for other in ["second", "stopped"] {
        for name in ["sheet.npy", "plate.npy"] {
            assert!(place.read(&format!("first/{name}")) == place.read(&format!("{other}/{name}")), "{other}/{name}");
        }
    }
}

#[test]
fn pictures_show_meshes() {
    let place = place();
    place.succeed(&RUN.replace("--preview none", "--preview png --frames 1"));
    let with = place.read("first/preview.png");
    let without = SCENE.split("[[collider]]").next().expect("a cloth");
    place.write("scenes/b.toml", format!("{without}[view]\nground = false\n"));
    place.succeed("run scenes/b.toml --quiet --preview png --formats npy --frames 1 --out bare");
    assert!(with != place.read("bare/preview.png"), "the same picture");
}

#[test]
fn broken_meshes_are_told_with_their_place() {
    let place = place();
    let said = |words: &str| {
        let said = place.run(&format!("check scenes/a.toml {words}"));
        assert_eq!(said.code, Some(2), "{}", said.err);
        said.err
    };
    let err = said("--set collider.0.mesh.file=none.obj");
    assert!(err.contains("collider[0].mesh.file") && err.contains("none.obj"), "{err}");
    let err = said("--set collider.0.mesh.frames=none_*.obj");
    assert!(err.contains("collider[0].mesh.frames: there is no file"), "{err}");
    place.write("scenes/text.npy", "not an array");
    let err = said("--set collider.0.mesh.frames=text.npy");
    assert!(err.contains("text.npy: it is not a .npy file"), "{err}");
    place.write("meshes/up_11.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
    let err = said("");
    assert!(err.contains("up_11.obj has 3 vertices, but") && err.contains("up_8.obj has 4"), "{err}");
    let err = said("--set cloth.0.translate=[0,0,0] --set collider.0.mesh.frames=../meshes/up_8*.obj");
    assert!(err.contains("collider[0].mesh: it touches cloth \"sheet\" at the start"), "{err}");
    // The results would overwrite what the scene is read from.
    let said = place.run(
        "run scenes/a.toml --out meshes --set collider.0.name=up_8 --set collider.0.mesh.frames=../meshes/up_8*.obj",
    );
    assert!(said.err.contains("would overwrite"), "{}", said.err);
}

/// A run that was exported as GLB leads a collider in another scene where its NumPy array would.
#[test]
fn a_run_as_glb_is_a_moving_collider() {
    let place = Place::empty();
    place.write(
        "first.toml",
        "duration = 0.3\nfps = 30\n[[cloth]]\nname = \"sheet\"\ngrid = { size = [0.5, 0.5], cells = [5, 4] }\n\
         pins = [{ vertices = [0] }]\n",
    );
    place.succeed("run first.toml --quiet --preview none --formats npy,glb --out first");
    let scene = |file: &str, frames: &str| {
        format!(
            "duration = 0.4\nfps = 30\n[[cloth]]\ngrid = {{ size = [0.2, 0.2], cells = [2, 2] }}\ntranslate = [0, 2, 0]\n\
             [[collider]]\nname = \"body\"\nmesh = {{ file = \"first/{file}\", frames = \"first/{frames}\" }}\n"
        )
    };
    let (_, sheet) = npy(&place.read("first/sheet.npy"));
    for (name, file, frames) in
        [("a", "sheet.obj", "sheet.npy"), ("b", "sheet.obj", "sheet.glb"), ("c", "sheet.glb", "sheet.glb")]
    {
        place.write(&format!("{name}.toml"), scene(file, frames));
        place.succeed(&format!("run {name}.toml --quiet --preview none --formats npy --out {name}"));
        let (shape, body) = npy(&place.read(&format!("{name}/body.npy")));
        assert_eq!(shape, [13, 30, 3], "{name}");
        for (i, (found, expected)) in body.iter().zip(&sheet).enumerate() {
            // Differences from frame 0 are rounded to single precision, and lengths are below 1 m.
            assert!((found - expected).abs() <= 2.0 * f32::EPSILON, "{name}, number {i}: {found}, not {expected}");
        }
        assert!(body[10 * 90..][..90] == body[12 * 90..][..90], "{name}: it stays where the file ends");
    }
    std::fs::remove_dir_all(place.path("first")).expect("removed");
    place.succeed("run c/scene.toml --quiet --preview none --formats npy --out again");
    assert!(place.read("again/body.npy") == place.read("c/body.npy"), "the copies run again");
    place.write("scenes/body.glb", "no such thing");
    let said =
        place.run("check b.toml --set collider.0.mesh.frames=scenes/body.glb --set collider.0.mesh.file=c/body.obj");
    assert!(said.err.contains("scenes/body.glb: it is not a binary glTF 2.0 file"), "{}", said.err);
}
