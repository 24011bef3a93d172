//! T3.1 and 3.2: a patch that sticks, slides and stops.

use muslin::Simulation;
use muslin::mesh::Mesh;

use crate::contact::{
    ACCELERATION, ANGLE, CREEP, FPS, FRAMES, GRAVITY, Slide, THICKNESS, Worst, angle_of_friction, attempt,
    mean_velocity, settings, solvers,
};
use crate::fixtures::{INCLINE, STOPPING, num, table};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, center, simulation};
use crate::{Scope, Try};

/// Side of the patch, in m.
const SIDE: f64 = 0.1;

/// Of a stopping distance.
const DISTANCE: f64 = 0.01;

/// A patch of 4 × 4 cells on a plane, in gravity that pulls as on a slope towards +x.
fn patch(solver: &str, degrees: f64, friction: f64, speed: f64) -> Try<Simulation> {
    let t = degrees.to_radians();
    let gravity = [GRAVITY * libm::sin(t), -GRAVITY * libm::cos(t), 0.0];
    let text = format!(
        r#"
        fps = {FPS}
        gravity = {gravity:?}
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS}, friction = {friction:?} }}
        [[cloth]]
        grid = {{ size = [{SIDE}, {SIDE}], cells = [4, 4] }}
        translate = [0, {THICKNESS}, 0]
        velocity = [{speed:?}, 0, 0]
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
        "#
    );
    simulation(&text, &Mesh::default())
}

fn slide(solver: &str, degrees: f64, friction: f64) -> Try<Slide> {
    Slide::watch(&mut patch(solver, degrees, friction, 0.0)?, SIDE)
}

/// Slopes of the table: friction, degrees, acceleration; without those at the angle of friction itself.
fn cases(scope: Scope) -> Vec<[f64; 3]> {
    let all = table(INCLINE).into_iter().map(|row| [num(&row[0]), num(&row[1]), num(&row[2]), num(&row[4])]);
    let apart = all.filter(|[_, limit, degrees, _]| (limit - degrees).abs() > ANGLE);
    let every = if scope.quick { 17 } else { 3 };
    apart.map(|[friction, _, degrees, expected]| [friction, degrees, expected]).step_by(every).collect()
}

fn slope_rows(solver: &str, scope: Scope) -> Try<Vec<Row>> {
    let text = settings(solver);
    let (mut acceleration, mut creep, mut angle) = (Worst::new(), Worst::new(), Worst::new());
    let mut most = 0;
    for [friction, degrees, expected] in cases(scope) {
        let case = || format!("μ = {friction}, {degrees}°");
        let got = slide(&text, degrees, friction)?;
        most = most.max(got.substeps);
        if expected == 0.0 {
            let speed = got.speed / SIDE;
            creep.take(speed.abs(), case, [0.0, speed]);
        } else {
            acceleration.take_relative(case, [expected, got.acceleration]);
        }
    }
    let (frictions, halvings): (&[f64], u32) = if scope.quick { (&[0.3], 6) } else { (&[0.1, 0.3, 0.8], 7) };
    for &friction in frictions {
        let limit = libm::atan(friction).to_degrees();
        let got = angle_of_friction(limit, halvings, |degrees| Ok(slide(&text, degrees, friction)?.slides))?;
        angle.take((got - limit).abs(), || format!("μ = {friction}"), [limit, got]);
    }
    let substeps = |note: &str| format!("{note}; at most {most} substeps in a frame of 1/{FPS} s, its own choice");
    let what = |what: &str, worst: &Worst| format!("`{solver}`: {what}, worst of {}", worst.count);
    let [expected, got] = acceleration.values;
    let [limit, found] = angle.values;
    Ok(vec![
        Row::relative(what("acceleration of a slide [m/s²]", &acceleration), expected, got, ACCELERATION)
            .note(substeps(&acceleration.case)),
        Row::bound(what("creep of what sticks [sides/s]", &creep), creep.error, CREEP).note(creep.case),
        Row::absolute(what("angle from which on it slides [°]", &angle), limit, found, ANGLE).note(angle.case),
    ])
}

pub(super) fn slope(scope: Scope) -> Try<Section> {
    let mut section = Section::new(format!(
        "A patch of 4 × 4 cells and {SIDE} m lies on a plane; gravity is turned as on a slope (`incline.csv`: seven μ, ten angles; \
         a part of them). It sticks where tan θ ≤ μ, and else slides with g (sin θ − μ cos θ). Watched for {FRAMES} frames at {FPS} a second. \
         Sliding means getting faster: the way of the second half is more than twice that of the first. The angle of friction is \
         halved in to 0.02°. Creep is the speed in the second half. Every solver with its defaults; the last row turns the plane itself."
    ));
    for solver in solvers(scope, &["xpbd", "pbd", "newton"], &[]) {
        attempt(&mut section, solver, slope_rows(solver, scope));
    }
    attempt(&mut section, "xpbd", turned_row("xpbd").map(|row| vec![row]));
    Ok(section)
}

