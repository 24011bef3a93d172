//! Contact in the report of a frame: pairs and gaps with a known answer, and motion that was held back.

use muslin::Simulation;
use muslin::contact::{Surface, count_intersections};
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh};
use muslin::output::Diagnostics;

use crate::common::{advance, run, scene, set_state, simulation};

const THICKNESS: f64 = 4e-3;

/// A small square over the inside of one triangle of a large one, `gap` more than the thickness above it.
fn over_cloth(gap: f64) -> Diagnostics {
    simulation(&format!(
        r#"
        contact = {{ self_contact = true, thickness = {THICKNESS} }}
        [[cloth]]
        grid = {{ size = [2, 2], cells = [1, 1], diagonals = "forward" }}
        [[cloth]]
        grid = {{ size = [0.2, 0.2], cells = [1, 1] }}
        translate = [0.5, {:?}, -0.5]
        "#,
        THICKNESS + gap
    ))
    .diagnose()
}

/// The same over a mesh, without self-contact.
fn over_mesh(gap: f64) -> Diagnostics {
    let text = format!(
        r#"
        contact = {{ thickness = {THICKNESS} }}
        [[cloth]]
        grid = {{ size = [0.2, 0.2], cells = [1, 1] }}
        translate = [0.5, {:?}, -0.5]
        [[collider]]
        mesh = {{ file = "plate.obj" }}
        "#,
        THICKNESS + gap
    );
    let plate = Mesh::grid([2.0, 2.0], [1, 1], Diagonals::Forward).expect("a grid");
    let made = Simulation::new(&scene(&text), 1, &mut |_| Ok(plate.clone()));
    made.unwrap_or_else(|e| panic!("{e}")).diagnose()
}

/// Four vertices over one triangle: four pairs, and no edges near each other.
#[test]
fn cloth_and_meshes_count_among_contacts_and_gaps() {
    for (what, over) in [("cloth", over_cloth as fn(f64) -> Diagnostics), ("mesh", over_mesh)] {
        for (gap, contacts) in [(-1e-3, 4), (0.0, 4), (1e-3, 0)] {
            let found = over(gap);
            assert_eq!(found.contacts, contacts, "{what}, {gap} m");
            let least = found.min_gap.expect("pairs are near");
            assert!((least - gap).abs() < 1e-15, "{what}: {least} m, not {gap} m");
        }
        assert_eq!((over(1.1 * THICKNESS).contacts, over(1.1 * THICKNESS).min_gap), (0, None), "{what}: far apart");
    }
}

/// A sheet that lies on another, and both on the ground: vertices on the one, pairs on the other.
#[test]
fn bodies_with_a_formula_and_cloth_count_together() {
    let text = |self_contact: bool| {
        format!(
            r#"
            contact = {{ self_contact = {self_contact}, thickness = {THICKNESS} }}
            [[cloth]]
            grid = {{ size = [2, 2], cells = [1, 1], diagonals = "forward" }}
            translate = [0, {THICKNESS}, 0]
            [[cloth]]
            grid = {{ size = [0.2, 0.2], cells = [1, 1] }}
            translate = [0.5, {:?}, -0.5]
            [[collider]]
            plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}
            "#,
            1.75 * THICKNESS
        )
    };
    let (with, without) = (simulation(&text(true)).diagnose(), simulation(&text(false)).diagnose());
    assert_eq!((with.contacts, without.contacts), (8, 4));
    let near = |gap: Option<f64>, expected: f64| gap.is_some_and(|gap| (gap - expected).abs() < 1e-15);
    assert!(near(with.min_gap, -0.25 * THICKNESS) && near(without.min_gap, 0.0), "{with:?} {without:?}");
}

/// Neighbours in a cloth are as near as its mesh is fine: that is no contact, however thick the cloth.
#[test]
fn a_flat_cloth_does_not_touch_itself() {
    let found = simulation(
        r#"
        contact = { self_contact = true, thickness = 0.5 }
        [[cloth]]
        grid = { size = [1, 1], cells = [8, 8] }
        "#,
    )
    .diagnose();
    assert_eq!(found.contacts, 0);
    // The nearest pair of a cell of side a: a vertex and the diagonal across it, a/√2 apart.
    let expected = 0.5 * 0.125 * 0.5_f64.sqrt();
    let gap = found.min_gap.expect("pairs are near");
    assert!((gap - expected).abs() < 1e-12, "{gap} m, not {expected} m");
}

/// A gap within cloth that is finer than it is thick does not hide a nearer pair far away, nor one that is nearly as near.
#[test]
fn the_nearest_pair_of_much_fine_cloth_is_found() {
    let within = 0.5 * (1.0 / 70.0) * 0.5_f64.sqrt();
    for (above, expected) in [(-1e-3, -1e-3), (1e-3, 1e-3), (0.999 * within, 0.999 * within), (0.01, within)] {
        let found = simulation(&format!(
            r#"
            contact = {{ self_contact = true, thickness = 0.02 }}
            [[cloth]]
            grid = {{ size = [1, 1], cells = [70, 70] }}
            [[cloth]]
            grid = {{ size = [0.1, 0.1], cells = [1, 1] }}
            translate = [0.3, {:?}, 0.3]
            "#,
            0.02 + above
        ))
        .diagnose();
        let gap = found.min_gap.expect("pairs are near");
        assert!((gap - expected).abs() < 1e-12, "{above} m above: {gap} m, not {expected} m");
        assert_eq!(found.contacts > 0, above <= 0.0, "{above} m above");
    }
}

