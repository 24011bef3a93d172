//! GLB files read back: our own, and small ones made by hand.

use muslin_io::{Clip, Frames, GlbError, GlbMesh, RestMesh, export, find_format, read_glb};
use serde_json::{Value, json};

/// A file of a JSON part and a binary part.
fn glb(json: &Value, binary: &[u8]) -> Vec<u8> {
    let mut json = json.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend((28 + json.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, content) in [(b"JSON", json.as_slice()), (b"BIN\0", binary)] {
        out.extend((content.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(content);
    }
    out
}

/// One triangle in a view with a stride, with indices of 16 bits, under two nodes, of which the upper turns and the lower moves by steps.
fn turning() -> (Value, Vec<u8>) {
    let mut binary = Vec::new();
    let mut floats = |values: &[f32]| {
        let start = binary.len();
        values.iter().for_each(|value| binary.extend(value.to_le_bytes()));
        start
    };
    // Positions, each followed by a number that is not theirs.
    floats(&[0.0, 0.0, 0.0, 9.0, 1.0, 0.0, 0.0, 9.0, 0.0, 0.0, 1.0, 9.0]);
    let half = 0.5_f32.sqrt();
    floats(&[0.0, 1.0]); // times, at 48
    floats(&[0.0, 0.0, 0.0, 1.0, 0.0, half, 0.0, half]); // a quarter about y, at 56
    floats(&[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]); // up by two, at 88
    binary.extend([0, 0, 1, 0, 2, 0, 0, 0]); // at 112
    let view = |start: usize, length: usize| json!({ "buffer": 0, "byteOffset": start, "byteLength": length });
    let mut strided = view(0, 48);
    strided["byteStride"] = json!(16);
    let accessor = |view: usize, count: usize, kind: &str, component: u32| json!({ "bufferView": view, "count": count, "type": kind, "componentType": component });
    let json = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [1] }],
        "nodes": [
            { "mesh": 0, "scale": [2.0, 1.0, 1.0] },
            { "children": [0], "translation": [10.0, 0.0, 0.0] },
        ],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 4 }] }],
        "buffers": [{ "byteLength": binary.len() }],
        "bufferViews": [strided, view(48, 8), view(56, 32), view(88, 24), view(112, 6)],
        "accessors": [
            accessor(0, 3, "VEC3", 5126), accessor(1, 2, "SCALAR", 5126), accessor(2, 2, "VEC4", 5126),
            accessor(3, 2, "VEC3", 5126), accessor(4, 3, "SCALAR", 5123),
        ],
        "animations": [{
            "samplers": [{ "input": 1, "output": 2 }, { "input": 1, "output": 3, "interpolation": "STEP" }],
            "channels": [
                { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
                { "sampler": 1, "target": { "node": 0, "path": "translation" } },
            ],
        }],
    });
    (json, binary)
}

fn near(found: [f32; 3], expected: [f64; 3]) -> bool {
    (0..3).all(|k| (f64::from(found[k]) - expected[k]).abs() < 1e-6)
}

#[test]
fn nodes_turn_and_move_with_those_above() {
    let (json, binary) = turning();
    let mesh = read_glb(&glb(&json, &binary)).expect("a mesh");
    assert_eq!((mesh.triangles.as_slice(), mesh.vertex_count()), (&[[0, 1, 2]][..], 3));
    assert_eq!(mesh.positions(0.0), [[10.0, 0.0, 0.0], [12.0, 0.0, 0.0], [10.0, 0.0, 1.0]]);
    // Half way: an eighth of a turn about y takes x to (cos, 0, −sin); the step has not come yet.
    let r = 2.0 * 0.5_f64.sqrt();
    assert!(near(mesh.positions(0.5)[1], [10.0 + r, 0.0, -r]), "{:?}", mesh.positions(0.5));
    assert!(near(mesh.positions(1.0)[1], [10.0, 2.0, -2.0]), "{:?}", mesh.positions(1.0));
    let frames = mesh.frames(4.0).expect("frames");
    assert_eq!(frames.len(), 5);
    assert_eq!(frames[2], mesh.positions(0.5));
}

