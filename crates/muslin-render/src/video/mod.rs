//! Clips: pictures one after the other, in a format that browsers and chats play.
//!
//! With the feature `video` (the default) this is H.264 in an MP4 file, without it an animated PNG. The interface is
//! the same; [`VideoWriter::EXTENSION`] says which one it is.

#[cfg(not(feature = "video"))]
mod apng;
#[cfg(feature = "video")]
mod h264;
#[cfg(feature = "video")]
mod mp4;

use std::path::{Path, PathBuf};

use crate::partial::PartialFile;
use crate::picture::Picture;

#[cfg(not(feature = "video"))]
use apng::Encoder;
#[cfg(feature = "video")]
use h264::Encoder;

/// Why a clip could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VideoError {
    /// The size is none a clip can have.
    #[error(
        "a clip of {width} × {height} pixels cannot be written: both sides must be even, at least 16, and together within 3840 × 2160"
    )]
    Size {
        /// The width that was asked for.
        width: usize,
        /// The height that was asked for.
        height: usize,
    },
    /// The frame rate is none a clip can have.
    #[error("a clip of {fps} frames a second cannot be written: choose 1 to 240")]
    Rate {
        /// The frame rate that was asked for.
        fps: f64,
    },
    /// A picture has another size than the clip.
    #[error("frame {frame} has {found:?} pixels, but the clip was started with {expected:?}")]
    Frame {
        /// The frame, counted from 0.
        frame: usize,
        /// Width and height of the clip.
        expected: (usize, usize),
        /// Width and height of the frame.
        found: (usize, usize),
    },
    /// There is nothing to show.
    #[error("{} would have no frames: push one before finishing", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The encoder failed.
    #[error("frame {frame} could not be encoded: {message}")]
    Encoder {
        /// The frame, counted from 0.
        frame: usize,
        /// What the encoder said.
        message: String,
    },
    /// The file could not be written.
    #[error("{} could not be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What went wrong with a frame, before it is known which and where.
#[derive(Debug)]
enum Failure {
    #[cfg_attr(not(feature = "video"), expect(dead_code, reason = "the animated PNG fails in writing only"))]
    Encoder(String),
    Io(std::io::Error),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes a clip. Until it is finished, the file is called `<path>.partial`; without [`Self::finish`] it is removed.
#[derive(Debug)]
pub struct VideoWriter {
    path: PathBuf,
    width: usize,
    height: usize,
    frame_count: usize,
    // Before the claim on the file, so that it is closed when the file is removed.
    encoder: Encoder,
    partial: PartialFile,
}

impl VideoWriter {
    /// The extension of the files that are written, without the dot.
    pub const EXTENSION: &'static str = Encoder::EXTENSION;

    /// Starts a clip of pictures of `width` × `height` pixels, `fps` a second.
    pub fn create(path: impl AsRef<Path>, width: usize, height: usize, fps: f64) -> Result<Self, VideoError> {
        let path = path.as_ref().to_path_buf();
        let even = width.is_multiple_of(2) && height.is_multiple_of(2);
        // The limits of the encoder; the fallback keeps to them so that a scene does not depend on the build.
        if !(even && width.min(height) >= 16 && width.max(height) <= 3840 && width.min(height) <= 2160) {
            return Err(VideoError::Size { width, height });
        }
        if !(1.0..=240.0).contains(&fps) {
            return Err(VideoError::Rate { fps });
        }
        let fail = |failure: Failure| fail(failure, &path, 0);
        let (partial, file) = PartialFile::create(&path).map_err(|error| fail(error.into()))?;
        let encoder = Encoder::new(file, width, height, fps).map_err(fail)?;
        Ok(Self { path, width, height, frame_count: 0, encoder, partial })
    }

    /// Adds a picture.
    pub fn push(&mut self, picture: &Picture) -> Result<(), VideoError> {
        let (expected, found) = ((self.width, self.height), (picture.width, picture.height));
        if found != expected || picture.pixels.len() != self.width * self.height {
            return Err(VideoError::Frame { frame: self.frame_count, expected, found });
        }
        self.encoder.push(picture).map_err(|failure| fail(failure, &self.path, self.frame_count))?;
        self.frame_count += 1;
        Ok(())
    }

    /// The number of pictures so far.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<(), VideoError> {
        if self.frame_count == 0 {
            return Err(VideoError::Empty { path: self.path });
        }
        let Self { path, frame_count, encoder, partial, .. } = self;
        let written = encoder.finish().and_then(|()| Ok(partial.keep()?));
        written.map_err(|failure| fail(failure, &path, frame_count))
    }
}

fn fail(failure: Failure, path: &Path, frame: usize) -> VideoError {
    match failure {
        Failure::Encoder(message) => VideoError::Encoder { frame, message },
        Failure::Io(source) => VideoError::Write { path: path.to_path_buf(), source },
    }
}
