//! Vertices of a frame in the solver's precision, for `pbd`, `xpbd` and `explicit`: loaded, kept from other cloth, stored.
//!
//! Positions are displacements since the start of the frame; see [`Sweep`](crate::solver::position_based::sweep::Sweep) for why.

use std::ops::Range;
use std::sync::atomic::{self, AtomicUsize};

use crate::contact::kinematics::{ColliderOverSubstep, Kinematics};
use crate::contact::resolve::stats::ContactStats;
use crate::contact::resolve::{ContactResolution, Ends};
use crate::force::Push;
use crate::math::{Real, Vec3};
use crate::parallel::{Shared, Team};
use crate::solver::ledger::Ledger;
use crate::solver::position_based::substep::{Arrays, ContactNormal};
use crate::solver::vertex_stages::{ResolvedVertices, VertexStages, resolve_contact};
use crate::solver::{Context, Particle, StepError};
use crate::state::{State, Work};

/// Vertices in contact with cloth from which on threads share them.
const FEW_TOUCHED: usize = 128;

/// The vertices during a frame, and what is done to them from outside.
pub(crate) struct Frame<R: Real> {
    /// Where the vertices are at the start of the frame, in m; the rest is relative to that.
    pub(crate) origins: Vec<Vec3<f64>>,
    particles: Vec<Particle<R>>,
    previous: Vec<Particle<R>>,
    velocities: Vec<Particle<R>>,
    pushes: Vec<Push<R>>,
    /// For each vertex; empty without fine bodies.
    contact_normals: Vec<ContactNormal>,
    /// The numbers of the rest offsets of all terms, one after the other, and where each begins.
    rest_offsets: Vec<R>,
    pub(crate) first_rest_offsets: Vec<usize>,
    pub(crate) kinematics: Kinematics,
    /// For each vertex and each body of the kinematics, the square of how far it has to go in the frame until it can touch that, in m², or less: most
    /// vertices are nowhere near most bodies.
    clearances: Vec<R>,
    /// Where cloth is kept from cloth.
    resolution: Option<Box<ContactResolution>>,
    /// Displacements at the start of the substep, as they were stored; empty without contact resolution.
    kept: Vec<Particle<R>>,
    ledger: Ledger,
}

impl<R: Real> Default for Frame<R> {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            particles: Vec::new(),
            previous: Vec::new(),
            velocities: Vec::new(),
            pushes: Vec::new(),
            contact_normals: Vec::new(),
            rest_offsets: Vec::new(),
            first_rest_offsets: Vec::new(),
            kinematics: Kinematics::default(),
            clearances: Vec::new(),
            resolution: None,
            kept: Vec::new(),
            ledger: Ledger::default(),
        }
    }
}

impl<R: Real> Frame<R> {
    /// Copies the state into the solver's precision, and asks all paths where they lead in this frame; `rest_offset_counts` has how many
    /// numbers the rest offsets of each term take.
    pub(crate) fn load(
        &mut self,
        context: &Context<'_>,
        state: &State,
        (dt, substeps): (f64, u32),
        rest_offset_counts: impl Iterator<Item = usize>,
    ) {
        let model = context.model;
        self.load_vertices(context, state);
        self.pushes.resize(if model.wind.is_some() { model.triangles.len() } else { 0 }, Push::default());
        let has_fine_bodies = !model.contact_edges.stencils.all().is_empty();
        self.contact_normals.resize(if has_fine_bodies { state.positions.len() } else { 0 }, ContactNormal::default());
        self.first_rest_offsets.clear();
        let mut rest_offsets = 0;
        for count in rest_offset_counts {
            self.first_rest_offsets.push(rest_offsets);
            rest_offsets += count;
        }
        self.rest_offsets.resize(rest_offsets, R::ZERO);
        self.kinematics.load(model, state.time, dt, substeps);
        self.ledger.begin(context, state, &self.kinematics, (substeps, dt / f64::from(substeps)));
        self.measure_clearances(context);
        if self.resolution.is_none() {
            self.resolution = ContactResolution::new(model).map(Box::new);
        }
        if let Some(resolution) = &mut self.resolution {
            resolution.begin(model, &state.positions, state.time);
            self.kept.clone_from(&self.particles);
        }
    }

