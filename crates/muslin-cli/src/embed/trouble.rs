//! What a program is told when something could not be done.

use muslin::scene::Finding;
use serde_json::Value;

use crate::failure::Failure;
use crate::findings::Findings;

/// Why something could not be done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Trouble {
    /// The scene is wrong.
    #[error("{message}")]
    Scene {
        /// All of it, each with its place.
        message: String,
        /// The same as a JSON array, as `muslin check --json` has it.
        findings: Value,
    },
    /// A step could not be done.
    #[error("{0}")]
    Step(String),
    /// Something was asked for that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file operation failed, or there are no threads.
    #[error("{0}")]
    Failed(String),
}

/// What will not be as a scene says: one sentence with its place.
pub type Warning = String;

impl Trouble {
    pub(super) fn scene(findings: &Findings) -> Self {
        Self::Scene { message: findings.to_string(), findings: findings.to_json() }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scene(findings) => Self::scene(&findings),
            Failure::Step(message) => Self::Step(message),
            Failure::Usage(message) => Self::Usage(message),
            Failure::Failed(message) => Self::Failed(message),
            Failure::Told => Self::Failed(failure.to_string()),
        }
    }
}

/// Each in one line.
pub(super) fn warnings(label: &str, list: &[Finding]) -> Vec<Warning> {
    list.iter().filter(|finding| !finding.is_error()).map(|finding| finding.display(label).to_string()).collect()
}
