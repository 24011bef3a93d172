//! Rapier's cloth, with its self-contacts. Settings, with Rapier's own values where they are not given:
//!
//! ```text
//! hertz=30         natural frequency of the edges
//! bend_hertz=10    natural frequency of bending
//! iterations=4     substeps of the solver in a step
//! radius=0.5       radius of a particle, as part of an edge
//! steps=1          steps in a frame
//! ```

use rapier3d::prelude::*;
use serde_json::{Value, json};

use crate::work::{Body, Spin, Work};
use crate::{Outcome, Peer};

pub(crate) struct Rapier {
    world: PhysicsWorld,
    cloth: SoftBodyHandle,
    turning: Vec<(RigidBodyHandle, Spin)>,
    fps: f64,
    steps: usize,
    taken: usize,
    settings: Value,
}

impl Rapier {
    pub(crate) fn new(work: &Work) -> Outcome<Self> {
        let number = |key: &str, default: f64| work.settings[key].as_f64().unwrap_or(default);
        let (hertz, bend_hertz, radius) = (number("hertz", 30.0), number("bend_hertz", 10.0), number("radius", 0.5));
        let (iterations, steps) = (number("iterations", 4.0) as usize, number("steps", 1.0) as usize);
        if work.wind.is_some() {
            return Err("there is no wind on soft bodies".into());
        }
        let mut world = PhysicsWorld::new();
        world.integration_parameters.dt = (1.0 / work.fps / steps as f64) as f32;
        world.integration_parameters.num_solver_iterations = iterations;
        let mut turning = Vec::new();
        let vector = |v: [f64; 3]| Vector::new(v[0] as f32, v[1] as f32, v[2] as f32);
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
        let vertices = work.positions()?;
        let side = work.side as usize;
        let [origin, column, row] = [0, 1, side].map(|i| vector(vertices[i]));
        let edge = (column - origin).length();
        let material = SoftBodyMaterial {
            edge_softness: SpringCoefficients::new(hertz as f32, 1.0),
            bend_softness: SpringCoefficients::new(bend_hertz as f32, 1.0),
            ..SoftBodyMaterial::default()
        };
        // Rapier numbers columns first: its first direction is our rows.
        let area = ((side - 1) as f32 * edge).powi(2);
        let cloth = SoftBodyBuilder::cloth(origin, row - origin, column - origin, side, side)
            .mass(work.density as f32 * area)
            .material(material)
            .particle_radius(radius as f32 * edge)
            .self_contacts(work.self_contact)
            .surface_collider(ColliderBuilder::ball(1.0).friction(work.friction as f32));
        let cloth = world.insert_soft_body(cloth);
        let settings = json!({
            "hertz": hertz, "bend_hertz": bend_hertz, "iterations": iterations, "radius": radius, "steps": steps,
        });
        Ok(Self { world, cloth, turning, fps: work.fps, steps, taken: 0, settings })
    }
}

impl Peer for Rapier {
    fn step(&mut self) -> Outcome<()> {
        for _ in 0..self.steps {
            self.taken += 1;
            for (body, spin) in &self.turning {
                let angle = spin.angle(self.taken as f64 / self.fps / self.steps as f64) as f32;
                self.world.bodies[*body].set_next_kinematic_rotation(Rotation::from_rotation_y(angle));
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
}
