//! The work of all peers, and two of them: Muslin and Rapier, through one harness.
//!
//! ```text
//! peers prepare WORKLOAD SIDE OUT       meshes, masses, stiffness as arrays, and OUT/work.json; see `prepare`
//! peers reference WORKLOAD SIDE OUT     the converged motion: OUT/positions.npy; see `prepare`
//! peers muslin WORK.json OUT            see `muslin`
//! peers rapier WORK.json OUT            see `rapier`
//! ```
//!
//! A peer writes `positions.npy` and `result.json` into the folder OUT; `common.py`, which does the same for the peers in Python, says what they
//! hold. What is timed is the step and nothing else. One thread. A run ends early once its budget of processor time is spent.

mod muslin;
mod prepare;
mod rapier;
mod work;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use cpu_time::ProcessTime;
use serde_json::{Value, json};

use crate::work::{Frames, Work};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A simulator.
trait Peer {
    /// Advances by a frame.
    fn step(&mut self) -> Outcome<()>;
    /// Positions of all vertices, in the order of the work's.
    fn positions(&self) -> Vec<[f32; 3]>;
    /// Its version.
    fn version(&self) -> String;
    /// Totals so far, as an object: projections and the like.
    fn counts(&self) -> Value {
        json!({})
    }
    /// What was set, as an object.
    fn settings(&self) -> Value;
    /// What a reader should know of this run.
    fn notes(&self) -> String {
        String::new()
    }
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["prepare", workload, side, out] => prepare::prepare(workload, side.parse()?, Path::new(out)),
        ["reference", workload, side, out] => prepare::reference(workload, side.parse()?, Path::new(out)),
        ["muslin", work, out] => run("muslin", work, out, |work| Ok(Box::new(muslin::Muslin::new(work)?))),
        ["rapier", work, out] => run("rapier", work, out, |work| Ok(Box::new(rapier::Rapier::new(work)?))),
        _ => Err("peers prepare|reference WORKLOAD SIDE OUT, or peers muslin|rapier WORK.json OUT".into()),
    }
}

/// Runs a peer and writes what came out.
fn run(name: &str, work: &str, out: &str, build: impl FnOnce(&Work) -> Outcome<Box<dyn Peer>>) -> Outcome<()> {
    let work = Work::read(Path::new(work))?;
    let out = Path::new(out);
    fs::create_dir_all(out)?;
    let mut frames = Frames::create(&out.join("positions.npy"))?;
    let (mut wall_s, mut cpu_s) = (Vec::new(), Vec::new());
    let (mut failed, mut notes) = (Value::Null, String::new());
    let mut left = work.budget_s;
    let mut peer = match build(&work) {
        Ok(peer) => Some(peer),
        Err(error) => {
            failed = error.to_string().into();
            None
        }
    };
    if let Some(peer) = &mut peer {
        let mut last = peer.positions();
        frames.push(&last)?;
        for frame in 1..=work.frames {
            let (wall, cpu) = (Instant::now(), ProcessTime::now());
            let outcome = peer.step();
            let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
            if let Err(error) = outcome {
                failed = format!("frame {frame}: {error}").into();
                break;
            }
            last = peer.positions();
            if !last.iter().flatten().all(|number| number.is_finite()) {
                failed = format!("positions are not finite in frame {frame}").into();
                break;
            }
            wall_s.push(wall);
            cpu_s.push(cpu);
            if work.workload != "rows" {
                frames.push(&last)?;
            }
            left -= cpu;
            if work.is_off(frame, &last)? {
                notes = format!("stopped after frame {frame}: its motion is too far off. ");
                break;
            }
            if left < 0.0 && frame < work.frames {
                notes = format!("stopped after frame {frame}: {} s were spent. ", work.budget_s);
                break;
            }
        }
        if work.workload == "rows" {
            frames.push(&last)?;
        }
    }
    frames.close()?;
    let peer = peer.as_deref();
    let result = json!({
        "peer": name,
        "version": peer.map_or_else(String::new, Peer::version),
        "packages": {},
        "workload": work.workload,
        "side": work.side,
        "label": work.label,
        "settings": peer.map_or(work.settings.clone(), Peer::settings),
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "counts": peer.map_or(json!({}), Peer::counts),
        "failed": failed,
        "notes": notes + &peer.map_or_else(String::new, Peer::notes),
    });
    fs::write(out.join("result.json"), result.to_string() + "\n")?;
    Ok(())
}
