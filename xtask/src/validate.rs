//! `cargo xtask validate`: mechanics with a known answer, in an optimised build. The whole of it also has other people's software
//! look for cloth that cuts cloth, in every built-in scene, and in every solver and every contact scene: `cargo xtask validate contact` alone.

use crate::shell::{cargo, root, run as run_program, target};
use crate::{Failure, referee};

/// The whole suite writes the committed reports; a part of it writes beside the build, so that it cannot replace the whole.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(rest) = of_contact(arguments) {
        return contact(rest);
    }
    let is_part = arguments.iter().any(|word| word == "--quick" || word.starts_with("--only"));
    let folder = if is_part { target().join("validation") } else { root().join("validation") };
    let mut command = cargo(["run", "--release", "--package", "muslin-validation", "--"]);
    command.args(arguments).arg("--out").arg(&folder);
    let suite = run_program(&mut command);
    if is_part {
        return suite;
    }
    // All of it is written, whatever fails.
    let judged = referee::judge_scenes();
    let table = contact(&[]);
    suite.and(judged).and(table)
}

/// What follows `contact` or `--only contact`, where it is asked for.
fn of_contact(arguments: &[String]) -> Option<&[String]> {
    match arguments {
        [word, rest @ ..] if word == "contact" || word == "--only=contact" => Some(rest),
        [only, word, rest @ ..] if only == "--only" && word == "contact" => Some(rest),
        _ => None,
    }
}

/// The table of solvers in contact. Its frames stay beside the build.
fn contact(arguments: &[String]) -> Result<(), Failure> {
    let python = referee::python()?;
    let beside = target().join("validation");
    let folder = if arguments.is_empty() { root().join("validation") } else { beside.clone() };
    let mut command = cargo(["run", "--release", "--package", "muslin-validation", "--", "contact"]);
    command.args(arguments).arg("--python").arg(python);
    command.arg("--frames").arg(beside.join("contact")).arg("--out").arg(&folder);
    run_program(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_asked_for_in_two_ways() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let rest = |line: &str| of_contact(&words(line)).map(<[String]>::to_vec);
        assert_eq!(rest("contact --scenes ring"), Some(words("--scenes ring")));
        assert_eq!(rest("--only contact"), Some(Vec::new()));
        assert_eq!(rest("--only=contact"), Some(Vec::new()));
        assert_eq!(rest("--only 1.7"), None);
        assert_eq!(rest("--quick"), None);
    }
}
