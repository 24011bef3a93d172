//! Support for the tests of the physics: scenes from text, fixtures from files, sums over a state.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::model::Model;
use muslin::parallel::Team;
use muslin::scene::{Finding, Override, Scene, parse};
use muslin::setup::Compiled;
use muslin::solver::StepReport;
use muslin::state::State;

/// What a scene of these tests has where its text does not say it: the plain solver, and no contact of cloth with cloth. A word of the key, and the change.
const PLAIN: [(&str, &str); 2] = [("kind =", "solver.kind=xpbd"), ("self_contact", "contact.self_contact=false")];

/// A scene from its text, which must be right.
pub(crate) fn scene(text: &str) -> Scene {
    let silent = PLAIN.into_iter().filter(|(word, _)| !text.contains(word));
    let changes: Vec<Override> = silent.map(|(_, change)| Override::parse(change).expect("a change")).collect();
    let outcome = parse(text, &changes);
    let said: Vec<String> = outcome.findings.iter().map(|f: &Finding| f.display("test.toml").to_string()).collect();
    outcome.scene.unwrap_or_else(|| panic!("{}\n{text}", said.join("\n")))
}

/// A scene that needs no mesh file, ready to be stepped.
pub(crate) fn simulation(text: &str) -> Simulation {
    simulation_on(text, 1)
}

/// The same on a number of threads.
pub(crate) fn simulation_on(text: &str, threads: usize) -> Simulation {
    let mut no_files = |file: &str| Err(format!("there is no file {file}"));
    Simulation::new(&scene(text), threads, &mut no_files).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The same with a team.
pub(crate) fn simulation_with(text: &str, team: Team) -> Simulation {
    let mut no_files = |file: &str| Err(format!("there is no file {file}"));
    let mut no_frames = |file: &str| Err(format!("there is no file {file}"));
    Simulation::with_team(&scene(text), team, &mut no_files, &mut no_frames).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A scene all of whose mesh files are `mesh`.
pub(crate) fn simulation_of(mesh: &Mesh, text: &str) -> Simulation {
    Simulation::new(&scene(text), 1, &mut |_| Ok(mesh.clone())).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The compiled side of a scene that needs no mesh file.
pub(crate) fn compiled(text: &str) -> Compiled {
    let mut no_files = |file: &str| Err(format!("there is no file {file}"));
    let problems = |p: &muslin::model::Problem| p.to_string();
    muslin::setup::compile(&scene(text), &mut no_files)
        .unwrap_or_else(|e| panic!("{}", e.iter().map(problems).collect::<Vec<_>>().join("\n")))
}

/// Advances by one frame, which must succeed.
pub(crate) fn advance(simulation: &mut Simulation) -> StepReport {
    simulation.advance().unwrap_or_else(|e| panic!("frame {}: {e}", simulation.frame() + 1))
}

/// Advances by a number of frames.
pub(crate) fn run(simulation: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        advance(simulation);
    }
}

/// Runs a scene for twice `half` frames on one thread: it has the same bits on several, and from a snapshot in the middle. Returns that snapshot and
/// the end.
pub(crate) fn same_bits_on_threads_and_from_a_snapshot(text: &str, half: usize) -> (State, Simulation) {
    let mut alone = simulation_on(text, 1);
    run(&mut alone, half);
    let (snapshot, frame) = (alone.state().clone(), alone.frame());
    run(&mut alone, half);
    for threads in [2, 3, 8] {
        let mut together = simulation_on(text, threads);
        run(&mut together, 2 * half);
        assert_eq!(together.state().hash(), alone.state().hash(), "{threads} threads\n{text}");
    }
    let mut resumed = simulation_on(text, 2);
    resumed.restore(snapshot.clone(), frame).expect("the snapshot fits");
    run(&mut resumed, half);
    assert_eq!(resumed.state(), alone.state(), "after a snapshot\n{text}");
    (snapshot, alone)
}

/// Replaces positions and velocities, and starts the clock again.
pub(crate) fn set_state(simulation: &mut Simulation, change: impl FnOnce(&mut State)) {
    let mut state = simulation.state().clone();
    change(&mut state);
    state.time = 0.0;
    simulation.restore(state, 0).expect("a state of the same size fits");
}

/// Position in double precision of a vertex of the first cloth, as the user numbers it.
pub(crate) fn position(simulation: &Simulation, vertex: usize) -> Vec3<f64> {
    simulation.in_user_order(0, &simulation.state().positions).nth(vertex).expect("a vertex of the cloth")
}

/// Velocity of a vertex of the first cloth, as the user numbers it.
pub(crate) fn velocity(simulation: &Simulation, vertex: usize) -> Vec3<f64> {
    simulation.in_user_order(0, &simulation.state().velocities).nth(vertex).expect("a vertex of the cloth")
}

/// Σ m a / Σ m.
fn weighted_mean(model: &Model, vectors: &[Vec3<f64>]) -> Vec3<f64> {
    let sum = vectors.iter().zip(&model.masses).fold(Vec3::ZERO, |sum, (&a, &m)| sum + a * m);
    sum * (1.0 / model.masses.iter().sum::<f64>())
}

/// Centre of mass [m].
pub(crate) fn center(simulation: &Simulation) -> Vec3<f64> {
    weighted_mean(simulation.model(), &simulation.state().positions)
}

/// Velocity of the centre of mass [m/s].
pub(crate) fn mean_velocity(simulation: &Simulation) -> Vec3<f64> {
    weighted_mean(simulation.model(), &simulation.state().velocities)
}

/// Σ m v [kg m/s] and Σ m x × v about the origin [kg m²/s].
pub(crate) fn momenta(simulation: &Simulation) -> (Vec3<f64>, Vec3<f64>) {
    let (model, state) = (simulation.model(), simulation.state());
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for ((&m, &x), &v) in model.masses.iter().zip(&state.positions).zip(&state.velocities) {
        linear += v * m;
        angular += x.cross(v) * m;
    }
    (linear, angular)
}

/// Random numbers that repeat.
pub(crate) type Random = muslin_testing::Random<Vec3<f64>>;

/// Rows of a table with a heading; cells in quotes may hold commas.
pub(crate) fn table(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(cells).collect()
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.trim_end().chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("there is always a cell").push(c),
        }
    }
    cells
}

