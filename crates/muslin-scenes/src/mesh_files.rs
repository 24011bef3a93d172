//! The mesh files that a scene names.
//!
//! Results must run again from their folder alone, to the same bits, so what was read is kept until it has been copied
//! there: the file itself may be gone or changed by then. The rest mesh among the results is no substitute, since it is
//! scaled, repaired and in single precision.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use muslin::mesh::{Group, Mesh, Severity, Uv};
use muslin::model::{LoadFrames, LoadMesh, Problem};
use muslin::parallel::Team;
use muslin::scene::{ColliderShape, Scene};
use muslin::setup::{BadStart, Compiled};
use muslin::{SetupError, Simulation};
use muslin_io::{GlbMesh, IoError, ObjMesh, npy_bytes, read_glb, read_npy, read_obj};

use crate::figure;
use crate::figure::Timing;
use crate::patterns;
use crate::patterns::Sewing;

/// Reads meshes, and remembers what it read.
#[derive(Debug)]
pub struct MeshFiles {
    folder: PathBuf,
    /// Files that are not looked for in the folder, as they are.
    given: BTreeMap<String, Vec<u8>>,
    /// Of a confined one: what may be read wherever it is.
    named: Option<BTreeSet<String>>,
    /// The meshes that were read, as OBJ.
    contents: BTreeMap<String, Vec<u8>>,
    /// The frames of animated meshes as `.npy`, whatever they were read from.
    frames: BTreeMap<String, Vec<u8>>,
    /// For the frames of each animated mesh, how many a second there are to be, and the file of the mesh.
    animated: BTreeMap<String, (f64, String)>,
    /// The sewing patterns that the scene names, as the library asks for them, with their files and what the scene says of them.
    sewings: BTreeMap<String, (String, Sewing)>,
    /// When the figure of the program moves.
    timing: Timing,
    notes: Vec<Problem>,
}

impl MeshFiles {
    /// Paths start from `folder`; what is `known` is not looked for there.
    pub fn new(folder: PathBuf, known: &[(&str, &[u8])]) -> Self {
        let given = known.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        Self {
            folder,
            given,
            named: None,
            contents: BTreeMap::new(),
            frames: BTreeMap::new(),
            animated: BTreeMap::new(),
            sewings: BTreeMap::new(),
            timing: Timing::default(),
            notes: Vec::new(),
        }
    }

