//! The stage `python` of `cargo xtask test`: the wheel, built and used as a stranger would.
//!
//! It is built in the profile of the tests and in their target folder, so that both share what they are made of, and installed into an environment
//! that is new each time.

use std::path::Path;

use crate::Failure;
use crate::readers::{environment, fresh, make_environment, python_of};
use crate::shell::{cargo, on, program, root, run as run_program, succeeds, target};

const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// Runs the stage; nothing of it is ever skipped.
pub(crate) fn run() -> Result<Option<String>, Failure> {
    let requirements = root().join(REQUIREMENTS);
    let tools = environment("python-tools", &requirements)?;
    let is_recent = ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"];
    if !succeeds(program(&tools).args(is_recent)) {
        return Err(Failure::Failed("the package needs Python 3.11 or later; install it as `python3`".to_owned()));
    }
    // Both packages are named, so that their dependencies have the features of both and are built once.
    run_program(&mut cargo(["build", "-p", "muslin-cli", "-p", "muslin-python", "--bin", "muslin"]))?;
    let wheels = fresh(&target().join("python-wheel"))?;
    let build =
        ["-m", "maturin", "build", "--profile", "dev", "--strip", "--manifest-path", "python/Cargo.toml", "--out"];
    run_program(program(&tools).args(build).arg(&wheels))?;
    let wheel = only_file(&wheels)?;

    let folder = target().join("python-fresh");
    make_environment(&folder)?;
    let python = python_of(&folder);
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
    run_program(program(&python).args(install).arg(&wheel).arg("-r").arg(&requirements))?;

    let muslin = target().join("debug").join(if cfg!(windows) { "muslin.exe" } else { "muslin" });
    let tests = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-W", "error", "python/tests", "docs/python.md"];
    // The examples of the documents, and those of the package as it was installed.
    let examples = ["--doctest-glob=*.md", "--doctest-modules", "--pyargs", "muslin"];
    run_program(program(&python).args(tests).args(examples).env("MUSLIN", &muslin))?;
    let types = || {
        let mut command = program(&python);
        command.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(target().join("python-types"));
        command
    };
    run_program(types().arg("python/tests/user_script.py"))?;
    run_program(types().args(["-p", "muslin"]))?;
    Ok(None)
}

/// The one file of a folder.
fn only_file(folder: &Path) -> Result<std::path::PathBuf, Failure> {
    let mut entries = std::fs::read_dir(folder).map_err(on(folder))?;
    let none = || Failure::Failed(format!("no wheel was built in {}", folder.display()));
    Ok(entries.next().ok_or_else(none)?.map_err(on(folder))?.path())
}
