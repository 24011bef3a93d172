//! Cost of quality: the time that each solver asks for a sheet that hangs and moves as it should.
//!
//! A sheet of 1 m × 1 m and 0.2 kg/m², 25 kN/m stiff as a woven cotton, hung by two corners, 60 frames a second, five seconds.
//! A setting passes if
//!
//! ```text
//! motion   no farther than 2 cm (rms over the vertices) from the converged motion in any frame of the first half second
//! strain   no edge longer or shorter by more than 1 % at the end
//! ```
//!
//! and the cheapest setting of a ladder that does is reported. Strain alone does not show a solver that stops early: its sheet
//! falls too slowly, and hardly stretches.
//!
//! The converged motion is `explicit` at half its longest stable step. Free corners whip, and the farthest vertex of two runs that
//! are both converged may be 2 cm apart: hence the root mean square, with the farthest vertex beside it.

use muslin::Simulation;
use serde::Serialize;

use super::Samples;
use super::sheet::simulation_of;
use crate::failure::Failure;

const FRAMES: usize = 300;
const MOTION_FRAMES: usize = 30;
/// In m.
const MOTION_LIMIT: f64 = 0.02;
const STRAIN_LIMIT: f64 = 0.01;

/// How a setting did.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trial {
    pub(crate) solver: &'static str,
    /// Vertices along a side.
    pub(crate) side: u32,
    pub(crate) threads: usize,
    pub(crate) settings: String,
    /// Milliseconds a frame: median of those that were run.
    pub(crate) frame_ms: f64,
    /// Distance to the converged motion, in m, at most in the first half second: root mean square, and the farthest vertex.
    pub(crate) distance: f64,
    pub(crate) farthest: f64,
    /// At the end; `None` if the motion had failed by then.
    pub(crate) strain: Option<f64>,
    pub(crate) passes: bool,
    /// Why there is no more to say.
    pub(crate) note: String,
}

/// Positions of every frame.
pub(crate) type Motion = Vec<Vec<[f32; 3]>>;

/// One rung of a ladder.
struct Rung {
    solver: &'static str,
    /// Keys of `[solver]`.
    settings: String,
    /// Time constant of internal damping of the stretch, in s.
    damping: f64,
}

/// The rungs for a sheet whose longest stable step is `limit` seconds, cheapest first.
fn ladders(limit: f64) -> Vec<Vec<Rung>> {
    let rung = |solver, settings: String| Rung { solver, settings, damping: 0.0 };
    // The limit is that of the flat sheet; folds and damping shorten it a little.
    let stable = (1.15 / 60.0 / limit).ceil();
    let xpbd = [0.25, 0.5, 0.75, 1.0, 1.3, 1.7, 2.2];
    let vbd = [(8, 10), (8, 40), (16, 40), (16, 100)];
    let auto = [0.02, 0.015, 0.01];
    let newton = [(2, 3), (4, 3), (8, 2), (8, 4)];
    let projective = [(4, 20), (8, 50), (8, 200)];
    vec![
        // Without damping an explicit step keeps every vibration that the first fall leaves in the threads.
        [0.9, 0.95, 1.0]
            .map(|part| {
                let substeps = format!("substeps = {}", (part * stable).ceil());
                Rung { damping: 0.02 * limit, ..rung("explicit", substeps) }
            })
            .into(),
        xpbd.map(|part| rung("xpbd", format!("substeps = {}", (part * stable).ceil()))).into(),
        auto.map(|motion| rung("auto", format!("quality = {{ max_strain = 0.01, motion = {motion} }}"))).into(),
        xpbd.map(|part| rung("pbd", format!("substeps = {}, iterations = 1", (part * stable).ceil()))).into(),
        newton
            .map(|(substeps, iterations)| {
                rung("newton", format!("substeps = {substeps}, iterations = {iterations}, integrator = \"bdf2\""))
            })
            .into(),
        vbd.map(|(substeps, iterations)| rung("vbd", format!("substeps = {substeps}, iterations = {iterations}")))
            .into(),
        projective
            .map(|(substeps, iterations)| {
                rung("projective", format!("substeps = {substeps}, iterations = {iterations}"))
            })
            .into(),
    ]
}

/// The scene of the sheet, with the keys of `[solver]` and the time constant of internal damping of the stretch, in s.
pub(super) fn sheet(side: u32, solver: &str, damping: f64) -> String {
    let cells = side - 1;
    format!(
        "fps = 60\n\
         contact = {{ self_contact = false }}\n\
         solver = {{ {solver} }}\n\
         [[cloth]]\n\
         grid = {{ size = [1, 1], cells = [{cells}, {cells}] }}\n\
         pins = [{{ vertices = [0, {cells}] }}]\n\
         [cloth.material]\n\
         density = 0.2\n\
         stretch = {{ model = \"spring\", stiffness = 25000, damping = {damping:?} }}\n\
         bend = {{ model = \"isometric\", stiffness = 1e-5 }}\n"
    )
}

fn simulation(side: u32, solver: &str, damping: f64, threads: usize) -> Result<Simulation, Failure> {
    simulation_of(&sheet(side, solver, damping), &[], threads)
}

