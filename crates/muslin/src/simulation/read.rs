//! Readings of a simulation's state: vertices as the user numbers them, contacts, rays.

use crate::contact::{Pair, point_triangle};
use crate::math::Vec3;
use crate::parallel::Shared;
use crate::simulation::Simulation;
use crate::solver::Instant;

/// A place where cloth touches something.
///
/// ```
/// use muslin::contact::Plane;
/// use muslin::simulation::Touched;
/// use muslin::{Cloth, Simulation};
///
/// let ground = Plane { point: [0.0, -0.001, 0.0], normal: [0.0, 1.0, 0.0] };
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).collider(ground).build()?;
/// simulation.advance()?;
/// let contacts = simulation.contacts();
/// assert_eq!((contacts.len(), contacts[0].with, contacts[0].normal), (9, Touched::Collider(0), [0.0, 1.0, 0.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The cloth.
    pub cloth: usize,
    /// Its vertex, as the user numbers it.
    pub vertex: usize,
    /// The other body.
    pub with: Touched,
    /// Away from what is touched: a unit vector, but where the two are in one place.
    pub normal: [f64; 3],
    /// Distance of the vertex from the surface, in m; negative inside a collider.
    pub distance: f64,
}

/// The body that is touched.
///
/// ```
/// use muslin::contact::Plane;
/// use muslin::simulation::Touched;
/// use muslin::{Cloth, Simulation};
///
/// let ground = Plane { point: [0.0, -0.001, 0.0], normal: [0.0, 1.0, 0.0] };
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).collider(ground).build()?;
/// simulation.advance()?;
/// assert!(simulation.contacts().iter().all(|contact| contact.with == Touched::Collider(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// A collider, by its number.
    Collider(usize),
    /// A cloth, by its number.
    Cloth(usize),
}

/// Where a ray meets something.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let hit = simulation.raycast([0.1, 1.0, 0.2], [0.0, -1.0, 0.0]).ok_or("the sheet is below")?;
/// assert_eq!((hit.distance, hit.point), (1.0, [0.1, 0.0, 0.2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The body that it meets.
    pub target: RayTarget,
    /// How far from the origin of the ray, in m.
    pub distance: f64,
    /// Where, in m.
    pub point: [f64; 3],
}

/// The body that a ray meets.
///
/// ```
/// use muslin::simulation::RayTarget;
/// use muslin::{Cloth, Simulation};
///
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let hit = simulation.raycast([0.1, 1.0, 0.2], [0.0, -1.0, 0.0]).ok_or("the sheet is below")?;
/// assert!(matches!(hit.target, RayTarget::Cloth { cloth: 0, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RayTarget {
    /// A triangle of a cloth.
    Cloth {
        /// The cloth.
        cloth: usize,
        /// Its triangle, as the user numbers it.
        triangle: usize,
        /// The weights of the triangle's corners at the point.
        weights: [f64; 3],
    },
    /// A collider, by its number.
    Collider(usize),
}

impl Simulation {
    /// The number of cloths.
    pub fn cloth_count(&self) -> usize {
        self.model.cloths.len()
    }

    /// The number of a cloth, by its name.
    pub fn cloth(&self, name: &str) -> Option<usize> {
        self.model.cloths.iter().position(|cloth| cloth.name == name)
    }

    /// The names of the colliders, in the order of the scene.
    pub fn collider_names(&self) -> &[String] {
        &self.collider_names
    }

    /// The number of a collider, by its name.
    pub fn collider(&self, name: &str) -> Option<usize> {
        self.collider_names.iter().position(|other| other == name)
    }

    /// The triangles of a cloth, as the user numbers its vertices; empty if there is no such cloth.
    pub fn triangles(&self, cloth: usize) -> &[[u32; 3]] {
        self.model.cloths.get(cloth).map_or(&[], |cloth| &cloth.mesh.triangles)
    }

    /// Unit normals of the vertices of one cloth, weighted by the areas around them, as the user numbers them; zero for a vertex of no area.
    pub fn normals(&self, cloth: usize, out: &mut Vec<[f32; 3]>) {
        let x: Vec<Vec3<f64>> = self.in_user_order(cloth, &self.state.positions).collect();
        let mut sums = vec![Vec3::ZERO; x.len()];
        for triangle in self.triangles(cloth) {
            let [a, b, c] = triangle.map(|v| x[v as usize]);
            // Its length is twice the area.
            let normal = (b - a).cross(c - a);
            triangle.iter().for_each(|&v| sums[v as usize] += normal);
        }
        out.clear();
        out.extend(sums.iter().map(|sum| sum.normalized_or_zero().cast::<f32>().to_array()));
    }

