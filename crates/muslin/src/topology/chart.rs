//! A flat rest shape seen from above: how far two of its vertices are apart along the cloth.
//!
//! Cloth that hardly stretches keeps two of its points no farther apart than the shortest way between them along the cloth. In a flat rest shape
//! that is the straight line, if the line stays inside; whether it does is found by walking along it from triangle to triangle, which needs no
//! search, and no care where parts of the shape lie above each other.

use crate::mesh::Mesh;
use crate::topology::{NONE, Topology};

/// Coordinates of the vertices of a flat rest shape, and what lies beside each triangle.
pub(crate) struct Chart<'a> {
    pub(super) topology: &'a Topology,
    pub(super) triangles: &'a [[u32; 3]],
    /// In m.
    points: Vec<[f64; 2]>,
    /// For each triangle, what is beyond the edge that faces each corner.
    beyond: Vec<[u32; 3]>,
    /// Whether every straight line between two vertices is inside.
    is_convex: bool,
}

/// A rest shape is flat if no vertex is farther from its plane than this part of its size.
const FLAT: f64 = 1e-6;
/// A vertex is on a line if it is no farther from it than this part of its distance from where the line starts.
const ON_LINE: f64 = 1e-9;

impl<'a> Chart<'a> {
    /// `None` if the shape is not flat, or folded onto itself.
    pub(crate) fn new(mesh: &'a Mesh, topology: &'a Topology) -> Option<Self> {
        let points = flatten(mesh)?;
        let mut beyond = vec![[NONE; 3]; mesh.triangles.len()];
        for (edge, &[s, t]) in topology.edges.iter().zip(&topology.edge_triangles) {
            for (own, other) in [(s, t), (t, s)] {
                if own == NONE {
                    continue;
                }
                let faces = |v: &u32| !edge.contains(v);
                let corner = mesh.triangles[own as usize].iter().position(faces)?;
                beyond[own as usize][corner] = other;
            }
        }
        let mut chart = Self { topology, triangles: &mesh.triangles, points, beyond, is_convex: false };
        chart.is_convex = chart.find_convex();
        Some(chart)
    }

    /// The length of the straight line between two vertices, in m, if it stays inside.
    pub(crate) fn distance(&self, a: u32, b: u32) -> Option<f64> {
        let is_inside = a != b && (self.is_convex || self.sees(a, b));
        is_inside.then(|| self.straight(a, b))
    }

    /// The length of the straight line between two vertices, in m, inside or not.
    pub(crate) fn straight(&self, a: u32, b: u32) -> f64 {
        let [x, y] = self.line(a, b);
        libm::hypot(x, y)
    }

    /// Whether every way between two vertices is straight.
    pub(crate) fn is_convex(&self) -> bool {
        self.is_convex
    }

    pub(super) fn line(&self, a: u32, b: u32) -> [f64; 2] {
        line(&self.points, a, b)
    }

    /// A disc whose border turns nowhere inwards.
    fn find_convex(&self) -> bool {
        const STRAIGHT: f64 = std::f64::consts::PI + 1e-6;
        let used = (0..self.points.len() as u32).filter(|v| !self.topology.vertex_triangles.of(*v).is_empty());
        let euler = used.count() + self.triangles.len();
        if euler != self.topology.edges.len() + 1 {
            return false;
        }
        let ends = || self.topology.boundary_edges.iter().flat_map(|&e| self.topology.edges[e as usize]);
        let mut uses = vec![0_u32; self.points.len()];
        ends().for_each(|v| uses[v as usize] += 1);
        // Where the border passes a vertex twice, two parts hang together by it.
        ends().all(|v| {
            let around = self.topology.vertex_triangles.of(v).iter();
            around.map(|&t| self.angle(self.triangles[t as usize], v)).sum::<f64>() <= STRAIGHT && uses[v as usize] == 2
        })
    }

    /// The angle of a triangle at one of its vertices.
    fn angle(&self, triangle: [u32; 3], vertex: u32) -> f64 {
        let [p, q] = others(triangle, vertex);
        let [to_p, to_q] = [p, q].map(|v| self.line(vertex, v));
        libm::atan2(cross(to_p, to_q), to_p[0] * to_q[0] + to_p[1] * to_q[1])
    }

