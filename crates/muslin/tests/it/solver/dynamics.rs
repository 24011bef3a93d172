//! Motions with a known answer.

use muslin::Simulation;
use muslin::math::Vec3;

use crate::common::{
    Random, advance, center, mean_velocity, momenta, number, pendant, pendant_density, pendant_scene, position, run,
    set_state, simulation, simulation_of, table,
};

const OSCILLATOR: &str = include_str!("../../fixtures/xpbd_paper_oscillator.csv");

#[test]
fn the_oscillator_of_the_xpbd_paper_moves_as_recorded_whatever_the_iterations() {
    let rows = table(OSCILLATOR);
    for (fps, first) in [(60, 0), (125, 61), (1000, 122)] {
        for iterations in [1, 5, 10] {
            let top = format!(
                r#"
                fps = {fps}
                gravity = [0, 0, 0]
                solver = {{ kind = "xpbd", precision = "f64", substeps = 1, iterations = {iterations} }}
                "#
            );
            let text = pendant_scene(&top, pendant_density(1.0, 1.0), "compliance = 1e-3");
            let mut simulation = simulation_of(&pendant(1.0), &text);
            set_state(&mut simulation, |state| state.positions[3].y = -0.5);
            for row in &rows[first..first + 61] {
                let expected = number(&row[3]);
                let got = (position(&simulation, 2) - position(&simulation, 3)).norm();
                assert!(
                    (got - expected).abs() <= 1e-12,
                    "h = {}, {iterations} iterations, step {}: {got}, recorded {expected}",
                    row[0],
                    row[1]
                );
                advance(&mut simulation);
            }
        }
    }
}

/// A substep rounds the velocity (at most 7 m/s, by half an ε of it) and the position (at most 2 m): N of them move the
/// cloth by at most N ε (7 + 2)/2. A velocity taken as a difference of rounded positions would drift by ε L N^1.5.
#[test]
fn free_fall_is_a_parabola_ahead_by_half_a_step() {
    for (precision, epsilon) in [("f64", f64::EPSILON), ("f32", f64::from(f32::EPSILON))] {
        for substeps in [1, 20] {
            let mut simulation = simulation(&format!(
                r#"
                solver = {{ substeps = {substeps}, precision = "{precision}" }}
                [[cloth]]
                grid = {{ size = [0.5, 0.5], cells = [6, 6] }}
                velocity = [1.0, 3.0, -0.5]
                "#
            ));
            run(&mut simulation, 60);
            let (t, g, n) = (simulation.state().time, -9.81, 60.0 * f64::from(substeps));
            assert!((t - 1.0).abs() < 1e-12, "time {t}");
            // x = v t + g t²/2 + g t h/2: the velocity of a substep is the one at its end.
            let expected = Vec3::new(1.0, 3.0 + 0.5 * g + 0.5 * g / n, -0.5);
            let error = (center(&simulation) - expected).norm();
            let bound = 4.5 * epsilon * n;
            assert!(error <= bound, "{precision}, {substeps} substeps: off by {error:.1e} m, bound {bound:.1e}");
            let velocity = mean_velocity(&simulation);
            let error = (velocity - Vec3::new(1.0, 3.0 + g, -0.5)).norm();
            assert!(error <= bound, "{precision}, {substeps} substeps: velocity {velocity:?}, off by {error:.1e}");
        }
    }
}

/// A free sheet in weightlessness, deformed at random and turning at `spin` about a slanted axis, and flying.
fn tumbling(solver: &str, bend: &str, deformation: f64, spin: f64) -> Simulation {
    let mut simulation = simulation(&format!(
        r#"
        fps = 100
        gravity = [0, 0, 0]
        solver = {{ {solver} }}
        [[cloth]]
        grid = {{ size = [1.0, 1.0], cells = [8, 8], diagonals = "isotropic" }}
        material = {{ density = 0.2, stretch = {{ model = "spring", stiffness = 1000 }}, bend = {{ {bend} }} }}
        "#
    ));
    let axis = Vec3::new(0.6, 0.0, 0.8) * spin;
    let mut random = Random::new(3);
    set_state(&mut simulation, |state| {
        for (x, v) in state.positions.iter_mut().zip(&mut state.velocities) {
            *x += random.vector() * deformation;
            *v = axis.cross(*x) + random.vector() * (10.0 * deformation) + Vec3::new(0.3, -0.2, 0.1);
        }
    });
    simulation
}

const BENDS: [&str; 4] = [
    r#"model = "isometric", stiffness = 1e-3"#,
    r#"model = "dihedral", stiffness = 1e-3"#,
    r#"model = "distance", compliance = 1e-3"#,
    r#"model = "isometric", compliance = 1e3"#,
];

/// Σ m‖v‖ and Σ m‖x‖‖v‖: what a drift is measured against.
fn scales(simulation: &Simulation) -> (f64, f64) {
    let (model, state) = (simulation.model(), simulation.state());
    let vectors = state.positions.iter().zip(&state.velocities);
    vectors.zip(&model.masses).fold((0.0, 0.0), |(p, l), ((x, v), m)| (p + m * v.norm(), l + m * x.norm() * v.norm()))
}

