//! Rapier's cloth. Settings, with Rapier's own values where they are not given:
//!
//! ```text
//! mesh = "cloth"       its own builder: edges, both diagonals of every quad, springs over two quads against bending, equal masses;
//!        "work"        edges, hinges and masses of the work
//! hertz = 30           natural frequency of the edges; 0: that of the work's spring constants, the median of √(k (1/mₐ + 1/m_b)) / 2π
//! damping_ratio = 1    of the edges
//! bend_hertz = 10      natural frequency of bending
//! masses = "equal"     for the mesh "cloth"; "work": those of the work
//! iterations = 4       substeps of the solver in a step; iterations_32: at 32 vertices a side, and in proportion to the side
//! sweeps = 3           additional sweeps over the constraints in a substep
//! radius = 0.5         radius of a particle, as part of an edge; 0: half of the work's thickness
//! steps = 1            steps in a frame
//! ```
//!
//! Settings that were tried, each with its reason, and what came out at 32 vertices a side of "hang" on a busy machine: milliseconds of one thread, strain at 5 s
//! (limit 1 %), distance from the converged motion (limit 2 cm):
//!
//! ```text
//! {}                                                                   its defaults: 2 ms, 220 %, 59 cm
//! {"hertz": 0, "iterations": 16}                                       the stiffness of the work: 7 ms, 7 % (at 0.5 s), 3.4 cm
//! {"hertz": 0, "iterations_32": 24, "bend_hertz": 1}                   softer in bending, as the work is: 11 ms, 2.8 %, 2.6 cm
//! {"hertz": 0, "iterations_32": 24, "bend_hertz": 1, "sweeps": 7}      sweeps in place of substeps: 17 ms, 1.4 %, 2.1 cm
//! {"hertz": 0, "iterations_32": 40, "bend_hertz": 1}                   18 ms, 1.2 %, 2.1 cm
//! {"hertz": 0, "iterations_32": 40, "bend_hertz": 1, "sweeps": 0}      substeps in place of sweeps: 12 ms, 3.5 %, 3.1 cm
//! {"hertz": 0, "iterations_32": 56, "bend_hertz": 1}                   both limits: 25 ms, 0.7 %, 2.0 cm
//! {"masses": "work", "hertz": 0, "iterations_32": 48, "bend_hertz": 1} masses of the work: 21 ms, 1.3 %, 0.7 cm: equal masses cost some 1.4 cm
//! {"mesh": "work", "hertz": 0, "iterations_32": 40, "bend_hertz": 1}   no second diagonals, masses of the work: 27 ms, 2.9 %, 0.8 cm
//! {"mesh": "work", "hertz": 0, "iterations_32": 70, "bend_hertz": 1}   47 ms, 1.2 %, 0.5 cm
//! {"hertz": 0, "iterations": 16, "bend_hertz": 1, "radius": 0}         "fold", as thin as the work: 25 ms
//! ```
//!
//! A damping ratio of 0.01 changes little. Its solver for finite elements takes tetrahedra, not cloth.
//!
//! Rapier has no wind. The forces of Muslin's formula go in as forces on the particles, once a step; they count in the time.

use std::fs;

use muslin::force::wind::Wind;
use muslin::math::Vec3;
use rapier3d::prelude::*;
use serde_json::{Value, json};

use crate::work::{Body, Spin, Work};
use crate::{Outcome, Peer};

pub(crate) struct Rapier {
    world: PhysicsWorld,
    cloth: SoftBodyHandle,
    turning: Vec<(RigidBodyHandle, Spin)>,
    wind: Option<Wind<f64>>,
    triangles: Vec<[u32; 3]>,
    fps: f64,
    steps: usize,
    taken: usize,
    settings: Value,
}

/// The numbers of a file of NumPy, N in a row.
fn indices<const N: usize>(path: &str) -> Outcome<Vec<[u32; N]>> {
    let numbers: Vec<u32> = fs::read(path)?[128..]
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes(std::array::from_fn(|i| bytes[i])))
        .collect();
    Ok(numbers.chunks_exact(N).map(|row| std::array::from_fn(|i| row[i])).collect())
}

