//! Closed forms of one projection, against values computed with 50 digits (`tests/fixtures`).

use std::f64::consts::{PI, TAU};

use muslin::energy::bend::dihedral::{self, Dihedral, angle, angle_gradient};
use muslin::energy::bend::isometric::{self, Isometric, IsometricScalar, cotangent_weights};
use muslin::energy::stretch::spring::{self, Spring};
use muslin::energy::{Constraint, Energy};
use muslin::math::Vec3;
use muslin::solver::pbd::{correction, stiffness_per_iteration};
use muslin::solver::xpbd::{Compliant, multiplier_step};
use serde_json::Value;

use crate::common::{number, table};

const XPBD_PBD: &str = include_str!("../../fixtures/xpbd_pbd.json");
const BERGOU_Q: &str = include_str!("../../fixtures/bergou_q.json");
const DIHEDRAL: &str = include_str!("../../fixtures/dihedral.csv");

fn cases(text: &str, key: &str) -> Vec<Value> {
    let mut all: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}"));
    match all[key].take() {
        Value::Array(list) => list,
        other => vec![other],
    }
}

fn num(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("{key} is no number in {case}"))
}

fn nums<const N: usize>(list: &Value) -> [f64; N] {
    std::array::from_fn(|i| list[i].as_f64().unwrap_or_else(|| panic!("not {N} numbers: {list}")))
}

fn vec3(list: &Value) -> Vec3<f64> {
    nums::<3>(list).into()
}

fn stencil(list: &Value) -> [Vec3<f64>; 4] {
    std::array::from_fn(|i| vec3(&list[i]))
}

#[track_caller]
fn close(got: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (got - expected).abs() / expected.abs();
    assert!(
        got == expected || error <= tolerance,
        "{what}: {got:e}, expected {expected:e}, relative error {error:.1e}"
    );
}

/// Compares vectors relative to the longest of `expected`.
#[track_caller]
fn close_vectors<const N: usize>(got: [Vec3<f64>; N], expected: [Vec3<f64>; N], tolerance: f64, what: &str) {
    let scale = expected.iter().map(|v| v.norm()).fold(0.0, f64::max);
    for (i, (a, b)) in got.into_iter().zip(expected).enumerate() {
        let error = (a - b).norm() / scale;
        assert!(a == b || error <= tolerance, "{what}, vector {i}: {a:?}, expected {b:?}, relative error {error:.1e}");
    }
}

/// Where a projection by the multiplier `change` puts the vertices.
fn moved<C: Constraint<f64, N>, const N: usize>(
    row: &C,
    x: [Vec3<f64>; N],
    w: &[f64; N],
    change: C::Multiplier,
) -> [Vec3<f64>; N] {
    std::array::from_fn(|i| x[i] + row.pull(i, change) * w[i])
}

fn undamped(step: f64) -> Compliant {
    Compliant { inverse_step_squared: 1.0 / (step * step), damping: 0.0 }
}

#[test]
fn a_pbd_projection_of_two_particles_is_the_closed_form() {
    for (i, case) in cases(XPBD_PBD, "A_pbd_distance").iter().enumerate() {
        let (x, w) = ([vec3(&case["p0"]), vec3(&case["p1"])], [num(case, "w0"), num(case, "w1")]);
        let rest = spring::Rest { length: num(case, "rest"), compliance: 0.0 };
        let row = Spring::row(&rest, &x);
        let out = moved(&row, x, &w, correction(&row, &w, |_| num(case, "k")));
        close_vectors(out, [vec3(&case["q0"]), vec3(&case["q1"])], 1e-14, &format!("case {i}"));
        let left = Spring::row(&rest, &out).value;
        let expected = num(case, "expected_residual");
        // C is the difference of lengths of about 1 m, so its rounding is absolute.
        assert!((left - expected).abs() <= 1e-14, "case {i}: C is {left:e} after, expected {expected:e}");
    }
}

