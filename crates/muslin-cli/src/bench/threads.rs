//! How much of a frame threads can share, counted on one, and what follows for many.
//!
//! ```text
//! P   seconds a frame inside of `Team::run`: what threads share
//! S   the rest of the frame: serial
//! B   barriers a frame, b(n) what one costs n threads
//! R   calls of `Team::run` a frame, r(n) what an empty one costs n threads
//!
//! speed-up(n) = (S + P) / (S + P/n + B b(n) + R r(n))          Amdahl 1967, with what meeting costs
//! ```
//!
//! b and r are measured with all cores of this machine, as the best of many. For n threads they grow in proportion: the threads come to a
//! barrier by adding to one number, and are called to a run, one after the other. That is what the code does; a machine whose cores share no cache may take longer, and a tree would
//! take fewer steps.
//!
//! P is taken to be shared evenly, and memory to be as fast as n threads need it. So this is a bound, not a forecast: where it is low, more threads cannot help;
//! where it is high, they may. The second bound leaves meeting out (b = r = 0): what the serial part alone allows.
//!
//! Small sheets are bound by B b(n), which does not depend on their size, and large ones by S.

use muslin::Simulation;
use muslin::parallel::{Tally, Team};

use super::contact::Subject;
use super::quality::sheet;
use super::sheet::simulation_on;
use super::{Row, Samples};
use crate::clock;
use crate::failure::Failure;
use crate::session::all_cores;

/// The threads of the bounds.
const MANY: usize = 64;
/// Short batches, so that some of them meet nobody else on the cores.
const BATCHES: usize = 400;
const BARRIERS: usize = 100;
const RUNS: usize = 1000;
/// Seconds after which no further frame is measured.
const ENOUGH: f64 = 5.0;

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Vertices along a side of the sheets, and about that of the folded cloth.
    pub(crate) side: u32,
    pub(crate) folded_side: u32,
    /// Measured frames at most; one more comes before them to warm up.
    pub(crate) frames: usize,
}

/// What it costs a team to meet, in s.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Meeting {
    threads: usize,
    barrier: f64,
    run: f64,
}

/// What a frame is made of, on average.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    /// In s.
    parallel: f64,
    serial: f64,
    barriers: f64,
    runs: f64,
}

impl Parts {
    /// See above; without a meeting it costs nothing to meet.
    fn speed_up(&self, threads: usize, meeting: Option<Meeting>) -> f64 {
        let Self { parallel, serial, barriers, runs } = *self;
        let n = threads as f64;
        let meet = meeting
            .map_or(0.0, |Meeting { threads, barrier, run }| n / threads as f64 * (barriers * barrier + runs * run));
        (serial + parallel) / (serial + parallel / n + meet)
    }
}

/// Counts a frame of each solver; says what it does by `progress`.
pub(crate) fn measure(plan: &Plan, progress: impl Fn(&str)) -> Result<Vec<Row>, Failure> {
    let Plan { side, folded_side, frames } = *plan;
    let (meeting, mut rows) = meet()?;
    let stable = 9 * side;
    let solvers = [
        ("xpbd", "kind = \"xpbd\"".to_owned()),
        ("auto", "kind = \"auto\"".to_owned()),
        ("explicit", format!("kind = \"explicit\", substeps = {stable}")),
        ("vbd", "kind = \"vbd\"".to_owned()),
    ];
    for (subject, solver) in solvers {
        progress(&format!("the threads of {subject}"));
        let simulation = simulation_on(&sheet(side, &solver, 0.0), &[], metered())?;
        rows.extend(count(subject, simulation, frames, meeting)?);
    }
    progress("the threads of xpbd with self-contact");
    let folded = Subject::Twirl.folded(folded_side, || Ok(metered()), |_| ())?;
    rows.extend(count("xpbd, self-contact", folded, frames, meeting)?);
    Ok(rows)
}

