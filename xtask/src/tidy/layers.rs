//! The order of the library's modules: `lib.rs` states it, and imports follow it.
//!
//! ```text
//! //! ## Layers
//! //!
//! //! 1. `math`, `parallel`: what everything stands on
//! //! 2. `mesh`
//! //! 3. `contact::geometry`
//! ```
//!
//! The names before the colon of an entry are modules of the crate, the lowest layer first. A module may import from itself and from the layers below its own.
//! A module within another may have a layer of its own; what lies within a module and has none is of its layer. An import counts by the path that it
//! is written with: what `contact` shows of `contact::geometry` is the geometry's only under the name of the geometry.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use super::Finding;
use super::rust::{attributes, is_for_tests};
use super::tree::Tree;

const ROOT: &str = "crates/muslin/src/";
const HEADING: &str = "## Layers";

pub(super) fn layers_point_one_way(tree: &Tree) -> Vec<Finding> {
    let lib = format!("{ROOT}lib.rs");
    let Some(file) = tree.source(&lib).and_then(|source| source.shipped_file()) else { return Vec::new() };
    let Some(layers) = layers(tree.text(&lib).unwrap_or_default()) else { return Vec::new() };
    let mut findings = every_module_has_a_layer(tree, &lib, &layers, &declared(file));
    let exports = exports(file);
    for (path, source) in tree.library().filter(|(path, _)| *path != lib) {
        let Some(file) = source.shipped_file() else { continue };
        let module = module_of(path);
        let Some((own, own_layer)) = home(&layers, &module) else { continue };
        let mut imports = Imports { module, found: Vec::new() };
        imports.visit_file(file);
        for (line, mut names) in imports.found {
            if let Some(module) = names.first().and_then(|name| exports.get(name)) {
                names = vec![module.clone()];
            }
            let Some((other, layer)) = home(&layers, &names).filter(|(other, _)| *other != own) else { continue };
            let place = match layer.cmp(&own_layer) {
                std::cmp::Ordering::Less => continue,
                std::cmp::Ordering::Equal => "they stand side by side",
                std::cmp::Ordering::Greater => "it stands above it",
            };
            findings.push(Finding::new(path, line, format!("{own} may not import {other}: {place} in lib.rs")));
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

/// The longest beginning of a path that has a layer, and the layer.
fn home<'a>(layers: &'a BTreeMap<String, usize>, path: &[String]) -> Option<(&'a str, usize)> {
    let beginnings = (1..=path.len()).rev().map(|count| path[..count].join("::"));
    beginnings.into_iter().find_map(|name| layers.get_key_value(&name)).map(|(name, layer)| (name.as_str(), *layer))
}

/// The layer of each module, counted from the lowest; nothing where the file states no order.
fn layers(text: &str) -> Option<BTreeMap<String, usize>> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let mut section = lines.skip_while(|line| *line != HEADING);
    section.next()?;
    let entries = section.take_while(|line| !line.starts_with('#')).filter(|line| is_entry(line));
    let mut layers = BTreeMap::new();
    for (layer, entry) in entries.enumerate() {
        let names = entry.split(": ").next().unwrap_or_default();
        layers.extend(names.split('`').skip(1).step_by(2).map(|name| (name.to_owned(), layer)));
    }
    Some(layers)
}

/// Whether a line begins with the mark of a list: `-`, `*` or `1.`.
fn is_entry(line: &str) -> bool {
    let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || (digits.len() < line.len() && digits.starts_with(". "))
}

/// The modules that a file declares outside of tests, each with its line.
fn declared(file: &syn::File) -> Vec<(String, usize)> {
    let modules = file.items.iter().filter_map(|item| match item {
        Item::Mod(module) if !is_for_tests(&module.attrs) => Some(&module.ident),
        _ => None,
    });
    modules.map(|name| (name.to_string(), name.span().start().line)).collect()
}

fn every_module_has_a_layer(
    tree: &Tree,
    lib: &str,
    layers: &BTreeMap<String, usize>,
    declared: &[(String, usize)],
) -> Vec<Finding> {
    let homeless = declared.iter().filter(|(name, _)| !layers.contains_key(name)).map(|(name, line)| {
        Finding::new(lib, *line, format!("the module {name} has no layer; name it under {HEADING}, lowest first"))
    });
    let is_file = |name: &str| {
        let path = format!("{ROOT}{}", name.replace("::", "/"));
        [format!("{path}.rs"), format!("{path}/mod.rs")].iter().any(|path| tree.source(path).is_some())
    };
    let is_gone = |name: &&String| match name.contains("::") {
        true => !is_file(name),
        false => !declared.iter().any(|(module, _)| module == *name),
    };
    let gone = layers
        .keys()
        .filter(is_gone)
        .map(|name| Finding::new(lib, 1, format!("the layers name {name}, which is no module; take it out")));
    homeless.chain(gone).collect()
}

/// What the root of the crate shows of its modules under a name of its own: the name and the module.
fn exports(file: &syn::File) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for item in &file.items {
        if let Item::Use(item) = item {
            for leaf in leaves(&item.tree) {
                let module = leaf.path.into_iter().find(|name| name != "crate" && name != "self");
                exports.extend(module.map(|module| (leaf.name, module)));
            }
        }
    }
    exports
}

