//! Sheets and tubes: meshes that need no file.
//!
//! ```text
//!        x →
//!      0────1────2        vertex (i, j) = j·(cx + 1) + i
//!    z │ ╲  │  ╱ │
//!    ↓ 3────4────5        seen from +y, along which the normals point
//!      │ ╱  │  ╲ │
//!      6────7────8        cells = [2, 2], alternating diagonals
//! ```
//!
//! A sheet lies in the xz plane, centred on the origin. Texture coordinates run over [0, 1]²: u along +x and v along
//! −z, since x × (−z) = +y: seen from the side to which the normals point, a picture on the cloth is not mirrored.
//!
//! Positions are computed from the middle outwards, so a sheet is its own mirror image to the last bit, and an even
//! number of cells has a vertex exactly at zero. A mesh that leans to one side by rounding would make a drape that does.

use crate::mesh::{Mesh, Uv};
use std::f64::consts::TAU;

/// The most vertices a generated mesh may have.
///
/// Half-edges (six a vertex) are numbered in 32 bits; a sixteenth of that range leaves room for them and for the
/// elements built over them.
pub const MAX_GRID_VERTICES: u32 = u32::MAX / 16;

/// How a sheet is cut into triangles.
///
/// Hinge bending depends on it even in the limit of refinement: with all diagonals alike the cloth is up to four times
/// stiffer one way than the other, with alternating ones 1.5 times, with nearly equilateral triangles not at all.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh};
///
/// let counts = [Diagonals::Alternating, Diagonals::Crossed].map(|cut| Mesh::grid([1.0, 1.0], [2, 2], cut).map(|m| m.vertex_count()));
/// assert_eq!(counts, [Ok(9), Ok(13)], "crossed cells have a vertex in the middle");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// Every quad cut from (i, j) to (i + 1, j + 1).
    Forward,
    /// Every quad cut from (i + 1, j) to (i, j + 1).
    Backward,
    /// Forward where i + j is even, backward elsewhere.
    #[default]
    Alternating,
    /// Both diagonals: a fifth vertex in the middle of each quad, numbered row by row after all the others.
    Crossed,
    /// Rows of nearly equilateral triangles, numbered row by row.
    ///
    /// ```text
    ///   0────1────2        even rows: cx + 1 vertices
    ///   │╲  ╱ ╲  ╱│
    ///   3─4────5──6        odd rows: cx + 2, shifted by half an edge, with the ends filled in
    ///   │╱  ╲ ╱  ╲│
    ///   7────8────9
    /// ```
    ///
    /// The first number of `cells` sets the edge length, width/cx; the second plays no part. The number of rows is the
    /// one that brings the height of a triangle nearest to √3/2 of the edge: the rows are then stretched to fill the
    /// rectangle exactly. Both ends of each row lie on the straight border, where half triangles fill the gaps.
    Isotropic,
}

/// Why a sheet or a tube could not be made.
///
/// ```
/// use muslin::mesh::{Diagonals, GridError, Mesh};
///
/// assert_eq!(Mesh::grid([1.0, 1.0], [0, 2], Diagonals::Forward), Err(GridError::NoCells([0, 2])));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// A sheet without cells.
    #[error("a grid needs at least one cell along each side, but cells is {0:?}: give two numbers from 1 up")]
    NoCells([u32; 2]),
    /// A sheet without extent.
    #[error("a grid needs two finite sides greater than 0 m, but size is {0:?}")]
    Size([f64; 2]),
    /// A tube too coarse to enclose anything.
    #[error("a tube needs at least 3 cells around and 1 along, but cells is {0:?}")]
    TubeCells([u32; 2]),
    /// A tube without extent.
    #[error("a tube needs a finite radius and height greater than 0 m, but they are {radius:?} and {height:?}")]
    TubeSize {
        /// Radius, in m.
        radius: f64,
        /// Height, in m.
        height: f64,
    },
    /// More vertices than can be numbered.
    #[error("the mesh would have {0} vertices, but the limit is {MAX_GRID_VERTICES}: use fewer cells")]
    TooManyVertices(u128),
}

