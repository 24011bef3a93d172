//! The stretch model `shape_matching` in the solver `projective`: rest, closed forms of its motion and its statics, and what it refuses.

use muslin::Simulation;
use muslin::math::{Mat3, Vec3};
use muslin::output::Diagnostics;
use muslin::scene::parse;

use crate::common::{Random, advance, position, run, same_bits_on_threads_and_from_a_snapshot, set_state, simulation};

const YOUNG: f64 = 40.0;
const DENSITY: f64 = 0.2;

/// A free sheet of 1 m by 1 m without gravity; of 200 frames a second, with one substep each.
fn sheet(solver: &str, stretch: &str, rest: &str) -> Simulation {
    simulation(&format!(
        r#"
        gravity = [0, 0, 0]
        fps = 200
        solver = {{ kind = "projective", substeps = 1, {solver} }}
        [[cloth]]
        grid = {{ size = [1, 1], cells = [8, 8] }}
        material = {{ density = {DENSITY}, stretch = {{ model = "shape_matching", stiffness = {YOUNG:?}, {stretch} }}, bend.model = "none" }}
        {rest}
        "#
    ))
}

/// σ of a whole cloth, from its definition: 2 Y W/Σ w ‖q‖², the areas w from the masses.
fn constant(simulation: &Simulation, young: f64) -> f64 {
    let (masses, x) = (&simulation.model().masses, &simulation.model().initial_positions);
    let weight: f64 = masses.iter().sum();
    let center = masses.iter().zip(x).fold(Vec3::ZERO, |sum, (m, x)| sum + *x * *m) * (1.0 / weight);
    2.0 * young * weight / masses.iter().zip(x).map(|(m, x)| m * (*x - center).norm_squared()).sum::<f64>()
}

fn energy(simulation: &Simulation) -> f64 {
    Diagnostics::measure(simulation.model(), simulation.terms(), simulation.state(), false).elastic_energy
}

#[test]
fn a_sheet_that_was_turned_and_moved_stays_where_it_is() {
    for stretch in ["region = 0", "region = 0.3", "region = 0.3, mode = \"linear\""] {
        let mut simulation = sheet("iterations = 5", stretch, "");
        let turn = Mat3::from_degrees_xyz([50.0, 160.0, -70.0]);
        set_state(&mut simulation, |state| {
            state.positions.iter_mut().for_each(|x| *x = turn.apply(*x) + Vec3::new(3.0, -2.0, 1.0));
        });
        let start = simulation.state().positions.clone();
        run(&mut simulation, 20);
        let moved = start.iter().zip(&simulation.state().positions).map(|(a, b)| (*b - *a).norm()).fold(0.0, f64::max);
        assert!(moved < 1e-12, "{stretch}: moved by {moved:e} m");
        assert!(energy(&simulation) < 1e-26, "{stretch}: {} J", energy(&simulation));
    }
}

#[test]
fn one_region_swings_with_the_frequency_of_its_quadratic_energy() {
    // Every deviation that is not rigid: m ẍ = −σ w x, and m = ρ w. Implicit Euler divides x + h v by 1 + ω²h².
    let stretched = Mat3([[1.1, 0.0, 0.05], [0.0, 1.0, 0.0], [0.05, 0.0, 0.96]]);
    for (stretch, left) in [("region = 0", 1.0), ("region = 0, mode = \"linear\", beta = 0.75", 0.25)] {
        let mut simulation = sheet("iterations = 3", stretch, "");
        let square = left * constant(&simulation, YOUNG) / DENSITY;
        // Of a square of 1 m that is 12 Y/ρ, but for the lumping of its areas.
        assert!((square / (left * 12.0 * YOUNG / DENSITY) - 1.0).abs() < 0.05, "{square}");
        set_state(&mut simulation, |state| state.positions.iter_mut().for_each(|x| *x = stretched.apply(*x)));
        let start = position(&simulation, 0);
        let rest = simulation.in_user_order(0, &simulation.model().initial_positions).next().expect("a vertex");
        let h = 1.0 / 200.0;
        let (mut x, mut v) = (1.0, 0.0);
        for frame in 1..=100 {
            advance(&mut simulation);
            let next = (x + h * v) / (1.0 + square * h * h);
            (x, v) = (next, (next - x) / h);
            let error = (position(&simulation, 0) - rest - (start - rest) * x).norm() / (start - rest).norm();
            assert!(error < 1e-11, "{stretch}, frame {frame}: off by {error:e}");
        }
    }
    // As h → 0 that is cos ωt: a quarter of a period crosses zero, with implicit Euler's phase error of (ωh)²/3.
    let mut simulation = sheet("iterations = 1", "region = 0", "");
    let omega = (constant(&simulation, YOUNG) / DENSITY).sqrt();
    set_state(&mut simulation, |state| state.positions.iter_mut().for_each(|x| *x = stretched.apply(*x)));
    let rest = simulation.in_user_order(0, &simulation.model().initial_positions).next().expect("a vertex");
    let away = |simulation: &Simulation| (position(simulation, 0) - rest).x.signum();
    let sign = away(&simulation);
    let mut frames = 0;
    while away(&simulation) == sign {
        advance(&mut simulation);
        frames += 1;
    }
    let quarter = 0.5 * std::f64::consts::PI / omega * 200.0;
    assert!((f64::from(frames) - quarter).abs() < 1.5, "{frames} frames, a quarter of a period is {quarter}");
}

