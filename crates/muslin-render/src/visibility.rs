//! Visibility: the surface that is seen at each sample of the picture.
//!
//! The picture is cut into bands of rows that are drawn independently, on as many threads as there are. A band keeps,
//! for each sample, the nearest surface and its depth as 1/w, which is linear over the picture, w being the distance
//! along the view. Shading comes afterwards, once per pixel and surface instead of once per sample.

use std::ops::Range;

use crate::camera::View;
use crate::raster::{ClipCorner, Corner, Coverage, MAX_SAMPLES, SampleGrid, clip};
use crate::stage::{Plane, Stage};

/// Rows of pixels in a band: few enough that its samples stay in the cache.
pub(crate) const BAND: usize = 8;

/// The near plane, in camera distances.
const NEAR: f32 = 0.01;

/// Nothing is seen.
pub(crate) const NOTHING: u32 = u32::MAX;

/// The ground is seen; the planes count down from here.
pub(crate) const GROUND: u32 = u32::MAX - 1;

/// Planes beyond this many are not drawn, so that their numbers never meet those of triangles.
const MAX_PLANES: usize = 1024;

/// The largest number of a triangle.
pub(crate) const LAST_TRIANGLE: u32 = GROUND - MAX_PLANES as u32 - 1;

/// What is seen: the number of a triangle, of a plane, the ground or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    Ground,
    Plane(usize),
    Triangle(usize),
}

impl Seen {
    pub(crate) fn from_id(id: u32) -> Self {
        match id {
            NOTHING => Self::Nothing,
            GROUND => Self::Ground,
            id if id > LAST_TRIANGLE => Self::Plane((GROUND - 1 - id) as usize),
            id => Self::Triangle(id as usize),
        }
    }
}

/// A plane in the picture: 1/w = depth · (x, y, 1), in samples.
#[derive(Clone, Copy, Debug)]
struct FlatDepth {
    id: u32,
    depth: [f32; 3],
}

/// The triangles of a stage in the picture, sorted by band; the memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    corners: Vec<ClipCorner>,
    coverages: Vec<(Coverage, u32)>,
    /// Indices of the coverages of each band, and where each band starts.
    members: Vec<u32>,
    starts: Vec<usize>,
    flats: Vec<FlatDepth>,
}

/// The samples of a band.
#[derive(Debug, Default)]
pub(crate) struct BandSamples {
    /// What is seen.
    pub(crate) ids: Vec<u32>,
    /// At which 1/w; 0 is infinitely far.
    pub(crate) depths: Vec<f32>,
    /// The columns of pixels outside of which nothing, or the ground, is seen.
    pub(crate) columns: Range<usize>,
}

impl Visibility {
    /// Finds where the triangles are in the picture.
    pub(crate) fn update(&mut self, stage: &Stage, view: &View, grid: &SampleGrid) {
        let (half_width, half_height) = (0.5 * grid.width as f32, 0.5 * grid.height as f32);
        self.corners.clear();
        self.corners.extend(stage.positions.iter().map(|&position| {
            let offset = position - view.eye;
            ClipCorner {
                x: offset.dot(view.right) / view.tan_x,
                y: offset.dot(view.up) / view.tan_y,
                w: offset.dot(view.forward),
                height: 0.0,
            }
        }));
        self.coverages.clear();
        for (id, triangle) in stage.triangles.iter().enumerate().take(LAST_TRIANGLE as usize) {
            let is_cloth = stage.surfaces[triangle.surface as usize].cloth.is_some();
            let behind = if is_cloth { 0.0 } else { stage.tolerance };
            clip(triangle.corners.map(|i| self.corners[i as usize]), NEAR, |corners| {
                let corners = corners.map(|corner| Corner {
                    x: (corner.x / corner.w + 1.0) * half_width,
                    y: (1.0 - corner.y / corner.w) * half_height,
                    depth: 1.0 / f64::from(corner.w + behind),
                });
                if let Some(coverage) = Coverage::new(corners, grid) {
                    self.coverages.push((coverage, id as u32));
                }
            });
        }
        self.sort(grid);
        self.flats.clear();
        if let Some(ground) = stage.ground {
            self.flats.extend(flat(ground, GROUND, stage.tolerance, view, grid));
        }
        for (index, &plane) in stage.planes.iter().enumerate().take(MAX_PLANES) {
            self.flats.extend(flat(plane, GROUND - 1 - index as u32, stage.tolerance, view, grid));
        }
    }

