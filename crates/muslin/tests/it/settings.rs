//! Every setting of every solver, model and shape, from code and from a scene file: the same defaults, the same limits, the same words.

use muslin::catalog;
use muslin::contact::{Capsule, Cuboid, Cylinder, Plane, Sphere, Torus};
use muslin::energy::bend::{buckling, cubic_shell, dihedral, distance, hinge_force, isometric, projective, shell};
use muslin::energy::stretch::{baraff_witkin, neo_hookean, shape_matching, spring, stvk};
use muslin::energy::{NoEnergy, Stiffness};
use muslin::parameter::{Entry, Kind, Parameter, Setting, Settings};
use muslin::scene::{Choice, ColliderShape, Scene, parse};
use muslin::settings::Typed;
use muslin::shape::Shape;
use muslin::solver::{Auto, Explicit, Newton, Pbd, Projective, ShapeMatching, Vbd, Xpbd};
use muslin::validate;

const CLOTH: &str = "[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }\n";

/// Which table of a scene.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    Solver,
    Stretch,
    Bend,
    Shape,
}

impl Family {
    /// A scene with an entry chosen and keys in its table.
    fn text(self, entry: &Entry, keys: &str) -> String {
        let name = entry.name;
        // Projective dynamics is defined for few models, the others for most.
        let other = "stretch.model = \"none\"\nbend.model = \"none\"\n";
        let solver = if name == "shape_matching" { "projective" } else { "newton" };
        let solver = if keys.starts_with("k =") { "pbd" } else { solver };
        match self {
            Self::Solver => format!("[solver]\nkind = \"{name}\"\n{keys}\n{CLOTH}[cloth.material]\n{other}"),
            Self::Stretch => format!(
                "solver.kind = \"{solver}\"\n{CLOTH}[cloth.material.bend]\nmodel = \"none\"\n[cloth.material.stretch]\nmodel = \"{name}\"\n{keys}\n"
            ),
            Self::Bend => format!(
                "solver.kind = \"{solver}\"\n{CLOTH}[cloth.material.stretch]\nmodel = \"none\"\n[cloth.material.bend]\nmodel = \"{name}\"\n{keys}\n"
            ),
            Self::Shape => format!("{CLOTH}[[collider]]\n[collider.{name}]\n{keys}\n"),
        }
    }

    fn place(self) -> &'static str {
        match self {
            Self::Solver => "solver",
            Self::Stretch => "cloth[0].material.stretch",
            Self::Bend => "cloth[0].material.bend",
            Self::Shape => "collider[0]",
        }
    }

    fn choice(self, scene: &mut Scene) -> &mut Choice {
        match self {
            Self::Solver => &mut scene.solver,
            Self::Stretch => &mut scene.cloths[0].material.stretch,
            Self::Bend => &mut scene.cloths[0].material.bend,
            Self::Shape => match &mut scene.colliders[0].shape {
                ColliderShape::Solid(choice) => choice,
                other => panic!("{other:?}"),
            },
        }
    }
}

/// A shape of the library: its struct has the settings.
struct TypedShape(Choice);

impl TypedShape {
    fn boxed(shape: impl Shape + 'static) -> Box<dyn Typed> {
        match ColliderShape::new(shape) {
            ColliderShape::Solid(choice) => Box::new(Self(choice)),
            other => panic!("{other:?}"),
        }
    }
}

impl Typed for TypedShape {
    fn entry(&self) -> &'static Entry {
        self.0.entry
    }

    fn settings(&self) -> Settings {
        self.0.settings.clone()
    }
}

/// Settings that a scene has to give: those of a shape, and the form of a model without a default form.
fn needed(typed: &dyn Typed) -> Settings {
    let is_needed = |key: &str| {
        let parameter = typed.entry().parameters.iter().find(|parameter| parameter.name == key);
        key == "compliance" || parameter.is_some_and(|parameter| parameter.default.is_none())
    };
    typed.settings().iter().filter(|(key, _)| is_needed(key)).collect()
}

