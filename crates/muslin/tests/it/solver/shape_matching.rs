//! The solver `shape_matching`: closed forms of its relaxation, what it keeps, and what it respects.

use muslin::Simulation;
use muslin::math::{Mat3, Vec3};

use crate::common::{
    Random, center, mean_velocity, momenta, position, run, same_bits_on_threads_and_from_a_snapshot, set_state,
    simulation,
};

fn sheet(solver: &str, rest: &str) -> Simulation {
    simulation(&format!(
        r#"
        gravity = [0, 0, 0]
        solver = {{ kind = "shape_matching", {solver} }}
        [[cloth]]
        grid = {{ size = [1, 1], cells = [8, 8] }}
        {rest}
        "#
    ))
}

/// Deforms a sheet as a matrix says, about its middle.
fn deform(simulation: &mut Simulation, by: Mat3) {
    set_state(simulation, |state| state.positions.iter_mut().for_each(|x| *x = by.apply(*x)));
}

const STRETCHED: Mat3 = Mat3([[1.2, 0.0, 0.1], [0.0, 1.0, 0.0], [0.1, 0.0, 0.9]]);

#[test]
fn a_stretched_sheet_returns_as_a_critically_damped_oscillator_whatever_the_step() {
    let tau = 0.05;
    for substeps in [1, 2, 4, 16] {
        let mut simulation = sheet(&format!("region = 0, relaxation = {tau}, substeps = {substeps}"), "");
        let rest = position(&simulation, 0);
        deform(&mut simulation, STRETCHED);
        let start = position(&simulation, 0) - rest;
        for frame in 1..=12 {
            run(&mut simulation, 1);
            let t = f64::from(frame) / 60.0;
            let expected = start * ((1.0 + t / tau) * libm::exp(-t / tau));
            let error = (position(&simulation, 0) - rest - expected).norm() / start.norm();
            assert!(error < 1e-12, "{substeps} substeps, frame {frame}: off by {error:e}");
        }
    }
}

#[test]
fn the_same_motion_for_every_step_with_regions_spin_and_noise() {
    let after = |substeps: u32| {
        let mut simulation = sheet(&format!("region = 0.4, relaxation = 0.05, substeps = {substeps}"), "");
        deform(&mut simulation, STRETCHED);
        set_state(&mut simulation, |state| {
            for (x, v) in state.positions.iter().zip(&mut state.velocities) {
                *v += Vec3::new(0.3, 1.5, 0.2).cross(*x);
            }
        });
        run(&mut simulation, 12);
        let state = simulation.state().clone();
        state.positions
    };
    let fine = after(64);
    let errors = [1, 2, 4, 16].map(|substeps| {
        let coarse = after(substeps);
        (substeps, fine.iter().zip(&coarse).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max))
    });
    // Where regions overlap, each relaxes exactly but they do so one step beside the other, which is of the first order in h/τ (1/3 to 1/48 here).
    // Moves are of some 0.3 m: 5 % with one substep, 0.5 % with 16.
    for (substeps, error) in errors {
        assert!(error < 0.016 / f64::from(substeps), "off by {errors:?} m");
    }
}

#[test]
fn momentum_is_kept_and_a_spin_but_for_its_straight_flights() {
    for (solver, beta) in [("region = 0", 0.0), ("region = 0.4", 0.0), ("region = 0.4, mode = \"linear\"", 0.5)] {
        let mut simulation = sheet(&format!("{solver}, relaxation = 0.02, beta = {beta}, substeps = 8"), "");
        let omega = Vec3::new(0.0, 2.0, 0.0);
        set_state(&mut simulation, |state| {
            let mut random = Random::new(5);
            for (x, v) in state.positions.iter().zip(&mut state.velocities) {
                *v = omega.cross(*x) + Vec3::new(1.0, -2.0, 0.5) + random.vector() * 0.1;
            }
        });
        let ((linear, _), spin) = (momenta(&simulation), spin(&simulation));
        run(&mut simulation, 60);
        let error = (momenta(&simulation).0 - linear).norm() / linear.norm();
        // A kick is a difference of positions over h: ε · 1 m · 480/s in each of 480 steps, which add up like a walk.
        assert!(error < 2e-12, "{solver}: momentum off by {error:e}");
        // 480 steps of (hω)²/2.
        let left = self::spin(&simulation).y / spin.y;
        let expected = 1.0 - 480.0 * 0.5 * (2.0 / 480.0) * (2.0 / 480.0);
        assert!((left - expected).abs() < 1e-3, "{solver}: {left} of the spin is left, expected {expected}");
    }
}

