//! A simulation in a program's hands: builder, forces, motion from outside, other materials, and what is read back.

use muslin::contact::{Plane, Sphere};
use muslin::energy::stretch::spring::{self, Spring};
use muslin::energy::{NoEnergy, Stiffness};
use muslin::mesh::Mesh;
use muslin::scene::parse;
use muslin::simulation::{ActionError, RayTarget, Touched};
use muslin::solver::{Explicit, Newton, Pbd, Precision, Projective, ShapeMatching, Stepping, Vbd, Xpbd};
use muslin::{
    Cloth, ClothBuilder, Collide, Contact, Elements, MeshCollider, Path, Pin, Select, Simulation, SimulationBuilder,
    Wind,
};

fn sheet() -> ClothBuilder {
    Cloth::grid([1.0, 1.0], [6, 6])
}

fn free_fall(solver: SimulationBuilder) -> SimulationBuilder {
    solver.gravity([0.0; 3]).cloth(sheet().stretch(NoEnergy::default()).bend(NoEnergy::default()))
}

/// One builder for each solver and precision.
fn solvers() -> Vec<(&'static str, SimulationBuilder)> {
    let new = Simulation::builder;
    let explicit = |scheme, precision| Explicit { substeps: 20, scheme, precision };
    vec![
        ("auto", new()),
        ("xpbd", new().solver(Xpbd::default())),
        ("xpbd f64", new().solver(Xpbd { precision: Precision::F64, ..Default::default() })),
        ("pbd", new().solver(Pbd::default())),
        ("newton", new().solver(Newton { substeps: 8, ..Default::default() })),
        ("vbd", new().solver(Vbd::default())),
        ("projective", new().solver(Projective { substeps: 8, ..Default::default() })),
        ("symplectic f32", new().solver(explicit(Stepping::Symplectic, Precision::F32))),
        ("symplectic f64", new().solver(explicit(Stepping::Symplectic, Precision::F64))),
        ("verlet", new().solver(explicit(Stepping::Verlet, Precision::F64))),
    ]
}

fn run(simulation: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        simulation.advance().expect("a frame");
    }
}

fn position(simulation: &Simulation, cloth: usize, vertex: usize) -> [f32; 3] {
    let mut positions = Vec::new();
    simulation.positions(cloth, &mut positions);
    positions[vertex]
}

fn velocity(simulation: &Simulation, vertex: usize) -> [f32; 3] {
    let mut velocities = Vec::new();
    simulation.velocities(0, &mut velocities);
    velocities[vertex]
}

#[test]
fn code_and_a_scene_file_give_the_same_bits() {
    let text = r#"
        fps = 50
        gravity = [0, -5, 0]
        wind = { velocity = [1, 0, 0], drag = 1 }
        [contact]
        self_contact = true
        thickness = 0.002
        [solver]
        kind = "xpbd"
        substeps = 12
        [[cloth]]
        grid = { size = [1, 1], cells = [6, 6] }
        translate = [0, 0.4, 0]
        rotate = [10, 20, 30]
        velocity = [0, 1, 0]
        material = { fabric = "cotton", damping = 0.5, stretch = { slack = 0.01 }, bend = { model = "dihedral" } }
        pins = [{ vertices = [3] }, { select = "x_max", path = [{ time = 0 }, { time = 1, offset = [0, 0.2, 0] }], until = 0.3 }]
        [[collider]]
        sphere = { center = [0, 0, 0], radius = 0.3 }
        friction = 0.7
    "#;
    let scene = parse(text, &[]).into_result().unwrap();
    let lift = Path::through([(0.0, [0.0; 3]), (1.0, [0.0, 0.2, 0.0])]);
    let cloth = sheet().translate([0.0, 0.4, 0.0]).rotate([10.0, 20.0, 30.0]).velocity([0.0, 1.0, 0.0]);
    let material = cloth.fabric("cotton").damping(0.5).stretch(Spring { slack: 0.01, ..Default::default() });
    let builder = Simulation::builder()
        .fps(50.0)
        .gravity([0.0, -5.0, 0.0])
        .wind(Wind { velocity: [1.0, 0.0, 0.0], drag: 1.0, ..Default::default() })
        .contact(Contact { self_contact: true, thickness: 0.002, ..Default::default() })
        .solver(Xpbd { substeps: 12, ..Default::default() })
        .cloth(
            material
                .bend(muslin::energy::bend::dihedral::Dihedral::default())
                .pin(Pin::vertices([3]))
                .pin(Pin::select(Select::XMax).along(lift).released_at(0.3)),
        )
        .collider(Sphere { center: [0.0; 3], radius: 0.3 }.friction(0.7));
    assert_eq!(builder.scene().unwrap(), scene);
    let mut from_file = Simulation::new(&scene, 1, &mut |_| Err(String::new())).unwrap();
    let mut from_code = builder.threads(2).build().unwrap();
    run(&mut from_file, 20);
    run(&mut from_code, 20);
    assert_eq!(from_code.state().hash(), from_file.state().hash());
}

