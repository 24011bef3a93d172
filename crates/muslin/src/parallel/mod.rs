//! A team of threads that walk through the stages of a step together.
//!
//! A frame is hundreds of short sweeps (substeps × colours), each a few tens of microseconds: too short to hand out
//! as tasks. So every thread runs the *same* function once per frame, takes its fixed share of every sweep and waits
//! for the others at a [`Worker::barrier`]. Shares depend on lengths and the team's size alone, and no result depends on
//! how a sweep was shared, so the bits are the same for every team.
//!
//! Two primitives hand out what a thread may write:
//!
//! | primitive | a thread has | why nobody else has it |
//! |---|---|---|
//! | `Team::for_each_mut` | the items of its share of some slices, as `&mut` | shares are disjoint, and the slices are borrowed for the whole run |
//! | `Worker::for_each_color` | the vertices of its share of the elements of a colour | `ColoredStencils` has verified its colours, and a barrier stands after each |
//!
//! Runs of several stages open their arrays as `Shared`. Two more types stand between it and raw memory: `Worker::part` gives the items of a share,
//! and `Spots` gives the items at indices that were checked once. Whoever follows neither gets and sets items by index; a
//! [stamped](Team::stamped) team then panics wherever two threads meet at one item between two barriers.
//!
//! Decision 041 (`docs/decisions/`) lists what is proved, what is checked and what is promised.

mod avx2;
mod barrier;
mod shared;
mod slices;
#[cfg(debug_assertions)]
mod stamps;
mod stencils;
mod stop;
mod team;
pub(crate) mod thread_tuner;
mod worker;
mod workers;

pub(crate) use avx2::Avx2;
pub(crate) use shared::Shared;
pub(crate) use stencils::{ColoredStencils, Gathered, GatheredLists, OwnElement, OwnItems, SpotLists, Spots};
pub(crate) use stop::Stopped;
pub use team::{Tally, Team, TeamError};
pub(crate) use worker::Pieces;
pub use worker::Worker;
