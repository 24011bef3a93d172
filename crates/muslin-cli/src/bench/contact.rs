//! Cost of self-contact, in frames that are full of it.
//!
//! ```text
//! whole   the built-in scene `twirl` from its first frame to its last: a cloth falls onto a ball, which turns and winds it into folds
//! twirl   the frames of it that are full of folds, in a finer cloth
//! tower   the built-in scene, as it is: twenty sheets on top of each other, nearly nothing but contact
//! ```
//!
//! A finer cloth of the same scene has a thickness in proportion to the edges, and as many more substeps as there are more edges along a side: with no more of them it would be
//! stretched by more the finer it is, and the times would be those of a worse result.
//!
//! A fall through the air has no contact, nor has a cloth that is flung out, so the clock starts when there are folds. A fine cloth would take long to get there: the scene is
//! run with a coarse cloth, which is then refined, each cell into four, with a few frames after each time to come to rest. The
//! refined cloth lies exactly in the coarse one, triangle by triangle, so nothing cuts anything and everything is at least as far apart as
//! it has to be.
//!
//! A frame is computed twice from the same state, with self-contact and without. The price of contact is the difference:
//!
//! ```text
//! ratio            (with − without) / without
//! µs a contact     (with − without) / pairs pushed apart, summed over the substeps
//! ```
//!
//! Contact with the ball and the floor is in both.

use std::fs;

use clap::ValueEnum;
use muslin::Simulation;
use muslin::math::Vec3;
use muslin::parallel::Team;
use muslin::scene::Override;
use muslin::solver::StepReport;
use muslin::state::{SolverMemory, State, Work};
use serde::Serialize;

use super::memory::status;
use super::sheet::simulation_on;
use super::{Row, Samples};
use crate::builtin::Builtin;
use crate::failure::Failure;

/// Cells along a side of the cloth before it is refined, at most.
const COARSE_CELLS: u32 = 64;
/// Frames after each refinement: new folds form, and layers sink to the thinner distance.
const SETTLING_FRAMES: usize = 8;

/// A scene to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// A cloth that is wound into folds, from the first frame to the last.
    Whole,
    /// A cloth wound into folds: only these.
    Twirl,
    /// Twenty sheets on top of each other.
    Tower,
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Twirl => "twirl",
            Self::Tower => "tower",
        }
    }

    fn builtin(self) -> Result<&'static Builtin, Failure> {
        let name = if self == Self::Tower { "tower" } else { "twirl" };
        Builtin::find(name).ok_or_else(|| Failure::Failed(format!("no scene {name}")))
    }

    /// Whether there is only one size, of so many vertices along a side.
    pub(crate) fn only_side(self) -> Option<u32> {
        match self {
            Self::Whole => Some(100),
            Self::Twirl => None,
            Self::Tower => Some(7),
        }
    }

    /// Frames to be measured, unless somebody knows better.
    pub(crate) fn frames(self, is_quick: bool) -> usize {
        match self {
            // After the first, which warms up. The first ones alone have no contact.
            Self::Whole => 209,
            Self::Twirl | Self::Tower if is_quick => 3,
            Self::Twirl | Self::Tower => 12,
        }
    }

    /// The frame in which there is much contact: the ball comes to rest, and the cloth, flung out until then, falls into folds; the last sheet
    /// has landed.
    fn folded_frame(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Twirl => 198,
            Self::Tower => 40,
        }
    }

    fn as_it_comes(self) -> Original {
        match self {
            Self::Whole | Self::Twirl => Original { cloths: 1, cells: 44, thickness: 5e-3, substeps: 50 },
            Self::Tower => Original { cloths: 20, cells: 6, thickness: 8e-3, substeps: 50 },
        }
    }

    /// Cells of the cloths before refinement, and how often they are refined, for about `side`² vertices; the tower stays as it is.
    fn cells(self, side: u32) -> (u32, u32) {
        let cells = if self == Self::Tower { self.as_it_comes().cells } else { side };
        let mut refinements = 0;
        while self == Self::Twirl && cells >> refinements > COARSE_CELLS {
            refinements += 1;
        }
        (cells >> refinements, refinements)
    }

    /// A cloth of about `side`² vertices in its folds, on such a team; says what it does by `progress`.
    pub(super) fn folded(
        self,
        side: u32,
        team: impl Fn() -> Result<Team, Failure>,
        progress: impl Fn(&str),
    ) -> Result<Simulation, Failure> {
        let (mut cells, refinements) = self.cells(side);
        let mut simulation = self.simulation(cells, true, team()?)?;
        if self.folded_frame() > 0 {
            progress(&format!("{}: folding {} vertices", self.name(), simulation.state().positions.len()));
            run(&mut simulation, self.folded_frame())?;
        }
        for _ in 0..refinements {
            let fine = self.simulation(2 * cells, true, team()?)?;
            simulation = refined(&simulation, fine, cells)?;
            cells *= 2;
            forget_peak();
            progress(&format!("{}: settling {} vertices", self.name(), simulation.state().positions.len()));
            run(&mut simulation, SETTLING_FRAMES)?;
        }
        Ok(simulation)
    }

    fn simulation(self, cells: u32, has_contact: bool, team: Team) -> Result<Simulation, Failure> {
        let Original { cloths, cells: own_cells, thickness, substeps } = self.as_it_comes();
        let finer = f64::from(cells) / f64::from(own_cells);
        let (thickness, substeps) = (thickness / finer, (f64::from(substeps) * finer).round().max(1.0));
        let mut changes = vec![
            format!("contact.thickness={thickness:?}"),
            format!("contact.self_contact={has_contact}"),
            format!("solver.substeps={substeps}"),
        ];
        changes.extend((0..cloths).map(|cloth| format!("cloth.{cloth}.grid.cells=[{cells},{cells}]")));
        if self != Self::Tower {
            changes.extend(LIMP.map(str::to_owned));
        }
        let changes: Result<Vec<Override>, String> = changes.iter().map(|change| Override::parse(change)).collect();
        simulation_on(self.builtin()?.text, &changes.map_err(Failure::Failed)?, team)
    }
}

