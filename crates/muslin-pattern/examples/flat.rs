//! Reads a pattern, meshes it, and says what came out: `cargo run --release -p muslin-pattern --example flat -- PATTERN [EDGE_LENGTH [FOLDER]]`.
//!
//! Into the folder go the picture of the flat pattern and the unsewn garment as OBJ.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use muslin_pattern::{Garment, Limits, Pattern};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which pattern? flat PATTERN [EDGE_LENGTH [FOLDER]]")?;
    let edge_length = arguments.next().map_or(Ok(0.01), |length| length.parse())?;
    let text = std::fs::read_to_string(&file)?;
    let reading = Pattern::from_json(&text, &Limits { gather: 3.0 })?;
    for warning in &reading.warnings {
        println!("warning: {warning}");
    }
    let start = Instant::now();
    let mesh = reading.pattern.mesh(edge_length)?;
    let took = start.elapsed();
    for (panel, flat) in reading.pattern.panels().iter().zip(&mesh.panels) {
        let quality = flat.quality();
        println!(
            "{:>16}: {:6} vertices, {:6} triangles, smallest angle {:4.1}° (mean {:4.1}°), sides {:.2} to {:.2} cm (mean {:.2})",
            panel.name(),
            flat.points.len(),
            flat.triangles.len(),
            quality.min_angle.to_degrees(),
            quality.mean_min_angle.to_degrees(),
            quality.min_length * 100.0,
            quality.max_length * 100.0,
            quality.mean_length * 100.0,
        );
    }
    let count: usize = mesh.panels.iter().map(|panel| panel.points.len()).sum();
    println!("{count} vertices and {} seams in {:.0} ms", mesh.seams.len(), took.as_secs_f64() * 1e3);
    let Some(folder) = arguments.next() else { return Ok(()) };
    std::fs::create_dir_all(&folder)?;
    let name = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = Path::new(&folder);
    std::fs::write(folder.join(format!("{name}.svg")), reading.pattern.to_svg())?;
    std::fs::write(folder.join(format!("{name}.obj")), obj(&reading.pattern.assemble(&mesh)))?;
    Ok(())
}

/// The garment with uv and a group for each panel.
fn obj(garment: &Garment) -> String {
    let mut text = String::new();
    let line = |text: &mut String, word: &str, numbers: &[f64]| {
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        *text += &format!("{word} {}\n", numbers.join(" "));
    };
    garment.positions.iter().for_each(|position| line(&mut text, "v", position));
    garment.uv.iter().for_each(|uv| line(&mut text, "vt", uv));
    for panel in &garment.panels {
        text += &format!("g {}\n", panel.name.replace(char::is_whitespace, "_"));
        for triangle in panel.triangles.clone() {
            let [a, b, c] = garment.triangles[triangle as usize].map(|vertex| vertex + 1);
            text += &format!("f {a}/{a} {b}/{b} {c}/{c}\n");
        }
    }
    text
}
