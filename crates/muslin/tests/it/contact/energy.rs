//! Contact with bodies takes energy and gives none, however soft the cloth is.

use muslin::Simulation;

use crate::common::{advance, simulation};

fn total(simulation: &Simulation) -> f64 {
    let d = simulation.diagnose();
    d.kinetic_energy + d.elastic_energy + d.gravity_energy
}

/// Vertices that nothing holds together, or next to nothing, above a body.
fn soft(solver: &str, friction: f64, material: &str, body: &str) -> Simulation {
    simulation(&format!(
        r#"
        solver = {{ {solver} }}
        contact = {{ thickness = 5e-3, friction = {friction:?} }}
        [[cloth]]
        grid = {{ size = [0.8, 0.8], cells = [12, 12] }}
        material = {{ density = 0.2, {material} }}
        translate = [0, 0.28, 0]
        [[collider]]
        {body}
        "#
    ))
}

const FREE: &str = r#"stretch = { model = "none" }, bend = { model = "none" }"#;
const SOFT: &str = r#"stretch = { stiffness = 0.1 }, bend = { model = "none" }"#;
const SPHERE: &str = "sphere = { center = [0, 0, 0], radius = 0.2 }";
const INCLINE: &str = "plane = { point = [0, 0, 0], normal = [0.5, 0.8660254037844386, 0] }";

/// The largest rise of the total energy from one frame to the next in a second, in J, and how many vertices touched the body.
fn largest_rise(mut simulation: Simulation) -> (f64, usize) {
    let mut last = total(&simulation);
    let (mut rise, mut contacts) = (0.0_f64, 0);
    for _ in 0..60 {
        advance(&mut simulation);
        let now = total(&simulation);
        rise = rise.max(now - last);
        last = now;
        contacts = contacts.max(simulation.diagnose().contacts);
    }
    (rise, contacts)
}

/// All of them fall with 0.35 J. What goes wrong between a free vertex, friction and a body shows here as tenths of a joule.
#[test]
fn newton_gains_no_energy_from_friction_on_soft_cloth_and_free_vertices() {
    for (integrator, material, most) in [
        ("implicit_euler", FREE, 1e-15),
        ("implicit_euler", SOFT, 1e-15),
        // A fall that began with a step of another scheme forgets that by a third a step.
        ("bdf2", FREE, 1e-11),
        // It keeps an energy of its own, over two steps, from which that of a swinging spring differs by the third order.
        ("bdf2", SOFT, 1e-5),
    ] {
        for body in [SPHERE, INCLINE] {
            for (substeps, friction) in [(2, 0.0), (2, 0.5), (8, 0.5), (2, 1.0)] {
                let solver = format!(r#"kind = "newton", substeps = {substeps}, integrator = "{integrator}""#);
                let (rise, contacts) = largest_rise(soft(&solver, friction, material, body));
                let what = format!("{integrator}, {substeps} substeps, μ = {friction}, {material}, {body}");
                assert!(rise <= most, "{what}: a rise of {rise:.1e} J");
                assert!(contacts >= 8, "{what}: only {contacts} vertices touched");
            }
        }
    }
}

/// Two stiff sheets fall across a bar and onto each other. Met after it had solved, contact undid the solution, and made fifty times the energy that they fell with.
#[test]
fn newton_gains_no_energy_where_stiff_sheets_fall_on_a_bar_and_on_each_other() {
    let sheet = |height: f64, turn: f64| {
        format!(
            r#"
            [[cloth]]
            grid = {{ size = [0.5, 0.5], cells = [12, 12] }}
            translate = [0.01, {height}, 0.0]
            rotate = [0, {turn}, 0]
            material = {{ density = 0.2, stretch = {{ stiffness = 5000.0 }}, bend = {{ stiffness = 1e-4 }} }}
            "#
        )
    };
    let mut simulation = simulation(&format!(
        r#"
        solver.kind = "newton"
        contact = {{ self_contact = true, thickness = 4e-3, friction = 0.3 }}
        {}{}
        [[collider]]
        capsule = {{ a = [-0.4, 0, 0], b = [0.4, 0, 0], radius = 0.05 }}
        [[collider]]
        plane = {{ point = [0, -0.2, 0], normal = [0, 1, 0] }}
        "#,
        sheet(0.1, 0.0),
        sheet(0.13, 20.0)
    ));
    let (mut strain, mut error, mut scale, mut pairs) = (0.0_f64, 0.0_f64, 0.0_f64, 0);
    for _ in 0..40 {
        pairs = pairs.max(advance(&mut simulation).contacts);
        let d = simulation.diagnose();
        strain = strain.max(d.max_strain);
        scale = scale.max(d.kinetic_energy);
        error = error.max(d.energy_error.expect("nothing is led"));
        assert_eq!(d.intersections, Some(0), "pairs that cut each other after frame {}", simulation.frame());
    }
    assert!(pairs > 20, "only {pairs} pairs touched");
    assert!(error <= 0.01 * scale, "{error} J from nowhere, where {scale} J were in motion");
    assert!(strain < 0.15, "a strain of {strain}");
}
