//! Scenes as Python hands them over, runs of them, and what is built in.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use muslin_cli::embed;
use muslin_cli::embed::{RunOptions, default_formats};
use muslin_scenes::builtin::BUILTINS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::listen::{News, listening};

/// The text of a scene and where it is from: what `Scene` hands to everything that simulates.
#[pyclass(frozen, module = "muslin._muslin")]
pub(crate) struct Source {
    pub(crate) inner: embed::Source,
}

#[pymethods]
impl Source {
    /// Finds a scene: a built-in name, or the path of a file.
    #[staticmethod]
    fn open(py: Python<'_>, name: &str) -> PyResult<Self> {
        Ok(Self { inner: embed::Source::open(name).map_err(|trouble| raise(py, trouble))? })
    }

    /// A scene that was put together; `files` are meshes by the names that it has for them.
    #[staticmethod]
    fn written(
        text: String,
        label: &str,
        path: Option<PathBuf>,
        builtin: Option<&str>,
        files: Vec<(String, Vec<u8>)>,
    ) -> Self {
        let source = embed::Source::written(text, label, path, builtin);
        Self { inner: files.into_iter().fold(source, |source, (name, content)| source.with_file(&name, content)) }
    }

    #[getter]
    fn text(&self) -> &str {
        self.inner.text()
    }

    #[getter]
    fn label(&self) -> &str {
        self.inner.label()
    }

    #[getter]
    fn path(&self) -> Option<&PathBuf> {
        self.inner.path()
    }

    /// The scene with every default filled in, as TOML.
    fn resolve(&self, py: Python<'_>) -> PyResult<String> {
        let resolved = py.detach(|| self.inner.resolve(&[]));
        Ok(resolved.map_err(|trouble| raise(py, trouble))?.0)
    }

    /// Warnings about the scene and its meshes.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.inner.check()).map_err(|trouble| raise(py, trouble))
    }

    /// What `muslin run` does. Gives the folder and the text of `report.json`.
    #[pyo3(signature = (out, frames, threads, formats, preview, resume, progress))]
    #[expect(clippy::too_many_arguments, reason = "the options of a command")]
    fn run(
        &self,
        py: Python<'_>,
        out: Option<PathBuf>,
        frames: Option<u64>,
        threads: Option<u16>,
        formats: Option<Vec<String>>,
        preview: String,
        resume: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(PathBuf, String)> {
        let formats = formats.unwrap_or_else(|| default_formats().map(str::to_owned).to_vec());
        let options = RunOptions { out, frames, threads, formats, preview, resume };
        let work = |stop, news: Sender<News>| {
            // Nobody listens any more where the run is being stopped.
            let told = move |done: usize, all: usize| {
                news.send((done as u64, all as u64)).ok();
            };
            self.inner.run(&options, stop, Box::new(told))
        };
        let hear = |news: News| progress.as_ref().map_or(Ok(()), |progress| progress.call1(news).map(|_| ()));
        let ran = listening(py, work, hear)?.map_err(|trouble| raise(py, trouble))?;
        Ok((ran.folder, ran.report))
    }
}

/// The built-in scenes, each with a line about it.
#[pyfunction]
pub(crate) fn builtin_scenes() -> Vec<(&'static str, &'static str)> {
    BUILTINS.iter().map(|scene| (scene.name, scene.summary())).collect()
}

/// The cores that this process may use.
#[pyfunction]
pub(crate) fn cores() -> usize {
    embed::all_cores()
}

/// The source of a scene that may be given as a `Scene`, a name, a path or a dict.
pub(crate) fn source_of<'py>(scene: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Source>> {
    let module = scene.py().import("muslin._scene")?;
    Ok(module.call_method1("source_of", (scene,))?.cast_into()?)
}

/// So many threads, or all cores; `what` they are called.
pub(crate) fn thread_count(what: &str, threads: Option<i64>) -> PyResult<usize> {
    match threads {
        None => Ok(embed::all_cores()),
        Some(threads @ 1..=256) => Ok(threads as usize),
        Some(threads) => Err(PyValueError::new_err(format!("{what} must be from 1 to 256, got {threads}"))),
    }
}

/// So many frames to advance by.
pub(crate) fn frame_count(frames: i64) -> PyResult<u64> {
    u64::try_from(frames).map_err(|_| PyValueError::new_err(format!("frames must be 0 or more, got {frames}")))
}
