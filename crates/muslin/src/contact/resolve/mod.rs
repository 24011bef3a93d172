//! Contact resolution of cloth with cloth, with itself and with mesh colliders, after a solver has made its substep:
//!
//! ```text
//! look     which pairs may come to touch                                                     (contact/broad_phase/)
//! push     pairs that are or would come nearer than the thickness apart, with friction      (contact/response/pair.rs)
//! hold     the step back, where it still is not certain that nothing passes through anything  (contact/certificate/)
//! ```
//!
//! Only the last makes the guarantee, and it makes it whatever the solver did: **if no triangles cut each other at the start of a substep, none
//! do at its end, nor in between if vertices move in straight lines.** The argument is in [`Truncation`]. What is held back loses its
//! velocity, as in a blow.
//!
//! The guarantee is for the positions as they are stored, in the precision of the solver, and as they are written in single precision: no
//! pair ends nearer than twice what such a rounding moves a vertex, or it has not moved in the substep.
//!
//! Vertices of mesh colliders stand behind those of all cloths and go where they are led. Where something is led by many edges in a substep, the substep
//! is certified in pieces: everything moves a part of its straight way, and each part is certified by itself.
//!
//! The result does not depend on the age of the lists, since they are never used beyond their reach; so a run that goes on from
//! a snapshot has the same bits.

pub(crate) mod islands;
pub(crate) mod stats;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use wide::f64x2;

use crate::contact::context::{ContactContext, ContactError};
use crate::contact::kinematics::{ColliderOverSubstep, LIFT_SPEED};
use crate::contact::narrow_phase::{Contacts, Step};
use crate::contact::resolve::islands::{Islands, Push};
use crate::contact::resolve::stats::{ContactStats, StatsPerThread};
use crate::contact::response::pair_penalties::PairPenalty;
use crate::contact::untangle::Untangle;
use crate::contact::{Asked, Breach, BroadPhase, Candidates, Pair, Truncation, rounding};
use crate::math::Vec3;
use crate::model::{Model, middle};

/// Edges by which the motion of a vertex may differ from that of its cloth in a substep; what is faster is cut, or everything would
/// have to be looked at.
const CAP: f64 = 2.0;

/// Edges by which something may be led in one piece of a substep, and the most pieces.
const LED: f64 = 0.4;
const MOST_PIECES: f64 = 1024.0;

/// Cloth is fine if its usual edge is shorter than so many times its thickness: then neighbours within it have to come nearer than the thickness to be looked for, but no
/// nearer than this part of it.
const FINE: f64 = 2.0;
const LEAST_THICKNESS: f64 = 0.5;

/// How often a step is looked at again after it was held back.
const ROUNDS: usize = 8;

/// Work is handed out in this many parts, whatever the team.
const PARTS: usize = 16;

/// Keeps vertices apart over the substeps of a run.
pub(crate) struct ContactResolution {
    broad_phase: BroadPhase,
    truncation: Truncation,
    /// Positions at the start of the substep, in m: exactly those that are stored.
    pub(crate) start: Vec<Vec3<f64>>,
    /// Positions at its end, in m, which [`push`](Self::push) and [`hold`](Self::hold) change.
    pub(crate) end: Vec<Vec3<f64>>,
    /// Whether pairs were looked for on a way from this start.
    has_looked: bool,
    /// How far the vertices of cloths are moved when they are stored, in m.
    margin: f64,
    /// In 1/kg; zero for what is led.
    pub(crate) inverse_masses: Vec<f64>,
    /// How far `push` has lifted where vertices were, in m.
    pub(crate) lifts: Vec<Vec3<f64>>,
    islands: Islands,
    /// The directions of the closest points at the start, of the pairs in [`active`](Self::active) as far as they were measured there; not
    /// numbers for the others, and none at all once pairs were looked for again.
    normals: Vec<Vec3<f64>>,
    parts: [Mutex<Contacts>; PARTS],
    /// What [`push`](Self::push) knows of all vertices.
    known: Option<Survey>,
    /// Whether motions were cut since the start of the substep.
    is_cut: bool,
    /// Whether where vertices are led is still to be noted, should they be held back.
    is_to_note: bool,
    /// A usual edge, in m.
    edge: f64,
    /// See [`FINE`].
    is_fine: bool,
    /// Vertices of cloths.
    cloth: usize,
    /// When the substep ends, in s, and where the vertices of bodies are then, in m.
    end_time: f64,
    led: Vec<Vec3<f64>>,
    /// The ends of the whole substep, while it is held in pieces, and its start.
    whole: Vec<Vec3<f64>>,
    origin: Vec<Vec3<f64>>,
    /// What was taken from the motion of the frame.
    stats_per_thread: StatsPerThread,
    /// Pairs pushed apart since the start of the frame, summed over substeps.
    pushed: u64,
    /// Where something cuts or touches at the start.
    untangle: Option<Box<Untangle>>,
    /// Work of pins and of colliders on the cloth in this substep, in J.
    work: [f64; 2],
}