#[test]
fn a_mesh_in_memory_is_a_cloth() {
    let Mesh { positions, triangles, .. } =
        Mesh::grid([1.0, 1.0], [6, 6], muslin::mesh::Diagonals::Alternating).unwrap();
    let build = |cloth: ClothBuilder| {
        Simulation::builder().solver(Xpbd::default()).cloth(cloth.pin(Pin::vertices([0]))).build()
    };
    let (mut grid, mut mesh) = (build(sheet()).unwrap(), build(Cloth::mesh(positions.clone(), triangles)).unwrap());
    run(&mut grid, 5);
    run(&mut mesh, 5);
    assert_eq!(position(&grid, 0, 48), position(&mesh, 0, 48));
    let broken = build(Cloth::mesh(positions, vec![[0, 1, 99]])).err().map(|e| e.to_string());
    let said = broken.expect("a vertex is missing");
    assert!(said.starts_with("cloth[0].mesh: triangle 0 uses vertex 99, but the mesh has 49 vertices"), "{said}");
}

/// A tray below the sheet, and two frames in which its middle rises.
fn tray() -> (Mesh, Vec<Vec<[f32; 3]>>) {
    let tray = Mesh::grid([0.5, 0.5], [4, 4], muslin::mesh::Diagonals::Alternating).expect("a sound grid");
    let flat: Vec<[f32; 3]> = tray.positions.iter().map(|p| p.map(|x| x as f32)).collect();
    let mut raised = flat.clone();
    raised[12][1] += 0.05;
    (tray, vec![flat, raised])
}

#[test]
fn a_mesh_in_memory_is_a_collider() {
    let (mesh, frames) = tray();
    for frames in [Vec::new(), frames] {
        let still = MeshCollider::new(mesh.positions.clone(), mesh.triangles.clone()).translate([0.0, -0.02, 0.0]);
        let body = if frames.is_empty() { still } else { still.frames(10.0, frames.clone()) };
        let builder = Simulation::builder().solver(Xpbd::default()).cloth(sheet());
        let builder = builder.collider(body.friction(0.4).name("tray"));
        let text = builder.scene().unwrap().to_toml();
        let mut load = |file: &str| (file == "tray.obj").then(|| mesh.clone()).ok_or(file.to_owned());
        let mut load_frames = |file: &str| (file == "tray.npy").then(|| frames.clone()).ok_or(file.to_owned());
        let scene = parse(&text, &[]).into_result().unwrap();
        let mut from_file = Simulation::new_with(&scene, 1, &mut load, &mut load_frames).unwrap();
        let mut from_code = builder.build().unwrap();
        run(&mut from_file, 15);
        run(&mut from_code, 15);
        assert_eq!(from_code.state().hash(), from_file.state().hash(), "{} frames", frames.len());
        let middle = position(&from_code, 0, 24)[1];
        assert!(middle > -0.02, "held by the tray: {middle}");
    }
}

