//! Pieces of cloth for the tests: flat, in the xz plane, with irregular triangles.
//!
//! Lines that a test needs are held to the bit: the outline, and the line along which a clamp ends. The rest is filled with
//! points that are no nearer to each other than a part of the edge length [Cook 1986, Poisson discs], joined by Delaunay
//! triangles, and moved to the mean of their neighbours, as cloth is meshed everywhere. Rows of equal triangles would
//! bend along their rows more easily than other cloth, and hide locking.
//!
//! ```text
//!  strip: z = 0 is the edge of the clamp            annulus: the inner ring is held, the next is the rim of the disc
//!  ┌──┬───────────────┐                                 ╭───────╮
//!  │//│  irregular    │ width                          │ ╭─────╮ │
//!  └──┴───────────────┘                                │ │  ×  │ │
//!  −row 0          length → z                          │ ╰─────╯ │
//! ```

use muslin::mesh::{Mesh, Uv};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::LabError;

/// A point of a flat sheet: x and z, in m.
type Point = [f64; 2];

/// Nearest distance of two points over the edge length: as many points come of it as equilateral triangles would have.
const NEAREST: f64 = 0.776;
/// Nearest distance of a point to one of a line, over the edge length.
const NEAREST_TO_LINE: f64 = 0.62;
/// Points that are tried for each that there is room for.
const TRIES: usize = 40;
/// Rounds of smoothing. The mean quality of triangles gains little after a dozen.
const ROUNDS: usize = 14;

/// Lines that are kept, and what lies between them.
struct Outline<'a> {
    fixed: Vec<Point>,
    /// Sides that must be edges of the mesh.
    sides: Vec<[usize; 2]>,
    min: Point,
    max: Point,
    area: f64,
    contains: &'a dyn Fn(Point) -> bool,
}

/// A rectangle along z, from one row of triangles behind the line z = 0 to `length`; x from −½ to ½ of `width`, in m.
pub(crate) fn strip(length: f64, width: f64, edge_length: f64) -> Result<Mesh, LabError> {
    let cells = |extent: f64| libm::round(extent / edge_length).max(1.0) as usize;
    let (along, across) = (cells(length), cells(width));
    let row = length / along as f64;
    let x = |i: usize| width * (i as f64 / across as f64 - 0.5);
    let mut fixed = Vec::new();
    for z in [-row, 0.0, length] {
        fixed.extend((0..=across).map(|i| [x(i), z]));
    }
    for j in 1..along {
        fixed.extend([0, across].map(|i| [x(i), length * j as f64 / along as f64]));
    }
    let clamp = (across + 1..2 * across + 1).map(|i| [i, i + 1]).collect();
    let contains = |[x, z]: Point| x.abs() < 0.5 * width - 0.3 * edge_length && z > 0.0 && z < length;
    let (min, max) = ([-0.5 * width, 0.0], [0.5 * width, length]);
    fill(&Outline { fixed, sides: clamp, min, max, area: length * width, contains: &contains }, edge_length)
}

/// A rectangle from the origin to `size`, in m, whose outline is divided evenly.
pub(crate) fn rectangle(size: [f64; 2], edge_length: f64) -> Result<Mesh, LabError> {
    let [across, along] = size.map(|side| libm::round(side / edge_length).max(1.0) as usize);
    let mut fixed: Vec<Point> = Vec::new();
    for end in [0.0, size[1]] {
        fixed.extend((0..=across).map(|i| [size[0] * (i as f64 / across as f64), end]));
    }
    for j in 1..along {
        fixed.extend([0.0, size[0]].map(|x| [x, size[1] * j as f64 / along as f64]));
    }
    let room = 0.3 * edge_length;
    let contains = |p: Point| (0..2).all(|k| p[k] > room && p[k] < size[k] - room);
    let outline =
        Outline { fixed, sides: Vec::new(), min: [0.0; 2], max: size, area: size[0] * size[1], contains: &contains };
    fill(&outline, edge_length)
}

