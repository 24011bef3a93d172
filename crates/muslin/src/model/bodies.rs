//! The bodies of a model that are meshes, and the surface of cloths and bodies together.

use crate::contact::collider::mesh::Body;
use crate::contact::geometry::surface::Surface;
use crate::contact::geometry::triangle_intersection::for_each_intersection;
use crate::contact::pair::Pair;
use crate::math::Vec3;
use crate::model::Model;

impl Model {
    /// Takes the bodies over, once all cloths are there.
    pub(crate) fn add_bodies(&mut self, bodies: Vec<Body>) {
        let mut first = self.masses.len();
        self.bodies = bodies;
        for body in &mut self.bodies {
            body.vertices = first..first + body.mesh.vertex_count();
            first = body.vertices.end;
        }
        let triangles = self.triangles.iter().copied().chain(self.body_triangles()).collect();
        self.surface = Surface::new(triangles, first);
    }

    /// The triangles of all bodies, with vertices as in [`Body::vertices`].
    pub fn body_triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.bodies.iter().flat_map(|body| {
            let first = body.vertices.start as u32;
            body.mesh.triangles.iter().map(move |triangle| triangle.map(|vertex| vertex + first))
        })
    }

    /// The triangles of all cloths, then those of all bodies.
    pub(crate) fn surface_triangles(&self) -> &[[u32; 3]] {
        self.surface.triangles()
    }

    /// Calls `visit` with every pair of cloth and a body that is a mesh, and with self-contact of cloth and cloth, that is nearer than
    /// `distance`, in m, with the cloths at `positions` at `time`, and how near it is.
    pub(crate) fn for_each_near(
        &self,
        (positions, time): (&[Vec3<f64>], f64),
        distance: f64,
        visit: impl FnMut(Pair, f64),
    ) {
        let matters = |i: usize, j: usize| self.may_touch(i, j);
        self.surface.for_each_near(&self.all_positions(positions, time), distance, matters, visit);
    }

    /// Whether two triangles of [`surface_triangles`](Self::surface_triangles) are kept apart, and of a triangle by itself, whether it is of a cloth.
    pub(crate) fn may_touch(&self, i: usize, j: usize) -> bool {
        let cloth = self.triangles.len();
        match (i < cloth, j < cloth) {
            // A triangle for itself: bodies are of no interest to each other.
            (true, true) => self.self_contact.is_some() || i == j,
            (a, b) => a != b,
        }
    }

    /// The vertices of cloths, and those of bodies behind them at `time`.
    pub(crate) fn all_positions(&self, positions: &[Vec3<f64>], time: f64) -> Vec<Vec3<f64>> {
        let mut all = positions.to_vec();
        self.bodies.iter().for_each(|body| body.extend_positions(time, &mut all));
        all
    }

    /// The body that a vertex of the arrays of contact belongs to; `None` for one of a cloth.
    pub fn body_of(&self, vertex: usize) -> Option<&Body> {
        // Most vertices are of cloths.
        (vertex >= self.masses.len()).then(|| self.bodies.iter().find(|body| body.vertices.contains(&vertex))).flatten()
    }

    /// Pairs of triangles, one of a cloth and one of a body, that cut each other with the cloths at `positions` at `time`;
    /// numbered as in [`surface_triangles`](Self::surface_triangles). With `self_contact`, pairs of cloth with cloth too.
    pub(crate) fn for_each_cut(
        &self,
        positions: &[Vec3<f64>],
        time: f64,
        self_contact: bool,
        found: impl FnMut(usize, usize),
    ) {
        let cloth = self.triangles.len();
        let counts = |i: usize, j: usize| match (i < cloth, j < cloth) {
            (true, true) => self_contact,
            (a, b) => a != b,
        };
        for_each_intersection(self.surface_triangles(), &self.all_positions(positions, time), counts, found);
    }
}
