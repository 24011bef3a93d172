//! The program `muslin`: what a person types, turned into calls of the library, and what it says, into words and files.
//!
//! ```text
//! args ─→ commands ─→ session (run)      ─→ results in a folder
//!            │           scene_file, mesh_files: the files a scene is made of
//!            ├─────── sweep               ─→ one scene with many values: a table, and the last positions
//!            ├─────── compare             ─→ table, compare.json and pictures
//!            ├─────── lab                 ─→ tests of textile laboratories: table, lab.json and pictures
//!            ├─────── view                ─→ a page in the browser, and simulations behind it
//!            └─────── bench, models, scenes, check
//! embed: the same for another program, such as the Python package
//! failure: every error, printed here and only here
//! ```

mod args;
mod bench;
mod clock;
mod commands;
mod compare;
mod console;
pub mod embed;
mod failure;
mod findings;
mod lab;
mod memory;
mod plot;
mod scene_file;
mod session;
mod shell;
mod sweep;
mod table;
mod view;
mod words;

use std::process::ExitCode;

use args::Arguments;
use muslin_scenes::{builtin, mesh_files};

/// Does what was typed, and gives the exit code.
pub fn main() -> ExitCode {
    let command = Arguments::read();
    match commands::execute(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(command.wants_json()),
    }
}
