//! The shadow of the key light.
//!
//! On meshes: percentage-closer filtering [Reeves, Salesin, Cook 1987] over a tent of texels. Blocks of texels know
//! their lowest and highest surface, so that only points close to the border of a shadow look at single texels. A
//! surface must not shadow itself: points are moved along their normal by some texels before they are looked up, the
//! more the flatter the light comes in.
//!
//! On the ground, which is flat: the silhouette as the light sees it, blurred to several widths once a picture. A point
//! first asks how far above it the occluders are on average, and takes the width that belongs to this distance, as
//! percentage-closer soft shadows do [Fernando 2005]: the shadow is sharp where something touches the ground and soft
//! far below it, without noise.

use crate::depth_map::MapFrame;
use crate::math::{Vec3, smoothstep, whole};
use crate::raster::ClipCorner;
use crate::stage::{Plane, Stage};

/// Half the width of the tent \[texels\].
const RADIUS: usize = 3;

/// Texels a side of a block.
const BLOCK: usize = 8;

/// Apparent radius of the light: width of the blur over distance of the occluder. The sun's would be 0.005, a window's
/// 0.3.
const LIGHT_RADIUS: f32 = 0.07;

/// The levels of the blurred silhouette; each is twice as wide as the one before.
const LEVELS: usize = 7;

/// The level at which the mean distance of occluders is read, fine to coarse.
const SEARCH_LEVEL: usize = 4;

/// The shadow map of one picture; its memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    frame: Option<MapFrame>,
    heights: Vec<f32>,
    /// Lowest and highest of each block.
    blocks: Vec<(f32, f32)>,
    levels: Vec<Level>,
    projected: Vec<ClipCorner>,
}

/// A blurred silhouette: cover (0 to 1) and cover times distance above the ground.
#[derive(Clone, Debug, Default)]
struct Level {
    size: usize,
    texels: Vec<[f32; 2]>,
}

impl Shadow {
    /// Draws the map of a stage, for a light in the direction `toward`.
    pub(crate) fn update(&mut self, stage: &Stage, toward: Vec3, size: usize) {
        let size = size.next_multiple_of(1 << LEVELS).max(BLOCK);
        self.frame = (!stage.is_empty()).then(|| MapFrame::new(stage, toward, size));
        let Some(frame) = &self.frame else { return };
        self.heights.clear();
        self.heights.resize(size * size, f32::NEG_INFINITY);
        let heights = &mut self.heights;
        frame.draw(stage, &mut self.projected, |texel, height| heights[texel] = heights[texel].max(height));
        self.fill_blocks(size);
        let ground = stage.ground.filter(|ground| toward.dot(ground.normal) > 0.05);
        match ground {
            Some(ground) => self.blur_silhouette(ground, size),
            None => self.levels.clear(),
        }
    }

    fn fill_blocks(&mut self, size: usize) {
        let side = size / BLOCK;
        self.blocks.clear();
        self.blocks.resize(side * side, (f32::INFINITY, f32::NEG_INFINITY));
        for (row, heights) in self.heights.chunks_exact(size).enumerate() {
            let blocks = &mut self.blocks[row / BLOCK * side..][..side];
            for (heights, block) in heights.chunks_exact(BLOCK).zip(blocks) {
                for &height in heights {
                    *block = (block.0.min(height), block.1.max(height));
                }
            }
        }
    }

