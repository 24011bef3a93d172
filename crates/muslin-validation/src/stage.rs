//! Ground of the tests: scenes from text, meshes, chains, and equilibria.

use muslin::Simulation;
use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::scene::{Finding, Override, parse};
use muslin::solver::{self, StepReport};
use muslin::state::{SolverMemory, State};

use crate::Try;

/// A scene, ready to be stepped; every mesh file it names is `mesh`. Cloth touches cloth where the text says so, since most known answers are of a sheet without itself.
pub fn simulation(text: &str, mesh: &Mesh) -> Try<Simulation> {
    let alone = (!text.contains("self_contact")).then(|| Override::parse("contact.self_contact=false")).transpose()?;
    let outcome = parse(text, alone.as_slice());
    let said: Vec<String> = outcome.findings.iter().map(|f: &Finding| f.display("scene").to_string()).collect();
    let scene = outcome.scene.ok_or_else(|| format!("{}\n{text}", said.join("\n")))?;
    Simulation::new(&scene, 1, &mut |_| Ok(mesh.clone())).map_err(|e| format!("{e}\n{text}"))
}

/// Whether this version has a solver.
pub fn has_solver(name: &str) -> bool {
    solver::find(name).is_some()
}

/// Whether this version has a bend model.
pub fn has_bend(name: &str) -> bool {
    muslin::energy::BEND.iter().any(|kind| kind.entry.name == name)
}

/// Whether this version has a stretch model.
pub fn has_stretch(name: &str) -> bool {
    muslin::energy::STRETCH.iter().any(|kind| kind.entry.name == name)
}

/// Advances by one frame.
pub fn advance(simulation: &mut Simulation) -> Try<StepReport> {
    let frame = simulation.frame() + 1;
    simulation.advance().map_err(|e| format!("frame {frame}: {e}"))
}

/// Advances by a number of frames.
pub fn run(simulation: &mut Simulation, frames: usize) -> Try<()> {
    (0..frames).try_for_each(|_| advance(simulation).map(drop))
}

/// Replaces positions and velocities, and starts the clock again.
pub fn set_state(simulation: &mut Simulation, change: impl FnOnce(&mut State)) -> Try<()> {
    let mut state = simulation.state().clone();
    change(&mut state);
    state.time = 0.0;
    state.memory = SolverMemory::Nothing;
    simulation.restore(state, 0).map_err(|e| e.to_string())
}

/// Positions of the first cloth as the user numbers them.
pub fn positions(simulation: &Simulation) -> Vec<Vec3<f64>> {
    simulation.in_user_order(0, &simulation.state().positions).collect()
}

/// The number of a vertex of the first cloth in the state.
pub fn in_state(simulation: &Simulation, vertex: usize) -> usize {
    let cloth = &simulation.model().cloths[0];
    cloth.vertices.start + cloth.ordering.new_from_old[vertex] as usize
}

/// Kinetic, elastic and gravity energy together, in J.
pub fn total_energy(simulation: &Simulation) -> f64 {
    let d = simulation.diagnose();
    d.kinetic_energy + d.elastic_energy + d.gravity_energy
}

/// Σ m x / Σ m.
pub fn center(simulation: &Simulation) -> Vec3<f64> {
    let masses = &simulation.model().masses;
    let sum = simulation.state().positions.iter().zip(masses).fold(Vec3::ZERO, |sum, (&x, &m)| sum + x * m);
    sum * (1.0 / masses.iter().sum::<f64>())
}

/// Σ m v and Σ m x × v.
pub fn momenta(simulation: &Simulation) -> (Vec3<f64>, Vec3<f64>) {
    let (model, state) = (simulation.model(), simulation.state());
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for ((&m, &x), &v) in model.masses.iter().zip(&state.positions).zip(&state.velocities) {
        linear += v * m;
        angular += x.cross(v) * m;
    }
    (linear, angular)
}

