//! T1.8: the stretch of a strip that hangs by one end: Young's modulus and Poisson's ratio.

use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::setup::Compiled;

use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{STATIC_GRAVITY, has_solver, has_stretch, positions, solve_static, static_solver};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[Test {
    number: "1.8",
    title: "A hanging strip: Young's modulus and Poisson's ratio on four meshes",
    run: hanging_strip,
}];

const GRIDS: [&str; 4] = ["forward", "alternating", "crossed", "isotropic"];
const STIFFNESS: f64 = 1e3;
const WIDTH: f64 = 0.2;

/// Y and ν of a strip of length 1 under its weight ρ g = 1, read off its middle.
///
/// There `u_x` = (ρg/Y)(X − X²/2 − ν Z²/2) + c and `u_z` = −ν (ρg/Y)(1 − X) Z, X from the clamp.
fn moduli(stretch: &str, diagonals: &str, cells: u32) -> Try<(f64, f64)> {
    let across = libm::rint(WIDTH * f64::from(cells)) as u32;
    let scene = |load: f64| {
        format!(
            r#"
            fps = 1.0
            gravity = [{:?}, 0.0, 0.0]
            solver = {{ {} }}
            [[cloth]]
            grid = {{ size = [1.0, {WIDTH:?}], cells = [{cells}, {across}], diagonals = "{diagonals}" }}
            translate = [0.5, 0.0, 0.0]
            pins = [ {{ select = "x_min" }} ]
            [cloth.material]
            density = {:?}
            stretch = {{ {stretch} }}
            bend = {{ model = "none" }}
            "#,
            load * STATIC_GRAVITY,
            static_solver(load),
            1.0 / STATIC_GRAVITY
        )
    };
    let (simulation, _) = solve_static(&Mesh::default(), scene, 1e-6)?;
    let rest = &simulation.model().cloths[0].mesh.positions;
    let mut samples = Vec::new();
    let (mut contraction, mut norm) = (0.0, 0.0);
    for (x, r) in positions(&simulation).into_iter().zip(rest) {
        let along = r[0] + 0.5;
        if (0.3..0.8).contains(&along) {
            samples.push(([1.0, along - 0.5 * along * along, r[2] * r[2]], x.x - along));
            let basis = (1.0 - along) * r[2];
            contraction -= basis * (x.z - r[2]);
            norm += basis * basis;
        }
    }
    let slope = fit(&samples)[1];
    Ok((1.0 / slope, contraction / norm / slope))
}

/// Least squares with three functions.
fn fit(samples: &[([f64; 3], f64)]) -> [f64; 3] {
    let mut a = [[0.0; 4]; 3];
    for (basis, value) in samples {
        for i in 0..3 {
            for j in 0..3 {
                a[i][j] += basis[i] * basis[j];
            }
            a[i][3] += basis[i] * value;
        }
    }
    for p in 0..3 {
        for q in 0..3 {
            if q != p {
                let factor = a[q][p] / a[p][p];
                for k in p..4 {
                    a[q][k] -= factor * a[p][k];
                }
            }
        }
    }
    std::array::from_fn(|i| a[i][3] / a[i][i])
}

/// C of the springs of an endless sheet in Voigt's order (xx, zz, xz), over Y: second differences of energies of affine maps.
///
/// Every vertex of these grids is a centre of symmetry, so that uniform strain leaves no force to relax.
fn lattice_moduli(diagonals: &str) -> Try<[[f64; 3]; 3]> {
    let height = if diagonals == "isotropic" { 0.5 * 3.0_f64.sqrt() } else { 1.0 };
    let model = |columns: u32, rows: u32| -> Try<Compiled> {
        let size = [f64::from(columns), f64::from(rows) * height];
        let text = format!(
            r#"
            [[cloth]]
            grid = {{ size = {size:?}, cells = [{columns}, {rows}], diagonals = "{diagonals}" }}
            material = {{ stretch = {{ model = "spring", stiffness = 1.0 }}, bend = {{ model = "none" }} }}
            "#
        );
        let scene = muslin::scene::parse(&text, &[]).into_result().map_err(|e| e.to_string())?;
        let compiled = muslin::setup::compile(&scene, &mut |_| Err("no file".to_owned()));
        compiled.map_err(|p| format!("{p:?}"))
    };
    let sheets = [(model(8, 8)?, 1.0), (model(8, 4)?, -1.0), (model(4, 8)?, -1.0), (model(4, 4)?, 1.0)];
    let strain = 1e-5;
    let energy = |e: [f64; 3]| {
        let map = |p: &Vec3<f64>| {
            Vec3::new((1.0 + e[0]) * p.x + 0.5 * e[2] * p.z, 0.0, (1.0 + e[1]) * p.z + 0.5 * e[2] * p.x)
        };
        let of = |sheet: &Compiled| {
            let x: Vec<Vec3<f64>> = sheet.model.initial_positions.iter().map(map).collect();
            sheet.terms.iter().map(|term| term.value(&x)).sum::<f64>()
        };
        sheets.iter().map(|(model, sign)| sign * of(model)).sum::<f64>() / (16.0 * height * strain * strain)
    };
    let unit = |i: usize, s: f64| std::array::from_fn::<f64, 3, _>(|k| if k == i { s * strain } else { 0.0 });
    let both = |i: usize, j: usize| {
        let (a, b) = (unit(i, 1.0), unit(j, 1.0));
        let plus: [f64; 3] = std::array::from_fn(|k| a[k] + b[k]);
        let minus: [f64; 3] = std::array::from_fn(|k| a[k] - b[k]);
        // Means over both signs have no cubic term.
        let even = |e: [f64; 3]| 0.5 * (energy(e) + energy(e.map(|x| -x)));
        if i == j { 2.0 * even(a) } else { 0.5 * (even(plus) - even(minus)) }
    };
    Ok(std::array::from_fn(|i| std::array::from_fn(|j| both(i, j))))
}

