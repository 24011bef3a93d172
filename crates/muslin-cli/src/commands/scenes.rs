//! `muslin scenes`: the built-in scenes, and a copy of one as a starting point.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::args::ScenesArguments;
use crate::builtin::{self, BUILTINS, Builtin};
use crate::console::say;
use crate::failure::{Failure, cannot_write};

pub(super) fn scenes(arguments: &ScenesArguments) -> Result<(), Failure> {
    match &arguments.write {
        Some(name) => write(name, arguments.out.as_deref()),
        None => list(),
    }
}

fn list() -> Result<(), Failure> {
    let width = BUILTINS.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    for scene in BUILTINS {
        say(format_args!("{:width$}  {}", scene.name, scene.summary()))?;
    }
    Ok(())
}

/// Never over an existing file, which may hold somebody's work.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Failed(format!("{} exists already; give another file with --out", path.display()))
        }
        _ => cannot_write(path, error).into(),
    })
}

/// The scene, and the meshes that it names beside it.
fn write(name: &str, out: Option<&Path>) -> Result<(), Failure> {
    let scene = Builtin::find(name).ok_or_else(|| Failure::Usage(builtin::unknown(name, "no built-in scene")))?;
    let path = out.map_or_else(|| PathBuf::from(format!("{name}.toml")), Path::to_owned);
    let folder = path.parent().unwrap_or(Path::new(""));
    write_new(&path, scene.text.as_bytes())?;
    for (file, bytes) in scene.files {
        let path = folder.join(file);
        if fs::read(&path).is_ok_and(|found| found == *bytes) {
            continue; // of the same scene, written before under another name
        }
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder.map_err(|error| cannot_write(&path, error))?;
        write_new(&path, bytes)?;
    }
    say(format_args!("wrote {0}; run it with: muslin run {0}", path.display()))
}
