//! The shape operator of a triangle as weighted sums of the vertices around it: the geometry of [`shell`](crate::energy::bend::shell), whose
//! header has the formulas and why they are these.

use std::collections::BTreeMap;

use crate::energy::Site;
use crate::math::{Mat3, Small, Vec3};
use crate::topology::Hinge;

/// Singular values of a patch below this part of the largest count as zero.
const RESOLVED: f64 = 0.05;

/// The most vertices an element can have: a triangle, three across its edges, six beyond those.
pub(crate) const MOST: usize = 12;

/// One square of the energy of a triangle, ψ = ½ A B ‖Σ wx − b n‖².
pub(crate) struct Element {
    /// The corners of the triangle first.
    pub(crate) vertices: Vec<u32>,
    /// w, in 1/m².
    pub(crate) weights: Vec<f64>,
    /// b, in 1/m; exactly zero at a flat rest shape.
    pub(crate) curvature: f64,
    /// A, in m².
    pub(crate) area: f64,
}

/// Σ wᵢxᵢ: the weights of vertices, in a fixed order.
pub(crate) type Sum = BTreeMap<u32, f64>;

/// A vertex in a patch that is laid out in the plane.
#[derive(Clone, Copy)]
struct Point {
    vertex: u32,
    at: [f64; 2],
}

/// Something that is known of the surface in a patch: a value or a slope, as a sum over vertices.
struct Datum {
    /// Its values for 1, x, y, x²/2, xy, y²/2.
    moments: [f64; 6],
    sum: Vec<(u32, f64)>,
}

impl Datum {
    fn value(point: Point) -> Self {
        let [x, y] = point.at;
        Self { moments: [1.0, x, y, 0.5 * x * x, x * y, 0.5 * y * y], sum: vec![(point.vertex, 1.0)] }
    }

    /// The slope along n at `at`.
    fn slope(at: [f64; 2], [n, m]: [f64; 2], sum: Vec<(u32, f64)>) -> Self {
        let [x, y] = at;
        Self { moments: [0.0, n, m, n * x, n * y + m * x, m * y], sum }
    }
}

/// The slope along `direction` of the plane through three points.
fn slope_of(points: [Point; 3], direction: [f64; 2]) -> [(u32, f64); 3] {
    let side = |i: usize, j: usize| [points[j].at[0] - points[i].at[0], points[j].at[1] - points[i].at[1]];
    let (u, v) = (side(0, 1), side(0, 2));
    let doubled_area = u[0] * v[1] - u[1] * v[0];
    std::array::from_fn(|i| {
        let opposite = side((i + 1) % 3, (i + 2) % 3);
        let along = direction[1] * opposite[0] - direction[0] * opposite[1];
        (points[i].vertex, along / doubled_area)
    })
}

/// The triangles across the edges of each triangle.
pub(crate) struct Patches<'a> {
    site: &'a Site<'a>,
    /// For the edge from corner k to the next: the hinge there.
    hinges: Vec<[Option<usize>; 3]>,
    /// Whether patches end with the two triangles of an edge.
    narrow: bool,
}

impl<'a> Patches<'a> {
    pub(crate) fn new(site: &'a Site<'a>) -> Self {
        let mut hinges = vec![[None; 3]; site.mesh.triangle_count()];
        for (index, hinge) in site.topology.hinges.iter().enumerate() {
            // Triangle A runs along the edge from a, triangle B from b.
            for (triangle, start) in hinge.triangles.into_iter().zip(hinge.vertices) {
                let corners = &site.mesh.triangles[triangle as usize];
                if let Some(k) = corners.iter().position(|&v| v == start) {
                    hinges[triangle as usize][k] = Some(index);
                }
            }
        }
        // A handful of triangles has no room for elements of the largest size, nor a limit to converge to.
        Self { site, hinges, narrow: site.mesh.vertex_count() < MOST }
    }

