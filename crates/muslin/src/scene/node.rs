//! The tree of a scene's text, in which every key and every value knows where it was written.
//!
//! `serde` loses the place of a value inside tagged, flattened and untagged types, which is where models and shapes
//! are, and it stops at the first mistake. So the text is parsed into the `toml` crate's spanned tree, and that is
//! copied into one of our own, in which overrides can be placed among the values of the file.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::scene::finding::{Mark, Report};
use crate::validate::suggest::quote;

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) mark: Mark,
}

/// The value of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// No key of a scene takes one, so its content is not kept.
    Date,
    Array(Vec<Node>),
    /// In the order in which the keys were written.
    Table(Vec<Field>),
    /// Nested deeper than [`DEEPEST`].
    TooDeep,
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) key_mark: Mark,
    pub(super) node: Node,
}

/// Deeper than any scene goes, and shallow enough for functions that call themselves: the parser lets dotted keys
/// inside inline tables nest thousands of levels.
pub(super) const DEEPEST: usize = 24;

impl Node {
    /// The tree of a whole text, unless it is not TOML: then `report` says why.
    pub(super) fn parse_document(text: &str, report: &mut Report) -> Option<Self> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            let value = convert_table(table.get_ref(), &Marker::Text, 0);
            return Some(Self { value, mark: Mark::Nowhere });
        }
        // After a mistake the parser is out of step for the rest of the line: what it says there misleads.
        let mut last_line = None;
        for error in &errors {
            let span = error.span().unwrap_or(text.len()..text.len());
            let line = text.get(..span.start).map(|before| before.matches('\n').count());
            if last_line != Some(line) {
                report.error(&Marker::Text.mark(span.clone()), "", syntax_message(error.message(), text.get(span)));
            }
            last_line = Some(line);
        }
        None
    }

    /// The tree of a single value, every part of which came from `set`; or why it is not TOML.
    pub(super) fn parse_value(text: &str, set: &Arc<str>) -> Result<Self, String> {
        let value = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
        Ok(convert(&value, &Marker::Set(Arc::clone(set)), 0))
    }
}

impl Node {
    /// Where what `segments` lead to was written, or the last thing on the way that was.
    pub(super) fn mark_at(&self, segments: &[String]) -> &Mark {
        let mut node = self;
        for segment in segments {
            let child = match &node.value {
                Value::Table(fields) => fields.iter().find(|field| field.key == *segment).map(|field| &field.node),
                Value::Array(elements) => segment.parse::<usize>().ok().and_then(|index| elements.get(index)),
                _ => None,
            };
            match child {
                Some(child) => node = child,
                None => break,
            }
        }
        &node.mark
    }
}

/// The parser's words, but for the one mistake that is about scenes rather than punctuation.
fn syntax_message(message: &str, at: Option<&str>) -> String {
    match at {
        Some(key) if message == "duplicate key" => format!("key {} is given twice; remove one", quote(key)),
        _ => format!("not valid TOML: {message}"),
    }
}

/// Turns the parser's ranges of bytes into marks.
enum Marker {
    Text,
    Set(Arc<str>),
}

impl Marker {
    fn mark(&self, span: std::ops::Range<usize>) -> Mark {
        match self {
            Self::Text => Mark::Text { start: span.start, end: span.end },
            Self::Set(text) => Mark::Set(Arc::clone(text)),
        }
    }
}

fn convert(node: &Spanned<DeValue<'_>>, marker: &Marker, depth: usize) -> Node {
    let value = match node.get_ref() {
        DeValue::Array(_) | DeValue::Table(_) if depth >= DEEPEST => Value::TooDeep,
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(integer) => convert_integer(integer),
        DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(array) => {
            Value::Array(array.iter().map(|element| convert(element, marker, depth + 1)).collect())
        }
        DeValue::Table(table) => convert_table(table, marker, depth),
    };
    Node { value, mark: marker.mark(node.span()) }
}

fn convert_table(table: &DeTable<'_>, marker: &Marker, depth: usize) -> Value {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start); // the parser sorts by name
    let field = |(key, node): (&Spanned<_>, &Spanned<_>)| Field {
        key: String::from(key.get_ref() as &str),
        key_mark: marker.mark(key.span()),
        node: convert(node, marker, depth + 1),
    };
    Value::Table(entries.into_iter().map(field).collect())
}

/// An integer beyond 64 bits becomes the nearest float: no whole number of a scene is that large, and where a float
/// is wanted it is one.
fn convert_integer(integer: &DeInteger<'_>) -> Value {
    match i64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(i) => Value::Integer(i),
        Err(_) if integer.radix() == 10 => Value::Float(integer.as_str().parse().unwrap_or(f64::INFINITY)),
        Err(_) => {
            Value::Float(u128::from_str_radix(integer.as_str(), integer.radix()).map_or(f64::INFINITY, |i| i as f64))
        }
    }
}
