//! The results of a run, finished or not: how far they go, and which files they are.
//!
//! Everything is read again for each request, so a reload shows how far a run has come that is still going on.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use muslin::scene::{ColliderShape, Scene, parse};
use muslin_io::{NpyReader, file_stem};
use serde_json::{Value, json};

use super::disk;
use super::reply::Body;
use crate::failure::Failure;
use crate::session::Folder;
use crate::session::folder::{REPORT, SCENE};

/// A folder with a report.
#[derive(Debug)]
pub(crate) struct RunFolder {
    folder: Folder,
    /// Without links in its path.
    real: PathBuf,
    /// Files that the report listed when it was last read: it may be long, and frames are asked for one by one.
    listed: Mutex<Vec<String>>,
}

impl RunFolder {
    /// Opens a folder that has at least the initial state of its cloths.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let real = path.canonicalize().map_err(|error| crate::failure::cannot_read(path, error))?;
        let run = Self { folder: Folder::new(path.to_owned()), real, listed: Mutex::default() };
        let not_ours = |why: String| {
            Failure::Usage(format!(
                "{shown} is not the folder of a run: {why}; \
                 give a folder that `muslin run` has written, a scene file, or a name that `muslin scenes` lists"
            ))
        };
        if !path.join(REPORT).is_file() {
            return Err(not_ours(format!("there is no {REPORT} in it")));
        }
        let report = run.report().map_err(not_ours)?;
        let cloths = run.cloths(&report);
        match cloths.iter().find_map(|cloth| cloth["problem"].as_str()) {
            Some(problem) => Err(Failure::Failed(format!("the run in {shown} cannot be shown: {problem}"))),
            None if cloths.is_empty() => Err(Failure::Failed(format!("the run in {shown} has no cloth"))),
            None => Ok(run),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder.path
    }

    /// What the page is told. `frames` is the number of the last frame that all cloths have; frame 0 is the initial state.
    pub(super) fn to_json(&self) -> Result<Value, String> {
        let mut report = self.report()?;
        let scene = self.scene();
        let cloths = self.cloths(&report);
        let frames = cloths.iter().map(|cloth| cloth["frames"].as_u64().unwrap_or(0)).min().unwrap_or(0);
        let fps = scene.as_ref().map(|scene| scene.fps).or_else(|| fps_of(&report));
        let files: Vec<Value> =
            self.files(&report).into_iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect();
        if let Some(report) = report.as_object_mut() {
            report.remove("frames"); // may be long, and is in report.json
        }
        Ok(json!({
            "kind": "run",
            "name": report["scene"],
            "frames": frames,
            "fps": fps,
            "cloths": cloths,
            "bodies": scene.map_or_else(Vec::new, |scene| self.bodies(&scene)),
            "files": files,
            "report": report,
        }))
    }

    /// A file that the run has made.
    pub(super) fn file(&self, path: &str) -> Option<Body> {
        let is_listed = |listed: &[String]| listed.iter().any(|name| name == path);
        let listed = || self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = is_listed(&listed());
        if !found {
            // A run that goes on may have made it since; others need not wait for the look.
            let now: Vec<String> = names(&self.report().ok()?).map(str::to_owned).collect();
            found = is_listed(&now);
            *listed() = now;
        }
        found.then(|| disk::open_within(&self.real, &self.real.join(path)))?
    }

    fn report(&self) -> Result<Value, String> {
        let Some(bytes) = self.folder.read(REPORT).map_err(|error| error.to_string())? else {
            return Err(format!("there is no {REPORT} in its folder"));
        };
        let report: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        // As the contract has it, whichever version wrote it.
        let is_ours = report["scene"].is_string() && report["cloths"].is_array() && report["frames"].is_array();
        if is_ours { Ok(report) } else { Err(format!("its {REPORT} is not of muslin")) }
    }

    fn scene(&self) -> Option<Scene> {
        let text = String::from_utf8(self.folder.read(SCENE).ok()??).ok()?;
        parse(&text, &[]).scene
    }

    /// Those that are there, with their lengths.
    fn files<'a>(&self, report: &'a Value) -> Vec<(&'a str, u64)> {
        let length = |name: &'a str| Some((name, disk::length_within(&self.real, &self.real.join(name))?));
        names(report).filter_map(length).collect()
    }

    fn cloths(&self, report: &Value) -> Vec<Value> {
        let cloths = report["cloths"].as_array().into_iter().flatten();
        cloths
            .map(|cloth| {
                let name = cloth["name"].as_str().unwrap_or_default();
                let mut told = self.cache(name);
                told["triangles"] = cloth["triangles"].clone();
                told
            })
            .collect()
    }

    /// Meshes that are colliders: their files, and how far those go that move.
    fn bodies(&self, scene: &Scene) -> Vec<Value> {
        let meshes = scene.colliders.iter().filter(|collider| matches!(collider.shape, ColliderShape::Mesh(_)));
        meshes
            .map(|collider| {
                let stem = file_stem(&collider.name);
                match self.folder.join(format!("{stem}.npy")).is_file() {
                    true => self.cache(&collider.name),
                    false => json!({ "name": collider.name, "npy": null, "obj": format!("{stem}.obj") }),
                }
            })
            .collect()
    }

    /// What the header of a cache says, and where it and its mesh are.
    fn cache(&self, name: &str) -> Value {
        let stem = file_stem(name);
        let [npy, obj] = ["npy", "obj"].map(|extension| format!("{stem}.{extension}"));
        let (frames, vertices, problem) = match NpyReader::open(self.folder.join(&npy)) {
            Ok(cache) if cache.frame_count() > 0 => (cache.frame_count() - 1, Some(cache.vertex_count()), None),
            Ok(_) => (0, None, Some(format!("there is no frame in {npy}"))),
            Err(error) => (0, None, Some(error.to_string())),
        };
        json!({ "name": name, "npy": npy, "obj": obj, "frames": frames, "vertices": vertices, "problem": problem })
    }
}

/// The names of the files that a report lists, and of those that are always there.
fn names(report: &Value) -> impl Iterator<Item = &str> {
    let listed = report["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    [REPORT, SCENE].into_iter().chain(listed.filter(|name| *name != REPORT && *name != SCENE))
}

/// From the time of the first frame, where the scene is gone.
fn fps_of(report: &Value) -> Option<f64> {
    report["frames"][0]["time"].as_f64().filter(|time| *time > 0.0).map(|time| 1.0 / time)
}
