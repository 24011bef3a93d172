//! Cloth with cloth and with itself, after a solver has made its substep:
//!
//! ```text
//! find     pairs that may come to touch, from time to time: a list is good for many substeps
//! push     pairs that are or would come nearer than the thickness apart, with friction      (energy/pair_contact.rs)
//! hold     the step back, where it still is not certain that nothing passes through anything  (collision/guard.rs)
//! ```
//!
//! Only the last makes the guarantee, and it makes it whatever the solver did: **if no triangles cut each other at the start of a substep, none
//! do at its end, nor in between if vertices move in straight lines.** The argument is in [`Guard`]. What is held back loses its
//! velocity, as in a blow.
//!
//! The guarantee is for the positions as they are stored, in the precision of the solver, and as they are written in single precision: no
//! pair ends nearer than twice what such a rounding moves a vertex, or it has not moved in the substep.
//!
//! What is found does not depend on the age of the list, since a list is never used beyond its reach; so a run that goes on from
//! a snapshot has the same bits.

use std::sync::{Mutex, PoisonError};

use super::script::LIFT_SPEED;
use super::{Context, StepError};
use crate::collision::{Breach, Candidates, Guard, Pair, Search, point_triangle, segment_segment};
use crate::energy::pair_contact::PairContact;
use crate::math::Vec3;
use crate::model::{Model, SelfContact};

/// Sweeps over the contacts in a substep.
const SWEEPS: usize = 4;

/// How many substeps a new list should last, if vertices go on as fast as now.
const LASTS: f64 = 8.0;

/// The part of an edge within which pairs may be looked for so that a list lasts: further, and every list would have the neighbours of
/// all vertices.
const REACH: f64 = 0.4;

/// Edges by which a vertex may come nearer to another in a substep; what is faster than that is cut.
const CAP: f64 = 1.0;

/// Part of the distance that a pair has in the rest shape which counts as too near.
const REST_SHARE: f64 = 0.5;

/// Work is handed out in this many parts, whatever the team.
const PARTS: usize = 16;

/// How a substep with contact went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Separated {
    /// Pairs that were too near or would have been.
    pub(super) contacts: usize,
    /// Vertices that were held back.
    pub(super) held: usize,
}

/// Keeps vertices apart over the substeps of a run.
pub(super) struct Separation {
    search: Search,
    candidates: Candidates,
    /// For each candidate of both lists, in their order: the distance to keep, in m.
    thicknesses: Vec<f64>,
    guard: Guard,
    /// Positions at the start of the substep, in m: exactly those that are stored.
    pub(super) start: Vec<Vec3<f64>>,
    /// Positions at its end, in m, which [`push`](Self::push) and [`hold`](Self::hold) change.
    pub(super) end: Vec<Vec3<f64>>,
    /// In 1/kg; zero for what is led.
    pub(super) inverse_masses: Vec<f64>,
    /// How far `push` has lifted where vertices were, in m.
    pub(super) lifts: Vec<Vec3<f64>>,
    contacts: Vec<PairContact>,
    parts: [Mutex<Vec<PairContact>>; PARTS],
    /// A usual edge, in m.
    edge: f64,
}

impl Separation {
    /// For a model with self-contact.
    pub(super) fn new(model: &Model) -> Option<Self> {
        model.self_contact.as_ref()?;
        let mut lengths: Vec<f64> = model.edges.iter().map(|(_, length)| *length).collect();
        let middle = lengths.len() / 2;
        let edge = if lengths.is_empty() { 1.0 } else { *lengths.select_nth_unstable_by(middle, f64::total_cmp).1 };
        Some(Self {
            search: Search::new(model.masses.len(), &model.triangles),
            candidates: Candidates::default(),
            thicknesses: Vec::new(),
            guard: Guard::new(),
            start: Vec::new(),
            end: Vec::new(),
            inverse_masses: Vec::new(),
            lifts: Vec::new(),
            contacts: Vec::new(),
            parts: std::array::from_fn(|_| Mutex::new(Vec::new())),
            edge,
        })
    }

