//! The certificate on meshes: thrown sheets, bodies that come through, and what cannot be held.

use muslin::contact::{Asked, Breach, BroadPhase, Truncation, certify, count_intersections};
use muslin::math::Vec3;
use muslin::parallel::Team;

use crate::common::Random;

/// Meshes in one array of vertices.
#[derive(Clone, Default)]
struct World {
    positions: Vec<Vec3<f64>>,
    triangles: Vec<[u32; 3]>,
    is_free: Vec<bool>,
    /// The first vertex of each one's sheet.
    firsts: Vec<usize>,
}

impl World {
    /// A square sheet of n × n cells, of side 1, with a place for each (u, v) of [−½, ½]².
    fn with_sheet(mut self, n: u32, is_free: bool, place: impl Fn(f64, f64) -> Vec3<f64>) -> Self {
        let first = self.positions.len() as u32;
        let at = |k: u32| f64::from(k) / f64::from(n) - 0.5;
        self.positions.extend((0..(n + 1) * (n + 1)).map(|k| place(at(k % (n + 1)), at(k / (n + 1)))));
        for k in (0..n * n).map(|k| first + k / n * (n + 1) + k % n) {
            let [a, b, c, d] = [k, k + 1, k + n + 1, k + n + 2];
            self.triangles.extend(if (a - first).is_multiple_of(2) {
                [[a, c, d], [a, d, b]]
            } else {
                [[a, c, b], [b, c, d]]
            });
        }
        self.is_free.resize(self.positions.len(), is_free);
        self.firsts.resize(self.positions.len(), first as usize);
        self
    }

    fn intersections(&self, positions: &[Vec3<f64>]) -> usize {
        count_intersections(&self.triangles, positions)
    }

    /// Every sheet on its own.
    fn broad_phase(&self) -> BroadPhase {
        let first_of = |v: u32| self.firsts[v as usize];
        BroadPhase::new(&self.positions, &self.triangles, first_of, |first| self.is_free[first])
    }

    /// Finds every pair that a step may bring within a small distance of each other.
    fn look(&self, broad_phase: &mut BroadPhase, start: &[Vec3<f64>], end: &[Vec3<f64>]) {
        broad_phase.look(&Team::solo(), 1, (start, end), &Asked::of_all(1e-6));
    }

    /// The same for another end.
    fn look_again(&self, broad_phase: &mut BroadPhase, start: &[Vec3<f64>], end: &[Vec3<f64>]) {
        broad_phase.look_again(&Team::solo(), 1, (start, end), &Asked::of_all(1e-6));
    }
}

fn level(y: f64) -> impl Fn(f64, f64) -> Vec3<f64> {
    move |u, v| Vec3::new(u, y, v)
}

/// Steps a world whose vertices want to move by `motion`, and checks each step. Ends are rounded to `margin` as a solver might.
fn run(
    world: &World,
    steps: usize,
    margin: f64,
    mut motion: impl FnMut(usize, usize, Vec3<f64>) -> Vec3<f64>,
) -> (Vec<Vec3<f64>>, usize) {
    let mut positions = world.positions.clone();
    let (mut broad_phase, mut truncation) = (world.broad_phase(), Truncation::new());
    let movable = |vertex: usize| world.is_free[vertex];
    let mut truncated = 0;
    assert_eq!(world.intersections(&positions), 0, "at the beginning");
    for step in 0..steps {
        let mut end: Vec<_> = positions.iter().enumerate().map(|(k, &p)| p + motion(step, k, p)).collect();
        let told = end.clone();
        world.look(&mut broad_phase, &positions, &end);
        loop {
            let held = truncation.hold(&positions, &mut end, movable, broad_phase.active(), margin);
            let held = held.unwrap_or_else(|breach| panic!("step {step}: {breach}"));
            truncated += held.truncated;
            if held.truncated == 0 {
                break;
            }
            world.look_again(&mut broad_phase, &positions, &end);
        }
        for (k, point) in end.iter_mut().enumerate() {
            if !movable(k) {
                assert_eq!(*point, told[k], "kinematic vertices go where they are told");
            } else if *point != positions[k] && margin > 0.0 {
                // Rounded to f32 displacements, or worse.
                let d = *point - positions[k];
                let rounded = positions[k] + d.cast::<f32>().cast::<f64>();
                assert!((rounded - *point).norm() <= margin, "the margin is too small for this test");
                *point = rounded;
            }
        }
        let certificate = certify(&positions, &end, broad_phase.active());
        certificate.unwrap_or_else(|breach| panic!("step {step}: {breach}"));
        assert_eq!(world.intersections(&end), 0, "step {step}");
        positions = end;
    }
    (positions, truncated)
}

#[test]
fn thrown_sheets_never_intersect() {
    let mut random = Random::new(1);
    for round in 0..4 {
        let tilt = 0.05 * f64::from(round);
        let world = World::default()
            .with_sheet(12, true, move |u, v| Vec3::new(u, -0.1 + tilt * u, v))
            .with_sheet(10, true, move |u, v| Vec3::new(u + 0.03, 0.1 + tilt * u, v))
            .with_sheet(9, true, move |u, v| Vec3::new(0.9 * u - 0.01, 0.2 + tilt * u, v));
        let velocity: Vec<_> =
            world.positions.iter().map(|p| Vec3::new(0.0, -0.2 * p.y, 0.0) + random.vector() * 0.04).collect();
        let margin = if round % 2 == 0 { 0.0 } else { 1e-8 };
        let (_, truncated) = run(&world, 25, margin, |_, k, _| velocity[k]);
        assert!(truncated > 1000, "nothing came near anything: {truncated}");
    }
}