/// A ring between two circles about the origin, with one row of triangles more within the inner one, in m.
pub(crate) fn annulus(inner: f64, outer: f64, edge_length: f64) -> Result<Mesh, LabError> {
    let radii = [inner - 0.9 * edge_length, inner, outer];
    let (mut fixed, mut sides): (Vec<Point>, Vec<[usize; 2]>) = (Vec::new(), Vec::new());
    let mut hole = 0.0;
    for (k, radius) in radii.into_iter().enumerate() {
        let count = libm::round(std::f64::consts::TAU * radius / edge_length) as usize;
        let (first, step) = (fixed.len(), std::f64::consts::TAU / count as f64);
        // Every second ring is turned by half a side.
        let angle = |i: usize| step * (i as f64 + if k == 1 { 0.5 } else { 0.0 });
        fixed.extend((0..count).map(|i| [radius * libm::cos(angle(i)), radius * libm::sin(angle(i))]));
        sides.extend((0..count).map(|i| [first + i, first + (i + 1) % count]));
        if k == 0 {
            hole = radius * libm::cos(0.5 * step);
        }
    }
    let radius = |p: Point| libm::hypot(p[0], p[1]);
    let contains = |p: Point| radius(p) > inner && radius(p) < outer - 0.3 * edge_length;
    let area = std::f64::consts::PI * (outer * outer - inner * inner);
    let outline = Outline { fixed, sides, min: [-outer; 2], max: [outer; 2], area, contains: &contains };
    let mut mesh = fill(&outline, edge_length)?;
    let center = |t: &[u32; 3]| {
        let sum = t.iter().fold([0.0; 2], |sum, &v| {
            let p = mesh.positions[v as usize];
            [sum[0] + p[0] / 3.0, sum[1] + p[2] / 3.0]
        });
        radius(sum)
    };
    let kept: Vec<[u32; 3]> = mesh.triangles.iter().filter(|t| center(t) > hole).copied().collect();
    mesh.triangles = kept;
    if let Some(uv) = &mut mesh.uv {
        uv.triangles.clone_from(&mesh.triangles);
    }
    Ok(mesh)
}

/// The warp of a sheet in a direction of the xz plane, in rad from x to z: its texture coordinates are turned so.
pub(crate) fn turn_warp(mesh: &mut Mesh, angle: f64) {
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    if let Some(uv) = &mut mesh.uv {
        for (c, p) in uv.coordinates.iter_mut().zip(&mesh.positions) {
            *c = [cos * p[0] + sin * p[2], cos * p[2] - sin * p[0]];
        }
    }
}

/// The mean length of the edges of a mesh, in m.
pub(crate) fn mean_edge(mesh: &Mesh) -> f64 {
    let at = |v: u32| mesh.positions[v as usize];
    let length = |a: u32, b: u32| libm::hypot(at(a)[0] - at(b)[0], at(a)[2] - at(b)[2]);
    let sum: f64 = mesh.triangles.iter().map(|&[a, b, c]| length(a, b) + length(b, c) + length(c, a)).sum();
    sum / (3 * mesh.triangles.len().max(1)) as f64
}

/// Fills an outline with points and triangles.
fn fill(outline: &Outline<'_>, edge_length: f64) -> Result<Mesh, LabError> {
    let held = outline.fixed.len();
    let mut points = outline.fixed.clone();
    scatter(outline, edge_length, &mut points);
    for _ in 0..ROUNDS {
        let triangles = delaunay(&points, &outline.sides)?;
        let mut sums = vec![([0.0; 2], 0.0); points.len()];
        for t in &triangles {
            for k in 0..3 {
                let (at, next) = (t[k] as usize, points[t[(k + 1) % 3] as usize]);
                sums[at].0[0] += next[0];
                sums[at].0[1] += next[1];
                sums[at].1 += 1.0;
            }
        }
        for (point, (sum, count)) in points.iter_mut().zip(&sums).skip(held) {
            *point = sum.map(|s| s / count);
        }
    }
    let triangles: Vec<[u32; 3]> = delaunay(&points, &outline.sides)?.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let positions: Vec<[f64; 3]> = points.iter().map(|&[x, z]| [x, 0.0, z]).collect();
    let uv = Some(Uv { coordinates: points, triangles: triangles.clone() });
    Ok(Mesh { positions, triangles, uv, ..Mesh::default() })
}

