//! Bodies with a formula stop what comes at any speed, or comes at them: cloth ends each substep on the side from which it came.

use muslin::math::Vec3;
use muslin::mesh::Bounds;
use muslin::settings::SolverSettings;
use muslin::shape::{Probe, Shape};
use muslin::solver::{Newton, SOLVERS, ShapeMatching, Xpbd};
use muslin::{Cloth, Collide, Simulation};

use crate::common::{advance, run, set_state, simulation};

/// A level sheet above a board of 1 cm, whose top is at 5 mm.
fn above_a_board(solver: &str, height: f64) -> String {
    format!(
        r#"
        solver.kind = {solver:?}
        [[cloth]]
        grid = {{ size = [0.5, 0.5], cells = [10, 10] }}
        translate = [0.013, {height:?}, 0.007]
        [[collider]]
        box = {{ center = [0, 0, 0], size = [1, 0.01, 1] }}
        "#
    )
}

fn throw(simulation: &mut Simulation, velocity: [f64; 3]) {
    set_state(simulation, |state| state.velocities.fill(velocity.into()));
}

fn lowest(simulation: &Simulation) -> f64 {
    simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_sheet_falls_on_a_board_at_any_speed_with_every_solver() {
    for kind in SOLVERS {
        let name = kind.entry.name;
        for (height, speed) in [(0.6, 0.0), (0.1, 10.0), (0.1, 20.0), (0.1, 50.0)] {
            let mut simulation = simulation(&above_a_board(name, height));
            throw(&mut simulation, [0.0, -speed, 0.0]);
            for _ in 0..40 {
                advance(&mut simulation);
                let lowest = lowest(&simulation);
                assert!(
                    lowest > 0.005 - 1e-6,
                    "{name}, {speed} m/s from {height} m: at {lowest} m after frame {}",
                    simulation.frame()
                );
            }
        }
    }
}

/// Bodies, too rough to slide around, that come along z from z = −0.5 m, and how far from its axis what each takes along was before, in m: what is farther out may come around it; and how
/// far it may be behind the middle, beside the body.
const COMERS: &[(&str, [f64; 2], f64)] = &[
    ("plane = { point = [0, 0, -0.5], normal = [0, 0, 1] }", [0.0, 9.0], 0.0),
    ("box = { center = [0, 0, -0.5], size = [1, 1, 0.01] }", [0.0, 0.4], 0.0),
    ("sphere = { center = [0, 0, -0.5], radius = 0.1 }", [0.0, 0.06], 0.0),
    ("capsule = { a = [-0.2, 0, -0.5], b = [0.2, 0, -0.5], radius = 0.06 }", [0.0, 0.04], 0.0),
    ("cylinder = { a = [0, 0, -0.505], b = [0, 0, -0.495], radius = 0.15 }", [0.0, 0.12], 0.0),
    (
        "torus = { center = [0, 0, -0.5], axis = [0, 0, 1], major_radius = 0.15, minor_radius = 0.03 }",
        [0.14, 0.16],
        0.03,
    ),
];

#[test]
fn a_body_at_20_metres_a_second_passes_through_nothing_with_any_solver() {
    for kind in SOLVERS {
        let name = kind.entry.name;
        for &(body, [from, to], beside) in COMERS {
            let mut simulation = simulation(&format!(
                r#"
                gravity = [0, 0, 0]
                solver.kind = {name:?}
                [[cloth]]
                grid = {{ size = [0.5, 0.5], cells = [15, 15] }}
                rotate = [90, 0, 0]
                translate = [0.003, 0.002, 0]
                [[collider]]
                {body}
                friction = 10
                path = [{{ time = 0 }}, {{ time = 0.05, offset = [0, 0, 1] }}]
                "#
            ));
            let aside = |x: &Vec3<f64>| (from..to).contains(&Vec3::new(x.x, x.y, 0.0).norm());
            let taken: Vec<bool> = simulation.state().positions.iter().map(aside).collect();
            for _ in 0..3 {
                advance(&mut simulation);
                let middle = -0.5 + 20.0 * simulation.state().time;
                let behind = |(x, is_taken): &(&Vec3<f64>, &bool)| **is_taken && x.z < middle - beside;
                let count = simulation.state().positions.iter().zip(&taken).filter(behind).count();
                assert_eq!(count, 0, "{name}: vertices behind {body} after frame {}", simulation.frame());
            }
        }
    }
}

/// A blade that turns about the y axis by 1800° a second: from +z over +x, where a sheet stands, to −z.
#[test]
fn a_blade_that_turns_fast_passes_through_nothing_with_any_solver() {
    for kind in SOLVERS {
        let name = kind.entry.name;
        let mut simulation = simulation(&format!(
            r#"
            gravity = [0, 0, 0]
            solver.kind = {name:?}
            [[cloth]]
            grid = {{ size = [0.2, 0.3], cells = [8, 12] }}
            rotate = [90, 0, 0]
            translate = [0.3, 0, 0]
            [[collider]]
            box = {{ center = [0.3, 0, 0], size = [0.6, 0.6, 0.01] }}
            center = [0, 0, 0]
            path = [{{ time = 0, turn = -90 }}, {{ time = 0.2, turn = 270 }}]
            "#
        ));
        for _ in 0..4 {
            advance(&mut simulation);
        }
        // Ahead of the blade, which is at 30°.
        let angle = 30.0_f64.to_radians();
        let (out, ahead) =
            (Vec3::new(libm::cos(angle), 0.0, -libm::sin(angle)), Vec3::new(-libm::sin(angle), 0.0, -libm::cos(angle)));
        let beside = simulation.state().positions.iter().filter(|x| (0.0..0.59).contains(&x.dot(out)));
        let gaps: Vec<f64> = beside.map(|x| x.dot(ahead) - 0.005).collect();
        let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(gaps.len() > 50 && least > -1e-6, "{name}: {} vertices, one at {least} m", gaps.len());
    }
}

/// A thin plate from outside the library.
#[derive(Debug)]
struct Plate;

impl Shape for Plate {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        Probe { distance: p.y.abs() - 0.004, normal: Vec3::new(0.0, f64::copysign(1.0, p.y), 0.0) }
    }

    fn bounds(&self) -> Bounds {
        Bounds { min: [f64::NEG_INFINITY, -0.004, f64::NEG_INFINITY], max: [f64::INFINITY, 0.004, f64::INFINITY] }
    }
}

