//! Solvers against mechanics with a known answer, against each other, and against themselves.

mod auto;
mod cross_solver;
mod determinism;
mod dynamics;
mod explicit;
mod ledger;
mod newton;
mod projective;
#[cfg(debug_assertions)]
mod races;
mod shape_matching;
mod stages;
mod statics;
mod vbd;
