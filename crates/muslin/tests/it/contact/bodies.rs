//! Bodies that are meshes: cloth rests on them, is led by them, and is never cut by them.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh};
use muslin::model::Problem;
use muslin::solver::{SOLVERS, StepError};

use crate::common::{center, position, run, scene, simulation};

const GRAVITY: f64 = 9.81;

/// A sphere about the origin: an octahedron whose triangles are cut in four `level` times.
pub(crate) fn sphere(radius: f64, level: u32) -> Mesh {
    let axis = |k: usize, sign: f64| std::array::from_fn(|i| if i == k { sign } else { 0.0 });
    let mut positions: Vec<[f64; 3]> = (0..3).flat_map(|k| [axis(k, 1.0), axis(k, -1.0)]).collect();
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    for _ in 0..level {
        let mut middles = std::collections::BTreeMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let sum = Vec3::from(positions[a as usize]) + Vec3::from(positions[b as usize]);
                    positions.push(sum.normalized_or_zero().to_array());
                    positions.len() as u32 - 1
                })
            };
            let (d, e, f) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, d, f], [d, b, e], [f, e, c], [d, e, f]]);
        }
        triangles = finer;
    }
    positions.iter_mut().for_each(|p| *p = p.map(|x| x * radius));
    Mesh { positions, triangles, ..Mesh::default() }
}

/// A box about the origin with two triangles a side.
fn cuboid(half: [f64; 3]) -> Mesh {
    let corner = |k: usize| std::array::from_fn(|axis| if k >> axis & 1 == 1 { half[axis] } else { -half[axis] });
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh { positions: (0..8).map(corner).collect(), triangles, ..Mesh::default() }
}

/// A level sheet about the origin.
fn sheet(size: f64, cells: u32) -> Mesh {
    Mesh::grid([size, size], [cells, cells], Diagonals::Alternating).expect("a sound grid")
}

