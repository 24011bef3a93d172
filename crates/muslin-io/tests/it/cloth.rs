//! A small cloth that the tests share.

use muslin_io::{FrameSource, Frames, Group, IoError, RestMesh, Uv};

pub(crate) const POSITIONS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.1]];
pub(crate) const TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];
/// Vertex 2 has two coordinates: the diagonal is a seam at one end.
const COORDINATES: [[f32; 2]; 5] = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.75, 1.0], [1.0, 0.0]];
const UV_TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [0, 3, 4]];
const GROUPS: [Group<'static>; 2] =
    [Group { name: "left half", triangles: &[0] }, Group { name: "all", triangles: &[0, 1] }];

pub(crate) fn with_seam(name: &str) -> RestMesh<'_> {
    let uv = Some(Uv { coordinates: &COORDINATES, triangles: &UV_TRIANGLES });
    RestMesh { name, positions: &POSITIONS, triangles: &TRIANGLES, uv, groups: &GROUPS }
}

pub(crate) fn bare(name: &str) -> RestMesh<'_> {
    RestMesh { name, positions: &POSITIONS, triangles: &TRIANGLES, uv: None, groups: &[] }
}

/// Frame `frame` of a cloth that rises.
pub(crate) fn frame(frame: usize) -> Vec<[f32; 3]> {
    POSITIONS.iter().map(|&[x, y, z]| [x, y + 0.1 * frame as f32 * (1.0 + x), z]).collect()
}

pub(crate) fn rising(frame_count: usize) -> Frames {
    let mut frames = Frames::new(POSITIONS.len());
    for index in 0..frame_count {
        frames.push(frame(index)).expect("frames have the size of the cloth");
    }
    frames
}

/// Frames of which one cannot be read.
pub(crate) struct Failing {
    pub(crate) frames: Frames,
    pub(crate) bad_frame: usize,
}

impl FrameSource for Failing {
    fn frame_count(&self) -> usize {
        self.frames.frame_count()
    }

    fn vertex_count(&self) -> usize {
        self.frames.vertex_count()
    }

    fn read(&mut self, frame: usize, out: &mut Vec<[f32; 3]>) -> Result<(), IoError> {
        let frame = if frame == self.bad_frame { usize::MAX } else { frame };
        self.frames.read(frame, out)
    }
}
