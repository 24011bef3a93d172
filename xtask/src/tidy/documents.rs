//! Rules about documents: what they name exists.

use super::Finding;
use super::names::key;
use super::tree::Tree;
use crate::bless;

/// Documents that tell people where things are.
const GUIDES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The document that shows a picture of every built-in scene, and what its links are relative to.
const GALLERY: &str = "docs/gallery.md";
const GALLERY_FOLDER: &str = "docs/";

/// What a path in a guide starts with.
const PLACES: &[&str] = &["crates/", "xtask/", "scenes/", "docs/", "validation/", "benches/"];

pub(super) fn named_paths_exist(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &guide in GUIDES {
        let Some(text) = tree.text(guide) else {
            findings.push(Finding::new(guide, 1, "missing; people look here first, so write it"));
            continue;
        };
        for (line, content) in prose(text) {
            // Every second piece between backticks is code.
            for code in content.split('`').skip(1).step_by(2) {
                let path = code.split_whitespace().next().unwrap_or_default();
                let is_pattern = path.contains(['<', '>', '*', '…', '{']);
                if PLACES.iter().any(|place| path.starts_with(place)) && !is_pattern && !tree.has(path) {
                    findings.push(Finding::new(
                        guide,
                        line,
                        format!("{path} does not exist; correct the path, or the tree"),
                    ));
                }
            }
        }
    }
    findings
}

/// The lines outside of fenced blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_fence = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        (!is_fence && !in_fence).then_some((number + 1, line))
    })
}

pub(super) fn links_exist(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, content) in prose(text) {
            for target in links(content) {
                let file = target.split('#').next().unwrap_or_default();
                let is_elsewhere = file.contains(':') || file.starts_with("//");
                if !file.is_empty() && !is_elsewhere && !tree.has(&resolved(path, file)) {
                    findings.push(Finding::new(path, line, format!("the link to {target} leads nowhere; correct it")));
                }
            }
        }
    }
    findings
}

/// The path from the root of a link that stands in a document.
fn resolved(document: &str, link: &str) -> String {
    let mut names: Vec<&str> = document.split('/').collect();
    names.pop();
    for name in link.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    names.join("/")
}

/// The targets of `[text](target)`, `src="target"` and `href="target"`.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let endings: [(&str, &[char]); 3] = [("](", &[')', ' ']), ("src=\"", &['"']), ("href=\"", &['"'])];
    endings.into_iter().flat_map(move |(opening, closing)| {
        line.split(opening).skip(1).filter_map(move |rest| rest.split(closing).next())
    })
}

pub(super) fn every_scene_has_a_picture(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let gallery = tree.text(GALLERY).unwrap_or_default();
    for (path, stem) in tree.scenes() {
        let shown = format!("gallery/{stem}.png");
        let picture = format!("{GALLERY_FOLDER}{shown}");
        if !tree.has(&picture) {
            findings.push(Finding::new(path, 1, format!("{picture} does not exist; run cargo xtask gallery {stem}")));
        }
        if !gallery.contains(&format!("({shown})")) {
            findings.push(Finding::new(GALLERY, 1, format!("does not show {shown}; add it")));
        }
    }
    findings
}

pub(super) fn changelog_is_open(tree: &Tree) -> Vec<Finding> {
    let version =
        key(tree.text("Cargo.toml").unwrap_or_default(), "workspace.package", "version").map_or("?", |found| found.0);
    let wanted = ["Unreleased", version];
    let is_open = |line: &str| {
        let title = line.strip_prefix("## ").unwrap_or_default().trim_start_matches('[');
        wanted.contains(&title.split([']', ' ']).next().unwrap_or_default())
    };
    if tree.text("CHANGELOG.md").unwrap_or_default().lines().any(is_open) {
        return Vec::new();
    }
    vec![Finding::new("CHANGELOG.md", 1, format!("no heading for {version}; add ## [Unreleased] above the versions"))]
}

/// Motion that changed without a word to the user: the changelog lacks the digest of the pinned hashes.
pub(super) fn pinned_hashes_have_their_line(tree: &Tree) -> Vec<Finding> {
    let Some(hashes) = tree.text(bless::HASHES) else {
        return vec![Finding::new(bless::HASHES, 1, "is gone; `cargo xtask bless WHY` writes it")];
    };
    let digest = format!("- `{}`: ", bless::digest(hashes));
    if tree.text(bless::CHANGELOG).unwrap_or_default().lines().any(|line| line.starts_with(&digest)) {
        return Vec::new();
    }
    vec![Finding::new(
        bless::CHANGELOG,
        1,
        format!("has no line {digest}WHY for the hashes as they are; `cargo xtask bless WHY`"),
    )]
}

