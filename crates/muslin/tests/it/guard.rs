//! The guard on meshes: thrown sheets, bodies that come through, and what cannot be held.

use muslin::collision::{Breach, Candidates, Guard, Search, certify, count_intersections};
use muslin::math::Vec3;
use muslin::parallel::Team;

/// [Marsaglia 2003, *Xorshift RNGs*]
struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn point(&mut self) -> Vec3<f64> {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }
}

/// Meshes in one array of vertices.
#[derive(Clone, Default)]
struct World {
    positions: Vec<Vec3<f64>>,
    triangles: Vec<[u32; 3]>,
    is_free: Vec<bool>,
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
        self
    }

    fn intersections(&self, positions: &[Vec3<f64>]) -> usize {
        count_intersections(&self.triangles, positions)
    }

    fn search(&self) -> Search {
        Search::new(self.positions.len(), &self.triangles)
    }

    fn find(&self, positions: &[Vec3<f64>], radius: f64) -> Candidates {
        let mut candidates = Candidates::default();
        self.search().find(&Team::solo(), 1, positions, |vertex| self.is_free[vertex], radius, &mut candidates);
        candidates
    }
}

fn level(y: f64) -> impl Fn(f64, f64) -> Vec3<f64> {
    move |u, v| Vec3::new(u, y, v)
}

#[test]
fn the_list_is_that_of_brute_force() {
    let mut random = Random(9);
    let mut world = World::default().with_sheet(5, true, level(0.0)).with_sheet(4, true, level(0.1));
    world = world.with_sheet(3, false, |u, v| Vec3::new(u, v, 0.3));
    let mut search = world.search();
    let mut candidates = Candidates::default();
    let mut total = 0;
    for round in 0..30 {
        let size = [0.02, 0.1, 0.5][round % 3];
        let positions: Vec<_> = world.positions.iter().map(|&p| p + random.point() * size).collect();
        let radius = [0.05, 0.1, 0.4][round / 3 % 3];
        let movable = |vertex: usize| world.is_free[vertex];
        search.find(&Team::solo(), 1, &positions, movable, radius, &mut candidates);
        let at = |vertex: u32| positions[vertex as usize];
        let some_move = |vertices: &[u32; 4]| vertices.iter().any(|&vertex| world.is_free[vertex as usize]);
        let mut expected = Vec::new();
        for vertex in 0..positions.len() as u32 {
            for &[a, b, c] in world.triangles.iter().filter(|triangle| !triangle.contains(&vertex)) {
                let distance = muslin::collision::point_triangle(at(vertex), [a, b, c].map(at)).distance;
                if distance <= radius && some_move(&[vertex, a, b, c]) {
                    expected.push([vertex, a, b, c]);
                }
            }
        }
        assert_eq!(candidates.vertex_triangle, expected, "round {round}");
        let edges = search.edges();
        let mut expected = Vec::new();
        for (i, &[a, b]) in edges.iter().enumerate() {
            for &[c, d] in edges[i + 1..].iter().filter(|edge| !edge.contains(&a) && !edge.contains(&b)) {
                let distance = muslin::collision::segment_segment([a, b].map(at), [c, d].map(at)).distance;
                if distance <= radius && some_move(&[a, b, c, d]) {
                    expected.push([a, b, c, d]);
                }
            }
        }
        assert_eq!(candidates.edge_edge, expected, "round {round}");
        total += candidates.len();
    }
    assert!(total > 10_000, "too few pairs to tell: {total}");
}

#[test]
fn the_list_does_not_depend_on_threads_or_on_the_past() {
    let mut random = Random(4);
    let world = World::default().with_sheet(20, true, level(0.0)).with_sheet(20, true, level(0.02));
    let mut old = world.search();
    for _ in 0..4 {
        let positions: Vec<_> = world.positions.iter().map(|&p| p * 0.5 + random.point() * 0.05).collect();
        let expected = world.find(&positions, 0.03);
        for threads in [1, 2, 3, 8] {
            let team = Team::new(threads).unwrap();
            let mut candidates = Candidates::default();
            old.find(&team, threads, &positions, |_| true, 0.03, &mut candidates);
            assert_eq!(candidates.vertex_triangle, expected.vertex_triangle, "{threads} threads");
            assert_eq!(candidates.edge_edge, expected.edge_edge, "{threads} threads");
        }
    }
}

