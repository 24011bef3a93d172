//! Enough of Rust's grammar to check it: tokens without comments, and which of them only tests compile.

/// One word, number, string or punctuation mark (`::` is one mark), and its line from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) in_test: bool,
}

/// A Rust file as tokens. Strings keep their quotes, so that no word inside of one looks like code.
pub(super) struct Source {
    path: String,
    tokens: Vec<Token>,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let mut tokens = tokens(text);
        mark_tests(&mut tokens);
        let folders = ["/tests/", "/benches/"];
        let is_test = folders.iter().any(|folder| path.contains(folder)) || starts_with_cfg_test(&tokens);
        let mut source = Self { path: path.to_owned(), tokens };
        if is_test {
            source.mark_as_test();
        }
        source
    }

    /// Says that the whole file is compiled for tests only.
    pub(super) fn mark_as_test(&mut self) {
        for token in &mut self.tokens {
            token.in_test = true;
        }
    }

    /// All tokens.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The tokens that are compiled outside of tests.
    pub(super) fn shipped(&self) -> Vec<&Token> {
        self.tokens.iter().filter(|token| !token.in_test).collect()
    }

    /// The modules in files of their own that only tests compile: their paths without `.rs`.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or((".", &self.path));
        let folder = match name.trim_end_matches(".rs") {
            "lib" | "main" | "mod" => folder.to_owned(),
            stem => format!("{folder}/{stem}"),
        };
        let declared = self.tokens.windows(3).filter(|three| three[0].in_test && has_texts(three, &["mod", "", ";"]));
        declared.map(|three| format!("{folder}/{}", three[1].text)).collect()
    }
}

/// Whether the tokens begin with these texts, where "" stands for any one token.
pub(super) fn has_texts<T: std::borrow::Borrow<Token>>(tokens: &[T], texts: &[&str]) -> bool {
    tokens.len() >= texts.len()
        && tokens.iter().zip(texts).all(|(token, text)| text.is_empty() || token.borrow().text == *text)
}

fn starts_with_cfg_test(tokens: &[Token]) -> bool {
    has_texts(tokens, &["#", "!", "[", "cfg", "(", "test", ")", "]"])
}

fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < characters.len() {
        let end = token_end(&characters, at);
        let word: String = characters[at..end].iter().collect();
        if !word.starts_with(char::is_whitespace) && !word.starts_with("//") && !word.starts_with("/*") {
            tokens.push(Token { text: word, line, in_test: false });
        }
        line += characters[at..end].iter().filter(|&&character| character == '\n').count();
        at = end;
    }
    tokens
}

/// Where the token, comment or space that starts at `at` ends.
fn token_end(characters: &[char], at: usize) -> usize {
    let peek = |ahead: usize| characters.get(at + ahead).copied().unwrap_or('\0');
    let while_from = |from: usize, keep: fn(char) -> bool| {
        characters[from..].iter().position(|&character| !keep(character)).map_or(characters.len(), |count| from + count)
    };
    let is_word: fn(char) -> bool = |character| character.is_alphanumeric() || character == '_';
    match peek(0) {
        '/' if peek(1) == '/' => while_from(at, |character| character != '\n'),
        '/' if peek(1) == '*' => block_comment_end(characters, at),
        '"' => string_end(characters, at + 1),
        'b' | 'c' if peek(1) == '"' => string_end(characters, at + 2),
        'r' if peek(1) == '"' || (peek(1) == '#' && matches!(peek(2), '"' | '#')) => raw_string_end(characters, at + 1),
        'b' | 'c' if peek(1) == 'r' && matches!(peek(2), '"' | '#') => raw_string_end(characters, at + 2),
        // A lifetime has no closing quote after its first letter.
        '\'' if peek(1) == '\\' => {
            (while_from(characters.len().min(at + 3), |character| character != '\'') + 1).min(characters.len())
        }
        '\'' if peek(2) == '\'' => at + 3,
        '\'' => while_from(at + 1, is_word),
        ':' if peek(1) == ':' => at + 2,
        first if is_word(first) => while_from(at, is_word),
        first if first.is_whitespace() => while_from(at, char::is_whitespace),
        _ => at + 1,
    }
}

