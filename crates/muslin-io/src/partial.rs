//! Files that appear under their name only when they are complete.
//!
//! Content goes to `<name>.partial`, which is renamed at the end, or removed on failure. A process that is killed
//! leaves the partial file, which the next attempt overwrites.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Cause, IoError};

/// Large enough that a frame of a small cloth is one call to the system.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes a file by `body` and puts it in place of any earlier one.
pub(crate) fn write_file(
    path: &Path,
    body: impl FnOnce(&mut BufWriter<File>) -> Result<(), Cause>,
) -> Result<(), IoError> {
    let partial = partial_path(path);
    let result = File::create(&partial).map_err(Cause::from).and_then(|file| {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        body(&mut out)?;
        out.flush()?;
        drop(out); // closed first: Windows renames no open file
        Ok(fs::rename(&partial, path)?)
    });
    result.map_err(|cause| {
        // The write's own failure is what matters, and the partial name tells what a file left over is.
        fs::remove_file(&partial).ok();
        IoError::write(path, cause)
    })
}

/// Writes a numbered sequence into a folder, `body` writing file `index` of `count`.
///
/// All files are complete before the first is put in place. Files of an earlier, longer sequence are removed, since
/// they would play on after the end of this one; anything else in the folder is left alone.
pub(crate) fn write_sequence(
    folder: &Path,
    name_of: impl Fn(usize) -> String,
    count: usize,
    mut body: impl FnMut(usize, &mut BufWriter<File>) -> Result<(), Cause>,
) -> Result<(), IoError> {
    let partial = partial_path(folder);
    let mut write_all = || -> Result<(), Cause> {
        remove_folder(&partial)?;
        fs::create_dir(&partial)?;
        for index in 0..count {
            let file = File::create(partial.join(name_of(index)))?;
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
            body(index, &mut out)?;
            out.flush()?;
        }
        fs::create_dir_all(folder)?;
        for index in 0..count {
            fs::rename(partial.join(name_of(index)), folder.join(name_of(index)))?;
        }
        for index in count.. {
            match fs::remove_file(folder.join(name_of(index))) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                removed => removed?,
            }
        }
        Ok(())
    };
    let result = write_all();
    // After success the folder is empty; after failure its files are of no use, and the failure is what to report.
    remove_folder(&partial).ok();
    result.map_err(|cause| IoError::write(folder, cause))
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".partial");
    PathBuf::from(name)
}
