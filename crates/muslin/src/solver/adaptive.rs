//! Substeps chosen by the solver, where a scene gives none: from the mesh, the material, the speeds, and the energy that the last frames have made up.
//!
//! ```text
//! n ≥ wanted             what the solver knows: stability of its elements, or a number of its own
//! n ≥ v Δt/(REACH ℓ)     where something can touch: v the largest speed of a vertex and that of a collider, added; ℓ a usual edge
//! ```
//!
//! A frame has two flaws: energy that rises by more than GAIN of the energy scale above the work done in it, since too few substeps show as energy from nowhere (decision 046); and strain beyond a limit,
//! since too few leave cloth stretched where it was pulled or held up. Such a frame is computed again with twice the substeps, while that helps; the fewest that helped are kept. Strain that more
//! substeps do not take away is that of the cloth. The next frames begin with what this one needed, and with fewer once some frames in a row were far better than they have to be.
//!
//! The energy scale is the most that the run has had in motion and in strain so far, or was given in a frame. `pbd` and `shape_matching` take no notice of the stiffness of the scene: for them only the two bounds hold.
//!
//! n is carried in the memory of the state, so a resumed run has the same bits. A scheme that looks back two steps starts anew where n changes, since its steps must be equal.

use crate::math::Vec3;
use crate::model::{Model, middle};
use crate::solver::auto::largest_strain;
use crate::solver::{Context, MOST_SUBSTEPS, Solver, StepError, StepReport, elastic_energy};
use crate::state::{Pace, State, Work};

/// Energy from nowhere in a frame, as a part of the energy scale, beyond which it is computed again.
pub(crate) const GAIN: f64 = 1e-3;

/// A frame computed again has to bring the gain below this part of what it was.
const HELPS: f64 = 0.7;

/// How often a frame is computed again at most, each time with twice the substeps.
const MOST_ATTEMPTS: u32 = 3;

/// Frames in which none is computed again after that was in vain.
const PATIENCE: u32 = 10;

/// Frames in a row that are far better than they have to be, after which n falls by an eighth.
const CALM: u32 = 12;
const CALM_BELOW: f64 = 0.5;

/// Edges by which a vertex may move in a substep where something can touch.
const REACH: f64 = 0.5;

/// A speed that is none, in m/s: rounding of positions in single precision, over the length of a short step.
const STILL: f64 = 1e-4;

/// Over what the two bounds ask for at most.
const MOST_GROWTH: u32 = 16;

/// What a solver is told and asked to choose its substeps.
pub(crate) trait Paced: Solver {
    /// Substeps of the next frame.
    fn set_substeps(&mut self, substeps: u32);

    /// How many it wants for a frame of `dt` seconds from a state, from what it knows of itself.
    fn wanted_substeps(&mut self, context: &Context<'_>, state: &State, dt: f64) -> u32;

    /// Whether the strain that the last frame left is that of the cloth, which more substeps would not change.
    fn leaves_true_strain(&self) -> bool {
        false
    }

    /// Whether it can be made to, by [`raised`](Self::raised) substeps.
    fn can_leave_true_strain(&self) -> bool {
        false
    }

    /// With how many substeps to compute a frame again, after so many attempts of which the last had `substeps`.
    fn raised(&self, substeps: u32, _attempts: u32) -> u32 {
        2 * substeps
    }
}

/// A solver that chooses its substeps.
pub(crate) struct Adaptive {
    inner: Box<dyn Paced>,
    /// Whether the energies of the scene say something about it.
    follows_energies: bool,
    /// The strain that a frame is computed again for, where there is such a limit.
    max_strain: Option<f64>,
    /// Where the frame began, and the best that was made of it.
    before: State,
    good: State,
    /// A usual edge, in m, and whether something can touch.
    edge: Option<(f64, bool)>,
    /// Whether the last frame was left beyond the limit of strain, and more substeps would not change that.
    strained_by_load: bool,
}

impl Adaptive {
    /// A solver whose frames are computed again for energy from nowhere, and for a strain beyond a limit.
    pub(crate) fn within_strain(inner: Box<dyn Paced>, max_strain: f64) -> Self {
        Self { follows_energies: true, max_strain: Some(max_strain), ..Self::unaware(inner) }
    }

    /// A solver that takes no notice of the stiffness of the scene: energies and strains say nothing of it.
    pub(crate) fn unaware(inner: Box<dyn Paced>) -> Self {
        let empty = State::empty();
        Self {
            inner,
            follows_energies: false,
            max_strain: None,
            before: empty.clone(),
            good: empty,
            edge: None,
            strained_by_load: false,
        }
    }

