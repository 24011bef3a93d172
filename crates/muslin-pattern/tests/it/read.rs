//! What stands in a file, old form or new, and what comes out, in metres, y up.

use std::f64::consts::{FRAC_PI_2, PI};

use muslin_pattern::{Curve, EdgeRef, Limits, Panel, Pattern};
use serde_json::{Value, json};

use super::SQUARES;

fn read(json: &Value) -> Pattern {
    Pattern::from_json(&json.to_string(), &Limits::default()).unwrap_or_else(|error| panic!("{error}")).pattern
}

/// A panel with the corners (0, 0), (40, 0), (40, 40), (0, 40), whose edge from corner 1 to corner 2 has the curvature given.
fn curved(curvature: Value, properties: Value) -> Curve {
    let edges = json!([{ "endpoints": [0, 1] }, { "endpoints": [1, 2], "curvature": curvature }, { "endpoints": [2, 3] }, { "endpoints": [3, 0] }]);
    let panel = json!({ "translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [40, 0], [40, 40], [0, 40]], "edges": edges });
    let pattern = read(&json!({ "pattern": { "panels": { "panel": panel } }, "properties": properties }));
    *pattern.panels()[0].edges()[1].curve()
}

fn relative(curvature: Value) -> Curve {
    curved(curvature, json!({ "units_in_meter": 100, "curvature_coords": "relative" }))
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[track_caller]
fn assert_points(found: &[[f64; 2]], expected: &[[f64; 2]]) {
    let all = found.iter().flatten().zip(expected.iter().flatten()).all(|(&a, &b)| is_near(a, b));
    assert!(found.len() == expected.len() && all, "{found:?} is not {expected:?}");
}

#[test]
fn control_points_stand_left_of_their_edge() {
    // The edge goes up, so that left of it is −x: u = 0.25 of the way, v = 0.5 of its length to the left.
    let Curve::Quadratic(points) = relative(json!([0.25, 0.5])) else { panic!("no quadratic curve") };
    assert_points(&points, &[[0.4, 0.0], [0.2, 0.1], [0.4, 0.4]]);
    assert_eq!(
        relative(json!({ "type": "quadratic", "params": [[0.25, 0.5]] })),
        Curve::Quadratic(points),
        "old form and new"
    );
    let Curve::Cubic(points) = relative(json!({ "type": "cubic", "params": [[0.25, -0.25], [0.75, 0.5]] })) else {
        panic!("no cubic curve")
    };
    assert_points(&points, &[[0.4, 0.0], [0.5, 0.1], [0.2, 0.3], [0.4, 0.4]]);
}

#[test]
fn absolute_control_points_are_those_of_the_panel() {
    let properties = json!({ "units_in_meter": 100, "curvature_coords": "absolute" });
    let Curve::Quadratic(points) = curved(json!([20, 10]), properties.clone()) else { panic!("no quadratic curve") };
    assert_points(&points, &[[0.4, 0.0], [0.2, 0.1], [0.4, 0.4]]);
    let cubic = json!({ "type": "cubic", "params": [[50, 10], [20, 30]] });
    let Curve::Cubic(points) = curved(cubic, properties) else { panic!("no cubic curve") };
    assert_points(&points, &[[0.4, 0.0], [0.5, 0.1], [0.2, 0.3], [0.4, 0.4]]);
}

#[test]
fn circles_are_arcs_of_svg() {
    // A half circle to the right of the way up bulges to +x, one to the left to −x.
    let right = relative(json!({ "type": "circle", "params": [20, 0, 1] }));
    assert!(is_near(right.length(), 0.2 * PI) && is_near(right.point(0.5)[0], 0.6), "{right:?}");
    let left = relative(json!({ "type": "circle", "params": [20, false, false] }));
    assert!(is_near(left.length(), 0.2 * PI) && is_near(left.point(0.5)[0], 0.2), "{left:?}");
    let radius = 20.0 * 2f64.sqrt();
    let quarter = relative(json!({ "type": "circle", "params": [radius, 0, 1] }));
    assert!(is_near(quarter.length(), 0.2 * 2f64.sqrt() * FRAC_PI_2), "{quarter:?}");
    let large = relative(json!({ "type": "circle", "params": [radius, 1, 1] }));
    assert!(is_near(large.length(), 3.0 * quarter.length()), "{large:?}");
}

#[test]
fn null_is_no_curvature() {
    assert_eq!(relative(Value::Null), Curve::Line([[0.4, 0.0], [0.4, 0.4]]));
}

#[test]
fn units_scale_lengths_and_places() {
    let cm: Value = serde_json::from_str(SQUARES).unwrap();
    let mut mm = cm.clone();
    mm["properties"]["units_in_meter"] = json!(1000);
    let (cm, mm) = (read(&cm), read(&mm));
    for (a, b) in cm.panels().iter().zip(mm.panels()) {
        assert!(is_near(a.area(), 100.0 * b.area()), "{}", a.name());
        for k in 0..3 {
            assert!(is_near(a.placement().translation[k], 10.0 * b.placement().translation[k]), "{}", a.name());
        }
        for (a, b) in a.edges().iter().zip(b.edges()) {
            assert!(is_near(a.curve().length(), 10.0 * b.curve().length()), "edge {}", a.number());
        }
    }
}

#[test]
fn labels_and_stitches_are_kept() {
    let mut json: Value = serde_json::from_str(SQUARES).unwrap();
    json["pattern"]["stitches"][2].as_array_mut().unwrap().insert(1, "right_wrong".into());
    json["pattern"]["panel_order"] = json!(["front"]);
    let pattern = read(&json);
    let names: Vec<&str> = pattern.panels().iter().map(Panel::name).collect();
    assert_eq!(names, ["front", "back"], "what panel_order leaves out comes last");
    assert_eq!(pattern.panels().iter().map(Panel::label).collect::<Vec<_>>(), [Some("body"), None]);
    assert_eq!(pattern.panels()[1].edges()[0].label(), Some("hem"));
    let stitches = pattern.stitches();
    assert_eq!(stitches[0].sides, [EdgeRef { panel: 0, edge: 1 }, EdgeRef { panel: 1, edge: 3 }]);
    assert_eq!(stitches.iter().map(|stitch| stitch.is_right_to_wrong).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn without_an_order_panels_come_as_in_the_file() {
    let text = SQUARES.replace("\"front\"", "\"zz\"").replace("\"back\"", "\"aa\"");
    let pattern = Pattern::from_json(&text, &Limits::default()).unwrap().pattern;
    assert_eq!(pattern.panels().iter().map(Panel::name).collect::<Vec<_>>(), ["zz", "aa"]);
}

/// Stitches name edges by their numbers in the file, whatever the order of the loop.
#[test]
fn edges_out_of_order_keep_their_numbers() {
    let mut json: Value = serde_json::from_str(SQUARES).unwrap();
    json["pattern"]["panels"]["front"]["edges"].as_array_mut().unwrap().swap(1, 3);
    json["pattern"]["stitches"][0][0]["edge"] = json!(3);
    json["pattern"]["stitches"][1][0]["edge"] = json!(1);
    let reading = Pattern::from_json(&json.to_string(), &Limits::default()).unwrap();
    assert_eq!(
        reading.warnings[0].to_string(),
        "panel \"front\": its edges are out of order; they were sorted into a loop: 0, 3, 2, 1"
    );
    let front = reading.pattern.panels().iter().find(|panel| panel.name() == "front").unwrap();
    assert_eq!(front.edges().iter().map(|edge| edge.number()).collect::<Vec<_>>(), [0, 3, 2, 1]);
    let sides = |pattern: &Pattern| pattern.stitches().iter().map(|stitch| stitch.sides).collect::<Vec<_>>();
    assert!(sides(&reading.pattern).iter().all(|sides| sides[0].edge + sides[1].edge == 4), "sides meet as before");
}

#[test]
fn more_may_be_gathered_if_asked_for() {
    let text = SQUARES.replacen("[20, 40], [-20, 40]]", "[20, 90], [-20, 90]]", 1);
    assert!(Pattern::from_json(&text, &Limits::default()).is_err(), "2.25 is beyond 1.5");
    let reading = Pattern::from_json(&text, &Limits { gather: 2.5 }).unwrap();
    assert_eq!(reading.warnings.len(), 2, "still worth a word");
}
