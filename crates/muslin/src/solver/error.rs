//! Errors of a step, in words: the place, the limit and the remedy.

use std::any::Any;

use crate::contact::context::ContactError;
use crate::model::Model;
use crate::solver::registry::MOST_SUBSTEPS;

/// Why a frame could not be finished.
///
/// ```
/// use muslin::solver::StepError;
///
/// let error = StepError::NonFinite { cloth: "flag".to_owned(), vertex: 12 };
/// assert!(error.to_string().starts_with("vertex 12 of cloth \"flag\" left the finite numbers"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The motion left the finite numbers.
    #[error(
        "vertex {vertex} of cloth \"{cloth}\" left the finite numbers; \
         look for an extreme number in the scene (density, stiffness, velocity), or use more substeps"
    )]
    NonFinite {
        /// Name of the cloth.
        cloth: String,
        /// The vertex, as the user numbers it.
        vertex: usize,
    },
    /// The Hessian of an implicit step has an eigenvalue that is not positive, and the solver was told to do nothing about it.
    #[error(
        "the Hessian of the step at {time:.4} s is not positive definite ({iterations} iterations into it), as compression makes it; \
         set solver.indefiniteness to \"clamp\", \"drop\" or \"choi_ko\", or use more substeps"
    )]
    Indefinite {
        /// Simulated time, in s.
        time: f64,
        /// Iterations of the step before.
        iterations: u32,
    },
    /// The factorisation of an implicit step needs more memory than there is.
    #[error("the factorisation of {vertices} vertices does not fit into memory; set solver.linear to \"cg\"")]
    Memory {
        /// How many there are.
        vertices: usize,
    },
    /// A linear system could not be solved.
    #[error(
        "the system of the solver could not be factorised; \
         look for an extreme number in the scene (density, stiffness, damping), or use more substeps"
    )]
    NotDefinite,
    /// Cloth would pass through cloth, and nothing that may be done about it helps.
    #[error(
        "{what}, and cannot be kept apart; use more substeps, slower pins or bodies, or a smaller contact.thickness"
    )]
    Contact {
        /// Which, as the user numbers them.
        what: String,
    },
    /// A start that cuts or touches could not be pulled apart.
    #[error(
        "the start could not be untangled: {seconds} s after it {what}; move apart what cuts in the scene, or mend the mesh"
    )]
    Tangled {
        /// The cloths and triangles that still cut, as the user numbers them.
        what: String,
        /// The time that it was given, in s.
        seconds: f64,
    },
    /// A thread of the step panicked: a bug of the library, or of a clock, an energy or a shape that it was given. The others have ended the step too.
    #[error(
        "a thread of the step panicked: {words}; the state is as it was before the step. Please report this, with the scene"
    )]
    Panicked {
        /// Its message.
        words: String,
    },
    /// [Somebody](crate::Simulation::with_stop) has stopped the step.
    #[error("the step was stopped from outside; the state is as it was before the step")]
    Stopped,
    /// There is far more energy than the cloth began with and was given.
    #[error(
        "the cloth has {energy:.2e} J from nowhere, {:.0} times all that it began with and was given, and is worst at vertex {vertex} of cloth \"{cloth}\": the motion has blown up; \
         use more substeps, a softer or heavier material, or solver \"newton\"",
        energy / given
    )]
    BlownUp {
        /// Name of the cloth.
        cloth: String,
        /// The vertex, as the user numbers it.
        vertex: usize,
        /// Above what was given, in J.
        energy: f64,
        /// All that it began with and was given, in J.
        given: f64,
    },
    /// An edge is longer than any load of the scene can make it.
    #[error(
        "an edge at vertex {vertex} of cloth \"{cloth}\" is strained by {:.0} %, where loads and blows of the scene strain this material by some {}: no cloth is that any more; \
         slow down what hits it, use a finer cloth and more substeps, or look for an extreme number in the scene",
        100.0 * strain,
        percent(*of_load)
    )]
    Overstrained {
        /// Name of the cloth.
        cloth: String,
        /// The vertex, as the user numbers it.
        vertex: usize,
        /// Of the edge.
        strain: f64,
        /// What loads and blows of the scene explain.
        of_load: f64,
    },
    /// An explicit solver took steps beyond its stability limit.
    #[error(
        "vertex {vertex} of cloth \"{cloth}\" diverged: the step of {} is {}",
        milliseconds(*step),
        over_the_limit(*step, *limit, *substeps)
    )]
    Unstable {
        /// Name of the cloth.
        cloth: String,
        /// The vertex, as the user numbers it.
        vertex: usize,
        /// The step, in s.
        step: f64,
        /// The longest stable step, in s; zero where there is none.
        limit: f64,
        /// How many substeps there were.
        substeps: u32,
    },
}

impl StepError {
    pub(crate) fn unstable(model: &Model, index: usize, step: f64, limit: f64, substeps: u32) -> Self {
        let (cloth, vertex) = model.user_vertex(index);
        Self::Unstable { cloth: cloth.to_owned(), vertex, step, limit, substeps }
    }

    /// Of what a thread has panicked with.
    pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Self {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why");
        Self::Panicked { words: words.to_owned() }
    }

    pub(crate) fn non_finite(model: &Model, index: usize) -> Self {
        let (cloth, vertex) = model.user_vertex(index);
        Self::NonFinite { cloth: cloth.to_owned(), vertex }
    }

    /// An error of contact, as one of the step.
    pub(crate) fn contact(model: &Model, error: ContactError) -> Self {
        match error {
            ContactError::NonFinite(vertex) => Self::non_finite(model, vertex),
            ContactError::Unresolved(what) => Self::Contact { what },
            ContactError::Tangled { what, seconds } => Self::Tangled { what, seconds },
        }
    }
}

/// How far a step is over its limit and what to do about it: the end of a sentence, for errors and warnings.
pub fn over_the_limit(step: f64, limit: f64, substeps: u32) -> String {
    if limit <= 0.0 {
        return "over the stability limit, as every step of this scheme is without damping; \
                use scheme = \"symplectic\" or another solver"
            .to_owned();
    }
    let (ratio, limit) = (step / limit, milliseconds(limit));
    let enough = (ratio * f64::from(substeps) / STABLE_SHARE).ceil();
    let remedy = if enough <= MOST_SUBSTEPS as f64 {
        format!("use substeps = {enough} or more")
    } else {
        format!("that would take {enough} substeps: use an implicit solver, a coarser mesh or a softer cloth")
    };
    format!("{ratio:.3} times the stability limit of {limit} of this cloth; {remedy}")
}

/// A part as percent, with at least a digit that counts.
fn percent(part: f64) -> String {
    match 100.0 * part {
        percent if percent >= 1.0 || percent <= 0.0 => format!("{percent:.0} %"),
        percent => format!("{percent:.1e} %"),
    }
}

/// Seconds as milliseconds, with at least three digits that count.
pub fn milliseconds(seconds: f64) -> String {
    match 1e3 * seconds {
        ms if ms >= 0.1 || ms <= 0.0 => format!("{ms:.3} ms"),
        ms if ms >= 1e-3 => format!("{ms:.5} ms"),
        ms => format!("{ms:.2e} ms"),
    }
}

/// The share of the limit that advice aims at: a cloth stiffens when it stretches.
const STABLE_SHARE: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_has_digits() {
        let words = [0.5, 1e-3, 2.5e-5, 3.21e-7, 0.0].map(milliseconds);
        assert_eq!(words, ["500.000 ms", "1.000 ms", "0.02500 ms", "3.21e-4 ms", "0.000 ms"]);
    }
}
