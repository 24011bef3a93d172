//! The programs of `examples/`, run here: each asserts what it shows.
#![allow(unreachable_pub, reason = "`main` of an example is called from here")]

#[path = "../../examples/character_capsule.rs"]
mod character_capsule;
#[path = "../../examples/custom_energy.rs"]
mod custom_energy;
#[path = "../../examples/custom_shape.rs"]
mod custom_shape;
#[path = "../../examples/game_loop.rs"]
mod game_loop;
#[path = "../../examples/hello.rs"]
mod hello;

#[test]
fn a_tablecloth_falls_onto_a_ball() {
    hello::main().expect("runs");
}

#[test]
fn an_energy_from_outside_joins_two_cloths() {
    custom_energy::main().expect("runs");
}

#[test]
fn a_shape_from_outside_holds_a_cloth() {
    custom_shape::main().expect("runs");
}

#[test]
fn a_capsule_that_a_program_moves_pushes_a_curtain() {
    character_capsule::main().expect("runs");
}

#[test]
fn a_game_loop_has_a_fixed_step() {
    game_loop::main().expect("runs");
}
