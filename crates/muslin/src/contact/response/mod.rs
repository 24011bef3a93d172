//! Response to contact: projection out of colliders and pair contact, both with Coulomb friction; penalty contact with lagged friction, of colliders and of pairs, for solvers that minimise.

pub(crate) mod pair;
pub(crate) mod pair_penalties;
pub(crate) mod penalty;
pub(crate) mod penalty_contacts;
