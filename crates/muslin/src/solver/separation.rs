//! Cloth with cloth, with itself and with bodies that are meshes, after a solver has made its substep:
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
//! Vertices of bodies stand behind those of all cloths and go where they are led. Where something is led farther in a substep than lists
//! should reach, the substep is held in pieces: everything moves a part of its straight way, and each part is made sure of by itself.
//!
//! What is found does not depend on the age of the list, since a list is never used beyond its reach; so a run that goes on from
//! a snapshot has the same bits.

use std::sync::{Mutex, PoisonError};

use super::script::LIFT_SPEED;
use super::{Context, StepError};
use crate::collision::{Breach, Candidates, Guard, Pair, Search, point_triangle, segment_segment};
use crate::energy::pair_contact::PairContact;
use crate::math::Vec3;
use crate::model::Model;

/// Sweeps over the contacts in a substep.
const SWEEPS: usize = 4;

/// How many substeps a new list should last, if vertices go on as fast as now.
const LASTS: f64 = 8.0;

/// The part of an edge within which pairs may be looked for so that a list lasts: further, and every list would have the neighbours of
/// all vertices.
const REACH: f64 = 0.4;

/// Edges by which a vertex may come nearer to another in a substep; what is faster than that is cut.
const CAP: f64 = 1.0;

/// The same, and how much farther than they have to lists reach at least, where only bodies are looked for: few vertices have any near.
const CAP_ACROSS: f64 = 4.0;
const ACROSS: f64 = 1.3;

/// The most pieces that a substep is held in: for what is led, and for what is free, which is cut beyond.
const MOST_PIECES: f64 = 1024.0;
const MOST_FREE_PIECES: f64 = 8.0;

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
    /// Edges by which a list reaches beyond the thickness, at most.
    cap: f64,
    /// Whether only pairs of cloth and bodies are looked for.
    is_across: bool,
    /// Vertices of cloths.
    cloth: usize,
    /// Where the vertices of bodies are at the end of the substep, in m.
    led: Vec<Vec3<f64>>,
    /// The ends of the whole substep, while it is held in pieces, and its start.
    whole: Vec<Vec3<f64>>,
    origin: Vec<Vec3<f64>>,
}

impl Separation {
    /// For a model with self-contact or with bodies that are meshes.
    pub(super) fn new(model: &Model) -> Option<Self> {
        if model.self_contact.is_none() && model.bodies.is_empty() {
            return None;
        }
        let mut lengths: Vec<f64> = model.edges.iter().map(|(_, length)| *length).collect();
        let middle = lengths.len() / 2;
        let edge = if lengths.is_empty() { 1.0 } else { *lengths.select_nth_unstable_by(middle, f64::total_cmp).1 };
        let cloth = model.masses.len();
        let count = model.bodies.last().map_or(cloth, |body| body.vertices.end);
        let triangles = model.surface_triangles();
        let search = match &model.self_contact {
            Some(_) if model.bodies.is_empty() => Search::new(count, &triangles),
            Some(_) => Search::with_bodies(count, &triangles, cloth as u32),
            None => Search::across(count, &triangles, cloth as u32),
        };
        Some(Self {
            search,
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
            cap: if model.self_contact.is_some() { CAP } else { CAP_ACROSS },
            is_across: model.self_contact.is_none(),
            cloth,
            led: Vec::new(),
            whole: Vec::new(),
            origin: Vec::new(),
        })
    }

    /// Begins a frame at `time`, in s, with the cloths at `positions`, in m.
    pub(super) fn begin(&mut self, model: &Model, positions: &[Vec3<f64>], time: f64) {
        self.start.clear();
        self.start.extend_from_slice(positions);
        model.bodies.iter().for_each(|body| body.extend_positions(time, &mut self.start));
    }

    /// Begins a substep that ends at `time`, in s.
    pub(super) fn lead(&mut self, model: &Model, time: f64) {
        self.led.clear();
        model.bodies.iter().for_each(|body| body.extend_positions(time, &mut self.led));
    }

