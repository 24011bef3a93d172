//! The last stage of `cargo xtask test`: results, read back by software that other people wrote.
//!
//! A format that only its own reader understands is not a format. The readers are Python packages, kept in an environment
//! of their own below the target folder, and the glTF validator of Khronos, which needs Node.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::shell::{cargo, install_packages, npm, on, program, root, run as run_program, succeeds, target};

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
    // Not a reader, but it needs the same NumPy, and no time.
    run_program(program(&python).arg(root().join("benches/peers/test_judge.py")))?;
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
    let python = python_of(&folder);
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

/// The Python of an environment.
pub(crate) fn python_of(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Makes an environment, in the place of an earlier one.
pub(crate) fn make_environment(folder: &Path) -> Result<(), Failure> {
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
    let missing = [program("node"), npm(scripts, [])].into_iter().find_map(|mut command| {
        let name = command.get_program().to_string_lossy().into_owned();
        (!succeeds(command.arg("--version"))).then_some(name)
    });
    if let Some(missing) = missing {
        let note = format!("the glTF validator, for want of {missing} (install Node.js: https://nodejs.org)");
        println!("!! SKIPPED: {note}");
        return Ok(Some(note));
    }
    install_packages(scripts)?;
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