impl ContactResolution {
    /// For a model with self-contact or with bodies that are meshes.
    pub(crate) fn new(model: &Model) -> Option<Self> {
        if model.self_contact.is_none() && model.bodies.is_empty() {
            return None;
        }
        let edge = middle(model.edges.iter().map(|(_, length)| *length)).unwrap_or(1.0);
        let mut positions = model.initial_positions.clone();
        model.bodies.iter().for_each(|body| body.extend_positions(0.0, &mut positions));
        let object = |v: u32| model.object_of(v);
        let is_cloth = |object: usize| object < model.cloths.len();
        let mut broad_phase = BroadPhase::new(&positions, model.surface_triangles(), object, is_cloth);
        if model.self_contact.is_none() {
            broad_phase.leave_out_cloth_with_cloth();
        }
        Some(Self {
            broad_phase,
            truncation: Truncation::new(),
            start: Vec::new(),
            end: Vec::new(),
            has_looked: false,
            margin: 0.0,
            inverse_masses: Vec::new(),
            lifts: Vec::new(),
            islands: Islands::default(),
            normals: Vec::new(),
            parts: std::array::from_fn(|_| Mutex::default()),
            known: None,
            is_cut: false,
            is_to_note: false,
            edge,
            is_fine: model.self_contact.is_some() && edge < FINE * model.thickness,
            cloth: model.masses.len(),
            end_time: 0.0,
            led: Vec::new(),
            whole: Vec::new(),
            origin: Vec::new(),
            stats_per_thread: StatsPerThread::default(),
            pushed: 0,
            untangle: model.is_tangled.then(Box::default),
            work: [0.0; 2],
        })
    }

    /// Begins a frame at `time`, in s, with the cloths at `positions`, in m.
    pub(crate) fn begin(&mut self, model: &Model, positions: &[Vec3<f64>], time: f64) {
        let is_continued = self.start.get(..positions.len()) == Some(positions);
        self.start.clear();
        self.start.extend_from_slice(positions);
        model.bodies.iter().for_each(|body| body.extend_positions(time, &mut self.start));
        self.stats_per_thread.begin(positions.len());
        self.pushed = 0;
        if let Some(untangle) = &mut self.untangle {
            untangle.begin(model, &self.start, is_continued);
        }
    }

    /// Ends a substep, once [`start`](Self::start) holds where it ended.
    pub(crate) fn settle(&mut self, model: &Model) -> Result<(), ContactError> {
        self.untangle.as_mut().map_or(Ok(()), |untangle| untangle.settle(model, &self.start, self.end_time))
    }

    /// Pairs pushed apart since the start of the frame, summed over substeps.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// What was taken from the motion since the start of the frame.
    pub(crate) fn contact_stats(&self) -> ContactStats {
        ContactStats { is_tangled: self.entangled().is_some(), ..self.stats_per_thread.count() }
    }

