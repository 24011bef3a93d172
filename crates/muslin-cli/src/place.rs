//! Where a scene key was written: what the library finds when it compiles a scene (a pin beyond the mesh, a mesh that
//! does not load) it places by key, and a person wants the line.

use muslin::scene::Origin;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::args::Set;

/// Where the value of `path` (`cloth[0].pins[1].vertices`) came from: an override, a place in `text`, or a default.
pub(crate) fn origin(path: &str, text: &str, sets: &[Set]) -> Origin {
    if let Some(set) = sets.iter().rev().find(|set| covers(&set.text, path)) {
        return Origin::Set(set.text.clone());
    }
    find(path, text).unwrap_or(Origin::Scene)
}

/// Whether an override replaces the value at `path`, or a table that it is in.
fn covers(set: &str, path: &str) -> bool {
    let replaced = set.split_once('=').map_or(set, |(replaced, _)| replaced.trim());
    let (replaced, path): (Vec<_>, Vec<_>) = (segments(replaced).collect(), segments(path).collect());
    path.starts_with(&replaced)
}

/// `cloth[0].name` and `cloth.0.name` are the same key.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|segment| !segment.is_empty())
}

fn find(path: &str, text: &str) -> Option<Origin> {
    let root = DeTable::parse(text).ok()?;
    let mut segments = segments(path);
    let mut node = root.get_ref().get(segments.next()?)?;
    for segment in segments {
        node = child(node, segment)?;
    }
    let span = node.span();
    Some(in_text(text, span.start, span.end))
}

fn child<'a, 'i>(node: &'a Spanned<DeValue<'i>>, segment: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    match node.get_ref() {
        DeValue::Table(table) => table.get(segment),
        DeValue::Array(elements) => elements.get(segment.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Line and column of bytes of a text; what spans several lines is marked on its first.
pub(crate) fn in_text(text: &str, start: usize, end: usize) -> Origin {
    let start = text.floor_char_boundary(start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let end = text.floor_char_boundary(end.min(line_end)).max(start);
    Origin::File {
        line: 1 + text[..line_start].matches('\n').count(),
        column: 1 + text[line_start..start].trim_start_matches('\u{feff}').chars().count(),
        width: text[start..end].trim_end().chars().count().max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = 'é'\n[[cloth]]\npins = [{ select = 'all' }, { vertices = [7] }]\n";

    #[test]
    fn keys_are_found_where_they_are_written() {
        let at = |path| origin(path, TEXT, &[]);
        assert_eq!(at("name"), Origin::File { line: 1, column: 8, width: 3 });
        assert_eq!(at("cloth[0].pins[1].vertices"), Origin::File { line: 3, column: 42, width: 3 });
        for absent in ["", "fps", "cloth[1]", "cloth[0].pins[0].vertices", "name.first", "cloth.first"] {
            assert_eq!(at(absent), Origin::Scene, "{absent}");
        }
    }

    #[test]
    fn overrides_cover_what_they_replace() {
        for (set, covered) in [
            ("cloth.0.pins.1.vertices=[7]", true),
            ("cloth[0].pins[1].vertices = [7]", true),
            ("cloth.0.pins=[]", true),
            ("cloth.0.pins.0.vertices=[7]", false),
            ("cloth.0.pins.1.vertices.0=7", false),
        ] {
            assert_eq!(covers(set, "cloth[0].pins[1].vertices"), covered, "{set}");
        }
    }
}
