//! Penalty contact with lagged friction, for the solvers that minimise: the colliders that a vertex touches, each as a [`PenaltyPotential`].
//!
//! ```text
//! Φ(x) + Σ ψ(xᵢ)        over vertices and colliders; ψ with k = 100 m/h² and the normal force N of the last iteration
//! ```
//!
//! The size and the direction of N are fixed during an iteration, so that it lowers one function of x. A vertex with N > 0 keeps its friction for the whole iteration, even where it
//! leaves the surface. Without that, ψ would jump by μN times the slip where the vertex touches the surface again, and a line search, which accepts lower values only, would keep the
//! vertex off the surface.
//!
//! The loop over substeps projects what depth is left at the end of one ([`substep_loop`](crate::solver::substep_loop)).

use crate::contact::kinematics::ColliderOverSubstep;
use crate::contact::response::collider_projection;
use crate::contact::response::penalty_potential::{PenaltyForce, PenaltyPotential};
use crate::math::Vec3;

/// Stiffness of contact as a multiple of m/h²: a vertex at rest sinks in by g h²/100, a fraction of a usual thickness.
const CONTACT_STIFFNESS: f64 = 100.0;

/// The penalties of all colliders over a substep.
#[derive(Clone, Copy)]
pub(crate) struct ColliderPenalties<'a> {
    colliders: &'a [ColliderOverSubstep],
    /// In m.
    thickness: f64,
    /// h, in s.
    step: f64,
    /// [`PenaltyPotential::is_searched`].
    is_searched: bool,
}

impl<'a> ColliderPenalties<'a> {
    /// Of colliders that are kept `thickness` away, in m, over a substep of `step` seconds; for a solver with a line search or without.
    pub(crate) fn new(colliders: &'a [ColliderOverSubstep], thickness: f64, step: f64, is_searched: bool) -> Self {
        Self { colliders, thickness, step, is_searched }
    }

    /// k of the penalty contact of a vertex with an inertia of m/h², in N/m.
    pub(crate) fn stiffness(inertia: f64) -> f64 {
        CONTACT_STIFFNESS * inertia
    }

    /// Whether there is no collider.
    pub(crate) fn is_empty(&self) -> bool {
        self.colliders.is_empty()
    }

    /// Where contact alone would have a vertex that goes to `y`, with friction: the minimum of its inertia and its penalty contacts.
    ///
    /// The projection, less the part that the penalty contact gives way.
    pub(crate) fn rest(&self, y: Vec3<f64>, previous: Vec3<f64>) -> Vec3<f64> {
        const PART: f64 = CONTACT_STIFFNESS / (CONTACT_STIFFNESS + 1.0);
        self.colliders.iter().fold(y, |x, collider| {
            let touch = collider.touch(x, || previous, self.thickness, self.step);
            touch.map_or(x, |touch| {
                let (moved, lifted) = collider_projection::project(&touch, x, previous);
                x + ((moved - x) - (lifted - previous)) * PART
            })
        })
    }

    /// The normal force, in N, that each collider would press on a vertex with if the vertex came to `y` alone.
    ///
    /// Along the normal, inertia and penalty contact are two springs in a row: the penalty contact gives way by 1/(1 + k η²/m) of the depth.
    pub(crate) fn each_guess(
        &self,
        vertex: usize,
        inertia: f64,
        (y, previous): (Vec3<f64>, Vec3<f64>),
        mut visit: impl FnMut(usize, Vec3<f64>),
    ) {
        self.each_press(
            vertex,
            inertia,
            (y, previous),
            |_| Vec3::ZERO,
            |slot, press| {
                visit(slot, press.normal_force * (1.0 / (1.0 + CONTACT_STIFFNESS)));
            },
        );
    }

    /// The contact of a vertex with each collider that presses on it, or did in the last iteration.
    ///
    /// `inertia` is m/h², in N/m; `normal_force` tells the N of a slot, in N, and `visit` is told the slot and its potential. A
    /// slot is vertex × colliders + collider. Slots that are not visited had no normal force and have none.
    #[inline]
    pub(crate) fn each_press(
        &self,
        vertex: usize,
        inertia: f64,
        (x, previous): (Vec3<f64>, Vec3<f64>),
        normal_force: impl Fn(usize) -> Vec3<f64>,
        mut visit: impl FnMut(usize, PenaltyForce),
    ) {
        for (index, collider) in self.colliders.iter().enumerate() {
            let slot = vertex * self.colliders.len() + index;
            let normal_force = normal_force(slot);
            let touch = collider.touch(x, || previous, self.thickness, self.step);
            let pressed = || (normal_force != Vec3::ZERO).then(|| collider.graze(x, self.step));
            if let Some(touch) = touch.or_else(pressed) {
                let potential = PenaltyPotential {
                    stiffness: Self::stiffness(inertia),
                    normal_force,
                    is_searched: self.is_searched,
                };
                visit(slot, potential.press(&touch, x, previous));
            }
        }
    }
}