    /// The tangle, while there is one.
    fn entangled(&self) -> Option<&Untangle> {
        self.untangle.as_deref().filter(|untangle| !untangle.is_free())
    }

    /// The pairs that are kept apart.
    fn active(&self) -> &Candidates {
        self.entangled().map_or(self.broad_phase.active(), Untangle::held)
    }

    /// Leaves out the pairs that may pass through each other.
    fn leave_out_exempt(&mut self) {
        if let Some(untangle) = self.untangle.as_mut().filter(|untangle| !untangle.is_free()) {
            untangle.filter(self.broad_phase.active());
        }
    }

    /// Begins a substep that ends at `time`, in s.
    pub(crate) fn lead(&mut self, model: &Model, time: f64) {
        self.end_time = time;
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

    /// Pushes apart what is too near, and not into bodies: what lies on one does not give way to what lies on it.
    pub(crate) fn push(&mut self, context: &ContactContext<'_>, colliders: &[ColliderOverSubstep], step: f64) {
        self.complete();
        self.forget();
        // What is not finite is for `hold` to refuse.
        let Ok(survey) = self.survey(context) else { return };
        self.known = Some(survey);
        self.look(context);
        self.find_contacts(context);
        let Self { islands, parts, start, end, lifts, inverse_masses, edge, .. } = self;
        let parts = parts.each_mut().map(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner));
        let lists = parts.each_ref().map(|part| &part.all[..]);
        self.pushed += lists.iter().map(|list| list.len() as u64).sum::<u64>();
        islands.sort(&lists, inverse_masses);
        let untangle = self.untangle.as_deref().filter(|untangle| !untangle.is_free());
        let (thickness, lift) = (context.model.thickness, LIFT_SPEED * step);
        let push = Push { lists: &lists, colliders, thickness, lift, inverse_masses };
        if let Some(untangle) = untangle {
            islands.push_tangled((context.team, untangle), &push, (inverse_masses, *edge, step), start, end, lifts);
        } else if !islands.is_empty() {
            islands.push(context, &push, end, lifts);
        }
        self.work = self.islands.work((&self.start, &self.end), self.cloth, step);
    }

