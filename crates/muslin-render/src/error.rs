//! Errors of a picture that was asked for.

use std::path::PathBuf;

/// Why a picture could not be drawn or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The picture has no pixels, or too many.
    #[error(
        "a picture of {width} × {height} pixels cannot be drawn: both sides must be at least 1 and at most {limit} pixels"
    )]
    Size {
        /// The width that was asked for.
        width: usize,
        /// The height that was asked for.
        height: usize,
        /// The longest side there can be.
        limit: usize,
    },
    /// Too few or too many samples a pixel.
    #[error("{samples} × {samples} samples a pixel were asked for: choose 1 to {limit} a side")]
    Samples {
        /// The samples a side that were asked for.
        samples: usize,
        /// The most there can be.
        limit: usize,
    },
    /// The camera does not look anywhere.
    #[error(
        "the camera at {eye:?} looking at {target:?} with a field of view of {fov_degrees}° shows nothing: eye and target must be finite and apart, and the field of view between 0° and 180°"
    )]
    Camera {
        /// Where the camera is.
        eye: [f64; 3],
        /// Where it looks.
        target: [f64; 3],
        /// Its vertical field of view.
        fov_degrees: f64,
    },
    /// The light comes from nowhere.
    #[error("the light direction {direction:?} must be finite and not zero")]
    Light {
        /// The direction that was given.
        direction: [f64; 3],
    },
    /// A triangle uses a vertex that does not exist.
    #[error("{mesh}: triangle {triangle} uses vertex {vertex}, but the mesh has {vertex_count} vertices")]
    Vertex {
        /// The mesh: `cloth 0`, `solid 2`.
        mesh: String,
        /// The triangle.
        triangle: usize,
        /// The vertex it asks for.
        vertex: u32,
        /// How many vertices there are.
        vertex_count: usize,
    },
    /// The texture coordinates do not match the triangles.
    #[error("{mesh}: {uv_count} triples of uv were given for {triangle_count} triangles: give one triple per triangle")]
    Uv {
        /// The mesh: `cloth 0`.
        mesh: String,
        /// The number of uv triples.
        uv_count: usize,
        /// The number of triangles.
        triangle_count: usize,
    },
    /// The normals do not match the vertices.
    #[error("{mesh}: {normal_count} normals were given for {vertex_count} vertices: give one per vertex")]
    Normals {
        /// The mesh: `solid 2`.
        mesh: String,
        /// The number of normals.
        normal_count: usize,
        /// The number of vertices.
        vertex_count: usize,
    },
    /// A triangle is marked that does not exist.
    #[error("{mesh}: triangle {triangle} is marked, but the mesh has {triangle_count} triangles")]
    Marked {
        /// The mesh: `cloth 0`.
        mesh: String,
        /// The marked triangle.
        triangle: u32,
        /// The number of triangles.
        triangle_count: usize,
    },
    /// The pixels of a picture do not fill it.
    #[error("a picture of {width} × {height} pixels needs {} pixels, but {pixel_count} were given", width * height)]
    Pixels {
        /// The width of the picture.
        width: usize,
        /// The height of the picture.
        height: usize,
        /// How many pixels there are.
        pixel_count: usize,
    },
    /// The file could not be written.
    #[error("{} could not be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
