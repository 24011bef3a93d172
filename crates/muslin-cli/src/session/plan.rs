//! Plan of a run: scene, frames and folder, decided before anything is written.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;

use muslin::scene::{Cloth, ClothShape, Collider, ColliderShape, RestShape, Scene, parse};
use muslin::{SetupError, Simulation};
use muslin_io::{FORMATS, Format, file_stem};

use super::bad_start;
use super::export;
use super::fingerprint::fingerprint;
use super::folder::{self, Folder};
use super::garment;
use super::preview;
use crate::args::{Preview, RunArguments};
use crate::builtin;
use crate::clock;
use crate::failure::Failure;
use crate::findings::Findings;
use crate::memory;
use crate::mesh_files::{MeshFiles, expand};
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
    plan_of(&SceneFile::open(arguments.scene.as_deref().unwrap_or(builtin::DEFAULT))?, arguments)
}

/// The same of a scene that was read.
pub(crate) fn plan_of(file: &SceneFile, arguments: &RunArguments) -> Result<(Plan, Simulation), Failure> {
    let mut parsed = file.parse(&arguments.changes)?;
    file.check_memory(&parsed)?;
    let mut warnings = mem::take(&mut parsed.warnings);
    let mut meshes = file.mesh_files();
    let threads = arguments.threads.map_or_else(all_cores, usize::from);
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&parsed.scene.name));
    let folder = Folder::new(out);
    let simulation = meshes.simulation(&parsed.scene, threads).map_err(|error| match error {
        SetupError::Scene(mut problems) => {
            bad_start::paint(arguments, &parsed.scene, &folder, &mut meshes, &mut problems);
            warnings.extend(parsed.locate(&problems));
            file.failure(mem::take(&mut warnings))
        }
        SetupError::Team(error) => Failure::Failed(error.to_string()),
        SetupError::Solver(_) => Failure::Usage(error.to_string()),
    })?;
    warnings.extend(parsed.locate(simulation.warnings()));
    warnings.extend(parsed.locate(meshes.notes()));
    if let Some(problem) = memory::contact_shortage(simulation.model()) {
        warnings.extend(parsed.locate(&[problem]));
        return Err(file.failure(warnings));
    }
    let mut scene = parsed.scene;

    let formats = formats(&arguments.formats);
    let (files, later) = (files(&scene), later(&scene, &formats, arguments.preview));
    keep_off_sources(&folder, file, &scene, &[&files, &later, &folder.made()])?;
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
    Ok((plan, simulation.with_clock(clock::seconds)))
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
        if let ClothShape::Mesh { file } = &mut cloth.shape {
            let name = input_name(&cloth.name);
            inputs.push((name.clone(), meshes.content(file).to_vec()));
            // The copy is an OBJ, in which repeated vertices are meant unless this says otherwise.
            if file.to_ascii_lowercase().ends_with(".glb") {
                cloth.weld.get_or_insert(0.0);
            }
            *file = name;
        }
        if let ClothShape::Pattern { file, .. } = &mut cloth.shape {
            let name = pattern_input_name(&cloth.name);
            inputs.push((name.clone(), meshes.content(file).to_vec()));
            *file = name;
        }
        if let RestShape::File(file) = &mut cloth.rest {
            let name = rest_input_name(&cloth.name);
            inputs.push((name.clone(), meshes.content(file).to_vec()));
            *file = name;
        }
    }
    for collider in &mut scene.colliders {
        if let ColliderShape::Mesh(mesh) = &mut collider.shape {
            let name = input_name(&collider.name);
            inputs.push((name.clone(), meshes.content(&mesh.file).to_vec()));
            mesh.file = name;
            if let Some(frames) = &mut mesh.frames {
                let name = frames_name(&collider.name);
                inputs.push((name.clone(), meshes.frames_content(&frames.file).to_vec()));
                frames.file = name;
            }
        }
    }
    inputs
}

/// The copy of the mesh of a cloth or collider.
fn input_name(owner: &str) -> String {
    format!("{}/{}.obj", folder::INPUTS, file_stem(owner))
}

/// The copy of the pattern of a cloth.
fn pattern_input_name(cloth: &str) -> String {
    format!("{}/{}.json", folder::INPUTS, file_stem(cloth))
}

/// The copy of the rest shape of a cloth. No stem has a plus sign, so it is nobody else's.
fn rest_input_name(cloth: &str) -> String {
    format!("{}/{}+rest.obj", folder::INPUTS, file_stem(cloth))
}

/// The copy of the frames of an animated collider.
fn frames_name(owner: &str) -> String {
    format!("{}/{}.npy", folder::INPUTS, file_stem(owner))
}

/// What the scene is read from, as it names it, and the copy of it among the results.
pub(crate) fn sources(scene: &Scene) -> Vec<(&str, String)> {
    let mut sources = Vec::new();
    for cloth in &scene.cloths {
        if let ClothShape::Mesh { file } = &cloth.shape {
            sources.push((file.as_str(), input_name(&cloth.name)));
        }
        if let ClothShape::Pattern { file, .. } = &cloth.shape {
            sources.push((file.as_str(), pattern_input_name(&cloth.name)));
        }
        if let RestShape::File(file) = &cloth.rest {
            sources.push((file.as_str(), rest_input_name(&cloth.name)));
        }
    }
    for collider in &scene.colliders {
        if let ColliderShape::Mesh(mesh) = &collider.shape {
            sources.push((mesh.file.as_str(), input_name(&collider.name)));
            sources.extend(mesh.frames.iter().map(|frames| (frames.file.as_str(), frames_name(&collider.name))));
        }
    }
    sources
}

/// The result files of a collider: its mesh, and where it goes.
fn files_of_collider(collider: &Collider) -> Vec<String> {
    let ColliderShape::Mesh(mesh) = &collider.shape else { return Vec::new() };
    let stem = file_stem(&collider.name);
    let moves = !collider.path.is_still() || mesh.frames.is_some();
    std::iter::once(format!("{stem}.obj")).chain(moves.then(|| format!("{stem}.npy"))).collect()
}

/// The files that a run has from its beginning.
fn files(scene: &Scene) -> Vec<String> {
    let own = [folder::REPORT, folder::SCENE, folder::CHECKPOINT].map(str::to_owned);
    let inputs = sources(scene).into_iter().map(|(_, copy)| copy);
    let of_cloth = |cloth: &Cloth| ["obj", "npy"].map(|extension| format!("{}.{extension}", file_stem(&cloth.name)));
    let of_colliders = scene.colliders.iter().flat_map(files_of_collider);
    own.into_iter().chain(inputs).chain(scene.cloths.iter().flat_map(of_cloth)).chain(of_colliders).collect()
}

/// The files and folders that are made of the frames.
fn later(scene: &Scene, formats: &[&Format], preview: Preview) -> Vec<String> {
    let of_cloth = |cloth: &Cloth| {
        let stem = file_stem(&cloth.name);
        formats.iter().map(move |format| export::name(format, &stem))
    };
    let of_garment = garment::names(scene, preview);
    scene.cloths.iter().flat_map(of_cloth).chain(preview::names(preview)).chain(of_garment).collect()
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
    let sources = sources(scene);
    for (source, _) in &sources {
        // Its own copy is written as it is.
        let is_copy = |path: &Path| {
            let mut same = sources.iter().filter(|(other, _)| other == source);
            same.any(|(_, copy)| is_same_file(path, &folder.join(copy)))
        };
        for path in expand(&file.folder(), source) {
            let mut names = names.iter().copied().flatten().map(|name| folder.join(name));
            if names.any(|name| is_same_or_within(&path, &name)) && !is_copy(&path) {
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
