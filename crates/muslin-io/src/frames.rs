//! Frame sources: what an export reads the frames of a cloth from.

use std::path::Path;

use crate::error::{InputError, IoError};

/// The motion of one cloth, read a frame at a time so that it need not fit into memory.
pub trait FrameSource {
    /// Number of frames, the initial state included.
    fn frame_count(&self) -> usize;

    /// Number of vertices of every frame.
    fn vertex_count(&self) -> usize;

    /// Replaces `out` by the positions of a frame, in metres.
    fn read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), IoError>;
}

/// What the frames mean in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip {
    /// Frames a second; frame 0 is at time 0.
    pub fps: f64,
}

/// Frames held in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frames {
    vertex_count: usize,
    frames: Vec<Vec<[f32; 3]>>,
}

impl Frames {
    /// No frames yet, of a cloth with this many vertices.
    pub fn new(vertex_count: usize) -> Self {
        Self { vertex_count, frames: Vec::new() }
    }

    /// Adds a frame, which must have the cloth's number of vertices.
    pub fn push(&mut self, positions: Vec<[f32; 3]>) -> Result<(), InputError> {
        if positions.len() != self.vertex_count {
            let (frame, found, expected) = (self.frames.len(), positions.len(), self.vertex_count);
            return Err(InputError::FrameVertexCount { frame, found, expected });
        }
        self.frames.push(positions);
        Ok(())
    }
}

impl FrameSource for Frames {
    fn frame_count(&self) -> usize {
        self.frames.len()
    }

    fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    fn read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), IoError> {
        let frame_count = self.frames.len();
        let positions = self.frames.get(frame).ok_or_else(|| {
            IoError::read(Path::new("frames in memory"), InputError::FrameOutOfRange { frame, frame_count })
        })?;
        out.clone_from(positions);
        Ok(())
    }
}
