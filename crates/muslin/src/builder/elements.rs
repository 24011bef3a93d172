//! Energies from outside the library.

use crate::description::{Problems, Scene};
use crate::energy::{Batch, Energy, Site};
use crate::mesh::Mesh;
use crate::model::Model;
use crate::parameter::{Setting, Settings};
use crate::setup::Compiled;
use crate::solver;
use crate::solver::{Need, Term};
use crate::topology::Topology;
use crate::validate::limits::NOT_NEGATIVE;

/// The vertices of an element, each with the number of its cloth before it, and its rest data.
type JoinedElement<E, const N: usize> = ([(usize, u32); N], <E as Energy<N>>::Rest<f64>);

/// The elements of an energy of your own: which vertices, with their rest data.
///
/// Any `impl Energy<N>` will do; [`Energy`] says what it has to give. Every solver that is defined for constraints or potentials
/// takes it beside the models of the cloths.
///
/// ```
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::solver::Xpbd;
/// use muslin::{Cloth, Elements, Simulation};
///
/// // A spring across the sheet, from corner to corner.
/// let brace = Elements::<Spring, 2>::on(0, [([0, 24], Rest { length: 1.2, compliance: 1e-3 })]);
/// let mut simulation = Simulation::builder()
///     .solver(Xpbd { substeps: 4, ..Default::default() })
///     .cloth(Cloth::grid([1.0, 1.0], [4, 4]))
///     .energy(brace.damping(0.01))
///     .build()?;
/// simulation.advance()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Elements<E: Energy<N>, const N: usize> {
    elements: Vec<JoinedElement<E, N>>,
    damping: f64,
}

impl<E: Energy<N>, const N: usize> Elements<E, N> {
    /// Elements on one cloth: its number, and vertices as its mesh numbers them.
    pub fn on(cloth: usize, elements: impl IntoIterator<Item = ([u32; N], E::Rest<f64>)>) -> Self {
        Self::across(elements.into_iter().map(|(vertices, rest)| (vertices.map(|vertex| (cloth, vertex)), rest)))
    }

    /// Elements that may join cloths: each vertex with the number of its cloth before it.
    pub fn across(elements: impl IntoIterator<Item = ([(usize, u32); N], E::Rest<f64>)>) -> Self {
        Self { elements: elements.into_iter().collect(), damping: 0.0 }
    }

    /// Time constant of internal damping, in s.
    #[must_use]
    pub fn damping(mut self, seconds: f64) -> Self {
        self.damping = seconds;
        self
    }

    /// The vertices of an element in the state.
    fn stencil(model: &Model, vertices: &[(usize, u32); N]) -> Result<[u32; N], String> {
        let mut stencil = [0; N];
        for (at, &(cloth, vertex)) in vertices.iter().enumerate() {
            stencil[at] = model.state_vertex(cloth, vertex as usize)? as u32;
            if stencil[..at].contains(&stencil[at]) {
                return Err(format!(
                    "vertex {vertex} of cloth {cloth} is there twice; an element has {N} different ones"
                ));
            }
        }
        Ok(stencil)
    }
}

/// Elements with their energy erased.
pub(crate) trait CustomTerm: Send + Sync {
    /// Adds itself to the terms of a model, or reports why it cannot.
    fn add_to(&self, compiled: &mut Compiled, scene: &Scene, place: &str, problems: &mut Problems);
}

impl<E: Energy<N>, const N: usize> CustomTerm for Elements<E, N> {
    fn add_to(&self, compiled: &mut Compiled, scene: &Scene, place: &str, problems: &mut Problems) {
        let model = &compiled.model;
        if let Err(message) = NOT_NEGATIVE.check(Setting::Number(self.damping)) {
            return problems.error(format!("{place}.damping"), message);
        }
        let mut elements = Vec::with_capacity(self.elements.len());
        for (i, (vertices, rest)) in self.elements.iter().enumerate() {
            match Self::stencil(model, vertices) {
                Ok(stencil) => elements.push((stencil, *rest)),
                Err(message) => return problems.error(format!("{place}.elements[{i}]"), message),
            }
        }
        let mut settings = Settings::default();
        settings.set("damping", Setting::Number(self.damping));
        let (mesh, vertex_count) = (Mesh::default(), model.masses.len());
        let topology = Topology::build(&mesh);
        let site = Site { mesh: &mesh, topology: &topology, clamped: &[], first_vertex: 0, vertex_count };
        let term: Box<dyn Term> = Box::new(Batch::<E, N>::new(&site, &settings, elements));
        let solver = scene.solver.entry.name;
        match solver::find(solver).map(|kind| kind.needs) {
            Some(Need::Projections) if !term.is_projective() => {
                let message = format!(
                    "solver {solver:?} needs an energy that is a distance to a projection; use another solver, or give Energy::pull"
                );
                problems.error(place, message);
            }
            Some(Need::Nothing) => {
                problems.warning(place, format!("solver {solver:?} has a stiffness of its own: energies are not used"));
            }
            _ => compiled.terms.push(term),
        }
    }
}
