//! Triangles on the surface of a shape, for pictures.
//!
//! Vertices lie on the surface and have its normals. Along an edge of the shape each side has vertices of its own, at equal places to the
//! bit: joined by place, the triangles of a bounded shape close. They wind counter-clockwise seen from outside.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, TAU};

use crate::math::Vec3;
use crate::mesh::Bounds;
use crate::shape::Probe;

/// Cells of the lattice of [`Tessellation::from_distance`] along the longest side of the bounds.
const CELLS: usize = 40;
/// Steps that take a vertex of that lattice onto the surface. Distances that are exact need one.
const STEPS: usize = 8;
/// Parts of a full turn.
const SEGMENTS: usize = 64;

/// The surface of a shape as triangles.
///
/// ```
/// use muslin::math::Vec3;
/// use muslin::shape::Tessellation;
///
/// let ball = Tessellation::sphere(Vec3::ZERO, 2.0);
/// assert_eq!(ball.positions.len(), ball.normals.len());
/// assert!(ball.positions.iter().all(|p| (Vec3::from(*p).norm() - 2.0).abs() < 1e-9));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tessellation {
    /// Vertices, in m.
    pub positions: Vec<[f64; 3]>,
    /// Unit normals of the surface at the vertices, outwards.
    pub normals: Vec<[f64; 3]>,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A point of a curve that is turned about an axis.
///
/// ```
/// use muslin::math::Vec3;
/// use muslin::shape::{ProfilePoint, Tessellation};
///
/// // A pipe of radius 0.1 and length 1, without ends.
/// let at = |along| ProfilePoint { radius: 0.1, along, normal_angle: 0.0 };
/// let mut pipe = Tessellation::default();
/// pipe.revolve(Vec3::ZERO, Vec3::new(0.0, 1.0, 0.0), &[at(0.0), at(1.0)]);
/// assert!(!pipe.triangles.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfilePoint {
    /// Distance from the axis, in m.
    pub radius: f64,
    /// Place along the axis, in m.
    pub along: f64,
    /// Angle of the normal, in rad: 0 away from the axis, π/2 along it.
    pub normal_angle: f64,
}

impl Tessellation {
    /// Number of parts into which a full turn is cut.
    pub const SEGMENTS: usize = SEGMENTS;

    /// Adds a vertex and gives its number.
    pub fn push(&mut self, position: Vec3<f64>, normal: Vec3<f64>) -> u32 {
        self.positions.push(position.to_array());
        self.normals.push(normal.to_array());
        self.positions.len() as u32 - 1
    }

