//! Scenes that nobody would write: whatever the text, there is an answer and no panic; whatever the scene, its text
//! reads back as the same scene.

use muslin::catalog;
use muslin::energy::{BEND, EnergyKind, STRETCH};
use muslin::mesh::Diagonals;
use muslin::parameter::{Entry, Kind, Parameter, Setting, Settings};
use muslin::scene::{
    BodyFrames, BodyMesh, Choice, Cloth, ClothShape, Collider, ColliderShape, Contact, Ease, Finding, Material,
    Override, Path, Pin, RestShape, Scene, Select, Selection, Start, View, Waypoint, Wind, parse,
};
use muslin::solver::{self, Need, SolverKind};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A scene with at least one of everything, to mutate.
const EVERYTHING: &str = r#"
name = "all of it"
duration = 2.5
fps = 24
gravity = [0, -9.81, 0.0]
stop_at_rest = 1e-3
wind = { velocity = [1, 0, 0], drag = 1.0, lift = 0.5, air_density = 1.2 }
solver = { kind = "pbd", substeps = 4, iterations = 0x14, precision = "f64" }
[contact]
self_contact = true
thickness = 2e-3
friction = 0.4
[view]
size = [640, 480]
eye = [0, 1, 3]
target = [0, 0, 0]
fov = 40
ground = true
ground_height = -1
[[cloth]]
name = "sheet"
grid = { size = [1.0, 1.0], cells = [32, 32], diagonals = "crossed" }
translate = [0, 1, 0]
rotate = [90, 0, 0]
color = [0.2, 0.3, 1]
[cloth.material]
fabric = 'wool'
damping = 0.1
stretch = { model = "spring", compliance = 1e-4, damping = 0 }
bend.model = "distance"
bend.k = 0.25
[[cloth.pins]]
within = { min = [-1, -1, -1], max = [1, 0, 1] }
until = 1.5
path = [{ time = 0 }, { time = 1, offset = [0, 0.5, 0], turn = 90 }]
axis = [0, 0, 1]
center = [0, 0, 0]
ease = "smooth"
[[cloth.pins]]
vertices = [0, 32]
[[cloth]]
tube = { radius = 0.2, height = 1.0, cells = [24, 40] }
[[cloth]]
mesh = "shirt.obj"
repair = true
scale = 0.01
[[collider]]
capsule = { a = [0, 0, 0], b = [0, 1, 0], radius = 0.1 }
[[collider]]
box = { center = [0, 0, 0], size = [1, 1, 1], rotate = [0, 45, 0] }
friction = 1
"#;

/// What a mutation puts in: punctuation of TOML, values of every kind, keys that are right elsewhere.
const SCRAPS: &[&str] = &[
    "",
    "\n",
    "\r\n",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    ".",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "#",
    "\\",
    "\\u0000",
    "\0",
    "\u{feff}",
    "é",
    "−",
    "nan",
    "-inf",
    "1e999",
    "-0.0",
    "0x",
    "0",
    "1",
    "-1",
    "99999999999999999999",
    "1_0",
    "true",
    "1979-05-27T07:32:00Z",
    "[]",
    "{}",
    "[[1], {}]",
    "[1,\n2]",
    "a.b.c = 1",
    "name",
    "cloth",
    "k = 0.5",
    "stiffness = 1",
    "model = \"none\"",
    "model = \"shell\"",
    "kind = \"newton\"",
    "[cloth.0]",
    "[[cloth]]",
    "[[collider]]",
    "path = 3",
];

/// What holds of any text: the scene is there unless something is wrong, and everything can be shown.
fn answer(text: &str, overrides: &[Override]) -> Option<Scene> {
    let outcome = parse(text, overrides);
    assert_eq!(outcome.scene.is_none(), outcome.findings.iter().any(Finding::is_error), "{text:?}");
    for finding in &outcome.findings {
        let line = finding.display("s.toml").to_string();
        assert!(!line.contains('\n'), "one line each: {line:?}");
        finding.snippet(text);
    }
    outcome.scene
}

fn round_trip(scene: &Scene) {
    let text = scene.to_toml();
    let again = answer(&text, &[]).unwrap_or_else(|| panic!("{:#?}\n{text}", parse(&text, &[]).findings));
    assert_eq!(&again, scene, "{text}");
    assert_eq!(again.to_toml(), text, "to the bit: -0.0 equals 0.0, but is not written so");
}