impl Diagonals {
    #[cfg(test)]
    const ALL: [Self; 5] = [Self::Forward, Self::Backward, Self::Alternating, Self::Crossed, Self::Isotropic];

    /// Whether quad (i, j) is cut from (i, j) to (i + 1, j + 1); of no meaning where quads are not cut in two.
    fn is_forward(self, i: u32, j: u32) -> bool {
        match self {
            Self::Backward => false,
            Self::Alternating => i % 2 == j % 2,
            Self::Forward | Self::Crossed | Self::Isotropic => true,
        }
    }
}

impl Mesh {
    /// A sheet of `size` (in m, along x and z) in the xz plane, centred on the origin, with normals along +y.
    ///
    /// `cells` counts the quads along x and z; see [`Diagonals`] for what becomes of them.
    pub fn grid(size: [f64; 2], cells: [u32; 2], diagonals: Diagonals) -> Result<Self, GridError> {
        if cells.contains(&0) {
            return Err(GridError::NoCells(cells));
        }
        if !size.into_iter().all(is_length) {
            return Err(GridError::Size(size));
        }
        match diagonals {
            Diagonals::Crossed => crossed(size, cells),
            Diagonals::Isotropic => isotropic(size, cells[0]),
            _ => halved_quads(size, cells, diagonals),
        }
    }

    /// An open tube about the y axis, centred on the origin, with normals outwards.
    ///
    /// `cells` counts the quads around and along. Vertex (i, j) has the index j·around + i; i = 0 lies on +x, i rises
    /// counter-clockwise seen from above, j rises with y. Diagonals alternate where `around` is even; with an odd
    /// number the pattern does not close, and all run forward. Texture coordinates have a seam at i = 0: u = i/around
    /// and v = j/along, unmirrored seen from outside.
    pub fn tube(radius: f64, height: f64, cells: [u32; 2]) -> Result<Self, GridError> {
        let [around, along] = cells;
        if around < 3 || along < 1 {
            return Err(GridError::TubeCells(cells));
        }
        if !is_length(radius) || !is_length(height) {
            return Err(GridError::TubeSize { radius, height });
        }
        // The texture coordinates are the larger set: a seam has two for one vertex.
        limit((u128::from(around) + 1) * (u128::from(along) + 1))?;

        let mut mesh = Self::default();
        let mut uv = Uv::default();
        for j in 0..=along {
            for i in 0..=around {
                uv.coordinates.push([f64::from(i) / f64::from(around), f64::from(j) / f64::from(along)]);
            }
            for i in 0..around {
                let angle = TAU * f64::from(i) / f64::from(around);
                let y = height * centered(2 * u64::from(j), along);
                mesh.positions.push([radius * libm::cos(angle), y, -radius * libm::sin(angle)]);
            }
        }
        let diagonals = if around.is_multiple_of(2) { Diagonals::Alternating } else { Diagonals::Forward };
        for (i, j) in quads(cells) {
            // Seen from outside, i runs to the right and j up: the opposite turn to a sheet seen from +y.
            let split = |at: &dyn Fn(u32, u32) -> u32| cut(i, j, diagonals, at).map(|[p, q, r]| [p, r, q]);
            mesh.triangles.extend(split(&|i, j| j * around + i % around));
            uv.triangles.extend(split(&|i, j| j * (around + 1) + i));
        }
        mesh.uv = Some(uv);
        Ok(mesh)
    }
}

fn halved_quads(size: [f64; 2], cells: [u32; 2], diagonals: Diagonals) -> Result<Mesh, GridError> {
    let lattice = lattice(cells, 0)?;
    let triangles = quads(cells).flat_map(|(i, j)| cut(i, j, diagonals, &|i, j| j * (cells[0] + 1) + i)).collect();
    Ok(sheet(size, &lattice, triangles))
}

