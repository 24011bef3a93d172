//! The plain way of `auto`, where the forces of the material alone should act: `xpbd` with few substeps, and `explicit` where `xpbd` would take about as many.
//!
//! ```text
//! n < SHARE nₑ    xpbd with n substeps          nₑ: with which explicit is stable
//! n ≥ SHARE nₑ    explicit with max(n, nₑ)
//! ```
//!
//! A sweep of `xpbd` and a step of `explicit` cost about the same. With few substeps only `xpbd` stands; with as many as `explicit` needs, `explicit` is nearer to the converged motion: it
//! solves nothing, so it leaves nothing unsolved. n is chosen by `solver/adaptive.rs`; strain that is left by `explicit` is that of the cloth. So a frame whose strain is beyond the limit is computed again with
//! 2 n substeps, and then by `explicit`.

use crate::parameter::Settings;
use crate::solver::adaptive::Paced;
use crate::solver::explicit::symplectic::Symplectic;
use crate::solver::explicit::{stable_step, stable_substeps};
use crate::solver::position_based::PositionBased;
use crate::solver::position_based::settings::LoopSettings;
use crate::solver::position_based::xpbd::XpbdLaw;
use crate::solver::{Context, Solver, StepError, StepReport};
use crate::state::State;

/// See above. Twice and twice again the fewest substeps of `xpbd` reach it.
const SHARE: f64 = 0.6;

/// Two solvers, one of which computes a frame.
pub(crate) struct Plain {
    xpbd: PositionBased<f32, XpbdLaw>,
    explicit: Symplectic,
    substeps: u32,
    /// With which `explicit` is stable from the start of the run: what a run that goes on finds too. None where nothing is.
    stable: Option<Option<u32>>,
}

impl Plain {
    pub(crate) fn new() -> Self {
        let settings = LoopSettings { substeps: 1, iterations: 1, long_range: None, max_strain: None, pull: None };
        Self { xpbd: PositionBased::new(settings), explicit: Symplectic::new(1), substeps: 1, stable: None }
    }

    /// Whether the next frame is computed by `explicit`, and with how many substeps.
    fn explicit_substeps(&self) -> Option<u32> {
        let stable = self.stable.flatten()?;
        (f64::from(self.substeps) >= SHARE * f64::from(stable)).then(|| self.substeps.max(stable))
    }
}

impl Paced for Plain {
    fn set_substeps(&mut self, substeps: u32) {
        self.substeps = substeps;
    }

    fn wanted_substeps(&mut self, context: &Context<'_>, state: &State, dt: f64) -> u32 {
        self.stable.get_or_insert_with(|| {
            let limit = stable_step(context.model, context.terms, &Settings::default(), dt);
            let is_rigid = context.model.cloths.iter().any(|cloth| cloth.stiffness.is_infinite());
            limit.filter(|limit| *limit > 0.0 && !is_rigid).map(|limit| stable_substeps(dt, limit))
        });
        self.xpbd.wanted_substeps(context, state, dt)
    }

    fn leaves_true_strain(&self) -> bool {
        self.explicit_substeps().is_some()
    }

    fn can_leave_true_strain(&self) -> bool {
        self.stable.flatten().is_some()
    }

    fn raised(&self, substeps: u32, attempts: u32) -> u32 {
        let doubled = 2 * substeps;
        self.stable.flatten().filter(|_| attempts > 1).map_or(doubled, |stable| doubled.max(stable))
    }
}

impl Solver for Plain {
    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        match self.explicit_substeps() {
            Some(substeps) => {
                self.explicit.set_substeps(substeps);
                self.explicit.advance(context, state, dt)
            }
            None => {
                self.xpbd.set_substeps(self.substeps);
                self.xpbd.advance(context, state, dt)
            }
        }
    }
}
