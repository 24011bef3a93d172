//! `cargo xtask peers`: one folding scene in Muslin, in Rapier's cloth and in Blender's, in one run.
//!
//! The programs are in `benches/peers`, which is not part of the workspace; Blender is the package `bpy` in an environment of its own. Each run has
//! a budget of processor time. The IPC Toolkit looks at every frame of every run. What is measured goes into a table and into
//! `target/peers/peers.csv`.

use std::fs;

use crate::Failure;
use crate::readers::{environment, fresh};
use crate::shell::{cargo, on, program, root, run as run_program, target};

/// The whole scene.
const FRAMES: usize = 210;

/// A way to run a peer: its own defaults first, then what makes it better.
struct Setting {
    peer: &'static str,
    label: &'static str,
    keys: &'static [&'static str],
}

const SETTINGS: &[Setting] = &[
    Setting { peer: "muslin", label: "the scene", keys: &[] },
    Setting { peer: "muslin", label: "fewer substeps", keys: &["solver.substeps=25"] },
    Setting { peer: "rapier", label: "defaults", keys: &[] },
    // The material cannot be stiffer than the substeps allow: both go up together.
    Setting { peer: "rapier", label: "stiffer", keys: &["hertz=1000", "iterations=16"] },
    // Thinner and softer in bending, so that it folds as Muslin's cloth does.
    Setting { peer: "rapier", label: "thin", keys: &["hertz=1000", "iterations=16", "radius=0.17", "bend_hertz=1"] },
    Setting { peer: "blender", label: "defaults", keys: &[] },
    Setting {
        peer: "blender",
        label: "stiffer",
        keys: &[
            "quality=20",
            "tension_stiffness=80",
            "compression_stiffness=80",
            "shear_stiffness=80",
            "collision_quality=5",
        ],
    },
    Setting {
        peer: "blender",
        label: "thin",
        keys: &[
            "quality=20",
            "tension_stiffness=80",
            "compression_stiffness=80",
            "shear_stiffness=80",
            "collision_quality=5",
            "distance=0.17",
            "body_friction=80",
        ],
    },
];

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Choice {
    /// Cells along a side of the cloth.
    sizes: Vec<u32>,
    peers: Vec<String>,
    /// Seconds of processor time for a run.
    budget: u32,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let choice = choose(arguments)?;
    let folder = root().join("benches/peers");
    let python = environment("python-peers", &folder.join("requirements.txt"))?;
    let build = target().join("peers");
    run_program(
        cargo(["build", "--release", "--locked", "--manifest-path", "benches/peers/Cargo.toml"])
            .env("CARGO_TARGET_DIR", &build),
    )?;
    let runs = fresh(&target().join("peers/runs"))?;
    let asked = |setting: &&Setting| choice.peers.iter().any(|peer| peer == setting.peer);
    for cells in &choice.sizes {
        for (number, setting) in SETTINGS.iter().filter(asked).enumerate() {
            let out = runs.join(format!("{cells:04}-{number}-{}", setting.peer));
            fs::create_dir_all(&out).map_err(on(&out))?;
            let about = format!("{}\n{}\n{}\n", setting.peer, setting.label, setting.keys.join(" "));
            fs::write(out.join("about.txt"), about).map_err(on(&out))?;
            let mut command = if setting.peer == "blender" {
                let mut command = program(&python);
                command.arg(folder.join("blender.py"));
                command
            } else {
                let mut command = program(build.join("release/peers"));
                command.arg(setting.peer);
                command
            };
            let numbers = [cells.to_string(), FRAMES.to_string(), choice.budget.to_string()];
            // A peer that fails is a result too.
            if let Err(failure) = run_program(command.arg(&out).args(numbers).args(setting.keys)) {
                fs::write(out.join("failure.txt"), failure.to_string()).map_err(on(&out))?;
            }
        }
    }
    let table = target().join("peers/peers.csv");
    run_program(program(&python).arg(folder.join("judge.py")).arg(&runs).arg(&table))
}

fn choose(arguments: &[String]) -> Result<Choice, Failure> {
    let mut choice = Choice {
        sizes: vec![32, 64, 100],
        peers: ["muslin", "rapier", "blender"].map(String::from).into(),
        budget: 300,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| Failure::Usage(format!("`{word}` needs a value")))?;
        let number = |text: &str| {
            text.parse::<u32>()
                .ok()
                .filter(|number| *number > 0)
                .ok_or_else(|| Failure::Usage(format!("`{text}` is no number")))
        };
        match word.as_str() {
            "--sizes" => choice.sizes = value.split(',').map(number).collect::<Result<_, _>>()?,
            "--budget" => choice.budget = number(value)?,
            "--only" => {
                choice.peers = value.split(',').map(str::to_owned).collect();
                if let Some(wrong) =
                    choice.peers.iter().find(|peer| SETTINGS.iter().all(|one| one.peer != peer.as_str()))
                {
                    return Err(Failure::Usage(format!(
                        "there is no peer `{wrong}`; they are muslin, rapier, blender"
                    )));
                }
            }
            _ => {
                return Err(Failure::Usage(format!("there is no option `{word}`; they are --sizes, --only, --budget")));
            }
        }
    }
    Ok(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(words: &str) -> Result<Choice, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        choose(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn sizes_peers_and_budgets_are_read() {
        let choice = chosen("--sizes 8,16 --only rapier --budget 5").expect("a choice");
        assert_eq!(choice, Choice { sizes: vec![8, 16], peers: vec!["rapier".to_owned()], budget: 5 });
        assert_eq!(chosen("").expect("defaults").peers.len(), 3);
        assert_eq!(
            chosen("--only maya").expect_err("unknown"),
            "there is no peer `maya`; they are muslin, rapier, blender"
        );
        assert_eq!(chosen("--sizes 0").expect_err("nothing"), "`0` is no number");
        assert!(chosen("--sizes").is_err() && chosen("--fast 1").is_err());
    }

    #[test]
    fn every_peer_is_run_with_its_own_defaults() {
        for peer in ["muslin", "rapier", "blender"] {
            assert!(SETTINGS.iter().any(|setting| setting.peer == peer && setting.keys.is_empty()), "{peer}");
        }
    }
}
