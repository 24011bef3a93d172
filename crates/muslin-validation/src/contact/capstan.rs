//! T3.4: a strip over a cylinder, drawn over it by its longer end.

use std::f64::consts::PI;

use muslin::Simulation;
use muslin::mesh::Mesh;

use crate::contact::{GRAVITY, THICKNESS, attempt, settings, solvers};
use crate::fixtures::{CAPSTAN, STRIP_OVER_CYLINDER, lookup};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, in_state, simulation};
use crate::{Scope, Try};

/// Of the strip on the cylinder, in m.
const RADIUS: f64 = 0.1;
/// Cells on the half turn.
const WRAP: usize = 64;
/// Their length, and the width of the strip, in m.
const CELL: f64 = PI * RADIUS / WRAP as f64;
/// In kg/m².
const DENSITY: f64 = 0.2;

const FPS: u32 = 60;
/// Time to come to rest, in s. Then the pull rises by `RATE` of what the law says in a second, up to `HIGH` of it, from the first of `LOW` on; where it
/// slips at once, from the second on.
const SETTLE: f64 = 0.5;
const RATE: f64 = 0.15;
const LOW: [f64; 2] = [0.85, 0.3];
const HIGH: f64 = 1.6;

/// Ways of the strip where the shorter side meets the cylinder, in m: from where and to where it is watched to find when it began. Damping alone brakes a pull that rises evenly, so the way
/// goes as the square of the time since.
const WAYS: [f64; 2] = [3e-4, 2e-3];

/// Of the ratio.
const TOLERANCE: f64 = 0.02;

