//! Starts that cut: pulled apart, and free from then on.

use muslin::Simulation;
use muslin::contact::count_intersections;
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh};
use muslin::scene::Severity;
use muslin::setup::BadStart;
use muslin::solver::StepError;

use crate::common::{run, scene, simulation_on};
use crate::contact::bodies::sphere;

/// With settings that suit the sheets here.
const SOLVERS: [&str; 4] = [
    r#"kind = "xpbd", substeps = 10"#,
    r#"kind = "vbd", substeps = 8"#,
    r#"kind = "newton", substeps = 8, tolerance = 1e-6"#,
    r#"kind = "explicit", substeps = 60"#,
];

fn head(solver: &str) -> String {
    format!("solver = {{ {solver} }}\ncontact = {{ self_contact = true, thickness = 5e-3, start = \"untangle\" }}\n")
}

/// A sheet that hangs by its corners, and another, tilted, one corner of which is below it: the lower it is, the more.
fn corner_through_cloth(solver: &str, height: f64) -> String {
    let head = head(solver);
    format!(
        r#"{head}
        [[cloth]]
        name = "flat"
        grid = {{ size = [1, 1], cells = [16, 16] }}
        pins = [{{ select = "corners" }}]
        [[cloth]]
        name = "tilted"
        grid = {{ size = [0.5, 0.5], cells = [8, 8] }}
        rotate = [35, 0, 35]
        translate = [0.013, {height:?}, 0.021]
        "#
    )
}

/// A strip, folded over, the upper layer of which bulges through the lower.
fn bulged_fold() -> Mesh {
    let mut mesh = Mesh::grid([1.3, 0.4], [39, 12], Diagonals::Alternating).expect("a grid");
    let (radius, straight) = (0.06, 0.6);
    let arc = std::f64::consts::PI * radius;
    for p in &mut mesh.positions {
        let (along, z) = (p[0] + 0.65, p[2]);
        let (x, y) = if along < straight {
            (along, 0.0)
        } else if along < straight + arc {
            let t = (along - straight) / radius;
            (straight + radius * libm::sin(t), radius - radius * libm::cos(t))
        } else {
            (2.0 * straight + arc - along, 2.0 * radius)
        };
        let from_middle = ((x - 0.3) * (x - 0.3) + z * z) / 0.01;
        let bulge = if y == 2.0 * radius { (y + 0.02) * libm::exp(-from_middle) } else { 0.0 };
        *p = [x, y - bulge, z];
    }
    mesh
}

/// Pairs of triangles that cut, as positions are and as they are written.
fn cuts(simulation: &Simulation) -> usize {
    let model = simulation.model();
    let mut x = simulation.state().positions.clone();
    let mut triangles = model.triangles.clone();
    for body in &model.bodies {
        body.extend_positions(simulation.state().time, &mut x);
    }
    triangles.extend(model.body_triangles());
    let rounded: Vec<Vec3<f64>> = x.iter().map(|x| x.cast::<f32>().cast::<f64>()).collect();
    count_intersections(&triangles, &x) + count_intersections(&triangles, &rounded)
}

/// Runs until it is free and 20 frames beyond; the first frame that was.
fn untangle(simulation: &mut Simulation, what: &str) -> usize {
    assert!(simulation.model().is_tangled && cuts(simulation) > 0, "{what}: the scene tests nothing");
    let told = |problem: &&muslin::model::Problem| problem.message.contains("untangled as the run goes");
    assert_eq!(simulation.warnings().iter().filter(told).count(), 1, "{what}: {:?}", simulation.warnings());
    let mut free = None;
    loop {
        let report = simulation.advance().unwrap_or_else(|e| panic!("{what}, frame {}: {e}", simulation.frame() + 1));
        match free {
            None if report.contact_stats.is_tangled => {
                assert!(cuts(simulation) > 0, "{what}: frame {} is free", simulation.frame());
            }
            None => free = Some(simulation.frame()),
            Some(first) => {
                assert!(!report.contact_stats.is_tangled, "{what}: tangled again in frame {}", simulation.frame());
                if simulation.frame() == first + 20 {
                    return first;
                }
            }
        }
        if free.is_some() {
            assert_eq!(cuts(simulation), 0, "{what}: frame {}", simulation.frame());
        }
    }
}

