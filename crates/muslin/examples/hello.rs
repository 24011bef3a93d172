//! A tablecloth falls onto a ball: `cargo run --release -p muslin --example hello`.

use muslin::contact::Sphere;
use muslin::{Cloth, Collide, Simulation};

/// Runs it, and asserts what it shows.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = Simulation::builder()
        .cloth(Cloth::grid([1.0, 1.0], [24, 24]).translate([0.0, 0.6, 0.0]).fabric("cotton"))
        .collider(Sphere { center: [0.0, 0.25, 0.0], radius: 0.25 }.friction(0.4))
        .build()?;
    for _ in 0..45 {
        simulation.advance()?;
    }
    let mut positions = Vec::new();
    simulation.positions(0, &mut positions);
    assert!((0.5..0.51).contains(&positions[12 * 25 + 12][1]), "the middle lies on the ball");
    assert!(positions[0][1] < 0.35, "the corners hang");
    Ok(())
}
