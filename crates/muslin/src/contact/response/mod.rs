//! The response of cloth to contact, as forces of an energy: the penalty, and friction lagged by a step.

pub(crate) mod pair;
pub(crate) mod penalty;
pub(crate) mod penalty_contacts;
