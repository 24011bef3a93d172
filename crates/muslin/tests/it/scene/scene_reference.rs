//! `docs/scenes.md` against the decoder: its examples are right, it has every key and no other, and types, limits and
//! defaults are those of the decoder.
//!
//! The decoder is asked by overrides: of a key that nobody knows it says which it knows, of a date, which no key takes,
//! what it wants instead.

use std::collections::{BTreeMap, BTreeSet};

use muslin::scene::{Finding, Override, Scene, parse};
use muslin::{Simulation, catalog};

const REFERENCE: &str = include_str!("../../../../../docs/scenes.md");
const README: &str = include_str!("../../../../../README.md");

const GRID: &str = "[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }\n";
const TUBE: &str = "[[cloth]]\ntube = { radius = 1, height = 1, cells = [4, 4] }\n";
const PIN: &str = "[[cloth.pins]]\nselect = \"all\"\npath = [{ time = 0 }]\n";
const BALL: &str = "[[cloth.pins]]\nwithin = { center = [0, 0, 0], radius = 1 }\n";
const REGION: &str = "[[cloth.pins]]\nwithin = { min = [-1, -1, -1], max = [1, 1, 1] }\n";
const PLANE: &str = "[[collider]]\nplane = { point = [0, 0, 0], normal = [0, 1, 0] }\npath = [{ time = 0 }]\n";

const MESH: &str = "[[collider]]\nmesh = { file = \"a.obj\", frames = \"a.npy\" }\n";

/// A table of a scene: a scene that has it, and its path.
struct Probe {
    text: String,
    path: String,
}

impl Probe {
    fn new(text: &str, path: &str) -> Self {
        Self { text: text.to_owned(), path: path.to_owned() }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The keys that the decoder knows here.
    fn known(&self) -> BTreeSet<String> {
        let findings = findings_of(&self.text, &format!("{}=1", self.path_of("xxxxxxxxxxxx")));
        let list = findings.iter().find_map(|finding| Some(finding.message.split_once("known here: ")?.1));
        list.unwrap_or_else(|| panic!("{}: {findings:?}", self.path)).split(", ").map(str::to_owned).collect()
    }

    /// The keys that must be given, if the decoder says so key by key.
    fn required(&self) -> BTreeSet<String> {
        let findings = findings_of(&self.text, &format!("{}={{}}", self.path));
        findings.iter().filter_map(|f| Some(f.message.split_once(" is missing;")?.0.to_owned())).collect()
    }

    /// What the decoder wants of a key, and of the elements of an array, in the words of the reference.
    fn wants(&self, key: &str) -> (String, String) {
        let must = |value: &str| {
            let findings = findings_of(&self.text, &format!("{}={value}", self.path_of(key)));
            let words = |f: &Finding| Some(f.message.strip_prefix("must be ")?.split_once(", got ")?.0.to_owned());
            findings.iter().find_map(words).unwrap_or_default()
        };
        let whole = must("1979-05-27");
        let fixed = whole.strip_prefix("an array of ").and_then(|words| words.split_once(' '));
        match fixed.and_then(|(count, _)| count.parse::<usize>().ok()) {
            Some(count) => {
                let (kind, limits) = type_and_limits(&must(&format!("[{}]", vec!["1979-05-27"; count].join(", "))));
                (format!("{count} {kind}s"), format!("each {limits}"))
            }
            None => type_and_limits(&whole),
        }
    }
}

/// Everything that is said of a scene with an override.
fn findings_of(text: &str, set: &str) -> Vec<Finding> {
    parse(text, &[Override::parse(set).unwrap_or_else(|message| panic!("{message}"))]).findings
}

/// The decoder's words for what it wants, in those of the reference.
fn type_and_limits(words: &str) -> (String, String) {
    let whole = words.replacen("a finite number of", "a finite number", 1);
    for (start, kind) in [("a finite number ", "number"), ("a number ", "number"), ("a whole number ", "whole number")]
    {
        if let Some(limits) = whole.strip_prefix(start) {
            return (kind.to_owned(), limits.to_owned());
        }
    }
    if let Some(list) = words.strip_prefix("one of ") {
        return ("word".to_owned(), list.replace('"', "`"));
    }
    let kind = words.strip_prefix("a ").or(words.strip_prefix("an ")).unwrap_or(words);
    kind.split_once(", ").map_or_else(
        || (kind.to_owned(), String::new()),
        |(kind, limits)| (kind.to_owned(), if limits.starts_with("each headed") { "" } else { limits }.to_owned()),
    )
}

/// A row of a table of the reference.
struct Row {
    key: String,
    kind: String,
    default: String,
    limits: String,
}

/// The tables of the reference that list keys, by the heading above them.
fn tables() -> BTreeMap<String, Vec<Row>> {
    let mut tables: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let mut heading = String::new();
    for line in REFERENCE.lines() {
        if let Some(title) = line.strip_prefix("## ").or(line.strip_prefix("### ")) {
            heading = title.replace('`', "");
        }
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix('|')) else { continue };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        let [key, kind, _unit, default, limits, meaning] = cells[..] else { panic!("six columns: {line}") };
        if key == "key" {
            assert_eq!([kind, default, limits], ["type", "default", "limits"], "{line}");
            continue;
        }
        assert_ne!(meaning, "", "{line}");
        let key = key.replace('`', "");
        let [kind, default, limits] = [kind, default, limits].map(str::to_owned);
        tables.entry(heading.clone()).or_default().push(Row { key, kind, default, limits });
    }
    tables
}

