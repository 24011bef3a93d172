//! T3.8: a ribbon clamped upright at its top and pushed against a floor slips once it is bowed enough.

use muslin::Simulation;

use crate::contact::{THICKNESS, attempt, elastica, settings, solvers};
use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, in_state, narrow_strip, set_state, simulation};
use crate::{Scope, Try};

/// Free length, in m, and cells along it.
const LENGTH: f64 = 0.2;
const CELLS: u32 = 40;

/// Time in which it buckles with its tip held, time in which it comes to rest, and time in which it is pushed, in s; and from where to where, in
/// compressions at which the elastica slips.
const BUCKLE: f64 = 1.0;
const SETTLE: f64 = 1.5;
const TIME: f64 = 3.0;
const FROM: f64 = 0.4;
const TO: f64 = 1.6;

/// The way of the tip that is a slip, and how far it was at most just before, in lengths.
const SLIPPED: f64 = 1e-2;
const STUCK: f64 = 1e-3;

/// Those that do not solve a step, with shorter ones.
const FINER: [&str; 3] = ["pbd, substeps = 160", "vbd, substeps = 160", "projective, substeps = 160"];

const FPS: u32 = 60;

/// A ribbon of 0.2 m, clamped over its top cell, whose clamp comes down by a part of its length while the tip is held, and then by another.
fn ribbon(solver: &str, friction: f64, [from, to]: [f64; 2]) -> Try<Simulation> {
    let tip = 2 * CELLS + 2;
    let text = format!(
        r#"
        fps = {FPS}
        gravity = [0, 0, 0]
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS}, friction = {friction:?} }}
        [[cloth]]
        mesh = "ribbon.obj"
        scale = {LENGTH}
        rotate = [0, 0, -90]
        translate = [0, {:?}, 0]
        [[cloth.pins]]
        vertices = [0, 1, 2, 3]
        path = [{{ time = 0 }}, {{ time = {BUCKLE:?}, offset = [0, {from:?}, 0] }}, {{ time = {SETTLE:?}, offset = [0, {from:?}, 0] }}, {{ time = {:?}, offset = [0, {to:?}, 0] }}]
        ease = "smooth"
        [[cloth.pins]]
        vertices = [{tip}, {}]
        until = {:?}
        [cloth.material]
        density = 0.2
        damping = 20.0
        stretch = {{ model = "spring", stiffness = 2000.0 }}
        bend = {{ model = "isometric", stiffness = 1e-3 }}
        [[collider]]
        plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
        "#,
        LENGTH + THICKNESS,
        SETTLE + TIME,
        tip + 1,
        0.5 * (BUCKLE + SETTLE),
        from = -from * LENGTH,
        to = -to * LENGTH,
    );
    let mut ribbon = simulation(&text, &narrow_strip(CELLS, 2.0))?;
    set_state(&mut ribbon, |state| {
        for x in &mut state.positions {
            // A bow too weak to be seen, so that it knows where to go.
            let s = ((LENGTH + THICKNESS - x.y) / LENGTH).clamp(0.0, 1.0);
            x.x += 1e-3 * LENGTH * libm::sin(std::f64::consts::PI * s);
        }
    })?;
    Ok(ribbon)
}

/// Pushes until the tip has slipped: the compression at which it began to, the most substeps of a frame, and the largest strain at the end.
fn push(solver: &str, friction: f64, exact: f64) -> Try<(f64, u32, f64)> {
    let [from, to] = [FROM * exact, TO * exact];
    let mut ribbon = ribbon(solver, friction, [from, to])?;
    let tip = 2 * CELLS as usize + 2;
    let [a, b] = [tip, tip + 1].map(|vertex| in_state(&ribbon, vertex));
    let place = |ribbon: &Simulation| 0.5 * (ribbon.state().positions[a].x + ribbon.state().positions[b].x) / LENGTH;
    let (first, mut before, mut onset, mut substeps) = (place(&ribbon), 0.0, from, 0);
    // Compression at a time, by the path of the clamp.
    let at = |time: f64| {
        let part = ((time - SETTLE) / TIME).max(0.0);
        from + (to - from) * part * part * (3.0 - 2.0 * part)
    };
    for frame in 0..((SETTLE + TIME) * f64::from(FPS)) as u32 {
        substeps = substeps.max(advance(&mut ribbon)?.substeps);
        let way = (place(&ribbon) - first).abs();
        if way >= STUCK && before < STUCK {
            onset = at((f64::from(frame) + (STUCK - before) / (way - before)) / f64::from(FPS));
        }
        if way > SLIPPED {
            return Ok((onset, substeps, ribbon.glance().max_strain));
        }
        before = way;
    }
    Err(format!(
        "μ = {friction}: the tip has not slipped at {TO} times the compression, but crept by {before:.1e} lengths"
    ))
}

