//! What a test gave, in words and numbers.

use muslin_lab::shear::KES;
use muslin_lab::{Cantilever, Cusick, Rest, Sample, Shear, Tensile};
use serde_json::{Value, json};

use super::Done;
use crate::table::Table;

/// A result for people and for programs.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) table: Table,
    /// What the numbers beside the simulated ones are, and what to know.
    pub(crate) notes: Vec<String>,
    pub(crate) rest: Rest,
    /// What must not change at rest, as in `changed by 0.02 points`.
    unit: &'static str,
    pub(crate) vertices: usize,
    /// Mean length of the edges, in m.
    pub(crate) edge_length: f64,
    pub(crate) simulated: Value,
    /// Of the fabric in a laboratory; null where nobody measured it.
    pub(crate) measured: Value,
    /// What the models were given.
    pub(crate) material: Value,
}

impl Finding {
    /// What a test of a sample gave.
    pub(crate) fn of(done: &Done, sample: &Sample) -> Self {
        match done {
            Done::Cantilever(done) => cantilever(done),
            Done::Cusick(done) => cusick(done),
            Done::Tensile(done) => tensile(done, sample),
            Done::Shear(done) => shear(done),
        }
    }

    /// How far from rest it ended.
    pub(crate) fn rest_in_words(&self) -> String {
        let Rest { is_reached, time, window, speed, change, carried, residual, .. } = self.rest;
        let first = if is_reached { "at rest after" } else { "not at rest after" };
        let mut words = format!(
            "{first} {time:.2} s: at most {:.2} mm/s and a change of {change:.2} {} in the last {window:.2} s",
            1e3 * speed,
            self.unit
        );
        if let (Some(carried), Some(residual)) = (carried, residual) {
            words += &format!(
                "; the clamp carries {:.1} % of the weight, {residual:.1e} weights of a vertex are left as force",
                100.0 * carried
            );
        }
        words
    }

    /// The same for programs.
    pub(crate) fn rest_json(&self) -> Value {
        let Rest { is_reached, time, window, speed, change, brakes, carried, residual } = self.rest;
        json!({ "at_rest": is_reached, "time": time, "window": window, "speed": speed, "change": change, "brakes": brakes,
                "carried": carried, "residual": residual })
    }
}

/// `+1.2 %`, of a value beside another.
fn off(value: f64, other: f64) -> String {
    format!("{:+.1} %", 100.0 * (value / other - 1.0))
}

/// A number, or a dash where there is none.
fn dashed(value: Option<f64>, words: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), words)
}

fn cantilever(done: &Cantilever) -> Finding {
    let mut table = Table::new(["quantity", "simulated", "put in", "error"], &[1, 2, 3]);
    let (mm, micro) = (|x: f64| format!("{:.2} mm", 1e3 * x), |x: f64| format!("{:.2} µN·m", 1e6 * x));
    let length = off(done.bending_length, done.expected_length);
    table.row(["bending length c".into(), mm(done.bending_length), mm(done.expected_length), length]);
    let error = off(done.rigidity, done.expected_rigidity);
    table.row(["bending rigidity B".into(), micro(done.rigidity), micro(done.expected_rigidity), error]);
    let angle = format!("{:.1}°", done.angle.to_degrees());
    table.row([format!("overhang at {angle}"), mm(done.overhang), mm(2.0 * done.expected_length), String::new()]);
    let steps: Vec<Value> = done.steps.iter().map(|[length, angle]| json!([length, angle.to_degrees()])).collect();
    Finding {
        table,
        notes: vec!["put in: B of the bend model, and what follows from it for an elastica; no cantilever of this fabric was measured".to_owned()],
        rest: done.rest,
        unit: "rad",
        vertices: done.positions.len(),
        edge_length: done.edge_length,
        simulated: json!({ "bending_length": done.bending_length, "rigidity": done.rigidity, "overhang": done.overhang,
                           "angle": done.angle.to_degrees(), "steps": steps }),
        measured: Value::Null,
        material: json!({ "rigidity": done.expected_rigidity, "bending_length": done.expected_length }),
    }
}