    /// The elastic force on each vertex of one cloth, in N, numbered as in the user's mesh: the negative gradient of the elastic energy where the vertices
    /// are now, without gravity, damping, contact and regions of shape matching. Empty if there is no such cloth.
    ///
    /// At rest it balances the weight of a free vertex, and at a held one the pin holds what it leaves: that is how a clamp is read.
    ///
    /// ```
    /// use muslin::{Cloth, Simulation};
    ///
    /// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [1, 1])).build()?;
    /// // A stretch by a tenth along x: both sides are pulled inwards.
    /// simulation.set_positions(0, &[[-0.55, 0.0, -0.5], [0.55, 0.0, -0.5], [-0.55, 0.0, 0.5], [0.55, 0.0, 0.5]])?;
    /// let mut forces = Vec::new();
    /// simulation.elastic_forces(0, &mut forces);
    /// assert!(forces[0][0] > 1.0 && forces[1][0] < -1.0 && forces.iter().map(|f| f[0]).sum::<f64>().abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn elastic_forces(&self, cloth: usize, out: &mut Vec<[f64; 3]>) {
        let x = &self.state.positions;
        let mut gradient = vec![Vec3::ZERO; x.len()];
        let shared = Shared::open(&self.team, &mut gradient);
        let at = Instant { positions: x, previous: x, step: f64::INFINITY };
        self.team.run(self.team.size(), |worker| {
            for term in &self.terms {
                term.add_gradient(worker, at, &shared);
            }
        });
        out.clear();
        out.extend(self.in_user_order(cloth, &gradient).map(|g| (-g).to_array()));
    }

    /// Contacts at the moment: vertices of cloth that are no farther from a collider, or with self-contact from cloth, than the distance that is kept and a
    /// tenth of it. Edges that touch edges are not listed.
    pub fn contacts(&self) -> Vec<ContactPoint> {
        /// Over the distance that is kept.
        const NEAR: f64 = 1.1;
        let reach = NEAR * self.model.thickness;
        let mut contacts = Vec::new();
        for collider in &self.model.colliders {
            let solid = collider.solid.posed(&collider.motion.pose(self.state.time));
            for (v, x) in self.state.positions.iter().enumerate() {
                if let Some(probe) = solid.probe_within(*x, reach) {
                    let with = Touched::Collider(collider.index);
                    contacts.push(self.contact_point(v, with, probe.normal, probe.distance));
                }
            }
        }
        if self.model.self_contact.is_some() || !self.model.bodies.is_empty() {
            self.add_contacts_of_meshes(reach, &mut contacts);
        }
        contacts
    }

    fn add_contacts_of_meshes(&self, reach: f64, contacts: &mut Vec<ContactPoint>) {
        let (model, state) = (&self.model, &self.state);
        let all = model.all_positions(&state.positions, state.time);
        model.for_each_near((&state.positions, state.time), reach, |pair, _| {
            let Pair::VertexTriangle(vertices) = pair else { return };
            let [p, a, b, c] = vertices.map(|v| all[v as usize]);
            let closest = point_triangle(p, [a, b, c]);
            let [vertex, corner] = [vertices[0] as usize, vertices[1] as usize];
            let with = |v: usize| match model.body_of(v) {
                Some(body) => Touched::Collider(body.index),
                None => Touched::Cloth(model.cloth_of(v as u32)),
            };
            let is_cloth = |v: usize| v < state.positions.len();
            if is_cloth(vertex) {
                contacts.push(self.contact_point(vertex, with(corner), closest.normal, closest.distance));
            } else if is_cloth(corner) {
                // A vertex of a body in a triangle of cloth: told of the corner that is nearest.
                let near = vertices[1..].iter().zip(&closest.weights[1..]).min_by(|a, b| a.1.total_cmp(b.1));
                let near = near.map_or(corner, |(v, _)| *v as usize);
                contacts.push(self.contact_point(near, with(vertex), -closest.normal, closest.distance));
            }
        });
    }

    fn contact_point(&self, vertex: usize, with: Touched, normal: Vec3<f64>, distance: f64) -> ContactPoint {
        let cloth = self.model.cloth_of(vertex as u32);
        let piece = &self.model.cloths[cloth];
        let vertex = piece.ordering.old_from_new[vertex - piece.vertices.start] as usize;
        ContactPoint { cloth, vertex, with, normal: normal.to_array(), distance }
    }

    /// The first cloth or collider that a ray meets, from either side; `None` if there is none, or if the direction is none.
    pub fn raycast(&self, origin: [f64; 3], direction: [f64; 3]) -> Option<RayHit> {
        let ray = Ray { origin: origin.into(), direction: Vec3::from(direction).normalized_or_zero() };
        if ray.direction == Vec3::ZERO || !ray.origin.is_finite() {
            return None;
        }
        let hit =
            |(target, distance): (RayTarget, f64)| RayHit { target, distance, point: ray.at(distance).to_array() };
        let hits = self.cloth_hits(&ray).into_iter().chain(self.body_hits(&ray)).chain(self.collider_hits(&ray));
        hits.map(hit).min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// The nearest hit of each cloth.
    fn cloth_hits(&self, ray: &Ray) -> Vec<(RayTarget, f64)> {
        let nearest = |cloth: usize| {
            let x: Vec<Vec3<f64>> = self.in_user_order(cloth, &self.state.positions).collect();
            let (triangle, distance, weights) = ray.nearest(&x, self.triangles(cloth))?;
            Some((RayTarget::Cloth { cloth, triangle, weights }, distance))
        };
        (0..self.cloth_count()).filter_map(nearest).collect()
    }

    /// The nearest hit of each collider that is a mesh.
    fn body_hits(&self, ray: &Ray) -> Vec<(RayTarget, f64)> {
        let nearest = |body: &crate::model::Body| {
            let mut x = Vec::new();
            body.extend_positions(self.state.time, &mut x);
            let (_, distance, _) = ray.nearest(&x, &body.mesh.triangles)?;
            Some((RayTarget::Collider(body.index), distance))
        };
        self.model.bodies.iter().filter_map(nearest).collect()
    }

    /// The hit of each collider that has a formula: as far as the distance to its surface says, again and again.
    fn collider_hits(&self, ray: &Ray) -> Vec<(RayTarget, f64)> {
        /// Steps along a ray that grazes a surface at most.
        const MOST: usize = 1000;
        /// Near enough, in m.
        const NEAR: f64 = 1e-7;
        /// Farther than any coordinate, in m.
        const FAR: f64 = 4e6;
        let first = |collider: &crate::contact::Collider| {
            let solid = collider.solid.posed(&collider.motion.pose(self.state.time));
            let mut along = 0.0;
            for _ in 0..MOST {
                let distance = solid.probe(ray.at(along)).distance.abs();
                if distance < NEAR {
                    return Some((RayTarget::Collider(collider.index), along));
                }
                along += distance;
                // Also where the distance is no number.
                if along.is_nan() || along >= FAR {
                    return None;
                }
            }
            None
        };
        self.model.colliders.iter().filter_map(first).collect()
    }
}

