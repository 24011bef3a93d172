//! A Rust file as the checks see it: items from `syn`, and a flat list of tokens that also reaches into macros.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token as Mark};

/// One word, number, string or punctuation mark (`::` is one mark), and its line from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) in_test: bool,
}

/// A Rust file. Strings keep their quotes in tokens, so that no word inside of one looks like code.
pub(super) struct Source {
    path: String,
    tokens: Vec<Token>,
    items: Result<syn::File, syn::Error>,
    is_test: bool,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let mut tokens = Vec::new();
        if let Ok(stream) = text.parse::<TokenStream>() {
            flatten(stream, false, &mut tokens);
        }
        let items = syn::parse_file(text);
        let folders = ["/tests/", "/benches/"];
        let is_test = folders.iter().any(|folder| path.contains(folder))
            || items.as_ref().is_ok_and(|file| is_for_tests(&file.attrs));
        let mut source = Self { path: path.to_owned(), tokens, items, is_test: false };
        if is_test {
            source.mark_as_test();
        }
        source
    }

    /// Says that the whole file is compiled for tests only.
    pub(super) fn mark_as_test(&mut self) {
        self.is_test = true;
        for token in &mut self.tokens {
            token.in_test = true;
        }
    }

    /// All tokens.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The tokens that are compiled outside of tests.
    pub(super) fn shipped(&self) -> Vec<&Token> {
        self.tokens.iter().filter(|token| !token.in_test).collect()
    }

    /// The items of a file that is compiled outside of tests; some of them may still be for tests ([`is_for_tests`]).
    pub(super) fn shipped_file(&self) -> Option<&syn::File> {
        self.items.as_ref().ok().filter(|_| !self.is_test)
    }

    /// Where the file is no Rust, and why.
    pub(super) fn error(&self) -> Option<(usize, String)> {
        self.items.as_ref().err().map(|error| (error.span().start().line, error.to_string()))
    }

    /// The modules in files of their own that only tests compile: their paths without `.rs`.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or((".", &self.path));
        let folder = match name.trim_end_matches(".rs") {
            "lib" | "main" | "mod" => folder.to_owned(),
            stem => format!("{folder}/{stem}"),
        };
        let declared = self.tokens.windows(3).filter(|three| three[0].in_test && has_texts(three, &["mod", "", ";"]));
        declared.map(|three| format!("{folder}/{}", three[1].text)).collect()
    }
}

/// Whether the tokens begin with these texts, where "" stands for any one token.
pub(super) fn has_texts<T: std::borrow::Borrow<Token>>(tokens: &[T], texts: &[&str]) -> bool {
    tokens.len() >= texts.len()
        && tokens.iter().zip(texts).all(|(token, text)| text.is_empty() || token.borrow().text == *text)
}

/// The end of the group that opens at `start`: past its closing bracket.
pub(super) fn group_end<T: std::borrow::Borrow<Token>>(tokens: &[T], start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, token) in tokens[start..].iter().enumerate() {
        match token.borrow().text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return start + offset + 1;
        }
    }
    tokens.len()
}

/// Whether an item with these attributes is compiled for tests only.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| is_test(&attribute.meta))
}

/// The attributes of an item; of the few that `syn` does not understand, none.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `test`, or `cfg(test)` and `cfg(all(test, …))`; not `cfg(not(test))` or `cfg(any(test, …))`.
fn is_test(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") || list.path.is_ident("all") => {
            let inside = list.parse_args_with(Punctuated::<Meta, Mark![,]>::parse_terminated);
            inside.is_ok_and(|inside| inside.iter().any(is_test))
        }
        _ => false,
    }
}

/// Appends the tokens of a stream, those of its groups between their brackets.
fn flatten(stream: TokenStream, in_test: bool, tokens: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    let mut in_test_item = false;
    while let Some(tree) = trees.next() {
        if let (TokenTree::Punct(mark), Some(TokenTree::Group(attribute))) = (&tree, trees.peek()) {
            in_test_item |= mark.as_char() == '#' && is_test_attribute(attribute);
        }
        let marked = in_test || in_test_item;
        let mut push = |text: String, line: usize| tokens.push(Token { text, line, in_test: marked });
        let line = tree.span().start().line;
        match &tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(open.to_owned(), line);
                flatten(group.stream(), marked, tokens);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line, in_test: marked });
            }
            TokenTree::Punct(mark) => {
                // A path's `::` and a lifetime come in two pieces.
                let joined =
                    (mark.spacing() == Spacing::Joint).then(|| trees.peek().map(ToString::to_string)).flatten();
                match (mark.as_char(), joined) {
                    (':', Some(next)) if next == ":" => {
                        trees.next();
                        push("::".to_owned(), line);
                    }
                    ('\'', Some(name)) => {
                        trees.next();
                        push(format!("'{name}"), line);
                    }
                    (mark, _) => push(mark.to_string(), line),
                }
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => push(tree.to_string(), line),
        }
        in_test_item &= !ends_item(&tree);
    }
}

fn is_test_attribute(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket && syn::parse2(group.stream()).is_ok_and(|meta| is_test(&meta))
}

/// Whether an item ends here: with its block, or its semicolon.
fn ends_item(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        Source::new("a.rs", text).tokens.into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_go_and_strings_stay_whole() {
        let text =
            "a // unsafe\n /* x /* y */ unsafe */ b::c(\"un\\\"safe\", r#\"p\"q\"#, b\"z\", 'x', '\\'', &'static str)";
        let expected = [
            "a",
            "b",
            "::",
            "c",
            "(",
            "\"un\\\"safe\"",
            ",",
            "r#\"p\"q\"#",
            ",",
            "b\"z\"",
            ",",
            "'x'",
            ",",
            "'\\''",
            ",",
            "&",
            "'static",
            "str",
            ")",
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let source = Source::new("a.rs", "a\n/*\n\n*/ b \"\n\n\" c (\n)");
        let lines: Vec<usize> = source.tokens().iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 4, 4, 6, 6, 7]);
    }

    #[test]
    fn test_items_are_marked_and_others_are_not() {
        let text = "fn a() {} #[cfg(test)] #[allow(x)] mod tests { fn b() { {} } } fn c() {} #[test] fn d() {} \
                    #[cfg(not(test))] fn e() {} #[cfg(all(test, feature = \"z\"))] use f;";
        let source = Source::new("crates/a/src/lib.rs", text);
        let shipped: Vec<&str> = source
            .shipped()
            .into_iter()
            .filter(|token| token.text.len() == 1)
            .map(|token| token.text.as_str())
            .collect();
        let words: String = shipped.concat().chars().filter(char::is_ascii_alphabetic).collect();
        assert_eq!(words, "ace");
    }

    #[test]
    fn a_file_under_cfg_test_has_nothing_that_is_shipped() {
        let source = Source::new("crates/a/src/b.rs", "//! Helpers.\n#![cfg(test)]\nfn f() {}");
        assert!(source.shipped().is_empty() && source.shipped_file().is_none(), "all of it is for tests");
    }

    #[test]
    fn a_file_that_is_no_rust_says_where() {
        let error = |text: &str| Source::new("src/lib.rs", text).error().map(|(line, _)| line);
        assert_eq!(error("fn f() {}\n"), None);
        assert_eq!(error("fn f() {}\n\nfn ="), Some(3));
        for text in ["\"abc", "/* abc", "r##\"abc\"#", "'\\", "#[cfg(test)] mod x {", "#[", "'", "b'"] {
            assert!(error(text).is_some(), "{text}");
        }
    }
}
