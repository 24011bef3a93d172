//! Preparation of a large mesh, before the first step.

use std::fmt::Write;

use muslin::mesh::{Diagonals, Mesh, check};
use muslin::topology::{Topology, color, locality_order};
use muslin_io::read_obj;

use super::{Row, Samples};
use crate::failure::Failure;

/// How often each step is measured.
const REPETITIONS: usize = 3;

/// Times each step of the setup of a sheet of `side`² vertices.
pub(crate) fn measure(side: u32) -> Result<Vec<Row>, Failure> {
    let cells = [side - 1; 2];
    let mut steps: [(&str, Samples); 7] =
        ["generate", "validate", "sort edges", "order", "colour edges", "colour hinges", "read obj"]
            .map(|name| (name, Samples::default()));
    let mut vertices = 0;
    for _ in 0..REPETITIONS {
        let [generate, validate, sort, order, edges, hinges, read] = steps.each_mut().map(|(_, samples)| samples);
        let mesh = generate
            .time(|| Mesh::grid([1.0, 1.0], cells, Diagonals::Alternating))
            .map_err(|error| Failure::Failed(error.to_string()))?;
        vertices = mesh.vertex_count();
        validate.time(|| check(&mesh));
        let topology = sort.time(|| Topology::build(&mesh));
        order.time(|| locality_order(&topology.vertex_neighbors));
        edges.time(|| color(&topology.edges, vertices));
        let stencils: Vec<[u32; 4]> = topology.hinges.iter().map(|hinge| hinge.vertices).collect();
        hinges.time(|| color(&stencils, vertices));
        let text = obj_text(&mesh);
        read.time(|| read_obj(text.as_bytes())).map_err(|error| Failure::Failed(error.to_string()))?;
    }
    let row = |(quantity, samples): (&'static str, Samples)| Row {
        subject: "setup",
        vertices,
        threads: 1,
        quantity,
        unit: "s",
        best: samples.best(),
        median: samples.median(),
        count: samples.count(),
    };
    Ok(steps.into_iter().map(row).collect())
}

/// The mesh as other programs write it.
fn obj_text(mesh: &Mesh) -> String {
    let mut text = String::with_capacity(64 * mesh.vertex_count());
    for [x, y, z] in &mesh.positions {
        // A string takes whatever is written to it.
        writeln!(text, "v {x:.6} {y:.6} {z:.6}").ok();
    }
    for [a, b, c] in mesh.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + 1)) {
        writeln!(text, "f {a} {b} {c}").ok();
    }
    text
}