/// The cloth of `twirl` as it was when this was first measured: limp, so that it lies in more folds, and flung out faster.
const LIMP: [&str; 4] = [
    "cloth.0.material.stretch.stiffness=2000.0",
    "cloth.0.material.damping=1.0",
    "collider.0.path.1.turn=720.0",
    "collider.1.friction=1.0",
];

/// A built-in scene as it comes.
struct Original {
    cloths: u32,
    /// Of each cloth along a side.
    cells: u32,
    /// In m.
    thickness: f64,
    substeps: u32,
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) subject: Subject,
    /// Vertices along a side of the cloth of `twirl` and `whole`, about.
    pub(crate) side: u32,
    pub(crate) threads: usize,
    /// Measured frames.
    pub(crate) frames: usize,
}

/// What contact cost in one scene at one size.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ContactRow {
    pub(crate) scene: &'static str,
    pub(crate) vertices: usize,
    pub(crate) threads: usize,
    pub(crate) substeps: u32,
    /// The first frame measured, and how many there were.
    pub(crate) first_frame: usize,
    pub(crate) frames: usize,
    /// Milliseconds a frame, with self-contact and without it from the same states: the median, and the best.
    pub(crate) frame_ms: f64,
    pub(crate) best_frame_ms: f64,
    pub(crate) without_ms: f64,
    pub(crate) best_without_ms: f64,
    /// What contact adds to the step, as part of the rest of it; from the sums over all frames.
    pub(crate) ratio: f64,
    /// Pairs pushed apart in a substep, on average.
    pub(crate) contacts: f64,
    /// Microseconds of contact for a pair in a substep.
    pub(crate) contact_us: f64,
    /// Memory at the peak, with contact, in bytes a vertex; only where the system says.
    pub(crate) peak_bytes: Option<f64>,
    pub(crate) max_strain: f64,
    pub(crate) mean_strain: f64,
    /// Pairs of triangles that cut each other at the end.
    pub(crate) intersections: Option<usize>,
}

