//! T1.12: a cantilever plate on edge that tips over sideways under its weight.

use muslin::math::Vec3;

use crate::fixtures::{PLATE_THRESHOLD, lookup};
use crate::meshes::strip;
use crate::report::Section;
use crate::row::Row;
use crate::stage::{STATIC_GRAVITY, has_bend, has_solver, has_stretch, positions, relax, simulation, static_solver};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] =
    &[Test { number: "1.12", title: "Lateral buckling of a cantilever on edge", run: lateral }];

/// Part of gravity that acts sideways: the imperfection.
const TILT: f64 = 1e-4;

/// How far the tip moves sideways over Γ, at Γ = ρ g L³/B, on a strip that is 0.2 L wide.
fn deflection(mesh: &str, cells: u32, bend: &str, gamma: f64) -> Try<f64> {
    let text = format!(
        r#"
        fps = 1.0
        gravity = [0.0, {:?}, {:?}]
        solver = {{ {} }}
        [[cloth]]
        mesh = "strip.obj"
        pins = [ {{ within = {{ min = [-9.0, -1.0, -9.0], max = [1e-9, 1.0, 9.0] }} }} ]
        [cloth.material]
        density = {:?}
        stretch = {{ model = "stvk", stiffness = {:?}, poisson = 0.0 }}
        bend = {{ {bend}, stiffness = {:?} }}
        "#,
        TILT * STATIC_GRAVITY,
        -STATIC_GRAVITY,
        static_solver(1.0),
        1.0 / STATIC_GRAVITY,
        1e5 / gamma,
        1.0 / gamma
    );
    let mut plate = simulation(&text, &strip(mesh, cells))?;
    // Well below the sideways part.
    relax(&mut plate, 1e-8)?;
    let rest = &plate.model().cloths[0].mesh.positions;
    let tip: Vec<Vec3<f64>> =
        positions(&plate).into_iter().zip(rest).filter(|(_, r)| r[0] > 1.0 - 1e-9).map(|(x, _)| x).collect();
    Ok(tip.iter().map(|x| x.y).sum::<f64>() / tip.len() as f64 / gamma)
}

/// The load at which the response to a small sideways force has no bound (Southwell). The sign of gravity does not matter to
/// it, so the response goes as 1/(1 − (Γ/c)²) with the threshold c, and its inverse falls linearly with Γ² to zero.
fn threshold(mesh: &str, cells: u32, bend: &str, guess: f64) -> Try<f64> {
    let mut guess = guess;
    // The second round works near what the first found, where that one mode is nearly all of the response.
    for parts in [[0.5, 0.7], [0.85, 0.93]] {
        let [a, b] = parts.map(|part| part * guess);
        let (stiff, soft) = (1.0 / deflection(mesh, cells, bend, a)?, 1.0 / deflection(mesh, cells, bend, b)?);
        guess = (b * b + (b * b - a * a) * soft / (stiff - soft)).sqrt();
        if guess.is_nan() {
            return Err(format!("no threshold: Γ/δ is {stiff:.3e} and {soft:.3e}"));
        }
    }
    Ok(guess)
}

fn lateral(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A plate 0.2 L wide stands on edge, clamped at one end; at a critical Γ = ρ g L³/B it tips over sideways. The response to a sideways part of 1e-4 of gravity, \
         at 85 and 93 % of the critical load, extrapolated in Γ² (Southwell). Y L²/B = 1e5, ν of the membrane 0. The reference is a Ritz solution of Kirchhoff's plate. \
         A hinge model on equilateral triangles is a plate of ν = −1/3 and must give that threshold.",
    );
    if !has_solver("newton") || !has_stretch("stvk") {
        return Ok(section);
    }
    let plate = |nu: &str| lookup(PLATE_THRESHOLD, &[nu, "0.2"], 2);
    let hinge = plate("-0.3333333333")?;
    let (coarse, fine) = (if scope.quick { 10 } else { 20 }, 40);
    for (mesh, cells) in [("eq_across", coarse), ("eq_along", coarse), ("eq_along", fine)] {
        if scope.quick && cells == fine {
            continue;
        }
        let got = threshold(mesh, cells, "model = \"dihedral\"", hinge)?;
        let what = format!("`dihedral`, {mesh}, N = {cells}: critical Γ of ν = −1/3");
        section.push(if cells == fine {
            Row::relative(what, hinge, got, 0.03)
                .by_nature("a hinge model has the Poisson ratio −1/3 here, whatever the cloth has")
        } else {
            Row::measured(what, Some(hinge), got)
        });
    }
    for (nu, key, mesh) in [
        ("0.0", "0", "right_alt"),
        ("0.35", "0.35", "right_alt"),
        ("0.35", "0.35", "eq_along"),
        ("0.35", "0.35", "cvt"),
    ] {
        let exact = plate(key)?;
        for cells in [coarse, fine].into_iter().filter(|&cells| has_bend("shell") && !(scope.quick && cells == fine)) {
            let got = threshold(mesh, cells, &format!("model = \"shell\", poisson = {nu}"), exact)?;
            let what = format!("`shell`, ν = {nu}, {mesh}, N = {cells}: critical Γ");
            section.push(if cells == fine {
                Row::relative(what, exact, got, 0.03)
            } else {
                Row::measured(what, Some(exact), got)
            });
        }
    }
    Ok(section)
}
