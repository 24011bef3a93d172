//! The tensile test: a strip between two clamps, pulled to given strains along warp, weft and bias.
//!
//! ```text
//! F = Σ f / w      f the elastic forces on the vertices of a clamp, along the strip: what its pins hold; w the width
//! ```
//!
//! F is the derivative of the elastic energy by the way of the clamp, over the width. The strip is 5 cm wide, 20 cm long and without weight, as it lies on a table; its clamps keep their width.

use muslin::Simulation;
use muslin::mesh::Mesh;

use crate::cantilever::positions;
use crate::rest::{Patience, Rest, relax};
use crate::sample::{Rig, Sample};
use crate::{LabError, Progress, sheet};

/// Width and length of the strip, in m.
pub const STRIP: [f64; 2] = [0.05, 0.2];
/// The edge length that it takes by itself, in m.
pub const EDGE_LENGTH: f64 = 10e-3;
/// Strains at which the force is read.
pub const STRAINS: [f64; 6] = [0.005, 0.01, 0.02, 0.03, 0.04, 0.05];

/// Time of the slowest swing, and frames a second.
pub(crate) const PERIOD: f64 = 0.04;
pub(crate) const FPS: f64 = 500.0;

/// A direction of pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along the warp.
    Warp,
    /// Along the weft.
    Weft,
    /// At 45° to both.
    Bias,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Warp, Self::Weft, Self::Bias];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warp => "warp",
            Self::Weft => "weft",
            Self::Bias => "bias",
        }
    }

    /// The angle of the warp from x to z, in rad; the strip is pulled along z.
    fn warp_angle(self) -> f64 {
        match self {
            Self::Warp => std::f64::consts::FRAC_PI_2,
            Self::Weft => 0.0,
            Self::Bias => std::f64::consts::FRAC_PI_4,
        }
    }
}

/// A strip that is pulled to a strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Way of the clamp over the length of the strip.
    pub strain: f64,
    /// Force per width, in N/m.
    pub force: f64,
    /// Narrowing in the middle over the strain: Poisson's ratio.
    pub narrowing: f64,
}

impl Pull {
    /// Force per width over strain, in N/m.
    pub fn secant(&self) -> f64 {
        self.force / self.strain
    }
}

/// The curve of a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The direction.
    pub direction: Direction,
    /// At rising strains.
    pub pulls: Vec<Pull>,
    /// How far from rest the last one ended; what must not change is the force per width, in N/m.
    pub rest: Rest,
    /// Where the vertices are at the end, in m.
    pub positions: Vec<[f64; 3]>,
}

/// What the tensile test gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensile {
    /// Warp, weft and bias.
    pub curves: Vec<Curve>,
    /// In-plane stiffness Y of the material, in N/m, where it has one.
    pub stiffness: Option<f64>,
    /// Mean length of the edges, in m.
    pub edge_length: f64,
    /// The strip.
    pub mesh: Mesh,
}

/// Runs the test.
pub fn tensile(sample: &Sample, told: &mut dyn FnMut(Progress)) -> Result<Tensile, LabError> {
    sample.check()?;
    let mut mesh = sheet::rectangle(STRIP, sample.edge_length.unwrap_or(EDGE_LENGTH))?;
    let mut curves = Vec::new();
    for (index, direction) in Direction::ALL.into_iter().enumerate() {
        sheet::turn_warp(&mut mesh, direction.warp_angle());
        let (mut start, mut reached) = (mesh.positions.clone(), 0.0);
        let (mut pulls, mut last) = (Vec::new(), None);
        for (step, strain) in STRAINS.into_iter().enumerate() {
            let done = (index * STRAINS.len() + step) as f64 / (3 * STRAINS.len()) as f64;
            told(Progress { share: done, words: format!("{}, {:.1} %", direction.name(), 100.0 * strain) });
            start.iter_mut().for_each(|p| p[2] *= (1.0 + strain) / (1.0 + reached));
            let (pull, rest, simulation) = stretch(sample, &mesh, start, strain)?;
            pulls.push(pull);
            last = Some(rest);
            (start, reached) = (positions(&simulation), strain);
        }
        let rest = last.ok_or_else(|| LabError::Failed("there are no strains".to_owned()))?;
        curves.push(Curve { direction, pulls, rest, positions: start });
    }
    Ok(Tensile { curves, stiffness: sample.stiffness()?, edge_length: sheet::mean_edge(&mesh), mesh })
}

/// The strip at a strain, from a start whose clamps are there already.
fn stretch(
    sample: &Sample,
    mesh: &Mesh,
    start: Vec<[f64; 3]>,
    strain: f64,
) -> Result<(Pull, Rest, Simulation), LabError> {
    let [width, length] = STRIP;
    let rows = |z: f64| -> Vec<u32> {
        (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize][2] == z).collect()
    };
    let (low, high) = (rows(0.0), rows(length));
    let held: Vec<u32> = low.iter().chain(&high).copied().collect();
    let stiffness = sample.stiffness()?.unwrap_or(1000.0);
    // Nothing weighs here, so that the mass may be such that a wave runs along the strip and back in two periods of this length.
    let speed = 4.0 * length / PERIOD;
    let (density, swing) = (Some(stiffness / (speed * speed)), 2.0 * std::f64::consts::PI / PERIOD);
    let rig =
        Rig { rest: mesh.clone(), start, held: held.clone(), density, gravity: 0.0, fps: FPS, damping: 2.0 * swing };
    let mut simulation = sample.simulation(&rig)?;
    let patience = Patience {
        fps: FPS,
        swing: 0.0,
        damping: 2.0 * swing,
        window: PERIOD,
        way: 1e-4 * strain * length,
        change: 5e-4 * strain * stiffness,
        limit: 60.0 * PERIOD,
    };
    let force = |s: &Simulation| {
        let mut forces = Vec::new();
        s.elastic_forces(0, &mut forces);
        -high.iter().map(|&v| forces[v as usize][2]).sum::<f64>() / width
    };
    let rest = relax(&mut simulation, &held, &patience, force, |_, _| {})?;
    let x = positions(&simulation);
    let pull = Pull { strain, force: force(&simulation), narrowing: narrowing(mesh, &x) / strain };
    Ok((pull, rest, simulation))
}

/// How much narrower the strip is in the middle, over its width.
fn narrowing(mesh: &Mesh, x: &[[f64; 3]]) -> f64 {
    let [width, length] = STRIP;
    let nearest = |side: f64| {
        let at_side = (0..x.len()).filter(|&v| mesh.positions[v][0] == side);
        at_side.min_by(|&a, &b| {
            let off = |v: usize| (mesh.positions[v][2] - 0.5 * length).abs();
            off(a).total_cmp(&off(b))
        })
    };
    match (nearest(0.0), nearest(width)) {
        (Some(a), Some(b)) => 1.0 - (x[b][0] - x[a][0]) / width,
        _ => 0.0,
    }
}
