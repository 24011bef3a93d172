use crate::mesh::*;
use proptest::prelude::*;

/// Vertices 0 to 7: two rows of four, a metre apart.
fn ladder(triangles: &[[u32; 3]]) -> Mesh {
    let positions = (0..8).map(|i| [f64::from(i % 4), 0.0, f64::from(i / 4)]).collect();
    Mesh { positions, triangles: triangles.to_vec(), ..Mesh::default() }
}

/// The two triangles of the first square of the ladder, facing up.
const SQUARE: [[u32; 3]; 2] = [[0, 4, 5], [0, 5, 1]];

/// A square on vertices 0 to 3, and nothing else.
fn square() -> Mesh {
    Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward).unwrap()
}

fn with(change: impl FnOnce(&mut Mesh)) -> Mesh {
    let mut mesh = square();
    change(&mut mesh);
    mesh
}

/// A band of `count` quads closed with half a turn.
fn moebius(count: u32) -> Mesh {
    let corner = |i: u32, side: u32| if i < count { 2 * i + side } else { 1 - side };
    let mut mesh = Mesh::default();
    for i in 0..count {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
        for side in [-0.3, 0.3] {
            let (reach, rise) = (1.0 + side * libm::cos(angle / 2.0), side * libm::sin(angle / 2.0));
            mesh.positions.push([reach * libm::cos(angle), rise, reach * libm::sin(angle)]);
        }
        let [a, b, c, d] = [corner(i, 0), corner(i + 1, 0), corner(i + 1, 1), corner(i, 1)];
        mesh.triangles.extend([[a, b, c], [a, c, d]]);
    }
    mesh
}

/// Error and repairable, error, or warning; then the sentence.
fn said(mesh: &Mesh) -> Vec<String> {
    let verdict = |finding: &Finding| match (finding.severity, finding.repairable) {
        (Severity::Error, true) => "mend",
        (Severity::Error, false) => "error",
        (Severity::Warning, _) => "warn",
    };
    check(mesh).iter().map(|finding| format!("{}: {finding}", verdict(finding))).collect()
}

#[test]
fn areas_and_masses_add_up() {
    let mesh = Mesh::grid([0.6, 1.4], [9, 13], Diagonals::Isotropic).unwrap();
    assert!((mesh.total_area() - 0.84).abs() < 1e-14, "{}", mesh.total_area());
    let masses = mesh.lumped_masses(0.2);
    assert!((masses.iter().sum::<f64>() / (0.2 * 0.84) - 1.0).abs() < 1e-12, "mass lost");
    let square = square();
    assert_eq!((square.vertex_count(), square.triangle_count(), square.area(0)), (4, 2, 0.5));
    let sixth = 0.5 / 3.0;
    assert_eq!(square.lumped_masses(1.0), [2.0 * sixth, sixth, sixth, 2.0 * sixth]);
}

#[test]
fn bounds_hold_all_vertices() {
    assert_eq!(Mesh::default().bounds(), None);
    let mesh = Mesh::grid([2.0, 4.0], [3, 3], Diagonals::Forward).unwrap();
    assert_eq!(mesh.bounds(), Some(Bounds { min: [-1.0, 0.0, -2.0], max: [1.0, 0.0, 2.0] }));
}