    /// Puts the bodies behind the cloths in what the caller has set.
    fn complete(&mut self) {
        self.end.truncate(self.cloth);
        self.end.extend_from_slice(&self.led);
        self.inverse_masses.truncate(self.cloth);
        self.inverse_masses.resize(self.end.len(), 0.0);
    }

    /// Pushes apart what is too near.
    pub(super) fn push(&mut self, context: &Context<'_>, step: f64) -> Separated {
        self.complete();
        self.look(context);
        self.find_contacts(context);
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
        self.complete();
        let contacts = self.contacts.len();
        let pieces = self.pieces(context.model)?;
        let held = if pieces > 1 { self.hold_pieces(context, pieces) } else { self.hold_piece(context) }?;
        self.start[self.cloth..].copy_from_slice(&self.led);
        Ok(Separated { contacts, held })
    }

    /// In how many pieces a substep has to be held so that lists of a usual reach will do.
    fn pieces(&self, model: &Model) -> Result<u32, StepError> {
        let Longest { free, led, fastest } = self.longest();
        if !free.is_finite() || !led.is_finite() {
            return Ok(1);
        }
        let most = self.cap * self.edge;
        let count = (self.needed_reach(0.0, free.max(led), led, 0.0) / most).ceil();
        let of_led = (self.needed_reach(0.0, led, led, 0.0) / most).ceil();
        if of_led > MOST_PIECES {
            let safe = led * MOST_PIECES / of_led;
            let name = name_of(model, fastest);
            return Err(StepError::Contact {
                what: format!("vertex {name} is led by {led:.3e} m in one substep, where {safe:.3e} m are safe"),
            });
        }
        // With self-contact, free vertices are cut at the reach of a list: to look for all pairs again and again takes too long.
        let of_free = if model.self_contact.is_some() { 1.0 } else { count.min(MOST_FREE_PIECES) };
        Ok(of_led.max(of_free).max(1.0) as u32)
    }

    /// Makes sure of a substep piece by piece; how many vertices were held back in the last.
    fn hold_pieces(&mut self, context: &Context<'_>, pieces: u32) -> Result<usize, StepError> {
        self.whole.clone_from(&self.end);
        self.origin.clone_from(&self.start);
        let mut outcome = Ok(0);
        for piece in 0..pieces {
            // The last piece ends at the very end.
            let (part, rest) = (f64::from(piece + 1) / f64::from(pieces), 1.0 / f64::from(pieces - piece));
            for (i, end) in self.end.iter_mut().enumerate() {
                *end = if piece + 1 == pieces {
                    self.whole[i]
                } else if self.inverse_masses[i] > 0.0 {
                    self.start[i] + (self.whole[i] - self.start[i]) * rest
                } else {
                    self.origin[i] + (self.whole[i] - self.origin[i]) * part
                };
            }
            outcome = self.hold_piece(context);
            if outcome.is_err() {
                break;
            }
            self.start.copy_from_slice(&self.end);
        }
        std::mem::swap(&mut self.start, &mut self.origin);
        outcome
    }

    /// Makes sure of the way from `start` to `end`; how many vertices were held back.
    fn hold_piece(&mut self, context: &Context<'_>) -> Result<usize, StepError> {
        // It may have been moved farther than the list reaches.
        let most = self.look(context);
        let w = &self.inverse_masses;
        let margin = self.margin();
        let movable = |vertex: usize| w[vertex] > 0.0;
        let held = self.guard.hold_within(&self.start, &mut self.end, movable, &self.candidates, margin, most);
        match held {
            Ok(held) => Ok(held.truncated),
            Err(breach) => Err(breach_error(context.model, breach)),
        }
    }

    /// How far the vertices of cloths are moved when they are stored, in m. Bodies are not: one that is far away or very large takes
    /// nothing from the accuracy.
    fn margin(&self) -> f64 {
        rounding(&self.start[..self.cloth]).max(rounding(&self.end[..self.cloth]))
    }

