//! The table of export formats, and what they share.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Cause, InputError, IoError};
use crate::frames::{Clip, FrameSource};
use crate::mesh::{RestMesh, first_not_finite};
use crate::{file_stem, glb, npy, obj, pc2, ply, usd};

/// Every format; a new one is a file of its own and a line here.
pub const FORMATS: &[Format] = &[npy::FORMAT, obj::FORMAT, ply::FORMAT, pc2::FORMAT, glb::FORMAT, usd::FORMAT];

/// An export format.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Name on the command line.
    pub name: &'static str,
    /// Extension of its files, without the dot.
    pub extension: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// What it cannot do, in a line.
    pub limits: &'static str,
    /// Whether a run writes it as it goes ([`NpyWriter`](crate::NpyWriter)), so that nothing is left to export.
    pub written_by_run: bool,
    pub(crate) write: fn(&mut Job<'_>) -> Result<Exported, IoError>,
}

/// What an export has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The file, or the folder of a sequence.
    pub path: PathBuf,
    /// What the user should know: frames left out, texture coordinates that did not fit. Whole sentences.
    pub notes: Vec<String>,
}

/// The format of this name.
pub fn find_format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Writes the motion of a cloth into `dir`, which is created where it does not exist.
///
/// The file is named after the cloth by [`file_stem`]. It appears only when it is complete; on failure
/// nothing is left behind and an earlier export stays as it was. Several cloths are several calls.
pub fn export(
    format: &Format,
    dir: &Path,
    rest: &RestMesh<'_>,
    frames: &mut dyn FrameSource,
    clip: Clip,
) -> Result<Exported, IoError> {
    let mut job = Job { dir, rest, frames, clip };
    job.check().map_err(|error| IoError::write(&job.file(format.extension), error))?;
    fs::create_dir_all(dir).map_err(|error| IoError::write(dir, error))?;
    (format.write)(&mut job)
}

/// One export: what a format's writer is given.
pub(crate) struct Job<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) rest: &'a RestMesh<'a>,
    pub(crate) frames: &'a mut dyn FrameSource,
    pub(crate) clip: Clip,
}

impl Job<'_> {
    pub(crate) fn check(&self) -> Result<(), InputError> {
        self.rest.check()?;
        let fps = self.clip.fps;
        if !(1e-3..=1e6).contains(&fps) {
            return Err(InputError::FrameRate { fps });
        }
        let (found, expected) = (self.frames.vertex_count(), self.rest.positions.len());
        if found != expected {
            return Err(InputError::FrameVertexCount { frame: 0, found, expected });
        }
        if self.frames.frame_count() == 0 { Err(InputError::NoFrames) } else { Ok(()) }
    }

    /// Path of a single file.
    pub(crate) fn file(&self, extension: &str) -> PathBuf {
        self.dir.join(format!("{}.{extension}", file_stem(self.rest.name)))
    }

    /// Path of the folder for a sequence of files.
    pub(crate) fn folder(&self, extension: &str) -> PathBuf {
        self.dir.join(format!("{}_{extension}", file_stem(self.rest.name)))
    }

    /// Reads a frame and checks that it fits the mesh.
    pub(crate) fn read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), Cause> {
        self.frames.read(frame, out).map_err(|error| Cause::Frames(Box::new(error)))?;
        let (found, expected) = (out.len(), self.rest.positions.len());
        if found == expected { Ok(()) } else { Err(InputError::FrameVertexCount { frame, found, expected }.into()) }
    }

    /// Reads a frame for a format that has no NaN, or whose readers stumble over it.
    pub(crate) fn read_finite(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), Cause> {
        self.read(frame, out)?;
        match first_not_finite(out) {
            Some(vertex) => Err(InputError::FrameNotFinite { frame, vertex }.into()),
            None => Ok(()),
        }
    }
}
