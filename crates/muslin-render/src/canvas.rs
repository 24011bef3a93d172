//! From samples to pixels: each surface that is seen in a pixel is shaded once, and counts by its share of the samples.
//!
//! The light on the ground is a smooth function of the place, defined behind objects too: it is computed at some
//! corners of pixels, and interpolated.

use crate::color::Encoder;
use crate::math::Vec3;
use crate::raster::SampleGrid;
use crate::shade::Shader;
use crate::visibility::{BAND, BandSamples, Seen};

/// Different surfaces told apart in one pixel; further ones count as the last.
const MAX_GROUPS: usize = 8;

/// The points at which the ground is lit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    /// The binary logarithm of the distance between points \[pixels\].
    shift: u32,
    /// Points in a row.
    width: usize,
}

impl Lattice {
    pub(crate) fn new(width: usize, samples_per_side: usize) -> Self {
        // Fast pictures have a point for 4 × 4 pixels, good ones for 2 × 2. Both divide a band.
        let shift = if samples_per_side <= 2 { 2 } else { 1 };
        Self { shift, width: (width >> shift) + 2 }
    }

    /// The cell of a pixel, and where the middle of the pixel is in it, 0 to 1.
    fn locate(self, pixel: usize) -> (usize, f32) {
        let size = 1 << self.shift;
        (pixel >> self.shift, ((pixel & (size - 1)) as f32 + 0.5) / size as f32)
    }
}

/// What is needed to turn samples into pixels.
#[derive(Debug)]
pub(crate) struct Canvas<'a> {
    pub(crate) shader: &'a Shader<'a>,
    /// The size of the picture \[pixels\].
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) lattice: Lattice,
    pub(crate) grid: &'a SampleGrid,
    /// The samples of a pixel, as [`from_the_middle`] gives them.
    pub(crate) order: &'a [PixelSample],
    /// The background, linear and as bytes.
    pub(crate) backdrop: &'a [Vec3],
    pub(crate) backdrop_bytes: &'a [[u8; 3]],
    pub(crate) encoder: &'a Encoder,
    /// What tells surfaces apart, by triangle.
    pub(crate) keys: &'a [SurfaceKey],
    /// Samples count as one surface while their depth changes by less than this share of it.
    pub(crate) depth_step: f32,
}

/// The memory for one band.
#[derive(Debug, Default)]
pub(crate) struct BandBuffers {
    pub(crate) samples: BandSamples,
    /// What is missing of the light on the ground, in rows of points; NaN where it is not known yet.
    ground: Vec<[f32; 2]>,
}

/// What two samples of a pixel must have in common to be shaded as one: the mesh, the mark and the side, and about the
/// normal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SurfaceKey {
    pub(crate) id: u32,
    pub(crate) normal: Vec3,
}

impl SurfaceKey {
    fn matches(&self, other: &Self) -> bool {
        // 30°: more than neighbours in a smooth mesh, less than the edge of a box.
        self.id == other.id && self.normal.dot(other.normal) > 0.86
    }
}

/// Samples of one pixel that show one surface.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    key: SurfaceKey,
    depth: f32,
    color: Vec3,
}

/// A pixel: its column, its row in the band and its row in the picture.
#[derive(Clone, Copy, Debug)]
struct Place {
    column: usize,
    row_in_band: usize,
    row: usize,
}

/// A sample of a pixel: its index from that of the first, and where it is in the pixel, 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelSample {
    offset: usize,
    x: f32,
    y: f32,
}

/// The samples of a pixel by their distance from its middle: the first of a surface is where it is shaded.
pub(crate) fn from_the_middle(grid: &SampleGrid) -> Vec<PixelSample> {
    let n = grid.per_side;
    let sample = |i: usize| {
        let (column, row) = (i % n, i / n);
        let (x, y) = grid.place(column, row);
        PixelSample { offset: row * grid.width + column, x: x / n as f32, y: y / n as f32 }
    };
    let mut order: Vec<_> = (0..n * n).map(sample).collect();
    let distance = |s: &PixelSample| (s.x - 0.5) * (s.x - 0.5) + (s.y - 0.5) * (s.y - 0.5);
    order.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    order
}

