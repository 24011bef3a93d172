//! Tests of whole pictures and clips.

mod camera;
mod files;
mod pictures;
mod robustness;
mod surfaces;

use muslin_render::{Camera, Picture};

/// A camera on the z axis that looks at the origin from `distance`, with a field of view of 2 atan(1/4).
pub(crate) fn front_camera(distance: f64) -> Camera {
    Camera {
        eye: [0.0, 0.0, distance],
        target: [0.0; 3],
        up: [0.0, 1.0, 0.0],
        fov_degrees: 2.0 * libm::atan(0.25).to_degrees(),
    }
}

/// A square of side 2 in the xy plane, its front towards +z.
pub(crate) const SQUARE: [[f32; 3]; 4] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];

pub(crate) const SQUARE_TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

pub(crate) fn brightness(pixel: [u8; 3]) -> u32 {
    pixel.iter().map(|&c| u32::from(c)).sum()
}

/// The number of pixels that differ by more than a shade from another picture.
pub(crate) fn difference(a: &Picture, b: &Picture) -> usize {
    let differ = |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(*b).any(|(&a, &b)| a.abs_diff(b) > 3);
    a.pixels.iter().zip(&b.pixels).filter(differ).count()
}