fn crossed(size: [f64; 2], cells: [u32; 2]) -> Result<Mesh, GridError> {
    let [cx, cz] = cells;
    let mut points = lattice(cells, u128::from(cx) * u128::from(cz))?;
    let first_center = points.len() as u32;
    let mut triangles = Vec::with_capacity(4 * cx as usize * cz as usize);
    for (i, j) in quads(cells) {
        points.push([centered(2 * u64::from(i) + 1, cx), centered(2 * u64::from(j) + 1, cz)]);
        let center = first_center + j * cx + i;
        let near = j * (cx + 1) + i;
        let ring = [near, near + cx + 1, near + cx + 2, near + 1];
        triangles.extend((0..4).map(|side| [ring[side], ring[(side + 1) % 4], center]));
    }
    Ok(sheet(size, &points, triangles))
}

fn isotropic(size: [f64; 2], columns: u32) -> Result<Mesh, GridError> {
    let edge = size[0] / f64::from(columns);
    // `as` saturates: an absurd ratio of sides ends in the limit below.
    let rows = ((size[1] / (edge * 0.75_f64.sqrt())).round() as u32).max(1);
    let row_start = |row: u32| row * (columns + 1) + row / 2;
    let (wide, high) = (u128::from(columns) + 1, u128::from(rows));
    limit(wide * (high + 1) + high.div_ceil(2))?;

    let mut points = Vec::with_capacity(row_start(rows) as usize + columns as usize + 2);
    let mut triangles = Vec::with_capacity(rows as usize * (2 * columns as usize + 1));
    for row in 0..=rows {
        let z = centered(2 * u64::from(row), rows);
        points.extend(row_halves(columns, row).map(|halves| [centered(halves, columns), z]));
    }
    for row in 0..rows {
        let (near, far) = (row_start(row), row_start(row + 1));
        let is_even = row % 2 == 0;
        let (even, odd) = if is_even { (near, far) } else { (far, near) };
        for k in 0..=columns {
            // The base lies on the odd row, the tip on the even one; then the other way round.
            triangles.push(wound(even + k, [odd + k, odd + k + 1], is_even));
            if k < columns {
                triangles.push(wound(odd + k + 1, [even + k, even + k + 1], !is_even));
            }
        }
    }
    Ok(sheet(size, &points, triangles))
}

/// Where the vertices of a row of [`Diagonals::Isotropic`] lie, in half edges from its start.
fn row_halves(columns: u32, row: u32) -> impl Iterator<Item = u64> {
    let end = 2 * u64::from(columns);
    let is_odd = row % 2 == 1;
    let first = u64::from(is_odd);
    let inner = (first..=end).step_by(2);
    is_odd.then_some(0).into_iter().chain(inner).chain(is_odd.then_some(end))
}

/// A triangle with its base `[left, right]` along x and its tip towards −z (`tip_near`) or +z, with its normal along +y.
fn wound(tip: u32, [left, right]: [u32; 2], tip_near: bool) -> [u32; 3] {
    if tip_near { [tip, left, right] } else { [left, tip, right] }
}

/// The two triangles of quad (i, j), with their normals along +y where i runs along x and j along z.
fn cut(i: u32, j: u32, diagonals: Diagonals, at: &dyn Fn(u32, u32) -> u32) -> [[u32; 3]; 2] {
    let [p00, p10, p01, p11] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
    if diagonals.is_forward(i, j) { [[p00, p01, p11], [p00, p11, p10]] } else { [[p00, p01, p10], [p01, p11, p10]] }
}

/// All (i, j), row by row.
fn quads([columns, rows]: [u32; 2]) -> impl Iterator<Item = (u32, u32)> {
    (0..rows).flat_map(move |j| (0..columns).map(move |i| (i, j)))
}

/// The corners of all quads over the square [−½, ½]², row by row, with room for `extra` more.
fn lattice([cx, cz]: [u32; 2], extra: u128) -> Result<Vec<[f64; 2]>, GridError> {
    let count = limit((u128::from(cx) + 1) * (u128::from(cz) + 1) + extra)?;
    let mut points = Vec::with_capacity(count);
    for j in 0..=cz {
        points.extend((0..=cx).map(|i| [centered(2 * u64::from(i), cx), centered(2 * u64::from(j), cz)]));
    }
    Ok(points)
}

