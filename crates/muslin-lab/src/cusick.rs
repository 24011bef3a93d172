//! The drape test: a disc of cloth on a smaller disc [Cusick 1968; BS 5058].
//!
//! The sample has a diameter of 30 cm and lies between two discs of 18 cm, which hold it: only the ring around them is simulated, with one row of triangles that is held. Light from above gives its
//! [`Shadow`]. The ring starts flat but for waves of all fold numbers, so that none is preferred: their height is 0.3 mm at the rim.
//!
//! It falls and swings for two seconds, hardly damped, and is then brought to rest at critical damping. A ring that is lowered slowly keeps the many folds in which it buckles first: they
//! are equilibria of a higher energy. Falling merges them.

use std::f64::consts::TAU;

use muslin::Simulation;
use muslin::mesh::Mesh;

use crate::cantilever::positions;
use crate::measured::{self, MeasuredDrape};
use crate::rest::{Patience, Rest, relax};
use crate::sample::{GRAVITY, Rig, Sample};
use crate::shadow::{Folds, Shadow};
use crate::{LabError, Progress, sheet};

/// Radius of the disc, in m.
pub const DISC: f64 = 0.09;
/// Radius of the sample, in m.
pub const RADIUS: f64 = 0.15;
/// The edge length that it takes by itself, in m.
pub const EDGE_LENGTH: f64 = 5e-3;
/// Frames a second.
const FPS: f64 = 60.0;
/// Height of the waves at the start, in m.
const WAVES: f64 = 3e-4;
/// Fold numbers of these waves.
const NUMBERS: [usize; 9] = [2, 3, 4, 5, 6, 7, 8, 9, 10];
/// The golden ratio turns the waves against each other.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Time in which it swings, in s: folds that are too many merge on the way, as they do where a sample is let fall.
const SWING: f64 = 2.0;
/// Decay rate of the velocities in that time over the rate of the swing.
const FREE_DAMPING: f64 = 0.05;
/// The end of the time that is simulated, and the usual one, in s.
const LIMIT: f64 = 6.0;
const USUAL: f64 = 3.25;

/// What the drape test gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Cusick {
    /// The shadow.
    pub shadow: Shadow,
    /// Drape coefficient, in %.
    pub coefficient: f64,
    /// Its folds.
    pub folds: Folds,
    /// What was measured of this fabric, if anything.
    pub measured: Option<&'static MeasuredDrape>,
    /// Time and coefficient on the way, in s and %.
    pub history: Vec<[f64; 2]>,
    /// Mean length of the edges, in m.
    pub edge_length: f64,
    /// Largest strain of an edge at the end.
    pub strain: f64,
    /// How far from rest it ended; what must not change is the coefficient, in %.
    pub rest: Rest,
    /// The ring.
    pub mesh: Mesh,
    /// Where its vertices are, in m; the disc has its top at y = 0.
    pub positions: Vec<[f64; 3]>,
}

/// Runs the test.
pub fn cusick(sample: &Sample, told: &mut dyn FnMut(Progress)) -> Result<Cusick, LabError> {
    sample.check()?;
    let edge_length = sample.edge_length.unwrap_or(EDGE_LENGTH);
    let rest = sheet::annulus(DISC, RADIUS, edge_length)?;
    let radius = |p: &[f64; 3]| libm::hypot(p[0], p[2]);
    let is_held = |p: &[f64; 3]| radius(p) < DISC * (1.0 + 1e-9);
    let held: Vec<u32> = (0..rest.positions.len() as u32).filter(|&v| is_held(&rest.positions[v as usize])).collect();
    let start = rest.positions.iter().map(|p| if is_held(p) { *p } else { [p[0], wave(p), p[2]] }).collect();
    // The ring swings about as a pendulum of its width.
    let swing = (GRAVITY / (RADIUS - DISC)).sqrt();
    let damping = FREE_DAMPING * swing;
    let rig = Rig { rest: rest.clone(), start, held: held.clone(), density: None, gravity: GRAVITY, fps: FPS, damping };
    let mut simulation = sample.simulation(&rig)?;
    let patience =
        Patience { fps: FPS, swing: SWING, damping: 2.0 * swing, window: 0.25, way: 2.5e-4, change: 0.1, limit: LIMIT };
    let triangles = &rest.triangles;
    let mut history = Vec::new();
    let coefficient = |s: &Simulation| Shadow::of_mesh(&positions(s), triangles).coefficient(DISC, RADIUS);
    let outcome = relax(&mut simulation, &held, &patience, coefficient, |time, value| {
        history.push([time, value]);
        told(Progress { share: (time / USUAL).min(1.0), words: format!("{time:.2} s, {value:.1} %") });
    })?;
    let x = positions(&simulation);
    let shadow = Shadow::of_mesh(&x, triangles);
    Ok(Cusick {
        coefficient: shadow.coefficient(DISC, RADIUS),
        folds: shadow.folds(),
        shadow,
        measured: measured::drape(sample.fabric.name),
        history,
        edge_length: sheet::mean_edge(&rest),
        strain: simulation.diagnose().max_strain,
        rest: outcome,
        positions: x,
        mesh: rest,
    })
}

/// Height of the start, in m.
fn wave(p: &[f64; 3]) -> f64 {
    let (radius, angle) = (libm::hypot(p[0], p[2]), libm::atan2(p[2], p[0]));
    let part = (radius - DISC) / (RADIUS - DISC);
    let sum: f64 = NUMBERS.iter().map(|&n| libm::cos(n as f64 * angle + TAU * GOLDEN * (n * n) as f64)).sum();
    WAVES * part * part * sum / (NUMBERS.len() as f64).sqrt()
}
