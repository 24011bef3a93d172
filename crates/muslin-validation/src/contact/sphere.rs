//! T3.3: where a patch that slides down a sphere leaves it.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::Mesh;

use crate::contact::{GRAVITY, THICKNESS, attempt, mean_velocity, settings, solvers};
use crate::fixtures::{SPHERE_EXIT, num, table};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, center, set_state, simulation};
use crate::{Scope, Try};

/// Of the angle, in degrees.
const TOLERANCE: f64 = 0.5;

/// Frames a second where contact is watched. A frame is 0.15° at the end.
const FINE: u32 = 1000;
/// And as usual.
const USUAL: u32 = 60;

/// A patch of 1 cm on a sphere of 1 m, `degrees` from its top towards +x.
fn patch(solver: &str, fps: u32, degrees: f64, friction: f64) -> Try<Simulation> {
    let text = format!(
        r#"
        fps = {fps}
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS}, friction = {friction:?} }}
        [[cloth]]
        grid = {{ size = [0.01, 0.01], cells = [2, 2] }}
        translate = [0, 1.01, 0]
        material = {{ bend = {{ model = "none" }} }}
        [[collider]]
        sphere = {{ center = [0, 0, 0], radius = {:?} }}
        "#,
        1.0 - THICKNESS
    );
    let mut patch = simulation(&text, &Mesh::default())?;
    let (sin, cos) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
    set_state(&mut patch, |state| {
        for x in &mut state.positions {
            // Onto the sphere, and round it to the start.
            let p = Vec3::new(x.x, 1.0, x.z).normalized_or_zero();
            *x = Vec3::new(p.x * cos + p.y * sin, p.y * cos - p.x * sin, p.z);
        }
    })?;
    Ok(patch)
}

/// A gap that is a flight, in m.
const AWAY: f64 = 1e-3;

fn angle(patch: &Simulation) -> f64 {
    let c = center(patch);
    libm::atan2(c.x, c.y).to_degrees()
}

/// Angle and contact force over weight in the middle of each frame, until the patch has flown for a while.
fn watch(patch: &mut Simulation, fps: u32) -> Try<Vec<[f64; 2]>> {
    let mut all = Vec::new();
    let dt = 1.0 / f64::from(fps);
    let gap = |patch: &Simulation| patch.state().positions.iter().map(|x| x.norm() - 1.0).fold(f64::INFINITY, f64::min);
    while gap(patch) < AWAY {
        let (from, before) = (angle(patch), mean_velocity(patch));
        advance(patch)?;
        let force = ((mean_velocity(patch) - before) * (1.0 / dt) + Vec3::new(0.0, GRAVITY, 0.0)).norm() / GRAVITY;
        all.push([0.5 * (from + angle(patch)), force]);
        if all.len() > 3 * fps as usize {
            return Err(format!("still at {:.3}° after 3 s", angle(patch)));
        }
    }
    Ok(all)
}

/// The angle at which the contact force comes to zero, from a line through its last part, in which the whole patch still touches.
fn exit(all: &[[f64; 2]]) -> f64 {
    let last = all.iter().rposition(|[_, force]| *force > 0.15).unwrap_or(0);
    let part: Vec<[f64; 2]> = all[last..].iter().copied().filter(|[_, force]| *force > 0.02).collect();
    let n = part.len() as f64;
    let mean = [0, 1].map(|i| part.iter().map(|p| p[i]).sum::<f64>() / n);
    let (mut top, mut bottom) = (0.0, 0.0);
    for [angle, force] in &part {
        top += (angle - mean[0]) * (force - mean[1]);
        bottom += (force - mean[1]) * (force - mean[1]);
    }
    mean[0] - mean[1] * top / bottom
}

/// Friction, start and exit [°] of the cases that are run: from 5° beyond the angle of friction on.
fn cases(scope: Scope) -> Vec<[f64; 3]> {
    let frictions: &[f64] = if scope.quick { &[0.0] } else { &[0.0, 0.1, 0.3, 0.5] };
    let all = table(SPHERE_EXIT).into_iter().map(|row| std::array::from_fn(|i| num(&row[i])));
    let wanted = |[friction, start, _]: &[f64; 3]| {
        frictions.contains(friction) && (start - libm::atan(*friction).to_degrees() - 5.0).abs() < 1e-9
    };
    all.filter(wanted).collect()
}

fn fine_row(solver: &str, [friction, start, expected]: [f64; 3]) -> Try<Vec<Row>> {
    let case = |error| format!("μ = {friction}, frames of 1/{FINE} s: {error}");
    let mut fine = patch(&settings(solver), FINE, start, friction)?;
    let got = exit(&watch(&mut fine, FINE).map_err(case)?);
    let note = format!("from rest at {start:.2}°, frames of 1/{FINE} s");
    Ok(vec![Row::absolute(format!("`{solver}`, μ = {friction}: leaves at [°]"), expected, got, TOLERANCE).note(note)])
}

fn usual_row(solver: &str, [friction, start, expected]: [f64; 3]) -> Try<Vec<Row>> {
    let case = |error| format!("μ = {friction}, frames of 1/{USUAL} s: {error}");
    let mut usual = patch(&settings(solver), USUAL, start, friction)?;
    watch(&mut usual, USUAL).map_err(case)?;
    // At the exit v² = g R cos θ, and what is horizontal of it stays: √(g R) cos^{3/2} θ.
    let across = mean_velocity(&usual).x / GRAVITY.sqrt();
    let got = libm::acos(libm::pow(across, 2.0 / 3.0)).to_degrees();
    let note = format!("from the speed in flight {across:.4} √gR, frames of 1/{USUAL} s");
    let what = format!("`{solver}`, μ = {friction}: the same from its flight [°]");
    Ok(vec![Row::absolute(what, expected, got, TOLERANCE).note(note)])
}

pub(super) fn leave(scope: Scope) -> Try<Section> {
    let mut section = Section::new(format!(
        "A patch of 2 × 2 cells and 1 cm slides from rest down a sphere of 1 m, from 5° beyond the angle of friction on (`sphere_exit.csv`). \
         It leaves where the sphere no longer presses. The force of the sphere is the change of momentum in a frame less gravity; \
         the angle is where a line through it, from 15 % to 2 % of the weight, comes to zero (frames of 1/{FINE} s). With usual frames of 1/{USUAL} s the \
         angle follows from the flight: v_x = √(gR) cos^(3/2) θ. Substeps are the solvers' choice."
    ));
    for solver in solvers(scope, &["xpbd"], &["explicit, precision = \"f64\"", "newton, tolerance = 1e-10"]) {
        for case in cases(scope) {
            attempt(&mut section, solver, fine_row(solver, case));
            if !scope.quick {
                attempt(&mut section, solver, usual_row(solver, case));
            }
        }
    }
    Ok(section)
}
