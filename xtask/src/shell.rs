//! Where things are, and how other programs are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets it at run time too, which stays right when the checkout moves and its target folder does not.
    let own =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), Into::into);
    own.parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// Where Cargo builds, and where the chores keep what they can make again.
pub(crate) fn target() -> PathBuf {
    let root = root();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |given| root.join(given))
}

/// A call of Cargo in the workspace.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    // What `cargo run` told this process about its package would make some build scripts of dependencies run again.
    forget(&mut command, &["CARGO_PKG_", "CARGO_MANIFEST_"]);
    command
}

/// Keeps variables of the environment that begin so from a command.
pub(crate) fn forget(command: &mut Command, beginnings: &[&str]) {
    for (key, _) in std::env::vars_os() {
        if key.to_str().is_some_and(|key| beginnings.iter().any(|beginning| key.starts_with(beginning))) {
            command.env_remove(key);
        }
    }
}

/// A call of npm in a folder.
pub(crate) fn npm<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = program(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(folder).args(arguments);
    command
}

/// Installs the packages of a folder as its lock file has them, unless that was done.
pub(crate) fn install_packages(folder: &Path) -> Result<(), Failure> {
    let (lock, stamp) = (folder.join("package-lock.json"), folder.join("node_modules/.package-lock.stamp"));
    let wanted = fs::read_to_string(&lock).map_err(on(&lock))?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    run(&mut npm(folder, ["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, wanted).map_err(on(&stamp))
}

/// A call of any program in the workspace, which never waits for input.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Shows the command, runs it with its output streamed, and fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().map_err(|error| Failure::Failed(format!("cannot start `{line}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Failed(format!("`{line}` ended with {status}"))) }
}

/// Whether the program starts and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as a person would type it in the root of the workspace.
fn line(command: &Command) -> String {
    let root = root();
    let mut words: Vec<String> = Vec::new();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", key.display(), quoted(&value.to_string_lossy())));
        }
    }
    let name = Path::new(command.get_program());
    let is_cargo = name.file_stem().is_some_and(|stem| stem == "cargo");
    words.push(if is_cargo { "cargo".to_owned() } else { short(&root, name) });
    words.extend(command.get_args().map(|argument| short(&root, Path::new(argument))));
    words.join(" ")
}

fn short(root: &Path, path: &Path) -> String {
    quoted(&path.strip_prefix(root).unwrap_or(path).to_string_lossy())
}

fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// Maps a failed file operation to a message with its path.
pub(crate) fn on(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = program("/usr/bin/cargo");
        command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--no-deps"]).arg(root().join("out/x"));
        assert_eq!(line(&command), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps out/x");
    }

    #[test]
    fn a_failing_command_is_named() {
        let failure = run(&mut program("no-such-program-anywhere")).expect_err("it does not exist");
        assert!(failure.to_string().starts_with("cannot start `no-such-program-anywhere`"), "{failure}");
    }
}
