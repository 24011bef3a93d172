//! Scenes that broke something once, each under the name of what it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use muslin::mesh::Mesh;
use muslin::model::Problem;
use muslin::scene::{Override, parse};
use muslin::solver::{SOLVERS, StepError};
use muslin::{SetupError, Simulation};

use crate::common::{compiled, scene, simulation, simulation_of, simulation_on};

/// A sheet that hangs by two corners.
const HUNG: &str = "[[cloth]]\ngrid = { size = [1, 1], cells = [8, 8] }\n[[cloth.pins]]\nvertices = [0, 8]\n";

/// What is said of a scene that does not compile.
fn refusal(text: &str) -> String {
    let outcome = Simulation::new(&scene(text), 1, &mut |file| Err(format!("there is no file {file}")));
    match outcome.map(drop) {
        Err(SetupError::Scene(problems)) => problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"),
        other => panic!("it was not refused: {other:?}\n{text}"),
    }
}

/// The warnings about a scene that compiles.
fn warnings(text: &str) -> String {
    compiled(text).warnings.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// The first error of a run, if there is one within so many frames.
fn first_error(simulation: &mut Simulation, frames: usize) -> Option<StepError> {
    (0..frames).find_map(|_| simulation.advance().err())
}

/// The tree of the broad phase had boxes without an end, which overlapped slots that no item has: index 4294967295.
#[test]
fn a_plate_that_moves_by_many_edges_in_a_frame_panicked() {
    let plate = Mesh::grid([0.6, 0.6], [8, 8], muslin::mesh::Diagonals::Alternating).expect("a plate");
    for (solver, cells, seconds) in
        [("xpbd", 16, 0.05), ("xpbd", 31, 0.02), ("newton", 12, 0.05), ("vbd", 16, 0.03), ("auto", 12, 0.05)]
    {
        let text = format!(
            "[solver]\nkind = {solver:?}\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [{cells}, {cells}] }}\nrotate = [90, 0, 0]\n\
             [[cloth.pins]]\nvertices = [0, {cells}]\n\
             [[collider]]\nmesh = {{ file = \"plate.obj\", rotate = [90, 0, 0], translate = [0, 0, 0.5] }}\n\
             path = [{{ time = 0.0 }}, {{ time = {seconds}, offset = [0, 0, -1.5] }}]\n"
        );
        let error = first_error(&mut simulation_of(&plate, &text), 6);
        assert!(!matches!(error, Some(StepError::Panicked { .. })), "{solver} with {cells} cells: {error:?}");
    }
}

/// It went on with 235 % of strain and 4,000 m/s: contact cut what leapt, so that nothing seemed to diverge.
#[test]
fn explicit_with_self_contact_beyond_its_stability_limit_only_warned() {
    for precision in ["f32", "f64"] {
        let solver = |substeps: u32| {
            format!("[solver]\nkind = \"explicit\"\nprecision = {precision:?}\nsubsteps = {substeps}\n")
        };
        let sheet = "[contact]\nself_contact = true\n[[cloth]]\ngrid = { size = [1, 1], cells = [12, 12] }\n\
                     material = { stretch = { stiffness = 5000 } }\n[[cloth.pins]]\nvertices = [0, 12]\n";
        let limit = simulation(&(solver(400) + sheet)).advance().expect("stable").stable_step.expect("a limit");
        let stable = 1.0 / 60.0 / limit;
        let mut beyond = simulation(&(solver((stable / 1.27) as u32) + sheet));
        let error = first_error(&mut beyond, 30).unwrap_or_else(|| panic!("{precision}: 30 frames beyond the limit"));
        assert!(matches!(error, StepError::Unstable { .. }), "{precision}: {error}");
        assert!(beyond.state().first_non_finite().is_none(), "the state is that of the last good frame");
        let mut within = simulation(&(solver((stable * 1.1) as u32) + sheet));
        assert_eq!(first_error(&mut within, 30), None, "{precision}: within the limit");
    }
}

/// Steps of a frame of a second are far beyond what a thousand times as many could follow: it took minutes to say nothing.
#[test]
fn explicit_of_a_stiff_light_cloth_hung() {
    let text = "fps = 1\n[solver]\nkind = \"explicit\"\n[contact]\nself_contact = true\n[[cloth]]\ngrid = { size = [1, 1], cells = [8, 8] }\n\
                material = { density = 1e-4, stretch = { stiffness = 1e6 } }\n[[cloth.pins]]\nvertices = [0, 8]\n";
    let error = first_error(&mut simulation(text), 1).expect("no step is stable");
    assert!(matches!(error, StepError::Unstable { .. }), "{error}");
}

/// Values of the range of a float, with which energies were null and positions NaN, with exit code 0.
#[test]
fn numbers_that_physics_cannot_use_were_taken() {
    for (set, said) in [
        (
            "cloth.0.material.density=1e308",
            "must be from 1e-6 to 1e6 kg/m², with which physics can be computed, got 1e308",
        ),
        (
            "cloth.0.material.density=1e-9",
            "must be from 1e-6 to 1e6 kg/m², with which physics can be computed, got 1e-9",
        ),
        (
            "cloth.0.material.damping=1e38",
            "must be of at most 1e6 1/s in size, with which physics can be computed, got 1e38",
        ),
        (
            "cloth.0.material.stretch.stiffness=1e300",
            "must be from 1e-9 to 1e12 N/m, with which physics can be computed, got 1e300",
        ),
        (
            "cloth.0.material.stretch.compliance=5e-324",
            "must be from 1e-18 to 1e18 m/N, with which physics can be computed, got 5e-324",
        ),
        (
            "cloth.0.material.bend.damping=1e38",
            "must be of at most 1e6 s in size, with which physics can be computed, got 1e38",
        ),
        (
            "cloth.0.velocity=[0, -1e5, 0]",
            "must be of at most 1e4 m/s in size, with which physics can be computed, got -100000.0",
        ),
        (
            "wind.velocity=[1000, 0, 0]",
            "must be of at most 3.4e2 m/s in size, with which physics can be computed, got 1000.0",
        ),
        (
            "gravity=[0, -1e6, 0]",
            "must be of at most 1e4 m/s² in size, with which physics can be computed, got -1000000.0",
        ),
        ("contact.friction=1e300", "must be of at most 1e3 in size, with which physics can be computed, got 1e300"),
    ] {
        let outcome = parse(HUNG, &[Override::parse(set).expect("an override")]);
        let messages: Vec<&str> = outcome.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!((messages, outcome.scene.is_none()), (vec![said], true), "{set}");
    }
    for set in [
        "cloth.0.material.stretch.compliance=0",
        "cloth.0.material.damping=0",
        "cloth.0.velocity=[0, -300, 0]",
        "wind.velocity=[0, 0, -60]",
    ] {
        assert_eq!(parse(HUNG, &[Override::parse(set).expect("an override")]).findings, [], "{set}");
    }
}

/// At 100 km it was "sound" and ended with 1,026 % of strain; at 990 km touching pairs were blamed.
#[test]
fn a_scene_far_from_the_origin_was_taken() {
    let far = |metres: f64, contact: bool| {
        format!(
            "[contact]\nself_contact = {contact}\n{}",
            HUNG.replace("[[cloth.pins]]", &format!("translate = [0, 0, {metres}]\n[[cloth.pins]]"))
        )
    };
    for metres in [1e4, 1e5, 9.9e5, -1e4] {
        let said = refusal(&far(metres, true));
        assert!(said.starts_with("cloth[0]: begins ") && said.contains("an eighth of contact.thickness (0.001 m): the limit of this scene is 1049 m; move all of the scene to the origin"), "{said}");
    }
    assert!(refusal(&far(9.9e5, false)).contains("a sixteenth of an edge"), "the result is in single precision");
    for (metres, contact) in [(1e3, true), (1e4, false)] {
        assert_eq!(warnings(&far(metres, contact)), "", "{metres} m");
    }
}

/// A thickness of many edges: minutes a frame, then advice about extreme numbers; and a thickness of the cloth's own size hung `auto`.
#[test]
fn a_thickness_well_above_the_edges_was_never_mentioned() {
    let with = |thickness: f64| format!("[contact]\nself_contact = true\nthickness = {thickness}\n{HUNG}");
    assert_eq!(warnings(&with(0.2)), "", "1.6 edges");
    let said = warnings(&with(0.4));
    assert!(
        said.starts_with("contact.thickness: 0.4 m is 3.2 times the usual edge of cloth \"cloth0\" (1.25e-1 m): each vertex has some 74 triangles within reach"),
        "{said}"
    );
    assert!(said.ends_with("lower it to 2.50e-1 m or less, or take a cloth with edges of 2.00e-1 m or more"), "{said}");
    assert!(
        refusal(&with(0.8)).starts_with("contact.thickness: 0.8 m is more than half of cloth \"cloth0\", which is"),
        "of its size"
    );
    let fine =
        "[contact]\nself_contact = true\nthickness = 0.3\n[[cloth]]\ngrid = { size = [1, 1], cells = [120, 120] }\n";
    assert!(
        refusal(fine).starts_with(
            "contact.thickness: 0.3 m is 36 times the usual edge of cloth \"cloth0\" (8.33e-3 m), and the limit is 32"
        ),
        "of edges"
    );
}

/// Two sheets 8 cm apart with a thickness of 10 cm were "sound", and a hundred times slower.
#[test]
fn surfaces_that_begin_nearer_than_the_thickness_were_never_mentioned() {
    let two = |apart: f64| {
        let sheet = "[[cloth]]\ngrid = { size = [1, 1], cells = [16, 16] }\n";
        format!("[contact]\nself_contact = true\nthickness = 0.1\n{sheet}{sheet}translate = [0, {apart}, 0]\n")
    };
    let said = warnings(&two(0.08));
    assert!(
        said.contains("pairs of surfaces begin nearer to each other than 0.1 m, the nearest 8.00e-2 m at vertex "),
        "{said}"
    );
    assert!(said.ends_with("lower the thickness to 8.00e-2 m or less, or move them apart"), "{said}");
    assert_eq!(warnings(&two(0.1)), "");
}

/// The report blamed the substeps.
#[test]
fn cloth_that_starts_inside_a_collider_is_told_how_deep_and_in_which() {
    let said = warnings(&format!("{HUNG}[[collider]]\nsphere = {{ center = [0, -0.1, 0], radius = 0.3 }}\n"));
    let expected = "cloth[0]: 21 of 81 vertices start inside collider[0], up to 0.200 m deep, and are pushed out at once: that gives the cloth energy, and may leave it on both sides; \
                    move the cloth or the collider by as much";
    assert_eq!(said, expected);
}

/// A frame that somebody stops has not been: the state is as before, and the run goes on to the bits of one that never stopped.
#[test]
fn a_frame_could_not_be_stopped() {
    for kind in SOLVERS.iter().map(|kind| kind.entry.name) {
        for (threads, most) in [(1, 0), (1, 40), (2, 40), (3, 1000)] {
            let text = format!("[solver]\nkind = {kind:?}\n[contact]\nself_contact = true\n{HUNG}");
            let mut undisturbed = simulation_on(&text, threads);
            let asked = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&asked);
            // Once, in the middle of whatever frame that is.
            let mut stopped =
                simulation_on(&text, threads).with_stop(move || count.fetch_add(1, Ordering::Relaxed) == most);
            let mut stops = 0;
            while stopped.frame() < 3 {
                let before = stopped.state().hash();
                match stopped.advance() {
                    Ok(_) => undisturbed.advance().map(drop).expect("a frame"),
                    Err(error) => {
                        stops += 1;
                        assert_eq!((error, stopped.state().hash()), (StepError::Stopped, before), "{kind}");
                    }
                }
                assert!(stopped.diagnose().max_strain < 1.0, "nobody stops a measurement");
            }
            let name = format!("{kind} on {threads} threads, stopped at {most} of {}", asked.load(Ordering::Relaxed));
            assert_eq!(stops, usize::from(asked.load(Ordering::Relaxed) > most), "{name}");
            assert_eq!(stopped.state().hash(), undisturbed.state().hash(), "{name}");
        }
    }
}

