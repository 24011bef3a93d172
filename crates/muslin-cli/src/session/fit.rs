//! How a garment sits: strain, and pressure on what it touches, panel by panel and as pictures.
//!
//! ```text
//! N = −(f + m g)·n      p = N / A
//! ```
//!
//! At rest the force N of a body on a vertex is what its material and its weight push into the body with, along the normal n of the body; A is the part of the cloth
//! that the vertex stands for, at rest. While the cloth still moves, p is not the pressure on the body.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::model::{Cloth, edge_strain};
use muslin::simulation::Touched;
use serde::{Deserialize, Serialize};

/// How a panel sits at the end of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PanelFit {
    pub(crate) cloth: String,
    pub(crate) panel: String,
    /// In m², at rest.
    pub(crate) area: f64,
    /// Of |length / rest length − 1| of its edges.
    pub(crate) mean_strain: f64,
    pub(crate) max_strain: f64,
    /// The part of its area that touches a body.
    pub(crate) touching: f64,
    /// Of that part, in kPa.
    pub(crate) mean_pressure: f64,
    pub(crate) max_pressure: f64,
}

/// The numbers of the vertices of a cloth, as its mesh numbers them.
pub(super) struct Fit {
    /// The largest strain of the edges at each.
    pub(super) strain: Vec<f64>,
    /// In kPa; 0 where it touches no body.
    pub(super) pressure: Vec<f64>,
    touches: Vec<bool>,
    /// In m².
    area: Vec<f64>,
}

impl Fit {
    /// Of a cloth of a simulation.
    pub(super) fn measure(simulation: &Simulation, index: usize) -> Self {
        let (model, state) = (simulation.model(), simulation.state());
        let cloth = &model.cloths[index];
        let mut strain = vec![0.0_f64; state.positions.len()];
        for &(edge, rest) in &model.edges {
            let of_edge = edge_strain(&state.positions, edge, rest);
            edge.iter().for_each(|&v| strain[v as usize] = strain[v as usize].max(of_edge));
        }
        let area = areas(cloth);
        let mut forces = Vec::new();
        simulation.elastic_forces(index, &mut forces);
        let (mut pressure, mut touches) = (vec![0.0; area.len()], vec![false; area.len()]);
        for contact in simulation.contacts().iter().filter(|contact| contact.cloth == index) {
            if !matches!(contact.with, Touched::Collider(_)) {
                continue;
            }
            let v = cloth.vertices.start + cloth.ordering.new_from_old[contact.vertex] as usize;
            let force = Vec3::from(forces[contact.vertex]) + model.gravity * model.masses[v];
            // Of a corner that touches two triangles, the one that bears more.
            let normal_force = -force.dot(Vec3::from(contact.normal));
            let least: f64 = pressure[contact.vertex];
            pressure[contact.vertex] = least.max(1e-3 * normal_force / area[contact.vertex].max(f64::MIN_POSITIVE));
            touches[contact.vertex] = true;
        }
        let strain = simulation.in_user_order(index, &strain).collect();
        Self { strain, pressure, touches, area }
    }

    /// The panels of the cloth: its groups.
    pub(super) fn panels(&self, cloth: &Cloth) -> Vec<PanelFit> {
        cloth.mesh.groups.iter().map(|group| self.panel(cloth, &group.name, &group.triangles)).collect()
    }

    fn panel(&self, cloth: &Cloth, name: &str, triangles: &[u32]) -> PanelFit {
        let mut vertices: Vec<u32> = triangles.iter().flat_map(|&t| cloth.mesh.triangles[t as usize]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let of = |numbers: &[f64]| -> Vec<f64> { vertices.iter().map(|&v| numbers[v as usize]).collect() };
        let (strain, area) = (of(&self.strain), of(&self.area));
        let mean = |numbers: &[f64], weights: &[f64]| {
            let sum: f64 = weights.iter().sum();
            let weighted: f64 = numbers.iter().zip(weights).map(|(number, weight)| number * weight).sum();
            if sum > 0.0 { weighted / sum } else { 0.0 }
        };
        let touching: Vec<f64> = vertices.iter().map(|&v| f64::from(u8::from(self.touches[v as usize]))).collect();
        let borne: Vec<f64> = area.iter().zip(&touching).map(|(area, touches)| area * touches).collect();
        let pressure = of(&self.pressure);
        PanelFit {
            cloth: cloth.name.clone(),
            panel: name.to_owned(),
            area: triangles.iter().map(|&t| cloth.mesh.area(t as usize)).sum(),
            mean_strain: mean(&strain, &area),
            max_strain: strain.iter().copied().fold(0.0, f64::max),
            touching: mean(&touching, &area),
            mean_pressure: mean(&pressure, &borne),
            max_pressure: pressure.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// A third of each triangle to each of its corners, in m².
fn areas(cloth: &Cloth) -> Vec<f64> {
    let mut areas = vec![0.0; cloth.mesh.vertex_count()];
    for (t, triangle) in cloth.mesh.triangles.iter().enumerate() {
        let third = cloth.mesh.area(t) / 3.0;
        triangle.iter().for_each(|&v| areas[v as usize] += third);
    }
    areas
}
