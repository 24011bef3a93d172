//! Wrong scenes and exactly what is said of them: the wording and the places are part of the product.
//!
//! `bad_scenes.txt` has the cases, with an empty line between: a scene, overrides as `--set PATH=VALUE`, and then
//! what is said, each line after `> `. The heading above a case says what it is part of: `whole` of nothing else;
//! `top` has a cloth that is right after it; `cloth` has one before it, in lines 1 and 2. A list of what the
//! catalogue has is written `{solvers}` and so on, so that adding to it breaks nothing here.

use muslin::catalog;
use muslin::energy::BEND;
use muslin::parameter::{Entry, Setting};
use muslin::scene::{Finding, Material, Origin, Override, Scene, parse};
use muslin::solver::SOLVERS;

const CASES: &str = include_str!("bad_scenes.txt");
const CLOTH: &str = "[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }\n";

#[test]
fn wrong_scenes_are_told_what_is_wrong() {
    let mut heading = "";
    let mut count = 0;
    for case in CASES.split("\n\n").skip(1) {
        match case.strip_prefix("=== ") {
            Some(title) => heading = title,
            None => {
                check(heading, case);
                count += 1;
            }
        }
    }
    assert!(count > 130, "only {count} cases were found: is bad_scenes.txt cut off?");
}

fn check(heading: &str, case: &str) {
    let (mut text, mut sets, mut expected) = (String::new(), Vec::new(), Vec::new());
    for line in case.lines() {
        if let Some(set) = line.strip_prefix("--set ") {
            sets.push(set);
        } else if let Some(said) = line.strip_prefix("> ") {
            expected.push(with_lists(said));
        } else {
            text += &format!("{line}\n");
        }
    }
    let text = match heading.split(':').next() {
        Some("whole") => text,
        Some("top") => format!("{text}{CLOTH}"),
        Some("cloth") => format!("{CLOTH}{text}"),
        _ => panic!("no such heading: {heading}"),
    };
    assert_eq!(said_of(&text, &sets), expected, "{heading}:\n{case}");
}

/// Everything that is said of a scene with overrides.
fn said_of(text: &str, sets: &[&str]) -> Vec<String> {
    let (mut overrides, mut said) = (Vec::new(), Vec::new());
    for set in sets {
        match Override::parse(set) {
            Ok(change) => overrides.push(change),
            Err(message) => said.push(message),
        }
    }
    let outcome = parse(text, &overrides);
    let has_errors = outcome.findings.iter().any(Finding::is_error);
    assert_eq!(outcome.scene.is_none(), has_errors, "a scene without errors is a scene: {text:?}");
    said.extend(outcome.findings.iter().map(|finding| finding.display("s.toml").to_string()));
    said
}

fn with_lists(line: &str) -> String {
    let stretch: Vec<&Entry> = catalog::stretch_models().collect();
    let bend: Vec<&Entry> = catalog::bend_models().collect();
    let solvers: Vec<&Entry> = catalog::solvers().collect();
    let names = |entries: &[&Entry]| entries.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
    let keys = |entries: &[&Entry], name| {
        let entry = entries.iter().find(|e| e.name == name).expect("it is in the catalogue");
        entry.parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
    };
    let damping: Vec<&str> = SOLVERS.iter().filter(|kind| kind.reads_damping).map(|kind| kind.entry.name).collect();
    let projective: Vec<&str> = BEND.iter().filter(|kind| kind.forms.projection).map(|kind| kind.entry.name).collect();
    line.replace("{solvers}", &names(&solvers))
        .replace("{stretch models}", &names(&stretch))
        .replace("{bend models}", &names(&bend))
        .replace("{fabrics}", &catalog::fabrics().map(|f| f.name).collect::<Vec<_>>().join(", "))
        .replace("{spring keys}", &keys(&stretch, "spring"))
        .replace("{xpbd keys}", &keys(&solvers, "xpbd"))
        .replace("{damping solvers}", &damping.join(", "))
        .replace("{projective bend models}", &projective.join(", "))
}

