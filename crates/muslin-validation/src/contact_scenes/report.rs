//! The table as Markdown and as comma-separated values.

use std::fmt::Write as _;

use super::cell::{Frame, Run};
use super::judge::{Cell, Fault, MOST_ENERGY, MOST_STRAIN, Verdict};
use super::{CONVERGED, LIMIT, MOST_HALVINGS, REFERENCE_STEP, Row, Table};

/// The report: a matrix of verdicts, then every scene with its numbers.
pub fn markdown(command: &str, table: &Table) -> String {
    let mut out = introduction(command);
    let _ = writeln!(out, "| scene | {} |\n|---|{}", table.solvers.join(" | "), "---|".repeat(table.solvers.len()));
    for row in &table.rows {
        let cells: Vec<String> = row.cells.iter().map(|cell| in_short(&cell.verdict)).collect();
        let _ = writeln!(out, "| {} | {} |", label(row), cells.join(" | "));
    }
    for row in &table.rows {
        out += &section(row);
    }
    out
}

fn introduction(command: &str) -> String {
    format!(
        "# Solvers in contact\n\n\
         Every solver through every scene of [scenes/contact](scenes/contact), measured. Muslin {}; this file and `contact.csv` are written by\n\n\
         ```\n{command}\n```\n\n\
         A solver runs with its defaults: it chooses its own substeps. Self-contact is on. A cell is **ok** where all of this holds:\n\n\
         - no frame in which cloth cuts cloth or a mesh, as the IPC Toolkit finds;\n\
         - energy from nowhere of at most {} % of the energy scale, in any frame. The scale is the most that a frame of the run has in motion, in strain, in height and in work done on the cloth;\n\
         - a largest strain of at most {} times that of the reference. The reference is `explicit` at {} of its longest stable step, or at less: the step is halved until that changes the largest strain by at most {} %, {MOST_HALVINGS} times at most;\n\
         - all frames within {} s of processor time, on one thread.\n\n\
         Else the cell says what does not hold. **by nature**: `pbd` and `shape_matching` do not read the stiffness of the scene, so that energy and strain cannot be asked of them, \
         and a solver that is not defined for a model of the scene does not run it.\n\n",
        env!("CARGO_PKG_VERSION"),
        100.0 * MOST_ENERGY,
        MOST_STRAIN,
        REFERENCE_STEP,
        100.0 * CONVERGED,
        LIMIT,
    )
}

/// The head of a row of the matrix. Where the strain of the reference is not certain, that of the cells is not either.
fn label(row: &Row) -> String {
    let link = format!("[{0}](#{0})", row.name);
    match row.reference.change {
        Some(part) if part <= CONVERGED => link,
        Some(part) => format!("{link}, reference ± {:.0} %", 100.0 * part),
        None => format!("{link}, reference not refined"),
    }
}

fn section(row: &Row) -> String {
    let reference = &row.reference.cell;
    let run = reference.run.as_ref();
    let mut out = format!("\n## {}\n\n{}", row.name, row.summary);
    if let Some(run) = run {
        let _ = write!(out, " {} vertices, {} frames.", run.vertices, run.wanted);
    }
    if let Some((substeps, part)) = row.reference.step {
        let _ =
            write!(out, " The reference takes {substeps} substeps a frame, each at most {part:.2} of what is stable.");
    }
    match row.reference.change {
        Some(part) if part <= CONVERGED => {
            let _ = write!(out, " Half the step changed its largest strain by {:.1} %.", 100.0 * part);
        }
        Some(part) => {
            let _ = write!(
                out,
                " **It is not converged**: half the step still changed its largest strain by {:.0} %.",
                100.0 * part
            );
        }
        None => out += " **Nobody knows whether it is converged**: with half the step it did not come to its end.",
    }
    out += "\n\n| solver | verdict | energy from nowhere | strain | of the reference | frames with cuts | centre of mass | held | cut short | substeps | wall | processor |\n\
            |---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for cell in std::iter::once(reference).chain(&row.cells) {
        let _ = writeln!(out, "| {} |", cells_of(cell).join(" | "));
    }
    out
}

