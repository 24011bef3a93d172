//! The scene flattened for drawing: one list of vertices, one of triangles, in the frame of the camera's [`View`].

use crate::camera::View;
use crate::color::{back_of, linear_from_srgb};
use crate::error::RenderError;
use crate::math::{Vec3, unit};
use crate::scene::{Cloth, Scene, Solid};

/// Coordinates beyond this many camera distances are left out: nothing there is larger than a pixel, and squares stay
/// finite.
const FAR: f32 = 1e5;

/// What is farther from the camera's target than this many camera distances casts no shadow: one vertex that ran away
/// would otherwise stretch the shadow map over all the space in between.
const NEARBY: f32 = 2.0;

/// What the surface of a mesh looks like.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    /// The index of the cloth; `None` for a solid.
    pub(crate) cloth: Option<usize>,
    /// Linear colours of both sides.
    pub(crate) front: Vec3,
    pub(crate) back: Vec3,
    pub(crate) wires: bool,
    /// The largest extent of the uv; 0 without uv.
    pub(crate) uv_extent: f32,
    /// Whether corners whose normal is far from that of the face have an edge there.
    pub(crate) creased: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [u32; 3],
    pub(crate) surface: u32,
    /// Its index in the mesh that was given.
    pub(crate) source: u32,
    pub(crate) marked: bool,
}

/// An infinite plane that is seen from above only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) point: Vec3,
    pub(crate) normal: Vec3,
}

