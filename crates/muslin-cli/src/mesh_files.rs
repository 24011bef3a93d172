//! The mesh files that a scene names.
//!
//! Results must run again from their folder alone, to the same bits, so what was read is kept until it has been copied
//! there: the file itself may be gone or changed by then. The rest mesh among the results is no substitute, since it is
//! scaled, repaired and in single precision.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use muslin::mesh::{Group, Mesh, Uv};
use muslin_io::{ObjMesh, read_obj};

use crate::failure::cannot_read;

/// Reads meshes, and remembers what it read.
#[derive(Debug)]
pub(crate) struct MeshFiles {
    folder: PathBuf,
    contents: BTreeMap<String, Vec<u8>>,
}

impl MeshFiles {
    /// Paths start from `folder`.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, contents: BTreeMap::new() }
    }

    /// The mesh of a file, or one sentence about why there is none.
    pub(crate) fn load(&mut self, name: &str) -> Result<Mesh, String> {
        let path = self.folder.join(name);
        let bytes = match self.contents.get(name) {
            Some(bytes) => bytes,
            None => {
                let bytes = fs::read(&path).map_err(|error| cannot_read(&path, error).to_string())?;
                self.contents.entry(name.to_owned()).or_insert(bytes)
            }
        };
        match read_obj(bytes) {
            Ok(mesh) => Ok(from_obj(mesh)),
            Err(error) => Err(format!("{}:{}: {}", path.display(), error.line, error.problem)),
        }
    }

    /// What a file that was loaded contained.
    pub(crate) fn content(&self, name: &str) -> &[u8] {
        self.contents.get(name).map_or(&[], Vec::as_slice)
    }
}

fn from_obj(mesh: ObjMesh) -> Mesh {
    Mesh {
        positions: mesh.positions,
        triangles: mesh.triangles,
        uv: mesh.uv.map(|uv| Uv { coordinates: uv.coordinates, triangles: uv.triangles }),
        groups: mesh.groups.into_iter().map(|group| Group { name: group.name, triangles: group.triangles }).collect(),
    }
}
