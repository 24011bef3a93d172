//! Whether cloth passes through cloth, judged by software that other people wrote: the IPC Toolkit.
//!
//! `cargo xtask test` looks at a few quick runs, `cargo xtask validate` at every built-in scene.

use std::fs;
use std::path::Path;

use crate::Failure;
use crate::readers::{environment, fresh};
use crate::shell::{cargo, on, program, root, run as run_program, target};

const SCRIPT: &str = "xtask/python/readers/check_intersections.py";

/// A run, and what the referee is to find: `none`, `some`, `free` or `untangled` (see the script).
struct Case {
    name: &'static str,
    scene: &'static str,
    frames: usize,
    settings: &'static [&'static str],
    expected: &'static str,
}

/// Quick runs of built-in scenes with coarser cloth; the last of each is what would happen without self-contact.
const CASES: &[Case] = &[
    Case { name: "bar", scene: "bar", frames: 90, settings: &["cloth.0.grid.cells=[16,32]"], expected: "none" },
    // Every substep, of a millisecond, is a frame.
    Case {
        name: "bar_substeps",
        scene: "bar",
        frames: 900,
        settings: &["cloth.0.grid.cells=[12,24]", "fps=1000", "solver.substeps=1"],
        expected: "free",
    },
    Case {
        name: "bar_without",
        scene: "bar",
        frames: 90,
        settings: &["cloth.0.grid.cells=[16,32]", "contact.self_contact=false"],
        expected: "some",
    },
    Case { name: "twist", scene: "twist", frames: 100, settings: &["cloth.0.grid.cells=[36,15]"], expected: "none" },
    Case {
        name: "twist_substeps",
        scene: "twist",
        frames: 1200,
        settings: &["cloth.0.grid.cells=[24,10]", "fps=1000", "solver.substeps=1"],
        expected: "free",
    },
    // A body that is a mesh and moves.
    Case { name: "tunic", scene: "tunic", frames: 75, settings: &["solver.substeps=30"], expected: "none" },
    Case {
        name: "twist_without",
        scene: "twist",
        frames: 100,
        settings: &["cloth.0.grid.cells=[36,15]", "contact.self_contact=false"],
        expected: "some",
    },
    // The uppermost sheet is tilted into those below it.
    Case {
        name: "tower_tangled",
        scene: "tower",
        frames: 30,
        settings: &["contact.start=untangle", "cloth.19.rotate=[15,90,0]"],
        expected: "untangled",
    },
];

/// The stage of `cargo xtask test`.
pub(crate) fn run() -> Result<Option<String>, Failure> {
    let python = python()?;
    for case in CASES {
        let out = fresh(&target().join("referee").join(case.name))?;
        let frames = case.frames.to_string();
        let settings = case.settings.iter().flat_map(|setting| ["--set", setting]);
        simulate(case.scene, &out, ["--frames", &frames].into_iter().chain(settings))?;
        judge(&python, &out, case.expected)?;
    }
    Ok(None)
}

/// Every built-in scene, whole.
pub(crate) fn judge_scenes() -> Result<(), Failure> {
    let python = python()?;
    for scene in scenes(&root().join("scenes"))? {
        let out = fresh(&target().join("referee/scenes").join(&scene))?;
        simulate(&scene, &out, [])?;
        judge(&python, &out, "none")?;
    }
    Ok(())
}

/// A Python that has the IPC Toolkit.
pub(crate) fn python() -> Result<std::path::PathBuf, Failure> {
    environment("python", &root().join("xtask/python/readers/requirements.txt"))
}

fn simulate<'a>(scene: &str, out: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
    let fixed =
        ["run", "--quiet", "--release", "--", "run", scene, "--formats", "npy,obj", "--preview", "none", "--quiet"];
    run_program(cargo(fixed).args(arguments).arg("--out").arg(out))
}

fn judge(python: &Path, out: &Path, expected: &str) -> Result<(), Failure> {
    run_program(program(python).arg(root().join(SCRIPT)).arg(out).arg(expected))
}

/// The stems of the scenes in a folder, sorted; self-contact is on in all of them.
fn scenes(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder).map_err(on(folder))? {
        let path = entry.map_err(on(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path).map_err(on(&path))?;
            if text.contains("self_contact") {
                return Err(Failure::Failed(format!(
                    "{}: a built-in scene leaves self_contact at its default",
                    path.display()
                )));
            }
            stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    stems.sort();
    Ok(stems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scene_is_judged() {
        let found = scenes(&root().join("scenes")).expect("the scenes");
        assert!(
            found.len() > 10 && ["bar", "drape"].iter().all(|name| found.iter().any(|scene| scene == name)),
            "{found:?}"
        );
    }

    #[test]
    fn the_referee_is_tested_against_a_run_that_must_fail() {
        assert!(CASES.iter().any(|case| case.expected == "some"), "a referee that never whistles is none");
    }
}
