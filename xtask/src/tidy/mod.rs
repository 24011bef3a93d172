//! `cargo xtask tidy`: the rules of the house that a program can check.
//!
//! Each check is a function from the tree to its findings, listed in [`CHECKS`], with a test on a small bad sample.

mod code;
mod documents;
mod examples;
mod layers;
mod lengths;
mod names;
mod rust;
mod tree;

use crate::Failure;
use crate::shell::root;
use tree::Tree;

/// Something that breaks a rule: where, what, and what to do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

const CHECKS: &[fn(&Tree) -> Vec<Finding>] = &[
    code::no_long_file,
    code::no_unfinished_word,
    code::no_outside_world_in_library,
    code::no_global_state_in_library,
    code::no_unsafe_outside_allowed_files,
    code::no_panic_outside_tests,
    code::no_test_is_switched_off,
    code::every_file_parses,
    layers::layers_point_one_way,
    names::one_stem,
    names::energies_conform,
    names::one_type_name_one_meaning,
    names::scene_is_named_after_its_file,
    names::every_crate_takes_workspace_lints,
    documents::named_paths_exist,
    documents::links_exist,
    documents::every_scene_has_a_picture,
    documents::changelog_is_open,
    documents::pinned_hashes_have_their_line,
    documents::web_hashes_go_with_those_of_the_program,
    examples::every_public_type_has_an_example,
    lengths::readme_is_short,
    lengths::architecture_is_short,
    lengths::paragraphs_are_short,
];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(word) = arguments.first() {
        return Err(Failure::Usage(format!("`tidy` does not take `{word}`; it takes nothing")));
    }
    let tree = Tree::read(&root())?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&tree)).collect();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: {} files, no findings", tree.text_count()),
        1 => return Err(Failure::Failed(format!("tidy: {} files, 1 finding", tree.text_count()))),
        count => return Err(Failure::Failed(format!("tidy: {} files, {count} findings", tree.text_count()))),
    }
    Ok(())
}