    fn load_vertices(&mut self, context: &Context<'_>, state: &State) {
        let count = state.positions.len();
        self.origins.resize(count, Vec3::ZERO);
        for particles in [&mut self.particles, &mut self.previous, &mut self.velocities] {
            particles.resize(count, Particle::vector(Vec3::ZERO));
        }
        let Self { origins, particles, previous, velocities, .. } = self;
        let all = (&mut origins[..], &mut particles[..], &mut previous[..], &mut velocities[..]);
        let inverse_masses = &context.model.inverse_masses;
        let threads = context.team.sharing(context.threads, count);
        context.team.for_each_mut(threads, all, |i, (origin, particle, previous, velocity)| {
            *origin = state.positions[i];
            *particle = Particle::new(Vec3::ZERO, R::from_f64(inverse_masses[i]));
            *previous = *particle;
            *velocity = Particle::vector(state.velocities[i].cast());
        });
    }

    fn measure_clearances(&mut self, context: &Context<'_>) {
        let Self { origins, kinematics, clearances, .. } = self;
        let (bodies, thickness) = (context.model.colliders.len(), context.model.thickness);
        clearances.resize(origins.len() * bodies, R::ZERO);
        if bodies == 0 {
            return;
        }
        let (count, place) = (origins.len(), |vertex| vertex * bodies);
        let threads = context.team.sharing(context.threads, count);
        context.team.for_each_part(threads, clearances, count, place, |share, part| {
            for (origin, all) in origins[share].iter().zip(part.chunks_exact_mut(bodies)) {
                for (squared, clearance) in all.iter_mut().zip(kinematics.clearances(*origin, thickness)) {
                    // More than what the square of a displacement is rounded by; what is not a number is no room.
                    *squared = R::from_f64(clearance.max(0.0).powi(2) * (1.0 - 1e-5));
                }
            }
        });
    }

