//! Locking, measured: what B a strip shows and how a disc drapes, over edge lengths, for every stretch model with two bend models.
//!
//! ```sh
//! cargo run --release -p muslin-lab --example locking
//! cargo run --release -p muslin-lab --example locking -- faille explicit 10,7,5,3.5 spring,stvk
//! ```
//!
//! The arguments are a fabric, a solver, edge lengths in mm, and stretch models. A cloth that does not lock shows the same at every edge length. Rows go to standard output as a Markdown table.

use std::io::{self, Write};

use muslin_lab::{LabError, Sample, cantilever, cusick};

const STRETCH: [&str; 8] = [
    "spring",
    "spring:compression=0.1",
    "spring:stiffness=1e4",
    "spring:stiffness=1e4:compression=0.1",
    "stvk",
    "baraff_witkin",
    "neo_hookean",
    "spring:slack=0.02",
];
const BEND: [&str; 2] = ["isometric", "shell"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |index: usize, default: &str| arguments.get(index).map_or(default, String::as_str).to_owned();
    let (fabric, solver, lengths) = (given(0, "wool"), given(1, "explicit"), given(2, "10,7,5"));
    let lengths: Vec<f64> = lengths.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let models = given(3, &STRETCH.join(","));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{fabric}, {solver}: error of B in %, and drape coefficient in % / folds / force left in weights of a vertex\n"
    )?;
    let heads = |what: &str| lengths.iter().map(|mm| format!(" {what} {mm} mm |")).collect::<String>();
    writeln!(out, "| stretch | bend |{}{}", heads("B"), heads("drape"))?;
    writeln!(out, "|---|---|{}", "---|".repeat(2 * lengths.len()))?;
    for stretch in models.split(',') {
        for bend in BEND {
            write!(out, "| `{stretch}` | `{bend}` |")?;
            for test in [rigidity as fn(&Sample) -> Outcome, drape] {
                for mm in &lengths {
                    let mut sample = Sample::new(&fabric)?;
                    sample.solver.clone_from(&solver);
                    (sample.stretch, sample.bend) = (stretch.to_owned(), bend.to_owned());
                    sample.edge_length = Some(1e-3 * mm);
                    let outcome = test(&sample).or_else(|error| again(test, sample, error));
                    write!(out, " {} |", outcome.unwrap_or_else(|error| said(&error)))?;
                    out.flush()?;
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The number of a test, or why there is none.
type Outcome = Result<String, LabError>;

/// The same by `newton`, with an N, where the solver has blown up: `explicit` takes its step from a cloth at rest, which does not know how stiff a spring is that was slack there.
fn again(test: fn(&Sample) -> Outcome, sample: Sample, error: LabError) -> Outcome {
    match error {
        LabError::Failed(_) => Ok(format!("{} N", test(&Sample { solver: "newton".to_owned(), ..sample })?)),
        error => Err(error),
    }
}

fn rigidity(sample: &Sample) -> Outcome {
    Ok(format!("{:+.1}", 100.0 * cantilever(sample, &mut |_| {})?.error()))
}

fn drape(sample: &Sample) -> Outcome {
    let done = cusick(sample, &mut |_| {})?;
    let rest = if done.rest.is_reached { "" } else { " (moving)" };
    let left = done.rest.residual.unwrap_or(f64::NAN);
    Ok(format!("{:.1} / {} / {left:.1}{rest}", done.coefficient, done.folds.number))
}

/// Why there is no number.
fn said(error: &LabError) -> String {
    match error {
        LabError::Setting(_) => "-".to_owned(),
        _ => "failed".to_owned(),
    }
}
