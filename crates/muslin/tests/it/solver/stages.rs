//! The stages of a substep are one list: what the documentation says of them is held against the enum.

use muslin::solver::Stage;

/// The text from one mark to the next.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("{from:?} is missing")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("{to:?} is missing")).0
}

#[test]
fn the_walk_of_a_vertex_has_the_stages_as_its_headings() {
    let text = include_str!("../../../../../ARCHITECTURE.md");
    let walk = between(text, "**Into the frame.**", "**Out of the frame.**");
    let headings: Vec<&str> =
        walk.lines().filter_map(|line| Some(line.strip_prefix("**")?.split_once(".**")?.0)).collect();
    assert_eq!(headings, Stage::ALL.map(Stage::heading));
}

#[test]
fn the_headers_of_both_loops_list_the_stages() {
    let headers = [
        include_str!("../../../src/solver/position_based/mod.rs"),
        include_str!("../../../src/solver/substep_loop.rs"),
    ];
    for header in headers {
        let algorithm = between(header, "//! for each substep\n", "//! ```");
        let words = algorithm.lines().filter_map(|line| line.trim_start_matches("//!").split_whitespace().next());
        let mut stages: Vec<&str> = words.filter(|word| Stage::ALL.iter().any(|stage| stage.key() == *word)).collect();
        // Colliders in every iteration, cloth with cloth after them: one stage, two lines.
        stages.dedup();
        assert_eq!(stages, Stage::ALL.map(Stage::key));
    }
}
