//! T0: one element at a time. The unit tests of the library assert the same; here is the worst error of each.

mod models;
mod shapes;
mod steps;

use muslin::energy::bend::buckling;
use muslin::energy::bend::dihedral::{angle, angle_gradient};
use muslin::energy::bend::isometric::{self, Isometric, cotangent_weights};
use muslin::energy::stretch::membrane::{self, Membrane, Moduli, rest_weights};
use muslin::energy::stretch::neo_hookean::NeoHookean;
use muslin::energy::stretch::spring::{self, Spring};
use muslin::energy::stretch::stvk::Stvk;
use muslin::energy::{Blocks, Constraint, Energy};
use muslin::math::Vec3;
use muslin::solver::pbd::{correction, stiffness_per_iteration};
use muslin::solver::xpbd::{Compliant, multiplier_step};
use serde_json::Value;

use crate::fixtures::{BERGOU_Q, CHOI_KO, DIHEDRAL, MEMBRANE, SPRINGS, XPBD_PBD, num, table};
use crate::report::Section;
use crate::row::Row;
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "0.1", title: "PBD projection of two particles", run: pbd_projection },
    Test { number: "0.2", title: "PBD stiffness against iterations", run: pbd_stiffness },
    Test { number: "0.3", title: "XPBD update with compliance, multiplier and damping", run: xpbd_update },
    Test { number: "0.4", title: "No net force, no net torque", run: models::net_force },
    Test { number: "0.5", title: "Rigid motion changes nothing", run: models::rigid_motion },
    Test { number: "0.6", title: "Dihedral angle and its gradient", run: dihedral_angle },
    Test { number: "0.7", title: "Force is the derivative of the energy", run: models::forces },
    Test { number: "0.8", title: "Hessian is the derivative of the force", run: models::hessians },
    Test { number: "0.9", title: "Quadratic bending: K, Q, energy, force", run: bergou },
    Test { number: "0.10", title: "Cubic shell on isometric folds", run: shapes::cubic_shell },
    Test { number: "0.11", title: "Hessian of a spring, and the clamped one", run: spring_hessian },
    Test { number: "0.12", title: "Buckling force of Choi and Ko", run: choi_ko },
    Test { number: "0.13", title: "Membrane triangles: energy, force, Hessian", run: membranes },
    Test { number: "0.14", title: "Polar decomposition and shape matching", run: shapes::polar },
    Test { number: "0.15", title: "One implicit step", run: steps::one_step },
    Test { number: "0.16", title: "Descent never goes up", run: steps::monotony },
];

/// The cases of a fixture.
pub(crate) fn cases(text: &str, key: &str) -> Try<Vec<Value>> {
    let mut all: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    Ok(match all[key].take() {
        Value::Array(list) => list,
        other => vec![other],
    })
}

/// A number of a case.
pub(crate) fn get(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or(f64::NAN)
}

/// A list of numbers.
pub(crate) fn list<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|i| value[i].as_f64().unwrap_or(f64::NAN))
}

/// A point.
pub(crate) fn vec3(value: &Value) -> Vec3<f64> {
    list::<3>(value).into()
}

/// Points.
pub(crate) fn stencil<const N: usize>(value: &Value) -> [Vec3<f64>; N] {
    std::array::from_fn(|i| vec3(&value[i]))
}

/// The larger of two errors, or not a number if one is.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn relative(got: f64, expected: f64) -> f64 {
    if got == expected { 0.0 } else { (got - expected).abs() / expected.abs() }
}

/// The largest distance relative to the longest vector expected.
pub(crate) fn distance<const N: usize>(got: &[Vec3<f64>; N], expected: &[Vec3<f64>; N]) -> f64 {
    let scale = expected.iter().map(|v| v.norm()).fold(1e-300, f64::max);
    got.iter().zip(expected).map(|(a, b)| (*a - *b).norm() / scale).fold(0.0, worse)
}

fn moved<C: Constraint<f64, N>, const N: usize>(
    row: &C,
    x: [Vec3<f64>; N],
    w: &[f64; N],
    change: C::Multiplier,
) -> [Vec3<f64>; N] {
    std::array::from_fn(|i| x[i] + row.pull(i, change) * w[i])
}

fn pbd_projection(_: Scope) -> Try<Section> {
    let mut section = Section::new("Δx₀ = −w₀/(w₀+w₁) k C n of 20 random pairs, against 50 digits.");
    let (mut place, mut left) = (0.0, 0.0);
    for case in cases(XPBD_PBD, "A_pbd_distance")? {
        let (x, w) = ([vec3(&case["p0"]), vec3(&case["p1"])], [get(&case, "w0"), get(&case, "w1")]);
        let rest = spring::Rest { length: get(&case, "rest"), compliance: 0.0 };
        let row = Spring::row(&rest, &x);
        let out = moved(&row, x, &w, correction(&row, &w, |_| get(&case, "k")));
        place = worse(place, distance(&out, &[vec3(&case["q0"]), vec3(&case["q1"])]));
        left = worse(left, (Spring::row(&rest, &out).value - get(&case, "expected_residual")).abs());
    }
    section.push(Row::bound("positions, relative", place, 1e-14));
    section.push(Row::bound("what is left of C, in m of 1 m", left, 1e-14));
    Ok(section)
}