/// A strip over a cylinder about the z axis, one cell wide, with so many cells hanging at −x and at +x: vertices 2i and 2i + 1 in row i from the end at −x.
fn strip(hanging: [usize; 2]) -> Mesh {
    let rows = hanging[0] + WRAP + hanging[1];
    let mut mesh = Mesh::default();
    for i in 0..=rows {
        let (s, end) = (i as f64 - hanging[0] as f64, WRAP as f64);
        let [x, y] = if s < 0.0 {
            [-RADIUS, s * CELL]
        } else if s > end {
            [RADIUS, (end - s) * CELL]
        } else {
            let angle = PI * (s / end - 0.5);
            [RADIUS * libm::sin(angle), RADIUS * libm::cos(angle)]
        };
        mesh.positions.extend([[x, y, -0.5 * CELL], [x, y, 0.5 * CELL]]);
    }
    for i in 0..rows as u32 {
        let [a, b, c, d] = [2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3];
        mesh.triangles.extend(if i % 2 == 0 { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
    }
    mesh
}

/// A strip, what hangs on its ends at the start, and the tension on the longer side at which it should slip.
struct Set {
    friction: f64,
    gravity: f64,
    hanging: [usize; 2],
    /// Tensions of the two sides at the cylinder, in weights of a strip of a radius, or what stands for it without weight.
    short: f64,
    slip: f64,
}

/// What was seen of a strip.
struct Slip {
    /// The ratio of the tensions at which it slips.
    ratio: f64,
    /// The most of a frame.
    substeps: u32,
    /// Largest strain at the end.
    strain: f64,
}

/// Pulls from a part `low` of what the law says on; none if it slips at once.
fn pull(solver: &str, set: &Set, low: f64) -> Try<Option<Slip>> {
    let text = format!(
        r#"
        fps = {FPS}
        gravity = [0, {:?}, 0]
        solver = {{ {solver} }}
        contact = {{ thickness = {THICKNESS}, friction = {:?} }}
        [[cloth]]
        mesh = "strip.obj"
        material = {{ density = {DENSITY}, damping = 10.0, stretch = {{ stiffness = 2000.0 }}, bend = {{ model = "none" }} }}
        [[collider]]
        capsule = {{ a = [0, 0, -0.2], b = [0, 0, 0.2], radius = {:?} }}
        "#,
        -set.gravity,
        set.friction,
        RADIUS - THICKNESS
    );
    let mut strip = simulation(&text, &strip(set.hanging))?;
    let unit = DENSITY * CELL * RADIUS * GRAVITY;
    let hanging = |side: usize| set.hanging[side] as f64 * CELL / RADIUS * set.gravity / GRAVITY;
    let last = 2 * (set.hanging[0] + WRAP + set.hanging[1]);
    // Where the shorter side meets the cylinder: what hangs below it stretches, and that is no slip.
    let edge = in_state(&strip, 2 * set.hanging[0]);
    let height = |strip: &Simulation| strip.state().positions[edge].y;
    let long = |time: f64| set.slip * (low + RATE * (time - SETTLE).max(0.0));
    let (mut start, mut before, mut passed, mut substeps) = (height(&strip), 0.0, None, 0);
    for frame in 0..((SETTLE + (HIGH - low) / RATE) * f64::from(FPS)) as u32 {
        let time = f64::from(frame) / f64::from(FPS);
        let middle = time + 0.5 / f64::from(FPS);
        for (first, tension, side) in [(0, set.short, 0), (last, long(middle), 1)] {
            let pull = 0.5 * unit * (tension - hanging(side));
            for vertex in [first, first + 1] {
                strip.add_force(0, vertex, [0.0, -pull, 0.0]).map_err(|e| e.to_string())?;
            }
        }
        substeps = substeps.max(advance(&mut strip)?.substeps);
        if time < SETTLE {
            start = height(&strip);
            continue;
        }
        let way = height(&strip) - start;
        let crosses = |mark: f64| time + (mark - before) / (way - before) / f64::from(FPS);
        if before < WAYS[0] && way >= WAYS[0] {
            passed = Some(crosses(WAYS[0]));
        }
        if let (Some(first), true) = (passed, way >= WAYS[1]) {
            let roots = WAYS.map(f64::sqrt);
            let onset = first - (crosses(WAYS[1]) - first) * roots[0] / (roots[1] - roots[0]);
            let strain = strip.glance().max_strain;
            let slip = Slip { ratio: long(onset) / set.short, substeps, strain };
            return Ok((onset > SETTLE).then_some(slip));
        }
        before = way;
    }
    Err(format!("μ = {}: it sticks with {HIGH} of what should slip, and has come {:.1e} m", set.friction, before))
}

fn row(solver: &str, what: &str, set: &Set) -> Try<Row> {
    let run = |low| pull(&settings(solver), set, low);
    let found = match run(LOW[0])? {
        None => run(LOW[1])?,
        found => found,
    };
    let found = found.ok_or_else(|| format!("μ = {}: it slips with {} of what should hold", set.friction, LOW[1]))?;
    let what = format!("`{solver}`, {what}, μ = {}", set.friction);
    let note = format!("at most {} substeps; strain at most {:.1e}", found.substeps, found.strain);
    Ok(Row::relative(what, set.slip / set.short, found.ratio, TOLERANCE).note(note))
}

/// Without weight: e^{μπ}.
fn light(friction: f64) -> Try<Set> {
    let ratio = lookup(CAPSTAN, &[&format!("{friction}"), "180"], 2)?;
    Ok(Set { friction, gravity: 0.0, hanging: [8, 8], short: 1.0, slip: ratio })
}

/// Under its weight, with `short` radii hanging at the short side; a tenth of the long side is given as a force.
fn heavy(friction: f64, short: f64) -> Try<Set> {
    let slip = lookup(STRIP_OVER_CYLINDER, &[&format!("{friction}"), &format!("{short}")], 2)?;
    let cells = |length: f64| (length * RADIUS / CELL) as usize;
    Ok(Set { friction, gravity: GRAVITY, hanging: [cells(short), cells(0.8 * slip)], short, slip })
}

pub(super) fn slip(scope: Scope) -> Try<Section> {
    let mut section = Section::new(format!(
        "A limp strip lies over half of a horizontal cylinder of {RADIUS} m, with {WRAP} cells on the half turn, and hangs down on both sides. A force pulls at the ends; \
         that on the longer side rises slowly from 0.85 of what should make it slip, or from 0.3 where it slips there. The ratio is that of the tensions where the strip meets the cylinder, or of the \
         lengths that would weigh as much, when the strip begins to move where the shorter side meets the cylinder (from its way between 0.3 mm and 2 mm, which goes as the square of the time). Without weight it is e^(μπ) (`capstan.csv`), with weight the \
         solution of T′ = μ (T + wR cos φ) − wR sin φ (`heavy_strip_over_cylinder.csv`). The strip should stretch by a thousandth; its damping is 10 /s. \
         Every solver with its defaults."
    ));
    let sets = match scope.quick {
        true => vec![("e^(μπ)", light(0.2)?)],
        false => vec![
            ("e^(μπ)", light(0.2)?),
            ("e^(μπ)", light(0.5)?),
            ("heavy, l₁ = R", heavy(0.1, 1.0)?),
            ("heavy, l₁ = R", heavy(0.3, 1.0)?),
            ("heavy, l₁ = R/2", heavy(0.5, 0.5)?),
        ],
    };
    for solver in solvers(scope, &["projective"], &["newton, tolerance = 1e-10"]) {
        if solver == "shape_matching" {
            let why = "its regions keep their shape and carry no tension that is a force: a strip of them is a hoop";
            section.push(Row::impossible("`shape_matching`", why));
            continue;
        }
        for (what, set) in &sets {
            attempt(&mut section, solver, row(solver, what, set).map(|row| vec![row]));
        }
    }
    Ok(section)
}
