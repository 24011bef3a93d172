//! The `.npy` of every cloth, and of every mesh that moves, one frame after the other.

use std::path::PathBuf;

use muslin::Simulation;
use muslin_io::{IoError, NpyReader, NpyWriter, file_stem};

use super::folder::Folder;

/// The frame caches of all cloths and moving meshes, in step with each other.
#[derive(Debug)]
pub(crate) struct Caches {
    caches: Vec<Cache>,
    positions: Vec<[f32; 3]>,
}

#[derive(Debug)]
struct Cache {
    owner: Owner,
    path: PathBuf,
    vertex_count: usize,
    writer: NpyWriter,
}

/// Whose positions a cache has, by index.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Cloth(usize),
    Body(usize),
}

impl Caches {
    /// Begins caches without frames.
    pub(crate) fn create(folder: &Folder, simulation: &Simulation) -> Result<Self, IoError> {
        Self::open(folder, simulation, |path, vertex_count| NpyWriter::create(path, vertex_count))
    }

    /// Continues those of an earlier run behind `frame`.
    pub(crate) fn resume(folder: &Folder, simulation: &Simulation, frame: usize) -> Result<Self, IoError> {
        Self::open(folder, simulation, |path, vertex_count| NpyWriter::resume(path, vertex_count, frame + 1))
    }

    fn open(
        folder: &Folder,
        simulation: &Simulation,
        open: impl Fn(&PathBuf, usize) -> Result<NpyWriter, IoError>,
    ) -> Result<Self, IoError> {
        let model = simulation.model();
        let cloths = model.cloths.iter().enumerate();
        let cloths = cloths.map(|(i, cloth)| (Owner::Cloth(i), &cloth.name, cloth.mesh.vertex_count()));
        let bodies = model.bodies.iter().enumerate().filter(|(_, body)| body.moves);
        let bodies = bodies.map(|(i, body)| (Owner::Body(i), &body.name, body.mesh.vertex_count()));
        let caches = cloths.chain(bodies).map(|(owner, name, vertex_count)| {
            let path = path(folder, name);
            Ok(Cache { owner, writer: open(&path, vertex_count)?, path, vertex_count })
        });
        Ok(Self { caches: caches.collect::<Result<_, _>>()?, positions: Vec::new() })
    }

    /// Appends the current state. After a failure all caches end with the frame before.
    pub(crate) fn append(&mut self, simulation: &Simulation) -> Result<(), IoError> {
        for cache in 0..self.caches.len() {
            match self.caches[cache].owner {
                Owner::Cloth(cloth) => simulation.positions(cloth, &mut self.positions),
                Owner::Body(body) => simulation.body_positions(body, &mut self.positions),
            }
            if let Err(error) = self.caches[cache].writer.append(&self.positions) {
                self.cut_to(self.caches[cache].writer.frame_count());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Cuts caches that are a frame ahead of the one that failed. That frees space, so it can hardly fail; if it does,
    /// the report still says which frames are good.
    fn cut_to(&mut self, frame_count: usize) {
        for cache in self.caches.iter_mut().filter(|cache| cache.writer.frame_count() > frame_count) {
            if let Ok(writer) = NpyWriter::resume(&cache.path, cache.vertex_count, frame_count) {
                cache.writer = writer;
            }
        }
    }

    /// Frames in every cache, the initial state included.
    pub(crate) fn frame_count(&self) -> usize {
        self.caches.iter().map(|cache| cache.writer.frame_count()).min().unwrap_or(0)
    }
}

/// Where the frames of a cloth are.
pub(crate) fn path(folder: &Folder, cloth: &str) -> PathBuf {
    folder.join(format!("{}.npy", file_stem(cloth)))
}

/// The frames of a cloth.
pub(crate) fn read(folder: &Folder, cloth: &str) -> Result<NpyReader, IoError> {
    NpyReader::open(path(folder, cloth))
}