/// The solver of static shapes at a part of the load: as precise as rounding lets it be at the whole, roughly on the way.
/// Its tolerance is the way of the last iteration, in m of a cloth of a metre.
pub fn static_solver(load: f64) -> String {
    let tolerance = if load == 1.0 { 1e-12 } else { 1e-5 };
    format!(r#"kind = "newton", substeps = 1, iterations = 300, tolerance = {tolerance:?}"#)
}

/// The world in which static shapes are solved. A step of one second in a world whose gravity is 10⁴ m/s² is a
/// thousand times longer than a free fall through the cloth, so a step is an equilibrium but for 10⁻⁴ of the distance to it.
pub const STATIC_GRAVITY: f64 = 1e4;

/// What is left of the forces at a static solution, relative to the weight of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual(pub f64);

/// Steps with velocities put to zero until no vertex has more than `tolerance` of its weight left as a force, or until
/// rounding keeps it from getting there; fails if ten times as much is left.
///
/// A step of one second from rest ends where ∇E − m g = −m v/h, up to what the solver left, which it reports as the
/// distance w h²‖∇φ‖: so the force that is left can be read off the velocity and the report.
pub fn relax(simulation: &mut Simulation, tolerance: f64) -> Try<Residual> {
    let gravity = simulation.model().gravity.norm();
    let mut best = f64::INFINITY;
    let mut since = 0;
    for _ in 0..40 {
        set_state(simulation, |state| state.velocities.fill(Vec3::ZERO))?;
        let report = advance(simulation)?;
        let inertia = simulation.state().velocities.iter().map(|v| v.norm()).fold(0.0, f64::max) / gravity;
        let left = inertia + report.residual / gravity;
        since = if left < 0.5 * best { 0 } else { since + 1 };
        best = best.min(left);
        if left <= tolerance || (since >= 4 && left <= 10.0 * tolerance) {
            return Ok(Residual(left));
        }
    }
    Err(format!("a force of {best:.1e} vertex weights was left after 40 steps"))
}

/// Loads a scene in ten steps: `scene(load)` is its text at a part of the load. Gives it at rest under the whole.
pub fn solve_static(mesh: &Mesh, scene: impl Fn(f64) -> String, tolerance: f64) -> Try<(Simulation, Residual)> {
    let mut state: Option<State> = None;
    for step in 1..10 {
        let mut current = simulation(&scene(f64::from(step) / 10.0), mesh)?;
        if let Some(state) = state.take() {
            set_state(&mut current, |s| s.positions = state.positions)?;
        }
        advance(&mut current)?;
        state = Some(current.state().clone());
    }
    let mut last = simulation(&scene(1.0), mesh)?;
    if let Some(state) = state {
        set_state(&mut last, |s| s.positions = state.positions)?;
    }
    let residual = relax(&mut last, tolerance)?;
    Ok((last, residual))
}

/// A cloth of four vertices and exactly one constraint: `distance` bending between 2 and 3, which hangs below it.
///
/// ```text
///      2          at (0, rest, 0)
///     ╱ ╲
///    0───1        at (∓rest/2, rest/2, 0)
///     ╲ ╱
///      3          at the origin; the others are pinned
/// ```
pub fn pendant(rest: f64) -> Mesh {
    let half = 0.5 * rest;
    Mesh {
        positions: vec![[-half, half, 0.0], [half, half, 0.0], [0.0, rest, 0.0], [0.0, 0.0, 0.0]],
        triangles: vec![[0, 1, 2], [0, 3, 1]],
        ..Mesh::default()
    }
}

/// The scene of a [`pendant`] whose vertex 3 weighs `mass`.
pub fn pendant_scene(top: &str, mass: f64, rest: f64, bend: &str) -> String {
    let density = 12.0 * mass / (rest * rest);
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

/// A chain of `links` springs that hangs straight down: vertices 3k of a band of triangles wound on a helix.
///
/// `distance` bending joins vertex i with vertex i + 3, so the band holds three chains side by side; two of them are pinned,
/// and the third is a chain of equal particles and nothing else. All triangles are congruent, and each particle has three.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The band.
    pub mesh: Mesh,
    /// Number of links.
    pub links: usize,
    /// Rest length of each, in m.
    pub length: f64,
}

impl Chain {
    /// A chain of links of `length`, in m.
    pub fn new(links: usize, length: f64) -> Self {
        let turn = std::f64::consts::TAU / 3.0;
        let point = |i: usize| {
            let (angle, y) = (turn * i as f64, -length * i as f64 / 3.0);
            // The first chain has its axis at the origin.
            [length * (libm::cos(angle) - 1.0), y, length * libm::sin(angle)]
        };
        // Vertices 3k are put exactly above each other.
        let exact = |i: usize| if i.is_multiple_of(3) { [0.0, -length * (i / 3) as f64, 0.0] } else { point(i) };
        let count = 3 * links + 3;
        let triangle = |i: usize| {
            let [a, b, c] = [i, i + 1, i + 2].map(|v| v as u32);
            if i.is_multiple_of(2) { [a, b, c] } else { [a, c, b] }
        };
        let mesh = Mesh {
            positions: (0..count).map(exact).collect(),
            triangles: (0..count - 2).map(triangle).collect(),
            ..Mesh::default()
        };
        Self { mesh, links, length }
    }

    /// The vertex of a node; node 0 is the top.
    pub fn vertex(&self, node: usize) -> usize {
        3 * node
    }

    /// Density, in kg/m², with which every particle weighs `mass`.
    pub fn density(&self, mass: f64) -> f64 {
        // A particle has a third of each of three congruent triangles.
        mass / self.mesh.area(1)
    }

    /// Its scene: `top` before the cloth, α of the links, and `pins` more than those of the helpers and the top.
    pub fn scene(&self, top: &str, mass: f64, bend: &str, pins: &str) -> String {
        let count = self.mesh.vertex_count();
        let helpers: Vec<String> = (0..count).filter(|i| i % 3 != 0).map(|i| i.to_string()).collect();
        format!(
            r#"
            {top}
            [[cloth]]
            mesh = "chain.obj"
            pins = [ {{ vertices = [0] }}, {{ vertices = [{}] }} {pins} ]
            [cloth.material]
            density = {:?}
            stretch = {{ model = "none" }}
            bend = {{ model = "distance", {bend} }}
            "#,
            helpers.join(", "),
            self.density(mass)
        )
    }

    /// Positions of the nodes.
    pub fn nodes(&self, simulation: &Simulation) -> Vec<Vec3<f64>> {
        let all = positions(simulation);
        (0..=self.links).map(|node| all[self.vertex(node)]).collect()
    }
}

/// A strip along x in the plane y = 0, `columns` cells from `-first` cells to the length 1, one cell across.
///
/// The cells are `slender` times longer than wide. Hinges along their diagonals have a part of (w/l)⁴ in the compliance,
/// 1e-4 where they are ten times longer; the strip then bends as a chain of plates.
pub fn narrow_strip(cells: u32, slender: f64) -> Mesh {
    let h = 1.0 / f64::from(cells);
    let half = 0.5 * h / slender;
    let columns = cells + 1;
    let mut mesh = Mesh::default();
    for i in 0..=columns {
        let x = f64::from(i as i32 - 1) * h;
        mesh.positions.extend([[x, 0.0, -half], [x, 0.0, half]]);
    }
    for i in 0..columns {
        let [a, b, c, d] = [2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3];
        // The diagonals alternate, so that the strip has no sense of rotation.
        mesh.triangles.extend(if i % 2 == 0 { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
    }
    mesh
}

/// The order of convergence that two errors show, the second at half the cell.
pub fn order(coarse: f64, fine: f64) -> f64 {
    libm::log(coarse.abs() / fine.abs()) / libm::log(2.0)
}

/// Eigenvalues of a symmetric matrix, rising (Jacobi's rotations).
pub fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..60 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let scale: f64 = (0..n).map(|i| a[i][i] * a[i][i]).sum();
        if off <= 1e-30 * scale {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn rotate(a: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let ratio = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = if ratio >= 0.0 { 1.0 } else { -1.0 } / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    for k in 0..a.len() {
        let (x, y) = (a[k][p], a[k][q]);
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for k in 0..a.len() {
        let (x, y) = (a[p][k], a[q][k]);
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
}

/// Random numbers that repeat.
pub type Random = muslin_testing::Random<Vec3<f64>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_equal_particles_and_one_spring_to_a_link() {
        let chain = Chain::new(5, 0.1);
        let text = chain.scene(r#"solver = { kind = "xpbd" }"#, 0.3, "compliance = 1e-3", "");
        let simulation = simulation(&text, &chain.mesh).expect("a scene");
        for node in 1..=5 {
            let mass = simulation.model().masses[in_state(&simulation, chain.vertex(node))];
            assert!((mass - 0.3).abs() < 1e-13, "node {node} weighs {mass}");
        }
        let nodes = chain.nodes(&simulation);
        assert!((nodes[5] - Vec3::new(0.0, -0.5, 0.0)).norm() < 1e-15, "{nodes:?}");
    }

    #[test]
    fn eigenvalues_of_a_chain_are_known() {
        let a: Vec<Vec<f64>> = (0..6_i32)
            .map(|i| {
                (0..6_i32)
                    .map(|j| {
                        if i == j {
                            2.0
                        } else if (i - j).abs() == 1 {
                            -1.0
                        } else {
                            0.0
                        }
                    })
                    .collect()
            })
            .collect();
        for (k, got) in eigenvalues(a).into_iter().enumerate() {
            let s = libm::sin(std::f64::consts::PI * (k + 1) as f64 / 14.0);
            assert!((got - 4.0 * s * s).abs() < 1e-13, "eigenvalue {k}: {got}");
        }
    }
}
