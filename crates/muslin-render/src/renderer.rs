//! From a scene to a picture, stage by stage:
//!
//! 1. [`Stage`]: the scene as one mesh, in the frame of the camera;
//! 2. [`Shadow`]: what the key light reaches;
//! 3. [`Ambient`]: what sky and ground add, at each vertex;
//! 4. [`Visibility`]: what is seen at each sample;
//! 5. [`Shader`]: the colour of each surface that is seen in a pixel, and their mean over its samples, in linear light.
//!
//! No stage depends on the number of threads: each writes its own part, and every sum has a fixed order.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::ambient::Ambient;
use crate::backdrop;
use crate::camera::{Bounds, Camera, View};
use crate::canvas::{BandBuffers, Canvas, Lattice, PixelSample, SurfaceKey, from_the_middle};
use crate::color::Encoder;
use crate::error::RenderError;
use crate::math::{Vec3, unit};
use crate::picture::Picture;
use crate::raster::{MAX_SAMPLES, SampleGrid};
use crate::scene::Scene;
use crate::shade::{Shader, key_light, key_share};
use crate::shadow::Shadow;
use crate::stage::Stage;
use crate::visibility::{BAND, Visibility};

/// The longest side of a picture \[pixels\].
pub const MAX_SIDE: usize = 8192;

/// Draws pictures of one size. Its memory is reused from one picture to the next.
#[derive(Debug)]
pub struct Renderer {
    grid: SampleGrid,
    /// The samples of a pixel from the middle outwards: the first of a surface is where it is shaded.
    order: Vec<PixelSample>,
    /// The background, linear and as bytes.
    backdrop: Vec<Vec3>,
    backdrop_bytes: Vec<[u8; 3]>,
    encoder: Encoder,
    stage: Stage,
    shadow: Shadow,
    ambient: Ambient,
    visibility: Visibility,
    /// What tells surfaces apart within a pixel, by triangle.
    keys: Vec<SurfaceKey>,
    /// Buffers of bands that are not being drawn.
    idle: Mutex<Vec<BandBuffers>>,
    picture: Picture,
}

impl Renderer {
    /// For pictures of `width` × `height` pixels with `samples_per_side`² samples each: 2 for video, 3 or 4 for a
    /// still.
    pub fn new(width: usize, height: usize, samples_per_side: usize) -> Result<Self, RenderError> {
        let fits = |side: usize| (1..=MAX_SIDE).contains(&side);
        if !(fits(width) && fits(height)) {
            return Err(RenderError::Size { width, height, limit: MAX_SIDE });
        }
        if !(1..=MAX_SAMPLES).contains(&samples_per_side) {
            return Err(RenderError::Samples { samples: samples_per_side, limit: MAX_SAMPLES });
        }
        let grid = SampleGrid::new(width, height, samples_per_side);
        let encoder = Encoder::new();
        let backdrop: Vec<Vec3> = (0..width * height)
            .map(|i| {
                let (x, y) = ((i % width) as f32 + 0.5, (i / width) as f32 + 0.5);
                backdrop::color(2.0 * x / width as f32 - 1.0, 1.0 - 2.0 * y / height as f32)
            })
            .collect();
        Ok(Self {
            order: from_the_middle(&grid),
            grid,
            backdrop_bytes: backdrop
                .iter()
                .enumerate()
                .map(|(i, &color)| encoder.encode(color, i % width, i / width))
                .collect(),
            backdrop,
            encoder,
            stage: Stage::new(),
            shadow: Shadow::default(),
            ambient: Ambient::new(),
            visibility: Visibility::default(),
            keys: Vec::new(),
            idle: Mutex::new(Vec::new()),
            picture: Picture::new(width, height),
        })
    }

    /// Width over height of the pictures.
    pub fn aspect(&self) -> f64 {
        self.picture.width as f64 / self.picture.height as f64
    }

    /// The camera that a scene without one is drawn with.
    pub fn framing(&self, scene: &Scene<'_>) -> Camera {
        Bounds::of_scene(scene).camera(Camera::THREE_QUARTER, self.aspect())
    }

    /// Draws a scene. The picture is the renderer's own until the next one is drawn.
    pub fn render(&mut self, scene: &Scene<'_>) -> Result<&Picture, RenderError> {
        let aspect = self.aspect();
        let camera = scene.camera.unwrap_or_else(|| self.framing(scene));
        let view = View::new(&camera, aspect)?;
        let direction = scene.light.direction;
        let toward_light = unit(direction).map(Vec3::from_f64).ok_or(RenderError::Light { direction })?;
        let key = key_light(scene.light.strength);

        self.stage.assemble(scene, &view)?;
        // About a texel of the shadow for a pixel of the picture: the stage fills most of the picture, not all.
        let size = (self.picture.width.max(self.picture.height) * 4 / 5).clamp(384, 3072);
        self.shadow.update(&self.stage, toward_light, size);
        let key_share = key_share(toward_light, key);
        self.ambient.update(&self.stage, &self.shadow, key_share.luminance());
        self.visibility.update(&self.stage, &view, &self.grid);
        self.update_keys(&view);

        let shader = Shader {
            scene,
            stage: &self.stage,
            view: &view,
            shadow: &self.shadow,
            ambient: &self.ambient,
            toward_light,
            key,
            key_share,
            pixel: (2.0 / self.picture.width as f32, 2.0 / self.picture.height as f32),
        };
        let canvas = Canvas {
            shader: &shader,
            width: self.picture.width,
            height: self.picture.height,
            lattice: Lattice::new(self.picture.width, self.grid.per_side),
            grid: &self.grid,
            order: &self.order,
            backdrop: &self.backdrop,
            backdrop_bytes: &self.backdrop_bytes,
            encoder: &self.encoder,
            keys: &self.keys,
            // Surfaces count as one while their depth changes by less than this share from sample to sample: eight
            // pixels a pixel.
            depth_step: 16.0 * view.tan_y / self.picture.height as f32,
        };
        let (idle, visibility, width) = (&self.idle, &self.visibility, self.picture.width);
        self.picture.pixels.par_chunks_mut(BAND * width).enumerate().for_each(|(band, pixels)| {
            // A lock that somebody panicked under guards buffers that are cleared before use.
            let lock = || idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let mut buffers = lock().pop().unwrap_or_default();
            visibility.draw(band, canvas.grid, &mut buffers.samples);
            canvas.paint(band, &mut buffers, pixels);
            lock().push(buffers);
        });
        Ok(&self.picture)
    }

    fn update_keys(&mut self, view: &View) {
        let positions = &self.stage.positions;
        self.keys.clear();
        self.keys.extend(self.stage.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.corners.map(|i| positions[i as usize]);
            let normal = (b - a).cross(c - a);
            let front = normal.dot(view.eye - a) >= 0.0;
            let id = triangle.surface << 2 | u32::from(triangle.marked) << 1 | u32::from(front);
            SurfaceKey { id, normal: normal.unit_or(Vec3::UP) }
        }));
    }
}
