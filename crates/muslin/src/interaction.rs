//! Interaction with a cloth that moves: a person grabs some vertices, holds or frees single ones, shifts bodies.
//!
//! A grab is a pin whose way is not known beforehand. Before each frame it is asked where to be at the end; it goes there in a straight line,
//! no faster than [`MAX_SPEED`], so that a jump of the pointer is a quick motion and not a blow. Bodies are led in the same way, on top of
//! their paths, and contact sees all of it as motion: it pushes and drags the cloth, and nothing passes through meshes and other cloth.

use std::collections::BTreeMap;

use crate::description::Path;
use crate::math::Vec3;
use crate::model::{Model, Pin, Pinned};
use crate::motion::{Lead, Motion};
use crate::state::State;

/// Faster than an arm moves without strain, in m/s.
pub(crate) const MAX_SPEED: f64 = 5.0;

/// A point that follows the pointer.
#[derive(Clone, Copy, Debug)]
struct Follower {
    /// Where it is, in m, from where it began.
    place: Vec3<f64>,
    /// Where it is to be.
    target: Vec3<f64>,
    /// No faster than this, in m/s.
    speed: f64,
}

impl Follower {
    const STILL: Self = Self { place: Vec3::ZERO, target: Vec3::ZERO, speed: MAX_SPEED };

    /// Where it is after `dt` seconds.
    fn next(&self, dt: f64) -> Vec3<f64> {
        let way = self.target - self.place;
        let (length, reach) = (way.norm(), self.speed * dt);
        if length <= reach { self.target } else { self.place + way * (reach / length) }
    }

    fn moves(&self) -> bool {
        self.target != self.place
    }
}

/// Everything that a person does to one simulation.
#[derive(Clone, Debug)]
pub(crate) struct Grab {
    /// The pins of the scene, of which the model's are made anew whenever a grab takes or leaves a vertex.
    scene_pins: usize,
    scene_pinned: Vec<Pinned>,
    /// Vertices that are held where they are, in m; `None` for one that the scene holds and a person has freed.
    held: BTreeMap<u32, Option<Vec3<f64>>>,
    /// Grabbed vertices, with where each was taken, in m.
    grabbed: BTreeMap<u32, Vec3<f64>>,
    grip: Follower,
    /// Bodies that were shifted, by their places among the colliders of the scene.
    shifts: BTreeMap<usize, Follower>,
    /// Pins of the scene that a program leads.
    led_pins: BTreeMap<usize, Follower>,
}