/// Everything to be drawn. Kept between pictures, so that its memory is reused.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) triangles: Vec<Triangle>,
    pub(crate) surfaces: Vec<Surface>,
    /// The ground, if there is one.
    pub(crate) ground: Option<Plane>,
    pub(crate) planes: Vec<Plane>,
    /// The box around everything nearby; `min` above `max` if there is nothing.
    pub(crate) min: Vec3,
    pub(crate) max: Vec3,
    /// The vertices of cloths come first: this many.
    pub(crate) cloth_vertex_count: usize,
    /// How much nearer a solid may be than a cloth before it hides it: see [`Self::tolerance_of`].
    pub(crate) tolerance: f32,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            positions: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            surfaces: Vec::new(),
            ground: None,
            planes: Vec::new(),
            min: Vec3::ZERO,
            max: Vec3::ZERO,
            cloth_vertex_count: 0,
            tolerance: 0.0,
        }
    }

    /// Whether there is any mesh nearby.
    pub(crate) fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// Replaces what is on the stage.
    pub(crate) fn assemble(&mut self, scene: &Scene<'_>, view: &View) -> Result<(), RenderError> {
        self.positions.clear();
        self.normals.clear();
        self.triangles.clear();
        self.surfaces.clear();
        self.planes.clear();
        for (index, cloth) in scene.cloths.iter().enumerate() {
            self.add_cloth(cloth, index, view)?;
        }
        self.cloth_vertex_count = self.positions.len();
        self.tolerance = self.tolerance_of();
        for (index, solid) in scene.solids.iter().enumerate() {
            self.add_solid(solid, index, linear_from_srgb(scene.solid_color), view)?;
        }
        self.measure();
        self.settle_ground(scene, view);
        Ok(())
    }

    fn add_cloth(&mut self, cloth: &Cloth<'_>, index: usize, view: &View) -> Result<(), RenderError> {
        let mesh = || format!("cloth {index}");
        if let Some(uv) = cloth.uv
            && uv.len() != cloth.triangles.len()
        {
            return Err(RenderError::Uv { mesh: mesh(), uv_count: uv.len(), triangle_count: cloth.triangles.len() });
        }
        let front = linear_from_srgb(cloth.color);
        self.surfaces.push(Surface {
            cloth: Some(index),
            front,
            back: back_of(front),
            wires: cloth.wires,
            uv_extent: cloth.uv.map_or(0.0, extent),
            creased: false,
        });
        let first = self.add_mesh(cloth.positions, cloth.triangles, mesh, view)?;
        // The triangles of a cloth are in order, but some may have been left out.
        let added = &mut self.triangles[first..];
        for &marked in cloth.marked {
            if marked as usize >= cloth.triangles.len() {
                return Err(RenderError::Marked {
                    mesh: mesh(),
                    triangle: marked,
                    triangle_count: cloth.triangles.len(),
                });
            }
            if let Ok(i) = added.binary_search_by_key(&marked, |triangle| triangle.source) {
                added[i].marked = true;
            }
        }
        Ok(())
    }

    fn add_solid(&mut self, solid: &Solid<'_>, index: usize, color: Vec3, view: &View) -> Result<(), RenderError> {
        let creased = matches!(solid, Solid::Mesh { .. });
        self.surfaces.push(Surface { cloth: None, front: color, back: color, wires: false, uv_extent: 0.0, creased });
        match *solid {
            Solid::Plane { point, normal } => {
                let point = view.place(point);
                if let Some(normal) = unit(normal)
                    && point.length() < FAR
                {
                    self.planes.push(Plane { point, normal: Vec3::from_f64(normal) });
                }
            }
            Solid::Mesh { positions, triangles } => {
                self.add_mesh(positions, triangles, || format!("solid {index}"), view)?;
            }
            Solid::Surface { positions, normals, triangles } => {
                let (mesh, first) = (|| format!("solid {index}"), self.positions.len());
                if normals.len() != positions.len() {
                    let (normal_count, vertex_count) = (normals.len(), positions.len());
                    return Err(RenderError::Normals { mesh: mesh(), normal_count, vertex_count });
                }
                self.add_mesh(positions, triangles, mesh, view)?;
                let given = normals.iter().map(|n| Vec3::from_f64(n.map(f64::from)).unit_or(Vec3::UP));
                self.normals[first..].iter_mut().zip(given).for_each(|(normal, given)| *normal = given);
            }
        }
        Ok(())
    }

    /// Adds the triangles all of whose corners are within reach, for the last surface. Indices must exist.
    fn add_triangles(&mut self, first: u32, triangles: &[[u32; 3]]) {
        let surface = self.surfaces.len() as u32 - 1;
        let positions = &self.positions;
        self.triangles.extend(triangles.iter().enumerate().filter_map(|(source, indices)| {
            let corners = indices.map(|i| first + i);
            // NaN compares as false.
            let reached = corners.iter().all(|&i| positions[i as usize].length() < FAR);
            reached.then_some(Triangle { corners, surface, source: source as u32, marked: false })
        }));
    }

    /// Adds a mesh with smooth normals; returns the index of its first triangle.
    fn add_mesh(
        &mut self,
        positions: &[[f32; 3]],
        triangles: &[[u32; 3]],
        mesh: impl Fn() -> String,
        view: &View,
    ) -> Result<usize, RenderError> {
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= positions.len()) {
                return Err(RenderError::Vertex { mesh: mesh(), triangle, vertex, vertex_count: positions.len() });
            }
        }
        let first_vertex = self.positions.len();
        let first_triangle = self.triangles.len();
        self.positions.extend(positions.iter().map(|p| view.place(p.map(f64::from))));
        self.add_triangles(first_vertex as u32, triangles);
        self.normals.resize(self.positions.len(), Vec3::ZERO);
        for triangle in &self.triangles[first_triangle..] {
            let [a, b, c] = triangle.corners.map(|i| i as usize);
            // Twice the area long: large triangles count more.
            let normal = (self.positions[b] - self.positions[a]).cross(self.positions[c] - self.positions[a]);
            for corner in [a, b, c] {
                self.normals[corner] += normal;
            }
        }
        for normal in &mut self.normals[first_vertex..] {
            *normal = normal.unit_or(Vec3::UP);
        }
        Ok(first_triangle)
    }

    /// A cloth rests on its collider with its vertices; between them, its flat triangles cut a little into a round
    /// collider, which would show as spots. A tenth of the mean edge is more than that: an edge of length h on a radius
    /// r cuts in by h²/8r.
    fn tolerance_of(&self) -> f32 {
        let count = self.triangles.len();
        let total: f64 = self
            .triangles
            .iter()
            .map(|t| (self.positions[t.corners[0] as usize] - self.positions[t.corners[1] as usize]).length())
            .map(f64::from)
            .sum();
        let mean = if count == 0 { 0.0 } else { total / count as f64 };
        (0.1 * mean as f32).min(0.003)
    }

    fn measure(&mut self) {
        self.min = Vec3::ONE * f32::INFINITY;
        self.max = Vec3::ONE * f32::NEG_INFINITY;
        for triangle in &self.triangles {
            for corner in triangle.corners {
                let position = self.positions[corner as usize];
                if position.length() < NEARBY {
                    self.min = self.min.min(position);
                    self.max = self.max.max(position);
                }
            }
        }
    }

    /// Takes the ground from the scene, or from a horizontal plane below everything; planes that it hides are dropped.
    fn settle_ground(&mut self, scene: &Scene<'_>, view: &View) {
        let level = |plane: &Plane| plane.normal.y > 0.9998;
        // A cloth that lies on the plane may dip below it by rounding or contact.
        let slack = 0.01;
        let lowest = self.min.y + slack;
        let given = scene.ground.map(|height| view.place([0.0, height, 0.0]).y);
        let found =
            self.planes.iter().filter(|&plane| level(plane) && plane.point.y <= lowest).map(|plane| plane.point.y);
        let height = given.or_else(|| found.reduce(f32::max)).filter(|height| height.abs() < FAR);
        self.ground = height.map(|y| Plane { point: Vec3 { x: 0.0, y, z: 0.0 }, normal: Vec3::UP });
        if let Some(height) = height {
            self.planes.retain(|plane| !(level(plane) && plane.point.y <= height + slack));
        }
    }
}

/// The larger side of the box around the uv.
fn extent(uv: &[[[f32; 2]; 3]]) -> f32 {
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for corner in uv.iter().flatten() {
        for axis in 0..2 {
            low[axis] = low[axis].min(corner[axis]);
            high[axis] = high[axis].max(corner[axis]);
        }
    }
    let extent = (high[0] - low[0]).max(high[1] - low[1]);
    if extent.is_finite() { extent.max(0.0) } else { 0.0 }
}
