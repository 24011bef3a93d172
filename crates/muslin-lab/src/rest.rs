//! The way to rest: dynamic relaxation around any solver of the library.
//!
//! The cloth moves as its solver moves it: first freely, where a test wants that, then with velocities that decay at the critical rate of its slowest swing and with kinetic damping
//! [Cundall 1976; Barnes 1999]: whenever the kinetic energy has passed a peak, all velocities are put to zero. At a peak the forces of a mode vanish, so that each brake leaves the cloth near the equilibrium of its strongest mode.
//!
//! It is at rest when over a window of time no vertex has moved faster than a limit on average, and what the test measures has not changed by more than another. A brake hides a velocity
//! but no displacement: hence displacements are what counts.

use muslin::Simulation;

use crate::LabError;
use crate::sample::step_error;

/// When a test is at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Patience {
    /// Frames a second.
    pub(crate) fps: f64,
    /// Time in which it may swing freely first, in s.
    pub(crate) swing: f64,
    /// Decay rate of the velocities after that, in 1/s.
    pub(crate) damping: f64,
    /// Time over which it must be still, in s.
    pub(crate) window: f64,
    /// Largest displacement of a vertex over the window, in m.
    pub(crate) way: f64,
    /// Largest change over the window of what is measured, in its unit.
    pub(crate) change: f64,
    /// Simulated time after which it is as it is, in s.
    pub(crate) limit: f64,
}

/// How far from rest a test ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Whether it came to rest within its limits.
    pub is_reached: bool,
    /// Simulated time, in s.
    pub time: f64,
    /// Length of the last window, in s.
    pub window: f64,
    /// Largest displacement of a vertex over the last window, over its length, in m/s.
    pub speed: f64,
    /// Change over the last window of what the test measures, in its unit.
    pub change: f64,
    /// Times that velocities were put to zero.
    pub brakes: usize,
    /// What the held vertices carry of the load on the others: 1 in equilibrium. `None` where nothing weighs.
    pub carried: Option<f64>,
    /// The force that is left on a free vertex, root of the mean square, over the mean weight of one; `None` likewise. Vibrations below a µm are in it.
    pub residual: Option<f64>,
}

/// Advances a simulation until it is at rest; `measure` says what must not change, and `told` hears of the simulated time and of that.
pub(crate) fn relax(
    simulation: &mut Simulation,
    held: &[u32],
    patience: &Patience,
    mut measure: impl FnMut(&Simulation) -> f64,
    mut told: impl FnMut(f64, f64),
) -> Result<Rest, LabError> {
    let fps = patience.fps;
    let frames = |time: f64| libm::round(time * fps) as usize;
    let [window, limit, swing] = [patience.window, patience.limit, patience.swing].map(frames);
    let still = vec![[0.0; 3]; simulation.state().positions.len()];
    let (mut before, mut value) = (simulation.state().positions.clone(), measure(simulation));
    let (mut energy, mut brakes, mut done) = (kinetic_energy(simulation), 0, 0);
    let mut rest = Rest {
        is_reached: false,
        time: 0.0,
        window: window as f64 / fps,
        speed: f64::INFINITY,
        change: f64::INFINITY,
        brakes: 0,
        carried: None,
        residual: None,
    };
    while !rest.is_reached && done < limit {
        simulation.advance().map_err(|error| step_error(&error))?;
        done += 1;
        if done == swing {
            simulation.set_damping(0, patience.damping).map_err(|error| LabError::Failed(error.to_string()))?;
        }
        let now = kinetic_energy(simulation);
        if now < energy && done > swing {
            simulation.set_velocities(0, &still).map_err(|error| LabError::Failed(error.to_string()))?;
            (energy, brakes) = (0.0, brakes + 1);
        } else {
            energy = now;
        }
        if done % window == 0 {
            let state = simulation.state();
            let way = state.positions.iter().zip(&before).map(|(x, b)| (*x - *b).norm()).fold(0.0, f64::max);
            let measured = measure(simulation);
            rest.change = (measured - value).abs();
            rest.speed = way / rest.window;
            rest.is_reached = done >= swing + window && way <= patience.way && rest.change <= patience.change;
            (before, value) = (simulation.state().positions.clone(), measured);
            told(done as f64 / fps, measured);
        }
    }
    (rest.time, rest.brakes) = (done as f64 / fps, brakes);
    weigh(simulation, held, &mut rest);
    Ok(rest)
}

