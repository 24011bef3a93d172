//! Files that appear whole or not at all: written as `<path>.partial`, renamed when they are finished, removed when
//! they are given up.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The claim on a file that is being written.
#[derive(Debug)]
pub(crate) struct PartialFile {
    path: PathBuf,
    partial: PathBuf,
    kept: bool,
}

impl PartialFile {
    pub(crate) fn create(path: &Path) -> io::Result<(Self, File)> {
        let mut name = path.as_os_str().to_owned();
        name.push(".partial");
        let partial = PathBuf::from(name);
        // Readable too: the MP4 moves its media once the size of its index is known.
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&partial)?;
        Ok((Self { path: path.to_path_buf(), partial, kept: false }, file))
    }

    /// Gives the file its name. Everything must have been flushed.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        fs::rename(&self.partial, &self.path)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing can be done, and nobody told, about a file that does not go away.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