/// Compares the tables under some headings with the decoder, which knows the keys of `probes` together.
fn compare(tables: &BTreeMap<String, Vec<Row>>, headings: &[&str], probes: &[Probe], known: &BTreeSet<String>) {
    let rows: Vec<&Row> = headings.iter().flat_map(|heading| &tables[*heading]).collect();
    let listed: BTreeSet<String> = rows.iter().map(|row| row.key.clone()).collect();
    assert_eq!(listed, *known, "the keys in docs/scenes.md (left) and those of the decoder (right): {headings:?}");
    for row in rows {
        let place = format!("{headings:?} {}", row.key);
        let probe = probes.iter().find(|probe| probe.known().contains(&row.key)).expect("one that knows it");
        let (kind, limits) = probe.wants(&row.key);
        assert_eq!(row.kind, kind, "the type of {place}");
        if !limits.is_empty() {
            assert_eq!(row.limits.split(';').next(), Some(limits.as_str()), "the limits of {place}");
        }
        if !probe.path.is_empty() {
            let is_required = probe.required().contains(&row.key);
            assert_eq!(row.default == "required", is_required, "whether {place} is required");
        }
        check_default(probe, row);
    }
}

/// A default that is a value changes nothing where it is given.
fn check_default(probe: &Probe, row: &Row) {
    let value = row.default.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    if let Some(value) = value.filter(|value| !value.contains('`')) {
        let set = format!("{}={value}", probe.path_of(&row.key));
        let given = parse(&probe.text, &[Override::parse(&set).expect("an override")]);
        assert_eq!(given.findings, [], "{set}");
        let [given, silent] =
            [given, parse(&probe.text, &[])].map(|outcome| outcome.scene.map(|scene| scene.to_toml()));
        assert_eq!(given, silent, "the default of {}", probe.path_of(&row.key));
    }
}

/// Keys that at least two of the probes know: the others are of one model or solver, and `muslin models` lists them.
fn shared(probes: &[Probe]) -> BTreeSet<String> {
    let known: Vec<BTreeSet<String>> = probes.iter().map(Probe::known).collect();
    let all: BTreeSet<String> = known.iter().flatten().cloned().collect();
    all.into_iter().filter(|key| known.iter().filter(|keys| keys.contains(key)).count() >= 2).collect()
}

