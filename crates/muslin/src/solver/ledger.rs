//! Ledger: the work that pins, moving colliders and wind do on the cloth in a frame, for every solver.
//!
//! ```text
//! W_pins   = Σ ½ (∇E(xⁿ) + ∇E(x))·Δx + ∇D·Δx + ½ m (‖v‖² − ‖vⁿ‖²) − m g·Δx        over led vertices
//! W_bodies = Σ J·s/h                                                              over contacts
//! W_wind   = Σ K·Δx/h                                                             over free vertices
//! ```
//!
//! Each sum runs over the substeps too. Δx is the way of a vertex in a substep, ∇E and ∇D the gradients of elasticity and internal damping at it, J the impulse that a collider
//! gives to a vertex, s how far the surface under it moved in the substep, K the impulse of the wind. A force times the way that its source goes is what the source gives, whatever of
//! it friction or a blow takes; so what the total energy is above its start and this work is energy from nowhere.
//!
//! K·Δx/h with the whole way of the substep is exact for a step that ends with v = (x − xⁿ)/h: ½ m (‖v‖² − ‖vⁿ‖²) + ½ m ‖v − vⁿ‖² = m (v − vⁿ)·v.
//!
//! A pin that holds a rigid constraint feels a force that no energy knows; its work is then not a number, nor is it where long-range constraints, tethers or a strain limit pull at it.
//!
//! What a vertex got stands in a place of its own and is summed in the order of the vertices, so the numbers do not depend on threads. A scene in which nothing moves pays nothing.

use std::ops::Range;

use crate::contact::kinematics::Kinematics;
use crate::math::{Real, Vec3};
use crate::motion::Pose;
use crate::parallel::{Shared, Team, Worker};
use crate::solver::vertex_stages::VertexStore;
use crate::solver::{Context, Term};
use crate::state::{State, Work};

/// A pin that moves a vertex by less than this in a frame, in m, holds it still: positions in single precision are no better.
const STILL: f64 = 1e-8;

/// The same of a velocity, in m/s.
const SLOW: f64 = 1e-6;

/// The books of a frame.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Vertices that pins move.
    led: Vec<LedVertex>,
    /// Made for the first frame in which one moves.
    pinned_corners: Option<PinnedCorners>,
    /// Of colliders with a formula, for each vertex, in J; empty where none moves.
    bodies: Vec<f64>,
    /// Of the wind, for each vertex, in J, and its impulse in this substep, in N·s; empty without wind.
    wind: Vec<f64>,
    kicks: Vec<Vec3<f64>>,
    /// Of pins and of colliders, through contact of cloth with cloth and with meshes, in J.
    through_pairs: [f64; 2],
}

/// A vertex that a pin moves.
#[derive(Clone, Copy, Debug)]
struct LedVertex {
    vertex: u32,
    pin: u32,
    /// Place among the pinned vertices of the model.
    pinned: u32,
    /// x, v and ∇E at the end of the last substep, in m, m/s and N.
    position: Vec3<f64>,
    velocity: Vec3<f64>,
    gradient: Vec3<f64>,
    /// In J.
    work: f64,
}

