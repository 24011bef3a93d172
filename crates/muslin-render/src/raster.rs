//! Which samples a triangle covers, and at which depth.
//!
//! Corners are clipped in homogeneous coordinates, then snapped to 1/256 of a sample. From there on the edge functions
//!
//! wₑ(x, y) = aₑ x + bₑ y + cₑ        (twice the signed area of the point with the edge e)
//!
//! are exact integers [Pineda 1988]: a sample on the shared edge of two triangles belongs to exactly one of them
//! (top-left rule), so that a mesh has neither cracks nor samples drawn twice. Depth is linear over the picture and
//! kept as a plane.
//!
//! The samples of a pixel do not stand in rows and columns: each row is shifted a little against the one above, and
//! each column against the one to its left, so that the n² samples have n² different x and n² different y. Edges close
//! to the vertical or the horizontal, where stairs show most, then have n² steps instead of n.

use std::ops::Range;

/// Steps of the snapping grid in a sample.
const SUBSTEPS: i64 = 256;

/// Clip planes stand this many half-widths from the middle: inside of them the snapped coordinates and their products
/// fit an `i64`, and most triangles at the border of the picture need no clipping.
const GUARD: f32 = 8.0;

/// The most samples a side of a pixel.
pub(crate) const MAX_SAMPLES: usize = 8;

/// A corner in clip space: inside the picture where |x| ≤ w and |y| ≤ w.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClipCorner {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) w: f32,
    /// What is interpolated along when an edge is cut, besides the position.
    pub(crate) height: f32,
}

impl ClipCorner {
    fn mix(self, other: Self, t: f32) -> Self {
        let mix = |a: f32, b: f32| a + (b - a) * t;
        Self {
            x: mix(self.x, other.x),
            y: mix(self.y, other.y),
            w: mix(self.w, other.w),
            height: mix(self.height, other.height),
        }
    }

    /// Distances to the near plane and to the four guard planes, positive inside.
    fn insides(self, near: f32) -> [f32; 5] {
        let guard = GUARD * self.w;
        [self.w - near, guard - self.x, guard + self.x, guard - self.y, guard + self.y]
    }
}

/// Cuts a triangle to the guard planes and to w ≥ `near`, and hands on the triangles of what is left [Sutherland,
/// Hodgman 1974].
pub(crate) fn clip(corners: [ClipCorner; 3], near: f32, mut emit: impl FnMut([ClipCorner; 3])) {
    let insides = corners.map(|corner| corner.insides(near));
    if insides.iter().flatten().all(|&distance| distance >= 0.0) {
        emit(corners);
        return;
    }
    // Wholly outside of one plane; or not a number, of which no plane can make anything.
    let outside = |plane: usize| insides.iter().all(|distances| distances[plane] <= 0.0);
    if (0..5).any(outside) || insides.iter().flatten().any(|distance| distance.is_nan()) {
        return;
    }
    // Three corners, and at most one more for each plane.
    let mut polygon = [ClipCorner::default(); 8];
    polygon[..3].copy_from_slice(&corners);
    let mut count = 3;
    for plane in 0..5 {
        let mut cut = [ClipCorner::default(); 8];
        let mut cut_count = 0;
        for i in 0..count {
            let (a, b) = (polygon[i], polygon[(i + 1) % count]);
            let (da, db) = (a.insides(near)[plane], b.insides(near)[plane]);
            if da >= 0.0 && cut_count < cut.len() {
                cut[cut_count] = a;
                cut_count += 1;
            }
            if (da >= 0.0) != (db >= 0.0) && cut_count < cut.len() {
                cut[cut_count] = a.mix(b, da / (da - db));
                cut_count += 1;
            }
        }
        (polygon, count) = (cut, cut_count);
    }
    for i in 2..count {
        emit([polygon[0], polygon[i - 1], polygon[i]]);
    }
}