/// The module that a file is: `energy/spring.rs` is `[energy, spring]`.
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_start_matches(ROOT).trim_end_matches(".rs");
    path.split('/').filter(|name| *name != "mod").map(str::to_owned).collect()
}

/// One thing that a `use` names.
struct Leaf {
    line: usize,
    path: Vec<String>,
    /// What it is called from here on.
    name: String,
}

fn leaves(tree: &UseTree) -> Vec<Leaf> {
    let leaf = |end: &syn::Ident, name: &syn::Ident| {
        vec![Leaf { line: end.span().start().line, path: vec![end.to_string()], name: name.to_string() }]
    };
    match tree {
        UseTree::Path(path) => {
            let mut below = leaves(&path.tree);
            below.iter_mut().for_each(|leaf| leaf.path.insert(0, path.ident.to_string()));
            below
        }
        UseTree::Name(end) => leaf(&end.ident, &end.ident),
        UseTree::Rename(end) => leaf(&end.ident, &end.rename),
        UseTree::Glob(glob) => {
            vec![Leaf { line: glob.star_token.span.start().line, path: vec!["*".to_owned()], name: "*".to_owned() }]
        }
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Collects what a file takes from the root of the crate.
struct Imports {
    /// Where the visitor is: the module of the file, and the modules within it.
    module: Vec<String>,
    /// Line, and the path from the root on.
    found: Vec<(usize, Vec<String>)>,
}

impl Imports {
    /// Notes a path that names its way: from the root, or up and down from here.
    fn note(&mut self, line: usize, path: &[String]) {
        let mut at = self.module.clone();
        let mut names = path.iter().peekable();
        match names.peek().map(|name| name.as_str()) {
            Some("crate") => {
                names.next();
                at.clear();
            }
            Some("self" | "super") => {
                while let Some(name) = names.next_if(|name| matches!(name.as_str(), "self" | "super")) {
                    if name == "super" {
                        at.pop();
                    }
                }
            }
            _ => return,
        }
        at.extend(names.cloned());
        self.found.push((line, at));
    }

    /// Paths in what a macro is given, which has no grammar of its own.
    fn note_tokens(&mut self, stream: TokenStream) {
        let (mut line, mut path, mut colons) = (0, Vec::<String>::new(), 0);
        for tree in stream {
            match tree {
                TokenTree::Ident(name) if path.is_empty() || colons == 2 => {
                    if path.is_empty() {
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() && colons < 2 => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    self.note(line, &path);
                    (line, path, colons) = (name.span().start().line, vec![name.to_string()], 0);
                    continue;
                }
                TokenTree::Group(group) => self.note_tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            self.note(line, &path);
            (path, colons) = (Vec::new(), 0);
        }
        self.note(line, &path);
    }
}

impl<'a> Visit<'a> for Imports {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        for leaf in leaves(&item.tree) {
            self.note(leaf.line, &leaf.path);
        }
    }

    /// `pub(in crate::energy)` is no import.
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        if let Some(first) = path.segments.first() {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(first.ident.span().start().line, &names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        self.visit_path(&called.path);
        self.note_tokens(called.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "//! Cloth.\n//!\n//! ## Layers\n//!\n\
        //! 1. `math`: numbers, not `solver`\n//! 2. `mesh`, `force`\n//!    and more of `them`\n//! 3. `energy`\n//! 4. `solver`\n//!\n\
        //! ## Units\n//!\n//! - `metres`\n\
        pub mod math;\npub mod mesh;\npub mod force;\npub mod energy;\npub mod solver;\n#[cfg(test)] mod checks;\npub use solver::{Solver as Any, Step};\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let path = format!("{ROOT}{path}");
        let tree = Tree::sample(&[("crates/muslin/src/lib.rs", LIB), (&path, text)]);
        let shown = layers_point_one_way(&tree).into_iter().map(|finding| finding.to_string());
        shown.map(|finding| finding.trim_start_matches(ROOT).to_owned()).collect()
    }

    #[test]
    fn an_import_from_above_is_found_however_it_is_written() {
        let above = |line: usize| {
            format!("energy/spring.rs:{line}: energy may not import solver: it stands above it in lib.rs")
        };
        for text in [
            "\nuse crate::solver::Step;",
            "use crate::{\n    solver::{Step, Sweep}};",
            "use crate::{\n    solver};",
            "\nuse crate::solver as s;",
            "\nuse super::super::solver;",
            "\nuse crate::Step;",
            "\nuse crate::Any;",
            "\nfn f(step: &crate::solver::Step) {}",
            "fn f() {\n    super::super::solver::step::<u8>();\n}",
            "\nimpl crate::solver::Sweep for Spring {}",
            "fn f() {\n    vec![g(1, crate::solver::STEPS)];\n}",
            "mod inner {\n    use super::super::super::solver;\n}",
            "\npub use crate::solver::*;",
        ] {
            assert_eq!(found("energy/spring.rs", text), [above(2)], "{text}");
        }
    }

    #[test]
    fn neighbours_on_a_line_do_not_import_each_other() {
        let shown = found("mesh.rs", "use crate::math::Vec3;\nuse crate::force::Wind;\nuse super::mesh::A;");
        assert_eq!(shown, ["mesh.rs:2: mesh may not import force: they stand side by side in lib.rs"]);
    }

    #[test]
    fn imports_from_below_from_itself_and_in_tests_are_fine() {
        let text = "//! [`crate::solver`]\nuse crate::{math::Vec3, mesh};\nuse super::row;\nuse self::inner::X;\nuse crate::energy::row;\n\
            pub(in crate::energy) struct A;\npub(super) struct B;\nfn solver() { std::mem::swap(a, b); x.solver(); println!(\"crate::solver\"); }\n\
            #[cfg(test)] use crate::solver::Step;\n#[cfg(test)] mod tests { use crate::solver::Step; }";
        assert_eq!(found("energy/spring.rs", text), [""; 0]);
        assert_eq!(found("solver/mod.rs", "use crate::{energy, mesh, force, math};\nuse super::energy;"), [""; 0]);
        assert_eq!(found("checks.rs", "use crate::solver::Step;"), [""; 0], "a module of tests");
    }

    /// `contact::geometry` stands below the model, the rest of `contact` above it.
    #[test]
    fn a_module_within_another_may_have_a_layer_of_its_own() {
        let lib = "//! ## Layers\n//! 1. `contact::geometry`\n//! 2. `model`\n//! 3. `contact`\npub mod contact;\npub mod model;";
        let found = |path: &str, text: &str| -> Vec<String> {
            let (geometry, path) = ("crates/muslin/src/contact/geometry/mod.rs", format!("{ROOT}{path}"));
            let tree = Tree::sample(&[("crates/muslin/src/lib.rs", lib), (geometry, ""), (&path, text)]);
            layers_point_one_way(&tree).into_iter().map(|finding| finding.to_string()).collect()
        };
        let from_model = "use crate::contact::geometry::bvh::Bvh;\nuse crate::contact::{geometry::bvh, resolve};\nuse crate::contact::Closest;";
        let expected = [2, 3].map(|line| {
            format!("crates/muslin/src/model/mod.rs:{line}: model may not import contact: it stands above it in lib.rs")
        });
        assert_eq!(found("model/mod.rs", from_model), expected);
        let from_geometry = "use super::bvh;\nuse crate::contact::geometry::bvh::Bvh;\nuse super::super::Pair;\nuse crate::model::Model;";
        let expected = [(3, "contact"), (4, "model")].map(|(line, other)| {
            format!("crates/muslin/src/contact/geometry/surface.rs:{line}: contact::geometry may not import {other}: it stands above it in lib.rs")
        });
        assert_eq!(found("contact/geometry/surface.rs", from_geometry), expected);
        let from_contact =
            "use crate::model::Model;\nuse crate::contact::geometry::bvh;\nuse super::geometry;\nuse super::pair;";
        assert_eq!(found("contact/resolve.rs", from_contact), [""; 0]);
    }

    #[test]
    fn every_module_stands_in_a_layer() {
        let lib = "//! ## Layers\n//! - `math`, `gone`, `math::gone`\npub mod math;\npub mod mesh;";
        let shown: Vec<String> = layers_point_one_way(&Tree::sample(&[("crates/muslin/src/lib.rs", lib)]))
            .into_iter()
            .map(|finding| finding.to_string())
            .collect();
        let expected = [
            "crates/muslin/src/lib.rs:1: the layers name gone, which is no module; take it out",
            "crates/muslin/src/lib.rs:1: the layers name math::gone, which is no module; take it out",
            "crates/muslin/src/lib.rs:4: the module mesh has no layer; name it under ## Layers, lowest first",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn without_a_stated_order_nothing_is_found() {
        let files = [
            ("crates/muslin/src/lib.rs", "pub mod math;\npub mod solver;"),
            ("crates/muslin/src/math.rs", "use crate::solver;"),
        ];
        assert_eq!(layers_point_one_way(&Tree::sample(&files)), []);
    }
}