fn block_comment_end(characters: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at + 1 < characters.len() {
        match (characters[at], characters[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    characters.len()
}

fn string_end(characters: &[char], mut at: usize) -> usize {
    while at < characters.len() {
        match characters[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    characters.len()
}

fn raw_string_end(characters: &[char], at: usize) -> usize {
    let hashes = characters[at..].iter().take_while(|&&character| character == '#').count();
    let closes = |from: usize| {
        characters[from] == '"'
            && characters.len() - from > hashes
            && characters[from + 1..=from + hashes].iter().all(|&character| character == '#')
    };
    (at + hashes + 1..characters.len()).find(|&from| closes(from)).map_or(characters.len(), |from| from + hashes + 1)
}

/// Marks the items under `#[test]` and `#[cfg(test)]`.
fn mark_tests(tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        if !has_texts(&tokens[at..], &["#", "["]) {
            at += 1;
            continue;
        }
        let attribute_end = group_end(tokens, at + 1);
        if is_test_attribute(&tokens[at + 2..attribute_end]) {
            let end = item_end(tokens, attribute_end);
            tokens[at..end].iter_mut().for_each(|token| token.in_test = true);
            at = end;
        } else {
            at = attribute_end;
        }
    }
}

/// `test`, or `cfg(test)` and `cfg(all(test, …))`; not `cfg(not(test))`.
fn is_test_attribute(inside: &[Token]) -> bool {
    let has = |text: &str| inside.iter().any(|token| token.text == text);
    has_texts(inside, &["test", "]"]) || (has_texts(inside, &["cfg"]) && has("test") && !has("not") && !has("any"))
}

/// The end of the item after an attribute: past its block, or past its semicolon.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "{" => return group_end(tokens, at),
            ";" => return at + 1,
            "(" | "[" => at = group_end(tokens, at),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// The end of the group that opens at `start`: past its closing bracket.
pub(super) fn group_end<T: std::borrow::Borrow<Token>>(tokens: &[T], start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, token) in tokens[start..].iter().enumerate() {
        match token.borrow().text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return start + offset + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_go_and_strings_stay_whole() {
        let text =
            "a // unsafe\n /* x /* y */ unsafe */ b::c(\"un\\\"safe\", r#\"p\"q\"#, b\"z\", 'x', '\\'', &'static str)";
        let expected = [
            "a",
            "b",
            "::",
            "c",
            "(",
            "\"un\\\"safe\"",
            ",",
            "r#\"p\"q\"#",
            ",",
            "b\"z\"",
            ",",
            "'x'",
            ",",
            "'\\''",
            ",",
            "&",
            "'static",
            "str",
            ")",
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let tokens = tokens("a\n/*\n\n*/ b \"\n\n\" c");
        let lines: Vec<usize> = tokens.iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 4, 4, 6]);
    }

    #[test]
    fn test_items_are_marked_and_others_are_not() {
        let text = "fn a() {} #[cfg(test)] #[allow(x)] mod tests { fn b() { {} } } fn c() {} #[test] fn d() {} \
                    #[cfg(not(test))] fn e() {} #[cfg(all(test, feature = \"z\"))] use f;";
        let source = Source::new("crates/a/src/lib.rs", text);
        let shipped: Vec<&str> = source
            .shipped()
            .into_iter()
            .filter(|token| token.text.len() == 1)
            .map(|token| token.text.as_str())
            .collect();
        let words: String = shipped.concat().chars().filter(char::is_ascii_alphabetic).collect();
        assert_eq!(words, "ace");
    }

    #[test]
    fn unfinished_text_ends_at_its_end() {
        for text in ["\"abc", "/* abc", "r##\"abc\"#", "'\\", "#[cfg(test)] mod x {", "#[", "'", "b'"] {
            let source = Source::new("src/lib.rs", text);
            assert!(!source.tokens().is_empty() || text.starts_with("/*"), "{text}");
        }
    }
}
