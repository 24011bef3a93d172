//! T3.9: cloth that sticks to cloth, and slides on it.

use muslin::Simulation;
use muslin::mesh::Mesh;

use crate::contact::{
    ACCELERATION, ANGLE, CREEP, FPS, GRAVITY, Slide, THICKNESS, Worst, angle_of_friction, attempt, settings, solvers,
};
use crate::report::Section;
use crate::row::Row;
use crate::stage::simulation;
use crate::{Scope, Try};

/// Side of the upper cloth, in m.
const SIDE: f64 = 0.1;

/// A patch on a strip that is held, in gravity that pulls as on a slope towards +x; nothing but cloth.
fn layers(solver: &str, (degrees, friction): (f64, f64), is_turned: bool) -> Try<Simulation> {
    let t = degrees.to_radians();
    let gravity = [GRAVITY * libm::sin(t), -GRAVITY * libm::cos(t), 0.0];
    let [turn, x, z] = if is_turned { [10.0, 0.0037, 0.0071] } else { [0.0; 3] };
    let text = format!(
        r#"
        fps = {FPS}
        gravity = {gravity:?}
        solver = {{ {solver} }}
        contact = {{ self_contact = true, thickness = {THICKNESS}, friction = {friction:?} }}
        [[cloth]]
        name = "patch"
        grid = {{ size = [{SIDE}, {SIDE}], cells = [4, 4] }}
        rotate = [0, {turn}, 0]
        translate = [{x}, {THICKNESS:?}, {z}]
        [[cloth]]
        name = "strip"
        grid = {{ size = [1.2, 0.3], cells = [24, 6] }}
        translate = [0.4, 0, 0]
        pins = [ {{ select = "all" }} ]
        "#
    );
    simulation(&text, &Mesh::default())
}

fn rows(solver: &str, is_turned: bool, scope: Scope) -> Try<Vec<Row>> {
    let text = settings(solver);
    let (frictions, halvings): (&[f64], u32) = if scope.quick { (&[0.3], 5) } else { (&[0.1, 0.3, 0.8], 6) };
    let (mut acceleration, mut creep, mut angle) = (Worst::new(), Worst::new(), Worst::new());
    let (mut most, mut held) = (0, 0);
    for &friction in frictions {
        let limit = libm::atan(friction).to_degrees();
        let watch = |degrees| Slide::watch(&mut layers(&text, (degrees, friction), is_turned)?, SIDE);
        for beside in [-2.0, -0.1, 5.0, 15.0] {
            let degrees = limit + beside;
            let t = degrees.to_radians();
            let expected = GRAVITY * (libm::sin(t) - friction * libm::cos(t));
            let case = || format!("μ = {friction}, {degrees:.2}°");
            let got = watch(degrees)?;
            (most, held) = (most.max(got.substeps), held.max(got.held));
            if beside < 0.0 {
                creep.take(got.speed.abs() / SIDE, case, [0.0, got.speed]);
            } else {
                acceleration.take_relative(case, [expected, got.acceleration]);
            }
        }
        // Halving in takes the longest; the turned patch stands for both.
        if is_turned {
            let got = angle_of_friction(limit, halvings, |degrees| Ok(watch(degrees)?.slides))?;
            angle.take((got - limit).abs(), || format!("μ = {friction}"), [limit, got]);
        }
    }
    let lies = if is_turned { "turned" } else { "edge on edge" };
    let what = |what: &str, worst: &Worst| format!("`{solver}`, {lies}: {what}, worst of {}", worst.count);
    let [expected, got] = acceleration.values;
    let mut rows = vec![
        Row::relative(what("acceleration of a slide [m/s²]", &acceleration), expected, got, ACCELERATION)
            .note(format!("{}; at most {most} substeps, {held} times a vertex was held or cut", acceleration.case)),
        Row::bound(what("creep of what sticks [sides/s]", &creep), creep.error, CREEP).note(creep.case),
    ];
    if is_turned {
        let [limit, found] = angle.values;
        rows.push(
            Row::absolute(what("angle from which on it slides [°]", &angle), limit, found, ANGLE).note(angle.case),
        );
    }
    Ok(rows)
}

pub(super) fn slope(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "The patch of 3.1 lies on a strip of cloth of 5 cm cells, all of it held, with self-contact, once turned by 10° and once with its edges on those of the strip; gravity is turned as on a slope. \
         It is measured and judged as in 3.1: slides 5° and 15° beyond the angle of friction, creep 2° and 0.1° below it. Every solver with its defaults.",
    );
    for solver in solvers(
        scope,
        &["vbd"],
        &["pbd, substeps = 40", "newton, substeps = 40", "projective, substeps = 40", "shape_matching, substeps = 40"],
    ) {
        for is_turned in [true, false].into_iter().take(if scope.quick { 1 } else { 2 }) {
            attempt(&mut section, solver, rows(solver, is_turned, scope));
        }
    }
    Ok(section)
}
