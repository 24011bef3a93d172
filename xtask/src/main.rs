//! Chores of the workspace: `cargo xtask <command>`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who runs it")]

mod bless;
mod gallery;
mod page;
mod peers;
mod python;
mod readers;
mod referee;
mod shell;
mod test;
mod tidy;
mod validate;

use std::process::ExitCode;

/// Why a chore stopped.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Wrong words on the command line: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The chore ran and did not succeed: exit code 1.
    #[error("{0}")]
    Failed(String),
}

/// One chore: its name, what it takes, what it does, and the function that does it.
struct Command {
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "[--only fmt,tidy,clippy,unit,docs,readers,referee,python,page]",
        summary: "runs everything that must pass before a change goes in, or only the named stages",
        run: test::run,
    },
    Command { name: "tidy", arguments: "", summary: "checks the rules of the house", run: tidy::run },
    Command {
        name: "bless",
        arguments: "WHY",
        summary: "pins the motion of every scene, solver and model as it is now, with a line in the changelog",
        run: bless::run,
    },
    Command {
        name: "gallery",
        arguments: "[SCENE…]",
        summary: "renders the pictures of the built-in scenes into docs/gallery",
        run: gallery::run,
    },
    Command {
        name: "page",
        arguments: "[--keep-core | --pictures]",
        summary: "builds the page of `muslin view`, with its core as WebAssembly, into crates/muslin-cli/page",
        run: page::run,
    },
    Command {
        name: "bench",
        arguments: "peers [--sizes 32,64] [--workloads rows,hang,…] [--peers muslin,taichi,…] [--budget SECONDS]",
        summary: "runs the same work in Muslin and in other simulators: cost, strain, motion, cuts, ratios",
        run: peers::bench,
    },
    Command {
        name: "validate",
        arguments: "[--quick] [--only 1.7,1.9] | contact [--scenes ring,wall] [--solvers xpbd,vbd]",
        summary: "measures the solvers and models against mechanics with a known answer, and in contact, into validation/",
        run: validate::run,
    },
];

fn help() -> String {
    let mut text = String::from("Chores of the workspace.\n\nUsage: cargo xtask <command>\n\nCommands:\n");
    for command in COMMANDS {
        text += &format!("  {:<8} {}\n", command.name, command.summary);
        if !command.arguments.is_empty() {
            text += &format!("  {:<8}   cargo xtask {} {}\n", "", command.name, command.arguments);
        }
    }
    text
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let asks_help = |word: &String| matches!(word.as_str(), "--help" | "-h" | "help");
    let Some((name, rest)) = arguments.split_first().filter(|_| !arguments.iter().any(asks_help)) else {
        print!("{}", help());
        return Ok(());
    };
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => Err(Failure::Usage(format!("there is no command `{name}`\n\n{}", help()))),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::from(if matches!(failure, Failure::Usage(_)) { 2 } else { 1 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_command() {
        for command in COMMANDS {
            assert!(help().contains(command.summary), "help lacks {}", command.name);
        }
    }

    #[test]
    fn an_unknown_command_is_wrong_usage() {
        let failure = dispatch(&["tset".to_owned()]).expect_err("no such command");
        assert!(
            matches!(&failure, Failure::Usage(text) if text.starts_with("there is no command `tset`")),
            "{failure}"
        );
    }
}