#[test]
fn the_reference_has_every_key_as_the_decoder_has_it() {
    let tables = tables();
    let mut left: BTreeSet<String> = tables.keys().cloned().collect();
    let mut check = |headings: &[&str], probes: &[Probe], known: Option<BTreeSet<String>>| {
        let known = known.unwrap_or_else(|| probes.iter().flat_map(Probe::known).collect());
        compare(&tables, headings, probes, &known);
        left.retain(|heading| !headings.contains(&heading.as_str()));
    };
    let pin = |pin: &str| format!("{GRID}{pin}");
    let simple = [
        ("Top level", GRID.to_owned(), ""),
        ("[wind]", GRID.to_owned(), "wind"),
        ("[contact]", GRID.to_owned(), "contact"),
        ("[view]", GRID.to_owned(), "view"),
        ("[[cloth]]", GRID.to_owned(), "cloth.0"),
        ("grid", GRID.to_owned(), "cloth.0.grid"),
        ("tube", TUBE.to_owned(), "cloth.0.tube"),
        ("[cloth.material]", GRID.to_owned(), "cloth.0.material"),
        ("path", pin(PIN), "cloth.0.pins.0.path.0"),
        ("mesh", pin(MESH), "collider.0.mesh"),
    ];
    for (heading, text, path) in simple {
        check(&[heading], &[Probe::new(&text, path)], None);
    }
    for kind in catalog::shapes() {
        let name = kind.entry.name;
        // What has a default is left out, so that the default is compared.
        let required = kind.entry.parameters.iter().filter(|parameter| parameter.default.is_none());
        let example = (kind.example)();
        let keys = required.map(|p| format!("{} = {}", p.name, example.get(p.name).expect("an example has it")));
        let text = format!("{GRID}[[collider]]\n{name} = {{ {} }}\n", keys.collect::<Vec<_>>().join(", "));
        check(&[name], &[Probe::new(&text, &format!("collider.0.{name}"))], None);
    }
    check(&["[[cloth.pins]]", "Motion"], &[Probe::new(&pin(PIN), "cloth.0.pins.0")], None);
    check(&["[[collider]]", "Motion"], &[Probe::new(&pin(PLANE), "collider.0")], None);
    check(&["within"], &[BALL, REGION].map(|region| Probe::new(&pin(region), "cloth.0.pins.0.within")), None);

    let of_solver = |name| Probe::new(&format!("{GRID}[solver]\nkind = {name:?}\n"), "solver");
    let solvers: Vec<Probe> = catalog::solvers().map(|entry| of_solver(entry.name)).collect();
    check(&["[solver]"], &solvers, Some(shared(&solvers)));

    let of_model = |family: &str, name: &str| {
        // With one of the raw forms, for models that need one, or with the one solver that takes them.
        let text = |more: &str| format!("{GRID}[cloth.material.{family}]\nmodel = {name:?}\n{more}");
        let texts = [text(""), text("compliance = 1.0\n"), text("[solver]\nkind = \"projective\"\n")];
        let text = texts.into_iter().find(|text| parse(text, &[]).scene.is_some());
        Probe::new(&text.expect("a sound scene"), &format!("cloth.0.material.{family}"))
    };
    let stretch = catalog::stretch_models().map(|entry| of_model("stretch", entry.name));
    let models: Vec<Probe> = stretch.chain(catalog::bend_models().map(|entry| of_model("bend", entry.name))).collect();
    check(&["stretch and bend"], &models, Some(shared(&models)));

    assert_eq!(left, BTreeSet::new(), "every table is compared");
}

/// The scenes in a document: its fenced blocks of TOML.
fn examples(document: &str) -> Vec<Scene> {
    let blocks: Vec<&str> = document.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let scene = |text: &&str| {
        let outcome = parse(text, &[]);
        assert_eq!(outcome.findings, [], "{text}");
        outcome.scene.expect("a scene without findings")
    };
    blocks.iter().map(scene).collect()
}

#[test]
fn the_examples_run() {
    let [reference, readme] = [REFERENCE, README].map(examples);
    assert_eq!((reference.len(), readme.len()), (3, 1), "examples");
    for scene in reference.iter().chain(&readme) {
        let mut simulation =
            Simulation::new(scene, 1, &mut |file| Err(format!("no mesh {file}"))).expect("it compiles");
        assert_eq!(simulation.warnings(), [], "{}", scene.name);
        simulation.advance().expect("a frame");
    }
}
