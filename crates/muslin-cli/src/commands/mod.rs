//! One file per command.

mod bench;
mod check;
mod compare;
mod garment;
mod lab;
mod models;
mod run;
mod scenes;
mod sweep;
mod view;

use crate::args::Command;
use crate::failure::Failure;

/// Does what was typed.
pub(crate) fn execute(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Scenes(arguments) => scenes::scenes(arguments),
        Command::Models(arguments) => models::models(arguments),
        Command::Bench(arguments) => bench::bench(arguments),
        Command::Sweep(arguments) => sweep::sweep(arguments),
        Command::Garment(arguments) => garment::garment(arguments),
        Command::Lab(arguments) => lab::lab(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::View(arguments) => view::view(arguments),
    }
}
