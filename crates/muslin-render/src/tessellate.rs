//! Triangles of balls, capsules and boxes.
//!
//! Fine enough that the outline is round at the size at which the solid is seen, and that light, which is computed at
//! vertices, has somewhere to vary. Normals are exact.

use std::collections::HashMap;

use crate::math::{Vec3, vec3};

/// Where the triangles go: vertices with normals, and indices into these vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl Patch {
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
        self.normals.clear();
        self.triangles.clear();
    }

    fn push(&mut self, position: Vec3, normal: Vec3) {
        self.positions.push(position);
        self.normals.push(normal);
    }

    /// Two triangles for each cell of a lattice of `columns` + 1 vertices in `rows` + 1 rows, which starts at vertex
    /// `first`.
    fn lattice(&mut self, first: usize, columns: usize, rows: usize) {
        for row in 0..rows {
            for column in 0..columns {
                let a = (first + row * (columns + 1) + column) as u32;
                let (b, c) = (a + 1, a + columns as u32 + 1);
                self.triangles.push([a, b, c + 1]);
                self.triangles.push([a, c + 1, c]);
            }
        }
    }

    /// A ball, from the unit ball.
    pub(crate) fn sphere(&mut self, unit: &UnitSphere, center: Vec3, radius: f32) {
        let first = self.positions.len() as u32;
        for &normal in &unit.vertices {
            self.push(center + normal * radius, normal);
        }
        self.triangles.extend(unit.triangles.iter().map(|t| t.map(|i| first + i)));
    }

    /// A capsule: parallels around the axis from pole to pole, those of the cylinder included.
    pub(crate) fn capsule(&mut self, a: Vec3, b: Vec3, radius: f32) {
        let segments = if radius > SMALL { 64 } else { 32 };
        let cap = segments / 4;
        let length = (b - a).length();
        let axis = (b - a).unit_or(Vec3::UP);
        let (right, front) = axis.tangents();
        // About as long as they are wide, within reason.
        let around = std::f32::consts::TAU * radius / segments as f32;
        let cylinder = ((length / (2.0 * around).max(f32::MIN_POSITIVE)) as usize).clamp(1, 48);
        let first = self.positions.len();
        let rows = 2 * cap + cylinder;
        for row in 0..=rows {
            // Latitude from one pole to the other; the rows of the cylinder are both equators.
            let (latitude, center) = if row <= cap {
                (row as f32 / cap as f32 - 1.0, a)
            } else if row < cap + cylinder {
                (0.0, a + (b - a) * ((row - cap) as f32 / cylinder as f32))
            } else {
                ((row - cap - cylinder) as f32 / cap as f32, b)
            };
            let latitude = latitude * std::f32::consts::FRAC_PI_2;
            let (sin, cos) = (libm::sinf(latitude), libm::cosf(latitude));
            for column in 0..=segments {
                let angle = std::f32::consts::TAU * column as f32 / segments as f32;
                let normal = (right * libm::cosf(angle) + front * libm::sinf(angle)) * cos + axis * sin;
                self.push(center + normal * radius, normal);
            }
        }
        self.lattice(first, segments, rows);
    }

    /// A box with flat faces and sharp edges; the columns of `axes` are its half edges.
    pub(crate) fn cuboid(&mut self, center: Vec3, axes: [Vec3; 3]) {
        const CELLS: usize = 12;
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                // The order of the other two turns the face outwards.
                let (u, v) = (axes[(axis + 1) % 3] * side, axes[(axis + 2) % 3]);
                let normal = u.cross(v).unit_or(Vec3::UP);
                let normal = if normal.dot(axes[axis]) * side < 0.0 { -normal } else { normal };
                let first = self.positions.len();
                for row in 0..=CELLS {
                    for column in 0..=CELLS {
                        let at = |i: usize| 2.0 * i as f32 / CELLS as f32 - 1.0;
                        self.push(center + axes[axis] * side + u * at(column) + v * at(row), normal);
                    }
                }
                self.lattice(first, CELLS, CELLS);
            }
        }
    }
}

