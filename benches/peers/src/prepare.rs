//! The workloads: what all peers are given, as Muslin itself has it.
//!
//! `prepare` writes arrays and `work.json`, `reference` the converged motion of the first half second: `explicit` at half its longest stable
//! step, as `muslin bench --quality` has it. A spring constant is k_e = Y (A₀ + A₁)/ℓ², and checked against the energy of Muslin's own springs.

use std::fs;
use std::path::Path;

use muslin::math::Vec3;
use muslin::scene::{Override, parse};
use muslin::solver::explicit;
use muslin::topology::{NONE, Topology};
use muslin::{Simulation, parameter::Settings};
use serde_json::Value;

use crate::Outcome;
use crate::work::{Body, Frames, REFERENCE_FRAMES, Spin, Work, save};

const FPS: f64 = 60.0;

/// A workload, as numbers.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    /// Vertices along a side.
    side: u32,
    frames: usize,
    /// Length of a side, in m.
    size: f64,
    /// Where its middle is, in m, and its turn about x, in degrees.
    middle: [f64; 3],
    turn: f64,
    density: f64,
    youngs: f64,
    bend: f64,
    /// Of all motion, in 1/s.
    damping: f64,
    thickness: f64,
    friction: f64,
    pins: Vec<u32>,
    bodies: Vec<Body>,
    wind: Option<[f64; 3]>,
    drag: f64,
    lift: f64,
    self_contact: bool,
    /// Of the stretch, in s: Muslin's own, 0 in the work.
    pub(crate) stretch_damping: f64,
}

impl Sheet {
    pub(crate) fn of(workload: &str, side: u32) -> Outcome<Self> {
        let edge = |size: f64| size / f64::from(side - 1);
        // A woven cotton, hung by two corners, T = 5 s.
        let hang = Self {
            side,
            frames: 300,
            size: 1.0,
            middle: [0.0; 3],
            turn: 0.0,
            density: 0.2,
            youngs: 25000.0,
            bend: 1e-5,
            damping: 0.0,
            thickness: 1e-3,
            friction: 0.3,
            pins: vec![0, side - 1],
            bodies: Vec::new(),
            wind: None,
            drag: 0.0,
            lift: 0.0,
            self_contact: false,
            stretch_damping: 0.0,
        };
        let fabric = |name: &str| -> Outcome<Self> {
            let fabric =
                muslin::material::fabric::FABRICS.iter().find(|fabric| fabric.name == name).ok_or("no such fabric")?;
            let youngs = fabric.stretch.ok_or("the fabric has no stiffness")?;
            Ok(Self { density: fabric.density, youngs, bend: fabric.bend, ..hang.clone() })
        };
        Ok(match workload {
            "hang" => hang,
            // Throughput only.
            "rows" => Self { frames: 60, ..hang },
            "stiffest" => fabric("stiff")?,
            "softest" => fabric("soft")?,
            // The scene `drape`, not turned, and without its damping: peers have other kinds of it.
            "drape" => Self {
                frames: 180,
                middle: [0.0, 0.63, 0.0],
                density: 0.1238,
                youngs: 1000.0,
                bend: 2e-4,
                thickness: 3e-3,
                pins: Vec::new(),
                bodies: vec![
                    Body::Sphere { center: [0.0, 0.3, 0.0], radius: 0.3, friction: 0.4, spin: None },
                    Body::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0], friction: 0.4 },
                ],
                ..hang
            },
            // The scene `flag`, square and without its pole.
            "flag" => Self {
                frames: 240,
                middle: [0.5, 1.2, 0.0],
                turn: 90.0,
                density: 0.1165,
                youngs: 2000.0,
                bend: 7.55e-6,
                pins: (0..side).map(|row| row * side).collect(),
                wind: Some([6.0, 0.0, 1.0]),
                drag: 1.0,
                lift: 0.4,
                ..hang
            },
            // The scene `twirl`; the thickness is in proportion to the edges, as there.
            "fold" => Self {
                frames: 210,
                size: 1.3,
                middle: [0.0, 0.54, 0.0],
                damping: 1.0,
                thickness: 5e-3 * 44.0 / 1.3 * edge(1.3),
                friction: 0.4,
                pins: Vec::new(),
                bodies: vec![
                    Body::Sphere {
                        center: [0.0, 0.28, 0.0],
                        radius: 0.25,
                        friction: 1.0,
                        spin: Some(Spin { axis: [0.0, 1.0, 0.0], start: 0.9, end: 3.2, degrees: 720.0 }),
                    },
                    Body::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0], friction: 1.0 },
                ],
                self_contact: true,
                ..fabric("medium")?
            },
            _ => return Err(format!("there is no workload {workload}").into()),
        })
    }

    /// The scene; `models` replace those of stretch and bend.
    fn scene(&self, solver: &str, models: &[Option<String>; 2]) -> String {
        let Self { size, middle, turn, density, youngs, bend, damping, thickness, friction, .. } = self;
        let cells = self.side - 1;
        let stretch_damping = self.stretch_damping;
        let own = [
            format!("{{ model = \"spring\", stiffness = {youngs:?}, damping = {stretch_damping:?} }}"),
            format!("{{ model = \"isometric\", stiffness = {bend:?} }}"),
        ];
        let [stretch, bend] = [0, 1].map(|i| models[i].as_ref().unwrap_or(&own[i]));
        let mut text = format!("fps = {FPS:?}\nsolver = {{ {solver} }}\n");
        if let Some(velocity) = self.wind {
            let (drag, lift) = (self.drag, self.lift);
            text += &format!("wind = {{ velocity = {velocity:?}, drag = {drag:?}, lift = {lift:?} }}\n");
        }
        text += &format!(
            "[contact]\nself_contact = {}\nthickness = {thickness:?}\nfriction = {friction:?}\n\
             [[cloth]]\ngrid = {{ size = [{size:?}, {size:?}], cells = [{cells}, {cells}] }}\n\
             translate = {middle:?}\nrotate = [{turn:?}, 0.0, 0.0]\n",
            self.self_contact
        );
        if !self.pins.is_empty() {
            text += &format!("pins = [{{ vertices = {:?} }}]\n", self.pins);
        }
        text += &format!(
            "[cloth.material]\ndensity = {density:?}\ndamping = {damping:?}\nstretch = {stretch}\nbend = {bend}\n"
        );
        for body in &self.bodies {
            text += "[[collider]]\n";
            match body {
                Body::Sphere { center, radius, friction, spin } => {
                    text +=
                        &format!("sphere = {{ center = {center:?}, radius = {radius:?} }}\nfriction = {friction:?}\n");
                    if let Some(Spin { axis, start, end, degrees }) = spin {
                        text += &format!(
                            "axis = {axis:?}\nease = \"smooth\"\npath = [{{ time = {start:?} }}, {{ time = {end:?}, turn = {degrees:?} }}]\n"
                        );
                    }
                }
                Body::Plane { point, normal, friction } => {
                    text += &format!("plane = {{ point = {point:?}, normal = {normal:?} }}\nfriction = {friction:?}\n");
                }
            }
        }
        text
    }
}