/// Adds points at random, none too near to another.
fn scatter(outline: &Outline<'_>, edge_length: f64, points: &mut Vec<Point>) {
    let held = points.len();
    let columns = ((outline.max[0] - outline.min[0]) / edge_length) as usize + 1;
    let rows = ((outline.max[1] - outline.min[1]) / edge_length) as usize + 1;
    let cell = |p: Point| {
        let index = |k: usize, count: usize| (((p[k] - outline.min[k]) / edge_length).max(0.0) as usize).min(count - 1);
        [index(0, columns), index(1, rows)]
    };
    let mut cells: Vec<Vec<usize>> = vec![Vec::new(); columns * rows];
    for (i, p) in points.iter().enumerate() {
        let [c, r] = cell(*p);
        cells[r * columns + c].push(i);
    }
    let tries = TRIES * (outline.area / (0.866 * edge_length * edge_length)) as usize;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut unit = || {
        // xorshift64* [Vigna 2016]
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..tries {
        let p: Point = std::array::from_fn(|k| outline.min[k] + unit() * (outline.max[k] - outline.min[k]));
        if !(outline.contains)(p) {
            continue;
        }
        let [c, r] = cell(p);
        let around = (r.saturating_sub(1)..=(r + 1).min(rows - 1))
            .flat_map(|r| (c.saturating_sub(1)..=(c + 1).min(columns - 1)).map(move |c| r * columns + c));
        let is_free = |&i: &usize| {
            let least = if i < held { NEAREST_TO_LINE } else { NEAREST } * edge_length;
            libm::hypot(points[i][0] - p[0], points[i][1] - p[1]) >= least
        };
        if around.flat_map(|index| &cells[index]).all(is_free) {
            cells[r * columns + c].push(points.len());
            points.push(p);
        }
    }
}

/// Triangles counter-clockwise in x and z, in an order that depends on the points alone.
fn delaunay(points: &[Point], sides: &[[usize; 2]]) -> Result<Vec<[u32; 3]>, LabError> {
    // Spade refuses numbers below 1e-43 that are not 0.
    let exact = |value: f64| if value.abs() < 1e-30 { 0.0 } else { value };
    let vertices = points.iter().map(|&[x, z]| Point2::new(exact(x), exact(z))).collect();
    let mesh = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(vertices, sides.to_vec(), |_| {});
    let failed =
        |why: String| LabError::Failed(format!("the sample could not be meshed: {why}; take another edge length"));
    let mesh = mesh.map_err(|error| failed(error.to_string()))?;
    if mesh.num_vertices() != points.len() {
        return Err(failed("two of its points are one".to_owned()));
    }
    let mut triangles: Vec<[u32; 3]> = mesh
        .inner_faces()
        .map(|face| {
            let corners = face.vertices().map(|vertex| vertex.fix().index() as u32);
            let first = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
            [0, 1, 2].map(|k| corners[(first + k) % 3])
        })
        .collect();
    triangles.sort_unstable();
    Ok(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smallest_angle(mesh: &Mesh) -> f64 {
        let side = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|v| mesh.positions[v as usize]);
            libm::hypot(a[0] - b[0], a[2] - b[2])
        };
        let angle = |a: f64, b: f64, c: f64| libm::acos((b * b + c * c - a * a) / (2.0 * b * c)).to_degrees();
        let least = |t: &[u32; 3]| {
            let [a, b, c] = [side(t[1], t[2]), side(t[2], t[0]), side(t[0], t[1])];
            angle(a, b, c).min(angle(b, c, a)).min(angle(c, a, b))
        };
        mesh.triangles.iter().map(least).fold(180.0, f64::min)
    }

    #[test]
    fn sheets_have_their_area_and_good_triangles() {
        let (h, pi) = (5e-3, std::f64::consts::PI);
        let ring = pi * (0.15 * 0.15 - 0.0855 * 0.0855);
        for (name, mesh, area) in [
            ("strip", strip(0.04, 0.025, h).unwrap(), 0.045 * 0.025),
            ("rectangle", rectangle([0.05, 0.2], h).unwrap(), 0.01),
            ("annulus", annulus(0.09, 0.15, h).unwrap(), ring),
        ] {
            assert!((mesh.total_area() / area - 1.0).abs() < 2e-3, "{name}: {} m² of {area}", mesh.total_area());
            assert!(muslin::mesh::check(&mesh).is_empty(), "{name}: {:?}", muslin::mesh::check(&mesh));
            assert!((mean_edge(&mesh) / h - 1.0).abs() < 0.08, "{name}: edges of {} m", mean_edge(&mesh));
            assert!(smallest_angle(&mesh) > 20.0, "{name}: an angle of {}°", smallest_angle(&mesh));
        }
    }

    #[test]
    fn rectangles_of_every_edge_length_are_sound() {
        for mm in 2..=20 {
            for size in [[0.05, 0.2], [0.2, 0.2]] {
                let mesh = rectangle(size, 1e-3 * f64::from(mm)).unwrap();
                assert!(muslin::mesh::check(&mesh).is_empty(), "{mm} mm: {:?}", muslin::mesh::check(&mesh));
            }
        }
    }

    #[test]
    fn sheets_face_up_and_are_the_same_every_time() {
        let mesh = rectangle([0.1, 0.1], 0.01).unwrap();
        let [a, b, c] = mesh.triangles[0].map(|v| mesh.positions[v as usize]);
        let up = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]);
        assert!(up > 0.0, "the normal is {up} of +y");
        assert_eq!(mesh, rectangle([0.1, 0.1], 0.01).unwrap());
    }
}