impl Grab {
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            scene_pins: model.pins.len(),
            scene_pinned: model.pinned.clone(),
            held: BTreeMap::new(),
            grabbed: BTreeMap::new(),
            grip: Follower::STILL,
            shifts: BTreeMap::new(),
            led_pins: BTreeMap::new(),
        }
    }

    /// The same on another model of the same cloths, whose bodies are where `shifted` has put them.
    pub(crate) fn on(&self, model: &mut Model, shifted: &BTreeMap<usize, Vec3<f64>>) -> Self {
        let fresh = Self::new(model);
        let mut shifts = self.shifts.clone();
        for (&body, &offset) in shifted {
            let follower = shifts.entry(body).or_insert(Follower::STILL);
            follower.place -= offset;
            follower.target -= offset;
        }
        let grab = Self { scene_pins: fresh.scene_pins, scene_pinned: fresh.scene_pinned, shifts, ..self.clone() };
        grab.pin(model);
        grab
    }

    /// Lets go of everything.
    pub(crate) fn clear(&mut self, model: &mut Model) {
        self.held.clear();
        self.grabbed.clear();
        self.shifts.clear();
        self.led_pins.clear();
        model.pins.iter_mut().take(self.scene_pins).for_each(|pin| pin.motion.lead(None));
        self.grip = Follower::STILL;
        self.pin(model);
        model.colliders.iter_mut().for_each(|collider| collider.motion.lead(None));
        model.bodies.iter_mut().for_each(|body| body.motion.lead(None));
    }

    /// Takes vertices where they are, and leaves those that it had. Of these, what was held before is held where the grab has brought it: the
    /// pin of the scene would take it back in one substep, which is a blow.
    pub(crate) fn grab(&mut self, model: &mut Model, state: &State, vertices: &[u32]) {
        let place = |v: u32| state.positions[v as usize];
        for &v in self.grabbed.keys() {
            let is_pinned = || {
                let pin = self.scene_pinned.iter().find(|pinned| pinned.vertex == v).map(|pinned| pinned.pin as usize);
                pin.is_some_and(|pin| model.pins[pin].pose(state.time).is_some())
            };
            if self.held.get(&v).map_or_else(is_pinned, Option::is_some) {
                self.held.insert(v, Some(place(v)));
            }
        }
        self.grabbed = vertices.iter().map(|&v| (v, place(v))).collect();
        self.grip = Follower::STILL;
        self.pin(model);
    }

    /// Where the grabbed vertices are to be, in m, from where they were taken.
    pub(crate) fn drag(&mut self, offset: Vec3<f64>) {
        self.grip.target = offset;
    }

    /// Holds a vertex at a place, or frees it.
    pub(crate) fn hold(&mut self, model: &mut Model, vertex: u32, place: Option<Vec3<f64>>) {
        self.held.insert(vertex, place);
        self.pin(model);
    }

    /// Where a body is to be, in m, from where its path has it.
    pub(crate) fn shift(&mut self, body: usize, offset: Vec3<f64>) {
        let follower = self.shifts.entry(body).or_insert(Follower::STILL);
        (follower.target, follower.speed) = (offset, MAX_SPEED);
    }

    /// The same for a program, which knows how fast it means to be: the body is there at the end of the next frame.
    pub(crate) fn lead_collider(&mut self, body: usize, offset: Vec3<f64>) {
        let follower = self.shifts.entry(body).or_insert(Follower::STILL);
        (follower.target, follower.speed) = (offset, f64::INFINITY);
    }

    /// The same for a pin of the scene.
    pub(crate) fn lead_pin(&mut self, pin: usize, offset: Vec3<f64>) {
        let follower = self.led_pins.entry(pin).or_insert(Follower::STILL);
        (follower.target, follower.speed) = (offset, f64::INFINITY);
    }

    /// Makes the pins of the model: those of the scene but for what was freed or taken, then one for each grabbed vertex.
    fn pin(&self, model: &mut Model) {
        model.pins.truncate(self.scene_pins);
        let is_ours = |v: u32| self.held.contains_key(&v) || self.grabbed.contains_key(&v);
        model.pinned = self.scene_pinned.iter().copied().filter(|pinned| !is_ours(pinned.vertex)).collect();
        let held = self.held.iter().filter_map(|(&v, place)| place.map(|place| (v, place)));
        let held = held.filter(|(v, _)| !self.grabbed.contains_key(v));
        for (vertex, place) in held.chain(self.grabbed.iter().map(|(&v, &place)| (v, place))) {
            model.pinned.push(Pinned { vertex, pin: model.pins.len() as u32 });
            let mut motion = Motion::new(&Path::still(), Vec3::ZERO);
            let offset = place - model.initial_positions[vertex as usize];
            motion.lead(Some(Lead { times: [0.0; 2], offsets: [offset; 2] }));
            model.pins.push(Pin { motion, until: None });
        }
        model.pinned.sort_unstable_by_key(|pinned| pinned.vertex);
    }

    /// Whether anything is to move in the next frame.
    pub(crate) fn moves(&self) -> bool {
        (!self.grabbed.is_empty() && self.grip.moves())
            || self.shifts.values().chain(self.led_pins.values()).any(Follower::moves)
    }

    /// Writes the way of a frame into the model: towards the targets, or none at all.
    pub(crate) fn lead(&self, model: &mut Model, time: f64, dt: f64, goes: bool) {
        let lead = |follower: &Follower, from: Vec3<f64>| {
            let next = if goes { follower.next(dt) } else { follower.place };
            Some(Lead { times: [time, time + dt], offsets: [from + follower.place, from + next] })
        };
        // The grabbed vertices have the last pins.
        let first = model.pins.len() - self.grabbed.len();
        for ((&vertex, &place), pin) in self.grabbed.iter().zip(&mut model.pins[first..]) {
            pin.motion.lead(lead(&self.grip, place - model.initial_positions[vertex as usize]));
        }
        for (&pin, follower) in &self.led_pins {
            model.pins[pin].motion.lead(lead(follower, Vec3::ZERO));
        }
        for collider in &mut model.colliders {
            if let Some(follower) = self.shifts.get(&collider.index) {
                collider.motion.lead(lead(follower, Vec3::ZERO));
                collider.moves = true;
            }
        }
        for body in &mut model.bodies {
            if let Some(follower) = self.shifts.get(&body.index) {
                body.motion.lead(lead(follower, Vec3::ZERO));
                body.moves = true;
            }
        }
    }

    /// The frame is done, as [`lead`](Self::lead) wrote it.
    pub(crate) fn arrive(&mut self, dt: f64, went: bool) {
        for follower in self.shifts.values_mut().chain(self.led_pins.values_mut()).chain([&mut self.grip]) {
            // A way that contact refused is tried again in the next frame: by then the pointer may be elsewhere.
            if went {
                follower.place = follower.next(dt);
            }
        }
    }

    /// Whether nobody has done anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.held.is_empty() && self.grabbed.is_empty() && self.shifts.is_empty() && self.led_pins.is_empty()
    }
}