#[test]
fn a_broken_mesh_in_memory_is_refused_as_that_of_a_file_is() {
    let said = |body: MeshCollider| {
        let problems = Simulation::builder().cloth(sheet()).collider(body).check();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let (mesh, frames) = tray();
    let below = || MeshCollider::of(mesh.clone()).translate([0.0, -0.1, 0.0]);
    assert_eq!(said(below()), "");
    let lost = MeshCollider::new(mesh.positions.clone(), vec![[0, 1, 99]]);
    assert_eq!(said(lost), "collider[0].mesh: triangle 0 uses vertex 99, but the mesh has 25 vertices");
    let short = vec![frames[0].clone(), vec![[0.0; 3]; 3]];
    let place = "collider[0].mesh.frames: frame 1 has 3 vertices, but the mesh has 25";
    assert!(said(below().frames(10.0, short)).starts_with(place));
    assert_eq!(said(below().frames(10.0, Vec::new())), "collider[0].mesh.frames: it has no frames");
    assert!(said(below().frames(0.0, frames)).starts_with("collider[0].mesh.fps: must be "));
    assert!(said(below().scale(0.0)).starts_with("collider[0].mesh.scale: must be "));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let builder = Simulation::builder()
        .fps(0.0)
        .solver(Xpbd { substeps: 20_000, max_strain: Some(-1.0), ..Default::default() })
        .cloth(sheet().density(-1.0).fabric("silk").pin(Pin::vertices([0]).released_at(f64::NAN)))
        .cloth(sheet().stretch(Spring { stiffness: Some(Stiffness::Projection(2.0)), ..Default::default() }))
        .collider(Sphere { center: [0.0; 3], radius: 0.0 }.friction(-1.0));
    let said: Vec<String> = builder.check().iter().map(ToString::to_string).collect();
    for expected in [
        "solver.substeps: must be a whole number from 1 to 10000, got 20000",
        "solver.max_strain: must be a finite number greater than 0, got -1.0",
        "fps: must be a number from 1 to 1000, got 0.0",
        "cloth[1].material.stretch.k: must be a number from 0 to 1, got 2.0",
        "cloth[0].pins[0].until: must be a finite number of at least 0, got nan",
        "collider[0].friction: must be a finite number of at least 0, got -1.0",
        "collider[0].sphere.radius: must be a number from 0.000001 to 1000000, got 0.0",
    ] {
        assert!(said.iter().any(|line| line == expected), "{expected}\nis not among\n{}", said.join("\n"));
    }
    let refused = builder.build().err().map(|e| e.to_string());
    assert_eq!(refused, Some(said.join("\n")));
    let warned = Simulation::builder().solver(ShapeMatching::default()).cloth(sheet()).check();
    assert!(warned.iter().any(|problem| problem.message.contains("has a stiffness of its own")), "{warned:?}");
}

/// v = f t/m after a frame of a constant force, in every solver; and nothing after the next.
#[test]
fn a_force_acts_for_one_frame() {
    for (name, solver) in solvers() {
        let mut simulation = free_fall(solver).build().unwrap();
        let mass = simulation.model().masses[simulation.model().state_vertex(0, 24).unwrap()];
        simulation.add_force(0, 24, [0.0, 0.5 * mass, 0.0]).unwrap();
        simulation.add_force(0, 24, [0.0, 0.5 * mass, 0.0]).unwrap();
        run(&mut simulation, 1);
        let expected = 1.0 / 60.0;
        let gained = f64::from(velocity(&simulation, 24)[1]);
        assert!((gained / expected - 1.0).abs() < 1e-4, "{name}: {gained}, not {expected}");
        // Half of g t², and what a first-order step adds.
        let moved = f64::from(position(&simulation, 0, 24)[1]);
        let exact = 0.5 * expected / 60.0;
        assert!((moved / exact - 1.0).abs() < 0.2, "{name}: {moved}, not {exact}");
        run(&mut simulation, 3);
        let kept = f64::from(velocity(&simulation, 24)[1]);
        assert!((kept / gained - 1.0).abs() < 1e-4, "{name}: {kept} after {gained}");
        assert_eq!(velocity(&simulation, 25), [0.0; 3], "{name}: a neighbour feels nothing");
    }
}

#[test]
fn an_impulse_changes_the_velocity_at_once() {
    for (name, solver) in solvers() {
        let mut simulation = free_fall(solver).build().unwrap();
        run(&mut simulation, 2);
        // All of them, since `auto` limits the strain whatever the material.
        for vertex in 0..49 {
            let mass = simulation.model().masses[simulation.model().state_vertex(0, vertex).unwrap()];
            simulation.apply_impulse(0, vertex, [0.0, 2.0 * mass, 0.0]).unwrap();
        }
        assert!((velocity(&simulation, 24)[1] - 2.0).abs() < 1e-6, "{name}");
        run(&mut simulation, 3);
        let moved = f64::from(position(&simulation, 0, 24)[1]);
        assert!((moved / 0.1 - 1.0).abs() < 1e-3, "{name}: {moved}");
    }
}

#[test]
fn held_vertices_feel_neither_force_nor_impulse() {
    let mut simulation =
        Simulation::builder().solver(Xpbd::default()).cloth(sheet().pin(Pin::vertices([0]))).build().unwrap();
    simulation.add_force(0, 0, [0.0, 100.0, 0.0]).unwrap();
    simulation.apply_impulse(0, 0, [0.0, 100.0, 0.0]).unwrap();
    let start = position(&simulation, 0, 0);
    run(&mut simulation, 2);
    assert_eq!(position(&simulation, 0, 0), start);
}

#[test]
fn what_is_not_there_is_an_error_and_changes_nothing() {
    let mut simulation = Simulation::builder().cloth(sheet()).build().unwrap();
    let said = |outcome: Result<(), ActionError>| outcome.unwrap_err().to_string();
    assert_eq!(said(simulation.add_force(1, 0, [0.0; 3])), "there is no cloth 1; the last is 0");
    assert_eq!(said(simulation.add_force(0, 49, [0.0; 3])), "vertex 49 is out of range: cloth 0 has vertices 0 to 48");
    assert_eq!(
        said(simulation.apply_impulse(0, 0, [f64::NAN; 3])),
        "[NaN, NaN, NaN] is not finite; give three finite numbers"
    );
    assert_eq!(said(simulation.move_collider(0, [0.0; 3])), "there is no collider 0; the scene has 0");
    assert_eq!(said(simulation.move_pin(0, 0, [0.0; 3])), "there is no pin 0 of cloth 0, which has 0");
    let stiff = Spring { stiffness: Some(Stiffness::Physical(-1.0)), ..Default::default() };
    assert_eq!(
        said(simulation.set_stretch(0, stiff)),
        "cloth[0].material.stretch.stiffness: must be a finite number greater than 0, got -1.0"
    );
    assert_eq!(
        said(simulation.set_damping(0, -1.0)),
        "cloth[0].material.damping: must be a finite number of at least 0, got -1.0"
    );
    assert_eq!(simulation.state(), Simulation::builder().cloth(sheet()).build().unwrap().state());
}

#[test]
fn a_pin_goes_where_a_program_leads_it() {
    for (name, solver) in solvers() {
        let mut simulation = solver.cloth(sheet().pin(Pin::vertices([0])).pin(Pin::vertices([6]))).build().unwrap();
        let start = position(&simulation, 0, 6);
        for frame in 1..=10 {
            simulation.move_pin(0, 1, [0.0, 0.01 * f64::from(frame), 0.0]).unwrap();
            run(&mut simulation, 1);
            let lifted = position(&simulation, 0, 6)[1] - start[1];
            assert!((f64::from(lifted) - 0.01 * f64::from(frame)).abs() < 1e-6, "{name}: {lifted} in frame {frame}");
        }
        assert_eq!(position(&simulation, 0, 0)[1], start[1], "{name}: the other pin stays");
    }
}

/// A floor that rises carries the cloth.
#[test]
fn a_collider_goes_where_a_program_leads_it() {
    for (name, solver) in solvers() {
        let floor = Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };
        let mut simulation =
            solver.cloth(sheet().translate([0.0, 0.001, 0.0])).collider(floor.named("floor")).build().unwrap();
        let floor = simulation.collider("floor").unwrap();
        for frame in 1..=30 {
            simulation.move_collider(floor, [0.0, 0.01 * f64::from(frame), 0.0]).unwrap();
            run(&mut simulation, 1);
        }
        let carried = position(&simulation, 0, 24)[1];
        assert!((0.300..0.31).contains(&carried), "{name}: {carried}");
        assert!(
            (velocity(&simulation, 24)[1] - 0.6).abs() < 0.1,
            "{name}: as fast as the floor, {:?}",
            velocity(&simulation, 24)
        );
        let contacts = simulation.contacts();
        assert!(contacts.len() > 40, "{name}: {} of 49 vertices lie on it", contacts.len());
        for contact in contacts {
            assert_eq!((contact.with, contact.cloth), (Touched::Collider(floor), 0));
            assert!((contact.normal[1] - 1.0).abs() < 1e-12 && contact.distance < 1.1e-3, "{contact:?}");
        }
    }
}