    /// Pushes apart what is too near.
    pub(super) fn push(&mut self, context: &Context<'_>, step: f64) -> Separated {
        let Some(rules) = &context.model.self_contact else { return Separated::default() };
        self.look(context, rules);
        self.find_contacts(context, rules);
        let Self { contacts, end, lifts, inverse_masses, .. } = self;
        lifts.clear();
        lifts.resize(end.len(), Vec3::ZERO);
        for contact in &*contacts {
            contact.lift(inverse_masses, lifts, LIFT_SPEED * step);
        }
        for (x, lift) in end.iter_mut().zip(&*lifts) {
            *x += *lift;
        }
        for _ in 0..SWEEPS {
            for contact in &mut *contacts {
                contact.project(inverse_masses, end, lifts);
            }
        }
        Separated { contacts: contacts.len(), held: 0 }
    }

    /// Makes sure of the step, whatever has happened to `end` since [`push`](Self::push).
    pub(super) fn hold(&mut self, context: &Context<'_>) -> Result<Separated, StepError> {
        let Some(rules) = &context.model.self_contact else { return Ok(Separated::default()) };
        // It may have been moved farther than the list reaches.
        self.look(context, rules);
        let w = &self.inverse_masses;
        let margin = rounding(&self.start).max(rounding(&self.end));
        let held = self.guard.hold(&self.start, &mut self.end, |vertex| w[vertex] > 0.0, &self.candidates, margin);
        match held {
            Ok(held) => Ok(Separated { contacts: self.contacts.len(), held: held.truncated }),
            Err(breach) => Err(breach_error(context.model, breach)),
        }
    }

    /// Finds the pairs anew if the list does not reach far enough for this substep.
    fn look(&mut self, context: &Context<'_>, rules: &SelfContact) {
        let longest = self.start.iter().zip(&self.end).map(|(x, y)| (*y - *x).norm_squared()).fold(0.0, f64::max).sqrt();
        if !longest.is_finite() {
            return;
        }
        // Beyond the cap the guard cuts motions by how far the list reaches, so that must not depend on its age.
        let cap = rules.thickness + CAP * self.edge;
        let needed = needed_reach(rules.thickness, longest, rounding(&self.start));
        if needed <= cap && self.candidates.reach(&self.start) >= needed {
            return;
        }
        let needed = needed.min(cap);
        let radius = needed.max((needed + 2.0 * LASTS * longest).min(REACH * self.edge));
        let w = &self.inverse_masses;
        self.search.find(
            context.team,
            context.threads,
            &self.start,
            |vertex| w[vertex] > 0.0,
            radius,
            &mut self.candidates,
        );
        let Candidates { vertex_triangle, edge_edge, .. } = &self.candidates;
        let faces = vertex_triangle.iter().map(|pair| rules.distance(context.model, *pair, true));
        let edges = edge_edge.iter().map(|pair| rules.distance(context.model, *pair, false));
        self.thicknesses.clear();
        self.thicknesses.extend(faces.chain(edges).map(|rest| rules.thickness.min(REST_SHARE * rest)));
    }

