//! Measures the time of a frame: a hanging sheet of 64 × 64 cells, a ball and the ground.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p muslin-render --example frame_time -- [CELLS] [SAMPLES] [FRAMES] [CLIP]`
//!
//! With a path for a clip, the frames are written to it as well.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use muslin::contact::Sphere;
use muslin_render::video::VideoWriter;
use muslin_render::{Cloth, Renderer, Scene};

/// A sheet that hangs and sways.
#[path = "../tests/it/surfaces.rs"]
mod surfaces;
use surfaces::Surface;

fn sheet(cells: usize, time: f64) -> Vec<[f32; 3]> {
    let at = |i: usize| i as f64 / cells as f64;
    let vertex = |index: usize| {
        let (u, down) = (at(index % (cells + 1)), at(index / (cells + 1)));
        let wave = libm::sin(9.0 * u + 2.0 * down + 4.0 * time) + 0.4 * libm::sin(17.0 * u - 3.0 * down - 3.0 * time);
        [u - 0.5, 1.2 - down, 0.25 + 0.06 * wave * (0.2 + down)].map(|c| c as f32)
    };
    (0..(cells + 1) * (cells + 1)).map(vertex).collect()
}

fn triangles(cells: usize) -> Vec<[u32; 3]> {
    let at = |i: usize, j: usize| (j * (cells + 1) + i) as u32;
    let quad = |q: usize| {
        let (i, j) = (q % cells, q / cells);
        [[at(i, j), at(i, j + 1), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i + 1, j)]]
    };
    (0..cells * cells).flat_map(quad).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let cells: usize = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let samples: usize = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let frames: usize = arguments.next().map_or(Ok(60), |text| text.parse())?;
    let mut renderer = Renderer::new(1280, 720, samples)?;
    let mut clip = arguments.next().map(|path| VideoWriter::create(path, 1280, 720, 30.0)).transpose()?;
    let triangles = triangles(cells);
    let ball = Surface::of(&Sphere { center: [0.0, 0.3, -0.25], radius: 0.3 });
    let (mut render_ms, mut encode_ms) = (Vec::new(), Vec::new());
    let mut camera = None;
    for frame in 0..frames {
        let positions = sheet(cells, frame as f64 / 30.0);
        let mut scene = Scene {
            cloths: vec![Cloth::new(&positions, &triangles)],
            solids: vec![ball.solid()],
            ground: Some(0.0),
            camera,
            ..Scene::default()
        };
        scene.camera = Some(*camera.get_or_insert_with(|| renderer.framing(&scene)));
        let start = Instant::now();
        let picture = renderer.render(&scene)?;
        render_ms.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(clip) = &mut clip {
            let start = Instant::now();
            clip.push(picture)?;
            encode_ms.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    if let Some(clip) = clip {
        clip.finish()?;
    }
    let mut out = std::io::stdout().lock();
    for (name, mut times) in [("render", render_ms), ("encode", encode_ms)] {
        times.sort_by(f64::total_cmp);
        if let (Some(best), Some(median)) = (times.first(), times.get(times.len() / 2)) {
            writeln!(out, "{name}: {median:.1} ms a frame (median of {frames}, best {best:.1})")?;
        }
    }
    Ok(())
}
