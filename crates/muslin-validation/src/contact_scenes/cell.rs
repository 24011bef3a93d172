//! One run: frame by frame until it is whole, fails or has taken too long, with its frames in files for the referee.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Instant;

use muslin::math::Vec3;
use muslin::scene::Scene;
use muslin::solver::StepReport;
use muslin::{SetupError, Simulation};
use muslin_io::{NpyWriter, RestMesh, file_stem, write_obj};
use muslin_scenes::mesh_files::MeshFiles;

use crate::Try;
use crate::stage::center;

/// A frame, as far as the table looks at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// In J.
    pub kinetic_energy: f64,
    /// In J.
    pub elastic_energy: f64,
    /// In J.
    pub gravity_energy: f64,
    /// Above the start and the work done since, in J; `None` where the work of a pin is not known.
    pub energy_error: Option<f64>,
    /// The size of the work done since the start, in J.
    pub work: f64,
    /// Of |length / rest length − 1| over all edges.
    pub max_strain: f64,
    /// Centre of mass, in m.
    pub center: Vec3<f64>,
    /// Substeps that it was computed with.
    pub substeps: u32,
    /// The longest stable step of an explicit solver, in s.
    pub stable_step: Option<f64>,
    /// Vertices that the certificate held back.
    pub held: usize,
    /// Vertices whose motion was too long to be followed.
    pub cut_vertices: usize,
}

impl Frame {
    fn of(simulation: &Simulation, report: &StepReport) -> Self {
        let d = simulation.diagnose();
        Self {
            kinetic_energy: d.kinetic_energy,
            elastic_energy: d.elastic_energy,
            gravity_energy: d.gravity_energy,
            energy_error: d.energy_error,
            work: d.work.size(),
            max_strain: d.max_strain,
            center: center(simulation),
            substeps: report.substeps,
            stable_step: report.stable_step,
            held: report.contact_stats.held,
            cut_vertices: report.contact_stats.cut,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With its last frame.
    Whole,
    /// It took too long.
    Stopped,
    /// The solver gave up in the frame after the last.
    Broke(String),
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Vertices of all cloths.
    pub vertices: usize,
    /// What there is, without the initial state.
    pub frames: Vec<Frame>,
    /// Frames that the scene asks for.
    pub wanted: usize,
    /// How it ended.
    pub end: End,
    /// Seconds in the steps alone.
    pub wall: f64,
    /// The same of the processor, where the system tells.
    pub processor: Option<f64>,
    /// Frames in which the referee found cuts, the initial state included.
    pub cuts: Option<usize>,
}

impl Run {
    fn new(scene: &Scene) -> Self {
        Self {
            vertices: 0,
            frames: Vec::new(),
            wanted: scene.frame_count(),
            end: End::Whole,
            wall: 0.0,
            processor: processor_seconds().map(|_| 0.0),
            cuts: None,
        }
    }

    /// One that did not begin.
    pub(super) fn refused(scene: &Scene, why: String) -> Self {
        Self { end: End::Broke(why), ..Self::new(scene) }
    }

    /// The shortest of the longest stable steps of all frames, in s.
    pub fn stable_step(&self) -> Option<f64> {
        self.frames.iter().filter_map(|frame| frame.stable_step).reduce(f64::min)
    }

    /// The largest strain; the first that is no number, if there is one.
    pub fn largest_strain(&self) -> Option<f64> {
        largest_strain(&self.frames)
    }

    /// By which part the largest strain differs from another's.
    pub(super) fn change_of_strain(&self, other: &Self) -> Option<f64> {
        Some((self.largest_strain()? / other.largest_strain()? - 1.0).abs())
    }

    /// What counts against the limit: the time of the processor, which other programs do not lengthen, where the system tells.
    fn cost(&self) -> f64 {
        self.processor.unwrap_or(self.wall)
    }

    fn add(&mut self, wall: f64, processor: Option<f64>) {
        self.wall += wall;
        self.processor = self.processor.zip(processor).map(|(sum, more)| sum + more);
    }
}

pub(super) fn largest_strain(frames: &[Frame]) -> Option<f64> {
    frames.iter().map(|frame| frame.max_strain).reduce(larger)
}

/// The larger of two numbers, or the one that is none.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strain = self.largest_strain().unwrap_or(0.0);
        let (frames, wanted, cost) = (self.frames.len(), self.wanted, self.cost());
        write!(f, "{frames:>3} of {wanted:<3} frames {cost:>6.1} s  strain {:>6.2} %", 100.0 * strain)?;
        match &self.end {
            End::Whole => Ok(()),
            End::Stopped => f.write_str("  took too long"),
            End::Broke(why) => write!(f, "  {why}"),
        }
    }
}