#[test]
fn a_corner_through_cloth_is_drawn_back_with_any_solver() {
    for solver in SOLVERS {
        for height in [0.25, 0.2] {
            let what = format!("{solver}, {height} m");
            let mut simulation = simulation_on(&corner_through_cloth(solver, height), 1);
            let frame = untangle(&mut simulation, &what);
            assert!(frame <= 30, "{what}: free in frame {frame}");
            // It did not go through to the other side: it lies on the sheet, or slips off it.
            let cloth = |index: usize| simulation.in_user_order(index, &simulation.state().positions);
            let flat: Vec<Vec3<f64>> = cloth(0).collect();
            let is_above = |x: &Vec3<f64>| {
                let aside = |y: &&Vec3<f64>| (y.x - x.x) * (y.x - x.x) + (y.z - x.z) * (y.z - x.z);
                flat.iter().min_by(|a, b| aside(a).total_cmp(&aside(b))).is_some_and(|below| x.y > below.y - 0.02)
            };
            let above = cloth(1).filter(is_above).count();
            assert!(above > 70, "{what}: only {above} of 81 vertices of the tilted sheet are above the flat one");
        }
    }
}

/// A sheet that stands across a level one, from border to border or beyond it, with less than a half of it below: that comes up again, with any solver
/// and a little aside too.
#[test]
fn sheets_that_cross_from_border_to_border_come_apart() {
    for (solver, shift) in SOLVERS.into_iter().zip([0.0, 0.003, 0.006, 0.009]) {
        for width in [0.5, 1.4] {
            let what = format!("{solver}, {width} m wide");
            let head = head(solver);
            let cells = if width < 1.0 { 8 } else { 20 };
            let text = format!(
                r#"{head}
                [[cloth]]
                name = "level"
                grid = {{ size = [1, 1], cells = [16, 16] }}
                pins = [{{ select = "corners" }}]
                [[cloth]]
                name = "across"
                grid = {{ size = [{width}, 0.4], cells = [{cells}, 7] }}
                rotate = [70, 7, 0]
                translate = [{:?}, 0.08, 0.021]
                "#,
                0.013 + shift
            );
            let mut simulation = simulation_on(&text, 1);
            let frame = untangle(&mut simulation, &what);
            assert!(frame <= 30, "{what}: free in frame {frame}");
        }
    }
}

#[test]
fn a_corner_in_a_mesh_is_drawn_out() {
    let ball = sphere(0.25, 3);
    for solver in SOLVERS {
        for self_contact in [true, false] {
            let text = format!(
                "{}[[cloth]]\ngrid = {{ size = [0.5, 0.5], cells = [12, 12] }}\nrotate = [30, 0, 35]\n\
                 translate = [0.146, 0.466, -0.195]\n[[collider]]\nmesh = {{ file = \"ball\" }}\n",
                head(solver).replace("self_contact = true", &format!("self_contact = {self_contact}"))
            );
            let made = Simulation::new(&scene(&text), 1, &mut |_| Ok(ball.clone()));
            let mut simulation = made.unwrap_or_else(|e| panic!("{e}"));
            let inside = |simulation: &Simulation| {
                let inside = |x: &&Vec3<f64>| x.norm() < 0.24;
                simulation.state().positions.iter().filter(inside).count()
            };
            if self_contact {
                untangle(&mut simulation, solver);
            } else {
                // Cuts of the cloth with itself are its own affair then.
                let tangled = |simulation: &mut Simulation| {
                    let report = simulation.advance().unwrap_or_else(|e| panic!("{solver}: {e}"));
                    report.contact_stats.is_tangled
                };
                let frames = (0..60).take_while(|_| tangled(&mut simulation)).count();
                assert!(frames < 60, "{solver}: still tangled");
                for _ in 0..40 {
                    assert_eq!(simulation.diagnose().intersections, Some(0), "{solver}");
                    assert!(!tangled(&mut simulation), "{solver}: tangled again");
                }
            }
            assert_eq!(inside(&simulation), 0, "{solver}: some of the cloth stayed in the ball");
        }
    }
}

