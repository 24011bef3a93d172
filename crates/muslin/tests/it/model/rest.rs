//! Rest shapes other than where the cloth starts: from its texture, with and without seams, and from another mesh.

use muslin::energy::{BEND, STRETCH};
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh, Uv, check};
use muslin::scene::parse;
use muslin::setup::{Compiled, compile};
use muslin::{Cloth, Simulation};

/// A flat sheet whose texture is its rest shape: as it is, or with a place of its own for each triangle, turned there by some multiple of `turn` radians.
fn textured(cut: Option<f64>) -> Mesh {
    let mut mesh = Mesh::grid([0.5, 0.3], [5, 3], Diagonals::Alternating).expect("a grid");
    // Sheared, so that no model finds its rectangles: only one rest shape as a whole has these.
    mesh.positions.iter_mut().for_each(|p| p[0] += 0.4 * p[2]);
    let coordinate = |v: &u32| [0, 2].map(|axis| mesh.positions[*v as usize][axis]);
    let uv = if let Some(turn) = cut {
        let moved = |(t, v): (usize, &u32)| {
            let ([x, y], (sin, cos)) = (coordinate(v), libm::sincos(turn * (t / 3) as f64));
            [x * cos - y * sin + (t / 3) as f64, x * sin + y * cos]
        };
        let corners = mesh.triangles.as_flattened().iter().enumerate();
        let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Uv { coordinates: corners.map(moved).collect(), triangles }
    } else {
        let coordinates = (0..mesh.positions.len() as u32).map(|v| coordinate(&v)).collect();
        Uv { coordinates, triangles: mesh.triangles.clone() }
    };
    mesh.uv = Some(uv);
    mesh
}

fn compiled(mesh: &Mesh, keys: &str) -> Result<Compiled, String> {
    let text = format!("[contact]\nself_contact = false\n[[cloth]]\nmesh = \"sheet.obj\"\n{keys}");
    let scene = parse(&text, &[]).into_result().map_err(|findings| findings.to_string())?;
    compile(&scene, &mut |_| Ok(mesh.clone())).map_err(|problems| problems[0].to_string())
}

/// Somewhere near the rest shape, the same for a vertex of the user in every order.
fn bent(compiled: &Compiled) -> Vec<Vec3<f64>> {
    let positions = compiled.state.positions.iter();
    positions
        .map(|p| Vec3::new(1.02 * p.x, 0.05 * libm::sin(7.0 * p.x) + 0.2 * p.x * p.z, 0.99 * p.z + 0.02 * p.x))
        .collect()
}

#[test]
fn triangles_of_a_texture_cut_apart_give_every_model_the_energy_of_the_whole() {
    let kinds = |kinds: &'static [muslin::energy::EnergyKind]| kinds.iter().map(|kind| kind.entry.name);
    let stretches = kinds(STRETCH).filter(|name| !["none", "shape_matching"].contains(name));
    let bends = kinds(BEND).filter(|name| !["none", "buckling"].contains(name));
    let of_stretch = stretches.map(|name| format!("stretch = {{ model = \"{name}\" }}, bend = {{ model = \"none\" }}"));
    let of_bend = bends.map(|name| match name {
        "distance" => format!("stretch = {{ model = \"none\" }}, bend = {{ model = \"{name}\", compliance = 1e-3 }}"),
        _ => format!("stretch = {{ model = \"none\" }}, bend = {{ model = \"{name}\" }}"),
    });
    let whole = textured(None);
    let mut models = 0;
    for material in of_stretch.chain(of_bend) {
        let keys = |rest: &str| format!("rest = \"{rest}\"\nmaterial = {{ {material} }}");
        let expected = compiled(&whole, &keys("mesh")).expect("a sound scene");
        let x = bent(&expected);
        let energy = expected.elastic_energy(&x);
        assert!(energy > 1e-9, "{material}: {energy} J");
        // The grain of a piece turns with it, and one model is stiff along it.
        let turn = if material.contains("baraff_witkin") { 0.0 } else { 0.1 };
        for mesh in [&whole, &textured(Some(turn))] {
            let flat = compiled(mesh, &keys("uv")).expect("a sound scene");
            let found = flat.elastic_energy(&x);
            assert!((found - energy).abs() < 1e-9 * energy, "{material}: {found} J, not {energy}");
            assert!((flat.model.cloths[0].mass - expected.model.cloths[0].mass).abs() < 1e-12, "mass");
        }
        models += 1;
    }
    assert!(models >= 10, "{models} models");
}