/// In J; held vertices do not move.
fn kinetic_energy(simulation: &Simulation) -> f64 {
    let (model, state) = (simulation.model(), simulation.state());
    state.velocities.iter().zip(&model.masses).map(|(v, mass)| 0.5 * mass * v.norm_squared()).sum()
}

/// Puts forces against weights.
fn weigh(simulation: &Simulation, held: &[u32], rest: &mut Rest) {
    let model = simulation.model();
    let mut forces = Vec::new();
    simulation.elastic_forces(0, &mut forces);
    let gravity = model.gravity.to_array();
    let masses: Vec<f64> = simulation.in_user_order(0, &model.masses).collect();
    let mut free = vec![true; masses.len()];
    held.iter().for_each(|&v| free[v as usize] = false);
    let (mut weight, mut lift, mut squares, mut count) = (0.0, 0.0, 0.0, 0.0);
    for ((force, mass), _) in forces.iter().zip(&masses).zip(&free).filter(|(_, is_free)| **is_free) {
        let left: [f64; 3] = std::array::from_fn(|k| force[k] + mass * gravity[k]);
        squares += left.iter().map(|f| f * f).sum::<f64>();
        weight += mass * model.gravity.norm();
        lift += force[1];
        count += 1.0;
    }
    if weight > 0.0 {
        rest.carried = Some(lift / weight);
        rest.residual = Some((squares / count).sqrt() * count / weight);
    }
}

#[cfg(test)]
mod tests {
    use muslin::math::Vec3;

    use super::*;
    use crate::cantilever::positions;
    use crate::sample::{Rig, Sample};
    use crate::sheet;

    /// A square of 4 cm whose side z = 0 is held, without gravity or in that of the earth.
    fn square(solver: &str, stretch: &str, gravity: f64) -> (Simulation, Vec<u32>) {
        let rest = sheet::rectangle([0.04; 2], 0.01).unwrap();
        let held: Vec<u32> =
            (0..rest.positions.len() as u32).filter(|&v| rest.positions[v as usize][2] == 0.0).collect();
        let start = rest.positions.iter().map(|p| [1.02 * p[0], 2.0 * p[0] * p[2], 1.01 * p[2]]).collect();
        let sample = Sample { solver: solver.into(), stretch: stretch.into(), ..Sample::new("cotton").unwrap() };
        let rig = Rig { rest, start, held: held.clone(), density: None, gravity, fps: 200.0, damping: 20.0 };
        (sample.simulation(&rig).unwrap(), held)
    }

    #[test]
    fn elastic_forces_are_the_slope_of_the_energy() {
        for stretch in ["spring", "stvk", "baraff_witkin", "neo_hookean"] {
            let (simulation, _) = square("explicit", stretch, 0.0);
            let mut forces = Vec::new();
            simulation.elastic_forces(0, &mut forces);
            let x = &simulation.state().positions;
            let energy = |vertex: usize, axis: usize, by: f64| {
                let mut moved = x.clone();
                let step: [f64; 3] = std::array::from_fn(|k| if k == axis { by } else { 0.0 });
                moved[simulation.model().cloths[0].ordering.new_from_old[vertex] as usize] += Vec3::from(step);
                simulation.elastic_energy(&moved)
            };
            for (vertex, force) in forces.iter().enumerate() {
                for axis in 0..3 {
                    let slope = (energy(vertex, axis, 1e-7) - energy(vertex, axis, -1e-7)) / 2e-7;
                    assert!((force[axis] + slope).abs() < 1e-5, "{stretch}, vertex {vertex}: {force:?} and {slope} N");
                }
            }
        }
    }

    #[test]
    fn what_hangs_at_rest_is_carried_by_what_is_held() {
        let (mut simulation, held) = square("newton", "spring", 9.81);
        let patience =
            Patience { fps: 200.0, swing: 0.0, damping: 30.0, window: 0.1, way: 1e-6, change: 1e-6, limit: 3.0 };
        let mut heard = 0;
        let lowest = |s: &Simulation| positions(s).iter().map(|p| p[1]).fold(0.0, f64::min);
        let rest = relax(&mut simulation, &held, &patience, lowest, |_, _| heard += 1).unwrap();
        assert!(rest.is_reached && rest.brakes > 0 && heard > 0, "{rest:?}, told {heard} times");
        let [carried, residual] = [rest.carried, rest.residual].map(Option::unwrap);
        assert!((carried - 1.0).abs() < 1e-3 && residual < 0.01, "{rest:?}");
    }
}