#[test]
fn a_crumpling_sheet_never_intersects_itself() {
    let mut random = Random::new(2);
    let world = World::default().with_sheet(16, true, level(0.0));
    let noise: Vec<_> = world.positions.iter().map(|_| random.vector() * 0.02).collect();
    // Into the middle, and on: a collapse that no physics hinders.
    let (end, truncated) = run(&world, 60, 1e-8, |step, k, p| p * -0.05 + noise[(k * 7 + step) % noise.len()]);
    let size = end.iter().map(|p| p.norm()).fold(0.0, f64::max);
    assert!(truncated > 1000 && size < 0.5, "{truncated} truncated, size {size}");
}

#[test]
fn a_body_that_comes_through_pushes_layers_ahead() {
    let mut world = World::default().with_sheet(6, false, |u, v| Vec3::new(1.5 * u, -0.05, 1.5 * v));
    for layer in 0..4 {
        let y = 0.02 * f64::from(layer);
        world = world.with_sheet(8, true, move |u, v| Vec3::new(u + y, y, v));
    }
    let is_free = world.is_free.clone();
    // Cloth stays; the plate rises, and turns about.
    let (end, _) =
        run(
            &world,
            60,
            1e-8,
            |_, k, p| {
                if is_free[k] { Vec3::ZERO } else { Vec3::new(0.002 * p.z, 0.01, -0.002 * p.x) }
            },
        );
    let lowest = end.iter().zip(&is_free).filter(|(_, free)| **free).map(|(p, _)| p.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.55 - 0.001, "the cloth was left behind at {lowest}");
}

#[test]
fn what_is_squeezed_between_bodies_is_an_error_with_its_pair_and_the_step_is_left_alone() {
    let plate = |y: f64| move |u: f64, v: f64| Vec3::new(1.5 * u, y, 1.5 * v);
    let world = World::default().with_sheet(2, false, plate(-0.01)).with_sheet(6, true, level(0.0)).with_sheet(
        2,
        false,
        plate(0.01),
    );
    let wanted: Vec<_> = world
        .positions
        .iter()
        .map(|&p| p - Vec3::new(0.0, 1.2 * p.y + if p.y == 0.0 { 0.003 } else { 0.0 }, 0.0))
        .collect();
    let mut end = wanted.clone();
    let mut broad_phase = world.broad_phase();
    // Out of the way of one plate is in that of the other.
    let mut truncation = Truncation::new();
    let (breach, before) = (0..20)
        .find_map(|_| {
            let before = end.clone();
            world.look_again(&mut broad_phase, &world.positions, &end);
            let held = truncation.hold(&world.positions, &mut end, |k| world.is_free[k], broad_phase.active(), 0.0);
            held.err().map(|breach| (breach, before))
        })
        .expect("a step that cannot be held");
    assert!(matches!(breach, Breach::Pair(_)), "{breach}");
    assert!(breach.to_string().contains("pass through"), "{breach}");
    assert_eq!(end, before);
}

#[test]
fn bad_steps_are_refused_by_name() {
    let world = World::default().with_sheet(2, false, level(0.0)).with_sheet(2, true, level(0.02));
    let hold = |start: &[Vec3<f64>], end: &[Vec3<f64>]| {
        let mut broad_phase = world.broad_phase();
        world.look(&mut broad_phase, start, start);
        Truncation::new().hold(start, &mut end.to_vec(), |k| world.is_free[k], broad_phase.active(), 0.0).unwrap_err()
    };
    let start = world.positions.clone();
    let mut end = start.clone();
    end[4].y = f64::NAN;
    assert_eq!(hold(&start, &end), Breach::NotFinite(4));
    let mut touching = start.clone();
    touching[13].y = 0.0;
    assert!(matches!(hold(&touching, &touching), Breach::Touching(_)));
}

#[test]
fn a_falling_cloth_is_not_held_up() {
    let world = World::default().with_sheet(6, true, level(0.0)).with_sheet(6, true, level(0.01));
    let (end, truncated) = run(&world, 3, 0.0, |_, _, _| Vec3::new(0.0, -0.5, -0.1));
    assert_eq!(truncated, 0);
    for (x, y) in world.positions.iter().zip(&end) {
        assert!((*y - *x - Vec3::new(0.0, -1.5, -0.3)).norm() < 1e-12);
    }
}

#[test]
fn what_slides_along_keeps_its_tangential_motion() {
    let world = World::default()
        .with_sheet(2, false, level(0.0))
        .with_sheet(1, true, |u, v| Vec3::new(0.2 * u + 0.03, 0.01, 0.2 * v));
    let wanted = |k: usize, p: Vec3<f64>| if world.is_free[k] { p + Vec3::new(0.03, -0.03, 0.0) } else { p };
    let mut end: Vec<_> = world.positions.iter().enumerate().map(|(k, &p)| wanted(k, p)).collect();
    let mut broad_phase = world.broad_phase();
    world.look(&mut broad_phase, &world.positions, &end);
    let held = Truncation::new().hold(&world.positions, &mut end, |k| world.is_free[k], broad_phase.active(), 0.0);
    assert_eq!(held.unwrap().truncated, 4);
    for (k, (&x, &y)) in world.positions.iter().zip(&end).enumerate().filter(|(k, _)| world.is_free[*k]) {
        assert!((y.x - x.x - 0.03).abs() < 1e-12 && y.y > 0.0, "vertex {k} went from {x:?} to {y:?}");
    }
}
