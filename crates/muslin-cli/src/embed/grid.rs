//! A sweep from another program: the samples of `muslin sweep`, into a folder or into memory, all of them or a part.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::source::Source;
use super::trouble::{Trouble, Warning};
use crate::failure::Failure;
use crate::session::{Folder, Interrupt};
use crate::sweep::folder::SweepFolder;
use crate::sweep::row::heading;
use crate::sweep::vary::Vary;
use crate::sweep::{Sample, Sink, Sweep};

/// Where the values of a key come from.
#[derive(Clone, Debug)]
pub enum Spread {
    /// `LOW:HIGH[:log]`, as the command line takes it.
    Text(String),
    /// At random between two numbers; with `log`, their logarithms spread evenly.
    Between {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
        /// Whether the logarithms are spread.
        log: bool,
    },
    /// A value a sample, in TOML.
    Values(Vec<String>),
}

/// A sweep that can be computed.
pub struct Grid {
    sweep: Sweep,
    warnings: Vec<Warning>,
}

/// Samples in memory.
#[derive(Debug, Default)]
pub struct Samples {
    /// Their rows, as the table has them.
    pub lines: Vec<String>,
    /// Their last positions, sample after sample and for each the cloths, in m; none of a sample that failed.
    pub positions: Vec<Vec<Vec<[f32; 3]>>>,
}

impl Grid {
    /// Checks a scene and what is varied in it.
    pub fn new(
        source: &Source,
        vary: &[(String, Spread)],
        samples: u64,
        seed: u64,
        frames: Option<u64>,
    ) -> Result<Self, Trouble> {
        let parse = |(key, spread): &(String, Spread)| match spread {
            Spread::Text(text) => Vary::parse(&format!("{key}={text}")),
            Spread::Between { low, high, log } => Vary::range(key, *low, *high, *log),
            Spread::Values(values) => Vary::given(key, values.clone()),
        };
        let vary: Vec<Vary> = vary.iter().map(parse).collect::<Result<_, _>>().map_err(Trouble::Usage)?;
        if samples == 0 {
            return Err(Trouble::Usage("a sweep needs samples: give 1 or more".to_owned()));
        }
        if frames == Some(0) {
            return Err(Trouble::Usage("frames must be 1 or more, got 0".to_owned()));
        }
        let changes = source.changes(&[], frames)?;
        let sweep =
            Sweep::new(source.file.clone(), changes, vary, samples, seed).map_err(|failure| source.trouble(failure))?;
        Ok(Self { warnings: source.warnings(sweep.warnings.clone()), sweep })
    }

    /// The first line of the table.
    pub fn heading(&self) -> String {
        heading(&self.sweep.vary)
    }

    /// The cloths of the scene with their numbers of vertices.
    pub fn cloths(&self) -> &[(String, usize)] {
        &self.sweep.cloths
    }

    /// What will not be as the scene says.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Computes samples `first` to `end − 1`. Tells `told` how many are done and how many of them failed. `None` where the flag was raised before the end.
    pub fn compute(
        &self,
        (first, end): (u64, u64),
        jobs: usize,
        stop: Arc<AtomicBool>,
        told: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<Samples>, Trouble> {
        let mut memory = Memory { samples: Samples::default(), failed: 0, told };
        let whole = self.sweep.run((first, end), jobs, &Interrupt::by(stop), &mut memory)?;
        Ok(whole.then_some(memory.samples))
    }

    /// Begins the sweep in a folder, or goes on with it, for samples that are computed elsewhere.
    pub fn writer(&self, folder: PathBuf, resume: bool) -> Result<Writer, Trouble> {
        let folder = SweepFolder::open(Folder::new(folder), &self.sweep, resume, Box::new(|_, _| {}))?;
        Ok(Writer { folder })
    }

    /// Computes what is left of the sweep into a folder, as `muslin sweep` does. False where the flag was raised before the end.
    pub fn write(
        &self,
        folder: PathBuf,
        resume: bool,
        jobs: usize,
        stop: Arc<AtomicBool>,
        told: Box<dyn FnMut(u64, u64) + Send>,
    ) -> Result<bool, Trouble> {
        let mut folder = SweepFolder::open(Folder::new(folder), &self.sweep, resume, told)?;
        let first = folder.done;
        Ok(self.sweep.run((first, self.sweep.samples), jobs, &Interrupt::by(stop), &mut folder)?)
    }
}

/// A folder for samples that are computed elsewhere.
pub struct Writer {
    folder: SweepFolder,
}

impl Writer {
    /// Samples that have a row.
    pub fn done(&self) -> u64 {
        self.folder.done
    }

    /// Those of them that failed.
    pub fn failed(&self) -> u64 {
        self.folder.failed
    }

    /// Appends the next sample: its line of the table, and the last positions of its cloths, none if it failed.
    pub fn append(&mut self, line: &str, positions: &[Vec<[f32; 3]>]) -> Result<(), Trouble> {
        Ok(self.folder.append(line, positions)?)
    }
}

/// Keeps all samples.
struct Memory<'a> {
    samples: Samples,
    failed: u64,
    told: &'a mut dyn FnMut(u64, u64),
}

impl Sink for Memory<'_> {
    fn take(&mut self, sample: Sample) -> Result<(), Failure> {
        self.failed += u64::from(sample.row.error.is_some());
        self.samples.lines.push(sample.row.to_line());
        self.samples.positions.push(sample.positions);
        (self.told)(self.samples.lines.len() as u64, self.failed);
        Ok(())
    }
}
