//! File names for cloths, whose own names may contain anything.

/// Longest stem in bytes: file systems allow 255, and `_obj.partial` or `_0000.obj` is appended.
const LONGEST: usize = 120;

/// Names that Windows keeps for devices, whatever the extension.
const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The file name, without extension, for a cloth of this name.
///
/// A name of letters and digits (of any script), `_`, `-`, inner dots and inner spaces is its own stem. In any other,
/// what is not allowed becomes `_`, and a hash of the name is appended so that two cloths never share a file:
/// `sheet "A"/2` becomes `sheet _A__2-89ac09fc`. Names that differ in case only are a matter of the file system.
pub fn file_stem(name: &str) -> String {
    let mut stem = String::with_capacity(name.len());
    for letter in name.chars() {
        let allowed = letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ' ');
        stem.push(if allowed { letter } else { '_' });
        if stem.len() > LONGEST {
            stem.pop();
            break;
        }
    }
    // Leading dots hide a file, trailing dots and spaces are dropped by Windows.
    let trimmed = stem.trim_matches(['.', ' ']);
    let device = trimmed.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if trimmed == name && !trimmed.is_empty() && !RESERVED.contains(&device.as_str()) {
        return stem;
    }
    let start = if trimmed.is_empty() { "cloth" } else { trimmed };
    format!("{start}-{:08x}", hash(name))
}

/// FNV-1a, 32 bits: stable between versions, which the standard library's hashes do not promise to be.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_kept() {
        for name in ["sheet", "Sheet_2", "left-sleeve", "red shirt", "v1.2", "Ärmel", "布"] {
            assert_eq!(file_stem(name), name, "stem of a plain name");
        }
    }

    #[test]
    fn other_names_become_safe_and_stay_apart() {
        assert_eq!(file_stem("sheet \"A\"/2"), "sheet _A__2-89ac09fc", "the example of the documentation");
        let long = "x".repeat(500);
        let names = [
            "",
            ".",
            "..",
            "a/b",
            "a\\b",
            "a:b",
            "../../etc/passwd",
            "NUL",
            "nul.txt",
            "a\0b",
            "a\nb",
            " a",
            "a.",
            &long,
        ];
        let mut stems: Vec<String> = names.iter().map(|name| file_stem(name)).collect();
        for stem in &stems {
            assert!(stem.len() <= LONGEST + 9, "{stem} is short");
            assert!(!stem.starts_with('.') && !stem.contains(['/', '\\', '\0', '\n', ':']), "{stem} is safe");
        }
        stems.sort();
        stems.dedup();
        assert_eq!(stems.len(), names.len(), "no two share a stem");
    }
}
