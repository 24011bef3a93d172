//! One run: from a scene to a folder of results, through interrupts, failures and resumes.
//!
//! ```text
//! plan ─→ Session::begin  ─→ simulate ─→ finish (exports, pictures, report)
//!      └→ Session::resume ─┘    │
//!                               └→ caches every frame; report and checkpoint every few seconds
//! ```
//!
//! A lock keeps other runs out of the folder. At any moment it holds a readable report, whole frames, and a checkpoint
//! from which `--resume` goes on to the same bits. Everything that may fail tells what of that is left.

mod bad_start;
mod caches;
mod checkpoint;
mod export;
mod fingerprint;
mod fit;
pub(crate) mod folder;
mod frame_watch;
mod garment;
mod interrupt;
mod lock;
mod plan;
mod preview;
mod progress;
pub(crate) mod report;
mod reserve;
mod rest;
mod rest_watch;
mod resume;
mod seams;
mod surfaces;
mod views;

use std::time::{Duration, Instant};

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::model::{Body, Cloth, Model, edge_strain};
use muslin::scene::Start;
use muslin::solver::{StepError, milliseconds, over_the_limit};
use muslin_io::{IoError, file_stem, write_obj};

pub(crate) use checkpoint::Checkpoint;
pub(crate) use fingerprint::fingerprint;
pub(crate) use folder::Folder;
pub(crate) use frame_watch::FrameWatch;
pub(crate) use interrupt::Interrupt;
pub(crate) use lock::Lock;
pub(crate) use plan::{Plan, all_cores, plan, plan_of, sources};
pub(crate) use progress::{Progress, time_in_words};
pub(crate) use rest_watch::RestWatch;

use caches::Caches;
use report::{AT_REST, Frame, FramePhase, Outcome, Report, StagesMs, Summary};
use reserve::Reserve;
use rest::Rest;

use crate::failure::Failure;
use crate::shell;
use crate::words::{count, percent};

/// Between two checkpoints: what a crash may cost.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// Saving takes at most this share of the time: with a million vertices a checkpoint has 48 MB.
const SAVE_SHARE: u32 = 20;

/// About the bytes of a frame in the report.
const FRAME_BYTES: usize = 512;
/// Beyond this strain no woven cloth is still cloth.
const MOST_STRAIN: f64 = 0.1;
/// A strain up to this part of the limit that was asked for is not worth a word.
const WELL_ABOVE: f64 = 1.25;
/// A step that ends this many tolerances from solved is worth a word.
const FAR: f64 = 10.0;

/// A run that has begun.
pub(crate) struct Session {
    pub(crate) plan: Plan,
    simulation: Simulation,
    caches: Caches,
    pub(crate) report: Report,
    started: Instant,
    /// Of the parts of the run before this one.
    earlier_seconds: f64,
    saved_at: Instant,
    save_cost: Duration,
    reserve: Reserve,
    /// Of cloth that is sewn.
    rest_watch: Option<RestWatch>,
    /// Frames of the report in the folder.
    reported: usize,
    _lock: Lock,
}

