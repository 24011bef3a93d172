//! The folder of the results: what is in it, and how it gets there.
//!
//! Only files that a run of muslin makes are ever replaced or removed; whatever else lies in the folder stays.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use muslin_io::IoError;

use super::report::Report;
use crate::failure::{Failure, cannot_read, cannot_write};

pub(crate) const REPORT: &str = "report.json";
pub(crate) const SCENE: &str = "scene.toml";
pub(crate) const CHECKPOINT: &str = "checkpoint.bin";
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

    /// The report in the folder, if there is one that can be understood.
    fn earlier_report(&self) -> Option<Report> {
        serde_json::from_slice(&self.read(REPORT).ok()??).ok()
    }

    /// Removes what an earlier run has left, as its own report lists it.
    pub(crate) fn clear(&self) -> Result<(), IoError> {
        // First, so that nobody resumes from the old state with new files.
        self.remove(CHECKPOINT)?;
        self.earlier_report().map_or(Ok(()), |earlier| self.remove_all(&earlier.summary.files))
    }

    /// Removes files of an earlier run: an old film beside new frames would mislead.
    pub(crate) fn remove_all(&self, names: &[String]) -> Result<(), IoError> {
        names.iter().filter(|name| is_plain_name(name)).try_for_each(|name| self.remove(name))
    }

    /// Removes a file; folders of numbered files are left to be overwritten.
    fn remove(&self, name: &str) -> Result<(), IoError> {
        let path = self.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound || path.is_dir() => Ok(()),
            Err(error) => Err(cannot_write(&path, error)),
        }
    }
}

/// Whether a name stays inside the folder: a report may have been edited by anybody.
fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
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
            assert!(!is_plain_name(name), "{name}");
        }
    }
}
