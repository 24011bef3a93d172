//! The frame of the solvers that work in lanes (`pbd`, `xpbd`, `explicit` in single precision): what they keep of the vertices, and the
//! passes of a substep that do not depend on their law.
//!
//! Positions are displacements since the start of the frame; see [`Sweep`](super::sweep::Sweep) for why.
#![allow(unsafe_code, reason = "opens the particle arrays to the team; see `Arrays::open`")]

use std::ops::Range;
use std::sync::atomic::{self, AtomicUsize};

use super::particle::Moving;
use super::script::{Obstacle, Script};
use super::separation::{Ends, Separation};
use super::{Context, Particle, Restraint, StepError};
use crate::collision::Probe;
use crate::energy::contact;
use crate::force::{Push, Wind};
use crate::math::{Lanes, Real, Vec3};
use crate::model::{Cloth, ContactEdges, Model, Pinned};
use crate::motion::Pose;
use crate::parallel::{Shared, Worker};
use crate::state::State;

/// Vertices in contact with cloth from which on threads share them.
const FEW_TOUCHED: usize = 128;

/// The vertices during a frame, and what is done to them from outside.
pub(super) struct Frame<R: Real> {
    /// Where the vertices are at the start of the frame, in m; the rest is relative to that.
    pub(super) origins: Vec<Vec3<f64>>,
    particles: Vec<Particle<R>>,
    previous: Vec<Particle<R>>,
    velocities: Vec<Particle<R>>,
    pushes: Vec<Push<R>>,
    /// For each vertex; empty without fine bodies.
    facings: Vec<Facing>,
    /// The numbers of the arms of all terms, one after the other, and where each begins.
    arms: Vec<R>,
    pub(super) first_arms: Vec<usize>,
    pub(super) script: Script,
    /// For each vertex and each body of the script, the square of how far it has to go in the frame until it can touch that, in m², or less: most
    /// vertices are nowhere near most bodies.
    rooms: Vec<R>,
    /// Where cloth is kept from cloth.
    separation: Option<Box<Separation>>,
    /// Displacements at the start of the substep, as they were stored; empty without separation.
    kept: Vec<Particle<R>>,
}

impl<R: Real> Default for Frame<R> {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            particles: Vec::new(),
            previous: Vec::new(),
            velocities: Vec::new(),
            pushes: Vec::new(),
            facings: Vec::new(),
            arms: Vec::new(),
            first_arms: Vec::new(),
            script: Script::default(),
            rooms: Vec::new(),
            separation: None,
            kept: Vec::new(),
        }
    }
}

impl<R: Real> Frame<R> {
    /// Copies the state into the solver's precision, and asks all paths where they lead in this frame; `arm_counts` has how many
    /// numbers the arms of each term take.
    pub(super) fn load(
        &mut self,
        context: &Context<'_>,
        state: &State,
        (dt, substeps): (f64, u32),
        arm_counts: impl Iterator<Item = usize>,
    ) {
        let model = context.model;
        self.load_vertices(context, state);
        self.pushes.resize(if model.wind.is_some() { model.triangles.len() } else { 0 }, Push::default());
        let has_fine_bodies = !model.contact_edges.stencils.is_empty();
        self.facings.resize(if has_fine_bodies { state.positions.len() } else { 0 }, Facing::default());
        self.first_arms.clear();
        let mut arms = 0;
        for count in arm_counts {
            self.first_arms.push(arms);
            arms += count;
        }
        self.arms.resize(arms, R::ZERO);
        self.script.load(model, state.time, dt, substeps);
        self.measure_rooms(context);
        if self.separation.is_none() {
            self.separation = Separation::new(model).map(Box::new);
        }
        if let Some(separation) = &mut self.separation {
            separation.begin(model, &state.positions, state.time);
            self.kept.clone_from(&self.particles);
        }
    }

