//! Rules about code.

use super::Finding;
use super::rust::{Source, Token, group_end, has_texts};
use super::tree::Tree;

/// Longer files are split: nobody keeps more in mind.
const LINE_LIMIT: usize = 800;

/// Files that may use `unsafe`, and why.
const UNSAFE_ALLOWED: &[(&str, &str)] = &[
    ("crates/muslin-web/src/lib.rs", "the border of a WebAssembly module is raw memory"),
    (
        "crates/muslin/src/parallel/shared.rs",
        "the accesses to an array that threads share, which all others are made of",
    ),
    (
        "crates/muslin/src/parallel/slices.rs",
        "hands out the items of disjoint shares, which the borrow checker cannot see",
    ),
    ("crates/muslin/src/parallel/worker.rs", "hands out parts of an array that are disjoint by their shares"),
    ("crates/muslin/src/parallel/stencils.rs", "skips bounds checks of indices that it checked when it was built"),
    ("crates/muslin/src/parallel/team.rs", "refers to workers that wait as long as they are led"),
    ("crates/muslin/src/parallel/workers.rs", "threads do work of another, which waits until they have done it"),
    ("crates/muslin/src/parallel/avx2.rs", "enters code for AVX2, where the processor was seen to have it"),
    (
        "crates/muslin/src/math/f32x8.rs",
        "instructions that not every processor has, asked for where it was seen to have them",
    ),
    ("crates/muslin/tests/allocation.rs", "counts allocations: a global allocator is unsafe to write"),
];

/// Modules of the standard library that reach out of the process.
const OUTSIDE: &[&str] = &["fs", "io", "net", "env", "process"];

/// Macros that print.
const PRINTS: &[&str] = &["println", "print", "eprintln", "eprint", "dbg"];

/// Types that make a `static` change after the start.
const CELLS: &[&str] = &["OnceLock", "LazyLock", "OnceCell", "LazyCell", "Once", "Mutex", "RwLock", "Cell", "RefCell"];

pub(super) fn no_long_file(tree: &Tree) -> Vec<Finding> {
    let kinds = [".rs", ".py", ".ts", ".tsx", ".wgsl"];
    let code = tree.texts().filter(|(path, _)| kinds.iter().any(|kind| path.ends_with(kind)));
    code.map(|(path, text)| (path, text.lines().count()))
        .filter(|&(_, count)| count > LINE_LIMIT)
        .map(|(path, count)| {
            Finding::new(path, LINE_LIMIT + 1, format!("{count} lines, the limit is {LINE_LIMIT}; split it by subject"))
        })
        .collect()
}

pub(super) fn no_unfinished_word(tree: &Tree) -> Vec<Finding> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !path.ends_with(".json")) {
        for (number, line) in text.lines().enumerate() {
            let mut found = line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| words.contains(word));
            if let Some(word) = found.next() {
                findings.push(Finding::new(
                    path,
                    number + 1,
                    format!("the word {word}; do it, or say what is deliberately absent"),
                ));
            }
        }
    }
    findings
}

pub(super) fn no_outside_world_in_library(tree: &Tree) -> Vec<Finding> {
    collect(tree.library(), |tokens, at| {
        let token = tokens[at];
        if token.text == "std" && has_texts(&tokens[at..], &["std", "::"]) {
            let modules = imported(tokens, at + 2);
            let module = OUTSIDE.iter().find(|module| modules.contains(module))?;
            return Some(format!(
                "std::{module} in the library, which does no input or output; move it to muslin-io or muslin-cli"
            ));
        }
        if has_texts(&tokens[at..], &["Instant", "::", "now"]) || token.text == "SystemTime" {
            return Some("a clock in the library; let the caller measure, through a value it passes in".to_owned());
        }
        if PRINTS.contains(&token.text.as_str()) && has_texts(&tokens[at..], &["", "!"]) {
            return Some(format!(
                "{}! in the library, which prints nothing; return it in a report or an error",
                token.text
            ));
        }
        None
    })
}

/// The first names of a path after `std::`: one, or those in braces.
fn imported<'a>(tokens: &[&'a Token], at: usize) -> Vec<&'a str> {
    let Some(first) = tokens.get(at) else { return Vec::new() };
    if first.text != "{" {
        return vec![first.text.as_str()];
    }
    let (mut names, mut depth) = (Vec::new(), 0);
    for pair in tokens[at..group_end(tokens, at)].windows(2) {
        match pair[0].text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 1 && matches!(pair[0].text.as_str(), "{" | ",") {
            names.push(pair[1].text.as_str());
        }
    }
    names
}

