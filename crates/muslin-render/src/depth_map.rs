//! The stage seen from infinitely far away: for each texel, the height of the first surface that light from there
//! meets.
//!
//! Heights are measured along the direction to the light, so that the nearest surface has the largest. One pass can
//! keep both extremes: the lowest is what light from the opposite direction meets.

use crate::math::{Vec3, vec3};
use crate::raster::{ClipCorner, Corner, Coverage, SampleGrid, clip};
use crate::stage::Stage;

/// The frame of a map: a square around the stage, at right angles to a direction.
#[derive(Clone, Debug)]
pub(crate) struct MapFrame {
    /// The direction to the light.
    pub(crate) toward: Vec3,
    right: Vec3,
    up: Vec3,
    center: Vec3,
    half: f32,
    /// Texels a side.
    pub(crate) size: usize,
}

impl MapFrame {
    /// The frame of a stage that is not empty, for a unit vector to the light.
    pub(crate) fn new(stage: &Stage, toward: Vec3, size: usize) -> Self {
        let (right, up) = toward.tangents();
        let center = (stage.min + stage.max) * 0.5;
        let extent = (stage.max - stage.min) * 0.5;
        let reach = |axis: Vec3| extent.dot(vec3(axis.x.abs(), axis.y.abs(), axis.z.abs()));
        // In coarse steps, so that the texels, and with them the borders of shadows, do not swim from one frame of a
        // clip to the next.
        const STEP: f32 = 1.0 / 16.0;
        let snap = |c: f32| libm::roundf(c / STEP) * STEP;
        let center = vec3(snap(center.x), snap(center.y), snap(center.z));
        let half = ((reach(right).max(reach(up)) * 1.02 + 1.75 * STEP) / STEP).ceil() * STEP;
        Self { toward, right, up, center, half, size }
    }

    /// The side of a texel.
    pub(crate) fn texel(&self) -> f32 {
        2.0 * self.half / self.size as f32
    }

    /// Texel coordinates (whole numbers at the corners of texels) and height of a point.
    pub(crate) fn project(&self, point: Vec3) -> (f32, f32, f32) {
        let offset = point - self.center;
        let scale = self.size as f32 / (2.0 * self.half);
        let middle = 0.5 * self.size as f32;
        (offset.dot(self.right) * scale + middle, offset.dot(self.up) * scale + middle, offset.dot(self.toward))
    }

    /// The point of a plane, with the normal `normal`, that light through the middle of a texel meets.
    pub(crate) fn meet(&self, column: usize, row: usize, point: Vec3, normal: Vec3) -> Vec3 {
        let texel = self.texel();
        let at = |i: usize| (i as f32 + 0.5) * texel - self.half;
        let start = self.center + self.right * at(column) + self.up * at(row);
        start + self.toward * ((point - start).dot(normal) / self.toward.dot(normal))
    }

    /// Draws the triangles of the stage; `fill(texel index, height)` for each texel that one covers.
    pub(crate) fn draw(&self, stage: &Stage, projected: &mut Vec<ClipCorner>, mut fill: impl FnMut(usize, f32)) {
        let grid = SampleGrid::new(self.size, self.size, 1);
        let scale = 0.5 * self.size as f32;
        projected.clear();
        projected.extend(stage.positions.iter().map(|&position| {
            let offset = position - self.center;
            let (x, y) = (offset.dot(self.right) / self.half, offset.dot(self.up) / self.half);
            ClipCorner { x, y, w: 1.0, height: offset.dot(self.toward) }
        }));
        for triangle in &stage.triangles {
            clip(triangle.corners.map(|i| projected[i as usize]), 0.5, |corners| {
                let corners = corners.map(|corner| Corner {
                    x: (corner.x + 1.0) * scale,
                    y: (corner.y + 1.0) * scale,
                    depth: f64::from(corner.height),
                });
                if let Some(coverage) = Coverage::new(corners, &grid) {
                    coverage
                        .for_each(&grid, 0..self.size, |column, row, height| fill(row * self.size + column, height));
                }
            });
        }
    }
}
