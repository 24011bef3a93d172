//! Ctrl-C, SIGTERM and a closed terminal: the first stops the run, inside of a frame if need be, and the second the process.
//!
//! A run that was stopped has not done what it was asked, so it ends with exit code 1, as after any failure, and not with
//! the shell's 130: the contract knows three codes. A second signal ends with 1 too; the caches are valid at any moment.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::console::note;
use crate::failure::Failure;

/// Whether somebody wants the run to stop.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. Only once in a process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if raised.swap(true, Ordering::Relaxed) {
                note("interrupted again: stopped at once; whole frames are kept");
                process::exit(1);
            }
        })
        .map_err(|error| Failure::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Self(flag))
    }

    /// One that is raised by what else knows of the flag, if by anything.
    pub(crate) fn by(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