    /// The apex of the next triangle: p → q runs along its winding.
    fn place(&self, triangle: u32, p: Point, q: Point, apex: u32) -> Point {
        let corner = |vertex: u32| self.site.corner(triangle, vertex);
        let origin = corner(p.vertex);
        let (e, arm) = (corner(q.vertex) - origin, corner(apex) - origin);
        let length_squared = e.norm_squared();
        let (foot, height) = (arm.dot(e) / length_squared, e.cross(arm).norm() / length_squared);
        let d = [q.at[0] - p.at[0], q.at[1] - p.at[1]];
        let at = [p.at[0] + foot * d[0] + height * d[1], p.at[1] + foot * d[1] - height * d[0]];
        Point { vertex: apex, at }
    }

    /// The triangle across the edge of `triangle` that starts at p, and its apex.
    fn across(&self, triangle: u32, p: u32) -> Option<(u32, u32)> {
        let corners = &self.site.mesh.triangles[triangle as usize];
        let k = corners.iter().position(|&v| v == p)?;
        let hinge = &self.site.topology.hinges[self.hinges[triangle as usize][k]?];
        let [_, _, c, d] = hinge.vertices;
        let [a, b] = hinge.triangles;
        Some(if a == triangle { (b, d) } else { (a, c) })
    }

    /// The slope across the edge of a hinge at its middle, from triangle A to triangle B, in 1/m.
    pub(crate) fn slope(&self, hinge: &Hinge) -> Sum {
        let [a, b, c, d] = hinge.vertices;
        // The edge is the unit of length, x runs along it and y from A to B.
        let (a, b) = (Point { vertex: a, at: [-0.5, 0.0] }, Point { vertex: b, at: [0.5, 0.0] });
        let [first, second] = hinge.triangles;
        let (c, d) = (self.place(first, a, b, c), self.place(second, b, a, d));
        let slopes = [slope_of([a, b, c], [0.0, 1.0]), slope_of([b, a, d], [0.0, 1.0])];
        let scale = 1.0 / self.site.edge_length(hinge.edge as usize);
        let mut sum = Sum::new();
        let mut add = |part: f64, terms: &[(u32, f64)]| {
            terms.iter().for_each(|&(v, w)| *sum.entry(v).or_insert(0.0) += part * w * scale);
        };
        let held = hinge.triangles.map(|t| self.site.held(t));
        // At a clamp the slope is that of what is held.
        if let Some(clamp) = held.iter().position(|&held| held) {
            add(1.0, &slopes[clamp]);
            return sum;
        }
        let heights = [-c.at[1], d.at[1]];
        let whole = heights[0] + heights[1];
        let parts = [heights[1] / whole, heights[0] / whole];
        add(parts[0], &slopes[0]);
        add(parts[1], &slopes[1]);

        let mut data: Vec<Datum> = [a, b, c, d].map(Datum::value).into();
        if !self.narrow {
            let edges = [(first, b, c), (first, c, a), (second, a, d), (second, d, b)];
            data.extend(edges.iter().filter_map(|&(triangle, p, q)| self.datum_beyond(triangle, p, q)));
        }
        // What the mean makes of the quadratics, and should be zero.
        let mut error = [0.0; 3];
        for (part, slope) in parts.into_iter().zip(&slopes) {
            for &(v, w) in slope {
                let point = data.iter().find(|datum| datum.sum[0].0 == v);
                (0..3).for_each(|i| error[i] += point.map_or(0.0, |datum| part * w * datum.moments[3 + i]));
            }
        }
        for (datum, w) in data.iter().zip(correction(&data, error)) {
            add(w, &datum.sum);
        }
        sum
    }

    /// What the triangle across the edge p → q of a triangle tells about the surface.
    fn datum_beyond(&self, triangle: u32, p: Point, q: Point) -> Option<Datum> {
        let (other, apex) = self.across(triangle, p.vertex)?;
        let apex = self.place(other, q, p, apex);
        if !self.site.held(other) {
            return Some(Datum::value(apex));
        }
        let (e, middle) = ([q.at[0] - p.at[0], q.at[1] - p.at[1]], [0, 1].map(|i| 0.5 * (p.at[i] + q.at[i])));
        let length = (e[0] * e[0] + e[1] * e[1]).sqrt();
        let normal = [e[1] / length, -e[0] / length];
        Some(Datum::slope(middle, normal, slope_of([q, p, apex], normal).into()))
    }

