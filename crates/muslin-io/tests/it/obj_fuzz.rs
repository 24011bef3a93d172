//! Whatever the bytes, reading ends in a mesh whose indices are in range or in an error with a line of the file.

use muslin_io::read_obj;
use proptest::prelude::*;

const VALID: &str = "# a comment\r\nmtllib a.mtl\no shirt\nv 0.0 1.5e-3 -2\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\n\
    v 0.25 0.25 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\ng sleeve cuff\ns 1\nf 1/1/1 2/2/1 3/3/1\n\
    f -4/-4 -3/-3 \\\n-2/-2 -1/-1\nl 1 2\n";

#[rustfmt::skip]
const WORDS: [&str; 25] = [
    "v", "vt", "f", "g", "o", "s", "\n", "\n", "\r", "\\\n", "\\", "#", "0", "1", "2", "-1", "1/1", "1//1", "2/-1",
    "3e300", "-3e300", "1e-300", "0.5", "é", "x",
];

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    match read_obj(bytes) {
        Ok(mesh) => {
            let in_range = |triangles: &[[u32; 3]], count: usize| {
                triangles.as_flattened().iter().all(|&index| (index as usize) < count)
            };
            prop_assert!(!mesh.triangles.is_empty(), "a mesh has triangles");
            prop_assert!(in_range(&mesh.triangles, mesh.positions.len()), "vertices");
            prop_assert!(mesh.positions.as_flattened().iter().all(|value| value.is_finite()), "positions");
            if let Some(uv) = &mesh.uv {
                prop_assert_eq!(uv.triangles.len(), mesh.triangles.len(), "texture triangles");
                prop_assert!(in_range(&uv.triangles, uv.coordinates.len()), "texture coordinates");
            }
            for group in &mesh.groups {
                prop_assert!(group.triangles.is_sorted_by(|a, b| a < b), "groups ascend");
                prop_assert!(group.triangles.iter().all(|&t| (t as usize) < mesh.triangles.len()), "groups");
            }
        }
        Err(error) => {
            let line_count = 1 + bytes.iter().filter(|&&byte| matches!(byte, b'\n' | b'\r')).count();
            prop_assert!((1..=line_count).contains(&error.line), "{} is within {} lines", error, line_count);
        }
    }
    Ok(())
}

/// Replaces, removes, repeats or inserts a stretch of bytes.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), 0_usize..12, prop::collection::vec(any::<u8>(), 0..6), any::<bool>());
    let letters = "vftgo 0123456789-./\\#\n\r";
    let spliced =
        (any::<prop::sample::Index>(), 0_usize..12, prop::sample::subsequence(letters.as_bytes().to_vec(), 0..6));
    (prop::collection::vec(edit, 0..3), prop::collection::vec(spliced, 0..6)).prop_map(|(edits, splices)| {
        let mut bytes = VALID.as_bytes().to_vec();
        for (at, length, insert, repeat) in edits {
            let start = at.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            let insert = if repeat { bytes[start..end].repeat(3) } else { insert };
            bytes.splice(start..end, insert);
        }
        for (at, length, insert) in splices {
            let start = at.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, insert);
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes)?;
    }

    #[test]
    fn random_words_never_panic(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..60)) {
        check(words.join(" ").as_bytes())?;
    }

    #[test]
    fn mutated_files_never_panic(bytes in mutated()) {
        check(&bytes)?;
    }

    #[test]
    fn polygons_of_any_shape_become_triangles(points in prop::collection::vec(prop::array::uniform3(-3_i8..3), 3..12)) {
        let vertices: String = points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
        let face: String = (1..=points.len()).map(|corner| format!(" {corner}")).collect();
        let mesh = read_obj(format!("{vertices}f{face}").as_bytes()).unwrap();
        prop_assert_eq!(mesh.triangles.len(), points.len() - 2, "as many as a fan has");
    }
}
