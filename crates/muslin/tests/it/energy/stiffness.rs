//! Stiffness, density and clamps mean the same on every mesh: through the compiled model.

use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::setup::Compiled;

use crate::common::{compiled, number, pendant, scene, simulation_of, table};

const CYLINDER: &str = include_str!("../../fixtures/cylinder_energy.csv");

/// Height of an equilateral triangle of unit edge.
pub(crate) const HEIGHT: f64 = 0.866_025_403_784_438_6;

/// A sheet of `[columns, rows]` in unit edges, equilateral if isotropic, with one energy only.
pub(crate) fn sheet(diagonals: &str, [columns, rows]: [u32; 2], material: &str) -> Compiled {
    let row_height = if diagonals == "isotropic" { HEIGHT } else { 1.0 };
    let size = [f64::from(columns), f64::from(rows) * row_height];
    let text = format!(
        r#"
        [[cloth]]
        grid = {{ size = {size:?}, cells = [{columns}, {rows}], diagonals = "{diagonals}" }}
        material = {{ {material} }}
        "#
    );
    compiled(&text)
}

/// Energy [J] of a sheet whose rest shape is mapped to space.
pub(crate) fn energy(sheet: &Compiled, map: impl Fn(Vec3<f64>) -> Vec3<f64>) -> f64 {
    let x: Vec<Vec3<f64>> = sheet.model.initial_positions.iter().map(|&p| map(p)).collect();
    sheet.terms.iter().map(|term| term.value(&x)).sum()
}

/// ψ/½Yε² per area for a stretch ε along x or z with a third of it as contraction across.
fn stretch_ratio(columns: u32, along_x: bool) -> f64 {
    let (stiffness, strain) = (700.0, 1e-5);
    let material = format!(r#"stretch = {{ model = "spring", stiffness = {stiffness} }}, bend = {{ model = "none" }}"#);
    let model = sheet("isotropic", [columns, columns], &material);
    let at = |strain: f64| {
        let (long, across) = (1.0 + strain, 1.0 - strain / 3.0);
        let [sx, sz] = if along_x { [long, across] } else { [across, long] };
        energy(&model, |p| Vec3::new(sx * p.x, p.y, sz * p.z))
    };
    let area = f64::from(columns) * f64::from(columns) * HEIGHT;
    // The mean of stretch and compression has no term in ε³.
    0.5 * (at(strain) + at(-strain)) / (0.5 * stiffness * strain * strain * area)
}

/// ψ = ½Y Σ A Σ e² over the triangles of area A and the strains e of their edges. For equilateral ones Σ e² = ε²; for the
/// half triangles that fill the borders, 1/2n of the area, it is 10/9 ε² along x and 14/9 ε² along z.
#[test]
fn springs_on_an_equilateral_mesh_are_a_sheet_of_stiffness_y_and_poisson_ratio_a_third() {
    for columns in [4, 8, 16, 32] {
        for (along_x, excess) in [(true, 1.0 / 9.0), (false, 5.0 / 9.0)] {
            let got = stretch_ratio(columns, along_x);
            let expected = 1.0 + excess / (2.0 * f64::from(columns));
            // ε² = 1e-10 of geometric nonlinearity, and lengths that are rounded to 1e-11 of their change.
            assert!((got - expected).abs() < 1e-9, "{columns} columns: {got} of ½Yε², expected {expected}");
        }
    }
}

#[test]
fn the_energy_of_a_stretch_does_not_depend_on_the_size_of_the_triangles() {
    let energy_of = |columns: u32| {
        let text = format!(
            r#"
            [[cloth]]
            grid = {{ size = [2.0, {:?}], cells = [{columns}, 1], diagonals = "isotropic" }}
            material = {{ stretch = {{ model = "spring", stiffness = 500 }}, bend = {{ model = "none" }} }}
            "#,
            2.0 * HEIGHT
        );
        energy(&compiled(&text), |p| Vec3::new(1.001 * p.x, p.y, p.z * (1.0 - 0.001 / 3.0)))
    };
    let exact = 0.5 * 500.0 * 1e-6 * 4.0 * HEIGHT;
    let errors = [8, 16, 32, 64].map(|columns| energy_of(columns) / exact - 1.0);
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((1.9..2.1).contains(&ratio), "the border's share halves with the edge: {errors:?}");
    }
    assert!(errors[3] < 1e-3, "{errors:?}");
}

