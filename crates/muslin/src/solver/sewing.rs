//! Sewing: a cloth that starts far from its rest shape is brought into it.
//!
//! The panels of a pattern start apart, with the vertices of their seams made one: triangles along a seam are many times as long as at rest. Let go like that, they would snap
//! together at the speed of sound. So for some time the cloth is pulled together by `xpbd`, whatever the solver of the scene,
//!
//! ```text
//! v ← v e^(−dh)      x ← x + h v      project      x ← xⁿ + (x − xⁿ) min(1, h s / ‖x − xⁿ‖)      contact      v ← (x − xⁿ)/h
//! ```
//!
//! without wind, with a damping d that leaves no swing, and with no vertex faster than s: first without weight, until the seams are closed, then with it, until the cloth has come down. Contact responds and certifies as always. What the material has stored at the start is
//! taken out by this and not by any force of the scene; it is booked as the work of a program.

use crate::model::{Model, edge_strain};
use crate::solver::pbd::PbdLaw;
use crate::solver::position_based::PositionBased;
use crate::solver::position_based::settings::LoopSettings;
use crate::solver::registry::MOST_SUBSTEPS;
use crate::solver::xpbd::XpbdLaw;
use crate::solver::{Context, Solver, SolverKind};
use crate::state::State;

/// How vertices move while cloth is sewn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pull {
    /// s, in m/s; infinite once the cloth has its weight: what it hangs in is not to depend on a limit.
    pub(crate) speed: f64,
    /// d, in 1/s.
    pub(crate) damping: f64,
    /// Whether the cloth has its weight.
    pub(crate) has_weight: bool,
}

impl Pull {
    /// Without weight, at a speed in m/s.
    pub(crate) fn sewing(speed: f64) -> Self {
        Self { speed, damping: SEWING, has_weight: false }
    }

    /// With its weight.
    pub(crate) fn settling() -> Self {
        Self { speed: f64::INFINITY, damping: SETTLING, has_weight: true }
    }
}

/// A solver that can sew.
pub(crate) trait Sewing: Solver {
    /// Gives the cloth its weight from the next frame on, of `dt` seconds. What hangs is to hang as it will by itself: it takes as many substeps as `xpbd` would, and more sweeps.
    fn weigh(&mut self, context: &Context<'_>, state: &State, dt: f64);
}

/// d, in 1/s: what is pulled keeps its speed for a few frames and swings no more.
const SEWING: f64 = 20.0;

/// d of what hangs, in 1/s: above twice the frequency at which a garment swings, and no more, or it would slide into its folds for ever.
const SETTLING: f64 = 8.0;

/// Sweeps of a substep with weight. Contact costs more than they do, and one leaves a tight cloth softer than it is.
pub(crate) const SWEEPS: u32 = 4;

/// The slowest s, in m/s.
const SLOWEST: f64 = 0.25;

/// How much faster than the farthest way in the given time s is: cloth has to slide around bodies, and to come to rest.
const HASTE: f64 = 3.0;

/// The length of a substep, in s: as short as that of cloth in contact.
const STEP: f64 = 5e-4;

/// Substeps of a frame of `dt` seconds in which cloth is sewn.
pub(crate) fn substeps(dt: f64) -> u32 {
    ((dt / STEP).ceil() as u32).clamp(1, MOST_SUBSTEPS as u32)
}

/// What sews the cloths of a model, in frames of `dt` seconds; `None` where there is nothing to sew.
pub(crate) fn solver(model: &Model, kind: &SolverKind, dt: f64) -> Option<Box<dyn Sewing>> {
    if model.settled_by <= 0.0 {
        return None;
    }
    let x = &model.initial_positions;
    let ways = model.edges.iter().map(|&(edge, rest)| edge_strain(x, edge, rest) * rest);
    let farthest = ways.fold(0.0, f64::max);
    let settings = LoopSettings {
        substeps: substeps(dt),
        iterations: 1,
        long_range: None,
        max_strain: None,
        pull: Some(Pull::sewing(SLOWEST.max(HASTE * farthest / model.sewn_by.max(dt)))),
    };
    // Only one of the two laws knows the stiffness of the scene.
    Some(match kind.reads_k {
        true => Box::new(PositionBased::<f32, PbdLaw>::new(settings)),
        false => Box::new(PositionBased::<f32, XpbdLaw>::new(settings)),
    })
}
