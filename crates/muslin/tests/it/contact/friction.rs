//! Contact and friction with a known answer.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::output::Diagnostics;

use crate::common::{advance, center, mean_velocity, number, run, set_state, simulation, table};

const INCLINE: &str = include_str!("../../fixtures/incline.csv");
const STOPPING: &str = include_str!("../../fixtures/stopping.csv");
const SPHERE_EXIT: &str = include_str!("../../fixtures/sphere_exit.csv");

const GRAVITY: f64 = 9.81;
/// Side of the patches [m].
const SIDE: f64 = 0.1;
const THICKNESS: f64 = 1e-3;

/// A patch that lies on a plane, in gravity that pulls as on a slope towards +x.
pub(crate) fn patch(solver: &str, fps: u32, slope_degrees: f64, friction: f64, speed: f64) -> Simulation {
    let t = slope_degrees.to_radians();
    let gravity = [GRAVITY * libm::sin(t), -GRAVITY * libm::cos(t), 0.0];
    simulation(&format!(
        r#"
        fps = {fps}
        gravity = {gravity:?}
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS}, friction = {friction} }}
        [[cloth]]
        grid = {{ size = [{SIDE}, {SIDE}], cells = [4, 4] }}
        translate = [0, {THICKNESS}, 0]
        velocity = [{speed:?}, 0, 0]
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
        "#
    ))
}

const DOUBLE: &str = r#"kind = "xpbd", substeps = 20, precision = "f64""#;

#[test]
fn a_patch_sticks_below_the_angle_of_friction_and_slides_above_as_a_block_does() {
    for row in table(INCLINE) {
        let (friction, degrees) = (number(&row[0]), number(&row[2]));
        let expected = number(&row[4]);
        let mut simulation = patch(DOUBLE, 60, degrees, friction, 0.0);
        run(&mut simulation, 60);
        let (moved, speed) = (center(&simulation).x, mean_velocity(&simulation).x);
        if row[3] == "stick" {
            assert!(moved.abs() < 1e-4 * SIDE, "μ = {friction}, {degrees}°: crept {moved:e} m in 1 s");
        } else {
            let error = (speed / expected - 1.0).abs();
            assert!(
                error < 5e-3,
                "μ = {friction}, {degrees}°: {speed} m/s after 1 s, expected {expected}, off by {error:.1e}"
            );
        }
    }
}

