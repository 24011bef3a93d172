//! Lists the files of the built page, so that all of them are embedded: one that its build adds needs no edit here.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("page");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let parts: Vec<String> = file
            .strip_prefix(&root)?
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        writeln!(table, "    ({:?}, include_bytes!({:?})),", parts.join("/"), file.to_string_lossy())?;
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("page_files.rs"), table)?;
    Ok(())
}

/// All files below a folder; those whose names begin with a dot are nobody's page.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    // For files that come and go; `include_bytes` watches the content of those there are.
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