/// Energy per area of an endless sheet, ½κ² being 1, bent to a cylinder along `degrees` from x to z.
///
/// On a cylinder an element does not see where it is, so the energy of a sheet of n × m is a nm + b n + c m + d, and
/// the mixed difference of four sheets is a nm: the inside alone.
pub(crate) fn cylinder_ratio(diagonals: &str, material: &str, curvature: f64, degrees: f64) -> f64 {
    let (s, c) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
    let wrap = |p: Vec3<f64>| {
        let (along, across) = (c * p.x + s * p.z, c * p.z - s * p.x);
        let angle = curvature * along;
        Vec3::new(libm::sin(angle) / curvature, (libm::cos(angle) - 1.0) / curvature, across)
    };
    let at = |columns, rows| energy(&sheet(diagonals, [columns, rows], material), wrap);
    let row_height = if diagonals == "isotropic" { HEIGHT } else { 1.0 };
    let area = 16.0 * row_height;
    (at(8, 8) - at(8, 4) - at(4, 8) + at(4, 4)) / (0.5 * curvature * curvature * area)
}

const DIHEDRAL: &str = r#"stretch = { model = "none" }, bend = { model = "dihedral", stiffness = 1 }"#;
const ISOMETRIC: &str = r#"stretch = { model = "none" }, bend = { model = "isometric", stiffness = 1 }"#;
/// 1/d² for the distance d = √3 across an edge of an equilateral mesh.
const DISTANCE: &str = r#"stretch = { model = "none" }, bend = { model = "distance", compliance = 3 }"#;

/// The models of the table, with what its number is divided by: its k is our B/3 for Bergou's.
fn cylinder_model(name: &str) -> Option<(&'static str, f64)> {
    match name {
        "hinge theta^2, c=1/2" => Some((DIHEDRAL, 1.0)),
        "Bergou Q (paper, k=B)" => Some((ISOMETRIC, 3.0)),
        "distance spring (k=B/d0^2): E" => Some((DISTANCE, 1.0)),
        _ => None,
    }
}

#[test]
fn the_bending_energy_of_a_cylinder_is_that_of_the_table_on_three_meshes() {
    let mut compared = 0;
    for row in table(CYLINDER) {
        let [mesh, curvature, degrees, name, ratio] = &row[..] else { panic!("five columns: {row:?}") };
        let diagonals = match mesh.as_str() {
            "equilateral" => "isotropic",
            "right_one_diagonal" => "forward",
            "right_alternating" => "alternating",
            _ => continue,
        };
        let Some((material, divisor)) = cylinder_model(name) else { continue };
        // Right triangles have two distances across an edge, and the raw form takes one compliance for all.
        if material == DISTANCE && diagonals != "isotropic" {
            continue;
        }
        compared += 1;
        let expected = number(ratio) / divisor;
        let got = cylinder_ratio(diagonals, material, number(curvature), number(degrees));
        assert!(
            (got - expected).abs() <= 1e-6 * expected.max(1e-3),
            "{diagonals}, κh = {curvature}, {degrees}°, {name}: {got}, the table has {expected}"
        );
    }
    assert_eq!(compared, (3 * 2 + 1) * 20, "rows of the table");
}

#[test]
fn a_cylinder_has_half_b_kappa_squared_per_area_in_every_direction_of_an_equilateral_mesh() {
    for degrees in (0..180).step_by(15).map(f64::from) {
        let ratio = cylinder_ratio("isotropic", DIHEDRAL, 0.1, degrees);
        assert!((ratio - 1.0).abs() <= 1e-3, "dihedral at {degrees}°: {ratio} of ½Bκ²");
        // Quadratic bending has 2 sin(θ/2) in place of θ and loses up to (κh)²/8: 1.25e-3 at κh = 0.1, 8e-4 at 0.08.
        let ratio = cylinder_ratio("isotropic", ISOMETRIC, 0.08, degrees);
        assert!((ratio - 1.0).abs() <= 1e-3, "isometric at {degrees}°: {ratio} of ½Bκ²");
    }
}

#[test]
fn the_error_of_the_energy_of_a_cylinder_falls_with_the_square_of_the_edge() {
    for (material, degrees) in [(DIHEDRAL, 15.0), (ISOMETRIC, 15.0), (ISOMETRIC, 0.0)] {
        let error = |curvature: f64| 1.0 - cylinder_ratio("isotropic", material, curvature, degrees);
        let order = libm::log(error(0.2) / error(0.1)) / libm::log(2.0);
        assert!((order - 2.0).abs() < 0.2, "{material} at {degrees}°: order {order}, error {:.2e}", error(0.1));
    }
}