    /// The pairs that are, or come, too near on the way to `ends`, as a part of the objective of a solver that minimises over a substep of `step` seconds. Nothing is moved.
    ///
    /// What is not finite has no pairs; the solver's own test refuses it.
    pub(crate) fn find_penalties(
        &mut self,
        context: &ContactContext<'_>,
        (ends, inverse_masses): (&[Vec3<f64>], &[f64]),
        step: f64,
    ) -> impl Iterator<Item = PairPenalty> {
        self.end.clear();
        self.end.extend_from_slice(ends);
        self.inverse_masses.clear();
        self.inverse_masses.extend_from_slice(inverse_masses);
        self.complete();
        self.forget();
        // A motion that is cut to be looked at has not been cut.
        let stats = std::mem::take(&mut self.stats_per_thread);
        let is_finite = self.survey(context).is_ok();
        self.stats_per_thread = stats;
        if is_finite {
            self.look(context);
            self.find_contacts(context);
        } else {
            self.parts.iter_mut().for_each(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner).clear());
        }
        let Self { parts, start, end, cloth, .. } = self;
        let (cloth, positions) = (*cloth, (&start[..], &end[..]));
        let parts = parts.iter_mut().map(|part| &*part.get_mut().unwrap_or_else(PoisonError::into_inner));
        parts
            .flat_map(Contacts::with_first_counts)
            .filter_map(move |(contact, first_count)| PairPenalty::new(contact, first_count, positions, cloth, step))
    }

    /// The work of pins and of colliders on the cloth in the last substep, in J; it is told once.
    pub(crate) fn take_work(&mut self) -> [f64; 2] {
        std::mem::take(&mut self.work)
    }

    /// Forgets the last substep.
    fn forget(&mut self) {
        self.lifts.resize(self.end.len(), Vec3::ZERO);
        self.islands.forget(&mut self.lifts);
        if self.untangle.is_some() {
            self.lifts.fill(Vec3::ZERO);
        }
        self.has_looked = false;
        self.known = None;
        self.is_cut = false;
    }

    /// Whether vertices that were not touched may have moved since the substep began here.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The vertices that [`push`](Self::push) may have moved.
    pub(crate) fn touched(&self) -> &[u32] {
        self.islands.touched()
    }

    /// Where vertices are: of the touched ones the end may be changed.
    pub(crate) fn ends(&mut self) -> Ends<'_> {
        let Self { islands, start, end, lifts, .. } = self;
        Ends { touched: islands.touched(), start, end, lifts }
    }

    /// Moves all vertices of cloths to where they end now.
    pub(crate) fn end_anywhere(&mut self, place: impl Fn(usize) -> Vec3<f64>) {
        self.end.iter_mut().take(self.cloth).enumerate().for_each(|(i, y)| *y = place(i));
        // More have moved than were touched.
        self.known = None;
    }

    /// Makes sure of the step, whatever has happened to `end` since [`push`](Self::push); whether it was changed.
    pub(crate) fn hold(&mut self, context: &ContactContext<'_>) -> Result<bool, ContactError> {
        self.complete();
        let survey =
            self.survey(context).map_err(|vertex| ContactError::NonFinite(vertex.min(self.cloth.saturating_sub(1))))?;
        self.hold_surveyed(context, &survey, false)
    }

    /// The same if only [`touched`](Self::touched) vertices have moved since [`push`](Self::push): the others need not be looked at again.
    pub(crate) fn hold_touched(&mut self, context: &ContactContext<'_>) -> Result<bool, ContactError> {
        let Some(known) = self.known.take() else { return self.hold(context) };
        // A tangle touches all.
        let touched = self.islands.touched().iter().map(|&vertex| vertex as usize);
        let survey = known.with(touched, &self.start, &self.end);
        if self.untangle.is_some() || !survey.is_finite || survey.longest > CAP * self.edge {
            return self.hold(context);
        }
        self.complete();
        self.margin = rounding(survey.extent);
        self.hold_surveyed(context, &survey, true)
    }

    fn hold_surveyed(
        &mut self,
        context: &ContactContext<'_>,
        survey: &Survey,
        is_known: bool,
    ) -> Result<bool, ContactError> {
        let pieces = self.pieces(context.model, survey)?;
        if !survey.longest.is_finite() {
            let is_long = |(x, y): (&Vec3<f64>, &Vec3<f64>)| !(*y - *x).norm_squared().is_finite();
            let vertex = self.start.iter().zip(&self.end).position(is_long).unwrap_or(0);
            return Err(ContactError::NonFinite(vertex));
        }
        self.is_to_note = true;
        let is_changed = if pieces > 1 {
            self.note();
            self.hold_pieces(context, pieces)
        } else {
            self.hold_piece(context, is_known)
        }?;
        if is_changed {
            self.stats_per_thread.compare(&self.end);
        }
        self.start[self.cloth..].copy_from_slice(&self.led);
        Ok(is_changed || self.is_cut)
    }

    /// Notes where vertices are led, before the first is held back.
    fn note(&mut self) {
        if std::mem::take(&mut self.is_to_note) {
            self.stats_per_thread.want(&self.end);
        }
    }

    /// One look at all vertices: cuts motions that are too long to be followed, and sets the margin. An error is the first that is not finite.
    fn survey(&mut self, context: &ContactContext<'_>) -> Result<Survey, usize> {
        let mut survey = self.quick_survey(context);
        if !survey.is_finite || survey.longest > CAP * self.edge {
            survey = Survey::of(&self.start, &self.end, &self.inverse_masses, self.cloth);
        }
        if survey.is_finite && survey.longest > CAP * self.edge {
            self.is_cut |= self.cut(context.model);
            survey = Survey::of(&self.start, &self.end, &self.inverse_masses, self.cloth);
        }
        if !survey.is_finite {
            return Err(self.end.iter().position(|x| !x.is_finite()).unwrap_or(0));
        }
        // How far the vertices of cloths are moved when they are stored. Bodies are not: one that is far away or very large takes nothing
        // from the accuracy.
        self.margin = rounding(survey.extent);
        Ok(survey)
    }

    /// [`Survey::quick`] of all vertices, by all threads.
    fn quick_survey(&self, context: &ContactContext<'_>) -> Survey {
        let (count, whole) = (self.end.len(), Mutex::new(Survey::NOTHING));
        let threads = context.team.sharing(context.threads, count);
        context.team.run(threads, |worker| {
            let share = worker.share(0..count);
            let part = Survey::quick(
                &self.start[share.clone()],
                &self.end[share.clone()],
                &self.inverse_masses[share.clone()],
                self.cloth.saturating_sub(share.start).min(share.len()),
            );
            whole.lock().unwrap_or_else(PoisonError::into_inner).add(&part, share.start);
        });
        whole.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// In how many pieces a substep has to be held, so that nothing is led far in one.
    fn pieces(&self, model: &Model, survey: &Survey) -> Result<u32, ContactError> {
        let (led, fastest) = survey.led;
        let count = (led / (LED * self.edge)).ceil();
        if count > MOST_PIECES {
            let (name, safe) = (list_of(model, &[fastest]), MOST_PIECES * LED * self.edge);
            return Err(ContactError::Unresolved(format!(
                "vertex {name} is led by {led:.3e} m in one substep, where {safe:.3e} m are safe"
            )));
        }
        Ok(count.max(1.0) as u32)
    }

    /// Makes sure of a substep piece by piece; whether it may end elsewhere.
    fn hold_pieces(&mut self, context: &ContactContext<'_>, pieces: u32) -> Result<bool, ContactError> {
        self.whole.clone_from(&self.end);
        self.origin.clone_from(&self.start);
        let mut outcome = Ok(true);
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
            self.has_looked = false;
            outcome = self.hold_piece(context, false).map(|_| true);
            if outcome.is_err() {
                break;
            }
            self.start.copy_from_slice(&self.end);
        }
        std::mem::swap(&mut self.start, &mut self.origin);
        outcome
    }

    /// Makes sure of the way from `start` to `end`, of which only touched vertices may have changed if it `is_known`; whether it was changed.
    fn hold_piece(&mut self, context: &ContactContext<'_>, is_known: bool) -> Result<bool, ContactError> {
        for round in 0..ROUNDS {
            // A step that was left as it is was certain; one that was changed may come near something else.
            if self.certify_step(context, is_known && round == 0)? == 0 {
                return Ok(round > 0);
            }
        }
        // Nothing is as certain as not to move.
        let Self { start, end, inverse_masses, .. } = self;
        for ((x, y), w) in start.iter().zip(end.iter_mut()).zip(&*inverse_masses) {
            if *w > 0.0 {
                *y = *x;
            }
        }
        match self.certify_step(context, false)? {
            0 => Ok(true),
            _ => Err(ContactError::Unresolved("cloth is pushed from all sides".to_owned())),
        }
    }

    /// Holds back what is not certain; how many vertices that were.
    fn certify_step(&mut self, context: &ContactContext<'_>, is_known: bool) -> Result<usize, ContactError> {
        if !self.is_known(context.model, is_known) {
            self.look(context);
        }
        if self.active().is_empty() {
            return Ok(0);
        }
        let untangle = self.untangle.as_deref().filter(|untangle| !untangle.is_free());
        let active = untangle.map_or(self.broad_phase.active(), Untangle::held);
        if self.are_clear(context, active) {
            return Ok(0);
        }
        let is_certain = self.truncation.test_all((&self.start, &self.end), active, self.margin, &self.normals);
        if is_certain.map_err(|breach| breach_error(context.model, breach))? {
            return Ok(0);
        }
        self.note();
        let Self { truncation, start, end, inverse_masses: w, margin, .. } = self;
        let untangle = self.untangle.as_deref().filter(|untangle| !untangle.is_free());
        let active = untangle.map_or(self.broad_phase.active(), Untangle::held);
        let held = truncation.cut_back(start, end, |vertex| w[vertex] > 0.0, active, *margin);
        held.map(|held| held.truncated).map_err(|breach| breach_error(context.model, breach))
    }

    /// Whether a step is certain as it is, which all threads look for together; where it is not, one has to say what is wrong with it.
    fn are_clear(&self, context: &ContactContext<'_>, active: &Candidates) -> bool {
        let (step, are_clear) = ((&self.start[..], &self.end[..]), AtomicBool::new(true));
        context.team.run(context.threads, |worker| {
            if !Truncation::are_clear(step, active, worker.share(0..active.len()), self.margin, &self.normals) {
                are_clear.store(false, Ordering::Relaxed);
            }
        });
        are_clear.into_inner()
    }

    /// Whether the pairs that were found hold all that may come to touch, although the end has changed since.
    ///
    /// All others stay farther apart than the reach of [`look`](Self::look) on the way to the end that was looked at, which is some margins more than the thickness, or
    /// than the least part of it in fine cloth. With both of a pair nearer by half of that, they still stay apart by these margins: more than the certificate asks for.
    fn is_known(&self, model: &Model, only_touched: bool) -> bool {
        let least = if self.is_fine { LEAST_THICKNESS * model.thickness } else { model.thickness };
        let farthest = 0.5 * least * (1.0 - 1e-9);
        let is_near = |(x, y): (&Vec3<f64>, &Vec3<f64>)| (*y - *x).norm_squared() <= farthest * farthest;
        let ends = self.broad_phase.end();
        if !self.has_looked {
            false
        } else if only_touched {
            self.touched().iter().all(|&vertex| is_near((&ends[vertex as usize], &self.end[vertex as usize])))
        } else {
            ends.iter().zip(&self.end).all(is_near)
        }
    }

    /// Cuts motions that are too long to be followed; whether there were any.
    fn cut(&mut self, model: &Model) -> bool {
        let Self { start, end, inverse_masses, stats_per_thread, .. } = self;
        let longest = CAP * self.edge;
        let mut any = false;
        for vertices in model.cloths.iter().map(|cloth| cloth.vertices.clone()) {
            let sum = vertices.clone().fold(Vec3::ZERO, |sum, i| sum + (end[i] - start[i]));
            let mean = sum * (1.0 / vertices.len().max(1) as f64);
            for i in vertices.filter(|&i| inverse_masses[i] > 0.0) {
                let own = end[i] - start[i] - mean;
                let length = own.norm();
                if length > longest {
                    end[i] = start[i] + mean + own * (longest / length);
                    stats_per_thread.cut(i);
                    any = true;
                }
            }
        }
        any
    }

    /// Finds the pairs that may come to touch.
    fn look(&mut self, context: &ContactContext<'_>) {
        let model = context.model;
        // How near they have to come, and what neighbours within a cloth may come nearer than others.
        let distance = model.thickness + 16.0 * self.margin;
        let leave = |pair: Pair| model.thickness - model.kept_apart(pair).max(LEAST_THICKNESS * model.thickness);
        let asked = Asked { distance, leave: self.is_fine.then_some(&leave) };
        let (team, threads, step) = (context.team, context.threads, (&self.start[..], &self.end[..]));
        if self.has_looked {
            self.broad_phase.look_again(team, threads, step, &asked);
        } else {
            self.broad_phase.look(team, threads, step, &asked);
        }
        self.has_looked = true;
        self.normals.clear();
        self.leave_out_exempt();
    }

    /// The pairs that are too near now or at the end of the substep.
    fn find_contacts(&mut self, context: &ContactContext<'_>) {
        let this = &*self;
        let Self { start, end, inverse_masses, .. } = this;
        let step = Step { model: context.model, start, end, inverse_masses };
        let Candidates { vertex_triangle, edge_edge } = this.active();
        let (faces, count) = (vertex_triangle.len(), vertex_triangle.len() + edge_edge.len());
        context.team.run(context.threads, |worker| {
            let mut parts = worker.share_pieces(PARTS);
            let (from, to) = (count * parts.start / PARTS, count * parts.end / PARTS);
            let part_of = |part: usize| this.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
            // All of a thread's into one: four at a time leave least over.
            if let Some(first) = parts.next() {
                let mut found = part_of(first);
                found.clear();
                found.add::<1>(step, &vertex_triangle[from.min(faces)..to.min(faces)]);
                found.add::<2>(step, &edge_edge[from.max(faces) - faces..to.max(faces) - faces]);
            }
            parts.for_each(|part| part_of(part).clear());
        });
        self.normals.clear();
        for part in &mut self.parts {
            self.normals.extend_from_slice(&part.get_mut().unwrap_or_else(PoisonError::into_inner).normals);
        }
    }
}