#[test]
fn the_default_solver_sticks_and_slides_as_a_block_does() {
    for kind in ["xpbd", "pbd"] {
        for (friction, degrees) in [(0.3, 10.0), (0.3, 16.0), (0.3, 18.0), (0.5, 45.0)] {
            let mut simulation = patch(&format!(r#"kind = "{kind}""#), 60, degrees, friction, 0.0);
            run(&mut simulation, 60);
            let t = f64::to_radians(degrees);
            let expected = GRAVITY * (libm::sin(t) - friction * libm::cos(t));
            let (moved, speed) = (center(&simulation).x, mean_velocity(&simulation).x);
            if expected <= 0.0 {
                assert!(moved.abs() < 1e-4 * SIDE, "{kind}, μ = {friction}, {degrees}°: crept {moved:e} m in 1 s");
            } else {
                let error = (speed / expected - 1.0).abs();
                assert!(error < 5e-3, "{kind}, μ = {friction}, {degrees}°: {speed} m/s after 1 s, expected {expected}");
            }
        }
    }
}

/// Penalty contact lets what sticks creep, no faster than 0.1 mm/s; what slides is as exact as elsewhere.
#[test]
fn a_patch_in_penalty_contact_sticks_and_slides_as_a_block_does() {
    for (friction, degrees) in [(0.3, 10.0), (0.3, 16.0), (0.3, 18.0), (0.5, 45.0)] {
        let mut simulation = patch(r#"kind = "vbd""#, 60, degrees, friction, 0.0);
        run(&mut simulation, 60);
        let t = f64::to_radians(degrees);
        let expected = GRAVITY * (libm::sin(t) - friction * libm::cos(t));
        let (moved, speed) = (center(&simulation).x, mean_velocity(&simulation).x);
        if expected <= 0.0 {
            assert!((0.0..1e-4).contains(&moved), "μ = {friction}, {degrees}°: crept {moved:e} m in 1 s");
        } else {
            let error = (speed / expected - 1.0).abs();
            assert!(error < 5e-3, "μ = {friction}, {degrees}°: {speed} m/s after 1 s, expected {expected}");
        }
    }
}

#[test]
fn the_angle_of_friction_is_met_to_a_tenth_of_a_degree() {
    for friction in [0.1, 0.3, 0.8] {
        let limit = libm::atan(friction).to_degrees();
        for degrees in [limit - 0.1, limit + 0.1] {
            let mut simulation = patch(DOUBLE, 60, degrees, friction, 0.0);
            run(&mut simulation, 60);
            let moved = center(&simulation).x;
            if degrees < limit {
                assert!(moved.abs() < 1e-4 * SIDE, "μ = {friction}, {degrees}°: slid by {moved:e} m");
            } else {
                let t = degrees.to_radians();
                let expected = 0.5 * GRAVITY * (libm::sin(t) - friction * libm::cos(t));
                assert!((moved / expected - 1.0).abs() < 0.01, "μ = {friction}, {degrees}°: {moved} m, {expected}");
            }
        }
    }
}

/// The first substep already brakes, so a stop is v h/2 short of v²/2μg: less than 1 % of it where h < 0.01 v/μg.
#[test]
fn a_sliding_patch_stops_where_a_block_does() {
    let step = 1.0 / 240.0;
    let mut strict = 0;
    for row in table(STOPPING) {
        let [friction, speed, distance, time] = std::array::from_fn(|i| number(&row[i]));
        let mut simulation = patch(r#"kind = "xpbd", substeps = 1, precision = "f64""#, 240, 0.0, friction, speed);
        run(&mut simulation, (1.05 * time / step) as usize + 2);
        let rest = simulation.diagnose().max_speed;
        assert!(rest < 1e-6, "μ = {friction}, {speed} m/s: still at {rest:e} m/s");
        let moved = center(&simulation).x;
        let (short, known) = (1.0 - moved / distance, 0.5 * speed * step / distance);
        assert!((short - known).abs() <= 1e-3, "μ = {friction}, {speed} m/s: short by {short:.1e}, law {known:.1e}");
        if known < 0.0099 {
            strict += 1;
            assert!(short.abs() <= 0.01, "μ = {friction}, {speed} m/s: {moved} m, expected {distance}");
        }
    }
    assert_eq!(strict, 4, "cases whose step is short enough");
}

#[test]
fn a_slope_that_is_tilted_itself_is_no_different() {
    let (degrees, friction) = (25.0_f64, 0.3);
    let t = degrees.to_radians();
    // Down +z: the normal leans that way, and the sheet is turned with it about x.
    let (y, z) = (libm::cos(t), libm::sin(t));
    let mut simulation = simulation(&format!(
        r#"
        solver = {{ {DOUBLE} }}
        contact = {{ thickness = {THICKNESS}, friction = {friction} }}
        [[cloth]]
        grid = {{ size = [{SIDE}, {SIDE}], cells = [4, 4] }}
        rotate = [{degrees:?}, 0, 0]
        translate = [0, {:?}, {:?}]
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, {y:?}, {z:?}] }}
        "#,
        THICKNESS * y,
        THICKNESS * z
    ));
    run(&mut simulation, 60);
    let expected = Vec3::new(0.0, -z, y) * (GRAVITY * (z - friction * y));
    let velocity = mean_velocity(&simulation);
    assert!((velocity - expected).norm() < 5e-3 * expected.norm(), "{velocity:?}, expected {expected:?}");
}

/// Angle from the top at which a small frictionless patch that starts at `start` degrees leaves a unit sphere.
fn leaving_angle(start: f64, step_hz: u32) -> f64 {
    let radius = 1.0 - THICKNESS;
    let mut simulation = simulation(&format!(
        r#"
        fps = 1000
        solver = {{ kind = "xpbd", substeps = {}, precision = "f64" }}
        contact = {{ thickness = {THICKNESS}, friction = 0 }}
        [[cloth]]
        grid = {{ size = [0.01, 0.01], cells = [2, 2] }}
        translate = [0, 1.00003, 0]
        [[collider]]
        sphere = {{ center = [0, 0, 0], radius = {radius} }}
        "#,
        step_hz / 1000
    ));
    let t = start.to_radians();
    set_state(&mut simulation, |state| {
        for x in &mut state.positions {
            // Onto the sphere, and round it to the start.
            let p = x.normalized_or_zero();
            *x = Vec3::new(p.x * libm::cos(t) + p.y * libm::sin(t), p.y * libm::cos(t) - p.x * libm::sin(t), p.z);
        }
    });
    for _ in 0..10_000 {
        advance(&mut simulation);
        let nearest = simulation.state().positions.iter().map(|x| x.norm() - 1.0).fold(f64::INFINITY, f64::min);
        if nearest > 1e-9 {
            let c = center(&simulation);
            return libm::atan2(c.x, c.y).to_degrees();
        }
    }
    panic!("it never left");
}

#[test]
fn a_frictionless_patch_leaves_a_sphere_where_a_particle_does() {
    for row in table(SPHERE_EXIT) {
        let (friction, start) = (number(&row[0]), number(&row[1]));
        if friction > 0.0 || start < 0.5 {
            continue;
        }
        let expected = number(&row[2]);
        let got = leaving_angle(start, 4000);
        assert!((got - expected).abs() <= 0.5, "from {start}°: left at {got}°, expected {expected}°");
    }
}

#[test]
fn a_sheet_that_lies_on_the_ground_stays_there_and_is_still() {
    for kind in ["xpbd", "pbd"] {
        for precision in ["f32", "f64"] {
            let mut simulation = simulation(&format!(
                r#"
                solver = {{ kind = "{kind}", precision = "{precision}" }}
                contact = {{ thickness = {THICKNESS}, friction = 0.3 }}
                [[cloth]]
                grid = {{ size = [0.3, 0.3], cells = [6, 6] }}
                translate = [0, 0.02, 0]
                [[collider]]
                plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
                "#
            ));
            run(&mut simulation, 60);
            let (mut fastest, mut lowest) = (0.0_f64, f64::INFINITY);
            for _ in 0..3600 {
                advance(&mut simulation);
                let d = simulation.diagnose();
                fastest = fastest.max(d.max_speed);
                lowest = lowest.min(d.min_gap.unwrap_or(f64::NAN));
            }
            assert!(fastest < 1e-3, "{kind} {precision}: {fastest:e} m/s in 60 s of lying still");
            assert!(lowest >= -1e-6, "{kind} {precision}: a gap of {lowest:e} m");
            assert_eq!(simulation.diagnose().contacts, 49, "{kind} {precision}: vertices that rest on the ground");
        }
    }
}

/// With fewer steps (20 of one iteration) springs that the impact left unsolved hold up to a quarter more than there was.
#[test]
fn a_sheet_dropped_on_a_body_neither_enters_it_nor_gains_energy() {
    for body in [
        "sphere = { center = [0, 0, 0], radius = 0.2 }",
        "box = { center = [0, 0, 0], size = [0.3, 0.2, 0.25], rotate = [0, 20, 0] }",
        "capsule = { a = [-0.2, 0, 0], b = [0.2, 0.05, 0], radius = 0.1 }",
    ] {
        let mut simulation = simulation(&format!(
            r#"
            solver = {{ kind = "xpbd", substeps = 100, precision = "f64" }}
            contact = {{ thickness = 5e-3, friction = 0.3 }}
            [[cloth]]
            grid = {{ size = [0.8, 0.8], cells = [24, 24] }}
            translate = [0, 0.25, 0]
            velocity = [0, -3, 0]
            [[collider]]
            {body}
            "#
        ));
        let total = |d: &Diagnostics| d.kinetic_energy + d.elastic_energy + d.gravity_energy;
        let mut last = total(&simulation.diagnose());
        let mut contacts = 0;
        for frame in 1..=60 {
            advance(&mut simulation);
            let d = simulation.diagnose();
            let gap = d.min_gap.unwrap_or(f64::NAN);
            assert!(gap >= -1e-6, "{body}: a gap of {gap:e} m in frame {frame}");
            assert!(total(&d) <= last + 1e-12, "{body}: {last} J became {} J in frame {frame}", total(&d));
            last = total(&d);
            contacts = contacts.max(d.contacts);
        }
        assert!(contacts > 10, "{body}: only {contacts} vertices touched it");
    }
}

/// The edges of a box do not show between the vertices of a coarse sheet: the middles of its edges stay outside too.
#[test]
fn the_edge_of_a_box_does_not_pass_between_two_vertices() {
    let mut simulation = simulation(&format!(
        r#"
        solver = {{ substeps = 40, precision = "f64" }}
        contact = {{ thickness = {THICKNESS}, friction = 0.5 }}
        [[cloth]]
        grid = {{ size = [0.8, 0.8], cells = [16, 16] }}
        translate = [0.1, 0.21, 0]
        rotate = [0, 20, 0]
        [[collider]]
        box = {{ center = [0, 0, 0], size = [0.4, 0.4, 0.5] }}
        "#
    ));
    run(&mut simulation, 60);
    let (model, state) = (simulation.model(), simulation.state());
    let middle = |&([a, b], _): &([u32; 2], f64)| (state.positions[a as usize] + state.positions[b as usize]) * 0.5;
    let gap = |x: Vec3<f64>| model.colliders[0].shape.probe(x).distance - THICKNESS;
    let lowest = model.edges.iter().map(|edge| gap(middle(edge))).fold(f64::INFINITY, f64::min);
    // One iteration moves each edge once; its neighbours may push it back a little.
    assert!(lowest > -1e-3, "the middle of an edge is {lowest:.1e} m too near, of an edge of 50 mm");
    assert!(simulation.diagnose().contacts > 30, "it lies on the box");
}

/// A table that carries a sheet along a path: `motion` are the keys of the path.
fn carried(motion: &str, friction: f64) -> Simulation {
    carried_by(DOUBLE, motion, friction)
}

fn carried_by(solver: &str, motion: &str, friction: f64) -> Simulation {
    let mut simulation = simulation(&format!(
        r#"
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS} }}
        [[cloth]]
        grid = {{ size = [{SIDE}, {SIDE}], cells = [4, 4] }}
        translate = [0.2, {THICKNESS}, 0]
        [[collider]]
        box = {{ center = [0, -0.1, 0], size = [1, 0.2, 1] }}
        friction = {friction}
        {motion}
        "#
    ));
    run(&mut simulation, 90);
    simulation
}

