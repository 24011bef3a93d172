//! Cloth with cloth and with itself: what is guaranteed, and mechanics with a known answer.

use muslin::Simulation;
use muslin::contact::count_intersections;
use muslin::math::Vec3;
use muslin::model::Problem;
use muslin::output::Diagnostics;
use muslin::solver::StepError;

use crate::common::{advance, run, same_bits_on_threads_and_from_a_snapshot, scene, simulation};

const GRAVITY: f64 = 9.81;

/// Every family of solvers, with settings that are stable for the sheets here.
const SOLVERS: [&str; 7] = [
    r#"kind = "xpbd", substeps = 10"#,
    r#"kind = "xpbd", substeps = 10, precision = "f64""#,
    r#"kind = "pbd", substeps = 10"#,
    r#"kind = "explicit", substeps = 60"#,
    r#"kind = "vbd", substeps = 4"#,
    r#"kind = "newton", substeps = 2"#,
    r#"kind = "projective", substeps = 2"#,
];

/// A sheet that stands nearly upright and falls: it collapses into folds upon itself.
fn collapsing(solver: &str, contact: &str) -> String {
    format!(
        r#"
        fps = 60
        solver = {{ {solver} }}
        contact = {{ {contact} }}
        [[cloth]]
        grid = {{ size = [0.2, 0.4], cells = [6, 12] }}
        rotate = [88, 7, 0]
        translate = [0, 0.21, 0]
        velocity = [0, -2, 0]
        material = {{ damping = 1, stretch = {{ stiffness = 60 }}, bend = {{ stiffness = 1e-5 }} }}
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
        "#
    )
}

const CONTACT: &str = "self_contact = true, thickness = 4e-3, friction = 0.3";

/// Cuts in the positions as they are, and as they are written in single precision.
fn cuts(simulation: &Simulation) -> usize {
    let (triangles, x) = (&simulation.model().triangles, &simulation.state().positions);
    let rounded: Vec<Vec3<f64>> = x.iter().map(|x| x.cast::<f32>().cast::<f64>()).collect();
    count_intersections(triangles, x) + count_intersections(triangles, &rounded)
}

fn problems(text: &str) -> Vec<Problem> {
    muslin::setup::compile(&scene(text), &mut |_| Err(String::new())).expect_err("a bad start")
}

#[test]
fn a_collapsing_sheet_never_cuts_itself_with_any_solver() {
    for solver in SOLVERS {
        let mut simulation = simulation(&collapsing(solver, CONTACT));
        let mut contacts = 0;
        for frame in 1..=40 {
            contacts += advance(&mut simulation).contacts;
            assert_eq!(cuts(&simulation), 0, "{solver}: frame {frame}");
        }
        assert!(contacts > 100, "{solver}: contacts are counted, {contacts}");
        assert_eq!(simulation.diagnose().intersections, Some(0), "{solver}: the report says so too");
    }
}

#[test]
fn without_self_contact_the_same_sheet_does_cut_itself() {
    let mut simulation = simulation(&collapsing(SOLVERS[0], "self_contact = false, thickness = 4e-3"));
    let most = (0..40).map(|_| {
        advance(&mut simulation);
        cuts(&simulation)
    });
    let most = most.max().expect("frames");
    assert!(most > 10, "the scene tests little: {most} cuts at most");
}

#[test]
fn zero_thickness_and_thickness_beyond_an_edge_hold_as_well() {
    // The edges are 33 mm long.
    for (thickness, solver) in [(0.0, SOLVERS[0]), (0.05, SOLVERS[0]), (0.0, SOLVERS[5]), (0.05, SOLVERS[5])] {
        let contact = format!("self_contact = true, thickness = {thickness:?}, friction = 0.3");
        let mut simulation = simulation(&collapsing(solver, &contact));
        for frame in 1..=40 {
            advance(&mut simulation);
            assert_eq!(cuts(&simulation), 0, "{thickness} m, {solver}: frame {frame}");
        }
    }
}

