//! What is to be run, and where to: decided before anything is written.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;

use muslin::scene::{Cloth, Scene, Shape, parse};
use muslin::{SetupError, Simulation};
use muslin_io::{FORMATS, Format, file_stem};

use super::export;
use super::fingerprint::fingerprint;
use super::folder::{self, Folder};
use super::preview;
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
    /// What is written from the beginning, by name in the folder.
    pub(crate) files: Vec<String>,
    /// What is made of the frames at the end.
    pub(crate) later: Vec<String>,
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
    file.check_memory(&parsed)?;
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
    let formats = formats(&arguments.formats);
    let (files, later) = (files(&scene), later(&scene, &formats, arguments.preview));
    keep_off_sources(&folder, &file, &scene, &[&files, &later, &folder.made()])?;
    let fingerprint = fingerprint(&scene, &meshes);
    let plan = Plan {
        inputs: bring_along(&mut scene, &meshes),
        scene,
        fingerprint,
        folder,
        files,
        later,
        formats,
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
            let name = input_name(&cloth.name);
            inputs.push((name.clone(), meshes.content(file).to_vec()));
            *file = name;
        }
    }
    inputs
}

/// The copy of the mesh of a cloth.
fn input_name(cloth: &str) -> String {
    format!("{}/{}.obj", folder::INPUTS, file_stem(cloth))
}

/// The files that a run has from its beginning.
fn files(scene: &Scene) -> Vec<String> {
    let own = [folder::REPORT, folder::SCENE, folder::CHECKPOINT].map(str::to_owned);
    let meshes = scene.cloths.iter().filter(|cloth| matches!(cloth.shape, Shape::Mesh { .. }));
    let inputs = meshes.map(|cloth| input_name(&cloth.name));
    let of_cloth = |cloth: &Cloth| ["obj", "npy"].map(|extension| format!("{}.{extension}", file_stem(&cloth.name)));
    own.into_iter().chain(inputs).chain(scene.cloths.iter().flat_map(of_cloth)).collect()
}

/// The files and folders that are made of the frames.
fn later(scene: &Scene, formats: &[&Format], preview: Preview) -> Vec<String> {
    let of_cloth = |cloth: &Cloth| {
        let stem = file_stem(&cloth.name);
        formats.iter().map(move |format| export::name(format, &stem))
    };
    scene.cloths.iter().flat_map(of_cloth).chain(preview::names(preview)).collect()
}

/// Refuses a folder in which the results, or the removal of earlier ones, would cost what the scene is made of;
/// `names` are the lists of what is written or removed.
fn keep_off_sources(folder: &Folder, file: &SceneFile, scene: &Scene, names: &[&[String]]) -> Result<(), Failure> {
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
            // Its own copy is written as it is.
            let is_copy = |c: &Cloth| c.shape == cloth.shape && is_same_file(&path, &folder.join(input_name(&c.name)));
            let mut names = names.iter().copied().flatten().map(|name| folder.join(name));
            if names.any(|name| is_same_or_within(&path, &name)) && !scene.cloths.iter().any(is_copy) {
                return refuse(format!("the mesh {}", path.display()));
            }
        }
    }
    Ok(())
}

/// Whether a file is this one, or lies in this folder.
fn is_same_or_within(file: &Path, other: &Path) -> bool {
    is_same_file(file, other) || other.is_dir() && file.parent().is_some_and(|folder| is_same_file(folder, other))
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