pub(super) fn no_global_state_in_library(tree: &Tree) -> Vec<Finding> {
    collect(tree.library(), |tokens, at| {
        let token = tokens[at];
        if matches!(token.text.as_str(), "lazy_static" | "thread_local") {
            return Some(format!(
                "{} in the library, which holds no global state; put it in the value that needs it",
                token.text
            ));
        }
        if token.text != "static" {
            return None;
        }
        let changes = |word: &str| word == "mut" || CELLS.contains(&word) || word.starts_with("Atomic");
        let declared = tokens[at..].iter().take_while(|token| !matches!(token.text.as_str(), "=" | ";"));
        declared.into_iter().any(|token| changes(&token.text)).then(|| {
            "a static that changes in the library, which holds no global state; put it in the value that needs it"
                .to_owned()
        })
    })
}

pub(super) fn no_unsafe_outside_allowed_files(tree: &Tree) -> Vec<Finding> {
    unsafe_findings(tree, UNSAFE_ALLOWED)
}

fn unsafe_findings(tree: &Tree, allowed: &[(&str, &str)]) -> Vec<Finding> {
    let list = "UNSAFE_ALLOWED in xtask/src/tidy/code.rs";
    let gone = allowed.iter().filter(|(file, _)| !tree.has(file));
    let mut findings: Vec<Finding> = gone
        .map(|(file, _)| {
            Finding::new(file, 1, format!("allowed to be unsafe but does not exist; take it out of {list}"))
        })
        .collect();
    for (path, source) in tree.sources() {
        let first = source.tokens().iter().find(|token| token.text == "unsafe");
        let is_allowed = allowed.iter().any(|(file, _)| *file == path);
        match (first, is_allowed) {
            (Some(token), false) => findings.push(Finding::new(
                path,
                token.line,
                format!("unsafe outside the allowed files; write it safely, or add the file and its reason to {list}"),
            )),
            (None, true) => {
                findings.push(Finding::new(path, 1, format!("allowed to be unsafe but is not; take it out of {list}")));
            }
            _ => {}
        }
    }
    findings
}

pub(super) fn no_panic_outside_tests(tree: &Tree) -> Vec<Finding> {
    collect(tree.sources(), |tokens, at| {
        if has_texts(&tokens[at..], &[".", "unwrap", "(", ")"]) {
            return Some(
                ".unwrap() outside of tests; return an error that says what is wrong, or expect() what cannot happen"
                    .to_owned(),
            );
        }
        has_texts(&tokens[at..], &["panic", "!"])
            .then(|| "panic! outside of tests; return an error that says what is wrong".to_owned())
    })
}

pub(super) fn no_test_is_switched_off(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in tree.sources() {
        let tokens = source.tokens();
        for at in 0..tokens.len() {
            if has_texts(&tokens[at..], &["#", "[", "ignore"]) {
                findings.push(Finding::new(
                    path,
                    tokens[at].line,
                    "#[ignore]: a test that does not run; make it run, or remove it",
                ));
            }
            for name in ["todo", "unimplemented"] {
                if has_texts(&tokens[at..], &[name, "!"]) {
                    findings.push(Finding::new(path, tokens[at].line, format!("{name}!; write it, or leave it out")));
                }
            }
        }
    }
    findings
}

/// A file that `syn` cannot read is a file that the checks of items do not see.
pub(super) fn every_file_parses(tree: &Tree) -> Vec<Finding> {
    let errors = tree.sources().filter_map(|(path, source)| Some((path, source.error()?)));
    errors
        .map(|(path, (line, reason))| Finding::new(path, line, format!("is not Rust as tidy reads it: {reason}")))
        .collect()
}