/// The workload, ready to be stepped.
pub(crate) fn simulation(
    sheet: &Sheet,
    solver: &str,
    models: &[Option<String>; 2],
    threads: usize,
) -> Outcome<Simulation> {
    let text = sheet.scene(solver, models);
    let outcome = parse(&text, &[] as &[Override]);
    let scene = outcome.scene.ok_or_else(|| format!("{:?}\n{text}", outcome.findings))?;
    Ok(Simulation::new(&scene, threads, &mut |file| Err(format!("{file} is not needed")))?)
}

/// A step that is stable for every workload, to begin with: it is only measured, not taken.
const PROBE: f64 = 1e-5;

fn stable_step(simulation: &Simulation) -> Outcome<f64> {
    let (model, terms) = (simulation.model(), simulation.terms());
    explicit::stable_step(model, terms, &Settings::default(), PROBE).ok_or_else(|| "no stable step".into())
}

pub(crate) fn prepare(workload: &str, side: u32, out: &Path) -> Outcome<()> {
    let sheet = Sheet::of(workload, side)?;
    let simulation = simulation(&sheet, "kind = \"explicit\"", &[None, None], 1)?;
    let model = simulation.model();
    let cloth = &model.cloths[0];
    let mesh = &cloth.mesh;
    let vertices: Vec<Vec3<f64>> = simulation.in_user_order(0, &model.initial_positions).collect();
    let masses: Vec<f64> = simulation.in_user_order(0, &model.masses).collect();
    let topology = Topology::build(mesh);
    let stiffness = edge_stiffness(&sheet, &topology, &simulation)?;

    fs::create_dir_all(out)?;
    let out = out.canonicalize()?;
    let path = |name: &str| out.join(format!("{name}.npy"));
    let doubles = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let indices = |numbers: Vec<u32>| numbers.into_iter().flat_map(|i| (i as i32).to_le_bytes());
    let flat: Vec<f64> = vertices.iter().flat_map(|x| x.to_array()).collect();
    save(&path("vertices"), "<f8", &[vertices.len(), 3], doubles(&flat))?;
    save(&path("masses"), "<f8", &[masses.len()], doubles(&masses))?;
    save(&path("edge_stiffness"), "<f8", &[stiffness.len()], doubles(&stiffness))?;
    let triangles = mesh.triangles.iter().flatten().copied().collect();
    save(&path("triangles"), "<i4", &[mesh.triangle_count(), 3], indices(triangles))?;
    let edges = topology.edges.iter().flatten().copied().collect();
    save(&path("edges"), "<i4", &[topology.edges.len(), 2], indices(edges))?;
    let hinges = topology.hinges.iter().flat_map(|hinge| hinge.vertices).collect();
    save(&path("hinges"), "<i4", &[topology.hinges.len(), 4], indices(hinges))?;
    let name = |name: &str| path(name).display().to_string();
    let work = Work {
        workload: workload.to_owned(),
        side,
        fps: FPS,
        frames: sheet.frames,
        budget_s: 0.0,
        threads: 1,
        gravity: model.gravity.to_array(),
        vertices: name("vertices"),
        triangles: name("triangles"),
        masses: name("masses"),
        edges: name("edges"),
        edge_stiffness: name("edge_stiffness"),
        hinges: Some(name("hinges")),
        youngs: sheet.youngs,
        bend: sheet.bend,
        density: sheet.density,
        damping: sheet.damping,
        thickness: sheet.thickness,
        friction: sheet.friction,
        pins: sheet.pins.clone(),
        bodies: sheet.bodies.clone(),
        wind: sheet.wind,
        drag: sheet.drag,
        lift: sheet.lift,
        air_density: 1.225,
        self_contact: sheet.self_contact,
        stable_step: stable_step(&simulation)?,
        reference: None,
        label: String::new(),
        settings: Value::Null,
    };
    let mut keys = serde_json::to_value(&work)?;
    // What the runner says of each run.
    for key in ["budget_s", "label", "settings"] {
        keys.as_object_mut().ok_or("an object")?.remove(key);
    }
    Ok(fs::write(out.join("work.json"), keys.to_string() + "\n")?)
}

