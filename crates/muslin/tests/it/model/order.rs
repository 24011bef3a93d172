//! The user's numbering of vertices, whatever the model's own.

use muslin::Simulation;
use muslin::mesh::{Diagonals, Mesh};

use crate::common::{Random, position, run, simulation_of};

/// A sheet of 1 m with its vertices shuffled: the mesh, and the new number of each old vertex.
fn shuffled(mesh: &Mesh) -> (Mesh, Vec<u32>) {
    let new_from_old = Random::new(5).permutation(mesh.vertex_count());
    let mut positions = mesh.positions.clone();
    for (old, &new) in new_from_old.iter().enumerate() {
        positions[new as usize] = mesh.positions[old];
    }
    let triangles = mesh.triangles.iter().map(|t| t.map(|v| new_from_old[v as usize])).collect();
    (Mesh { positions, triangles, ..Mesh::default() }, new_from_old)
}

fn hanging(mesh: &Mesh, solver: &str, pins: [u32; 2], frames: usize) -> Simulation {
    let text = format!(
        r#"
        solver = {{ kind = "xpbd", {solver} }}
        [[cloth]]
        mesh = "sheet.obj"
        material = {{ damping = 1.0 }}
        pins = [ {{ vertices = {pins:?} }} ]
        "#
    );
    let mut simulation = simulation_of(mesh, &text);
    run(&mut simulation, frames);
    simulation
}

fn sheet(cells: u32) -> Mesh {
    Mesh::grid([1.0, 1.0], [cells, cells], Diagonals::Alternating).unwrap_or_else(|e| panic!("{e}"))
}

/// Largest distance [m] between a vertex of the one and the same vertex of the other.
fn difference(straight: &Simulation, mixed: &Simulation, new_from_old: &[u32]) -> f64 {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    straight.positions(0, &mut a);
    mixed.positions(0, &mut b);
    assert_eq!(a.len(), new_from_old.len(), "vertices");
    let distance = |(old, &new): (usize, &u32)| {
        let (p, q) = (a[old], b[new as usize]);
        (0..3).map(|i| f64::from(p[i] - q[i])).fold(0.0, |sum, d| sum + d * d).sqrt()
    };
    new_from_old.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn a_shuffled_mesh_hangs_in_the_same_shape_in_the_numbering_of_the_user() {
    let mesh = sheet(12);
    let (mixed_mesh, new_from_old) = shuffled(&mesh);
    // The order of the sweeps follows the numbering, and with it what the iterations leave unsolved.
    let differ_by = |iterations: u32| {
        let solver = format!(r#"precision = "f64", substeps = 4, iterations = {iterations}"#);
        let straight = hanging(&mesh, &solver, [0, 12], 30);
        let mixed = hanging(&mixed_mesh, &solver, [new_from_old[0], new_from_old[12]], 30);
        difference(&straight, &mixed, &new_from_old)
    };
    let (few, many) = (differ_by(10), differ_by(100));
    assert!(many < 1e-4, "the shuffled sheet differs by {many:.1e} m");
    assert!(many < 0.1 * few, "iterations bring them together: {few:.1e} m with 10, {many:.1e} m with 100");
}

/// Large enough for the model to choose an order of its own: a small mesh fits into the cache in any.
#[test]
fn a_mesh_that_is_renumbered_inside_is_numbered_as_the_user_does_outside() {
    let mesh = sheet(160);
    let (mixed_mesh, new_from_old) = shuffled(&mesh);
    let solver = r#"precision = "f64", substeps = 8, iterations = 2"#;
    let straight = hanging(&mesh, solver, [0, 160], 0);
    let mut mixed = hanging(&mixed_mesh, solver, [new_from_old[0], new_from_old[160]], 0);
    let cloth = &mixed.model().cloths[0];
    assert!(
        !cloth.ordering.is_identity(),
        "the order of a shuffled mesh of {} vertices was kept",
        cloth.vertices.len()
    );
    assert_eq!(difference(&straight, &mixed, &new_from_old), 0.0, "initial positions");
    assert_eq!(cloth.mesh, mixed_mesh, "the rest shape is as the user numbers it");

    run(&mut mixed, 1);
    let (mut held, mut positions) = (Vec::new(), Vec::new());
    mixed.positions(0, &mut positions);
    for (vertex, p) in positions.iter().enumerate() {
        let x = position(&mixed, vertex).cast::<f32>().to_array();
        assert_eq!(*p, x, "vertex {vertex}");
        if p[1] == 0.0 {
            held.push(vertex as u32);
        }
    }
    let mut expected = [new_from_old[0], new_from_old[160]];
    expected.sort_unstable();
    assert_eq!(held, expected, "the pins are the only vertices that did not fall");
    let mut straight = straight;
    run(&mut straight, 1);
    let error = difference(&straight, &mixed, &new_from_old);
    // It falls by 1.4 mm; the orders of the sweeps differ by what they leave unsolved near the pins.
    assert!(error < 2e-4, "the shapes differ by {error:.1e} m");
}