fn doubles(path: &str) -> Outcome<Vec<f64>> {
    Ok(fs::read(path)?[128..]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
        .collect())
}

fn vector(v: [f64; 3]) -> Vector {
    Vector::new(v[0] as f32, v[1] as f32, v[2] as f32)
}

fn double(v: Vector) -> Vec3<f64> {
    [f64::from(v.x), f64::from(v.y), f64::from(v.z)].into()
}

impl Rapier {
    pub(crate) fn new(work: &Work) -> Outcome<Self> {
        let number = |key: &str, default: f64| work.settings[key].as_f64().unwrap_or(default);
        let mesh = work.settings["mesh"].as_str().unwrap_or("cloth");
        let masses = doubles(&work.masses)?;
        let edges: Vec<[u32; 2]> = indices(&work.edges)?;
        let triangles: Vec<[u32; 3]> = indices(&work.triangles)?;
        let mut hertz = number("hertz", 30.0);
        if hertz == 0.0 {
            let stiffness = doubles(&work.edge_stiffness)?;
            let mut all: Vec<f64> = edges
                .iter()
                .zip(stiffness)
                .map(|(edge, k)| (k * edge.iter().map(|i| 1.0 / masses[*i as usize]).sum::<f64>()).sqrt())
                .collect();
            all.sort_by(f64::total_cmp);
            hertz = all[all.len() / 2] / (2.0 * std::f64::consts::PI);
        }
        let (damping_ratio, bend_hertz) = (number("damping_ratio", 1.0), number("bend_hertz", 10.0));
        // Errors travel by an edge in a sweep.
        let scaled = number("iterations_32", 0.0) * f64::from(work.side) / 32.0;
        let iterations = if scaled > 0.0 { scaled.ceil() } else { number("iterations", 4.0) } as usize;
        let steps = number("steps", 1.0) as usize;
        let sweeps = number("sweeps", 3.0) as usize;
        let mut world = PhysicsWorld::new();
        world.gravity = vector(work.gravity);
        world.integration_parameters.dt = (1.0 / work.fps / steps as f64) as f32;
        world.integration_parameters.num_solver_iterations = iterations;
        let turning = insert_bodies(&mut world, work);
        let vertices = work.positions()?;
        let side = work.side as usize;
        let [origin, column, row] = [0, 1, side].map(|i| vector(vertices[i]));
        let edge = (column - origin).length();
        let radius = match number("radius", 0.5) {
            0.0 => 0.5 * work.thickness as f32,
            part => part as f32 * edge,
        };
        let material = SoftBodyMaterial {
            edge_softness: SpringCoefficients::new(hertz as f32, damping_ratio as f32),
            bend_softness: SpringCoefficients::new(bend_hertz as f32, 1.0),
            ..SoftBodyMaterial::default()
        };
        let own: Vec<f32> = masses.iter().map(|mass| *mass as f32).collect();
        let equal = work.settings["masses"].as_str() != Some("work");
        let builder = match mesh {
            // Rapier numbers columns first: its first direction is our rows.
            "cloth" => {
                let builder = SoftBodyBuilder::cloth(origin, row - origin, column - origin, side, side);
                match equal {
                    true => builder.mass(masses.iter().sum::<f64>() as f32),
                    false => builder.masses(own),
                }
            }
            "work" => {
                let hinges = work.hinges.as_deref().map_or(Ok(Vec::new()), indices)?;
                SoftBodyBuilder::new(vertices.iter().map(|x| vector(*x)).collect())
                    .edges(edges)
                    .dihedrals(hinges)
                    .surface(triangles.clone())
                    .masses(own)
            }
            _ => return Err(format!("there is no mesh {mesh}").into()),
        };
        let builder = builder
            .material(material)
            .particle_radius(radius)
            .pinned_particles(work.pins.iter().copied())
            .linear_damping(work.damping as f32)
            .additional_pgs_iterations(sweeps)
            // A cloth that sleeps costs nothing, which says nothing.
            .can_sleep(false)
            .self_contacts(work.self_contact);
        let builder = if work.bodies.is_empty() && !work.self_contact {
            builder.no_surface_collider()
        } else {
            builder.surface_collider(ColliderBuilder::ball(1.0).friction(work.friction as f32))
        };
        let cloth = world.insert_soft_body(builder);
        let wind = work.wind.map(|velocity| Wind {
            velocity: velocity.into(),
            drag: work.drag,
            lift: work.lift,
            half_density: 0.5 * work.air_density,
        });
        let settings = json!({
            "mesh": mesh, "masses": if equal && mesh == "cloth" { "equal" } else { "work" }, "hertz": hertz, "damping_ratio": damping_ratio, "bend_hertz": bend_hertz, "iterations": iterations,
            "sweeps": sweeps, "radius": radius / edge, "steps": steps,
        });
        Ok(Self { world, cloth, turning, wind, triangles, fps: work.fps, steps, taken: 0, settings })
    }

