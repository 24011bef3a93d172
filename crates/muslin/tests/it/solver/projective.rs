//! Projective dynamics: the iterates of the literature's algorithm, its limit, and what may never go up.

use muslin::energy::stretch::spring;
use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::model::Model;
use muslin::parallel::Team;
use muslin::parameter::{Setting, Settings};
use muslin::solver::{Context, NoClock, Term, projective};
use muslin::state::State;
use serde_json::Value;

use crate::common::{advance, center, position, run, same_bits_on_threads_and_from_a_snapshot, scene, simulation};

const ONE_STEP: &str = include_str!("../../fixtures/one_step.json");

fn vectors(list: &Value) -> Vec<Vec3<f64>> {
    let number = |value: &Value| value.as_f64().expect("a number");
    list.as_array().expect("a list").iter().map(|v| Vec3::new(number(&v[0]), number(&v[1]), number(&v[2]))).collect()
}

/// A net of springs of the fixture, as a model and the state before the step.
struct Net {
    case: Value,
    model: Model,
    terms: Vec<Box<dyn Term>>,
    state: State,
    step: f64,
}

impl Net {
    fn all(damping: f64) -> Vec<Self> {
        let all: Value = serde_json::from_str(ONE_STEP).expect("the fixture");
        let cases = all["cases"].as_array().expect("a list").iter();
        // The others have hinges on the angle, which is no projection.
        cases
            .filter(|case| case["hinges"].as_array().is_some_and(Vec::is_empty))
            .map(|case| Self::new(case, damping))
            .collect()
    }

    fn new(case: &Value, damping: f64) -> Self {
        let n = case["n"].as_u64().expect("a size") as u32;
        let cell = |i: u32, j: u32| {
            let id = |i: u32, j: u32| i * n + j;
            [[id(i, j), id(i + 1, j + 1), id(i + 1, j)], [id(i, j), id(i, j + 1), id(i + 1, j + 1)]]
        };
        let mesh = Mesh {
            positions: vectors(&case["rest_positions"]).iter().map(|x| x.to_array()).collect(),
            triangles: (0..n - 1).flat_map(|i| (0..n - 1).flat_map(move |j| cell(i, j))).collect(),
            ..Mesh::default()
        };
        let compliance = 1.0 / case["k"].as_f64().expect("a stiffness");
        let text = format!(
            r#"
            solver.kind = "projective"
            [[cloth]]
            mesh = "net.obj"
            material = {{ stretch = {{ compliance = {compliance:?}, damping = {damping:?} }}, bend = {{ model = "none" }} }}
            pins = [ {{ vertices = {} }} ]
            "#,
            case["pins"]
        );
        let compiled = muslin::setup::compile(&scene(&text), &mut |_| Ok(mesh.clone())).expect("a sound scene");
        let (mut model, terms, mut state) = (compiled.model, compiled.terms, compiled.state);
        let ordering = &model.cloths[0].ordering;
        state.positions = ordering.reordered(&vectors(&case["x_n"]));
        state.velocities = ordering.reordered(&vectors(&case["v_n"]));
        let mass = case["mass"].as_f64().expect("a mass");
        model.initial_positions.clone_from(&state.positions);
        model.masses.fill(mass);
        model.inverse_masses.fill(1.0 / mass);
        Self { case: case.clone(), model, terms, state, step: case["h"].as_f64().expect("a step") }
    }

    /// The state after one step of so many iterations.
    fn after(&self, iterations: i64) -> State {
        let mut settings = Settings::default();
        settings.set("substeps", Setting::Integer(1));
        settings.set("iterations", Setting::Integer(iterations));
        let mut solver = (projective::KIND.build)(&settings);
        let context =
            Context { model: &self.model, terms: &self.terms, team: &Team::solo(), threads: 1, clock: &NoClock };
        let mut state = self.state.clone();
        solver.advance(&context, &mut state, self.step).expect("a step");
        state
    }

    /// The largest distance from positions of the fixture, in m.
    fn distance(&self, state: &State, expected: &Value) -> f64 {
        let expected = self.model.cloths[0].ordering.reordered(&vectors(expected));
        state.positions.iter().zip(expected).map(|(a, b)| (*a - b).norm()).fold(0.0, f64::max)
    }
}

#[test]
fn the_iterates_are_those_of_the_literature() {
    let nets = Net::all(0.0);
    assert_eq!(nets.len(), 3, "nets of springs");
    for net in &nets {
        for iterations in [1, 10, 100, 200] {
            let expected = &net.case["projective_dynamics"][iterations.to_string()]["x"];
            let error = net.distance(&net.after(iterations), expected);
            assert!(error < 1e-13, "{} after {iterations}: off by {error:e} m", net.case["n"]);
        }
    }
}