    fn load_vertices(&mut self, context: &Context<'_>, state: &State) {
        let count = state.positions.len();
        self.origins.resize(count, Vec3::ZERO);
        for particles in [&mut self.particles, &mut self.previous, &mut self.velocities] {
            particles.resize(count, Particle::vector(Vec3::ZERO));
        }
        // SAFETY: a worker sets those of its share of the vertices, and gets none.
        let origins = unsafe { Shared::new(&mut self.origins) };
        // SAFETY: as above.
        let [particles, previous, velocities] = unsafe {
            [Shared::new(&mut self.particles), Shared::new(&mut self.previous), Shared::new(&mut self.velocities)]
        };
        context.team.run(sharing(context, count), |worker| {
            for i in worker.share(0..count) {
                origins.set(i, state.positions[i]);
                let particle = Particle::new(Vec3::ZERO, R::from_f64(context.model.inverse_masses[i]));
                particles.set(i, particle);
                previous.set(i, particle);
                velocities.set(i, Particle::vector(state.velocities[i].cast()));
            }
        });
    }

    fn measure_rooms(&mut self, context: &Context<'_>) {
        let Self { origins, script, rooms, .. } = self;
        let (bodies, thickness) = (context.model.colliders.len(), context.model.thickness);
        rooms.resize(origins.len() * bodies, R::ZERO);
        if bodies == 0 {
            return;
        }
        // SAFETY: a worker sets those of its share of the vertices, and gets none.
        let rooms = unsafe { Shared::new(rooms) };
        context.team.run(sharing(context, origins.len()), |worker| {
            for i in worker.share(0..origins.len()) {
                for (k, room) in script.rooms(origins[i], thickness).enumerate() {
                    // More than what the square of a displacement is rounded by; what is not a number is no room.
                    rooms.set(i * bodies + k, R::from_f64(room.max(0.0).powi(2) * (1.0 - 1e-5)));
                }
            }
        });
    }

    /// Whether [`separate`](Self::separate) has to be called after each substep.
    pub(super) fn separates(&self) -> bool {
        self.separation.is_some()
    }

    /// Pairs that were pushed apart since the start of the frame, summed over substeps.
    pub(super) fn contacts(&self) -> u64 {
        self.separation.as_ref().map_or(0, |separation| separation.pushed())
    }

    /// What contact has taken from the motion since the start of the frame.
    pub(super) fn restraint(&self) -> Restraint {
        self.separation.as_ref().map_or_else(Restraint::default, |separation| separation.restraint())
    }

    /// Keeps cloth from cloth at the end of a substep of `step` seconds, and makes velocities of positions.
    pub(super) fn separate(&mut self, context: &Context<'_>, step: f64, substep: usize) -> Result<(), StepError> {
        let Some(mut separation) = self.separation.take() else { return Ok(()) };
        let outcome = self.separate_with(&mut separation, context, step, substep);
        self.separation = Some(separation);
        outcome
    }

    fn separate_with(
        &mut self,
        separation: &mut Separation,
        context: &Context<'_>,
        step: f64,
        substep: usize,
    ) -> Result<(), StepError> {
        separation.lead(context.model, self.script.time_after(substep));
        self.set_ends(separation, context);
        separation.push(context, self.script.obstacles(substep), step);
        if !separation.touched().is_empty() {
            self.take_push(separation, context, step, substep);
        }
        if separation.hold_touched(context)? {
            self.put_all_back(separation);
            for (x, (u, origin)) in separation.start.iter_mut().zip(self.particles.iter().zip(&self.origins)) {
                *x = *origin + u.xyz().cast();
            }
        } else {
            // The ends are exactly what is stored.
            std::mem::swap(&mut separation.start, &mut separation.end);
        }
        separation.settle(context.model, self.script.time_after(substep))?;
        let mut kept = std::mem::take(&mut self.kept);
        // SAFETY: a worker sets those of its share of the vertices, and gets none.
        let copies = unsafe { Shared::new(&mut kept) };
        let (passes, arrays, ..) = self.open(context.model, step);
        context.team.run(context.threads, |worker| {
            worker.share(0..copies.len()).for_each(|i| copies.set(i, arrays.particles.get(i)));
            passes.update(worker, &arrays);
        });
        self.kept = kept;
        Ok(())
    }

