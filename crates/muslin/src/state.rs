//! State: positions, velocities and time, all that changes.

use serde::{Deserialize, Serialize};

use crate::math::Vec3;

/// Positions and velocities at one instant; clone it to snapshot, assign it to rewind.
///
/// Vertices are in the model's own order, which is chosen for cache locality;
/// [`Simulation::positions`](crate::Simulation::positions) gives them in the order of the user's mesh.
/// Numbers are `f64`, whatever the precision of the solver: single precision goes through them unchanged.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4])).build()?;
/// let snapshot = simulation.state().clone();
/// simulation.advance()?;
/// simulation.restore(snapshot.clone(), 0)?;
/// assert_eq!(simulation.state().hash(), snapshot.hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// In m.
    pub positions: Vec<Vec3<f64>>,
    /// In m/s.
    pub velocities: Vec<Vec3<f64>>,
    /// In s.
    pub time: f64,
    /// What a solver that looks back more than one step carries from frame to frame.
    pub memory: SolverMemory,
    /// What was done to the cloth from outside since the start of the run. No motion depends on it, and no hash.
    pub work: Work,
}

/// Work that was done on the cloth from outside, in J; negative where the cloth has given energy away.
///
/// ```
/// use muslin::state::Work;
///
/// let mut work = Work { pins: 0.5, ..Work::default() };
/// work += Work { wind: 0.25, ..Work::default() };
/// assert_eq!(work.total(), 0.75);
/// ```
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// Of pins, and of grabs.
    pub pins: f64,
    /// Of colliders that move, through contact.
    pub bodies: f64,
    /// Of the wind.
    pub wind: f64,
    /// Of a program: forces, impulses, and changes of the material.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub program: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Work {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.pins + self.bodies + self.wind + self.program
    }

    /// The sum of the sizes of its parts.
    pub fn size(&self) -> f64 {
        self.pins.abs() + self.bodies.abs() + self.wind.abs() + self.program.abs()
    }

    /// The parts, in the order in which files have them.
    pub fn to_array(&self) -> [f64; 4] {
        [self.pins, self.bodies, self.wind, self.program]
    }

    /// From its parts.
    pub fn from_array([pins, bodies, wind, program]: [f64; 4]) -> Self {
        Self { pins, bodies, wind, program }
    }
}

/// What is not known equals itself, so that states can be compared.
impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan();
        self.to_array().into_iter().zip(other.to_array()).all(is_same)
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        let (a, b) = (self.to_array(), other.to_array());
        *self = Self::from_array(std::array::from_fn(|part| a[part] + b[part]));
    }
}

impl State {
    /// A fingerprint of the exact bits (FNV-1a over positions, velocities, memory and time).
    pub fn hash(&self) -> u64 {
        let memory = self.memory.to_vectors();
        let vectors = self.positions.iter().chain(&self.velocities).chain(&memory).flat_map(|v| v.to_array());
        fnv1a(vectors.chain([self.time]).flat_map(|number| number.to_bits().to_le_bytes()))
    }

    /// A state of no vertices, to be copied into.
    pub(crate) fn empty() -> Self {
        Self {
            positions: Vec::new(),
            velocities: Vec::new(),
            time: 0.0,
            memory: SolverMemory::Nothing,
            work: Work::default(),
        }
    }

    /// Becomes the same as another, in the memory that it has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let Self { positions, velocities, time, memory, work } = self;
        positions.clone_from(&other.positions);
        velocities.clone_from(&other.velocities);
        memory.clone_from(&other.memory);
        *time = other.time;
        *work = other.work;
    }

    /// The first vertex with a position or velocity that is not finite.
    pub fn first_non_finite(&self) -> Option<usize> {
        self.positions.iter().zip(&self.velocities).position(|(x, v)| !x.is_finite() || !v.is_finite())
    }
}

/// Memory of a solver from frame to frame, besides positions and velocities.
///
/// ```
/// use muslin::state::SolverMemory;
///
/// let memory = SolverMemory::Nothing;
/// assert_eq!(SolverMemory::from_vectors(&memory.to_vectors(), 25), memory);
/// ```
#[derive(Debug, Default, PartialEq)]
pub enum SolverMemory {
    /// Nothing: every solver at the start of a run, and those that look back one step only.
    #[default]
    Nothing,
    /// The step before: `newton` with BDF2.
    StepBefore(StepBefore),
    /// What `auto` has found out.
    Auto(AutoMemory),
    /// How many substeps a solver has chosen, and the step before where it looks back two.
    Pace(Pace, Option<StepBefore>),
}

