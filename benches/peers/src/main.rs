//! One scene in Muslin and in Rapier, through the same harness: a cloth falls onto a ball that then turns.
//!
//! ```text
//! peers muslin OUT CELLS FRAMES SECONDS [KEY=VALUE…]     keys of the scene `twirl`
//! peers rapier OUT CELLS FRAMES SECONDS [KEY=VALUE…]     see `Rapier`
//! ```
//!
//! Into the folder OUT go `cloth.npy` (frames, vertices, 3), `triangles.npy`, and `times.csv` with milliseconds of the wall clock and of the process
//! for each frame. What is timed is the step and nothing else. One thread. It ends early once so many seconds of processor time are spent.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use cpu_time::ProcessTime;
use muslin::Simulation;
use muslin::mesh::{Diagonals, Mesh};
use muslin::scene::{Override, parse};
use rapier3d::prelude::*;

type Outcome<T> = Result<T, Box<dyn Error>>;

const TWIRL: &str = include_str!("../../../scenes/twirl.toml");
/// As in the scene: cells, and their thickness in m; the thickness is in proportion to the edges.
const CELLS: u32 = 44;
const THICKNESS: f64 = 5e-3;
const SIZE: f64 = 1.3;
const HEIGHT: f64 = 0.54;
const DENSITY: f64 = 0.2;
const FPS: f64 = 60.0;

/// A simulator.
trait Peer {
    /// Advances by a frame.
    fn step(&mut self) -> Outcome<()>;
    /// Positions of all vertices, numbered as in a grid of Muslin.
    fn positions(&self) -> Vec<[f32; 3]>;
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, out, cells, frames, seconds, settings @ ..] = &words[..] else {
        return Err("peers muslin|rapier OUT CELLS FRAMES SECONDS [KEY=VALUE…]".into());
    };
    let (cells, frames, mut seconds): (u32, usize, f64) = (cells.parse()?, frames.parse()?, seconds.parse()?);
    let mut peer: Box<dyn Peer> = match name.as_str() {
        "muslin" => Box::new(Muslin::new(cells, settings)?),
        "rapier" => Box::new(Rapier::new(cells, settings)?),
        _ => return Err(format!("there is no peer {name}").into()),
    };
    let mut times = "wall_ms,cpu_ms\n".to_owned();
    let mut positions = vec![peer.positions()];
    for frame in 1..=frames {
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        let outcome = peer.step();
        let (wall, cpu) = (wall.elapsed(), cpu.elapsed());
        if let Err(error) = outcome {
            eprintln!("stopped at frame {frame}: {error}");
            break;
        }
        writeln!(times, "{:.4},{:.4}", 1e3 * wall.as_secs_f64(), 1e3 * cpu.as_secs_f64())?;
        positions.push(peer.positions());
        seconds -= cpu.as_secs_f64();
        if seconds < 0.0 {
            eprintln!("stopped after frame {frame}: the budget is spent");
            break;
        }
    }
    let out = Path::new(out);
    fs::create_dir_all(out)?;
    fs::write(out.join("times.csv"), times)?;
    let vertices = positions[0].len();
    let numbers = positions.iter().flatten().flatten().flat_map(|number| number.to_le_bytes());
    fs::write(out.join("cloth.npy"), npy("<f4", &[positions.len(), vertices, 3], numbers))?;
    let mesh = Mesh::grid([SIZE; 2], [cells; 2], Diagonals::Alternating)?;
    let numbers = mesh.triangles.iter().flatten().flat_map(|number| number.to_le_bytes());
    fs::write(out.join("triangles.npy"), npy("<u4", &[mesh.triangle_count(), 3], numbers))?;
    Ok(())
}

/// A file of NumPy, version 1.0.
fn npy(kind: &str, shape: &[usize], numbers: impl Iterator<Item = u8>) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({},), }}", shape.join(", "));
    let length = (header.len() + 11).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).into_bytes());
    bytes.extend(numbers);
    bytes
}

struct Muslin(Simulation);

impl Muslin {
    fn new(cells: u32, settings: &[String]) -> Outcome<Self> {
        let thickness = THICKNESS * f64::from(CELLS) / f64::from(cells);
        let own = [format!("cloth.0.grid.cells=[{cells},{cells}]"), format!("contact.thickness={thickness:?}")];
        let changes: Result<Vec<Override>, String> = own.iter().chain(settings).map(|one| Override::parse(one)).collect();
        let outcome = parse(TWIRL, &changes?);
        let scene = outcome.scene.ok_or_else(|| format!("{:?}", outcome.findings))?;
        Ok(Self(Simulation::new(&scene, 1, &mut |file| Err(format!("{file} is not needed")))?))
    }
}

