//! The last stage of `cargo xtask test`: results, read back by software that other people wrote.
//!
//! A format that only its own reader understands is not a format. The readers are Python packages, kept in an environment
//! of their own below the target folder, and the glTF validator of Khronos, which needs Node.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::shell::{cargo, on, program, root, run as run_program, succeeds, target};

const SCRIPTS: &str = "xtask/python/readers";
const FRAMES: usize = 12;
/// Small enough that the film has the size of the picture, and slow enough that it has every frame.
const SIZE: [usize; 2] = [640, 360];
const FPS: usize = 30;
const FORMATS: &str = "npy,obj,ply,pc2,glb,usd";

/// Runs the stage; says what had to be skipped, if anything.
pub(crate) fn run() -> Result<Option<String>, Failure> {
    let scripts = root().join(SCRIPTS);
    let python = environment("python", &scripts.join("requirements.txt"))?;
    let skipped = validator(&scripts)?;

    let sample = fresh(&target().join("readers/sample"))?;
    run_program(
        cargo(["run", "--quiet", "--release", "-p", "muslin-io", "--example", "sample_run", "--"]).arg(&sample),
    )?;
    run_program(program(&python).arg(scripts.join("check_formats.py")).arg(&sample))?;

    let hanging = fresh(&target().join("readers/hanging"))?;
    let [width, height] = SIZE;
    run_program(
        cargo(["run", "--quiet", "--release", "--", "run", "hanging", "--formats", FORMATS, "--preview", "video"])
            .args(["--frames", &FRAMES.to_string(), "--set", &format!("fps={FPS}")])
            .args(["--set", &format!("view.size=[{width},{height}]"), "--out"])
            .arg(&hanging),
    )?;
    run_program(program(&python).arg(scripts.join("check_formats.py")).arg(&hanging))?;
    // The film begins with the initial state.
    let expected = [width, height, FRAMES + 1, FPS].map(|number| number.to_string());
    run_program(program(&python).arg(scripts.join("check_video.py")).arg(hanging.join("preview.mp4")).args(expected))?;
    Ok(skipped)
}

/// The Python of the environment of this name, in which the requirements are installed; made or brought up to date if need be.
pub(crate) fn environment(name: &str, requirements: &Path) -> Result<PathBuf, Failure> {
    let folder = target().join(name);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = folder.join("requirements.stamp");
    let wanted = fs::read_to_string(requirements).map_err(on(requirements))?;
    // An environment stops working when the Python that made it is upgraded or removed.
    let works = succeeds(program(&python).args(["-m", "pip", "--version"]));
    if works && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    if !works {
        make_environment(&folder)?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"];
    run_program(program(&python).args(install).arg(requirements))?;
    fs::write(&stamp, wanted).map_err(on(&stamp))?;
    Ok(python)
}

fn make_environment(folder: &Path) -> Result<(), Failure> {
    let candidates = ["python3", "python"];
    let Some(python) = candidates.into_iter().find(|name| succeeds(program(name).arg("--version"))) else {
        return Err(Failure::Failed(
            "Python 3 is missing; install it (Debian and Ubuntu: apt install python3 python3-venv; \
             macOS: brew install python; \
             Windows: winget install Python.Python.3.12)"
                .to_owned(),
        ));
    };
    run_program(program(python).args(["-m", "venv", "--clear"]).arg(folder)).map_err(|failure| {
        Failure::Failed(format!(
            "{failure}; Python's venv module may be missing (Debian and Ubuntu: apt install python3-venv)"
        ))
    })
}

/// Installs the glTF validator next to the scripts; without Node says loudly that it is skipped.
fn validator(scripts: &Path) -> Result<Option<String>, Failure> {
    if !scripts.join("package.json").exists() {
        return Ok(None);
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    for needed in ["node", npm] {
        if !succeeds(program(needed).arg("--version")) {
            let note = format!("the glTF validator, for want of {needed} (install Node.js: https://nodejs.org)");
            println!("!! SKIPPED: {note}");
            return Ok(Some(note));
        }
    }
    let (wanted, stamp) = (scripts.join("package-lock.json"), scripts.join("node_modules/.package-lock.stamp"));
    let wanted = fs::read_to_string(&wanted).map_err(on(&wanted))?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(None);
    }
    let mut install: Command = program(npm);
    run_program(install.current_dir(scripts).args(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, wanted).map_err(on(&stamp))?;
    Ok(None)
}

/// The folder, empty: nothing of an earlier run can pass for a result of this one.
pub(crate) fn fresh(folder: &Path) -> Result<PathBuf, Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(on(folder))?;
    }
    fs::create_dir_all(folder).map_err(on(folder))?;
    Ok(folder.to_path_buf())
}