#[test]
fn every_finding_says_what_is_wrong_and_where() {
    let isolated = "warn: vertex 2 and 3 more belong to no triangle: without mass, nothing moves it";
    let group = Group { name: "hem".to_owned(), triangles: vec![1, 2] };
    let cases: Vec<(Mesh, Vec<&str>)> = vec![
        (square(), vec![]),
        (
            Mesh::default(),
            vec!["error: the mesh has no vertices", "error: the mesh has no triangles: export it with its faces"],
        ),
        (
            with(|mesh| mesh.positions[3][1] = f64::NAN),
            vec!["error: vertex 3 is at [0.5, NaN, 0.5], which is not finite"],
        ),
        (
            with(|mesh| mesh.positions[2][0] = -2e6),
            vec![
                "error: vertex 2 is at [-2000000.0, 0.0, 0.5], but coordinates are limited to 1e6 m, beyond which \
                 single precision cannot resolve cloth: scale the mesh or move it to the origin",
            ],
        ),
        (
            with(|mesh| mesh.triangles[1] = [0, 99, 1]),
            vec![
                "error: triangle 1 uses vertex 99, but the mesh has 4 vertices",
                "warn: vertex 1 belongs to no triangle: without mass, nothing moves it",
            ],
        ),
        (
            with(|mesh| mesh.triangles.push([0, 1, 0])),
            vec!["mend: triangle 2 uses vertex 0 more than once", "error: uv has 2 triangles, but the mesh has 3"],
        ),
        (
            ladder(&[SQUARE[0], SQUARE[1], [1, 2, 3]]),
            vec!["mend: triangle 2 has no area: its vertices 1, 2 and 3 lie on a line", isolated],
        ),
        (
            ladder(&[SQUARE[0], SQUARE[1], [5, 4, 0]]),
            vec!["mend: triangle 2 repeats triangle 0: both join vertices 5, 4 and 0", isolated],
        ),
        (
            ladder(&[[0, 1, 2], [5, 5, 6]]),
            vec![
                "mend: triangle 1 uses vertex 5 more than once",
                "mend: triangle 0 has no area: its vertices 0, 1 and 2 lie on a line",
                "error: no triangle of the mesh is usable: all are without area or repeat another",
                "warn: vertex 0 and 7 more belong to no triangle: without mass, nothing moves it",
            ],
        ),
        (
            ladder(&[SQUARE[0], SQUARE[1], [0, 5, 6]]),
            vec![
                "error: edge 0–5 belongs to 3 triangles (0, 1 and 2), but at most two may meet: split the mesh there",
                "warn: vertex 2 and 2 more belong to no triangle: without mass, nothing moves it",
            ],
        ),
        (
            ladder(&[SQUARE[0], SQUARE[1], [5, 1, 6]]),
            vec![
                "mend: triangles 1 and 2 both run from vertex 5 to vertex 1: one of them is wound the wrong way",
                "warn: vertex 2 and 2 more belong to no triangle: without mass, nothing moves it",
            ],
        ),
        (
            moebius(5),
            vec![
                "error: the surface of triangle 6 has only one side: no winding is consistent across edge 6–9: cut it open",
            ],
        ),
        (
            ladder(&[SQUARE[0], SQUARE[1], [5, 6, 2]]),
            vec![
                "warn: vertex 3 and 1 more belong to no triangle: without mass, nothing moves it",
                "warn: vertex 5 joins triangles that share no edge there: the cloth hangs together by a point",
            ],
        ),
        (
            with(|mesh| mesh.uv.as_mut().unwrap().triangles[1][2] = 7),
            vec!["error: triangle 1 uses uv 7, but the mesh has 4 uv coordinates"],
        ),
        (
            with(|mesh| mesh.uv.as_mut().unwrap().coordinates[3] = [0.5, f64::INFINITY]),
            vec!["error: uv 3 is [0.5, inf], which is not finite"],
        ),
        (
            with(|mesh| mesh.groups.push(group)),
            vec!["error: group \"hem\" names triangle 2, but the mesh has 2 triangles"],
        ),
    ];
    for (mesh, expected) in cases {
        assert_eq!(said(&mesh), expected);
    }
}

#[test]
fn two_cones_that_touch_at_their_tips_are_a_bow_tie() {
    let rim = |i: u32| [libm::cos(f64::from(i) * 2.0), libm::sin(f64::from(i) * 2.0)];
    let mut mesh = Mesh { positions: vec![[0.0; 3]], ..Mesh::default() };
    for (height, first) in [(1.0, 1), (-1.0, 4)] {
        mesh.positions.extend((0..3).map(|i| [rim(i)[0], height, rim(i)[1]]));
        mesh.triangles.extend((0..3).map(|i| [0, first + i, first + (i + 1) % 3]));
    }
    let tip = "warn: vertex 0 joins triangles that share no edge there: the cloth hangs together by a point";
    assert_eq!(said(&mesh), [tip]);
}

#[test]
fn a_broken_mesh_is_described_in_a_few_lines() {
    let mut mesh = Mesh::grid([1.0, 1.0], [20, 20], Diagonals::Forward).unwrap();
    for corners in &mut mesh.triangles[..255] {
        corners[0] = 1000;
    }
    let said = said(&mesh);
    assert_eq!(said[9], "error: triangle 9 uses vertex 1000, but the mesh has 441 vertices");
    assert_eq!(said[10], "error: and 245 more (triangles that use missing vertices)");
    let mut book = ladder(&[]);
    book.positions = (0..14).map(|i| [f64::from(i % 2), f64::from(i * i), f64::from(i)]).collect();
    book.triangles = (2..14).map(|tip| [0, 1, tip]).collect();
    let first = check(&book)[0].to_string();
    assert_eq!(
        first,
        "edge 0–1 belongs to 12 triangles (0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more), but at most two may meet: split the mesh there"
    );
}

#[test]
fn slivers_above_the_threshold_are_kept() {
    for (height, is_sound) in [(2.1e-12, true), (1.9e-12, false)] {
        for scale in [1e-6, 1.0, 1e5] {
            let mut mesh = Mesh { triangles: vec![[0, 1, 2]], ..Mesh::default() };
            mesh.positions = vec![[0.0; 3], [scale, 0.0, 0.0], [0.5 * scale, height * scale, 0.0]];
            assert_eq!(check(&mesh).is_empty(), is_sound, "height {height} at scale {scale}");
        }
    }
}