/// Vertices that were touched, and the positions and lifts of all, in m.
pub(crate) struct Ends<'a> {
    pub(crate) touched: &'a [u32],
    pub(crate) start: &'a [Vec3<f64>],
    pub(crate) end: &'a mut [Vec3<f64>],
    pub(crate) lifts: &'a [Vec3<f64>],
}

/// What there is to know of all vertices before a step is held.
struct Survey {
    is_finite: bool,
    /// The longest motion of any vertex, in m; or more, but for those that are too long.
    longest: f64,
    /// The largest coordinate of cloth, in m.
    extent: f64,
    /// The longest motion of what is led, in m, and whose.
    led: (f64, u32),
}

impl Survey {
    const NOTHING: Self = Self { is_finite: true, longest: 0.0, extent: 0.0, led: (0.0, 0) };

    /// Joins that of other vertices, which are counted from `first` on. In which order parts are joined does not matter.
    fn add(&mut self, other: &Self, first: usize) {
        self.is_finite &= other.is_finite;
        self.longest = self.longest.max(other.longest);
        self.extent = self.extent.max(other.extent);
        let led = (other.led.0, other.led.1 + first as u32);
        if led.0 > self.led.0 || led.0 == self.led.0 && led.1 < self.led.1 {
            self.led = led;
        }
    }

