//! The cantilever: how far a strip reaches over an edge until its tip has sunk to 41.5° [Peirce 1930; ASTM D1388].
//!
//! The strip is clamped at the edge. Its overhang is looked for by the secant method in ln L over simulated equilibria. The last of them, within 0.2° of Peirce's angle, gives Γ of its
//! chord by the exact elastica, hence
//!
//! ```text
//! B = ρ g L³/Γ        c = ∛(B/ρ g)        at 41.5°: Γ = 8, c = L/2
//! ```

use muslin::mesh::Mesh;

use crate::elastica::{self, PEIRCE_ANGLE};
use crate::rest::{Patience, Rest, relax};
use crate::sample::{GRAVITY, Rig, Sample};
use crate::{LabError, Progress, sheet};

/// Width and length of the strip, in m.
pub const STRIP: [f64; 2] = [0.025, 0.25];
/// The edge length that it takes by itself, in m.
pub const EDGE_LENGTH: f64 = 2.5e-3;
/// Frames a second.
const FPS: f64 = 60.0;
/// Nearness to Peirce's angle, in rad.
const NEAR: f64 = 0.2 * std::f64::consts::PI / 180.0;
/// Equilibria that are solved at most.
const MOST: usize = 7;

/// What the cantilever gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Cantilever {
    /// Overhang of the last equilibrium, in m.
    pub overhang: f64,
    /// The angle of its chord, in rad.
    pub angle: f64,
    /// c, in m.
    pub bending_length: f64,
    /// c of the bending rigidity that the material has, in m.
    pub expected_length: f64,
    /// B recovered, in N·m.
    pub rigidity: f64,
    /// B of the material, in N·m.
    pub expected_rigidity: f64,
    /// Overhang and angle of all equilibria, in m and rad.
    pub steps: Vec<[f64; 2]>,
    /// Mean length of the edges, in m.
    pub edge_length: f64,
    /// How far from rest the last one ended.
    pub rest: Rest,
    /// Cloth of the last equilibrium.
    pub mesh: Mesh,
    /// Where its vertices are, in m.
    pub positions: Vec<[f64; 3]>,
}

impl Cantilever {
    /// The error of B as a share of it.
    pub fn error(&self) -> f64 {
        self.rigidity / self.expected_rigidity - 1.0
    }
}

/// Runs the test.
pub fn cantilever(sample: &Sample, told: &mut dyn FnMut(Progress)) -> Result<Cantilever, LabError> {
    sample.check()?;
    let expected_rigidity = sample.rigidity()?;
    let weight = sample.fabric.density * GRAVITY;
    let expected_length = libm::cbrt(expected_rigidity / weight);
    let edge_length = sample.edge_length.unwrap_or(EDGE_LENGTH);
    if 2.0 * expected_length < 3.0 * edge_length {
        return Err(LabError::Setting(format!(
            "--edge-length {edge_length}: the strip of {} reaches {:.4} m over the edge, which must be three edges at least; take {:.4} or less",
            sample.fabric.name,
            2.0 * expected_length,
            2.0 * expected_length / 3.0
        )));
    }
    let mut steps: Vec<[f64; 2]> = Vec::new();
    let mut overhang = 2.0 * expected_length;
    loop {
        if overhang > STRIP[1] {
            return Err(LabError::Setting(format!(
                "--fabric {}: its strip would reach {overhang:.3} m over the edge, but a strip has {} m; it is too stiff for this test",
                sample.fabric.name, STRIP[1]
            )));
        }
        let done = steps.len() as f64 / MOST as f64;
        let mut heard = |time: f64, angle: f64| {
            told(Progress {
                share: done,
                words: format!("overhang {:.1} mm, {time:.2} s: {:.1}°", 1e3 * overhang, angle.to_degrees()),
            });
        };
        let Hanging { mesh, positions, angle, rest } = hang(sample, overhang, edge_length, &mut heard)?;
        steps.push([overhang, angle]);
        if (angle - PEIRCE_ANGLE).abs() < NEAR || steps.len() == MOST {
            let rigidity = weight * overhang * overhang * overhang / elastica::gamma(angle);
            return Ok(Cantilever {
                overhang,
                angle,
                bending_length: libm::cbrt(rigidity / weight),
                expected_length,
                rigidity,
                expected_rigidity,
                steps,
                edge_length: sheet::mean_edge(&mesh),
                rest,
                mesh,
                positions,
            });
        }
        overhang = next(&steps);
    }
}

/// The overhang to try after some: along the elastica from the first, along the secant in ln L from two.
fn next(steps: &[[f64; 2]]) -> f64 {
    let elastic = |[length, angle]: [f64; 2]| length * libm::cbrt(8.0 / elastica::gamma(angle));
    match steps {
        [.., a, b] if (a[1] - b[1]).abs() > 1e-4 => {
            let slope = libm::log(b[0] / a[0]) / (b[1] - a[1]);
            b[0] * libm::exp((slope * (PEIRCE_ANGLE - b[1])).clamp(-0.5, 0.5))
        }
        [.., b] => elastic(*b),
        [] => 0.0,
    }
}

/// A strip at rest, and the angle of its chord, in rad.
struct Hanging {
    mesh: Mesh,
    positions: Vec<[f64; 3]>,
    angle: f64,
    rest: Rest,
}

/// Lets a strip hang over the edge.
fn hang(sample: &Sample, overhang: f64, edge_length: f64, told: &mut dyn FnMut(f64, f64)) -> Result<Hanging, LabError> {
    let rest = sheet::strip(overhang, STRIP[0], edge_length)?;
    let held: Vec<u32> = (0..rest.positions.len() as u32).filter(|&v| rest.positions[v as usize][2] <= 0.0).collect();
    let end: Vec<usize> = (0..rest.positions.len()).filter(|&v| rest.positions[v][2] >= overhang).collect();
    let start = rest.positions.clone();
    // The slowest swing is about that of a pendulum of the overhang; a strip that only bends is faster.
    let swing = (GRAVITY / overhang).sqrt();
    let rig = Rig {
        rest: rest.clone(),
        start,
        held: held.clone(),
        density: None,
        gravity: GRAVITY,
        fps: FPS,
        damping: 2.0 * swing,
    };
    let mut simulation = sample.simulation(&rig)?;
    let angle = |positions: &[[f64; 3]]| {
        let sum = end.iter().fold([0.0; 2], |s, &v| [s[0] + positions[v][1], s[1] + positions[v][2]]);
        libm::atan2(-sum[0], sum[1])
    };
    let patience = Patience {
        fps: FPS,
        swing: 0.0,
        damping: 2.0 * swing,
        window: 0.25,
        way: 2e-4 * overhang,
        change: 2e-4,
        limit: 5.0,
    };
    let outcome = relax(&mut simulation, &held, &patience, |s| angle(&positions(s)), told)?;
    let positions = positions(&simulation);
    Ok(Hanging { angle: angle(&positions), mesh: rest, positions, rest: outcome })
}

/// Positions of the cloth, as its mesh numbers them, in m.
pub(crate) fn positions(simulation: &muslin::Simulation) -> Vec<[f64; 3]> {
    simulation.in_user_order(0, &simulation.state().positions).map(|x| x.to_array()).collect()
}