/// The corners of elements that are at pinned vertices, vertex by vertex.
struct PinnedCorners {
    all: Vec<PinnedCorner>,
    of_pinned: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct PinnedCorner {
    term: u32,
    element: u32,
    corner: u32,
}

impl PinnedCorners {
    fn new(context: &Context<'_>) -> Self {
        let pinned = &context.model.pinned;
        let mut lists = vec![Vec::new(); pinned.len()];
        for (t, term) in context.terms.iter().enumerate() {
            for element in 0..term.element_count() {
                for (corner, &vertex) in term.stencil(element).iter().enumerate() {
                    if let Ok(place) = pinned.binary_search_by_key(&vertex, |pinned| pinned.vertex) {
                        lists[place].push(PinnedCorner {
                            term: t as u32,
                            element: element as u32,
                            corner: corner as u32,
                        });
                    }
                }
            }
        }
        let (mut all, mut of_pinned) = (Vec::new(), Vec::new());
        for list in lists {
            of_pinned.push(all.len()..all.len() + list.len());
            all.extend(list);
        }
        Self { all, of_pinned }
    }
}

impl Ledger {
    /// Begins a frame from `state`, whose `substeps` are of `step` seconds; pins and colliders go as `kinematics` says.
    pub(crate) fn begin(
        &mut self,
        context: &Context<'_>,
        state: &State,
        kinematics: &Kinematics,
        (substeps, step): (u32, f64),
    ) {
        let (model, count) = (context.model, state.positions.len());
        self.through_pairs = [0.0; 2];
        let clear = |works: &mut Vec<f64>, is_open: bool| {
            works.clear();
            works.resize(if is_open { count } else { 0 }, 0.0);
        };
        clear(&mut self.bodies, kinematics.moves_colliders());
        clear(&mut self.wind, model.wind.is_some());
        self.kicks.clear();
        self.kicks.resize(self.wind.len(), Vec3::ZERO);
        self.led.clear();
        for (place, pinned) in model.pinned.iter().enumerate() {
            let vertex = pinned.vertex as usize;
            let (start, velocity) = (state.positions[vertex], state.velocities[vertex]);
            let goes = |substep: u32| {
                let pose = kinematics.pin_poses(substep as usize)[pinned.pin as usize];
                pose.is_some_and(|pose| (pose.apply(model.initial_positions[vertex]) - start).norm() > STILL)
            };
            let is_held = substeps > 0 && kinematics.pin_poses(0)[pinned.pin as usize].is_some();
            if is_held && (velocity.norm() > SLOW || (0..substeps).any(goes)) {
                self.led.push(LedVertex {
                    vertex: pinned.vertex,
                    pin: pinned.pin,
                    pinned: place as u32,
                    position: start,
                    velocity,
                    gradient: Vec3::ZERO,
                    work: 0.0,
                });
            }
        }
        if self.led.is_empty() {
            return;
        }
        let corners = self.pinned_corners.get_or_insert_with(|| PinnedCorners::new(context));
        for led in &mut self.led {
            let at = |vertex: usize| [state.positions[vertex]; 2];
            let range = corners.of_pinned[led.pinned as usize].clone();
            led.gradient = forces_at(context.terms, &corners.all[range], step, &at)[0];
        }
    }

    /// Opens the books to the team.
    pub(crate) fn open<'a>(&'a mut self, context: &Context<'a>, step: f64) -> Books<'a> {
        let team: &'a Team = context.team;
        let model = context.model;
        // A worker gets and sets those of its share of led vertices at the end of a substep, and those of vertices that are its own in the pass.
        Books {
            led: Shared::open(team, &mut self.led),
            pinned_corners: self.pinned_corners.as_ref(),
            bodies: Shared::open(team, &mut self.bodies),
            wind: Shared::open(team, &mut self.wind),
            kicks: Shared::open(team, &mut self.kicks),
            terms: context.terms,
            masses: &model.masses,
            gravity: model.gravity,
            step,
        }
    }

    /// Books what a collider does to a vertex, in J.
    pub(crate) fn add_body(&mut self, vertex: usize, work: f64) {
        if let Some(sum) = self.bodies.get_mut(vertex) {
            *sum += work;
        }
    }

    /// Books what pins and colliders do through contact of pairs, in J.
    pub(crate) fn add_pairs(&mut self, [pins, bodies]: [f64; 2]) {
        self.through_pairs[0] += pins;
        self.through_pairs[1] += bodies;
    }

    /// Whether a pin moves a vertex in the frame.
    pub(crate) fn leads_pins(&self) -> bool {
        !self.led.is_empty()
    }

