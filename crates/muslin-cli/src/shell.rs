//! Command lines to be copied by a person.

use std::env;

/// The command that was typed, with `option` at its end if it is not there yet.
pub(crate) fn typed_command_with(option: &str) -> String {
    let mut words: Vec<String> = env::args().skip(1).collect();
    if words.is_empty() {
        words.push("run".to_owned());
    }
    if !words.iter().any(|word| word == option) {
        words.push(option.to_owned());
    }
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    format!("muslin {}", quoted.join(" "))
}

/// A word as a POSIX shell reads it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        for (word, quoted) in [
            ("out/drape", "out/drape"),
            ("cloth.0.scale=2", "cloth.0.scale=2"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("view.size=[16, 16]", "'view.size=[16, 16]'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
