//! One stem everywhere: a thing has one name, and its file has it too.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::Finding;
use super::rust::{Token, attributes, group_end, has_texts, is_for_tests};
use super::tree::Tree;

/// Folders of the library in which a file is one thing.
const FOLDERS: &[&str] =
    &["crates/muslin/src/energy/", "crates/muslin/src/solver/", "crates/muslin/src/contact/collider/"];

/// Types whose entries name a thing, as opposed to one of its parameters.
const ENTRIES: &[&str] = &["Entry"];

/// Types of the library that still share their name with another. The list only gets shorter.
const SHARED_TYPE_NAMES: &[&str] = &[
    "Around", "Boxes", "Cloth", "Collider", "Corner", "Element", "Ends", "Finding", "Found", "Matching", "Measure",
    "Member", "Mode", "Motion", "Outcome", "Pair", "Patch", "Patches", "Pin", "Place", "Project", "Pull", "Push",
    "Report", "Rest", "Span", "Start", "Step", "Sums", "Survey", "Sweep", "Verdict", "View", "Visit", "Wind", "Work",
];

pub(super) fn one_stem(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in tree.library() {
        // A module with a folder is named by the folder: `solver/vbd/mod.rs` is `vbd`.
        let module = FOLDERS.iter().find_map(|folder| path.strip_prefix(folder)?.strip_suffix(".rs"));
        let stem = module.map(|module| module.trim_end_matches("/mod")).and_then(|module| module.rsplit('/').next());
        let Some(stem) = stem.filter(|stem| *stem != "mod") else { continue };
        for (name, line) in declared_names(&source.shipped()) {
            if name != stem {
                let what =
                    format!("the name \"{name}\" in the file of `{stem}`; one stem everywhere: rename one of them");
                findings.push(Finding::new(path, line, what));
            }
        }
    }
    findings
}

/// Every energy passes the same suite: a file that implements `Energy` calls it in its tests.
pub(super) fn energies_conform(tree: &Tree) -> Vec<Finding> {
    let energies = tree.texts().filter(|(path, text)| path.starts_with(FOLDERS[0]) && text.contains("\nimpl Energy<"));
    let silent = energies.filter(|(_, text)| !text.contains("conformance::check::<"));
    silent
        .map(|(path, _)| {
            Finding::new(path, 1, "an energy that does not call `conformance::check` in its tests; add the call")
        })
        .collect()
}

/// The names that a file gives to what it defines: `NAME: &'static str = "x"`, and `name: "x"` of an entry.
fn declared_names<'a>(tokens: &[&'a Token]) -> Vec<(&'a str, usize)> {
    let mut names = Vec::new();
    for at in 0..tokens.len() {
        let rest = &tokens[at..];
        let text = if has_texts(rest, &["NAME", ":", "&", "'static", "str", "="]) {
            rest.get(6)
        } else if has_texts(rest, &["NAME", ":", "&", "str", "="]) {
            rest.get(5)
        } else if ENTRIES.contains(&rest[0].text.as_str()) && has_texts(rest, &["", "{"]) {
            field(&rest[1..group_end(rest, 1)], "name")
        } else {
            None
        };
        let string = text.and_then(|token| Some((token.text.strip_prefix('"')?.strip_suffix('"')?, token.line)));
        names.extend(string);
    }
    names
}

/// The value of a field directly in the braces of `group`.
fn field<'a, 'b>(group: &'b [&'a Token], name: &str) -> Option<&'b &'a Token> {
    let mut at = 1;
    while at < group.len() {
        if has_texts(&group[at..], &[name, ":"]) {
            return group.get(at + 2);
        }
        at = if matches!(group[at].text.as_str(), "(" | "[" | "{") { group_end(group, at) } else { at + 1 };
    }
    None
}

/// No two types of the library have one name: a reader who knows the word knows the thing.
pub(super) fn one_type_name_one_meaning(tree: &Tree) -> Vec<Finding> {
    shared_names(tree, SHARED_TYPE_NAMES)
}

fn shared_names(tree: &Tree, allowed: &[&str]) -> Vec<Finding> {
    let list = "SHARED_TYPE_NAMES in xtask/src/tidy/names.rs";
    let mut places: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for (path, source) in tree.library() {
        let mut types = Types::default();
        source.shipped_file().into_iter().for_each(|file| types.visit_file(file));
        for (name, line) in types.0 {
            places.entry(name).or_default().push((path, line));
        }
    }
    let unique = |name: &&&str| places.get(**name).is_none_or(|places| places.len() < 2);
    let mut findings: Vec<Finding> = allowed
        .iter()
        .filter(unique)
        .map(|name| {
            let (path, line) = places.get(*name).map_or(("xtask/src/tidy/names.rs", 1), |places| places[0]);
            Finding::new(path, line, format!("the type name {name} has one meaning now; take it out of {list}"))
        })
        .collect();
    for (name, places) in places.iter().filter(|(name, _)| !allowed.contains(&name.as_str())) {
        let (first, rest) = (places[0], &places[1..]);
        findings.extend(rest.iter().map(|(path, line)| {
            let other = format!("{}:{}", first.0, first.1);
            Finding::new(path, *line, format!("the type name {name} is that of {other} too; rename one of them"))
        }));
    }
    findings
}

/// Collects the types that a file defines outside of tests: names and lines.
#[derive(Default)]
struct Types(Vec<(String, usize)>);

impl<'a> Visit<'a> for Types {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        let name = match item {
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            _ => None,
        };
        self.0.extend(name.map(|name| (name.to_string(), name.span().start().line)));
        visit::visit_item(self, item);
    }
}