    /// Tells where the vertices end, and their inverse masses.
    fn set_ends(&self, separation: &mut Separation, context: &Context<'_>) {
        let Self { particles, origins, .. } = self;
        let count = particles.len();
        separation.end.resize(count, Vec3::ZERO);
        separation.inverse_masses.resize(count, 0.0);
        // SAFETY: a worker has its share of the vertices.
        let (ends, masses) = unsafe { (Shared::new(&mut separation.end), Shared::new(&mut separation.inverse_masses)) };
        context.team.run(sharing(context, count), |worker| {
            let share = worker.share(0..count);
            // SAFETY: shares are disjoint.
            let (ends, masses) = unsafe { (ends.part(share.clone()), masses.part(share.clone())) };
            worker.compiled(
                #[inline(always)]
                || {
                    let all = ends.iter_mut().zip(masses);
                    for ((y, w), (u, origin)) in all.zip(particles[share.clone()].iter().zip(&origins[share])) {
                        *y = *origin + u.xyz().cast();
                        *w = u.inverse_mass().to_f64();
                    }
                },
            );
        });
    }

    /// Takes over what separation has pushed and lifted, and keeps that out of the bodies.
    fn take_push(&mut self, separation: &mut Separation, context: &Context<'_>, step: f64, substep: usize) {
        if separation.is_cut() || !self.facings.is_empty() {
            self.take_push_anywhere(separation, context, step, substep);
            return;
        }
        let script = std::mem::take(&mut self.script);
        let (kept, obstacles) = (std::mem::take(&mut self.kept), script.obstacles(substep));
        let (passes, arrays, ..) = self.open(context.model, step);
        let Ends { touched, start, end, lifts } = separation.ends();
        // SAFETY: a worker gets and sets those of its share of the touched vertices, each of which is there once.
        let ends = unsafe { Shared::new(end) };
        context.team.run(if touched.len() < FEW_TOUCHED { 1 } else { context.threads }, |worker| {
            for vertex in touched[worker.share(0..touched.len())].iter().map(|&vertex| vertex as usize) {
                arrays.previous.set(vertex, lifted(arrays.previous.get(vertex), lifts[vertex]));
                let (particle, way) = (arrays.particles.get(vertex), (&start[vertex], &ends.get(vertex)));
                arrays.particles.set(vertex, put_back(particle, way, kept[vertex], passes.origins[vertex]));
                passes.collide_vertex(vertex, &arrays, obstacles);
                ends.set(vertex, passes.origins[vertex] + arrays.particles.get(vertex).xyz().cast());
            }
        });
        (self.script, self.kept) = (script, kept);
    }

    /// The same where any vertex may have moved, or may have to.
    fn take_push_anywhere(&mut self, separation: &mut Separation, context: &Context<'_>, step: f64, substep: usize) {
        for i in separation.touched().iter().map(|&vertex| vertex as usize) {
            self.previous[i] = lifted(self.previous[i], separation.lifts[i]);
        }
        self.put_all_back(separation);
        let script = std::mem::take(&mut self.script);
        let obstacles = script.obstacles(substep);
        if !obstacles.is_empty() {
            let (passes, arrays, ..) = self.open(context.model, step);
            if arrays.facings.is_empty() {
                separation
                    .touched()
                    .iter()
                    .for_each(|&vertex| passes.collide_vertex(vertex as usize, &arrays, obstacles));
            } else {
                context.team.run(context.threads, |worker| passes.collide(worker, &arrays, obstacles));
            }
        }
        self.script = script;
        separation.end_anywhere(|i| self.origins[i] + self.particles[i].xyz().cast());
    }

    /// Takes over the positions of vertices of cloths that separation has changed.
    fn put_all_back(&mut self, separation: &Separation) {
        for (i, particle) in self.particles.iter_mut().enumerate() {
            let way = (&separation.start[i], &separation.end[i]);
            *particle = put_back(*particle, way, self.kept[i], self.origins[i]);
        }
    }

