//! The door for programs: a simulation put together in code.
//!
//! ```
//! use muslin::contact::Sphere;
//! use muslin::solver::Xpbd;
//! use muslin::{Cloth, Collide, Pin, Simulation};
//!
//! let mut simulation = Simulation::builder()
//!     .gravity([0.0, -9.81, 0.0])
//!     .solver(Xpbd { substeps: 10, ..Default::default() })
//!     .cloth(Cloth::grid([1.0, 1.0], [16, 16]).translate([0.0, 1.0, 0.0]).fabric("cotton").pin(Pin::vertices([0, 16])))
//!     .collider(Sphere { center: [0.0, 0.5, 0.0], radius: 0.25 }.friction(0.4))
//!     .build()?;
//! simulation.advance()?;
//! assert_eq!(simulation.frame(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A builder makes the same [`Scene`] that a scene file makes, and what is wrong with it is said in the same words:
//!
//! ```
//! use muslin::solver::Xpbd;
//! use muslin::{Cloth, Simulation};
//!
//! let builder = Simulation::builder()
//!     .solver(Xpbd { substeps: 20_000, ..Default::default() })
//!     .cloth(Cloth::grid([1.0, 1.0], [8, 8]).fabric("coton"));
//! let said: Vec<String> = builder.check().iter().map(ToString::to_string).collect();
//! assert_eq!(said[0], "solver.substeps: must be a whole number from 1 to 10000, got 20000");
//! assert!(said[1].starts_with("cloth[0].material.fabric: unknown fabric \"coton\"; did you mean \"cotton\"?"));
//! ```

mod cloth;
mod collider;
mod elements;

pub use cloth::ClothBuilder;
pub use collider::{Collide, ColliderBuilder, MeshCollider};
use elements::CustomTerm;
pub use elements::Elements;

use crate::description::{Choice, Contact, Problem, Problems, Scene, View, Wind};
use crate::energy::Energy;
use crate::mesh::Severity;
use crate::parallel::Team;
use crate::settings::{SolverSettings, Typed};
use crate::setup;
use crate::setup::Compiled;
use crate::simulation::{SetupError, Simulation};
use crate::solver::Auto;
use crate::validate;
use crate::validate::choice::{Family, Said};

/// Puts a [`Simulation`] together; [`Simulation::builder`] makes one.
///
/// ```
/// use muslin::{Cloth, Contact, Simulation, Wind};
///
/// let builder = Simulation::builder()
///     .fps(30.0)
///     .wind(Wind { velocity: [2.0, 0.0, 0.0], drag: 1.0, ..Default::default() })
///     .contact(Contact { thickness: 2e-3, ..Default::default() })
///     .cloth(Cloth::grid([1.0, 1.0], [4, 4]))
///     .threads(2);
/// assert!(builder.check().is_empty(), "nothing is wrong");
/// assert_eq!(builder.scene()?.fps, 30.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder does nothing until `build` is called"]
pub struct SimulationBuilder {
    scene: Scene,
    solver: Said,
    cloths: Vec<ClothBuilder>,
    colliders: Vec<ColliderBuilder>,
    energies: Vec<Box<dyn CustomTerm>>,
    threads: usize,
}

impl Default for SimulationBuilder {
    fn default() -> Self {
        let auto = Auto::default();
        let solver = Choice { entry: auto.entry(), settings: auto.settings() };
        let scene = Scene {
            name: "scene".to_owned(),
            duration: 2.0,
            fps: 60.0,
            gravity: [0.0, -9.81, 0.0],
            stop_at_rest: None,
            wind: Wind::default(),
            solver,
            contact: Contact::default(),
            cloths: Vec::new(),
            colliders: Vec::new(),
            view: View::default(),
        };
        let (cloths, colliders, energies) = (Vec::new(), Vec::new(), Vec::new());
        Self { scene, solver: Said::new(&auto), cloths, colliders, energies, threads: 1 }
    }
}

impl Simulation {
    /// Puts a simulation together in code.
    pub fn builder() -> SimulationBuilder {
        SimulationBuilder::default()
    }
}

