//! T3: contact with bodies and with cloth, and friction.
//!
//! Every solver is run with its defaults, substeps of its own choice among them; where a test asks for a step, it is given as substeps. Some are
//! run once more with finer settings, which tells what of an error is the method's and what a default's.

mod capstan;
mod drop;
mod elastica;
mod incline;
mod layers;
mod rest;
mod ribbon;
mod sphere;

use muslin::Simulation;
use muslin::math::Vec3;

use crate::report::Section;
use crate::row::Row;
use crate::stage::{advance, momenta};
use crate::{Scope, Test, Try};

/// The tests of this folder.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "3.1", title: "Patch on an incline", run: incline::slope },
    Test { number: "3.2", title: "Stopping distance", run: incline::stop },
    Test { number: "3.3", title: "Leaving a sphere", run: sphere::leave },
    Test { number: "3.4", title: "Strip over a cylinder", run: capstan::slip },
    Test { number: "3.6", title: "Drop on a sphere and on a box", run: drop::drop },
    Test { number: "3.7", title: "Weight at rest", run: rest::weight },
    Test { number: "3.8", title: "Ribbon pushed against a floor: stick and slip", run: ribbon::push_all },
    Test { number: "3.9", title: "Cloth on cloth on an incline", run: layers::slope },
];

/// Every solver that offers contact.
const SOLVERS: [&str; 8] = ["xpbd", "auto", "pbd", "explicit", "newton", "vbd", "projective", "shape_matching"];

/// Acceleration of free fall, in m/s².
const GRAVITY: f64 = 9.81;

/// Of contact, in m.
const THICKNESS: f64 = 1e-3;

/// The solvers of a run: all and some with `finer` settings, or a few in the quick scope.
fn solvers(scope: Scope, quick: &[&'static str], finer: &[&'static str]) -> impl Iterator<Item = &'static str> + use<> {
    let all = if scope.quick { quick.to_vec() } else { [&SOLVERS, finer].concat() };
    all.into_iter()
}

/// A solver as a scene says it: with the settings that follow its name, and else its defaults.
fn settings(solver: &str) -> String {
    let (kind, more) = solver.split_once(", ").unwrap_or((solver, ""));
    format!("kind = \"{kind}\"{}{more}", if more.is_empty() { "" } else { ", " })
}

/// Adds what a solver came to; one that cannot be run has failed.
fn attempt(section: &mut Section, solver: &str, rows: Try<Vec<Row>>) {
    match rows {
        Ok(rows) => rows.into_iter().for_each(|row| section.push(row)),
        Err(error) => {
            let note = error.lines().next().unwrap_or_default().to_owned();
            section.push(Row::holds(format!("`{solver}`: comes to a result"), "yes", "no", false).note(note));
        }
    }
}

/// Σ m, in kg.
fn mass(simulation: &Simulation) -> f64 {
    simulation.model().masses.iter().sum()
}

/// Σ m v / Σ m, in m/s.
fn mean_velocity(simulation: &Simulation) -> Vec3<f64> {
    momenta(simulation).0 * (1.0 / mass(simulation))
}

/// A measurement with the case that it belongs to, of which the worst is kept.
struct Worst {
    error: f64,
    case: String,
    values: [f64; 2],
    count: usize,
}

impl Worst {
    fn new() -> Self {
        Self { error: -1.0, case: String::new(), values: [0.0; 2], count: 0 }
    }

    /// Takes a case with its error, and what should be and what is; what is no number is worse than any.
    fn take(&mut self, error: f64, case: impl FnOnce() -> String, values: [f64; 2]) {
        self.count += 1;
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if error > self.error {
            (self.error, self.case, self.values) = (error, case(), values);
        }
    }

    /// Takes a case whose error is relative.
    fn take_relative(&mut self, case: impl FnOnce() -> String, values: [f64; 2]) {
        self.take((values[1] / values[0] - 1.0).abs(), case, values);
    }
}

/// Frames a second, and frames in which a patch on a slope is watched.
const FPS: u32 = 60;
const FRAMES: usize = 30;

/// Creep of what sticks, in sides a second; error of an acceleration; and error of the angle of friction, in degrees.
const CREEP: f64 = 1e-4;
const ACCELERATION: f64 = 5e-3;
const ANGLE: f64 = 0.1;

/// What a patch does that starts from rest on a slope towards +x.
struct Slide {
    /// Mean acceleration, in m/s².
    acceleration: f64,
    /// Speed in the second half of the time, in m/s.
    speed: f64,
    /// Whether it gets faster: creep goes as far in the second half as in the first, a slide three times as far.
    slides: bool,
    /// The most of a frame.
    substeps: u32,
    /// Vertices that contact with cloth held back or cut short, summed over frames.
    held: usize,
}

impl Slide {
    /// Of the first cloth, whose side is so long, in m.
    fn watch(simulation: &mut Simulation, side: f64) -> Try<Self> {
        let [start, _] = first_cloth(simulation);
        let (mut half, mut substeps, mut held) = (start, 0, 0);
        for frame in 1..=FRAMES {
            let report = advance(simulation)?;
            substeps = substeps.max(report.substeps);
            held += report.contact_stats.held + report.contact_stats.cut;
            if frame == FRAMES / 2 {
                [half, _] = first_cloth(simulation);
            }
        }
        let time = FRAMES as f64 / f64::from(FPS);
        let [end, velocity] = first_cloth(simulation);
        let (first, second) = (half.x - start.x, end.x - half.x);
        Ok(Self {
            acceleration: velocity.x / time,
            speed: second / (0.5 * time),
            slides: second > 2.0 * first.max(0.0) && second > CREEP * side * time,
            substeps,
            held,
        })
    }
}

/// Mean place and velocity of the first cloth, in m and m/s.
fn first_cloth(simulation: &Simulation) -> [Vec3<f64>; 2] {
    let (model, state) = (simulation.model(), simulation.state());
    let vertices = model.cloths[0].vertices.clone();
    let total: f64 = model.masses[vertices.clone()].iter().sum();
    [&state.positions, &state.velocities].map(|all| {
        let sum = vertices.clone().fold(Vec3::ZERO, |sum, v| sum + all[v] * model.masses[v]);
        sum * (1.0 / total)
    })
}

/// The angle from which on a patch slides, in degrees, halved in from 1.28° on either side of a guess; not a number where it is not there.
fn angle_of_friction(guess: f64, halvings: u32, mut slides: impl FnMut(f64) -> Try<bool>) -> Try<f64> {
    let (mut low, mut high) = (guess - 1.28, guess + 1.28);
    if slides(low)? || !slides(high)? {
        return Ok(f64::NAN);
    }
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        *(if slides(middle)? { &mut high } else { &mut low }) = middle;
    }
    Ok(0.5 * (low + high))
}
