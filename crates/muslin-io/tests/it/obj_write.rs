//! The rest mesh as OBJ.

use std::fs;

use muslin_io::{Group, IoErrorKind, ObjGroup, RestMesh, read_obj, write_obj};

use crate::cloth;

#[test]
fn the_file_to_the_letter() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.obj");
    write_obj(&path, &cloth::with_seam("sheet")).unwrap();
    let expected = "# muslin: 4 vertices, 2 triangles, metres, +y up\nv 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0.1\n\
        vt 0 0\nvt 0 1\nvt 1 1\nvt 0.75 1\nvt 1 0\ng left_half all\nf 1/1 2/2 3/3\ng all\nf 1/1 3/4 4/5\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected, "content");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no partial file is left");
}

#[test]
fn it_reads_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.obj");
    let positions = [[0.1, -1e-30, 3.4e38], [1.0 / 3.0, f32::MIN_POSITIVE, -0.0], [1e-7, 16_777_216.0, 5.0]];
    let names = ["", "default", "a b", "#hem", "tail\\", "ärmel"];
    let groups: Vec<Group<'_>> = names.iter().map(|name| Group { name, triangles: &[1] }).collect();
    let triangles = [[0, 1, 2], [2, 1, 0], [1, 2, 0]];
    let rest = RestMesh { name: "s", positions: &positions, triangles: &triangles, uv: None, groups: &groups };
    write_obj(&path, &rest).unwrap();
    let mesh = read_obj(&fs::read(&path).unwrap()).unwrap();
    let read: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.map(|value| value as f32)).collect();
    assert_eq!(read, positions, "positions");
    assert_eq!(mesh.triangles, triangles, "triangles keep their order");
    let expected: Vec<ObjGroup> = ["_", "default_", "a_b", "_hem", "tail_", "ärmel"]
        .map(|name| ObjGroup { name: name.to_owned(), triangles: vec![1] })
        .into();
    assert_eq!(mesh.groups, expected, "groups");
}

#[test]
fn a_mesh_that_is_wrong_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.obj");
    let error = write_obj(&path, &RestMesh { positions: &cloth::POSITIONS[..3], ..cloth::bare("sheet") }).unwrap_err();
    let words = format!("cannot write {}: triangle 1 uses vertex 3, but the mesh has 3 vertices", path.display());
    assert_eq!(error.to_string(), words, "wording");
    assert_eq!(error.kind(), IoErrorKind::Unsuitable, "kind");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is written");
}
