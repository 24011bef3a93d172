//! Space that is kept back, so that a run that fills the disk can still write down that it did.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use super::folder::Folder;

const NAME: &str = ".muslin.reserve";
/// Room for the report to grow, beyond its size when the reserve was last looked at.
const MARGIN: usize = 64 << 10;
const LEAST: usize = 128 << 10;

/// A file that is there only to be removed.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    held: usize,
}

impl Reserve {
    pub(crate) fn new(folder: &Folder) -> Self {
        let path = folder.join(NAME);
        fs::remove_file(&path).ok(); // of a run that was killed
        Self { path, held: 0 }
    }

    /// Keeps enough back for a report of this many bytes. Where that cannot be, what is held already stays.
    pub(crate) fn hold(&mut self, report_bytes: usize) {
        let wanted = (report_bytes + MARGIN).next_power_of_two().max(LEAST);
        let Some(more) = wanted.checked_sub(self.held).filter(|&more| more > 0) else { return };
        let Ok(mut file) = OpenOptions::new().create(true).append(true).open(&self.path) else { return };
        // Not zeros, which some file systems do not store.
        match file.write_all(&vec![0xa5; more]) {
            Ok(()) => self.held = wanted,
            Err(_) => drop(file.set_len(self.held as u64)),
        }
    }

    /// Gives the space back.
    pub(crate) fn release(&mut self) {
        fs::remove_file(&self.path).ok(); // nothing is lost with it
        self.held = 0;
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_grows_with_the_report_and_goes_at_the_end() {
        let folder = Folder::new(tempfile::tempdir().unwrap().keep());
        let size = || fs::metadata(folder.join(NAME)).map(|file| file.len() as usize).ok();
        let mut reserve = Reserve::new(&folder);
        reserve.hold(10);
        assert_eq!(size(), Some(LEAST));
        reserve.hold(LEAST);
        assert_eq!(size(), Some(2 * LEAST));
        reserve.hold(10);
        assert_eq!(size(), Some(2 * LEAST), "it does not shrink");
        drop(reserve);
        assert_eq!(size(), None);
        fs::remove_dir_all(&folder.path).unwrap();
    }
}