fn pbd_stiffness(_: Scope) -> Try<Section> {
    let mut section = Section::new("k′ = 1 − (1 − k)^{1/n}: n iterations leave what one step with k leaves.");
    let (mut per_iteration, mut left) = (0.0, 0.0);
    for case in cases(XPBD_PBD, "B_pbd_stiffness")? {
        let (k, n) = (get(&case, "k"), get(&case, "n") as u32);
        let reduced = stiffness_per_iteration(k, n);
        per_iteration = worse(per_iteration, relative(reduced, get(&case, "k_prime")));
        let rest = spring::Rest { length: 1.0, compliance: 0.0 };
        let mut x = [Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0)];
        for _ in 0..n {
            let row = Spring::row(&rest, &x);
            x = moved(&row, x, &[0.0, 1.0], correction(&row, &[0.0, 1.0], |_| reduced));
        }
        left = worse(left, (Spring::row(&rest, &x).value - (1.0 - k)).abs());
    }
    section.push(Row::bound("k′, relative", per_iteration, 1e-13));
    section.push(Row::bound("part of C that n iterations leave", left, 1e-13));
    Ok(section)
}

fn xpbd_update(_: Scope) -> Try<Section> {
    let mut section = Section::new("Eq. 18 and 26 of Macklin, Müller, Chentanez 2016 in 20 cases.");
    let (mut lambda, mut place) = (0.0, 0.0);
    for case in cases(XPBD_PBD, "C_xpbd_distance")? {
        let (x, w) = ([vec3(&case["x0"]), vec3(&case["x1"])], [get(&case, "w0"), get(&case, "w1")]);
        let previous = [vec3(&case["x0_prev"]), vec3(&case["x1_prev"])];
        let (alpha, h) = (get(&case, "alpha"), get(&case, "dt"));
        let row = Spring::row(&spring::Rest { length: get(&case, "rest"), compliance: alpha }, &x);
        let step = Compliant { inverse_step_squared: 1.0 / (h * h), damping: alpha * get(&case, "beta") / h };
        let moves = || [x[0] - previous[0], x[1] - previous[1]];
        let change = multiplier_step(&row, &w, Some(get(&case, "lambda_in")), step, moves);
        lambda = worse(lambda, relative(change, get(&case, "dlambda")));
        let out = moved(&row, x, &w, change);
        place = worse(place, distance(&out, &[vec3(&case["x0_out"]), vec3(&case["x1_out"])]));
    }
    section.push(Row::bound("Δλ, relative", lambda, 1e-13));
    section.push(Row::bound("positions, relative", place, 1e-13));
    Ok(section)
}

fn dihedral_angle(_: Scope) -> Try<Section> {
    let mut section = Section::new("50 hinges, from flat to folded over, against 50 digits (Tamstorf, Grinspun 2013).");
    let (mut theta, mut gradient) = (0.0, 0.0);
    for row in table(DIHEDRAL) {
        let n: Vec<f64> = row.iter().map(|cell| num(cell)).collect();
        let at = |first: usize, i: usize| Vec3::new(n[first + 3 * i], n[first + 3 * i + 1], n[first + 3 * i + 2]);
        let x = std::array::from_fn(|i| at(1, i));
        theta = worse(theta, (angle(&x) - n[13]).abs());
        gradient = worse(gradient, distance(&angle_gradient(&x), &std::array::from_fn(|i| at(15, i))));
    }
    section.push(Row::bound("θ, in rad", theta, 1e-14));
    section.push(Row::bound("∂θ/∂x, relative", gradient, 1e-13));
    Ok(section)
}

fn bergou(_: Scope) -> Try<Section> {
    let mut section = Section::new("24 hinges of Bergou et al. 2006, with k_b = B/3.");
    let (mut weights_error, mut energy, mut force, mut fold) = (0.0, 0.0, 0.0, 0.0);
    for case in cases(BERGOU_Q, "cases")? {
        let weights = cotangent_weights(&stencil(&case["rest_x"]));
        let expected: [f64; 4] = list(&case["K"]);
        let scale = expected.iter().fold(0.0_f64, |m, k| m.max(k.abs()));
        for (got, expected) in weights.into_iter().zip(expected) {
            weights_error = worse(weights_error, (got - expected).abs() / scale);
        }
        let area = get(&case, "area_A") + get(&case, "area_B");
        let rest = isometric::Rest { weights, compliance: area / 3.0 };
        let y = stencil(&case["deformed_y"]);
        energy = worse(energy, relative(Isometric::value(&rest, &y), get(&case, "energy_kb1")));
        force = worse(force, distance(&Isometric::gradient(&rest, &y).map(|g| -g), &stencil(&case["force_kb1"])));
        for one in case["isometric_folds"].as_array().into_iter().flatten() {
            let mut x = stencil(&case["rest_x"]);
            x[3] = vec3(&one["x3"]);
            fold = worse(fold, relative(Isometric::value(&rest, &x), get(one, "E_bergou")));
        }
    }
    section.push(Row::bound("K, relative", weights_error, 1e-13));
    section.push(Row::bound("energy, relative", energy, 1e-13));
    section.push(Row::bound("force, relative", force, 1e-13));
    section.push(Row::bound("energy of folds without stretch, relative", fold, 1e-12));
    Ok(section)
}

