//! Command line: the words that can be typed. The doc comments are the help texts.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use muslin::scene::{MAX_FRAMES, Override};
use muslin_io::FORMATS;

use crate::bench::Subject as ContactScene;
use crate::sweep::vary::Vary;

/// The usual limit of a frame, in s: who waits longer than an hour for one says so.
pub(crate) const FRAME_LIMIT: f64 = 3600.0;

/// Most threads: beyond this no sweep of a cloth has work for one more.
const MOST_THREADS: i64 = 256;

/// Most samples of a sweep: their last positions are in one file.
const MOST_SAMPLES: u64 = 100_000_000;

/// Simulates cloth.
///
/// Without a command it runs the built-in scene `drape` into out/drape.
#[derive(Debug, Parser)]
#[command(name = "muslin", version, max_term_width = 110, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 the simulation or a file operation failed, or the run was interrupted; \
2 wrong usage or a wrong scene.";

const COMPARE_EXIT_CODES: &str = "\
Example: muslin compare hanging --solvers pbd,xpbd,fine=xpbd:substeps=80:precision=f64 --frames 60

Exit codes: 0 done, even if some of the solvers failed; 1 all of them or the reference failed, a file operation failed, \
or it was interrupted; 2 wrong usage or a wrong scene.";

const SWEEP_EXIT_CODES: &str = "\
Example: muslin sweep drape --vary cloth.0.material.bend.stiffness=1e-6:1e-3:log --samples 100 --seed 1 --out out/bends

Exit codes: 0 done, even if some of the samples failed; 1 all of them failed, a file operation failed, or it was interrupted; \
2 wrong usage or a wrong scene.";

const GARMENT_EXIT_CODES: &str = "\
Example: muslin garment shirt --fabric wool --resolution 0.015 --out out/shirt

Exit codes: 0 done; 1 the garment did not come to rest or still cuts, the simulation or a file operation failed, or it was interrupted; \
2 wrong usage, a wrong pattern or a wrong body.";
const LAB_EXIT_CODES: &str = "\
Example: muslin lab cusick --fabric wool --solver explicit --edge-length 0.005

Exit codes: 0 done, whatever the numbers are; 1 the simulation or a file operation failed, or it was interrupted; \
2 wrong usage.";

const VIEW_EXIT_CODES: &str = "\
Exit codes: 0 ended by Ctrl-C; 1 it cannot listen, or a file operation failed; 2 wrong usage or a wrong scene.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulates a scene and writes its results.
    Run(RunArguments),
    /// Says everything that is wrong with a scene and its meshes, without simulating.
    Check(CheckArguments),
    /// Lists the built-in scenes, or writes one out as a starting point.
    Scenes(ScenesArguments),
    /// Lists every stretch, bend, solver, collider and fabric with its parameters.
    Models(ModelsArguments),
    /// Simulates a scene many times with other values, into a table.
    ///
    /// Writes samples.csv, with a row a sample (the values, the state's hash, the last frame's report, wall seconds, and
    /// the error of one that failed), and final.npy, with the last positions. The rows do not depend on the number of
    /// jobs; a sweep that was stopped goes on with --resume.
    #[command(after_help = SWEEP_EXIT_CODES)]
    Sweep(SweepArguments),
    /// Sews a pattern around a body, drapes it to rest, and shows how it sits.
    ///
    /// Writes what `run` writes, and views.png, fit.png (strain, and pressure on the body) and the flat pattern as SVG; report.json has
    /// the seams and the fit, panel by panel. The scene.toml of the results runs again to the same bits.
    #[command(after_help = GARMENT_EXIT_CODES)]
    Garment(GarmentArguments),
    /// Runs a scene through several solvers and settings, and shows what each costs and gets.
    ///
    /// Writes a table, compare.json with all time series, and compare.png: energy, strain and distance to a reference
    /// over time, and error against cost.
    #[command(after_help = COMPARE_EXIT_CODES)]
    Compare(CompareArguments),
    /// Tests a fabric as a textile laboratory does, and shows simulated values beside measured ones.
    ///
    /// Writes lab.json with all numbers, picture.png, and plot.svg with curves or the outline of the shadow.
    #[command(after_help = LAB_EXIT_CODES)]
    Lab(LabArguments),
    /// Measures this build on this machine.
    Bench(BenchArguments),
    /// Shows the built-in scenes, a scene or the results of a run in the browser, to be played with.
    ///
    /// Serves a page to this machine only, at an address that nobody can guess, until Ctrl-C.
    #[command(after_help = VIEW_EXIT_CODES)]
    View(ViewArguments),
}

