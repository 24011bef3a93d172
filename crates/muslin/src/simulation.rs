//! The user's handle: a model, its state and the solver that moves it.

use crate::model::{LoadMesh, Model, Problem};
use crate::output::Diagnostics;
use crate::pace::Pace;
use crate::parallel::{Team, TeamError};
use crate::scene::Scene;
use crate::solver::{Clock, Context, NoClock, SOLVERS, Solver, StepError, StepReport};
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
    frame_time: f64,
    frame: usize,
    initial: State,
    warnings: Vec<Problem>,
    count_intersections: bool,
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
    #[error("solver \"{0}\" is not available in this version")]
    Solver(&'static str),
}

impl Simulation {
    /// Compiles a scene; `load` is asked for each mesh file.
    pub fn new(scene: &Scene, threads: usize, load: &mut LoadMesh<'_>) -> Result<Self, SetupError> {
        let name = scene.solver.entry.name;
        let kind = SOLVERS.iter().find(|s| s.entry.name == name).ok_or(SetupError::Solver(name))?;
        let compiled = Model::compile(scene, load).map_err(SetupError::Scene)?;
        Ok(Self {
            model: compiled.model,
            initial: compiled.state.clone(),
            state: compiled.state,
            solver: (kind.build)(&scene.solver.settings),
            team: Team::new(threads)?,
            pace: None,
            clock: Box::new(NoClock),
            frame_time: scene.frame_time(),
            frame: 0,
            warnings: compiled.warnings,
            count_intersections: scene.contact.self_contact,
        })
    }

    /// Measures stages with a clock, and uses fewer threads while the machine is busy with something else.
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
        let report = self.solver.advance(&context, &mut self.state, self.frame_time)?;
        if let Some(pace) = &mut self.pace {
            pace.record(self.clock.seconds() - start);
        }
        self.frame += 1;
        Ok(report)
    }

    /// Measures the current state.
    pub fn diagnose(&self) -> Diagnostics {
        Diagnostics::measure(&self.model, &self.state, self.count_intersections)
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

    /// Continues from a snapshot of this scene; `false`, and nothing changed, if its size does not fit.
    #[must_use]
    pub fn restore(&mut self, state: State, frame: usize) -> bool {
        let fits = state.positions.len() == self.state.positions.len()
            && state.velocities.len() == self.state.velocities.len();
        if fits {
            self.state = state;
            self.frame = frame;
        }
        fits
    }

    /// Back to time zero.
    pub fn reset(&mut self) {
        self.state.clone_from(&self.initial);
        self.frame = 0;
    }

    /// Positions of one cloth in single precision, numbered as in the user's mesh.
    pub fn positions(&self, cloth: usize, out: &mut Vec<[f32; 3]>) {
        let cloth = &self.model.cloths[cloth];
        let positions = &self.state.positions[cloth.vertices.clone()];
        out.clear();
        out.extend(cloth.ordering.new_from_old.iter().map(|&new| positions[new as usize].cast::<f32>().to_array()));
    }
}
