//! Errors of files, each as one sentence: `cannot write out/sheet.npy: no space left on device`.
//!
//! The sentence is complete, so [`std::error::Error::source`] is empty: a caller that prints the chain does not say
//! things twice. What the caller alone knows (`; frames up to 41 are kept`) it appends.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::npy::NpyError;

/// A file operation that failed: what was tried, on which path, and why it failed.
#[derive(Debug, Error)]
#[error("cannot {operation} {}: {cause}", path.display())]
pub struct IoError {
    /// What was tried.
    pub operation: Operation,
    /// The file or folder it was tried on; of an export, the final path rather than the partial one.
    pub path: PathBuf,
    /// Why it failed.
    pub cause: Cause,
}

/// What was tried when an [`IoError`] occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Opening or reading a file.
    Read,
    /// Creating, writing or renaming a file.
    Write,
    /// Continuing a cache that an earlier run has begun.
    Resume,
}

/// Why a file operation failed.
#[derive(Debug, Error)]
pub enum Cause {
    /// The operating system refused.
    #[error("{}", system_reason(.0))]
    System(#[from] io::Error),
    /// The file is not a frame cache of ours.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// What was handed over to be written does not fit together, or does not fit the format.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The frames to be written could not be read.
    #[error("{0}")]
    Frames(Box<IoError>),
}

/// A mesh or frames that cannot be written.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InputError {
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, but the mesh has {vertex_count} vertices")]
    TriangleVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it uses.
        vertex: u32,
        /// Number of vertices of the rest mesh.
        vertex_count: usize,
    },
    /// A mesh without a surface, which some formats cannot express and no reader shows.
    #[error("the mesh has no triangles")]
    NoTriangles,
    /// The texture triangles are not parallel to the triangles.
    #[error("the mesh has {triangle_count} triangles, but its uv map has {uv_triangle_count}; give one for each")]
    UvTriangleCount {
        /// Number of triangles of the mesh.
        triangle_count: usize,
        /// Number of triangles of the texture map.
        uv_triangle_count: usize,
    },
    /// A texture triangle refers to a coordinate that does not exist.
    #[error("uv triangle {triangle} uses coordinate {coordinate}, but the uv map has {coordinate_count} coordinates")]
    UvCoordinate {
        /// Index of the triangle.
        triangle: usize,
        /// The coordinate it uses.
        coordinate: u32,
        /// Number of texture coordinates.
        coordinate_count: usize,
    },
    /// A texture coordinate is NaN or infinite.
    #[error("uv coordinate {coordinate} is not finite")]
    UvNotFinite {
        /// Index of the coordinate.
        coordinate: usize,
    },
    /// A group refers to a triangle that does not exist.
    #[error("group \"{group}\" holds triangle {triangle}, but the mesh has {triangle_count} triangles")]
    GroupTriangle {
        /// Name of the group.
        group: String,
        /// The triangle it holds.
        triangle: u32,
        /// Number of triangles of the mesh.
        triangle_count: usize,
    },
    /// A rest position is NaN or infinite.
    #[error("rest position {vertex} is not finite")]
    RestNotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// There is nothing to export.
    #[error("there are no frames to export; simulate at least one")]
    NoFrames,
    /// A frame was asked for that does not exist.
    #[error("frame {frame} was asked for, but there are {frame_count}, counted from 0")]
    FrameOutOfRange {
        /// The frame asked for.
        frame: usize,
        /// Number of frames.
        frame_count: usize,
    },
    /// A frame does not fit the mesh or the cache.
    #[error("frame {frame} has {found} vertices, but {expected} are expected")]
    FrameVertexCount {
        /// Index of the frame.
        frame: usize,
        /// Vertices of the frame.
        found: usize,
        /// Vertices of the mesh or the cache.
        expected: usize,
    },
    /// A position is NaN or infinite: the simulation exploded.
    #[error("vertex {vertex} of frame {frame} is not finite; export the frames before it")]
    FrameNotFinite {
        /// Index of the frame.
        frame: usize,
        /// Index of the vertex.
        vertex: usize,
    },
    /// A frame rate that is no rate, or whose times single precision cannot tell apart.
    #[error("{fps} frames a second cannot be stored; give a rate from 0.001 to 1000000")]
    FrameRate {
        /// The rate given.
        fps: f64,
    },
    /// The format has no room for this much.
    #[error("{found} {what} are too many, {format} holds at most {limit}; use npy or a coarser mesh")]
    FormatLimit {
        /// Name of the format.
        format: &'static str,
        /// What there is too much of, in the plural.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
}

