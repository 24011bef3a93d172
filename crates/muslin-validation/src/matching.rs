//! T2.12: shape matching, as a solver and as a model of projective dynamics.

use muslin::Simulation;
use muslin::math::{Mat3, Vec3};
use muslin::mesh::Mesh;

use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, positions, set_state, simulation};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] =
    &[Test { number: "2.12", title: "Shape matching: relaxation, oscillation, sinking", run: shape_matching }];

const FPS: f64 = 200.0;
const YOUNG: f64 = 40.0;
const DENSITY: f64 = 0.2;

/// A stretch without rotation.
const STRETCHED: Mat3 = Mat3([[1.1, 0.0, 0.05], [0.0, 1.0, 0.0], [0.05, 0.0, 0.96]]);

/// A free square of a metre, stretched.
fn square(solver: &str, stretch: &str) -> Try<Simulation> {
    let text = format!(
        r#"
        gravity = [0, 0, 0]
        fps = {FPS:?}
        solver = {{ {solver} }}
        [[cloth]]
        grid = {{ size = [1, 1], cells = [8, 8] }}
        material = {{ density = {DENSITY:?}, stretch = {{ {stretch} }}, bend.model = "none" }}
        "#
    );
    let mut simulation = simulation(&text, &Mesh::default())?;
    set_state(&mut simulation, |state| state.positions.iter_mut().for_each(|x| *x = STRETCHED.apply(*x)))?;
    Ok(simulation)
}

/// The farthest of a corner from `part(n)` of its first deviation after n frames, over that deviation.
fn farthest(simulation: &mut Simulation, frames: u32, mut part: impl FnMut(u32) -> f64) -> Try<f64> {
    let rest = Vec3::from(simulation.model().cloths[0].mesh.positions[0]);
    let start = positions(simulation)[0] - rest;
    let mut worst = 0.0_f64;
    for n in 1..=frames {
        advance(simulation)?;
        worst = worst.max((positions(simulation)[0] - rest - start * part(n)).norm() / start.norm());
    }
    Ok(worst)
}

/// σ of a cloth that is one region, from its definition; areas are masses over the density.
fn constant(simulation: &Simulation, young: f64) -> f64 {
    let (masses, x) = (&simulation.model().masses, &simulation.model().initial_positions);
    let weight: f64 = masses.iter().sum();
    let center = masses.iter().zip(x).fold(Vec3::ZERO, |sum, (m, x)| sum + *x * *m) * (1.0 / weight);
    2.0 * young * weight / masses.iter().zip(x).map(|(m, x)| m * (*x - center).norm_squared()).sum::<f64>()
}

fn shape_matching(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A free square of 8 × 8 cells that is one region, stretched and let go. To the solver `shape_matching` it is a critically damped oscillator with the time constant τ, \
         d(t) = d₀ (1 + t/τ) exp(−t/τ), whatever the step. As the stretch model of `projective` it has ω² = σ/ρ, σ = 2Y W/Σ w‖q‖² (12 Y/L² for a square), of which `beta` lets its share pass; \
         a step is implicit Euler, x ← (x + h v)/(1 + ω²h²). Last, a strip of 0.5 × 2 m that is one region and hangs by its first row under its weight: every free vertex sinks by ρ g/σ over the \
         part of the area that is held.",
    );
    for (substeps, tau) in [(1, 0.05), (16, 0.05), (4, 0.005)] {
        let solver = format!("kind = \"shape_matching\", region = 0, relaxation = {tau}, substeps = {substeps}");
        let mut simulation = square(&solver, "stiffness = 40")?;
        let error = farthest(&mut simulation, 60, |n| {
            let s = f64::from(n) / FPS / tau;
            (1.0 + s) * libm::exp(-s)
        })?;
        let what = format!("solver, τ = {tau} s, {substeps} substeps: largest error of the deviation");
        // A velocity is changed by a difference of positions over h, off by ε/h; as a walk that drifts by ε/h √n t: 1e-11 of the deviation.
        section.push(Row::bound(what, error, 1e-11));
    }
    for (keys, left) in [("region = 0", 1.0), ("region = 0, mode = \"linear\", beta = 0.75", 0.25)] {
        let stretch = format!("model = \"shape_matching\", stiffness = {YOUNG:?}, {keys}");
        let mut simulation = square("kind = \"projective\", substeps = 1, iterations = 3", &stretch)?;
        let omega_squared = left * constant(&simulation, YOUNG) / DENSITY;
        let (h, mut x, mut v) = (1.0 / FPS, 1.0, 0.0);
        let error = farthest(&mut simulation, 100, |_| {
            let next = (x + h * v) / (1.0 + omega_squared * h * h);
            (x, v) = (next, (next - x) / h);
            x
        })?;
        section.push(Row::bound(format!("model, {keys}: largest error of 100 steps"), error, 1e-11));
    }
    section.push(hanging()?);
    Ok(section)
}

fn hanging() -> Try<Row> {
    let young = 400.0;
    let text = format!(
        r#"
        fps = 10
        solver = {{ kind = "projective", substeps = 1, iterations = 30 }}
        [[cloth]]
        grid = {{ size = [0.5, 2], cells = [10, 40] }}
        rotate = [90, 0, 0]
        material = {{ density = {DENSITY:?}, stretch = {{ model = "shape_matching", stiffness = {young:?}, region = 0 }}, bend.model = "none" }}
        pins = [ {{ select = "z_min" }} ]
        "#
    );
    let mut simulation = simulation(&text, &Mesh::default())?;
    for _ in 0..200 {
        advance(&mut simulation)?;
    }
    let model = simulation.model();
    let held: f64 = model.pinned.iter().map(|pinned| model.masses[pinned.vertex as usize]).sum();
    let part = held / model.masses.iter().sum::<f64>();
    let expected = DENSITY * 9.81 / (constant(&simulation, young) * part);
    let state = simulation.state();
    let sunk = (model.initial_positions.iter().zip(&state.positions).map(|(before, now)| before.y - now.y))
        .fold(0.0, f64::max);
    Ok(Row::relative("model, a strip under its weight: how far it sinks, in m", expected, sunk, 1e-6))
}
