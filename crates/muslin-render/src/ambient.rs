//! The light of the sky, and of the ground below: what shows folds.
//!
//! The stage is drawn as low-resolution depth maps from directions spread over the hemisphere. At each vertex, the sky
//! in direction d is seen unless the map says that something is in between, and the light is the mean of what is seen,
//! weighted with the cosine to the normal:
//!
//! E(n) = Σ L(d) V(d) max(0, n·d) / Σ max(0, n·d)
//!
//! Each map serves two opposite directions. From below, L is the ground where the ray meets it, which is darker in the
//! shadow: one bounce of light. Cloth has two sides, and light on each. On the ground itself, a lattice of points
//! around the stage is lit the same way.
//!
//! Light that varies slowly needs few points: this is cheaper than occlusion in the picture, and free of its noise and
//! halos.

use rayon::prelude::*;

use crate::depth_map::MapFrame;
use crate::math::{Vec3, smoothstep, vec3, whole};
use crate::raster::ClipCorner;
use crate::shadow::Shadow;
use crate::stage::Stage;

/// Maps; each is one direction above the horizon and its opposite.
const MAPS: usize = 16;

/// Texels a side of a map.
const MAP_SIZE: usize = 176;

/// Points a side of the lattice on the ground.
const LATTICE: usize = 72;

/// The light of the sky at the zenith and at the horizon, linear: a little cold above, a little warm around.
const ZENITH: Vec3 = vec3(0.56, 0.60, 0.66);
const HORIZON: Vec3 = vec3(0.46, 0.45, 0.44);

/// What comes from below where there is no ground.
const BELOW: Vec3 = vec3(0.25, 0.24, 0.235);

/// What the ground reflects.
const GROUND_ALBEDO: Vec3 = vec3(0.50, 0.475, 0.45);

/// The key light, linear.
pub(crate) const KEY: Vec3 = vec3(0.92, 0.86, 0.77);

/// The sky without anything in front of it.
pub(crate) fn sky(direction: Vec3) -> Vec3 {
    HORIZON.mix(ZENITH, direction.y.max(0.0))
}

/// The light on a surface under the open sky: the cosine-weighted mean in closed form up to a few percent.
pub(crate) fn open_sky(normal: Vec3) -> Vec3 {
    let above = 0.5 + 0.5 * normal.y;
    BELOW.mix(HORIZON.mix(ZENITH, 0.6), above)
}

#[derive(Debug)]
struct Map {
    frame: Option<MapFrame>,
    /// Height of what light from the direction meets first, and from the opposite one.
    high: Vec<f32>,
    low: Vec<f32>,
    projected: Vec<ClipCorner>,
}

impl Map {
    fn update(&mut self, stage: &Stage, toward: Vec3) {
        let frame = MapFrame::new(stage, toward, MAP_SIZE);
        self.high.clear();
        self.high.resize(MAP_SIZE * MAP_SIZE, f32::NEG_INFINITY);
        self.low.clear();
        self.low.resize(MAP_SIZE * MAP_SIZE, f32::INFINITY);
        let (high, low) = (&mut self.high, &mut self.low);
        frame.draw(stage, &mut self.projected, |texel, height| {
            high[texel] = high[texel].max(height);
            low[texel] = low[texel].min(height);
        });
        self.frame = Some(frame);
    }

    /// How much is seen of the sky in the direction of the map, or in the opposite one, from a point: 0 to 1.
    fn visible(frame: &MapFrame, heights: &[f32], point: Vec3, opposite: bool) -> f32 {
        let (x, y, height) = frame.project(point);
        let (x, y) = (x - 0.5, y - 0.5);
        let limit = (frame.size - 1) as f32;
        if !(x >= 0.0 && y >= 0.0 && x < limit && y < limit) {
            return 1.0;
        }
        let (x0, y0) = (whole(x), whole(y));
        let (fx, fy) = (x - x0 as f32, y - y0 as f32);
        let sign = if opposite { -1.0 } else { 1.0 };
        let scale = 1.0 / (2.0 * frame.texel());
        let blocked = |column: usize, row: usize| {
            ((heights[row * frame.size + column] - height) * sign * scale - 0.25).clamp(0.0, 1.0)
        };
        let upper = blocked(x0, y0) * (1.0 - fx) + blocked(x0 + 1, y0) * fx;
        let lower = blocked(x0, y0 + 1) * (1.0 - fx) + blocked(x0 + 1, y0 + 1) * fx;
        1.0 - (upper * (1.0 - fy) + lower * fy)
    }
}

