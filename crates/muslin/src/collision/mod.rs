//! Finds what touches; what to do about it is the business of [`energy::contact`](crate::energy::contact).

mod bvh;
mod closest;
mod collider;
mod intersection;

pub use closest::{Closest, point_triangle, segment_segment};
pub use collider::{Collider, Probe, Solid};
pub use intersection::count_intersections;
