//! `cargo xtask bench peers`: the same work in Muslin and in the simulators that people would use instead, one table of ratios.
//!
//! The programs are in `benches/peers`, which is not part of the workspace: a script for each peer in Python, in an environment of its own, and a program
//! for the peers in Rust. That program also prepares the work: meshes, masses and stiffness as Muslin has them, and the converged motion to which all
//! are compared. Each run is a process of its own with one thread and a budget of processor time. `judge.py` looks at all of them.
//!
//! ```text
//! target/peers/work/WORKLOAD-SIDE/         arrays and work.json
//! target/peers/reference/WORKLOAD-SIDE/    the converged motion; kept, so delete it when the meaning of a workload changes
//! target/peers/runs/WORKLOAD-SIDE-PEER-…/  work.json with the settings, positions.npy, result.json
//! target/peers/peers.csv                   everything that was measured
//! ```
//!
//! Runs of earlier calls stay, and are in the table, until they are run again: so that it can be filled piece by piece. Delete the folder to start anew.

mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use self::settings::{SETTINGS, Setting};
use crate::Failure;
use crate::readers::{environment, fresh};
use crate::shell::{cargo, on, program, root, run as run_program, target};

const WORKLOADS: &[&str] = &["rows", "hang", "stiffest", "softest", "drape", "flag", "fold"];

/// How a peer is run.
struct Peer {
    name: &'static str,
    /// Its script and what is to be installed for it, in `benches/peers`; `None` for those in Rust.
    script: Option<(&'static str, &'static str)>,
}

const PEERS: &[Peer] = &[
    Peer { name: "muslin", script: None },
    Peer { name: "taichi", script: Some(("taichi_xpbd.py", JUDGE)) },
    Peer { name: "pypbd", script: Some(("pypbd_cloth.py", JUDGE)) },
    Peer { name: "newton", script: Some(("newton_warp.py", JUDGE)) },
    Peer { name: "mujoco", script: Some(("mujoco_flex.py", "requirements-mujoco.txt")) },
    Peer { name: "blender", script: Some(("blender.py", "requirements-blender.txt")) },
    Peer { name: "pybullet", script: Some(("pybullet_cloth.py", "requirements-pybullet.txt")) },
    Peer { name: "rapier", script: None },
];

/// What the judge needs, and the peers that agree with it about NumPy.
const JUDGE: &str = "requirements.txt";

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Choice {
    /// Vertices along a side of the cloth.
    sizes: Vec<u32>,
    workloads: Vec<String>,
    peers: Vec<String>,
    /// Seconds of processor time for a run.
    budget: u32,
}