    /// What the rest offsets are measured with, and where they go, open to the team.
    pub(crate) fn open_rest_offsets<'a>(&'a mut self, team: &'a Team) -> (&'a [Vec3<f64>], Shared<'a, R>, &'a [usize]) {
        (&self.origins, Shared::open(team, &mut self.rest_offsets), &self.first_rest_offsets)
    }

    /// Whether [`resolve_contact`](Self::resolve_contact) has to be called after each substep.
    pub(crate) fn resolves_contact(&self) -> bool {
        self.resolution.is_some()
    }

    /// Pairs that were pushed apart since the start of the frame, summed over substeps.
    pub(crate) fn contacts(&self) -> u64 {
        self.resolution.as_ref().map_or(0, |resolution| resolution.pushed())
    }

    /// Whether a pin moves a vertex in this frame.
    pub(crate) fn leads_pins(&self) -> bool {
        self.ledger.leads_pins()
    }

    /// What was done on the cloth since the start of the frame.
    pub(crate) fn work(&self) -> Work {
        self.ledger.close()
    }

    /// What contact has taken from the motion since the start of the frame.
    pub(crate) fn contact_stats(&self) -> ContactStats {
        self.resolution.as_ref().map_or_else(ContactStats::default, |resolution| resolution.contact_stats())
    }

    /// Keeps cloth from cloth at the end of a substep of `step` seconds, and makes velocities of positions.
    pub(crate) fn resolve_contact(
        &mut self,
        context: &Context<'_>,
        step: f64,
        substep: usize,
    ) -> Result<(), StepError> {
        let Some(mut resolution) = self.resolution.take() else { return Ok(()) };
        let kinematics = std::mem::take(&mut self.kinematics);
        resolution.lead(context.model, kinematics.time_after(substep));
        let outcome = resolve_contact(self, &mut resolution, context, kinematics.colliders(substep), step);
        self.ledger.add_pairs(resolution.take_work());
        (self.resolution, self.kinematics) = (Some(resolution), kinematics);
        outcome?;
        self.update(context, step, substep);
        Ok(())
    }

    /// Velocities from positions, which it keeps as the start of the next substep.
    fn update(&mut self, context: &Context<'_>, step: f64, substep: usize) {
        let mut kept = std::mem::take(&mut self.kept);
        let copies = Shared::open(context.team, &mut kept);
        let (stages, arrays, kinematics, ..) = self.open(context, step);
        context.team.run(context.threads, |worker| {
            worker.share(0..copies.len()).for_each(|i| copies.set(i, arrays.particles.get(i)));
            stages.update(worker, &arrays);
            stages.book(worker, &arrays, kinematics.pin_poses(substep));
        });
        self.kept = kept;
    }

    /// The push where only vertices that were touched have moved, or have to.
    fn take_push_of_touched(
        &mut self,
        resolution: &mut ContactResolution,
        context: &Context<'_>,
        colliders: &[ColliderOverSubstep],
        step: f64,
    ) {
        let kept = std::mem::take(&mut self.kept);
        let (stages, arrays, ..) = self.open(context, step);
        let Ends { touched, start, end, lifts } = resolution.ends();
        // A worker gets and sets those of its share of the touched vertices, each of which is there once.
        let ends = Shared::open(context.team, end);
        let threads = if context.team.shares(touched.len(), FEW_TOUCHED) { context.threads } else { 1 };
        context.team.run(threads, |worker| {
            for vertex in touched[worker.share(0..touched.len())].iter().map(|&vertex| vertex as usize) {
                arrays.previous.set(vertex, lifted(arrays.previous.get(vertex), lifts[vertex]));
                let (particle, way) = (arrays.particles.get(vertex), (&start[vertex], &ends.get(vertex)));
                arrays.particles.set(vertex, put_back(particle, way, kept[vertex], arrays.origins[vertex]));
                stages.collide_vertex(vertex, &arrays, colliders);
                ends.set(vertex, arrays.origins[vertex] + arrays.particles.get(vertex).xyz().cast());
            }
        });
        self.kept = kept;
    }

    /// The push where any vertex may have moved, or may have to.
    fn take_push_anywhere(
        &mut self,
        resolution: &mut ContactResolution,
        context: &Context<'_>,
        colliders: &[ColliderOverSubstep],
        step: f64,
    ) {
        for i in resolution.touched().iter().map(|&vertex| vertex as usize) {
            self.previous[i] = lifted(self.previous[i], resolution.lifts[i]);
        }
        self.put_all_back(resolution);
        if !colliders.is_empty() {
            let (stages, arrays, ..) = self.open(context, step);
            if arrays.contact_normals.is_empty() {
                let touched = resolution.touched().iter().map(|&vertex| vertex as usize);
                touched.for_each(|vertex| stages.collide_vertex(vertex, &arrays, colliders));
            } else {
                context.team.run(context.threads, |worker| stages.collide(worker, &arrays, colliders));
            }
        }
        resolution.end_anywhere(|i| self.origins[i] + self.particles[i].xyz().cast());
    }

    /// Takes over the positions of vertices of cloths that contact resolution has changed.
    fn put_all_back(&mut self, resolution: &ContactResolution) {
        for (i, particle) in self.particles.iter_mut().enumerate() {
            let way = (&resolution.start[i], &resolution.end[i]);
            *particle = put_back(*particle, way, self.kept[i], self.origins[i]);
        }
    }

    /// Opens the arrays to the team, beside what it reads.
    pub(crate) fn open<'a>(
        &'a mut self,
        context: &Context<'a>,
        step: f64,
    ) -> (VertexStages<'a, R>, Arrays<'a, R>, &'a Kinematics, &'a [usize]) {
        let Self {
            origins,
            particles,
            previous,
            velocities,
            pushes,
            contact_normals,
            rest_offsets,
            first_rest_offsets,
            kinematics,
            clearances,
            ledger,
            ..
        } = self;
        let fixed = (&origins[..], &clearances[..], &rest_offsets[..], ledger.open(context, step));
        let team = context.team;
        let arrays = Arrays::open(team, fixed, particles, previous, velocities, pushes, contact_normals);
        (VertexStages::new(context.model, step), arrays, kinematics, first_rest_offsets)
    }

    /// The first vertex of a range with a number that is not finite.
    pub(crate) fn non_finite(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|&i| !self.particles[i].xyz().is_finite() || !self.velocities[i].xyz().is_finite())
    }

    /// In m/s.
    pub(crate) fn velocity(&self, vertex: usize) -> Vec3<f64> {
        self.velocities[vertex].xyz().cast()
    }

    /// Copies the vertices back into the state, if all of them are finite.
    pub(crate) fn store(&self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<(), StepError> {
        let count = self.particles.len();
        let (threads, first_bad) = (context.team.sharing(context.threads, count), AtomicUsize::new(count));
        context.team.run(threads, |worker| {
            if let Some(bad) = self.non_finite(worker.share(0..count)) {
                first_bad.fetch_min(bad, atomic::Ordering::Relaxed);
            }
        });
        // On an error the state is as it was.
        let bad = first_bad.into_inner();
        if bad < count {
            return Err(StepError::non_finite(context.model, bad));
        }
        let all = (&mut state.positions[..], &mut state.velocities[..]);
        context.team.for_each_mut(threads, all, |i, (position, velocity)| {
            *position = self.origins[i] + self.particles[i].xyz().cast();
            *velocity = self.velocities[i].xyz().cast();
        });
        state.time += dt;
        Ok(())
    }
}