/// Crumpled cloth that touches and cuts: contacts, gap and cuts as a search for each of them finds, with the same bits, for every number of threads.
#[test]
fn a_crumpled_cloth_is_reported_as_it_is_whatever_the_threads() {
    /// What counts as touching, in m.
    const TOUCHING: f64 = 1e-5;
    let text = |cells: usize| {
        format!(
            r#"
            contact = {{ self_contact = true, thickness = {THICKNESS} }}
            [[cloth]]
            grid = {{ size = [1, 1], cells = [{cells}, {cells}] }}
            "#
        )
    };
    let crumple = |size: f64, x: Vec3<f64>| {
        let fold = Vec3::new(libm::sin(9.0 * x.z), libm::cos(7.0 * x.x + x.z), libm::sin(11.0 * x.x * x.z));
        Vec3::new(x.x * (1.0 - size), 0.01 * fold.y, x.z) + fold * (0.2 * size)
    };
    let (mut touching, mut cutting) = (0, 0);
    for (cells, size) in [(24, 0.0), (24, 0.3), (24, 0.6), (24, 0.9), (24, 0.97), (24, 1.0), (72, 0.0), (72, 0.4)] {
        let reports = [1, 2, 3].map(|threads| {
            let mut simulation = Simulation::new(&scene(&text(cells)), threads, &mut |file| Err(file.to_owned()))
                .unwrap_or_else(|e| panic!("{e}"));
            let mut state = simulation.state().clone();
            state.positions.iter_mut().for_each(|x| *x = crumple(size, *x));
            simulation.restore(state, 0).unwrap_or_else(|e| panic!("{e}"));
            let (model, x) = (simulation.model(), &simulation.state().positions);
            let (mut contacts, mut least) = (0, None::<f64>);
            Surface::new(model.triangles.clone(), x.len()).for_each_near(
                x,
                2.0 * THICKNESS + 2.0 * TOUCHING,
                |_, _| true,
                |pair, distance| {
                    let gap = distance - model.kept_apart(pair);
                    contacts += usize::from(gap <= TOUCHING);
                    least = Some(least.map_or(gap, |least| least.min(gap)));
                },
            );
            let cuts = count_intersections(&model.triangles, x);
            let report = simulation.diagnose();
            assert_eq!(
                (report.contacts, report.min_gap.map(f64::to_bits), report.intersections),
                (contacts, least.map(f64::to_bits), Some(cuts)),
                "{cells} cells, size {size}, {threads} threads"
            );
            (touching, cutting) = (touching + contacts, cutting + cuts);
            report
        });
        assert!(reports.iter().all(|report| *report == reports[0]), "{cells} cells, size {size}: {reports:?}");
    }
    assert!(touching > 100 && cutting > 100, "{touching} touch and {cutting} cut");
}

#[test]
fn motion_that_is_cut_or_held_back_is_counted() {
    let text = |solver: &str| {
        format!(
            r#"
            gravity = [0, 0, 0]
            solver = {{ {solver} }}
            contact = {{ self_contact = true, thickness = {THICKNESS} }}
            [[cloth]]
            grid = {{ size = [0.4, 0.4], cells = [8, 8] }}
            material = {{ stretch = {{ stiffness = 10 }} }}
            [[cloth]]
            grid = {{ size = [0.4, 0.4], cells = [8, 8] }}
            translate = [0, 0.1, 0]
            velocity = [0, -1, 0]
            "#
        )
    };
    for solver in
        ["kind = \"xpbd\", substeps = 2", "kind = \"explicit\", substeps = 32", "kind = \"newton\", substeps = 1"]
    {
        let mut still = simulation(&text(solver));
        let report = advance(&mut still);
        assert_eq!((report.contact_stats.cut, report.contact_stats.held), (0, 0), "{solver}: nothing is near");
        run(&mut still, 3);

        // The first vertex of the first cloth leaps by metres, alone: the edges are 5 cm long.
        let mut flung = simulation(&text(solver));
        set_state(&mut flung, |state| state.velocities[0] = Vec3::new(-400.0, 0.0, 0.0));
        let cut = advance(&mut flung).contact_stats.cut;
        assert!((1..=81).contains(&cut), "{solver}: {cut} vertices were cut");

        // One cloth is thrown at the other, too fast to be pushed away in time.
        let mut thrown = simulation(&text(solver));
        set_state(&mut thrown, |state| state.velocities[81..].iter_mut().for_each(|v| v.y = -30.0));
        let held: usize = (0..4).map(|_| advance(&mut thrown).contact_stats.held).max().expect("frames");
        assert!(held > 20, "{solver}: {held} vertices were held");
        assert_eq!(thrown.diagnose().intersections, Some(0), "{solver}");
    }
}
