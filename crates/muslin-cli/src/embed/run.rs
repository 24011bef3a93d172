//! A run from another program: what `muslin run` does, without a word.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::ValueEnum;
use muslin_io::FORMATS;

use super::source::Source;
use super::trouble::Trouble;
use crate::args::{FRAME_LIMIT, Preview, RunArguments};
use crate::session::{FrameWatch, Interrupt, Progress, Session, plan_of};

/// The options of `muslin run`.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// `out/NAME` if there is none.
    pub out: Option<PathBuf>,
    /// All that the scene asks for if there is none.
    pub frames: Option<u64>,
    /// All cores if there is none.
    pub threads: Option<u16>,
    /// Besides npy.
    pub formats: Vec<String>,
    /// `none`, `png` or `video`.
    pub preview: String,
    /// Whether to continue the run in the folder.
    pub resume: bool,
}

/// The formats that `muslin run` writes if it is told none.
pub fn default_formats() -> [&'static str; 2] {
    ["npy", "glb"]
}

/// The folder and the report of a run that is done.
pub struct Ran {
    /// Where the results are.
    pub folder: PathBuf,
    /// `report.json`.
    pub report: String,
}

impl Source {
    /// Simulates the scene and writes its results. Tells `told` the frames that are done and how many there are to be; stops where the flag is raised.
    pub fn run(
        &self,
        options: &RunOptions,
        stop: Arc<AtomicBool>,
        told: Box<dyn FnMut(usize, usize) + Send>,
    ) -> Result<Ran, Trouble> {
        let started = Instant::now();
        let arguments = self.arguments(options)?;
        let (mut plan, simulation) = plan_of(&self.file, &arguments).map_err(|failure| self.trouble(failure))?;
        plan.warnings.list.iter_mut().for_each(|finding| self.place(finding));
        let interrupt = Interrupt::by(stop);
        let watch = FrameWatch::new(&interrupt, arguments.frame_limit);
        let simulation = simulation.with_stop(watch.asks());
        let mut session = match options.resume {
            true => Session::resume(plan, simulation, started)?,
            false => Session::begin(plan, simulation, started)?,
        };
        let frame_count = session.plan.scene.frame_count();
        let mut progress = Progress::told(&session.plan.scene.name, session.frame(), frame_count, told);
        session.simulate(&watch, &mut progress)?;
        session.finish(&interrupt, &mut progress)?;
        let report = session.report.to_json().map_err(|error| Trouble::Failed(error.to_string()))?;
        Ok(Ran { folder: session.plan.folder.path.clone(), report })
    }

    fn arguments(&self, options: &RunOptions) -> Result<RunArguments, Trouble> {
        for name in &options.formats {
            if !FORMATS.iter().any(|format| format.name == name) {
                let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
                return Err(Trouble::Usage(format!("there is no format {name:?}; there are {}", known.join(", "))));
            }
        }
        let preview = Preview::from_str(&options.preview, false).map_err(|_| {
            Trouble::Usage(format!(
                "there is no preview {:?}; there are \"none\", \"png\" and \"video\"",
                options.preview
            ))
        })?;
        if options.frames == Some(0) || options.threads == Some(0) {
            return Err(Trouble::Usage("frames and threads must be 1 or more".to_owned()));
        }
        Ok(RunArguments {
            scene: None,
            changes: self.changes(&[], options.frames)?,
            out: options.out.clone(),
            threads: options.threads,
            frame_limit: FRAME_LIMIT,
            formats: options.formats.clone(),
            preview,
            resume: options.resume,
            quiet: true,
            json: false,
        })
    }
}