    fn flaws(&self, context: &Context<'_>, state: &State, gain: f64) -> Flaws {
        let strain = self.max_strain.map_or(0.0, |limit| largest_strain(context, &state.positions) / limit);
        Flaws { gain: gain / GAIN, strain, is_true_strain: self.inner.leaves_true_strain() }
    }

    /// Whether the last frame was left beyond the limit of strain, as the load strains the cloth: more substeps would not change that.
    pub(crate) fn is_strained_by_load(&self) -> bool {
        self.strained_by_load
    }

    /// The fewest substeps of a frame from a state.
    fn fewest(&mut self, context: &Context<'_>, state: &State, dt: f64) -> u32 {
        let wanted = self.inner.wanted_substeps(context, state, dt);
        let (edge, can_touch) = *self.edge.get_or_insert_with(|| (usual_edge(context.model), can_touch(context.model)));
        let speed = state.velocities.iter().map(|v| v.norm_squared()).fold(0.0, f64::max).sqrt();
        // A fall from rest is fast at its end.
        let reached = speed + context.model.gravity.norm() * dt + led_speed(context.model, state, dt);
        let followed = if can_touch { (reached * dt / (REACH * edge)).ceil() } else { 1.0 };
        wanted.max(followed.min(MOST_SUBSTEPS as f64) as u32).clamp(1, MOST_SUBSTEPS as u32)
    }
}

impl Solver for Adaptive {
    fn unsolved(&self) -> Option<f64> {
        self.inner.unsolved()
    }

    fn advance(&mut self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<StepReport, StepError> {
        let fewest = self.fewest(context, state, dt);
        let mut pace = state.memory.pace().unwrap_or(Pace { substeps: fewest, ..Pace::default() });
        let most = fewest.saturating_mul(MOST_GROWTH).min(MOST_SUBSTEPS as u32);
        let mut substeps = pace.substeps.clamp(fewest, most);
        self.before.copy_from(state);
        let start = self.energy(context, state);
        let (mut best, mut attempts): (Option<Outcome>, _) = (None, 0);
        let mut sum = StepReport::default();
        let Outcome { report, flaws, asked } = loop {
            let asked = substeps;
            state.copy_from(&self.before);
            state.memory.unwrap_pace(asked);
            self.inner.set_substeps(asked);
            let may_repeat = attempts < MOST_ATTEMPTS && substeps < most;
            attempts += 1;
            let outcome = self.inner.advance(context, state, dt);
            substeps = self.inner.raised(substeps, attempts).min(most);
            let report = match (outcome, best) {
                (Ok(report), _) => report,
                // More of them may do; what is in the way of all of them says so in the end.
                (Err(_), None) if may_repeat => continue,
                (Err(error), None) => {
                    state.copy_from(&self.before);
                    return Err(error);
                }
                (Err(_), Some(best)) => {
                    state.copy_from(&self.good);
                    break best;
                }
            };
            sum.stages += report.stages;
            sum.iterations = sum.iterations.saturating_add(report.iterations);
            let end = self.energy(context, state);
            pace.scale = pace.scale.max(end.stirred).max(start.stirred).max(report.work.size());
            let work = report.work.total();
            let made_up = if work.is_finite() { end.total - start.total - work } else { 0.0 };
            let gain = made_up / pace.scale.max(still_energy(context.model)).max(f64::MIN_POSITIVE);
            let flaws = self.flaws(context, state, gain);
            let (kept, is_better) = match best {
                Some(best) if !best.flaws.is_mended_by(flaws) => (best, false),
                _ => (Outcome { report, flaws, asked }, true),
            };
            // Energy has a second chance: contact is noisy.
            let truth = self.inner.can_leave_true_strain();
            if may_repeat && pace.may_be_better(kept.flaws, is_better || truth, is_better || attempts < 3) {
                if is_better {
                    self.good.copy_from(state);
                }
                best = Some(kept);
                continue;
            }
            if !is_better {
                state.copy_from(&self.good);
                pace.give_up(kept.flaws);
            }
            break kept;
        };
        self.strained_by_load = flaws.strain > 1.0 && flaws.is_true_strain;
        pace.settle(asked, flaws, fewest);
        state.memory.wrap_pace(pace, asked);
        Ok(StepReport { stages: sum.stages, iterations: sum.iterations, ..report })
    }
}

impl Adaptive {
    fn energy(&self, context: &Context<'_>, state: &State) -> EnergySum {
        if self.follows_energies { EnergySum::of(context, state) } else { EnergySum::default() }
    }
}

/// The energies of a state, in J.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnergySum {
    total: f64,
    /// In motion and in strain.
    stirred: f64,
}

impl EnergySum {
    /// Measures them.
    pub(crate) fn of(context: &Context<'_>, state: &State) -> Self {
        let model = context.model;
        let elastic = elastic_energy(model, context.terms, &state.positions);
        let (mut kinetic, mut height) = (0.0, 0.0);
        for ((x, v), mass) in state.positions.iter().zip(&state.velocities).zip(&model.masses) {
            kinetic += 0.5 * mass * v.norm_squared();
            height -= mass * model.gravity.dot(*x);
        }
        Self { total: kinetic + elastic + height, stirred: kinetic + elastic }
    }