    /// The pairs that are too near now or at the end of the substep.
    fn find_contacts(&mut self, context: &Context<'_>, rules: &SelfContact) {
        let this = &*self;
        let faces = this.candidates.vertex_triangle.len();
        let count = this.candidates.len();
        context.team.run(context.threads, |worker| {
            for part in worker.share_pieces(PARTS) {
                let mut found = this.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
                found.clear();
                for pair in count * part / PARTS..count * (part + 1) / PARTS {
                    let contact = if pair < faces {
                        this.contact::<1>(this.candidates.vertex_triangle[pair], this.thicknesses[pair], rules)
                    } else {
                        this.contact::<2>(this.candidates.edge_edge[pair - faces], this.thicknesses[pair], rules)
                    };
                    found.extend(contact);
                }
            }
        });
        self.contacts.clear();
        for part in &mut self.parts {
            self.contacts.extend_from_slice(part.get_mut().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// A pair as a contact, if it is one; the first `FIRST` of the vertices are the first's.
    #[inline]
    fn contact<const FIRST: usize>(&self, vertices: [u32; 4], thickness: f64, rules: &SelfContact) -> Option<PairContact> {
        let x = vertices.map(|v| self.start[v as usize]);
        let y = vertices.map(|v| self.end[v as usize]);
        // Most pairs are far apart along an axis.
        if is_beyond::<FIRST>(&x, thickness) && is_beyond::<FIRST>(&y, thickness) {
            return None;
        }
        let [a, b, c, d] = x;
        let closest = if FIRST == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) };
        let end = (0..4).fold(Vec3::ZERO, |sum, k| sum + y[k] * closest.weights[k]);
        let is_near = closest.distance < thickness || closest.normal.dot(end) < thickness;
        is_near.then(|| PairContact {
            vertices,
            weights: closest.weights,
            normal: closest.normal,
            thickness,
            start: closest.normal * closest.distance,
            friction: rules.friction,
            press: 0.0,
            drag: Vec3::ZERO,
        })
    }
}

/// How far a list has to reach for a substep in which no vertex moves by more than `longest`: to all pairs that come as near as the
/// thickness, and then some, since contacts move vertices too.
fn needed_reach(thickness: f64, longest: f64, margin: f64) -> f64 {
    thickness + 2.5 * longest + 16.0 * margin
}

/// How far a vertex is moved at most when positions of this size are rounded to single precision, in m.
fn rounding(positions: &[Vec3<f64>]) -> f64 {
    let size = positions.iter().map(|x| x.x.abs().max(x.y.abs()).max(x.z.abs())).fold(0.0, f64::max);
    // Half a unit along each axis, and as much again for a displacement that is rounded before it is added.
    size * f64::from(f32::EPSILON) * 2.0
}

/// Whether the two are farther apart than `distance` along an axis.
#[inline]
fn is_beyond<const FIRST: usize>(x: &[Vec3<f64>; 4], distance: f64) -> bool {
    let apart = |pick: fn(&Vec3<f64>) -> f64| {
        let bounds = |points: &[Vec3<f64>]| {
            points.iter().map(pick).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
        };
        let ((low_a, high_a), (low_b, high_b)) = (bounds(&x[..FIRST]), bounds(&x[FIRST..]));
        low_a - high_b > distance || low_b - high_a > distance
    };
    apart(|p| p.x) || apart(|p| p.y) || apart(|p| p.z)
}

fn breach_error(model: &Model, breach: Breach) -> StepError {
    let name = |vertex: u32| {
        let (cloth, vertex) = model.user_vertex(vertex as usize);
        format!("{vertex} of cloth \"{cloth}\"")
    };
    let list = |vertices: &[u32]| {
        let numbers = vertices.iter().map(|&v| model.user_vertex(v as usize).1.to_string());
        let (cloth, _) = model.user_vertex(vertices[0] as usize);
        format!("{} of cloth \"{cloth}\"", numbers.collect::<Vec<_>>().join(", "))
    };
    let pair = |pair: Pair| match pair {
        Pair::VertexTriangle([a, rest @ ..]) => format!("vertex {} and the triangle of vertices {}", name(a), list(&rest)),
        Pair::EdgeEdge([a, b, c, d]) => format!("the edges of vertices {} and {}", list(&[a, b]), list(&[c, d])),
    };
    match breach {
        Breach::Touching(found) => StepError::Contact { what: format!("{} touch", pair(found)) },
        Breach::Pair(found) => StepError::Contact { what: format!("{} would pass through each other", pair(found)) },
        Breach::TooFast { vertex, length, reach } => StepError::Contact {
            what: format!("vertex {} is led by {length:.3e} m in one substep, where {reach:.3e} m are safe", name(vertex)),
        },
        Breach::OutOfReach { .. } => StepError::Contact { what: "positions are too large for their rounding".to_owned() },
        Breach::NotFinite(vertex) => StepError::non_finite(model, vertex as usize),
    }
}