/// Where the samples of a picture are.
#[derive(Clone, Debug)]
pub(crate) struct SampleGrid {
    /// Samples in a row.
    pub(crate) width: usize,
    /// Rows of samples.
    pub(crate) height: usize,
    /// Samples a side of a pixel.
    pub(crate) per_side: usize,
    /// x of a sample within its cell, by row; y within its cell, by column \[substeps\].
    offsets_x: [i64; MAX_SAMPLES],
    offsets_y: [i64; MAX_SAMPLES],
}

impl SampleGrid {
    /// A picture of `width` × `height` pixels of `per_side`² samples, `per_side` from 1 to [`MAX_SAMPLES`].
    pub(crate) fn new(width: usize, height: usize, per_side: usize) -> Self {
        let offset = |i: usize| SUBSTEPS * (2 * i as i64 + 1) / (2 * per_side as i64);
        let (mut offsets_x, mut offsets_y) = ([0; MAX_SAMPLES], [0; MAX_SAMPLES]);
        for i in 0..per_side {
            offsets_x[i] = offset(i);
            offsets_y[i] = offset(per_side - 1 - i);
        }
        Self { width: width * per_side, height: height * per_side, per_side, offsets_x, offsets_y }
    }

    /// x of the samples of a row within their cells, in samples.
    pub(crate) fn offset_x(&self, row: usize) -> f32 {
        self.offsets_x[row % self.per_side] as f32 / SUBSTEPS as f32
    }

    /// y of the samples of a column within their cells, in samples.
    pub(crate) fn offset_y(&self, column: usize) -> f32 {
        self.offsets_y[column % self.per_side] as f32 / SUBSTEPS as f32
    }

    /// The place of a sample, in samples from the top left.
    pub(crate) fn place(&self, column: usize, row: usize) -> (f32, f32) {
        (column as f32 + self.offset_x(row), row as f32 + self.offset_y(column))
    }
}

/// A corner in the picture: x and y in samples from the top left, and a depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) depth: f64,
}

/// A triangle ready to be filled in.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    /// a, b, c of the three edge functions; c already lowered by one where the edge does not own its samples.
    edges: [[i64; 3]; 3],
    /// Depth at the first sample's cell, and its change a substep in x and y.
    depth: [f64; 3],
    /// The columns and rows of samples it may cover.
    pub(crate) columns: Range<usize>,
    pub(crate) rows: Range<usize>,
}

impl Coverage {
    /// `None` where the triangle has no area or lies beside the picture.
    pub(crate) fn new(corners: [Corner; 3], grid: &SampleGrid) -> Option<Self> {
        // A cast cuts towards zero; far above zero that is downwards, and much cheaper than rounding.
        const ABOVE_ZERO: i64 = 1 << 40;
        let snap = |c: f32| (f64::from(c) * SUBSTEPS as f64 + (ABOVE_ZERO as f64 + 0.5)) as i64 - ABOVE_ZERO;
        let mut x = corners.map(|corner| snap(corner.x));
        let mut y = corners.map(|corner| snap(corner.y));
        let mut depth = corners.map(|corner| corner.depth);
        let mut area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        if area == 0 {
            return None;
        }
        if area < 0 {
            x.swap(1, 2);
            y.swap(1, 2);
            depth.swap(1, 2);
            area = -area;
        }
        // Only cells with a sample between the extremes: in coarse maps, many triangles lie between samples.
        let (nearest, farthest) = (grid.offsets_x[0], grid.offsets_x[grid.per_side - 1]);
        let range = |values: [i64; 3], limit: usize| {
            let low = values[0].min(values[1]).min(values[2]);
            let high = values[0].max(values[1]).max(values[2]);
            let first = (low - farthest + SUBSTEPS - 1).div_euclid(SUBSTEPS);
            let end = (high - nearest).div_euclid(SUBSTEPS) + 1;
            first.clamp(0, limit as i64) as usize..end.clamp(0, limit as i64) as usize
        };
        let (columns, rows) = (range(x, grid.width), range(y, grid.height));
        if columns.is_empty() || rows.is_empty() {
            return None;
        }
        let mut edges = [[0; 3]; 3];
        for (e, edge) in edges.iter_mut().enumerate() {
            let (i, j) = ((e + 1) % 3, (e + 2) % 3);
            let (a, b) = (y[i] - y[j], x[j] - x[i]);
            // y points down: with this orientation an edge is a left one if it goes up, a top one if it goes right.
            let owns = a > 0 || (a == 0 && b > 0);
            *edge = [a, b, -a * x[i] - b * y[i] - i64::from(!owns)];
        }
        // Depth = Σ wₑ depthₑ / area, with the wₑ of the edges opposite to the corners.
        let slope = |k: usize| (0..3).map(|e| edges[e][k] as f64 * depth[e]).sum::<f64>() / area as f64;
        let (dx, dy) = (slope(0), slope(1));
        Some(Self { edges, depth: [depth[0] - dx * x[0] as f64 - dy * y[0] as f64, dx, dy], columns, rows })
    }