    fn blur_silhouette(&mut self, ground: Plane, size: usize) {
        let Some(frame) = &self.frame else { return };
        self.levels.resize(LEVELS, Level::default());
        // Half the resolution is enough for the sharpest level, and the blur of four texels is a start.
        let half = size / 2;
        // The height of the ground is linear over the map.
        let ground_at =
            |column: usize, row: usize| frame.project(frame.meet(column, row, ground.point, ground.normal)).2;
        let origin = ground_at(0, 0);
        let (dx, dy) = (ground_at(1, 0) - origin, ground_at(0, 1) - origin);
        let first = &mut self.levels[0];
        first.size = half;
        first.texels.clear();
        for row in 0..half {
            for column in 0..half {
                let mut sum = [0.0; 2];
                for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let (x, y) = (2 * column + i, 2 * row + j);
                    let height = self.heights[y * size + x];
                    let above = height - (origin + dx * x as f32 + dy * y as f32);
                    if above > 0.0 {
                        sum[0] += 0.25;
                        sum[1] += 0.25 * above;
                    }
                }
                first.texels.push(sum);
            }
        }
        for level in 1..LEVELS {
            let (fine, coarse) = self.levels.split_at_mut(level);
            coarse[0].halve(&fine[level - 1]);
        }
    }

    /// How much of the light reaches a point of a surface, 0 to 1; `normal` is that of the side that faces the light.
    pub(crate) fn light_at(&self, point: Vec3, normal: Vec3) -> f32 {
        let Some(frame) = &self.frame else { return 1.0 };
        let texel = frame.texel();
        // Over the tent, a surface at the angle θ to the light rises by the radius times tan θ; moving along the normal
        // by the radius times sin θ lifts it out of the way.
        let cos = normal.dot(frame.toward).clamp(0.0, 1.0);
        let sin = (1.0 - cos * cos).sqrt();
        let lifted = point + normal * (texel * (0.8 + (RADIUS as f32 + 0.5) * sin));
        let (x, y, height) = frame.project(lifted);
        let height = height + texel;
        let margin = (RADIUS + 1) as f32;
        let inside = |c: f32| c > margin && c < frame.size as f32 - margin;
        if !(inside(x) && inside(y)) {
            return 1.0;
        }
        // Texels from x0 − R + 1 to x0 + R, where x0 is the last whose middle is at or before x.
        let (x, y) = (x - 0.5, y - 0.5);
        let (x0, y0) = (whole(x), whole(y));
        let (low_x, low_y) = (x0 + 1 - RADIUS, y0 + 1 - RADIUS);
        // Occlusion sets in over a range of heights instead of at once.
        let soft = 2.0 * texel;
        let (lowest, highest) = self.extremes(frame.size, low_x, low_y);
        if highest <= height {
            return 1.0;
        }
        if lowest >= height + soft {
            return 0.0;
        }
        let (fx, fy) = (x - x0 as f32, y - y0 as f32);
        let weights_x = tent(fx);
        let weights_y = tent(fy);
        let mut blocked = 0.0;
        for j in 0..2 * RADIUS {
            let row = &self.heights[(low_y + j) * frame.size + low_x..][..2 * RADIUS];
            let mut sum = 0.0;
            for i in 0..2 * RADIUS {
                sum += weights_x[i] * ((row[i] - height) / soft).clamp(0.0, 1.0);
            }
            blocked += weights_y[j] * sum;
        }
        1.0 - blocked
    }

    /// Bounds of the heights under the tent.
    fn extremes(&self, size: usize, low_x: usize, low_y: usize) -> (f32, f32) {
        let side = size / BLOCK;
        let mut bounds = (f32::INFINITY, f32::NEG_INFINITY);
        for row in low_y / BLOCK..=(low_y + 2 * RADIUS - 1) / BLOCK {
            for column in low_x / BLOCK..=(low_x + 2 * RADIUS - 1) / BLOCK {
                let block = self.blocks[row * side + column];
                bounds = (bounds.0.min(block.0), bounds.1.max(block.1));
            }
        }
        bounds
    }

    /// How much of the light reaches a point of the ground, 0 to 1.
    pub(crate) fn light_on_ground(&self, point: Vec3) -> f32 {
        let (Some(frame), Some(search)) = (&self.frame, self.levels.get(SEARCH_LEVEL)) else { return 1.0 };
        let (x, y, _) = frame.project(point);
        let (x, y) = (x / frame.size as f32, y / frame.size as f32);
        let [searched, weighted] = search.sample(x, y);
        if searched <= 0.0 {
            return 1.0;
        }
        let distance = weighted / searched;
        // Level k blurs over about 2ᵏ texels of half the resolution each way.
        let width = (LIGHT_RADIUS * distance / (2.0 * frame.texel())).max(1.0);
        let level = libm::log2f(width).min((LEVELS - 1) as f32);
        let below = whole(level);
        let fine = self.levels[below].sample(x, y)[0];
        let coarse = self.levels[(below + 1).min(LEVELS - 1)].sample(x, y)[0];
        let t = level - below as f32;
        let cover = fine + (coarse - fine) * t;
        // Where the occluder search finds nearly nothing, its mean distance is not one to rely on.
        1.0 - cover * smoothstep(0.0, 0.02, searched)
    }
}

/// Weights of the 2R texels for a point at the fraction `f` between the middle two: a box of width 2R − 1 over linear
/// interpolation.
fn tent(f: f32) -> [f32; 2 * RADIUS] {
    let mut weights = [1.0 / (2 * RADIUS - 1) as f32; 2 * RADIUS];
    weights[0] *= 1.0 - f;
    weights[2 * RADIUS - 1] *= f;
    weights
}

impl Level {
    /// Half the size of `fine`, each texel with the binomial weights 1 3 3 1 of the texels around it.
    fn halve(&mut self, fine: &Self) {
        const WEIGHTS: [f32; 4] = [0.125, 0.375, 0.375, 0.125];
        self.size = fine.size / 2;
        self.texels.clear();
        for row in 0..self.size {
            for column in 0..self.size {
                let mut sum = [0.0; 2];
                for (j, wy) in WEIGHTS.iter().enumerate() {
                    for (i, wx) in WEIGHTS.iter().enumerate() {
                        let (x, y) = (2 * column + i, 2 * row + j);
                        // The border is empty: the frame leaves room around the stage.
                        if (1..=fine.size).contains(&x) && (1..=fine.size).contains(&y) {
                            let texel = fine.texels[(y - 1) * fine.size + x - 1];
                            sum[0] += wx * wy * texel[0];
                            sum[1] += wx * wy * texel[1];
                        }
                    }
                }
                self.texels.push(sum);
            }
        }
    }

    /// Quadratic interpolation at a point in [0, 1]²: smooth where linear would show the texels of coarse levels. Zero
    /// outside.
    fn sample(&self, x: f32, y: f32) -> [f32; 2] {
        let (x, y) = (x * self.size as f32, y * self.size as f32);
        // Written so that NaN is outside.
        if !(x > -2.0 && y > -2.0 && x < self.size as f32 + 2.0 && y < self.size as f32 + 2.0) {
            return [0.0; 2];
        }
        // The cell, two too high: a cast cuts towards zero, which is downwards only above zero.
        let (cx, cy) = (whole(x + 2.0), whole(y + 2.0));
        let (wx, wy) = (quadratic(x + 1.5 - cx as f32), quadratic(y + 1.5 - cy as f32));
        let mut sum = [0.0; 2];
        for j in 0..3 {
            for i in 0..3 {
                // Below zero wraps around, and is outside too.
                let (column, row) = ((cx + i).wrapping_sub(3), (cy + j).wrapping_sub(3));
                if column < self.size && row < self.size {
                    let texel = self.texels[row * self.size + column];
                    sum[0] += wx[i] * wy[j] * texel[0];
                    sum[1] += wx[i] * wy[j] * texel[1];
                }
            }
        }
        sum
    }
}

/// Weights of the quadratic B-spline for a point at `t` in [−½, ½] from the middle texel.
fn quadratic(t: f32) -> [f32; 3] {
    [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)]
}