    /// Whether the straight line from one vertex to another stays inside.
    fn sees(&self, a: u32, b: u32) -> bool {
        let way = self.line(a, b);
        let length = libm::hypot(way[0], way[1]);
        // Above 0: left of the line.
        let side = |v: u32| {
            let to = self.line(a, v);
            let distance = cross(way, to) / length;
            if distance.abs() <= ON_LINE * libm::hypot(to[0], to[1]) { 0.0 } else { distance }
        };
        let ahead = |from: u32, v: u32| {
            let to = self.line(from, v);
            to[0] * way[0] + to[1] * way[1] > 0.0
        };
        let mut at = a;
        // Every triangle is passed once at most.
        for _ in 0..=self.triangles.len() {
            let around = self.topology.vertex_triangles.of(at);
            let mut next = None;
            let mut through = None;
            for &t in around {
                let [p, q] = others(self.triangles[t as usize], at);
                if p == b || q == b {
                    return true;
                }
                for v in [p, q] {
                    if side(v) == 0.0 && ahead(at, v) {
                        next = Some(v);
                    }
                }
                if side(p) < 0.0 && side(q) > 0.0 && doubled_area(&self.points, [at, p, q]) > 0.0 {
                    through = Some((t, at, [p, q]));
                }
            }
            at = match (next, through) {
                (Some(v), _) => v,
                (None, Some(start)) => match self.cross_triangles(start, b, &side) {
                    Some(v) if v == b => return true,
                    Some(v) => v,
                    None => return false,
                },
                (None, None) => return false,
            };
            if !ahead(at, b) {
                return false;
            }
        }
        false
    }

    /// From a triangle on over the edge that faces `corner` until the line meets a vertex; `None` at the border. `gate` has the ends of the edge, right and
    /// left of the line.
    fn cross_triangles(
        &self,
        (mut triangle, mut corner, mut gate): (u32, u32, [u32; 2]),
        target: u32,
        side: &impl Fn(u32) -> f64,
    ) -> Option<u32> {
        for _ in 0..self.triangles.len() {
            let place = self.triangles[triangle as usize].iter().position(|v| *v == corner)?;
            triangle = self.beyond[triangle as usize][place];
            if triangle == NONE {
                return None;
            }
            let tip = self.triangles[triangle as usize].into_iter().find(|v| !gate.contains(v))?;
            let is_left = side(tip);
            if tip == target || is_left == 0.0 {
                return Some(tip);
            }
            let [right, left] = gate;
            (corner, gate) = if is_left > 0.0 { (left, [right, tip]) } else { (right, [tip, left]) };
        }
        None
    }
}

/// From one vertex to another.
fn line(points: &[[f64; 2]], a: u32, b: u32) -> [f64; 2] {
    let [a, b] = [a, b].map(|v| points[v as usize]);
    [b[0] - a[0], b[1] - a[1]]
}

