//! Solvers that step the same energies reach one motion as the step goes to zero, each at the order of its scheme.

use muslin::math::Vec3;

use crate::common::{run, set_state, simulation};

/// A solver of this comparison.
struct Way {
    /// All but its substeps; solved until nothing is left that a smaller step would not change too.
    settings: &'static str,
    /// Of the error in the step, without and with damping; none where the steps are too long to tell.
    orders: [Option<f64>; 2],
}

/// One line for each solver that takes springs and isometric bending as potentials or constraints of the same energy.
const WAYS: &[Way] = &[
    Way { settings: r#"kind = "xpbd", precision = "f64", iterations = 40"#, orders: [Some(1.0), Some(1.0)] },
    Way { settings: r#"kind = "explicit", scheme = "symplectic", precision = "f64""#, orders: [Some(1.0), Some(1.0)] },
    // Without damping it overshoots.
    Way { settings: r#"kind = "explicit", scheme = "forward""#, orders: [None, Some(1.0)] },
    // Damping of both kinds is of the first order.
    Way { settings: r#"kind = "explicit", scheme = "verlet""#, orders: [Some(2.0), Some(1.0)] },
    Way { settings: r#"kind = "vbd", iterations = 60"#, orders: [Some(1.0), Some(1.0)] },
    Way { settings: r#"kind = "projective", iterations = 60"#, orders: [Some(1.0), Some(1.0)] },
    Way { settings: r#"kind = "newton", tolerance = 1e-10"#, orders: [Some(1.0), Some(1.0)] },
    Way { settings: r#"kind = "newton", tolerance = 1e-10, integrator = "bdf2""#, orders: [Some(2.0), Some(1.0)] },
];

/// Internal damping of the stretch, in s; where there is some, the material is damped too.
const DAMPINGS: [f64; 2] = [0.0, 2e-3];

const FRAMES: usize = 2;
/// Of the coarsest of three; the finer ones have twice and four times as many.
const SUBSTEPS: u32 = 100;

/// Where a small soft sheet, held at two corners and disturbed, is after 0.2 s.
fn motion(settings: &str, damping: f64, substeps: u32) -> Vec<Vec3<f64>> {
    // Both kinds of damping together.
    let air = if damping > 0.0 { 0.2 } else { 0.0 };
    let mut simulation = simulation(&format!(
        r#"
        fps = 10
        solver = {{ {settings}, substeps = {substeps} }}
        [[cloth]]
        grid = {{ size = [0.5, 0.5], cells = [5, 5] }}
        material = {{ density = 0.5, damping = {air:?}, stretch = {{ stiffness = 20, damping = {damping:?} }}, bend = {{ model = "isometric", stiffness = 1e-3 }} }}
        pins = [{{ vertices = [0, 5] }}]
        "#
    ));
    // Smooth, so that the modes which matter are slow against the steps: the others are what the schemes differ in.
    set_state(&mut simulation, |state| {
        for (x, v) in state.positions.iter().zip(&mut state.velocities) {
            *v += Vec3::new(0.5 * x.z, 2.0 * x.x * x.z, 0.3 * x.x);
        }
    });
    run(&mut simulation, FRAMES);
    simulation.state().positions.clone()
}

/// The largest distance of a vertex from its place in the other, in m.
fn distance(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
}

#[test]
fn all_solvers_reach_one_motion_at_their_orders() {
    for (d, damping) in DAMPINGS.into_iter().enumerate() {
        // Leapfrog with a step sixteen times finer than the finest below, extrapolated to none: the error that is left is
        // of the next order of a step that small.
        let [coarse, fine] =
            [32, 64].map(|finer| motion(r#"kind = "explicit", scheme = "verlet""#, damping, finer * SUBSTEPS));
        let over = if damping > 0.0 { 1.0 } else { 1.0 / 3.0 };
        let exact: Vec<Vec3<f64>> = coarse.iter().zip(&fine).map(|(c, f)| *f + (*f - *c) * over).collect();
        for way in WAYS {
            let Some(expected) = way.orders[d] else { continue };
            let errors = [1, 2, 4].map(|finer| distance(&motion(way.settings, damping, finer * SUBSTEPS), &exact));
            let orders = [errors[0] / errors[1], errors[1] / errors[2]].map(libm::log2);
            for order in orders {
                let what = format!("{}, damping {damping}: errors {errors:?} m, orders {orders:.3?}", way.settings);
                assert!((order - expected).abs() <= 0.2, "{what}");
            }
            assert!(errors[2] < 2e-3, "{}, damping {damping}: errors {errors:?} m", way.settings);
        }
    }
}