#[test]
fn a_moving_body_carries_a_sheet_by_friction() {
    // 0.5 m in 1 s with ease: at most 6 × 0.5 = 3 m/s², which μ = 0.5 can give.
    let slide = "path = [{ time = 0 }, { time = 1, offset = [0.5, 0, 0.1] }]\nease = \"smooth\"";
    let moved = center(&carried(slide, 0.5)) - Vec3::new(0.2, THICKNESS, 0.0);
    assert!((moved - Vec3::new(0.5, 0.0, 0.1)).norm() < 1e-4 * SIDE, "with friction it moved by {moved:?}");
    let moved = center(&carried(slide, 0.0)) - Vec3::new(0.2, THICKNESS, 0.0);
    assert!(moved.norm() < 1e-9, "without friction it moved by {moved:?}");
    // Penalty contact slips by up to 0.1 mm/s on the way, for a second.
    let moved = center(&carried_by(r#"kind = "vbd""#, slide, 0.5)) - Vec3::new(0.2, THICKNESS, 0.0);
    assert!((moved - Vec3::new(0.5, 0.0, 0.1)).norm() < 1e-4, "in penalty contact it moved by {moved:?}");
    // A quarter turn about y takes +x to −z; at most 1.5 × 1.57 rad/s at 0.25 m needs 1.4 m/s².
    let turn = "path = [{ time = 0 }, { time = 1, turn = 90 }]\nease = \"smooth\"";
    let end = center(&carried(turn, 0.5));
    assert!((end - Vec3::new(0.0, THICKNESS, -0.2)).norm() < 1e-3 * SIDE, "it was turned to {end:?}");
}

#[test]
fn a_rising_body_lifts_a_sheet_and_a_falling_one_leaves_it_behind() {
    let lifted = center(&carried("path = [{ time = 0 }, { time = 1, offset = [0, 0.3, 0] }]\nease = \"smooth\"", 0.5));
    assert!((lifted - Vec3::new(0.2, 0.3 + THICKNESS, 0.0)).norm() < 1e-4 * SIDE, "it was lifted to {lifted:?}");
    // Ten metres in a tenth of a second: the sheet falls freely for 1.5 s, with the known g t h/2.
    let fallen = center(&carried("path = [{ time = 0 }, { time = 0.1, offset = [0, -20, 0] }]", 0.5)).y - THICKNESS;
    let expected = -0.5 * GRAVITY * 1.5 * (1.5 + 1.0 / 1200.0);
    assert!((fallen - expected).abs() < 1e-9, "it fell to {fallen}, expected {expected}");
}