/// Why a run stopped before its end.
enum Stop {
    /// The state is that of the last good frame.
    Step(StepError),
    /// The same, and what to do about it.
    TooLong(String),
    /// A number of the report is not finite; the state is ahead of the files.
    Numbers(&'static str),
    /// The state may be ahead of the files.
    File(IoError),
}

impl Session {
    /// Begins a run in its folder, in the place of any earlier one.
    pub(crate) fn begin(mut plan: Plan, simulation: Simulation, started: Instant) -> Result<Self, Failure> {
        let made = plan.folder.made();
        plan.folder.guard(plan.files.iter().chain(&plan.later), &made)?;
        plan.folder.create()?;
        let lock = Lock::take(&plan.folder)?;
        plan.folder.clear(&made, &plan.files)?;
        let mut report = Report { summary: summary(&plan, &simulation), frames: Vec::new() };
        // Before anything else, so that it is known whose the other files are.
        let begun = report.write(&plan.folder).and_then(|size| {
            let mut reserve = Reserve::new(&plan.folder);
            reserve.hold(size);
            Ok((lay_out(&mut plan, &simulation)?, reserve)) // which is gone in the case of a failure
        });
        let (caches, reserve) = begun.map_err(|error| {
            let message = format!("{error}; no frame is kept in {}", plan.folder.path.display());
            report.summary.outcome = Outcome::Failed;
            report.summary.error = Some(message.clone());
            if report.write(&plan.folder).is_err() {
                plan.folder.remove(folder::REPORT).ok(); // that of the earlier run is not true any more
            }
            Failure::Failed(message)
        })?;
        let mut session = Self::new(plan, simulation, caches, report, started, (lock, reserve));
        session.report.summary.stages_ms.write += 1e3 * started.elapsed().as_secs_f64();
        session.save().map_err(|error| session.fail(Stop::File(error)))?;
        Ok(session)
    }

    /// Continues the run in the folder from its checkpoint.
    pub(crate) fn resume(plan: Plan, mut simulation: Simulation, started: Instant) -> Result<Self, Failure> {
        resume::check_that_there_is_one(&plan.folder)?;
        let lock = Lock::take(&plan.folder)?;
        let earlier = resume::earlier(&plan, &mut simulation)?;
        let frame = simulation.frame();
        plan.folder.guard(&plan.later, &earlier.summary.files)?;
        let caches =
            Caches::resume(&plan.folder, &simulation, frame).map_err(|error| resume::unusable_cache(&error))?;
        plan.folder.write(folder::SCENE, plan.scene.to_toml().as_bytes())?;
        restore_missing(&plan, &simulation)?;
        let mut report = Report { summary: summary(&plan, &simulation), frames: earlier.frames };
        report.frames.truncate(frame);
        let mut made = earlier.summary.files;
        made.retain(|name| !report.summary.files.contains(name));
        if frame < plan.scene.frame_count() {
            plan.folder.remove_all(&made)?; // they show a shorter motion
        } else {
            report.summary.files.append(&mut made);
        }
        report.summary.stages_ms = earlier.summary.stages_ms;
        let untangled = earlier.summary.untangled_at_frame.filter(|at| *at <= frame);
        report.summary.untangled_at_frame = report.summary.untangled_at_frame.or(untangled);
        let mut reserve = Reserve::new(&plan.folder);
        reserve.hold(report.to_json().map_or(0, |text| text.len()));
        let mut session = Self::new(plan, simulation, caches, report, started, (lock, reserve));
        if session.rest_watch.is_some() {
            let (fps, folder) = (session.plan.scene.fps, &session.plan.folder);
            let watch = RestWatch::resume(fps, folder, &session.simulation);
            session.rest_watch = Some(watch.map_err(|error| resume::unusable_cache(&error))?);
        }
        session.earlier_seconds = earlier.summary.wall_seconds;
        session.reported = frame;
        Ok(session)
    }

    fn new(
        plan: Plan,
        simulation: Simulation,
        caches: Caches,
        report: Report,
        started: Instant,
        (lock, reserve): (Lock, Reserve),
    ) -> Self {
        let is_sewn = simulation.model().settled_by > 0.0;
        let rest_watch = is_sewn.then(|| {
            let mut watch = RestWatch::new(plan.scene.fps);
            watch.see(&simulation);
            watch
        });
        Self {
            plan,
            simulation,
            rest_watch,
            caches,
            report,
            started,
            earlier_seconds: 0.0,
            saved_at: Instant::now(),
            save_cost: Duration::ZERO,
            reserve,
            reported: 0,
            _lock: lock,
        }
    }

    /// The last frame there is.
    pub(crate) fn frame(&self) -> usize {
        self.report.last_frame()
    }

