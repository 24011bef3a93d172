//! The compiled part of the Python package `muslin`: what must be fast, or must be the command line's own code. The rest is Python, in `python/muslin`.
//!
//! Everything that simulates runs without Python's lock. A world is behind a lock of its own, so threads of Python wait for each other and never see
//! half a frame.

mod arrays;
mod batch;
mod errors;
mod listen;
mod simulation;
mod source;
mod sweep;

use pyo3::prelude::*;

#[pymodule]
mod _muslin {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::source::{Source, builtin_scenes, cores};
    #[pymodule_export]
    use crate::sweep::{Grid, Writer};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
