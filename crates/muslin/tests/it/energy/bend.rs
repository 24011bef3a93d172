//! The bending models beside `isometric` and `dihedral`: closed forms, one rigidity for all, curved rest shapes, and the plate.

use muslin::energy::Energy;
use muslin::energy::bend::cubic_shell::{self, CubicShell};
use muslin::energy::bend::dihedral::{angle, angle_gradient, angle_hessian};
use muslin::energy::bend::hinge_force::{self, HingeForce};
use muslin::energy::bend::isometric::{self, Isometric};
use muslin::math::Vec3;
use muslin::setup::Compiled;
use serde_json::Value;

use crate::common::{Random, compiled, number, simulation, table};
use crate::energy::stiffness::{HEIGHT, cylinder_ratio, energy, sheet};

const DIHEDRAL: &str = include_str!("../../fixtures/dihedral.csv");
const HESSIANS: &str = include_str!("../../fixtures/dihedral_hessian.csv");
const BERGOU_Q: &str = include_str!("../../fixtures/bergou_q.json");
const CYLINDER: &str = include_str!("../../fixtures/cylinder_energy.csv");
const QUADRATIC: &str = include_str!("../../fixtures/quadratic_surfaces.csv");

/// The models that keep a curved rest shape.
const CURVED: [&str; 5] = ["dihedral", "hinge_force", "cubic_shell", "projective", "shell"];