    /// Simulates what is left to simulate. On a failure everything that is finished has been written.
    pub(crate) fn simulate(&mut self, watch: &FrameWatch, progress: &mut Progress) -> Result<(), Failure> {
        let mut told = false;
        let outcome = loop {
            if let Some(outcome) = self.ending(watch) {
                break outcome;
            }
            match self.step(watch) {
                Err(Stop::Step(StepError::Stopped)) if watch.is_interrupted() => break Outcome::Interrupted,
                outcome => outcome.map_err(|stop| self.fail(stop))?,
            }
            if let Some(frame) = self.report.frames.last() {
                progress.frame(frame);
            }
            if let Some(warning) = self.stability_warning().filter(|_| !told) {
                progress.warn(&warning);
                told = true;
            }
        };
        self.end(outcome);
        self.save().map_err(|error| self.fail(Stop::File(error)))?;
        match outcome {
            Outcome::Interrupted => Err(self.interrupted("")),
            _ => Ok(()),
        }
    }

    /// How the run ends here, if it does.
    fn ending(&self, watch: &FrameWatch) -> Option<Outcome> {
        let scene = &self.plan.scene;
        if self.frame() >= scene.frame_count() {
            return Some(Outcome::Done);
        }
        if scene.stop_at_rest.is_some_and(|speed| self.report.is_at_rest(speed, scene.fps)) {
            return Some(Outcome::AtRest);
        }
        watch.is_interrupted().then_some(Outcome::Interrupted)
    }

    /// One frame, in the caches and in the report.
    fn step(&mut self, frame_watch: &FrameWatch) -> Result<(), Stop> {
        let mut watch = Watch::start();
        let phase = self.simulation.phase().map(FramePhase::from);
        let step = frame_watch.over(|| self.simulation.advance()).map_err(|error| match error {
            StepError::Stopped if !frame_watch.is_interrupted() => Stop::TooLong(frame_watch.too_long()),
            error => Stop::Step(error),
        })?;
        let wall_ms = watch.lap();
        let diagnostics = self.simulation.diagnose();
        if let Some(what) = diagnostics.first_non_finite() {
            return Err(Stop::Numbers(what));
        }
        let diagnosed = watch.lap();
        self.caches.append(&self.simulation).map_err(Stop::File)?;
        let stages = &mut self.report.summary.stages_ms;
        stages.add(&step.stages);
        stages.diagnose += diagnosed;
        stages.write += watch.lap();
        let (frame, time) = (self.simulation.frame(), self.simulation.state().time);
        let unsolved = self.simulation.unsolved();
        if may_untangle(&self.plan) && !step.contact_stats.is_tangled {
            self.report.summary.untangled_at_frame.get_or_insert(frame);
        }
        let travel = self.rest_watch.as_mut().and_then(|watch| {
            watch.see(&self.simulation);
            watch.travel()
        });
        let frame = Frame::new((frame, time), wall_ms, &step, unsolved, &diagnostics);
        self.report.frames.push(Frame { travel, phase, ..frame });
        self.name_energy_place();
        self.reserve.hold(FRAME_BYTES * self.report.frames.len());
        if self.saved_at.elapsed() >= SAVE_EVERY.max(SAVE_SHARE * self.save_cost) {
            self.save().map_err(Stop::File)?;
        }
        Ok(())
    }

    /// The weight of the cloths times their size, in J.
    fn least_energy_scale(&self) -> f64 {
        let model = self.simulation.model();
        model.cloths.iter().map(|cloth| cloth.mass * model.gravity.norm() * cloth.mesh.extent()).sum()
    }

    /// Names the vertex to look at in a frame that has more energy from nowhere than all before it.
    fn name_energy_place(&mut self) {
        let frame = self.simulation.frame();
        let is_worst =
            self.report.energy_from_nowhere(self.least_energy_scale()).is_some_and(|(worst, _)| worst.frame == frame);
        let (model, state) = (self.simulation.model(), self.simulation.state());
        if let Some(last) = self.report.frames.last_mut().filter(|_| is_worst) {
            let vertex = if last.elastic_energy > last.kinetic_energy {
                most_strained(model, &state.positions)
            } else {
                largest(state.velocities.iter().map(|v| v.norm_squared()))
            };
            last.energy_place = vertex.map(|vertex| {
                let (cloth, vertex) = model.user_vertex(vertex);
                format!("vertex {vertex} of cloth \"{cloth}\"")
            });
        }
    }

