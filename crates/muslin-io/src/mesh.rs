//! The rest mesh: what every frame of a cloth shares.

use std::collections::HashMap;

use crate::error::InputError;

/// The mesh of a cloth at rest, with the topology of all its frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestMesh<'a> {
    /// Name of the cloth: any text, made into file names by [`file_stem`](crate::file_stem).
    pub name: &'a str,
    /// Rest positions, in metres.
    pub positions: &'a [[f32; 3]],
    /// Vertices of each triangle, counter-clockwise.
    pub triangles: &'a [[u32; 3]],
    /// Texture coordinates, for all triangles or none.
    pub uv: Option<Uv<'a>>,
    /// Named sets of triangles; they may overlap and need not cover the mesh. Only OBJ stores them.
    pub groups: &'a [Group<'a>],
}

/// Texture coordinates with their own triangles, so that a vertex on a seam can have several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uv<'a> {
    /// Coordinates, with the origin at the bottom left of the picture.
    pub coordinates: &'a [[f32; 2]],
    /// For each triangle of the mesh, the coordinates of its three corners.
    pub triangles: &'a [[u32; 3]],
}

/// A named set of triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group<'a> {
    /// Name of the group.
    pub name: &'a str,
    /// Indices of its triangles.
    pub triangles: &'a [u32],
}

impl RestMesh<'_> {
    /// Checks that every index is in range and every number finite; after this, indexing cannot fail.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let vertex_count = self.positions.len();
        let triangle_count = self.triangles.len();
        if triangle_count == 0 {
            return Err(InputError::NoTriangles);
        }
        if let Some((triangle, vertex)) = first_beyond(self.triangles, vertex_count) {
            return Err(InputError::TriangleVertex { triangle, vertex, vertex_count });
        }
        if let Some(vertex) = first_not_finite(self.positions) {
            return Err(InputError::RestNotFinite { vertex });
        }
        if let Some(uv) = self.uv {
            let coordinate_count = uv.coordinates.len();
            if uv.triangles.len() != triangle_count {
                return Err(InputError::UvTriangleCount { triangle_count, uv_triangle_count: uv.triangles.len() });
            }
            if let Some((triangle, coordinate)) = first_beyond(uv.triangles, coordinate_count) {
                return Err(InputError::UvCoordinate { triangle, coordinate, coordinate_count });
            }
            if let Some(coordinate) = first_not_finite(uv.coordinates) {
                return Err(InputError::UvNotFinite { coordinate });
            }
        }
        for group in self.groups {
            if let Some(&triangle) = group.triangles.iter().find(|&&triangle| triangle as usize >= triangle_count) {
                return Err(InputError::GroupTriangle { group: group.name.to_owned(), triangle, triangle_count });
            }
        }
        Ok(())
    }
}

/// The first triangle with an index that is not below `count`, and that index.
fn first_beyond(triangles: &[[u32; 3]], count: usize) -> Option<(usize, u32)> {
    let beyond = |corners: &[u32; 3]| corners.iter().copied().find(|&index| index as usize >= count);
    triangles.iter().enumerate().find_map(|(triangle, corners)| Some((triangle, beyond(corners)?)))
}

/// The first point with a coordinate that is NaN or infinite.
pub(crate) fn first_not_finite<const N: usize>(points: &[[f32; N]]) -> Option<usize> {
    points.iter().position(|point| !point.iter().all(|value| value.is_finite()))
}

