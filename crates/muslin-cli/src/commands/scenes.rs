//! `muslin scenes`: the built-in scenes, and a copy of one as a starting point.

use std::fs::File;
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
fn write(name: &str, out: Option<&Path>) -> Result<(), Failure> {
    let scene = Builtin::find(name).ok_or_else(|| Failure::Usage(builtin::unknown(name, "no built-in scene")))?;
    let path = out.map_or_else(|| PathBuf::from(format!("{name}.toml")), Path::to_owned);
    let written = File::create_new(&path).and_then(|mut file| file.write_all(scene.text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Failed(format!("{} exists already; give another file with --out", path.display()))
        }
        _ => cannot_write(&path, error).into(),
    })?;
    say(format_args!("wrote {0}; run it with: muslin run {0}", path.display()))
}