/// What `judge` says about each token that is compiled outside of tests.
fn collect<'a>(
    sources: impl Iterator<Item = (&'a str, &'a Source)>,
    judge: impl Fn(&[&Token], usize) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in sources {
        let tokens = source.shipped();
        for at in 0..tokens.len() {
            if let Some(what) = judge(&tokens, at) {
                findings.push(Finding::new(path, tokens[at].line, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = "crates/muslin/src/bad.rs";

    /// Lines of the findings in one sample file of the library.
    fn lines(check: fn(&Tree) -> Vec<Finding>, text: &str) -> Vec<usize> {
        check(&Tree::sample(&[(LIBRARY, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(lines(no_long_file, &"\n".repeat(800)), [0; 0]);
        assert_eq!(lines(no_long_file, &"\n".repeat(801)), [801]);
        let prose = "\n".repeat(900);
        assert_eq!(no_long_file(&Tree::sample(&[("CHANGELOG.md", &prose)])), [], "prose may be long");
    }

    #[test]
    fn unfinished_words_are_found() {
        let text = concat!("fine\n// TO", "DO: later\n// TO", "DOS\n# FIX", "ME!\n");
        assert_eq!(lines(no_unfinished_word, text), [2, 4]);
    }

    #[test]
    fn the_outside_world_is_found() {
        let bad = "use std::fs;\n\
                   use std::{\n\
                     fmt, io::{self, Write}};\n\
                   let t = Instant::now();\n\
                   println!(\"x\");\n\
                   std::env::var(k);\n\
                   SystemTime::now();";
        assert_eq!(lines(no_outside_world_in_library, bad), [1, 2, 4, 5, 6, 7]);
        let good = "use std::fmt;\n\
                    use std::{collections::{fs}, ops};\n\
                    //! `std::fs`\n\
                    let s = \"println!\"; let process = 1;\n\
                    #[cfg(test)] mod tests { use std::fs; }";
        assert_eq!(lines(no_outside_world_in_library, good), [0; 0]);
        assert_eq!(
            no_outside_world_in_library(&Tree::sample(&[("crates/muslin-io/src/a.rs", bad)])),
            [],
            "not the library"
        );
    }

    #[test]
    fn global_state_is_found() {
        let bad = "static mut A: u8 = 0;\n\
                   static B: OnceLock<u8> = OnceLock::new();\n\
                   lazy_static! {}\n\
                   static C: AtomicUsize = AtomicUsize::new(0);";
        assert_eq!(lines(no_global_state_in_library, bad), [1, 2, 3, 4]);
        let good = "static A: &[u8] = &[0];\nconst B: &'static str = \"static mut\";\nlet c = OnceLock::new();";
        assert_eq!(lines(no_global_state_in_library, good), [0; 0]);
    }

    #[test]
    fn unsafe_is_found_where_it_is_not_allowed() {
        let tree = Tree::sample(&[
            ("crates/a/src/good.rs", "unsafe { x() }"),
            ("crates/a/src/idle.rs", "#![allow(unsafe_code, reason = \"unsafe\")]"),
            ("crates/a/src/bad.rs", "\n\nunsafe fn f() {}"),
        ]);
        let allowed = [("crates/a/src/good.rs", "because"), ("crates/a/src/idle.rs", "no longer"), ("gone.rs", "was")];
        let found: Vec<_> =
            unsafe_findings(&tree, &allowed).into_iter().map(|finding| (finding.path, finding.line)).collect();
        let expected = [("gone.rs", 1), ("crates/a/src/bad.rs", 3), ("crates/a/src/idle.rs", 1)];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }

    #[test]
    fn panics_are_found_outside_of_tests() {
        let bad = "fn f() { x.unwrap();\n\
                   panic!(\"no\");\n\
                   y.unwrap_or(0); }\n\
                   #[cfg(test)]\n\
                   mod tests { fn g() { x.unwrap(); panic!(); } }";
        assert_eq!(lines(no_panic_outside_tests, bad), [1, 2]);
        assert_eq!(no_panic_outside_tests(&Tree::sample(&[("crates/muslin/tests/it/main.rs", bad)])), [], "test file");
    }

    #[test]
    fn switched_off_tests_are_found() {
        let bad = "#[cfg(test)]\n\
                   mod tests {\n\
                   #[test]\n\
                   #[ignore = \"slow\"]\n\
                   fn f() { todo!() }\n\
                   }\n\
                   fn g() { unimplemented!() }";
        assert_eq!(lines(no_test_is_switched_off, bad), [4, 5, 7]);
    }

    #[test]
    fn a_file_that_is_no_rust_is_found() {
        assert_eq!(lines(every_file_parses, "fn f() {}\n\nlet x = 1;"), [3]);
        assert_eq!(lines(every_file_parses, "fn f() {}"), [0; 0]);
    }
}