    fn of(start: &[Vec3<f64>], end: &[Vec3<f64>], inverse_masses: &[f64], cloth: usize) -> Self {
        let (mut longest, mut led, mut fastest) = (0.0, 0.0, 0);
        // No number is taken for the greater: then the sum is not finite either.
        let more = |a: f64, b: f64| if b > a { b } else { a };
        let (mut sum, mut largest) = (0.0, Vec3::splat(0.0));
        for (i, ((x, y), w)) in start.iter().zip(end).zip(inverse_masses).enumerate() {
            let squared = (*y - *x).norm_squared();
            sum += squared;
            longest = more(longest, squared);
            if *w <= 0.0 && squared > led {
                (led, fastest) = (squared, i as u32);
            }
            if i < cloth {
                let size = |a: f64, b: f64| more(a.abs(), b.abs());
                let here = Vec3::new(size(x.x, y.x), size(x.y, y.y), size(x.z, y.z));
                largest = Vec3::new(more(largest.x, here.x), more(largest.y, here.y), more(largest.z, here.z));
            }
        }
        // A sum may be too large although all numbers are finite.
        let is_finite = f64::is_finite(sum) || end.iter().all(|x| x.is_finite());
        let extent = more(largest.x, more(largest.y, largest.z));
        Self { is_finite, longest: f64::sqrt(longest), extent, led: (f64::sqrt(led), fastest) }
    }

