//! PC2 (Point Cache 2), as the point cache of 3ds Max and the Mesh Cache modifier of Blender read it.
//!
//! ```text
//! offset  bytes
//!      0     12   POINTCACHE2\0
//!     12      4   version, 1                   int32
//!     16      4   number of points             int32
//!     20      4   first frame, 0               float32
//!     24      4   frames per sample, 1         float32
//!     28      4   number of samples            int32
//!     32      …   sample after sample, point after point, x y z: float32
//! ```
//!
//! All little-endian. The points move the vertices of a mesh, which the rest `.obj` provides, in its order.
//!
//! Limits: no topology and no frame rate; at most 2³¹ − 1 points and samples. The axes are those of the `.obj`:
//! Blender, where z is up, turns that on import, and the modifier's default axes then fit.

use std::io::{self, Write};

use crate::bytes::extend_f32;
use crate::error::{InputError, IoError};
use crate::export::{Exported, Format, Job};
use crate::partial::write_file;

pub(crate) const FORMAT: Format = Format {
    name: "pc2",
    extension: "pc2",
    description: "Point Cache 2, moves the vertices of the .obj beside it",
    limits: "positions only; no frame rate; at most 2147483647 vertices and frames",
    written_by_run: false,
    write: export,
};

fn export(job: &mut Job<'_>) -> Result<Exported, IoError> {
    let path = job.file(FORMAT.extension);
    let (frame_count, vertex_count) = (job.frames.frame_count(), job.rest.positions.len());
    write_file(&path, |out| {
        write_header(out, count("vertices", vertex_count)?, count("frames", frame_count)?)?;
        let (mut positions, mut bytes) = (Vec::new(), Vec::new());
        for frame in 0..frame_count {
            job.read_finite(frame, &mut positions)?;
            bytes.clear();
            extend_f32(&mut bytes, positions.as_flattened());
            out.write_all(&bytes)?;
        }
        Ok(())
    })?;
    Ok(Exported { path, notes: Vec::new() })
}

fn write_header(out: &mut impl Write, point_count: i32, sample_count: i32) -> io::Result<()> {
    out.write_all(b"POINTCACHE2\0")?;
    out.write_all(&1_i32.to_le_bytes())?;
    out.write_all(&point_count.to_le_bytes())?;
    out.write_all(&0_f32.to_le_bytes())?;
    out.write_all(&1_f32.to_le_bytes())?;
    out.write_all(&sample_count.to_le_bytes())
}

fn count(what: &'static str, found: usize) -> Result<i32, InputError> {
    let limit = i32::MAX as usize;
    i32::try_from(found).map_err(|_| InputError::FormatLimit { format: FORMAT.name, what, found, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_to_the_byte() {
        let mut header = Vec::new();
        write_header(&mut header, 4, 258).unwrap();
        let expected = b"POINTCACHE2\0\x01\0\0\0\x04\0\0\0\0\0\0\0\0\0\x80\x3f\x02\x01\0\0";
        assert_eq!(header, expected, "header");
    }

    #[test]
    fn counts_beyond_the_header_are_refused() {
        let words = "2147483648 frames are too many, pc2 holds at most 2147483647; use npy or a coarser mesh";
        assert_eq!(count("frames", 1 << 31).unwrap_err().to_string(), words, "wording");
    }
}
