//! Good OBJ files: the meshes that are read from them.

use muslin_io::{ObjGroup, ObjMesh, ObjUv, read_obj};

fn read(text: &str) -> ObjMesh {
    read_obj(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

fn square(triangles: Vec<[u32; 3]>) -> ObjMesh {
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    ObjMesh { positions, triangles, ..ObjMesh::default() }
}

#[test]
fn all_ways_to_write_the_same_faces() {
    let expected = square(vec![[0, 1, 2], [0, 2, 3]]);
    for faces in [
        "f 1 2 3\nf 1 3 4",
        "f 1 2 3 4\n",
        "f -4 -3 -2 -1",
        "f 1//7 2//7 3//7 4//7",
        "f 1// 2// 3// 4//",
        "f +1 2 3 4 # a square",
        "f 1 2 \\\n3 4",
        "  f\t1   2 3 4  ",
        "s off\nusemtl cotton\nmtllib a b.mtl\nvn 0 0 1\nvp 0 0\nl 1 2\np 1\nmg 0\nlod 1\nf 1 2 3 4\nend",
    ] {
        assert_eq!(read(&format!("{CORNERS}{faces}")), expected, "{faces:?}");
    }
    assert_eq!(read(&format!("f 1 2 3 4\n{CORNERS}")), expected, "faces before vertices");
    assert_eq!(read(&format!("\u{feff}# made by hand\n\n{CORNERS}f 1 2 3 4")), expected, "byte order mark");
    assert_eq!(read(&format!("{CORNERS}f 1 2 3 4\n").replace('\n', "\r\n")), expected, "lines of Windows");
    assert_eq!(read(&format!("{CORNERS}f 1 2 3 4\n").replace('\n', "\r")), expected, "lines of old Macs");
}

#[test]
fn vertices_with_weights_and_colours() {
    let text = "v 0 0 0 1\nv 1e0 0.0 -0 0.5 0.5 0.5\nv .1e1 1. 0 1 0.2 0.3 0.4\nv 0 +1 0 255 0 0\nf 1 2 3 4";
    assert_eq!(read(text), square(vec![[0, 1, 2], [0, 2, 3]]), "positions only");
}

#[test]
fn digits_are_read_exactly() {
    let mesh = read("v 0.1 123456.789012345678 -4.9e-324\nv 1 0 0\nv 0 1 0\nf 1 2 3");
    assert_eq!(mesh.positions[0], [0.1, 123_456.789_012_345_67, -4.9e-324], "nearest doubles");
}

#[test]
fn texture_coordinates_follow_their_corners() {
    let text = format!("{CORNERS}vt 0\nvt 1 0\nvt 1 1 0\nvt 0 1\nvt 0.5 0.5\nf 1/1 2/2/9 3/3\nf 1/-1 3/3 4/-2");
    let coordinates = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]];
    let uv = Some(ObjUv { coordinates, triangles: vec![[0, 1, 2], [4, 2, 3]] });
    assert_eq!(read(&text), ObjMesh { uv, ..square(vec![[0, 1, 2], [0, 2, 3]]) }, "a seam at vertex 1");
    assert_eq!(read(&format!("{text}\nf 1 2 3")).uv, None, "dropped unless every face has them");
}

#[test]
fn concave_faces_are_cut_without_flipping() {
    let mesh = read("v 0 0 0\nv 2 0 0\nv 0.5 0.5 0\nv 0 2 0\nvt 0 0\nvt 2 0\nvt .5 .5\nvt 0 2\nf 4/4 1/1 2/2 3/3");
    for &[a, b, c] in &mesh.triangles {
        let [a, b, c] = [a, b, c].map(|vertex| mesh.positions[vertex as usize]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        assert!(area > 0.0, "{:?}", mesh.triangles);
    }
    assert_eq!(mesh.uv.unwrap().triangles, mesh.triangles, "texture triangles are cut the same way");
}

#[test]
fn groups_and_objects_name_sets_of_triangles() {
    let text = format!(
        "{CORNERS}g default\ng empty\nf 1 2 3\ng sleeve cuff\nf 1 2 3 4\no my shirt\nf 1 3 4\ng\nf 2 3 4\no\nf 1 2 4\n\
         g cuff cuff\nf 1 2 3\no cuff\nf 1 2 3\ng unused\n"
    );
    let group = |name: &str, triangles: &[u32]| ObjGroup { name: name.to_owned(), triangles: triangles.to_vec() };
    let expected = [
        group("empty", &[0]),
        group("sleeve", &[1, 2, 3]),
        group("cuff", &[1, 2, 3, 6, 7]),
        group("my shirt", &[3, 4]),
    ];
    assert_eq!(read(&text).groups, expected, "in order of first mention");
}
