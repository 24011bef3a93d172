//! Rest meshes in the single precision of the result files.

use muslin::mesh::Mesh;
use muslin_io::{Group, RestMesh, Uv};

/// The rest mesh of a cloth, ready to be written.
#[derive(Debug)]
pub(crate) struct Rest<'a> {
    name: &'a str,
    mesh: &'a Mesh,
    positions: Vec<[f32; 3]>,
    coordinates: Vec<[f32; 2]>,
    groups: Vec<Group<'a>>,
}

impl<'a> Rest<'a> {
    pub(crate) fn new(name: &'a str, mesh: &'a Mesh) -> Self {
        let coordinates = mesh.uv.iter().flat_map(|uv| &uv.coordinates);
        Self {
            name,
            mesh,
            positions: mesh.positions.iter().map(|p| p.map(|x| x as f32)).collect(),
            coordinates: coordinates.map(|c| c.map(|x| x as f32)).collect(),
            groups: mesh.groups.iter().map(|g| Group { name: &g.name, triangles: &g.triangles }).collect(),
        }
    }

    pub(crate) fn mesh(&self) -> RestMesh<'_> {
        RestMesh {
            name: self.name,
            positions: &self.positions,
            triangles: &self.mesh.triangles,
            uv: self.mesh.uv.as_ref().map(|uv| Uv { coordinates: &self.coordinates, triangles: &uv.triangles }),
            groups: &self.groups,
        }
    }
}