    /// Writes report and checkpoint, in this order: a report may be ahead of the checkpoint, and is then cut.
    fn save(&mut self) -> Result<(), IoError> {
        let mut watch = Watch::start();
        self.write_report()?;
        let state = self.simulation.state();
        let checkpoint = Checkpoint::encode(self.plan.fingerprint, self.simulation.frame(), state);
        self.plan.folder.write(folder::CHECKPOINT, &checkpoint)?;
        let cost = watch.lap();
        self.report.summary.stages_ms.write += cost;
        self.save_cost = Duration::from_secs_f64(1e-3 * cost);
        self.saved_at = Instant::now();
        Ok(())
    }

    /// Brings the report up to date and writes it.
    fn write_report(&mut self) -> Result<(), IoError> {
        let state = self.simulation.state();
        let speed = self.plan.scene.stop_at_rest.unwrap_or(AT_REST);
        let at_rest = self.report.is_at_rest(speed, self.plan.scene.fps);
        let summary = &mut self.report.summary;
        (summary.at_rest, summary.seams) = (at_rest, seams::measure(self.simulation.model(), &state.positions));
        summary.wall_seconds = self.earlier_seconds + self.started.elapsed().as_secs_f64();
        summary.simulated_seconds = state.time;
        summary.state_hash = format!("{:016x}", state.hash());
        let size = self.report.write(&self.plan.folder)?;
        if self.report.summary.error.is_none() {
            self.reserve.hold(size);
        }
        self.reported = self.report.frames.len();
        Ok(())
    }

    fn end(&mut self, outcome: Outcome) {
        let warnings = [
            self.strain_warning(),
            self.energy_warning(),
            self.quality_warning(),
            self.motion_warning(),
            self.stability_warning(),
            self.convergence_warning(),
            self.cut_warning(),
            self.tangle_warning(),
        ];
        let note = self.load_note();
        let summary = &mut self.report.summary;
        summary.outcome = outcome;
        summary.completed = matches!(outcome, Outcome::Done | Outcome::AtRest);
        summary.notes = note.into_iter().collect();
        for warning in warnings.into_iter().flatten() {
            if !summary.warnings.contains(&warning) {
                summary.warnings.push(warning);
            }
        }
    }

    /// What to do about steps that are longer than an explicit solver is stable with.
    fn stability_warning(&self) -> Option<String> {
        let (frame, step, limit) = self.report.first_unstable(self.plan.scene.fps)?;
        let over = over_the_limit(step, limit, frame.substeps);
        Some(format!("the step of {} in frame {} is {over}", milliseconds(step), frame.frame))
    }

    /// What to do about steps that were left far from solved.
    fn convergence_warning(&self) -> Option<String> {
        let solver = &self.plan.scene.solver;
        let (tolerance, iterations) = (solver.settings.number("tolerance")?, solver.settings.integer("iterations")?);
        // Who asks for a single iteration, or for no tolerance, does not ask for a solution.
        let asks = tolerance > 0.0 && iterations > 1;
        let (frames, worst, moved) = self.report.unsolved(FAR * tolerance).filter(|_| asks)?;
        Some(format!(
            "{} stopped after {iterations} iterations without a solution in {}: in frame {} the last one still moved a vertex by \
             {moved:.1e} m, and the tolerance is {tolerance:e} m; raise solver.substeps or solver.iterations",
            solver.entry.name,
            count(frames, "frame"),
            worst.frame
        ))
    }

