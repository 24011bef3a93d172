//! The files of the page: those in the program, or those of a folder while the page is worked on.

use std::borrow::Cow;
use std::path::PathBuf;

use super::disk;
use super::reply::{Body, Reply, content_type};
use crate::failure::Failure;

/// By their paths, sorted; written by the build script.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

const INDEX: &str = "index.html";

/// The core as WebAssembly, without and with threads. A build without `cargo xtask page` has neither.
const CORES: [&str; 2] = ["muslin.wasm.gz", "muslin-threads.wasm.gz"];

/// Where the page is.
#[derive(Debug)]
pub(super) enum Page {
    Embedded,
    /// A folder that exists, without links in its path.
    Folder(PathBuf),
}

impl Page {
    /// The page of a folder, or else that of the program.
    pub(super) fn new(folder: Option<&PathBuf>) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self::Embedded) };
        match folder.canonicalize() {
            Ok(canonical) if canonical.join(INDEX).is_file() => Ok(Self::Folder(canonical)),
            _ => Err(Failure::Usage(format!("--page {}: there is no {INDEX} in it", folder.display()))),
        }
    }

    /// Whether the page can simulate by itself. Where it cannot, it has the sessions of this program.
    pub(super) fn has_core(&self) -> bool {
        CORES.iter().all(|core| self.body(core).is_some())
    }

    /// A file of the page by its path, "" for the page itself.
    pub(super) fn file(&self, path: &str) -> Option<Reply> {
        let path = if path.is_empty() { INDEX } else { path };
        Some(Reply::new(content_type(path, true), self.body(path)?).for_page())
    }

    fn body(&self, path: &str) -> Option<Body> {
        match self {
            Self::Embedded => {
                FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| Body::Bytes(Cow::Borrowed(*bytes)))
            }
            Self::Folder(folder) => disk::open_within(folder, &folder.join(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_in_the_program() {
        assert!(FILES.iter().any(|(name, bytes)| *name == INDEX && !bytes.is_empty()));
        assert!(FILES.is_sorted_by_key(|(name, _)| name.replace('/', "\0")), "in a fixed order");
        assert!(FILES.iter().all(|(name, _)| !name.contains('\\') && !name.starts_with('/')));
        assert!(Page::Embedded.file("").is_some() && Page::Embedded.file("nothing.js").is_none());
    }
}
