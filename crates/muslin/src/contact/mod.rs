//! Contact: find pairs, measure them, respond, certify the step, and untangle a start that cuts.
//!
//! The exception is [`Truncation`]: it cuts back a step that would pass through, whatever the response was.

pub(crate) mod broad_phase;
pub(crate) mod certificate;
pub(crate) mod collider;
pub(crate) mod context;
pub(crate) mod geometry;
pub(crate) mod inspect;
pub(crate) mod kinematics;
pub(crate) mod narrow_phase;
pub(crate) mod pair;
pub(crate) mod resolve;
pub(crate) mod response;
pub(crate) mod untangle;

pub use broad_phase::{Asked, BroadPhase, Leave};
pub use certificate::truncation::Truncation;
pub use certificate::{Breach, Held, certify, is_certified};
pub(crate) use certificate::{extent, rounding};
pub use collider::{Collider, Probe, Solid};
pub(crate) use geometry::axis_gaps::is_beyond;
pub use geometry::closest_points::{Closest, point_triangle, segment_segment};
pub use geometry::surface::Surface;
pub use geometry::triangle_intersection::{count_intersections, find_intersections, for_each_intersection};
pub(crate) use inspect::{Inspection, PIECES};
pub use pair::{Candidates, Pair};
pub use resolve::stats::ContactStats;