fn cusick(done: &Cusick) -> Finding {
    let mut table = Table::new(["quantity", "simulated", "measured", "difference"], &[1, 2, 3]);
    let percent = |x: f64| format!("{x:.1} %");
    let measured = done.measured;
    table.row([
        "drape coefficient".into(),
        percent(done.coefficient),
        dashed(measured.map(|m| m.coefficient), percent),
        dashed(measured.map(|m| done.coefficient - m.coefficient), |x| format!("{x:+.1} points")),
    ]);
    table.row([
        "folds, by the spectrum".into(),
        done.folds.number.to_string(),
        measured.map_or_else(|| "-".to_owned(), |m| m.folds.to_string()),
        measured.map_or_else(|| "-".to_owned(), |m| format!("{:+}", done.folds.number as i64 - m.folds as i64)),
    ]);
    table.row(["crests of the outline".into(), done.folds.crests.to_string(), "-".into(), "-".into()]);
    table.row(["mean depth of a fold".into(), format!("{:.1} mm", 1e3 * done.folds.depth), "-".into(), "-".into()]);
    table.row(["largest strain".into(), format!("{:.2} %", 100.0 * done.strain), "-".into(), "-".into()]);
    let notes = match measured {
        Some(m) => vec![
            format!("measured: {}", m.source),
            format!("not simulated: bending hysteresis, which holds {:.3} mN of moment per width", 1e3 * m.hysteresis),
        ],
        None => vec!["nobody measured a drape of this fabric".to_owned()],
    };
    Finding {
        table,
        notes,
        rest: done.rest,
        unit: "points",
        vertices: done.positions.len(),
        edge_length: done.edge_length,
        simulated: json!({ "drape_coefficient": done.coefficient, "folds": done.folds.number, "crests": done.folds.crests,
                           "fold_depth": done.folds.depth, "max_strain": done.strain, "spectrum": done.folds.amplitudes,
                           "outline": done.shadow.radii, "history": done.history }),
        measured: measured.map_or(Value::Null, |m| {
            json!({ "drape_coefficient": m.coefficient, "folds": m.folds, "bending_hysteresis": m.hysteresis, "source": m.source })
        }),
        material: Value::Null,
    }
}

fn tensile(done: &Tensile, sample: &Sample) -> Finding {
    let heading = ["direction", "strain", "force", "secant", "material", "error", "narrowing"];
    let mut table = Table::new(heading, &[1, 2, 3, 4, 5, 6]);
    let mut curves = serde_json::Map::new();
    for curve in &done.curves {
        for pull in &curve.pulls {
            table.row([
                curve.direction.name().to_owned(),
                format!("{:.1} %", 100.0 * pull.strain),
                format!("{:.2} N/m", pull.force),
                format!("{:.0} N/m", pull.secant()),
                dashed(done.stiffness, |y| format!("{y:.0} N/m")),
                dashed(done.stiffness, |y| off(pull.secant(), y)),
                format!("{:.3}", pull.narrowing),
            ]);
        }
        let rows: Vec<Value> = curve
            .pulls
            .iter()
            .map(|pull| json!({ "strain": pull.strain, "force": pull.force, "secant": pull.secant(), "narrowing": pull.narrowing }))
            .collect();
        curves.insert(curve.direction.name().to_owned(), rows.into());
    }
    let source = match sample.fabric.stretch {
        Some(_) => "material: the stiffness Y of the fabric, which is generic",
        None => {
            "material: the stiffness Y of the stretch model; nobody measured the tension of this fabric, --stretch spring:stiffness=2e4 gives another"
        }
    };
    let worst = |a: &Rest, b: &Rest| {
        if a.is_reached == b.is_reached { b.speed.total_cmp(&a.speed) } else { a.is_reached.cmp(&b.is_reached) }
    };
    let rests = done.curves.iter().map(|curve| curve.rest);
    let rest = rests.reduce(|a, b| if worst(&a, &b).is_gt() { b } else { a });
    Finding {
        table,
        notes: vec![
            source.to_owned(),
            "secant: force per width over strain; narrowing: of the middle, over strain; clamps keep their width"
                .to_owned(),
        ],
        rest: rest.unwrap_or(done.curves[0].rest),
        unit: "N/m",
        vertices: done.mesh.positions.len(),
        edge_length: done.edge_length,
        simulated: curves.into(),
        measured: Value::Null,
        material: json!({ "stiffness": done.stiffness }),
    }
}

fn shear(done: &Shear) -> Finding {
    let mut table = Table::new(["angle", "force", "secant", "secant (KES)"], &[0, 1, 2, 3]);
    for [angle, force] in &done.curve {
        let secant = force / angle.to_radians();
        table.row([
            format!("{angle:.1}°"),
            format!("{force:.2} N/m"),
            format!("{secant:.0} N/m"),
            format!("{:.2} gf/(cm·°)", secant / KES),
        ]);
    }
    let expected = dashed(done.expected, |g| {
        format!(", of the material {g:.0} N/m = {:.2} gf/(cm·°): {}", g / KES, off(done.stiffness, g))
    });
    Finding {
        table,
        notes: vec![
            format!("G from 0.5° to 2.5°: {:.0} N/m = {:.2} gf/(cm·°){expected}", done.stiffness, done.stiffness / KES),
            "material: the shear stiffness that the stretch model has; nobody measured that of this fabric".to_owned(),
        ],
        rest: done.rest,
        unit: "N/m",
        vertices: done.positions.len(),
        edge_length: done.edge_length,
        simulated: json!({ "shear_stiffness": done.stiffness, "shear_stiffness_kes": done.stiffness / KES, "curve": done.curve }),
        measured: Value::Null,
        material: json!({ "shear_stiffness": done.expected }),
    }
}