#[test]
fn the_reported_energy_is_the_definition() {
    let mut simulation = sheet("iterations = 1", "region = 0", "");
    let sigma = constant(&simulation, YOUNG) / DENSITY;
    // A pure stretch turns nothing: Σ ½ σ w ‖ε q‖².
    let strain = Vec3::new(0.1, 0.0, -0.05);
    let masses = simulation.model().masses.clone();
    let rest = simulation.model().initial_positions.clone();
    let stretch = |x: &Vec3<f64>| Vec3::new(x.x * strain.x, 0.0, x.z * strain.z);
    let expected: f64 = masses.iter().zip(&rest).map(|(m, x)| 0.5 * sigma * m * stretch(x).norm_squared()).sum();
    set_state(&mut simulation, |state| state.positions.iter_mut().for_each(|x| *x += stretch(x)));
    assert!((energy(&simulation) / expected - 1.0).abs() < 1e-12, "{} {expected}", energy(&simulation));
}

/// Hangs a strip of 0.5 m by 2 m along −y from where it is pinned, and waits until it is still.
fn hanging(stretch: &str, pins: &str) -> Simulation {
    let mut simulation = simulation(&format!(
        r#"
        fps = 10
        solver = {{ kind = "projective", substeps = 1, iterations = 30 }}
        [[cloth]]
        grid = {{ size = [0.5, 2], cells = [10, 40] }}
        rotate = [90, 0, 0]
        material = {{ density = {DENSITY}, stretch = {{ model = "shape_matching", {stretch} }}, bend.model = "none" }}
        pins = [ {pins} ]
        "#
    ));
    run(&mut simulation, 200);
    let speed = simulation.state().velocities.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(speed < 1e-9, "still moves at {speed} m/s");
    simulation
}

#[test]
fn one_region_under_its_weight_sinks_as_far_as_its_stiffness_says() {
    let simulation = hanging("stiffness = 400, region = 0", "{ vertices = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }");
    // Free vertices: σ w (u − ū) = ρ w g, so all sink by the same u = ū + ρg/σ, and ū = f u, f the free part of the area.
    let model = simulation.model();
    let held: f64 = model.pinned.iter().map(|pinned| model.masses[pinned.vertex as usize]).sum();
    let held = held / model.masses.iter().sum::<f64>();
    let expected = DENSITY * 9.81 / (constant(&simulation, 400.0) * held);
    let start: Vec<Vec3<f64>> = simulation.in_user_order(0, &simulation.model().initial_positions).collect();
    for v in [11, 21, 200, 450] {
        let sunk = (position(&simulation, v) - start[v]).y;
        assert!((sunk / -expected - 1.0).abs() < 1e-6, "vertex {v}: {sunk} m, expected {expected}");
    }
}

#[test]
fn a_strip_of_regions_stretches_under_its_weight_as_a_sheet_of_its_stiffness() {
    let young = 400.0;
    let stretch = format!("stiffness = {young:?}, region = 0.15");
    // A strip wider than two regions is held; the rest hangs.
    let vertices: Vec<String> = (0..99).map(|v| v.to_string()).collect();
    let simulation = hanging(&stretch, &format!("{{ vertices = [{}] }}", vertices.join(", ")));
    // What the regions make of Y for a uniform stretch along: those at the sides are cut and stiffer along than across.
    let rest = simulation.model().initial_positions.clone();
    let strained: Vec<Vec3<f64>> = rest.iter().map(|x| Vec3::new(x.x, x.y * 1.001, x.z)).collect();
    let stiffness = simulation.elastic_energy(&strained) / (0.5 * 1e-6);
    let ratio = stiffness / young;
    assert!((1.0..1.3).contains(&ratio), "{ratio} of Y along the strip");
    // Between two rows well inside, of length s from the lower end: strain ρ g s/Y.
    let height = |row: usize| (0..11).map(|i| position(&simulation, 11 * row + i).y).sum::<f64>() / 11.0;
    for (upper, lower) in [(16, 20), (20, 24), (24, 28), (28, 32)] {
        let length = 0.05 * (lower - upper) as f64;
        let strain = (height(upper) - height(lower)) / length - 1.0;
        let below = 0.05 * (40.0 - 0.5 * (upper + lower) as f64);
        let expected = DENSITY * 9.81 * below / stiffness;
        assert!((strain / expected - 1.0).abs() < 0.05, "rows {upper} to {lower}: {strain}, expected {expected}");
    }
}