    /// What a frame from here to `end`, in which so much work was done, has made up, as a part of an energy scale of at least `least`, in J; where the work is known.
    pub(crate) fn made_up(&self, end: &Self, work: Work, least: f64) -> Option<f64> {
        let made_up = end.total - self.total - work.total();
        let scale = self.stirred.max(end.stirred).max(work.size()).max(least).max(f64::MIN_POSITIVE);
        (!made_up.is_nan()).then_some(made_up / scale)
    }
}

/// A frame as it was computed.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    report: StepReport,
    flaws: Flaws,
    /// The substeps that the solver was told, of which it may have made more.
    asked: u32,
}

/// How far a frame is beyond what it may be: at most 1 is good enough.
#[derive(Clone, Copy, Debug, Default)]
struct Flaws {
    /// Energy from nowhere.
    gain: f64,
    strain: f64,
    /// More substeps would not change the strain.
    is_true_strain: bool,
}

impl Flaws {
    /// The strain, as far as more substeps may bring it down.
    fn curable_strain(self) -> f64 {
        if self.is_true_strain { 0.0 } else { self.strain }
    }

    /// Whether a frame with more substeps is worth it. Less strain is not, where it costs energy from nowhere.
    fn is_mended_by(self, after: Self) -> bool {
        let mended = |before: f64, after: f64| before > 1.0 && after <= HELPS * before;
        let is_truer = after.is_true_strain && self.curable_strain() > 1.0;
        mended(self.gain, after.gain)
            || (mended(self.strain, after.strain) || is_truer) && after.gain <= self.gain.max(1.0)
    }
}

impl Pace {
    /// Whether a frame with such flaws at best should be computed again with more substeps: whether there is hope for the strain, and for the energy.
    ///
    /// The two flaws are apart, since cloth may be strained by rights, which must not hide energy from nowhere.
    fn may_be_better(&self, flaws: Flaws, strain_may_fall: bool, energy_may_fall: bool) -> bool {
        let energy = flaws.gain > 1.0 && self.patience == 0;
        let strain = flaws.curable_strain() > 1.0 && self.strain_patience == 0;
        energy && energy_may_fall || strain && strain_may_fall
    }

    /// Leaves the flaws that stay alone for some frames.
    fn give_up(&mut self, flaws: Flaws) {
        if flaws.gain > 1.0 {
            self.patience = PATIENCE;
        }
        if flaws.curable_strain() > 1.0 {
            self.strain_patience = PATIENCE;
        }
    }

    /// Takes over how a frame went that was accepted with so many substeps.
    fn settle(&mut self, substeps: u32, flaws: Flaws, fewest: u32) {
        self.substeps = substeps;
        // A strain that more substeps do not change is that of the cloth.
        let strain = if self.strain_patience > 0 { 0.0 } else { flaws.curable_strain() };
        self.calm = if flaws.gain.max(strain) <= CALM_BELOW { self.calm + 1 } else { 0 };
        self.patience = self.patience.saturating_sub(1);
        self.strain_patience = self.strain_patience.saturating_sub(1);
        if self.calm >= CALM {
            self.calm = 0;
            self.substeps = (substeps - substeps / 8).max(fewest);
        }
    }
}

/// The largest speed at which a collider, or the space that turns with it, moves through the box around the cloths in a frame of `dt` seconds, in m/s.
fn led_speed(model: &Model, state: &State, dt: f64) -> f64 {
    // A path may turn back within a frame.
    const PIECES: usize = 8;
    let time = |k: usize| state.time + dt * (k as f64 / PIECES as f64);
    let pieces = || (0..PIECES).map(|k| [time(k), time(k + 1)]);
    let inverse = PIECES as f64 / dt;
    // How far a point is carried is the norm of an affine function of where it is: greatest at a corner.
    let corners = corners_around(&state.positions);
    // A program may lead one whose path stands still.
    let moving = model.colliders.iter().filter(|collider| collider.moves || collider.motion.is_led());
    let solids = moving.flat_map(|collider| {
        let motion = &collider.motion;
        pieces().map(|[from, to]| {
            let (before, after) = (motion.pose(from), motion.pose(to));
            let carried = |x: Vec3<f64>| (after.apply(before.undo(x)) - x).norm();
            corners.into_iter().map(carried).fold(0.0, f64::max) * inverse
        })
    });
    let bodies = model.bodies.iter().map(|body| {
        let at = |time: f64| {
            let mut positions = Vec::new();
            body.extend_positions(time, &mut positions);
            positions
        };
        let ways = at(state.time).into_iter().zip(at(state.time + dt)).map(|(x, y)| (y - x).norm());
        ways.fold(0.0, f64::max) / dt
    });
    solids.chain(bodies).filter(|speed| speed.is_finite()).fold(0.0, f64::max)
}

