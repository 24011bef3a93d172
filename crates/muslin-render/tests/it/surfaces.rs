//! Surfaces of shapes, to be drawn.

use muslin::shape::Shape;
use muslin_render::Solid;

/// What a shape of the library looks like.
pub(crate) struct Surface {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    pub(crate) fn of(shape: &impl Shape) -> Self {
        let drawn = shape.tessellation();
        let single = |vectors: Vec<[f64; 3]>| vectors.into_iter().map(|v| v.map(|x| x as f32)).collect();
        Self { positions: single(drawn.positions), normals: single(drawn.normals), triangles: drawn.triangles }
    }

    pub(crate) fn solid(&self) -> Solid<'_> {
        Solid::Surface { positions: &self.positions, normals: &self.normals, triangles: &self.triangles }
    }
}