/// A softer cloth hangs lower, and the state goes on from where it was.
#[test]
fn stiffness_may_change_while_it_runs() {
    let soft = |stiffness| Spring { stiffness: Some(Stiffness::Physical(stiffness)), ..Default::default() };
    let hang = |stiffness| {
        sheet().rotate([90.0, 0.0, 0.0]).stretch(soft(stiffness)).damping(5.0).pin(Pin::select(Select::ZMin))
    };
    let solver = Xpbd { substeps: 40, ..Default::default() };
    let mut simulation = Simulation::builder()
        .solver(solver)
        .cloth(hang(1000.0))
        .cloth(hang(1000.0).name("other").translate([3.0, 0.0, 0.0]))
        .build()
        .unwrap();
    run(&mut simulation, 120);
    let stiff = position(&simulation, 0, 45)[1];
    let before = simulation.state().clone();
    simulation.set_stretch(0, soft(20.0)).unwrap();
    let after = simulation.state();
    assert_eq!((&after.positions, &after.velocities), (&before.positions, &before.velocities), "nothing moves at once");
    assert!(after.work.program < before.work.program, "what the softer cloth holds less was taken out");
    run(&mut simulation, 120);
    let sag = position(&simulation, 0, 45)[1];
    assert!(sag < stiff - 0.02, "{sag} after {stiff}");
    assert!((position(&simulation, 1, 45)[1] - stiff).abs() < 2e-3, "the other cloth is as it was");
    let mut fresh = Simulation::builder().solver(solver).cloth(hang(20.0)).build().unwrap();
    run(&mut fresh, 240);
    assert!((position(&fresh, 0, 45)[1] - sag).abs() < 2e-3, "as if it had been soft from the start");
}

