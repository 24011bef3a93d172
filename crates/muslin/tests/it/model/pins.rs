//! Pins: which vertices they take, where they lead them, and how they let go.

use muslin::Simulation;
use muslin::math::{Mat3, Vec3};
use muslin::mesh::Mesh;

use crate::common::{advance, compiled, position, run, simulation, simulation_of, velocity};

/// A sheet of 4 × 4 cells, 1 m wide, with the given keys and pins.
fn sheet(keys: &str, pins: &str) -> String {
    format!("[[cloth]]\ngrid = {{ size = [1, 1], cells = [4, 4] }}\n{keys}\npins = [ {pins} ]\n")
}

/// The pinned vertices of a scene, as the user numbers them.
fn pinned(text: &str) -> Vec<usize> {
    let model = compiled(text).model;
    let mut pinned: Vec<usize> = model.pinned.iter().map(|p| model.user_vertex(p.vertex as usize).1).collect();
    pinned.sort_unstable();
    pinned
}

#[test]
fn a_pin_takes_the_vertices_that_it_names() {
    let all: Vec<usize> = (0..25).collect();
    let cases: [(&str, Vec<usize>); 11] = [
        ("vertices = [3, 24, 3]", vec![3, 24]),
        (r#"select = "x_min""#, vec![0, 5, 10, 15, 20]),
        (r#"select = "x_max""#, vec![4, 9, 14, 19, 24]),
        (r#"select = "z_min""#, vec![0, 1, 2, 3, 4]),
        (r#"select = "z_max""#, vec![20, 21, 22, 23, 24]),
        (r#"select = "corners""#, vec![0, 4, 20, 24]),
        (r#"select = "all""#, all.clone()),
        // The sheet is flat: every vertex is both lowest and highest.
        (r#"select = "y_min""#, all.clone()),
        (r#"select = "y_max""#, all),
        ("within = { center = [0, 0, 0], radius = 0.26 }", vec![7, 11, 12, 13, 17]),
        ("within = { min = [-1, -1, -0.1], max = [-0.2, 1, 0.3] }", vec![10, 11, 15, 16]),
    ];
    for (selection, expected) in cases {
        assert_eq!(pinned(&sheet("", &format!("{{ {selection} }}"))), expected, "{selection}");
    }
}

#[test]
fn words_mean_the_sheet_before_it_is_placed_and_regions_the_world_after() {
    // Turned by 90° about y, +x points to −z; then 3 m up. The world's z_min is the sheet's x_max.
    let placed = "scale = 0.5\nrotate = [0, 90, 0]\ntranslate = [0, 3, 0]";
    assert_eq!(pinned(&sheet(placed, r#"{ select = "x_max" }"#)), [4, 9, 14, 19, 24]);
    let region = "{ within = { min = [-1, 2.9, -0.26], max = [1, 3.1, -0.24] } }";
    assert_eq!(pinned(&sheet(placed, region)), [4, 9, 14, 19, 24]);
}

#[test]
fn the_first_pin_that_names_a_vertex_keeps_it() {
    let text = sheet(
        "",
        r#"{ vertices = [0, 1] }, { vertices = [1, 2], path = [{ time = 0 }, { time = 1, offset = [0, 1, 0] }] }"#,
    );
    let mut simulation = simulation(&text);
    let start = [0, 1, 2].map(|v| position(&simulation, v));
    run(&mut simulation, 60);
    let rise = [0, 1, 2].map(|v| position(&simulation, v).y - start[v].y);
    assert_eq!(rise, [0.0, 0.0, 1.0], "how far the three vertices rose");
}

/// A helix: half a metre up and 120° about a slanted axis through a point, in 1 s after 0.5 s of waiting.
const HELIX: &str = r#"
    { select = "x_min", axis = [1, 2, 2], center = [0.2, 0.1, 0], ease = "EASE",
      path = [{ time = 0.5 }, { time = 1.5, offset = [0.1, 0.5, -0.2], turn = 120 }] }
"#;

/// Where the path leads a vertex, written down a second time.
fn on_helix(start: Vec3<f64>, time: f64, smooth: bool) -> Vec3<f64> {
    let linear = (time - 0.5).clamp(0.0, 1.0);
    let part = if smooth { linear * linear * (3.0 - 2.0 * linear) } else { linear };
    let center = Vec3::new(0.2, 0.1, 0.0);
    let turn = Mat3::about(Vec3::new(1.0, 2.0, 2.0) * (1.0 / 3.0), part * 120_f64.to_radians());
    center + turn.apply(start - center) + Vec3::new(0.1, 0.5, -0.2) * part
}

#[test]
fn pinned_vertices_are_exactly_on_their_path() {
    for kind in ["xpbd", "pbd"] {
        for ease in ["linear", "smooth"] {
            for (precision, tolerance) in [("f64", 1e-14), ("f32", 1e-7)] {
                let solver = format!("solver = {{ kind = \"{kind}\", precision = \"{precision}\", substeps = 3 }}\n");
                let text = solver + &sheet("rotate = [20, 0, 0]", &HELIX.replace("EASE", ease));
                let mut simulation = simulation(&text);
                let start: Vec<Vec3<f64>> = (0..25).map(|v| position(&simulation, v)).collect();
                for frame in 1..=120 {
                    advance(&mut simulation);
                    for vertex in [0, 5, 10, 15, 20] {
                        let expected = on_helix(start[vertex], f64::from(frame) / 60.0, ease == "smooth");
                        let error = (position(&simulation, vertex) - expected).norm();
                        assert!(
                            error <= tolerance,
                            "{kind} {precision} {ease}, vertex {vertex}, frame {frame}: off by {error:.1e} m"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_pin_without_a_center_turns_about_the_middle_of_its_vertices() {
    let text = sheet("", r#"{ select = "x_min", path = [{ time = 0 }, { time = 1, turn = 180 }] }"#);
    let mut simulation = simulation(&text);
    run(&mut simulation, 60);
    let end = position(&simulation, 0);
    // Vertices 0 and 20 are the ends of the edge x = −0.5: half a turn about y swaps them.
    assert!((end - Vec3::new(-0.5, 0.0, 0.5)).norm() < 1e-6, "vertex 0 was turned to {end:?}");
}

/// Everything led at a constant velocity and let go at 0.5 s.
fn thrown(precision: &str, until: &str) -> Simulation {
    let pin =
        format!(r#"{{ select = "all", {until} path = [{{ time = 0 }}, {{ time = 2, offset = [2, 1, -0.5] }}] }}"#);
    let top = format!("gravity = [0, 0, 0]\nsolver = {{ precision = \"{precision}\" }}\n");
    simulation(&(top + &sheet("", &pin)))
}

#[test]
fn a_released_vertex_keeps_its_velocity() {
    let expected = Vec3::new(1.0, 0.5, -0.25);
    // A velocity in single precision is a difference of positions of 1 m over 1/1200 s.
    for (precision, tolerance) in [("f64", 1e-10), ("f32", 1200.0 * 2.0 * f64::from(f32::EPSILON))] {
        let mut simulation = thrown(precision, "until = 0.5,");
        let start = position(&simulation, 7);
        run(&mut simulation, 30);
        let moved = position(&simulation, 7) - start;
        assert!((moved - expected * 0.5).norm() <= tolerance, "{precision}: led to {moved:?} by 0.5 s");
        run(&mut simulation, 60);
        for vertex in 0..25 {
            let v = velocity(&simulation, vertex);
            let error = (v - expected).norm();
            assert!(error <= tolerance * 4.0, "{precision}: vertex {vertex} flies at {v:?}, off by {error:.1e}");
        }
    }
}

#[test]
fn a_released_cloth_falls_and_a_held_one_does_not() {
    for (until, falls) in [("until = 0.5,", true), ("", false)] {
        let pin = format!(r#"{{ {until} select = "all" }}"#);
        let mut simulation = simulation(&sheet("", &pin));
        run(&mut simulation, 30);
        assert_eq!(position(&simulation, 12).y, 0.0, "it is held for half a second");
        run(&mut simulation, 30);
        let y = position(&simulation, 12).y;
        // Free for half a second, with g t h/2 of the step; a hold that ends at 0.5 s includes the substep that ends there.
        let expected = if falls { -0.5 * 9.81 * 0.5 * (0.5 + 1.0 / 1200.0) } else { 0.0 };
        assert!((y - expected).abs() < 1e-3, "{until:?}: at {y}, expected {expected}");
    }
}

/// A time is a quotient, not a sum: it does not drift past the time of release.
#[test]
fn a_pin_holds_up_to_its_very_release_at_every_frame_rate() {
    for fps in [24, 25, 30, 50, 60] {
        for until in [1, 2, 3] {
            let pin = format!("{{ select = \"all\", until = {until} }}");
            let mut simulation = simulation(&(format!("fps = {fps}\n") + &sheet("", &pin)));
            run(&mut simulation, fps * until);
            assert_eq!(simulation.state().time, until as f64, "{fps} frames a second");
            assert_eq!(position(&simulation, 12).y, 0.0, "{fps} frames a second, until {until} s");
            advance(&mut simulation);
            assert!(position(&simulation, 12).y < -1e-4, "{fps} frames a second: released after {until} s");
        }
    }
}

/// A vertex of no triangle has no mass: it stays where it is, also when a pin that names it is released.
#[test]
fn a_vertex_of_no_triangle_stays() {
    let text = "[[cloth]]\nmesh = \"x.obj\"\npins = [{ vertices = [0, 3], until = 0.1 }]\n\
                [[collider]]\nplane = { point = [0, -50, 0], normal = [0, 1, 0] }";
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [9.0, 0.0, 9.0]];
    let mesh = Mesh { positions, triangles: vec![[0, 1, 2]], ..Mesh::default() };
    let mut simulation = simulation_of(&mesh, text);
    run(&mut simulation, 60);
    assert_eq!(position(&simulation, 3), Vec3::new(9.0, 0.0, 9.0));
    assert!(position(&simulation, 0).y < -1.0, "the cloth itself falls");
}
