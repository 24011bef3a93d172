//! Bodies that are meshes: cloth rests on them, is led by them, and is never cut by them.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh};
use muslin::model::{Model, Problem};
use muslin::solver::{SOLVERS, StepError};

use crate::common::{advance, center, position, run, scene, simulation};

const GRAVITY: f64 = 9.81;

/// A sphere about the origin: an octahedron whose triangles are cut in four `level` times.
fn sphere(radius: f64, level: u32) -> Mesh {
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
    match Model::compile(&scene(text), &mut |_| body.clone()) {
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
    let mut exact = simulation(&drape("", 0.3, &exact));
    let body = sphere(radius, 4);
    let mut meshed = simulation_on(&body, &drape("", 0.3, "mesh = { file = \"b.obj\" }\nfriction = 0.5"), 1);
    run(&mut exact, 120);
    run_uncut(&mut meshed, 120, "sphere");
    let (a, b) = (&exact.state().positions, &meshed.state().positions);
    let rms = (a.iter().zip(b).map(|(a, b)| (*a - *b).norm_squared()).sum::<f64>() / a.len() as f64).sqrt();
    let nearest = b.iter().map(|x| x.norm() - radius).fold(f64::INFINITY, f64::min);
    println!("rms {rms} nearest {nearest} center {:?} {:?}", center(&exact), center(&meshed));
    println!("top {:?} {:?}", position(&exact, 220), position(&meshed, 220));
    println!("speeds {} {}", exact.diagnose().max_speed, meshed.diagnose().max_speed);
}

#[test]
fn no_solver_lets_a_mesh_cut_cloth() {
    let body = cuboid([0.15, 0.1, 0.2]);
    for kind in SOLVERS {
        let name = kind.entry.name;
        for self_contact in [false, true] {
            let top = format!("solver.kind = {name:?}\ncontact.self_contact = {self_contact}");
            let mut simulation = simulation_on(&body, &drape(&top, 0.15, "mesh = { file = \"b.obj\", rotate = [20, 0, 30], translate = [0, -0.15, 0] }"), 1);
            let begin = std::time::Instant::now();
            run_uncut(&mut simulation, 40, name);
            println!("{name} {self_contact} {:?} {:?}", begin.elapsed(), simulation.diagnose());
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
        let gaps = simulation.state().positions.iter().map(|x| x.y * height.signum());
        let (low, high) = gaps.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)));
        println!("{low} {high} {:?}", simulation.diagnose());
    }
}