    /// Opens the arrays to the team, beside what it reads.
    pub(super) fn open<'a>(
        &'a mut self,
        model: &'a Model,
        step: f64,
    ) -> (Substep<'a, R>, Arrays<'a, R>, &'a Script, &'a [usize]) {
        let Self { origins, particles, previous, velocities, pushes, facings, arms, first_arms, script, rooms, .. } =
            self;
        let arrays = Arrays::open(particles, previous, velocities, pushes, facings, arms);
        (Substep::new(model, origins, rooms, step), arrays, script, first_arms)
    }

    /// The first vertex of a range with a number that is not finite.
    pub(super) fn non_finite(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|&i| !self.particles[i].xyz().is_finite() || !self.velocities[i].xyz().is_finite())
    }

    /// In m/s.
    pub(super) fn velocity(&self, vertex: usize) -> Vec3<f64> {
        self.velocities[vertex].xyz().cast()
    }

    /// Copies the vertices back into the state, if all of them are finite.
    pub(super) fn store(&self, context: &Context<'_>, state: &mut State, dt: f64) -> Result<(), StepError> {
        let count = self.particles.len();
        let first_bad = AtomicUsize::new(count);
        // SAFETY: a worker sets those of its share of the vertices, and gets none.
        let [positions, velocities] =
            unsafe { [Shared::new(&mut state.positions), Shared::new(&mut state.velocities)] };
        context.team.run(sharing(context, count), |worker| {
            let share = worker.share(0..count);
            if let Some(bad) = self.non_finite(share.clone()) {
                first_bad.fetch_min(bad, atomic::Ordering::Relaxed);
            }
            // On an error the state is as it was.
            worker.barrier();
            if first_bad.load(atomic::Ordering::Relaxed) == count {
                for i in share {
                    positions.set(i, self.origins[i] + self.particles[i].xyz().cast());
                    velocities.set(i, self.velocities[i].xyz().cast());
                }
            }
        });
        match first_bad.into_inner() {
            bad if bad < count => Err(StepError::non_finite(context.model, bad)),
            _ => {
                state.time += dt;
                Ok(())
            }
        }
    }
}

/// How many threads to use for a pass over so many vertices that is a run of its own: fewer are passed sooner than the others meet.
pub(super) fn sharing(context: &Context<'_>, count: usize) -> usize {
    const FEW: usize = 4096;
    if count < FEW { 1 } else { context.threads }
}

/// Where a vertex was, lifted by so much, in m.
fn lifted<R: Real>(previous: Particle<R>, lift: Vec3<f64>) -> Particle<R> {
    Particle::new(previous.xyz() + lift.cast(), previous.inverse_mass())
}

/// A vertex where separation has put it, on the `way` from its start to its end, in m; `kept` is how it was stored at its start.
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

/// The arrays of a frame, open to the team.
pub(super) struct Arrays<'a, R: Real> {
    pub(super) particles: Shared<'a, Particle<R>>,
    pub(super) previous: Shared<'a, Particle<R>>,
    pub(super) velocities: Shared<'a, Particle<R>>,
    pushes: Shared<'a, Push<R>>,
    facings: Shared<'a, Facing>,
    pub(super) arms: Shared<'a, R>,
}

impl<'a, R: Real> Arrays<'a, R> {
    fn open(
        particles: &'a mut [Particle<R>],
        previous: &'a mut [Particle<R>],
        velocities: &'a mut [Particle<R>],
        pushes: &'a mut [Push<R>],
        facings: &'a mut [Facing],
        arms: &'a mut [R],
    ) -> Self {
        // SAFETY: what each pass gets and sets, with a barrier after each. "Own" is the worker's share of the vertices,
        // triangles or elements; shares differ from pass to pass, which the barriers make harmless.
        //
        //   arms           gets nothing                             sets own arms
        //   wind, first    gets all particles and velocities        sets own pushes
        //   wind, second   gets all pushes, own particles           sets own velocities
        //   predict, hold  gets own                                 sets own particles, previous, velocities
        //   one colour     gets those of own elements, their        sets those of own elements, which no other element
        //                  previous and arms                        of the colour has
        //   tethers        gets own, and anchors, which have no       sets own particles
        //                  tethers, so that nobody sets them then
        //   collide        gets own                                 sets own particles, previous, facings
        //   collide_edges  as one colour, for each of its colours   sets particles, previous, facings of own edges
        //   collide_again  gets own                                 sets own particles, previous
        //   update         gets own                                 sets own velocities
        //   forces         gets all particles, velocities, arms     sets nothing here
        //   move           as predict                               as predict
        //   residual       gets all particles, previous, arms       sets nothing
        //
        // (The second pass of the wind, predict and move have the same shares, so no barrier is needed between them.)
        unsafe {
            Self {
                particles: Shared::new(particles),
                previous: Shared::new(previous),
                velocities: Shared::new(velocities),
                pushes: Shared::new(pushes),
                facings: Shared::new(facings),
                arms: Shared::new(arms),
            }
        }
    }
}