#[test]
fn a_list_reaches_less_far_as_vertices_leave_their_places_and_as_far_as_ever_when_all_fall() {
    let world = World::default().with_sheet(4, true, level(0.0)).with_sheet(4, true, level(0.3));
    let candidates = world.find(&world.positions, 0.2);
    assert!((candidates.reach(&world.positions) - 0.2).abs() < 1e-12);
    let fallen: Vec<_> = world.positions.iter().map(|&p| p - Vec3::new(0.0, 7.0, 0.0)).collect();
    assert!((candidates.reach(&fallen) - 0.2).abs() < 1e-12);
    let mut one_off = world.positions.clone();
    one_off[3].x += 0.06;
    let reach = candidates.reach(&one_off);
    assert!((reach - 0.14).abs() < 1e-12, "{reach}: the half box is 0.03");
    one_off[3].x = f64::NAN;
    assert_eq!(candidates.reach(&one_off), f64::NEG_INFINITY, "nothing is known");
}

/// Steps a world whose vertices want to move by `motion`, looking for pairs when the list is used up, and checks each step.
/// Ends are rounded to `margin` as a solver might.
fn run(
    world: &World,
    steps: usize,
    radius: f64,
    margin: f64,
    mut motion: impl FnMut(usize, usize, Vec3<f64>) -> Vec3<f64>,
) -> (Vec<Vec3<f64>>, usize) {
    let mut positions = world.positions.clone();
    let (mut search, mut candidates, mut guard) = (world.search(), Candidates::default(), Guard::new());
    let movable = |vertex: usize| world.is_free[vertex];
    let mut truncated = 0;
    assert_eq!(world.intersections(&positions), 0, "at the beginning");
    for step in 0..steps {
        if step == 0 || candidates.reach(&positions) < 0.5 * radius {
            search.find(&Team::solo(), 1, &positions, movable, radius, &mut candidates);
        }
        let mut end: Vec<_> = positions.iter().enumerate().map(|(k, &p)| p + motion(step, k, p)).collect();
        let told = end.clone();
        let held = guard.hold(&positions, &mut end, movable, &candidates, margin);
        let held = held.unwrap_or_else(|breach| panic!("step {step}: {breach}"));
        truncated += held.truncated;
        for (k, point) in end.iter_mut().enumerate() {
            if !movable(k) {
                assert_eq!(*point, told[k], "scripted vertices go where they are told");
            } else if *point != positions[k] && margin > 0.0 {
                // Rounded to f32 displacements, or worse.
                let d = *point - positions[k];
                let rounded = positions[k] + d.cast::<f32>().cast::<f64>();
                assert!((rounded - *point).norm() <= margin, "the margin is too small for this test");
                *point = rounded;
            }
        }
        certify(&positions, &end, movable, &candidates).unwrap_or_else(|breach| panic!("step {step}: {breach}"));
        assert_eq!(world.intersections(&end), 0, "step {step}");
        positions = end;
    }
    (positions, truncated)
}

#[test]
fn thrown_sheets_never_intersect() {
    let mut random = Random(1);
    for round in 0..4 {
        let tilt = 0.05 * f64::from(round);
        let world = World::default()
            .with_sheet(12, true, move |u, v| Vec3::new(u, -0.1 + tilt * u, v))
            .with_sheet(10, true, move |u, v| Vec3::new(u + 0.03, 0.1 + tilt * u, v))
            .with_sheet(9, true, move |u, v| Vec3::new(0.9 * u - 0.01, 0.2 + tilt * u, v));
        let velocity: Vec<_> =
            world.positions.iter().map(|p| Vec3::new(0.0, -0.2 * p.y, 0.0) + random.point() * 0.04).collect();
        let margin = if round % 2 == 0 { 0.0 } else { 1e-8 };
        let (_, truncated) = run(&world, 25, 0.08, margin, |_, k, _| velocity[k]);
        assert!(truncated > 1000, "nothing came near anything: {truncated}");
    }
}

