//! Drives the real program in temporary folders, with scenes small enough to run in a blink.

mod attacks;
mod bodies;
mod browser;
mod compare;
mod conformance;
mod contact;
mod garments;
mod invocation;
mod lab;
mod listings;
mod muslin;
mod refusals;
mod resume;
mod sewing;
mod sweep;
mod view;
