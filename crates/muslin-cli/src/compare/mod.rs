//! One scene through several solvers and settings: what each costs, and what it gets for that.
//!
//! ```text
//! item       what is typed, xpbd:substeps=40, turned into settings of a scene
//! entrants   the items, and the one that all are measured against
//! trial      one run: frames timed, diagnosed between them, and compared with the reference
//! summary    a run in one line of the table
//! record     compare.json
//! plot       compare.png and compare.svg
//! ```

mod entrants;
mod item;
mod plot;
mod record;
mod summary;
mod trial;

pub(crate) use entrants::{Entrant, Field, gather};
pub(crate) use plot::draw;
pub(crate) use record::{Record, Reference, Row};
pub(crate) use trial::{Fate, Start, Track, Trial};