impl Arguments {
    /// What was typed; ends the program with a message where it makes no sense.
    pub(crate) fn read() -> Command {
        let typed = Self::parse().command;
        typed.unwrap_or_else(|| Command::Run(DefaultRun::parse_from(["muslin"]).run))
    }
}

/// `muslin` alone: `run` with every option at its default.
#[derive(Debug, Parser)]
struct DefaultRun {
    #[command(flatten)]
    run: RunArguments,
}

impl Command {
    /// Whether errors are to be machine-readable.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Run(run) => run.json,
            Self::Check(check) => check.json,
            Self::Models(models) => models.json,
            Self::Bench(bench) => bench.json,
            Self::Compare(compare) => compare.json,
            Self::Sweep(sweep) => sweep.json,
            Self::Garment(garment) => garment.json,
            Self::Lab(lab) => lab.json,
            Self::View(view) => view.json,
            Self::Scenes(_) => false,
        }
    }
}

/// What changes a scene before it is used.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SceneChanges {
    /// Replaces any key of the scene; may be given again: --set solver.substeps=40 --set cloth.0.scale=2.
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = Override::parse)]
    pub(crate) sets: Vec<Override>,
    /// Simulates exactly this many frames, whatever the scene's duration.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_FRAMES))]
    pub(crate) frames: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A scene file, or the name of a built-in scene; `muslin scenes` lists them.
    pub(crate) scene: Option<String>,
    #[command(flatten)]
    pub(crate) changes: SceneChanges,
    /// Folder for the results [default: out/NAME, with the scene's name].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use [default: all cores]. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Ends the run if a frame takes longer than this; the frames before it are kept.
    #[arg(long, value_name = "SECONDS", default_value_t = FRAME_LIMIT, value_parser = seconds)]
    pub(crate) frame_limit: f64,
    /// Formats to write besides npy, which is always written.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "npy,glb",
        value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
    )]
    pub(crate) formats: Vec<String>,
    /// Pictures to make.
    #[arg(long, value_enum, default_value_t = Preview::Video)]
    pub(crate) preview: Preview,
    /// Continues the run in the folder from its last checkpoint; with a larger --frames, beyond its end.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Says nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes the report, without its frames, to standard output as one JSON object, and errors to standard error as another.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Preview {
    /// No pictures.
    None,
    /// preview.png, the last frame.
    Png,
    /// preview.png, and preview.mp4 with the motion.
    Video,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A scene file, or the name of a built-in scene.
    pub(crate) scene: String,
    #[command(flatten)]
    pub(crate) changes: SceneChanges,
    /// Says nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes what was found to standard output as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScenesArguments {
    /// Copies this scene out as a starting point.
    #[arg(long, value_name = "NAME")]
    pub(crate) write: Option<String>,
    /// Where to copy it to [default: NAME.toml in the current folder].
    #[arg(long, value_name = "FILE", requires = "write")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// A scene file, or the name of a built-in scene.
    pub(crate) scene: String,
    /// A key of the scene, at random between two numbers, both included; may be given again. With :log the logarithms
    /// are spread evenly. A key of whole numbers gets such.
    #[arg(long, value_name = "KEY=LOW:HIGH[:log]", required = true, value_parser = Vary::parse)]
    pub(crate) vary: Vec<Vary>,
    /// How many times to simulate it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_SAMPLES))]
    pub(crate) samples: u64,
    /// What the values follow from: the same seed, the same values.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) changes: SceneChanges,
    /// Folder for the results.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Samples at a time, each on one thread [default: all cores]. The rows do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) jobs: Option<u16>,
    /// Continues the sweep in the folder behind its last row.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Says nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes how many samples were done and failed to standard output as one JSON object, and errors to standard error
    /// as another.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GarmentArguments {
    /// A sewing pattern as pattern generators write it (JSON), or the name of one that comes with the program: tunic, shirt, trousers, `circle_skirt`.
    pub(crate) pattern: String,
    /// An OBJ or GLB of a person who stands upright, faces +z and holds the arms away from the body; in m, dm, cm, inches or mm, with y or z up [default: the program's own figure].
    #[arg(long, value_name = "BODY")]
    pub(crate) body: Option<PathBuf>,
    /// A fabric that `muslin models` lists.
    #[arg(long, value_name = "NAME", default_value = "cotton")]
    pub(crate) fabric: String,
    /// Length of the edges of the cloth, in m.
    #[arg(long, value_name = "M", default_value_t = 0.01, value_parser = resolution)]
    pub(crate) resolution: f64,
    #[command(flatten)]
    pub(crate) changes: SceneChanges,
    /// Folder for the results [default: out/NAME, with the pattern's name].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use [default: all cores]. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Ends the run if a frame takes longer than this; the frames before it are kept.
    #[arg(long, value_name = "SECONDS", default_value_t = FRAME_LIMIT, value_parser = seconds)]
    pub(crate) frame_limit: f64,
    /// Formats to write besides npy, which is always written.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "npy,glb",
        value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
    )]
    pub(crate) formats: Vec<String>,
    /// Pictures to make.
    #[arg(long, value_enum, default_value_t = Preview::Video)]
    pub(crate) preview: Preview,
    /// Continues the run in the folder from its last checkpoint.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Says nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes the report, without its frames, to standard output as one JSON object, and errors to standard error as another.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the length of edges of a garment, in m.
