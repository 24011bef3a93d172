//! T2.1 to 2.4 and 2.8: one particle, and how a solver integrates its motion.

use muslin::Simulation;
use muslin::math::Vec3;

use crate::fixtures::{
    EULER_DECAY, OSCILLATOR_INTEGRATORS, PAPER_OSCILLATOR, PENDULUM_PERIOD, STABILITY_CHAIN, num, table,
};
use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{
    Chain, advance, has_solver, in_state, order, pendant, pendant_scene, positions, set_state, simulation, total_energy,
};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "2.1", title: "The oscillator of the XPBD paper, step by step", run: paper_oscillator },
    Test { number: "2.2", title: "Linear oscillator: amplification and frequency of a step", run: linear_oscillator },
    Test { number: "2.3", title: "What implicit Euler takes in ten periods", run: euler_decay },
    Test { number: "2.4", title: "Pendulum of any amplitude", run: pendulum },
    Test { number: "2.8", title: "Explicit stability limit", run: explicit_limit },
];

/// The solvers of an integration, each with what makes its step exact.
const INTEGRATORS: &[(&str, &str, Law)] = &[
    ("xpbd", r#"kind = "xpbd", precision = "f64""#, Law::ImplicitEuler),
    ("newton", r#"kind = "newton", iterations = 50, tolerance = 1e-16"#, Law::ImplicitEuler),
    ("newton, bdf2", r#"kind = "newton", integrator = "bdf2", iterations = 50, tolerance = 1e-16"#, Law::Bdf2),
    ("vbd", r#"kind = "vbd", iterations = 50, precision = "f64""#, Law::ImplicitEuler),
    ("explicit", r#"kind = "explicit", precision = "f64""#, Law::SymplecticEuler),
];

/// How a method steps x″ = −ω²x, z = ωh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Law {
    ImplicitEuler,
    SymplecticEuler,
    Bdf2,
}

impl Law {
    /// Columns of amplification and frequency ratio in the table of integrators.
    fn columns(self) -> [usize; 2] {
        match self {
            Self::SymplecticEuler => [3, 4],
            Self::ImplicitEuler => [5, 6],
            Self::Bdf2 => [9, 10],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::ImplicitEuler => "implicit Euler",
            Self::SymplecticEuler => "symplectic Euler",
            Self::Bdf2 => "BDF2",
        }
    }
}

fn integrators() -> impl Iterator<Item = (&'static str, &'static str, Law)> {
    let kind = |name: &str| name.split(',').next().unwrap_or(name).to_owned();
    INTEGRATORS.iter().copied().filter(move |(name, ..)| has_solver(&kind(name)))
}

/// A particle of 1 kg on one spring of rest length `rest`, without gravity, pulled down by `stretch`; a step is a frame.
fn oscillator(solver: &str, step: f64, rest: f64, compliance: f64, stretch: f64) -> Try<Simulation> {
    let top = format!("fps = {:?}\ngravity = [0.0, 0.0, 0.0]\nsolver = {{ substeps = 1, {solver} }}", 1.0 / step);
    let mesh = pendant(rest);
    let mut simulation = simulation(&pendant_scene(&top, 1.0, rest, &format!("compliance = {compliance:?}")), &mesh)?;
    let v = in_state(&simulation, 3);
    set_state(&mut simulation, |state| state.positions[v].y -= stretch)?;
    Ok(simulation)
}

/// How far the particle is below its rest.
fn stretch(simulation: &Simulation, rest: f64) -> f64 {
    let x = positions(simulation);
    (x[2] - x[3]).norm() - rest
}

fn paper_oscillator(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Rest length 1, start at 1.5, α = 1e-3, m = 1 (Macklin, Müller, Chentanez 2016, 6.1): one constraint in one dimension is implicit Euler, \
         whatever the iterations. 60 steps of three lengths against the closed form.",
    );
    let rows = table(PAPER_OSCILLATOR);
    for (name, solver, _) in integrators().filter(|i| i.2 == Law::ImplicitEuler) {
        let counts: &[u32] = if name == "xpbd" { &[1, 5, 10] } else { &[0] };
        for &iterations in counts {
            let mut worst = 0.0_f64;
            for (fps, first) in [(60.0, 0), (125.0, 61), (1000.0, 122)] {
                let solver =
                    if iterations > 0 { format!("{solver}, iterations = {iterations}") } else { solver.to_owned() };
                let mut simulation = oscillator(&solver, 1.0 / fps, 1.0, 1e-3, 0.5)?;
                for row in &rows[first..first + 61] {
                    worst = worst.max((stretch(&simulation, 1.0) + 1.0 - num(&row[3])).abs());
                    advance(&mut simulation)?;
                }
            }
            let what = if iterations > 0 { format!("`{name}`, {iterations} iterations") } else { format!("`{name}`") };
            section.push(Row::bound(format!("{what}: largest error of x, in m"), worst, 1e-12));
        }
    }
    Ok(section)
}

/// ρ and ω h of a recurrence x₊ = a x − b x₋ that three pairs of a series of positions obey: √b, and the angle of its roots.
///
/// BDF2 has more than two roots; after some steps only the principal pair is left.
fn roots(x: &[f64]) -> (f64, f64) {
    let n = x.len();
    // a x[n-2] − b x[n-3] = x[n-1] and the same one step before.
    let determinant = x[n - 2] * -x[n - 4] + x[n - 3] * x[n - 3];
    let a = (x[n - 1] * -x[n - 4] + x[n - 3] * x[n - 2]) / determinant;
    let b = (x[n - 2] * x[n - 2] - x[n - 3] * x[n - 1]) / determinant;
    let amplification = b.sqrt();
    (amplification, libm::acos(0.5 * a / amplification))
}

fn linear_oscillator(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "One particle on one spring that moves along it, which is linear: amplification and frequency of a step, from four positions in a row, against the closed form \
         of the method. ω = 10/s. `xpbd`, `newton` and `vbd` are implicit Euler here.",
    );
    let omega = 10.0;
    let mut series = Vec::new();
    for (name, solver, law) in integrators() {
        let mut worst = [0.0_f64; 2];
        let mut points = Vec::new();
        for row in table(OSCILLATOR_INTEGRATORS) {
            let z = num(&row[0]);
            if !(0.05..=0.5).contains(&z) {
                continue;
            }
            let mut simulation = oscillator(solver, z / omega, 1.0, 1.0 / (omega * omega), 0.25)?;
            let mut x = vec![stretch(&simulation, 1.0)];
            // The third root of BDF2 and the start with implicit Euler have faded after forty steps.
            for _ in 0..if law == Law::Bdf2 { 40 } else { 5 } {
                advance(&mut simulation)?;
                x.push(stretch(&simulation, 1.0));
            }
            let (amplification, angle) = roots(&x);
            let [a, f] = law.columns().map(|column| num(&row[column]));
            worst[0] = worst[0].max((amplification - a).abs());
            worst[1] = worst[1].max((angle / z - f).abs());
            points.push([z, (angle / z - 1.0).abs()]);
        }
        // Differences of positions of a metre over a stretch of a few centimetres lose some digits.
        section.push(Row::bound(format!("`{name}`: amplification of a step as {}", law.name()), worst[0], 1e-10));
        section.push(Row::bound(format!("`{name}`: frequency over ω as {}", law.name()), worst[1], 1e-9));
        series.push(Series::points(name, points));
    }
    section.plots.push(Plot {
        stem: "frequency_errors".to_owned(),
        title: "Linear oscillator: error of the frequency".to_owned(),
        axes: ["ω h".to_owned(), "relative error".to_owned()],
        scales: [Scale::Log, Scale::Log],
        series,
    });
    Ok(section)
}

fn euler_decay(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Energy of the linear oscillator after ten periods of n steps: E/E₀ = (1 + z²)^−10n for implicit Euler, z = 2π/n. BDF2 loses by the fourth power of z, \
         symplectic Euler nothing on average.",
    );
    let omega = 10.0;
    let period = std::f64::consts::TAU / omega;
    let mut series = Vec::new();
    for (name, solver, law) in integrators() {
        let mut points = Vec::new();
        for row in table(EULER_DECAY) {
            let n = num(&row[0]);
            if n > 200.0 {
                continue;
            }
            let mut simulation = oscillator(solver, period / n, 1.0, 1.0 / (omega * omega), 0.25)?;
            let before = total_energy(&simulation);
            let steps = 10 * n as usize;
            for step in 1..=steps {
                advance(&mut simulation)?;
                if n == 50.0 {
                    points.push([step as f64 / n, total_energy(&simulation) / before]);
                }
            }
            let left = total_energy(&simulation) / before;
            let what = format!("`{name}`, {n} steps a period: E/E₀ after ten periods");
            if law == Law::ImplicitEuler {
                // Below 1e-9 of the energy the stretch is below the rounding of a position of a metre.
                if num(&row[3]) > 1e-9 {
                    section.push(Row::relative(what, num(&row[3]), left, 1e-8));
                }
            } else if n == 50.0 || n == 100.0 {
                section.push(Row::measured(what, None, left));
            }
        }
        series.push(Series::line(name, points));
    }
    section.plots.push(Plot {
        stem: "energy_decay".to_owned(),
        title: "Energy of an oscillator, 50 steps a period".to_owned(),
        axes: ["periods".to_owned(), "E / E₀".to_owned()],
        scales: [Scale::Linear, Scale::Log],
        series,
    });
    Ok(section)
}

/// Periods of a pendulum of 1 m in units of √(l/g), from the first swing there and back: times of its zero crossings.
fn swing(solver: &str, degrees: f64, steps_per_period: f64, known: f64) -> Try<f64> {
    let g = 9.81;
    let unit = (1.0_f64 / g).sqrt();
    let step = known * unit / steps_per_period;
    let chain = Chain::new(1, 1.0);
    let top = format!("fps = {:?}\ngravity = [0.0, {:?}, 0.0]\nsolver = {{ {solver} }}", 1.0 / step, -g);
    let mut simulation = simulation(&chain.scene(&top, 1.0, "compliance = 1e-7", ""), &chain.mesh)?;
    let v = in_state(&simulation, chain.vertex(1));
    let angle = degrees.to_radians();
    set_state(&mut simulation, |state| state.positions[v] = Vec3::new(libm::sin(angle), -libm::cos(angle), 0.0))?;
    let mut crossings = Vec::new();
    let mut last = simulation.state().positions[v].x;
    for n in 1..=(2.5 * steps_per_period) as usize {
        advance(&mut simulation)?;
        let now = simulation.state().positions[v].x;
        if last > 0.0 && now <= 0.0 || last < 0.0 && now >= 0.0 {
            crossings.push((n as f64 - now / (now - last)) * step);
        }
        last = now;
    }
    match crossings[..] {
        [first, _, third, ..] => Ok((third - first) / unit),
        _ => Err(format!("{degrees}°: {} zero crossings", crossings.len())),
    }
}

fn pendulum(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "One link of α = 1e-7 m/N; period from zero crossings, exact 4K(sin²(a/2)). Methods that lose energy are run at h, h/2 and h/4, and the \
         limit is taken by Richardson's extrapolation: it must be the exact period, with the order of the method.",
    );
    let amplitudes: &[f64] = if scope.quick { &[60.0] } else { &[10.0, 60.0, 120.0, 150.0] };
    for (name, solver, law) in integrators().filter(|i| i.0 != "explicit") {
        for &degrees in amplitudes {
            let exact = table(PENDULUM_PERIOD).iter().find(|r| num(&r[0]) == degrees).map_or(f64::NAN, |r| num(&r[1]));
            let base = 400.0;
            let solver = if name == "xpbd" {
                format!("{solver}, iterations = 1, substeps = 1")
            } else {
                format!("{solver}, substeps = 1")
            };
            let t: Vec<f64> =
                [1.0, 2.0, 4.0].iter().map(|f| swing(&solver, degrees, base * f, exact)).collect::<Try<_>>()?;
            let errors: Vec<f64> = t.iter().map(|t| t / exact - 1.0).collect();
            let expected = if law == Law::Bdf2 { 2.0 } else { 1.0 };
            // Two steps of extrapolation take the first two powers of h.
            let limit = if law == Law::Bdf2 {
                (4.0 * t[2] - t[1]) / 3.0
            } else {
                let [a, b] = [2.0 * t[1] - t[0], 2.0 * t[2] - t[1]];
                (4.0 * b - a) / 3.0
            };
            let what = format!("`{name}`, {degrees}°: period");
            let note = format!(
                "{:+.3} % at {base} steps a period, order {:.2} (expected {expected})",
                100.0 * errors[0],
                order(errors[1], errors[2])
            );
            // Swings near the top lose so much to implicit Euler that 1600 steps a period are not yet few errors of the first order.
            let slow = law == Law::ImplicitEuler && degrees > 100.0;
            section.push(if slow {
                Row::measured(format!("{what}, h → 0"), Some(exact), limit).note(note)
            } else {
                Row::relative(format!("{what}, h → 0"), exact, limit, 1e-3).note(note)
            });
        }
    }
    Ok(section)
}

