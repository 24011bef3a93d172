//! The door for another program, as the Python package is one: scenes, worlds that are stepped, runs and sweeps, as the command line has them.
//!
//! ```text
//! Source (a scene and where it is from) ─→ World (stepped from outside)
//!                                       ├→ run   ─→ a folder, as `muslin run` writes it
//!                                       └→ Grid  ─→ samples, as `muslin sweep` computes them
//! ```

mod grid;
mod run;
mod source;
mod trouble;
mod world;

pub use grid::{Grid, Samples, Spread, Writer};
pub use run::{Ran, RunOptions, default_formats};
pub use source::Source;
pub use trouble::{Trouble, Warning};
pub use world::World;

/// As many threads as the machine has cores for this process.
pub fn all_cores() -> usize {
    crate::session::all_cores()
}
