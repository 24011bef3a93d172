//! Wavefront OBJ: meshes in, the rest mesh and sequences of frames out.
//!
//! A text file of statements, one a line, of which these matter here:
//!
//! ```text
//! v x y z [w] [r g b]      vertex; weight and colour are ignored
//! vt u [v [w]]             texture coordinate, origin at the bottom left
//! f v v v …                face: each corner is v, v/vt, v//vn or v/vt/vn; numbers count from 1,
//!                          or back from the latest (-1), and may refer to what comes later
//! g name …                 the faces that follow belong to these groups (`default`: to none)
//! o name                   … and to this one
//! ```
//!
//! The reader is our own rather than `tobj`, which loses line numbers and silently accepts much that has to be
//! refused here. Every [`ObjError`] has its line.
//!
//! Limits: polygons become triangles, in their order, concave ones of at most 4096 corners; curves, surfaces, lines,
//! points, materials, normals and smoothing groups are skipped; groups without a face are dropped. Texture coordinates
//! are kept if every face has them. Whether the triangles make a good cloth is not asked here.

mod error;
mod polygon;
mod read;
mod scan;
mod write;

pub use error::{ObjElement, ObjError, ObjProblem};
pub use read::read_obj;
pub use write::write_obj;

pub(crate) use write::FORMAT;

/// A mesh as read from an OBJ file, its polygons cut into triangles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjMesh {
    /// Vertices, in the file's units.
    pub positions: Vec<[f64; 3]>,
    /// Vertices of each triangle; all are in range.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, if every face has them.
    pub uv: Option<ObjUv>,
    /// Groups and objects that have faces, in the order in which the file names them first; they may overlap.
    pub groups: Vec<ObjGroup>,
}

/// Texture coordinates with their own triangles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjUv {
    /// Coordinates, with the origin at the bottom left of the picture.
    pub coordinates: Vec<[f64; 2]>,
    /// For each triangle of the mesh, the coordinates of its three corners; all are in range.
    pub triangles: Vec<[u32; 3]>,
}

/// A named set of triangles: a `g` or an `o` of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjGroup {
    /// Name in the file.
    pub name: String,
    /// Its triangles, in ascending order.
    pub triangles: Vec<u32>,
}
