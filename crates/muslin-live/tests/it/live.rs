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
    bodies: Vec<f32>,
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
    Frame { positions, bodies: floats("bodies"), color: floats("color"), head }
}

fn advance(live: &mut Live, frames: usize) -> Frame {
    let frame = frame(live, json!({ "do": "frame", "advance": frames, "color": "strain" }));
    assert_eq!(frame.head["ok"], true, "{}", frame.head);
    frame
}

/// A triangle below the sheet.
const PLATE: &[u8] = b"v -2 0.5 -2\nv 2 0.5 -2\nv 0 0.5 3\nf 1 3 2\n";

/// The sheet above the plate.
fn over_plate() -> Live {
    let mut live = live();
    live.put_file("plate.obj", PLATE.to_vec()).expect("a small file");
    let text = SHEET.replace("sphere = { center = [0.2, 0.5, 0], radius = 0.2 }", "mesh = { file = 'plate.obj' }");
    done(&mut live, json!({ "do": "open", "toml": text }));
    live
}

const SHEET: &str = "
    name = 'sheet'
    solver = { kind = 'xpbd', substeps = 10 }
    contact = { self_contact = false }
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

/// A name with a dot is a key of an inner table: so it is shown, and so it is set.
#[test]
fn settings_in_an_inner_table_are_shown_and_set() {
    let mut live = sheet();
    let solver = |reply: &Value| reply["scene"]["values"]["solver"].clone();
    let chosen = done(&mut live, json!({ "do": "set", "sets": ["solver.kind=auto"] }));
    let expected = json!({ "kind": "auto", "quality": { "max_strain": 0.01, "motion": 0.01 } });
    assert_eq!(solver(&chosen), expected);
    let set = done(&mut live, json!({ "do": "set", "sets": ["solver.quality.max_strain=0.05"] }));
    assert_eq!(solver(&set), json!({ "kind": "auto", "quality": { "max_strain": 0.05, "motion": 0.01 } }));
    let refused = call(&mut live, json!({ "do": "set", "sets": ["solver.quality.max_strain=2"] }));
    assert_eq!(refused["findings"][0]["place"], "solver.quality.max_strain", "{refused}");
    advance(&mut live, 1);
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
    let mut live = over_plate();
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
    let mut last = frame(&mut live, json!({ "do": "frame" }));
    assert_eq!(last.positions, good, "the state goes over to the other solver");
    let mut before = done(&mut live, json!({ "do": "hash" }));
    let failed = loop {
        let next = frame(&mut live, json!({ "do": "frame", "advance": 1 }));
        if next.head["ok"] == false {
            break next;
        }
        (last, before) = (next, done(&mut live, json!({ "do": "hash" })));
        assert!(before["frame"].as_u64() < Some(60), "an explicit step that is far too long");
    };
    assert!(failed.head["message"].as_str().unwrap().contains("stability limit"), "{}", failed.head);
    assert_eq!(failed.positions, last.positions);
    assert_eq!(done(&mut live, json!({ "do": "hash" })), before);
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

#[test]
fn a_pinned_vertex_stays_where_a_hand_leaves_it() {
    let mut live = sheet();
    // The sheet is pinned at x_min: vertex 0 is one of these.
    done(&mut live, json!({ "do": "grab", "vertices": [0] }));
    done(&mut live, json!({ "do": "drag", "offset": [-0.1, 0.4, 0.0] }));
    let held = advance(&mut live, 20).positions[0];
    done(&mut live, json!({ "do": "release" }));
    let after = advance(&mut live, 5);
    assert_eq!(after.positions[0], held, "nothing takes it back");
    assert!(after.head["stats"]["max_speed"].as_f64().unwrap() < 10.0, "{}", after.head["stats"]);
    done(&mut live, json!({ "do": "reset" }));
    assert_eq!(advance(&mut live, 1).positions[0], [-0.5, 1.0, -0.5], "but a reset does");
}

#[test]
fn another_step_or_solver_does_not_inherit_a_history() {
    let falls = "[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }\nsolver = { kind = 'newton', integrator = 'bdf2', substeps = 1 }";
    let text = falls.replace("[[cloth]]", "cloth = [{").replace("cells = [2, 2] }\n", "cells = [2, 2] } }]\n");
    let mut live = live();
    done(&mut live, json!({ "do": "open", "toml": text }));
    advance(&mut live, 20);
    for set in
        ["solver.substeps=10", "solver.kind=xpbd", "solver={ kind = 'newton', integrator = 'bdf2', substeps = 1 }"]
    {
        let before = frame(&mut live, json!({ "do": "frame" }));
        done(&mut live, json!({ "do": "set", "sets": [set] }));
        let after = advance(&mut live, 1);
        let (speed, fallen) =
            (before.head["stats"]["max_speed"].as_f64().unwrap(), before.positions[0][1] - after.positions[0][1]);
        // Free fall, to the error of a step of the first order.
        let expected = (speed + 0.5 * 9.81 / 60.0) / 60.0;
        assert!((f64::from(fallen) - expected).abs() < 0.6 * 9.81 / 3600.0, "{set}: {fallen} m, not {expected}");
    }
}

#[test]
fn a_mesh_cannot_be_dropped_where_the_cloth_starts() {
    let mut live = over_plate();
    advance(&mut live, 30);
    // Up to where the sheet starts: there it would cut.
    done(&mut live, json!({ "do": "move", "collider": 0, "offset": [0.0, 0.5, 0.0] }));
    let refused = call(&mut live, json!({ "do": "drop", "collider": 0 }));
    assert_eq!(refused["ok"], false, "{refused}");
    done(&mut live, json!({ "do": "set", "sets": ["gravity=[0,-9,0]"] }));
    assert_eq!(advance(&mut live, 30).bodies[1], 0.5, "it goes back to its place");
    done(&mut live, json!({ "do": "reset" }));
    done(&mut live, json!({ "do": "move", "collider": 0, "offset": [0.0, -0.2, 0.0] }));
    let moved = advance(&mut live, 10).head;
    assert_eq!(moved["ok"], true);
    let scene = done(&mut live, json!({ "do": "drop", "collider": 0 }))["scene"].clone();
    assert_eq!(scene["values"]["collider"][0]["mesh"]["translate"], json!([0.0, -0.2, 0.0]));
}

#[test]
fn a_mesh_with_another_path_begins_again() {
    let mut live = over_plate();
    advance(&mut live, 5);
    let set = "collider.0.path=[{ time = 0.0, offset = [0, 0, 0] }, { time = 1.0, offset = [0, 0.4, 0] }]";
    assert_eq!(done(&mut live, json!({ "do": "set", "sets": [set] }))["applied"], "restart");
}

#[test]
fn a_scene_is_opened_with_sets_as_the_command_line_has_them() {
    let mut live = live();
    let text = SHEET.replace("substeps = 10", "substeps = 33");
    let opened = done(&mut live, json!({ "do": "open", "toml": text, "sets": ["solver.kind=pbd"] }));
    assert_eq!(opened["scene"]["values"]["solver"]["substeps"], 33, "a file says more than a default");
    let broken = SHEET.replace("substeps = 10", "substeps = 0");
    done(&mut live, json!({ "do": "open", "toml": broken, "sets": ["solver.substeps=7"] }));
}

#[test]
fn of_several_cloths_the_right_one_is_touched() {
    let mut live = live();
    let one = |name: &str, x: f64| {
        format!("[[cloth]]\nname = '{name}'\ngrid = {{ size = [1, 1], cells = [8, 8] }}\ntranslate = [{x}, 1, 0]\n")
    };
    done(&mut live, json!({ "do": "open", "toml": format!("{}{}", one("a", 0.0), one("b", 2.0)) }));
    let start = frame(&mut live, json!({ "do": "frame" })).positions;
    let reply = done(&mut live, json!({ "do": "pin", "vertex": 81 + 40 }));
    assert_eq!(reply["scene"]["pinned"], json!([121]));
    assert_eq!(reply["scene"]["values"]["cloth"][1]["pins"][0]["vertices"], json!([40]));
    done(&mut live, json!({ "do": "grab", "vertices": [7] }));
    let after = advance(&mut live, 10).positions;
    for (vertex, is_held) in [(121, true), (7, true), (40, false), (88, false)] {
        assert_eq!(after[vertex] == start[vertex], is_held, "vertex {vertex}");
    }
}

#[test]
fn a_pin_that_ends_or_moves_becomes_one_that_holds() {
    let mut live = live();
    let text = SHEET.replace("{ select = 'x_min' }", "{ select = 'x_min', until = 0.05 }");
    done(&mut live, json!({ "do": "open", "toml": text }));
    advance(&mut live, 20);
    done(&mut live, json!({ "do": "pin", "vertex": 0 }));
    done(&mut live, json!({ "do": "reset" }));
    let after = advance(&mut live, 20).positions;
    assert_eq!(after[0], [-0.5, 1.0, -0.5], "it holds from the start on");
    assert!(after[9][1] < 0.99, "the others are let go: {:?}", after[9]);
}

#[test]
fn the_others_of_a_pin_that_turns_keep_their_centre() {
    let mut live = live();
    let path = "path = [{ time = 0.0, turn = 0 }, { time = 1.0, turn = 90 }], axis = [0, 0, 1]";
    let text = SHEET.replace("{ select = 'x_min' }", &format!("{{ vertices = [0, 72], {path} }}"));
    done(&mut live, json!({ "do": "open", "toml": text }));
    let before = advance(&mut live, 30).positions[72];
    done(&mut live, json!({ "do": "unpin", "vertex": 0 }));
    done(&mut live, json!({ "do": "set", "sets": ["gravity=[0,-9,0]"] }));
    let after = advance(&mut live, 1).positions[72];
    let way = (0..3).map(|k| (after[k] - before[k]).powi(2)).sum::<f32>().sqrt();
    assert!(way < 0.02, "{before:?} to {after:?}");
}

#[test]
fn a_confined_one_reads_nothing_outside_of_its_folder() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let scene = |file: &str| json!({ "do": "open", "toml": format!("[[cloth]]\nmesh = '{file}'\n") });
    let message = |live: &mut Live, file: &str| call(live, scene(file))["message"].as_str().unwrap().to_owned();
    let mut free = Live::new(folder.clone(), Box::new(Team::new), || 0.0, 1);
    assert!(
        message(&mut free, "../Cargo.toml").contains("Cargo.toml:1:"),
        "it is read: {}",
        message(&mut free, "../Cargo.toml")
    );
    let mut confined = free.confined(["../README.md".to_owned()].into());
    for file in ["../Cargo.toml", "/etc/passwd", "/dev/zero", "nothing.obj"] {
        assert!(message(&mut confined, file).contains("there is no file"), "{}", message(&mut confined, file));
    }
    assert!(message(&mut confined, "lib.rs").contains("lib.rs:1:"), "inside of the folder");
    assert!(message(&mut confined, "../README.md").contains("cannot read"), "named, though it is not there");
}
