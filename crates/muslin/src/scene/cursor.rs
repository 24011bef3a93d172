//! Reads the tree of a scene, and reports whatever is not as it should be.
//!
//! Every reading gives an `Option`: `None` says that the value is absent, or that it is wrong and has been reported.
//! Either way the caller goes on, with a default or without the thing, and the scene is given up only at the end. A
//! key that nobody asked for is an error, so a table knows its keys by being asked for them.

use std::fmt;

use crate::parameter::{Kind, Setting, refusal};

use crate::scene::finding::{Mark, Report};
use crate::scene::node::{Field, Node, Value};
use crate::scene::words::Word;
use crate::validate::limits::whole;
use crate::validate::suggest::{KeyOwner, quote, unknown_key};

/// A table of the scene while it is read.
pub(super) struct Table<'n, 'r> {
    fields: &'n [Field],
    mark: &'n Mark,
    path: String,
    asked: Vec<&'static str>,
    owner: Option<KeyOwner>,
    forgiving: bool,
    report: &'r mut Report,
}

/// A value of the scene while it is read.
pub(super) struct Item<'n, 'r> {
    node: &'n Node,
    path: String,
    report: &'r mut Report,
}

impl<'n, 'r> Table<'n, 'r> {
    /// Reads a table, then reports the keys that `read` did not ask for.
    fn visit<T>(
        fields: &'n [Field],
        mark: &'n Mark,
        path: String,
        report: &'r mut Report,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mut table = Self { fields, mark, path, asked: Vec::new(), owner: None, forgiving: false, report };
        let result = read(&mut table);
        table.report_unknown();
        result
    }

    /// The value of a key, if it is given.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Item<'n, '_>> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        let field = self.find(key)?;
        let path = self.path_of(key);
        Some(Item { node: &field.node, path, report: self.report })
    }

    /// The value of a key that must be given, `example` being one.
    pub(super) fn need(&mut self, key: &'static str, example: &str) -> Option<Item<'n, '_>> {
        if self.find(key).is_none() {
            self.error(format!("{key} is missing; add it, for example {key} = {example}"));
        }
        self.get(key)
    }

    /// Reads the table of a key; an absent or mistyped one is read as if it were empty, for its defaults.
    pub(super) fn section<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Table<'_, '_>) -> T) -> T {
        let path = self.path_of(key);
        match self.get(key).and_then(Item::fields) {
            Some((fields, mark)) => Table::visit(fields, mark, path, self.report, read),
            None => Table::visit(&[], &Mark::Nowhere, path, self.report, read),
        }
    }

    /// Those of `keys` that are given, in the order in which they are written.
    pub(super) fn given(&self, keys: &[&'static str]) -> Vec<&'static str> {
        let known = |field: &Field| keys.iter().copied().find(|key| *key == field.key);
        self.fields.iter().filter_map(known).collect()
    }

    /// Names the owner of the keys in reports of unknown ones.
    pub(super) fn belongs_to(&mut self, owner: KeyOwner) {
        self.owner = Some(owner);
    }

    /// Accepts any key: when what the table is for is not known, neither are its keys.
    pub(super) fn forgive(&mut self) {
        self.forgiving = true;
    }

    /// Reports a mistake of the table as a whole.
    pub(super) fn error(&mut self, message: impl Into<String>) {
        self.report.error(self.mark, self.path.as_str(), message);
    }

    /// Reports that a key should not be here, or not with what else is here.
    pub(super) fn key_error(&mut self, key: &'static str, message: impl Into<String>) {
        let path = self.path_of(key);
        let mark = self.find(key).map_or(self.mark, |field| &field.key_mark);
        self.report.error(mark, path, message);
    }

    /// Reports that the value of a key is wrong.
    pub(super) fn value_error(&mut self, key: &'static str, message: impl Into<String>) {
        let path = self.path_of(key);
        let mark = self.find(key).map_or(self.mark, |field| &field.node.mark);
        self.report.error(mark, path, message);
    }

    fn find(&self, key: &str) -> Option<&'n Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn path_of(&self, key: &str) -> String {
        let is_bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let key = if is_bare { key.to_owned() } else { quote(key) };
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }

    fn report_unknown(self) {
        if self.forgiving {
            return;
        }
        for field in self.fields.iter().filter(|field| !self.asked.contains(&field.key.as_str())) {
            let path = self.path_of(&field.key);
            let message = unknown_key(&field.key, self.owner.as_ref(), &self.asked);
            self.report.error(&field.key_mark, path, message);
        }
    }
}