/// Radii below this share of the camera's distance are drawn with fewer triangles.
pub(crate) const SMALL: f32 = 0.05;

/// A ball of radius 1 around the origin: an icosahedron whose triangles are cut in four, again and again.
#[derive(Clone, Debug)]
pub(crate) struct UnitSphere {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl UnitSphere {
    pub(crate) fn new(levels: u32) -> Self {
        let golden = 0.5 * (1.0 + 5.0_f32.sqrt());
        let mut vertices = Vec::new();
        for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
            vertices.extend([vec3(a, b, 0.0), vec3(0.0, a, b), vec3(b, 0.0, a)]);
        }
        for vertex in &mut vertices {
            *vertex = vertex.unit_or(Vec3::UP);
        }
        // Edges of the icosahedron are all triples of vertices at its edge length, 1.05 radii; turned outwards.
        let close = |i: usize, j: usize| (vertices[i] - vertices[j]).length() < 1.1;
        let mut triangles = Vec::new();
        for i in 0..12 {
            for j in i + 1..12 {
                for k in j + 1..12 {
                    if close(i, j) && close(j, k) && close(i, k) {
                        let normal = (vertices[j] - vertices[i]).cross(vertices[k] - vertices[i]);
                        let [i_, j_, k_] = [i as u32, j as u32, k as u32];
                        triangles.push(if normal.dot(vertices[i]) > 0.0 { [i_, j_, k_] } else { [i_, k_, j_] });
                    }
                }
            }
        }
        let mut sphere = Self { vertices, triangles };
        for _ in 0..levels {
            sphere.refine();
        }
        sphere
    }

    fn refine(&mut self) {
        let mut middles = HashMap::new();
        let vertices = &mut self.vertices;
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let point = vertices[a as usize] + vertices[b as usize];
                vertices.push(point.unit_or(Vec3::UP));
                vertices.len() as u32 - 1
            })
        };
        let mut fine = Vec::with_capacity(4 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            fine.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        self.triangles = fine;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem; negative if the triangles are turned inwards.
    fn volume(patch: &Patch) -> f32 {
        let p = |i: u32| patch.positions[i as usize];
        patch.triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
    }

    fn check(patch: &Patch, expected: f32, tolerance: f32) {
        let found = volume(patch);
        assert!((found / expected - 1.0).abs() < tolerance, "a volume of {found} instead of {expected}");
        for &[a, b, c] in &patch.triangles {
            let [a, b, c] = [a, b, c].map(|i| i as usize);
            let normal = (patch.positions[b] - patch.positions[a]).cross(patch.positions[c] - patch.positions[a]);
            // The triangles at a pole have one side without length, up to rounding.
            if normal.length() > 1e-7 {
                assert!(normal.dot(patch.normals[a]) > 0.0, "a normal points inwards");
            }
        }
    }

    #[test]
    fn solids_have_their_volume_and_point_outwards() {
        let pi = std::f32::consts::PI;
        let mut patch = Patch::default();
        patch.sphere(&UnitSphere::new(4), vec3(0.3, 0.2, 0.1), 0.5);
        check(&patch, 4.0 / 3.0 * pi * 0.125, 0.005);
        patch.clear();
        patch.capsule(vec3(0.0, 0.0, 0.0), vec3(0.6, 0.0, 0.8), 0.25);
        check(&patch, pi * 0.0625 * (1.0 + 4.0 / 3.0 * 0.25), 0.01);
        patch.clear();
        patch.cuboid(vec3(1.0, 2.0, 3.0), [vec3(0.0, 1.0, 0.0), vec3(-2.0, 0.0, 0.0), vec3(0.0, 0.0, 0.5)]);
        check(&patch, 8.0, 1e-4);
    }
}