/// The largest difference of a Hessian and a recorded one, relative to `scale`.
fn hessian_error<const N: usize>(blocks: &Blocks<N>, recorded: &Value, scale: f64) -> f64 {
    let number = |i: usize, j: usize| recorded[i][j].as_f64().unwrap_or(f64::NAN);
    let all = (0..3 * N).flat_map(|i| (0..3 * N).map(move |j| (i, j)));
    all.map(|(i, j)| (blocks[i / 3][j / 3].0[i % 3][j % 3] - number(i, j)).abs() / scale).fold(0.0, worse)
}

fn spring_hessian(_: Scope) -> Try<Section> {
    let mut section =
        Section::new("20 springs, 9 of them compressed, so that the exact Hessian has negative eigenvalues.");
    let (mut exact, mut clamped) = (0.0, 0.0);
    for case in cases(SPRINGS, "cases")? {
        let x = [vec3(&case["x0"]), vec3(&case["x1"])];
        let stiffness = get(&case, "stiffness");
        let rest = spring::Rest { length: get(&case, "rest_length"), compliance: 1.0 / stiffness };
        exact = worse(exact, hessian_error(&Spring::hessian(&rest, &x), &case["hessian"], stiffness));
        let projected = &case["hessian_psd_projected"];
        clamped = worse(clamped, hessian_error(&Spring::clamped(&rest, &x), projected, stiffness));
    }
    section.push(Row::bound("Hessian over k", exact, 1e-13));
    section.push(Row::bound("clamped Hessian over k", clamped, 1e-13));
    Ok(section)
}

fn choi_ko(_: Scope) -> Try<Section> {
    let mut section =
        Section::new("The force of a beam that has buckled into an arc, over x/L, and its slope (Choi, Ko 2002).");
    let rest = buckling::Rest { length: 1.0, scale: 1.0 };
    let (mut force, mut slope) = (0.0, 0.0);
    for row in table(CHOI_KO) {
        let x = num(&row[0]);
        force = worse(force, relative(buckling::force(&rest, x), num(&row[3])));
        slope = worse(slope, relative(buckling::force_slope(&rest, x), num(&row[4])));
    }
    section.push(Row::bound("force, relative", force, 1e-9));
    section.push(Row::bound("slope, relative", slope, 1e-9));
    Ok(section)
}

/// Worst relative errors of energy, force and Hessian of one triangle.
fn triangle_errors<E: Energy<3>>(rest: &E::Rest<f64>, case: &Value, model: &str) -> [f64; 3] {
    let (x, known) = (stencil::<3>(&case["x"]), &case["models"][model]);
    let hessian = E::hessian(rest, &x);
    let scale = hessian.iter().flatten().flat_map(|b| b.0).flatten().map(f64::abs).fold(0.0, f64::max);
    [
        relative(E::value(rest, &x), get(known, "energy")),
        distance(&E::gradient(rest, &x).map(|g| -g), &stencil(&known["force"])),
        hessian_error(&hessian, &known["hessian"], scale),
    ]
}

fn membranes(_: Scope) -> Try<Section> {
    let mut section = Section::new("12 random triangles, against 50 digits.");
    for (name, key) in [("stvk", "stvk"), ("neo_hookean", "neohookean_2d")] {
        let mut worst = [0.0; 3];
        for case in cases(MEMBRANE, "cases")? {
            let corner = |i: usize| {
                let [x, y] = list::<2>(&case["rest"][i]);
                Vec3::new(x, y, 0.0)
            };
            let corners = [corner(0), corner(1), corner(2)];
            let area = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).z;
            let weights = rest_weights(&corners, Vec3::new(1.0, 0.0, 0.0));
            let moduli = Moduli { mu: get(&case["params"], "mu") * area, lambda: get(&case["params"], "lam") * area };
            let rest = membrane::Rest { weights, moduli };
            let errors = match name {
                "stvk" => triangle_errors::<Membrane<Stvk>>(&rest, &case, key),
                _ => triangle_errors::<Membrane<NeoHookean>>(&rest, &case, key),
            };
            worst = std::array::from_fn(|i| worse(worst[i], errors[i]));
        }
        for (what, error) in ["energy", "force", "Hessian"].into_iter().zip(worst) {
            section.push(Row::bound(format!("`{name}`: {what}, relative"), error, 1e-12));
        }
    }
    Ok(section)
}
