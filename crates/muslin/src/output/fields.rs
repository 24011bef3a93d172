//! A number for every vertex, to paint a cloth with; vertices in the model's order.

use crate::contact::Pair;
use crate::model::{Model, edge_strain};
use crate::state::State;

/// The largest |length / rest length − 1| of the edges at each vertex.
pub fn strain(model: &Model, state: &State, out: &mut Vec<f32>) {
    out.clear();
    out.resize(state.positions.len(), 0.0);
    let x = &state.positions;
    for &([a, b], rest) in &model.edges {
        let strain = edge_strain(x, [a, b], rest) as f32;
        for v in [a, b] {
            out[v as usize] = out[v as usize].max(strain);
        }
    }
}

/// The speed of each vertex, in m/s.
pub fn speed(_: &Model, state: &State, out: &mut Vec<f32>) {
    out.clear();
    out.extend(state.velocities.iter().map(|v| v.norm() as f32));
}

/// How far each vertex is from what it may touch, less the distance that is kept, in m: at most twice the thickness, which also stands for
/// everything farther away.
///
/// Of a pair of edges or of a vertex and a triangle, each vertex of cloth has the gap.
pub fn gap(model: &Model, state: &State, out: &mut Vec<f32>) {
    let farthest = 2.0 * model.thickness;
    out.clear();
    out.resize(state.positions.len(), farthest as f32);
    for collider in &model.colliders {
        let solid = collider.solid.posed(&collider.motion.pose(state.time));
        for (x, least) in state.positions.iter().zip(out.iter_mut()) {
            *least = least.min((solid.probe(*x).distance - model.thickness) as f32);
        }
    }
    if model.self_contact.is_none() && model.bodies.is_empty() {
        return;
    }
    model.for_each_near((&state.positions, state.time), model.thickness + farthest, |pair, distance| {
        let kept = model.kept_apart(pair);
        let (Pair::VertexTriangle(vertices) | Pair::EdgeEdge(vertices)) = pair;
        for v in vertices {
            if let Some(least) = out.get_mut(v as usize) {
                *least = least.min((distance - kept) as f32);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    fn simulation(text: &str) -> Simulation {
        let scene = crate::scene::parse(text, &[]).into_result().unwrap();
        Simulation::new(&scene, 1, &mut |file| Err(format!("no mesh {file}"))).unwrap()
    }

    #[test]
    fn a_cloth_that_lies_on_a_plane_has_its_gap_and_its_strain() {
        let mut simulation = simulation(
            "gravity = [0, 0, 0]\n[contact]\nthickness = 0.01\n\
             [[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }\ntranslate = [0, 0.015, 0]\nvelocity = [0, 0, 3]\n\
             [[collider]]\nplane = { point = [0, 0, 0], normal = [0, 1, 0] }",
        );
        let mut field = Vec::new();
        gap(simulation.model(), simulation.state(), &mut field);
        assert!(field.iter().all(|g| (g - 0.005).abs() < 1e-7), "{field:?}");
        speed(simulation.model(), simulation.state(), &mut field);
        assert_eq!(field, [3.0; 9]);
        let mut state = simulation.state().clone();
        state.positions.iter_mut().for_each(|x| x.x *= 1.1);
        simulation.restore(state, 0).unwrap();
        strain(simulation.model(), simulation.state(), &mut field);
        assert!(field.iter().all(|s| (s - 0.1).abs() < 1e-6), "{field:?}");
    }

    #[test]
    fn two_sheets_have_their_gap() {
        let simulation = simulation(
            "[contact]\nself_contact = true\nthickness = 0.01\n\
             [[cloth]]\nname = 'a'\ngrid = { size = [1, 1], cells = [2, 2] }\n\
             [[cloth]]\nname = 'b'\ngrid = { size = [1, 1], cells = [2, 2] }\ntranslate = [0, 0.013, 0]\n",
        );
        let mut field = Vec::new();
        gap(simulation.model(), simulation.state(), &mut field);
        assert!(field.iter().all(|g| (g - 0.003).abs() < 1e-7), "{field:?}");
    }
}
