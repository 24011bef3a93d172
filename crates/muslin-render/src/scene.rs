//! Content of a picture, as plain data.

use crate::camera::Camera;
use crate::color::{CLOTH_COLORS, SOLID_COLOR};

/// A scene to draw: cloths and solids in metres, +y up.
///
/// Vertices that are not finite, or farther away than a hundred thousand times the distance of the camera, take their
/// triangles with them: a simulation that went wrong still gives a picture. So do solids without a size.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The cloths.
    pub cloths: Vec<Cloth<'a>>,
    /// The colliders.
    pub solids: Vec<Solid<'a>>,
    /// The height of the ground \[m\], if there is one. Without it, a horizontal plane below everything is the ground.
    pub ground: Option<f64>,
    /// The camera; without one, a three-quarter view that fits the scene.
    pub camera: Option<Camera>,
    /// The key light.
    pub light: Light,
    /// The colour of the solids, sRGB in [0, 1].
    pub solid_color: [f32; 3],
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Self {
            cloths: Vec::new(),
            solids: Vec::new(),
            ground: None,
            camera: None,
            light: Light::default(),
            solid_color: SOLID_COLOR,
        }
    }
}

/// A triangle mesh that is seen from both sides.
#[derive(Clone, Copy, Debug)]
pub struct Cloth<'a> {
    /// The vertices \[m\].
    pub positions: &'a [[f32; 3]],
    /// Vertex indices, counter-clockwise seen from the front.
    pub triangles: &'a [[u32; 3]],
    /// The uv of the three corners of each triangle: with them a fine check is woven in, in which folds and stretch
    /// show.
    pub uv: Option<&'a [[[f32; 2]; 3]]>,
    /// The colour of the front, sRGB in [0, 1]. The back has a paler tone of it.
    pub color: [f32; 3],
    /// A colour for each vertex in place of it, on both sides, sRGB in [0, 1]: a field that is shown.
    pub colors: Option<&'a [[f32; 3]]>,
    /// Whether the edges of the mesh are drawn.
    pub wires: bool,
    /// Triangles to be drawn in a warning red.
    pub marked: &'a [u32],
}

impl<'a> Cloth<'a> {
    /// A cloth in the first colour of the palette.
    pub fn new(positions: &'a [[f32; 3]], triangles: &'a [[u32; 3]]) -> Self {
        Self { positions, triangles, uv: None, color: CLOTH_COLORS[0], colors: None, wires: false, marked: &[] }
    }
}

/// A collider.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Solid<'a> {
    /// A half-space below a plane; drawn as a disc around the scene that fades out, and only from above.
    Plane {
        /// A point on the plane \[m\].
        point: [f64; 3],
        /// The normal that points out, of any length.
        normal: [f64; 3],
    },
    /// A triangle mesh, whose normals are found from its triangles.
    Mesh {
        /// The vertices \[m\].
        positions: &'a [[f32; 3]],
        /// Vertex indices, counter-clockwise seen from outside.
        triangles: &'a [[u32; 3]],
    },
    /// A surface that knows its normals, as a shape with a formula does.
    Surface {
        /// The vertices \[m\].
        positions: &'a [[f32; 3]],
        /// The unit normals at the vertices.
        normals: &'a [[f32; 3]],
        /// Vertex indices, counter-clockwise seen from outside.
        triangles: &'a [[u32; 3]],
    },
}

/// The key light: far away, as the sun, but a little softer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// The direction to the light, of any length.
    pub direction: [f64; 3],
    /// Its strength: 1 is a good exposure, 0 leaves the light of the sky.
    pub strength: f32,
}

impl Default for Light {
    fn default() -> Self {
        Self { direction: [-0.62, 1.0, 0.42], strength: 1.0 }
    }
}