/// Angular momentum about the centre of mass.
fn spin(simulation: &Simulation) -> Vec3<f64> {
    let (linear, angular) = momenta(simulation);
    angular - center(simulation).cross(linear)
}

#[test]
fn a_plate_on_two_pins_swings_as_a_rigid_body() {
    let mut simulation = simulation(
        r#"
        solver = { kind = "shape_matching", region = 0, relaxation = 0, substeps = 64 }
        [[cloth]]
        grid = { size = [1, 1], cells = [8, 8] }
        pins = [ { vertices = [0, 8] } ]
        "#,
    );
    let pins = [position(&simulation, 0), position(&simulation, 8)];
    // From level: the time to the vertical is that of a pendulum of I/(m r) = 2/3 m, released at 90°: 1.854 √(l/g) (lumped masses: Σz²/Σz).
    let (mut moments, mut sums) = (0.0, 0.0);
    for (x, m) in simulation.state().positions.iter().zip(&simulation.model().masses) {
        moments += m * (x.z + 0.5) * (x.z + 0.5);
        sums += m * (x.z + 0.5);
    }
    let time = 1.854_074_677 * (moments / sums / 9.81_f64).sqrt();
    let frames = (time * 60.0) as usize;
    run(&mut simulation, frames);
    let before = position(&simulation, 76).z + 0.5;
    run(&mut simulation, 1);
    let after = position(&simulation, 76).z + 0.5;
    let crossing = (frames as f64 + before / (before - after)) / 60.0;
    assert!((crossing / time - 1.0).abs() < 0.01, "through the vertical after {crossing} s, expected {time}");
    for (v, pin) in [0, 8].into_iter().zip(pins) {
        assert_eq!(position(&simulation, v), pin, "a pin has moved");
    }
    // Rigid: the far corners are as far apart as they were.
    let width = (position(&simulation, 80) - position(&simulation, 72)).norm();
    assert!((width - 1.0).abs() < 1e-6, "{width}");
}

#[test]
fn what_the_scene_says_of_models_is_said_not_to_matter() {
    let simulation =
        sheet("region = 0", "material = { stretch = { k = 0.5 }, bend = { model = \"dihedral\", damping = 1.0 } }");
    let said: Vec<String> = simulation.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "solver.kind: solver \"shape_matching\" has a stiffness of its own: material.stretch and material.bend are not used"
        ]
    );
}

#[test]
fn free_fall_is_free_and_a_collapsed_sheet_is_finite() {
    for region in ["0", "0.3"] {
        let mut simulation = simulation(&format!(
            r#"
            solver = {{ kind = "shape_matching", region = {region} }}
            [[cloth]]
            grid = {{ size = [1, 1], cells = [8, 8] }}
            "#
        ));
        run(&mut simulation, 30);
        let v = mean_velocity(&simulation);
        assert!((v - Vec3::new(0.0, -9.81 * 0.5, 0.0)).norm() < 1e-12, "{v:?}");
        for collapsed in [Mat3::ZERO, Mat3::outer(Vec3::splat(1.0), Vec3::new(1.0, 0.0, 0.0)), Mat3::scalar(-1.0)] {
            deform(&mut simulation, collapsed);
            run(&mut simulation, 5);
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads_or_on_a_snapshot() {
    let text = r#"
        wind = { velocity = [1, 0.5, 3], drag = 1.0, lift = 0.4 }
        solver = { kind = "shape_matching", region = 0.2, substeps = 2 }
        [[cloth]]
        grid = { size = [1, 1], cells = [33, 29] }
        translate = [0, 0.3, 0]
        pins = [ { select = "x_min" }, { vertices = [7], until = 0.04 } ]
        [[collider]]
        sphere = { center = [0, 0, 0], radius = 0.25 }
    "#;
    same_bits_on_threads_and_from_a_snapshot(text, 4);
}