    /// Keeps a file that is not to be looked for.
    pub fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.given.insert(name.to_owned(), bytes);
    }

    /// From now on reads nothing from disk but plain files inside of the folder, and what is `named`.
    pub fn confine(&mut self, named: BTreeSet<String>) {
        self.named = Some(named);
    }

    /// Whether a file may be read from disk.
    fn check(&self, name: &str, path: &Path) -> Result<(), String> {
        let Some(named) = &self.named else { return Ok(()) };
        if named.contains(name) {
            return Ok(());
        }
        let real = |path: &Path| path.canonicalize().ok();
        let folder = Some(&self.folder).filter(|folder| !folder.as_os_str().is_empty()).and_then(|folder| real(folder));
        match real(path).zip(folder) {
            Some((file, folder)) if file.starts_with(&folder) && file.is_file() => Ok(()),
            _ => Err(format!("there is no file {name} here; give it, or open the scene that names it")),
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.given.get(name) {
            return Ok(bytes.clone());
        }
        let path = self.folder.join(name);
        self.check(name, &path)?;
        read(&path)
    }

    /// Bytes of a file, if it is there.
    pub fn length(&self, name: &str) -> Option<u64> {
        let given = self.given.get(name).map(|bytes| bytes.len() as u64);
        given.or_else(|| fs::metadata(self.folder.join(name)).ok().map(|file| file.len()))
    }

    /// The mesh of a file, or one sentence about why there is none.
    pub fn load(&mut self, name: &str) -> Result<Mesh, String> {
        if let Some((file, sewing)) = self.sewings.get(name).cloned() {
            return self.sew(&file, &sewing);
        }
        let path = self.folder.join(name);
        let bytes = match self.contents.get(name) {
            Some(bytes) => bytes,
            None => {
                let mut bytes = match self.read(name) {
                    Err(_) if name == figure::NAME => figure::obj(),
                    outcome => outcome?,
                };
                if is_glb(name) {
                    bytes = obj_of(&glb(&path, &bytes)?);
                }
                self.contents.entry(name.to_owned()).or_insert(bytes)
            }
        };
        match read_obj(bytes) {
            Ok(mesh) => Ok(from_obj(mesh)),
            Err(error) => Err(format!("{}:{}: {}", path.display(), error.line, error.problem)),
        }
    }

    /// The cloth of a sewing pattern: a file, or one that comes with the program.
    fn sew(&mut self, name: &str, sewing: &Sewing) -> Result<Mesh, String> {
        let path = self.folder.join(name);
        let bytes = match self.contents.get(name) {
            Some(bytes) => bytes.clone(),
            None => match (self.read(name), patterns::built_in(name)) {
                (Ok(bytes), _) => bytes,
                (Err(_), Some(text)) => text.as_bytes().to_vec(),
                (Err(error), None) => return Err(error),
            },
        };
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("{} is not a sewing pattern: it is no UTF-8 text", path.display()))?;
        let bodies = sewing.bodies.iter().map(|body| {
            let mut mesh = self.load(&body.file)?;
            if let Some(frames) = &body.frames {
                let frames = self.load_frames(&frames.file)?;
                let first = frames.first().into_iter().flatten();
                mesh.positions = first.map(|p| p.map(f64::from)).collect();
            }
            Ok(mesh)
        });
        // A body that cannot be read is reported as what it is.
        let bodies: Vec<Mesh> = bodies.collect::<Result<_, String>>().unwrap_or_default();
        let (mesh, notes) = sewing.sew(&text, &bodies).map_err(|error| format!("{}: {error}", path.display()))?;
        let place = format!("{}.pattern", sewing.place);
        let note = |message| Problem { severity: Severity::Warning, place: place.clone(), message };
        self.notes.extend(notes.into_iter().map(note));
        self.contents.insert(name.to_owned(), text.into_bytes());
        Ok(mesh)
    }

    /// What somebody should look at in the patterns that were sewn last.
    pub fn notes(&self) -> &[Problem] {
        &self.notes
    }

    /// A simulation of a scene with these files.
    pub fn simulation(&mut self, scene: &Scene, threads: usize) -> Result<Simulation, SetupError> {
        self.with_loaders(scene, |load, load_frames| Simulation::new_with(scene, threads, load, load_frames))
    }

    /// The same on a team that is there.
    pub fn simulation_on(&mut self, scene: &Scene, team: Team) -> Result<Simulation, SetupError> {
        self.with_loaders(scene, |load, load_frames| Simulation::with_team(scene, team, load, load_frames))
    }

    /// The compiled side of a scene with these files.
    pub fn compile(&mut self, scene: &Scene) -> Result<Compiled, Vec<Problem>> {
        self.with_loaders(scene, |load, load_frames| muslin::setup::compile_with(scene, load, load_frames))
    }

    /// The start of a scene that is refused for what cuts or touches in it.
    pub fn bad_start(&mut self, scene: &Scene) -> Option<BadStart> {
        self.with_loaders(scene, |load, load_frames| BadStart::find(scene, load, load_frames))
    }

    /// Both callbacks write down what they read, one after the other.
    fn with_loaders<T>(&mut self, scene: &Scene, build: impl FnOnce(&mut LoadMesh<'_>, &mut LoadFrames<'_>) -> T) -> T {
        for collider in &scene.colliders {
            if let ColliderShape::Mesh(mesh) = &collider.shape
                && let Some(frames) = &mesh.frames
            {
                let wanted = (frames.fps, mesh.file.clone());
                let known = self.animated.insert(frames.file.clone(), wanted.clone());
                // Sampled at another rate, or less the copies of another mesh.
                if is_glb(&frames.file) && known.is_some_and(|known| known != wanted) {
                    self.frames.remove(&frames.file);
                }
            }
        }
        self.sewings.clear();
        let sewn = scene.cloths.iter().filter_map(|cloth| cloth.settle_by.or(cloth.close_by)).fold(0.0, f64::max);
        self.timing = Timing { begins: sewn, ends: scene.duration };
        self.notes.clear();
        for (file, sewing) in Sewing::of(scene) {
            self.sewings.insert(format!("{file}#{}", sewing.place), (file, sewing));
        }
        let files = RefCell::new(self);
        build(&mut |name| files.borrow_mut().load(name), &mut |name| files.borrow_mut().load_frames(name))
    }

    /// The frames of an animated mesh: a `.npy`, a `.glb`, or the files of a pattern (`body_*.obj`), sorted by name.
    pub fn load_frames(&mut self, name: &str) -> Result<Vec<Vec<[f32; 3]>>, String> {
        let path = self.folder.join(name);
        let of_npy = |bytes: &[u8]| read_npy(bytes).map_err(|error| format!("cannot read {}: {error}", path.display()));
        if let Some(bytes) = self.frames.get(name) {
            return of_npy(bytes);
        }
        let fps = self.animated.get(name).map_or(60.0, |(fps, _)| *fps);
        let of_figure = if path.exists() { None } else { figure::frames(name, fps, self.timing) };
        let frames = if let Some(frames) = of_figure {
            frames
        } else if is_pattern(name) {
            let files = expand(&self.folder, name);
            if files.is_empty() {
                return Err(format!("there is no file {}", path.display()));
            }
            files.iter().try_for_each(|file| self.check(name, file))?;
            let frame = |path: &PathBuf| match read_obj(&read(path)?) {
                Ok(mesh) => Ok(mesh.positions.iter().map(|p| p.map(|x| x as f32)).collect::<Vec<_>>()),
                Err(error) => Err(format!("{}:{}: {}", path.display(), error.line, error.problem)),
            };
            let frames: Vec<Vec<[f32; 3]>> = files.iter().map(frame).collect::<Result<_, _>>()?;
            let expected = frames[0].len();
            if let Some(odd) = frames.iter().position(|frame| frame.len() != expected) {
                let (found, file, first) = (frames[odd].len(), files[odd].display(), files[0].display());
                return Err(format!("{file} has {found} vertices, but {first} has {expected}"));
            }
            frames
        } else if is_glb(name) {
            let mesh = glb(&path, &self.read(name)?)?;
            let (fps, file) = self.animated.get(name).cloned().unwrap_or((60.0, String::new()));
            let mut frames = mesh.frames(fps).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            // Files for pictures repeat vertices along the seams of the texture, behind all others.
            if let Ok(still) = self.load(&file) {
                GlbMesh::drop_copies(&mut frames, still.positions.len());
            }
            frames
        } else {
            of_npy(&self.read(name)?)?
        };
        self.frames.insert(name.to_owned(), npy_bytes(&frames));
        Ok(frames)
    }

    /// The frames of an animated mesh that was loaded, as a `.npy`.
    pub fn frames_content(&self, name: &str) -> &[u8] {
        self.frames.get(name).map_or(&[], Vec::as_slice)
    }

    /// What a file that was loaded contained.
    pub fn content(&self, name: &str) -> &[u8] {
        self.contents.get(name).map_or(&[], Vec::as_slice)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    if cfg!(target_family = "wasm") {
        // A page has no disk, and its word for that helps nobody.
        return Err(format!("{} is missing; open it together with the scene", path.display()));
    }
    read_file(path).map_err(|error| IoError::read(path, error).to_string())
}

