//! The fabric lab: tests of textile laboratories, on simulated cloth.
//!
//! | test | what is measured | module |
//! |---|---|---|
//! | cantilever | bending length and B of a strip that bends under its weight | [`cantilever()`] |
//! | Cusick | drape coefficient and folds of a disc of cloth | [`cusick()`] |
//! | tensile | force against strain along warp, weft and bias | [`tensile()`] |
//! | shear | force against angle in a picture frame | [`shear()`] |
//!
//! Each takes a [`Sample`], a fabric with a solver and models, and gives plain values. The crate opens no file, prints nothing and reads no clock.
//!
//! ```no_run
//! use muslin_lab::{Sample, cusick};
//!
//! let drape = cusick(&Sample::new("wool")?, &mut |_| {})?;
//! println!("{:.1} %, {} folds", drape.coefficient, drape.folds.number);
//! # Ok::<(), muslin_lab::LabError>(())
//! ```

pub mod cantilever;
pub mod cusick;
pub mod elastica;
mod error;
pub mod measured;
mod rest;
mod sample;
pub mod shadow;
pub mod shear;
mod sheet;
pub mod tensile;

pub use cantilever::{Cantilever, cantilever};
pub use cusick::{Cusick, cusick};
pub use error::LabError;
pub use rest::Rest;
pub use sample::{EDGE_LENGTHS, GRAVITY, Sample, StopCheck};
pub use shear::{Shear, shear};
pub use tensile::{Tensile, tensile};

/// How far a test is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Of the test, at most: it may be done sooner.
    pub share: f64,
    /// Where it is.
    pub words: String,
}