/// The numbers of a cell, a column each.
fn cells_of(cell: &Cell) -> Vec<String> {
    let run = cell.run.as_ref();
    let of_run = |text: &dyn Fn(&Run) -> String| run.map_or(String::new(), text);
    let number = |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or(String::new(), text);
    let seconds = |s: f64| format!("{s:.1} s");
    vec![
        cell.solver.clone(),
        in_full(&cell.verdict),
        number(cell.energy, &percent),
        number(cell.strain, &percent),
        number(cell.strain_ratio, &|ratio| format!("{ratio:.2}")),
        of_run(&|run| run.cuts.map_or(String::new(), |count| count.to_string())),
        number(cell.distance, &|way| format!("{:.1} mm", 1e3 * way)),
        of_run(&|run| sum(run, |frame| frame.held).to_string()),
        of_run(&|run| sum(run, |frame| frame.cut_vertices).to_string()),
        of_run(&|run| {
            substeps(run).map_or(String::new(), |(least, most)| {
                if least == most { least.to_string() } else { format!("{least} to {most}") }
            })
        }),
        of_run(&|run| seconds(run.wall)),
        number(run.and_then(|run| run.processor), &seconds),
    ]
}

fn sum(run: &Run, count: impl Fn(&Frame) -> usize) -> usize {
    run.frames.iter().map(count).sum()
}

fn substeps(run: &Run) -> Option<(u32, u32)> {
    let all = || run.frames.iter().map(|frame| frame.substeps);
    all().min().zip(all().max())
}

fn percent(part: f64) -> String {
    // Less than nothing from nowhere is a loss, which is as it should be; its size says little.
    if part <= 0.0 { "none".to_owned() } else { format!("{:.2} %", 100.0 * part) }
}

/// A few words, for the matrix.
fn in_short(verdict: &Verdict) -> String {
    let word = |fault: &Fault| match fault {
        Fault::Stopped(frame) => format!("{LIMIT} s, frame {frame}"),
        Fault::Broke(frame, _) => format!("error, frame {}", frame + 1),
        Fault::Cuts(frames) => format!("cuts {frames}"),
        Fault::Energy(part) => format!("energy +{:.1} %", 100.0 * part),
        Fault::Strain(ratio) => format!("strain {ratio:.2} ×"),
        Fault::NoReference => "no reference".to_owned(),
    };
    match verdict {
        Verdict::Holds => "ok".to_owned(),
        Verdict::ByNature(_) => "by nature".to_owned(),
        Verdict::Fails(faults) => faults.iter().map(word).collect::<Vec<_>>().join(", "),
    }
}

/// Everything, for the table of a scene and the file of values.
fn in_full(verdict: &Verdict) -> String {
    let word = |fault: &Fault| match fault {
        Fault::Stopped(frame) => format!("stopped at frame {frame}, {LIMIT} s"),
        Fault::Broke(frame, why) => format!("error in frame {}: {}", frame + 1, one_line(why)),
        Fault::Cuts(frames) => format!("{frames} frames with cuts"),
        Fault::Energy(part) => format!("energy +{:.2} %", 100.0 * part),
        Fault::Strain(ratio) => format!("strain {ratio:.2} × reference"),
        Fault::NoReference => "no frame of the reference to compare with".to_owned(),
    };
    match verdict {
        Verdict::Holds => "ok".to_owned(),
        Verdict::ByNature(why) => format!("by nature: {why}"),
        Verdict::Fails(faults) => format!("**FAIL** {}", faults.iter().map(word).collect::<Vec<_>>().join("; ")),
    }
}

/// A message that fits between the bars of a table.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/")
}

