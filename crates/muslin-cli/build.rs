//! Lists the files of the built page, so that all of them are embedded: one that its build adds needs no edit here.
//!
//! The core as WebAssembly is one of them where `cargo xtask page` has built it, and is not in the repository. A core that is older than its
//! sources would move otherwise than the program: it is left out, and the page then simulates with the program alone.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How the file of a core ends.
const CORE_ENDING: &str = ".wasm.gz";
/// What a core is made of, from the root of the workspace.
const CORE_SOURCES: [&str; 6] = [
    "crates/muslin/src",
    "crates/muslin-io/src",
    "crates/muslin-scenes/src",
    "crates/muslin-live/src",
    "crates/muslin-web/src",
    "scenes",
];

fn main() -> Result<(), Box<dyn Error>> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = own.join("page");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    leave_out_old_cores(&own, &mut files)?;
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

/// Drops the cores that a source is newer than, all of them if one is.
fn leave_out_old_cores(own: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    let is_core = |file: &Path| file.to_string_lossy().ends_with(CORE_ENDING);
    let cores: Vec<&PathBuf> = files.iter().filter(|file| is_core(file)).collect();
    let Some(oldest) = cores.into_iter().map(|core| modified(core)).collect::<Result<Vec<_>, _>>()?.into_iter().min()
    else {
        return Ok(());
    };
    let workspace = own.join("../..");
    let mut sources = vec![workspace.join("Cargo.lock")];
    println!("cargo::rerun-if-changed={}", sources[0].display());
    for folder in CORE_SOURCES {
        collect(&workspace.join(folder), &mut sources)?;
    }
    let times: Vec<SystemTime> = sources.iter().map(|source| modified(source)).collect::<Result<_, _>>()?;
    if times.into_iter().any(|time| time > oldest) {
        println!(
            "cargo::warning=the WebAssembly of the page is older than its sources and is left out; `cargo xtask page` builds it"
        );
        files.retain(|file| !is_core(file));
    }
    Ok(())
}

fn modified(file: &Path) -> Result<SystemTime, Box<dyn Error>> {
    Ok(fs::metadata(file)?.modified()?)
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
