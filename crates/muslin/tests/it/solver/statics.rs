//! Equilibria with a known answer.

use muslin::Simulation;

use crate::common::{
    advance, pendant, pendant_density, pendant_scene, position, run, set_state, simulation, simulation_of, velocity,
};

const GRAVITY: f64 = 9.81;
/// m [kg] and α [m/N] of the hanging particle: ω = 1/√(mα) = 40/s, elongation m g α = 6.1 mm.
const MASS: f64 = 0.05;
const COMPLIANCE: f64 = 0.0125;
/// Rest length [m].
const REST: f64 = 0.01;

/// A particle of [`MASS`] on one compliant constraint.
fn hanging(solver: &str, bend: &str) -> Simulation {
    let text = pendant_scene(&format!("fps = 60\nsolver = {{ {solver} }}"), pendant_density(MASS, REST), bend);
    let simulation = simulation_of(&pendant(REST), &text);
    let masses = &simulation.model().masses;
    assert!((masses[3] - MASS).abs() < 1e-15, "the particle weighs {}", masses[3]);
    assert_eq!(simulation.terms()[0].element_count(), 1, "constraints");
    simulation
}

fn elongation(simulation: &Simulation) -> f64 {
    (position(simulation, 2) - position(simulation, 3)).norm() - REST
}

/// Runs until nothing moves, in the sense of `speed` [m/s].
fn settle(simulation: &mut Simulation, speed: f64) {
    for _ in 0..3000 {
        advance(simulation);
        if velocity(simulation, 3).norm() < speed {
            return;
        }
    }
    panic!("still moving at {:e} m/s after 50 s", velocity(simulation, 3).norm());
}

