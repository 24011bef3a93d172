use std::path::PathBuf;

use muslin::parallel::Team;
use muslin_live::Live;
use serde_json::{Value, json};

fn live() -> Live {
    Live::new(PathBuf::new(), Box::new(Team::new), || 0.0, 1)
}

fn call(live: &mut Live, request: Value) -> Value {
    serde_json::from_str(&live.call(&request.to_string())).expect("a reply is JSON")
}

/// A request that must succeed.
fn done(live: &mut Live, request: Value) -> Value {
    let reply = call(live, request.clone());
    assert_eq!(reply["ok"], true, "{request}: {reply}");
    reply
}

struct Frame {
    head: Value,
    positions: Vec<[f32; 3]>,
    color: Vec<f32>,
}

fn frame(live: &mut Live, request: Value) -> Frame {
    let bytes = live.binary(&request.to_string());
    let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
    let head: Value = serde_json::from_slice(&bytes[4..4 + length]).expect("the head is JSON");
    let floats = |name: &str| -> Vec<f32> {
        let sections = head["sections"].as_array().expect("sections");
        let Some(section) = sections.iter().find(|section| section["name"] == name) else { return Vec::new() };
        let [offset, length] = ["offset", "length"].map(|key| section[key].as_u64().expect("a number") as usize);
        let words = bytes[offset..offset + 4 * length].chunks_exact(4);
        words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    };
    let positions = floats("positions").chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    Frame { positions, color: floats("color"), head }
}

fn advance(live: &mut Live, frames: usize) -> Frame {
    let frame = frame(live, json!({ "do": "frame", "advance": frames, "color": "strain" }));
    assert_eq!(frame.head["ok"], true, "{}", frame.head);
    frame
}

const SHEET: &str = "
    name = 'sheet'
    solver = { kind = 'xpbd', substeps = 10 }
    [[cloth]]
    grid = { size = [1, 1], cells = [8, 8] }
    translate = [0, 1, 0]
    pins = [{ select = 'x_min' }]
    [[collider]]
    sphere = { center = [0.2, 0.5, 0], radius = 0.2 }
";

fn sheet() -> Live {
    let mut live = live();
    done(&mut live, json!({ "do": "open", "toml": SHEET }));
    live
}

#[test]
fn every_builtin_opens_and_moves() {
    let mut live = live();
    let scenes = done(&mut live, json!({ "do": "scenes" }));
    for scene in scenes["scenes"].as_array().unwrap() {
        let opened = done(&mut live, json!({ "do": "open", "scene": scene["name"] }));
        let before = frame(&mut live, json!({ "do": "frame" }));
        let after = advance(&mut live, 1);
        assert_eq!(opened["scene"]["vertices"], before.positions.len(), "{scene}");
        assert_eq!(after.color.len(), after.positions.len(), "{scene}");
        assert_ne!(before.positions, after.positions, "{scene}");
        assert_eq!(after.head["frame"], 1, "{scene}");
    }
}

#[test]
fn the_motion_is_that_of_the_scene_and_of_its_exported_text() {
    let scene = muslin::scene::parse(SHEET, &[]).into_result().unwrap();
    let mut simulation = muslin::Simulation::new(&scene, 1, &mut |file| Err(file.to_owned())).unwrap();
    for _ in 0..20 {
        simulation.advance().unwrap();
    }
    let expected = format!("{:016x}", simulation.state().hash());

    let mut live = sheet();
    advance(&mut live, 20);
    assert_eq!(done(&mut live, json!({ "do": "hash" })), json!({ "ok": true, "hash": expected, "frame": 20 }));

    done(&mut live, json!({ "do": "set", "sets": ["cloth.0.material.density=0.7", "solver.kind=pbd"] }));
    done(&mut live, json!({ "do": "pin", "vertex": 44 }));
    let text = done(&mut live, json!({ "do": "toml" }))["toml"].clone();
    done(&mut live, json!({ "do": "reset" }));
    advance(&mut live, 20);
    let reset = done(&mut live, json!({ "do": "hash" }));
    done(&mut live, json!({ "do": "open", "toml": text }));
    advance(&mut live, 20);
    assert_eq!(done(&mut live, json!({ "do": "hash" })), reset, "the exported scene runs to the same state");
    assert_ne!(reset["hash"], expected, "and not to that of the first one");
}

