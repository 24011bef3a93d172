//! A character's capsule that the program moves every frame, through a curtain.

use muslin::contact::Capsule;
use muslin::simulation::Touched;
use muslin::solver::Xpbd;
use muslin::{Cloth, Collide, Pin, Select, Simulation};

/// Runs it, and asserts what it shows.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = Capsule { a: [0.0, 0.3, -0.6], b: [0.0, 1.2, -0.6], radius: 0.2 };
    let curtain = Cloth::grid([1.2, 1.5], [18, 22]).rotate([90.0, 0.0, 0.0]).translate([0.0, 0.8, 0.0]);
    let mut simulation = Simulation::builder()
        .solver(Xpbd { substeps: 15, ..Default::default() })
        .cloth(curtain.pin(Pin::select(Select::ZMin)))
        .collider(body.named("character"))
        .build()?;
    let character = simulation.collider("character").ok_or("there is a character")?;
    let (mut touched, mut farthest) = (false, 0.0_f32);
    let mut positions = Vec::new();
    for frame in 1..=60 {
        // A walk at 1.2 m/s: what a game would read from its controls.
        simulation.move_collider(character, [0.0, 0.0, 1.2 * f64::from(frame) / 60.0])?;
        simulation.advance()?;
        touched |= simulation.contacts().iter().any(|contact| contact.with == Touched::Collider(character));
        simulation.positions(0, &mut positions);
        farthest = positions.iter().map(|x| x[2]).fold(farthest, f32::max);
    }
    assert!(touched, "the character has met the curtain");
    assert!(farthest > 0.3, "and pushed it along: {farthest}");
    Ok(())
}
