//! What can be wrong with a test.

/// Why a test could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LabError {
    /// A setting that makes no sense: its place, what is wrong with it, the limit and the remedy.
    #[error("{0}")]
    Setting(String),
    /// The simulation could not go on.
    #[error("{0}")]
    Failed(String),
    /// Somebody wanted it to stop.
    #[error("the test was interrupted; nothing was written")]
    Stopped,
}
