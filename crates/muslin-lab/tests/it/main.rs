//! Whole tests of the lab on coarse meshes: what was put in comes out.

mod drape;
mod strips;

use muslin_lab::Sample;

/// A fabric with a solver, models and an edge length in m.
fn sample(fabric: &str, solver: &str, stretch: &str, edge_length: f64) -> Sample {
    Sample {
        solver: solver.to_owned(),
        stretch: stretch.to_owned(),
        edge_length: Some(edge_length),
        ..Sample::new(fabric).expect("a fabric of the catalogue")
    }
}
