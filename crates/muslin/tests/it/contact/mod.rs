//! Contact: with bodies, with cloth, friction, the certificate, and starts that cut.

mod bodies;
mod certificate;
mod continuous;
mod convergence;
mod energy;
mod exact_motion;
pub(crate) mod friction;
mod report;
mod self_contact;
mod truncation;
mod untangle;