#[test]
fn a_compliant_spring_hangs_by_m_g_alpha_whatever_the_substeps_and_iterations() {
    let expected = MASS * GRAVITY * COMPLIANCE;
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for substeps in [1, 4, 20] {
        for iterations in [1, 10, 100] {
            let solver =
                format!(r#"kind = "xpbd", precision = "f64", substeps = {substeps}, iterations = {iterations}"#);
            // Internal damping of half the critical time 2/ω settles it without a part in the equilibrium.
            let mut simulation = hanging(&solver, &format!("compliance = {COMPLIANCE}, damping = 0.025"));
            settle(&mut simulation, 1e-14);
            let got = elongation(&simulation);
            let error = (got / expected - 1.0).abs();
            assert!(
                error <= 1e-10,
                "{substeps} substeps, {iterations} iterations: {got:e} m, expected {expected:e}, off by {error:.1e}"
            );
            (least, most) = (least.min(got), most.max(got));
        }
    }
    let spread = (most - least) / expected;
    assert!(spread < 1e-10, "the nine elongations differ by {spread:.1e}");
}

/// Velocities decay, forces do not: damping is for the way to the equilibrium.
#[test]
fn material_damping_takes_nothing_from_the_weight() {
    let expected = MASS * GRAVITY * COMPLIANCE;
    for substeps in [1, 4, 20] {
        let text = pendant_scene(
            &format!(r#"solver = {{ kind = "xpbd", precision = "f64", substeps = {substeps} }}"#),
            pendant_density(MASS, REST),
            &format!("compliance = {COMPLIANCE}"),
        );
        let damped = text.replace("material = {", "material = { damping = 40.0,");
        let mut simulation = simulation_of(&pendant(REST), &damped);
        settle(&mut simulation, 1e-14);
        let error = (elongation(&simulation) / expected - 1.0).abs();
        assert!(
            error <= 1e-10,
            "{substeps} substeps: {:e} m, expected {expected:e}, off by {error:.1e}",
            elongation(&simulation)
        );
    }
}

/// In single precision a position of the size L is known to ε L, and so is C. The projection of a substep answers a
/// change δ of C with δ w/(w + α̃), which must be of the size ε L to move the vertex at all: δ = ε L (1 + 1/(ωh)²),
/// with ω² = 1/(mα). Two roundings (the prediction and the projection) add up.
#[test]
fn single_precision_hangs_by_m_g_alpha_to_the_rounding_of_a_substep() {
    let expected = MASS * GRAVITY * COMPLIANCE;
    for substeps in [1_u32, 4, 20] {
        for iterations in [1, 10] {
            let solver = format!(r#"kind = "xpbd", substeps = {substeps}, iterations = {iterations}"#);
            let mut simulation = hanging(&solver, &format!("compliance = {COMPLIANCE}, damping = 0.025"));
            run(&mut simulation, 600);
            let step = 1.0 / (60.0 * f64::from(substeps));
            let softness = MASS * COMPLIANCE / (step * step);
            let bound = 2.0 * f64::from(f32::EPSILON) * (REST + expected) * (1.0 + softness);
            let error = (elongation(&simulation) - expected).abs();
            assert!(
                error <= bound,
                "{substeps} substeps, {iterations} iterations: off by {error:.1e} m ({:.1e} of it), bound {bound:.1e} m",
                error / expected
            );
            // At the step of the paper's examples and longer ones that is the 1e-4 of a scene that says nothing.
            assert!(substeps > 4 || error / expected <= 1e-4, "{substeps} substeps: {:.1e} of it", error / expected);
        }
    }
}

/// What is left of an initial stretch after one substep without gravity.
fn left_after_one_substep(solver: &str, bend: &str, stretch: f64) -> f64 {
    let text = pendant_scene(
        &format!("gravity = [0, 0, 0]\nfps = 60\nsolver = {{ substeps = 1, {solver} }}"),
        pendant_density(MASS, REST),
        bend,
    );
    let mut simulation = simulation_of(&pendant(REST), &text);
    set_state(&mut simulation, |state| state.positions[3].y = -stretch);
    advance(&mut simulation);
    elongation(&simulation) / stretch
}

#[test]
fn a_pbd_substep_removes_the_part_k_whatever_the_iterations() {
    for k in [0.1, 0.5, 0.9, 1.0] {
        for iterations in [1, 5, 20] {
            for (precision, tolerance) in [("f64", 1e-13), ("f32", 1e-6)] {
                let solver = format!(r#"kind = "pbd", precision = "{precision}", iterations = {iterations}"#);
                let left = left_after_one_substep(&solver, &format!("k = {k}"), 0.01);
                let error = (left - (1.0 - k)).abs();
                assert!(
                    error <= tolerance,
                    "k = {k}, {iterations} iterations, {precision}: {left} of the stretch is left, off by {error:.1e}"
                );
            }
        }
    }
}

#[test]
fn a_compliant_constraint_at_rest_takes_the_same_substep_in_pbd_and_xpbd() {
    let softness = MASS * COMPLIANCE * 3600.0; // α̃/w at h = 1/60
    let expected = softness / (1.0 + softness);
    for kind in ["pbd", "xpbd"] {
        for iterations in [1, 5, 20] {
            let solver = format!(r#"kind = "{kind}", precision = "f64", iterations = {iterations}"#);
            let left = left_after_one_substep(&solver, &format!("compliance = {COMPLIANCE}"), 0.01);
            let error = (left - expected).abs();
            assert!(error <= 1e-13, "{kind}, {iterations} iterations: {left} is left, expected {expected}");
        }
    }
}

/// The reason XPBD was made: without a multiplier that is carried over the iterations, stiffness would grow with them.
#[test]
fn pbd_is_stiffer_with_more_substeps_and_xpbd_is_not() {
    let rest_of = |kind: &str, bend: &str, substeps: u32| {
        let solver = format!(r#"kind = "{kind}", precision = "f64", substeps = {substeps}"#);
        let mut simulation = hanging(&solver, bend);
        settle(&mut simulation, 1e-12);
        elongation(&simulation)
    };
    // PBD's k leaves (1 − k)/k h² g: a sixteenth with a quarter of the step.
    let (coarse, fine) = (rest_of("pbd", "k = 0.2", 1), rest_of("pbd", "k = 0.2", 4));
    assert!((coarse / fine - 16.0).abs() < 1e-8, "PBD: {coarse:e} and {fine:e} m");
    let bend = format!("compliance = {COMPLIANCE}, damping = 0.025");
    let (coarse, fine) = (rest_of("xpbd", &bend, 1), rest_of("xpbd", &bend, 4));
    assert!((coarse / fine - 1.0).abs() < 1e-8, "XPBD: {coarse:e} and {fine:e} m");
}

/// Rounding must not keep cloth moving: single precision comes to rest as double does, also with many substeps and far
/// from the origin.
#[test]
fn single_precision_comes_to_rest() {
    for (substeps, place) in [(20, 0.0), (100, 0.0), (20, 1000.0)] {
        let mut simulation = simulation(&format!(
            r#"
            solver = {{ substeps = {substeps}, precision = "f32" }}
            [[cloth]]
            grid = {{ size = [0.5, 0.5], cells = [12, 12] }}
            translate = [{place}, {place}, 0]
            material = {{ damping = 3.0 }}
            pins = [{{ select = "x_min" }}]
            "#
        ));
        run(&mut simulation, 480);
        let speed = simulation.diagnose().max_speed;
        assert!(speed < 1e-3, "{substeps} substeps at {place} m: still {speed:.1e} m/s after 8 s");
    }
}
