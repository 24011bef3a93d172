//! What a program leads and sets from outside, frame by frame, and that a snapshot has it.

use muslin::contact::Cuboid;
use muslin::simulation::{ActionError, RayTarget};
use muslin::solver::{Newton, Vbd, Xpbd};
use muslin::{Cloth, ClothBuilder, Collide, Contact, Interaction, Pin, Simulation, SimulationBuilder};

fn sheet() -> ClothBuilder {
    Cloth::grid([1.0, 1.0], [6, 6])
}

fn solvers() -> [(&'static str, SimulationBuilder); 4] {
    let new = Simulation::builder;
    [
        ("auto", new()),
        ("xpbd", new().solver(Xpbd::default())),
        ("newton", new().solver(Newton { substeps: 8, ..Default::default() })),
        ("vbd", new().solver(Vbd::default())),
    ]
}

fn paddle() -> Cuboid {
    Cuboid { center: [0.0; 3], size: [1.0, 0.1, 0.1], rotate: [0.0; 3] }
}

fn position(simulation: &Simulation, vertex: usize) -> [f64; 3] {
    let x = simulation.in_user_order(0, &simulation.state().positions).nth(vertex);
    x.expect("a vertex").to_array()
}

fn said<T: std::fmt::Debug>(outcome: Result<T, ActionError>) -> String {
    outcome.expect_err("refused").to_string()
}

#[test]
fn vertices_are_where_a_program_leads_them_at_the_end_of_each_frame() {
    for (name, solver) in solvers() {
        let mut simulation = solver.cloth(sheet().pin(Pin::vertices([0]))).build().unwrap();
        let start = [0, 6].map(|vertex| position(&simulation, vertex));
        for frame in 1..=6 {
            let lift = 0.02 * f64::from(frame);
            let target = |[x, y, z]: [f64; 3]| [x, y + lift, z];
            simulation.lead_vertices(0, &[(0, target(start[0])), (6, target(start[1]))]).unwrap();
            simulation.advance().unwrap();
            for (vertex, start) in [0, 6].into_iter().zip(start) {
                let error = position(&simulation, vertex)[1] - start[1] - lift;
                assert!(error.abs() < 1e-6, "{name}: vertex {vertex} is off by {error} in frame {frame}");
            }
        }
        let held = position(&simulation, 6);
        simulation.advance().unwrap();
        // Solvers in single precision round the way, not the end.
        let moved = position(&simulation, 6)[1] - held[1];
        assert!(moved.abs() < 1e-8, "{name}: it stays, but for {moved}");
        simulation.free_vertices(0, &[0, 6]).unwrap();
        (0..15).for_each(|_| assert!(simulation.advance().is_ok()));
        assert!(position(&simulation, 0)[1] < held[1] - 0.05, "{name}: the pin of the scene lets go too");
        assert!(position(&simulation, 6)[1] < held[1] - 0.05, "{name}: it falls");
    }
}

#[test]
fn a_collider_turns_as_it_is_told() {
    let mut simulation = Simulation::builder()
        .cloth(sheet().translate([0.0, -5.0, 0.0]))
        .collider(paddle().named("paddle"))
        .build()
        .unwrap();
    let hits = |simulation: &Simulation, x, z| {
        let hit = simulation.raycast([x, 1.0, z], [0.0, -1.0, 0.0]);
        hit.is_some_and(|hit| hit.target == RayTarget::Collider(0))
    };
    assert!(hits(&simulation, 0.4, 0.0) && !hits(&simulation, 0.0, 0.4), "it lies along x");
    simulation.turn_collider(0, 90.0).unwrap();
    simulation.advance().unwrap();
    assert!(!hits(&simulation, 0.4, 0.0) && hits(&simulation, 0.0, 0.4), "along z");
    simulation.move_collider(0, [0.4, 0.0, 0.0]).unwrap();
    simulation.advance().unwrap();
    assert!(hits(&simulation, 0.4, 0.4) && !hits(&simulation, 0.0, 0.4), "turned as it was, and moved");
    assert_eq!(said(simulation.turn_collider(1, 90.0)), "there is no collider 1; the scene has 1");
    assert!(said(simulation.turn_collider(0, f64::NAN)).contains("is not finite"), "no angle");
}

#[test]
fn a_state_and_an_interaction_go_on_to_the_same_bits() {
    for (index, (name, _)) in solvers().into_iter().enumerate() {
        let build = || {
            let (_, solver) = solvers().into_iter().nth(index).unwrap();
            let cloth = sheet().pin(Pin::vertices([0])).pin(Pin::vertices([42]));
            let under = Cuboid { center: [0.0, -0.12, 0.0], ..paddle() };
            solver.cloth(cloth).collider(under).build().unwrap()
        };
        let mut simulation = build();
        let act = |simulation: &mut Simulation, frame: u32| {
            let way = 0.01 * f64::from(frame);
            simulation.lead_vertices(0, &[(48, [0.5, way, 0.5])]).unwrap();
            simulation.move_pin(0, 1, [0.0, way, 0.0]).unwrap();
            simulation.move_collider(0, [0.0, way, 0.0]).unwrap();
            simulation.turn_collider(0, 300.0 * way).unwrap();
            simulation.advance().unwrap();
        };
        (1..=5).for_each(|frame| act(&mut simulation, frame));
        simulation.free_vertices(0, &[0]).unwrap();
        let (state, interaction) = (simulation.state().clone(), simulation.interaction());
        (6..=9).for_each(|frame| act(&mut simulation, frame));
        simulation.advance().unwrap();

        // As a file would have it.
        let text = serde_json::to_string(&interaction).unwrap();
        let interaction: Interaction = serde_json::from_str(&text).unwrap();
        let mut other = build();
        other.lead_vertices(0, &[(3, [0.0, 1.0, 0.0])]).unwrap();
        other.restore(state, 5).unwrap();
        other.restore_interaction(&interaction).unwrap();
        (6..=9).for_each(|frame| act(&mut other, frame));
        other.advance().unwrap();
        assert_eq!(other.state().hash(), simulation.state().hash(), "{name}");

        let mut smaller = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build().unwrap();
        assert!(said(smaller.restore_interaction(&interaction)).contains("of another scene"), "{name}");
    }
}

#[test]
fn positions_and_velocities_are_as_they_were_set_and_their_energy_is_booked() {
    for (name, solver) in solvers() {
        let mut simulation = solver.cloth(sheet()).build().unwrap();
        (0..3).for_each(|_| assert!(simulation.advance().is_ok()));
        let error = simulation.diagnose().energy_error.unwrap();
        let raised: Vec<[f64; 3]> =
            (0..49).map(|vertex| position(&simulation, vertex)).map(|[x, y, z]| [1.01 * x, y + 1.0, z]).collect();
        simulation.set_positions(0, &raised).unwrap();
        simulation.set_velocities(0, &[[0.0, 3.0, 0.0]; 49]).unwrap();
        assert_eq!(position(&simulation, 17), raised[17], "{name}");
        let velocity = simulation.in_user_order(0, &simulation.state().velocities).nth(17).unwrap();
        assert_eq!(velocity.to_array(), [0.0, 3.0, 0.0], "{name}");
        let now = simulation.diagnose();
        // 1 m up takes 2 J, and 3 m/s 0.9 J.
        assert!((now.energy_error.unwrap() - error).abs() < 1e-9, "{name}: {now:?}");
        assert!(now.work.program > 2.0, "{name}: {now:?}");
        simulation.advance().unwrap();
        assert!(position(&simulation, 17)[1] > raised[17][1] + 0.03, "{name}: it goes on from there");
    }
}

#[test]
fn what_cannot_be_set_is_refused_and_changes_nothing() {
    let contact = Contact { self_contact: true, ..Contact::default() };
    let pair = || sheet().translate([0.0, 1.0, 0.0]);
    let mut simulation = Simulation::builder().contact(contact).cloth(sheet()).cloth(pair()).build().unwrap();
    let before = simulation.state().clone();
    let own: Vec<[f64; 3]> = (0..49).map(|vertex| position(&simulation, vertex)).collect();
    let tilted: Vec<[f64; 3]> = own.iter().map(|[x, y, z]| [*x, *y + 1.01 + 0.5 * x, *z]).collect();
    let refusal = said(simulation.set_positions(0, &tilted));
    assert!(refusal.contains("triangles cut each other") && refusal.ends_with("nothing cuts or touches"), "{refusal}");
    assert!(said(simulation.set_positions(2, &own)).contains("there is no cloth 2"), "no cloth");
    assert!(said(simulation.set_positions(0, &own[1..])).contains("has 49 vertices, but 48 were given"), "length");
    assert!(said(simulation.set_velocities(0, &[[f64::INFINITY; 3]; 49])).contains("is not finite"), "number");
    assert!(said(simulation.lead_vertices(0, &[(0, [0.0; 3]), (49, [0.0; 3])])).contains("out of range"), "vertex");
    assert!(said(simulation.free_vertices(0, &[49])).contains("out of range"), "vertex");
    assert_eq!((simulation.state(), simulation.interaction()), (&before, Interaction::default()));
}