#[test]
fn linear_momentum_is_conserved_over_a_thousand_steps() {
    // In single precision every move of a vertex is rounded to ε L, L the way that it went since the start of the frame:
    // by 6 springs and 12 hinges in each of 2 iterations.
    // Over h that is velocity, whose mean over 85 vertices walks at random for 1000 steps; 0.29 is the deviation of
    // a rounding, √3 the three coordinates, 3 the usual multiple.
    let walk = 0.29 * (3.0_f64 * 37.0 * 1000.0 / 85.0).sqrt();
    let (length, step, speed) = (0.012, 1e-3, 1.2);
    let single = 3.0 * walk * f64::from(f32::EPSILON) * length / (step * speed);
    for kind in ["xpbd", "pbd"] {
        for bend in BENDS {
            for (precision, bound) in [("f64", 1e-12), ("f32", single)] {
                let solver = format!(r#"kind = "{kind}", precision = "{precision}", substeps = 10, iterations = 2"#);
                let mut simulation = tumbling(&solver, bend, 0.01, 3.0);
                let ((before, _), (scale, _)) = (momenta(&simulation), scales(&simulation));
                run(&mut simulation, 100);
                let drift = (momenta(&simulation).0 - before).norm() / scale;
                assert!(drift <= bound, "{kind} {precision}, {bend}: drifted by {drift:.1e}, bound {bound:.1e}");
            }
        }
    }
}

/// A link that turns by φ in a substep is predicted at 2x − x′ and pulled back to its length, which turns it by
/// arctan(sin φ / (2 − cos φ)) = φ − φ³: the spin loses (ωh)² of itself in a step, as under implicit Euler.
#[test]
fn a_spinning_sheet_slows_down_by_the_square_of_the_turn_of_a_step_and_no_more() {
    for kind in ["xpbd", "pbd"] {
        for bend in BENDS {
            for substeps in [10, 20, 40] {
                let solver = format!(r#"kind = "{kind}", precision = "f64", substeps = {substeps}, iterations = 2"#);
                let mut simulation = tumbling(&solver, bend, 0.0, 3.0);
                let before = momenta(&simulation).1.norm();
                let mut last = before;
                let mut turn = 3.0 / (100.0 * f64::from(substeps));
                let first_turn = turn;
                for frame in 0..100 {
                    advance(&mut simulation);
                    let now = momenta(&simulation).1.norm();
                    assert!(now <= last, "{kind} {bend}: the angular momentum grew in frame {frame}: {last} to {now}");
                    last = now;
                    for _ in 0..substeps {
                        turn = libm::atan2(libm::sin(turn), 2.0 - libm::cos(turn));
                    }
                }
                let (loss, law) = (1.0 - last / before, 1.0 - turn / first_turn);
                assert!(
                    (loss / law - 1.0).abs() < 0.01,
                    "{kind} {bend}, {substeps} substeps: lost {loss:.3e} of the spin, the law says {law:.3e}"
                );
            }
        }
    }
}

#[test]
fn the_angular_momentum_of_a_deformed_sheet_drifts_with_the_step_and_vanishes_with_it() {
    for bend in BENDS {
        let loss = |substeps: u32| {
            let solver = format!(r#"kind = "xpbd", precision = "f64", substeps = {substeps}, iterations = 2"#);
            let mut simulation = tumbling(&solver, bend, 0.01, 3.0);
            let before = momenta(&simulation).1.norm();
            run(&mut simulation, 100);
            1.0 - momenta(&simulation).1.norm() / before
        };
        let losses = [10, 20, 40].map(loss);
        // (ωh)² a step with h = 1e-3, ω = 3 and 1000 steps; vibrations change it by a fifth.
        assert!(losses[0] > 0.0 && losses[0] < 1.2 * 9e-3, "{bend}: lost {:.2e}", losses[0]);
        for (coarse, fine) in [(losses[0], losses[1]), (losses[1], losses[2])] {
            let ratio = coarse / fine;
            assert!((1.6..2.6).contains(&ratio), "{bend}: half the step left 1/{ratio:.2} of the loss: {losses:?}");
        }
    }
}

/// Centrifugal tension stretches it: a ring of radius r that turns at ω carries ρω²r² against Y, and a sheet that is
/// solid inside less; starting unstretched it swings to twice the equilibrium.
#[test]
fn a_spinning_sheet_keeps_its_radius_to_the_centrifugal_stretch() {
    let (density, stiffness, spin, radius) = (0.2, 1000.0, 3.0, 0.5_f64.sqrt());
    let mut simulation = tumbling(r#"kind = "xpbd", precision = "f64", substeps = 10"#, BENDS[0], 0.0, spin);
    let bound = 2.0 * density * spin * spin * radius * radius / stiffness;
    for frame in 1..=200 {
        advance(&mut simulation);
        let (model, state, middle) = (simulation.model(), simulation.state(), center(&simulation));
        for (x, rest) in state.positions.iter().zip(&model.initial_positions) {
            let error = (*x - middle).norm() - rest.norm();
            assert!(error.abs() <= bound * radius, "frame {frame}: a radius of {} is off by {error:.1e}", rest.norm());
        }
    }
}

#[test]
fn velocities_decay_at_the_rate_of_the_material_whatever_the_substeps() {
    for kind in ["xpbd", "pbd"] {
        for substeps in [1, 7, 20] {
            let mut simulation = simulation(&format!(
                r#"
                gravity = [0, 0, 0]
                solver = {{ kind = "{kind}", precision = "f64", substeps = {substeps} }}
                [[cloth]]
                grid = {{ size = [0.5, 0.5], cells = [4, 4] }}
                velocity = [1.0, -2.0, 0.5]
                material = {{ damping = 1.5 }}
                "#
            ));
            run(&mut simulation, 60);
            let expected = Vec3::new(1.0, -2.0, 0.5) * libm::exp(-1.5);
            let error = (mean_velocity(&simulation) - expected).norm() / expected.norm();
            assert!(error <= 1e-10, "{kind}, {substeps} substeps: off by {error:.1e}");
        }
    }
}

fn total_energy(simulation: &Simulation) -> f64 {
    let d = simulation.diagnose();
    d.kinetic_energy + d.elastic_energy + d.gravity_energy
}

/// A sheet of 0.2 kg that is let go flat, held at two corners.
fn pinned(solver: &str, bend: &str) -> Simulation {
    simulation(&format!(
        r#"
        solver = {{ kind = "xpbd", {solver} }}
        [[cloth]]
        grid = {{ size = [1.0, 1.0], cells = [8, 8] }}
        material = {{ density = 0.2, stretch = {{ model = "spring", stiffness = 1000 }}, bend = {{ {bend} }} }}
        pins = [ {{ vertices = [0, 8] }} ]
        "#
    ))
}

#[test]
fn the_energy_of_a_pinned_cloth_falls_in_every_frame_once_iterations_converge() {
    // A velocity of up to 4 m/s is known to ε L/h.
    let rounding = |epsilon: f64| 0.2 * 4.0 * epsilon * 600.0;
    for (number, bend) in BENDS.into_iter().enumerate() {
        for (precision, epsilon) in [("f64", f64::EPSILON), ("f32", f64::from(f32::EPSILON))] {
            if precision == "f32" && number > 0 {
                continue; // what single precision adds is rounding, and one model shows it
            }
            let mut simulation = pinned(&format!(r#"precision = "{precision}", substeps = 10, iterations = 10"#), bend);
            let mut last = total_energy(&simulation);
            for frame in 1..=600 {
                advance(&mut simulation);
                let now = total_energy(&simulation);
                assert!(
                    now <= last + rounding(epsilon),
                    "{precision} {bend}: {last} J became {now} J in frame {frame}, {:.1e} J more",
                    now - last
                );
                last = now;
            }
            assert!(last < -0.5, "{precision} {bend}: {last} J after 10 s: did it fall at all?");
        }
    }
}

/// One iteration leaves an error in stiff springs that counts as energy, and comes and goes from frame to frame; with
/// small steps it stays below what the cloth began with.
#[test]
fn the_energy_of_a_pinned_cloth_never_exceeds_the_initial_one_with_small_steps() {
    for bend in BENDS {
        let mut simulation = pinned(r#"precision = "f64", substeps = 40"#, bend);
        let initial = total_energy(&simulation);
        for frame in 1..=600 {
            advance(&mut simulation);
            let now = total_energy(&simulation);
            assert!(now <= initial + 1e-12, "{bend}: {initial} J became {now} J in frame {frame}");
        }
    }
}

/// Internal damping is for deformation: it takes nothing from a flight, and from a spin only what every step takes.
#[test]
fn internal_damping_slows_vibrations_and_no_rigid_motion() {
    let after = |damping: f64, deformation: f64| {
        let bend = format!(r#"model = "dihedral", stiffness = 1e-3, damping = {damping:?}"#);
        let solver = r#"kind = "xpbd", precision = "f64", substeps = 10, iterations = 2"#;
        let mut simulation = tumbling(solver, &bend, deformation, if deformation > 0.0 { 0.0 } else { 3.0 });
        let (flight, spin) = momenta(&simulation);
        let drift = |p: Vec3<f64>| (p - flight).norm() / flight.norm();
        run(&mut simulation, 100);
        let (p, l) = momenta(&simulation);
        let carried = 0.5 * p.norm_squared() / simulation.model().cloths[0].mass;
        (drift(p), 1.0 - l.norm() / spin.norm(), simulation.diagnose().kinetic_energy - carried)
    };
    let ((drift, loss, _), (_, undamped_loss, _)) = (after(0.01, 0.0), after(0.0, 0.0));
    assert!(drift <= 1e-10, "the flight changed by {drift:.1e}");
    assert!((loss / undamped_loss - 1.0).abs() < 0.01, "lost {loss:e} of its spin, and {undamped_loss:e} without");
    let ((.., damped), (.., free)) = (after(0.01, 0.01), after(0.0, 0.01));
    assert!(damped < 0.5 * free, "vibrations have {damped:e} J left, and {free:e} J without");
}