    /// The work of the frame.
    pub(crate) fn close(&self) -> Work {
        let [pins, bodies] = self.through_pairs;
        Work {
            pins: pins + self.led.iter().map(|led| led.work).sum::<f64>(),
            bodies: bodies + self.bodies.iter().sum::<f64>(),
            wind: self.wind.iter().sum(),
            program: 0.0,
        }
    }
}

/// The books, open to the team during some substeps.
#[derive(Clone, Copy)]
pub(crate) struct Books<'a> {
    led: Shared<'a, LedVertex>,
    pinned_corners: Option<&'a PinnedCorners>,
    bodies: Shared<'a, f64>,
    wind: Shared<'a, f64>,
    kicks: Shared<'a, Vec3<f64>>,
    terms: &'a [Box<dyn Term>],
    masses: &'a [f64],
    gravity: Vec3<f64>,
    /// h, in s.
    step: f64,
}

impl Books<'_> {
    /// Books that a collider whose surface went `surface_step` changes the way of a vertex by `change`, both in m.
    #[inline]
    pub(crate) fn add_body(&self, vertex: usize, change: Vec3<f64>, surface_step: Vec3<f64>) {
        if surface_step != Vec3::ZERO && !self.bodies.is_empty() {
            let work = self.masses[vertex] * change.dot(surface_step) / (self.step * self.step);
            self.bodies.set(vertex, self.bodies.get(vertex) + work);
        }
    }

    /// Books that the wind changes the velocity of a free vertex by `change`, in m/s.
    #[inline]
    pub(crate) fn kick(&self, vertex: usize, change: Vec3<f64>) {
        if !self.kicks.is_empty() {
            self.kicks.set(vertex, change * self.masses[vertex]);
        }
    }

    /// Whether a substep has to be booked at its end.
    pub(crate) fn are_open(&self) -> bool {
        !self.led.is_empty() || !self.kicks.is_empty()
    }

    /// Books the end of a substep, at which nobody moves vertices.
    pub(crate) fn end_substep<R: Real>(
        &self,
        worker: &Worker<'_>,
        vertices: &impl VertexStore<R>,
        pin_poses: &[Option<Pose>],
    ) {
        for i in worker.share(0..self.kicks.len()) {
            let work = self.kicks.get(i).dot(vertices.position(i) - vertices.previous(i)) / self.step;
            self.wind.set(i, self.wind.get(i) + work);
        }
        let Some(corners) = self.pinned_corners else { return };
        for k in worker.share(0..self.led.len()) {
            let led = self.led.get(k);
            if pin_poses[led.pin as usize].is_some() {
                let own = &corners.all[corners.of_pinned[led.pinned as usize].clone()];
                self.led.set(k, self.end_of(led, own, vertices));
            }
        }
    }

    fn end_of<R: Real>(&self, led: LedVertex, corners: &[PinnedCorner], vertices: &impl VertexStore<R>) -> LedVertex {
        let vertex = led.vertex as usize;
        let at = |vertex: usize| [vertices.position(vertex), vertices.previous(vertex)];
        let [gradient, drag] = forces_at(self.terms, corners, self.step, &at);
        let (position, velocity) = (vertices.position(vertex), vertices.velocity(vertex).cast::<f64>());
        let (way, mass) = (position - led.position, self.masses[vertex]);
        let force = (gradient + led.gradient) * 0.5 + drag - self.gravity * mass;
        let kinetic = 0.5 * mass * (velocity.norm_squared() - led.velocity.norm_squared());
        LedVertex { position, velocity, gradient, work: led.work + force.dot(way) + kinetic, ..led }
    }
}

/// ∇E and ∇D at a vertex, in N; `at` tells x and xⁿ of a vertex, in m.
fn forces_at(
    terms: &[Box<dyn Term>],
    corners: &[PinnedCorner],
    step: f64,
    at: &dyn Fn(usize) -> [Vec3<f64>; 2],
) -> [Vec3<f64>; 2] {
    let mut sums = [Vec3::ZERO; 2];
    for corner in corners {
        let forces = terms[corner.term as usize].forces_at(corner.element as usize, corner.corner as usize, step, at);
        sums = [sums[0] + forces[0], sums[1] + forces[1]];
    }
    sums
}
