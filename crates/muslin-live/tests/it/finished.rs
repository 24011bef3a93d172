//! The files of a finished run, over the requests that the page sends.

use std::path::PathBuf;

use muslin::parallel::Team;
use muslin_io::npy_bytes;
use muslin_live::Live;
use serde_json::{Value, json};

fn live() -> Live {
    Live::new(PathBuf::new(), Box::new(Team::new), || 0.0, 1)
}

fn call(live: &mut Live, request: Value) -> Value {
    serde_json::from_str(&live.call(&request.to_string())).expect("a reply is JSON")
}

/// The head of a buffer and the words of its sections.
fn binary(live: &mut Live, request: Value) -> (Value, impl Fn(&str) -> Option<Vec<[u8; 4]>> + use<>) {
    let bytes = live.binary(&request.to_string());
    let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
    let head: Value = serde_json::from_slice(&bytes[4..4 + length]).expect("the head is JSON");
    let sections = head["sections"].clone();
    let words = move |name: &str| {
        let section = sections.as_array()?.iter().find(|section| section["name"] == name)?;
        let [offset, length] = ["offset", "length"].map(|key| section[key].as_u64().expect("a number") as usize);
        Some(bytes[offset..offset + 4 * length].chunks_exact(4).map(|w| w.try_into().expect("four")).collect())
    };
    (head, words)
}

fn floats(words: Option<Vec<[u8; 4]>>) -> Option<Vec<f32>> {
    Some(words?.into_iter().map(f32::from_le_bytes).collect())
}

fn put(live: &mut Live, name: &str, bytes: impl Into<Vec<u8>>) {
    live.put_file(name, bytes.into()).expect("a small file");
}

#[test]
fn the_header_of_a_cache_says_where_its_frames_are() {
    let mut live = live();
    let file = npy_bytes(&vec![vec![[1.0, 2.0, 3.0]; 4]; 3]);
    let asked = |bytes: usize| json!({ "do": "npy", "file": "sheet.npy", "bytes": bytes });
    for (bytes, whole) in [(file.len(), 3), (file.len() - 1, 2), (file.len() + 7, 3), (0, 0)] {
        put(&mut live, "sheet.npy", &file[..128]);
        let reply = call(&mut live, asked(bytes));
        let expected =
            json!({ "ok": true, "start": 128, "frame_bytes": 48, "vertices": 4, "frames": 3, "whole": whole });
        assert_eq!(reply, expected, "{bytes} bytes");
    }
    let again = call(&mut live, asked(0));
    assert_eq!(again["message"], "there is no file sheet.npy here; put it first", "it was read once");
    put(&mut live, "sheet.npy", *b"PK");
    let wrong = call(&mut live, asked(2));
    assert_eq!(wrong["message"], "cannot read sheet.npy: it is not a .npy file of version 1.0");
}

#[test]
fn a_mesh_comes_with_the_texture_that_its_vertices_have() {
    let mut live = live();
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    let mut read = |text: String| {
        put(&mut live, "sheet.obj", text);
        binary(&mut live, json!({ "do": "obj", "file": "sheet.obj" }))
    };
    // Numbered otherwise than the vertices, and still one for each.
    let (_, words) = read(format!("{square}f 1/4 2/3 3/2 4/1\n"));
    assert_eq!(floats(words("positions")).expect("positions").len(), 12);
    assert_eq!(words("triangles").expect("triangles").len(), 6, "a square is cut in two");
    assert_eq!(floats(words("uv")), Some(vec![0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
    let (_, words) = read(format!("{square}f 1/1 2/2 3/3\nf 1/4 3/3 4/4\n"));
    assert_eq!(words("uv"), None, "vertex 1 lies on a seam");
    let (head, _) = read("v 0 0 0\nf 1 2 3\n".to_owned());
    assert!(head["message"].as_str().is_some_and(|m| m.starts_with("cannot read sheet.obj: line 2: ")), "{head}");
    let (head, _) = read("v 0 0 0\n".to_owned());
    assert_eq!(head["ok"], false, "a mesh has faces: {head}");
}

/// A still plane, a sphere and a capsule on paths, and a cloth that touches none of them.
const MOVING: &str = "
    fps = 50
    [[cloth]]
    grid = { size = [1, 1], cells = [1, 1] }
    translate = [0, 100, 0]
    [[collider]]
    plane = { point = [0, 0, 0], normal = [0, 1, 0] }
    [[collider]]
    sphere = { center = [0.3, 0.5, 0], radius = 0.2 }
    path = [{ time = 0 }, { time = 0.1, offset = [0, 0.2, 0], turn = 50 }]
    axis = [1, 1, 0]
    ease = 'smooth'
    [[collider]]
    capsule = { a = [0, 0, 0], b = [0, 1, 0], radius = 0.1 }
    path = [{ time = 0.05 }, { time = 0.2, turn = 90 }]
    center = [1, 0, 0]
";

#[test]
fn poses_of_all_frames_are_those_of_the_simulation() {
    let mut live = live();
    assert_eq!(call(&mut live, json!({ "do": "open", "toml": MOVING }))["ok"], true);
    let (head, words) = binary(&mut live, json!({ "do": "poses", "frames": 16 }));
    assert_eq!(head["colliders"], json!([1, 2]), "the plane stands still");
    let poses = floats(words("poses")).expect("poses");
    assert_eq!(poses.len(), 16 * 2 * 12);
    for (frame, of_frame) in poses.chunks_exact(24).enumerate() {
        let (head, _) = binary(&mut live, json!({ "do": "frame", "advance": usize::from(frame > 0) }));
        assert_eq!(head["frame"], frame);
        for (k, collider) in [1, 2].into_iter().enumerate() {
            let simulated =
                head["poses"][collider].as_array().expect("a pose").iter().map(|x| x.as_f64().expect("a number"));
            for (found, expected) in of_frame[12 * k..12 * (k + 1)].iter().zip(simulated) {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-6,
                    "frame {frame}, collider {collider}: {found}, {expected}"
                );
            }
        }
    }
    let (head, _) = binary(&mut live, json!({ "do": "poses", "frames": 1_u64 << 60 }));
    assert_eq!(head["message"], "the poses of 2 colliders in 1152921504606846976 frames are too many");
}
