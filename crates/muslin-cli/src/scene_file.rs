//! A scene as it is named on the command line: found, read, parsed and compiled, with everything that is wrong in it.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use muslin::model::Problem;
use muslin::scene::{Finding, MAX_DURATION, Origin, Outcome, Place, Scene, Severity, parse};

use crate::args::SceneChanges;
use crate::builtin::{self, Builtin};
use crate::failure::{Failure, cannot_read};
use crate::findings::Findings;
use crate::memory;
use crate::mesh_files::{MeshFiles, read_file};

/// The text of a scene, and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct SceneFile {
    /// What it is called in messages.
    pub(crate) label: String,
    pub(crate) text: String,
    /// `None` for a built-in scene.
    pub(crate) path: Option<PathBuf>,
    /// Files that come with a built-in scene.
    pub(crate) files: &'static [(&'static str, &'static [u8])],
    /// Files that a program has given, by the names that the scene has for them.
    pub(crate) given: BTreeMap<String, Vec<u8>>,
}

/// A scene without errors.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) scene: Scene,
    /// What will not be as the scene says.
    pub(crate) warnings: Vec<Finding>,
    /// Knows where every key was written.
    outcome: Outcome,
}

impl Parsed {
    /// What the library found when it compiled the scene, each at the line of its key.
    pub(crate) fn locate(&self, problems: &[Problem]) -> Vec<Finding> {
        let locate = |problem: &Problem| Finding {
            severity: problem.severity,
            place: Place { origin: self.outcome.origin(&problem.place), path: problem.place.clone() },
            message: problem.message.clone(),
        };
        problems.iter().map(locate).collect()
    }
}

impl SceneFile {
    /// Finds a scene: what looks like a path is a file; anything else is a built-in scene, or else a file.
    pub(crate) fn open(name: &str) -> Result<Self, Failure> {
        let looks_like_path = name.ends_with(".toml") || name.contains(['/', std::path::MAIN_SEPARATOR]);
        match Builtin::find(name).filter(|_| !looks_like_path) {
            Some(scene) => Ok(Self {
                label: format!("built-in {name}"),
                text: scene.text.to_owned(),
                path: None,
                files: scene.files,
                given: BTreeMap::new(),
            }),
            None if looks_like_path || Path::new(name).is_file() => Self::read(name),
            None => Err(Failure::Usage(builtin::unknown(name, "neither a built-in scene nor a file"))),
        }
    }

    /// A scene that is in no file.
    pub(crate) fn of_text(text: String, label: String) -> Self {
        Self { label, text, path: None, files: &[], given: BTreeMap::new() }
    }

    fn read(name: &str) -> Result<Self, Failure> {
        let path = PathBuf::from(name);
        let bytes = read_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => Failure::Usage(
                format!("{}; give a scene file, or a name that `muslin scenes` lists", cannot_read(&path, error)),
            ),
            _ => cannot_read(&path, error).into(),
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path: Some(path), ..Self::of_text(text, name.to_owned()) }),
            Err(error) => Err(not_text(name, error.as_bytes(), error.utf8_error().valid_up_to())),
        }
    }

    /// The folder that the paths of its meshes start from.
    pub(crate) fn folder(&self) -> PathBuf {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned()
    }

    /// The meshes that it names.
    pub(crate) fn mesh_files(&self) -> MeshFiles {
        let mut meshes = MeshFiles::new(self.folder(), self.files);
        self.given.iter().for_each(|(name, bytes)| meshes.put(name, bytes.clone()));
        meshes
    }

    /// The scene with everything the command line changes in it.
    pub(crate) fn parse(&self, changes: &SceneChanges) -> Result<Parsed, Failure> {
        let mut outcome = parse(&self.text, &changes.sets);
        let findings = mem::take(&mut outcome.findings);
        let Some(mut scene) = outcome.scene.take() else { return Err(self.failure(findings)) };
        if let Some(frames) = changes.frames {
            scene.duration = duration_of(frames, scene.fps)?;
        }
        Ok(Parsed { scene, warnings: findings, outcome })
    }

    /// Refuses a scene that this machine has no memory for, before any of its meshes is made.
    pub(crate) fn check_memory(&self, parsed: &Parsed) -> Result<(), Failure> {
        match memory::shortage(&parsed.scene, &self.folder()) {
            Some(problem) => Err(self.failure(parsed.locate(&[problem]))),
            None => Ok(()),
        }
    }

    /// Findings as a failure.
    pub(crate) fn failure(&self, list: Vec<Finding>) -> Failure {
        Failure::Scene(Box::new(self.findings(list)))
    }

    /// Findings of this file.
    pub(crate) fn findings(&self, list: Vec<Finding>) -> Findings {
        Findings { label: self.label.clone(), text: self.text.clone(), list }
    }
}

/// The duration of exactly this many frames.
fn duration_of(frames: u64, fps: f64) -> Result<f64, Failure> {
    let duration = frames as f64 / fps;
    if duration > MAX_DURATION {
        return Err(Failure::Usage(format!(
            "--frames {frames}: at {fps} frames a second that is {duration} s, but the limit is {MAX_DURATION} s; \
             ask for fewer frames"
        )));
    }
    Ok(duration)
}

fn not_text(label: &str, bytes: &[u8], at: usize) -> Failure {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // Everything before the first bad byte is kept as it is, so its place is the same in the text.
    let origin = Origin::in_text(&text, at..at);
    let message = format!("byte {:#04x} is not UTF-8 text; save the scene as UTF-8", bytes[at]);
    let place = Place { origin, path: String::new() };
    let list = vec![Finding { severity: Severity::Error, place, message }];
    Failure::Scene(Box::new(Findings { label: label.to_owned(), text, list }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_frames_comes_out_exactly() {
        let mut scene = parse("[[cloth]]\ngrid = { size = [1, 1], cells = [1, 1] }", &[]).scene.unwrap();
        for fps in [1.0, 23.976, 24.0, 29.97, 60.0, 999.9] {
            scene.fps = fps;
            for frames in [1, 2, 3, 7, 59, 60, 61, 99_999, 100_000] {
                scene.duration = duration_of(frames, fps).unwrap();
                assert_eq!(scene.frame_count() as u64, frames, "{frames} frames at {fps}");
            }
        }
        assert!(duration_of(1_000_000, 1.0).is_err(), "too long");
    }
}
