//! A sheet hung by two corners: XPBD, 20 substeps of one iteration, inextensible by request.
//!
//! The case by which position-based solvers are compared, so that the numbers can be too. It flatters nobody: one
//! iteration cannot hold a fine sheet, and the strain says by how much.

use muslin::Simulation;
use muslin::output::Diagnostics;
use muslin::parallel::Team;
use muslin::scene::{Override, parse};

use super::{Row, Samples};
use crate::failure::Failure;

const SUBSTEPS: usize = 20;
const ITERATIONS: usize = 1;

/// The bending model of the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bend {
    Distance,
    Isometric,
    Dihedral,
}

impl Bend {
    fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Isometric => "isometric",
            Self::Dihedral => "dihedral",
        }
    }

    /// Distance bending has no physical stiffness; this one is soft enough to drape.
    fn scene(self) -> &'static str {
        match self {
            Self::Distance => "{ model = \"distance\", compliance = 1e-4 }",
            Self::Isometric => "{ model = \"isometric\" }",
            Self::Dihedral => "{ model = \"dihedral\" }",
        }
    }
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    /// Vertices along a side.
    pub(crate) side: u32,
    pub(crate) bend: Bend,
    pub(crate) threads: &'a [usize],
    /// Measured frames; one more comes before them to warm up.
    pub(crate) frames: usize,
}

/// A sheet of `side`² vertices. Without a clock, so that it uses the threads it is given and no fewer.
pub(super) fn simulation(side: u32, bend: Bend, threads: usize) -> Result<Simulation, Failure> {
    let cells = side - 1;
    let text = format!(
        "fps = 60\n\
         contact = {{ self_contact = false }}\n\
         solver = {{ kind = \"xpbd\", substeps = {SUBSTEPS}, iterations = {ITERATIONS} }}\n\
         [[cloth]]\n\
         grid = {{ size = [1, 1], cells = [{cells}, {cells}] }}\n\
         material = {{ stretch = {{ model = \"spring\", compliance = 0 }}, bend = {} }}\n\
         pins = [{{ vertices = [0, {cells}] }}]\n",
        bend.scene()
    );
    simulation_of(&text, &[], threads)
}

/// A scene of a benchmark, ready to be stepped; it needs no files. Without a clock it uses the threads it is given and no fewer.
pub(super) fn simulation_of(text: &str, changes: &[Override], threads: usize) -> Result<Simulation, Failure> {
    simulation_on(text, changes, Team::new(threads).map_err(|error| Failure::Failed(error.to_string()))?)
}

/// The same with a team that was made for it.
pub(super) fn simulation_on(text: &str, changes: &[Override], team: Team) -> Result<Simulation, Failure> {
    let outcome = parse(text, changes);
    let scene = outcome.scene.ok_or_else(|| {
        let findings: Vec<String> = outcome.findings.iter().map(|f| f.display("bench").to_string()).collect();
        Failure::Failed(findings.join("\n"))
    })?;
    let no_file = |file: &str| format!("{file} is not needed");
    Simulation::with_team(&scene, team, &mut |file| Err(no_file(file)), &mut |file| Err(no_file(file)))
        .map_err(|error| Failure::Failed(error.to_string()))
}

/// Measures a sheet with each number of threads, frame by frame in turn, so that whatever else the machine does meets
/// all of them alike.
pub(crate) fn measure(plan: &Plan<'_>) -> Result<Vec<Row>, Failure> {
    let mut runs = Vec::new();
    for &threads in plan.threads {
        runs.push((simulation(plan.side, plan.bend, threads)?, Samples::default()));
    }
    for frame in 0..=plan.frames {
        for (simulation, samples) in &mut runs {
            let mut warm_up = Samples::default();
            let samples = if frame == 0 { &mut warm_up } else { samples };
            samples.time(|| simulation.advance()).map_err(|error| Failure::Failed(error.to_string()))?;
        }
    }
    Ok(runs.iter().flat_map(|(simulation, samples)| rows(plan.bend, simulation, samples)).collect())
}

fn rows(bend: Bend, simulation: &Simulation, samples: &Samples) -> [Row; 4] {
    let elements: usize = simulation.terms().iter().map(|term| term.element_count()).sum();
    let millions = 1e-6 * (elements * SUBSTEPS * ITERATIONS) as f64;
    let Diagnostics { max_strain, mean_strain, .. } = simulation.diagnose();
    let row = |quantity, unit, best, median| Row {
        subject: bend.name(),
        vertices: simulation.state().positions.len(),
        threads: simulation.threads(),
        quantity,
        unit,
        best,
        median,
        count: samples.count(),
    };
    [
        row("projections", "M/s", millions / samples.best(), millions / samples.median()),
        row("frame", "ms", 1e3 * samples.best(), 1e3 * samples.median()),
        row("max strain", "1", max_strain, max_strain),
        row("mean strain", "1", mean_strain, mean_strain),
    ]
}