/// What is the same in every substep of a frame.
pub(super) struct Substep<'a, R: Real> {
    model: &'a Model,
    pub(super) origins: &'a [Vec3<f64>],
    /// See [`Frame::rooms`].
    rooms: &'a [R],
    step: R,
    /// h, 1/h and h g in all lanes that move.
    steps: R::Four,
    inverse_steps: R::Four,
    gravity_step: R::Four,
    wind: Option<Wind<R>>,
    thickness: f64,
}

impl<'a, R: Real> Substep<'a, R> {
    fn new(model: &'a Model, origins: &'a [Vec3<f64>], rooms: &'a [R], step: f64) -> Self {
        let all = |number: f64| R::Four::from([R::from_f64(number); 4]);
        Self {
            model,
            origins,
            rooms,
            step: R::from_f64(step),
            steps: all(step),
            inverse_steps: all(1.0 / step),
            gravity_step: Particle::<R>::vector((model.gravity * step).cast()).four(),
            wind: model.wind.as_ref().map(Wind::cast),
            thickness: model.thickness,
        }
    }

    /// Forces from outside, then every vertex where it would go alone; pins where their paths lead.
    pub(super) fn predict(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, pin_poses: &[Option<Pose>]) {
        if self.wind.is_some() {
            self.measure_wind(worker, arrays);
            worker.barrier();
        }
        self.go(worker, arrays, pin_poses, |_, _| |_, _, velocity| velocity);
    }