    /// What to say of a start that was not untangled to the end.
    fn tangle_warning(&self) -> Option<String> {
        let is_tangled = may_untangle(&self.plan) && self.report.summary.untangled_at_frame.is_none();
        let cuts = self.report.frames.last().and_then(|frame| frame.intersections).unwrap_or(0);
        is_tangled.then(|| {
            format!(
                "the start was not untangled by frame {}, in which {} of triangles cut each other: nothing is promised of any frame; \
                 raise duration, take shorter steps, or move apart what cuts",
                self.frame(),
                count(cuts, "pair")
            )
        })
    }

    /// What to do about energy that came from nowhere.
    fn energy_warning(&self) -> Option<String> {
        let (frame, share) = self.report.energy_from_nowhere(self.least_energy_scale())?;
        let (error, place) = (frame.energy_error?, frame.energy_place.as_deref());
        let place = place.map(|place| format!(", near {place}")).unwrap_or_default();
        Some(format!(
            "energy from nowhere: in frame {} the cloth has {error:.2e} J, {} of the energy scale, more than it began with and was given{place}; {}",
            frame.frame,
            percent(share, 1),
            self.cure(frame.frame)
        ))
    }

    /// What to do about motions that contact could not follow.
    fn cut_warning(&self) -> Option<String> {
        let (frames, first, most) = self.report.cut()?;
        Some(format!(
            "motion was cut short in {}, first in frame {first}, of {} at most: contact follows a vertex no further than two edges beyond \
             the rest of its cloth in a substep; {}",
            count(frames, "frame"),
            count(most, "vertex"),
            self.shorter_steps(first)
        ))
    }

    /// What to do about a frame that went wrong: a start that cannot go right comes first.
    fn cure(&self, frame: usize) -> String {
        let inside = self.simulation.model().starts_inside();
        let Some(worst) = inside.iter().max_by(|a, b| a.depth.total_cmp(&b.depth)) else {
            return self.shorter_steps(frame);
        };
        let scene = &self.plan.scene;
        format!(
            "cloth {:?} starts {:.3} m deep inside collider {:?} and is pushed out: move one of them by as much; no substeps will change that",
            scene.cloths[worst.cloth].name, worst.depth, scene.colliders[worst.collider].name
        )
    }

    /// How to get shorter steps than those of a frame.
    fn shorter_steps(&self, frame: usize) -> String {
        let solver = &self.plan.scene.solver;
        let chosen = self.report.frames.iter().find(|f| f.frame == frame).map_or(1, |f| f.substeps);
        match solver.settings.integer("substeps") {
            Some(substeps) => format!("raise solver.substeps (now {substeps})"),
            None if solver.entry.parameters.iter().any(|parameter| parameter.name == "substeps") => {
                format!("set solver.substeps to more than the {chosen} that it chose there")
            }
            None => format!(
                "set solver.kind = \"xpbd\", and its substeps to more than the {chosen} that {} took there",
                solver.entry.name
            ),
        }
    }

    /// In how many frames a solver that holds a strain did not, if these are more than one in a hundred: where `auto` changes its way, a frame may stick out.
    fn quality_warning(&self) -> Option<String> {
        let limit = self.plan.scene.solver.settings.number("quality.max_strain")?;
        let is_strained = |frame: &Frame| frame.max_strain > WELL_ABOVE * limit && !frame.strained_by_load;
        let frames = &self.report.frames;
        if self.report.worn().filter(|frame| is_strained(frame)).count() * 100 <= frames.len() {
            return None;
        }
        let strained = strained_frames(&self.report, is_strained)?;
        Some(format!(
            "strain is above quality.max_strain ({}) in {strained}: more substeps did not hold it there, or were not tried so soon again; \
             use a coarser mesh, let the cloth down more slowly, or accept more",
            percent(limit, 1)
        ))
    }

    /// How far the load strains the cloth beyond what was asked for.
    fn load_note(&self) -> Option<String> {
        let limit = self.plan.scene.solver.settings.number("quality.max_strain")?;
        if self.strain_warning().is_some() {
            return None;
        }
        let strained =
            strained_frames(&self.report, |frame| frame.max_strain > WELL_ABOVE * limit && frame.strained_by_load)?;
        Some(format!(
            "strain is above quality.max_strain ({}) in {strained}: shorter steps do not change that, the load strains this material so; a stiffer one, a gentler motion or a pin of \
             more vertices strains less",
            percent(limit, 1)
        ))
    }

