//! Panels as triangles: seams with equal numbers, outlines kept, triangles nearly equilateral, always the same bits.

use std::collections::BTreeMap;

use muslin_pattern::{BUILT_IN, Limits, MAX_VERTICES, MeshError, Panel, PanelMesh, Pattern, Point};
use serde_json::{Value, json};

use super::SQUARES;

fn read(text: &str) -> Pattern {
    Pattern::from_json(text, &Limits::default()).unwrap_or_else(|error| panic!("{error}")).pattern
}

/// A pattern of one panel with the corners and edges given, in cm.
fn one_panel(vertices: Value, edges: Value, stitches: Value) -> Pattern {
    let panel = json!({ "translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": vertices, "edges": edges });
    let pattern = json!({ "panels": { "panel": panel }, "stitches": stitches });
    read(&json!({ "pattern": pattern, "properties": { "units_in_meter": 100 } }).to_string())
}

fn distance(a: Point, b: Point) -> f64 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

fn area([a, b, c]: [Point; 3]) -> f64 {
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

/// What must be true of every panel: the chains of its edges are the border of its triangles and nothing else is, triangles are counter-clockwise and
/// cover the polygon of the border.
pub(crate) fn check_panel(panel: &Panel, mesh: &PanelMesh) {
    let count: usize = mesh.edges.iter().map(|chain| chain.len() - 1).sum();
    let walked: Vec<u32> = mesh.edges.iter().flat_map(|chain| chain[..chain.len() - 1].iter().copied()).collect();
    assert_eq!(walked, (0..count as u32).collect::<Vec<_>>(), "{}: the outline comes first", panel.name());
    let mut sides = BTreeMap::new();
    let mut covered = 0.0;
    for triangle in &mesh.triangles {
        let doubled = area(triangle.map(|vertex| mesh.points[vertex as usize]));
        assert!(doubled > 0.0, "{}: {triangle:?} is turned over", panel.name());
        covered += doubled;
        for k in 0..3 {
            let twice = sides.insert((triangle[k], triangle[(k + 1) % 3]), ());
            assert!(twice.is_none(), "{}: two triangles on one side of an edge", panel.name());
        }
    }
    let border: Vec<(u32, u32)> = sides.keys().copied().filter(|&(a, b)| !sides.contains_key(&(b, a))).collect();
    let outline: Vec<(u32, u32)> = (0..count as u32).map(|k| (k, (k + 1) % count as u32)).collect();
    let mut sorted = outline.clone();
    sorted.sort_unstable();
    assert_eq!(border, sorted, "{}: vertices were added on the border", panel.name());
    let origin = mesh.points[0];
    let polygon: f64 =
        outline.iter().map(|&(a, b)| area([origin, mesh.points[a as usize], mesh.points[b as usize]])).sum();
    assert!((covered / polygon - 1.0).abs() < 1e-9, "{}: {covered} m² of {polygon} m²", panel.name());
    let used: std::collections::BTreeSet<u32> = mesh.triangles.iter().flatten().copied().collect();
    assert_eq!(used.len(), mesh.points.len(), "{}: a vertex without a triangle", panel.name());
}

#[test]
fn panels_keep_their_outline_at_any_edge_length() {
    for built_in in BUILT_IN {
        let pattern = read(built_in.json);
        for edge_length in [0.012, 0.023, 0.05, 0.1] {
            let mesh = pattern.mesh(edge_length).unwrap();
            pattern.panels().iter().zip(&mesh.panels).for_each(|(panel, mesh)| check_panel(panel, mesh));
        }
    }
}

/// Measured at 1 cm: smallest angles of 28.7° to 34°, means of the smallest angles of 56.7° to 59.1° in panels (51° in strips of 4 cm), sides of 0.63 to 1.44 cm.
#[test]
fn triangles_are_nearly_equilateral() {
    for built_in in BUILT_IN {
        let pattern = read(built_in.json);
        let mesh = pattern.mesh(0.01).unwrap();
        for (panel, mesh) in pattern.panels().iter().zip(&mesh.panels) {
            let quality = mesh.quality();
            let name = format!("{}: {} {quality:?}", built_in.name, panel.name());
            assert!(quality.min_angle.to_degrees() > 28.0, "{name}");
            let is_strip = mesh.points.len() < 500;
            assert!(quality.mean_min_angle.to_degrees() > if is_strip { 50.0 } else { 56.0 }, "{name}");
            assert!(quality.min_length > 0.0062 && quality.max_length < 0.0146, "{name}");
            assert!((quality.mean_length / 0.01 - 1.0).abs() < if is_strip { 0.1 } else { 0.01 }, "{name}");
        }
    }
}

/// Inside, away from the border, most of a large panel is a lattice: nine sides of ten are within 10 % of the edge length.
#[test]
fn the_inside_is_even() {
    let pattern = read(SQUARES);
    let mesh = &pattern.mesh(0.01).unwrap().panels[0];
    let is_inner = |vertex: u32| {
        let [x, y] = mesh.points[vertex as usize];
        x.abs() < 0.17 && (0.03..0.37).contains(&y)
    };
    let (mut count, mut even) = (0, 0);
    for triangle in &mesh.triangles {
        for k in 0..3 {
            let ends = [triangle[k], triangle[(k + 1) % 3]];
            if ends.iter().all(|&end| is_inner(end)) {
                let length = distance(mesh.points[ends[0] as usize], mesh.points[ends[1] as usize]);
                count += 1;
                even += usize::from((0.009..0.011).contains(&length));
            }
        }
    }
    assert!(count > 3000 && even * 10 > count * 9, "{even} of {count}");
}

#[test]
fn the_same_pattern_gives_the_same_bits() {
    for built_in in BUILT_IN {
        let once = read(built_in.json).mesh(0.013).unwrap();
        let bits = |points: &[Point]| points.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
        let twice = std::thread::spawn(|| read(built_in.json).mesh(0.013).unwrap()).join().unwrap();
        for (a, b) in once.panels.iter().zip(&twice.panels) {
            assert_eq!(bits(&a.points), bits(&b.points), "{}", built_in.name);
            assert_eq!(a.triangles, b.triangles, "{}", built_in.name);
        }
    }
}

#[test]
fn edges_are_divided_evenly() {
    let pattern = read(BUILT_IN.iter().find(|pattern| pattern.name == "shirt").unwrap().json);
    let mesh = pattern.mesh(0.01).unwrap();
    for (panel, mesh) in pattern.panels().iter().zip(&mesh.panels) {
        for (edge, chain) in panel.edges().iter().zip(&mesh.edges) {
            let lengths =
                chain.windows(2).map(|side| distance(mesh.points[side[0] as usize], mesh.points[side[1] as usize]));
            let part = edge.curve().length() / (chain.len() - 1) as f64;
            let worst = lengths.map(|length| (length / part - 1.0).abs()).fold(0.0, f64::max);
            assert!(worst < 0.01, "{} {}: {worst}", panel.name(), edge.number());
        }
    }
}

#[test]
fn a_gathered_seam_has_the_numbers_of_its_longer_side() {
    let text =
        SQUARES.replacen("[[-20, 0], [20, 0], [20, 40], [-20, 40]]", "[[-20, 0], [20, 0], [20, 48], [-20, 48]]", 1);
    let mesh = read(&text).mesh(0.01).unwrap();
    for seam in &mesh.seams[..2] {
        assert_eq!(seam.chains.each_ref().map(Vec::len), [49, 49], "{}", seam.name);
    }
    assert_eq!(mesh.panels[1].edges[1].len(), 49, "the shorter side takes the number of the longer");
    assert_eq!(mesh.panels[1].edges[0].len(), 41, "an edge that is not sewn keeps its own");
}

#[test]
fn ends_meet_starts_or_starts_meet() {
    let plain = read(SQUARES).mesh(0.1).unwrap();
    // Edge 1 of the front goes up, edge 3 of the back goes down.
    assert_eq!(plain.seams[0].name, "front.1 + back.3");
    assert_eq!(plain.seams[0].chains, [vec![4, 5, 6, 7, 8], vec![0, 15, 14, 13, 12]]);
    let mut json: Value = serde_json::from_str(SQUARES).unwrap();
    json["pattern"]["stitches"][0].as_array_mut().unwrap().push("right_wrong".into());
    let turned = read(&json.to_string()).mesh(0.1).unwrap();
    assert_eq!(turned.seams[0].chains, [vec![4, 5, 6, 7, 8], vec![12, 13, 14, 15, 0]]);
}

#[test]
fn a_dart_meets_in_its_tip() {
    let edges: Vec<Value> = (0..6).map(|k| json!({ "endpoints": [k, (k + 1) % 6] })).collect();
    let vertices = json!([[0, 0], [20, 0], [20, 20], [11, 20], [10, 8], [9, 20]]);
    let edges = [&edges[..5], &[json!({ "endpoints": [5, 0] })]].concat();
    let pattern =
        one_panel(vertices, edges.into(), json!([[{ "panel": "panel", "edge": 3 }, { "panel": "panel", "edge": 4 }]]));
    let mesh = pattern.mesh(0.01).unwrap();
    check_panel(&pattern.panels()[0], &mesh.panels[0]);
    let [first, second] = &mesh.seams[0].chains;
    assert_eq!((first.len(), first.last()), (13, second.last()), "both end in the tip");
    let garment = pattern.assemble(&mesh);
    assert_eq!(garment.merged()[first[0] as usize], garment.merged()[second[0] as usize]);
}

/// A cone of a twelfth of a circle: its tip has one triangle, which sewing would collapse.
#[test]
fn a_cone_does_not_collapse_in_its_tip() {
    let arc = json!({ "type": "circle", "params": [20, 0, 1] });
    let edges = json!([{ "endpoints": [0, 1] }, { "endpoints": [1, 2], "curvature": arc }, { "endpoints": [2, 0] }]);
    let vertices = json!([[0, 0], [20, 0], [20.0 * 0.75f64.sqrt(), 10]]);
    let stitch = json!([[{ "panel": "panel", "edge": 0 }, { "panel": "panel", "edge": 2 }]]);
    let pattern = one_panel(vertices, edges, stitch);
    for edge_length in [0.005, 0.01, 0.02] {
        let mesh = pattern.mesh(edge_length).unwrap();
        check_panel(&pattern.panels()[0], &mesh.panels[0]);
        let garment = pattern.assemble(&mesh);
        let merged = garment.merged();
        for triangle in &garment.triangles {
            let [a, b, c] = triangle.map(|vertex| merged[vertex as usize]);
            assert!(a != b && b != c && c != a, "{triangle:?} collapses at {edge_length} m");
        }
    }
    let error = pattern.mesh(0.5).unwrap_err();
    assert!(matches!(error, MeshError::Collapses { .. }), "one triangle, two sides of which are sewn: {error}");
}

#[test]
fn a_panel_that_runs_clockwise_faces_the_other_way() {
    let clockwise =
        SQUARES.replacen("[[-20, 0], [20, 0], [20, 40], [-20, 40]]", "[[20, 0], [-20, 0], [-20, 40], [20, 40]]", 1);
    let pattern = read(&clockwise);
    let garment = pattern.assemble(&pattern.mesh(0.05).unwrap());
    assert!(pattern.panels()[0].is_turned());
    let [a, b, c] = garment.triangles[0].map(|vertex| garment.positions[vertex as usize]);
    let normal_z = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    assert!(normal_z < 0.0, "the outer side is −z");
    let corner = |vertex: u32| garment.positions[vertex as usize];
    let hem = &garment.labelled[0];
    assert_eq!(
        (hem.label.as_str(), corner(hem.vertices[0])),
        ("hem", [0.2, 1.0, 0.15]),
        "corners stay where they were"
    );
}

#[test]
fn what_cannot_be_meshed_says_why() {
    let pattern = read(SQUARES);
    for edge_length in [f64::NAN, f64::INFINITY, 0.0, -0.01, 1e-4, 2.0] {
        assert!(matches!(pattern.mesh(edge_length), Err(MeshError::EdgeLength { .. })), "{edge_length}");
    }
    let large = SQUARES.replace("\"units_in_meter\": 100", "\"units_in_meter\": 10");
    let error = read(&large).mesh(0.001).unwrap_err();
    assert!(matches!(error, MeshError::TooManyVertices { count, .. } if count > MAX_VERTICES as u64), "{error}");
    // A sickle of 2 mm: with sides of 15 cm the chords of its two arcs are one.
    let arc = |radius: f64, right: u8| json!({ "type": "circle", "params": [radius, 0, right] });
    let edges =
        json!([{ "endpoints": [0, 1], "curvature": arc(40.0, 1) }, { "endpoints": [1, 0], "curvature": arc(42.0, 0) }]);
    let sickle = one_panel(json!([[0, 0], [20, 0]]), edges, json!([]));
    let error = sickle.mesh(0.15).unwrap_err();
    assert!(matches!(error, MeshError::TooCoarse { edges: [0, 1], .. }), "{error}");
    check_panel(&sickle.panels()[0], &sickle.mesh(0.002).unwrap().panels[0]);
}
