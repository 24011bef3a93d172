//! Files on disk that may be given away: those that lie in one folder, links followed.

use std::fs::{self, File};
use std::path::Path;

use super::reply::Body;

/// Opens a file if it lies inside of `folder`, which has no links in its path, once every link to the file is followed.
/// Only plain files: a pipe would block.
pub(super) fn open_within(folder: &Path, path: &Path) -> Option<Body> {
    let canonical = fs::canonicalize(path).ok()?;
    if !canonical.starts_with(folder) || !canonical.is_file() {
        return None;
    }
    let file = File::open(&canonical).ok()?;
    let length = file.metadata().ok()?.len();
    Some(Body::File(file, length))
}

/// Bytes of such a file.
pub(super) fn length_within(folder: &Path, path: &Path) -> Option<u64> {
    open_within(folder, path).map(|body| body.length())
}