#[test]
fn a_grab_takes_a_vertex_along_and_a_release_lets_it_fall() {
    let mut live = sheet();
    let start = advance(&mut live, 3).positions[80];
    done(&mut live, json!({ "do": "grab", "vertices": [80] }));
    done(&mut live, json!({ "do": "drag", "offset": [0.0, 0.3, 0.1] }));
    let held = advance(&mut live, 10).positions[80];
    for (axis, offset) in [0.0, 0.3, 0.1].into_iter().enumerate() {
        assert!((held[axis] - start[axis] - offset).abs() < 1e-6, "{start:?} to {held:?}");
    }
    done(&mut live, json!({ "do": "release" }));
    let released = advance(&mut live, 10).positions[80];
    assert!(released[1] < held[1] - 0.05, "{held:?} to {released:?}");
}

#[test]
fn a_hand_is_no_faster_than_an_arm() {
    let mut live = sheet();
    let start = frame(&mut live, json!({ "do": "frame" })).positions[80];
    done(&mut live, json!({ "do": "grab", "vertices": [80] }));
    done(&mut live, json!({ "do": "drag", "offset": [0.0, 100.0, 0.0] }));
    let after = advance(&mut live, 1).positions[80];
    // 5 m/s for a sixtieth of a second.
    assert!((after[1] - start[1] - 5.0 / 60.0).abs() < 1e-6, "{start:?} to {after:?}");
}

#[test]
fn pins_hold_where_a_vertex_is_and_from_the_start_on_after_a_reset() {
    let mut live = sheet();
    let start = frame(&mut live, json!({ "do": "frame" })).positions[80];
    let place = advance(&mut live, 5).positions[80];
    assert!(place[1] < start[1], "it falls");
    let reply = done(&mut live, json!({ "do": "pin", "vertex": 80 }));
    assert!(reply["scene"]["pinned"].as_array().unwrap().contains(&json!(80)), "{reply}");
    assert_eq!(advance(&mut live, 10).positions[80], place);
    // A change in between lets it hold where it is.
    assert_eq!(done(&mut live, json!({ "do": "set", "sets": ["gravity=[0,-3,0]"] }))["applied"], "now");
    assert_eq!(advance(&mut live, 5).positions[80], place);
    done(&mut live, json!({ "do": "reset" }));
    assert_eq!(advance(&mut live, 5).positions[80], start);

    // Of a named selection one vertex is freed, the others stay.
    let reply = done(&mut live, json!({ "do": "unpin", "vertex": 0 }));
    assert_eq!(reply["scene"]["pinned"].as_array().unwrap().len(), 9, "8 of the border and the one");
    let after = advance(&mut live, 20).positions;
    assert!(after[0][1] < start[1] - 1e-3, "it is free: {:?}", after[0]);
    assert_eq!(after[9][1], 1.0, "its neighbour is not");
}

#[test]
fn a_change_goes_on_or_begins_again_and_says_which() {
    let mut live = sheet();
    advance(&mut live, 5);
    for (set, applied) in [
        ("gravity=[0,-2,0]", "now"),
        ("wind={ velocity = [1, 0, 0] }", "now"),
        ("cloth.0.material.stretch.stiffness=500", "now"),
        ("cloth.0.material.stretch.compliance=1e-3", "now"),
        ("cloth.0.material.bend.model=\"dihedral\"", "now"),
        ("cloth.0.material.fabric=wool", "now"),
        ("solver.kind=newton", "now"),
        ("solver.kind=\"vbd\"", "now"),
        ("solver.iterations=3", "now"),
        ("collider.0.sphere.radius=0.25", "now"),
        ("contact.thickness=0.01", "now"),
        ("contact.self_contact=true", "restart"),
        ("cloth.0.grid.cells=[4,4]", "restart"),
        ("cloth.0.translate=[0,2,0]", "restart"),
        ("fps=30", "restart"),
    ] {
        let before = frame(&mut live, json!({ "do": "frame" }));
        let reply = done(&mut live, json!({ "do": "set", "sets": [set] }));
        assert_eq!(reply["applied"], applied, "{set}: {reply}");
        assert_eq!(reply["why"].is_string(), applied == "restart", "{set}");
        let after = frame(&mut live, json!({ "do": "frame" }));
        if applied == "now" {
            assert_eq!(after.positions, before.positions, "{set}");
        }
        assert_eq!(
            after.head["frame"],
            if applied == "now" { before.head["frame"].clone() } else { json!(0) },
            "{set}"
        );
        advance(&mut live, 1);
    }
}