#[test]
fn no_iteration_goes_up() {
    for stretch in ["region = 0", "region = 0.3", "region = 0.3, mode = \"linear\", beta = 0.6"] {
        let after = |iterations: u32| {
            let pins = "pins = [ { vertices = [0, 8] } ]";
            let mut simulation = sheet(&format!("iterations = {iterations}"), stretch, pins);
            let mut random = Random::new(3);
            set_state(&mut simulation, |state| {
                state.positions.iter_mut().for_each(|x| *x += random.vector() * 0.1);
                // Fast enough to turn by a fifth of a radian in the step.
                for (x, v) in state.positions.iter().zip(&mut state.velocities) {
                    *v = Vec3::new(10.0, 40.0, 5.0).cross(*x) + random.vector();
                }
            });
            let (x, v) = (simulation.state().positions.clone(), simulation.state().velocities.clone());
            advance(&mut simulation);
            let inertia = |((m, y), x): ((&f64, Vec3<f64>), &Vec3<f64>)| 0.5 * m * 4e4 * (*x - y).norm_squared();
            let predicted = x.iter().zip(&v).map(|(x, v)| *x + *v * (1.0 / 200.0));
            let masses = &simulation.model().masses;
            let free = masses.iter().zip(predicted).zip(&simulation.state().positions).map(inertia);
            // Held vertices do not move, so what they add does not change.
            free.sum::<f64>() + energy(&simulation)
        };
        let values: Vec<f64> = (1..=20).map(after).collect();
        let falls = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-14);
        assert!(values.windows(2).all(falls), "{stretch}: {values:?}");
        assert!(values[19] < (1.0 - 1e-9) * values[0], "{stretch}: nothing happened: {values:?}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads_or_on_a_snapshot() {
    let text = r#"
        wind = { velocity = [1, 0.5, 3], drag = 1.0, lift = 0.4 }
        solver = { kind = "projective", substeps = 2, iterations = 4 }
        [[cloth]]
        grid = { size = [1, 1], cells = [33, 29] }
        translate = [0, 0.3, 0]
        material = { stretch = { model = "shape_matching", region = 0.15, mode = "linear" } }
        pins = [ { select = "x_min" }, { vertices = [7], until = 0.04 } ]
        [[cloth]]
        grid = { size = [0.5, 0.5], cells = [9, 9] }
        translate = [0, 0.5, 0]
        material = { stretch = { model = "shape_matching", region = 0 } }
        [[collider]]
        sphere = { center = [0, 0, 0], radius = 0.25 }
    "#;
    same_bits_on_threads_and_from_a_snapshot(text, 4);
}

#[test]
fn a_large_cloth_may_be_one_region() {
    let mut simulation = simulation(
        r#"
        solver = { kind = "projective", substeps = 1, iterations = 3 }
        [[cloth]]
        grid = { size = [1, 1], cells = [80, 80] }
        material = { stretch = { model = "shape_matching", region = 0, mode = "linear" } }
        pins = [ { select = "corners" } ]
        "#,
    );
    run(&mut simulation, 3);
    let fall = position(&simulation, 3280).y;
    assert!((-0.1..0.0).contains(&fall), "{fall}");
}

#[test]
fn other_solvers_say_that_they_are_not_defined_for_it_and_keys_are_checked() {
    let said = |solver: &str, stretch: &str| -> Vec<String> {
        let text = format!(
            "solver.kind = \"{solver}\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [2, 2] }}\n\
             material.stretch = {{ model = \"shape_matching\", {stretch} }}"
        );
        parse(&text, &[]).findings.iter().map(|finding| finding.display("s.toml").to_string()).collect()
    };
    for solver in ["xpbd", "pbd", "newton", "vbd", "explicit"] {
        let [one] = &said(solver, "region = 0.1")[..] else { panic!("{:?}", said(solver, "")) };
        let expected = format!("solver \"{solver}\" is not defined for stretch model \"shape_matching\"; it is for:");
        assert!(one.contains(&expected), "{one}");
    }
    assert!(said("projective", "region = 0.1, mode = \"linear\", beta = 0.2, stiffness = 10").is_empty());
    for (stretch, part) in [
        ("stiffness = 0", "greater than 0"),
        ("region = -1", "at least 0"),
        ("mode = \"quadratic\"", "\"rigid\", \"linear\""),
        ("beta = 1.5", "from 0 to 1"),
        ("compliance = 1e-3", "compliance"),
        ("damping = 0.1", "damping"),
    ] {
        let [one] = &said("projective", stretch)[..] else { panic!("{:?}", said("projective", stretch)) };
        assert!(one.contains(part), "{one}");
    }
}
