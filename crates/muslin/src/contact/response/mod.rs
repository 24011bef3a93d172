//! Response to contact: projection out of colliders and pair contact, both with Coulomb friction; penalty contact with lagged friction for solvers that minimise.

pub(crate) mod pair;
pub(crate) mod penalty;
pub(crate) mod penalty_contacts;