#[test]
fn what_is_wrong_is_refused_with_the_librarys_words_and_changes_nothing() {
    let mut live = sheet();
    advance(&mut live, 2);
    let before = done(&mut live, json!({ "do": "toml" }));
    let refused = call(&mut live, json!({ "do": "set", "sets": ["solver.iterations=2", "solver.substeps=0"] }));
    assert_eq!(
        refused,
        json!({
            "ok": false,
            "message": "solver.substeps: must be a whole number from 1 to 10000, got 0",
            "findings": [{
                "severity": "error",
                "place": "solver.substeps",
                "message": "must be a whole number from 1 to 10000, got 0",
            }],
        })
    );
    for request in [
        json!({ "do": "set", "sets": ["nonsense"] }),
        json!({ "do": "set", "sets": ["solver.kind=\"nothing\""] }),
        json!({ "do": "set", "sets": ["cloth.7.scale=2"] }),
        json!({ "do": "set", "sets": ["cloth.0.mesh='a.obj'"] }),
        json!({ "do": "set", "sets": 3 }),
        json!({ "do": "open", "scene": "drap" }),
        json!({ "do": "open" }),
        json!({ "do": "grab", "vertices": [81] }),
        json!({ "do": "grab", "vertices": [-1] }),
        json!({ "do": "pin" }),
        json!({ "do": "drag", "offset": [0, 0] }),
        json!({ "do": "drag", "offset": [0, 0, 1e300] }),
        json!({ "do": "move", "collider": 1, "offset": [0, 0, 0] }),
        json!({ "do": "fly" }),
        json!([]),
    ] {
        let reply = call(&mut live, request.clone());
        assert_eq!(reply["ok"], false, "{request}");
        assert!(reply["message"].as_str().is_some_and(|message| message.len() > 10), "{request}: {reply}");
    }
    let reply: Value = serde_json::from_str(&live.call("{")).unwrap();
    assert!(reply["message"].as_str().unwrap().starts_with("the request is not JSON"), "{reply}");
    assert_eq!(frame(&mut live, json!({ "do": "frame", "color": "blue" })).head["ok"], false);
    assert_eq!(frame(&mut live, json!({ "do": "frame", "advance": -1 })).head["ok"], false);
    assert_eq!(done(&mut live, json!({ "do": "toml" })), before);
    assert_eq!(advance(&mut live, 1).head["frame"], 3);
}

