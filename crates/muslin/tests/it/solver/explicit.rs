//! Explicit steps: what textbooks say of one oscillator, and how long a step may be.

use muslin::math::Vec3;
use muslin::solver::StepError;

use crate::common::{Random, number, run, set_state, simulation, table};
use crate::model::nets::{Net, Plan, chains};

const OSCILLATOR: &str = include_str!("../../fixtures/oscillator_integrators.csv");
const CHAIN: &str = include_str!("../../fixtures/stability_chain.csv");
const GRID: &str = include_str!("../../fixtures/stability_grid.csv");
const DAMPED: &str = include_str!("../../fixtures/stability_damped.csv");

/// Modulus and angle of the dominant root of λ² − tλ + d, from four successive positions of a linear step.
fn growth(x: [f64; 4]) -> (f64, f64) {
    // x₂ = t x₁ − d x₀ and x₃ = t x₂ − d x₁.
    let determinant = x[1] * x[1] - x[0] * x[2];
    let t = (x[1] * x[2] - x[0] * x[3]) / determinant;
    let d = (x[2] * x[2] - x[1] * x[3]) / determinant;
    (d.sqrt(), libm::acos(t / (2.0 * d.sqrt())))
}

#[test]
fn a_linear_oscillator_grows_and_turns_as_the_scheme_says() {
    // Columns of amplification and frequency; the longest step in 1/ω that is tried: symplectic steps are unstable
    // from 2 on, and there have no frequency; the amplitude: small enough for ten times ten times ten to stay a spring, large
    // against the rounding of its length, also after a tenth of a tenth of a tenth.
    let schemes = [
        (r#"kind = "explicit", scheme = "forward""#, 1, 10.0, 1e-4),
        (r#"kind = "explicit", scheme = "symplectic", precision = "f64""#, 3, 1.9, 1e-2),
        (r#"kind = "explicit", scheme = "verlet""#, 3, 1.9, 1e-2),
        (r#"kind = "vbd", iterations = 1, precision = "f64""#, 5, 10.0, 1e-2),
    ];
    for (solver, column, most, amplitude) in schemes {
        for row in table(OSCILLATOR).iter().filter(|row| number(&row[0]) <= most) {
            let z = number(&row[0]);
            let mut net = Net::new(&chains(1, false, 0.0), &format!("{solver}, substeps = 1"));
            net.state.positions[1].x += amplitude;
            net.state.velocities[1].x = 0.3 * amplitude;
            let mut x = [0.0; 4];
            for x in &mut x {
                *x = net.state.positions[1].x - 1.0;
                net.advance(z).expect("a step");
            }
            let (amplification, angle) = growth(x);
            // What four rounded positions tell of a turn by z: rounding over amplitude over the turn squared.
            let bound = 1e-10_f64.max(4.0 * f64::EPSILON / amplitude / (z * z));
            let expected = [number(&row[column]), number(&row[column + 1]) * z];
            for (got, expected) in [amplification, angle].into_iter().zip(expected) {
                assert!(
                    (got - expected).abs() <= bound * expected.max(1.0),
                    "{solver}, ωh = {z}: {got}, not {expected}"
                );
            }
        }
    }
}

/// How far vertices are displaced at first, in m: so little that what is quadratic in it stays invisible, also where a net without
/// diagonals has no stiffness and drifts.
const START: f64 = 1e-8;

/// Advances by `steps` steps of `h`; the largest distance from rest on the way, at the ends of frames of at most a thousand steps.
fn excursion(plan: &Plan<'_>, scheme: &str, h: f64, steps: u32) -> Result<f64, StepError> {
    let substeps = steps.min(1000);
    let mut net =
        Net::new(plan, &format!(r#"kind = "explicit", precision = "f64", scheme = "{scheme}", substeps = {substeps}"#));
    let mut random = Random::new(11);
    for (i, x) in net.state.positions.iter_mut().enumerate() {
        if !plan.pins.contains(&(i as u32)) {
            // In the plane of the net, where its springs are linear for so small a motion.
            let d = random.vector() * START;
            *x += Vec3::new(d.x, 0.0, if plan.hinges.1 < 0.0 { d.z } else { 0.0 });
        }
    }
    let mut largest = 0.0_f64;
    for _ in 0..steps / substeps {
        net.advance(h * f64::from(substeps))?;
        let distances = net.state.positions.iter().zip(&plan.positions).map(|(x, rest)| (*x - *rest).norm());
        largest = distances.fold(largest, f64::max);
    }
    Ok(largest)
}

/// The limit that a solver reports for a net at rest, in s.
fn limit(plan: &Plan<'_>, scheme: &str) -> f64 {
    let mut net =
        Net::new(plan, &format!(r#"kind = "explicit", precision = "f64", scheme = "{scheme}", substeps = 1"#));
    net.advance(1e-9).expect("a step").stable_step.expect("a limit")
}

fn check_limit(plan: &Plan<'_>, what: &str, expected: f64, steps: u32) {
    for scheme in ["symplectic", "verlet"] {
        let reported = limit(plan, scheme);
        // The residual that the search stops at is a thousandth of ω².
        assert!((reported / expected - 1.0).abs() < 5e-4, "{what}, {scheme}: {reported}, not {expected}");
        let largest =
            excursion(plan, scheme, 0.99 * expected, steps).unwrap_or_else(|e| panic!("{what}, {scheme}: {e}"));
        // The amplitude of a mode at 0.99 of its limit is up to 1/√(1 − 0.99²) = 7 times that at its start, and several
        // modes may meet.
        assert!(largest < 100.0 * START, "{what}, {scheme}: bounded below the limit, but reached {largest:.1e}");
        match excursion(plan, scheme, 1.01 * expected, 1000) {
            Err(StepError::Unstable { limit, step, .. }) => {
                assert!((limit / expected - 1.0).abs() < 5e-4, "{what}, {scheme}: {limit}");
                assert!((step / expected / 1.01 - 1.0).abs() < 1e-12, "{what}, {scheme}: {step}");
            }
            // Damped, it grows more slowly than to a leap of a hundred lengths.
            Ok(largest) => assert!(largest > 1e3 * START, "{what}, {scheme}: only {largest:.1e} above the limit"),
            Err(other) => panic!("{what}, {scheme}: {other}"),
        }
    }
}

#[test]
fn chains_are_bounded_below_their_limit_and_diverge_above() {
    for row in table(CHAIN).iter().take(6) {
        let free: usize = row[0].parse().expect("a count");
        check_limit(&chains(free, true, 0.0), &format!("{free} between two pins"), number(&row[2]), 100_000);
        check_limit(&chains(free, false, 0.0), &format!("{free} on one pin"), number(&row[4]), 100_000);
    }
}

/// A free square net of unit masses and springs.
fn grid(n: usize, diagonals: usize) -> Plan<'static> {
    let at = |i: usize, j: usize| (i * n + j) as u32;
    let mut springs = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let root = 2.0_f64.sqrt();
            let mut add = |ends: [u32; 2], length: f64| springs.push((ends, length));
            if i + 1 < n {
                add([at(i, j), at(i + 1, j)], 1.0);
            }
            if j + 1 < n {
                add([at(i, j), at(i, j + 1)], 1.0);
            }
            if i + 1 < n && j + 1 < n && diagonals > 0 {
                add([at(i, j), at(i + 1, j + 1)], root);
            }
            if i + 1 < n && j + 1 < n && diagonals > 1 {
                add([at(i + 1, j), at(i, j + 1)], root);
            }
        }
    }
    Plan {
        positions: (0..n * n).map(|v| Vec3::new((v / n) as f64, 0.0, (v % n) as f64)).collect(),
        columns: n,
        mass: 1.0,
        pins: &[],
        gravity: Vec3::ZERO,
        springs,
        stiffness: 1.0,
        damping: 0.0,
        // No hinges; below zero says that the net is two-dimensional.
        hinges: (Vec::new(), -1.0),
    }
}

#[test]
fn grids_are_bounded_below_their_limit_and_diverge_above() {
    for row in table(GRID) {
        let n: usize = row[1].parse().expect("a count");
        let diagonals = match row[0].as_str() {
            "structural" => 0,
            "structural + one diagonal" => 1,
            "structural + two diagonals" => 2,
            _ => continue,
        };
        let (plan, expected) = (grid(n, diagonals), number(&row[3]));
        if n <= 10 {
            check_limit(&plan, &row.join(" "), expected, 10_000);
        } else {
            let reported = limit(&plan, "symplectic");
            assert!((reported / expected - 1.0).abs() < 5e-4, "{}: {reported}, not {expected}", row.join(" "));
        }
    }
}

#[test]
fn internal_damping_shortens_the_limit_as_recorded() {
    for row in table(DAMPED) {
        let (zeta, expected) = (number(&row[0]), number(&row[1]));
        // ω = 1, c = τ.
        check_limit(&chains(1, false, 2.0 * zeta), &format!("ζ = {zeta}"), expected, 10_000);
    }
}

/// v ← e^(−dh) v − h k x: stable while h²k < 2 (1 + e^(−dh)).
#[test]
fn damping_of_the_material_shortens_the_limit_too() {
    for damping in [0.1, 1.0, 10.0] {
        let mut net = Net::new(&chains(1, false, 0.0), r#"kind = "explicit", precision = "f64", substeps = 1"#);
        net.model.cloths[0].damping = damping;
        // The limit for steps of the limit: a fixed point.
        let mut h = 2.0;
        for _ in 0..50 {
            net.state = net.model.initial_state();
            h = net.advance(h).expect("a step").stable_step.expect("a limit");
        }
        let exact = 2.0 * (1.0 + libm::exp(-damping * h));
        assert!((h * h / exact - 1.0).abs() < 1e-3, "damping {damping}: h² = {}, not {exact}", h * h);
    }
}

#[test]
fn forward_steps_overshoot_at_every_length_unless_damped() {
    let free = chains(3, true, 0.0);
    assert_eq!(limit(&free, "forward"), 0.0, "no step is stable");
    // From rest the energy grows by 1 + h²ω² a step: e⁸ in two thousand steps of 0.05 for ω = 1.85.
    let largest = excursion(&free, "forward", 0.05, 2_000).expect("not far enough for an error");
    assert!(largest > 1e3 * START, "overshoots, but reached only {largest:.1e}");
    let error = excursion(&free, "forward", 0.5, 10_000).expect_err("far enough").to_string();
    let end = "diverged: the step of 500.000 ms is over the stability limit, as every step of this scheme is without \
               damping; use scheme = \"symplectic\" or another solver";
    assert!(error.ends_with(end), "{error}");
    // With damping τ a mode that swings is stable up to c/k = τ.
    let damped = chains(3, true, 0.1);
    let reported = limit(&damped, "forward");
    assert!((reported / 0.1 - 1.0).abs() < 1e-6, "{reported}");
    let bounded = excursion(&damped, "forward", 0.099, 100_000).expect("stable");
    assert!(bounded < 100.0 * START, "{bounded}");
}

#[test]
fn a_cloth_that_diverges_says_what_would_not() {
    let text = |substeps: u32| {
        format!(
            r#"
            solver = {{ kind = "explicit", substeps = {substeps} }}
            [[cloth]]
            name = "sheet"
            grid = {{ size = [1, 1], cells = [12, 12] }}
            pins = [{{ vertices = [0, 12] }}]
            "#
        )
    };
    let mut few = simulation(&text(8));
    let before = few.state().clone();
    let error = (0..20).find_map(|_| few.advance().err()).expect("it diverges");
    let StepError::Unstable { step, limit, substeps, .. } = &error else { panic!("{error}") };
    assert_eq!((*step, *substeps), (1.0 / 480.0, 8));
    let enough = (8.0 * step / limit / 0.95).ceil();
    let said = error.to_string();
    assert!(said.ends_with(&format!("use substeps = {enough} or more")), "{said}");
    assert!(few.state().first_non_finite().is_none(), "the state is that of a good frame");
    assert_eq!(before.positions.len(), few.state().positions.len(), "all of it");
    let mut many = simulation(&text(enough as u32));
    run(&mut many, 60);
    let speed = many.state().velocities.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(speed < 20.0, "with as many as advised it is quiet: {speed} m/s");
}

/// A symplectic scheme neither gains nor loses energy in the long run.
#[test]
fn the_energy_of_an_undamped_cloth_stays_within_bounds() {
    for scheme in ["symplectic", "verlet"] {
        let mut simulation = simulation(&format!(
            r#"
            solver = {{ kind = "explicit", precision = "f64", scheme = "{scheme}", substeps = 60 }}
            [[cloth]]
            grid = {{ size = [0.5, 0.5], cells = [6, 6] }}
            material = {{ density = 0.2, damping = 0, stretch = {{ stiffness = 100 }}, bend = {{ stiffness = 1e-3 }} }}
            pins = [{{ vertices = [0, 6] }}]
            "#
        ));
        set_state(&mut simulation, |state| state.positions[24].y += 0.01);
        let total = |d: &muslin::output::Diagnostics| d.kinetic_energy + d.elastic_energy + d.gravity_energy;
        let start = total(&simulation.diagnose());
        let (mut low, mut high) = (start, start);
        let mut swing = 0.0_f64;
        for _ in 0..600 {
            run(&mut simulation, 1);
            let d = simulation.diagnose();
            (low, high) = (low.min(total(&d)), high.max(total(&d)));
            swing = swing.max(d.kinetic_energy);
        }
        // One per cent up and down.
        let drift = (high - low) / swing;
        assert!(drift < 0.02, "{scheme}: the energy moves by {drift:.2e} of the largest kinetic energy");
    }
}