/// One line for each cell, the reference first; SI units, empty where there is no number.
pub fn csv(table: &Table) -> String {
    let mut out =
        "scene,solver,verdict,frames,frames_wanted,energy_part,max_strain,strain_of_reference,frames_with_cuts,\
                   center_distance_m,held,cut_vertices,substeps_least,substeps_most,wall_s,processor_s\n"
            .to_owned();
    for row in &table.rows {
        for cell in std::iter::once(&row.reference.cell).chain(&row.cells) {
            let _ = writeln!(out, "{},{}", row.name, values(cell).join(","));
        }
    }
    out
}

fn values(cell: &Cell) -> Vec<String> {
    let run = cell.run.as_ref();
    let of_run = |text: &dyn Fn(&Run) -> String| run.map_or(String::new(), text);
    let number = |value: Option<f64>| value.map_or(String::new(), |x| format!("{x:.6e}"));
    let whole = |value: Option<u32>| value.map_or(String::new(), |n| n.to_string());
    let range = run.and_then(substeps);
    vec![
        cell.solver.clone(),
        format!("\"{}\"", in_full(&cell.verdict).replace("**", "").replace('"', "\"\"")),
        of_run(&|run| run.frames.len().to_string()),
        of_run(&|run| run.wanted.to_string()),
        number(cell.energy),
        number(cell.strain),
        number(cell.strain_ratio),
        of_run(&|run| run.cuts.map_or(String::new(), |count| count.to_string())),
        number(cell.distance),
        of_run(&|run| sum(run, |frame| frame.held).to_string()),
        of_run(&|run| sum(run, |frame| frame.cut_vertices).to_string()),
        whole(range.map(|r| r.0)),
        whole(range.map(|r| r.1)),
        of_run(&|run| format!("{:.3}", run.wall)),
        run.and_then(|run| run.processor).map_or(String::new(), |s| format!("{s:.3}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::super::judge::Nature;
    use super::super::judge::tests::run;
    use super::*;

    fn table() -> Table {
        let reference = run(&[(0.0, 0.1)]);
        let judge = |name: &str, nature: &Nature, run: Option<&Run>| Cell::judged(name, nature, run, Some(&reference));
        let cells = vec![
            judge("xpbd", &Nature::Physical, Some(&run(&[(0.0, 0.1)]))),
            judge("auto", &Nature::Physical, Some(&run(&[(0.1, 0.15)]))),
            judge("projective", &Nature::Undefined("it needs a projection".to_owned()), None),
        ];
        let own = Cell::judged("reference", &Nature::Physical, Some(&reference), None);
        let row = Row {
            name: "ring".to_owned(),
            summary: "A ring.".to_owned(),
            reference: Reference { step: Some((40, 0.5)), change: Some(0.3), cell: own },
            cells,
        };
        Table { solvers: vec!["xpbd", "auto", "projective"], rows: vec![row] }
    }

    #[test]
    fn every_cell_holds_or_says_why_not() {
        let text = markdown("cargo xtask validate contact", &table());
        assert!(
            text.contains("| [ring](#ring), reference ± 30 % | ok | energy +5.0 %, strain 1.50 × | by nature |"),
            "{text}"
        );
        assert!(text.contains("| projective | by nature: it needs a projection |"), "{text}");
        assert!(text.contains("| reference | ok | none | 10.00 % |  | 0 |"), "{text}");
        assert!(text.contains("each at most 0.50 of what is stable. **It is not converged**"), "{text}");
        assert_eq!(table().failures(), 1);
    }

    #[test]
    fn every_line_of_values_has_every_column() {
        let text = csv(&table());
        let columns = |line: &str| line.split(',').count();
        let mut lines = text.lines();
        let wanted = columns(lines.next().expect("a head"));
        let all: Vec<&str> = lines.collect();
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|line| columns(line) == wanted), "{text}");
    }

    #[test]
    fn a_message_does_not_break_the_table() {
        let verdict = Verdict::Fails(vec![Fault::Broke(4, "a | b\nc".to_owned())]);
        assert_eq!(in_full(&verdict), "**FAIL** error in frame 5: a / b c");
    }
}