/// A plane that is turned itself, with a patch that is turned with it.
fn turned_row(solver: &str) -> Try<Row> {
    let (degrees, friction) = (25.0_f64, 0.3);
    let t = degrees.to_radians();
    let (y, z) = (libm::cos(t), libm::sin(t));
    let text = format!(
        r#"
        fps = {FPS}
        solver = {{ kind = "{solver}" }}
        contact = {{ thickness = {THICKNESS}, friction = {friction} }}
        [[cloth]]
        grid = {{ size = [{SIDE}, {SIDE}], cells = [4, 4] }}
        rotate = [{degrees:?}, 0, 0]
        translate = [0, {:?}, {:?}]
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, {y:?}, {z:?}] }}
        "#,
        THICKNESS * y,
        THICKNESS * z
    );
    let mut patch = simulation(&text, &Mesh::default())?;
    for _ in 0..FRAMES {
        advance(&mut patch)?;
    }
    let v = mean_velocity(&patch);
    let got = (v.z * y - v.y * z) * f64::from(FPS) / FRAMES as f64;
    let what = format!("`{solver}`: acceleration on a plane turned by {degrees}° [m/s²]");
    Ok(Row::relative(what, GRAVITY * (z - friction * y), got, ACCELERATION).note(format!("μ = {friction}")))
}

/// How far a patch goes until it stops, in m, and the substeps of its first frame.
fn stopping_distance(solver: &str, friction: f64, speed: f64, time: f64) -> Try<(f64, u32)> {
    let mut patch = patch(solver, 0.0, friction, speed)?;
    let start = center(&patch).x;
    let mut substeps = 0;
    for frame in 0..(1.05 * time * f64::from(FPS)) as usize + 4 {
        let taken = advance(&mut patch)?.substeps;
        substeps = if frame == 0 { taken } else { substeps };
    }
    Ok((center(&patch).x - start, substeps))
}

fn stop_rows(solver: &str, scope: Scope) -> Try<Vec<Row>> {
    let every = if scope.quick { 4 } else { 1 };
    let cases = || table(STOPPING).into_iter().step_by(every).map(|row| std::array::from_fn(|i| num(&row[i])));
    let mut rows = Vec::new();
    if solver == "auto" {
        rows.push(Row::impossible("`auto`: at h = 1/240 s", "it takes no substeps; see its default below"));
    } else {
        let step = 1.0 / 240.0;
        let text = format!("kind = \"{solver}\", substeps = {}", 240 / FPS);
        let (mut exact, mut coarse) = (Worst::new(), Worst::new());
        for [friction, speed, distance, time] in cases() {
            let (got, _) = stopping_distance(&text, friction, speed, time)?;
            let case = || format!("μ = {friction}, {speed} m/s");
            let short = 0.5 * speed * step;
            if short < 0.0099 * distance {
                exact.take_relative(case, [distance, got]);
            } else {
                coarse.take_relative(case, [distance - short, got]);
            }
        }
        let [distance, got] = exact.values;
        let what = format!("`{solver}`: distance at h = 1/240 s [m], worst of {}", exact.count);
        rows.push(Row::relative(what, distance, got, DISTANCE).note(exact.case));
        if coarse.count > 0 {
            let [law, got] = coarse.values;
            let what = format!("`{solver}`: the same where v h/2 is over 1 % of it, worst of {}", coarse.count);
            let row = Row::relative(what, law, got, DISTANCE);
            rows.push(row.by_nature(format!("{}; v²/2μg − v h/2: the first step brakes already", coarse.case)));
        }
    }
    let (mut own, mut law) = (Worst::new(), Worst::new());
    let mut steps = (u32::MAX, 0);
    for [friction, speed, distance, time] in cases() {
        let (got, substeps) = stopping_distance(&settings(solver), friction, speed, time)?;
        steps = (steps.0.min(substeps), steps.1.max(substeps));
        let case = || format!("μ = {friction}, {speed} m/s");
        own.take_relative(case, [distance, got]);
        law.take_relative(case, [distance - 0.5 * speed / f64::from(FPS * substeps), got]);
    }
    let note = |case: &str| format!("{case}; {} to {} substeps in the first frame of 1/{FPS} s", steps.0, steps.1);
    let [distance, got] = own.values;
    let what = format!("`{solver}`: distance with its defaults [m], worst of {}", own.count);
    rows.push(Row::measured(what, Some(distance), got).note(note(&own.case)));
    let [distance, got] = law.values;
    let what = format!("`{solver}`: the same against the law of its step, worst of {}", law.count);
    rows.push(Row::relative(what, distance, got, DISTANCE).by_nature(format!("{}; v²/2μg − v h/2", law.case)));
    Ok(rows)
}

pub(super) fn stop(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "The patch of 3.1 slides on a level plane until it stops: v²/2μg (`stopping.csv`: three μ, three speeds), within 1 % at h = 1/240 s. \
         Friction brakes in the first step already, so the way is v h/2 shorter; where that alone is more than the \
         tolerance, and for the steps that a solver chooses, the row compares with the law with it.",
    );
    for solver in solvers(scope, &["xpbd", "newton"], &[]) {
        attempt(&mut section, solver, stop_rows(solver, scope));
    }
    Ok(section)
}