/// A half line, its direction of unit length.
struct Ray {
    origin: Vec3<f64>,
    direction: Vec3<f64>,
}

impl Ray {
    fn at(&self, distance: f64) -> Vec3<f64> {
        self.origin + self.direction * distance
    }

    /// The nearest triangle that is met, with the distance and the weights of its corners.
    fn nearest(&self, x: &[Vec3<f64>], triangles: &[[u32; 3]]) -> Option<(usize, f64, [f64; 3])> {
        let hit = |(i, triangle): (usize, &[u32; 3])| {
            let (distance, weights) = self.meet(triangle.map(|v| x[v as usize]))?;
            Some((i, distance, weights))
        };
        triangles.iter().enumerate().filter_map(hit).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Distance and weights of the corners where it meets a triangle [Möller, Trumbore 1997].
    fn meet(&self, [a, b, c]: [Vec3<f64>; 3]) -> Option<(f64, [f64; 3])> {
        let (e, f, s) = (b - a, c - a, self.origin - a);
        let (p, q) = (self.direction.cross(f), s.cross(e));
        let determinant = e.dot(p);
        let [u, v, distance] = [s.dot(p), self.direction.dot(q), f.dot(q)].map(|x| x / determinant);
        // A ray in the plane of the triangle divides by zero, and none of these holds.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance >= 0.0 && distance.is_finite())
            .then_some((distance, [1.0 - u - v, u, v]))
    }
}
