//! The words of an OBJ file, without allocating.
//!
//! A statement ends with its line, unless a `\` stands before the end. Lines end with `\n`, `\r\n` or `\r`.
//! A word that begins with `#` starts a comment; comments are never continued, as Windows paths in them end in `\`.

/// Reads words from bytes that are known to be UTF-8.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }; // the byte order mark of Windows editors
        Self { bytes, at, line: 1 }
    }

    /// Line of the next byte, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The next word of the statement.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            match *self.bytes.get(self.at)? {
                b'\n' | b'\r' => return None,
                b' ' | b'\t' | b'\x0b' | b'\x0c' => self.at += 1,
                b'#' => {
                    self.at += self.bytes[self.at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
                    return None;
                }
                b'\\' if self.continues() => self.next_line(self.at + 1),
                _ => break,
            }
        }
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            if matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'\x0b' | b'\x0c') || (byte == b'\\' && self.continues()) {
                break;
            }
            self.at += 1;
        }
        self.bytes.get(start..self.at)
    }

    /// Skips what is left of the statement; false at the end of the file.
    pub(super) fn next_statement(&mut self) -> bool {
        while self.word().is_some() {}
        if self.at >= self.bytes.len() {
            return false;
        }
        self.next_line(self.at);
        true
    }

    /// Whether the `\` here stands before the end of the line.
    fn continues(&self) -> bool {
        matches!(self.bytes.get(self.at + 1), None | Some(b'\n' | b'\r'))
    }

    /// Moves behind the end of the line that is at `end`.
    fn next_line(&mut self, end: usize) {
        let windows = self.bytes.get(end..end + 2) == Some(b"\r\n");
        self.at = (end + if windows { 2 } else { 1 }).min(self.bytes.len());
        self.line += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Vec<(usize, Vec<&str>)> {
        let mut scanner = Scanner::new(text.as_bytes());
        let mut all = Vec::new();
        loop {
            let line = scanner.line();
            let mut words = Vec::new();
            while let Some(word) = scanner.word() {
                words.push(std::str::from_utf8(word).unwrap());
            }
            if !words.is_empty() {
                all.push((line, words));
            }
            if !scanner.next_statement() {
                return all;
            }
        }
    }

    #[test]
    fn lines_comments_and_continuations() {
        let expected = vec![(1, vec!["a", "b"]), (2, vec!["c"])];
        for text in ["a b\nc", "a b\r\nc\r\n", "a b\rc\r", "  a\tb # d\n c#\n".replace("c#", "c #").as_str()] {
            assert_eq!(statements(text), expected, "{text:?}");
        }
        assert_eq!(statements("a \\\n b\\\r\nc\nd"), [(1, vec!["a", "b", "c"]), (4, vec!["d"])], "continued");
        assert_eq!(statements("# C:\\\nd"), [(2, vec!["d"])], "comments are not continued");
        assert_eq!(statements("a\\b c#d\\"), [(1, vec!["a\\b", "c#d"])], "other backslashes and hashes");
        assert_eq!(statements("\u{feff}v"), [(1, vec!["v"])], "byte order mark");
    }
}