/// Young's modulus along a direction: the inverse of σᵀ C⁻¹ σ for unit tension along it.
fn young(c: &[[f64; 3]; 3], degrees: f64) -> f64 {
    let (s, t) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
    let tension = [t * t, s * s, s * t];
    let mut a: [[f64; 4]; 3] = std::array::from_fn(|i| [c[i][0], c[i][1], c[i][2], tension[i]]);
    for p in 0..3 {
        for q in 0..3 {
            if q != p {
                let factor = a[q][p] / a[p][p];
                for k in p..4 {
                    a[q][k] -= factor * a[p][k];
                }
            }
        }
    }
    1.0 / (0..3).map(|i| tension[i] * a[i][3] / a[i][i]).sum::<f64>()
}

fn hanging_strip(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A strip of 1 × 0.2 hangs by one end under its weight (strain 1e-3 at the clamp); Y and ν from its middle. `stvk` and `neo_hookean` are the \
         sheet that was asked for on every mesh; springs are a sheet of their own on each: `Y` over direction from the energies of uniform strains.",
    );
    let cells = if scope.quick { 10 } else { 20 };
    if has_solver("newton") {
        for model in ["stvk", "neo_hookean"].into_iter().filter(|model| has_stretch(model)) {
            for diagonals in GRIDS {
                let stretch = format!("model = \"{model}\", stiffness = {STIFFNESS:?}, poisson = 0.3");
                let (y, nu) = moduli(&stretch, diagonals, cells)?;
                section.push(Row::relative(format!("`{model}`, {diagonals}: Y"), STIFFNESS, y, 0.01));
                section.push(Row::relative(format!("`{model}`, {diagonals}: ν"), 0.3, nu, 0.01));
            }
        }
        for diagonals in GRIDS {
            let of = |cells| moduli(&format!("model = \"spring\", stiffness = {STIFFNESS:?}"), diagonals, cells);
            let ((coarse, nu), (fine, _)) = (of(cells)?, of(2 * cells)?);
            let lattice = STIFFNESS * young(&lattice_moduli(diagonals)?, 0.0);
            // A vertex on the side is no centre of symmetry: a row of cells on each side gives way, whose part of the width falls as the cells do.
            let limit = 2.0 * fine - coarse;
            section.push(Row::relative(format!("`spring`, {diagonals}: Y along the strip, without its sides"), lattice, limit, 0.01).by_nature(format!("ν = {nu:.3}; a lattice of springs is this sheet and not the one that was asked for; {:+.2} % with {} cells across, {:+.2} % with twice as many", 100.0 * (coarse / lattice - 1.0), libm::rint(WIDTH * f64::from(cells)), 100.0 * (fine / lattice - 1.0))));
        }
    }
    let mut series = vec![Series::line("asked for", vec![[0.0, 1.0], [180.0, 1.0]])];
    for diagonals in GRIDS {
        let c = lattice_moduli(diagonals)?;
        let points: Vec<[f64; 2]> = (0..=180).step_by(5).map(|d| [f64::from(d), young(&c, f64::from(d))]).collect();
        let low = points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p[1]).fold(0.0, f64::max);
        let what = format!("`spring`, {diagonals}: Y over direction, largest over smallest");
        section.push(if diagonals == "isotropic" {
            Row::relative(what, 1.0, high / low, 1e-6).note(format!("{low:.3} to {high:.3} of Y"))
        } else {
            Row::measured(what, Some(1.0), high / low).note(format!("{low:.3} to {high:.3} of Y"))
        });
        series.push(Series::line(diagonals, points));
    }
    section.plots.push(Plot {
        stem: "spring_anisotropy".to_owned(),
        title: "Young's modulus of a lattice of springs over the stiffness asked for".to_owned(),
        axes: ["direction, in degrees".to_owned(), "Y".to_owned()],
        scales: [Scale::Linear, Scale::Linear],
        series,
    });
    Ok(section)
}