    /// How far a list has to reach for a substep in which no vertex moves by more than `longest`, and none is led by more than `led`: to
    /// all pairs that come as near as the thickness, and then some, since contacts move vertices too, and what is led into a corner
    /// moves them farther than itself. Two free vertices come together by twice as much as a free one and a body.
    fn needed_reach(&self, thickness: f64, longest: f64, led: f64, margin: f64) -> f64 {
        let of_two = if self.is_across { 1.25 } else { 2.5 };
        thickness + of_two * longest + 2.5 * led + 16.0 * margin
    }

    /// How far vertices move, at most.
    fn longest(&self) -> Longest {
        let mut longest = Longest { free: 0.0, led: 0.0, fastest: 0 };
        for (i, (x, y)) in self.start.iter().zip(&self.end).enumerate() {
            let length = (*y - *x).norm_squared();
            let is_free = self.inverse_masses[i] > 0.0;
            if !is_free && length > longest.led {
                longest.fastest = i as u32;
            }
            let of_kind = if is_free { &mut longest.free } else { &mut longest.led };
            // Keeps NaN.
            *of_kind = if length > *of_kind || length.is_nan() { length } else { *of_kind };
        }
        Longest { free: longest.free.sqrt(), led: longest.led.sqrt(), ..longest }
    }

    /// Finds the pairs anew if the list does not reach far enough from `start` to `end`; returns how far it has to.
    fn look(&mut self, context: &Context<'_>) -> f64 {
        let (model, thickness) = (context.model, context.model.thickness);
        let Longest { free, led, .. } = self.longest();
        let longest = free.max(led);
        if !free.is_finite() || !led.is_finite() {
            return f64::INFINITY;
        }
        // Beyond the cap the guard cuts motions by how far the list reaches, so that must not depend on its age.
        let cap = thickness + self.cap * self.edge;
        let needed = self.needed_reach(thickness, longest, led, self.margin());
        if needed <= cap && self.candidates.reach(&self.start) >= needed {
            return needed;
        }
        let needed = needed.min(cap);
        let least = if self.is_across { ACROSS * needed } else { needed };
        let radius = least.max((needed + 2.0 * LASTS * longest).min(REACH * self.edge));
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
        let rest = |pair: &[u32; 4], is_vertex_triangle: bool| match &model.self_contact {
            Some(rules) => rules.distance(model, *pair, is_vertex_triangle),
            None => f64::INFINITY,
        };
        let faces = vertex_triangle.iter().map(|pair| rest(pair, true));
        let edges = edge_edge.iter().map(|pair| rest(pair, false));
        self.thicknesses.clear();
        self.thicknesses.extend(faces.chain(edges).map(|rest| thickness.min(REST_SHARE * rest)));
        needed
    }

