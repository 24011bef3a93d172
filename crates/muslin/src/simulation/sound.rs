//! Whether a frame may be kept: numbers that are finite, and a motion that a cloth can have.
//!
//! A run that has blown up must not end as if nothing had happened, and a soft cloth must not be taken for one. Two things no cloth does:
//!
//! ```text
//! K + E + G − E₀ − W  >  GIVEN (K₀ + E₀ + |G − G₀| + Σ|W| + m g L + ½ Y A ε²)      energy from nowhere, far beyond all there ever was
//! ε  >  MOST_STRAIN,  ε  >  LOADS F/(Y w)  and  ε  >  BLOWS √(2 D/ΣYA)              strain that no load and no blow of the scene explains
//! ```
//!
//! K is kinetic, E elastic and G gravity energy, W the work of pins, colliders and wind; m, L, Y and A are mass, size, stiffness and area of the cloth, ε = 2 % in its floor. F is the weight of all
//! cloths with the push of the wind on them, on a single vertex of the width w of half an edge: the worst way to hang it. D is what was given: the terms of the first line before the floor; all of it in even strain is ε = v/c of a blow, c the speed of sound in the cloth.
//!
//! Pins and colliders that move may pull cloth to any length, and so may a
//! program or a hand; there the second rule says nothing. Neither does for solvers that take no notice of the stiffness of the scene.
//!
//! Whoever restores a state of their own gives what it has: if that is beyond the bound, it counts as given. The state of a run is never beyond, so a run that is resumed is judged as if it had never stopped.

use crate::model::{Model, edge_strain};
use crate::simulation::Simulation;
use crate::solver::{Need, StepError, StepReport};
use crate::state::Work;

/// See above.
const GIVEN: f64 = 10.0;
const MOST_STRAIN: f64 = 5.0;
const LOADS: f64 = 10.0;
const BLOWS: f64 = 2.0;

/// ε of the floor of energies.
const FLOOR_STRAIN: f64 = 0.02;

/// Below this strain the elastic energy is not worth to be summed, unless there is more motion than was given.
const CALM_STRAIN: f64 = 0.5;

/// What was found out about a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct MotionLimits {
    /// m g L + ½ Y A ε², in J; infinite where a material is rigid, or nothing is known of the energy.
    floor: f64,
    /// F/(Y w); infinite where nothing is known of it.
    strain_of_load: f64,
    /// ΣYA, in J.
    stiffness: f64,
}

impl MotionLimits {
    pub(super) fn of(model: &Model, follows_stiffness: bool) -> Self {
        let gravity = model.gravity.norm();
        let (mut floor, mut load, mut stiffness, mut softest) = (0.0, 0.0, 0.0, f64::INFINITY);
        for cloth in &model.cloths {
            let (area, size) = (cloth.mesh.total_area(), cloth.mesh.extent());
            let push = model
                .wind
                .map_or(0.0, |wind| wind.half_density * (wind.drag + wind.lift) * wind.velocity.norm_squared() * area);
            floor += cloth.mass * gravity * size + 0.5 * cloth.stiffness * area * FLOOR_STRAIN * FLOOR_STRAIN;
            load += cloth.mass * gravity + push;
            stiffness += cloth.stiffness * area;
            softest = softest.min(cloth.stiffness);
        }
        let shortest = model.edges.iter().map(|(_, rest)| *rest).fold(f64::INFINITY, f64::min);
        let moves = model.colliders.iter().any(|collider| collider.moves)
            || model.bodies.iter().any(|body| body.moves)
            || model.pins.iter().any(|pin| pin.motion.moves());
        let has_scale = follows_stiffness && softest > 0.0;
        let is_known = has_scale && !moves;
        let strain_of_load = if is_known { load / (softest * 0.5 * shortest) } else { f64::INFINITY };
        Self { floor: if has_scale { floor } else { f64::INFINITY }, strain_of_load, stiffness }
    }
}