#[test]
fn what_is_not_supported_is_named() {
    let (json, binary) = turning();
    let said = |change: &dyn Fn(&mut Value)| {
        let mut json = json.clone();
        change(&mut json);
        read_glb(&glb(&json, &binary)).expect_err("refused").to_string()
    };
    let draco = said(&|json| json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]));
    assert!(draco.starts_with("it has the extension KHR_draco_mesh_compression, which is not supported"), "{draco}");
    assert!(said(&|json| json["nodes"][0]["skin"] = json!(0)).contains("a skin"));
    let sparse =
        json!({ "count": 1, "indices": { "bufferView": 4, "componentType": 5123 }, "values": { "bufferView": 0 } });
    assert!(said(&|json| json["accessors"][0]["sparse"] = sparse.clone()).contains("a sparse accessor"));
    assert!(said(&|json| json["buffers"][0]["uri"] = json!("a.bin")).contains("a buffer outside"));
    let spline = said(&|json| json["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE"));
    assert!(spline.contains("CUBICSPLINE interpolation"), "{spline}");
    assert!(said(&|json| json["accessors"][0]["componentType"] = json!(5122)).contains("not float32"));
    let lines = said(&|json| json["meshes"][0]["primitives"][0]["mode"] = json!(1));
    assert!(lines.contains("not of triangles"), "{lines}");
}

/// An entry that is not as glTF has it is named with its place.
#[test]
fn broken_entries_are_named() {
    let (json, binary) = turning();
    let cases = [
        ("/nodes/0/scale", json!([1.0, 2.0]), "nodes[0].scale: invalid length 2, expected an array of length 3"),
        ("/nodes/0/mesh", json!(7), "there is no meshes[7]"),
        ("/nodes/0/mesh", json!("x"), "nodes[0].mesh: invalid type: string \"x\", expected index into child of root"),
        (
            "/nodes/1/children/0",
            json!(-1),
            "nodes[1].children[0]: invalid type: integer `-1`, expected index into child of root",
        ),
        ("/nodes/1/children/0", json!(2), "there is no nodes[2]"),
        ("/meshes/0/primitives/0/attributes", json!({ "NORMAL": 0 }), "a primitive has no POSITION"),
        ("/meshes/0/primitives/0/indices", json!(5), "there is no accessors[5]"),
        ("/meshes/0/primitives/0/indices", json!(0), "the indices of its triangles are not whole numbers"),
        ("/accessors/0/bufferView", json!(9), "there is no bufferViews[9]"),
        ("/accessors/0/type", json!("VEC2"), "an accessor is of another type than its use"),
        ("/accessors/0/count", json!(4), "its data are cut off"),
        ("/bufferViews/0/byteLength", json!(null), "bufferViews[0].byteLength: invalid type: null, expected u64"),
        ("/animations/0/channels/0/sampler", json!(2), "there is no animations[0].samplers[2]"),
        ("/animations/0/samplers/0/output", json!(3), "an accessor is of another type than its use"),
        (
            "/animations/0/samplers/1/interpolation",
            json!("SQUARE"),
            "an interpolation of its animation is not one of glTF",
        ),
        ("/asset", json!({}), "asset: missing field `version`"),
    ];
    for (path, value, words) in cases {
        let mut json = json.clone();
        *json.pointer_mut(path).expect(path) = value;
        let error = read_glb(&glb(&json, &binary)).expect_err(words).to_string();
        assert_eq!(error, format!("it is broken: {words}"), "{path}");
    }
}

/// A branch that hangs twice below each node above: small as a file, endless as a scene.
#[test]
fn branches_that_double_are_refused() {
    let (mut json, binary) = turning();
    let nodes: Vec<Value> =
        (0..64).map(|k| json!({ "children": [k + 1, k + 1] })).chain([json!({ "mesh": 0 })]).collect();
    json["nodes"] = json!(nodes);
    json["scenes"] = json!([{ "nodes": [0] }]);
    json["animations"] = json!([]);
    let words = read_glb(&glb(&json, &binary)).expect_err("too many").to_string();
    assert!(words.starts_with("it has more than 65536 nodes in its scene, which is not supported"), "{words}");
}

/// One byte of the JSON or of the lengths is another: a mesh or an error, never a panic.
#[test]
fn no_changed_byte_panics() {
    let (json, binary) = turning();
    let whole = glb(&json, &binary);
    for at in 0..whole.len() {
        for byte in [0, b' ', b'"', b'0', b'9', b'-', b'}', b'[', 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            drop(read_glb(&bytes).map(|mesh| mesh.positions(0.3)));
        }
    }
}