    /// Appends the squares that the energy of a triangle is made of.
    pub(crate) fn add_elements(&self, triangle: u32, slopes: &[Sum], poisson: f64, elements: &mut Vec<Element>) {
        let corners = self.site.mesh.triangles[triangle as usize];
        let area = self.site.mesh.area(triangle as usize);
        let Some((weights, form)) = self.shape_operator(triangle, slopes, poisson) else { return };
        for row in squares(&form) {
            let weight = |w: &[f64; 3]| row[0] * w[0] + row[1] * w[1] + row[2] * w[2];
            let largest = weights.values().map(|w| weight(w).abs()).fold(0.0, f64::max);
            let mut vertices = corners.to_vec();
            // Where the correction is zero but for rounding, an element is smaller.
            let matters = |v: &u32, w: &[f64; 3]| weight(w).abs() > 1e-10 * largest && !corners.contains(v);
            vertices.extend(weights.iter().filter(|(v, w)| matters(v, w)).map(|(v, _)| *v));
            let weights = vertices.iter().map(|v| weights.get(v).map_or(0.0, weight)).collect();
            elements.extend(self.at_rest(Element { vertices, weights, curvature: 0.0, area }));
        }
    }

    /// S of a triangle as weights of the vertices for xx, xy and yy, and the form of ψ/(½AB) in these three.
    fn shape_operator(&self, triangle: u32, slopes: &[Sum], poisson: f64) -> Option<(BTreeMap<u32, [f64; 3]>, Mat3)> {
        let corners = self.site.mesh.triangles[triangle as usize];
        let area = self.site.mesh.area(triangle as usize);
        if area.is_nan() || area <= 0.0 {
            return None;
        }
        let mut form = Mat3([[1.0, 0.0, poisson], [0.0, 2.0 * (1.0 - poisson), 0.0], [poisson, 0.0, 1.0]]);
        let mut weights: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
        let mut add = |vertex: u32, factor: f64, tensor: [f64; 3]| {
            let sum = weights.entry(vertex).or_insert([0.0; 3]);
            (0..3).for_each(|i| sum[i] += factor * tensor[i] / area);
        };
        // x along the first edge; laid out clockwise, as a patch is, so that the outward normal is (−y, x) of an edge.
        let first = Point { vertex: corners[0], at: [0.0, 0.0] };
        let [a, b, _] = self.site.mesh.triangle(triangle as usize);
        let second = Point { vertex: corners[1], at: [(b - a).norm(), 0.0] };
        let points = [first, second, self.place(triangle, first, second, corners[2])];
        for k in 0..3 {
            let (p, q) = (points[k], points[(k + 1) % 3]);
            let e = [q.at[0] - p.at[0], q.at[1] - p.at[1]];
            let length = (e[0] * e[0] + e[1] * e[1]).sqrt();
            let t = [e[0] / length, e[1] / length];
            let n = [-t[1], t[0]];
            let mixed = [n[0] * t[0], 0.5 * (n[0] * t[1] + n[1] * t[0]), n[1] * t[1]];
            add(q.vertex, 1.0, mixed);
            add(p.vertex, -1.0, mixed);
            let normal = [n[0] * n[0], n[0] * n[1], n[1] * n[1]];
            match self.hinges[triangle as usize][k] {
                Some(hinge) => {
                    let outward = if self.site.topology.hinges[hinge].triangles[0] == triangle { 1.0 } else { -1.0 };
                    slopes[hinge].iter().for_each(|(&v, &w)| add(v, outward * length * w, normal));
                }
                None => form = released(&form, normal.into()),
            }
        }
        Some((weights, form))
    }

