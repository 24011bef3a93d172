//! Rules about how long documents may be: a reader gives up where a writer did not.

use super::Finding;
use super::tree::Tree;

const README_LINES: usize = 120;
const ARCHITECTURE_WORDS: usize = 2500;
const PARAGRAPH_WORDS: usize = 120;

/// Where people write prose for people. `validation/README.md` is written by a program.
const GUIDES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const FOLDERS: &[&str] = &["docs/", "benches/"];

pub(super) fn readme_is_short(tree: &Tree) -> Vec<Finding> {
    let count = tree.text("README.md").unwrap_or_default().lines().count();
    if count <= README_LINES {
        return Vec::new();
    }
    let what = format!("{count} lines, the limit is {README_LINES}; move detail to docs/ or benches/JOURNAL.md");
    vec![Finding::new("README.md", README_LINES + 1, what)]
}

pub(super) fn architecture_is_short(tree: &Tree) -> Vec<Finding> {
    let count = tree.text("ARCHITECTURE.md").unwrap_or_default().split_whitespace().count();
    if count <= ARCHITECTURE_WORDS {
        return Vec::new();
    }
    let what = format!("{count} words, the limit is {ARCHITECTURE_WORDS}; move reasons to docs/decisions/");
    vec![Finding::new("ARCHITECTURE.md", 1, what)]
}

pub(super) fn paragraphs_are_short(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_prose(path)) {
        for (line, count) in paragraphs(text).into_iter().filter(|&(_, count)| count > PARAGRAPH_WORDS) {
            let what =
                format!("a paragraph of {count} words, the limit is {PARAGRAPH_WORDS}; split it, or make a table");
            findings.push(Finding::new(path, line, what));
        }
    }
    for (path, _) in tree.sources() {
        let text = header(tree.text(path).unwrap_or_default());
        for (line, count) in paragraphs(&text).into_iter().filter(|&(_, count)| count > PARAGRAPH_WORDS) {
            let what = format!("a paragraph of {count} words in the header, the limit is {PARAGRAPH_WORDS}; split it");
            findings.push(Finding::new(path, line, what));
        }
    }
    findings
}

/// The `//!` comment of a Rust file as a text, which it begins with; lines keep their numbers.
fn header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

fn is_prose(path: &str) -> bool {
    let is_below = FOLDERS.iter().any(|folder| path.starts_with(folder)) && path.ends_with(".md");
    is_below || GUIDES.contains(&path)
}

/// The first line and the number of words of every paragraph and every item of a list. Fenced and indented code, tables
/// and headings are none.
fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut in_fence, mut is_open) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let content = line.trim_start();
        let is_fence = content.starts_with("```");
        in_fence ^= is_fence;
        let is_code = is_fence || in_fence || (line.starts_with("    ") && !is_open);
        if is_code || content.is_empty() || content.starts_with(['|', '#']) {
            is_open = false;
            continue;
        }
        let words = content.split_whitespace().count();
        match found.last_mut() {
            Some((_, count)) if is_open && !starts_item(content) => *count += words,
            _ => found.push((index + 1, words)),
        }
        is_open = true;
    }
    found
}

/// Whether a line starts an item of a list: `- `, `* `, `1. `.
fn starts_item(content: &str) -> bool {
    let number = content.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = number.len() < content.len() && number.starts_with(". ");
    is_numbered || content.starts_with("- ") || content.starts_with("* ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_readme_is_found() {
        let findings = |lines: usize| readme_is_short(&Tree::sample(&[("README.md", &"word\n".repeat(lines))]));
        assert_eq!(findings(120), []);
        let expected = ["README.md:121: 121 lines, the limit is 120; move detail to docs/ or benches/JOURNAL.md"];
        assert_eq!(shown(&findings(121)), expected);
    }

    #[test]
    fn a_long_architecture_is_found() {
        let findings =
            |words: usize| architecture_is_short(&Tree::sample(&[("ARCHITECTURE.md", &"word ".repeat(words))]));
        assert_eq!(findings(2500), []);
        let expected = ["ARCHITECTURE.md:1: 2501 words, the limit is 2500; move reasons to docs/decisions/"];
        assert_eq!(shown(&findings(2501)), expected);
    }

    #[test]
    fn a_long_paragraph_is_found() {
        let (good, bad) = ("word ".repeat(120), "word\n".repeat(121));
        let text = format!("# Title\n\n{good}\n\n- {bad}- item\n");
        let tree = Tree::sample(&[
            ("docs/a/b.md", &text),
            ("README.md", &good),
            ("validation/README.md", &bad),
            ("crates/x.rs", &format!("//! One.\n//!\n//! {}word\nfn f() {{}}\n// {good}{good}", "word ".repeat(120))),
        ]);
        let expected = [
            "docs/a/b.md:5: a paragraph of 122 words, the limit is 120; split it, or make a table",
            "crates/x.rs:3: a paragraph of 121 words in the header, the limit is 120; split it",
        ];
        assert_eq!(shown(&paragraphs_are_short(&tree)), expected);
    }

    #[test]
    fn tables_and_code_are_no_paragraphs() {
        let long = "word ".repeat(200);
        let text =
            format!("one two\n```\n{long}\n```\n| {long} |\n\n    {long}\n\n- one\n  two\n1. one\n    two three\n");
        assert_eq!(paragraphs(&text), [(1, 2), (9, 3), (11, 4)]);
    }
}
