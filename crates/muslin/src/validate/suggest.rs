//! Words of a user that nobody knows: what to say, and the known word nearest to a mistyped one.

/// Words longer than this are not compared: nobody mistypes them, and the distance is quadratic.
const LONGEST: usize = 40;

/// The nearest of `known` to `word`, if it is near enough to be a slip: a third of its letters.
fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word);
    if word.len() > LONGEST {
        return None;
    }
    let (distance, best, length) = known
        .into_iter()
        .map(|candidate| {
            let other = letters(candidate);
            (distance(&word, &other), candidate, other.len().max(word.len()))
        })
        .min_by_key(|&(distance, ..)| distance)?;
    (distance <= length / 3).then_some(best)
}

/// The message for a name that is in no list.
pub(crate) fn unknown_name(noun: &str, name: &str, available: &[&str]) -> String {
    let near = nearest(name, available.iter().copied()).map(|near| format!("did you mean {near:?}? "));
    format!("unknown {noun} {}; {}available: {}", quote(name), near.unwrap_or_default(), available.join(", "))
}

/// Whose keys are in question.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyOwner {
    /// In messages: `solver "pbd"`.
    pub(crate) name: String,
    /// Keys of its siblings, each with what chooses that one: `kind = "xpbd"`.
    pub(crate) others: Vec<(&'static str, String)>,
}

/// The message for a key that is not known, of an owner if there is one.
pub(crate) fn unknown_key(key: &str, owner: Option<&KeyOwner>, known: &[&str]) -> String {
    let name = owner.map(|owner| format!(" of {}", owner.name)).unwrap_or_default();
    let others = owner.map_or(&[][..], |owner| &owner.others);
    let of_other = |key: &str| others.iter().find(|(other, _)| *other == key).map(|(_, choice)| choice.as_str());
    if let Some(choice) = of_other(key) {
        return format!("unknown key{name}; for it set {choice}, or leave it out");
    }
    let near = nearest(key, known.iter().copied().chain(others.iter().map(|(other, _)| *other)));
    let remedy = match near.map(|near| (near, of_other(near).filter(|_| !known.contains(&near)))) {
        Some((near, Some(choice))) => format!("did you mean `{near}`? for that set {choice}"),
        Some((near, None)) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", known.join(", ")),
    };
    format!("unknown key{name}; {remedy}")
}

/// Quotes a user's text for a message, cut to what a person reads.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{:?}…", &text[..cut]),
        None => format!("{text:?}"),
    }
}

fn letters(word: &str) -> Vec<char> {
    word.to_lowercase().chars().collect()
}

/// Fewest insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let known = ["density", "damping", "stretch", "bend", "k"];
        for (word, expected) in [
            ("densty", Some("density")),
            ("desnity", Some("density")),
            ("Bend", Some("bend")),
            ("strech", Some("stretch")),
            ("x", None),
            ("", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word:?}");
        }
        assert_eq!(nearest(&"d".repeat(1_000_000), known), None);
        assert_eq!(nearest("bend", []), None);
    }

    #[test]
    fn distances() {
        let of = |a: &str, b: &str| distance(&letters(a), &letters(b));
        assert_eq!(of("", "abc"), 3);
        assert_eq!(of("abc", ""), 3);
        assert_eq!(of("kitten", "sitting"), 3);
        assert_eq!(of("ab", "ba"), 1);
    }
}
