//! Actions of a program on a running simulation: forces and impulses, colliders and pins that it leads, other materials.

use crate::description::{Choice, Problem, Problems};
use crate::math::Vec3;
use crate::parameter::Setting;
use crate::settings::{BendSettings, StretchSettings};
use crate::simulation::sound::MotionLimits;
use crate::simulation::{Simulation, follows_stiffness};
use crate::validate::choice::{Family, Said};
use crate::validate::limits::NOT_NEGATIVE;

/// Why something could not be done to a simulation. Nothing has changed then.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let error = simulation.add_force(0, 99, [0.0, 1.0, 0.0]).expect_err("the cloth has nine vertices");
/// assert!(error.to_string().contains("vertex 99 is out of range"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ActionError {
    /// There is no such vertex, cloth, collider or pin.
    #[error("{0}")]
    Nothing(String),
    /// A force, an impulse or a place is not finite.
    #[error("{0:?} is not finite; give three finite numbers")]
    NonFinite([f64; 3]),
    /// Settings that do not go.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Settings(Vec<Problem>),
}

impl Simulation {
    /// Adds a force to a vertex for the next frame, in N: it acts in every substep, beside gravity, and is gone after the frame.
    ///
    /// Held vertices feel no force.
    pub fn add_force(&mut self, cloth: usize, vertex: usize, force: [f64; 3]) -> Result<(), ActionError> {
        let index = self.vertex(cloth, vertex)?;
        let force = finite(force)?;
        self.model.forces.resize(self.model.masses.len(), Vec3::ZERO);
        self.model.forces[index] += force;
        Ok(())
    }

    /// Changes the velocity of a vertex at once by an impulse, in N·s, over its mass. Held vertices feel none.
    pub fn apply_impulse(&mut self, cloth: usize, vertex: usize, impulse: [f64; 3]) -> Result<(), ActionError> {
        let index = self.vertex(cloth, vertex)?;
        let impulse = finite(impulse)?;
        if !self.is_held(index) {
            let change = impulse * self.model.inverse_masses[index];
            self.state.work.program += impulse.dot(self.state.velocities[index] + change * 0.5);
            self.state.velocities[index] += change;
            self.state.memory.kicked(index);
        }
        Ok(())
    }

    /// Where a collider is to be at the end of the next frame, in m from where its path has it. It moves there evenly, and contact sees it as motion; then
    /// it stays until it is moved again.
    ///
    /// If it would force cloth through something it stands still for that frame, and is tried again in the next.
    pub fn move_collider(&mut self, collider: usize, offset: [f64; 3]) -> Result<(), ActionError> {
        let count = self.collider_names.len();
        if collider >= count {
            return Err(ActionError::Nothing(format!("there is no collider {collider}; the scene has {count}")));
        }
        let offset = finite(offset)?;
        self.interaction.lead_collider(collider, offset);
        Ok(())
    }

    /// Where the vertices of a pin are to be at the end of the next frame, in m from where its path has them, as for
    /// [`move_collider`](Self::move_collider). Pins count from 0 in each cloth.
    pub fn move_pin(&mut self, cloth: usize, pin: usize, offset: [f64; 3]) -> Result<(), ActionError> {
        let pins = self.model.cloths.get(cloth).map_or(0..0, |cloth| cloth.pins.clone());
        if pin >= pins.len() {
            let count = pins.len();
            return Err(ActionError::Nothing(format!("there is no pin {pin} of cloth {cloth}, which has {count}")));
        }
        let offset = finite(offset)?;
        self.interaction.lead_pin(pins.start + pin, offset);
        Ok(())
    }

    /// Another stretch model or other settings of it, from the next frame on. Positions, velocities and all that is held stay.
    pub fn set_stretch(&mut self, cloth: usize, stretch: impl StretchSettings) -> Result<(), ActionError> {
        self.piece(cloth)?;
        let fabric = self.materials[cloth].fabric;
        let family = Family::stretch_models(Some(&self.kind.entry), fabric.and_then(|fabric| fabric.stretch));
        let choice = settle(&Said::new(&stretch), &family, &format!("cloth[{cloth}].material.stretch"))?;
        self.materials[cloth].stretch = choice;
        self.replace_terms(cloth);
        Ok(())
    }

    /// Another bend model or other settings of it, from the next frame on. Positions, velocities and all that is held stay.
    pub fn set_bend(&mut self, cloth: usize, bend: impl BendSettings) -> Result<(), ActionError> {
        self.piece(cloth)?;
        let fabric = self.materials[cloth].fabric;
        let family = Family::bend_models(Some(&self.kind.entry), fabric.map(|fabric| fabric.bend));
        let choice = settle(&Said::new(&bend), &family, &format!("cloth[{cloth}].material.bend"))?;
        self.materials[cloth].bend = choice;
        self.replace_terms(cloth);
        Ok(())
    }

    /// Another decay rate of the velocities of a cloth, in 1/s.
    pub fn set_damping(&mut self, cloth: usize, damping: f64) -> Result<(), ActionError> {
        self.piece(cloth)?;
        if let Err(message) = NOT_NEGATIVE.check(Setting::Number(damping)) {
            let mut problems = Problems::default();
            problems.error(format!("cloth[{cloth}].material.damping"), message);
            return Err(ActionError::Settings(problems.into_list()));
        }
        self.model.cloths[cloth].damping = damping;
        self.materials[cloth].damping = damping;
        self.forget();
        Ok(())
    }

    fn replace_terms(&mut self, cloth: usize) {
        let (mut terms, before) = (Vec::new(), self.total_energy());
        let old = self.model.reassemble(cloth, &self.materials, &mut terms);
        self.terms.splice(old, terms);
        self.bounds = MotionLimits::of(&self.model, follows_stiffness(self.kind));
        self.state.work.program += self.total_energy() - before;
        self.forget();
    }

    fn vertex(&self, cloth: usize, vertex: usize) -> Result<usize, ActionError> {
        self.model.state_vertex(cloth, vertex).map_err(ActionError::Nothing)
    }

    fn piece(&self, cloth: usize) -> Result<(), ActionError> {
        let count = self.cloth_count();
        let missing = || ActionError::Nothing(format!("there is no cloth {cloth}; the scene has {count}"));
        if cloth < count { Ok(()) } else { Err(missing()) }
    }
}

fn settle(said: &Said, family: &Family, place: &str) -> Result<Choice, ActionError> {
    let mut problems = Problems::default();
    let choice = said.settle(family, place, &mut problems);
    choice.ok_or_else(|| ActionError::Settings(problems.into_list()))
}

fn finite(v: [f64; 3]) -> Result<Vec3<f64>, ActionError> {
    let vector = Vec3::from(v);
    if vector.is_finite() { Ok(vector) } else { Err(ActionError::NonFinite(v)) }
}
