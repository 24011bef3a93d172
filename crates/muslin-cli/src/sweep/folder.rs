//! The folder of a sweep: `sweep.json`, `samples.csv` and the last positions, good at any moment.
//!
//! ```text
//! sweep.json             what was swept: by it `--resume` knows whether it goes on with the same
//! samples.csv            a line a sample
//! final.npy              (samples, vertices, 3) as float32; NaN of a sample that failed. With several cloths final_<cloth>.npy
//! final/00000017_<cloth>.npy   of a sample with another number of vertices than the scene
//! ```
//!
//! Positions are written before the line, so a sweep that was killed goes on behind the last whole line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};

use muslin_io::{NpyWriter, file_stem, npy_bytes};
use serde_json::{Value, json};

use super::row::{has_failed, heading};
use super::{Sample, Sink, Sweep};
use crate::failure::{Failure, cannot_read, cannot_write};
use crate::session::{Folder, Lock};

const MANIFEST: &str = "sweep.json";
const TABLE: &str = "samples.csv";

/// A folder that samples are written to.
pub(crate) struct SweepFolder {
    folder: Folder,
    table: File,
    positions: Vec<NpyWriter>,
    stems: Vec<(String, usize)>,
    /// Samples that have a line.
    pub(crate) done: u64,
    /// Those of them that failed.
    pub(crate) failed: u64,
    /// Told the number of samples that are done and failed, after each.
    told: Box<dyn FnMut(u64, u64) + Send>,
    _lock: Lock,
}

impl SweepFolder {
    /// Begins a sweep in its folder, in the place of an earlier one; or goes on behind the last line of this one.
    pub(crate) fn open(
        folder: Folder,
        sweep: &Sweep,
        resume: bool,
        told: Box<dyn FnMut(u64, u64) + Send>,
    ) -> Result<Self, Failure> {
        let manifest = manifest(sweep);
        let earlier = earlier(&folder)?;
        let place = folder.path.display();
        match &earlier {
            None if resume => {
                let words =
                    format!("there is nothing to resume in {place}: it has no {MANIFEST}; run without --resume");
                return Err(Failure::Usage(words));
            }
            Some(earlier) if resume && *earlier != manifest => {
                let (key, was, is) = difference(earlier, &manifest);
                return Err(Failure::Usage(format!(
                    "the sweep in {place} cannot be resumed, because it was another one: {key} was {was}, and is {is} now; \
                     resume it as it was begun, or run without --resume"
                )));
            }
            _ => {}
        }
        let names: Vec<String> = names(sweep).into_iter().map(|(name, _)| name).chain([TABLE.to_owned()]).collect();
        if earlier.is_none() {
            folder.guard(names.iter().chain([&MANIFEST.to_owned()]), &[])?;
        }
        folder.create()?;
        let lock = Lock::take(&folder)?;
        let (done, failed, table) = match resume && folder.join(TABLE).exists() {
            true => reopen(&folder, sweep)?,
            false => begin(&folder, sweep, &manifest)?,
        };
        let writer = |(name, vertices): (String, usize)| {
            let path = folder.join(name);
            if done == 0 { NpyWriter::create(path, vertices) } else { NpyWriter::resume(path, vertices, done as usize) }
        };
        let positions = names_of_positions(sweep).map(writer).collect::<Result<_, _>>()?;
        let stems = sweep.cloths.iter().map(|(name, vertices)| (file_stem(name), *vertices)).collect();
        Ok(Self { folder, table, positions, stems, done, failed, told, _lock: lock })
    }

    /// Appends the next sample: its line of the table, and its last positions, none if it failed.
    pub(crate) fn append(&mut self, line: &str, positions: &[Vec<[f32; 3]>]) -> Result<(), Failure> {
        for (i, (stem, vertices)) in self.stems.iter().enumerate() {
            let nothing = vec![[f32::NAN; 3]; *vertices];
            let own = positions.get(i);
            self.positions[i].append(own.filter(|own| own.len() == *vertices).unwrap_or(&nothing))?;
            if let Some(own) = own.filter(|own| own.len() != *vertices) {
                let name = format!("final/{:08}_{stem}.npy", self.done);
                self.folder.write(name, &npy_bytes(std::slice::from_ref(own)))?;
            }
        }
        let written = self.table.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| cannot_write(&self.folder.join(TABLE), error))?;
        self.done += 1;
        self.failed += u64::from(has_failed(line));
        (self.told)(self.done, self.failed);
        Ok(())
    }
}

