//! Response to contact, with Coulomb friction: a projection, or a penalty potential with lagged friction for the solvers that minimise.
//!
//! | | a vertex and a collider | a pair: a vertex and a triangle, or two edges |
//! |---|---|---|
//! | what is too near | `touch.rs` | `pair_projection.rs`, its `PairContact` |
//! | projection: moves positions once a solver has stepped, of every solver | `collider_projection.rs` | `pair_projection.rs` |
//! | penalty: a part of the objective while `newton` and `vbd` solve | `collider_penalties.rs` | `pair_penalties.rs`, for `newton` alone |
//!
//! `penalty_potential.rs` is the potential that both penalties sum up. A penalty leaves a little of the depth, and the projection takes that at the end of the substep.

pub(crate) mod collider_penalties;
pub(crate) mod collider_projection;
pub(crate) mod pair_penalties;
pub(crate) mod pair_projection;
pub(crate) mod penalty_potential;
pub(crate) mod touch;