    /// The same in a quick look, with a bound of the longest motion. Enough if there is no number that is not finite, and no motion
    /// that is too long.
    fn quick(start: &[Vec3<f64>], end: &[Vec3<f64>], inverse_masses: &[f64], cloth: usize) -> Self {
        let more = |a: f64, b: f64| if b > a { b } else { a };
        // Two vertices at a time.
        let (mut sums, mut moves, mut sizes) = ([f64x2::ZERO; 3], [f64x2::ZERO; 3], [f64x2::ZERO; 3]);
        let numbers = |[p, q]: &[Vec3<f64>; 2]| [[p.x, p.y], [p.z, q.x], [q.y, q.z]].map(f64x2::new);
        let whole = cloth.min(start.len()).min(end.len()) / 2 * 2;
        for (x, y) in start[..whole].as_chunks().0.iter().zip(end[..whole].as_chunks().0) {
            let (x, y) = (numbers(x), numbers(y));
            for k in 0..3 {
                let way = (y[k] - x[k]).abs();
                sums[k] += way;
                // What is not a number is in the sum.
                moves[k] = way.fast_max(moves[k]);
                sizes[k] = x[k].abs().fast_max(y[k].abs()).fast_max(sizes[k]);
            }
        }
        let all = |numbers: [f64x2; 3]| numbers.into_iter().flat_map(f64x2::to_array);
        let greatest = |numbers: [f64x2; 3]| all(numbers).fold(0.0, more);
        let (mut sum, mut longest, mut extent) = (all(sums).sum::<f64>(), greatest(moves), greatest(sizes));
        for (i, (x, y)) in start.iter().zip(end).enumerate().skip(whole) {
            for (x, y) in x.to_array().into_iter().zip(y.to_array()) {
                sum += (y - x).abs();
                longest = more(longest, (y - x).abs());
                if i < cloth {
                    extent = more(more(extent, x.abs()), y.abs());
                }
            }
        }
        let (mut led, mut fastest) = (0.0, 0);
        for (i, w) in inverse_masses.iter().enumerate() {
            if *w <= 0.0 {
                let squared = (end[i] - start[i]).norm_squared();
                if squared > led {
                    (led, fastest) = (squared, i as u32);
                }
            }
        }
        Self {
            // No number, and none that is too large, is lost in a sum.
            is_finite: sum.is_finite(),
            // √3, and the rounding.
            longest: longest * 1.7321,
            extent,
            led: (f64::sqrt(led), fastest),
        }
    }

