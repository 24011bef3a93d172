//! How good a state is: energies, strain, speed and gaps, in double precision whatever the solver used.

use serde::Serialize;

use crate::collision::Surface;
use crate::math::Vec3;
use crate::model::Model;
use crate::state::State;

/// Measurements of one state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Diagnostics {
    /// ½ Σ m‖v‖², in J.
    pub kinetic_energy: f64,
    /// Σ ψ over all energies, in J; a rigid constraint stores none, and a solver that does not use them has none.
    pub elastic_energy: f64,
    /// −Σ m g·x, in J, zero at the origin.
    pub gravity_energy: f64,
    /// Largest |length / rest length − 1| of an edge.
    pub max_strain: f64,
    /// Mean of the same over all edges.
    pub mean_strain: f64,
    /// Speed of the fastest vertex, in m/s.
    pub max_speed: f64,
    /// Vertices that rest on a collider with a formula; and with meshes, or with self-contact, the pairs of a vertex and a triangle or of two edges that
    /// are no farther apart than they are kept.
    pub contacts: usize,
    /// The least distance less the thickness, in m: of a vertex and a collider with a formula, and of pairs, where those within twice the
    /// thickness are looked at; `None` where there is nothing to look at.
    pub min_gap: Option<f64>,
    /// Pairs of triangles that cut each other: of a cloth and a mesh, and with self-contact of cloths; `None` without either.
    pub intersections: Option<usize>,
}

impl Diagnostics {
    /// Measures a state of a model.
    pub fn measure(model: &Model, state: &State, count_intersections: bool) -> Self {
        let mut gaps = Gaps { contacts: 0, least: f64::INFINITY };
        gaps.add_colliders(model, state);
        gaps.add_pairs(model, state);
        Self {
            intersections: count_intersections.then(|| intersections(model, state)),
            ..Self::of_gaps(model, state, &gaps)
        }
    }

    /// Measures a state without looking for pairs that are near, which costs as much as a step does: contacts and gaps are those with
    /// colliders with a formula, and nothing is said about intersections.
    pub fn glance(model: &Model, state: &State) -> Self {
        let mut gaps = Gaps { contacts: 0, least: f64::INFINITY };
        gaps.add_colliders(model, state);
        Self::of_gaps(model, state, &gaps)
    }

    fn of_gaps(model: &Model, state: &State, gaps: &Gaps) -> Self {
        let x = &state.positions;
        let (mut max_strain, mut sum_strain) = (0.0_f64, 0.0);
        for &([a, b], rest) in &model.edges {
            let strain = edge_strain(x, [a, b], rest);
            max_strain = max_strain.max(strain);
            sum_strain += strain;
        }
        let (mut kinetic_energy, mut gravity_energy, mut max_speed) = (0.0, 0.0, 0.0_f64);
        for ((x, v), &mass) in x.iter().zip(&state.velocities).zip(&model.masses) {
            kinetic_energy += 0.5 * mass * v.norm_squared();
            gravity_energy -= mass * model.gravity.dot(*x);
            max_speed = max_speed.max(v.norm());
        }
        Self {
            kinetic_energy,
            elastic_energy: model.elastic_energy(x),
            gravity_energy,
            max_strain,
            mean_strain: if model.edges.is_empty() { 0.0 } else { sum_strain / model.edges.len() as f64 },
            max_speed,
            contacts: gaps.contacts,
            min_gap: gaps.least.is_finite().then_some(gaps.least),
            intersections: None,
        }
    }
}

/// |length / rest length − 1| of an edge.
pub(crate) fn edge_strain(x: &[Vec3<f64>], [a, b]: [u32; 2], rest: f64) -> f64 {
    ((x[b as usize] - x[a as usize]).norm() / rest - 1.0).abs()
}

fn intersections(model: &Model, state: &State) -> usize {
    // A scene without meshes is only counted where cloth is kept from cloth.
    let self_contact = model.self_contact.is_some() || model.bodies.is_empty();
    let mut count = 0;
    model.for_each_cut(&state.positions, state.time, self_contact, |_, _| count += 1);
    count
}

/// How near things are.
struct Gaps {
    contacts: usize,
    least: f64,
}

impl Gaps {
    /// What touches is left at the thickness to within the rounding of single precision, in m.
    const TOUCHING: f64 = 1e-5;

    /// In thicknesses. Pairs farther apart are many, and of no interest.
    const REACH: f64 = 2.0;

    fn add(&mut self, gap: f64) {
        self.contacts += usize::from(gap <= Self::TOUCHING);
        self.least = self.least.min(gap);
    }

    /// Vertices and colliders with a formula.
    fn add_colliders(&mut self, model: &Model, state: &State) {
        let solids: Vec<_> = model.colliders.iter().map(|c| c.solid.posed(&c.motion.pose(state.time))).collect();
        let distance = |x: &Vec3<f64>| solids.iter().map(|s| s.probe(*x).distance).fold(f64::INFINITY, f64::min);
        // A vertex of no triangle is not cloth.
        let cloth = state.positions.iter().zip(&model.masses).filter(|(_, mass)| **mass > 0.0);
        cloth.for_each(|(x, _)| self.add(distance(x) - model.thickness));
    }

    /// Cloth with cloth, with itself and with meshes.
    fn add_pairs(&mut self, model: &Model, state: &State) {
        if model.self_contact.is_none() && model.bodies.is_empty() {
            return;
        }
        // Nothing is kept farther apart than the thickness, so what is farther away than that and the gap of some pair is not the nearest.
        let some = Self::of_some(model, state).least.clamp(0.0, (Self::REACH - 1.0) * model.thickness);
        // Farther than what touches: only what is nearer than the reach is found.
        let reach = model.thickness + some + 2.0 * Self::TOUCHING;
        model.for_each_near((&state.positions, state.time), reach, |pair, distance| {
            self.add(distance - model.kept_apart(pair));
        });
    }

    /// Of pairs within the first triangles of much cloth, which may be finer than it is thick: then all neighbours are within reach.
    fn of_some(model: &Model, state: &State) -> Self {
        const SOME: usize = 1024;
        let mut gaps = Self { contacts: 0, least: f64::INFINITY };
        if model.self_contact.is_some() && model.triangles.len() > 8 * SOME {
            let surface = Surface::new(model.triangles[..SOME].to_vec(), state.positions.len());
            let add = |pair, distance| gaps.add(distance - model.kept_apart(pair));
            surface.for_each_near(&state.positions, Self::REACH * model.thickness, |_, _| true, add);
        }
        gaps
    }
}
