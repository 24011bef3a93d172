//! Contact in a run's words and files: motion that was cut, starts that are refused, starts that are untangled.

use crate::muslin::Place;

/// A sheet that is torn at one corner, faster than contact can follow.
const TORN: &str = "name = \"torn\"\nduration = 0.1\n\
    solver = { kind = \"xpbd\", substeps = 1 }\ncontact = { self_contact = true }\n\
    [[cloth]]\ngrid = { size = [0.5, 0.5], cells = [5, 5] }\nvelocity = [60, 0, 0]\n\
    pins = [{ vertices = [0] }]\nmaterial = { stretch = { stiffness = 5 } }\n";

#[test]
fn motion_that_was_cut_is_told_once_at_the_end() {
    let place = Place::empty();
    place.write("torn.toml", TORN);
    let said = place.run("run torn.toml --preview none --formats npy --out out --frames 1");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let words = "motion was cut short in ";
    assert_eq!(said.out.matches(words).count() + said.err.matches(words).count(), 1, "{}{}", said.out, said.err);
    assert!(
        said.out.contains("first in frame 1,") && said.out.contains("raise solver.substeps (now 1)"),
        "{}",
        said.out
    );
    let report = place.json("out/report.json");
    assert!(report["frames"][0]["cut_vertices"].as_u64().is_some_and(|count| count > 0), "{}", report["frames"][0]);
    let told = |warning: &serde_json::Value| warning.as_str().is_some_and(|text| text.starts_with(words));
    assert!(report["warnings"].as_array().is_some_and(|list| list.iter().filter(|w| told(w)).count() == 1), "{report}");

    // Slow enough for edges of 10 cm.
    place.succeed("run torn.toml --quiet --preview none --formats npy --out slow --set cloth.0.velocity=[1,0,0]");
    let report = place.json("slow/report.json");
    assert!(
        report["frames"].as_array().is_some_and(|all| all.iter().all(|frame| frame["cut_vertices"] == 0)),
        "{report}"
    );
}

/// Two sheets, one of which stands in the other; or pokes through it with a corner.
const CROSSED: &str = "name = \"crossed\"\nduration = 0.1\n\
    contact = { self_contact = true, thickness = 5e-3 }\n\
    [[cloth]]\nname = \"flat\"\ngrid = { size = [1, 1], cells = [10, 10] }\npins = [{ select = \"corners\" }]\n\
    [[cloth]]\nname = \"tilted\"\ngrid = { size = [0.5, 0.5], cells = [5, 5] }\nrotate = [35, 0, 35]\n\
    translate = [0.013, 0.23, 0.021]\n[view]\nsize = [160, 90]\n";

/// The share of pixels that are more red than anything else in these pictures.
fn red(place: &Place, name: &str) -> f64 {
    let decoder = png::Decoder::new(std::io::Cursor::new(place.read(name)));
    let mut reader = decoder.read_info().expect("a picture");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut bytes).expect("pixels");
    let is_red = |pixel: &&[u8]| pixel[0] > 110 && 2 * u16::from(pixel[1].max(pixel[2])) < u16::from(pixel[0]);
    bytes.chunks(3).filter(is_red).count() as f64 / (bytes.len() / 3) as f64
}