pub(super) fn scene_is_named_after_its_file(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, stem) in tree.scenes() {
        let what = match key(tree.text(path).unwrap_or_default(), "", "name") {
            Some((name, _)) if name == stem => continue,
            Some((name, line)) => {
                (line, format!("the scene calls itself \"{name}\"; write name = \"{stem}\", as its file"))
            }
            None => (1, format!("the scene has no name; write name = \"{stem}\" at its top")),
        };
        findings.push(Finding::new(path, what.0, what.1));
    }
    findings
}

/// A plain value in the table `[table]` of a TOML file without its quotes, and its line; "" is the top of the file.
pub(super) fn key<'a>(text: &'a str, table: &str, name: &str) -> Option<(&'a str, usize)> {
    let mut current = "";
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(heading) = line.strip_prefix('[') {
            current = heading.split(']').next().unwrap_or_default().trim();
        } else if let Some((left, right)) = line.split_once('=').filter(|_| current == table)
            && left.trim() == name
        {
            let value = right.trim().trim_start_matches('"');
            return Some((value.split(['"', '#']).next().unwrap_or_default().trim(), number + 1));
        }
    }
    None
}

pub(super) fn every_crate_takes_workspace_lints(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        if text.lines().any(|line| line.trim() == "[workspace]") {
            continue; // a workspace of its own
        }
        let takes = key(text, "lints", "workspace").or_else(|| key(text, "", "lints.workspace"));
        if takes.is_none_or(|(value, _)| value != "true") {
            findings.push(Finding::new(path, 1, "without the workspace's lints; add [lints] with workspace = true"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_the_stem_is_found() {
        let tree = Tree::sample(&[
            (
                "crates/muslin/src/energy/bend/dihedral.rs",
                "const NAME: &'static str = \"angle\";\n\
                 pub const KIND: Entry = Entry {\n\
                  parameters: &[Parameter { name: \"k\" }], name: \"bend\" };",
            ),
            (
                "crates/muslin/src/energy/stretch/spring.rs",
                "const NAME: &'static str = \"spring\";\n\
                 const KIND: Entry = Entry { name: \"spring\", parameters: &[Parameter { name: \"k\" }] };\n\
                 #[cfg(test)] mod tests { const NAME: &str = \"x\"; }",
            ),
            (
                "crates/muslin/src/solver/position_based/xpbd.rs",
                "pub const KIND: SolverKind = SolverKind { entry: Entry { name: \"pbd\" } };",
            ),
            ("crates/muslin/src/energy/mod.rs", "const NAME: &str = \"any\";"),
        ]);
        let found: Vec<(String, usize)> = one_stem(&tree)
            .into_iter()
            .map(|finding| (finding.path.rsplit('/').next().unwrap().to_owned(), finding.line))
            .collect();
        let expected = [("dihedral.rs".to_owned(), 1), ("dihedral.rs".to_owned(), 3), ("xpbd.rs".to_owned(), 1)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_energy_outside_the_suite_is_found() {
        let tree = Tree::sample(&[
            (
                "crates/muslin/src/energy/stretch/spring.rs",
                "\nimpl Energy<2> for Spring {}\nconformance::check::<Spring, 2>(…)",
            ),
            ("crates/muslin/src/energy/bend/shell.rs", "\nimpl Energy<6> for Shell {}"),
            ("crates/muslin/src/energy/row.rs", "pub trait Constraint {}"),
        ]);
        let found: Vec<String> = energies_conform(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["crates/muslin/src/energy/bend/shell.rs"]);
    }

    #[test]
    fn a_scene_with_another_name_is_found() {
        let tree = Tree::sample(&[
            ("scenes/drape.toml", "# over a sphere\nname = \"drapes\" # oops"),
            ("scenes/flag.toml", "[[cloth]]\nname = \"flag\""),
            ("scenes/hanging.toml", "name = \"hanging\"\n[[cloth]]\nname = \"sheet\""),
        ]);
        let found: Vec<String> = scene_is_named_after_its_file(&tree).iter().map(ToString::to_string).collect();
        let expected = [
            "scenes/drape.toml:2: the scene calls itself \"drapes\"; write name = \"drape\", as its file",
            "scenes/flag.toml:1: the scene has no name; write name = \"flag\" at its top",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        let tree = Tree::sample(&[
            ("Cargo.toml", "[workspace]"),
            ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n[lints]\nworkspace = true"),
            ("crates/b/Cargo.toml", "[package]\nversion.workspace = true\n[dependencies]\nworkspace = true"),
        ]);
        let found = every_crate_takes_workspace_lints(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "crates/b/Cargo.toml");
    }

    #[test]
    fn a_type_name_with_two_meanings_is_found() {
        let tree = Tree::sample(&[
            ("crates/muslin/src/a.rs", "pub struct Frame;\nenum Kind {}\nstruct Old;\n#[cfg(test)] struct Random;"),
            ("crates/muslin/src/b.rs", "trait Own { type Kind; }\nfn f() {\n    struct Frame;\n}\ntype Old = u8;"),
            (
                "crates/muslin/src/c.rs",
                "mod inner {\n    pub trait Kind {}\n}\n#[cfg(test)] mod tests { struct Random; struct Own; }",
            ),
            ("crates/muslin-io/src/d.rs", "struct Frame;"),
        ]);
        let found: Vec<String> = shared_names(&tree, &["Old", "Own"]).iter().map(ToString::to_string).collect();
        let expected = [
            "crates/muslin/src/b.rs:1: the type name Own has one meaning now; take it out of SHARED_TYPE_NAMES in xtask/src/tidy/names.rs",
            "crates/muslin/src/b.rs:3: the type name Frame is that of crates/muslin/src/a.rs:1 too; rename one of them",
            "crates/muslin/src/c.rs:2: the type name Kind is that of crates/muslin/src/a.rs:2 too; rename one of them",
        ];
        assert_eq!(found, expected);
    }
}