    /// The same where some vertices of cloths, none of which is led, end elsewhere: the longest of all ways that were looked at.
    fn with(mut self, vertices: impl Iterator<Item = usize>, start: &[Vec3<f64>], end: &[Vec3<f64>]) -> Self {
        for i in vertices {
            let squared = (end[i] - start[i]).norm_squared();
            self.is_finite &= squared.is_finite();
            self.longest = self.longest.max(squared.sqrt());
            self.extent = self.extent.max(end[i].x.abs()).max(end[i].y.abs()).max(end[i].z.abs());
        }
        self
    }
}

/// Vertices of one cloth or body, as the user numbers them, and whose they are.
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

fn breach_error(model: &Model, breach: Breach) -> ContactError {
    let list = |vertices: &[u32]| list_of(model, vertices);
    let pair = |pair: Pair| match pair {
        Pair::VertexTriangle([a, rest @ ..]) => {
            format!("vertex {} and the triangle of vertices {}", list(&[a]), list(&rest))
        }
        Pair::EdgeEdge([a, b, c, d]) => format!("the edges of vertices {} and {}", list(&[a, b]), list(&[c, d])),
    };
    match breach {
        Breach::Touching(found) => ContactError::Unresolved(format!("{} touch", pair(found))),
        Breach::Pair(found) => ContactError::Unresolved(format!("{} would pass through each other", pair(found))),
        Breach::NotFinite(vertex) => ContactError::NonFinite(vertex as usize),
    }
}