/// Whatever is broken is said, and nothing is read beyond the end.
#[test]
fn broken_files_are_refused() {
    let (json, binary) = turning();
    let whole = glb(&json, &binary);
    assert_eq!(read_glb(b"v 0 0 0").expect_err("an OBJ"), GlbError::NotGlb);
    for length in 0..whole.len() {
        // The last two bytes only fill up.
        assert!(read_glb(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
    let paths = [
        "/accessors/0/count",
        "/accessors/4/byteOffset",
        "/bufferViews/0/byteLength",
        "/bufferViews/1/byteOffset",
        "/bufferViews/0/byteStride",
        "/nodes/0/mesh",
        "/nodes/1/children/0",
        "/meshes/0/primitives/0/indices",
        "/animations/0/samplers/0/input",
        "/animations/0/channels/0/sampler",
        "/accessors/0/bufferView",
    ];
    for path in paths {
        for value in [json!(77), json!(u64::MAX), json!(-1), json!("x"), json!(null), json!(1)] {
            let mut json = json.clone();
            match json.pointer_mut(path) {
                Some(place) => *place = value,
                None => json["accessors"][4]["byteOffset"] = value,
            }
            drop(read_glb(&glb(&json, &binary)).map(|mesh| mesh.positions(0.3)));
        }
    }
    let mut circle = json;
    circle["nodes"][0]["children"] = json!([1]);
    assert_eq!(
        read_glb(&glb(&circle, &binary)).expect_err("a circle").to_string(),
        "it is broken: its nodes are nested in a circle"
    );
}

/// Two triangles with a seam between them, along which the texture is cut: the file repeats both vertices there.
#[test]
fn our_own_files_read_back() {
    let positions: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.1, 1.0]];
    let triangles = [[0, 2, 1], [1, 2, 3]];
    let frame = |k: usize| -> Vec<[f32; 3]> {
        let lift = |p: &[f32; 3]| 0.1 * libm::sinf(3.0 * p[0] + 0.7 * k as f32);
        positions.iter().map(|p| [p[0] + 0.01 * k as f32, p[1] + lift(p), p[2]]).collect()
    };
    let frames: Vec<Vec<[f32; 3]>> = (0..7).map(frame).collect();
    let uv = muslin_io::Uv {
        coordinates: &[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.6, 0.5], [0.7, 0.7]],
        triangles: &[[0, 2, 1], [3, 4, 5]],
    };
    let rest = RestMesh { name: "sheet", positions: &positions, triangles: &triangles, uv: Some(uv), groups: &[] };
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = Frames::new(4);
    frames.iter().for_each(|frame| source.push(frame.clone()).expect("four vertices"));
    let exported = export(find_format("glb").expect("glb"), folder.path(), &rest, &mut source, Clip { fps: 24.0 });
    let bytes = std::fs::read(exported.expect("written").path).expect("read");
    let mesh = read_glb(&bytes).expect("a mesh");
    assert_eq!((mesh.triangles.len(), mesh.vertex_count()), (2, 6));
    let found = mesh.uv.as_ref().expect("texture coordinates");
    for (triangle, expected) in mesh.triangles.iter().zip(uv.triangles) {
        for (&v, &index) in triangle.iter().zip(expected) {
            let (found, expected) = (found[v as usize], uv.coordinates[index as usize]);
            assert!((0..2).all(|k| (found[k] - expected[k]).abs() < 2.0 * f32::EPSILON), "{found:?}, not {expected:?}");
        }
    }
    let mut back = mesh.frames(24.0).expect("frames");
    GlbMesh::drop_copies(&mut back, 5);
    assert_eq!(back[0].len(), 5, "the last alone");
    GlbMesh::drop_copies(&mut back, 4);
    assert_eq!(back.len(), 7);
    for (k, (found, expected)) in back.iter().zip(&frames).enumerate() {
        assert_eq!(found.len(), 4, "frame {k}");
        for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
            // A difference from frame 0 is rounded, and added again; a key may be late by a unit of its time.
            assert!((found - expected).abs() < 4.0 * f32::EPSILON, "frame {k}: {found}, not {expected}");
        }
    }
    // At twice the rate, the frames between are in the middle.
    let twice = mesh.frames(48.0).expect("frames");
    assert_eq!(twice.len(), 13);
    let middle = 0.5 * (frames[2][1][1] + frames[3][1][1]);
    assert!((twice[5][1][1] - middle).abs() < 1e-6, "{} {middle}", twice[5][1][1]);
}