#[test]
fn a_bulge_through_another_layer_of_the_same_cloth_is_flattened() {
    let fold = bulged_fold();
    for solver in &SOLVERS[..3] {
        let text = format!(
            "{}[[cloth]]\nmesh = \"fold\"\nmaterial = {{ bend = {{ model = \"dihedral\" }} }}\n\
             [[collider]]\nplane = {{ point = [0, -0.08, 0], normal = [0, 1, 0] }}\n",
            head(solver)
        );
        let made = Simulation::new(&scene(&text), 1, &mut |_| Ok(fold.clone()));
        let mut simulation = made.unwrap_or_else(|e| panic!("{e}"));
        let frame = untangle(&mut simulation, solver);
        assert!(frame <= 30, "{solver}: free in frame {frame}");
    }
}

/// What only touches is on neither side: the later cloth goes up.
#[test]
fn sheets_that_touch_are_told_apart() {
    let text = format!(
        "gravity = [0, 0, 0]\n{}\
         [[cloth]]\ngrid = {{ size = [0.4, 0.4], cells = [4, 4] }}\n\
         [[cloth]]\ngrid = {{ size = [0.3, 0.3], cells = [3, 3] }}\ntranslate = [0.02, 0, 0.01]\n",
        head(SOLVERS[0])
    );
    let mut simulation = simulation_on(&text, 1);
    assert!(simulation.model().is_tangled && cuts(&simulation) == 0);
    for frame in 1..=30 {
        let report = simulation.advance().unwrap_or_else(|e| panic!("frame {frame}: {e}"));
        assert!(frame < 10 || !report.contact_stats.is_tangled, "frame {frame}");
    }
    assert_eq!(cuts(&simulation), 0);
    let heights = |cloth: usize| simulation.in_user_order(cloth, &simulation.state().positions).map(|x| x.y);
    assert!(heights(1).fold(f64::INFINITY, f64::min) > heights(0).fold(f64::NEG_INFINITY, f64::max), "which is above");
}

#[test]
fn threads_and_resuming_change_no_bit_of_it() {
    for solver in [SOLVERS[0], SOLVERS[2]] {
        let text = corner_through_cloth(solver, 0.18);
        let mut alone = simulation_on(&text, 1);
        let mut tangled = Vec::new();
        let mut snapshots = Vec::new();
        for _ in 0..16 {
            snapshots.push(alone.state().clone());
            tangled.push(alone.advance().unwrap_or_else(|e| panic!("{e}")).contact_stats.is_tangled);
        }
        assert!(tangled[0] && !tangled[15], "{solver}: {tangled:?}");
        let mut together = simulation_on(&text, 3);
        run(&mut together, 16);
        assert_eq!(together.state().hash(), alone.state().hash(), "{solver}: three threads");
        let last = tangled.iter().rposition(|tangled| *tangled).unwrap_or(0);
        for frame in [1, last + 1] {
            let mut resumed = simulation_on(&text, 1);
            resumed.restore(snapshots[frame].clone(), frame).expect("a snapshot of the same scene");
            for (later, expected) in tangled.iter().enumerate().skip(frame) {
                let report = resumed.advance().unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(report.contact_stats.is_tangled, *expected, "{solver}: from {frame}, frame {}", later + 1);
            }
            assert_eq!(resumed.state().hash(), alone.state().hash(), "{solver}: resumed from frame {frame}");
        }
        // Back to the start, in the same simulation.
        alone.reset();
        assert!(alone.advance().unwrap_or_else(|e| panic!("{e}")).contact_stats.is_tangled, "{solver}: reset");
    }
}

