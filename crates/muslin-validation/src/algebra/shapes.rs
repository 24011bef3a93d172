//! T0.10 and 0.14: folds without stretch, and the rotation nearest to a matrix.

use muslin::energy::Energy;
use muslin::energy::bend::cubic_shell::{self, CubicShell};
use muslin::energy::bend::isometric::{self, Isometric, cotangent_weights};
use muslin::energy::stretch::cluster::{Clusters, Mode, Patch};
use muslin::energy::stretch::shape_matching::Matching;
use muslin::math::{Mat3, Vec3, polar_rotation};
use muslin::mesh::Mesh;
use muslin::model::Model;
use serde_json::Value;

use super::{cases, get, stencil, vec3, worse};
use crate::fixtures::{BERGOU_Q, CLUSTERS, POLAR};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{Random, simulation};
use crate::{Scope, Try};

pub(super) fn cubic_shell(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "24 hinges, each folded without stretch to several angles; every fold as the rest shape θ₀ of every other one. ψα = 1 − cos(θ − θ₀).",
    );
    let (mut value, mut force, mut flat) = (0.0, 0.0, 0.0);
    for case in cases(BERGOU_Q, "cases")? {
        let rest_x = stencil::<4>(&case["rest_x"]);
        let folds: Vec<([Vec3<f64>; 4], f64)> = (case["isometric_folds"].as_array().into_iter().flatten())
            .map(|fold| ([rest_x[0], rest_x[1], rest_x[2], vec3(&fold["x3"])], get(fold, "theta_S")))
            .collect();
        for (rest, angle) in &folds {
            let rest_of = cubic_shell::Rest::new(rest, 1.0);
            // Of the size of the forces of the hinge: 1/ℓ for a unit angle.
            let scale = 1.0 / (rest[1] - rest[0]).norm();
            for g in CubicShell::gradient(&rest_of, rest) {
                force = worse(force, g.norm() / scale);
            }
            for (x, other) in folds.iter().filter(|(_, other)| other != angle) {
                let expected = 1.0 - libm::cos(other - angle);
                value = worse(value, (CubicShell::value(&rest_of, x) / expected - 1.0).abs());
            }
        }
        // Flat at rest: the quadratic energy, B = 1.
        if get(&case, "rest_theta_S").abs() < 1e-12 {
            let area = get(&case, "area_A") + get(&case, "area_B");
            let length = (rest_x[1] - rest_x[0]).norm_squared();
            let quadratic = isometric::Rest { weights: cotangent_weights(&rest_x), compliance: area };
            let cubic = cubic_shell::Rest::new(&rest_x, area / length);
            let y = stencil::<4>(&case["deformed_y"]);
            flat = worse(flat, (CubicShell::value(&cubic, &y) / Isometric::value(&quadratic, &y) - 1.0).abs());
        }
    }
    section.push(Row::bound("energy of a fold from θ₀ to θ, relative", value, 1e-12));
    section.push(Row::bound("force at θ = θ₀, over that of a unit angle", force, 1e-12));
    section.push(Row::bound("flat at rest: against quadratic bending, relative", flat, 1e-12));
    Ok(section)
}

fn matrix(value: &Value) -> Mat3 {
    Mat3(std::array::from_fn(|i| std::array::from_fn(|j| value[i][j].as_f64().unwrap_or(f64::NAN))))
}

fn largest(m: Mat3) -> f64 {
    m.0.iter().flatten().fold(0.0, |largest, x| worse(largest, x.abs()))
}

pub(super) fn polar(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "The rotation nearest to 32 matrices, 12 of them degenerate (flat, collinear, zero, reflections, half turns, 10^±12 in size), and the goals of 8 clusters, flat and \
         collinear ones included. Where R is not unique only its invariants are compared. Then the stretch model `shape_matching` on a sheet of 6 × 6 cells that was \
         shaken by a tenth of its size, with one region and with many.",
    );
    let [mut skew, mut trace, mut rotation, mut singular] = [0.0; 4];
    for case in cases(POLAR, "cases")? {
        let a = matrix(&case["A"]);
        let r = polar_rotation(&a);
        skew = worse(skew, largest(r.transposed().times(&r) - Mat3::IDENTITY));
        skew = worse(skew, (r.determinant() - 1.0).abs());
        let scale = case["sigma"][0].as_f64().unwrap_or(f64::NAN).max(f64::MIN_POSITIVE);
        trace = worse(trace, (r.transposed().times(&a).trace() - get(&case, "max_trace_RtA")).abs() / scale);
        if case["unique"].as_bool() == Some(true) {
            let error = largest(r - matrix(&case["R"]));
            let worst = if case["name"] == "near_singular" { &mut singular } else { &mut rotation };
            *worst = worse(*worst, error);
        }
    }
    section.push(Row::bound("RᵀR − 1 and det R − 1, all 32", skew, 1e-13));
    section.push(Row::bound("trace(RᵀA) against the largest, over the size of A, all 32", trace, 1e-13));
    section.push(Row::bound("R where it is unique", rotation, 1e-13));
    section.push(Row::bound("R of a nearly singular matrix", singular, 1e-6));
    section.push(Row::bound("goals of 8 clusters, in m of 1 m", goals()?, 1e-13));
    for stretch in ["region = 0", "region = 0.4", "region = 0.4, mode = \"linear\""] {
        of_model(&mut section, stretch)?;
    }
    Ok(section)
}

