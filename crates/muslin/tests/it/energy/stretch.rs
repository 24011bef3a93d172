//! The stretch models and buckling against closed forms computed with 50 digits (`tests/fixtures`), and in motion.

use muslin::energy::bend::buckling::{self, Buckling};
use muslin::energy::stretch::baraff_witkin::{self, BaraffWitkin};
use muslin::energy::stretch::membrane::{self, Membrane, Moduli, rest_weights};
use muslin::energy::stretch::neo_hookean::NeoHookean;
use muslin::energy::stretch::spring::{self, Spring};
use muslin::energy::stretch::stvk::Stvk;
use muslin::energy::{Blocks, Energy};
use muslin::math::{Mat3, Small, Vec3};
use serde_json::Value;

use crate::common::{number, run, simulation, simulation_on, table};

const MEMBRANE: &str = include_str!("../../fixtures/membrane.json");
const HOMOGENEOUS: &str = include_str!("../../fixtures/homogeneous.csv");
const SPRINGS: &str = include_str!("../../fixtures/spring_hessian.json");
const CHOI_KO: &str = include_str!("../../fixtures/choi_ko.csv");

fn cases(text: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}"));
    all["cases"].as_array().expect("a list of cases").clone()
}

fn num(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn vec3(list: &Value) -> Vec3<f64> {
    Vec3::new(num(&list[0]), num(&list[1]), num(&list[2]))
}

/// The largest difference of a Hessian from the fixture's, over its largest number.
fn hessian_error<const N: usize>(got: &Blocks<N>, expected: &Value) -> f64 {
    let (mut error, mut scale) = (0.0_f64, 0.0_f64);
    for i in 0..3 * N {
        for j in 0..3 * N {
            let exact = num(&expected[i][j]);
            scale = scale.max(exact.abs());
            error = error.max((got[i / 3][j / 3].0[i % 3][j % 3] - exact).abs());
        }
    }
    if error == 0.0 { 0.0 } else { error / scale }
}

/// Energy, force and Hessian of the elements of one triangle together.
fn check_triangle<E: Energy<3>>(rests: &[E::Rest<f64>], case: &Value, model: &str) {
    let what = format!("{model}, case {}", case["id"]);
    let expected = &case["models"][model];
    let x: [Vec3<f64>; 3] = std::array::from_fn(|i| vec3(&case["x"][i]));

    let energy: f64 = rests.iter().map(|rest| E::value(rest, &x)).sum();
    let exact = num(&expected["energy"]);
    assert!((energy - exact).abs() <= 1e-12 * exact, "{what}: ψ = {energy}, expected {exact}");

    let forces: [Vec3<f64>; 3] = std::array::from_fn(|i| vec3(&expected["force"][i]));
    let scale = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
    for (i, exact) in forces.into_iter().enumerate() {
        let force = rests.iter().fold(Vec3::ZERO, |sum, rest| sum - E::gradient(rest, &x)[i]);
        assert!((force - exact).norm() <= 1e-12 * scale, "{what}: f[{i}] = {force:?}, expected {exact:?}");
    }

    let mut sum = [[Mat3::ZERO; 3]; 3];
    for rest in rests {
        let hessian = E::hessian(rest, &x);
        sum = std::array::from_fn(|i| std::array::from_fn(|j| sum[i][j] + hessian[i][j]));
    }
    let error = hessian_error(&sum, &expected["hessian"]);
    assert!(error <= 1e-12, "{what}: the Hessian is off by {error:e}");
}

#[test]
fn membrane_triangles_have_the_energy_force_and_hessian_of_the_fixture() {
    let cases = cases(MEMBRANE);
    assert_eq!(cases.len(), 12);
    for case in &cases {
        let corner = |i: usize| Vec3::new(num(&case["rest"][i][0]), num(&case["rest"][i][1]), 0.0);
        let rest = [corner(0), corner(1), corner(2)];
        let area = 0.5 * (rest[1] - rest[0]).cross(rest[2] - rest[0]).z;
        let parameter = |name: &str| num(&case["params"][name]);
        let weights = rest_weights(&rest, Vec3::new(1.0, 0.0, 0.0));

        let moduli = Moduli { mu: parameter("mu") * area, lambda: parameter("lam") * area };
        check_triangle::<Membrane<Stvk>>(&[membrane::Rest { weights, moduli }], case, "stvk");
        check_triangle::<Membrane<NeoHookean>>(&[membrane::Rest { weights, moduli }], case, "neohookean_2d");

        let condition = |weights, shear, stiffness: f64| baraff_witkin::Rest {
            weights,
            shear,
            compliance: 1.0 / (stiffness * area),
        };
        let [k, ks] = [parameter("k"), parameter("ks")];
        let swapped = weights.map(|[u, v]| [v, u]);
        let conditions = [condition(weights, 0.0, k), condition(swapped, 0.0, k), condition(weights, 1.0, ks)];
        check_triangle::<BaraffWitkin>(&conditions, case, "baraff_witkin_sqrtA");
    }
}

/// Energy per area and nominal stress of a unit triangle deformed by F = [[a, g], [0, b]].
fn homogeneous<E: Energy<3, Rest<f64> = membrane::Rest<f64>>>([a, b, g]: [f64; 3]) -> (f64, [[f64; 2]; 2]) {
    // Legs of 1 along both axes: f_u = x₁ − x₀, f_v = x₂ − x₀, and so P = (∂ψ/∂x₁, ∂ψ/∂x₂)/A.
    let rest = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let moduli = Moduli { mu: 100.0 * 0.5, lambda: 50.0 * 0.5 };
    let data = membrane::Rest { weights: rest_weights(&rest, Vec3::new(1.0, 0.0, 0.0)), moduli };
    let x = rest.map(|p| Vec3::new(a * p.x + g * p.y, b * p.y, 0.0));
    let [_, u, v] = E::gradient(&data, &x);
    (E::value(&data, &x) / 0.5, [[u.x / 0.5, v.x / 0.5], [u.y / 0.5, v.y / 0.5]])
}

#[test]
fn homogeneous_deformations_have_the_stress_of_the_table() {
    let rows = table(HOMOGENEOUS);
    assert_eq!(rows.len(), 24);
    for row in rows {
        let [amount, lateral, energy, stress] = [2, 3, 4, 5].map(|i| number(&row[i]));
        let is_shear = row[1] == "simple_shear";
        let deformation = if is_shear { [1.0, 1.0, amount] } else { [amount, lateral, 0.0] };
        let (got, nominal) = match row[0].as_str() {
            "stvk" => homogeneous::<Membrane<Stvk>>(deformation),
            _ => homogeneous::<Membrane<NeoHookean>>(deformation),
        };
        assert!((got - energy).abs() <= 1e-10 * energy, "{row:?}: {got}");
        let got = if is_shear { nominal[0][1] } else { nominal[0][0] };
        assert!((got - stress).abs() <= 1e-10 * stress.abs(), "{row:?}: {got}");
        if row[1] == "uniaxial" {
            assert!(nominal[1][1].abs() <= 1e-10 * stress.abs(), "{row:?}: the sides are free, but {}", nominal[1][1]);
        }
    }
}

#[test]
fn spring_hessians_have_the_eigenvalues_and_projections_of_the_fixture() {
    let cases = cases(SPRINGS);
    assert_eq!(cases.iter().filter(|case| case["indefinite"] == true).count(), 9);
    for case in &cases {
        let x = [vec3(&case["x0"]), vec3(&case["x1"])];
        let stiffness = num(&case["stiffness"]);
        let rest = spring::Rest { length: num(&case["rest_length"]), compliance: 1.0 / stiffness };
        let hessian = Spring::hessian(&rest, &x);
        let error = hessian_error(&hessian, &case["hessian"]);
        assert!(error <= 1e-13, "{}: the Hessian is off by {error:e}", case["id"]);
        let error = hessian_error(&Spring::clamped(&rest, &x), &case["hessian_psd_projected"]);
        assert!(error <= 1e-13, "{}: the projection is off by {error:e}", case["id"]);

        let values = Small::new(6, |i, j| hessian[i / 3][j / 3].0[i % 3][j % 3]).eigenvalues();
        let scale = (0..6).map(|i| num(&case["eigenvalues_sorted"][i]).abs()).fold(0.0, f64::max);
        for (i, value) in values.into_iter().enumerate() {
            let exact = num(&case["eigenvalues_sorted"][i]);
            assert!((value - exact).abs() <= 1e-13 * scale, "{}: {value}, expected {exact}", case["id"]);
        }

        // A buckled spring has nothing under compression, and all of it in tension.
        let buckled = Spring::buckled(&rest, &x);
        let is_compressed = (x[1] - x[0]).norm() < rest.length;
        assert_eq!(buckled, if is_compressed { [[Mat3::ZERO; 2]; 2] } else { hessian }, "{}", case["id"]);
    }
}

#[test]
fn the_buckled_beam_has_the_force_and_slope_of_the_table() {
    let rows = table(CHOI_KO);
    assert_eq!(rows.len(), 13);
    // k_b = 3, L = 0.5: force in k_b/L², slope in k_b/L³, energy in k_b/L.
    let (stiffness, length) = (3.0, 0.5);
    let rest = buckling::Rest { length, scale: stiffness / length };
    let energy_at = |ratio: f64| Buckling::value(&rest, &[Vec3::ZERO, Vec3::new(0.0, ratio * length, 0.0)]);
    let first = (energy_at(number(&rows[0][0])), number(&rows[0][2]));
    for row in &rows {
        let [ratio, energy, force, slope] = [0, 2, 3, 4].map(|i| number(&row[i]));
        let got = buckling::force(&rest, ratio * length) / (stiffness / (length * length));
        assert!((got - force).abs() <= 1e-9 * force.abs(), "f_b at {ratio}: {got}, expected {force}");
        let got = buckling::force_slope(&rest, ratio * length) / (stiffness / (length * length * length));
        assert!((got - slope).abs() <= 1e-9 * slope, "df_b at {ratio}: {got}, expected {slope}");
        let got = (energy_at(ratio) - first.0) / (stiffness / length);
        assert!((got - (energy - first.1)).abs() <= 1e-9, "ψ at {ratio}: {got}, expected {}", energy - first.1);
    }
}

const STRETCHES: [&str; 6] = [
    r#"model = "stvk", stiffness = 50, poisson = 0"#,
    r#"model = "neo_hookean", stiffness = 50, poisson = 0"#,
    r#"model = "baraff_witkin", stiffness = 50"#,
    r#"model = "spring", stiffness = 50, network = "full""#,
    r#"model = "spring", stiffness = 50, compression = 0.1, slack = 1e-3"#,
    r#"model = "stvk", stiffness = 50, damping = 1e-3"#,
];

/// A sheet that hangs from its upper side: the lower side sinks by ½ε H, ε = ρ g H/Y = 0.04 % at the top.
///
/// The next order comes from the law: with a nominal stress Y(e + c e²), the whole is 1 − ⅔ c ε times that; c is 0, 3/2 and −1/2. By Betti's theorem the
/// mean over the lower side (its corners by half) does not depend on how the weight of a row is shared among its vertices, but for
/// a part of that second order.
/// These are models of Poisson ratio zero, which need no room to narrow at the clamp.
#[test]
fn a_hanging_sheet_stretches_by_its_weight_over_its_stiffness() {
    let (height, density, stiffness) = (0.2, 0.1, 50.0);
    for (stretch, second) in STRETCHES[..3].iter().zip([1.5, -0.5, 0.0]) {
        let text = format!(
            r#"
            duration = 4.0
            gravity = [0, -0.981, 0]
            solver = {{ kind = "xpbd", precision = "f64", substeps = 20, iterations = 16 }}
            [[cloth]]
            grid = {{ size = [0.1, {height}], cells = [4, 8] }}
            rotate = [90, 0, 0]
            material = {{ density = {density}, damping = 12, stretch = {{ {stretch} }}, bend = {{ model = "none" }} }}
            pins = [{{ select = "z_min" }}]
            "#
        );
        let mut simulation = simulation(&text);
        let row = |simulation: &muslin::Simulation, row: usize| {
            // Grids keep their numbers in the state.
            let at = |column: usize| simulation.state().positions[5 * row + column].y;
            (0..5).map(|column| at(column) * if column % 4 == 0 { 0.5 } else { 1.0 }).sum::<f64>() / 4.0
        };
        run(&mut simulation, 120);
        let got = (row(&simulation, 0) - row(&simulation, 8)).abs() - height;
        let strain = density * 0.981 * height / stiffness;
        let exact = 0.5 * strain * height * (1.0 - second * strain / 1.5);
        assert!((got - exact).abs() < 2e-4 * exact, "{stretch}: {got}, expected {exact}: {}", got / exact - 1.0);
    }
}

/// Every model in every solver for which it is defined, in both precisions, with the same bits on two threads.
#[test]
fn the_models_move_and_have_the_same_bits_on_two_threads() {
    let bends = [r#"model = "isometric", stiffness = 1e-5"#, r#"model = "buckling", stiffness = 1e-5"#];
    for (i, stretch) in STRETCHES.iter().enumerate() {
        for (kind, precision) in [("xpbd", "f32"), ("xpbd", "f64"), ("pbd", "f32")] {
            // PBD has no internal damping.
            let stretch = if kind == "pbd" { stretch.replace(", damping = 1e-3", "") } else { (*stretch).to_owned() };
            let bend = bends[i % 2];
            let text = format!(
                r#"
                solver = {{ kind = "{kind}", precision = "{precision}", substeps = 4, iterations = 2 }}
                [[cloth]]
                grid = {{ size = [1, 1], cells = [16, 13] }}
                translate = [0, 0.3, 0]
                velocity = [0, -2, 0]
                material = {{ stretch = {{ {stretch} }}, bend = {{ {bend} }} }}
                pins = [{{ select = "x_min" }}]
                [[collider]]
                sphere = {{ center = [0, 0, 0], radius = 0.25 }}
                "#
            );
            let hash = |threads| {
                let mut simulation = simulation_on(&text, threads);
                run(&mut simulation, 5);
                let longest = simulation.state().positions.iter().map(|x| x.norm()).fold(0.0, f64::max);
                assert!(longest < 3.0, "{kind} {precision} {stretch}: it flew {longest} m");
                simulation.state().hash()
            };
            assert_eq!(hash(1), hash(2), "{kind} {precision} {stretch}");
        }
    }
}