/// Runs a scene on one thread, and leaves its frames in a folder.
pub(super) fn simulate(scene: &Scene, meshes: &Path, limit: f64, folder: &Path) -> Try<Run> {
    let mut run = Run::new(scene);
    let mut simulation = match MeshFiles::new(meshes.to_owned(), &[]).simulation(scene, 1) {
        Ok(simulation) => simulation,
        Err(SetupError::Scene(problems)) => {
            let said: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            return Ok(Run::refused(scene, said.join("; ")));
        }
        Err(error) => return Ok(Run::refused(scene, error.to_string())),
    };
    run.vertices = simulation.state().positions.len();
    let mut files = Files::create(folder, &simulation)?;
    files.append(&simulation)?;
    while run.frames.len() < run.wanted {
        let (start, before) = (Instant::now(), processor_seconds());
        let outcome = simulation.advance();
        let processor = processor_seconds().zip(before).map(|(after, before)| after - before);
        run.add(start.elapsed().as_secs_f64(), processor);
        match outcome {
            Ok(report) => {
                run.frames.push(Frame::of(&simulation, &report));
                files.append(&simulation)?;
            }
            Err(error) => {
                run.end = End::Broke(error.to_string());
                break;
            }
        }
        if run.cost() > limit && run.frames.len() < run.wanted {
            run.end = End::Stopped;
            break;
        }
    }
    Ok(run)
}

/// Seconds that this thread has had of a processor, where the system tells: Linux does in a file.
fn processor_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| 1e-9 * nanoseconds)
}

/// The files of a run as `muslin run` writes them, as far as the referee reads them.
struct Files {
    cloths: Vec<NpyWriter>,
    /// Of meshes that move, with their place in the model.
    bodies: Vec<(usize, NpyWriter)>,
    positions: Vec<[f32; 3]>,
}

impl Files {
    fn create(folder: &Path, simulation: &Simulation) -> Try<Self> {
        let say = |error: &dyn fmt::Display| format!("{}: {error}", folder.display());
        // Nothing of an earlier run may pass for a result of this one.
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| say(&error))?;
        }
        fs::create_dir_all(folder).map_err(|error| say(&error))?;
        let mut files = Self { cloths: Vec::new(), bodies: Vec::new(), positions: Vec::new() };
        let (mut stems, mut listed) = (Vec::new(), Vec::new());
        let model = simulation.model();
        let mut shape = |name: &str, positions: &[[f32; 3]], triangles: &[[u32; 3]]| -> Try<NpyWriter> {
            let stem = file_stem(name);
            let rest = RestMesh { name, positions, triangles, uv: None, groups: &[] };
            write_obj(folder.join(format!("{stem}.obj")), &rest).map_err(|error| say(&error))?;
            listed.push(format!("{stem}.obj"));
            NpyWriter::create(folder.join(format!("{stem}.npy")), positions.len()).map_err(|error| say(&error))
        };
        for (i, cloth) in model.cloths.iter().enumerate() {
            simulation.positions(i, &mut files.positions);
            files.cloths.push(shape(&cloth.name, &files.positions, &cloth.mesh.triangles)?);
            stems.push(serde_json::json!({ "name": cloth.name, "file_stem": file_stem(&cloth.name) }));
        }
        for (i, body) in model.bodies.iter().enumerate() {
            simulation.body_positions(i, &mut files.positions);
            files.bodies.push((i, shape(&body.name, &files.positions, &body.mesh.triangles)?));
        }
        let report = serde_json::json!({ "cloths": stems, "files": listed }).to_string();
        fs::write(folder.join("report.json"), report).map_err(|error| say(&error))?;
        Ok(files)
    }

    fn append(&mut self, simulation: &Simulation) -> Try<()> {
        for (i, writer) in self.cloths.iter_mut().enumerate() {
            simulation.positions(i, &mut self.positions);
            writer.append(&self.positions).map_err(|error| error.to_string())?;
        }
        for (i, writer) in &mut self.bodies {
            simulation.body_positions(*i, &mut self.positions);
            writer.append(&self.positions).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muslin::scene::parse;

    const FALL: &str = "duration = 0.1\nfps = 50\n[[cloth]]\nname = 'sheet'\ngrid = { size = [1, 1], cells = [2, 2] }";

    #[test]
    fn a_run_has_its_frames_and_their_files() {
        let folder = std::env::temp_dir().join(format!("muslin-contact-{}", std::process::id()));
        let scene = parse(FALL, &[]).into_result().expect("a scene");
        let whole = simulate(&scene, Path::new(""), 60.0, &folder).expect("a run");
        assert_eq!((whole.frames.len(), whole.wanted, whole.vertices, &whole.end), (5, 5, 9, &End::Whole));
        let written = fs::metadata(folder.join("sheet.npy")).expect("frames").len();
        assert!(written > 6 * 9 * 12, "{written} bytes: the start and five frames");
        let stopped = simulate(&scene, Path::new(""), -1.0, &folder).expect("a run");
        assert_eq!((stopped.frames.len(), stopped.end), (1, End::Stopped), "after the frame in which the time is over");
        fs::remove_dir_all(&folder).expect("a folder");
    }

    #[test]
    fn what_cannot_begin_says_why() {
        let text = FALL.replace("grid = { size = [1, 1], cells = [2, 2] }", "mesh = 'gone.obj'");
        let scene = parse(&text, &[]).into_result().expect("a scene");
        let run = simulate(&scene, Path::new("/nowhere"), 60.0, Path::new("/nowhere/at/all")).expect("a run");
        assert!(matches!(&run.end, End::Broke(why) if why.contains("gone.obj")), "{:?}", run.end);
    }
}