#[test]
fn the_limit_is_the_implicit_step() {
    // The error falls by 1 − r in an iteration, r = (m/h²)/(m/h² + kλ), λ the largest eigenvalue of the net, some 10: 4 %, 0.4 % and 0.04 %.
    for (net, iterations) in Net::all(0.0).iter().zip([1000, 10_000, 100_000]) {
        // A tenth of a metre is a cell; 1e-9 of it.
        let error = net.distance(&net.after(iterations), &net.case["x_star"]);
        assert!(error < 1e-10, "{}: off by {error:e} m", net.case["n"]);
    }
}

/// `½‖x − y‖²_M/h² + E + D`, with y from the state before.
fn objective(net: &Net, damping: f64, state: &State) -> f64 {
    let (model, h) = (&net.model, net.step);
    let mut sum = 0.0;
    for i in 0..model.masses.len() {
        if model.pinned.iter().all(|pinned| pinned.vertex as usize != i) {
            let y = net.state.positions[i] + (net.state.velocities[i] + model.gravity * h) * h;
            sum += 0.5 * model.masses[i] / (h * h) * (state.positions[i] - y).norm_squared();
        }
    }
    let compliance = 1.0 / net.case["k"].as_f64().expect("a stiffness");
    for ([a, b], length) in model.edges.iter().map(|(edge, rest)| (edge.map(|v| v as usize), *rest)) {
        let ends = |x: &[Vec3<f64>]| [x[a], x[b]];
        let row = |x| <spring::Spring as muslin::energy::Energy<2>>::row(&spring::Rest { length, compliance }, &x);
        let before = row(ends(&net.state.positions));
        let moved = (state.positions[b] - net.state.positions[b]) - (state.positions[a] - net.state.positions[a]);
        let rate = before.direction.dot(moved);
        let stretch = row(ends(&state.positions)).value;
        sum += 0.5 / compliance * (stretch * stretch + damping / h * rate * rate);
    }
    sum
}

#[test]
fn the_objective_never_goes_up() {
    for damping in [0.0, 1e-3, 0.1] {
        for net in &Net::all(damping) {
            let mut before = f64::INFINITY;
            for iterations in 1..150 {
                let now = objective(net, damping, &net.after(iterations));
                // Rounding: k · stretch · ε · length of some ten springs, a few 1e-18 J.
                assert!(now <= before + 1e-14 * now, "{}: {before} then {now} at {iterations}", net.case["n"]);
                before = now;
            }
            if damping == 0.0 {
                let star = net.case["objective_star"].as_f64().expect("a number");
                assert!(before >= star * (1.0 - 1e-13), "{}: {before} is below the least, {star}", net.case["n"]);
            }
        }
    }
}