fn mutate(text: &str, mutations: &[(Index, Index, Index, u8)]) -> String {
    let mut text = text.to_owned();
    for (start, length, scrap, what) in mutations {
        let boundary = |at: usize| text.floor_char_boundary(at);
        let start = boundary(start.index(text.len() + 1));
        let end = boundary(start + length.index(24));
        let piece = text[start..end].to_owned();
        let scrap: &str = SCRAPS[scrap.index(SCRAPS.len())];
        match what % 4 {
            0 => text.replace_range(start..end, ""),
            1 => text.insert_str(end, &piece),
            2 => text.replace_range(start..end, scrap),
            _ => text.insert_str(start, scrap),
        }
    }
    text
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn any_text_is_answered(bytes in vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
        answer(&String::from_utf8_lossy(&bytes), &[]);
        answer(&text, &[]);
    }

    #[test]
    fn any_scraps_are_answered(scraps in vec(select(SCRAPS), 0..12)) {
        answer(&scraps.concat(), &[]);
        answer(&scraps.join(" "), &[]);
        answer(&scraps.join("\n"), &[]);
    }

    #[test]
    fn mutated_scenes_are_answered(mutations in vec(any::<(Index, Index, Index, u8)>(), 1..6)) {
        if let Some(scene) = answer(&mutate(EVERYTHING, &mutations), &[]) {
            round_trip(&scene);
        }
    }

    #[test]
    fn any_override_is_answered(
        keys in vec(select(&["cloth", "0", "2", "material", "bend", "k", "pins", "solver", "kind", "", "[1]", "é"][..]), 0..6),
        value in select(SCRAPS),
        text in "\\PC{0,20}",
    ) {
        for set in [format!("{}={value}", keys.join(".")), text] {
            if let Ok(change) = Override::parse(&set) {
                answer(EVERYTHING, &[change]);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_scene_reads_back_as_itself(scene in scenes()) {
        round_trip(&scene);
    }
}

#[test]
fn everything_is_right() {
    round_trip(&answer(EVERYTHING, &[]).expect("the scene to mutate has no mistake"));
}

#[test]
fn depth_is_harmless() {
    for (open, close) in [("[", "]"), ("{a=", "}"), ("{a.a.a.a.a.a.a.a.a.a=", "}"), ("[{a=", "}]")] {
        for depth in [10, 30, 79, 100_000] {
            answer(&format!("cloth = {}1{}", open.repeat(depth), close.repeat(depth)), &[]);
        }
    }
    for depth in [30, 79, 100_000] {
        let keys = "a.".repeat(depth);
        answer(&format!("{keys}a = 1\n[{keys}b]\n[[{keys}c]]\n"), &[]);
        assert!(Override::parse(&format!("{keys}a=1")).is_err(), "no scene is that deep");
    }
}

#[test]
fn size_is_harmless() {
    let many_keys: String = (0..20_000).map(|i| format!("key{i} = 0\n")).collect();
    answer(&many_keys, &[]);
    let one_line = format!("cloth = [{{ mesh = \"a\", pins = [{{ vertices = [{}] }}] }}]", "-1, ".repeat(100_000));
    answer(&one_line, &[]);
    answer(&"[[cloth]]\nmesh = \"a\"\n".repeat(2_000), &[]);
}

/// Any number of a range, its awkward ones more often than chance would.
fn number(min: f64, max: f64) -> BoxedStrategy<f64> {
    let awkward = [0.0, -0.0, 1.0, 0.1, 1e-3, 1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 1e6, 1e22, f64::MAX, min, max];
    let fitting: Vec<f64> = awkward.into_iter().filter(|x| x.is_finite() && *x >= min && *x <= max).collect();
    prop_oneof![select(fitting), min.max(-1e9)..max.min(1e9)].boxed()
}

fn vector() -> impl Strategy<Value = [f64; 3]> {
    [number(-1e6, 1e6), number(-1e6, 1e6), number(-1e6, 1e6)]
}

fn extent() -> BoxedStrategy<f64> {
    number(1e-6, 1e6)
}

fn direction() -> impl Strategy<Value = [f64; 3]> {
    (vector(), 0..3_usize, number(0.5, 1e6)).prop_map(|(mut v, axis, x)| {
        v[axis] = x;
        v
    })
}

fn setting(kind: Kind) -> BoxedStrategy<Setting> {
    match kind {
        Kind::Number { min, max } => number(min, max).prop_map(Setting::Number).boxed(),
        Kind::Positive => number(5e-324, f64::INFINITY).prop_map(Setting::Number).boxed(),
        Kind::Integer { min, max } => (min..=max).prop_map(Setting::Integer).boxed(),
        Kind::Choice(words) => select(words).prop_map(Setting::Choice).boxed(),
        Kind::Point => vector().prop_map(Setting::Vector).boxed(),
        Kind::Vector { min, max } => {
            [number(min, max), number(min, max), number(min, max)].prop_map(Setting::Vector).boxed()
        }
        Kind::Direction => direction().prop_map(Setting::Vector).boxed(),
    }
}

/// Any value of a parameter with which physics can be computed.
fn plausible(parameter: &Parameter) -> BoxedStrategy<Setting> {
    let (least, most) = match (parameter.name, parameter.unit) {
        ("compliance", _) => (1e-18, 1e18),
        (_, "N/m") => (1e-9, 1e12),
        (_, "N·m") => (1e-18, 1e9),
        (_, "s") => (0.0, 1e6),
        _ => return setting(parameter.kind),
    };
    let may_vanish = parameter.kind.allows(Setting::Number(0.0));
    let zero_or = move |setting| match setting {
        Setting::Number(x) if x == 0.0 && may_vanish => Setting::Number(x),
        Setting::Number(x) => Setting::Number(x.clamp(least, most)),
        setting => setting,
    };
    setting(parameter.kind).prop_map(zero_or).boxed()
}

/// Three numbers of at most this size.
fn of_size(most: f64) -> impl Strategy<Value = [f64; 3]> {
    [number(-most, most), number(-most, most), number(-most, most)]
}

/// Any settings of an entry, in the one order there is, but those that the solver of the scene refuses.
fn choice(entries: Vec<&'static Entry>, solver: Option<&'static SolverKind>) -> impl Strategy<Value = Choice> {
    let takes_all = solver.is_none_or(|kind| kind.needs == Need::Nothing);
    let reads_k = solver.is_some_and(|kind| kind.reads_k) || takes_all;
    let reads_damping = solver.is_some_and(|kind| kind.reads_damping) || takes_all;
    let takes_rigid = solver.is_some_and(|kind| kind.needs == Need::Constraints) || takes_all;
    select(entries).prop_flat_map(move |entry| {
        let forms: Vec<&str> = entry.one_of.iter().copied().filter(|form| reads_k || *form != "k").collect();
        let form = if forms.is_empty() { Just("").boxed() } else { select(forms).boxed() };
        let values: Vec<_> = entry.parameters.iter().map(plausible).collect();
        (form, values).prop_map(move |(form, values)| {
            let is_there = |p: &Parameter| p.name == form || p.default.is_some() && !entry.one_of.contains(&p.name);
            let mut settings = Settings::default();
            for (parameter, value) in entry.parameters.iter().zip(values).filter(|(p, _)| is_there(p)) {
                let is_refused = !reads_damping && parameter.name == "damping";
                settings.set(parameter.name, if is_refused { Setting::Number(0.0) } else { value });
            }
            if !takes_rigid && settings.number("compliance") == Some(0.0) {
                settings.set("compliance", Setting::Number(1.0));
            }
            // A rigid constraint has nothing to damp.
            if settings.number("compliance") == Some(0.0) && settings.number("damping").is_some() {
                settings.set("damping", Setting::Number(0.0));
            }
            Choice { entry, settings }
        })
    })
}

fn shape() -> impl Strategy<Value = ClothShape> {
    use Diagonals::{Alternating, Backward, Crossed, Forward, Isotropic};
    let diagonals = select(vec![Forward, Backward, Alternating, Crossed, Isotropic]);
    prop_oneof![
        ([extent(), extent()], [1..=8192_u32, 1..=8192], diagonals)
            .prop_map(|(size, cells, diagonals)| ClothShape::Grid { size, cells, diagonals }),
        (extent(), extent(), 3..=8192_u32, 1..=8192_u32).prop_map(|(radius, height, around, along)| ClothShape::Tube {
            radius,
            height,
            cells: [around, along]
        }),
        "(?s).{1,20}".prop_map(|file| ClothShape::Mesh { file }),
        ("[a-z]{3,20}\\.json", number(5e-4, 1.0))
            .prop_map(|(file, resolution)| ClothShape::Pattern { file, resolution }),
    ]
}

fn rest() -> impl Strategy<Value = RestShape> {
    prop_oneof![
        Just(RestShape::Mesh),
        extent().prop_map(|scale| RestShape::Uv { scale }),
        "[a-z]{3,20}\\.obj".prop_map(RestShape::File),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    use Select::{All, Corners, XMax, XMin, YMax, YMin, ZMax, ZMin};
    prop_oneof![
        vec(any::<u32>(), 1..5).prop_map(Selection::Vertices),
        select(vec![XMin, XMax, YMin, YMax, ZMin, ZMax, Corners, All]).prop_map(Selection::Named),
        (vector(), extent()).prop_map(|(center, radius)| Selection::Sphere { center, radius }),
        (vector(), vector()).prop_map(|(a, b)| {
            let (min, max) = (std::array::from_fn(|i| a[i].min(b[i])), std::array::from_fn(|i| a[i].max(b[i])));
            Selection::Box { min, max }
        }),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let waypoints = vec((0.001..10.0, vector(), number(-1e6, 1e6)), 1..4).prop_map(|steps| {
        let mut time = 0.0;
        let waypoint = |(step, offset, turn)| {
            time += step;
            Waypoint { time, offset, turn }
        };
        steps.into_iter().map(waypoint).collect::<Vec<_>>()
    });
    let moving = (waypoints, direction(), option::of(vector()), select(vec![Ease::Linear, Ease::Smooth]))
        .prop_map(|(waypoints, axis, center, ease)| Path { waypoints, axis, center, ease });
    prop_oneof![Just(Path::still()), moving]
}

/// The models among which a scene with this solver may choose.
fn suited(models: &'static [EnergyKind], solver: &'static SolverKind) -> Vec<&'static Entry> {
    models.iter().filter(|model| solver.needs.met_by(model.forms)).map(|model| &model.entry).collect()
}

fn material(solver: &'static SolverKind) -> impl Strategy<Value = Material> {
    // Without `k` a model whose only other form is missing cannot be written.
    let stretch = choice(suited(STRETCH, solver), Some(solver));
    let bend = choice(suited(BEND, solver), Some(solver));
    let fabric = option::of(select(catalog::fabrics().collect::<Vec<_>>()));
    (fabric, number(1e-6, 1e6), number(0.0, 1e6), stretch, bend)
        .prop_map(|(fabric, density, damping, stretch, bend)| Material { fabric, density, damping, stretch, bend })
}

fn cloth(solver: &'static SolverKind) -> impl Strategy<Value = Cloth> {
    let pin = (selection(), option::of(number(0.0, f64::INFINITY)), path()).prop_map(|(selection, until, path)| Pin {
        selection,
        until,
        path,
    });
    let channel = || number(0.0, 1.0);
    let placement = (vector(), vector(), extent(), of_size(1e4));
    let color = option::of([channel(), channel(), channel()]);
    let times = (option::of(number(0.0, 100.0)), option::of(number(0.0, 100.0)));
    (
        (shape(), rest(), times, option::of(number(0.0, 1.0))),
        any::<bool>(),
        placement,
        material(solver),
        vec(pin, 0..3),
        color,
    )
        .prop_map(
            |(
                (shape, rest, (close, settle), weld),
                repair,
                (translate, rotate, scale, velocity),
                material,
                pins,
                color,
            )| {
                let name = String::new();
                let is_pattern = matches!(shape, ClothShape::Pattern { .. });
                let rest = if is_pattern { RestShape::Uv { scale: 1.0 } } else { rest };
                let close_by = close.filter(|_| rest != RestShape::Mesh).or(is_pattern.then_some(1.0));
                let settle_by = settle.zip(close_by).map(|(settle, close)| settle + close);
                Cloth {
                    name,
                    shape,
                    rest,
                    close_by,
                    settle_by,
                    weld,
                    repair,
                    translate,
                    rotate,
                    scale,
                    velocity,
                    material,
                    pins,
                    color,
                }
            },
        )
}

fn body_frames() -> impl Strategy<Value = Option<BodyFrames>> {
    option::of(number(1e-3, 1e5).prop_map(|fps| BodyFrames { file: "b_*.obj".to_owned(), fps }))
}

/// Any shape of the catalogue that the decoder takes.
fn solid() -> impl Strategy<Value = ColliderShape> {
    select(catalog::shapes().collect::<Vec<_>>()).prop_flat_map(|kind| {
        let values: Vec<_> = kind.entry.parameters.iter().map(|parameter| setting(parameter.kind)).collect();
        let names = kind.entry.parameters.iter().map(|parameter| parameter.name);
        let settings = values.prop_map(move |values| names.clone().zip(values).collect::<Settings>());
        let sound = settings.prop_filter("settings that go together", |settings| kind.flaws(settings).is_empty());
        sound.prop_map(|settings| ColliderShape::Solid(Choice { entry: &kind.entry, settings }))
    })
}

fn collider() -> impl Strategy<Value = Collider> {
    let mesh = (body_frames(), vector(), vector(), extent()).prop_map(|(frames, translate, rotate, scale)| {
        ColliderShape::Mesh(BodyMesh { file: "a \"b\".obj".to_owned(), frames, translate, rotate, scale, given: None })
    });
    let shape = prop_oneof![4 => solid(), 1 => mesh];
    (shape, number(0.0, 1e3), path()).prop_map(|(shape, friction, path)| Collider {
        name: String::new(),
        shape,
        friction,
        path,
    })
}

fn view() -> impl Strategy<Value = View> {
    let eye_or_direction = prop_oneof![
        option::of(vector()).prop_map(|eye| (eye, None)),
        direction().prop_map(|direction| (None, Some(direction))),
    ];
    let size = [8..=2048_u32, 8..=2048].prop_map(|half| half.map(|n| 2 * n));
    let ground = (any::<bool>(), option::of(number(-1e6, 1e6)));
    (size, eye_or_direction, option::of(vector()), number(1.0, 170.0), ground)
        .prop_filter("eye and target differ", |(_, (eye, _), target, ..)| eye.is_none() || eye != target)
        .prop_map(|(size, (eye, direction), target, fov, (ground, ground_height))| View {
            size,
            eye,
            target,
            direction,
            fov,
            ground,
            ground_height,
        })
}

fn scenes() -> impl Strategy<Value = Scene> {
    choice(catalog::solvers().collect(), None).prop_flat_map(|solver| {
        let kind = solver::find(solver.entry.name).expect("it is in the catalogue");
        let wind = (of_size(340.0), number(0.0, 1e3), number(0.0, 1e3), number(0.0, 1e4))
            .prop_map(|(velocity, drag, lift, air_density)| Wind { velocity, drag, lift, air_density });
        let start = select(vec![Start::Error, Start::Untangle]);
        let contact = (any::<bool>(), number(0.0, 1.0), number(0.0, 1e3), start).prop_map(
            |(self_contact, thickness, friction, start)| Contact { self_contact, thickness, friction, start },
        );
        let times = (number(1e-9, 1000.0), number(1.0, 1000.0), option::of(number(5e-324, f64::INFINITY)));
        let things = (vec(cloth(kind), 1..3), vec(collider(), 0..3), view());
        ("[a-zé_][ a-z0-9._-]{0,8}[a-z]", times, of_size(1e4), wind, contact, things).prop_map(
            move |(name, (duration, fps, stop_at_rest), gravity, wind, contact, (mut cloths, mut colliders, view))| {
                for (i, cloth) in cloths.iter_mut().enumerate() {
                    cloth.name = format!("piece {i}");
                }
                for (i, collider) in colliders.iter_mut().enumerate() {
                    collider.name = format!("body {i}");
                }
                let solver = solver.clone();
                Scene { name, duration, fps, gravity, stop_at_rest, wind, solver, contact, cloths, colliders, view }
            },
        )
    })
}
