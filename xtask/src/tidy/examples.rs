//! Rules about examples: a type that a program can name shows how it is used.

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Lit, Meta, Visibility};

use super::Finding;
use super::rust::{attributes, is_for_tests};
use super::tree::Tree;

/// Public types of the library that need no example, and why.
const WITHOUT: &[(&str, &str)] = &[];

/// Every public struct, enum, trait, union and alias of the library has an example in its documentation.
///
/// The compiler's `unreachable_pub` sees to it that what is `pub` can be reached. What is hidden from the documentation needs none; a comment on
/// the line of that attribute says why it is public all the same.
pub(super) fn every_public_type_has_an_example(tree: &Tree) -> Vec<Finding> {
    examples(tree, WITHOUT)
}

fn examples(tree: &Tree, without: &[(&str, &str)]) -> Vec<Finding> {
    let (mut findings, mut known) = (Vec::new(), Vec::new());
    for (path, source) in tree.library() {
        let mut types = Types::default();
        source.shipped_file().into_iter().for_each(|file| types.visit_file(file));
        for found in types.0 {
            let is_excused = without.iter().any(|(name, _)| *name == found.name);
            known.extend(is_excused.then(|| found.name.clone()));
            if found.is_shown && !found.has_example && !is_excused {
                let what = format!("{} is public without an example; add one to its documentation", found.name);
                findings.push(Finding::new(path, found.line, what));
            }
        }
        findings.extend(silent_hiding(path, tree.text(path).unwrap_or_default()));
    }
    let gone = without.iter().filter(|(name, _)| !known.iter().any(|known| known == name));
    findings.extend(gone.map(|(name, _)| {
        let what = format!("{name} is no type of the library; take it out of WITHOUT");
        Finding::new("xtask/src/tidy/examples.rs", 1, what)
    }));
    findings
}

/// Where something is hidden from the documentation without a word.
fn silent_hiding(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        line.starts_with("#[doc(hidden)]") && !line.contains("//")
    });
    let what = "hidden from the documentation; say on this line, after //, who needs it all the same";
    lines.map(|(index, _)| Finding::new(path, index + 1, what)).collect()
}

/// A public type.
struct PublicType {
    name: String,
    line: usize,
    has_example: bool,
    is_shown: bool,
}

/// Collects the public types that a file defines outside of tests.
#[derive(Default)]
struct Types(Vec<PublicType>);

impl<'a> Visit<'a> for Types {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = attributes(item);
        if is_for_tests(attributes) {
            return;
        }
        let (name, visibility) = match item {
            Item::Struct(item) => (&item.ident, &item.vis),
            Item::Enum(item) => (&item.ident, &item.vis),
            Item::Union(item) => (&item.ident, &item.vis),
            Item::Trait(item) => (&item.ident, &item.vis),
            Item::Type(item) => (&item.ident, &item.vis),
            _ => return visit::visit_item(self, item),
        };
        if matches!(visibility, Visibility::Public(_)) {
            let has_example = fences(attributes).any(|language| language.is_empty() || language == "should_panic");
            let (name, line) = (name.to_string(), name.span().start().line);
            self.0.push(PublicType { name, line, has_example, is_shown: !is_hidden(attributes) });
        }
    }
}

/// The languages of the fences in a documentation, the empty one for those of Rust and for those that end a block.
fn fences(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    let mut is_open = false;
    lines(attributes).filter_map(move |line| {
        let language = line.trim().strip_prefix("```")?.to_owned();
        is_open = !is_open;
        is_open.then_some(language)
    })
}

/// The lines of a documentation.
fn lines(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, without: &[(&str, &str)]) -> Vec<String> {
        let tree =
            Tree::sample(&[("crates/muslin/src/a.rs", text), ("crates/muslin-io/src/b.rs", "pub struct Other;")]);
        examples(&tree, without).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_public_type_without_an_example_is_found() {
        let text = "/// A.\npub struct A;\n/// B.\n///\n/// ```\n/// let b = B;\n/// ```\npub struct B;\n\
            /// C.\n/// ```text\n/// x\n/// ```\npub trait C {}\npub(crate) enum D {}\nstruct E;\npub use x::F;\n\
            #[cfg(test)]\nmod tests { pub struct G; }";
        let without = |name: &str, line: usize| {
            format!("crates/muslin/src/a.rs:{line}: {name} is public without an example; add one to its documentation")
        };
        assert_eq!(found(text, &[]), [without("A", 2), without("C", 13)]);
        assert_eq!(found(text, &[("A", "because")]), [without("C", 13)]);
        let gone = "xtask/src/tidy/examples.rs:1: H is no type of the library; take it out of WITHOUT";
        assert_eq!(found("", &[("H", "because")]), [gone]);
    }

    #[test]
    fn a_hidden_type_needs_a_reason_instead() {
        assert_eq!(found("#[doc(hidden)] // tests name it\npub struct A;", &[]), [""; 0]);
        let expected = "crates/muslin/src/a.rs:1: hidden from the documentation; \
            say on this line, after //, who needs it all the same";
        assert_eq!(found("#[doc(hidden)]\npub struct A;", &[]), [expected]);
    }
}