/// Hashes of WebAssembly that nobody looked at again: they belong to other hashes of the program, or to none.
pub(super) fn web_hashes_go_with_those_of_the_program(tree: &Tree) -> Vec<Finding> {
    const REMEDY: &str = "`cargo xtask page`, then `npm run hashes -- --bless` in page/";
    let program = tree.text(bless::HASHES).unwrap_or_default();
    let Some(web) = tree.text(bless::WEB_HASHES) else {
        return vec![Finding::new(bless::WEB_HASHES, 1, format!("is gone; take its comment from git, {REMEDY}"))];
    };
    let digest = format!(" digest {}.", bless::digest(program));
    let mut findings = Vec::new();
    if !web.lines().any(|line| line.starts_with('#') && line.ends_with(&digest)) {
        findings.push(Finding::new(
            bless::WEB_HASHES,
            1,
            format!("has no line with{digest}, that of {}; {REMEDY}", bless::HASHES),
        ));
    }
    for (line, case) in (1..).zip(web.lines()).filter(|(_, line)| !line.starts_with('#')) {
        let name = case.split_once(" = ").map_or(case, |(name, _)| name);
        let pinned = program.lines().find(|pinned| pinned.split_once(" = ").is_some_and(|(known, _)| known == name));
        let what = match pinned {
            None => format!("{name} is no case of {}; {REMEDY}", bless::HASHES),
            Some(pinned) if pinned == case => format!("{name} is as {} has it; {REMEDY}", bless::HASHES),
            Some(_) => continue,
        };
        findings.push(Finding::new(bless::WEB_HASHES, line, what));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn paths_that_do_not_exist_are_found() {
        let tree = Tree::sample(&[
            (
                "README.md",
                "`scenes/`\n`crates/gone.rs` and `crates/<name>.rs`, `xtask/*.rs`, `other/x`\n```\n`docs/x`\n```",
            ),
            ("CONTRIBUTING.md", "`scenes/drape.toml --quiet`"),
            ("scenes/drape.toml", ""),
        ]);
        let expected = [
            "README.md:2: crates/gone.rs does not exist; correct the path, or the tree",
            "ARCHITECTURE.md:1: missing; people look here first, so write it",
        ];
        assert_eq!(shown(&named_paths_exist(&tree)), expected);
    }

    #[test]
    fn dead_links_are_found() {
        let tree = Tree::sample(&[
            ("README.md", "[a](CONTRIBUTING.md#b) [c](#d) [e](https://f.g/h)\n[i](GONE.md) <img src=\"docs/j.png\">"),
            ("CONTRIBUTING.md", ""),
            ("docs/a/b.md", "[c](../../README.md) [d](./b.md) [e](../f/) [g](README.md)"),
            ("docs/f/h.png", ""),
        ]);
        let expected = [
            "README.md:2: the link to GONE.md leads nowhere; correct it",
            "README.md:2: the link to docs/j.png leads nowhere; correct it",
            "docs/a/b.md:1: the link to README.md leads nowhere; correct it",
        ];
        assert_eq!(shown(&links_exist(&tree)), expected);
    }

    #[test]
    fn scenes_without_a_picture_are_found() {
        let tree = Tree::sample(&[
            ("scenes/drape.toml", ""),
            ("scenes/flag.toml", ""),
            ("docs/gallery/drape.png", ""),
            ("docs/gallery.md", "![drape](gallery/drape.png)"),
        ]);
        let expected = [
            "scenes/flag.toml:1: docs/gallery/flag.png does not exist; run cargo xtask gallery flag",
            "docs/gallery.md:1: does not show gallery/flag.png; add it",
        ];
        assert_eq!(shown(&every_scene_has_a_picture(&tree)), expected);
    }

    #[test]
    fn a_closed_changelog_is_found() {
        let cargo = ("Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"");
        let findings = |text: &str| changelog_is_open(&Tree::sample(&[cargo, ("CHANGELOG.md", text)])).len();
        assert_eq!(findings("# Changelog\n## [0.1.0] - 2020-01-01\n"), 1);
        assert_eq!(findings("# Changelog\n## [0.2.0] - 2020-01-01\n"), 0);
        assert_eq!(findings("# Changelog\n## [Unreleased]\n"), 0);
    }

    #[test]
    fn hashes_need_their_line_in_the_changelog() {
        let line = format!("- `{}`: friction", bless::digest("drape = 1"));
        let with =
            |changelog: &str| Tree::sample(&[("CHANGELOG.md", changelog), ("validation/hashes.txt", "drape = 1")]);
        assert_eq!(pinned_hashes_have_their_line(&with(&line)), []);
        assert_eq!(pinned_hashes_have_their_line(&with("- `0`: friction")).len(), 1);
        assert_eq!(pinned_hashes_have_their_line(&Tree::sample(&[("CHANGELOG.md", &line)])).len(), 1);
    }

    #[test]
    fn hashes_of_webassembly_go_with_those_of_the_program() {
        let program = "drape = 1\nflag = 2";
        let head = format!("# Beside hashes.txt of digest {}.", bless::digest(program));
        let findings = |web: &str| {
            let tree = Tree::sample(&[("validation/hashes.txt", program), ("validation/hashes-web.txt", web)]);
            web_hashes_go_with_those_of_the_program(&tree).iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(findings(&format!("{head}\nflag = 3\n")), []);
        assert_eq!(findings(&format!("{head}\ndrape = 1\ngone = 3\n")), [2, 3]);
        assert_eq!(findings("flag = 3\n"), [1]);
        assert_eq!(web_hashes_go_with_those_of_the_program(&Tree::sample(&[])).len(), 1);
    }
}