/// k_e of all edges, in N/m.
fn edge_stiffness(sheet: &Sheet, topology: &Topology, simulation: &Simulation) -> Outcome<Vec<f64>> {
    let model = simulation.model();
    let mesh = &model.cloths[0].mesh;
    let point = |v: u32| Vec3::from(mesh.positions[v as usize]);
    let constants = topology.edges.iter().zip(&topology.edge_triangles).map(|(&[a, b], triangles)| {
        let area: f64 = triangles.iter().filter(|&&t| t != NONE).map(|&t| mesh.area(t as usize)).sum();
        sheet.youngs * area / (point(b) - point(a)).norm_squared()
    });
    let constants: Vec<f64> = constants.collect();
    // A stretch that differs from edge to edge must have the energy that Muslin's springs have.
    let bent = |x: Vec3<f64>| Vec3::from([1.1 * x.x + 0.2 * x.x * x.x, x.y, 0.9 * x.z + 0.3 * x.x * x.z]);
    let energy: f64 = topology
        .edges
        .iter()
        .zip(&constants)
        .map(|(&[a, b], stiffness)| {
            let change = (bent(point(b)) - bent(point(a))).norm() - (point(b) - point(a)).norm();
            0.5 * stiffness * change * change
        })
        .sum();
    let mut positions = model.initial_positions.clone();
    for (old, &new) in model.cloths[0].ordering.new_from_old.iter().enumerate() {
        positions[new as usize] = bent(point(old as u32));
    }
    let own = simulation.terms().first().ok_or("no springs")?.value(&positions);
    if (energy / own - 1.0).abs() > 1e-9 {
        return Err(format!("springs have {energy} J here and {own} J in Muslin").into());
    }
    Ok(constants)
}

/// The converged motion of the first half second, with its start.
pub(crate) fn reference(workload: &str, side: u32, out: &Path) -> Outcome<()> {
    let sheet = Sheet::of(workload, side)?;
    let coarse = simulation(&sheet, "kind = \"explicit\"", &[None, None], 1)?;
    let substeps = (2.0 / FPS / stable_step(&coarse)?).ceil();
    let mut simulation = simulation(&sheet, &format!("kind = \"explicit\", substeps = {substeps}"), &[None, None], 1)?;
    fs::create_dir_all(out)?;
    let mut frames = Frames::create(&out.join("positions.npy"))?;
    let mut positions = Vec::new();
    for frame in 0..=REFERENCE_FRAMES {
        if frame > 0 {
            simulation.advance()?;
        }
        simulation.positions(0, &mut positions);
        frames.push(&positions)?;
    }
    frames.close()
}