/// The converged motion of a sheet, and its longest stable step, in s.
pub(crate) fn converge(side: u32, threads: usize) -> Result<(Motion, f64), Failure> {
    let fine = |substeps: u32| simulation(side, &format!("kind = \"explicit\", substeps = {substeps}"), 0.0, threads);
    let failed = |error: muslin::solver::StepError| Failure::Failed(error.to_string());
    // Stable for every sheet of this stiffness; the first frame says how much less would do.
    let mut probe = fine(12 * side)?;
    let limit = probe.advance().map_err(failed)?.stable_step.unwrap_or(1.0 / 60.0);
    let mut simulation = fine((2.0 / 60.0 / limit).ceil() as u32)?;
    let mut motion = Motion::new();
    for _ in 0..MOTION_FRAMES {
        simulation.advance().map_err(failed)?;
        let mut positions = Vec::new();
        simulation.positions(0, &mut positions);
        motion.push(positions);
    }
    Ok((motion, limit))
}

/// What is to be measured.
pub(crate) struct Plan<'a> {
    /// Vertices along a side.
    pub(crate) side: u32,
    pub(crate) threads: usize,
    /// Seconds for a solver.
    pub(crate) budget: f64,
    /// Their names; all if there is none.
    pub(crate) solvers: &'a [String],
}

/// Climbs the ladder of every solver until a setting passes, or the budget is spent on it.
pub(crate) fn measure(
    &Plan { side, threads, budget, solvers }: &Plan<'_>,
    (motion, limit): &(Motion, f64),
    mut report: impl FnMut(&Trial),
) -> Result<Vec<Trial>, Failure> {
    let is_asked_for =
        |ladder: &Vec<Rung>| solvers.is_empty() || ladder.iter().any(|rung| solvers.iter().any(|s| s == rung.solver));
    let mut trials = Vec::new();
    for ladder in ladders(*limit).into_iter().filter(is_asked_for) {
        let mut left = budget;
        let mut best: Option<Trial> = None;
        for rung in &ladder {
            let (trial, spent) = climb(side, threads, left, motion, rung)?;
            left -= spent;
            let done = trial.passes || left <= 0.0;
            let better = best.as_ref().is_none_or(|best| trial.passes || trial.distance < best.distance);
            if better {
                best = Some(trial);
            }
            if done {
                break;
            }
        }
        if let Some(best) = best {
            report(&best);
            trials.push(best);
        }
    }
    Ok(trials)
}

/// Runs one setting, and says how many seconds it took.
fn climb(side: u32, threads: usize, budget: f64, motion: &Motion, rung: &Rung) -> Result<(Trial, f64), Failure> {
    let keys = format!("kind = {:?}, {}", rung.solver, rung.settings);
    let mut simulation = simulation(side, &keys, rung.damping, threads)?;
    let mut trial = Trial {
        solver: rung.solver,
        side,
        threads,
        settings: rung.settings.clone(),
        frame_ms: f64::NAN,
        distance: 0.0,
        farthest: 0.0,
        strain: None,
        passes: false,
        note: String::new(),
    };
    if rung.damping > 0.0 {
        trial.settings += &format!(", stretch.damping = {:.1e}", rung.damping);
    }
    let mut samples = Samples::default();
    let mut positions = Vec::new();
    let mut spent = 0.0;
    for frame in 0..FRAMES {
        let mut one = Samples::default();
        if let Err(error) = one.time(|| simulation.advance()) {
            trial.note = error.to_string();
            break;
        }
        // The first frame analyses and allocates.
        if frame > 0 {
            samples.push(one.best());
        }
        spent += one.best();
        if let Some(converged) = motion.get(frame) {
            simulation.positions(0, &mut positions);
            let (rms, farthest) = distance(&positions, converged);
            trial.distance = trial.distance.max(rms);
            trial.farthest = trial.farthest.max(farthest);
        }
        if frame + 1 == MOTION_FRAMES && trial.distance > MOTION_LIMIT {
            trial.note = "its motion is too far off".to_owned();
            break;
        }
        if spent > budget && frame + 1 < FRAMES {
            trial.note = format!("stopped after {} frames: {budget:.0} s were spent", frame + 1);
            break;
        }
        if frame + 1 == FRAMES {
            let strain = simulation.diagnose().max_strain;
            trial.strain = Some(strain);
            trial.passes = strain <= STRAIN_LIMIT;
            if !trial.passes {
                trial.note = "it stretches too much".to_owned();
            }
        }
    }
    trial.frame_ms = 1e3 * samples.median();
    Ok((trial, spent))
}

/// Root mean square and largest distance of two sets of positions, in m.
fn distance(a: &[[f32; 3]], b: &[[f32; 3]]) -> (f64, f64) {
    let squares = a.iter().zip(b).map(|(a, b)| (0..3).map(|i| f64::from(a[i] - b[i])).map(|d| d * d).sum::<f64>());
    let (sum, largest) = squares.fold((0.0, 0.0_f64), |(sum, largest), square| (sum + square, largest.max(square)));
    ((sum / a.len().max(1) as f64).sqrt(), largest.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_root_mean_square_and_largest() {
        let (rms, farthest) = distance(&[[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]], &[[0.0; 3]; 2]);
        assert!((rms - 12.5_f64.sqrt()).abs() < 1e-12 && (farthest - 5.0).abs() < 1e-12, "{rms} {farthest}");
    }

    #[test]
    fn every_rung_is_a_scene() {
        for rung in ladders(1e-4).into_iter().flatten() {
            let keys = format!("kind = {:?}, {}", rung.solver, rung.settings);
            assert!(simulation(4, &keys, rung.damping, 1).is_ok(), "{keys}");
        }
    }
}
