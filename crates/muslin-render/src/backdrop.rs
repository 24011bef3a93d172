//! The background: a studio sweep, lighter behind the middle, darker towards the corners.
//!
//! The ground has the same colour, pixel by pixel, and only its light differs: that is why it has no horizon and needs
//! no fading.

use crate::math::{Vec3, smoothstep, vec3};

const TOP: Vec3 = vec3(0.575, 0.600, 0.620);
const BOTTOM: Vec3 = vec3(0.760, 0.755, 0.745);

/// The linear colour at a point of the picture (−1 to 1 both ways, y up).
pub(crate) fn color(x: f32, y: f32) -> Vec3 {
    let base = TOP.mix(BOTTOM, smoothstep(1.1, -0.7, y));
    // A pool of light a little above the middle.
    let distance = x * x * 0.8 + (y - 0.1) * (y - 0.1) * 0.7;
    base * (1.06 - 0.17 * smoothstep(0.0, 1.6, distance))
}