#[test]
fn changing_to_what_it_is_changes_no_bit() {
    let build = || {
        Simulation::builder()
            .solver(Xpbd::default())
            .cloth(sheet().fabric("cotton").pin(Pin::vertices([0, 6])))
            .build()
            .unwrap()
    };
    let (mut same, mut touched) = (build(), build());
    run(&mut same, 10);
    run(&mut touched, 5);
    touched.set_stretch(0, Spring::default()).unwrap();
    touched.set_bend(0, muslin::energy::bend::isometric::Isometric::default()).unwrap();
    touched.set_damping(0, 0.0).unwrap();
    run(&mut touched, 5);
    assert_eq!(touched.state().hash(), same.state().hash());
}

/// A chain of two links between two corners, stiffer than the sheet, shows in every solver that takes energies.
#[test]
fn an_energy_from_outside_acts_in_every_solver() {
    for (name, solver) in solvers() {
        let build = |solver: SimulationBuilder, links: &[[u32; 2]]| {
            let rest = spring::Rest { length: 0.2, compliance: 1e-2 };
            let elements = links.iter().map(|&link| (link, rest));
            let cloth = sheet().density(1.0).pin(Pin::vertices([0]));
            solver.gravity([0.0; 3]).cloth(cloth).energy(Elements::<Spring, 2>::on(0, elements)).build().unwrap()
        };
        let mut pulled = build(solver, &[[0, 48], [48, 6]]);
        run(&mut pulled, 4);
        let [x, _, z] = position(&pulled, 0, 48);
        assert!(x < 0.4999 && z < 0.4999, "{name}: the corner is pulled in, {x} {z}");
        let refused = Simulation::builder().cloth(sheet());
        let twice = Elements::<Spring, 2>::on(0, [([7, 7], spring::Rest { length: 0.2, compliance: 1e-2 })]);
        let said = refused.energy(twice).build().err().map(|e| e.to_string());
        let expected = "energy[0].elements[0]: vertex 7 of cloth 0 is there twice; an element has 2 different ones";
        assert_eq!(said.as_deref(), Some(expected));
    }
}