    /// Moves every vertex by its velocity, which wind, forces, damping and gravity change first; pins go where their paths lead.
    ///
    /// `forces` gets the vertices of a cloth that are this worker's, and gives a function that changes the velocity of one: of a vertex, what it is as a
    /// particle, and its velocity.
    #[inline(always)]
    pub(super) fn go<Kick: Fn(usize, R::Four, R::Four) -> R::Four>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, R>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.go_on(worker, arrays, pin_poses, forces),
        );
    }

    #[inline(always)]
    fn go_on<Kick: Fn(usize, R::Four, R::Four) -> R::Four>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, R>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        for cloth in &self.model.cloths {
            let flight = self.flight(cloth);
            let share = worker.share(cloth.vertices.clone());
            if self.wind.is_some() {
                self.add_wind(share.clone(), arrays);
            }
            let kick = forces(cloth, share.clone());
            // Copies, which no store can change.
            let (particles, previous, velocities) = (arrays.particles, arrays.previous, arrays.velocities);
            for i in share.clone() {
                let particle = particles.get(i).four();
                previous.set(i, Particle::from_four(particle));
                let [particle, velocity] = flight.after(particle, kick(i, particle, velocities.get(i).four()));
                velocities.set(i, Particle::from_four(velocity));
                particles.set(i, Particle::from_four(particle));
            }
            self.hold(share, arrays, pin_poses);
        }
    }

    fn flight(&self, cloth: &Cloth) -> Flight<R> {
        let decay = R::Four::from([R::from_f64(self.decay(cloth)); 4]);
        Flight { decay, gravity_step: self.gravity_step, steps: self.steps }
    }

    /// Whether there is wind.
    pub(super) fn has_wind(&self) -> bool {
        self.wind.is_some()
    }

    /// What damping leaves of a velocity after a substep.
    pub(super) fn decay(&self, cloth: &Cloth) -> f64 {
        libm::exp(-cloth.damping * self.step.to_f64())
    }

    /// The push of the air on every triangle, where there is wind.
    pub(super) fn measure_wind(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>) {
        let Some(wind) = &self.wind else { return };
        for t in worker.share(0..self.model.triangles.len()) {
            let corners = self.model.triangles[t].map(|v| v as usize);
            let first = self.origins[corners[0]];
            let x = corners.map(|v| (self.origins[v] - first).cast::<R>() + arrays.particles.get(v).xyz());
            arrays.pushes.set(t, wind.push(x, corners.map(|v| arrays.velocities.get(v).xyz())));
        }
    }

    /// Adds that push to the velocities of a share.
    fn add_wind(&self, share: Range<usize>, arrays: &Arrays<'_, R>) {
        for i in share {
            let around = self.model.vertex_triangles.of(i as u32).iter();
            let push = around.fold(Push::default(), |sum, &t| sum.plus(arrays.pushes.get(t as usize)));
            let change = push.velocity_step(arrays.particles.get(i).inverse_mass(), self.step);
            arrays.velocities.set(i, Particle::vector(arrays.velocities.get(i).xyz() + change));
        }
    }

    /// The pinned vertices of a share.
    pub(super) fn pinned(&self, share: Range<usize>) -> impl Iterator<Item = &'a Pinned> {
        self.model.pinned_in(share)
    }

    /// Puts the pinned vertices of a share where their paths lead, and lets go of those that are released.
    fn hold(&self, share: Range<usize>, arrays: &Arrays<'_, R>, pin_poses: &[Option<Pose>]) {
        for p in self.pinned(share) {
            let i = p.vertex as usize;
            match &pin_poses[p.pin as usize] {
                Some(pose) => {
                    let target = pose.apply(self.model.initial_positions[i]) - self.origins[i];
                    arrays.particles.set(i, Particle::vector(target.cast()));
                    // Both ends of the substep have the same fourth number, so that of the velocity stays zero.
                    let previous = Particle::vector(arrays.previous.get(i).xyz());
                    arrays.previous.set(i, previous);
                    let velocity = (arrays.particles.get(i).four() - previous.four()) * self.inverse_steps;
                    arrays.velocities.set(i, Particle::from_four(velocity));
                }
                None => {
                    let inverse_mass = R::from_f64(self.model.inverse_masses[i]);
                    arrays.particles.set(i, Particle::new(arrays.particles.get(i).xyz(), inverse_mass));
                    arrays.previous.set(i, Particle::new(arrays.previous.get(i).xyz(), inverse_mass));
                }
            }
        }
    }

    /// All vertices, and the middles of edges, out of the bodies; ends with the team at a barrier.
    pub(super) fn collide(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        self.collide_vertices(worker, arrays, obstacles);
        worker.barrier();
        if !arrays.facings.is_empty() {
            self.collide_edges(worker, arrays, obstacles);
            // What holds at the end of a substep holds for vertices.
            self.collide_again(worker, arrays, obstacles);
            worker.barrier();
        }
    }

    fn collide_vertices(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        let reach = self.model.contact_edges.reach;
        for i in worker.share(0..arrays.particles.len()) {
            if !arrays.facings.is_empty() {
                let x = self.position(&arrays.particles, i);
                arrays.facings.set(i, Facing { normal: way_out(x, obstacles, self.thickness + reach), pushed: false });
            }
            self.collide_vertex(i, arrays, obstacles);
        }
    }

    fn collide_vertex(&self, i: usize, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        if arrays.particles.get(i).inverse_mass() == R::ZERO {
            return;
        }
        let rooms = self.rooms[i * obstacles.len()..].iter();
        for (obstacle, &room) in obstacles.iter().zip(rooms) {
            // What is not a number is looked at.
            if arrays.particles.get(i).xyz().norm_squared() < room {
                continue;
            }
            let x = self.position(&arrays.particles, i);
            let previous = || self.position(&arrays.previous, i);
            if let Some(touch) = obstacle.touch(x, previous, self.thickness, self.step.to_f64()) {
                let (moved, lifted) = contact::project(&touch, x, previous());
                shift(&arrays.particles, i, moved - x);
                shift(&arrays.previous, i, lifted - previous());
            }
        }
    }

    /// The vertices that an edge has pushed, once more.
    fn collide_again(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        for i in worker.share(0..arrays.particles.len()) {
            if arrays.facings.get(i).pushed {
                self.collide_vertex(i, arrays, obstacles);
            }
        }
    }

    /// The middles of the edges against bodies that could pass between two vertices; a barrier after each colour.
    ///
    /// Most edges need no look: those with an end that is far away, and those whose ends are outside the same plane of a
    /// convex body, since their middles are outside it then too.
    fn collide_edges(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>, obstacles: &[Obstacle]) {
        /// The cosine of two ways out that count as one.
        const SAME: f64 = 1.0 - 1e-9;
        let ContactEdges { stencils, colors, .. } = &self.model.contact_edges;
        for color in colors {
            for e in worker.share(color.clone()) {
                let [a, b] = stencils[e].map(|v| arrays.facings.get(v as usize).normal);
                if a == Vec3::ZERO || b == Vec3::ZERO || a.dot(b) > SAME {
                    continue;
                }
                for obstacle in obstacles.iter().filter(|obstacle| obstacle.is_fine) {
                    self.collide_edge(stencils[e].map(|v| v as usize), arrays, obstacle);
                }
            }
            worker.barrier();
        }
    }

    /// C = d((x₀ + x₁)/2) − t ≥ 0: the middle moves as a vertex would, and each end by 2wᵢ/(w₀ + w₁) of that.
    fn collide_edge(&self, ends: [usize; 2], arrays: &Arrays<'_, R>, obstacle: &Obstacle) {
        let middle = |of: &Shared<'_, Particle<R>>| (self.position(of, ends[0]) + self.position(of, ends[1])) * 0.5;
        let w = ends.map(|v| arrays.particles.get(v).inverse_mass().to_f64());
        if w[0] + w[1] == 0.0 {
            return;
        }
        let x = middle(&arrays.particles);
        let previous = || middle(&arrays.previous);
        let Some(touch) = obstacle.touch(x, previous, self.thickness, self.step.to_f64()) else { return };
        let (moved, lifted) = contact::project(&touch, x, previous());
        let (push, lift) = (moved - x, lifted - previous());
        for (end, w_i) in ends.into_iter().zip(w) {
            let part = 2.0 * w_i / (w[0] + w[1]);
            shift(&arrays.particles, end, push * part);
            shift(&arrays.previous, end, lift * part);
            arrays.facings.set(end, Facing { pushed: true, ..arrays.facings.get(end) });
        }
    }

    /// A position from its displacement, in m: in double precision, since a contact is a small difference of large numbers.
    #[inline(always)]
    fn position(&self, displacements: &Shared<'_, Particle<R>>, vertex: usize) -> Vec3<f64> {
        self.origins[vertex] + displacements.get(vertex).xyz().cast()
    }

    /// Velocities from positions.
    pub(super) fn update(&self, worker: &Worker<'_>, arrays: &Arrays<'_, R>) {
        for i in worker.share(0..arrays.particles.len()) {
            // v = (x − xⁿ)/h, written as the predicted velocity plus the correction: the rounding of the position,
            // divided by a small h, would be a velocity of its own and let single precision drift.
            let velocity = arrays.velocities.get(i).four();
            let end = predicted::<R>(arrays.previous.get(i).four(), velocity, self.steps);
            let correction = arrays.particles.get(i).four() - end;
            arrays.velocities.set(i, Particle::from_four(velocity + correction * self.inverse_steps));
        }
    }
}