#[test]
fn the_bits_depend_neither_on_threads_nor_on_a_snapshot() {
    for solver in [SOLVERS[0], SOLVERS[1], SOLVERS[3], SOLVERS[5]] {
        same_bits_on_threads_and_from_a_snapshot(&collapsing(solver, CONTACT), 8);
    }
}

/// A patch that lies on a larger sheet, all of which is held, in gravity that pulls as on a slope towards +x.
fn on_a_held_sheet(solver: &str, slope_degrees: f64, friction: f64) -> Simulation {
    const THICKNESS: f64 = 2e-3;
    let t = slope_degrees.to_radians();
    let gravity = [GRAVITY * libm::sin(t), -GRAVITY * libm::cos(t), 0.0];
    simulation(&format!(
        r#"
        fps = 60
        gravity = {gravity:?}
        solver = {{ {solver} }}
        contact = {{ self_contact = true, thickness = {THICKNESS}, friction = {friction} }}
        [[cloth]]
        grid = {{ size = [0.1, 0.1], cells = [4, 4] }}
        translate = [-0.3, {THICKNESS}, 0.007]
        [[cloth]]
        grid = {{ size = [1.0, 0.3], cells = [20, 6] }}
        pins = [{{ select = "all" }}]
        "#
    ))
}

/// The patch is the first cloth: its centre from that of all, which it shares with what does not move.
fn patch_center(simulation: &Simulation) -> Vec3<f64> {
    let vertices: Vec<_> = simulation.in_user_order(0, &simulation.state().positions).collect();
    vertices.iter().fold(Vec3::ZERO, |sum, x| sum + *x) * (1.0 / vertices.len() as f64)
}

/// How far the patch slides in 0.4 s, less how far it should, over how far friction alone would take it; and how far, in m.
///
/// a = g (sin − μ cos) while it slides, and with backward steps x(t) = a t (t + h)/2.
fn slide(solver: &str, friction: f64, degrees: f64) -> (f64, f64) {
    let mut simulation = on_a_held_sheet(solver, degrees, friction);
    let start = patch_center(&simulation);
    run(&mut simulation, 24);
    let moved = patch_center(&simulation).x - start.x;
    let t = f64::to_radians(degrees);
    let (time, step) = (24.0 / 60.0, 1.0 / 1200.0);
    let fall = 0.5 * GRAVITY * time * (time + step);
    let expected = (libm::sin(t) - friction * libm::cos(t)).max(0.0) * fall;
    ((moved - expected) / (fall * friction.max(0.1) * libm::cos(t)), moved)
}