    /// Adds a lattice of `rows` + 1 by `columns` + 1 vertices, and two triangles for each of its cells that has an area. Seen from outside, rows
    /// follow each other to the left of the way along a row.
    pub fn lattice(&mut self, rows: usize, columns: usize, vertex: impl Fn(usize, usize) -> (Vec3<f64>, Vec3<f64>)) {
        let first = self.positions.len();
        for row in 0..=rows {
            for column in 0..=columns {
                let (position, normal) = vertex(row, column);
                self.push(position, normal);
            }
        }
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let a = (first + row * (columns + 1) + column) as u32;
            let (b, d) = (a + 1, a + columns as u32 + 1);
            self.triangle([a, b, d + 1]);
            self.triangle([a, d + 1, d]);
        }
    }

    /// Adds a triangle, unless two of its corners are at one place: those of a pole are.
    fn triangle(&mut self, corners: [u32; 3]) {
        let [a, b, c] = corners.map(|i| self.positions[i as usize]);
        if a != b && b != c && c != a {
            self.triangles.push(corners);
        }
    }

    /// Adds the surface that a curve gives when it is turned about an axis. The curve goes up the axis where the surface is convex.
    pub fn revolve(&mut self, center: Vec3<f64>, axis: Vec3<f64>, profile: &[ProfilePoint]) {
        let [right, front] = perpendicular(axis);
        let turned = |column: usize| {
            // The last column is the first, to the bit.
            let angle = TAU * (column % SEGMENTS) as f64 / SEGMENTS as f64;
            right * libm::cos(angle) + front * libm::sin(angle)
        };
        self.lattice(profile.len() - 1, SEGMENTS, |row, column| {
            let ProfilePoint { radius, along, normal_angle } = profile[row];
            let out = turned(column);
            let normal = out * libm::cos(normal_angle) + axis * libm::sin(normal_angle);
            (center + axis * along + out * radius, normal)
        });
    }

    /// A quarter of a circle about a point of the axis, from its equator to its pole if `is_upper`, from its pole to its equator otherwise.
    pub fn cap(radius: f64, along: f64, is_upper: bool) -> impl Iterator<Item = ProfilePoint> {
        let steps = SEGMENTS / 4;
        (0..=steps).map(move |step| {
            let latitude = FRAC_PI_2 * if is_upper { step as f64 } else { step as f64 - steps as f64 } / steps as f64;
            let is_pole = if is_upper { step == steps } else { step == 0 };
            let around = if is_pole { 0.0 } else { radius * libm::cos(latitude) };
            ProfilePoint { radius: around, along: along + radius * libm::sin(latitude), normal_angle: latitude }
        })
    }

    /// A ball: an icosahedron whose triangles are cut in four, again and again.
    pub fn sphere(center: Vec3<f64>, radius: f64) -> Self {
        const LEVELS: usize = 4;
        let (mut normals, mut triangles) = icosahedron();
        for _ in 0..LEVELS {
            triangles = refined(&mut normals, &triangles);
        }
        let positions = normals.iter().map(|n| (center + *n * radius).to_array()).collect();
        Self { positions, normals: normals.into_iter().map(Vec3::to_array).collect(), triangles }
    }

    /// Triangles where a distance within `bounds` is zero: a surface net.
    ///
    /// Each cell of a lattice that the surface passes through has a vertex, at first in the middle of where its edges are cut, then
    /// taken along the way out onto the surface. Each edge of the lattice that is cut has two triangles between the four cells around it [Gibson
    /// 1998, Constrained Elastic Surface Nets]. Bounds that are not finite give nothing.
    pub fn from_distance(probe: &dyn Fn(Vec3<f64>) -> Probe, bounds: &Bounds) -> Self {
        let Some(lattice) = Lattice::around(bounds) else { return Self::default() };
        let distances: Vec<f64> = lattice.corners().map(|corner| probe(lattice.place(corner)).distance).collect();
        let is_inside = |corner: [usize; 3]| distances[lattice.index(corner)] < 0.0;
        let mut surface = Self::default();
        let mut vertex_of = HashMap::new();
        for cell in lattice.corners().filter(|&cell| lattice.is_cell(cell)) {
            let cuts = lattice.cuts(cell, &distances);
            if let Some(start) = mean(&cuts) {
                let (position, normal) = onto_surface(probe, start);
                vertex_of.insert(cell, surface.push(position, normal));
            }
        }
        for (corner, axis) in lattice.corners().flat_map(|corner| (0..3).map(move |axis| (corner, axis))) {
            let Some(next) = lattice.next(corner, axis) else { continue };
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            if is_inside(corner) == is_inside(next) || corner[u] == 0 || corner[v] == 0 {
                continue;
            }
            // The cells around the edge, counter-clockwise seen from where it points to.
            let around = [[1, 1], [0, 1], [0, 0], [1, 0]].map(|[back_u, back_v]| {
                let mut cell = corner;
                cell[u] -= back_u;
                cell[v] -= back_v;
                vertex_of.get(&cell).copied()
            });
            if let [Some(a), Some(b), Some(c), Some(d)] = around {
                let [a, b, c, d] = if is_inside(corner) { [a, b, c, d] } else { [a, d, c, b] };
                surface.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        surface
    }
}

/// Two unit vectors that make a right-handed frame with a unit axis, the axis last.
pub(crate) fn perpendicular(axis: Vec3<f64>) -> [Vec3<f64>; 2] {
    let aside = if axis.x.abs() < 0.7 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 1.0, 0.0) };
    let right = aside.cross(axis).normalized_or_zero();
    [right, axis.cross(right)]
}