    /// The forces of the air.
    fn blow(&mut self, wind: &Wind<f64>) {
        let cloth = &mut self.world.soft_bodies[self.cloth];
        cloth.reset_forces(true);
        let at = |cloth: &SoftBody, corners: [u32; 3]| {
            (
                corners.map(|i| double(cloth.particle_position(i as usize))),
                corners.map(|i| double(cloth.particle_velocity(i as usize))),
            )
        };
        for corners in &self.triangles {
            let (x, v) = at(cloth, *corners);
            let force = vector(wind.push(x, v).force.to_array());
            for i in corners {
                cloth.add_particle_force(*i as usize, force, true);
            }
        }
    }
}

/// Puts the bodies of the work into the world, and gives those that turn.
fn insert_bodies(world: &mut PhysicsWorld, work: &Work) -> Vec<(RigidBodyHandle, Spin)> {
    let mut turning = Vec::new();
    for body in &work.bodies {
        // The larger coefficient of friction counts, so that bodies have their own and cloth on cloth has its own.
        match body {
            Body::Plane { point, friction, .. } => {
                let floor = ColliderBuilder::cuboid(10.0, 0.5, 10.0)
                    .translation(vector(*point) - Vector::new(0.0, 0.5, 0.0))
                    .friction(*friction as f32)
                    .friction_combine_rule(CoefficientCombineRule::Max);
                world.insert(RigidBodyBuilder::fixed(), floor);
            }
            Body::Sphere { center, radius, friction, spin } => {
                let ball = RigidBodyBuilder::kinematic_position_based().translation(vector(*center));
                let shape = ColliderBuilder::ball(*radius as f32)
                    .friction(*friction as f32)
                    .friction_combine_rule(CoefficientCombineRule::Max);
                let (ball, _) = world.insert(ball, shape);
                turning.extend(spin.clone().map(|spin| (ball, spin)));
            }
        }
    }
    turning
}

impl Peer for Rapier {
    fn step(&mut self) -> Outcome<()> {
        for _ in 0..self.steps {
            self.taken += 1;
            for (body, spin) in &self.turning {
                let angle = spin.angle(self.taken as f64 / self.fps / self.steps as f64) as f32;
                self.world.bodies[*body].set_next_kinematic_rotation(Rotation::from_rotation_y(angle));
            }
            if let Some(wind) = self.wind {
                self.blow(&wind);
            }
            self.world.step();
        }
        Ok(())
    }

    fn positions(&self) -> Vec<[f32; 3]> {
        self.world.soft_bodies[self.cloth].particle_positions().map(|p| [p.x, p.y, p.z]).collect()
    }

    fn version(&self) -> String {
        "0.36.1".to_owned()
    }

    fn settings(&self) -> Value {
        self.settings.clone()
    }

    fn notes(&self) -> String {
        let wind = if self.wind.is_some() { "The forces of the air are computed outside of Rapier. " } else { "" };
        format!("Stiffness is a frequency, the same for all edges. {wind}")
    }
}