#[test]
fn n_iterations_with_the_stiffness_of_one_leave_what_one_step_leaves() {
    for case in cases(XPBD_PBD, "B_pbd_stiffness") {
        let (k, n) = (num(&case, "k"), num(&case, "n") as u32);
        let per_iteration = stiffness_per_iteration(k, n);
        close(per_iteration, num(&case, "k_prime"), 1e-13, &format!("k′ of k = {k}, n = {n}"));
        // The residual after n plain projections, and after n with k′.
        let rest = spring::Rest { length: 1.0, compliance: 0.0 };
        let left = |k: f64| {
            let mut x = [Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0)];
            for _ in 0..n {
                let row = Spring::row(&rest, &x);
                x = moved(&row, x, &[0.0, 1.0], correction(&row, &[0.0, 1.0], |_| k));
            }
            Spring::row(&rest, &x).value
        };
        let expected = num(&case, "residual_fraction_after_n");
        assert!((left(k) - expected).abs() <= 1e-13, "k = {k}, n = {n}: {:e} left, expected {expected:e}", left(k));
        let once = left(per_iteration);
        assert!((once - (1.0 - k)).abs() <= 1e-13, "k′ of k = {k}, n = {n}: {once:e} left");
    }
}

#[test]
fn an_xpbd_update_with_compliance_multiplier_and_damping_is_the_closed_form() {
    for (i, case) in cases(XPBD_PBD, "C_xpbd_distance").iter().enumerate() {
        let (x, w) = ([vec3(&case["x0"]), vec3(&case["x1"])], [num(case, "w0"), num(case, "w1")]);
        let previous = [vec3(&case["x0_prev"]), vec3(&case["x1_prev"])];
        let (alpha, h) = (num(case, "alpha"), num(case, "dt"));
        let row = Spring::row(&spring::Rest { length: num(case, "rest"), compliance: alpha }, &x);
        let step = Compliant { damping: alpha * num(case, "beta") / h, ..undamped(h) };
        let moves = || [x[0] - previous[0], x[1] - previous[1]];
        let change = multiplier_step(&row, &w, Some(num(case, "lambda_in")), step, moves);
        close(change, num(case, "dlambda"), 1e-13, &format!("Δλ of case {i}"));
        let expected = [vec3(&case["x0_out"]), vec3(&case["x1_out"])];
        close_vectors(moved(&row, x, &w, change), expected, 1e-13, &format!("positions of case {i}"));
    }
}

/// One step down from `height` below the support at the velocity `v`: length and multiplier after it.
fn hang(case: &Value, length: f64, v: f64) -> (f64, f64) {
    let h = num(case, "dt");
    let rest = spring::Rest { length: num(case, "rest"), compliance: num(case, "alpha") };
    let x = [Vec3::ZERO, Vec3::new(0.0, -(length + h * (v + h * num(case, "g"))), 0.0)];
    let w = [0.0, 1.0 / num(case, "mass")];
    let row = Spring::row(&rest, &x);
    let change = multiplier_step(&row, &w, None, undamped(h), || [Vec3::ZERO; 2]);
    (-moved(&row, x, &w, change)[1].y, change)
}

#[test]
fn a_hanging_particle_takes_the_first_step_of_the_closed_form_and_rests_at_its_fixed_point() {
    for (i, case) in cases(XPBD_PBD, "D_xpbd_hanging_particle").iter().enumerate() {
        let (length, lambda) = hang(case, 1.0, 0.0);
        close(length, num(case, "y_step1"), 1e-13, &format!("length of case {i}"));
        // C is 1e-5 to 1e-3 of a length of 1 m: 1e-13 of the length is what rounding leaves.
        let (expected, scale) = (num(case, "lambda_step1"), num(case, "mass") * 1.0);
        assert!(
            (lambda - expected).abs() <= 1e-15 * scale.max(1.0),
            "λ of case {i}: {lambda:e}, expected {expected:e}"
        );
        let resting = 1.0 + num(case, "static_elongation");
        let (length, lambda) = hang(case, resting, 0.0);
        close(length, resting, 1e-13, &format!("fixed point of case {i}"));
        let expected = num(case, "static_lambda");
        assert!((lambda - expected).abs() <= 1e-15 * scale.max(1.0), "λ at rest of case {i}: {lambda:e}, {expected:e}");
    }
}