    /// How far from the converged motion a solver that holds a distance was when the run ended, if that is farther.
    fn motion_warning(&self) -> Option<String> {
        let limit = self.plan.scene.solver.settings.number("quality.motion")?;
        let (frames, last) = self.report.astray(limit)?;
        Some(format!(
            "the estimated distance to the converged motion is {} of the cloth's size at the end, and was above quality.motion ({}) in {}: more \
             substeps did not bring it below, or the run was too short for them; raise solver.quality.motion if that is near enough",
            percent(last, 2),
            percent(limit, 2),
            count(frames, "frame")
        ))
    }

    /// What to do about a cloth that was stretched beyond what cloth can be.
    pub(crate) fn strain_warning(&self) -> Option<String> {
        let (strain, frame) = self.report.worst_strain().filter(|(strain, _)| *strain > MOST_STRAIN)?;
        let holds_strain = self.plan.scene.solver.settings.number("quality.max_strain").is_some();
        let is_by_load = self.report.frames.iter().any(|f| f.frame == frame && f.strained_by_load);
        // What a solver that holds a strain could not hold has a warning of its own.
        if holds_strain && !is_by_load {
            return None;
        }
        // Without a model nothing keeps the cloth together, and that is meant.
        if self.plan.scene.cloths.iter().all(|cloth| cloth.material.stretch.entry.name == "none") {
            return None;
        }
        let solver = &self.plan.scene.solver;
        if is_by_load {
            return Some(format!(
                "strain reaches {} in frame {frame}: the load strains this material so; unless the cloth is meant to be that soft, raise \
                 material.stretch.stiffness (a woven cloth has 5000 N/m and more)",
                percent(strain, 1)
            ));
        }
        let why = match solver.entry.name {
            "pbd" => "no stiffness will change that, more substeps do",
            _ => "unless the cloth is meant to be that soft, the solver did not converge",
        };
        let (strain, remedy) = (percent(strain, 1), self.cure(frame));
        Some(format!("strain reaches {strain} in frame {frame}: {why}; {remedy}"))
    }

    /// Keeps what there is and says what that is. Further failures on the way are consequences of the first.
    fn fail(&mut self, stop: Stop) -> Failure {
        let (frame, time) = (self.frame() + 1, self.simulation.state().time);
        let in_frame = |what: String| format!("frame {frame}, after {time:.4} s: {what}; {}", self.kept());
        let failure = match stop {
            Stop::Step(error) => Failure::Step(in_frame(error.to_string())),
            Stop::TooLong(what) => Failure::Step(in_frame(what)),
            Stop::Numbers(what) => Failure::Step(format!(
                "frame {frame}: its {what} is not a finite number; look for an extreme number in the scene (density, stiffness, velocity); {}",
                self.kept()
            )),
            Stop::File(error) => Failure::Failed(format!("{error}; {}", self.kept())),
        };
        self.close(Outcome::Failed, &failure);
        failure
    }

    /// Writes down why the run ended here, with the space that was kept back for it.
    fn close(&mut self, outcome: Outcome, failure: &Failure) {
        self.end(outcome);
        self.report.summary.error = Some(failure.to_string());
        self.reserve.release();
        if self.write_report().is_err() {
            // No longer than the one before, it has room; a run that is resumed goes on from there.
            let unreported = self.report.frames.split_off(self.reported);
            self.write_report().ok();
            self.report.frames.extend(unreported);
        } else if self.caches.frame_count() == self.simulation.frame() + 1 {
            self.save().ok(); // otherwise the state is ahead of the files
        }
    }

    /// A run that was stopped by a signal, `during` something after the frames.
    fn interrupted(&self, during: &str) -> Failure {
        let command = shell::typed_command_with("--resume");
        Failure::Failed(format!("interrupted{during}; {}; continue with: {command}", self.kept()))
    }

