//! The folder of the results: what is in it, and how it gets there.
//!
//! Only files that a run of muslin makes are ever replaced or removed; whatever else lies in the folder stays.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use muslin_io::{FORMATS, IoError};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::{Failure, cannot_read, cannot_write};

pub(crate) const REPORT: &str = "report.json";
pub(crate) const SCENE: &str = "scene.toml";
pub(crate) const CHECKPOINT: &str = "checkpoint.bin";
/// The picture of the last frame, or of a start that was refused.
pub(crate) const PREVIEW: &str = "preview.png";
/// What such a picture says of itself.
pub(crate) const REFUSED: &str = "muslin: a start that was refused";
/// Copies of the meshes that the scene names.
pub(crate) const INPUTS: &str = "inputs";

/// A folder of results.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Makes the folder where there is none.
    pub(crate) fn create(&self) -> Result<(), Failure> {
        fs::create_dir_all(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => Failure::Failed(format!(
                "cannot write to {}: it is, or lies under, a file; choose another folder with --out",
                self.path.display()
            )),
            _ => cannot_write(&self.path, error).into(),
        })
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Reads a file of the folder; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, IoError> {
        let path = self.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot_read(&path, error)),
        }
    }

    /// Writes a file that is there whole or not at all: under another name first, so that a run that is killed leaves
    /// the one from before.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), IoError> {
        let path = self.join(name);
        let mut partial = OsString::from(&path);
        partial.push(".partial");
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&partial, bytes))
            .and_then(|()| fs::rename(&partial, &path));
        written.map_err(|error| {
            // The failure of the write is what matters.
            fs::remove_file(&partial).ok();
            cannot_write(&path, error)
        })
    }

    /// What an earlier run has made here, as its report lists it; nothing where there is no report of ours.
    pub(crate) fn made(&self) -> Vec<String> {
        let listing = || serde_json::from_slice::<Listing>(&self.read(REPORT).ok()??).ok();
        listing().map_or(Vec::new(), |listing| listing.files)
    }

    /// Refuses to write over a file that is not among those an earlier run has `made`.
    pub(crate) fn guard<'a>(
        &self,
        names: impl IntoIterator<Item = &'a String>,
        made: &[String],
    ) -> Result<(), Failure> {
        match names.into_iter().find(|name| !made.contains(name) && self.holds(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::Usage(format!(
                "results in {} would overwrite {}, which is not of an earlier run; \
                 choose another folder with --out, or move it away",
                self.path.display(),
                self.join(name).display()
            ))),
        }
    }

    /// Whether there is something under this name that would be lost: a file, or numbered files in a folder, but no
    /// device.
    fn holds(&self, name: &str) -> bool {
        let path = self.join(name);
        path.is_file() && !is_refused_start(&path)
            || path.is_dir() && (!is_sequence(name) || !numbered_files(&path).is_empty())
    }

    /// Removes what an earlier run has `made`, except for copies of meshes that will be written again, and for its
    /// report, which says whose the rest is for as long as there is any.
    pub(crate) fn clear(&self, made: &[String], files: &[String]) -> Result<(), IoError> {
        // First, so that nobody resumes from the old state with new files.
        self.remove(CHECKPOINT)?;
        let is_stale = |name: &&String| *name != REPORT && !(is_input(name) && files.contains(name));
        self.remove_all(made.iter().filter(is_stale))
    }

    /// Removes files of an earlier run: an old film beside new frames would mislead.
    pub(crate) fn remove_all<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Result<(), IoError> {
        names.into_iter().filter(|name| is_plain_name(name) || is_input(name)).try_for_each(|name| self.remove(name))
    }

    /// Removes a file, or the numbered files of a folder and then the folder, if nothing else is in it.
    pub(crate) fn remove(&self, name: &str) -> Result<(), IoError> {
        let path = self.join(name);
        if path.is_dir() {
            if is_sequence(name) {
                numbered_files(&path).iter().try_for_each(|file| remove_file(file))?;
                fs::remove_dir(&path).ok(); // what is left in it is not ours
            }
            return Ok(());
        }
        remove_file(&path)
    }
}

/// What tells a report of ours from another file of that name, and what it lists.
#[derive(Deserialize)]
struct Listing {
    files: Vec<String>,
    #[serde(rename = "version")]
    _version: IgnoredAny,
    #[serde(rename = "state_hash")]
    _state_hash: IgnoredAny,
}

/// Whether a file is the picture of a start that was refused: nothing would be lost with it.
fn is_refused_start(path: &Path) -> bool {
    /// The text stands before the picture itself.
    const BEGINNING: u64 = 1024;
    if path.file_name().is_none_or(|name| name != PREVIEW) {
        return false;
    }
    let mut beginning = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    read.is_ok() && beginning.windows(REFUSED.len()).any(|bytes| bytes == REFUSED.as_bytes())
}

fn remove_file(path: &Path) -> Result<(), IoError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot_write(path, error)),
        _ => Ok(()),
    }
}

/// Whether a name is one of a folder with a file for each frame: `sheet_obj`.
fn is_sequence(name: &str) -> bool {
    name.rsplit_once('_').is_some_and(|(_, extension)| FORMATS.iter().any(|format| format.extension == extension))
}

/// The files of a sequence: `sheet_0041.obj` in `sheet_obj`.
fn numbered_files(folder: &Path) -> Vec<PathBuf> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let Some((stem, extension)) = name.rsplit_once('_') else { return Vec::new() };
    let is_numbered = |name: &str| {
        let number = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('_'));
        let number = number.and_then(|rest| rest.strip_suffix(extension)).and_then(|rest| rest.strip_suffix('.'));
        number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| is_numbered(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// Whether a name stays inside the folder: a report may have been edited by anybody.
fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// Whether a name is that of a copy of a mesh: `inputs/sheet.obj`.
fn is_input(name: &str) -> bool {
    name.strip_prefix(INPUTS).and_then(|rest| rest.strip_prefix('/')).is_some_and(is_plain_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_inside_the_folder_are_plain() {
        for name in ["sheet.npy", "preview.mp4", "a b"] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in ["", ".", "..", "/", "/etc/passwd", "../a", "a/b", "a/../../b"] {
            assert!(!is_plain_name(name) && !is_input(name), "{name}");
        }
        assert!(is_input("inputs/a.obj") && !is_input("inputs/../a.obj") && !is_input("inputs/a/b.obj"));
    }
}
