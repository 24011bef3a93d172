//! Finds what touches; what to do about it is the business of [`energy::contact`](crate::energy::contact).

mod collider;
mod intersection;

pub use collider::{Collider, Probe, Solid};
pub use intersection::count_intersections;
