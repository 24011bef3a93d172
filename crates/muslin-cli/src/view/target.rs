//! Paths and queries of requests: decoded piece by piece, and never one that leads upwards.

/// The first piece of a path, the rest behind its slash (`None` if there is no such slash), and the query, all as sent.
pub(super) fn split(target: &str) -> (&str, Option<&str>, &str) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest), query),
        None => (path, None, query),
    }
}

/// The pieces of a path, decoded after they were split, so that a slash in disguise does not split; `None` if one is
/// not the plain name of a file or folder.
pub(super) fn names(path: &str) -> Option<Vec<String>> {
    path.split('/').map(|piece| decode(piece).filter(|name| is_plain(name))).collect()
}

/// Whether a name means something inside its folder, on every system: no way up, no other root, no stream, no device.
pub(super) fn is_plain(name: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !name.is_empty() && name != "." && name != ".." && !name.contains(is_odd)
}

/// Text with its `%2F`s resolved; `None` if one is cut off or the result is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(16 * high + low).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The decoded value of a key of a query: `name=a%20b&…`.
pub(super) fn query_value(query: &str, key: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == key)?;
    decode(&value.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::*;

    #[test]
    fn targets_come_apart() {
        assert_eq!(split("/token/api/info?x=1"), ("token", Some("api/info"), "x=1"));
        assert_eq!(split("/token/"), ("token", Some(""), ""));
        assert_eq!(split("/token"), ("token", None, ""));
        assert_eq!(split("//token/a"), ("", Some("token/a"), ""));
        assert_eq!(split("/"), ("", None, ""));
    }

    #[test]
    fn names_stay_inside() {
        assert_eq!(names("api/a%20b/%C3%BC.npy").unwrap(), ["api", "a b", "\u{fc}.npy"]);
        for path in [
            "", "a//b", "/a", "a/", "..", "a/../b", "%2e%2e/a", ".%2E", "a%2fb", "a%5Cb", "a\\b", "%00", "a%0a", "c:",
            "C%3A", ".", "%", "%2", "%zz", "%+1", "%ff",
        ] {
            assert_eq!(names(path), None, "{path}");
        }
    }

    #[test]
    fn queries_have_values() {
        assert_eq!(query_value("a=1&name=x%2Fy+z&name=2", "name").as_deref(), Some("x/y z"));
        assert_eq!(query_value("names=1", "name"), None);
        assert_eq!(query_value("name=%2", "name"), None);
    }

    proptest! {
        #[test]
        fn no_path_is_a_surprise(path in ".{0,60}") {
            for name in names(&path).into_iter().flatten() {
                assert!(is_plain(&name), "{name}");
            }
            query_value(&path, "name");
        }
    }
}