/// The causes that a caller may want to treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoErrorKind {
    /// The device or the quota is full.
    NoSpace,
    /// The user may not do this here.
    PermissionDenied,
    /// The file, or a folder on the way to it, does not exist.
    NotFound,
    /// There is a folder where a file is to be.
    IsADirectory,
    /// The file was read but is not what it should be.
    Malformed,
    /// What was to be written cannot be written in this format.
    Unsuitable,
    /// Any other refusal of the operating system.
    Other,
}

impl IoError {
    /// The kind of the cause; of an export whose frames could not be read, the kind of that failure.
    pub fn kind(&self) -> IoErrorKind {
        match &self.cause {
            Cause::System(error) => match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => IoErrorKind::NoSpace,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => IoErrorKind::PermissionDenied,
                io::ErrorKind::NotFound => IoErrorKind::NotFound,
                io::ErrorKind::IsADirectory => IoErrorKind::IsADirectory,
                _ => IoErrorKind::Other,
            },
            Cause::Npy(_) => IoErrorKind::Malformed,
            Cause::Input(_) => IoErrorKind::Unsuitable,
            Cause::Frames(error) => error.kind(),
        }
    }

    /// A file that could not be read.
    pub fn read(path: &Path, cause: impl Into<Cause>) -> Self {
        Self { operation: Operation::Read, path: path.to_owned(), cause: cause.into() }
    }

    /// A file or folder that could not be written.
    pub fn write(path: &Path, cause: impl Into<Cause>) -> Self {
        Self { operation: Operation::Write, path: path.to_owned(), cause: cause.into() }
    }

    pub(crate) fn resume(path: &Path, cause: impl Into<Cause>) -> Self {
        Self { operation: Operation::Resume, path: path.to_owned(), cause: cause.into() }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Resume => "resume",
        })
    }
}

/// The system's words without "(os error 28)" and in lower case, so that they end a sentence.
fn system_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::from("unknown reason"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_system(code: i32) -> IoError {
        IoError::write(Path::new("out/sheet.npy"), io::Error::from_raw_os_error(code))
    }

    #[test]
    fn common_refusals_are_recognisable_and_read_as_a_sentence() {
        let (no_entry, denied, directory, full, read_only) = (2, 13, 21, 28, 30); // Linux, as are the words
        for (code, kind, words) in [
            (full, IoErrorKind::NoSpace, "no space left on device"),
            (denied, IoErrorKind::PermissionDenied, "permission denied"),
            (directory, IoErrorKind::IsADirectory, "is a directory"),
            (no_entry, IoErrorKind::NotFound, "no such file or directory"),
            (read_only, IoErrorKind::PermissionDenied, "read-only file system"),
        ] {
            let error = of_system(code);
            assert_eq!(error.kind(), kind, "kind of code {code}");
            assert_eq!(error.to_string(), format!("cannot write out/sheet.npy: {words}"), "words of code {code}");
        }
    }

    #[test]
    fn a_failed_source_names_both_files_once() {
        let source = IoError::read(Path::new("a.npy"), InputError::FrameOutOfRange { frame: 9, frame_count: 3 });
        let error = IoError::write(Path::new("a.glb"), Cause::Frames(Box::new(source)));
        let words = "cannot write a.glb: cannot read a.npy: frame 9 was asked for, but there are 3, counted from 0";
        assert_eq!(error.to_string(), words, "the whole sentence");
        assert_eq!(error.kind(), IoErrorKind::Unsuitable, "the kind of the inner failure");
        assert!(std::error::Error::source(&error).is_none(), "nothing is left to say");
    }
}