#[test]
fn distance_bending_has_the_fourth_power_of_the_curvature_and_no_linear_stiffness() {
    for degrees in [0.0, 30.0, 77.0] {
        // The ratio to ½κ² has two powers less.
        let at = |curvature: f64| cylinder_ratio("isotropic", DISTANCE, curvature, degrees);
        let slope = 2.0 + libm::log(at(0.1) / at(0.05)) / libm::log(2.0);
        assert!((slope - 4.0).abs() <= 0.05, "at {degrees}° the energy grows with the power {slope}");
    }
}

/// Energy of a hinge of two equal triangles, folded by a right angle, with some vertices held.
fn hinge_energy(bend: &str, pins: &str) -> f64 {
    let text = format!(
        r#"
        [[cloth]]
        mesh = "hinge.obj"
        material = {{ stretch = {{ model = "none" }}, bend = {{ {bend} }} }}
        pins = [ {pins} ]
        "#
    );
    let simulation = simulation_of(&pendant(1.0), &text);
    let mut x = simulation.model().initial_positions.clone();
    x[3] = Vec3::new(0.0, 0.5, 0.5);
    simulation.terms()[0].value(&x)
}

#[test]
fn a_hinge_on_a_wholly_pinned_triangle_is_twice_as_stiff() {
    for bend in [r#"model = "dihedral", stiffness = 2e-3"#, r#"model = "isometric", stiffness = 2e-3"#] {
        let free = hinge_energy(bend, "");
        assert!(free > 0.0, "{bend}: a fold costs energy");
        let cases = [
            ("a whole triangle", "{ vertices = [0, 1, 2] }", 2.0),
            ("the same by two pins", "{ vertices = [0, 1] }, { vertices = [2] }", 2.0),
            ("the edge only", "{ vertices = [0, 1] }", 1.0),
            ("a triangle that is let go", "{ vertices = [0, 1, 2], until = 1.0 }", 1.0),
            ("everything", r#"{ select = "all" }"#, 0.0),
        ];
        for (what, pins, expected) in cases {
            let ratio = hinge_energy(bend, pins) / free;
            assert!((ratio - expected).abs() < 1e-14, "{bend}, pinned: {what}: {ratio} times, expected {expected}");
        }
    }
}

#[test]
fn mass_is_density_times_area_on_every_grid_and_mesh() {
    let mass = |shape: &str, scale: f64| {
        let text = format!("[[cloth]]\n{shape}\nscale = {scale:?}\nmaterial = {{ density = 0.3 }}");
        let model = compiled(&text).model;
        let sum: f64 = model.masses.iter().sum();
        assert!((model.cloths[0].mass - sum).abs() <= 1e-15, "{shape}: {} and {sum}", model.cloths[0].mass);
        sum
    };
    for diagonals in ["forward", "backward", "alternating", "crossed", "isotropic"] {
        for cells in ["[1, 1]", "[7, 5]", "[32, 32]"] {
            let shape = format!(r#"grid = {{ size = [1.7, 0.9], cells = {cells}, diagonals = "{diagonals}" }}"#);
            for scale in [1.0, 0.5] {
                let expected = 0.3 * 1.7 * 0.9 * scale * scale;
                let got = mass(&shape, scale);
                assert!((got / expected - 1.0).abs() < 1e-13, "{shape}, scale {scale}: {got} kg, expected {expected}");
            }
        }
    }
    // The sides of a prism.
    let side = 2.0 * 0.4 * libm::sin(std::f64::consts::PI / 12.0);
    let expected = 0.3 * 12.0 * side * 0.8;
    let got = mass("tube = { radius = 0.4, height = 0.8, cells = [12, 5] }", 1.0);
    assert!((got / expected - 1.0).abs() < 1e-13, "tube: {got} kg, expected {expected}");

    // A file: the three visible faces of a unit cube.
    let positions = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]];
    let triangles = vec![[0, 1, 5], [0, 5, 4], [0, 2, 1], [0, 3, 2], [0, 4, 6], [0, 6, 3]];
    let cube = Mesh { positions: positions.map(|p| p.map(f64::from)).to_vec(), triangles, ..Mesh::default() };
    let text = "[[cloth]]\nmesh = \"cube.obj\"\nmaterial = { density = 0.3 }";
    let compiled = muslin::setup::compile(&scene(text), &mut |_| Ok(cube.clone()));
    let mass = compiled.unwrap_or_else(|p| panic!("{p:?}")).model.cloths[0].mass;
    assert!((mass - 0.9).abs() < 1e-14, "cube: {mass} kg");
}
