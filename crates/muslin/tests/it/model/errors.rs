//! Messages about scenes whose meshes or pins are wrong, and about motions that leave the finite numbers.

use muslin::mesh::{Mesh, Severity};
use muslin::model::Problem;
use muslin::solver::StepError;
use muslin::{SetupError, Simulation};

use crate::common::{advance, run, scene, set_state, simulation, simulation_of};

/// What compiling a scene says, with a loader.
fn problems(text: &str, load: impl Fn(&str) -> Result<Mesh, String>) -> Vec<Problem> {
    match muslin::setup::compile(&scene(text), &mut |file| load(file)) {
        Ok(compiled) => compiled.warnings,
        Err(problems) => problems,
    }
}

fn said(text: &str, load: impl Fn(&str) -> Result<Mesh, String>) -> Vec<String> {
    problems(text, load).iter().map(Problem::to_string).collect()
}

fn no_files(file: &str) -> Result<Mesh, String> {
    Err(format!("cannot read {file}: there are no files here"))
}

const GRID: &str = "[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }\n";
const MESH: &str = "[[cloth]]\nmesh = \"shirt.obj\"\n";

/// A square of two triangles, changed.
fn square(change: impl Fn(&mut Mesh)) -> Mesh {
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let mut mesh = Mesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]], ..Mesh::default() };
    change(&mut mesh);
    mesh
}

#[test]
fn a_pin_beyond_the_mesh_is_refused() {
    let text = format!("{GRID}pins = [ {{ vertices = [0] }}, {{ vertices = [8, 9] }} ]");
    assert_eq!(
        said(&text, no_files),
        ["cloth[0].pins[1].vertices: vertex 9 is out of range: the cloth has vertices 0 to 8"]
    );
}

#[test]
fn a_region_without_vertices_is_refused() {
    let text = format!("{GRID}pins = [ {{ within = {{ center = [0, 5, 0], radius = 0.1 }} }} ]");
    assert_eq!(
        said(&text, no_files),
        ["cloth[0].pins[0].within: selects no vertex of this cloth; move or enlarge the region"]
    );
}

