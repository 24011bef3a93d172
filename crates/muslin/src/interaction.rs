//! Interaction with a cloth that moves: a person grabs some vertices, holds or frees single ones, shifts bodies.
//!
//! A grab is a pin whose way is not known beforehand. Before each frame it is asked where to be at the end; it goes there in a straight line,
//! no faster than [`MAX_SPEED`], so that a jump of the pointer is a quick motion and not a blow. Bodies are led in the same way, on top of
//! their paths, and contact sees all of it as motion: it pushes and drags the cloth, and nothing passes through meshes and other cloth.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::description::Path;
use crate::math::Vec3;
use crate::model::{Model, Pin, Pinned};
use crate::motion::{Lead, Motion};
use crate::state::State;

/// Faster than an arm moves without strain, in m/s.
pub(crate) const MAX_SPEED: f64 = 5.0;

/// A point that follows the pointer, and turns as it is told.
#[derive(Clone, Copy, Debug)]
struct Follower {
    /// Where it is, in m, from where it began.
    place: Vec3<f64>,
    /// Where it is to be.
    target: Vec3<f64>,
    /// No faster than this, in m/s.
    speed: f64,
    /// How far it has turned about the axis of its path, in degrees.
    turn: f64,
    /// How far it is to be turned at the end of the next frame.
    target_turn: f64,
}

impl Follower {
    const STILL: Self = Self { place: Vec3::ZERO, target: Vec3::ZERO, speed: MAX_SPEED, turn: 0.0, target_turn: 0.0 };

    /// A point that is at `place` and is to be at `target` at the end of the next frame, however far that is.
    fn led(place: Vec3<f64>, target: Vec3<f64>) -> Self {
        Self { place, target, speed: f64::INFINITY, ..Self::STILL }
    }

    /// Where it is after `dt` seconds.
    fn next(&self, dt: f64) -> Vec3<f64> {
        let way = self.target - self.place;
        let (length, reach) = (way.norm(), self.speed * dt);
        if length <= reach { self.target } else { self.place + way * (reach / length) }
    }

    fn moves(&self) -> bool {
        self.target != self.place || self.target_turn != self.turn
    }

    /// Its way in a frame, from `from` on; none at all where it does not go.
    fn lead(&self, [time, dt]: [f64; 2], from: Vec3<f64>, goes: bool) -> Lead {
        let (next, turn) = if goes { (self.next(dt), self.target_turn) } else { (self.place, self.turn) };
        Lead { times: [time, time + dt], offsets: [from + self.place, from + next], turns: [self.turn, turn] }
    }

    fn led_to(&self) -> Destination {
        Destination {
            place: self.place.to_array(),
            target: self.target.to_array(),
            turns: [self.turn, self.target_turn],
        }
    }
}

/// What a program has done to a simulation and what lasts: vertices that it holds or has freed, colliders and pins that it leads. Beside the
/// [`State`] it is all that a simulation of the same scene needs to go on with the same bits.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let build = || Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build();
/// let mut simulation = build()?;
/// simulation.lead_vertices(0, &[(4, [0.0, 0.1, 0.0])])?;
/// simulation.advance()?;
/// let (state, interaction) = (simulation.state().clone(), simulation.interaction());
/// let mut other = build()?;
/// other.restore(state, 1)?;
/// other.restore_interaction(&interaction)?;
/// simulation.advance()?;
/// other.advance()?;
/// assert_eq!(other.state().hash(), simulation.state().hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// Vertices of the state, with where each is led; without, it was freed.
    held: Vec<(u32, Option<Destination>)>,
    /// By their places among the colliders of the scene.
    colliders: Vec<(usize, Destination)>,
    /// By their places among the pins of the model.
    pins: Vec<(usize, Destination)>,
}

/// Where something is and where it is to be, in m, and how far it is turned, in degrees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Destination {
    place: [f64; 3],
    target: [f64; 3],
    turns: [f64; 2],
}

impl Destination {
    fn follower(&self) -> Follower {
        let [turn, target_turn] = self.turns;
        Follower { turn, target_turn, ..Follower::led(self.place.into(), self.target.into()) }
    }

    fn is_finite(&self) -> bool {
        self.place.iter().chain(&self.target).chain(&self.turns).all(|number| number.is_finite())
    }
}

impl Interaction {
    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.colliders.is_empty() && self.pins.is_empty()
    }

    /// Whether it is one of a model with so many colliders.
    pub(crate) fn fits(&self, model: &Model, colliders: usize, scene_pins: usize) -> bool {
        let is_sound = |led: &Destination| led.is_finite();
        self.held.iter().all(|(v, led)| (*v as usize) < model.masses.len() && led.as_ref().is_none_or(is_sound))
            && self.colliders.iter().all(|(i, led)| *i < colliders && is_sound(led))
            && self.pins.iter().all(|(i, led)| *i < scene_pins && is_sound(led))
    }
}

