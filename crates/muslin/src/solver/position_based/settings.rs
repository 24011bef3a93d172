//! Settings of the position-based loop, as a scene gives them.

use crate::parameter::{Kind, Parameter, Setting, Settings};
use crate::solver::count;
use crate::solver::sewing::Pull;

/// How a frame is divided, and which constraints hold beside the terms of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LoopSettings {
    pub(crate) substeps: u32,
    /// Sweeps over the constraints in a substep.
    pub(crate) iterations: u32,
    /// Long-range constraints and tethers, if there are to be any.
    pub(crate) long_range: Option<LongRangeSettings>,
    /// The strain, either way, that no edge is left with.
    pub(crate) max_strain: Option<f64>,
    /// Only while cloth is sewn.
    pub(crate) pull: Option<Pull>,
}

/// How long the long-range constraints are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LongRangeSettings {
    /// How much longer than the cloth, as a part of its length, because it stretches.
    pub(crate) elongation: f64,
}

impl LoopSettings {
    /// From a solver's settings, whose ranges the scene has checked.
    pub(crate) fn read(settings: &Settings) -> Self {
        let is_long_range = settings.choice(LONG_RANGE.name) == Some("on");
        Self {
            substeps: count(settings, "substeps"),
            iterations: count(settings, "iterations"),
            long_range: is_long_range.then(LongRangeSettings::default),
            max_strain: settings.number(MAX_STRAIN.name),
            pull: None,
        }
    }
}

pub(crate) const LONG_RANGE: Parameter = Parameter {
    name: "long_range",
    unit: "",
    kind: Kind::Choice(&["off", "on"]),
    default: Some(Setting::Choice("off")),
    meaning: "on: long-range constraints and tethers between distant vertices of flat-cut cloth; for cloth that hardly stretches",
};

pub(crate) const MAX_STRAIN: Parameter = Parameter {
    name: "max_strain",
    unit: "",
    kind: Kind::Positive,
    default: None,
    meaning: "strain, either way, that edges are pushed back to, whatever the material; default: no limit",
};