const SLIDING: [&str; 2] = [r#"kind = "xpbd", substeps = 20, precision = "f64""#, r#"kind = "xpbd", substeps = 20"#];

/// As on a plane (`friction.rs`): it sticks below atan μ, and slides above it.
///
/// The tolerance is half a per cent of the friction: the sweeps of a substep end before neighbouring contacts agree on their shares. Measured
/// at 18°: 0.08 % with 4 sweeps; there are 8.
#[test]
fn cloth_on_cloth_sticks_below_the_angle_of_friction_and_slides_above_as_a_block_does() {
    for solver in SLIDING {
        for (friction, degrees) in [(0.3, 10.0), (0.3, 16.0), (0.3, 18.0)] {
            let (error, moved) = slide(solver, friction, degrees);
            if libm::tan(f64::to_radians(degrees)) < friction {
                assert!(moved.abs() < 1e-5, "{solver}, μ = {friction}, {degrees}°: crept {moved:e} m in 0.4 s");
            } else {
                assert!(
                    error.abs() < 5e-3,
                    "{solver}, μ = {friction}, {degrees}°: {moved} m, off by {error:e} of friction"
                );
            }
        }
    }
}

/// Self-contact that has nothing to do disturbs nothing.
#[test]
fn a_sheet_on_the_ground_is_still_for_a_minute() {
    let mut simulation = simulation(
        r#"
        solver = { kind = "xpbd", substeps = 10 }
        contact = { self_contact = true, thickness = 2e-3, friction = 0.3 }
        [[cloth]]
        grid = { size = [0.3, 0.3], cells = [6, 6] }
        translate = [0, 0.01, 0]
        [[collider]]
        plane = { point = [0, 0, 0], normal = [0, 1, 0] }
        "#,
    );
    run(&mut simulation, 60);
    let mut fastest = 0.0_f64;
    for _ in 0..3600 {
        advance(&mut simulation);
        fastest = fastest.max(simulation.diagnose().max_speed);
    }
    assert!(fastest < 1e-3, "{fastest:e} m/s in 60 s of lying still");
}

/// What lies on a body does not give way to what lies on it; of the g h that one sweep would leave, eight leave little.
#[test]
fn layers_on_the_ground_come_to_rest() {
    for substeps in [10, 20] {
        let mut simulation = simulation(&format!(
            r#"
            solver = {{ kind = "xpbd", substeps = {substeps} }}
            contact = {{ self_contact = true, thickness = 2e-3, friction = 0.3 }}
            [[cloth]]
            name = "under"
            grid = {{ size = [0.3, 0.3], cells = [6, 6] }}
            translate = [0, 0.01, 0]
            [[cloth]]
            name = "upper"
            grid = {{ size = [0.2, 0.2], cells = [4, 4] }}
            translate = [0.01, 0.02, 0.02]
            rotate = [0, 30, 0]
            [[collider]]
            plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
            "#
        ));
        run(&mut simulation, 120);
        let mut fastest = 0.0_f64;
        for _ in 0..600 {
            advance(&mut simulation);
            fastest = fastest.max(simulation.diagnose().max_speed);
        }
        assert!(fastest < 1e-3, "{substeps} substeps: {fastest:e} m/s in 10 s of lying still");
    }
}

/// Seen from where it began, a patch that slides over an edge of the sheet below runs against the triangle behind it.
#[test]
fn what_slides_fast_is_not_held_up_by_edges() {
    for (friction, degrees) in [(0.5, 45.0), (0.0, 45.0)] {
        let (error, moved) = slide(SLIDING[0], friction, degrees);
        assert!(error.abs() < 5e-3 && moved > 0.2, "μ = {friction}: {moved} m, off by {error:e} of friction");
    }
}

/// Steps that solve the springs, as in the test of bodies (`friction.rs`), gain no energy but that of lifting: layers that the blow pressed
/// nearer than the thickness t are raised to it, which is worth m g t at most for each layer that everything could lie on. The least gain
/// that counts here is one such layer.
#[test]
fn a_collapsing_sheet_gains_no_energy() {
    for friction in [0.0, 0.5] {
        let thickness = 4e-3;
        let contact = format!("self_contact = true, thickness = {thickness}, friction = {friction:?}");
        let mut simulation = simulation(&collapsing(r#"kind = "xpbd", substeps = 100, precision = "f64""#, &contact));
        let total = |d: &Diagnostics| d.kinetic_energy + d.elastic_energy + d.gravity_energy;
        let lifting = simulation.model().masses.iter().sum::<f64>() * GRAVITY * thickness;
        let start = total(&simulation.diagnose());
        let mut least = start;
        for frame in 1..=60 {
            advance(&mut simulation);
            let now = total(&simulation.diagnose());
            assert!(now < start, "μ = {friction}: {start} J at the start and {now} J in frame {frame}");
            assert!(now <= least + lifting, "μ = {friction}: {least} J became {now} J in frame {frame}");
            least = least.min(now);
        }
        assert!(least < 0.2 * start, "μ = {friction}: it has not come to lie: {least} J of {start} J");
    }
}

/// A small sheet, led downwards by all its vertices, over a larger one.
fn led_into(solver: &str, held: &str) -> Simulation {
    simulation(&format!(
        r#"
        solver = {{ {solver} }}
        contact = {{ self_contact = true, thickness = 3e-3, friction = 0.3 }}
        [[cloth]]
        name = "stamp"
        grid = {{ size = [0.1, 0.1], cells = [2, 2] }}
        translate = [0, 0.02, 0]
        pins = [{{ select = "all", path = [{{ time = 0 }}, {{ time = 0.5, offset = [0, -0.12, 0] }}] }}]
        [[cloth]]
        name = "sheet"
        grid = {{ size = [0.4, 0.4], cells = [12, 12] }}
        material = {{ stretch = {{ stiffness = 60 }} }}
        pins = [{{ {held} }}]
        "#
    ))
}

#[test]
fn what_is_led_into_cloth_pushes_it_ahead() {
    for solver in SOLVERS {
        let mut simulation = led_into(solver, "select = \"corners\"");
        for frame in 1..=30 {
            advance(&mut simulation);
            assert_eq!(cuts(&simulation), 0, "{solver}: frame {frame}");
        }
        let sheet: Vec<_> = simulation.in_user_order(1, &simulation.state().positions).collect();
        let middle = sheet[sheet.len() / 2];
        assert!(middle.y < -0.1, "{solver}: the middle is at {} m, the stamp at -0.1 m", middle.y);
    }
}

/// All of the sheet is held but its middle, or all of it.
#[test]
fn what_is_led_into_held_cloth_is_an_error_that_names_both() {
    let but_the_middle: Vec<u32> = (0..13 * 13).filter(|v| *v != 6 * 13 + 6).collect();
    for held in [format!("vertices = {but_the_middle:?}"), "select = \"all\"".to_owned()] {
        let mut simulation = led_into(SOLVERS[0], &held);
        let error = (0..30).find_map(|_| {
            let before = simulation.state().clone();
            simulation.advance().err().map(|error| (error, before))
        });
        let (error, before) = error.expect("there is no way past");
        assert!(matches!(error, StepError::Contact { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("\"stamp\"") && said.contains("\"sheet\""), "{said}");
        assert_eq!(*simulation.state(), before, "an error leaves the state as it was");
    }
}

#[test]
fn cloths_that_cut_each_other_at_the_start_are_refused_by_name() {
    let text = |self_contact: bool| {
        format!(
            r#"
            contact = {{ self_contact = {self_contact} }}
            [[cloth]]
            name = "flat"
            grid = {{ size = [1, 1], cells = [1, 1] }}
            [[cloth]]
            name = "upright"
            grid = {{ size = [0.5, 0.5], cells = [1, 1] }}
            rotate = [90, 0, 0]
            translate = [0.1, 0.013, 0.1]
            "#
        )
    };
    // The upright sheet meets the plane of the other along z = 0.1, from x = −0.15 to 0.35: both triangles of both have a part.
    let found = problems(&text(true));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].place, "cloth[1]");
    let said = &found[0].message;
    assert!(said.contains("triangle 0 of cloth \"flat\" and 0 of \"upright\""), "{said}");
    assert!(
        said.starts_with(char::is_numeric) && said.contains("pairs of triangles cut each other at the start"),
        "{said}"
    );
    run(&mut simulation(&text(false)), 1);
}

#[test]
fn many_cuts_are_counted_and_a_few_named() {
    let found = problems(
        r#"
        contact = { self_contact = true }
        [[cloth]]
        name = "flat"
        grid = { size = [1, 1], cells = [10, 10] }
        [[cloth]]
        name = "upright"
        grid = { size = [1, 1], cells = [10, 10] }
        rotate = [90, 0, 0]
        translate = [0.01, 0.013, 0.02]
        "#,
    );
    let said = &found[0].message;
    assert_eq!(said.matches("of cloth \"flat\"").count(), 4, "{said}");
    assert!(said.contains("; and "), "{said}");
}

#[test]
fn cloths_that_touch_at_the_start_are_refused_by_name() {
    // Two sheets side by side, with a seam of vertices in the same places.
    let found = problems(
        r#"
        contact = { self_contact = true }
        [[cloth]]
        name = "left"
        grid = { size = [1, 1], cells = [4, 4] }
        [[cloth]]
        name = "right"
        grid = { size = [1, 1], cells = [4, 4] }
        translate = [1, 0, 0]
        "#,
    );
    assert_eq!((found.len(), found[0].place.as_str()), (1, "cloth[1]"), "{found:?}");
    let said = &found[0].message;
    assert!(said.contains("pairs touch at the start"), "{said}");
    assert!(said.contains("vertex 4 of cloth \"left\" and the triangle of vertices"), "{said}");
}