/// Everything that a person does to one simulation.
#[derive(Clone, Debug)]
pub(crate) struct Grab {
    /// The pins of the scene, of which the model's are made anew whenever a grab takes or leaves a vertex.
    scene_pins: usize,
    scene_pinned: Vec<Pinned>,
    /// Vertices that are held, in m, and led by a program; `None` for one that the scene holds and a person has freed.
    held: BTreeMap<u32, Option<Follower>>,
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
                self.held.insert(v, Some(Follower::led(place(v), place(v))));
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
        self.held.insert(vertex, place.map(|place| Follower::led(place, place)));
        self.pin(model);
    }

    /// Holds vertices and leads each to its target, where it is at the end of the next frame. Says whether any was not held before, which changes
    /// the model.
    pub(crate) fn lead_vertices(&mut self, model: &mut Model, state: &State, targets: &[(u32, Vec3<f64>)]) -> bool {
        let mut is_new = false;
        for &(vertex, target) in targets {
            match self.held.get_mut(&vertex) {
                Some(Some(held)) => held.target = target,
                _ => {
                    is_new = true;
                    self.held.insert(vertex, Some(Follower::led(state.positions[vertex as usize], target)));
                }
            }
        }
        if is_new {
            self.pin(model);
        }
        is_new
    }

    /// Frees vertices from whatever holds them.
    pub(crate) fn free(&mut self, model: &mut Model, vertices: &[u32]) {
        self.held.extend(vertices.iter().map(|&vertex| (vertex, None)));
        self.pin(model);
    }

    /// What a program has done, without grabs.
    pub(crate) fn record(&self) -> Interaction {
        let leads = |followers: &BTreeMap<usize, Follower>| followers.iter().map(|(i, f)| (*i, f.led_to())).collect();
        Interaction {
            held: self.held.iter().map(|(v, held)| (*v, held.as_ref().map(Follower::led_to))).collect(),
            colliders: leads(&self.shifts),
            pins: leads(&self.led_pins),
        }
    }

    /// Puts everything where a record has it; what was done before is undone.
    pub(crate) fn replay(&mut self, model: &mut Model, record: &Interaction) {
        self.clear(model);
        let followers = |leads: &[(usize, Destination)]| leads.iter().map(|(i, led)| (*i, led.follower())).collect();
        self.held = record.held.iter().map(|(v, led)| (*v, led.as_ref().map(Destination::follower))).collect();
        self.shifts = followers(&record.colliders);
        self.led_pins = followers(&record.pins);
        self.pin(model);
    }

    /// Pins of the scene.
    pub(crate) fn scene_pins(&self) -> usize {
        self.scene_pins
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

    /// How far a body is to be turned at the end of the next frame, in degrees, about the axis of its path.
    pub(crate) fn turn_collider(&mut self, body: usize, turn: f64) {
        self.shifts.entry(body).or_insert(Follower::STILL).target_turn = turn;
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
        let held = self.held_now().map(|(v, held)| (v, held.place));
        for (vertex, place) in held.chain(self.grabbed.iter().map(|(&v, &place)| (v, place))) {
            model.pinned.push(Pinned { vertex, pin: model.pins.len() as u32 });
            let mut motion = Motion::new(&Path::still(), Vec3::ZERO);
            let offset = place - model.initial_positions[vertex as usize];
            motion.lead(Some(Lead { times: [0.0; 2], offsets: [offset; 2], turns: [0.0; 2] }));
            model.pins.push(Pin { motion, until: None });
        }
        model.pinned.sort_unstable_by_key(|pinned| pinned.vertex);
    }

    /// Vertices that are held and not grabbed, in the order of their pins.
    fn held_now(&self) -> impl Iterator<Item = (u32, &Follower)> {
        let held = self.held.iter().filter_map(|(&v, held)| held.as_ref().map(|held| (v, held)));
        held.filter(|(v, _)| !self.grabbed.contains_key(v))
    }

    /// Whether anything is to move in the next frame.
    pub(crate) fn moves(&self) -> bool {
        (!self.grabbed.is_empty() && self.grip.moves())
            || self.held_now().any(|(_, held)| held.moves())
            || self.shifts.values().chain(self.led_pins.values()).any(Follower::moves)
    }

    /// Writes the way of a frame into the model: towards the targets, or none at all.
    pub(crate) fn lead(&self, model: &mut Model, time: f64, dt: f64, goes: bool) {
        let lead = |follower: &Follower, from: Vec3<f64>| Some(follower.lead([time, dt], from, goes));
        for ((vertex, held), pin) in self.held_now().zip(&mut model.pins[self.scene_pins..]) {
            pin.motion.lead(lead(held, -model.initial_positions[vertex as usize]));
        }
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
        // A way that contact refused is tried again in the next frame: by then the pointer may be elsewhere.
        if !went {
            return;
        }
        let held = self.held.values_mut().flatten();
        for follower in self.shifts.values_mut().chain(self.led_pins.values_mut()).chain(held).chain([&mut self.grip]) {
            follower.place = follower.next(dt);
            follower.turn = follower.target_turn;
        }
    }

    /// Whether nobody has done anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.held.is_empty() && self.grabbed.is_empty() && self.shifts.is_empty() && self.led_pins.is_empty()
    }
}