/// Two sheets that cross from border to border: no contour to shorten leads out.
#[test]
fn what_cannot_be_untangled_ends_with_an_error_that_names_it() {
    let text = format!(
        "gravity = [0, 0, 0]\n{}\
         [[cloth]]\nname = \"flat\"\ngrid = {{ size = [0.4, 0.4], cells = [4, 4] }}\npins = [{{ select = \"all\" }}]\n\
         [[cloth]]\nname = \"upright\"\ngrid = {{ size = [0.4, 0.4], cells = [4, 4] }}\nrotate = [90, 0, 0]\n\
         translate = [0.01, 0.02, 0.03]\npins = [{{ select = \"all\" }}]\n",
        head(SOLVERS[0])
    );
    let mut simulation = simulation_on(&text, 1);
    let error = (0..200).find_map(|_| simulation.advance().err()).expect("it cannot be untangled");
    assert_eq!(simulation.frame(), 119, "two seconds, less the frame that failed");
    let said = error.to_string();
    assert!(matches!(error, StepError::Tangled { .. }), "{said}");
    assert!(said.starts_with("the start could not be untangled: 2 s after it "), "{said}");
    assert!(said.contains("of cloth \"flat\" and ") && said.contains("of \"upright\""), "{said}");
}

#[test]
fn untangling_changes_nothing_where_there_is_nothing_to_do() {
    let text = corner_through_cloth(SOLVERS[0], 0.4);
    let (mut with, mut without) =
        (simulation_on(&text, 1), simulation_on(&text.replace(", start = \"untangle\"", ""), 1));
    assert!(!with.model().is_tangled && with.warnings().is_empty());
    for _ in 0..20 {
        with.advance().and_then(|_| without.advance()).unwrap_or_else(|e| panic!("{e}"));
    }
    assert_eq!(with.state().hash(), without.state().hash());
    let idle =
        simulation_on("contact = { start = \"untangle\" }\n[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }\n", 1);
    let said: Vec<_> = idle.warnings().iter().map(ToString::to_string).collect();
    assert!(said.len() == 1 && said[0].starts_with("contact.start: has nothing to do"), "{said:?}");
}

#[test]
fn a_bad_start_can_be_looked_at() {
    let text = |start: &str| {
        format!(
            r#"
            contact = {{ self_contact = true, start = "{start}" }}
            [[cloth]]
            grid = {{ size = [2, 2], cells = [1, 1], diagonals = "forward" }}
            [[cloth]]
            grid = {{ size = [0.2, 0.2], cells = [2, 2] }}
            rotate = [90, 0, 0]
            translate = [0.5, 0.07, -0.5]
            [[collider]]
            mesh = {{ file = "plate" }}
            "#
        )
    };
    // The plate is level, and cuts the upright sheet as well, a little higher.
    let mut plate = Mesh::grid([4.0, 4.0], [1, 1], Diagonals::Forward).expect("a grid");
    plate.positions.iter_mut().for_each(|p| p[1] = 0.11);
    let find = |start: &str| {
        let mut no_frames = |file: &str| Err(format!("there is no file {file}"));
        BadStart::find(&scene(&text(start)), &mut |_| Ok(plate.clone()), &mut no_frames)
    };
    let found = find("error").expect("a bad start");
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    assert!(found.problems.iter().all(|problem| problem.severity == Severity::Error));
    assert_eq!((found.cloths.len(), found.bodies.len()), (2, 1));
    // Of the large sheets one triangle each; of the small one, which stands from −0.03 to 0.17, the lower row and the upper.
    assert_eq!((found.cloths[0].len(), found.bodies[0].len()), (1, 1), "{found:?}");
    assert!(found.cloths[1].len() >= 6, "{:?}", found.cloths[1]);
    assert!(find("untangle").is_none(), "it is not refused");
}
