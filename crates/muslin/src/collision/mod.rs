//! Finds what touches; what to do about it is the business of [`energy::contact`](crate::energy::contact).
//!
//! The exception is [`Guard`]: it cuts back a step that would pass through, whatever the response was.

mod block;
mod bvh;
mod candidates;
mod closest;
mod collider;
mod drift;
mod guard;
mod inspection;
mod intersection;
mod neighborhood;
mod patches;
mod points;
mod proximity;
mod side;
mod truncation;

pub use candidates::Candidates;
pub use closest::{Closest, point_triangle, segment_segment};
pub use collider::{Collider, Probe, Solid};
pub use guard::{Breach, Held, Pair, certify, is_certified};
pub(crate) use guard::{extent, is_beyond, rounding};
pub(crate) use inspection::{Inspection, PIECES};
pub use intersection::{count_intersections, find_intersections, for_each_intersection};
pub use neighborhood::{Asked, Leave, Neighborhood};
pub use proximity::Surface;
pub use truncation::Guard;
