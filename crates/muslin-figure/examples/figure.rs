//! Makes the figure, says what it is like, and writes it as OBJ: `cargo run --release -p muslin-figure --example figure -- FOLDER`.
//!
//! Into the folder go the rest pose and some poses of every motion.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use muslin_figure::{Figure, Joint, Motion, girth};

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
    let folder = std::env::args().nth(1).ok_or("into which folder? figure FOLDER")?;
    let start = Instant::now();
    let figure = Figure::new();
    let took = start.elapsed();
    println!(
        "{} vertices, {} triangles in {:.0} ms",
        figure.rest_positions().len(),
        figure.triangles().len(),
        took.as_secs_f64() * 1e3
    );
    for (name, origin, normal) in places(&figure) {
        let around = girth(figure.rest_positions(), figure.triangles(), origin, normal);
        println!("{name:>10}: {:5.1} cm", around.unwrap_or(f64::NAN) * 100.0);
    }
    std::fs::create_dir_all(&folder)?;
    let write = |name: &str, positions: &[[f64; 3]]| {
        std::fs::write(Path::new(&folder).join(format!("{name}.obj")), obj(positions, figure.triangles()))
    };
    write("figure", figure.rest_positions())?;
    for (name, motion, times) in [
        ("walk", Motion::WALK, &[0.5, 1.1, 1.375, 1.65, 1.925][..]),
        ("turn", Motion::TURN, &[1.0]),
        ("arms_raised", Motion::ARMS_RAISED, &[1.0, 2.0]),
    ] {
        for time in times {
            write(&format!("{name}_{time}"), &figure.positions(&motion.pose(&figure, *time)))?;
        }
    }
    Ok(())
}

/// Where girths are taken, and across what.
fn places(figure: &Figure) -> Vec<(&'static str, [f64; 3], [f64; 3])> {
    let (joints, levels) = (figure.rest_joints(), figure.landmarks());
    let across = |from: Joint, to: Joint, share: f64| {
        let [a, b] = [from, to].map(|joint| joints[joint.index()]);
        let along = [0, 1, 2].map(|k| b[k] - a[k]);
        ([0, 1, 2].map(|k| a[k] + share * along[k]), along)
    };
    let level = |y: f64, x: f64| ([x, y, 0.0], [0.0, 1.0, 0.0]);
    let (knee, size) = (joints[Joint::KneeLeft.index()], figure.measures().height / 1.75);
    [
        ("chest", level(levels.chest, 0.0)),
        ("waist", level(levels.waist, 0.0)),
        ("hip", level(levels.hip, 0.0)),
        ("neck", across(Joint::Neck, Joint::Head, 0.5)),
        ("upper arm", across(Joint::ShoulderLeft, Joint::ElbowLeft, 0.5)),
        ("wrist", across(Joint::ElbowLeft, Joint::WristLeft, 0.96)),
        ("thigh", level(0.74 * size, knee[0])),
        ("knee", level(knee[1], knee[0])),
        ("calf", level(0.33 * size, knee[0])),
        ("ankle", level(0.11 * size, knee[0])),
    ]
    .map(|(name, (origin, normal))| (name, origin, normal))
    .to_vec()
}

fn obj(positions: &[[f64; 3]], triangles: &[[u32; 3]]) -> String {
    let vertices = positions.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(|vertex| vertex + 1);
        format!("f {a} {b} {c}\n")
    });
    vertices.chain(faces).collect()
}
