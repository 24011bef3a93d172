//! Subject of the page: the built-in scenes, one scene, or the results of a run; and which of its files may be asked for.
//!
//! Files are found in a list, never by joining what a request says: that of the report, or the meshes that the scene names.
//! Those outside of the folder of the scene or run are not given away.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use muslin::scene::Scene;
use serde_json::{Value, json};

use super::disk;
use super::reply::{Body, Reply, content_type};
use super::run_folder::RunFolder;
use crate::scene_file::SceneFile;
use crate::session::sources;

/// What the page is to show.
#[derive(Debug)]
pub(crate) enum Opened {
    Scenes,
    Scene(OpenedScene),
    Run(RunFolder),
}

/// A scene that was found sound.
#[derive(Debug)]
pub(crate) struct OpenedScene {
    name: String,
    toml: String,
    /// As they were typed.
    sets: Vec<String>,
    /// Where paths of meshes start from.
    folder: PathBuf,
    files: Vec<(String, Source)>,
    /// Whether these are all that the scene names.
    complete: bool,
    /// All that it names.
    named: BTreeSet<String>,
}

/// Where a mesh is.
#[derive(Debug)]
enum Source {
    Embedded(&'static [u8]),
    File(PathBuf),
}

impl Opened {
    /// What the page is told.
    pub(super) fn to_json(&self) -> Result<Value, String> {
        match self {
            Self::Scenes => Ok(json!({ "kind": "scenes" })),
            Self::Scene(scene) => Ok(scene.to_json()),
            Self::Run(run) => run.to_json(),
        }
    }

    /// A file, by its path in the folder.
    pub(super) fn file(&self, path: &str) -> Option<Reply> {
        let body = match self {
            Self::Scenes => None,
            Self::Scene(scene) => scene.file(path),
            Self::Run(run) => run.file(path),
        };
        Some(Reply::new(content_type(path, false), body?))
    }

    /// Where a session finds the meshes of a scene.
    pub(super) fn folder(&self) -> PathBuf {
        match self {
            Self::Scenes => PathBuf::new(),
            Self::Scene(scene) => scene.folder.clone(),
            Self::Run(run) => run.path().to_owned(),
        }
    }

    /// The files that the scene names which was opened, wherever they are.
    pub(super) fn named(&self) -> BTreeSet<String> {
        if let Self::Scene(scene) = self { scene.named.clone() } else { BTreeSet::new() }
    }

    /// Meshes that are on no disk.
    pub(super) fn embedded(&self) -> impl Iterator<Item = (&str, &'static [u8])> {
        let files = if let Self::Scene(scene) = self { scene.files.as_slice() } else { &[] };
        files.iter().filter_map(|(name, source)| match source {
            Source::Embedded(bytes) => Some((name.as_str(), *bytes)),
            Source::File(_) => None,
        })
    }
}

impl OpenedScene {
    pub(crate) fn new(file: &SceneFile, scene: &Scene, sets: Vec<String>) -> Self {
        let folder = file.folder();
        let embedded = file.files.iter().map(|(name, bytes)| ((*name).to_owned(), Source::Embedded(bytes)));
        let (files, complete) = match file.path {
            None => (embedded.collect(), true),
            Some(_) => meshes(&folder, scene),
        };
        let named = sources(scene).into_iter().map(|(name, _)| name.to_owned()).collect();
        Self { name: scene.name.clone(), toml: file.text.clone(), sets, folder, files, complete, named }
    }

    fn to_json(&self) -> Value {
        let files: Vec<&str> = self.files.iter().map(|(name, _)| name.as_str()).collect();
        let (name, toml, sets, complete) = (&self.name, &self.toml, &self.sets, self.complete);
        json!({ "kind": "scene", "name": name, "toml": toml, "sets": sets, "files": files, "complete": complete })
    }

    fn file(&self, path: &str) -> Option<Body> {
        // A browser resolves "./a.obj" and "b/../a.obj" before it asks.
        let (_, source) = self.files.iter().find(|(name, _)| resolved(name).as_deref() == Some(path))?;
        match source {
            Source::Embedded(bytes) => Some(Body::Bytes(Cow::Borrowed(*bytes))),
            Source::File(file) => disk::open_within(&real(&self.folder)?, file),
        }
    }
}

/// The meshes that a scene names and that lie inside of its folder, each once, by the name that the scene uses; and whether these are all.
/// Patterns (`body_*.obj`) are left to the machine, which has the folder to look in.
fn meshes(folder: &Path, scene: &Scene) -> (Vec<(String, Source)>, bool) {
    let mut files: Vec<(String, Source)> = Vec::new();
    let Some(inside) = real(folder) else { return (files, false) };
    let mut are_all = true;
    for (name, _) in sources(scene) {
        let path = folder.join(name);
        if files.iter().any(|(known, _)| known == name) {
            continue;
        }
        match !name.contains('*') && resolved(name).is_some() && disk::length_within(&inside, &path).is_some() {
            true => files.push((name.to_owned(), Source::File(path))),
            false => are_all = false,
        }
    }
    (files, are_all)
}

/// The folder without links in its path.
fn real(folder: &Path) -> Option<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    here.canonicalize().ok()
}

/// The path that an address with this name asks for; `None` if it would leave the folder.
fn resolved(name: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve_as_in_addresses() {
        for (name, expected) in [
            ("a.obj", Some("a.obj")),
            ("./a/./b.obj", Some("a/b.obj")),
            ("a/../b.obj", Some("b.obj")),
            ("../a.obj", None),
            ("a/../../b.obj", None),
            ("/a.obj", None),
        ] {
            assert_eq!(resolved(name).as_deref(), expected, "{name}");
        }
    }
}