    /// The element with its curvature at rest; `None` for a triangle without a normal.
    fn at_rest(&self, mut element: Element) -> Option<Element> {
        if self.site.mesh.flat.is_some() {
            element.weights[0] = -element.weights[1..].iter().sum::<f64>();
            return Some(element);
        }
        let offsets: Vec<Vec3<f64>> = {
            let origin = self.site.position(element.vertices[0]);
            element.vertices.iter().map(|&v| self.site.position(v) - origin).collect()
        };
        let sum = offsets.iter().zip(&element.weights).fold(Vec3::ZERO, |sum, (offset, w)| sum + *offset * *w);
        let scale: f64 = offsets.iter().zip(&element.weights).map(|(offset, w)| offset.norm() * w.abs()).sum();
        let normal = offsets[1].cross(offsets[2]).normalized_or_zero();
        let [along_1, along_2, curvature] =
            Mat3::from_columns(offsets[1], offsets[2], normal).inverse()?.apply(sum).to_array();
        // Rounding is no curve.
        if curvature.abs() > 1e-9 * scale {
            element.curvature = curvature;
            element.weights[1] -= along_1;
            element.weights[2] -= along_2;
        }
        element.weights[0] = -element.weights[1..].iter().sum::<f64>();
        Some(element)
    }
}

/// The least weights on the data that take away an error in the quadratics and change no linear function.
fn correction(data: &[Datum], error: [f64; 3]) -> Vec<f64> {
    // Lengths of the size of the patch, so that 1, x and x² weigh the same.
    let points = data.iter().filter(|datum| datum.moments[0] == 1.0);
    let squared: f64 = points.clone().map(|d| d.moments[1] * d.moments[1] + d.moments[2] * d.moments[2]).sum();
    let mean_squared = squared / points.count() as f64;
    let scale = [1.0, mean_squared.sqrt(), mean_squared];
    let moment = |datum: &Datum, i: usize| datum.moments[i] / scale[[0, 1, 1, 2, 2, 2][i]];
    let sum = |f: &dyn Fn(&Datum) -> f64| data.iter().map(f).sum::<f64>();
    let matrix = |first: usize, second: usize| {
        Mat3(std::array::from_fn(|i| {
            std::array::from_fn(|j| sum(&|datum| moment(datum, first + i) * moment(datum, second + j)))
        }))
    };
    let Some(inverse) = matrix(0, 0).inverse() else { return vec![0.0; data.len()] };
    let shared = inverse.times(&matrix(0, 3));
    // The quadratics less their linear part in the data.
    let left = |datum: &Datum| -> [f64; 3] {
        std::array::from_fn(|j| moment(datum, 3 + j) - (0..3).map(|i| moment(datum, i) * shared.0[i][j]).sum::<f64>())
    };
    let left: Vec<[f64; 3]> = data.iter().map(left).collect();
    let gram = Small::new(3, |i, j| left.iter().map(|row| row[i] * row[j]).sum());
    let inverse = gram.pseudo_inverse(RESOLVED * RESOLVED);
    let multiplier: [f64; 3] =
        std::array::from_fn(|i| -(0..3).map(|j| inverse.get(i, j) * error[j] / mean_squared).sum::<f64>());
    left.iter().map(|row| (0..3).map(|i| row[i] * multiplier[i]).sum()).collect()
}

/// A quadratic form minimised over the multiples of a direction: none of its moment is left.
fn released(form: &Mat3, direction: Vec3<f64>) -> Mat3 {
    let moment = form.apply(direction);
    let stiffness = moment.dot(direction);
    // Three free edges leave nothing; what is left then is rounding.
    if stiffness > 1e-12 { *form - Mat3::outer(moment, moment) * (1.0 / stiffness) } else { *form }
}

