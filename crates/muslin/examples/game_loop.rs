//! A game loop: a fixed step of the simulation, an accumulator of the time that the screen took, and positions in between for the picture.

use muslin::solver::Xpbd;
use muslin::{Cloth, Pin, Simulation, Wind};

/// Seconds of one step of the simulation.
const STEP: f64 = 1.0 / 60.0;
/// Steps for one picture at most: a game that falls behind slows down, and does not stop.
const MOST_STEPS: usize = 4;

struct Flag {
    simulation: Simulation,
    /// Time that has passed and is not simulated yet, in s.
    behind: f64,
    before: Vec<[f32; 3]>,
    now: Vec<[f32; 3]>,
}

impl Flag {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let simulation = Simulation::builder()
            .fps(STEP.recip())
            .solver(Xpbd { substeps: 10, ..Default::default() })
            .cloth(Cloth::grid([0.9, 0.6], [18, 12]).rotate([90.0, 0.0, 0.0]).pin(Pin::vertices([0, 228])))
            .wind(Wind { velocity: [6.0, 0.0, 2.0], drag: 1.0, lift: 0.5, ..Default::default() })
            .build()?;
        let mut now = Vec::new();
        simulation.positions(0, &mut now);
        Ok(Self { simulation, behind: 0.0, before: now.clone(), now })
    }

    /// What to draw after the screen has taken `seconds`.
    fn picture(&mut self, seconds: f64) -> Result<Vec<[f32; 3]>, Box<dyn std::error::Error>> {
        self.behind = (self.behind + seconds).min(MOST_STEPS as f64 * STEP);
        while self.behind >= STEP {
            self.simulation.advance()?;
            std::mem::swap(&mut self.before, &mut self.now);
            self.simulation.positions(0, &mut self.now);
            self.behind -= STEP;
        }
        let part = (self.behind / STEP) as f32;
        let between = |(a, b): (&[f32; 3], &[f32; 3])| std::array::from_fn(|i| a[i] + part * (b[i] - a[i]));
        Ok(self.before.iter().zip(&self.now).map(between).collect())
    }
}

/// Runs it, and asserts what it shows.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flag = Flag::new()?;
    let start = flag.now.clone();
    // A screen of 144 pictures a second, one of which takes long.
    let mut last = Vec::new();
    for picture in 0..144 {
        last = flag.picture(if picture == 50 { 0.5 } else { 1.0 / 144.0 })?;
    }
    let frames = flag.simulation.frame();
    assert!((60..=64).contains(&frames), "a second and what was not lost: {frames} steps");
    assert!((last[0][0] - start[0][0]).abs() < 1e-6, "the pole stands");
    let moved = last.iter().zip(&start).map(|(a, b)| (a[2] - b[2]).abs()).fold(0.0, f32::max);
    assert!(moved > 0.05, "the flag is in the wind: {moved}");
    Ok(())
}
