//! Why a command could not do its work. Printed once, here; the exit code follows from the kind.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use muslin_io::IoError;
use serde_json::json;

use crate::console;
use crate::findings::Findings;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something was asked for that makes no sense: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The scene is wrong: exit code 2.
    #[error("{0}")]
    Scene(Box<Findings>),
    /// What was asked for made sense, but could not be done: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// A step of the simulation could not be done: exit code 1.
    #[error("{0}")]
    Step(String),
    /// The scene is wrong, and the answer of the command has said so: exit code 2.
    #[error("the scene is wrong")]
    Told,
}

impl From<IoError> for Failure {
    fn from(error: IoError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Failure {
    /// Prints the failure and gives the exit code.
    pub(crate) fn report(&self, as_json: bool) -> ExitCode {
        match self {
            Self::Told => {}
            _ if as_json => console::note(self.to_json()),
            Self::Scene(findings) => console::note(findings), // begins with its place
            _ => console::note(format_args!("error: {self}")),
        }
        ExitCode::from(self.exit_code())
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Scene(_) | Self::Told => 2,
            Self::Failed(_) | Self::Step(_) => 1,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let (kind, findings) = match self {
            Self::Usage(_) => ("usage", None),
            Self::Scene(findings) => ("scene", Some(findings.to_json())),
            Self::Told => ("scene", None),
            Self::Failed(_) | Self::Step(_) => ("failed", None),
        };
        json!({ "error": { "kind": kind, "exit_code": self.exit_code(), "message": self.to_string(), "findings": findings } })
    }
}

/// A file that could not be read, in the words that the formats use for theirs.
pub(crate) fn cannot_read(path: &Path, error: io::Error) -> IoError {
    IoError::read(path, error)
}

/// A file or folder that could not be written.
pub(crate) fn cannot_write(path: &Path, error: io::Error) -> IoError {
    IoError::write(path, error)
}
