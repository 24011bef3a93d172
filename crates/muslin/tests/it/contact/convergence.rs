//! Solvers in contact reach one motion as the step goes to zero, at the first order of their schemes: with colliders and with cloth, sliding, before folds begin.

use muslin::math::Vec3;

use crate::common::{run, simulation};

/// Of a frame of a tenth of a second, in the coarsest of three; the finer ones have twice and four times as many.
const SUBSTEPS: u32 = 200;
const FRAMES: usize = 2;

/// A sheet that slides across a slope.
const SLOPE: &str = r#"
    gravity = [4, -9, 0]
    contact = { thickness = 5e-3, friction = 0.2, self_contact = false }
    [[cloth]]
    grid = { size = [0.3, 0.3], cells = [5, 5] }
    translate = [0, 0.005, 0]
    velocity = [0.5, 0, 0.2]
    material = { density = 0.5, stretch = { stiffness = 100 }, bend = { stiffness = 1e-3 } }
    [[collider]]
    plane = { point = [0, 0, 0], normal = [0, 1, 0] }
"#;

/// A strip that bends over a cylinder and begins to slip.
const CYLINDER: &str = r#"
    contact = { thickness = 5e-3, friction = 0.2, self_contact = false }
    [[cloth]]
    grid = { size = [0.5, 0.1], cells = [20, 4] }
    translate = [0.05, 0.005, 0]
    material = { density = 0.5, stretch = { stiffness = 100 }, bend = { stiffness = 1e-3 } }
    [[collider]]
    capsule = { a = [0, -0.1, -0.5], b = [0, -0.1, 0.5], radius = 0.1 }
"#;

/// A piece of cloth that slides over a strip, which it presses down.
const STRIPS: &str = r#"
    contact = { thickness = 5e-3, friction = 0.2, self_contact = true }
    [[cloth]]
    grid = { size = [0.5, 0.2], cells = [10, 4] }
    pins = [{ select = "x_min" }, { select = "x_max" }]
    material = { density = 0.5, stretch = { stiffness = 100 }, bend = { stiffness = 1e-3 } }
    [[cloth]]
    grid = { size = [0.2, 0.14], cells = [5, 3] }
    translate = [0.003, 0.005, 0.002]
    velocity = [0.6, 0, 0]
    material = { density = 0.5, stretch = { stiffness = 100 }, bend = { stiffness = 1e-3 } }
"#;

const XPBD: &str = r#"kind = "xpbd", precision = "f64", iterations = 20"#;
const EXPLICIT: &str = r#"kind = "explicit", precision = "f64""#;
const VBD: &str = r#"kind = "vbd", iterations = 40"#;
const PROJECTIVE: &str = r#"kind = "projective", iterations = 40"#;
const NEWTON: &str = r#"kind = "newton", tolerance = 1e-10"#;

/// Where all vertices are after 0.2 s.
fn motion(scene: &str, solver: &str, substeps: u32) -> Vec<Vec3<f64>> {
    let mut simulation = simulation(&format!("fps = 10\nsolver = {{ {solver}, substeps = {substeps} }}\n{scene}"));
    run(&mut simulation, FRAMES);
    simulation.state().positions.clone()
}

/// The largest distance of a vertex from its place in the other, in m.
fn distance(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
}

/// Holds solvers to the first order: the error halves with the step, to a fifth in the exponent, and is below `most` m in the finest.
fn all_are_of_the_first_order(scene: &str, solvers: &[&str], most: f64) {
    // Extrapolated to no step at all; the coarser of the two is four times finer than the finest below.
    let [coarse, fine] = [16, 32].map(|finer| motion(scene, EXPLICIT, finer * SUBSTEPS));
    let exact: Vec<Vec3<f64>> = coarse.iter().zip(&fine).map(|(c, f)| *f * 2.0 - *c).collect();
    for solver in solvers {
        let errors = [1, 2, 4].map(|finer| distance(&motion(scene, solver, finer * SUBSTEPS), &exact));
        let order = 0.5 * libm::log2(errors[0] / errors[2]);
        assert!((order - 1.0).abs() <= 0.2, "{solver}: errors {errors:?} m, order {order:.3}");
        assert!(errors[2] < most, "{solver}: errors {errors:?} m");
    }
}

#[test]
fn a_sheet_that_slides_down_a_slope() {
    all_are_of_the_first_order(SLOPE, &[XPBD, EXPLICIT, VBD, PROJECTIVE, NEWTON], 1e-4);
}

#[test]
fn a_strip_over_a_cylinder() {
    all_are_of_the_first_order(CYLINDER, &[XPBD, EXPLICIT, VBD, PROJECTIVE, NEWTON], 1e-3);
}

#[test]
fn cloth_that_slides_on_cloth() {
    all_are_of_the_first_order(STRIPS, &[XPBD, EXPLICIT, VBD, PROJECTIVE], 6e-4);
}