#[test]
fn the_iterates_of_a_two_link_chain_are_those_of_the_closed_form() {
    let case = &cases(XPBD_PBD, "E_two_link_chain")[0];
    let (h, g, m) = (num(case, "dt"), num(case, "g"), num(case, "mass"));
    let rest = spring::Rest { length: num(case, "rest"), compliance: num(case, "alpha") };
    let mut x = [0.0, 1.0 + h * h * g, 2.0 + h * h * g].map(|y| Vec3::new(0.0, -y, 0.0));
    let (mut lambda, w) = ([0.0; 2], [0.0, 1.0 / m, 1.0 / m]);
    let mut compared = 0;
    for iteration in 1..=50 {
        for link in 0..2 {
            let (ends, w) = ([x[link], x[link + 1]], [w[link], w[link + 1]]);
            let row = Spring::row(&rest, &ends);
            let change = multiplier_step(&row, &w, Some(lambda[link]), undamped(h), || [Vec3::ZERO; 2]);
            lambda[link] += change;
            [x[link], x[link + 1]] = moved(&row, ends, &w, change);
        }
        for row in case["iterations"].as_array().expect("a list") {
            let [n, y1, y2, l1, l2] = nums(row);
            if n == f64::from(iteration) {
                compared += 1;
                for (got, expected) in [(-x[1].y, y1), (-x[2].y, y2)] {
                    close(got, expected, 1e-14, &format!("length after {n} iterations"));
                }
                for (got, expected) in [(lambda[0], l1), (lambda[1], l2)] {
                    // λ = C/α̃ w with C of 1e-3 of a length of 2 m.
                    assert!((got - expected).abs() <= 1e-14, "λ after {n} iterations: {got:e}, expected {expected:e}");
                }
            }
        }
    }
    assert_eq!(compared, 7, "recorded iterations");
    let exact: [f64; 2] = nums(&case["exact_y"]);
    close(-x[2].y, exact[1], 1e-13, "the converged step is the implicit Euler step");
}

#[test]
fn an_xpbd_step_of_the_dihedral_angle_is_the_closed_form() {
    for (i, case) in cases(XPBD_PBD, "F_xpbd_dihedral").iter().enumerate() {
        let (x, w) = (stencil(&case["x"]), nums::<4>(&case["w"]));
        let rest = dihedral::Rest { angle: num(case, "theta0"), compliance: num(case, "alpha") };
        close(angle(&x), num(case, "theta"), 1e-14, &format!("θ of case {i}"));
        let mut row = Dihedral::row(&rest, &x);
        // The closed form takes θ − θ₀ as it is, here the short way round is taken: by a whole turn less in one case.
        let expected = num(case, "C");
        let turns = ((row.value - expected) / TAU).round();
        assert_eq!(turns, if expected > PI { -1.0 } else { 0.0 }, "turns of case {i}: {} and {expected}", row.value);
        row.value -= turns * TAU;
        close(row.value, expected, 1e-13, &format!("C of case {i}"));
        let change = multiplier_step(&row, &w, None, undamped(num(case, "dt")), || [Vec3::ZERO; 4]);
        close(change, num(case, "dlambda"), 1e-13, &format!("Δλ of case {i}"));
        let out = moved(&row, x, &w, change);
        close_vectors(out, stencil(&case["x_out"]), 1e-13, &format!("positions of case {i}"));
        close(angle(&out), num(case, "theta_out"), 1e-12, &format!("θ after, of case {i}"));
    }
}

#[test]
fn steps_of_isometric_bending_as_a_scalar_and_as_a_vector_are_the_closed_forms() {
    for (i, case) in cases(XPBD_PBD, "G_isometric_bending").iter().enumerate() {
        let (x, w, h) = (stencil(&case["y"]), nums::<4>(&case["w"]), num(case, "xpbd_dt"));
        let rest_x = stencil(&case["rest"]);
        let weights = cotangent_weights(&rest_x);
        let area = 0.5
            * ((rest_x[1] - rest_x[0]).cross(rest_x[2] - rest_x[0]).norm()
                + (rest_x[1] - rest_x[0]).cross(rest_x[3] - rest_x[0]).norm());
        let what = |name: &str| format!("{name} of case {i}");

        let alpha = num(case, "xpbd_alpha");
        let rest = isometric::ScalarRest { weights, scale: 3.0 / area, compliance: alpha };
        let row = IsometricScalar::row(&rest, &x);
        close(row.value, num(case, "C"), 1e-13, &what("scalar C"));
        close_vectors(row.gradient, stencil(&case["gradC"]), 1e-13, &what("scalar gradient"));
        let change = correction(&row, &w, |_| 1.0);
        close(change, num(case, "pbd_s"), 1e-13, &what("PBD multiplier"));
        close_vectors(moved(&row, x, &w, change), stencil(&case["pbd_out"]), 1e-13, &what("PBD positions"));
        let change = multiplier_step(&row, &w, None, undamped(h), || [Vec3::ZERO; 4]);
        close(change, num(case, "xpbd_dlambda"), 1e-13, &what("scalar Δλ"));

        let vector = &case["vector_constraint"];
        for (got, expected) in weights.into_iter().zip(nums::<4>(&vector["K"])) {
            close(got, expected, 1e-13, &what("K"));
        }
        // Bergou's k_b is B/3, and 1/α here is his k.
        let bending = 3.0 / alpha;
        close(area / bending, num(vector, "alpha"), 1e-13, &what("α"));
        let row = Isometric::row(&isometric::Rest { weights, compliance: area / bending }, &x);
        close_vectors([row.value], [vec3(&vector["C"])], 1e-13, &what("vector C"));
        let change = multiplier_step(&row, &w, None, undamped(h), || [Vec3::ZERO; 4]);
        close_vectors([change], [vec3(&vector["dlambda"])], 1e-13, &what("vector Δλ"));
    }
}