#[test]
fn a_sound_mesh_needs_no_repair() {
    let mesh = Mesh::tube(0.3, 1.0, [6, 4]).unwrap();
    assert_eq!(repair(&mesh), Ok(Repaired { mesh, notes: vec![] }));
}

#[test]
fn useless_triangles_are_dropped_with_their_uv_and_groups_in_step() {
    let mut mesh = ladder(&[[1, 1, 2], SQUARE[0], [4, 0, 5], [0, 1, 2], SQUARE[1]]);
    let corners: Vec<[u32; 3]> = (0..5).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    mesh.uv = Some(Uv { coordinates: vec![[0.0, 0.0]; 15], triangles: corners.clone() });
    mesh.groups = vec![Group { name: "front".to_owned(), triangles: vec![4, 3, 1] }];
    let repaired = repair(&mesh).unwrap();
    assert_eq!(repaired.mesh.positions, mesh.positions);
    assert_eq!(repaired.mesh.triangles, SQUARE);
    assert_eq!(repaired.mesh.uv.unwrap().triangles, [corners[1], corners[4]]);
    assert_eq!(repaired.mesh.groups[0].triangles, [1, 0]);
    assert_eq!(
        repaired.notes,
        [
            "dropped triangle 0: used a vertex more than once",
            "dropped triangle 3: had no area",
            "dropped triangle 2: repeated another triangle",
        ]
    );
}

#[test]
fn winding_follows_the_majority_of_each_part() {
    let mut mesh = Mesh::grid([1.0, 1.0], [4, 4], Diagonals::Alternating).unwrap();
    let sound = mesh.clone();
    for turned in [0, 7] {
        mesh.triangles[turned].swap(1, 2);
        mesh.uv.as_mut().unwrap().triangles[turned].swap(1, 2);
    }
    let repaired = repair(&mesh).unwrap();
    assert_eq!(repaired.mesh, sound);
    assert_eq!(repaired.notes, ["turned over triangles 0 and 7: wound against most of its surface"]);
    // A tie goes to the first triangle, and a part apart from it has a side of its own.
    let mesh = ladder(&[SQUARE[0], [5, 0, 1], [2, 3, 7]]);
    assert_eq!(repair(&mesh).unwrap().mesh.triangles, [SQUARE[0], [5, 1, 0], [2, 3, 7]]);
}

#[test]
fn what_cannot_be_mended_is_returned_in_the_numbers_of_the_user() {
    let mesh = ladder(&[[1, 1, 2], SQUARE[0], SQUARE[1], [0, 5, 6]]);
    let errors: Vec<String> = repair(&mesh).unwrap_err().iter().map(Finding::to_string).collect();
    assert_eq!(
        errors,
        ["edge 0–5 belongs to 3 triangles (1, 2 and 3), but at most two may meet: split the mesh there"]
    );
    for mesh in [moebius(5), Mesh::default(), ladder(&[[0, 1, 2]])] {
        assert!(repair(&mesh).is_err(), "{:?}", said(&mesh));
    }
    // Cut open, the strip has two sides.
    let mut band = moebius(6);
    band.triangles.truncate(10);
    assert_eq!(repair(&band).map(|repaired| repaired.notes), Ok(vec![]));
}

proptest! {
    #[test]
    fn whatever_the_mesh_nothing_panics_and_a_repair_leaves_no_error(
        heights in prop::collection::vec(prop_oneof![8 => -1.0..1.0, 1 => Just(f64::NAN), 1 => Just(1e300)], 8),
        triangles in prop::collection::vec([0_u32..9, 0_u32..8, 0_u32..8], 0..10),
    ) {
        let mut mesh = ladder(&triangles);
        for (position, height) in mesh.positions.iter_mut().zip(heights) {
            position[1] = height;
        }
        let blocked = check(&mesh).iter().any(|finding| finding.severity == Severity::Error && !finding.repairable);
        let repaired = repair(&mesh);
        prop_assert_eq!(repaired.is_err(), blocked);
        if let Ok(repaired) = repaired {
            let left = check(&repaired.mesh);
            prop_assert!(left.iter().all(|finding| finding.severity == Severity::Warning), "{:?}", left);
        }
    }

    #[test]
    fn a_sheet_with_turned_triangles_is_restored(turned in prop::collection::btree_set(0_usize..50, 0..12)) {
        let sound = Mesh::grid([1.0, 1.0], [5, 5], Diagonals::Backward).unwrap();
        let mut mesh = sound.clone();
        for &triangle in &turned {
            mesh.triangles[triangle].swap(1, 2);
            mesh.uv.as_mut().unwrap().triangles[triangle].swap(1, 2);
        }
        prop_assert_eq!(repair(&mesh).unwrap().mesh, sound);
    }
}
