//! `cargo xtask validate`: mechanics with a known answer, in an optimised build; and the whole of it also has other people's software
//! look for cloth that cuts cloth, in every built-in scene with self-contact.

use crate::shell::{cargo, root, run as run_program, target};
use crate::{Failure, referee};

/// The whole suite writes the committed report; a part of it writes beside the build, so that it cannot replace the whole.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let is_part = arguments.iter().any(|word| word == "--quick" || word.starts_with("--only"));
    let folder = if is_part { target().join("validation") } else { root().join("validation") };
    let mut command = cargo(["run", "--release", "--package", "muslin-validation", "--"]);
    command.args(arguments).arg("--out").arg(&folder);
    run_program(&mut command)?;
    if is_part { Ok(()) } else { referee::judge_scenes() }
}