/// `cargo xtask bench`: so far there is one.
pub(crate) fn bench(arguments: &[String]) -> Result<(), Failure> {
    match arguments.split_first() {
        Some((what, rest)) if what == "peers" => run(rest),
        _ => Err(Failure::Usage("cargo xtask bench peers; Muslin's own benchmarks are `muslin bench`".to_owned())),
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let choice = choose(arguments)?;
    let scripts = root().join("benches/peers");
    let folder = target().join("peers");
    let build = folder.join("build");
    run_program(
        cargo(["build", "--release", "--locked", "--manifest-path", "benches/peers/Cargo.toml"])
            .env("CARGO_TARGET_DIR", &build),
    )?;
    let own = build.join("release/peers");
    let judge = python(&scripts, JUDGE)?;
    let runs = folder.join("runs");
    for workload in &choice.workloads {
        for side in &choice.sizes {
            let name = format!("{workload}-{side:04}");
            let work = folder.join("work").join(&name);
            run_program(program(&own).args(["prepare", workload, &side.to_string()]).arg(&work))?;
            let reference = folder.join("reference").join(&name);
            // What folds is chaotic, and rows are counted: neither has a motion to be compared with.
            let is_compared = !["fold", "rows"].contains(&workload.as_str());
            if is_compared && !reference.join("positions.npy").exists() {
                run_program(program(&own).args(["reference", workload, &side.to_string()]).arg(&reference))?;
            }
            let work = work.join("work.json");
            let work = fs::read_to_string(&work).map_err(on(&work))?;
            let asked =
                |setting: &&Setting| setting.workloads.contains(&workload.as_str()) && choice.has_peer(setting.peer);
            for setting in SETTINGS.iter().filter(asked) {
                let label = setting.label.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_");
                let out = fresh(&runs.join(format!("{name}-{}-{label}", setting.peer)))?;
                // A sheet that hangs wrongly after half a second is not worth the other four and a half.
                let gate = HUNG.contains(&workload.as_str()).then_some(reference.as_path());
                let path = out.join("work.json");
                fs::write(&path, with_settings(&work, setting, choice.budget, gate)).map_err(on(&path))?;
                one(&scripts, &own, setting, &path, &out)?;
            }
        }
    }
    let table = folder.join("peers.csv");
    run_program(program(&judge).arg(scripts.join("judge.py")).arg(&runs).arg(folder.join("reference")).arg(&table))
}

/// Workloads with a limit to the distance from the converged motion.
const HUNG: &[&str] = &["hang", "stiffest", "softest"];

/// Runs one setting; a peer that fails is a result too.
fn one(scripts: &Path, own: &Path, setting: &Setting, work: &Path, out: &Path) -> Result<(), Failure> {
    let Some(peer) = PEERS.iter().find(|peer| peer.name == setting.peer) else { return Ok(()) };
    let command = match peer.script {
        None => {
            let mut command = program(own);
            command.arg(peer.name);
            Ok(command)
        }
        Some((script, requirements)) => python(scripts, requirements).map(|python| {
            let mut command = program(python);
            command.arg(scripts.join(script));
            command
        }),
    };
    // In a folder of its own: some leave logs where they are.
    if let Err(failure) = command.and_then(|mut command| run_program(command.arg(work).arg(out).current_dir(out))) {
        let path = out.join("failure.txt");
        fs::write(&path, failure.to_string()).map_err(on(&path))?;
    }
    Ok(())
}

/// The Python of the environment that has what a file of `benches/peers` lists.
fn python(scripts: &Path, requirements: &str) -> Result<PathBuf, Failure> {
    let name = requirements.trim_start_matches("requirements").trim_end_matches(".txt");
    environment(&format!("python-peers{name}"), &scripts.join(requirements))
}

/// The work with what differs from run to run in front.
fn with_settings(work: &str, setting: &Setting, budget: u32, reference: Option<&Path>) -> String {
    let rest = work.trim_start().strip_prefix('{').unwrap_or(work);
    let reference = reference.map_or_else(String::new, |folder| {
        let path = folder.join("positions.npy").display().to_string().replace('\\', "/");
        format!("\"reference\": \"{path}\", ")
    });
    let Setting { peer, label, settings, .. } = setting;
    format!(
        "{{\"budget_s\": {budget}, \"peer\": \"{peer}\", \"label\": \"{label}\", \"settings\": {settings}, {reference}{rest}"
    )
}

impl Choice {
    fn has_peer(&self, name: &str) -> bool {
        self.peers.iter().any(|peer| peer == name)
    }
}

fn choose(arguments: &[String]) -> Result<Choice, Failure> {
    let peers: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut choice = Choice { sizes: vec![32, 64], workloads: all(WORKLOADS), peers: all(&peers), budget: 120 };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| Failure::Usage(format!("`{word}` needs a value")))?;
        let number = |text: &str| {
            text.parse::<u32>()
                .ok()
                .filter(|number| *number > 1)
                .ok_or_else(|| Failure::Usage(format!("`{text}` is no number greater than 1")))
        };
        match word.as_str() {
            "--sizes" => choice.sizes = value.split(',').map(number).collect::<Result<_, _>>()?,
            "--budget" => choice.budget = number(value)?,
            "--workloads" => choice.workloads = names(value, "workload", WORKLOADS)?,
            "--peers" => choice.peers = names(value, "peer", &peers)?,
            _ => {
                return Err(Failure::Usage(format!(
                    "there is no option `{word}`; they are --sizes, --workloads, --peers, --budget"
                )));
            }
        }
    }
    Ok(choice)
}

/// Reads a list of names that must be known.
fn names(value: &str, what: &str, known: &[&str]) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = value.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(wrong) => Err(Failure::Usage(format!("there is no {what} `{wrong}`; they are {}", known.join(", ")))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(words: &str) -> Result<Choice, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        choose(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn sizes_workloads_peers_and_budgets_are_read() {
        let choice = chosen("--sizes 8,16 --peers rapier --workloads hang,rows --budget 5").expect("a choice");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            choice,
            Choice { sizes: vec![8, 16], workloads: words(&["hang", "rows"]), peers: words(&["rapier"]), budget: 5 }
        );
        assert_eq!(chosen("").expect("defaults").peers.len(), PEERS.len());
        let failure = chosen("--peers maya").expect_err("unknown");
        assert!(failure.starts_with("there is no peer `maya`; they are muslin, taichi"), "{failure}");
        assert_eq!(chosen("--sizes 0").expect_err("nothing"), "`0` is no number greater than 1");
        assert!(chosen("--sizes").is_err() && chosen("--fast 1").is_err() && chosen("--workloads walk").is_err());
    }

    #[test]
    fn every_setting_is_of_a_peer_and_of_workloads_that_there_are() {
        for setting in SETTINGS {
            assert!(PEERS.iter().any(|peer| peer.name == setting.peer), "{}", setting.peer);
            assert!(setting.workloads.iter().all(|name| WORKLOADS.contains(name)), "{}", setting.label);
            assert!(setting.settings.starts_with('{') && setting.settings.ends_with('}'), "{}", setting.settings);
        }
        for peer in PEERS {
            assert!(SETTINGS.iter().any(|setting| setting.peer == peer.name), "{}", peer.name);
        }
    }

    #[test]
    fn the_work_gets_the_settings_of_a_run() {
        let setting = Setting { peer: "muslin", workloads: &[], label: "few", settings: "{\"a\": 1}", why: "" };
        let text = with_settings("{\"side\":8}", &setting, 7, None);
        assert_eq!(
            text,
            "{\"budget_s\": 7, \"peer\": \"muslin\", \"label\": \"few\", \"settings\": {\"a\": 1}, \"side\":8}"
        );
    }
}