/// The corners of the box along the axes around some points, in m.
fn corners_around(points: &[Vec3<f64>]) -> [Vec3<f64>; 8] {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points.iter().map(|point| point.to_array()) {
        low = std::array::from_fn(|axis| point[axis].min(low[axis]));
        high = std::array::from_fn(|axis| point[axis].max(high[axis]));
    }
    let side = |corner: usize, axis: usize| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] };
    std::array::from_fn(|corner| Vec3::new(side(corner, 0), side(corner, 1), side(corner, 2)))
}

/// The least energy scale, in J: cloth slower than STILL is at rest, and what its energy does is rounding.
fn still_energy(model: &Model) -> f64 {
    model.cloths.iter().map(|cloth| cloth.mass).sum::<f64>() * (STILL * STILL)
}

/// The edge in the middle, in m.
fn usual_edge(model: &Model) -> f64 {
    middle(model.edges.iter().map(|(_, length)| *length)).unwrap_or(1.0)
}

/// Whether cloth can touch anything.
fn can_touch(model: &Model) -> bool {
    model.self_contact.is_some() || !model.bodies.is_empty() || !model.colliders.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALMLY: Flaws = Flaws { gain: -0.1, strain: 0.0, is_true_strain: false };

    #[test]
    fn substeps_fall_after_some_calm_frames_but_not_below_the_fewest() {
        let mut pace = Pace { substeps: 80, ..Pace::default() };
        (0..CALM).for_each(|_| pace.settle(80, CALMLY, 20));
        assert_eq!(pace.substeps, 70);
        (0..CALM).for_each(|_| pace.settle(22, CALMLY, 21));
        assert_eq!(pace.substeps, 21);
        (0..CALM).for_each(|_| pace.settle(80, Flaws { gain: 0.9, strain: 0.0, is_true_strain: false }, 20));
        assert_eq!(pace.substeps, 80, "no calm");
    }

    #[test]
    fn strain_that_stays_does_not_hide_energy_from_nowhere() {
        let mut pace = Pace::default();
        let strained = Flaws { gain: 0.0, strain: 5.0, is_true_strain: false };
        assert!(pace.may_be_better(strained, true, true));
        assert!(!pace.may_be_better(strained, false, true), "one more was in vain");
        pace.give_up(strained);
        assert!(!pace.may_be_better(strained, true, true), "nor in the next frame");
        let gaining = Flaws { gain: 2.0, ..strained };
        assert!(pace.may_be_better(gaining, true, true), "energy is another reason");
        assert!(!pace.may_be_better(gaining, true, false));
        (0..PATIENCE).for_each(|_| pace.settle(40, strained, 20));
        assert!(pace.may_be_better(strained, true, true), "and it may help later");
    }

    #[test]
    fn a_frame_computed_again_is_kept_where_it_helped() {
        let before = Flaws { gain: 100.0, strain: 5.0, is_true_strain: false };
        assert!(before.is_mended_by(Flaws { gain: 2.0, strain: 5.5, ..before }));
        assert!(!before.is_mended_by(Flaws { gain: 99.0, ..before }));
        let strained = Flaws { gain: 0.1, strain: 5.0, is_true_strain: false };
        assert!(strained.is_mended_by(Flaws { gain: 0.1, strain: 2.0, ..before }));
        assert!(!strained.is_mended_by(Flaws { gain: 7.0, strain: 2.0, ..before }), "not for energy");
        let true_strain = Flaws { gain: 0.1, strain: 5.0, is_true_strain: true };
        assert!(strained.is_mended_by(true_strain), "it is that of the cloth");
        assert!(!true_strain.is_mended_by(true_strain));
    }

    #[test]
    fn the_speed_of_a_collider_is_that_of_its_points_near_the_cloth() {
        let corners = corners_around(&[Vec3::new(-1.0, 2.0, 0.5), Vec3::new(3.0, -1.0, 0.0)]);
        assert_eq!(corners[0], Vec3::new(-1.0, -1.0, 0.0));
        assert_eq!(corners[7], Vec3::new(3.0, 2.0, 0.5));
    }
}