#[test]
fn a_collider_that_is_moved_pushes_the_cloth_and_stays_in_the_scene() {
    let mut live = sheet();
    advance(&mut live, 10);
    done(&mut live, json!({ "do": "move", "collider": 0, "offset": [0.0, 0.6, 0.0] }));
    let pushed = advance(&mut live, 30);
    let pose = &pushed.head["poses"][0];
    assert!((pose[7].as_f64().unwrap() - 0.6).abs() < 1e-12, "{pose}");
    let highest = pushed.positions.iter().map(|p| p[1]).fold(0.0, f32::max);
    assert!(highest > 1.25, "the ball has pushed the cloth up: {highest}");
    let distance = |p: &[f32; 3]| (p[0] - 0.2).hypot(p[1] - 1.1).hypot(p[2]);
    let nearest = pushed.positions.iter().map(distance).fold(f32::INFINITY, f32::min);
    assert!(nearest > 0.2, "and is not in it: {nearest}");
    let scene = done(&mut live, json!({ "do": "drop", "collider": 0 }))["scene"].clone();
    assert_eq!(scene["values"]["collider"][0]["sphere"]["center"], json!([0.2, 1.1, 0.0]));
    // A rebuilt simulation has it at the same place.
    done(&mut live, json!({ "do": "set", "sets": ["gravity=[0,-9,0]"] }));
    let after = frame(&mut live, json!({ "do": "frame" }));
    assert!(after.head["poses"][0][7].as_f64().unwrap().abs() < 1e-12, "{}", after.head["poses"]);
    // And moves on from there.
    done(&mut live, json!({ "do": "move", "collider": 0, "offset": [0.0, 0.1, 0.0] }));
    assert!((advance(&mut live, 10).head["poses"][0][7].as_f64().unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn a_hand_cannot_force_cloth_through_a_mesh() {
    let mut live = live();
    live.put_file("plate.obj", b"v -2 0.5 -2\nv 2 0.5 -2\nv 0 0.5 3\nf 1 3 2\n".to_vec());
    let text = SHEET.replace("sphere = { center = [0.2, 0.5, 0], radius = 0.2 }", "mesh = { file = 'plate.obj' }");
    done(&mut live, json!({ "do": "open", "toml": text }));
    done(&mut live, json!({ "do": "grab", "vertices": [80, 79, 71, 70] }));
    done(&mut live, json!({ "do": "drag", "offset": [0.0, -2.0, 0.0] }));
    for _ in 0..40 {
        let lowest = advance(&mut live, 1).positions.iter().map(|p| p[1]).fold(f32::INFINITY, f32::min);
        assert!(lowest > 0.5, "{lowest}");
    }
    done(&mut live, json!({ "do": "drag", "offset": [0.0, 0.2, 0.0] }));
    let back = advance(&mut live, 40).positions[80];
    assert!((back[1] - 1.2).abs() < 1e-5, "the hand can turn back: {back:?}");
}

#[test]
fn a_scene_beyond_the_memory_is_refused_and_the_old_one_goes_on() {
    let mut live = Live::new(PathBuf::new(), Box::new(Team::new), || 0.0, 1).with_limit(|| Some(10_000_000));
    done(&mut live, json!({ "do": "open", "toml": SHEET }));
    let refused = call(&mut live, json!({ "do": "set", "sets": ["cloth.0.grid.cells=[999,999]"] }));
    assert_eq!(refused["findings"][0]["place"], "cloth[0].grid", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("which take about 1020 MB of memory"), "{refused}");
    assert_eq!(advance(&mut live, 1).positions.len(), 81);
}

#[test]
fn a_failed_step_keeps_the_last_good_state() {
    let mut live = sheet();
    let good = advance(&mut live, 2).positions;
    done(&mut live, json!({ "do": "set", "sets": ["solver={ kind = 'explicit', substeps = 1 }"] }));
    let mut failed = frame(&mut live, json!({ "do": "frame", "advance": 1 }));
    for _ in 0..50 {
        if failed.head["ok"] == false {
            break;
        }
        failed = frame(&mut live, json!({ "do": "frame", "advance": 1 }));
    }
    assert_eq!(failed.head["ok"], false, "an explicit step that is far too long");
    assert!(failed.head["message"].as_str().unwrap().contains("stability limit"), "{}", failed.head);
    assert_eq!(failed.positions.len(), good.len());
    assert!(failed.positions.iter().flatten().all(|x| x.is_finite()), "a good state");
    done(&mut live, json!({ "do": "reset" }));
    done(&mut live, json!({ "do": "set", "sets": ["solver.kind=xpbd"] }));
    advance(&mut live, 2);
}

#[test]
fn the_mesh_is_given_as_binary_gltf() {
    let mut live = sheet();
    let state = advance(&mut live, 7).positions;
    let bytes = live.binary(&json!({ "do": "glb" }).to_string());
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    let section = &head["sections"][0];
    let [offset, length] = ["offset", "length"].map(|key| section[key].as_u64().unwrap() as usize);
    let mesh = muslin_io::read_glb(&bytes[offset..offset + length]).unwrap();
    assert_eq!(mesh.positions(0.0), state);
    assert_eq!(mesh.triangles.len(), 128);
}
