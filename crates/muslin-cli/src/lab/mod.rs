//! A fabric in the laboratory: what a test gave, as a table, as JSON, and in pictures.
//!
//! ```text
//! finding    what a test gave, in words and numbers
//! scenery    picture.png: the sample as it ended, and what holds it
//! figure     plot.svg: curves, or the outline of the shadow
//! ```

mod figure;
mod finding;
mod scenery;

use muslin_lab::{LabError, Progress, Sample};
use muslin_render::Picture;

use crate::args::LabTest;
use crate::failure::Failure;
use crate::plot;
pub(crate) use finding::Finding;

/// A test that was done.
#[derive(Debug)]
pub(crate) enum Done {
    Cantilever(Box<muslin_lab::Cantilever>),
    Cusick(Box<muslin_lab::Cusick>),
    Tensile(Box<muslin_lab::Tensile>),
    Shear(Box<muslin_lab::Shear>),
}

impl Done {
    /// Does a test.
    pub(crate) fn of(test: LabTest, sample: &Sample, told: &mut dyn FnMut(Progress)) -> Result<Self, Failure> {
        let done = match test {
            LabTest::Cantilever => muslin_lab::cantilever(sample, told).map(|done| Self::Cantilever(Box::new(done))),
            LabTest::Cusick => muslin_lab::cusick(sample, told).map(|done| Self::Cusick(Box::new(done))),
            LabTest::Tensile => muslin_lab::tensile(sample, told).map(|done| Self::Tensile(Box::new(done))),
            LabTest::Shear => muslin_lab::shear(sample, told).map(|done| Self::Shear(Box::new(done))),
        };
        done.map_err(failure)
    }

    /// The picture, and the plot as SVG where there is one.
    pub(crate) fn draw(&self) -> Result<(Picture, Option<String>), String> {
        let drawing = match self {
            Self::Cantilever(_) => None,
            Self::Cusick(done) => Some(plot::draw(&figure::Outline { drape: done })?),
            Self::Tensile(done) => Some(plot::draw(&figure::Curves::of_tensile(done))?),
            Self::Shear(done) => Some(plot::draw(&figure::Curves::of_shear(done))?),
        };
        let sample = scenery::draw(self)?;
        Ok(match drawing {
            Some(drawing) => (scenery::beside(&sample, &drawing.picture), Some(drawing.svg)),
            None => (sample, None),
        })
    }
}

/// What the lab refuses is wrong usage; what it cannot do is a failure.
pub(crate) fn failure(error: LabError) -> Failure {
    match error {
        LabError::Setting(message) => Failure::Usage(message),
        LabError::Failed(message) => Failure::Step(message),
        LabError::Stopped => Failure::Failed("interrupted; no results were written".to_owned()),
    }
}