#[test]
fn a_crumpling_sheet_never_intersects_itself() {
    let mut random = Random(2);
    let world = World::default().with_sheet(16, true, level(0.0));
    let noise: Vec<_> = world.positions.iter().map(|_| random.point() * 0.02).collect();
    // Into the middle, and on: a collapse that no physics hinders.
    let (end, truncated) = run(&world, 60, 0.06, 1e-8, |step, k, p| p * -0.05 + noise[(k * 7 + step) % noise.len()]);
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
            0.05,
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
    let candidates = world.find(&world.positions, 0.08);
    let wanted: Vec<_> = world
        .positions
        .iter()
        .map(|&p| p - Vec3::new(0.0, 1.2 * p.y + if p.y == 0.0 { 0.003 } else { 0.0 }, 0.0))
        .collect();
    let mut end = wanted.clone();
    let breach = Guard::new().hold(&world.positions, &mut end, |k| world.is_free[k], &candidates, 0.0).unwrap_err();
    assert!(matches!(breach, Breach::Pair(_)), "{breach}");
    assert!(breach.to_string().contains("pass through"), "{breach}");
    assert_eq!(end, wanted);
}

#[test]
fn bad_steps_are_refused_by_name() {
    let world = World::default().with_sheet(2, false, level(0.0)).with_sheet(2, true, level(0.02));
    let movable = |k: usize| world.is_free[k];
    let candidates = world.find(&world.positions, 0.05);
    let mut guard = Guard::new();
    let mut hold = |start: &[Vec3<f64>], end: &[Vec3<f64>], candidates: &Candidates| {
        guard.hold(start, &mut end.to_vec(), movable, candidates, 0.0).unwrap_err()
    };
    let start = world.positions.clone();
    let mut end = start.clone();
    end[4].y = f64::NAN;
    assert_eq!(hold(&start, &end, &candidates), Breach::NotFinite(4));
    end[4].y = 0.3;
    assert!(matches!(hold(&start, &end, &candidates), Breach::TooFast { vertex: 4, .. }));
    let mut touching = start.clone();
    touching[13].y = 0.0;
    let found = world.find(&touching, 0.05);
    assert!(matches!(hold(&touching, &touching, &found), Breach::Touching(_)));
    let mut gone = start.clone();
    gone[13].y += 1.0;
    assert!(matches!(hold(&gone, &gone, &candidates), Breach::OutOfReach { .. }));
}

#[test]
fn a_falling_cloth_is_not_held_up_by_a_short_list() {
    let world = World::default().with_sheet(6, true, level(0.0)).with_sheet(6, true, level(0.01));
    let candidates = world.find(&world.positions, 0.02);
    let fallen: Vec<_> = world.positions.iter().map(|&p| p - Vec3::new(0.0, 0.5, 0.1)).collect();
    let mut end = fallen.clone();
    let held = Guard::new().hold(&world.positions, &mut end, |_| true, &candidates, 0.0).unwrap();
    assert_eq!((held.truncated, end), (0, fallen));
}

#[test]
fn what_slides_along_keeps_its_tangential_motion() {
    let world = World::default()
        .with_sheet(2, false, level(0.0))
        .with_sheet(1, true, |u, v| Vec3::new(0.2 * u + 0.03, 0.01, 0.2 * v));
    let candidates = world.find(&world.positions, 0.1);
    let wanted = |k: usize, p: Vec3<f64>| if world.is_free[k] { p + Vec3::new(0.03, -0.03, 0.0) } else { p };
    let mut end: Vec<_> = world.positions.iter().enumerate().map(|(k, &p)| wanted(k, p)).collect();
    let held = Guard::new().hold(&world.positions, &mut end, |k| world.is_free[k], &candidates, 0.0).unwrap();
    assert_eq!(held.truncated, 4);
    for (k, (&x, &y)) in world.positions.iter().zip(&end).enumerate().filter(|(k, _)| world.is_free[*k]) {
        assert!((y.x - x.x - 0.03).abs() < 1e-12 && y.y > 0.0, "vertex {k} went from {x:?} to {y:?}");
    }
}