/// The scene of a text that must be right.
fn scene_of(text: &str, sets: &[&str]) -> Scene {
    let overrides: Vec<Override> = sets.iter().map(|set| Override::parse(set).expect("an override")).collect();
    let outcome = parse(text, &overrides);
    outcome.scene.unwrap_or_else(|| panic!("{:#?}", outcome.findings))
}

fn material_of(text: &str) -> Material {
    scene_of(&format!("{CLOTH}{text}"), &[]).cloths.remove(0).material
}

/// The example of the contract, but for `path = [ … ]`, which is not TOML.
const CONTRACT: &str = r#"
name = "hanging"
duration = 2.0                     # s
fps = 60
gravity = [0.0, -9.81, 0.0]
stop_at_rest = 1e-3                # optional: stops early once no vertex moves faster [m/s] for half a second
wind = { velocity = [0.0, 0.0, 0.0], drag = 0.0, lift = 0.0 }

[solver]
kind = "xpbd"                      # pbd xpbd explicit newton projective vbd shape_matching; or auto, the default, which picks for a quality
substeps = 20
iterations = 1
# what else a solver takes is its own, and `muslin models` lists it

[contact]
self_contact = true
thickness = 1e-3                   # m
friction = 0.3

[[cloth]]
name = "sheet"
grid = { size = [1.0, 1.0], cells = [32, 32], diagonals = "alternating" }   # or: mesh = "shirt.obj"
translate = [0.0, 1.0, 0.0]
rotate = [0.0, 0.0, 0.0]           # degrees about x, then y, then z
scale = 1.0
velocity = [0.0, 0.0, 0.0]

[cloth.material]
fabric = "cotton"                  # optional preset; the keys below override it
density = 0.2                      # kg/m²
damping = 0.0                      # 1/s: velocities decay as exp(−damping·t)
stretch = { model = "spring", stiffness = 1000.0 }
bend = { model = "isometric", stiffness = 1e-5 }

[[cloth.pins]]
vertices = [0, 32]                 # or select = "x_min" | "x_max" | "z_min" | "z_max" | "corners" | "all"
                                   # or within = { center = [0, 1, 0], radius = 0.05 }  /  { min = […], max = […] }
until = 1.5                        # optional: released at this time [s]
path = [ { time = 0.0, offset = [0, 0, 0] }, { time = 1.0, offset = [0, 0.5, 0] } ]   # optional: moves, with `turn` in degrees about an axis

[[collider]]
sphere = { center = [0.0, 0.5, 0.0], radius = 0.25 }    # one shape per collider:
# plane = { point = [0, 0, 0], normal = [0, 1, 0] }     capsule = { a = […], b = […], radius = 0.1 }
# box = { center = […], size = […], rotate = […] }      mesh = { file = "body.obj" }
friction = 0.3
"#;

#[test]
fn the_example_of_the_contract_is_right() {
    let scene = scene_of(CONTRACT, &[]);
    assert_eq!((scene.name.as_str(), scene.frame_count()), ("hanging", 120));
    assert_eq!(scene.solver.settings.integer("substeps"), Some(20));
    assert_eq!((scene.cloths.len(), scene.colliders.len()), (1, 1));
    let sheet = &scene.cloths[0];
    assert_eq!(sheet.pins[0].path.waypoints[1].offset, [0.0, 0.5, 0.0]);
    assert_eq!(sheet.material.bend.settings.number("stiffness"), Some(1e-5));
}

#[test]
fn a_minimal_scene_has_every_default() {
    let scene = scene_of(CLOTH, &[]);
    assert_eq!((scene.name.as_str(), scene.duration, scene.fps), ("scene", 2.0, 60.0));
    assert_eq!(scene.gravity, [0.0, -9.81, 0.0]);
    assert_eq!((scene.solver.entry.name, scene.contact.friction), ("auto", 0.3));
    assert_eq!(scene.cloths[0].name, "cloth0");
    let Material { fabric, density, ref stretch, ref bend, .. } = scene.cloths[0].material;
    assert_eq!((fabric, density, stretch.entry.name, bend.entry.name), (None, 0.2, "spring", "isometric"));
}

