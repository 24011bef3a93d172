//! How much memory this process can have, and how much space the frames of a run take.

use std::fs;
use std::path::Path;

use muslin::model::{Model, Problem};
use muslin::scene::{Scene, Severity};

pub(crate) use muslin_scenes::memory::in_words;

/// Bytes of the frames of a whole run, the initial state included.
pub(crate) fn frame_bytes(model: &Model, scene: &Scene) -> usize {
    12 * model.masses.len() * (scene.frame_count() + 1)
}

/// Says so if a scene is too large for this machine, at its largest cloth. To be asked before any mesh is made. Paths of meshes start from `folder`.
pub(crate) fn shortage(scene: &Scene, folder: &Path) -> Option<Problem> {
    let length = |name: &str| fs::metadata(folder.join(name)).ok().map(|file| file.len());
    muslin_scenes::memory::shortage(scene, &length, available()?)
}

/// Says so if there is no memory for what keeps cloth from cloth. To be asked once there is a model: the rest of it has its memory then.
pub(crate) fn contact_shortage(model: &Model) -> Option<Problem> {
    let (needed, available) = (muslin::output::memory::contact(model), available()?);
    (needed > available).then(|| Problem {
        severity: Severity::Error,
        place: "contact.thickness".to_owned(),
        message: format!(
            "what keeps cloth from cloth at {} m takes about {} of memory, but {} are free; lower it to an edge of the cloth or less, use a coarser cloth, \
             or a machine with more memory",
            model.thickness,
            in_words(needed),
            in_words(available)
        ),
    })
}

/// Bytes that this process can still have; `None` where nobody says. Linux only.
pub(crate) fn available() -> Option<usize> {
    let free = kibibytes("/proc/meminfo", "MemAvailable:");
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = address_space(&limits).map(|limit| {
        let used = kibibytes("/proc/self/status", "VmSize:").unwrap_or(0);
        limit.saturating_sub(used)
    });
    free.into_iter().chain(limit).min()
}

/// Bytes of a line of a file of the system that counts in KiB.
fn kibibytes(path: &str, key: &str) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
}

/// The soft limit on the address space in the text of `/proc/self/limits`; `None` for an unlimited one.
fn address_space(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_the_address_space_is_read() {
        let limits = |value: &str| format!("Limit  Soft  Hard  Units\nMax address space  {value}  unlimited  bytes\n");
        assert_eq!(address_space(&limits("4096000")), Some(4_096_000));
        assert_eq!(address_space(&limits("unlimited")), None);
        assert_eq!(address_space(""), None);
    }
}