#[test]
fn angles_and_their_gradients_match_fifty_digits_on_fifty_hinges() {
    let rows = table(DIHEDRAL);
    assert_eq!(rows.len(), 50, "hinges in the fixture");
    for row in rows {
        let n: Vec<f64> = row.iter().map(|cell| number(cell)).collect();
        let at = |first: usize, i: usize| Vec3::new(n[first + 3 * i], n[first + 3 * i + 1], n[first + 3 * i + 2]);
        let x = std::array::from_fn(|i| at(1, i));
        let (theta, phi) = (n[13], n[14]);
        let got = angle(&x);
        assert!((got - theta).abs() <= 1e-14, "θ of hinge {}: {got}, expected {theta}", row[0]);
        let pbd = PI - got.abs();
        assert!((pbd - phi).abs() <= 1e-14, "φ = π − |θ| of hinge {}: {pbd}, expected {phi}", row[0]);
        let expected = std::array::from_fn(|i| at(15, i));
        close_vectors(angle_gradient(&x), expected, 1e-13, &format!("∂θ/∂x of hinge {}", row[0]));
    }
}

#[test]
fn quadratic_bending_matches_fifty_digits_on_twenty_four_hinges() {
    let all = cases(BERGOU_Q, "cases");
    assert_eq!(all.len(), 24, "hinges in the fixture");
    for case in &all {
        let what = |name: &str| format!("{name} of {}", case["name"]);
        let weights = cotangent_weights(&stencil(&case["rest_x"]));
        let expected: [f64; 4] = nums(&case["K"]);
        let scale = expected.iter().fold(0.0_f64, |m, k| m.max(k.abs()));
        for (got, expected) in weights.into_iter().zip(expected) {
            assert!((got - expected).abs() <= 1e-13 * scale, "{}: {got}, expected {expected}", what("K"));
        }
        let area = num(case, "area_A") + num(case, "area_B");
        for i in 0..4 {
            let row: [f64; 4] = nums(&case["Q"][i]);
            for (j, expected) in row.into_iter().enumerate() {
                let got = 3.0 / area * weights[i] * weights[j];
                let largest = 3.0 / area * scale * scale;
                assert!((got - expected).abs() <= 1e-13 * largest, "{}: {got}, expected {expected}", what("Q"));
            }
        }
        // k_b = 1 is B = 3.
        let rest = isometric::Rest { weights, compliance: area / 3.0 };
        let y = stencil(&case["deformed_y"]);
        close(Isometric::value(&rest, &y), num(case, "energy_kb1"), 1e-13, &what("energy"));
        let force = Isometric::gradient(&rest, &y).map(|g| -g);
        close_vectors(force, stencil(&case["force_kb1"]), 1e-13, &what("force"));
        for fold in case["isometric_folds"].as_array().expect("a list") {
            let mut x = stencil(&case["rest_x"]);
            x[3] = vec3(&fold["x3"]);
            // ½ B‖Kx‖²/(A₀+A₁) = 2 B ℓ² sin²(θ/2)/(A₀+A₁): nearly flat folds have lost digits to the squares of lengths.
            let (got, expected) = (Isometric::value(&rest, &x), num(fold, "E_bergou"));
            close(got, expected, 1e-12, &what("energy of a fold"));
            let theta = num(fold, "theta_S");
            assert!((angle(&x) - theta).abs() <= 1e-14, "{}: {}, expected {theta}", what("θ of a fold"), angle(&x));
        }
    }
}
