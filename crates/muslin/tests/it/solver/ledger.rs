//! The ledger against work that is known: a weight that is lifted, dragged, blown away.

use muslin::Simulation;
use muslin::output::Diagnostics;

use crate::common::{advance, run, simulation};

/// Every solver that follows the energies of a scene, with settings that solve these scenes.
const SOLVERS: [&str; 7] = [
    "kind = \"xpbd\", substeps = 20",
    "kind = \"xpbd\", substeps = 20, precision = \"f64\"",
    "kind = \"auto\"",
    "kind = \"explicit\", substeps = 40",
    "kind = \"newton\", substeps = 4, iterations = 30",
    "kind = \"vbd\", substeps = 10, iterations = 40",
    "kind = \"projective\", substeps = 10, iterations = 40",
];

/// Those that know the forces at pins: long-range constraints, which `auto` has, are no energy.
fn known_at_pins() -> impl Iterator<Item = &'static str> {
    SOLVERS.into_iter().filter(|solver| !solver.contains("auto"))
}

/// A sheet of 0.05 kg, below `body`.
fn sheet(solver: &str, top: &str, material: &str, body: &str) -> Simulation {
    simulation(&format!(
        "{top}\n\
         solver = {{ {solver} }}\n\
         contact = {{ thickness = 2e-3, friction = 0.5 }}\n\
         [[cloth]]\n\
         grid = {{ size = [0.5, 0.5], cells = [6, 6] }}\n\
         material = {{ density = 0.2, stretch = {{ stiffness = 200.0 }}, bend = {{ model = \"none\" }}, {material} }}\n\
         {body}\n"
    ))
}

fn after(mut simulation: Simulation, frames: usize) -> Diagnostics {
    run(&mut simulation, frames);
    simulation.diagnose()
}

/// m g h of the sheet, in J, for a height in m.
fn weight(height: f64) -> f64 {
    0.05 * 9.81 * height
}

#[test]
fn what_stands_still_does_no_work() {
    let body = "translate = [0, 0.1, 0]\n[[cloth.pins]]\nselect = \"x_min\"\n[[collider]]\nplane = { point = [0, 0, 0], normal = [0, 1, 0] }";
    for solver in SOLVERS {
        let work = after(sheet(solver, "", "", body), 20).work;
        assert_eq!(work.to_array(), [0.0; 4], "{solver}");
    }
}

/// All vertices are pinned and go up by 0.3 m: the work is the weight's.
#[test]
fn pins_that_lift_a_sheet_do_the_work_of_its_height() {
    let body = "[[cloth.pins]]\nselect = \"all\"\npath = [{ time = 0 }, { time = 0.5, offset = [0, 0.3, 0] }]";
    for solver in known_at_pins() {
        let d = after(sheet(solver, "", "", body), 40);
        assert!((d.work.pins - weight(0.3)).abs() < 1e-6, "{solver}: {} J", d.work.pins);
        assert!(d.energy_error.unwrap().abs() < 1e-6, "{solver}: {:?}", d.energy_error);
    }
}

/// A side is lifted slowly, and the sheet hangs from it: what is in height and strain in the end, and what damping took, came from the pins.
#[test]
fn pins_that_pull_a_sheet_up_give_what_it_has_then() {
    let body = "[[cloth.pins]]\nselect = \"x_min\"\npath = [{ time = 0 }, { time = 1.0, offset = [0, 0.8, 0] }]";
    for solver in known_at_pins() {
        let d = after(sheet(solver, "gravity = [0, -9.81, 0]", "damping = 2.0", body), 60);
        let error = d.energy_error.unwrap();
        // Damping took a part of the work; nothing came from nowhere.
        assert!(d.work.pins > 0.1, "{solver}: {} J", d.work.pins);
        assert!(error < 0.01 * d.work.pins && error > -d.work.pins, "{solver}: {error} J of {}", d.work.pins);
    }
}

/// The same without damping, in steps that lose next to nothing: the books are even.
#[test]
fn the_books_of_a_conservative_motion_are_even() {
    let body = "[[cloth.pins]]\nselect = \"x_min\"\npath = [{ time = 0 }, { time = 0.5, offset = [0.1, 0.4, 0] }]";
    for (solver, most) in [
        ("kind = \"explicit\", substeps = 200", 5e-4),
        ("kind = \"explicit\", substeps = 200, precision = \"f64\"", 2e-4),
        ("kind = \"explicit\", substeps = 800, precision = \"f64\"", 2e-5),
    ] {
        let d = after(sheet(solver, "", "", body), 30);
        let share = d.energy_error.unwrap().abs() / d.work.pins;
        assert!(d.work.pins > 0.1 && share < most, "{solver}: {share}");
    }
}

/// A plane goes up with the sheet on it, by 0.2 m: the work is the weight's, and what the first blow gave.
#[test]
fn a_plane_that_lifts_a_sheet_does_the_work_of_its_height() {
    let body = "translate = [0, 2e-3, 0]\n[[collider]]\nplane = { point = [0, 0, 0], normal = [0, 1, 0] }\npath = [{ time = 0 }, { time = 0.5, offset = [0, 0.2, 0] }]";
    for solver in SOLVERS {
        let d = after(sheet(solver, "", "", body), 30);
        // A wall that begins to move at speed v gives m v² and leaves m v²/2.
        let kinetic = 0.05 * 0.4_f64.powi(2);
        let expected = weight(0.2) + kinetic;
        assert!((d.work.bodies / expected - 1.0).abs() < 0.02, "{solver}: {} J, not {expected}", d.work.bodies);
        let error = d.energy_error.unwrap();
        assert!((error + 0.5 * kinetic).abs() < 0.02 * expected, "{solver}: {error} J, not {}", -0.5 * kinetic);
    }
}

