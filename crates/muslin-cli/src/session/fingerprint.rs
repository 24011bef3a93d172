//! Whether two runs are of the same scene, and if not, where they differ.
//!
//! A resumed run must give the bits of one that was never stopped. So everything that decides about the motion must be
//! the same: scene, meshes and version. What only decides how long it is or how it is shown may change.

use muslin::scene::{ClothShape, ColliderShape, RestShape, Scene, View};
use muslin::state::fnv1a;
use toml::Value;

use crate::mesh_files::MeshFiles;

/// Keys of a scene that do not touch the motion.
const FREE: [&str; 2] = ["duration", "view"];

/// A fingerprint of everything that decides about the motion.
pub(crate) fn fingerprint(scene: &Scene, meshes: &MeshFiles) -> u64 {
    let view =
        View { size: [0, 0], eye: None, target: None, direction: None, fov: 0.0, ground: false, ground_height: None };
    let mut moving = Scene { duration: 1.0, view, ..scene.clone() };
    let mut shown = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
    for cloth in &mut moving.cloths {
        if let ClothShape::Mesh { file } | ClothShape::Pattern { file, .. } = &mut cloth.shape {
            // Its content counts, not its place.
            shown.extend(fnv1a(meshes.content(file).iter().copied()).to_le_bytes());
            file.clear();
        }
        if let RestShape::File(file) = &mut cloth.rest {
            shown.extend(fnv1a(meshes.content(file).iter().copied()).to_le_bytes());
            file.clear();
        }
    }
    for collider in &mut moving.colliders {
        if let ColliderShape::Mesh(mesh) = &mut collider.shape {
            shown.extend(fnv1a(meshes.content(&mesh.file).iter().copied()).to_le_bytes());
            mesh.file.clear();
            if let Some(frames) = &mut mesh.frames {
                shown.extend(fnv1a(meshes.frames_content(&frames.file).iter().copied()).to_le_bytes());
                frames.file.clear();
            }
        }
    }
    shown.extend(moving.to_toml().into_bytes());
    fnv1a(shown)
}

/// The first key in which two scene files differ, with both values; `None` if the motion is the same by what they say.
pub(crate) fn difference(earlier: &str, now: &str) -> Option<String> {
    let (mut earlier, mut now) = (earlier.parse().ok()?, now.parse().ok()?);
    for table in [&mut earlier, &mut now] {
        let table: &mut toml::Table = table;
        table.retain(|key, _| !FREE.contains(&key));
    }
    differing(&Value::Table(earlier), &Value::Table(now), "")
}

fn differing(earlier: &Value, now: &Value, path: &str) -> Option<String> {
    match (earlier, now) {
        (Value::Table(a), Value::Table(b)) => {
            let dotted = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            let changed = a.iter().find_map(|(key, value)| match b.get(key) {
                Some(other) => differing(value, other, &dotted(key)),
                None => Some(format!("{} was {value}, and is not given now", dotted(key))),
            });
            let added = || b.iter().find(|(key, _)| !a.contains_key(*key));
            changed.or_else(|| added().map(|(key, value)| format!("{} is {value}, and was not given", dotted(key))))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && a.iter().any(Value::is_table) => {
            (0..a.len()).find_map(|i| differing(&a[i], &b[i], &format!("{path}[{i}]")))
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).any(Value::is_table) => {
            Some(format!("there were {} of {path}, and are {} now", a.len(), b.len()))
        }
        _ => (earlier != now).then(|| format!("{path} was {earlier}, and is {now} now")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let earlier =
            "duration = 1.0\nfps = 60.0\n[solver]\nsubsteps = 20\n[[cloth]]\nscale = 1.0\ntranslate = [0, 1, 0]\n";
        let said = |from: &str, to: &str| difference(earlier, &earlier.replace(from, to));
        assert_eq!(said("", ""), None);
        assert_eq!(said("duration = 1.0", "duration = 2.0"), None, "may change");
        assert_eq!(said("substeps = 20", "substeps = 40").unwrap(), "solver.substeps was 20, and is 40 now");
        assert_eq!(said("scale = 1.0\n", "").unwrap(), "cloth[0].scale was 1.0, and is not given now");
        assert_eq!(said("fps", "stop_at_rest = 0.1\nfps").unwrap(), "stop_at_rest is 0.1, and was not given");
        assert_eq!(said("1, 0]", "2, 0]").unwrap(), "cloth[0].translate was [0, 1, 0], and is [0, 2, 0] now");
        assert_eq!(said("[[cloth]]", "[[cloth]]\n[[cloth]]").unwrap(), "there were 1 of cloth, and are 2 now");
    }
}