impl Sink for SweepFolder {
    fn take(&mut self, sample: Sample) -> Result<(), Failure> {
        self.append(&sample.row.to_line(), &sample.positions)
    }
}

/// What decides about the rows.
fn manifest(sweep: &Sweep) -> Value {
    let cloths: Vec<Value> = names(sweep)
        .into_iter()
        .zip(&sweep.cloths)
        .map(|((file, vertices), (name, _))| json!({ "name": name, "stem": file_stem(name), "vertices": vertices, "file": file }))
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scene": sweep.scene,
        "fingerprint": format!("{:016x}", sweep.fingerprint),
        "frames": sweep.frame_count,
        "vary": sweep.vary.iter().map(super::vary::Vary::to_json).collect::<Vec<_>>(),
        "samples": sweep.samples,
        "seed": sweep.seed,
        "cloths": cloths,
    })
}

/// The files of the last positions, with their numbers of vertices.
fn names(sweep: &Sweep) -> Vec<(String, usize)> {
    names_of_positions(sweep).collect()
}

fn names_of_positions(sweep: &Sweep) -> impl Iterator<Item = (String, usize)> {
    let is_single = sweep.cloths.len() == 1;
    sweep.cloths.iter().map(move |(name, vertices)| {
        let file = if is_single { "final.npy".to_owned() } else { format!("final_{}.npy", file_stem(name)) };
        (file, *vertices)
    })
}

/// The manifest of an earlier sweep; `None` where there is none of ours.
fn earlier(folder: &Folder) -> Result<Option<Value>, Failure> {
    let Some(bytes) = folder.read(MANIFEST)? else { return Ok(None) };
    let ours = serde_json::from_slice::<Value>(&bytes).ok();
    Ok(ours.filter(|manifest| manifest.get("fingerprint").is_some()))
}

/// The first key in which two manifests differ.
fn difference(earlier: &Value, now: &Value) -> (String, Value, Value) {
    let keys = now.as_object().into_iter().flat_map(|object| object.keys());
    let other = keys.into_iter().find(|key| earlier.get(*key) != now.get(*key)).map_or("it", String::as_str);
    let value = |manifest: &Value| manifest.get(other).cloned().unwrap_or(Value::Null);
    (other.to_owned(), value(earlier), value(now))
}

fn begin(folder: &Folder, sweep: &Sweep, manifest: &Value) -> Result<(u64, u64, File), Failure> {
    // Before the table, so that it is known whose that is.
    folder.write(MANIFEST, format!("{manifest:#}\n").as_bytes())?;
    folder.write(TABLE, format!("{}\n", heading(&sweep.vary)).as_bytes())?;
    let path = folder.join(TABLE);
    let table = OpenOptions::new().append(true).open(&path).map_err(|error| cannot_write(&path, error))?;
    Ok((0, 0, table))
}

/// The table of a sweep that was stopped, cut off behind its last whole line; how many samples it has, and how many of them failed.
fn reopen(folder: &Folder, sweep: &Sweep) -> Result<(u64, u64, File), Failure> {
    let path = folder.join(TABLE);
    let read = |error: io::Error| cannot_read(&path, error);
    let mut reader = BufReader::new(File::open(&path).map_err(read)?);
    let (mut line, mut whole, mut lines, mut failed) = (String::new(), 0_u64, 0_u64, 0_u64);
    while reader.read_line(&mut line).map_err(read)? > 0 {
        let Some(text) = line.strip_suffix('\n') else { break };
        if lines == 0 && text != heading(&sweep.vary) {
            let words = format!(
                "cannot resume from {}: its first line is not that of this sweep; run without --resume",
                path.display()
            );
            return Err(Failure::Failed(words));
        }
        whole += line.len() as u64;
        failed += u64::from(lines > 0 && has_failed(text));
        lines += 1;
        line.clear();
    }
    let table = OpenOptions::new().append(true).open(&path).map_err(|error| cannot_write(&path, error))?;
    table.set_len(whole).map_err(|error| cannot_write(&path, error))?;
    if lines == 0 {
        let mut table = table;
        let written = table.write_all(format!("{}\n", heading(&sweep.vary)).as_bytes());
        written.map_err(|error| cannot_write(&path, error))?;
        return Ok((0, 0, table));
    }
    Ok((lines - 1, failed, table))
}