    /// `frames 0 to 41 are kept in out/drape`.
    fn kept(&self) -> String {
        let folder = self.plan.folder.path.display();
        match self.caches.frame_count() {
            0 => format!("no frame is kept in {folder}"),
            1 => format!("frame 0 is kept in {folder}"),
            count => format!("frames 0 to {} are kept in {folder}", count - 1),
        }
    }

    /// Writes what is made of the frames: exports, pictures, and the final report.
    pub(crate) fn finish(&mut self, interrupt: &Interrupt, progress: &mut Progress) -> Result<(), Failure> {
        // Listed before they are there, so that it is known whose they are even if this is killed.
        let later = self.plan.later.clone();
        later.into_iter().for_each(|name| self.report.summary.add_file(name));
        let made = match self.write_report() {
            Ok(()) => self.make(interrupt, progress),
            Err(error) => Err(self.fail(Stop::File(error))),
        };
        let folder = &self.plan.folder;
        self.report.summary.files.retain(|name| folder.join(name).exists());
        if let Err(failure) = made {
            let outcome = if interrupt.is_raised() { Outcome::Interrupted } else { Outcome::Failed };
            self.close(outcome, &failure);
            return Err(failure);
        }
        self.write_report().map_err(|error| self.fail(Stop::File(error)))
    }

