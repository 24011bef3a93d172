//! Strain limit: every edge within low ≤ ‖x₁ − x₀‖ ≤ high, by [distance limits](super::distance_limits).
//!
//! The limit acts in one of two ways:
//!
//! | cloth | the limit is | it holds | velocities |
//! |---|---|---|---|
//! | held together by long-range constraints | a correction of what the sweeps have left | after the last substep of a frame, as often as it takes | unchanged: so many corrections, divided by a substep, would be speeds that nothing has given it |
//! | any other | a part of the material | in every substep too | changed |
//!
//! Where contact is resolved, which has the last word, the limit comes before it, and so before the velocities.

use crate::math::Real;
use crate::model::Model;
use crate::parallel::Worker;
use crate::solver::position_based::distance_limits::{DistanceLimit, DistanceLimits, Ends, SharedLimitLists};
use crate::solver::position_based::particle::Bundled;

/// What is aimed at is a little below what was asked for.
const LIMIT_SHARE: f64 = 0.95;
/// After fewer rounds than these, a limit is held with ease.
pub(crate) const EASY_ROUNDS: usize = 6;
/// Of the sweeps that hold the limit, where they do not change velocities; benches/JOURNAL.md has what others cost.
const LIMIT_RELAXATION: f64 = 1.95;

/// Every edge, within the limit.
pub(crate) struct StrainLimit<R: Real> {
    pub(crate) edges: DistanceLimits<R>,
    /// Whether it is a part of the material, and holds in every substep.
    pub(crate) is_material: bool,
    /// What an edge may be left beyond it, in m.
    tolerance: f64,
}

impl<R: Bundled> StrainLimit<R> {
    /// Of `max_strain`, either way. Side by side for the widest registers, if `is_wide`.
    pub(crate) fn new(model: &Model, max_strain: f64, is_material: bool, is_wide: bool) -> Self {
        let resolves_contact = model.self_contact.is_some() || !model.bodies.is_empty();
        // What acts on velocities would feed them if it were over-relaxed.
        let relaxation = if is_material || resolves_contact { 1.0 } else { LIMIT_RELAXATION };
        let aim = LIMIT_SHARE * max_strain;
        let limit = |&(ends, length): &([u32; 2], f64)| DistanceLimit {
            ends,
            low: (1.0 - aim) * length,
            high: (1.0 + aim) * length,
        };
        let limits: Vec<DistanceLimit> = model.edges.iter().map(limit).collect();
        let shortest = model.edges.iter().map(|&(_, length)| length).fold(f64::INFINITY, f64::min);
        Self {
            edges: DistanceLimits::new(model.masses.len(), &limits, relaxation, is_wide),
            is_material,
            tolerance: (1.0 - LIMIT_SHARE) * max_strain * shortest,
        }
    }

    /// Sweeps until all edges are within the limit, or as often as [`DistanceLimits::hold`] allows; returns how many rounds that took.
    pub(crate) fn hold(&self, worker: &Worker<'_>, ends: &Ends<'_, R>, lists: &SharedLimitLists<'_>) -> usize {
        self.edges.hold(worker, ends, lists, self.tolerance)
    }
}