fn icosahedron() -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let corner = |a: f64, b: f64| [Vec3::new(a, b, 0.0), Vec3::new(0.0, a, b), Vec3::new(b, 0.0, a)];
    let signs = [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)];
    let vertices: Vec<Vec3<f64>> =
        signs.into_iter().flat_map(|(a, b)| corner(a, b)).map(Vec3::normalized_or_zero).collect();
    // Three corners that are an edge apart, 1.05 radii, are a face; turned outwards.
    let close = |i: usize, j: usize| (vertices[i] - vertices[j]).norm() < 1.1;
    let mut triangles = Vec::new();
    for (i, j, k) in (0..12).flat_map(|i| (i + 1..12).flat_map(move |j| (j + 1..12).map(move |k| (i, j, k)))) {
        if close(i, j) && close(j, k) && close(i, k) {
            let normal = (vertices[j] - vertices[i]).cross(vertices[k] - vertices[i]);
            let corners = if normal.dot(vertices[i]) > 0.0 { [i, j, k] } else { [i, k, j] };
            triangles.push(corners.map(|corner| corner as u32));
        }
    }
    (vertices, triangles)
}

/// Each triangle of a unit sphere cut in four.
fn refined(vertices: &mut Vec<Vec3<f64>>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = HashMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            vertices.push((vertices[a as usize] + vertices[b as usize]).normalized_or_zero());
            vertices.len() as u32 - 1
        })
    };
    let mut fine = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        fine.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    fine
}

/// Corners of equal cubes over some bounds, with a cube to spare all around.
struct Lattice {
    origin: Vec3<f64>,
    side: f64,
    counts: [usize; 3],
}

impl Lattice {
    fn around(bounds: &Bounds) -> Option<Self> {
        let extent = Vec3::from(bounds.max) - Vec3::from(bounds.min);
        let longest = extent.to_array().into_iter().fold(0.0, f64::max);
        if !(extent.is_finite() && Vec3::from(bounds.min).is_finite() && longest > 0.0) {
            return None;
        }
        let side = longest / CELLS as f64;
        let counts = extent.to_array().map(|x| (x.max(0.0) / side).ceil() as usize + 3);
        Some(Self { origin: Vec3::from(bounds.min) - Vec3::splat(side), side, counts })
    }

    fn corners(&self) -> impl Iterator<Item = [usize; 3]> + '_ {
        let [nx, ny, nz] = self.counts;
        (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
    }

    fn place(&self, [i, j, k]: [usize; 3]) -> Vec3<f64> {
        self.origin + Vec3::new(i as f64, j as f64, k as f64) * self.side
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.counts[1] + j) * self.counts[0] + i
    }

    /// Whether a corner is the lowest of a cell.
    fn is_cell(&self, corner: [usize; 3]) -> bool {
        corner.iter().zip(self.counts).all(|(i, count)| i + 1 < count)
    }

    fn next(&self, mut corner: [usize; 3], axis: usize) -> Option<[usize; 3]> {
        corner[axis] += 1;
        (corner[axis] < self.counts[axis]).then_some(corner)
    }

    /// Where the surface cuts the twelve edges of a cell.
    fn cuts(&self, cell: [usize; 3], distances: &[f64]) -> Vec<Vec3<f64>> {
        let corner = |bits: usize| [0, 1, 2].map(|axis| cell[axis] + (bits >> axis & 1));
        let edges = (0..8).flat_map(|from| (0..3).map(move |axis| (from, from | 1 << axis)));
        edges
            .filter(|(from, to)| from != to)
            .filter_map(|(from, to)| {
                let (from, to) = (corner(from), corner(to));
                let (a, b) = (distances[self.index(from)], distances[self.index(to)]);
                let is_cut = (a < 0.0) != (b < 0.0);
                is_cut.then(|| self.place(from) + (self.place(to) - self.place(from)) * (a / (a - b)).clamp(0.0, 1.0))
            })
            .collect()
    }
}

fn mean(points: &[Vec3<f64>]) -> Option<Vec3<f64>> {
    let sum = points.iter().fold(Vec3::ZERO, |sum, p| sum + *p);
    (!points.is_empty()).then(|| sum * (1.0 / points.len() as f64))
}

/// The point of the surface that the way out leads to or from, with its normal.
fn onto_surface(probe: &dyn Fn(Vec3<f64>) -> Probe, start: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let mut p = start;
    for _ in 0..STEPS {
        let Probe { distance, normal } = probe(p);
        p -= normal * distance;
    }
    (p, probe(p).normal)
}
