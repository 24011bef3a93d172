//! Length constraints hold the lengths of a cloth beside the terms of its model; they are made once from settings and model.

use crate::math::Real;
use crate::model::Model;
use crate::solver::position_based::distance_limits::DistanceLimits;
use crate::solver::position_based::long_range::LongRange;
use crate::solver::position_based::particle::Bundled;
use crate::solver::position_based::settings::LoopSettings;
use crate::solver::position_based::strain_limit::StrainLimit;

/// Long-range constraints with tethers, and the strain limit, where they are asked for.
pub(crate) struct LengthConstraints<R: Real> {
    pub(crate) long_range: Option<LongRange<R>>,
    pub(crate) strain_limit: Option<StrainLimit<R>>,
}

impl<R: Bundled> LengthConstraints<R> {
    /// Side by side for the widest registers, if `is_wide`.
    pub(crate) fn new(settings: &LoopSettings, model: &Model, is_wide: bool) -> Self {
        let long_range = settings.long_range.map(|settings| LongRange::new(model, settings.elongation, is_wide));
        // Cloth with long-range constraints hardly stretches, and what is beyond the limit is what the sweeps have left. Other cloth may
        // stretch as it likes, and the limit is a part of its material.
        let is_material = settings.long_range.is_some_and(|settings| settings.elongation > 0.0)
            || long_range.as_ref().is_none_or(|long_range| long_range.len() == 0);
        let limit = |max_strain| StrainLimit::new(model, max_strain, is_material, is_wide);
        Self { strain_limit: settings.max_strain.map(limit), long_range }
    }

    /// Those of both sets of long-range constraints, and after them the strain limit: the order of their rest offsets.
    pub(crate) fn distance_limits(&self) -> impl Iterator<Item = &DistanceLimits<R>> {
        let long_range = self.long_range.iter().flat_map(|long_range| long_range.constraints.iter().flatten());
        long_range.chain(self.strain_limit.iter().map(|limit| &limit.edges))
    }

    /// The long-range constraints of a set, the longest first, each with its place in [`distance_limits`](Self::distance_limits).
    pub(crate) fn long_range_set(&self, set: usize) -> impl Iterator<Item = (usize, &DistanceLimits<R>)> {
        let first = if set == 0 { 0 } else { self.long_range.as_ref().map_or(0, |all| all.constraints[0].len()) };
        (first..).zip(self.long_range.iter().flat_map(move |all| &all.constraints[set]))
    }

    /// The place of the strain limit in [`distance_limits`](Self::distance_limits).
    pub(crate) fn strain_limit_index(&self) -> usize {
        self.long_range.as_ref().map_or(0, |all| all.constraints.iter().map(Vec::len).sum())
    }

    /// Numbers that the rest offsets of the tethers take.
    pub(crate) fn tether_offset_count(&self) -> usize {
        self.long_range.as_ref().map_or(0, |long_range| long_range.tethers.rest_offset_count())
    }

    /// Whether all is side by side as a team wants it.
    pub(crate) fn is_for(&self, is_wide: bool) -> bool {
        self.distance_limits().all(|limits| limits.is_for(is_wide))
            && self.long_range.as_ref().is_none_or(|long_range| long_range.tethers.is_for(is_wide))
    }
}