#[test]
fn a_fabric_supplies_what_the_scene_does_not_give() {
    let stiff = catalog::fabrics().find(|fabric| fabric.name == "stiff").expect("a fabric with stretch");

    let plain = material_of("material = { fabric = \"stiff\" }\n");
    assert_eq!(plain.fabric, Some(stiff));
    assert_eq!(plain.density, stiff.density);
    assert_eq!(plain.stretch.settings.number("stiffness"), stiff.stretch);
    assert_eq!(plain.bend.settings.number("stiffness"), Some(stiff.bend));

    let other = material_of("material = { fabric = \"stiff\", density = 3, bend = { stiffness = 7 } }\n");
    assert_eq!((other.density, other.bend.settings.number("stiffness")), (3.0, Some(7.0)));
    assert_eq!(other.stretch.settings.number("stiffness"), stiff.stretch);

    let model = material_of("material = { fabric = \"stiff\", bend = { model = \"dihedral\", damping = 0.1 } }\n");
    assert_eq!(model.bend.settings.number("stiffness"), Some(stiff.bend), "another model of the same rigidity");

    let raw = material_of("material = { fabric = \"stiff\", bend = { compliance = 5 } }\n").bend.settings;
    assert_eq!((raw.number("stiffness"), raw.number("compliance")), (None, Some(5.0)), "one form only");

    let none = material_of("material = { fabric = \"stiff\", bend = { model = \"none\" } }\n").bend.settings;
    assert_eq!(none.iter().count(), 0, "a model without stiffness takes none");
}

#[test]
fn a_fabric_without_stretch_leaves_the_default() {
    let cotton = material_of("material = { fabric = \"cotton\" }\n");
    assert_eq!(cotton.stretch, material_of("").stretch);
}

#[test]
fn colliders_take_the_friction_of_the_scene() {
    let collider = "[[collider]]\nplane = { point = [0, 0, 0], normal = [0, 1, 0] }\n";
    assert_eq!(scene_of(&format!("{CLOTH}{collider}"), &["contact.friction=0.7"]).colliders[0].friction, 0.7);
}

#[test]
fn overrides_are_values_like_any_other() {
    let sets = [
        "solver.kind=pbd",
        "cloth.0.material.bend.k=0.5",
        "cloth[0].name=flag",
        "gravity=[0, 0, 0]",
        "duration=1",
        "duration=3",
    ];
    let scene = scene_of(CLOTH, &sets);
    assert_eq!((scene.solver.entry.name, scene.duration, scene.gravity[1]), ("pbd", 3.0, 0.0));
    assert_eq!(scene.cloths[0].name, "flag");
    assert_eq!(scene.cloths[0].material.bend.settings.get("k"), Some(Setting::Number(0.5)));

    let mesh = scene_of("[[cloth]]\nmesh = \"a.obj\"\n", &["cloth.0.mesh=../b c.obj", "name = \"quoted\""]);
    assert_eq!(mesh.name, "quoted");
    assert!(mesh.to_toml().contains("mesh = \"../b c.obj\""), "a path needs no quotes");
}

#[test]
fn findings_show_their_line() {
    let text = format!("{CLOTH}[cloth.material]\ndensity = -0.2 # light\n");
    let findings = parse(&text, &[]).findings;
    assert_eq!(findings[0].place.path, "cloth[0].material.density");
    assert_eq!(findings[0].place.origin, Origin::File { line: 4, column: 11, width: 4 });
    let snippet = "  |\n4 | density = -0.2 # light\n  |           ^^^^";
    assert_eq!(findings[0].snippet(&text).as_deref(), Some(snippet));
}

#[test]
fn an_override_is_one_value() {
    let message = Override::parse("fps=1\nduration=2").unwrap_err();
    assert_eq!(message, r#"the value of "fps=1\nduration=2" is not valid TOML: unexpected content, expected nothing"#);
}
