//! The sample as it ended, and what holds it.

use std::f64::consts::TAU;

use muslin_lab::cusick::DISC;
use muslin_lab::{Cantilever, Cusick, Shear, Tensile, cantilever};
use muslin_render::{Bounds, Camera, Cloth, Picture, Renderer, Scene, Solid, cloth_color};

use super::Done;

const SIDE: usize = 800;
/// Samples along each side of a pixel.
const SAMPLES: usize = 3;
/// Of the lowest point over the ground, in m.
const LIFT: f64 = 1e-3;
/// Sides of a disc.
const SIDES: u32 = 96;

/// A mesh that is drawn.
type Surface = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// Draws the sample.
pub(super) fn draw(done: &Done) -> Result<Picture, String> {
    match done {
        Done::Cantilever(done) => strip(done),
        Done::Cusick(done) => drape(done),
        Done::Tensile(done) => strips(done),
        Done::Shear(done) => square(done),
    }
}

/// Two pictures of one height, the second to the right.
pub(super) fn beside(left: &Picture, right: &Picture) -> Picture {
    let mut both = Picture::new(left.width + right.width, left.height.max(right.height));
    for (picture, start) in [(left, 0), (right, left.width)] {
        for (y, row) in picture.pixels.chunks_exact(picture.width.max(1)).enumerate() {
            let at = y * both.width + start;
            both.pixels[at..at + row.len()].copy_from_slice(row);
        }
    }
    both
}

/// The strip over its edge, seen from the side.
fn strip(done: &Cantilever) -> Result<Picture, String> {
    let x = single(&done.positions, [0.0; 3]);
    let (width, room) = (cantilever::STRIP[0] as f32, done.overhang as f32);
    let ledge = cuboid([-0.8 * width, -1.1 * room, -1.2 * room], [0.8 * width, -1e-4, 0.0]);
    render(vec![cloth(&x, &done.mesh.triangles, 0)], &[ledge], [1.0, 0.25, 0.35], None)
}

/// The ring on its disc, from above.
fn drape(done: &Cusick) -> Result<Picture, String> {
    let x = single(&done.positions, [0.0; 3]);
    let camera = Camera { eye: [0.0, 1.3, 0.0], target: [0.0, 0.0, 0.0], up: [0.0, 0.0, -1.0], fov_degrees: 16.0 };
    let smooth = Cloth { wires: false, ..cloth(&x, &done.mesh.triangles, 0) };
    render(vec![smooth], &[disc(DISC as f32, 1e-3)], [0.0, 1.0, 0.0], Some(camera))
}

/// The three strips at their last strain, side by side.
fn strips(done: &Tensile) -> Result<Picture, String> {
    let apart = 0.08;
    let placed =
        done.curves.iter().enumerate().map(|(i, curve)| single(&curve.positions, [apart * i as f64, 0.0, 0.0]));
    let placed: Vec<Vec<[f32; 3]>> = placed.collect();
    let cloths = placed.iter().enumerate().map(|(i, x)| cloth(x, &done.mesh.triangles, i)).collect();
    render(cloths, &[], [0.0, 1.0, 0.25], None)
}

/// The square in its frame.
fn square(done: &Shear) -> Result<Picture, String> {
    let x = single(&done.positions, [0.0; 3]);
    render(vec![cloth(&x, &done.mesh.triangles, 0)], &[], [0.0, 1.0, 0.25], None)
}

fn cloth<'a>(positions: &'a [[f32; 3]], triangles: &'a [[u32; 3]], index: usize) -> Cloth<'a> {
    Cloth { color: cloth_color(index), wires: true, ..Cloth::new(positions, triangles) }
}

/// Draws cloths and solids from a direction, or with a camera.
fn render(
    cloths: Vec<Cloth<'_>>,
    solids: &[Surface],
    direction: [f64; 3],
    camera: Option<Camera>,
) -> Result<Picture, String> {
    let solids: Vec<Solid<'_>> =
        solids.iter().map(|(positions, triangles)| Solid::Mesh { positions, triangles }).collect();
    let mut scene = Scene { cloths, solids, ..Scene::default() };
    let bounds = Bounds::of_scene(&scene);
    scene.ground = Some(bounds.min[1] - LIFT);
    scene.camera = Some(camera.unwrap_or_else(|| bounds.camera(direction, 1.0)));
    let mut renderer = Renderer::new(SIDE, SIDE, SAMPLES).map_err(|error| error.to_string())?;
    renderer.render(&scene).cloned().map_err(|error| error.to_string())
}

fn single(positions: &[[f64; 3]], offset: [f64; 3]) -> Vec<[f32; 3]> {
    positions.iter().map(|p| std::array::from_fn(|k| (p[k] + offset[k]) as f32)).collect()
}

/// A box.
fn cuboid(min: [f32; 3], max: [f32; 3]) -> Surface {
    let corner = |i: u32| std::array::from_fn(|k| if i & (1 << k) == 0 { min[k] } else { max[k] });
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    ((0..8).map(corner).collect(), faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

/// A disc about the y axis, from below y = 0 to `top`.
fn disc(radius: f32, top: f32) -> Surface {
    let mut positions = vec![[0.0, top, 0.0]];
    for y in [top, -0.02] {
        positions.extend((0..SIDES).map(|i| {
            let angle = TAU * f64::from(i) / f64::from(SIDES);
            [radius * libm::cos(angle) as f32, y, radius * libm::sin(angle) as f32]
        }));
    }
    let mut triangles = Vec::new();
    for i in 0..SIDES {
        let (a, b) = (1 + i, 1 + (i + 1) % SIDES);
        triangles.extend([[0, b, a], [a, b, b + SIDES], [a, b + SIDES, a + SIDES]]);
    }
    (positions, triangles)
}