impl ContactRow {
    /// The same for the table of all machines, one quantity a row.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let row = |quantity, unit, best, median| Row {
            subject: self.scene,
            vertices: self.vertices,
            threads: self.threads,
            quantity,
            unit,
            best,
            median,
            count: self.frames,
        };
        let same = |quantity, unit, value| row(quantity, unit, value, value);
        let mut rows = vec![
            row("frame", "ms", self.best_frame_ms, self.frame_ms),
            row("frame without contact", "ms", self.best_without_ms, self.without_ms),
            same("substeps", "1", f64::from(self.substeps)),
            same("contact / rest of the step", "1", self.ratio),
            same("contacts a substep", "1", self.contacts),
            same("contact", "µs", self.contact_us),
            same("max strain", "1", self.max_strain),
            same("mean strain", "1", self.mean_strain),
        ];
        rows.extend(self.peak_bytes.map(|bytes| same("peak", "B/vertex", bytes)));
        rows
    }
}

/// Measures a scene; says what it does by `progress`.
pub(crate) fn measure(plan: &Plan, progress: impl Fn(&str)) -> Result<ContactRow, Failure> {
    let Plan { subject, side, threads, frames } = *plan;
    let (coarse, refinements) = subject.cells(side);
    let cells = coarse << refinements;
    let team = || Team::new(threads).map_err(failed);
    let before = status("VmRSS");
    let mut simulation = subject.folded(side, team, &progress)?;
    let vertices = simulation.state().positions.len();
    progress(&format!("{}: {vertices} vertices, {frames} frames", subject.name()));
    // Of what has been folded; `whole` has done nothing yet.
    let peak = if subject == Subject::Whole { None } else { status("VmHWM") };
    let mut without = subject.simulation(cells, false, team()?)?;
    let (mut with_samples, mut without_samples) = (Samples::default(), Samples::default());
    let (mut contacts, mut substeps, mut added, mut rest) = (0, 0, 0.0, 0.0);
    // The first one warms up.
    let first_frame = simulation.frame() + 2;
    for frame in 0..=frames {
        let (state, number) = (simulation.state().clone(), simulation.frame());
        without.restore(state, number).map_err(failed)?;
        let (mut one, mut other) = (Samples::default(), Samples::default());
        other.time(|| without.advance()).map_err(failed)?;
        let report: StepReport = one.time(|| simulation.advance()).map_err(failed)?;
        if frame > 0 {
            with_samples.push(one.best());
            without_samples.push(other.best());
            added += one.best() - other.best();
            rest += other.best();
            contacts += report.contacts;
            substeps += u64::from(report.substeps);
        }
    }
    let diagnostics = simulation.diagnose();
    Ok(ContactRow {
        scene: subject.name(),
        vertices,
        threads,
        substeps: (substeps / frames.max(1) as u64) as u32,
        first_frame,
        frames,
        frame_ms: 1e3 * with_samples.median(),
        best_frame_ms: 1e3 * with_samples.best(),
        without_ms: 1e3 * without_samples.median(),
        best_without_ms: 1e3 * without_samples.best(),
        ratio: added / rest,
        contacts: contacts as f64 / substeps as f64,
        contact_us: 1e6 * added / contacts as f64,
        peak_bytes: before.zip(peak).map(|(before, peak)| (peak - before) / vertices as f64),
        max_strain: diagnostics.max_strain,
        mean_strain: diagnostics.mean_strain,
        intersections: diagnostics.intersections,
    })
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

fn run(simulation: &mut Simulation, frames: usize) -> Result<(), Failure> {
    for _ in 0..frames {
        simulation.advance().map_err(failed)?;
    }
    Ok(())
}

/// `fine` in the state of `coarse`, whose cloth has half as many cells along each side, of alternating diagonals: those of the coarse cells run
/// along diagonals of fine ones.
fn refined(coarse: &Simulation, mut fine: Simulation, cells: u32) -> Result<Simulation, Failure> {
    let cells = cells as usize;
    let new_from_old = &fine.model().cloths[0].ordering.new_from_old;
    let spread = |vectors: &[Vec3<f64>]| {
        let coarse: Vec<Vec3<f64>> = coarse.in_user_order(0, vectors).collect();
        let at = |i: usize, j: usize| coarse[j * (cells + 1) + i];
        let mut fine = vec![Vec3::ZERO; new_from_old.len()];
        for (old, &new) in new_from_old.iter().enumerate() {
            let (x, y) = (old % (2 * cells + 1), old / (2 * cells + 1));
            let (i, j) = (x / 2, y / 2);
            let [a, b] = match (x % 2, y % 2) {
                (0, 0) => [at(i, j); 2],
                (1, 0) => [at(i, j), at(i + 1, j)],
                (0, _) => [at(i, j), at(i, j + 1)],
                // The middle of a diagonal.
                _ if (i + j) % 2 == 0 => [at(i, j), at(i + 1, j + 1)],
                _ => [at(i + 1, j), at(i, j + 1)],
            };
            fine[new as usize] = (a + b) * 0.5;
        }
        fine
    };
    let State { positions, velocities, time, .. } = coarse.state();
    let state = State {
        positions: spread(positions),
        velocities: spread(velocities),
        time: *time,
        memory: SolverMemory::Nothing,
        work: Work::default(),
    };
    fine.restore(state, coarse.frame()).map_err(failed)?;
    Ok(fine)
}

/// Lets the system count the peak of the memory from now on. Linux only; elsewhere nothing is reported.
fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refined_cloth_lies_in_the_coarse_one() {
        let mut coarse = Subject::Twirl.simulation(10, true, Team::solo()).unwrap();
        run(&mut coarse, 30).unwrap();
        let fine = refined(&coarse, Subject::Twirl.simulation(20, true, Team::solo()).unwrap(), 10).unwrap();
        assert_eq!(fine.state().time, coarse.state().time);
        let [of_coarse, of_fine] = [coarse.diagnose(), fine.diagnose()];
        // Both are the integral of the height over the same surface.
        let error = of_fine.gravity_energy / of_coarse.gravity_energy - 1.0;
        assert!(error.abs() < 1e-12, "{error:e}");
        assert_eq!(of_fine.intersections, Some(0));
    }

    #[test]
    fn sizes_are_those_asked_for() {
        for (side, cells) in [(100, (50, 1)), (200, (50, 2)), (400, (50, 3)), (40, (40, 0)), (3, (3, 0))] {
            assert_eq!(Subject::Twirl.cells(side), cells);
        }
        assert_eq!(Subject::Tower.cells(100), (6, 0), "as it is");
        assert_eq!(Subject::Whole.cells(100), (100, 0), "not refined");
    }

    #[test]
    fn the_scenes_are_as_this_file_says() {
        for subject in [Subject::Whole, Subject::Twirl, Subject::Tower] {
            let Original { cloths, cells, substeps, .. } = subject.as_it_comes();
            let text = subject.builtin().unwrap().text;
            let scene = muslin::scene::parse(text, &[]).scene.unwrap();
            let mut simulation = subject.simulation(cells, true, Team::solo()).unwrap();
            assert_eq!(scene.cloths.len(), cloths as usize);
            assert_eq!(simulation.state().positions.len(), (cloths * (cells + 1) * (cells + 1)) as usize);
            assert_eq!(simulation.model().thickness, scene.contact.thickness, "as it comes");
            assert!(subject.folded_frame() + SETTLING_FRAMES < scene.frame_count());
            assert_eq!(simulation.advance().unwrap().substeps, substeps, "as it comes");
            if subject == Subject::Whole {
                assert_eq!(subject.frames(false) + 1, scene.frame_count(), "all of them");
            }
        }
    }

    #[test]
    fn contact_is_measured_where_there_is_some() {
        let plan = Plan { subject: Subject::Twirl, side: 24, threads: 1, frames: 2 };
        let row = measure(&plan, |_| ()).unwrap();
        assert!(row.contacts > 0.0 && row.frame_ms > 0.0 && row.without_ms > 0.0, "{row:?}");
        assert_eq!(row.intersections, Some(0), "{row:?}");
        // 24 cells where the scene has 44 and 50 substeps.
        assert_eq!((row.frames, row.first_frame, row.substeps), (2, Subject::Twirl.folded_frame() + 2, 27));
    }
}
