//! Secrets in addresses: who knows the address may use the server, and nobody else.

use std::fmt::Write as _;
use std::hint::black_box;

use crate::failure::Failure;

/// A random word of 128 bits in hex.
#[derive(Clone, Debug)]
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Result<Self, Failure> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| Failure::Failed(format!("the system gives no random numbers: {error}")))?;
        let mut text = String::new();
        for byte in bytes {
            write!(text, "{byte:02x}").ok(); // to memory, which does not fail
        }
        Ok(Self(text))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Compares all bytes, however early they differ, so that the time tells nothing about the first wrong one.
    pub(super) fn is(&self, text: &str) -> bool {
        let difference = self.0.bytes().zip(text.bytes()).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
        self.0.len() == text.len() && difference == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_word_is_right() {
        let token = Token::random().unwrap();
        let text = token.text().to_owned();
        assert_eq!(text.len(), 32);
        assert!(token.is(&text));
        for at in 0..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[at] ^= 1;
            assert!(!token.is(std::str::from_utf8(&wrong).unwrap()), "wrong at {at}");
            assert!(!token.is(&text[..at]), "cut off after {at}");
        }
        assert!(!token.is(&format!("{text}0")));
        assert_ne!(Token::random().unwrap().text(), text);
    }
}
