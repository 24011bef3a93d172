//! The program `muslin`; all that it does is in the library beside it, which the Python package uses too.

use std::process::ExitCode;

fn main() -> ExitCode {
    muslin_cli::main()
}
