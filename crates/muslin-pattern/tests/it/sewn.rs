//! Seams closed around a body.

use muslin_figure::Figure;
use muslin_pattern::{BUILT_IN, Body, Pattern, Sewn, Standing};

fn figure_mesh() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let figure = Figure::new();
    (figure.rest_positions().to_vec(), figure.triangles().to_vec())
}

fn sewn(json: &str, clearance: f64) -> (Sewn, usize) {
    let (positions, triangles) = figure_mesh();
    let standing = Standing::of(&positions).expect("a figure that stands");
    let reading = Pattern::from_json(json, &Default::default()).expect("a pattern");
    let mesh = reading.pattern.mesh(0.03).expect("a mesh");
    let mut garment = reading.pattern.assemble(&mesh);
    let body = Body { positions: &positions, triangles: &triangles, limbs: &standing.limbs };
    reading.pattern.wrap(&mut garment, &body, clearance);
    let apart = garment.positions.len();
    (garment.sewn(Some((&body, clearance))), apart)
}

#[test]
fn every_seam_is_one_line_and_every_triangle_keeps_its_flat_shape() {
    for pattern in BUILT_IN {
        let (sewn, apart) = sewn(pattern.json, 0.005);
        assert!(sewn.positions.len() < apart, "{}", pattern.name);
        assert_eq!(sewn.uv.len(), apart, "{}: flat it is in pieces", pattern.name);
        for seam in &sewn.seams {
            let [a, b] = &seam.chains;
            let joined = a.iter().zip(b).all(|(&a, &b)| sewn.vertices[a as usize] == sewn.vertices[b as usize]);
            assert!(joined, "{}: {}", pattern.name, seam.name);
        }
        for (corners, flat) in sewn.triangles.iter().zip(&sewn.uv_triangles) {
            assert_eq!(flat.map(|v| sewn.vertices[v as usize]), *corners, "{}", pattern.name);
            assert!(corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0]);
        }
        // An edge belongs to two triangles at most: what is sewn is a surface.
        let mut edges: Vec<[u32; 2]> = sewn
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        let most = edges.chunk_by(|a, b| a == b).map(<[_]>::len).max();
        assert_eq!(most, Some(2), "{}", pattern.name);
    }
}

#[test]
fn limbs_of_a_figure_are_found_where_they_are() {
    let (positions, _) = figure_mesh();
    let standing = Standing::of(&positions).expect("a figure that stands");
    let labels: Vec<&str> = standing.limbs.iter().map(|limb| limb.label.as_str()).collect();
    assert_eq!(labels, ["body", "arm_left", "leg_left", "arm_right", "leg_right"]);
    for limb in &standing.limbs[1..] {
        let side = if limb.label.ends_with("left") { 1.0 } else { -1.0 };
        assert!(limb.axis.iter().all(|end| side * end[0] > 0.05), "{limb:?}");
    }
    let arm = &standing.limbs[1].axis;
    let slope = (arm[0][1] - arm[1][1]) / (arm[1][0] - arm[0][0]);
    assert!((slope - 0.84).abs() < 0.1, "40 degrees below the level: {slope}");
    assert_eq!(Standing::of(&positions[..4]), None, "that is no body");
}

#[test]
fn the_same_body_gives_the_same_places() {
    let json = BUILT_IN[2].json;
    assert_eq!(sewn(json, 0.005).0, sewn(json, 0.005).0);
}

#[test]
fn a_stitch_in_the_wrong_direction_is_named() {
    let twisted = |json: &str| {
        let pattern = Pattern::from_json(json, &Default::default()).expect("a pattern").pattern;
        let garment = pattern.assemble(&pattern.mesh(0.05).expect("a mesh"));
        garment.sewn(None).twisted().iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    for pattern in BUILT_IN {
        assert_eq!(twisted(pattern.json), [] as [String; 0], "{}", pattern.name);
    }
    // The last stitch from start to start.
    let last = "{\"panel\": \"back\", \"edge\": 2}";
    let wrong = super::SQUARES.replace(last, &format!("{last}, \"right_wrong\""));
    assert_eq!(twisted(&wrong).len(), 1, "{wrong}");
}