/// The light of sky and ground on one picture's stage; its memory is reused.
#[derive(Debug)]
pub(crate) struct Ambient {
    maps: Vec<Map>,
    directions: Vec<Vec3>,
    /// Light on the front of each vertex, and on its back (which solids do not have).
    pub(crate) vertices: Vec<[Vec3; 2]>,
    pub(crate) ground: GroundLight,
}

impl Ambient {
    pub(crate) fn new() -> Self {
        // A Fibonacci lattice on the hemisphere: even, and without symmetry that would show as a pattern.
        let golden_angle = std::f32::consts::PI * (3.0 - 5.0_f32.sqrt());
        let direction = |i: usize| {
            let y = (i as f32 + 0.5) / MAPS as f32;
            let radius = (1.0 - y * y).sqrt();
            let angle = golden_angle * i as f32;
            vec3(radius * libm::cosf(angle), y, radius * libm::sinf(angle))
        };
        let map = || Map { frame: None, high: Vec::new(), low: Vec::new(), projected: Vec::new() };
        Self {
            maps: (0..MAPS).map(|_| map()).collect(),
            directions: (0..MAPS).map(direction).collect(),
            vertices: Vec::new(),
            ground: GroundLight::default(),
        }
    }

    /// Lights the vertices and the ground. `key` is the share of the key light on the open ground, 0 to 1.
    pub(crate) fn update(&mut self, stage: &Stage, shadow: &Shadow, key: f32) {
        self.vertices.clear();
        self.vertices.resize(stage.positions.len(), [Vec3::ZERO; 2]);
        self.ground.values.clear();
        if stage.is_empty() {
            return;
        }
        self.maps.par_iter_mut().zip(&self.directions).for_each(|(map, &toward)| map.update(stage, toward));
        self.light_ground(stage, shadow, key);
        self.light_vertices(stage);
    }

    fn light_vertices(&mut self, stage: &Stage) {
        let (maps, ground) = (&self.maps, &self.ground);
        let ground_height = stage.ground.map(|plane| plane.point.y);
        let cloth_vertex_count = stage.cloth_vertex_count;
        self.vertices
            .par_iter_mut()
            .zip(stage.positions.par_iter().zip(&stage.normals))
            .enumerate()
            .with_min_len(256)
            .for_each(|(vertex, (light, (&position, &normal)))| {
                let sides = if vertex < cloth_vertex_count { 2 } else { 1 };
                for (side, normal) in [normal, -normal].into_iter().enumerate().take(sides) {
                    light[side] = sky_light(maps, ground, ground_height, position, normal);
                }
            });
    }

    fn light_ground(&mut self, stage: &Stage, shadow: &Shadow, key: f32) {
        let Some(plane) = stage.ground else { return };
        let ground = &mut self.ground;
        // Occlusion reaches about as far as the stage is high.
        let reach = 0.1 + 0.9 * (stage.max.y - plane.point.y).max(0.0);
        let side = (stage.max.x - stage.min.x).max(stage.max.z - stage.min.z) + 2.0 * reach;
        let middle = (stage.min + stage.max) * 0.5;
        ground.cell = side / (LATTICE - 1) as f32;
        ground.corner = vec3(middle.x - 0.5 * side, plane.point.y, middle.z - 0.5 * side);
        let (corner, cell, maps) = (ground.corner, ground.cell, &self.maps);
        ground.values.resize(LATTICE * LATTICE, [1.0; 2]);
        ground.values.par_iter_mut().enumerate().with_min_len(256).for_each(|(i, value)| {
            let (column, row) = (i % LATTICE, i / LATTICE);
            let point = corner + vec3(column as f32 * cell, 0.0, row as f32 * cell);
            let (mut seen, mut total) = (0.0, 0.0);
            for map in maps {
                if let Some(frame) = &map.frame {
                    let weight = frame.toward.y * sky(frame.toward).luminance();
                    seen += weight * Map::visible(frame, &map.high, point, false);
                    total += weight;
                }
            }
            let ambient = seen / total;
            *value = [ambient, ambient * (1.0 - key) + key * shadow.light_on_ground(point)];
        });
        ground.blur();
    }
}

