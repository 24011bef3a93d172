//! An energy from outside the library: rubber bands that pull and never push, sewn between two cloths.

use muslin::energy::{Energy, Row};
use muslin::math::{Scalar, Vec3};
use muslin::solver::Xpbd;
use muslin::{Cloth, Elements, Pin, Select, Simulation};

/// ψ = max(0, ‖x₁ − x₀‖ − ℓ)²/2α, a spring that goes slack.
struct Band;

/// Rest data of one band.
#[derive(Clone, Copy)]
struct BandRest<S> {
    /// ℓ, in m.
    length: S,
    /// α, in m/N.
    compliance: S,
}

impl Energy<2> for Band {
    const NAME: &'static str = "band";
    type Rest<S: Scalar> = BandRest<S>;
    type Row<S: Scalar> = Row<S, 2>;

    fn cast<S: Scalar>(rest: &[BandRest<f64>]) -> BandRest<S> {
        BandRest { length: S::gather(rest, |r| r.length), compliance: S::gather(rest, |r| r.compliance) }
    }

    fn value<S: Scalar>(rest: &BandRest<S>, x: &[Vec3<S>; 2]) -> S {
        let c = Self::row(rest, x).value;
        S::from_f64(0.5) * c * c / rest.compliance
    }

    fn gradient<S: Scalar>(rest: &BandRest<S>, x: &[Vec3<S>; 2]) -> [Vec3<S>; 2] {
        let Row { value, gradient, .. } = Self::row(rest, x);
        gradient.map(|g| g * (value / rest.compliance))
    }

    fn row<S: Scalar>(rest: &BandRest<S>, x: &[Vec3<S>; 2]) -> Row<S, 2> {
        let d = x[1] - x[0];
        let length = d.norm();
        let is_taut = length.greater(rest.length);
        let value = S::select(is_taut, length - rest.length, S::ZERO);
        let direction = d * S::select(is_taut, S::ONE / length, S::ZERO);
        Row { value, gradient: [-direction, direction], compliance: rest.compliance }
    }
}

/// Runs it, and asserts what it shows.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A sheet that is held, and a smaller one 0.1 m below it that hangs on four bands.
    let bands = [0, 8, 72, 80].map(|v| ([(0, v), (1, v)], BandRest { length: 0.2, compliance: 1e-3 }));
    let mut simulation = Simulation::builder()
        .solver(Xpbd { substeps: 20, ..Default::default() })
        .cloth(Cloth::grid([0.5, 0.5], [8, 8]).name("ceiling").pin(Pin::select(Select::All)))
        .cloth(Cloth::grid([0.5, 0.5], [8, 8]).name("hammock").translate([0.0, -0.1, 0.0]).damping(2.0))
        .energy(Elements::<Band, 2>::across(bands))
        .build()?;
    for _ in 0..120 {
        simulation.advance()?;
    }
    let hammock = simulation.cloth("hammock").ok_or("there is a hammock")?;
    let mut positions = Vec::new();
    simulation.positions(hammock, &mut positions);
    let corner = f64::from(positions[0][1]);
    assert!((-0.25..-0.15).contains(&corner), "the band holds the corner at its length, give or take: {corner}");
    assert!(positions[40][1] < positions[0][1], "the middle sags");
    Ok(())
}