fn doubled_area(points: &[[f64; 2]], [a, b, c]: [u32; 3]) -> f64 {
    cross(line(points, a, b), line(points, a, c))
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// The other two vertices of a triangle, in its sense of turning.
fn others([a, b, c]: [u32; 3], vertex: u32) -> [u32; 2] {
    if vertex == a {
        [b, c]
    } else if vertex == b {
        [c, a]
    } else {
        [a, b]
    }
}

/// Whether a rest shape has a [`Chart`].
pub(crate) fn is_flat(mesh: &Mesh) -> bool {
    flatten(mesh).is_some()
}

/// Coordinates in the plane of a mesh, turned so that triangles count as positive; `None` if it has no plane, or is folded onto itself.
fn flatten(mesh: &Mesh) -> Option<Vec<[f64; 2]>> {
    use crate::math::Vec3;
    // What was cut and sewn has no plane.
    if mesh.flat.is_some() {
        return None;
    }
    let at = |v: u32| Vec3::<f64>::from(mesh.positions[v as usize]);
    let normals = mesh.triangles.iter().map(|t| {
        let [a, b, c] = t.map(at);
        (b - a).cross(c - a)
    });
    let normal = normals.fold(Vec3::ZERO, |sum: Vec3<f64>, n| sum + n).normalized_or_zero();
    let origin = at(*mesh.triangles.first()?.first()?);
    let size = mesh.extent();
    // Across the axis that the normal has least of, so that it is far from parallel.
    let [x, y, z] = normal.to_array().map(f64::abs);
    let axis = if x <= y && x <= z {
        Vec3::new(1.0, 0.0, 0.0)
    } else if y <= z {
        Vec3::new(0.0, 1.0, 0.0)
    } else {
        Vec3::new(0.0, 0.0, 1.0)
    };
    let u = axis.cross(normal).normalized_or_zero();
    let v = normal.cross(u);
    let is_flat = |x: &[f64; 3]| (Vec3::<f64>::from(*x) - origin).dot(normal).abs() <= FLAT * size;
    // Vertices of no triangle may be anywhere.
    let mut used = mesh.triangles.iter().flatten().map(|&v| &mesh.positions[v as usize]);
    let has_plane = normal != Vec3::ZERO && used.all(is_flat);
    let place = |x: &[f64; 3]| {
        let d = Vec3::<f64>::from(*x) - origin;
        [d.dot(u), d.dot(v)]
    };
    if !has_plane {
        return None;
    }
    let points: Vec<[f64; 2]> = mesh.positions.iter().map(place).collect();
    mesh.triangles.iter().all(|t| doubled_area(&points, *t) > 0.0).then_some(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Diagonals;

    fn grid(cells: u32) -> Mesh {
        Mesh::grid([1.0, 1.0], [cells, cells], Diagonals::default()).expect("a grid")
    }

    /// A square without the triangles whose middle is in a slit from the middle of a side to the centre.
    fn slit(cells: u32) -> Mesh {
        let mut mesh = grid(cells);
        let width = 1.2 / f64::from(cells);
        let positions = mesh.positions.clone();
        mesh.triangles.retain(|t| {
            let [x, z] = [0, 2].map(|i| t.iter().map(|&v| positions[v as usize][i]).sum::<f64>() / 3.0);
            x.abs() > width || z > 0.0
        });
        mesh
    }

    #[test]
    fn in_a_square_every_line_is_straight() {
        let mesh = grid(8);
        let topology = Topology::build(&mesh);
        let chart = Chart::new(&mesh, &topology).expect("it is flat");
        assert!(chart.is_convex());
        for (a, b) in [(0, 80), (3, 77), (9, 10), (0, 8)] {
            let [p, q] = [a, b].map(|v: u32| mesh.positions[v as usize]);
            let expected = libm::hypot(p[0] - q[0], p[2] - q[2]);
            assert!((chart.distance(a, b).expect("inside") - expected).abs() < 1e-12, "{a} {b}");
            assert!(chart.sees(a, b) && chart.sees(b, a), "the walk agrees: {a} {b}");
        }
        assert!((0..81).all(|a| (0..81).all(|b| a == b || chart.sees(a, b))), "and so it does for all");
    }

    #[test]
    fn no_line_leads_over_a_slit() {
        let mesh = slit(12);
        let topology = Topology::build(&mesh);
        let chart = Chart::new(&mesh, &topology).expect("it is flat");
        assert!(!chart.is_convex());
        let at = |x: f64, z: f64| {
            let distance = |p: &[f64; 3]| libm::hypot(p[0] - x, p[2] - z);
            let nearest = (0..mesh.positions.len())
                .min_by(|a, b| distance(&mesh.positions[*a]).total_cmp(&distance(&mesh.positions[*b])));
            nearest.expect("not empty") as u32
        };
        assert_eq!(chart.distance(at(-0.4, -0.4), at(0.4, -0.4)), None, "over the slit");
        assert_eq!(chart.distance(at(-0.4, -0.3), at(0.3, -0.1)), None, "over the slit, aslant");
        assert!(chart.distance(at(-0.4, 0.4), at(0.4, 0.4)).is_some(), "beyond its end");
        assert!(chart.distance(at(-0.4, -0.4), at(-0.2, 0.4)).is_some(), "beside it");
    }

    #[test]
    fn what_is_bent_or_folded_has_no_chart() {
        let mut bent = grid(4);
        bent.positions[12][1] += 0.1;
        let topology = Topology::build(&bent);
        assert!(Chart::new(&bent, &topology).is_none() && !is_flat(&bent));
        let mut folded = grid(4);
        for p in &mut folded.positions {
            p[0] = p[0].abs();
        }
        let topology = Topology::build(&folded);
        assert!(Chart::new(&folded, &topology).is_none() && !is_flat(&folded));
    }
}
