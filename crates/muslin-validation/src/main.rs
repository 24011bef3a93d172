//! `cargo run --release -p muslin-validation -- [--quick] [--only 1.7,1.9] [--out FOLDER]`: runs the validation and writes its report.
//!
//! With `contact --python PYTHON --frames FOLDER [--scenes ring,wall] [--solvers xpbd,vbd] [--out FOLDER]` it runs the table of solvers in contact instead; PYTHON has the
//! packages of `xtask/python/readers/requirements.txt`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who runs it")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use muslin_validation::contact_scenes::{self, Order};
use muslin_validation::report::{Done, markdown};
use muslin_validation::row::Row;
use muslin_validation::{Scope, run};

struct Arguments {
    quick: bool,
    only: Vec<String>,
    out: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = Arguments { quick: false, only: Vec::new(), out: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--quick" => given.quick = true,
            "--only" => given.only.extend(value()?.split(',').map(|name| name.trim().to_owned())),
            "--out" => given.out = Some(PathBuf::from(value()?)),
            _ => return Err(format!("`{word}` is not understood; there are --quick, --only 1.7,1.9 and --out FOLDER")),
        }
    }
    Ok(given)
}

/// The table of solvers in contact.
struct ContactArguments {
    order: Order,
    out: Option<PathBuf>,
}

fn contact_arguments(words: impl Iterator<Item = String>) -> Result<ContactArguments, String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut order = Order {
        scenes: root.join("validation/scenes/contact"),
        only_scenes: Vec::new(),
        only_solvers: Vec::new(),
        frames: PathBuf::new(),
        python: PathBuf::new(),
        script: root.join("xtask/python/readers/check_intersections.py"),
    };
    let (mut out, mut words) = (None, words);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let list = || value.split(',').map(|name| name.trim().to_owned());
        match word.as_str() {
            "--scenes" => order.only_scenes.extend(list()),
            "--solvers" => order.only_solvers.extend(list()),
            "--frames" => order.frames = PathBuf::from(value),
            "--python" => order.python = PathBuf::from(value),
            "--out" => out = Some(PathBuf::from(value)),
            _ => {
                return Err(format!(
                    "`{word}` is not understood; there are --scenes, --solvers, --frames, --python and --out"
                ));
            }
        }
    }
    for (word, path) in [("--frames", &order.frames), ("--python", &order.python)] {
        if path.as_os_str().is_empty() {
            return Err(format!("{word} is missing; `cargo xtask validate contact` gives it"));
        }
    }
    Ok(ContactArguments { order, out })
}

fn contact() -> Result<bool, String> {
    let ContactArguments { order, out } = contact_arguments(std::env::args().skip(2))?;
    let start = Instant::now();
    let table = contact_scenes::run(&order, &|line| println!("{line}"))?;
    if let Some(folder) = &out {
        let list = |word: &str, names: &[String]| match names {
            [] => String::new(),
            _ => format!(" {word} {}", names.join(",")),
        };
        let (scenes, solvers) = (list("--scenes", &order.only_scenes), list("--solvers", &order.only_solvers));
        let text = contact_scenes::markdown(&format!("cargo xtask validate contact{scenes}{solvers}"), &table);
        std::fs::create_dir_all(folder).map_err(|e| say(folder, e))?;
        write_file(folder, "contact.md", &text)?;
        write_file(folder, "contact.csv", &contact_scenes::csv(&table))?;
    }
    let cells: usize = table.rows.iter().map(|row| row.cells.len()).sum();
    let failures = table.failures();
    println!(
        "contact: {} scenes, {cells} cells, {failures} failed, {:.0} s",
        table.rows.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(failures == 0)
}

fn show(done: &Done, seconds: f64) {
    println!("{:<5} {:<20} {:>6.1} s  {}", done.number, done.verdict().replace('*', ""), seconds, done.title);
    for row in done.section.rows.iter().filter(|row| row.fails()) {
        println!(
            "      FAIL {}: {}, reference {}, error {}, tolerance {} {}",
            row.what, row.measured, row.reference, row.error, row.tolerance, row.note
        );
    }
}

fn write(folder: &Path, command: &str, done: &[Done]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| say(folder, e))?;
    for plot in done.iter().flat_map(|d| &d.section.plots) {
        write_file(folder, &plot.file(), &plot.svg())?;
    }
    write_file(folder, "README.md", &markdown(command, done))
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|e| say(&path, e))
}

fn say(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn validate() -> Result<bool, String> {
    let given = arguments()?;
    let mut last = Instant::now();
    let done = run(&given.only, Scope { quick: given.quick }, |outcome| {
        show(outcome, last.elapsed().as_secs_f64());
        last = Instant::now();
    })?;
    if let Some(folder) = &given.out {
        let quick = if given.quick { " --quick" } else { "" };
        let only = if given.only.is_empty() { String::new() } else { format!(" --only {}", given.only.join(",")) };
        write(folder, &format!("cargo xtask validate{quick}{only}"), &done)?;
    }
    let rows = || done.iter().flat_map(|d| &d.section.rows);
    let failed = rows().filter(|row: &&Row| row.fails()).count();
    println!("validation: {} tests, {} rows, {failed} failed", done.len(), rows().count());
    Ok(failed == 0)
}

fn main() -> ExitCode {
    let is_contact = std::env::args().nth(1).is_some_and(|word| word == "contact");
    match if is_contact { contact() } else { validate() } {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("muslin-validation: {message}");
            ExitCode::from(2)
        }
    }
}