/// A closed tube, rolled from a strip whose ends meet at a seam.
fn rolled(around: u32) -> Mesh {
    let radius = 0.05;
    let mut mesh = Mesh::tube(radius, 0.2, [around, 16]).expect("a tube");
    let chord = 2.0 * radius * libm::sin(std::f64::consts::PI / f64::from(around));
    let turn = std::f64::consts::TAU / f64::from(around);
    let mut uv = Uv::default();
    for triangle in &mesh.triangles {
        let angles = triangle.map(|v| {
            let [x, _, z] = mesh.positions[v as usize];
            (libm::atan2(z, x) / turn).round().rem_euclid(f64::from(around))
        });
        let is_at_seam = angles.iter().any(|a| *a > f64::from(around) / 2.0);
        let first = uv.coordinates.len() as u32;
        for (v, angle) in triangle.iter().zip(angles) {
            let angle = if is_at_seam && angle == 0.0 { f64::from(around) } else { angle };
            uv.coordinates.push([angle * chord, mesh.positions[*v as usize][1]]);
        }
        uv.triangles.push([first, first + 1, first + 2]);
    }
    mesh.uv = Some(uv);
    mesh
}

/// ½Bκ² per area of a cylinder: what bending a flat piece into it takes [CONVENTIONS]. Only the two ends, where hinges are missing, are off.
#[test]
fn a_strip_that_is_rolled_and_sewn_has_the_bending_energy_of_a_cylinder_and_no_strain() {
    let (radius, rigidity) = (0.05, 1e-4);
    let exact = 0.5 * rigidity / (radius * radius) * std::f64::consts::TAU * radius * 0.2;
    for (model, tolerance) in [("shell", 0.02), ("isometric", 0.02), ("dihedral", 0.02)] {
        let material = |stretch: &str, bend: &str| format!("material = {{ stretch = {stretch}, bend = {bend} }}");
        let none = "{ model = \"none\" }";
        let bend = format!("{{ model = \"{model}\", stiffness = {rigidity} }}");
        let mesh = rolled(64);
        let cloth =
            |rest: &str| compiled(&mesh, &format!("rest = \"{rest}\"\n{}", material(none, &bend))).expect("a tube");
        let flat = cloth("uv");
        let energy = flat.elastic_energy(&flat.state.positions);
        // Triangles of a tube are bent along one edge of three, and hinge models that are exact on this mesh by its symmetry.
        assert!((energy / exact - 1.0).abs() < tolerance, "{model}: {energy} J, not {exact}");
        let curved = cloth("mesh");
        let at_rest = curved.elastic_energy(&curved.state.positions);
        assert!(model == "isometric" || at_rest < 1e-6 * exact, "{model}: {at_rest} J in its own rest shape");
        let stretched =
            compiled(&mesh, &format!("rest = \"uv\"\n{}", material("{ model = \"stvk\" }", none))).expect("a tube");
        let strain = stretched.elastic_energy(&stretched.state.positions);
        assert!(strain < 1e-12, "{strain} J of strain");
    }
}

#[test]
fn a_gathered_seam_has_the_mean_of_both_sides() {
    // Two triangles on one edge, which is 1 m long in one of them and 1.2 m in the other.
    let uv = Uv {
        coordinates: vec![[0.0, 0.0], [1.0, 0.0], [0.5, 0.8], [5.0, 0.0], [6.2, 0.0], [5.6, 0.7]],
        triangles: vec![[0, 1, 2], [4, 3, 5]],
    };
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [0.5, -0.7, 0.0]];
    let mesh = Mesh { positions, triangles: vec![[0, 1, 2], [1, 0, 3]], uv: Some(uv), ..Mesh::default() };
    let compiled = compiled(&mesh, "rest = \"uv\"\nmaterial = { density = 1.0 }").expect("a sound scene");
    let edge = compiled
        .model
        .edges
        .iter()
        .find(|(ends, _)| ends.iter().all(|&v| compiled.model.user_vertex(v as usize).1 < 2));
    assert!((edge.expect("the seam").1 - 1.1).abs() < 1e-12);
    assert!(
        (compiled.model.cloths[0].mass - (0.5 * 0.8 + 0.5 * 1.2 * 0.7)).abs() < 1e-12,
        "each side has its own area"
    );
}

