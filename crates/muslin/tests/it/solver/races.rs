//! No two threads touch one item between two barriers if one of them sets it: every solver, under a stamped team.
//!
//! A stamped team shares every pass, however few items it has, so small scenes show what large ones do.

use muslin::Simulation;
use muslin::parallel::Team;
use muslin::parameter::Kind;
use muslin::scene::{Override, parse};
use muslin::solver::SOLVERS;

const SCENES: [(&str, &str); 4] = [
    ("wind", include_str!("../../../../../validation/scenes/wind.toml")),
    ("bodies", include_str!("../../../../../validation/scenes/bodies.toml")),
    ("fold", include_str!("../../../../../validation/scenes/fold.toml")),
    ("tube", include_str!("../../../../../validation/scenes/tube.toml")),
];

/// Every choice of every solver's words, with few substeps.
fn settings() -> Vec<String> {
    let mut all = Vec::new();
    for kind in SOLVERS {
        let name = kind.entry.name;
        let has = |key: &str| kind.entry.parameters.iter().any(|parameter| parameter.name == key);
        let mut base = format!("kind = {name:?}");
        if has("substeps") {
            base += if name == "explicit" { ", substeps = 60" } else { ", substeps = 2" };
        }
        all.push(base.clone());
        for parameter in kind.entry.parameters {
            if let Kind::Choice(words) = parameter.kind {
                all.extend(words.iter().map(|word| format!("{base}, {} = {word:?}", parameter.name)));
            }
        }
        if has("max_strain") {
            all.extend(["f32", "f64"].map(|p| format!("{base}, max_strain = 0.001, precision = {p:?}")));
        }
    }
    all
}

/// The state after two frames; `None` where the solver gives up, which is the same on every team.
fn hash_on(text: &str, settings: &str, team: Team) -> Option<u64> {
    let change = Override::parse(&format!("solver={{ {settings} }}")).expect("an override");
    let scene = parse(text, &[change]).into_result().expect("a scene");
    let mut no_files = |file: &str| Err(format!("there is no file {file}"));
    let mut no_frames = |file: &str| Err(format!("there is no file {file}"));
    let mut simulation = Simulation::with_team(&scene, team, &mut no_files, &mut no_frames).expect("a simulation");
    for _ in 0..2 {
        if let Err(error) = simulation.advance() {
            assert!(!matches!(error, muslin::solver::StepError::Panicked { .. }), "{settings}: {error}");
            return None;
        }
    }
    Some(simulation.state().hash())
}

#[test]
fn no_solver_races() {
    let mut finished = 0;
    for (index, settings) in settings().iter().enumerate() {
        for (name, text) in SCENES {
            let expected = hash_on(text, settings, Team::solo());
            // Both numbers of threads for every solver, and both widths of registers.
            let team = Team::new(2 + index % 2).expect("threads").stamped();
            let team = if index % 3 == 2 { team.narrow() } else { team };
            assert_eq!(hash_on(text, settings, team), expected, "{settings}, {name}");
            finished += usize::from(expected.is_some());
        }
    }
    assert!(finished > 100, "{finished} cases came to their end");
}
