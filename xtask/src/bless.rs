//! `cargo xtask bless WHY`: pins what every scene, solver and model computes now.
//!
//! The hashes go into `validation/hashes.txt`, and the reason into the changelog beside a digest of that file.
//! `cargo xtask tidy` compares the digest, so hashes do not change without a line that a user can read.

use std::fs;

use crate::Failure;
use crate::shell::{cargo, on, root, run as run_program};

/// The pinned hashes, from the root of the workspace.
pub(crate) const HASHES: &str = "validation/hashes.txt";

/// What WebAssembly computes otherwise; `npm run hashes -- --bless` writes it, with the digest of [`HASHES`].
pub(crate) const WEB_HASHES: &str = "validation/hashes-web.txt";

/// Where the reasons stand.
pub(crate) const CHANGELOG: &str = "CHANGELOG.md";

/// The heading of the changelog under which a reason goes.
const HEADING: &str = "### Pinned hashes";

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let [reason] = arguments else {
        return Err(Failure::Usage(String::from(
            "`bless` takes one word, why the motion changes: cargo xtask bless \"friction is lagged by one substep\"",
        )));
    };
    let (hashes, changelog) = (root().join(HASHES), root().join(CHANGELOG));
    let before = fs::read_to_string(&hashes).unwrap_or_default();
    run_program(
        cargo(["test", "--quiet", "--package", "muslin-live", "--test", "it", "hashes"]).env("MUSLIN_BLESS", "1"),
    )?;
    let after = fs::read_to_string(&hashes).map_err(on(&hashes))?;
    if after == before {
        println!("bless: no hash changed");
        return Ok(());
    }
    let text = fs::read_to_string(&changelog).map_err(on(&changelog))?;
    let text = with_reason(&text, &digest(&after), reason)
        .ok_or_else(|| Failure::Failed(format!("{CHANGELOG} has no heading `{HEADING}` under [Unreleased]")))?;
    fs::write(&changelog, text).map_err(on(&changelog))?;
    println!("bless: {} of {} hashes changed; see {CHANGELOG}", changed(&before, &after), after.lines().count());
    println!("bless: {WEB_HASHES} is old now; `cargo xtask page`, then `npm run hashes -- --bless` in page/");
    Ok(())
}

/// How many lines of `after` are not in `before`.
fn changed(before: &str, after: &str) -> usize {
    let before: std::collections::HashSet<&str> = before.lines().collect();
    after.lines().filter(|line| !before.contains(line)).count()
}

/// The changelog with a line for these hashes, newest first under their heading.
fn with_reason(changelog: &str, digest: &str, reason: &str) -> Option<String> {
    let (above, below) = changelog.split_once(&format!("{HEADING}\n\n"))?;
    Some(format!("{above}{HEADING}\n\n- `{digest}`: {reason}\n{below}"))
}

/// FNV-1a over the text: sixteen digits that change with any of its bytes.
pub(crate) fn digest(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_goes_first_under_its_heading() {
        let text = "# Changelog\n\n### Pinned hashes\n\n- `a`: old\n";
        assert_eq!(
            with_reason(text, "b", "new").as_deref(),
            Some("# Changelog\n\n### Pinned hashes\n\n- `b`: new\n- `a`: old\n")
        );
        assert_eq!(with_reason("# Changelog\n", "b", "new"), None);
    }

    #[test]
    fn digests_differ_and_are_those_of_the_published_function() {
        assert_eq!(digest(""), "cbf29ce484222325");
        assert_eq!(digest("a"), "af63dc4c8601ec8c");
    }

    #[test]
    fn a_reason_is_asked_for() {
        assert!(matches!(run(&[]), Err(Failure::Usage(_))));
    }
}
