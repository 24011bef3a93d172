//! Diagnostics of a state: energies, strain, speed and gaps, in double precision whatever the solver used.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::contact::{Inspection, PIECES, Surface};
use crate::math::Vec3;
use crate::model::{Model, edge_strain};
use crate::parallel::Team;
use crate::solver::{Term, elastic_energy};
use crate::state::{State, Work};

/// Measurements of one state.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4])).build()?;
/// simulation.advance()?;
/// let diagnostics = simulation.diagnose();
/// assert!((diagnostics.max_speed - 9.81 / 60.0).abs() < 1e-3, "it falls freely");
/// assert!(diagnostics.max_strain < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Diagnostics {
    /// ½ Σ m‖v‖², in J.
    pub kinetic_energy: f64,
    /// Σ ψ over all energies, in J; a rigid constraint stores none, and a solver that does not use them has none.
    pub elastic_energy: f64,
    /// −Σ m g·x, in J, zero at the origin.
    pub gravity_energy: f64,
    /// How far the sum of these stands above that of the start and the work done on the cloth since, in J: 0 or below where energy is only lost, above it where it came from nowhere.
    /// `None` where there is no start to compare with, or where the work of a pin is not known.
    pub energy_error: Option<f64>,
    /// What was done on the cloth since the start.
    pub work: Work,
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
    /// The name of the first number that is not finite, in words.
    pub fn first_non_finite(&self) -> Option<&'static str> {
        let numbers = [
            ("kinetic energy", self.kinetic_energy),
            ("elastic energy", self.elastic_energy),
            ("gravity energy", self.gravity_energy),
            ("largest strain", self.max_strain),
            ("mean strain", self.mean_strain),
            ("largest speed", self.max_speed),
            ("least gap", self.min_gap.unwrap_or(0.0)),
        ];
        numbers.into_iter().find(|(_, number)| !number.is_finite()).map(|(name, _)| name)
    }

    /// Measures a state of a model.
    pub fn measure(model: &Model, terms: &[Box<dyn Term>], state: &State, count_intersections: bool) -> Self {
        Self::measure_with((model, terms), state, count_intersections, (&Team::solo(), 1))
    }

    /// The same with so many threads of a team, on which no result depends.
    pub(crate) fn measure_with(
        (model, terms): (&Model, &[Box<dyn Term>]),
        state: &State,
        count_intersections: bool,
        (team, threads): (&Team, usize),
    ) -> Self {
        let mut gaps = Gaps::NONE;
        gaps.add_colliders(model, state);
        let has_pairs = model.self_contact.is_some() || !model.bodies.is_empty();
        let mut cuts = 0;
        if has_pairs {
            cuts = gaps.add_pairs(model, state, count_intersections, (team, threads));
        } else if count_intersections {
            model.for_each_cut(&state.positions, state.time, true, |_, _| cuts += 1);
        }
        Self { intersections: count_intersections.then_some(cuts), ..Self::of_gaps((model, terms), state, &gaps) }
    }

    /// Measures a state without looking for pairs that are near, which takes most of the time: contacts and gaps are those with
    /// colliders with a formula, and nothing is said about intersections.
    pub fn glance(model: &Model, terms: &[Box<dyn Term>], state: &State) -> Self {
        let mut gaps = Gaps::NONE;
        gaps.add_colliders(model, state);
        Self::of_gaps((model, terms), state, &gaps)
    }

    fn of_gaps((model, terms): (&Model, &[Box<dyn Term>]), state: &State, gaps: &Gaps) -> Self {
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
            elastic_energy: elastic_energy(model, terms, x),
            gravity_energy,
            energy_error: None,
            work: state.work,
            max_strain,
            mean_strain: if model.edges.is_empty() { 0.0 } else { sum_strain / model.edges.len() as f64 },
            max_speed,
            contacts: gaps.contacts,
            min_gap: gaps.least.is_finite().then_some(gaps.least),
            intersections: None,
        }
    }
}

/// How near things are.
#[derive(Clone, Copy)]
struct Gaps {
    contacts: usize,
    least: f64,
}

impl Gaps {
    const NONE: Self = Self { contacts: 0, least: f64::INFINITY };

    /// What touches is left at the thickness to within the rounding of single precision, in m.
    const TOUCHING: f64 = 1e-5;

    /// In thicknesses. Pairs farther apart are many, and of no interest.
    const REACH: f64 = 2.0;

    /// From so many triangles on, several threads look at them: fewer take less time than to wake a thread.
    const SHARED: usize = 512;

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

    /// Farther than this, in m, nothing touches, and nothing is the nearest where a gap is known: nothing is kept farther apart than the thickness, so what is farther away
    /// than that and the known gap is not the nearest.
    fn reach(model: &Model, known: f64) -> f64 {
        // Farther than what touches: only what is nearer than the reach is found.
        model.thickness + known.clamp(0.0, (Self::REACH - 1.0) * model.thickness) + 2.0 * Self::TOUCHING
    }

    /// Cloth with cloth, with itself and with meshes; returns how many triangles of them cut each other, if it `counts_cuts`.
    fn add_pairs(&mut self, model: &Model, state: &State, counts_cuts: bool, (team, threads): (&Team, usize)) -> usize {
        // Known, but not to the last bit: that is for the pair as it is found among all others.
        let some = Self::of_some(model, state).least;
        let start = Self { contacts: 0, least: self.least };
        let reach = |gaps: &Self| Self::reach(model, gaps.least.min(some));
        let matters = |i: usize, j: usize| model.may_touch(i, j);
        let positions = model.all_positions(&state.positions, state.time);
        let reaches = (Self::reach(model, some), reach(&start));
        let inspection = Inspection::new(&model.surface, &positions, reaches, matters, team);
        let threads = if model.surface_triangles().len() < Self::SHARED { 1 } else { threads };
        let sum = Mutex::new((start, 0));
        team.run(threads, |worker| {
            for piece in worker.share_pieces(PIECES) {
                let mut gaps = start;
                let cuts = inspection.look(piece, matters, counts_cuts, reaches.1, |pair, distance| {
                    gaps.add(distance - model.kept_apart(pair));
                    reach(&gaps)
                });
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                sum.0.contacts += gaps.contacts;
                sum.0.least = sum.0.least.min(gaps.least);
                sum.1 += cuts;
            }
        });
        let (gaps, cuts) = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.contacts += gaps.contacts;
        self.least = gaps.least;
        cuts
    }

    /// Of pairs within the first triangles of much cloth, which may be finer than it is thick: then all neighbours are within reach.
    fn of_some(model: &Model, state: &State) -> Self {
        const SOME: usize = 1024;
        let mut gaps = Self::NONE;
        if model.self_contact.is_some() && model.triangles.len() > 8 * SOME {
            let surface = Surface::new(model.triangles[..SOME].to_vec(), state.positions.len());
            let add = |pair, distance| gaps.add(distance - model.kept_apart(pair));
            surface.for_each_near(&state.positions, Self::REACH * model.thickness, |_, _| true, add);
        }
        gaps
    }
}