#[test]
fn a_ray_finds_the_first_thing_on_its_way() {
    let simulation = Simulation::builder()
        .cloth(sheet().translate([0.0, 1.0, 0.0]))
        .cloth(sheet().name("below").translate([0.0, 0.5, 0.0]))
        .collider(Sphere { center: [0.0, -1.0, 0.0], radius: 0.25 })
        .build()
        .unwrap();
    let hit = simulation.raycast([0.1, 3.0, 0.05], [0.0, -2.0, 0.0]).expect("the upper cloth");
    assert!((hit.distance - 2.0).abs() < 1e-12, "{hit:?}");
    let RayTarget::Cloth { cloth: 0, triangle, weights } = hit.target else { panic!("{hit:?}") };
    let corners = simulation.triangles(0)[triangle].map(|v| position(&simulation, 0, v as usize));
    for i in 0..3 {
        let point: f64 = corners.iter().zip(weights).map(|(x, w)| w * f64::from(x[i])).sum();
        assert!((point - hit.point[i]).abs() < 1e-6, "the weights are of the point");
    }
    let below = simulation.raycast([0.0, -3.0, 0.0], [0.0, 1.0, 0.0]).expect("the ball");
    assert_eq!(below.target, RayTarget::Collider(0));
    assert!((below.distance - 1.75).abs() < 1e-6, "{below:?}");
    assert_eq!(simulation.raycast([9.0, 3.0, 0.0], [0.0, -1.0, 0.0]), None, "beside everything");
    assert_eq!(simulation.raycast([0.0, 3.0, 0.0], [0.0; 3]), None, "no direction");
}

#[test]
fn normals_are_those_of_the_user_s_vertices() {
    let simulation = Simulation::builder().cloth(sheet().rotate([0.0, 0.0, 90.0])).build().unwrap();
    let mut normals = Vec::new();
    simulation.normals(0, &mut normals);
    assert_eq!(normals.len(), 49);
    // +y is turned to −x.
    assert!(normals.iter().all(|n| (n[0] + 1.0).abs() < 1e-6), "{normals:?}");
    simulation.normals(7, &mut normals);
    assert!(normals.is_empty() && simulation.triangles(7).is_empty(), "there is no cloth 7");
    assert_eq!((simulation.cloth("cloth0"), simulation.cloth("x")), (Some(0), None));
}

#[test]
fn cloth_on_cloth_is_a_contact() {
    let contact = Contact { self_contact: true, thickness: 0.01, ..Default::default() };
    let above = sheet().name("above").translate([0.0, 0.0105, 0.0]);
    let simulation = Simulation::builder().contact(contact).cloth(sheet()).cloth(above).build().unwrap();
    let contacts = simulation.contacts();
    assert!(contacts.iter().any(|c| c.cloth == 1 && c.with == Touched::Cloth(0) && c.normal[1] > 0.99), "{contacts:?}");
    assert!(contacts.iter().all(|c| (c.distance - 0.0105).abs() < 1e-9), "{contacts:?}");
}
