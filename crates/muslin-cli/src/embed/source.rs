//! A scene as a program has it: read from a file, built in, or put together.

use std::path::PathBuf;

use muslin::SetupError;
use muslin::Simulation;
use muslin::scene::{Finding, Origin, Override, Scene};
use muslin_scenes::builtin::Builtin;

use super::trouble::{Trouble, Warning, warnings};
use crate::args::SceneChanges;
use crate::clock;
use crate::failure::Failure;
use crate::scene_file::SceneFile;
use crate::session::fingerprint;

/// A scene, and where it is from.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) file: SceneFile,
    /// Whether its text was written by a program: nobody knows its lines then.
    is_written: bool,
}

/// A scene that was compiled.
pub(super) struct Built {
    pub(super) simulation: Simulation,
    pub(super) scene: Scene,
    pub(super) fingerprint: u64,
    pub(super) warnings: Vec<Warning>,
}

impl Source {
    /// Finds a scene as the command line does: a built-in name, or the path of a file.
    pub fn open(name: &str) -> Result<Self, Trouble> {
        Ok(Self { file: SceneFile::open(name)?, is_written: false })
    }

    /// A scene that a program has put together. Paths of meshes start from the folder of `path`, and a scene that was made from the built-in one named
    /// `builtin` keeps its files.
    pub fn written(text: String, label: &str, path: Option<PathBuf>, builtin: Option<&str>) -> Self {
        let files = builtin.and_then(Builtin::find).map_or(&[][..], |scene| scene.files);
        Self { file: SceneFile { path, files, ..SceneFile::of_text(text, label.to_owned()) }, is_written: true }
    }

    /// Gives a file by the name that the scene has for it: nothing is read from disk then.
    #[must_use]
    pub fn with_file(mut self, name: &str, content: Vec<u8>) -> Self {
        self.file.given.insert(name.to_owned(), content);
        self
    }

    /// What it is called in messages.
    pub fn label(&self) -> &str {
        &self.file.label
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// The file that it was read from.
    pub fn path(&self) -> Option<&PathBuf> {
        self.file.path.as_ref()
    }

    /// The scene with every default filled in and every change (`KEY=VALUE`) applied, as a scene file; and what to know about it.
    pub fn resolve(&self, sets: &[String]) -> Result<(String, Vec<Warning>), Trouble> {
        let parsed = self.file.parse(&self.changes(sets, None)?).map_err(|failure| self.trouble(failure))?;
        Ok((parsed.scene.to_toml(), self.warnings(parsed.warnings)))
    }

    /// Everything that can be said of the scene without simulating it: warnings, or why it cannot be run.
    pub fn check(&self) -> Result<Vec<Warning>, Trouble> {
        Ok(self.build(&[], 1)?.warnings)
    }

    pub(super) fn changes(&self, sets: &[String], frames: Option<u64>) -> Result<SceneChanges, Trouble> {
        let sets: Result<_, _> = sets.iter().map(|set| Override::parse(set)).collect();
        Ok(SceneChanges { sets: sets.map_err(Trouble::Usage)?, frames })
    }

    pub(super) fn build(&self, sets: &[String], threads: usize) -> Result<Built, Trouble> {
        let file = &self.file;
        let parsed = file.parse(&self.changes(sets, None)?).map_err(|failure| self.trouble(failure))?;
        file.check_memory(&parsed).map_err(|failure| self.trouble(failure))?;
        let mut meshes = file.mesh_files();
        let simulation = meshes.simulation(&parsed.scene, threads).map_err(|error| match error {
            SetupError::Scene(problems) => self.trouble(file.failure(parsed.locate(&problems))),
            SetupError::Team(error) => Trouble::Failed(error.to_string()),
            SetupError::Solver(_) => Trouble::Usage(error.to_string()),
        })?;
        let mut found = parsed.warnings.clone();
        found.extend(parsed.locate(simulation.warnings()));
        let fingerprint = fingerprint(&parsed.scene, &meshes);
        let simulation = simulation.with_clock(clock::seconds);
        Ok(Built { simulation, fingerprint, warnings: self.warnings(found), scene: parsed.scene })
    }

    pub(super) fn warnings(&self, mut list: Vec<Finding>) -> Vec<Warning> {
        list.iter_mut().for_each(|finding| self.place(finding));
        warnings(&self.file.label, &list)
    }

    /// A failure, without lines that nobody has written.
    pub(super) fn trouble(&self, failure: Failure) -> Trouble {
        match failure {
            Failure::Scene(mut findings) => {
                findings.list.retain(Finding::is_error);
                findings.list.iter_mut().for_each(|finding| self.place(finding));
                Trouble::scene(&findings)
            }
            other => other.into(),
        }
    }

    /// What a program has set is named by its key.
    pub(super) fn place(&self, finding: &mut Finding) {
        if self.is_written || matches!(finding.place.origin, Origin::Set(_)) {
            finding.place.origin = Origin::Scene;
        }
    }
}