/// The substeps that a solver has chosen, and what they rest on.
///
/// ```
/// use muslin::state::SolverMemory;
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// if let SolverMemory::Pace(pace, _) = &simulation.state().memory {
///     assert!(pace.substeps >= 20, "at least as many as a coarse sheet takes");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Substeps of the next frame.
    pub substeps: u32,
    /// Those of the last one.
    pub last: u32,
    /// Frames in a row that made up next to no energy.
    pub calm: u32,
    /// Frames to come in which none is computed again for its energy.
    pub patience: u32,
    /// The same for its strain.
    pub strain_patience: u32,
    /// The energy scale, in J.
    pub scale: f64,
}

/// The step before, for a scheme that looks back two.
///
/// ```
/// use muslin::solver::{Integrator, Newton};
/// use muslin::state::SolverMemory;
/// use muslin::{Cloth, Simulation};
///
/// let solver = Newton { substeps: 1, integrator: Integrator::Bdf2, ..Default::default() };
/// let mut simulation = Simulation::builder().solver(solver).cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// let SolverMemory::StepBefore(before) = &simulation.state().memory else { return Err("BDF2 looks back".into()) };
/// assert_eq!(before.positions.len(), 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default, PartialEq)]
pub struct StepBefore {
    /// Where every vertex began it, in m.
    pub positions: Vec<Vec3<f64>>,
    /// The velocity with which it began, in m/s; not finite where nothing may be made of it, as after a collision.
    pub velocities: Vec<Vec3<f64>>,
}

/// Findings of `auto` about a run.
///
/// ```
/// use muslin::state::SolverMemory;
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// simulation.advance()?;
/// let SolverMemory::Auto(memory) = &simulation.state().memory else { return Err("the default is `auto`".into()) };
/// assert!(memory.controller.substeps > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct AutoMemory {
    /// How it controls the substeps.
    pub controller: Controller,
    /// The second cloth, while one runs along: see [`solver::auto`](crate::solver::auto).
    pub twin: Option<StepBefore>,
}

/// The state of the controller of `auto`: the number of substeps, and what it rests on.
///
/// ```
/// use muslin::state::{AutoMemory, Controller, SolverMemory};
///
/// fn substeps(memory: &SolverMemory) -> Option<u32> {
///     match memory {
///         SolverMemory::Auto(AutoMemory { controller: Controller { substeps, .. }, .. }) => Some(*substeps),
///         _ => None,
///     }
/// }
/// assert_eq!(substeps(&SolverMemory::Nothing), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controller {
    /// Substeps of a frame.
    pub substeps: u32,
    /// Windows that are over.
    pub window: u32,
    /// Frames of this window.
    pub frame: u32,
    /// Frames of this window that were computed again.
    pub strained: u32,
    /// Frames to come in which none is.
    pub patience: u32,
    /// What the substeps of the next frame are multiplied with.
    pub factor: u32,
    /// Whether a twin runs along.
    pub is_measured: bool,
    /// The largest distance to it in this window, in m.
    pub distance: f64,
    /// The last estimate, in m.
    pub estimate: f64,
    /// With how many substeps it was made; zero before the first.
    pub estimated_with: u32,
    /// Whether more substeps did not help.
    pub is_settled: bool,
    /// Whether the window before asked for more, so that this one shows what they do.
    pub is_probing: bool,
}

// A frame copies these. Where there is memory already, that is used again.

