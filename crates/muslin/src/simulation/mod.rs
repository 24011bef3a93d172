//! The user's handle: a model, its state and the solver that moves it.

mod act;
mod read;
mod sound;

pub use act::ActionError;
pub use read::{ContactPoint, RayHit, RayTarget, Touched};

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::description::{LoadFrames, LoadMesh, Material, Problem, Scene};
use crate::interaction::Grab;
use crate::math::Vec3;
use crate::model::Model;
use crate::output::Diagnostics;
use crate::parallel::thread_tuner::ThreadTuner;
use crate::parallel::{Stopped, Tally, Team, TeamError};
use crate::parameter::Settings;
use crate::setup;
use crate::setup::Compiled;
use crate::solver;
use crate::solver::sewing;
use crate::solver::sewing::Sewing;
use crate::solver::{Clock, Context, Need, NoClock, Solver, SolverKind, StepError, StepReport, Term};
use crate::state::{SolverMemory, State};
use crate::validate;

/// A scene that can be stepped.
///
/// ```
/// use muslin::{Cloth, Pin, Simulation};
///
/// let cloth = Cloth::grid([1.0, 1.0], [4, 4]).pin(Pin::vertices([0, 4]));
/// let mut simulation = Simulation::builder().cloth(cloth).build()?;
/// simulation.advance()?;
/// let mut positions = Vec::new();
/// simulation.positions(0, &mut positions);
/// assert!(positions[12][1] < 0.0 && positions[0][1] == 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    model: Model,
    terms: Vec<Box<dyn Term>>,
    state: State,
    /// The state before the step, in case a thread panics.
    before: State,
    solver: Box<dyn Solver>,
    /// Until [`Model::settled_by`], in place of the solver.
    sewing: Option<Box<dyn Sewing>>,
    kind: &'static SolverKind,
    settings: Settings,
    team: Team,
    /// Only with a clock.
    tuner: Option<ThreadTuner>,
    clock: Box<dyn Clock>,
    fps: f64,
    frame: usize,
    warnings: Vec<Problem>,
    /// Of the cloths, in their order.
    materials: Vec<Material>,
    /// In the order of the scene.
    collider_names: Vec<String>,
    /// At time zero, in J.
    start_energy: f64,
    /// The part of it in motion and in strain.
    start_stirred: f64,
    bounds: sound::MotionLimits,
    /// What a state that was restored had beyond what there can be, in J.
    excess: f64,
    count_intersections: bool,
    interaction: Grab,
}

/// What is done with cloth that starts far from its rest shape, before it is let go.
///
/// ```
/// use muslin::simulation::Phase;
/// use muslin::{Cloth, Simulation};
///
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2]).rest_uv(0.5).close_by(1.0)).build()?;
/// assert_eq!(simulation.phase(), Some(Phase::Sewing));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is brought into its rest shape, without weight: until [`Model::sewn_by`].
    Sewing,
    /// It is let down: until [`Model::settled_by`].
    Settling,
}