    /// A counting sort, which keeps the order within a band.
    fn sort(&mut self, grid: &SampleGrid) {
        let band_rows = BAND * grid.per_side;
        let bands = |coverage: &Coverage| coverage.rows.start / band_rows..(coverage.rows.end - 1) / band_rows + 1;
        let band_count = grid.height.div_ceil(band_rows);
        self.starts.clear();
        self.starts.resize(band_count + 1, 0);
        for (coverage, _) in &self.coverages {
            for band in bands(coverage) {
                self.starts[band + 1] += 1;
            }
        }
        for band in 0..band_count {
            self.starts[band + 1] += self.starts[band];
        }
        self.members.clear();
        self.members.resize(self.starts[band_count], 0);
        let mut next = self.starts.clone();
        for (index, (coverage, _)) in self.coverages.iter().enumerate() {
            for band in bands(coverage) {
                self.members[next[band]] = index as u32;
                next[band] += 1;
            }
        }
    }

    /// Finds what is seen at the samples of a band.
    pub(crate) fn draw(&self, band: usize, grid: &SampleGrid, samples: &mut BandSamples) {
        let first = band * BAND * grid.per_side;
        let rows = first..(first + BAND * grid.per_side).min(grid.height);
        let count = rows.len() * grid.width;
        samples.ids.clear();
        samples.ids.resize(count, NOTHING);
        samples.depths.clear();
        samples.depths.resize(count, 0.0);
        // The columns that triangles may cover, in whole pixels.
        let mut columns = grid.width..0;
        for &member in &self.members[self.starts[band]..self.starts[band + 1]] {
            let (coverage, id) = &self.coverages[member as usize];
            columns = columns.start.min(coverage.columns.start)..columns.end.max(coverage.columns.end);
            coverage.for_each(grid, rows.clone(), |column, row, depth| {
                let sample = (row - first) * grid.width + column;
                if depth > samples.depths[sample] {
                    samples.depths[sample] = depth;
                    samples.ids[sample] = *id;
                }
            });
        }
        for flat in &self.flats {
            // The ground is what is seen where nothing is; it only has to hide what is below it.
            if flat.id != GROUND {
                columns = 0..grid.width;
            }
            flat.draw(rows.clone(), columns.clone(), grid, samples);
        }
        samples.columns = columns.start / grid.per_side..columns.end.div_ceil(grid.per_side);
    }
}

impl FlatDepth {
    fn draw(&self, rows: Range<usize>, columns: Range<usize>, grid: &SampleGrid, samples: &mut BandSamples) {
        let [dx, dy, depth] = self.depth;
        let n = grid.per_side;
        let first = columns.start / n * n;
        let end = columns.end.next_multiple_of(n);
        if first >= end {
            return;
        }
        for (index, row) in rows.enumerate() {
            let range = index * grid.width + first..index * grid.width + end;
            let (ids, depths) = (&mut samples.ids[range.clone()], &mut samples.depths[range]);
            let start = depth + dx * (first as f32 + grid.offset_x(row)) + dy * row as f32;
            // Pixel by pixel, in which the offsets of the columns repeat.
            let bumps: [f32; MAX_SAMPLES] = std::array::from_fn(|k| dx * k as f32 + dy * grid.offset_y(k));
            let pixels = ids.chunks_exact_mut(n).zip(depths.chunks_exact_mut(n));
            for (pixel, (ids, depths)) in pixels.enumerate() {
                let left = start + dx * (pixel * n) as f32;
                for ((id, nearest), bump) in ids.iter_mut().zip(depths).zip(bumps) {
                    let depth = left + bump;
                    if depth > *nearest {
                        *nearest = depth;
                        *id = self.id;
                    }
                }
            }
        }
    }
}

/// A plane in the picture; `None` where the eye is not above it. With the eye at e and the ray r(x, y), n · (e + w r −
/// p) = 0 gives 1/w = n · r / n · (p − e), and r is linear over the picture.
fn flat(plane: Plane, id: u32, tolerance: f32, view: &View, grid: &SampleGrid) -> Option<FlatDepth> {
    let below = (plane.point - plane.normal * tolerance - view.eye).dot(plane.normal);
    if below >= -1e-6 {
        return None;
    }
    let at = |x: f32, y: f32| view.ray(x, y).dot(plane.normal) / below;
    let corner = at(-1.0, 1.0);
    let dx = (at(1.0, 1.0) - corner) / grid.width as f32;
    let dy = (at(-1.0, -1.0) - corner) / grid.height as f32;
    Some(FlatDepth { id, depth: [dx, dy, corner] })
}
