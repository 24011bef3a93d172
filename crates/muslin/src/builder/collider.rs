//! Colliders in code: shapes with a formula, and meshes.

use std::sync::Arc;

use crate::description::{BodyFrames, BodyMesh, Collider, ColliderShape, GivenBody, Path};
use crate::mesh::Mesh;
use crate::shape::Shape;

/// A collider as a program says it; [`Collide`] makes one of a shape.
///
/// ```
/// use muslin::contact::Sphere;
/// use muslin::{Cloth, ColliderBuilder, Path, Simulation};
///
/// let ball = ColliderBuilder::from(Sphere { center: [0.0, -0.3, 0.0], radius: 0.1 })
///     .name("ball")
///     .friction(0.5)
///     .path(Path::through([(0.0, [0.0; 3]), (1.0, [0.0, 0.2, 0.0])]));
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4])).collider(ball).build()?;
/// assert_eq!(simulation.collider("ball"), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a collider does nothing until it is handed to a builder"]
pub struct ColliderBuilder {
    name: Option<String>,
    shape: ColliderShape,
    friction: Option<f64>,
    path: Path,
}

/// What a shape is as a collider: a method here makes a [`ColliderBuilder`] of any [`Shape`].
///
/// ```
/// use muslin::contact::Capsule;
/// use muslin::{Collide, Path};
///
/// let arm = Capsule { a: [0.0, 1.0, 0.0], b: [0.4, 1.0, 0.0], radius: 0.05 };
/// let collider = arm.friction(0.5).name("arm").path(Path::through([(0.0, [0.0; 3]), (1.0, [0.0, 0.3, 0.0])]));
/// ```
pub trait Collide: Shape + Sized + 'static {
    /// With Coulomb's coefficient against cloth, where that of the contact is not meant.
    fn friction(self, friction: f64) -> ColliderBuilder {
        ColliderBuilder::from(self).friction(friction)
    }

    /// With a name, by which [`Simulation::collider`](crate::Simulation::collider) finds it.
    fn named(self, name: impl Into<String>) -> ColliderBuilder {
        ColliderBuilder::from(self).name(name)
    }

    /// Along a path.
    fn along(self, path: Path) -> ColliderBuilder {
        ColliderBuilder::from(self).path(path)
    }
}

impl<S: Shape + 'static> Collide for S {}

impl<S: Shape + 'static> From<S> for ColliderBuilder {
    fn from(shape: S) -> Self {
        Self { name: None, shape: ColliderShape::new(shape), friction: None, path: Path::still() }
    }
}

impl ColliderBuilder {
    /// Coulomb's coefficient against cloth; that of the contact unless it is said.
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = Some(friction);
        self
    }

    /// Names it: `collider0` and so on unless it is said.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How it moves.
    pub fn path(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    /// The collider with every default filled in.
    pub(super) fn describe(&self, index: usize, friction: f64) -> Collider {
        let name = self.name.clone().unwrap_or_else(|| format!("collider{index}"));
        let mut shape = self.shape.clone();
        if let ColliderShape::Mesh(mesh) = &mut shape {
            // The text of the scene names the files in which it would be.
            mesh.file = format!("{name}.obj");
            mesh.frames.iter_mut().for_each(|frames| frames.file = format!("{name}.npy"));
        }
        Collider { name, shape, friction: self.friction.unwrap_or(friction), path: self.path.clone() }
    }
}

/// A mesh as a collider: a surface that is touched from both sides, closed or not, which may deform.
///
/// ```
/// use muslin::{Cloth, MeshCollider, Simulation};
///
/// // A tetrahedron below a sheet.
/// let positions = vec![[0.0, -0.1, 0.0], [0.2, -0.3, 0.0], [-0.1, -0.3, 0.2], [-0.1, -0.3, -0.2]];
/// let triangles = vec![[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]];
/// let mut simulation = Simulation::builder()
///     .cloth(Cloth::grid([0.5, 0.5], [5, 5]))
///     .collider(MeshCollider::new(positions, triangles).friction(0.4))
///     .build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a collider does nothing until it is handed to a builder"]
pub struct MeshCollider {
    body: GivenBody,
    /// Of the frames; none while it does not deform.
    fps: Option<f64>,
    translate: [f64; 3],
    rotate: [f64; 3],
    scale: f64,
}

impl MeshCollider {
    /// Of positions in m, and triangles, wound either way.
    pub fn new(positions: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        Self::of(Mesh { positions, triangles, ..Mesh::default() })
    }

    /// Of a mesh, whose texture coordinates and groups do not matter.
    pub fn of(mesh: Mesh) -> Self {
        let body = GivenBody { mesh, frames: Vec::new() };
        Self { body, fps: None, translate: [0.0; 3], rotate: [0.0; 3], scale: 1.0 }
    }

    /// Lets it deform: the positions of all vertices, in m, frame after frame from time zero on. Between two frames vertices move in straight lines; after
    /// the last they stand still.
    pub fn frames(mut self, fps: f64, frames: Vec<Vec<[f32; 3]>>) -> Self {
        self.fps = Some(fps);
        self.body.frames = frames;
        self
    }

    /// Displacement after scaling and rotating, in m.
    pub fn translate(mut self, translate: [f64; 3]) -> Self {
        self.translate = translate;
        self
    }

    /// Degrees about x, then y, then z.
    pub fn rotate(mut self, rotate: [f64; 3]) -> Self {
        self.rotate = rotate;
        self
    }

    /// Factor on the mesh and its frames, applied first.
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// With Coulomb's coefficient against cloth, where that of the contact is not meant.
    pub fn friction(self, friction: f64) -> ColliderBuilder {
        ColliderBuilder::from(self).friction(friction)
    }

    /// With a name, by which [`Simulation::collider`](crate::Simulation::collider) finds it.
    pub fn named(self, name: impl Into<String>) -> ColliderBuilder {
        ColliderBuilder::from(self).name(name)
    }

    /// Along a path.
    pub fn along(self, path: Path) -> ColliderBuilder {
        ColliderBuilder::from(self).path(path)
    }
}

impl From<MeshCollider> for ColliderBuilder {
    fn from(mesh: MeshCollider) -> Self {
        let MeshCollider { body, fps, translate, rotate, scale } = mesh;
        let frames = fps.map(|fps| BodyFrames { file: String::new(), fps });
        let given = Some(Arc::new(body));
        let shape = ColliderShape::Mesh(BodyMesh { file: String::new(), frames, translate, rotate, scale, given });
        Self { name: None, shape, friction: None, path: Path::still() }
    }
}
