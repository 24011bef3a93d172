//! T2.9: whether the stiffness of a hanging cloth depends on steps and iterations.

use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, has_solver, positions, simulation};
use crate::{Scope, Test, Try};
use muslin::mesh::Mesh;

/// The tests of this file.
pub(crate) const TESTS: &[Test] =
    &[Test { number: "2.9", title: "Stiffness does not depend on steps and iterations", run: hanging_cloth }];

/// How far a sheet that hangs by a whole edge reaches down at rest, in m, and its speed then.
fn extent(cells: u32, fps: u32, solver: &str, stretch: &str, frames: usize) -> Try<(f64, f64)> {
    let text = format!(
        r#"
        fps = {fps}
        solver = {{ {solver} }}
        [[cloth]]
        grid = {{ size = [1.0, 1.0], cells = [{cells}, {cells}] }}
        rotate = [90.0, 0.0, 0.0]
        pins = [ {{ select = "z_min" }} ]
        material = {{ density = 0.2, damping = 6.0, stretch = {{ model = "spring", {stretch} }}, bend = {{ model = "none" }} }}
        "#
    );
    let mut hung = simulation(&text, &Mesh::default())?;
    for _ in 0..frames {
        advance(&mut hung)?;
    }
    let y: Vec<f64> = positions(&hung).iter().map(|x| x.y).collect();
    let (low, high) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
    Ok((high - low, hung.diagnose().max_speed))
}

fn hanging_cloth(scope: Scope) -> Try<Section> {
    let cells = if scope.quick { 16 } else { 32 };
    let mut section = Section::new(format!(
        "A sheet of {cells} × {cells} cells hangs by an edge, Y = 20 N/m (it stretches by about 5 %); how far it reaches down at rest. XPBD keeps its stiffness once its iterations \
         converge; PBD's k does not mean one. `newton` is the reference."
    ));
    let frames = if scope.quick { 120 } else { 240 };
    let stretch = "stiffness = 20.0";
    let reference = if has_solver("newton") {
        // At rest the step does not matter, and long ones get there sooner.
        Some(extent(cells, 2, r#"kind = "newton", substeps = 1, iterations = 30, tolerance = 1e-8"#, stretch, 12)?.0)
    } else {
        None
    };
    if let Some(reference) = reference {
        section.push(Row::measured("`newton`, h = 1/2 s: extent", None, reference));
    }
    let budgets: &[(u32, u32)] =
        if scope.quick { &[(1, 80), (4, 20), (16, 5)] } else { &[(1, 20), (1, 80), (1, 160), (4, 20), (16, 10)] };
    for &(substeps, iterations) in budgets {
        let solver = format!(r#"kind = "xpbd", substeps = {substeps}, iterations = {iterations}"#);
        let (got, speed) = extent(cells, 60, &solver, stretch, frames)?;
        let what = format!("`xpbd`, {substeps} substeps × {iterations} iterations: extent");
        let note = format!("{speed:.0e} m/s left");
        // Converged in the sense of the suite: enough substeps or iterations for the residual.
        let converged = substeps * substeps * iterations >= if scope.quick { 80 } else { 160 };
        section.push(match reference {
            Some(reference) if converged => Row::relative(what, reference, got, 0.01).note(note),
            _ => Row::measured(what, reference, got).note(note),
        });
    }
    let mut extents = Vec::new();
    for (substeps, iterations) in [(1, 20), (4, 20)] {
        let solver = format!(r#"kind = "pbd", substeps = {substeps}, iterations = {iterations}"#);
        let (got, _) = extent(cells, 60, &solver, "k = 0.01", frames)?;
        section.push(Row::measured(
            format!("`pbd`, k = 0.01, {substeps} substeps × {iterations} iterations: extent"),
            None,
            got,
        ));
        extents.push(got);
    }
    let spread = (extents[0] - extents[1]).abs() / extents[1];
    section.push(
        Row::holds(
            "`pbd`, k = 0.01: depends on the step",
            "by more than 1 %",
            format!("by {:.0} %", 100.0 * spread),
            spread > 0.01,
        )
        .by_nature("a part of the error per step is no stiffness"),
    );
    Ok(section)
}