impl Canvas<'_> {
    /// Paints the pixels of a band whose samples are known.
    pub(crate) fn paint(&self, band: usize, buffers: &mut BandBuffers, pixels: &mut [[u8; 3]]) {
        buffers.ground.clear();
        buffers.ground.resize(self.lattice.width * ((BAND >> self.lattice.shift) + 1), [f32::NAN; 2]);
        for (row_in_band, pixels) in pixels.chunks_exact_mut(self.width).enumerate() {
            let row = band * BAND + row_in_band;
            for (column, pixel) in pixels.iter_mut().enumerate() {
                let background = row * self.width + column;
                let place = Place { column, row_in_band, row };
                let color = if buffers.samples.columns.contains(&column) {
                    self.blend(place, buffers, self.backdrop[background])
                } else {
                    self.ground(place, &mut buffers.ground, self.backdrop[background])
                };
                *pixel = match color {
                    Some(color) => self.encoder.encode(color, column, row),
                    None => self.backdrop_bytes[background],
                };
            }
        }
    }

    /// The mean colour over the samples of a pixel; `None` where there is only background.
    fn blend(&self, place: Place, buffers: &mut BandBuffers, background: Vec3) -> Option<Vec3> {
        let n = self.grid.per_side;
        let corner = place.row_in_band * n * self.grid.width + place.column * n;
        let index = |sample: PixelSample| corner + sample.offset;
        let BandBuffers { samples, ground } = buffers;

        // Most pixels show one thing only.
        let middle = *self.order.first()?;
        let id = samples.ids[index(middle)];
        if self.order.iter().all(|&sample| samples.ids[index(sample)] == id) {
            return self.shade(id, place, middle, ground, background);
        }
        let mut groups = [Group::default(); MAX_GROUPS];
        let mut count = 0;
        let mut sum = Vec3::ZERO;
        for &sample in self.order {
            let (id, depth) = (samples.ids[index(sample)], samples.depths[index(sample)]);
            let key = self.key(id);
            let close = |group: &Group| (group.depth - depth).abs() <= self.depth_step * depth;
            let same = |group: &&Group| close(group) && group.key.matches(&key);
            if let Some(group) = groups[..count].iter().find(same) {
                sum += group.color;
                continue;
            }
            let color = self.shade(id, place, sample, ground, background).unwrap_or(background);
            groups[count.min(MAX_GROUPS - 1)] = Group { key, depth, color };
            count = (count + 1).min(MAX_GROUPS);
            sum += color;
        }
        Some(sum * (1.0 / (n * n) as f32))
    }

    fn key(&self, id: u32) -> SurfaceKey {
        // Planes count down from the largest numbers, which the keys of meshes do not reach.
        let flat = SurfaceKey { id, normal: Vec3::UP };
        if let Seen::Triangle(index) = Seen::from_id(id) { self.keys[index] } else { flat }
    }

    /// The colour of what is seen at a sample of a pixel; `None` where it is that of the background.
    fn shade(
        &self,
        id: u32,
        place: Place,
        sample: PixelSample,
        ground: &mut [[f32; 2]],
        background: Vec3,
    ) -> Option<Vec3> {
        let at = || self.at(place.column as f32 + sample.x, place.row as f32 + sample.y);
        match Seen::from_id(id) {
            Seen::Nothing | Seen::Ground => self.ground(place, ground, background),
            Seen::Plane(index) => {
                let (x, y) = at();
                let (color, left) = self.shader.plane(self.shader.stage.planes[index], x, y);
                (left > 0.0).then(|| background.mix(color, left))
            }
            Seen::Triangle(index) => {
                let (x, y) = at();
                Some(self.shader.triangle(index, x, y))
            }
        }
    }

    /// The colour of the ground; `None` where it is that of the background. The ground is everywhere where nothing else
    /// is, up to the horizon, where nothing is missing from its light.
    fn ground(&self, place: Place, ground: &mut [[f32; 2]], background: Vec3) -> Option<Vec3> {
        self.shader.stage.ground?;
        let missing = self.ground_shade(place, ground);
        (missing != [0.0; 2]).then(|| background * self.shader.ground_light(missing))
    }

    /// Pixels from the top left as the coordinates of the picture, −1 to 1 both ways, y up.
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (2.0 * x / self.width as f32 - 1.0, 1.0 - 2.0 * y / self.height as f32)
    }

    /// What is missing of the light on the ground in the middle of a pixel, from the points around it.
    fn ground_shade(&self, place: Place, ground: &mut [[f32; 2]]) -> [f32; 2] {
        let (column, right) = self.lattice.locate(place.column);
        let (row, down) = self.lattice.locate(place.row_in_band);
        let upper = row * self.lattice.width + column;
        let lower = upper + self.lattice.width;
        let corners = [upper, upper + 1, lower, lower + 1];
        if corners.iter().any(|&point| ground[point][0].is_nan()) {
            self.light_ground(place, corners, ground);
        }
        let [a, b, c, d] = corners.map(|point| ground[point]);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        [0, 1].map(|k| mix(mix(a[k], b[k], right), mix(c[k], d[k], right), down))
    }

    /// Computes what is not known yet of the points around a pixel.
    #[cold]
    fn light_ground(&self, place: Place, corners: [usize; 4], ground: &mut [[f32; 2]]) {
        for point in corners {
            if ground[point][0].is_nan() {
                let (column, row) = (point % self.lattice.width, point / self.lattice.width);
                let (x, y) = (column << self.lattice.shift, row << self.lattice.shift);
                let (x, y) = self.at(x as f32, (place.row - place.row_in_band + y) as f32);
                ground[point] = self.shader.ground_shade(x, y);
            }
        }
    }
}