#[test]
fn a_rest_shape_of_another_mesh_pulls_the_cloth_to_it() {
    let rest = Mesh::grid([0.2, 0.2], [4, 4], Diagonals::Alternating).expect("a grid");
    let half: Vec<[f64; 3]> = rest.positions.iter().map(|p| p.map(|x| 0.8 * x)).collect();
    let cloth = Cloth::mesh(half, rest.triangles.clone()).rest(rest.positions.clone()).damping(5.0);
    let mut simulation = Simulation::builder().gravity([0.0; 3]).cloth(cloth).build().expect("a sound scene");
    (0..120).for_each(|_| {
        simulation.advance().expect("it goes on");
    });
    let model = simulation.model();
    let strains = model.edges.iter().map(|&([a, b], length)| {
        let [a, b] = [a, b].map(|v| simulation.state().positions[v as usize]);
        ((b - a).norm() / length - 1.0).abs()
    });
    let worst = strains.fold(0.0, f64::max);
    assert!(worst < 1e-3, "{worst}: it has come back to its size");
}

#[test]
fn what_no_rest_shape_can_be_made_of_is_refused() {
    let mesh = textured(Some(0.1));
    let bare = Mesh { uv: None, ..mesh.clone() };
    let refused = |mesh: &Mesh, keys: &str| compiled(mesh, keys).err().unwrap_or_default();
    let expect = |message: String, part: &str| assert!(message.contains(part), "{message:?} has no {part:?}");
    expect(
        refused(&bare, "rest = \"uv\""),
        "cloth[0].rest: rest = \"uv\" takes the rest shape from texture coordinates, and the mesh has none",
    );
    expect(refused(&mesh, "rest = \"mesh\"\nuv_scale = 2.0"), "cloth[0].uv_scale: has no effect without rest = \"uv\"");
    expect(
        refused(&mesh, "rest = \"uv\"\nmaterial = { bend = { model = \"buckling\" } }"),
        "needs one rest shape for the whole cloth",
    );
    let mut collapsed = mesh.clone();
    collapsed.uv.as_mut().expect("a texture").coordinates[..3].fill([0.0; 2]);
    expect(refused(&collapsed, "rest = \"uv\""), "triangle 0 has no area");
    let other = Mesh::grid([0.5, 0.3], [5, 4], Diagonals::Alternating).expect("a grid");
    let scene = parse("[[cloth]]\nmesh = \"a.obj\"\nrest = \"b.obj\"", &[]).into_result().expect("a sound scene");
    let load = &mut |file: &str| Ok(if file == "a.obj" { mesh.clone() } else { other.clone() });
    let problems = compile(&scene, load).expect_err("of another size");
    expect(
        problems[0].to_string(),
        "cloth[0].rest: the rest shape has 30 vertices and 40 triangles, but the mesh has 24 and 30",
    );
    let torn = Mesh { flat: Some(vec![[[f64::NAN; 2]; 3]]), ..mesh };
    let findings: Vec<String> = check(&torn).iter().map(ToString::to_string).collect();
    assert!(
        findings.iter().any(|text| text == "the flat rest shape has 1 triangles, but the mesh has 30"),
        "{findings:?}"
    );
    assert!(findings.iter().any(|text| text.starts_with("triangle 0 has its flat rest shape at")), "{findings:?}");
}

#[test]
fn a_texture_in_other_units_is_told_with_the_scale_that_fits() {
    let mut mesh = textured(Some(0.1));
    mesh.uv.as_mut().expect("a texture").coordinates.iter_mut().for_each(|uv| *uv = uv.map(|x| 10.0 * x));
    let found = compiled(&mesh, "rest = \"uv\"").expect("a sound scene").warnings;
    let message = found.iter().map(ToString::to_string).find(|text| text.contains("cloth[0].rest")).unwrap_or_default();
    assert!(message.contains("uv_scale = 0.100 makes them equal"), "{message}");
    let fitting = compiled(&mesh, "rest = \"uv\"\nuv_scale = 0.1").expect("a sound scene");
    assert!(fitting.warnings.is_empty(), "{:?}", fitting.warnings);
}