impl SimulationBuilder {
    /// Acceleration of free fall, in m/s²; `[0, -9.81, 0]` unless it is said.
    pub fn gravity(mut self, gravity: [f64; 3]) -> Self {
        self.scene.gravity = gravity;
        self
    }

    /// Frames a second, each one call of [`Simulation::advance`]; 60 unless it is said.
    pub fn fps(mut self, fps: f64) -> Self {
        self.scene.fps = fps;
        self
    }

    /// The solver, by its typed settings; [`Auto`] unless it is said.
    pub fn solver(mut self, solver: impl SolverSettings) -> Self {
        self.solver = Said::new(&solver);
        self
    }

    /// Adds a cloth: cloths count from 0 in the order in which they are added.
    pub fn cloth(mut self, cloth: ClothBuilder) -> Self {
        self.cloths.push(cloth);
        self
    }

    /// Adds a collider: any [`Shape`](crate::shape::Shape), what [`Collide`] makes of one, or a [`MeshCollider`].
    pub fn collider(mut self, collider: impl Into<ColliderBuilder>) -> Self {
        self.colliders.push(collider.into());
        self
    }

    /// Moving air.
    pub fn wind(mut self, wind: Wind) -> Self {
        self.scene.wind = wind;
        self
    }

    /// How surfaces touch.
    pub fn contact(mut self, contact: Contact) -> Self {
        self.scene.contact = contact;
        self
    }

    /// Adds an energy of your own: any `impl Energy<N>`, with its elements.
    pub fn energy<E: Energy<N>, const N: usize>(mut self, elements: Elements<E, N>) -> Self {
        self.energies.push(Box::new(elements));
        self
    }

    /// Threads that a frame may use; 1 unless it is said. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What was said, as a scene with every default filled in: what a scene file would be read as.
    pub fn scene(&self) -> Result<Scene, SetupError> {
        let (scene, problems) = self.describe();
        if problems.is_empty() { Ok(scene) } else { Err(SetupError::Scene(problems)) }
    }

    /// Everything that is wrong, and what the user should know: errors and warnings, each with its place. Empty if all is well.
    pub fn check(&self) -> Vec<Problem> {
        match self.compile() {
            Ok((_, compiled)) => compiled.warnings,
            Err(problems) => problems,
        }
    }

    /// The simulation, at time zero; or everything that is wrong.
    pub fn build(self) -> Result<Simulation, SetupError> {
        let (scene, compiled) = self.compile().map_err(SetupError::Scene)?;
        Simulation::of_compiled(&scene, Team::new(self.threads)?, compiled)
    }

    /// The scene and what is wrong with its values; where that is much, defaults stand in.
    fn describe(&self) -> (Scene, Vec<Problem>) {
        let mut problems = Problems::default();
        let mut scene = self.scene.clone();
        let solver = self.solver.settle(&Family::solvers(), "solver", &mut problems);
        let entry = solver.as_ref().map(|solver| solver.entry);
        scene.solver = solver.unwrap_or(scene.solver);
        let said = self.cloths.iter().enumerate();
        scene.cloths = said.map(|(i, cloth)| cloth.describe(i, entry, &mut problems)).collect();
        let said = self.colliders.iter().enumerate();
        scene.colliders = said.map(|(i, collider)| collider.describe(i, scene.contact.friction)).collect();
        let mut problems = problems.into_list();
        for problem in validate::check(&scene) {
            // A model beside a solver that is none cannot be judged, and what is known is no news.
            let is_judged = entry.is_some() || !problem.place.contains(".material.");
            if is_judged && !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        (scene, problems)
    }

    fn compile(&self) -> Result<(Scene, Compiled), Vec<Problem>> {
        let (scene, problems) = self.describe();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut compiled = setup::compile(&scene, &mut |file| Err(format!("cannot read {file}: use Cloth::mesh")))?;
        let mut problems = Problems::default();
        for (i, energy) in self.energies.iter().enumerate() {
            energy.add_to(&mut compiled, &scene, &format!("energy[{i}]"), &mut problems);
        }
        let problems = problems.into_list();
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(problems);
        }
        compiled.warnings.extend(problems);
        Ok((scene, compiled))
    }
}
