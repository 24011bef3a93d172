//! What is to be run, and where to: decided before anything is written.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;

use muslin::scene::{Scene, Shape, parse};
use muslin::{SetupError, Simulation};
use muslin_io::{FORMATS, Format, file_stem};

use super::fingerprint::fingerprint;
use super::folder::{self, Folder};
use crate::args::{Preview, RunArguments};
use crate::builtin;
use crate::clock::WallClock;
use crate::failure::Failure;
use crate::findings::Findings;
use crate::mesh_files::MeshFiles;
use crate::scene_file::SceneFile;

/// A run that can begin.
pub(crate) struct Plan {
    /// As it is run: every override applied, and meshes where the results keep them.
    pub(crate) scene: Scene,
    pub(crate) fingerprint: u64,
    pub(crate) folder: Folder,
    /// Copies of the meshes: name in the folder, and content.
    pub(crate) inputs: Vec<(String, Vec<u8>)>,
    /// Formats besides npy.
    pub(crate) formats: Vec<&'static Format>,
    pub(crate) preview: Preview,
    pub(crate) threads: usize,
    /// What the user should know.
    pub(crate) warnings: Findings,
}

/// Reads and compiles a scene.
pub(crate) fn plan(arguments: &RunArguments) -> Result<(Plan, Simulation), Failure> {
    let file = SceneFile::open(arguments.scene.as_deref().unwrap_or(builtin::DEFAULT))?;
    let mut parsed = file.parse(&arguments.changes)?;
    let mut warnings = mem::take(&mut parsed.warnings);
    let mut meshes = MeshFiles::new(file.folder());
    let threads = arguments.threads.map_or_else(all_cores, usize::from);
    let simulation =
        Simulation::new(&parsed.scene, threads, &mut |name| meshes.load(name)).map_err(|error| match error {
            SetupError::Scene(problems) => {
                warnings.extend(parsed.locate(&problems));
                file.failure(mem::take(&mut warnings))
            }
            SetupError::Team(error) => Failure::Failed(error.to_string()),
            SetupError::Solver(_) => Failure::Usage(error.to_string()),
        })?;
    warnings.extend(parsed.locate(simulation.warnings()));
    let mut scene = parsed.scene;

    let folder = Folder::new(arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.name)));
    keep_off_sources(&folder, &file, &scene)?;
    let fingerprint = fingerprint(&scene, &meshes);
    let plan = Plan {
        inputs: bring_along(&mut scene, &meshes),
        scene,
        fingerprint,
        folder,
        formats: formats(&arguments.formats),
        preview: arguments.preview,
        threads,
        warnings: file.findings(warnings),
    };
    Ok((plan, simulation.with_clock(WallClock::start())))
}

/// As many threads as the machine has cores for this process.
pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(256)
}

/// The formats besides npy, each once, in the order of the table.
fn formats(names: &[String]) -> Vec<&'static Format> {
    FORMATS.iter().filter(|format| !format.written_by_run && names.iter().any(|name| name == format.name)).collect()
}

/// Lets a scene name its meshes where the results will have copies of them, so that it runs again from there even if the
/// folder is moved or the originals change.
fn bring_along(scene: &mut Scene, meshes: &MeshFiles) -> Vec<(String, Vec<u8>)> {
    let mut inputs = Vec::new();
    for cloth in &mut scene.cloths {
        if let Shape::Mesh { file } = &mut cloth.shape {
            let name = format!("{}/{}.obj", folder::INPUTS, file_stem(&cloth.name));
            inputs.push((name.clone(), meshes.content(file).to_vec()));
            *file = name;
        }
    }
    inputs
}

/// Refuses a folder in which the results would overwrite what the scene is made of.
fn keep_off_sources(folder: &Folder, file: &SceneFile, scene: &Scene) -> Result<(), Failure> {
    let refuse = |what: String| {
        let place = folder.path.display();
        Err(Failure::Usage(format!("results in {place} would overwrite {what}; choose another folder with --out")))
    };
    if let Some(path) = &file.path
        && is_same_file(path, &folder.join(folder::SCENE))
        && !is_generated(path)
    {
        return refuse(format!("the scene {}", path.display()));
    }
    for cloth in &scene.cloths {
        if let Shape::Mesh { file: mesh } = &cloth.shape {
            let path = file.folder().join(mesh);
            if scene.cloths.iter().any(|c| is_same_file(&path, &folder.join(format!("{}.obj", file_stem(&c.name))))) {
                return refuse(format!("the mesh {}", path.display()));
            }
        }
    }
    Ok(())
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let canonical = |path: &Path| fs::canonicalize(path).ok();
    canonical(a).is_some_and(|a: PathBuf| canonical(b) == Some(a))
}

/// Whether a scene file is one that muslin wrote: those read back as themselves, down to the last comma.
fn is_generated(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    parse(&text, &[]).scene.is_some_and(|scene| scene.to_toml() == text)
}