impl Clone for SolverMemory {
    fn clone(&self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::StepBefore(before) => Self::StepBefore(before.clone()),
            Self::Auto(memory) => Self::Auto(memory.clone()),
            Self::Pace(pace, before) => Self::Pace(*pace, before.clone()),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::StepBefore(to), Self::StepBefore(from)) => to.clone_from(from),
            (Self::Auto(to), Self::Auto(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

impl Clone for StepBefore {
    fn clone(&self) -> Self {
        Self { positions: self.positions.clone(), velocities: self.velocities.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
    }
}

impl Clone for AutoMemory {
    fn clone(&self) -> Self {
        Self { controller: self.controller, twin: self.twin.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.controller = other.controller;
        self.twin.clone_from(&other.twin);
    }
}

/// Vectors of a controller in a file.
const CONTROLLER: usize = 4;

/// Vectors of a pace in a file.
const PACE: usize = 2;

impl SolverMemory {
    /// As vectors, the form in which files and hashes have it.
    pub fn to_vectors(&self) -> Vec<Vec3<f64>> {
        match self {
            Self::Nothing => Vec::new(),
            Self::StepBefore(before) => before.vectors().collect(),
            Self::Pace(pace, before) => {
                let before = before.iter().flat_map(StepBefore::vectors);
                pace.to_vectors().into_iter().chain(before).collect()
            }
            Self::Auto(AutoMemory { controller, twin }) => {
                let twin = twin.iter().flat_map(StepBefore::vectors);
                controller.to_vectors().into_iter().chain(twin).collect()
            }
        }
    }

    /// From the vectors of a state of so many vertices; what no solver can have written is [`Nothing`](Self::Nothing).
    pub fn from_vectors(vectors: &[Vec3<f64>], vertex_count: usize) -> Self {
        let steps = |vectors: &[Vec3<f64>]| {
            let (positions, velocities) = vectors.split_at(vertex_count);
            StepBefore { positions: positions.to_vec(), velocities: velocities.to_vec() }
        };
        // Cloth has three vertices at least, so the lengths tell them apart.
        if let Some((header, rest)) = vectors.split_first_chunk::<PACE>()
            && (rest.is_empty() || rest.len() == 2 * vertex_count)
        {
            let before = (!rest.is_empty()).then(|| steps(rest));
            return Pace::from_vectors(header).map_or(Self::Nothing, |pace| Self::Pace(pace, before));
        }
        match vectors.split_first_chunk::<CONTROLLER>() {
            _ if !vectors.is_empty() && vectors.len() == 2 * vertex_count => Self::StepBefore(steps(vectors)),
            Some((header, rest)) if rest.is_empty() || rest.len() == 2 * vertex_count => {
                let twin = (!rest.is_empty()).then(|| steps(rest));
                let controller = Controller::from_vectors(header);
                controller.map_or(Self::Nothing, |controller| Self::Auto(AutoMemory { controller, twin }))
            }
            _ => Self::Nothing,
        }
    }

    /// Keeps the step before.
    pub(crate) fn keep_step(&mut self, before: &StepBefore) {
        match self {
            Self::StepBefore(kept) => kept.clone_from(before),
            _ => *self = Self::StepBefore(before.clone()),
        }
    }

    /// The substeps that a solver has chosen, if they can be.
    pub(crate) fn pace(&self) -> Option<Pace> {
        match self {
            Self::Pace(pace, _) if pace.substeps > 0 && pace.scale.is_finite() => Some(*pace),
            _ => None,
        }
    }

    /// Leaves what the solver within remembers, for a frame of so many substeps; a step before of another length is none.
    pub(crate) fn unwrap_pace(&mut self, substeps: u32) {
        if let Self::Pace(pace, before) = self {
            let is_alike = pace.last == substeps;
            let before = before.take().filter(|_| is_alike);
            *self = before.map_or(Self::Nothing, Self::StepBefore);
        }
    }

    /// Puts a pace around what the solver within remembers of a frame of so many substeps.
    pub(crate) fn wrap_pace(&mut self, pace: Pace, last: u32) {
        let before = match std::mem::take(self) {
            Self::StepBefore(before) => Some(before),
            _ => None,
        };
        *self = Self::Pace(Pace { last, ..pace }, before);
    }

    /// Keeps what `auto` has found out, and where its twin is, if one runs along.
    pub(crate) fn keep_auto(&mut self, controller: Controller, twin: Option<&State>) {
        let mut kept = match std::mem::take(self) {
            Self::Auto(AutoMemory { twin, .. }) => twin,
            _ => None,
        };
        match twin {
            Some(State { positions, velocities, .. }) => {
                let kept = kept.get_or_insert_default();
                kept.positions.clone_from(positions);
                kept.velocities.clone_from(velocities);
            }
            None => kept = None,
        }
        *self = Self::Auto(AutoMemory { controller, twin: kept });
    }

    /// Forgets what does not hold once an interaction has changed the model.
    pub(crate) fn disturbed(&mut self) {
        if let Self::Auto(memory) = self {
            // The twin would be thrown to where the grab is.
            memory.twin = None;
            memory.controller.is_measured = false;
        }
    }

    /// Forgets what does not hold once the velocity of a vertex has been changed from outside.
    pub(crate) fn kicked(&mut self, vertex: usize) {
        match self {
            Self::StepBefore(before) | Self::Pace(_, Some(before)) => {
                if let Some(velocity) = before.velocities.get_mut(vertex) {
                    *velocity = StepBefore::NO_VELOCITY;
                }
            }
            _ => self.disturbed(),
        }
    }
}

impl StepBefore {
    /// The velocity of a vertex with which the scheme starts anew.
    pub(crate) const NO_VELOCITY: Vec3<f64> = Vec3::new(f64::INFINITY, 0.0, 0.0);

    fn vectors(&self) -> impl Iterator<Item = Vec3<f64>> + '_ {
        self.positions.iter().chain(&self.velocities).copied()
    }
}

impl Pace {
    fn to_vectors(self) -> [Vec3<f64>; PACE] {
        [
            Vec3::new(f64::from(self.substeps), f64::from(self.last), f64::from(self.calm)),
            Vec3::new(f64::from(self.patience), self.scale, f64::from(self.strain_patience)),
        ]
    }

    fn from_vectors([a, b]: &[Vec3<f64>; PACE]) -> Option<Self> {
        let is_count = |x: &f64| *x >= 0.0 && *x <= f64::from(u32::MAX / 2) && *x == x.trunc();
        let is_sound = [a.x, a.y, a.z, b.x, b.z].iter().all(is_count) && b.y.is_finite();
        is_sound.then_some(Self {
            substeps: a.x as u32,
            last: a.y as u32,
            calm: a.z as u32,
            patience: b.x as u32,
            strain_patience: b.z as u32,
            scale: b.y,
        })
    }
}

impl Controller {
    fn to_vectors(self) -> [Vec3<f64>; CONTROLLER] {
        let yes = |is: bool| f64::from(u8::from(is));
        [
            Vec3::new(f64::from(self.substeps), f64::from(self.window), f64::from(self.frame)),
            Vec3::new(f64::from(self.strained), yes(self.is_measured), self.distance),
            Vec3::new(self.estimate, f64::from(self.estimated_with), yes(self.is_settled)),
            Vec3::new(f64::from(self.patience), f64::from(self.factor), yes(self.is_probing)),
        ]
    }

    fn from_vectors([a, b, c, d]: &[Vec3<f64>; CONTROLLER]) -> Option<Self> {
        let is_count = |x: &f64| *x >= 0.0 && *x <= f64::from(u32::MAX / 2) && *x == x.trunc();
        let counts = [a.x, a.y, a.z, b.x, c.y, d.x, d.y];
        let is_sound = counts.iter().all(is_count) && b.z.is_finite() && c.x.is_finite();
        is_sound.then_some(Self {
            substeps: a.x as u32,
            window: a.y as u32,
            frame: a.z as u32,
            strained: b.x as u32,
            is_measured: b.y != 0.0,
            distance: b.z,
            estimate: c.x,
            estimated_with: c.y as u32,
            is_settled: c.z != 0.0,
            patience: d.x as u32,
            factor: d.y as u32,
            is_probing: d.z != 0.0,
        })
    }
}

/// FNV-1a, 64 bits: a fingerprint that is the same in every version and on every machine, which the standard library's
/// hashes do not promise. It finds accidents, not attacks.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.into_iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_has_the_published_values() {
        // Fowler, Noll, Vo: test vectors of the reference implementation.
        assert_eq!(fnv1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_memory_survives_its_vectors() {
        let vectors = |count: usize| (0..count).map(|i| Vec3::new(i as f64, 0.5, -2.0)).collect::<Vec<_>>();
        let controller = Controller {
            substeps: 24,
            window: 3,
            frame: 7,
            strained: 1,
            patience: 2,
            factor: 4,
            is_measured: true,
            distance: 1e-3,
            estimate: 2e-3,
            estimated_with: 20,
            is_settled: false,
            is_probing: true,
        };
        let pace = Pace { substeps: 30, last: 40, calm: 3, patience: 2, strain_patience: 5, scale: 0.125 };
        let before = StepBefore { positions: vectors(5), velocities: vectors(5) };
        for memory in [
            SolverMemory::Nothing,
            SolverMemory::StepBefore(before.clone()),
            SolverMemory::Pace(pace, None),
            SolverMemory::Pace(pace, Some(before.clone())),
            SolverMemory::Auto(AutoMemory { controller, twin: None }),
            SolverMemory::Auto(AutoMemory { controller, twin: Some(before.clone()) }),
        ] {
            assert_eq!(SolverMemory::from_vectors(&memory.to_vectors(), 5), memory);
        }
        assert_eq!(SolverMemory::from_vectors(&vectors(3), 5), SolverMemory::Nothing, "of no solver");
        assert_eq!(SolverMemory::from_vectors(&vectors(4), 5), SolverMemory::Nothing, "no controller");
    }

    #[test]
    fn the_hash_sees_every_bit() {
        let state = State {
            positions: vec![Vec3::ZERO; 2],
            velocities: vec![Vec3::ZERO; 2],
            time: 0.0,
            memory: SolverMemory::Nothing,
            work: Work::default(),
        };
        let mut other = state.clone();
        other.velocities[1].z = -0.0;
        assert_ne!(state.hash(), other.hash());
        assert_eq!(state.hash(), state.clone().hash());
    }
}