/// Rows whose squares add up to a form without negative eigenvalues: Cholesky's factors.
fn squares(form: &Mat3) -> Vec<[f64; 3]> {
    let mut left = *form;
    let mut rows = Vec::new();
    for k in 0..3 {
        let pivot = left.0[k][k];
        if pivot > 1e-12 {
            let row = left.0[k].map(|x| x / pivot.sqrt());
            left = left - Mat3::outer(row.into(), row.into());
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;

    #[test]
    fn the_squares_of_a_form_add_up_to_it() {
        let form = Mat3([[1.0, 0.0, 0.3], [0.0, 1.4, 0.0], [0.3, 0.0, 1.0]]);
        let one = released(&form, Vec3::new(1.0, 0.0, 0.0));
        let two = released(&one, Vec3::new(0.36, 0.48, 0.64));
        for (form, count) in [(form, 3), (one, 2), (two, 1)] {
            let rows = squares(&form);
            assert_eq!(rows.len(), count, "{form:?}");
            let sum = rows.iter().fold(form, |left, row| left - Mat3::outer((*row).into(), (*row).into()));
            assert!(sum.0.iter().flatten().all(|x| x.abs() < 1e-15), "{sum:?}");
        }
    }

    #[test]
    fn a_form_without_a_moment_across_is_that_of_a_bar() {
        // Free to curl across, a plate of ν has the rigidity 1 − ν² along.
        let form = Mat3([[1.0, 0.0, 0.3], [0.0, 1.4, 0.0], [0.3, 0.0, 1.0]]);
        let bar = released(&form, Vec3::new(0.0, 0.0, 1.0));
        assert!((bar.0[0][0] - 0.91).abs() < 1e-15, "{bar:?}");
    }

    /// A flat mesh of a fixture.
    fn fixture(text: &str) -> Mesh {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for line in text.lines().skip(1) {
            let cells: Vec<f64> = line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
            match &line[..1] {
                "v" => positions.push([cells[0], 0.0, cells[1]]),
                _ => triangles.push([cells[0] as u32, cells[1] as u32, cells[2] as u32]),
            }
        }
        Mesh { positions, triangles, ..Mesh::default() }
    }

    /// Five meshes with edges of about one.
    fn meshes() -> Vec<(&'static str, Mesh)> {
        let grid = |diagonals| Mesh::grid([12.0, 12.0], [12, 12], diagonals).unwrap();
        vec![
            ("forward", grid(Diagonals::Forward)),
            ("alternating", grid(Diagonals::Alternating)),
            ("crossed", grid(Diagonals::Crossed)),
            ("isotropic", grid(Diagonals::Isotropic)),
            ("unstructured", fixture(include_str!("../../../tests/fixtures/unstructured_mesh.csv"))),
            ("random", fixture(include_str!("../../../tests/fixtures/random_mesh.csv"))),
        ]
    }

    /// The plate on a mesh without clamps: S and the form of every triangle.
    struct Plate<'a> {
        mesh: &'a Mesh,
        operators: Vec<(BTreeMap<u32, [f64; 3]>, Mat3)>,
        /// Triangles and vertices that see nothing of the border.
        inner: (Vec<usize>, Vec<u32>),
    }

    impl<'a> Plate<'a> {
        fn new(mesh: &'a Mesh, poisson: f64) -> Self {
            let topology = Topology::build(mesh);
            let clamped = vec![false; mesh.vertex_count()];
            let site =
                Site { mesh, topology: &topology, clamped: &clamped, first_vertex: 0, vertex_count: clamped.len() };
            let patches = Patches::new(&site);
            let slopes: Vec<Sum> = topology.hinges.iter().map(|hinge| patches.slope(hinge)).collect();
            let operators = (0..mesh.triangle_count())
                .map(|t| patches.shape_operator(t as u32, &slopes, poisson).unwrap())
                .collect();
            let reach = mesh.positions.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
            let within = |v: u32, margin: f64| mesh.positions[v as usize].iter().all(|x| x.abs() < reach - margin);
            let triangles = 0..mesh.triangle_count();
            let inner = (
                triangles.filter(|&t| mesh.triangles[t].iter().all(|&v| within(v, 2.2))).collect(),
                (0..mesh.vertex_count() as u32).filter(|&v| within(v, 4.2)).collect(),
            );
            Self { mesh, operators, inner }
        }

        /// S of a triangle.
        fn curvature(&self, triangle: usize, x: &[Vec3<f64>]) -> [Vec3<f64>; 3] {
            let (weights, _) = &self.operators[triangle];
            let sum = |i: usize| weights.iter().fold(Vec3::ZERO, |sum, (&v, w)| sum + x[v as usize] * w[i]);
            [sum(0), sum(1), sum(2)]
        }

        /// The form of S times S.
        fn moment(&self, triangle: usize, x: &[Vec3<f64>]) -> [Vec3<f64>; 3] {
            let (_, form) = &self.operators[triangle];
            let s = self.curvature(triangle, x);
            std::array::from_fn(|i| s[0] * form.0[i][0] + s[1] * form.0[i][1] + s[2] * form.0[i][2])
        }

        fn positions(&self, map: impl Fn(f64, f64) -> Vec3<f64>) -> Vec<Vec3<f64>> {
            self.mesh.positions.iter().map(|p| map(p[0], p[2])).collect()
        }

        /// ψ/½B per area of each inner triangle.
        fn energies(&self, x: &[Vec3<f64>]) -> Vec<f64> {
            let energy = |&t: &usize| {
                let (s, m) = (self.curvature(t, x), self.moment(t, x));
                s[0].dot(m[0]) + s[1].dot(m[1]) + s[2].dot(m[2])
            };
            self.inner.0.iter().map(energy).collect()
        }

        /// The largest force of the inner vertices, with B = 1.
        fn largest_force(&self, x: &[Vec3<f64>]) -> f64 {
            let mut forces = vec![Vec3::ZERO; self.mesh.vertex_count()];
            for (t, (weights, _)) in self.operators.iter().enumerate() {
                let (moment, area) = (self.moment(t, x), self.mesh.area(t));
                for (&v, w) in weights {
                    forces[v as usize] += (moment[0] * w[0] + moment[1] * w[1] + moment[2] * w[2]) * area;
                }
            }
            self.inner.1.iter().map(|&v| forces[v as usize].norm()).fold(0.0, f64::max)
        }
    }

    /// The two conditions of convergence, on every triangle and vertex inside.
    #[test]
    fn quadratic_surfaces_have_their_energy_and_are_in_equilibrium_on_any_mesh() {
        /// A height over x and z.
        type Height = fn(f64, f64) -> f64;
        let nu = 0.3;
        let surfaces: [(Height, f64); 6] = [
            (|x, _| 0.5 * x * x, 1.0),
            (|_, z| 0.5 * z * z, 1.0),
            (|x, z| 0.25 * (x + z) * (x + z), 1.0),
            (|x, z| 0.5 * (x * x + z * z), 2.0 * (1.0 + nu)),
            (|x, z| 0.5 * (x * x - z * z), 2.0 * (1.0 - nu)),
            (|x, z| x * z, 2.0 * (1.0 - nu)),
        ];
        for (name, mesh) in meshes() {
            let plate = Plate::new(&mesh, nu);
            let (triangles, vertices) = (plate.inner.0.len(), plate.inner.1.len());
            assert!(triangles >= 72 && vertices >= 9, "{name}: {triangles} triangles, {vertices} vertices");
            for (surface, expected) in surfaces {
                let x = plate.positions(|x, z| Vec3::new(x, surface(x, z), z));
                for (t, got) in plate.energies(&x).into_iter().enumerate() {
                    assert!((got - expected).abs() < 1e-9, "{name}, triangle {t}: {got}, the plate has {expected}");
                }
                let force = plate.largest_force(&x);
                assert!(force < 1e-9, "{name}: a vertex is pulled by {force} N out of its surface");
            }
        }
    }

    #[test]
    fn a_cylinder_costs_the_same_in_all_directions_of_any_mesh() {
        let curvature = 0.1;
        for (name, mesh) in meshes() {
            let plate = Plate::new(&mesh, 0.3);
            for degrees in (0..180).step_by(15) {
                let (s, c) = (libm::sin(f64::from(degrees).to_radians()), libm::cos(f64::from(degrees).to_radians()));
                let x = plate.positions(|x, z| {
                    let angle = curvature * (c * x + s * z);
                    Vec3::new(libm::sin(angle) / curvature, libm::cos(angle) / curvature, c * z - s * x)
                });
                let area = |&t: &usize| mesh.area(t);
                let whole: f64 = plate.inner.0.iter().map(area).sum();
                let energy: f64 = plate.energies(&x).iter().zip(&plate.inner.0).map(|(e, t)| e * area(t)).sum();
                let ratio = energy / (curvature * curvature * whole);
                // (κh)² = 0.01.
                assert!((ratio - 1.0).abs() < 0.005, "{name} at {degrees}°: {ratio}");
            }
        }
    }
}