/// A material that bends with B = 1 and does nothing else.
fn bending(model: &str) -> String {
    format!(r#"stretch = {{ model = "none" }}, bend = {{ model = "{model}", stiffness = 1 }}"#)
}

/// A plate with a Poisson ratio.
fn plate(poisson: f64) -> String {
    format!(r#"stretch = {{ model = "none" }}, bend = {{ model = "shell", stiffness = 1, poisson = {poisson:?} }}"#)
}

/// The hinges of the two tables, each with the numbers of the second.
fn hinges() -> Vec<([Vec3<f64>; 4], Vec<f64>)> {
    let numbers = |row: Vec<String>| row.iter().map(|cell| number(cell)).collect::<Vec<f64>>();
    let positions = |n: &[f64]| std::array::from_fn(|i| Vec3::new(n[1 + 3 * i], n[2 + 3 * i], n[3 + 3 * i]));
    let all = table(DIHEDRAL).into_iter().zip(table(HESSIANS));
    let all: Vec<_> = all.map(|(a, b)| (positions(&numbers(a)), numbers(b))).collect();
    assert_eq!(all.len(), 50, "hinges in the fixture");
    all
}

#[test]
fn second_derivatives_of_the_angle_match_fifty_digits_on_fifty_hinges() {
    for (h, (x, numbers)) in hinges().iter().enumerate() {
        let (got, expected) = (angle_hessian(x), &numbers[3..]);
        let scale = expected.iter().fold(0.0_f64, |most, n| most.max(n.abs()));
        for i in 0..12 {
            for j in 0..=i {
                let (got, expected) = (got[i / 3][j / 3].0[i % 3][j % 3], expected[i * (i + 1) / 2 + j]);
                let error = (got - expected).abs() / scale;
                assert!(
                    error <= 1e-12,
                    "hinge {h}, {i} {j}: {got}, expected {expected}, off by {error:.1e} of {scale}"
                );
            }
        }
    }
}

/// The force is the factor ‖E‖²/(|N₁| + |N₂|) times sin(θ/2) times u, all of them from the table.
#[test]
fn the_hinge_force_is_the_published_one_where_the_factor_is_that_of_the_rest_shape() {
    for (h, (x, numbers)) in hinges().iter().enumerate() {
        let (sine, factor) = (numbers[1], numbers[2]);
        // k_e factor = 4B ℓ²/2(A₀+A₁) = 2/α.
        let rest = hinge_force::Rest::new(0.0, 2.0 / factor);
        let force = HingeForce::gradient(&rest, x).map(|g| -g);
        let expected = angle_gradient(x).map(|g| -g * (factor * sine));
        let scale = expected.iter().map(|f| f.norm()).fold(0.0, f64::max);
        for (got, expected) in force.into_iter().zip(expected) {
            assert!((got - expected).norm() <= 1e-13 * scale, "hinge {h}: {got:?}, expected {expected:?}");
        }
    }
}

#[test]
fn cubic_shells_of_bent_rest_shapes_match_the_folds_of_the_fixture() {
    let all: Value = serde_json::from_str(BERGOU_Q).expect("JSON");
    let mut compared = 0;
    for case in all["cases"].as_array().expect("a list") {
        let number = |value: &Value| value.as_f64().expect("a number");
        let vector = |value: &Value| Vec3::new(number(&value[0]), number(&value[1]), number(&value[2]));
        let flat: [Vec3<f64>; 4] = std::array::from_fn(|i| vector(&case["rest_x"][i]));
        let area = number(&case["area_A"]) + number(&case["area_B"]);
        let length_squared = (flat[1] - flat[0]).norm_squared();
        let rigidity = 3.0;
        let compliance = area / (rigidity * length_squared);
        let folds: Vec<[Vec3<f64>; 4]> = case["isometric_folds"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|fold| [flat[0], flat[1], flat[2], vector(&fold["x3"])])
            .collect();
        for rest_shape in &folds {
            let rest = cubic_shell::Rest::new(rest_shape, compliance);
            let force = CubicShell::gradient(&rest, rest_shape);
            let scale = 1.0 / compliance / length_squared.sqrt();
            let sharpness =
                angle_gradient(rest_shape).iter().map(|g| g.norm()).fold(0.0, f64::max) * length_squared.sqrt();
            for f in force {
                assert!(f.norm() <= 1e-12 * scale * sharpness, "{}: {f:?} of {scale} at rest", case["name"]);
            }
            for fold in &folds {
                compared += 1;
                let expected = (1.0 - libm::cos(angle(fold) - angle(rest_shape))) / compliance;
                let got = CubicShell::value(&rest, fold);
                let error = (got - expected).abs() * compliance;
                assert!(error <= 1e-12 * sharpness, "{}: {got}, expected {expected}", case["name"]);
            }
        }
        // The flat limit is Bergou's, whose energy the fixture has for B = 3. Some rest shapes of it are not flat.
        if angle(&flat).abs() < 1e-12 {
            let rest = cubic_shell::Rest::new(&flat, compliance);
            let quadratic =
                isometric::Rest { weights: isometric::cotangent_weights(&flat), compliance: area / rigidity };
            for (fold, x) in case["isometric_folds"].as_array().expect("a list").iter().zip(&folds) {
                let (got, expected) = (CubicShell::value(&rest, x), number(&fold["E_bergou"]));
                assert!((got - expected).abs() <= 1e-12 / compliance, "{}: {got}, expected {expected}", case["name"]);
                let isometric = Isometric::value(&quadratic, x);
                assert!((got - isometric).abs() <= 1e-12 / compliance, "{}: {got}, {isometric}", case["name"]);
            }
        }
    }
    assert!(compared >= 24 * 16, "{compared} folds");
}

/// With a flat rest shape `cubic_shell` and `projective` are Bergou's model, so its column of the table is theirs.
#[test]
fn flat_sheets_of_the_quadratic_models_have_the_cylinder_energy_of_the_table() {
    let mut compared = 0;
    for row in table(CYLINDER) {
        let [mesh, curvature, degrees, name, ratio] = &row[..] else { panic!("five columns: {row:?}") };
        let Some(diagonals) = grid_of(mesh).filter(|_| name.starts_with("Bergou")) else { continue };
        for model in ["cubic_shell", "projective"] {
            compared += 1;
            let expected = number(ratio) / 3.0;
            let got = cylinder_ratio(diagonals, &bending(model), number(curvature), number(degrees));
            // Bends of 0.025 rad are 1e-4 of the polynomial's terms, which cancel.
            assert!(
                (got - expected).abs() <= 1e-6 * expected,
                "{model} on {diagonals}, κh = {curvature}, {degrees}°: {got}, the table has {expected}"
            );
        }
    }
    assert_eq!(compared, 3 * 20 * 2, "rows of the table");
}

fn grid_of(mesh: &str) -> Option<&'static str> {
    match mesh {
        "equilateral" => Some("isotropic"),
        "right_one_diagonal" => Some("forward"),
        "right_alternating" => Some("alternating"),
        _ => None,
    }
}

/// θ², 4 sin²(θ/2), 8(1 − cos(θ/2))·2 … differ by the order θ², which is 1e-3 at κh = 0.1 and less below.
#[test]
fn one_rigidity_means_the_same_cylinder_in_every_model() {
    for model in CURVED.into_iter().chain(["isometric"]) {
        for degrees in (0..180).step_by(15).map(f64::from) {
            let got = cylinder_ratio("isotropic", &bending(model), 0.05, degrees);
            assert!((got - 1.0).abs() <= 1e-3, "{model} at {degrees}°: {got} of ½Bκ²");
        }
    }
}

/// What the hinge models cannot: 1 in every direction of every mesh, and to the second order in the edge.
#[test]
fn a_cylinder_of_the_plate_has_half_b_kappa_squared_on_every_grid() {
    for diagonals in ["forward", "alternating", "isotropic"] {
        for degrees in (0..180).step_by(15).map(f64::from) {
            let error = |curvature: f64| 1.0 - cylinder_ratio(diagonals, &plate(0.3), curvature, degrees);
            let (coarse, fine) = (error(0.2), error(0.1));
            assert!((0.0..=0.01 * 0.34).contains(&fine), "{diagonals} at {degrees}°: off by {fine}");
            let order = libm::log(coarse / fine) / libm::log(2.0);
            assert!((order - 2.0).abs() < 0.1, "{diagonals} at {degrees}°: order {order}");
        }
    }
}

/// Energy per area, ½k² being 1, of an endless sheet with the height k·`height`.
fn height_ratio(diagonals: &str, material: &str, height: impl Fn(f64, f64) -> f64) -> f64 {
    let k = 1e-4;
    let at = |columns, rows| {
        energy(&sheet(diagonals, [columns, rows], material), |p| Vec3::new(p.x, k * height(p.x, p.z), p.z))
    };
    let area = 16.0 * if diagonals == "isotropic" { HEIGHT } else { 1.0 };
    (at(8, 8) - at(8, 4) - at(4, 8) + at(4, 4)) / (0.5 * k * k * area)
}

/// Sphere, two saddles and two cylinders, in the order of the table.
fn surfaces() -> [fn(f64, f64) -> f64; 5] {
    [|x, z| 0.5 * (x * x + z * z), |x, z| 0.5 * (x * x - z * z), |x, z| x * z, |x, _| 0.5 * x * x, |_, z| 0.5 * z * z]
}

#[test]
fn spheres_and_saddles_of_the_hinge_models_are_those_of_the_table() {
    let mut compared = 0;
    for row in table(QUADRATIC) {
        let Some(diagonals) = grid_of(&row[0]) else { continue };
        let (models, divisor): (&[&str], f64) = match row[1].as_str() {
            "hinge theta^2, c=1/2" => (&["dihedral", "hinge_force"], 1.0),
            "Bergou Q (paper, k=B)" => (&["isometric", "projective"], 3.0),
            _ => continue,
        };
        for model in models {
            for (expected, surface) in row[2..].iter().zip(surfaces()) {
                compared += 1;
                let (got, expected) = (height_ratio(diagonals, &bending(model), surface), number(expected) / divisor);
                assert!((got - expected).abs() <= 1e-4 * expected.max(1.0), "{model}, {diagonals}: {got}, {expected}");
            }
        }
    }
    assert_eq!(compared, 3 * 4 * 5, "numbers of the table");
}

#[test]
fn spheres_and_saddles_of_the_plate_have_its_poisson_ratio_on_every_grid() {
    for diagonals in ["forward", "alternating", "isotropic"] {
        for nu in [-0.5, 0.0, 0.3] {
            let expected = [2.0 * (1.0 + nu), 2.0 * (1.0 - nu), 2.0 * (1.0 - nu), 1.0, 1.0];
            for (expected, surface) in expected.into_iter().zip(surfaces()) {
                let got = height_ratio(diagonals, &plate(nu), surface);
                assert!((got - expected).abs() <= 1e-6, "{diagonals}, ν = {nu}: {got}, the plate has {expected}");
            }
        }
    }
}

/// A tube and its energy when it is moved by `distance` in random directions.
fn shaken(tube: &Compiled, distance: f64) -> f64 {
    let mut random = Random::new(5);
    let x: Vec<Vec3<f64>> = tube.model.initial_positions.iter().map(|&p| p + random.vector() * distance).collect();
    tube.terms.iter().map(|term| term.value(&x)).sum()
}

/// Energy that grows with the square of the distance from the rest shape, in whatever direction, has no force there.
#[test]
fn curved_rest_shapes_are_at_rest() {
    for model in CURVED {
        let text = format!(
            "[[cloth]]\ntube = {{ radius = 0.5, height = 1, cells = [10, 6] }}\nmaterial = {{ {} }}",
            bending(model)
        );
        let tube = compiled(&text);
        let pressed: Vec<_> = tube.model.initial_positions.iter().map(|p| Vec3::new(p.x, p.y, 0.0)).collect();
        let flat: f64 = tube.terms.iter().map(|t| t.value(&pressed)).sum();
        assert!(flat > 1.0, "{model}: a flattened tube has {flat} J");
        let rest = shaken(&tube, 0.0);
        assert!(rest.abs() < 1e-12 * flat, "{model}: {rest} J at rest");
        let (near, far) = (shaken(&tube, 1e-5), shaken(&tube, 1e-4));
        let order = libm::log10(far / near);
        assert!((order - 2.0).abs() < 0.02, "{model}: the energy grows with the power {order}: {near:e} J, {far:e} J");
    }
}

/// A strip held on its first column of cells and bent from there on: with E = aL + b for a strip of length L, the part
/// of the clamp in b is E less the mean of that of a free strip and aL, which half the tributary length makes zero.
#[test]
fn a_clamp_of_the_plate_adds_no_energy_of_its_own() {
    let rows = 2;
    for diagonals in ["forward", "alternating"] {
        let at = |columns: u32, clamped: bool| {
            let first = if clamped { 1 } else { 0 };
            let total = columns + first;
            let held: Vec<u32> = (0..=rows).flat_map(|j| [j * (total + 1), j * (total + 1) + 1]).collect();
            let pins = if clamped { format!("pins = [{{ vertices = {held:?} }}]") } else { String::new() };
            let text = format!(
                "[[cloth]]\ngrid = {{ size = [{total}.0, {rows}.0], cells = [{total}, {rows}], diagonals = \"{diagonals}\" }}\n\
                 material = {{ {} }}\n{pins}",
                plate(0.0)
            );
            let sheet = compiled(&text);
            let start = f64::from(first) - 0.5 * f64::from(total);
            energy(&sheet, |p| {
                let x = p.x - start;
                Vec3::new(p.x, if x > 0.0 || !clamped { 0.5 * x * x } else { 0.0 }, p.z)
            })
        };
        let slope = (at(12, false) - at(8, false)) / 4.0;
        assert!((slope - 0.5 * f64::from(rows)).abs() < 1e-9, "{diagonals}: {slope} per length");
        let clamp = at(12, true) - 0.5 * (at(12, false) + 12.0 * slope);
        assert!(clamp.abs() < 1e-9, "{diagonals}: {clamp} J at the clamp, {slope} J in a cell");
    }
}

#[test]
fn every_model_runs_and_stays_finite_on_a_curved_and_a_crumpled_cloth() {
    for model in CURVED {
        let text = format!(
            r#"
            [solver]
            kind = "xpbd"
            substeps = 4
            [[cloth]]
            tube = {{ radius = 0.2, height = 0.4, cells = [12, 8] }}
            material = {{ bend = {{ model = "{model}", stiffness = 1e-3, damping = 0.01 }} }}
            pins = [{{ select = "y_max" }}]
            [[collider]]
            sphere = {{ center = [0.1, -0.6, 0.0], radius = 0.3 }}
            "#
        );
        let mut simulation = simulation(&text);
        for _ in 0..10 {
            simulation.advance().unwrap_or_else(|e| panic!("{model}: {e}"));
        }
        assert!(simulation.state().positions.iter().all(|p| p.is_finite()), "{model}");
    }
}
