//! `muslin view`: the page in the browser, on scenes or on the results of a run.

use std::path::Path;

use serde_json::json;

use super::check;
use crate::args::{SceneChanges, ViewArguments};
use crate::builtin::{self, Builtin};
use crate::console::{note, say};
use crate::failure::Failure;
use crate::scene_file::SceneFile;
use crate::session::{Interrupt, all_cores};
use crate::view::{Opened, OpenedScene, RunFolder, Server};

pub(super) fn view(arguments: &ViewArguments) -> Result<(), Failure> {
    let opened = open(arguments)?;
    let threads = arguments.threads.map_or_else(all_cores, usize::from);
    let server = Server::listen(arguments.port, arguments.page.as_ref(), opened, threads)?;
    let interrupt = Interrupt::listen()?;
    let address = server.address();
    if arguments.json {
        say(json!({ "address": address, "port": server.port() }))?;
    }
    let is_shown = !arguments.no_browser && server.open_browser();
    let is_known = arguments.json || arguments.quiet && is_shown;
    if !is_known {
        say(address)?; // alone, for those who read it by a program
    }
    if !arguments.json && !arguments.quiet {
        note("serving this machine only; Ctrl-C ends it");
    }
    server.serve(&interrupt);
    Ok(())
}

/// Finds what is to be shown: a built-in scene, a folder with results, or a scene file.
fn open(arguments: &ViewArguments) -> Result<Opened, Failure> {
    let without_sets = |what: &str| match arguments.sets.first() {
        None => Ok(()),
        Some(set) => Err(Failure::Usage(format!("--set {} changes a scene, but {what}", set.text))),
    };
    let Some(what) = &arguments.what else {
        without_sets("none is named")?;
        return Ok(Opened::Scenes);
    };
    let path = Path::new(what);
    let is_path = what.contains(['/', std::path::MAIN_SEPARATOR]);
    if path.is_dir() && (is_path || Builtin::find(what).is_none()) {
        without_sets(&format!("{what} is a folder of results"))?;
        return RunFolder::open(path).map(Opened::Run);
    }
    if is_path && !what.ends_with(".toml") && !path.exists() {
        return Err(Failure::Usage(format!(
            "there is no {what}; give a folder that `muslin run` has written, a scene file, or a name that `muslin scenes` lists"
        )));
    }
    let is_file = is_path || what.ends_with(".toml") || path.is_file();
    if !is_file && Builtin::find(what).is_none() {
        let message = builtin::unknown(what, "no built-in scene, no file, and no folder of results");
        return Err(Failure::Usage(message));
    }
    scene(what, arguments).map(Opened::Scene)
}

/// A scene, judged as by `check`, so that what is wrong with it is told where it was typed.
fn scene(name: &str, arguments: &ViewArguments) -> Result<OpenedScene, Failure> {
    let file = SceneFile::open(name)?;
    let sets = arguments.sets.iter().map(|set| set.change.clone()).collect();
    let sound = check::examine(&file, &SceneChanges { sets, frames: None })?;
    if !sound.warnings.is_empty() && !arguments.quiet && !arguments.json {
        note(file.findings(sound.warnings));
    }
    let typed = arguments.sets.iter().map(|set| set.text.clone()).collect();
    Ok(OpenedScene::new(&file, &sound.scene, typed))
}
