//! A simulation that a person touches, and what the command line and the page share.
//!
//! ```text
//! page ── worker ── muslin-web ─┐
//!                               ├─→ Live ─→ Simulation          requests as JSON, states as JSON and buffers
//! page ── HTTP ── muslin view ──┘     └─ edit: what a touch does to the scene
//! command line ─→ builtin, listing, memory, mesh_files
//! ```
//!
//! [`Live`] has no clock, no threads and no window of its own: it is handed them, so that the same code runs in a browser and on a machine.

mod buffer;
pub mod builtin;
mod edit;
mod finished;
pub mod listing;
mod live;
pub mod memory;
pub mod mesh_files;
mod reply;

pub use live::{Available, Live, MakeTeam};
