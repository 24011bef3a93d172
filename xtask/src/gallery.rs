//! `cargo xtask gallery`: the picture of every built-in scene, as README.md shows them.

use std::fs;
use std::path::Path;

use crate::Failure;
use crate::shell::{cargo, on, root, run as run_program, target};

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let known = scenes(&root().join("scenes"))?;
    let chosen = choose(&known, arguments)?;
    let pictures = root().join("docs/gallery");
    fs::create_dir_all(&pictures).map_err(on(&pictures))?;
    for scene in &chosen {
        let out = target().join("gallery").join(scene);
        run_program(
            cargo([
                "run",
                "--quiet",
                "--release",
                "--",
                "run",
                scene,
                "--formats",
                "npy",
                "--preview",
                "png",
                "--quiet",
            ])
            .arg("--out")
            .arg(&out),
        )?;
        let (rendered, picture) = (out.join("preview.png"), pictures.join(scene).with_extension("png"));
        fs::copy(&rendered, &picture).map_err(on(&rendered))?;
    }
    println!(
        "gallery: {} in docs/gallery",
        if chosen.len() == 1 { "1 picture".to_owned() } else { format!("{} pictures", chosen.len()) }
    );
    Ok(())
}

/// The stems of the scene files in `folder`, sorted.
fn scenes(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder).map_err(on(folder))? {
        let path = entry.map_err(on(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    stems.sort();
    Ok(stems)
}

/// All scenes, or the named ones.
fn choose(known: &[String], named: &[String]) -> Result<Vec<String>, Failure> {
    if let Some(wrong) = named.iter().find(|name| !known.contains(name)) {
        return Err(Failure::Usage(format!("there is no scene `{wrong}`; the scenes are {}", known.join(", "))));
    }
    Ok(if named.is_empty() { known.to_vec() } else { named.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_scenes_or_the_named_ones() {
        let known = ["drape", "hanging"].map(String::from);
        assert_eq!(choose(&known, &[]).expect("all"), known);
        assert_eq!(choose(&known, &known[1..]).expect("one"), known[1..]);
        let failure = choose(&known, &["flag".to_owned()]).expect_err("unknown");
        assert_eq!(failure.to_string(), "there is no scene `flag`; the scenes are drape, hanging");
    }
}