#[test]
fn a_thin_shape_of_a_program_stops_a_fast_sheet() {
    fn lowest_on_a_plate(solver: impl SolverSettings) -> f64 {
        let cloth = Cloth::grid([0.4, 0.4], [8, 8]).translate([0.0, 0.1, 0.0]).velocity([3.0, -30.0, 0.0]);
        let mut simulation =
            Simulation::builder().solver(solver).cloth(cloth).collider(Plate.friction(0.2)).build().expect("a scene");
        run(&mut simulation, 20);
        lowest(&simulation)
    }
    let all = [
        lowest_on_a_plate(Xpbd::default()),
        lowest_on_a_plate(Newton::default()),
        lowest_on_a_plate(ShapeMatching::default()),
    ];
    assert!(all.iter().all(|y| *y > 0.004 - 1e-6), "{all:?}");
}

/// A narrow bar that meets a fast sheet between its vertices: the midpoints of its edges stop it. (Later the sheet may slip off: an edge is tested at one point.)
#[test]
fn a_bar_between_vertices_stops_a_fast_sheet() {
    for solver in ["xpbd", "pbd", "auto", "explicit"] {
        for speed in [1.0, 10.0, 40.0] {
            let mut simulation = simulation(&format!(
                r#"
                fps = 400
                gravity = [0, 0, 0]
                solver.kind = {solver:?}
                [[cloth]]
                grid = {{ size = [0.5, 0.5], cells = [10, 10] }}
                translate = [0.025, 0.1, 0.025]
                [[collider]]
                capsule = {{ a = [0, 0, -0.6], b = [0, 0, 0.6], radius = 0.01 }}
                "#
            ));
            throw(&mut simulation, [0.0, -speed, 0.0]);
            // The bar is 89 mm away.
            for _ in 0..(0.09 / speed * 400.0) as usize + 2 {
                advance(&mut simulation);
            }
            let x: Vec<Vec3<f64>> = simulation.in_user_order(0, &simulation.state().positions).collect();
            // The middles of the edges across it, from x = −25 to 25 mm.
            let middles = (0..11).map(|row| ((x[row * 11 + 4] + x[row * 11 + 5]) * 0.5).y);
            let lowest = middles.fold(f64::INFINITY, f64::min);
            assert!(lowest > 0.0, "{solver}, {speed} m/s: the middle of an edge is at {lowest} m");
        }
    }
}

/// A vertex that is pushed from one board to another passes through neither.
#[test]
fn a_sheet_between_boards_that_close_stays_between_them() {
    for kind in SOLVERS {
        let name = kind.entry.name;
        let mut simulation = simulation(&format!(
            r#"
            solver.kind = {name:?}
            [[cloth]]
            grid = {{ size = [0.5, 0.5], cells = [8, 8] }}
            [[collider]]
            box = {{ center = [0, -0.2, 0], size = [1, 0.01, 1] }}
            path = [{{ time = 0 }}, {{ time = 0.05, offset = [0, 0.19, 0] }}]
            [[collider]]
            box = {{ center = [0, 0.2, 0], size = [1, 0.01, 1] }}
            path = [{{ time = 0 }}, {{ time = 0.05, offset = [0, -0.19, 0] }}]
            "#
        ));
        for _ in 0..12 {
            advance(&mut simulation);
        }
        let outside = simulation.state().positions.iter().filter(|x| x.y.abs() > 0.005 - 1e-6).count();
        assert_eq!(outside, 0, "{name}: vertices that are not between the boards");
    }
}
