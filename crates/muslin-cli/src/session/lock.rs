//! One run at a time in a folder: two would write into each other's frames.
//!
//! The lock is the system's, on a file that holds the id of the process, so it ends with the process, however that ends;
//! what a killed run leaves behind is an unlocked file, which the next run takes over.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::folder::Folder;
use crate::failure::{Failure, cannot_write};

const NAME: &str = ".muslin.lock";

/// Keeps other runs out of a folder while it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Holds the lock until it is closed.
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder, which must exist; fails if another run has it.
    pub(crate) fn take(folder: &Folder) -> Result<Self, Failure> {
        let path = folder.join(NAME);
        loop {
            let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(|error| cannot_write(&path, error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(taken(folder, &path)),
                // Some network file systems know no locks: better a run without a guard than none.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(cannot_write(&path, error).into()),
            }
            let id = process::id().to_string();
            let written = file.set_len(0).and_then(|()| file.write_all(id.as_bytes()));
            written.map_err(|error| cannot_write(&path, error))?;
            if is_ours(&path, &id) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

/// Whether the file at `path` is still the one that was locked: the run before removes it when it ends, which may be
/// after it was opened here.
fn is_ours(path: &Path, id: &str) -> bool {
    match fs::read_to_string(path) {
        Ok(text) => text == id,
        // Windows does not let a locked file be read, nor be replaced.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn taken(folder: &Folder, path: &Path) -> Failure {
    let id = fs::read_to_string(path).unwrap_or_default();
    let process = if id.is_empty() { String::new() } else { format!(" (process {id})") };
    Failure::Failed(format!(
        "another run{process} is writing to {}; wait for it or stop it, or choose another folder with --out",
        folder.path.display()
    ))
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Unlocked, it is in nobody's way.
        fs::remove_file(&self.path).ok();
    }
}
