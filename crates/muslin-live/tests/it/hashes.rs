//! The pinned hashes: what every built-in scene, solver and model computes, to the last bit.
//!
//! `validation/hashes.txt` holds the last state of each case. `cargo xtask bless` writes it again; it asks for the
//! reason and puts it into the changelog, and `cargo xtask tidy` compares the two.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use muslin::catalog;
use muslin::scene::{self, Override};
use muslin_scenes::builtin::{BUILTINS, Builtin};
use muslin_scenes::mesh_files::MeshFiles;

/// Set by `cargo xtask bless`: the file is written and not compared.
const BLESS: &str = "MUSLIN_BLESS";

/// Frames of a built-in scene.
const BUILTIN_FRAMES: usize = 30;

/// Frames of a small scene.
const SMALL_FRAMES: usize = 8;

/// Small scenes, each with a part of the program of its own. `page/scripts/hashes.mjs` runs the same files, cases and numbers of frames in
/// WebAssembly.
const SMALL: [(&str, &str); 4] = [
    ("wind", include_str!("../../../../validation/scenes/wind.toml")),
    ("bodies", include_str!("../../../../validation/scenes/bodies.toml")),
    ("fold", include_str!("../../../../validation/scenes/fold.toml")),
    ("tube", include_str!("../../../../validation/scenes/tube.toml")),
];

/// One line of the file: what is run.
struct Case {
    name: String,
    text: String,
    overrides: Vec<String>,
    files: &'static [(&'static str, &'static [u8])],
    frames: usize,
}

/// Every built-in scene; every solver and every pair of a solver and a model that goes together, in every small scene.
fn cases() -> Vec<Case> {
    let builtin = |scene: &'static Builtin| Case {
        name: format!("builtin {}", scene.name),
        text: scene.text.to_owned(),
        overrides: Vec::new(),
        files: scene.files,
        frames: BUILTIN_FRAMES,
    };
    let mut cases: Vec<Case> = BUILTINS.iter().map(builtin).collect();
    let mut small = |name: String, text: &str, overrides: Vec<String>| {
        cases.push(Case { name, text: text.to_owned(), overrides, files: &[], frames: SMALL_FRAMES });
    };
    for (scene, text) in SMALL {
        for solver in catalog::solvers() {
            let kind = format!("solver.kind={:?}", solver.name);
            small(format!("{scene} {}", solver.name), text, vec![kind]);
        }
        let pairings = (catalog::stretch_pairings().map(|pairing| ("stretch", pairing)))
            .chain(catalog::bend_pairings().map(|pairing| ("bend", pairing)));
        for (family, pairing) in pairings.filter(|(_, pairing)| pairing.is_defined) {
            let kind = format!("solver.kind={:?}", pairing.solver.name);
            // The one model without a default: PBD and shape matching read k, the others a compliance.
            let number = match (pairing.model.name, pairing.solver.name) {
                ("distance", "pbd" | "shape_matching") => ", k = 0.05",
                ("distance", _) => ", compliance = 0.05",
                _ => "",
            };
            let model = format!("cloth.0.material.{family}={{ model = {:?}{number} }}", pairing.model.name);
            let name = format!("{scene} {} {family} {}", pairing.solver.name, pairing.model.name);
            small(name, text, vec![kind, model]);
        }
    }
    cases
}

/// The hash of the last state, or in which frame or why there is none: that is pinned too.
fn outcome(case: &Case) -> String {
    let overrides: Vec<Override> =
        case.overrides.iter().map(|text| Override::parse(text).expect("an override")).collect();
    let scene = match scene::parse(&case.text, &overrides).into_result() {
        Ok(scene) => scene,
        Err(findings) => {
            return format!("refused: {}", findings.0.first().map_or("", |finding| finding.message.as_str()));
        }
    };
    let mut simulation = match MeshFiles::new(PathBuf::new(), case.files).simulation(&scene, 1) {
        Ok(simulation) => simulation,
        Err(error) => return format!("refused: {}", error.to_string().lines().next().unwrap_or_default()),
    };
    for frame in 1..=case.frames {
        if let Err(error) = simulation.advance() {
            return format!("failed in frame {frame}: {error}");
        }
    }
    format!("{:016x}", simulation.state().hash())
}

/// All outcomes, two at a time; each of them on one thread.
fn outcomes(cases: &[Case]) -> BTreeMap<String, String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = outcome(case);
                    found.lock().expect("nobody panics with it").insert(case.name.clone(), outcome);
                }
            });
        }
    });
    found.into_inner().expect("nobody panicked with it")
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/hashes.txt")
}

#[test]
fn every_scene_solver_and_model_has_its_pinned_hash() {
    let cases = cases();
    let found = outcomes(&cases);
    assert_eq!(found.len(), cases.len(), "every case has a name of its own");
    let text = cases.iter().fold(String::new(), |mut text, case| {
        let _ = writeln!(text, "{} = {}", case.name, found[&case.name]);
        text
    });
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(file(), text).expect("the file of hashes can be written");
        return;
    }
    let pinned = std::fs::read_to_string(file()).unwrap_or_default();
    let pinned: BTreeMap<&str, &str> = pinned.lines().filter_map(|line| line.split_once(" = ")).collect();
    let mut differences: Vec<String> = (found.iter())
        .filter(|(name, outcome)| pinned.get(name.as_str()) != Some(&outcome.as_str()))
        .map(|(name, outcome)| format!("{name}: {outcome}, pinned {}", pinned.get(name.as_str()).unwrap_or(&"nothing")))
        .collect();
    differences.extend(pinned.keys().filter(|name| !found.contains_key(**name)).map(|name| format!("{name}: gone")));
    assert!(
        differences.is_empty(),
        "{} of {} outcomes differ from validation/hashes.txt; if that is meant, `cargo xtask bless \"WHY\"`:\n{}",
        differences.len(),
        found.len(),
        differences.join("\n")
    );
}
