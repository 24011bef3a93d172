//! The user's handle: a model, its state and the solver that moves it.

use std::fmt;

use crate::math::Vec3;
use crate::model::{Compiled, LoadFrames, LoadMesh, Model, Problem};
use crate::output::Diagnostics;
use crate::pace::Pace;
use crate::parallel::{Team, TeamError};
use crate::scene::Scene;
use crate::solver::{self, Clock, Context, Need, NoClock, Solver, StepError, StepReport};
use crate::state::State;

/// A scene that can be stepped.
pub struct Simulation {
    model: Model,
    state: State,
    solver: Box<dyn Solver>,
    team: Team,
    /// Only with a clock.
    pace: Option<Pace>,
    clock: Box<dyn Clock>,
    fps: f64,
    frame: usize,
    warnings: Vec<Problem>,
    count_intersections: bool,
    /// Whether the solver works with the energies of the model.
    has_energies: bool,
}

/// Why a simulation could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The scene refers to something that is not as it should be.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Scene(Vec<Problem>),
    /// No threads.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The scene's solver is not in the table.
    #[error("solver \"{0}\" is not available in this version; `muslin models` lists those that are")]
    Solver(&'static str),
}

/// Why a snapshot was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RestoreError {
    /// It is of another scene.
    #[error("the snapshot has {length} vertices, but the scene has {expected}; restore a snapshot of this scene")]
    Size {
        /// Its number of positions or velocities.
        length: usize,
        /// What it should be.
        expected: usize,
    },
    /// It is broken.
    #[error("the snapshot is not finite at vertex {vertex}; restore an earlier one")]
    NonFinite {
        /// The first such vertex, in the model's order.
        vertex: usize,
    },
}

impl Simulation {
    /// Compiles a scene without animated meshes; `load` is asked for each mesh file.
    pub fn new(scene: &Scene, threads: usize, load: &mut LoadMesh<'_>) -> Result<Self, SetupError> {
        Self::of(scene, threads, |scene| Model::compile(scene, load))
    }

    /// Compiles a scene; `load` is asked for each mesh file and `load_frames` for the frames of each animated mesh.
    pub fn new_with(
        scene: &Scene,
        threads: usize,
        load: &mut LoadMesh<'_>,
        load_frames: &mut LoadFrames<'_>,
    ) -> Result<Self, SetupError> {
        Self::of(scene, threads, |scene| Model::compile_with(scene, load, load_frames))
    }

    fn of(
        scene: &Scene,
        threads: usize,
        compile: impl FnOnce(&Scene) -> Result<Compiled, Vec<Problem>>,
    ) -> Result<Self, SetupError> {
        let name = scene.solver.entry.name;
        let kind = solver::find(name).ok_or(SetupError::Solver(name))?;
        let compiled = compile(scene).map_err(SetupError::Scene)?;
        Ok(Self {
            count_intersections: scene.contact.self_contact || !compiled.model.bodies.is_empty(),
            model: compiled.model,
            state: compiled.state,
            solver: (kind.build)(&scene.solver.settings),
            team: Team::new(threads)?,
            pace: None,
            clock: Box::new(NoClock),
            fps: scene.fps,
            frame: 0,
            warnings: compiled.warnings,
            has_energies: kind.needs != Need::Nothing,
        })
    }

    /// Measures stages with a clock, and uses fewer threads while the machine is busy with something else.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Box::new(clock);
        self.pace = Some(Pace::new(self.team.size()));
        self
    }

    /// Advances by one frame. On an error the state is as it was.
    pub fn advance(&mut self) -> Result<StepReport, StepError> {
        let threads = self.pace.as_mut().map_or(self.team.size(), Pace::threads);
        let context = Context { model: &self.model, team: &self.team, threads, clock: &*self.clock };
        let start = self.clock.seconds();
        let report = self.solver.advance(&context, &mut self.state, self.fps.recip())?;
        if let Some(pace) = &mut self.pace {
            pace.record(self.clock.seconds() - start);
        }
        self.frame += 1;
        // A quotient and not a sum, which would drift away from the times that a scene names.
        self.state.time = self.frame as f64 / self.fps;
        Ok(report)
    }

    /// Measures the current state. A solver that takes no notice of the energies of the scene has none of them.
    pub fn diagnose(&self) -> Diagnostics {
        let measured = Diagnostics::measure(&self.model, &self.state, self.count_intersections);
        if self.has_energies { measured } else { Diagnostics { elastic_energy: 0.0, ..measured } }
    }

    /// [`Solver::unsolved`] of the last frame, in m.
    pub fn unsolved(&self) -> Option<f64> {
        self.solver.unsolved()
    }

    /// The compiled scene.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Positions, velocities and time.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Frames done.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Threads it may use.
    pub fn threads(&self) -> usize {
        self.team.size()
    }

    /// What the user should know about the scene.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Continues from a snapshot of this scene, taken after `frame` frames. On an error nothing has changed.
    pub fn restore(&mut self, state: State, frame: usize) -> Result<(), RestoreError> {
        let expected = self.state.positions.len();
        for length in [state.positions.len(), state.velocities.len()] {
            if length != expected {
                return Err(RestoreError::Size { length, expected });
            }
        }
        if let Some(vertex) = state.first_non_finite() {
            return Err(RestoreError::NonFinite { vertex });
        }
        self.state = state;
        self.frame = frame;
        Ok(())
    }

    /// Back to time zero.
    pub fn reset(&mut self) {
        self.state = self.model.initial_state();
        self.frame = 0;
    }

    /// Positions of one cloth in single precision, in m, numbered as in the user's mesh; empty if there is no such cloth.
    pub fn positions(&self, cloth: usize, out: &mut Vec<[f32; 3]>) {
        out.clear();
        out.extend(self.in_user_order(cloth, &self.state.positions).map(|x| x.cast::<f32>().to_array()));
    }

    /// Positions of one of [`Model::bodies`] in single precision, in m, numbered as in its file; empty if there is no such body.
    pub fn body_positions(&self, body: usize, out: &mut Vec<[f32; 3]>) {
        let mut positions = Vec::new();
        if let Some(body) = self.model.bodies.get(body) {
            body.extend_positions(self.state.time, &mut positions);
        }
        out.clear();
        out.extend(positions.iter().map(|x| x.cast::<f32>().to_array()));
    }

    /// Velocities of one cloth in single precision, in m/s, numbered as in the user's mesh; empty if there is no such
    /// cloth.
    pub fn velocities(&self, cloth: usize, out: &mut Vec<[f32; 3]>) {
        out.clear();
        out.extend(self.in_user_order(cloth, &self.state.velocities).map(|v| v.cast::<f32>().to_array()));
    }

    /// The vectors of one cloth from an array of the state, as the user numbers them.
    pub fn in_user_order<'a>(&'a self, cloth: usize, vectors: &'a [Vec3<f64>]) -> impl Iterator<Item = Vec3<f64>> + 'a {
        let cloth = self.model.cloths.get(cloth).into_iter();
        cloth.flat_map(move |cloth| {
            let vectors = &vectors[cloth.vertices.clone()];
            cloth.ordering.new_from_old.iter().map(move |&new| vectors[new as usize])
        })
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("frame", &self.frame).field("model", &self.model).finish_non_exhaustive()
    }
}