/// The two halves of a folded sheet, each with its own vertices on the fold, flat side by side and as they hang.
fn two_pieces() -> (Mesh, Mesh) {
    let half = Mesh::grid([0.2, 0.2], [4, 4], Diagonals::Alternating).expect("a grid");
    let count = half.positions.len() as u32;
    let triangles = half.triangles.iter().copied().chain(half.triangles.iter().map(|t| t.map(|v| v + count))).collect();
    let both = |place: &dyn Fn(f64, [f64; 3]) -> [f64; 3]| {
        let pieces = [-1.0, 1.0].into_iter();
        pieces.flat_map(|side| half.positions.iter().map(move |p| place(side, *p)).collect::<Vec<_>>()).collect()
    };
    // A gap of 5 cm between the pieces on the table; edge to edge, one upright, where they hang.
    let flat = both(&|side, [x, _, z]| [x + 0.125 * side, 0.0, z]);
    let hung = both(&|side, [x, _, z]| if side < 0.0 { [x - 0.1, 0.0, z] } else { [0.0, -x - 0.1, z] });
    let mesh = |positions| Mesh { positions, triangles: Vec::clone(&triangles), ..Mesh::default() };
    (mesh(flat), mesh(hung))
}

#[test]
fn pieces_that_lie_side_by_side_at_rest_are_sewn_where_they_are_welded() {
    let (flat, hung) = two_pieces();
    let keys = "stretch = { model = \"stvk\" }, bend = { model = \"dihedral\", stiffness = 1e-4 }";
    let text = format!(
        "[contact]\nself_contact = false\n[[cloth]]\nmesh = \"a.obj\"\nrest = \"b.obj\"\nweld = 1e-6\nmaterial = {{ density = 1.0, {keys} }}"
    );
    let scene = parse(&text, &[]).into_result().expect("a sound scene");
    let load = &mut |file: &str| Ok(if file == "a.obj" { hung.clone() } else { flat.clone() });
    let compiled = compile(&scene, load).expect("two pieces");
    let cloth = &compiled.model.cloths[0];
    assert_eq!((cloth.mesh.vertex_count(), cloth.hinge_count), (45, 84));
    assert!((cloth.mass - 0.08).abs() < 1e-12, "{} kg", cloth.mass);
    // No strain, and the fold alone is bent, by a right angle: ½ B ℓ²/A θ² of each of its four edges, whose triangles have A = ℓ² together.
    let energy = compiled.elastic_energy(&compiled.state.positions);
    let hinge = 0.5 * 1e-4 * std::f64::consts::FRAC_PI_2.powi(2);
    assert!((energy / (4.0 * hinge) - 1.0).abs() < 1e-9, "{energy} J, not {}", 4.0 * hinge);
}

#[test]
fn cloth_that_falls_to_pieces_is_told_of_and_one_of_a_glb_is_sewn() {
    let (_, hung) = two_pieces();
    let open = compiled(&hung, "").expect("two pieces");
    let warning =
        open.warnings.iter().map(ToString::to_string).find(|text| text.contains("cloth[0].mesh")).unwrap_or_default();
    assert!(
        warning.contains("5 vertices are where others are, so the cloth is open there and has 2 parts"),
        "{warning}"
    );
    let scene = parse("[[cloth]]\nmesh = \"A.GLB\"", &[]).into_result().expect("a sound scene");
    let sewn = compile(&scene, &mut |_| Ok(hung.clone())).expect("one piece");
    assert_eq!(sewn.model.cloths[0].mesh.vertex_count(), 45);
    let loose = Mesh {
        positions: (0..180)
            .map(|k| [f64::from(k % 3 / 2) + 3.0 * f64::from(k / 3), f64::from(k % 3 % 2), 0.0])
            .collect(),
        triangles: (0..60).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        ..Mesh::default()
    };
    let soup = compiled(&loose, "").expect("a soup");
    assert!(
        soup.warnings.iter().any(|text| text.to_string().contains("has 60 parts that share no vertex")),
        "{:?}",
        soup.warnings
    );
}
