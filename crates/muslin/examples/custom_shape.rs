//! A collider from outside the library: a round table top, the intersection of a ball and a slab of air above a plane.

use muslin::math::Vec3;
use muslin::mesh::Bounds;
use muslin::shape::{Probe, Shape};
use muslin::solver::Xpbd;
use muslin::{Cloth, Collide, Simulation};

/// All points within `thickness` of a disc of some radius that lies in the plane y = 0: a pill, seen from the side.
#[derive(Debug)]
struct Pill {
    radius: f64,
    thickness: f64,
}

impl Shape for Pill {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        let across = Vec3::new(p.x, 0.0, p.z);
        // The nearest point of the disc; everything else is a ball around it.
        let nearest = across * (self.radius / across.norm().max(self.radius));
        let out = p - nearest;
        let normal = if out.norm() > 0.0 { out.normalized_or_zero() } else { Vec3::new(0.0, 1.0, 0.0) };
        Probe { distance: out.norm() - self.thickness, normal }
    }

    fn bounds(&self) -> Bounds {
        let wide = self.radius + self.thickness;
        Bounds { min: [-wide, -self.thickness, -wide], max: [wide, self.thickness, wide] }
    }

    fn smallest_radius(&self) -> f64 {
        self.thickness
    }
}

/// Runs it, and asserts what it shows.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = Pill { radius: 0.3, thickness: 0.05 };
    let mut simulation = Simulation::builder()
        .solver(Xpbd { substeps: 15, ..Default::default() })
        .cloth(Cloth::grid([1.0, 1.0], [20, 20]).translate([0.0, 0.1, 0.0]).damping(1.0))
        .collider(table.friction(0.5))
        .build()?;
    for _ in 0..60 {
        simulation.advance()?;
    }
    let mut positions = Vec::new();
    simulation.positions(0, &mut positions);
    let middle = positions[10 * 21 + 10][1];
    assert!((0.049..0.055).contains(&middle), "the middle lies on the table: {middle}");
    assert!(positions[0][1] < -0.05, "the corners hang over its edge: {}", positions[0][1]);
    assert!(!simulation.contacts().is_empty(), "and that is a contact");
    Ok(())
}
