//! Cloth that starts far from its rest shape and is sewn into it.

use muslin::Simulation;
use muslin::mesh::{Diagonals, Mesh, Seam};
use muslin::scene::parse;
use muslin::simulation::Phase;
use muslin::state::State;

const GAP: f64 = 0.2;

/// Two sheets of 0.3 × 0.3 m side by side, in m, whose seam runs halfway across the gap between them; and where they are flat.
fn apart() -> (Mesh, Mesh) {
    let half = Mesh::grid([0.3, 0.3], [6, 6], Diagonals::Alternating).expect("a grid");
    let flat = Mesh::grid([0.6, 0.3], [12, 6], Diagonals::Alternating).expect("a grid");
    let mut start = flat.clone();
    for p in &mut start.positions {
        // The vertices of the seam stay in the middle.
        p[0] += if p[0] > 1e-9 {
            0.5 * GAP
        } else if p[0] < -1e-9 {
            -0.5 * GAP
        } else {
            0.0
        };
    }
    let seam: Vec<u32> = (0..7).map(|row| row * 13 + 6).collect();
    start.seams = vec![Seam { name: "middle".to_owned(), sides: [seam.clone(), seam] }];
    assert!(half.vertex_count() == 49, "each has so many");
    (start, flat)
}

fn simulation(keys: &str, threads: usize) -> Result<Simulation, String> {
    let text = format!(
        "fps = 60\n{keys}\n[[cloth]]\nmesh = \"start.obj\"\nrest = \"flat.obj\"\nclose_by = 0.5\nsettle_by = 0.6\n"
    );
    let scene = parse(&text, &[]).into_result().map_err(|findings| findings.to_string())?;
    let (start, flat) = apart();
    let load = &mut |file: &str| Ok(if file == "start.obj" { start.clone() } else { flat.clone() });
    Simulation::new(&scene, threads, load).map_err(|error| error.to_string())
}

fn run(simulation: &mut Simulation, frames: usize) -> State {
    (0..frames).for_each(|_| assert!(simulation.advance().is_ok(), "no frame fails"));
    simulation.state().clone()
}

#[test]
fn both_sides_are_drawn_together_without_weight_and_then_let_down() -> Result<(), String> {
    let mut simulation = simulation("", 1)?;
    let before = simulation.diagnose();
    assert!(before.max_strain > 1.9, "the edges across begin three times as long: {}", before.max_strain);
    run(&mut simulation, 30);
    let sewn = simulation.diagnose();
    assert!(sewn.max_strain < 0.01, "{}", sewn.max_strain);
    assert!(sewn.max_speed < 0.05, "it arrives without a jerk: {}", sewn.max_speed);
    let mean = |s: &Simulation, axis: usize| {
        s.state().positions.iter().map(|x| x.to_array()[axis]).sum::<f64>() / s.state().positions.len() as f64
    };
    let [across, up] = [0, 1].map(|axis| mean(&simulation, axis).abs());
    assert!(across < 2e-3 && up == 0.0, "it neither wanders nor falls: {across} {up}");
    assert_eq!(simulation.phase(), Some(Phase::Settling), "until 0.6 s");
    run(&mut simulation, 6);
    assert!(simulation.phase().is_none() && mean(&simulation, 1) < -0.01, "it has its weight");
    // What sewing took is no energy from nowhere, and none is missing after it either.
    let error = simulation.diagnose().energy_error.unwrap_or(f64::NAN);
    assert!(error.abs() < 1e-9, "{error}");
    run(&mut simulation, 10);
    let error = simulation.diagnose().energy_error.unwrap_or(f64::NAN);
    assert!(error < 1e-4, "{error}");
    Ok(())
}

#[test]
fn every_solver_begins_with_the_same_sewn_cloth() -> Result<(), String> {
    let mut states = Vec::new();
    for kind in ["auto", "xpbd", "explicit", "newton", "vbd"] {
        let mut simulation = simulation(&format!("solver = {{ kind = \"{kind}\" }}"), 1)?;
        states.push(run(&mut simulation, 36));
        run(&mut simulation, 3);
    }
    assert!(states.windows(2).all(|pair| pair[0].positions == pair[1].positions), "all are sewn alike");
    Ok(())
}

#[test]
fn it_is_sewn_to_the_same_bits_by_any_number_of_threads_and_after_a_resume() -> Result<(), String> {
    let expected = run(&mut simulation("", 1)?, 40).hash();
    for threads in [2, 3] {
        assert_eq!(run(&mut simulation("", threads)?, 40).hash(), expected, "{threads} threads");
    }
    let mut again = simulation("", 1)?;
    run(&mut again, 40);
    again.reset();
    assert_eq!(run(&mut again, 40).hash(), expected, "from the start again");
    for frames in [10, 33, 38] {
        let state = run(&mut simulation("", 1)?, frames);
        let mut resumed = simulation("", 1)?;
        resumed.restore(state, frames).map_err(|error| error.to_string())?;
        assert_eq!(run(&mut resumed, 40 - frames).hash(), expected, "from frame {frames}");
    }
    Ok(())
}

#[test]
fn a_seam_keeps_its_vertices_through_welding() -> Result<(), String> {
    let (start, _) = apart();
    let welded = muslin::mesh::weld(&start, 0.0).mesh;
    assert_eq!(welded.seams, start.seams, "nothing was to be welded");
    let mut doubled = start.clone();
    doubled.positions.extend(start.positions.iter().copied());
    let shift = start.vertex_count() as u32;
    doubled.triangles.extend(start.triangles.iter().map(|t| t.map(|v| v + shift)));
    doubled.seams[0].sides[1].iter_mut().for_each(|v| *v += shift);
    assert_eq!(muslin::mesh::weld(&doubled, 0.0).mesh.seams, start.seams, "the second half is on the first");
    Ok(())
}
