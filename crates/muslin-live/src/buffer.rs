//! Numbers for a program: a JSON object that says what is where, and sections of raw numbers behind it.
//!
//! ```text
//! length of JSON     u32, little-endian
//! JSON               UTF-8, with "sections": [{name, type, offset, length}, …]; offset in bytes from the start of the buffer, length in items
//! zero bytes         up to a multiple of 4
//! sections           f32, u32 (little-endian) or u8, each from a multiple of 4 on
//! ```

use serde_json::{Value, json};

/// The numbers of a section.
pub(crate) enum Numbers {
    Floats(Vec<f32>),
    Indices(Vec<u32>),
    Bytes(Vec<u8>),
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Self::Floats(numbers) => numbers.len(),
            Self::Indices(numbers) => numbers.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    fn kind(&self) -> (&'static str, usize) {
        match self {
            Self::Floats(_) => ("f32", 4),
            Self::Indices(_) => ("u32", 4),
            Self::Bytes(_) => ("u8", 1),
        }
    }
}

/// Puts a JSON object and its sections together.
pub(crate) fn encode(mut head: Value, sections: &[(&str, Numbers)]) -> Vec<u8> {
    // Offsets are part of the JSON, and their digits decide where they are: with room for the largest they do not.
    let describe = |first: u64| -> Vec<Value> {
        let mut offset = first;
        let mut describe = |(name, numbers): &(&str, Numbers)| {
            let (kind, size) = numbers.kind();
            let section = json!({ "name": name, "type": kind, "offset": offset, "length": numbers.len() });
            offset = (offset + (size * numbers.len()) as u64).next_multiple_of(4);
            section
        };
        sections.iter().map(&mut describe).collect()
    };
    head["sections"] = describe(u64::from(u32::MAX)).into();
    let room = head.to_string().len();
    let start = (4 + room).next_multiple_of(4);
    head["sections"] = describe(start as u64).into();
    let mut json = head.to_string().into_bytes();
    json.resize(room, b' ');

    let mut out = Vec::with_capacity(start + sections.iter().map(|(_, n)| n.kind().1 * n.len() + 3).sum::<usize>());
    out.extend_from_slice(&(json.len() as u32).to_le_bytes());
    out.extend_from_slice(&json);
    for (_, numbers) in sections {
        out.resize(out.len().next_multiple_of(4), 0);
        match numbers {
            Numbers::Floats(numbers) => out.extend(numbers.iter().flat_map(|x| x.to_le_bytes())),
            Numbers::Indices(numbers) => out.extend(numbers.iter().flat_map(|i| i.to_le_bytes())),
            Numbers::Bytes(bytes) => out.extend_from_slice(bytes),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_where_the_head_says() {
        let sections = [
            ("bytes", Numbers::Bytes(vec![1, 2, 3])),
            ("none", Numbers::Floats(Vec::new())),
            ("floats", Numbers::Floats(vec![0.5, -2.0])),
            ("indices", Numbers::Indices(vec![7, u32::MAX])),
        ];
        let bytes = encode(json!({ "ok": true }), &sections);
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let head: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let section = |name: &str| {
            let all = head["sections"].as_array().unwrap();
            let section = all.iter().find(|section| section["name"] == name).unwrap();
            let [offset, length] = ["offset", "length"].map(|key| section[key].as_u64().unwrap() as usize);
            assert_eq!(offset % 4, 0, "{name}");
            (offset, length)
        };
        assert_eq!(head["ok"], true);
        let (offset, length) = section("bytes");
        assert_eq!(bytes[offset..offset + length], [1, 2, 3]);
        assert_eq!(section("none").1, 0);
        let words = |name: &str| -> Vec<[u8; 4]> {
            let (offset, length) = section(name);
            bytes[offset..offset + 4 * length].chunks(4).map(|word| word.try_into().unwrap()).collect()
        };
        assert_eq!(words("floats").into_iter().map(f32::from_le_bytes).collect::<Vec<_>>(), [0.5, -2.0]);
        assert_eq!(words("indices").into_iter().map(u32::from_le_bytes).collect::<Vec<_>>(), [7, u32::MAX]);
    }
}