    fn make(&mut self, interrupt: &Interrupt, progress: &mut Progress) -> Result<(), Failure> {
        let mut watch = Watch::start();
        for cloth in &self.simulation.model().cloths {
            let rest = Rest::new(&cloth.name, &cloth.mesh);
            for format in &self.plan.formats {
                if interrupt.is_raised() {
                    return Err(self.interrupted(&format!(" before {} was written", format.name)));
                }
                progress.stage(&format!("writing {} of {}", format.name, cloth.name));
                let exported = export::export(&self.plan, format, &rest)
                    .map_err(|error| Failure::Failed(format!("{error}; {}", self.kept())))?;
                let name = exported.path.strip_prefix(&self.plan.folder.path).unwrap_or(&exported.path);
                self.report.summary.add_file(name.display().to_string());
                self.report.summary.warnings.extend(exported.notes);
            }
        }
        self.report.summary.stages_ms.export += watch.lap();
        let pictures = preview::make(&self.plan, self.simulation.model(), interrupt, progress)
            .map_err(|error| Failure::Failed(format!("{error}; {}", self.kept())))?;
        let Some(pictures) = pictures else { return Err(self.interrupted(" before the pictures were made")) };
        pictures.into_iter().for_each(|name| self.report.summary.add_file(name));
        progress.stage("measuring the fit");
        let garment = garment::finish(&self.plan, &self.simulation)
            .map_err(|error| Failure::Failed(format!("{error}; {}", self.kept())))?;
        self.report.summary.fit = garment.fit;
        garment.files.into_iter().for_each(|name| self.report.summary.add_file(name));
        self.report.summary.stages_ms.preview += watch.lap();
        Ok(())
    }
}

/// Writes what a run has from its beginning, and its frame 0.
fn lay_out(plan: &mut Plan, simulation: &Simulation) -> Result<Caches, IoError> {
    for (name, content) in &mut plan.inputs {
        plan.folder.write(name, content)?;
        *content = Vec::new(); // may be large, and is not needed again
    }
    plan.folder.write(folder::SCENE, plan.scene.to_toml().as_bytes())?;
    simulation.model().cloths.iter().try_for_each(|cloth| write_rest(&plan.folder, cloth))?;
    simulation.model().bodies.iter().try_for_each(|body| write_body(&plan.folder, body))?;
    let mut caches = Caches::create(&plan.folder, simulation)?;
    caches.append(simulation)?;
    Ok(caches)
}

/// Writes what somebody has removed since the run began and what can be made again.
fn restore_missing(plan: &Plan, simulation: &Simulation) -> Result<(), IoError> {
    let is_missing = |name: &str| !plan.folder.join(name).exists();
    for (name, content) in plan.inputs.iter().filter(|(name, _)| is_missing(name)) {
        plan.folder.write(name, content)?;
    }
    let model = simulation.model();
    let mut cloths = model.cloths.iter().filter(|cloth| is_missing(&rest_name(&cloth.name)));
    cloths.try_for_each(|cloth| write_rest(&plan.folder, cloth))?;
    let mut bodies = model.bodies.iter().filter(|body| is_missing(&rest_name(&body.name)));
    bodies.try_for_each(|body| write_body(&plan.folder, body))
}

/// Writes the mesh of a body as it is at time zero.
fn write_body(folder: &Folder, body: &Body) -> Result<(), IoError> {
    let mut positions = Vec::new();
    body.extend_positions(0.0, &mut positions);
    let mesh = Mesh { positions: positions.iter().map(|x| x.to_array()).collect(), ..body.mesh.clone() };
    write_obj(folder.join(rest_name(&body.name)), &Rest::new(&body.name, &mesh).mesh())
}

fn write_rest(folder: &Folder, cloth: &Cloth) -> Result<(), IoError> {
    write_obj(folder.join(rest_name(&cloth.name)), &Rest::new(&cloth.name, &cloth.mesh).mesh())
}

fn rest_name(owner: &str) -> String {
    format!("{}.obj", file_stem(owner))
}

/// The place of the largest of some numbers.
fn largest(numbers: impl Iterator<Item = f64>) -> Option<usize> {
    numbers.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

/// A vertex of the edge with the largest strain.
fn most_strained(model: &Model, positions: &[Vec3<f64>]) -> Option<usize> {
    let strains = model.edges.iter().map(|&(edge, rest)| edge_strain(positions, edge, rest));
    largest(strains).map(|edge| model.edges[edge].0[0] as usize)
}

/// `3 frames, at most 1.3 % in frame 26`, of those that are `strained`, if there are any.
fn strained_frames(report: &Report, strained: impl Fn(&Frame) -> bool) -> Option<String> {
    let frames: Vec<&Frame> = report.worn().filter(|frame| strained(frame)).collect();
    let worst = frames.iter().max_by(|a, b| a.max_strain.total_cmp(&b.max_strain))?;
    let most = percent(worst.max_strain, 1);
    Some(format!("{}, at most {most} in frame {}", count(frames.len(), "frame"), worst.frame))
}

/// Whether the start of the scene is untangled where it has to be.
fn may_untangle(plan: &Plan) -> bool {
    plan.scene.contact.start == Start::Untangle
}

/// The report of a run that begins.
fn summary(plan: &Plan, simulation: &Simulation) -> Summary {
    let cloths: Vec<report::Cloth> = simulation.model().cloths.iter().map(report::Cloth::from).collect();
    Summary {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scene: plan.scene.name.clone(),
        solver: plan.scene.solver.entry.name.to_owned(),
        backend: "cpu".to_owned(),
        threads: simulation.threads(),
        wall_seconds: 0.0,
        simulated_seconds: 0.0,
        state_hash: String::new(),
        completed: false,
        outcome: Outcome::Running,
        error: None,
        warnings: plan.warnings.list.iter().map(|w| w.display(&plan.warnings.label).to_string()).collect(),
        notes: Vec::new(),
        formats: std::iter::once("npy")
            .chain(plan.formats.iter().map(|format| format.name))
            .map(str::to_owned)
            .collect(),
        files: plan.files.clone(),
        cloths,
        untangled_at_frame: (may_untangle(plan) && !simulation.model().is_tangled).then_some(0),
        at_rest: false,
        seams: Vec::new(),
        fit: Vec::new(),
        stages_ms: StagesMs::default(),
    }
}

/// Measures one thing after the other.
struct Watch(Instant);

impl Watch {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Milliseconds since the last lap.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        1e3 * (now - std::mem::replace(&mut self.0, now)).as_secs_f64()
    }
}
