//! The shear test: a square of cloth in a frame with hinges, which becomes a rhombus.
//!
//! ```text
//! ┌─────┐        ╱─────╱      x = X + Z sin γ, z = Z cos γ on the frame
//! │     │   →   ╱     ╱       S = (1/A) ∂E/∂γ = (1/A) Σ f · ∂x/∂γ     over the pins of the frame, which hold f
//! └─────┘      ╱─────╱        G = ΔS/Δγ from 0.5° to 2.5°, as the Kawabata system reads it
//! ```
//!
//! S is the shear force per length, in N/m; E is the elastic energy, A the area at rest. The sheet stays flat: in a laboratory a tension across it prevents wrinkles.

use muslin::Simulation;
use muslin::mesh::Mesh;

use crate::cantilever::positions;
use crate::rest::{Patience, Rest, relax};
use crate::sample::{Rig, Sample};
use crate::tensile::{FPS, PERIOD};
use crate::{LabError, Progress, sheet};

/// Side of the frame, in m.
pub const SIDE: f64 = 0.2;
/// The edge length that it takes by itself, in m.
pub const EDGE_LENGTH: f64 = 10e-3;
/// Angles at which the force is read, in degrees.
pub const ANGLES: [f64; 9] = [0.5, 1.0, 1.5, 2.0, 2.5, 4.0, 5.0, 6.0, 8.0];
/// N/m of 1 gf/(cm·°), the unit of the Kawabata system: 0.980665 N/m a degree.
pub const KES: f64 = 0.980665 * 180.0 / std::f64::consts::PI;
/// The angles between which G is read, in degrees.
const READ: [f64; 2] = [0.5, 2.5];

/// What the shear test gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Shear {
    /// Angle and shear force per length, in degrees and N/m.
    pub curve: Vec<[f64; 2]>,
    /// G from 0.5° to 2.5°, in N/m.
    pub stiffness: f64,
    /// G of the material, in N/m, where it says one.
    pub expected: Option<f64>,
    /// Mean length of the edges, in m.
    pub edge_length: f64,
    /// How far from rest the last one ended; what must not change is the shear force per length, in N/m.
    pub rest: Rest,
    /// The square.
    pub mesh: Mesh,
    /// Where its vertices are at the end, in m.
    pub positions: Vec<[f64; 3]>,
}

/// Runs the test.
pub fn shear(sample: &Sample, told: &mut dyn FnMut(Progress)) -> Result<Shear, LabError> {
    sample.check()?;
    let mesh = sheet::rectangle([SIDE; 2], sample.edge_length.unwrap_or(EDGE_LENGTH))?;
    let is_frame = |p: &[f64; 3]| [p[0], p[2]].iter().any(|&c| c == 0.0 || c == SIDE);
    let held: Vec<u32> = (0..mesh.positions.len() as u32).filter(|&v| is_frame(&mesh.positions[v as usize])).collect();
    let (mut curve, mut last) = (Vec::new(), None);
    for (step, degrees) in ANGLES.into_iter().enumerate() {
        told(Progress { share: step as f64 / ANGLES.len() as f64, words: format!("{degrees}°") });
        let (force, rest, x) = turn(sample, &mesh, &held, degrees.to_radians())?;
        curve.push([degrees, force]);
        last = Some((rest, x));
    }
    let (rest, positions) = last.ok_or_else(|| LabError::Failed("there are no angles".to_owned()))?;
    let at = |degrees: f64| curve.iter().find(|point| point[0] == degrees).map_or(f64::NAN, |point| point[1]);
    let stiffness = (at(READ[1]) - at(READ[0])) / (READ[1] - READ[0]).to_radians();
    let (expected, edge_length) = (sample.shear_stiffness()?, sheet::mean_edge(&mesh));
    Ok(Shear { curve, stiffness, expected, edge_length, rest, mesh, positions })
}

/// Shear force per length of the frame at an angle, how far from rest it ended, and its vertices.
fn turn(sample: &Sample, mesh: &Mesh, held: &[u32], angle: f64) -> Result<(f64, Rest, Vec<[f64; 3]>), LabError> {
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let start = mesh.positions.iter().map(|p| [p[0] + p[2] * sin, 0.0, p[2] * cos]).collect();
    let stiffness = sample.shear_stiffness()?.unwrap_or(400.0);
    // The mass is such that the slowest swing of a square that is held all around takes a period.
    let speed = std::f64::consts::SQRT_2 * SIDE / PERIOD;
    let (density, swing) = (Some(stiffness / (speed * speed)), 2.0 * std::f64::consts::PI / PERIOD);
    let rig =
        Rig { rest: mesh.clone(), start, held: held.to_vec(), density, gravity: 0.0, fps: FPS, damping: 2.0 * swing };
    let mut simulation = sample.simulation(&rig)?;
    let patience = Patience {
        fps: FPS,
        swing: 0.0,
        damping: 2.0 * swing,
        window: PERIOD,
        way: 1e-4 * angle * SIDE,
        change: 5e-4 * angle * stiffness,
        limit: 60.0 * PERIOD,
    };
    let force = |s: &Simulation| {
        let mut forces = Vec::new();
        s.elastic_forces(0, &mut forces);
        let power = |v: u32| {
            let z = mesh.positions[v as usize][2];
            let force = forces[v as usize];
            -(force[0] * z * cos - force[2] * z * sin)
        };
        held.iter().map(|&v| power(v)).sum::<f64>() / (SIDE * SIDE)
    };
    let rest = relax(&mut simulation, held, &patience, force, |_, _| {})?;
    Ok((force(&simulation), rest, positions(&simulation)))
}
