//! T2.10 and 2.11: flight, spin, and what becomes of the energy.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::Mesh;

use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{Random, advance, center, has_solver, momenta, run, set_state, simulation, total_energy};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "2.10", title: "Free fall, spin and momentum", run: flight },
    Test { number: "2.11", title: "Energy of a pinned cloth", run: pinned_cloth },
];

/// Solvers with the settings under which they are compared, and whether they are implicit Euler once converged.
const SOLVERS: &[(&str, &str, bool)] = &[
    ("xpbd", r#"kind = "xpbd", precision = "f64", iterations = 2"#, true),
    ("pbd", r#"kind = "pbd", precision = "f64", iterations = 2"#, true),
    ("newton", r#"kind = "newton", iterations = 50, tolerance = 1e-13"#, true),
    ("newton, bdf2", r#"kind = "newton", integrator = "bdf2", iterations = 50, tolerance = 1e-13"#, false),
    ("vbd", r#"kind = "vbd", iterations = 50, precision = "f64""#, true),
    ("projective", r#"kind = "projective", iterations = 50"#, true),
    ("explicit", r#"kind = "explicit", precision = "f64""#, false),
];

fn solvers() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    SOLVERS.iter().copied().filter(|(name, ..)| has_solver(name.split(',').next().unwrap_or(name)))
}

/// A free sheet, deformed by `deformation`, turning at `spin` about a slanted axis.
fn free_sheet(solver: &str, substeps: u32, gravity: f64, deformation: f64, spin: f64) -> Try<Simulation> {
    let text = format!(
        r#"
        fps = 100
        gravity = [0.0, {:?}, 0.0]
        solver = {{ {solver}, substeps = {substeps} }}
        [[cloth]]
        grid = {{ size = [1.0, 1.0], cells = [8, 8], diagonals = "isotropic" }}
        material = {{ density = 0.2, stretch = {{ model = "spring", stiffness = 1000 }}, bend = {{ model = "isometric", stiffness = 1e-3 }} }}
        "#,
        -gravity
    );
    let mut sheet = simulation(&text, &Mesh::default())?;
    let axis = Vec3::new(0.6, 0.0, 0.8) * spin;
    let mut random = Random::new(3);
    set_state(&mut sheet, |state| {
        for (x, v) in state.positions.iter_mut().zip(&mut state.velocities) {
            *x += random.vector() * deformation;
            *v = axis.cross(*x) + random.vector() * (10.0 * deformation) + Vec3::new(0.3, -0.2, 0.1);
        }
    })?;
    Ok(sheet)
}

/// What is left of a turn by `turn` in a step after so many of them: a link is predicted at 2x − x′ and pulled back to its length.
fn spin_left(mut turn: f64, steps: u32) -> f64 {
    let first = turn;
    for _ in 0..steps {
        turn = libm::atan2(libm::sin(turn), 2.0 - libm::cos(turn));
    }
    turn / first
}

fn flight(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A free sheet of 8 × 8 cells, h = 1 ms, half a second. Free fall is a parabola, ahead by g t h/2 where the velocity of a step is the one at its end. \
         In weightlessness Σ m v stays. A spin loses (ωh)² of itself in a step of implicit Euler and of the projection methods, since a link that is predicted straight \
         on and pulled back to its length turns by φ − φ³: `by nature`, against that law.",
    );
    let frames = if scope.quick { 10 } else { 50 };
    for (name, solver, euler) in solvers() {
        // The explicit solver is stable below 0.9 ms here.
        let substeps = if name == "explicit" { 20 } else { 10 };
        let mut falling = free_sheet(solver, substeps, 9.81, 0.0, 0.0)?;
        let start = center(&falling);
        run(&mut falling, frames)?;
        let (t, h) = (frames as f64 / 100.0, 0.01 / f64::from(substeps));
        let parabola = start + Vec3::new(0.3, -0.2, 0.1) * t + Vec3::new(0.0, -0.5 * 9.81 * t * t, 0.0);
        let got = center(&falling) - parabola;
        let what = format!("`{name}`: free fall beyond the parabola, in m");
        if name == "newton, bdf2" {
            section.push(Row::bound(what, got.norm(), 9.81 * t * h).note("of the second order but for its first step"));
        } else {
            section.push(Row::absolute(what, 0.5 * 9.81 * t * h, -got.y, 1e-10).by_nature("g t h/2"));
        }

        let mut tumbling = free_sheet(solver, substeps, 0.0, 0.01, 3.0)?;
        let (before, _) = momenta(&tumbling);
        run(&mut tumbling, frames)?;
        let drift = (momenta(&tumbling).0 - before).norm() / before.norm();
        // Iterations that stop leave forces that balance all the same; only rounding and a solve from outside remain.
        section.push(Row::bound(format!("`{name}`: drift of the momentum of a deformed sheet"), drift, 1e-10));

        let mut spinning = free_sheet(solver, substeps, 0.0, 0.0, 3.0)?;
        let before = momenta(&spinning).1.norm();
        run(&mut spinning, frames)?;
        let loss = 1.0 - momenta(&spinning).1.norm() / before;
        let law = 1.0 - spin_left(3e-3, 10 * frames as u32);
        let what = format!("`{name}`: part of the spin lost in {frames} frames, ω = 3/s");
        section.push(if euler {
            Row::relative(what, law, loss, 0.02).by_nature("(ωh)² a step")
        } else {
            Row::bound(what, loss.abs(), 0.05 * law)
        });
    }
    Ok(section)
}

fn pinned_cloth(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A sheet of 0.2 kg, 8 × 8 cells, let go flat and held at two corners, without damping: total energy may fall (implicit Euler takes it) and must not grow \
         from frame to frame; for the explicit solver, whose energy swings about a constant, it must stay within 1 % of what there is to lose.",
    );
    let frames = if scope.quick { 60 } else { 600 };
    let mut series = Vec::new();
    for (name, solver, euler) in solvers().filter(|s| s.0 != "pbd") {
        // The energy of symplectic Euler swings with the first power of the step: by 2 % at 40 substeps, half of the limit.
        let substeps = if name == "explicit" { 100 } else { 10 };
        let solver =
            if name == "xpbd" { solver.replace("iterations = 2", "iterations = 10") } else { solver.to_owned() };
        let text = format!(
            r#"
            solver = {{ {solver}, substeps = {substeps} }}
            [[cloth]]
            grid = {{ size = [1.0, 1.0], cells = [8, 8] }}
            material = {{ density = 0.2, stretch = {{ model = "spring", stiffness = 1000 }}, bend = {{ model = "isometric", stiffness = 1e-3 }} }}
            pins = [ {{ vertices = [0, 8] }} ]
            "#
        );
        let mut cloth = simulation(&text, &Mesh::default())?;
        let start = total_energy(&cloth);
        let (mut last, mut growth, mut highest) = (start, 0.0_f64, 0.0_f64);
        let mut points = vec![[0.0, start]];
        for frame in 1..=frames {
            advance(&mut cloth)?;
            let now = total_energy(&cloth);
            growth = growth.max(now - last);
            highest = highest.max((now - start).abs());
            last = now;
            points.push([f64::from(frame) / 60.0, now]);
        }
        let what = format!("`{name}`, {substeps} substeps");
        if euler {
            section.push(Row::bound(format!("{what}: largest growth of the energy in a frame, in J"), growth, 1e-9));
        } else if name == "explicit" {
            section.push(Row::bound(format!("{what}: largest distance from the start, in J of 1 J"), highest, 0.01));
        } else {
            section.push(Row::bound(
                format!("{what}: largest growth above the start, in J of 1 J"),
                points.iter().map(|p| p[1] - start).fold(0.0, f64::max),
                0.01,
            ));
        }
        section.push(Row::measured(format!("{what}: energy after {} s, in J", frames / 60), None, last));
        series.push(Series::line(name, points));
    }
    section.plots.push(Plot {
        stem: "pinned_cloth_energy".to_owned(),
        title: "Energy of a cloth that is let go, held at two corners".to_owned(),
        axes: ["time, in s".to_owned(), "total energy, in J".to_owned()],
        scales: [Scale::Linear, Scale::Linear],
        series,
    });
    Ok(section)
}
