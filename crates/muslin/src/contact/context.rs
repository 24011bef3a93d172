//! Context and errors of contact: the model, the team and the threads of a step; why things could not be kept apart.

use crate::model::Model;
use crate::parallel::Team;

/// What contact works with and does not change.
#[derive(Clone, Copy)]
pub(crate) struct ContactContext<'a> {
    pub(crate) model: &'a Model,
    /// The threads there are.
    pub(crate) team: &'a Team,
    /// How many of them to use in this frame; the result does not depend on it.
    pub(crate) threads: usize,
}

/// Why things could not be kept apart; a solver says it as its own error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContactError {
    /// The motion left the finite numbers at this vertex of the state.
    NonFinite(usize),
    /// Cloth would pass through cloth, and nothing that may be done about it helps: which, as the user numbers them.
    Unresolved(String),
    /// What cuts or touches at the start could not be pulled apart.
    Tangled {
        /// What still cuts, as the user numbers it.
        what: String,
        /// The time that it was given, in s.
        seconds: f64,
    },
}