#[test]
fn with_damping_the_limit_is_a_minimum_too() {
    for (net, iterations) in Net::all(0.02).iter().zip([3000, 30_000]) {
        let state = net.after(iterations);
        let least = objective(net, 0.02, &state);
        for i in (0..state.positions.len()).filter(|i| net.model.pinned.iter().all(|p| p.vertex as usize != *i)) {
            for axis in 0..3 {
                let at = |shift: f64| {
                    let mut moved = state.clone();
                    let mut unit = [0.0; 3];
                    unit[axis] = shift;
                    moved.positions[i] += Vec3::from(unit);
                    objective(net, 0.02, &moved)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                // Forces of the springs are newtons; the difference quotient is good to 1e-9 of that.
                assert!(slope.abs() < 1e-8 && at(1e-4) > least && at(-1e-4) > least, "{i} {axis}: slope {slope} N");
            }
        }
    }
}

/// Positions and velocities of a sheet a frame after it was thrown, for a number of iterations.
fn thrown(iterations: u32, material: &str) -> muslin::Simulation {
    let text = format!(
        r#"
        solver = {{ kind = "projective", substeps = 1, iterations = {iterations} }}
        [[cloth]]
        grid = {{ size = [1, 1], cells = [8, 8] }}
        rotate = [70, 0, 0]
        velocity = [1, 2, 3]
        material = {{ {material} }}
        "#
    );
    let mut simulation = simulation(&text);
    crate::common::set_state(&mut simulation, |state| {
        let mut random = crate::common::Random::new(3);
        state.velocities.iter_mut().for_each(|v| *v += random.vector());
    });
    simulation
}

#[test]
fn momentum_is_that_of_free_fall_after_any_number_of_iterations() {
    for iterations in [1, 3, 10] {
        let material = "stretch = { stiffness = 2000, damping = 1e-3 }, bend = { stiffness = 1e-4, damping = 1e-3 }";
        let mut simulation = thrown(iterations, material);
        let before = crate::common::mean_velocity(&simulation);
        run(&mut simulation, 30);
        let error = crate::common::mean_velocity(&simulation) - before - Vec3::new(0.0, -9.81 * 0.5, 0.0);
        assert!(error.norm() < 1e-11, "{iterations} iterations: {error:?}");
    }
}

#[test]
fn cloth_rests_on_a_plane_at_its_thickness_and_comes_to_rest() {
    let mut simulation = simulation(
        r#"
        solver = { kind = "projective" }
        contact = { thickness = 2e-3, friction = 0.5 }
        [[cloth]]
        grid = { size = [1, 1], cells = [12, 12] }
        translate = [0, 0.05, 0]
        material = { damping = 1.0 }
        [[collider]]
        plane = { point = [0, 0, 0], normal = [0, 1, 0] }
        "#,
    );
    run(&mut simulation, 120);
    let state = simulation.state();
    let fastest = state.velocities.iter().map(|v| v.norm()).fold(0.0, f64::max);
    let lowest = state.positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(fastest < 1e-6, "still moving at {fastest} m/s");
    assert!((lowest - 2e-3).abs() < 1e-9, "lies at {lowest}");
}

#[test]
fn a_sheet_sticks_to_a_slope_below_the_angle_of_friction_and_slides_as_a_block_above_it() {
    // tan 20° = 0.364.
    for (friction, slides) in [(0.45, false), (0.2, true)] {
        let (s, c) = (libm::sin(20_f64.to_radians()), libm::cos(20_f64.to_radians()));
        let text = format!(
            r#"
            solver = {{ kind = "projective" }}
            contact = {{ thickness = 1e-3, friction = {friction} }}
            [[cloth]]
            grid = {{ size = [0.5, 0.5], cells = [10, 10] }}
            rotate = [0, 0, -20]
            translate = [{x:?}, {y:?}, 0]
            [[collider]]
            plane = {{ point = [0, 0, 0], normal = [{s:?}, {c:?}, 0] }}
            "#,
            x = 1e-3 * s,
            y = 1e-3 * c,
        );
        let mut simulation = simulation(&text);
        let start = center(&simulation);
        run(&mut simulation, 60);
        let way = (center(&simulation) - start).norm();
        let expected = if slides { 0.5 * 9.81 * (s - friction * c) } else { 0.0 };
        // One second; a step of h = 1/240 s is first order, h of 1 s.
        assert!((way - expected).abs() <= 0.01 * expected + 1e-9, "μ = {friction}: {way} m, expected {expected}");
    }
}

#[test]
fn a_form_without_a_projection_is_refused_with_its_key() {
    let text = r#"
        solver = { kind = "projective" }
        [[cloth]]
        grid = { size = [1, 1], cells = [4, 4] }
        material = { bend = { model = "isometric", compliance = 10.0 } }
    "#;
    let problems = muslin::setup::compile(&scene(text), &mut |_| Err(String::new())).expect_err("it is another energy");
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["cloth[0].material.bend.compliance: solver \"projective\" needs a model that is a distance to a projection, \
          and \"isometric\" is none in this form; give `stiffness`, and no key that makes it another energy"]
    );
}

#[test]
fn a_pin_that_lets_go_is_free_in_that_very_step() {
    let mut simulation = simulation(
        r#"
        solver = { kind = "projective", substeps = 4 }
        [[cloth]]
        grid = { size = [1, 1], cells = [6, 6] }
        pins = [ { select = "all", until = 0.1 } ]
        "#,
    );
    run(&mut simulation, 6);
    let held = position(&simulation, 0);
    advance(&mut simulation);
    // Four steps of free fall, h = 1/240 s: g h² (1 + 2 + 3 + 4).
    let fallen = held.y - position(&simulation, 0).y;
    assert!((fallen - 9.81 * 10.0 / (240.0 * 240.0)).abs() < 1e-12, "{fallen}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads_or_on_a_snapshot() {
    let text = r#"
        wind = { velocity = [1, 0.5, 3], drag = 1.0, lift = 0.4 }
        solver = { kind = "projective", substeps = 2, iterations = 3 }
        [[cloth]]
        grid = { size = [1, 1], cells = [33, 29] }
        translate = [0, 0.3, 0]
        material = { stretch = { stiffness = 500, damping = 1e-3 } }
        pins = [
            { select = "x_min", path = [{ time = 0 }, { time = 1, offset = [0.2, 0.1, 0], turn = 30 }] },
            { vertices = [7], until = 0.04 },
        ]
        [[collider]]
        sphere = { center = [0, 0, 0], radius = 0.25 }
        path = [{ time = 0 }, { time = 1, offset = [0.3, 0.2, 0] }]
    "#;
    same_bits_on_threads_and_from_a_snapshot(text, 4);
}

/// What a pin holds stands still, whether or not there is a body somewhere.
#[test]
fn held_vertices_have_no_velocity_beside_a_body() {
    let mut simulation = simulation(
        r#"
        solver = { kind = "projective" }
        [[cloth]]
        grid = { size = [1, 1], cells = [4, 4] }
        translate = [0, 1, 0]
        pins = [{ select = "all" }]
        [[collider]]
        sphere = { center = [0, 0, 0], radius = 0.2 }
        "#,
    );
    run(&mut simulation, 3);
    let fastest = simulation.state().velocities.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 1e-12, "{fastest} m/s");
}
