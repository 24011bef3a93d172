//! `auto` and what it is made of: long-range constraints, tethers and the limit of strain.

use muslin::Simulation;
use muslin::mesh::{Diagonals, Mesh};
use muslin::parallel::Team;
use muslin::state::{SolverMemory, StepBefore};

use crate::common::{advance, run, simulation, simulation_of, simulation_on, simulation_with};

/// A sheet of 1 m² and 25 kN/m that is let go while two of its corners are held.
fn sheet(cells: u32, solver: &str) -> String {
    format!(
        "fps = 60\n\
         solver = {{ {solver} }}\n\
         [[cloth]]\n\
         grid = {{ size = [1, 1], cells = [{cells}, {cells}] }}\n\
         pins = [{{ vertices = [0, {cells}] }}]\n\
         material = {{ density = 0.2, stretch = {{ stiffness = 25000 }}, bend = {{ stiffness = 1e-5 }} }}\n"
    )
}

/// Root mean square distance of two runs, in m.
fn distance(a: &Simulation, b: &Simulation) -> f64 {
    let pairs = a.state().positions.iter().zip(&b.state().positions);
    let sum: f64 = pairs.map(|(a, b)| (*a - *b).norm_squared()).sum();
    (sum / a.state().positions.len() as f64).sqrt()
}