/// What is read at most of what is no plain file, in bytes: a pipe ends at some time, a device may not.
const MOST_STREAMED: u64 = 1 << 28;

/// The content of a file, or of something else that has an end.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_file() {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(MOST_STREAMED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_STREAMED {
        let message = format!("it is no file and does not end within {} MB; give a file", MOST_STREAMED / 1_000_000);
        return Err(io::Error::other(message));
    }
    Ok(bytes)
}

fn is_glb(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb"))
}

fn glb(path: &Path, bytes: &[u8]) -> Result<GlbMesh, String> {
    read_glb(bytes).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// The mesh at time 0 as an OBJ file, to the last bit.
fn obj_of(mesh: &GlbMesh) -> Vec<u8> {
    let mut text = String::new();
    for p in mesh.positions(0.0) {
        let [x, y, z] = p.map(f64::from);
        text.push_str(&format!("v {x:?} {y:?} {z:?}\n"));
    }
    for [u, v] in mesh.uv.iter().flatten() {
        text.push_str(&format!("vt {:?} {:?}\n", f64::from(*u), f64::from(*v)));
    }
    let corner = |v: u32| if mesh.uv.is_some() { format!("{v}/{v}") } else { v.to_string() };
    for [a, b, c] in &mesh.triangles {
        text.push_str(&format!("f {} {} {}\n", corner(a + 1), corner(b + 1), corner(c + 1)));
    }
    text.into_bytes()
}

fn is_pattern(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file.to_string_lossy().contains('*'))
}

/// The files that a name stands for: itself, or those of a pattern with one `*` in the file name, sorted by length and name, so that
/// `body_10.obj` follows `body_9.obj`.
pub fn expand(folder: &Path, name: &str) -> Vec<PathBuf> {
    let path = folder.join(name);
    if !is_pattern(name) {
        return vec![path];
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((start, end)) = file.split_once('*') else { return Vec::new() };
    let fits = |found: &str| found.len() >= start.len() + end.len() && found.starts_with(start) && found.ends_with(end);
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| fits(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect();
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files
}

/// The texture coordinates of each vertex. `None` where one has several, as along a seam: triangles that share corners cannot show those.
pub fn uv_by_vertex(mesh: &Mesh) -> Option<Vec<[f32; 2]>> {
    let uv = mesh.uv.as_ref()?;
    let mut found: Vec<Option<u32>> = vec![None; mesh.positions.len()];
    for (&vertex, &coordinate) in mesh.triangles.as_flattened().iter().zip(uv.triangles.as_flattened()) {
        if *found[vertex as usize].get_or_insert(coordinate) != coordinate {
            return None;
        }
    }
    // A vertex without a triangle is not drawn.
    Some(found.iter().map(|at| at.map_or([0.0; 2], |at| uv.coordinates[at as usize].map(|x| x as f32))).collect())
}

/// A mesh of the library from one of an OBJ file.
pub fn from_obj(mesh: ObjMesh) -> Mesh {
    Mesh {
        positions: mesh.positions,
        triangles: mesh.triangles,
        uv: mesh.uv.map(|uv| Uv { coordinates: uv.coordinates, triangles: uv.triangles }),
        groups: mesh.groups.into_iter().map(|group| Group { name: group.name, triangles: group.triangles }).collect(),
        ..Mesh::default()
    }
}