fn resolution(text: &str) -> Result<f64, String> {
    let length: f64 = text.parse().map_err(|_| "give a number of metres, such as 0.01".to_owned())?;
    if (0.002..=0.1).contains(&length) {
        Ok(length)
    } else {
        Err(format!("edges of {text} m; from 0.002 to 0.1 m (2 mm to 10 cm) is what cloth on a body asks for"))
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A scene file, or the name of a built-in scene.
    pub(crate) scene: String,
    /// What to compare: SOLVER, SOLVER:KEY=VALUE:…, or LABEL=SOLVER:KEY=VALUE:…, with any keys of [solver] and commas
    /// between. An item of the scene's own solver starts from the scene's settings, any other from its defaults.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    pub(crate) solvers: Vec<String>,
    /// What distances are measured to: a label of the list, or another item [default: newton, or else xpbd in double
    /// precision, with four times the substeps of the finest item, within limits].
    #[arg(long, value_name = "ITEM")]
    pub(crate) reference: Option<String>,
    #[command(flatten)]
    pub(crate) changes: SceneChanges,
    /// Folder for the results [default: out/compare-NAME, with the scene's name].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use [default: all cores]. Only times depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Ends the run of a solver whose frame takes longer than this.
    #[arg(long, value_name = "SECONDS", default_value_t = FRAME_LIMIT, value_parser = seconds)]
    pub(crate) frame_limit: f64,
    /// Says nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes the comparison, without its time series, to standard output as one JSON object, and errors to standard
    /// error as another.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabArguments {
    /// Which test.
    #[arg(value_enum)]
    pub(crate) test: LabTest,
    /// A fabric; `muslin models` lists them.
    #[arg(long, value_name = "NAME")]
    pub(crate) fabric: String,
    /// The solver, with settings after colons if need be: xpbd:substeps=100.
    #[arg(long, value_name = "S", default_value = "explicit")]
    pub(crate) solver: String,
    /// Length of the edges of the mesh in m, from 0.002 to 0.02 [default: cantilever 0.0025, cusick 0.005, others 0.01].
    #[arg(long, value_name = "M")]
    pub(crate) edge_length: Option<f64>,
    /// The bend model, likewise with settings: shell:poisson=0.2. Its stiffness is that of the fabric.
    #[arg(long, value_name = "MODEL", default_value = "isometric")]
    pub(crate) bend: String,
    /// The stretch model, likewise: spring:stiffness=2000:compression=0.1.
    #[arg(long, value_name = "MODEL", default_value = "spring")]
    pub(crate) stretch: String,
    /// Folder for the results [default: out/lab/TEST-FABRIC].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; more than one pay below 3 mm. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: u16,
    /// Says nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes what lab.json has to standard output, and errors to standard error as another JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabTest {
    /// Bending length of a strip that reaches over an edge (Peirce, ASTM D1388).
    Cantilever,
    /// Drape coefficient and folds of a disc of 30 cm on one of 18 cm (Cusick, BS 5058).
    Cusick,
    /// Force against strain along warp, weft and bias, of a strip of 5 x 20 cm.
    Tensile,
    /// Force against angle in a frame of 20 cm with hinges.
    Shear,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Only that: what self-contact costs, how much of a frame threads can share, or memory.
    #[arg(value_enum, value_name = "WHAT", conflicts_with = "quality")]
    pub(crate) what: Option<BenchSubject>,
    /// Instead of speed: what each solver asks for a stiff sheet within 1 % of strain and 2 cm of the converged motion.
    /// Takes minutes; --sizes 64,128,256 is the usual choice.
    #[arg(long, conflicts_with_all = ["quick", "csv"])]
    pub(crate) quality: bool,
    /// Seconds that --quality spends on a solver and a size.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "quality", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) budget: u32,
    /// Solvers that --quality measures [default: all].
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "quality",
        value_parser = ["explicit", "auto", "xpbd", "pbd", "newton", "vbd", "projective"]
    )]
    pub(crate) solvers: Vec<String>,
    /// Vertices along a side of the sheets [default: 128,512,1024; contact: 100,200,400, of `twirl` only; threads and memory: 256].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub(crate) sizes: Vec<u32>,
    /// Scenes that `contact` measures.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, requires = "what", default_values_t = [ContactScene::Whole, ContactScene::Tower, ContactScene::Twirl])]
    pub(crate) scenes: Vec<ContactScene>,
    /// Frames that `contact` measures at each size [default: 12, and all of `whole`].
    #[arg(long, value_name = "N", requires = "what", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) frames: Option<u16>,
    /// Numbers of threads [default: one, and all cores; contact: one]. `threads` and `memory` use one.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Vec<u16>,
    /// A rough answer in seconds: small sheets, few frames.
    #[arg(long, conflicts_with = "sizes")]
    pub(crate) quick: bool,
    /// Writes the measurements as a table, one a row.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Writes the measurements to standard output as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// What `memory` calls itself with, so that every solver has a process of its own.
    #[arg(long, hide = true, value_name = "SOLVER")]
    pub(crate) memory_of: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchSubject {
    /// Self-contact, in a cloth that is wound into folds and in a tower of sheets; no part of the rest.
    Contact,
    /// What of a frame is parallel and what is serial, barriers, and the bound for 64 threads.
    Threads,
    /// Bytes a vertex, solver by solver.
    Memory,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArguments {
    /// A scene file, the name of a built-in scene, or a folder that `muslin run` has written, finished or not
    /// [default: all built-in scenes].
    #[arg(value_name = "SCENE or OUT")]
    pub(crate) what: Option<String>,
    /// Replaces any key of the scene; may be given again: --set solver.substeps=40 --set cloth.0.scale=2.
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = TypedOverride::parse)]
    pub(crate) sets: Vec<TypedOverride>,
    /// Port to listen on [default: a free one].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Opens no browser, and prints the address only.
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Threads for each simulation [default: all cores]. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Serves the page from this folder instead of the one in the program: for those who work on it.
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) page: Option<PathBuf>,
    /// Says nothing but errors, and the address where no browser was opened.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Writes address and port to standard output as one JSON object before it serves, and errors to standard error as
    /// another.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A change of a scene, and how it was typed: the page is told so.
#[derive(Clone, Debug)]
pub(crate) struct TypedOverride {
    pub(crate) text: String,
    pub(crate) change: Override,
}

impl TypedOverride {
    fn parse(text: &str) -> Result<Self, String> {
        Override::parse(text).map(|change| Self { text: text.to_owned(), change })
    }
}

/// A span of time, in s.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or_else(|| "must be a number of seconds greater than 0".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_default_formats_exist() {
        let run = DefaultRun::parse_from(["muslin"]).run;
        assert_eq!(run.formats, ["npy", "glb"]);
        assert_eq!(run.preview, Preview::Video);
    }
}