/// Why a simulation could not be set up.
///
/// ```
/// use muslin::{Cloth, SetupError, Simulation};
///
/// let result = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [0, 4])).build();
/// let Err(SetupError::Scene(problems)) = result else { return Err("a grid needs cells".into()) };
/// assert!(problems[0].place.starts_with("cloth[0].grid.cells"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use muslin::{Cloth, RestoreError, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let mut state = simulation.state().clone();
/// state.positions.pop();
/// assert!(matches!(simulation.restore(state, 0), Err(RestoreError::Size { expected: 9, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        Self::of(scene, Team::new(threads)?, |scene| setup::compile(scene, load))
    }

    /// Compiles a scene; `load` is asked for each mesh file and `load_frames` for the frames of each animated mesh.
    pub fn new_with(
        scene: &Scene,
        threads: usize,
        load: &mut LoadMesh<'_>,
        load_frames: &mut LoadFrames<'_>,
    ) -> Result<Self, SetupError> {
        Self::with_team(scene, Team::new(threads)?, load, load_frames)
    }

    /// The same with a team that was made elsewhere: where threads are not the operating system's.
    pub fn with_team(
        scene: &Scene,
        team: Team,
        load: &mut LoadMesh<'_>,
        load_frames: &mut LoadFrames<'_>,
    ) -> Result<Self, SetupError> {
        Self::of(scene, team, |scene| setup::compile_with(scene, load, load_frames))
    }

    fn of(
        scene: &Scene,
        team: Team,
        compile: impl FnOnce(&Scene) -> Result<Compiled, Vec<Problem>>,
    ) -> Result<Self, SetupError> {
        let problems = validate::check(scene);
        if !problems.is_empty() {
            return Err(SetupError::Scene(problems));
        }
        Self::of_compiled(scene, team, compile(scene).map_err(SetupError::Scene)?)
    }

    /// A scene that was checked and compiled.
    pub(crate) fn of_compiled(scene: &Scene, team: Team, compiled: Compiled) -> Result<Self, SetupError> {
        let name = scene.solver.entry.name;
        let kind = solver::find(name).ok_or(SetupError::Solver(name))?;
        let mut simulation = Self {
            bounds: sound::MotionLimits::of(&compiled.model, follows_stiffness(kind)),
            count_intersections: scene.contact.self_contact || !compiled.model.bodies.is_empty(),
            interaction: Grab::new(&compiled.model),
            model: compiled.model,
            before: compiled.state.clone(),
            terms: compiled.terms,
            state: compiled.state,
            solver: (kind.build)(&scene.solver.settings),
            sewing: None,
            kind,
            settings: scene.solver.settings.clone(),
            team,
            tuner: None,
            clock: Box::new(NoClock),
            fps: scene.fps,
            frame: 0,
            warnings: compiled.warnings,
            materials: scene.cloths.iter().map(|cloth| cloth.material.clone()).collect(),
            collider_names: scene.colliders.iter().map(|collider| collider.name.clone()).collect(),
            start_energy: 0.0,
            start_stirred: 0.0,
            excess: 0.0,
        };
        simulation.sewing = sewing::solver(&simulation.model, kind, scene.frame_time());
        simulation.measure_start();
        Ok(simulation)
    }

    /// Measures stages with a clock, and uses fewer threads while the machine is busy with something else.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Box::new(clock);
        self.tuner = Some(ThreadTuner::new(self.team.size()));
        self
    }

    /// Asks `stop` at every barrier of a step, many times in a millisecond, and ends the step with [`StepError::Stopped`] once it says so: for a limit of time, and for Ctrl-C. In a build
    /// that aborts on panics, as WebAssembly does, a step cannot be stopped.
    ///
    /// ```
    /// use muslin::solver::StepError;
    /// use muslin::{Cloth, Simulation};
    ///
    /// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4])).build()?;
    /// let mut simulation = simulation.with_stop(|| true);
    /// let hash = simulation.state().hash();
    /// assert_eq!(simulation.advance(), Err(StepError::Stopped));
    /// assert_eq!(simulation.state().hash(), hash, "as it was before the step");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_stop(mut self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.team.set_stop(stop);
        self
    }

    /// Advances by one frame. On an error the state is as it was.
    ///
    /// A panic in one thread of the step ends it in all, and is [`StepError::Panicked`] here; the simulation can be used as before. In a build that
    /// aborts on panics, as WebAssembly does, there is no such error.
    ///
    /// A grab or a shifted collider that would force cloth through something stays where it is for this frame.
    pub fn advance(&mut self) -> Result<StepReport, StepError> {
        let mut grab_moves = self.interaction.moves();
        let mut outcome = self.step(grab_moves);
        if grab_moves && matches!(outcome, Err(StepError::Contact { .. })) {
            grab_moves = false;
            outcome = self.step(grab_moves);
        }
        let report = outcome?;
        self.interaction.arrive(self.fps.recip(), grab_moves);
        self.model.forces.clear();
        self.frame += 1;
        // A quotient and not a sum, which would drift away from the times that a scene names.
        self.state.time = self.frame as f64 / self.fps;
        Ok(report)
    }

    fn step(&mut self, grab_moves: bool) -> Result<StepReport, StepError> {
        let dt = self.fps.recip();
        if !self.interaction.is_idle() {
            self.interaction.lead(&mut self.model, self.state.time, dt, grab_moves);
        }
        let threads = self.tuner.as_mut().map_or(self.team.size(), ThreadTuner::threads);
        let context =
            Context { model: &self.model, terms: &self.terms, team: &self.team, threads, clock: &*self.clock };
        let start = self.clock.seconds();
        self.before.copy_from(&self.state);
        let phase = self.phase();
        let is_sewing = phase.is_some();
        let energy = if is_sewing { self.total_energy() } else { 0.0 };
        let solver: &mut dyn Solver = match (&mut self.sewing, phase) {
            (Some(sewing), Some(phase)) => {
                if phase == Phase::Settling {
                    sewing.weigh(&context, &self.state, dt);
                }
                sewing.as_mut()
            }
            _ => self.solver.as_mut(),
        };
        let state = &mut self.state;
        let step = || self.team.stoppable(|| self.team.host(threads, || solver.advance(&context, state, dt)));
        let report = match catch_unwind(AssertUnwindSafe(step)) {
            Ok(outcome) => outcome?,
            Err(panic) => {
                // Whatever was half done is gone: the state, and what the solver keeps. The team has met again at the end of its run.
                self.state.copy_from(&self.before);
                self.renew();
                return Err(if panic.is::<Stopped>() { StepError::Stopped } else { StepError::panicked(&*panic) });
            }
        };
        self.book(&report);
        if is_sewing {
            let taken = self.total_energy() - energy - report.work.total();
            self.state.work.program += taken;
        }
        if let Err(error) = self.examine(&report) {
            self.state.copy_from(&self.before);
            self.renew();
            return Err(error);
        }
        if let Some(tuner) = &mut self.tuner {
            // A frame may have many times the work of another.
            tuner.record((self.clock.seconds() - start) / f64::from(report.iterations.max(1)));
        }
        Ok(report)
    }

    /// What is done with cloth that is sewn in the next frame; `None` once it is let go, and where there is none.
    pub fn phase(&self) -> Option<Phase> {
        let before = |limit| self.begins_before(limit, self.state.time);
        let settling = before(self.model.settled_by).then_some(Phase::Settling);
        if before(self.model.sewn_by) { Some(Phase::Sewing) } else { settling }
    }

    /// Whether a frame that begins at a time, in s, does so before a limit. A quotient is not exact: one that begins at the limit does not.
    fn begins_before(&self, limit: f64, time: f64) -> bool {
        time + 0.5 / self.fps < limit
    }

    /// Books the work of a frame.
    fn book(&mut self, report: &StepReport) {
        let mut work = report.work;
        // Such a solver does not follow the energies of the scene: nobody knows what a pin feels.
        if work.pins != 0.0 && !follows_stiffness(self.kind) {
            work.pins = f64::NAN;
        }
        // A constant force has done its part over the whole way of the frame; held vertices feel none.
        let ways = self.state.positions.iter().zip(&self.before.positions).map(|(x, before)| *x - *before);
        let forces = self.model.forces.iter().zip(ways).enumerate();
        work.program += forces.filter(|(i, _)| !self.is_held(*i)).map(|(_, (force, way))| force.dot(way)).sum::<f64>();
        self.state.work += work;
    }

    /// Whether a pin holds a vertex of the state now.
    fn is_held(&self, vertex: usize) -> bool {
        let holds = |pin: u32| self.model.pins[pin as usize].pose(self.state.time).is_some();
        self.model.pinned_in(vertex..vertex + 1).any(|pinned| holds(pinned.pin))
    }

    /// Takes the state for the one at time zero.
    fn measure_start(&mut self) {
        self.start_energy = self.total_energy();
        self.start_stirred = self.start_energy - self.model.gravity_energy(&self.state.positions);
    }

    /// Kinetic, elastic and gravity energy now, in J.
    fn total_energy(&self) -> f64 {
        let (model, state) = (&self.model, &self.state);
        let own = if self.kind.needs == Need::Nothing { 0.0 } else { self.elastic_energy(&state.positions) };
        let vertices = state.positions.iter().zip(&state.velocities).zip(&model.masses);
        own + vertices.map(|((x, v), mass)| mass * (0.5 * v.norm_squared() - model.gravity.dot(*x))).sum::<f64>()
    }

    /// Measures the current state. A solver that takes no notice of the energies of the scene has none of them.
    pub fn diagnose(&self) -> Diagnostics {
        let threads = self.tuner.as_ref().map_or(self.team.size(), ThreadTuner::fastest);
        let (model, state) = ((&self.model, &self.terms[..]), &self.state);
        self.with_own_energy(Diagnostics::measure_with(model, state, self.count_intersections, (&self.team, threads)))
    }

    /// The same at a glance, for a person who watches: see [`Diagnostics::glance`].
    pub fn glance(&self) -> Diagnostics {
        self.with_own_energy(Diagnostics::glance(&self.model, &self.terms, &self.state))
    }

    fn with_own_energy(&self, mut measured: Diagnostics) -> Diagnostics {
        if self.kind.needs == Need::Nothing {
            measured.elastic_energy = 0.0;
        }
        let energy = measured.kinetic_energy + measured.elastic_energy + measured.gravity_energy;
        let error = energy - self.start_energy - self.state.work.total();
        Diagnostics { energy_error: error.is_finite().then_some(error), ..measured }
    }

    /// [`Solver::unsolved`] of the last frame, in m.
    pub fn unsolved(&self) -> Option<f64> {
        self.solver.unsolved()
    }

    /// The compiled scene.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The terms of its potential, in the order they are swept.
    pub fn terms(&self) -> &[Box<dyn Term>] {
        &self.terms
    }

    /// The elastic energy of the model with the vertices at x, in J, in the model's order.
    pub fn elastic_energy(&self, x: &[Vec3<f64>]) -> f64 {
        solver::elastic_energy(&self.model, &self.terms, x)
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

    /// What its team has done so far, if that is [metered](Team::metered).
    pub fn tally(&self) -> Option<Tally> {
        self.team.tally()
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
        self.begin_sewing_anew();
        self.grant();
        Ok(())
    }

    /// Back to time zero, as the scene says, without grabs, held vertices and shifted colliders.
    pub fn reset(&mut self) {
        if !self.interaction.is_idle() {
            self.interaction.clear(&mut self.model);
            self.forget();
        }
        self.state = self.model.initial_state();
        self.begin_sewing_anew();
        self.measure_start();
        self.excess = 0.0;
        self.frame = 0;
    }

    /// Grabs vertices of the state where they are, in place of those grabbed before. Numbers that are no vertices are left out.
    pub fn grab(&mut self, vertices: &[usize]) {
        let is_vertex = |v: &&usize| **v < self.state.positions.len();
        let vertices: Vec<u32> = vertices.iter().filter(is_vertex).map(|&v| v as u32).collect();
        self.interaction.grab(&mut self.model, &self.state, &vertices);
        self.forget();
    }

    /// Where the grabbed vertices are to be, in m, from where they were grabbed. They go there over the next frames, at most as fast as an arm.
    pub fn drag(&mut self, offset: [f64; 3]) {
        self.interaction.drag(offset.into());
    }

    /// Lets go of all grabbed vertices.
    pub fn release(&mut self) {
        self.grab(&[]);
    }

    /// Holds a vertex of the state where it is, or frees it from whatever holds it.
    pub fn hold(&mut self, vertex: usize, is_held: bool) {
        if let Some(&place) = self.state.positions.get(vertex) {
            self.interaction.hold(&mut self.model, vertex as u32, is_held.then_some(place));
            self.forget();
        }
    }

    /// Where a collider of the scene is to be, in m, from where its path has it. It goes there as grabbed vertices do.
    pub fn shift_collider(&mut self, collider: usize, offset: [f64; 3]) {
        self.interaction.shift(collider, offset.into());
    }

    /// Continues where another simulation is, with its grabs, held vertices and shifted colliders. It must be of the same cloths; its colliders may stand elsewhere by
    /// `shifted`, in m. On an error nothing has changed.
    pub fn take_over(&mut self, other: &Self, shifted: &BTreeMap<usize, [f64; 3]>) -> Result<(), RestoreError> {
        let mut state = other.state.clone();
        // The step before is of another length, or was another solver's.
        if self.kind.entry.name != other.kind.entry.name || self.settings != other.settings {
            state.memory = SolverMemory::Nothing;
        }
        self.restore(state, other.frame)?;
        // What there was from nowhere stays; what another material stores is none of it.
        self.start_energy = self.total_energy() - (other.total_energy() - other.start_energy);
        self.start_stirred = self.total_energy() - self.model.gravity_energy(&self.state.positions);
        self.grant();
        // What cut at its start may still do, wherever the cloths of this one start.
        self.model.is_tangled |= other.model.is_tangled;
        let shifted = shifted.iter().map(|(&collider, &offset)| (collider, offset.into())).collect();
        self.interaction = other.interaction.on(&mut self.model, &shifted);
        if !self.interaction.is_idle() {
            self.interaction.lead(&mut self.model, self.state.time, self.fps.recip(), false);
            self.forget();
        }
        Ok(())
    }

    /// A solver keeps things that follow from the model; this one has changed.
    fn forget(&mut self) {
        self.state.memory.disturbed();
        self.renew();
    }

    /// Solvers that keep nothing.
    fn renew(&mut self) {
        self.solver = (self.kind.build)(&self.settings);
        self.begin_sewing_anew();
    }

    /// What lets cloth down does not sew any more: a state of before that needs another.
    fn begin_sewing_anew(&mut self) {
        self.sewing = sewing::solver(&self.model, self.kind, self.fps.recip());
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

    /// The values of one cloth from an array over the vertices of the state, as the user numbers them.
    pub fn in_user_order<'a, T: Copy>(&'a self, cloth: usize, values: &'a [T]) -> impl Iterator<Item = T> + 'a {
        let cloth = self.model.cloths.get(cloth).into_iter();
        cloth.flat_map(move |cloth| {
            let values = &values[cloth.vertices.clone()];
            cloth.ordering.new_from_old.iter().map(move |&new| values[new as usize])
        })
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("frame", &self.frame).field("model", &self.model).finish_non_exhaustive()
    }
}

/// Whether a solver holds together what the stiffness of the scene does.
fn follows_stiffness(kind: &SolverKind) -> bool {
    kind.needs != Need::Nothing && !kind.reads_k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Worker;
    use crate::scene::parse;

    /// Spoils the state; then one of its threads panics while the others wait for it.
    struct Failing {
        leader_fails: bool,
    }

    impl Solver for Failing {
        fn advance(&mut self, context: &Context<'_>, state: &mut State, _: f64) -> Result<StepReport, StepError> {
            state.positions.clear();
            state.time = -1.0;
            context.team.run(context.threads, |worker: &Worker<'_>| {
                assert!(worker.leads() != self.leader_fails, "a bug in one thread");
                worker.barrier();
            });
            Ok(StepReport::default())
        }
    }

    #[test]
    fn a_panic_in_one_thread_ends_the_step_with_an_error() {
        let text = "[[cloth]]\ngrid = { size = [1, 1], cells = [12, 12] }\npins = [{ select = \"x_min\" }]";
        let scene = parse(text, &[]).scene.unwrap();
        let simulation = |threads| Simulation::new(&scene, threads, &mut |_| Err(String::new())).unwrap();
        let mut expected = simulation(1);
        (0..3).for_each(|_| assert!(expected.advance().is_ok()));
        for (threads, leader_fails) in [(1, true), (2, true), (2, false), (3, false)] {
            let mut simulation = simulation(threads);
            simulation.advance().unwrap();
            let before = simulation.state().clone();
            simulation.solver = Box::new(Failing { leader_fails });
            let error = simulation.advance().unwrap_err();
            assert_eq!(error, StepError::Panicked { words: "a bug in one thread".to_owned() }, "{threads} threads");
            assert_eq!((simulation.state(), simulation.frame()), (&before, 1), "{threads} threads");
            // It goes on with a new solver of the scene, on the same team.
            (0..2).for_each(|_| assert!(simulation.advance().is_ok()));
            assert_eq!(simulation.state().hash(), expected.state().hash(), "{threads} threads");
        }
    }
}