impl Peer for Muslin {
    fn step(&mut self) -> Outcome<()> {
        self.0.advance()?;
        Ok(())
    }

    fn positions(&self) -> Vec<[f32; 3]> {
        let mut positions = Vec::new();
        self.0.positions(0, &mut positions);
        positions
    }
}

/// Rapier's cloth, with its self-contacts. Settings, with Rapier's own values where they are not given:
///
/// ```text
/// hertz=30         natural frequency of the edges
/// bend_hertz=10    natural frequency of bending
/// iterations=4     substeps of the solver in a step
/// radius=0.5       radius of a particle, as part of an edge
/// steps=1          steps in a frame
/// ```
struct Rapier {
    world: PhysicsWorld,
    cloth: SoftBodyHandle,
    ball: RigidBodyHandle,
    side: usize,
    steps: usize,
    taken: usize,
}

impl Rapier {
    fn new(cells: u32, settings: &[String]) -> Outcome<Self> {
        let (mut hertz, mut bend_hertz, mut iterations, mut radius, mut steps) = (30.0, 10.0, 4, 0.5, 1);
        for setting in settings {
            match setting.split_once('=') {
                Some(("hertz", value)) => hertz = value.parse()?,
                Some(("bend_hertz", value)) => bend_hertz = value.parse()?,
                Some(("iterations", value)) => iterations = value.parse()?,
                Some(("radius", value)) => radius = value.parse()?,
                Some(("steps", value)) => steps = value.parse()?,
                _ => return Err(format!("there is no setting {setting}").into()),
            }
        }
        let mut world = PhysicsWorld::new();
        world.integration_parameters.dt = (1.0 / FPS / steps as f64) as f32;
        world.integration_parameters.num_solver_iterations = iterations;
        // The larger coefficient of friction counts, so that bodies have 1 and cloth on cloth 0.4, as in the scene.
        let floor = ColliderBuilder::cuboid(10.0, 0.5, 10.0)
            .translation(Vector::new(0.0, -0.5, 0.0))
            .friction(1.0)
            .friction_combine_rule(CoefficientCombineRule::Max);
        world.insert(RigidBodyBuilder::fixed(), floor);
        let ball = RigidBodyBuilder::kinematic_position_based().translation(Vector::new(0.0, 0.28, 0.0));
        let shape = ColliderBuilder::ball(0.25).friction(1.0).friction_combine_rule(CoefficientCombineRule::Max);
        let (ball, _) = world.insert(ball, shape);
        let side = cells as usize + 1;
        let edge = (SIZE / f64::from(cells)) as f32;
        let corner = (-0.5 * SIZE) as f32;
        // Rapier numbers columns first: its first direction is our rows.
        let origin = Vector::new(corner, HEIGHT as f32, corner);
        let material = SoftBodyMaterial {
            edge_softness: SpringCoefficients::new(hertz, 1.0),
            bend_softness: SpringCoefficients::new(bend_hertz, 1.0),
            ..SoftBodyMaterial::default()
        };
        let cloth = SoftBodyBuilder::cloth(origin, Vector::Z * edge, Vector::X * edge, side, side)
            .mass((DENSITY * SIZE * SIZE) as f32)
            .material(material)
            .particle_radius(radius * edge)
            .self_contacts(true)
            .surface_collider(ColliderBuilder::ball(1.0).friction(0.4));
        let cloth = world.insert_soft_body(cloth);
        Ok(Self { world, cloth, ball, side, steps, taken: 0 })
    }
}

impl Peer for Rapier {
    fn step(&mut self) -> Outcome<()> {
        for _ in 0..self.steps {
            self.taken += 1;
            let angle = turn(self.taken as f64 / FPS / self.steps as f64) as f32;
            self.world.bodies[self.ball].set_next_kinematic_rotation(Rotation::from_rotation_y(angle));
            self.world.step();
        }
        let finite = self.positions().iter().flatten().all(|number| number.is_finite());
        if finite { Ok(()) } else { Err("positions are not finite".into()) }
    }

    fn positions(&self) -> Vec<[f32; 3]> {
        let positions: Vec<[f32; 3]> =
            self.world.soft_bodies[self.cloth].particle_positions().map(|p| [p.x, p.y, p.z]).collect();
        assert_eq!(positions.len(), self.side * self.side, "the cloth is whole");
        positions
    }
}

/// The angle of the ball at a time in s, in radians: two turns from 0.9 s to 3.2 s, at rest before and after, as in the scene.
fn turn(time: f64) -> f64 {
    let part = ((time - 0.9) / (3.2 - 0.9)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part) * 4.0 * std::f64::consts::PI
}
