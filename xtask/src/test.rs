//! `cargo xtask test`: everything that must pass before a change goes in.

use std::process::Command;
use std::time::Instant;

use crate::shell::{cargo, run as run_program};
use crate::{Failure, page, python, readers, referee, tidy};

/// What a stage had to skip, if anything, or why it failed.
type Outcome = Result<Option<String>, Failure>;

/// One stage: its name for `--only`, its heading, and what it runs.
struct Stage {
    name: &'static str,
    heading: &'static str,
    run: fn() -> Outcome,
}

/// In the order in which they run: what fails soonest comes first.
const STAGES: &[Stage] = &[
    Stage {
        name: "fmt",
        heading: "formatting",
        run: || {
            passes(&mut cargo(["fmt", "--all", "--check"]))
                .map_err(|failure| Failure::Failed(format!("{failure}; `cargo fmt --all` formats it")))
        },
    },
    Stage { name: "tidy", heading: "the rules of the house", run: || tidy::run(&[]).map(|()| None) },
    Stage {
        name: "clippy",
        heading: "lints",
        run: || passes(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    },
    Stage {
        name: "unit",
        heading: "unit, integration and documentation tests",
        run: || passes(&mut cargo(["test", "--workspace"])),
    },
    Stage {
        name: "docs",
        heading: "documentation",
        run: || passes(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")),
    },
    Stage { name: "readers", heading: "results, read back by other people's software", run: readers::run },
    Stage { name: "referee", heading: "cloth through cloth, judged by other people's software", run: referee::run },
    Stage {
        name: "python",
        heading: "the Python package, built, installed and used as a stranger would",
        run: python::run,
    },
    Stage { name: "page", heading: "the page, built from its sources and tried in a browser", run: page::test },
];

fn passes(command: &mut Command) -> Outcome {
    run_program(command).map(|()| None)
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let stages = choose(arguments)?;
    let start = Instant::now();
    let mut summary = String::new();
    for (number, stage) in stages.iter().enumerate() {
        println!("\n== {}/{} {}: {} ==", number + 1, stages.len(), stage.name, stage.heading);
        let began = Instant::now();
        let skipped = (stage.run)().map_err(|failure| {
            Failure::Failed(format!(
                "test failed in stage `{0}`: {failure}\n       run it alone: cargo xtask test --only {0}",
                stage.name
            ))
        })?;
        let seconds = began.elapsed().as_secs_f64();
        println!("-- {} passed in {seconds:.1} s", stage.name);
        summary += &format!("  {:<8} passed {seconds:>8.1} s\n", stage.name);
        if let Some(what) = skipped {
            summary += &format!("  {:<8} !! SKIPPED: {what}\n", "");
        }
    }
    println!("\ntest: {} of {} stages run, all passed", stages.len(), STAGES.len());
    print!("{summary}");
    println!("  {:<8}        {:>8.1} s", "total", start.elapsed().as_secs_f64());
    Ok(())
}

/// The stages that the arguments ask for, in their own order whatever the order of the names.
fn choose(arguments: &[String]) -> Result<Vec<&'static Stage>, Failure> {
    let mut wanted: Option<Vec<&str>> = None;
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let list = match word.strip_prefix("--only") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => return Err(Failure::Usage(format!("`test` does not take `{word}`; it takes {}", usage()))),
        };
        let list = list.ok_or_else(|| Failure::Usage(format!("`--only` needs names: {}", usage())))?;
        wanted.get_or_insert_default().extend(list.split(',').map(str::trim).filter(|name| !name.is_empty()));
    }
    let Some(wanted) = wanted else { return Ok(STAGES.iter().collect()) };
    if let Some(wrong) = wanted.iter().find(|name| !STAGES.iter().any(|stage| stage.name == **name)) {
        return Err(Failure::Usage(format!("there is no stage `{wrong}`; `test` takes {}", usage())));
    }
    if wanted.is_empty() {
        return Err(Failure::Usage(format!("`--only` needs names: {}", usage())));
    }
    Ok(STAGES.iter().filter(|stage| wanted.contains(&stage.name)).collect())
}

fn usage() -> String {
    format!("--only {}", STAGES.iter().map(|stage| stage.name).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(arguments: &[&str]) -> Result<Vec<&'static str>, String> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        choose(&arguments)
            .map(|stages| stages.iter().map(|stage| stage.name).collect())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn without_arguments_all_stages_run() {
        assert_eq!(
            names(&[]).expect("all"),
            ["fmt", "tidy", "clippy", "unit", "docs", "readers", "referee", "python", "page"]
        );
    }

    #[test]
    fn only_the_named_stages_run_in_their_own_order() {
        assert_eq!(names(&["--only", "docs,fmt"]).expect("two"), ["fmt", "docs"]);
        assert_eq!(names(&["--only=tidy"]).expect("one"), ["tidy"]);
    }

    #[test]
    fn wrong_words_are_named() {
        assert!(names(&["--only", "lint"]).expect_err("unknown").starts_with("there is no stage `lint`"), "stage");
        assert!(names(&["--fast"]).expect_err("unknown").starts_with("`test` does not take `--fast`"), "option");
        assert!(names(&["--only"]).expect_err("empty").starts_with("`--only` needs names"), "no value");
        assert!(names(&["--only", ","]).expect_err("empty").starts_with("`--only` needs names"), "empty list");
    }
}