/// A sheet of 300 m/s that meets a ball ended with 2,244 % of strain, the words "the load strains this material so", and exit code 0.
#[test]
fn a_sheet_that_was_shot_onto_a_ball_was_a_success() {
    let text = "[solver]\nkind = \"auto\"\n[[cloth]]\ngrid = { size = [1, 1], cells = [16, 16] }\ntranslate = [0, 0.6, 0]\nvelocity = [0, -300, 0]\n\
                [[collider]]\nsphere = { center = [0, 0, 0], radius = 0.3 }\n";
    let mut shot = simulation(text);
    let start = shot.state().hash();
    let error = first_error(&mut shot, 1).expect("no cloth survives that");
    let StepError::Overstrained { strain, of_load, .. } = &error else { panic!("{error}") };
    assert!(*strain > 9.0 && (4.0..5.0).contains(of_load), "300 m/s over the speed of sound, 71 m/s: {error}");
    assert_eq!(shot.state().hash(), start, "frames before it are kept");
}

/// What is soft may stretch, and what is pulled may too.
#[test]
fn soft_cloth_and_cloth_that_is_pulled_are_no_failures() {
    let soft = format!(
        "[solver]\nkind = \"xpbd\"\n{}",
        HUNG.replace("[[cloth.pins]]", "material = { stretch = { stiffness = 1.0 } }\n[[cloth.pins]]")
    );
    let mut soft = simulation(&soft);
    let error = first_error(&mut soft, 90);
    let strain = soft.diagnose().max_strain;
    assert!(error.is_none() && strain > 5.0, "{error:?} at a strain of {strain}");

    let pulled = "[solver]\nkind = \"xpbd\"\n[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }\n[[cloth.pins]]\nselect = \"x_min\"\n\
                  [[cloth.pins]]\nselect = \"x_max\"\npath = [{ time = 0 }, { time = 0.5, offset = [8, 0, 0] }]\n";
    let mut pulled = simulation(pulled);
    let error = first_error(&mut pulled, 30);
    let strain = pulled.diagnose().max_strain;
    assert!(error.is_none() && strain > 5.0, "{error:?} at a strain of {strain}");
}