/// Lays points of the square [−½, ½]² out over the rectangle.
fn sheet([width, depth]: [f64; 2], points: &[[f64; 2]], triangles: Vec<[u32; 3]>) -> Mesh {
    let positions = points.iter().map(|[x, z]| [width * x, 0.0, depth * z]).collect();
    let coordinates = points.iter().map(|[x, z]| [0.5 + x, 0.5 - z]).collect();
    let uv = Uv { coordinates, triangles: triangles.clone() };
    Mesh { positions, triangles, uv: Some(uv), ..Mesh::default() }
}

/// `halves` half-cells from the start of a side of `cells` cells, as a fraction of the side measured from its middle.
fn centered(halves: u64, cells: u32) -> f64 {
    let cells = i64::from(cells);
    (halves as i64 - cells) as f64 / (2 * cells) as f64
}

fn limit(count: u128) -> Result<usize, GridError> {
    if count > u128::from(MAX_GRID_VERTICES) { Err(GridError::TooManyVertices(count)) } else { Ok(count as usize) }
}

fn is_length(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::mesh::{Severity, check};
    use crate::topology::Topology;
    use Diagonals::{Alternating, Backward, Crossed, Forward, Isotropic};

    const SIZE: [f64; 2] = [1.5, 0.8];

    fn sheet_of(cells: [u32; 2], diagonals: Diagonals) -> Mesh {
        Mesh::grid(SIZE, cells, diagonals).unwrap()
    }

    fn normal(mesh: &Mesh, triangle: usize) -> Vec3<f64> {
        let [a, b, c] = mesh.triangle(triangle);
        (b - a).cross(c - a).normalized_or_zero()
    }

    /// Twice the signed area of a triangle in texture space.
    fn uv_turn(mesh: &Mesh, triangle: usize) -> f64 {
        let uv = mesh.uv.as_ref().unwrap();
        let [a, b, c] = uv.triangles[triangle].map(|index| uv.coordinates[index as usize]);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    }

    #[test]
    fn numbering_and_positions_follow_the_contract() {
        for diagonals in [Forward, Backward, Alternating, Crossed] {
            let mesh = Mesh::grid([2.0, 4.0], [4, 2], diagonals).unwrap();
            for (i, j) in [(0, 0), (4, 0), (0, 2), (4, 2), (2, 1), (3, 2)] {
                let expected = [-1.0 + 0.5 * i as f64, 0.0, -2.0 + 2.0 * j as f64];
                assert_eq!(mesh.positions[j * 5 + i], expected, "{diagonals:?} ({i}, {j})");
            }
        }
    }

    #[test]
    fn patterns_cut_the_quads_as_the_contract_says() {
        // Vertices 0 1 2 / 3 4 5: two quads side by side.
        let cases = [
            (Forward, vec![[0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2]]),
            (Backward, vec![[0, 3, 1], [3, 4, 1], [1, 4, 2], [4, 5, 2]]),
            (Alternating, vec![[0, 3, 4], [0, 4, 1], [1, 4, 2], [4, 5, 2]]),
            (Crossed, vec![[0, 3, 6], [3, 4, 6], [4, 1, 6], [1, 0, 6], [1, 4, 7], [4, 5, 7], [5, 2, 7], [2, 1, 7]]),
        ];
        for (diagonals, triangles) in cases {
            assert_eq!(sheet_of([2, 1], diagonals).triangles, triangles, "{diagonals:?}");
        }
        let second_row = &sheet_of([2, 2], Alternating).triangles[4..6];
        assert_eq!(second_row, [[3, 6, 4], [6, 7, 4]], "quad (0, 1) is cut backward");
    }

    #[test]
    fn centers_of_crossed_quads_come_last_row_by_row() {
        let mesh = Mesh::grid([2.0, 2.0], [2, 2], Crossed).unwrap();
        assert_eq!(mesh.positions[9..], [[-0.5, 0.0, -0.5], [0.5, 0.0, -0.5], [-0.5, 0.0, 0.5], [0.5, 0.0, 0.5]]);
    }

    #[test]
    fn isotropic_rows_alternate_and_fill_the_rectangle() {
        // Height 2·√3/2·(1/2) gives two rows of edge 1/2.
        let mesh = Mesh::grid([1.0, 0.75_f64.sqrt()], [2, 1], Isotropic).unwrap();
        let rows: [&[f64]; 3] = [&[-0.5, 0.0, 0.5], &[-0.5, -0.25, 0.25, 0.5], &[-0.5, 0.0, 0.5]];
        let x: Vec<f64> = mesh.positions.iter().map(|p| p[0]).collect();
        assert_eq!(x, rows.concat());
        assert_eq!(
            mesh.triangles,
            [
                [0, 3, 4],
                [0, 4, 1],
                [1, 4, 5],
                [1, 5, 2],
                [2, 5, 6],
                [3, 7, 4],
                [4, 7, 8],
                [4, 8, 5],
                [5, 8, 9],
                [5, 9, 6]
            ]
        );
        let mesh = Mesh::grid([1.0, 1.0], [20, 20], Isotropic).unwrap();
        let lengths = Topology::build(&mesh).edges.into_iter().map(|edge| {
            let [a, b] = edge.map(|vertex| Vec3::from(mesh.positions[vertex as usize]));
            (b - a).norm() * 20.0
        });
        let regular = lengths.filter(|length| (length - 1.0).abs() < 0.02).count();
        assert!(regular > 1_200, "only {regular} edges are near the edge length");
    }

    #[test]
    fn every_pattern_is_a_valid_disc_that_faces_up_with_the_exact_area() {
        for diagonals in Diagonals::ALL {
            for cells in [[1, 1], [1, 4], [5, 1], [4, 6], [7, 5]] {
                let mesh = sheet_of(cells, diagonals);
                let place = format!("{diagonals:?} {cells:?}");
                assert_eq!(check(&mesh), [], "{place}");
                for triangle in 0..mesh.triangle_count() {
                    assert!(normal(&mesh, triangle).y > 1.0 - 1e-15, "{place}: triangle {triangle} faces down");
                    assert!(uv_turn(&mesh, triangle) > 0.0, "{place}: mirrored");
                }
                assert!((mesh.total_area() - SIZE[0] * SIZE[1]).abs() < 1e-14, "{place}");
                let topology = Topology::build(&mesh);
                let boundary = topology.boundary_edges.len();
                assert_eq!(topology.edges.len(), 3 * mesh.vertex_count() - 3 - boundary, "{place}");
                assert_eq!(topology.hinges.len() + boundary, topology.edges.len(), "{place}");
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_contract() {
        let count = |diagonals| {
            let mesh = sheet_of([64, 64], diagonals);
            let topology = Topology::build(&mesh);
            (mesh.vertex_count(), mesh.triangle_count(), topology.edges.len(), topology.hinges.len())
        };
        assert_eq!(count(Alternating), (4225, 8192, 12416, 12160));
        assert_eq!(count(Forward), (4225, 8192, 12416, 12160));
        assert_eq!(count(Crossed), (4225 + 4096, 4 * 4096, 12416 - 4096 + 4 * 4096, 12160 + 3 * 4096));
    }

    #[test]
    fn a_sheet_is_its_own_mirror_image() {
        for diagonals in Diagonals::ALL {
            let mesh = Mesh::grid([0.7, 0.3], [7, 6], diagonals).unwrap();
            for [x, _, z] in &mesh.positions {
                assert!(mesh.positions.contains(&[-x, 0.0, *z]), "{diagonals:?}: ({x}, {z}) along x");
                assert!(mesh.positions.contains(&[*x, 0.0, -z]) || diagonals == Isotropic, "{diagonals:?}: ({x}, {z})");
            }
        }
    }

    #[test]
    fn texture_coordinates_fill_the_unit_square() {
        let mesh = sheet_of([4, 4], Alternating);
        let uv = mesh.uv.unwrap();
        assert_eq!(uv.triangles, mesh.triangles);
        assert_eq!([uv.coordinates[0], uv.coordinates[4], uv.coordinates[20]], [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
    }

    #[test]
    fn a_tube_is_closed_around_and_faces_outwards() {
        for cells in [[8, 3], [7, 3], [3, 1]] {
            let [around, along] = cells.map(|n| n as usize);
            let mesh = Mesh::tube(0.5, 2.0, cells).unwrap();
            assert_eq!(check(&mesh), [], "{cells:?}");
            assert_eq!(mesh.vertex_count(), around * (along + 1));
            assert_eq!(mesh.positions[0], [0.5, -1.0, 0.0]);
            for triangle in 0..mesh.triangle_count() {
                let [a, b, c] = mesh.triangle(triangle);
                let outwards = (a + b + c) * (1.0 / 3.0);
                let outwards = Vec3::new(outwards.x, 0.0, outwards.z);
                assert!(normal(&mesh, triangle).dot(outwards) > 0.1, "{cells:?}: triangle {triangle} faces inwards");
                assert!(uv_turn(&mesh, triangle) > 0.0, "{cells:?}: triangle {triangle} is mirrored");
            }
            let prism = cells[0] as f64 * 2.0 * 0.5 * libm::sin(TAU / 2.0 / cells[0] as f64) * 2.0;
            assert!((mesh.total_area() - prism).abs() < 1e-13, "{cells:?}");
            let boundary = Topology::build(&mesh).boundary_edges.len();
            assert_eq!(boundary, 2 * around, "{cells:?}: a seam is open");
        }
    }

    #[test]
    fn impossible_grids_are_refused_in_words() {
        let grid = |size, cells, diagonals| Mesh::grid(size, cells, diagonals).unwrap_err().to_string();
        let tube = |radius, height, cells| Mesh::tube(radius, height, cells).unwrap_err().to_string();
        let cases = [
            (
                grid(SIZE, [0, 4], Forward),
                "a grid needs at least one cell along each side, but cells is [0, 4]: give two numbers from 1 up",
            ),
            (
                grid([1.0, f64::NAN], [1, 1], Forward),
                "a grid needs two finite sides greater than 0 m, but size is [1.0, NaN]",
            ),
            (
                grid([-1.0, 1.0], [1, 1], Isotropic),
                "a grid needs two finite sides greater than 0 m, but size is [-1.0, 1.0]",
            ),
            (
                grid(SIZE, [100_000, 100_000], Crossed),
                "the mesh would have 20000200001 vertices, but the limit is 268435455: use fewer cells",
            ),
            (
                grid(SIZE, [u32::MAX, u32::MAX], Forward),
                "the mesh would have 18446744073709551616 vertices, but the limit is 268435455: use fewer cells",
            ),
            (
                grid([1e-300, 1e300], [2, 2], Isotropic),
                "the mesh would have 15032385536 vertices, but the limit is 268435455: use fewer cells",
            ),
            (tube(1.0, 1.0, [2, 1]), "a tube needs at least 3 cells around and 1 along, but cells is [2, 1]"),
            (
                tube(f64::INFINITY, 1.0, [4, 1]),
                "a tube needs a finite radius and height greater than 0 m, but they are inf and 1.0",
            ),
            (
                tube(1.0, 1.0, [1 << 20, 1 << 20]),
                "the mesh would have 1099513724929 vertices, but the limit is 268435455: use fewer cells",
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn the_largest_coordinates_do_not_slip_through_validation() {
        let mesh = Mesh::grid([4e6, 1.0], [1, 1], Forward).unwrap();
        assert!(check(&mesh).iter().any(|finding| finding.severity == Severity::Error), "4e6 m accepted");
    }
}
