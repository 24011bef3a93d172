//! A world that a program steps.

use std::time::Instant;

use muslin::solver::{StepError, StepReport};
use muslin::{Interaction, Simulation};
use serde_json::Value;

use super::source::{Built, Source};
use super::trouble::{Trouble, Warning};
use crate::session::Checkpoint;
use crate::session::report::Frame;

/// A simulation, with what a frame of `report.json` tells of its last step.
pub struct World {
    simulation: Simulation,
    fingerprint: u64,
    name: String,
    frame_count: usize,
    warnings: Vec<Warning>,
    step: StepReport,
    wall_ms: f64,
}

impl World {
    /// Compiles a scene with changes (`KEY=VALUE`).
    pub fn new(source: &Source, sets: &[String], threads: usize) -> Result<Self, Trouble> {
        let Built { simulation, scene, fingerprint, warnings } = source.build(sets, threads)?;
        let (step, frame_count) = (StepReport::default(), scene.frame_count());
        Ok(Self { simulation, fingerprint, name: scene.name, frame_count, warnings, step, wall_ms: 0.0 })
    }

    /// One frame. On an error the state is as it was.
    pub fn advance(&mut self) -> Result<(), StepError> {
        let started = Instant::now();
        self.step = self.simulation.advance()?;
        self.wall_ms = 1e3 * started.elapsed().as_secs_f64();
        Ok(())
    }

    /// The scene's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many frames the scene asks for.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// What will not be as the scene says.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What is stepped.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The same, to act on it.
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// The keys of a frame in `report.json`.
    pub fn diagnose(&self) -> Value {
        let simulation = &self.simulation;
        let (at, unsolved) = ((simulation.frame(), simulation.state().time), simulation.unsolved());
        let frame = Frame::new(at, self.wall_ms, &self.step, unsolved, &simulation.diagnose());
        serde_json::to_value(frame).unwrap_or(Value::Null)
    }

    /// Back to time zero, as the scene says.
    pub fn reset(&mut self) {
        self.simulation.reset();
        (self.step, self.wall_ms) = (StepReport::default(), 0.0);
    }

    /// Bytes from which this scene goes on to the same bits: a checkpoint, the JSON of what is held and led, and the length of that.
    pub fn snapshot(&self) -> Vec<u8> {
        let simulation = &self.simulation;
        let mut bytes = Checkpoint::encode(self.fingerprint, simulation.frame(), simulation.state());
        let interaction = serde_json::to_vec(&simulation.interaction()).unwrap_or_default();
        bytes.extend_from_slice(&interaction);
        bytes.extend_from_slice(&(interaction.len() as u64).to_le_bytes());
        bytes
    }

    /// Goes on from a [`snapshot`](Self::snapshot). On an error nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let wrong = |why: &str| format!("these are not the bytes of a state: {why}");
        let (rest, length) = bytes.split_last_chunk().ok_or_else(|| wrong("there are too few"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let split = rest.len().checked_sub(length).ok_or_else(|| wrong("they are cut off, or of something else"))?;
        let (checkpoint, interaction) = rest.split_at(split);
        let checkpoint = Checkpoint::decode(checkpoint).map_err(|error| wrong(&error.to_string()))?;
        if checkpoint.fingerprint != self.fingerprint {
            return Err("the state is of another scene, or of one with other numbers; restore it in a simulation of its own scene, \
                        or take positions and velocities over with set_positions and set_velocities"
                .to_owned());
        }
        let interaction: Interaction =
            serde_json::from_slice(interaction).map_err(|error| wrong(&error.to_string()))?;
        let before = (self.simulation.state().clone(), self.simulation.frame());
        self.simulation.restore(checkpoint.state, checkpoint.frame).map_err(|error| error.to_string())?;
        if let Err(error) = self.simulation.restore_interaction(&interaction) {
            self.simulation.restore(before.0, before.1).map_err(|error| error.to_string())?;
            return Err(error.to_string());
        }
        (self.step, self.wall_ms) = (StepReport::default(), 0.0);
        Ok(())
    }
}
