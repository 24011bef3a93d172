//! The files that the checks look at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::rust::Source;
use crate::Failure;
use crate::shell::on;

/// Files whose text is read; of all others only the path is kept.
const TEXT: &[&str] =
    &["rs", "py", "ts", "tsx", "js", "mjs", "wgsl", "md", "toml", "html", "css", "sh", "yml", "yaml", "json", "txt"];

/// Folders that hold what is built, downloaded or written by a run: the ones in .gitignore.
const SKIPPED: &[&str] = &["target", "out", "node_modules", "dist", "__pycache__"];

/// The workspace: paths relative to its root with `/` between names, and the text of what is text.
pub(super) struct Tree {
    texts: BTreeMap<String, String>,
    sources: BTreeMap<String, Source>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the workspace at `root`.
    pub(super) fn read(root: &Path) -> Result<Self, Failure> {
        let (mut texts, mut paths) = (BTreeMap::new(), BTreeSet::new());
        visit(root, "", &mut texts, &mut paths)?;
        Ok(Self::new(texts, paths))
    }

    fn new(texts: BTreeMap<String, String>, paths: BTreeSet<String>) -> Self {
        let rust = texts.iter().filter(|(path, _)| path.ends_with(".rs"));
        let mut sources: BTreeMap<String, Source> =
            rust.map(|(path, text)| (path.clone(), Source::new(path, text))).collect();
        let modules: Vec<String> = sources.values().flat_map(Source::test_modules).collect();
        for (path, source) in &mut sources {
            if modules.iter().any(|module| is_within(path, module)) {
                source.mark_as_test();
            }
        }
        Self { texts, sources, paths }
    }

    /// How many text files there are.
    pub(super) fn text_count(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is such a file or folder.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path.trim_end_matches('/'))
    }

    /// The text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Every text file.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every Rust file.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.sources.iter().map(|(path, source)| (path.as_str(), source))
    }

    /// One Rust file.
    pub(super) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.get(path)
    }

    /// The Rust files of the library: what must not touch the outside world.
    pub(super) fn library(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.sources().filter(|(path, _)| path.starts_with("crates/muslin/src/"))
    }

    /// The built-in scenes: path and stem.
    pub(super) fn scenes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.keys().filter_map(|path| {
            let stem = path.strip_prefix("scenes/")?.strip_suffix(".toml")?;
            (!stem.contains('/')).then_some((path.as_str(), stem))
        })
    }

    /// A tree that exists only in a test.
    #[cfg(test)]
    pub(super) fn sample(files: &[(&str, &str)]) -> Self {
        let texts: BTreeMap<String, String> =
            files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        let mut paths = BTreeSet::new();
        for path in texts.keys() {
            paths.extend(path.match_indices('/').map(|(end, _)| path[..end].to_owned()));
            paths.insert(path.clone());
        }
        Self::new(texts, paths)
    }
}

/// Whether a file is the module with this path (without `.rs`), or below it.
fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn visit(
    folder: &Path,
    prefix: &str,
    texts: &mut BTreeMap<String, String>,
    paths: &mut BTreeSet<String>,
) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(on(folder))? {
        let entry = entry.map_err(on(folder))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let relative = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(on(&path))?;
        if kind.is_dir() {
            let hidden = name.starts_with('.') && name != ".cargo" && name != ".ci";
            if hidden || SKIPPED.contains(&name.as_str()) || name.starts_with("target-") {
                continue;
            }
            visit(&path, &format!("{relative}/"), texts, paths)?;
        } else if path.extension().is_some_and(|extension| TEXT.iter().any(|text| extension == *text)) {
            let bytes = fs::read(&path).map_err(on(&path))?;
            texts.insert(relative.clone(), String::from_utf8_lossy(&bytes).into_owned());
        }
        paths.insert(relative);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_compiled_only_for_tests_is_a_test_file() {
        let tree = Tree::sample(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod checks;\nmod other;"),
            ("crates/a/src/checks.rs", "fn f() {}"),
            ("crates/a/src/checks/deep.rs", "fn f() {}"),
            ("crates/a/src/other.rs", "#[cfg(test)]\nmod inner;\nfn f() {}"),
            ("crates/a/src/other/inner.rs", "fn f() {}"),
            ("crates/a/src/inner.rs", "fn f() {}"),
        ]);
        let is_test = |wanted: &str| tree.sources().any(|(path, source)| path == wanted && source.shipped().is_empty());
        assert!(is_test("crates/a/src/checks.rs"), "named module");
        assert!(is_test("crates/a/src/checks/deep.rs"), "below it");
        assert!(is_test("crates/a/src/other/inner.rs"), "relative to a plain file");
        assert!(!is_test("crates/a/src/inner.rs"), "same name elsewhere");
        assert!(!is_test("crates/a/src/other.rs"), "ordinary module");
    }

    #[test]
    fn folders_are_paths_too() {
        let tree = Tree::sample(&[("scenes/drape.toml", "")]);
        assert!(tree.has("scenes/") && tree.has("scenes") && tree.has("scenes/drape.toml"), "all three exist");
        assert!(!tree.has("scenes/drape"), "a stem is no path");
    }
}