fn simulation_on(body: &Mesh, text: &str, threads: usize) -> Simulation {
    Simulation::new(&scene(text), threads, &mut |_| Ok(body.clone())).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn problems(body: Result<Mesh, String>, text: &str) -> Vec<Problem> {
    match muslin::setup::compile(&scene(text), &mut |_| body.clone()) {
        Ok(_) => panic!("it compiles:\n{text}"),
        Err(problems) => problems,
    }
}

fn assert_uncut(simulation: &Simulation, what: &str) {
    let count = simulation.diagnose().intersections;
    assert_eq!(count, Some(0), "{what}: pairs that cut each other after frame {}", simulation.frame());
}

fn run_uncut(simulation: &mut Simulation, frames: usize, what: &str) {
    for _ in 0..frames {
        simulation.advance().unwrap_or_else(|e| panic!("{what}: frame {}: {e}", simulation.frame() + 1));
        assert_uncut(simulation, what);
    }
}

/// A cloth above a body.
fn drape(top: &str, height: f64, collider: &str) -> String {
    format!(
        r#"
        {top}
        [[cloth]]
        grid = {{ size = [0.6, 0.6], cells = [20, 20] }}
        translate = [0.013, {height}, 0.007]
        material = {{ damping = 1.0, stretch = {{ stiffness = 500 }} }}
        [[collider]]
        {collider}
        "#
    )
}

#[test]
fn cloth_lies_on_a_mesh_as_on_the_shape_that_it_approximates() {
    let radius = 0.25;
    let exact = format!("sphere = {{ center = [0, 0, 0], radius = {radius} }}\nfriction = 0.5");
    // As many substeps on both: what is compared is the contact.
    let top = "solver.substeps = 20";
    let mut exact = simulation(&drape(top, 0.3, &exact));
    let body = sphere(radius, 4);
    let mut meshed = simulation_on(&body, &drape(top, 0.3, "mesh = { file = \"b.obj\" }\nfriction = 0.5"), 1);
    run(&mut exact, 120);
    run_uncut(&mut meshed, 120, "sphere");
    // The surfaces differ: edges of the body, some h = 0.025 m, cut h²/8r = 0.3 mm off the sphere, and triangles of the cloth, 0.03 m,
    // 0.45 mm, by which its vertices stand farther out on a body that touches triangles too.
    let [top, expected] = [&meshed, &exact].map(|simulation| position(simulation, 220));
    assert!((top - expected).norm() < 2e-3, "the top is at {top:?}, on the sphere at {expected:?}");
    // Folds are where they want; the cloth as a whole is where it was.
    let (mean, expected) = (center(&meshed), center(&exact));
    assert!((mean - expected).norm() < 2e-3, "the middle is at {mean:?}, on the sphere at {expected:?}");
    let nearest = meshed.state().positions.iter().map(|x| x.norm() - radius).fold(f64::INFINITY, f64::min);
    // As far as the flattest triangle lies inside the sphere.
    let inside = |t: usize| {
        let [a, b, c] = body.triangle(t);
        radius - (b - a).cross(c - a).normalized_or_zero().dot(a)
    };
    let deepest = (0..body.triangle_count()).map(inside).fold(0.0, f64::max);
    assert!(
        nearest > 1e-3 - deepest - 1e-5,
        "a vertex is {nearest} m from the sphere, triangles are {deepest} m inside"
    );
}

#[test]
fn no_solver_lets_a_mesh_cut_cloth() {
    let body = cuboid([0.15, 0.1, 0.2]);
    for kind in SOLVERS {
        let name = kind.entry.name;
        for self_contact in [false, true] {
            let top = format!("solver.kind = {name:?}\ncontact.self_contact = {self_contact}");
            let mesh = "mesh = { file = \"b.obj\", rotate = [20, 0, 30], translate = [0, -0.15, 0] }";
            let mut simulation = simulation_on(&body, &drape(&top, 0.15, mesh), 1);
            run_uncut(&mut simulation, 25, name);
            let height = center(&simulation).y;
            assert!(height > -0.3, "{name}: the cloth is at {height} m");
        }
    }
}

#[test]
fn a_single_sheet_is_touched_from_both_sides() {
    let body = sheet(1.0, 2);
    for (height, gravity) in [(0.05, -GRAVITY), (-0.05, GRAVITY)] {
        let top = format!("gravity = [0, {gravity}, 0]");
        let mut simulation = simulation_on(&body, &drape(&top, height, "mesh = { file = \"b.obj\" }"), 1);
        run_uncut(&mut simulation, 60, "sheet");
        for x in &simulation.state().positions {
            let gap = x.y * f64::signum(height);
            assert!((gap - 1e-3).abs() < 1e-8, "a vertex rests {gap} m from the sheet");
        }
    }
}

#[test]
fn a_body_that_moves_lifts_the_cloth() {
    let body = sheet(0.4, 3);
    let collider = "mesh = { file = \"b.obj\" }\nfriction = 0.6\n\
                    path = [{ time = 0.2 }, { time = 1.2, offset = [0.3, 0.5, 0], turn = 40 }]\nease = \"smooth\"";
    let mut simulation = simulation_on(&body, &drape("", 0.02, collider), 1);
    run_uncut(&mut simulation, 90, "lift");
    let (middle, body) = (position(&simulation, 220), {
        let mut positions = Vec::new();
        simulation.body_positions(0, &mut positions);
        positions
    });
    assert!(body.iter().all(|x| (f64::from(x[1]) - 0.5).abs() < 1e-6), "the body is not where its path ends: {body:?}");
    assert!((middle.y - 0.501).abs() < 1e-4, "the cloth lies at {} m", middle.y);
    assert!((middle.x - 0.3).abs() < 0.03, "it was not taken along: {} m", middle.x);
}

#[test]
fn friction_on_a_mesh_is_that_of_coulomb() {
    let angle = 20.0_f64.to_radians();
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let body = sheet(6.0, 4);
    let slide = |friction: f64| {
        let text = format!(
            r#"
            solver = {{ kind = "xpbd", substeps = 40 }}
            [[cloth]]
            grid = {{ size = [0.3, 0.3], cells = [6, 6] }}
            rotate = [0, 0, -20]
            translate = [{:?}, {:?}, 0]
            [[collider]]
            mesh = {{ file = "b.obj", rotate = [0, 0, -20] }}
            friction = {friction}
            "#,
            1e-3 * sin,
            1e-3 * cos
        );
        let mut simulation = simulation_on(&body, &text, 1);
        run_uncut(&mut simulation, 60, "slope");
        center(&simulation).dot(Vec3::new(cos, -sin, 0.0))
    };
    // tan 20° = 0.364.
    let stuck = slide(0.5);
    assert!(stuck.abs() < 1e-4, "it slides by {stuck} m");
    for friction in [0.0, 0.2] {
        let (way, expected) = (slide(friction), 0.5 * GRAVITY * (sin - friction * cos));
        // Symplectic Euler: ½ g t² is off by t h/2, h = 1/2400 s. (With half as many substeps it moves by three times its thickness in one, runs
        // against an edge of the mesh now and then, and is 0.2 % slow.)
        assert!((way / expected - 1.0).abs() < 2e-3, "it slides by {way} m in a second with {friction}: {expected} m");
    }
}

/// A cloth that hangs from two corners.
fn hanging(top: &str, collider: &str) -> String {
    format!(
        r#"
        {top}
        [[cloth]]
        grid = {{ size = [0.6, 0.6], cells = [15, 15] }}
        rotate = [90, 0, 0]
        pins = [{{ vertices = [0, 15] }}]
        [[collider]]
        {collider}
        "#
    )
}

#[test]
fn a_body_at_any_speed_is_stopped_by_nothing_and_cuts_nothing() {
    let body = sphere(0.08, 2);
    for speed in [1.0, 10.0, 100.0] {
        let collider = format!(
            "name = \"ball\"\nmesh = {{ file = \"b.obj\", translate = [0.01, -0.03, -0.5] }}\n\
             path = [{{ time = 0 }}, {{ time = {:?}, offset = [0, 0, 1] }}]",
            1.0 / speed
        );
        let frames = (60.0_f64 / speed).ceil() as usize + 5;
        let mut simulation = simulation_on(&body, &hanging("", &collider), 1);
        let mut farthest = 0.0;
        for _ in 0..frames {
            run_uncut(&mut simulation, 1, &format!("{speed} m/s"));
            farthest = simulation.state().positions.iter().map(|x| x.z).fold(farthest, f64::max);
        }
        // It went half a metre beyond the cloth and took it along. (The cloth may have slipped off since.)
        assert!(farthest > 0.3, "{speed} m/s: the cloth was taken to {farthest} m");
    }
}

#[test]
fn a_body_that_jumps_too_far_is_refused_by_name() {
    let body = sphere(0.08, 2);
    let collider = "name = \"ball\"\nmesh = { file = \"b.obj\", translate = [0, 0, -0.5] }\n\
                    path = [{ time = 0.1 }, { time = 0.1001, offset = [0, 0, 900] }]";
    // Chosen ones would be as many as the jump asks for.
    let mut simulation = simulation_on(&body, &hanging("solver.substeps = 20", collider), 1);
    let before = loop {
        let before = simulation.state().clone();
        match simulation.advance() {
            Ok(_) => assert!(simulation.frame() < 10, "it was not refused"),
            Err(StepError::Contact { what }) => {
                assert!(what.contains("of collider \"ball\" is led by"), "{what}");
                break before;
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(*simulation.state(), before, "the state is as it was");
}

#[test]
fn pins_and_bodies_that_meet_are_named() {
    // A plate is led through a row of vertices that are held.
    let body = sheet(1.0, 2);
    let collider = "name = \"plate\"\nmesh = { file = \"b.obj\", translate = [0, -0.2, 0] }\n\
                    path = [{ time = 0 }, { time = 0.2, offset = [0, 0.4, 0] }]";
    let text = drape("", 0.0, collider).replace("[[collider]]", "pins = [{ select = \"all\" }]\n[[collider]]");
    let mut simulation = simulation_on(&body, &text.replace("\"all\"", "\"x_min\""), 1);
    let error = (0..20).find_map(|_| simulation.advance().err());
    let said = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("collider \"plate\"") && said.contains("cloth \"cloth0\""), "{said}");
}

/// Two bodies, one of which deforms, and a cloth: everything that is stored besides the state.
const BUSY: &str = r#"
    contact = { self_contact = true }
    [[cloth]]
    grid = { size = [0.6, 0.6], cells = [14, 14] }
    translate = [0.01, 0.15, 0]
    [[collider]]
    name = "ball"
    mesh = { file = "sphere", translate = [0, 0.02, 0] }
    path = [{ time = 0 }, { time = 0.5, offset = [0.1, 0.1, 0], turn = 90 }]
    [[collider]]
    mesh = { file = "sheet", frames = "wave", fps = 24, translate = [0, -0.15, 0], scale = 1.5 }
    friction = 0.1
"#;

/// A sheet that swings.
fn wave(file: &str) -> Result<Vec<Vec<[f32; 3]>>, String> {
    if file != "wave" {
        return Err(format!("there is no file {file}"));
    }
    let rest = sheet(0.6, 6).positions;
    let frame = |k: usize| {
        let lift = |x: f64| 0.05 * libm::sin(6.0 * x + 0.7 * k as f64);
        rest.iter().map(|p| [p[0], lift(p[0]), p[2]].map(|x| x as f32)).collect()
    };
    Ok((0..20).map(frame).collect())
}

fn busy(threads: usize) -> Simulation {
    let mut load = |file: &str| match file {
        "sphere" => Ok(sphere(0.1, 3)),
        _ => Ok(sheet(0.6, 6)),
    };
    Simulation::new_with(&scene(BUSY), threads, &mut load, &mut wave).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn threads_and_resuming_change_no_bit() {
    let (mut one, mut three) = (busy(1), busy(3));
    run_uncut(&mut one, 20, "one thread");
    run(&mut three, 20);
    assert_eq!(one.state().hash(), three.state().hash(), "three threads");
    let mut resumed = busy(2);
    resumed.restore(one.state().clone(), 20).expect("a snapshot of the same scene");
    run_uncut(&mut one, 20, "one thread");
    run(&mut resumed, 20);
    assert_eq!(one.state().hash(), resumed.state().hash(), "resumed");
}

#[test]
fn frames_are_linear_in_time_and_held_at_the_ends() {
    let model = busy(1);
    let body = &model.model().bodies[1];
    assert_eq!((body.name.as_str(), body.index, body.moves), ("collider1", 1, true));
    let frames = wave("wave").expect("frames");
    let at = |time: f64| {
        let mut positions = Vec::new();
        body.extend_positions(time, &mut positions);
        positions
    };
    let placed = |p: [f32; 3]| Vec3::from(p.map(f64::from)) * 1.5 + Vec3::new(0.0, -0.15, 0.0);
    for (time, first, next, part) in
        [(0.0, 0, 0, 0.0), (2.25 / 24.0, 2, 3, 0.25), (19.0 / 24.0, 19, 19, 0.0), (9.0, 19, 19, 0.0)]
    {
        for (v, x) in at(time).into_iter().enumerate() {
            let (a, b) = (placed(frames[first][v]), placed(frames[next][v]));
            assert!((x - (a + (b - a) * part)).norm() < 1e-12, "vertex {v} at {time} s: {x:?}");
        }
    }
}

#[test]
fn broken_meshes_are_refused_with_their_place() {
    let text = drape("", 0.3, "mesh = { file = \"b.obj\" }");
    let said = |body: Result<Mesh, String>| problems(body, &text).iter().map(Problem::to_string).collect::<Vec<_>>();
    assert_eq!(said(Err("no such file".to_owned())), ["collider[0].mesh.file: no such file"]);
    assert_eq!(said(Ok(Mesh::default()))[0], "collider[0].mesh.file: the mesh has no vertices");
    let mut lost = sphere(0.1, 0);
    lost.triangles[3][1] = 77;
    assert_eq!(said(Ok(lost)), ["collider[0].mesh.file: triangle 3 uses vertex 77, but the mesh has 6 vertices"]);
    let mut infinite = sphere(0.1, 0);
    infinite.positions[2][1] = f64::NAN;
    assert!(said(Ok(infinite))[0].starts_with("collider[0].mesh.file: vertex 2 is at "), "not finite");
    let points = Mesh { triangles: vec![[0, 0, 1], [2, 3, 3]], ..sphere(0.1, 0) };
    assert!(said(Ok(points))[0].contains("no triangle of the mesh is usable"), "no triangles");
    // Wound either way, with three triangles at an edge and one of no area: it is a body all the same.
    let mut odd = sphere(0.1, 0);
    odd.positions.push([0.05, 0.0, 0.0]);
    odd.triangles.extend([[0, 4, 2], [0, 1, 6]]);
    let mut simulation = simulation_on(&odd, &text, 1);
    run_uncut(&mut simulation, 30, "odd");
}

#[test]
fn broken_frames_are_refused_with_their_place() {
    let text = drape("", 0.3, "mesh = { file = \"b.obj\", frames = \"f\" }");
    let said = |frames: Result<Vec<Vec<[f32; 3]>>, String>| {
        let compiled = muslin::setup::compile_with(&scene(&text), &mut |_| Ok(sphere(0.1, 0)), &mut |_| frames.clone());
        compiled.expect_err("it compiles").iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
    };
    let place = "collider[0].mesh.frames: ";
    assert_eq!(said(Err("nothing there".to_owned())), format!("{place}nothing there"));
    assert_eq!(said(Ok(Vec::new())), format!("{place}it has no frames"));
    let short = vec![vec![[0.0; 3]; 6], vec![[0.0; 3]; 5]];
    assert!(said(Ok(short)).starts_with(&format!("{place}frame 1 has 5 vertices, but the mesh has 6")), "short");
    let mut bad = vec![vec![[0.0; 3]; 6]; 3];
    bad[2][4][1] = f32::INFINITY;
    assert!(said(Ok(bad)).starts_with(&format!("{place}vertex 4 of frame 2 is at ")), "not finite");
    // The callback of `Simulation::new` knows no frames.
    let alone = problems(Ok(sphere(0.1, 0)), &text);
    assert!(alone[0].place == "collider[0].mesh.frames", "{alone:?}");
}

#[test]
fn a_start_that_is_cut_or_touched_is_refused() {
    let cut = problems(Ok(sphere(0.25, 2)), &drape("", 0.1, "mesh = { file = \"b.obj\" }"));
    let said = cut.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n");
    assert!(said.starts_with("collider[0].mesh: its triangle "), "{said}");
    assert!(said.contains("of cloth \"cloth0\" at the start, and "), "{said}");
    let touched = problems(Ok(sheet(1.0, 2)), &drape("", 0.0, "mesh = { file = \"b.obj\" }"));
    let said = touched.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n");
    assert!(said.starts_with("collider[0].mesh: it touches cloth \"cloth0\" at the start"), "{said}");
}
