//! Draws a cloth that was modelled, not simulated, as a sample of what the renderer does.
//!
//! `cargo run --release -p muslin-render --example sample_picture -- OUT.png [drape|behind|bare|edge|marked|plane]`

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};

use muslin::contact::{Capsule, Cuboid, Sphere};
use muslin_render::{Bounds, Cloth, Picture, Renderer, Scene, Solid, cloth_color};

/// A square lattice of vertices.
#[path = "../tests/it/surfaces.rs"]
mod surfaces;
use surfaces::Surface;

struct Sheet {
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    uv: Vec<[[f32; 2]; 3]>,
}

impl Sheet {
    /// A square of `cells`² cells, its vertices where `shape` takes (u, v) in [−1, 1]².
    fn new(cells: usize, shape: impl Fn(f64, f64) -> [f64; 3]) -> Self {
        let at = |i: usize| 2.0 * i as f64 / cells as f64 - 1.0;
        let mut sheet = Self { positions: Vec::new(), triangles: Vec::new(), uv: Vec::new() };
        for j in 0..=cells {
            for i in 0..=cells {
                sheet.positions.push(shape(at(i), at(j)).map(|c| c as f32));
            }
        }
        for j in 0..cells {
            for i in 0..cells {
                let [a, b] = [(i, j), (i + 1, j)];
                let [c, d] = [(i + 1, j + 1), (i, j + 1)];
                let quad = if (i + j) % 2 == 0 { [[a, c, b], [a, d, c]] } else { [[a, d, b], [b, d, c]] };
                for triangle in quad {
                    sheet.triangles.push(triangle.map(|(i, j)| (j * (cells + 1) + i) as u32));
                    sheet.uv.push(triangle.map(|(i, j)| [i as f32 / cells as f32, j as f32 / cells as f32]));
                }
            }
        }
        sheet
    }

    fn cloth(&self, color: usize) -> Cloth<'_> {
        Cloth { uv: Some(&self.uv), color: cloth_color(color), ..Cloth::new(&self.positions, &self.triangles) }
    }
}

/// A tablecloth of half side 0.68 over a ball of radius 0.3 at the height 0.55: it follows the ball almost to the
/// equator, then hangs in folds.
fn draped(u: f64, v: f64) -> [f64; 3] {
    let (radius, top) = (0.303, 0.55);
    let (x, z) = (0.68 * u, 0.68 * v);
    let arc = (x * x + z * z).sqrt();
    let around = libm::atan2(z, x);
    let contact = 1.18; // polar angle at which it leaves the ball
    let free = (arc - radius * contact).max(0.0);
    let polar = (arc / radius).min(contact);
    // Folds grow out of the contact line; they share the excess cloth unevenly, as real ones do.
    let wave = libm::sin(8.0 * around + 0.5 * libm::sin(3.0 * around + 0.7)) + 0.3 * libm::sin(5.0 * around + 1.9);
    let growth = 1.0 - libm::exp(-free / 0.16);
    let fold = 0.075 * growth * wave;
    let sway = 0.055 * growth * libm::cos(8.0 * around + 0.5 * libm::sin(3.0 * around + 0.7));
    let out = radius * libm::sin(polar) + 0.12 * growth + fold;
    let drop = free * (1.0 - 0.12 * growth);
    let y = top + radius * libm::cos(polar) - drop;
    let turn = around + sway / out.max(0.1);
    let point = [out * libm::cos(turn), y, out * libm::sin(turn)];
    // Where a fold would cut into the ball, it lies on it.
    let offset = [point[0], point[1] - top, point[2]];
    let distance = (offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]).sqrt();
    let outwards = (radius / distance.max(1e-9)).max(1.0);
    [offset[0] * outwards, top + offset[1] * outwards, offset[2] * outwards]
}

/// A sheet of 1 m that hangs by its upper edge.
fn hanging(u: f64, v: f64) -> [f64; 3] {
    let down = 0.5 * (v + 1.0);
    let wave = libm::sin(2.5 * TAU * 0.5 * u + 0.8 * down) + 0.35 * libm::sin(7.0 * u - 1.5 * down + 1.0);
    [0.5 * u * (1.0 - 0.06 * down), 1.1 - down, 0.06 * wave * (0.35 + 0.65 * down)]
}

fn draw(view: &str) -> Result<Picture, Box<dyn Error>> {
    let mut renderer = Renderer::new(1280, 720, 4)?;
    let aspect = renderer.aspect();
    let ball = Surface::of(&Sphere { center: [0.0, 0.55, 0.0], radius: 0.3 });
    let post = Surface::of(&Capsule { a: [0.0, 0.05, 0.0], b: [0.0, 0.4, 0.0], radius: 0.05 });
    let block = Surface::of(&Cuboid { center: [0.74, 0.13, 0.02], size: [0.26; 3], rotate: [0.0, 28.0, 0.0] });
    let pill = Surface::of(&Capsule { a: [-0.80, 0.09, 0.22], b: [-0.60, 0.09, 0.44], radius: 0.09 });
    let small = Surface::of(&Sphere { center: [0.52, 0.085, 0.42], radius: 0.085 });
    let drape = Sheet::new(96, draped);
    let curtain = Sheet::new(64, hanging);
    let flat = Sheet::new(32, |u, v| [0.5 * u, 0.5, 0.5 * v]);
    let marked: Vec<u32> = (900..960).collect();
    let mut scene = Scene { ground: Some(0.0), ..Scene::default() };
    match view {
        "drape" => {
            scene.cloths = vec![drape.cloth(0)];
            scene.solids = [&ball, &post, &block, &pill, &small].map(Surface::solid).into();
        }
        "behind" => {
            scene.cloths = vec![curtain.cloth(1)];
            scene.camera = Some(Bounds::of_scene(&scene).camera([0.4, 0.25, -1.0], aspect));
        }
        "bare" => {
            scene.ground = None;
            scene.cloths = vec![Cloth { uv: None, ..curtain.cloth(3) }];
        }
        "edge" => {
            scene.cloths = vec![flat.cloth(2)];
            scene.camera = Some(Bounds::of_scene(&scene).camera([0.3, 0.012, 1.0], aspect));
        }
        "marked" => {
            scene.cloths = vec![Cloth { wires: true, uv: None, marked: &marked, ..curtain.cloth(5) }];
        }
        "plane" => {
            let slope = libm::tan(FRAC_PI_2 / 5.0);
            scene.ground = None;
            scene.cloths = vec![drape.cloth(4)];
            scene.solids = vec![ball.solid(), Solid::Plane { point: [0.0, -0.1, -0.6], normal: [0.0, 1.0, slope] }];
        }
        _ => return Err(format!("{view} is no view: choose drape, behind, bare, edge, marked or plane").into()),
    }
    Ok(renderer.render(&scene)?.clone())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give the path of the PNG file to write")?;
    let view = arguments.next().unwrap_or_else(|| "drape".to_owned());
    draw(&view)?.write_png(path)?;
    Ok(())
}
