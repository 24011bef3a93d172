//! `cargo run --release -p muslin-validation -- [--quick] [--only 1.7,1.9] [--out FOLDER]`: runs the validation and writes its report.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who runs it")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

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

fn show(done: &Done, seconds: f64) {
    println!("{:<5} {:<9} {:>6.1} s  {}", done.number, done.verdict().replace('*', ""), seconds, done.title);
    for row in done.section.rows.iter().filter(|row| row.fails()) {
        println!(
            "      FAIL {}: {}, reference {}, error {}, tolerance {} {}",
            row.what, row.measured, row.reference, row.error, row.tolerance, row.note
        );
    }
}

fn write(folder: &Path, command: &str, done: &[Done]) -> Result<(), String> {
    let say = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(folder).map_err(|e| say(folder, e))?;
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| say(&path, e))
    };
    for plot in done.iter().flat_map(|d| &d.section.plots) {
        file(&plot.file(), &plot.svg())?;
    }
    file("README.md", &markdown(command, done))
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
    match validate() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("muslin-validation: {message}");
            ExitCode::from(2)
        }
    }
}
