//! Actions of a program on a running simulation: forces and impulses, colliders and pins that it leads, other materials.

use crate::contact::untangle::initial;
use crate::description::{Choice, Problem, Problems};
use crate::interaction::Interaction;
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
    /// Cloth would cut or touch, and contact keeps apart only what is apart.
    #[error("{0}; give positions in which nothing cuts or touches")]
    Cuts(String),
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
        self.known_collider(collider)?;
        let offset = finite(offset)?;
        self.interaction.lead_collider(collider, offset);
        Ok(())
    }

    /// How far a collider is to be turned at the end of the next frame, in degrees, from where its path has it: about the axis of the path, which is +y
    /// through the centre of the collider where the scene gives none. It turns evenly and stays, as for [`move_collider`](Self::move_collider).
    pub fn turn_collider(&mut self, collider: usize, turn: f64) -> Result<(), ActionError> {
        self.known_collider(collider)?;
        finite([turn; 3])?;
        self.interaction.turn_collider(collider, turn);
        Ok(())
    }

    /// Holds vertices of a cloth, each with where it is to be at the end of the next frame, in m. It goes there evenly from where it is, and contact
    /// sees it as motion; then it stays until it is led again or freed. On an error nothing has changed.
    ///
    /// Where contact refuses the way, all that is led stands still for that frame, and is tried again in the next.
    pub fn lead_vertices(&mut self, cloth: usize, targets: &[(usize, [f64; 3])]) -> Result<(), ActionError> {
        let resolve = |&(vertex, target): &(usize, [f64; 3])| Ok((self.vertex(cloth, vertex)? as u32, finite(target)?));
        let targets: Vec<(u32, Vec3<f64>)> = targets.iter().map(resolve).collect::<Result<_, ActionError>>()?;
        if self.interaction.lead_vertices(&mut self.model, &self.state, &targets) {
            self.forget();
        }
        Ok(())
    }

    /// Frees vertices of a cloth from whatever holds them, pins of the scene among it. On an error nothing has changed.
    pub fn free_vertices(&mut self, cloth: usize, vertices: &[usize]) -> Result<(), ActionError> {
        let resolve = |&vertex: &usize| Ok(self.vertex(cloth, vertex)? as u32);
        let vertices: Vec<u32> = vertices.iter().map(resolve).collect::<Result<_, ActionError>>()?;
        self.interaction.free(&mut self.model, &vertices);
        self.forget();
        Ok(())
    }

    /// What was done that lasts: held and freed vertices, colliders and pins that are led. Grabs are not in it.
    pub fn interaction(&self) -> Interaction {
        self.interaction.record()
    }

    /// Puts what is held and led where it was when this was recorded, in a simulation of the same scene, and undoes all else of the kind. On an error
    /// nothing has changed.
    pub fn restore_interaction(&mut self, interaction: &Interaction) -> Result<(), ActionError> {
        if !interaction.fits(&self.model, self.collider_names.len(), self.interaction.scene_pins()) {
            let words = "what was held and led is of another scene; restore it in a simulation of its own";
            return Err(ActionError::Nothing(words.to_owned()));
        }
        if interaction.is_empty() && self.interaction.is_idle() {
            return Ok(());
        }
        let (time, dt) = (self.state.time, self.fps.recip());
        self.interaction.replay(&mut self.model, interaction);
        self.interaction.lead(&mut self.model, time, dt, false);
        self.solver = (self.kind.build)(&self.settings);
        Ok(())
    }

    /// Puts the vertices of a cloth elsewhere at once, in m, as the user numbers them. Velocities stay. On an error nothing has changed.
    ///
    /// What a pin holds goes back to it in the first substep. The energy that this brings is booked as work of the program.
    pub fn set_positions(&mut self, cloth: usize, positions: &[[f64; 3]]) -> Result<(), ActionError> {
        let order = self.order_of(cloth, positions)?;
        let mut moved = self.state.positions.clone();
        order.iter().zip(positions).for_each(|(&v, x)| moved[v] = Vec3::from(*x));
        if let Some(clash) = initial::clash_at(&self.model, &moved, self.state.time).filter(|_| !self.model.is_tangled)
        {
            return Err(ActionError::Cuts(clash));
        }
        let before = self.total_energy();
        self.state.positions = moved;
        self.settle_change(before, &order);
        Ok(())
    }

    /// Gives the vertices of a cloth other velocities at once, in m/s, as the user numbers them. On an error nothing has changed.
    pub fn set_velocities(&mut self, cloth: usize, velocities: &[[f64; 3]]) -> Result<(), ActionError> {
        let order = self.order_of(cloth, velocities)?;
        let before = self.total_energy();
        order.iter().zip(velocities).for_each(|(&v, velocity)| self.state.velocities[v] = Vec3::from(*velocity));
        self.settle_change(before, &order);
        Ok(())
    }

    /// The vertices of the state that the values of a cloth are for, if they are as many as it has and finite.
    fn order_of(&self, cloth: usize, values: &[[f64; 3]]) -> Result<Vec<usize>, ActionError> {
        self.piece(cloth)?;
        let piece = &self.model.cloths[cloth];
        let order = piece.ordering.new_from_old.iter().map(|&new| piece.vertices.start + new as usize);
        let order: Vec<usize> = order.collect();
        if values.len() != order.len() {
            let (count, name, found) = (order.len(), &piece.name, values.len());
            return Err(ActionError::Nothing(format!(
                "cloth {name:?} has {count} vertices, but {found} were given; give one row a vertex"
            )));
        }
        values.iter().try_for_each(|value| finite(*value).map(|_| ()))?;
        Ok(order)
    }

    /// Books the energy of a change from outside, and forgets what does not hold any more.
    fn settle_change(&mut self, energy_before: f64, vertices: &[usize]) {
        self.state.work.program += self.total_energy() - energy_before;
        vertices.iter().for_each(|&vertex| self.state.memory.kicked(vertex));
        self.forget();
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

    fn known_collider(&self, collider: usize) -> Result<(), ActionError> {
        let count = self.collider_names.len();
        let missing = || ActionError::Nothing(format!("there is no collider {collider}; the scene has {count}"));
        if collider < count { Ok(()) } else { Err(missing()) }
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