/// The rest mesh with one texture coordinate per vertex, as graphics cards need it.
///
/// Vertices keep their numbers; one that lies on a seam gets a copy, appended at the end, for each further coordinate.
pub(crate) struct SplitMesh {
    /// Vertex of the rest mesh that each appended copy, in order, repeats.
    pub(crate) copies: Vec<u32>,
    /// Coordinate of each vertex and copy; (0, 0) where no triangle uses the vertex. Empty without a texture map.
    pub(crate) uv: Vec<[f32; 2]>,
    /// Triangles, in the order of the rest mesh.
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl SplitMesh {
    /// Splits a mesh that has been checked.
    pub(crate) fn new(mesh: &RestMesh<'_>) -> Self {
        let mut split = Self { copies: Vec::new(), uv: Vec::new(), triangles: mesh.triangles.to_vec() };
        let Some(uv) = mesh.uv else { return split };
        let vertex_count = mesh.positions.len();
        let mut first: Vec<Option<[f32; 2]>> = vec![None; vertex_count];
        let mut copy_of = HashMap::new();
        for (corners, uv_corners) in split.triangles.iter_mut().zip(uv.triangles) {
            for (corner, &uv_corner) in corners.iter_mut().zip(uv_corners) {
                let coordinate = uv.coordinates[uv_corner as usize];
                let own = first[*corner as usize].get_or_insert(coordinate);
                // Compared by value: many programs write each coordinate once per corner, which is not a seam.
                if *own != coordinate {
                    let key = (*corner, coordinate.map(f32::to_bits));
                    let vertex = *corner;
                    *corner = *copy_of.entry(key).or_insert_with(|| {
                        split.copies.push(vertex);
                        split.uv.push(coordinate);
                        (vertex_count + split.copies.len() - 1) as u32
                    });
                }
            }
        }
        let copied = std::mem::take(&mut split.uv);
        split.uv = first.into_iter().map(Option::unwrap_or_default).chain(copied).collect();
        split
    }

    /// Whether some vertex needed a copy.
    pub(crate) fn has_seams(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Appends to a value per vertex those of the copies.
    pub(crate) fn append_copies(&self, values: &mut Vec<[f32; 3]>) {
        values.reserve(self.copies.len());
        for &vertex in &self.copies {
            values.push(values[vertex as usize]);
        }
    }
}

/// Replaces `normals` by the unit normals of the vertices, the mean over their triangles weighted by area.
///
/// A vertex without area around it gets +y: formats demand unit vectors.
pub(crate) fn vertex_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]], normals: &mut Vec<[f32; 3]>) {
    let mut sums = vec![[0.0_f64; 3]; positions.len()]; // f64: areas of 1e-8 m² are common, their squares underflow f32
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize].map(f64::from));
        let [u, v] = [[b[0] - a[0], b[1] - a[1], b[2] - a[2]], [c[0] - a[0], c[1] - a[1], c[2] - a[2]]];
        let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        for &vertex in triangle {
            for (sum, value) in sums[vertex as usize].iter_mut().zip(cross) {
                *sum += value;
            }
        }
    }
    normals.clear();
    normals.extend(sums.iter().map(|sum| {
        let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        if length.is_normal() { sum.map(|value| (value / length) as f32) } else { [0.0, 1.0, 0.0] }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    const HALVES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn square<'a>(uv: Option<Uv<'a>>, groups: &'a [Group<'a>]) -> RestMesh<'a> {
        RestMesh { name: "square", positions: &SQUARE, triangles: &HALVES, uv, groups }
    }

    #[test]
    fn every_bad_index_is_named() {
        let [coordinates, endless] = [[[0.0; 2]; 4], [[0.0, f32::INFINITY]; 4]];
        let uv_of = |coordinates, triangles| Some(Uv { coordinates, triangles });
        let groups = [Group { name: "hem", triangles: &[1, 2] }];
        let positions = [SQUARE[0], SQUARE[1], SQUARE[2], [0.0, f32::NAN, 0.0]];
        let cases = [
            (RestMesh { triangles: &[], ..square(None, &[]) }, "the mesh has no triangles"),
            (
                RestMesh { positions: &SQUARE[..3], ..square(None, &[]) },
                "triangle 1 uses vertex 3, but the mesh has 3 vertices",
            ),
            (RestMesh { positions: &positions, ..square(None, &[]) }, "rest position 3 is not finite"),
            (
                square(uv_of(&coordinates, &HALVES[..1]), &[]),
                "the mesh has 2 triangles, but its uv map has 1; give one for each",
            ),
            (
                square(uv_of(&coordinates[..3], &HALVES), &[]),
                "uv triangle 1 uses coordinate 3, but the uv map has 3 coordinates",
            ),
            (square(uv_of(&endless, &HALVES), &[]), "uv coordinate 0 is not finite"),
            (square(None, &groups), "group \"hem\" holds triangle 2, but the mesh has 2 triangles"),
        ];
        for (mesh, words) in cases {
            assert_eq!(mesh.check().unwrap_err().to_string(), words, "wording");
        }
        assert_eq!(square(uv_of(&coordinates, &HALVES), &groups[..0]).check(), Ok(()), "a good mesh");
    }

    #[test]
    fn seams_are_split_and_equal_coordinates_are_not() {
        let equal = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]];
        let corners = [[0, 1, 2], [3, 4, 5]];
        let split = SplitMesh::new(&square(Some(Uv { coordinates: &equal, triangles: &corners }), &[]));
        assert!(!split.has_seams(), "repeated coordinates are no seam");
        assert_eq!(split.triangles, HALVES, "nothing is renumbered");
        assert_eq!(split.uv, [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], "a coordinate per vertex");

        let mut apart = equal;
        apart[3] = [0.5, 0.5];
        let split = SplitMesh::new(&square(Some(Uv { coordinates: &apart, triangles: &corners }), &[]));
        assert_eq!(split.copies, [0], "vertex 0 lies on the seam");
        assert_eq!(split.triangles, [[0, 1, 2], [4, 2, 3]], "its copy comes last");
        assert_eq!(split.uv[4], [0.5, 0.5], "with its own coordinate");
        let mut positions = SQUARE.to_vec();
        split.append_copies(&mut positions);
        assert_eq!(positions[4], SQUARE[0], "at the same place");
    }

    #[test]
    fn normals_are_unit_vectors_even_without_area() {
        let mut normals = Vec::new();
        vertex_normals(&SQUARE, &HALVES, &mut normals);
        assert_eq!(normals, [[0.0, 1.0, 0.0]; 4], "a flat square faces up");
        vertex_normals(&[[2.0, 0.0, 0.0]; 4], &HALVES, &mut normals);
        assert_eq!(normals, [[0.0, 1.0, 0.0]; 4], "a collapsed one has a direction too");
    }
}