    /// Calls `fill(column, row, depth)` for the samples of `rows` that the triangle covers.
    pub(crate) fn for_each(&self, grid: &SampleGrid, rows: Range<usize>, fill: impl FnMut(usize, usize, f32)) {
        // Small triangles are many, and for them even clearing tables of the full size would show.
        match grid.per_side {
            1 => self.scan::<1>(1, grid, rows, fill),
            2 => self.scan::<2>(2, grid, rows, fill),
            3 => self.scan::<3>(3, grid, rows, fill),
            4 => self.scan::<4>(4, grid, rows, fill),
            n => self.scan::<MAX_SAMPLES>(n, grid, rows, fill),
        }
    }

    /// For grids of `n` samples a side, at most `N`. Inlined, so that `n` is a constant.
    #[inline(always)]
    fn scan<const N: usize>(
        &self,
        n: usize,
        grid: &SampleGrid,
        rows: Range<usize>,
        mut fill: impl FnMut(usize, usize, f32),
    ) {
        let [depth, dx, dy] = self.depth;
        // What the y offset of each column adds.
        let mut edge_bumps = [[0_i64; 3]; N];
        let mut depth_bumps = [0.0_f64; N];
        for k in 0..n {
            edge_bumps[k] = self.edges.map(|edge| edge[1] * grid.offsets_y[k]);
            depth_bumps[k] = dy * grid.offsets_y[k] as f64;
        }
        let first = self.columns.start;
        let step = self.edges.map(|edge| edge[0] * SUBSTEPS);
        for row in rows.start.max(self.rows.start)..rows.end.min(self.rows.end) {
            let x = first as i64 * SUBSTEPS + grid.offsets_x[row % n];
            let y = row as i64 * SUBSTEPS;
            let mut w = self.edges.map(|edge| edge[0] * x + edge[1] * y + edge[2]);
            let depth_row = depth + dx * x as f64 + dy * y as f64;
            let mut k = first % n;
            for column in self.columns.clone() {
                let bump = edge_bumps[k];
                if ((w[0] + bump[0]) | (w[1] + bump[1]) | (w[2] + bump[2])) >= 0 {
                    let along = ((column - first) as i64 * SUBSTEPS) as f64;
                    fill(column, row, (depth_row + dx * along + depth_bumps[k]) as f32);
                }
                for e in 0..3 {
                    w[e] += step[e];
                }
                k += 1;
                if k == n {
                    k = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f32, y: f32, depth: f64) -> Corner {
        Corner { x, y, depth }
    }

    fn cells(corners: [Corner; 3], grid: &SampleGrid) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        if let Some(coverage) = Coverage::new(corners, grid) {
            coverage.for_each(grid, 0..grid.height, |x, y, _| found.push((x, y)));
        }
        found
    }

    #[test]
    fn a_triangle_covers_the_right_pixels() {
        let grid = SampleGrid::new(8, 8, 1);
        let triangle = [corner(1.0, 1.0, 0.0), corner(5.0, 1.0, 0.0), corner(1.0, 5.0, 0.0)];
        // Middles with x + y < 6: the diagonal goes through middles, and is a bottom right edge, which owns nothing.
        let expected = vec![(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3)];
        assert_eq!(cells(triangle, &grid), expected);
        let [a, b, c] = triangle;
        assert_eq!(cells([a, c, b], &grid), expected, "the orientation does not matter");
    }

    #[test]
    fn a_fan_covers_each_sample_once() {
        for per_side in 1..=4 {
            let grid = SampleGrid::new(16, 16, per_side);
            let scale = per_side as f32;
            let rim = [(2.0, 2.0), (13.0, 1.0), (14.5, 9.0), (9.0, 14.0), (3.0, 12.5)];
            let mut hits = vec![0; grid.width * grid.height];
            for i in 0..rim.len() {
                let ((ax, ay), (bx, by)) = (rim[i], rim[(i + 1) % rim.len()]);
                let triangle = [(8.0, 8.0), (ax, ay), (bx, by)].map(|(x, y)| corner(x * scale, y * scale, 0.0));
                for (x, y) in cells(triangle, &grid) {
                    hits[y * grid.width + x] += 1;
                }
            }
            assert!(hits.iter().all(|&count| count <= 1), "a sample was drawn twice");
            let shoelace: f32 = (0..rim.len())
                .map(|i| rim[i].0 * rim[(i + 1) % rim.len()].1 - rim[(i + 1) % rim.len()].0 * rim[i].1)
                .sum::<f32>()
                / 2.0;
            let area = hits.iter().sum::<i32>() as f32 / (scale * scale);
            assert!((area - shoelace).abs() < 3.0 / scale, "{area} samples for an area of {shoelace}");
        }
    }

    #[test]
    fn depth_is_that_of_the_plane() {
        let grid = SampleGrid::new(16, 16, 2);
        let plane = |x: f32, y: f32| 3.0 + 0.25 * f64::from(x) - 0.125 * f64::from(y);
        let triangle = [(0.0, 0.0), (30.0, 3.0), (5.0, 31.0)].map(|(x, y)| corner(x, y, plane(x, y)));
        let coverage = Coverage::new(triangle, &grid).expect("it is in the picture");
        coverage.for_each(&grid, 0..grid.height, |column, row, depth| {
            let (x, y) = grid.place(column, row);
            assert!((f64::from(depth) - plane(x, y)).abs() < 1e-5, "{depth} at {x}, {y}");
        });
    }

    #[test]
    fn samples_of_a_pixel_differ_in_x_and_in_y() {
        let grid = SampleGrid::new(1, 1, 4);
        let places: Vec<_> = (0..16).map(|i| grid.place(i % 4, i / 4)).collect();
        for (i, a) in places.iter().enumerate() {
            for b in &places[..i] {
                assert!(a.0 != b.0 && a.1 != b.1, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn clipping_keeps_what_is_in_front() {
        let corner = |x: f32, y: f32, w: f32| ClipCorner { x, y, w, height: 0.0 };
        let mut pieces = 0;
        clip([corner(0.0, 0.5, 1.0), corner(-0.5, -0.5, -1.0), corner(0.5, -0.5, 1.0)], 0.01, |triangle| {
            pieces += 1;
            assert!(triangle.iter().all(|c| c.w >= 0.0099), "{triangle:?}");
        });
        assert!(pieces >= 2, "a corner that is cut off leaves two triangles, or more with the guard planes");
        clip([corner(0.0, 0.0, -1.0), corner(1.0, 0.0, -1.0), corner(0.0, 1.0, -1.0)], 0.01, |_| {
            panic!("everything is behind")
        });
        clip([corner(f32::NAN, 0.0, 1.0); 3], 0.01, |_| panic!("nothing is there"));
    }
}