fn metered() -> Team {
    Team::solo().metered(clock::seconds)
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// What meeting costs all cores; nothing is known where there is but one.
fn meet() -> Result<(Option<Meeting>, Vec<Row>), Failure> {
    let threads = all_cores();
    if threads < 2 {
        return Ok((None, Vec::new()));
    }
    let team = Team::new(threads).map_err(failed)?;
    let (mut barriers, mut runs) = (Samples::default(), Samples::default());
    for _ in 0..BATCHES {
        barriers.time(|| team.run(threads, |worker| (0..BARRIERS).for_each(|_| worker.barrier())));
        // As in a frame, which is hosted.
        runs.time(|| team.host(threads, || (0..RUNS).for_each(|_| team.run(threads, |_| ()))));
    }
    let row = |quantity, samples: &Samples, count: usize| {
        let micros = 1e6 / count as f64;
        Row {
            subject: "team",
            vertices: 0,
            threads,
            quantity,
            unit: "µs",
            best: micros * samples.best(),
            median: micros * samples.median(),
            count: BATCHES * count,
        }
    };
    let rows = vec![row("barrier", &barriers, BARRIERS), row("run", &runs, RUNS)];
    Ok((Some(Meeting { threads, barrier: 1e-6 * rows[0].best, run: 1e-6 * rows[1].best }), rows))
}

/// The rows of one simulation, whose team is metered.
fn count(
    subject: &'static str,
    mut simulation: Simulation,
    frames: usize,
    meeting: Option<Meeting>,
) -> Result<Vec<Row>, Failure> {
    simulation.advance().map_err(failed)?;
    let tally = |simulation: &Simulation| simulation.tally().unwrap_or_default();
    let before = tally(&simulation);
    let start = clock::seconds();
    let (mut total, mut count) = (0.0, 0);
    while count < frames && total < ENOUGH {
        simulation.advance().map_err(failed)?;
        total = clock::seconds() - start;
        count += 1;
    }
    let Tally { seconds, runs, barriers } = tally(&simulation);
    let each = |sum: f64| sum / count as f64;
    let parallel = seconds - before.seconds;
    let parts = Parts {
        parallel: each(parallel),
        serial: each(total - parallel),
        barriers: each((barriers - before.barriers) as f64),
        runs: each((runs - before.runs) as f64),
    };
    let row = |quantity, unit, value| Row {
        subject,
        vertices: simulation.state().positions.len(),
        threads: 1,
        quantity,
        unit,
        best: value,
        median: value,
        count,
    };
    let mut rows = vec![
        row("parallel part", "ms", 1e3 * parts.parallel),
        row("serial part", "ms", 1e3 * parts.serial),
        row("barriers", "1", parts.barriers),
        row("runs", "1", parts.runs),
        row("bound of 64 threads, serial", "1", parts.speed_up(MANY, None)),
    ];
    rows.extend(meeting.map(|meeting| row("bound of 64 threads", "1", parts.speed_up(MANY, Some(meeting)))));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_that_of_amdahl() {
        let parts = Parts { parallel: 0.9, serial: 0.1, barriers: 100.0, runs: 2.0 };
        assert!((parts.speed_up(1, None) - 1.0).abs() < 1e-12);
        assert!((parts.speed_up(9, None) - 5.0).abs() < 1e-12, "1/(0.1 + 0.9/9)");
        assert!(parts.speed_up(1_000_000, None) < 10.0, "1/S");
        let meeting = Meeting { threads: 3, barrier: 1e-4, run: 5e-3 };
        // Three times as many threads, three times as long: 0.06 s.
        assert!((parts.speed_up(9, Some(meeting)) - 1.0 / 0.26).abs() < 1e-12);
    }

    #[test]
    fn a_frame_is_counted() {
        let simulation = simulation_on(&sheet(12, "kind = \"xpbd\", substeps = 3", 0.0), &[], metered()).unwrap();
        let rows = count("xpbd", simulation, 2, None).unwrap();
        let value = |name: &str| rows.iter().find(|row| row.quantity == name).map_or(f64::NAN, |row| row.best);
        let why =
            "the state is copied in, elements are placed, the frame is made, its numbers are checked and copied out";
        assert_eq!(value("runs"), 5.0, "{why}");
        // At least a barrier for the rest offsets, and for each substep one after the prediction, one for each colour and one after the update.
        assert!(value("barriers") > 1.0 + 3.0 * 8.0, "{rows:?}");
        assert!(value("parallel part") > 0.0 && value("serial part") >= 0.0, "{rows:?}");
    }
}