#[test]
fn a_mesh_that_cannot_be_read_is_reported_at_its_key_in_the_words_of_the_reader() {
    let text = format!("{GRID}{MESH}");
    assert_eq!(said(&text, no_files), ["cloth[1].mesh: cannot read shirt.obj: there are no files here"]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let text = format!(
        "{MESH}name = \"shirt\"\n{GRID}pins = [ {{ vertices = [77] }} ]\n{MESH}name = \"other\"\npins = [ {{ vertices = [4] }} ]"
    );
    assert_eq!(
        said(&text, |_| Ok(square(|mesh| mesh.triangles.push([1, 2, 9])))),
        [
            "cloth[0].mesh: triangle 2 uses vertex 9, but the mesh has 4 vertices",
            "cloth[2].mesh: triangle 2 uses vertex 9, but the mesh has 4 vertices",
            "cloth[1].pins[0].vertices: vertex 77 is out of range: the cloth has vertices 0 to 8",
        ]
    );
}

#[test]
fn a_broken_mesh_is_reported_with_what_mends_it() {
    let fold_over = |mesh: &mut Mesh| mesh.triangles.extend([[1, 1, 2], [2, 0, 1]]);
    let text = format!("{MESH}repair = false");
    assert_eq!(
        said(&text, |_| Ok(square(fold_over))),
        [
            "cloth[0].mesh: triangle 2 uses vertex 1 more than once; set repair = true on this cloth to mend it",
            "cloth[0].mesh: triangle 3 repeats triangle 0: both join vertices 2, 0 and 1; \
             set repair = true on this cloth to mend it",
        ]
    );
}

#[test]
fn repair_mends_what_can_be_mended_and_says_what_it_did() {
    let break_it = |mesh: &mut Mesh| {
        mesh.triangles[1] = [0, 3, 2]; // wound against the first
        mesh.triangles.extend([[1, 1, 2], [2, 0, 1]]);
    };
    let text = format!("{MESH}repair = true");
    let found = problems(&text, |_| Ok(square(break_it)));
    assert!(found.iter().all(|p| p.severity == Severity::Warning), "{found:?}");
    let words: Vec<String> = found.iter().map(Problem::to_string).collect();
    assert_eq!(
        words,
        [
            "cloth[0].mesh: dropped triangle 2: used a vertex more than once",
            "cloth[0].mesh: dropped triangle 3: repeated another triangle",
            "cloth[0].mesh: turned over triangle 1: wound against most of its surface",
        ]
    );
    let mut simulation = simulation_of(&square(break_it), &text);
    assert_eq!(simulation.model().triangles.len(), 2, "triangles left");
    assert_eq!(simulation.warnings(), found, "the warnings are kept");
    run(&mut simulation, 5);
}

#[test]
fn repair_does_not_hide_what_it_cannot_mend() {
    let text = format!("{MESH}repair = true");
    let broken = square(|mesh| mesh.positions[2] = [f64::NAN, 0.0, 0.0]);
    let found = problems(&text, |_| Ok(broken.clone()));
    assert_eq!(
        found.iter().map(Problem::to_string).collect::<Vec<_>>(),
        ["cloth[0].mesh: vertex 2 is at [NaN, 0.0, 0.0], which is not finite"]
    );
    assert_eq!(found[0].severity, Severity::Error, "{found:?}");
}

#[test]
fn a_curved_rest_shape_under_flat_bending_is_a_warning() {
    let text = "[[cloth]]\ntube = { radius = 0.2, height = 0.5, cells = [12, 6] }";
    assert_eq!(
        said(text, no_files),
        [
            "cloth[0].material.bend.model: \"isometric\" is for flat rest shapes, but this one is bent by up to 30 degrees \
          between triangles and will be pulled flat; use one of \"dihedral\", \
          \"hinge_force\", \"cubic_shell\", \"projective\", \"shell\" to keep its shape"
        ]
    );
    let dihedral = format!("{text}\nmaterial = {{ bend = {{ model = \"dihedral\" }} }}");
    let words = said(&dihedral, no_files);
    assert!(words.is_empty(), "{words:?}");
}

#[test]
fn a_simulation_that_cannot_be_set_up_says_why() {
    let error = Simulation::new(&scene(MESH), 1, &mut no_files).err();
    let Some(SetupError::Scene(problems)) = &error else { panic!("{:?}", error.map(|e| e.to_string())) };
    assert_eq!(problems.len(), 1, "{problems:?}");
    let words = error.map(|e| e.to_string()).unwrap_or_default();
    assert_eq!(words, "cloth[0].mesh: cannot read shirt.obj: there are no files here");
}

#[test]
fn a_vertex_of_no_triangle_stays_where_it_is() {
    let mesh = square(|mesh| mesh.positions.push([5.0, 5.0, 5.0]));
    let mut simulation = simulation_of(&mesh, MESH);
    let words: Vec<String> = simulation.warnings().iter().map(Problem::to_string).collect();
    assert_eq!(words, ["cloth[0].mesh: vertex 4 belongs to no triangle: without mass, nothing moves it"]);
    run(&mut simulation, 10);
    let mut positions = Vec::new();
    simulation.positions(0, &mut positions);
    assert_eq!(positions[4], [5.0; 3], "the lone vertex");
}

#[test]
fn a_motion_that_leaves_the_finite_numbers_is_an_error_and_leaves_the_state_as_it_was() {
    for (kind, speed) in [("xpbd", 1e30), ("pbd", 1e30), ("explicit", 1e200), ("vbd", 1e200)] {
        let mut simulation = simulation(&format!("solver = {{ kind = \"{kind}\" }}\n{GRID}name = \"flag\""));
        run(&mut simulation, 3);
        // Finite in the precision of the solver, but not when squared.
        set_state(&mut simulation, |state| state.velocities[4].x = speed);
        let (before, hash) = (simulation.state().clone(), simulation.state().hash());
        let error = simulation.advance().err();
        let Some(StepError::NonFinite { cloth, vertex }) = &error else { panic!("{kind}: {error:?}") };
        assert_eq!(cloth, "flag", "{kind}");
        assert!(*vertex < 9, "{kind}: vertex {vertex}");
        let words = error.as_ref().map(ToString::to_string).unwrap_or_default();
        let expected = format!(
            "vertex {vertex} of cloth \"flag\" left the finite numbers; \
             look for an extreme number in the scene (density, stiffness, velocity), or use more substeps"
        );
        assert_eq!(words, expected, "{kind}");
        assert_eq!((simulation.state(), simulation.state().hash()), (&before, hash), "{kind}: the state");
        assert_eq!(simulation.frame(), 0, "{kind}: frames done");

        // And it can go on from a state that is right.
        set_state(&mut simulation, |state| state.velocities[4].x = 0.0);
        advance(&mut simulation);
        assert_eq!(simulation.state().first_non_finite(), None, "{kind}: a step after the error");
    }
}

#[test]
fn a_frame_that_succeeds_leaves_only_finite_numbers() {
    for precision in ["f32", "f64"] {
        for speed in [1e10, 1e18, 1e25, 3.4e38] {
            let mut simulation = simulation(&format!(
                r#"
                gravity = [0, 0, 0]
                solver = {{ precision = "{precision}" }}
                [[cloth]]
                grid = {{ size = [1, 1], cells = [2, 2] }}
                material = {{ stretch = {{ model = "none" }}, bend = {{ model = "none" }} }}
                "#
            ));
            set_state(&mut simulation, |state| state.velocities[4].x = speed);
            let before = simulation.state().clone();
            if simulation.advance().is_ok() {
                let bad = simulation.state().first_non_finite();
                assert_eq!(bad, None, "{precision}, {speed:e} m/s: {:?}", simulation.state().velocities[4]);
            } else {
                assert_eq!(simulation.state(), &before, "{precision}, {speed:e} m/s: the state");
            }
        }
    }
}

/// Sweeps leave what is stiffer than they can solve, and damping is as stiff as τ/h times the cloth.
#[test]
fn damping_that_sweeps_cannot_solve_is_told() {
    let warned = |solver: &str, key: &str, damping: f64| {
        let text = format!(
            "solver.kind = \"{solver}\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [2, 2] }}\n\
             material = {{ {key} = {{ stiffness = 1, damping = {damping:?} }} }}"
        );
        problems(&text, no_files).into_iter().map(|problem| problem.place).collect::<Vec<_>>()
    };
    for solver in ["xpbd", "projective", "vbd"] {
        for key in ["stretch", "bend"] {
            assert_eq!(warned(solver, key, 1000.0), [format!("cloth[0].material.{key}.damping")], "{solver}");
            assert_eq!(warned(solver, key, 0.1), [""; 0], "{solver}");
        }
    }
    assert_eq!(warned("newton", "stretch", 1000.0), [""; 0]);
}
