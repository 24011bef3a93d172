//! JSON as values, in the order of the file, with keys that are given twice as errors.
//!
//! `serde_json::Value` keeps the last of two equal keys, so that a panel would be lost without a word, and its order of
//! keys depends on a feature that another crate may turn on.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// The value of a key of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// A number that counts something.
    pub(crate) fn index(&self) -> Option<usize> {
        // Beyond 2³² nothing is counted here, and every such number is exact in an f64.
        self.number()
            .filter(|value| (0.0..4294967296.0).contains(value) && value.fract() == 0.0)
            .map(|value| value as usize)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// So many numbers.
    pub(crate) fn numbers<const N: usize>(&self) -> Option<[f64; N]> {
        let list: &[Self; N] = self.list()?.try_into().ok()?;
        let mut numbers = [0.0; N];
        for (number, value) in numbers.iter_mut().zip(list) {
            *number = value.number()?;
        }
        Some(numbers)
    }

    /// What stands there, in a few words for a message.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) if text.chars().count() <= 20 => format!("{text:?}"),
            Self::Text(text) => format!("{:?}…", text.chars().take(20).collect::<String>()),
            Self::List(list) => match list.len() {
                0 => "an empty list".to_owned(),
                1 => "a list of 1 entry".to_owned(),
                count => format!("a list of {count} entries"),
            },
            Self::Object(_) => "an object".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            list.push(entry);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        let mut keys = std::collections::BTreeSet::new();
        while let Some((key, value)) = entries.next_entry::<String, Json>()? {
            if !keys.insert(key.clone()) {
                let shown: String = key.chars().take(50).collect();
                return Err(A::Error::custom(format_args!("the key {shown:?} is given twice; remove one")));
            }
            object.push((key, value));
        }
        Ok(Json::Object(object))
    }
}