/// A cell as a number.
pub(crate) fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("{cell:?} is not a number"))
}

/// A cloth of four vertices and exactly one constraint: `distance` bending between 2 and 3, which hangs below it.
///
/// ```text
///      2          at (0, rest, 0)
///     ╱ ╲
///    0───1        at (∓rest/2, rest/2, 0)
///     ╲ ╱
///      3          at the origin; the others are to be pinned
/// ```
pub(crate) fn pendant(rest: f64) -> Mesh {
    let half = 0.5 * rest;
    Mesh {
        positions: vec![[-half, half, 0.0], [half, half, 0.0], [0.0, rest, 0.0], [0.0, 0.0, 0.0]],
        triangles: vec![[0, 1, 2], [0, 3, 1]],
        ..Mesh::default()
    }
}

/// Density that gives vertex 3 of a [`pendant`] a mass: it has a third of the lower triangle, rest²/4.
pub(crate) fn pendant_density(mass: f64, rest: f64) -> f64 {
    12.0 * mass / (rest * rest)
}

/// The scene of a [`pendant`]: `top` before the cloth, `bend` in its table.
pub(crate) fn pendant_scene(top: &str, density: f64, bend: &str) -> String {
    format!(
        r#"
        {top}
        [[cloth]]
        mesh = "pendant.obj"
        material = {{ density = {density:?}, stretch = {{ model = "none" }}, bend = {{ model = "distance", {bend} }} }}
        pins = [ {{ vertices = [0, 1, 2] }} ]
        "#
    )
}
