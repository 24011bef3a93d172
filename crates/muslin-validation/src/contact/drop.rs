//! T3.6: a sheet dropped on a body neither enters it nor gains energy.

use muslin::Simulation;
use muslin::mesh::Mesh;
use muslin::output::Diagnostics;

use crate::contact::{attempt, settings, solvers};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, simulation};
use crate::{Scope, Try};

/// In m.
const THICKNESS: f64 = 5e-3;

/// Energy from nowhere, as a part of the energy scale.
const ENERGY: f64 = 0.01;

/// What the energies of single precision may be rounded by, as a part of the scale.
const ROUNDING: f64 = 1e-6;

const BODIES: [(&str, &str); 2] = [
    ("sphere", "sphere = { center = [0, 0, 0], radius = 0.15 }"),
    ("box", "box = { center = [0, 0, 0], size = [0.2, 0.3, 0.2], rotate = [0, 20, 0] }"),
];

fn sheet(solver: &str, body: &str) -> Try<Simulation> {
    let text = format!(
        r#"
        fps = 60
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS:?}, friction = 0.3 }}
        [[cloth]]
        grid = {{ size = [0.5, 0.5], cells = [16, 16] }}
        translate = [0, 0.17, 0]
        velocity = [0, -2, 0]
        [[collider]]
        {body}
        "#
    );
    simulation(&text, &Mesh::default())
}

fn rows(solver: &str, (name, body): (&str, &str), frames: usize) -> Try<Vec<Row>> {
    let mut sheet = sheet(&settings(solver), body)?;
    // What these two hold their shape with is no energy of the scene: their motion and height are what there is.
    let is_blind = matches!(solver, "pbd" | "shape_matching");
    let parts = |d: &Diagnostics| (d.kinetic_energy + if is_blind { 0.0 } else { d.elastic_energy }, d.gravity_energy);
    let (mut scale, height) = parts(&sheet.diagnose());
    let start = scale + height;
    let mut last = start;
    let (mut depth, mut error, mut rise, mut contacts, mut substeps) = (0.0_f64, 0.0_f64, 0.0_f64, 0, 0);
    for _ in 0..frames {
        substeps = substeps.max(advance(&mut sheet)?.substeps);
        let d = sheet.diagnose();
        depth = depth.max(-d.min_gap.unwrap_or(f64::NAN));
        let (stirred, height) = parts(&d);
        let total = stirred + height;
        scale = scale.max(stirred);
        error = error.max(if is_blind { total - start } else { d.energy_error.unwrap_or(f64::NAN) });
        rise = rise.max(total - last);
        last = total;
        contacts = contacts.max(d.contacts);
    }
    let what = |what: &str| format!("`{solver}`, {name}: {what}");
    let note = format!("up to {contacts} vertices touch; at most {substeps} substeps");
    let rises = what("largest rise of the energy in a frame over the scale");
    Ok(vec![
        Row::bound(what("largest depth over thickness"), depth / THICKNESS, 1.0).note(note),
        Row::bound(what("energy error over the scale"), error / scale, ENERGY).note(match is_blind {
            true => format!("of {scale:.3} J; motion and height alone"),
            false => format!("of {scale:.3} J"),
        }),
        match is_blind {
            true => Row::measured(rises, None, rise / scale)
                .note("what keeps its shape is no energy of the scene, and gives back what it took"),
            false => Row::bound(rises, rise / scale, ROUNDING),
        },
    ])
}

pub(super) fn drop(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A sheet of 0.5 m and 16 × 16 cells falls on a body with 2 m/s, with friction 0.3, and slides off or hangs over it: one second, every \
         solver with its defaults. The depth is how far a vertex is inside of the thickness; at 1 it would touch the body itself. `energy_error` \
         is the total energy above that of the start (nothing does work here), and the total energy must not rise from one frame to the \
         next, but for the rounding of single precision. The scale is the most there was in motion and strain.",
    );
    for solver in solvers(scope, &["newton"], &["auto, quality = { max_strain = 0.1 }"]) {
        for body in BODIES.into_iter().take(if scope.quick { 1 } else { 2 }) {
            attempt(&mut section, solver, rows(solver, body, if scope.quick { 15 } else { 60 }));
        }
    }
    Ok(section)
}