impl<R: Real> ResolvedVertices for Frame<R> {
    fn set_ends(&self, resolution: &mut ContactResolution, context: &Context<'_>) {
        let Self { particles, origins, .. } = self;
        let count = particles.len();
        resolution.end.resize(count, Vec3::ZERO);
        resolution.inverse_masses.resize(count, 0.0);
        let all = (&mut resolution.end[..], &mut resolution.inverse_masses[..]);
        let threads = context.team.sharing(context.threads, count);
        context.team.for_each_mut(threads, all, |i, (end, inverse_mass)| {
            let particle = &particles[i];
            *end = origins[i] + particle.xyz().cast();
            *inverse_mass = particle.inverse_mass().to_f64();
        });
    }

    fn take_push(
        &mut self,
        resolution: &mut ContactResolution,
        context: &Context<'_>,
        colliders: &[ColliderOverSubstep],
        step: f64,
    ) {
        if resolution.touched().is_empty() {
            return;
        }
        if resolution.is_cut() || !self.contact_normals.is_empty() {
            self.take_push_anywhere(resolution, context, colliders, step);
        } else {
            self.take_push_of_touched(resolution, context, colliders, step);
        }
    }

    fn take_certified(&mut self, resolution: &mut ContactResolution, is_changed: bool) {
        if is_changed {
            self.put_all_back(resolution);
            for (x, (u, origin)) in resolution.start.iter_mut().zip(self.particles.iter().zip(&self.origins)) {
                *x = *origin + u.xyz().cast();
            }
        } else {
            // The ends are exactly what is stored.
            std::mem::swap(&mut resolution.start, &mut resolution.end);
        }
    }
}

/// Where a vertex was, lifted by so much, in m.
fn lifted<R: Real>(previous: Particle<R>, lift: Vec3<f64>) -> Particle<R> {
    Particle::new(previous.xyz() + lift.cast(), previous.inverse_mass())
}

/// A vertex where contact resolution has put it, on the `way` from its start to its end, in m; `kept` is how it was stored at its start.
fn put_back<R: Real>(
    particle: Particle<R>,
    (start, end): (&Vec3<f64>, &Vec3<f64>),
    kept: Particle<R>,
    origin: Vec3<f64>,
) -> Particle<R> {
    if *end == origin + particle.xyz().cast() {
        return particle;
    }
    // What stays where it was has to do so to the last bit.
    let displacement = if end == start { kept.xyz() } else { (*end - origin).cast() };
    Particle::new(displacement, particle.inverse_mass())
}