/// The largest distance in the first half second of a run to explicit steps far below the limit of stability.
fn distance_to_converged(cells: u32, solver: &str) -> f64 {
    let mut run = simulation(&sheet(cells, solver));
    let mut converged = simulation(&sheet(cells, &format!(r#"kind = "explicit", substeps = {}"#, 16 * cells)));
    let mut largest = 0.0_f64;
    for _ in 0..30 {
        advance(&mut run);
        advance(&mut converged);
        largest = largest.max(distance(&run, &converged));
    }
    largest
}

#[test]
fn its_motion_is_as_near_as_was_asked() {
    for (cells, motion) in [(24, 0.02), (24, 0.01), (48, 0.02)] {
        let found = distance_to_converged(cells, &format!(r#"kind = "auto", quality = {{ motion = {motion} }}"#));
        assert!(found < motion, "{cells} cells: {found} m instead of {motion}");
        assert!(found > 0.05 * motion, "{cells} cells: {found} m is more than was asked for, and costs more");
    }
}

/// What the long-range constraints and tethers are for: with the same steps, the sheet without them is several times as far off.
#[test]
fn ropes_and_tethers_bring_a_sweep_nearer_to_the_converged_motion() {
    let far = distance_to_converged(48, r#"kind = "xpbd", substeps = 24"#);
    let near = distance_to_converged(48, r#"kind = "xpbd", substeps = 24, long_range = "on""#);
    assert!(near < 0.2 * far, "{near} m with them, {far} m without");
}

#[test]
fn its_estimate_is_near_the_truth() {
    let solver = r#"kind = "auto""#;
    let truth = distance_to_converged(32, solver);
    let mut auto = simulation(&sheet(32, solver));
    let report = (0..30).map(|_| advance(&mut auto)).last().and_then(|report| report.quality);
    let estimate = report.and_then(|quality| quality.motion).expect("the first window has a twin");
    assert!((0.4..2.5).contains(&(estimate / truth)), "estimated {estimate}, found {truth}");
}

#[test]
fn it_holds_the_strain_but_for_what_the_load_strains() {
    let mut auto = simulation(&sheet(32, r#"kind = "auto", quality = { max_strain = 0.01 }"#));
    let (mut strained, mut by_load) = (0, 0);
    for _ in 0..120 {
        let is_by_load = advance(&mut auto).quality.is_some_and(|quality| quality.strained_by_load);
        let is_strained = auto.glance().max_strain > 0.01;
        assert!(is_strained || !is_by_load, "the load strains it by less than the limit");
        strained += u32::from(is_strained && !is_by_load);
        by_load += u32::from(is_by_load);
    }
    // One frame where it gives up the limits.
    assert!(strained <= 1 && by_load <= 2, "{strained} frames, and {by_load} by the load");
}

#[test]
fn the_limit_holds_a_cloth_that_its_material_does_not() {
    let soft = |more: &str| {
        let text = sheet(12, &format!(r#"kind = "xpbd", substeps = 20{more}"#)).replace("25000", "20");
        let mut soft = simulation(&text);
        run(&mut soft, 60);
        soft.glance().max_strain
    };
    let (free, limited) = (soft(""), soft(", max_strain = 0.05"));
    assert!(free > 0.2 && limited < 0.0505, "{free} without, {limited} with a limit of 0.05");
}

#[test]
fn curved_cloth_gets_no_ropes() {
    let count = |text: &str| advance(&mut simulation(text)).quality.map(|quality| quality.long_range);
    assert!(count(&sheet(12, r#"kind = "auto""#)) > Some(100));
    let tube = sheet(12, r#"kind = "auto""#)
        .replace("grid = { size = [1, 1], cells = [12, 12] }", "tube = { radius = 0.2, height = 1, cells = [12, 12] }");
    assert_eq!(count(&tube), Some(0));
}

/// Long-range constraints of rest length would make a knit a woven.
#[test]
fn soft_cloth_stretches_as_far_as_it_is_let() {
    let soft = |max_strain: f64| {
        let solver = format!(r#"kind = "auto", quality = {{ max_strain = {max_strain} }}"#);
        let mut soft = simulation(&sheet(16, &solver).replace("25000", "100"));
        run(&mut soft, 90);
        soft.glance()
    };
    let (tight, loose) = (soft(0.02), soft(0.5));
    assert!(tight.max_strain < 0.02 && loose.max_strain > 0.1, "{} {}", tight.max_strain, loose.max_strain);
}

/// A tether of a pin that is released lets go.
#[test]
fn a_released_pin_holds_nothing() {
    let text = sheet(12, r#"kind = "auto""#).replace("vertices = [0, 12]", "vertices = [0, 12], until = 0.2");
    let mut falling = simulation(&text);
    run(&mut falling, 60);
    let highest = falling.state().positions.iter().map(|x| x.y).fold(f64::MIN, f64::max);
    assert!(highest < -2.0, "0.8 s of free fall are 3 m, and it is at {highest} m");
}

#[test]
fn its_bits_depend_neither_on_threads_nor_on_registers_nor_on_a_resume() {
    let text = sheet(20, r#"kind = "auto""#);
    let mut alone = simulation(&text);
    run(&mut alone, 45);
    for mut other in [simulation_on(&text, 3), simulation_with(&text, Team::solo().narrow())] {
        run(&mut other, 45);
        assert_eq!(alone.state().hash(), other.state().hash());
    }
    // In the middle of a window with a twin.
    let mut first = simulation(&text);
    run(&mut first, 40);
    let mut second = simulation(&text);
    second.restore(first.state().clone(), first.frame()).expect("a snapshot of the same scene");
    run(&mut second, 5);
    assert_eq!(alone.state().hash(), second.state().hash());
}

/// Where pins are led farther apart than the cloth is long, every part stays at the nearest of them.
#[test]
fn the_nearest_pin_has_the_last_word() {
    let text = sheet(12, r#"kind = "xpbd", substeps = 20, long_range = "on""#).replace(
        "pins = [{ vertices = [0, 12] }]",
        "pins = [{ vertices = [0] }, { vertices = [12], path = [{ time = 0.0 }, { time = 1.0, offset = [2.0, 0.0, 0.0] }] }]",
    );
    let mut torn = simulation(&text);
    run(&mut torn, 60);
    let along: Vec<f64> = torn.state().positions[..=12].iter().map(|x| x.x).collect();
    assert!(along[12] > 2.0, "the pin was led: {along:?}");
    assert!(along[1] < along[11], "and the row between is not turned over: {along:?}");
}

#[test]
fn a_stray_vertex_holds_nothing() {
    let cells = 8;
    let mut mesh = Mesh::grid([1.0, 1.0], [cells, cells], Diagonals::default()).expect("a grid");
    mesh.positions.push([0.0, 0.5, 0.0]);
    let text = r#"
        solver = { kind = "auto" }
        [[cloth]]
        mesh = "stray.obj"
        material = { stretch = { stiffness = 25000 } }
    "#;
    let mut falling = simulation_of(&mesh, text);
    run(&mut falling, 60);
    let stray = falling.state().positions.iter().filter(|x| x.y > 0.4).count();
    let fallen = falling.state().positions.iter().filter(|x| x.y < -3.0).count();
    assert_eq!((stray, fallen), (1, 81), "1 s of free fall is 4.9 m");
}

/// A sheet that falls on its edge lands in folds.
#[test]
fn it_runs_with_cloth_on_cloth() {
    let text = sheet(12, r#"kind = "auto""#)
        .replace("fps = 60", "fps = 60\ncontact = { self_contact = true, thickness = 0.005 }")
        .replace("pins = [{ vertices = [0, 12] }]", "rotate = [80, 0, 0]")
        + "[[collider]]\nplane = { point = [0, -0.6, 0], normal = [0, 1, 0] }\n";
    let mut auto = simulation(&text);
    let contacts: u64 = (0..45).map(|_| advance(&mut auto).contacts).sum();
    assert!(contacts > 0, "its folds touch");
    assert_eq!(auto.diagnose().intersections, Some(0));
    let fastest = auto.state().velocities.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 15.0, "{fastest} m/s: a metre of free fall is 4.4 m/s");
}

/// A memory of another solver is not taken for its own.
#[test]
fn a_foreign_memory_is_forgotten() {
    let text = sheet(8, r#"kind = "auto""#);
    let mut auto = simulation(&text);
    let mut state = auto.state().clone();
    let foreign = vec![muslin::math::Vec3::new(0.3, 0.1, 0.2); state.positions.len()];
    state.memory = SolverMemory::StepBefore(StepBefore { positions: foreign.clone(), velocities: foreign });
    auto.restore(state, 0).expect("the size is right");
    let mut fresh = simulation(&text);
    run(&mut auto, 3);
    run(&mut fresh, 3);
    assert_eq!(auto.state().positions, fresh.state().positions);
}