/// The light of sky and ground on a side of a surface.
fn sky_light(maps: &[Map], ground: &GroundLight, ground_height: Option<f32>, position: Vec3, normal: Vec3) -> Vec3 {
    let (mut light, mut total) = (Vec3::ZERO, 0.0);
    for map in maps {
        let Some(frame) = &map.frame else { continue };
        let cos = normal.dot(frame.toward);
        let opposite = cos < 0.0;
        // Off the surface, so that it does not hide the sky from itself.
        let point = position + normal * (1.5 * frame.texel());
        let heights = if opposite { &map.low } else { &map.high };
        let visible = Map::visible(frame, heights, point, opposite);
        let source = if !opposite {
            sky(frame.toward)
        } else if let Some(height) = ground_height {
            let above = (point.y - height).max(0.0);
            let lit = ground.total_at(point - frame.toward * (above / frame.toward.y));
            GROUND_ALBEDO * lit
        } else {
            BELOW
        };
        light += source * (visible * cos.abs());
        total += cos.abs();
    }
    light * (1.0 / total.max(f32::MIN_POSITIVE))
}

/// Light on a lattice of points of the ground.
#[derive(Debug, Default)]
pub(crate) struct GroundLight {
    corner: Vec3,
    cell: f32,
    /// The light of the sky, and all the light, as shares of what the open ground receives.
    values: Vec<[f32; 2]>,
    scratch: Vec<[f32; 2]>,
}

impl GroundLight {
    /// Smooths away the single directions of the sky, with the weights 1 2 1 both ways.
    fn blur(&mut self) {
        for _ in 0..2 {
            self.scratch.clone_from(&self.values);
            for row in 1..LATTICE - 1 {
                for column in 1..LATTICE - 1 {
                    for channel in 0..2 {
                        let at =
                            |dx: usize, dy: usize| self.scratch[(row + dy - 1) * LATTICE + column + dx - 1][channel];
                        let line = |dy: usize| at(0, dy) + 2.0 * at(1, dy) + at(2, dy);
                        self.values[row * LATTICE + column][channel] = (line(0) + 2.0 * line(1) + line(2)) / 16.0;
                    }
                }
            }
        }
    }

    /// The light of the sky at a point of the ground, as a share of the open sky.
    pub(crate) fn sky_at(&self, point: Vec3) -> f32 {
        self.sample(point, 0)
    }

    fn total_at(&self, point: Vec3) -> f32 {
        self.sample(point, 1)
    }

    fn sample(&self, point: Vec3, channel: usize) -> f32 {
        if self.values.is_empty() {
            return 1.0;
        }
        let (x, y) = ((point.x - self.corner.x) / self.cell, (point.z - self.corner.z) / self.cell);
        let limit = (LATTICE - 1) as f32;
        if !(x >= 0.0 && y >= 0.0 && x < limit && y < limit) {
            return 1.0;
        }
        let (x0, y0) = (whole(x), whole(y));
        let (fx, fy) = (x - x0 as f32, y - y0 as f32);
        let at = |column: usize, row: usize| self.values[row * LATTICE + column][channel];
        let upper = at(x0, y0) * (1.0 - fx) + at(x0 + 1, y0) * fx;
        let lower = at(x0, y0 + 1) * (1.0 - fx) + at(x0 + 1, y0 + 1) * fx;
        let value = upper * (1.0 - fy) + lower * fy;
        // The lattice ends where little is left of the occlusion, but not nothing.
        let rim = x.min(y).min(limit - x).min(limit - y);
        1.0 - (1.0 - value) * smoothstep(0.0, 0.2 * limit, rim)
    }
}