impl<'n> Item<'n, '_> {
    /// A number; a whole one is as good as one with a point.
    pub(super) fn number(self, kind: Kind) -> Option<f64> {
        match self.setting(kind)? {
            Setting::Number(x) => Some(x),
            Setting::Integer(_) | Setting::Choice(_) | Setting::Vector(_) => None,
        }
    }

    /// A whole number.
    pub(super) fn integer(self, range: [u32; 2]) -> Option<u32> {
        match self.setting(whole(range))? {
            Setting::Integer(i) => u32::try_from(i).ok(),
            Setting::Number(_) | Setting::Choice(_) | Setting::Vector(_) => None,
        }
    }

    /// A value of a catalogued parameter.
    pub(super) fn setting(self, kind: Kind) -> Option<Setting> {
        if let Some(component) = kind.component() {
            let is_allowed = |v: [f64; 3]| match kind.allows(v.into()) {
                true => Ok(v.into()),
                false => Err(format!("must be {kind}, got {v:?}")),
            };
            return self.refine(|v| v.vector(component), is_allowed);
        }
        let setting = match (&self.node.value, kind) {
            (Value::Float(x), Kind::Number { .. } | Kind::Positive) => Some(Setting::Number(*x)),
            (Value::Integer(i), Kind::Number { .. } | Kind::Positive) => Some(Setting::Number(*i as f64)),
            (Value::Integer(i), Kind::Integer { .. }) => Some(Setting::Integer(*i)),
            (Value::String(s), Kind::Choice(words)) => words.iter().find(|word| *word == s).map(|w| Setting::Choice(w)),
            _ => None,
        };
        match setting.filter(|&setting| kind.allows(setting)) {
            Some(setting) => Some(setting),
            None => self.refuse(kind),
        }
    }

    /// A word of an enumeration.
    pub(super) fn word<W: Word>(self) -> Option<W> {
        match self.setting(Kind::Choice(W::WORDS))? {
            Setting::Choice(word) => W::from_word(word),
            Setting::Number(_) | Setting::Integer(_) | Setting::Vector(_) => None,
        }
    }

    pub(super) fn boolean(self) -> Option<bool> {
        match self.node.value {
            Value::Boolean(boolean) => Some(boolean),
            _ => self.refuse("true or false"),
        }
    }

    pub(super) fn text(self) -> Option<&'n str> {
        match &self.node.value {
            Value::String(text) => Some(text),
            _ => self.refuse("a string"),
        }
    }

    /// A fixed number of numbers.
    pub(super) fn vector<const N: usize>(self, kind: Kind) -> Option<[f64; N]> {
        self.array("numbers", |item| item.number(kind))
    }

    /// A vector that points somewhere.
    pub(super) fn direction(self) -> Option<[f64; 3]> {
        match self.setting(Kind::Direction)? {
            Setting::Vector(v) => Some(v),
            Setting::Number(_) | Setting::Integer(_) | Setting::Choice(_) => None,
        }
    }

    /// A fixed number of whole numbers.
    pub(super) fn integers<const N: usize>(self, range: [u32; 2]) -> Option<[u32; N]> {
        self.array("whole numbers", |item| item.integer(range))
    }

    fn array<T, const N: usize>(self, what: &str, read: impl FnMut(Item<'n, '_>) -> Option<T>) -> Option<[T; N]> {
        match &self.node.value {
            Value::Array(elements) if elements.len() == N => self.elements(elements, read)?.try_into().ok(),
            _ => self.refuse(format_args!("an array of {N} {what}")),
        }
    }

    /// Any number of values, at least one.
    pub(super) fn list<T>(self, what: &str, read: impl FnMut(Item<'n, '_>) -> Option<T>) -> Option<Vec<T>> {
        match &self.node.value {
            Value::Array(elements) if !elements.is_empty() => self.elements(elements, read),
            _ => self.refuse(format_args!("an array of {what}, at least one")),
        }
    }

    /// Any number of tables.
    pub(super) fn tables<T>(
        self,
        header: &str,
        mut read: impl FnMut(usize, &mut Table<'_, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        match &self.node.value {
            Value::Array(elements) => {
                let mut index = 0..;
                self.elements(elements, |item| item.table(|table| read(index.next().unwrap_or_default(), table)))
            }
            _ => self.refuse(format_args!("an array of tables, each headed [[{header}]]")),
        }
    }

    /// Reads all elements, the good ones after a bad one too, so that everything is reported.
    fn elements<T>(self, elements: &'n [Node], mut read: impl FnMut(Item<'n, '_>) -> Option<T>) -> Option<Vec<T>> {
        let Item { path, report, .. } = self;
        let mut values = Vec::with_capacity(elements.len());
        for (i, node) in elements.iter().enumerate() {
            values.extend(read(Item { node, path: format!("{path}[{i}]"), report: &mut *report }));
        }
        (values.len() == elements.len()).then_some(values)
    }

    /// A table.
    pub(super) fn table<T>(self, read: impl FnOnce(&mut Table<'_, '_>) -> Option<T>) -> Option<T> {
        match &self.node.value {
            Value::Table(fields) => Table::visit(fields, &self.node.mark, self.path, self.report, read),
            _ => self.refuse("a table"),
        }
    }

    /// Reads a value and makes something of it, or reports why that cannot be.
    pub(super) fn refine<T, U>(
        self,
        read: impl FnOnce(Item<'n, '_>) -> Option<T>,
        make: impl FnOnce(T) -> Result<U, String>,
    ) -> Option<U> {
        let value = read(Item { node: self.node, path: self.path.clone(), report: &mut *self.report })?;
        make(value).map_or_else(|message| self.error(message), Some)
    }

    fn fields(self) -> Option<(&'n [Field], &'n Mark)> {
        match &self.node.value {
            Value::Table(fields) => Some((fields, &self.node.mark)),
            _ => self.refuse("a table"),
        }
    }

    /// Reports a value that is not what it must be.
    fn refuse<T>(self, must: impl fmt::Display) -> Option<T> {
        let message = refusal(must, describe(&self.node.value));
        self.error(message)
    }

    /// Reports what is wrong with a value.
    fn error<T>(self, message: impl Into<String>) -> Option<T> {
        self.report.error(&self.node.mark, self.path, message);
        None
    }
}

/// Reads a whole scene from its root.
pub(super) fn read_root<T>(root: &Node, report: &mut Report, read: impl FnOnce(&mut Table<'_, '_>) -> T) -> Option<T> {
    match &root.value {
        Value::Table(fields) => Some(Table::visit(fields, &root.mark, String::new(), report, read)),
        _ => None,
    }
}

/// A value in a message.
fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the string {}", quote(text)),
        Value::Integer(i) => i.to_string(),
        Value::Float(x) if x.is_nan() => "nan".to_owned(),
        Value::Float(x) => format!("{x:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Date => "a date".to_owned(),
        Value::Array(elements) => format!("an array of {}", elements.len()),
        Value::Table(_) => "a table".to_owned(),
        Value::TooDeep => "something nested too deeply".to_owned(),
    }
}