    /// The pairs that are too near now or at the end of the substep.
    fn find_contacts(&mut self, context: &Context<'_>) {
        let model = context.model;
        let this = &*self;
        let faces = this.candidates.vertex_triangle.len();
        let count = this.candidates.len();
        context.team.run(context.threads, |worker| {
            for part in worker.share_pieces(PARTS) {
                let mut found = this.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
                found.clear();
                for pair in count * part / PARTS..count * (part + 1) / PARTS {
                    let contact = if pair < faces {
                        this.contact::<1>(this.candidates.vertex_triangle[pair], this.thicknesses[pair], model)
                    } else {
                        this.contact::<2>(this.candidates.edge_edge[pair - faces], this.thicknesses[pair], model)
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
    fn contact<const FIRST: usize>(&self, vertices: [u32; 4], thickness: f64, model: &Model) -> Option<PairContact> {
        let x = vertices.map(|v| self.start[v as usize]);
        let y = vertices.map(|v| self.end[v as usize]);
        // Most pairs are far apart along an axis.
        if is_beyond::<FIRST>(&x, thickness) && is_beyond::<FIRST>(&y, thickness) {
            return None;
        }
        let closest_of = |[a, b, c, d]: [Vec3<f64>; 4]| {
            if FIRST == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) }
        };
        let along = |x: &[Vec3<f64>; 4], weights: &[f64; 4]| (0..4).fold(Vec3::ZERO, |sum, k| sum + x[k] * weights[k]);
        let mut closest = closest_of(x);
        if closest.distance >= thickness && closest.normal.dot(along(&y, &closest.weights)) >= thickness {
            return None;
        }
        // Where the direction at the end separates the two at the start as well, nothing has passed through anything, and it is the better
        // one: seen from the start, what slides over an edge between two triangles runs against the second of them.
        let end = closest_of(y);
        let separates = (0..FIRST).all(|i| (FIRST..4).all(|j| end.normal.dot(x[i] - x[j]) > 0.0));
        if separates && end.distance > 0.0 {
            if end.distance >= thickness {
                return None;
            }
            closest = end;
        }
        Some(PairContact {
            vertices,
            weights: closest.weights,
            normal: closest.normal,
            thickness,
            start: along(&x, &closest.weights),
            friction: friction(model, vertices),
            press: 0.0,
            drag: Vec3::ZERO,
        })
    }
}

/// How far vertices move in a substep, at most, in m.
#[derive(Clone, Copy)]
struct Longest {
    free: f64,
    led: f64,
    /// The one that is led farthest.
    fastest: u32,
}

/// Coulomb's μ of a pair: that of the body, or of cloth on cloth.
fn friction(model: &Model, vertices: [u32; 4]) -> f64 {
    let last = vertices.into_iter().fold(0, u32::max);
    let of_cloth = || model.self_contact.as_ref().map_or(0.0, |rules| rules.friction);
    model.body_of(last as usize).map_or_else(of_cloth, |body| body.friction)
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

/// A vertex of a cloth or of a body, as the user numbers it, and whose it is.
fn name_of(model: &Model, vertex: u32) -> String {
    list_of(model, &[vertex])
}

/// Vertices of one cloth or body.
fn list_of(model: &Model, vertices: &[u32]) -> String {
    let joined = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(", ");
    match model.body_of(vertices[0] as usize) {
        Some(body) => {
            let numbers = joined(&mut vertices.iter().map(|&v| (v as usize - body.vertices.start).to_string()));
            format!("{numbers} of collider \"{}\"", body.name)
        }
        None => {
            let numbers = joined(&mut vertices.iter().map(|&v| model.user_vertex(v as usize).1.to_string()));
            format!("{numbers} of cloth \"{}\"", model.user_vertex(vertices[0] as usize).0)
        }
    }
}

fn breach_error(model: &Model, breach: Breach) -> StepError {
    let (name, list) = (|vertex: u32| name_of(model, vertex), |vertices: &[u32]| list_of(model, vertices));
    let pair = |pair: Pair| match pair {
        Pair::VertexTriangle([a, rest @ ..]) => {
            format!("vertex {} and the triangle of vertices {}", name(a), list(&rest))
        }
        Pair::EdgeEdge([a, b, c, d]) => format!("the edges of vertices {} and {}", list(&[a, b]), list(&[c, d])),
    };
    match breach {
        Breach::Touching(found) => StepError::Contact { what: format!("{} touch", pair(found)) },
        Breach::Pair(found) => StepError::Contact { what: format!("{} would pass through each other", pair(found)) },
        Breach::TooFast { vertex, length, reach } => StepError::Contact {
            what: format!(
                "vertex {} is led by {length:.3e} m in one substep, where {reach:.3e} m are safe",
                name(vertex)
            ),
        },
        Breach::OutOfReach { .. } => {
            StepError::Contact { what: "positions are too large for their rounding".to_owned() }
        }
        Breach::NotFinite(vertex) => StepError::non_finite(model, vertex as usize),
    }
}
