//! A live simulation: requests come in, states go out.
//!
//! ```text
//! page ── worker ── muslin-web ─┐
//!                               ├─→ Live ─→ Simulation          requests as JSON, states as JSON and buffers
//! page ── HTTP ── muslin view ──┘     └─ edit: what a touch does to the scene
//! ```
//!
//! [`Live`] has no clock, no threads and no window of its own: it is handed them, so that the same code runs in a browser and on a machine.

mod buffer;
mod edit;
mod finished;
mod live;
mod reply;
mod surfaces;

pub use live::{Available, Live, MakeTeam};
