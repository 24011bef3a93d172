//! Bad OBJ files: the words in which they are refused.

use muslin_io::read_obj;

/// Four vertices on lines 1 to 4, and what follows.
macro_rules! square {
    ($rest:literal) => {
        concat!("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n", $rest).as_bytes()
    };
}

/// Bytes, and the error.
const BAD: &[(&[u8], &str)] = &[
    (b"", "line 1: the file is empty; an OBJ file has vertices (v) and faces (f)"),
    (b"\n", "line 2: no face (f) after no vertices; a mesh needs triangles"),
    (b"# only a comment", "line 1: no face (f) after no vertices; a mesh needs triangles"),
    (b"v 0 0 0\nv 1 0 0\n", "line 3: no face (f) after 2 vertices; a mesh needs triangles"),
    (b"v 0 0 0\nf 1 1 2", "line 2: face uses vertex 2, but the file has 1 vertex"),
    (b"f 1 2 3", "line 1: face uses vertex 1, but the file has no vertices"),
    (square!("f 1 2 99"), "line 5: face uses vertex 99, but the file has 4 vertices"),
    (square!("f 1 2 0"), "line 5: face uses vertex 0, but OBJ counts from 1"),
    (square!("f 1 2 -0"), "line 5: face uses vertex 0, but OBJ counts from 1"),
    (square!("f 1 2 -5"), "line 5: face uses vertex -5, but the file has 4 vertices up to this line"),
    (b"f -1 -2 -3\nv 0 0 0\n", "line 1: face uses vertex -1, but the file has no vertices up to this line"),
    (square!("f 1 2 5\nv 0 0 0\nf 1 2 6"), "line 7: face uses vertex 6, but the file has 5 vertices"),
    (
        square!("f 1 2 4294967296"),
        "line 5: face uses a vertex beyond number 4294967295, the last that 32-bit indices can count",
    ),
    (
        square!("f 1 2 99999999999999999999999999"),
        "line 5: face uses a vertex beyond number 4294967295, the last that 32-bit indices can count",
    ),
    (square!("f 1 2 4294967295"), "line 5: face uses vertex 4294967295, but the file has 4 vertices"),
    (square!("f 1/1 2/1 3/1"), "line 5: face uses texture coordinate 1, but the file has no texture coordinates"),
    (square!("vt 0 0\nf 1/0 2/1 3/1"), "line 6: face uses texture coordinate 0, but OBJ counts from 1"),
    (
        square!("vt 0 0\nf 1/-2 2/1 3/1"),
        "line 6: face uses texture coordinate -2, but the file has 1 texture coordinate up to this line",
    ),
    (
        square!("vt 0 0\nf 1/1 2 3/1"),
        "line 6: face has texture coordinates at 2 of its 3 corners; give them at all or at none",
    ),
    (square!("f 1 2"), "line 5: face has 2 corners, but needs at least 3"),
    (square!("f 1 2 3\nf 1"), "line 6: face has 1 corners, but needs at least 3"),
    (square!("f"), "line 5: face has 0 corners, but needs at least 3"),
    (square!("f 1 2 # 3"), "line 5: face has 2 corners, but needs at least 3"),
    (square!("f 1 2 x"), "line 5: face corner \"x\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (square!("f 1 2 3.0"), "line 5: face corner \"3.0\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (square!("f 1 2 /3"), "line 5: face corner \"/3\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (square!("f 1 2 3//n"), "line 5: face corner \"3//n\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (square!("f 1 2 3///4"), "line 5: face corner \"3///4\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (square!("f 1 2 -"), "line 5: face corner \"-\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (square!("f 1 2 \\\n\\\n z"), "line 5: face corner \"z\" is not of the form v, v/vt, v//vn or v/vt/vn"),
    (b"v 0.1 0.2", "line 1: vertex has 2 numbers, but needs 3 to 7"),
    (b"v\n", "line 1: vertex has 0 numbers, but needs 3 to 7"),
    (b"v 1 2 3 4 5 6 7 8", "line 1: vertex has 8 numbers, but needs 3 to 7"),
    (b"vt\n", "line 1: texture coordinate has 0 numbers, but needs 1 to 3"),
    (b"vt 0 0 0 0\n", "line 1: texture coordinate has 4 numbers, but needs 1 to 3"),
    (b"v 0 0 zero", "line 1: vertex has \"zero\" where a number is expected"),
    (b"v 0,5 0 0", "line 1: vertex has \"0,5\" where a number is expected"),
    (b"v 0 0 0x10", "line 1: vertex has \"0x10\" where a number is expected"),
    (b"\r\nv 0 0 nan", "line 2: vertex has the coordinate \"nan\", which is not finite"),
    (b"v 0 -inf 0", "line 1: vertex has the coordinate \"-inf\", which is not finite"),
    (b"v 0 1e999 0", "line 1: vertex has the coordinate \"1e999\", which is not finite"),
    (b"vt 0 NaN", "line 1: texture coordinate has the coordinate \"NaN\", which is not finite"),
    (b"solid cube\nfacet normal", "line 1: unknown keyword \"solid\"; is this an OBJ file?"),
    (b"v 0 0 0\nV 0 0 0", "line 2: unknown keyword \"V\"; is this an OBJ file?"),
    (b"call other.obj", "line 1: unknown keyword \"call\"; is this an OBJ file?"),
    (b"\0\0\0\0", "line 1: unknown keyword \"\\0\\0\\0\\0\"; is this an OBJ file?"),
    (
        b"{\"positions\":[0,0,0,1,0,0,0,1,0]}",
        "line 1: unknown keyword \"{\\\"positions\\\":[0,0,0,1,0,…\"; is this an OBJ file?",
    ),
    (b"v 0 0 0\nv 1 \xff 0", "line 2: byte 0xff in column 5 is not UTF-8 text; is this an OBJ file?"),
    (b"\x89PNG\r\n\x1a\n", "line 1: byte 0x89 in column 1 is not UTF-8 text; is this an OBJ file?"),
    (b"\xff\xfev\0 \x000\0", "line 1: byte 0xff in column 1 is not UTF-8 text; is this an OBJ file?"),
];

#[test]
fn every_bad_file_is_refused_with_its_line() {
    for &(bytes, words) in BAD {
        let text = String::from_utf8_lossy(bytes);
        match read_obj(bytes) {
            Ok(mesh) => panic!("{text:?} was read as {mesh:?}, instead of {words}"),
            Err(error) => assert_eq!(error.to_string(), words, "error of {text:?}"),
        }
    }
}

#[test]
fn a_concave_face_of_too_many_corners_is_refused() {
    let mut text = String::from("v 0 0 0\n");
    for corner in 0..5000 {
        text.push_str(&format!("v {corner} {} 0\n", 1 + corner * (corner % 2)));
    }
    text.push('f');
    for corner in 1..=5001 {
        text.push_str(&format!(" {corner}"));
    }
    let words =
        "line 5002: concave face has 5001 corners, but only up to 4096 are cut into triangles; cut it before export";
    assert_eq!(read_obj(text.as_bytes()).unwrap_err().to_string(), words, "wording");
}
