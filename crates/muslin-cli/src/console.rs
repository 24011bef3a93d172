//! Standard output and standard error, without panics when nobody listens.

use std::fmt::Display;
use std::io::{self, Write};

use crate::failure::Failure;

/// Writes a line, or several, to standard output.
///
/// A reader that has left (`muslin models | head`) is no failure: it has what it wanted.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("cannot write to standard output: {}", reason(&error))))
        }
        _ => Ok(()),
    }
}

/// Writes a line, or several, to standard error. If that fails there is nobody left to tell.
pub(crate) fn note(text: impl Display) {
    writeln!(io::stderr().lock(), "{text}").ok();
}

/// The system's words in lower case, so that they end a sentence.
pub(crate) fn reason(error: &io::Error) -> String {
    muslin_io::Cause::System(io::Error::new(error.kind(), error.to_string())).to_string()
}