fn explicit_limit(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A chain of N particles on springs, one end held, shaken along itself at random: h = 0.99 h_max stays bounded, 1.01 h_max does not (h_max = 2/ω_max, closed form).",
    );
    if !has_solver("explicit") {
        return Ok(section);
    }
    let (mass, compliance) = (1.0_f64, 1e-2);
    let unit = (mass * compliance).sqrt();
    for row in table(STABILITY_CHAIN) {
        let links = num(&row[0]) as usize;
        if links < 2 || links > if scope.quick { 5 } else { 20 } {
            continue;
        }
        let limit = num(&row[4]) * unit;
        let chain = Chain::new(links, 1.0);
        let mut verdicts = Vec::new();
        for part in [0.99, 1.01] {
            let step = part * limit;
            let top = format!(
                "fps = {:?}\ngravity = [0.0, 0.0, 0.0]\nsolver = {{ kind = \"explicit\", precision = \"f64\", substeps = 1 }}",
                1.0 / step
            );
            let mut simulation =
                simulation(&chain.scene(&top, mass, &format!("compliance = {compliance:?}"), ""), &chain.mesh)?;
            let free: Vec<usize> = (1..=links).map(|n| in_state(&simulation, chain.vertex(n))).collect();
            set_state(&mut simulation, |state| {
                for (i, &v) in free.iter().enumerate() {
                    state.positions[v].y += if i % 2 == 0 { 1e-6 } else { -1e-6 };
                }
            })?;
            let mut bounded = true;
            for _ in 0..if part < 1.0 { 20_000 } else { 2000 } {
                let deviation = |s: &Simulation| {
                    let nodes = chain.nodes(s);
                    nodes.iter().enumerate().map(|(i, x)| (x.y + i as f64).abs()).fold(0.0, f64::max)
                };
                if simulation.advance().is_err() || deviation(&simulation) > 1e-4 {
                    bounded = false;
                    break;
                }
            }
            verdicts.push(bounded);
        }
        let word = |bounded: bool| if bounded { "bounded" } else { "grows" };
        let got = format!("{}, {}", word(verdicts[0]), word(verdicts[1]));
        section.push(Row::holds(
            format!("N = {links}, at 0.99 and 1.01 of h_max"),
            "bounded, grows",
            got,
            verdicts == [true, false],
        ));
    }
    Ok(section)
}