impl Simulation {
    /// Whether the frame that the state ends is one to keep.
    pub(super) fn examine(&self, report: &StepReport) -> Result<(), StepError> {
        let (model, state) = (&self.model, &self.state);
        if let Some(index) = state.first_non_finite() {
            return Err(StepError::non_finite(model, index));
        }
        if report.residual.is_nan() {
            return Err(StepError::non_finite(model, 0));
        }
        // What is sewn begins with any strain.
        if self.begins_before(model.settled_by, self.before.time) {
            return Ok(());
        }
        let strains = model.edges.iter().map(|&(edge, rest)| (edge_strain(&state.positions, edge, rest), edge[0]));
        let (strain, strained) = strains.fold((0.0, 0), |most, strain| if strain.0 > most.0 { strain } else { most });
        let kinetic: f64 = state.velocities.iter().zip(&model.masses).map(|(v, m)| 0.5 * m * v.norm_squared()).sum();
        let (energy, given) = self.made_up_beyond(kinetic, strain);
        let is_blown_up = energy > GIVEN * given;
        let is_free = self.interaction.is_idle() && model.forces.is_empty();
        let of_load = self.bounds.strain_of_load;
        let of_blow = (2.0 * self.given() / self.bounds.stiffness).sqrt();
        let is_overstrained = is_free && strain > MOST_STRAIN.max(LOADS * of_load).max(BLOWS * of_blow);
        if !is_blown_up && !is_overstrained {
            return Ok(());
        }
        // An explicit solver knows why.
        let step = 1.0 / (self.fps * f64::from(report.substeps.max(1)));
        if let Some(limit) = report.stable_step.filter(|limit| step > *limit) {
            return Err(StepError::unstable(model, strained as usize, step, limit, report.substeps));
        }
        let (cloth, vertex) = model.user_vertex(strained as usize);
        let cloth = cloth.to_owned();
        let of_load = of_load.max(of_blow);
        Err(if is_blown_up {
            StepError::BlownUp { cloth, vertex, energy, given }
        } else {
            StepError::Overstrained { cloth, vertex, strain, of_load }
        })
    }

    /// What the cloth began with and was given, in J: not a number where the work of a pin is not known.
    fn given(&self) -> f64 {
        let gravity = self.model.gravity_energy(&self.state.positions);
        let fallen = (gravity - (self.start_energy - self.start_stirred)).abs();
        // What cloth has that is sewn, it has lost by then, as the work of a program.
        let (stirred, work) = match self.model.settled_by > 0.0 {
            true => (0.0, Work { program: 0.0, ..self.state.work }),
            false => (self.start_stirred.abs(), self.state.work),
        };
        stirred + fallen + work.size() + self.excess
    }

    /// The energy from nowhere, if it may be far more than was given, and what was; in J.
    fn made_up_beyond(&self, kinetic: f64, strain: f64) -> (f64, f64) {
        let (model, state) = (&self.model, &self.state);
        let gravity = model.gravity_energy(&state.positions);
        let given = self.given() + self.bounds.floor;
        // Work that is not known bounds nothing.
        if !given.is_finite() || strain < CALM_STRAIN && kinetic <= GIVEN * given {
            return (0.0, given);
        }
        let elastic = if self.kind.needs == Need::Nothing { 0.0 } else { self.elastic_energy(&state.positions) };
        (kinetic + elastic + gravity - self.start_energy - state.work.total(), given)
    }

    /// Takes what a state that somebody has restored has beyond the bound for granted.
    pub(super) fn grant(&mut self) {
        let kinetic = self.state.velocities.iter().zip(&self.model.masses);
        let kinetic: f64 = kinetic.map(|(v, m)| 0.5 * m * v.norm_squared()).sum();
        self.excess = 0.0;
        let (energy, given) = self.made_up_beyond(kinetic, f64::INFINITY);
        self.excess = if energy > GIVEN * given { energy } else { 0.0 };
    }
}
