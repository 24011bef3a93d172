//! T3.7: what carries a cloth at rest carries its weight.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::Mesh;

use crate::contact::{GRAVITY, THICKNESS, attempt, mass, mean_velocity, settings, solvers};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, simulation};
use crate::{Scope, Try};

/// Relative, converged.
const TOLERANCE: f64 = 1e-6;

/// The defaults of these are single precision.
const FINER: [&str; 3] = ["xpbd, precision = \"f64\"", "explicit, precision = \"f64\"", "vbd, precision = \"f64\""];

const FPS: f64 = 60.0;

/// A patch on a plane that rises with `speed` [m/s], and the patch with it.
fn patch(solver: &str, degrees: f64, speed: f64) -> Try<Simulation> {
    let t = degrees.to_radians();
    let gravity = [GRAVITY * libm::sin(t), -GRAVITY * libm::cos(t), 0.0];
    let path = match speed == 0.0 {
        true => String::new(),
        false => format!("path = [{{ time = 0 }}, {{ time = 100, offset = [0, {:?}, 0] }}]", 100.0 * speed),
    };
    let text = format!(
        r#"
        fps = {FPS:?}
        gravity = {gravity:?}
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS}, friction = 0.5 }}
        [[cloth]]
        grid = {{ size = [0.1, 0.1], cells = [4, 4] }}
        translate = [0, {THICKNESS}, 0]
        velocity = [0, {speed:?}, 0]
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
        {path}
        "#
    );
    simulation(&text, &Mesh::default())
}

/// The largest error of the contact force in a frame over the weight, once the patch has lain for half a second.
fn force_error(solver: &str, degrees: f64, frames: usize) -> Try<f64> {
    let mut patch = patch(solver, degrees, 0.0)?;
    let gravity = patch.model().gravity;
    let mut worst = 0.0_f64;
    for frame in 0..30 + frames {
        let before = mean_velocity(&patch);
        advance(&mut patch)?;
        if frame >= 30 {
            // F/M = Δv/Δt − g, to be compared with −g.
            let force: Vec3<f64> = (mean_velocity(&patch) - before) * FPS - gravity;
            worst = worst.max((force + gravity).norm() / GRAVITY);
        }
    }
    Ok(worst)
}

/// The same force from the ledger: what a plane that rises evenly does in work, over its way, over the weight.
fn lifting_force(solver: &str, frames: usize) -> Try<f64> {
    const SPEED: f64 = 0.1;
    let mut patch = patch(solver, 0.0, SPEED)?;
    let run = |patch: &mut Simulation, frames: usize| (0..frames).try_for_each(|_| advance(patch).map(drop));
    run(&mut patch, 30)?;
    let before = patch.state().work.bodies;
    run(&mut patch, frames)?;
    let work = patch.state().work.bodies - before;
    Ok(work / (SPEED * frames as f64 / FPS) / (mass(&patch) * GRAVITY))
}

fn rows(solver: &str, scope: Scope) -> Try<Vec<Row>> {
    let frames = if scope.quick { 10 } else { 60 };
    let text = settings(solver);
    let mut rows = Vec::new();
    for degrees in [0.0, 20.0] {
        let what = format!("`{solver}`, {degrees}°: contact force less weight, over weight, worst of {frames} frames");
        rows.push(
            Row::bound(what, force_error(&text, degrees, frames)?, TOLERANCE).note("from the change of momentum"),
        );
    }
    let what = format!("`{solver}`: force of a plane that rises, over weight");
    rows.push(Row::relative(what, 1.0, lifting_force(&text, frames)?, TOLERANCE).note("its work over its way"));
    Ok(rows)
}

pub(super) fn weight(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A patch of 4 × 4 cells lies on a plane, level and on a slope of 20° on which it sticks. The library does not tell contact forces, so \
         they are read in two ways. The momentum of the cloth changes by what gravity and contact give it: at rest, contact gives the weight \
         in every frame. And a plane that carries the patch up at 0.1 m/s does work on it, which the ledger of \
         the solver sums from its own contact forces: over the way, that is the weight again.",
    );
    for solver in solvers(scope, &["pbd", "newton"], &FINER) {
        attempt(&mut section, solver, rows(solver, scope));
    }
    Ok(section)
}