/// How the vertices of a cloth go.
struct Flight<R: Real> {
    decay: R::Four,
    gravity_step: R::Four,
    steps: R::Four,
}

impl<R: Real> Flight<R> {
    /// Displacement and velocity after a substep, from those before; forces have changed the velocity.
    #[inline(always)]
    fn after(&self, particle: R::Four, kicked: R::Four) -> [R::Four; 2] {
        // Damping slows what moves; it takes nothing from the weight.
        let velocity = kicked * self.decay + self.gravity_step;
        [predicted::<R>(particle, velocity, self.steps), velocity]
    }
}

impl Substep<'_, f32> {
    /// [`go`](Self::go) for vertices that are kept together, where there is no wind, and nothing but pins acts on them afterwards. It goes
    /// through half as much memory.
    #[inline(always)]
    pub(super) fn go_together<Kick: Fn(usize, Lanes, Lanes) -> Lanes>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, f32>,
        motion: &Shared<'_, Moving>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.go_on_together(worker, arrays, motion, pin_poses, forces),
        );
    }

    #[inline(always)]
    fn go_on_together<Kick: Fn(usize, Lanes, Lanes) -> Lanes>(
        &self,
        worker: &Worker<'_>,
        arrays: &Arrays<'_, f32>,
        motion: &Shared<'_, Moving>,
        pin_poses: &[Option<Pose>],
        forces: impl Fn(&Cloth, Range<usize>) -> Kick,
    ) {
        // A copy, which no store can change.
        let motion = *motion;
        for cloth in &self.model.cloths {
            let flight = self.flight(cloth);
            let share = worker.share(cloth.vertices.clone());
            let pinned = || self.pinned(share.clone()).map(|pinned| pinned.vertex as usize);
            for i in pinned() {
                arrays.previous.set(i, Particle::from_four(motion.get(i).particle()));
            }
            let kick = forces(cloth, share.clone());
            for i in share.clone() {
                let before = motion.get(i);
                let kicked = kick(i, before.particle(), before.velocity());
                let [particle, velocity] = flight.after(before.particle(), kicked);
                motion.set(i, Moving::new(particle, velocity));
            }
            for i in pinned() {
                part(arrays, &motion, i);
            }
            self.hold(share.clone(), arrays, pin_poses);
            for i in pinned() {
                join(arrays, &motion, i);
            }
        }
    }
}

