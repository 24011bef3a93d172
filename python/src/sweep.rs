//! The compiled part of `muslin.sweep`: the samples of `muslin sweep`.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use muslin_cli::embed;
use muslin_cli::embed::{Samples, Spread};
use numpy::{PyArray3, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::stacked;
use crate::errors::{log_warnings, raise};
use crate::listen::{News, listening};
use crate::source::{source_of, thread_count};

/// A sweep that can be computed, all of it or a part.
#[pyclass(frozen, module = "muslin._muslin")]
pub(crate) struct Grid {
    inner: embed::Grid,
}

/// Where the values of a key come from, as Python says it.
#[derive(FromPyObject)]
enum Given {
    Text(String),
    Between(f64, f64, bool),
    Values(Vec<String>),
}

impl From<Given> for Spread {
    fn from(given: Given) -> Self {
        match given {
            Given::Text(text) => Self::Text(text),
            Given::Between(low, high, log) => Self::Between { low, high, log },
            Given::Values(values) => Self::Values(values),
        }
    }
}

/// The last positions of a cloth, or of the samples whose mesh is another, by their numbers.
type Positions<'py> = (Bound<'py, PyArray3<f32>>, Vec<(u64, Bound<'py, PyArray3<f32>>)>);

#[pymethods]
impl Grid {
    #[new]
    fn new(
        scene: &Bound<'_, PyAny>,
        vary: Vec<(String, Given)>,
        samples: u64,
        seed: u64,
        frames: Option<u64>,
    ) -> PyResult<Self> {
        let py = scene.py();
        let source = source_of(scene)?;
        let source = &source.get().inner;
        let vary: Vec<(String, Spread)> = vary.into_iter().map(|(key, given)| (key, given.into())).collect();
        let inner = py.detach(|| embed::Grid::new(source, &vary, samples, seed, frames));
        let inner = inner.map_err(|trouble| raise(py, trouble))?;
        log_warnings(py, inner.warnings())?;
        Ok(Self { inner })
    }

    /// Names of the cloths and their numbers of vertices.
    #[getter]
    fn cloths(&self) -> Vec<(String, usize)> {
        self.inner.cloths().to_vec()
    }

    /// The first line of the table.
    #[getter]
    fn heading(&self) -> String {
        self.inner.heading()
    }

    /// Computes samples `first` to `end - 1` into memory: the lines of the table, and for each cloth its last positions.
    fn compute<'py>(
        &self,
        py: Python<'py>,
        first: u64,
        end: u64,
        jobs: Option<i64>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<String>, Vec<Positions<'py>>)> {
        let jobs = thread_count("jobs", jobs)?;
        let work = |stop, news: Sender<News>| {
            self.inner.compute((first, end), jobs, stop, &mut |done, failed| {
                news.send((done, failed)).ok();
            })
        };
        let computed = listening(py, work, |news| hear(progress.as_ref(), news))?;
        // Only a raised flag ends it early, and that was an error above.
        let samples = computed.map_err(|trouble| raise(py, trouble))?.unwrap_or_default();
        let positions = (0..self.inner.cloths().len()).map(|cloth| self.positions(py, first, cloth, &samples));
        let positions = positions.collect::<PyResult<_>>()?;
        Ok((samples.lines, positions))
    }

    /// Begins the sweep in a folder, or goes on with it, for samples that are computed elsewhere.
    fn writer(&self, py: Python<'_>, folder: PathBuf, resume: bool) -> PyResult<Writer> {
        let inner = self.inner.writer(folder, resume).map_err(|trouble| raise(py, trouble))?;
        Ok(Writer { inner: Mutex::new(inner) })
    }

    /// Computes what is left of the sweep into a folder.
    fn write(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        resume: bool,
        jobs: Option<i64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let jobs = thread_count("jobs", jobs)?;
        let work = |stop, news: Sender<News>| {
            self.inner.write(
                folder,
                resume,
                jobs,
                stop,
                Box::new(move |done, failed| {
                    news.send((done, failed)).ok();
                }),
            )
        };
        let written = listening(py, work, |news| hear(progress.as_ref(), news))?;
        written.map(|_| ()).map_err(|trouble| raise(py, trouble))
    }
}

/// A folder for samples that are computed elsewhere.
#[pyclass(frozen, module = "muslin._muslin")]
pub(crate) struct Writer {
    inner: Mutex<embed::Writer>,
}

#[pymethods]
impl Writer {
    /// How many samples have a row, and how many of them failed.
    #[getter]
    fn done(&self) -> (u64, u64) {
        let writer = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (writer.done(), writer.failed())
    }

    /// Appends the next sample: its line of the table, and the last positions of its cloths, none if it failed.
    fn append(&self, py: Python<'_>, line: &str, positions: Vec<PyReadonlyArray2<'_, f32>>) -> PyResult<()> {
        let own = |array: &PyReadonlyArray2<'_, f32>| Ok::<_, PyErr>(array.as_slice()?.as_chunks::<3>().0.to_vec());
        let positions: Vec<Vec<[f32; 3]>> = positions.iter().map(own).collect::<PyResult<_>>()?;
        let written = py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).append(line, &positions));
        written.map_err(|trouble| raise(py, trouble))
    }
}

impl Grid {
    fn positions<'py>(&self, py: Python<'py>, first: u64, cloth: usize, samples: &Samples) -> PyResult<Positions<'py>> {
        let count = self.inner.cloths()[cloth].1;
        let mut all = Vec::with_capacity(count * samples.positions.len());
        let mut others = Vec::new();
        for (sample, positions) in (first..).zip(&samples.positions) {
            match positions.get(cloth) {
                Some(own) if own.len() == count => all.extend_from_slice(own),
                own => {
                    all.resize(all.len() + count, [f32::NAN; 3]);
                    if let Some(own) = own {
                        others.push((sample, stacked(py, 1, own.len(), own.clone())?));
                    }
                }
            }
        }
        Ok((stacked(py, samples.positions.len(), count, all)?, others))
    }
}

fn hear(progress: Option<&Bound<'_, PyAny>>, news: News) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1(news).map(|_| ()))
}