#[test]
fn a_start_that_cuts_is_refused_with_a_picture() {
    let place = Place::empty();
    place.write("crossed.toml", CROSSED);
    let said = place.run("run crossed.toml --quiet --formats npy --preview png");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("cut each other at the start"), "{}", said.err);
    assert!(said.err.contains("out/crossed/preview.png shows them in red"), "{}", said.err);
    assert!(red(&place, "out/crossed/preview.png") > 1e-3, "{}", red(&place, "out/crossed/preview.png"));
    let left: Vec<_> = std::fs::read_dir(place.path("out/crossed")).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "nothing else is written: {left:?}");

    // It is refused again, and run in the same folder once it is mended: nobody's file is in the way.
    assert_eq!(place.run("run crossed.toml --quiet --formats npy --preview png").code, Some(2));
    place.succeed("run crossed.toml --quiet --formats npy --preview png --set cloth.1.translate=[0,0.5,0]");
    assert!(red(&place, "out/crossed/preview.png") < 1e-3, "the picture of the run");

    // Of that run, only the picture is replaced.
    let before = place.read("out/crossed/report.json");
    assert_eq!(place.run("run crossed.toml --quiet --formats npy --preview png").code, Some(2));
    assert!(red(&place, "out/crossed/preview.png") > 1e-3);
    assert!(before == place.read("out/crossed/report.json") && place.path("out/crossed/tilted.npy").exists());

    // None is made where none is asked for, nor by a check, nor over a picture that is somebody's.
    assert!(!place.run("run crossed.toml --quiet --preview none --out none").err.contains("preview.png"));
    assert!(!place.run("check crossed.toml").err.contains("preview.png"));
    assert!(!place.path("none").exists());
    place.write("mine/preview.png", "a holiday");
    let said = place.run("run crossed.toml --quiet --out mine");
    assert!(said.err.contains("there is no picture of it: results in mine would overwrite"), "{}", said.err);
    assert_eq!(place.text("mine/preview.png"), "a holiday");
    // What else is wrong with a scene is told as ever.
    assert!(!place.run("run crossed.toml --set cloth.0.pins.0.select=[1] --out other").err.contains("preview.png"));
}

#[test]
fn a_start_is_untangled_and_the_report_says_when() {
    let place = Place::empty();
    place.write("crossed.toml", CROSSED);
    let run = "run crossed.toml --preview none --formats npy --set contact.start=untangle";
    let said = place.succeed(&format!("{run} --out whole --frames 20"));
    let report = place.json("whole/report.json");
    let frame = report["untangled_at_frame"].as_u64().expect("a frame");
    assert!((1..20).contains(&frame), "{frame}");
    assert!(said.out.contains(&format!("untangled   from frame {frame} on nothing cuts or touches")), "{}", said.out);
    for (i, each) in report["frames"].as_array().expect("frames").iter().enumerate() {
        assert!(each["intersections"] == 0 || (i as u64) + 1 < frame, "frame {}: {each}", i + 1);
    }
    // A run that stopped before, and one that stopped after, know it as well.
    for stop in [1, frame + 2] {
        place.succeed(&format!("{run} --quiet --out part --frames {stop}"));
        place.succeed(&format!("{run} --quiet --out part --frames 20 --resume"));
        let resumed = place.json("part/report.json");
        assert_eq!(resumed["untangled_at_frame"], report["untangled_at_frame"], "stopped after {stop}");
        assert_eq!(resumed["state_hash"], report["state_hash"], "stopped after {stop}");
    }
    let free = place.succeed(&format!("{run} --quiet --out free --frames 1 --set cloth.1.translate=[0,0.5,0] --json"));
    assert!(free.out.contains("\"untangled_at_frame\": 0"), "{}", free.out);
    place.succeed(
        "run crossed.toml --quiet --preview none --formats npy --out off --frames 1 --set cloth.1.translate=[0,0.5,0]",
    );
    assert!(place.json("off/report.json")["untangled_at_frame"].is_null());

    // Held on both sides: two seconds, then an error, with the frames before.
    let hopeless = "--set duration=3 --set fps=10 --set cloth.0.pins.0.select=all --set cloth.1.translate=[0,0,0] \
                    --set cloth.1.pins=[{select=\"all\"}]";
    let said = place.run(&format!("{run} --out never {hopeless}"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("the start could not be untangled") && said.err.contains("\"tilted\""), "{}", said.err);
    assert!(said.err.contains("frames 0 to 19 are kept in never"), "{}", said.err);
    let report = place.json("never/report.json");
    assert!(report["untangled_at_frame"].is_null() && report["outcome"] == "failed", "{}", report["outcome"]);
}