/// Puts displacement and velocity of a vertex together.
#[inline(always)]
pub(super) fn join(arrays: &Arrays<'_, f32>, motion: &Shared<'_, Moving>, vertex: usize) {
    motion.set(vertex, Moving::new(arrays.particles.get(vertex).four(), arrays.velocities.get(vertex).four()));
}

/// The reverse.
#[inline(always)]
pub(super) fn part(arrays: &Arrays<'_, f32>, motion: &Shared<'_, Moving>, vertex: usize) {
    let moving = motion.get(vertex);
    arrays.particles.set(vertex, Particle::from_four(moving.particle()));
    arrays.velocities.set(vertex, Particle::from_four(moving.velocity()));
}

/// Where a vertex would be at the end of the substep on its own, in m.
#[inline(always)]
fn predicted<R: Real>(start: R::Four, velocity: R::Four, steps: R::Four) -> R::Four {
    start + velocity * steps
}

/// How a vertex is placed to fine bodies.
#[derive(Clone, Copy, Default)]
struct Facing {
    /// The way out of the nearest; zero if all are far.
    normal: Vec3<f64>,
    /// Whether an edge has pushed the vertex in this iteration.
    pushed: bool,
}

/// The way out of the nearest fine body within reach; zero if there is none.
fn way_out(x: Vec3<f64>, obstacles: &[Obstacle], reach: f64) -> Vec3<f64> {
    let mut nearest = Probe { distance: reach, normal: Vec3::ZERO };
    for obstacle in obstacles.iter().filter(|obstacle| obstacle.is_fine) {
        nearest = obstacle.after.probe_within(x, nearest.distance).unwrap_or(nearest);
    }
    nearest.normal
}

/// Adds to a displacement.
#[inline(always)]
fn shift<R: Real>(displacements: &Shared<'_, Particle<R>>, vertex: usize, by: Vec3<f64>) {
    let particle = displacements.get(vertex);
    displacements.set(vertex, Particle::new(particle.xyz() + by.cast(), particle.inverse_mass()));
}