/// The same with a plate that is a mesh, and with a sheet between.
#[test]
fn a_mesh_that_lifts_a_sheet_does_the_work_of_its_height() {
    let body = "translate = [0, 3e-3, 0]\n[[collider]]\nbox = { center = [0, -0.1, 0], size = [2, 0.2, 2] }\npath = [{ time = 0 }, { time = 0.5, offset = [0, 0.2, 0] }]\n\
                [[cloth]]\ngrid = { size = [0.5, 0.5], cells = [5, 5] }\ntranslate = [0, 6e-3, 0]\nmaterial = { density = 0.2 }";
    for solver in ["kind = \"xpbd\", substeps = 20", "kind = \"newton\", substeps = 4, iterations = 30"] {
        let mut scene = sheet(solver, "", "", body);
        run(&mut scene, 30);
        let d = scene.diagnose();
        let expected = 2.0 * (weight(0.2) + 0.05 * 0.4_f64.powi(2));
        assert!((d.work.bodies / expected - 1.0).abs() < 0.1, "{solver}: {} J, not {expected}", d.work.bodies);
        assert!(d.energy_error.unwrap() < 0.01 * expected, "{solver}: {:?}", d.energy_error);
    }
}

/// A floor that slides away below a sheet drags it to its own speed v: friction gives m v², of which half is lost to it.
#[test]
fn a_floor_that_drags_a_sheet_does_twice_what_it_leaves() {
    let body = "translate = [0, 2e-3, 0]\n[[collider]]\nplane = { point = [0, 0, 0], normal = [0, 1, 0] }\npath = [{ time = 0 }, { time = 10, offset = [10, 0, 0] }]";
    for solver in SOLVERS {
        let d = after(sheet(solver, "", "", body), 30);
        assert!((d.kinetic_energy / 0.025 - 1.0).abs() < 0.02, "{solver}: {} J", d.kinetic_energy);
        assert!((d.work.bodies / 0.05 - 1.0).abs() < 0.02, "{solver}: {} J", d.work.bodies);
        assert!((d.energy_error.unwrap() / -0.025 - 1.0).abs() < 0.05, "{solver}: {:?}", d.energy_error);
    }
}

/// The wind blows a free sheet away, without gravity: all that it has then is the wind's.
#[test]
fn the_wind_gives_what_a_free_sheet_has() {
    let top = "gravity = [0, 0, 0]\nwind = { velocity = [0, 3, 0], drag = 1.0, lift = 0.5 }";
    for solver in SOLVERS {
        let d = after(sheet(solver, top, "", ""), 30);
        assert!(d.work.wind > 1e-3, "{solver}: {} J", d.work.wind);
        assert!(
            d.energy_error.unwrap().abs() < 0.02 * d.work.wind,
            "{solver}: {:?} of {}",
            d.energy_error,
            d.work.wind
        );
    }
}

#[test]
fn forces_and_impulses_of_a_program_are_booked() {
    for solver in SOLVERS {
        let mut simulation = sheet(solver, "gravity = [0, 0, 0]", "", "");
        for vertex in 0..49 {
            simulation.apply_impulse(0, vertex, [0.0, 1e-3, 0.0]).unwrap();
        }
        for _ in 0..10 {
            (0..49).for_each(|vertex| simulation.add_force(0, vertex, [0.01, 0.0, 0.0]).unwrap());
            advance(&mut simulation);
        }
        let d = simulation.diagnose();
        assert!(d.work.program > 0.01, "{solver}: {} J", d.work.program);
        // Equal impulses on unequal masses pull at the sheet; what that swings, an implicit step damps.
        let least = if solver.contains("explicit") { -0.01 } else { -0.3 };
        let share = d.energy_error.unwrap() / d.work.program;
        assert!(share < 0.01 && share > least, "{solver}: {share}");
    }
}

/// What a pin feels in a solver that does not follow the energies, or by long-range constraints, is not known, and so said; without such a pin it is.
#[test]
fn work_that_is_not_known_is_not_told() {
    let body = "[[cloth.pins]]\nselect = \"x_min\"\npath = [{ time = 0 }, { time = 0.5, offset = [0, 0.3, 0] }]";
    for solver in [
        "kind = \"pbd\", substeps = 10",
        "kind = \"shape_matching\", substeps = 10",
        "kind = \"auto\"",
        "kind = \"xpbd\", substeps = 10, long_range = \"on\"",
    ] {
        let d = after(sheet(solver, "", "", body), 10);
        assert!(d.work.pins.is_nan() && d.energy_error.is_none(), "{solver}: {d:?}");
        assert!(
            after(sheet(solver, "", "", "[[cloth.pins]]\nselect = \"x_min\""), 10).energy_error.is_some(),
            "{solver}"
        );
    }
}