/// Steps of an explicit solver far beyond their limit, in so soft a cloth that no edge leaps by many of its lengths: the energy grows from frame to frame.
#[test]
fn energy_from_nowhere_was_a_success() {
    let text = "[solver]\nkind = \"explicit\"\nscheme = \"forward\"\nsubsteps = 60\n[[cloth]]\ngrid = { size = [1, 1], cells = [6, 6] }\n\
                material = { stretch = { stiffness = 100 } }\n[[cloth.pins]]\nvertices = [0, 6]\n";
    let mut fast = simulation(text);
    let error = first_error(&mut fast, 600).expect("forward Euler overshoots at every step");
    assert!(matches!(error, StepError::Unstable { .. } | StepError::BlownUp { .. }), "{error}");
    let strain = fast.diagnose().max_strain;
    assert!(strain < 50.0, "it ends before an edge leaps: a strain of {strain}");
}

/// A state of somebody's own may have any energy: what it had is granted, and what comes from nowhere on top is not.
#[test]
fn the_energy_of_a_state_that_was_restored_is_no_failure() {
    let text = format!("[solver]\nkind = \"xpbd\"\nsubsteps = 40\n{HUNG}");
    let mut flung = simulation(&text);
    let mut state = flung.state().clone();
    state.velocities.iter_mut().for_each(|v| v.y = 60.0);
    flung.restore(state, 0).expect("it fits");
    let error = first_error(&mut flung, 1);
    assert!(!matches!(error, Some(StepError::BlownUp { .. })), "{error:?}");
}