fn goals() -> Try<f64> {
    let mut worst = 0.0;
    for case in cases(CLUSTERS, "cases")?.iter().filter(|case| case["unique"].as_bool() == Some(true)) {
        let all = |key: &str| -> Vec<Vec3<f64>> { case[key].as_array().into_iter().flatten().map(vec3).collect() };
        let masses: Vec<f64> = case["mass"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let mut clusters = Clusters::new(Mode::Rigid);
        clusters.add(&Patch { rest: &all("rest"), edges: &[], first_vertex: 0 }, 0.0);
        clusters.weigh(&masses, |_| false);
        let fit = clusters.fit(0, &all("x"));
        for (member, goal) in clusters.members(0).iter().zip(all("goals")) {
            worst = worse(worst, (fit.goal(member) - goal).norm());
        }
    }
    Ok(worst)
}

/// The sheet of the rows below, and the positions at which it is looked at.
fn sheet(stretch: &str) -> Try<(Model, Vec<Vec3<f64>>)> {
    let text = format!(
        "solver.kind = \"projective\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [6, 6] }}\n\
         material = {{ stretch = {{ model = \"shape_matching\", {stretch} }}, bend.model = \"none\" }}"
    );
    // What a simulation owns cannot be taken out of it; the scene is sound if it can be made.
    simulation(&text, &Mesh::default())?;
    let scene = muslin::scene::parse(&text, &[]).into_result().map_err(|e| e.to_string())?;
    let compiled = muslin::setup::compile(&scene, &mut |_| Err("no file".to_owned()));
    let model = compiled.map_err(|p| format!("{p:?}"))?.model;
    let mut random = Random::new(3);
    let x = model.initial_positions.iter().map(|x| *x + random.vector() * 0.1).collect();
    Ok((model, x))
}

fn gradient(matching: &Matching, x: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
    (0..x.len()).map(|i| matching.gradient(i, x[i], |cluster| matching.fit(cluster, x))).collect()
}

fn of_model(section: &mut Section, stretch: &str) -> Try<()> {
    let (model, x) = sheet(stretch)?;
    let matching = model.matchings.first().ok_or("no regions")?;
    let g = gradient(matching, &x);
    let scale = g.iter().map(|g| g.norm()).fold(0.0, f64::max);
    let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
    for (x, g) in x.iter().zip(&g) {
        force += *g;
        torque += x.cross(*g);
    }
    let what = |what: &str| format!("`shape_matching`, {stretch}: {what}");
    section.push(Row::bound(
        what("net force and torque, over the largest force"),
        (force.norm() + torque.norm()) / scale,
        1e-12,
    ));

    let mut random = Random::new(5);
    let turn = Mat3::about(random.vector().normalized_or_zero(), 2.0);
    let shift = random.vector() * 10.0;
    let moved: Vec<Vec3<f64>> = x.iter().map(|x| turn.apply(*x) + shift).collect();
    let (before, after) = (matching.value(&x), matching.value(&moved));
    let turned = gradient(matching, &moved);
    let error = turned.iter().zip(&g).map(|(a, b)| (*a - turn.apply(*b)).norm() / scale).fold(0.0, worse);
    section.push(Row::bound(
        what("energy and forces after a rigid motion"),
        worse((after / before - 1.0).abs(), error),
        1e-11,
    ));

    // No dual numbers pass through the rotation; differences of two sizes leave an error of the fourth order.
    let direction: Vec<Vec3<f64>> = x.iter().map(|_| random.vector()).collect();
    let at = |s: f64| matching.value(&x.iter().zip(&direction).map(|(x, d)| *x + *d * s).collect::<Vec<_>>());
    let slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    let expected = (4.0 * slope(5e-4) - slope(1e-3)) / 3.0;
    let along: f64 = g.iter().zip(&direction).map(|(g, d)| g.dot(*d)).sum();
    section.push(Row::bound(
        what("force against differences of the energy, relative"),
        (along / expected - 1.0).abs(),
        1e-8,
    ));
    Ok(())
}