pub(super) fn push_all(scope: Scope) -> Try<Section> {
    let frictions: &[f64] = if scope.quick { &[0.1] } else { &[0.1, 0.15, 0.2] };
    let curve = elastica::equilibria(0.25)?;
    let mut section = Section::new(format!(
        "A weightless ribbon of {LENGTH} m and {CELLS} cells hangs upright from a clamp with its tip on a floor. The clamp comes down to {FROM} of the compression at which the elastica slips while the tip is held; the tip is let go, \
         and the clamp goes on to {TO} of it within {TIME} s. The tip sticks until |H|/V of the floor's force is μ. The experiment is that of the stick–slip test of \
         Romero et al. 2021, without weight. The reference is the inextensible elastica, solved by shooting (`contact/elastica.rs`): the compression ε at which |H|/V = μ depends on \
         nothing else. The tip has slipped when it has gone 1 % of the length, and began to at 0.1 %. The experiment has no tolerance of its own; \
         the spread is that of the solvers about their mean. Every solver with its defaults."
    ));
    let mut points: Vec<Series> = Vec::new();
    let mut found = vec![Vec::new(); frictions.len()];
    for solver in solvers(scope, &["newton"], &FINER) {
        if solver == "shape_matching" {
            let why = "its regions keep their shape: a ribbon of them is no elastica, and the regions of 0.2 m are the ribbon";
            section.push(Row::impossible("`shape_matching`", why));
            continue;
        }
        let mut series = Vec::new();
        let rows = frictions.iter().zip(&mut found).map(|(&friction, found)| {
            let exact = elastica::slip(&curve, friction)?;
            let (got, substeps, strain) = push(&settings(solver), friction, exact)?;
            series.push([got, friction]);
            if !solver.contains(',') {
                found.push(got);
            }
            let what = format!("`{solver}`, μ = {friction}: compression at which it slips");
            Ok(Row::measured(what, Some(exact), got).note(format!("at most {substeps} substeps; strain {strain:.1e}")))
        });
        let rows: Vec<Try<Row>> = rows.collect();
        rows.into_iter().for_each(|row| attempt(&mut section, solver, row.map(|row| vec![row])));
        points.push(Series::marks(solver, series));
    }
    for (friction, found) in frictions.iter().zip(&found).filter(|(_, found)| found.len() > 1) {
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let spread = found.iter().map(|x| (x / mean - 1.0).abs()).fold(0.0, f64::max);
        let what = format!("all solvers with their defaults, μ = {friction}: mean, and the largest distance from it");
        section.push(
            Row::measured(what, Some(elastica::slip(&curve, *friction)?), mean)
                .note(format!("± {:.1} %", 100.0 * spread)),
        );
    }
    if !scope.quick {
        let line = curve.iter().map(|e| [e.compression, e.ratio]).collect();
        points.insert(0, Series::line("elastica", line));
        section.plots.push(Plot {
            stem: "stick_slip".to_owned(),
            title: "Friction at which a bowed ribbon slips".to_owned(),
            axes: ["compression ε".to_owned(), "|H|/V, or μ".to_owned()],
            scales: [Scale::Linear, Scale::Linear],
            series: points,
        });
    }
    Ok(section)
}