/// The lines of a table.
fn lines(settings: &Settings) -> String {
    settings.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

fn typed() -> Vec<(Family, Box<dyn Typed>)> {
    let solver = |typed: Box<dyn Typed>| (Family::Solver, typed);
    let stretch = |typed: Box<dyn Typed>| (Family::Stretch, typed);
    let bend = |typed: Box<dyn Typed>| (Family::Bend, typed);
    let shape = |typed: Box<dyn Typed>| (Family::Shape, typed);
    let compliance = Some(Stiffness::Compliance(1e-4));
    let (center, axis, [a, b]) = ([0.1, 0.2, -0.3], [0.0, 1.0, 0.0], [[0.0; 3], [0.5, 0.0, 0.0]]);
    vec![
        solver(Box::<Xpbd>::default()),
        solver(Box::<Pbd>::default()),
        solver(Box::<Newton>::default()),
        solver(Box::<Vbd>::default()),
        solver(Box::<Projective>::default()),
        solver(Box::<Explicit>::default()),
        solver(Box::<ShapeMatching>::default()),
        solver(Box::<Auto>::default()),
        stretch(Box::<spring::Spring>::default()),
        stretch(Box::<baraff_witkin::BaraffWitkin>::default()),
        stretch(Box::<stvk::Stvk>::default()),
        stretch(Box::<neo_hookean::NeoHookean>::default()),
        stretch(Box::<shape_matching::ShapeMatchingStretch>::default()),
        stretch(Box::<NoEnergy>::default()),
        bend(Box::<isometric::Isometric>::default()),
        bend(Box::<dihedral::Dihedral>::default()),
        bend(Box::<hinge_force::HingeForce>::default()),
        bend(Box::<cubic_shell::CubicShell>::default()),
        bend(Box::<projective::ProjectiveBend>::default()),
        bend(Box::<shell::Shell>::default()),
        bend(Box::new(distance::Distance { stiffness: compliance, ..Default::default() })),
        bend(Box::<buckling::Buckling>::default()),
        bend(Box::<NoEnergy>::default()),
        shape(TypedShape::boxed(Plane { point: center, normal: axis })),
        shape(TypedShape::boxed(Sphere { center, radius: 0.2 })),
        shape(TypedShape::boxed(Capsule { a, b, radius: 0.2 })),
        shape(TypedShape::boxed(Cuboid { center, size: [0.1, 0.2, 0.3], rotate: [0.0; 3] })),
        shape(TypedShape::boxed(Cylinder { a, b, radius: 0.2 })),
        shape(TypedShape::boxed(Torus { center, axis, major_radius: 0.3, minor_radius: 0.1 })),
    ]
}

/// What the reader of scenes makes of a text, or all that it says, without the line.
fn read(text: &str) -> Result<Scene, Vec<String>> {
    let outcome = parse(text, &[]);
    let said = outcome.findings.iter().map(|finding| format!("{}: {}", finding.place.path, finding.message)).collect();
    outcome.scene.ok_or(said)
}

#[test]
fn every_entry_has_typed_settings_in_the_order_of_the_catalogue() {
    let all = typed();
    let of = |family: Family| all.iter().filter(move |(f, _)| *f == family).map(|(_, t)| t.entry()).collect::<Vec<_>>();
    assert_eq!(of(Family::Solver), catalog::solvers().collect::<Vec<_>>());
    assert_eq!(of(Family::Stretch), catalog::stretch_models().collect::<Vec<_>>());
    assert_eq!(of(Family::Bend), catalog::bend_models().collect::<Vec<_>>());
    assert_eq!(of(Family::Shape), catalog::shapes().map(|kind| &kind.entry).collect::<Vec<_>>());
}

/// Struct fields have the names of the table: what is said is known, and every default that is not left open is said.
#[test]
fn typed_defaults_are_those_of_the_table() {
    for (family, typed) in typed() {
        let (entry, settings) = (typed.entry(), typed.settings());
        for (key, value) in settings.iter() {
            let parameter = entry.parameters.iter().find(|p| p.name == key);
            let parameter = parameter.unwrap_or_else(|| panic!("{} has no {key}", entry.name));
            let is_needed = key == "compliance" || family == Family::Shape && parameter.default.is_none();
            assert!(parameter.default == Some(value) || is_needed, "{}.{key}: {value}", entry.name);
        }
        // `beta` is a part of the mode, and said with it.
        let is_open = |p: &Parameter| p.name == "stiffness" || p.name == "beta" || p.default.is_none();
        for parameter in entry.parameters.iter().filter(|p| !is_open(p)) {
            assert!(settings.get(parameter.name).is_some(), "{} does not say {}", entry.name, parameter.name);
        }
    }
}

#[test]
fn code_and_files_have_the_same_defaults() {
    for (family, typed) in typed() {
        let text = family.text(typed.entry(), &lines(&needed(&*typed)));
        let mut scene = read(&text).unwrap_or_else(|said| panic!("{said:?}"));
        let choice = family.choice(&mut scene);
        assert_eq!(choice.entry, typed.entry());
        for (key, value) in typed.settings().iter() {
            assert_eq!(choice.settings.get(key), Some(value), "{}.{key}", choice.entry.name);
        }
    }
}

/// Values of a kind at and beyond its limits.
fn trials(kind: Kind) -> Vec<Setting> {
    match kind {
        Kind::Number { min, max } => {
            [min, max, min - 1.0, max * 2.0, f64::NAN, f64::INFINITY, 0.5 * (min + max.min(min + 1.0))]
                .map(Setting::Number)
                .to_vec()
        }
        Kind::Positive => [0.0, -1.0, 2.5, f64::NAN, f64::INFINITY].map(Setting::Number).to_vec(),
        Kind::Integer { min, max } => [min, max, min - 1, max + 1].map(Setting::Integer).to_vec(),
        Kind::Choice(words) => words.iter().map(|word| Setting::Choice(word)).collect(),
        Kind::Point | Kind::Vector { .. } | Kind::Direction => {
            let component = kind.component().expect("three numbers");
            let numbers = trials(component).into_iter().filter_map(|trial| match trial {
                Setting::Number(x) => Some(x),
                _ => None,
            });
            let one_or_all = |x: f64| [[0.5, x, 0.25], [x; 3]];
            let short = [[0.0; 3], [0.0, 1e-9, 0.0], [1e-3; 3]];
            numbers.flat_map(one_or_all).chain(short).map(Setting::Vector).collect()
        }
    }
}

#[test]
fn code_and_files_take_and_refuse_the_same_values_with_the_same_words() {
    let mut refused = 0;
    for (family, typed) in typed() {
        let entry = typed.entry();
        for parameter in entry.parameters {
            for value in trials(parameter.kind) {
                // What is needed besides: not what is tried, nor another form of it.
                let is_form = |key: &str| entry.one_of.contains(&key);
                let is_other = |key: &str| key != parameter.name && !(is_form(key) && is_form(parameter.name));
                let others: Settings = needed(&*typed).iter().filter(|(key, _)| is_other(key)).collect();
                let text = family.text(entry, &format!("{} = {value}\n{}", parameter.name, lines(&others)));
                let from_file = read(&text);

                let sound = family.text(entry, &lines(&needed(&*typed)));
                let mut scene = read(&sound).unwrap_or_else(|said| panic!("{said:?}"));
                if text.contains("\"pbd\"") && family != Family::Solver {
                    scene.solver = read(&text).map_or_else(
                        |_| read(&format!("solver.kind = \"pbd\"\n{CLOTH}")).expect("a scene").solver,
                        |scene| scene.solver,
                    );
                }
                let choice = family.choice(&mut scene);
                let settings = choice.settings.iter().filter(|(other, _)| *other == parameter.name || is_other(other));
                let mut changed: Settings = settings.collect();
                changed.set(parameter.name, value);
                choice.settings = changed;
                let said: Vec<String> = validate::check(&scene).iter().map(ToString::to_string).collect();
                match from_file {
                    Ok(_) => assert_eq!(said, Vec::<String>::new(), "{text}"),
                    Err(expected) => {
                        refused += 1;
                        assert_eq!(said, expected, "{text}");
                        assert!(said[0].starts_with(family.place()), "{said:?}");
                    }
                }
            }
        }
    }
    assert!(refused > 100, "only {refused} were refused: were limits tried?");
}

#[test]
fn a_misspelt_key_an_unknown_model_and_a_missing_setting_are_errors() {
    let sound = read(&format!("solver.kind = \"xpbd\"\n{CLOTH}")).expect("a scene");
    let said = |scene: &Scene| validate::check(scene).iter().map(ToString::to_string).collect::<Vec<_>>();

    let mut scene = sound.clone();
    let stretch = &mut scene.cloths[0].material.stretch;
    stretch.settings = [("stifness", Setting::Number(1000.0))].into_iter().collect();
    assert_eq!(
        said(&scene),
        ["cloth[0].material.stretch.stifness: unknown key of stretch model \"spring\"; did you mean `stiffness`?"]
    );

    let mut scene = sound.clone();
    scene.cloths[0].material.bend.entry = catalog::stretch_models().next().expect("a model");
    assert!(
        said(&scene)[0].starts_with("cloth[0].material.bend.model: unknown bend model \"spring\"; "),
        "{:?}",
        said(&scene)
    );

    let mut scene = sound;
    scene.solver.settings = scene.solver.settings.iter().filter(|(key, _)| *key != "iterations").collect();
    assert_eq!(said(&scene), ["solver.iterations: is missing; its default is 1"]);
    let refused = muslin::Simulation::new(&scene, 1, &mut |_| Err(String::new()));
    assert_eq!(refused.err().map(|e| e.to_string()), Some(said(&scene).join("\n")));
}
